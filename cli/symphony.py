"""The commands about Symphony."""

from __future__ import annotations

import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli.options import AsJson, Engine, Folder, Out, Preset, given, number, real
from cli.screen import progress_bar, say

if TYPE_CHECKING:
    from rich.table import Table

Arithmetic = Annotated[
    str | None, typer.Option(help="log, exact, or real: Algorithm 1 in real numbers, model only.")
]
StepWrap = Annotated[
    str | None, typer.Option(help="serial: step indices wrap around; plain: they end.")
]
TraceFile = Annotated[
    Path, typer.Option(help="Trace: time_ns,job,step,psn,last,queue_bytes[,ecn][,random].")
]
Slots = Annotated[
    Path | None, typer.Option(help="When jobs get and lose their slots: time_ns,job,given.")
]


def sim(
    trace: TraceFile,
    out: Out,
    slots: Slots = None,
    preset: Preset = "log-16k",
    engine: Engine = "rtl",
    arithmetic: Arithmetic = None,
    k: Annotated[float | None, real(help="Gain of the marking, 0.0001 to 1.")] = None,
    tau: Annotated[float | None, real(help="Tolerated share of outpacing packets.")] = None,
    window_ns: Annotated[int | None, number(help="Window after which α moves.")] = None,
    psn_window_ns: Annotated[
        int | None, number(help="Window after which psn_rec starts anew; default the same.")
    ] = None,
    n_warmup: Annotated[int | None, number(help="No mark while psn_rec is at most this.")] = None,
    n_sample: Annotated[
        int | None, number(help="α keeps still after a window of at most so many packets.")
    ] = None,
    alpha_max: Annotated[int | None, number(help="Ceiling of α; default 1/k.")] = None,
    jobs: Annotated[int | None, number(help="Job slots, 1 to 65,536.")] = None,
    step_wrap: StepWrap = None,
    step_packets: Annotated[
        int | None, number(help="Packets of a step, where PSNs run on; 0: they start anew.")
    ] = None,
    kmin: Annotated[int | None, number(help="RED marks nothing up to this queue, bytes.")] = None,
    kmax: Annotated[int | None, number(help="RED marks all above this queue, bytes.")] = None,
    pmax: Annotated[float | None, real(help="RED's probability there, 0.001 to 1.")] = None,
    mantissa_bits: Annotated[
        int | None, number(help="Bits that enter a logarithm table, 2 to 10.")
    ] = None,
    fraction_bits: Annotated[
        int | None, number(help="Binary places of a logarithm, 2 to 10.")
    ] = None,
    seed: Annotated[int | None, number(help="Seed of the random numbers.")] = None,
) -> None:
    """Mark the packets of a trace; write its rows with the probability and the marks."""
    from models.common.files import replacing
    from models.common.parquet import is_parquet, need_pyarrow
    from models.symphony import slots as control
    from models.symphony.config import preset as named
    from models.symphony.trace import read_trace, write_trace

    exact_real = arithmetic == "real"
    if exact_real and engine == "rtl":
        raise ValueError("arithmetic must be log or exact with engine rtl, not real")
    changes = given(
        k=k,
        tau=tau,
        window_ns=window_ns,
        psn_window_ns=psn_window_ns,
        n_warmup=n_warmup,
        n_sample=n_sample,
        alpha_max=alpha_max,
        jobs=jobs,
        step_wrap=step_wrap,
        step_packets=step_packets,
        kmin=kmin,
        kmax=kmax,
        pmax=pmax,
        mantissa_bits=mantissa_bits,
        fraction_bits=fraction_bits,
        seed=seed,
        arithmetic=None if exact_real else arithmetic,
    )
    config = named(preset, **changes)
    if is_parquet(out):
        need_pyarrow(out)
    packets = read_trace(trace, config)
    orders = control.orders(config, packets, slots)
    if engine == "rtl":
        from tb.symphony.replay import prepare
        from tb.symphony.replay import replay as run
    else:
        from models.symphony.vectorized import answer, prepare

        run = partial(answer, real=exact_real)
    prepare(config)  # it is not to be in the time below
    with (
        replacing(out, (trace, slots)) as beside,
        progress_bar(f"{engine} {preset}", len(packets)) as progress,
    ):
        started = time.perf_counter()
        answers = run(config, packets, orders, progress)
        seconds = time.perf_counter() - started
        write_trace(beside, packets, answers, parquet=is_parquet(out))
    say(
        f"{len(packets):,} packets, {answers.outpacing.sum():,} outpacing, marked by Symphony "
        f"{answers.symphony.sum():,}, by RED {answers.red.sum():,}, in all {answers.mark.sum():,}; "
        f"{(~answers.known).sum():,} of unknown jobs; {engine}: "
        f"{len(packets) / seconds:,.0f} packets/s"
    )


def cosim(
    trace: TraceFile,
    slots: Slots = None,
    preset: Preset = "log-64",
    stall: Annotated[float, real(help="Share of cycles the output is not ready.")] = 0.2,
    idle: Annotated[float, real(help="Share of cycles the input pauses.")] = 0.2,
    seed: Annotated[int, number(help="Seed of both.")] = 0,
) -> None:
    """Run a trace through the generated Verilog under cocotb; compare each beat with the model."""
    from models.symphony.config import preset as named
    from tb.cosim import first_line
    from tb.simulator import CocotbError
    from tb.symphony.cosim import cosim as run

    try:
        done = run(named(preset), trace, slots, stall=stall, idle=idle, seed=seed)
    except CocotbError as error:
        say(first_line(error))
        raise typer.Exit(1) from None
    say(
        f"{done.packets:,} packets, {done.marks:,} marked, {done.orders:,} orders, "
        f"{done.cycles:,} cycles, no difference from the golden model; "
        f"{done.packets / done.seconds:,.0f} packets/s"
    )
    say(f"coverage: {done.coverage}")


def trace(
    out: Out,
    nodes: Annotated[int, number(help="Nodes of a ring.")] = 8,
    jobs: Annotated[int, number(help="Rings, one a job.")] = 1,
    packets: Annotated[int, number(help="Packets that a node sends in a step.")] = 1000,
    slow: Annotated[int | None, number(help="Node of job 0 that sends slowly.")] = None,
    slow_factor: Annotated[float, real(help="How many times as long it takes.")] = 2.0,
    load: Annotated[float, real(help="Rate at which all flows send, in line rates.")] = 1.0,
    jitter_ns: Annotated[int, number(help="Largest delay of a packet on its way.")] = 2000,
    gbps: Annotated[float, real(help="Line rate, Gb/s.")] = 10.0,
    packet_bytes: Annotated[int, number(help="Bytes of a packet.")] = 1000,
    seed: Annotated[int, number(help="Seed of the jitter.")] = 0,
) -> None:
    """Write what a switch port sees of ring all-reduces: a trace for `netweave sim symphony`."""
    from models.common.files import replacing
    from models.common.parquet import is_parquet, need_pyarrow
    from models.symphony.ring import Ring, ring_trace
    from models.symphony.trace import write_trace

    ring = Ring(
        nodes=nodes,
        jobs=jobs,
        packets=packets,
        slow=slow,
        slow_factor=slow_factor,
        load=load,
        jitter_ns=jitter_ns,
        gbps=gbps,
        packet_bytes=packet_bytes,
        seed=seed,
    )
    if is_parquet(out):
        need_pyarrow(out)
    with replacing(out) as beside:
        made = ring_trace(ring)
        write_trace(beside, made, parquet=is_parquet(out))
    say(
        f"{len(made):,} packets of {ring.flows:,} flows in {ring.steps:,} steps, "
        f"{made.time_ns[-1] / 1e6:,.1f} ms, queue up to {made.queue_bytes.max():,} bytes"
    )


def study_log(
    json: AsJson = False,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Folder for the plot and the records.")
    ] = None,
) -> None:
    """Find the error of the probability for a grid of table sizes, and what the tables cost."""
    from synth.report import study_symphony_log

    study_symphony_log(out, as_json=json)


def synth(preset: Preset = "log-16k", json: AsJson = False) -> None:
    """Price a preset part by part, in gate equivalents."""
    from models.symphony.config import preset as named
    from synth.report import synth_symphony as print_costs

    print_costs(preset, named(preset), as_json=json)


def verilog(out: Folder, preset: Preset = "log-16k") -> None:
    """Write a preset as Verilog, and the lint waivers that belong to it."""
    from rtl.export import export_symphony

    for path in export_symphony(preset, out):
        say(f"wrote {path}")


def presets() -> Table:
    """Return the named configurations as a table."""
    from rich.table import Table

    from models.symphony.config import PRESETS

    table = Table("preset", title="Presets of Symphony")
    for title in ("arithmetic", "jobs", "k", "window ns", "bits a job", "random bits"):
        table.add_column(title, justify="right")
    for name, c in PRESETS.items():
        table.add_row(
            name,
            c.arithmetic,
            f"{c.jobs:,}",
            f"{c.k:g}",
            f"{c.window_ns:,}",
            f"{c.word_bits}",
            f"{c.random_bits}",
        )
    return table
