"""π of appendix F.2 for every w, and the number of cyclic orders of a permutation P.

The RTL takes its permutation from the model, so π is also worked out here by hand-written cases,
and the counts by brute force over rotated tuples.
"""

from __future__ import annotations

import random
import re
import time
from collections import Counter
from functools import cache
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.ofan.order import (
    best_permutation,
    check_permutation,
    cyclic_orders,
    default_permutation,
    order_table,
    pi,
    shift_orders,
    xor_w,
)

EVERY_W = range(1, 65)


def bits(w: int) -> int:
    """⌈log2 w⌉ by counting doublings."""
    b = 0
    while 2**b < w:
        b += 1
    return b


def distinct_cycles(orders: list[tuple[int, ...]]) -> int:
    """How many of the orders differ when each is turned to begin with uplink 0."""
    return len({order[order.index(0) :] + order[: order.index(0)] for order in orders})


def brute_orders(p: tuple[int, ...]) -> int:
    w, b = len(p), bits(len(p))
    return distinct_cycles(
        [tuple(pi(p, w, ident, i) for i in range(w)) for ident in range(2**b * w)]
    )


def brute_shifts(p: tuple[int, ...]) -> int:
    w = len(p)
    return distinct_cycles([tuple((port + c) % w for port in p) for c in range(w)])


@cache
def all_counts(w: int) -> Counter[int]:
    return Counter(cyclic_orders(p) for p in permutations(range(w)))


def test_pi_by_hand() -> None:
    p = (3, 0, 5, 1, 4, 2)  # w = 6, b = 3
    assert [pi(p, 6, 0, i) for i in range(6)] == [3, 0, 5, 1, 4, 2]
    # id = 2: 3^2 = 1, 0^2 = 2, 5^2 = 7 stays 5, 1^2 = 3, 4^2 = 6 stays 4, 2^2 = 0
    assert [pi(p, 6, 2, i) for i in range(6)] == [1, 2, 5, 3, 4, 0]
    # id = 34 = 4·8 + 2: the same, 4 further modulo 6
    assert [pi(p, 6, 34, i) for i in range(6)] == [5, 0, 3, 1, 2, 4]


def test_plain_is_the_position_itself() -> None:
    assert [pi("plain", 6, 77, i) for i in range(6)] == [0, 1, 2, 3, 4, 5]
    assert order_table("plain", 6, 5).tolist() == [[0, 1, 2, 3, 4, 5]] * 5


@pytest.mark.parametrize("w", EVERY_W)
def test_xor_w_is_one_to_one_and_its_own_inverse(w: int) -> None:
    for x in range(2 ** bits(w)):
        image = [xor_w(v, x, w) for v in range(w)]
        assert sorted(image) == list(range(w))
        assert [xor_w(v, x, w) for v in image] == list(range(w))
        assert all(image[v] == (v ^ x if v ^ x < w else v) for v in range(w))


@pytest.mark.parametrize("w", EVERY_W)
def test_pi_is_a_permutation_for_every_identifier(w: int) -> None:
    p = default_permutation(w)
    rows = order_table(p, w, 2 ** bits(w) * w + 3)
    assert (np.sort(rows, axis=1) == np.arange(w)).all()


@pytest.mark.parametrize("w", EVERY_W)
def test_table_is_pi(w: int) -> None:
    p = default_permutation(w)
    b = bits(w)
    edges = {0, 1, 2**b - 1, 2**b, 2**b * w - 1, 2**b * w, 2**b * w + 1}
    idents = sorted(edges | set(random.Random(w).sample(range(2**b * w + 2), min(w, 12))))
    table = order_table(p, w, 2**b * w + 2)
    assert table.shape == (2**b * w + 2, w) and table.dtype == np.uint8
    for ident in idents:
        assert table[ident].tolist() == [pi(p, w, ident, i) for i in range(w)]


@pytest.mark.parametrize("w", EVERY_W)
def test_order_repeats_after_all_identifiers(w: int) -> None:
    """id1 has 2^b values and id2 counts modulo w, so 2^b·w identifiers are all there are."""
    p = default_permutation(w)
    period = 2 ** bits(w) * w
    table = order_table(p, w, 2 * period)
    assert (table[:period] == table[period:]).all()


@pytest.mark.parametrize("w", range(1, 7))
def test_counts_against_brute_force_for_all_permutations(w: int) -> None:
    for p in permutations(range(w)):
        assert shift_orders(p) == brute_shifts(p)
        if w < 6 or p[0] < 2:
            assert cyclic_orders(p) == brute_orders(p)


@given(st.integers(7, 20).flatmap(lambda w: st.permutations(range(w))))
def test_counts_against_brute_force(p: list[int]) -> None:
    assert shift_orders(p) == brute_shifts(tuple(p))
    assert cyclic_orders(p) == brute_orders(tuple(p))


def test_all_720_permutations_of_six_uplinks() -> None:
    """The paper's 30 is the usual count; 36 is the most."""
    assert all_counts(6) == {
        10: 24, 11: 12, 14: 36, 19: 36, 20: 36, 24: 108, 30: 288, 33: 144, 36: 36,
    }  # fmt: skip


def test_additions_alone_give_six_orders_of_six_uplinks() -> None:
    counts = Counter(shift_orders(p) for p in permutations(range(6)))
    assert max(counts) == 6 and counts[6] == 648
    assert shift_orders((0, 1, 2, 3, 4, 5)) == 1  # adding one to 0,1,2,… only turns it
    assert shift_orders((0, 2, 1, 3, 5, 4)) == 3


@pytest.mark.parametrize(
    ("w", "orders"),
    [(1, 1), (2, 1), (3, 2), (4, 4), (6, 36), (8, 32), (12, 168), (16, 128), (32, 512), (64, 2048)],
)
def test_orders_of_the_default_permutation(w: int, orders: int) -> None:
    assert cyclic_orders(default_permutation(w)) == orders


@pytest.mark.parametrize("w", range(1, 8))
def test_default_has_the_most_orders_of_all_permutations_with_distinct_shifts(w: int) -> None:
    allowed = [p for p in permutations(range(w)) if w < 4 or shift_orders(p) == w]
    assert cyclic_orders(default_permutation(w)) == max(map(cyclic_orders, allowed))


@pytest.mark.parametrize("w", [2, 4, 8, 16, 32])
def test_power_of_two_has_at_most_half_w_squared_orders(w: int) -> None:
    rng = random.Random(w)
    for _ in range(40):
        p = list(range(w))
        rng.shuffle(p)
        assert cyclic_orders(p) <= w * w // 2


@pytest.mark.parametrize("w", EVERY_W)
def test_default_meets_the_papers_condition_from_four_uplinks_on(w: int) -> None:
    p = default_permutation(w)
    assert sorted(p) == list(range(w))
    assert shift_orders(p) == (w if w >= 4 or w == 1 else 1)


@pytest.mark.parametrize("w", [2, 3])
def test_below_four_uplinks_no_permutation_meets_the_condition(w: int) -> None:
    assert {shift_orders(p) for p in permutations(range(w))} == {1}
    assert set(all_counts(w)) == {best_permutation(w, draws=10)[1]}
    assert best_permutation(w, draws=0)[0] == tuple(range(w))


@pytest.mark.parametrize("w", EVERY_W)
def test_no_draw_at_all_still_meets_the_condition(w: int) -> None:
    p, orders = best_permutation(w, draws=0)
    assert shift_orders(p) == (w if w >= 4 or w == 1 else 1)
    assert orders == cyclic_orders(p)


def test_more_draws_are_never_worse_and_the_condition_beats_the_count() -> None:
    assert best_permutation(12, 20)[1] >= best_permutation(12, 2)[1]
    # w = 5: 22 orders are possible, but only by a P whose shifts all coincide
    assert max(all_counts(5)) == 22
    assert {shift_orders(p) for p in permutations(range(5)) if cyclic_orders(p) == 22} == {1}
    assert best_permutation(5, 500)[1] == 21


def test_search_is_the_same_each_time_and_depends_on_its_seed() -> None:
    assert best_permutation(12, 5, seed=3) == best_permutation(12, 5, seed=3)
    assert best_permutation(12, 5, seed=3)[0] != best_permutation(12, 5, seed=4)[0]


def test_default_of_the_largest_switch_is_found_fast() -> None:
    """Every configuration calls it; five times the 0.07 s measured leaves room for a slow core."""
    default_permutation.cache_clear()
    start = time.process_time()
    default_permutation(64)
    assert time.process_time() - start < 0.35


@pytest.mark.parametrize("w", [1, 6, 64])
def test_check_returns_a_tuple(w: int) -> None:
    assert check_permutation(list(range(w)), w) == tuple(range(w))


@pytest.mark.parametrize(
    ("order", "error", "shown"),
    [
        ((0, 1, 2), ValueError, "'0,1,2'"),
        ((0, 1, 2, 2), ValueError, "'0,1,2,2'"),
        ((1, 2, 3, 4), ValueError, "'1,2,3,4'"),
        ("random", ValueError, "'random'"),
        ((0.0, 1.0, 2.0, 3.0), TypeError, "(0.0, 1.0, 2.0, 3.0)"),
        ((False, True, 2, 3), TypeError, "(False, True, 2, 3)"),
        (("0", 1, 2, 3), TypeError, "('0', 1, 2, 3)"),
        (7, TypeError, "7"),
    ],
)
def test_bad_order(order: tuple[int, ...], error: type[Exception], shown: str) -> None:
    message = f"order must be plain or a permutation of 0 to 3, not {shown}"
    with pytest.raises(error, match=f"^{re.escape(message)}$"):
        check_permutation(order, 4)


def test_bad_search() -> None:
    with pytest.raises(ValueError, match=r"^uplinks must be an integer from 1 to 64, not 65$"):
        best_permutation(65, 1)
    with pytest.raises(
        ValueError, match=r"^draws must be an integer from 0 to 1000000000, not -1$"
    ):
        best_permutation(6, -1)
