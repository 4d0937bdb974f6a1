"""Boosting with level trees: one split per level, the best for all leaves together.

`LevelTrees` is the booster that `LambdaMART` uses with ``tree="level"``, and has the same interface as
`rankwise.ltr.boosting.LightGBMTrees`. Every level asks one question of all rows, and the answers are the bits of the
number of the leaf. Features are coded and thresholds chosen as in `rankwise.trees`.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from rankwise._progress import track
from rankwise._state import MATRIX, Saved, array, check_shape, ensure
from rankwise._typing import BoolArray, FloatArray, IntArray
from rankwise.ltr import _level_trees_jit
from rankwise.ltr.boosting import BoostingSettings, EarlyStopping, round_for_exact_sums
from rankwise.ltr.gradients import Objective
from rankwise.queries import QueryRows
from rankwise.trees.engine import code_features, threshold_between

# Chosen by cross-validation on data of make_retrieval, see docs/learning-to-rank.md.
_DEPTH, _L2 = 4, 1.0
# 4096 leaves.
_MOST_LEVELS = 12
# An empty leaf has no second derivative; this share of the sum over all rows stands in for it.
_LEAST_HESSIAN = 1e-10
# Cuts that add no more than this share of the score so far are due to rounding.
_LEAST_GAIN = 1e-10


@dataclass
class LevelTrees:
    """Trees of one depth, one after the other.

    Attributes
    ----------
    feature, threshold, missing_left, gain : ndarray of shape (n_trees, depth)
        Bit d of a row's leaf is set where its feature lies above the threshold of level d, or is missing and
        ``missing_left`` is false. A feature of -1 means no split. Gain is what the level adds to the sum over leaves of
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
        return LevelTrees(**{name: part[trees] for name, part in vars(self).items()})

    def fit(
        self, rows: QueryRows, objective: Objective, settings: BoostingSettings, stopping: EarlyStopping | None
    ) -> None:
        """Grow the trees that are still to come on the gradients of the objective; None watches no metric."""
        depth = _check_depth(settings)
        if len(self) and self.depth != depth:
            raise ValueError(f"warm_start keeps trees of {self.depth} levels; set max_depth={self.depth}")
        trees, done = LevelTrees.empty(settings.n_trees, depth), len(self)
        score = np.zeros(len(rows.X))
        held_out = None if stopping is None or stopping.X is None else np.ascontiguousarray(stopping.X.T)
        watched = score if held_out is None else np.zeros(held_out.shape[1])
        if done:
            for name, part in vars(trees).items():
                part[:done] = getattr(self, name)
            self._add_to(score, np.ascontiguousarray(rows.X.T))
            if held_out is not None:
                self._add_to(watched, held_out)
        l2 = _L2 if settings.l2_regularization is None else settings.l2_regularization
        with ThreadPoolExecutor(settings.n_threads) as threads:
            grower = LevelGrower(rows.X, depth, settings.max_bins, l2, settings.n_threads, threads)
            for number in track(range(done, settings.n_trees), "boosting", settings.n_trees - done):
                # A generator for each tree, so that a longer fit begins with the same random numbers.
                rng = np.random.default_rng([settings.seed, number])
                tree = trees[number : number + 1]
                gradient, hessian = objective(score, rng)
                leaf = grower.grow(
                    round_for_exact_sums(gradient, "gradients"),
                    round_for_exact_sums(hessian, "second derivatives"),
                    _sample(len(score), settings.subsample, rng),
                    _sample(rows.X.shape[1], settings.colsample, rng),
                    tree,
                )
                tree.value *= settings.learning_rate
                score += tree.value[0, leaf]
                if held_out is not None:
                    tree._add_to(watched, held_out)
                if stopping is not None:
                    stopping.record(watched)
                    if stopping.is_over:
                        trees = trees[: number + 1]
                        break
        vars(self).update(vars(trees))

    def predict(self, X: FloatArray, n_trees: int, n_threads: int) -> FloatArray:
        """Scores of the rows by the first trees."""
        score = np.zeros(len(X))
        self[:n_trees]._add_to(score, np.ascontiguousarray(X.T))
        return score

    def contributions(self, X: FloatArray, n_trees: int, n_threads: int) -> FloatArray:
        """Shapley values of the features of each row, of shape (n_rows, n_features)."""
        trees, found = self[:n_trees], np.zeros(X.shape)
        arrays = (np.ascontiguousarray(X.T), trees.feature, trees.threshold, trees.missing_left)
        _level_trees_jit.add_contributions(*_writeable(*arrays, trees.value, trees.count, found))
        return found

    def importances(self, n_trees: int, n_features: int) -> FloatArray:
        """Gain of all levels by feature."""
        trees = self[:n_trees]
        asked = trees.feature >= 0
        return np.bincount(trees.feature[asked], trees.gain[asked], n_features).astype(np.float64, copy=False)

    def check_features(self, n_features: int) -> None:
        """Refuse trees, read from a file, that split on features that do not exist."""
        ensure(self.feature.max(initial=-1) < n_features, "a tree splits on a feature that does not exist")

    def _add_to(self, score: FloatArray, columns: FloatArray) -> None:
        """Add the values of the trees to the scores of rows; ``columns`` are their features, one after the other."""
        _level_trees_jit.add_trees(
            *_writeable(columns, self.feature, self.threshold, self.missing_left, self.value, score)
        )

    def _check_saved(self) -> None:
        n, depth = self.feature.shape
        ensure(depth <= _MOST_LEVELS, "trees have too many levels")
        for part in (self.threshold, self.missing_left, self.gain):
            check_shape(part, (n, depth), "the levels")
        for part in (self.value, self.count):
            check_shape(part, (n, 2**depth), "the leaves")
        ensure((self.feature >= -1).all(), "a level has no feature")


class LevelGrower:
    """Grows trees on the same rows, one after the other.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features)
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
    """

    def __init__(
        self, X: FloatArray, depth: int, max_bins: int, l2: float, n_threads: int, threads: ThreadPoolExecutor
    ) -> None:
        self.features = code_features(X, np.zeros(X.shape[1], dtype=np.intp), max_bins)
        self.depth, self.l2, self.n_threads, self.threads = depth, l2, n_threads, threads
        n_features = X.shape[1]
        # Sums of the last level, which has the most leaves, are not kept: nothing follows that would need them.
        shape = (n_features, max(2**depth // 4, 1) + 1, 2, int(self.features.n_codes.max(initial=0)) + 1)
        self._histograms = np.empty(shape)
        self._has_missing = np.any(np.isnan(X), axis=0)
        self._columns = _level_trees_jit.Columns(self.features.codes, self.features.n_codes, self._has_missing)
        self._varies = self.features.n_codes + self._has_missing > 1

    def grow(
        self, gradient: FloatArray, hessian: FloatArray, rows: IntArray, chosen: IntArray, trees: LevelTrees
    ) -> IntArray:
        """Grow the one tree that ``trees`` has room for, and return the leaves of all rows.

        ``rows`` and ``chosen`` are the rows and the features that it may see.
        """
        leaf = np.zeros(len(gradient), dtype=np.int64)
        sums = _level_trees_jit.leaf_sums(rows, leaf, gradient, hessian, 1)
        l2 = self.l2 + _LEAST_HESSIAN * sums[0, 1]
        is_counted = np.ones(1, dtype=bool)
        for level in range(self.depth):
            best = self._best_cuts(
                chosen, _level_trees_jit.sort_by_leaf(rows, leaf, is_counted, gradient, hessian), sums, l2
            )
            feature = int(np.argmax(best.score))  # the first one if several tie
            before = float(np.sum(sums[:, 0] ** 2 / (sums[:, 1] + l2)))
            if not best.score[feature] > before * (1 + _LEAST_GAIN):
                break
            cut, last, side = best.code[feature], self.features.n_codes[feature], best.missing_left[feature]
            _level_trees_jit.cut_leaves(self.features.codes[feature], cut, last, side, 1 << level, leaf)
            sums = _level_trees_jit.leaf_sums(rows, leaf, gradient, hessian, 2 << level)
            left, right = np.split(sums[:, 2], 2)
            trees.feature[0, level] = feature
            trees.threshold[0, level] = threshold_between(self.features, feature, cut, cut + 1)
            # If nothing was missing in training, missing values go with the larger part of the rows.
            trees.missing_left[0, level] = side if self._has_missing[feature] else left.sum() >= right.sum()
            trees.gain[0, level] = best.score[feature] - before
            # Only the smaller side of each leaf is added up; the other side is what remains.
            is_counted = np.concatenate([left < right, left >= right])
        trees.value[0, : len(sums)] = -sums[:, 0] / (sums[:, 1] + l2)
        trees.count[0, : len(sums)] = sums[:, 2]
        return leaf

    def _best_cuts(
        self, chosen: IntArray, counted: _level_trees_jit.Counted, sums: FloatArray, l2: float
    ) -> _level_trees_jit.Cuts:
        """The best cut of each chosen feature; threads take parts of the features."""
        n = len(self._varies)
        found = _level_trees_jit.Cuts(np.full(n, -np.inf), np.zeros(n, np.int64), np.zeros(n, np.bool_))

        def search(part: IntArray) -> None:
            _level_trees_jit.best_cuts(self._columns, part, counted, sums, l2, self._histograms, found)

        features = chosen[self._varies[chosen]]
        if self.n_threads == 1:
            search(features)
        else:
            list(self.threads.map(search, np.array_split(features, self.n_threads)))
        return found


def _check_depth(settings: BoostingSettings) -> int:
    """The depth of the trees; settings that level trees do not support are refused."""
    depth = _DEPTH if settings.max_depth is None else settings.max_depth
    if depth > _MOST_LEVELS:
        raise ValueError(f"max_depth is {depth}, but a level tree has 2**max_depth leaves; give at most {_MOST_LEVELS}")
    if settings.max_bins > 255:
        raise ValueError(f"max_bins is {settings.max_bins}, but level trees take at most 255")
    if settings.monotone_constraints is not None:
        raise ValueError("monotone_constraints are for tree='leaf'; a level tree cannot keep them leaf by leaf")
    if settings.is_categorical.any():
        raise ValueError(
            f"column {int(np.argmax(settings.is_categorical))} of X holds categories, which have no order that a level "
            "could cut; encode them as numbers, e.g. with sklearn.preprocessing.TargetEncoder, or use tree='leaf'"
        )
    return depth


def _sample(n: int, share: float, rng: np.random.Generator) -> IntArray:
    """A share of the numbers below n, at least one, in ascending order."""
    if share == 1:
        return np.arange(n)
    return np.sort(rng.permutation(n)[: max(1, round(share * n))])


def _writeable(*arrays: Any) -> list[Any]:
    """The arrays as functions are compiled for: to Numba a read-only one, such as a memory map, is another type."""
    return [np.require(array, requirements=["C", "W"]) for array in arrays]
