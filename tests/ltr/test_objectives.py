"""Objectives of boosting: derivatives of the losses they are named for, laws, gradient boosting, and functions."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from rankwise.datasets import make_retrieval
from rankwise.ltr import LambdaMART, lambda_gradients, ranking_loss
from rankwise.ltr.losses import losses_of
from rankwise.ltr.objectives import custom, objective_of_rows, plain_gradient
from rankwise.queries import QueryRows

NAMES = [name for name in losses_of("LambdaMART") if name not in losses_of("LambdaMART", "pairwise")]
LISTWISE = losses_of("LambdaMART", "listwise")


@pytest.fixture(scope="module")
def rows():
    """Queries of several lengths: one row alone, one without relevant rows; no two rows of a query of one grade."""
    rng = np.random.default_rng(0)
    grade = np.concatenate([[1.0], rng.permutation([0.0, 1, 2, 3, 0.5]), np.zeros(3), rng.permutation([0.0, 1, 2, 3])])
    bounds = np.array([0, 1, 6, 9, 13])
    return QueryRows(rng.normal(size=(13, 2)), grade, np.repeat([1.0, 2.0, 0.5, 3.0], np.diff(bounds)), bounds)


def loss_of_all(name, rows, score):
    """What an objective minimizes: the stated loss of each query, once or for each row, times the query's weight."""
    grade, factor = rows.grade, 1.0
    if name == "pointwise_squared":
        grade = grade - np.average(grade, weights=rows.weight)
    _, values = ranking_loss(grade, score, rows.query, name, per_query=True)
    if not name.startswith("listwise") and name != "query_softmax":  # means over rows; squares count half
        factor = np.diff(rows.bounds) * (0.5 if name in ("pointwise_squared", "query_rmse") else 1.0)
    return np.sum(rows.weight[rows.bounds[:-1]] * factor * values)


@pytest.mark.parametrize("name", NAMES)
def test_gradients_are_differences_of_the_stated_loss(name, rows):
    if name in ("listwise_listmle", "listwise_plistmle"):
        # The order of rows of equal relevance is drawn: only queries without them.
        rows = QueryRows(rows.X[:6], rows.grade[:6], rows.weight[:6], rows.bounds[:3])
    score = np.random.default_rng(1).normal(size=len(rows.grade))
    gradient, hessian = objective_of_rows(name, rows, "exp")(score, np.random.default_rng(0))
    step = 1e-4
    for row in range(len(score)):
        below, here, above = (
            loss_of_all(name, rows, score + shift * (np.arange(len(score)) == row)) for shift in (-step, 0, step)
        )
        assert gradient[row] == pytest.approx((above - below) / (2 * step), abs=2e-6)
        if name != "listwise_approx_ndcg":  # whose second derivative is a bound that holds the slopes of places fixed
            assert hessian[row] == pytest.approx((above - 2 * here + below) / step**2, abs=2e-6)
    assert (hessian >= 0).all()


def test_approximate_ndcg_curves_at_most_as_the_sum_of_its_sigmoids(rows):
    score = np.random.default_rng(2).normal(size=len(rows.grade)) / 5
    _, hessian = objective_of_rows("listwise_approx_ndcg", rows, "exp")(score, np.random.default_rng(0))
    wanted = np.zeros(len(score))
    for a, b in pairwise(rows.bounds):
        gains = 2 ** rows.grade[a:b] - 1
        ideal = np.sort(gains)[::-1] @ (1 / np.log2(np.arange(2, b - a + 2)))
        if ideal == 0:
            continue
        share = 1 / (1 + np.exp((score[a:b, None] - score[a:b]) / 0.1))
        place = 1 + share.sum(axis=1) - 0.5
        slope = rows.weight[a] * gains / ideal * np.log(2) / ((1 + place) * np.log(1 + place) ** 2)
        bend = abs(slope[:, None] - slope) * share * (1 - share) / 0.1**2
        wanted[a:b] = bend.sum(axis=1)
    np.testing.assert_allclose(hessian, wanted, rtol=1e-9)


def test_the_order_of_equally_relevant_rows_is_drawn_for_each_tree(rows):
    objective = objective_of_rows("listwise_listmle", rows, "exp")
    score = np.zeros(len(rows.grade))
    draws = [objective(score, np.random.default_rng(seed))[0] for seed in range(2000)]
    zeros = slice(6, 9)  # three rows of one grade: on average, none of them is better
    assert not np.array_equal(draws[0], draws[1])
    np.testing.assert_allclose(np.mean(draws, axis=0)[zeros], 0, atol=0.03)


def test_query_softmax_weighs_rows_like_copies():
    grade, score = np.array([2.0, 1, 0, 0]), np.array([0.3, -0.2, 0.5, 0.5])
    bounds, X = np.array([0, 4]), np.zeros((4, 1))
    weighted = QueryRows(X[:3], grade[:3], np.array([1.0, 1.0, 2.0]), np.array([0, 3]))
    one = objective_of_rows("query_softmax", weighted, "exp")(score[:3], np.random.default_rng(0))[0]
    two = objective_of_rows("query_softmax", QueryRows(X, grade, np.ones(4), bounds), "exp")
    many = two(score, np.random.default_rng(0))[0]
    np.testing.assert_allclose(one, [many[0], many[1], many[2] + many[3]], rtol=1e-12)


def test_queries_of_extreme_grades_say_nothing_about_differences():
    """All rows as relevant as can be, or not at all: no finite shift fits best, and nothing is to learn from them."""
    grade, bounds = np.array([1.0, 1, 0, 0, 1, 0]), np.array([0, 2, 4, 6])
    objective = objective_of_rows("query_cross_entropy", QueryRows(np.zeros((6, 1)), grade, np.ones(6), bounds), "exp")
    gradient, hessian = objective(np.array([5.0, -3, 1, 2, 0.1, 0.2]), np.random.default_rng(0))
    np.testing.assert_allclose(gradient[:4], 0, atol=1e-12)
    np.testing.assert_allclose(hessian[:4], 0, atol=1e-12)
    assert gradient[4] < 0 < gradient[5]


@pytest.mark.parametrize("tree", ["leaf", "level"])
@pytest.mark.parametrize("objective", [*NAMES, "yetirank", "lambdaloss"])
def test_order_of_rows_queries_of_no_weight_and_threads_do_not_matter(objective, tree):
    X, y, qid, _ = make_retrieval(40, 5, docs_per_query=(1, 12), random_state=0)
    plain = LambdaMART(6, objective=objective, tree=tree, random_state=0).fit(X, y, qid)
    more = np.concatenate([X, X[:20] + 1]), np.concatenate([y, y[:20]]), np.concatenate([qid, qid[:20] + 1000])
    weight = (more[2] < 1000).astype(float)
    shuffle = np.random.default_rng(1).permutation(len(weight))
    other = LambdaMART(6, objective=objective, tree=tree, n_jobs=2, random_state=0)
    other.fit(*(part[shuffle] for part in more), sample_weight=weight[shuffle])
    np.testing.assert_array_equal(plain.predict(X), other.predict(X))
    assert len(np.unique(plain.predict(X))) > 5


@pytest.mark.parametrize("objective", LISTWISE)
def test_weights_within_a_query_are_refused_by_losses_of_lists(objective):
    X, y, qid, _ = make_retrieval(5, 3, random_state=0)
    with pytest.raises(ValueError, match=f"sample_weight differs within a query; '{objective}' takes one weight per"):
        LambdaMART(2, objective=objective).fit(X, y, qid, sample_weight=np.arange(len(y)) + 1.0)


def test_gradient_boosting_fits_gradients_in_units_of_the_mean_second_derivative(rows):
    newton = objective_of_rows("listwise_softmax", rows, "exp")
    score = np.random.default_rng(3).normal(size=len(rows.grade))
    gradient, hessian = newton(score, np.random.default_rng(0))
    plain, flat = plain_gradient(newton, rows)(score, np.random.default_rng(0))
    np.testing.assert_array_equal(plain, gradient)
    np.testing.assert_allclose(flat / rows.weight, hessian.sum() / rows.weight.sum())


def test_gradient_boosting_is_newton_boosting_of_squares():
    X, y, qid, _ = make_retrieval(40, 5, random_state=0)
    fits = [LambdaMART(10, objective="pointwise_squared", newton=newton).fit(X, y, qid) for newton in (True, False)]
    np.testing.assert_allclose(*(fit.predict(X) for fit in fits), atol=1e-9)
    fits = [LambdaMART(10, newton=newton, random_state=0).fit(X, y, qid) for newton in (True, False)]
    assert not np.allclose(*(fit.predict(X) for fit in fits))


def test_a_function_can_be_the_objective_and_the_metric():
    X, y, qid, _ = make_retrieval(60, 5, docs_per_query=(2, 12), random_state=0)
    seen = []

    def objective(y_true, y_score, qid):
        seen.append(len(np.unique(qid)))
        assert (np.diff(qid) >= 0).all()
        y_score[:] = y_score  # a copy, which the function may write to
        return lambda_gradients(y_true, y_score, qid, weight="none")

    def top_share(y_true, y_score, qid):
        return float(np.mean(y_true[np.argsort(-y_score, kind="stable")[:50]] > 0))

    options = {"n_estimators": 8, "random_state": 0, "early_stopping": True}
    own = LambdaMART(objective=objective, eval_metric=top_share, **options).fit(X, y, qid)
    plain = {"truncation": None, "gap_norm": False, "query_norm": False}
    ready = LambdaMART(objective="pairwise_logistic", **plain, **options).fit(X, y, qid)
    assert own.n_estimators_ == np.argmax(own.history_["validation"]) + 1
    own.n_estimators_ = ready.n_estimators_ = 8
    np.testing.assert_allclose(own.predict(X), ready.predict(X), atol=1e-6)
    assert set(seen) == {54}  # a tenth of the queries is held out


@pytest.mark.parametrize(
    ("found", "message"),
    [
        (lambda y, s, q: s, "objective must return two arrays: the gradient and the second derivative"),
        (lambda y, s, q: (s[:3], s), r"the gradient of objective must be 13 finite numbers.*its shape is \(3,\)"),
        (lambda y, s, q: (s, s + np.nan), "the second derivative of objective must be 13 finite numbers"),
        (lambda y, s, q: (s, s - 1), "objective returned the second derivative -1, but a Newton step needs 0 or more"),
    ],
)
def test_what_a_function_returns_is_checked(found, message, rows):
    with pytest.raises(ValueError, match=message):
        custom(found, rows)(np.zeros(13), np.random.default_rng(0))
