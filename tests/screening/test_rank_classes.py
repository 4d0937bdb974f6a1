"""Rank classes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankwise.screening import rank_classes
from rankwise.screening.concordance import absolute_pearson
from tests.naive import screening as naive


@given(st.integers(2, 5), st.integers(0, 2**32 - 1))
def test_classes_are_equal_orders_up_to_sign(n, seed):
    X = np.random.default_rng(seed).integers(0, 3, (n, 8)).astype(float)
    X[:, 0] = np.arange(n)
    classes = rank_classes(X)
    expected = [[naive.same_order(a, b) for a in X.T] for b in X.T]
    np.testing.assert_array_equal(np.equal.outer(classes, classes), expected)


def test_numbers_count_up_in_the_order_of_columns(rng):
    x, z = rng.standard_normal((2, 20))
    np.testing.assert_array_equal(rank_classes(np.column_stack([z, x, np.exp(x), -(z**3), x + z])), [0, 1, 1, 0, 2])


def test_absolute_pearson(rng):
    rows, y = rng.standard_normal((5, 30)), rng.standard_normal(30)
    expected = [abs(np.corrcoef(row, y)[0, 1]) for row in rows]
    np.testing.assert_allclose(absolute_pearson(rows * 1e200, y - y.mean()), expected)
    assert absolute_pearson(np.ones((1, 30)), y - y.mean()) == 0


@pytest.mark.parametrize(
    ("X", "words"),
    [
        (3, "X has 0 dimensions; give a matrix"),
        (np.empty((5, 0)), r"X has shape \(5, 0\), and so no values; give one row and one feature"),
        (np.empty((0, 5)), r"X has shape \(0, 5\)"),
        ([[1.0, np.nan]], r"X\[0, 1\] is nan"),
    ],
)
def test_bad_input_is_refused(X, words):
    with pytest.raises(ValueError, match=words):
        rank_classes(X)
