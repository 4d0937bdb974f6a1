"""``rankwise screen`` and ``rankwise formula``: which expressions order a target, and what law it obeys."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from rankwise._replacing import replacing
from rankwise.cli.options import Input, Jobs, Json, TableOut

if TYPE_CHECKING:
    from rankwise._typing import FloatArray
    from rankwise.data.formats.tables import Table
    from rankwise.exceptions import RankwiseFormatError
    from rankwise.screening.formulas import FormulaSummary
    from rankwise.screening.screens import ScreeningResult


_NO_LAYERS = "none"
# What a first column without a name is called while a table is read.
_NAMELESS = "rows without a name"


class Pool(StrEnum):
    """What a layer works on: the previous layer, or all so far."""

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
        typer.Option(
            metavar="LETTERS",
            help="A letter per layer: u for unary operators, b for binary ones; 'none': columns as they are.",
        ),
    ] = "bu",
    unary: Annotated[
        str,
        typer.Option(
            metavar="NAMES", help="Of id, square, cube, sqrt, cbrt, inverse, exp, log, sin, cos, abs; as a,b,c."
        ),
    ] = "id,cube",
    binary: Annotated[str, typer.Option(metavar="SIGNS", help="Of +, -, *, / and |-|.")] = "+,*",
    pool: Annotated[
        Pool, typer.Option(help="Whether a layer works on the previous layer only, or on all so far.")
    ] = Pool.STRICT,
    top: Annotated[int, typer.Option(min=1, metavar="K", help="How many expressions to show.")] = 20,
    two_sided: Annotated[
        bool, typer.Option("--two-sided/--one-sided", help="Whether the reverse order counts as a relation.")
    ] = True,
    copies: Annotated[
        bool,
        typer.Option("--copies", help="Show all expressions that give the rows the same order, not only the simplest."),
    ] = False,
    terms: Annotated[
        int | None, typer.Option(min=1, max=6, metavar="N", help="Fit formulas of up to this many terms.")
    ] = None,
    drop_missing: Annotated[bool, typer.Option("--drop-missing", help="Drop rows with missing values.")] = False,
    time_limit: Annotated[
        float | None, typer.Option(metavar="SECONDS", help="Stop then, and show the best so far.")
    ] = None,
    out: TableOut = None,
    jobs: Jobs = 1,
    as_json: Json = False,
) -> None:
    """Find expressions of the columns of a table that put its rows in the order of a target column."""
    from rankwise.cli import console
    from rankwise.cli.compiling import compiling_noted
    from rankwise.cli.in_and_out import check_writable
    from rankwise.screening import SymbolicFeatures, screen_expressions

    check_writable(out, file)
    layers = None
    if architecture != _NO_LAYERS:
        layers = SymbolicFeatures(architecture, unary=_parts(unary), binary=_parts(binary), pool=pool.value)
        try:
            layers.count(1)
        except ValueError as error:
            raise typer.BadParameter(str(error)) from None
    table = _read_columns(file, y, None if x is None else _parts(x), drop_missing=drop_missing)
    with console.progress() as on_step, compiling_noted():
        on_step("screening", 0.1)
        result = screen_expressions(
            table.X,
            table.y,
            layers,
            k=top,
            n_terms=terms,
            two_sided=two_sided,
            dedupe=not copies,
            input_names=table.inputs,
            target_name=table.target,
            notes=table.notes,
            time_limit=time_limit,
            n_jobs=jobs,
        )
    facts = result.as_dict()
    _write(out, result, facts)
    if as_json:
        console.print_json({**facts, "out": None if out is None else str(out)})
    else:
        console.print_tables(result.tables())
        if out is not None:
            console.print_lines([f"Table: {out}"])


def formula(
    file: Input,
    y: Annotated[str, typer.Option("--y", metavar="COLUMN", help="The target.")],
    x: Annotated[
        str | None, typer.Option("--x", metavar="COLUMNS", help="Inputs, as a,b,c; default: all other numbers.")
    ] = None,
    terms: Annotated[int, typer.Option(min=1, max=6, metavar="N", help="Most terms of a sum.")] = 3,
    budget: Annotated[
        int,
        typer.Option(
            min=1,
            metavar="N",
            help="Expressions after which no further depth begins; the first depth is always searched.",
        ),
    ] = 200_000,
    drop_missing: Annotated[bool, typer.Option("--drop-missing", help="Drop rows with missing values.")] = False,
    time_limit: Annotated[
        float | None, typer.Option(metavar="SECONDS", help="Stop then, with the best formula so far.")
    ] = None,
    seed: Annotated[
        int, typer.Option(min=0, metavar="N", help="Seed of the sample of rows, if there are more than 500.")
    ] = 0,
    out: TableOut = None,
    jobs: Jobs = 1,
    as_json: Json = False,
) -> None:
    """Find a formula for a column of a table: simple formulas first, and the one that the data support."""
    from rankwise.cli import console
    from rankwise.cli.compiling import compiling_noted
    from rankwise.cli.in_and_out import check_writable
    from rankwise.screening import SymbolicRegressor

    check_writable(out, file)
    table = _read_columns(file, y, None if x is None else _parts(x), drop_missing=drop_missing)
    regressor = SymbolicRegressor(terms, max_expressions=budget, time_limit=time_limit, random_state=seed, n_jobs=jobs)
    with console.progress() as on_step, compiling_noted():
        on_step("searching", 0.1)
        regressor.fit(table.X, table.y)
    result = regressor.summary(table.target, table.inputs, table.notes)
    facts = {**result.as_dict(), "python": result.formulas[result.chosen].to_python()}
    _write(out, result, facts)
    if as_json:
        console.print_json({**facts, "out": None if out is None else str(out)})
    else:
        console.print_tables(result.tables())
        if out is not None:
            console.print_lines([f"Table: {out}"])


def _parts(text: str) -> list[str]:
    return [part.strip() for part in text.split(",")]


class _Columns(NamedTuple):
    """Inputs and target, complete numbers, with their names and what the user should know about them."""

    X: FloatArray
    y: FloatArray
    inputs: list[str]
    target: str
    notes: list[str]


def _read_columns(name: str, target: str, inputs: Sequence[str] | None, *, drop_missing: bool) -> _Columns:
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
        Whether rows with missing values are dropped, or an error.

    Returns
    -------
    _Columns
    """
    import numpy as np

    from rankwise._tables import counted
    from rankwise.cli.in_and_out import readable
    from rankwise.data.formats.tables import covariates

    with readable(name) as path:
        table, nameless = _read_table(path)
        columns = covariates(table, leave_out=())
        others = [column for column in table.header if column not in (target, nameless)]
        wanted = others if inputs is None else list(inputs)
        for column in (target, *wanted):
            table.index(column)  # an error that lists the columns, where there is none of this name
        for column in (target, *(inputs or ())):
            if columns[column].dtype.kind != "f":
                raise _no_numbers(table, column)
        if target in wanted:
            raise table.error("the target is among the inputs too", column=target, cure="Drop it from --x.")
        # Whoever names columns in --x wants them, whatever they hold.
        used, notes = _that_say_something(columns, wanted) if inputs is None else (wanted, [])
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
                cure="Drop such rows with --drop-missing, or name the columns to use with --x.",
            )
    if nameless is not None:
        notes.append("the first column, which has no name and numbers the rows, dropped")
    complete = values[~missing.any(axis=1)]
    if len(complete) < len(values):
        notes.append(f"{counted(len(values) - len(complete), 'row')} with missing values, dropped")
    return _Columns(np.ascontiguousarray(complete[:, 1:]), complete[:, 0], used, target, notes)


def _read_table(path: str) -> tuple[Table, str | None]:
    """The table, and the name given to a first column that has none and numbers the rows, as pandas writes it."""
    from zipfile import is_zipfile

    from rankwise.data.formats.delimited import parse_table, read_table
    from rankwise.data.formats.text import read_text
    from rankwise.exceptions import RankwiseFormatError

    try:
        return read_table(path), None
    except RankwiseFormatError as error:
        if error.column != 1 or is_zipfile(path):  # a workbook
            raise
        header = read_text(path).lstrip("\n").removeprefix('""')
        if header[:1] not in (",", ";", "\t", "|"):
            raise
        table = parse_table(_NAMELESS + header, path)
        cells = table.values(_NAMELESS)
        if cells is None or not _numbers_rows(cells):
            raise
        return table, _NAMELESS


def _that_say_something(columns: Mapping[str, Any], wanted: Sequence[str]) -> tuple[list[str], list[str]]:
    """Columns of numbers without those that only number the rows or hold a single value, and notes on those dropped."""
    import numpy as np

    from rankwise.data.formats.text import listed

    texts = [column for column in wanted if columns[column].dtype.kind != "f"]
    numbers = {column: columns[column] for column in wanted if column not in texts}
    numbered = [column for column, cells in numbers.items() if _numbers_rows(cells)]
    constant = [column for column, cells in numbers.items() if len(np.unique(cells[~np.isnan(cells)])) < 2]
    used = [column for column in numbers if column not in (*numbered, *constant)]
    if not used:  # better than nothing: perhaps it is a time
        used, numbered = numbered, []
    if not used:
        used, constant = constant, []
    notes = [f"columns of text, dropped: {listed(texts)}"] if texts else []
    if numbered:
        notes.append(f"columns that only number the rows, dropped: {listed(numbered)} (to use them, name them in --x)")
    if constant:
        notes.append(f"columns of a single value, dropped: {listed(constant)}")
    return used, notes


def _numbers_rows(column: FloatArray) -> bool:
    """Whether a column counts the rows from 0 or 1, up or down; up to half of its cells may be empty."""
    import numpy as np

    known = ~np.isnan(column)
    if known.sum() < max(3, len(column) / 2):
        return False
    counts = [np.arange(len(column))[::step] + start for start in (0, 1) for step in (1, -1)]
    return any(np.array_equal(column[known], count[known]) for count in counts)


def _write(out: Path | None, result: ScreeningResult | FormulaSummary, facts: Mapping[str, Any]) -> None:
    """Write the result by the suffix of the file; CSV has the numbers of the first table with all their digits."""
    from rankwise._table_files import harmless, save_tables

    if out is None:
        return
    if out.suffix.lower() != ".csv":
        save_tables(result.tables(), out, facts=facts)
        return
    rows = result.rows()
    with replacing(out) as beside, beside.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(
            {key: harmless(cell) if isinstance(cell, str) else cell for key, cell in row.items()} for row in rows
        )


def _no_numbers(table: Table, column: str) -> RankwiseFormatError:
    from rankwise.data.formats.tables import MISSING
    from rankwise.data.formats.text import number, shown

    cells = table.column(column)
    # A column of numbers counts as text if one has leading zeros, as codes have.
    row = next((i for i, cell in enumerate(cells) if cell not in MISSING and number(cell) is None), 0)
    return table.error(
        f"the column {shown(column)} holds text, such as {shown(cells[row])}",
        row=row,
        column=column,
        cure="Screening takes numbers: choose another column, or correct the cells.",
    )
