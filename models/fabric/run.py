"""One case of the network model: which settings, which engine, and what is measured of it."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from fractions import Fraction
from typing import Any

import numpy as np

from models.common.check import choice, hint
from models.fabric.bounds import Bound, bound_of
from models.fabric.config import FabricConfig
from models.fabric.flows import Flows
from models.fabric.network import Failures, all_up, draw_failures, tree_of
from models.fabric.options import SchemeOptions
from models.fabric.result import Result
from models.fabric.traffic_spec import Workload

ENGINES = ("fast", "reference")
ALIASES = {"k": "radix", "load": "rate", "failures": "link_failure"}
"""Short names of settings, as on the command line."""


@dataclass(frozen=True, kw_only=True)
class Case:
    """What to run. `settings` and `case_of` turn it into a flat table and back."""

    config: FabricConfig = field(default_factory=FabricConfig)
    workload: Workload = field(default_factory=Workload)
    engine: str = "fast"
    """"fast" or "reference"; both give the same numbers."""

    def __post_init__(self) -> None:
        choice("engine", self.engine, ENGINES)

    def with_seed(self, seed: int) -> Case:
        """The same case with another seed."""
        return replace(self, config=replace(self.config, seed=seed))

    def settings(self) -> dict[str, Any]:
        """All settings by name, as `case_of` takes them, in plain values."""
        found = asdict(self.config)
        options = found.pop("options")
        found |= asdict(self.workload) | {"engine": self.engine}
        found |= {f"options.{name}": value for name, value in options.items()}
        return {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in found.items()
        }


def setting_names() -> list[str]:
    """Names of all settings of a case."""
    config = [item.name for item in fields(FabricConfig) if item.name != "options"]
    workload = [item.name for item in fields(Workload)]
    options = [f"options.{item.name}" for item in fields(SchemeOptions)]
    return [*config, *workload, "engine", *options]


def full_name(name: str) -> str:
    """Return the name of a setting, an alias resolved; raises `ValueError` that suggests one."""
    known = setting_names()
    name = ALIASES.get(name, name)
    if name in known:
        return name
    near = hint(name.casefold(), [*known, *ALIASES]) or f"; there are {', '.join(known)}"
    raise ValueError(f"setting must be one of a case, not {name!r}{near}")


def join_settings(*tables: Mapping[str, Any]) -> dict[str, Any]:
    """Return all settings under their full names; raises `ValueError` for one that is given twice,
    be it under a short name and its full one."""
    joined: dict[str, Any] = {}
    names: dict[str, str] = {}
    for table in tables:
        for given, value in table.items():
            name = full_name(given)
            if name in joined:
                both = f"{given}: given twice"
                if names[name] != given:
                    both = f"{given} and {names[name]} must not both be given: they are one setting"
                raise ValueError(both)
            joined[name], names[name] = value, given
    return joined


def parse_set(text: str) -> dict[str, Any]:
    """Return the setting of NAME=VALUE; the value is read as in TOML, or is plain text."""
    name, equals, value = text.partition("=")
    if not equals:
        raise ValueError(f"set must be NAME=VALUE, not {text!r}")
    name = name.strip()
    full_name(name)
    try:
        return {name: tomllib.loads(f"value = {value}")["value"]}
    except tomllib.TOMLDecodeError:
        return {name: value.strip()}


def case_of(*settings: Mapping[str, Any]) -> Case:
    """Make a case of tables of settings by name; what is in none of them has its default.

    Names are the fields of `FabricConfig` and `Workload`, `engine`, and `options.` with a field of
    `SchemeOptions`; `k`, `load` and `failures` stand for radix, rate and link_failure. Each may be
    given once, under one of its names. Raises `ValueError` or `TypeError` naming what is wrong.
    """
    config: dict[str, Any] = {}
    workload: dict[str, Any] = {}
    options: dict[str, Any] = {}
    rest: dict[str, Any] = {}
    of_workload = {item.name for item in fields(Workload)}
    for name, value in join_settings(*settings).items():
        plain = tuple(value) if isinstance(value, list) else value
        if name.startswith("options."):
            options[name.removeprefix("options.")] = plain
        elif name == "engine":
            rest[name] = plain
        elif name in of_workload:
            workload[name] = plain
        else:
            config[name] = plain
    made = FabricConfig(**config, options=SchemeOptions(**options))
    return Case(config=made, workload=Workload(**workload), **rest)


@dataclass(frozen=True)
class Run:
    """A case that has been run."""

    case: Case
    flows: Flows
    result: Result
    bound: Bound
    rho_max: Fraction
    """What the network can carry under its failures; 1 where all links are up."""


def run_case(
    case: Case,
    *,
    trace: bool = False,
    switches: Any = None,
    progress: Callable[[int], object] | None = None,
    flows: Flows | None = None,
) -> Run:
    """Run a case; see `models.fabric.engine` and `models.fabric.reference`.

    `switches` is the reference engine's hook for switches that are not the model's; `flows` saves
    making them where they are made already. Raises `ValueError` for flows that do not fit the tree.
    """
    config = case.config
    flows = case.workload.flows(config) if flows is None else flows
    failures: Failures | None = None
    highest = Fraction(1)
    if not all_up(config):
        from models.fabric.rho import rho_max

        failures = draw_failures(config)
        highest = rho_max(config, flows, failures)
    bound = bound_of(config, flows)
    if switches is not None or case.engine == "reference":
        from models.fabric.reference import simulate as by_events

        result = by_events(
            config, flows, failures=failures, trace=trace, switches=switches, progress=progress
        )
    else:
        from models.fabric.engine import simulate

        result = simulate(config, flows, failures=failures, trace=trace, progress=progress)
    return Run(case, flows, result, bound, highest)


def stage_names(case: Case) -> list[str]:
    """Names of the stages of links in measures: H-E, E-A and so on."""
    return [stage.replace("→", "-") for stage in tree_of(case.config).stages]


def measures(run: Run) -> dict[str, Any]:
    """All numbers of a run by name, the same on every machine.

    Times are in µs, shares in %, queues in bytes of link time and in packets (that over the time of
    a data packet); a queue's stage stands behind the name, as `largest_packets.A-E`. A completion
    time that lost packets prevent is None; so are, if no data arrived, the time when the last did
    and shares of the time.
    """
    config, result = run.case.config, run.result
    data = config.data_time
    completion = result.completion
    arrived = result.last_data > result.first

    def us(times: float) -> float:
        return result.microseconds(config, times)

    found: dict[str, Any] = {
        "completion_us": None if completion is None else us(completion),
        "bound_us": run.bound.microseconds(config),
        "bound": run.bound.name,
        "increase_percent": None if completion is None else run.bound.increase_percent(completion),
        "last_data_us": us(result.last_data - result.first) if arrived else None,
        "utilization_percent": utilization(run) * 100,
        "rho_max": float(run.rho_max),
        "rate": float(min(config.exact_rate, run.rho_max)),
        "hosts": run.flows.hosts,
        "flows": len(run.flows),
        "packets": int(run.flows.packets.sum()),
        "packet_hops": result.packet_hops,
        "lost": int(result.lost.sum()),
    }
    done = result.finish >= 0
    taken = (result.finish - result.begin)[done]
    for percent in (50, 99, 100):
        place = -(-len(taken) * percent // 100) - 1
        found[f"flow_p{percent}_us"] = us(int(np.sort(taken)[place])) if len(taken) else None
    largest, mean = result.largest.max(1), result.mean_backlog(config)
    found["largest_bytes"] = int(largest.max())
    found["largest_packets"] = float(largest.max() / data)
    found["mean_packets"] = float(mean[1:].mean() / data)
    overload = result.overload()
    busy = result.data * data + (result.packets - result.data) * config.ack_time
    span = result.end - result.first
    for at, stage in enumerate(stage_names(run.case)):
        if at:
            found[f"largest_bytes.{stage}"] = int(largest[at])
            found[f"largest_packets.{stage}"] = float(largest[at] / data)
            found[f"mean_packets.{stage}"] = float(mean[at] / data)
        found[f"overload_percent.{stage}"] = float(overload[at] * 100)
        for measure, times in (("busy", busy[at].mean()), ("busiest", busy[at].max())):
            found[f"{measure}_percent.{stage}"] = float(times / span * 100) if arrived else None
        found[f"lost.{stage}"] = int(result.lost[at].sum())
    return found


def utilization(run: Run) -> float:
    """Share of the line rate at which hosts got their data through, the mean over sending hosts.

    A host's data on its link, over the time from its first transmission to its last ACK without the
    round trip of an idle path (its nearest peer's; one way without ACKs). Flows that lost packets
    count for nothing.
    """
    config, flows, result = run.case.config, run.flows, run.result
    tree = tree_of(config)
    done = result.finish >= 0
    if not done.any():
        return 0.0
    source = flows.source[done]
    hops = np.asarray(tree.hops(source, flows.destination[done]), np.int64)
    trip = hops * (config.data_bytes + config.latency)
    if config.acks:
        trip += hops * (config.ack_bytes + config.latency)
    first = np.full(tree.hosts, np.iinfo(np.int64).max)
    shortest, last, sent = first.copy(), np.zeros_like(first), np.zeros_like(first)
    np.minimum.at(first, source, result.begin[done])
    np.minimum.at(shortest, source, trip)
    np.maximum.at(last, source, result.finish[done])
    np.add.at(sent, source, flows.packets[done])
    used = sent > 0
    span = (last - first - shortest)[used] + config.data_time
    return float((sent[used] * config.data_time / np.maximum(1, span)).mean())
