"""The bucket order with the lowest Kemeny cost, ties at a price."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from rankwise._typing import FloatArray, IntArray
from rankwise.aggregation import _kemeny_ties_jit
from rankwise.aggregation._kemeny_search import Clock
from rankwise.aggregation.consensus import Consensus
from rankwise.aggregation.pairs import PreferenceMatrix, ordered_components

# 3^18 pairs of a set and its last bucket take seconds; each further item triples that.
MOST_ITEMS_DP = 18
_AUTO_ITEMS_DP = 15
_SHAKES = 1000
_SHAKE_MOVES = 3
# Costs closer than this share of the whole are the same.
_PRECISION = 1e-9


def bucket_consensus(
    matrix: PreferenceMatrix, tie_cost: float, method: str, clock: Clock, rng: np.random.Generator
) -> Consensus:
    """The consensus that may tie items; see `rankwise.aggregation.kemeny`.

    Components hold here too: let every "a before b" with a in A and b in B be a cheapest of the three states of its
    pair. Then any bucket order, taken apart into its items of A and its items of B, in this order, costs no more: pairs
    within A and within B stay as they were, pairs between them are at their cheapest. The finest such chain of sets is
    that of the strongly connected components of the graph that leads from b to a where "a before b" is not cheapest.
    """
    prices = _Prices.of(matrix, tie_cost)
    components = prices.components()
    _refuse_too_much(method, max(len(items) for items in components))
    parts = [_solved(prices, items, method, clock, rng) for items in components]
    bucket = np.empty(matrix.n_items, dtype=np.intp)
    n_levels = 0
    for part in parts:
        bucket[part.items] = n_levels + part.bucket
        n_levels += int(part.bucket.max()) + 1
    cost = float(_kemeny_ties_jit.bucket_cost(prices.before, prices.tied, bucket))
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
        unique=_unique(prices, parts) if optimal else None,
    )


@dataclass
class _Prices:
    """What a pair pays: ``before[i, j]`` with i before j, ``tied[i, j]`` in one bucket."""

    before: FloatArray
    tied: FloatArray

    @classmethod
    def of(cls, matrix: PreferenceMatrix, tie_cost: float) -> _Prices:
        return cls(
            np.ascontiguousarray(matrix.wins.T + tie_cost * matrix.ties), tie_cost * (matrix.wins + matrix.wins.T)
        )

    def among(self, items: IntArray) -> _Prices:
        index = np.ix_(items, items)
        return _Prices(np.ascontiguousarray(self.before[index]), np.ascontiguousarray(self.tied[index]))

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


def _refuse_too_much(method: str, largest: int) -> None:
    if method == "ilp":
        raise ValueError("method is 'ilp', but integer programmes find no ties; use method='auto' with ties='allow'")
    if method in ("exact", "dp") and largest > MOST_ITEMS_DP:
        raise ValueError(
            f"{largest} items must be solved together; the dynamic programme over bucket orders takes at most "
            f"{MOST_ITEMS_DP} (3^{largest} steps): use method='auto', which searches and bounds the gap"
        )


def _solved(prices: _Prices, items: IntArray, method: str, clock: Clock, rng: np.random.Generator) -> _Part:
    if len(items) == 1:
        return _Part(items, np.zeros(1, dtype=np.intp), 0.0, 0.0, True, "condorcet", True)
    part = prices.among(items)
    if method in ("exact", "dp") or (method == "auto" and len(items) <= _AUTO_ITEMS_DP):
        bucket, cost, unique = _kemeny_ties_jit.partition_costs(part.before, part.tied, part.tolerance)
        return _Part(items, bucket, cost, cost, True, "dp", unique)
    bucket, cost = _searched(part, clock, rng)
    lower = part.lower_bound
    return _Part(items, bucket, cost, lower, cost <= lower + part.tolerance, "local-search", None)


def _searched(part: _Prices, clock: Clock, rng: np.random.Generator) -> tuple[IntArray, float]:
    """Local search from the order of the mean prices and from one bucket for all, then iterated from the better."""
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
        for _ in range(0, _SHAKES, turns):
            if clock.over:
                break
            picks, targets = rng.integers(0, k, (turns, _SHAKE_MOVES)), rng.random((turns, _SHAKE_MOVES))
            best, cost = _kemeny_ties_jit.iterated_bucket_search(part.before, part.tied, best, picks, targets)
            found.append((float(cost), best))
    best = min(found, key=lambda pair: pair[0])[1] if found else starts[0]
    return best, float(_kemeny_ties_jit.bucket_cost(part.before, part.tied, best))


def _unique(prices: _Prices, parts: list[_Part]) -> bool | None:
    """Whether there is one optimal bucket order.

    If the parts have one each, then another one keeps their buckets and their order within parts, but not the whole
    order: some bucket does not come before its successor, which is of another part. Tied or turned, all their pairs
    are at their cheapest, so tying or turning these two alone makes an optimal bucket order already.
    """
    if any(part.unique is False for part in parts):
        return False
    for above, below in pairwise(parts):
        last = above.items[above.bucket == above.bucket.max()]
        first = below.items[below.bucket == 0]
        kept = prices.before[np.ix_(last, first)].sum()
        others = min(prices.tied[np.ix_(last, first)].sum(), prices.before[np.ix_(first, last)].sum())
        if others <= kept + prices.tolerance:
            return False
    return None if any(part.unique is None for part in parts) else True
