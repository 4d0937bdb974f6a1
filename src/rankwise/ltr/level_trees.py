"""Boosting with level trees: one split per level, the best for all leaves together.

`LevelTrees` is the booster that `LambdaMART` uses with ``tree="level"``, and has the same interface as
`rankwise.ltr.boosting.LightGBMTrees`. Every level asks one question of all rows, and the answers are the bits of the
number of the leaf. `target_statistics` makes numbers of categories, and `_level_growth` grows a tree on gradients.
Features are coded, thresholds chosen and splits stored as in `rankwise.trees`, whose `levels` also predict.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.special import expit

from rankwise._progress import track
from rankwise._state import Saved, instance, maybe, optional
from rankwise._typing import FloatArray
from rankwise.ltr._level_growth import LevelGrower
from rankwise.ltr.boosting import BoostingSettings, EarlyStopping, round_for_exact_sums
from rankwise.ltr.gradients import PairwiseLoss
from rankwise.ltr.objectives import Objective
from rankwise.ltr.sampling import choice, sampled
from rankwise.ltr.target_statistics import TargetStatistics
from rankwise.queries import QueryRows
from rankwise.trees.levels import MOST_LEVELS, LevelTables

# Chosen by cross-validation on data of make_retrieval, see docs/learning-to-rank.md.
_DEPTH, _L2 = 4, 1.0


@dataclass
class LevelTrees(LevelTables):
    """Trees of one depth, one after the other; their gain is what a level adds to the sum over leaves of G^2/(H + l2).

    See `LevelTables` for the other attributes, predictions and contributions.

    Attributes
    ----------
    statistics : TargetStatistics or None
        What stands for the categories of features; None if there are none.
    """

    statistics: TargetStatistics | None = None

    _saved: ClassVar[Saved] = {"statistics": optional(maybe(instance("TargetStatistics")))}

    def fit(
        self, rows: QueryRows, objective: Objective, settings: BoostingSettings, stopping: EarlyStopping | None
    ) -> None:
        """Grow the trees that are still to come on the gradients of the objective; None watches no metric."""
        depth = depth_of(settings)
        if len(self) and self.depth != depth:
            raise ValueError(f"warm_start keeps trees of {self.depth} levels; set max_depth={self.depth}")
        trees, done = LevelTrees.empty(settings.n_trees, depth), len(self)
        if settings.is_categorical.any():
            learned, rows = TargetStatistics.learn(rows, settings.is_categorical, settings.seed)
            self.statistics = learned if self.statistics is None else self.statistics
        trees.statistics = self.statistics
        score = np.zeros(len(rows.grade))
        held_out = None if stopping is None or stopping.X is None else _by_column(self._numbers(stopping.X))
        watched = score if held_out is None else np.zeros(held_out.shape[0])
        if done:
            self._repeat(trees, rows, score, held_out, watched)
        l2 = l2_of(settings)
        with ThreadPoolExecutor(settings.n_threads) as threads:
            # The source of the rows, as putting features in order would copy them.
            grower = LevelGrower(
                rows.source,
                depth,
                settings.max_bins,
                l2,
                settings.n_threads,
                threads,
                rows.places,
                settings.monotone_signs,
            )
            if isinstance(objective, PairwiseLoss):
                objective = objective.in_threads(threads.map, settings.n_threads)
            for number in track(range(done, settings.n_trees), "boosting", settings.n_trees - done):
                # A generator for each tree, so that a longer fit begins with the same random numbers.
                rng = np.random.default_rng([settings.seed, number])
                tree = trees[number : number + 1]
                seen, gradient, hessian = sampled(
                    settings.sampling, settings.subsample, rows.bounds, *objective(rows.started(score), rng), rng
                )
                leaf = grower.grow(
                    round_for_exact_sums(gradient, "gradients"),
                    round_for_exact_sums(hessian, "second derivatives"),
                    seen,
                    choice(rows.source.shape[1], settings.colsample, rng),
                    tree,
                    noise_of_tree(settings, rows.source.shape[1], len(rows.grade), depth, number, rng),
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

    def _repeat(
        self, trees: LevelTrees, rows: QueryRows, score: FloatArray, held_out: Any, watched: FloatArray
    ) -> None:
        """Begin trees with those that are there, and scores with what they say."""
        for name, part in vars(self).items():
            if isinstance(part, np.ndarray):
                getattr(trees, name)[: len(self)] = part
        before = super().predict(rows.source, len(self), 1)
        score += before if rows.places is None else before[rows.places]
        if held_out is not None:
            self.add_to(watched, held_out)

    def predict(self, X: Any, n_trees: int, n_threads: int) -> FloatArray:
        """Scores of the rows of an array or CSR matrix by the first trees."""
        return super().predict(self._numbers(X), n_trees, n_threads)

    def contributions(self, X: Any, n_trees: int, n_threads: int) -> FloatArray:
        """Shapley values of the features of each row, of shape (n_rows, n_features)."""
        return super().contributions(self._numbers(X), n_trees, n_threads)

    def check_features(self, n_features: int) -> None:
        """Refuse trees, read from a file, that ask for features that do not exist."""
        super().check_features(n_features)
        if self.statistics is not None:
            self.statistics.check_features(n_features)

    def _numbers(self, X: Any) -> Any:
        """Features with numbers in place of categories."""
        return X if self.statistics is None else self.statistics.transform(X)


def depth_of(settings: BoostingSettings) -> int:
    """The depth of the trees."""
    depth = _DEPTH if settings.max_depth is None else settings.max_depth
    if depth > MOST_LEVELS:
        raise ValueError(f"max_depth is {depth}, but a level tree has 2**max_depth leaves; give at most {MOST_LEVELS}")
    return depth


def l2_of(settings: BoostingSettings) -> float:
    """What is added to the second derivatives of leaves."""
    return _L2 if settings.l2_regularization is None else settings.l2_regularization


def noise_of_tree(
    settings: BoostingSettings, n_features: int, n_rows: int, depth: int, number: int, rng: np.random.Generator
) -> FloatArray | None:
    """What is added to the scores of features, level by level, in units of chance; None is nothing.

    As in CatBoost, it fades where the number of trees times their rate comes near the logarithm of the number of rows.
    """
    if settings.random_strength == 0:
        return None
    fades = expit(np.log(n_rows) - settings.learning_rate * number)
    return rng.normal(0.0, settings.random_strength * fades, (depth, n_features))


def _by_column(X: Any) -> Any:
    """Features of rows to watch: each tree looks at few columns."""
    return X if hasattr(X, "indptr") else np.asfortranarray(X)
