"""From what the banks say to each packet's uplink."""

from __future__ import annotations

from typing import Any

from amaranth.hdl import Cat, Const, Module, Signal, Value, unsigned
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from models.common.check import bits_for
from models.ofan.config import OfanConfig
from rtl.common.modulo import modulo
from rtl.ofan.banks import gather
from rtl.ofan.decombine import Pick
from rtl.ofan.match import place_fields
from rtl.ofan.order import Uplink
from rtl.ofan.place import Place
from rtl.ofan.update import base_bits


class Replies(wiring.Component):
    """Gives each packet the base of its bank's pointer, picks its position and turns that into an
    uplink. Latency 1 cycle, 3 with failure logic; a set of packets a cycle.

    ```
    bases ──► each packet's own ─► (base + rank) mod w ─► π ─►[reg]─► uplinks
    with failure logic: base, mask, ways ─►[reg]─► that valid position ─►[reg]─► π ─►[reg]─► uplinks
    ```

    Args:
        config: an `OfanConfig` with a banked engine.
        packets: how many there are in a cycle.

    Ports:
        packets (in, `bank`, `row` and `rank` a packet): where its pointer lives, and how many of
        its key are served before it in this cycle.
        bases (in, one a bank); masks, ways (in, with failure logic).
        uplinks, unroutable (out, one a packet). advance (in): this cycle counts.
    """

    def __init__(self, config: OfanConfig, packets: int) -> None:
        c = self.config = config
        self.latency = 3 if c.masks else 1
        self.count = packets
        banks = c.engine.banks
        fields = {**place_fields(c), "rank": unsigned(bits_for(packets))}
        ports: dict[str, Any] = {
            "packets": In(data.ArrayLayout(data.StructLayout(fields), packets)),  # type: ignore[arg-type]
            "bases": In(data.ArrayLayout(base_bits(c), banks)),
            "uplinks": Out(data.ArrayLayout(c.uplink_bits, packets)),
            "unroutable": Out(packets),
            "advance": In(1),
        }
        if c.masks:
            ports["masks"] = In(data.ArrayLayout(c.uplinks, banks))
            ports["ways"] = In(data.ArrayLayout(bits_for(c.uplinks + 1), banks))
        super().__init__(ports)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        self._m = m
        c, w = self.config, self.config.uplinks
        for number, packet in enumerate(self.packets):
            mine = Signal(c.engine.banks, name=f"mine_{number}")
            m.d.comb += mine.eq(Cat(packet.bank == bank for bank in range(c.engine.banks)))
            m.submodules[f"uplink_{number}"] = uplink = Uplink(c)
            m.submodules[f"pick_{number}"] = pick = Pick(c)
            key: Value = Place.key(c, packet.bank, packet.row) if c.order != "plain" else Const(0)
            base = gather(list(self.bases), mine)
            position: Value = pick.position
            unroutable: Value = Const(0)
            if c.masks:
                mask, ways = gather(list(self.masks), mine), gather(list(self.ways), mine)
                turn = modulo(
                    m, packet.rank, ways, bound=self.count, least=1, name=f"turn_{number}"
                )
                base, mask, ways, turn = (self._later(v) for v in (base, mask, ways, turn))
                m.d.comb += [pick.mask.eq(mask), pick.ways.eq(ways)]
                key, position = self._later(self._later(key)), self._later(position)
                unroutable = self._later(ways == 0)
            else:
                turn = modulo(m, packet.rank, w, bound=self.count, least=w, name=f"turn_{number}")
            m.d.comb += [
                pick.base.eq(base),
                pick.turn.eq(turn),
                uplink.key.eq(key),
                uplink.position.eq(position),
                self.uplinks[number].eq(self._later(uplink.uplink)),
                self.unroutable[number].eq(self._later(unroutable) if c.masks else 0),
            ]
        return m

    def _later(self, value: Value) -> Value:
        register = Signal.like(value, name="later", reset_less=True)
        with self._m.If(self.advance):
            self._m.d.sync += register.eq(value)
        return register
