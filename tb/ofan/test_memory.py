"""The memory sizes sections 4.1 and 5.1 state, and the law behind them."""

from __future__ import annotations

import math

import pytest

from models.ofan.config import PRESETS, OfanConfig, preset
from models.ofan.memory import memory


def test_edge_switch_of_section_4_1() -> None:
    found = memory(preset("edge-k64"))
    assert found.pointers == 4096
    assert found.pointer_bits == 4096 * 5 == 20480
    assert found.pointer_bytes == 2560  # 2.5 KB
    assert found.order_bytes == 20


def test_aggregation_switch_of_section_4_1() -> None:
    found = memory(preset("agg-k64"))
    assert found.pointers == 126
    assert found.pointer_bits == 630
    assert found.pointer_bytes == 79
    assert found.order_bytes == 20


def test_pofan_of_section_5_1_has_32k_pointers_and_one_permutation() -> None:
    found = memory(preset("pofan4-k64"))
    assert found.pointers == 8 * 4096 == 32768
    assert found.pointer_bytes == 20480
    assert found.order_bytes == 20


@pytest.mark.parametrize("name", PRESETS)
def test_every_preset_by_the_law(name: str) -> None:
    c = PRESETS[name]
    bits = math.ceil(math.log2(c.uplinks))
    files = 1 if c.pipe_lanes is None else c.lanes // c.pipe_lanes
    found = memory(c)
    assert found.pointers == files * c.destinations * c.size_classes
    assert found.pointer_bits == found.pointers * bits
    assert found.order_bits == c.uplinks * bits
    assert found.pointer_bytes == math.ceil(found.pointer_bits / 8)
    assert found.order_bytes == math.ceil(found.order_bits / 8)


def test_plain_order_stores_no_permutation_and_one_uplink_nothing() -> None:
    assert memory(preset("edge-k64", order="plain")).order_bits == 0
    one = memory(OfanConfig(lanes=1, uplinks=1, destinations=10))
    assert (one.pointers, one.pointer_bytes, one.order_bytes) == (20, 0, 0)
