"""Where raters stand: their map by kernel PCA of the Kendall kernel; used by `raters`.

The Kendall kernel has explicit features, the mean signs of all pairs of items. For up to 32 items the map comes from
their covariance, exactly and in linear time. For more items it comes from the kernel matrix of at most 1,000 people, on
whose axes all others are projected.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from sklearn.utils import gen_batches

from rankwise._typing import FloatArray
from rankwise.analysis.base import sample_rows
from rankwise.data import Rankings
from rankwise.kernels import kendall_kernel
from rankwise.kernels.kendall_gram import kendall_features

_MOST_FEATURES = 500
_MOST_IN_GRAM = 1_000
_ROWS = 4_096


class RaterMap(NamedTuple):
    """Coordinates of people and of the consensus.

    Attributes
    ----------
    coordinates : ndarray of shape (n, 2)
        NaN for people whose rankings compare nothing.
    consensus : ndarray of shape (2,)
        Where the consensus lies.
    explained : ndarray of shape (2,)
        Share of the variance that each direction shows.
    n_used : int
        Number of people who decide the directions.
    """

    coordinates: FloatArray
    consensus: FloatArray
    explained: FloatArray
    n_used: int


def rater_map(rankings: Rankings, consensus: FloatArray, rng: np.random.Generator) -> RaterMap:
    """Project people, and the consensus, on the two directions in which people differ most."""
    rows = np.flatnonzero(rankings.informative & (rankings.weights > 0))
    part = rankings[rows]
    weights = part.weights / part.weights.sum()
    everybody = np.vstack([part.positions, consensus])
    if rankings.n_items * (rankings.n_items - 1) // 2 <= _MOST_FEATURES:
        points, explained, n_used = _by_features(everybody, weights)
    else:
        points, explained, n_used = _by_gram(everybody, weights, rng)
    # Directions have no sign of their own: the consensus lies on the right, and who is farthest up or down is up.
    signs = np.array([points[-1, 0], points[np.argmax(np.abs(points[:, 1])), 1]])
    points = points * np.where(signs < 0, -1.0, 1.0)
    coordinates = np.full((len(rankings), 2), np.nan)
    coordinates[rows] = points[:-1]
    return RaterMap(coordinates, points[-1], explained, n_used)


def _by_features(positions: FloatArray, weights: FloatArray) -> tuple[FloatArray, FloatArray, int]:
    batches = list(gen_batches(len(positions), _ROWS))
    n_features = positions.shape[1] * (positions.shape[1] - 1) // 2
    mean, second = np.zeros(n_features), np.zeros((n_features, n_features))
    for batch in batches:
        features = kendall_features(positions[batch])[: len(weights[batch])]  # the last row is the consensus
        weighted = features * weights[batch][:, np.newaxis]
        mean += weighted.sum(axis=0)
        second += weighted.T @ features
    values, vectors = np.linalg.eigh(second - np.outer(mean, mean))
    axes = np.zeros((n_features, 2))
    axes[:, : min(2, n_features)] = vectors[:, ::-1][:, :2]
    points = np.vstack([(kendall_features(positions[batch]) - mean) @ axes for batch in batches])
    return points, _shares(values, np.trace(second) - mean @ mean), len(weights)


def _by_gram(
    positions: FloatArray, weights: FloatArray, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray, int]:
    rows = sample_rows(len(weights), _MOST_IN_GRAM, rng)
    share = weights[rows] / weights[rows].sum()
    gram = kendall_kernel(positions[rows])
    level = gram @ share
    centered = gram - level - level[:, np.newaxis] + share @ level
    root = np.sqrt(share)
    values, vectors = np.linalg.eigh(root[:, np.newaxis] * centered * root)
    first, top = vectors[:, ::-1][:, :2], values[::-1][:2]
    scale = np.where(top > 1e-12, np.sqrt(np.maximum(top, 1e-12)), np.inf)
    axes = np.zeros((len(rows), 2))
    axes[:, : first.shape[1]] = root[:, np.newaxis] * first / scale
    points = []
    for batch in gen_batches(len(positions), _ROWS):
        cross = kendall_kernel(positions[batch], positions[rows])
        cross = cross - (cross @ share)[:, np.newaxis] - level + share @ level
        points.append(cross @ axes)
    return np.vstack(points), _shares(values, float(share @ np.diag(centered))), len(rows)


def _shares(values: FloatArray, total: float) -> FloatArray:
    """Shares of the two largest eigenvalues; 0 if everybody is alike."""
    shares = np.zeros(2)
    if total > 1e-12:
        shares[: min(2, len(values))] = np.maximum(values[::-1][:2], 0.0) / total
    return shares
