"""Ofan said once more in Amaranth, naively: one packet after another, no cleverness, no clock cycle
between a packet and its answer. What the pipeline is proved against."""

from __future__ import annotations

from amaranth.hdl import Array, Const, Module, Mux, Signal, Value

from models.ofan.config import OfanConfig
from models.ofan.order import pi
from models.ofan.switch import initial_pointer


class Golden:
    """Pointers and uplink sets of one switch as registers, and answers to whole batches.

    A batch is answered in the cycle in which `take` is 1, a write is done in the cycle of `write`,
    before a batch that comes with it.

    Args:
        m: the module that gets the statements.
        config: an `OfanConfig` without lookup.
        tdata, tkeep: the batch, as at the switch's s_axis.
        take: the batch is accepted.
        mask_tdata, write: a change of the mask tables as at s_mask, and that it is made.
    """

    def __init__(
        self,
        m: Module,
        config: OfanConfig,
        *,
        tdata: Value,
        tkeep: Value,
        take: Value,
        mask_tdata: Value | None = None,
        write: Value | None = None,
    ) -> None:
        c = self.config = config
        self._m = m
        self.pointers = [
            [
                Signal(
                    range(c.uplinks), init=initial_pointer(c, pipe, d, t), name=f"p{pipe}_{d}_{t}"
                )
                for t in range(c.size_classes)
                for d in range(c.destinations)
            ]
            for pipe in range(c.pipes)
        ]
        everything = (1 << c.uplinks) - 1
        self.masks: list[Value] = [
            Signal(c.uplinks, init=everything, name=f"set{n}") for n in range(c.masks)
        ]
        self.numbers: list[Value] = [
            Signal(range(max(1, c.masks)), name=f"index{d}") for d in range(c.destinations)
        ]
        if mask_tdata is not None and write is not None:
            self._write(mask_tdata, write)
        self.answers: list[Value] = []
        for pipe in range(c.pipes):
            self._serve(pipe, tdata, tkeep, take)

    def _write(self, tdata: Value, write: Value) -> None:
        c, m = self.config, self._m
        value_bits = max(c.uplinks, c.mask_bits)
        value, address, select = tdata[:value_bits], tdata[value_bits:-1], tdata[-1]

        def written(kept: list[Value], chosen: Value) -> list[Value]:
            now: list[Value] = []
            for number, old in enumerate(kept):
                mine = write & chosen & (address == number)
                now.append(self._named(Mux(mine, value, old), len(old), f"now_{old.name}"))  # type: ignore[attr-defined]
                m.d.sync += old.eq(now[-1])  # type: ignore[attr-defined]
            return now

        self.masks, self.numbers = written(self.masks, select), written(self.numbers, ~select)

    def _serve(self, pipe: int, tdata: Value, tkeep: Value, take: Value) -> None:
        c, m = self.config, self._m
        state: list[Value] = list(self.pointers[pipe])
        for lane in range(pipe * c.lanes_per_pipe, (pipe + 1) * c.lanes_per_pipe):
            request = tdata.word_select(lane, c.request_bits)
            destination, size_class = request[: c.destination_bits], request[c.destination_bits :]
            answer: Value = Const(0)
            for t in range(c.size_classes):
                for d in range(c.destinations):
                    key = c.key(d, t)
                    mine = tkeep[lane] & (destination == d)
                    if c.size_classes > 1:
                        mine &= size_class == t
                    uplink, found, behind = self._one(key, d, state[key], f"{lane}_{key}")
                    answer = Mux(mine, uplink | ~found << c.uplink_bits, answer)
                    state[key] = self._named(
                        Mux(mine & found, behind, state[key]), c.uplink_bits, f"after{lane}_{key}"
                    )
            self.answers.append(self._named(answer, c.answer_bits, f"answer{lane}"))
        with m.If(take):
            m.d.sync += [p.eq(s) for p, s in zip(self.pointers[pipe], state, strict=True)]

    def _one(self, key: int, d: int, pointer: Value, name: str) -> tuple[Value, Value, Value]:
        """Serve one packet of `key`: (its uplink, whether it has one, the pointer behind it)."""
        c = self.config
        assert c.order is not None
        order = Array(
            Const(pi(c.order, c.uplinks, key, i), c.uplink_bits) for i in range(c.uplinks)
        )
        valid: Value = Array(self.masks)[self.numbers[d]] if c.masks else Const(-1, c.uplinks)
        valid = self._named(valid, c.uplinks, f"valid{name}")
        position: Value = pointer
        uplink: Value = Const(0, c.uplink_bits)
        found: Value = Const(0, 1)
        behind: Value = pointer
        for turn in range(c.uplinks):
            here = self._named(order[position], c.uplink_bits, f"here{name}_{turn}")
            onward = self._named(
                Mux(position == c.uplinks - 1, 0, position + 1), c.uplink_bits, f"on{name}_{turn}"
            )
            reached = self._named(valid.bit_select(here, 1) & ~found, 1, f"reached{name}_{turn}")
            uplink, behind = Mux(reached, here, uplink), Mux(reached, onward, behind)
            found = found | reached
            position = onward
        return uplink, found, behind

    def _named(self, value: Value, width: int, name: str) -> Signal:
        signal = Signal(width, name=f"golden_{name}")
        self._m.d.comb += signal.eq(value)
        return signal
