"""Preferences pair by pair: who wins against whom, and how many rankings say so."""

from __future__ import annotations

import warnings
from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np

from rankwise._typing import ArrayLike, BoolArray, FloatArray, IntArray
from rankwise._validation import item_names, shortlist
from rankwise.data import Rankings
from rankwise.data import pairs_jit as _data_jit

# Sums of floating-point weights do not tell two sides of a pair apart that are closer than this share of them.
_EVEN = 1e-12
_SHOWN_GROUPS = 3


@dataclass(frozen=True, eq=False)
class PreferenceMatrix:
    """Pairwise preferences of many rankings; made by `preference_matrix`.

    Attributes
    ----------
    wins : ndarray of shape (n_items, n_items)
        Weight of the rankings with row item before column item.
    ties : ndarray of shape (n_items, n_items)
        Weight of the rankings that list both at the same place; symmetric, zero diagonal.
    items : tuple
        Names of the items.
    counts : ndarray of shape (n_items, n_items)
        Weight of the rankings that say anything of a pair; symmetric.
    probabilities : ndarray of shape (n_items, n_items)
        Share of these with row item before column item, ties counted half; NaN where nobody compared the two.
    n_items : int
        Number of items.
    """

    wins: FloatArray
    ties: FloatArray
    items: tuple[Hashable, ...]

    @property
    def counts(self) -> FloatArray:
        """Weight of the rankings that say anything of the pair: which comes first, or that they tie."""
        return self.wins + self.wins.T + self.ties

    @property
    def probabilities(self) -> FloatArray:
        """Share of those rankings with i before j, ties counted half: p_ij + p_ji = 1; NaN where there is none."""
        counts = self.counts
        shares = np.full_like(counts, np.nan)
        np.divide(self.wins + self.ties / 2, counts, out=shares, where=counts > 0)
        np.fill_diagonal(shares, 0.5)
        return shares

    @property
    def n_items(self) -> int:
        """Number of items."""
        return len(self.wins)


def preference_matrix(rankings: ArrayLike, weights: ArrayLike | None = None) -> PreferenceMatrix:
    """Count, for every pair of items, the rankings that put one before the other.

    Parameters
    ----------
    rankings : array-like of shape (n_rankings, n_items) or Rankings
        Positions, 1 = best, of any kind. A pair counts where a ranking orders or ties it: not where an item is
        missing, nor where both are unlisted.
    weights : array-like of shape (n_rankings,), optional
        How often each ranking counts; by default the weights of the Rankings, else ones.

    Returns
    -------
    PreferenceMatrix

    Examples
    --------
    >>> from rankwise.aggregation import preference_matrix
    >>> matrix = preference_matrix([[1, 2, 3], [2, 1, float("nan")]])
    >>> matrix.wins
    array([[0., 1., 1.],
           [1., 0., 1.],
           [0., 0., 0.]])
    >>> matrix.probabilities
    array([[0.5, 0.5, 1. ],
           [0.5, 0.5, 1. ],
           [0. , 0. , 0.5]])
    """
    source = Rankings(rankings, weights=weights)
    wins = source.pair_counts()
    # Only pairs that are neither won nor lost in some ranking that has both can be tied there.
    ties = _data_jit.pair_ties(source.positions, source.weights)
    return _with_finite_sum(PreferenceMatrix(wins, ties, source.items))


def as_preference_matrix(rankings_or_matrix: ArrayLike) -> PreferenceMatrix:
    """Take rankings, a `PreferenceMatrix`, or a square array of pairwise weights for what it is.

    A square array is a matrix of pairs if its diagonal lies below 1, where positions cannot lie; its diagonal is
    otherwise ignored, and NaN (a pair that nobody compared) counts as 0. A diagonal of NaN alone has two readings and
    is refused, and so are places beyond the last, which look like counts.
    """
    if isinstance(rankings_or_matrix, PreferenceMatrix):
        return rankings_or_matrix
    array = square_array(rankings_or_matrix)
    if array is None:
        return preference_matrix(rankings_or_matrix)
    diagonal = np.diag(array)
    if np.isnan(diagonal).all() and len(array) > 1:
        raise ValueError(
            "a square array with nothing on its diagonal may be positions with missing items or a matrix of "
            "pairs; put 0 on the diagonal of a matrix, or wrap positions in Rankings(...)"
        )
    if not np.any(diagonal >= 1):
        names = item_names(rankings_or_matrix)
        return _from_square(array, tuple(range(len(array)) if names is None else names))
    beyond = np.isfinite(array) & (array > len(array))
    if beyond.any():
        i, j = np.argwhere(beyond)[0]
        raise ValueError(
            f"entry [{i}, {j}] of a square array is {array[i, j]:g}, a place that {len(array)} items do not have; put "
            "0 on the diagonal of a matrix of pairs, or wrap positions in Rankings(...)"
        )
    return preference_matrix(rankings_or_matrix)


def square_array(values: ArrayLike) -> FloatArray | None:
    """What may be a matrix of pairs as an array of floats; None for rankings, and for all that is not square."""
    if isinstance(values, Rankings | PreferenceMatrix):
        return None
    try:
        array = np.asarray(values)
    except ValueError:  # rows of different lengths
        return None
    square = array.ndim == 2 and array.shape[0] == array.shape[1] and len(array) > 0
    return array.astype(np.float64) if square and array.dtype.kind in "biuf" else None


def majority(weight: FloatArray) -> BoolArray:
    """Whether i wins against j."""
    return weight - weight.T > _EVEN * (weight + weight.T)


def check_comparisons(matrix: PreferenceMatrix) -> None:
    """Refuse items of which no ranking says anything."""
    if matrix.n_items < 2:
        return
    silent = ~np.any(matrix.counts > 0, axis=1)
    if silent.any():
        name = matrix.items[int(np.argmax(silent))]
        raise ValueError(
            f"no ranking compares item {name!r} with another, so it has no place in a consensus; "
            "keep the other items with Rankings.select([...]), or add rankings that hold it"
        )


def warn_of_groups(matrix: PreferenceMatrix) -> None:
    """Warn of groups of items that no ranking compares with each other: nothing says how they go together."""
    groups = _connected_groups(matrix.counts > 0)
    if len(groups) > 1:
        shown = "; ".join(shortlist([matrix.items[i] for i in group]) for group in groups[:_SHOWN_GROUPS])
        shown += "; ..." if len(groups) > _SHOWN_GROUPS else ""
        warnings.warn(
            f"no ranking compares these {len(groups)} groups of items with each other: {shown}. Their order in a "
            "consensus means nothing; order each group for itself with Rankings.select([...]), or add rankings that "
            "compare them",
            UserWarning,
            stacklevel=3,
        )


def _connected_groups(compared: BoolArray) -> list[IntArray]:
    """Items by connected component of a symmetric graph."""
    groups: list[IntArray] = []
    left = np.ones(len(compared), dtype=bool)
    while left.any():
        reached = np.zeros_like(left)
        newly = np.zeros_like(left)
        newly[np.argmax(left)] = True
        while newly.any():
            reached |= newly
            newly = compared[newly].any(axis=0) & ~reached
        groups.append(np.flatnonzero(reached))
        left &= ~reached
    return groups


def _from_square(matrix: FloatArray, items: tuple[Hashable, ...]) -> PreferenceMatrix:
    unknown = np.isnan(matrix)
    if np.any(unknown != unknown.T):
        i, j = np.argwhere(unknown & ~unknown.T)[0]
        raise ValueError(
            f"matrix[{i}, {j}] is NaN, but matrix[{j}, {i}] is {matrix[j, i]:g}; a pair that nobody compared is NaN "
            "both ways, and one that nobody decided so is 0"
        )
    wins = np.where(unknown, 0.0, matrix)
    np.fill_diagonal(wins, 0.0)
    bad = ~(np.isfinite(wins) & (wins >= 0))
    if bad.any():
        i, j = np.argwhere(bad)[0]
        raise ValueError(f"matrix[{i}, {j}] is {wins[i, j]:g}; weights of preferences are finite and not negative")
    return _with_finite_sum(PreferenceMatrix(wins, np.zeros_like(wins), items))


def _with_finite_sum(matrix: PreferenceMatrix) -> PreferenceMatrix:
    with np.errstate(over="ignore"):
        total = matrix.wins.sum() + matrix.ties.sum()
    if not np.isfinite(total):
        raise ValueError("the weights add up to more than floating point can hold; divide them by the largest")
    return matrix
