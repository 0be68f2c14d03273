"""Sorting networks: the 0-1 proof of each, their sizes, and the hardware that comes of them."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.common.sorter import (
    NETWORKS,
    Network,
    comparators,
    sort_items,
    sorting_network,
    sorts,
    zero_one_outputs,
)
from rtl.common.sorter import Sorter
from tb.bench import exercise
from tb.ofan.reference import FEW

SIZES = {"bitonic": range(1, 65), "odd-even-merge": range(1, 65), "best": (8, 16, 32)}


@pytest.mark.parametrize("name", NETWORKS)
def test_every_network_sorts_every_input(name: str) -> None:
    """By the 0-1 principle, all 2^lanes inputs, up to 64 lanes."""
    assert [lanes for lanes in SIZES[name] if not sorts(sorting_network(name, lanes), lanes)] == []


@pytest.mark.parametrize(("name", "lanes"), [("bitonic", 9), ("odd-even-merge", 10), ("best", 8)])
def test_the_proof_agrees_with_trying_every_input(name: str, lanes: int) -> None:
    network = sorting_network(name, lanes)
    for vector in range(2**lanes):
        bits = [vector >> lane & 1 for lane in range(lanes)]
        assert sort_items(network, bits) == sorted(bits)


@pytest.mark.parametrize("name", NETWORKS)
def test_the_proof_misses_no_comparator(name: str) -> None:
    """Without any one of the comparators of 8 lanes, the proof fails where an input does."""
    network = sorting_network(name, 8)
    for r, rank in enumerate(network):
        for left_out in rank:
            broken = (*network[:r], tuple(p for p in rank if p != left_out), *network[r + 1 :])
            outputs = {
                sum(bit << lane for lane, bit in enumerate(sort_items(broken, bits)))
                for bits in ([v >> lane & 1 for lane in range(8)] for v in range(256))
            }
            assert zero_one_outputs(broken, 8) == outputs
            assert sorts(broken, 8) == (len(outputs) == 9)
            assert name == "bitonic" or not sorts(broken, 8)


@pytest.mark.parametrize("lanes", [32, 64])
@pytest.mark.parametrize("name", ["bitonic", "odd-even-merge"])
def test_a_broken_large_network_is_caught(name: str, lanes: int) -> None:
    network = sorting_network(name, lanes)
    assert not sorts((*network[:-1], network[-1][1:]), lanes)


@pytest.mark.parametrize(
    ("name", "lanes", "count", "depth"),
    [
        ("bitonic", 8, 24, 6),
        ("bitonic", 16, 80, 10),
        ("bitonic", 32, 240, 15),
        ("odd-even-merge", 8, 19, 6),
        ("odd-even-merge", 16, 63, 10),
        ("odd-even-merge", 32, 191, 15),
        ("best", 8, 19, 6),
        ("best", 16, 60, 10),
        ("best", 32, 185, 14),
    ],
)
def test_comparators_and_depth(name: str, lanes: int, count: int, depth: int) -> None:
    network = sorting_network(name, lanes)
    assert (comparators(network), len(network)) == (count, depth)


@pytest.mark.parametrize("name", NETWORKS)
def test_lanes_of_a_rank_are_apart(name: str) -> None:
    for lanes in SIZES[name]:
        for rank in sorting_network(name, lanes):
            used = [lane for pair in rank for lane in pair]
            assert len(used) == len(set(used)) and set(used) <= set(range(lanes))
            assert all(low < high for low, high in rank)


@pytest.mark.parametrize("lanes", [1, 7, 31, 64])
def test_best_is_refused_where_none_is_known(lanes: int) -> None:
    message = f"^network best is known for 8, 16, 32 lanes, not {lanes}$"
    with pytest.raises(ValueError, match=message):
        sorting_network("best", lanes)


def test_bad_parameters() -> None:
    with pytest.raises(ValueError, match=r"^lanes must be an integer from 1 to 64, not 65$"):
        sorting_network("bitonic", 65)
    with pytest.raises(ValueError, match=r"^network must be one of bitonic, .*, not 'bubble'$"):
        sorting_network("bubble", 8)
    network = sorting_network("bitonic", 4)
    with pytest.raises(ValueError, match=r"^ranks_per_stage must be .* 1 to 64, not 0$"):
        Sorter(network, lanes=4, key_bits=4, ranks_per_stage=0)
    with pytest.raises(TypeError, match=r"^key_bits must be .* 0 to 256, not '4'$"):
        Sorter(network, lanes=4, key_bits="4")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"^payload_bits must be .* 0 to 4096, not -1$"):
        Sorter(network, lanes=4, key_bits=4, payload_bits=-1)


def check(dut: Sorter, network: Network, seed: int) -> None:
    """Equal keys may leave in any order; the model takes them in the one of the hardware."""
    rng = random.Random(seed)
    lanes = len(dut.i.payload["items"])

    def beat() -> dict[str, Any]:
        few = rng.choice([0, 1, 2**dut.key_bits - 1])
        keys = [rng.randint(0, few) for _ in range(lanes)]
        payloads = [rng.getrandbits(dut.payload_bits) for _ in range(lanes)]
        items = [{"key": k, "payload": p} for k, p in zip(keys, payloads, strict=True)]
        return {"tag": rng.getrandbits(3), "items": items}

    first, second = [beat() for _ in range(12)], [beat() for _ in range(12)]
    fast, slow, after = exercise(dut, first, second, seed=seed)
    for sent, found in ((first, fast), (second, slow), (first, after)):
        for into, out in zip(sent, found, strict=True):
            assert out.tag == into["tag"]
            items = [Keyed((item["key"], item["payload"])) for item in into["items"]]
            expected = [tuple(item) for item in sort_items(network, items)]
            assert [(item.key, item.payload) for item in out["items"]] == expected


class Keyed(tuple[int, int]):
    """(key, payload), compared by key alone."""

    def __lt__(self, other: tuple[int, int]) -> bool:
        return self[0] < other[0]


@FEW
@given(st.data(), st.integers(1, 12), st.integers(1, 4), st.integers(0, 2**32))
def test_hardware_is_the_model(data: st.DataObject, lanes: int, each: int, seed: int) -> None:
    name = data.draw(st.sampled_from([n for n in NETWORKS if lanes in SIZES[n]]))
    network = sorting_network(name, lanes)
    dut = Sorter(
        network,
        lanes=lanes,
        key_bits=data.draw(st.integers(1, 6)),
        payload_bits=data.draw(st.integers(0, 5)),
        tag_bits=3,
        ranks_per_stage=each,
    )
    assert dut.latency == -(-len(network) // each)
    check(dut, network, seed)
