"""Boosting with level trees: one split per level, the best for all leaves together.

`LevelTrees` is the booster that `LambdaMART` uses with ``tree="level"``, and has the same interface as
`rankwise.ltr.boosting.LightGBMTrees`. Every level asks one question of all rows, and the answers are the bits of the
number of the leaf. Features are coded, thresholds chosen and splits stored as in `rankwise.trees`, whose `levels` also
predict; growing them on gradients is here.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np

from rankwise._progress import track
from rankwise._typing import FloatArray, IntArray
from rankwise.ltr import _level_trees_jit
from rankwise.ltr.boosting import BoostingSettings, EarlyStopping, round_for_exact_sums
from rankwise.ltr.objectives import Objective
from rankwise.queries import QueryRows
from rankwise.trees.engine import code_features
from rankwise.trees.levels import MOST_LEVELS, LevelTables, move_right

# Chosen by cross-validation on data of make_retrieval, see docs/learning-to-rank.md.
_DEPTH, _L2 = 4, 1.0
# An empty leaf has no second derivative; this share of the sum over all rows stands in for it.
_LEAST_HESSIAN = 1e-10
# Cuts that add no more than this share of the score so far are due to rounding.
_LEAST_GAIN = 1e-10


class LevelTrees(LevelTables):
    """Trees of one depth, one after the other; their gain is what a level adds to the sum over leaves of G^2/(H + l2).

    See `LevelTables` for the attributes, predictions and contributions.
    """

    def fit(
        self, rows: QueryRows, objective: Objective, settings: BoostingSettings, stopping: EarlyStopping | None
    ) -> None:
        """Grow the trees that are still to come on the gradients of the objective; None watches no metric."""
        depth = _check_depth(settings)
        if len(self) and self.depth != depth:
            raise ValueError(f"warm_start keeps trees of {self.depth} levels; set max_depth={self.depth}")
        trees, done = LevelTrees.empty(settings.n_trees, depth), len(self)
        score = np.zeros(len(rows.X))
        held_out = None if stopping is None or stopping.X is None else np.asfortranarray(stopping.X)
        watched = score if held_out is None else np.zeros(len(held_out))
        if done:
            for name, part in vars(trees).items():
                part[:done] = getattr(self, name)
            self.add_to(score, rows.X)
            if held_out is not None:
                self.add_to(watched, held_out)
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
                    tree.add_to(watched, held_out)
                if stopping is not None:
                    stopping.record(watched)
                    if stopping.is_over:
                        trees = trees[: number + 1]
                        break
        vars(self).update(vars(trees))


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
            move_right(self.features.codes[feature], cut, last, side, 1 << level, leaf)
            sums = _level_trees_jit.leaf_sums(rows, leaf, gradient, hessian, 2 << level)
            left, right = np.split(sums[:, 2], 2)
            # If nothing was missing in training, missing values go with the larger part of the rows.
            missing_left = side if self._has_missing[feature] else left.sum() >= right.sum()
            trees.record(level, self.features, feature, cut, cut + 1, missing_left, best.score[feature] - before)
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
    if depth > MOST_LEVELS:
        raise ValueError(f"max_depth is {depth}, but a level tree has 2**max_depth leaves; give at most {MOST_LEVELS}")
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
