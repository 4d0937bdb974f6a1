"""Conditions on scores and features by their definitions: every set, every cell, every pair."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np


def subsets(items):
    items = list(items)
    for size in range(len(items) + 1):
        yield from combinations(items, size)


def heterogeneity(X, p, f, S, inside=None):
    """E[E[f | x_S]^2], within a cell if one is given."""
    inside = np.ones(len(X), dtype=bool) if inside is None else inside
    total = 0.0
    for z in product((0, 1), repeat=len(S)):
        here = inside & (X[:, list(S)] == z).all(axis=1)
        if p[here].sum() > 0:
            total += p[here].sum() * np.average(f[here], weights=p[here]) ** 2
    return total / p[inside].sum()


def gain(X, p, f, S, i, inside=None):
    return heterogeneity(X, p, f, sorted({*S, i}), inside) - heterogeneity(X, p, f, sorted(S), inside)


def _ratio(late, early):
    if late <= 1e-12:
        return 1.0
    return late / early if early > 1e-12 else np.inf


def submodularity(X, p, f):
    worst = 1.0
    for T in subsets(range(X.shape[1])):
        for S in subsets(T):
            for i in range(X.shape[1]):
                worst = max(worst, _ratio(gain(X, p, f, T, i), gain(X, p, f, S, i)))
    return worst


def diminishing_returns(X, p, f):
    d, worst = X.shape[1], 1.0
    cells = list(product((0, 1, None), repeat=d))
    members = {c: np.array([all(v is None or x[j] == v for j, v in enumerate(c)) for x in X]) for c in cells}
    for outer, inner in product(cells, repeat=2):
        if not all(a is None or a == b for a, b in zip(outer, inner, strict=True)) or p[members[inner]].sum() == 0:
            continue
        for i in range(d):
            early = gain(X, p, f, (), i, members[outer])
            for T in subsets(range(d)):
                worst = max(worst, _ratio(gain(X, p, f, T, i, members[inner]), early))
    return worst


def strong_sparsity(X, p, f, relevant):
    d, least = X.shape[1], np.inf
    for i in relevant:
        for T in subsets(set(range(d)) - {i}):
            others = [gain(X, p, f, T, j) for j in range(d) if j not in relevant]
            least = min(least, gain(X, p, f, T, i) - max(others, default=0.0))
    return least


def density(X, p, q):
    least = np.inf
    for Q in combinations(range(X.shape[1]), q):
        for w in product((0, 1), repeat=q):
            least = min(least, p[(X[:, list(Q)] == w).all(axis=1)].sum())
    return least * 2**q


def strictly_transitive(P):
    k = len(P)
    if any(P[i, j] == 0.5 for i, j in combinations(range(k), 2)):
        return False
    return all(
        P[i, j] > 0.5
        for i, u, j in product(range(k), repeat=3)
        if len({i, u, j}) == 3 and P[i, u] > 0.5 and P[u, j] > 0.5
    )


def tsybakov_holds(P, p, a, B, grid):
    """Whether P(|p_ij - 1/2| < 2t) <= B t^(a / (1 - a)) on a grid of t, for every pair."""
    k = P.shape[1]
    return all(
        p[np.abs(P[:, i, j] - 0.5) < 2 * t].sum() <= B * t ** (a / (1 - a)) + 1e-12
        for i, j in combinations(range(k), 2)
        for t in grid
    )
