"""The study of pointer engines: how long packets wait under which traffic, engine by engine.

A run is one engine of one switch under one kind of traffic (`models.ofan.study_traffic`). What a
run finds is kept in build/synth under the traffic's name and what the numbers follow from; so a
study that was stopped goes on where it was. `synth.pointer_price` tells what the engines cost,
`synth.pointer_tables` joins the two.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import replace
from functools import cache
from pathlib import Path
from threading import Event

import numpy as np

from models.common.check import integer
from models.ofan.config import OfanConfig, aggregation, edge
from models.ofan.engine import Engine
from models.ofan.schedule import Offered, schedule
from models.ofan.study import UNITS, Numbers, numbers, split_banks
from models.ofan.study_traffic import FULL, LOADS, QUICK, TRAFFIC, Size, Traffic
from rtl.verilog import BUILD
from synth.records import Record, write_records
from synth.yosys import keep, recall

NAME = "pointers"
"""Of the study's files."""
SHOWN = "edge-k64"
"""The switch of the paper's running example, for which every engine is tried."""

PIPES = "pofan4-k64"
"""The same as pOfan, eight pipes of four lanes: what exactness costs is told against it."""

SHAPES: dict[str, OfanConfig] = {
    SHOWN: edge(64),
    "edge-k128": edge(128),
    "edge-k32": edge(32),
    "edge-k16": edge(16),
    "edge-k12": edge(12),
    "edge-k8": edge(8),
    "agg-k64": aggregation(64),
    PIPES: edge(64, pipe_lanes=4),
}
"""Switches of the study: w = 32, 64, 16, 8, 6 and 4, and with 63 pods as destinations."""

SKIPPED = {f"random-{load}" for load in LOADS if load % 25}
"""Traffic that is left out where it is to be quick."""

SPLIT = ", class split"
"""Follows the name of an engine whose banks are split between the size classes."""

Found = dict[tuple[str, str, str], Numbers]
"""The numbers of runs, by switch, engine and traffic."""


def engines(name: str) -> dict[str, Engine]:
    """Return the engines that are tried in a switch, by name.

    Banks from a quarter of a pipe's lanes to twice as many, and a queue for one lane or two; for
    the running example every depth that may be needed. Groups and storage do not matter here.
    """
    width = SHAPES[name].lanes_per_pipe
    depths = (1, 2, 3, 4, 5) if name == SHOWN else (2,)
    found = [Engine()]
    for banks in (2**n for n in range(1, 7) if width <= 4 * 2**n <= 8 * width):
        found.append(Engine(kind="sorted-banked", banks=banks, depth=4))
        found.append(Engine(kind="matched-banked", banks=banks, depth=4))
        for queues in (width, width // 2):
            for depth in depths:
                engine = Engine(kind="queued-banked", banks=banks, queues=queues, depth=depth)
                found.append(engine)
    return {engine_name(engine): engine for engine in found}


def engine_name(engine: Engine) -> str:
    """Return the name of an engine, as far as it matters to when packets are served."""
    if not engine.banked:
        return engine.kind
    queues = f", {engine.queues} queues" if engine.queues is not None else ""
    return f"{engine.kind}, {engine.banks} banks{queues}, depth {engine.depth}"


@cache
def _sources() -> str:
    """Return what the numbers follow from: the text of the models, and the version of NumPy."""
    root = Path(__file__).resolve().parents[1]
    names = ("banks", "schedule", "schedule_loops", "study", "study_traffic")
    files = [root / "models" / "ofan" / f"{name}.py" for name in names]
    return "\0".join((np.__version__, *(file.read_text() for file in files)))


def _runs(kept: object) -> dict[str, Numbers]:
    """Return the runs of a kept file, by engine; what is no run there is made again."""
    if not isinstance(kept, dict):
        return {}
    return {
        str(engine): run
        for engine, run in kept.items()
        if isinstance(run, dict)
        and set(run) == set(UNITS)
        and all(type(value) in (int, float) for value in run.values())
    }


class Task:
    """All engines of a switch under one kind of traffic, which is made once."""

    def __init__(self, shape: str, traffic: Traffic, size: Size, wanted: dict[str, Engine]) -> None:
        self.shape, self.traffic, self.size, self.wanted = shape, traffic, size, wanted
        text = "\0".join((_sources(), repr(size), repr(SHAPES[shape])))
        digest = hashlib.sha256(text.encode()).hexdigest()[:16]
        self.name = f"{NAME}-{shape}-{traffic.name}-{digest}"
        self.done = _runs(recall(self.name))

    @property
    def left(self) -> list[str]:
        """Names of engines that have not been tried."""
        return [name for name in self.wanted if name not in self.done]

    def run(self, told: Callable[[], None], stopped: Event) -> None:
        """Try the engines that are left, until `stopped`, and keep what was found."""
        made: dict[int, Offered] = {}
        try:
            for name in self.left:
                if stopped.is_set():
                    return
                config = replace(SHAPES[self.shape], engine=self.wanted[name])
                banks = config.engine.banks if self.traffic.of_banks else 0
                if banks not in made:
                    made[banks] = Offered.of(self.traffic.cases(config, self.size))
                bank_of = split_banks(config) if name.endswith(SPLIT) else None
                self.done[name] = numbers(schedule(config, made[banks], bank_of))
                told()
        finally:
            keep(self.name, self.done)


def tasks(quick: bool) -> list[Task]:
    """Return all that is to be tried."""
    size = QUICK if quick else FULL
    kinds = [name for name in TRAFFIC if not quick or name not in SKIPPED]
    found = []
    for shape in SHAPES:
        wanted = engines(shape)
        if shape == SHOWN:
            wanted |= {
                engine_name(engine) + SPLIT: engine
                for engine in wanted.values()
                if engine.banked and engine.depth == (2 if engine.queues else 4)
            }
        found += [Task(shape, TRAFFIC[name], size, wanted) for name in kinds]
    return found


def study(
    *,
    quick: bool = False,
    jobs: int | None = None,
    progress: Callable[[int, int], None] = lambda done, count: None,
) -> list[Record]:
    """Try every engine of every switch under all traffic; return the records, also left in
    build/records.

    `quick` makes little of each traffic: it shows that all works, not how long packets wait. `jobs`
    is how many run at a time, 1 to 256; None: one a core. Raises `ValueError` naming it.
    """
    if jobs is not None:
        integer("jobs", jobs, 1, 256)
    found = tasks(quick)
    count = sum(len(task.wanted) for task in found)
    stopped = Event()
    done = count - sum(len(task.left) for task in found)

    def told() -> None:
        nonlocal done
        done += 1
        progress(done, count)

    progress(done, count)
    with ThreadPoolExecutor(jobs or os.cpu_count()) as pool:
        try:
            running = [pool.submit(task.run, told, stopped) for task in found if task.left]
            for one in as_completed(running):
                one.result()
        except BaseException:
            stopped.set()  # a task that runs ends with the engine it is at
            pool.shutdown(cancel_futures=True)
            raise
    records = list(records_of(found))
    write_records(BUILD / "records" / f"{NAME}{'-quick' * quick}.json", records)
    return records


def records_of(found: list[Task]) -> Iterator[Record]:
    """Return the numbers of all runs as records: the preset is the switch, the block the engine."""
    for task in found:
        for engine in task.wanted:
            for what, value in task.done[engine].items():
                yield Record(
                    block=engine,
                    preset=task.shape,
                    metric=f"{task.traffic.name}: {what}",
                    value=value,
                    unit=UNITS[what],
                    engine="models",
                    versions={"numpy": np.__version__},
                )


def numbers_of(records: list[Record]) -> Found:
    """Return the numbers of records by switch, engine and traffic."""
    found: Found = {}
    for record in records:
        traffic, _, what = record.metric.partition(": ")
        found.setdefault((record.preset, record.block, traffic), {})[what] = record.value
    return found
