"""Growth of level trees on gradients, used by `rankwise.ltr.level_trees`.

`LevelGrower` searches the one cut of each level. How the features are stored, and so how a cut is searched and rows are
moved, is up to `Dense` and `Sparse`: both find the same cuts, as sums of gradients are exact. The rows and gradients of
one tree are a `Sample`; `rankwise.ltr._level_cluster` has one whose rows lie on several machines.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from rankwise._typing import FloatArray, IntArray
from rankwise.ltr import _level_trees_jit
from rankwise.ltr._level_trees_jit import Columns, Cuts, Leaves, SparseColumns
from rankwise.trees.engine import Features, code_features
from rankwise.trees.levels import LevelTables, move_right

# An empty leaf has no second derivative; this share of the sum over all rows stands in for it.
_LEAST_HESSIAN = 1e-10
# Cuts that add no more than this share of the score so far are due to rounding.
_LEAST_GAIN = 1e-10
# A level has work for several threads from this many rows times features on; waking one up takes as long as this.
_LEAST_WORK = 200_000


class LevelGrower:
    """Grows trees on the same rows, one after the other.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n, n_features)
        Features; NaN is missing.
    depth : int
        Number of levels of a tree.
    max_bins : int
        Most bins of a feature.
    l2 : float
        Added to the second derivatives of a leaf.
    n_threads : int
        Number of threads that share the features.
    threads : ThreadPoolExecutor
        The threads; those of joblib would take longer to start than the work takes.
    places : ndarray of shape (n_rows,), optional
        The rows of X, in their order; by default all, as they are.
    signs : ndarray of shape (n_features,), optional
        1 where values must not fall as the feature rises, -1 where they must not rise, 0 elsewhere.
    """

    def __init__(
        self,
        X: Any,
        depth: int,
        max_bins: int,
        l2: float,
        n_threads: int,
        threads: ThreadPoolExecutor,
        places: IntArray | None = None,
        signs: IntArray | None = None,
    ) -> None:
        self.depth, self.l2, self.n_threads, self.threads = depth, l2, n_threads, threads
        self.signs = np.zeros(0, np.int8) if signs is None or not np.any(signs) else signs.astype(np.int8)
        columns = Sparse if hasattr(X, "indptr") else Dense
        self.columns: Any = columns(X, places, depth, max_bins, self.signs, threads.map if n_threads > 1 else map)
        self.features = self.columns.features
        self._varies = self.features.n_codes + self.columns.has_missing > 1

    def grow(
        self,
        gradient: FloatArray,
        hessian: FloatArray,
        rows: IntArray,
        chosen: IntArray,
        trees: LevelTables,
        noise: FloatArray | None = None,
    ) -> IntArray:
        """Grow the one tree that ``trees`` has room for, and return the leaves of all rows.

        ``rows`` and ``chosen`` are the rows and the features that it may see. ``noise``, of shape (depth, n_features),
        is added to the roots of the scores of the features at each level, in units of the root of what a leaf scores
        by chance, which is the sum of the squared gradients over the sum of the second derivatives.
        """
        sample = Sample(self.columns, gradient, hessian, rows)
        self.grow_on(sample, chosen, trees, noise)
        return sample.leaf

    def grow_on(self, sample: Any, chosen: IntArray, trees: LevelTables, noise: FloatArray | None = None) -> None:
        """The same on a `Sample`, or on what has the same methods."""
        sums = sample.sums
        l2 = self.l2 + _LEAST_HESSIAN * sums[0, 1]
        leaves = Leaves(sums, np.full(1, -np.inf), np.full(1, np.inf))
        is_counted = np.ones(1, dtype=bool)
        chance = 0.0 if noise is None else np.sqrt(sample.squares() / max(sums[0, 1], l2))
        for level in range(self.depth):
            best = self._best_cuts(chosen, sample.counted(is_counted), leaves, l2, int(sums[:, 2].sum()))
            before = _worth(leaves, l2)
            adds = best.score > before * (1 + _LEAST_GAIN)
            if not adds.any():
                break
            appeal = best.score
            if noise is not None:
                appeal = np.where(adds, np.sqrt(np.maximum(best.score, 0.0)) + chance * noise[level], -np.inf)
            feature = int(np.argmax(appeal))  # the first one if several tie
            cut, side = int(best.code[feature]), bool(best.missing_left[feature])
            sums = sample.divided(feature, cut, side, 1 << level)
            leaves = self._divided(leaves, feature, sums, l2)
            left, right = sums[: len(sums) // 2, 2], sums[len(sums) // 2 :, 2]
            # If nothing was missing in training, missing values go with the larger part of the rows.
            missing_left = side if self.columns.has_missing[feature] else bool(left.sum() >= right.sum())
            trees.record(level, self.features, feature, cut, cut + 1, missing_left, best.score[feature] - before)
            # Only the smaller side of each leaf is added up; the other side is what remains.
            is_counted = np.concatenate([left < right, left >= right])
        trees.value[0, : len(sums)] = _values(leaves, l2)
        trees.count[0, : len(sums)] = sums[:, 2]

    def _best_cuts(self, chosen: IntArray, counted: Any, leaves: Leaves, l2: float, n_rows: int) -> Cuts:
        """The best cut of each chosen feature; threads take parts of the features."""
        n = len(self._varies)
        found = Cuts(np.full(n, -np.inf), np.zeros(n, np.int64), np.zeros(n, np.bool_))
        features = chosen[self._varies[chosen]]
        if self.n_threads == 1 or n_rows * len(features) < _LEAST_WORK:
            self.columns.search(features, counted, leaves, l2, found)
        else:
            # Four features are searched together, so parts are made of fours.
            parts = [4 * part for part in np.array_split(np.arange(-(-len(features) // 4)), self.n_threads)]
            slices = [features[part[0] : part[-1] + 4] for part in parts if len(part)]
            list(self.threads.map(lambda part: self.columns.search(part, counted, leaves, l2, found), slices))
        return found

    def _divided(self, before: Leaves, feature: int, sums: FloatArray, l2: float) -> Leaves:
        """Leaves after a cut: values left and right of a feature with a sign may not cross the middle between them."""
        lower, upper = (np.concatenate([bound, bound]) for bound in (before.lower, before.upper))
        if len(self.signs) and self.signs[feature]:
            sign, half = int(self.signs[feature]), len(before.lower)
            for own in range(half):
                left, right = sums[own], sums[own + half]
                low, high = _level_trees_jit.bounded_values(
                    left[0], left[1], right[0], right[1], l2, lower[own], upper[own], sign
                )
                below, above = (own, own + half) if sign > 0 else (own + half, own)
                upper[below] = lower[above] = min(low, high) + abs(high - low) / 2
        return Leaves(sums, lower, upper)


class Sample:
    """The rows and derivatives that one tree sees, and where all rows are in it.

    Attributes
    ----------
    leaf : ndarray of shape (n_rows,)
        The leaf of each row so far.
    sums : ndarray of shape (n_leaves, 3)
        Sums of the gradient, of the second derivative and of 1 over the rows that the tree sees, by leaf.
    """

    def __init__(self, columns: Any, gradient: FloatArray, hessian: FloatArray, rows: IntArray) -> None:
        self._columns, self._gradient, self._hessian, self._rows = columns, gradient, hessian, rows
        self.leaf = np.zeros(len(gradient), dtype=np.int64)
        self.sums = self._sums(1)

    def squares(self) -> float:
        """Sum of the squared gradients."""
        return float(np.sum(self._gradient[self._rows] ** 2))

    def counted(self, is_counted: Any) -> Any:
        """What the columns need to know of the rows, to search cuts of these leaves."""
        return self._columns.counted(self._rows, self.leaf, is_counted, self._gradient, self._hessian)

    def divided(self, feature: int, cut: int, missing_left: bool, bit: int) -> FloatArray:
        """Cut all leaves, and return their sums."""
        self._columns.move_right(feature, cut, missing_left, bit, self.leaf)
        self.sums = self._sums(2 * bit)
        return self.sums

    def _sums(self, n_leaves: int) -> FloatArray:
        return _level_trees_jit.leaf_sums(self._rows, self.leaf, self._gradient, self._hessian, n_leaves)


class Dense:
    """Codes of all features by row, and histograms that are kept from level to level."""

    def __init__(self, X: FloatArray, places: IntArray | None, depth: int, max_bins: int, signs: Any, mapping: Any):
        if places is not None and len(places) != len(X):
            X, places = X[places], None
        self.features = code_features(X, np.zeros(X.shape[1], dtype=np.intp), max_bins, mapping=mapping)
        codes, n_codes = self.features.codes, self.features.n_codes

        def put_in_order(own: Any, n: int) -> bool:
            if places is not None:  # after coding, which takes an eighth of the memory of the features
                own[:] = own[places]
            return bool((own == n).any())

        self.has_missing = np.array(list(mapping(put_in_order, codes, n_codes)), dtype=bool)
        ends = np.cumsum(n_codes + 1)
        # Sums of the last level, which has the most leaves, are not kept: nothing follows that would need them.
        self._histograms = np.empty((max(2**depth // 4, 1) + 1, 2, int(ends[-1])))
        self._columns = Columns(codes, n_codes, self.has_missing, ends - n_codes - 1, signs)

    def counted(
        self, rows: IntArray, leaf: IntArray, is_counted: Any, gradient: FloatArray, hessian: FloatArray
    ) -> Any:
        """The rows of some leaves, to be added up."""
        return _level_trees_jit.sort_by_leaf(rows, leaf, is_counted, gradient, hessian)

    def search(self, features: IntArray, counted: Any, leaves: Leaves, l2: float, found: Cuts) -> None:
        """Write the best cut of each of the features."""
        _level_trees_jit.best_cuts(self._columns, features, counted, leaves, l2, self._histograms, found)

    def move_right(self, feature: int, cut: int, missing_left: bool, bit: int, leaf: IntArray) -> None:
        """Set a bit in the leaves of rows right of a cut."""
        move_right(self.features.codes[feature], cut, self.features.n_codes[feature], missing_left, bit, leaf)


class Sparse:
    """Codes of the values that are not 0, feature by feature; sums are made anew at each level."""

    def __init__(self, X: Any, places: IntArray | None, depth: int, max_bins: int, signs: Any, mapping: Any):
        rows = X if places is None else X[places]
        by_column = rows.tocsc()
        starts = by_column.indptr.astype(np.int64)
        codes = np.empty(by_column.nnz, np.uint8 if max_bins <= 255 else np.uint16)
        zero, n_codes, self.has_missing, lower, upper = _level_trees_jit.code_sparse(
            np.require(by_column.data, np.float64, ["C", "W"]), starts, rows.shape[0], max_bins, codes
        )
        ends = np.cumsum(n_codes)
        is_categorical = np.zeros(len(n_codes), dtype=bool)
        self.features = Features(codes, n_codes, is_categorical, lower, upper, np.empty(0), ends - n_codes)
        found = by_column.indices.astype(np.uint32)
        self._columns = SparseColumns(codes, found, starts, zero, n_codes, self.has_missing, signs)

    def counted(
        self, rows: IntArray, leaf: IntArray, is_counted: Any, gradient: FloatArray, hessian: FloatArray
    ) -> Any:
        """The leaves and gradients of all rows; those that the tree does not see weigh nothing."""
        gradients = np.zeros(len(leaf), np.complex128)
        gradients[rows] = gradient[rows] + 1j * hessian[rows]
        return leaf, gradients

    def search(self, features: IntArray, counted: Any, leaves: Leaves, l2: float, found: Cuts) -> None:
        """Write the best cut of each of the features."""
        leaf, gradients = counted
        _level_trees_jit.best_sparse_cuts(self._columns, features, leaf, gradients, leaves, l2, found)

    def move_right(self, feature: int, cut: int, missing_left: bool, bit: int, leaf: IntArray) -> None:
        """Set a bit in the leaves of rows right of a cut."""
        _level_trees_jit.move_right_sparse(self._columns, feature, cut, missing_left, bit, leaf)


def _values(leaves: Leaves, l2: float) -> FloatArray:
    """Newton steps within the bounds."""
    return np.clip(-leaves.sums[:, 0] / (leaves.sums[:, 1] + l2), leaves.lower, leaves.upper)


def _worth(leaves: Leaves, l2: float) -> float:
    """What the values bring: the sum over leaves of -(2 G v + (H + l2) v^2), which is G^2 / (H + l2) within bounds."""
    value, says_something = _values(leaves, l2), leaves.sums[:, :2].any(axis=1)
    brings = 2 * leaves.sums[:, 0] * value + (leaves.sums[:, 1] + l2) * value**2
    return -float(np.sum(brings[says_something]))
