"""Figure 7: the message's size, for a permutation and an all-to-all."""

from __future__ import annotations

from models.fabric.figures.base import (
    COMPARED,
    Data,
    Figure,
    Panel,
    Point,
    Verdict,
    ordered,
    scheme_for,
    shown,
)

INCREASE = "increase_percent"
SIZES = (16, 64, 256, 1024, 4096, 16384)
FLOWS = (1, 2, 4, 8, 16)


def points(quick: bool) -> list[Point]:
    """432 hosts (quick: 128)."""
    k = 8 if quick else 12
    found = []
    for curve in COMPARED:
        base = {"k": k, "scheme": scheme_for(curve, k)}
        for size in SIZES[:-2] if quick else SIZES:
            found.append(Point(series=curve, x=size, settings=base | {"packets": size}))
        for size in FLOWS:
            settings = base | {"traffic": "all-to-all", "packets": size}
            found.append(Point(panel="all", series=curve, x=size, settings=settings))
    return found


def judge(data: Data) -> list[Verdict]:
    """What section 6.1 says of message sizes."""
    verdicts = []
    for letter, panel in (("a", ""), ("b", "all")):
        xs = data.xs("ofan", panel)
        means = {curve: data.mean(curve, xs[-1], INCREASE, panel) for curve in COMPARED}
        verdicts.append(
            Verdict(
                curve=f"{letter}: all",
                kind="order",
                says="4Ofan and Ofan beat REPS and AR at every size",
                found=f"{shown(means)} % at {xs[-1]:,} packets",
                holds=all(
                    ordered(data, (old, new), x, INCREASE, panel)
                    for old in ("reps", "ar")
                    for new in ("4ofan", "ofan")
                    for x in xs
                ),
            )
        )
    xs = [x for x in data.xs("ofan") if x >= 256]
    gaps = [data.mean("ar", x, INCREASE) - data.mean("4ofan", x, INCREASE) for x in xs]
    verdicts.append(
        Verdict(
            curve="a: ar against 4ofan",
            kind="shape",
            says="the gap decreases as messages grow",
            found=", ".join(
                f"{gap:.2f} points at {x:,} packets" for gap, x in zip(gaps, xs, strict=True)
            ),
            holds=gaps[-1] < gaps[0],
        )
    )
    slope = data.slope("ar", INCREASE, start=256)
    verdicts.append(
        Verdict(
            curve="a: ar",
            kind="shape",
            says="the increase falls as 1/√m",
            found=f"slope {slope:.2f} in log-log from 256 packets on",
            holds=-0.7 <= slope <= -0.3,
            reason=""
            if -0.7 <= slope <= -0.3
            else "a round trip of fixed length is in the bound, so short messages fall less",
        )
    )
    last, before = (data.mean("reps", x, INCREASE) for x in (xs[-1], xs[-2]))
    verdicts.append(
        Verdict(
            curve="a: reps",
            kind="shape",
            says="notably worse at very large sizes, conjectured to be REPS's freezing mode",
            found=f"{before:.2f} % at {xs[-2]:,} packets, {last:.2f} % at {xs[-1]:,}",
            holds=last > before,
            reason=""
            if last > before
            else "freezing follows a timeout of the transport, which this model does not have: "
            "that it is missing here supports the conjecture",
        )
    )
    return verdicts


FIGURES = {
    "7": Figure(
        name="7",
        title="completion-time increase over the message's size",
        points=points,
        judge=judge,
        panels=(
            Panel(
                name="a",
                x="packets of a message (permutation)",
                y="completion-time increase, %",
                measure=INCREASE,
                log_x=True,
            ),
            Panel(
                name="b",
                of="all",
                x="packets of a flow (all-to-all)",
                y="completion-time increase, %",
                measure=INCREASE,
                log_x=True,
            ),
        ),
        note="Sizes are not stated; 16 to 16,384 packets and 1 to 16 packets a flow here.",
    )
}
