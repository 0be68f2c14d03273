"""What a run looks like: a table by stage, and its queues as bars on a terminal or in an SVG."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from models.fabric.run import Case

_BLOCKS = " ▏▎▍▌▋▊▉█"
STAGE_COLUMNS = {
    # header: (measure, how it is shown)
    "busy %": ("busy_percent", "{:.1f}"),
    "busiest %": ("busiest_percent", "{:.1f}"),
    "overload %": ("overload_percent", "{:.2f}"),
    "mean queue": ("mean_packets", "{:.3f}"),
    "largest": ("largest_packets", "{:.1f}"),
    "bytes": ("largest_bytes", "{:,}"),
    "lost": ("lost", "{:,}"),
}
"""Columns of the table by stage; queues in packets, the largest in bytes as well."""


def headline(case: Case, found: Mapping[str, Any]) -> list[str]:
    """Return what a run measured of the whole, in lines of words."""
    config = case.config
    mixed = f" and {config.mix_scheme} ({config.mix})" if config.mix_scheme else ""
    lines = [
        f"{config.scheme}{mixed}, k = {config.radix}, {config.levels} levels, "
        f"{found['hosts']:,} hosts; {case.workload.traffic}: {found['flows']:,} flows, "
        f"{found['packets']:,} packets, {found['packet_hops']:,} packet-hops"
    ]
    if found["completion_us"] is None:
        last = found["last_data_us"]
        lines.append(
            f"not complete: {found['lost']:,} packets lost; "
            + (
                "no data arrived"
                if last is None
                else f"the last data packet arrived at {last:,.3f} µs"
            )
        )
    else:
        lines.append(
            f"completion {found['completion_us']:,.3f} µs, {found['increase_percent']:.2f} % above "
            f"the bound of {found['bound_us']:,.3f} µs ({found['bound']})"
        )
    if found["flow_p50_us"] is not None:
        lines.append(
            f"a flow takes {found['flow_p50_us']:,.3f} µs in the median, "
            f"{found['flow_p99_us']:,.3f} at 99 %, at most {found['flow_p100_us']:,.3f}"
        )
    rate = f"hosts send at {found['rate']:.4g} of the line rate"
    if config.link_failure:
        rate += f" (ρ_max {found['rho_max']:.6f})"
    lines.append(f"{rate} and get {found['utilization_percent']:.2f} % of it through")
    return lines


def stage_rows(found: Mapping[str, Any], stages: Sequence[str]) -> list[list[str]]:
    """Return the table's rows, a stage each, from the measures of a run; a dash for the queue of a
    host, which is not one of the network's."""
    rows = []
    for stage in stages:
        row = [stage.replace("-", "→")]
        for measure, shape in STAGE_COLUMNS.values():
            value = found.get(f"{measure}.{stage}")
            row.append("-" if value is None else shape.format(value))
        rows.append(row)
    return rows


def bar(value: float, most: float, width: int = 40) -> str:
    """Return a bar of `value` where `most` has `width` characters, in eighths of one."""
    eighths = round(8 * width * value / most) if most > 0 else 0
    return "█" * (eighths // 8) + _BLOCKS[eighths % 8].strip()


def queue_lines(found: Mapping[str, Any], stages: Sequence[str], width: int = 40) -> list[str]:
    """Return the picture of the queues: two bars a stage, mean and largest, each on its own scale,
    packets."""
    lines = []
    for title, measure in (("mean", "mean_packets"), ("largest", "largest_packets")):
        values = {stage: found[f"{measure}.{stage}"] for stage in stages[1:]}
        most = max(values.values())
        lines.append(f"{title} queue, packets")
        for stage, value in values.items():
            name = stage.replace("-", "→")
            lines.append(f"  {name}  {bar(value, most, width):<{width}} {value:,.2f}")
    return lines


def save_queues(path: Path, found: Mapping[str, Any], stages: Sequence[str], title: str) -> None:
    """Write the picture as SVG; raises `ValueError` if Matplotlib is not installed."""
    figure = matplotlib_figure()(figsize=(8, 3.2), layout="constrained")
    names = [stage.replace("-", "→") for stage in stages[1:]]
    for axes, measure in zip(figure.subplots(1, 2), ("mean", "largest"), strict=True):
        axes.barh(names, [found[f"{measure}_packets.{stage}"] for stage in stages[1:]])
        axes.invert_yaxis()
        axes.set_xlabel(f"{measure} queue, packets")
    figure.suptitle(title, fontsize=9)
    save_svg(figure, path)


def save_svg(figure: Any, path: Path) -> None:
    """Save a figure as SVG whose bytes do not depend on the day or the process."""
    import matplotlib

    with matplotlib.rc_context({"svg.hashsalt": "netweave"}):
        figure.savefig(path, format="svg", metadata={"Date": None})


def matplotlib_figure() -> Any:
    """Return Matplotlib's class of figures; raises `ValueError` in one line if there is none."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise ValueError(
            "svg needs Matplotlib, which is not installed: pip install -e '.[fabric]'"
        ) from None
    return Figure
