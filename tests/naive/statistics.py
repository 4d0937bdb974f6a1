"""Slow twins of the statistics of pairwise preferences: everything by enumeration of all rankings of k items."""

from __future__ import annotations

import itertools

import numpy as np


def all_rankings(k: int) -> np.ndarray:
    """Positions of all k! rankings."""
    return np.array(list(itertools.permutations(range(1, k + 1))), dtype=float)


def mallows_law(k: int, theta: float, center: np.ndarray) -> np.ndarray:
    """Probability of each row of `all_rankings`."""
    weight = np.array([np.exp(-theta * kendall(row, center)) for row in all_rankings(k)])
    return weight / weight.sum()


def kendall(a: np.ndarray, b: np.ndarray) -> int:
    return sum((a[i] - a[j]) * (b[i] - b[j]) < 0 for i, j in itertools.combinations(range(len(a)), 2))


def pair_probabilities(law: np.ndarray, k: int) -> np.ndarray:
    P = np.full((k, k), 0.5)
    for i, j in itertools.permutations(range(k), 2):
        P[i, j] = sum(p for p, row in zip(law, all_rankings(k), strict=True) if row[i] < row[j])
    return P


def expected_distance(law: np.ndarray, ranking: np.ndarray) -> float:
    """Expected Kendall distance of a ranking to one drawn from the law."""
    rankings = all_rankings(len(ranking))
    return sum(p * kendall(row, ranking) for p, row in zip(law, rankings, strict=True))


def half_expected_distance_of_two(law: np.ndarray, k: int) -> float:
    return sum(p * expected_distance(law, row) for p, row in zip(law, all_rankings(k), strict=True)) / 2


def is_transitive(P: np.ndarray, strict: bool) -> bool:
    k = len(P)
    if strict and any(P[i, j] == 0.5 for i, j in itertools.combinations(range(k), 2)):
        return False
    return all(P[i, m] >= 0.5 for i, j, m in itertools.product(range(k), repeat=3) if P[i, j] >= 0.5 and P[j, m] >= 0.5)


def median_of_counts(counts: np.ndarray, k: int) -> np.ndarray | None:
    """The Copeland ranking of a sample given as counts of `all_rankings`; None if it is not strictly transitive."""
    P = pair_probabilities(counts / counts.sum(), k)
    if not is_transitive(P, strict=True):
        return None
    return np.array([1 + sum(P[i, j] < 0.5 for j in range(k) if j != i) for i in range(k)], dtype=float)


def least_squares_scores(P: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """One row of a least-squares problem for each pair, and the solution of least norm."""
    k = len(P)
    rows, targets = [], []
    for i, j in itertools.combinations(range(k), 2):
        if weights[i, j] > 0:
            row = np.zeros(k)
            row[i], row[j] = np.sqrt(weights[i, j]), -np.sqrt(weights[i, j])
            rows.append(row)
            targets.append(np.sqrt(weights[i, j]) * (P[i, j] - 0.5))
    return np.linalg.lstsq(np.array(rows), np.array(targets), rcond=None)[0]


def harmonic_part(P: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """What is left of P - 1/2 when sources and triangles are forbidden: the projection onto the flows without them."""
    k = len(P)
    pairs = [(i, j) for i, j in itertools.combinations(range(k), 2) if weights[i, j] > 0]
    number = {pair: m for m, pair in enumerate(pairs)}
    root = np.sqrt([weights[pair] for pair in pairs])
    forbidden = []
    for i in range(k):  # the weighted flow out of an item
        row = np.zeros(len(pairs))
        for (a, b), m in number.items():
            row[m] = root[m] * ((a == i) - (b == i))
        forbidden.append(row)
    for a, b, c in itertools.combinations(range(k), 3):  # the flow around a triangle
        if {(a, b), (b, c), (a, c)} <= number.keys():
            row = np.zeros(len(pairs))
            for pair, sign in (((a, b), 1), ((b, c), 1), ((a, c), -1)):
                row[number[pair]] = sign / root[number[pair]]
            forbidden.append(row / np.linalg.norm(row))
    flow = root * np.array([P[pair] - 0.5 for pair in pairs])
    table = np.array(forbidden)
    rest = (flow - np.linalg.pinv(table, rcond=1e-9) @ (table @ flow)) / root
    result = np.zeros((k, k))
    for (a, b), m in number.items():
        result[a, b], result[b, a] = rest[m], -rest[m]
    return result
