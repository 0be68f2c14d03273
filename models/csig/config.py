"""The parameter class of a CSIG hop, and the named presets."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from models.common.check import bits_for, choice, integer
from models.csig.tag import FORMATS, LAYOUTS, TPID, width

SOURCES = ("native", "agent", "both")
MOST_SPEED_GBPS = 800
MOST_MEASURE_BITS = 30
"""Bits of what is measured at most: of a delay, a queue, or the longest window at 800 Gb/s."""


@dataclass(frozen=True, kw_only=True)
class CsigConfig:
    """What the model, the RTL, the bench, the cost report and the command line all take: the shape
    of the hardware. What each port is set to is a `models.csig.port.Port`.

    Every field is checked on construction: `TypeError` for a wrong type, `ValueError` for a wrong
    value, both naming the field and the value.
    """

    ports: int = 1
    """Ports that share the datapath, 1 to 64."""
    formats: tuple[str, ...] = FORMATS
    """Tag formats that are updated; others pass."""
    layout: str = "draft"
    """`draft` or `uec`."""
    tpid_compact: int = TPID["compact"]
    tpid_wide: int = TPID["wide"]
    """EtherType-like numbers that announce a tag, 0x0600 to 0xFFFF, different."""
    sources: str = "both"
    """`native`: values are measured here. `agent`: software writes them. `both`: chosen per port
    and signal at run time."""
    clocks: int = 1
    """Different window lengths at one time, 1 to 8; of no meaning where nothing is measured."""
    longest_window_ns: int = 131_071
    """Longest window, ns, 100 to 2**20 - 1: it sets the width of a window's bits."""
    time_bits: int = 32
    """Width of the time input in ns, bits, 24 to 64; it may wrap around."""
    bytes_bits: int = 14
    """Width of a packet's length in bytes, bits, 11 to 16."""
    delay_bits: int = 24
    """Width of a hop's delay in ns, bits, 8 to 30; what is longer is said as the longest."""
    queue_bits: int = 26
    """Width of a queue's depth in bytes, bits, 8 to 30."""
    update_discarded: bool = False
    """Whether tags with D = 1 are updated too."""

    def __post_init__(self) -> None:
        integer("ports", self.ports, 1, 64)
        if not self.formats or not set(self.formats) <= set(FORMATS):
            raise ValueError(f"formats must be some of {', '.join(FORMATS)}, not {self.formats!r}")
        choice("layout", self.layout, LAYOUTS)
        integer("tpid_compact", self.tpid_compact, 0x0600, 0xFFFF)
        integer("tpid_wide", self.tpid_wide, 0x0600, 0xFFFF)
        if self.tpid_compact == self.tpid_wide:
            raise ValueError(f"tpid_wide must differ from tpid_compact, not {self.tpid_wide:#06x}")
        choice("sources", self.sources, SOURCES)
        integer("clocks", self.clocks, 1, 8)
        integer("longest_window_ns", self.longest_window_ns, 100, 2**20 - 1)
        integer("time_bits", self.time_bits, 24, 64)
        integer("bytes_bits", self.bytes_bits, 11, 16)
        integer("delay_bits", self.delay_bits, 8, 30)
        integer("queue_bits", self.queue_bits, 8, 30)
        if not isinstance(self.update_discarded, bool):
            raise TypeError(
                f"update_discarded must be True or False, not {self.update_discarded!r}"
            )

    @property
    def port_bits(self) -> int:
        """Width of a port's number, bits."""
        return bits_for(self.ports)

    @property
    def available_bits(self) -> int:
        """Width of the bits of a window that are not used, bits (27 at 131 µs and 800 Gb/s)."""
        return bits_for(self.longest_window_ns * MOST_SPEED_GBPS + 1)

    @property
    def measure_bits(self) -> int:
        """Width of whatever is measured, bits."""
        return max(self.available_bits, self.delay_bits, self.queue_bits)

    @property
    def native(self) -> bool:
        """Whether values are measured here."""
        return self.sources != "agent"

    @property
    def agent(self) -> bool:
        """Whether software may write values."""
        return self.sources != "native"

    @property
    def window_clocks(self) -> int:
        """Clocks that the hardware has: none where software writes all values."""
        return self.clocks if self.native else 0

    @property
    def value_bits(self) -> int:
        """Width of the widest value, bits: 20 with the wide format, else 5."""
        return max(width(format, self.layout, "s") for format in self.formats)

    @property
    def locator_bits(self) -> int:
        """Width of the widest locator, bits."""
        return max(width(format, self.layout, "lm") for format in self.formats)

    def tpid(self, format: str) -> int:
        """Return the TPID of a format."""
        return self.tpid_compact if format == "compact" else self.tpid_wide


PRESETS: dict[str, CsigConfig] = {
    "port-compact": CsigConfig(formats=("compact",), sources="native"),
    "port-compact-agent": CsigConfig(formats=("compact",), sources="agent"),
    "port-wide": CsigConfig(formats=("wide",), sources="native"),
    "port-wide-agent": CsigConfig(formats=("wide",), sources="agent"),
    "port": CsigConfig(),
    "bank-4": CsigConfig(ports=4),
    "bank-16": CsigConfig(ports=16),
    "bank-32": CsigConfig(ports=32),
    "bank-64": CsigConfig(ports=64),
}
"""Named configurations: the rows of every table."""


def preset(name: str, **changes: Any) -> CsigConfig:
    """Return the preset called `name` with the fields in `changes` replaced.

    Raises `ValueError` that lists the presets if there is none of that name.
    """
    if name not in PRESETS:
        raise ValueError(f"preset must be one of {', '.join(PRESETS)}, not {name!r}")
    return replace(PRESETS[name], **changes)
