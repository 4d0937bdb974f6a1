"""The engine under all trees and forests: from rows and limits to filled trees, and from many trees to their mean.

This is the face of the package for `label_ranking`, which grows trees on rankings, and `ltr`, whose boosted level trees
share the coding of features; what both kinds of level trees store is in `levels`. A `TrainingSet` holds the rows, a
`GrowthRule` the parameters of an estimator, and `grow_trees` runs a forest.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import cached_property
from math import ceil
from numbers import Integral, Real
from typing import Any, Literal

import numpy as np

from rankwise._progress import track
from rankwise._sklearn import N_JOBS, Interval, RealNotInt, StrOptions, gen_batches
from rankwise._typing import FloatArray, IntArray
from rankwise.trees import _grow_jit, _leaves_jit
from rankwise.trees._codes import MOST_BINS, MOST_CODES, code_features
from rankwise.trees._grow_jit import Features, Limits, Nodes, Scratch, Targets, threshold_between
from rankwise.trees._grow_levels import grow_by_levels
from rankwise.trees._grow_sums import WholeRows
from rankwise.trees._honest_levels import recut
from rankwise.trees._packed import PackedForest
from rankwise.trees.gaps import LeafGaps
from rankwise.trees.structure import LeafMeans, LeafNumbers, LeafRows, TargetRows, Tree

__all__ = [
    "FOREST_CONSTRAINTS",
    "GROWTH_CONSTRAINTS",
    "MOST_BINS",
    "MOST_CODES",
    "Features",
    "GrowthRule",
    "LeafGaps",
    "LeafRows",
    "Sampling",
    "TargetRows",
    "TrainingSet",
    "Tree",
    "code_features",
    "grow_trees",
    "mean_prediction",
    "out_of_bag_prediction",
    "threshold_between",
]


#: what the parameters that all trees and forests share may be
GROWTH_CONSTRAINTS: dict[str, list[Any]] = {
    "growth": [StrOptions({"best", "level"})],
    "honest": ["boolean", StrOptions({"paper"})],
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
    "growth_order": [StrOptions({"best-first", "breadth-first"})],
    "min_impurity_decrease": [Interval(Real, 0.0, None, closed="left")],
    "max_bins": [None, Interval(Integral, 2, MOST_BINS, closed="both")],
    "sketch": [None, Interval(Integral, 1, None, closed="left")],
    "categorical_features": [None, "array-like"],
    "random_state": ["random_state", np.random.Generator],
}

#: what the parameters that all forests share may be
FOREST_CONSTRAINTS: dict[str, list[Any]] = {
    **GROWTH_CONSTRAINTS,
    "n_estimators": [Interval(Integral, 1, None, closed="left")],
    "bootstrap": ["boolean"],
    "max_samples": [
        None,
        Interval(Integral, 1, None, closed="left"),
        Interval(RealNotInt, 0.0, 1.0, closed="right"),
    ],
    "oob_score": ["boolean"],
    "n_jobs": N_JOBS,
}

_NO_LIMIT = 2**31 - 1
# Leaves with more rankings than this, on average, are quicker to read as means,
_FEW_RANKINGS = 3
# unless there are more of these in a tree.
_MOST_SHARES = 1 << 20
# Rows that go down all trees before the next ones do: their sums stay in the cache.
_ROWS_AT_ONCE = 4096


@dataclass(frozen=True)
class GrowthRule:
    """How trees grow: the parameters of the same names of trees and forests."""

    growth: Literal["best", "level"]
    honest: bool | Literal["paper"]
    splitter: Literal["best", "random"]
    max_depth: int | None
    min_samples_split: int | float
    min_samples_leaf: int | float
    max_features: int | float | str | None
    max_leaf_nodes: int | None
    growth_order: Literal["best-first", "breadth-first"]
    min_impurity_decrease: float

    @classmethod
    def from_params(cls, params: dict[str, Any]) -> GrowthRule:
        """Pick the rule out of the parameters of an estimator."""
        return cls(**{field.name: params[field.name] for field in fields(cls)})

    def limits(self, n_rows: int, n_features: int) -> Limits:
        """The limits for this many rows and features; always of the same types, for the compiler."""
        if self.honest:
            n_rows = (n_rows + 1) // 2  # the others fill the leaves
        split, leaf = (
            int(least) if isinstance(least, Integral) else ceil(least * n_rows)
            for least in (self.min_samples_split, self.min_samples_leaf)
        )
        drawn: Any = self.max_features
        if drawn is None:
            drawn = n_features
        elif isinstance(drawn, str):
            drawn = np.sqrt(n_features) if drawn == "sqrt" else np.log2(n_features)
        elif not isinstance(drawn, Integral):
            drawn = drawn * n_features
        return Limits(
            max_depth=_NO_LIMIT if self.max_depth is None else int(self.max_depth),
            min_samples_split=max(2, split),
            min_samples_leaf=leaf,
            max_features=min(max(1, int(drawn)), n_features),
            max_leaf_nodes=_NO_LIMIT if self.max_leaf_nodes is None else int(self.max_leaf_nodes),
            breadth_first=self.growth_order == "breadth-first",
            random_thresholds=self.splitter == "random",
            min_gain=float(self.min_impurity_decrease),
        )


@dataclass(frozen=True)
class TrainingSet:
    """Rows to grow trees on.

    Attributes
    ----------
    X : ndarray of shape (n, n_features)
        Features.
    features : Features
        The same, coded.
    targets, split_targets : TargetRows
        What fills the leaves, and what splits are chosen by.
    weights : ndarray of shape (n,)
        Weights of the rows.
    is_compact : bool
        Whether leaves are to take little memory.
    rankings : tuple of TargetRows and ndarray, or None
        Where leaves may hold rankings, the different ones and the number of each row's.
    whole : WholeRows or None
        Where random thresholds are quicker to search.
    """

    X: FloatArray
    features: Features
    targets: TargetRows
    split_targets: TargetRows
    weights: FloatArray
    is_compact: bool
    rankings: tuple[TargetRows, IntArray] | None
    whole: WholeRows | None

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
        whole: bool = False,
        compact: bool = False,
    ) -> TrainingSet:
        """Code the features; center the targets that splits are chosen by, or project them to a sketch.

        ``n_categories`` is 0 for numeric columns. ``split_targets``, if given, choose the splits instead of the targets
        that fill the leaves. With ``whole`` they are small whole numbers, which add up as they are, without rounding.
        """
        features = code_features(X, n_categories, max_bins, weights)
        split = targets if split_targets is None else split_targets
        if sketch is not None:
            split = split.sketch(sketch, weights, rng)
        elif not whole:
            split = split.centered(weights)
        whole_rows = WholeRows.of(features, split) if whole else None
        if whole_rows is not None:
            split = TargetRows(whole_rows.vectors)  # the same in a quarter of the memory
        # Compiled functions take writable arrays only: a read-only one would be another type.
        targets = replace(targets, values=np.require(targets.values, np.float64, ["C", "W"]))
        return cls(
            X,
            features,
            targets,
            split,
            np.require(weights, np.float64, ["C", "W"]),
            compact,
            targets.distinct() if compact and targets.is_pairs else None,
            whole_rows,
        )

    def grow(
        self,
        rule: GrowthRule,
        rows: IntArray,
        rng: np.random.Generator,
        weights: FloatArray | None = None,
        coordinate: int | None = None,
    ) -> tuple[Tree, IntArray, LeafNumbers | None]:
        """Grow a tree on the given rows.

        Parameters
        ----------
        rule : GrowthRule
            How.
        rows : ndarray of int
            Rows to grow on, half of them if honest.
        rng : Generator
            Draws the honest half and the seed of the tree.
        weights : ndarray of shape (n,), optional
            Of all rows, where they differ from those of the training set.
        coordinate : int, optional
            The only coordinate of ``split_targets`` to choose splits by.

        Returns
        -------
        tree : Tree
            Not filled yet.
        fill_rows : ndarray of int
            Rows to fill it with: the same, or if honest the other half.
        leaf : ndarray of int32 or None
            The leaf of each of them, where that is known.
        """
        fill_rows = rows
        if rule.honest:
            shuffled = rng.permutation(len(rows))
            half = (len(rows) + 1) // 2
            fill_rows, rows = rows[np.sort(shuffled[half:])], rows[np.sort(shuffled[:half])]
        split = self.split_targets
        if coordinate is not None:
            split = TargetRows(split.coordinates(slice(coordinate, coordinate + 1)))
        weights = self.weights if weights is None else weights
        limits = rule.limits(*self.X.shape)
        by_other_half = rule.honest == "paper"
        if by_other_half and rule.growth == "best":
            # The rows that fill come along, for their features.
            n_grow, rows = len(rows), np.concatenate([rows, fill_rows])
            fills = (np.arange(len(rows)) >= n_grow).astype(np.uint8)
            weights = weights.copy()
            weights[fill_rows] = 0.0
        else:
            fills = np.zeros(0, np.uint8)
        seed = int(rng.integers(2**63))
        by_thresholds = rule.growth == "best" and rule.splitter == "random" and rule.max_leaf_nodes is None
        if by_thresholds and not by_other_half and self.whole is not None and self.whole.takes(weights[rows]):
            tree, leaf = self.whole.grow(rows, limits, weights[rows], seed)
            return tree, fill_rows, None if rule.honest else leaf
        features = self.features._replace(codes=np.ascontiguousarray(self.features.codes[:, rows]))
        targets = TargetRows(np.ascontiguousarray(split.values[rows], np.float64), split.is_pairs)
        if rule.growth == "best":
            tree = _grow_best(features, targets, limits, weights[rows], seed, fills)
        elif not by_other_half:
            tree = grow_by_levels(features, targets, limits, weights[rows], seed)
        else:
            least = limits._replace(min_samples_split=2, min_samples_leaf=1, max_leaf_nodes=_NO_LIMIT)
            cuts = grow_by_levels(features, targets, least, weights[rows], seed)
            tree = recut(cuts, self.X[rows], targets, weights[rows], self.X[fill_rows], limits)
        return tree, fill_rows, None

    def fill(
        self, tree: Tree, rows: IntArray, weights: FloatArray | None = None, leaf: LeafNumbers | None = None
    ) -> Tree:
        """The tree whose leaves hold the weighted mean targets of the given rows; ``leaf`` may name the leaf of each.

        A coordinate that no row of a leaf has (an empty cell of an honest tree, a pair that nobody there orders) takes
        the mean of the nearest ancestor that has rows with it, else that of the whole training set. Compact trees keep
        the rankings themselves where leaves have few, or where there are many leaves and pairs, else rounded means.
        """
        weights = self.weights if weights is None else weights
        tree = tree.compact() if self.is_compact else tree
        leaf, n_leaves = tree.leaf_of(self.X[rows]) if leaf is None else leaf, tree.n_leaves
        if self.rankings is not None:
            distinct, number = self.rankings
            contents = LeafRows.collect(distinct, number[rows], weights[rows], leaf, n_leaves)
            is_much = n_leaves * self.targets.size > _MOST_SHARES
            if not self._is_complete or (np.diff(contents.start) == 0).any():
                if is_much:
                    parts = contents.start, contents.rows, contents.weights.astype(np.float64, copy=False)
                    return replace(tree, contents=LeafGaps(distinct, *parts, tree.parent.astype(np.int32), self._usual))
            elif is_much or len(contents.rows) <= _FEW_RANKINGS * n_leaves:
                return replace(tree, contents=contents.compact())
        sums, known = np.zeros((2, n_leaves, self.targets.size))
        _leaves_jit.add_to_leaves(self.targets.values, self.targets.is_pairs, weights, rows, leaf, sums, known)
        if (known == 0).any():
            is_leaf = tree.is_leaf
            all_sums, all_known = np.zeros((2, len(is_leaf), self.targets.size))
            all_sums[is_leaf], all_known[is_leaf] = sums, known
            _leaves_jit.fill_from_ancestors(tree.parent, all_sums, all_known)
            sums, known = all_sums[is_leaf], all_known[is_leaf]
            gaps = known == 0
            sums[gaps], known[gaps] = np.broadcast_to(self._usual, gaps.shape)[gaps], 1.0
        means = np.divide(sums, known, out=sums)
        return replace(tree, contents=LeafMeans(means.astype(np.float32) if self.is_compact else means))

    @cached_property
    def _is_complete(self) -> bool:
        return self.targets.is_complete

    @cached_property
    def _usual(self) -> FloatArray:
        """Mean target of all rows; pairs that no ranking compares are even."""
        return np.nan_to_num(self.targets.mean(self.weights), nan=0.5)


def _grow_best(
    features: Features, targets: TargetRows, limits: Limits, weights: FloatArray, seed: int, fills: np.ndarray
) -> Tree:
    """Grow a tree whose nodes each take their own best split (Breiman et al. 1984).

    Depth first or, if the number of leaves is limited, best gain or oldest node first. ``fills``, if not empty, says
    which rows only fill leaves. Arrays are made here because compiled code that makes them takes seconds longer to
    compile.
    """
    n = features.codes.shape[1]
    capacity = 2 * min(n, limits.max_leaf_nodes) - 1
    n_categories = int(features.n_codes[features.is_categorical].max(initial=0))
    # Only codes that are counted need sums: few ones, or categories.
    counted = features.is_categorical | (features.n_codes <= _grow_jit.MOST_COUNTED_CODES)
    n_codes = int(features.n_codes[counted].max(initial=0)) + 1
    vectors = Targets(targets.values, targets.is_pairs, targets.size, targets.is_complete, weights, fills)
    width = vectors.size if vectors.is_complete else 2 * vectors.size
    nodes = Nodes.empty(capacity, capacity // 2 + 1 if n_categories else 1, n_categories // 64 + 1)
    scratch = Scratch(
        block=np.zeros((min(n, max(_grow_jit.MOST_CACHED // width, 512)), width + 3)),
        total=np.zeros(width),
        left=np.zeros(width),
        sums=np.zeros((n_codes, width + 1)),
        counts=np.zeros(max(n_codes, min(_grow_jit.CODES_PER_ROW * n + 1, 2**16)), np.int64),
        fill_counts=np.zeros(n_codes, np.int64),
        order=np.zeros(n, np.int64),
        code_order=np.zeros(n_codes, np.int64),
        chosen=np.zeros(n_categories // 64 + 1, np.uint64),
        buffer=np.zeros(n, np.int64),
        rows=np.arange(n),
        candidates=np.arange(len(features.codes)),
        frontier=np.zeros(capacity, np.int64),
        best=np.zeros(_grow_jit.FIELDS),
    )
    with np.errstate(over="ignore"):  # hashes wrap around, which NumPy warns of where nothing is compiled
        n_nodes, n_sets = _grow_jit.grow(features, vectors, limits, np.uint64(seed), nodes, scratch)
    kept = nodes.kept(n_nodes)
    if len(fills):  # the rows of a node lie side by side: count those that grow
        growing = np.concatenate([[0], np.cumsum(1 - fills[scratch.rows].astype(np.int64))])
        start = nodes.start[:n_nodes]
        kept["count"] = growing[start + kept["count"]] - growing[start]
    return Tree(**kept, sets=nodes.sets[:n_sets].copy())


@dataclass(frozen=True)
class Sampling:
    """Which rows each tree of a forest sees: a bootstrap, or a part without replacement.

    Attributes
    ----------
    n_rows : int
        Rows to draw from.
    n_drawn : int
        Draws for each tree.
    bootstrap : bool
        Whether to draw with replacement.
    seeds : ndarray of int
        A seed for each tree.
    """

    n_rows: int
    n_drawn: int
    bootstrap: bool
    seeds: IntArray

    @classmethod
    def build(
        cls,
        n_rows: int,
        n_trees: int,
        bootstrap: bool,
        max_samples: int | float | None,
        rng: np.random.Generator,
        *,
        leave_out: bool = False,
    ) -> Sampling:
        """Draw the seeds; with ``leave_out``, refuse to show all rows to every tree."""
        if max_samples is None:
            n_drawn = n_rows
        else:
            n_drawn = int(max_samples) if isinstance(max_samples, Integral) else max(1, round(max_samples * n_rows))
        if not bootstrap and leave_out and n_drawn >= n_rows:
            raise ValueError(
                "out-of-bag scores (oob_score=True, focus='auto') need rows that trees have not seen: "
                "set bootstrap=True or max_samples"
            )
        if not bootstrap and n_drawn > n_rows:
            raise ValueError(
                f"max_samples is {n_drawn}, but there are {n_rows} rows to draw from; or set bootstrap=True"
            )
        return cls(n_rows, n_drawn, bootstrap, rng.integers(0, 2**63 - 1, n_trees))

    def draw(self, tree: int) -> tuple[IntArray, IntArray, np.random.Generator]:
        """The rows of a tree, each once; how often each was drawn; and a generator for whatever else is random."""
        rng = np.random.default_rng(self.seeds[tree])
        if self.bootstrap:
            times = np.bincount(rng.integers(0, self.n_rows, self.n_drawn), minlength=self.n_rows)
            drawn = np.flatnonzero(times)
            return drawn, times[drawn], rng
        drawn = np.arange(self.n_rows)
        if self.n_drawn < self.n_rows:
            drawn = np.sort(rng.choice(self.n_rows, self.n_drawn, replace=False))
        return drawn, np.ones(len(drawn), dtype=np.intp), rng


def grow_trees(
    training: TrainingSet,
    rule: GrowthRule,
    sampling: Sampling,
    n_jobs: int | None,
    coordinates: IntArray | None = None,
) -> list[Tree]:
    """Grow and fill one tree per seed; the same trees for every number of threads.

    With ``coordinates`` each tree chooses its splits by that one coordinate of the targets.
    """
    from joblib import Parallel, delayed

    def grow_one(number: int) -> Tree:
        rows, times, rng = sampling.draw(number)
        weights = training.weights.copy()
        weights[rows] *= times
        coordinate = None if coordinates is None else int(coordinates[number])
        tree, fill_rows, leaf = training.grow(rule, rows, rng, weights, coordinate)
        return training.fill(tree, fill_rows, weights, leaf)

    work = Parallel(n_jobs=n_jobs, prefer="threads", return_as="generator")
    n_trees = len(sampling.seeds)
    return list(track(work(delayed(grow_one)(number) for number in range(n_trees)), "Growing trees", n_trees))


def mean_prediction(
    trees: list[Tree], X: FloatArray, n_jobs: int | None = None, tree_weights: FloatArray | None = None
) -> FloatArray:
    """Mean of what the trees predict; added up in the order of the trees, whatever the number of threads.

    ``tree_weights`` of shape (n_trees, q) say how much a tree counts for each coordinate; by default all are equal.
    """
    from joblib import Parallel, delayed

    size = trees[0].contents.size
    total = np.zeros((len(X), size))
    if tree_weights is None:
        packed = PackedForest.of(trees)

        def add(rows: slice) -> None:
            packed.add_to(total[rows], trees, X[rows])
    else:
        weights = tree_weights

        def add(rows: slice) -> None:
            for tree, scale in zip(trees, weights, strict=True):
                tree.contents.add_to(total[rows], tree.leaf_of(X[rows]), scale)

    if len(X) <= _ROWS_AT_ONCE:  # no thread is worth its start
        add(slice(0, len(X)))
    else:
        Parallel(n_jobs=n_jobs, prefer="threads")(delayed(add)(rows) for rows in gen_batches(len(X), _ROWS_AT_ONCE))
    total /= len(trees) if tree_weights is None else tree_weights.sum(axis=0)
    return total


def out_of_bag_prediction(
    trees: list[Tree], X: FloatArray, sampling: Sampling, rows: IntArray, tree_weights: FloatArray | None = None
) -> FloatArray:
    """Mean, for the given rows of the training features, of the trees that have not seen them; NaN where all have."""
    size = trees[0].contents.size
    weights = np.ones((len(trees), size)) if tree_weights is None else tree_weights
    total, known = np.zeros((2, len(rows), size))
    for number, (tree, scale) in enumerate(zip(trees, weights, strict=True)):
        seen = np.zeros(len(X), dtype=bool)
        seen[sampling.draw(number)[0]] = True
        unseen = np.flatnonzero(~seen[rows])
        # By a copy: what a tree finds out on the way down takes memory as long as it is there.
        total[unseen] += scale * replace(tree).predict(X[rows[unseen]])
        known[unseen] += scale
    return np.divide(total, known, out=np.full_like(total, np.nan), where=known > 0)
