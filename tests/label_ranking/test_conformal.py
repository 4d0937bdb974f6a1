"""Conformal rankers: asserted pairs form partial orders, and all of them hold as often as promised."""

from __future__ import annotations

from itertools import pairwise, permutations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from rankwise import Rankings
from rankwise.data import dense_positions
from rankwise.label_ranking import ConformalRanker, DummyRanker, PairwiseRanker, PlackettLuceRanker, RankingForest
from rankwise.label_ranking.conformal import confidence_of_pairs
from tests.strategies import KINDS


def make_data(n: int, seed: int, kind: str = "full", k: int = 4) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 2))
    scores = X @ np.random.default_rng(99).standard_normal((2, k)) + 0.5 * rng.gumbel(size=(n, k))
    y = np.argsort(np.argsort(-scores, axis=1), axis=1) + 1.0
    if kind == "tied":
        y = np.ceil(y / 2)
    if kind == "top-k":
        y[y > 2] = np.inf
    if kind == "incomplete":
        y[rng.random(y.shape) < 0.3] = np.nan
    return X, dense_positions(y)


def turned_around(asserted: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """Whether some asserted pair is the other way round in the truth, row by row; by loops over all pairs."""
    k = truth.shape[1]
    pairs = [(i, j) for i in range(k) for j in range(k)]
    return np.array([any(s[i, j] and t[j] < t[i] for i, j in pairs) for s, t in zip(asserted, truth, strict=True)])


def naive_confidence(order: list[int], P: np.ndarray) -> np.ndarray:
    """Strongest chain of predicted pairs, by enumeration of all chains."""
    k = len(order)
    best = np.zeros((k, k))
    for size in range(2, k + 1):
        for chain in permutations(range(k), size):
            if all(order.index(a) < order.index(b) for a, b in pairwise(chain)):
                weakest = min(P[a, b] for a, b in pairwise(chain))
                best[chain[0], chain[-1]] = max(best[chain[0], chain[-1]], weakest)
    return best


@given(st.integers(0, 2**32 - 1), st.integers(2, 5))
def test_confidence_is_that_of_the_strongest_chain(seed: int, k: int) -> None:
    rng = np.random.default_rng(seed)
    P = np.round(rng.random((k, k)), 1)
    order = rng.permutation(k).tolist()
    positions = np.argsort(order) + 1.0
    np.testing.assert_array_equal(confidence_of_pairs(positions[None], P[None])[0], naive_confidence(order, P))


@given(st.integers(0, 2**32 - 1), st.integers(2, 7), st.floats(0, 1))
def test_what_is_surer_than_any_threshold_is_a_partial_order(seed: int, k: int, threshold: float) -> None:
    rng = np.random.default_rng(seed)
    positions = np.argsort(rng.random((20, k)), axis=1) + 1.0
    S = confidence_of_pairs(positions, rng.random((20, k, k))) > threshold
    assert not np.any(S & S.transpose(0, 2, 1))
    follows = (S.astype(int) @ S.astype(int)) > 0
    assert not np.any(follows & ~S)


def test_thresholds_on_probabilities_alone_would_not_be_partial_orders() -> None:
    # 0 before 1 and 1 before 2 by 0.9, 0 before 2 by 0.6 only: what follows is asserted too.
    P = np.array([[[0.5, 0.9, 0.6], [0.1, 0.5, 0.9], [0.4, 0.1, 0.5]]])
    np.testing.assert_array_equal(confidence_of_pairs(np.array([[1.0, 2, 3]]), P)[0, 0], [0, 0.9, 0.9])


@pytest.mark.parametrize("kind", KINDS)
def test_asserted_pairs_are_partial_orders_within_the_prediction(kind: str) -> None:
    X, y = make_data(200, 0, kind)
    ranker = ConformalRanker(RankingForest(10, random_state=0), alpha=0.3, random_state=0).fit(X, y)
    S, predicted = ranker.predict_set(X), ranker.predict(X)
    assert S.dtype == bool
    assert 0.02 < S.sum() / (len(X) * 6) < 0.98
    assert not np.any(S & ~(predicted[:, :, None] < predicted[:, None, :]))
    assert not np.any(((S.astype(int) @ S.astype(int)) > 0) & ~S)


def test_a_smaller_alpha_asserts_less() -> None:
    X, y = make_data(400, 0)
    ranker = ConformalRanker(PlackettLuceRanker(), random_state=0).fit(X, y)
    wide, narrow = ranker.predict_set(X, alpha=0.4), ranker.predict_set(X, alpha=0.05)
    assert not np.any(narrow & ~wide)
    assert narrow.sum() < wide.sum()
    np.testing.assert_array_equal(ranker.predict_set(X), ranker.predict_set(X, alpha=0.1))


def test_the_threshold_is_the_promised_order_statistic() -> None:
    X, y = make_data(80, 0)
    ranker = ConformalRanker(PlackettLuceRanker(), random_state=0).fit(X, y)
    scores = ranker.calibration_scores_
    assert len(scores) == 20
    for alpha in (0.05, 0.1, 0.5, 0.9):
        place = int(np.ceil(round((1 - alpha) * 21, 9)))
        asserted = confidence_of_pairs(ranker.predict(X), ranker.predict_pairwise(X)) > scores[place - 1]
        np.testing.assert_array_equal(ranker.predict_set(X, alpha=alpha), asserted)


def test_too_few_rows_set_aside_assert_nothing_and_say_so() -> None:
    X, y = make_data(20, 0)
    ranker = ConformalRanker(PlackettLuceRanker(), random_state=0).fit(X, y)
    with pytest.warns(UserWarning, match=r"alpha=0\.1 needs 9 rows set aside, but there are 5; raise alpha or"):
        assert not ranker.predict_set(X).any()
    assert ranker.predict_set(X, alpha=0.2).any()  # 5 scores and the new one: the largest is 1 in 6


def coverage(kind: str, n_repeats: int, ranker: object, n: int = 80, alpha: float = 0.2) -> tuple[float, float]:
    """Share of new rows in which no asserted pair is reversed, and share of pairs that are asserted."""
    held, asserted = [], []
    for seed in range(n_repeats):
        X, y = make_data(n + 25, seed, kind)
        fitted = ConformalRanker(ranker, alpha=alpha, random_state=seed).fit(X[:n], y[:n])
        compares = np.isfinite(y[n:]).any(axis=1) & ((~np.isnan(y[n:])).sum(axis=1) > 1)
        S = fitted.predict_set(X[n:][compares])
        held.append(np.mean(~turned_around(S, y[n:][compares])))
        asserted.append(S.sum() / (len(S) * 6))
    return float(np.mean(held)), float(np.mean(asserted))


def test_coverage_of_few_repeats() -> None:
    held, asserted = coverage("full", 40, PlackettLuceRanker())
    assert 0.77 < held < 0.9  # 20 rows set aside: between 0.8 and 0.8 + 1 / 21, and the noise of 40 repeats
    assert asserted > 0.3


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "ranker"),
    [
        *((kind, PlackettLuceRanker()) for kind in KINDS),
        ("full", DummyRanker()),
        ("full", RankingForest(5, random_state=0)),
    ],
)
def test_coverage_is_as_promised_whatever_the_ranker(kind: str, ranker: object) -> None:
    held, _ = coverage(kind, 150, ranker)
    assert held >= 0.8 - 0.02  # 20 rows set aside spread the coverage by 0.09: two standard errors of 150 means


def test_weights_count_for_the_threshold() -> None:
    X, y = make_data(200, 0)
    ranker = ConformalRanker(DummyRanker(), test_size=0.5, random_state=0).fit(X, y)
    aside = np.sort(np.random.default_rng(0).permutation(200)[:100])
    wrong = turned_around(ranker.predict_set(X, alpha=0.999), y)
    assert wrong.any()
    # Rows that contradict the most count ten times as much: their scores reach further down.
    heavy = np.ones(200)
    heavy[aside] = np.where(wrong[aside], 10.0, 1.0)
    weighted = ConformalRanker(DummyRanker(), test_size=0.5, random_state=0).fit(X, y, heavy)
    np.testing.assert_allclose(weighted.calibration_weights_.mean(), 1)
    assert weighted._threshold(0.5) >= ranker._threshold(0.5)
    scaled = ConformalRanker(DummyRanker(), test_size=0.5, random_state=0).fit(X, y, 7 * heavy)
    assert scaled._threshold(0.5) == weighted._threshold(0.5)


def test_pipelines_frames_and_the_default_ranker() -> None:
    X, y = make_data(120, 0)
    pipeline = make_pipeline(StandardScaler(), PairwiseRanker(LogisticRegression()))
    ranker = ConformalRanker(pipeline, alpha=0.3, random_state=0).fit(X, y)
    assert ranker.predict_set(X).any()
    assert ranker.predict_pairwise(X).shape == (120, 4, 4)
    frame = pd.DataFrame({"a": X[:, 0], "b": np.where(X[:, 1] > 0, "yes", "no")})
    forest = ConformalRanker(alpha=0.3, random_state=0).fit(frame, Rankings(y, items=["p", "q", "r", "s"]))
    assert isinstance(forest.ranker_, RankingForest)
    assert (forest.items_, forest.feature_names_in_.tolist()) == (("p", "q", "r", "s"), ["a", "b"])
    assert forest.predict_set(frame).any()


def test_bad_input() -> None:
    X, y = make_data(40, 0)
    ranker = ConformalRanker(PlackettLuceRanker(), random_state=0)
    with pytest.raises(ValueError, match="alpha is 1, but must lie between 0 and 1"):
        ranker.fit(X, y).predict_set(X, alpha=1)
    with pytest.raises(TypeError, match="no predict_pairwise; give a label ranker"):
        ConformalRanker(LogisticRegression()).fit(X, y)
    y[1:, 3] = np.nan
    ranker.set_params(test_size=0.9)  # the one row that ranks d is set aside
    with pytest.raises(ValueError, match="only rows that are set aside rank d; drop items"):
        ranker.fit(X, Rankings(y, items=list("abcd")))


def test_threads_are_those_of_the_ranker_unless_it_has_its_own():
    X, y = make_data(80, 0)
    plain = ConformalRanker(RankingForest(5, random_state=0), random_state=0).fit(X, y)
    for ranker, jobs in ((RankingForest(5, random_state=0), 2), (RankingForest(5, n_jobs=1, random_state=0), 1)):
        fitted = ConformalRanker(ranker, n_jobs=2, random_state=0).fit(X, y)
        assert fitted.ranker_.n_jobs == jobs
        assert ranker.n_jobs in (None, 1)  # what was given is not changed
        np.testing.assert_array_equal(fitted.calibration_scores_, plain.calibration_scores_)
        np.testing.assert_array_equal(fitted.predict_set(X), plain.predict_set(X))
    pipeline = make_pipeline(StandardScaler(), RankingForest(5, random_state=0))
    assert ConformalRanker(pipeline, n_jobs=2, random_state=0).fit(X, y).ranker_[-1].n_jobs == 2


def test_the_seed_is_that_of_the_ranker_too_and_threads_change_nothing() -> None:
    X, y = make_data(80, 0)
    ranker = make_pipeline(StandardScaler(), RankingForest(5))
    fits = [ConformalRanker(ranker, n_jobs=n_jobs, random_state=0).fit(X, y) for n_jobs in (None, 1, 2)]
    for fitted in fits[1:]:
        np.testing.assert_array_equal(fitted.predict_pairwise(X), fits[0].predict_pairwise(X))
        np.testing.assert_array_equal(fitted.predict_set(X), fits[0].predict_set(X))
    seeded = make_pipeline(StandardScaler(), RankingForest(5, random_state=3))
    assert ConformalRanker(seeded, random_state=0).fit(X, y).ranker_[-1].random_state == 3
