"""Figure 11: half of the switches run 4Ofan, the others AR."""

from __future__ import annotations

from models.fabric.figures.base import Data, Figure, Panel, Point, Verdict, scheme_for

INCREASE = "increase_percent"
MIXES = ("random", "pods", "aggs", "edges")


def points(quick: bool) -> list[Point]:
    """Permutations of 1 MB on 432 hosts (quick: 128): AR alone, four mixes, 4Ofan alone."""
    k = 8 if quick else 12
    new = scheme_for("4ofan", k)
    found = [Point(series="1 MB", x="all AR", settings={"k": k, "scheme": "ar"})]
    for mix in MIXES:
        settings = {"k": k, "scheme": "ar", "mix": mix, "mix_scheme": new}
        found.append(Point(series="1 MB", x=f"4Ofan in {mix}", settings=settings))
    return [*found, Point(series="1 MB", x="all 4Ofan", settings={"k": k, "scheme": new})]


def judge(data: Data) -> list[Verdict]:
    """The three lessons of section 6.4."""

    def at(x: str) -> tuple[float, float]:
        mean, sem = data.at("1 MB", x, INCREASE)
        return mean, sem or 0.0

    mixes = {mix: at(f"4Ofan in {mix}") for mix in MIXES}
    old, new = at("all AR"), at("all 4Ofan")
    middle = (old[0] + new[0]) / 2
    text = ", ".join(f"{mix} {mean:.2f}" for mix, (mean, _) in mixes.items())
    best = min(mixes, key=lambda mix: mixes[mix][0])
    return [
        Verdict(
            curve="midpoint",
            kind="factor",
            says="7.3 % midway between AR and 4Ofan",
            found=f"{middle:.2f} % (AR {old[0]:.2f}, 4Ofan {new[0]:.2f})",
            holds=abs(middle - 7.3) <= 1,
        ),
        Verdict(
            curve="all mixes",
            kind="order",
            says="4Ofan in some switches only decreases the completion time",
            found=f"{text} %; AR alone {old[0]:.2f} %",
            holds=all(mean <= old[0] + 2 * sem for mean, sem in mixes.values()),
        ),
        Verdict(
            curve="all mixes",
            kind="factor",
            says="all slightly above the midpoint",
            found=f"{text} %; midpoint {middle:.2f} %",
            holds=all(middle - 2 * sem <= mean <= middle + 4 for mean, sem in mixes.values()),
            reason=""
            if all(mean <= middle + 4 for mean, _ in mixes.values())
            else "4Ofan at aggregations alone brings nothing where AR at the edges has already "
            "chosen the aggregation that a flow comes down through",
        ),
        Verdict(
            curve="edges",
            kind="order",
            says="the best place is at the edges",
            found=f"{text} %",
            holds=best == "edges",
        ),
    ]


FIGURES = {
    "11": Figure(
        name="11",
        title="4Ofan in half of the switches, AR in the others",
        points=points,
        judge=judge,
        seeds=20,
        panels=(Panel(name="", x="", y="completion-time increase, %", measure=INCREASE),),
        note="“edges” and “aggs” are all switches of that layer, half of all that decide.",
    )
}
