"""What must pass between the blocks of Ofan's pipeline, from the models, and small switches.

A beat is a nested dict as a payload's shape takes it. Fields that mean nothing (those of idle
lanes, a base that is not a master's) are left out: they are not compared, and `noisy` puts noise
in them on the way into a block.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from amaranth.hdl import Shape
from amaranth.lib import data
from hypothesis import Phase, settings
from hypothesis import strategies as st

from models.ofan.config import OfanConfig
from models.ofan.masks import MaskWrite, SharedMasks
from models.ofan.pipeline import Pipeline
from models.ofan.switch import UNROUTABLE
from models.ofan.unsort import unsort
from tb.bench import exercise

Batch = list[tuple[int, int] | None]
Beat = dict[str, Any]

FENCE: Beat = {"fence": 1}
"""A beat that announces a change of the mask tables: no packets, noise on every lane."""


FEW = settings(max_examples=8, phases=[Phase.explicit, Phase.reuse, Phase.generate])
"""For tests that simulate: few examples, and no shrinking, which would take minutes."""


def sweep_of(c: OfanConfig) -> int:
    """Cycles after a reset in which some memory of the switch is still being swept."""
    return max(c.keys + 1, c.masks, 1 << c.prefix_bits if c.lookup == "table" else 0)


@st.composite
def configs(draw: Any, **fixed: Any) -> OfanConfig:
    """Small switches of every kind."""
    lanes = fixed.get("lanes", draw(st.integers(1, 8)))
    w = fixed.get("uplinks", draw(st.integers(1, 8)))
    networks = ["bitonic", "odd-even-merge", *(["best"] if lanes == 8 else [])]
    return OfanConfig(
        **{
            "lanes": lanes,
            "uplinks": w,
            "destinations": draw(st.integers(1, 9)),
            "size_classes": draw(st.integers(1, 3)),
            "order": draw(st.sampled_from(["plain", None])),
            "init": draw(st.sampled_from(["zero", 1, 2, 3])),
            "masks": draw(st.integers(0, 4)),
            "network": draw(st.sampled_from(networks)),
            "ranks_per_stage": draw(st.integers(1, 3)),
            **fixed,
        }
    )


def named_batches(c: OfanConfig) -> dict[str, list[Batch]]:
    """Batches that a random draw would seldom give; a list of them is served in a row."""
    lanes, keys = range(c.lanes_per_pipe), range(c.keys)

    def packet(key: int) -> tuple[int, int]:
        return key % c.destinations, key // c.destinations

    empty: Batch = [None for _ in lanes]
    return {
        "all one key, until the pointer wraps": [[packet(0) for _ in lanes]] * (c.uplinks + 1),
        "all distinct as far as there are keys": [[packet(lane % c.keys) for lane in lanes]] * 3,
        "all distinct, falling": [[packet(-1 - lane % c.keys + c.keys) for lane in lanes]] * 2,
        "empty": [empty] * 2,
        "last key, last lane alone": [[*empty[1:], packet(keys[-1])]] * 2,
        "group sizes from 1": [
            [packet(keys[-1]) if lane < size else None for lane in lanes]
            for size in range(1, c.lanes_per_pipe + 1)
        ],
    }


def random_batches(c: OfanConfig, rng: random.Random, count: int) -> list[Batch]:
    """`count` batches; some full, some thin, some of few keys, so groups of all sizes meet."""
    batches = []
    for _ in range(count):
        load, few = rng.choice([0.2, 0.7, 1.0]), rng.choice([1, 2, c.keys])
        chosen = [rng.randrange(c.keys) for _ in range(few)]
        batch: Batch = []
        for _ in range(c.lanes_per_pipe):
            key = rng.choice(chosen)
            here = rng.random() < load
            batch.append((key % c.destinations, key // c.destinations) if here else None)
        batches.append(batch)
    return batches


def random_write(c: OfanConfig, rng: random.Random) -> MaskWrite:
    """A change of the mask tables; sets with all and with no uplinks are frequent."""
    if rng.random() < 0.4:
        return MaskWrite(0, rng.randrange(c.destinations), rng.randrange(c.masks))
    everything = 2**c.uplinks - 1
    value = rng.choice([0, everything, rng.randint(0, everything), rng.randint(0, everything)])
    return MaskWrite(1, rng.randrange(c.masks), value)


def write_fields(write: MaskWrite) -> Beat:
    """A mask write as the payload of a write stream."""
    return {"select": write.select, "address": write.address, "value": write.value}


def request_fields(packet: tuple[int, int] | None) -> Beat:
    """A lane of a batch as it arrives."""
    if packet is None:
        return {"valid": 0}
    return {"valid": 1, "destination": packet[0], "size_class": packet[1]}


def answer_fields(uplink: int | None) -> Beat:
    """A lane's answer."""
    if uplink is None:
        return {"valid": 0}
    if uplink == UNROUTABLE:
        return {"valid": 1, "unroutable": 1}
    return {"valid": 1, "unroutable": 0, "uplink": uplink}


@dataclass(frozen=True)
class Beats:
    """One batch on its way: what leaves each block, and goes into the next one."""

    requests: list[Beat]
    batch: Beat
    sort: Beat
    combine: Beat
    masks: Beat
    update: Beat
    decombine: Beat
    unsort: Beat


class Reference:
    """The models of one pipe, and the mask tables in front of them."""

    def __init__(self, config: OfanConfig, pipe: int = 0) -> None:
        self.config = config
        self.pipeline = Pipeline(config, pipe)
        self.masks = SharedMasks(config)

    def write(self, write: MaskWrite) -> None:
        """Change the mask tables."""
        self.masks.write(write)
        self.pipeline.sets = [self.masks.set_of(d) for d in range(self.config.destinations)]

    def serve(self, batch: Batch) -> Beats:
        """Serve a batch, step by step."""
        c = self.config
        steps = self.pipeline.steps(batch)
        names = ("sort", "combine", "masks", "update", "decombine")
        beats: dict[str, list[Beat]] = {name: [] for name in names}
        for item, member, valid, base, uplink in zip(
            steps.items, steps.members, steps.valid, steps.fetched, steps.uplinks, strict=True
        ):
            if item.key is None or member is None or valid is None:
                idle = {"valid": 0, "lane": item.lane}
                for name in names:
                    unasked = {} if name in ("sort", "decombine") else {"master": 0}
                    beats[name].append(idle | unasked)
                continue
            packet: Beat = {"valid": 1, "key": item.key, "lane": item.lane}
            beats["sort"].append(packet)
            counted = packet | {"master": int(member.master)}
            beats["combine"].append(counted | {"position": member.position})
            masked = counted
            if c.masks:
                masked = masked | {"ways": len(valid)}
                if len(valid) < c.uplinks:  # the mask has no meaning where all are valid
                    masked = masked | {"mask": sum(1 << i for i in valid)}
            if valid:
                masked = masked | {"turn": member.position % len(valid)}
            beats["masks"].append(masked)
            fetched = {"base": base} if valid and base is not None else {}
            beats["update"].append(masked | fetched)
            beats["decombine"].append({"lane": item.lane} | answer_fields(uplink))
        by_lane = unsort([item.lane for item in steps.items], steps.uplinks)
        keys = [None if packet is None else c.key(*packet) for packet in batch]
        return Beats(
            requests=[request_fields(packet) for packet in batch],
            batch={"lanes": [{"valid": 0} if k is None else {"valid": 1, "key": k} for k in keys]},
            unsort={"lanes": [answer_fields(uplink) for uplink in by_lane]},
            **{name: {"items": items} for name, items in beats.items()},
        )


def noise(shape: Any, known: Any, rng: random.Random) -> Any:
    """Return a constant of `shape`: what is `known`, other fields random, but valid and master 0.

    A beat is without `fence` unless it says so.
    """
    quiet = {"valid", "master", "fence"}
    shape = getattr(shape, "by_lane", shape)
    if isinstance(shape, data.StructLayout):
        known = known or {}
        return {
            name: 0
            if name in quiet and name not in known
            else noise(field.shape, known.get(name), rng)
            for name, field in shape
        }
    if isinstance(shape, data.ArrayLayout):
        known = known or [None] * shape.length
        return [noise(shape.elem_shape, value, rng) for value in known]
    return rng.getrandbits(Shape.cast(shape).width) if known is None else known


def differences(expected: Any, found: Any, path: str = "") -> list[str]:
    """Return where `found`, a constant of a layout, is not as `expected`, which may be partial."""
    if isinstance(expected, dict):
        pairs = [(f"{path}.{name}", value, found[name]) for name, value in expected.items()]
    elif isinstance(expected, list):
        pairs = [(f"{path}[{n}]", value, found[n]) for n, value in enumerate(expected)]
    else:
        return [] if expected == found else [f"{path} is {found}, not {expected}"]
    return [text for where, value, got in pairs for text in differences(value, got, where)]


def noisy(dut: Any, beats: Sequence[Any], rng: random.Random) -> list[Any]:
    """Return beats as payloads of the component's `i`, with noise where they say nothing."""
    shape = dut.i.payload.shape()
    return [noise(shape, beat, rng) for beat in beats]


def assert_beats(expected: Sequence[Any], found: Sequence[Any]) -> None:
    """Assert that the beats are as expected, as far as that says anything about them."""
    assert len(found) == len(expected)
    for number, (want, got) in enumerate(zip(expected, found, strict=True)):
        wrong = differences(want, got)
        assert not wrong, f"beat {number}: {'; '.join(wrong)}\nexpected {want}"


def check_between_writes(
    dut: Any, batches: Sequence[Batch], seed: int, taken: str, given: str
) -> None:
    """Serve the batches once as they are, and once with changes of the masks between them.

    `taken` and `given` name the blocks of `Beats` whose output `dut` takes, and whose it is.
    """
    config: OfanConfig = dut.config
    reference, rng = Reference(config, getattr(dut, "pipe", 0)), random.Random(seed)
    healthy = [reference.serve(batch) for batch in batches]
    failing = []
    for batch in batches:
        if config.masks:
            reference.write(random_write(config, rng))
        failing.append(reference.serve(batch))
    first = noisy(dut, [getattr(beats, taken) for beats in healthy], rng)
    second = noisy(dut, [FENCE, *(getattr(beats, taken) for beats in failing)], rng)
    fast, slow, after = exercise(dut, first, second, seed=seed)
    assert [beat.fence for beat in slow] == [1, *[0] * len(failing)]
    assert_beats([getattr(beats, given) for beats in healthy], fast)
    assert_beats([getattr(beats, given) for beats in failing], slow[1:])
    assert_beats([getattr(beats, given) for beats in healthy], after)
