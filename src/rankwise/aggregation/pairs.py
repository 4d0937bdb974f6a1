"""Preferences pair by pair: who wins against whom, and how many rankings say so.

`PreferenceMatrix` is what the consensus rules, the statistics and Bradley-Terry models start from; majorities and the
components of their graph are what `kemeny` and the tournaments work on.
"""

from __future__ import annotations

import warnings
from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np

from rankwise._memory import check_memory_of_pairs
from rankwise._typing import ArrayLike, BoolArray, FloatArray, IntArray
from rankwise._validation import item_names, shortlist
from rankwise.aggregation import _kemeny_jit
from rankwise.aggregation.base import large_array, weighted_rankings
from rankwise.data import Rankings, pairs_jit

# Sums of floating-point weights cannot distinguish two sides of a pair that are closer than this share of them.
_EVEN = 1e-12
_SHOWN_GROUPS = 3
# Matrices that counting and what follows (majorities, `kemeny`) hold at the same time.
_MATRICES = 6
# Probabilities given as arrays may be rounded; their two sides must add up to 1 within this.
_ROUNDED = 1e-6


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


def preference_matrix(rankings: ArrayLike, sample_weight: ArrayLike | None = None) -> PreferenceMatrix:
    """Count, for every pair of items, the rankings that put one before the other.

    Parameters
    ----------
    rankings : array-like of shape (n_rankings, n_items) or Rankings
        Positions, 1 = best, of any kind. A pair counts where a ranking orders or ties it: not where an item is
        missing, nor where both are unlisted.
    sample_weight : array-like of shape (n_rankings,), optional
        How often each ranking counts; by default the weights of the Rankings, or ones.

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
    array = large_array(rankings, sample_weight)
    if array is not None:
        wins = pairs_jit.full_pair_counts(array)
        if len(wins):
            items = rankings.items if isinstance(rankings, Rankings) else tuple(range(len(wins)))
            return PreferenceMatrix(wins, np.zeros_like(wins), items)
    known = isinstance(rankings, Rankings) and sample_weight is None
    source: Rankings = rankings if known else weighted_rankings(rankings, sample_weight)
    check_memory_of_pairs(source.n_items, _MATRICES)
    ties = pairs_jit.pair_ties(source.positions, source.weights)
    return _with_finite_sum(PreferenceMatrix(source.pair_counts(), ties, source.items))


def as_preference_matrix(rankings_or_matrix: ArrayLike) -> PreferenceMatrix:
    """Convert rankings or a square array of pairwise weights to a `PreferenceMatrix`.

    A square array is a matrix of pairs if its diagonal lies below 1, where positions cannot lie; its diagonal is
    otherwise ignored, and NaN (a pair that nobody compared) counts as 0. A diagonal of NaN alone has two readings and
    is refused, and so are places beyond the last, which look like counts.
    """
    if isinstance(rankings_or_matrix, PreferenceMatrix):
        return rankings_or_matrix
    if isinstance(rankings_or_matrix, Rankings):
        return preference_matrix(rankings_or_matrix)
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


def comparable_preferences(rankings_or_matrix: ArrayLike, *, sum_to_one: bool = False) -> PreferenceMatrix:
    """Rankings or a matrix of pairs as a `PreferenceMatrix` in which every item is compared with some other.

    An array of probabilities that is not square is refused, and, if they must sum to one, counts.
    """
    if isinstance(rankings_or_matrix, np.ndarray | list | tuple):
        try:
            array = np.asarray(rankings_or_matrix)
        except ValueError:  # rows of different lengths
            array = np.empty(0)
        oblong = array.ndim == 2 and array.shape[0] != array.shape[1]
        if oblong and array.dtype.kind == "f" and np.any((array > 0) & (array < 1)):
            raise ValueError(
                f"the matrix has shape {array.shape}; preferences have one row and one column per item. If it holds "
                "positions, they count from 1 (1 = best)"
            )
    matrix = as_preference_matrix(rankings_or_matrix)
    check_comparisons(matrix)
    given = square_array(rankings_or_matrix) if sum_to_one else None
    if given is not None and not np.any(np.diag(given) >= 1):
        unequal = (np.abs(matrix.counts - 1) > _ROUNDED) & (matrix.counts > 0)
        if unequal.any():
            i, j = np.argwhere(unequal)[0]
            raise ValueError(
                f"P[{i}, {j}] and P[{j}, {i}] add up to {matrix.counts[i, j]:g}, but one of two items comes "
                "first: divide counts by their sum for each pair (NaN for both where nobody compared them)"
            )
    return matrix


def square_array(values: ArrayLike) -> FloatArray | None:
    """The values as an array of floats if they may be a matrix of pairs; None for rankings and what is not square."""
    if isinstance(values, Rankings | PreferenceMatrix):
        return None
    try:
        array = np.asarray(values)
    except ValueError:  # rows of different lengths
        return None
    square = array.ndim == 2 and array.shape[0] == array.shape[1] and len(array) > 0
    return array.astype(np.float64) if square and array.dtype.kind in "biuf" else None


def majority(weight: FloatArray) -> BoolArray:
    """Whether i wins against j, for a matrix of weights or a stack of them."""
    opposite = weight.swapaxes(-1, -2)
    return weight - opposite > _EVEN * (weight + opposite)


def orders_strictly(beats: BoolArray) -> BoolArray:
    """Whether majorities order all items, no pair even and none in a cycle: of one matrix, or of each of a stack."""
    defeats = np.sort(beats.sum(axis=-2), axis=-1)
    return np.all(defeats == np.arange(beats.shape[-1]), axis=-1)


def ordered_components(edges: BoolArray, score: FloatArray) -> list[IntArray]:
    """Strongly connected components in an order that all edges between them follow.

    Where edges leave the order open, items of higher score come first, and of equal score those with the smaller
    number. In the majority graph, every pair across two components is ordered as its majority wants, so Kemeny medians
    of the components, one after the other, make a median of all items.
    """
    ascending = np.argsort(-score, kind="stable")[::-1]
    label = np.empty(len(score), dtype=np.intp)
    number = _kemeny_jit.strong_components(np.ascontiguousarray(edges[np.ix_(ascending, ascending)]), label)
    component = np.empty_like(label)
    component[ascending] = label
    members = np.argsort(component, kind="stable")
    return np.split(members, np.cumsum(np.bincount(component, minlength=number))[:-1])


def check_comparisons(matrix: PreferenceMatrix, *, warn_of_groups: bool = False) -> None:
    """Raise if an item is compared with no other; optionally warn of groups that are not compared with each other.

    The order of such groups in a consensus is arbitrary.
    """
    compared = matrix.counts > 0
    n_opponents = compared.sum(axis=1)
    if len(compared) < 2 or n_opponents.max() == len(compared) - 1:  # an item that met all others joins them
        return
    if not n_opponents.all():
        name = matrix.items[int(np.argmin(n_opponents))]
        raise ValueError(
            f"no ranking compares item {name!r} with another, so it has no place in a consensus; "
            "keep the other items with Rankings.select([...]), or add rankings that hold it"
        )
    if not warn_of_groups:
        return
    n_groups, shown = comparison_groups(compared, matrix.items)
    if n_groups > 1:
        warnings.warn(
            f"no ranking compares these {n_groups} groups of items with each other: {shown}. Their order in the "
            "consensus is arbitrary; rank each group separately with Rankings.select([...]), or add rankings that "
            "compare them",
            UserWarning,
            stacklevel=3,
        )


def comparison_groups(compared: BoolArray, items: tuple[Hashable, ...]) -> tuple[int, str]:
    """Number of groups that chains of comparisons connect, and the names of their items, of the first groups."""
    from scipy.sparse.csgraph import connected_components

    n_groups, group = connected_components(compared, directed=False)
    names = [[items[i] for i in np.flatnonzero(group == g)] for g in range(min(n_groups, _SHOWN_GROUPS))]
    return n_groups, "; ".join(map(shortlist, names)) + ("; ..." if n_groups > _SHOWN_GROUPS else "")


def _from_square(matrix: FloatArray, items: tuple[Hashable, ...]) -> PreferenceMatrix:
    unknown = np.isnan(matrix)
    if np.any(unknown != unknown.T):
        i, j = np.argwhere(unknown & ~unknown.T)[0]
        raise ValueError(
            f"matrix[{i}, {j}] is NaN, but matrix[{j}, {i}] is {matrix[j, i]:g}; a pair that nobody compared is NaN "
            "both ways, and a preference that nobody has is 0"
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
