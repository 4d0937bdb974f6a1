"""Kemeny's consensus with some of a group at the top, for more items than dynamic programming takes.

Used by `constrained_kemeny`. To the linear program of `_kemeny_proof` come variables y_i for every number k of a
constraint "at least m of a group among the first k": y_i is 1 if item i is among the first k. They sum to k, to at
least m over the group, and x_ij >= y_i - y_j: an item among the first k comes before one that is not. Like triangles,
these inequalities are added only where a solution violates them. Two more for each item are sharper where y is a
fraction: an item among the first k comes before n - k others at least, and one that is not comes after k at least.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rankwise._typing import BoolArray, FloatArray, IntArray
from rankwise.aggregation import _kemeny_jit
from rankwise.aggregation._kemeny_programs import TOLERANCE, Inequalities
from rankwise.aggregation._kemeny_proof import OrderProgram
from rankwise.aggregation._kemeny_search import Bounds, Clock
from rankwise.aggregation._kemeny_tops import MOST_ITEMS_BY_TOPS, prove_by_tops

#: at least m of some items among the first k
Group = tuple[int, IntArray, int]

# Inequalities x_ij >= y_i - y_j that are added at once, per item.
_MOST_PER_ITEM = 6


class ConstrainedBounds(Bounds):
    """The best order known that meets the constraints, of infinite cost while none is known."""

    def __init__(self, wins: FloatArray, earlier: BoolArray, groups: Sequence[Group]) -> None:
        self.earlier, self.groups = earlier, groups
        self.tops = sorted({k for _, _, k in groups})
        # Moving an item never breaks a "before" to save less.
        forced = wins + earlier * (1.0 + wins.sum())
        self._forced_margins = forced - forced.T
        super().__init__(wins)

    def __post_init__(self) -> None:
        super().__post_init__()
        start = self.order
        self.order, self.cost = start[:0], np.inf
        self.offer_near(start)

    @property
    def known(self) -> bool:
        """Whether an order is known that meets all constraints."""
        return bool(np.isfinite(self.cost))

    def keeps(self, order: IntArray) -> bool:
        """Whether an order meets all constraints."""
        place = np.empty(len(order), dtype=np.intp)
        place[order] = np.arange(len(order))
        first, second = np.nonzero(self.earlier)
        return bool(
            np.all(place[first] < place[second]) and all(np.sum(place[group] < k) >= m for m, group, k in self.groups)
        )

    def offer(self, order: IntArray) -> None:
        """Improve an order by insertion between the places of the constraints, and keep it if it is the cheapest."""
        improved = order.copy()
        for block in np.split(np.arange(len(order)), self.tops):
            members = order[block]
            inner = np.arange(len(block))
            _kemeny_jit.insertion_search(np.ascontiguousarray(self._forced_margins[np.ix_(members, members)]), inner)
            improved[block] = members[inner]
        for candidate in (order, improved):
            cost = float(_kemeny_jit.order_cost(self.wins, candidate))
            if cost < self.cost - 1e-9 and self.keeps(candidate):
                self.order, self.cost = candidate.copy(), cost

    def offer_near(self, order: IntArray) -> None:
        """Offer an order that need not meet the constraints, changed so that it does."""
        self.offer(self._repaired(order))

    def _repaired(self, order: IntArray) -> IntArray:
        """The order with missing items of the groups, and all that must come before them, moved to the front."""
        from scipy.sparse.csgraph import floyd_warshall

        ahead = np.isfinite(floyd_warshall(self.earlier, unweighted=True))  # [a, b]: a must come before b, or is b
        order = order[np.argsort(ahead.sum(axis=0)[order], kind="stable")] if not self.keeps(order) else order
        for m, group, k in sorted(self.groups, key=lambda constraint: -constraint[2]):
            member = np.isin(np.arange(len(order)), group)
            for _ in range(len(order)):  # one that moves to the front may push another one of the group behind
                if member[order[:k]].sum() >= m:
                    break
                item = next(item for item in order[k:] if member[item])
                moved = ahead[:, item][order]
                order = np.concatenate([order[moved], order[~moved]])
        return order


def prove_constrained(bounds: ConstrainedBounds, clock: Clock) -> None:
    """Find the cheapest order that meets the constraints, until it is proven or time is up; changes ``bounds``.

    Afterwards the lower bound is infinite if no order meets them.
    """
    if len(bounds.tops) == 1 and len(bounds.wins) <= MOST_ITEMS_BY_TOPS:
        prove_by_tops(bounds, clock)
        if bounds.proven or clock.over:
            return
    program = _ConstrainedProgram(bounds)
    program.tighten(bounds, clock)
    if not bounds.proven and not clock.over:
        program.branch(bounds, clock)


class _ConstrainedProgram(OrderProgram):
    """The linear program with the variables y, one row of them for each number k."""

    def __init__(self, bounds: ConstrainedBounds) -> None:
        super().__init__(bounds.wins)
        n_pairs, n, tops = len(self.first), len(bounds.wins), bounds.tops
        new = n * len(tops)
        self.tops = tops
        self.add_columns(np.zeros(new))
        for i, j in np.argwhere(bounds.earlier):
            value = float(i < j)
            self.solver.changeColBounds(int(self.column[min(i, j), max(i, j)]), value, value)
        columns = n_pairs + np.arange(new).reshape(len(tops), n)
        rows = [(float(k), float(k), columns[number], np.ones(n)) for number, k in enumerate(tops)]
        rows += [
            (float(m), np.inf, columns[tops.index(k)][group], np.ones(len(group))) for m, group, k in bounds.groups
        ]
        for number, k in enumerate(tops):
            for i in range(n):
                others = np.delete(np.arange(n), i)
                entries = np.append(self.column[np.minimum(i, others), np.maximum(i, others)], columns[number, i])
                before = np.where(others > i, 1.0, -1.0)  # items after i: x_ij is 1 - x_ji where j < i
                rows.append((-float(i), np.inf, entries, np.append(before, k - n)))
                rows.append((float(k - (n - 1 - i)), np.inf, entries, np.append(-before, k)))
        lower, upper, entries_of, values_of = zip(*rows, strict=True)
        starts = np.cumsum([0, *map(len, entries_of)])[:-1]
        self.add(
            Inequalities(
                np.array(lower), np.array(upper), starts, np.concatenate(entries_of), np.concatenate(values_of)
            )
        )
        self.n_lasting = len(rows)

    def suggested_order(self) -> IntArray:
        """An order near the solution, with the items first that it puts among the first."""
        return np.lexsort((-self.shares().sum(axis=1), -self._among_first().sum(axis=0).round(6)))

    def violated(self) -> Inequalities:
        """Triangles and inequalities x_ij >= y_i - y_j that the solution violates most."""
        triangles = super().violated()
        n, n_pairs, x = len(self.wins), len(self.first), self.shares()
        lower, columns, values = [triangles.lower], [triangles.columns], [triangles.values]
        for number, y in enumerate(self._among_first()):
            excess = y[:, np.newaxis] - y - x
            np.fill_diagonal(excess, 0.0)
            deepest = np.argsort(-excess, axis=None, kind="stable")[: _MOST_PER_ITEM * n]
            deepest = deepest[excess.ravel()[deepest] > TOLERANCE]
            i, j = np.unravel_index(deepest, excess.shape)
            pair = self.column[np.minimum(i, j), np.maximum(i, j)]
            upward = np.where(i < j, 1.0, -1.0)  # x_ij is 1 - x_ji where i > j
            start = n_pairs + number * n
            columns.append(np.column_stack([pair, start + i, start + j]).ravel())
            values.append(np.column_stack([upward, np.full(len(i), -1.0), np.ones(len(i))]).ravel())
            lower.append(np.where(i < j, 0.0, -1.0))
        upper = [triangles.upper, np.full(sum(map(len, lower[1:])), np.inf)]
        entries = np.concatenate(columns)  # three of each row
        return Inequalities(
            np.concatenate(lower),
            np.concatenate(upper),
            np.arange(0, len(entries), 3),
            entries,
            np.concatenate(values),
        )

    def _among_first(self) -> FloatArray:
        """The variables y, a row for each number k."""
        return self.solution()[len(self.first) :].reshape(len(self.tops), len(self.wins))
