"""Median rankings under other distances than Kendall's: footrule, Spearman, Hamming and Cayley.

`median_ranking` finds the ranking with the smallest sum of distances to the given ones. For footrule and Hamming that
is an assignment of items to places, for Spearman the order of the mean ranks, both exact; Cayley's median is searched,
and proven for few items. Kendall's median is `kemeny`.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from itertools import permutations
from math import factorial
from typing import Literal

import numpy as np

from rankwise._typing import ArrayLike, FloatArray, IntArray
from rankwise._validation import check_choice
from rankwise.aggregation import _mallows_jit
from rankwise.aggregation._mallows_laws import CayleyLaw
from rankwise.aggregation.base import weighted_rankings
from rankwise.aggregation.positional import borda
from rankwise.aggregation.shared_order import part_winners, shared_by
from rankwise.data import Rankings
from rankwise.data.positions import has_ties

MedianDistance = Literal["footrule", "spearman", "hamming", "cayley"]

# Costs closer than this share of the largest are equal.
_EQUAL = 1e-9
# Listing all rankings of 8 items takes about a second.
_MOST_LISTED = 8
_MOST_COMPARED = 4e8
# Distances of all pairs of this many rankings take less time than the search.
_MOST_PAIRED = 500
# Beyond this many items the table of costs and the search for ties take minutes.
_MOST_ITEMS = 3000


@dataclass(frozen=True, eq=False)
class MedianRanking:
    """A median of rankings; made by `median_ranking`.

    Attributes
    ----------
    positions : ndarray of shape (n_items,)
        The median, 1 = best. Items tie where several rankings are equally near and differ in them: this is the bucket
        order that all medians share (dense: 1, 1, 2).
    ranking : ndarray of shape (n_items,)
        One of the medians: positions without ties. The names of the items decide which one.
    items : tuple
        Names of the items.
    distance : str
        The distance.
    cost : float
        Weighted sum of the distances of the rankings to ``ranking``.
    lower_bound : float
        No full ranking costs less.
    optimal : bool
        Whether the cost is proven to be the lowest.
    gap : float
        (cost - lower_bound) / cost; 0 where optimal.
    unique : bool or None
        Whether ``ranking`` is the only median; None if that is not known.
    """

    positions: FloatArray
    ranking: FloatArray
    items: tuple[Hashable, ...]
    distance: str
    cost: float
    lower_bound: float
    optimal: bool
    gap: float
    unique: bool | None


def median_ranking(
    rankings: ArrayLike, distance: MedianDistance = "footrule", *, sample_weight: ArrayLike | None = None
) -> MedianRanking:
    r"""Find the full ranking with the smallest sum of distances to the given ones.

    ==============  ===========================================  ====================================================
    ``distance``    how far two rankings are apart               how the median is found
    ==============  ===========================================  ====================================================
    ``"footrule"``  sum of the differences of places             assignment of items to places, exact
    ``"spearman"``  sum of the squared differences of places     order of the mean ranks (Borda's), exact
    ``"hamming"``   number of items at another place             assignment of items to places, exact
    ``"cayley"``    exchanges of two items that are needed       all rankings to 8 items, exact; search beyond, with a
                                                                 bound of the gap
    ==============  ===========================================  ====================================================

    Parameters
    ----------
    rankings : array-like of shape (n_rankings, n_items) or Rankings
        Positions, 1 = best: full, tied or top-k. Tied items, and unlisted ones, share the mean of the places they
        fill; Cayley's distance needs full rankings without ties. Missing items (NaN) are refused.
    distance : {"footrule", "spearman", "hamming", "cayley"}, default="footrule"
        The distance.
    sample_weight : array-like of shape (n_rankings,), optional
        How often each ranking counts; by default the weights of the Rankings, or ones.

    Returns
    -------
    MedianRanking

    References
    ----------
    Dwork, Kumar, Naor, Sivakumar (2001), Rank aggregation methods for the web, WWW 10 (footrule by assignment).

    Examples
    --------
    >>> from rankwise.aggregation import median_ranking
    >>> found = median_ranking([[1, 2, 3], [1, 3, 2], [2, 1, 3]])
    >>> found.positions, found.cost, found.unique
    (array([1., 2., 3.]), 4.0, True)
    >>> median_ranking([[1, 2, 3], [2, 1, 3]], "hamming").positions
    array([1., 1., 2.])
    """
    check_choice("distance", distance, ("footrule", "spearman", "hamming", "cayley"))
    given = weighted_rankings(rankings, sample_weight)
    _check(given, distance)
    # Items by name and equal rankings together: nothing depends on the order of the columns or the rows.
    by_name = np.array(sorted(range(given.n_items), key=lambda i: (str(given.items[i]), i)), dtype=np.intp)
    data = Rankings(given.positions[:, by_name], weights=given.weights)[given.weights > 0].group()
    data = data[np.lexsort(data.positions.T)]
    solve = {"footrule": _assigned, "hamming": _assigned, "spearman": _by_mean_rank, "cayley": _by_exchanges}[distance]
    found, ranking, cost, lower = solve(data, distance)
    positions, full = np.empty(given.n_items), np.empty(given.n_items)
    full[by_name] = ranking
    positions[by_name] = ranking if found is None else found
    optimal = cost - lower <= _EQUAL * max(1.0, cost)
    return MedianRanking(
        positions=positions,
        ranking=full,
        items=given.items,
        distance=distance,
        cost=cost,
        lower_bound=lower,
        optimal=optimal,
        gap=0.0 if optimal else (cost - lower) / cost,
        unique=None if found is None else bool(positions.max() == given.n_items),
    )


def _check(rankings: Rankings, distance: str) -> None:
    if rankings.n_items > _MOST_ITEMS and distance != "spearman":
        raise ValueError(
            f"a median of {rankings.n_items:,} items by {distance} needs a table of {rankings.n_items**2:,} costs; at "
            f"most {_MOST_ITEMS:,} items are taken: use borda or aggregate_lists"
        )
    counted = rankings.weights > 0
    missing = np.isnan(rankings.positions) & counted[:, np.newaxis]
    if missing.any():
        row, item = np.argwhere(missing)[0]
        raise ValueError(
            f"ranking {row} misses item {rankings.items[item]!r}, and places among different items do not compare; "
            "take kemeny or borda, or read blanks as unlisted (unlisted='below', or inf in an array)"
        )
    if not np.isfinite(rankings.positions[counted]).any():
        raise ValueError("no ranking of positive weight lists an item, so there is no median")
    tied = counted & (has_ties(rankings.positions) | np.isinf(rankings.positions).any(axis=1))
    if distance == "cayley" and tied.any():
        raise ValueError(
            f"ranking {int(np.argmax(tied))} ties items or does not list all, and Cayley's distance counts exchanges "
            "in full rankings; take the distance 'footrule' or 'hamming', which share the places of tied items"
        )


def _by_mean_rank(data: Rankings, distance: str) -> tuple[FloatArray, FloatArray, float, float]:
    positions = borda(data)
    ranking = _without_ties(positions)
    cost = float(data.weights @ np.square(data.midranks() - ranking).sum(axis=1))
    return positions, ranking, cost, cost


def _assigned(data: Rankings, distance: str) -> tuple[FloatArray, FloatArray, float, float]:
    """The cheapest assignment of items to places, and what all cheapest ones share."""
    price = _prices(data, distance)
    place, buckets = _cheapest_assignment(price)
    cost = float(price[np.arange(len(price)), place].sum())
    return buckets, place.astype(np.float64) + 1.0, cost, cost


def _prices(data: Rankings, distance: str) -> FloatArray:
    """What it costs to put an item (row) at a place (column)."""
    places = np.arange(1.0, data.n_items + 1)
    ranks = data.midranks()
    if distance == "footrule":
        return np.stack([data.weights @ np.abs(column[:, np.newaxis] - places) for column in ranks.T])
    return np.stack([data.weights @ (column[:, np.newaxis] != places) for column in ranks.T])


def _cheapest_assignment(price: FloatArray) -> tuple[IntArray, FloatArray]:
    """Places (from 0) of a cheapest assignment, and positions of the bucket order that all cheapest ones share.

    Moving the item of place p to place q costs a difference; moves around a cycle that cost nothing in total lead to
    another cheapest assignment. With potentials that make every difference nonnegative, these are the cycles of moves
    that cost nothing each, so places exchange items if and only if they are strongly connected by such moves.
    """
    from scipy.optimize import linear_sum_assignment
    from scipy.sparse.csgraph import connected_components

    place = linear_sum_assignment(price)[1].astype(np.intp)
    n = len(price)
    item_at = np.empty(n, dtype=np.intp)
    item_at[place] = np.arange(n)
    by_place = price[item_at]
    move = by_place - np.diag(by_place)[:, np.newaxis]
    tolerance = _EQUAL * max(1.0, float(np.abs(price).max(initial=0.0)))
    potential = np.zeros(n)
    for _ in range(n):
        lower = np.minimum(potential, (potential[:, np.newaxis] + move).min(axis=0))
        if (potential - lower <= tolerance / n).all():
            break
        potential = lower
    free = potential[:, np.newaxis] + move - potential <= tolerance
    component = connected_components(free, directed=True, connection="strong")[1]
    # A bucket reaches to the last place that exchanges items with one of its places.
    last = np.zeros(component.max() + 1, dtype=np.intp)
    np.maximum.at(last, component, np.arange(n))
    reach = np.maximum.accumulate(last[component])
    bucket = 1 + np.concatenate([[0], np.cumsum(reach[:-1] < np.arange(1, n))])
    # The item of another place can be first if it may move there within a cycle.
    first = (component == component[0]) & free[:, 0]
    return place, part_winners(bucket[place].astype(np.float64), first[place])


def _by_exchanges(data: Rankings, distance: str) -> tuple[FloatArray | None, FloatArray, float, float]:
    """Cayley's median: all rankings for few items, else descent by exchanges and a bound."""
    n = data.n_items
    if n <= _MOST_LISTED and factorial(n) * len(data) * n <= _MOST_COMPARED:
        orders = np.array(list(permutations(range(n))), dtype=np.intp)
        costs = np.array([data.weights @ _mallows_jit.cayley_distances(data.positions, order) for order in orders])
        lowest = float(costs.min())
        best = orders[costs <= lowest + _EQUAL * max(1.0, float(costs.max()))]
        rankings = np.empty(best.shape)
        np.put_along_axis(rankings, best, np.arange(1.0, n + 1)[np.newaxis, :], axis=1)
        return shared_by(rankings), rankings[0], lowest, lowest
    law = CayleyLaw(n)
    ranking = law.best_center(data)
    cost = float(data.weights @ law.distances(data, ranking))
    # Every item out of place needs half an exchange at least; and the sum of the distances of all pairs of rankings to
    # each other, each at most a way over the median, bounds the sum of their distances to it.
    price = _prices(data, "hamming")
    lower = float(price[np.arange(n), _cheapest_assignment(price)[0]].sum()) / 2
    if len(data) <= _MOST_PAIRED:
        apart = [data.weights @ law.distances(data, row) for row in data.positions]
        lower = max(lower, float(data.weights @ apart) / 2 / (data.weights.sum() - data.weights.min() or 1.0))
    return None, ranking, cost, min(cost, lower)


def _without_ties(positions: FloatArray) -> FloatArray:
    ranking = np.empty_like(positions)
    ranking[np.argsort(positions, kind="stable")] = np.arange(1.0, len(positions) + 1)
    return ranking
