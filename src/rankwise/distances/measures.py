"""Distances between two rankings, or row by row between two sets of rankings.

Every function takes positions (1 = best) and works the same way for full, tied, top-k and incomplete rankings. Items
missing from one side (``NaN``) are ignored, unless a function says otherwise: a missing column gives the same result
as a dropped column. `pairwise_distances` and the agreement scores of `rankwise.metrics` share the checks below.
"""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Real
from typing import Any, Literal, NamedTuple

import numpy as np

from rankwise._typing import ArrayLike, FloatArray
from rankwise._validation import check_choice, check_weights, item_names, read_only
from rankwise.data import Rankings, check_positions
from rankwise.distances import distances_jit

Missing = Literal["ignore", "penalize"]

# For full rankings of up to this many items, comparing every pair is faster than sorting.
_MOST_ITEMS_BY_PAIRS = 64


def kendall_distance(
    a: ArrayLike,
    b: ArrayLike,
    *,
    p: float = 0.5,
    missing: Missing = "ignore",
    item_weights: ArrayLike | None = None,
    normalize: bool = False,
) -> Any:
    r"""Kendall distance: the number of pairs of items that two rankings order differently.

    *Definition* (Fagin's :math:`K^{(p)}`). The sum over all pairs of items of 1 if the two rankings order the pair
    in opposite ways, :math:`p` if one ranking orders it and the other does not (tied, or both unlisted), and 0
    otherwise.

    Parameters
    ----------
    a, b : array-like of shape (n_items,) or (n_rankings, n_items), or Rankings
        Positions, 1 = best. One ranking against many is allowed.
    p : float, default=0.5
        Penalty for a pair that only one side orders, from 0 to 1. For p >= 1/2, the triangle inequality holds for
        rankings without missing items.
    missing : {"ignore", "penalize"}, default="ignore"
        What to do with pairs that have an item missing (``NaN``) from one side: ignore them, or treat them as ties
        (penalty ``p`` if the other side orders them).
    item_weights : array-like of shape (n_items,), optional
        Weights of the items. The weight of a pair is the product of its items' weights.
    normalize : bool, default=False
        Divide by the number of pairs that both sides have, so that the distance lies in [0, 1]; NaN where there are
        none. Cannot be combined with ``missing="penalize"``, which penalizes more pairs than these.

    Returns
    -------
    float or ndarray of shape (n_rankings,)
        Lower is closer.

    References
    ----------
    Fagin, Kumar, Mahdian, Sivakumar, Vee (2006), Comparing partial rankings, SIAM J. Discrete Math. 20.

    Examples
    --------
    >>> from rankwise.distances import kendall_distance
    >>> kendall_distance([1, 2, 3, 4], [[1, 2, 4, 3], [4, 3, 2, 1], [1, 1, 2, 2]])
    array([1., 6., 1.])
    """
    check_kendall_options(p, missing, normalize)
    pair = _paired(a, b)
    weights = check_weights(item_weights, pair.a.shape[1], name="item_weights", each="item")
    if item_weights is None and pair.full and pair.a.shape[1] <= _MOST_ITEMS_BY_PAIRS:
        distance = distances_jit.discordant_full(pair.a, pair.b)
        pairs = np.full(len(distance), pair.a.shape[1] * (pair.a.shape[1] - 1) / 2)
    else:
        table = distances_jit.pair_statistics(pair.a, pair.b, weights, missing == "penalize")
        strict_both = table[:, distances_jit.CONCORDANT] + table[:, distances_jit.DISCORDANT]
        one_sided = table[:, distances_jit.STRICT_A] + table[:, distances_jit.STRICT_B] - 2 * strict_both
        # Rounding can make a weighted sum negative.
        distance = np.maximum(table[:, distances_jit.DISCORDANT] + p * one_sided, 0)
        pairs = table[:, distances_jit.PAIRS]
    return pair.answer(np.minimum(ratio(distance, pairs), 1) if normalize else distance)


def weighted_kendall_distance(
    a: ArrayLike,
    b: ArrayLike,
    *,
    position_weights: ArrayLike | None = None,
    item_weights: ArrayLike | None = None,
    item_distances: ArrayLike | None = None,
    p: float = 0.5,
) -> Any:
    r"""Kendall distance with weights of places and items: what differs at the top, say, costs more.

    *Definition* (Kumar and Vassilvitskii). The sum of :math:`w_i w_j D_{ij} \bar p_i \bar p_j` over the pairs of items
    that the two rankings order in opposite ways, and p times that over the pairs that only one of them orders. With
    :math:`\delta_t` the cost of a swap of places t and t + 1 and :math:`P(r) = \sum_{t < r} \delta_t`,

    .. math:: \bar p_i = \frac{P(r_i(a)) - P(r_i(b))}{r_i(a) - r_i(b)}

    is the average cost of the swaps that take item i from its place in one ranking to that in the other, and 1 if its
    place is the same. Places r are mid-ranks over the items that both rank, and P is linear between whole places.

    Parameters
    ----------
    a, b : array-like of shape (n_items,) or (n_rankings, n_items), or Rankings
        Positions, 1 = best. One ranking against many is allowed.
    position_weights : array-like of up to n_items - 1 numbers, optional
        Costs :math:`\delta` of swaps of places 1 and 2, 2 and 3, ...; decreasing ones make the top count more. The last
        one counts for all further places. By default all are 1.
    item_weights : array-like of shape (n_items,), optional
        Weight w of each item.
    item_distances : array-like of shape (n_items, n_items), optional
        How much it matters in which order two items come: symmetric numbers D, small for items that are nearly alike.
    p : float, default=0.5
        Penalty for a pair that only one side orders, from 0 to 1.

    Returns
    -------
    float or ndarray of shape (n_rankings,)
        Lower is closer. Without weights this is `kendall_distance`.

    Notes
    -----
    It takes O(k^2) for k items. Costs of swaps are best given on the scale of 1, as items that keep their place have
    this factor. With weights of places the triangle inequality may fail.

    References
    ----------
    Kumar, Vassilvitskii (2010), Generalized distances between rankings, WWW 19.

    Examples
    --------
    >>> from rankwise.distances import weighted_kendall_distance
    >>> weighted_kendall_distance([1, 2, 3], [[2, 1, 3], [1, 3, 2]], position_weights=[1, 0.5])
    array([1.  , 0.25])
    """
    check_kendall_options(p, "ignore", False)
    pair = _paired(a, b)
    k = pair.a.shape[1]
    weights = check_weights(item_weights, k, name="item_weights", each="item")
    swaps = np.zeros(k)
    np.cumsum(_costs_of_swaps(position_weights, k - 1), out=swaps[1:])
    apart = np.empty((0, 0)) if item_distances is None else _symmetric(item_distances, k)
    distance = distances_jit.weighted_kendall(pair.a, pair.b, swaps, weights, read_only(apart), float(p))
    return pair.answer(distance)


def spearman_distance(
    a: ArrayLike, b: ArrayLike, *, item_weights: ArrayLike | None = None, normalize: bool = False
) -> Any:
    r"""Spearman distance: the sum of squared differences of places.

    *Definition.* :math:`d_2(a, b) = \sum_i w_i (r_i(a) - r_i(b))^2`, where r are mid-ranks over the items that both
    rank (tied items share the mean of their places, unlisted items the mean of the last places).

    Parameters
    ----------
    a, b : array-like of shape (n_items,) or (n_rankings, n_items), or Rankings
        Positions, 1 = best. One ranking against many is allowed.
    item_weights : array-like of shape (n_items,), optional
        Weight w of each item.
    normalize : bool, default=False
        Divide by the largest value for k common items, :math:`k(k^2-1)/3`; NaN for fewer than two. Cannot be
        combined with item weights.

    Returns
    -------
    float or ndarray of shape (n_rankings,)
        Lower is closer.

    Examples
    --------
    >>> from rankwise.distances import spearman_distance
    >>> spearman_distance([1, 2, 3], [3, 2, 1])
    8.0
    """
    return _positional_distance(a, b, "spearman", item_weights, normalize)


def footrule_distance(
    a: ArrayLike, b: ArrayLike, *, item_weights: ArrayLike | None = None, normalize: bool = False
) -> Any:
    r"""Spearman's footrule: the sum of absolute differences of places.

    *Definition.* :math:`F(a, b) = \sum_i w_i |r_i(a) - r_i(b)|`, where r are mid-ranks over the items that both rank.

    Parameters
    ----------
    a, b : array-like of shape (n_items,) or (n_rankings, n_items), or Rankings
        Positions, 1 = best. One ranking against many is allowed.
    item_weights : array-like of shape (n_items,), optional
        Weight w of each item.
    normalize : bool, default=False
        Divide by the largest value for k common items, :math:`\lfloor k^2/2 \rfloor`; NaN for fewer than two.
        Cannot be combined with item weights.

    Returns
    -------
    float or ndarray of shape (n_rankings,)
        Lower is closer. On full rankings Kendall <= footrule <= 2 Kendall (Diaconis and Graham 1977).

    Examples
    --------
    >>> from rankwise.distances import footrule_distance
    >>> footrule_distance([1, 2, 3], [3, 2, 1])
    4.0
    """
    return _positional_distance(a, b, "footrule", item_weights, normalize)


def hamming_distance(
    a: ArrayLike, b: ArrayLike, *, item_weights: ArrayLike | None = None, normalize: bool = False
) -> Any:
    r"""Hamming distance: the number of items whose place differs.

    *Definition.* :math:`H(a, b) = \sum_i w_i [r_i(a) \ne r_i(b)]`, where r are mid-ranks over the items that both
    rank.

    Parameters
    ----------
    a, b : array-like of shape (n_items,) or (n_rankings, n_items), or Rankings
        Positions, 1 = best. One ranking against many is allowed.
    item_weights : array-like of shape (n_items,), optional
        Weight w of each item.
    normalize : bool, default=False
        Divide by the number of common items; NaN if there are none. Cannot be combined with item weights.

    Returns
    -------
    float or ndarray of shape (n_rankings,)
        Lower is closer.

    Examples
    --------
    >>> from rankwise.distances import hamming_distance
    >>> hamming_distance([1, 2, 3], [3, 2, 1])
    2.0
    """
    return _positional_distance(a, b, "hamming", item_weights, normalize)


#: name -> (code of the compiled function, largest value for m items)
POSITIONAL = {
    "spearman": (distances_jit.SQUARED, lambda m: m * (m * m - 1.0) / 3),
    "footrule": (distances_jit.ABSOLUTE, lambda m: m * m // 2),
    "hamming": (distances_jit.UNEQUAL, lambda m: m),
}


def check_kendall_options(p: float, missing: str, normalize: bool) -> None:
    """Check the options of the Kendall distance."""
    if not isinstance(p, Real) or not 0 <= p <= 1:
        raise ValueError(f"p is {p!r}, but the penalty for a pair that only one side orders must be between 0 and 1")
    check_choice("missing", missing, ("ignore", "penalize"))
    if normalize and missing == "penalize":
        raise ValueError("normalize=True divides by the pairs that both sides have; use it with missing='ignore'")


def check_same_items(a: ArrayLike, b: ArrayLike) -> None:
    """Raise an error if two sets rank different items, or the same items in a different column order.

    Only Rankings and data frames have item names, and default names do not count.
    """
    first, second = item_names(a), item_names(b)
    if first is not None and second is not None and first != second:
        if set(first) == set(second):
            what, cure = "the same items in a different column order", "put the columns in the same order"
        else:
            what, cure = "different items", "keep the items they share"
        raise ValueError(f"the two sets of rankings have {what}; {cure}, e.g. with Rankings(...).select([...])")


def ratio(value: FloatArray, largest: Any) -> FloatArray:
    """Divide; NaN where the divisor is zero."""
    largest = np.asarray(largest, dtype=np.float64)
    return np.divide(value, largest, out=np.full_like(value, np.nan), where=largest > 0)


def _costs_of_swaps(given: ArrayLike | None, number: int) -> FloatArray:
    """A cost for each pair of neighboring places; the last one that is given counts for all further pairs."""
    if given is None:
        return np.ones(number)
    size = np.size(given)
    if not 0 < size <= max(1, number):
        raise ValueError(
            f"position_weights has {size} numbers, but {number + 1} places have {number} pairs of neighbors; "
            "give a number for each, or fewer"
        )
    costs = check_weights(given, size, name="position_weights", each="pair of places")
    return np.append(costs, np.full(max(0, number - size), costs[-1]))[:number]


def _symmetric(given: ArrayLike, k: int) -> FloatArray:
    """Distances between items, once checked."""
    matrix = np.ascontiguousarray(given, dtype=np.float64)
    if matrix.shape != (k, k):
        raise ValueError(f"item_distances has shape {matrix.shape}, but {k} items have a {k} x {k} matrix of them")
    bad = ~(np.isfinite(matrix) & (matrix >= 0) & (matrix == matrix.T))
    if bad.any():
        i, j = np.argwhere(bad)[0]
        raise ValueError(
            f"item_distances[{i}, {j}] is {matrix[i, j]:g} and [{j}, {i}] is {matrix[j, i]:g}; distances of items are "
            "finite, not negative, and the same both ways"
        )
    return matrix


class _Paired(NamedTuple):
    """Two sets of rankings of equal shape, and whether the user gave two single rankings."""

    a: FloatArray
    b: FloatArray
    single: bool

    @property
    def full(self) -> bool:
        k = self.a.shape[1]
        # If dense positions reach k in every row, there are no ties, inf or NaN.
        return bool(np.all(self.a.max(axis=1) == k) and np.all(self.b.max(axis=1) == k))

    def answer(self, values: FloatArray) -> Any:
        return float(values[0]) if self.single else values


def _paired(a: ArrayLike, b: ArrayLike) -> _Paired:
    check_same_items(a, b)
    first, single_a = _as_rows(a, "a")
    second, single_b = _as_rows(b, "b")
    if first.shape[1] != second.shape[1]:
        raise ValueError(
            f"a ranks {first.shape[1]} items and b ranks {second.shape[1]}; columns must be the same items"
        )
    if len(first) != len(second) and not (single_a or single_b):
        raise ValueError(
            f"a has {len(first)} rankings and b has {len(second)}, but they are compared row by row. "
            "To compare all with all, use pairwise_distances"
        )
    rows = max(len(first), len(second)) if min(len(first), len(second)) else 0
    first, second = (read_only(np.ascontiguousarray(np.broadcast_to(x, (rows, x.shape[1])))) for x in (first, second))
    return _Paired(first, second, single_a and single_b)


def _as_rows(ranking: ArrayLike, name: str) -> tuple[FloatArray, bool]:
    if isinstance(ranking, Rankings):
        return ranking.positions, False
    if isinstance(ranking, range):
        ranking = list(ranking)
    if isinstance(ranking, list | tuple):
        single = not any(isinstance(entry, Iterable) and not isinstance(entry, str) for entry in ranking)
    else:
        single = len(getattr(ranking, "shape", (0, 0))) == 1
    if single:
        # An array keeps its mask; the index of a Series must not become column names.
        ranking = ranking[np.newaxis] if isinstance(ranking, np.ndarray) else [list(ranking)]
    return check_positions(ranking, name=name), single


def _positional_distance(
    a: ArrayLike, b: ArrayLike, metric: str, item_weights: ArrayLike | None, normalize: bool
) -> Any:
    if normalize and item_weights is not None:
        raise ValueError("the largest weighted distance has no closed form; use normalize=True without item_weights")
    code, largest = POSITIONAL[metric]
    pair = _paired(a, b)
    weights = check_weights(item_weights, pair.a.shape[1], name="item_weights", each="item")
    distance, common = distances_jit.positional(pair.a, pair.b, weights, code)
    return pair.answer(ratio(distance, largest(common)) if normalize else distance)
