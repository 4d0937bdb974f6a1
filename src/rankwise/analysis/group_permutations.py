"""Who could have been in which group: all or random arrangements of labels, and sums over groups; for `compare_groups`.

If groups do not matter, every arrangement of the labels was as likely as the one that was seen, within each stratum
where there are strata. All tests of `compare_groups` look at the same arrangements. What they need are sums of columns
over the people of each group, and these are products of matrices: linear in the number of people.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from itertools import product
from math import exp, factorial, lgamma, prod

import numpy as np

from rankwise._typing import FloatArray, IntArray
from rankwise.analysis import group_permutations_jit

# About how many numbers a block of arrangements may hold.
_BLOCK_CELLS = 1 << 22


class Design:
    """The groups of people, their strata and their weights.

    Parameters
    ----------
    labels : ndarray of shape (n,)
        The number of the group of each person; the people of a stratum stand together.
    starts : ndarray of shape (n_strata + 1,)
        Where each stratum begins, and the end.
    weights : ndarray of shape (n,)
        Of mean 1 in each group.
    """

    def __init__(self, labels: IntArray, starts: IntArray, weights: FloatArray) -> None:
        self.labels = labels
        self.starts = starts
        self.weights = weights
        self.n_groups = int(labels.max()) + 1
        self.n_strata = len(starts) - 1
        self.sizes = np.bincount(labels)
        self.is_weighted = not np.all(weights == 1)

    @cached_property
    def strata(self) -> IntArray:
        """The number of the stratum of each person."""
        return np.repeat(np.arange(self.n_strata), np.diff(self.starts))

    def centered(self, columns: FloatArray) -> FloatArray:
        """Columns less their weighted means in each stratum; NaN is not known, and becomes 0."""
        known = ~np.isnan(columns)
        filled = np.where(known, columns, 0.0)
        weights = self.weights[:, np.newaxis]
        total = np.add.reduceat(weights * filled, self.starts[:-1], axis=0)
        weight = np.add.reduceat(weights * known, self.starts[:-1], axis=0)
        mean = np.divide(total, weight, out=np.zeros_like(total), where=weight > 0)
        return np.where(known, filled - np.repeat(mean, np.diff(self.starts), axis=0), 0.0)

    def n_arrangements(self, most: int) -> int | None:
        """In how many ways the labels can be arranged within strata; None if there are more than ``most``."""
        found = 1
        for first, end in zip(self.starts[:-1], self.starts[1:], strict=True):
            counts = np.bincount(self.labels[first:end])
            logarithm = lgamma(end - first + 1) - sum(lgamma(count + 1) for count in counts.tolist())
            if logarithm > 30 or exp(logarithm) * found > 2 * most:
                return None
            found *= factorial(end - first) // prod(factorial(count) for count in counts.tolist())
        return found if found <= most else None

    def n_blocks(self, n: int) -> int:
        """In how many blocks so many arrangements come."""
        return -(-n // max(1, _BLOCK_CELLS // len(self.labels)))

    def all_arrangements(self) -> Iterator[IntArray]:
        """Every arrangement of the labels within strata, in blocks."""
        strata = [
            _orders(self.labels[first:end].tolist())
            for first, end in zip(self.starts[:-1], self.starts[1:], strict=True)
        ]
        rows = [np.concatenate(parts) for parts in product(*strata)]
        size = max(1, _BLOCK_CELLS // len(self.labels))
        for first in range(0, len(rows), size):
            yield np.array(rows[first : first + size], dtype=np.int8)

    def random_arrangements(self, n: int, rng: np.random.Generator) -> Iterator[IntArray]:
        """Random arrangements of the labels within strata, in blocks."""
        size = max(1, _BLOCK_CELLS // len(self.labels))
        labels: IntArray = self.labels.astype(np.int8)  # of one byte
        for first in range(0, n, size):
            uniforms = rng.random((min(size, n - first), len(labels)))
            shuffled: IntArray = np.empty(uniforms.shape, dtype=labels.dtype)
            group_permutations_jit.shuffle_labels(labels, self.starts, uniforms, shuffled)
            yield shuffled

    def sums(self, arrangements: IntArray, columns: FloatArray) -> FloatArray:
        """Sums of the columns over the people of each group: (n_arrangements, n_groups, n_columns)."""
        result = np.empty((len(arrangements), self.n_groups, columns.shape[1]))
        for group in range(self.n_groups - 1):
            np.matmul((arrangements == group).astype(np.float64), columns, out=result[:, group])
        result[:, -1] = columns.sum(axis=0) - result[:, :-1].sum(axis=1)
        return result


def _orders(labels: list[int]) -> list[IntArray]:
    """All different orders of labels."""
    found: list[list[int]] = [[]]
    counts = {label: labels.count(label) for label in sorted(set(labels))}
    for _ in labels:
        found = [[*row, label] for row in found for label, count in counts.items() if row.count(label) < count]
    return [np.array(row, dtype=np.int8) for row in found]
