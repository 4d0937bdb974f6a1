"""What trees are made of: target vectors, the contents of leaves, and nodes.

`engine` grows and fills trees, `pruning` and `export` read them. Nothing here knows how a split is chosen.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

import numpy as np
import numpy.typing as npt

from rankwise._sklearn import gen_batches
from rankwise._state import BOOL, FLOATS, INTS_32, MATRIX, Saved, array, check_places, ensure, instance
from rankwise._typing import BoolArray, FloatArray, IntArray
from rankwise.data.positions import compare_positions
from rankwise.trees import _leaves_jit

if TYPE_CHECKING:
    from rankwise.trees.gaps import LeafGaps

# Entries of pair vectors that are written out at a time.
_BLOCK_ENTRIES = 4_000_000

#: number, among the leaves, of the leaf of each row
LeafNumbers: TypeAlias = npt.NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class TargetRows:
    """Target vectors of all rows; NaN coordinates are missing.

    Parameters
    ----------
    values : ndarray of shape (n, q), or positions of shape (n, n_items)
        With ``is_pairs`` the target of a row is the Kemeny embedding of its positions, one coordinate per pair of
        items, which is never written out for all rows at once.
    is_pairs : bool
        Whether values are positions.
    """

    values: npt.NDArray[Any]  # floats, or whole numbers where none is missing
    is_pairs: bool = False

    _saved: ClassVar[Saved] = {"values": MATRIX, "is_pairs": BOOL}

    @property
    def size(self) -> int:
        """Number of coordinates."""
        width = self.values.shape[1]
        return width * (width - 1) // 2 if self.is_pairs else width

    @cached_property
    def is_complete(self) -> bool:
        """Whether no coordinate of any row is missing."""
        if np.isnan(self.values).any():
            return False
        # Two unlisted items of a ranking are not compared.
        return not self.is_pairs or int(np.isinf(self.values).sum(axis=1).max(initial=0)) <= 1

    def vectors(self, rows: slice) -> FloatArray:
        """Target vectors of some rows, written out."""
        values = self.values[rows]
        if not self.is_pairs:
            return values
        first, second = np.triu_indices(values.shape[1], 1)
        return compare_positions(values[:, first], values[:, second])

    def coordinates(self, block: slice) -> FloatArray:
        """Some coordinates of the target vectors of all rows, written out."""
        if not self.is_pairs:
            return self.values[:, block]
        first, second = np.triu_indices(self.values.shape[1], 1)
        return compare_positions(self.values[:, first[block]], self.values[:, second[block]])

    def blocks(self) -> Iterator[slice]:
        """Slices of rows that are small enough to write out."""
        yield from gen_batches(len(self.values), max(1, _BLOCK_ENTRIES // max(self.size, 1)))

    def distinct(self) -> tuple[TargetRows, IntArray]:
        """The different targets, and for each row the number of its target among them."""
        values, number = np.unique(self.values, axis=0, return_inverse=True)
        return TargetRows(values, self.is_pairs), number

    def mean(self, weights: FloatArray) -> FloatArray:
        """Weighted mean of each coordinate over the rows that have it; NaN where none has."""
        if self.is_pairs:
            # As if all rows were in one leaf: writing their vectors out takes over ten times as long.
            n, values = len(self.values), np.require(self.values, np.float64, ["C", "W"])
            weights, leaf = np.require(weights, np.float64, ["C", "W"]), np.zeros(n, dtype=np.int32)
            sums, counts = np.zeros((2, 1, self.size))
            _leaves_jit.add_to_leaves(values, True, weights, np.arange(n), leaf, sums, counts)
            total, known = sums[0], counts[0]
        else:
            has = ~np.isnan(self.values)
            total, known = weights @ np.where(has, self.values, 0.0), weights @ has
        return np.divide(total, known, out=np.full(self.size, np.nan), where=known > 0)

    def centered(self, weights: FloatArray) -> TargetRows:
        """The same splits with less rounding: sums of squares of numbers near zero. Pairs are small as they are."""
        return self if self.is_pairs else TargetRows(self.values - np.nan_to_num(self.mean(weights)))

    def sketch(self, size: int, weights: FloatArray, rng: np.random.Generator) -> TargetRows:
        """Random projections of the centered vectors to ``size`` coordinates; missing coordinates count as the mean.

        Inner products, and with them the gains of splits, are kept in expectation.
        """
        directions = rng.choice([-1.0, 1.0], (self.size, size)) / np.sqrt(size)
        center = np.nan_to_num(self.mean(weights))
        projected = np.empty((len(self.values), size))
        for rows in self.blocks():
            projected[rows] = np.nan_to_num(self.vectors(rows) - center) @ directions
        return TargetRows(projected)


@dataclass(frozen=True, eq=False)
class LeafMeans:
    """Leaves hold the mean of their targets.

    Attributes
    ----------
    values : ndarray of shape (n_leaves, q)
        Mean target of each leaf.
    """

    values: npt.NDArray[np.floating]

    _saved: ClassVar[Saved] = {"values": array("float32 float64", 2)}

    def __len__(self) -> int:
        return len(self.values)

    @property
    def size(self) -> int:
        """Number of coordinates of a target."""
        return int(self.values.shape[1])

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
    weights : ndarray of float64, or of float32 where that is exact
        Weight of each.
    """

    targets: TargetRows
    start: npt.NDArray[np.int32]
    rows: npt.NDArray[np.int32]
    weights: npt.NDArray[np.floating]

    _saved: ClassVar[Saved] = {
        "targets": instance("TargetRows"),
        "start": INTS_32,
        "rows": INTS_32,
        "weights": array("float32 float64", 1),
    }

    @classmethod
    def collect(
        cls, rankings: TargetRows, number: IntArray, weights: FloatArray, leaf: LeafNumbers, n_leaves: int
    ) -> LeafRows:
        """Sort rows by their leaves and rankings; ``number`` says which of the rankings each row has."""
        n_rankings = len(rankings.values)
        keys, member = np.unique(leaf * np.int64(n_rankings) + number, return_inverse=True)
        leaf_of, ranking = np.divmod(keys, n_rankings)
        start = np.concatenate([[0], np.cumsum(np.bincount(leaf_of, minlength=n_leaves))]).astype(np.int32)
        total = np.bincount(member, weights).astype(np.float64, copy=False)
        return cls(rankings, start, ranking.astype(np.int32), total)

    def __len__(self) -> int:
        return len(self.start) - 1

    @property
    def size(self) -> int:
        """Number of coordinates of a target."""
        return self.targets.size

    @property
    def values(self) -> FloatArray:
        """Mean target of each leaf, written out."""
        out = np.zeros((len(self), self.size))
        self.add_to(out, np.arange(len(self), dtype=np.int32), np.ones(self.size))
        return out

    def add_to(self, out: FloatArray, leaf: LeafNumbers, scale: FloatArray) -> None:
        """Add to every row of ``out`` the mean of its leaf, each coordinate times its scale."""
        weights = self.weights.astype(np.float64, copy=False)
        _leaves_jit.add_rankings(leaf, self.start, self.rows, weights, self.targets.values, scale, out)

    def compact(self) -> LeafRows:
        """The same in less memory: how often a row was drawn, and most weights, fit into half of the bytes."""
        with np.errstate(over="ignore"):  # infinity is not equal to what it was
            small = self.weights.astype(np.float32)
        return replace(self, weights=small) if np.array_equal(small, self.weights) else self

    def _check_saved(self) -> None:
        """Every leaf has rows, and these exist."""
        ensure(self.targets.is_pairs, "rows of leaves are not rankings")
        ensure(self.targets.is_complete, "a ranking in a leaf does not order all pairs")
        ensure(len(self.rows) == len(self.weights) and len(self.start) > 1, "rows of leaves have no weights")
        ensure((np.isfinite(self.weights) & (self.weights > 0)).all(), "rows of leaves have no weights")
        is_partition = self.start[0] == 0 and self.start[-1] == len(self.rows) and (np.diff(self.start) > 0).all()
        ensure(is_partition, "leaves share rows")
        check_places(self.rows, len(self.targets.values), "a leaf has a row that does not exist")


#: contents of a tree that is grown but not filled
UNFILLED = LeafMeans(np.empty((0, 0)))


@lru_cache(maxsize=8)
def _no_sets(n_bits: int) -> npt.NDArray[np.int32]:
    """Nodes, more than a number of so many bits, without sets of categories."""
    return np.full(1 << n_bits, -1, np.int32)


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
    gain : ndarray of float64, or of float32 in forests
        By how much the split lowers the squared error.
    error : ndarray of float64 or float32
        Weighted squared error of the growing rows around the node's mean: their weight times their dispersion.
    weight, count : ndarrays
        Weight and number of the growing rows.
    set_of : ndarray of int32
        Row of ``sets`` that holds the categories that go left; -1 where the split is numeric.
    sets : ndarray of uint64, shape (n_sets, n_words)
        Sets of categories, a bit each.
    contents : LeafMeans, LeafRows or LeafGaps
        What the leaves hold, leaves in the order of their node numbers; ``values`` are their mean targets.
    """

    feature: npt.NDArray[np.int32]
    threshold: FloatArray
    missing_left: BoolArray
    left: npt.NDArray[np.int32]
    gain: npt.NDArray[np.floating]
    error: npt.NDArray[np.floating]
    weight: npt.NDArray[np.floating]
    count: npt.NDArray[np.integer]
    set_of: npt.NDArray[np.int32]
    sets: npt.NDArray[np.uint64]
    contents: LeafMeans | LeafRows | LeafGaps = UNFILLED

    _saved: ClassVar[Saved] = {
        **dict.fromkeys(["feature", "left", "set_of"], INTS_32),
        "threshold": FLOATS,
        **dict.fromkeys(["gain", "error", "weight"], array("float32 float64", 1)),
        "missing_left": array("bool", 1),
        "count": array("int32 int64", 1),
        "sets": array("uint64", 2),
        "contents": instance("LeafMeans", "LeafRows", "LeafGaps"),
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

    def leaf_of(self, X: FloatArray) -> LeafNumbers:
        """Number, among the leaves, of the leaf of every row."""
        return self.leaf_number[self.find_leaves(X)]

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

    def predict(self, X: FloatArray) -> FloatArray:
        """Value of the leaf of every row."""
        out = np.zeros((len(X), self.contents.size))
        self.contents.add_to(out, self.leaf_of(X), np.ones(self.contents.size))
        return out

    def importances(self, n_features: int) -> FloatArray:
        """Share of each feature in the total decrease of the squared error; all 0 for a tree of one leaf."""
        inner = ~self.is_leaf
        total = np.bincount(self.feature[inner], self.gain[inner], n_features).astype(np.float64, copy=False)
        return total / total.sum() if total.sum() > 0 else total

    def compact(self) -> Tree:
        """The same tree in less memory: numbers that rows do not go by are rounded, and having no sets is shared."""
        small = {name: getattr(self, name).astype(np.float32) for name in ("gain", "error", "weight")}
        n = len(self.left)
        set_of = self.set_of if len(self.sets) else _no_sets(n.bit_length())[:n]
        return replace(self, **small, count=self.count.astype(np.int32), set_of=set_of)

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
            contents=UNFILLED,
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
        ensure((self.set_of < len(self.sets)).all(), "a split of a tree has a set of categories that does not exist")
        ensure(len(self.contents) == n - len(inner), "a tree has other contents than leaves")
        cells = getattr(self.contents, "parent", self.parent)
        ensure(np.array_equal(cells, self.parent), "a tree has other cells than nodes")
