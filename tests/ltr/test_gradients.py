"""Lambda gradients: against exchanges of pairs, finite differences, and laws."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankwise.ltr import gradients, lambda_gradients
from rankwise.ltr.gradients import PairwiseLoss, pair_gradients
from tests.naive import ltr as naive

WEIGHTS = ["none", "ndcg", "dcg", "lambdaloss", "yetirank", "map", "mrr", "err", "precision", "recall", "hit_rate"]
AVERAGED = ["none", "ndcg", "dcg", "precision", "recall"]
CUT_AT_TEN = ("precision", "recall", "hit_rate")


@st.composite
def queries(draw, distinct=False, most=7):
    """Grades and scores of one query."""
    n = draw(st.integers(1, most))
    grades = draw(st.lists(st.integers(0, 3), min_size=n, max_size=n))
    if distinct:
        scores = draw(st.permutations([0.3 * i - 1 for i in range(n)]))
    else:
        scores = draw(st.lists(st.sampled_from([-1.0, 0.0, 0.5]), min_size=n, max_size=n))
    return np.array(grades, float), np.array(scores)


def expected(weight, grades, scores, sigma=1.0, k=None, truncation=None):
    if weight in CUT_AT_TEN and k is None:
        k = 10
    return naive.gradients(naive.weight_matrix(weight, grades, scores, k, truncation, grades.max()), scores, sigma)


@pytest.mark.parametrize("weight", WEIGHTS)
@given(query=queries(distinct=True), k=st.sampled_from([None, 1, 3]), truncation=st.sampled_from([None, 1, 3]))
def test_gradients_are_those_of_exchanged_pairs(weight, query, k, truncation):
    grades, scores = query
    found = lambda_gradients(grades, scores, weight=weight, k=k, truncation=truncation, sigma=1.5)
    wanted = expected(weight, grades, scores, 1.5, k, truncation)
    np.testing.assert_allclose(found, wanted, rtol=1e-10, atol=1e-13)


@pytest.mark.parametrize("weight", AVERAGED)
@given(query=queries(most=5), k=st.sampled_from([None, 1, 3]), truncation=st.sampled_from([None, 1, 3]))
def test_ties_are_averaged_over_all_orders(weight, query, k, truncation):
    grades, scores = query
    found = lambda_gradients(grades, scores, weight=weight, k=k, truncation=truncation, ties="average")
    wanted = expected(weight, grades, scores, k=k, truncation=truncation)
    np.testing.assert_allclose(found, wanted, rtol=1e-10, atol=1e-13)


@pytest.mark.parametrize("weight", WEIGHTS)
def test_random_ties_average_to_all_orders(weight):
    grades, scores = np.array([2.0, 0, 1, 0, 3]), np.array([0.0, 0.0, 0.0, 1.0, -1.0])
    rng = np.random.default_rng(0)
    found = np.mean(
        [lambda_gradients(grades, scores, weight=weight, k=2, ties="random", random_state=rng) for _ in range(2000)],
        axis=0,
    )
    np.testing.assert_allclose(found, expected(weight, grades, scores, k=2), atol=0.1)


@pytest.mark.parametrize("weight", WEIGHTS)
def test_gradients_are_finite_differences(weight):
    rng = np.random.default_rng(1)
    grades, scores = rng.integers(0, 4, 8).astype(float), rng.normal(size=8)
    weights = naive.weight_matrix(weight, grades, scores, 3, None, grades.max())
    gradient, hessian = lambda_gradients(grades, scores, weight=weight, k=3)
    step = 1e-4
    for i in range(8):
        values = [naive.pairwise_loss(weights, scores + shift * np.eye(8)[i]) for shift in (-step, 0, step)]
        assert gradient[i] == pytest.approx((values[2] - values[0]) / (2 * step), abs=1e-7)
        assert hessian[i] == pytest.approx((values[2] - 2 * values[1] + values[0]) / step**2, rel=1e-5, abs=1e-6)


@pytest.mark.parametrize("weight", WEIGHTS)
def test_several_queries_in_any_order_and_of_any_type(weight):
    rng = np.random.default_rng(2)
    sizes = [1, 6, 4, 5]
    labels = ["x", "7", "a b", "z"]
    grades = [rng.integers(0, 4, n).astype(float) for n in sizes]
    grades[2][:] = 0  # no relevant row
    grades[1][0] = 3  # the highest grade, on which err depends
    scores = [rng.normal(size=n) for n in sizes]
    wanted = np.concatenate(
        [naive.gradients(naive.weight_matrix(weight, g, s, 3, 2, 3), s) for g, s in zip(grades, scores, strict=True)], 1
    )
    shuffle = rng.permutation(16)
    found = lambda_gradients(
        np.concatenate(grades)[shuffle],
        np.concatenate(scores)[shuffle],
        np.repeat(labels, sizes)[shuffle],
        weight=weight,
        k=3,
        truncation=2,
    )
    np.testing.assert_allclose(found, wanted[:, shuffle], atol=1e-13)
    np.testing.assert_array_equal(np.array(found)[:, np.repeat(labels, sizes)[shuffle] == "x"], 0)


@pytest.mark.parametrize("weight", WEIGHTS)
@given(query=queries())
def test_gradients_of_a_query_sum_to_zero_and_hessian_is_not_negative(weight, query):
    gradient, hessian = lambda_gradients(*query, weight=weight, n_draws=2, random_state=0)
    assert abs(gradient.sum()) < 1e-9
    assert (hessian >= 0).all()


@pytest.mark.parametrize("weight", WEIGHTS)
def test_scores_far_apart_give_the_limit(weight):
    # Powers of e of such scores leave the range of numbers.
    grades, scores = np.array([0.0, 2, 1, 0]), np.array([2000.0, 1000, -1000, -2000])
    gradient, hessian = lambda_gradients(grades, scores, weight=weight)
    weights = naive.weight_matrix(weight, grades, scores, 10 if weight in CUT_AT_TEN else None, None, 2)
    np.testing.assert_allclose(gradient, [weights[:, 0].sum(), -weights[1, 0], -weights[2, 0], 0], atol=1e-12)
    np.testing.assert_array_equal(hessian, 0)


def test_the_two_ways_to_add_pairs_agree():
    grades, scores = np.array([0.0, 2, 1, 0, 1]), np.array([0.0, 1, 1.5, -0.5, -2])
    near = lambda_gradients(grades, scores)
    # One more row, far below and in no pair, widens the range of scores and changes nothing else.
    far = lambda_gradients(np.append(grades, 0.0), np.append(scores, -1000), sample_weight=[1, 1, 1, 1, 1, 0])
    np.testing.assert_allclose(np.array(far)[:, :5], near, rtol=1e-12)


def test_a_weight_of_all_rows_of_a_query_multiplies_it():
    rng = np.random.default_rng(3)
    y, score, qid = rng.integers(0, 3, 12), rng.normal(size=12), np.repeat([0, 1], 6)
    plain = np.array(lambda_gradients(y, score, qid))
    weighted = np.array(lambda_gradients(y, score, qid, sample_weight=np.where(qid == 0, 3.0, 1.0)))
    np.testing.assert_allclose(weighted, plain * np.where(qid == 0, 3.0, 1.0), rtol=1e-12)


def test_a_row_of_weight_two_is_the_row_twice_without_places():
    y, score = [2, 1, 0], np.array([0.3, 0.1, 0.2])
    twice = np.array(lambda_gradients([2, 1, 0, 0], [0.3, 0.1, 0.2, 0.2], weight="none"))
    weighted = np.array(lambda_gradients(y, score, weight="none", sample_weight=[1, 1, 4.0]))
    # A pair weighs the geometric mean of its rows: 2.
    np.testing.assert_allclose(weighted[:, :2], twice[:, :2], rtol=1e-12)


def test_noise_averages_over_rankings():
    grades, scores = np.array([2.0, 0, 1]), np.array([0.4, 0.0, -0.4])
    found = lambda_gradients(grades, scores, n_draws=20_000, random_state=0)
    # The probability of each ranking under Plackett and Luce.
    wanted, powers = 0.0, np.exp(scores)
    for order in naive.orders_of(np.zeros(3)):
        first, second = powers[order[0]] / powers.sum(), powers[order[1]] / (powers[order[1]] + powers[order[2]])
        places = np.argsort(order).astype(float)
        wanted = wanted + first * second * naive.weight_matrix("ndcg", grades, -places)
    np.testing.assert_allclose(found, naive.gradients(wanted, scores), atol=0.01)


def test_without_noise_one_draw_is_the_plain_gradient():
    y, score = [0, 2, 1, 0], [0.1, 0.2, 0.3, 0.4]
    drawn = lambda_gradients(y, score, n_draws=3, gumbel_scale=0.0)
    np.testing.assert_allclose(drawn, lambda_gradients(y, score), rtol=1e-12)


@pytest.mark.parametrize("weight", [weight for weight in WEIGHTS if weight != "yetirank"])
@pytest.mark.parametrize("options", [{"k": 1}, {"k": 2, "truncation": 3, "gap_norm": True}])
def test_sampled_pairs_average_to_all_pairs(weight, options):
    # Equal scores, averaged where they can be; many draws of one partner.
    rng = np.random.default_rng(5)
    tied = weight in AVERAGED
    y, qid = np.array([0.0, 2, 1, 0, 3, 0, 0, 1]), np.array([0, 0, 0, 0, 0, 1, 1, 1])
    score = np.array([0.0, 0.0, 0.5, 0.5, -1, 1, 1, 1]) if tied else np.array([0.0, 0.1, 0.5, 0.6, -1, 1, 1.1, 1.2])
    wanted = np.array(lambda_gradients(y, score, qid, weight=weight, **options))
    draws = np.array(
        [lambda_gradients(y, score, qid, weight=weight, n_pairs=1, random_state=rng, **options) for _ in range(1000)]
    )
    error = draws.std(axis=0) / np.sqrt(len(draws))
    np.testing.assert_array_less(abs(draws.mean(axis=0) - wanted), 4.5 * error + 1e-12)
    assert draws.std() > 0


def test_many_sampled_pairs_are_nearly_all_pairs_and_follow_the_seed():
    rng = np.random.default_rng(6)
    y, score = rng.integers(0, 4, 12), rng.normal(size=12)
    for scores in (score, 1000 * score):
        many = lambda_gradients(y, scores, n_pairs=20_000, query_norm=True, random_state=0)
        np.testing.assert_allclose(many, lambda_gradients(y, scores, query_norm=True), atol=0.02)
    first, again, other = (lambda_gradients(y, score, n_pairs=2, random_state=seed)[0] for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)


def test_normalisation_by_gap_and_query():
    grades, scores = np.array([0.0, 2, 1, 0, 1]), np.array([0.0, 1, 1.5, -0.5, -2])
    weights = naive.weight_matrix("ndcg", grades, scores) / (0.01 + abs(scores[:, None] - scores[None, :]))
    slope, bend = naive.gradients(weights, scores)
    np.testing.assert_allclose(lambda_gradients(grades, scores, gap_norm=True), [slope, bend], rtol=1e-10)
    wrong = 1 / (1 + np.exp(scores[:, None] - scores[None, :]))
    total = 2 * np.sum(weights * wrong)
    both = lambda_gradients(grades, scores, gap_norm=True, query_norm=True)
    np.testing.assert_allclose(both, np.array([slope, bend]) * np.log2(1 + total) / total, rtol=1e-10)


def test_gains_may_be_a_table_or_a_function():
    y, score = [0, 3, 1, 0], [0.1, 0.2, 0.3, 0.4]
    table = lambda_gradients(y, score, gain=[0, 1, 3, 7])
    np.testing.assert_allclose(table, lambda_gradients(y, score, gain="exp"))
    np.testing.assert_allclose(table, lambda_gradients(y, score, gain=lambda grades: 2**grades - 1))
    assert not np.allclose(table, lambda_gradients(y, score, gain="linear"))
    lambda_gradients([0.5, 2.25, -1.0], [0.0, 1.0, 2.0], weight="none")


def test_given_pairs():
    rng = np.random.default_rng(4)
    scores, pairs, weights = rng.normal(size=6), np.array([[0, 1], [0, 2], [5, 4], [1, 0]]), np.array([1.0, 2, 0.5, 3])
    matrix = np.zeros((6, 6))
    matrix[pairs[:, 0], pairs[:, 1]] = weights
    np.testing.assert_allclose(pair_gradients(pairs, scores, weights), naive.gradients(matrix, scores), rtol=1e-12)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"qid": [1]}, r"qid has shape \(1,\), but y_true has 3 rows"),
        ({"y_true": [0, np.nan, 1]}, r"y_true\[1\] is nan"),
        ({"y_true": [[0, 1, 2]]}, "one value per row"),
        ({"y_score": [0, np.inf, 1]}, r"y_score\[1\] is inf"),
        ({"y_score": [0, 1]}, r"y_score has shape \(2,\)"),
        ({"weight": "auc"}, "weight is 'auc'; choose"),
        ({"weight": "map", "ties": "average"}, "no closed form"),
        ({"ties": "first"}, "ties is 'first'"),
        ({"k": 0}, "k is 0"),
        ({"truncation": 0}, "truncation is 0"),
        ({"sigma": 0}, "sigma is 0"),
        ({"n_draws": -1}, "n_draws is -1"),
        ({"n_pairs": 0}, "n_pairs is 0"),
        ({"y_true": [0, -1, 1]}, "gains of 0 or more"),
        ({"sample_weight": [1, 2]}, "sample_weight has shape"),
    ],
)
def test_bad_input_is_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        lambda_gradients(**{"y_true": [0, 1, 2], "y_score": [0.0, 1.0, 2.0]} | arguments)


@pytest.mark.parametrize(
    ("pairs", "weight", "message"),
    [
        ([[0, 3]], None, r"pairs\[0, 1\] is 3, but rows are 0 to 2"),
        ([[0, 1], [-1, 1]], None, r"pairs\[1, 0\] is -1"),
        ([[1, 1]], None, "compares row 1 with itself"),
        ([[0, 1, 2]], None, "two whole numbers"),
        ([[0.0, 1.0]], None, "two whole numbers"),
        (np.empty((0, 2), int), None, "empty"),
        ([[0, 1]], [-1.0], "not negative"),
    ],
)
def test_bad_pairs_are_named(pairs, weight, message):
    with pytest.raises(ValueError, match=message):
        pair_gradients(pairs, [0.0, 1.0, 2.0], weight)


def test_too_many_pairs_are_refused_before_they_are_looked_at():
    grade, bounds = np.arange(10**6) % 2.0, np.array([0, 10**6])
    with pytest.raises(ValueError, match=r"1e\+12 pairs of rows .* longest query has 1000000 rows; set truncation"):
        PairwiseLoss.build(grade, bounds, np.ones(10**6))
    PairwiseLoss.build(grade, bounds, np.ones(10**6), truncation=30)
    PairwiseLoss.build(grade, bounds, np.ones(10**6), n_pairs=3)


@pytest.mark.parametrize("options", [{"truncation": 5}, {"n_draws": 2}, {"n_pairs": 3}, {"ties": "average"}])
def test_threads_compute_the_same_bits(options, monkeypatch):
    rng = np.random.default_rng(0)
    bounds = np.append(0, np.cumsum(rng.integers(1, 30, 50)))
    grade, score = rng.integers(0, 4, bounds[-1]).astype(float), np.round(rng.normal(size=bounds[-1]), 1)
    loss = PairwiseLoss.build(grade, bounds, np.ones(len(grade)), **options)
    assert loss.in_threads(map, 2) is loss  # too few rows
    monkeypatch.setattr(gradients, "_ROWS_FOR_THREADS", 1)
    with ThreadPoolExecutor(2) as threads:
        shared = loss.in_threads(threads.map, 2)
        assert len(shared.parts) == 8
        for found, expected in zip(
            shared(score, np.random.default_rng(1)), loss(score, np.random.default_rng(1)), strict=True
        ):
            np.testing.assert_array_equal(found, expected)
