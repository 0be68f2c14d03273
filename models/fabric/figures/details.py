"""What the paper leaves open, and what each choice changes: no figure of the paper."""

from __future__ import annotations

from models.fabric.figures.base import Data, Figure, Panel, Point, Verdict

CURVES = ("simple-rr", "jsq", "rsq", "ar", "ofan")
INCREASE = "increase_percent"
BASE = "defaults"
VARIANTS: dict[str, dict[str, object]] = {
    BASE: {},
    "jitter 0": {"jitter_ns": 0},
    "jitter 1 µs": {"jitter_ns": 1000},
    "ties shuffled": {"ties": "shuffled"},
    "pointers split": {"options.rr_pointers": "split"},
    "ACKs first": {"host_order": "ack-first"},
    "data first": {"host_order": "data-first"},
    "no ACKs": {"acks": False},
    "queue in packets": {"options.queue_unit": "packets"},
    "without the one in service": {"options.queue_in_service": False},
    "packets, without it": {"options.queue_unit": "packets", "options.queue_in_service": False},
    "lengths up to 50 ns old": {"options.queue_age_ns": 50},
    "lengths up to 500 ns old": {"options.queue_age_ns": 500},
}
"""Settings of each variant; the first is the default of each."""
OWN = {
    "pointers split": ("simple-rr",),
    "queue in packets": ("jsq", "ar"),
    "without the one in service": ("jsq", "ar"),
    "packets, without it": ("jsq", "ar"),
    "lengths up to 50 ns old": ("jsq", "ar"),
    "lengths up to 500 ns old": ("jsq", "ar"),
}
"""Variants that only some schemes can notice."""


def points(quick: bool) -> list[Point]:
    """Permutations of 1 MB on 432 hosts (quick: 128)."""
    k = 8 if quick else 12
    return [
        Point(series=curve, x=variant, settings={"k": k, "scheme": curve} | settings)
        for curve in CURVES
        for variant, settings in VARIANTS.items()
        if curve in OWN.get(variant, CURVES)
    ]


def judge(data: Data) -> list[Verdict]:
    """The largest change of each scheme."""
    verdicts = []
    for curve in CURVES:
        base = data.mean(curve, BASE, INCREASE)
        changes = {x: data.mean(curve, x, INCREASE) - base for x in data.xs(curve)}
        worst = max(changes, key=lambda x: abs(changes[x]))
        verdicts.append(
            Verdict(
                curve=curve,
                kind="factor",
                says="nothing",
                found=f"{base:.2f} % with the defaults; changes most with “{worst}”, by "
                f"{changes[worst]:+.2f} points",
                holds=None,
            )
        )
    return verdicts


FIGURES = {
    "details": Figure(
        name="details",
        title="what the paper leaves open: completion-time increase by choice",
        points=points,
        judge=judge,
        panels=(Panel(name="", x="", y="completion-time increase, %", measure=INCREASE),),
    )
}
