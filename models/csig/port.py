"""What one port of a hop is set to."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

from models.common.check import choice, integer
from models.csig.config import MOST_SPEED_GBPS, CsigConfig
from models.csig.quantize import Compact, Wide
from models.csig.signals import BY_NAME, Signal
from models.csig.tag import width

ACTIONS = ("pass", "strip", "update")
ORIGINS = ("native", "agent")


@dataclass(frozen=True, kw_only=True)
class Port:
    """A port: its link, its name on the wire, and how it says what it measures.

    A signal without a quantizer of a tag's format is not updated in tags of that format.
    """

    id: int
    speed_gbps: int
    """C, 1 to 800 Gb/s."""
    locator: int
    """What the tag's locator names this hop with."""
    action: str = "update"
    """`pass`: tags go through. `strip`: tags are taken off. `update`: compare and replace."""
    window_ns: int = 1000
    """Window of the available bandwidth, ns, 100 and up."""
    source: str | dict[str, str] = "native"
    """`native` or `agent`, for all signals or by name."""
    compact: dict[str, Compact] = field(default_factory=dict)
    """Quantizers of compact tags, by the signal's name."""
    wide: dict[str, Wide] = field(default_factory=dict)
    """Quantizers of wide tags, by the signal's name."""

    def __post_init__(self) -> None:
        integer("id", self.id, 0, 63)
        integer("speed_gbps", self.speed_gbps, 1, MOST_SPEED_GBPS)
        integer("locator", self.locator, 0, 2**16 - 1)
        choice("action", self.action, ACTIONS)
        integer("window_ns", self.window_ns, 100, 2**20 - 1)
        names = tuple(BY_NAME)
        sources = self.source if isinstance(self.source, dict) else {"source": self.source}
        for name, source in sources.items():
            if name != "source":
                choice("source", name, names)
            choice("source", source, ORIGINS)
        for name in (*self.compact, *self.wide):
            choice("signal", name, names)

    @property
    def capacity_bits(self) -> int:
        """Bits that the link carries in one window: C·t, exact."""
        return self.speed_gbps * self.window_ns

    def origin(self, signal: str) -> str:
        """Return where the value of a signal comes from."""
        return self.source.get(signal, "native") if isinstance(self.source, dict) else self.source

    def locator_bits(self, config: CsigConfig) -> int:
        """Return how wide its locator may be, bits: as wide as each format that it has a quantizer
        for, and each that there is if it has none."""
        formats = [format for format in config.formats if getattr(self, format)]
        return min(width(format, config.layout, "lm") for format in formats or config.formats)

    def value(self, signal: Signal, raw: int) -> Fraction:
        """Return what is measured as the signal's value: `raw` is bits of a window not used, ns, or
        bytes in the queue."""
        if signal.name == "abw":
            return Fraction(raw * 10**9, 8 * self.window_ns)
        if signal.name == "abw_c":
            return Fraction(100 * raw, self.capacity_bits)
        if signal.name == "queue":
            return Fraction(8 * raw, self.speed_gbps)
        return Fraction(raw)

    def code(self, format: str, signal: Signal, raw: int) -> int | None:
        """Return what this port would write into a tag, None where it has no quantizer for it."""
        quantizers: dict[str, Compact] | dict[str, Wide] = (
            self.compact if format == "compact" else self.wide
        )
        quantizer = quantizers.get(signal.name)
        return None if quantizer is None else quantizer.code(self.value(signal, raw))


def check_ports(config: CsigConfig, ports: list[Port]) -> None:
    """Check ports against the hardware they are for.

    Raises `ValueError` naming the value: a number that is not there or stands twice, a locator
    wider than the layout, a window that is too long, more windows than clocks.
    """
    seen: set[int] = set()
    for port in ports:
        if port.id in seen:
            raise ValueError(f"id must be different for each port, not {port.id} twice")
        seen.add(port.id)
        integer("id", port.id, 0, config.ports - 1)
        bits = port.locator_bits(config)
        integer("locator", port.locator, 0, (1 << bits) - 1)
        integer("window_ns", port.window_ns, 100, config.longest_window_ns)
        for name in BY_NAME:
            if config.sources not in ("both", port.origin(name)):
                raise ValueError(f"source must be {config.sources}, not {port.origin(name)!r}")
    windows = sorted({port.window_ns for port in ports})
    if config.native and len(windows) > config.clocks:
        raise ValueError(f"window_ns must have at most {config.clocks} values, not {windows}")
