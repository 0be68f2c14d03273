"""The top behind its flat ports against the golden model: Ofan and pOfan, failures, lookups."""

from __future__ import annotations

import random
from types import SimpleNamespace
from typing import Any

import pytest
from amaranth.hdl import Cat
from hypothesis import given
from hypothesis import strategies as st

from models.ofan.config import PRESETS, OfanConfig
from models.ofan.lookup import LookupTable, aligned_destination
from models.ofan.masks import LinkChange, MaskWrite, SharedMasks, UplinkSets
from models.ofan.switch import UNROUTABLE, Ofan, Packet
from rtl.ofan.switch import Switch
from tb.bench import Bench, Traffic, exercise
from tb.ofan.reference import FEW, sweep_of

LINKS_DOWN = 0.6


def ports_of(dut: Switch) -> SimpleNamespace:
    """The flat ports as streams: tkeep above tdata is the payload."""

    def stream(name: str, *fields: str) -> SimpleNamespace:
        return SimpleNamespace(
            payload=Cat(getattr(dut, f"{name}_{field}") for field in fields),
            valid=getattr(dut, f"{name}_tvalid"),
            ready=getattr(dut, f"{name}_tready"),
        )

    both = ("tdata", "tkeep")
    ports = SimpleNamespace(i=stream("s_axis", *both), o=stream("m_axis", *both))
    for name in ("mask", "prefix"):
        if hasattr(dut, f"s_{name}_tdata"):
            setattr(ports, name, stream(f"s_{name}", "tdata"))
    return ports


def request_bits(c: OfanConfig, lanes: dict[int, tuple[int, int]], rng: random.Random) -> int:
    """A beat: {lane: (destination or address, size class)}, noise on the other lanes."""
    data = keep = 0
    for lane in range(c.lanes):
        where, size_class = lanes.get(lane, (0, 0))
        value = where | size_class << c.request_bits - c.class_bits
        if lane not in lanes:
            value = rng.getrandbits(c.request_bits)
        data |= value << lane * c.request_bits
        keep |= (lane in lanes) << lane
    return data | keep << c.lanes * c.request_bits


def answers_of(c: OfanConfig, bits: int) -> dict[int, int]:
    """{lane: uplink or UNROUTABLE} of the lanes with a packet."""
    keep = bits >> c.lanes * c.answer_bits
    found = {}
    for lane in range(c.lanes):
        if keep >> lane & 1:
            answer = bits >> lane * c.answer_bits
            stuck = answer >> c.uplink_bits & 1
            found[lane] = UNROUTABLE if stuck else answer & 2**c.uplink_bits - 1
    return found


class World:
    """The golden model, what its failures look like as writes, and the lookup in front of it."""

    def __init__(self, config: OfanConfig, own: int) -> None:
        self.config, self.own = config, own
        self.golden, self.table = Ofan(config), LookupTable(config)
        self.sets, self.masks = UplinkSets(config), SharedMasks(config)

    def serve(self, lanes: dict[int, tuple[int, int]]) -> dict[int, int]:
        packets = []
        for lane, (where, size_class) in lanes.items():
            destination = self.destination(where)
            if destination is not None:
                packets.append(Packet(lane, destination, size_class))
        return self.golden.serve_batch(packets)

    def destination(self, where: int) -> int | None:
        if self.config.lookup == "none":
            return where
        if self.config.lookup == "table":
            return self.table.destination(where)
        return aligned_destination(self.config, self.own, where)

    def fail(self, rng: random.Random) -> list[int]:
        """Change a link; return the writes that tell the switch; no batch may come between."""
        c = self.config
        up, u = rng.random() >= LINKS_DOWN, rng.randrange(c.uplinks)
        d = rng.choice([None, *range(c.destinations)])
        before = self.sets.sets.copy()
        self.sets.apply([LinkChange(d, u, up)])
        if len(set(self.sets.sets.tolist())) > c.masks:
            self.sets.sets = before  # the table has no room for it
            return []
        self.golden.set_uplink(d, u, up)
        return [write.tdata(c) for write in self.masks.update(self.sets.sets)]

    def fill(self, prefix: int, destination: int | None) -> int:
        """Write an entry of the lookup table; return the write's bits."""
        c = self.config
        self.table.write(prefix, destination)
        value = (destination or 0) | (destination is not None) << c.destination_bits
        return value | prefix << c.destination_bits + 1


def batch_of(c: OfanConfig, rng: random.Random) -> dict[int, tuple[int, int]]:
    where = c.request_bits - c.class_bits
    few = rng.choice([1, 2, 64])
    places = [
        rng.randrange(c.destinations) if c.lookup == "none" else rng.getrandbits(where)
        for _ in range(few)
    ]
    load = rng.choice([0.3, 0.8, 1])
    return {
        lane: (rng.choice(places), rng.randrange(c.size_classes))
        for lane in range(c.lanes)
        if rng.random() < load
    }


def check(config: OfanConfig, seed: int, settle: bool) -> None:
    """Healthy batches at full speed, then failures and table writes among batches with pauses."""
    rng = random.Random(seed)
    dut = Switch(config)
    ports = ports_of(dut)
    world = World(config, rng.getrandbits(config.prefix_bits))
    first = [batch_of(config, rng) for _ in range(25)]
    second = [batch_of(config, rng) for _ in range(25)]
    healthy = [world.serve(batch) for batch in first]
    writes: dict[int, list[tuple[Any, int]]] = {}
    failing = []
    for number, batch in enumerate(second):
        here = writes.setdefault(number, [])
        if config.lookup == "table":
            for prefix in range(1 << config.prefix_bits) if number == 0 else ():
                entry = world.fill(prefix, rng.choice([None, *range(config.destinations)]))
                here.append((ports.prefix, entry))
        if config.masks and rng.random() < 0.4:
            here += [(ports.mask, bits) for bits in world.fail(rng)]
        failing.append(world.serve(batch))
    fast, slow, after = exercise(
        dut,
        [request_bits(config, batch, rng) for batch in first],
        [request_bits(config, batch, rng) for batch in second],
        ports=ports,
        inputs=[(dut.own_prefix, world.own)] if config.lookup == "aligned" else [],
        writes=writes,
        wait=sweep_of(config),
        settle=settle,
        seed=seed,
    )
    assert [answers_of(config, bits) for bits in fast] == healthy
    assert [answers_of(config, bits) for bits in slow] == failing
    assert [answers_of(config, bits) for bits in after] == healthy


@st.composite
def switches(draw: Any) -> OfanConfig:
    lanes = draw(st.integers(1, 6))
    pipes = [None, *(width for width in range(1, lanes + 1) if lanes % width == 0)]
    return OfanConfig(
        lanes=lanes,
        uplinks=draw(st.integers(1, 7)),
        destinations=draw(st.integers(1, 6)),
        size_classes=draw(st.integers(1, 3)),
        pipe_lanes=draw(st.sampled_from(pipes)),
        order=draw(st.sampled_from(["plain", None])),
        init=draw(st.integers(0, 9)),
        masks=draw(st.sampled_from([0, 1, 2, 4])),
        ranks_per_stage=draw(st.integers(1, 3)),
    )


@FEW
@given(switches(), st.integers(0, 2**32))
def test_switch_is_the_golden_model(config: OfanConfig, seed: int) -> None:
    check(config, seed, settle=False)


@pytest.mark.parametrize("pipe_lanes", [None, 1])
@pytest.mark.parametrize("skip_own", [False, True])
@pytest.mark.parametrize("lookup", ["table", "aligned"])
def test_lookups(lookup: str, skip_own: bool, pipe_lanes: int | None) -> None:
    config = OfanConfig(
        lanes=3,
        uplinks=4,
        destinations=5,
        pipe_lanes=pipe_lanes,
        masks=0,
        lookup=lookup,
        host_bits=1,
        skip_own=skip_own,
    )
    for seed in range(2):
        check(config, seed, settle=lookup == "table")


def test_a_mask_write_stays_behind_the_batch_in_the_lookup() -> None:
    """A batch is taken, then all uplinks fail: it still has an uplink, the next batch has none."""
    config = OfanConfig(
        lanes=1, uplinks=2, destinations=2, masks=1, lookup="aligned", host_bits=0, size_classes=1
    )
    dut = Switch(config)
    ports = ports_of(dut)
    beat = request_bits(config, {0: (1, 0)}, random.Random(0))
    bench = Bench(dut, ports=ports, inputs=[(dut.own_prefix, 0)])
    writes = {1: [(ports.mask, MaskWrite(1, 0, 0).tdata(config))]}
    (run,) = bench.run(Traffic(beats=[beat] * 2, writes=writes, wait=sweep_of(config)))
    before, after = (answers_of(config, bits)[0] for bits in run.answers)
    assert after == UNROUTABLE
    assert before != UNROUTABLE


def test_ports_are_as_wide_as_the_configuration_says() -> None:
    for name in ("edge-k64", "agg-k32", "edge-k12", "pofan4-k16"):
        config = PRESETS[name]
        dut = Switch(config)
        assert len(dut.s_axis_tdata) == config.lanes * config.request_bits
        assert len(dut.m_axis_tdata) == config.lanes * config.answer_bits
        assert len(dut.s_axis_tkeep) == len(dut.m_axis_tkeep) == config.lanes
        value = max(config.uplinks, config.mask_bits)
        address = max(config.destination_bits, config.mask_bits)
        assert len(dut.s_mask_tdata) == value + address + 1


def test_ports_of_the_lookups() -> None:
    shape: dict[str, Any] = {"lanes": 2, "uplinks": 4, "destinations": 9}
    plain = Switch(OfanConfig(**shape, masks=0))
    table = Switch(OfanConfig(**shape, masks=0, lookup="table"))
    aligned = Switch(OfanConfig(**shape, lookup="aligned"))
    assert not hasattr(plain, "s_mask_tdata") and not hasattr(plain, "s_prefix_tdata")
    assert len(table.s_prefix_tdata) == 4 + 1 + 4
    assert len(aligned.own_prefix) == 4
    assert table.latency == plain.latency + 1
