"""Slow twins of the models of rankings, written from the definitions by listing all rankings."""

from __future__ import annotations

from itertools import combinations, permutations

import numpy as np


def kendall(a, b):
    """Pairs of items that two full rankings order differently."""
    return sum((a[i] < a[j]) != (b[i] < b[j]) for i, j in combinations(range(len(a)), 2))


def cayley(a, b):
    """Exchanges of two items that turn a into b: put one item after the other into its place."""
    current, exchanges = list(a), 0
    for i, place in enumerate(b):
        if current[i] != place:
            j = current.index(place)
            current[i], current[j] = current[j], current[i]
            exchanges += 1
    return exchanges


def hamming(a, b):
    """Items with another place."""
    return sum(x != y for x, y in zip(a, b, strict=True))


def footrule(a, b):
    """Sum of absolute differences of places."""
    return sum(abs(x - y) for x, y in zip(a, b, strict=True))


def spearman(a, b):
    """Sum of squared differences of places."""
    return sum((x - y) ** 2 for x, y in zip(a, b, strict=True))


DISTANCES = {"kendall": kendall, "cayley": cayley, "hamming": hamming, "footrule": footrule, "spearman": spearman}


def all_rankings(k):
    """Every full ranking of k items as a row of positions."""
    return np.array(list(permutations(range(1, k + 1))), dtype=float).reshape(-1, k)


def mallows_law(distance, center, theta):
    """Probability of every row of `all_rankings`."""
    values = np.array([DISTANCES[distance](row, list(center)) for row in all_rankings(len(center)).tolist()])
    weights = np.where(values > 0, np.exp(-theta * np.maximum(values, 1)), 1.0)
    return weights / weights.sum()


def generalized_law(center, thetas):
    """Probability of every row of `all_rankings`: the product over the places, best first."""
    law = []
    for row in all_rankings(len(center)):
        left = [int(item) for item in np.argsort(center)]
        probability = 1.0
        for item, theta in zip(np.argsort(row), thetas, strict=False):
            weights = [np.exp(-theta * v) if v else 1.0 for v in range(len(left))]
            probability *= weights[left.index(item)] / sum(weights)
            left.remove(item)
        law.append(probability)
    return np.array(law)


def agrees(full, partial):
    """Whether a full ranking orders all pairs as a partial one does."""
    return all(full[i] < full[j] for i in range(len(full)) for j in range(len(full)) if partial[i] < partial[j])


def pairwise(law, k):
    """P(i before j) from the probability of every ranking."""
    rows = all_rankings(k)
    result = np.full((k, k), 0.5)
    for i in range(k):
        for j in range(k):
            if i != j:
                result[i, j] = law[rows[:, i] < rows[:, j]].sum()
    return result
