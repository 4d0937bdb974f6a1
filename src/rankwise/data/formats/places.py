"""Numbers that may be places: which rows are rankings, whether scores may be meant, which columns hold rankings.

A row is a ranking if its numbers are 1 to k, each once; or if ties share the lowest, the mean, the highest or the next
place (1, 2, 2, 4 / 1, 2.5, 2.5, 4 / 1, 3, 3, 4 / 1, 2, 2, 3), the same way in all rows of the file. The finders of
layouts and the check of impossible places use it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from rankwise._typing import BoolArray, FloatArray
from rankwise._validation import read_only

# What a row of numbers is.
EMPTY, PLAIN, TIED, SKIPPED, GAP, BEYOND, FRACTION = range(7)
#: rows that no person who ranks would write, with the words for them
IMPOSSIBLE = {
    GAP: "a place is shared and others are skipped",
    BEYOND: "a place is beyond the number of items",
    FRACTION: "places have fractions, without ties",
}
#: an item that is not ranked is at times given a place far below the last
PLACES_PER_ITEM = 2

# Cells handled at a time, so that temporary arrays stay small.
_BLOCK_CELLS = 1 << 17
_MOST_BITS = 62
# Below this share of rows that are rankings, the numbers are taken for something else.
_LEAST_RANKINGS = 2 / 3
# Where columns hold some of the items ranked: how many rows reach beyond the columns, and how many have no ties.
_LEAST_BEYOND, _LEAST_DISTINCT = 0.05, 0.95
_MORE_ITEMS = 3
_LEAST_MIXED = 1 / 4
# Numbers of points that scales of ratings have.
_SCALES = (2, 3, 4, 5, 6, 7, 10, 11)
_SAMPLED_ROWS = 200
_MOST_WINDOWED = 60
# A window of columns must be this unlikely by chance where other columns hold numbers too.
_CHANCE = 1e-3
# From here on the start of a compiled loop pays.
_WORTH_COMPILED = 1 << 21


@dataclass(frozen=True)
class Rows:
    """What each row is (``kinds``).

    ``parked`` is the one number beyond the last place that stands for "not ranked", if any; ``n_ranked`` the number of
    items that people ranked, where the columns are only some of them.
    """

    kinds: npt.NDArray[np.int8]
    parked: float | None = None
    n_ranked: int | None = None

    def share(self) -> float:
        """The share of rows that are rankings, among those that are not empty."""
        ranked = np.count_nonzero(self.kinds != EMPTY)
        return float(np.count_nonzero((self.kinds >= PLAIN) & (self.kinds <= SKIPPED)) / ranked) if ranked else 1.0


def classify(values: FloatArray, *, named_places: bool = False) -> Rows:
    """What the rows of numbers are, blanks being NaN and unlisted items inf.

    Parameters
    ----------
    values : ndarray of shape (n_rows, n_items)
        Numbers, all positive.
    named_places : bool, default=False
        Whether the names of the columns say that these are places. Then places somewhat beyond the number of columns
        are those of some of the items ranked, if hardly any row holds one twice: the others have no column.

    Returns
    -------
    Rows
    """
    kinds = _kinds(values)
    if (kinds == PLAIN).all():
        return Rows(kinds)
    beyond = np.unique(values[(values > values.shape[1]) & (values < np.inf)])
    whole = len(beyond) == 1 and beyond[0] == np.round(beyond[0]) and beyond[0] <= PLACES_PER_ITEM * values.shape[1]
    # A slip stands once in a row; a number for "not ranked" stands several times in some.
    if whole and np.count_nonzero(values == beyond[0], axis=1).max() > 1:
        without = np.where(values == beyond[0], np.nan, values)
        rows = Rows(_kinds(without), float(beyond[0]))
        emptied = (rows.kinds == EMPTY) & ~np.isnan(values).all(axis=1)
        if rows.share() >= _LEAST_RANKINGS and not emptied.any():
            return rows
    return _some_of_more(values, kinds) if named_places and len(beyond) else Rows(kinds)


def _some_of_more(values: FloatArray, kinds: npt.NDArray[np.int8]) -> Rows:
    """The rows where columns may hold only some of the items that people ranked, so that places go beyond them."""
    n_items = values.shape[1]
    most = max(n_items + _MORE_ITEMS, PLACES_PER_ITEM * n_items)
    reached = float(np.max(values, where=values < np.inf, initial=0))
    _, distinct, whole, _, _ = _details(values)
    skipping = (kinds == BEYOND) & distinct & whole
    n_filled = np.count_nonzero(kinds != EMPTY)
    are_few = np.count_nonzero(skipping) < max(2, _LEAST_BEYOND * n_filled)  # a slip or two
    if n_items < 2 or reached > most or are_few or np.mean(distinct & whole) < _LEAST_DISTINCT:
        return Rows(kinds)
    return Rows(np.where(skipping, np.int8(SKIPPED), kinds), n_ranked=int(reached))


def doubt(values: FloatArray, rows: Rows, *, named_places: bool = False) -> str | None:
    """Why numbers may be scores rather than places, or None if they are plainly places.

    Parameters
    ----------
    values : ndarray of shape (n_rows, n_items)
        Numbers, NaN where blank; 0 and negative ones count as they are.
    rows : Rows
        What `classify` makes of them.
    named_places : bool, default=False
        Whether the names of the columns say that these are places.

    Returns
    -------
    str or None
    """
    n_items = values.shape[1]
    if rows.share() >= _LEAST_RANKINGS:
        if not any(np.any(part == 1) for part in (values[:_SAMPLED_ROWS], values)):
            return "no row holds a 1" if np.any(values < np.inf) else None
        parked = 0 if rows.parked is None else np.count_nonzero((values == rows.parked).any(axis=1))
        if 2 * parked > len(values) and not named_places:
            return f"{parked:,} of {len(values):,} rows hold {rows.parked:g}, but there are {n_items} items"
        if named_places or rows.parked is not None or np.mean(rows.kinds == TIED) <= 0.5:
            return None
        found = np.unique(values[values < np.inf])
        on_scale = len(found) <= n_items // 2 and len(found) in _SCALES
        return f"{n_items} items share the values {found[0]:g} to {found[-1]:g}, as on a scale" if on_scale else None
    found = np.unique(values[values < np.inf])
    if found[0] < 0:
        return f"the values go down to {found[0]:g}"
    if found[-1] > n_items and rows.share() >= _LEAST_MIXED:
        ranked = np.count_nonzero(rows.kinds == PLAIN)
        return f"{ranked} of {len(values)} rows are rankings, but others reach {found[-1]:g}: scales may be mixed"
    if found[-1] > n_items:
        return f"the values reach {found[-1]:g}, but there are {n_items} items"
    if np.any(found != np.round(found)):
        return "the values have fractions"
    if 1 not in found:
        return "no row holds a 1"
    return f"only {np.count_nonzero(rows.kinds <= SKIPPED)} of {len(values)} rows are rankings of {n_items} items"


def first_dense_tie(values: FloatArray, rows: Rows) -> int | None:
    """The first row with a tie where nothing shows that numbers are places rather than ratings; None if there is none.

    Ties that skip places (1, 1, 3), and rows that leave items blank and yet count from 1 (1, 2, -), show places: chance
    would not bring ratings to that.
    """
    tied = np.flatnonzero(rows.kinds == TIED)
    if not len(tied) or not _details(values[tied])[4][:, -1].all():
        return None
    given = np.count_nonzero(values < np.inf, axis=1)
    counts_on = (rows.kinds == PLAIN) & (given > 1) & (given < values.shape[1])
    return None if counts_on.any() else int(tied[0])


def windows(values: FloatArray, *, alone: bool) -> tuple[list[slice], bool]:
    """Runs of adjacent columns in which every row is a ranking, and whether there is no doubt about them.

    Parameters
    ----------
    values : ndarray of shape (n_rows, n_columns)
        Columns of positive numbers, NaN where blank.
    alone : bool
        Whether no other column of the table holds numbers. If not, a window must be more than chance.

    Returns
    -------
    windows : list of slice
        The widest ones, none inside another.
    sure : bool
    """
    width = values.shape[1]
    sample = values[:: max(1, len(values) // _SAMPLED_ROWS)]
    for ties in (False, True):
        found = [window for window in _candidates(values) if _all_rank(sample[:, window], ties=ties)]
        found = [window for window in found if _all_rank(values[:, window], ties=ties)]
        widest = [one for one in found if not any(_inside(one, other) for other in found if other != one)]
        if not widest:
            continue
        if alone and widest == [slice(0, width)]:
            return widest, True
        # Places with ties hide a covariate easily: what remains without it is a ranking too.
        sure = len(found) == len(widest) if ties else True
        return widest, sure and all(_beats_chance(values[:, window], ties=ties) for window in widest)
    return [], False


def _kinds(values: FloatArray) -> npt.NDArray[np.int8]:
    n, k = values.shape
    kinds = np.full(n, PLAIN, dtype=np.int8)
    left = np.flatnonzero(~_are_plain(values)) if k <= _MOST_BITS else np.arange(n)
    size = max(1, _BLOCK_CELLS // max(k, 1))
    details = [_details(values[left[start : start + size]]) for start in range(0, len(left), size)]
    if not details:
        return kinds
    empty, distinct, whole, fits, ties = (np.concatenate(part) for part in zip(*details, strict=True))
    convention = int(np.argmax(np.count_nonzero(ties & ~distinct[:, None], axis=0)))
    regular = ties[:, convention]
    kinds[left] = np.select(
        [empty, distinct & ties.any(axis=1), regular, ~fits, ~whole, distinct],
        [EMPTY, PLAIN, TIED, BEYOND, FRACTION, SKIPPED],
        default=GAP,
    )
    return kinds


def _are_plain(values: FloatArray) -> BoolArray:
    """Whether the numbers of a row are 1 to k, each once: as bits, k of them fill the lowest k."""
    n, k = values.shape
    if values.size >= _WORTH_COMPILED:
        from rankwise.data.formats import places_jit

        return np.asarray(places_jit.are_plain(read_only(values)))
    bits, present = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64)
    for column in values.T:
        is_place = (column >= 1) & (column <= k) & (column == np.floor(column))
        given = ~np.isnan(column)
        # Any number that is not a place sets a bit that no row of k places has.
        place = np.where(is_place, column, _MOST_BITS + 1).astype(np.int64)
        bits |= np.where(given, np.left_shift(1, place - 1), 0)
        present += given
    return np.asarray((bits == np.left_shift(1, present) - 1) & (present > 0))


def _details(values: FloatArray) -> tuple[BoolArray, BoolArray, BoolArray, BoolArray, BoolArray]:
    """Of each row: is it empty, without ties, whole, within the number of items; and the ways of its ties."""
    n, k = values.shape
    ordered = np.sort(np.where(np.isinf(values), np.nan, values), axis=1)
    absent = np.isnan(ordered)
    place = np.broadcast_to(np.arange(1.0, k + 1), (n, k))
    change = np.ones((n, k + 1), dtype=bool)
    change[:, 1:k] = ordered[:, 1:] != ordered[:, :-1]
    lowest = np.maximum.accumulate(np.where(change[:, :k], place, 0), axis=1)
    highest = np.minimum.accumulate(np.where(change[:, 1:], place, k)[:, ::-1], axis=1)[:, ::-1]
    ways = (lowest, (lowest + highest) / 2, highest, np.cumsum(change[:, :k], axis=1))
    ties = np.stack([np.all((ordered == way) | absent, axis=1) for way in ways], axis=1)
    distinct = np.all(change[:, :k] | absent, axis=1)
    whole = np.all((ordered == np.round(ordered)) | absent, axis=1)
    return absent.all(axis=1), distinct, whole, np.all((ordered <= k) | absent, axis=1), ties


def _candidates(values: FloatArray) -> Iterator[slice]:
    """Windows of at least two columns whose numbers reach from 1 to at most their count; of many, the outer ones."""
    width = values.shape[1]
    finite = np.isfinite(values)
    most = np.where(finite, values, 0).max(axis=0, initial=0)
    least = np.where(finite, values, np.inf).min(axis=0, initial=np.inf)
    for start in range(width):
        stops = range(start + 2, width + 1) if start == 0 or width <= _MOST_WINDOWED else [width]
        for stop in stops:
            high, low = most[start:stop].max(initial=0), least[start:stop].min(initial=np.inf)
            # A blank column belongs to a ranking between others only.
            if stop - start > 1 and 1 < high <= stop - start and low == 1 and most[start] and most[stop - 1]:
                yield slice(start, stop)


def _all_rank(values: FloatArray, *, ties: bool) -> bool:
    kinds = _kinds(values)
    allowed = (EMPTY, PLAIN, TIED, SKIPPED) if ties else (EMPTY, PLAIN, SKIPPED)
    return bool(np.isin(kinds, allowed).all() and np.mean(np.isin(kinds, (SKIPPED, EMPTY))) <= 1 - _LEAST_RANKINGS)


def _inside(one: slice, other: slice) -> bool:
    return other.start <= one.start and one.stop <= other.stop


def _beats_chance(values: FloatArray, *, ties: bool) -> bool:
    """Whether as many rankings in rows are unlikely if the columns had nothing to do with each other."""
    sample = values[:: max(1, len(values) // _SAMPLED_ROWS)]
    shifted = np.column_stack([np.roll(column, at) for at, column in enumerate(sample.T)])
    kinds = _kinds(shifted)
    ranked = np.count_nonzero(np.isin(kinds, (PLAIN, TIED, SKIPPED) if ties else (PLAIN, SKIPPED)))
    # By the rule of succession, so that few rows do not show that rankings are impossible.
    share = (ranked + 1) / (len(sample) + 2)
    return bool(share ** len(sample) < _CHANCE)


def adjacent_runs(are_candidates: list[bool]) -> list[slice]:
    """The runs of columns that are candidates, side by side."""
    edges = np.flatnonzero(np.diff([False, *are_candidates, False]))
    return [slice(int(start), int(stop)) for start, stop in list(pairwise(edges))[::2]]
