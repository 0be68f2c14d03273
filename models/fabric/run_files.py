"""Files of a run: a row a flow, a row a packet and link, and the picture of the queues."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from models.common.parquet import is_parquet, write_parquet
from models.fabric.network import tree_of
from models.fabric.run import Run

TABLES = (".csv", ".parquet")
"""Suffixes of files of rows."""
_ROWS = 1 << 16
"""Rows of CSV that are put into text in one go."""


def check_names(trace: Path | None, flows: Path | None, svg: Path | None) -> None:
    """Check the names of a run's files, None for one that is not written; raises `ValueError` for a
    suffix that says nothing of these kinds, or one file for two things."""
    for name, file in (("trace", trace), ("flows", flows)):
        check_suffix(name, file, TABLES)
    check_suffix("svg", svg, (".svg",))
    if trace and flows and trace.resolve() == flows.resolve():
        raise ValueError(f"trace and flows must be two files, not {str(trace)!r} for both")


def check_suffix(name: str, file: Path | None, suffixes: tuple[str, ...]) -> None:
    """Check what the name of a file ends in, if there is one."""
    if file is not None and file.suffix.lower() not in suffixes:
        raise ValueError(f"{name} must end in {' or '.join(suffixes)}, not {str(file)!r}")


def write_flows(path: Path, run: Run, parquet: bool | None = None) -> None:
    """Write flow, source, destination, packets, begin_ns and finish_ns (empty or null if a packet
    of it was lost) of each flow, as Parquet or CSV by the name of the file."""
    flows, result = run.flows, run.result
    ns = float(run.case.config.byte_ps) / 1000
    columns = {
        "flow": np.arange(len(flows)),
        "source": flows.source,
        "destination": flows.destination,
        "packets": flows.packets,
        "begin_ns": (result.begin - result.first) * ns,
        "finish_ns": (result.finish - result.first) * ns,
    }
    write_columns(path, columns, {"finish_ns": result.finish < 0}, parquet)


def write_trace(path: Path, run: Run, parquet: bool | None = None) -> None:
    """Write a row for each packet and link: flow, packet, ack, stage, link (within its stage),
    arrival, start; times in byte times from the first transmission, start empty or null where the
    packet was lost."""
    rows = run.result.trace
    if rows is None:
        raise ValueError("trace must have been asked for when the case was run")
    hosts = tree_of(run.case.config).hosts
    columns = {
        "flow": rows["flow"],
        "packet": rows["packet"],
        "ack": rows["ack"].astype(np.int8),
        "stage": rows["link"] // hosts,
        "link": rows["link"] % hosts,
        "arrival": rows["arrival"] - run.result.first,
        "start": rows["start"] - run.result.first,
    }
    write_columns(path, columns, {"start": rows["start"] < 0}, parquet)


def write_columns(
    path: Path,
    columns: Mapping[str, np.ndarray],
    missing: Mapping[str, np.ndarray],
    parquet: bool | None = None,
) -> None:
    """Write columns of one length; `missing` has, for some, where there is no value."""
    if is_parquet(path) if parquet is None else parquet:
        write_parquet(path, columns, missing)
        return
    with path.open("w") as file:
        file.write(",".join(columns) + "\n")
        count = len(next(iter(columns.values())))
        for start in range(0, count, _ROWS):
            piece = slice(start, start + _ROWS)
            texts = []
            for name, values in columns.items():
                whole = values.dtype.kind in "iu"
                text = [str(v) if whole else f"{v:.3f}" for v in values[piece].tolist()]
                if name in missing:
                    gone = missing[name][piece].tolist()
                    text = ["" if none else one for one, none in zip(text, gone, strict=True)]
                texts.append(text)
            file.writelines(",".join(row) + "\n" for row in zip(*texts, strict=True))
