"""Trees with random thresholds on small whole numbers, such as how often an item is preferred, for `engine`."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

import numpy as np
import numpy.typing as npt

from rankwise._typing import FloatArray, IntArray
from rankwise.trees import _grow_sums_jit
from rankwise.trees._grow_jit import Features, Limits, Nodes
from rankwise.trees._grow_sums_jit import BEFORE, BUCKET, LARGEST, MISSING, PER_WORD, PlacedFeatures
from rankwise.trees.structure import LeafNumbers, TargetRows, Tree

# Rows, at least, whose sums fit into a word.
_FEWEST_AT_ONCE = 8
# Squared sums, at most.
_LARGEST_SQUARE = 2.0**62


@dataclass(frozen=True)
class WholeRows:
    """Rows whose trees can be grown by sums of whole numbers.

    Attributes
    ----------
    features : PlacedFeatures
        Features of all rows.
    vectors : ndarray of int16, shape (n, q)
        Their targets.
    """

    features: PlacedFeatures
    vectors: npt.NDArray[np.int16]

    @classmethod
    def of(cls, features: Features, targets: TargetRows) -> WholeRows | None:
        """The rows, if no feature is categorical and the targets are whole numbers from 0 to 32,767."""
        values = targets.values
        is_small = not targets.is_pairs and bool(((values >= 0) & (values < 2**15) & (values == np.rint(values))).all())
        if not is_small or features.is_categorical.any() or features.n_codes.max(initial=0) > MISSING:
            return None
        places = np.full(features.codes.shape, MISSING, np.uint16)
        buckets = np.empty((len(places), (MISSING + 1) // BUCKET + 1), np.int32)
        for f, (codes, first, n_codes) in enumerate(zip(features.codes, features.start, features.n_codes, strict=True)):
            of_codes = features.places[first : first + n_codes]
            places[f] = np.append(of_codes, np.uint16(MISSING))[codes]
            buckets[f] = np.searchsorted(of_codes, np.arange(0, MISSING + 2, BUCKET))
        above = np.roll(np.nextafter(features.lower, -np.inf), -1)
        last = (features.start + features.n_codes - 1)[features.n_codes > 0]
        ends = np.column_stack([features.upper, above])
        ends[last] = np.inf  # no value follows: only missing values go right
        known = features.n_codes, features.start, ends.ravel(), features.places
        return cls(PlacedFeatures(places, *known, buckets), values.astype(np.int16))

    def takes(self, weights: FloatArray) -> bool:
        """Whether weights are whole numbers, and sums do not overflow."""
        largest = max(float(self.vectors.max(initial=0)), 1.0)
        return bool(
            ((weights >= 1) & (weights == np.rint(weights))).all()
            and weights.max() * largest * _FEWEST_AT_ONCE <= LARGEST
            and (weights.sum() * largest) ** 2 * self.vectors.shape[1] <= _LARGEST_SQUARE
        )

    def grow(self, rows: IntArray, limits: Limits, weights: FloatArray, seed: int) -> tuple[Tree, LeafNumbers]:
        """Grow a tree with a random threshold for each feature, as `engine` does for any targets.

        Its leaves are not filled yet; the leaf of each row comes with it.
        """
        n, q, most = len(rows), self.vectors.shape[1], _grow_sums_jit.MOST_PRODUCTS
        n_words = 2 * ceil((BEFORE + q) / (2 * PER_WORD))  # two are added up at a time
        whole_weights = weights.astype(np.int64)
        targets = _grow_sums_jit.SumTargets(
            words=np.zeros((n_words, n), np.uint64),
            vectors=self.vectors[rows],
            squares=np.zeros(n, np.int64),
            weights=whole_weights,
            rows_at_once=int(LARGEST // (whole_weights.max() * max(int(self.vectors.max()), 1))),
        )
        _grow_sums_jit.pack(targets)
        nodes, leaf = Nodes.empty(2 * n - 1, 1, 1), np.zeros(n, np.int32)
        scratch = _grow_sums_jit.SumScratch(
            rows=np.arange(n),
            row_of=np.zeros(n, np.int64),
            order=np.zeros(n, np.int64),
            buffer=np.zeros(n, np.int64),
            moved=np.zeros(n, np.uint16),
            moved_words=np.zeros(n, np.uint64),
            base=np.zeros(2 * n - 1, np.int64),
            total=np.zeros(n_words * PER_WORD, np.int64),
            left=np.zeros(n_words * PER_WORD, np.int64),
            few=np.zeros(most, np.uint16),
            products=np.zeros((most, most), np.int64),
            own_weights=np.zeros(most, np.int64),
            own_squares=np.zeros(most, np.int64),
            along=np.zeros(most, np.int64),
            side=np.zeros(most, np.int64),
            candidates=np.arange(len(self.features.places)),
            frontier=np.zeros(2 * n - 1, np.int64),
        )
        features = self.features._replace(places=np.ascontiguousarray(self.features.places[:, rows]))
        with np.errstate(over="ignore"):  # hashes wrap around, which NumPy warns of where nothing is compiled
            n_nodes = _grow_sums_jit.grow_by_sums(features, targets, limits, np.uint64(seed), nodes, leaf, scratch)
        del features, targets, scratch  # copying what is kept takes memory
        return Tree(**nodes.kept(n_nodes), sets=nodes.sets[:0].copy()), leaf
