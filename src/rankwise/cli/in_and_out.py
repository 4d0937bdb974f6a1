"""Files that commands read and write, with standard input and output among them."""

from __future__ import annotations

import difflib
import os
import shlex
import shutil
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from rankwise._replacing import replacing
from rankwise._tables import visible
from rankwise.exceptions import RankwiseFormatError

if TYPE_CHECKING:
    from rankwise._tables import TextTable

#: the name under which a command reads standard input; none writes to one of that name
STDIN = STDOUT = "-"
# Options that say how to read a file.
_READING = ("file", "target", "read", "layout", "id_", "weight", "by", "features", "ignore")
_SHOWN_DATA_SETS = 8
# The context of the command that runs.
_running: ContextVar[typer.Context | None] = ContextVar("running", default=None)
# Whether the command that runs was told to replace files.
_replaces: ContextVar[bool] = ContextVar("replaces", default=False)


class ChoiceError(RankwiseFormatError):
    """A file that can be read in several ways, with the commands that do it: they are printed on lines of their own.

    Parameters
    ----------
    error : RankwiseFormatError
        What the reader says, with ``choices``.
    cure : str
        What to do, above the commands.
    commands : sequence of str
        A command for each choice.
    """

    def __init__(self, error: RankwiseFormatError, cure: str, commands: Sequence[str]) -> None:
        super().__init__(
            error.problem, path=error.path, line=error.line, column=error.column, cure=cure, choices=error.choices
        )
        self.commands = list(commands)


def current_command() -> tuple[str, str]:
    """The name of the command that runs, and its other options as they were given, ready to paste."""
    context = _running.get()
    if context is None or context.info_name is None:
        return "consensus", ""
    words: list[str] = []
    for parameter in context.command.params:
        source = context.get_parameter_source(parameter.name or "")
        # Options that say how to read the file are among the choices.
        if parameter.name in _READING or parameter.param_type_name != "option" or source is None:
            continue
        value = context.params.get(parameter.name or "")
        if source.name == "COMMANDLINE":
            for part in value if isinstance(value, list | tuple) else [value]:
                is_flag = isinstance(part, bool)
                names = parameter.opts if part is not False else parameter.secondary_opts
                words += names[:1] if is_flag else [names[0], shlex.quote(str(part))]
    return context.info_name, " ".join(["", *words])


def missing_file(name: str, data_sets: Iterable[str] = ()) -> str:
    """What to say of a name that is not the path of a file."""
    path = Path(name)
    if path.is_dir():
        return f"{name} is a folder; give a file in it, as in {path / 'survey.csv'}"
    folder = path.parent if path.parent.is_dir() else None
    if folder is None:
        return f"there is no file {name}, because there is no folder {path.parent}"
    near = difflib.get_close_matches(path.name, [entry.name for entry in folder.iterdir()], n=1)
    near = [str(path.with_name(near[0]))] if near else difflib.get_close_matches(name, list(data_sets), n=1)
    meant = f" (did you mean {near[0]}?)" if near else ""
    known = list(data_sets)
    if path.suffix or len(path.parts) > 1 or not known:
        return f"there is no file {name}{meant}"
    rest = ", ..." if len(known) > _SHOWN_DATA_SETS else ""
    return f"there is no file and no data set {name}{meant}; data sets are {', '.join(known[:_SHOWN_DATA_SETS])}{rest}"


def check_input(context: typer.Context, name: str) -> str:
    """Refuse a file that is not there before anything heavy is imported; names without a suffix may be data sets."""
    _running.set(context)
    looks_like_file = bool(Path(name).suffix) or len(Path(name).parts) > 1
    if not context.resilient_parsing and name != STDIN and looks_like_file and not Path(name).exists():
        raise ValueError(missing_file(name))
    return name


def shown_name(name: str) -> str:
    """The name of an input as results show it."""
    return "standard input" if name == STDIN else name


@contextmanager
def readable(name: str) -> Iterator[str]:
    """Yield the path of the input: the name itself, or for ``-`` that of a copy of standard input.

    A copy, because readers look at a file more than once to find out what it is.
    """
    if name != STDIN:
        yield name
        return
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "stdin")
        with open(path, "wb") as file:
            shutil.copyfileobj(sys.stdin.buffer, file)
        try:
            yield path
        except RankwiseFormatError as error:
            error.path = shown_name(name)
            raise


def allow_replacing(allowed: bool) -> None:
    """Say whether the command that runs may replace files that exist, as ``--force`` does."""
    _replaces.set(allowed)


def check_writable(path: Path | None, *inputs: str | Path) -> None:
    """Raise an error now rather than after the work is done, if the output could not or must not be written.

    A file that exists is replaced with ``--force`` only, or if somebody at a terminal says so.

    Parameters
    ----------
    path : Path or None
        The output; None is standard output.
    *inputs : str or Path
        What it must not replace, where these are files.
    """
    if path is None:
        return
    if str(path) == STDOUT:
        raise typer.BadParameter(
            f"{STDOUT} is not a file; give the name of one, or no --out where standard output is the default",
            param_hint="--out",
        )
    folder = path.resolve().parent
    if path.is_dir():
        raise OSError(f"{path} is a folder; give the name of a file, as in --out {path / 'result'}")
    if not folder.is_dir():
        raise OSError(f"cannot write {path}: there is no folder {folder}; create it, or choose another --out")
    if path.exists() and any(os.path.exists(name) and path.samefile(name) for name in inputs):
        raise OSError(f"the output would replace the data in {path}; choose another --out")
    if not os.access(path if path.exists() else folder, os.W_OK):
        raise OSError(f"cannot write {path}: permission denied; choose another --out")
    if path.is_file():
        check_replaceable(path)


def check_replaceable(path: Path) -> None:
    """Raise an error unless a file that exists may be replaced: ``--force`` says so, or somebody at a terminal does."""
    if _replaces.get():
        return
    if not all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stderr)):
        raise OSError(f"{path} exists; replace it with --force, or choose another name")
    if not typer.confirm(f"{path} exists. Replace it?", err=True):
        raise OSError(f"{path} is as it was; choose another name")


def say(text: str) -> None:
    """Print a line besides the results, on standard error."""
    typer.echo(visible(f"rankwise: {text}"), err=True)


def write_text(path: Path | None, text: str) -> None:
    """Write text that ends in a line feed: to the file, or to standard output if there is none."""
    if path is None:
        typer.echo(visible(text), nl=False)
        sys.stdout.flush()  # a closed pipe shows here, where it is handled, and not while the interpreter ends
    else:
        with replacing(path) as beside:
            beside.write_text(text, encoding="utf-8")


def write_tables(tables: Sequence[TextTable], out: Path, facts: Mapping[str, Any]) -> None:
    """Write tables to a file by its suffix, and say so if the file has room for one of them only."""
    from rankwise._table_files import save_tables

    save_tables(tables, out, facts=facts)
    n_tables = sum(bool(table.rows) and any(table.columns) for table in tables)
    if out.suffix.lower() == ".csv" and n_tables > 1:
        say(f"{out} holds the first of {n_tables} tables; .xlsx, .md and .json hold all")
