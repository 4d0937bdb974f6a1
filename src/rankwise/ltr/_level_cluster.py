"""Level trees on rows that lie on several machines, for `rankwise.ltr.dask_training`.

Each partition stays where it is, as a `Part`: it computes the gradients of its own queries and adds them up by the
codes of the features. `grow_on_parts` adds up the sums of the parts, searches each cut as on one machine, and tells the
parts. Sums of gradients are exact, so trees are those that one machine grows on the same gradients, to the last bit.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from rankwise._progress import track
from rankwise._typing import BoolArray, FloatArray, IntArray
from rankwise.ltr import _level_trees_jit
from rankwise.ltr._level_growth import LevelGrower
from rankwise.ltr._level_trees_jit import Cuts, Leaves, SparseColumns
from rankwise.ltr.boosting import BoostingSettings, round_for_exact_sums
from rankwise.ltr.level_trees import LevelTrees, depth_of, l2_of, noise_of_tree
from rankwise.ltr.objectives import Objective
from rankwise.ltr.sampling import choice, sampled
from rankwise.queries import QueryRows
from rankwise.trees.engine import Features, code_features
from rankwise.trees.levels import move_right

#: the name of a method of `Part`, and its arguments -> what it returns for each part
AskAll = Callable[..., list[Any]]


class Part:
    """The rows of one partition, and the tree that grows on them.

    Parameters
    ----------
    X, y, qid, sample_weight : ndarray
        Its rows.
    number : int
        Number of the partition, so that partitions draw different numbers.
    settings : BoostingSettings
        How trees are grown.
    objective_of : callable
        Rows -> their objective.
    """

    def __init__(
        self,
        X: Any,
        y: Any,
        qid: Any,
        sample_weight: Any,
        number: int,
        settings: BoostingSettings,
        objective_of: Callable[[QueryRows], Objective],
    ) -> None:
        if sample_weight is not None and not np.all(sample_weight > 0):
            raise ValueError("sample_weight holds 0 or less; on a cluster, drop such rows first")
        self.rows = QueryRows.build(np.asarray(X, np.float64), y, qid, sample_weight, seed=settings.seed)
        self.number, self.settings, self._objective_of = number, settings, objective_of
        self.score = np.zeros(len(self.rows.grade))

    def size(self) -> tuple[int, float]:
        """Number of rows, and the sum of their weights."""
        return len(self.rows.grade), float(self.rows.weight.sum())

    def column(self, feature: int) -> FloatArray:
        """The values of a feature."""
        return np.ascontiguousarray(self.rows.X[:, feature])

    def begin(self, mean_weight: float, uppers: list[FloatArray]) -> None:
        """Weigh rows by the mean of all, and code features: the number of the first bin whose end is not below."""
        self.rows = replace(self.rows, weight=self.rows.weight / mean_weight)
        self.objective = self._objective_of(self.rows)
        self.n_codes = [len(upper) for upper in uppers]
        self.codes = np.array(
            [
                np.where(np.isnan(column), len(upper), np.searchsorted(upper, column))
                for column, upper in zip(self.rows.X.T, uppers, strict=True)
            ],
            dtype=np.uint16,
        )
        self.rows = replace(self.rows, source=np.empty((len(self.score), 0)), places=None)  # codes are all it takes

    def differentiate(self, tree: int) -> tuple[float, float]:
        """Compute the gradients for a tree; returns the largest sizes of both derivatives."""
        rng = np.random.default_rng([self.settings.seed, tree, self.number])
        self.seen, self.gradient, self.hessian = sampled(
            self.settings.sampling,
            self.settings.subsample,
            self.rows.bounds,
            *self.objective(self.score, rng),
            rng,
        )
        return float(np.abs(self.gradient).max(initial=0.0)), float(np.abs(self.hessian).max(initial=0.0))

    def plant(self, largest: tuple[float, float], n_rows: int) -> tuple[FloatArray, float]:
        """Round gradients as all parts do; returns the sums of the part, and that of the squared gradients."""
        names = ("gradients", "second derivatives")
        self.gradient, self.hessian = (
            round_for_exact_sums(values, name, largest=size, n=n_rows)
            for values, name, size in zip((self.gradient, self.hessian), names, largest, strict=True)
        )
        self.leaf = np.zeros(len(self.score), dtype=np.int64)
        return self._leaf_sums(1), float(np.sum(self.gradient[self.seen] ** 2))

    def counted(self, features: IntArray, n_leaves: int) -> FloatArray:
        """Sums of both derivatives: feature by feature, by leaf and code."""
        derivatives = self.gradient[self.seen], self.hessian[self.seen]
        leaf, found = self.leaf[self.seen], []
        for feature in features:
            n = self.n_codes[feature] + 1
            cell = leaf * n + self.codes[feature, self.seen]
            found.append([np.bincount(cell, values, n_leaves * n) for values in derivatives])
        return np.concatenate(found, axis=1)

    def divide(self, feature: int, cut: int, missing_left: bool, bit: int) -> FloatArray:
        """Cut all leaves; returns their sums."""
        move_right(self.codes[feature], cut, self.n_codes[feature], missing_left, bit, self.leaf)
        return self._leaf_sums(2 * bit)

    def harvest(self, values: FloatArray) -> None:
        """Add the values of the leaves to the scores."""
        self.score += values[self.leaf]

    def _leaf_sums(self, n_leaves: int) -> FloatArray:
        return _level_trees_jit.leaf_sums(self.seen, self.leaf, self.gradient, self.hessian, n_leaves)


def grow_on_parts(ask: AskAll, n_features: int, settings: BoostingSettings) -> LevelTrees:
    """Boost level trees on the rows of all parts."""
    n_rows, weight = (sum(values) for values in zip(*ask("size"), strict=True))
    columns = SummedColumns(ask, n_features, settings)
    ask("begin", weight / n_rows, columns.uppers)
    depth = depth_of(settings)
    trees, grower = LevelTrees.empty(settings.n_trees, depth), _ClusterGrower(columns, depth, l2_of(settings))
    for number in track(range(settings.n_trees), "boosting", settings.n_trees):
        rng = np.random.default_rng([settings.seed, number])
        tree = trees[number : number + 1]
        largest = tuple(max(sizes) for sizes in zip(*ask("differentiate", number), strict=True))
        chosen = choice(n_features, settings.colsample, rng)
        noise = noise_of_tree(settings, n_features, n_rows, depth, number, rng)
        grower.grow_on(_ScatteredSample(ask, columns, chosen, largest, n_rows), chosen, tree, noise)
        tree.value *= settings.learning_rate
        ask("harvest", tree.value[0])
    return trees


class SummedColumns:
    """The codes of features whose rows lie elsewhere; cuts are searched on sums, as if each sum were a sparse entry."""

    def __init__(self, ask: AskAll, n_features: int, settings: BoostingSettings) -> None:
        coded, self.has_missing = [], np.zeros(n_features, dtype=bool)
        for feature in range(n_features):  # one at a time, as all rows of a feature come here
            column = np.concatenate(ask("column", feature))
            self.has_missing[feature] = np.isnan(column).any()
            coded.append(code_features(column[:, None], np.zeros(1, np.intp), settings.max_bins))
        self.uppers = [part.upper for part in coded]
        n_codes = np.array([len(upper) for upper in self.uppers], dtype=np.int64)
        self.features = Features(
            codes=np.empty((n_features, 0), np.uint16),
            n_codes=n_codes,
            is_categorical=np.zeros(n_features, dtype=bool),
            lower=np.concatenate([part.lower for part in coded]),
            upper=np.concatenate(self.uppers),
            places=np.empty(0),
            start=np.cumsum(n_codes) - n_codes,
        )
        given = settings.monotone_signs
        self.signs = np.zeros(0, np.int8) if given is None or not np.any(given) else given.astype(np.int8)

    @property
    def varies(self) -> BoolArray:
        """Whether a feature has two values or more, of which missing is one."""
        return np.asarray(self.features.n_codes + self.has_missing > 1)

    def search(self, features: IntArray, counted: FloatArray, leaves: Leaves, l2: float, found: Cuts) -> None:
        """Write the best cut of each of the features; ``counted`` are the sums of `Part.counted` of all parts."""
        n_leaves, widths = len(leaves.sums), self.features.n_codes + 1
        starts = np.zeros(len(widths) + 1, np.int64)
        starts[1:][features] = n_leaves * widths[features]
        starts = np.cumsum(starts)
        cells = [np.divmod(np.arange(n_leaves * widths[feature]), widths[feature]) for feature in features]
        leaf, codes = np.concatenate(cells, axis=1) if cells else np.zeros((2, 0), np.int64)
        entries = SparseColumns(
            codes.astype(np.uint16),
            np.arange(len(codes), dtype=np.uint32),
            starts,
            np.zeros(len(widths), np.int64),  # nothing is left for the code of 0
            self.features.n_codes,
            self.has_missing,
            self.signs,
        )
        gradients = counted[0] + 1j * counted[1]
        _level_trees_jit.best_sparse_cuts(entries, features, leaf, gradients, leaves, l2, found)


class _ClusterGrower(LevelGrower):
    """Grows trees on summed columns."""

    def __init__(self, columns: SummedColumns, depth: int, l2: float) -> None:
        self.columns, self.depth, self.l2, self.signs = columns, depth, l2, columns.signs
        self.features, self._varies, self.n_threads = columns.features, columns.varies, 1


class _ScatteredSample:
    """What `rankwise.ltr._level_growth.Sample` is on one machine: sums over all parts."""

    def __init__(self, ask: AskAll, columns: SummedColumns, chosen: IntArray, largest: Any, n_rows: int) -> None:
        self._ask, self._features = ask, chosen[columns.varies[chosen]]
        sums, squares = zip(*ask("plant", largest, n_rows), strict=True)
        self.sums, self._squares = np.sum(sums, axis=0), sum(squares)

    def squares(self) -> float:
        """Sum of the squared gradients."""
        return float(self._squares)

    def counted(self, is_counted: Any) -> FloatArray:
        """Sums by code, of all leaves."""
        return np.sum(self._ask("counted", self._features, len(self.sums)), axis=0)

    def divided(self, feature: int, cut: int, missing_left: bool, bit: int) -> FloatArray:
        """Cut all leaves, and return their sums."""
        self.sums = np.sum(self._ask("divide", feature, cut, missing_left, bit), axis=0)
        return self.sums
