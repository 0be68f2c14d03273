"""Stage 3 of Ofan's pipeline: the pointer file, one fetch-and-advance a master (seed appendix I)."""

from __future__ import annotations

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value, unsigned
from amaranth.lib import memory, stream, wiring
from amaranth.lib.wiring import In, Out

from models.common.check import bits_for, integer
from models.ofan.config import OfanConfig
from models.ofan.switch import initial_pointer
from rtl.common.modulo import modulo
from rtl.common.select import counts, rank, select
from rtl.common.stage import Stages
from rtl.ofan.masks import masked_fields, turn_bits
from rtl.ofan.sort import beat_layout


def base_bits(c: OfanConfig) -> int:
    """Width of a group's base, bits."""
    return bits_for(c.uplinks + 1) if c.masks else c.uplink_bits


def updated_fields(c: OfanConfig) -> dict[str, object]:
    """Fields of a packet once its group's pointer is fetched: `base`, at masters, is how many
    valid positions lie below the pointer (without failure logic: the pointer itself)."""
    return {**masked_fields(c), "base": unsigned(base_bits(c))}


class Advance(wiring.Component):
    """What one master does to its pointer. Combinational.

    With failure logic the pointer is ranked among the valid positions, moved on by the group's
    last turn modulo their number, and selected back: `next` is the position behind the one the
    group's last packet takes. Without it, next = pointer + turn + 1 mod w.

    Args:
        config: an `OfanConfig`.

    Ports:
        pointer (in), turn (in, the master's), mask and ways (in, with failure logic),
        base (out), next (out).
    """

    def __init__(self, config: OfanConfig) -> None:
        c = self.config = config
        ports = {
            "pointer": In(unsigned(c.uplink_bits)),
            "turn": In(unsigned(turn_bits(c))),
            "base": Out(unsigned(base_bits(c))),
            "next": Out(unsigned(c.uplink_bits)),
        }
        if c.masks:
            ports |= {"mask": In(c.uplinks), "ways": In(unsigned(bits_for(c.uplinks + 1)))}
        super().__init__(ports)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        w = self.config.uplinks
        last: Value = self.pointer
        step: Value = self.turn + 1
        if self.config.masks:
            levels = counts(m, self.mask)
            m.d.comb += self.base.eq(rank(m, levels, self.pointer))
            total = self.base + self.turn
            index = modulo(m, total, self.ways, bound=2 * w, least=1, once=True)
            last, step = select(m, levels, index[: bits_for(w)]), Const(1)
        else:
            m.d.comb += self.base.eq(self.pointer)
        m.d.comb += self.next.eq(modulo(m, last + step, w, bound=2 * w, least=w, name="next"))
        return m


class Update(wiring.Component):
    """Fetches each group's pointer and advances it by the group's size. Latency 2 cycles;
    throughput one batch a cycle, exact also when consecutive batches hit the same pointers.

    ```
             ┌────────── pointer file, N × ⌈log2 w⌉ bits, a read and a write path a lane ──────┐
             │ read                                                                    write   ▲
    i ───────┴─►[reg]──► forwarded? ─► Advance (base, next) ─┬─►[reg]─► o                      │
       │                    ▲    ▲                           └─────────────────────────────────┤
       └► same key as a     │    └──────────── next of the batch before ◄───────────────[reg]◄─┘
          master ahead? ─►[reg]
    ```

    A batch reads the file while the batch ahead computes, one edge before that one's write: every
    lane compares its key with the keys that the batch ahead is about to write, and takes the new
    pointer from there (forwarding). Batches further apart meet in the file. A group that no uplink
    serves writes nothing. Implements step (3) of the seed's appendix I.

    After a reset the file is swept with its initial values, N + 1 cycles without ready; batches in
    flight are lost.

    Args:
        config: an `OfanConfig`.
        pipe: the pipe whose initial pointers are wanted, 0 to `config.pipes` - 1.

    Ports:
        i (stream of `masked_fields`), o (stream of `updated_fields`).
    """

    def __init__(self, config: OfanConfig, pipe: int = 0) -> None:
        c = self.config = config
        self.pipe = integer("pipe", pipe, 0, c.pipes - 1)
        self.latency = 2
        super().__init__(
            {
                "i": In(stream.Signature(beat_layout(c, masked_fields(c)))),
                "o": Out(stream.Signature(beat_layout(c, updated_fields(c)))),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        c = self.config
        lanes, b = c.lanes_per_pipe, c.uplink_bits
        depth = max(2, c.keys)
        m.submodules.file = file = memory.Memory(shape=unsigned(max(1, b)), depth=depth, init=[])
        m.submodules.initial = initial = memory.Memory(
            shape=unsigned(max(1, b)),  # Yosys knows no memory of width 0
            depth=depth,
            init=[
                initial_pointer(c, self.pipe, d, t)
                for t in range(c.size_classes)
                for d in range(c.destinations)
            ],
        )
        sweep = Signal(range(c.keys + 2))
        running = Signal()
        first = initial.read_port()
        m.d.comb += [running.eq(sweep == c.keys + 1), first.addr.eq(sweep), first.en.eq(1)]
        with m.If(~running):
            m.d.sync += sweep.eq(sweep + 1)

        stages = Stages(m, self.i, self.o, depth=2, enabled=running)
        fetched = stages.register(self.i.p, "fetched")
        ahead = stages.register(fetched, "ahead")
        m.d.comb += self.o.p.fence.eq(ahead.fence)
        writes = Signal(lanes)
        nexts: list[Value] = []
        for lane in range(lanes):
            item = fetched.items[lane]
            routable = item.ways != 0 if c.masks else Const(1)
            m.d.comb += writes[lane].eq(stages.valid[0] & item.master & routable)
            nexts.append(Signal(b, name=f"next_{lane}"))
        written_keys = [Cat(item.key, writes[n]) for n, item in enumerate(fetched.items)]
        written = [stages.register(value, f"written_{n}") for n, value in enumerate(nexts)]

        for lane in range(lanes):
            item, out = fetched.items[lane], self.o.p.items[lane]
            read, write = file.read_port(), file.write_port()
            m.submodules[f"advance_{lane}"] = advance = Advance(c)
            # The write bit takes part in the comparison as one more bit of the key.
            same = Signal(lanes, name=f"same_{lane}")
            here = Cat(self.i.p.items[lane].key, Const(1))
            m.d.comb += same.eq(Cat(here == written_key for written_key in written_keys))
            forward = stages.register(same, f"forward_{lane}")
            hit = stages.register(same.any(), f"hit_{lane}")
            forwarded = Signal(b, name=f"forwarded_{lane}")
            with m.If(hit):
                m.d.comb += forwarded.eq(
                    _any_of(Mux(forward[other], written[other], 0) for other in range(lanes))
                )
            m.d.comb += [
                read.addr.eq(self.i.p.items[lane].key),
                read.en.eq(stages.advance),
                advance.pointer.eq(Mux(hit, forwarded, read.data)),
                advance.turn.eq(item.turn),
                nexts[lane].eq(advance.next),
                write.addr.eq(item.key),
                write.data.eq(advance.next),
                write.en.eq(stages.advance & writes[lane]),
            ]
            if c.masks:
                m.d.comb += [advance.mask.eq(item.mask), advance.ways.eq(item.ways)]
            if lane == 0:
                with m.If(~running):
                    m.d.comb += [
                        write.addr.eq(sweep - 1),
                        write.data.eq(first.data),
                        write.en.eq(sweep != 0),
                    ]
            m.d.comb += [getattr(out, name).eq(getattr(ahead.items[lane], name))
                         for name in masked_fields(c)]
            m.d.comb += out.base.eq(stages.register(advance.base, f"base_{lane}"))
        return m


def _any_of(values) -> Value:  # noqa: ANN001
    """Return the OR of values of which at most one is not zero."""
    values = list(values)
    while len(values) > 1:
        values = [a | b for a, b in zip(values[::2], values[1::2])] + values[len(values) & ~1 :]
    return values[0]
