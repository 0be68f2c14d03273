"""Link failures: their files, the sets of valid uplinks they leave, and the shared-mask table.

A failure file has the columns `batch,destination,uplink,up`, sorted by batch: from that batch on,
`uplink` reaches `destination` (up = 1) or does not (up = 0); an empty destination means all.
A set of valid uplinks is an integer with bit u set if uplink u reaches the destination.

In the switch a destination has the number of a shared mask, and a few shared masks hold the sets
(section 4.1, Failures: the routing protocol tells which uplinks are valid).
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from models.common.column import Column
from models.common.columns import read_columns
from models.ofan.config import OfanConfig
from models.ofan.trace import MAX_BATCH, check_order


@dataclass(frozen=True, slots=True)
class LinkChange:
    """An uplink that starts (`up`) or stops to reach a destination (None: every destination)."""

    destination: int | None
    uplink: int
    up: bool


@dataclass(frozen=True, slots=True)
class FailureEvent:
    """The changes that hold from `batch` on, to be applied in order before it is served."""

    batch: int
    changes: tuple[LinkChange, ...]


def read_failures(file: str | os.PathLike[str], config: OfanConfig) -> list[FailureEvent]:
    """Read a failure file as one event a batch; raises `InputError` for whatever is wrong in it."""
    columns = (
        Column("batch", 0, MAX_BATCH),
        Column("destination", 0, config.destinations - 1, blank=-1),
        Column("uplink", 0, config.uplinks - 1),
        Column("up", 0, 1),
    )
    found = read_columns(file, columns)
    check_order(file, found["batch"])
    events: dict[int, list[LinkChange]] = {}
    rows = zip(*(found[column.name].tolist() for column in columns), strict=True)
    for batch, destination, uplink, up in rows:
        change = LinkChange(None if destination < 0 else destination, uplink, bool(up))
        events.setdefault(batch, []).append(change)
    return [FailureEvent(batch, tuple(changes)) for batch, changes in events.items()]


class UplinkSets:
    """The set of valid uplinks of each destination as link changes come in; all valid at first."""

    def __init__(self, config: OfanConfig) -> None:
        self.all = 2**config.uplinks - 1
        self.sets = np.full(config.destinations, self.all, np.uint64)
        """uint64 [destinations]."""

    def apply(self, changes: Iterable[LinkChange]) -> np.ndarray:
        """Apply changes in order; return the destinations whose set is another now (rising)."""
        before = self.sets.copy()
        for change in changes:
            where = slice(None) if change.destination is None else change.destination
            bit = np.uint64(1 << change.uplink)
            if change.up:
                self.sets[where] |= bit
            else:
                self.sets[where] &= ~bit
        return np.flatnonzero(self.sets != before)


@dataclass(frozen=True, slots=True)
class MaskWrite:
    """One beat of `s_mask`: destination `address` uses mask `value` (select 0), or mask `address`
    becomes the set `value` (select 1)."""

    select: int
    address: int
    value: int

    def tdata(self, config: OfanConfig) -> int:
        """The beat's bits: value, address above it, select on top."""
        value_bits = max(config.uplinks, config.mask_bits)
        address_bits = max(config.destination_bits, config.mask_bits, 1)
        return self.value | self.address << value_bits | self.select << value_bits + address_bits


class SharedMasks:
    """What is in the switch's shared-mask table, and the writes that turn it into other sets.

    After reset every mask is all ones and every destination uses mask 0. The writes of one
    `update` belong together: no batch may be accepted between them.
    """

    def __init__(self, config: OfanConfig) -> None:
        self.values = [2**config.uplinks - 1] * config.masks
        """Set held by each mask."""
        self.numbers = np.zeros(config.destinations, np.int64)
        """Mask number of each destination."""

    def write(self, write: MaskWrite) -> None:
        """Do what one beat of `s_mask` does."""
        if write.select:
            self.values[write.address] = write.value
        else:
            self.numbers[write.address] = write.value

    def set_of(self, destination: int) -> int:
        """Return the set of valid uplinks that `destination` has, bit u for uplink u."""
        return self.values[self.numbers[destination]]

    def update(self, sets: np.ndarray) -> list[MaskWrite]:
        """Return the writes after which destination d has the set `sets[d]` (uint64).

        Each set takes the mask that saves the most writes: one for each of its destinations that
        uses the mask already, one if the mask holds the set. So destinations that move as a whole
        cost one write, and masks that nobody uses any more are free again. Raises `ValueError`
        naming how many different sets there are if the table has fewer masks.
        """
        wanted, which = np.unique(sets, return_inverse=True)
        masks = len(self.values)
        _check_room(len(wanted), masks)
        users = np.bincount(which * masks + self.numbers, minlength=len(wanted) * masks)
        users = users.reshape(len(wanted), masks)
        holds = np.array(self.values, np.uint64) == wanted[:, None]
        number = _match(users + holds)
        writes = [
            MaskWrite(1, int(m), int(value))
            for m, value in zip(number, wanted, strict=True)
            if self.values[m] != value
        ]
        numbers = number[which]
        moved = np.flatnonzero(numbers != self.numbers)
        writes += [MaskWrite(0, int(d), int(numbers[d])) for d in moved]
        for write in writes:
            self.write(write)
        return writes


def _match(saved: np.ndarray) -> np.ndarray:
    """Give each set (row) a mask of its own (column), the largest savings first."""
    number = np.full(len(saved), -1)
    free = np.ones(saved.shape[1], bool)
    for row in np.argsort(-saved.max(axis=1), kind="stable"):
        number[row] = np.where(free, saved[row], -1).argmax()
        free[number[row]] = False
    return number


def masks_needed(config: OfanConfig, events: Sequence[FailureEvent]) -> int:
    """Return the most different sets of valid uplinks that are in force at one time."""
    return max((len(np.unique(sets)) for _, sets in evolve(config, events)), default=1)


def evolve(
    config: OfanConfig, events: Sequence[FailureEvent]
) -> Iterator[tuple[FailureEvent, np.ndarray]]:
    """Give each event with the sets after it (uint64 [destinations], the same array each time)."""
    state = UplinkSets(config)
    for event in events:
        state.apply(event.changes)
        yield event, state.sets


def _check_room(need: int, masks: int) -> None:
    if need > masks:
        raise ValueError(
            f"masks must be at least {need}, the different sets of valid uplinks in force at one "
            f"time, not {masks}"
        )


def with_room(config: OfanConfig, events: Sequence[FailureEvent], grow: bool = True) -> OfanConfig:
    """Return `config` with as many masks as `events` need.

    If it has fewer, they become the power of two from there on up; without leave to `grow` that
    is a `ValueError` naming the number of different sets, and so is more than a switch can have.
    """
    need = masks_needed(config, events) if events else 0
    if grow and need > config.masks:
        config = replace(config, masks=1 << (need - 1).bit_length())
    _check_room(need, config.masks)
    return config
