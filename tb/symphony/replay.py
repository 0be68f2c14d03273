"""Bulk replay: millions of packets through the verilated `rtl.symphony.marker.Marker`."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from models.symphony.answers import Answers
from models.symphony.beat import GIVE, READ, TAKE, VERDICT, counters, packet, receipt
from models.symphony.coin import gap_probability
from models.symphony.config import SymphonyConfig
from models.symphony.settings import setting_bits, settings
from models.symphony.slots import Orders
from models.symphony.trace import NO_WORD, Trace
from rtl.symphony.marker import Marker
from rtl.verilog import block_verilog
from tb.verilated import build_library

CHUNK = 1 << 18
"""Packets in one call of the library, at most; Ctrl-C and progress wait for the end of a call."""

PATIENCE = 1_000_000
"""Cycles in which nothing moves before the marker counts as stuck."""

_FAILURES = {
    1: "nothing moved for {patience} cycles with packet {at} waiting",
    2: "an answer came while none was due, after {at} answers",
    3: "the control plane got an answer without an order, after {at} packets' answers",
}


class ReplayError(RuntimeError):
    """The marker got stuck, or answered what it was not asked; the message names the packet."""


class _Packets(ctypes.Structure):
    _fields_ = (
        ("count", ctypes.c_int64),
        *((name, ctypes.c_void_p) for name in ("time", "job", "step", "psn", "last")),
        *((name, ctypes.c_void_p) for name in ("queue", "ecn", "random")),
    )


class _Orders(ctypes.Structure):
    _fields_ = (
        ("count", ctypes.c_int64),
        *((name, ctypes.c_void_p) for name in ("before", "job", "op")),
    )


def _receipt_words(config: SymphonyConfig) -> int:
    return -(-sum(receipt(config).values()) // 32)


@cache
def _library(config: SymphonyConfig) -> ctypes.CDLL:
    widths = packet(config)
    constants = {f"{name.upper()}_BITS": widths[name] for name in ("job", "step", "psn", "queue")}
    constants["RECEIPT_WORDS"] = _receipt_words(config)
    ports = "".join(
        f"    top.set_{name} = settings[{number}];\n"
        for number, name in enumerate(setting_bits(config))
    )
    text = Path(__file__).with_suffix(".cpp").read_text()
    text += f"\nvoid put_settings(Vtop& top, const uint64_t* settings) {{\n{ports}}}\n"
    verilog = block_verilog(Marker, config, "marker")
    # Most of the marker's conditions come out as the processor expects: as branches, which all
    # others avoid (see there), they save a sixth of the time.
    library = build_library(verilog, "marker", text, constants, flags=["-fmerge-cond"])
    library.replay_open.restype = ctypes.c_void_p
    library.replay_open.argtypes = [np.ctypeslib.ndpointer(np.uint64, flags="C_CONTIGUOUS")]
    library.replay_close.argtypes = [ctypes.c_void_p]
    library.replay_cycles.argtypes = [ctypes.c_void_p]
    library.replay_cycles.restype = ctypes.c_int64
    library.replay_run.argtypes = [
        ctypes.c_void_p,
        ctypes.POINTER(_Packets),
        ctypes.POINTER(_Orders),
        ctypes.c_int64,
        *[ctypes.c_void_p] * 3,
        ctypes.POINTER(ctypes.c_int64),
    ]
    return library


class Replay:
    """One verilated marker, fresh from reset. Its state lives from call to call of `run`.

    Use as a context manager, or `close` it. Builds the model on first use of a configuration; what
    `models.symphony.settings` names may differ without a new one where no width follows from it.
    """

    def __init__(self, config: SymphonyConfig, patience: int = PATIENCE) -> None:
        self.config = config
        self.patience = patience
        self._library = _library(config)
        codes = np.array(list(settings(config).values()), np.uint64)
        self._handle = self._library.replay_open(codes)
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

    def run(self, trace: Trace, orders: Orders | None = None) -> Answers:
        """Serve the packets of `trace` and the orders among them; return what becomes of each.

        An order behind the last packet goes in, too. Raises `ReplayError`. Each call ends when all
        answers are out.
        """
        orders = orders or Orders.of()
        op = np.where(orders.given == 1, GIVE, TAKE)
        return self._run(trace, orders.before, orders.job, op)[0]

    def counters(self, jobs: Sequence[int]) -> list[dict[str, int]]:
        """Read the counters of jobs, and whether each has a slot (`known`), by name."""
        nothing = Trace.of(*[[]] * 6)
        at_once = np.zeros(len(jobs), np.int64)
        words = self._run(nothing, at_once, np.array(jobs), np.full(len(jobs), READ))[1]
        found = []
        for row in words.tolist():
            bits = sum(word << 32 * place for place, word in enumerate(row))
            answer: dict[str, int] = {}
            for name, width in receipt(self.config).items():
                answer[name] = bits & (1 << width) - 1
                bits >>= width
            found.append({name: answer[name] for name in ("known", *counters(self.config))})
        return found

    def _run(self, trace: Trace, *orders: np.ndarray) -> tuple[Answers, np.ndarray]:
        count, wanted = len(trace), len(orders[0])
        random = np.full(count, NO_WORD, np.int64) if trace.random is None else trace.random
        columns = _kept(
            (trace.time_ns, np.int64),
            (trace.job, np.int32),
            (trace.step, np.int32),
            (trace.psn, np.int32),
            (trace.last, np.uint8),
            (trace.queue_bytes, np.int64),
            (trace.codepoints(), np.uint8),
            (random, np.int64),
        )
        kinds = (np.int64, np.int32, np.uint8)
        order_columns = _kept(*zip(orders, kinds, strict=True))
        verdict, gap = np.empty(count, np.uint8), np.empty(count, np.uint64)
        receipts = np.empty((wanted, _receipt_words(self.config)), np.uint32)
        at = ctypes.c_int64()
        code = self._library.replay_run(
            self._handle,
            _Packets(count, *(column.ctypes.data for column in columns)),
            _Orders(wanted, *(column.ctypes.data for column in order_columns)),
            self.patience,
            *(array.ctypes.data for array in (verdict, gap, receipts)),
            at,
        )
        if code:
            text = _FAILURES[code].format(patience=self.patience, at=self._answered + at.value)
            raise ReplayError(text)
        self._answered += count
        return self._answers(verdict, gap), receipts

    def _answers(self, verdict: np.ndarray, gap: np.ndarray) -> Answers:
        places = {name: bit for bit, name in enumerate(VERDICT[1:], 2)}
        flags = {name: (verdict >> bit & 1).astype(bool) for name, bit in places.items()}
        probability = gap_probability(self.config, gap)
        return Answers(**flags, ecn=verdict & 3, probability=probability, gap=gap)


def _kept(*columns: tuple[np.ndarray, Any]) -> list[np.ndarray]:
    return [np.ascontiguousarray(values, kind) for values, kind in columns]


def prepare(config: SymphonyConfig) -> None:
    """Build the library, or load it, ahead of its first use."""
    Replay(config).close()


def replay(
    config: SymphonyConfig,
    trace: Trace,
    orders: Orders,
    progress: Callable[[int], object] | None = None,
    chunk: int = CHUNK,
) -> Answers:
    """Return what becomes of the packets of a trace, from reset on, in calls of at most `chunk`.

    `progress` is called with the number of packets served so far.
    """
    parts = []
    with Replay(config) as marker:
        for start in range(0, max(1, len(trace)), chunk):
            rows = slice(start, min(start + chunk, len(trace)))
            parts.append(marker.run(trace[rows], orders.among(rows)))
            if progress:
                progress(rows.stop)
    return Answers.joined(parts)
