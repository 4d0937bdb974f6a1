"""Kemeny's consensus: the ranking with the fewest pairwise disagreements, with a proof where possible.

`kemeny` solves one profile, `kemeny_batch` many small matrices at once (the decoder of predicted pairwise
probabilities), and `all_optimal` lists every ranking of lowest cost. All split the items into components of the
majority graph, which are solved one by one: by dynamic programming here, by search and linear programming in
`_kemeny_search` and `_kemeny_proof`. Consensus rankings with ties are found in `_kemeny_ties`.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from itertools import islice
from math import comb
from typing import Literal, overload

import numpy as np

from rankwise._typing import ArrayLike, BoolArray, FloatArray, IntArray, RandomState
from rankwise._validation import check_choice, check_generator, check_numbers, check_real_number, check_whole_number
from rankwise.aggregation import _kemeny_jit
from rankwise.aggregation._kemeny_packing import raise_by_cycles
from rankwise.aggregation._kemeny_proof import prove
from rankwise.aggregation._kemeny_search import (
    Bounds,
    Clock,
    OptimalOrders,
    OrdersFromSets,
    SingleOrder,
    joint_orders,
    orders_with_settled_pairs,
    perturb,
    surely_before,
)
from rankwise.aggregation._kemeny_ties import bucket_consensus
from rankwise.aggregation.kemeny_result import Consensus
from rankwise.aggregation.pairs import (
    PreferenceMatrix,
    as_preference_matrix,
    check_comparisons,
    majority,
    ordered_components,
)
from rankwise.aggregation.shared_order import shared_by, shared_positions
from rankwise.data import Rankings

Method = Literal["auto", "exact", "dp", "ilp", "local-search"]

# 2^20 sets take 8 MB and a tenth of a second; each further item doubles both.
MOST_ITEMS_DP = 20
# Up to this many items, dynamic programming is faster than linear programming.
_AUTO_ITEMS_DP = 16
# Of more, linear programs prove most in milliseconds; dynamic programming takes what they have not proven by then.
_SECONDS_BEFORE_DP = 0.5
# In batches, a component of 12 items takes 0.1 ms; larger ones are searched.
_MOST_ITEMS_BATCH_DP = 12
# A linear program over more items than this does not finish a round in useful time ...
MOST_ITEMS_AUTO_LP = 600
# ... and over more than this, checking all triples for violations takes many seconds.
MOST_ITEMS_LP = 2000
_AUTO_TIME_LIMIT = 60.0
# Rounds of a short search at first, because linear programs often find the best order themselves; of a long one if not.
_ROUNDS = 200
_LONG_ROUNDS = 30_000
# Prefixes of orders that are examined: by `kemeny` to find out whether there is more than one optimal order, and by
# `all_optimal`, where they take a second or two.
_MOST_PREFIXES = 5_000
_MOST_LISTED_PREFIXES = 200_000


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

    *Definition.* The full ranking that minimizes :math:`\sum_{i \text{ before } j} w_{ji}`, where :math:`w_{ji}` is
    the weight of the rankings with j before i. On full rankings this is the sum of the Kendall distances. A ranking
    that ties two items costs the same whichever comes first, and does not count.

    With ``ties="allow"`` the consensus may tie items too (a bucket order), at the tie cost p: a ranking pays 1 for a
    pair that the consensus orders the other way, p for a pair that one of the two orders and the other ties, and 0
    otherwise; pairs with a missing item, or both unlisted, cost nothing. On rankings without missing and unlisted items
    this is the sum of the distances :math:`K^{(p)}` of Fagin et al., a metric for p in [1/2, 1] (below 1/2, going
    through a tie is shorter than swapping a pair). For p of at least 1/2, rankings without ties have a consensus
    without ties, of the same cost. Costs with and without ties allowed are comparable only if no ranking has ties.

    Parameters
    ----------
    rankings_or_matrix : Rankings, array-like of positions (n_rankings, n_items), PreferenceMatrix, or square array
        Rankings of any kind (the weights of a Rankings count), or the weights w of the preferences "row before
        column" (a diagonal below 1 distinguishes a matrix from positions).
    method : {"auto", "exact", "dp", "ilp", "local-search"}, default="auto"
        "auto" and "exact" split the items into components of the majority graph and prove each one optimal by dynamic
        programming (few items), or by linear and integer programming and, to 64 items, a search over the sets of items
        that may come first; "dp" and "ilp" use only one of these;
        "local-search" only searches, and bounds the gap by pairs and cycles of three. The same holds with ties allowed,
        where "dp" takes up to 18 items.
    time_limit : float, optional
        Seconds of search, once the pairs are counted, after which the best ranking found is returned with its gap. By
        default 60 for "auto" and "local-search", and no limit otherwise.
    ties : {"none", "allow"}, default="none"
        Whether the consensus is a full ranking, or may tie items. A square array of weights does not record ties
        in the rankings; a `PreferenceMatrix` does.
    tie_cost : float, default=0.5
        Cost of a tie against an order, above 0 and at most 1; only used with ``ties="allow"``.
    random_state : None, int, Generator or RandomState
        Random numbers of the search for a good ranking; a proof does not depend on them.

    Returns
    -------
    Consensus

    Notes
    -----
    Ctrl-C ends the search like the time limit: the best ranking so far is returned, with its gap. A second one within
    ten seconds raises KeyboardInterrupt, so that loops of calls can be ended.

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
    check_choice("method", method, ("auto", "exact", "dp", "ilp", "local-search"))
    check_choice("ties", ties, ("none", "allow"))
    if not 0 < check_real_number("tie_cost", tie_cost) <= 1:
        raise ValueError(f"tie_cost is {tie_cost}; give a number above 0 and at most 1")
    if time_limit is not None:
        check_real_number("time_limit", time_limit, infinite=True)
    elif method in ("auto", "local-search"):
        time_limit = _AUTO_TIME_LIMIT
    rng = check_generator(random_state)
    matrix = as_preference_matrix(rankings_or_matrix)
    check_comparisons(matrix, warn_of_groups=True)
    if ties == "allow":
        return bucket_consensus(matrix, tie_cost, method, Clock(time_limit), rng)
    return _joined(matrix, _solved_parts(matrix.wins, method, time_limit, rng, _MOST_PREFIXES))


def kemeny_from(
    matrix: PreferenceMatrix, start: IntArray | None, time_limit: float | None, rng: np.random.Generator
) -> Consensus:
    """Kemeny's consensus of a matrix, searched from an order that was optimal for nearly the same one."""
    return _joined(matrix, _solved_parts(matrix.wins, "auto", time_limit, rng, _MOST_PREFIXES, start))


@overload
def kemeny_batch(P: ArrayLike, *, return_proven: Literal[False] = ...) -> FloatArray: ...


@overload
def kemeny_batch(P: ArrayLike, *, return_proven: Literal[True]) -> tuple[FloatArray, BoolArray]: ...


def kemeny_batch(P: ArrayLike, *, return_proven: bool = False) -> FloatArray | tuple[FloatArray, BoolArray]:
    """Kemeny medians of many pairwise matrices.

    A matrix whose majorities are transitive is ordered by them directly. Otherwise each component of the majority
    graph is solved by dynamic programming (up to 12 items, exact) or by insertion search.

    Parameters
    ----------
    P : array-like of shape (n, n_items, n_items)
        ``P[r, i, j]`` is the weight or probability of i before j; predicted ones may lie outside 0 to 1, because only
        differences count. The diagonal is ignored, and even pairs fall in the order of the items where they can.
    return_proven : bool, default=False
        Whether to also return which medians are proven optimal.

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
    off_diagonal = ~np.eye(matrices.shape[1], dtype=bool)
    if not np.isfinite(matrices).all() and not np.isfinite(matrices[:, off_diagonal]).all():
        r, i, j = np.argwhere(~np.isfinite(matrices))[0]
        raise ValueError(f"P[{r}, {i}, {j}] is {matrices[r, i, j]:g}; give 0.5 each way for pairs without an answer")
    positions, proven = _kemeny_jit.batch_medians(matrices, _MOST_ITEMS_BATCH_DP)
    return (positions, proven) if return_proven else positions


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
    positions : ndarray of shape (n_items,) or None
        The bucket order that all optimal rankings share, listed or not: 1 = best, dense, with ties where they differ
        (beyond the limit there may be more ties than necessary). None if a component has too many possibilities to
        know.
    winners : tuple
        Items that an optimal ranking puts first; if not all are listed, those that one may put first.
    """

    rankings: Rankings
    complete: bool
    cost: float
    positions: FloatArray | None
    winners: tuple[Hashable, ...]

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
        How many rankings to list at most; there can be as many as there are permutations.
    time_limit : float, optional
        Seconds to prove one of them optimal, by default 60.
    random_state : None, int, Generator or RandomState
        Random numbers of the search for the first one.

    Returns
    -------
    OptimalRankings
        ``complete`` says whether all are listed. It is False beyond the limit, and if a component of more than 16
        items leaves too many possibilities to enumerate.

    Examples
    --------
    >>> from rankwise.aggregation import all_optimal
    >>> found = all_optimal([[1, 2, 3], [2, 3, 1], [3, 1, 2]])
    >>> found
    OptimalRankings: all 3 of cost 4
    >>> found.rankings.orders().tolist()
    [[0, 1, 2], [1, 2, 0], [2, 0, 1]]
    >>> all_optimal([[1, 2, 3], [2, 1, 3]]).positions
    array([1., 1., 2.])
    """
    check_whole_number("limit", limit, at_least=1)
    seconds = _AUTO_TIME_LIMIT if time_limit is None else check_real_number("time_limit", time_limit, infinite=True)
    rng = check_generator(random_state)
    matrix = as_preference_matrix(rankings_or_matrix)
    check_comparisons(matrix, warn_of_groups=True)
    found, gap = list_optimal(matrix, limit, seconds, rng)
    if found is None:
        raise ValueError(
            f"no ranking was proven optimal in time, the best has a gap of {100 * gap:.3g}%; give a longer "
            "time_limit, or take the best one from kemeny"
        )
    return found


def list_optimal(
    matrix: PreferenceMatrix, limit: int, seconds: float | None, rng: np.random.Generator
) -> tuple[OptimalRankings | None, float]:
    """The optimal rankings, None if none was proven in time; and the gap that is left."""
    parts = _solved_parts(matrix.wins, "auto", seconds, rng, _MOST_LISTED_PREFIXES)
    consensus = _joined(matrix, parts)
    if not consensus.optimal:
        return None, consensus.gap
    known = [SingleOrder(part.order) if part.orders is None else part.orders for part in parts]
    orders = list(islice(joint_orders(matrix.wins, [part.items for part in parts], known), limit + 1))
    complete = len(orders) <= limit and all(part.orders is not None or len(part.items) == 1 for part in parts)
    listed = np.array(orders[:limit])
    positions = np.empty(listed.shape)
    np.put_along_axis(positions, listed, np.arange(1.0, matrix.n_items + 1)[None, :], axis=1)
    positions = positions[np.lexsort(listed.T[::-1])]
    if complete:
        shared: FloatArray | None = shared_by(positions)
        first = (positions == 1).any(axis=0)
    elif any(part.orders is None for part in parts if len(part.items) > 1):
        shared, first = None, positions[0] == 1
    else:
        shared = shared_positions(surely_before(matrix.wins, [part.items for part in parts], known))
        first = shared == 1
    winners = tuple(matrix.items[i] for i in np.flatnonzero(first))
    return OptimalRankings(Rankings(positions, items=matrix.items), complete, consensus.cost, shared, winners), 0.0


@dataclass
class _Part:
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
        Whether no order costs less than ``order``.
    method : str
        What found it.
    orders : OptimalOrders, optional
        All optimal orders; None if they are not known, and for a single item.
    """

    items: IntArray
    order: IntArray
    lower: float
    proven: bool
    method: str
    orders: OptimalOrders | None = None


def _solved_parts(
    wins: FloatArray,
    method: Method,
    time_limit: float | None,
    rng: np.random.Generator,
    most_prefixes: int,
    start: IntArray | None = None,
) -> list[_Part]:
    """The components of the majority graph, best first, each with its consensus; an order to start from may help."""
    components = ordered_components(majority(wins), wins.sum(axis=1) - wins.sum(axis=0))
    largest = max(len(items) for items in components)
    if method == "dp" and largest > MOST_ITEMS_DP:
        raise ValueError(
            f"a component of the majority graph has {largest} items; dynamic programming takes at most "
            f"{MOST_ITEMS_DP} (2^{largest} sets): use method='auto'"
        )
    if method in ("exact", "ilp") and largest > MOST_ITEMS_LP:
        raise ValueError(
            f"a component of the majority graph has {largest:,} items; linear programming takes at most "
            f"{MOST_ITEMS_LP:,} ({comb(largest, 2):,} variables, {comb(largest, 3):,} triples to check again and "
            "again): use method='auto', which searches and bounds the gap"
        )
    most_items_dp = {"dp": MOST_ITEMS_DP, "auto": _AUTO_ITEMS_DP, "exact": _AUTO_ITEMS_DP}.get(method, 0)
    clock = None
    parts = []
    for items in components:
        if len(items) == 1:
            parts.append(_Part(items, np.zeros(1, dtype=np.intp), 0.0, True, "condorcet"))
        elif len(items) <= most_items_dp:
            parts.append(_solved_by_subsets(wins, items))
        else:
            clock = clock or Clock(time_limit)
            few = method in ("auto", "exact") and len(items) <= MOST_ITEMS_DP
            limit = clock.at_most(_SECONDS_BEFORE_DP) if few else clock
            part = _searched(wins, items, method, limit, rng, most_prefixes, start)
            parts.append(_solved_by_subsets(wins, items) if few and not part.proven and not clock.over else part)
    return parts


def _solved_by_subsets(wins: FloatArray, items: IntArray) -> _Part:
    m = len(items)
    part = np.ascontiguousarray(wins[np.ix_(items, items)])
    best = np.empty(1 << m)
    _kemeny_jit.subset_costs(part, best, np.empty((1 << m // 2, m)), np.empty((1 << (m - m // 2), m)))
    order = _kemeny_jit.order_from_subsets(part, best)
    return _Part(items, order, float(best[-1]), True, "dp", OrdersFromSets(part, best, ~np.eye(m, dtype=bool)))


def _searched(
    wins: FloatArray,
    items: IntArray,
    method: Method,
    clock: Clock,
    rng: np.random.Generator,
    most_prefixes: int,
    start: IntArray | None,
) -> _Part:
    """Search for a good order, and prove it optimal by linear programming where that is feasible."""
    part = np.ascontiguousarray(wins[np.ix_(items, items)])
    bounds = Bounds(part)
    programs = method in ("exact", "ilp") or (method == "auto" and len(items) <= MOST_ITEMS_AUTO_LP)
    orders: OptimalOrders | None = None
    with clock.ended_by_interrupt():
        if start is not None:
            bounds.offer(np.searchsorted(items, start[np.isin(start, items)]))
        cycles = raise_by_cycles(bounds, clock.at_most(clock.left / 4))
        perturb(bounds, clock, rng, _ROUNDS if programs else _LONG_ROUNDS)
        if programs:
            settled = prove(bounds, clock, cycles, lambda: perturb(bounds, clock, rng, _LONG_ROUNDS))
            if bounds.proven and settled is not None:
                orders = orders_with_settled_pairs(part, bounds.order, settled, most_prefixes)
    return _Part(items, bounds.order, bounds.lower, bounds.proven, "ilp" if programs else "local-search", orders)


def _joined(matrix: PreferenceMatrix, parts: list[_Part]) -> Consensus:
    """The consensus of all items from those of the components."""
    order = np.concatenate([part.items[part.order] for part in parts])
    positions = np.empty(len(order))
    positions[order] = np.arange(1.0, len(order) + 1)
    cost = lower = float(_kemeny_jit.order_cost(matrix.wins, order))
    large = [part for part in parts if len(part.items) > 1]
    optimal = all(part.proven for part in large)
    unique: bool | None = None
    if optimal:
        # Another optimal order would reorder a component, or swap two neighbors of this one across components.
        ends = np.cumsum([len(part.items) for part in parts[:-1]], dtype=np.intp)
        kept = majority(matrix.wins)[order[ends - 1], order[ends]].all()
        known = {None if part.orders is None else part.orders.is_single() for part in large}
        unique = False if not kept or False in known else None if None in known else True
    else:
        inside = sum(float(_kemeny_jit.order_cost(matrix.wins, part.items[part.order])) for part in large)
        lower = min(cost, cost - inside + sum(part.lower for part in large))
    return Consensus(
        positions=positions,
        items=matrix.items,
        cost=cost,
        lower_bound=lower,
        optimal=optimal,
        gap=0.0 if optimal else (cost - lower) / cost,
        components=tuple(tuple(part.items.tolist()) for part in parts),
        method="+".join(dict.fromkeys(part.method for part in large)) or "condorcet",
        unique=unique,
    )
