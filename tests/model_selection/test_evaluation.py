"""Evaluation of TREC runs and of scores, from Python."""

from __future__ import annotations

import numpy as np
import pytest

from rankwise.data.formats.trec import Qrels, Run
from rankwise.datasets import make_retrieval
from rankwise.ltr import LinearRanker
from rankwise.metrics import average_precision_score, ndcg_score
from rankwise.model_selection import evaluate_rankers, evaluate_runs, evaluate_scores, train_test_split_by_query

QRELS = Qrels(["1", "1", "2", "3"], ["a", "b", "c", "d"], [2, 1, 1, 1])
FIRST = Run(["1", "1", "2"], ["b", "a", "c"], [0.9, 0.5, 0.7], ["t"] * 3)
SECOND = Run(["1", "1", "2"], ["a", "b", "x"], [0.9, 0.5, 0.7], ["t"] * 3)


def test_scores_are_measured_as_the_metrics_do():
    rng = np.random.default_rng(0)
    y, qid = rng.integers(0, 3, 60), np.repeat(np.arange(6), 10)
    scores = {"a": rng.random(60), "b": rng.random(60), "c": rng.random(60)}
    found = evaluate_scores(y, scores, qid, ["ndcg@5", "map"], gain="exp")
    for s, score in enumerate(scores.values()):
        assert found.means[s, 0] == pytest.approx(ndcg_score(y, score, qid, 5, gain="exp"))
        assert found.means[s, 1] == pytest.approx(average_precision_score(y, score, qid))
    assert found.values.shape == (3, 2, 6)
    assert len(found.comparisons["map"].first) == 3
    assert found.comparisons["ndcg@5"].metric == "ndcg@5 (exponential gain)"
    assert found.comparisons["map"].metric == "map"
    frame = found.to_frame("pandas")
    assert list(frame.columns) == ["query", "system", "ndcg@5", "map"]
    assert frame["map"].iloc[1] == found.values[1, 1, 0]
    assert "ndcg@5 (exponential gain); ties: average" in repr(found)
    assert "Differences of map" in found._repr_html_()


def test_runs_are_compared_on_the_same_queries():
    found = evaluate_runs(QRELS, {"first": FIRST, "second": SECOND}, ["mrr"])
    assert found.queries == ("1", "2")
    np.testing.assert_array_equal(found.means, [[1.0], [0.5]])
    assert found.notes[0] == "first lacks 1 of 3 judged queries, skipped here; complete=True counts them as 0"
    assert evaluate_runs(QRELS, {"first": FIRST}, "mrr", complete=True).means[0, 0] == pytest.approx(2 / 3)
    other = Run(["1", "3"], ["a", "d"], [1.0, 1.0], ["t"] * 2)
    with pytest.raises(ValueError, match=r"query 2 is in first, but not in other.*complete=True"):
        evaluate_runs(QRELS, {"first": FIRST, "other": other})


def test_rankers_are_measured_on_queries_that_they_did_not_see():
    X, y, qid = make_retrieval(n_queries=20, random_state=0)[:3]
    steps = []
    rankers = {"weak": LinearRanker(C=0.01), "strong": LinearRanker()}
    found = evaluate_rankers(rankers, X, y, qid, ["ndcg@10"], random_state=3, on_step=lambda *step: steps.append(step))
    X_train, X_test, y_train, y_test, qid_train, qid_test = train_test_split_by_query(
        X, y, qid=qid, test_size=0.2, random_state=3
    )
    scores = {name: ranker.fit(X_train, y_train, qid=qid_train).predict(X_test) for name, ranker in rankers.items()}
    by_hand = evaluate_scores(y_test, scores, qid_test, ["ndcg@10"], random_state=3)
    np.testing.assert_array_equal(found.values, by_hand.values)
    assert found.queries == by_hand.queries
    assert found.notes == ["trained on 16 other queries"]
    assert steps == [("weak", 0.0), ("strong", 0.5)]


def test_wrong_arguments_are_named():
    with pytest.raises(TypeError, match="rankers is not a mapping"):
        evaluate_rankers([LinearRanker()], [[1.0]], [1], [1])
    with pytest.raises(TypeError, match="runs is not a mapping"):
        evaluate_runs(QRELS, [FIRST])
    with pytest.raises(TypeError, match="scores is not a mapping"):
        evaluate_scores([1, 0], [[1, 0]], [1, 1])
    with pytest.raises(ValueError, match="'tau' is for rankings"):
        evaluate_runs(QRELS, {"first": FIRST}, ["tau"])
