"""Inequalities that all orders satisfy and a fractional solution breaks: triangles, and odd cycles of triangles.

The variable of a pair i < j is 1 where i comes before j, and 0 else. Triangles are 0 <= x_ij + x_jl - x_il <= 1. Halves
of sums of triangles, rounded down, cut off what triangles alone leave: among them are the Möbius ladders, which close
most of the gap on rankings without much agreement.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rankwise._typing import FloatArray, IntArray
from rankwise.aggregation.median.proof import _jit

TOLERANCE = 1e-6
_MOST_PER_PAIR = 3
_MOST_PER_ITEM = 6
# The most slack of a step in an odd cycle: a cycle has five steps or more, and less than 1 altogether.
_LOOSEST = 0.3
_LEAST_VIOLATION = 1e-3


@dataclass
class Inequalities:
    """Rows ``lower <= A x <= upper``; of row r the entries from ``starts[r]`` to the next start."""

    lower: FloatArray
    upper: FloatArray
    starts: IntArray
    columns: IntArray
    values: FloatArray

    def __len__(self) -> int:
        return len(self.upper)


def broken_triangles(x: FloatArray, column: IntArray) -> Inequalities:
    """Triangles that ``x`` breaks most; ``column[i, j]`` numbers the pairs i < j row by row."""
    found = _jit.violated_triangles(x, TOLERANCE, _MOST_PER_ITEM * len(x), _MOST_PER_PAIR)
    n = len(found)
    return Inequalities(
        np.zeros(n), np.ones(n), np.arange(0, 3 * n, 3), _columns(found, column).ravel(), np.tile([1.0, 1.0, -1.0], n)
    )


def broken_odd_cycles(x: FloatArray, column: IntArray) -> Inequalities:
    """Rounded halves of odd cycles of triangles that cut ``x`` off deepest."""
    triangles, stops = _jit.odd_cycles(x, TOLERANCE, _LOOSEST)
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


# ---------------------------------------------------------------------------------------------------------------


def _columns(triangles: IntArray, column: IntArray) -> IntArray:
    i, j, other = triangles[:, 0], triangles[:, 1], triangles[:, 2]
    return np.stack([column[i, j], column[j, other], column[i, other]], axis=1)


def _rounded_half(columns: list[list[int]], signs: list[int], solution: list[float]) -> tuple[dict[int, int], int]:
    """Add triangles up, make odd coefficients even by the nearer bound 0 <= x <= 1, halve, and round down."""
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
