"""The software agent: what the paper calls High-precision Switch Telemetry.

It serves hardware that cannot measure a signal itself. Of each port it reads counters every
`period_ns`: the bytes of the period, its longest delay and its deepest queue. From them it works
out the port's signals, quantizes them, and `delay_ns` after the reading the codes are in the
hardware's table, to be used until `timeout_ns` later. Periods start at multiples of `period_ns`; a
packet that leaves at the very end of one belongs to the next, and sees a value that is written at
the very time it leaves.

What the seed states: the period ("typically around 100 microseconds"), that values are bucketized,
and that hardware compares and replaces at line rate. The delay, the timeout and which counters are
read are this project's.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from models.csig.agent import Entry
from models.csig.port import Port
from models.csig.quantize import WIDE_BITS
from models.csig.setup import Agent, Setup
from models.csig.signals import SIGNALS, Signal
from models.csig.tables import threshold
from models.csig.trace import NO_TAG, Trace

NO_CODE = -1
"""In `compact` and `wide`: the agent has no code for tags of that format."""


@dataclass(frozen=True)
class Counters:
    """What an agent reads of a port at the end of a period."""

    bytes: int = 0
    delay_ns: int = 0
    """Longest of the period."""
    queue_bytes: int = 0
    """Deepest of the period."""


def signals(port: Port) -> list[Signal]:
    """Return the signals that an agent writes for a port: those whose source it is."""
    return [signal for signal in SIGNALS if port.origin(signal.name) == "agent"]


def metered(port: Port, agent: Agent) -> Port:
    """Return the port with the agent's period in place of the hardware's window."""
    return replace(port, window_ns=agent.period_ns)


def codes(port: Port, signal: Signal, counters: Counters) -> tuple[int | None, int | None]:
    """Return the codes for compact and wide tags that a period of a `metered` port comes to, None
    where it has no quantizer."""
    raw = {
        "available": max(0, port.capacity_bits - 8 * counters.bytes),
        "delay": counters.delay_ns,
        "queue": counters.queue_bytes,
    }[signal.measure]
    return port.code("compact", signal, raw), port.code("wide", signal, raw)


class PortAgent:
    """The agent of one port, event by event: the specification of `writes`."""

    def __init__(self, port: Port, agent: Agent) -> None:
        self.port = metered(port, agent)
        self.agent = agent
        self.period = 0
        """Number of the period that `counters` belong to."""
        self.counters = Counters()
        self.waiting: list[tuple[int, int, Entry]] = []
        """Time, signal and entry of what was read but is not in the table yet."""

    def until(self, time_ns: int) -> Iterator[tuple[int, Entry]]:
        """Let time pass; yield the writes that are in the table at `time_ns`: signal and entry."""
        while (self.period + 1) * self.agent.period_ns <= time_ns:
            self.period += 1
            written = self.period * self.agent.period_ns + self.agent.delay_ns
            for signal in signals(self.port):
                compact, wide = codes(self.port, signal, self.counters)
                entry = Entry(compact, wide, written, written + self.agent.timeout)
                self.waiting.append((written, signal.number, entry))
            self.counters = Counters()
        while self.waiting and self.waiting[0][0] <= time_ns:
            _, number, entry = self.waiting.pop(0)
            yield number, entry

    def count(self, length: int, delay_ns: int, queue_bytes: int) -> None:
        """Count a packet that leaves; `until` has been called with its time."""
        c = self.counters
        self.counters = Counters(
            c.bytes + length, max(c.delay_ns, delay_ns), max(c.queue_bytes, queue_bytes)
        )


@dataclass(frozen=True)
class Writes:
    """What agents write among the packets of a trace, in order; arrays of one length."""

    before: np.ndarray
    """int64, rising: number of the packet that finds the value first."""
    port: np.ndarray
    """int32."""
    signal: np.ndarray
    """int32."""
    compact: np.ndarray
    """int32: code for compact tags, or `NO_CODE`."""
    wide: np.ndarray
    """int32: code for wide tags, or `NO_CODE`."""
    written_ns: np.ndarray
    """int64."""
    until_ns: np.ndarray
    """int64: last time at which it may be used."""

    @classmethod
    def of(cls, rows: Any = ()) -> Writes:
        """Make writes of rows of these columns."""
        table = np.array(list(rows), np.int64).reshape(-1, 7)
        port, signal, compact, wide = table[:, 1:5].T.astype(np.int32)
        return cls(table[:, 0], port, signal, compact, wide, table[:, 5], table[:, 6])

    @classmethod
    def joined(cls, parts: Iterable[Writes]) -> Writes:
        """Return the writes of several agents as one, in order."""
        parts = [cls.of(), *parts]
        columns = {n: np.concatenate([vars(part)[n] for part in parts]) for n in vars(parts[0])}
        order = np.lexsort((columns["signal"], columns["port"], columns["before"]))
        return cls(**{name: values[order] for name, values in columns.items()})

    def __len__(self) -> int:
        return len(self.before)

    def among(self, rows: slice) -> Writes:
        """Return those before the packets of `rows`, which are then counted from the first."""
        first, end = np.searchsorted(self.before, (rows.start, rows.stop))
        columns = {name: values[first:end] for name, values in vars(self).items()}
        return Writes(**(columns | {"before": columns["before"] - rows.start}))


def writes(setup: Setup, trace: Trace) -> Writes:
    """Return what the agents of `setup` write among the packets of a trace.

    Of writes that no packet of their port finds, since a newer one takes their place first, there
    are none: a table looks the same to every packet.
    """
    by_agents = (port for port in setup.ports if signals(port) and (trace.port == port.id).any())
    return Writes.joined(
        part for port in by_agents for part in _port_writes(port, setup.agent(port.id), trace)
    )


def oldest(setup: Setup, trace: Trace) -> int | None:
    """Return the largest age of an agent's value that a tag of `trace` asks for, D or not, ns; None
    where none asks for one that has been written."""
    written = writes(setup, trace)
    tagged = trace.value != NO_TAG
    ages = []
    for port in setup.ports:
        for signal in signals(port) if port.action == "update" else ():
            of_signal = (written.port == port.id) & (written.signal == signal.number)
            asks = tagged & (trace.port == port.id) & (trace.signal == signal.number)
            packets = np.flatnonzero(asks)
            newest = np.searchsorted(written.before[of_signal], packets, side="right") - 1
            there = newest >= 0
            since = written.written_ns[of_signal][newest[there]]
            ages += (trace.time_ns[packets[there]] - since).max(initial=-1, keepdims=True).tolist()
    return max((age for age in ages if age >= 0), default=None)


def _port_writes(port: Port, agent: Agent, trace: Trace) -> Iterator[Writes]:
    """Yield what the agent of a port with packets writes for each of its signals."""
    port = metered(port, agent)
    where = np.flatnonzero(trace.port == port.id)
    time = trace.time_ns[where]
    # The period that was written last before each packet, -1 for none.
    newest = np.maximum((time - agent.delay_ns) // agent.period_ns - 1, -1)
    changes = np.flatnonzero(np.diff(newest, prepend=-1) > 0)
    counters = _read(time // agent.period_ns, newest[changes], trace[where])
    counters["available"] = np.maximum(0, port.capacity_bits - 8 * counters.pop("bytes"))
    written = (newest[changes] + 1) * agent.period_ns + agent.delay_ns
    for signal in signals(port):
        raw = counters[signal.measure]
        full = np.ones(len(raw), np.int32)
        yield Writes(
            where[changes],
            full * port.id,
            full * signal.number,
            _compact_codes(port, signal, raw),
            _wide_codes(port, signal, raw),
            written,
            written + agent.timeout,
        )


def _read(period: np.ndarray, asked: np.ndarray, packets: Trace) -> dict[str, np.ndarray]:
    """Return what an agent reads of each of the periods `asked` for: nothing of one without
    packets. `period` is that of each packet of the port."""
    numbers, first = np.unique(period, return_index=True)
    place = np.minimum(np.searchsorted(numbers, asked), len(numbers) - 1)
    there = numbers[place] == asked
    sums = {
        "bytes": np.add.reduceat(packets.bytes.astype(np.int64), first),
        "delay": np.maximum.reduceat(packets.delay_ns, first),
        "queue": np.maximum.reduceat(packets.queue_bytes, first),
    }
    return {name: values[place] * there for name, values in sums.items()}


def _compact_codes(port: Port, signal: Signal, raw: np.ndarray) -> np.ndarray:
    quantizer = port.compact.get(signal.name)
    if quantizer is None:
        return np.full(len(raw), NO_CODE, np.int32)
    bounds = [threshold(port, signal, bound, 62) for bound in quantizer.bounds]
    places = np.searchsorted(np.array(bounds, np.int64), raw, side="right")
    return np.array(quantizer.codes, np.int32)[places]


def _wide_codes(port: Port, signal: Signal, raw: np.ndarray) -> np.ndarray:
    quantizer = port.wide.get(signal.name)
    if quantizer is None:
        return np.full(len(raw), NO_CODE, np.int32)
    unit, base = port.value(signal, 1), quantizer.base
    scale = math.lcm(unit.denominator, base.denominator)
    factor, start = int(unit * scale), int(base * scale)
    fits = int(raw.max(initial=0)) * factor < 2**62 > start and scale << quantizer.shift < 2**62
    steps = raw.astype(np.int64 if fits else object) * factor - start
    found = steps // (scale << quantizer.shift)
    return np.minimum(np.maximum(found, 0), (1 << WIDE_BITS) - 1).astype(np.int32)
