"""π, the port order of each pointer, both ways: a position's uplink, and uplinks as positions
(seed appendix F.2)."""

from __future__ import annotations

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value, unsigned
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from models.ofan.config import OfanConfig
from rtl.common.modulo import modulo


def _split(m: Module, c: OfanConfig, key: Value) -> tuple[Value, Value]:
    """Return id1 and id2 mod w of a pointer's identifier (equation 17)."""
    b = c.uplink_bits
    high = key[b:]
    bound = max(1, -(-c.keys >> b))
    return key[:b], modulo(m, high, c.uplinks, bound=bound, least=c.uplinks, name="id2")


class Uplink(wiring.Component):
    """π(i): the uplink at a position in a pointer's order. Combinational: one look-up of P, one
    XOR, one comparison, one addition and one conditional subtraction (equation 18).

    Args:
        config: an `OfanConfig`; `order`, `uplinks` and the key width are used.

    Ports:
        key (in, key_bits), position (in, uplink_bits), uplink (out, uplink_bits).
    """

    def __init__(self, config: OfanConfig) -> None:
        self.config = config
        b = config.uplink_bits
        super().__init__(
            {
                "key": In(unsigned(config.key_bits)),
                "position": In(unsigned(b)),
                "uplink": Out(unsigned(b)),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        c = self.config
        b, w = c.uplink_bits, c.uplinks
        if c.order == "plain" or w == 1:
            m.d.comb += self.uplink.eq(self.position)
            return m
        assert c.order is not None
        id1, id2 = _split(m, c, self.key)
        # P as one constant of w bits for each bit of a port, read at the position.
        columns = [
            sum((port >> bit & 1) << i for i, port in enumerate(c.order)) for bit in range(b)
        ]
        looked_up = Signal(b)
        m.d.comb += looked_up.eq(
            Cat(Const(column, w).bit_select(self.position, 1) for column in columns)
        )
        mixed = Signal(b)
        m.d.comb += mixed.eq(looked_up ^ id1)
        kept = mixed if w == 1 << b else Mux(mixed < w, mixed, looked_up)
        m.d.comb += self.uplink.eq(modulo(m, kept + id2, w, bound=2 * w - 1, least=w, name="sum"))
        return m


class Positions(wiring.Component):
    """Turns a set of uplinks into the set of positions that lead to them: bit i of the answer is
    bit π(i) of the question. Combinational.

    It undoes π's steps on all uplinks at once: a rotation by id2, a butterfly by id1, the fixed
    wiring P.

    Args:
        config: an `OfanConfig`; `order`, `uplinks` and the key width are used.

    Ports:
        key (in, key_bits), uplinks (in, w bits), positions (out, w bits).
    """

    def __init__(self, config: OfanConfig) -> None:
        self.config = config
        w = config.uplinks
        super().__init__(
            {"key": In(unsigned(config.key_bits)), "uplinks": In(w), "positions": Out(w)}
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        c = self.config
        if c.order == "plain" or c.uplinks == 1:
            m.d.comb += self.positions.eq(self.uplinks)
            return m
        assert c.order is not None
        b, w = c.uplink_bits, c.uplinks
        id1, id2 = _split(m, c, self.key)
        rotated: Value = self.uplinks
        for bit in range(len(id2)):
            step = Signal(w, name=f"rotated_{bit}")
            m.d.comb += step.eq(Mux(id2[bit], rotated.rotate_right(2**bit % w), rotated))
            rotated = step
        mixed = self._butterfly(m, Cat(rotated, Const(0, (1 << b) - w)), id1, "mixed")
        if w != 1 << b:
            # xor_w keeps a port whose partner would be no port: ask the same butterfly which.
            has_partner = self._butterfly(m, Const((1 << w) - 1, 1 << b), id1, "partner")
            mixed = (mixed & has_partner)[:w] | (rotated & ~has_partner[:w])
        m.d.comb += self.positions.eq(Cat(mixed[port] for port in c.order))
        return m

    def _butterfly(self, m: Module, value: Value, x: Value, name: str) -> Value:
        """Return the vector whose element v is element v ⊕ x of `value`."""
        size = len(value)
        for bit in range(len(x)):
            stride = 1 << bit
            lower = sum(1 << v for v in range(size) if not v & stride)
            # What moves is masked by the bit itself: word-wide, where a constant would come apart.
            moved = Mux(x[bit], Const(lower, size), 0)
            stays = Mux(x[bit], Const(0, size), Const((1 << size) - 1, size))
            upward = Cat(Const(0, stride), (value & moved)[: size - stride])
            step = Signal(size, name=f"{name}_{bit}")
            m.d.comb += step.eq(upward | (value >> stride) & moved | value & stays)
            value = step
        return value
