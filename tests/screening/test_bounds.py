"""The bound of theorem 10: its formula, its inverse, and that it holds."""

from __future__ import annotations

import math

import numpy as np
import pytest

from rankwise.datasets import make_symbolic_regression
from rankwise.screening import concordant_divergence, tree_ranking_bound
from rankwise.trees import LeastSquaresTree


def equation_16(epsilon, K, N, d, tv, distance, C, R, J):
    first = distance + tv**2 / (K + 3) + C * 2**K * math.log(N) ** 2 * math.log(N * d) / N
    return 1024 / epsilon**4 * first + 32 * (2 * R) * J / (epsilon**2 * math.sqrt(N))


@pytest.mark.parametrize("parts", [(7, 0, 1, 0, 0), (3, 0.2, 0.5, 17, 2), (1, 0, 0, 1, 1)])
def test_equation_16(parts):
    tv, distance, C, R, J = parts
    bound = tree_ranking_bound(
        5, 1000, 4, total_variation=tv, approximation=distance, constant=C, sup_norm=R, entropy=J
    )
    for epsilon in (0.3, 1, 40):
        assert bound.probability(epsilon) == pytest.approx(equation_16(epsilon, 5, 1000, 4, *parts))
    small = tree_ranking_bound(5, 1000, 4, total_variation=0.01, constant=0, sup_norm=0.02, entropy=0.1)
    for probability in (0.01, 0.05, 0.9):
        assert small.probability(small.loss(probability)) == pytest.approx(probability)


def test_beyond_4_the_loss_is_that_of_the_sharp_form():
    """There the paper's proof does not apply: the square of a quarter of the loss is larger than the quarter."""
    plain, sharp = (tree_ranking_bound(4, 1600, 3, total_variation=7, sharp=sharp) for sharp in (False, True))
    assert plain.loss(0.05) == sharp.loss(0.05) > 4


def test_keeping_the_square_root_is_sharper():
    """Equations 33 and 36 at epsilon / 8, in place of the squares that the proof takes."""
    parts = {"total_variation": 7, "sup_norm": 17, "entropy": 0.1}
    plain, sharp = (tree_ranking_bound(5, 1000, 4, **parts, sharp=sharp) for sharp in (False, True))
    error = sharp.variation + sharp.sampling
    epsilon = 2.5
    expected = 2 / (epsilon / 8) ** 2 * error + 2 * 34 * 0.1 / math.sqrt(1000) / (epsilon / 8)
    assert sharp.probability(epsilon) == pytest.approx(expected)
    assert sharp.probability(sharp.loss(0.2)) == pytest.approx(0.2)
    # The square of a loss below 4 is smaller than it, so that the paper's bound is larger, up to its factor of 2.
    for epsilon in (0.1, 1, 2.8):
        assert sharp.probability(epsilon) < plain.probability(epsilon)


def test_trees_lose_less_than_the_bound_says():
    """The mean of the data is additive with total variation 2 + 5; the parts that are left open only add to it."""
    bound = tree_ranking_bound(3, 200, 3, total_variation=7, constant=0, sharp=True)
    for seed in range(5):
        X, y, bunch = make_symbolic_regression(200, noise=1.0, random_state=seed)
        fit = LeastSquaresTree(max_depth=3).fit(X, y).predict(X)
        lost = concordant_divergence(fit, bunch.signal)
        assert lost <= 4 * np.sqrt(np.mean((fit - bunch.signal) ** 2))
        assert lost < bound.loss(0.05)


def test_nothing_to_lose():
    bound = tree_ranking_bound(3, 200, 3, total_variation=0, constant=0)
    assert bound.loss(0.5) == 0
    assert bound.probability(1.0) == 0
    assert tree_ranking_bound(3, 200, 3, total_variation=1).probability(0) == np.inf


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: tree_ranking_bound(0, 10, 1, total_variation=1), ValueError, "depth is 0"),
        (lambda: tree_ranking_bound(1, 1, 1, total_variation=1), ValueError, "n_samples is 1"),
        (lambda: tree_ranking_bound(1, 10, 1, total_variation=-1), ValueError, "total_variation is -1"),
        (lambda: tree_ranking_bound(1, 10, 1, total_variation=1).loss(0), ValueError, "probability is 0"),
        (lambda: tree_ranking_bound(1, 10, 1, total_variation=1).probability(-1), ValueError, "loss is -1"),
    ],
)
def test_bad_input_is_refused(call, error, words):
    with pytest.raises(error, match=words):
        call()
