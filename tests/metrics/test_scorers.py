"""Scorers inside scikit-learn's model selection."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import sklearn
from sklearn.base import BaseEstimator, clone
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from rankwise import Rankings
from rankwise.data import dense_positions
from rankwise.metrics import kendall_tau_score, ndcg_score, ranking_scorer, reciprocal_rank_score


class Ranker(BaseEstimator):
    """Least squares on the grades; asks for qid, as rankers do."""

    __metadata_request__fit = {"qid": True}  # noqa: RUF012

    def __init__(self, alpha=1.0):
        self.alpha = alpha

    def fit(self, X, y, qid=None):
        self.seen_ = qid
        self.model_ = Ridge(alpha=self.alpha).fit(X, y)
        return self

    def predict(self, X):
        return self.model_.predict(X)


class ConstantRanker(BaseEstimator):
    """The mean positions of the training rankings."""

    def fit(self, X, y):
        self.positions_ = np.asarray(y).mean(axis=0) + 1e-9 * np.arange(np.shape(y)[1])
        return self

    def predict(self, X):
        return np.tile(self.positions_, (len(X), 1))


@pytest.fixture
def queries():
    rng = np.random.default_rng(0)
    qid = rng.permutation(np.repeat([f"q{i}" for i in range(12)], 6))
    X = rng.normal(size=(len(qid), 3))
    y = rng.integers(0, 3, len(qid)) + (X[:, 0] > 0)
    return X, y, qid


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


@pytest.mark.usefixtures("routing")
def test_cross_validate_brings_each_folds_qid(queries):
    X, y, qid = queries
    folds = list(GroupKFold(3).split(X, y, qid))
    result = cross_validate(
        Ranker(), X, y, params={"qid": qid}, cv=folds, scoring=ranking_scorer("ndcg@3"), return_estimator=True
    )
    for (train, test), value, fitted in zip(folds, result["test_score"], result["estimator"], strict=True):
        np.testing.assert_array_equal(fitted.seen_, qid[train])
        assert value == pytest.approx(ndcg_score(y[test], fitted.predict(X[test]), qid[test], k=3))


@pytest.mark.usefixtures("routing")
def test_grid_search_over_a_pipeline_with_several_metrics(queries):
    X, y, qid = queries
    scoring = {"ndcg": ranking_scorer("ndcg@3", gain="exp"), "mrr": ranking_scorer("MRR")}
    search = GridSearchCV(
        make_pipeline(StandardScaler(), Ranker()),
        {"ranker__alpha": [0.1, 10.0]},
        cv=list(GroupKFold(3).split(X, y, qid)),
        scoring=scoring,
        refit="ndcg",
    ).fit(X, y, qid=qid)
    assert np.isfinite(search.cv_results_["mean_test_mrr"]).all()
    best = search.best_estimator_
    assert scoring["mrr"](best, X, y, qid=qid) == reciprocal_rank_score(y, best.predict(X), qid)


def test_without_routing_the_lost_qid_is_told(queries):
    X, y, _ = queries
    with pytest.warns(UserWarning, match="got no qid.*enable_metadata_routing"):
        ranking_scorer("ndcg@10")(DummyRegressor().fit(X, y), X, y)


@pytest.mark.usefixtures("routing")
def test_sample_weight_is_used_when_asked_for(queries):
    X, y, qid = queries
    weight = np.array([2.0 if q == "q3" else 1.0 for q in qid])
    scorer = ranking_scorer("ndcg").set_score_request(sample_weight=True)
    result = cross_validate(
        Ranker().set_fit_request(qid=True),
        X,
        y,
        params={"qid": qid, "sample_weight": weight},
        cv=[(np.arange(len(y)), np.arange(len(y)))],
        scoring=scorer,
        return_estimator=True,
    )
    predicted = result["estimator"][0].predict(X)
    assert result["test_score"][0] == pytest.approx(ndcg_score(y, predicted, qid, sample_weight=weight))


def test_label_ranking_scorers_take_rankings():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(30, 2)), Rankings(np.argsort(rng.random((30, 4)), axis=1) + 1)
    result = cross_validate(ConstantRanker(), X, y, cv=KFold(3), scoring=ranking_scorer("kendall_tau"))
    test = next(iter(KFold(3).split(X)))[1]
    train = np.setdiff1d(np.arange(30), test)
    expected = kendall_tau_score(y[test], ConstantRanker().fit(X[train], y[train]).predict(X[test]))
    assert result["test_score"][0] == pytest.approx(expected)


def test_regressors_of_places_are_scored_by_their_order():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(40, 3))
    y = np.argsort(np.argsort(-X @ rng.normal(size=(3, 4)), axis=1), axis=1) + 1
    predicted = Ridge().fit(X, y).predict(X)
    assert predicted.min() < 1  # no position, but an order
    expected = kendall_tau_score(y, dense_positions(predicted))
    assert ranking_scorer("tau")(Ridge().fit(X, y), X, y) == expected


def test_scorers_can_be_copied_and_read():
    scorer = ranking_scorer("ndcg@10", gain="exp")
    assert repr(pickle.loads(pickle.dumps(scorer))) == repr(clone(scorer, safe=False)) == repr(scorer)
    assert repr(scorer) == "ranking_scorer('ndcg@10', gain='exp')"


@pytest.mark.parametrize(
    ("name", "fragment"),
    [
        ("ndgc@10", "is not a ranking metric; choose one of ndcg@k"),
        ("ndcg@0", "at least 1"),
        ("ndcg@99999999999", "not a ranking metric"),
        ("ndcg@", "not a ranking metric"),
        ("ndcg@-5", "not a ranking metric"),
        ("tau@5", "takes no cut-off"),
        (None, "not a ranking metric"),
    ],
)
def test_unknown_names_are_refused(name, fragment):
    with pytest.raises(ValueError, match=fragment):
        ranking_scorer(name)


@pytest.mark.parametrize(
    ("options", "fragment"),
    [
        ({"k": 4}, "one cut-off"),
        ({"colour": 1}, "has no option 'colour'; the options are k, gain, ties"),
        ({"per_query": True}, "has no option 'per_query'"),
        ({"ties": "trec"}, "names of the rows"),
    ],
)
def test_unusable_options_are_refused_at_once(options, fragment):
    with pytest.raises((ValueError, TypeError), match=fragment):
        ranking_scorer("ndcg@1", **options)


def test_unknown_requests_are_refused():
    with pytest.raises(TypeError, match="takes no 'groups'; it knows qid, sample_weight"):
        ranking_scorer("ndcg").set_score_request(groups=True)
