"""Explanations as results, and importance by shuffling within queries."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import csr_array
from sklearn.exceptions import NotFittedError

from rankwise.datasets import make_retrieval
from rankwise.ltr import LambdaMART, LinearRanker, StackedQueryRanker, permutation_importance
from rankwise.metrics import ndcg_score


@pytest.fixture(scope="module")
def data():
    X, y, qid, _ = make_retrieval(60, 4, n_irrelevant=1, link="linear", docs_per_query=(5, 15), random_state=0)
    return X, y, qid


@pytest.mark.parametrize(
    "ranker",
    [
        LambdaMART(20, random_state=0),
        LinearRanker(random_state=0),
        StackedQueryRanker([("trees", LambdaMART(10)), ("linear", LinearRanker())], random_state=0),
    ],
    ids=lambda ranker: type(ranker).__name__,
)
def test_an_explanation_names_features_and_adds_up(data, ranker):
    X, y, qid = data
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    found = ranker.fit(frame, y, qid).explain(frame, 3, 0)
    score = ranker.predict(frame)
    assert found.names == ("a", "b", "c", "d")
    assert found.rows == (3, 0)
    np.testing.assert_allclose(found.scores, score[[3, 0]], atol=1e-9)
    assert found.effects.sum() == pytest.approx(score[3] - score[0], abs=1e-9)
    np.testing.assert_array_equal(np.asarray(found), found.effects)
    table = found.to_frame("pandas")
    assert table.columns.tolist() == ["feature", "first", "second", "effect"]
    assert table["effect"].tolist() == found.effects.tolist()
    assert table["first"].tolist() == [f"{value:.6g}" for value in X[3]]
    assert f"Row 3 is {'above' if score[3] > score[0] else 'below'} row 0" in repr(found)


def test_many_features_are_added_up_and_missing_ones_said():
    X, y, qid, _ = make_retrieval(20, 15, random_state=0)
    X[0, 0] = np.nan
    ranker = LambdaMART(5, random_state=0).fit(X, y, qid)
    text = repr(ranker.explain(X, 0, 1))
    assert "5 other features" in text
    assert ranker.explain(X, 0, 1).to_frame("pandas")["first"][0] == "missing"
    sparse = LinearRanker(random_state=0).fit(csr_array(np.nan_to_num(X)), y, qid)
    assert sparse.explain(csr_array(np.nan_to_num(X)), 0, 1).names[0] == "feature 0"


def test_what_is_shuffled_stays_within_its_query(data):
    X, y, qid = data
    ranker = LinearRanker(random_state=0).fit(X, y, qid)
    found = permutation_importance(ranker, X, y, qid, n_repeats=8, random_state=0)
    assert found.score == ranker.score(X, y, qid)
    assert abs(found.importances[3]) < 0.01
    # Enumerated: a feature of two rows of one query is exchanged in half of all shuffles.
    two = np.array([[0.0, 1.0], [1.0, 0.0]])
    simple = LinearRanker(random_state=0).fit(np.tile(two, (30, 1)), np.tile([0, 1], 30), np.repeat(range(30), 2))
    lost = permutation_importance(simple, two, [0, 1], [7, 7], n_repeats=400, random_state=0)
    wrong = 1 - ndcg_score([0, 1], [1.0, 0.0])
    tied = 1 - ndcg_score([0, 1], [0.0, 0.0])
    np.testing.assert_allclose(lost.importances, [tied / 2, tied / 2], atol=5 * lost.standard_errors.max())
    assert wrong > tied > 0
    # A feature that is the same within every query cannot matter, however it differs between them.
    level = np.column_stack([X, 10.0 * qid])
    other = LinearRanker(standardize=False, random_state=0).fit(level, y, qid)
    other.coef_[-1] = 1.0
    assert permutation_importance(other, level, y, qid, random_state=0).importances[-1] == 0


@pytest.mark.parametrize("library", [pd, pl], ids=["pandas", "polars"])
def test_frames_and_sparse_matrices_are_shuffled_alike(data, library):
    X, y, qid = data
    frame = library.DataFrame({name: X[:, i] for i, name in enumerate("abcd")} | {"query": qid})
    by_name = LambdaMART(5, random_state=0).fit(frame, y, qid="query")
    found = permutation_importance(by_name, frame, y, "query", n_repeats=2, random_state=0)
    assert found.names == ("a", "b", "c", "d")
    plain = LambdaMART(5, random_state=0).fit(X, y, qid)
    wanted = permutation_importance(plain, X, y, qid, n_repeats=2, random_state=0)
    np.testing.assert_allclose(found.importances, wanted.importances, atol=1e-12)
    linear = LinearRanker(random_state=0).fit(csr_array(X), y, qid)
    dense, sparse = (permutation_importance(linear, x, y, qid, n_repeats=2, random_state=0) for x in (X, csr_array(X)))
    np.testing.assert_allclose(dense.importances, sparse.importances, atol=1e-12)
    assert found.to_frame("pandas").columns.tolist() == ["feature", "importance", "standard_error"]
    assert "standard error" in repr(found)


def test_rankers_that_are_not_fitted_explain_nothing(data):
    X, y, qid = data
    with pytest.raises(NotFittedError):
        permutation_importance(LinearRanker(), X, y, qid)
    with pytest.raises(NotFittedError):
        StackedQueryRanker().explain(X, 0, 1)
