"""Boosting on top of the scores of another ranker: `init_score` of `LambdaMART.fit`, as in LightGBM."""

from __future__ import annotations

import lightgbm
import numpy as np
import pytest

from rankwise.datasets import make_retrieval
from rankwise.ltr import LambdaMART
from rankwise.metrics import ndcg_score


@pytest.fixture(scope="module")
def data():
    X, y, qid, _ = make_retrieval(60, 4, docs_per_query=(3, 12), random_state=0)
    return X, y.astype(float), qid


@pytest.fixture(scope="module")
def start(data):
    return data[0] @ [1.0, -0.5, 0.2, 0.0]


@pytest.mark.parametrize("tree", ["level", "leaf"])
def test_trees_go_on_from_the_scores_of_other_trees(data, tree):
    X, y, qid = data
    settings = {"objective": "query_rmse", "tree": tree, "random_strength": 0.0, "random_state": 0}
    whole, first = (LambdaMART(n, **settings).fit(X, y, qid).predict(X) for n in (9, 4))
    more = LambdaMART(5, **settings).fit(X, y, qid, init_score=first).predict(X)
    assert abs(more).max() > 0.01
    np.testing.assert_allclose(first + more, whole, atol=1e-6 if tree == "leaf" else 1e-12)


def test_lightgbm_adds_the_same_to_the_same_scores(data, start):
    X, y, qid = data
    rows = lightgbm.Dataset(X, y, group=np.bincount(qid)[1:], init_score=start)
    wanted = lightgbm.train({"objective": "lambdarank", "learning_rate": 0.05, "verbosity": -1}, rows, 10).predict(X)
    ranker = LambdaMART(10, tree="leaf", random_state=0).fit(X, y, qid, init_score=start)
    np.testing.assert_allclose(ranker.predict(X), wanted, atol=1e-4)
    without = LambdaMART(10, tree="leaf", random_state=0).fit(X, y, qid).predict(X)
    assert abs(without - wanted).max() > 0.01


@pytest.mark.parametrize("tree", ["level", "leaf"])
def test_what_is_watched_starts_there_too(data, start, tree):
    X, y, qid = data
    held_out = qid > 40
    train, test = (X[~held_out], y[~held_out], qid[~held_out]), (X[held_out], y[held_out], qid[held_out])
    ranker = LambdaMART(6, tree=tree, random_state=0)
    ranker.fit(*train, init_score=start[~held_out], eval_set=test, eval_init_score=start[held_out])
    found = ndcg_score(test[1], start[held_out] + ranker.predict(test[0]), test[2], k=10, gain="exp")
    assert ranker.history_["validation"][-1] == pytest.approx(found, abs=1e-12)
    longer = LambdaMART(9, tree=tree, random_state=0)
    two = {"eval_set": [test, train], "eval_init_score": [start[held_out], start[~held_out]]}
    longer.fit(*train, init_score=start[~held_out], **two)
    found = ndcg_score(train[1], start[~held_out] + longer.predict(train[0]), train[2], k=10, gain="exp")
    assert longer.history_["validation 2"][-1] == pytest.approx(found, abs=1e-12)
    ranker.set_params(n_estimators=9, warm_start=True).fit(*train, init_score=start[~held_out], **two)
    np.testing.assert_array_equal(ranker.predict(X), longer.predict(X))
    stopped = LambdaMART(40, tree=tree, early_stopping=True, n_iter_no_change=2, random_state=0)
    stopped.fit(X, y, qid, init_score=10 * y)  # all is learned before the first tree
    assert stopped.n_estimators_ == 1
    np.testing.assert_array_equal(stopped.history_["validation"], 1.0)


@pytest.mark.parametrize("tree", ["level", "leaf"])
def test_neither_order_of_rows_nor_rows_without_weight_matter(data, tree):
    X, y, qid = np.repeat(data[0], 2, axis=0), np.repeat(data[1], 2), np.repeat(data[2], 2)
    start = np.random.default_rng(1).normal(size=len(y))  # all that differs between two copies of a row
    shuffle = np.random.default_rng(2).permutation(len(y))
    ranker = LambdaMART(5, tree=tree, random_state=0)
    wanted = ranker.fit(X, y, qid, init_score=start).predict(X)
    found = ranker.fit(X[shuffle], y[shuffle], -qid[shuffle], init_score=start[shuffle]).predict(X)
    np.testing.assert_array_equal(found, wanted)
    weight = np.arange(len(y)) % 3 < 2
    some = ranker.fit(X, y, qid, weight.astype(float), init_score=start).predict(X)
    np.testing.assert_array_equal(
        ranker.fit(X[weight], y[weight], qid[weight], init_score=start[weight]).predict(X), some
    )


def test_grades_themselves_are_fitted_from_scores_on_their_scale(data):
    X, y, qid = data
    ranker = LambdaMART(5, objective="pointwise_squared", random_state=0)
    np.testing.assert_array_equal(ranker.fit(X, y, qid, init_score=y).predict(X), 0.0)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"init_score": [1.0]}, "init_score has shape .*, but X has"),
        ({"init_score": np.nan}, r"init_score\[\d+\] is not finite"),
        ({"eval": None}, "init_score is given without eval_init_score"),
        ({"init_score": None, "eval": 1}, "eval_init_score is given without init_score"),
    ],
)
def test_mistakes_are_named(data, start, arguments, message):
    X, y, qid = data
    given = {"init_score": start} | {name: value for name, value in arguments.items() if name != "eval"}
    if given["init_score"] is np.nan:
        given["init_score"] = np.append(start[1:], np.nan)
    if "eval" in arguments:
        given |= {"eval_set": (X, y, qid), "eval_init_score": start if arguments["eval"] else None}
    with pytest.raises(ValueError, match=message):
        LambdaMART(2).fit(X, y, qid, **given)
