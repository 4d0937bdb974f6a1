"""A small booster written from the definition: scikit-learn's exact trees, one Newton step per leaf."""

from __future__ import annotations

import numpy as np
from sklearn.tree import DecisionTreeRegressor


def reference_boosting(X, objective, n_trees, learning_rate, num_leaves, seed):
    """Scores after each tree: regions by weighted least squares on -lambda / rho, leaves -sum lambda / sum rho."""
    score = np.zeros(len(X))
    scores = []
    for number in range(n_trees):
        slope, bend = objective(score, np.random.default_rng([seed, number]))
        counts = bend > 0
        step = np.divide(-slope, bend, out=np.zeros_like(slope), where=counts)
        tree = DecisionTreeRegressor(max_leaf_nodes=num_leaves, random_state=0)
        leaf = tree.fit(X[counts], step[counts], sample_weight=bend[counts]).apply(X)
        for region in np.unique(leaf):
            rows = leaf == region
            score[rows] -= learning_rate * slope[rows].sum() / bend[rows].sum()
        scores.append(score.copy())
    return scores


def lightgbm_gradients(grades, score, truncation, sigmoid):
    """Lambdarank of LightGBM for one query, as its source file states it; ``sigmoid(x)`` is 1 / (1 + exp(x))."""
    n = len(grades)
    order = np.argsort(-score, kind="stable")
    gains = 2.0**grades - 1
    ideal = np.sum((np.sort(gains)[::-1] / np.log2(np.arange(2, n + 2)))[:truncation])
    slope, bend, total = np.zeros(n), np.zeros(n), 0.0
    if ideal == 0:
        return slope, bend
    for a in range(min(truncation, n)):
        for b in range(a + 1, n):
            i, j = order[a], order[b]
            if grades[i] == grades[j]:
                continue
            high, low = (i, j) if grades[i] > grades[j] else (j, i)
            gap = score[high] - score[low]
            delta = (gains[high] - gains[low]) * abs(1 / np.log2(2 + a) - 1 / np.log2(2 + b)) / ideal
            if score.max() != score.min():
                delta /= 0.01 + abs(gap)
            p = sigmoid(gap)
            slope[high] -= p * delta
            slope[low] += p * delta
            bend[high] += p * (1 - p) * delta
            bend[low] += p * (1 - p) * delta
            total += 2 * p * delta
    factor = np.log2(1 + total) / total if total > 0 else 1.0
    return slope * factor, bend * factor


def exact_sigmoid(x):
    return 1 / (1 + np.exp(x))


def table_sigmoid(x):
    """LightGBM looks the function up in 2^20 steps between -25 and 25, without interpolation."""
    per_unit = 2**20 / 50
    return exact_sigmoid(np.floor((np.clip(x, -25, 25) + 25) * per_unit) / per_unit - 25)
