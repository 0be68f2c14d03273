"""Stage 3 of Ofan's pipeline: the pointer file, one fetch-and-advance a master (seed
appendix I)."""

from __future__ import annotations

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value, unsigned
from amaranth.lib import data, memory, stream, wiring
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
    group's last packet takes. Where all uplinks are valid both are the identity, and their logic
    is kept quiet. Without failure logic, next = pointer + turn + 1 mod w.

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
            index = modulo(m, self.base + self.turn, self.ways, bound=2 * w, least=1, once=True)
            last, step = Signal(bits_for(w), name="last"), Const(1)
            some_down = Signal()
            m.d.comb += some_down.eq(self.ways != w)
            levels = counts(m, self.mask, some_down)
            index = index[: bits_for(w)]
            m.d.comb += [
                self.base.eq(Mux(some_down, rank(m, levels, self.pointer), self.pointer)),
                last.eq(Mux(some_down, select(m, levels, index), index)),
            ]
        else:
            m.d.comb += self.base.eq(self.pointer)
        m.d.comb += self.next.eq(modulo(m, last + step, w, bound=2 * w, least=w, name="next"))
        return m


class Match(wiring.Component):
    """Finds a lane's key among the keys that the batch ahead is about to write. Combinational.

    The keys ahead come bit-sliced, one word of all lanes for each bit of a key, so that one
    word-wide comparison does a bit of all lanes.

    Args:
        config: an `OfanConfig`.

    Ports:
        key (in, key_bits), ahead (in, key_bits words of one bit a lane), writes (in, one bit a
        lane), match (out, one bit a lane; at most one is set, since a batch's masters differ).
    """

    def __init__(self, config: OfanConfig) -> None:
        c = self.config = config
        lanes = c.lanes_per_pipe
        super().__init__(
            {
                "key": In(unsigned(c.key_bits)),
                "ahead": In(data.ArrayLayout(lanes, c.key_bits)),
                "writes": In(lanes),
                "match": Out(lanes),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        lanes = self.config.lanes_per_pipe
        differ: Value = ~self.writes
        for bit, ahead in enumerate(self.ahead):
            differ = differ | (ahead ^ self.key[bit].replicate(lanes))
        m.d.comb += self.match.eq(~differ)
        return m


class Forward(wiring.Component):
    """The pointer a lane goes on with: the one just written where a key matched, else the one
    read. Combinational.

    Args:
        config: an `OfanConfig`.

    Ports:
        match (in, one bit a lane), written (in, uplink_bits words of one bit a lane: the pointers
        written, bit-sliced), read (in), pointer (out).
    """

    def __init__(self, config: OfanConfig) -> None:
        c = self.config = config
        b, lanes = c.uplink_bits, c.lanes_per_pipe
        super().__init__(
            {
                "match": In(lanes),
                "written": In(data.ArrayLayout(lanes, b)),
                "read": In(unsigned(b)),
                "pointer": Out(unsigned(b)),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        forwarded = Cat((self.match & written).any() for written in self.written)
        m.d.comb += self.pointer.eq(Mux(self.match.any(), forwarded, self.read))
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
        keys_ahead = [Signal(lanes, name=f"keys_ahead_{bit}") for bit in range(c.key_bits)]
        written = [Signal(lanes, name=f"nexts_{bit}") for bit in range(b)]
        for slices, words in (
            (keys_ahead, [item.key for item in fetched.items]),
            (written, nexts),
        ):
            m.d.comb += [word.eq(Cat(w[bit] for w in words)) for bit, word in enumerate(slices)]
        written = stages.register(written, "written")

        for lane in range(lanes):
            item, out = fetched.items[lane], self.o.p.items[lane]
            read, write = file.read_port(), file.write_port()
            m.submodules[f"advance_{lane}"] = advance = Advance(c)
            m.submodules[f"match_{lane}"] = match = Match(c)
            m.submodules[f"forward_{lane}"] = forward = Forward(c)
            m.d.comb += [
                match.key.eq(self.i.p.items[lane].key),
                match.ahead.as_value().eq(Cat(keys_ahead)),
                match.writes.eq(writes),
                forward.match.eq(stages.register(match.match, f"match_{lane}")),
                forward.written.as_value().eq(Cat(written)),
                forward.read.eq(read.data),
            ]
            m.d.comb += [
                read.addr.eq(self.i.p.items[lane].key),
                read.en.eq(stages.advance),
                advance.pointer.eq(forward.pointer),
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
            m.d.comb += [
                getattr(out, name).eq(getattr(ahead.items[lane], name)) for name in masked_fields(c)
            ]
            m.d.comb += out.base.eq(stages.register(advance.base, f"base_{lane}"))
        return m
