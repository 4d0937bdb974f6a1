"""Cells of survey tables as numbers: places, scores, and what columns of numbers or names look like.

The finders of layouts and the readers of tables use it. All work on the different cells of a column, not on its rows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from rankwise._typing import FloatArray, IntArray
from rankwise._validation import read_only
from rankwise.data.formats.large import LongColumn
from rankwise.data.formats.ordinals import place_in_words
from rankwise.data.formats.reading import Reading
from rankwise.data.formats.tables import MISSING, Table, blanks_given, numbers_of
from rankwise.data.formats.text import listed, shown

_BLOCK_ROWS = 1 << 11
# Where scales of ratings and points end.
_SCALES = (5, 7, 10, 20, 100)
_FEWEST_ROWS = 3
# From here on the start of a compiled loop pays.
_WORTH_COMPILED = 1 << 21


def position_column(table: Table, name: str, missing_values: Collection[str], blank: float) -> FloatArray:
    """The positions in a column, ``blank`` where a cell is missing."""
    places, codes = _places_of(table, name, missing_values, blank)
    return places[codes]


def position_matrix(table: Table, names: Sequence[str], missing_values: Collection[str], blank: float) -> FloatArray:
    """The positions in some columns, ``blank`` where a cell is missing."""
    columns = [_places_of(table, name, missing_values, blank) for name in names]
    # Where all cells are positions, the finders of layouts saw the same numbers.
    known = table.places.get(tuple(names)) if blanks_given(missing_values) == {*MISSING} else None
    if known is not None and (np.isnan(blank) or not np.isnan(known).any()):
        return known
    return _side_by_side(len(table), columns)


def _places_of(
    table: Table, name: str, missing_values: Collection[str], blank: float
) -> tuple[FloatArray, npt.NDArray[np.int32]]:
    """The positions that the different cells of a column say, and for every row which of them it holds."""
    cells = table.columns[table.index(name)]
    meaning = place_meanings(table, cells.distinct) | dict.fromkeys(blanks_given(missing_values), blank)
    if any((value := meaning[cell]) is None or value <= 0 for cell in cells.distinct):
        row = cells.first_row(lambda cell: (value := meaning[cell]) is None or value <= 0) or 0
        cell = cells.cells[row]
        raise table.error(
            f"{shown(cell)} is not a position", row=row, column=name, cure=cure_for_position(cell, meaning[cell])
        )
    return np.array([meaning[cell] for cell in cells.distinct], dtype=np.float64), cells.codes


def _side_by_side(n: int, columns: Sequence[tuple[FloatArray, npt.NDArray[np.int32] | None]]) -> FloatArray:
    """The matrix of columns that hold values, or different values and for every row which of them."""
    matrix = np.empty((n, len(columns)))
    if matrix.size >= _WORTH_COMPILED and all(codes is not None for _, codes in columns):
        from rankwise.data.formats import places_jit

        for begin in range(0, n, places_jit.BLOCK_ROWS):
            for at, (values, codes) in enumerate(columns):
                places_jit.spread(values, codes, matrix, at, begin)
        return matrix
    # Some rows at a time: columns as long as a large file would leave the cache with every cell.
    for begin in range(0, n, _BLOCK_ROWS):
        rows = slice(begin, begin + _BLOCK_ROWS)
        for at, (values, codes) in enumerate(columns):
            matrix[rows, at] = values[rows] if codes is None else values[codes[rows]]
    return matrix


def score_column(table: Table, name: str, missing_values: Collection[str], blank: float) -> FloatArray:
    """The scores in a column, ``blank`` where a cell is missing."""
    values = table.values(name, dict.fromkeys(blanks_given(missing_values), blank))
    if values is not None:
        return values
    cells = table.columns[table.index(name)]
    blanks, meaning = blanks_given(missing_values), table.numbers(cells.distinct)
    row = cells.first_row(lambda cell: cell not in blanks and meaning[cell] is None)
    cell = cells.cells[row or 0]
    cure = f"Scores are numbers, higher = better. If it says 'no score', give missing_values=[{cell!r}]."
    raise table.error(f"{shown(cell)} is not a score", row=row, column=name, cure=cure)


def scores_read(
    table: Table | None, reading: Reading, options: Mapping[str, Any], shape: tuple[int, ...], kept: IntArray
) -> FloatArray | None:
    """The scores that rankings were made from, of the rows kept, for rules that count them; None for a file of places.

    Rows are those who gave scores and columns are items, as in the rankings of this shape.
    """
    if table is None or reading.direction != "higher is better" or reading.layout not in ("scores", "judges"):
        return None
    names = (options.get("items") or reading.columns) if reading.layout == "scores" else reading.columns[1:]
    values = np.array([score_column(table, name, options.get("missing_values", MISSING), np.nan) for name in names])
    values = values.T if reading.layout == "scores" else values
    return values[kept] if values.shape == shape else None


def scale_notes(table: Table, reading: Reading) -> tuple[str, ...]:
    """A note where columns of scores are on different scales: all numbers of some are beyond all of the others."""
    names = reading.columns if reading.layout == "scores" else reading.columns[1:]
    rows = _rows_on_other_scales(table, names) if reading.layout == "scores" else ()
    known = {
        name: values for name in names if (values := table.values(name)) is not None and not np.isnan(values).all()
    }
    ranges = {name: (float(np.nanmin(values)), float(np.nanmax(values))) for name, values in known.items()}
    tops = {name: next((top for top in _SCALES if most <= top), np.inf) for name, (_, most) in ranges.items()}
    low = [name for name in ranges if tops[name] == min(tops.values())]
    most = max((ranges[name][1] for name in low), default=np.inf)
    high = [name for name in ranges if name not in low and ranges[name][0] > most]
    if not high:
        return rows

    def held(group: list[str]) -> str:
        bounds = [bound for name in group for bound in ranges[name]]
        return f"{listed(group)} {'hold' if len(group) > 1 else 'holds'} {min(bounds):g} to {max(bounds):g}"

    which = "the higher scale always wins" if reading.layout == "scores" else "the places are right, but sums are not"
    return (f"The scales may differ: {held(high)}, but {held(low)}. If so, {which}.", *rows)


def _rows_on_other_scales(table: Table, names: Sequence[str]) -> tuple[str, ...]:
    """A note where some people scored on another scale than most: all their numbers are beyond all of the others."""
    values = signed_numbers(table, names)
    if values is None or len(values) < _FEWEST_ROWS:
        return ()
    given = values[~np.isnan(values).all(axis=1)]
    most, least = np.nanmax(given, axis=1), np.nanmin(given, axis=1)
    scales = np.searchsorted(_SCALES, most)
    usual = scales == np.bincount(scales).argmax()
    if usual.all() or np.mean(usual) <= 0.5:
        return ()
    odd = ~usual & ((least > most[usual].max()) | (most < least[usual].min()))
    if not odd.any():
        return ()
    lines = np.asarray(table.lines)[~np.isnan(values).all(axis=1)][odd]
    where = f"line {', '.join(map(str, lines[:8]))}{', ...' if len(lines) > 8 else ''}"
    bounds = (
        f"{least[odd].min():g} to {most[odd].max():g}, but most rows {least[usual].min():g} to {most[usual].max():g}"
    )
    return (
        f"The scales may differ: {where} holds {bounds}. If so, the places are right, but means of scores are not.",
    )


def repeats_cells(table: Table, name: str) -> bool:
    """Whether a column repeats its cells, as places and items do; ids and measurements are costly to look at."""
    return not isinstance(table.columns[table.index(name)], LongColumn)


def place_meanings(table: Table, cells: Iterable[str]) -> dict[str, float | None]:
    """The place that each of the different cells says, as a number or in words; None where it says none."""
    meaning = numbers_of(cells, comma_is_free=table.comma_is_free)
    words = {cell: np.inf if cell == "inf" else place_in_words(cell) for cell, at in meaning.items() if at is None}
    return {**meaning, **words}


def ranking_numbers(table: Table, names: Sequence[str]) -> FloatArray | None:
    """The numbers in the columns, NaN where blank or 0 (often written for "not ranked"); None if there are others.

    The table keeps the last matrix, because finders, check and reader look at the same columns one after the other.
    """
    if tuple(names) in table.places:
        return table.places[tuple(names)]
    columns: list[tuple[FloatArray, npt.NDArray[np.int32] | None]] = []
    for name in names:
        if not repeats_cells(table, name):
            numbers = table.values(name)
            if numbers is None or (numbers < 0).any():
                return None
            columns.append((np.where(numbers == 0, np.nan, numbers), None))
            continue
        distinct, codes = table.coded(name)
        meaning = place_meanings(table, set(distinct).difference(MISSING))
        if any(value is None or value < 0 for value in meaning.values()):
            return None
        columns.append((np.array([meaning.get(cell) or np.nan for cell in distinct]), codes))
    values = read_only(_side_by_side(len(table), columns))
    table.places.clear()
    table.places[tuple(names)] = values
    return values


def signed_numbers(table: Table, names: Sequence[str]) -> FloatArray | None:
    """The numbers in the columns, NaN where blank; None if other cells are among them."""
    columns = [table.values(name) for name in names]
    return None if any(column is None for column in columns) else np.column_stack(columns)  # type: ignore[arg-type]


def looks_like_codes(values: FloatArray | None) -> bool:
    """Whether every row holds whole numbers that differ: a ranking without ties, or a list of item numbers."""
    if values is None:
        return False
    ordered = np.sort(values, axis=1)
    found = values[~np.isnan(values)]
    return bool(found.size and np.all(found == np.round(found)) and not np.any(ordered[:, 1:] == ordered[:, :-1]))


def cell_counts(table: Table, names: Iterable[str]) -> Counter[str]:
    """How often each cell stands in the columns, blanks aside."""
    counts: Counter[str] = Counter()
    for distinct, codes in map(table.coded, names):
        counts.update(dict(zip(distinct, np.bincount(codes, minlength=len(distinct)).tolist(), strict=True)))
    for blank in MISSING:
        del counts[blank]
    return counts


def mostly_numbers(table: Table, names: Sequence[str]) -> bool:
    """Whether at least half of the cells are numbers or places in words, blanks aside."""
    long = [name for name in names if not repeats_cells(table, name)]
    if long:  # all cells or hardly any
        return all(map(table.is_numeric, long))
    counts = cell_counts(table, names)
    meaning = place_meanings(table, counts)
    return 2 * sum(counts[cell] for cell in counts if meaning[cell] is not None) >= counts.total()


def list_items(table: Table, names: Sequence[str], least_sharing: int) -> bool:
    """Whether the columns list items: few are numbers, none is twice in a row, and enough columns share some.

    Items in the header mean that there is no header: the first line is a ranking itself.
    """
    if not all(repeats_cells(table, name) for name in names) or mostly_numbers(table, names):
        return False
    if repeated_names(table, names).size:
        return False
    vocabularies = [set(table.coded(name)[0]).difference(MISSING) for name in names]
    columns_of = Counter(item for vocabulary in vocabularies for item in vocabulary)
    empty = sum(not vocabulary for vocabulary in vocabularies)
    sharing = sum(any(columns_of[item] > 1 for item in vocabulary) for vocabulary in vocabularies)
    return sharing >= least_sharing - empty and columns_of.keys().isdisjoint(names)


def repeated_names(table: Table, names: Sequence[str], blanks: Collection[str] = MISSING) -> np.ndarray:
    """The rows in which a cell stands twice among the columns, blanks aside."""
    rows = np.empty((len(table), len(names)), dtype=np.int32)
    code_of = dict.fromkeys(blanks, -1)
    for at, (distinct, codes) in enumerate(map(table.coded, names)):
        rows[:, at] = np.array([code_of.setdefault(cell, len(code_of)) for cell in distinct], dtype=np.int32)[codes]
    rows.sort(axis=1)
    return np.flatnonzero(((rows[:, 1:] == rows[:, :-1]) & (rows[:, 1:] >= 0)).any(axis=1))


def cure_for_position(cell: str, value: float | None) -> str:
    """What to do about a cell that is not a position; ``value`` is the number it holds, if any."""
    if value is None:
        return f"Positions are numbers, 1 = best. If it says 'not ranked', give missing_values=[{cell!r}]."
    if value == 0:
        not_ranked = f"if {cell} says 'not ranked', give missing_values=[{cell!r}]"
        return f"Positions count from 1: if these count from 0, add 1 to all; {not_ranked}."
    return "Positions count from 1 (1 = best)."
