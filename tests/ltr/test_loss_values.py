"""Values of losses: the formulas, pair by pair; queries in any order; what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from rankwise.ltr import lambda_gradients, pair_gradients, pair_weights, ranking_loss
from rankwise.ltr.losses import LOSSES
from tests.naive import ltr as naive

NAMES = [loss.name for loss in LOSSES]
SHARES = ("pointwise_logistic", "query_cross_entropy")  # of the highest grade


def from_definition(name, score, grade):
    if name in ("pairwise_squared_hinge", "pairwise_squared"):
        return naive.margin_loss(grade, score, np.ones(len(grade)), name.endswith("hinge"))[0]
    if name in ("lambdarank", "lambdaloss", "yetirank"):
        weight = "ndcg" if name == "lambdarank" else name
        return naive.pairwise_loss(naive.weight_matrix(weight, grade, score), score)
    return naive.loss_of_query(name, score, grade)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("seed", range(5))
def test_values_are_those_of_the_definition(name, seed):
    rng = np.random.default_rng(seed)
    grade, score = rng.integers(0, 3, 6).astype(float), rng.normal(size=6)
    grade[0] = 2
    scaled = grade / 2 if name in SHARES else grade
    assert ranking_loss(grade, score, loss=name) == pytest.approx(from_definition(name, score, scaled))


@pytest.mark.parametrize("k", [None, 1, 3])
def test_weights_are_means_over_the_orders_of_equal_scores(k):
    rng = np.random.default_rng(0)
    grade, score = rng.integers(0, 3, 7).astype(float), rng.integers(0, 3, 7).astype(float)
    expected = naive.pairwise_loss(naive.weight_matrix("ndcg", grade, score, k=k), score)
    assert ranking_loss(grade, score, loss="lambdarank", k=k) == pytest.approx(expected)


def test_its_derivative_is_the_lambda_gradient():
    rng = np.random.default_rng(1)
    grade, score = rng.integers(0, 3, 8), rng.normal(size=8)
    gradient, _ = lambda_gradients(grade, score, gain="linear", k=4)
    step = 1e-6 * np.eye(8)
    up, down = (
        [ranking_loss(grade, score + sign * row, loss="lambdarank", k=4, gain="linear") for row in step]
        for sign in (1, -1)
    )
    np.testing.assert_allclose((np.array(up) - down) / 2e-6, gradient, atol=1e-6)


@pytest.mark.parametrize("k", [None, 2])
def test_weights_of_pairs(k):
    rng = np.random.default_rng(3)
    grade, score = rng.integers(0, 3, 14).astype(float), rng.integers(0, 5, 14).astype(float)
    qid = rng.permutation(np.repeat([5, 3], 7))
    pairs, weights = pair_weights(grade, score, qid, k=k)
    found = np.zeros((14, 14))
    found[tuple(pairs.T)] = weights
    expected = np.zeros((14, 14))
    for query in (5, 3):
        rows = np.flatnonzero(qid == query)
        expected[np.ix_(rows, rows)] = naive.weight_matrix("ndcg", grade[rows], score[rows], k=k)
    np.testing.assert_allclose(found, expected, atol=1e-12)
    assert (grade[pairs[:, 0]] > grade[pairs[:, 1]]).all()
    both = pair_gradients(pairs, score, weights), lambda_gradients(grade, score, qid, k=k)
    np.testing.assert_allclose(*both, atol=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_queries_lie_in_any_order_and_the_mean_is_over_them(name):
    rng = np.random.default_rng(2)
    grade, score = rng.integers(0, 3, 20).astype(float), rng.normal(size=20)
    qid = rng.permutation(np.repeat(["a", "b", "c", "d"], [9, 6, 4, 1]))
    grade[qid == "c"] = 0
    grade[np.argmax(qid == "a")] = 2  # the highest grade, by which one of the losses divides
    ids, values = ranking_loss(grade, score, qid, name, per_query=True)
    assert ids.tolist() == list(dict.fromkeys(qid.tolist()))
    assert ranking_loss(grade, score, qid, name) == pytest.approx(values.mean())
    for one, value in zip(ids, values, strict=True):
        rows = qid == one
        if name not in SHARES or one == "a":
            assert value == pytest.approx(ranking_loss(grade[rows], score[rows], loss=name))
    assert np.isfinite(values).all()
    alone = values[ids.tolist().index("d")]
    one_row = ("pointwise", "listwise_softmax", "listwise_listnet", "query_softmax", "query_cross_entropy")
    assert alone == 0 or name.startswith(one_row)


def test_large_scores_do_not_overflow():
    for name in NAMES:
        assert np.isfinite(ranking_loss([2, 0, 1, 1], [1e4, -1e4, 0.0, 5.0], loss=name))
    assert ranking_loss(np.arange(2000) % 3, np.zeros(2000), loss="listwise_plistmle") > 0


def test_mistakes_are_named():
    with pytest.raises(ValueError, match=r"loss is 'hinge'.*'pairwise_hinge'"):
        ranking_loss([0, 1], [0.0, 1.0], loss="hinge")
    with pytest.raises(ValueError, match=r"y_score\[1\] is inf; a loss needs finite scores"):
        ranking_loss([0, 1], [0.0, np.inf])
    with pytest.raises(ValueError, match="y_score"):
        ranking_loss([0, 1], [0.0])
    with pytest.raises(ValueError, match="listwise_softmax"):
        ranking_loss([-1, 1], [0.0, 1.0], loss="listwise_softmax")
    with pytest.raises(ValueError, match="a query has 9000 rows, and loss='pairwise_hinge' makes tables"):
        ranking_loss(np.arange(9000) % 2, np.zeros(9000), loss="pairwise_hinge")
