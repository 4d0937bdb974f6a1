"""What leaves hold: their mean targets, or the rows that fell into them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from rankwise._typing import FloatArray, IntArray
from rankwise.trees.leaves import _jit
from rankwise.trees.targets import TargetRows

#: number, among the leaves, of the leaf of each row
LeafNumbers: TypeAlias = npt.NDArray[np.int32]

# Leaves with more rankings than this, on the average, are quicker to read as means.
_FEW_RANKINGS = 3


@dataclass(frozen=True, eq=False)
class LeafMeans:
    """Leaves hold the mean of their targets.

    Attributes
    ----------
    values : ndarray of shape (n_leaves, q)
        Mean target of each leaf; NaN where unknown.
    """

    values: npt.NDArray[np.floating]

    @property
    def size(self) -> int:
        """Number of coordinates of a target."""
        return int(self.values.shape[1])

    @property
    def has_unknown(self) -> bool:
        """Whether some coordinate of some leaf is unknown."""
        return bool(np.isnan(self.values).any())

    def fill_unknown(self, value: FloatArray | float) -> None:
        """Put a value in the place of unknown coordinates."""
        unknown = np.isnan(self.values)
        self.values[unknown] = np.broadcast_to(value, unknown.shape)[unknown]

    def add_to(self, out: FloatArray, leaf: LeafNumbers, scale: FloatArray) -> None:
        """Add to every row of ``out`` the mean of its leaf, each coordinate times its scale."""
        _jit.add_values(leaf, self.values, scale, out)


@dataclass(frozen=True, eq=False)
class LeafRows:
    """Leaves hold rankings, and their pairs are counted when asked for.

    Fully grown trees have nearly as many leaves as rows: the numbers of rankings take far less memory than a share for
    every pair of items and leaf, and all trees of a forest refer to the same rankings. Equal ones in a leaf count once,
    with the sum of their weights.

    Attributes
    ----------
    targets : TargetRows
        Different rankings that order all pairs.
    start : ndarray of int32, shape (n_leaves + 1,)
        Where the rankings of each leaf begin.
    rows : ndarray of int32
        Their numbers, leaf by leaf.
    weights : ndarray of float64
        Weight of each.
    """

    targets: TargetRows
    start: npt.NDArray[np.int32]
    rows: npt.NDArray[np.int32]
    weights: FloatArray

    @classmethod
    def collect(cls, targets: TargetRows, weights: FloatArray, rows: IntArray, leaf: LeafNumbers, n: int) -> LeafRows:
        """Sort rows by their leaves and rankings."""
        distinct, number = targets.distinct
        n_distinct = len(distinct.values)
        keys, member = np.unique(leaf * np.int64(n_distinct) + number[rows], return_inverse=True)
        leaf_of, rankings = np.divmod(keys, n_distinct)
        start = np.concatenate([[0], np.cumsum(np.bincount(leaf_of, minlength=n))]).astype(np.int32)
        return cls(
            distinct,
            start,
            rankings.astype(np.int32),
            np.bincount(member, weights[rows]).astype(np.float64, copy=False),
        )

    @property
    def are_few(self) -> bool:
        """Whether leaves are so small that it is better to hold their rankings than their means."""
        return len(self.rows) <= _FEW_RANKINGS * (len(self.start) - 1)

    @property
    def size(self) -> int:
        """Number of coordinates of a target."""
        return self.targets.size

    @property
    def has_unknown(self) -> bool:
        """Whether some coordinate of some leaf is unknown: never, for these rankings order all pairs."""
        return False

    def fill_unknown(self, value: FloatArray | float) -> None:
        """Nothing is unknown."""

    def add_to(self, out: FloatArray, leaf: LeafNumbers, scale: FloatArray) -> None:
        """Add to every row of ``out`` the mean of its leaf, each coordinate times its scale."""
        _jit.add_rankings(leaf, self.start, self.rows, self.weights, self.targets.values, scale, out)

    @property
    def values(self) -> FloatArray:
        """Mean target of each leaf, written out."""
        n_leaves = len(self.start) - 1
        out = np.zeros((n_leaves, self.size))
        self.add_to(out, np.arange(n_leaves, dtype=np.int32), np.ones(self.size))
        return out
