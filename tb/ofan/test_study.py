"""The numbers of the study, and its other map of keys to banks."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from models.ofan.config import OfanConfig, aggregation, edge
from models.ofan.engine import Engine
from models.ofan.schedule import Offered, schedule
from models.ofan.study import UNITS, numbers, split_banks


def test_numbers_of_packets_that_follow_each_other() -> None:
    """10,000 batches of one packet, and one of two that meet: one packet in 10,002 waits."""
    config = OfanConfig(
        lanes=2, uplinks=2, destinations=4, engine=Engine(kind="matched-banked", banks=1, group=1)
    )
    case = np.full((10_001, 2), -1)
    case[:, 0] = 1
    case[-1, 1] = 2
    found = numbers(schedule(config, Offered.of([case])))
    assert set(found) == set(UNITS)
    assert found["mean wait"] == pytest.approx(1 / 10_002, rel=1e-3)
    assert (found["p99 wait"], found["p99.99 wait"], found["longest wait"]) == (0, 0, 1)
    assert (found["worst backlog"], found["in front"]) == (1, 0)
    assert found["cycles a batch"] == 1.0


@pytest.mark.parametrize("config", [edge(64), aggregation(16), edge(12)])
def test_split_banks_keep_the_classes_apart(config: OfanConfig) -> None:
    config = replace(config, engine=Engine(kind="queued-banked", banks=8))
    banks = split_banks(config)
    data, acks = banks[: config.destinations], banks[config.destinations :]
    assert set(data) == {0, 1, 2, 3} and set(acks) == {4, 5, 6, 7}
    assert (acks == data + 4).all()
    spread = np.bincount(data)
    assert spread.max() - spread.min() <= 1, "banks are equally full"
