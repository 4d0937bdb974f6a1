"""The blend: honest weights, members of every make, features with gaps and categories."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm
from sklearn.base import clone
from sklearn.model_selection import ShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from rankwise import Rankings
from rankwise.datasets import make_smooth_label_ranking
from rankwise.embeddings import KemenyEmbedding, decode_pairwise, pairwise_from_vectors
from rankwise.label_ranking import (
    DummyRanker,
    KernelRanker,
    LabelwiseRanker,
    NearestNeighborsRanker,
    PairwiseRanker,
    PlackettLuceRanker,
    RankingForest,
    StackedRanker,
)
from rankwise.label_ranking.base import sure_gain
from rankwise.label_ranking.stacked import _blend_weights, _least_squares_weights, default_rankers
from rankwise.metrics import kendall_tau_score
from rankwise.plots import PairwiseCalibrationDisplay
from rankwise.trees import LeastSquaresForest


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
    blend = StackedRanker(small_rankers(), calibrate=False, random_state=0).fit(X, y)
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


def unseen_by_refits(make, X, y, rows):
    """Pairs of rows by rankers that are fitted without them, one at a time."""
    kept = [np.delete(np.arange(len(X)), row) for row in rows]
    P = [make().fit(X[others], y[others]).predict_pairwise(X[[row]])[0] for row, others in zip(rows, kept, strict=True)]
    return np.array(P)[:, *np.triu_indices(y.shape[1], 1)]


@pytest.mark.parametrize("kind", ["full", "incomplete"])
def test_neighbors_recall_rows_by_the_others(kind):
    X, y = linear_data(40)
    if kind == "incomplete":
        y[::3, 0] = np.nan
    rows = np.array([0, 7, 31])
    ranker = NearestNeighborsRanker(5, weights="distance", standardize=False)
    recalled = ranker._fit_and_recall(X, Rankings(y), rows)
    make = lambda: NearestNeighborsRanker(5, weights="distance", standardize=False)  # noqa: E731
    np.testing.assert_allclose(
        recalled, unseen_by_refits(make, X, y, rows), atol=0.02 if kind == "incomplete" else 1e-9
    )
    assert ranker._fit_and_recall(np.repeat(X[:20], 2, axis=0), Rankings(y), rows) is None  # copies would tell


def test_kernels_recall_rows_by_the_others():
    X, y = linear_data(60)
    rows, settings = np.array([0, 7, 31]), {"alpha": 0.3, "gamma": 0.3}
    recalled = KernelRanker(**settings)._fit_and_recall(X, Rankings(y), rows)
    expected = unseen_by_refits(lambda: KernelRanker(**settings), X, y, rows)
    # Refits scale features and shift means by one row less, which changes little.
    np.testing.assert_allclose(recalled, expected, atol=0.03)
    seen = KernelRanker(**settings).fit(X, y).predict_pairwise(X[rows])[:, *np.triu_indices(4, 1)]
    assert np.abs(recalled - expected).max() < 0.2 * np.abs(recalled - seen).max()
    assert not hasattr(KernelRanker().fit(X, y), "_unseen")


@pytest.mark.parametrize("options", [{"calibrate": False}, {"focus": "item"}, {"bootstrap": False, "max_samples": 0.5}])
def test_forests_recall_rows_out_of_bag(options):
    X, y = linear_data(50)
    forest = RankingForest(40, random_state=3, **options)
    rows = np.array([4, 0, 17])
    recalled = forest._fit_and_recall(X, Rankings(y), rows)
    plain = RankingForest(40, random_state=3, oob_score=True, **options).fit(X, y)
    np.testing.assert_array_equal(forest.predict_pairwise(X), plain.predict_pairwise(X))
    assert not hasattr(forest, "_sampling")
    everything = RankingForest(40, random_state=3, **options)._fit_and_recall(X, Rankings(y), np.arange(50))
    np.testing.assert_array_equal(recalled, everything[rows])
    positions = decode_pairwise(pairwise_from_vectors(everything))
    assert kendall_tau_score(y, positions) == pytest.approx(plain.oob_score_)
    assert RankingForest(5, bootstrap=False, max_samples=50)._fit_and_recall(X, Rankings(y), rows) is None


@pytest.mark.parametrize("kind", ["full", "incomplete"])
def test_forests_of_items_recall_rows_out_of_bag(kind):
    X, y = linear_data(50)
    if kind == "incomplete":
        y[::3, 0] = np.nan
    ranker = LabelwiseRanker(LeastSquaresForest(40, oob_score=True), random_state=0)
    recalled = ranker._fit_and_recall(X, Rankings(y), np.arange(50))
    places = ranker.predict_places(X)
    for item, forest in enumerate(ranker.regressors_):
        places[~np.isnan(y[:, item]), item] = forest.oob_prediction_
    first, second = np.triu_indices(4, 1)
    lead = (places[:, second] - places[:, first]) / ranker.spread_[first, second]
    np.testing.assert_allclose(recalled, norm.cdf(lead), atol=1e-6)
    assert LabelwiseRanker(LeastSquaresForest(2, oob_score=False))._recalls() is False


def test_rankers_without_weight_are_dropped_after_the_first_fold(monkeypatch):
    X, y = linear_data(300)
    fits = []
    fit = DummyRanker.fit
    monkeypatch.setattr(DummyRanker, "fit", lambda self, X, y: fits.append(len(X)) or fit(self, X, y))
    rankers = [("linear", PlackettLuceRanker()), ("dummy", DummyRanker())]
    blend = StackedRanker(rankers, random_state=0).fit(X, y)
    assert fits == [240]
    assert blend.weights_ == {"linear": 1.0, "dummy": 0.0}
    assert [standing.name for standing in blend.leaderboard_][-1] == "dummy"
    assert blend.leaderboard_[-1].weight == 0


def test_the_blend_is_calibrated():
    X, y, _ = make_smooth_label_ranking(600, 4, 4, noise_scale=0.1, random_state=0)
    rankers = [("careful", RankingForest(30, min_samples_leaf=20, calibrate=False)), ("dummy", DummyRanker())]
    raw, calibrated = (StackedRanker(rankers, calibrate=c, random_state=0).fit(X[:300], y[:300]) for c in (False, True))
    assert raw.calibration_ is None
    assert calibrated.calibration_ > 1.2
    errors = [PairwiseCalibrationDisplay.from_estimator(r, X[300:], y[300:]).error for r in (raw, calibrated)]
    plt.close("all")
    assert errors[1] < 0.9 * errors[0]


def test_forests_of_too_few_trees_are_cross_validated():
    X, y = linear_data(40)
    blend = StackedRanker([("forest", RankingForest(2, random_state=0))], random_state=0).fit(X, y)
    assert blend.weights_ == {"forest": 1.0}
    assert blend.leaderboard_[0].score < RankingForest(2, random_state=0).fit(X, y).score(X, y)
