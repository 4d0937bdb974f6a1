"""Slow twins of embeddings and label rankers, from the definitions."""

from __future__ import annotations

import itertools

import numpy as np


def pairs(k: int) -> list[tuple[int, int]]:
    return list(itertools.combinations(range(k), 2))


def kemeny_vector(row: np.ndarray) -> np.ndarray:
    """1, 0, 1/2 or NaN for each pair."""
    result = []
    for i, j in pairs(len(row)):
        a, b = row[i], row[j]
        if np.isnan(a) or np.isnan(b) or (np.isinf(a) and np.isinf(b)):
            result.append(np.nan)
        else:
            result.append(1.0 if a < b else 0.0 if b < a else 0.5)
    return np.array(result)


def place_vector(row: np.ndarray) -> np.ndarray:
    """The share of the other items that come before, ties counting half, as a place among all items over k."""
    k, m = len(row), int(np.sum(~np.isnan(row)))
    result = []
    for i in range(k):
        if np.isnan(row[i]) or m == 1:
            result.append(np.nan)
            continue
        better = sum(row[j] < row[i] for j in range(k))
        equal = sum(row[j] == row[i] for j in range(k) if j != i)
        result.append((1 + (k - 1) * (better + equal / 2) / (m - 1)) / k)
    return np.array(result)


def local_shares(rows: list[np.ndarray], weights: list[float], fallback: np.ndarray) -> np.ndarray:
    """Share of the rankings with the first item of each pair first."""
    vectors = np.array([kemeny_vector(row) for row in rows])
    result = []
    for column, otherwise in zip(vectors.T, fallback, strict=True):
        total = sum(w for w, v in zip(weights, column, strict=True) if not np.isnan(v))
        votes = sum(w * v for w, v in zip(weights, column, strict=True) if not np.isnan(v))
        result.append(votes / total if total > 0 else otherwise)
    return np.array(result)


def plackett_luce_loss(row: np.ndarray, scores: np.ndarray) -> float:
    """Negative log probability of a ranking; each item of a tie is chosen from all that is left before the tie."""
    loss = 0.0
    for i in range(len(row)):
        if np.isfinite(row[i]):
            left = [scores[j] for j in range(len(row)) if row[j] >= row[i]]
            loss -= scores[i] - np.log(np.sum(np.exp(left)))
    return loss


def hard_vote_scores(P: np.ndarray) -> np.ndarray:
    """1 + number of items that beat i; a draw is not a loss."""
    k = len(P)
    return np.array([1 + sum(P[i, j] < 0.5 for j in range(k) if j != i) for i in range(k)])


def kernel_ridge(K: np.ndarray, target: np.ndarray, weights: np.ndarray, alpha: float) -> np.ndarray:
    """Coefficients of one target by the normal equations: (W K + alpha) c = W (target)."""
    return np.linalg.solve(weights[:, None] * K + alpha * np.eye(len(K)), weights * target)


def cell_dispersion(cells: np.ndarray, rows: np.ndarray) -> float:
    """Half the mean squared distance of two rankings of the same cell, by its share of the rows."""
    total = 0.0
    for cell in np.unique(cells):
        vectors = np.array([kemeny_vector(row) for row in rows[cells == cell]])
        total += len(vectors) / len(rows) * np.mean([np.sum((a - b) ** 2) / 2 for a in vectors for b in vectors])
    return total


def calibrated(share: float, slope: float) -> float:
    """sigma(slope * logit s), of a share that is moved by 0.25% towards 1/2."""
    moved = 0.5 + (min(max(share, 0.0), 1.0) - 0.5) * 0.995
    return 1.0 / (1.0 + ((1.0 - moved) / moved) ** slope)


def calibration_slope(shares: list[list[float]], truth: list[list[float]], weights: list[float]) -> float:
    """The best of many slopes; NaN in either list is left out."""
    best, found = np.inf, np.nan
    known = [[s == s and t == t for s, t in zip(*row, strict=True)] for row in zip(shares, truth, strict=True)]
    rows = sum(any(row) for row in known)
    mass = sum(w * sum(row) for w, row in zip(weights, known, strict=True))
    for log_slope in np.linspace(-2, 2, 401):
        cost = log_slope**2 / 8
        for row, said, happened, w in zip(known, shares, truth, weights, strict=True):
            for holds, s, t in zip(row, said, happened, strict=True):
                if holds:
                    moved = 0.5 + (s - 0.5) * 0.995
                    log_odds = np.exp(log_slope) * np.log(moved / (1 - moved))
                    cost += rows * w / mass * (t * np.log1p(np.exp(-log_odds)) + (1 - t) * np.log1p(np.exp(log_odds)))
        if cost < best:
            best, found = cost, float(np.exp(log_slope))
    return found
