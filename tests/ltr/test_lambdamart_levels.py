"""LambdaMART on level trees: what it shares with LightGBM's trees, and what it refuses."""

from __future__ import annotations

import pickle
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone

from rankwise.datasets import make_retrieval
from rankwise.ltr import LambdaMART
from rankwise.ltr._level_growth import LevelGrower
from rankwise.ltr.level_trees import LevelTrees, noise_of_tree
from rankwise.metrics import ndcg_score
from rankwise.queries import QueryRows


@pytest.fixture(scope="module")
def data():
    X, y, qid, _ = make_retrieval(120, 6, docs_per_query=(1, 20), random_state=0)
    return X, y, qid


def level(n_estimators=15, **options):
    return LambdaMART(n_estimators, tree="level", random_state=0, **options)


def test_boosting_adds_newton_steps_of_trees(data):
    X, y, qid = data
    rows = QueryRows.build(X, y.astype(float), qid, seed=int(np.random.default_rng(0).integers(2**63)))
    options = {"objective": "pairwise_logistic", "truncation": None, "gap_norm": False, "query_norm": False}
    objective = LambdaMART(**options)._objective(rows)
    grower = LevelGrower(rows.X, 3, 255, 0.1, 1, ThreadPoolExecutor(1))
    score = np.zeros(len(X))
    for _ in range(4):
        trees = LevelTrees.empty(1, 3)
        leaf = grower.grow(*objective(score, None), np.arange(len(X)), np.arange(6), trees)
        score += 0.3 * trees.value[0, leaf]
    found = level(4, learning_rate=0.3, max_depth=3, l2_regularization=0.1, **options)
    np.testing.assert_allclose(found.fit(X, y, qid).predict(rows.X), score, rtol=1e-12)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"n_draws": 2},
        {"random_strength": 1.0},
        {"objective": "query_rmse", "random_strength": 3.0},
        {"early_stopping": True, "n_iter_no_change": 5},
        {"subsample": 0.7, "colsample": 0.7},
        {"subsample": 0.5, "sampling": "queries"},
        {"subsample": 0.5, "sampling": "minimal_variance"},
    ],
)
def test_order_of_rows_names_of_queries_and_threads_do_not_matter(data, options):
    X, y, qid = data
    shuffle = np.random.default_rng(3).permutation(len(y))
    plain = level(**options).fit(X, y, qid)
    names = np.array([f"query {-q}" for q in qid], dtype=object)
    shuffled = level(n_jobs=2, **options).fit(X[shuffle], y[shuffle], names[shuffle])
    np.testing.assert_array_equal(plain.predict(X), shuffled.predict(X))
    assert plain.history_ == shuffled.history_


def test_noise_of_a_strength_fades_with_the_trees(data):
    X, y, qid = data
    plain = level(2).fit(X, y, qid)._settings(0)
    assert noise_of_tree(plain, 6, len(y), 4, 0, None) is None
    strong = replace(plain, random_strength=3.0, learning_rate=np.log(len(y)) / 20)
    for number, share in ((0, 1.0), (20, 0.5), (100, 0.0)):
        noise = noise_of_tree(strong, 6, len(y), 4000, number, np.random.default_rng(0))
        assert noise.shape == (4000, 6)
        assert noise.std() == pytest.approx(3 * share, abs=0.1)


@pytest.mark.parametrize(("objective", "given", "used"), [("lambdaloss", None, 10.0), ("lambdaloss", 1.0, 1.0)])
def test_leaves_of_lambdaloss_shrink_by_as_much_as_its_weights_are_larger(data, objective, given, used):
    X, y, qid = data
    assert level(1).fit(X, y, qid)._settings(0).l2_regularization is None
    ranker = level(3, objective=objective, l2_regularization=given).fit(X, y, qid)
    same = level(3, objective=objective, l2_regularization=used).fit(X, y, qid)
    np.testing.assert_array_equal(ranker.predict(X), same.predict(X))


def test_query_rmse_has_noise_by_default(data):
    X, y, qid = data
    given = {strength: level(3, objective="query_rmse", random_strength=strength) for strength in (None, 0.0, 1.0)}
    found = {strength: ranker.fit(X, y, qid).predict(X) for strength, ranker in given.items()}
    np.testing.assert_array_equal(found[None], found[1.0])
    assert (found[None] != found[0.0]).any()
    np.testing.assert_array_equal(
        level(3).fit(X, y, qid).predict(X), level(3, random_strength=0.0).fit(X, y, qid).predict(X)
    )
    assert (
        LambdaMART(2, tree="leaf", objective="query_rmse", random_state=0).fit(X, y, qid)._settings(0).random_strength
        == 0
    )


def test_strength_changes_the_trees_and_is_for_level_trees(data):
    X, y, qid = data
    found = [level(5, random_strength=strength).fit(X, y, qid).predict(X) for strength in (0.0, 1.0, 2.0)]
    assert (found[0] != found[1]).any()
    assert (found[1] != found[2]).any()
    with pytest.raises(ValueError, match=r"random_strength is 1\.0, but LightGBM's trees take the best split"):
        LambdaMART(2, tree="leaf", random_strength=1.0).fit(X, y, qid)


def test_it_learns_and_stops_where_the_metric_is_best():
    X, y, qid, _ = make_retrieval(200, 10, random_state=2)
    train, test = (X[qid <= 140], y[qid <= 140], qid[qid <= 140]), (X[qid > 140], y[qid > 140], qid[qid > 140])
    by_chance = ndcg_score(test[1], np.zeros(len(test[1])), test[2], k=10, gain="exp")
    ranker = level(500, learning_rate=0.3, score_gain="exp", early_stopping=True, n_iter_no_change=5).fit(
        *train, eval_set=test
    )
    watched = ranker.history_["validation"]
    assert len(watched) == len(ranker.booster_) == ranker.n_estimators_ + 5 < 500
    assert ranker.n_estimators_ == np.argmax(watched) + 1
    assert ranker.score(*test) == pytest.approx(max(watched), abs=1e-12)
    assert max(watched) > by_chance + 0.15


@pytest.mark.parametrize("options", [{}, {"n_draws": 2, "subsample": 0.8, "random_strength": 1.0}])
def test_warm_start_continues(data, options):
    whole = level(12, **options).fit(*data)
    parts = level(5, warm_start=True, **options).fit(*data)
    parts.set_params(n_estimators=12).fit(*data)
    np.testing.assert_array_equal(parts.predict(data[0]), whole.predict(data[0]))
    assert parts.history_ == whole.history_
    assert len(parts.fit(*data).booster_) == 12
    with pytest.raises(ValueError, match="n_estimators is 3, but warm_start keeps the 12 trees"):
        parts.set_params(n_estimators=3).fit(*data)
    with pytest.raises(ValueError, match="warm_start keeps trees of 4 levels"):
        parts.set_params(n_estimators=20, max_depth=3).fit(*data)
    with pytest.raises(ValueError, match="tree is 'leaf', but warm_start keeps trees of the other kind"):
        parts.set_params(tree="leaf", random_strength=0.0).fit(*data)


def test_explain_adds_up_to_the_difference_of_scores(data):
    X, y, qid = data
    ranker = level(20, early_stopping=True, n_iter_no_change=3).fit(X, y, qid)
    score = ranker.predict(X)
    for i, j in ((0, 1), (5, 2)):
        parts = ranker.explain(X, i, j).effects
        assert parts.shape == (6,)
        assert parts.sum() == pytest.approx(score[i] - score[j], abs=1e-9)
        np.testing.assert_allclose(parts, -ranker.explain(X, j, i).effects)


def test_importances_find_the_feature_that_matters_and_missing_values_may_be_it():
    rng = np.random.default_rng(0)
    X, qid = rng.normal(size=(600, 4)), np.repeat(np.arange(60), 10)
    missing = rng.random(600) < 0.3
    X[missing, 2] = np.nan
    ranker = level(10).fit(X, missing.astype(int), qid)
    assert ranker.feature_importances_.argmax() == 2
    assert ranker.feature_importances_.sum() == pytest.approx(1)
    assert ranker.score(X, missing.astype(int), qid) == 1


def test_comparisons_replace_grades():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    chosen = rng.integers(0, 300, (2000, 2))
    chosen = chosen[chosen[:, 0] != chosen[:, 1]]
    pairs = np.where((X[chosen[:, 0], 0] > X[chosen[:, 1], 0])[:, None], chosen, chosen[:, ::-1])
    score = level(30).fit(X, pairs=pairs).predict(X)
    assert np.mean(score[pairs[:, 0]] > score[pairs[:, 1]]) > 0.95


def test_clone_and_pickle(data):
    ranker = level(3).fit(*data)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(ranker)).predict(data[0]), ranker.predict(data[0]))
    np.testing.assert_array_equal(clone(ranker).fit(*data).predict(data[0]), ranker.predict(data[0]))


def test_what_level_trees_cannot_do_is_refused(data):
    X, y, qid = data
    for options, message in (
        ({"max_depth": 13}, "give at most 12"),
        ({"tree": "leaves"}, "tree"),
    ):
        with pytest.raises(ValueError, match=message):
            level().set_params(**options).fit(np.round(X), y, qid)


@pytest.mark.parametrize("tree", ["leaf", "level"])
def test_sparse_rows_stay_sparse_and_predict_as_rows_written_out(data, tree, monkeypatch):
    X, y, qid = data
    X = np.where(X > 0.5, X, 0.0)
    sparse = csr_array(X)
    monkeypatch.setattr(csr_array, "toarray", None)  # nothing may write them out
    ranker = LambdaMART(10, tree=tree, early_stopping=True, random_state=0).fit(sparse, y, qid)
    np.testing.assert_array_equal(ranker.predict(sparse), ranker.predict(X))
    assert ranker.score(sparse.tocoo(), y, qid=qid) > LambdaMART(1, tree=tree).fit(X, y, qid).score(X, y, qid=qid)
    with pytest.raises(ValueError, match="categorical_features are for arrays"):
        LambdaMART(categorical_features=[0]).fit(sparse, y, qid)


def test_explain_takes_sparse_rows(data):
    X, y, qid = data
    for tree in ("leaf", "level"):
        ranker = LambdaMART(5, tree=tree, random_state=0).fit(csr_array(X), y, qid)
        np.testing.assert_array_equal(ranker.explain(csr_array(X), 0, 3), ranker.explain(X, 0, 3))


@pytest.mark.parametrize("tree", ["leaf", "level"])
def test_scores_follow_features_that_are_named(data, tree):
    X, y, qid = data
    frame = pd.DataFrame(X, columns=list("abcdef"))
    by_name = LambdaMART(20, tree=tree, monotone_constraints={"a": 1, "c": -1}, random_state=0).fit(frame, y, qid)
    by_place = LambdaMART(20, tree=tree, monotone_constraints=[1, 0, -1, 0, 0, 0], random_state=0).fit(X, y, qid)
    np.testing.assert_array_equal(by_name.predict(frame), by_place.predict(X))
    for feature, sign in ((0, 1), (2, -1)):
        rows = np.repeat(X[:20], 50, axis=0)
        rows[:, feature] = np.tile(np.linspace(-4, 4, 50), 20)
        assert (sign * np.diff(by_place.predict(rows).reshape(20, 50), axis=1) >= 0).all()
    for wrong, message in (
        ({"g": 1}, "names 'g', but the columns of X are 'a', 'b'"),
        ({"a": 2}, "each -1, 0 or 1"),
        ([1, 0], "must be 6 numbers"),
    ):
        with pytest.raises(ValueError, match=message):
            LambdaMART(2, tree=tree, monotone_constraints=wrong).fit(frame, y, qid)
    with pytest.raises(ValueError, match="names 'a', but columns have no names"):
        LambdaMART(2, tree=tree, monotone_constraints={"a": 1}).fit(X, y, qid)
    assert (LambdaMART(2, tree=tree, monotone_constraints={-1: 1}, random_state=0).fit(X, y, qid).predict(X) != 0).any()


def test_samples_of_queries_and_of_large_gradients_learn_about_as_much_as_all_rows(data):
    X, y, qid = data
    least = LambdaMART(1, tree="level", random_state=0).fit(X, y, qid).score(X, y, qid=qid)
    all_rows = level(60).fit(X, y, qid).score(X, y, qid=qid)
    for sampling in ("queries", "minimal_variance"):
        ranker = level(60, subsample=0.5, sampling=sampling).fit(X, y, qid)
        assert ranker.score(X, y, qid=qid) > (least + 2 * all_rows) / 3
        with pytest.raises(ValueError, match=f"sampling='{sampling}' is for tree='level'"):
            LambdaMART(2, tree="leaf", subsample=0.5, sampling=sampling).fit(X, y, qid)
