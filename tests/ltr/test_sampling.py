"""Samples of rows for trees: shares that are kept, whole queries, and sums that are right on the average."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankwise.ltr.sampling import minimal_variance, sampled

BOUNDS = np.array([0, 3, 4, 10, 15, 20])


def derivatives(seed, n=20):
    rng = np.random.default_rng(seed)
    return rng.normal(size=n) * (rng.random(n) < 0.8), rng.random(n)


@pytest.mark.parametrize("kind", ["rows", "queries", "minimal_variance"])
def test_all_rows_are_seen_as_they_are(kind):
    gradient, hessian = derivatives(0)
    rows, *seen = sampled(kind, 1.0, BOUNDS, gradient, hessian, np.random.default_rng(0))
    np.testing.assert_array_equal(rows, np.arange(20))
    np.testing.assert_array_equal(seen, [gradient, hessian])


@given(seed=st.integers(0, 10**6), share=st.floats(0.01, 0.99))
def test_shares_of_rows_and_whole_queries(seed, share):
    gradient, hessian = derivatives(seed)
    rows, *seen = sampled("rows", share, BOUNDS, gradient, hessian, np.random.default_rng(seed))
    assert len(rows) == max(1, round(20 * share))
    assert (np.diff(rows) > 0).all()
    np.testing.assert_array_equal(seen, [gradient, hessian])
    rows, *_ = sampled("queries", share, BOUNDS, gradient, hessian, np.random.default_rng(seed))
    taken = [np.isin(np.arange(first, last), rows) for first, last in pairwise(BOUNDS)]
    assert all(own.all() or not own.any() for own in taken)
    assert sum(own.all() for own in taken) == max(1, round(5 * share))


def threshold_by_bisection(size, share):
    low, high = 0.0, size.sum() / (share * len(size)) + 1
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if np.minimum(1, size / middle).mean() > share else (low, middle)
    return high


@given(seed=st.integers(0, 10**6), share=st.floats(0.05, 0.75))
def test_probabilities_have_the_mean_wanted_and_follow_gradients(seed, share):
    gradient, hessian = derivatives(seed)
    found = minimal_variance(gradient, hessian, share)
    assert found.mean() == pytest.approx(share)
    size = np.sqrt(gradient**2 + (np.abs(gradient).mean() / hessian.mean() * hessian) ** 2)
    np.testing.assert_allclose(found, np.minimum(1, size / threshold_by_bisection(size, share)), rtol=1e-9)


def test_sums_are_right_on_the_average_and_vary_less_than_those_of_rows_at_random():
    gradient, hessian = derivatives(1, 200)
    gradient[:10] *= 20
    rng, sums, plain = np.random.default_rng(0), [], []
    for _ in range(2000):
        rows, own, _ = sampled("minimal_variance", 0.3, np.array([0, 200]), gradient, hessian, rng)
        assert not own[np.setdiff1d(np.arange(200), rows)].any()
        sums.append(own[:100].sum())
        rows, own, _ = sampled("rows", 0.3, np.array([0, 200]), gradient, hessian, rng)
        plain.append(own[rows[rows < 100]].sum() / 0.3)
    error = np.std(sums) / np.sqrt(len(sums))
    assert abs(np.mean(sums) - gradient[:100].sum()) < 4 * error
    assert np.std(sums) < 0.5 * np.std(plain)


@pytest.mark.parametrize(("gradient", "n_rows"), [(np.zeros(4), 4), (np.array([0, 3.0, 0, 0]), 1)])
def test_rows_without_gradients_are_not_needed(gradient, n_rows):
    rows, own, _ = sampled("minimal_variance", 0.5, np.array([0, 4]), gradient, np.zeros(4), np.random.default_rng(0))
    assert len(rows) == n_rows
    np.testing.assert_array_equal(own, gradient)
