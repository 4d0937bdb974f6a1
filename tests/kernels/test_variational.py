"""The variational classifier: its bound against the exact evidence and a brute-force optimum, failed fits, checks."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import multivariate_normal, norm
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process.kernels import RBF, ConstantKernel
from sklearn.utils.estimator_checks import parametrize_with_checks

from rankwise.datasets import make_food_preferences
from rankwise.kernels import GraphCutKernel, KendallKernel, MallowsKernel, VariationalClassifier, finite_positions
from rankwise.kernels.variational import _best_posterior, _Fit


def prior(seed: int, n: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    root = rng.standard_normal((n, n))
    return root @ root.T + 0.1 * np.eye(n), rng.choice([-1.0, 1.0], n)


def log_evidence(gram: np.ndarray, signs: np.ndarray) -> float:
    """log of the mean of the product of Phi(y f): the probability that all y (f + noise) are positive."""
    turned = np.outer(signs, signs) * (gram + np.eye(len(gram)))
    return float(np.log(multivariate_normal.cdf(np.zeros(len(gram)), np.zeros(len(gram)), turned, abseps=1e-6)))


def elbo(gram: np.ndarray, signs: np.ndarray, mean: np.ndarray, root: np.ndarray) -> float:
    """By its definition, for q with any mean and covariance, each expectation on a fine grid."""
    covariance, inverse, n = root @ root.T, np.linalg.inv(gram), len(mean)
    z = np.linspace(-9, 9, 1001)[:, None]
    likelihood = (norm.pdf(z) * norm.logcdf(signs * (mean + z * np.diagonal(covariance) ** 0.5))).sum() * 18 / 1000
    logs = np.linalg.slogdet(gram)[1] - np.linalg.slogdet(covariance)[1]
    return likelihood - 0.5 * (np.trace(inverse @ covariance) + mean @ inverse @ mean - n + logs)


@pytest.mark.parametrize(("seed", "n"), [(0, 1), (1, 1), (2, 2), (4, 2), (3, 3)])
def test_the_bound_is_the_best_over_all_normal_distributions(seed, n):
    gram, signs = prior(seed, n)
    rows, columns = np.tril_indices(n)

    def loss(numbers):
        root = np.zeros((n, n))
        root[rows, columns] = numbers[n:]
        return -elbo(gram, signs, numbers[:n], root)

    start = np.concatenate([np.zeros(n), np.linalg.cholesky(gram)[rows, columns]])
    best = -minimize(loss, start, method="BFGS", options={"gtol": 1e-6}).fun
    found = _best_posterior(gram, signs, 1e-12).elbo
    assert found == pytest.approx(best, abs=1e-5)
    assert found <= log_evidence(gram, signs) + 1e-5


@pytest.mark.parametrize("n", [1, 2, 3])
def test_the_bound_lies_below_the_evidence_and_close_to_it(n):
    for seed in range(3):
        gram, signs = prior(seed, n)
        gap = log_evidence(gram, signs) - _best_posterior(gram, signs, 1e-10).elbo
        assert -1e-5 <= gap < 0.1


def test_a_singular_covariance_is_the_limit_of_regular_ones():
    rows = make_food_preferences(40, random_state=0)[0].positions
    gram, signs = GraphCutKernel()(rows), np.resize([-1.0, 1.0, 1.0], 40)
    assert np.linalg.matrix_rank(gram) < 8
    values = [_best_posterior(gram / 50 + jitter * np.eye(40), signs, 1e-10).elbo for jitter in (0, 1e-9)]
    assert values[0] == pytest.approx(values[1], abs=1e-6)


@pytest.mark.parametrize("kind", ["full", "non-exhaustive"])
def test_the_gradient_of_the_bound_is_its_difference_quotient(kind):
    length = None if kind == "full" else 5
    rankings, taste, dishes = make_food_preferences(30, kind=kind, length=length, random_state=0)
    graph_cut = GraphCutKernel(features=dishes.item_features, lengthscale=0.7, normalize=True)
    kernel = ConstantKernel(2.0) * graph_cut + ConstantKernel(0.5) * MallowsKernel(0.1)
    fit = _Fit(kernel, finite_positions(rankings), 2.0 * (taste == 2) - 1, 1e-13)
    theta = kernel.theta
    _, gradient = fit._loss(theta)
    for place in range(len(theta)):
        step = 1e-4 * np.eye(len(theta))[place]
        quotient = (fit._loss(theta + step)[0] - fit._loss(theta - step)[0]) / 2e-4
        assert gradient[place] == pytest.approx(quotient, abs=1e-4)


def test_it_learns_and_says_how_the_bound_grew():
    rankings, taste, _ = make_food_preferences(120, sigma=0.5, random_state=0)
    X = rankings.positions
    model = VariationalClassifier(ConstantKernel() * KendallKernel(normalize=True), random_state=0)
    model.fit(X[:80], taste[:80])
    assert model.score(X[80:], taste[80:]) > 0.8
    assert (np.diff(model.elbo_path_) > -1e-6).all()
    assert model.elbo_path_[-1] == pytest.approx(model.elbo_, abs=1e-3)
    assert model.elbo_ == pytest.approx(max(start.elbo for start in model.starts_))
    assert len(model.starts_) == 3
    assert not any(start.failed for start in model.starts_)
    mean, variance = model.latent(X[80:])
    assert (variance >= 0).all()
    np.testing.assert_array_equal(model.predict(X[80:]), model.classes_[(mean > 0).astype(int)])
    np.testing.assert_allclose(model.predict_proba(X[80:]).sum(axis=1), 1)


def test_a_collapsed_fit_is_named():
    rankings, _, _ = make_food_preferences(60, random_state=0)
    noise = np.random.default_rng(0).random(60) < 0.2  # nothing to learn, and most rows of one class
    kernel = ConstantKernel(1e-4, (1e-5, 1e-3)) * KendallKernel(normalize=True) + ConstantKernel()
    with pytest.warns(ConvergenceWarning, match=r"failed from all 2 starts.*k1__k1__constant_value.* at a bound"):
        model = VariationalClassifier(kernel, n_init=2, random_state=0).fit(rankings.positions, noise)
    assert all(start.failed and start.collapsed for start in model.starts_)
    assert set(model.predict(rankings.positions)) == {False}


@pytest.mark.parametrize(
    ("y", "message"), [([1, 1, 1], "one class"), ([1, 2, 3], "Only binary classification is supported")]
)
def test_bad_input(y, message):
    with pytest.raises(ValueError, match=message):
        VariationalClassifier().fit([[1, 2, 3], [3, 2, 1], [2, 1, 3]], y)


@parametrize_with_checks([VariationalClassifier(RBF(), n_init=1, max_iter=3)])
def test_it_is_a_scikit_learn_classifier(estimator, check):
    check(estimator)
