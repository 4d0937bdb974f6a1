"""Score functions m of a `RankingOracle`: linear in the features, or constant on the cells of a grid.

Any function of X will do; these are the designs of the papers, which the generators draw.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rankwise._typing import FloatArray, IntArray
from rankwise._validation import check_sizes
from rankwise.datasets.feature_laws import FourAreas, GridFeatures
from rankwise.datasets.noise_laws import MallowsNoise

# Phi, the probability that the item with the higher score wins under `lipschitz_oracle`, rises by this at most.
_DENSITY = 1 / np.sqrt(2 * np.pi)


@dataclass(frozen=True, eq=False)
class LinearScores:
    r"""Scores :math:`m_i(x) = \frac14 + \frac12 (\langle w_i, x \rangle - l_i) / (h_i - l_i)`.

    Attributes
    ----------
    weights : ndarray of shape (k, d)
        :math:`w_i`.
    low, high : ndarray of shape (k,)
        Values that become 1/4 and 3/4; where they are equal the score is 1/2.
    """

    weights: FloatArray
    low: FloatArray
    high: FloatArray

    @classmethod
    def over_cube(cls, weights: FloatArray) -> LinearScores:
        """Scores that reach 1/4 and 3/4 on the cube."""
        return cls(weights, np.minimum(weights, 0.0).sum(axis=1), np.maximum(weights, 0.0).sum(axis=1))

    @classmethod
    def over_rows(cls, weights: FloatArray, X: FloatArray) -> LinearScores:
        """Scores that reach 1/4 and 3/4 on the given rows."""
        values = X @ weights.T
        return cls(weights, values.min(axis=0), values.max(axis=0))

    @property
    def n_features(self) -> int:
        """Features that the weights are for."""
        return self.weights.shape[1]

    @property
    def informative(self) -> tuple[IntArray, ...]:
        """For each item, the features with weight."""
        return tuple(np.flatnonzero(row) for row in self.weights)

    def __call__(self, X: FloatArray) -> FloatArray:
        """Scores of the rows of X: (n, k)."""
        varies = self.high > self.low
        span = np.where(varies, self.high - self.low, 1.0)
        return np.where(varies, 0.25 + (X @ self.weights.T - self.low) / span / 2, 0.5)


def own_weights(n_features: int, n_items: int, n_informative: int, rng: np.random.Generator) -> FloatArray:
    """Positive weights on a few features of each item's own, as the paper describes."""
    check_sizes(n_informative=n_informative)
    check_sizes(n_items=n_items, at_least=2)
    weights = np.zeros((n_items, n_features))
    coordinates = rng.integers(0, n_features, size=(n_items, n_informative))
    values = 100 * rng.random((n_items, n_informative))
    for draw in range(n_informative):  # a coordinate drawn twice keeps its last weight
        weights[np.arange(n_items), coordinates[:, draw]] = values[:, draw]
    return weights


def shared_weights(n_features: int, n_items: int, n_informative: int, rng: np.random.Generator) -> FloatArray:
    """Weights of both signs on the same few features for all items, as in the files that the authors distribute."""
    check_sizes(n_informative=n_informative)
    check_sizes(n_items=n_items, at_least=2)
    if n_informative > n_features:
        raise ValueError(f"n_informative is {n_informative}, but there are {n_features} features")
    weights = np.zeros((n_items, n_features))
    chosen = rng.choice(n_features, n_informative, replace=False)
    weights[:, chosen] = rng.uniform(-1, 1, (n_informative, n_items)).T
    return weights


@dataclass(frozen=True, eq=False)
class CellScores:
    """Scores that sort into the central ranking of the cell of a row: 1 - (position - 1) / k."""

    grid: GridFeatures
    centers: FloatArray

    @property
    def n_features(self) -> int:
        """Two."""
        return self.grid.n_features

    def __call__(self, X: FloatArray) -> FloatArray:
        """Scores of the rows of X: (n, k)."""
        return 1 - (self.centers[self.grid.cell_of(X)] - 1) / self.centers.shape[1]


@dataclass(frozen=True, eq=False)
class SmoothScores:
    """Linear scores of centered features, one row of weights per item."""

    weights: FloatArray
    margin: float = 0.0

    @property
    def n_features(self) -> int:
        """Number of features."""
        return self.weights.shape[1]

    @property
    def lipschitz(self) -> float:
        """Sum over pairs of the steepest slope of Phi(m_i - m_j)."""
        first, second = np.triu_indices(len(self.weights), 1)
        return float(_DENSITY * np.linalg.norm(self.weights[first] - self.weights[second], axis=1).sum())

    def __call__(self, X: FloatArray) -> FloatArray:
        """Scores of the rows of X: (n, k). All scores are 0, so all pairs even, in the middle of the cube."""
        return (np.asarray(X) - 0.5) @ self.weights.T


@dataclass(frozen=True, eq=False)
class AreaScores:
    """Scores that sort into the central ranking of the area of a row."""

    areas: FourAreas
    centers: FloatArray
    theta: float
    margin: float

    @property
    def n_features(self) -> int:
        """Number of features."""
        return self.areas.n_features

    @property
    def lipschitz(self) -> float:
        """The steepest change between two areas, along the way from the one to the other."""
        before = np.array(MallowsNoise(self.theta).preference_probability(-self.centers))
        first, second = np.triu_indices(self.centers.shape[1], 1)
        corner = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
        return max(
            float(np.abs(before[a] - before[b])[first, second].sum())
            / (self.areas.gap * float(np.linalg.norm(corner[a] - corner[b])))
            for a in range(4)
            for b in range(a)
        )

    def __call__(self, X: FloatArray) -> FloatArray:
        """Scores of the rows of X: (n, k)."""
        return -self.centers[self.areas.area_of(X)]
