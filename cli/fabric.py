"""The commands about the network model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from cli.options import given, number, real
from cli.screen import progress_bar, say

if TYPE_CHECKING:
    from models.fabric.config import FabricConfig
    from models.fabric.run import Case

Json = Annotated[bool, typer.Option("--json", help="Print settings and measures as JSON.")]
Sets = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help="Any other setting, such as options.queue_unit=packets; may stand several times.",
    ),
]


def run(
    k: Annotated[int | None, number(help="Ports of a switch, even; default 12.")] = None,
    levels: Annotated[int | None, number(help="3: k³/4 hosts; 2: k²/2 hosts.")] = None,
    scheme: Annotated[str | None, typer.Option(help="Load balancer; default ofan.")] = None,
    traffic: Annotated[
        str | None,
        typer.Option(
            help="permutation, inter-pod, all-to-all, ring, moe, moe-eplb, or a matrix FILE.cm."
        ),
    ] = None,
    size: Annotated[str | None, typer.Option(help="Bytes of a flow, such as 1MiB.")] = None,
    packets: Annotated[int | None, number(help="Packets of a flow, instead.")] = None,
    host_packets: Annotated[int | None, number(help="All-to-all: packets of a host.")] = None,
    order: Annotated[
        str | None, typer.Option(help="All-to-all: rotated, random or same destinations.")
    ] = None,
    stride: Annotated[int | None, number(help="Ring: GPU i sends to i + stride.")] = None,
    steps: Annotated[int | None, number(help="Ring: steps.")] = None,
    skew: Annotated[float | None, real(help="MoE: busiest receiver over the mean.")] = None,
    scale: Annotated[float | None, real(help="MoE: share of the paper's 492 MB a GPU.")] = None,
    load: Annotated[float | None, real(help="Share of the line rate that hosts send at.")] = None,
    failures: Annotated[float | None, real(help="Probability of a link to be down.")] = None,
    rate_balance: Annotated[
        str | None, typer.Option(help="Perfect balance under failures: paths or hops.")
    ] = None,
    mix: Annotated[
        str | None, typer.Option(help="Where --mix-scheme runs: random, pods, edges or aggs.")
    ] = None,
    mix_scheme: Annotated[str | None, typer.Option(help="Second load balancer.")] = None,
    link_gbps: Annotated[int | None, number(help="Rate of a link, Gb/s.")] = None,
    link_latency_ns: Annotated[int | None, number(help="Propagation time, ns.")] = None,
    payload_bytes: Annotated[int | None, number(help="Payload of a data packet.")] = None,
    header_bytes: Annotated[int | None, number(help="Header of a data packet.")] = None,
    ack_bytes: Annotated[int | None, number(help="Size of an ACK.")] = None,
    gap_bytes: Annotated[int | None, number(help="Gap behind a frame.")] = None,
    acks: Annotated[bool | None, typer.Option("--acks/--no-acks", help="Acknowledge.")] = None,
    buffer_bytes: Annotated[int | None, number(help="Buffer of a port; default none.")] = None,
    jitter_ns: Annotated[float | None, real(help="Hosts start within this time.")] = None,
    ties: Annotated[
        str | None, typer.Option(help="Order of equal arrivals: port, shuffled.")
    ] = None,
    host_order: Annotated[
        str | None, typer.Option(help="Data and ACKs: alternate, ack-first or data-first.")
    ] = None,
    seed: Annotated[int | None, number(help="Seed of all that is random; default 0.")] = None,
    sets: Sets = None,
    engine: Annotated[
        Literal["fast", "reference"] | None, typer.Option(help="Both give the same numbers.")
    ] = None,
    switches: Annotated[
        Literal["model", "rtl"], typer.Option(help="rtl: Ofan by the verilated hardware, k ≤ 8.")
    ] = "model",
    trace: Annotated[
        Path | None, typer.Option(help="File for every packet at every link, .csv or .parquet.")
    ] = None,
    flows: Annotated[
        Path | None, typer.Option(help="File for the time of every flow, .csv or .parquet.")
    ] = None,
    svg: Annotated[Path | None, typer.Option(help="File for the picture of the queues.")] = None,
    json: Json = False,
) -> None:
    """Run one case of the network: completion time, its increase over the bound, queues, loss."""
    from contextlib import ExitStack
    from json import dumps

    from models.common.files import naming, replacing
    from models.common.parquet import is_parquet, need_pyarrow
    from models.fabric.run import case_of, measures, parse_set, run_case, stage_names
    from models.fabric.run_files import check_names, write_flows, write_trace
    from models.fabric.run_memory import flows_that_fit
    from models.fabric.run_picture import matplotlib_figure, save_queues

    settings = given(
        k=k,
        levels=levels,
        scheme=scheme,
        traffic=traffic,
        size=size,
        packets=packets,
        host_packets=host_packets,
        order=order,
        stride=stride,
        steps=steps,
        skew=skew,
        scale=scale,
        load=load,
        failures=failures,
        rate_balance=rate_balance,
        mix=mix,
        mix_scheme=mix_scheme,
        link_gbps=link_gbps,
        link_latency_ns=link_latency_ns,
        payload_bytes=payload_bytes,
        header_bytes=header_bytes,
        ack_bytes=ack_bytes,
        gap_bytes=gap_bytes,
        acks=acks,
        buffer_bytes=buffer_bytes,
        jitter_ns=jitter_ns,
        ties=ties,
        host_order=host_order,
        seed=seed,
        engine=engine,
    )
    if switches == "rtl":
        if engine == "fast":
            raise ValueError("engine must be reference with --switches rtl, not 'fast'")
        settings["engine"] = "reference"  # it asks its switches one after another
    case = case_of(settings, *map(parse_set, sets or ()))
    check_names(trace, flows, svg)
    made = flows_that_fit(case, trace=trace is not None)
    hook = rtl_hook(case.config) if switches == "rtl" else None
    inputs = [case.workload.traffic] if case.workload.is_matrix else []
    with ExitStack() as stack:
        beside = {
            name: stack.enter_context(replacing(file, inputs))
            for name, file in given(trace=trace, flows=flows, svg=svg).items()
        }
        for file in filter(None, (trace, flows)):
            if is_parquet(file):
                need_pyarrow(file)
        if svg:
            matplotlib_figure()
        what = f"{case.config.scheme}, {made.hosts:,} hosts"
        with progress_bar(what, int(made.packets.sum())) as bar:
            done = run_case(case, trace=trace is not None, switches=hook, progress=bar, flows=made)
        found = measures(done)
        if trace:
            with naming(trace):
                write_trace(beside["trace"], done, is_parquet(trace))
        if flows:
            with naming(flows):
                write_flows(beside["flows"], done, is_parquet(flows))
        if svg:
            with naming(svg):
                save_queues(beside["svg"], found, stage_names(case), what)
    if json:
        typer.echo(dumps({"settings": case.settings(), "measures": found}, indent=1))
    else:
        show(case, found)


def sweep(
    file: Annotated[Path, typer.Argument(help="What to run: seeds, base and cross, in TOML.")],
    out: Annotated[
        Path, typer.Option("--out", "-o", help="File for a row a run, .parquet or .csv.")
    ],
    scheduler: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS", help="A dask scheduler, such as tcp://host:8786."),
    ] = None,
    workers: Annotated[
        int | None, number(help="Processes here; default the cores, 0 in this process.")
    ] = None,
) -> None:
    """Run cases × seeds; a sweep that is broken off goes on where it was. Prints mean ± SEM."""
    from rich.console import Console
    from rich.table import Table

    from models.common.check import integer
    from models.fabric.sweep import SUMMARY, run_sweep, summary
    from models.fabric.sweep_file import read_sweep

    if workers is not None:
        integer("workers", workers, 0, 4096)
        if scheduler is not None:
            raise ValueError("workers must not be given with a scheduler, which has its own")
    plan = read_sweep(file)
    with progress_bar(file.stem, len(plan.cases) * len(plan.seeds), 1) as bar:
        rows = run_sweep(
            plan, out, scheduler=scheduler, workers=workers, progress=bar, inputs=[file]
        )
    if len({row.source for row in rows}) > 1:
        say("rows were made by different versions of netweave: column source tells which")
    names = list(dict.fromkeys(name for label in plan.labels for name in label))
    table = Table(*names, title=f"{file.name}, mean ± SEM of {len(plan.seeds)} seeds")
    for header in SUMMARY.values():
        table.add_column(header, justify="right")
    for label, found in summary(plan, rows):
        cells = ["" if label.get(name) is None else str(label[name]) for name in names]
        table.add_row(*cells, *(plus_minus(found[measure]) for measure in SUMMARY))
    Console(highlight=False).print(table)


def figure(
    name: Annotated[str, typer.Argument(help="1, 3 to 11, 13, 16 to 18, or details.")],
    quick: Annotated[bool, typer.Option("--quick", help="A smaller network, for a look.")] = False,
    seeds: Annotated[int | None, number(help="Runs of each point; default the figure's.")] = None,
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder to write into.")] = Path(
        "build/figures"
    ),
    scheduler: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="A dask scheduler.")
    ] = None,
    workers: Annotated[
        int | None, number(help="Processes here; default the cores, 0 in this process.")
    ] = None,
) -> None:
    """Make a figure of the paper: CSV, SVG, and a verdict for each curve beside what it says."""
    from rich.console import Console
    from rich.table import Table

    from models.common.check import integer
    from models.fabric.figures import figure as named
    from models.fabric.figures.base import Data
    from models.fabric.figures.draw import record, write_csv, write_json, write_svg
    from models.fabric.run_picture import matplotlib_figure
    from models.fabric.sweep import run_sweep

    wanted = named(name)
    count = wanted.seeds if seeds is None else integer("seeds", seeds, 1, 10_000)
    if workers is not None:
        integer("workers", workers, 0, 4096)
    matplotlib_figure()
    out.mkdir(parents=True, exist_ok=True)
    stem = f"figure{wanted.name}"
    plan = wanted.sweep(quick, count)
    with progress_bar(stem, len(plan.cases) * count, 1) as bar:
        rows = run_sweep(
            plan,
            out / f"{stem}-runs.parquet",
            scheduler=scheduler,
            workers=workers,
            progress=bar,
            keep=True,
        )
    data = Data(wanted.points(quick), rows)
    verdicts = wanted.judge(data)
    write_csv(out / f"{stem}.csv", wanted, data)
    write_svg(out / f"{stem}.svg", wanted, data)
    write_json(out / f"{stem}.json", record(wanted, verdicts, data, quick=quick, seeds=count))
    table = Table("curve", "", "the paper says", "here", "holds", title=wanted.title)
    for verdict in verdicts:
        holds = {True: "yes", False: "no", None: "-"}[verdict.holds]
        found = verdict.found + (f" ({verdict.reason})" if verdict.reason else "")
        table.add_row(verdict.curve, verdict.kind, verdict.says, found, holds)
    Console(highlight=False).print(table)
    say(f"wrote {stem}.csv, .svg, .json and -runs.parquet into {out}")


def plus_minus(value: tuple[float, float | None] | None) -> str:
    """Return mean ± SEM, or a dash where no run has a value."""
    if value is None:
        return "-"
    return f"{value[0]:,.3f}" + (f" ± {value[1]:.2g}" if value[1] is not None else "")


def rtl_hook(config: FabricConfig) -> Any:
    """Return the hook that lets the verilated hardware decide at every switch."""
    from tb.fabric.rtl_switches import rtl_switches

    return rtl_switches(config)


def show(case: Case, found: dict[str, Any]) -> None:
    """Print what a run measured: its numbers, a table by stage, the queues as bars."""
    from rich.console import Console
    from rich.table import Table

    from models.fabric.run import stage_names
    from models.fabric.run_picture import STAGE_COLUMNS, headline, queue_lines, stage_rows

    console = Console(highlight=False)
    for line in headline(case, found):
        console.print(line, soft_wrap=True, markup=False)
    stages = stage_names(case)
    table = Table("stage", title="Links and the queues before them")
    for header in STAGE_COLUMNS:
        table.add_column(header, justify="right")
    for row in stage_rows(found, stages):
        table.add_row(*row)
    console.print(table)
    for line in queue_lines(found, stages):
        console.print(line, soft_wrap=True, markup=False)
