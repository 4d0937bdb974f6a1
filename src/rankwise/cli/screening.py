"""A table to be screened, with clear words where it cannot be, and what the screening found under its names."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankwise._typing import FloatArray
from rankwise.cli.console import counted
from rankwise.cli.files import readable
from rankwise.data.formats.text import MISSING, Table, covariates, listed, number, read_table, shown
from rankwise.exceptions import RankwiseFormatError
from rankwise.screening import ConcordanceSelector, concordant_divergence


@dataclass(frozen=True)
class Columns:
    """Inputs and target, complete numbers, with their names and what the user should know of them."""

    X: FloatArray
    y: FloatArray
    inputs: list[str]
    target: str
    notes: list[str]


def read_columns(name: str, target: str, inputs: Sequence[str] | None, *, drop_missing: bool) -> Columns:
    """Read the columns of a table.

    Parameters
    ----------
    name : str
        The file; ``-`` is standard input.
    target : str
        The column to be ordered.
    inputs : sequence of str, optional
        The columns to make expressions of; by default all others that hold numbers.
    drop_missing : bool
        Whether rows with missing values are left out, or an error.

    Returns
    -------
    Columns
    """
    with readable(name) as path:
        table = read_table(path)
        columns = covariates(table, leave_out=())
        wanted = list(inputs) if inputs is not None else [column for column in table.header if column != target]
        for column in (target, *wanted):
            table.index(column)  # an error that lists the columns, where there is none of this name
        texts = [column for column in wanted if columns[column].dtype.kind != "f"]
        for column in (target, *(texts if inputs is not None else ())):
            if columns[column].dtype.kind != "f":
                raise _no_numbers(table, column)
        if target in wanted:
            raise table.error("the target is among the inputs too", column=target, cure="Leave it out of --x.")
        used = [column for column in wanted if column not in texts]
        if not used:
            raise table.error("no column but the target holds numbers", cure="Screening needs one or more.")
        values = np.column_stack([columns[column] for column in (target, *used)])
        missing = np.isnan(values)
        if missing.any() and not drop_missing:
            row, place = (int(index) for index in np.argwhere(missing)[0])
            n_rows = int(missing.any(axis=1).sum())
            raise table.error(
                f"the cell is empty (rows with empty cells: {n_rows:,} of {len(values):,})",
                row=row,
                column=(target, *used)[place],
                cure="Leave such rows out with --drop-missing, or name the columns to use with --x.",
            )
    complete = values[~missing.any(axis=1)]
    notes = [f"columns of text, left out: {listed(texts)}"] if texts else []
    if len(complete) < len(values):
        notes.append(f"{counted(len(values) - len(complete), 'row')} with missing values, left out")
    return Columns(np.ascontiguousarray(complete[:, 1:]), complete[:, 0], used, target, notes)


def screened(selector: ConcordanceSelector, columns: Columns) -> dict[str, Any]:
    """What a fitted selector found, for JSON: its features best first; with a model, the terms of it."""
    table = selector.table_
    model = selector.models_[-1] if selector.models_ else None
    rows = np.arange(len(table["feature"])) if model is None else model.columns
    if selector.features is None:
        names = [columns.inputs[int(name.removeprefix("x"))] for name in table["feature"][rows]]
    else:
        names = selector.get_feature_names_out(columns.inputs).tolist()
    # A constant orders nothing: its divergence is that of no relation.
    unrelated = float(concordant_divergence(np.zeros(len(columns.y)), columns.y))
    expressions = [
        {
            "expression": name,
            "order": "reverse" if table["z"][row] < 0 else "same",
            "T0": float(table["divergence"][row]),
            "relative": float(table["divergence"][row]) / unrelated,
            "z": float(table["z"][row]),
            "pvalue": float(table["pvalue"][row]),
            "adjusted": float(table["adjusted"][row]),
            "complexity": int(table["complexity"][row]),
        }
        for name, row in zip(names, rows, strict=True)
    ]
    formula = None
    if model is not None:
        terms = np.full(len(table["feature"]), "", dtype=object)
        terms[rows] = names
        formula = {"formula": f"{columns.target} = {model.formula(terms)}", "rmse": float(model.rmse)}
    return {
        "y": columns.target,
        "inputs": columns.inputs,
        "n_rows": len(columns.y),
        "n_expressions": selector.n_candidates_,
        "n_usable": selector.n_usable_,
        "complete": selector.complete_,
        "unrelated": unrelated,
        "expressions": expressions,
        "model": formula,
        "notes": columns.notes,
    }


def csv_of(expressions: Sequence[dict[str, Any]]) -> str:
    """Expressions as the text of a table."""
    file = io.StringIO()
    writer = csv.DictWriter(file, list(expressions[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(expressions)
    return file.getvalue()


def _no_numbers(table: Table, column: str) -> RankwiseFormatError:
    cells = table.column(column)
    # A column of numbers is text all the same where one has leading zeros, as codes have.
    row = next((i for i, cell in enumerate(cells) if cell not in MISSING and number(cell) is None), 0)
    return table.error(
        f"the column {shown(column)} holds text, such as {shown(cells[row])}",
        row=row,
        column=column,
        cure="Screening takes numbers: choose another column, or mend the cells.",
    )
