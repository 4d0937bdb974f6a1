"""From data and limits to a filled tree: what single trees and forests have in common."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from math import ceil
from numbers import Integral, Real
from typing import Any, Literal

import numpy as np

from rankwise._progress import track
from rankwise._sklearn import Interval, RealNotInt, StrOptions
from rankwise._typing import FloatArray, IntArray
from rankwise.trees._grow import MOST_BINS, code_features, grow_best
from rankwise.trees._grow_jit import Features, Limits
from rankwise.trees._grow_levels import grow_by_levels
from rankwise.trees.structure import Tree
from rankwise.trees.targets import TargetRows

NO_LIMIT = 2**31 - 1

#: what the parameters that all trees and forests share may be
GROWTH_CONSTRAINTS: dict[str, list[Any]] = {
    "growth": [StrOptions({"best", "level"})],
    "honest": ["boolean"],
    "splitter": [StrOptions({"best", "random"})],
    "max_depth": [None, Interval(Integral, 1, None, closed="left")],
    "min_samples_split": [Interval(Integral, 2, None, closed="left"), Interval(RealNotInt, 0.0, 1.0, closed="right")],
    "min_samples_leaf": [Interval(Integral, 1, None, closed="left"), Interval(RealNotInt, 0.0, 1.0, closed="neither")],
    "max_features": [
        None,
        StrOptions({"sqrt", "log2"}),
        Interval(Integral, 1, None, closed="left"),
        Interval(RealNotInt, 0.0, 1.0, closed="right"),
    ],
    "max_leaf_nodes": [None, Interval(Integral, 2, None, closed="left")],
    "min_impurity_decrease": [Interval(Real, 0.0, None, closed="left")],
    "max_bins": [None, Interval(Integral, 2, MOST_BINS, closed="both")],
    "sketch": [None, Interval(Integral, 1, None, closed="left")],
    "categorical_features": [None, "array-like"],
    "random_state": ["random_state", np.random.Generator],
}


@dataclass(frozen=True)
class TrainingSet:
    """Rows to grow trees on: features coded once, targets, and what splits are chosen by."""

    X: FloatArray
    features: Features
    targets: TargetRows
    split_targets: TargetRows
    weights: FloatArray

    @classmethod
    def build(
        cls,
        X: FloatArray,
        n_categories: IntArray,
        targets: TargetRows,
        weights: FloatArray,
        *,
        max_bins: int | None,
        sketch: int | None,
        rng: np.random.Generator,
        split_targets: TargetRows | None = None,
    ) -> TrainingSet:
        """Code the features; centre the targets that splits are chosen by, or project them to a sketch.

        ``n_categories`` is 0 for numeric columns. ``split_targets`` are others to choose splits by than those that
        fill the leaves.
        """
        split = targets if split_targets is None else split_targets
        split = split.centred(weights) if sketch is None else split.sketch(sketch, weights, rng)
        targets = TargetRows(_writable(targets.values), targets.is_pairs)
        return cls(X, code_features(X, n_categories, max_bins), targets, split, _writable(weights))

    def focused(self, coordinate: int) -> TrainingSet:
        """The same rows, on which splits are chosen by one coordinate alone of what they are chosen by here."""
        values = np.ascontiguousarray(self.split_targets.coordinates(slice(coordinate, coordinate + 1)))
        return replace(self, split_targets=TargetRows(values))

    def grow(self, rule: GrowthRule, rows: IntArray, rng: np.random.Generator) -> tuple[Tree, IntArray]:
        """A tree grown on the given rows, and the rows to fill it with: the same, or if honest the other half."""
        return self._grow(rule, rows, self.weights, rng)

    def grow_filled(self, rule: GrowthRule, rows: IntArray, times: IntArray, rng: np.random.Generator) -> Tree:
        """A tree grown and filled on the given rows, each counted as often as ``times`` says."""
        weights = self.weights.copy()
        weights[rows] *= times
        tree, fill_rows = self._grow(rule, rows, weights, rng)
        fill = tree.filled_compactly if rule.compact else tree.filled
        return self._without_gaps(fill(self.X, self.targets, weights, fill_rows))

    def fill(self, tree: Tree, rows: IntArray) -> Tree:
        """The tree whose leaves hold the means of the given rows."""
        return self._without_gaps(tree.filled(self.X, self.targets, self.weights, rows))

    @cached_property
    def _mean(self) -> FloatArray:
        return self.targets.mean(self.weights)

    def _grow(
        self, rule: GrowthRule, rows: IntArray, weights: FloatArray, rng: np.random.Generator
    ) -> tuple[Tree, IntArray]:
        fill_rows = rows
        if rule.honest:
            shuffled = rng.permutation(len(rows))
            half = (len(rows) + 1) // 2
            fill_rows, rows = rows[np.sort(shuffled[half:])], rows[np.sort(shuffled[:half])]
        part = TargetRows(np.ascontiguousarray(self.split_targets.values[rows]), self.split_targets.is_pairs)
        features = self.features._replace(codes=np.ascontiguousarray(self.features.codes[:, rows]))
        grow = grow_best if rule.growth == "best" else grow_by_levels
        tree = grow(features, part, rule.limits, np.ascontiguousarray(weights[rows]), int(rng.integers(2**63)))
        return tree, fill_rows

    def _without_gaps(self, tree: Tree) -> Tree:
        if tree.contents.has_unknown:  # of which no row of this tree says anything: the mean of all rows
            tree.contents.fill_unknown(self._mean)
        return tree


@dataclass(frozen=True)
class GrowthRule:
    """How trees grow, and whether their leaves are to take little memory."""

    growth: Literal["best", "level"]
    honest: bool
    limits: Limits
    compact: bool = False


def growth_limits(estimator: Any, n_rows: int, n_features: int) -> Limits:
    """The limits that the parameters of an estimator mean; always of the same types, for the compiler."""
    if estimator.honest:
        n_rows = (n_rows + 1) // 2  # the others fill the leaves
    return Limits(
        max_depth=NO_LIMIT if estimator.max_depth is None else int(estimator.max_depth),
        min_samples_split=max(2, _number_of_rows(estimator.min_samples_split, n_rows)),
        min_samples_leaf=_number_of_rows(estimator.min_samples_leaf, n_rows),
        max_features=_number_of_features(estimator.max_features, n_features),
        max_leaf_nodes=NO_LIMIT if estimator.max_leaf_nodes is None else int(estimator.max_leaf_nodes),
        random_thresholds=estimator.splitter == "random",
        min_gain=float(estimator.min_impurity_decrease),
    )


def _number_of_rows(least: Any, n_rows: int) -> int:
    return int(least) if isinstance(least, Integral) else ceil(least * n_rows)


def _number_of_features(max_features: Any, n_features: int) -> int:
    if max_features is None:
        return n_features
    if max_features == "sqrt":
        return max(1, int(np.sqrt(n_features)))
    if max_features == "log2":
        return max(1, int(np.log2(n_features)))
    if isinstance(max_features, Integral):
        return min(int(max_features), n_features)
    return max(1, int(max_features * n_features))


def _writable(values: FloatArray) -> FloatArray:
    """Copies of what is read-only: one type for the compiler."""
    return np.require(values, np.float64, ["C", "W"])


# Many trees: the rows each one sees, growing them side by side, and the mean of what they say.


# Rows that go down all trees before the next ones do: their sums stay in the cache.
_ROWS_AT_ONCE = 4096


@dataclass(frozen=True)
class Sampling:
    """Which rows a tree sees: a bootstrap, or a part without replacement."""

    bootstrap: bool
    max_samples: int | float | None

    def size(self, n: int) -> int:
        """Number of draws from n rows."""
        if self.max_samples is None:
            return n
        if isinstance(self.max_samples, Integral):
            return int(self.max_samples)
        return max(1, round(self.max_samples * n))

    def draw(self, n: int, rng: np.random.Generator) -> tuple[IntArray, IntArray]:
        """The rows drawn from n, each once, and how often each was."""
        size = self.size(n)
        if self.bootstrap:
            times = np.bincount(rng.integers(0, n, size), minlength=n)
            drawn = np.flatnonzero(times)
            return drawn, times[drawn]
        if size > n:
            raise ValueError(f"max_samples is {size}, but there are {n} rows to draw from; or set bootstrap=True")
        drawn = np.arange(n) if size == n else np.sort(rng.choice(n, size, replace=False))
        return drawn, np.ones(len(drawn), dtype=np.intp)

    def check_leaves_rows_out(self, n: int) -> None:
        """Refuse to judge trees by rows that they have not seen where they see all."""
        if not self.bootstrap and self.size(n) >= n:
            raise ValueError(
                "out-of-bag scores (oob_score=True, embedding='auto') need rows that trees have not seen: "
                "set bootstrap=True or max_samples"
            )


def grow_trees(
    training: TrainingSet,
    rule: GrowthRule,
    sampling: Sampling,
    seeds: IntArray,
    n_jobs: int | None,
    focus: IntArray | None = None,
) -> list[Tree]:
    """One tree per seed; the same trees for every number of threads.

    With ``focus`` each tree chooses its splits by that one coordinate of what splits are chosen by.
    """
    from joblib import Parallel, delayed

    def one(seed: int, number: int) -> Tree:
        rng = np.random.default_rng(seed)
        drawn, times = sampling.draw(len(training.X), rng)
        part = training if focus is None else training.focused(int(focus[number]))
        return part.grow_filled(rule, drawn, times, rng)

    if rule.compact and training.targets.is_pairs:
        training.targets.distinct  # noqa: B018  (worked out once, before threads ask for it)
    work = Parallel(n_jobs=n_jobs, prefer="threads", return_as="generator")
    trees = work(delayed(one)(int(seed), number) for number, seed in enumerate(seeds))
    return list(track(trees, "Growing trees", len(seeds)))


def mean_prediction(
    trees: list[Tree], X: FloatArray, n_jobs: int | None, tree_weights: FloatArray | None = None
) -> FloatArray:
    """Mean of the trees' values for every row; trees are added up in order, so threads change nothing.

    ``tree_weights`` of shape (n_trees, q) say how much a tree counts for each coordinate; by default all alike.
    """
    from joblib import Parallel, delayed

    weights = _all_alike(trees) if tree_weights is None else tree_weights
    total = np.zeros((len(X), trees[0].contents.size))
    blocks = [slice(start, start + _ROWS_AT_ONCE) for start in range(0, len(X), _ROWS_AT_ONCE)]

    def add(rows: slice) -> None:
        for tree, scale in zip(trees, weights, strict=True):
            tree.contents.add_to(total[rows], tree.leaf_of(X[rows]), scale)

    Parallel(n_jobs=n_jobs, prefer="threads")(delayed(add)(rows) for rows in blocks)
    total /= weights.sum(axis=0)
    return total


def out_of_bag_prediction(
    trees: list[Tree],
    X: FloatArray,
    sampling: Sampling,
    seeds: IntArray,
    rows: IntArray,
    tree_weights: FloatArray | None = None,
) -> FloatArray:
    """Mean, for the given rows of the training features, of the trees that have not seen them; NaN where all have."""
    weights = _all_alike(trees) if tree_weights is None else tree_weights
    total, known = np.zeros((2, len(rows), trees[0].contents.size))
    for tree, seed, scale in zip(trees, seeds, weights, strict=True):
        seen = np.zeros(len(X), dtype=bool)
        seen[sampling.draw(len(X), np.random.default_rng(int(seed)))[0]] = True
        unseen = np.flatnonzero(~seen[rows])
        total[unseen] += scale * tree.predict(X[rows[unseen]])
        known[unseen] += scale
    return np.divide(total, known, out=np.full_like(total, np.nan), where=known > 0)


def _all_alike(trees: list[Tree]) -> FloatArray:
    ones = np.ones(trees[0].contents.size)
    return np.broadcast_to(ones, (len(trees), len(ones)))


def draw_seeds(n: int, rng: np.random.Generator) -> IntArray:
    """One seed per tree."""
    return rng.integers(0, 2**63 - 1, n)
