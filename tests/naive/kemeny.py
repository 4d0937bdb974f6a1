"""Kemeny's consensus by trying everything."""

from __future__ import annotations

from itertools import combinations, permutations

import numpy as np


def wins(positions, weights=None):
    """Weight of the rankings with i before j, pair by pair."""
    n, k = positions.shape
    weights = np.ones(n) if weights is None else weights
    result = np.zeros((k, k))
    for row, weight in zip(positions, weights, strict=True):
        for i in range(k):
            for j in range(k):
                if row[i] < row[j]:
                    result[i, j] += weight
    return result


def ties(positions, weights=None):
    """Weight of the rankings that list i and j at one place."""
    n, k = positions.shape
    weights = np.ones(n) if weights is None else weights
    result = np.zeros((k, k))
    for row, weight in zip(positions, weights, strict=True):
        for i in range(k):
            for j in range(k):
                if i != j and np.isfinite(row[i]) and row[i] == row[j]:
                    result[i, j] += weight
    return result


def cost(matrix, order):
    """What an order of item ids pays: the weight of the preferences it turns around."""
    return sum(matrix[later, earlier] for earlier, later in combinations(order, 2))


def optimal_orders(matrix):
    """The lowest cost of all orders, and the orders that have it."""
    costs = {order: cost(matrix, order) for order in permutations(range(len(matrix)))}
    least = min(costs.values())
    return least, [order for order, value in costs.items() if value <= least + 1e-9]
