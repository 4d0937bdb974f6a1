"""Kernel ridge on pairs against the normal equations."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.preprocessing import StandardScaler

from rankwise.label_ranking import KernelRanker
from tests.label_ranking.test_every_ranker import make_data
from tests.naive import label_ranking as naive


def kernel_matrix(kind, A, B, unit):
    difference = A[:, None] - B[None]
    if kind == "rbf":
        return np.exp(-0.5 * (difference**2).sum(axis=2) / unit)
    if kind == "laplacian":
        return np.exp(-0.5 * np.abs(difference).sum(axis=2) / unit)
    return A @ B.T


def median_distance(kind, A):
    difference = A[:, None] - A[None]
    distance = np.abs(difference).sum(axis=2) if kind == "laplacian" else (difference**2).sum(axis=2)
    return np.median(distance[distance > 0])


@pytest.mark.parametrize("kind", ["rbf", "laplacian", "linear"])
def test_coefficients_solve_the_normal_equations(kind):
    X, y = make_data("tied")
    weights = 1.0 + np.arange(60) % 3
    scaler = StandardScaler().fit(X, sample_weight=weights)
    A, B = scaler.transform(X), scaler.transform(X[:7] + 0.1)
    unit = median_distance(kind, A)
    targets = np.array([naive.kemeny_vector(row) for row in y])
    P = KernelRanker(kind, alpha=0.7, gamma=0.5).fit(X, y, weights).predict_pairwise(X[:7] + 0.1)
    for pair, (i, j) in enumerate(naive.pairs(4)):
        mean = np.average(targets[:, pair], weights=weights)
        c = naive.kernel_ridge(kernel_matrix(kind, A, A, unit), targets[:, pair] - mean, weights, 0.7)
        expected = np.clip(mean + kernel_matrix(kind, B, A, unit) @ c, 0, 1)
        np.testing.assert_allclose(P[:, i, j], expected, atol=1e-8)


def test_a_function_as_kernel():
    X, y = make_data()
    own = KernelRanker(lambda A, B: A @ B.T, alpha=1.0).fit(X, y)
    np.testing.assert_allclose(
        own.predict_pairwise(X), KernelRanker("linear", alpha=1.0).fit(X, y).predict_pairwise(X), atol=1e-9
    )


def test_errors_of_rows_left_out_are_exact():
    X, y = make_data(n=30)
    ranker = KernelRanker("rbf", alpha=[0.1, 1.0], gamma=[0.5, 2.0]).fit(X, y)
    A = StandardScaler().fit_transform(X)
    unit = median_distance("rbf", A)
    targets = np.array([naive.kemeny_vector(row) for row in y])
    centred = targets - targets.mean(axis=0)
    for a, alpha in enumerate([0.1, 1.0]):
        errors = []
        for row in range(30):
            rest = np.arange(30) != row
            K = kernel_matrix("rbf", A[rest], A[rest], unit)
            c = np.column_stack([naive.kernel_ridge(K, t, np.ones(29), alpha) for t in centred[rest].T])
            errors.append(centred[row] - kernel_matrix("rbf", A[[row]], A[rest], unit)[0] @ c)
        assert ranker.loo_errors_[0, a] == pytest.approx(np.mean(np.square(errors)))
    best = np.unravel_index(np.argmin(ranker.loo_errors_), (2, 2))
    assert (ranker.gamma_, ranker.alpha_) == ([0.5, 2.0][best[0]], [0.1, 1.0][best[1]])


def test_unknown_pairs_are_no_error():
    X, y = make_data("incomplete", n=40)
    X, y = X[1:], y[1:]
    ranker = KernelRanker("rbf", alpha=1.0, gamma=0.5).fit(X, y)
    kept = [r for r in range(39) if not np.isnan(naive.kemeny_vector(y[r])).all()]
    A = StandardScaler().fit_transform(X[kept])
    K = kernel_matrix("rbf", A, A, median_distance("rbf", A))
    targets = np.array([naive.kemeny_vector(y[r]) for r in kept])
    P = ranker.predict_pairwise(X[kept])
    for pair, (i, j) in enumerate(naive.pairs(4)):
        known = ~np.isnan(targets[:, pair])
        mean = targets[known, pair].mean()
        c = naive.kernel_ridge(K[np.ix_(known, known)], targets[known, pair] - mean, np.ones(known.sum()), 1.0)
        np.testing.assert_allclose(P[:, i, j], np.clip(mean + K[:, known] @ c, 0, 1), atol=1e-3)


def test_landmarks_approach_the_kernel():
    X, y = make_data(n=200)
    exact = KernelRanker("rbf", alpha=0.1, gamma=0.3).fit(X, y).predict_pairwise(X)
    few, many = (
        KernelRanker("rbf", alpha=0.1, gamma=0.3, n_landmarks=m, random_state=0).fit(X, y).predict_pairwise(X)
        for m in (5, 99)
    )
    assert np.abs(many - exact).max() < 0.02 < np.abs(few - exact).max()
    linear = KernelRanker("linear", alpha=1.0).fit(X, y).predict_pairwise(X)
    landmarks = KernelRanker("linear", alpha=1.0, n_landmarks=10, random_state=0).fit(X, y).predict_pairwise(X)
    np.testing.assert_allclose(landmarks, linear, atol=1e-8)


@pytest.mark.parametrize("bad", [{"alpha": []}, {"alpha": [1.0, -1.0]}, {"gamma": [[1.0]]}])
def test_bad_lists(bad):
    with pytest.raises(ValueError, match="several to choose from"):
        KernelRanker(**bad).fit(*make_data())
