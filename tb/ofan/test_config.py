"""OfanConfig: every refusal in its words, every derived width of every preset, keys and orders."""

from __future__ import annotations

import re
from dataclasses import FrozenInstanceError, replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.ofan.config import PRESETS, OfanConfig, parse_init, parse_order, preset
from models.ofan.order import cyclic_orders, default_permutation

BASE: dict[str, Any] = {"lanes": 6, "uplinks": 6, "destinations": 72}

RANGES = {
    "lanes": (1, 64),
    "uplinks": (1, 64),
    "destinations": (1, 65536),
    "size_classes": (1, 8),
    "pipe_lanes": (1, 6),
    "init": (0, 2**64 - 1),
    "masks": (0, 4096),
    "ranks_per_stage": (1, 32),
    "host_bits": (0, 32),
}


def refusal(error: type[Exception], message: str) -> Any:
    return pytest.raises(error, match=f"^{re.escape(message)}$")


@pytest.mark.parametrize("name", RANGES)
def test_integers_out_of_range_or_of_another_type(name: str) -> None:
    low, high = RANGES[name]
    for value in (low, high):
        if name not in ("lanes", "uplinks"):
            assert getattr(OfanConfig(**{**BASE, name: value}), name) == value
    wrong_type = [True, 2.5, "3", b"3"]
    if name != "pipe_lanes":
        wrong_type.append(None)
    for value, error in [
        (low - 1, ValueError),
        (high + 1, ValueError),
        *((value, TypeError) for value in wrong_type),
    ]:
        with refusal(error, f"{name} must be an integer from {low} to {high}, not {value!r}"):
            OfanConfig(**{**BASE, name: value})


@pytest.mark.parametrize("size", [1, 64])
def test_smallest_and_largest_switch(size: int) -> None:
    c = OfanConfig(lanes=size, uplinks=size, destinations=1)
    assert (c.lanes, c.uplinks) == (size, size)


def test_pipes_must_divide_the_lanes() -> None:
    with refusal(ValueError, "pipe_lanes must divide lanes (6), not 4"):
        OfanConfig(**BASE, pipe_lanes=4)


@pytest.mark.parametrize(
    ("order", "error", "shown"),
    [
        ((0, 1, 2, 3), ValueError, "'0,1,2,3'"),
        ((0, 1, 2, 3, 4, 4), ValueError, "'0,1,2,3,4,4'"),
        ("shuffled", ValueError, "'shuffled'"),
        ((0.0, 1, 2, 3, 4, 5), TypeError, "(0.0, 1, 2, 3, 4, 5)"),
        (5, TypeError, "5"),
    ],
)
def test_order_must_be_a_permutation(order: Any, error: type[Exception], shown: str) -> None:
    with refusal(error, f"order must be plain or a permutation of 0 to 5, not {shown}"):
        OfanConfig(**BASE, order=order)


@pytest.mark.parametrize(
    ("name", "choices"),
    [("network", "bitonic, odd-even-merge, best"), ("lookup", "none, table, aligned")],
)
def test_choices(name: str, choices: str) -> None:
    for value, error in (("bogus", ValueError), (3, TypeError)):
        with refusal(error, f"{name} must be one of {choices}, not {value!r}"):
            OfanConfig(**{**BASE, name: value})


@pytest.mark.parametrize("value", ["yes", 1, None])
def test_skip_own_is_a_truth_value(value: Any) -> None:
    with refusal(TypeError, f"skip_own must be True or False, not {value!r}"):
        OfanConfig(**BASE, skip_own=value)


def test_best_network_exists_for_some_pipes_only() -> None:
    message = "network best is known for 8, 16, 32 lanes, not 6"
    with refusal(ValueError, message):
        OfanConfig(**BASE, network="best")
    assert preset("edge-k64", network="best").network == "best"
    with refusal(ValueError, "network best is known for 8, 16, 32 lanes, not 4"):
        preset("pofan4-k64", network="best")


def test_unknown_preset_lists_them_all() -> None:
    with refusal(ValueError, f"preset must be one of {', '.join(PRESETS)}, not 'edge-k7'"):
        preset("edge-k7")


def test_presets_asked_for_are_there() -> None:
    wanted = {"edge-k64", "agg-k64", "edge-k32", "edge-k12", "edge-k8", "pofan4-k64", "pofan1-k64"}
    assert wanted <= set(PRESETS)


def test_frozen_and_keyword_only() -> None:
    config = OfanConfig(**BASE)
    with pytest.raises(FrozenInstanceError):
        config.lanes = 5  # type: ignore[misc]
    with pytest.raises(TypeError, match="positional"):
        OfanConfig(6, 6, 72)  # type: ignore[misc]


# preset: lanes uplinks destinations pipes | keys key b dest class lane mask prefix request answer
# pointer_bits, worked out from the radix by hand
WIDTHS = {
    "edge-k64": (32, 32, 2048, 1, 4096, 12, 5, 11, 1, 5, 4, 11, 12, 6, 20480),
    "agg-k64": (32, 32, 63, 1, 126, 7, 5, 6, 1, 5, 4, 6, 7, 6, 630),
    "edge-k32": (16, 16, 512, 1, 1024, 10, 4, 9, 1, 4, 4, 9, 10, 5, 4096),
    "agg-k32": (16, 16, 31, 1, 62, 6, 4, 5, 1, 4, 4, 5, 6, 5, 248),
    "edge-k16": (8, 8, 128, 1, 256, 8, 3, 7, 1, 3, 4, 7, 8, 4, 768),
    "agg-k16": (8, 8, 15, 1, 30, 5, 3, 4, 1, 3, 4, 4, 5, 4, 90),
    "edge-k12": (6, 6, 72, 1, 144, 8, 3, 7, 1, 3, 4, 7, 8, 4, 432),
    "agg-k12": (6, 6, 11, 1, 22, 5, 3, 4, 1, 3, 4, 4, 5, 4, 66),
    "edge-k8": (4, 4, 32, 1, 64, 6, 2, 5, 1, 2, 4, 5, 6, 3, 128),
    "agg-k8": (4, 4, 7, 1, 14, 4, 2, 3, 1, 2, 4, 3, 4, 3, 28),
    "edge-k4": (2, 2, 8, 1, 16, 4, 1, 3, 1, 1, 4, 3, 4, 2, 16),
    "pofan4-k64": (32, 32, 2048, 8, 4096, 12, 5, 11, 1, 2, 4, 11, 12, 6, 163840),
    "pofan1-k64": (32, 32, 2048, 32, 4096, 12, 5, 11, 1, 0, 4, 11, 12, 6, 655360),
    "pofan4-k16": (8, 8, 128, 2, 256, 8, 3, 7, 1, 2, 4, 7, 8, 4, 1536),
}


OF_THE_PAPER = [name for name, config in PRESETS.items() if not config.engine.banked]
"""Presets whose engine is the paper's; the others are these with another engine."""


@pytest.mark.parametrize("name", OF_THE_PAPER)
def test_derived_widths_of_every_preset(name: str) -> None:
    c = PRESETS[name]
    assert (
        c.lanes,
        c.uplinks,
        c.destinations,
        c.pipes,
        c.keys,
        c.key_bits,
        c.uplink_bits,
        c.destination_bits,
        c.class_bits,
        c.lane_bits,
        c.mask_bits,
        c.prefix_bits,
        c.request_bits,
        c.answer_bits,
        c.pointer_bits,
    ) == WIDTHS[name]
    assert c.lanes_per_pipe * c.pipes == c.lanes


@pytest.mark.parametrize("name", OF_THE_PAPER)
def test_presets_follow_from_their_radix(name: str) -> None:
    c = PRESETS[name]
    radix = int(name.split("-k")[1])
    assert c.lanes == c.uplinks == radix // 2
    assert c.destinations == (radix - 1 if name.startswith("agg") else radix * radix // 2)
    assert c.size_classes == 2 and c.order == default_permutation(c.uplinks)


def test_requests_with_a_lookup_carry_an_address() -> None:
    for lookup in ("table", "aligned"):
        assert preset("edge-k64", lookup=lookup).request_bits == 11 + 8 + 1
        assert preset("edge-k12", lookup=lookup, host_bits=3).request_bits == 7 + 3 + 1
        # 63 pods have numbers and the switch's own has none: 64 prefixes
        assert preset("agg-k64", lookup=lookup).request_bits == 6 + 8 + 1
        assert preset("agg-k64", destinations=64, lookup=lookup).request_bits == 7 + 8 + 1


def test_smallest_widths() -> None:
    c = OfanConfig(lanes=1, uplinks=1, destinations=1, size_classes=1, masks=0)
    assert (c.key_bits, c.uplink_bits, c.mask_bits, c.lane_bits) == (0, 0, 0, 0)
    assert (c.request_bits, c.answer_bits, c.pointer_bits) == (1, 1, 0)
    assert OfanConfig(**BASE, masks=1).mask_bits == 0
    assert OfanConfig(**BASE, masks=17).mask_bits == 5


def test_no_order_means_the_default_one() -> None:
    c = OfanConfig(**BASE)
    assert c.order == default_permutation(6)
    assert isinstance(c.order, tuple) and cyclic_orders(c.order) == 36


def test_an_order_may_be_a_list_and_is_kept_as_a_tuple() -> None:
    c = OfanConfig(**BASE, order=[5, 4, 3, 2, 1, 0])  # type: ignore[arg-type]
    assert c.order == (5, 4, 3, 2, 1, 0)
    assert hash(c) == hash(replace(c))


def test_changed_uplinks_take_the_default_order_of_their_number() -> None:
    assert preset("edge-k12", uplinks=5).order == default_permutation(5)
    assert preset("edge-k12", uplinks=4, order=(3, 1, 0, 2)).order == (3, 1, 0, 2)
    assert preset("edge-k12", uplinks=4, order="plain").order == "plain"
    with refusal(ValueError, "order must be plain or a permutation of 0 to 3, not '0,1,2,3,4,5'"):
        preset("edge-k12", uplinks=4, order=(0, 1, 2, 3, 4, 5))


def test_preset_without_changes_is_the_row_itself() -> None:
    assert preset("edge-k12") == PRESETS["edge-k12"]
    assert preset("edge-k12", masks=0) == replace(PRESETS["edge-k12"], masks=0)


@given(st.integers(1, 200), st.integers(1, 8))
def test_keys_number_destination_and_class_without_gap(destinations: int, classes: int) -> None:
    c = OfanConfig(lanes=1, uplinks=2, destinations=destinations, size_classes=classes)
    keys = [c.key(d, t) for t in range(classes) for d in range(destinations)]
    assert keys == list(range(c.keys))
    assert c.keys <= 2**c.key_bits < max(2, 2 * c.keys)


@pytest.mark.parametrize(
    ("text", "order"),
    [("plain", "plain"), ("0,3,1,2", (0, 3, 1, 2)), (" 0, 3 ,1,2 ", (0, 3, 1, 2)), ("0", (0,))],
)
def test_order_from_text(text: str, order: Any) -> None:
    assert parse_order(text) == order


@pytest.mark.parametrize("text", ["", "Plain", "0,,1", "0;1", "-1,0", "0.5", "0,1,"])
def test_bad_order_text(text: str) -> None:
    with refusal(ValueError, f"order must be plain or numbers with commas, not {text!r}"):
        parse_order(text)


def test_init_from_text() -> None:
    assert parse_init("zero") == "zero"
    assert parse_init("0") == 0
    assert parse_init("18446744073709551615") == 2**64 - 1


@pytest.mark.parametrize("text", ["", "one", "-1", "1.0", "0x10"])
def test_bad_init_text(text: str) -> None:
    with refusal(ValueError, f"init must be zero or a seed, not {text!r}"):
        parse_init(text)
