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

from collections.abc import Callable

import numpy as np

from rankwise._typing import BoolArray, FloatArray, IntArray
from rankwise.aggregation import _kemeny_proof_jit
from rankwise.aggregation._kemeny_prefixes import prove_by_prefixes
from rankwise.aggregation._kemeny_programs import TOLERANCE, Inequalities, LinearProgram
from rankwise.aggregation._kemeny_search import Bounds, Clock

# Inequalities that are added at once, per pair and per item.
_MOST_PER_PAIR = 3
_MOST_PER_ITEM = 6
# Largest slack of a step in an odd cycle: a cycle has at least five steps, and a slack of less than 1 in total.
_LOOSEST = 0.3
_LEAST_VIOLATION = 1e-3
# Pairs from which odd cycles are searched between two looks at the clock.
_SOURCES = 200
# Seconds of linear programming before a longer search.
_PATIENCE = 5.0


def prove(bounds: Bounds, clock: Clock, triangles: IntArray, search: Callable[[], None]) -> BoolArray | None:
    """Raise the lower bound and lower the cost until they meet or time is up; changes ``bounds``.

    The linear program starts with some triangles (i, j, l). ``search`` searches longer for a cheaper order: worth its
    time if linear programs take long, and before integer programs, which have less to do if the cost is lower. Returns
    the pairs (i, j) that the linear program proves to be in this order in every order of lowest cost; None if it was
    not solved in time.
    """
    program = OrderProgram(bounds.wins)
    program.add(_triangle_rows(triangles, program.column))
    program.relax(bounds, clock.at_most(min(_PATIENCE, clock.left / 2)))
    if not bounds.proven:
        search()
        program.tighten(bounds, clock)
    if not bounds.proven and not clock.over:
        prove_by_prefixes(bounds, clock.at_most(0.75 * clock.left), program.settled_pairs(bounds.beaten_by))
    if not bounds.proven and not clock.over:
        program.branch(bounds, clock)
    return program.settled_pairs(bounds.cost)


class OrderProgram(LinearProgram):
    """The linear program of the orders of some items."""

    def __init__(self, wins: FloatArray) -> None:
        self.wins = wins
        m = len(wins)
        self.first, self.second = np.triu_indices(m, 1)
        self.column: IntArray = np.zeros((m, m), dtype=np.intp)
        self.column[self.first, self.second] = np.arange(len(self.first))
        # cost = sum of wins[i, j] (j before i everywhere) + sum of cost_ij x_ij
        constant = float(wins[self.first, self.second].sum())
        super().__init__(wins[self.second, self.first] - wins[self.first, self.second], constant)

    def suggested_order(self) -> IntArray:
        """Items by how many others the solution puts after them."""
        return np.argsort(-self.shares().sum(axis=1), kind="stable")

    def violated(self) -> Inequalities:
        """Triangles that the solution violates most."""
        return violated_triangles(self.shares(), self.column)

    def violated_more_deeply(self, clock: Clock) -> Inequalities:
        """Odd cycles of triangles that the solution violates most."""
        return violated_odd_cycles(self.shares(), self.column, clock)

    def settled_pairs(self, cost: float) -> BoolArray | None:
        """Pairs (i, j) with i before j in every order of at most this cost."""
        if not np.isfinite(self.relaxed):
            return None
        settled = np.zeros(self.wins.shape, dtype=bool)
        after, before = self.forced(cost)
        settled[self.second[after], self.first[after]] = True
        settled[self.first[before], self.second[before]] = True
        return settled

    def shares(self) -> FloatArray:
        """The variables as a matrix: 1 where the row item comes before the column item."""
        values = self.solution()[: len(self.first)]
        x = np.zeros_like(self.wins)
        x[self.first, self.second] = values
        x[self.second, self.first] = 1 - values
        return x


def violated_triangles(x: FloatArray, column: IntArray) -> Inequalities:
    """Triangles that ``x`` violates most; ``column[i, j]`` numbers the pairs i < j row by row."""
    found = _kemeny_proof_jit.violated_triangles(x, TOLERANCE, _MOST_PER_ITEM * len(x), _MOST_PER_PAIR)
    return _triangle_rows(found, column)


def _triangle_rows(triangles: IntArray, column: IntArray) -> Inequalities:
    n = len(triangles)
    columns = _columns(triangles, column).ravel()
    return Inequalities(np.zeros(n), np.ones(n), np.arange(0, 3 * n, 3), columns, np.tile([1.0, 1.0, -1.0], n))


def violated_odd_cycles(x: FloatArray, column: IntArray, clock: Clock) -> Inequalities:
    """Rounded halves of odd cycles of triangles that ``x`` violates most, as far as time allows."""
    solution = x[np.triu_indices(len(x), 1)].tolist()
    found: dict[tuple[tuple[int, int], ...], tuple[float, int]] = {}
    first, steps, slack = _kemeny_proof_jit.odd_cycle_steps(x, TOLERANCE, _LOOSEST)
    for source in range(0, len(first) - 1, _SOURCES):
        if clock.over:
            break
        triangles, stops = _kemeny_proof_jit.shortest_odd_cycles(first, steps, slack, source, source + _SOURCES)
        columns, signs = _columns(triangles, column).tolist(), triangles[:, 3].tolist()
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
