"""Trees with random thresholds on pairs of items: pairs as bits, for `engine`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil

import numpy as np
import numpy.typing as npt

from rankwise._typing import FloatArray, IntArray
from rankwise.trees import _grow_bits_jit
from rankwise.trees._grow_bits_jit import BitScratch, BitTargets
from rankwise.trees._grow_jit import Features, Limits, Nodes
from rankwise.trees.structure import TargetRows, Tree

#: bits of a word; the largest weight of a row, which takes as many bits
WORD = MOST_WEIGHT = _grow_bits_jit.WORD
#: pairs of items, at most, that such a tree chooses its splits by; of more, it draws some
MOST_PAIRS = 1024


@dataclass(frozen=True)
class PairBits:
    """Pairs of items of some rankings.

    Attributes
    ----------
    bits : ndarray of uint64, shape (n, (n_planes + has_gaps) * n_words)
        For each pair whether its first item comes first; where there are ties, in a second plane, whether it does not
        come last; and with gaps, in the last plane, whether the ranking compares the two.
    squares : ndarray of int64, shape (n,)
        Squared length of each target: its coordinates are the sums of the planes.
    n_planes : int
        2 where there are ties.
    has_gaps : bool
        Whether a ranking does not compare all pairs.
    n_pairs : int
        Number of pairs.
    """

    bits: npt.NDArray[np.uint64]
    squares: IntArray
    n_planes: int
    has_gaps: bool
    n_pairs: int

    @classmethod
    def of(cls, positions: FloatArray, first: IntArray, second: IntArray, has_gaps: bool = False) -> PairBits:
        """The pairs of the first and the second items; ``has_gaps`` asks for the last plane, needed or not."""
        ordered = np.sort(positions, axis=1)
        n_planes = 2 if ((ordered[:, 1:] == ordered[:, :-1]) & (ordered[:, 1:] < np.inf)).any() else 1
        has_gaps = has_gaps or not TargetRows(positions, is_pairs=True).is_complete
        bits = np.zeros((len(positions), (n_planes + has_gaps) * ceil(len(first) / _grow_bits_jit.WORD)), np.uint64)
        squares = np.zeros(len(positions), np.int64)
        _grow_bits_jit.write_bits(np.ascontiguousarray(positions), first, second, n_planes, has_gaps, bits, squares)
        return cls(bits, squares, n_planes, has_gaps, len(first))

    def of_rows(self, rows: IntArray) -> PairBits:
        """Those of some of the rankings."""
        return replace(self, bits=self.bits[rows], squares=self.squares[rows])


def grow_by_bits(features: Features, pairs: PairBits, limits: Limits, weights: FloatArray, seed: int) -> Tree:
    """Grow a tree with a random threshold for each feature, as `engine` does for any targets, but by bits.

    Features are numbers of at most `_codes.MOST_CODES` codes, weights whole numbers from 1 to `MOST_WEIGHT`.
    """
    d, n = features.codes.shape
    most, words = _grow_bits_jit.MOST_PRODUCTS, _grow_bits_jit.WORDS_AT_ONCE
    nodes = Nodes.empty(2 * n - 1, 1, 1)
    scratch = BitScratch(
        rows=np.arange(n),
        order=np.zeros(n, np.int64),
        buffer=np.zeros(n, np.int64),
        moved=np.zeros(n, np.uint16),
        word=np.zeros(n, np.int64),
        word_end=np.zeros(n, np.int64),
        pattern=np.zeros(n, np.uint64),
        masks=np.zeros((2, words), np.uint64),
        columns=np.zeros((words, (pairs.n_planes + pairs.has_gaps) * pairs.n_pairs), np.uint64),
        block=np.zeros(_grow_bits_jit.WORD, np.uint64),
        sums=np.zeros((2 * d + 1, pairs.n_pairs), np.int64),
        known=np.zeros((2 * d + 1 if pairs.has_gaps else 0, pairs.n_pairs), np.int64),
        products=np.zeros((most, most), np.int64),
        has_products=np.zeros(2 * n - 1, np.bool_),
        place=np.zeros(n, np.int64),
        along=np.zeros(most, np.int64),
        side=np.zeros(most, np.int64),
        candidates=np.arange(d),
        trials=np.zeros((d, _grow_bits_jit.TRIAL), np.int64),
        scores=np.zeros((d, 2)),
        frontier=np.zeros(2 * n - 1, np.int64),
    )
    targets = BitTargets(
        pairs.bits, pairs.n_planes, pairs.has_gaps, pairs.n_pairs, pairs.squares, weights.astype(np.int64)
    )
    features = features._replace(codes=features.codes.astype(np.uint16))  # a copy, which growing sorts
    with np.errstate(over="ignore"):  # hashes wrap around, which NumPy warns of where nothing is compiled
        n_nodes = _grow_bits_jit.grow_by_bits(features, targets, limits, np.uint64(seed), nodes, scratch)
    return Tree(**nodes.kept(n_nodes), sets=nodes.sets[:0].copy())
