"""Bulk replay: millions of batches through the verilated `rtl.ofan.switch.Switch`.

The RTL routes what a trace says its packets are bound for, so the lookup in front of the pipes,
which reads addresses, is left out.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from models.ofan.config import OfanConfig
from models.ofan.masks import FailureEvent, MaskWrite, SharedMasks, evolve, with_room
from models.ofan.trace import Trace
from rtl.ofan.switch import Switch
from rtl.verilog import block_verilog
from tb.gated import gated
from tb.verilated import build_library

IDLE = -2
"""What `Replay.run` gives for a lane without a packet; -1 is a packet that no uplink serves."""

CHUNK = 100_000
"""Batches in one call of the library, at most; Ctrl-C and progress wait for the end of a call."""

PATIENCE = 1_000_000
"""Cycles in which nothing moves before the switch counts as stuck."""

_CONDITIONS = r"some_down\w*"
"""The wires of the RTL that say that a lane's uplinks are not all valid."""

_WRITE_WORDS = 3
_FAILURES = {
    1: "nothing moved for {patience} cycles with batch {at} waiting",
    2: "tkeep of answer {at} differs from that of its batch",
    3: "an answer came while none was due, with batch {at} as the next to be answered",
    4: "a beat without an answer came, with batch {at} as the next to be answered",
}


class ReplayError(RuntimeError):
    """The switch got stuck, or answered what it was not asked; the message names the batch."""


@cache
def _library(config: OfanConfig) -> ctypes.CDLL:
    constants = {
        "LANES": config.lanes,
        "DESTINATION_BITS": config.destination_bits,
        "REQUEST_BITS": config.request_bits,
        "UPLINK_BITS": config.uplink_bits,
        "ANSWER_BITS": config.answer_bits,
        "MASKS": config.masks,
        "BANKED": int(config.engine.banked),
    }
    wrapper = Path(__file__).with_suffix(".cpp").read_text()
    verilog = gated(block_verilog(Switch, config, "switch"), _CONDITIONS)
    library = build_library(verilog, "switch", wrapper, constants)

    def array(kind: Any) -> Any:
        return np.ctypeslib.ndpointer(kind, flags="C_CONTIGUOUS")

    library.replay_open.restype = ctypes.c_void_p
    library.replay_close.argtypes = [ctypes.c_void_p]
    library.replay_cycles.argtypes = [ctypes.c_void_p]
    library.replay_cycles.restype = ctypes.c_int64
    library.replay_run.argtypes = [
        ctypes.c_void_p,
        ctypes.c_int64,
        array(np.uint16),
        array(np.uint8),
        array(np.uint8),
        ctypes.c_int64,
        array(np.int64),
        array(np.uint32),
        ctypes.c_int64,
        array(np.int16),
        ctypes.POINTER(ctypes.c_int64),
    ]
    return library


class Replay:
    """One verilated switch, fresh from reset. Pointers and masks live from call to call of `run`.

    Use as a context manager, or `close` it. Builds the model on first use of a configuration.
    """

    def __init__(self, config: OfanConfig, patience: int = PATIENCE) -> None:
        self.config = replace(config, lookup="none")
        self.patience = patience
        self._library = _library(self.config)
        self._handle = self._library.replay_open()
        self._answered = 0

    def __enter__(self) -> Replay:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Free the model; the object is of no use afterwards."""
        self._library.replay_close(self._handle)
        self._handle = None

    @property
    def cycles(self) -> int:
        """Clock cycles since the beginning of reset."""
        return self._library.replay_cycles(self._handle)

    def run(
        self,
        destination: np.ndarray,
        size_class: np.ndarray,
        keep: np.ndarray,
        writes: Sequence[tuple[int, MaskWrite]] = (),
    ) -> np.ndarray:
        """Serve batches, one a row of the arrays [n, lanes], and return their uplinks as int16 of
        the same shape: -1 where unroutable, `IDLE` (-2) on lanes without a packet.

        Args:
            destination, size_class: taken as uint16 and uint8; any value on idle lanes.
            keep: which lanes carry a packet.
            writes: (n, write): the write goes in after batch n - 1 of this call and before batch
                n, 0 to the number of batches, in rising order.

        Raises `ReplayError`. Each call ends when all answers are out.
        """
        batches = len(destination)
        shape = (batches, self.config.lanes)
        arrays = [
            np.ascontiguousarray(np.broadcast_to(values, shape), kind)
            for values, kind in ((destination, np.uint16), (size_class, np.uint8), (keep, np.uint8))
        ]
        if writes and not self.config.masks:
            raise ValueError("masks must be 1 or more where uplinks fail, not 0")
        before = np.array([number for number, _ in writes], np.int64)
        data = [write.tdata(self.config) for _, write in writes]
        words = [[beat >> 32 * word & 2**32 - 1 for word in range(_WRITE_WORDS)] for beat in data]
        uplink = np.empty(shape, np.int16)
        at = ctypes.c_int64()
        code = self._library.replay_run(
            self._handle,
            batches,
            *arrays,
            len(writes),
            before,
            np.array(words, np.uint32).reshape(-1, _WRITE_WORDS),
            self.patience,
            uplink,
            at,
        )
        if code:
            text = _FAILURES[code].format(patience=self.patience, at=self._answered + at.value)
            raise ReplayError(text)
        self._answered += batches
        return uplink


def replay_batches(
    config: OfanConfig,
    destination: np.ndarray,
    size_class: np.ndarray,
    keep: np.ndarray,
    writes: Iterable[tuple[int, MaskWrite]] = (),
    progress: Callable[[int], object] | None = None,
    chunk: int = CHUNK,
) -> np.ndarray:
    """Serve batches from reset on, as `Replay.run` does, in calls of at most `chunk` batches.

    `progress` is called with the number of batches served so far.
    """
    with Replay(config) as switch:
        return _in_chunks(switch, destination, size_class, keep, list(writes), progress, chunk)


def _in_chunks(
    switch: Replay,
    destination: np.ndarray,
    size_class: np.ndarray,
    keep: np.ndarray,
    writes: list[tuple[int, MaskWrite]],
    progress: Callable[[int], object] | None,
    chunk: int,
) -> np.ndarray:
    uplink = np.empty(destination.shape, np.int16)
    done = 0
    for start in range(0, len(destination), chunk):
        part = slice(start, min(start + chunk, len(destination)))
        first = done
        while done < len(writes) and writes[done][0] < part.stop:
            done += 1
        now = [(number - start, write) for number, write in writes[first:done]]
        uplink[part] = switch.run(destination[part], size_class[part], keep[part], now)
        if progress:
            progress(part.stop)
    return uplink


def replay(
    config: OfanConfig,
    trace: Trace,
    failures: Sequence[FailureEvent] | None = None,
    progress: Callable[[int], object] | None = None,
    chunk: int = CHUNK,
) -> np.ndarray:
    """Return the uplink of each row of `trace`, int16, -1 where no uplink reaches.

    Numbers that no batch has are passed over, since an empty batch changes nothing. If `failures`
    need more shared masks than `config` has, the switch gets more. `progress` is called with the
    number of batches served so far.
    """
    events = list(failures or ())
    config = with_room(config, events)
    writes = mask_writes(config, trace, events)
    uplink = np.empty(len(trace), np.int16)
    done = 0
    with Replay(config) as switch:
        for start in range(0, trace.batches, chunk):
            count = min(chunk, trace.batches - start)
            rows = slice(*np.searchsorted(trace.slots, (start, start + count)))
            where = (trace.slots[rows] - start, trace.lane[rows].astype(np.intp))
            shape = (count, config.lanes)
            destination, size_class = np.zeros(shape, np.uint16), np.zeros(shape, np.uint8)
            keep = np.zeros(shape, np.uint8)
            destination[where], size_class[where] = trace.destination[rows], trace.size_class[rows]
            keep[where] = 1
            first = done
            while done < len(writes) and writes[done][0] < start + count:
                done += 1
            now = [(number - start, write) for number, write in writes[first:done]]
            uplink[rows] = switch.run(destination, size_class, keep, now)[where]
            if progress:
                progress(start + count)
    return uplink


def mask_writes(
    config: OfanConfig, trace: Trace, events: Sequence[FailureEvent]
) -> list[tuple[int, MaskWrite]]:
    """Return the writes of `events`, each with the slot (batch of the trace, not counting numbers
    left out) before which it goes in."""
    masks = SharedMasks(config)
    slots = np.append(trace.slots, trace.batches)
    return [
        (int(slots[np.searchsorted(trace.batch, event.batch)]), write)
        for event, sets in evolve(config, events)
        for write in masks.update(sets)
    ]
