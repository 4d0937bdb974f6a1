"""DyadRanker: its gradient, its limits, and people and items that it has never seen."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import approx_fprime, minimize
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, cross_val_score

import rankwise
from rankwise import Rankings
from rankwise.aggregation import PlackettLuce
from rankwise.label_ranking import DyadRanker, PlackettLuceRanker, _rankers_jit
from rankwise.metrics import kendall_tau_score
from tests.label_ranking.test_every_ranker import make_data
from tests.naive import label_ranking as naive
from tests.strategies import KINDS, random_positions

MODELS = [DyadRanker(alpha=0.1), DyadRanker("boosted", n_estimators=60)]


def worlds(n: int = 400, k: int = 12, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Features of people and items, and rankings by their match: near in the second feature is good."""
    rng = np.random.default_rng(seed)
    X, Z = rng.uniform(-1, 1, (n, 3)), rng.uniform(-1, 1, (k, 2))
    score = 3 * X[:, :1] * Z[:, 0] - 4 * np.abs(X[:, 1:2] - Z[:, 1]) + 0.5 * rng.gumbel(size=(n, k))
    return X, Z, np.argsort(np.argsort(-score, axis=1), axis=1) + 1.0


@pytest.mark.parametrize("kind", KINDS)
def test_the_bilinear_fit_minimizes_its_loss(kind: str) -> None:
    rng = np.random.default_rng(0)
    X, Z = rng.standard_normal((25, 2)), rng.standard_normal((4, 2))
    y = random_positions(rng, 25, 4, kind)
    y = y[Rankings(y).informative]
    X = X[: len(y)]
    ranker = DyadRanker(alpha=0.7, tol=1e-10).fit(X, y, item_features=Z)
    A = np.column_stack([np.ones(len(X)), (X - X.mean(axis=0)) / X.std(axis=0)])
    B = (Z - Z.mean(axis=0)) / Z.std(axis=0)

    def loss(flat: np.ndarray) -> float:
        scores = A @ flat.reshape(3, 2) @ B.T
        return sum(naive.plackett_luce_loss(row, s) for row, s in zip(y, scores, strict=True)) + 0.35 * flat @ flat

    found = minimize(loss, np.zeros(6), method="BFGS", options={"gtol": 1e-6}).x
    np.testing.assert_allclose(ranker.coef_.ravel(), found, atol=1e-4)
    np.testing.assert_allclose(approx_fprime(ranker.coef_.ravel(), loss, 1e-6), 0, atol=1e-3)


@pytest.mark.parametrize("kind", KINDS)
def test_curvatures_and_information_are_finite_differences_of_the_gradient(kind: str) -> None:
    rng = np.random.default_rng(1)
    y, scores = random_positions(rng, 12, 5, kind), rng.standard_normal((12, 5))
    weights = rng.integers(1, 4, 12).astype(float)
    order = np.argsort(y, axis=1, kind="stable")
    information = _rankers_jit.plackett_luce_information(y, order, weights, scores)
    curvature = _rankers_jit.plackett_luce_curvature(y, order, weights, scores)
    for i in range(5):
        step = np.zeros_like(scores)
        step[:, i] = 1e-5
        up, down = (_rankers_jit.plackett_luce_loss(y, order, weights, s)[1] for s in (scores + step, scores - step))
        numeric = (up - down) / 2e-5
        np.testing.assert_allclose(information[:, i], numeric, atol=1e-6)
        np.testing.assert_allclose(curvature[:, i], numeric[:, i], atol=1e-6)


def test_without_features_of_items_it_is_the_linear_model() -> None:
    X, y = make_data("incomplete")
    linear = PlackettLuceRanker(alpha=0.5, tol=1e-9).fit(X, y)
    ranker = DyadRanker(alpha=0.5, tol=1e-9).fit(X, y)
    np.testing.assert_allclose(ranker.predict_pairwise(X), linear.predict_pairwise(X), atol=1e-5)
    with pytest.raises(ValueError, match=r"fitted without item_features, .*only the items of the fit"):
        ranker.predict(X, item_features=np.eye(4))


@pytest.mark.parametrize("ranker", MODELS, ids=repr)
def test_unseen_items_are_ranked_for_unseen_people(ranker: DyadRanker) -> None:
    X, Z, y = worlds()
    known, new = np.arange(8), np.arange(8, 12)
    train = Rankings(y[:300, known])
    ranker.fit(X[:300], train, item_features=Z[known])
    truth = Rankings(y[300:, new])
    found = ranker.predict(X[300:], item_features=Z[new])
    assert found.shape == (100, 4)
    np.testing.assert_array_equal(np.sort(found, axis=1), np.tile([1, 2, 3, 4], (100, 1)))
    worth = PlackettLuce().fit(train, item_features=Z[known]).predict_log_worth(Z[new])
    same = np.tile(np.argsort(np.argsort(-worth)) + 1.0, (100, 1))
    baseline = kendall_tau_score(truth, Rankings(same))
    assert kendall_tau_score(truth, Rankings(found)) > max(baseline, 0.0) + 0.3
    P = ranker.predict_pairwise(X[300:], item_features=Z[new])
    assert P.shape == (100, 4, 4)
    np.testing.assert_allclose(P + P.transpose(0, 2, 1), 1.0)
    before = found[:, :, None] < found[:, None]
    assert np.all(P[before] >= 0.5)


def test_trees_find_what_products_do_not() -> None:
    X, Z, y = worlds(600)
    X, Z = X[:, 1:2], Z[:, 1:2]  # near is good: not linear in the product
    fits = [ranker.fit(X[:400], y[:400], item_features=Z).score(X[400:], y[400:]) for ranker in MODELS]
    assert fits[1] > fits[0] + 0.02


@pytest.mark.parametrize("ranker", MODELS, ids=repr)
def test_searches_take_features_as_a_parameter(ranker: DyadRanker) -> None:
    X, Z, y = worlds(90)
    direct = DyadRanker(**{**ranker.get_params(), "item_features": None}).fit(X, y, item_features=Z)
    ranker = DyadRanker(**{**ranker.get_params(), "item_features": Z})
    np.testing.assert_array_equal(ranker.fit(X, y).predict(X), direct.predict(X))
    assert cross_val_score(ranker, X, y, cv=3, error_score="raise").mean() > 0.3
    search = GridSearchCV(ranker, {"alpha": [0.1, 1.0]}, cv=2, error_score="raise").fit(X, y)
    np.testing.assert_array_equal(search.best_estimator_.item_features_, Z)


@pytest.mark.parametrize("ranker", MODELS, ids=repr)
def test_a_saved_ranker_ranks_new_items_the_same(ranker: DyadRanker, tmp_path) -> None:
    X, Z, y = worlds(60)
    ranker = DyadRanker(**{**ranker.get_params(), "item_features": Z}).fit(X, y)
    rankwise.save(ranker, tmp_path / "model.rankwise")
    loaded = rankwise.load(tmp_path / "model.rankwise")
    new = np.random.default_rng(5).normal(size=(6, 2))
    expected = ranker.predict_pairwise(X, item_features=new)
    np.testing.assert_array_equal(loaded.predict_pairwise(X, item_features=new), expected)
    np.testing.assert_array_equal(loaded.predict_top_proba(X), ranker.predict_top_proba(X))


def test_frames_name_features_and_items() -> None:
    X, Z, y = worlds(60, 4)
    frame = pd.DataFrame(Z, columns=["size", "price"], index=list("abcd"))
    named = Rankings(y, items=list("abcd"))
    ranker = DyadRanker().fit(X, named, item_features=frame.loc[list("dcba")])
    np.testing.assert_array_equal(ranker.item_features_, Z)
    assert ranker.item_feature_names_ == ("size", "price")
    np.testing.assert_array_equal(ranker.predict(X, item_features=frame), ranker.predict(X))
    np.testing.assert_array_equal(ranker.predict(X, item_features=frame[["price", "size"]]), ranker.predict(X))


@pytest.mark.parametrize(
    ("features", "message"),
    [
        (np.zeros((3, 2)), "item_features has 3 rows, but y ranks 4 items"),
        (np.zeros((60, 4, 2)), "differs between rows"),
        (np.full((4, 1), np.nan), "no finite number in row 0, column 0"),
    ],
)
def test_bad_features_of_items(features: np.ndarray, message: str) -> None:
    X, y = make_data()
    with pytest.raises(ValueError, match=message):
        DyadRanker().fit(X, y, item_features=features)


def test_it_says_when_it_did_not_arrive() -> None:
    with pytest.warns(ConvergenceWarning, match="raise max_iter"):
        DyadRanker(max_iter=1).fit(*make_data())


@pytest.mark.parametrize("law", ["plackett-luce", "mallows"])
def test_rankings_of_unseen_items_are_sampled(law: str) -> None:
    X, Z, y = worlds(60, 5)
    ranker = DyadRanker().fit(X, y, item_features=Z)
    new = np.random.default_rng(1).normal(size=(4, Z.shape[1]))
    draws = ranker.sample_rankings(X[:3], 4000, random_state=0, law=law, item_features=new)
    assert draws.shape == (3, 4000, 4)
    for k in (1, 3):
        top = ranker.predict_top_proba(X[:3], k, law, item_features=new)
        np.testing.assert_allclose(top.sum(axis=1), k)
        np.testing.assert_allclose((draws <= k).mean(axis=1), top, atol=0.03)
    # The items of the fit, given again, are those of the fit.
    for given in (None, Z):
        same = ranker.sample_rankings(X[:3], 5, random_state=0, law=law, item_features=given)
        assert np.array_equal(same, ranker.sample_rankings(X[:3], 5, random_state=0, law=law))
    own = ranker.predict_top_proba(X[:3], 2, law)
    np.testing.assert_allclose(ranker.predict_top_proba(X[:3], 2, law, item_features=Z), own)
    with pytest.raises(ValueError, match="k is 5, but there are only 4 items"):
        ranker.predict_top_proba(X[:3], 5, item_features=new)
    with pytest.raises(ValueError, match="law is 'gauss'"):
        ranker.sample_rankings(X[:3], law="gauss", item_features=new)


def test_columns_of_item_features_are_found_by_name() -> None:
    X, Z, y = worlds(60, 5)
    names = [f"f{column}" for column in range(Z.shape[1])]
    frame = pd.DataFrame(Z, columns=names)
    ranker = DyadRanker().fit(X, y, item_features=frame)
    swapped = frame[names[::-1]]
    assert np.array_equal(ranker.predict(X, item_features=swapped), ranker.predict(X))
    model = PlackettLuce(alpha=1.0).fit(y, item_features=frame)
    np.testing.assert_allclose(model.predict_log_worth(swapped), model.predict_log_worth(frame), rtol=1e-9, atol=1e-12)
    unnamed = model.predict_log_worth(swapped.to_numpy())
    assert abs(unnamed - model.predict_log_worth(frame)).max() > 1e-3  # by place they would be others
    with pytest.raises(ValueError, match="give the same"):
        ranker.predict(X, item_features=frame.rename(columns={"f0": "price"}))


def test_missing_values_are_answered_with_what_takes_them() -> None:
    X, Z, y = worlds(60, 5)
    X = np.where(np.arange(len(X))[:, None] == 3, np.nan, X)
    with pytest.raises(ValueError, match=r"contains NaN, but DyadRanker takes no missing values.*RankingForest"):
        DyadRanker().fit(X, y, item_features=Z)


@pytest.mark.parametrize("model", ["bilinear", "boosted"])
def test_no_order_is_invented(model):
    X = np.random.default_rng(0).normal(size=(30, 2))
    orders = np.resize([[1.0, 2, 3], [2, 1, 3]], (30, 3))
    with pytest.raises(ValueError, match="are the same for all items, so they cannot tell the items apart"):
        DyadRanker(model).fit(X, orders, item_features=np.ones((3, 2)))
    with pytest.raises(ValueError, match="everybody ties all items; there is no order to learn"):
        DyadRanker(model).fit(X, np.ones((30, 3)), item_features=[[1.0], [2.0], [3.0]])
    top = np.resize([[1.0, np.inf, np.inf]], (30, 3))
    assert DyadRanker(model).fit(X, top).predict(X[:1])[0, 0] == 1
