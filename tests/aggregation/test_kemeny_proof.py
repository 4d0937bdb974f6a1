"""Inequalities for linear programs: all orders satisfy them, and the solution they were made for does not."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from rankwise.aggregation import kemeny, preference_matrix, sample_mallows
from rankwise.aggregation._kemeny_proof import OrderProgram, violated_odd_cycles, violated_triangles
from rankwise.aggregation._kemeny_search import Bounds, Clock


def numbers(k):
    column = np.zeros((k, k), dtype=np.int32)
    column[np.triu_indices(k, 1)] = np.arange(k * (k - 1) // 2)
    return column


def dense(rows, n):
    matrix = np.zeros((len(rows), n))
    stops = np.append(rows.starts, len(rows.values))[1:]
    for r, (start, stop) in enumerate(zip(rows.starts, stops, strict=True)):
        matrix[r, rows.columns[start:stop]] = rows.values[start:stop]
    return matrix


def every_order(k):
    """All orders of k items, as 0 and 1 for the pairs i < j."""
    places = np.array(list(permutations(range(k))))
    first, second = np.triu_indices(k, 1)
    return (places[:, first] < places[:, second]).astype(float)


def fractional(k, seed):
    """A point of halves and bounds, as linear programs over triangles have them, that violates few triangles."""
    rng = np.random.default_rng(seed)
    a, b = rng.permutation(k), rng.permutation(k)
    x = ((a[:, None] < a) + 0.0 + (b[:, None] < b)) / 2
    return np.where(np.eye(k, dtype=bool), 0.0, x)


def odd_cycles(x, column):
    return violated_odd_cycles(x, column, Clock(None))


@pytest.mark.parametrize("find", [violated_triangles, odd_cycles])
def test_all_orders_satisfy_what_a_solution_violates(find):
    k, broken = 6, 0
    first, second = np.triu_indices(k, 1)
    orders = every_order(k)
    rng = np.random.default_rng(0)
    for _ in range(60):
        x = np.zeros((k, k))
        x[first, second] = rng.choice([0.0, 0.25, 0.5, 0.5, 0.75, 1.0], len(first))
        x[second, first] = 1 - x[first, second]
        rows = find(x, numbers(k))
        matrix = dense(rows, len(first))
        sums = orders @ matrix.T
        assert np.all(sums <= rows.upper)
        assert np.all(sums >= rows.lower)
        here = matrix @ x[first, second]
        assert np.all((here > rows.upper + 1e-6) | (here < rows.lower - 1e-6))
        broken += len(rows)
    assert broken > 100


def test_the_mean_of_two_orders_violates_nothing():
    for seed in range(20):
        x = fractional(7, seed)
        assert len(violated_triangles(x, numbers(7))) == 0
        assert len(odd_cycles(x, numbers(7))) == 0


def test_the_search_for_odd_cycles_ends_with_the_clock():
    rng = np.random.default_rng(0)
    x = np.zeros((12, 12))
    first, second = np.triu_indices(12, 1)
    x[first, second] = rng.choice([0.25, 0.5, 0.75], len(first))
    x[second, first] = 1 - x[first, second]
    assert len(odd_cycles(x, numbers(12))) > 0
    assert len(violated_odd_cycles(x, numbers(12), Clock(0.0))) == 0


def test_odd_cycles_raise_the_bound_but_not_above_the_optimum():
    raised = 0
    for seed in range(6):
        wins = preference_matrix(sample_mallows(np.arange(1, 36), 0.0, 25, random_state=seed)).wins
        bounds = Bounds(wins)
        bounds.step = 0.0  # so that nothing but a bound as high as the cost proves an order
        program = OrderProgram(wins)
        assert program.relax(bounds, Clock(None))
        by_triangles = bounds.lower
        program.tighten(bounds, Clock(None))
        raised += bounds.lower > by_triangles + 0.1
        assert bounds.lower <= kemeny(wins).cost + 1e-6
    assert raised > 0
