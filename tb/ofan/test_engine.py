"""The choice of a pointer engine: what may be chosen, and which hardware follows."""

from __future__ import annotations

from typing import Any

import pytest

from models.ofan.config import OfanConfig
from models.ofan.engine import KINDS, Engine
from rtl.ofan.engine import ENGINES, pointer_engine

LANES: dict[str, Any] = {"lanes": 32, "uplinks": 4, "destinations": 4, "masks": 0}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_has_hardware(kind: str) -> None:
    config = OfanConfig(**LANES, engine=Engine(kind=kind))
    assert type(pointer_engine(config)) is ENGINES[kind]
    assert config.engine.banked == (kind != "sorted")


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"kind": "fast"}, "engine must be one of sorted, .*, not 'fast'"),
        ({"banks": 0}, "banks must be an integer from 1 to 64, not 0"),
        ({"banks": 12}, "banks must be a power of two, not 12"),
        ({"queues": 0}, "queues must be an integer from 1 to 64, not 0"),
        ({"depth": 9}, "depth must be an integer from 1 to 8, not 9"),
        ({"group": 65}, "group must be an integer from 1 to 64, not 65"),
        ({"storage": "paper"}, "storage must be one of flops, latches, sram, not 'paper'"),
        ({"storage": "sram"}, "storage must be flops with engine sorted, not 'sram'"),
    ],
)
def test_bad_fields(fields: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=f"^{said}$"):
        Engine(**fields)


@pytest.mark.parametrize(
    ("engine", "said"),
    [
        (
            Engine(kind="queued-banked", queues=5),
            r"queues must divide the lanes of a pipe \(32\), not 5",
        ),
        (
            Engine(kind="queued-banked", queues=2),
            r"queues must be at least an eighth of the lanes \(32\), not 2",
        ),
        (
            Engine(kind="matched-banked", group=5),
            r"group must divide the lanes of a pipe \(32\), not 5",
        ),
    ],
)
def test_what_does_not_fit_the_lanes(engine: Engine, said: str) -> None:
    with pytest.raises(ValueError, match=f"^{said}$"):
        OfanConfig(**LANES, engine=engine)


@pytest.mark.parametrize("field", ["banks", "queues", "depth", "group"])
@pytest.mark.parametrize("value", ["4", 4.0, True])
def test_what_is_no_number(field: str, value: Any) -> None:
    with pytest.raises(
        TypeError, match=f"^{field} must be an integer from 1 to .*, not {value!r}$"
    ):
        Engine(**{field: value})


def test_an_engine_is_wanted_not_its_kind() -> None:
    with pytest.raises(TypeError, match="^engine must be an Engine, not 'queued-banked'$"):
        OfanConfig(**{**LANES, "engine": "queued-banked"})


@pytest.mark.parametrize(("lanes", "queues"), [(32, 16), (5, 5), (2, 1), (1, 1)])
def test_queues_where_none_are_given(lanes: int, queues: int) -> None:
    assert Engine().queues_of(lanes) == queues
