"""Classifiers of pairs against a loop over pairs."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from rankwise.label_ranking import PairwiseRanker, pairwise
from tests.label_ranking.test_every_ranker import make_data
from tests.naive import label_ranking as naive
from tests.strategies import KINDS


@pytest.mark.parametrize("kind", KINDS)
def test_pairs_equal_classifiers_fitted_one_by_one(kind):
    X, y = make_data(kind)
    classifier = DecisionTreeClassifier(max_depth=2, random_state=0)
    P = PairwiseRanker(classifier).fit(X, y).predict_pairwise(X)
    for i, j in naive.pairs(4):
        rows = [r for r in range(60) if y[r, i] < y[r, j] or y[r, j] < y[r, i]]
        target = [bool(y[r, i] < y[r, j]) for r in rows]
        expected = clone(classifier).fit(X[rows], target).predict_proba(X)[:, 1]
        np.testing.assert_allclose(P[:, i, j], expected)


def test_the_default_is_logistic_regression_on_standardized_features():
    X, y = make_data()
    X = X * [1.0, 100.0, 0.01]
    scaled = StandardScaler().fit_transform(X)
    expected = LogisticRegression().fit(scaled, y[:, 0] < y[:, 1]).predict_proba(scaled)[:, 1]
    np.testing.assert_allclose(PairwiseRanker().fit(X, y).predict_pairwise(X)[:, 0, 1], expected, atol=1e-6)


@pytest.mark.parametrize("ties", ["probability", "random"])
def test_hard_votes_equal_their_definition(ties):
    X, y = make_data(k=5)
    ranker = PairwiseRanker(DecisionTreeClassifier(max_depth=1), decode="copeland", ties=ties, random_state=0).fit(X, y)
    for positions, P in zip(ranker.predict(X), ranker.predict_pairwise(X), strict=True):
        assert np.all(np.diff(naive.hard_vote_scores(P)[np.argsort(positions)]) >= 0)


def test_seeds_decide_random_ties_and_classifiers():
    X, y = make_data(k=5)
    X = np.round(X)
    forest = DecisionTreeClassifier(splitter="random", max_depth=2)

    def predict(seed):
        return PairwiseRanker(forest, decode="copeland", ties="random", random_state=seed).fit(X, y).predict(X)

    np.testing.assert_array_equal(predict(0), predict(0))
    assert any(not np.array_equal(predict(0), predict(seed)) for seed in (1, 2, 3))


def test_pairs_that_are_never_or_always_ordered_one_way():
    y = np.array([[1, 2, np.nan, 3], [1, np.nan, 2, 3], [1, 2, np.nan, 3]])
    ranker = PairwiseRanker().fit(np.arange(3.0)[:, None], y)
    P = ranker.predict_pairwise([[0.0]])[0]
    assert P[1, 2] == 0.5
    assert P[0, 3] == pytest.approx(4 / 5)
    assert P[2, 3] == pytest.approx(2 / 3)
    assert ranker.predict([[0.0]])[0, [0, 3]].tolist() == [1, 4]


def test_classifiers_without_probabilities():
    X, y = make_data()
    P = PairwiseRanker(LinearSVC(random_state=0)).fit(X, y).predict_pairwise(X)
    assert set(np.unique(P)) == {0.0, 0.5, 1.0}


def test_classifiers_without_weights_refuse_them():
    X, y = make_data()
    PairwiseRanker(KNeighborsClassifier()).fit(X, y, np.full(60, 2.0))
    with pytest.raises(ValueError, match="KNeighborsClassifier takes no sample_weight"):
        PairwiseRanker(KNeighborsClassifier()).fit(X, y, 1 + np.arange(60) % 2)


@pytest.mark.slow
def test_fifty_items():
    X, y = make_data(n=80, k=50)
    ranker = PairwiseRanker().fit(X, y)
    assert len(ranker.classifiers_) == 1225
    assert ranker.score(X, y) > 0.8


@pytest.mark.parametrize("seed", range(3))
def test_hard_votes_are_what_the_classifiers_say(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 2))
    y = np.argsort(np.argsort(X @ rng.normal(size=(2, 4)) + rng.normal(size=(60, 4)), axis=1), axis=1) + 1.0
    # Of an even number of trees, half often say one and half the other: predict then decides, not 1/2.
    ranker = PairwiseRanker(RandomForestClassifier(4, random_state=0), decode="copeland", random_state=0).fit(X, y)
    new = rng.normal(size=(80, 2))
    above, below = np.triu_indices(4, 1)
    places = np.ones((80, 4))
    for model, i, j in zip(ranker.classifiers_, above, below, strict=True):
        first = model.predict(new) == 1
        places[:, j] += first
        places[:, i] += ~first
    for row, predicted in zip(places, ranker.predict(new), strict=True):
        assert (np.diff(row[np.argsort(predicted)]) >= 0).all()


def test_many_pairs_are_said_to_take_long_and_too_many_are_refused(monkeypatch):
    X, y = [[0.0], [1.0]], np.vstack([np.arange(1.0, 8), np.arange(7.0, 0, -1)])
    as_usual = PairwiseRanker().fit(X, y).predict_pairwise(X)
    monkeypatch.setattr(pairwise, "_MANY_PAIRS", 20)
    assert np.array_equal(PairwiseRanker().fit(X, y).predict_pairwise(X), as_usual)
    monkeypatch.setattr(pairwise, "_PATIENCE", 0.0)
    with pytest.warns(UserWarning, match=r"21 pairs of items will take about .* minutes; more n_jobs"):
        PairwiseRanker().fit(X, y)
    monkeypatch.setattr(pairwise, "_MOST_PAIRS", 20)
    with pytest.raises(ValueError, match=r"7 items have 21 pairs, and at most 20 classifiers .* LabelwiseRanker"):
        PairwiseRanker().fit(X, y)
