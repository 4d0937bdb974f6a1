"""Slow twins of the rules on majorities and of the merging of lists, written from the definitions."""

from __future__ import annotations

import itertools
import math

import numpy as np


def pair_wins(positions: np.ndarray, weights: np.ndarray) -> np.ndarray:
    k = positions.shape[1]
    wins = np.zeros((k, k))
    for row, weight in zip(positions, weights, strict=True):
        for i, j in itertools.permutations(range(k), 2):
            wins[i, j] += weight * (row[i] < row[j])
    return wins


def dense(values: list[float]) -> list[float]:
    """Smallest value first, equal values share a place."""
    distinct = sorted(set(values))
    return [distinct.index(value) + 1.0 for value in values]


def copeland(wins: np.ndarray) -> list[float]:
    k = len(wins)
    return dense([sum(wins[i, j] < wins[j, i] for j in range(k)) for i in range(k)])


def schulze(wins: np.ndarray) -> list[float]:
    """Strongest chains by looking at every chain without repetition."""
    k = len(wins)
    strength = np.zeros((k, k))
    for i, j in itertools.permutations(range(k), 2):
        between = [m for m in range(k) if m not in (i, j)]
        for size in range(k - 1):
            for middle in itertools.permutations(between, size):
                links = list(itertools.pairwise((i, *middle, j)))
                chain = [wins[a, b] if wins[a, b] > wins[b, a] else 0.0 for a, b in links]
                strength[i, j] = max(strength[i, j], min(chain))
    return dense([sum(strength[j, i] > strength[i, j] for j in range(k)) for i in range(k)])


def mc4_law(wins: np.ndarray, teleport: float) -> np.ndarray:
    """Stationary law of the chain by walking for long."""
    k = len(wins)
    moves = np.zeros((k, k))
    for i, j in itertools.permutations(range(k), 2):
        moves[i, j] = (wins[j, i] > wins[i, j]) / k
    moves += np.diag(1 - moves.sum(axis=1))
    moves = (1 - teleport) * moves + teleport / k
    return np.linalg.matrix_power(moves, 2**14)[0]


def kemeny_cost(wins: np.ndarray, positions: np.ndarray) -> float:
    return sum(wins[j, i] for i, j in itertools.permutations(range(len(wins)), 2) if positions[i] < positions[j])


def order_statistic_cdf(x: float, k: int, n: int) -> float:
    """Probability that at least k of n uniform numbers are at most x."""
    return math.fsum(math.comb(n, m) * x**m * (1 - x) ** (n - m) for m in range(k, n + 1))


def robust_rank(shares: list[float]) -> tuple[float, float]:
    """Rho and its p-value for the places of one item divided by the number of items, 1 where it is not listed."""
    n = len(shares)
    rho = min(order_statistic_cdf(share, k, n) for k, share in enumerate(sorted(shares), start=1))
    return rho, min(1.0, n * rho)
