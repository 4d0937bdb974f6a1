"""Linear rankers: losses by formula and finite differences, optima by other solvers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from rankwise.aggregation import BradleyTerry
from rankwise.datasets import make_retrieval
from rankwise.ltr import LinearRanker
from rankwise.ltr._linear_losses import make_flat_loss
from rankwise.ltr.losses import losses_of
from rankwise.metrics import ndcg_score
from rankwise.queries import QueryRows
from tests.naive import ltr as naive

LOSSES = losses_of("LinearRanker")
PAIRWISE = losses_of("LinearRanker", "pairwise")


@pytest.fixture(scope="module")
def data():
    X, y, qid, _ = make_retrieval(60, 5, docs_per_query=(1, 15), random_state=0)
    return X, y, qid


def small_rows():
    rng = np.random.default_rng(0)
    sizes = [1, 5, 4, 3]
    grade = rng.integers(0, 3, 13).astype(float)
    grade[10:] = 0  # no relevant row
    grade[1] = 2
    bounds = np.append(0, np.cumsum(sizes)).astype(np.intp)
    return QueryRows(np.zeros((13, 1)), grade, np.repeat([1.0, 2.0, 1.0, 1.0], sizes), bounds)


def value_by_formula(name, grades, score):
    """Loss of one query from its definition."""
    n = len(grades)
    pairs = [(i, j) for i in range(n) for j in range(n) if grades[i] > grades[j]]
    gaps = np.array([score[i] - score[j] for i, j in pairs])
    log_softmax = score - np.log(np.exp(score).sum())
    if name in PAIRWISE:
        if not pairs:
            return 0.0
        if name == "lambdarank":
            weights = naive.weight_matrix("ndcg", grades, score)
            return float(sum(weights[i, j] * np.log1p(np.exp(-(score[i] - score[j]))) for i, j in pairs))
        phi = {
            "pairwise_logistic": np.log1p(np.exp(-gaps)),
            "pairwise_hinge": np.maximum(1 - gaps, 0),
            "pairwise_squared_hinge": np.maximum(1 - gaps, 0) ** 2,
            "pairwise_squared": (1 - gaps) ** 2,
        }
        return phi[name].mean()
    if name == "listwise_listnet":
        return -np.sum(np.exp(grades) / np.exp(grades).sum() * log_softmax)
    if name == "listwise_softmax":
        return -np.sum(grades / grades.sum() * log_softmax) if grades.any() else 0.0
    ranked = score[np.argsort(-grades, kind="stable")]
    alpha = np.ones(n)
    if name == "listwise_plistmle":
        alpha = 2.0 ** (n - np.arange(1, n + 1)) - 1
        alpha = alpha / alpha[0] if n > 1 else alpha
    return sum(alpha[k] * (np.log(np.exp(ranked[k:]).sum()) - ranked[k]) for k in range(n))


@pytest.mark.parametrize("name", LOSSES)
def test_losses_are_their_formulas_and_gradients_their_differences(name):
    rows = small_rows()
    score = np.random.default_rng(1).normal(size=13)
    loss = make_flat_loss(name, rows, "exp", 10**6, np.random.default_rng(0))
    if loss.refresh:
        loss.refresh(score, 60)  # where the kink of the hinge is sharp
    value, gradient = loss.value_and_gradient(score)
    wanted = 0.0
    for a, b in zip(rows.bounds[:-1], rows.bounds[1:], strict=True):
        wanted += rows.weight[a] * value_by_formula(name, rows.grade[a:b], score[a:b])
    assert value == pytest.approx(wanted, rel=1e-10)
    for i in range(13):
        step = 1e-5 * np.eye(13)[i]
        slope = (loss.value_and_gradient(score + step)[0] - loss.value_and_gradient(score - step)[0]) / 2e-5
        assert gradient[i] == pytest.approx(slope, abs=1e-6)


def test_the_hinge_is_that_of_support_vector_machines(data):
    from sklearn.svm import LinearSVC

    X, y, qid = (part[data[2] <= 20] for part in data)
    ranker = LinearRanker("pairwise_hinge", C=2.0, standardize=False, random_state=0).fit(X, y, qid)
    pairs = np.array([(i, j) for i in range(len(y)) for j in np.flatnonzero((qid == qid[i]) & (y < y[i]))])
    share = 1 / np.bincount(qid[pairs[:, 0]])[qid[pairs[:, 0]]]  # the mean over the pairs of a query
    apart = X[pairs[:, 0]] - X[pairs[:, 1]]
    machine = LinearSVC(loss="hinge", C=2.0, fit_intercept=False, tol=1e-8, max_iter=10**6, random_state=0)
    machine.fit(np.concatenate([apart, -apart]), np.repeat([1, -1], len(apart)), np.tile(share / 2, 2))

    def cost(beta):
        return beta @ beta / 2 + 2.0 * share @ np.maximum(0, 1 - apart @ beta)

    assert cost(machine.coef_[0]) <= cost(ranker.coef_) + 1e-6
    assert cost(ranker.coef_) == pytest.approx(cost(machine.coef_[0]), rel=1e-4)
    path = LinearRanker("pairwise_hinge", standardize=False, random_state=0).path(X, y, qid, Cs=[0.1, 2.0])
    assert cost(path[1]) == pytest.approx(cost(machine.coef_[0]), rel=1e-4)


@pytest.mark.parametrize("name", ["pairwise_squared_hinge", "pairwise_squared"])
@given(seed=st.integers(0, 10**6), n_grades=st.sampled_from([2, 3, 50]), spread=st.sampled_from([0.1, 1.0, 1000.0]))
def test_sums_of_margins_are_those_of_listed_pairs(name, seed, n_grades, spread):
    rng = np.random.default_rng(seed)
    sizes = [1, 12, 7]
    grade = rng.integers(0, n_grades, 20).astype(float)
    grade[1:3] = 0, 1
    score = np.round(spread * rng.normal(size=20), 1) + 5  # with equal ones
    rows = QueryRows(np.zeros((20, 1)), grade, rng.random(20), np.append(0, np.cumsum(sizes)).astype(np.intp))
    value, gradient = make_flat_loss(name, rows, "exp", 10, rng).value_and_gradient(score)
    parts = [
        naive.margin_loss(grade[a:b], score[a:b], rows.weight[a:b], name == "pairwise_squared_hinge")
        for a, b in zip(rows.bounds[:-1], rows.bounds[1:], strict=True)
    ]
    assert value == pytest.approx(sum(part[0] for part in parts), rel=1e-9, abs=1e-9 * spread)
    np.testing.assert_allclose(gradient, np.concatenate([part[1] for part in parts]), rtol=1e-9, atol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["pairwise_squared_hinge", "pairwise_squared"])
def test_one_query_of_many_documents_trains(name):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200_000, 5))
    y = np.round(X @ [1.0, -0.5, 0, 0, 0.2] + rng.normal(size=200_000))  # some ten billion pairs
    ranker = LinearRanker(name, C=100.0, random_state=0).fit(X, y)
    np.testing.assert_allclose(ranker.coef_ / ranker.coef_[0], [1, -0.5, 0, 0, 0.2], atol=0.02)


@pytest.mark.parametrize("name", LOSSES)
def test_every_loss_learns_the_same_from_rows_in_any_order(data, name):
    X, y, qid = data
    ranker = LinearRanker(name, random_state=0).fit(X, y, qid)
    by_chance = ndcg_score(y, np.zeros(len(y)), qid, k=10, gain="exp")
    assert ranker.score(X, y, qid) > by_chance + 0.1
    shuffle = np.random.default_rng(0).permutation(len(y))
    names = np.array([f"q{q}" for q in qid], dtype=object)
    again = LinearRanker(name, random_state=0).fit(X[shuffle], y[shuffle], names[shuffle])
    np.testing.assert_array_equal(ranker.coef_, again.coef_)


@pytest.mark.parametrize(
    "name", ["pairwise_logistic", "pairwise_squared_hinge", "listwise_listnet", "listwise_softmax"]
)
def test_sparse_features_are_dense_ones(data, name):
    X, y, qid = data
    X = np.where(X > 0.5, X, 0.0)
    dense = LinearRanker(name, random_state=0, tol=1e-9).fit(X, y, qid)
    thin = LinearRanker(name, random_state=0, tol=1e-9).fit(sparse.csr_matrix(X), y, qid)
    np.testing.assert_allclose(thin.coef_, dense.coef_, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(thin.predict(sparse.csr_matrix(X)), X @ thin.coef_)


def test_logistic_is_logistic_regression_on_differences():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 3))
    pairs = rng.permutation(np.array([(i, j) for i in range(30) for j in range(30) if i != j]))[:200]
    ranker = LinearRanker(C=0.5, standardize=False, tol=1e-9).fit(X, pairs=pairs)
    differences = X[pairs[:, 0]] - X[pairs[:, 1]]
    both_ways = np.concatenate([differences, -differences])
    peer = LogisticRegression(C=0.25, fit_intercept=False, tol=1e-10, max_iter=1000)  # every pair is there twice
    peer.fit(both_ways, np.repeat([1, 0], 200))
    np.testing.assert_allclose(ranker.coef_, peer.coef_[0], atol=1e-5)


def test_without_features_it_is_the_model_of_bradley_and_terry():
    pairs = np.array([[0, 1], [0, 1], [1, 0], [1, 2], [2, 1], [2, 0], [0, 2], [0, 2]])
    ranker = LinearRanker(C=1e6, standardize=False, tol=1e-12).fit(np.eye(3), pairs=pairs)
    wins = np.zeros((3, 3))
    np.add.at(wins, (pairs[:, 0], pairs[:, 1]), 1)
    model = BradleyTerry().fit(wins)
    found, wanted = ranker.coef_ - ranker.coef_.mean(), model.log_worth_ - model.log_worth_.mean()
    np.testing.assert_allclose(found, wanted, atol=1e-4)


def test_weights_of_features_do_not_depend_on_their_units(data):
    X, y, qid = data
    plain = LinearRanker(tol=1e-9).fit(X, y, qid).coef_
    scaled = LinearRanker(tol=1e-9).fit(X * [1, 10, 100, 0.1, 1000], y, qid).coef_
    np.testing.assert_allclose(scaled * [1, 10, 100, 0.1, 1000], plain, rtol=1e-4)


def test_path_is_a_fit_for_each_value(data):
    Cs = [10.0, 0.01, 1.0]
    path = LinearRanker(tol=1e-9).path(*data, Cs=Cs)
    for C, coef in zip(Cs, path, strict=True):
        np.testing.assert_allclose(coef, LinearRanker(C=C, tol=1e-9).fit(*data).coef_, rtol=1e-4, atol=1e-7)
    assert np.linalg.norm(path[1]) < np.linalg.norm(path[2]) < np.linalg.norm(path[0])


def test_a_sample_of_pairs_is_nearly_as_good(data):
    X, y, qid = data
    whole = LinearRanker(random_state=0).fit(X, y, qid)
    part = LinearRanker(max_pairs=1500, random_state=0).fit(X, y, qid)
    assert np.corrcoef(whole.coef_, part.coef_)[0, 1] > 0.9


@pytest.mark.parametrize(
    ("options", "arguments", "message"),
    [
        ({"loss": "listwise_listnet"}, {"pairs": [[0, 1]]}, "needs relevance, not pairs"),
        ({"loss": "listwise_listmle"}, {"sample_weight": [1, 2, 1]}, "one weight per query"),
        ({"loss": "listwise_softmax"}, {"y": [-1, 0, 1]}, "needs relevance of 0 or more"),
        ({}, {"y": [1, 1, 1]}, "no query has two rows of different relevance"),
        ({"loss": "listwise_listnet"}, {"y": [1, 1, 1]}, "no query has two rows of different relevance"),
        ({"loss": "auc"}, {}, "loss"),
    ],
)
def test_bad_input_is_named(options, arguments, message):
    with pytest.raises(ValueError, match=message):
        LinearRanker(**options).fit([[0.0], [1.0], [2.0]], **{"y": [0, 1, 2]} | arguments)


def test_bad_values_of_the_path_are_named(data):
    with pytest.raises(ValueError, match="give positive numbers"):
        LinearRanker().path(*data, Cs=[0.0, 1.0])


@pytest.mark.parametrize("loss", ["pairwise_logistic", "listwise_listnet"])
def test_small_features_count_beside_a_large_one(loss):
    X, y, qid, _ = make_retrieval(60, random_state=0)
    stamp = 1.7e9 + np.random.default_rng(0).integers(0, 100, len(y))
    alone = LinearRanker(loss).fit(X * 1e-4, y, qid).score(X * 1e-4, y, qid)
    beside = LinearRanker(loss).fit(np.c_[X * 1e-4, stamp], y, qid)
    assert beside.score(np.c_[X * 1e-4, stamp], y, qid) > alone - 0.02


def test_sparse_columns_far_from_zero_vary_as_dense_ones_do():
    X, y, qid, _ = make_retrieval(30, random_state=0)
    far = np.c_[X[:, 0], X[:, 1] * 1e-3 + 1e6]
    dense, thin = LinearRanker().fit(far, y, qid), LinearRanker().fit(sparse.csr_matrix(far), y, qid)
    np.testing.assert_allclose(thin.coef_, dense.coef_, rtol=1e-3)


def test_a_path_leaves_a_fitted_ranker_as_it_is():
    rng = np.random.default_rng(0)
    X, qid = rng.normal(size=(40, 3)), np.repeat(np.arange(8), 5)
    y = (X[:, 0] > 0).astype(int)
    ranker = LinearRanker().fit(X, y, qid)
    before = ranker.predict(X)
    assert ranker.path(X[:, :2], y, qid, Cs=[0.1, 1.0]).shape == (2, 2)
    np.testing.assert_array_equal(ranker.predict(X), before)
    np.testing.assert_allclose(ranker.path(X, y, qid, Cs=[1.0])[0], ranker.coef_, rtol=1e-4)


def test_too_few_iterations_warn():
    rng = np.random.default_rng(0)
    X, qid = rng.normal(size=(40, 3)), np.repeat(np.arange(8), 5)
    with pytest.warns(ConvergenceWarning, match="L-BFGS stopped after max_iter=1"):
        LinearRanker(max_iter=1).fit(X, (X[:, 0] > 0).astype(int), qid)
