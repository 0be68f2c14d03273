"""The paper's power claim: its energy, the traffic, and the engine whose toggles are counted."""

from __future__ import annotations

import numpy as np
import pytest

from models.ofan.config import preset
from models.ofan.switch import Ofan, Packet
from rtl.ofan.engine import pointer_engine
from synth.activity import STREAMS, Simulation
from synth.netlist import whole_netlist
from synth.power import (
    APART,
    ENERGY,
    KINDS,
    SortAndCombine,
    offers_of,
    served,
    sweep_cycles,
)


def test_energy_gives_the_papers_power_back() -> None:
    assert pytest.approx(6e-3) == ENERGY * 127_000 * 0.1 * 1e9
    assert pytest.approx(0.472e-15, rel=1e-3) == ENERGY


@pytest.mark.parametrize("kind", KINDS)
def test_traffic_has_its_load(kind: str) -> None:
    c = preset("edge-k12-queued")
    offers = offers_of(c, kind, 82)
    payload, valid = offers["i__payload"], offers["i__valid"]
    assert payload.shape == (STREAMS, 82, c.lanes * (c.request_bits + 1))
    assert valid.shape == (STREAMS, 82, 1)
    there = payload[:, :, c.request_bits :: c.request_bits + 1]
    assert ((there.any(axis=2, keepdims=True)) == valid).all()
    load = there.mean()
    if kind == "permutation":
        assert 0.8 * 2 / 41 < load <= 2 / 41  # less what stays below the switch
    elif kind == "random-100":
        assert load == 1
    else:
        assert 0.8 < load <= 1
    assert len({stream.tobytes() for stream in payload}) == STREAMS


@pytest.mark.parametrize("kind", KINDS)
def test_the_mapped_engine_gives_the_answers_of_the_golden_model(kind: str) -> None:
    """Of some of the 64 streams, lane by lane, in order: the netlist is the engine."""
    c = preset("edge-k12-queued", masks=0)
    cycles, wait = 123, sweep_cycles(c)
    offers = offers_of(c, kind, cycles)
    netlist = whole_netlist(pointer_engine(c, 0), APART)
    simulation = Simulation(netlist, {"rst": 0, "o__ready": 1, "stall": 0})
    _, seen = simulation.run(offers, ready="i__ready", idle=wait)
    answered = 0
    for stream in range(0, STREAMS, 21):
        bit = np.uint64(stream)
        valid = (simulation.words(seen, "o__valid")[:, 0] >> bit) & np.uint64(1)
        payload = (simulation.words(seen, "o__payload") >> bit) & np.uint64(1)
        lanes = payload.reshape(len(seen), c.lanes, c.answer_bits + 1)
        given = [
            [
                int(at[:-2] @ (1 << np.arange(c.uplink_bits)))
                for at in lanes[valid == 1, lane]
                if at[-1]
            ]
            for lane in range(c.lanes)
        ]
        model = Ofan(c)
        expected: list[list[int]] = [[] for _ in range(c.lanes)]
        for beat in offers["i__payload"][stream]:
            fields = beat.reshape(c.lanes, c.request_bits + 1)
            packets = [
                Packet(
                    lane,
                    int(at[: c.destination_bits] @ (1 << np.arange(c.destination_bits))),
                    int(at[c.destination_bits]),
                )
                for lane, at in enumerate(fields)
                if at[-1]
            ]
            for lane, uplink in model.serve_batch(packets).items():
                expected[lane].append(uplink)
        for lane in range(c.lanes):
            assert given[lane] == expected[lane][: len(given[lane])]
        answered += sum(map(len, given))
    assert answered > 100
    assert served(simulation, seen, c) > answered


def test_the_mapped_stages_sort_and_combine_find_the_groups_of_a_batch() -> None:
    c = preset("edge-k12", masks=0)
    stages = SortAndCombine(c)
    latency = stages.sort.latency + stages.combine.latency
    offers = offers_of(c, "permutation", 123, keyed=True)
    simulation = Simulation(whole_netlist(SortAndCombine(c), APART), {"rst": 0, "o__ready": 1})
    _, seen = simulation.run(offers, ready="i__ready")
    bit = np.uint64(5)
    field = stages.o.payload.shape()["master"]
    masters = (simulation.words(seen, "o__payload") >> bit) & np.uint64(1)
    masters = masters[latency:, field.offset : field.offset + field.width].sum(axis=1)
    lanes = offers["i__payload"][5, :-latency, 1:].reshape(-1, c.lanes, 1 + c.key_bits)
    groups = [len({at[1:].tobytes() for at in batch if at[0]}) for batch in lanes]
    assert sum(groups) > 10
    beats = offers["i__valid"][5, :-latency, 0] == 1
    assert masters[beats].tolist() == np.array(groups)[beats].tolist()
