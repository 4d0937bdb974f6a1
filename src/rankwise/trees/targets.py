"""What a tree predicts: target vectors given as they are, or the pairs of rankings, never written out for all rows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from rankwise._state import BOOL, MATRIX, Saved, ensure
from rankwise._typing import FloatArray, IntArray
from rankwise.trees._grow_jit import Targets

# Entries of pair vectors that are written out at a time.
_BLOCK_ENTRIES = 4_000_000


@dataclass(frozen=True)
class TargetRows:
    """Target vectors of all rows; NaN coordinates are missing.

    Parameters
    ----------
    values : ndarray of shape (n, q), or positions of shape (n, n_items)
        With ``is_pairs`` the target of a row has one coordinate per pair i < j of items: 1 for i before j, 0 for j
        before i, 0.5 for a tie, missing where the ranking does not order the pair.
    is_pairs : bool
        Whether values are positions.
    """

    values: FloatArray
    is_pairs: bool = False

    _saved: ClassVar[Saved] = {"values": MATRIX, "is_pairs": BOOL}

    @property
    def size(self) -> int:
        """Number of coordinates."""
        width = self.values.shape[1]
        return width * (width - 1) // 2 if self.is_pairs else width

    @property
    def is_complete(self) -> bool:
        """Whether no coordinate of any row is missing."""
        if self.is_pairs:
            unlisted = np.isinf(self.values).sum(axis=1)
            return not np.isnan(self.values).any() and int(unlisted.max(initial=0)) <= 1
        return not np.isnan(self.values).any()

    @cached_property
    def distinct(self) -> tuple[TargetRows, IntArray]:
        """The different targets, and the number of that of each row."""
        values, number = np.unique(self.values, axis=0, return_inverse=True)
        return TargetRows(values, self.is_pairs), number

    def vectors(self, rows: slice) -> FloatArray:
        """Target vectors of some rows, written out."""
        values = self.values[rows]
        if not self.is_pairs:
            return values
        first, second = np.triu_indices(values.shape[1], 1)
        return _pair_vectors(values[:, first], values[:, second])

    def coordinates(self, block: slice) -> FloatArray:
        """Some coordinates of the target vectors of all rows, written out."""
        if not self.is_pairs:
            return self.values[:, block]
        first, second = np.triu_indices(self.values.shape[1], 1)
        return _pair_vectors(self.values[:, first[block]], self.values[:, second[block]])

    def mean(self, weights: FloatArray) -> FloatArray:
        """Weighted mean of each coordinate over the rows that have it; NaN where none has."""
        total, known = np.zeros(self.size), np.zeros(self.size)
        for rows in self.blocks():
            vectors = self.vectors(rows)
            has = ~np.isnan(vectors)
            total += weights[rows] @ np.where(has, vectors, 0.0)
            known += weights[rows] @ has
        return np.divide(total, known, out=np.full(self.size, np.nan), where=known > 0)

    def blocks(self) -> list[slice]:
        """Cut the rows into blocks that may be written out."""
        n = len(self.values)
        step = max(1, _BLOCK_ENTRIES // max(self.size, 1))
        return [slice(start, min(start + step, n)) for start in range(0, n, step)]

    def sketch(self, size: int, weights: FloatArray, rng: np.random.Generator) -> TargetRows:
        """Random projections of the centred vectors to ``size`` coordinates; missing coordinates count as the mean.

        Inner products, and with them the worth of splits, are kept in expectation.
        """
        directions = rng.choice([-1.0, 1.0], (self.size, size)) / np.sqrt(size)
        centre = np.nan_to_num(self.mean(weights))
        projected = np.empty((len(self.values), size))
        for rows in self.blocks():
            projected[rows] = np.nan_to_num(self.vectors(rows) - centre) @ directions
        return TargetRows(projected)

    def centred(self, weights: FloatArray) -> TargetRows:
        """The same splits with less rounding: sums of squares of numbers near zero. Pairs are small as they are."""
        return self if self.is_pairs else TargetRows(self.values - np.nan_to_num(self.mean(weights)))

    def for_kernels(self, weights: FloatArray) -> Targets:
        """The form that compiled code takes."""
        return Targets(
            np.ascontiguousarray(self.values, dtype=np.float64),
            self.is_pairs,
            self.size,
            self.is_complete,
            np.ascontiguousarray(weights, dtype=np.float64),
        )

    def _check_saved(self) -> None:
        ensure(self.is_complete, "a ranking in a leaf does not order all pairs")


def _pair_vectors(a: FloatArray, b: FloatArray) -> FloatArray:
    """1 where a comes before b, 0 where after, 0.5 where tied, NaN where a ranking does not say."""
    vectors = (a < b) + 0.5 * (a == b)
    vectors[~((a != b) | np.isfinite(a)) | np.isnan(a) | np.isnan(b)] = np.nan
    return vectors
