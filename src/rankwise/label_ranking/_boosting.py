"""Newton boosting of item scores, for `BoostedRanker`: the losses, and trees whose leaves hold a step for every item.

A tree is grown leaf by leaf on histograms: for each code of a feature (see `rankwise.trees.engine.code_features`) the
sums of the gradients of all items, of one second derivative, the mean over the items of a row, and of rows. One second
derivative is enough to choose splits, at half the cost; the steps of the leaves take that of each item.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from heapq import heappop, heappush
from numbers import Integral
from typing import Any

import numpy as np

from rankwise._typing import BoolArray, FloatArray, IntArray
from rankwise.data import Rankings
from rankwise.label_ranking import _boosting_jit
from rankwise.label_ranking._monotone import nearest_within
from rankwise.trees.engine import Tree, code_features, threshold_between
from rankwise.trees.structure import LeafMeans, LeafNumbers

# Steps of the search for the scores that all rows start from.
_FIRST_STEPS = 10
# Pseudo-curvature, per row, that keeps those scores finite where all rankings agree.
_FIRST_RIDGE = 1e-3
# Gains up to this share of the score of a node are due to rounding.
_LEAST_GAIN = 1e-10
# Stands in, as a share of the whole, for the second derivative of a leaf in which an item has none.
_LEAST_HESSIAN = 1e-10
# Bytes of histograms that are kept while a tree grows; where more are needed, both sides of a split are added up.
_MOST_BYTES = 1 << 30


class Loss:
    """A loss of the scores of rankings, as the parameter ``loss`` of `BoostedRanker` names it.

    Parameters
    ----------
    name : {"pairwise_logistic", "plackett_luce"}
        Which.
    rankings : Rankings
        The rankings, with their weights.
    """

    def __init__(self, name: str, rankings: Rankings) -> None:
        self.positions = np.require(rankings.positions, np.float64, ["C", "W"])
        self.weights = np.require(rankings.weights, np.float64, ["C", "W"])
        by_choices = name == "plackett_luce"
        self._order = np.argsort(self.positions, axis=1, kind="stable") if by_choices else None

    def value(self, scores: FloatArray) -> float:
        """Loss of the scores of all rows, per unit of weight."""
        if self._order is None:
            total = _boosting_jit.pairwise_loss(self.positions, self.weights, scores)
        else:
            unused = np.empty_like(scores)
            total = _boosting_jit.plackett_luce_derivatives(
                self.positions, self._order, self.weights, scores, unused, unused.copy()
            )
        return float(total / self.weights.sum())

    def derivatives(self, scores: FloatArray) -> tuple[FloatArray, FloatArray]:
        """First and second derivatives of the summed loss by every score: (n_rows, n_items) each."""
        gradient, hessian = np.empty_like(scores), np.empty_like(scores)
        if self._order is None:
            _boosting_jit.pairwise_derivatives(self.positions, self.weights, scores, gradient, hessian)
        else:
            _boosting_jit.plackett_luce_derivatives(
                self.positions, self._order, self.weights, scores, gradient, hessian
            )
        return gradient, hessian

    def best_constant(self) -> FloatArray:
        """Scores of mean 0 that are, if they are the same for all rows, about the best."""
        n, k = self.positions.shape
        scores = np.zeros(k)
        for _ in range(_FIRST_STEPS):
            gradient, hessian = self.derivatives(np.tile(scores, (n, 1)))
            curvature = hessian.sum(axis=0) + _FIRST_RIDGE * self.weights.sum()
            # The curvature along all scores together is up to twice that of single ones.
            scores -= 0.5 * gradient.sum(axis=0) / curvature
            scores -= scores.mean()
        return scores


class Boosting:
    """Boosting of some rows, tree by tree, with the scores of others that are watched.

    Parameters
    ----------
    X, y : ndarray of shape (n_rows, n_features), Rankings
        Rows to learn from.
    watched : ndarray of shape (n_watched, n_features)
        Features of the others.
    n_categories : ndarray of shape (n_features,)
        Categories of each feature, 0 for numbers.
    settings : dict
        Parameters of `BoostedRanker`.
    signs : ndarray of shape (n_features, n_items), optional
        Monotone constraints, see `Grower`.
    rng : Generator
        Draws the rows and features of each tree.
    threads, n_threads : ThreadPoolExecutor, int
        Threads that share the features.
    """

    def __init__(
        self,
        X: FloatArray,
        y: Rankings,
        watched: FloatArray,
        n_categories: IntArray,
        settings: dict[str, Any],
        signs: IntArray | None,
        rng: np.random.Generator,
        threads: ThreadPoolExecutor,
        n_threads: int,
    ) -> None:
        self._X, self._watched, self._rng, self._settings = X, watched, rng, settings
        self._loss = Loss(settings["loss"], y)
        self.base_scores = self._loss.best_constant()
        self._scores, self.watched_scores = (np.tile(self.base_scores, (len(part), 1)) for part in (X, watched))
        self.trees: list[Tree] = []
        limits = {name: settings[name] for name in ("max_bins", "max_leaf_nodes", "max_depth", "min_samples_leaf")}
        self._grower = Grower(
            X,
            n_categories,
            **limits,
            l2=settings["l2_regularization"],
            signs=signs,
            threads=threads,
            n_threads=n_threads,
        )

    def keep(self, trees: list[Tree]) -> None:
        """Begin with trees that have grown on the same rows, and draw what was drawn for them."""
        for tree in trees:
            self._drawn()
            self._scores += tree.predict(self._X)
            self.watched_scores += tree.predict(self._watched)
        self.trees = list(trees)

    def grow(self) -> None:
        """Grow one more tree."""
        rows, features = self._drawn()
        gradient, hessian = self._loss.derivatives(self._scores)
        tree, leaf = self._grower.grow(gradient, hessian, rows, features, self._settings["learning_rate"])
        self.trees.append(tree)
        if len(rows) < len(self._X):
            leaf = tree.leaf_of(self._X)
        self._scores += tree.values[leaf]
        self.watched_scores += tree.predict(self._watched)

    def _drawn(self) -> tuple[IntArray, IntArray]:
        """Rows and features of the next tree."""
        (n_rows, n_features), some = self._X.shape, self._settings["max_features"]
        n_chosen = n_features if some is None else some if isinstance(some, Integral) else round(some * n_features)
        rows = _sample(n_rows, round(self._settings["subsample"] * n_rows), self._rng)
        return rows, _sample(n_features, int(n_chosen), self._rng)


@dataclass
class _Node:
    """A node while its tree grows, with the best split that was found for it."""

    rows: IntArray
    total: FloatArray
    depth: int = 0
    histograms: FloatArray | None = None
    gain: float = 0.0
    feature: int = -1
    left: int = -1
    missing_left: bool = False
    threshold: float = 0.0
    goes_left: BoolArray = field(default_factory=lambda: np.zeros(0, dtype=bool))  # by code
    bounds: tuple[FloatArray, FloatArray] | None = None  # of the steps, with monotone constraints


class Grower:
    """Grows trees on the same rows, one after the other.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features)
        Features; categories are numbers, NaN is missing.
    n_categories : ndarray of shape (n_features,)
        Categories of each feature, 0 for numbers.
    max_bins : int
        Most bins of a numeric feature.
    max_leaf_nodes, max_depth, min_samples_leaf : int
        Limits of a tree.
    l2 : float
        Added to second derivatives.
    signs : ndarray of shape (n_features, n_items), optional
        Monotone constraints: 1 where the steps of an item, less the mean step of all items, may not fall with a
        feature, -1 where they may not rise. Then steps have mean 0, and each split bounds those of the two sides by
        the middle between them.
    threads : ThreadPoolExecutor
        Threads that share the features.
    n_threads : int
        Their number; trees are the same for every number.
    """

    def __init__(
        self,
        X: FloatArray,
        n_categories: IntArray,
        *,
        max_bins: int,
        max_leaf_nodes: int,
        max_depth: int | None,
        min_samples_leaf: int,
        l2: float,
        signs: IntArray | None = None,
        threads: ThreadPoolExecutor,
        n_threads: int,
    ) -> None:
        self.features = code_features(X, n_categories, max_bins)
        self.max_leaf_nodes, self.max_depth = max_leaf_nodes, max_depth
        self.min_samples_leaf, self.l2 = min_samples_leaf, l2
        self._is_bounded = signs is not None
        self._signs = np.zeros((X.shape[1], 0), dtype=np.int64) if signs is None else signs
        self._threads, self._n_threads = threads, n_threads
        self._n_codes = int(self.features.n_codes.max(initial=0)) + 1
        self._found = np.empty((X.shape[1], 3))
        self._orders = np.zeros((X.shape[1], self._n_codes), dtype=np.int64)
        self._free: list[FloatArray] = []

    def grow(
        self, gradient: FloatArray, hessian: FloatArray, rows: IntArray, chosen: IntArray, learning_rate: float
    ) -> tuple[Tree, LeafNumbers]:
        """Grow a tree on some rows and features; also returns the leaf of each of these rows, by row."""
        vectors = np.column_stack(
            [_exact(gradient, len(rows)), _exact(hessian.mean(axis=1), len(rows)), np.ones(len(gradient))]
        )
        root = self._node(rows, vectors)
        if self._is_bounded:
            root.bounds = np.full(gradient.shape[1], -np.inf), np.full(gradient.shape[1], np.inf)
        # Second derivatives of 0, of items that nobody in a leaf compares, must not divide.
        self._ridge = self.l2 + max(_LEAST_HESSIAN * root.total[-2], 1e-300)
        if self._keeps(vectors.shape[1]):
            root.histograms = self._histograms(vectors.shape[1])
            self._count(root.histograms, rows, vectors, chosen)
        self._search(root, vectors, chosen)
        nodes, waiting = [root], [(-root.gain, 0)]
        while waiting and len(nodes) + 1 < 2 * self.max_leaf_nodes:
            node = nodes[heappop(waiting)[1]]
            if node.feature < 0:
                continue
            node.left = len(nodes)
            is_last = len(nodes) + 3 >= 2 * self.max_leaf_nodes
            for child in self._divide(node, vectors, hessian, chosen, is_last):
                heappush(waiting, (-child.gain, len(nodes)))
                nodes.append(child)
        leaves = [node for node in nodes if node.left < 0]
        leaf = np.empty(len(gradient), dtype=np.int32)
        steps = np.empty((len(leaves), gradient.shape[1]))
        for number, node in enumerate(leaves):
            leaf[node.rows] = number
            steps[number] = learning_rate * self._step(node, hessian)
        self._free = [node.histograms for node in nodes if node.histograms is not None]
        return self._tree(nodes, steps), leaf

    def _step(self, node: _Node, hessian: FloatArray) -> FloatArray:
        """The Newton step of a node, or the nearest one that its bounds allow."""
        curvature = np.zeros(hessian.shape[1])
        _boosting_jit.add_up(node.rows, hessian, curvature)
        step = -node.total[:-2] / (curvature + self._ridge)
        return step if node.bounds is None else nearest_within(step, *node.bounds)

    def _bound(self, feature: int, left: _Node, right: _Node, hessian: FloatArray) -> None:
        """Keep the steps of both sides of a split on either side of the middle, where a sign asks for it."""
        middle = 0.5 * (self._step(left, hessian) + self._step(right, hessian))
        for sign, low, high in ((1, left, right), (-1, right, left)):
            items = self._signs[feature] == sign
            if low.bounds is not None and high.bounds is not None:
                low.bounds[1][items] = np.minimum(low.bounds[1], middle)[items]
                high.bounds[0][items] = np.maximum(high.bounds[0], middle)[items]

    def _node(self, rows: IntArray, vectors: FloatArray) -> _Node:
        total = np.zeros(vectors.shape[1])
        _boosting_jit.add_up(rows, vectors, total)
        return _Node(rows, total)

    def _divide(
        self, node: _Node, vectors: FloatArray, hessian: FloatArray, chosen: IntArray, is_last: bool
    ) -> tuple[_Node, _Node]:
        """Split a node, and look for the splits of its children unless they stay leaves."""
        side = node.goes_left[self.features.codes[node.feature][node.rows]]
        left, right = node.rows[side], node.rows[~side]
        small = self._node(left if len(left) <= len(right) else right, vectors)
        large = _Node(right if small.rows is left else left, node.total - small.total)
        small.depth = large.depth = node.depth + 1
        sides = (small, large) if small.rows is left else (large, small)
        if node.bounds is not None:
            for child in sides:
                child.bounds = node.bounds[0].copy(), node.bounds[1].copy()
            self._bound(node.feature, *sides, hessian)
        if not is_last:
            if node.histograms is not None:
                small.histograms, large.histograms = self._histograms(len(node.total)), node.histograms
                self._count(small.histograms, small.rows, vectors, chosen, take_from=large.histograms)
                node.histograms = None
            self._search(small, vectors, chosen)
            self._search(large, vectors, chosen)
        return sides

    def _search(self, node: _Node, vectors: FloatArray, chosen: IntArray) -> None:
        """Find the best split of a node, if it may have one."""
        if node.depth == self.max_depth or len(node.rows) < 2 * self.min_samples_leaf or not len(chosen):
            return
        histograms = node.histograms
        if histograms is None:
            histograms = self._histograms(len(node.total))
            self._count(histograms, node.rows, vectors, chosen)
            self._free.append(histograms)
        codes, total, l2, least = self.features, node.total, self._ridge, float(self.min_samples_leaf)

        def search(part: IntArray) -> None:
            _boosting_jit.best_cuts(
                part,
                codes.n_codes,
                codes.is_categorical,
                self._signs,
                histograms,
                total,
                l2,
                least,
                self._found,
                self._orders,
            )

        self._share(search, chosen)
        best = int(chosen[np.argmax(self._found[chosen, 0])])  # the first one if several tie
        score, cut, side = self._found[best]
        before = float(np.sum(total[:-2] ** 2) / (total[-2] + l2))
        if not score > before * (1 + _LEAST_GAIN):
            return
        last, order = codes.n_codes[best], self._orders[best]
        goes_left = np.zeros(self._n_codes, dtype=bool)
        goes_left[order[: int(cut) + 1]] = True
        # Where nothing is missing, missing values go with the larger part of the rows.
        counts = histograms[best, :, -1]
        goes_left[last] = bool(side) if counts[last] > 0 else 2 * counts[:last][goes_left[:last]].sum() >= total[-1]
        node.gain, node.feature, node.goes_left, node.missing_left = score - before, best, goes_left, goes_left[last]
        if not codes.is_categorical[best]:
            node.threshold = threshold_between(codes, best, int(cut), int(cut) + 1)

    def _count(
        self,
        histograms: FloatArray,
        rows: IntArray,
        vectors: FloatArray,
        chosen: IntArray,
        take_from: FloatArray | None = None,
    ) -> None:
        def count(part: IntArray) -> None:
            _boosting_jit.add_histograms(self.features.codes, part, rows, vectors, histograms)
            if take_from is not None:
                _boosting_jit.subtract(part, self.features.n_codes, take_from, histograms)

        self._share(count, chosen)

    def _share(self, work: Callable[[IntArray], None], features: IntArray) -> None:
        if self._n_threads == 1:
            work(features)
        else:
            list(self._threads.map(work, np.array_split(features, self._n_threads)))

    def _histograms(self, width: int) -> FloatArray:
        """Room for the histograms of a node; that of trees before is used again."""
        return self._free.pop() if self._free else np.empty((len(self._found), self._n_codes, width))

    def _keeps(self, width: int) -> bool:
        return 8 * len(self._found) * self._n_codes * width * self.max_leaf_nodes <= _MOST_BYTES

    def _tree(self, nodes: list[_Node], steps: FloatArray) -> Tree:
        n, is_set = len(nodes), self.features.is_categorical
        sets_of = [number for number, node in enumerate(nodes) if node.left >= 0 and is_set[node.feature]]
        n_words = int(self.features.n_codes[is_set].max(initial=0)) // 64 + 1
        sets, set_of = np.zeros((max(len(sets_of), 1), n_words), np.uint64), np.full(n, -1, np.int32)
        for number, of in enumerate(sets_of):
            set_of[of] = number
            for code in np.flatnonzero(nodes[of].goes_left[: self.features.n_codes[nodes[of].feature]]).tolist():
                sets[number, code // 64] |= np.uint64(1) << np.uint64(code % 64)
        inner = np.array([node.left >= 0 for node in nodes])
        count = np.array([len(node.rows) for node in nodes], dtype=np.int64)
        return Tree(
            feature=np.where(inner, [node.feature for node in nodes], -1).astype(np.int32),
            threshold=np.where(inner, [node.threshold for node in nodes], 0.0),
            missing_left=inner & [node.missing_left for node in nodes],
            left=np.array([node.left for node in nodes], dtype=np.int32),
            gain=np.where(inner, [node.gain for node in nodes], 0.0),
            error=np.zeros(n),
            weight=count.astype(np.float64),
            count=count,
            set_of=set_of,
            sets=sets,
            contents=LeafMeans(steps),
        )


def _exact(values: FloatArray, n: int) -> FloatArray:
    """The values, rounded so that sums of n of them are exact: in any order, and as differences of other sums."""
    largest = float(np.abs(values).max(initial=0.0))
    if largest == 0.0:
        return values
    step = np.ldexp(1.0, int(np.frexp(largest)[1]) + n.bit_length() - 53)
    return np.rint(values / step) * step


def _sample(n: int, size: int, rng: np.random.Generator) -> IntArray:
    """Some of the numbers below n, at least one, in ascending order."""
    return np.arange(n) if size >= n else np.sort(rng.choice(n, max(1, size), replace=False))
