"""The commands about Ofan."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cli.options import AsJson, Engine, Folder, Out, Preset, given, number
from cli.screen import progress_bar, say

if TYPE_CHECKING:
    from rich.table import Table

    from models.ofan.config import OfanConfig

Lanes = Annotated[int | None, number(help="Packets in a batch, 1 to 64.")]
Uplinks = Annotated[int | None, number(help="Uplink ports w, 1 to 64.")]
Destinations = Annotated[int | None, number(help="Destinations, 1 to 65,536.")]
SizeClasses = Annotated[int | None, number(help="Packet-size classes, 1 to 8.")]
PipeLanes = Annotated[int | None, number(help="Lanes of a pipe (pOfan); divides the lanes.")]
Order = Annotated[str | None, typer.Option(help='"plain", or the permutation P as "0,3,1,2".')]
Init = Annotated[str | None, typer.Option(help="Initial pointers: zero, or a seed.")]
Masks = Annotated[int | None, number(help="Different sets of valid uplinks at one time.")]
Network = Annotated[str | None, typer.Option(help="bitonic, odd-even-merge or best.")]


def ofan_config(
    preset_name: str, order: str | None, init: str | None, **options: Any
) -> OfanConfig:
    """Return the preset with the options that were given in place of its fields."""
    from models.ofan.config import parse_init, parse_order, preset

    changes = given(**options)
    if order is not None:
        changes["order"] = parse_order(order)
    if init is not None:
        changes["init"] = parse_init(init)
    return preset(preset_name, **changes)


def sim(
    preset: Preset,
    trace: Annotated[Path, typer.Option(help="Trace: batch,lane,destination,size_class.")],
    out: Out,
    engine: Engine = "rtl",
    lanes: Lanes = None,
    uplinks: Uplinks = None,
    destinations: Destinations = None,
    size_classes: SizeClasses = None,
    pipe_lanes: PipeLanes = None,
    order: Order = None,
    init: Init = None,
    masks: Masks = None,
    network: Network = None,
    failures: Annotated[
        Path | None, typer.Option(help="Failures: batch,destination,uplink,up.")
    ] = None,
) -> None:
    """Route every packet of a trace; write its rows with the column uplink."""
    from models.common.files import replacing
    from models.common.parquet import is_parquet, need_pyarrow
    from models.ofan.masks import read_failures, with_room
    from models.ofan.trace import read_trace, write_trace

    config = ofan_config(
        preset,
        order,
        init,
        lanes=lanes,
        uplinks=uplinks,
        destinations=destinations,
        size_classes=size_classes,
        pipe_lanes=pipe_lanes,
        masks=masks,
        network=network,
    )
    if is_parquet(out):
        need_pyarrow(out)
    packets = read_trace(trace, config)
    events = read_failures(failures, config) if failures else []
    config = with_room(config, events, grow=masks is None)
    if engine == "rtl":
        from tb.ofan.replay import Replay
        from tb.ofan.replay import replay as run

        Replay(config).close()  # builds the library, which the time below is not to include
    else:
        from models.ofan.vectorized import route as run
    inputs = (trace, failures)
    with (
        replacing(out, inputs) as beside,
        progress_bar(f"{engine} {preset}", packets.batches) as progress,
    ):
        started = time.perf_counter()
        uplink = run(config, packets, events, progress)
        seconds = time.perf_counter() - started
        write_trace(beside, packets, uplink, parquet=is_parquet(out))
    say(
        f"{packets.batches:,} batches, {len(packets):,} packets, {(uplink < 0).sum():,} "
        f"unroutable; {engine}: {packets.batches / seconds:,.0f} batches/s"
    )


def cosim(
    preset: Preset,
    trace: Annotated[Path, typer.Option(help="Trace: batch,lane,destination,size_class.")],
    stall: Annotated[float, typer.Option(help="Share of cycles the output is not ready.")] = 0.2,
    idle: Annotated[float, typer.Option(help="Share of cycles the input pauses.")] = 0.2,
    seed: Annotated[int, number(help="Seed of both.")] = 0,
) -> None:
    """Run a trace through the generated Verilog under cocotb; compare each beat with the model."""
    from models.ofan.config import preset as named
    from tb.cosim import first_line
    from tb.ofan.cosim import cosim as run
    from tb.simulator import CocotbError

    try:
        done = run(named(preset), trace, stall=stall, idle=idle, seed=seed)
    except CocotbError as error:
        say(first_line(error))
        raise typer.Exit(1) from None
    say(
        f"{done.batches:,} batches, {done.packets:,} packets, {done.cycles:,} cycles, "
        f"no difference from the golden model; {done.batches / done.seconds:,.0f} batches/s"
    )
    say(f"coverage: {done.coverage}")


def trace(
    radix: Annotated[int, number(help="k of the fat tree, even: k³/4 hosts.")],
    switch: Annotated[str, typer.Option(help="edge:NUMBER or agg:NUMBER, over the whole tree.")],
    out: Out,
    connections: Annotated[Path | None, typer.Option(help="Connection matrix (.cm).")] = None,
    permutation: Annotated[int | None, number(help="Or a permutation of so many.")] = None,
    seed: Annotated[int, number(help="Seed of the permutation.")] = 0,
    packets: Annotated[
        int | None, number(help="Data packets of each flow; default size / 4,096.")
    ] = None,
    delay: Annotated[int | None, number(help="Slots until data has arrived; default 77.")] = None,
    order: Annotated[
        str | None, typer.Option(help="Order at the edge switches below an aggregation switch.")
    ] = None,
    init: Annotated[
        str | None, typer.Option(help="Initial pointers there: zero, or a seed; default 0.")
    ] = None,
) -> None:
    """Write the northbound packets of one switch as a trace for `netweave sim ofan`."""
    from models.common.check import integer
    from models.common.files import replacing
    from models.common.parquet import is_parquet, need_pyarrow
    from models.fabric.connections import permutation as draw
    from models.fabric.connections import read_connections
    from models.fabric.fattree import FatTree, parse_switch
    from models.fabric.hosts import DELAY
    from models.ofan.config import parse_init, parse_order
    from models.ofan.order import check_permutation
    from models.ofan.trace import write_trace
    from models.ofan.traffic import switch_trace

    tree = FatTree(radix)
    ports = None if order is None else parse_order(order)
    if isinstance(ports, tuple):
        check_permutation(ports, radix // 2)
    layer, number = parse_switch(switch, tree)
    if connections is not None and permutation is None:
        matrix = read_connections(connections, tree.hosts)
    elif permutation is not None and connections is None:
        matrix = draw(integer("permutation", permutation, 2, tree.hosts), seed)
    else:
        raise ValueError("connections or permutation must be given, one of the two")
    if is_parquet(out):
        need_pyarrow(out)
    with replacing(out, (connections,)) as beside:
        made = switch_trace(
            tree,
            matrix,
            layer,
            number,
            packets=packets,
            delay=DELAY if delay is None else delay,
            order=ports,
            init=0 if init is None else parse_init(init),
        )
        write_trace(beside, made, parquet=is_parquet(out))
    say(f"{made.batches:,} batches, {len(made):,} packets at {switch} of radix {radix}")


def study_pointers(
    quick: Annotated[
        bool, typer.Option("--quick", help="Little traffic: shows that all works, in seconds.")
    ] = False,
    jobs: Annotated[int | None, number(help="Runs at a time; default one a core.")] = None,
    json: AsJson = False,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Folder for records, tables and plots.")
    ] = None,
) -> None:
    """Find how long packets wait in each pointer engine under which traffic, and its price."""
    from synth.pointer_report import study_pointers as study

    study(out, quick=quick, jobs=jobs, as_json=json)


def synth(
    preset: Preset,
    json: AsJson = False,
) -> None:
    """Price a preset part by part, in gate equivalents."""
    from models.ofan.config import preset as named
    from synth.report import synth_ofan as print_costs

    print_costs(preset, named(preset), as_json=json)


def prove(preset: Preset) -> None:
    """Prove the netlists that a preset is priced by equal to their RTL, block by block.

    The exit code is 1 if one is not.
    """
    from models.ofan.config import preset as named
    from synth.report import prove_ofan

    if not prove_ofan(preset, named(preset)):
        raise typer.Exit(1)


def verilog(
    preset: Preset,
    out: Folder,
    storage: Annotated[
        str | None, typer.Option(help="What holds the pointers of banks: flops, latches or sram.")
    ] = None,
) -> None:
    """Write a preset as Verilog, and the lint waivers that belong to it."""
    from rtl.export import export_ofan

    for path in export_ofan(preset, out, storage):
        say(f"wrote {path}")


def presets() -> Table:
    """Return the named configurations as a table."""
    from rich.table import Table

    from models.ofan.config import PRESETS

    table = Table(title="Presets of Ofan", padding=(0, 0, 0, 1))
    for title in ("preset", "engine"):
        table.add_column(title, no_wrap=True)
    for title in ("lanes", "pipes", "uplinks", "destinations", "pointer bits"):
        table.add_column(title, justify="right", overflow="fold")
    for name, c in PRESETS.items():
        cells = (c.lanes, c.pipes, c.uplinks, c.destinations, c.pointer_bits)
        table.add_row(name, c.engine.kind, *(f"{cell:,}" for cell in cells))
    return table
