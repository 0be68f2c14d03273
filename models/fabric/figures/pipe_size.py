"""Figure 6: pOfan's pipes against DRB, over the network's size."""

from __future__ import annotations

import math

from models.fabric.figures.base import Data, Figure, Panel, Point, Verdict, ordered

INCREASE = "increase_percent"
CURVES = ("drb", "pofan1", "pofan2", "pofan4", "ofan")
"""From the highest to the lowest."""


def points(quick: bool) -> list[Point]:
    """Permutations of 1 MB on 128 to 8,192 hosts (quick: 432); pipes of less than k/2 lanes."""
    found = []
    for k in (8, 12) if quick else (8, 12, 16, 24, 32):
        pipes = [width for width in (1, 2, 4) if width < k // 2]
        for curve in ("drb", *(f"pofan{width}" for width in pipes), "ofan"):
            found.append(Point(series=curve, x=k**3 // 4, settings={"k": k, "scheme": curve}))
    return found


def judge(data: Data) -> list[Verdict]:
    """What section 6.1 says of pipe sizes."""
    sizes = data.xs("ofan")
    gap = {x: data.mean("pofan1", x, INCREASE) - data.mean("ofan", x, INCREASE) for x in sizes}
    whole = {x: data.mean("drb", x, INCREASE) - data.mean("ofan", x, INCREASE) for x in sizes}
    share = [gap[x] / whole[x] if whole[x] else math.nan for x in sizes]
    four = [x for x in data.xs("pofan4") if x in sizes] if "pofan4" in data.series() else []
    verdicts = [
        Verdict(
            curve="pofan1 against ofan",
            kind="shape",
            says="the gap expands with the network, somewhat moderately",
            found=", ".join(f"{gap[x]:.2f} points at {x:,} hosts" for x in sizes),
            holds=gap[sizes[-1]] > gap[sizes[0]],
        ),
        Verdict(
            curve="pofan1 against drb",
            kind="factor",
            says="1Ofan roughly halfway between Ofan and DRB",
            found=", ".join(
                f"{100 * s:.0f} % of the way at {x:,} hosts"
                for s, x in zip(share, sizes, strict=True)
            ),
            holds=0.3 <= share[-1] <= 0.7,
        ),
        Verdict(
            curve="all",
            kind="order",
            says="DRB above 1Ofan above wider pipes above Ofan",
            found="; ".join(
                f"{x:,} hosts: "
                + ", ".join(
                    f"{c} {data.mean(c, x, INCREASE):.2f}" for c in CURVES if x in data.xs(c)
                )
                for x in sizes[-1:]
            ),
            holds=all(
                ordered(data, [c for c in CURVES if x in data.xs(c)], x, INCREASE) for x in sizes
            ),
        ),
    ]
    if len(four) > 1:
        gaps = {x: data.mean("pofan4", x, INCREASE) - data.mean("ofan", x, INCREASE) for x in four}
        verdicts.append(
            Verdict(
                curve="pofan4 against ofan",
                kind="shape",
                says="the gap expands with the network, somewhat moderately",
                found=", ".join(f"{gaps[x]:.2f} points at {x:,} hosts" for x in four),
                holds=gaps[four[-1]] > gaps[four[0]],
            )
        )
    return verdicts


FIGURES = {
    "6": Figure(
        name="6",
        title="pOfan's pipe sizes and DRB over the network's size, permutation",
        points=points,
        judge=judge,
        panels=(
            Panel(
                name="",
                x="hosts",
                y="completion-time increase, %",
                measure=INCREASE,
                log_x=True,
            ),
        ),
    )
}
