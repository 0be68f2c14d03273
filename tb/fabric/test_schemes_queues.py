"""Load balancers that look at queues: what they pick where, by their rules."""

from __future__ import annotations

from collections import Counter

import pytest

from models.fabric.config import FabricConfig
from models.fabric.options import SchemeOptions
from models.fabric.reference import simulate
from models.fabric.reference_links import build
from models.fabric.schemes.base import Packet, Switch, SwitchScheme, module_of
from tb.fabric.small import flows, permutation

TIME = 4178


def packet(destination: int = 100, ack: bool = False, **fields: object) -> Packet:
    return Packet(0, 0, ack, 0, destination, 84 if ack else TIME, **fields)  # pyright: ignore


def switch_of(scheme: str, seed: int = 0, number: int = 0, **options: object) -> Switch:
    """An edge switch of a tree with w = 4 uplinks."""
    options_ = SchemeOptions(**options)  # pyright: ignore
    config = FabricConfig(radix=8, scheme=scheme, seed=seed, options=options_)
    return build(config, None).edges[number]


def scheme_of(switch: Switch) -> SwitchScheme:
    return module_of(switch.scheme).AtSwitch(switch)


def fill(switch: Switch, lengths: list[int]) -> None:
    """Put packets of these lengths into the uplinks' queues, at time 0."""
    for queue, length in zip(switch.uplinks, lengths, strict=True):
        if length:
            queue.put(0, length, ack=False)


def picks(scheme: SwitchScheme, valid: list[int], count: int = 400) -> Counter[int]:
    return Counter(scheme.pick(packet(), 0, valid) for _ in range(count))


def test_jsq_takes_a_shortest_queue() -> None:
    switch = switch_of("jsq")
    fill(switch, [300, 100, 200, 100])
    scheme = scheme_of(switch)
    found = picks(scheme, [0, 1, 2, 3])
    assert set(found) == {1, 3}
    assert abs(found[1] - 200) < 5 * 10  # 5 σ of a fair coin
    assert set(picks(scheme, [0, 2])) == {2}
    assert scheme.pick(packet(), 250, [0, 1, 2, 3]) in {1, 2, 3}  # all of these are empty now


def test_jsq_counts_packets_if_told() -> None:
    switch = switch_of("jsq", queue_unit="packets")
    for _ in range(3):
        switch.uplinks[0].put(0, 84, ack=True)
    fill(switch, [0, TIME, TIME, 2 * TIME])
    assert set(picks(scheme_of(switch), [0, 1, 2, 3])) == {1, 2, 3}
    assert set(picks(scheme_of(switch_with_bytes()), [0, 1, 2, 3])) == {0}


def switch_with_bytes() -> Switch:
    switch = switch_of("jsq")
    fill(switch, [3 * 84, TIME, TIME, 2 * TIME])
    return switch


@pytest.mark.parametrize(
    ("lengths", "lowest"),
    [
        ([39_999, 40_000, 0, 80_000], {0, 2}),
        ([40_000, 79_999, 80_000, 160_000], {0, 1}),
        ([80_000, 159_999, 160_000, 500_000], {0, 1}),
        ([160_000, 900_000, 170_000, 160_001], {0, 1, 2, 3}),
    ],
)
def test_ar_takes_a_lowest_level(lengths: list[int], lowest: set[int]) -> None:
    """Thresholds are 5, 10 and 20 % of 800,000 bytes."""
    switch = switch_of("ar")
    fill(switch, lengths)
    assert set(picks(scheme_of(switch), [0, 1, 2, 3])) == lowest


def test_ar_in_packets() -> None:
    """40,000 bytes are 9 packets of 4,178."""
    switch = switch_of("ar", queue_unit="packets")
    for _ in range(9):
        switch.uplinks[0].put(0, 84, ack=True)
    for _ in range(8):
        switch.uplinks[1].put(0, TIME, ack=False)
    assert set(picks(scheme_of(switch), [0, 1])) == {1}


def test_one_choice_is_rsq() -> None:
    config = FabricConfig(radix=4, scheme="rsq", seed=4)
    traffic = permutation(config, 10)
    rsq = simulate(config, traffic, trace=True)
    options = SchemeOptions(choices=1)
    one = simulate(
        FabricConfig(radix=4, scheme="choice", seed=4, options=options), traffic, trace=True
    )
    assert (rsq.trace == one.trace).all()


def test_choice_takes_the_shortest_drawn() -> None:
    lengths = [100, 200, 300, 400]
    switch, twin = switch_of("choice", choices=2), switch_of("choice", choices=2)
    fill(switch, lengths)
    scheme = scheme_of(switch)
    for _ in range(200):
        drawn = [twin.stream.below(4), twin.stream.below(4)]
        assert scheme.pick(packet(), 0, [0, 1, 2, 3]) == min(drawn)


def test_choice_takes_the_first_of_equal_ones() -> None:
    switch, twin = switch_of("choice", choices=3), switch_of("choice", choices=3)
    scheme = scheme_of(switch)
    for _ in range(100):
        first, *_ = [twin.stream.below(3) for _ in range(3)]
        assert scheme.pick(packet(), 0, [1, 2, 3]) == [1, 2, 3][first]


def test_drill_remembers() -> None:
    """Once uplink 0, the shortest, is drawn, all packets take it while it is valid."""
    switch = switch_of("drill", choices=1, memory=1)
    fill(switch, [100, 200, 300, 400])
    scheme = scheme_of(switch)
    order = [scheme.pick(packet(), 0, [0, 1, 2, 3]) for _ in range(200)]
    assert order == sorted(order, reverse=True)
    assert order[-1] == 0
    assert scheme.pick(packet(), 0, [1, 2]) in {1, 2}
    assert scheme.pick(packet(), 0, [0, 3]) in {0, 3}


def test_drill_looks_at_memory_first() -> None:
    switch, twin = switch_of("drill", choices=2, memory=2), switch_of("drill")
    scheme, memory = scheme_of(switch), list[int]()
    for _ in range(100):  # all queues are empty: the order decides
        looked_at = dict.fromkeys([*memory, twin.stream.below(4), twin.stream.below(4)])
        assert scheme.pick(packet(), 0, [0, 1, 2, 3]) == next(iter(looked_at))
        memory = list(looked_at)[:2]


def test_drill_without_memory_is_choice() -> None:
    config = FabricConfig(radix=4, scheme="choice", seed=4)
    traffic = permutation(config, 10)
    options = SchemeOptions(memory=0)
    drill = FabricConfig(radix=4, scheme="drill", seed=4, options=options)
    one, other = (simulate(c, traffic, trace=True).trace for c in (config, drill))
    assert (one == other).all()


@pytest.mark.parametrize("scheme", ["jsq", "ar", "choice", "drill", "rsq", "dlb", "sglb", "conga"])
def test_one_valid_uplink_is_taken_without_a_draw(scheme: str) -> None:
    switch = switch_of(scheme)
    before = switch.stream.state
    assert scheme_of(switch).pick(packet(), 0, [2]) == 2
    assert switch.stream.state == before


def test_jsq_balances_uplinks_of_lone_flows() -> None:
    """Two flows of one edge switch never meet at an uplink."""
    config = FabricConfig(radix=4, scheme="jsq", acks=False)
    result = simulate(config, flows(config, [(0, 15), (1, 8)], 20))
    assert result.largest[1].max() == TIME
