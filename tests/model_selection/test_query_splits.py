"""Splits keep queries whole, also inside scikit-learn's searches."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.model_selection import cross_validate as sklearn_cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from rankwise.datasets import make_retrieval
from rankwise.ltr import LambdaMART, LinearRanker
from rankwise.metrics import ndcg_score
from rankwise.model_selection import QueryKFold, train_test_split_by_query


@pytest.fixture(scope="module")
def data():
    X, y, qid, _ = make_retrieval(40, 5, random_state=0)
    shuffle = np.random.default_rng(0).permutation(len(y))
    return X[shuffle], y[shuffle], np.array([f"q{q}" for q in qid])[shuffle]


@pytest.mark.parametrize("options", [{}, {"shuffle": True, "random_state": 0}])
def test_folds_hold_every_query_once_and_whole(data, options):
    X, _, qid = data
    seen = []
    for train, test in QueryKFold(4, **options).split(X, qid=qid):
        assert set(qid[train]).isdisjoint(qid[test])
        assert len(train) + len(test) == len(qid)
        seen += sorted(set(qid[test]))
    assert sorted(seen) == sorted(set(qid))
    assert QueryKFold(4).get_n_splits() == 4


@pytest.mark.parametrize("kind", ["texts", "numbers", "both"])
@pytest.mark.parametrize("options", [{}, {"shuffle": True, "random_state": 0}])
def test_the_order_of_rows_changes_no_fold(data, kind, options):
    X, _, qid = data
    shuffle = np.random.default_rng(0).permutation(len(qid))
    numbers = [int(text[1:]) for text in qid]
    if kind != "texts":
        qid = np.array([str(q) if kind == "both" and q % 2 else q for q in numbers], dtype=object)
    plain = [set(qid[test]) for _, test in QueryKFold(3, **options).split(X, qid=qid)]
    shuffled = [set(qid[shuffle][test]) for _, test in QueryKFold(3, **options).split(X[shuffle], qid=qid[shuffle])]
    assert plain == shuffled
    parts = (train_test_split_by_query(q, qid=q, random_state=0)[-1] for q in (qid, qid[shuffle]))
    assert len({frozenset(part) for part in parts}) == 1


def test_folds_follow_the_seed(data):
    X, _, qid = data
    tests = [next(QueryKFold(4, shuffle=True, random_state=s).split(X, qid=qid))[1].tolist() for s in (0, 0, 1)]
    assert tests[0] == tests[1] != tests[2]


@pytest.mark.parametrize(
    ("n_splits", "arguments", "message"),
    [
        (2, {}, "needs the query of each row"),
        (9, {"qid": [1, 2]}, "2 queries, too few"),
        (2, {"qid": [1]}, "1 entries"),
    ],
)
def test_bad_folds_are_named(n_splits, arguments, message):
    with pytest.raises(ValueError, match=message):
        list(QueryKFold(n_splits).split(np.zeros((2, 1)), **arguments))


def test_grid_search_with_pipeline_and_score_by_query(data):
    X, y, qid = data
    pipeline = make_pipeline(StandardScaler(), LambdaMART(8, tree="leaf", random_state=0))
    with config_context(enable_metadata_routing=True):
        search = GridSearchCV(pipeline, {"lambdamart__num_leaves": [4, 15]}, cv=QueryKFold(3), error_score="raise")
        search.fit(X, y, qid=qid)
        score = search.score(X, y, qid=qid)
    # Every figure is the mean over whole queries, found here by hand.
    for number, leaves in enumerate((4, 15)):
        for fold, (train, test) in enumerate(QueryKFold(3).split(X, qid=qid)):
            scaler = StandardScaler().fit(X[train])
            ranker = LambdaMART(8, num_leaves=leaves, tree="leaf", random_state=0).fit(
                scaler.transform(X[train]), y[train], qid[train]
            )
            wanted = ndcg_score(y[test], ranker.predict(scaler.transform(X[test])), qid[test], k=10)
            assert search.cv_results_[f"split{fold}_test_score"][number] == pytest.approx(wanted, abs=1e-12)
    assert score == ndcg_score(y, search.predict(X), qid, k=10)


def test_cross_validation_of_scikit_learn_with_groups(data):
    X, y, qid = data
    ranker = LambdaMART(3, random_state=0)
    with config_context(enable_metadata_routing=True):
        found = sklearn_cross_validate(ranker, X, y, params={"qid": qid}, cv=QueryKFold(2), error_score="raise")
    assert found["test_score"].shape == (2,)
    # With routing off, groups split by query, but score gets none: it says so.
    with (
        pytest.warns(UserWarning, match="groups say where to split, but no more"),
        pytest.warns(UserWarning, match="score got no qid"),
    ):
        sklearn_cross_validate(ranker, X, y, params={"qid": qid}, groups=qid, cv=QueryKFold(2))


def test_train_and_test_part_share_no_query(data):
    X, y, qid = data
    parts = train_test_split_by_query(pd.DataFrame(X), y, qid=qid, test_size=0.3, random_state=0)
    X_train, X_test, y_train, y_test, qid_train, qid_test = parts
    assert isinstance(X_train, pd.DataFrame)
    assert len(X_train) == len(y_train) == len(qid_train)
    assert len(X_test) == len(y_test) == len(qid_test)
    assert set(qid_train).isdisjoint(qid_test)
    assert len(set(qid_test)) == 12
    again = train_test_split_by_query(y, qid=qid, test_size=0.3, random_state=0)
    np.testing.assert_array_equal(again[1], y_test)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"qid": [1, 1, 1]}, "one query, which cannot be split"),
        ({"qid": [1, 2, 3], "test_size": 1.5}, "test_size is 1.5"),
        ({"qid": [1, 2]}, "array 0 has 3 rows, but qid has 2"),
    ],
)
def test_bad_splits_are_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        train_test_split_by_query([1, 2, 3], **arguments)


def test_groups_without_routing_warn_that_fit_gets_no_queries():
    X, y, qid, _ = make_retrieval(12, 3, random_state=0)
    with pytest.warns(UserWarning, match="a ranker's score gets no qid, nor does its fit"):
        cross_val_score(LinearRanker(), X, y, groups=qid, cv=QueryKFold(3))
    list(QueryKFold(3).split(X, qid=qid))


def test_queries_may_be_a_column_of_a_frame(data):
    X, y, qid = data
    frame = pd.DataFrame(X, columns=list("abcde")).assign(query=qid)
    for found, wanted in zip(QueryKFold(3).split(frame, qid="query"), QueryKFold(3).split(X, qid=qid), strict=True):
        np.testing.assert_array_equal(np.concatenate(found), np.concatenate(wanted))
    by_column = train_test_split_by_query(frame, y, qid="query", random_state=0)
    for found, wanted in zip(by_column, train_test_split_by_query(X, y, qid=qid, random_state=0), strict=True):
        np.testing.assert_array_equal(found, wanted)
    assert list(by_column[0].columns) == list("abcde")
    with pytest.raises(ValueError, match="qid is 'quest', which should be a column of X"):
        train_test_split_by_query(frame, y, qid="quest")
    with config_context(enable_metadata_routing=True):
        searches = [
            GridSearchCV(LinearRanker(), {"C": [0.001, 1.0]}, cv=QueryKFold(2)).fit(table, y, qid=queries)
            for table, queries in ((frame, "query"), (X, qid))
        ]
        np.testing.assert_array_equal(*(search.cv_results_["mean_test_score"] for search in searches))
        assert searches[0].score(frame, y, qid="query") == searches[1].score(X, y, qid=qid)
