"""Kemeny's consensus with ties: the bucket order of lowest cost, used by `kemeny` with ``ties="allow"``."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from rankwise._typing import FloatArray, IntArray
from rankwise.aggregation import _kemeny_ties_jit
from rankwise.aggregation._kemeny_search import Clock
from rankwise.aggregation.kemeny_result import Consensus
from rankwise.aggregation.pairs import PreferenceMatrix, ordered_components

# 3^18 pairs of a set and its last bucket take seconds; each further item triples that.
MOST_ITEMS_DP = 18
_AUTO_ITEMS_DP = 15
# Rounds of the iterated search, and moves of each perturbation.
_ROUNDS = 1000
_MOVES = 3
# Costs closer than this share of the whole are equal.
_PRECISION = 1e-9


def bucket_consensus(
    matrix: PreferenceMatrix, tie_cost: float, method: str, clock: Clock, rng: np.random.Generator
) -> Consensus:
    """The consensus that may tie items; see `rankwise.aggregation.kemeny`.

    Components work here too. Suppose that for all a in A and b in B, "a before b" is a cheapest of the three states of
    the pair. Then splitting any bucket order into its items of A followed by its items of B costs no more: pairs within
    A and within B stay as they were, and pairs between them are at their cheapest. The finest such sets are
    the strongly connected components of the graph with an edge from b to a wherever "a before b" is not cheapest.
    """
    costs = _PairCosts.of(matrix, tie_cost)
    components = costs.components()
    largest = max(len(items) for items in components)
    if method == "ilp":
        raise ValueError("method is 'ilp', but integer programs do not find ties; use method='auto' with ties='allow'")
    if method in ("exact", "dp") and largest > MOST_ITEMS_DP:
        raise ValueError(
            f"{largest} items must be solved together; dynamic programming over bucket orders takes at most "
            f"{MOST_ITEMS_DP} (3^{largest} steps): use method='auto', which searches and bounds the gap"
        )
    parts = [_solved(costs, items, method, clock, rng) for items in components]
    bucket = np.empty(matrix.n_items, dtype=np.intp)
    n_levels = 0
    for part in parts:
        bucket[part.items] = n_levels + part.bucket
        n_levels += int(part.bucket.max()) + 1
    cost = float(_kemeny_ties_jit.bucket_cost(costs.before, costs.tied, bucket))
    optimal = all(part.proven for part in parts)
    lower = cost if optimal else min(cost, cost - sum(part.cost - part.lower for part in parts))
    methods = dict.fromkeys(part.method for part in parts if len(part.items) > 1) or {"condorcet": None}
    return Consensus(
        positions=bucket.astype(np.float64) + 1,
        items=matrix.items,
        cost=cost,
        lower_bound=lower,
        optimal=optimal,
        gap=0.0 if optimal else (cost - lower) / cost,
        components=tuple(tuple(items.tolist()) for items in components),
        method="+".join(methods),
        unique=_unique(costs, parts) if optimal else None,
    )


@dataclass
class _PairCosts:
    """Cost of each pair: ``before[i, j]`` with i before j, ``tied[i, j]`` in one bucket."""

    before: FloatArray
    tied: FloatArray

    @classmethod
    def of(cls, matrix: PreferenceMatrix, tie_cost: float) -> _PairCosts:
        return cls(
            np.ascontiguousarray(matrix.wins.T + tie_cost * matrix.ties), tie_cost * (matrix.wins + matrix.wins.T)
        )

    def among(self, items: IntArray) -> _PairCosts:
        index = np.ix_(items, items)
        return _PairCosts(np.ascontiguousarray(self.before[index]), np.ascontiguousarray(self.tied[index]))

    def components(self) -> list[IntArray]:
        cheapest = np.minimum(np.minimum(self.before, self.before.T), self.tied)
        dearer = self.before > cheapest + self.tolerance
        return ordered_components(dearer.T, self.before.sum(axis=0) - self.before.sum(axis=1))

    @property
    def tolerance(self) -> float:
        return _PRECISION * max(1.0, float(self.tied.max(initial=0.0)))

    @property
    def lower_bound(self) -> float:
        cheapest = np.minimum(np.minimum(self.before, self.before.T), self.tied)
        return float(np.triu(cheapest, 1).sum())


@dataclass
class _Part:
    """The consensus of one component."""

    items: IntArray
    bucket: IntArray
    cost: float
    lower: float
    proven: bool
    method: str
    unique: bool | None


def _solved(costs: _PairCosts, items: IntArray, method: str, clock: Clock, rng: np.random.Generator) -> _Part:
    if len(items) == 1:
        return _Part(items, np.zeros(1, dtype=np.intp), 0.0, 0.0, True, "condorcet", True)
    part = costs.among(items)
    if method in ("exact", "dp") or (method == "auto" and len(items) <= _AUTO_ITEMS_DP):
        bucket, cost, unique = _kemeny_ties_jit.partition_costs(part.before, part.tied, part.tolerance)
        return _Part(items, bucket, cost, cost, True, "dp", unique)
    bucket, cost = _searched(part, clock, rng)
    lower = part.lower_bound
    return _Part(items, bucket, cost, lower, cost <= lower + part.tolerance, "local-search", None)


def _searched(part: _PairCosts, clock: Clock, rng: np.random.Generator) -> tuple[IntArray, float]:
    """Local search from the order of the mean costs and from a single bucket, then iterated from the better one."""
    k = len(part.before)
    starts = [np.argsort(np.argsort(part.before.sum(axis=1) - part.before.sum(axis=0))), np.zeros(k, dtype=np.intp)]
    found: list[tuple[float, IntArray]] = []
    with clock.ended_by_interrupt():
        for bucket in starts:
            if found and clock.over:
                break
            _kemeny_ties_jit.bucket_search(part.before, part.tied, bucket)
            found.append((float(_kemeny_ties_jit.bucket_cost(part.before, part.tied, bucket)), bucket))
        cost, best = min(found, key=lambda pair: pair[0])
        turns = max(1, min(50, int(1e6 // k**2)))
        for _ in range(0, _ROUNDS, turns):
            if clock.over:
                break
            picks, targets = rng.integers(0, k, (turns, _MOVES)), rng.random((turns, _MOVES))
            best, cost = _kemeny_ties_jit.iterated_bucket_search(part.before, part.tied, best, picks, targets)
            found.append((float(cost), best))
    best = min(found, key=lambda pair: pair[0])[1] if found else starts[0]
    return best, float(_kemeny_ties_jit.bucket_cost(part.before, part.tied, best))


def _unique(costs: _PairCosts, parts: list[_Part]) -> bool | None:
    """Whether there is one optimal bucket order.

    If every part has a unique optimum, another optimal order keeps the buckets of each part and their order, but not
    the whole order: some bucket does not come before its successor, which belongs to another part. Tied or swapped, all
    their pairs are at their cheapest, so tying or swapping these two alone already gives an optimal bucket order.
    """
    if any(part.unique is False for part in parts):
        return False
    for above, below in pairwise(parts):
        last = above.items[above.bucket == above.bucket.max()]
        first = below.items[below.bucket == 0]
        kept = costs.before[np.ix_(last, first)].sum()
        others = min(costs.tied[np.ix_(last, first)].sum(), costs.before[np.ix_(first, last)].sum())
        if others <= kept + costs.tolerance:
            return False
    return None if any(part.unique is None for part in parts) else True
