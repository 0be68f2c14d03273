"""Match against its model: heads of all kinds, also where queues without a packet carry noise."""

from __future__ import annotations

import random
from itertools import groupby
from operator import itemgetter
from typing import Any

import pytest
from amaranth.sim import Simulator
from hypothesis import given
from hypothesis import strategies as st

from models.ofan.config import OfanConfig
from models.ofan.engine import Engine
from models.ofan.match import match
from models.ofan.place import place
from rtl.ofan.match import Match
from tb.ofan.reference import FEW

WAVES = st.lists(st.dictionaries(st.integers(0, 9), st.integers(0, 12)), max_size=2)


def test_model_serves_one_key_of_a_bank() -> None:
    """With four banks keys 1 and 4 share one, key 2 is elsewhere."""
    assert match([{0: 1, 2: 2, 3: 1, 5: 4, 6: 1}], 4) == [{0: 1, 2: 2, 3: 1}]
    assert match([], 4) == []


def test_model_serves_the_older_wave_first() -> None:
    """Also where the younger one has the same key: its packets would get other positions."""
    assert match([{3: 1}, {0: 1, 1: 4, 2: 2}], 4) == [{3: 1}, {2: 2}]
    assert match([{}, {0: 1, 2: 1}], 4) == [{}, {0: 1, 2: 1}]


@given(WAVES, st.sampled_from([1, 2, 4, 8]))
def test_model_bank_by_bank(waves: list[dict[int, int]], banks: int) -> None:
    expected: list[dict[int, int]] = [{} for _ in waves]
    for bank in range(banks):
        asking = [
            (number, [(n, key) for n, key in sorted(wave.items()) if place(key, banks)[0] == bank])
            for number, wave in enumerate(waves)
        ]
        number, packets = next((pair for pair in asking if pair[1]), (0, []))
        if packets:
            _, first_key = next(groupby(packets, key=itemgetter(1)))
            expected[number].update(first_key)
    assert match(waves, banks) == expected


def check(config: OfanConfig, seed: int) -> None:
    rng = random.Random(seed)
    dut = Match(config)
    banks, queues = config.engine.banks, range(len(dut.served))

    async def bench(ctx: Any) -> None:
        for _ in range(15):
            pool = [rng.randrange(config.keys) for _ in range(rng.choice([1, 3, 20]))]
            some, old = rng.choice([0.5, 0.9, 1]), rng.choice([0, 0.3, 0.7, 1])
            allowed = rng.choice([len(queues), rng.randint(0, len(queues))])
            waves: list[dict[int, int]] = [{}, {}]
            for queue in queues:
                key = rng.choice(pool)
                bank, row = place(key, banks)
                there, is_old = rng.random() < some, rng.random() < old
                head = {"there": there, "old": is_old, "bank": bank, "row": row}
                ctx.set(dut.heads[queue], head)
                if there and (is_old or queue < allowed):
                    waves[not is_old][queue] = key
            ctx.set(dut.allowed, (1 << allowed) - 1)
            served = match(waves, banks)
            assert ctx.get(dut.served) == sum(1 << queue for wave in served for queue in wave)
            for wave in served:
                for queue, key in wave.items():
                    rank = sum(wave[n] == key for n in wave if n < queue)
                    assert ctx.get(dut.ranks[queue]) == rank

    simulator = Simulator(dut)
    simulator.add_testbench(bench)
    simulator.run()


@pytest.mark.parametrize("banks", [1, 2, 16])
@pytest.mark.parametrize("queues", [4, 12])
def test_heads_of_all_kinds(queues: int, banks: int) -> None:
    engine = Engine(kind="queued-banked", banks=banks, queues=queues)
    check(OfanConfig(lanes=12, uplinks=5, destinations=11, engine=engine), queues)


@FEW
@given(st.integers(1, 8), st.integers(1, 9), st.sampled_from([1, 2, 8]), st.integers(0, 2**32))
def test_queues_and_keys_of_any_number(
    queues: int, destinations: int, banks: int, seed: int
) -> None:
    engine = Engine(kind="queued-banked", banks=banks, queues=queues)
    check(OfanConfig(lanes=queues, uplinks=3, destinations=destinations, engine=engine), seed)
