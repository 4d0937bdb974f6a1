"""Pairs as bits against their definition."""

from __future__ import annotations

import numpy as np

from rankwise.trees._pair_bits import PairBits


def test_bits_and_squared_lengths_of_pairs():
    y = np.array([[1.0, 2.0, 3.0], [2.0, 1.0, 1.0], [1.0, 1.0, 1.0]])
    first, second = np.triu_indices(3, 1)
    pairs = PairBits.of(y, first, second)
    planes = (pairs.bits[:, :, None] >> np.arange(3, dtype=np.uint64)) & np.uint64(1)
    doubled = planes.sum(axis=1).astype(int)  # twice the share of the pair
    np.testing.assert_array_equal(doubled, [[2, 2, 2], [0, 0, 1], [1, 1, 1]])
    np.testing.assert_array_equal(pairs.squares, (doubled**2).sum(axis=1))


def test_bits_of_gaps():
    y = np.array([[1.0, np.inf, np.inf], [np.nan, 2.0, 1.0], [1.0, 1.0, np.nan]])
    pairs = PairBits.of(y, *np.triu_indices(3, 1))
    planes = (pairs.bits[:, :, None] >> np.arange(3, dtype=np.uint64)) & np.uint64(1)
    np.testing.assert_array_equal(planes[:, -1], [[1, 1, 0], [0, 0, 1], [1, 0, 0]])  # compared
    np.testing.assert_array_equal(planes[:, :-1].sum(axis=1), [[2, 2, 0], [0, 0, 0], [1, 0, 0]])
    np.testing.assert_array_equal(pairs.squares, [8, 0, 1])
