"""Pairs of items of rankings as bits: what leaves that hold rankings are counted by, see `_packed` and `gaps`."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

import numpy as np
import numpy.typing as npt

from rankwise._typing import FloatArray, IntArray
from rankwise.trees import _pair_bits_jit
from rankwise.trees.structure import TargetRows

#: bits of a word
WORD = _pair_bits_jit.WORD


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
        bits = np.zeros((len(positions), (n_planes + has_gaps) * ceil(len(first) / _pair_bits_jit.WORD)), np.uint64)
        squares = np.zeros(len(positions), np.int64)
        _pair_bits_jit.write_bits(np.ascontiguousarray(positions), first, second, n_planes, has_gaps, bits, squares)
        return cls(bits, squares, n_planes, has_gaps, len(first))
