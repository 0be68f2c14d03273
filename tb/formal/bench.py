"""What a proof is made of: free inputs, assumptions, checks, and the design they hold."""

from __future__ import annotations

from typing import Any

from amaranth.asserts import AnyConst, Initial
from amaranth.hdl import Assert, Assume, ClockDomain, Elaboratable, Module, Signal, Value, ValueLike
from amaranth.lib import stream


class Bench(Elaboratable):
    """One clock domain in which every register, also each bit of a memory, powers up with any
    value and the first cycle is a reset: a register without a reset has to do without one.

    Args:
        resets: whether reset may come again in any later cycle (the bench's registers follow it).

    Attributes:
        m: the module that gets the design (as submodules) and the bench's own statements.
        reset: 1 in a cycle with reset.
    """

    def __init__(self, *, resets: bool = False) -> None:
        self.m = Module()
        self.domain = ClockDomain("sync")
        self.reset: Signal = self.domain.rst
        self.ports: list[Signal] = [self.domain.clk, self.domain.rst]
        self.shown = ["rst"]
        """Names of the signals that a counterexample shows."""
        self.m.domains.sync = self.domain
        # Yosys's bounded check looks only at runs that never come back to a state, so at none of a
        # design without registers; with a running time no two states are the same.
        now = Signal(8, reset_less=True, attrs={"keep": 1})
        self.m.d.sync += now.eq(now + 1)
        first = Signal()
        self.m.d.comb += first.eq(Initial())
        self.assume(self.reset | ~first if resets else self.reset == first)

    def elaborate(self, platform: object) -> Module:
        return self.m

    def free(self, shape: Any, name: str) -> Any:
        """Return an input that may be anything in each cycle."""
        inner = Signal(shape, name=name)
        if len(Value.cast(inner)):
            self.ports.append(Value.cast(inner))  # type: ignore[arg-type]
            self.shown.append(name)
        return inner

    def constant(self, shape: Any, name: str) -> Signal:
        """Return a value that may be anything, but is the same in all cycles."""
        return self.see(name, AnyConst(shape))

    def see(self, name: str, value: ValueLike) -> Signal:
        """Return `value` as a signal that counterexamples show."""
        signal = Signal(Value.cast(value).shape(), name=name)
        self.m.d.comb += signal.eq(value)
        if len(signal):
            self.shown.append(name)
        return signal

    def named(self, value: ValueLike, width: int, name: str) -> Signal:
        """Return `value` as a signal of `width` bits that counterexamples do not show."""
        signal = Signal(width, name=name)
        self.m.d.comb += signal.eq(value)
        return signal

    def assume(self, condition: ValueLike) -> None:
        """Look only at runs in which `condition` holds in every cycle."""
        self.m.d.comb += Assume(condition)

    def check(self, name: str, condition: ValueLike) -> None:
        """Demand `condition` in every cycle but those with reset."""
        self.m.d.comb += Assert(
            self.see(f"check_{name}", Value.cast(condition).bool() | self.reset)
        )

    def past(self, value: ValueLike, name: str) -> Signal:
        """Return `value` one cycle earlier; without meaning in the first cycle."""
        before = Signal(Value.cast(value).shape(), name=f"past_{name}", reset_less=True)
        self.m.d.sync += before.eq(value)
        return before

    def drive(self, port: stream.Interface, name: str = "i") -> None:
        """Let anything happen at the input `port` of a design, well-behaved or not."""
        self.m.d.comb += [
            port.valid.eq(self.free(1, f"{name}_valid")),
            port.payload.eq(self.free(port.payload.shape(), f"{name}_payload")),
        ]

    def drain(
        self, port: stream.Interface, name: str = "o", ready: ValueLike | None = None
    ) -> None:
        """Let `ready` of the output `port` be anything, or what is given."""
        self.m.d.comb += port.ready.eq(self.free(1, f"{name}_ready") if ready is None else ready)
        self.see(f"{name}_valid", port.valid)
        self.see(f"{name}_payload", port.payload)

    def keeps_stream_rules(self, valid: Any, ready: Any, payload: Any, name: str = "o") -> None:
        """Check an output: valid never falls, and the payload never changes, before ready.

        A reset may take a waiting beat back, so nothing is demanded across one.
        """
        payload = Value.cast(payload)
        waiting = self.past(valid & ~ready & ~self.reset, f"{name}_waiting")
        before = self.past(payload, f"{name}_payload")
        waited = Signal(name=f"{name}_waited")
        self.m.d.sync += waited.eq(1)
        self.check(f"{name}_valid_stays", ~(waiting & waited) | valid)
        self.check(f"{name}_payload_stays", ~(waiting & waited) | (payload == before))
