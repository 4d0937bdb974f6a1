"""What the commands print: results on stdout, progress on stderr."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import typer
from rich.cells import cell_len
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from rankwise._progress import silent

#: called with what happens next and the share of the work that is done
OnStep = Callable[[str, float], None]

# A name of more letters than this is cut where people read it; JSON and written tables have it whole.
_LONGEST_NAME = 60
_GAP = "  "


class TextTable(NamedTuple):
    """A titled table whose cells are ready to be shown (and not yet escaped)."""

    title: str
    note: str
    columns: list[str]
    rows: list[list[str]]


@contextmanager
def progress() -> Iterator[OnStep]:
    """Yield a function to call with what happens next and the share done; silent unless stderr is a terminal."""
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), TimeElapsedColumn())
    with silent(), Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("", total=1.0)
        # Every step is shown, however short.
        yield lambda step, share: bar.update(task, description=step, completed=share, refresh=True)


def print_json(value: dict[str, Any]) -> None:
    """Print one JSON object: no NaN, which JSON does not have, and ASCII alone, which every terminal has."""
    _print_plain([json.dumps(value, indent=2, allow_nan=False)])


def print_tables(tables: Iterable[TextTable]) -> None:
    """Print tables, each below its title and followed by an empty line.

    On a terminal they are as wide as that; elsewhere every row is a line, without blanks at its end.
    """
    console = Console(highlight=False)
    for table in tables:
        if console.is_terminal:
            _print_head(console, table.title, table.note)
            if table.rows:
                console.print(_rich_table(table))
            console.print()
        else:
            _print_plain([*filter(None, (table.title, table.note)), *_plain_rows(table), ""])


def print_lines(lines: Iterable[str], *, title: str = "", note: str = "") -> None:
    """Print lines as they are, however long; below a title, an empty line follows."""
    console = Console(highlight=False)
    if console.is_terminal:
        _print_head(console, title, note)
    else:
        _print_plain(filter(None, (title, note)))
    _print_plain([*lines, *([""] if title else [])])


def print_notes(notes: Iterable[str]) -> None:
    """Print what a reader of the results should know beside them, on stderr."""
    for note in notes:
        typer.echo(f"rankwise: {note}", err=True)


def counted(n: int, noun: str, plural: str | None = None) -> str:
    """A number and what it counts, such as 1 row, or 1,000 rows."""
    return f"{n:,} {noun if n == 1 else plural or f'{noun}s'}"


def short_name(name: object) -> str:
    """A name for people to read: one line, and cut if it is very long."""
    text = " ".join(str(name).split())
    return text if len(text) <= _LONGEST_NAME else f"{text[: _LONGEST_NAME - 3]}..."


def with_short_names(text: str, names: Iterable[object]) -> str:
    """A text for people to read, in which the very long ones of these names are cut."""
    for name in sorted(map(str, names), key=len, reverse=True):  # a name may hold another
        if len(name) > _LONGEST_NAME:
            text = text.replace(name, short_name(name))
    return text


def _print_plain(lines: Iterable[str]) -> None:
    for line in lines:
        print(line)
    sys.stdout.flush()  # a closed pipe shows here, where it is handled, and not while the interpreter ends


def _print_head(console: Console, title: str, note: str) -> None:
    if title:
        console.print(f"[bold]{escape(title)}[/bold]")
    if note:
        console.print(f"[dim]{escape(note)}[/dim]")


def _plain_rows(table: TextTable) -> Iterator[str]:
    rows = [*([table.columns] if any(table.columns) else []), *table.rows] if table.rows else []
    lines = [[" ".join(cell.splitlines()) for cell in row] for row in rows]
    widths = [max(map(cell_len, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        cells = [cell + " " * (width - cell_len(cell)) for cell, width in zip(line, widths, strict=True)]
        yield _GAP.join(cells).rstrip()


def _rich_table(table: TextTable) -> Table:
    result = Table(box=None, show_header=any(table.columns), padding=(0, len(_GAP), 0, 0), header_style="dim")
    for name in table.columns:
        result.add_column(name)
    for row in table.rows:
        result.add_row(*(escape(cell) for cell in row))
    return result
