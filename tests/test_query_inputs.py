"""Queries as columns, groups and ids; several sets and metrics to watch; columns matched by name; what is refused."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest

from rankwise._query_inputs import eval_sets, split_off_queries
from rankwise.datasets import make_retrieval
from rankwise.ltr import LambdaMART, LinearRanker, StackedQueryRanker
from rankwise.metrics import average_precision_score, ndcg_score

RANKERS = [
    LambdaMART(5, random_state=0),
    LinearRanker(random_state=0),
    StackedQueryRanker([("linear", LinearRanker())], random_state=0),
]


@pytest.fixture(scope="module")
def data():
    X, y, qid, _ = make_retrieval(40, 4, docs_per_query=(2, 9), random_state=0)
    return X, y, qid


def frame_of(X, qid, library=pd):
    return library.DataFrame({"b": X[:, 0], "a": X[:, 1], "qid": qid, "d": X[:, 2], "c": X[:, 3]})


@pytest.mark.parametrize("ranker", RANKERS, ids=lambda ranker: type(ranker).__name__)
@pytest.mark.parametrize("library", [pd, pl], ids=["pandas", "polars"])
def test_queries_may_be_a_column_and_columns_are_matched_by_name(data, ranker, library):
    X, y, qid = data
    wanted = ranker.fit(X, y, qid).predict(X)
    score = ranker.score(X, y, qid)
    places = ranker.rank(X, qid)
    frame = frame_of(X, qid, library)
    ranker.fit(frame, y, qid="qid")
    assert ranker.feature_names_in_.tolist() == ["b", "a", "d", "c"]
    np.testing.assert_array_equal(ranker.predict(frame), wanted)
    np.testing.assert_array_equal(ranker.predict(frame[["c", "a", "qid", "b", "d"]]), wanted)
    np.testing.assert_array_equal(ranker.rank(frame, "qid"), places)
    assert ranker.score(frame, y, "qid") == pytest.approx(score)
    with pytest.raises(ValueError, match="c"):
        ranker.predict(frame[["a", "b", "d"]])


@pytest.mark.parametrize("ranker", RANKERS, ids=lambda ranker: type(ranker).__name__)
def test_groups_are_sizes_of_queries(data, ranker):
    X, y, qid = data
    sizes = np.bincount(qid)[1:]
    by_id = ranker.fit(X, y, qid).predict(X)
    np.testing.assert_array_equal(ranker.fit(X, y, group=sizes).predict(X), by_id)
    assert ranker.score(X, y, group=sizes) == ranker.score(X, y, qid)
    np.testing.assert_array_equal(ranker.rank(X, group=sizes), ranker.rank(X, qid))


@pytest.mark.parametrize("ranker", RANKERS, ids=lambda ranker: type(ranker).__name__)
def test_a_forgotten_column_of_queries_is_refused_with_the_cure(data, ranker):
    X, y, qid = data
    frame = frame_of(X, qid)
    with pytest.raises(ValueError, match=r"X has a column 'qid', but no qid was given.*give qid='qid'"):
        ranker.fit(frame, y)
    ranker.fit(frame, y, qid="qid")
    with pytest.raises(ValueError, match="X has a column 'qid', but no qid was given"):
        ranker.score(frame, y)


def test_queries_given_apart_from_a_column_that_holds_them_are_refused(data):
    X, y, qid = data
    frame = frame_of(X, qid)
    with pytest.raises(ValueError, match=r"the column 'qid' of X holds the queries, and would be a feature; give qid="):
        LinearRanker().fit(frame, y, qid)
    another = frame.assign(qid=-X[:, 0])  # a feature of that name
    assert LinearRanker().fit(another, y, qid).n_features_in_ == 5


@pytest.mark.parametrize("tree", ["leaf", "level"])
def test_several_sets_and_metrics_are_watched(data, tree):
    X, y, qid = data
    parts = [qid <= 20, (qid > 20) & (qid <= 30), qid > 30]
    train, first, second = ((X[part], y[part], qid[part]) for part in parts)

    def hits(y_true, y_score, qid):
        return float(np.mean(y_true[y_score > np.median(y_score)]))

    ranker = LambdaMART(6, tree=tree, eval_metric=["map@3", None, hits], random_state=0)
    ranker.fit(*train, eval_set=[first[:2], second[:2]], eval_qid=[first[2], second[2]])
    names = [f"{name} {metric}" for name in ("validation", "validation 2") for metric in ("map@3", "ndcg@10", "hits")]
    assert list(ranker.history_) == names
    for name, (features, grades, query) in (("validation", first), ("validation 2", second)):
        score = ranker.predict(features)
        found = ranker.history_[f"{name} map@3"][-1]
        assert found == pytest.approx(average_precision_score(grades, score.round(12), query, k=3))
        wanted = ndcg_score(grades, score, query, k=10, gain="exp")
        assert ranker.history_[f"{name} ndcg@10"][-1] == pytest.approx(wanted, abs=1e-12)
        assert len(ranker.history_[f"{name} hits"]) == 6
    longer = LambdaMART(9, tree=tree, eval_metric=["map@3", None, hits], random_state=0)
    longer.fit(*train, eval_set=[first, second])
    ranker.set_params(n_estimators=9, warm_start=True).fit(*train, eval_set=[first, second])
    assert ranker.history_ == longer.history_
    stopped = LambdaMART(60, tree=tree, early_stopping=True, n_iter_no_change=3, random_state=0)
    stopped.fit(*train, eval_set=[first, second])
    assert stopped.n_estimators_ == np.argmax(stopped.history_["validation"]) + 1
    assert len(stopped.history_["validation 2"]) == len(stopped.history_["validation"])


def test_sets_are_given_in_many_ways(data):
    X, y, qid = data
    sizes = np.bincount(qid)[1:]
    frame = frame_of(X, qid)
    ways = [
        (eval_sets((X, y, qid)), 1),
        (eval_sets([X, y, qid]), 1),
        (eval_sets((X, y), qid), 1),
        (eval_sets((X, y), [qid]), 1),
        (eval_sets([(X, y)], [qid]), 1),
        (eval_sets([(X, y)], eval_group=[sizes]), 1),
        (eval_sets((X, y), eval_group=sizes), 1),
        (eval_sets((frame, y), column="qid"), 1),
        (eval_sets([(X, y, qid), (X, y, qid)]), 2),
        (eval_sets([(X, y), (X, y)], [qid, qid]), 2),
    ]
    for found, number in ways:
        assert len(found) == number
        for features, grades, query, start in found:
            assert start is None
            np.testing.assert_array_equal(np.asarray(features), X)
            np.testing.assert_array_equal(grades, y)
            np.testing.assert_array_equal(np.unique(query, return_inverse=True)[1], qid - 1)
    assert eval_sets(None) == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"eval_set": ([[1.0]], [1])}, "eval_set has no queries; give eval_qid or eval_group"),
        ({"eval_set": [([[1.0]], [1])], "eval_qid": [[1], [2]]}, "eval_qid must be a list with one entry for each of"),
        ({"eval_set": [([[1.0]], [1], [1])], "eval_qid": [[1]]}, r"eval_set\[0\] has a qid of its own"),
        ({"eval_set": None, "eval_qid": [1]}, "eval_qid is for the rows of eval_set"),
        ({"eval_set": []}, "eval_set is empty"),
        ({"eval_set": [([[1.0]],)]}, "eval_set.* must be two things, X and y, or three"),
    ],
)
def test_mistakes_with_sets_are_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        eval_sets(**arguments)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((np.zeros((3, 1)), "query"), "qid is 'query', which should be a column of X, but it is no data frame"),
        ((pd.DataFrame({"a": [1.0]}), "query"), "which should be a column of X, but its columns are a"),
        ((np.zeros((3, 1)), [1, 1, 2], [2, 1]), "give qid, the query of each row, or group"),
        ((np.zeros((3, 1)), None, [2, 2]), "group adds up to 4 rows, but X has 3"),
        ((np.zeros((3, 1)), None, [1.5, 1.5]), "group must be whole numbers"),
    ],
)
def test_mistakes_with_queries_are_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        split_off_queries(*arguments)
