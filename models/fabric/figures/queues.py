"""Figures 16 and 18: mean queues by layer against the N·D/D/1 models."""

from __future__ import annotations

from functools import partial

from models.fabric.bounds_queues import (
    EDGE_STAGES,
    expected_sources,
    modelled_queue,
    truncated_normal_mean,
)
from models.fabric.config import FabricConfig
from models.fabric.figures.base import Data, Figure, Panel, Point, Verdict

STAGES = ("E-A", "A-C", "C-A", "A-E", "E-H")
PACKETS = 1024
"""4 MB."""


def sending_mean(run, point):
    """Mean queue of the point's layer over the time in which hosts send, packets.

    Runs give the mean up to the last ACK; what is queued does not change, the time does.
    """
    sending = PACKETS * FabricConfig().data_time * 1e-5
    return run[f"mean_packets.{point.x}"] * run["completion_us"] / sending


def points(scheme: str, quick: bool) -> list[Point]:
    """A permutation of 4 MB on 1,024 hosts (quick: 128), with ACKs and without."""
    k = 8 if quick else 16
    return [
        Point(
            series=series,
            x=stage,
            settings={"k": k, "scheme": scheme, "packets": PACKETS, "acks": acks},
        )
        for series, acks in (("with ACKs", True), ("data alone", False))
        for stage in STAGES
    ]


def models(scheme: str, radix: int) -> dict[str, tuple[float, float]]:
    """N·D/D/1 and its Gaussian approximation at each stage, packets."""
    found = {}
    for stage, (n, load) in expected_sources(FabricConfig(radix=radix, scheme=scheme)).items():
        exact, normal = modelled_queue(n, load), truncated_normal_mean(n, load)
        found[stage.replace("→", "-")] = exact, normal
    return found


def judge(scheme: str, data: Data) -> list[Verdict]:
    """What appendices D and F say of the fits."""
    radix = int(data.points[0].settings["k"])
    modelled = models(scheme, radix)
    says = {
        # of DRB and of Ofan: text, and the range of simulation over model that it allows
        "E-A": (("very close", 0.8, 1.25), ("holds well", 0.8, 1.25)),
        "A-C": (("model a bit pessimistic", 0.3, 1.0), ("slightly poorer fit", 0.3, 1.5)),
        "C-A": (("model a bit pessimistic", 0.3, 1.0), ("slightly poorer fit", 0.3, 1.5)),
        "A-E": (("relatively close", 0.6, 1.6), ("harder to model exactly", 0.3, 2.0)),
        "E-H": (("relatively close", 0.6, 1.6), ("harder to model exactly", 0.3, 2.0)),
    }
    verdicts = []
    for stage, texts in says.items():
        text, low, high = texts[scheme == "ofan"]
        exact, normal = modelled[stage]
        found = data.mean("data alone", stage, sending_mean)
        acks = data.mean("with ACKs", stage, sending_mean)
        near = found / (normal if abs(found - normal) < abs(found - exact) else exact)
        verdicts.append(
            Verdict(
                curve=stage.replace("-", "→"),
                kind="factor",
                says=text,
                found=f"{found:.2f} packets without ACKs, {acks:.2f} with; N·D/D/1 {exact:.2f}, "
                f"truncated normal {normal:.2f}",
                holds=low <= near <= high,
                reason=""
                if low <= near <= high
                else "the closed form is met; the paper's line is a Gaussian approximation of it "
                "whose formula is not printed",
            )
        )
    return verdicts


def _figure(name: str, scheme: str) -> Figure:
    called = {"drb": "DRB", "ofan": "Ofan"}[scheme]
    lines = models(scheme, 16)
    text = "; ".join(
        f"{'edge' if stage == 'E-A' else 'core'} layers N·D/D/1 {lines[stage][0]:.2f}, truncated "
        f"normal {lines[stage][1]:.2f}"
        for stage in ("E-A", "A-C")
    )
    return Figure(
        name=name,
        title=f"mean queue of {called} at each layer against the queue models",
        points=partial(points, scheme),
        judge=partial(judge, scheme),
        panels=(
            Panel(
                name="",
                x="layer",
                y="mean queue while sending, packets",
                measure=sending_mean,
                lines={
                    "N·D/D/1, 1,024 hosts": lambda stage: lines[stage][0],
                    "truncated normal": lambda stage: lines[stage][1],
                },
            ),
        ),
        note=f"Models at 1,024 hosts: {text}. Edge layers are {', '.join(EDGE_STAGES)}. The theory "
        "has no ACKs; the figure may have.",
    )


FIGURES = {"16": _figure("16", "drb"), "18": _figure("18", "ofan")}
