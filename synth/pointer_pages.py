"""The parts of docs/ofan/pointers.md that are made from the records of the study."""

from __future__ import annotations

from functools import cache

from models.ofan.study_traffic import LOADS, TRAFFIC
from synth import pointer_parts, pointer_targets
from synth import pointer_tables as tables
from synth.pointer_price import committed_prices
from synth.pointer_study import NAME
from synth.records import COMMITTED, read_records
from synth.table import Table

SORTING = ("sorted-banked", "sorted")


@cache
def committed_study() -> tables.Study:
    """Return the study of the release."""
    return tables.Study(read_records(COMMITTED / f"{NAME}.json"), committed_prices())


def pointer_kinds() -> str:
    """Each kind of traffic, in words; the loads of random traffic once."""
    first, *again = tables.RANDOM
    rows = [(kind.name, kind.says) for kind in TRAFFIC.values() if kind.name not in again]
    rows[[name for name, _ in rows].index(first)] = (
        f"{first} to {again[-1]}",
        TRAFFIC[first].says.replace(str(LOADS[0]), "so many"),
    )
    headers = ("traffic", "what the lanes bring")
    return Table(title="", headers=headers, rows=rows).markdown()


def pointer_verdict() -> str:
    """What the study says, in sentences."""
    return "".join(f"- {line}\n" for line in pointer_targets.verdict(committed_study()))


def pointer_targets_table() -> str:
    """What the named points reach of the six targets."""
    return pointer_targets.targets_table(committed_study()).markdown()


def pointer_whole() -> str:
    """What the prices leave out: the presets as they are built."""
    return pointer_parts.whole_table(committed_study().prices).markdown()


def pointer_queued_parts() -> str:
    """The parts of the priced engines with queues."""
    return pointer_parts.parts_table(committed_study(), "queued-banked").markdown()


def pointer_matched_parts() -> str:
    """The parts of the priced engines that compare in groups."""
    return pointer_parts.parts_table(committed_study(), "matched-banked").markdown()


def pointer_sorted_parts() -> str:
    """The parts of the priced engines that sort: with banks, and the paper's."""
    found = (pointer_parts.parts_table(committed_study(), kind) for kind in SORTING)
    return "\n".join(made.markdown() for made in found)


def pointer_exactness() -> str:
    """What exact rotation costs over pOfan."""
    return pointer_parts.exactness_table(committed_study()).markdown()


def pointer_engines() -> str:
    """All engines of the running example."""
    return tables.engines_table(committed_study()).markdown()


def pointer_pareto() -> str:
    """The plot by price, once there are prices."""
    if not committed_study().prices:
        return ""
    text = "Cycles a batch of random keys, and worst backlog, over gate equivalents"
    return f"![{text}](../img/{NAME}-pareto.svg)\n"


def pointer_traffic() -> str:
    """The recommended engine under all traffic."""
    return tables.traffic_table(committed_study(), tables.FULLY_SHOWN).markdown()


def pointer_split() -> str:
    """What a bank of its own for each size class would bring."""
    return tables.split_table(committed_study()).markdown()


def pointer_sizes() -> str:
    """All switches."""
    return tables.sizes_table(committed_study()).markdown()
