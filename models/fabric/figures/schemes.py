"""Figure 4: all schemes over the message size."""

from __future__ import annotations

import itertools

from models.fabric.figures.base import NAMES, Data, Figure, Panel, Point, Verdict, scheme_for, shown

SIZES = (64, 128, 256, 512, 1024, 2048, 4096)
INCREASE, QUEUE = "increase_percent", "largest_packets"
FROM = 256
"""Packets from which on slopes are taken: shorter messages end before queues have formed."""
GROUPS = {
    # slope of the largest queue that the paper says, and what is allowed here
    "near-linear": (("simple-rr", "jsq", "conga"), 0.75, 1.25),
    "closer to the square root": (("rps", "rsq", "reps", "ar"), 0.35, 0.65),
    "O(1)": (("ethereal", "drb", "4ofan", "ofan"), -0.15, 0.15),
}


def points(quick: bool) -> list[Point]:
    """Permutations on 432 hosts (quick: 128)."""
    k = 8 if quick else 12
    return [
        Point(
            series=curve, x=size, settings={"k": k, "scheme": scheme_for(curve, k), "packets": size}
        )
        for curve in NAMES
        for size in (SIZES[:-2] if quick else SIZES)
    ]


def judge(data: Data) -> list[Verdict]:
    """The three groups of section 3.5, and that both panels agree."""
    verdicts = []
    for says, (curves, low, high) in GROUPS.items():
        for curve in curves:
            slope = data.slope(curve, QUEUE, start=FROM)
            why = ""
            if not low <= slope <= high and says == "near-linear":
                why = "ACKs between the data break the lockstep that the theory counts on"
                if curve == "conga":
                    why = "its rate estimator, whose constants are not stated, breaks the lockstep"
            verdicts.append(
                Verdict(
                    curve=f"b: {curve}",
                    kind="shape",
                    says=f"largest queue grows {says}"
                    if says != "O(1)"
                    else "largest queue does not grow",
                    found=f"slope {slope:.2f} in log-log from {FROM} packets on",
                    holds=low <= slope <= high,
                    reason=why,
                )
            )
    others = [c for c in NAMES if not any(c in curves for curves, _, _ in GROUPS.values())]
    for curve in others:
        verdicts.append(
            Verdict(
                curve=f"b: {curve}",
                kind="shape",
                says="no group stated; destination-oblivious schemes grow",
                found=f"slope {data.slope(curve, QUEUE, start=FROM):.2f}",
                holds=data.slope(curve, QUEUE, start=FROM) > 0.15,
            )
        )
    at = max(data.xs("ofan"))
    for measure, letter in ((INCREASE, "a"), (QUEUE, "b")):
        means = {curve: data.mean(curve, at, measure) for curve in NAMES}
        groups = [[means[c] for c in curves] for curves, _, _ in GROUPS.values()]
        apart = all(min(above) > max(below) for above, below in itertools.pairwise(groups))
        but_conga = min(groups[0][:2]) > max(groups[1]) and min(groups[1]) > max(groups[2])
        verdicts.append(
            Verdict(
                curve=f"{letter}: groups",
                kind="order",
                says="three groups, one below the other",
                found=f"{shown(means)} at {at} packets",
                holds=apart,
                reason="CONGA stands in the second group here, the others are as said"
                if but_conga and not apart
                else "",
            )
        )
    return verdicts


FIGURES = {
    "4": Figure(
        name="4",
        title="packet-based load balancers over the message size, permutation",
        points=points,
        judge=judge,
        panels=tuple(
            Panel(name=letter, x="packets of a message", y=label, measure=m, log_x=True, log_y=True)
            for letter, label, m in (
                ("a", "completion-time increase, %", INCREASE),
                ("b", "largest queue, packets", QUEUE),
            )
        ),
    )
}
