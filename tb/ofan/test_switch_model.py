"""Properties of the golden model: one packet at a time, sections 4 and 5 and appendix I."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from models.common.mix import mix64
from models.ofan.config import OfanConfig
from models.ofan.order import pi
from models.ofan.switch import UNROUTABLE, Ofan, Packet, class_offset, initial_pointer

Draw = Any


@st.composite
def configs(draw: Draw, **fixed: Any) -> OfanConfig:
    """Small switches of every kind: w odd and even, any order, any start, Ofan and pOfan."""
    lanes = draw(st.integers(1, 8))
    w = draw(st.integers(1, 9))
    widths = [None, *(pipe for pipe in range(1, lanes + 1) if lanes % pipe == 0)]
    order = draw(st.one_of(st.just("plain"), st.none(), st.permutations(range(w)).map(tuple)))
    return OfanConfig(
        **{
            "lanes": lanes,
            "uplinks": w,
            "destinations": draw(st.integers(1, 5)),
            "size_classes": draw(st.integers(1, 8)),
            "pipe_lanes": draw(st.sampled_from(widths)),
            "order": order,
            "init": draw(st.one_of(st.just("zero"), st.integers(0, 2**64 - 1))),
            **fixed,
        }
    )


def packets_of(config: OfanConfig, most: int = 60) -> st.SearchStrategy[list[Packet]]:
    return st.lists(
        st.builds(
            Packet,
            lane=st.integers(0, config.lanes - 1),
            destination=st.integers(0, config.destinations - 1),
            size_class=st.integers(0, config.size_classes - 1),
        ),
        max_size=most,
    )


configs_and_packets = configs().flatmap(lambda c: st.tuples(st.just(c), packets_of(c)))


def order_of(config: OfanConfig, identifier: int) -> list[int]:
    """The uplinks of one pointer, by position."""
    assert config.order is not None
    return [pi(config.order, config.uplinks, identifier, i) for i in range(config.uplinks)]


def answers_by_pointer(
    switch: Ofan, packets: list[Packet]
) -> dict[tuple[int, int, int], list[int]]:
    """Serve packets in order; the answers of each (pipe, destination, size class)."""
    width = switch.config.pipe_lanes or switch.config.lanes
    found = defaultdict(list)
    for packet in packets:
        pointer = (packet.lane // width, packet.destination, packet.size_class)
        found[pointer].append(switch.serve(packet))
    return found


def test_worked_example_of_appendix_i() -> None:
    """Three packets to one edge switch, pointer at 1: ports 1, 2, 3, and the pointer at 4."""
    config = OfanConfig(lanes=32, uplinks=32, destinations=2048, order="plain", init="zero")
    switch = Ofan(config)
    assert switch.serve(Packet(lane=0, destination=77)) == 0
    assert switch.pointers[0, 77] == 1
    batch = [Packet(lane, 77) for lane in (3, 17, 30)]
    others = [Packet(lane, 1000 + lane) for lane in range(32) if lane not in (3, 17, 30)]
    answers = switch.serve_batch(others + batch)
    assert [answers[lane] for lane in (3, 17, 30)] == [1, 2, 3]
    assert switch.pointers[0, 77] == 4
    assert all(answers[packet.lane] == 0 for packet in others)


def test_pointer_wraps_modulo_w_also_where_w_is_no_power_of_two() -> None:
    config = OfanConfig(lanes=6, uplinks=6, destinations=72, order="plain", init="zero")
    switch = Ofan(config)
    ports = [switch.serve(Packet(0, 5)) for _ in range(8)]
    assert ports == [0, 1, 2, 3, 4, 5, 0, 1]
    assert switch.pointers[0, 5] == 2


@given(configs_and_packets)
def test_jth_packet_of_a_key_leaves_at_pi_of_its_start_plus_j(
    case: tuple[OfanConfig, list[Packet]],
) -> None:
    config, packets = case
    for (pipe, d, t), answers in answers_by_pointer(Ofan(config), packets).items():
        start = initial_pointer(config, pipe, d, t)
        order = order_of(config, d + config.destinations * t)
        assert answers == [order[(start + j) % config.uplinks] for j in range(len(answers))]


@given(configs_and_packets)
def test_every_w_consecutive_packets_of_a_key_use_each_uplink_once(
    case: tuple[OfanConfig, list[Packet]],
) -> None:
    config, packets = case
    w = config.uplinks
    for answers in answers_by_pointer(Ofan(config), packets * 3).values():
        for first in range(len(answers) - w + 1):
            assert sorted(answers[first : first + w]) == list(range(w))


@given(configs(), st.data())
def test_with_failures_each_valid_uplink_once_a_round(config: OfanConfig, data: Draw) -> None:
    w = config.uplinks
    valid = data.draw(st.sets(st.integers(0, w - 1), min_size=1))
    packet = Packet(
        data.draw(st.integers(0, config.lanes - 1)),
        data.draw(st.integers(0, config.destinations - 1)),
        data.draw(st.integers(0, config.size_classes - 1)),
    )
    switch = Ofan(config)
    for uplink in set(range(w)) - valid:
        switch.set_uplink(packet.destination, uplink, up=False)
    answers = [switch.serve(packet) for _ in range(3 * len(valid))]
    for first in range(len(answers) - len(valid) + 1):
        assert sorted(answers[first : first + len(valid)]) == sorted(valid)
    # and in the order of the rotation, with the others left out
    identifier = packet.destination + config.destinations * packet.size_class
    pipe = packet.lane // (config.pipe_lanes or config.lanes)
    start = initial_pointer(config, pipe, packet.destination, packet.size_class)
    order = order_of(config, identifier)
    left = [u for u in order[start:] + order[:start] if u in valid]
    assert answers == left * 3


@given(configs(), st.data())
def test_unroutable_packets_leave_the_pointer_alone(config: OfanConfig, data: Draw) -> None:
    before = data.draw(packets_of(config, most=10))
    destination = data.draw(st.integers(0, config.destinations - 1))
    after = data.draw(packets_of(config, most=10))
    broken, healthy = Ofan(config), Ofan(config)
    for packet in before:
        assert broken.serve(packet) == healthy.serve(packet)
    for uplink in range(config.uplinks):
        broken.set_uplink(destination, uplink, up=False)
    pointers = dict(broken.pointers)
    for lane in range(config.lanes):
        for t in range(config.size_classes):
            assert broken.serve(Packet(lane, destination, t)) == UNROUTABLE
    assert broken.pointers == pointers
    for uplink in range(config.uplinks):
        broken.set_uplink(destination, uplink, up=True)
    assert [broken.serve(p) for p in after] == [healthy.serve(p) for p in after]


@given(configs(destinations=4), st.data())
def test_a_failure_of_one_destination_is_no_failure_of_another(
    config: OfanConfig, data: Draw
) -> None:
    broken, healthy = Ofan(config), Ofan(config)
    for uplink in data.draw(st.sets(st.integers(0, config.uplinks - 1))):
        broken.set_uplink(2, uplink, up=False)
    for packet in data.draw(packets_of(config)):
        answer = broken.serve(packet)
        if packet.destination != 2:
            assert answer == healthy.serve(packet)


@given(configs(), st.data())
def test_a_failure_without_destination_holds_for_all(config: OfanConfig, data: Draw) -> None:
    down = data.draw(st.sets(st.integers(0, config.uplinks - 1)))
    packets = data.draw(packets_of(config))
    at_once, one_by_one = Ofan(config), Ofan(config)
    for uplink in down:
        at_once.set_uplink(None, uplink, up=False)
        for destination in range(config.destinations):
            one_by_one.set_uplink(destination, uplink, up=False)
    answers = [at_once.serve(packet) for packet in packets]
    assert answers == [one_by_one.serve(packet) for packet in packets]
    assert not set(answers) & down
    assert (UNROUTABLE in answers) == (len(down) == config.uplinks and bool(packets))


def test_an_uplink_that_went_down_twice_is_up_after_one_up() -> None:
    switch = Ofan(OfanConfig(lanes=1, uplinks=2, destinations=2, order="plain", init="zero"))
    switch.set_uplink(1, 0, up=False)
    switch.set_uplink(None, 0, up=False)
    assert not switch.reaches(0, 0) and not switch.reaches(0, 1)
    switch.set_uplink(1, 0, up=True)
    assert switch.reaches(0, 1) and not switch.reaches(0, 0)


@given(configs(size_classes=2))
def test_ack_pointers_start_half_a_rotation_after_the_data_pointers(config: OfanConfig) -> None:
    switch, w = Ofan(config), config.uplinks
    for pipe in range(config.pipes):
        for d in range(config.destinations):
            data = switch.pointers[pipe, d]
            ack = switch.pointers[pipe, d + config.destinations]
            assert ack == (data + w // 2) % w
            assert config.init != "zero" or data == 0


def test_offsets_of_further_classes_spread_over_the_rotation() -> None:
    assert [class_offset(t, 32) for t in range(8)] == [0, 16, 8, 24, 4, 20, 12, 28]
    assert [class_offset(t, 6) for t in range(4)] == [0, 3, 1, 4]
    for w in range(8, 65):
        assert len({class_offset(t, w) for t in range(8)}) == 8
    for w in range(1, 65):
        assert class_offset(1, w) == w // 2


class SplitMix64:
    """The published generator, written as its author does: add the gamma, then mix."""

    def __init__(self, seed: int) -> None:
        self.state = seed

    def skip(self, count: int) -> None:
        self.state = (self.state + count * 0x9E3779B97F4A7C15) % 2**64

    def next(self) -> int:
        self.skip(1)
        z = self.state
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB % 2**64
        return z ^ (z >> 31)


def test_mix_is_splitmix64s_published_output() -> None:
    gamma = 0x9E3779B97F4A7C15
    expected = [6457827717110365317, 3203168211198807973, 9817491932198370423]
    generator = SplitMix64(1234567)
    assert [generator.next() for _ in range(3)] == expected
    assert [mix64((1234567 + i * gamma) % 2**64) for i in (1, 2, 3)] == expected


@given(configs(), st.data())
def test_random_start_is_the_documented_formula(config: OfanConfig, data: Draw) -> None:
    """Draw a = pipe·2^32 + d of the stream that the seed's own first draw seeds."""
    assume(config.init != "zero")
    pipe = data.draw(st.integers(0, config.pipes - 1))
    d = data.draw(st.integers(0, config.destinations - 1))
    stream = SplitMix64(SplitMix64(int(config.init)).next())
    stream.skip(pipe * 2**32 + d)
    expected = (stream.next() // 2**32) * config.uplinks // 2**32
    assert initial_pointer(config, pipe, d, 0) == expected
    assert Ofan(config).pointers[pipe, d] == expected


def test_random_starts_are_even_and_differ_by_seed_pipe_and_destination() -> None:
    config = OfanConfig(lanes=32, uplinks=32, destinations=2048, pipe_lanes=4, init=5)
    starts = [[initial_pointer(config, pipe, d, 0) for d in range(2048)] for pipe in range(8)]
    counts = Counter(start for row in starts for start in row)
    mean = 8 * 2048 / 32
    chi_square = sum((counts[start] - mean) ** 2 / mean for start in range(32))
    assert chi_square < 31 + 5 * (2 * 31) ** 0.5
    assert len({tuple(row) for row in starts}) == 8
    other = replace(config, init=6)
    same = sum(initial_pointer(other, 0, d, 0) == starts[0][d] for d in range(2048))
    assert same < 2048 / 32 * 2


@given(configs_and_packets)
def test_pipes_do_not_see_each_other(case: tuple[OfanConfig, list[Packet]]) -> None:
    config, packets = case
    together = answers_by_pointer(Ofan(config), packets)
    width = config.pipe_lanes or config.lanes
    for pipe in range(config.pipes):
        own = [packet for packet in packets if packet.lane // width == pipe]
        alone = answers_by_pointer(Ofan(config), own)
        assert alone == {pointer: a for pointer, a in together.items() if pointer[0] == pipe}


@given(configs_and_packets)
def test_one_pipe_of_all_lanes_is_ofan(case: tuple[OfanConfig, list[Packet]]) -> None:
    config, packets = case
    shared = Ofan(replace(config, pipe_lanes=None))
    one_pipe = Ofan(replace(config, pipe_lanes=config.lanes))
    assert [shared.serve(p) for p in packets] == [one_pipe.serve(p) for p in packets]


@given(configs(), st.data())
def test_a_batch_is_served_in_lane_order_however_it_is_given(
    config: OfanConfig, data: Draw
) -> None:
    packets = data.draw(packets_of(config).map(lambda p: list({q.lane: q for q in p}.values())))
    shuffled = data.draw(st.permutations(packets))
    one_by_one = Ofan(config)
    expected = {p.lane: one_by_one.serve(p) for p in sorted(packets, key=lambda p: p.lane)}
    batch = Ofan(config)
    assert batch.serve_batch(shuffled) == expected
    assert batch.pointers == one_by_one.pointers


def test_empty_batch() -> None:
    switch = Ofan(OfanConfig(lanes=4, uplinks=4, destinations=32))
    before = dict(switch.pointers)
    assert switch.serve_batch([]) == {}
    assert switch.pointers == before


@pytest.mark.parametrize("w", [5, 6, 8])
def test_classes_of_a_destination_have_pointers_of_their_own(w: int) -> None:
    switch = Ofan(OfanConfig(lanes=w, uplinks=w, destinations=3, order="plain", init="zero"))
    mixed = [switch.serve(Packet(0, 1, size_class=j % 2)) for j in range(2 * w)]
    assert mixed[::2] == list(range(w))
    assert mixed[1::2] == [(w // 2 + j) % w for j in range(w)]
