"""``rankwise report``: from a file of rankings to a page that can be passed on."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from rankwise.cli.options import Data, Jobs, Json, Read, Seed, Target, settings


def report(
    file: Data,
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FILE", help="Where to write the report.")] = Path(
        "rankwise-report.html"
    ),
    target: Target = None,
    read: Read = None,
    seed: Seed = 0,
    jobs: Jobs = 1,
    as_json: Json = False,
) -> None:
    """Write a report: the data, the consensus and how sure it is, who disagrees, which model predicts best."""
    from rankwise.cli import console
    from rankwise.cli.analysis import analyse
    from rankwise.cli.files import check_writable
    from rankwise.cli.report import summary, write_report

    check_writable(out, file)
    given = [("--target", target), *(("--read", pair) for pair in read or ())]
    options = [word for name, value in given if value is not None for word in (name, value)]
    with console.progress() as on_step:
        result = analyse(file, target=target, reading=settings(read, "--read"), seed=seed, jobs=jobs, on_step=on_step)
        on_step("drawing", 0.95)
        command = shlex.join(["rankwise", "report", file, *options, "--seed", str(seed), "--out", str(out)])
        write_report(result, out, command=command)
    if as_json:
        console.print_json({**result.as_dict(), "report": str(out)})
    else:
        console.print_lines([*summary(result), f"Report: {out}"])
