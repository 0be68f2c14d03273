"""The numbers of the fat tree's hosts and switches."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from models.fabric.fattree import FatTree, parse_switch


@pytest.mark.parametrize(("radix", "hosts"), [(2, 2), (4, 16), (12, 432), (16, 1024), (32, 8192)])
def test_sizes(radix: int, hosts: int) -> None:
    tree = FatTree(radix)
    assert tree.hosts == hosts
    assert tree.edges == radix**2 // 2


def test_every_edge_switch_has_each_lane_once() -> None:
    tree = FatTree(6)
    hosts = np.arange(tree.hosts)
    places = Counter(zip(tree.edge_of(hosts).tolist(), tree.lane_of(hosts).tolist(), strict=True))
    assert places == Counter((e, lane) for e in range(tree.edges) for lane in range(3))
    assert Counter(tree.pod_of(e) for e in range(tree.edges)) == dict.fromkeys(range(6), 3)


@pytest.mark.parametrize("own", range(4))
def test_other_pods_are_numbered_without_a_gap(own: int) -> None:
    tree = FatTree(4)
    others = np.array([pod for pod in range(4) if pod != own])
    assert tree.other_pod(others, own).tolist() == [0, 1, 2]


@pytest.mark.parametrize("radix", [15, 0, 130, -2, 1])
def test_bad_radix(radix: int) -> None:
    with pytest.raises(ValueError, match=f"^radix must be an even .* from 2 to 128, not {radix}$"):
        FatTree(radix)


@pytest.mark.parametrize("radix", ["4", 4.0, True])
def test_radix_of_a_wrong_type(radix: object) -> None:
    with pytest.raises(TypeError, match=r"^radix must be an even integer from 2 to 128, not"):
        FatTree(radix)  # pyright: ignore[reportArgumentType]


def test_parse_switch() -> None:
    tree = FatTree(4)
    assert parse_switch("edge:3", tree) == ("edge", 3)
    assert parse_switch("agg:0", tree) == ("agg", 0)


@pytest.mark.parametrize("text", ["edge", "edge:", "core:1", "edge:-1", "edge:x", "edge:1:2", ""])
def test_malformed_switch(text: str) -> None:
    with pytest.raises(ValueError, match="switch must be edge:NUMBER or agg:NUMBER") as caught:
        parse_switch(text, FatTree(4))
    assert str(caught.value).endswith(f"not {text!r}")


def test_switch_out_of_range() -> None:
    with pytest.raises(ValueError, match="switch must be an integer from 0 to 7, not 8"):
        parse_switch("agg:8", FatTree(4))
