"""The command ``rankwise``: its commands, and how they end.

Exit codes: 0 done, 1 a problem with the data or the files, 2 a mistake in the command (one line on stderr each), 130
interrupted, 141 the reader of the output closed the pipe. Results go to stdout, progress and problems to stderr. The
commands live in the other modules; everything heavy is imported inside them, so that ``rankwise --help`` answers
at once. Other distributions add commands of their own through the entry-point group ``rankwise.commands``: each entry
names a function that Typer can turn into a command, in a module that imports nothing heavy either.
"""

from __future__ import annotations

import io
import sys
import traceback
import warnings
from collections.abc import Callable
from functools import partial
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperCommand, TyperGroup

from rankwise import __version__
from rankwise._tables import visible
from rankwise.cli.explain_command import explain
from rankwise.cli.in_and_out import say
from rankwise.cli.kernel_command import kernel
from rankwise.cli.learn_commands import evaluate, fit, predict, tree
from rankwise.cli.options import writes_files
from rankwise.cli.people_commands import compare, drivers, raters, robustness, sample_size, segments
from rankwise.cli.screen_command import formula, screen
from rankwise.cli.search_commands import rank_evaluate, rank_explain, rank_predict, rank_train
from rankwise.cli.studio_command import studio
from rankwise.cli.survey_commands import consensus, describe, quickstart, report
from rankwise.cli.warmup_command import warmup

# As shells count: 128 and the number of the signal.
_INTERRUPTED, _CLOSED_PIPE = 130, 141

# Entry points of this group are commands of other distributions.
_COMMAND_GROUP = "rankwise.commands"
# Commands that are ours but come separately, and what to install for them.
_SEPARATE_COMMANDS = {
    "reproduce": "pip install rankwise-reproductions, or pip install ./reproductions in a checkout of rankwise"
}


# Parts of the help.
_SURVEYS, _MODELS = "Surveys and juries", "Models of rankings"
_SEARCH, _FORMULAS, _OTHERS = "Search", "Formulas", "Papers and setup"


def _in_a_word(shown: Callable[[Any], str], ctx: Any) -> str:
    """What an option takes, where it has no word of its own for that."""
    words = {"<str>": "TEXT", "<path>": "FILE", "<int>": "N", "<int range>": "N", "<float>": "X", "<float range>": "X"}
    return words.get(shown(ctx), shown(ctx))


def _without_types(parameters: list[Any]) -> list[Any]:
    """Parameters as the help shows them: names say what they take, and neither types nor ranges squeeze the words."""
    for parameter in parameters:
        if getattr(parameter, "is_flag", False) and parameter.metavar is None:
            parameter.metavar = ""
        parameter._get_number_range_help_str = lambda: None
        if parameter.param_type_name == "argument":
            parameter.display_type_rich = lambda ctx: ""
        elif hasattr(parameter, "display_type_rich") and "display_type_rich" not in vars(parameter):
            parameter.display_type_rich = partial(_in_a_word, parameter.display_type_rich)
    return parameters


class _Command(TyperCommand):
    def get_usage(self, ctx: Any) -> str:
        return super().get_usage(ctx).replace("{", "").replace("}", "")  # FILE, as in other programs

    def get_params(self, ctx: Any) -> list[Any]:
        return _without_types(super().get_params(ctx))


class _Commands(TyperGroup):
    """Our commands, and those of other distributions, which are imported only when they are needed.

    Mistakes and expected problems of any of them end in one line that says what to do, and not in a traceback.
    """

    def get_params(self, ctx: Any) -> list[Any]:
        return _without_types(super().get_params(ctx))

    def list_commands(self, ctx: Any) -> list[str]:
        own = super().list_commands(ctx)
        return own + sorted(set(_plugins()) - set(own))

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        return super().get_command(ctx, cmd_name) or _separate_command(cmd_name)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        is_empty = not args  # as it will be after parsing, too
        try:
            return super().parse_args(ctx, args)
        except Exception as error:
            if is_empty or not hasattr(error, "format_message"):  # without a word, the help is the answer
                raise
            _end_with_mistake(error, ctx)

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            raise  # the reader of our output has seen enough: the end of the program, and no problem
        except (ValueError, OSError, ImportError, MemoryError) as error:
            if ctx.params["debug"]:
                raise
            say(" ".join(str(error).split()))
            for command in getattr(error, "commands", ()):  # ready to paste
                typer.echo(visible(f"  {command}"), err=True)
            ctx.exit(1)
        except Exception as error:
            if hasattr(error, "format_message"):  # a mistake in the command, as Typer found it
                _end_with_mistake(error, ctx)
            # What has an exit code is how Typer ends a command, not a problem.
            if ctx.params["debug"] or isinstance(error, typer.Abort) or hasattr(error, "exit_code"):
                raise
            words = " ".join(" ".join(traceback.format_exception_only(error)).split())
            say(f"unexpected problem: {words}; please report what rankwise --debug shows")
            ctx.exit(1)
        except KeyboardInterrupt:
            say("interrupted")
            ctx.exit(_INTERRUPTED)


app = typer.Typer(
    name="rankwise",
    cls=_Commands,
    help="Learn from rankings: describe them, find a consensus, predict them, and order search results.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


def main() -> None:
    """Run the command line and end the process with its exit code."""
    for stream in (sys.stdout, sys.stderr):
        # A name that the terminal cannot show must not end the command after its work is done.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    warnings.formatwarning = _one_line
    try:
        app(prog_name="rankwise")
    except SystemExit as end:
        # Typer and Rich, wherever they meet a closed pipe, end with 1, which is for problems.
        if isinstance(end.__context__, BrokenPipeError):
            end.code = _CLOSED_PIPE
        raise
    except Exception:  # what --debug shows, without the control characters that messages may quote
        sys.stderr.write(visible(traceback.format_exc()))
        sys.exit(1)


def _end_with_mistake(error: Any, ctx: Any) -> NoReturn:
    """Say in a line what is wrong with the command, and where it says what is right."""
    words = " ".join(error.format_message().split()).replace("Value error, ", "").rstrip(".")
    say(f"{words}; see {(error.ctx or ctx).command_path} --help")
    raise typer.Exit(2)


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


def _add(panel: str, function: Any, example: str) -> None:
    """Add a command to a part of the help, with an example at its end."""
    epilog = f"Example: rankwise {example}"
    app.command(cls=_Command, rich_help_panel=panel, epilog=epilog)(writes_files(function))


# In the order in which the help lists them.
_add(_SURVEYS, quickstart, "quickstart")
_add(_SURVEYS, studio, "studio survey.csv")
_add(_SURVEYS, report, "report survey.csv -o report.html")
_add(_SURVEYS, describe, "describe survey.csv")
_add(_SURVEYS, consensus, "consensus votes.csv --bootstrap 1000")
_add(_SURVEYS, compare, "compare survey.csv --by gender")
_add(_SURVEYS, drivers, "drivers survey.csv --tree")
_add(_SURVEYS, raters, "raters jury.csv --id judge -o map.png")
_add(_SURVEYS, robustness, "robustness votes.csv --method borda")
_add(_SURVEYS, sample_size, "sample-size --items 8 --precision 0.25")
_add(_SURVEYS, segments, "segments survey.csv --features age,city")
_add(_MODELS, tree, "tree survey.csv --max-depth 3 -o tree.png")
_add(_MODELS, evaluate, "evaluate survey.csv")
_add(_MODELS, fit, "fit survey.csv --model forest -o model.rankwise")
_add(_MODELS, predict, "predict model.rankwise new.csv --orders")
_add(_MODELS, explain, "explain model.rankwise new.csv --row 3 --above tea --below juice")
_add(_MODELS, kernel, "kernel survey.csv -o gram.npy")
_add(_SEARCH, rank_train, "rank-train train.txt -o model.rankwise")
_add(_SEARCH, rank_predict, "rank-predict model.rankwise test.txt -o scores.txt")
_add(_SEARCH, rank_evaluate, "rank-evaluate qrels.txt bm25.run mine.run --worst 10")
_add(_SEARCH, rank_explain, "rank-explain model.rankwise test.txt --query 17 --above doc3 --below doc8")
_add(_FORMULAS, screen, "screen beams.csv --y load")
_add(_FORMULAS, formula, "formula beams.csv --y load")
_add(_OTHERS, warmup, "warmup")


def _plugins() -> dict[str, Any]:
    """The entry points of other distributions, by the names of their commands."""
    from importlib.metadata import entry_points  # takes as long as all our other imports, and few commands need it

    return {entry.name: entry for entry in entry_points(group=_COMMAND_GROUP)}


def _separate_command(name: str) -> Any:
    """The command that another distribution has under this name; None if no such command is known."""
    found = _plugins().get(name)
    if found is None:
        how = _SEPARATE_COMMANDS.get(name)
        return how and _unavailable_command(name, f"{name} is not installed: {how}")
    try:
        function = found.load()
        example = getattr(function, "example", "")  # what the help ends with, as for our own commands
        return _typer_command(name, function, **({"epilog": f"Example: rankwise {example}"} if example else {}))
    except Exception as error:  # whatever is wrong with it, the other commands work
        return _unavailable_command(name, f"{name} cannot be loaded: {found.value}: {type(error).__name__}: {error}")


def _typer_command(name: str, function: Any, **settings: Any) -> Any:
    alone = typer.Typer(add_completion=False)
    alone.command(name, cls=_Command, rich_help_panel=_OTHERS, **settings)(function)
    return typer.main.get_command(alone)


def _unavailable_command(name: str, why: str) -> Any:
    """A command that takes any arguments and ends in a line that says why it cannot run."""

    def fail() -> None:
        raise ImportError(why)

    any_arguments = {"ignore_unknown_options": True, "allow_extra_args": True}
    return _typer_command(name, fail, help=why, context_settings=any_arguments)


def _one_line(message: Warning | str, *place: object, **more: object) -> str:
    """A warning as a user of the command needs it: what, and not the line of our code that says so."""
    return visible(f"rankwise: {' '.join(str(message).split())}\n")
