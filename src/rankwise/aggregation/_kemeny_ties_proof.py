"""Proof that a bucket order is optimal, by linear and integer programming; used by `_kemeny_ties`.

The variable x_ij of an ordered pair is 1 if i comes before j, so two items tie where x_ij = x_ji = 0. These are the
bucket orders: x_ij + x_ji <= 1, and whoever comes before l comes before j, or j before l: x_il <= x_ij + x_jl. Such
triangles are added where a solution violates them; where it violates none, inequalities on four items follow, which
with the others describe the bucket orders of four items completely (Fiorini and Fishburn 2004, Weak order polytopes).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from rankwise._typing import FloatArray, IntArray
from rankwise.aggregation import _kemeny_ties_jit, _kemeny_ties_proof_jit
from rankwise.aggregation._kemeny_programs import TOLERANCE, Inequalities, LinearProgram
from rankwise.aggregation._kemeny_search import Clock, is_proven

# Inequalities that are added at once, per item.
_MOST_PER_ITEM = 10
# A share of ties costs a fraction; costs are whole multiples of one over a number up to this, or of nothing.
_LARGEST_DENOMINATOR = 100


@dataclass
class BucketBounds:
    """The best bucket order known for a component, and what is proven of it.

    ``before[i, j]`` is the cost of a pair with i before j, ``tied[i, j]`` its cost in one bucket.
    """

    before: FloatArray
    tied: FloatArray
    bucket: IntArray = field(init=False)
    cost: float = field(init=False, default=np.inf)
    lower: float = field(init=False)
    step: float = field(init=False)

    def __post_init__(self) -> None:
        k = len(self.before)
        cheapest = np.minimum(np.minimum(self.before, self.before.T), self.tied)
        self.lower = float(np.triu(cheapest, 1).sum())
        self.step = _cost_step(self.before - self.tied)
        self.bucket = np.zeros(k, dtype=np.intp)
        self.offer(np.argsort(np.argsort(self.before.sum(axis=1) - self.before.sum(axis=0))))

    @property
    def proven(self) -> bool:
        """Whether no bucket order can be cheaper."""
        return is_proven(self.cost, self.lower, self.step)

    def offer(self, order: IntArray) -> None:
        """Improve a bucket order by moving items and buckets, and keep it if it is cheaper than the best."""
        bucket = order.copy()
        _kemeny_ties_jit.bucket_search(self.before, self.tied, bucket)
        cost = float(_kemeny_ties_jit.bucket_cost(self.before, self.tied, bucket))
        if cost < self.cost - 1e-9:
            self.bucket, self.cost = bucket, cost


class BucketProgram(LinearProgram):
    """The linear program of the bucket orders of some items."""

    def __init__(self, bounds: BucketBounds) -> None:
        m = len(bounds.before)
        self.first, self.second = np.nonzero(~np.eye(m, dtype=bool))
        self.column: IntArray = np.zeros((m, m), dtype=np.intp)
        self.column[self.first, self.second] = np.arange(len(self.first))
        super().__init__((bounds.before - bounds.tied)[self.first, self.second], float(np.triu(bounds.tied, 1).sum()))
        i, j = np.triu_indices(m, 1)
        self.add(self._rows(np.stack([i, j, j, i], axis=1), np.ones((len(i), 2)), np.ones(len(i))))
        self.n_lasting = len(i)

    def suggested_order(self) -> IntArray:
        """The solution itself where it is a bucket order; otherwise items tie that it puts at nearly the same level."""
        x = self.shares()
        level = x.sum(axis=0) - x.sum(axis=1)
        order = np.argsort(level, kind="stable")
        apart = x[order[:-1], order[1:]] > 0.5
        bucket = np.empty(len(x), dtype=np.intp)
        bucket[order] = np.concatenate([[0], np.cumsum(apart)])
        return bucket

    def violated(self) -> Inequalities:
        """Triangles that the solution violates most."""
        x = self.shares()
        found = _kemeny_ties_proof_jit.violated_triangles(x, TOLERANCE, _MOST_PER_ITEM * len(x))
        i, j, other = found.T
        pairs = np.stack([i, other, i, j, j, other], axis=1)
        return self._rows(pairs, np.tile([1.0, -1.0, -1.0], (len(found), 1)), np.zeros(len(found)))

    def violated_more_deeply(self, clock: Clock) -> Inequalities:
        """Inequalities on four items that the solution violates most."""
        x = self.shares()
        found = _kemeny_ties_proof_jit.violated_quadruples(x, TOLERANCE, _MOST_PER_ITEM * len(x))
        pairs, signs = _PAIRS[found[:, 4]], _SIGNS[found[:, 4]]
        named = np.take_along_axis(found[:, :4], pairs.reshape(len(found), 2 * _LONGEST), axis=1)
        return self._rows(named, signs, _RIGHT[found[:, 4]])

    def shares(self) -> FloatArray:
        """The variables as a matrix: 1 where the row item comes before the column item."""
        x = np.zeros(self.column.shape)
        x[self.first, self.second] = self.solution()
        return x

    def _rows(self, pairs: IntArray, signs: FloatArray, upper: FloatArray) -> Inequalities:
        """Rows of equal length from pairs (i, j, i, j, ...) and their coefficients; those of 0 are left out."""
        used = signs != 0
        columns = self.column[pairs[:, ::2], pairs[:, 1::2]]
        starts = np.concatenate([[0], np.cumsum(used.sum(axis=1))])[:-1].astype(np.intp)
        return Inequalities(np.full(len(upper), -np.inf), upper, starts, columns[used], signs[used])


def prove_buckets(bounds: BucketBounds, clock: Clock, search: Callable[[], None]) -> None:
    """Raise the lower bound and lower the cost until they meet or time is up; changes ``bounds``.

    ``search`` searches longer for a cheaper bucket order, which the first solutions often suggest themselves.
    """
    program = BucketProgram(bounds)
    program.relax(bounds, clock)
    if not bounds.proven:
        search()
        program.tighten(bounds, clock)
    if not bounds.proven and not clock.over:
        program.branch(bounds, clock)


def _cost_step(differences: FloatArray) -> float:
    """Smallest possible difference between the costs of two bucket orders; 0 if none is known."""
    values = differences[~np.eye(len(differences), dtype=bool)]
    for denominator in range(1, _LARGEST_DENOMINATOR + 1):
        whole = np.rint(values * denominator)
        if np.abs(whole).max(initial=0) < 2**50 and np.allclose(values * denominator, whole, rtol=0, atol=1e-9):
            return float(np.gcd.reduce(np.abs(whole).astype(np.int64))) / denominator
    return 0.0


def _table(terms: list[tuple[str, float]]) -> tuple[IntArray, FloatArray, FloatArray]:
    """Inequalities on items a, b, c, d (0 to 3): pairs, coefficients, right hand sides, padded with coefficients 0."""
    pairs = np.zeros((len(terms), _LONGEST, 2), dtype=np.intp)
    pairs[:, :, 1] = 1
    signs = np.zeros((len(terms), _LONGEST))
    for row, (text, _) in enumerate(terms):
        for t, term in enumerate(text.split()):
            pairs[row, t] = ["abcd".index(letter) for letter in term[1:]]
            signs[row, t] = 1.0 if term[0] == "+" else -1.0
    return pairs, signs, np.array([right for _, right in terms])


_LONGEST = 12
# In the order of the kinds of `_kemeny_ties_proof_jit.violated_quadruples`.
_PAIRS, _SIGNS, _RIGHT = _table(
    [
        ("+ab +ba -ac -ca -bc -cb +ad +bd -cd", 1.0),
        ("+ab +ba -ac -ca -bc -cb +da +db -dc", 1.0),
        ("+ab +ba -ac -ca -bc -cb +dc -da -db", 0.0),
        ("+ab +ba -ac -ca -bc -cb +cd -ad -bd", 0.0),
        ("+ab +ba +cd -dc -ca -cb -ad -bd", 0.0),
        ("+ab +ba +ad +da +bd +db -ac -ca -bc -cb -cd -dc", 1.0),
    ]
)
