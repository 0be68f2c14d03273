"""Figure 1: the load swept to 100 %."""

from __future__ import annotations

from models.fabric.figures.base import (
    COMPARED,
    Data,
    Figure,
    Panel,
    Point,
    Verdict,
    scheme_for,
    shown,
)

LOADS = (0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.925, 0.95, 0.975, 1.0)
UTILIZATION, QUEUE, TIME = "utilization_percent", "largest_packets", "completion_us"
OLD = ("reps", "ar")


def points(quick: bool) -> list[Point]:
    """A permutation of 1 MB messages on 432 hosts (quick: 128)."""
    k = 8 if quick else 12
    return [
        Point(series=curve, x=load, settings={"k": k, "scheme": scheme_for(curve, k), "rate": load})
        for curve in COMPARED
        for load in (LOADS[::2] + LOADS[-1:] if quick else LOADS)
    ]


def judge(data: Data) -> list[Verdict]:
    """What section 1 says of the three panels."""
    verdicts = []
    for curve in OLD:
        early = data.mean(curve, 0.7, UTILIZATION) - 70
        full = data.mean(curve, 1.0, UTILIZATION)
        verdicts.append(
            Verdict(
                curve=f"a: {curve}",
                kind="shape",
                says="leaves the diagonal y = x beyond load 0.9; below 95 % at load 1",
                found=f"{early:+.1f} points from it at load 0.7, {full:.1f} % at load 1",
                holds=abs(early) < 5 and full < 95,
                reason=""
                if abs(early) < 5
                else "utilization is the paper's own, undefined measure",
            )
        )
    best = data.mean("ofan", 1.0, UTILIZATION)
    verdicts.append(
        Verdict(
            curve="a: ofan",
            kind="factor",
            says="about 99 % at load 1",
            found=f"{best:.1f} %",
            holds=98 <= best <= 100,
            reason=""
            if best >= 98
            else "data alone counts here, and ACKs take 2 % of the links; the paper's own measure "
            "is not defined",
        )
    )
    top = {curve: data.mean(curve, 1.0, QUEUE) for curve in COMPARED}
    for curve in OLD:
        before = (
            data.mean(curve, 0.9, QUEUE) if 0.9 in data.xs(curve) else data.mean(curve, 0.85, QUEUE)
        )
        verdicts.append(
            Verdict(
                curve=f"b: {curve}",
                kind="shape",
                says="largest queue grows significantly towards load 1",
                found=f"{before:.1f} packets at load 0.9, {top[curve]:.1f} at load 1",
                holds=top[curve] > 1.5 * before,
                reason=""
                if top[curve] > 1.5 * before
                else f"it grows over the whole range, from {data.mean(curve, 0.5, QUEUE):.1f} "
                "packets at load 0.5",
            )
        )
    verdicts.append(
        Verdict(
            curve="b: ofan, 4ofan",
            kind="order",
            says="much smaller queues than REPS and AR",
            found=f"{shown(top)} packets at load 1",
            holds=max(top["ofan"], top["4ofan"]) < min(top["reps"], top["ar"]) / 2,
        )
    )
    for curve in (*OLD, "ofan"):
        # A message takes 10.7 µs / load, so from 0.85 to 1 an ideal network gains this much.
        gained = data.mean(curve, 0.85, TIME) - data.mean(curve, 1.0, TIME)
        ideal = 256 * 4178 / 1e5 * (1 / 0.85 - 1)
        old = curve in OLD
        verdicts.append(
            Verdict(
                curve=f"c: {curve}",
                kind="shape",
                says="improves less beyond load 0.9" if old else "keeps improving",
                found=f"{gained:.2f} µs faster from load 0.85 to 1, an ideal network {ideal:.2f}",
                holds=(gained < 0.75 * ideal) if old else gained > 0.75 * ideal,
            )
        )
    order = {curve: data.mean(curve, 1.0, TIME) for curve in COMPARED}
    verdicts.append(
        Verdict(
            curve="c: all",
            kind="order",
            says="Ofan ends first",
            found=f"{shown(order)} µs at load 1",
            holds=order["ofan"] <= order["4ofan"] < min(order["ar"], order["reps"]),
        )
    )
    return verdicts


FIGURES = {
    "1": Figure(
        name="1",
        title="utilization, largest queue and completion time as load rises",
        points=points,
        judge=judge,
        panels=(
            Panel(name="a", x="load", y="utilization, %", measure=UTILIZATION),
            Panel(name="b", x="load", y="largest queue, packets", measure=QUEUE),
            Panel(name="c", x="load", y="completion, µs", measure=TIME),
        ),
        note="Utilization is not defined in the paper. Here: a host's data over the time it took "
        "to get through, round trip taken off, the mean over hosts.",
    )
}
