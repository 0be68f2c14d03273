"""Bulk replay: millions of packets through the verilated `rtl.csig.hop.Hop`."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from models.csig.answers import Answers
from models.csig.beat import COUNTERS, FLAGS, agent_write, count_answer, packet, table_write
from models.csig.config import CsigConfig
from models.csig.hst import NO_CODE, Writes, writes
from models.csig.port import check_ports
from models.csig.setup import Setup
from models.csig.tables import EDGE, Write
from models.csig.tables import writes as table_writes
from models.csig.trace import NO_TAG, Trace
from rtl.csig.clock import edge_bits
from rtl.csig.hop import Hop
from rtl.verilog import block_verilog
from tb.both_edges import on_both_edges
from tb.csig.tags import changed, pack, unpack
from tb.verilated import build_library

CHUNK = 1 << 18
"""Packets in one call of the library, at most; Ctrl-C and progress wait for the end of a call."""

PATIENCE = 1_000_000
"""Cycles in which nothing moves before the hop counts as stuck."""

LOAD_AFTER = 4
"""Edges that the hop steps over by itself; where time leaps over more, the next is set."""

_FAILURES = {
    1: "nothing moved for {patience} cycles with packet {at} waiting",
    2: "an answer came while none was due, after {at} answers",
}


class ReplayError(RuntimeError):
    """The hop got stuck, answered what it was not asked, or changed a bit that is not its own; the
    message names the packet."""


class _Packets(ctypes.Structure):
    _fields_ = (
        ("count", ctypes.c_int64),
        *((n, ctypes.c_void_p) for n in ("time", "tag", "port", "bytes", "delay", "queue")),
    )


class _Writes(ctypes.Structure):
    _fields_ = (
        ("count", ctypes.c_int64),
        ("before", ctypes.c_void_p),
        ("words", ctypes.c_void_p),
    )


def _words(widths: Mapping[str, int]) -> int:
    """32-bit words of a port with fields of these widths."""
    return -(-sum(widths.values()) // 32)


def _packed(widths: Mapping[str, int], rows: Iterable[Mapping[str, int]]) -> np.ndarray:
    """Return rows of fields as the words of a port, uint32 [rows, words]."""
    size = 4 * _words(widths)
    data = bytearray()
    for row in rows:
        bits = fill = 0
        for name, width in widths.items():
            bits |= (row[name] & (1 << width) - 1) << fill
            fill += width
        data += bits.to_bytes(size, "little")
    return np.frombuffer(bytes(data), np.uint32).reshape(-1, size // 4)


@cache
def _library(config: CsigConfig) -> ctypes.CDLL:
    c = config
    constants = {f"{name.upper()}_BITS": bits for name, bits in packet(c).items()}
    for name, widths in (("TABLE", table_write(c)), ("COUNT", count_answer(c))):
        constants[f"{name}_WORDS"] = _words(widths)
    widths = table_write(c)
    constants |= {
        "AGENT_WORDS": _words(agent_write(c)),
        "TIME_BITS": c.time_bits,
        "CLOCKS": c.window_clocks,
        "LOAD_AFTER": LOAD_AFTER,
        "EDGE_AT": sum(widths.values()) - widths["value"],
        "EDGE_BITS": edge_bits(c),
    }
    cases = "".join(
        f" case {n}: top.set_window_{n} = length; break;" for n in range(c.window_clocks)
    )
    agent, taken = "", "false"
    if c.agent:
        agent = "if (valid) put(top.s_agent_tdata, words); top.s_agent_tvalid = valid;"
        taken = "top.s_agent_tvalid && top.s_agent_tready"
    text = Path(__file__).with_suffix(".cpp").read_text() + (
        "\nvoid put_window(Vtop& top, int clock, uint32_t length) {\n"
        f"    switch (clock) {{{cases} }}\n}}\n"
        f"void put_agent(Vtop& top, bool valid, const uint32_t* words) {{ {agent} }}\n"
        f"bool agent_taken(const Vtop& top) {{ return {taken}; }}\n"
    )
    verilog = on_both_edges(block_verilog(Hop, config, "hop"), "hop")
    library = build_library(verilog, "hop_on_both_edges", text, constants)
    library.replay_open.restype = ctypes.c_void_p
    library.replay_open.argtypes = [np.ctypeslib.ndpointer(np.int64, flags="C_CONTIGUOUS")]
    library.replay_close.argtypes = [ctypes.c_void_p]
    library.replay_cycles.argtypes = [ctypes.c_void_p]
    library.replay_cycles.restype = ctypes.c_int64
    at = ctypes.POINTER(ctypes.c_int64)
    number, place = ctypes.c_int64, ctypes.c_void_p
    library.replay_tables.argtypes = [ctypes.c_void_p, number, place, number, at]
    library.replay_count.argtypes = [ctypes.c_void_p, ctypes.c_uint32, number, place]
    library.replay_run.argtypes = [
        ctypes.c_void_p,
        ctypes.POINTER(_Packets),
        ctypes.POINTER(_Writes),
        place,
        number,
        place,
        place,
        at,
    ]
    return library


class Replay:
    """One verilated hop, fresh from reset, with its tables written. Its state lives from call to
    call of `run`.

    Use as a context manager, or `close` it. Builds the model on first use of a configuration.
    """

    def __init__(self, config: CsigConfig, setup: Setup, patience: int = PATIENCE) -> None:
        check_ports(config, list(setup.ports))
        self.config = config
        self.patience = patience
        self._library = _library(config)
        windows = [*setup.windows, *[setup.windows[-1]] * (config.clocks - len(setup.windows))]
        self._handle = self._library.replay_open(np.array(windows, np.int64))
        self._answered = 0
        clocks = range(config.window_clocks)
        self._edges = self._table_words(Write(EDGE, 0, 0, n, 0) for n in clocks)
        self.write(
            word
            for port in setup.ports
            for word in table_writes(config, port, windows.index(port.window_ns))
        )
        self.run(Trace.of(*[[]] * 9))  # what is compiled on its first use is there then

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

    def _table_words(self, words: Iterable[Write]) -> np.ndarray:
        return _packed(table_write(self.config), map(vars, words))

    def write(self, words: Iterable[Write]) -> None:
        """Write words of `models.csig.tables`; raises `ReplayError` if one is not taken."""
        packed = self._table_words(words)
        at = ctypes.c_int64()
        if self._library.replay_tables(
            self._handle, len(packed), packed.ctypes.data, self.patience, at
        ):
            raise ReplayError(f"table write {at.value} was not taken in {self.patience} cycles")

    def counters(self, port: int) -> dict[str, int]:
        """Read the counters of a port, by name."""
        widths = count_answer(self.config)
        words = np.zeros(_words(widths), np.uint32)
        if self._library.replay_count(self._handle, port, self.patience, words.ctypes.data):
            raise ReplayError(f"no counters of port {port} in {self.patience} cycles")
        bits = int.from_bytes(words.tobytes(), "little") >> widths["port"]
        width = widths[COUNTERS[0]]
        return {name: bits >> width * n & (1 << width) - 1 for n, name in enumerate(COUNTERS)}

    def run(self, trace: Trace, written: Writes | None = None) -> Answers:
        """Serve the packets of `trace` and the agents' writes among them; return what becomes of
        each tag. Raises `ReplayError`. Each call ends when all answers are out."""
        c, count = self.config, len(trace)
        agents = written or Writes.of()
        sent = pack(c, trace, self._answered)
        columns = [
            np.ascontiguousarray(values, kind)
            for values, kind in (
                (trace.time_ns, np.int64),
                (sent, np.uint64),
                (trace.port, np.int32),
                (trace.bytes, np.int32),
                (np.minimum(trace.delay_ns, 2**c.delay_bits - 1), np.int64),
                (np.minimum(trace.queue_bytes, 2**c.queue_bits - 1), np.int64),
            )
        ]
        before = np.ascontiguousarray(agents.before, np.int64)
        words = _agent_words(c, agents)
        tag, flags = np.empty(count, np.uint64), np.empty(count, np.uint8)
        at = ctypes.c_int64()
        code = self._library.replay_run(
            self._handle,
            _Packets(count, *(column.ctypes.data for column in columns)),
            _Writes(len(agents), before.ctypes.data, words.ctypes.data),
            self._edges.ctypes.data,
            self.patience,
            tag.ctypes.data,
            flags.ctypes.data,
            at,
        )
        if code:
            text = _FAILURES[code].format(patience=self.patience, at=self._answered + at.value)
            raise ReplayError(text)
        found = {name: (flags >> bit & 1).astype(bool) for bit, name in enumerate(FLAGS)}
        wrong = changed(c, trace, sent, tag, found["replaced"])
        if wrong.any():
            place = self._answered + int(wrong.argmax())
            raise ReplayError(f"bits of packet {place}'s tag changed that are to stay")
        self._answered += count
        value, locator = unpack(c, trace, tag)
        gone = found["stripped"] | (trace.value == NO_TAG)
        value, locator = (np.where(gone, NO_TAG, part) for part in (value, locator))
        return Answers(value, locator, **found)


def _agent_words(config: CsigConfig, agents: Writes) -> np.ndarray:
    """Return agents' writes as the words of s_agent, as `_packed` packs rows."""
    columns = {"port": agents.port, "signal": agents.signal, "until": agents.until_ns}
    for format, codes in (("compact", agents.compact), ("wide", agents.wide)):
        columns[f"{format}_value"] = np.maximum(codes, 0)
        columns[f"{format}_there"] = codes != NO_CODE
    widths = agent_write(config)
    words = np.zeros((len(agents), _words(widths)), np.uint32)
    fill = 0
    for name, width in widths.items():
        values = columns[name].astype(np.uint64) & np.uint64((1 << width) - 1)
        for place in range(fill // 32, (fill + width - 1) // 32 + 1):
            at = 32 * place - fill
            part = values >> np.uint64(at) if at >= 0 else values << np.uint64(-at)
            words[:, place] |= part.astype(np.uint32)
        fill += width
    return words


def prepare(config: CsigConfig, setup: Setup) -> None:
    """Build the library, or load it, ahead of its first use."""
    Replay(config, setup).close()


def replay(
    config: CsigConfig,
    setup: Setup,
    trace: Trace,
    progress: Callable[[int], Any] | None = None,
    chunk: int = CHUNK,
) -> Answers:
    """Return what becomes of the tags of a trace, from reset on, its ports' agents at work, in
    calls of at most `chunk` packets.

    `progress` is called with the number of packets served so far.
    """
    parts = []
    written = writes(setup, trace)
    with Replay(config, setup) as hop:
        for start in range(0, max(1, len(trace)), chunk):
            rows = slice(start, min(start + chunk, len(trace)))
            parts.append(hop.run(trace[rows], written.among(rows)))
            if progress:
                progress(rows.stop)
    return Answers.joined(parts)
