"""Kemeny's consensus by trying everything."""

from __future__ import annotations

from itertools import combinations, permutations, product

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


def bucket_orders(k):
    """All bucket orders of k items, each as a tuple of bucket numbers without gaps."""
    return [levels for levels in product(range(k), repeat=k) if set(levels) == set(range(max(levels) + 1))]


def cost_with_ties(positions, weights, consensus, tie_cost):
    """What rankings pay: 1 for a pair turned around, the tie cost for a tie against an order."""
    total = 0.0
    for row, weight in zip(positions, weights, strict=True):
        for i, j in combinations(range(len(consensus)), 2):
            both_unlisted = np.isinf(row[i]) and np.isinf(row[j])
            if np.isnan(row[i]) or np.isnan(row[j]) or both_unlisted:
                continue
            said, kept = np.sign(row[i] - row[j]), np.sign(consensus[i] - consensus[j])
            if said == -kept and said != 0:
                total += weight
            elif said != kept:
                total += tie_cost * weight
    return total


def optimal_bucket_orders(positions, weights, tie_cost):
    """The lowest cost of all bucket orders, and those that have it."""
    costs = {
        levels: cost_with_ties(positions, weights, levels, tie_cost) for levels in bucket_orders(positions.shape[1])
    }
    least = min(costs.values())
    return least, [levels for levels, value in costs.items() if value <= least + 1e-9]
