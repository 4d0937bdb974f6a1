"""The sheet of a jury: a row per item, a column per judge that holds places or scores."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from rankwise._typing import FloatArray
from rankwise.data.formats.column_names import ITEMS, Fit, are_numbered, chosen_columns, item_names
from rankwise.data.formats.delimited import read_table
from rankwise.data.formats.jury_columns import column_of_items, counts_rows, holds_no_votes
from rankwise.data.formats.places import EMPTY, PLAIN, TIED, classify, doubt
from rankwise.data.formats.reading import python_call
from rankwise.data.formats.survey_cells import place_meanings, position_column, ranking_numbers, score_column
from rankwise.data.formats.tables import MISSING, Covariates, Table
from rankwise.data.formats.text import ENCODING, Path, listed, shown
from rankwise.data.formats.tool_columns import TIMES, bare
from rankwise.data.positions import Unlisted, blank_for
from rankwise.data.rankings import Rankings

_JUDGED = (
    *(*ITEMS, "wine", "team", "product", "entry", "project", "contestant", "dish", "work", "act", "song", "player"),
    *("beer", "cheese", "coffee", "cake", "film", "movie", "book", "photo", "idea", "design", "pitch", "startup"),
    *("wein", "bier", "käse", "mannschaft", "projekt", "produkt", "vin", "équipe", "projet", "produit", "vino"),
    *("equipo", "proyecto", "producto", "squadra", "progetto", "prodotto"),
)
_JUDGES = ("judge", "juror", "jury", "referee", "expert", "taster", "rater", "reviewer", "assessor", "critic")
_MOST_ITEMS = 5000
# Of so many rows hardly any judge thinks that they stand in order.
_FEWEST_COUNTED = 5


def read_judges_csv(
    path: Path | Table,
    *,
    item: str | None = None,
    judges: Iterable[str] | None = None,
    prefix: str | None = None,
    values: Literal["positions", "scores"] | None = None,
    unlisted: Unlisted = "missing",
    missing_values: Collection[str] = MISSING,
    delimiter: str | None = None,
    encoding: str = ENCODING,
) -> tuple[Rankings, Covariates]:
    r"""Read the sheet of a jury: each row is an item, each column a judge.

    Parameters
    ----------
    path, missing_values, delimiter, encoding
        As in `read_positions_csv`.
    item : str, optional
        The column with the names of the items; by default the first that does not number the rows.
    judges : sequence of str, optional
        The columns of the judges; by default all other columns of numbers, less sums such as ``total`` and ``mean``,
        results such as ``final rank``, numbers such as ``start`` and ``no.``, prices and years.
    prefix : str, optional
        Take the columns whose names start with it as judges.
    values : {"positions", "scores"}, optional
        Whether a cell is a place (1 = best) or a score (higher = better). By default places if every column is a
        ranking of the rows; else it must be given.
    unlisted : {"missing", "below"}, default="missing"
        What a blank says of an item: nothing, or that it ranks below the others.

    Returns
    -------
    rankings : Rankings
        One per judge.
    covariates : dict of str to ndarray
        ``judge``: the names of the judges.

    Examples
    --------
    >>> path = getfixture("tmp_path") / "wines.csv"
    >>> _ = path.write_text("wine,Anna,Ben\nRioja,1,2\nMerlot,3,1\nMalbec,2,3\n")
    >>> read_judges_csv(path)[0]
    Rankings: 2 rankings of 3 items, full
      Rioja > Malbec > Merlot
      Merlot > Rioja > Malbec
    """
    if values not in (None, "positions", "scores"):
        raise ValueError(f"values is {values!r}; choose 'positions' or 'scores'")
    table = read_table(path, delimiter, encoding)
    item = column_of_items(table) if item is None else item
    names = list(table.column(item))
    _check_names(table, item, names)
    columns = columns_of_jury(table, {"item": item, "judges": judges, "prefix": prefix})[1:]
    if not columns:
        raise table.error(
            f"it is not clear which of the columns {listed(table.header)} are judges",
            cure="Name them: judges=[...].",
        )
    if values is None:
        values = _direction(table, item, columns)
    blank = blank_for(unlisted)
    if values == "positions":
        rankings = Rankings(np.stack([position_column(table, name, missing_values, blank) for name in columns]), names)
    else:
        scores = np.stack([score_column(table, name, missing_values, -blank) for name in columns])
        rankings = Rankings.from_scores(scores, names)
    covariates = {"judge": np.array(item_names(table, columns, prefix), dtype=object)}
    return rankings, covariates


def columns_of_jury(table: Table, options: Mapping[str, Any]) -> list[str]:
    """The columns that these options of `read_judges_csv` read: of the items, then of the judges."""
    item = options.get("item") or column_of_items(table)
    if options.get("judges") is None and options.get("prefix") is None:
        return [item, *_judges(table, item)]
    return [item, *chosen_columns(table, options.get("judges"), options.get("prefix"), item, "judges")]


def judges_fits(table: Table, weights: str | None) -> list[Fit]:
    """The sheet of a jury where every column is a ranking of the rows, whose names stand before them.

    There are two fits where a column may be a judge or the number of the row, or where some columns are rankings and
    the others lie beyond the places, as points do: without these columns, and with them.
    """
    found = judged_values(table, weights)
    if found is None:
        return []
    item, columns, values = found
    rows = classify(values)
    is_ranking = np.isin(rows.kinds, (EMPTY, PLAIN, TIED))
    if not is_ranking.all():
        beyond = np.nanmin(np.where(is_ranking[:, None], np.inf, values), axis=1) > len(table)
        if np.count_nonzero(is_ranking) < 2 or not (is_ranking | beyond).all() or names_say_jury(table) is False:
            return []
        columns = [name for name, kept in zip(columns, is_ranking, strict=True) if kept]
        values = values[is_ranking]
        rows = classify(values)
    # A skipped place is a slip of a person, but a sign of another layout if few rows are all there is to see.
    if rows.parked is not None or doubt(values, rows) is not None:
        return []
    reason = f"Every column is a ranking of the {len(table)} rows, whose names are in {item!r}."
    if len(columns) < len(table.header) - 1:
        reason = f"The columns of the judges are rankings of the {len(table)} rows; the others hold no votes."
    fit = Fit("judges", {"item": item, "judges": columns, "values": "positions"}, reason)
    if not is_ranking.all():
        return [fit, Fit("judges", {"item": item, "judges": found[1], "values": "scores"})]
    counting = [name for name in columns if counts_rows(table, name)]
    if len(counting) != 1 or len(columns) < 3 or are_numbered(columns) or _is_judge_by_name(counting[0]):
        return [fit]
    # In a short sheet a judge may well think so; but numbers of rows stand beside the names, mostly without a word.
    is_mark = len(counting[0]) < 3 <= min(map(len, columns[1:]))
    beside = counting[0] == columns[0] and is_mark
    if len(table) < _FEWEST_COUNTED and not beside:
        doubted = (
            f"{counting[0]!r} counts 1 to {len(table)} down the sheet and votes; if it is a number, give judges=[...]."
        )
        return [replace(fit, reason=f"{reason} {doubted}")] if len(table) > 2 else [fit]
    without = {**fit.options, "judges": [name for name in columns if name not in counting]}
    return [replace(fit, options=without), fit]


def judged_values(table: Table, weights: str | None) -> tuple[str, list[str], FloatArray] | None:
    """The column of the items, the columns of the judges and their numbers (a row per judge), if it may be a jury."""
    item = column_of_items(table)
    names = table.coded(item)[0] if 2 <= len(table) <= _MOST_ITEMS else []
    if not names or len(names) < len(table) or not set(MISSING).isdisjoint(names):
        return None
    if None not in table.numbers(names).values() and item.lower() not in _JUDGED:
        return None
    columns = [name for name in _judges(table, item) if name != weights]
    values = ranking_numbers(table, columns) if len(columns) > 1 else None
    return None if values is None else (item, columns, values.T)


def refuse_repeated_items(table: Table) -> None:
    """Refuse the sheet of a jury in which two rows have one name, if every column is a ranking of the rows."""
    item = column_of_items(table)
    if names_say_jury(table) is not True or not 2 < len(table) <= _MOST_ITEMS:
        return
    columns = _judges(table, item)
    values = ranking_numbers(table, columns) if len(columns) > 1 else None
    if values is not None and np.isin(classify(values.T).kinds, (PLAIN, TIED)).all():
        _check_names(table, item, list(table.column(item)))


def names_say_jury(table: Table) -> bool | None:
    """Whether the names of the columns say that rows are items (True) or people (False); None if they say neither."""
    first, *names = table.header[table.index(column_of_items(table)) :]
    if bare(first) in TIMES:  # rows are answers
        return False
    first, others = first.lower(), [table.questions.get(name, name).lower() for name in names]
    if any(word in first for word in _JUDGES) or any(name in _JUDGES for name in others):
        return False
    if first in _JUDGED or any(sum(word in name for name in others) > 1 for word in _JUDGES):
        return True
    return None


def judges_are_numbered(table: Table, fits: Iterable[Fit]) -> bool:
    """Whether the columns of all fits are the judges of a jury, numbered as in "Judge 1", or all below one heading."""
    if names_say_jury(table) is not True or judged_values(table, None) is None:
        return False
    headed = {name for name, text in table.questions.items() if text == name or text.endswith(f" - {name}")}
    return all(all(name in headed or _is_judge_by_name(name) for name in fit.columns(table)) for fit in fits)


def _judges(table: Table, item: str) -> list[str]:
    """The columns that a sum shows to be those of the judges; else of numbers or places in words that hold votes."""
    summed = [name for name in table.summed if name != item and name in table.header]
    others = [name for name in table.header if name != item and not holds_no_votes(table, name)]
    # What stands before the names of the items and counts the rows is their number.
    others = [name for name in others if table.index(name) > table.index(item) or not counts_rows(table, name)]
    cells = {name: set(table.coded(name)[0]).difference(MISSING) for name in summed or others}
    return [name for name in cells if cells[name] and None not in place_meanings(table, cells[name]).values()]


def _is_judge_by_name(name: str) -> bool:
    return any(word in name.lower() for word in _JUDGES)


def _check_names(table: Table, item: str, names: list[str]) -> None:
    seen: dict[str, int] = {}
    for row, name in enumerate(names):
        if not name:
            raise table.error("the item has no name", row=row, column=item, cure="Fill in the name.")
        if name in seen:
            raise table.error(
                f"{shown(name)} is the name of two rows",
                row=row,
                column=item,
                cure="Give every item one row and its own name, or name another column: item='...'.",
            )
        seen[name] = row


def _direction(table: Table, item: str, columns: list[str]) -> Literal["positions", "scores"]:
    values = ranking_numbers(table, columns)
    reason = "they are not all places" if values is None else doubt(values.T, classify(values.T))
    if reason is None:
        return "positions"
    ways = [{"layout": "judges", "item": item, "judges": columns, "values": way} for way in ("scores", "positions")]
    error = table.error(
        f"the numbers of the judges may be scores (higher = better) or places (1 = best): {reason}",
        cure=f"Write {' or '.join(map(python_call, ways))}.",
    )
    error.choices = ways
    raise error
