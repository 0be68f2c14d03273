"""What a sweep runs: cases × seeds, from a TOML file or made in Python.

    seeds = 10                              # 0 to 9; or a list of seeds

    [base]                                  # settings of every case
    traffic = "permutation"
    size = "1MiB"

    [cross]                                 # every combination of these
    k = [4, 8, 12]
    scheme = ["ar", "ofan"]
    where = [{ mix = "none" }, { mix = "edges", mix_scheme = "ar" }]

Settings are those of `models.fabric.run.case_of`. An item that is a table sets several at once, and
the name above it is free then.
"""

from __future__ import annotations

import itertools
import json
import os
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from models.common.check import integer
from models.common.errors import InputError
from models.common.files import check_text, read_bytes
from models.fabric.run import ALIASES, Case, case_of, full_name, join_settings

MAX_JOBS = 1_000_000
_TABLES = ("seeds", "base", "cross")


@dataclass(frozen=True)
class Job:
    """One run of a sweep."""

    number: int
    """Of the case."""
    case: Case
    """With the seed in it."""
    key: str
    """Digest of all settings and, of a matrix, its content."""


@dataclass(frozen=True)
class Sweep:
    """Cases in order, each with what it is called by, and the seeds that each is run with."""

    cases: tuple[Case, ...]
    labels: tuple[dict[str, Any], ...]
    """Of each case: what distinguishes it, plain values by name."""
    seeds: tuple[int, ...]

    def __post_init__(self) -> None:
        if not self.cases:
            raise ValueError("cases must be at least one, not 0")
        if not self.seeds or len(set(self.seeds)) != len(self.seeds):
            raise ValueError(f"seeds must be one or more different ones, not {self.seeds!r}")
        for seed in self.seeds:
            integer("seeds", seed, 0, 2**64 - 1)
        if len(self.cases) * len(self.seeds) > MAX_JOBS:
            raise ValueError(
                f"seeds must make at most {MAX_JOBS:,} runs of {len(self.cases):,} cases, "
                f"not {len(self.seeds):,}"
            )

    def jobs(self) -> Iterator[Job]:
        """All runs, case by case."""
        for number, case in enumerate(self.cases):
            content = ""
            if case.workload.is_matrix:
                content = sha256(read_bytes(case.workload.traffic)).hexdigest()
            for seed in self.seeds:
                seeded = case.with_seed(seed)
                text = json.dumps([seeded.settings(), content], sort_keys=True)
                yield Job(number, seeded, sha256(text.encode()).hexdigest()[:32])


def sweep_of(
    base: Mapping[str, Any], cross: Mapping[str, Sequence[Any]], seeds: Sequence[int]
) -> Sweep:
    """Cross the lists over the base; the last list changes fastest. An item takes the place of the
    base's value of that name; raises `ValueError` if two lists set one thing."""
    cases, labels = [], []
    for chosen in itertools.product(*cross.values()):
        settings, label = dict(base), {}
        for name, value in zip(cross, chosen, strict=True):
            changes = value if isinstance(value, Mapping) else {name: value}
            join_settings(label, changes)
            settings |= changes
            label |= changes
        cases.append(case_of(settings))
        labels.append(label)
    return Sweep(tuple(cases), tuple(labels), tuple(seeds))


def read_sweep(file: str | os.PathLike[str]) -> Sweep:
    """Read a sweep's TOML file; raises `InputError` naming line, field and value of what is wrong,
    with the nearest name for an unknown one."""
    data = read_bytes(file)
    check_text(file, data)
    text = data.decode("utf-8-sig")
    try:
        found = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        match = re.search(r"\(at line (\d+)", str(error))
        reason = f"this is no TOML: {str(error).partition(' (at')[0].lower()}"
        raise InputError(file, int(match[1]) if match else None, None, None, reason) from None
    return _Reader(file, text).sweep(found)


class _Reader:
    def __init__(self, file: str | os.PathLike[str], text: str) -> None:
        self.file = file
        self.lines = text.splitlines()

    def error(self, field: str, value: object, reason: str) -> InputError:
        return InputError(self.file, self.line_of(field), field, value, reason)

    def line_of(self, field: str) -> int | None:
        """Line on which a field is set, its alias included, as far as a search can tell."""
        names = [field.rpartition(".")[2], *(a for a, full in ALIASES.items() if full == field)]
        either = "|".join(map(re.escape, names))
        pattern = re.compile(rf"""(^|[\s{{,.\["'])["']?({either})["']?(\s*=|\s*\.|\s*\])""")
        for number, line in enumerate(self.lines, 1):
            if pattern.search(line.partition("#")[0]):
                return number
        return None

    def sweep(self, found: dict[str, Any]) -> Sweep:
        for name in found:
            if name not in _TABLES:
                raise self.error(name, None, f"the file has {', '.join(_TABLES)} and nothing else")
        base = self.table(found, "base")
        cross = self.table(found, "cross")
        seeds = found.get("seeds", 10)
        if isinstance(seeds, int) and not isinstance(seeds, bool) and 1 <= seeds <= MAX_JOBS:
            seeds = list(range(seeds))
        if not isinstance(seeds, list) or not all(type(seed) is int for seed in seeds):
            reason = f"must be a number from 1 to {MAX_JOBS:,} or a list of seeds"
            raise self.error("seeds", found["seeds"], reason)
        for name, values in cross.items():
            if not isinstance(values, list) or not values:
                raise self.error(name, values, "must be a list of one or more values")
        count = 1
        for values in cross.values():
            count *= len(values)
        if count * len(seeds) > MAX_JOBS:
            raise self.error("cross", count, f"must make at most {MAX_JOBS:,} runs with all seeds")
        self.check_names(base, cross)
        try:
            return sweep_of(
                _flat(base), {n: [_flat_item(v) for v in c] for n, c in cross.items()}, seeds
            )
        except InputError:
            raise
        except (ValueError, TypeError) as error:
            field = re.split(r"[\s:]", str(error), maxsplit=1)[0]
            line = self.line_of(field)
            raise InputError(self.file, line, None, None, str(error)) from None

    def table(self, found: dict[str, Any], name: str) -> dict[str, Any]:
        value = found.get(name, {})
        if not isinstance(value, dict):
            raise self.error(name, value, "must be a table")
        return value

    def check_names(self, base: dict[str, Any], cross: dict[str, Any]) -> None:
        tables = [_flat(base)]
        for name, values in cross.items():
            for value in values:
                tables.append(_flat(value) if isinstance(value, dict) else {name: value})
        for table in tables:
            for name, value in table.items():
                try:
                    known = full_name(name)
                except ValueError as error:
                    hint = str(error).partition("; ")[2]
                    reason = f"unknown setting; {hint}" if hint else "unknown setting"
                    raise self.error(name, None, reason) from None
                if known == "seed":
                    raise self.error(name, value, "seeds stand at the top of the file")


def _flat(table: Mapping[str, Any]) -> dict[str, Any]:
    """Put the table `options` into names that begin with `options.`"""
    flat = {}
    for name, value in table.items():
        if name == "options" and isinstance(value, Mapping):
            flat |= {f"options.{inner}": item for inner, item in value.items()}
        else:
            flat[name] = value
    return flat


def _flat_item(value: Any) -> Any:
    return _flat(value) if isinstance(value, Mapping) else value
