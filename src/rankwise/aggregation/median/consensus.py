"""Kemeny's consensus: the ranking with the fewest pairwise disagreements, with a proof where one can be had."""

from __future__ import annotations

import time
from collections.abc import Hashable
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np

from rankwise._random import check_generator
from rankwise._typing import ArrayLike, FloatArray, IntArray, RandomState
from rankwise.aggregation.median import _jit
from rankwise.aggregation.median.linear import Bounds, cost_step, prove
from rankwise.aggregation.pairwise import PreferenceMatrix, as_preference_matrix

Method = Literal["auto", "exact", "dp", "ilp", "local-search"]

# 2^20 sets take 16 MB and a tenth of a second; each further item doubles both.
MOST_ITEMS_DP = 20
# Below this the dynamic programme is quicker than a linear programme.
_AUTO_ITEMS_DP = 16
# A linear programme over more items than this does not finish a round in useful time.
_MOST_ITEMS_LP = 600
_AUTO_TIME_LIMIT = 60.0
_SHAKES = 200
_LONG_SHAKES = 4000
_SHAKE_MOVES = 3


@dataclass(frozen=True, eq=False)
class Consensus:
    """A consensus ranking, and what is known of it.

    Attributes
    ----------
    positions : ndarray of shape (n_items,)
        Positions, 1 = best.
    items : tuple
        Names of the items.
    cost : float
        Kemeny score: total weight of the pairwise disagreements of the rankings with the consensus.
    lower_bound : float
        No ranking has a lower cost than this.
    optimal : bool
        Whether the cost is proven to be the lowest.
    gap : float
        (cost - lower_bound) / cost: how much lower the lowest cost might be; 0 where optimal.
    components : tuple of tuples of int
        Items by strongly connected component of the majority graph, best component first. Where all are single,
        majorities alone order the items.
    method : str
        What found the consensus: "condorcet", "dp", "ilp", "local-search", or several, joined by "+".
    unique : bool or None
        Whether it is the only ranking of lowest cost; None where that is not known.
    """

    positions: FloatArray
    items: tuple[Hashable, ...]
    cost: float
    lower_bound: float
    optimal: bool
    gap: float
    components: tuple[tuple[int, ...], ...]
    method: str
    unique: bool | None

    def __repr__(self) -> str:
        order = np.argsort(self.positions, kind="stable")
        text = ""
        for place, item in enumerate(order):
            joint = " ~ " if place and self.positions[item] == self.positions[order[place - 1]] else " > "
            text += (joint if place else "") + str(self.items[item])
        proof = "proven optimal" if self.optimal else f"not proven, at most {100 * self.gap:.3g} % above the optimum"
        return f"Consensus: {text}\n  cost {self.cost:,.10g}, {proof} ({self.method})"


def kemeny(
    rankings_or_matrix: ArrayLike,
    *,
    method: Method = "auto",
    time_limit: float | None = None,
    random_state: RandomState = None,
) -> Consensus:
    r"""Find the ranking that disagrees least with the given ones: Kemeny's consensus.

    *Definition.* The full ranking that minimises :math:`\sum_{i \text{ before } j} w_{ji}`, where :math:`w_{ji}` is
    the weight of the rankings with j before i. On full rankings this is the sum of the Kendall distances.

    Parameters
    ----------
    rankings_or_matrix : Rankings, array-like of positions (n_rankings, n_items), PreferenceMatrix, or square array
        Rankings of any kind, or the weights w of the preferences "row before column" (the diagonal, below 1, tells
        a matrix from positions).
    method : {"auto", "exact", "dp", "ilp", "local-search"}, default="auto"
        "auto" and "exact" split the items into components of the majority graph and prove each one optimal by a
        dynamic programme (few items) or linear and integer programmes; "dp" and "ilp" insist on one of these;
        "local-search" only searches, and bounds the gap by the pairs.
    time_limit : float, optional
        Seconds after which the best ranking found is returned with its gap. By default 60 for "auto", and no limit
        else.
    random_state : None, int, Generator or RandomState
        Of the search for a good ranking; the proof does not depend on it.

    Returns
    -------
    Consensus

    References
    ----------
    Kemeny (1959), Mathematics without numbers. Truchon (1998), An extension of the Condorcet criterion and Kemeny
    orders. Grötschel, Jünger, Reinelt (1984), A cutting plane algorithm for the linear ordering problem.

    Examples
    --------
    >>> from rankwise.aggregation import kemeny
    >>> kemeny([[1, 2, 3], [1, 3, 2], [2, 1, 3]])
    Consensus: 0 > 1 > 2
      cost 2, proven optimal (condorcet)
    """
    if method not in ("auto", "exact", "dp", "ilp", "local-search"):
        raise ValueError(f"method is {method!r}; choose 'auto', 'exact', 'dp', 'ilp' or 'local-search'")
    if time_limit is not None and not time_limit >= 0:
        raise ValueError(f"time_limit is {time_limit}; give seconds, or None")
    if time_limit is None and method == "auto":
        time_limit = _AUTO_TIME_LIMIT
    deadline = np.inf if time_limit is None else time.perf_counter() + time_limit
    matrix = as_preference_matrix(rankings_or_matrix)
    check_comparisons(matrix)
    rng = check_generator(random_state)
    components = majority_components(matrix.wins)
    solved = [_Part.solve(matrix.wins, part, method, deadline, rng) for part in components]
    return _joined(matrix, components, solved)


def majority_components(wins: FloatArray) -> list[IntArray]:
    """Strongly connected components of the strict majority graph, best first.

    Every pair across two components is ordered as its majority wants, so medians of the components, one after
    the other, make a median of all.
    """
    from scipy.sparse.csgraph import connected_components

    majority = wins > wins.T
    number, label = connected_components(majority, directed=True, connection="strong")
    size = np.bincount(label, minlength=number)
    between = np.zeros((number, number), dtype=bool)
    winner, loser = np.nonzero(majority)
    between[label[winner], label[loser]] = True
    np.fill_diagonal(between, False)
    # Components come in the order of a graph without cycles: repeatedly one that nobody left beats.
    beaten_by = between.sum(axis=0)
    parts: list[IntArray] = []
    free = sorted(np.flatnonzero(beaten_by == 0), key=lambda c: -float(wins[label == c].sum()) / size[c])
    while free:
        component = free.pop(0)
        parts.append(np.flatnonzero(label == component))
        for other in np.flatnonzero(between[component]):
            beaten_by[other] -= 1
            if beaten_by[other] == 0:
                free.append(other)
    return parts


def check_comparisons(matrix: PreferenceMatrix) -> None:
    """Refuse items of which no ranking says anything."""
    if matrix.n_items < 2:
        return
    silent = matrix.counts.sum(axis=1) == 0
    if silent.any():
        name = matrix.items[int(np.argmax(silent))]
        raise ValueError(
            f"no ranking compares item {name!r} with another, so it has no place in a consensus; "
            "keep the other items with Rankings.select([...]), or add rankings that hold it"
        )


# ---------------------------------------------------------------------------------------------------------------


@dataclass
class _Part:
    """The consensus of one component."""

    order: IntArray
    lower: float
    proven: bool
    method: str
    unique: bool | None

    @classmethod
    def solve(
        cls, wins: FloatArray, items: IntArray, method: Method, deadline: float, rng: np.random.Generator
    ) -> _Part:
        part = np.ascontiguousarray(wins[np.ix_(items, items)])
        if len(items) == 1:
            return cls(items, 0.0, True, "condorcet", True)
        if method == "dp" and len(items) > MOST_ITEMS_DP:
            raise ValueError(
                f"a component of the majority graph has {len(items)} items; the dynamic programme takes at most "
                f"{MOST_ITEMS_DP} (2^{len(items)} sets): use method='auto'"
            )
        if method == "dp" or (method in ("auto", "exact") and len(items) <= _AUTO_ITEMS_DP):
            best, choice = _jit.subset_costs(part)
            order = _jit.order_from_choices(choice, len(items))
            return cls(items[order], float(best[-1]), True, "dp", _only_one(part, best, order))
        return cls._search(part, items, method, deadline, rng)

    @classmethod
    def _search(
        cls, part: FloatArray, items: IntArray, method: Method, deadline: float, rng: np.random.Generator
    ) -> _Part:
        start = np.argsort(part.sum(axis=0) - part.sum(axis=1), kind="stable")
        lower = float(np.minimum(part, part.T)[np.triu_indices(len(part), 1)].sum())
        bounds = Bounds(start, float(_jit.order_cost(part, start)), lower, cost_step(part))
        bounds.offer(part, start)
        used = "local-search"
        try:
            _shake(part, bounds, deadline, rng, _SHAKES)
            if method != "local-search" and len(part) <= _MOST_ITEMS_LP and not bounds.proven:
                used = "ilp"
                prove(part, bounds, deadline, lambda: _shake(part, bounds, deadline, rng, _LONG_SHAKES))
        except KeyboardInterrupt:
            pass  # the best order so far, with its gap, is worth more than nothing
        return cls(items[bounds.order], bounds.lower, bounds.proven, used, None)


def _shake(part: FloatArray, bounds: Bounds, deadline: float, rng: np.random.Generator, rounds: int) -> None:
    """Iterated local search in short turns, so that it ends near the deadline whatever the size."""
    k = len(part)
    turns = max(1, min(20, int(1e7 // k**2)))
    for _ in range(rounds // turns):
        if time.perf_counter() >= deadline or bounds.proven:
            return
        picks = rng.integers(0, k, (turns, 1)) + rng.integers(-10, 11, (turns, _SHAKE_MOVES))
        shifts = rng.integers(-min(k - 1, 20), min(k - 1, 20) + 1, (turns, _SHAKE_MOVES))
        bounds.offer(part, _jit.iterated_search(part, bounds.order, picks % k, shifts))


def _only_one(part: FloatArray, best: FloatArray, order: IntArray) -> bool:
    """Whether the dynamic programme has one optimal order: no step on the way could end otherwise at the same cost.

    Walking back from the full set, another last item must always cost more.
    """
    chosen = (1 << len(part)) - 1
    for item in order[::-1]:
        for other in range(len(part)):
            if other != item and (chosen >> other) & 1:
                rest = chosen & ~(1 << other)
                members = [i for i in range(len(part)) if (rest >> i) & 1]
                if best[rest] + part[other, members].sum() <= best[chosen] + 1e-9:
                    return False
        chosen &= ~(1 << int(item))
    return True


def _joined(matrix: PreferenceMatrix, components: list[IntArray], solved: list[_Part]) -> Consensus:
    order = np.concatenate([part.order for part in solved])
    positions = np.empty(len(order))
    positions[order] = np.arange(1.0, len(order) + 1)
    cost = float(_jit.order_cost(matrix.wins, order))
    inside = sum(float(_jit.order_cost(matrix.wins, part.order)) for part in solved)
    lower = cost - inside + sum(part.lower for part in solved)
    optimal = all(part.proven for part in solved)
    lower = cost if optimal else min(lower, cost)
    unique: bool | None = None
    if optimal:
        # Neighbours in different components without a majority could change places; and if any order of the same
        # cost mixes two components, one that swaps such neighbours does (linear extensions are connected by swaps).
        seams = [(a.order[-1], b.order[0]) for a, b in pairwise(solved)]
        fixed = all(matrix.wins[i, j] > matrix.wins[j, i] for i, j in seams)
        known = [part.unique for part in solved]
        unique = False if not fixed or False in known else None if None in known else True
    methods = dict.fromkeys(part.method for part in solved if len(part.order) > 1) or {"condorcet": None}
    return Consensus(
        positions=positions,
        items=matrix.items,
        cost=cost,
        lower_bound=lower,
        optimal=optimal,
        gap=0.0 if optimal else (cost - lower) / cost,
        components=tuple(tuple(int(i) for i in part) for part in components),
        method="+".join(methods),
        unique=unique,
    )
