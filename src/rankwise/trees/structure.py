"""A grown tree: its nodes, where rows end, and what leaves predict."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, TypeAlias

import numpy as np
import numpy.typing as npt

from rankwise._state import FLOATS, INTS, INTS_32, Saved, array, check_places, ensure, instance
from rankwise._typing import BoolArray, FloatArray, IntArray
from rankwise.trees import _leaves_jit
from rankwise.trees.targets import TargetRows


def _nothing() -> LeafMeans:
    """Contents of a tree that is grown but not filled."""
    return LeafMeans(np.empty((0, 0)))


@dataclass(frozen=True, eq=False)
class Tree:
    """Nodes as arrays; node 0 is the root, and a node's right child follows its left one.

    Attributes
    ----------
    feature : ndarray of int32
        Feature of the split, -1 in leaves.
    threshold : ndarray of float64
        Rows with a value up to this go left (numeric features).
    missing_left : ndarray of bool
        Whether rows without the value go left.
    left : ndarray of int32
        Left child, -1 in leaves.
    gain : ndarray of float64
        By how much the split lowers the squared error.
    error : ndarray of float64
        Weighted squared error of the growing rows around the node's mean: their weight times their dispersion.
    weight, count : ndarrays
        Weight and number of the growing rows.
    set_of : ndarray of int32
        Row of ``sets`` that holds the categories that go left; -1 where the split is numeric.
    sets : ndarray of uint64, shape (n_sets, n_words)
        Sets of categories, a bit each.
    contents : LeafMeans or LeafRows
        What the leaves hold, leaves in the order of their node numbers; ``values`` are their mean targets.
    """

    feature: npt.NDArray[np.int32]
    threshold: FloatArray
    missing_left: BoolArray
    left: npt.NDArray[np.int32]
    gain: FloatArray
    error: FloatArray
    weight: FloatArray
    count: IntArray
    set_of: npt.NDArray[np.int32]
    sets: npt.NDArray[np.uint64]
    contents: LeafMeans | LeafRows = field(default_factory=_nothing)

    _saved: ClassVar[Saved] = {
        **dict.fromkeys(["feature", "left", "set_of"], INTS_32),
        **dict.fromkeys(["threshold", "gain", "error", "weight"], FLOATS),
        "missing_left": array("bool", 1),
        "count": INTS,
        "sets": array("uint64", 2),
        "contents": instance("LeafMeans", "LeafRows"),
    }

    @property
    def values(self) -> npt.NDArray[np.floating]:
        """Mean target of each leaf, of shape (n_leaves, q)."""
        return self.contents.values

    @property
    def is_leaf(self) -> BoolArray:
        """Which nodes are leaves."""
        return self.left < 0

    @property
    def n_leaves(self) -> int:
        """Number of leaves."""
        return int(self.is_leaf.sum())

    @cached_property
    def leaf_number(self) -> LeafNumbers:
        """Number of each leaf among the leaves, by node; -1 for inner nodes."""
        is_leaf = self.is_leaf
        return np.where(is_leaf, np.cumsum(is_leaf, dtype=np.int32) - np.int32(1), np.int32(-1))

    @cached_property
    def parent(self) -> IntArray:
        """Parent of each node; -1 for the root."""
        parent = np.full(len(self.left), -1)
        inner = np.flatnonzero(self.left >= 0)
        parent[self.left[inner]] = inner
        parent[self.left[inner] + 1] = inner
        return parent

    @property
    def depth(self) -> IntArray:
        """Number of splits above each node."""
        depth = np.zeros(len(self.left), dtype=np.intp)
        layer, level = np.array([0]), 0
        while len(layer):
            inner = self.left[layer[self.left[layer] >= 0]]
            layer = np.concatenate([inner, inner + 1])
            depth[layer] = level = level + 1
        return depth

    def find_leaves(self, X: FloatArray) -> npt.NDArray[np.int32]:
        """Node number of the leaf of every row."""
        out = np.empty(len(X), dtype=np.int32)
        _leaves_jit.find_leaves(
            X, self.feature, self.threshold, self.missing_left, self.left, self.set_of, self.sets, out
        )
        return out

    def decision_path(self, X: FloatArray) -> Any:
        """Nodes that each row passes: a sparse matrix of shape (n_rows, n_nodes)."""
        from scipy.sparse import csr_matrix

        at = self.find_leaves(X).astype(np.intp)
        shape = len(at), len(self.left)
        of = np.arange(len(at))
        rows, nodes = [], []
        while len(at):
            rows.append(of)
            nodes.append(at)
            above = self.parent[at]
            at, of = above[above >= 0], of[above >= 0]
        row, node = np.concatenate(rows), np.concatenate(nodes)
        return csr_matrix((np.ones(len(row), dtype=np.int64), (row, node)), shape=shape)

    def leaf_of(self, X: FloatArray) -> LeafNumbers:
        """Number, among the leaves, of the leaf of every row."""
        return self.leaf_number[self.find_leaves(X)]

    def predict(self, X: FloatArray) -> FloatArray:
        """Value of the leaf of every row."""
        out = np.zeros((len(X), self.contents.size))
        self.contents.add_to(out, self.leaf_of(X), np.ones(self.contents.size))
        return out

    def filled(self, X: FloatArray, targets: TargetRows, weights: FloatArray, rows: IntArray) -> Tree:
        """Leaves hold the weighted mean target of the given rows.

        A coordinate of which the rows of a leaf say nothing (an empty cell of an honest tree, a pair that nobody
        there orders) takes the mean of the nearest ancestor whose rows say something of it; NaN if no row does.
        """
        leaf = self.leaf_of(X[rows])
        sums = np.zeros((self.n_leaves, targets.size))
        known = np.zeros((self.n_leaves, targets.size))
        _leaves_jit.add_to_leaves(targets.values, targets.is_pairs, weights, rows, leaf, sums, known)
        if (known == 0).any():
            leaves = self.is_leaf
            all_sums, all_known = np.zeros((2, len(leaves), targets.size))
            all_sums[leaves], all_known[leaves] = sums, known
            _leaves_jit.fill_from_ancestors(self.parent, all_sums, all_known)
            sums, known = all_sums[leaves], all_known[leaves]
        with np.errstate(invalid="ignore"):
            return replace(self, contents=LeafMeans(np.divide(sums, known, out=sums)))

    def filled_compactly(self, X: FloatArray, targets: TargetRows, weights: FloatArray, rows: IntArray) -> Tree:
        """The same in little memory: as rankings where leaves have few and they order all pairs, else rounded."""
        leaf = self.leaf_of(X[rows])
        if targets.is_pairs and targets.is_complete and np.bincount(leaf, weights[rows], self.n_leaves).min() > 0:
            contents = LeafRows.collect(targets, weights, rows, leaf, self.n_leaves)
            if contents.are_few:
                return replace(self, contents=contents)
        tree = self.filled(X, targets, weights, rows)
        return replace(tree, contents=LeafMeans(tree.values.astype(np.float32)))

    def importances(self, n_features: int) -> FloatArray:
        """Share of each feature in the total decrease of the squared error; all 0 for a tree of one leaf."""
        inner = ~self.is_leaf
        total = np.bincount(self.feature[inner], self.gain[inner], n_features).astype(np.float64, copy=False)
        return total / total.sum() if total.sum() > 0 else total

    def collapsed(self, nodes: IntArray) -> Tree:
        """The tree in which the given nodes are leaves; its leaves are to be filled again."""
        left = self.left.copy()
        left[nodes] = -1
        keep = np.zeros(len(left), dtype=bool)
        layer = np.array([0])
        while len(layer):
            keep[layer] = True
            inner = left[layer[left[layer] >= 0]]
            layer = np.concatenate([inner, inner + 1])
        number = np.cumsum(keep) - 1
        kept = np.flatnonzero(keep)
        new_left = np.where(left[kept] >= 0, number[left[kept]], -1).astype(np.int32)
        leaf = new_left < 0
        return replace(
            self,
            feature=np.where(leaf, -1, self.feature[kept]).astype(np.int32),
            threshold=self.threshold[kept],
            missing_left=self.missing_left[kept],
            left=new_left,
            gain=np.where(leaf, 0.0, self.gain[kept]),
            error=self.error[kept],
            weight=self.weight[kept],
            count=self.count[kept],
            set_of=np.where(leaf, -1, self.set_of[kept]).astype(np.int32),
            contents=_nothing(),
        )

    def _check_saved(self) -> None:
        """Children come after their parents and have one each; leaves have contents."""
        n = len(self.left)
        lengths = {len(getattr(self, name)) for name in self._saved if name not in ("sets", "contents")}
        ensure(n > 0 and lengths == {n}, "the nodes of a tree have different numbers of parts")
        inner = np.flatnonzero(self.left >= 0)
        left = self.left[inner].astype(np.int64)
        ensure((left > inner).all() and (left < n - 1).all(), "a tree has a child before its parent, or outside")
        children = np.sort(np.concatenate([left, left + 1]))
        ensure(np.array_equal(children, np.arange(1, n)), "a node of a tree has no parent, or several")
        ensure((self.feature[inner] >= 0).all(), "a split of a tree has no feature")
        ensure((self.set_of < len(self.sets)).all(), "a split of a tree has a set of categories that is not there")
        ensure(len(self.contents) == n - len(inner), "a tree has other contents than leaves")


# What leaves hold: their mean targets, or the rows that fell into them.


#: number, among the leaves, of the leaf of each row
LeafNumbers: TypeAlias = npt.NDArray[np.int32]

# Leaves with more rankings than this, on the average, are quicker to read as means.
_FEW_RANKINGS = 3


@dataclass(frozen=True, eq=False)
class LeafMeans:
    """Leaves hold the mean of their targets.

    Attributes
    ----------
    values : ndarray of shape (n_leaves, q)
        Mean target of each leaf; NaN where unknown.
    """

    values: npt.NDArray[np.floating]

    _saved: ClassVar[Saved] = {"values": array("float32 float64", 2)}

    def __len__(self) -> int:
        return len(self.values)

    @property
    def size(self) -> int:
        """Number of coordinates of a target."""
        return int(self.values.shape[1])

    @property
    def has_unknown(self) -> bool:
        """Whether some coordinate of some leaf is unknown."""
        return bool(np.isnan(self.values).any())

    def fill_unknown(self, value: FloatArray | float) -> None:
        """Put a value in the place of unknown coordinates."""
        unknown = np.isnan(self.values)
        self.values[unknown] = np.broadcast_to(value, unknown.shape)[unknown]

    def add_to(self, out: FloatArray, leaf: LeafNumbers, scale: FloatArray) -> None:
        """Add to every row of ``out`` the mean of its leaf, each coordinate times its scale."""
        _leaves_jit.add_values(leaf, self.values, scale, out)


@dataclass(frozen=True, eq=False)
class LeafRows:
    """Leaves hold rankings, and their pairs are counted when asked for.

    Fully grown trees have nearly as many leaves as rows: the numbers of rankings take far less memory than a share for
    every pair of items and leaf, and all trees of a forest refer to the same rankings. Equal ones in a leaf count once,
    with the sum of their weights.

    Attributes
    ----------
    targets : TargetRows
        Different rankings that order all pairs.
    start : ndarray of int32, shape (n_leaves + 1,)
        Where the rankings of each leaf begin.
    rows : ndarray of int32
        Their numbers, leaf by leaf.
    weights : ndarray of float64
        Weight of each.
    """

    targets: TargetRows
    start: npt.NDArray[np.int32]
    rows: npt.NDArray[np.int32]
    weights: FloatArray

    _saved: ClassVar[Saved] = {
        "targets": instance("TargetRows"),
        "start": INTS_32,
        "rows": INTS_32,
        "weights": FLOATS,
    }

    @classmethod
    def collect(cls, targets: TargetRows, weights: FloatArray, rows: IntArray, leaf: LeafNumbers, n: int) -> LeafRows:
        """Sort rows by their leaves and rankings."""
        distinct, number = targets.distinct
        n_distinct = len(distinct.values)
        keys, member = np.unique(leaf * np.int64(n_distinct) + number[rows], return_inverse=True)
        leaf_of, rankings = np.divmod(keys, n_distinct)
        start = np.concatenate([[0], np.cumsum(np.bincount(leaf_of, minlength=n))]).astype(np.int32)
        return cls(
            distinct,
            start,
            rankings.astype(np.int32),
            np.bincount(member, weights[rows]).astype(np.float64, copy=False),
        )

    def __len__(self) -> int:
        return len(self.start) - 1

    @property
    def are_few(self) -> bool:
        """Whether leaves are so small that it is better to hold their rankings than their means."""
        return len(self.rows) <= _FEW_RANKINGS * (len(self.start) - 1)

    @property
    def size(self) -> int:
        """Number of coordinates of a target."""
        return self.targets.size

    @property
    def has_unknown(self) -> bool:
        """Whether some coordinate of some leaf is unknown: never, for these rankings order all pairs."""
        return False

    def fill_unknown(self, value: FloatArray | float) -> None:
        """Nothing is unknown."""

    def add_to(self, out: FloatArray, leaf: LeafNumbers, scale: FloatArray) -> None:
        """Add to every row of ``out`` the mean of its leaf, each coordinate times its scale."""
        _leaves_jit.add_rankings(leaf, self.start, self.rows, self.weights, self.targets.values, scale, out)

    @property
    def values(self) -> FloatArray:
        """Mean target of each leaf, written out."""
        n_leaves = len(self.start) - 1
        out = np.zeros((n_leaves, self.size))
        self.add_to(out, np.arange(n_leaves, dtype=np.int32), np.ones(self.size))
        return out

    def _check_saved(self) -> None:
        """Every leaf has rows, and these exist."""
        ensure(self.targets.is_pairs, "rows of leaves are not rankings")
        ensure(len(self.rows) == len(self.weights) and len(self.start) > 1, "rows of leaves have no weights")
        ensure((np.isfinite(self.weights) & (self.weights > 0)).all(), "rows of leaves have no weights")
        is_partition = self.start[0] == 0 and self.start[-1] == len(self.rows) and (np.diff(self.start) > 0).all()
        ensure(is_partition, "leaves share rows")
        check_places(self.rows, len(self.targets.values), "a leaf has a row that is not there")
