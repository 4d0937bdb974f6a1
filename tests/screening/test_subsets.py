"""Best subsets, and how models are written."""

from __future__ import annotations

import numpy as np
import pytest

from rankwise.screening import (
    SubsetModel,
    best_subset,
)
from tests.naive import screening as naive


@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_best_subset_is_the_best(rng, size):
    X = rng.standard_normal((25, 8))
    X[:, 5] = X[:, 1] + X[:, 2]  # a combination of others
    y = rng.standard_normal(25) + X[:, 5]
    assert best_subset(X, y, size).rmse == pytest.approx(naive.best_subset_rmse(X, y, size))


def test_best_subset_with_weights_is_that_of_repeated_rows(rng):
    X, y = rng.standard_normal((20, 6)), rng.standard_normal(20)
    counts = rng.integers(1, 5, 20)
    copies = np.repeat(np.arange(20), counts)
    weighted, repeated = best_subset(X, y, 2, counts), best_subset(X[copies], y[copies], 2)
    assert weighted.columns.tolist() == repeated.columns.tolist()
    assert weighted.coef == pytest.approx(repeated.coef)
    assert (weighted.intercept, weighted.rmse) == pytest.approx((repeated.intercept, repeated.rmse))
    with pytest.raises(ValueError, match="one weight for each"):
        best_subset(X, y, 2, counts[1:])


def test_best_subset_of_huge_and_tiny_columns(rng):
    X = rng.standard_normal((30, 3)) * [1e200, 1.0, 1e-200]
    model = best_subset(X, X[:, 0] * 1e-200 + 2, 1)
    assert model.columns.tolist() == [0]
    assert model.coef * 1e200 == pytest.approx(1)
    assert model.intercept == pytest.approx(2)


def test_formula_of_a_model():
    columns, coef = np.array([0, 1, 2, 3]), np.array([1.5, -2.0, 1.0, 3.0])
    model = SubsetModel(columns, coef, 0.25, 0.0)
    assert model.formula(["2*x", "x + y", "|x|", "-y"]) == "0.25 + 1.5*(2*x) - 2*(x + y) + 1*|x| + 3*(-y)"


def test_best_subset_refuses_what_takes_too_long(rng):
    with pytest.raises(ValueError, match="too many to try"):
        best_subset(rng.standard_normal((10, 400)), rng.standard_normal(10), 6)
    with pytest.raises(ValueError, match="X has 3 columns"):
        best_subset(rng.standard_normal((10, 3)), rng.standard_normal(10), 4)
