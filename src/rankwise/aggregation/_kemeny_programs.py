"""Linear programs over 0/1 variables in HiGHS that grow by violated inequalities, and keep a time limit.

Used by `_kemeny_proof` (orders), `_kemeny_constraints` (a group at the top) and others,
which say which columns there are, which inequalities a solution violates, and which order it suggests.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from threading import Thread
from typing import Any, Protocol

import numpy as np

from rankwise._typing import FloatArray, IntArray
from rankwise.aggregation._kemeny_search import Clock

TOLERANCE = 1e-6
# Rows with more slack than this are dropped, so that the program stays small; they come back if violated again.
_SLACK = 1e-3
# Deeper inequalities are added as long as a round of them leaves no more than this share of the gap.
_WORTHWHILE = 0.95
# Linear programs of at most this many columns take less time than starting a thread.
_QUICK = 500
# Seconds between two checks for an interrupt.
_CHECK_INTERVAL = 0.1
# HiGHS looks at its clock, and at ours, only between some of its steps; after this many seconds it goes on alone.
_GRACE = 0.25
# A process that ends right after a solver was canceled aborts (seen with HiGHS 1.15): its threads need some time.
_AFTERMATH = 0.5


class Incumbent(Protocol):
    """The cheapest solution known, its cost, and what is proven of it."""

    cost: float
    lower: float
    step: float

    @property
    def proven(self) -> bool:
        """Whether nothing can be cheaper."""
        ...

    def offer(self, order: IntArray) -> None:
        """Improve an order, and keep it if it is cheaper than the best."""
        ...


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


class LinearProgram:
    """A linear program over variables from 0 to 1, to which violated inequalities are added.

    Parameters
    ----------
    cost : ndarray of shape (n_columns,)
        What a variable adds to the cost at 1.
    constant : float
        Cost where all variables are 0.
    """

    def __init__(self, cost: FloatArray, constant: float) -> None:
        import highspy

        self.constant = constant
        self.n_columns = 0
        self.solver: Any = highspy.Highs()
        self.solver.silent()
        for option, value in (("threads", 1), ("random_seed", 0), ("mip_rel_gap", 0.0), ("presolve", "on")):
            self.solver.setOptionValue(option, value)
        for callback in (self.solver.cbSimplexInterrupt, self.solver.cbIpmInterrupt, self.solver.cbMipInterrupt):
            callback.subscribe(self._look)
        self.status = highspy.HighsModelStatus
        self.integer = int(highspy.HighsVarType.kInteger)
        self.is_integer = False
        self.lower, self.upper = np.zeros(0), np.zeros(0)  # of the rows
        self.n_lasting = 0  # the first rows, which stay even with slack
        self._clock = Clock(None)
        self._branch_bound = -np.inf  # the bound of an integer program while it runs
        self._abandoned = False
        # Of the last linear program solved: its bound, its solution, and how much changing a variable adds to it.
        self.relaxed = -np.inf
        self.values = self.reduced = np.zeros(0)
        self.add_columns(cost)

    # What a kind of program says of itself

    def suggested_order(self) -> IntArray:
        """An order near the solution; the solution itself where it is one."""
        raise NotImplementedError

    def violated(self) -> Inequalities:
        """Inequalities of all orders that the solution violates most; none if it is an order, or a mean of some."""
        raise NotImplementedError

    def violated_more_deeply(self, clock: Clock) -> Inequalities:
        """Inequalities that are dearer to find, for solutions that violate no others."""
        nothing = np.zeros(0)
        return Inequalities(nothing, nothing, nothing.astype(np.intp), nothing.astype(np.intp), nothing)

    # Solving

    def relax(self, bounds: Incumbent, clock: Clock) -> bool:
        """Solve, add the most violated inequalities, and repeat; every solution also suggests an order.

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

    def tighten(self, bounds: Incumbent, clock: Clock) -> None:
        """Also add the deeper inequalities, while this narrows the gap enough."""
        gap = np.inf
        while self.relax(bounds, clock) and not bounds.proven and bounds.cost - self.relaxed < _WORTHWHILE * gap:
            gap = bounds.cost - self.relaxed
            rows = self.violated_more_deeply(clock)
            if len(rows) == 0:
                return
            self._drop_slack_rows()
            self.add(rows)

    def branch(self, bounds: Incumbent, clock: Clock) -> None:
        """Fix what the reduced costs allow, then solve integer programs until one violates nothing."""
        for index, value in zip(self.forced(bounds.cost - bounds.step), (0.0, 1.0), strict=True):
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
            self._raise_bound(bounds, self.solver.getInfo().mip_dual_bound)
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
        self._raise_bound(bounds, self._branch_bound)

    def forced(self, cost: float) -> tuple[IntArray, IntArray]:
        """Variables that are 0, and that are 1, in all orders up to this cost: changing one alone would exceed it."""
        allowed = cost - self.relaxed + 1e-6
        zero = np.flatnonzero((self.values < TOLERANCE) & (self.reduced > allowed))
        one = np.flatnonzero((self.values > 1 - TOLERANCE) & (-self.reduced > allowed))
        return zero, one

    def solution(self) -> FloatArray:
        """The variables; whole numbers if the program is an integer program."""
        values = np.asarray(self.solver.getSolution().col_value)
        return np.round(values) if self.is_integer else values

    # Growing

    def add_columns(self, cost: FloatArray) -> None:
        """Add variables to the program."""
        n = len(cost)
        no_entries = np.zeros(n, dtype=np.int32), np.zeros(0, np.int32), np.zeros(0)
        self.solver.addCols(n, cost, np.zeros(n), np.ones(n), 0, *no_entries)
        self.n_columns += n
        self.values = self.reduced = np.zeros(self.n_columns)

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

    # Time

    def _run(self, clock: Clock) -> bool:
        """Run the solver; whether it has ended, be it by the limit. After False it must not be touched any more."""
        left = min(clock.left, 1e9)
        if left <= 0 or self._abandoned:
            return False
        self._clock = clock
        # HiGHS compares the limit with the time of all runs of a linear program, but of one run of an integer program.
        self.solver.setOptionValue("time_limit", left if self.is_integer else self.solver.getRunTime() + left)
        if self.n_columns <= _QUICK and not self.is_integer:
            self.solver.run()
            return True
        # The solver runs in its own thread, so that interrupts reach us, and so that its steps between two looks at the
        # clock (seconds, in integer programs) do not break the limit: then it is left alone, and ends at its next look.
        # The thread is no daemon: the process waits for it before it ends.
        thread = Thread(target=self.solver.run)
        thread.start()
        try:
            while thread.is_alive() and clock.left > -_GRACE:
                thread.join(min(_CHECK_INTERVAL, max(clock.left + _GRACE, 1e-3)))
        except KeyboardInterrupt:
            try:
                clock.interrupted()
            finally:
                thread.join()
                time.sleep(_AFTERMATH)
        self._abandoned = thread.is_alive()
        return not self._abandoned

    def _look(self, event: Any) -> None:
        """Called by the solver between its steps: note its bound, and stop it if time is up."""
        if self.is_integer:
            self._branch_bound = max(self._branch_bound, event.data_out.mip_dual_bound)
        event.interrupt(self._clock.over)  # said every time, because the solver remembers the last answer

    def _raise_bound(self, bounds: Incumbent, bound: float) -> None:
        """Use the bound of an integer program: fixed variables exclude only what is not better than the best known."""
        if np.isfinite(bound):
            bounds.lower = max(bounds.lower, min(self.constant + bound, bounds.cost))
