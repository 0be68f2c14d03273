"""Where the runs of a sweep take place: in this process, on this machine's cores, or on a cluster.

`run_job` is all that a worker does. Its numbers depend on the case alone, so that a result is the
same wherever it runs.
"""

from __future__ import annotations

import contextlib
import logging
import os
import re
import signal
import threading
import time
from collections.abc import Iterator, Sequence
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from models.fabric.run import Case, case_of, measures, run_case
from models.fabric.sweep_file import Job

ANSWER_SECONDS = 5
"""How long a scheduler has to answer, and then to have a worker."""
LOST_SECONDS = 30
"""How long a sweep waits for workers when the last one has gone."""
LOOK_SECONDS = 0.01
"""How often it looks for results."""

_SOURCES = ("common/*.py", "ofan/*.py", "fabric/*.py", "fabric/schemes/*.py")


class SchedulerError(ValueError):
    """A scheduler that does not answer, has no workers, or went away."""


@cache
def source_digest() -> str:
    """Digest of the sources that results depend on: `models` but for figures and other papers."""
    root = Path(__file__).resolve().parents[1]
    digest = sha256()
    for path in sorted(path for name in _SOURCES for path in root.glob(name)):
        digest.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]


def run_job(settings: dict[str, Any], flows: Any = None) -> dict[str, Any]:
    """Run one case; returns its measures and the digest of the sources that made them."""
    return {
        "source": source_digest(),
        "measures": measures(run_case(case_of(settings), flows=flows)),
    }


def flows_for(case: Case) -> Any:
    """The flows of a matrix, which a worker elsewhere could not read; None for others."""
    return case.workload.flows(case.config) if case.workload.is_matrix else None


def in_process(jobs: Sequence[Job]) -> Iterator[tuple[Job, dict[str, Any]]]:
    """Run the jobs one after another here."""
    for job in jobs:
        with _naming(job):
            yield job, run_job(job.case.settings(), flows_for(job.case))


@contextlib.contextmanager
def connected(scheduler: str | None, workers: int | None) -> Iterator[Any]:
    """Give a client of a scheduler, or of `workers` processes of this machine (default: its cores).

    Raises `SchedulerError` if the scheduler does not answer in time, has no worker, or its workers
    have other sources than this process.
    """
    try:
        from distributed import Client, LocalCluster
    except ImportError:
        raise ValueError(
            "workers need dask.distributed, which is not installed: pip install -e '.[fabric]' "
            "(or --workers 0, in this process)"
        ) from None
    with _quiet(), contextlib.ExitStack() as stack:
        if scheduler is None:
            with _deaf():
                cluster = LocalCluster(
                    n_workers=workers or os.cpu_count() or 1,
                    threads_per_worker=1,
                    processes=True,
                    memory_limit=0,
                    dashboard_address=":0",
                    silence_logs=logging.CRITICAL,
                )
            stack.callback(cluster.close, timeout=5)
            client = Client(cluster, set_as_default=False)
        else:
            if not re.fullmatch(r"((tcp|tls|ws|wss)://)?[^\s/:]+:[0-9]{1,5}", scheduler):
                raise ValueError(
                    f"scheduler must be an address such as tcp://host:8786, not {scheduler!r}"
                )
            try:
                client = Client(scheduler, timeout=ANSWER_SECONDS, set_as_default=False)
            except (OSError, ValueError, TimeoutError):
                raise SchedulerError(
                    f"scheduler must answer within {ANSWER_SECONDS} s, not {scheduler!r}"
                ) from None
        stack.callback(client.close, timeout=5)
        try:
            client.wait_for_workers(1, timeout=60 if scheduler is None else ANSWER_SECONDS)
        except TimeoutError:
            raise SchedulerError(f"scheduler must have a worker, not {scheduler!r}") from None
        if scheduler is not None:
            _check_sources(client)
        yield client


def _check_sources(client: Any) -> None:
    try:
        found = client.run(source_digest)
    except Exception as error:
        reason = f"workers must have netweave installed: {str(error).splitlines()[0]}"
        raise SchedulerError(reason) from None
    for worker, digest in found.items():
        if digest != source_digest():
            raise SchedulerError(
                f"worker {worker} must have the sources of this netweave ({source_digest()}), "
                f"not {digest}"
            )


def on_client(client: Any, jobs: Sequence[Job]) -> Iterator[tuple[Job, dict[str, Any]]]:
    """Run the jobs on a client's workers; gives each as it is done."""
    from distributed import as_completed
    from distributed.scheduler import KilledWorker

    threads = sum(client.nthreads().values())
    waiting = iter(jobs)
    running: dict[Any, Job] = {}
    done = as_completed(loop=client.loop)

    def submit() -> None:
        job = next(waiting, None)
        if job is None:
            return
        future = client.submit(run_job, job.case.settings(), flows_for(job.case), pure=False)
        running[future] = job
        done.add(future)

    for _ in range(2 * threads):
        submit()
    while running:
        _await_result(client, done)
        future = next(done)
        job = running.pop(future)
        if future.status == "cancelled" or future.status == "lost":
            raise SchedulerError("scheduler went away; the same command goes on from here")
        with _naming(job):
            try:
                result = future.result()
            except KilledWorker:
                raise ValueError("its worker was killed, perhaps for want of memory") from None
        yield job, result
        submit()


def _await_result(client: Any, done: Any) -> None:
    """Wait until a run is done, or `SchedulerError` if all workers have gone and stay away."""
    looked = alive = time.monotonic()
    while not done.has_ready():
        time.sleep(LOOK_SECONDS)
        now = time.monotonic()
        if now - looked < 1:
            continue
        looked = now
        if client.nthreads():
            alive = now
        elif now - alive > LOST_SECONDS:
            raise SchedulerError(
                f"scheduler must have a worker, not none for {LOST_SECONDS} s; the same command "
                "goes on from here"
            )


@contextlib.contextmanager
def _naming(job: Job) -> Iterator[None]:
    """Say which case an error comes from."""
    try:
        yield
    except (ValueError, TypeError, MemoryError) as error:
        raise ValueError(f"case {job.number}, seed {job.case.config.seed}: {error}") from None


@contextlib.contextmanager
def _deaf() -> Iterator[None]:
    """Start processes that a Ctrl-C on the terminal passes by: this one ends them."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Keep dask's talk of lost connections off the screen; its loggers have levels of their own."""
    roots = ("distributed", "tornado", "asyncio")
    names = [name for name in logging.root.manager.loggerDict if name.split(".")[0] in roots]
    loggers = [logging.getLogger(name) for name in {*roots, *names}]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)
