"""Explanations of trees from their definitions: all sets of known features, and all cells of the features."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations, product
from math import factorial
from typing import Any

import numpy as np


def goes_left(tree: Any, node: int, value: float) -> bool:
    if np.isnan(value):
        return bool(tree.missing_left[node])
    if tree.set_of[node] >= 0:
        words = tree.sets[tree.set_of[node]]
        return int(words[int(value) // 64]) >> (int(value) % 64) & 1 == 1
    return bool(value <= tree.threshold[node])


def value_if_known(tree: Any, leaf_values: np.ndarray, x: np.ndarray, known: set[int], node: int = 0) -> float:
    """The mean value of the leaves that a row may reach; unknown features go both ways, by weight."""
    if tree.left[node] < 0:
        return float(leaf_values[tree.leaf_number[node]])
    left, right = tree.left[node], tree.left[node] + 1
    feature = int(tree.feature[node])
    if feature in known:
        return value_if_known(tree, leaf_values, x, known, left if goes_left(tree, node, x[feature]) else right)
    weights = tree.weight[left], tree.weight[right]
    values = [value_if_known(tree, leaf_values, x, known, child) for child in (left, right)]
    return float(np.average(values, weights=weights if sum(weights) > 0 else None))


def shapley_values(v: Callable[[set[int]], float], n_features: int) -> np.ndarray:
    """Shapley values of a game of features, by its definition."""
    values = np.zeros(n_features)
    for feature in range(n_features):
        others = [other for other in range(n_features) if other != feature]
        for size in range(n_features):
            weight = factorial(size) * factorial(n_features - size - 1) / factorial(n_features)
            for known in combinations(others, size):
                values[feature] += weight * (v({*known, feature}) - v({*known}))
    return values


def smallest_change(
    predict: Callable[[np.ndarray], np.ndarray],
    x: np.ndarray,
    candidates: list[list[float]],
    distance: Callable[[int, float], float],
) -> tuple[int, float] | None:
    """Number of features and distance of the smallest change to a row for which ``predict`` is true.

    ``candidates`` are, for each feature, all values that matter; the first one is that of x.
    """
    rows = np.array(list(product(*candidates)), dtype=float)
    good = rows[predict(rows)]
    sizes = []
    for row in good:
        changed = [f for f in range(len(x)) if row[f] != x[f] and not (np.isnan(row[f]) and np.isnan(x[f]))]
        sizes.append((len(changed), sum(distance(f, row[f]) for f in changed)))
    return min(sizes, default=None)
