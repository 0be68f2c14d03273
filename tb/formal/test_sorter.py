"""Proofs of the sorter: a permutation, in order, and the same whatever the network."""

from __future__ import annotations

import pytest
from amaranth.hdl import Cat, Value

from models.common.sorter import sorting_network
from rtl.common.sorter import Sorter
from tb.formal.bench import Bench
from tb.formal.equal import prove_equal
from tb.formal.naive import total
from tb.formal.prove import Disproved, prove

pytestmark = pytest.mark.formal


def sorter(network: str, lanes: int, key_bits: int, **bits: int) -> Sorter:
    """A sorter with one register stage: it remembers one beat, so three cycles show all it does."""
    return Sorter(
        sorting_network(network, lanes), lanes=lanes, key_bits=key_bits, ranks_per_stage=64, **bits
    )


@pytest.mark.parametrize(
    ("network", "lanes", "key_bits", "payload_bits"),
    [("bitonic", 4, 3, 2), ("odd-even-merge", 4, 3, 2), ("bitonic", 8, 1, 1), ("best", 8, 2, 0)],
)
def test_output_is_the_input_in_order(
    network: str, lanes: int, key_bits: int, payload_bits: int
) -> None:
    bench = Bench()
    bench.m.submodules.dut = dut = sorter(
        network, lanes, key_bits, payload_bits=payload_bits, tag_bits=2
    )
    bench.drive(dut.i)
    bench.drain(dut.o, ready=1)
    before = dut.i.payload.shape()(bench.past(dut.i.payload, "i"))
    item = bench.constant(key_bits + payload_bits, "item")

    def count(items: object, name: str) -> Value:
        same = [one.as_value() == item for one in items]  # type: ignore[attr-defined]
        return bench.see(f"count_{name}", total(same))

    came, left = count(before.items, "in"), count(dut.o.p.items, "out")
    bench.check("permutation", ~dut.o.valid | (came == left))
    pairs = [(dut.o.p.items[n].key, dut.o.p.items[n + 1].key) for n in range(lanes - 1)]
    bench.check("in_order", ~dut.o.valid | Cat(low <= high for low, high in pairs).all())
    bench.check("tag", ~dut.o.valid | (dut.o.p.tag == before.tag))
    prove(bench, f"sorter-{network}-{lanes}", depth=3, induction=False)


@pytest.mark.parametrize("other", ["odd-even-merge", "best"])
def test_networks_are_equivalent(other: str) -> None:
    prove_equal(sorter("bitonic", 8, 2), sorter(other, 8, 2), f"bitonic-{other}", depth=3)


def test_a_network_that_does_not_sort_is_seen() -> None:
    network = sorting_network("odd-even-merge", 4)[:-1]
    broken = Sorter(network, lanes=4, key_bits=3, ranks_per_stage=64)
    with pytest.raises(Disproved, match="o_payload_equal .*FAILS"):
        prove_equal(sorter("bitonic", 4, 3), broken, "bitonic-broken", depth=3)
