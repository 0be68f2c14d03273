"""Failure files, sets of valid uplinks, and the writes that bring them into the mask table."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.common.errors import InputError
from models.ofan.config import OfanConfig
from models.ofan.masks import (
    FailureEvent,
    LinkChange,
    MaskWrite,
    SharedMasks,
    UplinkSets,
    evolve,
    masks_needed,
    read_failures,
    with_room,
)

Draw = Any
CONFIG = OfanConfig(lanes=4, uplinks=4, destinations=6, masks=4)
HEAD = "batch,destination,uplink,up\n"


def write(folder: Path, text: str) -> Path:
    file = folder / "f.csv"
    file.write_text(text)
    return file


def test_reads_events_grouped_by_batch(tmp_path: Path) -> None:
    found = read_failures(write(tmp_path, HEAD + "0,,1,0\n5,2,3,0\n5,2,1,1\n9,0,0,0\n"), CONFIG)
    assert found == [
        FailureEvent(0, (LinkChange(None, 1, False),)),
        FailureEvent(5, (LinkChange(2, 3, False), LinkChange(2, 1, True))),
        FailureEvent(9, (LinkChange(0, 0, False),)),
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", ":1: empty: there is no header"),
        (HEAD, ":2: empty: there is no row below the header"),
        ("batch,destination,uplink\n0,0,0\n", ":1: up: this column is missing"),
        (HEAD + "0,6,1,0\n", ":2: destination: must be empty or an integer from 0 to 5, not '6'"),
        (HEAD + "0,0,4,0\n", ":2: uplink: must be an integer from 0 to 3, not '4'"),
        (HEAD + "0,0,,0\n", ":2: uplink: must be an integer from 0 to 3, not ''"),
        (HEAD + "0,0,1,2\n", ":2: up: must be an integer from 0 to 1, not '2'"),
        (HEAD + "0,0,1,down\n", ":2: up: must be an integer from 0 to 1, not 'down'"),
        (HEAD + "4,0,1,0\n3,,1,0\n", ":3: batch: must be 4 or more, .*, not '3'"),
        (HEAD + "0,-1,1,0\n", ":2: destination: must be empty or an integer from 0 to 5, not '-1'"),
    ],
)
def test_bad_failure_files(tmp_path: Path, text: str, said: str) -> None:
    file = write(tmp_path, text)
    with pytest.raises(InputError, match=said):
        read_failures(file, CONFIG)


def test_uplink_sets_tell_what_changed() -> None:
    sets = UplinkSets(CONFIG)
    assert sets.apply([LinkChange(2, 1, False)]).tolist() == [2]
    assert sets.apply([LinkChange(None, 1, False)]).tolist() == [0, 1, 3, 4, 5]
    assert sets.apply([LinkChange(3, 0, False), LinkChange(3, 0, True)]).tolist() == []
    assert sets.sets.tolist() == [0b1101] * 6


class Table:
    """The switch's table, as the port `s_mask` is described."""

    def __init__(self, config: OfanConfig) -> None:
        self.value = [2**config.uplinks - 1] * config.masks
        self.number = [0] * config.destinations

    def take(self, write: MaskWrite) -> None:
        (self.value if write.select else self.number)[write.address] = write.value

    def sets(self) -> list[int]:
        return [self.value[number] for number in self.number]


@st.composite
def histories(draw: Draw) -> tuple[OfanConfig, list[FailureEvent]]:
    uplinks = draw(st.sampled_from([1, 3, 4, 64]))
    config = OfanConfig(lanes=1, uplinks=uplinks, destinations=draw(st.integers(1, 7)), masks=1)
    change = st.builds(
        LinkChange,
        destination=st.one_of(st.none(), st.integers(0, config.destinations - 1)),
        uplink=st.integers(0, uplinks - 1),
        up=st.booleans(),
    )
    many = st.lists(st.lists(change, max_size=6).map(tuple), max_size=8)
    return config, [FailureEvent(batch, changes) for batch, changes in enumerate(draw(many))]


@given(histories())
def test_writes_bring_the_table_to_the_wanted_sets(
    history: tuple[OfanConfig, list[FailureEvent]],
) -> None:
    """With as many masks as there are sets at one time, and none to spare."""
    config, events = history
    need = masks_needed(config, events)
    config = OfanConfig(
        lanes=1, uplinks=config.uplinks, destinations=config.destinations, masks=need
    )
    table, shared = Table(config), SharedMasks(config)
    for _, sets in evolve(config, events):
        for write_ in shared.update(sets):
            table.take(write_)
        assert table.sets() == sets.tolist()


def test_destinations_that_move_together_cost_one_write() -> None:
    config = OfanConfig(lanes=4, uplinks=4, destinations=2000, masks=4)
    sets, shared = UplinkSets(config), SharedMasks(config)
    for up in (False, True, False):
        sets.apply([LinkChange(None, 2, up)])
        value = 0b1111 if up else 0b1011
        assert shared.update(sets.sets) == [MaskWrite(1, 0, value)]
    assert shared.update(sets.sets) == []


def test_one_destination_takes_a_free_mask_and_gives_it_back() -> None:
    sets, shared = UplinkSets(CONFIG), SharedMasks(CONFIG)
    for destination, pair in enumerate(combinations(range(4), 2)):  # 6 sets in turn, 4 masks
        sets.apply([LinkChange(destination, uplink, False) for uplink in pair])
        first, second = shared.update(sets.sets)
        assert first == MaskWrite(1, first.address, 0b1111 - (1 << pair[0]) - (1 << pair[1]))
        assert second == MaskWrite(0, destination, first.address)
        sets.apply([LinkChange(destination, uplink, True) for uplink in pair])
        assert shared.update(sets.sets) == [MaskWrite(0, destination, 0)]


def test_a_set_that_a_free_mask_still_holds_is_not_written_again() -> None:
    sets, shared = UplinkSets(CONFIG), SharedMasks(CONFIG)
    for up in (False, True):  # destinations 0 and 1 lose uplinks of their own and get them back
        sets.apply([LinkChange(destination, destination, up) for destination in (0, 1)])
        shared.update(sets.sets)
    for destination, uplink in ((4, 0), (5, 1)):
        sets.apply([LinkChange(destination, uplink, False)])
        (write_,) = shared.update(sets.sets)
        assert (write_.select, write_.address) == (0, destination)


def test_too_many_sets_at_one_time_are_counted() -> None:
    sets, shared = UplinkSets(CONFIG), SharedMasks(CONFIG)
    sets.apply([LinkChange(d, d % 4, False) for d in range(5)] + [LinkChange(4, 1, False)])
    with pytest.raises(ValueError, match=r"^masks must be at least 6, the different .* not 4$"):
        shared.update(sets.sets)


def test_masks_grow_to_the_need() -> None:
    events = [FailureEvent(0, tuple(LinkChange(d, d % 4, False) for d in range(4)))]
    assert masks_needed(CONFIG, events) == 5
    assert with_room(CONFIG, events).masks == 8
    assert with_room(CONFIG, []) is CONFIG
    with pytest.raises(ValueError, match=r"^masks must be at least 5, .* not 4$"):
        with_room(CONFIG, events, grow=False)


def test_masks_needed_is_the_peak() -> None:
    up_again = FailureEvent(1, (LinkChange(0, 0, True),))
    events = [FailureEvent(0, (LinkChange(0, 0, False),)), up_again]
    assert masks_needed(CONFIG, events) == 2
    assert masks_needed(CONFIG, []) == 1


def test_beat_layout() -> None:
    """Value below, address above it, select on top: max(4, 2), max(3, 2) and 1 bits."""
    assert MaskWrite(1, 2, 0b1010).tdata(CONFIG) == 0b1_010_1010
    assert MaskWrite(0, 5, 3).tdata(CONFIG) == 0b0_101_0011


def test_sets_of_64_uplinks() -> None:
    config = OfanConfig(lanes=1, uplinks=64, destinations=2)
    sets = UplinkSets(config)
    assert sets.apply([LinkChange(1, 63, False)]).tolist() == [1]
    assert np.array_equal(sets.sets, np.array([2**64 - 1, 2**63 - 1], np.uint64))
