"""Register stages of a block with valid/ready at both ends."""

from __future__ import annotations

from typing import Any

from amaranth.hdl import Module, Signal, Value, ValueLike
from amaranth.lib import data


class Stages:
    """The control of a block whose `depth` register stages all move together.

    ```
    i.valid ──►[valid]──►[valid]── … ──►[valid]──► o.valid      all registers share one enable,
    i.ready ◄── enabled & advance  ◄── advance = o.ready or not o.valid
    ```

    A beat takes `depth` cycles when `o` never stalls, and one beat enters every cycle. The block
    moves on while its last stage is empty, so it fills up behind a stall that has not reached it.
    `valid` waits for no `ready`; `ready` passes through combinationally. With depth 0 the two
    streams are wired together. Valid bits have a reset, what `register` makes has none.

    Args:
        m: the module that gets the statements.
        i, o: the streams of the block, consumer and producer side.
        depth: number of register stages, 0 and up.
        enabled: 1 while the block may take beats; stages behind the input move on meanwhile.
        stall: 1 while nothing may move, whatever `o` says.
    """

    def __init__(
        self,
        m: Module,
        i: Any,
        o: Any,
        *,
        depth: int,
        enabled: ValueLike = 1,
        stall: Value | None = None,
    ) -> None:
        self._m = m
        self.advance = Signal()
        self.valid = [Signal(name=f"valid_{stage}") for stage in range(depth)]
        """Whether a beat is in stage 0 … depth-1."""
        self.accept = Signal()
        """A beat enters stage 0 at the next clock edge."""
        moves = o.ready | ~o.valid
        m.d.comb += [
            self.advance.eq(moves if stall is None else moves & ~stall),
            i.ready.eq(self.advance & Value.cast(enabled)),
            self.accept.eq(i.valid & i.ready),
            o.valid.eq(self.valid[-1] if depth else i.valid & Value.cast(enabled)),
        ]
        with m.If(self.advance):
            for stage, valid in enumerate(self.valid):
                m.d.sync += valid.eq(self.valid[stage - 1] if stage else self.accept)

    def register(self, value: Any, name: str = "q", enable: ValueLike = 1) -> Any:
        """Return `value` one stage later: a reset-less register that moves with the block.

        A list becomes a list of registers; a structure keeps its layout, in one register. Where
        `enable` is 0 the register keeps what it had: for what nobody looks at then.
        """
        if isinstance(value, list):
            return [self.register(part, f"{name}_{n}", enable) for n, part in enumerate(value)]
        shape = value.shape() if isinstance(value, data.View) else Value.cast(value).shape()
        q = Signal(shape, name=name, reset_less=True)
        with self._m.If(self.advance & Value.cast(enable)):
            self._m.d.sync += q.eq(value)
        return q

    def carry(self, i: Any, o: Any) -> None:
        """Carry every field that the payloads of `i` and `o` share, by name, through all stages."""
        there = o.payload.shape().members
        for name in i.payload.shape().members:
            if name in there:
                value = i.payload[name]
                for _ in self.valid:
                    value = self.register(value, f"passed_{name}")
                self._m.d.comb += o.payload[name].eq(value)
