"""Predictive distributions: projections, sampled frequencies and probabilities of the first places by brute force."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from scipy.special import expit

from rankwise.label_ranking import DummyRanker, PlackettLuceRanker, PlackettLuceTree, RankingForest
from rankwise.label_ranking.predictive import (
    mallows_top,
    plackett_luce_top,
    theta_from_pairwise,
    worths_from_pairwise,
)
from tests.label_ranking.estimators import RANKERS
from tests.label_ranking.test_every_ranker import make_data


def all_rankings(k):
    return np.array([np.argsort(order) + 1.0 for order in permutations(range(k))])


def plackett_luce_law(worth):
    """Probability of every ranking by its definition."""
    law = []
    for positions in all_rankings(len(worth)):
        left, p = np.exp(worth[np.argsort(positions)]), 1.0
        for place in range(len(worth)):
            p *= left[place] / left[place:].sum()
        law.append(p)
    return np.array(law)


def mallows_law(center, theta):
    k = len(center)
    first, second = np.triu_indices(k, 1)
    rankings = all_rankings(k)
    apart = (rankings[:, first] < rankings[:, second]) != (center[first] < center[second])
    weights = np.exp(-theta * apart.sum(axis=1))
    return weights / weights.sum()


def shares(law, rankings):
    return np.einsum("r,rij->ij", law, (rankings[:, :, None] < rankings[:, None, :]).astype(float))


@pytest.mark.parametrize("k", [2, 3, 5])
def test_projection_recovers_worths_and_keeps_expected_places(k):
    rng = np.random.default_rng(k)
    worth = rng.normal(size=(4, k)) * 2
    worth -= worth.mean(axis=1, keepdims=True)
    np.testing.assert_allclose(worths_from_pairwise(expit(worth[:, :, None] - worth[:, None, :])), worth, atol=1e-8)
    P = rng.random((6, k, k))
    P = np.triu(P, 1) + np.tril(1 - P.transpose(0, 2, 1), -1) + 0.5 * np.eye(k)
    u = worths_from_pairwise(P)
    np.testing.assert_allclose(expit(u[:, :, None] - u[:, None, :]).sum(axis=1), P.sum(axis=1), atol=1e-9)


def test_certain_pairs_have_finite_worths():
    P = np.array([[[0.5, 1, 1], [0, 0.5, 1], [0, 0, 0.5]]])
    u = worths_from_pairwise(P)[0]
    assert np.isfinite(u).all()
    assert u[0] - u[1] > 10
    assert theta_from_pairwise(P, np.array([[1.0, 2, 3]]))[0] > 20


@pytest.mark.parametrize("k", [2, 4, 5])
@pytest.mark.parametrize("places", [1, 2, 3])
def test_probabilities_of_first_places_by_brute_force(k, places):
    places = min(places, k)
    rng = np.random.default_rng(0)
    rankings = all_rankings(k)
    for worth in (rng.normal(size=k), rng.normal(size=k) * 5):
        expected = plackett_luce_law(worth) @ (rankings <= places)
        np.testing.assert_allclose(plackett_luce_top(worth[None], places)[0], expected, atol=1e-10)
    center = rankings[min(3, len(rankings) - 1)]
    for theta in (0.0, 0.4, 3.0):
        expected = mallows_law(center, theta) @ (rankings <= places)
        np.testing.assert_allclose(mallows_top(center[None], np.array([theta]), places)[0], expected, atol=1e-12)


@pytest.mark.parametrize("theta", [0.1, 0.7, 2.0])
def test_theta_has_the_expected_distance(theta):
    center = np.array([2.0, 4, 1, 3])
    P = shares(mallows_law(center, theta), all_rankings(4)) + 0.5 * np.eye(4)
    assert theta_from_pairwise(P[None], center[None])[0] == pytest.approx(theta, abs=1e-9)
    assert theta_from_pairwise(np.full((1, 4, 4), 0.5), center[None])[0] == 0.0


@pytest.mark.parametrize("ranker", RANKERS, ids=repr)
@pytest.mark.parametrize("law", ["plackett-luce", "mallows"])
def test_every_ranker_samples_from_its_law(ranker, law):
    X, y = make_data()
    ranker = type(ranker)(**ranker.get_params(deep=False)).fit(X, y)
    sampled = ranker.sample_rankings(X[:2], 4000, random_state=0, law=law)
    assert sampled.shape == (2, 4000, 4)
    np.testing.assert_array_equal(np.sort(sampled, axis=2), np.broadcast_to([1.0, 2, 3, 4], (2, 4000, 4)))
    for k in (1, 3):
        top = ranker.predict_top_proba(X[:2], k, law=law)
        np.testing.assert_allclose(top.sum(axis=1), k)
        np.testing.assert_allclose((sampled <= k).mean(axis=1), top, atol=0.04)
    P = ranker.predict_pairwise(X[:2])
    seen = (sampled[:, :, :, None] < sampled[:, :, None, :]).mean(axis=1)
    if law == "plackett-luce":  # expected places agree
        np.testing.assert_allclose(seen.sum(axis=1), P.sum(axis=1) - 0.5, atol=0.08)
    else:
        behind = ranker.predict(X[:2])[:, :, None] > ranker.predict(X[:2])[:, None, :]
        target = np.minimum((P * behind).sum(axis=(1, 2)), 3.0)
        np.testing.assert_allclose((seen * behind).sum(axis=(1, 2)), target, atol=0.1)


@pytest.mark.parametrize("ranker", [PlackettLuceRanker(0.01), PlackettLuceTree(min_samples_leaf=15)], ids=repr)
def test_models_of_plackett_luce_are_their_own_law(ranker):
    X, y = make_data()
    P = ranker.fit(X, y).predict_pairwise(X[:3])
    sampled = ranker.sample_rankings(X[:3], 20_000, random_state=1)
    seen = (sampled[:, :, :, None] < sampled[:, :, None, :]).mean(axis=1) + 0.5 * np.eye(4)
    np.testing.assert_allclose(seen, P, atol=0.02)
    worth = ranker._predict_log_worth(X[:3])
    np.testing.assert_allclose(expit(worth[:, :, None] - worth[:, None, :]), P, atol=1e-12)


def test_samples_repeat_and_differ():
    X, y = make_data()
    forest = RankingForest(5, random_state=0).fit(X, y)
    first = forest.sample_rankings(X, 3, random_state=7)
    np.testing.assert_array_equal(first, forest.sample_rankings(X, 3, random_state=7))
    assert not np.array_equal(first, forest.sample_rankings(X, 3, random_state=8))
    assert forest.sample_rankings(X, 0).shape == (60, 0, 4)


def test_bad_input_is_refused():
    X, y = make_data()
    ranker = DummyRanker().fit(X, y)
    with pytest.raises(ValueError, match="law is 'normal'"):
        ranker.sample_rankings(X, law="normal")
    with pytest.raises(ValueError, match="k is 5, but there are only 4 items"):
        ranker.predict_top_proba(X, 5)
    with pytest.raises(ValueError, match="ask for fewer rankings"):
        ranker.sample_rankings(X, 1_000_000)
