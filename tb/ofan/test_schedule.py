"""The schedules as machine code against the golden models of the engines, cycle by cycle."""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.ofan.config import OfanConfig, edge, preset
from models.ofan.engine import Engine
from models.ofan.matched import Matched
from models.ofan.place import place
from models.ofan.queued import Queued
from models.ofan.schedule import Offered, schedule
from models.ofan.sorted_banked import SortedBanked

Keys = list[list[int | None]]
"""A batch a cycle: the key of each lane, None where idle."""


PIPES = {"queued-banked": Queued, "matched-banked": Matched, "sorted-banked": SortedBanked}


def served(config: OfanConfig, offered: Keys) -> tuple[list[int], list[dict[int, int]]]:
    """Serve batches in the plain models; return the cycle in which each batch that has packets is
    taken, and {lane: key} of the packets served in each cycle."""
    width = config.lanes_per_pipe
    pipes = [PIPES[config.engine.kind](config) for _ in range(config.pipes)]
    front: deque[list[int | None]] = deque()
    taken, rows = [], []
    for now in range(len(offered) + sum(len(batch) for batch in offered) + 1):
        if now < len(offered) and any(key is not None for key in offered[now]):
            front.append(offered[now])
        parts: list[Any] = [None] * len(pipes)
        if front:
            split = [front[0][pipe * width : (pipe + 1) * width] for pipe in range(len(pipes))]
            if all(pipe.takes for pipe in pipes):
                taken.append(now)
                front.popleft()
                parts = split
        row = {}
        for number, (pipe, part) in enumerate(zip(pipes, parts, strict=True)):
            row |= {number * width + lane: key for lane, key in pipe.step(part).items()}
        rows.append(row)
    assert not front and sum(map(len, rows)) == sum(
        key is not None for row in offered for key in row
    )
    return taken, rows


def behind(offered: Keys, taken: list[int], rows: list[dict[int, int]]) -> tuple[int, int]:
    """Count the backlog cycle by cycle: most batches not wholly served, and most not taken."""
    waiting: list[set[int]] = []
    backlog = in_front = arrived = 0
    for now, row in enumerate(rows):
        batch = offered[now] if now < len(offered) else []
        lanes = {lane for lane, key in enumerate(batch) if key is not None}
        waiting += [lanes] if lanes else []
        arrived += bool(lanes)
        backlog = max(backlog, len(waiting))
        in_front = max(in_front, arrived - sum(cycle <= now for cycle in taken))
        for lane in row:
            next(left for left in waiting if lane in left).remove(lane)
        waiting = [left for left in waiting if left]
    return backlog, in_front


def twin(config: OfanConfig, offered: Keys) -> tuple[list[int], list[dict[int, int]]]:
    """The same from the machine code, with the backlog that it tells held against the count."""
    keys = [[-1 if key is None else key for key in batch] for batch in offered]
    packets = Offered.of([np.array(keys).reshape(len(keys), config.lanes)])
    found = schedule(config, packets)
    rows = [{} for _ in range(len(offered) + sum(len(batch) for batch in offered) + 1)]
    for lane, key, cycle in zip(packets.lane, packets.key, found.served, strict=True):
        assert lane not in rows[cycle], "a lane has one answer a cycle"
        rows[cycle][int(lane)] = int(key)
    taken = found.taken.tolist()
    assert (found.backlog, found.in_front) == behind(offered, taken, rows)
    return taken, rows


@st.composite
def cases(draw: Any, kind: str) -> tuple[OfanConfig, Keys]:
    """An engine, and batches that often meet: few keys, few idle lanes, now and then a pause."""
    width, pipes = draw(st.sampled_from([(4, 1), (6, 1), (8, 1), (5, 1), (2, 3), (16, 1), (4, 2)]))
    queues = [q for q in range(1, width + 1) if width % q == 0 and width // q <= 8]
    count = draw(st.sampled_from(queues))
    depth = draw(st.integers(1, 4))
    banks = draw(st.sampled_from([1, 2, 4, 8]))
    config = OfanConfig(
        lanes=width * pipes,
        pipe_lanes=width,
        uplinks=4,
        destinations=20,
        engine=Engine(kind=kind, banks=banks, queues=count, depth=depth, group=1),
    )
    some = draw(st.lists(st.integers(0, config.keys - 1), min_size=1, max_size=8))
    lane = st.one_of(*[st.sampled_from(some)] * draw(st.integers(1, 4)), st.none())
    batch = st.lists(lane, min_size=config.lanes, max_size=config.lanes)
    idle = st.just([None] * config.lanes)
    return config, draw(st.lists(st.one_of(batch, batch, batch, idle), min_size=1, max_size=12))


@pytest.mark.parametrize("kind", PIPES)
@given(data=st.data())
@settings(max_examples=300, deadline=None)
def test_the_machine_code_is_the_golden_model(kind: str, data: Any) -> None:
    config, offered = data.draw(cases(kind))
    if all(key is None for batch in offered for key in batch):
        return
    assert twin(config, offered) == served(config, offered)


@pytest.mark.parametrize("name", ["edge-k64-queued", "edge-k12-matched", "edge-k12-banked"])
def test_presets(name: str) -> None:
    """300 batches of a switch, in part full, in part at half load."""
    config, rng = preset(name), np.random.default_rng(5)
    drawn = rng.integers(config.keys, size=(300, config.lanes))
    idle = rng.random(drawn.shape) < np.linspace(0, 1.3, 300)[:, None]
    offered = [
        [None if free else int(key) for key, free in zip(*row, strict=True)]
        for row in zip(drawn, idle, strict=True)
    ]
    assert twin(config, offered) == served(config, offered)


def test_pofan_takes_a_batch_in_all_pipes_at_once() -> None:
    config, rng = preset("pofan4-k64-queued"), np.random.default_rng(6)
    offered: Keys = rng.integers(0, 40, (60, config.lanes)).tolist()
    found = served(config, offered)
    assert twin(config, offered) == found
    assert found[0] != list(range(60)), "some pipe has made all of them wait"


def test_sorted_never_waits() -> None:
    offered = Offered.of([np.random.default_rng(7).integers(-1, 9, (50, 32))])
    found = schedule(edge(64), offered)
    assert not found.waiting.any()
    assert (found.backlog, found.in_front, found.cycles_a_batch) == (1, 0, 1.0)


def line(*lanes: int) -> np.ndarray:
    return np.array([lanes])


def test_numbers_of_a_schedule_worked_by_hand() -> None:
    """Two banks, a queue of one batch. Keys 0, 3 and 5 live in bank 0, key 1 in bank 1."""
    config = OfanConfig(
        lanes=2,
        uplinks=2,
        destinations=4,
        engine=Engine(kind="matched-banked", banks=2, depth=1, group=1),
    )
    assert [int(place(key, 2)[0]) for key in (0, 3, 5, 1)] == [0, 0, 0, 1]
    case = np.array([[0, 3], [0, 1], [3, -1], [-1, -1], [-1, 5]])
    found = schedule(config, Offered.of([case]))
    #   cycle     0    1    2    3    4
    #   taken     A         B    C    E
    #   served    0    3   0,1   3    5
    assert found.taken.tolist() == [0, 2, 3, 4]
    assert found.served.tolist() == [0, 1, 2, 2, 3, 4]
    assert found.waiting.tolist() == [0, 1, 1, 1, 1, 0]
    assert found.histogram.tolist() == [2, 4]
    assert [found.longest(share) for share in (0.1, 0.33, 0.34, 1.0)] == [0, 0, 1, 1]
    assert found.backlog == 2, "in cycle 1: A, and B that just came"
    assert found.in_front == 1
    assert found.cycles_a_batch == 1.0


def test_cases_meet_an_empty_engine() -> None:
    """A second case gives the numbers of the first, and takes 6 cycles where 3 were offered."""
    config = OfanConfig(
        lanes=2, uplinks=2, destinations=4, engine=Engine(kind="matched-banked", banks=2, group=1)
    )
    case = np.array([[0, 3]] * 3)
    idle = np.full((4, 2), -1)
    found = schedule(config, Offered.of([case, idle, case]))
    assert found.waiting.tolist() == 2 * [0, 1, 1, 2, 2, 3]
    assert found.backlog == 2
    assert found.cycles_a_batch == 2.0
    assert found.offered.lengths.tolist() == [3, 3], "a case without packets is left out"


def test_another_map_of_banks() -> None:
    """All keys in one bank: one key a cycle."""
    config = edge(8, engine=Engine(kind="queued-banked", banks=4, depth=4))
    offered = Offered.of([line(1, 2, 3, 4)])
    assert schedule(config, offered).waiting.max() == 1
    found = schedule(config, offered, np.zeros(config.keys, np.int64))
    assert sorted(found.waiting) == [0, 1, 2, 3]
