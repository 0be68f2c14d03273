"""The golden model for whole traces: the same answers, some hundred times as fast, in numpy.

Packets of one pointer are brought together by a stable sort, so each learns how many of its
pointer came before it in the block; that number added to the pointer gives its position. Without
failures position = (p + occurrence) mod w. With failures positions are counted among the V valid
ones of the key's order alone: x = (c + occurrence) mod V, where c is how many valid positions lie
below the pointer, and the packet takes the x-th of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from models.common.mix import mix64
from models.ofan.config import OfanConfig
from models.ofan.masks import FailureEvent, LinkChange, UplinkSets
from models.ofan.order import order_table
from models.ofan.switch import UNROUTABLE, class_offset
from models.ofan.trace import Trace

Progress = Callable[[int], object]

_BLOCK = 1 << 16  # packets: the arrays of a block stay in a core's second-level cache


def initial_pointers(config: OfanConfig) -> np.ndarray:
    """Return where every pointer starts, uint8 [pipes, keys]; `models.ofan.switch` defines it."""
    w = config.uplinks
    data = np.zeros((config.pipes, config.destinations), np.int64)
    if config.init != "zero":
        g = np.uint64(0x9E3779B97F4A7C15)
        stream = np.uint64(mix64((config.init + int(g)) % 2**64))
        pipe = np.arange(config.pipes, dtype=np.uint64)[:, None]
        destination = np.arange(config.destinations, dtype=np.uint64)
        drawn = mix64(stream + g * ((pipe << np.uint64(32)) + destination + np.uint64(1)))
        data = ((drawn >> np.uint64(32)) * np.uint64(w) >> np.uint64(32)).astype(np.int64)
    offsets = [class_offset(t, w) for t in range(config.size_classes)]
    return np.concatenate([(data + offset) % w for offset in offsets], axis=1).astype(np.uint8)


class VectorizedOfan:
    """One switch. `serve` takes packets in order, `serve_batches` whole batches; pointers are kept
    from call to call, and `apply` is links going down or up in between."""

    def __init__(self, config: OfanConfig) -> None:
        self.config = config
        w = config.uplinks
        assert config.order is not None
        self._orders = order_table(config.order, w, config.keys)
        self._uplinks = UplinkSets(config)
        # A pointer is numbered pipe·keys + key. While links stay as they are, only _served grows.
        self._pointer = initial_pointers(config).astype(np.int64)  # where links last changed
        self._first = self._pointer.ravel().copy()  # c: valid positions below the pointer
        self._served = self._first.copy()  # c + packets since then
        # By key: V, the valid positions in rising order, and the uplinks there.
        self._valid = np.full(config.keys, w)
        self._positions = np.tile(np.arange(w, dtype=np.uint8), (config.keys, 1))
        self._table = self._orders.astype(np.int16)
        self._prepare()
        count = len(self._served)
        self._index = np.min_scalar_type(count - 1)
        self._block = max(_BLOCK, 2 * count)

    def _prepare(self) -> None:
        """Derive what serving a block reads: V and the start of the table row of each pointer."""
        c = self.config
        self._uniform = bool((self._valid == c.uplinks).all())
        wide = np.int32 if self._table.size + 2 * self._served.size < 2**30 else np.int64
        self._modulus = np.tile(np.maximum(self._valid, 1), c.pipes).astype(wide)
        self._row = np.tile(np.arange(c.keys) * c.uplinks, c.pipes).astype(wide)

    def apply(self, changes: Iterable[LinkChange]) -> None:
        """Change which uplinks reach which destinations, from the next packet on."""
        c = self.config
        changed = self._uplinks.apply(changes)
        if not len(changed):
            return
        keys = (changed + c.destinations * np.arange(c.size_classes)[:, None]).ravel()
        pointer = self._pointers(keys)
        sets = np.tile(self._uplinks.sets[changed], c.size_classes)
        valid = (sets[:, None] >> self._orders[keys].astype(np.uint64) & np.uint64(1)).astype(bool)
        positions = np.argsort(~valid, axis=1, kind="stable")
        self._valid[keys] = valid.sum(axis=1)
        self._positions[keys] = positions
        table = np.take_along_axis(self._orders[keys], positions, axis=1).astype(np.int16)
        table[~valid.any(axis=1)] = UNROUTABLE
        self._table[keys] = table
        below = np.cumsum(valid, axis=1) - valid  # valid positions below each position
        first = below[np.arange(len(keys)), pointer]
        self._pointer[:, keys] = pointer
        self._first.reshape(c.pipes, c.keys)[:, keys] = first
        self._served.reshape(c.pipes, c.keys)[:, keys] = first
        self._prepare()

    def _pointers(self, keys: np.ndarray) -> np.ndarray:
        """Where the pointers of `keys` stand, [pipes, keys]: one past the last packet's position,
        or where they stood at the last change if no packet has been routed since."""
        c = self.config
        first = self._first.reshape(c.pipes, c.keys)[:, keys]
        served = self._served.reshape(c.pipes, c.keys)[:, keys]
        valid = self._valid[keys]
        last = self._positions[keys, (served - 1) % np.maximum(valid, 1)]
        after = (last.astype(np.int64) + 1) % c.uplinks
        return np.where((served > first) & (valid > 0), after, self._pointer[:, keys])

    def pointers(self) -> np.ndarray:
        """Return where every pointer stands, int64 [pipes, keys]."""
        return self._pointers(np.arange(self.config.keys))

    def serve(self, key: np.ndarray, pipe: np.ndarray | None = None) -> np.ndarray:
        """Serve packets in order of the array: by batch, and by lane within a batch.

        `key` has the pointer keys (any integer type, each below `config.keys`), `pipe` the pipe
        each packet comes in through, which may be left out if there is one. Returns the uplinks
        as int16, `UNROUTABLE` (-1) where none reaches the destination.
        """
        out = np.empty(len(key), np.int16)
        for start in range(0, len(key), self._block):
            part = slice(start, start + self._block)
            index = key[part].astype(self._index, copy=False)
            if pipe is not None:
                index = index + (pipe[part].astype(np.int64) * self.config.keys).astype(self._index)
            self._serve_block(index, out[part])
        return out

    def serve_batches(self, key: np.ndarray, keep: np.ndarray | None = None) -> np.ndarray:
        """Serve batches, one a row: `key` is [batches, lanes], `keep` says which lanes have a
        packet (bool of that shape; None: all). Returns int16 of that shape, -1 on empty lanes."""
        c = self.config
        batches = max(1, self._block // c.lanes)
        out = np.full(key.shape, UNROUTABLE, np.int16)
        pipe = np.arange(c.lanes) // c.lanes_per_pipe
        offset = None if c.pipes == 1 else (pipe * c.keys).astype(self._index)
        for start in range(0, len(key), batches):
            part = slice(start, start + batches)
            index = key[part].astype(self._index, copy=False)
            if offset is not None:
                index = index + offset
            if keep is None:
                self._serve_block(index.reshape(-1), out[part].reshape(-1))
            else:
                packets = np.flatnonzero(keep[part])
                served = np.empty(len(packets), np.int16)
                self._serve_block(index.reshape(-1)[packets], served)
                out[part].reshape(-1)[packets] = served
        return out

    def _serve_block(self, index: np.ndarray, out: np.ndarray) -> None:
        """Serve the packets of the pointers `index`, in order, into `out`."""
        w = self.config.uplinks
        counts = np.bincount(index, minlength=len(self._served))
        first = self._served - np.cumsum(counts) + counts  # position of sorted packet 0, if its
        self._served += counts
        wide = self._row.dtype
        number = np.arange(len(index), dtype=wide)
        if not self._uniform:
            modulus = np.repeat(self._modulus, counts)
            number += np.repeat((first % self._modulus).astype(wide), counts)
            number %= modulus
        elif w & (w - 1):
            number += np.repeat((first % w).astype(wide), counts)
            number -= number // w * w  # numpy divides by one number faster than it takes a rest
        else:
            number += np.repeat(first.astype(wide), counts)
            number &= w - 1
        number += np.repeat(self._row, counts)
        out[_stable_order(index)] = self._table.reshape(-1)[number]


def _stable_order(index: np.ndarray) -> np.ndarray:
    """Return the stable argsort; numpy sorts 8 and 16 bits by radix, so wider ones go in halves."""
    if index.dtype.itemsize <= 2:
        return np.argsort(index, kind="stable")
    order = np.argsort(index.astype(np.uint16), kind="stable")
    return order[np.argsort((index >> 16).astype(np.uint16)[order], kind="stable")]


def route(
    config: OfanConfig,
    trace: Trace,
    failures: Sequence[FailureEvent] = (),
    progress: Progress | None = None,
) -> np.ndarray:
    """Return the uplinks of a trace's rows, int16, `UNROUTABLE` (-1) where there is none.

    `progress` is called now and then with the number of batches served so far.
    """
    model = VectorizedOfan(config)
    order = trace.lane_order
    key, lane = trace.keys(config), trace.lane
    if order is not None:
        key, lane = key[order], lane[order]
    pipe = None if config.pipes == 1 else lane // config.lanes_per_pipe
    out = np.empty(len(trace), np.int16)
    done = 0

    def serve_to(end: int) -> None:
        nonlocal done
        while done < end:
            part = slice(done, min(end, done + 16 * _BLOCK))
            out[part] = model.serve(key[part], None if pipe is None else pipe[part])
            done = part.stop
            if progress:
                progress(int(trace.slots[done - 1]) + 1)

    for event in failures:
        serve_to(int(np.searchsorted(trace.batch, event.batch)))
        model.apply(event.changes)
    serve_to(len(trace))
    if order is None:
        return out
    rows = np.empty_like(out)
    rows[order] = out
    return rows
