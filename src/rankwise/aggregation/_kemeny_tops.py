"""Kemeny's consensus with some of a group among the first k, by a search over the sets that come first.

Used by `prove_constrained` where all constraints have the same k. Once the set of the first k items is given, what is
left is Kemeny's problem, which linear programs solve well. Each of these programs also bounds the cost of every other
set, by its reduced costs: a constant, plus a number for each pair of an item outside and one inside. A search
lists the sets that no bound excludes; the most promising is solved and adds its bound, until none is left (a
decomposition by Benders).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rankwise._typing import BoolArray, FloatArray
from rankwise.aggregation import _kemeny_tops_jit
from rankwise.aggregation._kemeny_proof import OrderProgram
from rankwise.aggregation._kemeny_search import Bounds, Clock
from rankwise.aggregation.kemeny import kemeny
from rankwise.aggregation.pairs import PreferenceMatrix

if TYPE_CHECKING:
    from rankwise.aggregation._kemeny_constraints import ConstrainedBounds

#: more items take too much memory: their cube for each bound
MOST_ITEMS_BY_TOPS = 120
_MOST_SETS, _MOST_NODES = 20_000, 1_000_000
# Bounds that the search looks at; further ones only exclude sets that it has listed.
_MOST_BOUNDS = 8
# Steps of the search, each over a bound and an item, that a slow machine does.
_PAIRS_A_SECOND = 1e7


def prove_by_tops(bounds: ConstrainedBounds, clock: Clock) -> None:
    """Find the cheapest order that meets constraints of one k, until it is proven or time is up; changes ``bounds``."""
    search = _TopSearch(bounds, clock)
    search.solve_without_set()
    while not clock.over and not bounds.proven:
        sets, values, complete = search.cheap_sets()
        if complete:
            search.solve_all(sets, values)
            return
        # Too many to list: solve the one of the lowest bound, which raises the bounds of those like it.
        sets, values, complete = search.cheap_sets(only_cheapest=True)
        if complete:
            bounds.lower = max(bounds.lower, min(float(values.min(initial=np.inf)), bounds.cost))
        if len(sets) == 0 or not search.solve(sets[-1]):
            return


class _TopSearch:
    """Bounds on the costs of sets of first items, and the linear program that they come from."""

    def __init__(self, bounds: ConstrainedBounds, clock: Clock) -> None:
        self.bounds, self.clock = bounds, clock
        self.program = OrderProgram(bounds.wins)
        (self.k,) = bounds.tops
        n = len(bounds.wins)
        self.members = np.zeros((len(bounds.groups), n), dtype=bool)
        for number, (_, group, _) in enumerate(bounds.groups):
            self.members[number, group] = True
        self.lacking = np.array([m for m, _, _ in bounds.groups])
        self.too_much = 1.0 + float(bounds.wins.sum())
        self.constants: list[float] = []
        self.after: list[FloatArray] = []
        self.least: list[FloatArray] = []
        # Items are decided from the top of an order, here and in all that the search takes and returns.
        self.order = bounds.order if bounds.known else np.argsort(-bounds.margins.sum(axis=1), kind="stable")
        # Without inequalities, a pair costs what it must.
        program = self.program
        cost = bounds.wins[program.second, program.first] - bounds.wins[program.first, program.second]
        self._add_bound(program.constant, np.zeros(len(cost)), cost)

    def solve_without_set(self) -> None:
        """Solve the program without a set of first items: a bound that is sharp where the set costs little."""
        free = Bounds(self._forced(np.zeros(len(self.bounds.wins), dtype=bool)))
        free.step = self.bounds.step
        self.program.tighten(free, self.clock)
        self._add_bound_of_program()

    @property
    def threshold(self) -> float:
        """A set that costs this much, or more, cannot hold a better order, or cannot come first at all."""
        saved = 0.999 * self.bounds.step + 1e-9 * self.too_much
        return min(self.bounds.cost - saved, self.too_much)

    def cheap_sets(self, *, only_cheapest: bool = False) -> tuple[BoolArray, FloatArray, bool]:
        """Sets that may hold a better order, or the one of the lowest bound, and whether the search was complete.

        The first bounds and the latest ones decide. Items are tried from the top of the best order.
        """
        chosen = sorted({0, 1, *range(max(len(self.constants) - _MOST_BOUNDS + 2, 0), len(self.constants))})
        chosen = [number for number in chosen if number < len(self.constants)]
        after = np.array([self.after[number] for number in chosen])
        least = np.array([self.least[number] for number in chosen])
        sets, values, complete = _kemeny_tops_jit.cheap_tops(
            np.array([self.constants[number] for number in chosen]),
            after,
            least,
            np.ascontiguousarray(self.members[:, self.order]),
            self.lacking,
            self.k,
            self.threshold,
            only_cheapest,
            _MOST_SETS,
            int(min(_MOST_NODES, 1 + self.clock.left * _PAIRS_A_SECOND / after[..., 0].size)),
        )
        return sets, values, complete

    def solve_all(self, sets: BoolArray, values: FloatArray) -> None:
        """Solve the sets that are listed, the most promising first, until bounds exclude the rest or time is up."""
        bounds = self.bounds
        for constant, after in zip(self.constants, self.after, strict=True):
            values = np.maximum(values, _bound_of(sets, constant, after))
        while not self.clock.over:
            promising = values < self.threshold
            sets, values = sets[promising], values[promising]
            lowest = float(values.min(initial=bounds.cost))
            bounds.lower = max(bounds.lower, min(lowest, bounds.cost))
            if len(sets) == 0:
                bounds.lower = bounds.cost
                return
            best = int(np.argmin(values))
            if not self.solve(sets[best]):
                return
            values = np.maximum(values, _bound_of(sets, self.constants[-1], self.after[-1]))
            values[best] = np.inf  # solved

    def solve(self, of_order: BoolArray) -> bool:
        """Find the cheapest order with these items first, and what it says of other sets; whether it was in time."""
        program, bounds = self.program, self.bounds
        first = np.empty_like(of_order)
        first[self.order] = of_order
        of_set = Bounds(self._forced(first))
        of_set.step = bounds.step
        # A pair of an item inside and one outside is fixed.
        i, j = program.first, program.second
        lower = np.where(first[i] & ~first[j], 1.0, 0.0)
        upper = np.where(~first[i] & first[j], 0.0, 1.0)
        for pair in np.argwhere(bounds.earlier):
            column = program.column[pair.min(), pair.max()]
            lower[column] = upper[column] = float(pair[0] < pair[1])
        n = len(lower)
        program.solver.changeColsBounds(n, np.arange(n, dtype=np.int32), lower, upper)
        program.relaxed = -np.inf
        program.tighten(of_set, self.clock)
        if not np.isfinite(program.relaxed):
            return False
        self._add_bound_of_program()
        if not of_set.proven:
            exact = kemeny(
                PreferenceMatrix(of_set.wins, np.zeros_like(of_set.wins), tuple(range(len(first)))),
                time_limit=self.clock.left,
                random_state=0,
            )
            of_set.order = np.argsort(exact.positions, kind="stable")
            if not exact.optimal:
                bounds.offer(of_set.order)
                return False
        bounds.offer(of_set.order)
        return True

    def _forced(self, first: BoolArray) -> FloatArray:
        """Pairs of which those that a set of first items orders cost more than all if they are not in this order."""
        wins, earlier = self.bounds.wins, self.bounds.earlier
        ahead = (first[:, np.newaxis] & ~first) | earlier
        step = max(self.bounds.step, 1.0)
        return np.ascontiguousarray(wins + ahead * step * np.ceil((1.0 + wins.sum()) / step))

    def _add_bound_of_program(self) -> None:
        program = self.program
        if np.isfinite(program.relaxed):
            self._add_bound(program.relaxed, program.values, program.reduced)

    def _add_bound(self, value: float, solution: FloatArray, reduced: FloatArray) -> None:
        """What a solution of a linear program says of all orders: each pair adds its reduced cost if it changes."""
        program, n = self.program, len(self.bounds.wins)
        if_after, if_before = -reduced * solution, reduced * (1 - solution)  # the first item of the pair after, before
        least = np.minimum(if_after, if_before)
        after = np.zeros((n, n))  # [i, j]: i comes after j
        after[program.first, program.second] = if_after - least
        after[program.second, program.first] = if_before - least
        after[self.bounds.earlier] = 10 * self.too_much  # never
        after = np.ascontiguousarray(after[np.ix_(self.order, self.order)])
        self.constants.append(value + float(least.sum()))
        self.after.append(after)
        self.least.append(_least_sums(after))


def _bound_of(sets: BoolArray, constant: float, after: FloatArray) -> FloatArray:
    inside = sets.astype(np.float64)
    return constant + np.einsum("si,si->s", (1 - inside) @ after, inside)


def _least_sums(after: FloatArray) -> FloatArray:
    """Sums of the smallest numbers of every column: ``[d, j, c]`` is that of c rows from d on, without j itself."""
    n = len(after)
    others = np.where(np.eye(n, dtype=bool), np.inf, after)
    sums = np.zeros((n, n, n))
    for d in range(n - 1):
        smallest = np.sort(others[d:, d:], axis=0)[:-1]
        sums[d, d:, 1 : n - d] = np.cumsum(smallest, axis=0).T
    return sums
