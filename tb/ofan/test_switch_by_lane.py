"""The judge of lanes that leave out of step: what it must refuse, without a simulator."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any
from unittest.mock import Mock

import pytest

from models.ofan.config import OfanConfig
from models.ofan.engine import Engine
from models.ofan.switch import Packet
from rtl.ofan.engine import pointer_engine
from tb.ofan.switch_by_lane import ByLane
from tb.ofan.switch_coverage import SwitchCoverage
from tb.ofan.switch_cycle import Beat, Cycle
from tb.ofan.switch_reference import Reference
from tb.ofan.switch_schedule import Schedule

LATENCY = 3


@dataclass
class Driver:
    """A switch of two lanes under a judge: what its ports show is said cycle by cycle."""

    kind: str = "sorted-banked"
    timed: bool = False
    """Whether the judge knows the schedule; else it finds every one right."""
    judge: ByLane = field(init=False)

    def __post_init__(self) -> None:
        c = OfanConfig(
            lanes=2,
            uplinks=4,
            destinations=4,
            order="plain",
            init="zero",
            masks=0,
            engine=Engine(kind=self.kind, banks=2),
        )
        self.model = Reference(c)
        self.latency = LATENCY
        if self.timed:
            self.latency = pointer_engine(c).latency
        self.judge = ByLane(c, self.latency, SwitchCoverage("judge", c, self.latency))
        self.judge.restart(0)
        self.number = 0
        self.schedule = Mock(Schedule, pipes=[], **{"takes.return_value": True})
        if not self.timed:
            self.judge.schedule = self.schedule

    def cycle(
        self,
        *destinations: int | None,
        answers: dict[int, int] | None = None,
        stalled: bool = False,
        **ports: Any,
    ) -> None:
        """One cycle: a batch with a packet a lane, or none, and answers {lane: uplink}."""
        seen = {"taken": True, "writing": False, "write_taken": False, "sweeping": False, **ports}
        now = Cycle(
            number=self.number,
            offered=bool(destinations),
            answer=answers is not None,
            answer_taken=not stalled,
            in_flight=self.judge.in_flight,
            **seen,
        )
        self.judge.begin(now)
        self.schedule.leaving = sum(1 << lane for lane in answers or ())
        if answers is None:
            self.judge.nothing(now)
        else:
            data = sum(uplink << 3 * lane for lane, uplink in answers.items())
            self.judge.answer(now, Beat(data, sum(1 << lane for lane in answers), 0))
            if not stalled:
                self.judge.left()
        batch = None
        if destinations:
            self.judge.ready(now)
            if now.taken:
                packets = [Packet(lane, d) for lane, d in enumerate(destinations) if d is not None]
                batch = self.model.answer(packets)
                self.judge.accept(now, batch, self.model)
        self.judge.end(now, batch)
        self.number += 1

    def idle(self, cycles: int) -> None:
        for _ in range(cycles):
            self.cycle()


def test_lanes_may_leave_apart_and_mixed() -> None:
    driver = Driver()
    driver.cycle(1, 1)
    driver.cycle(2, 1)
    driver.idle(1)
    driver.cycle(answers={1: 1})
    driver.cycle(answers={0: 0, 1: 2})
    assert driver.judge.in_flight == 1
    driver.cycle(answers={0: 0})
    assert (driver.judge.answered, driver.judge.packets) == (2, 4)


@pytest.mark.parametrize("late", [0, 1])
def test_a_batch_leaves_in_its_bound(late: int) -> None:
    """Two packets that come at once leave two cycles after the latency, less one, at the latest;
    a cycle in which an answer waits does not count."""
    driver = Driver()
    driver.cycle(1, 1)
    driver.idle(2)
    driver.cycle(answers={0: 0}, stalled=True)
    driver.judge.left()
    driver.idle(1 + late)
    if not late:
        driver.cycle(answers={1: 1})
        assert not driver.judge.in_flight
        return
    with pytest.raises(AssertionError, match="^cycle 6: batch 0 has 1 packets left 1 cycles after"):
        driver.cycle(answers={1: 1})


def test_batches_wait_for_those_in_front() -> None:
    driver = Driver()
    for _ in range(3):
        driver.cycle(1, 1)
    assert [batch.due for batch in driver.judge.open] == [4, 6, 8]


@pytest.mark.parametrize(
    ("answers", "said"),
    [
        ({}, "^cycle 3: m_axis_tvalid is 1 and m_axis_tkeep is 0$"),
        ({0: 0, 1: 0}, "^cycle 3: lane 1 has an answer though none is due$"),
        ({0: 1}, "^cycle 3: batch 0: lane 0, destination 1, size class 0: uplink is 1, not 0"),
    ],
)
def test_wrong_answers(answers: dict[int, int], said: str) -> None:
    driver = Driver()
    driver.cycle(1, None)
    driver.idle(2)
    with pytest.raises(AssertionError, match=said):
        driver.cycle(answers=answers)


def test_a_lane_answers_in_its_order() -> None:
    driver = Driver()
    driver.cycle(1, 1)
    driver.cycle(2, None)
    driver.cycle(1, None)
    with pytest.raises(
        AssertionError, match="lane 0, destination 2, size class 0: uplink is 2, not 0"
    ):
        for uplink in (0, 2):
            driver.cycle(answers={0: uplink})


@pytest.mark.parametrize(
    ("ports", "said"),
    [
        ({"taken": False}, "^cycle 0: s_axis_tready is 0, not 1$"),
        (
            {"taken": True, "writing": True},
            "^cycle 0: s_axis_tready is 1 though a write waits$",
        ),
    ],
)
def test_ready(ports: dict[str, Any], said: str) -> None:
    with pytest.raises(AssertionError, match=said):
        Driver("queued-banked", timed=True).cycle(1, 1, **ports)


def test_a_queue_takes_batches_during_a_stall() -> None:
    """The second of four leaves nothing free in a queue of two."""
    driver = Driver("matched-banked", timed=True)
    driver.cycle(1, 1)
    driver.idle(2)
    for taken in (True, True, False):
        driver.cycle(1, 1, answers={0: 0, 1: 1}, stalled=True, taken=taken)
    with pytest.raises(AssertionError, match="^cycle 6: s_axis_tready is 1, not 0$"):
        driver.cycle(1, 1, answers={0: 0, 1: 1}, stalled=True)


@pytest.mark.parametrize("kind", ["queued-banked", "matched-banked", "sorted-banked"])
def test_lanes_leave_when_the_schedule_says(kind: str) -> None:
    driver = Driver(kind, timed=True)
    driver.idle(8)  # the sweep
    driver.cycle(1, None)
    driver.idle(driver.latency - 1)
    due = 8 + driver.latency
    with pytest.raises(AssertionError, match=f"^cycle {due}: answers leave of lanes 0x0, not 0x1$"):
        driver.idle(1)
