"""Score functions m of a `RankingOracle`: sparse linear scores of binary features, and constants on cells of a grid.

Any function of X will do; these are the designs of the papers, which the generators draw.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rankwise._typing import FloatArray, IntArray
from rankwise._validation import check_choice, check_sizes
from rankwise.datasets.feature_laws import FeatureLaw


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
        """For each label, the features with weight."""
        return tuple(np.flatnonzero(row) for row in self.weights)

    def __call__(self, X: FloatArray) -> FloatArray:
        """Scores of the rows of X: (n, k)."""
        varies = self.high > self.low
        span = np.where(varies, self.high - self.low, 1.0)
        return np.where(varies, 0.25 + (X @ self.weights.T - self.low) / span / 2, 0.5)


def own_weights(n_features: int, n_items: int, n_informative: int, rng: np.random.Generator) -> FloatArray:
    """Positive weights on a few features of each label's own, as the paper describes."""
    check_sizes(n_informative=n_informative)
    check_sizes(n_items=n_items, at_least=2)
    weights = np.zeros((n_items, n_features))
    coordinates = rng.integers(0, n_features, size=(n_items, n_informative))
    values = 100 * rng.random((n_items, n_informative))
    for draw in range(n_informative):  # a coordinate drawn twice keeps its last weight
        weights[np.arange(n_items), coordinates[:, draw]] = values[:, draw]
    return weights


def shared_weights(n_features: int, n_items: int, n_informative: int, rng: np.random.Generator) -> FloatArray:
    """Weights of both signs on the same few features for all labels, as in the files that the authors distribute."""
    check_sizes(n_informative=n_informative)
    check_sizes(n_items=n_items, at_least=2)
    if n_informative > n_features:
        raise ValueError(f"n_informative is {n_informative}, but there are {n_features} features")
    weights = np.zeros((n_items, n_features))
    chosen = rng.choice(n_features, n_informative, replace=False)
    weights[:, chosen] = rng.uniform(-1, 1, (n_informative, n_items)).T
    return weights


@dataclass(frozen=True, eq=False)
class GridFeatures(FeatureLaw):
    """Two features, uniform on [0, 1] or categories, cut into a grid of equally likely cells."""

    levels: IntArray
    categorical: tuple[int, ...]
    n_features: int = 2

    @classmethod
    def of_cells(cls, n_cells: int, setting: int) -> GridFeatures:
        """A grid of this many cells, as square as can be; setting 1, 2, 3: none, the second, both are categories."""
        check_choice("setting", setting, (1, 2, 3))
        check_sizes(n_cells=n_cells)
        smaller = max(size for size in range(1, int(np.sqrt(n_cells)) + 1) if n_cells % size == 0)
        return cls(np.array([smaller, n_cells // smaller]), {1: (), 2: (1,), 3: (0, 1)}[setting])

    def sample(self, n: int, rng: np.random.Generator) -> FloatArray:
        """Uniform numbers; a categorical feature is the interval of the number, so all settings share their cells."""
        uniforms = rng.random((n, 2))
        X = uniforms.copy()
        columns = list(self.categorical)
        X[:, columns] = (uniforms * self.levels).astype(np.intp)[:, columns]
        return X

    def cell_of(self, X: FloatArray) -> IntArray:
        """Number of the cell of each row."""
        level = np.clip((X * self.levels).astype(np.intp), 0, self.levels - 1)
        columns = list(self.categorical)
        level[:, columns] = X[:, columns].astype(np.intp)
        return level[:, 0] * self.levels[1] + level[:, 1]


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
