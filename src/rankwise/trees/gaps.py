"""Leaves of rankings that leave pairs open: they hold the rankings, and look up the rest in the cells above.

`engine` fills leaves with them where a share for every pair and leaf would take too much memory.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import ceil
from typing import ClassVar
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from rankwise._state import FLOATS, INTS_32, Saved, check_places, check_probabilities, ensure, instance
from rankwise._typing import FloatArray, IntArray
from rankwise.trees import _gaps_jit
from rankwise.trees._gaps_jit import Cells, Scratch
from rankwise.trees._pair_bits import WORD, PairBits
from rankwise.trees.structure import LeafNumbers, TargetRows

# The bits of the rankings that all trees of a forest refer to. They are made again from these, so they are not saved.
_bits: WeakKeyDictionary[TargetRows, tuple[PairBits, npt.NDArray[np.uint64]]] = WeakKeyDictionary()


@dataclass(frozen=True, eq=False)
class LeafGaps:
    """Leaves hold rankings, of which none need order all pairs; a leaf may be empty.

    The share of a pair is the mean over the rankings of the leaf that compare it; if none does, over those of the
    nearest cell above it; if none of the tree does, it is the usual one. With few pairs in each of many short rankings,
    that takes far less memory than a share for every pair and leaf, and more time.

    Attributes
    ----------
    targets : TargetRows
        Different rankings.
    start : ndarray of int32, shape (n_leaves + 1,)
        Where the rankings of each leaf begin.
    rows : ndarray of int32
        Their numbers, leaf by leaf.
    weights : ndarray of float64
        Weight of each.
    parent : ndarray of int32, shape (n_nodes,)
        The node above each node of the tree; -1 for the root.
    usual : ndarray of float64, shape (n_pairs,)
        Share of each pair in all rankings of the forest.
    """

    targets: TargetRows
    start: npt.NDArray[np.int32]
    rows: npt.NDArray[np.int32]
    weights: FloatArray
    parent: npt.NDArray[np.int32]
    usual: FloatArray

    _saved: ClassVar[Saved] = {
        "targets": instance("TargetRows"),
        **dict.fromkeys(["start", "rows", "parent"], INTS_32),
        **dict.fromkeys(["weights", "usual"], FLOATS),
    }

    def __len__(self) -> int:
        return len(self.start) - 1

    @property
    def size(self) -> int:
        """Number of coordinates of a target."""
        return self.targets.size

    @property
    def values(self) -> FloatArray:
        """Share of each pair in each leaf, written out."""
        out = np.zeros((len(self), self.size))
        self.add_to(out, np.arange(len(self), dtype=np.int32), np.ones(self.size))
        return out

    def add_to(self, out: FloatArray, leaf: LeafNumbers, scale: FloatArray) -> None:
        """Add to every row of ``out`` the shares of its leaf, each pair times its scale."""
        pairs, compared = _bits_of(self.targets)
        nodes, order = self._leaf_nodes[leaf], np.argsort(leaf, kind="stable")
        scratch = _scratch(self.size)
        _gaps_jit.add_shares(
            nodes, order, self._cells, pairs.bits, pairs.n_planes, compared, self.usual, scale, scratch, out
        )

    def shares(self, pair: int) -> FloatArray:
        """Share of one pair in each leaf."""
        pairs, compared = _bits_of(self.targets)
        wanted, out = np.zeros_like(compared), np.empty(len(self))
        word, bit = divmod(pair, WORD)
        wanted[word] = compared[word] & (np.uint64(1) << np.uint64(bit))
        scratch = _scratch(self.size)
        _gaps_jit.shares_of_pair(
            self._leaf_nodes, pair, self._cells, pairs.bits, pairs.n_planes, wanted, self.usual, scratch, out
        )
        return out

    @cached_property
    def _leaf_nodes(self) -> IntArray:
        """Node of each leaf."""
        return np.setdiff1d(np.arange(len(self.parent)), self.parent)

    @cached_property
    def _cells(self) -> Cells:
        n = len(self.parent)
        leaf_of_node = np.full(n, -1)
        leaf_of_node[self._leaf_nodes] = np.arange(len(self))
        cells = Cells(
            parent=self.parent,
            begin=np.zeros(n, np.int32),
            end=np.zeros(n, np.int32),
            rankings=np.zeros(len(self.rows), np.int32),
            weights=np.zeros(len(self.rows)),
        )
        _gaps_jit.lay_out(self.parent, leaf_of_node, self.start, self.rows, self.weights, cells)
        return cells

    def _check_saved(self) -> None:
        """Rankings exist, cells have one above them, and shares are probabilities."""
        ensure(self.targets.is_pairs, "rows of leaves are not rankings")
        n_rows, n_nodes = len(self.rows), len(self.parent)
        ensure(n_rows == len(self.weights) and len(self.start) > 1, "rows of leaves have no weights")
        ensure((np.isfinite(self.weights) & (self.weights > 0)).all(), "rows of leaves have no weights")
        is_partition = self.start[0] == 0 and self.start[-1] == n_rows and (np.diff(self.start) >= 0).all()
        ensure(is_partition, "leaves share rows")
        check_places(self.rows, len(self.targets.values), "a leaf has a row that does not exist")
        ensure(n_nodes > 0 and self.parent[0] == -1, "the cells of a tree have no root")
        above, nodes = self.parent[1:], np.arange(1, n_nodes)
        ensure(((above >= 0) & (above < nodes)).all(), "a cell of a tree comes before the one above it")
        ensure(len(self._leaf_nodes) == len(self), "a tree has other leaves than cells without others below them")
        ensure(len(self.usual) == self.size, "the usual shares are not one for every pair")
        check_probabilities(self.usual)


def _bits_of(targets: TargetRows) -> tuple[PairBits, npt.NDArray[np.uint64]]:
    """The pairs of rankings, and of each pair whether one compares it."""
    found = _bits.get(targets)
    if found is None:
        pairs = PairBits.of(targets.values, *np.triu_indices(targets.values.shape[1], 1), has_gaps=True)
        found = _bits[targets] = pairs, np.bitwise_or.reduce(pairs.bits[:, -ceil(pairs.n_pairs / WORD) :], axis=0)
    return found


def _scratch(n_pairs: int) -> Scratch:
    n_words = ceil(n_pairs / WORD)
    return Scratch(
        shares=np.zeros(n_pairs),
        sums=np.zeros(n_pairs),
        known=np.zeros(n_pairs),
        is_open=np.zeros(n_words, np.uint64),
        is_new=np.zeros(n_words, np.uint64),
        words=np.zeros(n_words, np.int64),
    )
