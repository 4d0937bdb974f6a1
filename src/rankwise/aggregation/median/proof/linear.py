"""Proof by linear programming: bounds from few inequalities, and integer programmes where they leave a gap.

One variable per pair i < j says whether i comes before j. Inequalities that all orders satisfy are added only where the
current solution breaks them: triangles first, then odd cycles of triangles. All orders differ in cost by multiples of
one number g (1 for whole numbers of votes, 2 if these are even in number), so a bound closer than g proves an
order optimal without integrality.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from threading import Thread
from typing import Any

import numpy as np

from rankwise._typing import BoolArray, FloatArray, IntArray
from rankwise.aggregation.median.proof.inequalities import (
    TOLERANCE,
    Inequalities,
    broken_odd_cycles,
    broken_triangles,
)
from rankwise.aggregation.median.search import Bounds, Clock

# Rows that have been slack are dropped, so that the programme stays small; they come back if broken again.
_SLACK = 1e-3
# Odd cycles are added as long as a round of them leaves no more than this share of the gap.
_WORTH_WHILE = 0.95
# Seconds of linear programmes before a longer search.
_PATIENCE = 5.0
# Programmes of so few pairs take less time than a thread.
_QUICK = 500
# Seconds between looks whether an interrupt waits.
_LOOK_UP = 0.1
# A process that ends right after a solver was cancelled aborts (seen with HiGHS 1.15); its helpers need some seconds.
_AFTERMATH = 0.5


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
        programme.tighten(bounds, clock)
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
        self.column: IntArray = np.zeros((m, m), dtype=np.intp)
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
        self.lower, self.upper = np.zeros(0), np.zeros(0)  # of the rows
        # Of the last linear programme solved: its bound, its solution, and what turning a pair adds to the bound.
        self.relaxed = -np.inf
        self.values = self.reduced = np.zeros(n)

    def relax(self, bounds: Bounds, clock: Clock) -> bool:
        """Solve, add the most violated triangles, and repeat; every solution also suggests an order.

        Returns whether time was enough.
        """
        while True:
            if not self._run(clock) or self.solver.getModelStatus() != self.status.kOptimal:
                return False
            solution = self.solver.getSolution()
            self.relaxed = self.constant + self.solver.getInfo().objective_function_value
            self.values, self.reduced = np.asarray(solution.col_value), np.asarray(solution.col_dual)
            bounds.lower = max(bounds.lower, self.relaxed)
            x = self._solution()
            bounds.offer(np.argsort(-x.sum(axis=1), kind="stable"))
            triangles = broken_triangles(x, self.column)
            if bounds.proven or len(triangles) == 0:
                return True
            self._drop_slack_rows()
            self._add(triangles)

    def tighten(self, bounds: Bounds, clock: Clock) -> None:
        """Add odd cycles of triangles, too, while this narrows the gap well."""
        gap = np.inf
        while self.relax(bounds, clock) and not bounds.proven and bounds.cost - self.relaxed < _WORTH_WHILE * gap:
            gap = bounds.cost - self.relaxed
            cycles = broken_odd_cycles(self._solution(), self.column)
            if len(cycles) == 0:
                return
            self._drop_slack_rows()
            self._add(cycles)

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
            triangles = broken_triangles(np.round(x), self.column)
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
        zero = np.flatnonzero((self.values < TOLERANCE) & (self.reduced > allowed))
        one = np.flatnonzero((self.values > 1 - TOLERANCE) & (-self.reduced > allowed))
        return zero, one

    def _run(self, clock: Clock) -> bool:
        left = min(clock.left, 1e9)
        if left <= 0:
            return False
        # HiGHS holds the limit against the time of all runs of a linear programme, but of one integer programme.
        self.solver.setOptionValue("time_limit", left if self.is_integer else self.solver.getRunTime() + left)
        if len(self.first) <= _QUICK:
            self.solver.solve()
            return True
        # In a thread of its own the solver does not keep an interrupt from us. (HiGHS can start one, too, but only one
        # in the whole process.)
        thread = Thread(target=self.solver.solve, daemon=True)
        thread.start()
        try:
            while thread.is_alive():
                thread.join(_LOOK_UP)
        except KeyboardInterrupt:
            clock.stop()
            self.solver.cancelSolve()
            thread.join()
            time.sleep(_AFTERMATH)
        return True

    def _solution(self) -> FloatArray:
        values = np.asarray(self.solver.getSolution().col_value)
        x = np.zeros_like(self.wins)
        x[self.first, self.second] = values
        x[self.second, self.first] = 1 - values
        return x

    def _add(self, rows: Inequalities) -> None:
        self.solver.addRows(
            len(rows),
            rows.lower,
            rows.upper,
            len(rows.values),
            rows.starts.astype(np.int32),
            rows.columns.astype(np.int32),
            rows.values,
        )
        self.lower, self.upper = np.append(self.lower, rows.lower), np.append(self.upper, rows.upper)

    def _drop_slack_rows(self) -> None:
        values = np.asarray(self.solver.getSolution().row_value)
        slack = (values > self.lower + _SLACK) & (values < self.upper - _SLACK)
        if slack.any():
            index = np.flatnonzero(slack).astype(np.int32)
            self.solver.deleteRows(len(index), index)
            self.lower, self.upper = self.lower[~slack], self.upper[~slack]
