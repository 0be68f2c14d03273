"""The golden model, `models.csig.hop`, for whole traces: some ten million packets a second.

Codes come from the numbers of `models.csig.tables`, as the hardware's do.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from models.csig import loop
from models.csig.answers import Answers
from models.csig.config import CsigConfig
from models.csig.hst import Writes, writes
from models.csig.port import ACTIONS, Port, check_ports
from models.csig.quantize import RANGES
from models.csig.setup import Setup
from models.csig.signals import SIGNALS, Signal
from models.csig.tables import scale, threshold
from models.csig.tag import FORMATS
from models.csig.trace import Trace

_BLOCK = 1 << 20  # packets
_DIGIT = 1 << loop.DIGIT
_MEASURES = ("available", "delay", "queue")

Progress = Callable[[int], object]


class VectorizedHop:
    """One hop. `serve` takes packets in order, with the agents' writes among them; its state goes
    on from call to call."""

    def __init__(self, config: CsigConfig, setup: Setup) -> None:
        check_ports(config, list(setup.ports))
        self.config = config
        self._shape = _shape(config)
        self._ports = _ports(config, setup.ports)
        self._meters = np.zeros((config.ports, loop.METER_WORDS), np.int64)
        self._meters[:, (loop.LEFT, loop.CLOSED)] = self._ports.capacity[:, None]
        self._entries = np.zeros((config.ports, len(SIGNALS), loop.ENTRY_WORDS), np.int64)

    def change(self, setup: Setup) -> None:
        """Set the ports anew; their meters and their agents' values stay. Windows must stay too."""
        self._ports = _ports(self.config, setup.ports)

    def serve(self, packets: Trace, written: Writes | None = None) -> Answers:
        """Return what becomes of each packet's tag."""
        w = written or Writes.of()
        p = packets
        count = len(p)
        value, locator = np.empty(count, np.int32), np.empty(count, np.int32)
        flags = np.empty(count, np.uint8)
        loop.serve(
            self._shape,
            self._ports,
            self._meters,
            self._entries,
            loop.Writes(w.before, w.port, w.signal, w.compact, w.wide, w.until_ns),
            loop.Packets(*(p.columns() | {"discard": p.discarded()}).values()),
            loop.Answers(value, locator, flags),
        )
        bits = (loop.REPLACED, loop.STRIPPED, loop.UNKNOWN, loop.STALE)
        return Answers(value, locator, *((flags & bit).astype(bool) for bit in bits))


def _shape(config: CsigConfig) -> loop.Shape:
    return loop.Shape(
        measure=np.array([_MEASURES.index(signal.measure) for signal in SIGNALS]),
        smaller=np.array([signal.keep == "min" for signal in SIGNALS]),
        updated=np.array([format in config.formats for format in FORMATS]),
        update_discarded=config.update_discarded,
        most_delay=2**config.delay_bits - 1,
        most_queue=2**config.queue_bits - 1,
    )


def _ports(config: CsigConfig, ports: tuple[Port, ...]) -> loop.Ports:
    shape = config.ports, len(SIGNALS)
    never = 1 << config.measure_bits
    arrays = loop.Ports(
        action=np.zeros(config.ports, np.uint8),
        locator=np.zeros(config.ports, np.int32),
        window=np.ones(config.ports, np.int64),
        capacity=np.zeros(config.ports, np.int64),
        agent=np.zeros(shape, bool),
        quantized=np.zeros((*shape, len(FORMATS)), bool),
        thresholds=np.full((*shape, RANGES - 1), never, np.int64),
        codes=np.zeros((*shape, RANGES), np.int64),
        scale=np.zeros((*shape, loop.SCALE_WORDS), np.int64),
    )
    for port in ports:
        arrays.action[port.id] = ACTIONS.index(port.action)
        arrays.locator[port.id] = port.locator
        arrays.window[port.id] = port.window_ns
        arrays.capacity[port.id] = port.capacity_bits
        for signal in SIGNALS:
            place = port.id, signal.number
            arrays.agent[place] = port.origin(signal.name) == "agent"
            arrays.quantized[place] = [signal.name in getattr(port, f) for f in FORMATS]
            _quantizers(arrays, place, port, signal, config.measure_bits)
    return arrays


def _quantizers(
    arrays: loop.Ports, place: tuple[int, int], port: Port, signal: Signal, bits: int
) -> None:
    compact, wide = port.compact.get(signal.name), port.wide.get(signal.name)
    if compact:
        found = [threshold(port, signal, bound, bits) for bound in compact.bounds]
        arrays.thresholds[place][: len(found)] = found
        arrays.codes[place] = compact.codes[-1]
        arrays.codes[place][: len(compact.codes)] = compact.codes
    if wide:
        made = scale(port, signal, wide)
        digits = [digit for word in (made.factor, made.start) for digit in divmod(word, _DIGIT)]
        arrays.scale[place] = *digits, min(made.shift - loop.DIGIT, 63)


def prepare(config: CsigConfig, setup: Setup) -> None:
    """Compile the loop, or load it, ahead of its first use."""
    VectorizedHop(config, setup).serve(Trace.of(*[[]] * 9))


def answer(
    config: CsigConfig, setup: Setup, trace: Trace, progress: Progress | None = None
) -> Answers:
    """Return what becomes of the tags of a trace, its ports' agents at work.

    `progress` is called now and then with the number of packets served so far.
    """
    model = VectorizedHop(config, setup)
    written = writes(setup, trace)
    parts = []
    for start in range(0, max(1, len(trace)), _BLOCK):
        rows = slice(start, min(start + _BLOCK, len(trace)))
        parts.append(model.serve(trace[rows], written.among(rows)))
        if progress:
            progress(rows.stop)
    return Answers.joined(parts)
