"""Kemeny's consensus: the ranking with the fewest pairwise disagreements, with a proof where one can be had."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from math import comb
from typing import Literal, overload

import numpy as np

from rankwise._random import check_generator
from rankwise._typing import ArrayLike, BoolArray, FloatArray, IntArray, RandomState
from rankwise._validation import check_numbers, check_real_number, check_whole_number
from rankwise.aggregation import _kemeny_jit
from rankwise.aggregation._kemeny_proof import prove
from rankwise.aggregation._kemeny_search import (
    Bounds,
    Clock,
    OnlyOrder,
    SetTails,
    Tails,
    optimal_orders,
    settled_tails,
    shake,
)
from rankwise.aggregation._kemeny_ties import bucket_consensus
from rankwise.aggregation.consensus import Consensus, majority_components
from rankwise.aggregation.pairs import PreferenceMatrix, as_preference_matrix, check_comparisons, warn_of_groups
from rankwise.data import Rankings

Method = Literal["auto", "exact", "dp", "ilp", "local-search"]

# 2^20 sets take 8 MB and a tenth of a second; each further item doubles both.
MOST_ITEMS_DP = 20
# Below this the dynamic programme is quicker than a linear programme.
_AUTO_ITEMS_DP = 16
# A linear programme over more items than this does not finish a round in useful time ...
_AUTO_ITEMS_LP = 600
# ... and over more than this, a look at all triples for broken ones takes many seconds.
MOST_ITEMS_LP = 2000
_AUTO_TIME_LIMIT = 60.0
# A short search at first, as linear programmes often find the best order themselves; a long one if not.
_SHAKES = 200
_LONG_SHAKES = 30_000
# So many beginnings of orders are looked at to find out whether there is more than one optimal order.
_MOST_BEGINNINGS = 5_000


def kemeny(
    rankings_or_matrix: ArrayLike,
    *,
    method: Method = "auto",
    time_limit: float | None = None,
    ties: Literal["none", "allow"] = "none",
    tie_cost: float = 0.5,
    random_state: RandomState = None,
) -> Consensus:
    r"""Find the ranking that disagrees least with the given ones: Kemeny's consensus.

    *Definition.* The full ranking that minimises :math:`\sum_{i \text{ before } j} w_{ji}`, where :math:`w_{ji}` is
    the weight of the rankings with j before i. On full rankings this is the sum of the Kendall distances. A ranking
    that ties two items costs the same whichever comes first, and is not counted.

    With ``ties="allow"`` the consensus may tie items too (a bucket order), at the tie cost p: a ranking pays 1 for a
    pair that it orders and the consensus turns around, p for a pair that one of the two orders and the other ties,
    and 0 else; for pairs with a missing item, or both unlisted, it pays nothing. On rankings without missing and
    unlisted items this is the sum of the distances :math:`K^{(p)}` of Fagin et al., a metric for p in [1/2, 1] (below
    1/2 a detour over a tie is shorter than to turn a pair around). For p of 1/2 or more, rankings without ties have
    a consensus without ties, of the same cost. Costs with and without ties allowed compare only where no ranking ties.

    Parameters
    ----------
    rankings_or_matrix : Rankings, array-like of positions (n_rankings, n_items), PreferenceMatrix, or square array
        Rankings of any kind (the weights of a Rankings count), or the weights w of the preferences "row before
        column" (the diagonal, below 1, tells a matrix from positions).
    method : {"auto", "exact", "dp", "ilp", "local-search"}, default="auto"
        "auto" and "exact" split the items into components of the majority graph and prove each one optimal by a
        dynamic programme (few items) or linear and integer programmes; "dp" and "ilp" insist on one of these;
        "local-search" only searches, and bounds the gap by the pairs. With ties allowed, components of up to 15
        items ("dp" and "exact": 18) are proven by a dynamic programme; larger ones are searched.
    time_limit : float, optional
        Seconds after which the best ranking found is returned with its gap, once the pairs are counted. By default 60
        for "auto" and "local-search", and no limit else.
    ties : {"none", "allow"}, default="none"
        Whether the consensus is a full ranking, or may tie items. A square array of weights says nothing of ties in
        the rankings; a `PreferenceMatrix` does.
    tie_cost : float, default=0.5
        What a tie against an order costs, above 0 and at most 1; only with ``ties="allow"``.
    random_state : None, int, Generator or RandomState
        Of the search for a good ranking; the proof does not depend on it.

    Returns
    -------
    Consensus

    References
    ----------
    Kemeny (1959), Mathematics without numbers. Truchon (1998), An extension of the Condorcet criterion and Kemeny
    orders. Grötschel, Jünger, Reinelt (1984), A cutting plane algorithm for the linear ordering problem. Fagin,
    Kumar, Mahdian, Sivakumar, Vee (2006), Comparing partial rankings.

    Examples
    --------
    >>> from rankwise.aggregation import kemeny
    >>> kemeny([[1, 2, 3], [1, 3, 2], [2, 1, 3]])
    Consensus: 0 > 1 > 2
      cost 2, proven optimal (condorcet)
    >>> kemeny([[1, 2, 2], [2, 1, 1], [1, 2, 2]], ties="allow")
    Consensus: 0 > 1 ~ 2
      cost 2, proven optimal (dp)
    """
    if method not in ("auto", "exact", "dp", "ilp", "local-search"):
        raise ValueError(f"method is {method!r}; choose 'auto', 'exact', 'dp', 'ilp' or 'local-search'")
    if ties not in ("none", "allow"):
        raise ValueError(f"ties is {ties!r}; choose 'none' or 'allow'")
    if not 0 < check_real_number("tie_cost", tie_cost) <= 1:
        raise ValueError(f"tie_cost is {tie_cost}; give a number above 0 and at most 1")
    clock = clock_for(time_limit, method)
    matrix = as_preference_matrix(rankings_or_matrix)
    check_comparisons(matrix)
    warn_of_groups(matrix)
    if ties == "allow":
        return bucket_consensus(matrix, tie_cost, method, clock, check_generator(random_state))
    return joined(matrix, solved_parts(matrix.wins, method, clock, check_generator(random_state), _MOST_BEGINNINGS))


def clock_for(time_limit: float | None, method: Method) -> Clock:
    """The time that a consensus may take."""
    if time_limit is None:
        return Clock(_AUTO_TIME_LIMIT if method in ("auto", "local-search") else None)
    return Clock(check_real_number("time_limit", time_limit, infinite=True))


@dataclass
class Part:
    """The consensus of one component.

    Attributes
    ----------
    items : ndarray of shape (m,), intp
        The items of the component.
    order : ndarray of shape (m,), intp
        The best order found, as numbers within ``items``.
    lower : float
        No order of the component costs less.
    proven : bool
        Whether none costs less than ``order``.
    method : str
        What found it.
    tails : Tails or None
        All optimal orders; None where they are not known.
    """

    items: IntArray
    order: IntArray
    lower: float
    proven: bool
    method: str
    tails: Tails | None


def solved_parts(
    wins: FloatArray, method: Method, clock: Clock, rng: np.random.Generator, most_beginnings: int
) -> list[Part]:
    """The components of the majority graph, best first, each with its consensus."""
    components = majority_components(wins)
    _refuse_too_much(method, max(len(items) for items in components))
    return [_solved(wins, items, method, clock, rng, most_beginnings) for items in components]


def joined(matrix: PreferenceMatrix, parts: list[Part]) -> Consensus:
    """The consensus of all items from those of the components."""
    order = np.concatenate([part.items[part.order] for part in parts])
    positions = np.empty(len(order))
    positions[order] = np.arange(1.0, len(order) + 1)
    cost = float(_kemeny_jit.order_cost(matrix.wins, order))
    inside = sum(
        float(_kemeny_jit.order_cost(matrix.wins, part.items[part.order])) for part in parts if len(part.items) > 1
    )
    optimal = all(part.proven for part in parts)
    lower = cost if optimal else min(cost, cost - inside + sum(part.lower for part in parts))
    methods = dict.fromkeys(part.method for part in parts if len(part.items) > 1) or {"condorcet": None}
    return Consensus(
        positions=positions,
        items=matrix.items,
        cost=cost,
        lower_bound=lower,
        optimal=optimal,
        gap=0.0 if optimal else (cost - lower) / cost,
        components=tuple(tuple(part.items.tolist()) for part in parts),
        method="+".join(methods),
        unique=_unique(matrix.wins, parts) if optimal else None,
    )


def _refuse_too_much(method: Method, largest: int) -> None:
    """Refuse what would take too long, before it is begun."""
    if method == "dp" and largest > MOST_ITEMS_DP:
        raise ValueError(
            f"a component of the majority graph has {largest} items; the dynamic programme takes at most "
            f"{MOST_ITEMS_DP} (2^{largest} sets): use method='auto'"
        )
    if method in ("exact", "ilp") and largest > MOST_ITEMS_LP:
        raise ValueError(
            f"a component of the majority graph has {largest:,} items; linear programmes take at most "
            f"{MOST_ITEMS_LP:,} ({comb(largest, 2):,} variables, {comb(largest, 3):,} triples to look at "
            "again and again): use method='auto', which searches and bounds the gap"
        )


def _solved(
    wins: FloatArray, items: IntArray, method: Method, clock: Clock, rng: np.random.Generator, most_beginnings: int
) -> Part:
    m = len(items)
    if m == 1:
        only = np.zeros(1, dtype=np.intp)
        return Part(items, only, 0.0, True, "condorcet", OnlyOrder(only))
    part = np.ascontiguousarray(wins[np.ix_(items, items)])
    if method == "dp" or (method in ("auto", "exact") and m <= _AUTO_ITEMS_DP):
        best = np.empty(1 << m)
        _kemeny_jit.subset_costs(part, best, np.empty((1 << m // 2, m)), np.empty((1 << (m - m // 2), m)))
        order = _kemeny_jit.order_from_subsets(part, best)
        return Part(items, order, float(best[-1]), True, "dp", SetTails(part, best, ~np.eye(m, dtype=bool)))
    bounds = Bounds(part)
    programmes = method in ("exact", "ilp") or (method == "auto" and m <= _AUTO_ITEMS_LP)
    tails: Tails | None = None
    with clock.ended_by_interrupt():
        shake(bounds, clock, rng, _SHAKES if programmes else _LONG_SHAKES)
        if programmes:
            settled = prove(bounds, clock, lambda: shake(bounds, clock, rng, _LONG_SHAKES))
            if bounds.proven and settled is not None:
                tails = settled_tails(part, bounds.order, settled, most_beginnings)
    used = "ilp" if programmes else "local-search"
    return Part(items, bounds.order, bounds.lower, bounds.proven, used, tails)


def _unique(wins: FloatArray, parts: list[Part]) -> bool | None:
    """Whether there is one optimal order: the parts have one each, and no two of them can be mixed."""
    tails = [OnlyOrder(part.order) if part.tails is None else part.tails for part in parts]
    orders = islice(optimal_orders(wins, [part.items for part in parts], tails), 2)
    if len(list(orders)) > 1:
        return False
    return None if any(part.tails is None for part in parts) else True


# Kemeny medians of many small matrices at once: the decoder of predicted pairwise probabilities.


# A component of 12 items takes 0.1 ms; larger ones are searched.
_LARGEST_EXACT = 12


@overload
def kemeny_batch(P: ArrayLike, *, return_proven: Literal[False] = ...) -> FloatArray: ...


@overload
def kemeny_batch(P: ArrayLike, *, return_proven: Literal[True]) -> tuple[FloatArray, BoolArray]: ...


def kemeny_batch(P: ArrayLike, *, return_proven: bool = False) -> FloatArray | tuple[FloatArray, BoolArray]:
    """Kemeny medians of many pairwise matrices.

    A matrix whose majorities are transitive is ordered by them at once. Otherwise each component of the majority
    graph goes to a dynamic programme (up to 12 items, exact) or to insertion search.

    Parameters
    ----------
    P : array-like of shape (n, n_items, n_items)
        ``P[r, i, j]`` is the weight or probability of i before j; predicted ones may well lie outside 0 to 1, as only
        differences count. The diagonal is ignored, and even pairs fall in the order of the items where they can.
    return_proven : bool, default=False
        Whether to return, too, which medians are proven optimal.

    Returns
    -------
    positions : ndarray of shape (n, n_items)
        Full rankings, 1 = best.
    proven : ndarray of shape (n,), bool
        Only with ``return_proven=True``.

    Examples
    --------
    >>> from rankwise.aggregation import kemeny_batch
    >>> kemeny_batch([[[0.5, 0.8, 0.6], [0.2, 0.5, 0.3], [0.4, 0.7, 0.5]]])
    array([[1., 3., 2.]])
    """
    if hasattr(P, "tocsr"):
        raise TypeError("P is a sparse matrix; give dense ones (.toarray()), one per median: (n, n_items, n_items)")
    matrices = np.ascontiguousarray(check_numbers("P", P))
    if matrices.ndim != 3 or matrices.shape[1] != matrices.shape[2] or matrices.shape[1] == 0:
        raise ValueError(f"P has shape {matrices.shape}; give one square matrix per median: (n, n_items, n_items)")
    off_diagonal = matrices.reshape(len(matrices), -1)
    if not np.isfinite(off_diagonal).all() and not _finite_but_for_diagonals(matrices):
        r, i, j = np.argwhere(~np.isfinite(matrices))[0]
        raise ValueError(f"P[{r}, {i}, {j}] is {matrices[r, i, j]:g}; give 0.5 each way for pairs without an answer")
    positions, proven = _kemeny_jit.batch_medians(matrices, _LARGEST_EXACT)
    return (positions, proven) if return_proven else positions


def _finite_but_for_diagonals(matrices: FloatArray) -> bool:
    off = ~np.eye(matrices.shape[1], dtype=bool)
    return bool(np.isfinite(matrices[:, off]).all())


# All rankings of lowest cost, where they are few.


# So many beginnings of orders take a second or two.
_MOST_PREFIXES = 200_000


@dataclass(frozen=True, eq=False)
class OptimalRankings:
    """Rankings of lowest cost, and whether there are others; made by `all_optimal`.

    Attributes
    ----------
    rankings : Rankings
        Different full rankings, each proven optimal.
    complete : bool
        Whether these are all.
    cost : float
        The cost of each of them.
    """

    rankings: Rankings
    complete: bool
    cost: float

    def __repr__(self) -> str:
        number = len(self.rankings)
        what = "all" if self.complete else "there may be more than"
        return f"OptimalRankings: {what} {number:,} of cost {self.cost:,.10g}"


def all_optimal(
    rankings_or_matrix: ArrayLike,
    *,
    limit: int = 100,
    time_limit: float | None = None,
    random_state: RandomState = None,
) -> OptimalRankings:
    """List the full rankings that disagree least with the given ones: all of Kemeny's consensuses.

    Parameters
    ----------
    rankings_or_matrix : Rankings, array-like of positions (n_rankings, n_items), PreferenceMatrix, or square array
        As in `kemeny`.
    limit : int, default=100
        How many to list at most; there can be as many as there are permutations.
    time_limit : float, optional
        Seconds to prove one of them optimal in, by default 60.
    random_state : None, int, Generator or RandomState
        Of the search for the first one.

    Returns
    -------
    OptimalRankings
        ``complete`` says whether all are listed. It is False beyond the limit, and where a component of more than 16
        items leaves too many possibilities to look at.

    Examples
    --------
    >>> from rankwise.aggregation import all_optimal
    >>> found = all_optimal([[1, 2, 3], [2, 3, 1], [3, 1, 2]])
    >>> found
    OptimalRankings: all 3 of cost 4
    >>> found.rankings.orders().tolist()
    [[0, 1, 2], [1, 2, 0], [2, 0, 1]]
    """
    check_whole_number("limit", limit, at_least=1)
    clock = clock_for(time_limit, "auto")
    matrix = as_preference_matrix(rankings_or_matrix)
    check_comparisons(matrix)
    warn_of_groups(matrix)
    parts = solved_parts(matrix.wins, "auto", clock, check_generator(random_state), _MOST_PREFIXES)
    consensus = joined(matrix, parts)
    if not consensus.optimal:
        raise ValueError(
            f"no ranking was proven optimal in time, the best has a gap of {100 * consensus.gap:.3g} %; give a longer "
            "time_limit, or take the best one from kemeny"
        )
    tails = [OnlyOrder(part.order) if part.tails is None else part.tails for part in parts]
    orders = list(islice(optimal_orders(matrix.wins, [part.items for part in parts], tails), limit + 1))
    complete = len(orders) <= limit and all(part.tails is not None for part in parts)
    listed = np.array(orders[:limit])
    positions = np.empty(listed.shape)
    np.put_along_axis(positions, listed, np.arange(1.0, matrix.n_items + 1)[None, :], axis=1)
    positions = positions[np.lexsort(listed.T[::-1])]
    return OptimalRankings(Rankings(positions, items=matrix.items), complete, consensus.cost)
