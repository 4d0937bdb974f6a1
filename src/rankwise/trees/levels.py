"""Trees with one split per level: the table of splits that their two growers fill, and how rows go through it.

`_grow_levels` grows one such tree for least squares, and `rankwise.ltr.level_trees` boosts many of them. Both code
features and place thresholds alike, record the split of each level in `LevelSplits`, and move rows to the cells of the
next level with `move_right`. `LevelTables` adds what the leaves of boosted trees hold, predictions and contributions.

What a leaf is differs, so only the boosted trees stay tables. Their levels divide every cell, so that the leaf of a row
is a number with one bit per level, and a prediction is looked up without following nodes. A tree for least squares may
leave cells undivided (too few rows on a side), sends missing values cell by cell, takes categories, and can be pruned;
2**depth places for its leaves would be mostly empty. `_grow_levels` therefore turns its splits into the nodes of a
`Tree`. The searches for the best split are separate as well: exact sums of vectors there, histograms of gradients here.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from rankwise._state import MATRIX, Saved, array, check_shape, ensure
from rankwise._typing import BoolArray, FloatArray, IntArray
from rankwise.trees import _levels_jit
from rankwise.trees._grow_jit import Features, threshold_between
from rankwise.trees._levels_jit import move_right

__all__ = ["MOST_LEVELS", "LevelSplits", "LevelTables", "move_right"]

#: levels of a tree that is a table: 4096 leaves
MOST_LEVELS = 12
# With fewer rows, starting a thread takes longer than what it saves.
_ROWS_OF_A_THREAD = 4096


@dataclass
class LevelSplits:
    """The splits of trees of one depth, one per level.

    Attributes
    ----------
    feature, threshold, missing_left, gain : ndarray of shape (n_trees, depth)
        A row goes right where its feature lies above the threshold, or is missing and ``missing_left`` is false. A
        feature of -1 means no split. Gain is what the level adds to the criterion of the grower.
    """

    feature: IntArray
    threshold: FloatArray
    missing_left: BoolArray
    gain: FloatArray

    _saved: ClassVar[Saved] = {
        "feature": array("int64", 2),
        "missing_left": array("bool", 2),
        **dict.fromkeys(["threshold", "gain"], MATRIX),
    }

    @classmethod
    def empty(cls, n_trees: int, depth: int) -> Self:
        """Room for trees; as they are, they ask nothing."""
        levels = (n_trees, depth)
        return cls(np.full(levels, -1, np.int64), np.zeros(levels), np.zeros(levels, dtype=bool), np.zeros(levels))

    def __len__(self) -> int:
        return len(self.feature)

    @property
    def depth(self) -> int:
        """Number of levels."""
        return self.feature.shape[1]

    def __getitem__(self, trees: slice) -> Self:
        parts = {name: part[trees] if isinstance(part, np.ndarray) else part for name, part in vars(self).items()}
        return type(self)(**parts)

    def record(
        self, level: int, features: Features, feature: int, code: int, after: int, missing_left: bool, gain: float
    ) -> None:
        """Write the split of a level of the first tree: between two codes of a feature, see `threshold_between`.

        The threshold of categories, which have no order, is 0.
        """
        self.feature[0, level] = feature
        if not features.is_categorical[feature]:
            self.threshold[0, level] = threshold_between(features, feature, code, after)
        self.missing_left[0, level] = missing_left
        self.gain[0, level] = gain

    def importances(self, n_trees: int, n_features: int) -> FloatArray:
        """Gain of all levels of the first trees, by feature."""
        trees = self[:n_trees]
        asked = trees.feature >= 0
        return np.bincount(trees.feature[asked], trees.gain[asked], n_features).astype(np.float64, copy=False)

    def check_features(self, n_features: int) -> None:
        """Refuse trees, read from a file, that split on features that do not exist."""
        ensure(self.feature.max(initial=-1) < n_features, "a tree splits on a feature that does not exist")

    def _check_saved(self) -> None:
        ensure(self.depth <= MOST_LEVELS, "trees have too many levels")
        for part in (self.threshold, self.missing_left, self.gain):
            check_shape(part, self.feature.shape, "the levels")
        ensure((self.feature >= -1).all(), "a level has no feature")


@dataclass
class LevelTables(LevelSplits):
    """Trees whose levels divide every cell, with a number in each leaf; a prediction is the sum over trees.

    Bit d of a row's leaf is set where it goes right at level d.

    Attributes
    ----------
    feature, threshold, missing_left, gain : ndarray of shape (n_trees, depth)
        See `LevelSplits`.
    value, count : ndarray of shape (n_trees, 2**depth)
        What a leaf adds to predictions, and the number of training rows in it.
    """

    value: FloatArray
    count: FloatArray

    _saved: ClassVar[Saved] = dict.fromkeys(["value", "count"], MATRIX)

    @classmethod
    def empty(cls, n_trees: int, depth: int) -> Self:
        """Room for trees; as they are, they ask nothing and add nothing."""
        leaves = (n_trees, 2**depth)
        return cls(**vars(LevelSplits.empty(n_trees, depth)), value=np.zeros(leaves), count=np.zeros(leaves))

    def add_to(self, score: FloatArray, X: Any) -> None:
        """Add the values of the trees to the scores of rows; X is an array of either order, or a CSR matrix."""
        used, places = np.unique(self.feature, return_inverse=True)
        places = places.reshape(self.feature.shape)
        if len(used) and used[0] < 0:  # levels that ask nothing
            used, places = used[1:], places - 1
        trees = _writeable(places, self.threshold, self.missing_left, self.value)
        if not hasattr(X, "indptr"):
            _levels_jit.add_trees(*[X, used, *trees, score])
            return
        place_of = np.full(X.shape[1], -1)
        place_of[used] = np.arange(len(used))
        rows = _writeable(X.data, X.indices.astype(np.int64, copy=False), X.indptr.astype(np.int64, copy=False))
        _levels_jit.add_trees_sparse(*[*rows, place_of, len(used), *trees, score])

    def predict(self, X: Any, n_trees: int, n_threads: int) -> FloatArray:
        """Scores of the rows of an array or CSR matrix by the first trees; threads take parts of the rows."""
        trees, score = self[:n_trees], np.zeros(X.shape[0])
        n_parts = max(1, min(n_threads, len(score) // _ROWS_OF_A_THREAD))
        parts = [slice(part[0], part[-1] + 1) for part in np.array_split(np.arange(len(score)), n_parts) if len(part)]
        if len(parts) == 1:
            trees.add_to(score, X)
        else:
            with ThreadPoolExecutor(len(parts)) as threads:
                list(threads.map(lambda part: trees.add_to(score[part], X[part]), parts))
        return score

    def contributions(self, X: Any, n_trees: int, n_threads: int) -> FloatArray:
        """Shapley values of the features of each row, of shape (n_rows, n_features)."""
        X = X.toarray() if hasattr(X, "indptr") else X
        trees, found = self[:n_trees], np.zeros(X.shape)
        arrays = (np.ascontiguousarray(X.T), trees.feature, trees.threshold, trees.missing_left)
        _levels_jit.add_contributions(*_writeable(*arrays, trees.value, trees.count, found))
        return found

    def _check_saved(self) -> None:
        super()._check_saved()
        for part in (self.value, self.count):
            check_shape(part, (len(self), 2**self.depth), "the leaves")


def _writeable(*arrays: Any) -> list[Any]:
    """The arrays as functions are compiled for: to Numba a read-only one, such as a memory map, is another type."""
    return [np.require(array, requirements=["C", "W"]) for array in arrays]
