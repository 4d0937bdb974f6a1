"""Cross-validation of rankers, pipelines and regressors by query."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn import config_context, get_config
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from rankwise.datasets import make_retrieval
from rankwise.ltr import LambdaMART, LinearRanker
from rankwise.metrics import average_precision_score, ndcg_score
from rankwise.model_selection import QueryKFold, cross_validate


@pytest.fixture(scope="module")
def data():
    X, y, qid, _ = make_retrieval(30, 5, random_state=0)
    return X, y, qid


def test_values_are_those_of_fits_by_hand(data):
    X, y, qid = data
    found = cross_validate(
        LambdaMART(5, random_state=0), X, y, qid, cv=3, scoring=["ndcg@10", "map"], return_estimator=True
    )
    for fold, (train, test) in enumerate(QueryKFold(3).split(X, qid=qid)):
        score = LambdaMART(5, random_state=0).fit(X[train], y[train], qid[train]).predict(X[test])
        np.testing.assert_array_equal(found.estimators[fold].predict(X[test]), score)
        queries, values = ndcg_score(y[test], score, qid[test], k=10, per_query=True)
        np.testing.assert_allclose(found.per_query["ndcg@10"][np.isin(found.queries, queries)], values)
        assert found.scores["ndcg@10"][fold] == pytest.approx(np.nanmean(values))
        assert found.scores["map"][fold] == pytest.approx(average_precision_score(y[test], score, qid[test]))
    assert found.fit_seconds.shape == (3,)
    assert "30 queries, 3 folds: ndcg@10 (linear gain) 0." in repr(found)


def test_queries_may_be_a_column_or_sizes(data):
    X, y, qid = data
    ranker = LambdaMART(3, random_state=0)
    wanted = cross_validate(ranker, X, y, qid, cv=3).per_query["ndcg@10"]
    frame = pd.DataFrame(X, columns=list("abcde")).assign(qid=[f"q{q}" for q in qid])
    for estimator in (ranker, GridSearchCV(ranker, {"n_estimators": [3]}, cv=QueryKFold(2))):
        found = cross_validate(estimator, frame, y, "qid", cv=3)
        np.testing.assert_array_equal(found.per_query["ndcg@10"], wanted)
        assert found.queries[0] == "q1"
    found = cross_validate(ranker, X, y, group=np.bincount(qid)[1:], cv=3)
    np.testing.assert_array_equal(found.per_query["ndcg@10"], wanted)
    with pytest.raises(ValueError, match="X has a column 'qid', but no qid was given"):
        cross_validate(ranker, frame, y)
    with pytest.raises(ValueError, match="give qid, or group"):
        cross_validate(ranker, X, y)


def test_rows_in_any_order_give_the_same(data):
    X, y, qid = data
    plain = cross_validate(LambdaMART(3, random_state=0), X, y, qid, cv=GroupKFold(3))
    names = np.array([f"q{q}" for q in qid])
    again = cross_validate(LambdaMART(3, random_state=0), X, y, names, cv=GroupKFold(3), n_jobs=2)
    np.testing.assert_array_equal(plain.per_query["ndcg@10"], again.per_query["ndcg@10"])


@pytest.mark.parametrize(
    "estimator",
    [
        Ridge(),
        make_pipeline(StandardScaler(), LambdaMART(3, random_state=0)),
        GridSearchCV(LambdaMART(3, tree="leaf", random_state=0), {"num_leaves": [3, 7]}, cv=QueryKFold(2)),
    ],
    ids=["regressor", "pipeline", "search"],
)
def test_every_kind_of_estimator(data, estimator):
    found = cross_validate(estimator, *data, cv=2)
    assert np.nanmean(found.per_query["ndcg@10"]) > 0.4
    assert get_config()["enable_metadata_routing"] is False


def test_weights_reach_the_fit(data):
    X, y, qid = data
    ranker = LambdaMART(3, random_state=0)
    with_weights = cross_validate(ranker, X, y, qid, cv=2, sample_weight=np.where(qid % 2, 5.0, 1.0))
    without = cross_validate(ranker, X, y, qid, cv=2)
    assert not np.array_equal(with_weights.per_query["ndcg@10"], without.per_query["ndcg@10"])
    with pytest.raises(ValueError, match="Ridge does not ask for sample_weight"):
        cross_validate(Ridge(), X, y, qid, cv=2, sample_weight=np.ones(len(y)))


def test_splits_may_be_given(data):
    X, y, qid = data
    rows = np.flatnonzero(qid <= 20), np.flatnonzero(qid > 20)
    found = cross_validate(LambdaMART(3, random_state=0), X, y, qid, cv=[rows])
    assert np.isnan(found.per_query["ndcg@10"][:20]).all()
    assert found.scores["ndcg@10"].shape == (1,)


def test_folds_that_cut_queries_are_refused(data):
    with pytest.raises(ValueError, match="cv cuts query 1: some of its rows"):
        cross_validate(LambdaMART(3), *data, cv=KFold(2, shuffle=True, random_state=0))


def test_numbers_of_folds_and_sparse_features(data):
    X, y, qid = data
    ranker = LinearRanker()
    by_int = cross_validate(ranker, X, y, qid, cv=3)
    by_numpy = cross_validate(ranker, sparse.coo_matrix(X), y, qid, cv=np.int64(3))
    np.testing.assert_allclose(by_int.scores["ndcg@10"], by_numpy.scores["ndcg@10"])
    assert cross_validate(ranker, X, y, qid, cv=None).scores["ndcg@10"].shape == (5,)


def test_bad_folds_and_lengths_are_named(data):
    X, y, qid = data
    ranker, train, test = LinearRanker(), np.flatnonzero(qid > 10), np.flatnonzero(qid <= 10)
    with pytest.raises(ValueError, match="cv gives no folds"):
        cross_validate(ranker, X, y, qid, cv=[])
    with pytest.raises(ValueError, match="of query 1, which has"):
        cross_validate(ranker, X, y, qid, cv=[(train, test[1:])])
    with pytest.raises(ValueError, match="cv tests query 1 in two folds"):
        cross_validate(ranker, X, y, qid, cv=[(train, test), (train, test)])
    with pytest.raises(ValueError, match=r"y has 5 entries, but X has \d+ rows"):
        cross_validate(ranker, X, y[:5], qid)
    with pytest.raises(ValueError, match=r"sample_weight has 5 entries, but X has \d+ rows"):
        cross_validate(ranker, X, y, qid, sample_weight=np.ones(5))
    with pytest.raises(ValueError, match=r"qid has shape \(5,\), but X has \d+ rows"):
        cross_validate(ranker, X, y, qid[:5])


@pytest.mark.parametrize("cv", [2, None, KFold(2)])
def test_a_search_that_would_cut_queries_is_refused(data, cv):
    search = GridSearchCV(LinearRanker(), {"C": [0.1, 1.0]}, cv=cv)
    for estimator in (search, make_pipeline(StandardScaler(), search)):
        with pytest.raises(ValueError, match=r"GridSearchCV has cv=.*which cuts queries"):
            cross_validate(estimator, *data, cv=2)
    # A regressor knows of no queries, and may be searched as ever.
    cross_validate(GridSearchCV(Ridge(), {"alpha": [0.1, 1.0]}, cv=cv), *data, cv=2)


def test_weights_pass_through_a_search(data):
    X, y, qid = data
    weight = np.where(qid % 2, 5.0, 1.0)
    search = GridSearchCV(LinearRanker(), {"C": [0.1, 1.0]}, cv=QueryKFold(2))
    with config_context(enable_metadata_routing=True):
        search.fit(X, y, qid=qid, sample_weight=weight)
        assert search.score(X, y, qid=qid, sample_weight=weight) == search.best_estimator_.score(X, y, qid, weight)
