"""Survey tables with a column per item (places or scores) or a column per place.

`survey_strings`, `survey_long`, `survey_duels`, `survey_judges` and `survey_choices` read the other layouts.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

import numpy as np

from rankwise.data.formats.buckets import rankings_from_columns
from rankwise.data.formats.column_names import chosen_columns, item_names
from rankwise.data.formats.delimited import read_table
from rankwise.data.formats.survey_cells import position_matrix, score_column
from rankwise.data.formats.survey_fits import column_fits, the_only, window_fits
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
from rankwise.data.formats.text import ENCODING, Path
from rankwise.data.positions import Unlisted, blank_for, own_positions
from rankwise.data.rankings import Rankings


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

    Only the order of the numbers in a row counts. Places may be words, as "1st choice" or "Zweite Wahl". ``inf`` is
    unlisted, whatever ``unlisted`` says of blanks.

    Parameters
    ----------
    path : str or path-like
        The file, plain or gzip: comma, semicolon, tab or bar between cells, names of columns on the first line. The
        two rows that Qualtrics adds below them are not data; they give the items their names if the texts of the
        questions differ only after their last " - ", as "Rank the drinks - Tea".
    items : sequence of str, optional
        The columns of the items.
    prefix : str, optional
        Take the columns whose names start with it, and drop it from the names. With neither ``items`` nor ``prefix``,
        the columns that start with ``rank_``, ``position_`` or ``y_`` if they hold positions, else columns side by side
        in which every row is a ranking.
    weights : str, optional
        The column that says how often each ranking counts.
    unlisted : {"missing", "below"}, default="missing"
        What a blank says of an item: nothing (never compared), or that it ranks below the others (top-k).
    missing_values : collection of str, default=("", "NA", "N/A", "n/a", "#N/A", "nan", "NaN", "-")
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
        seen = blanked(table, missing_values)
        fits = column_fits(seen, weights, "positions") or window_fits(seen, weights)
        found = the_only(fits, table, "a column per item that holds positions")
        items, prefix = found.options.get("items"), found.options.get("prefix")
    columns = chosen_columns(table, items, prefix, weights, "items")
    names = item_names(table, columns, prefix)
    blank = blank_for(unlisted)
    values = position_matrix(table, columns, missing_values, blank)
    rankings = Rankings(own_positions(values), names, weights and weights_column(table, weights))
    return rankings, covariates(table, [*columns, weights or ""])


def read_scores_csv(
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
    r"""Read a table with one column per item that holds its score or rating: higher = better, equal = tied.

    Parameters
    ----------
    path, items, prefix, weights, unlisted, missing_values, delimiter, encoding
        As in `read_positions_csv`. With neither ``items`` nor ``prefix``, the columns that start with ``score_``,
        ``points_`` or ``rating_``.

    Returns
    -------
    rankings, covariates
        As in `read_positions_csv`.

    Examples
    --------
    >>> path = getfixture("tmp_path") / "drinks.csv"
    >>> _ = path.write_text("judge,tea,milk\nAnn,9,7\nBob,8,8\n")
    >>> read_scores_csv(path, items=["tea", "milk"])[0]
    Rankings: 2 rankings of 2 items, tied
      tea > milk
      tea ~ milk
    """
    table = read_table(path, delimiter, encoding)
    if items is None and prefix is None:
        fits = column_fits(blanked(table, missing_values), weights, "scores")
        found = the_only(fits, table, "a column per item that holds scores")
        items, prefix = found.options.get("items"), found.options.get("prefix")
    columns = chosen_columns(table, items, prefix, weights, "items")
    blank = -blank_for(unlisted)
    values = np.column_stack([score_column(table, name, missing_values, blank) for name in columns])
    rankings = Rankings.from_scores(values, item_names(table, columns, prefix), weights_column(table, weights))
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
    path, weights, missing_values, delimiter, encoding
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

    Returns
    -------
    rankings, covariates
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
        fits = column_fits(blanked(table, missing_values), weights, "orders")
        found = the_only(fits, table, "a column per place that holds items")
        columns, prefix = found.options.get("columns"), found.options.get("prefix")
    places = chosen_columns(table, columns, prefix, weights, "columns")
    blanks = blanks_given(missing_values)
    declared = None if items is None else names_given(items, "items")
    if declared is None:
        _refuse_zero_as_item(table, places, blanks)
    listed = [table.named_codes(name) for name in places]
    rankings = rankings_from_columns(
        listed, blanks, table.error, unlisted=unlisted, items=declared, weights=weights_column(table, weights)
    )
    return rankings, covariates(table, [*places, weights or ""])


def _refuse_zero_as_item(table: Table, places: Sequence[str], blanks: Collection[str]) -> None:
    """Refuse 0 among item numbers where it merely fills up rows: it is most likely no item."""
    names = set().union(*(table.named_codes(name)[0] for name in places)).difference(blanks)
    if "0" not in names or not all(map(str.isdigit, names)):
        return
    rows = zip(*(table.named(name) for name in places), strict=True)
    with_zeros = {at: [cell for cell in row if cell not in blanks] for at, row in enumerate(rows) if "0" in row}
    zeros = {at: row.count("0") for at, row in with_zeros.items()}
    only_fills = all(with_zeros[row][-count:] == ["0"] * count for row, count in zeros.items())
    if only_fills or max(zeros.values()) > 1:
        raise table.error(
            "0 stands more than once, or only after all other items, as if it said 'no item'",
            row=next(iter(zeros)),
            cure="If so, give missing_values=['0']; if 0 is an item, name all items with items=[...].",
        )
