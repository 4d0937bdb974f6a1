"""Files that commands read and write, with standard input and output among them."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import typer

from rankwise.exceptions import RankwiseFormatError

#: the name under which a command reads standard input; none writes to one of that name
STDIN = STDOUT = "-"


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


def check_writable(path: Path | None, *inputs: str | Path) -> None:
    """Raise an error now rather than after the work is done, if the output could not or must not be written.

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


def write_text(path: Path | None, text: str) -> None:
    """Write text that ends in a line feed: to the file, or to standard output if there is none."""
    if path is None:
        typer.echo(text, nl=False)
        sys.stdout.flush()  # a closed pipe shows here, where it is handled, and not while the interpreter ends
    else:
        path.write_text(text, encoding="utf-8")
