"""The linear Plackett-Luce model: its likelihood, its gradient, its maximum."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from rankwise.aggregation import PlackettLuce
from rankwise.label_ranking import PlackettLuceRanker, _rankers_jit
from tests.label_ranking.test_every_ranker import make_data
from tests.naive import label_ranking as naive
from tests.strategies import KINDS, random_positions


@pytest.mark.parametrize("kind", KINDS)
def test_loss_and_gradient_equal_their_definitions(kind):
    rng = np.random.default_rng(0)
    y, scores = random_positions(rng, 20, 5, kind), rng.standard_normal((20, 5))
    weights = rng.integers(1, 4, 20).astype(float)
    order = np.argsort(y, axis=1, kind="stable")

    def loss(scores):
        return sum(w * naive.plackett_luce_loss(row, s) for w, row, s in zip(weights, y, scores, strict=True))

    value, gradient = _rankers_jit.plackett_luce_loss(y, order, weights, scores)
    assert value == pytest.approx(loss(scores))
    numeric = np.empty_like(scores)
    for cell in np.ndindex(scores.shape):
        step = np.zeros_like(scores)
        step[cell] = 1e-5
        numeric[cell] = (loss(scores + step) - loss(scores - step)) / 2e-5
    np.testing.assert_allclose(gradient, numeric, atol=1e-7)


def test_far_apart_scores_lose_no_digits():
    y, scores = np.array([[3.0, 2.0, 1.0]]), np.array([[2000.0, 1000.0, 0.0]])
    value, gradient = _rankers_jit.plackett_luce_loss(y, np.argsort(y, axis=1), np.ones(1), scores)
    assert value == 3000.0
    np.testing.assert_allclose(gradient, [[2.0, -1.0, -1.0]])


def test_without_features_it_is_the_plain_model():
    y = random_positions(np.random.default_rng(0), 50, 4, "full")
    ranker = PlackettLuceRanker(alpha=0.5, tol=1e-10).fit(np.zeros((50, 1)), y)
    np.testing.assert_allclose(ranker.intercept_, PlackettLuce(alpha=0.5).fit(y).log_worth_, atol=1e-5)
    np.testing.assert_array_equal(ranker.coef_, 0.0)


def test_it_finds_the_scores_that_made_the_rankings():
    rng = np.random.default_rng(0)
    X, coefficients = rng.standard_normal((4000, 2)), np.array([[1.0, 0.0], [0.0, -1.0], [-1.0, 1.0]])
    y = np.argsort(np.argsort(-(X @ coefficients.T + rng.gumbel(size=(4000, 3))), axis=1), axis=1) + 1.0
    ranker = PlackettLuceRanker(alpha=1e-3).fit(X, y)
    np.testing.assert_allclose(ranker.coef_ - ranker.coef_.mean(axis=0), coefficients, atol=0.1)


def test_it_says_when_it_did_not_arrive():
    with pytest.warns(ConvergenceWarning, match="raise max_iter"):
        PlackettLuceRanker(max_iter=1).fit(*make_data())
