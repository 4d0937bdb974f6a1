"""What the commands print: results on stdout, progress on stderr."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from rankwise.cli.quickstart import Quickstart
from rankwise.cli.tables import TextTable, tables_of, tree_lines, tree_note


@contextmanager
def progress() -> Iterator[Callable[[str, float], None]]:
    """Yield a function to call with what happens next and the share done; silent unless stderr is a terminal."""
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("", total=1.0)
        yield lambda step, share: bar.update(task, description=step, completed=share)


def print_json(value: dict[str, Any]) -> None:
    """Print one JSON object: no NaN, which JSON does not have, and ASCII alone, which every terminal has."""
    print(json.dumps(value, indent=2, allow_nan=False))
    sys.stdout.flush()  # a closed pipe shows here, where it is handled, and not while the interpreter ends


def print_quickstart(result: Quickstart, report: Path) -> None:
    """Print the results as tables."""
    console = Console(highlight=False)
    for table in tables_of(result):
        console.print(f"[bold]{escape(table.title)}[/bold]")
        if table.note:
            console.print(f"[dim]{escape(table.note)}[/dim]")
        if table.rows:
            console.print(_rich_table(table))
        console.print()
    if result.tree:
        console.print("[bold]Tree[/bold]")
        console.print(f"[dim]{escape(tree_note(result))}[/dim]")
        for line in tree_lines(result):
            console.print(escape(line), soft_wrap=True)
        console.print()
    console.print(f"Report with pictures: {escape(str(report))}", soft_wrap=True)


# ---------------------------------------------------------------------------------------------------------------


def _rich_table(table: TextTable) -> Table:
    result = Table(box=None, show_header=any(table.columns), padding=(0, 2, 0, 0), header_style="dim")
    for name in table.columns:
        result.add_column(name)
    for row in table.rows:
        result.add_row(*(escape(cell) for cell in row))
    return result
