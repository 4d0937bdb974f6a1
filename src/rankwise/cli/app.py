"""The commands, their options, and how they end.

Exit codes: 0 done, 1 a problem with the data or the files (one line on stderr), 2 a mistake in the command.
Results go to stdout, progress and problems to stderr. Everything heavy is imported inside the commands, so that
``rankwise --help`` answers at once.
"""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from rankwise import __version__


class _OneLineErrors(TyperGroup):
    """Commands whose expected problems end in one line that says what to do, and not in a traceback."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            raise  # the reader of our output has seen enough: the end of the program, and no problem
        except (ValueError, OSError, ImportError) as error:
            if ctx.params["debug"]:
                raise
            typer.echo(f"rankwise: {' '.join(str(error).split())}", err=True)
            ctx.exit(1)


app = typer.Typer(
    name="rankwise",
    cls=_OneLineErrors,
    help="Look at rankings: describe, find a consensus, measure predictions.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


def main() -> None:
    """Run the command line and end the process with its exit code."""
    for stream in (sys.stdout, sys.stderr):
        # A name that the terminal cannot show must not end the command after its work is done.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    app(prog_name="rankwise")


@app.command()
def quickstart(
    data: Annotated[str, typer.Option(help="Name of a data set, or a file of rankings.")] = "iris",
    seed: Annotated[int, typer.Option(min=0, max=2**32 - 1, help="Same seed, same numbers.")] = 0,
    out: Annotated[Path, typer.Option(help="Where to write the report.")] = Path("rankwise-quickstart.html"),
    as_json: Annotated[bool, typer.Option("--json", help="Print the results as JSON.")] = False,
) -> None:
    """Look at rankings: description, consensus, agreement, baselines, and a report with pictures."""
    from rankwise.cli import console
    from rankwise.cli.quickstart import analyse
    from rankwise.cli.report import check_writable, write_report

    check_writable(out, data=Path(data))
    with console.progress() as on_step:
        result = analyse(data, seed=seed, on_step=on_step)
        on_step("drawing", 0.95)
        write_report(result, out)
    if as_json:
        console.print_json({**result.as_dict(), "report": str(out)})
    else:
        console.print_quickstart(result, out)


@app.command()
def warmup() -> None:
    """Compile everything that is compiled on first use, so that later calls start fast."""
    from rankwise.cli import console
    from rankwise.cli.warmup import STEPS, why_in_vain

    with console.progress() as on_step:
        for number, (name, call) in enumerate(STEPS.items()):
            on_step(name, number / len(STEPS))
            call()
    in_vain = why_in_vain()
    if in_vain:
        typer.echo(f"rankwise: {in_vain}", err=True)
    else:
        typer.echo(f"Compiled: {', '.join(STEPS)}.")


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"rankwise {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of a problem.")] = False,
) -> None:
    pass
