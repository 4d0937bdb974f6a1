"""``rankwise quickstart``: look at rankings in one go."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from rankwise.cli.options import Jobs, Json, Seed


def quickstart(
    data: Annotated[str, typer.Option(help="Name of a data set, or a file of rankings.")] = "iris",
    seed: Seed = 0,
    out: Annotated[Path, typer.Option("--out", "-o", help="Where to write the report.")] = Path(
        "rankwise-quickstart.html"
    ),
    jobs: Jobs = 1,
    as_json: Json = False,
) -> None:
    """Look at rankings: description, consensus, leaderboard, tree, and a report with pictures."""
    from rankwise.cli import console
    from rankwise.cli.analysis import analyse
    from rankwise.cli.files import check_writable
    from rankwise.cli.report import write_report
    from rankwise.cli.tables import tables_of, tree_lines, tree_note

    check_writable(out, data)
    with console.progress() as on_step:
        result = analyse(data, seed=seed, jobs=jobs, on_step=on_step)
        on_step("drawing", 0.95)
        write_report(result, out, command=f"rankwise quickstart --data {shlex.quote(data)} --seed {seed}")
    if as_json:
        console.print_json({**result.as_dict(), "report": str(out)})
        return
    console.print_tables(tables_of(result))
    if result.tree:
        console.print_lines(tree_lines(result), title="Tree", note=tree_note(result))
    console.print_lines([f"Report with pictures: {out}"])
