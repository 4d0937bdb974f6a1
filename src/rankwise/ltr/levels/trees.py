"""Grown level trees: every level asks one question of all rows, and the answers are the bits of the leaf's number."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from rankwise._typing import BoolArray, FloatArray
from rankwise.ltr.levels import _jit


@dataclass
class LevelTrees:
    """Trees of one depth, one after the other.

    Attributes
    ----------
    feature, threshold, missing_left, gain : ndarray of shape (n_trees, depth)
        Bit d of a row's leaf is set where its feature lies above the threshold of level d, or is missing and
        ``missing_left`` is false. A feature of -1 asks nothing. Gain is what the level adds to the sum over leaves of
        G^2 / (H + l2).
    value, count : ndarray of shape (n_trees, 2**depth)
        What a leaf adds to scores, and the number of training rows in it.
    """

    feature: np.ndarray[Any, Any]
    threshold: FloatArray
    missing_left: BoolArray
    gain: FloatArray
    value: FloatArray
    count: FloatArray

    @classmethod
    def empty(cls, n_trees: int, depth: int) -> LevelTrees:
        """Room for trees; as they are, they ask nothing and add nothing."""
        levels, leaves = (n_trees, depth), (n_trees, 2**depth)
        return cls(
            np.full(levels, -1, np.int64),
            np.zeros(levels),
            np.zeros(levels, dtype=bool),
            np.zeros(levels),
            np.zeros(leaves),
            np.zeros(leaves),
        )

    def __len__(self) -> int:
        return len(self.feature)

    @property
    def depth(self) -> int:
        """Number of levels."""
        return self.feature.shape[1]

    def __getitem__(self, trees: slice) -> LevelTrees:
        return LevelTrees(*(part[trees] for part in self._parts()))

    def overwrite(self, trees: LevelTrees) -> None:
        """Put other trees in place of the first ones."""
        for part, other in zip(self._parts(), trees._parts(), strict=True):
            part[: len(trees)] = other

    def add_to(self, score: FloatArray, columns: FloatArray) -> None:
        """Add what the trees say to the scores of rows; ``columns`` are their features, one after the other."""
        _jit.add_trees(*_writeable(columns, *self._questions(), self.value, score))

    def contributions(self, columns: FloatArray) -> FloatArray:
        """Shapley values of the features of each row, of shape (n_rows, n_features)."""
        found = np.zeros(columns.T.shape)
        _jit.add_contributions(*_writeable(columns, *self._questions(), self.value, self.count, found))
        return found

    def importances(self, n_features: int) -> FloatArray:
        """Gain of all levels by feature."""
        asked = self.feature >= 0
        return np.bincount(self.feature[asked], self.gain[asked], n_features).astype(np.float64, copy=False)

    def _questions(self) -> tuple[Any, ...]:
        return self.feature, self.threshold, self.missing_left

    def _parts(self) -> tuple[Any, ...]:
        return *self._questions(), self.gain, self.value, self.count


# ---------------------------------------------------------------------------------------------------------------------


def _writeable(*arrays: Any) -> list[Any]:
    """The arrays as kernels are compiled for; a read-only one, as of a memory map, would be another type to Numba."""
    return [np.require(array, requirements=["C", "W"]) for array in arrays]
