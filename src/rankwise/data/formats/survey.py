"""Survey files with one ranking a row: a column per item, a column per place, or one cell with the whole order.

`rankwise.data.formats.survey_long` reads the files with one statement a row.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from functools import partial
from itertools import chain

import numpy as np

from rankwise._typing import FloatArray
from rankwise.data.formats import layouts
from rankwise.data.formats.buckets import Fail, OrderParser, rankings_from_rows
from rankwise.data.formats.lines import Path, shown
from rankwise.data.formats.table import (
    ENCODING,
    MISSING,
    Covariates,
    Table,
    blanked,
    blanks_given,
    covariates,
    listed,
    names_given,
    read_table,
    weights_column,
)
from rankwise.data.positions import Unlisted, blank_for
from rankwise.data.rankings import Rankings

_OTHER_SEPARATORS = (" ", ",", ";", "|", "/", "<")
# What else people write between tied items. The first hardly ever occur in names, so they are enough for a doubt.
_RARE_IN_NAMES = ("=", "~", "|", "{", "}")
_COMMON_IN_NAMES = re.compile(r"[,&/()]")
_JOINT = " - "


def read_positions_csv(
    path: Path | Table,
    *,
    items: Iterable[str] | None = None,
    prefix: str | None = None,
    weights: str | None = None,
    unlisted: Unlisted = "missing",
    missing_values: Collection[str] = MISSING,
    delimiter: str | None = None,
    encoding: str = ENCODING,
) -> tuple[Rankings, Covariates]:
    r"""Read a table with one column per item that holds its position: 1 = best, equal = tied.

    Only the order of the numbers in a row counts. ``inf`` is unlisted, whatever ``unlisted`` says of blanks.

    Parameters
    ----------
    path : str or path-like
        The file, plain or gzip: comma, semicolon, tab or bar between cells, names of columns on the first line. The
        two rows that Qualtrics adds below them are no data; they give the items their names if the texts of the
        questions differ only after their last " - ", as "Rank the drinks - Tea".
    items : sequence of str, optional
        The columns of the items.
    prefix : str, optional
        Take the columns whose names start with it, and drop it from the names. With neither ``items`` nor ``prefix``,
        the columns that start with ``rank_``, ``position_`` or ``y_`` if they hold positions, else all columns if
        every row is a ranking of them.
    weights : str, optional
        The column that says how often each ranking counts.
    unlisted : {"missing", "below"}, default="missing"
        What a blank says of an item: nothing (never compared), or that it ranks below the others (top-k).
    missing_values : collection of str, default=("", "NA", "N/A", "#N/A", "nan", "NaN", "-")
        Position cells that count as blank. An empty cell always does; give ``["0"]`` where 0 says "not ranked".
    delimiter : str, optional
        The character between cells; found out by default.
    encoding : str, default="utf-8-sig"
        The encoding of the file, such as "cp1252" for what Excel writes on Windows.

    Returns
    -------
    rankings : Rankings
    covariates : dict of str to ndarray
        The other columns: float64 with NaN where missing, or text with None where missing.

    Raises
    ------
    RankwiseFormatError
        Names the line and the column of what is wrong, and the cure.

    Examples
    --------
    >>> path = getfixture("tmp_path") / "drinks.csv"
    >>> _ = path.write_text("age,rank_tea,rank_milk\n31,1,2\n47,2,1\n")
    >>> rankings, covariates = read_positions_csv(path)
    >>> rankings.items, rankings.positions[0], covariates["age"]
    (('tea', 'milk'), array([1., 2.]), array([31., 47.]))
    """
    table = read_table(path, delimiter, encoding)
    if items is None and prefix is None:
        fits = layouts.position_fits(blanked(table, missing_values), weights)
        found = the_only(fits, table, "a column per item that holds positions")
        items, prefix = found.options.get("items"), found.options.get("prefix")
    columns = _chosen(table, items, prefix, weights, "items")
    names = _choices(table, columns) or [name[len(prefix or "") :] for name in columns]
    blank = blank_for(unlisted)
    values = np.column_stack([position_column(table, name, missing_values, blank) for name in columns])
    rankings = Rankings(values, names, weights_column(table, weights))
    return rankings, covariates(table, [*columns, weights or ""])


def read_orders_csv(
    path: Path | Table,
    *,
    columns: Iterable[str] | None = None,
    prefix: str | None = None,
    items: Iterable[str] | None = None,
    weights: str | None = None,
    unlisted: Unlisted = "below",
    missing_values: Collection[str] = MISSING,
    delimiter: str | None = None,
    encoding: str = ENCODING,
) -> tuple[Rankings, Covariates]:
    r"""Read a table with one column per place that holds the name of the item there.

    A blank between two items is passed over: only the order of the items counts.

    Parameters
    ----------
    path, weights, delimiter, encoding
        As in `read_positions_csv`.
    columns : sequence of str, optional
        The columns of the places, best first.
    prefix : str, optional
        Take the columns whose names start with it, by number or ordinal if all have one. With neither ``columns`` nor
        ``prefix``, the columns that differ by a number or ordinal alone (``choice_1, choice_2, ...``).
    items : sequence of str, optional
        The names of all items; by default those that occur, by number if all are whole numbers.
    unlisted : {"below", "missing"}, default="below"
        What a row says of items that it does not list: they rank below the others (top-k), or nothing.
    missing_values : collection of str, default=("", "NA", "N/A", "#N/A", "nan", "NaN", "-")
        Cells that name no item. An empty cell never does; give ``["0"]`` where 0 says "no item".

    Returns
    -------
    rankings : Rankings
    covariates : dict of str to ndarray
        As in `read_positions_csv`.

    Examples
    --------
    >>> path = getfixture("tmp_path") / "drinks.csv"
    >>> _ = path.write_text("age,choice_1,choice_2\n31,tea,milk\n47,milk,\n")
    >>> rankings, covariates = read_orders_csv(path)
    >>> rankings.items, rankings.positions[1], covariates["age"]
    (('tea', 'milk'), array([inf,  1.]), array([31., 47.]))
    """
    table = read_table(path, delimiter, encoding)
    if columns is None and prefix is None:
        fits = layouts.order_fits(blanked(table, missing_values), weights)
        found = the_only(fits, table, "a column per place that holds items")
        columns, prefix = found.options.get("columns"), found.options.get("prefix")
    places = _chosen(table, columns, prefix, weights, "columns")
    blanks = blanks_given(missing_values)
    at = [table.index(name) for name in places]
    rows = [[[row[i]] for i in at if row[i] not in blanks] for row in table.rows]
    declared = None if items is None else names_given(items, "items")
    if declared is None:
        _refuse_zero_as_item(table, rows)
    rankings = rankings_from_rows(
        rows, table.error, unlisted=unlisted, items=declared, weights=weights_column(table, weights)
    )
    return rankings, covariates(table, [*places, weights or ""])


def read_ordered_strings_csv(
    path: Path | Table,
    *,
    column: str | None = None,
    separator: str = ">",
    tie: str = "~",
    items: Iterable[str] | None = None,
    weights: str | None = None,
    unlisted: Unlisted = "below",
    missing_values: Collection[str] = MISSING,
    delimiter: str | None = None,
    encoding: str = ENCODING,
) -> tuple[Rankings, Covariates]:
    r"""Read a table where one cell holds the whole order: ``a>b~c``, or ``["a", "b"]`` as JSON.

    ``a>{b,c}`` and ``a>(b,c)`` tie items too. A name that may be several tied items, such as ``b=c``, is refused
    unless ``items`` lists it.

    Parameters
    ----------
    path, weights, delimiter, encoding
        As in `read_positions_csv`.
    column : str, optional
        The column of the orders; by default the only one whose cells read ``a>b>c`` or are JSON arrays of names.
    separator : str, default=">"
        What stands between an item and the next worse one; ``" "`` is any run of blanks.
    tie : str, default="~"
        What stands between tied items.
    items, unlisted
        As in `read_orders_csv`.
    missing_values : collection of str, default=("", "NA", "N/A", "#N/A", "nan", "NaN", "-")
        Cells that hold no order; an empty one never does.

    Returns
    -------
    rankings : Rankings
    covariates : dict of str to ndarray
        As in `read_positions_csv`.

    Examples
    --------
    >>> path = getfixture("tmp_path") / "drinks.csv"
    >>> _ = path.write_text("age;drinks\n31;tea>milk~juice\n47;juice>tea>milk\n")
    >>> rankings, covariates = read_ordered_strings_csv(path)
    >>> rankings.items, rankings.positions[0]
    (('tea', 'milk', 'juice'), array([1., 2., 2.]))
    """
    if not separator or not tie or separator == tie:
        raise ValueError(f"separator is {separator!r} and tie is {tie!r}; give two that differ and are not empty")
    table = read_table(path, delimiter, encoding)
    if column is None:
        fits = layouts.string_fits(blanked(table, missing_values))
        column = the_only(fits, table, "orders such as a>b>c in one cell").options["column"]
    cells = table.column(column)
    fail = partial(table.error, column=column)
    parse = OrderParser(separator, (tie,))
    orders: dict[str, list[list[str]]] = {blank: [] for blank in blanks_given(missing_values)}
    for cell in dict.fromkeys(cells):
        try:
            orders[cell] = orders[cell] if cell in orders else parse(cell)
        except ValueError as error:
            cure = f"Write a{separator}b{separator}c."
            raise fail(f"{shown(cell)} is no order: {error}", row=cells.index(cell), cure=cure) from None
    rows = [orders[cell] for cell in cells]
    declared = None if items is None else names_given(items, "items")
    _refuse_other_separator(rows, separator, fail)
    _refuse_other_ties(rows, parse.names_cut(), declared or (), fail)
    rankings = rankings_from_rows(rows, fail, unlisted=unlisted, items=declared, weights=weights_column(table, weights))
    return rankings, covariates(table, [column, weights or ""])


def position_column(table: Table, name: str, missing_values: Collection[str], blank: float) -> FloatArray:
    """The positions in a column, ``blank`` where a cell is missing."""
    cells = table.column(name)
    # Positions are few and rows are many, so every different cell is read once.
    meaning = table.numbers(cells)
    meaning |= {"inf": np.inf} | dict.fromkeys(blanks_given(missing_values), blank)
    values = [meaning[cell] for cell in cells]
    for row, value in enumerate(values):
        if value is None or value <= 0:
            raise table.error(
                f"{shown(cells[row])} is not a position",
                row=row,
                column=name,
                cure=_cure_for_position(cells[row], value),
            )
    return np.array(values, dtype=np.float64)


def the_only(fits: list[layouts.Fit], table: Table, what: str) -> layouts.Fit:
    """The one fit there is; else the error that shows the choices."""
    if len(fits) == 1:
        return fits[0]
    if not fits:
        raise table.error(
            f"it is not clear which of the columns {listed(table.header)} hold the rankings",
            cure=f"Name the columns; for this layout they are {what}.",
        )
    calls = " or ".join(fit.call() for fit in fits[:4])
    raise table.error(f"{len(fits)} groups of columns could hold the rankings", cure=f"Choose: {calls}.")


def _chosen(
    table: Table, names: Iterable[str] | None, prefix: str | None, weights: str | None, argument: str
) -> list[str]:
    """The columns that the caller named, one by one or by prefix."""
    if names is not None and prefix is not None:
        raise ValueError(f"both {argument} and prefix are given; give one of them")
    if names is None:
        found = [name for name in layouts.columns_with_prefix(table, prefix or "") if name != weights]
        if not found:
            raise table.error(f"no column starts with {prefix!r}", cure=f"The columns are {listed(table.header)}.")
        return found
    given = names_given(names, argument)
    if not given or len(set(given)) < len(given) or weights in given:
        raise ValueError(f"{argument} is {given!r}; name every column once, and not the column of the weights")
    for name in given:
        table.index(name)
    return given


def _choices(table: Table, columns: Sequence[str]) -> list[str]:
    """The items in Qualtrics' texts "question - item" of the columns; none unless all belong to one question."""
    parts = [table.questions[table.index(name)].rpartition(_JOINT) for name in columns if table.questions]
    questions, items = {question for question, _, _ in parts}, [item for _, _, item in parts]
    one_question = len(questions) == 1 and "" not in questions
    return items if one_question and len(set(items)) == len(items) else []


def _cure_for_position(cell: str, value: float | None) -> str:
    if value is None:
        return "Positions are numbers, 1 = best. If it says 'not ranked', add it to missing_values=[...]."
    if value == 0:
        not_ranked = f"if {cell} says 'not ranked', give missing_values=[{cell!r}]"
        return f"Positions count from 1: if these count from 0, add 1 to all; {not_ranked}."
    return "Positions count from 1 (1 = best)."


def _refuse_zero_as_item(table: Table, rows: list[list[list[str]]]) -> None:
    """Refuse 0 among item numbers where it merely fills up rows: it is most likely no item."""
    if not all(bucket[0].isdigit() for buckets in rows for bucket in buckets):
        return
    zeros = {row: buckets.count(["0"]) for row, buckets in enumerate(rows) if ["0"] in buckets}
    if not zeros:
        return
    only_fills = all(rows[row][-count:] == [["0"]] * count for row, count in zeros.items())
    if only_fills or max(zeros.values()) > 1:
        raise table.error(
            "0 stands more than once, or only after all other items, as if it said 'no item'",
            row=next(iter(zeros)),
            cure="If so, give missing_values=['0']; if 0 is an item, name all items with items=[...].",
        )


def _refuse_other_separator(rows: list[list[list[str]]], separator: str, fail: Fail) -> None:
    """Refuse a column where no cell was cut, though its cells could be cut elsewhere."""
    if any(len(buckets) > 1 or len(bucket) > 1 for buckets in rows for bucket in buckets):
        return
    for row, buckets in enumerate(rows):
        for mark in _OTHER_SEPARATORS:
            if buckets and mark in buckets[0][0]:
                raise fail(
                    f"no cell of the column holds {separator!r}, but {shown(buckets[0][0])} holds {mark!r}",
                    row=row,
                    cure=f"Give separator={mark!r} if it stands between items.",
                )


def _refuse_other_ties(rows: list[list[list[str]]], names: set[str], declared: Collection[str], fail: Fail) -> None:
    """Refuse a name that may be several tied items, cut at a sign that the call does not mention."""
    doubtful = {name for name in names.difference(declared) if _may_be_tied(name, names)}
    if not doubtful:
        return
    row, name = next((row, name) for row, order in enumerate(rows) for name in chain(*order) if name in doubtful)
    sign = next((sign for sign in "=~|,&/" if sign in name), None)
    how = "write {a,b} without braces inside" if sign is None else f"give tie={sign!r}"
    raise fail(
        f"{shown(name)} may be several tied items",
        row=row,
        cure=f"If so, {how}; if it is one item, name all items with items=[...].",
    )


def _may_be_tied(name: str, names: set[str]) -> bool:
    if any(sign in name for sign in _RARE_IN_NAMES):
        return True
    # The name is no piece of its own, so all pieces being names says that it was cut somewhere.
    pieces = {piece.strip() for piece in _COMMON_IN_NAMES.split(name)} - {"", name}
    return bool(pieces) and pieces <= names
