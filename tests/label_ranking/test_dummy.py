"""The consensus as a ranker."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from rankwise.aggregation import borda, copeland, kemeny, preference_matrix
from rankwise.label_ranking import DummyRanker
from tests.strategies import random_positions


@pytest.mark.parametrize("decode", ["kemeny", "borda"])
def test_the_prediction_is_the_consensus(decode):
    rng = np.random.default_rng(0)
    y = random_positions(rng, 31, 5, "incomplete")
    ranker = DummyRanker(decode).fit(rng.random((31, 2)), y)
    consensus = kemeny(y).positions if decode == "kemeny" else borda(y)
    np.testing.assert_array_equal(ranker.predict(np.zeros((2, 2))), np.tile(consensus, (2, 1)))
    np.testing.assert_allclose(ranker.predict_pairwise(np.zeros((1, 2)))[0], preference_matrix(y).probabilities)


def test_copeland_ties_are_broken_by_soft_votes():
    y = random_positions(np.random.default_rng(0), 31, 5, "incomplete")
    ranker = DummyRanker("copeland").fit(np.zeros((31, 1)), y)
    places = copeland(y)
    assert places[0] == places[3]
    order = np.lexsort((-ranker.pairwise_.sum(axis=1), places))
    np.testing.assert_array_equal(ranker.positions_[order], np.arange(1, 6))


def test_copeland_where_strictly_transitive_and_borda_elsewhere():
    X, y = np.zeros((5, 1)), [[1, 2, 3], [1, 2, 3], [1, 2, 3], [2, 3, 1], [3, 1, 2]]
    np.testing.assert_array_equal(DummyRanker("copeland-or-borda").fit(X, y).positions_, [1, 2, 3])
    cycle = [[1, 2, 3], [1, 2, 3], [2, 3, 1], [2, 3, 1], [3, 1, 2]]  # 0 before 1 before 2 before 0
    np.testing.assert_array_equal(DummyRanker("copeland-or-borda").fit(X, cycle).positions_, borda(cycle))


def test_pairs_that_nobody_compared_are_even():
    ranker = DummyRanker().fit([[0.0], [0.0]], [[1, 2, np.nan], [np.nan, 1, 2]])
    assert ranker.pairwise_[0, 2] == 0.5
    assert ranker.predict([[0.0]]).tolist() == [[1, 2, 3]]


def test_features_are_not_looked_at():
    table = pd.DataFrame({"city": ["Oslo", None], "age": [1.0, np.nan]})
    ranker = DummyRanker().fit(table, [[1, 2], [1, 2]])
    np.testing.assert_array_equal(ranker.predict(table), [[1, 2], [1, 2]])


@pytest.mark.parametrize("X", [{}, [], ()])
def test_tables_without_rows_are_refused_in_words(X):
    ranker = DummyRanker().fit([[0], [1]], [[1, 2], [2, 1]])
    for work in (ranker.predict, lambda X: DummyRanker().fit(X, [[1, 2]])):
        with pytest.raises((TypeError, ValueError), match="give a table with a row for each ranking"):
            work(X)
