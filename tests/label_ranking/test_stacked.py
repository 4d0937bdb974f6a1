"""The blend: honest weights, members of every make, features with gaps and categories."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import ShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from rankwise import Rankings
from rankwise.embeddings import KemenyEmbedding
from rankwise.label_ranking import (
    DummyRanker,
    NearestNeighborsRanker,
    PairwiseRanker,
    PlackettLuceRanker,
    RankingForest,
    StackedRanker,
)
from rankwise.label_ranking.base import sure_gain
from rankwise.label_ranking.stacked import _blend_weights, _least_squares_weights, default_rankers


def linear_data(n=120, k=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 3))
    scores = X @ rng.standard_normal((3, k))
    return X, np.argsort(np.argsort(scores, axis=1), axis=1) + 1.0


def small_rankers():
    return [
        ("forest", RankingForest(10, random_state=0)),
        ("linear", PlackettLuceRanker()),
        ("dummy", DummyRanker()),
    ]


def test_the_better_ranker_gets_the_weight():
    X, y = linear_data()
    blend = StackedRanker(small_rankers(), random_state=0).fit(X, y)
    assert blend.weights_["linear"] > 0.5
    assert sum(blend.weights_.values()) == pytest.approx(1.0)
    assert min(blend.weights_.values()) >= 0
    assert set(blend.rankers_) == {name for name, weight in blend.weights_.items() if weight > 0}


def test_leaderboard_is_sorted_and_holds_the_blend():
    X, y = linear_data()
    board = StackedRanker(small_rankers(), random_state=0).fit(X, y).leaderboard_
    assert sorted(entry.name for entry in board) == ["blend", "dummy", "forest", "linear"]
    scores = [entry.score for entry in board]
    assert scores == sorted(scores, reverse=True)
    assert next(entry for entry in board if entry.name == "dummy").score < 0.5


def test_probabilities_are_the_weighted_mean_of_the_members():
    X, y = linear_data()
    blend = StackedRanker(small_rankers(), random_state=0).fit(X, y)
    expected = sum(blend.weights_[name] * ranker.predict_pairwise(X) for name, ranker in blend.rankers_.items())
    np.testing.assert_allclose(blend.predict_pairwise(X), expected)


def test_out_of_fold_scores_come_from_rows_not_seen():
    """A ranker that remembers its training rows looks perfect on them, and no better than chance on others."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((100, 3))
    y = np.array([rng.permutation(4) + 1.0 for _ in range(100)])
    memory = NearestNeighborsRanker(1)
    assert memory.fit(X, y).score(X, y) == 1
    board = StackedRanker([("memory", memory), ("dummy", DummyRanker())], random_state=0).fit(X, y).leaderboard_
    assert next(entry for entry in board if entry.name == "memory").score < 0.3


def test_least_squares_weights_equal_a_search_over_the_simplex():
    rng = np.random.default_rng(1)
    y = Rankings(np.array([rng.permutation(3) + 1.0 for _ in range(40)]))
    truth = KemenyEmbedding().fit(y).transform(y)
    members = np.clip(truth + rng.normal(0, [[[0.3]], [[0.5]], [[1.0]]], (3, *truth.shape)), 0, 1)
    found = _least_squares_weights(members, y)

    def objective(weights):
        error = ((np.tensordot(weights, members, 1) - truth) ** 2).mean()
        return error + ((weights - 1 / 3) ** 2).sum() / len(y)

    grid = [np.array([a, b, 1 - a - b]) for a in np.linspace(0, 1, 101) for b in np.linspace(0, 1 - a, 101)]
    assert objective(found) <= min(map(objective, grid)) + 1e-5
    assert found.sum() == pytest.approx(1)


def test_weights_climb_only_for_sure_gains():
    assert sure_gain(np.array([0.1, 0.1, 0.1, 0.1]), np.ones(4)) == pytest.approx(0.1)
    assert sure_gain(np.array([0.5, -0.4, 0.0, 0.0]), np.ones(4)) < 0
    assert sure_gain(np.array([np.nan, 0.2]), np.ones(2)) == pytest.approx(0.2)
    y = Rankings(np.tile([[1.0, 2.0, 3.0]], (30, 1)))
    right, wrong = np.full((30, 3), 0.9), np.full((30, 3), 0.1)
    weights = _blend_weights(np.stack([right, wrong]), y)
    np.testing.assert_allclose(weights, [1, 0], atol=1e-6)


def test_a_splitter_saves_folds_and_pipelines_are_members():
    X, y = linear_data()
    members = [
        ("forest", RankingForest(10, random_state=0)),
        ("piped", make_pipeline(StandardScaler(), PairwiseRanker())),
    ]
    blend = StackedRanker(members, cv=ShuffleSplit(1, test_size=0.3, random_state=0), random_state=0).fit(X, y)
    assert blend.score(X, y) > 0.8


def test_categories_and_gaps_reach_every_member():
    X, y = linear_data()
    table = pd.DataFrame(X, columns=["a", "b", "c"])
    table["kind"] = np.where(X[:, 0] > 0, "warm", "cold")
    table.loc[::7, "b"] = np.nan
    blend = StackedRanker(small_rankers(), random_state=0).fit(table, y)
    assert blend.score(table, y) > 0.6
    new = table.head(3).copy()
    new["kind"] = ["warm", "never seen", None]
    assert np.isfinite(blend.predict(new)).all()


def test_missing_values_at_predict_only():
    X, y = linear_data()
    blend = StackedRanker([("linear", PlackettLuceRanker())], random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="contains NaN"):
        blend.predict([[np.nan, 0, 0]])


@pytest.mark.parametrize(
    ("rankers", "error", "message"),
    [
        ([], ValueError, "different names"),
        ([("a", DummyRanker()), ("a", DummyRanker())], ValueError, "different names"),
        ([("a", StandardScaler())], TypeError, "no predict_pairwise"),
    ],
)
def test_bad_rankers(rankers, error, message):
    X, y = linear_data(30)
    with pytest.raises(error, match=message):
        StackedRanker(rankers).fit(X, y)


def test_fewer_rows_than_folds():
    X, y = linear_data(4)
    with pytest.raises(ValueError, match="cv is 5, but there are only 4 rows to learn from"):
        StackedRanker(small_rankers()).fit(X, y)


def test_beyond_fifty_items_there_is_no_classifier_per_pair():
    few, many = ([name for name, _ in default_rankers(n_items=n)] for n in (50, 51))
    assert [name for name in few if name not in many] == [name for name in few if "pairwise" in name]


@pytest.mark.slow
def test_the_default_blend_ranks_two_hundred_items():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 3))
    y = np.argsort(np.argsort(X @ rng.normal(size=(3, 200)), axis=1), axis=1) + 1.0
    assert StackedRanker(cv=2, random_state=0).fit(X, y).score(X, y) > 0.5


@pytest.mark.slow
def test_default_rankers_blend_and_repeat():
    X, y = linear_data(80)
    names = [name for name, _ in default_rankers()]
    assert len(set(names)) == len(names)
    first = StackedRanker(random_state=3).fit(X, y)
    again = StackedRanker(random_state=3, n_jobs=2).fit(X, y)
    np.testing.assert_array_equal(first.predict_pairwise(X), again.predict_pairwise(X))
    assert set(first.weights_) == set(names)
    assert first.score(X, y) > 0.9


def test_an_item_that_only_one_fold_ranks():
    X, y = linear_data(30)
    y[1:, 3] = np.nan
    with pytest.raises(ValueError, match="no training row of one of the folds ranks item 3"):
        StackedRanker(small_rankers(), random_state=0).fit(X, y)


def test_splits_may_be_listed():
    X, y = linear_data(30)
    rows = np.arange(30)
    blend = StackedRanker(small_rankers(), cv=[(rows[:20], rows[20:])], random_state=0).fit(X, y)
    assert sum(blend.weights_.values()) == pytest.approx(1)


def test_members_can_be_searched():
    blend = StackedRanker([("forest", RankingForest(5)), ("linear", PlackettLuceRanker())])
    assert blend.get_params()["forest__n_estimators"] == 5
    blend.set_params(forest__n_estimators=7, cv=3)
    assert blend.rankers[0][1].n_estimators == 7
    assert blend.cv == 3
    blend.set_params(linear=NearestNeighborsRanker(3))
    assert isinstance(blend.rankers[1][1], NearestNeighborsRanker)
    assert clone(blend).get_params()["linear__n_neighbors"] == 3
    with pytest.raises(ValueError, match="Invalid parameter 'tree'"):
        blend.set_params(tree=RankingForest())
