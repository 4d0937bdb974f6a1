"""Positions: the one representation of rankings, the check that all ranking data pass, and what derives from them.

``positions[r, i]`` is the place of item ``i`` in ranking ``r``: 1 is best, equal places are ties, ``+inf`` is
unlisted (below every listed item, order unknown), ``NaN`` is missing (never compared). With this,
``positions[r, a] < positions[r, b]`` *is* "a before b" for every kind of ranking.

Every package that takes rankings calls `check_positions`; `Rankings` is built on this module.
"""

from __future__ import annotations

import warnings
from typing import Literal

import numpy as np

from rankwise._typing import ArrayLike, BoolArray, FloatArray
from rankwise._validation import numeric_matrix, read_only

Unlisted = Literal["below", "missing"]

# Cells handled at a time: temporary arrays of 1 MiB stay in the cache of a core. The loops do not use
# gen_batches, because reading rankings should not wait for the import of scikit-learn.
_BLOCK_CELLS = 1 << 17
# From here on the start of a compiled loop pays; it marks places as bits.
_WORTH_COMPILED = 1 << 22
_MOST_BITS = 62


class CheckedPositions:
    """Base of `Rankings`, by which this module recognizes positions that have been checked already."""

    positions: FloatArray


def own_positions(matrix: FloatArray) -> CheckedPositions:
    """Checked positions in a matrix that nobody will write to, so that `Rankings` need not copy it."""
    own = CheckedPositions()
    own.positions = check_positions(matrix)
    return own


def check_positions(positions: ArrayLike, *, name: str = "positions", strict: bool = True) -> FloatArray:
    """Validate rankings given as positions: the one door for ranking data.

    Only the order of the values in a row counts, so competition ranks (1, 2, 2, 4), mid-ranks (1, 2.5, 2.5, 4)
    and gaps (1, 3, 7) are all welcome; what comes back is dense (1, 2, 2, 3).

    Parameters
    ----------
    positions : array-like of shape (n_rankings, n_items) or Rankings
        Column = item, value = its place, 1 = best. ``+inf`` is unlisted, ``NaN`` (or None) is missing.
    name : str, default="positions"
        What error messages call the argument.
    strict : bool, default=True
        Whether a value below 1 is an error; else only values of 0 or less raise a warning (estimators look at the
        order alone).

    Returns
    -------
    ndarray of shape (n_rankings, n_items), float64
        Dense positions, C-contiguous and read-only; a view of the input where that already is all this.

    Examples
    --------
    >>> from rankwise.data import check_positions
    >>> check_positions([[1, 2, 2, 4], [2, 1, float("nan"), float("inf")]])
    array([[ 1.,  2.,  2.,  3.],
           [ 2.,  1., nan, inf]])
    """
    if isinstance(positions, CheckedPositions):
        return positions.positions
    matrix = numeric_matrix(positions, name)
    dense = dense_positions(matrix)
    if dense is matrix:
        return read_only(matrix)
    # Places count from 1 in every convention; a value between 0 and 1 is a probability or another score.
    too_small = matrix < 1 if strict else matrix <= 0
    if too_small.any():
        row, column = np.argwhere(too_small)[0]
        if np.isneginf(matrix).any():
            row, column = np.argwhere(np.isneginf(matrix))[0]
            raise ValueError(
                f"{name}[{row}, {column}] is -inf, which is not a position; unlisted items are +inf. "
                "If the values are scores (higher = better), use positions_from_scores"
            )
        message = (
            f"{name}[{row}, {column}] is {matrix[row, column]:g}, but positions count from 1 (1 = best). "
            "If the rows list item ids from best to worst, use positions_from_orders; "
            "if they are scores (higher = better), positions_from_scores; if they count from 0, add 1; "
            "if only their order matters (predicted positions, say), dense_positions"
        )
        if strict:
            raise ValueError(message)
        warnings.warn(message + ". Only the order of the values was used.", UserWarning, stacklevel=3)
    return read_only(dense)


def dense_positions(values: ArrayLike) -> FloatArray:
    """Replace each row by its dense ranks: the smallest value becomes 1, the next 2; equal values share a place.

    Parameters
    ----------
    values : array-like of shape (n_rankings, n_items)
        Smaller is better. ``+inf`` (unlisted) and ``NaN`` (missing) stay as they are.

    Returns
    -------
    ndarray of shape (n_rankings, n_items), float64
        Dense positions. Applying the function twice changes nothing.

    Examples
    --------
    >>> from rankwise.data import dense_positions
    >>> dense_positions([[10, 30, 30, 70]])
    array([[1., 2., 2., 3.]])
    """
    matrix = numeric_matrix(values, "values")
    if matrix.size >= _WORTH_COMPILED and matrix.shape[1] <= _MOST_BITS:
        from rankwise.data import positions_jit

        if positions_jit.are_dense(read_only(matrix)):
            return matrix
    result = matrix
    step = max(1, _BLOCK_CELLS // matrix.shape[1])
    for start in range(0, len(matrix), step):
        rows = slice(start, start + step)
        block = matrix[rows]
        # Dense already if sorted rows start at 1 and climb by 0 or 1; infinity and NaN sort last and are free.
        ordered = np.sort(block, axis=1)
        first, later = ordered[:, 0], ordered[:, 1:]
        with np.errstate(invalid="ignore"):  # inf - inf
            climb = later - ordered[:, :-1]
        if np.all((first == 1) | ~(first < np.inf)) and np.all((climb == 0) | (climb == 1) | ~np.isfinite(later)):
            continue
        if result is matrix:
            result = matrix.copy()
        order = np.argsort(block, axis=1, kind="stable")
        ordered = np.take_along_axis(block, order, axis=1)
        dense = np.ones_like(ordered)
        np.cumsum(ordered[:, 1:] > ordered[:, :-1], axis=1, out=dense[:, 1:])
        dense[:, 1:] += 1
        dense = np.where(ordered < np.inf, dense, ordered)
        np.put_along_axis(result[rows], order, dense, axis=1)
    return result


def midranks(positions: ArrayLike) -> FloatArray:
    """Average ranks: tied items share the mean of the places they fill.

    Unlisted items share the places below the listed ones; missing items stay ``NaN`` and take no place.

    Parameters
    ----------
    positions : array-like of shape (n_rankings, n_items) or Rankings
        Column = item, 1 = best.

    Returns
    -------
    ndarray of shape (n_rankings, n_items), float64

    Examples
    --------
    >>> from rankwise.data import midranks
    >>> midranks([[1, 2, 2, 3], [1, float("inf"), float("inf"), float("nan")]])
    array([[1. , 2.5, 2.5, 4. ],
           [1. , 2.5, 2.5, nan]])
    """
    matrix = check_positions(positions)
    if matrix.size >= _WORTH_COMPILED // 4:
        from rankwise.data import positions_jit

        return np.asarray(positions_jit.midranks(matrix))
    result = np.empty_like(matrix)
    step = max(1, _BLOCK_CELLS // matrix.shape[1])
    for start in range(0, len(matrix), step):
        rows = slice(start, start + step)
        block = matrix[rows]
        order = np.argsort(block, axis=1, kind="stable")
        ordered = np.take_along_axis(block, order, axis=1)
        n, k = ordered.shape
        place = np.broadcast_to(np.arange(1.0, k + 1), (n, k))
        starts = np.ones((n, k + 1), dtype=bool)
        starts[:, 1:k] = ordered[:, 1:] != ordered[:, :-1]  # NaN != NaN, harmless: they are blanked below
        first = np.maximum.accumulate(np.where(starts[:, :k], place, 0), axis=1)
        last = np.minimum.accumulate(np.where(starts[:, 1:], place, k)[:, ::-1], axis=1)[:, ::-1]
        shared = np.where(np.isnan(ordered), np.nan, (first + last) / 2)
        np.put_along_axis(result[rows], order, shared, axis=1)
    return result


def reverse(positions: ArrayLike) -> FloatArray:
    """Turn every ranking upside down: a before b becomes b before a.

    Unlisted items, which were below all others, come first and share place 1 (positions cannot say "above,
    order unknown"). Missing items stay missing.

    Parameters
    ----------
    positions : array-like of shape (n_rankings, n_items) or Rankings
        Column = item, 1 = best.

    Returns
    -------
    ndarray of shape (n_rankings, n_items), float64

    Examples
    --------
    >>> from rankwise.data import reverse
    >>> reverse([[1, 2, 3], [1, 2, float("inf")]])
    array([[3., 2., 1.],
           [3., 2., 1.]])
    """
    matrix = check_positions(positions)
    return dense_positions(-np.where(np.isposinf(matrix), matrix.shape[1] + 1.0, matrix))


def positions_from_scores(scores: ArrayLike) -> FloatArray:
    """Rank items by score: the highest score gets position 1, equal scores tie.

    Parameters
    ----------
    scores : array-like of shape (n_rankings, n_items)
        Higher is better; ``-inf`` is unlisted, ``NaN`` is missing.

    Returns
    -------
    ndarray of shape (n_rankings, n_items), float64

    Examples
    --------
    >>> from rankwise.data import positions_from_scores
    >>> positions_from_scores([[0.1, 0.9, 0.5], [3, 3, -float("inf")]])
    array([[ 3.,  1.,  2.],
           [ 1.,  1., inf]])
    """
    refuse_rankings(scores, "scores")
    matrix = numeric_matrix(scores, "scores")
    best = np.isposinf(matrix)
    if best.any():
        row, column = np.argwhere(best)[0]
        raise ValueError(
            f"scores[{row}, {column}] is +inf; scores are finite, -inf (unlisted) or NaN (missing). "
            "If the values are positions (1 = best), they need no conversion"
        )
    return dense_positions(-matrix)


def refuse_rankings(values: ArrayLike, name: str) -> None:
    """Raise if ``values`` is a Rankings: its positions, read as anything else, would silently mean another ranking."""
    if isinstance(values, CheckedPositions):
        raise TypeError(f"{name} is a Rankings, which holds positions (1 = best) already; it needs no conversion")


def compare_positions(first: FloatArray, second: FloatArray) -> FloatArray:
    """Which of two items comes first, element by element: the coordinates of the Kemeny embedding.

    Returns
    -------
    ndarray
        1 where the first item comes before the second, 0 where it comes after, 1/2 where the two tie, and NaN where the
        ranking does not compare them (an item is missing, or neither is listed).
    """
    compared = np.where(first < second, 1.0, np.nan)
    compared[first > second] = 0.0
    compared[(first == second) & (first < np.inf)] = 0.5
    return compared


def has_ties(positions: FloatArray) -> BoolArray:
    """Whether each row gives two listed items the same place (positions as `check_positions` returns them)."""
    ordered = np.sort(positions, axis=1)
    return np.any((ordered[:, 1:] == ordered[:, :-1]) & np.isfinite(ordered[:, 1:]), axis=1)


def blank_for(unlisted: str) -> float:
    """The position of an item that a ranking does not list: infinity (below) or NaN (missing)."""
    if unlisted == "below":
        return np.inf
    if unlisted == "missing":
        return np.nan
    raise ValueError(f"unlisted is {unlisted!r}; choose 'below' (top-k) or 'missing' (never compared)")
