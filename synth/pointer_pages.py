"""The parts of docs/ofan/pointers.md that are made from the records of the study."""

from __future__ import annotations

from functools import cache

from models.ofan.study_traffic import LOADS, TRAFFIC
from synth import pointer_tables as tables
from synth.pointer_price import committed_prices
from synth.pointer_study import NAME
from synth.records import COMMITTED, read_records
from synth.table import Table


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
    return "".join(f"- {line}\n" for line in tables.verdict(committed_study()))


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
    """The engine with a queue and a bank a lane under all traffic."""
    return tables.traffic_table(committed_study(), tables.FULLY_SHOWN).markdown()


def pointer_split() -> str:
    """What a bank of its own for each size class would bring."""
    return tables.split_table(committed_study()).markdown()


def pointer_sizes() -> str:
    """All switches."""
    return tables.sizes_table(committed_study()).markdown()
