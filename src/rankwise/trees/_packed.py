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

# Nodes side by side: what a step down needs comes with one look into memory.
_NODE = np.dtype([("threshold", np.float64), ("feature", np.int32), ("child", np.int32)])

# The last forest that each first tree was part of. It is made again from the trees, so nothing of it is saved.
_packed: WeakKeyDictionary[Tree, PackedForest] = WeakKeyDictionary()


@dataclass(frozen=True, eq=False)
class PackedForest:
    """Nodes and leaves of all trees of a forest, one after the other.

    Attributes
    ----------
    trees : list of weak references
        Which trees.
    nodes : ndarray of records
        Where rows go; see `_packed_jit.find_contents`.
    contents : ndarray of int32
        For each node the number of its leaf in its tree or, where leaves hold rankings, what they hold.
    roots : ndarray of int64
        Place of the root of each tree.
    sets : ndarray of uint64, shape (n_sets, n_words)
        Sets of categories, and an empty one.
    rankings : LeafRankings or None
        If all leaves hold rankings.
    """

    trees: list[ref[Tree]]
    nodes: npt.NDArray[np.void]
    contents: npt.NDArray[np.int32]
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
        sizes = np.array([len(tree.left) for tree in trees])
        roots = np.cumsum(sizes) - sizes
        n_sets = np.array([len(tree.sets) for tree in trees])
        first_sets = np.cumsum(n_sets) - n_sets
        nodes, contents = np.zeros(sizes.sum(), _NODE), np.zeros(sizes.sum(), np.int32)
        sets = np.zeros((n_sets.sum() + 1, max(tree.sets.shape[1] for tree in trees)), np.uint64)
        rankings = LeafRankings.of(trees)
        first_leaf = 0
        for root, first_set, tree in zip(roots, first_sets, trees, strict=True):
            here = slice(root, root + len(tree.left))
            is_leaf, is_set, own = tree.is_leaf, tree.set_of >= 0, nodes[here]
            own["threshold"] = np.where(is_leaf, np.inf, np.where(is_set, first_set + tree.set_of, tree.threshold))
            own["feature"] = np.where(is_leaf, 1, 4 * tree.feature + 2 * is_set + tree.missing_left)
            own["child"] = root + np.where(is_leaf, np.arange(len(is_leaf)), tree.left)
            leaf: IntArray = tree.leaf_number.astype(np.intp)
            if rankings is not None:
                leaf = rankings.contents[first_leaf + leaf]
                first_leaf += tree.n_leaves
            contents[here] = np.where(is_leaf, leaf, 0)
            sets[first_set : first_set + len(tree.sets), : tree.sets.shape[1]] = tree.sets
        return cls([ref(tree) for tree in trees], nodes, contents, roots, sets, rankings)

    def add_to(self, out: FloatArray, trees: Sequence[Tree], X: FloatArray) -> None:
        """Add to every row of ``out`` what its leaf in each tree holds."""
        found = np.empty((len(self.roots), len(X)), np.int32)
        at = np.empty(_packed_jit.ABREAST, np.int64)
        is_plain = len(self.sets) == 1 and not np.isnan(X).any()
        _packed_jit.find_contents(X, is_plain, self.nodes, self.contents, self.roots, self.sets, at, found)
        if self.rankings is not None:
            self.rankings.add_to(out, found)
            return
        scale = np.ones(out.shape[1])
        for tree, leaf in zip(trees, found, strict=True):
            tree.contents.add_to(out, leaf, scale)


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
        weights = np.concatenate([own.weights for own in leaves])
        contents = np.where(counts == 1, numbers[start[:-1]], -1 - np.arange(len(counts)))
        return cls(start, numbers, weights, PairBits.of(positions, *np.triu_indices(positions.shape[1], 1)), contents)

    def add_to(self, out: FloatArray, contents: npt.NDArray[np.int32]) -> None:
        """Add the mean pairs of the leaves of every row; ``contents`` of shape (n_trees, n_rows)."""
        pairs, block = self.pairs, np.empty(WORD, np.uint64)
        _packed_jit.add_rankings(
            contents, self.start, self.numbers, self.weights, pairs.bits, pairs.n_planes, block, out
        )
