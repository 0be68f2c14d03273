"""Symphony small enough to be proved: few bits of everything, and anything around a block."""

from __future__ import annotations

from typing import Any

from amaranth.hdl import Value

from tb.formal.bench import Bench

SMALL: dict[str, Any] = {
    "step_bits": 2,
    "psn_bits": 4,
    "queue_bits": 8,
    "time_bits": 16,
    "mantissa_bits": 2,
    "fraction_bits": 2,
    "k": 1,
    "alpha_max": 3,
    "tau": 0.5,
    "n_warmup": 2,
    "n_sample": 1,
    "kmin": 40,
    "kmax": 90,
    "window_ns": 2**12,
    "window_packets": 255,
    "time_timeout": 2,
    "counter_bits": 8,
}
"""Few bits of everything, but for what a configuration has no less of; 5 bits of window numbers."""


def surrounded(bench: Bench, block: Any) -> None:
    """Let anything happen around a block; its settings are any values that stay."""
    bench.m.submodules.dut = block
    for name in block.signature.members:
        port = getattr(block, name)
        if name == "i":
            bench.drive(port)
        elif isinstance(port, Value):
            bench.m.d.comb += port.eq(bench.constant(port.shape(), name))
        else:
            bench.drain(port, name)
