"""Run a sweep so that nothing is lost or run twice, and say what came out.

Results go to OUT.journal as they come (`sweep_journal`). When the last one is in, OUT is written
beside and renamed, and the journal is deleted. A sweep that was broken off, by whatever, goes on
from its journal when it is started again with the same file and the same OUT.
"""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, stdev
from typing import Any

from models.common.errors import InputError
from models.common.files import replacing
from models.common.parquet import is_parquet, need_pyarrow
from models.fabric.run_files import TABLES, check_suffix
from models.fabric.run_memory import available_bytes, flows_that_fit
from models.fabric.sweep_file import Job, Sweep
from models.fabric.sweep_journal import Journal
from models.fabric.sweep_pool import connected, in_process, on_client, source_digest

SUMMARY = {
    "completion_us": "completion, µs",
    "increase_percent": "increase, %",
    "largest_packets": "largest queue",
    "mean_packets": "mean queue",
    "lost": "lost",
}
"""Measures in the table of a sweep, and their headers; queues in packets."""


@dataclass(frozen=True)
class Row:
    """One run's result."""

    number: int
    """Of the case."""
    seed: int
    measures: Mapping[str, Any]
    source: str
    """Digest of the sources that made it."""


def run_sweep(
    sweep: Sweep,
    out: Path,
    *,
    scheduler: str | None = None,
    workers: int | None = None,
    progress: Callable[[int], object] | None = None,
    inputs: Sequence[Path] = (),
    keep: bool = False,
) -> list[Row]:
    """Run what is left of a sweep, write all rows to `out` (.parquet or .csv) and return them by
    case and seed.

    Args:
        scheduler: address of a dask scheduler; None for this machine.
        workers: processes of this machine, default its cores; 0 runs here, without dask.
        progress: called with the runs that are done, those of earlier times included.
        inputs: files that `out` must not replace.
        keep: leave the journal where it is, and take from it only what these sources made: a store
            of results for sweeps that are made again with more seeds or cases.

    Raises `ValueError` before anything starts if a case does not fit into memory, and
    `models.fabric.sweep_pool.SchedulerError` or `InputError` for a scheduler or a disk that fails.
    """
    if is_parquet(out):
        need_pyarrow(out)
    if any(out.resolve() == other.resolve() for other in inputs):
        raise InputError(out, None, None, None, "cannot be replaced: it is an input")
    if out.exists() and not out.is_file():
        raise InputError(out, None, None, None, "cannot be replaced: it is not a regular file")
    check_suffix("out", out, TABLES)
    jobs = list(sweep.jobs())
    with Journal(out.with_name(f"{out.name}.journal")) as journal:
        have = journal.results
        if keep:
            mine = source_digest()
            have = {key: line for key, line in have.items() if line["source"] == mine}
        # Cases with equal settings share a key and are run once. One seed of every case comes
        # first: workers then compile different schemes, and all cases are in early.
        by_seed = sorted(jobs, key=lambda job: sweep.seeds.index(job.case.config.seed))
        left = {job.key: job for job in by_seed if job.key not in have}
        done = len(jobs) - len(left)
        if progress:
            progress(done)
        if left:
            with _results(list(left.values()), scheduler, workers) as results:
                for job, result in results:
                    journal.add(job.key, result)
                    done += 1
                    if progress:
                        progress(done)
        rows = []
        for job in jobs:
            kept = journal.results[job.key]
            rows.append(Row(job.number, job.case.config.seed, kept["measures"], kept["source"]))
        try:
            with replacing(out) as beside:
                write_rows(beside, sweep, rows, is_parquet(out))
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            reason += f"; all {len(rows):,} results are kept in {journal.path.name}"
            raise InputError(out, None, None, None, reason) from None
        if not keep:
            journal.path.unlink()
    return rows


@contextmanager
def _results(
    jobs: Sequence[Job], scheduler: str | None, workers: int | None
) -> Iterator[Iterator[tuple[Job, dict[str, Any]]]]:
    if scheduler is None and workers == 0:
        _check_memory(jobs, 1, available_bytes())
        yield in_process(jobs)
        return
    if scheduler is None:
        import os

        at_once = min(len(jobs), workers or os.cpu_count() or 1)
        _check_memory(jobs, at_once, available_bytes())
    with connected(scheduler, workers) as client:
        if scheduler is not None:
            for worker in client.scheduler_info(n_workers=-1)["workers"].values():
                if worker["memory_limit"]:
                    _check_memory(jobs, worker["nthreads"], worker["memory_limit"])
        yield on_client(client, jobs)


def _check_memory(jobs: Sequence[Job], at_once: int, room: int) -> None:
    """Check that each case fits as many times at once as there are workers."""
    seen: set[int] = set()
    for job in jobs:
        if job.number not in seen:
            seen.add(job.number)
            try:
                flows_that_fit(job.case, at_once=at_once, room=room)
            except ValueError as error:
                raise ValueError(f"case {job.number}: {error}") from None


def write_rows(path: Path, sweep: Sweep, rows: Sequence[Row], parquet: bool) -> None:
    """Write a row a run: case, seed, what distinguishes the case, its measures, all its settings as
    JSON, and the digest of the sources."""
    names = list(dict.fromkeys(name for label in sweep.labels for name in label))
    found = list(dict.fromkeys(name for row in rows for name in row.measures))
    found += [name for name in names if name in found]  # a label that is a measure's name as well
    columns: dict[str, list[Any]] = {
        "case": [row.number for row in rows],
        "seed": [row.seed for row in rows],
    }
    for name in names:
        values = [sweep.labels[row.number].get(name) for row in rows]
        columns[name if name not in found else f"set.{name}"] = _column(values)
    for name in dict.fromkeys(found):
        columns[name] = [row.measures.get(name) for row in rows]
    columns["settings"] = [
        json.dumps(sweep.cases[row.number].with_seed(row.seed).settings()) for row in rows
    ]
    columns["source"] = [row.source for row in rows]
    if not parquet:
        with path.open("w", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(columns)
            writer.writerows(zip(*columns.values(), strict=True))
        return
    pyarrow_parquet = need_pyarrow(path)
    import pyarrow as arrow

    kinds = {"seed": arrow.uint64()}
    arrays = {name: arrow.array(v, type=kinds.get(name)) for name, v in columns.items()}
    pyarrow_parquet.write_table(arrow.table(arrays), path)


def _column(values: list[Any]) -> list[Any]:
    """Values of one kind as they are, others as JSON."""
    kinds = {type(value) for value in values if value is not None}
    if kinds <= {int, float} or (len(kinds) == 1 and kinds <= {str, bool}):
        return values
    return [None if value is None else json.dumps(value) for value in values]


def mean_and_sem(values: Sequence[float]) -> tuple[float, float | None]:
    """Return the mean, and the standard error of it from two values on."""
    sem = stdev(values) / math.sqrt(len(values)) if len(values) > 1 else None
    return mean(values), sem


def summary(
    sweep: Sweep, rows: Sequence[Row], names: Iterable[str] = SUMMARY
) -> list[tuple[dict[str, Any], dict[str, tuple[float, float | None] | None]]]:
    """Return for each case its label, and mean and standard error of each measure over the seeds
    in which there is a value; None where there is none."""
    found = []
    for number, label in enumerate(sweep.labels):
        mine = [row.measures for row in rows if row.number == number]
        values = {}
        for name in names:
            there = [row[name] for row in mine if row.get(name) is not None]
            values[name] = mean_and_sem(there) if there else None
        found.append((label, values))
    return found
