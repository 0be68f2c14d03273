"""The command line of netweave: one subcommand a job, no logic of its own.

The commands are in `cli`. They import what they need when they run, so that `--help` is quick.
Whatever is wrong with the input ends with exit code 2 and one line on stderr, an interrupt with
130.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Sequence
from typing import Annotated, Any

import typer

from cli import csig, fabric, ofan, symphony
from cli.screen import say

app = typer.Typer(
    name="netweave",
    help="In-network mechanisms for AI training as hardware: route, mark, check, price.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

GROUPS: dict[str, tuple[str, dict[str, Callable[..., Any]]]] = {
    # group: what it does, and a command for each mechanism
    "sim": (
        "Run a trace through the hardware or its model.",
        {"ofan": ofan.sim, "symphony": symphony.sim, "csig": csig.sim},
    ),
    "cosim": (
        "Check the Verilog on a trace, cycle by cycle.",
        {"ofan": ofan.cosim, "symphony": symphony.cosim, "csig": csig.cosim},
    ),
    "trace": (
        "Make a trace.",
        {"ofan": ofan.trace, "symphony": symphony.trace, "csig": csig.trace},
    ),
    "study": (
        "Set what a choice brings beside what it costs.",
        {"symphony-log": symphony.study_log, "pointers": ofan.study_pointers},
    ),
    "fabric": (
        "Run the network around the hardware: a fat tree, packet by packet.",
        {"run": fabric.run, "sweep": fabric.sweep, "figure": fabric.figure},
    ),
    "synth": (
        "Map a block to gates and count them.",
        {"ofan": ofan.synth, "symphony": symphony.synth, "csig": csig.synth},
    ),
    "prove": ("Prove netlists equal to their RTL.", {"ofan": ofan.prove}),
    "verilog": (
        "Write a block as Verilog.",
        {"ofan": ofan.verilog, "symphony": symphony.verilog, "csig": csig.verilog},
    ),
}

for group, (purpose, commands) in GROUPS.items():
    sub = typer.Typer(no_args_is_help=True)
    for mechanism, command in commands.items():
        sub.command(mechanism)(command)
    app.add_typer(sub, name=group, help=purpose)


@app.command("presets")
def list_presets() -> None:
    """List the named configurations."""
    from rich.console import Console

    for mechanism in (ofan, symphony, csig):
        Console().print(mechanism.presets())


@app.command("claims")
def report_claims(
    quick: Annotated[
        bool, typer.Option("--quick", help="Take what is slow from the records of the release.")
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
    markdown: Annotated[
        bool, typer.Option("--markdown", help="Print the report as Markdown.")
    ] = False,
) -> None:
    """Set the paper's cost numbers beside what is counted."""
    from synth.report import report_claims as print_claims

    if json and markdown:
        raise ValueError("json or markdown must be given, not both")
    print_claims(quick=quick, as_json=json, as_markdown=markdown)


def stop(*_: object) -> None:
    """Clean up after a kill as after an interrupt: nothing half-written is left.

    An exit that is raised inside a callback of Python's own is lost: it comes again in a second.
    """
    signal.signal(signal.SIGALRM, stop)
    signal.alarm(1)
    sys.exit(143)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit code: 0, 2 for bad input, 130 for an interrupt."""
    from rtl.toolchain import ToolError

    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) != signal.SIG_IGN:  # as under nohup
            signal.signal(number, stop)
    words = None if arguments is None else list(arguments)
    try:
        return app(words, prog_name="netweave", standalone_mode=False) or 0
    except (KeyboardInterrupt, typer.Abort):
        return 130
    except (ValueError, TypeError, MemoryError, ToolError) as error:
        say(str(error))
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        say(f"{error.filename}: {reason}" if error.filename else f"output: {reason}")
    except Exception as error:
        # What typer raises for bad usage is a class of click's or one of its own, by version.
        message = getattr(error, "format_message", None)
        if message is None:
            raise
        if message():  # empty where help was shown instead
            say(message())
    finally:
        signal.alarm(0)  # `stop` has been heard
    return 2


if __name__ == "__main__":
    sys.exit(main())
