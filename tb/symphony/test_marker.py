"""Marker: ports, latency, and how packets, orders and random words meet at its inputs, by name.

The whole of it, as Verilog against the golden model: `test_marker_cocotb`; the golden model against
the paper: `test_marker_model`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from amaranth.hdl import Module, Shape
from amaranth.sim import Simulator

from models.common.ecn import ECT0
from models.common.lfsr import initial_state, next_state
from models.symphony.beat import GIVE, PACKET, READ, TAKE, order, packet, receipt
from models.symphony.coin import gap_bits
from models.symphony.config import PRESETS, SymphonyConfig
from models.symphony.marker import Packet
from models.symphony.settings import setting_bits, settings
from rtl.symphony.marker import Marker
from tb.symphony.blocks import SMALL
from tb.symphony.marker_reference import VERDICT_BITS, Order, packed, packet_fields, unpacked

CONFIG = SymphonyConfig(**SMALL, jobs=3, k=1, alpha_max=2)  # type: ignore[arg-type]
AHEAD = Packet(0, 0, 1, 5)
LAGGING = Packet(0, 0, 0, 5)


@pytest.mark.parametrize("name", PRESETS)
def test_widths_of_ports(name: str) -> None:
    c = PRESETS[name]
    ports = {
        port: Shape.cast(member.shape).width for port, member in Marker(c).signature.members.items()
    }
    assert ports.pop("s_axis_tdata") == c.job_bits + 16 + 24 + 1 + 24 + 2
    assert ports.pop("m_axis_tdata") == sum(VERDICT_BITS.values()) == 7
    assert ports.pop("m_axis_tuser") == gap_bits(c)
    assert ports.pop("s_ctrl_tdata") == c.job_bits + 2
    assert ports.pop("m_ctrl_tdata") == c.job_bits + 2 + 1 + 5 * 32
    assert (ports.pop("s_time"), ports.pop("s_random")) == (64, c.random_bits)
    for setting, bits in setting_bits(c).items():
        assert ports.pop(f"set_{setting}") == bits
    assert all(bits == 1 for bits in ports.values())


@pytest.mark.parametrize(
    ("changes", "latency"),
    [
        ({}, 13),
        ({"arithmetic": "exact"}, 16),
        ({"step_packets": 9}, 14),
        ({"counter_bits": 0}, 13),
    ],
)
def test_latency(changes: dict[str, Any], latency: int) -> None:
    assert Marker(SymphonyConfig(**changes)).latency == latency


def play(
    items: Sequence[Packet | Order | tuple[Order, Packet]],
    config: SymphonyConfig = CONFIG,
    ready: bool = True,
) -> tuple[list[dict[str, int]], list[dict[str, int]], list[tuple[int, str]]]:
    """Offer each item, or an order and a packet at once, as soon as what came before is taken;
    return the verdicts, the receipts, and (cycle, port) of all that came out, the first item being
    taken in cycle 0. Without `ready` nobody takes verdicts."""
    dut = Marker(config)
    top = Module()
    top.submodules.dut = dut
    verdicts, receipts, came = [], [], []

    async def bench(ctx: Any) -> None:
        for name, value in settings(config).items():
            ctx.set(getattr(dut, f"set_{name}"), value)
        ctx.set(dut.m_axis_tready, ready)
        ctx.set(dut.m_ctrl_tready, 1)
        await ctx.tick().repeat(config.jobs + 4)
        waiting, offered = list(items), []
        for cycle in range(len(items) * (dut.latency + 2) + dut.latency):
            if waiting and not offered:
                item = waiting.pop(0)
                offered = list(item) if isinstance(item, tuple) else [item]
            ctx.set(dut.s_axis_tvalid, any(isinstance(item, Packet) for item in offered))
            ctx.set(dut.s_ctrl_tvalid, any(isinstance(item, Order) for item in offered))
            for item in offered:
                if isinstance(item, Order):
                    ctx.set(dut.s_ctrl_tdata, packed(order(config), item.fields()))
                    continue
                ctx.set(dut.s_axis_tdata, packed(packet(config), packet_fields(item)))
                ctx.set(dut.s_random_en, item.random is not None)
                ctx.set(dut.s_random, item.random or 0)
            outputs = (dut.m_axis_tvalid, dut.m_axis_tdata, dut.m_ctrl_tvalid, dut.m_ctrl_tdata)
            readies = (dut.s_axis_tready, dut.s_ctrl_tready)
            sampled = await ctx.tick().sample(*readies, *outputs)
            _, _, may_go, may_order, answer, verdict, done, told = sampled
            offered = [i for i in offered if not (may_go if isinstance(i, Packet) else may_order)]
            if answer:
                verdicts.append(unpacked(VERDICT_BITS, verdict))
                came.append((cycle, "m_axis"))
            if done:
                receipts.append(unpacked(receipt(config), told))
                came.append((cycle, "m_ctrl"))

    simulator = Simulator(top)
    simulator.add_clock(1e-9)
    simulator.add_testbench(bench)
    simulator.run()
    return verdicts, receipts, came


def test_an_order_holds_from_the_next_packet_on() -> None:
    verdicts, receipts, came = play([LAGGING, Order(0, GIVE), LAGGING, Order(0, TAKE), LAGGING])
    assert [verdict["known"] for verdict in verdicts] == [0, 1, 0]
    assert [(r["op"], r["known"], r["packets"], r["unknown"]) for r in receipts] == [
        (GIVE, 0, 0, 1),
        (TAKE, 1, 1, 0),
    ]
    latency = Marker(CONFIG).latency
    assert came[:3] == [(latency, "m_axis"), (latency + 1, "m_ctrl"), (latency + 2, "m_axis")]


def test_an_order_goes_before_a_packet() -> None:
    verdicts, receipts, came = play([(Order(0, GIVE), LAGGING)])
    latency = Marker(CONFIG).latency
    assert came == [(latency, "m_ctrl"), (latency + 1, "m_axis")]
    assert (receipts[0]["known"], verdicts[0]["known"]) == (0, 1)


def test_op_0_reads_as_well() -> None:
    _, receipts, _ = play([Order(0, GIVE), LAGGING, Order(0, PACKET), Order(0, READ)])
    assert [(r["op"], r["packets"]) for r in receipts] == [(GIVE, 0), (READ, 1), (READ, 1)]


def test_an_order_waits_for_the_last_receipt_and_packets_do_not() -> None:
    _, receipts, came = play([Order(0, GIVE), Order(0, READ), LAGGING])
    latency = Marker(CONFIG).latency
    assert came == [(latency, "m_ctrl"), (2 * latency + 1, "m_ctrl"), (2 * latency + 2, "m_axis")]
    assert [r["known"] for r in receipts] == [0, 1]


def test_orders_pass_a_consumer_that_takes_no_packets() -> None:
    _, receipts, _ = play([Order(0, GIVE), Order(0, READ), Order(0, TAKE)], ready=False)
    assert [r["known"] for r in receipts] == [0, 1, 1]


def test_a_job_without_memory_has_no_slot() -> None:
    """Three jobs have two bits, so that number 3 can be asked for."""
    far = Packet(0, 3, 0, 5)
    verdicts, receipts, _ = play([Order(3, GIVE), far, Order(3, READ), Order(2, READ)])
    assert [verdict["known"] for verdict in verdicts] == [0]
    assert all(sum(r[n] for n in ("known", "packets", "unknown")) == 0 for r in receipts)


def test_given_words_and_those_of_the_register() -> None:
    """RED's coin at the middle of its slope tells which word a packet had; an order takes none."""
    c = SymphonyConfig(**{**SMALL, "kmin": 0, "kmax": 250, "pmax": 1.0}, jobs=1, seed=3)
    word = initial_state(3)
    drawn = []
    for _ in range(8):
        drawn.append(word % 2**12)
        word = next_state(word)
    given = {1: 0, 4: 2**12 - 1}
    items: list[Packet | Order] = [
        Packet(0, 0, 0, 0, False, 125, ECT0, given.get(n)) for n in range(8)
    ]
    items.insert(3, Order(0, READ))
    verdicts, _, _ = play(items, c)
    words = [given[n] if n in given else drawn[n] for n in range(8)]
    assert [verdict["red"] for verdict in verdicts] == [word < 2**11 for word in words]
    assert len({word < 2**11 for word in drawn}) == 2


def test_marks_are_what_was_asked_for() -> None:
    """k = 1: an outpacing packet as far as psn_rec is always marked, by Symphony alone."""
    verdicts, _, _ = play([Order(0, GIVE), LAGGING, AHEAD, LAGGING])
    assert [(v["mark"], v["symphony"], v["red"], v["outpacing"]) for v in verdicts] == [
        (0, 0, 0, 0),
        (1, 1, 0, 1),
        (0, 0, 0, 0),
    ]
    assert [v["ecn"] for v in verdicts] == [2, 3, 2]
