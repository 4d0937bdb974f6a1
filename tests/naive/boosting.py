"""Losses of rankings from their definitions, and a boosted tree grown by trying every cut of every leaf."""

from __future__ import annotations

import numpy as np


def pairwise_logistic(row, scores):
    """Sum over compared pairs of log(1 + exp(loser - winner)); ties are half a win for each."""
    total = 0.0
    for i in range(len(row)):
        for j in range(len(row)):
            if i == j:
                continue
            if row[i] < row[j]:
                total += np.log1p(np.exp(scores[j] - scores[i]))
            elif row[i] == row[j] and np.isfinite(row[i]):
                total += 0.5 * np.log1p(np.exp(scores[j] - scores[i]))
    return total


def plackett_luce(row, scores):
    """Negative log probability of choosing the items one after the other, tied ones from the same items."""
    total = 0.0
    for i in np.flatnonzero(np.isfinite(row)):
        left = row >= row[i]  # never true for missing items
        total -= scores[i] - np.log(np.exp(scores[left]).sum())
    return total


def grow(X, gradient, hessian, n_leaves, least, l2):
    """Leaves of a tree, as lists of rows: the leaf and cut with the largest gain are taken until there are enough."""
    curvature = hessian.mean(axis=1)

    def score(rows):
        return (gradient[rows].sum(axis=0) ** 2).sum() / (curvature[rows].sum() + l2)

    leaves = [np.arange(len(X))]
    while len(leaves) < n_leaves:
        best = (1e-9, None, None, None)
        for number, rows in enumerate(leaves):
            for feature in range(X.shape[1]):
                for cut in np.unique(X[rows, feature])[:-1]:
                    left, right = rows[X[rows, feature] <= cut], rows[X[rows, feature] > cut]
                    gain = score(left) + score(right) - score(rows)
                    if min(len(left), len(right)) >= least and gain > best[0] + 1e-9:
                        best = (gain, number, left, right)
        if best[1] is None:
            break
        leaves[best[1] : best[1] + 1] = [best[2], best[3]]
    return leaves


def loss_of_pairs(scores, positions):
    """Mean over rankings and pairs of log(1 + exp(loser - winner)); complete rankings."""
    wins = positions[:, :, None] < positions[:, None, :]
    return np.logaddexp(0.0, scores[:, None, :] - scores[:, :, None])[wins].mean()
