"""The bits of a tag that a hop reads and writes."""

from __future__ import annotations

from amaranth.hdl import Cat, Module, Mux, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from models.csig.beat import tag_bits
from models.csig.config import CsigConfig
from models.csig.signals import SIGNAL_BITS, SIGNALS
from models.csig.tag import FIELDS


def fields(c: CsigConfig, format: str, tag: Value) -> dict[str, Value]:
    """Return the fields of a tag that stands in the upper bits of `tag`."""
    found, at = {}, tag_bits(c)
    for name, bits in FIELDS[format, c.layout]:
        at -= bits
        found[name] = tag[at : at + bits]
    return found


def choose(c: CsigConfig, wide: Value, values: dict[str, Value]) -> Value:
    """Return the value for the format that the tag has."""
    if len(c.formats) == 1:
        return values[c.formats[0]]
    return Mux(wide, values["wide"], values["compact"])


class ReadTag(wiring.Component):
    """Takes a tag apart. Combinational.

    Ports:
        tag (in); tagged (out): a TPID announces one of a known format; wide (out): its format.
        signal (out), known (out): the signal it asks for, if this hop knows it.
        value (out), discarded (out): S and D.
    """

    def __init__(self, config: CsigConfig) -> None:
        c = self.config = config
        super().__init__(
            {
                "tag": In(tag_bits(c)),
                "tagged": Out(1),
                "wide": Out(1),
                "signal": Out(SIGNAL_BITS),
                "known": Out(1),
                "value": Out(c.value_bits),
                "discarded": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        c = self.config
        parts = {format: fields(c, format, self.tag) for format in c.formats}
        announced = {format: parts[format]["tpid"] == c.tpid(format) for format in c.formats}
        m.d.comb += [
            self.tagged.eq(Cat(announced.values()).any()),
            self.wide.eq(announced.get("wide", 0)),
        ]
        types = choose(c, self.wide, {f: part["t"] for f, part in parts.items()})
        discarded = {f: part.get("d", self.tag[:0]) for f, part in parts.items()}
        m.d.comb += [
            self.signal.eq(types),
            self.known.eq(Cat(types == signal.number for signal in SIGNALS).any()),
            self.value.eq(choose(c, self.wide, {f: part["s"] for f, part in parts.items()})),
            self.discarded.eq(choose(c, self.wide, discarded)),
        ]
        return m


class WriteTag(wiring.Component):
    """Puts value and locator into a tag and changes no other bit. Combinational.

    Ports:
        tag (in), wide (in): its format; value, locator (in); replace (in): or leave it as it is.
        out (out).
    """

    def __init__(self, config: CsigConfig) -> None:
        c = self.config = config
        super().__init__(
            {
                "tag": In(tag_bits(c)),
                "wide": In(1),
                "value": In(c.value_bits),
                "locator": In(c.locator_bits),
                "replace": In(1),
                "out": Out(tag_bits(c)),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        c = self.config
        new = {"s": self.value, "lm": self.locator}
        tags = {}
        for format in c.formats:
            parts = fields(c, format, self.tag)
            made = [new[name][: len(old)] if name in new else old for name, old in parts.items()]
            rest = self.tag[: tag_bits(c) - sum(len(part) for part in made)]
            tags[format] = Cat(rest, *reversed(made))
        m.d.comb += self.out.eq(Mux(self.replace, choose(c, self.wide, tags), self.tag))
        return m
