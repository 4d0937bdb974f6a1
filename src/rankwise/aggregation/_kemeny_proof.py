"""Proof of optimality by linear programming: bounds from few inequalities, and integer programs where a gap remains.

Used by `kemeny`, and by `constrained_kemeny` through `_kemeny_constraints`. The variable x_ij of a pair i < j is 1 if i
comes before j, and 0 otherwise. Inequalities that all orders satisfy are added only where the current solution
violates them: triangles 0 <= x_ij + x_jl - x_il <= 1 first, then odd cycles of triangles. These are
sums of triangles, halved and rounded down, which cut off what triangles alone leave; among them are the Möbius
ladders, which close most of the gap on rankings without much agreement.

The costs of all orders differ by multiples of one number g (1 for whole numbers of votes, 2 if their number is even),
so a bound closer than g proves an order optimal without integrality.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from threading import Thread
from typing import Any

import numpy as np

from rankwise._typing import BoolArray, FloatArray, IntArray
from rankwise.aggregation import _kemeny_proof_jit
from rankwise.aggregation._kemeny_search import Bounds, Clock

TOLERANCE = 1e-6
# Inequalities that are added at once, per pair and per item.
_MOST_PER_PAIR = 3
_MOST_PER_ITEM = 6
# Largest slack of a step in an odd cycle: a cycle has at least five steps, and a slack of less than 1 in total.
_LOOSEST = 0.3
_LEAST_VIOLATION = 1e-3
# Rows with more slack than this are dropped, so that the program stays small; they come back if violated again.
_SLACK = 1e-3
# Odd cycles are added as long as a round of them leaves no more than this share of the gap.
_WORTHWHILE = 0.95
# Seconds of linear programming before a longer search.
_PATIENCE = 5.0
# Programs of at most this many pairs take less time than starting a thread.
_QUICK = 500
# Seconds between two checks for an interrupt.
_CHECK_INTERVAL = 0.1
# A process that ends right after a solver was canceled aborts (seen with HiGHS 1.15): its threads need some time.
_AFTERMATH = 0.5


def prove(bounds: Bounds, clock: Clock, search: Callable[[], None]) -> BoolArray | None:
    """Raise the lower bound and lower the cost until they meet or time is up; changes ``bounds``.

    ``search`` searches longer for a cheaper order: worth its time if linear programs take long, and before integer
    programs, which have less to do if the cost is lower. Returns the pairs (i, j) that the linear program proves to be
    in this order in every order of lowest cost; None if it was not solved in time.
    """
    program = LinearProgram(bounds.wins)
    program.relax(bounds, clock.at_most(min(_PATIENCE, clock.left / 2)))
    if not bounds.proven:
        search()
        program.tighten(bounds, clock)
    if not bounds.proven and not clock.over:
        program.branch(bounds, clock)
    return program.settled_pairs(bounds.cost)


class LinearProgram:
    """A linear program in HiGHS, to which violated inequalities are added."""

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
        self.n_lasting = 0  # the first rows, which stay even with slack
        self.n_columns = n
        # Of the last linear program solved: its bound, its solution, and how much swapping a pair adds to the bound.
        self.relaxed = -np.inf
        self.values = self.reduced = np.zeros(n)

    def relax(self, bounds: Bounds, clock: Clock) -> bool:
        """Solve, add the most violated triangles, and repeat; every solution also suggests an order.

        Returns whether it finished in time.
        """
        while True:
            if not self._run(clock) or self.solver.getModelStatus() != self.status.kOptimal:
                return False
            solution = self.solver.getSolution()
            self.relaxed = self.constant + self.solver.getInfo().objective_function_value
            self.values, self.reduced = np.asarray(solution.col_value), np.asarray(solution.col_dual)
            bounds.lower = max(bounds.lower, self.relaxed)
            bounds.offer(self.suggested_order())
            violated = self.violated()
            if bounds.proven or len(violated) == 0:
                return True
            self._drop_slack_rows()
            self.add(violated)

    def tighten(self, bounds: Bounds, clock: Clock) -> None:
        """Also add odd cycles of triangles, while this narrows the gap enough."""
        gap = np.inf
        while self.relax(bounds, clock) and not bounds.proven and bounds.cost - self.relaxed < _WORTHWHILE * gap:
            gap = bounds.cost - self.relaxed
            cycles = violated_odd_cycles(self.solution(), self.column)
            if len(cycles) == 0:
                return
            self._drop_slack_rows()
            self.add(cycles)

    def branch(self, bounds: Bounds, clock: Clock) -> None:
        """Fix what the reduced costs allow, then solve integer programs until one violates no triangle."""
        for index, value in zip(self._forced(bounds.cost - bounds.step), (0.0, 1.0), strict=True):
            if len(index):
                bound = np.full(len(index), value)
                self.solver.changeColsBounds(len(index), index.astype(np.int32), bound, bound)
        n = self.n_columns
        self.is_integer = True
        self.solver.changeColsIntegrality(n, np.arange(n, dtype=np.int32), np.full(n, self.integer, dtype=np.uint8))
        while self._run(clock):
            status = self.solver.getModelStatus()
            if status in (
                self.status.kInfeasible,
                self.status.kUnboundedOrInfeasible,
            ):  # fixing variables excluded every cheaper order
                bounds.lower = bounds.cost
                return
            if status not in (self.status.kOptimal, self.status.kTimeLimit, self.status.kInterrupt):
                return
            # Fixed variables exclude only orders that are not better than the best one known.
            dual = self.constant + self.solver.getInfo().mip_dual_bound
            if np.isfinite(dual):
                bounds.lower = max(bounds.lower, min(dual, bounds.cost))
            if status != self.status.kOptimal:
                return
            bounds.offer(self.suggested_order())
            violated = self.violated()
            if bounds.proven:
                return
            if len(violated) == 0:
                bounds.lower = bounds.cost
                return
            self.add(violated)

    def suggested_order(self) -> IntArray:
        """An order near the solution; the solution itself where it is one."""
        return np.argsort(-self.solution().sum(axis=1), kind="stable")

    def violated(self) -> Inequalities:
        """Inequalities of all orders that the solution violates most."""
        x = self.solution()
        return violated_triangles(np.round(x) if self.is_integer else x, self.column)

    def settled_pairs(self, cost: float) -> BoolArray | None:
        """Pairs (i, j) with i before j in every order of at most this cost."""
        if not np.isfinite(self.relaxed):
            return None
        settled = np.zeros(self.wins.shape, dtype=bool)
        after, before = self._forced(cost)
        settled[self.second[after], self.first[after]] = True
        settled[self.first[before], self.second[before]] = True
        return settled

    def _forced(self, cost: float) -> tuple[IntArray, IntArray]:
        """Variables that are 0, and that are 1, in all orders up to this cost: changing one alone would exceed it."""
        allowed = cost - self.relaxed + 1e-6
        zero = np.flatnonzero((self.values < TOLERANCE) & (self.reduced > allowed))
        one = np.flatnonzero((self.values > 1 - TOLERANCE) & (-self.reduced > allowed))
        return zero, one

    def _run(self, clock: Clock) -> bool:
        left = min(clock.left, 1e9)
        if left <= 0:
            return False
        # HiGHS compares the limit with the time of all runs of a linear program, but of one run of an integer program.
        self.solver.setOptionValue("time_limit", left if self.is_integer else self.solver.getRunTime() + left)
        if len(self.first) <= _QUICK:
            self.solver.solve()
            return True
        # The solver runs in its own thread so that interrupts reach us. (HiGHS can start a thread too, but only one in
        # the whole process.)
        thread = Thread(target=self.solver.solve, daemon=True)
        thread.start()
        try:
            while thread.is_alive():
                thread.join(_CHECK_INTERVAL)
        except KeyboardInterrupt:
            clock.stop()
            self.solver.cancelSolve()
            thread.join()
            time.sleep(_AFTERMATH)
        return True

    def solution(self) -> FloatArray:
        """The variables as a matrix: 1 where the row item comes before the column item."""
        values = np.asarray(self.solver.getSolution().col_value)[: len(self.first)]
        x = np.zeros_like(self.wins)
        x[self.first, self.second] = values
        x[self.second, self.first] = 1 - values
        return x

    def add(self, rows: Inequalities) -> None:
        """Add inequalities to the program."""
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
        slack[: self.n_lasting] = False
        if slack.any():
            index = np.flatnonzero(slack).astype(np.int32)
            self.solver.deleteRows(len(index), index)
            self.lower, self.upper = self.lower[~slack], self.upper[~slack]


@dataclass
class Inequalities:
    """Rows ``lower <= A x <= upper``; row r has the entries from ``starts[r]`` to the next start."""

    lower: FloatArray
    upper: FloatArray
    starts: IntArray
    columns: IntArray
    values: FloatArray

    def __len__(self) -> int:
        return len(self.upper)


def violated_triangles(x: FloatArray, column: IntArray) -> Inequalities:
    """Triangles that ``x`` violates most; ``column[i, j]`` numbers the pairs i < j row by row."""
    found = _kemeny_proof_jit.violated_triangles(x, TOLERANCE, _MOST_PER_ITEM * len(x), _MOST_PER_PAIR)
    n = len(found)
    return Inequalities(
        np.zeros(n), np.ones(n), np.arange(0, 3 * n, 3), _columns(found, column).ravel(), np.tile([1.0, 1.0, -1.0], n)
    )


def violated_odd_cycles(x: FloatArray, column: IntArray) -> Inequalities:
    """Rounded halves of odd cycles of triangles that ``x`` violates most."""
    triangles, stops = _kemeny_proof_jit.odd_cycles(x, TOLERANCE, _LOOSEST)
    columns, signs = _columns(triangles, column).tolist(), triangles[:, 3].tolist()
    solution = x[np.triu_indices(len(x), 1)].tolist()
    found: dict[tuple[tuple[int, int], ...], tuple[float, int]] = {}
    start = 0
    for stop in stops.tolist():
        row, upper = _rounded_half(columns[start:stop], signs[start:stop], solution)
        start = stop
        excess = sum(value * solution[c] for c, value in row.items()) - upper
        if excess > _LEAST_VIOLATION:
            depth = excess / np.sqrt(sum(value**2 for value in row.values()))
            found[tuple(sorted(row.items()))] = (float(depth), upper)
    deepest = sorted(found, key=lambda row: found[row], reverse=True)[: _MOST_PER_ITEM * len(x)]
    entries = [entry for row in deepest for entry in row]
    return Inequalities(
        np.full(len(deepest), -np.inf),
        np.array([found[row][1] for row in deepest], dtype=np.float64),
        np.cumsum([0] + [len(row) for row in deepest])[:-1],
        np.array([c for c, _ in entries], dtype=np.intp),
        np.array([value for _, value in entries], dtype=np.float64),
    )


def _columns(triangles: IntArray, column: IntArray) -> IntArray:
    i, j, other = triangles[:, 0], triangles[:, 1], triangles[:, 2]
    return np.stack([column[i, j], column[j, other], column[i, other]], axis=1)


def _rounded_half(columns: list[list[int]], signs: list[int], solution: list[float]) -> tuple[dict[int, int], int]:
    """Add up triangles, make odd coefficients even by the nearer bound 0 <= x <= 1, halve, and round down."""
    row: dict[int, int] = {}
    upper = 0
    for (first, second, third), sign in zip(columns, signs, strict=True):
        row[first] = row.get(first, 0) + sign
        row[second] = row.get(second, 0) + sign
        row[third] = row.get(third, 0) - sign
        upper += sign == 1
    for c, value in row.items():
        if value % 2:
            to_one = solution[c] > 0.5
            row[c] = value + 1 if to_one else value - 1
            upper += to_one
    return {c: value // 2 for c, value in row.items() if value}, upper // 2
