"""The commands about CSIG."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from cli.options import AsJson, Engine, Folder, Out, Preset, given, number, real
from cli.screen import progress_bar, say

if TYPE_CHECKING:
    from rich.table import Table


Layout = Annotated[
    Literal["draft", "uec"], typer.Option(help="Layout of the tags; UEC's has a bit D.")
]


def sim(
    trace: Annotated[
        Path,
        typer.Option(
            help="Trace: time_ns,port,bytes,delay_ns,queue_bytes,format,signal,value,locator"
            "[,discard]."
        ),
    ],
    ports: Annotated[Path, typer.Option(help="Ports file (TOML): what each port is set to.")],
    out: Out,
    engine: Engine = "rtl",
    layout: Layout = "draft",
    update_discarded: Annotated[
        bool, typer.Option("--update-discarded", help="Update tags with D = 1, too.")
    ] = False,
) -> None:
    """Update the tags of a trace; write its rows with value and locator as they leave."""
    from models.common.files import replacing
    from models.common.parquet import is_parquet, need_pyarrow
    from models.csig.config import CsigConfig
    from models.csig.hst import oldest
    from models.csig.ports import read_ports
    from models.csig.trace import read_trace, with_time, write_trace

    setup = read_ports(ports, CsigConfig(layout=layout))
    config = setup.config(layout=layout, update_discarded=update_discarded)
    if is_parquet(out):
        need_pyarrow(out)
    packets = read_trace(trace, config, setup)
    config = with_time(config, packets)
    if engine == "rtl":
        from tb.csig.replay import prepare
        from tb.csig.replay import replay as run
    else:
        from models.csig.vectorized import answer as run
        from models.csig.vectorized import prepare
    prepare(config, setup)  # it is not to be in the time below
    with (
        replacing(out, (trace, ports)) as beside,
        progress_bar(f"{engine} csig", len(packets)) as progress,
    ):
        started = time.perf_counter()
        answers = run(config, setup, packets, progress)
        seconds = time.perf_counter() - started
        write_trace(beside, packets, answers, parquet=is_parquet(out))
    say(
        f"{len(packets):,} packets, {answers.replaced.sum():,} replaced, "
        f"{answers.stripped.sum():,} stripped, {answers.unknown.sum():,} of unknown types, "
        f"{answers.stale.sum():,} without a software value that holds; {engine}: "
        f"{len(packets) / seconds:,.0f} packets/s"
    )
    if (age := oldest(setup, packets)) is not None:
        say(f"oldest software value that a tag asked for: {age:,} ns")


def cosim(
    trace: Annotated[Path, typer.Option(help="Trace, as of sim csig.")],
    ports: Annotated[Path, typer.Option(help="Ports file (TOML): what each port is set to.")],
    layout: Layout = "draft",
    update_discarded: Annotated[
        bool, typer.Option("--update-discarded", help="Update tags with D = 1, too.")
    ] = False,
    stall: Annotated[float, real(help="Share of cycles the output is not ready.")] = 0.2,
    idle: Annotated[float, real(help="Share of cycles the input pauses.")] = 0.2,
    seed: Annotated[int, number(help="Seed of both.")] = 0,
) -> None:
    """Run a trace through the generated Verilog under cocotb; compare each beat with the model."""
    from tb.cosim import first_line
    from tb.csig.cosim import cosim as run
    from tb.simulator import CocotbError

    options = {"layout": layout, "update_discarded": update_discarded}
    try:
        done = run(trace, ports, **options, stall=stall, idle=idle, seed=seed)
    except CocotbError as error:
        say(first_line(error))
        raise typer.Exit(1) from None
    say(
        f"{done.packets:,} packets, {done.replaced:,} replaced, {done.writes:,} values of agents, "
        f"{done.cycles:,} cycles, no difference from the golden model; "
        f"{done.packets / done.seconds:,.0f} packets/s"
    )
    say(f"coverage: {done.coverage}")


def trace(
    out: Out,
    ports_out: Annotated[
        Path | None, typer.Option(help="Ports file (TOML) to write, that goes with the trace.")
    ] = None,
    hop: Annotated[
        int | None, number(help="Write the trace of this hop alone, from 1; default: of all.")
    ] = None,
    hops: Annotated[
        int | None, number(help="Hops; default: as many as numbers in the lists below, or 5.")
    ] = None,
    speed_gbps: Annotated[
        str | None, typer.Option(help='Speed of each hop\'s link; default "800,100,100,100,40".')
    ] = None,
    load: Annotated[
        str | None, typer.Option(help='Share of it used; default "0.875,0.05,0.3,0.1,0.5".')
    ] = None,
    delay_ns: Annotated[
        str | None,
        typer.Option(help='Time spent in each hop; default "10000,3000,18000,5000,8000".'),
    ] = None,
    queue_bytes: Annotated[
        str | None, typer.Option(help="Queue of each hop; default: what takes the delay to drain.")
    ] = None,
    packets: Annotated[int | None, number(help="Packets of the flow; default 1,000.")] = None,
    packet_bytes: Annotated[int | None, number(help="Bytes of each; default 1,000.")] = None,
    rate_gbps: Annotated[
        str | None, typer.Option(help="Rate of the flow; default: all of the smallest load.")
    ] = None,
    other_bytes: Annotated[
        int | None, number(help="Bytes of the packets beside the flow; default 4,096.")
    ] = None,
    signals: Annotated[
        str | None, typer.Option(help='What tags ask for in turn; default "abw,abw_c,delay,queue".')
    ] = None,
    format: Annotated[Literal["compact", "wide"], typer.Option(help="Format.")] = "compact",
    layout: Layout = "draft",
    source: Annotated[
        Literal["native", "agent"], typer.Option(help="Hops measure, or their software does.")
    ] = "native",
    window_ns: Annotated[
        int | None, number(help="Window of the available bandwidth; default 16,000.")
    ] = None,
    link_ns: Annotated[int | None, number(help="Time from hop to hop; default 500.")] = None,
    jitter_ns: Annotated[
        int | None, number(help="Largest extra delay of a packet in a hop; default 0.")
    ] = None,
    seed: Annotated[int | None, number(help="Seed of the jitter; default 0.")] = None,
) -> None:
    """Write what the hops of a path see: a trace for `netweave sim csig`."""
    from models.common.check import integer
    from models.common.files import replacing
    from models.common.parquet import is_parquet, need_pyarrow
    from models.csig.path import hop_traces, joined
    from models.csig.path_text import path_of
    from models.csig.toml import text_of
    from models.csig.trace import write_trace

    path = path_of(
        hops,
        given(speed_gbps=speed_gbps, load=load, delay_ns=delay_ns, queue_bytes=queue_bytes),
        given(rate_gbps=rate_gbps, signals=signals),
        **given(
            packets=packets,
            packet_bytes=packet_bytes,
            other_bytes=other_bytes,
            format=format,
            layout=layout,
            source=source,
            window_ns=window_ns,
            link_ns=link_ns,
            jitter_ns=jitter_ns,
            seed=seed,
        ),
    )
    if hop is not None:
        integer("hop", hop, 1, len(path.stops))
    if is_parquet(out):
        need_pyarrow(out)
    if ports_out and ports_out.resolve() == out.resolve():
        raise ValueError(f"ports_out must be another file than out, not {str(ports_out)!r}")
    with replacing(out) as beside:
        traces = hop_traces(path)
        made = joined(traces) if hop is None else traces[hop - 1]
        write_trace(beside, made, parquet=is_parquet(out))
        if ports_out:
            with replacing(ports_out) as file:
                file.write_text(text_of(path.setup()))
    shown = "all hops" if hop is None else f"hop {hop}"
    say(
        f"{len(made):,} packets of {shown} of {len(path.stops)}, {path.packets:,} of the flow at "
        f"{float(path.rate):g} Gb/s, {made.time_ns[-1] / 1e6:,.3f} ms"
    )


def synth(preset: Preset = "port", json: AsJson = False) -> None:
    """Price a preset part by part, in gate equivalents."""
    from models.csig.config import preset as named
    from synth.report import synth_csig as print_costs

    print_costs(preset, named(preset), as_json=json)


def verilog(out: Folder, preset: Preset = "port") -> None:
    """Write a preset as Verilog, and the lint waivers that belong to it."""
    from rtl.export import export_csig

    for path in export_csig(preset, out):
        say(f"wrote {path}")


def presets() -> Table:
    """Return the named configurations as a table."""
    from rich.table import Table

    from models.csig.beat import tag_bits
    from models.csig.config import PRESETS

    table = Table("preset", title="Presets of CSIG")
    for title in ("ports", "formats", "sources", "tag bits"):
        table.add_column(title, justify="right")
    for name, c in PRESETS.items():
        table.add_row(
            name,
            f"{c.ports}",
            ", ".join(c.formats),
            c.sources,
            f"{tag_bits(c)}",
        )
    return table
