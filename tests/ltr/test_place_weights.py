"""What places count in p-ListMLE: the same in values, gradients and all three rankers."""

from __future__ import annotations

from importlib.util import find_spec

import numpy as np
import pytest

from rankwise.ltr import LambdaMART, LinearRanker, NeuralRanker, ranking_loss
from rankwise.ltr._linear_losses import make_flat_loss
from rankwise.ltr._listwise_losses import place_factors
from rankwise.ltr.objectives import objective_of_rows
from rankwise.queries import QueryRows

needs_torch = pytest.mark.skipif(find_spec("torch") is None, reason="PyTorch is not installed")
NAME = "listwise_plistmle"
# weights -> alpha(k, K) as the definition has it
WEIGHTS = {
    "exp": ("exp", lambda k, n: (2.0 ** (n - k) - 1) / (2.0 ** (n - 1) - 1) if n > 1 else 0.0),
    "log": ("log", lambda k, n: 1 / np.log2(1 + k)),
    "reciprocal": ("reciprocal", lambda k, n: 1 / k),
    "table": ([3.0, 0.0, 1.0], lambda k, n: {1: 3.0, 3: 1.0}.get(k, 0.0)),
    "function": (lambda k, n: n - k, lambda k, n: n - k),
}
CHOICES = pytest.mark.parametrize(("weights", "alpha"), WEIGHTS.values(), ids=WEIGHTS)


def loss_of(grade, score, alpha):
    """Of one query, from the definition."""
    ranked, n = score[np.argsort(-grade)], len(score)
    return sum(alpha(k, n) * (np.log(np.exp(ranked[k - 1 :]).sum()) - ranked[k - 1]) for k in range(1, n + 1))


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    sizes = [1, 5, 2, 4]
    grade = np.concatenate([rng.permutation(size) for size in sizes]).astype(float)
    bounds = np.append(0, np.cumsum(sizes))
    return QueryRows(rng.normal(size=(12, 2)), grade, np.repeat([1.0, 2.0, 0.5, 3.0], sizes), bounds)


@CHOICES
def test_values_and_gradients_follow_the_definition(rows, weights, alpha):
    def of_queries(score):
        parts = zip(rows.bounds[:-1], rows.bounds[1:], strict=True)
        return np.array([loss_of(rows.grade[a:b], score[a:b], alpha) for a, b in parts])

    def of_all(score):
        return of_queries(score) @ rows.weight[rows.bounds[:-1]]

    score = np.random.default_rng(1).normal(size=12)
    _, values = ranking_loss(rows.grade, score, rows.query, NAME, place_weights=weights, per_query=True)
    np.testing.assert_allclose(values, of_queries(score), rtol=1e-10, atol=1e-12)
    rng = np.random.default_rng(0)
    value, slope = make_flat_loss(NAME, rows, "exp", 100, rng, weights).value_and_gradient(score)
    assert value == pytest.approx(of_all(score))
    gradient, hessian = objective_of_rows(NAME, rows, "exp", weights)(score, rng)
    np.testing.assert_allclose(slope, gradient, atol=1e-12)
    for row, step in enumerate(1e-4 * np.eye(12)):
        below, here, above = of_all(score - step), of_all(score), of_all(score + step)
        assert gradient[row] == pytest.approx((above - below) / 2e-4, abs=2e-6)
        assert hessian[row] == pytest.approx((above - 2 * here + below) / 1e-8, abs=2e-6)


@needs_torch
@CHOICES
def test_networks_have_the_same_loss(rows, weights, alpha):
    import torch

    from rankwise.ltr._torch_losses import padded, plistmle_loss

    score = np.random.default_rng(1).normal(size=12)
    index, mask = padded(rows.bounds, np.arange(4), "cpu")
    found = plistmle_loss(torch.as_tensor(score)[index], torch.as_tensor(rows.grade)[index], mask, weights)
    _, wanted = ranking_loss(rows.grade, score, rows.query, NAME, place_weights=weights, per_query=True)
    np.testing.assert_allclose(found.numpy(), wanted, rtol=1e-10, atol=1e-12)


def test_one_place_is_the_softmax_of_the_one_relevant_row():
    rng = np.random.default_rng(0)
    X, qid, y = rng.normal(size=(80, 3)), np.repeat(np.arange(20), 4), np.zeros(80)
    y[4 * np.arange(20) + np.argmax(X[:, 0].reshape(20, 4) + rng.normal(size=(20, 4)), axis=1)] = 1
    for ranker in (LinearRanker("listwise_softmax"), LambdaMART(5, objective="listwise_softmax", random_state=0)):
        name = "loss" if isinstance(ranker, LinearRanker) else "objective"
        wanted = ranker.fit(X, y, qid).predict(X)
        ranker.set_params(**{name: NAME}, place_weights=[1.0])
        np.testing.assert_allclose(ranker.fit(X, y, qid).predict(X), wanted, atol=1e-5)
        by_place = ranker.set_params(place_weights="log").fit(X, y, qid).predict(X)
        assert abs(by_place - wanted).max() > 0.01


@needs_torch
def test_networks_learn_by_them():
    rng = np.random.default_rng(0)
    X, qid = rng.normal(size=(80, 3)), np.repeat(np.arange(20), 4)
    y = np.round(X[:, 0] - X[:, 0].min())
    options = {"n_epochs": 2, "early_stopping": False, "warm_start": False, "random_state": 0}
    first, second = (
        NeuralRanker(NAME, place_weights=weights, **options).fit(X, y, qid).predict(X) for weights in ("exp", [1.0])
    )
    assert abs(first - second).max() > 1e-3


@pytest.mark.parametrize(
    "weights", [[-1.0], [np.nan], [[1.0]], lambda k, n: -k, lambda k, n: 1.0], ids=["-1", "nan", "2d", "below 0", "one"]
)
def test_weights_that_are_none_are_refused(weights):
    with pytest.raises(ValueError, match=r"place_weights.* must be finite numbers of 0 or more"):
        place_factors(np.arange(1.0, 4.0), np.full(3, 3.0), weights)
