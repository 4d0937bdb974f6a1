"""Newton boosting with level trees: objective in, trees and history out."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from rankwise._progress import track
from rankwise._state import MATRIX, Saved, array, check_shape, ensure
from rankwise._typing import BoolArray, FloatArray, IntArray
from rankwise.ltr import _level_trees_jit
from rankwise.ltr.base import QueryRows
from rankwise.ltr.boosting import Objective, Watch, check_n_trees, summable
from rankwise.trees.engine import code_features


@dataclass(frozen=True)
class LevelSettings:
    """How trees are grown; see the parameters of `rankwise.ltr.LambdaMART`."""

    depth: int
    learning_rate: float
    l2: float
    subsample: float
    colsample: float
    max_bins: int
    n_threads: int


def boost_levels(
    rows: QueryRows,
    held_out: QueryRows | None,
    objective: Objective,
    *,
    evaluate: Callable[[FloatArray], float] | None,
    n_trees: int,
    patience: int | None,
    settings: LevelSettings,
    seed: int,
    before: LevelTrees | None = None,
    history: list[float] | None = None,
) -> tuple[LevelTrees, int, list[float]]:
    """Grow level trees on the gradients of the objective.

    Parameters and what is returned are those of `rankwise.ltr.boosting.boost`.
    """
    done = 0 if before is None else len(before)
    check_n_trees(n_trees, done)
    if before is not None and before.depth != settings.depth:
        raise ValueError(f"warm_start keeps trees of {before.depth} levels; set max_depth={before.depth}")
    watch = Watch(evaluate, patience, history or [])
    trees = LevelTrees.empty(n_trees, settings.depth)
    score, watched = np.zeros(len(rows.X)), np.zeros(0 if held_out is None else len(held_out.X))
    columns = None if held_out is None else np.ascontiguousarray(held_out.X.T)
    if before is not None:
        trees.overwrite(before)
        before.add_to(score, np.ascontiguousarray(rows.X.T))
        if columns is not None:
            before.add_to(watched, columns)
    with closing(LevelGrower(rows.X, settings.depth, settings.max_bins, settings.l2, settings.n_threads)) as grower:
        for number in track(range(done, n_trees), "boosting", n_trees - done):
            # Tree by tree, so that more trees begin with the same random numbers.
            rng = np.random.default_rng([seed, number])
            tree = trees[number : number + 1]
            slope, bend = objective(score, rng)
            slope, bend = summable(slope, "gradients"), summable(bend, "second derivatives")
            seen = _sample(len(score), settings.subsample, rng)
            leaf = grower.grow(slope, bend, seen, _sample(rows.X.shape[1], settings.colsample, rng), tree)
            tree.value *= settings.learning_rate
            score += tree.value[0, leaf]
            if columns is not None:
                tree.add_to(watched, columns)
            if watch.is_over(score if columns is None else watched):
                trees = trees[: number + 1]
                break
    return trees, watch.n_used(len(trees)), watch.history


def _sample(n: int, share: float, rng: np.random.Generator) -> IntArray:
    """A share of the numbers below n, at least one, in ascending order."""
    if share == 1:
        return np.arange(n)
    return np.sort(rng.permutation(n)[: max(1, round(share * n))])


# Growth of level trees: at every level the one cut that serves all leaves best.


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
        self._columns = _level_trees_jit.Columns(self.features.codes, self.features.n_codes, self._has_missing)
        self._varies = self.features.n_codes + self._has_missing > 1
        self._threads = ThreadPoolExecutor(n_threads) if n_threads > 1 else None

    def grow(
        self, slope: FloatArray, bend: FloatArray, rows: IntArray, chosen: IntArray, trees: LevelTrees
    ) -> IntArray:
        """Grow the one tree that ``trees`` has room for, and return the leaves of all rows.

        ``rows`` and ``chosen`` are the rows and the features that it may see.
        """
        leaf = np.zeros(len(slope), dtype=np.int64)
        sums = _level_trees_jit.leaf_sums(rows, leaf, slope, bend, 1)
        l2 = self.l2 + _LEAST_BEND * sums[0, 1]
        is_counted = np.ones(1, dtype=bool)
        for level in range(self.depth):
            best = self._best_cuts(chosen, _level_trees_jit.sort_by_leaf(rows, leaf, is_counted, slope, bend), sums, l2)
            feature = int(np.argmax(best.worth))  # the first of equals
            before = float(np.sum(sums[:, 0] ** 2 / (sums[:, 1] + l2)))
            if not best.worth[feature] > before * (1 + _LEAST_GAIN):
                break
            cut, last, side = best.code[feature], self.features.n_codes[feature], best.missing_left[feature]
            _level_trees_jit.cut_leaves(self.features.codes[feature], cut, last, side, 1 << level, leaf)
            sums = _level_trees_jit.leaf_sums(rows, leaf, slope, bend, 2 << level)
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

    def _best_cuts(
        self, chosen: IntArray, counted: _level_trees_jit.Counted, sums: FloatArray, l2: float
    ) -> _level_trees_jit.Cuts:
        n = len(self._varies)
        found = _level_trees_jit.Cuts(np.full(n, -np.inf), np.zeros(n, np.int64), np.zeros(n, np.bool_))

        def search(part: IntArray) -> None:
            _level_trees_jit.best_cuts(self._columns, part, counted, sums, l2, self._histograms, found)

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


def _between(low: float, high: float) -> float:
    """The middle of two numbers; the lower one where rounding would make it the higher."""
    middle = low / 2 + high / 2
    return middle if low <= middle < high else low


# Grown level trees: every level asks one question of all rows, and the answers are the bits of the leaf's number.


# Levels of a saved tree, whose leaves are numbered by bits.
_MOST_LEVELS = 24


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

    _saved: ClassVar[Saved] = {
        "feature": array("int64", 2),
        "missing_left": array("bool", 2),
        **dict.fromkeys(["threshold", "gain", "value", "count"], MATRIX),
    }

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
        _level_trees_jit.add_trees(*_writeable(columns, *self._questions(), self.value, score))

    def contributions(self, columns: FloatArray) -> FloatArray:
        """Shapley values of the features of each row, of shape (n_rows, n_features)."""
        found = np.zeros(columns.T.shape)
        _level_trees_jit.add_contributions(*_writeable(columns, *self._questions(), self.value, self.count, found))
        return found

    def importances(self, n_features: int) -> FloatArray:
        """Gain of all levels by feature."""
        asked = self.feature >= 0
        return np.bincount(self.feature[asked], self.gain[asked], n_features).astype(np.float64, copy=False)

    def _questions(self) -> tuple[Any, ...]:
        return self.feature, self.threshold, self.missing_left

    def _parts(self) -> tuple[Any, ...]:
        return *self._questions(), self.gain, self.value, self.count

    def _check_saved(self) -> None:
        n, depth = self.feature.shape
        ensure(depth <= _MOST_LEVELS, "trees have too many levels")
        for part in (self.threshold, self.missing_left, self.gain):
            check_shape(part, (n, depth), "the levels")
        for part in (self.value, self.count):
            check_shape(part, (n, 2**depth), "the leaves")
        ensure((self.feature >= -1).all(), "a level has no feature")


def _writeable(*arrays: Any) -> list[Any]:
    """The arrays as kernels are compiled for; a read-only one, as of a memory map, would be another type to Numba."""
    return [np.require(array, requirements=["C", "W"]) for array in arrays]
