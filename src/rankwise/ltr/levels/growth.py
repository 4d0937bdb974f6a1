"""Growth of level trees: at every level the one cut that serves all leaves best."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from rankwise._typing import FloatArray, IntArray
from rankwise.ltr.levels import _jit
from rankwise.ltr.levels.trees import LevelTrees
from rankwise.trees.features import code_features

# An empty leaf has no second derivative; this share of the sum over all rows stands in for it.
_LEAST_BEND = 1e-10
# Cuts that add no more than this share of what there is are rounding.
_LEAST_GAIN = 1e-10


class LevelGrower:
    """Grows trees on the same rows, again and again.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features)
        Features; NaN is missing.
    depth : int
        Number of levels of a tree.
    max_bins : int
        Most values that a feature is cut into.
    l2 : float
        Added to the second derivatives of a leaf.
    n_threads : int
        Threads that share the features.
    """

    def __init__(self, X: FloatArray, depth: int, max_bins: int, l2: float, n_threads: int) -> None:
        self.features = code_features(X, np.zeros(X.shape[1], dtype=np.intp), max_bins)
        self.depth, self.l2, self.n_threads = depth, l2, n_threads
        n_features = X.shape[1]
        # Of the last level, whose leaves are the most, sums are not kept: nothing follows that would need them.
        shape = (n_features, max(2**depth // 4, 1) + 1, 2, int(self.features.n_codes.max(initial=0)) + 1)
        self._histograms = np.empty(shape)
        self._has_missing = np.any(np.isnan(X), axis=0)
        self._columns = _jit.Columns(self.features.codes, self.features.n_codes, self._has_missing)
        self._varies = self.features.n_codes + self._has_missing > 1
        self._threads = ThreadPoolExecutor(n_threads) if n_threads > 1 else None

    def grow(
        self, slope: FloatArray, bend: FloatArray, rows: IntArray, chosen: IntArray, trees: LevelTrees
    ) -> IntArray:
        """Grow the one tree that ``trees`` has room for, and return the leaves of all rows.

        ``rows`` and ``chosen`` are the rows and the features that it may see.
        """
        leaf = np.zeros(len(slope), dtype=np.int64)
        sums = _jit.leaf_sums(rows, leaf, slope, bend, 1)
        l2 = self.l2 + _LEAST_BEND * sums[0, 1]
        is_counted = np.ones(1, dtype=bool)
        for level in range(self.depth):
            best = self._best_cuts(chosen, _jit.sort_by_leaf(rows, leaf, is_counted, slope, bend), sums, l2)
            feature = int(np.argmax(best.worth))  # the first of equals
            before = float(np.sum(sums[:, 0] ** 2 / (sums[:, 1] + l2)))
            if not best.worth[feature] > before * (1 + _LEAST_GAIN):
                break
            cut, last, side = best.code[feature], self.features.n_codes[feature], best.missing_left[feature]
            _jit.cut_leaves(self.features.codes[feature], cut, last, side, 1 << level, leaf)
            sums = _jit.leaf_sums(rows, leaf, slope, bend, 2 << level)
            left, right = np.split(sums[:, 2], 2)
            trees.feature[0, level] = feature
            trees.threshold[0, level] = self._threshold(feature, cut)
            # Where nothing was missing in training, what is missing later goes with the more rows.
            trees.missing_left[0, level] = side if self._has_missing[feature] else left.sum() >= right.sum()
            trees.gain[0, level] = best.worth[feature] - before
            # Of the two sides of a leaf, the smaller one is added up, and the other is what remains.
            is_counted = np.concatenate([left < right, left >= right])
        trees.value[0, : len(sums)] = -sums[:, 0] / (sums[:, 1] + l2)
        trees.count[0, : len(sums)] = sums[:, 2]
        return leaf

    def close(self) -> None:
        """End the threads."""
        if self._threads:
            self._threads.shutdown()

    def _best_cuts(self, chosen: IntArray, counted: _jit.Counted, sums: FloatArray, l2: float) -> _jit.Cuts:
        n = len(self._varies)
        found = _jit.Cuts(np.full(n, -np.inf), np.zeros(n, np.int64), np.zeros(n, np.bool_))

        def search(part: IntArray) -> None:
            _jit.best_cuts(self._columns, part, counted, sums, l2, self._histograms, found)

        self._share(search, chosen[self._varies[chosen]])
        return found

    def _share(self, work: Callable[[IntArray], None], features: IntArray) -> None:
        """Threads take parts of the features; threads of joblib would take longer to start than the work takes."""
        if self._threads is None:
            work(features)
        else:
            list(self._threads.map(work, np.array_split(features, self.n_threads)))

    def _threshold(self, feature: int, cut: int) -> float:
        """Half way between the two bins; after the last one only missing values go right."""
        first = self.features.start[feature]
        low = self.features.upper[first + cut]
        if cut + 1 == self.features.n_codes[feature]:
            return np.inf
        return float(_between(low, self.features.lower[first + cut + 1]))


# ---------------------------------------------------------------------------------------------------------------------


def _between(low: float, high: float) -> float:
    """The middle of two numbers; the lower one where rounding would make it the higher."""
    middle = low / 2 + high / 2
    return middle if low <= middle < high else low
