"""Kemeny's consensus with ties: the bucket order of lowest cost, used by `kemeny` with ``ties="allow"``."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from rankwise._typing import FloatArray, IntArray
from rankwise.aggregation import _kemeny_ties_jit
from rankwise.aggregation._kemeny_search import Clock
from rankwise.aggregation._kemeny_ties_proof import BucketBounds, prove_buckets
from rankwise.aggregation.kemeny_result import Consensus
from rankwise.aggregation.pairs import PreferenceMatrix, ordered_components

# 3^18 pairs of a set and its last bucket take seconds; each further item triples that.
MOST_ITEMS_DP = 18
# Up to this many items, dynamic programming takes a tenth of a second, and says whether the optimum is unique.
_AUTO_ITEMS_DP = 16
# Linear programs over more items than this do not finish a round in useful time ...
MOST_ITEMS_AUTO_LP = 250
# ... and over more than this they take gigabytes.
MOST_ITEMS_LP = 1000
# Rounds of the iterated search, alone and beside linear programs; and moves of each perturbation.
_ROUNDS = 1000
_SHORT_ROUNDS = 300
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
    if method == "dp" and largest > MOST_ITEMS_DP:
        raise ValueError(
            f"{largest} items must be solved together; dynamic programming over bucket orders takes at most "
            f"{MOST_ITEMS_DP} (3^{largest} steps): use method='auto', which takes integer programs"
        )
    if method in ("exact", "ilp") and largest > MOST_ITEMS_LP:
        raise ValueError(
            f"{largest:,} items must be solved together; linear programming over bucket orders takes at most "
            f"{MOST_ITEMS_LP:,} ({largest * (largest - 1):,} variables): use method='auto', which searches and bounds "
            "the gap"
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
    if method == "dp" or (method in ("auto", "exact") and len(items) <= _AUTO_ITEMS_DP):
        bucket, cost, unique = _kemeny_ties_jit.partition_costs(part.before, part.tied, part.tolerance)
        return _Part(items, bucket, cost, cost, True, "dp", unique)
    programs = method in ("exact", "ilp") or (method == "auto" and len(items) <= MOST_ITEMS_AUTO_LP)
    bounds = BucketBounds(part.before, part.tied)
    with clock.ended_by_interrupt():
        if programs:
            prove_buckets(bounds, clock, lambda: _search(bounds, clock, rng, _SHORT_ROUNDS))
        else:
            bounds.offer(np.zeros(len(items), dtype=np.intp))
            _search(bounds, clock, rng, _ROUNDS)
    method = "ilp" if programs else "local-search"
    return _Part(items, bounds.bucket, bounds.cost, bounds.lower, bounds.proven, method, None)


def _search(bounds: BucketBounds, clock: Clock, rng: np.random.Generator, rounds: int) -> None:
    """Iterated local search from the best bucket order, in short turns, so that it ends near the deadline."""
    k = len(bounds.bucket)
    turns = max(1, min(50, int(1e6 // k**2)))
    bucket = bounds.bucket
    for _ in range(0, rounds, turns):
        if clock.over or bounds.proven:
            break
        picks, targets = rng.integers(0, k, (turns, _MOVES)), rng.random((turns, _MOVES))
        bucket, cost = _kemeny_ties_jit.iterated_bucket_search(bounds.before, bounds.tied, bucket, picks, targets)
        if cost < bounds.cost - 1e-9:
            bounds.offer(bucket)


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
