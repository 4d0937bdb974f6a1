"""Rows to train on next, against a loop over queries."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from rankwise.datasets import make_retrieval
from rankwise.ltr import LinearRanker, refresh_candidates


@pytest.fixture(scope="module")
def fitted():
    X, y, qid, _ = make_retrieval(12, 5, docs_per_query=(3, 40), random_state=0)
    shuffle = np.random.default_rng(0).permutation(len(y))
    X, y, qid = X[shuffle], y[shuffle], qid[shuffle]
    return LinearRanker(random_state=0).fit(X, y, qid), X, y, qid


@pytest.mark.parametrize("k", [1, 7, 1000])
def test_rows_are_the_relevant_ones_and_the_first(fitted, k):
    ranker, X, y, qid = fitted
    score, wanted = ranker.predict(X), set()
    for query in np.unique(qid):
        rows = np.flatnonzero(qid == query)
        wanted |= set(rows[np.argsort(-score[rows])][:k]) | set(rows[y[rows] > y[rows].min()])
    found = refresh_candidates(ranker, X, y, qid, k=k, random_state=0)
    assert found.tolist() == sorted(wanted)
    frame = pd.DataFrame(X).assign(query=qid)
    frame.columns = frame.columns.astype(str)
    named = LinearRanker(random_state=0).fit(frame, y, "query")
    np.testing.assert_array_equal(refresh_candidates(named, frame, y, "query", k=k), found)


def test_random_rows_are_others_of_each_query(fitted):
    ranker, X, y, qid = fitted
    hard = refresh_candidates(ranker, X, y, qid, k=2, random_state=0)
    more = refresh_candidates(ranker, X, y, qid, k=2, n_random=3, random_state=0)
    assert set(hard) <= set(more)
    added = np.setdiff1d(more, hard)
    left = np.bincount(qid, minlength=13) - np.bincount(qid[hard], minlength=13)
    np.testing.assert_array_equal(np.bincount(qid[added], minlength=13), np.minimum(left, 3))
    other = refresh_candidates(ranker, X, y, qid, k=2, n_random=3, random_state=1)
    assert not np.array_equal(other, more)


def test_mistakes_are_named(fitted):
    ranker, X, y, qid = fitted
    with pytest.raises(ValueError, match="k is 0"):
        refresh_candidates(ranker, X, y, qid, k=0)
    with pytest.raises(ValueError, match="X has shape"):
        refresh_candidates(ranker, X, y[:-1], qid)
