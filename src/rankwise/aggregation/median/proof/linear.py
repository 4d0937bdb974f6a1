"""Proof by linear programming: bounds from 3-cycle inequalities, and integer programmes where they leave a gap.

One variable per pair i < j says whether i comes before j. An order satisfies 0 <= x_ij + x_jl - x_il <= 1 for every
i < j < l; these rows are added only where the current solution breaks them. All orders differ in cost by multiples of
one number g (1 for whole numbers of votes, 2 if these are even in number), so a bound closer than g proves an
order optimal without integrality.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from rankwise._typing import BoolArray, FloatArray, IntArray
from rankwise.aggregation.median import _jit
from rankwise.aggregation.median.search import Bounds, Clock

_TOLERANCE = 1e-6
_MOST_PER_PAIR = 3
_MOST_PER_ITEM = 6
# Rows that have been slack are dropped, so that the programme stays small; they come back if broken again.
_SLACK = 1e-3
# Seconds of linear programmes before a longer search.
_PATIENCE = 5.0
# Seconds between looks whether an interrupt waits.
_LOOK_UP = 0.1


def prove(bounds: Bounds, clock: Clock, search: Callable[[], None]) -> BoolArray | None:
    """Raise the lower bound and lower the cost until they meet or time is up; changes ``bounds``.

    ``search`` looks harder for a cheaper order: worth its time where linear programmes take long, and before integer
    ones, of which a lower cost leaves less to do. Returns the pairs (i, j) with i before j in every order of lowest
    cost, as far as the linear programme says; None where it has not come to an end.
    """
    programme = _Programme(bounds.wins)
    programme.relax(bounds, clock.at_most(min(_PATIENCE, clock.left / 2)))
    if not bounds.proven:
        search()
        programme.relax(bounds, clock)
    if not bounds.proven and not clock.over:
        programme.branch(bounds, clock)
    return programme.settled_pairs(bounds.cost)


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
        self.solver.HandleUserInterrupt = True
        for option, value in (("threads", 1), ("random_seed", 0), ("mip_rel_gap", 0.0), ("presolve", "on")):
            self.solver.setOptionValue(option, value)
        n = len(cost)
        self.solver.addCols(
            n, cost, np.zeros(n), np.ones(n), 0, np.zeros(n, dtype=np.int32), np.zeros(0, np.int32), np.zeros(0)
        )
        self.status = highspy.HighsModelStatus
        self.integer = int(highspy.HighsVarType.kInteger)
        self.is_integer = False
        # Of the last linear programme solved: its bound, its solution, and what turning a pair adds to the bound.
        self.relaxed = -np.inf
        self.values = self.reduced = np.zeros(n)

    def relax(self, bounds: Bounds, clock: Clock) -> None:
        """Solve, add the most violated triangles, and repeat; every solution also suggests an order."""
        while True:
            if not self._run(clock) or self.solver.getModelStatus() != self.status.kOptimal:
                return
            solution = self.solver.getSolution()
            self.relaxed = self.constant + self.solver.getInfo().objective_function_value
            self.values, self.reduced = np.asarray(solution.col_value), np.asarray(solution.col_dual)
            bounds.lower = max(bounds.lower, self.relaxed)
            x = self._solution()
            bounds.offer(np.argsort(-x.sum(axis=1), kind="stable"))
            triangles = self._violated(x)
            if bounds.proven or len(triangles) == 0:
                return
            self._drop_slack_rows()
            self._add(triangles)

    def branch(self, bounds: Bounds, clock: Clock) -> None:
        """Fix what the reduced costs allow, then solve integer programmes until one breaks no triangle."""
        for index, value in zip(self._forced(bounds.cost - bounds.step), (0.0, 1.0), strict=True):
            if len(index):
                bound = np.full(len(index), value)
                self.solver.changeColsBounds(len(index), index.astype(np.int32), bound, bound)
        n = len(self.first)
        self.is_integer = True
        self.solver.changeColsIntegrality(n, np.arange(n, dtype=np.int32), np.full(n, self.integer, dtype=np.uint8))
        while self._run(clock):
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
            bounds.offer(np.argsort(-x.sum(axis=1), kind="stable"))
            triangles = self._violated(np.round(x))
            if bounds.proven:
                return
            if len(triangles) == 0:
                bounds.lower = bounds.cost
                return
            self._add(triangles)

    def settled_pairs(self, cost: float) -> BoolArray | None:
        """Pairs (i, j) with i before j in every order that costs no more than this."""
        if not np.isfinite(self.relaxed):
            return None
        settled = np.zeros(self.wins.shape, dtype=bool)
        after, before = self._forced(cost)
        settled[self.second[after], self.first[after]] = True
        settled[self.first[before], self.second[before]] = True
        return settled

    def _forced(self, cost: float) -> tuple[IntArray, IntArray]:
        """Variables that are 0, and that are 1, in all orders up to this cost: turning one alone would exceed it."""
        allowed = cost - self.relaxed + 1e-6
        zero = np.flatnonzero((self.values < _TOLERANCE) & (self.reduced > allowed))
        one = np.flatnonzero((self.values > 1 - _TOLERANCE) & (-self.reduced > allowed))
        return zero, one

    def _run(self, clock: Clock) -> bool:
        left = min(clock.left, 1e9)
        if left <= 0:
            return False
        # HiGHS holds the limit against the time of all runs of a linear programme, but of one integer programme.
        self.solver.setOptionValue("time_limit", left if self.is_integer else self.solver.getRunTime() + left)
        # In a thread of its own the solver does not keep an interrupt from us.
        self.solver.startSolve()
        try:
            while not self.solver.wait(_LOOK_UP)[0]:
                pass
        except KeyboardInterrupt:
            clock.stop()
            self.solver.cancelSolve()
            while not self.solver.wait(_LOOK_UP)[0]:
                pass
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

    def _drop_slack_rows(self) -> None:
        values = np.asarray(self.solver.getSolution().row_value)
        slack = np.flatnonzero((values > _SLACK) & (values < 1 - _SLACK)).astype(np.int32)
        if len(slack):
            self.solver.deleteRows(len(slack), slack)
