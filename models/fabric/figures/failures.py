"""Figure 9: links that are down."""

from __future__ import annotations

from models.fabric.figures.base import (
    COMPARED,
    NAMES,
    Data,
    Figure,
    Panel,
    Point,
    Verdict,
    scheme_for,
    shown,
)

INCREASE = "increase_percent"
SHARES = (0.0, 0.005, 0.01, 0.02, 0.05)


def points(quick: bool) -> list[Point]:
    """Permutations of 1 MB on 432 hosts (quick: 128)."""
    k = 8 if quick else 12
    return [
        Point(
            panel=panel,
            series=curve,
            x=share * 100,
            settings={
                "k": k,
                "scheme": scheme_for(curve, k),
                "link_failure": share,
                "rate_balance": panel,
            },
        )
        for panel in ("paths", "hops")
        for curve in COMPARED
        for share in SHARES
    ]


def judge(data: Data) -> list[Verdict]:
    """What section 6.2 says."""
    verdicts = []
    for panel in ("paths", "hops"):
        xs = data.xs("ofan", panel)
        means = {curve: data.mean(curve, xs[-1], INCREASE, panel) for curve in COMPARED}
        rho = data.mean("ofan", xs[-1], "rho_max", panel)
        gaps = {
            (old, x): data.difference(old, "ofan", x, INCREASE, panel)
            for old in ("reps", "ar")
            for x in xs
        }
        (old, x), (gap, sem) = min(gaps.items(), key=lambda item: item[1][0])
        holds = gap >= 0
        verdicts.append(
            Verdict(
                curve=f"{panel}: ofan, reps, ar",
                kind="order",
                says="the order stays, Ofan beats REPS and AR at every probability",
                found=f"{shown(means)} % at {xs[-1]:g} %, ρ_max {rho:.3f} there; Ofan's least "
                f"lead is {gap:.1f} ± {sem or 0:.1f} points, before {NAMES[old]} at {x:g} %",
                holds=holds,
                reason=""
                if holds
                else "a rotation that skips invalid uplinks does not balance as ρ_max supposes, "
                "and schemes that read queues move into the slack that ρ_max leaves",
            )
        )
        growth = {c: means[c] - data.mean(c, xs[0], INCREASE, panel) for c in COMPARED}
        verdicts.append(
            Verdict(
                curve=f"{panel}: all",
                kind="shape",
                says="rises with the probability",
                found=f"by {shown(growth)} points up to {xs[-1]:g} %",
                holds=min(growth.values()) > 0,
            )
        )
    return verdicts


FIGURES = {
    "9": Figure(
        name="9",
        title="completion-time increase with links down, over the bound of the whole network",
        points=points,
        judge=judge,
        panels=tuple(
            Panel(
                name=panel,
                of=panel,
                x="links down, %",
                y="completion-time increase, %",
                measure=INCREASE,
            )
            for panel in ("paths", "hops")
        ),
        note="The paper's probabilities and the meaning of “balanced perfectly” in ρ_max are not "
        "stated: 0 to 5 %, and both meanings.",
    )
}
