"""Switching activity: circuits known by hand, and the netlist's run beside Amaranth's simulator."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from amaranth.hdl import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out
from amaranth.sim import Simulator

from models.ofan.config import OfanConfig
from rtl.ofan.combine import Combine
from synth.activity import STREAMS, Simulation
from synth.ge import ABC_GATES, as_rtlil
from synth.netlist import whole_netlist
from synth.yosys import map_to_gates


def netlist(component: Any) -> dict[str, Any]:
    return map_to_gates(as_rtlil(component)[0], ABC_GATES)


class Divider(wiring.Component):
    """Toggles `y` in each cycle with `go`."""

    def __init__(self) -> None:
        super().__init__({"go": In(1), "y": Out(1)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        with m.If(self.go):
            m.d.sync += self.y.eq(~self.y)
        return m


def test_a_divider_toggles_as_often_as_it_is_told_to() -> None:
    simulation = Simulation(netlist(Divider()), {"rst": 0})
    assert simulation.inputs == {"go": 1}
    for share in (0.0, 0.25, 1.0):
        go = np.broadcast_to(np.arange(400) % 4 < 4 * share, (STREAMS, 400))
        found, _ = simulation.run({"go": go[:, :, None]})
        count, rate = found.kinds["flip-flop"]
        assert (count, rate) == (1, share)


def test_a_stream_that_waits_offers_the_same_again() -> None:
    """A register that takes an offer in every second cycle; each stream offers 1, 0, 1, 0, …"""

    class Every(wiring.Component):
        def __init__(self) -> None:
            super().__init__({"d": In(1), "ready": Out(1), "q": Out(1)})

        def elaborate(self, platform: object) -> Module:
            m = Module()
            m.d.sync += self.ready.eq(~self.ready)
            with m.If(self.ready):
                m.d.sync += self.q.eq(self.d)
            return m

    simulation = Simulation(netlist(Every()), {"rst": 0})
    offers = np.broadcast_to((np.arange(40) % 2 == 0)[:, None], (STREAMS, 40, 1))
    _, seen = simulation.run({"d": offers}, ready="ready")
    q = [int(word != 0) for word in simulation.words(seen, "q")[:, 0]]
    assert q == [0, 0, 1, 1, 0, 0, 1, 1] * 5


class Combined(wiring.Component):
    """A block with registers, enables and carries: Ofan's combine stage at eight lanes."""

    def __init__(self) -> None:
        self.block = Combine(OfanConfig(lanes=8, uplinks=4, destinations=10, masks=0))
        i, o = self.block.i.payload.shape().size, self.block.o.payload.shape().size
        super().__init__(
            {
                "data": In(i),
                "there": In(1),
                "taken": In(1),
                "answer": Out(o),
                "ready": Out(1),
                "valid": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.block = block = self.block
        m.d.comb += [
            block.i.payload.as_value().eq(self.data),
            block.i.valid.eq(self.there),
            block.o.ready.eq(self.taken),
            self.answer.eq(block.o.payload.as_value()),
            self.ready.eq(block.i.ready),
            self.valid.eq(block.o.valid),
        ]
        return m


@pytest.mark.parametrize("apart", ["nothing", "block"])
def test_a_netlist_runs_as_amaranth_simulates_its_source(apart: str) -> None:
    """Cycle by cycle, every output, one of the 64 streams."""
    simulation = Simulation(whole_netlist(Combined(), apart), {"rst": 0})
    cycles, stream = 60, 17
    rng = np.random.default_rng(3)
    offers = {
        name: rng.integers(0, 2, (STREAMS, cycles, width))
        for name, width in simulation.inputs.items()
    }
    _, seen = simulation.run(offers)
    words = (seen >> np.uint64(stream)) & np.uint64(1)

    top = Combined()
    simulator = Simulator(top)
    simulator.add_clock(1e-6)
    expected = []

    async def drive(ctx: Any) -> None:
        for cycle in range(cycles):
            for name, bits in offers.items():
                value = sum(int(bit) << n for n, bit in enumerate(bits[stream, cycle]))
                ctx.set(getattr(top, name), value)
            outputs = [
                (ctx.get(getattr(top, name)), len(o)) for name, o in simulation.outputs.items()
            ]
            expected.append([value >> n & 1 for value, width in outputs for n in range(width)])
            await ctx.tick()

    simulator.add_testbench(drive)
    simulator.run()
    assert np.any(words)
    assert words.tolist() == expected


def test_what_is_no_gate_is_named() -> None:
    m = Module()
    a, y = Signal(), Signal()
    m.d.comb += y.eq(~a)
    text, _ = as_rtlil(m, [a, y])
    module = map_to_gates(text, ABC_GATES)
    (cell,) = module["cells"].values()
    cell["type"] = "memory"
    with pytest.raises(ValueError, match=r"^cell .* of type memory is no gate$"):
        Simulation(module, {})
