"""Figure 3: the worst overload of a link at each stage between switches."""

from __future__ import annotations

from models.fabric.figures.base import NAMES, Data, Figure, Panel, Point, Verdict, scheme_for

STAGES = ("E-A", "A-C", "C-A", "A-E")
SIZES = {"small": 64, "": 256, "large": 4096}
"""Packets of a message by panel; the middle one is drawn as the figure."""
BALANCED = 8.0
"""Points of overload up to which a stage counts as balanced."""


def stage_measure(run, point):
    """The overload of the point's stage, %."""
    return run[f"overload_percent.{point.x}"]


def points(quick: bool) -> list[Point]:
    """Inter-pod permutations on 432 hosts (quick: 128), all schemes, three message sizes."""
    k = 8 if quick else 12
    found = []
    for panel, packets in SIZES.items():
        if quick and panel == "large":
            packets = 1024
        for curve in NAMES:
            settings = {"k": k, "scheme": scheme_for(curve, k), "packets": packets}
            settings["traffic"] = "inter-pod"
            found += [
                Point(panel=panel, series=curve, x=stage, settings=settings) for stage in STAGES
            ]
    return found


def judge(data: Data) -> list[Verdict]:
    """What sections 3.2 and 4.2 say of each scheme."""
    verdicts = []

    def loads(curve: str, panel: str = "") -> tuple[float, float, str]:
        values = [data.mean(curve, stage, stage_measure, panel) for stage in STAGES]
        text = ", ".join(f"{s} {v:.1f}" for s, v in zip(STAGES, values, strict=True))
        return max(values[:2]), min(values[2:]), text.replace("-", "→") + " %"

    for curve in ("simple-rr", "jsq"):
        up, down, text = loads(curve)
        verdicts.append(
            Verdict(
                curve=curve,
                kind="shape",
                says="essentially perfect on both uplink stages, collapses on both downlink stages",
                found=text,
                holds=up <= BALANCED and down >= 30,
                reason=""
                if up <= BALANCED
                else "one pointer for data and ACKs leaves the data uneven; see “pointers split” "
                "among the details",
            )
        )
    for curve in ("choice", "drill"):
        up, down, text = loads(curve)
        verdicts.append(
            Verdict(
                curve=curve,
                kind="shape",
                says="like Simple RR and JSQ: downlinks far worse than uplinks",
                found=text,
                holds=down >= 2 * up,
            )
        )
    for curve in ("conga", "dlb", "sglb", "rps", "rsq", "reps", "ar"):
        up, down, text = loads(curve)
        verdicts.append(
            Verdict(
                curve=curve,
                kind="shape",
                says="suffers at both uplinks and downlinks",
                found=text,
                holds=up > BALANCED and down > BALANCED,
                reason=""
                if up > BALANCED
                else "section 3.3 counts AR among those that do well on uplinks"
                if curve == "ar"
                else "what it knows of its own uplinks keeps them balanced, as with AR",
            )
        )
    for curve in ("ethereal", "4ofan", "ofan", "drb"):
        values = [data.mean(curve, stage, stage_measure, "large") for stage in STAGES]
        verdicts.append(
            Verdict(
                curve=curve,
                kind="shape",
                says="near flat over all four stages"
                if curve != "drb"
                else "perfectly balanced for large messages",
                found=f"{loads(curve, 'large')[2]} with the largest message, "
                f"{loads(curve)[2]} with 1 MB",
                holds=max(values) <= BALANCED,
            )
        )
    small = {
        c: max(data.mean(c, s, stage_measure, "small") for s in STAGES) for c in ("drb", "ofan")
    }
    verdicts.append(
        Verdict(
            curve="drb, ofan",
            kind="order",
            says="with small messages DRB degrades and Ofan does not",
            found=f"64 packets: DRB up to {small['drb']:.1f} %, Ofan {small['ofan']:.1f} %",
            holds=small["drb"] > 1.5 * small["ofan"],
            reason=""
            if small["drb"] > 1.5 * small["ofan"]
            else "the order is as said, the gap less; it grows with the network (figure 17)",
        )
    )
    return verdicts


FIGURES = {
    "3": Figure(
        name="3",
        title="worst overload of a link at each stage, inter-pod permutation",
        points=points,
        judge=judge,
        panels=tuple(
            Panel(
                name=letter,
                of=panel,
                x=f"stage ({label})",
                y="overload, %",
                measure=stage_measure,
                log_y=False,
            )
            for letter, panel, label in (
                ("1 MB", "", "256 packets"),
                ("small", "small", "64 packets"),
                ("large", "large", "4,096 packets"),
            )
        ),
        note="The message sizes of the figure are not stated; 64, 256 and 4,096 packets here.",
    )
}
