"""``rankwise screen``: which expressions of the columns order a target."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rankwise.cli.options import Input, Jobs, Json

if TYPE_CHECKING:
    from rankwise._typing import FloatArray
    from rankwise.cli.console import TextTable
    from rankwise.data.formats.table import Table
    from rankwise.exceptions import RankwiseFormatError
    from rankwise.screening import ConcordanceSelector

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
    from rankwise.screening import ConcordanceSelector, SymbolicFeatures

    check_writable(out, file)
    names, X, target, notes = _columns(file, y, x, drop_missing)
    layers = None
    if architecture != _NO_LAYERS:
        layers = SymbolicFeatures(architecture, unary=_parts(unary), binary=_parts(binary), pool=pool.value)
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
        selector.fit(X, target)
    result = _result(selector, names, y, target, notes)
    if out is not None:
        write_text(out, _csv(result["expressions"]))
    if as_json:
        console.print_json({**result, "out": None if out is None else str(out)})
    else:
        console.print_tables([_table(result, two_sided)])
        if result["model"] is not None:
            console.print_lines(["{formula}  (root mean squared error {rmse:.4g})".format(**result["model"])])
        if out is not None:
            console.print_lines([f"Table: {out}"])


# ---------------------------------------------------------------------------------------------------------------


def _parts(text: str) -> list[str]:
    return [part.strip() for part in text.split(",")]


def _columns(
    file: str, y: str, x: str | None, drop_missing: bool
) -> tuple[list[str], FloatArray, FloatArray, list[str]]:
    """Names and values of the inputs, the target, and what the user should know of them."""
    import numpy as np

    from rankwise.cli.files import readable
    from rankwise.data.formats.table import covariates, listed, read_table

    with readable(file) as path:
        table = read_table(path)
        columns = covariates(table, leave_out=())
        wanted = _parts(x) if x is not None else [name for name in table.header if name != y]
        for name in (y, *wanted):
            table.index(name)  # an error that lists the columns, where there is none of this name
        texts = [name for name in wanted if columns[name].dtype.kind != "f"]
        asked_for = [y, *wanted] if x is not None else [y]
        for name in asked_for:
            if columns[name].dtype.kind != "f":
                raise _no_numbers(table, name)
        if y in wanted:
            raise table.error("the target is among the inputs too", column=y, cure="Leave it out of --x.")
        names = [name for name in wanted if name not in texts]
        if not names:
            raise table.error("no column but the target holds numbers", cure="Screening needs one or more.")
        values = np.column_stack([columns[name] for name in (y, *names)])
        missing = np.isnan(values)
        if missing.any() and not drop_missing:
            row, place = (int(index) for index in np.argwhere(missing)[0])
            n_rows = int(missing.any(axis=1).sum())
            raise table.error(
                f"the cell is empty, one of {int(missing.sum()):,} in {n_rows:,} of {len(values):,} rows",
                row=row,
                column=(y, *names)[place],
                cure="Leave such rows out with --drop-missing, or name the columns to use with --x.",
            )
    complete = values[~missing.any(axis=1)]
    notes = [f"columns of text, left out: {listed(texts)}"] if texts else []
    if len(complete) < len(values):
        notes.append(f"{len(values) - len(complete):,} rows with missing values, left out")
    return names, np.ascontiguousarray(complete[:, 1:]), complete[:, 0], notes


def _no_numbers(table: Table, name: str) -> RankwiseFormatError:
    from rankwise.data.formats.fields import shown
    from rankwise.data.formats.table import MISSING, number

    cells = table.column(name)
    # A column of numbers is text all the same where one has leading zeros, as codes have.
    row = next((i for i, cell in enumerate(cells) if cell not in MISSING and number(cell) is None), 0)
    return table.error(
        f"the column {shown(name)} holds text, such as {shown(cells[row])}",
        row=row,
        column=name,
        cure="Screening takes numbers: choose another column, or mend the cells.",
    )


def _result(
    selector: ConcordanceSelector, names: list[str], y: str, target: FloatArray, notes: list[str]
) -> dict[str, Any]:
    import numpy as np

    from rankwise.screening import concordant_divergence

    table = selector.table_
    model = selector.models_[-1] if selector.models_ else None
    rows = np.arange(len(table["feature"])) if model is None else model.columns
    if selector.features is None:
        labels = [names[int(name.removeprefix("x"))] for name in table["feature"][rows]]
    else:
        labels = selector.get_feature_names_out(names).tolist()
    # A constant orders nothing: its divergence is that of no relation.
    unrelated = float(concordant_divergence(np.zeros(len(target)), target))
    expressions = [
        {
            "expression": label,
            "T0": float(table["divergence"][row]),
            "relative": float(table["divergence"][row]) / unrelated,
            "z": float(table["z"][row]),
            "pvalue": float(table["pvalue"][row]),
            "adjusted": float(table["adjusted"][row]),
            "complexity": int(table["complexity"][row]),
        }
        for label, row in zip(labels, rows, strict=True)
    ]
    result: dict[str, Any] = {
        "y": y,
        "inputs": names,
        "n_rows": len(target),
        "n_expressions": selector.n_candidates_,
        "n_usable": selector.n_usable_,
        "complete": selector.complete_,
        "unrelated": unrelated,
        "expressions": expressions,
        "model": None,
        "notes": notes,
    }
    if model is not None:
        terms = np.full(len(table["feature"]), "", dtype=object)
        terms[rows] = labels
        result["model"] = {"formula": f"{y} = {model.formula(terms)}", "rmse": float(model.rmse)}
    return result


def _table(result: dict[str, Any], two_sided: bool) -> TextTable:
    from rankwise.cli.console import TextTable

    title = (
        f"{result['y']}: {len(result['expressions'])} of {result['n_expressions']:,} expressions of "
        f"{len(result['inputs'])} columns, on {result['n_rows']:,} rows"
    )
    reverse = "" if two_sided else f", {2 * result['unrelated']:.4g} the reverse"
    note = f"T0: 0 is the order of {result['y']}, {result['unrelated']:.4g} no relation{reverse}"
    rows = [
        [
            row["expression"],
            f"{row['T0']:.4g}",
            f"{row['relative']:.1%}",
            f"{row['z']:+.1f}",
            f"{row['pvalue']:.2g}",
            f"{row['adjusted']:.2g}",
        ]
        for row in result["expressions"]
    ]
    columns = ["expression", "T0", "of no relation", "z", "p", "p, corrected"]
    return TextTable(title, "; ".join([note, *result["notes"]]), columns, rows)


def _csv(expressions: list[dict[str, Any]]) -> str:
    import csv
    import io

    file = io.StringIO()
    writer = csv.DictWriter(file, list(expressions[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(expressions)
    return file.getvalue()
