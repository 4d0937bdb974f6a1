"""Proof by linear programming: bounds from 3-cycle inequalities, and integer programmes where they leave a gap.

One variable per pair i < j says whether i comes before j. An order satisfies 0 <= x_ij + x_jl - x_il <= 1 for every
i < j < l; these rows are added only where the current solution breaks them. All orders differ in cost by multiples of
one number g (1 for whole numbers of votes, 2 if these are even in number), so a bound closer than g proves an
order optimal without integrality.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankwise._typing import FloatArray, IntArray
from rankwise.aggregation.median import _jit

_TOLERANCE = 1e-6
_MOST_PER_PAIR = 3
_MOST_PER_ITEM = 6
# Rows that have been slack are dropped, so that the programme stays small; they come back if broken again.
_SLACK = 1e-3


@dataclass
class Bounds:
    """The best order known for a component, and what is proven of it."""

    order: IntArray
    cost: float
    lower: float
    step: float

    @property
    def proven(self) -> bool:
        """Whether no order can be cheaper (by more than the precision of the solver, for fractional weights)."""
        precision = 1e-8 * max(1.0, abs(self.cost))
        return self.cost - self.lower < max(self.step - 1e-6 * max(1.0, self.step), precision)

    def offer(self, wins: FloatArray, order: IntArray) -> None:
        """Improve an order by insertion, and keep it if it is cheaper than the best."""
        order = order.copy()
        _jit.insertion_search(wins, order)
        cost = _jit.order_cost(wins, order)
        if cost < self.cost - 1e-9:
            self.order, self.cost = order, cost


def prove(wins: FloatArray, bounds: Bounds, deadline: float, search: Callable[[], None]) -> None:
    """Raise the lower bound and lower the cost until they meet or time is up; changes ``bounds``.

    ``search`` looks harder for a cheaper order: worth its time before integer programmes, of which a lower cost
    leaves less to do.
    """
    programme = _Programme(wins)
    programme.relax(bounds, deadline)
    if not bounds.proven:
        search()
    if not bounds.proven and time.perf_counter() < deadline:
        programme.branch(bounds, deadline)


def cost_step(wins: FloatArray) -> float:
    """Smallest difference between the costs of two orders, or 0 where weights are no whole numbers."""
    margins = np.abs(wins - wins.T)
    if not np.all(margins == np.round(margins)) or margins.max(initial=0) >= 2**53:
        return 0.0
    return float(np.gcd.reduce(margins.astype(np.int64).ravel()))


class _Programme:
    """A linear programme in HiGHS that grows by violated triangles."""

    def __init__(self, wins: FloatArray) -> None:
        import highspy

        self.wins = wins
        m = len(wins)
        self.first, self.second = np.triu_indices(m, 1)
        self.column = np.zeros((m, m), dtype=np.int32)
        self.column[self.first, self.second] = np.arange(len(self.first))
        # cost = sum of wins[i, j] (j before i everywhere) + sum of cost_ij x_ij
        self.constant = float(wins[self.first, self.second].sum())
        cost = wins[self.second, self.first] - wins[self.first, self.second]
        self.solver: Any = highspy.Highs()
        self.solver.silent()
        for option, value in (("threads", 1), ("random_seed", 0), ("mip_rel_gap", 0.0), ("presolve", "on")):
            self.solver.setOptionValue(option, value)
        n = len(cost)
        self.solver.addCols(
            n, cost, np.zeros(n), np.ones(n), 0, np.zeros(n, dtype=np.int32), np.zeros(0, np.int32), np.zeros(0)
        )
        self.status = highspy.HighsModelStatus
        self.integer = int(highspy.HighsVarType.kInteger)
        self.n_rows = 0

    def relax(self, bounds: Bounds, deadline: float) -> None:
        """Solve, add the most violated triangles, and repeat; every solution also suggests an order."""
        while True:
            if not self._run(deadline) or self.solver.getModelStatus() != self.status.kOptimal:
                return
            lower = self.constant + self.solver.getInfo().objective_function_value
            bounds.lower = max(bounds.lower, lower)
            x = self._solution()
            bounds.offer(self.wins, np.argsort(-x.sum(axis=1), kind="stable"))
            triangles = self._violated(x)
            if bounds.proven or len(triangles) == 0:
                return
            self._drop_slack_rows()
            self._add(triangles)

    def branch(self, bounds: Bounds, deadline: float) -> None:
        """Fix what the reduced costs allow, then solve integer programmes until one breaks no triangle."""
        self._fix_by_reduced_costs(bounds)
        n = len(self.first)
        self.solver.changeColsIntegrality(n, np.arange(n, dtype=np.int32), np.full(n, self.integer, dtype=np.uint8))
        while self._run(deadline):
            status = self.solver.getModelStatus()
            if status == self.status.kInfeasible:  # every cheaper order was fixed away
                bounds.lower = bounds.cost
                return
            if status not in (self.status.kOptimal, self.status.kTimeLimit, self.status.kInterrupt):
                return
            # Fixed variables exclude only orders that are no better than the best one known.
            dual = self.constant + self.solver.getInfo().mip_dual_bound
            if np.isfinite(dual):
                bounds.lower = max(bounds.lower, min(dual, bounds.cost))
            if status != self.status.kOptimal:
                return
            x = self._solution()
            bounds.offer(self.wins, np.argsort(-x.sum(axis=1), kind="stable"))
            triangles = self._violated(np.round(x))
            if bounds.proven:
                return
            if len(triangles) == 0:
                bounds.lower = bounds.cost
                return
            self._add(triangles)

    def _run(self, deadline: float) -> bool:
        left = deadline - time.perf_counter()
        if left <= 0:
            return False
        self.solver.setOptionValue("time_limit", min(left, 1e9))
        self.solver.run()
        return True

    def _solution(self) -> FloatArray:
        values = np.asarray(self.solver.getSolution().col_value)
        x = np.zeros_like(self.wins)
        x[self.first, self.second] = values
        x[self.second, self.first] = 1 - values
        return x

    def _violated(self, x: FloatArray) -> IntArray:
        return _jit.violated_triangles(x, _TOLERANCE, _MOST_PER_ITEM * len(x), _MOST_PER_PAIR)

    def _add(self, triangles: IntArray) -> None:
        i, j, other = triangles[:, 0], triangles[:, 1], triangles[:, 2]
        columns = np.stack([self.column[i, j], self.column[j, other], self.column[i, other]], axis=1)
        n = len(triangles)
        self.solver.addRows(
            n,
            np.zeros(n),
            np.ones(n),
            3 * n,
            np.arange(0, 3 * n, 3, dtype=np.int32),
            np.ascontiguousarray(columns.ravel(), dtype=np.int32),
            np.tile([1.0, 1.0, -1.0], n),
        )
        self.n_rows += n

    def _drop_slack_rows(self) -> None:
        values = np.asarray(self.solver.getSolution().row_value)
        slack = np.flatnonzero((values > _SLACK) & (values < 1 - _SLACK)).astype(np.int32)
        if len(slack):
            self.solver.deleteRows(len(slack), slack)
            self.n_rows -= len(slack)

    def _fix_by_reduced_costs(self, bounds: Bounds) -> None:
        """Fix a pair where turning it alone would already cost more than the best order allows."""
        reduced = np.asarray(self.solver.getSolution().col_dual)
        values = np.asarray(self.solver.getSolution().col_value)
        if len(reduced) != len(values):
            return
        lower = self.constant + self.solver.getInfo().objective_function_value
        allowed = bounds.cost - bounds.step - lower + 1e-6
        zero = np.flatnonzero((values < _TOLERANCE) & (reduced > allowed)).astype(np.int32)
        one = np.flatnonzero((values > 1 - _TOLERANCE) & (-reduced > allowed)).astype(np.int32)
        for index, value in ((zero, 0.0), (one, 1.0)):
            if len(index):
                bound = np.full(len(index), value)
                self.solver.changeColsBounds(len(index), index, bound, bound)
