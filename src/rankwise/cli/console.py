"""What the commands print: results on stdout, progress on stderr."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from rankwise._progress import silent
from rankwise._tables import TextTable, counted, visible
from rankwise.cli.in_and_out import say

__all__ = ["OnStep", "TextTable", "counted", "print_json", "print_lines", "print_notes", "print_tables", "progress"]

# Tables whose first column is called so rank what they list; a star marks the winners, in color on a terminal.
_PLACES = ("position", "place")
_WINNER = "*"
#: called with what happens next and the share of the work that is done
OnStep = Callable[[str, float], None]


@contextmanager
def progress() -> Iterator[OnStep]:
    """Yield a function to call with what happens next and the share done; silent unless stderr is a terminal."""
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), TimeElapsedColumn())
    with silent(), Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("", total=1.0)
        # Every step is shown, however short.
        yield lambda step, share: bar.update(task, description=visible(step), completed=share, refresh=True)


def print_json(value: dict[str, Any]) -> None:
    """Print one JSON object: no NaN, which JSON does not have, and only ASCII, which every terminal can show."""
    _print_plain([json.dumps(value, indent=2, allow_nan=False)])


def print_tables(tables: Iterable[TextTable]) -> None:
    """Print tables, each below its title and followed by an empty line.

    On a terminal they fit its width; elsewhere every row is one line, without trailing blanks.
    """
    console = Console(highlight=False)
    for table in map(_with_winners, tables):
        if console.is_terminal:
            _print_head(console, table.title, table.note)
            if table.rows:
                console.print(_rich_table(table))
            console.print()
        else:
            _print_plain([*table.lines(), ""])


def print_lines(lines: Iterable[str], *, title: str = "", note: str = "") -> None:
    """Print lines as they are, however long; below a title, an empty line follows."""
    console = Console(highlight=False)
    if console.is_terminal:
        _print_head(console, title, note)
    else:
        _print_plain(filter(None, (title, note)))
    _print_plain([*lines, *([""] if title else [])])


def print_notes(notes: Iterable[str]) -> None:
    """Print what a reader of the results should know besides them, on stderr."""
    for note in notes:
        say(note)


def _print_plain(lines: Iterable[str]) -> None:
    for line in lines:
        print(visible(line))
    sys.stdout.flush()  # a closed pipe shows here, where it is handled, and not while the interpreter ends


def _print_head(console: Console, title: str, note: str) -> None:
    if title:
        console.print(f"[bold]{escape(visible(title))}[/bold]")
    if note:
        console.print(f"[dim]{escape(visible(note))}[/dim]")


def _with_winners(table: TextTable) -> TextTable:
    """A table that ranks what it lists, with a star before the winners."""
    if not table.columns or table.columns[0] not in _PLACES:
        return table
    rows = [[_WINNER if row[0] == "1" else "", *row] for row in table.rows]
    return table._replace(columns=["", *table.columns], rows=rows)


def _rich_table(table: TextTable) -> Table:
    result = Table(box=None, show_header=any(table.columns), padding=(0, 2, 0, 0), header_style="dim")
    for name, right in zip(table.columns, table.numeric() or [False] * len(table.columns), strict=True):
        result.add_column(escape(visible(name)), justify="right" if right else "left")
    for row in table.rows:
        result.add_row(*(escape(visible(cell)) for cell in row), style="bold green" if row[0] == _WINNER else None)
    return result
