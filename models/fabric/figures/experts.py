"""Figures 13a and 13b: a mixture-of-experts dispatch without congestion control."""

from __future__ import annotations

from models.fabric.figures.base import Data, Figure, Panel, Point, Verdict, shown

CURVES = ("reps", "ar", "ofan")
INCREASE = "increase_percent"
COMMON = {"k": 8, "payload_bytes": 65536, "options.ecn_percent": 82}
"""64 KB packets; REPS's threshold is ten of them, 656,000 of 800,000 bytes (section 6)."""


def megabytes(run, point):
    """Largest queue, MB."""
    return run["largest_bytes"] / 1e6


def points(quick: bool) -> list[Point]:
    """128 GPUs; quick: a tenth of the tokens."""
    scale = 0.1 if quick else 1.0
    return [
        Point(
            panel=panel,
            series="dispatch",
            x=curve,
            settings=COMMON | {"traffic": traffic, "scheme": curve, "scale": scale},
        )
        for panel, traffic in (("", "moe"), ("eplb", "moe-eplb"))
        for curve in CURVES
    ]


def judge(data: Data) -> list[Verdict]:
    """What section 6.6 says of the runs without congestion control."""
    verdicts = []
    for letter, panel in (("a", ""), ("b", "eplb")):
        means = {c: data.mean("dispatch", c, INCREASE, panel) for c in CURVES}
        times = {c: data.mean("dispatch", c, "completion_us", panel) for c in CURVES}
        queues = {c: data.mean("dispatch", c, megabytes, panel) for c in CURVES}
        spread = (max(times.values()) / min(times.values()) - 1) * 100
        verdicts += [
            Verdict(
                curve=f"{letter}: all",
                kind="factor",
                says="the load balancer's impact is small",
                found=f"completion times within {spread:.2f} % of each other",
                holds=spread < 5,
            ),
            Verdict(
                curve=f"{letter}: ofan",
                kind="order",
                says="Ofan a bit better than REPS and AR",
                found=f"increase {shown(means)} %",
                holds=means["ofan"] <= min(means["reps"], means["ar"]),
                reason=""
                if means["ofan"] <= min(means["reps"], means["ar"])
                else "the busiest receiver's link is the bottleneck whatever the scheme",
            ),
        ]
        if not panel:
            verdicts.append(
                Verdict(
                    curve="a: all",
                    kind="factor",
                    says="queues beyond 100 MB",
                    found=f"largest {shown(queues)} MB",
                    holds=min(queues.values()) > 100,
                    reason=""
                    if min(queues.values()) > 100
                    else "the matrix is synthetic: how long a GPU stays the busiest depends on "
                    "more than the stated skew",
                )
            )
    return verdicts


FIGURES = {
    "13": Figure(
        name="13",
        title="mixture-of-experts dispatch, as routed (a) and with EPLB (b)",
        points=points,
        judge=judge,
        seeds=5,
        panels=tuple(
            Panel(name=f"{letter}, {label}", of=panel, x="", y=y, measure=measure)
            for letter, panel, label in (("a", "", "as routed"), ("b", "eplb", "EPLB"))
            for y, measure in (
                ("completion-time increase, %", INCREASE),
                ("largest queue, MB", megabytes),
            )
        ),
        note="The matrix is synthetic with the paper's skews; 4Ofan is Ofan at k = 8.",
    )
}
