"""The traffic of the study of pointer engines: what the lanes of a switch bring, cycle by cycle.

At line rate a lane brings one data packet and one ACK in each period: the time of a data packet and
its gap, rounded down to whole cycles, so that the load is never below line rate (a data packet and
an ACK together take 2 % longer than a data packet alone). Packets that do not go up leave no trace.

Everything is drawn from a seed, anew for each case, and follows from the seed and the shape of the
switch alone: an edge switch, or where the config leaves out the own destination an aggregation
switch, of the three-level fat tree of 2·lanes-port switches.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from models.fabric.fattree import FatTree
from models.ofan.bound import BoundSettings
from models.ofan.config import OfanConfig
from models.ofan.place import place

CLOCK_GHZ = 1
"""The paper's clock."""
LINK = BoundSettings()
"""Sizes and rate of section 6: 4,096 + 62 B of data, 64 B of ACK, gaps of 20 B, 800 Gb/s."""
PERIOD = int((LINK.data_time + LINK.gap_time) * CLOCK_GHZ)
"""Cycles between two data packets of a lane at line rate: ⌊4,178 B · 8 / 800 Gb/s · 1 GHz⌋ = 41."""

LOADS = tuple(range(5, 101, 5))
"""Loads of the random traffic, %."""


@dataclass(frozen=True, kw_only=True)
class Size:
    """How much of each kind of traffic is made."""

    cases: int
    """Permutations, and cases of the other kinds at line rate."""
    periods: int
    """Of a case in which all of them are alike."""
    drifts: int
    """Of a case in which they are not."""
    cycles: int
    """Of random traffic and storms."""


FULL = Size(cases=300, periods=8, drifts=50, cycles=10_000)
QUICK = Size(cases=10, periods=4, drifts=10, cycles=300)

Rng = np.random.Generator
Cases = Iterator[np.ndarray]
"""Arrays [cycles, lanes] of keys, -1 where a lane is idle."""


@dataclass(frozen=True)
class Traffic:
    """One kind of traffic."""

    name: str
    says: str
    """What it is, for the docs."""
    cases: Callable[[OfanConfig, Size], Cases]
    of_banks: bool = False
    """Whether it depends on the engine: on where its banks keep which key."""
    full: bool = False
    """Whether every cycle has a batch: cycles a batch are those at saturation."""


class Hosts:
    """Where the packets of one case come from: a switch and the host whose packet each lane brings
    in each period.

    At an edge switch a lane is a host. At an aggregation switch it is an edge switch of the pod,
    which sends packets of its hosts in turn, in an order of its own.
    """

    def __init__(self, config: OfanConfig, rng: Rng, periods: int) -> None:
        self.config, self.rng = config, rng
        self.tree = FatTree(2 * config.lanes)
        w = config.lanes
        if config.skip_own:
            self.own = int(rng.integers(self.tree.radix))
            turns = np.argsort(rng.random((w, w)), axis=1)[:, np.arange(periods) % w].T
            self.host = (self.own * w + np.arange(w)) * w + turns
        else:
            self.own = int(rng.integers(self.tree.edges))
            self.host = np.broadcast_to(self.own * w + np.arange(w), (periods, w))

    def keys(self, target: np.ndarray, size_class: int) -> np.ndarray:
        """Return the keys of packets to hosts `target`, -1 for those that do not go up."""
        switch = self.tree.edge_of(target)
        if self.config.skip_own:
            switch = self.tree.pod_of(switch)
        number = self.tree.other_pod(switch, self.own) if self.config.skip_own else switch
        return np.where(switch == self.own, -1, self.config.key(0, size_class) + number)

    def permutation(self) -> np.ndarray:
        """Return whom each host of the tree sends to; none of this switch's sends to itself."""
        while True:
            drawn = self.rng.permutation(self.tree.hosts)
            if (drawn[self.host] != self.host).all():
                return drawn


def at_line_rate(
    rng: Rng, data: np.ndarray, acks: np.ndarray, *, drift: bool = False, in_step: bool = False
) -> np.ndarray:
    """Return the cycles of keys [periods, lanes] of data and of ACKs.

    A lane's data comes in a cycle of the period drawn for it, its ACK in another one; with `drift`
    both are drawn anew for each period, `in_step` they are the same for all lanes.
    """
    periods, lanes = data.shape
    phase = rng.integers(PERIOD, size=(periods if drift else 1, 1 if in_step else lanes))
    behind = rng.integers(1, PERIOD, size=phase.shape)
    keys = np.full((periods, PERIOD, lanes), -1)
    at, lane = np.indices((periods, lanes))
    keys[at, np.broadcast_to(phase, data.shape), lane] = data
    keys[at, np.broadcast_to((phase + behind) % PERIOD, data.shape), lane] = acks
    return keys.reshape(-1, lanes)


def _permutation(config: OfanConfig, size: Size) -> Cases:
    for case in range(size.cases):
        yield _permuted(config, np.random.default_rng([1, case]), size.periods)


def _drift(config: OfanConfig, size: Size) -> Cases:
    for case in range(size.cases):
        yield _permuted(config, np.random.default_rng([2, case]), size.drifts, drift=True)


def _in_step(config: OfanConfig, size: Size) -> Cases:
    for case in range(size.cases):
        yield _permuted(config, np.random.default_rng([3, case]), size.periods, in_step=True)


def _permuted(config: OfanConfig, rng: Rng, periods: int, **phases: bool) -> np.ndarray:
    hosts = Hosts(config, rng, periods)
    to = hosts.permutation()
    back = np.argsort(to)
    data, acks = hosts.keys(to[hosts.host], 0), hosts.keys(back[hosts.host], 1)
    return at_line_rate(rng, data, acks, **phases)


def _all_to_all(config: OfanConfig, size: Size) -> Cases:
    for case in range(size.cases):
        rng = np.random.default_rng([4, case])
        hosts = Hosts(config, rng, size.drifts)
        many = hosts.tree.hosts
        away = rng.integers(1, many) + np.arange(size.drifts)[:, None]
        data = hosts.keys((hosts.host + away) % many, 0)
        yield at_line_rate(rng, data, hosts.keys((hosts.host - away) % many, 1))


def _ring(config: OfanConfig, size: Size) -> Cases:
    for case in range(size.cases):
        rng = np.random.default_rng([5, case])
        hosts = Hosts(config, rng, size.periods)
        many, pod = hosts.tree.hosts, hosts.tree.half**2
        data = hosts.keys((hosts.host + pod) % many, 0)
        yield at_line_rate(rng, data, hosts.keys((hosts.host - pod) % many, 1))


def _moe(config: OfanConfig, size: Size) -> Cases:
    for case in range(size.cases):
        rng = np.random.default_rng([6, case])
        hosts = Hosts(config, rng, size.drifts)
        many, shape = hosts.tree.hosts, hosts.host.shape
        ranking = rng.permutation(many)
        data = hosts.keys(ranking[(many ** rng.random(shape)).astype(np.int64) - 1], 0)
        acks = hosts.keys(rng.integers(many, size=shape), 1)
        yield at_line_rate(rng, data, acks, drift=True)


def _storm(config: OfanConfig, size: Size) -> Cases:
    for case in range(size.cases // 3):
        hosts = Hosts(config, np.random.default_rng([7, case]), size.cycles // 40)
        yield hosts.keys(hosts.permutation()[hosts.host], 0)


def _random(load: int) -> Callable[[OfanConfig, Size], Cases]:
    def cases(config: OfanConfig, size: Size) -> Cases:
        rng = np.random.default_rng([8, load])
        shape = (size.cycles, config.lanes)
        keys = rng.integers(config.keys, size=shape)
        yield np.where(rng.random(shape) < load / 100, keys, -1)

    return cases


def _fullest_bank(config: OfanConfig) -> np.ndarray:
    """Return the keys of a bank that has the most."""
    bank, _ = place(np.arange(config.keys), config.engine.banks)
    return np.flatnonzero(bank == np.bincount(bank).argmax())


def _repeated(config: OfanConfig, size: Size, keys: np.ndarray) -> Cases:
    yield np.tile(np.resize(keys, config.lanes), (size.cycles // 40, 1))


def _one_bank(config: OfanConfig, size: Size) -> Cases:
    return _repeated(config, size, _fullest_bank(config))


def _alternating(config: OfanConfig, size: Size) -> Cases:
    return _repeated(config, size, _fullest_bank(config)[:2])


def _one_key(config: OfanConfig, size: Size) -> Cases:
    return _repeated(config, size, np.zeros(1, np.int64))


TRAFFIC: dict[str, Traffic] = {
    traffic.name: traffic
    for traffic in (
        Traffic(
            "permutation",
            "each host sends to one host and receives from one (section 2.1), each lane at a phase "
            "of its own",
            _permutation,
        ),
        Traffic("drift", "the same, phases drawn anew in each period", _drift),
        Traffic("in-step", "the same, all lanes at the same phase", _in_step),
        Traffic(
            "all-to-all",
            "packet i of host h goes to host h + i, from an i on that is drawn",
            _all_to_all,
        ),
        Traffic("ring", "each host sends to the host at its place in the next pod", _ring),
        Traffic(
            "moe",
            "data to hosts of which the r-th most popular is drawn with probability "
            "log((r + 1) / r) / log n, ACKs to hosts drawn evenly; phases drawn anew",
            _moe,
        ),
        *(
            Traffic(
                f"random-{load}",
                f"each lane has a packet in {load} % of cycles, its key drawn evenly",
                _random(load),
                full=load == LOADS[-1],
            )
            for load in LOADS
        ),
        Traffic(
            "storm",
            "each lane brings packets of 64 B of its flow of a permutation back to back: these "
            "take 0.84 ns, so there is one in each cycle",
            _storm,
            full=True,
        ),
        Traffic(
            "one-bank",
            "all lanes, all cycles: different keys of one bank, as many as it has",
            _one_bank,
            of_banks=True,
            full=True,
        ),
        Traffic(
            "alternating",
            "all lanes, all cycles: two keys of one bank in turn",
            _alternating,
            of_banks=True,
            full=True,
        ),
        Traffic("one-key", "all lanes, all cycles: one key", _one_key, full=True),
    )
}
"""All kinds, by name."""
