"""Survey tables with the whole order in one cell: ``a>b~c``, or a JSON array of names."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from functools import partial
from itertools import chain
from typing import Any

import numpy as np

from rankwise.data.formats.buckets import Fail, OrderParser, rankings_from_rows
from rankwise.data.formats.delimited import read_table
from rankwise.data.formats.survey_fits import listed_fits, string_fits, the_only
from rankwise.data.formats.tables import (
    MISSING,
    Covariates,
    Table,
    blanked,
    blanks_given,
    covariates,
    names_given,
    weights_column,
)
from rankwise.data.formats.text import ENCODING, Path, listed, shown
from rankwise.data.positions import Unlisted
from rankwise.data.rankings import Rankings

# What stands between items, from the surest sign to what may be part of a name.
_OTHER_SEPARATORS = (">", ";", "|", ",", "<", "/", " ")
# What else people write between tied items. The first hardly ever occur in names, so they are enough for a doubt.
_RARE_IN_NAMES = ("=", "~", "|", "{", "}")
_COMMON_IN_NAMES = re.compile(r"[,&/()]")


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
    path, weights, missing_values, delimiter, encoding
        As in `read_positions_csv`.
    column : str, optional
        The column of the orders; by default the only one whose cells read ``a>b>c`` or are JSON arrays of names.
    separator : str, default=">"
        What stands between an item and the next worse one; ``" "`` is any run of blanks.
    tie : str, default="~"
        What stands between tied items.
    items, unlisted
        As in `read_orders_csv`.

    Returns
    -------
    rankings, covariates
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
        seen = blanked(table, missing_values)
        found = the_only(string_fits(seen) or listed_fits(seen), table, "orders such as a>b>c in one cell").options
        column, separator = found["column"], found.get("separator", separator)
    said: dict[str, Any] = {"layout": "strings", "column": column}
    said |= {"separator": separator} if separator != ">" else {}
    said |= {"tie": tie} if tie != "~" else {}
    said |= {"weights": weights} if weights is not None else {}
    said |= {"missing_values": list(missing_values)} if set(missing_values) != {*MISSING} else {}
    cells, codes = table.coded(column)
    fail = partial(table.error, column=column)
    parse, blanks = OrderParser(separator, (tie,)), blanks_given(missing_values)
    orders: list[list[list[str]]] = []
    for code, cell in enumerate(cells):
        try:
            orders.append([] if cell in blanks else parse(cell))
        except ValueError as error:
            cure = f"Write a{separator}b{separator}c; to drop all such rows, add invalid='drop'."
            wrong = fail(f"{shown(cell)} is not an order: {error}", row=int(np.argmax(codes == code)), cure=cure)
            wrong.choices = [{**said, "invalid": "drop"}]
            raise wrong from None
    rows = [orders[code] for code in codes.tolist()]
    declared = None if items is None else names_given(items, "items")
    _refuse_other_separator(rows, said, separator, fail)
    _refuse_other_ties(rows, parse.names_cut(), declared or (), said, fail)
    rankings = rankings_from_rows(rows, fail, unlisted=unlisted, items=declared, weights=weights_column(table, weights))
    return rankings, covariates(table, [column, weights or ""])


def bad_orders(table: Table, options: Mapping[str, Any], blanks: set[str]) -> dict[int, str]:
    """Rows whose cell is not an order, or lists an item twice, with the words for it."""
    parse = OrderParser(options.get("separator", ">"), (options.get("tie", "~"),))
    cells, codes = table.coded(options["column"])
    problem_of = {}
    for code, cell in enumerate(cells):
        try:
            names = [] if cell in blanks else list(chain(*parse(cell)))
        except ValueError:
            problem_of[code] = "not an order"
            continue
        if len(set(names)) < len(names):
            problem_of[code] = "an item is listed twice"
    return {row: problem_of[code] for row, code in enumerate(codes.tolist()) if code in problem_of}


def _refuse_other_separator(rows: list[list[list[str]]], said: Mapping[str, Any], separator: str, fail: Fail) -> None:
    """Refuse a column where no cell was cut, though its cells could be cut elsewhere."""
    if any(len(buckets) > 1 or len(bucket) > 1 for buckets in rows for bucket in buckets):
        return
    for mark in _OTHER_SEPARATORS:
        row = next((row for row, buckets in enumerate(rows) if buckets and mark in buckets[0][0]), None)
        if row is not None:
            error = fail(
                f"no cell of the column holds {separator!r}, but {shown(rows[row][0][0])} holds {mark!r}",
                row=row,
                cure=f"Give separator={mark!r} if it stands between items.",
            )
            error.choices = [_with_last(said, "separator", mark)]
            raise error


def _refuse_other_ties(
    rows: list[list[list[str]]], names: set[str], declared: Collection[str], said: Mapping[str, Any], fail: Fail
) -> None:
    """Refuse a name that may be several tied items, cut at a sign that the call does not mention."""
    doubtful = {name for name in names.difference(declared) if _may_be_tied(name, names)}
    if not doubtful:
        return
    row, name = next((row, name) for row, order in enumerate(rows) for name in chain(*order) if name in doubtful)
    sign = next((sign for sign in "=~|,&/" if sign in name), None)
    how = "write {a,b} without braces inside" if sign is None else f"give tie={sign!r}"
    error = fail(
        f"{shown(name)} may be several tied items",
        row=row,
        cure=f"If so, {how}; if it is one item, name all items with items=[...].",
    )
    error.choices = [] if sign is None else [_with_last(said, "tie", sign)]
    raise error


def _with_last(said: Mapping[str, Any], option: str, value: Any) -> dict[str, Any]:
    """The options with another value of one of them, which stands last."""
    return {**{name: other for name, other in said.items() if name != option}, option: value}


def words_alone(rankings: Rankings) -> list[str]:
    """Notes about names that no order lists beside another, as a word for a spoiled ballot, where nearly all do."""
    is_listed = np.isfinite(rankings.positions)
    alone = is_listed.sum(axis=1) == 1
    counts, beside = is_listed.sum(axis=0), is_listed[~alone].any(axis=0)
    names = [str(item) for item, known in zip(rankings.items, beside, strict=True) if not known]
    rows = int(counts[~beside].sum())
    if not names or 2 * rows > np.count_nonzero(~alone):
        return []
    is_item = "it was taken for an item" if len(names) == 1 else "they were taken for items"
    says = f"{listed(names)}: in no order beside another, but {is_item}."
    return [f"{says} If there is no vote, give missing_values={names!r}."]


def _may_be_tied(name: str, names: set[str]) -> bool:
    if any(sign in name for sign in _RARE_IN_NAMES):
        return True
    # The name is not a piece of its own, so all pieces being names says that it was cut somewhere.
    pieces = {piece.strip() for piece in _COMMON_IN_NAMES.split(name)} - {"", name}
    return bool(pieces) and pieces <= names
