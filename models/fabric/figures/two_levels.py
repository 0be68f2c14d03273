"""Figure 10: a two-level tree."""

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

INCREASE, QUEUE = "increase_percent", "largest_packets"


def points(quick: bool) -> list[Point]:
    """A permutation of 1 MB on 2,048 hosts under k = 64 (quick: 128, k = 16)."""
    k = 16 if quick else 64
    return [
        Point(
            series="1 MB", x=curve, settings={"k": k, "levels": 2, "scheme": scheme_for(curve, k)}
        )
        for curve in COMPARED
    ]


def judge(data: Data) -> list[Verdict]:
    """What section 6.3 says."""
    means = {curve: data.mean("1 MB", curve, INCREASE) for curve in COMPARED}
    times = {curve: data.mean("1 MB", curve, "completion_us") for curve in COMPARED}
    queues = {curve: data.mean("1 MB", curve, QUEUE) for curve in COMPARED}
    less = {
        old: (1 - max(times["ofan"], times["4ofan"]) / times[old]) * 100 for old in ("reps", "ar")
    }
    return [
        Verdict(
            curve="a: all",
            kind="order",
            says="4Ofan and Ofan beat REPS and AR",
            found=f"increase {shown(means)} %",
            holds=max(means["ofan"], means["4ofan"]) < min(means["reps"], means["ar"]),
        ),
        Verdict(
            curve="a: ofan, 4ofan",
            kind="factor",
            says="reduce the completion time by over 11 %",
            found=f"by {shown(less)} %",
            holds=min(less.values()) > 11,
            reason=""
            if min(less.values()) > 11
            else "REPS's warm-up, cache and what it marks are not stated; here it does better",
        ),
        Verdict(
            curve="b: all",
            kind="order",
            says="smaller queues as well",
            found=f"largest {shown(queues)} packets",
            holds=max(queues["ofan"], queues["4ofan"]) < min(queues["reps"], queues["ar"]),
        ),
    ]


FIGURES = {
    "10": Figure(
        name="10",
        title="two-level tree",
        points=points,
        judge=judge,
        panels=(
            Panel(name="a", x="", y="completion-time increase, %", measure=INCREASE),
            Panel(name="b", x="", y="largest queue, packets", measure=QUEUE),
        ),
    )
}
