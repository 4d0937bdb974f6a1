"""``rankwise screen``: which expressions of the columns order a target."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rankwise.cli.options import Input, Jobs, Json

if TYPE_CHECKING:
    from rankwise.cli.console import TextTable
    from rankwise.screening import SymbolicFeatures

_NO_LAYERS = "none"


class Pool(StrEnum):
    """What a layer works on: the last layer, or all so far."""

    STRICT = "strict"
    CUMULATIVE = "cumulative"


def screen(
    file: Input,
    y: Annotated[str, typer.Option("--y", metavar="COLUMN", help="The target.")],
    x: Annotated[
        str | None, typer.Option("--x", metavar="COLUMNS", help="Inputs, as a,b,c; default: all other numbers.")
    ] = None,
    architecture: Annotated[
        str,
        typer.Option(help="A letter per layer: u for unary operators, b for binary ones; 'none': columns as they are."),
    ] = "bu",
    unary: Annotated[str, typer.Option(help="Of id,square,cube,sqrt,cbrt,inverse,exp,log,sin,cos,abs.")] = "id,cube",
    binary: Annotated[str, typer.Option(help="Of +,-,*,/,|-|.")] = "+,*",
    pool: Annotated[Pool, typer.Option(help="Whether a layer works on the last one alone.")] = Pool.STRICT,
    top: Annotated[int, typer.Option(min=1, metavar="K", help="How many expressions to show.")] = 20,
    two_sided: Annotated[
        bool, typer.Option("--two-sided/--one-sided", help="Whether the reverse order counts as a relation.")
    ] = True,
    copies: Annotated[
        bool, typer.Option("--copies", help="Show expressions that order the rows alike, and not the simplest alone.")
    ] = False,
    terms: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Fit a linear model of so many expressions.")
    ] = None,
    drop_missing: Annotated[bool, typer.Option("--drop-missing", help="Leave out rows with missing values.")] = False,
    time_limit: Annotated[float | None, typer.Option(metavar="SECONDS", help="Show the best found until then.")] = None,
    out: Annotated[Path | None, typer.Option("--out", "-o", metavar="FILE", help="Where to write a CSV table.")] = None,
    jobs: Jobs = 1,
    as_json: Json = False,
) -> None:
    """Screen expressions of the columns of a table by how well they order a target: concordant divergence T0."""
    from rankwise.cli import console
    from rankwise.cli.files import check_writable, write_text
    from rankwise.cli.screening import csv_of, read_columns, screened
    from rankwise.screening import ConcordanceSelector, SymbolicFeatures

    check_writable(out, file)
    layers = None
    if architecture != _NO_LAYERS:
        layers = SymbolicFeatures(architecture, unary=_parts(unary), binary=_parts(binary), pool=pool.value)
        _check_layers(layers)
    table = read_columns(file, y, None if x is None else _parts(x), drop_missing=drop_missing)
    selector = ConcordanceSelector(
        top,
        two_sided=two_sided,
        dedupe=not copies,
        features=layers,
        n_terms=terms,
        time_limit=time_limit,
        n_jobs=jobs,
    )
    with console.progress() as on_step:
        on_step("screening", 0.1)
        selector.fit(table.X, table.y)
    result = screened(selector, table)
    if out is not None:
        write_text(out, csv_of(result["expressions"]))
    if as_json:
        console.print_json({**result, "out": None if out is None else str(out)})
    else:
        console.print_tables([_table(result, two_sided)])
        if result["model"] is not None:
            console.print_lines(["{formula}  (root mean squared error {rmse:.4g})".format(**result["model"])])
        if out is not None:
            console.print_lines([f"Table: {out}"])


def _parts(text: str) -> list[str]:
    return [part.strip() for part in text.split(",")]


def _check_layers(layers: SymbolicFeatures) -> None:
    try:
        layers.count(1)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None


def _table(result: dict[str, Any], two_sided: bool) -> TextTable:
    from rankwise.cli.console import TextTable, counted

    title = (
        f"{result['y']}: {len(result['expressions'])} of {counted(result['n_expressions'], 'expression')} of "
        f"{counted(len(result['inputs']), 'column')}, on {counted(result['n_rows'], 'row')}"
    )
    either, reverse = (" or its reverse", "") if two_sided else ("", f", {2 * result['unrelated']:.4g} the reverse")
    note = f"T0: 0 is the order of {result['y']}{either}, {result['unrelated']:.4g} no relation{reverse}"
    rows = [
        [
            row["expression"],
            row["order"],
            f"{row['T0']:.4g}",
            f"{row['relative']:.1%}",
            f"{row['z']:+.1f}",
            f"{row['pvalue']:.2g}",
            f"{row['adjusted']:.2g}",
        ]
        for row in result["expressions"]
    ]
    columns = ["expression", "order", "T0", "of no relation", "z", "p", "p, corrected"]
    return TextTable(title, "; ".join([note, *result["notes"]]), columns, rows)
