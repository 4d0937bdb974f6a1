"""Rows that cannot be rankings: found, counted, and dropped if the caller says so.

`rankwise.data.formats.detect` checks every table before it reads the rankings.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

from rankwise._typing import FloatArray
from rankwise.data.formats.column_names import (
    RESPONDENTS,
    Fit,
    are_numbered,
    chosen_columns,
    known_prefixes,
    prefix_option,
    say_places,
)
from rankwise.data.formats.jury_columns import column_of_items
from rankwise.data.formats.places import (
    BEYOND,
    GAP,
    IMPOSSIBLE,
    PLACES_PER_ITEM,
    PLAIN,
    SKIPPED,
    TIED,
    Rows,
    adjacent_runs,
    classify,
)
from rankwise.data.formats.reading import python_call
from rankwise.data.formats.survey_cells import (
    cell_counts,
    cure_for_position,
    place_meanings,
    ranking_numbers,
    repeated_names,
    repeats_cells,
)
from rankwise.data.formats.survey_choices import bad_choices
from rankwise.data.formats.survey_duels import bad_duels
from rankwise.data.formats.survey_judges import names_say_jury
from rankwise.data.formats.survey_long import bad_rows_of_long
from rankwise.data.formats.survey_strings import bad_orders
from rankwise.data.formats.tables import MISSING, Table, blanks_given, rows_without_weight
from rankwise.data.formats.text import shown
from rankwise.exceptions import RankwiseFormatError

Invalid = Literal["raise", "drop"]

# Rows and columns that are enough to see rankings among which a cell is wrong, and how many of the rows must be some.
_FEW = 3
_LEAST_RANKED = 0.75


class BadRow(NamedTuple):
    """A row that is not a ranking: what it does, the words of an error, and the cell where that is seen."""

    why: str
    problem: str
    column: str | None = None
    cell: str | None = None


def check_rows(
    table: Table, fit: Fit, options: Mapping[str, Any], *, invalid: Invalid, obey: bool
) -> tuple[Table, dict[str, int], list[str]]:
    """Drop the rows that are not rankings, or raise the error that counts them and shows the first.

    Parameters
    ----------
    table : Table
        The table.
    fit : Fit
        How it will be read.
    options : mapping
        The options of the reader.
    invalid : {"raise", "drop"}
        What to do with such rows.
    obey : bool
        Whether the caller gave the layout, so that impossible places count by their order, with a note.

    Returns
    -------
    table : Table
        Without the rows dropped.
    dropped : dict of str to int
        Why rows were dropped, and how many.
    notes : list of str
        What else is odd about the places.
    """
    if invalid not in ("raise", "drop"):
        raise ValueError(f"invalid is {invalid!r}; choose 'raise' or 'drop'")
    bad, notes = _bad_rows(table, fit, options, obey=obey and invalid == "raise", drop=invalid == "drop")
    bad |= _bad_weights(table, fit, options, invalid=invalid)
    if not bad:
        return table, {}, notes
    n = len(table)
    if invalid == "raise":
        raise _refusal(table, fit, options, bad, n)
    if 2 * len(bad) > n:
        raise table.error(
            f"{len(bad):,} of {n:,} rows are not rankings, which is more than half",
            row=min(bad),
            cure="Look whether the layout and the columns are right.",
        )
    left = table.take(np.setdiff1d(np.arange(n), list(bad)))
    return left, dict(_counted(bad)), notes


def _bad_weights(table: Table, fit: Fit, options: Mapping[str, Any], *, invalid: Invalid) -> dict[int, BadRow]:
    """The rows to drop because they have no weight; or the error about the first, with the calls to choose from."""
    weights = options.get("weights") or ""
    wrong = rows_without_weight(table, weights).tolist() if weights else []
    if not wrong or invalid == "drop":
        return dict.fromkeys(wrong, BadRow("no weight in a cell", "the row has no weight"))
    rest = {name: value for name, value in options.items() if name not in fit.options}
    ways = [fit.arguments(**{**rest, "invalid": "drop"}), fit.arguments(**{**rest, "weights": None})]
    calls = f"to drop such rows, write {python_call(ways[0])}; to leave out the weights, write {python_call(ways[1])}"
    error = table.error(
        f"the weight is {shown(table.column(weights)[wrong[0]])}",
        row=wrong[0],
        column=weights,
        cure=f"Weights are numbers that are not negative: correct it; {calls}.",
    )
    error.choices = ways
    raise error


def _bad_rows(
    table: Table, fit: Fit, options: Mapping[str, Any], *, obey: bool, drop: bool
) -> tuple[dict[int, BadRow], list[str]]:
    """The rows that are not rankings, and notes about the others."""
    blanks = blanks_given(options.get("missing_values", MISSING))
    if fit.layout == "orders":
        return _repeated_items(table, {**fit.options, **options}, blanks), []
    if fit.layout not in ("positions", "scores"):
        return _dropped_rows(table, fit, options, blanks) if drop else {}, []  # else the readers refuse them
    given = {**fit.options, **options}
    if given.get("items") is None and given.get("prefix") is None:
        return {}, []  # the reader says that it cannot find the columns
    columns = chosen_columns(table, given.get("items"), given.get("prefix"), given.get("weights"), "items")
    bad = _bad_cells(table, columns, blanks, scores=fit.layout == "scores")
    if fit.layout == "scores":
        return bad, []
    values = None if bad or blanks != {*MISSING} else ranking_numbers(table, columns)
    if values is None:
        values = _numbers(table, columns, blanks)
        values[list(bad)] = np.nan
    rows = classify(values, named_places=say_places(columns))
    impossible = _impossible(table, columns, rows, values) if np.isin(rows.kinds, list(IMPOSSIBLE)).any() else {}
    notes = _notes(rows, len(columns))
    if obey:
        for why, count in _counted(impossible):
            notes.append(f"In {count:,} row{'s' * (count != 1)} {why}: only the order counts.")
        return bad, notes
    return {**impossible, **bad}, notes


def _dropped_rows(table: Table, fit: Fit, options: Mapping[str, Any], blanks: set[str]) -> dict[int, BadRow]:
    """The rows that are not rankings, in layouts whose cells are not places or scores of the columns."""
    given = {**fit.options, **options}
    if fit.layout == "judges":
        raise table.error(
            "invalid='drop' drops rows, but here a row is an item, of all judges",
            cure="Correct the cells, or name the judges whose columns are rankings: judges=[...].",
        )
    if fit.layout == "strings":
        found = bad_orders(table, given, blanks) if "column" in given else {}
    elif fit.layout == "long":
        found = bad_rows_of_long(table, given, blanks)
    elif fit.layout == "pairwise":
        found = bad_duels(table, given)
    else:
        found = bad_choices(table, given, options.get("missing_values", MISSING))
    return {row: BadRow(why, why) for row, why in found.items()}


def _repeated_items(table: Table, given: Mapping[str, Any], blanks: set[str]) -> dict[int, BadRow]:
    """The rows of orders that list an item twice; the first in detail, for the error."""
    if given.get("columns") is None and given.get("prefix") is None:
        return {}  # the reader says that it cannot find the columns
    columns = chosen_columns(table, given.get("columns"), given.get("prefix"), given.get("weights"), "columns")
    why = "an item is listed twice"
    bad = dict.fromkeys(repeated_names(table, columns, blanks).tolist(), BadRow(why, why))
    if bad:
        first = min(bad)
        cells = [table.column(name)[first] for name in columns]
        twice = next(cell for at, cell in enumerate(cells) if cell in cells[:at] and cell not in blanks)
        bad[first] = BadRow(why, f"item {shown(twice)} is listed twice")
    return bad


def misfit(table: Table, options: Mapping[str, Any]) -> Fit | None:
    """Columns that hold mostly places, though some cells are none; None if there are no such columns.

    They have a known prefix, or stand side by side. The check of the rows then names the first of these cells.
    """
    blanks = blanks_given(options.get("missing_values", MISSING))
    for prefix, names in known_prefixes(table):
        cells = cell_counts(table, names)
        meaning = place_meanings(table, cells)
        slips = [cell for cell in cells if not _is_place(meaning[cell], PLACES_PER_ITEM * len(names))]
        # Below numbered columns a word may as well be an item among numbers.
        if slips and 2 * sum(cells[cell] for cell in slips) <= cells.total() and not are_numbered(names):
            fit = Fit("positions", {"prefix": prefix}, f"The columns start with {prefix!r} and hold places.")
            if classify(_numbers(table, names, blanks)).share() >= 0.5:
                return fit
    return wider_fit(table, options, by_judges=bool(names_say_jury(table)), ties=True)


def wider_fit(table: Table, options: Mapping[str, Any], *, by_judges: bool, ties: bool = False) -> Fit | None:
    """Columns side by side in which rows are rankings (or which are some) but for words in some cells; else None."""
    runs = adjacent_runs([_are_places_but_words(table, name) for name in table.header])
    wide = [list(table.header[run]) for run in runs if run.stop - run.start >= _FEW]
    if len(wide) != 1 or len(table) < _FEW or are_numbered(wide[0]) or all(map(table.is_numeric, wide[0])):
        return None
    (names,), item = wide, column_of_items(table)
    values = _numbers(table, names, blanks_given(options.get("missing_values", MISSING)))
    kinds = classify(values.T if by_judges else values).kinds
    if np.mean(np.isin(kinds, (PLAIN, SKIPPED, *([TIED] if ties else [])))) < _LEAST_RANKED:
        return None
    if not by_judges:
        return Fit("positions", prefix_option(table, names), "In these columns rows are rankings.")
    judges = {"item": item, "judges": names, "values": "positions"}
    return Fit("judges", judges, "The columns are rankings of the rows.") if item not in names else None


def _are_places_but_words(table: Table, name: str) -> bool:
    """Whether the numbers in a column are places among all columns or rows, and at most half of the cells are words."""
    if not repeats_cells(table, name) or name.lower() in RESPONDENTS:
        return False
    cells = cell_counts(table, [name])
    meaning = place_meanings(table, cells)
    most = max(len(table.header), len(table))
    n_words = sum(count for cell, count in cells.items() if meaning[cell] is None)
    are_places = all(_is_place(value, most) for value in meaning.values() if value is not None)
    return are_places and 2 * n_words <= cells.total() > 0


def _is_place(value: float | None, most: float) -> bool:
    """Whether this is a place from 1 to ``most``, halves for ties; or unlisted, or 0."""
    return value is not None and (value in (0, np.inf) or (1 <= value <= most and float(2 * value).is_integer()))


def _bad_cells(table: Table, columns: Sequence[str], blanks: set[str], *, scores: bool) -> dict[int, BadRow]:
    """Rows with a cell that is neither a place (or a score) nor blank; the first such cell of each."""
    bad: dict[int, BadRow] = {}
    what = "a score" if scores else "a position"
    for name in columns:
        distinct, codes = table.coded(name)
        meaning = table.numbers(distinct) if scores else place_meanings(table, distinct)
        said = ((cell, meaning[cell]) for cell in distinct)
        wrong = np.array([c not in blanks and (v is None or (not scores and v <= 0)) for c, v in said])
        for row in np.flatnonzero(wrong[codes]).tolist() if wrong.any() else ():
            cell = distinct[codes[row]]
            bad.setdefault(row, BadRow(f"not {what} in a cell", f"{shown(cell)} is not {what}", name, cell))
    return bad


def _numbers(table: Table, columns: Sequence[str], blanks: set[str]) -> FloatArray:
    """The places in the columns, NaN where a cell is blank or none."""
    values = np.empty((len(table), len(columns)), order="F")
    for at, name in enumerate(columns):
        distinct, codes = table.coded(name)
        meaning = place_meanings(table, distinct) | dict.fromkeys(blanks)
        values[:, at] = np.array([meaning[cell] or np.nan for cell in distinct])[codes]
    return values


def _notes(rows: Rows, n_columns: int) -> list[str]:
    notes = []
    skipped = int(np.count_nonzero(rows.kinds == SKIPPED))
    if rows.n_ranked is not None:
        notes.append(
            f"The places go up to {rows.n_ranked} in {n_columns} columns: these were taken for {n_columns} of "
            f"at least {rows.n_ranked} items that people ranked, and only the order among them counts."
        )
    elif skipped:
        verb = "skips" if skipped == 1 else "skip"
        notes.append(f"{skipped:,} row{'s' * (skipped != 1)} {verb} places, as 1, 2, 4: only the order counts.")
    if rows.parked is not None:
        code = f"{rows.parked:g}"
        notes.append(
            f"{code} is beyond the last place: items with it are tied last. If it says 'not ranked', give "
            f"missing_values=['{code}'], and unlisted='below' if these items are below the others."
        )
    return notes


def _impossible(table: Table, columns: Sequence[str], rows: Rows, values: FloatArray) -> dict[int, BadRow]:
    """Rows of impossible places; the first in detail, for the error."""
    bad: dict[int, BadRow] = {}
    for kind, why in IMPOSSIBLE.items():
        bad |= dict.fromkeys(np.flatnonzero(rows.kinds == kind).tolist(), BadRow(why, why))
    first = min(bad)
    kind, places = rows.kinds[first], values[first]
    cells = ["-" if np.isnan(place) else f"{place:g}" for place in places]
    problem, column, cell = f"the places {', '.join(cells[:20])} share one and skip others", None, None
    if kind != GAP:
        wrong = places > len(columns) if kind == BEYOND else places != np.round(places)
        column = columns[int(np.flatnonzero(wrong & ~np.isnan(places))[0])]
        distinct, codes = table.coded(column)
        cell = distinct[codes[first]]
        problem = f"{shown(cell)} is not a place among {len(columns)} items"
    bad[first] = BadRow(IMPOSSIBLE[int(kind)], problem, column, cell)
    return bad


def _counted(bad: Mapping[int, BadRow]) -> list[tuple[str, int]]:
    return Counter(row.why for row in bad.values()).most_common()


def _mostly_words(table: Table, given: Mapping[str, Any]) -> bool:
    """Whether more than half of the cells that should be numbers are words."""
    columns = chosen_columns(table, given.get("items"), given.get("prefix"), given.get("weights"), "items")
    counts = cell_counts(table, columns)
    meaning = place_meanings(table, counts)
    return 2 * sum(count for cell, count in counts.items() if meaning[cell] is None) > counts.total()


def _refusal(
    table: Table, fit: Fit, options: Mapping[str, Any], bad: Mapping[int, BadRow], n: int
) -> RankwiseFormatError:
    first = min(bad)
    row = bad[first]
    arguments = fit.arguments(**{name: value for name, value in options.items() if name not in fit.options})
    choices = []
    cure = "Give every item one place" if fit.layout == "orders" else "Correct it"
    value = None if row.cell is None else place_meanings(table, [row.cell])[row.cell]
    are_words = value is None and row.cell is not None and _mostly_words(table, {**fit.options, **options})
    if are_words:
        end = "higher = better" if fit.layout == "scores" else "1 = best"
        cure = f"These are words, not numbers: replace them by numbers, as 1 to 5, {end}"
    elif fit.layout == "scores":
        cure = "Scores are numbers, higher = better"
    elif row.cell is not None and (value is None or value <= 0):
        cure = cure_for_position(row.cell, value).partition(";" if value == 0 else ".")[0]
    if row.cell is not None and not are_words:  # most answers would be thrown away
        choices.append({**arguments, "missing_values": [*options.get("missing_values", ()), row.cell]})
        cure += f"; if it says 'not ranked', write {python_call(choices[0])}"
    if row.why in IMPOSSIBLE.values():
        choices.append(arguments)
        cure += f"; if {'it is a place' if row.cell else 'the order is right'}, write {python_call(arguments)}"
    several = f" ({len(bad):,} of {n:,} rows are not rankings)" if len(bad) > 1 else ""
    if 2 * len(bad) <= n:
        choices.append({**arguments, "invalid": "drop"})
        cure += f"; to drop {'such rows' if len(bad) > 1 else 'the row'}, add invalid='drop'"
    error = table.error(f"{row.problem}{several}", row=first, column=row.column, cure=f"{cure}.")
    error.choices = choices
    return error
