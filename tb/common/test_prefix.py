"""Parallel-prefix networks: what each lane knows in the end, and how many nodes that takes."""

from __future__ import annotations

from operator import add

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.common.prefix import prefix_network, scan


@pytest.mark.parametrize("lanes", range(1, 65))
def test_each_lane_knows_all_lanes_below_once_and_in_order(lanes: int) -> None:
    """Joining by `+` on strings: none missing, none twice, none out of place."""
    letters = [chr(0x4E00 + lane) for lane in range(lanes)]
    assert scan(letters, add) == ["".join(letters[: lane + 1]) for lane in range(lanes)]


@pytest.mark.parametrize("lanes", range(1, 65))
def test_depth_is_the_least_there_is(lanes: int) -> None:
    network = prefix_network(lanes)
    assert 2 ** len(network) >= lanes > 2 ** (len(network) - 1) or (lanes == 1 and not network)
    for rank in network:
        written = [right for _, right in rank]
        assert len(written) == len(set(written))
        assert not {left for left, _ in rank} & set(written), "a rank reads what it writes"


@pytest.mark.parametrize(("lanes", "nodes"), [(1, 0), (2, 1), (8, 12), (32, 80), (64, 192)])
def test_nodes(lanes: int, nodes: int) -> None:
    """80 for 32 lanes: the paper's "≈ 80 small adder nodes"."""
    assert sum(len(rank) for rank in prefix_network(lanes)) == nodes


@given(st.lists(st.integers(), min_size=1, max_size=64))
def test_sums(values: list[int]) -> None:
    assert scan(values, add) == [sum(values[: n + 1]) for n in range(len(values))]


@pytest.mark.parametrize("lanes", [0, 65])
def test_bad_lanes(lanes: int) -> None:
    with pytest.raises(ValueError, match=f"^lanes must be an integer from 1 to 64, not {lanes}$"):
        prefix_network(lanes)
