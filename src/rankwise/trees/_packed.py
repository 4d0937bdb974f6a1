"""All trees of a forest in a few arrays, so that one compiled call sends rows down all of them; for `engine`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple
from weakref import WeakKeyDictionary, ref

import numpy as np
import numpy.typing as npt

from rankwise._typing import FloatArray, IntArray
from rankwise.trees import _packed_jit
from rankwise.trees._pair_bits import WORD, PairBits
from rankwise.trees.structure import LeafRows, Tree

# What a step down needs comes with one look into memory, and eight nodes with one line of it: a rounded threshold, and
# the places of the children together with the feature, in twice as many bits if there are very many of both.
_NODE, _WIDE_NODE = (np.dtype([("threshold", np.float32), ("where", where)]) for where in (np.uint32, np.uint64))
_BITS_OF_NODE = 32

# The last forest that each first tree was part of. It is made again from the trees, so nothing of it is saved.
_packed: WeakKeyDictionary[Tree, PackedForest] = WeakKeyDictionary()


@dataclass(frozen=True, eq=False)
class PackedForest:
    """Nodes and leaves of all trees of a forest, one after the other.

    Attributes
    ----------
    trees : list of weak references
        Which trees.
    nodes : tuple of ndarrays
        For each node a record by which rows go on, its threshold, its flags, and the number of its leaf in its tree
        or, where leaves hold rankings, what they hold; see `_packed_jit.pack_tree`.
    n_bits : uint64
        Bits of a record that hold the feature.
    roots : ndarray of int64
        Place of the root of each tree, and the number of nodes.
    sets : ndarray of uint64, shape (n_sets, n_words)
        Sets of categories, and an empty one.
    rankings : LeafRankings or None
        If all leaves hold rankings.
    """

    trees: list[ref[Tree]]
    nodes: tuple[npt.NDArray[np.void], FloatArray, npt.NDArray[np.uint8], npt.NDArray[np.int32]]
    n_bits: np.uint64
    roots: IntArray
    sets: npt.NDArray[np.uint64]
    rankings: LeafRankings | None

    @classmethod
    def of(cls, trees: Sequence[Tree]) -> PackedForest:
        """The forest of these trees, packed once."""
        known = _packed.get(trees[0])
        if known is None or [tree() for tree in known.trees] != list(trees):
            known = _packed[trees[0]] = cls._pack(trees)
        return known

    @classmethod
    def _pack(cls, trees: Sequence[Tree]) -> PackedForest:
        roots = np.concatenate([[0], np.cumsum([len(tree.left) for tree in trees])])
        n_sets = np.array([len(tree.sets) for tree in trees])
        first_sets = np.cumsum(n_sets) - n_sets
        n_bits = int(max(tree.feature.max() for tree in trees)).bit_length()
        record = _NODE if int(roots[-1]).bit_length() + n_bits <= _BITS_OF_NODE else _WIDE_NODE
        n = int(roots[-1])
        nodes = np.zeros(n, record), np.zeros(n), np.zeros(n, np.uint8), np.zeros(n, np.int32)
        sets = np.zeros((n_sets.sum() + 1, max(tree.sets.shape[1] for tree in trees)), np.uint64)
        rankings = LeafRankings.of(trees)
        first_leaf = 0
        for root, first_set, tree in zip(roots[:-1], first_sets, trees, strict=True):
            held = tree.leaf_number
            if rankings is not None:
                held = rankings.contents[first_leaf + held].astype(np.int32)
                first_leaf += tree.n_leaves
            parts = tree.feature, tree.threshold, tree.missing_left, tree.left, tree.set_of, held
            order = np.empty(len(tree.left), np.int32)
            with np.errstate(over="ignore"):  # thresholds are rounded to infinity, if nothing is compiled
                _packed_jit.pack_tree(*parts, root, first_set, np.uint64(n_bits), order, nodes)
            sets[first_set : first_set + len(tree.sets), : tree.sets.shape[1]] = tree.sets
        return cls([ref(tree) for tree in trees], nodes, np.uint64(n_bits), roots, sets, rankings)

    def add_to(self, out: FloatArray, trees: Sequence[Tree], X: FloatArray) -> None:
        """Add to every row of ``out`` what its leaf in each tree holds."""
        if self.rankings is not None:
            self.rankings.add_to(out, self.find(X))
            return
        scale = np.ones(out.shape[1])
        for tree, leaf in zip(trees, self.find(X), strict=True):
            tree.contents.add_to(out, leaf, scale)

    def find(self, X: FloatArray) -> npt.NDArray[np.int32]:
        """What the leaf of each row holds, in each tree: (n_trees, n_rows)."""
        found = np.empty((len(self.roots) - 1, len(X)), np.int32)
        at = np.empty(_packed_jit.ABREAST, np.uint64)
        if len(self.sets) > 1 or np.isnan(X).any():
            _packed_jit.find_by_anything(X, self.nodes, self.roots, self.sets, self.n_bits, at, found)
        else:
            with np.errstate(over="ignore"):
                rounded = X.astype(np.float32)
            _packed_jit.find_by_numbers(X, rounded, self.nodes, self.roots, self.n_bits, at, found)
        return found


class LeafRankings(NamedTuple):
    """The rankings in all leaves of a forest, leaf by leaf.

    ``contents`` is, for each leaf, the number of its ranking if it has one, else -1 - the number of the leaf.
    """

    start: IntArray
    numbers: npt.NDArray[np.int32]
    weights: FloatArray
    pairs: PairBits
    contents: IntArray

    @classmethod
    def of(cls, trees: Sequence[Tree]) -> LeafRankings | None:
        """Those of the trees, if all leaves hold some of the same rankings."""
        leaves = [tree.contents for tree in trees if isinstance(tree.contents, LeafRows)]
        if len(leaves) < len(trees) or any(own.targets.values is not leaves[0].targets.values for own in leaves):
            return None
        positions = leaves[0].targets.values
        counts = np.concatenate([np.diff(own.start) for own in leaves])
        start = np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])
        numbers = np.concatenate([own.rows for own in leaves])
        weights = np.concatenate([own.weights for own in leaves], dtype=np.float64)
        contents = np.where(counts == 1, numbers[start[:-1]], -1 - np.arange(len(counts)))
        return cls(start, numbers, weights, PairBits.of(positions, *np.triu_indices(positions.shape[1], 1)), contents)

    def add_to(self, out: FloatArray, contents: npt.NDArray[np.int32]) -> None:
        """Add the mean pairs of the leaves of every row; ``contents`` of shape (n_trees, n_rows)."""
        pairs, block = self.pairs, np.empty(WORD, np.uint64)
        _packed_jit.add_rankings(
            contents, self.start, self.numbers, self.weights, pairs.bits, pairs.n_planes, block, out
        )
