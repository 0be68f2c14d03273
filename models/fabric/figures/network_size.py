"""Figure 5: the network's size, for a permutation and two all-to-alls."""

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
TRAFFICS = {
    "": {},
    "flow": {"traffic": "all-to-all", "packets": 4},
    "host": {"traffic": "all-to-all", "host_packets": 4096},
}


def points(quick: bool) -> list[Point]:
    """16 to 1,024 hosts (quick: 128)."""
    return [
        Point(
            panel=panel,
            series=curve,
            x=k**3 // 4,
            settings={"k": k, "scheme": scheme_for(curve, k)} | settings,
        )
        for panel, settings in TRAFFICS.items()
        for curve in COMPARED
        for k in ((4, 8) if quick else (4, 8, 12, 16))
    ]


def judge(data: Data) -> list[Verdict]:
    """What section 6.1 says of each panel."""
    sizes = data.xs("ofan")
    small, large = sizes[0], sizes[-1]

    def gaps(x: int, panel: str = "") -> dict[str, float]:
        mine = data.mean("4ofan", x, INCREASE, panel)
        return {c: data.mean(c, x, INCREASE, panel) - mine for c in ("reps", "ar")}

    verdicts = [
        Verdict(
            curve="a: 4ofan against reps, ar",
            kind="factor",
            says=f"gap of about {says} points at {x:,} hosts",
            found=f"gap to {shown(gaps(x))} points",
            holds=abs(gaps(x)["ar"] - says) <= 1.5,
        )
        for x, says in ((16, 5), (1024, 11))
        if x in sizes
    ]
    between = {x: data.mean("4ofan", x, INCREASE) - data.mean("ofan", x, INCREASE) for x in sizes}
    verdicts.append(
        Verdict(
            curve="a: 4ofan against ofan",
            kind="factor",
            says="the gap remains reasonably small",
            found=", ".join(f"{gap:.2f} points at {x:,} hosts" for x, gap in between.items()),
            holds=max(between.values()) < min(gaps(large).values()) / 3,
        )
    )
    for letter, panel in zip("abc", TRAFFICS, strict=True):
        means = {curve: data.mean(curve, large, INCREASE, panel) for curve in COMPARED}
        verdicts.append(
            Verdict(
                curve=f"{letter}: all",
                kind="order",
                says="REPS and AR above 4Ofan above Ofan at every size",
                found=f"{shown(means)} % at {large:,} hosts",
                holds=all(
                    ordered(data, (c, "4ofan", "ofan"), x, INCREASE, panel)
                    for c in ("reps", "ar")
                    for x in sizes
                ),
            )
        )
        first, last = gaps(small, panel)["ar"], gaps(large, panel)["ar"]
        verdicts.append(
            Verdict(
                curve=f"{letter}: ar against 4ofan",
                kind="shape",
                says="differences hold or grow with the network",
                found=f"{first:.2f} points at {small} hosts, {last:.2f} at {large:,}",
                holds=last >= 0.9 * first,
                reason=""
                if last >= 0.9 * first
                else "with so few packets a flow a host of a small network sends little in all, "
                "and the increase falls with what it sends",
            )
        )
    return verdicts


FIGURES = {
    "5": Figure(
        name="5",
        title="completion-time increase over the network's size",
        points=points,
        judge=judge,
        seeds=10,
        panels=tuple(
            Panel(
                name=letter,
                of=panel,
                x=f"hosts ({label})",
                y="completion-time increase, %",
                measure=INCREASE,
                log_x=True,
            )
            for letter, panel, label in (
                ("a", "", "permutation, 1 MB"),
                ("b", "flow", "all-to-all, 4 packets a flow"),
                ("c", "host", "all-to-all, 4,096 packets a host"),
            )
        ),
        note="Sizes of the all-to-alls are not stated; 4 packets a flow and 4,096 a host here, "
        "which meet at 1,024 hosts. Increases are over naive bounds there.",
    )
}
