"""Figure 17: what consolidation brings over DRB, by the network's size."""

from __future__ import annotations

import itertools

from models.fabric.figures.base import Data, Figure, Panel, Point, Verdict

QUEUE = "largest_packets"


def points(quick: bool) -> list[Point]:
    """Inter-pod permutations of 1 MB on 16 to 3,456 hosts (quick: 432)."""
    return [
        Point(
            series=curve,
            x=k**3 // 4,
            settings={"k": k, "scheme": curve, "traffic": "inter-pod"},
        )
        for curve in ("drb", "ofan")
        for k in ((4, 8, 12) if quick else (4, 8, 12, 16, 24))
    ]


def judge(data: Data) -> list[Verdict]:
    """What appendix F.3 says."""
    ratios = {x: data.mean("drb", x, QUEUE) / data.mean("ofan", x, QUEUE) for x in data.xs("ofan")}
    values = list(ratios.values())
    return [
        Verdict(
            curve="largest queue of DRB over that of Ofan",
            kind="shape",
            says="increases with the network's size",
            found=", ".join(f"{ratio:.2f} at {x:,} hosts" for x, ratio in ratios.items()),
            holds=values[-1] > values[0]
            and all(b > 0.95 * a for a, b in itertools.pairwise(values)),
        ),
        Verdict(
            curve="largest queue of DRB over that of Ofan",
            kind="order",
            says="above 1: Ofan's queues are the shorter ones",
            found=f"{values[-1]:.2f} at the largest network",
            holds=values[-1] > 1,
        ),
    ]


FIGURES = {
    "17": Figure(
        name="17",
        title="largest queue of DRB and Ofan over the network's size, inter-pod permutation",
        points=points,
        judge=judge,
        seeds=30,
        panels=(Panel(name="", x="hosts", y="largest queue, packets", measure=QUEUE, log_x=True),),
        note="The paper plots the ratio of the two curves.",
    )
}
