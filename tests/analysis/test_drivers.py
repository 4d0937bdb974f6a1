"""`drivers`: what is found, what is left out, the numbers by hand, and the size of the test."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit
from scipy.stats import t

from rankwise import Rankings
from rankwise.analysis import drivers, drivers_tree
from rankwise.analysis.driver_effects import feature_effects
from rankwise.analysis.driver_features import association, driver_features
from rankwise.analysis.driver_tree import tree_note
from rankwise.analysis.drivers import _importances, _in_order, _Judge, _Learner, _mean, _progressive_p
from rankwise.label_ranking import PlackettLuceRanker, RankingForest
from rankwise.metrics import kendall_tau_score
from tests.strategies import KINDS, random_positions


def survey(n=150, seed=0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"age": rng.integers(18, 80, n).astype(float), "city": rng.choice(["Bonn", "Oslo"], n)})
    X["shoe size"] = rng.random(n)
    liking = {"tea": X.age / 15, "coffee": 2 + 2 * (X.city == "Oslo"), "juice": 5 - X.age / 15}
    return X, Rankings.from_scores(pd.DataFrame(liking) + rng.gumbel(0, 0.5, (n, 3)))


@pytest.fixture(scope="module")
def found():
    X, y = survey()
    return drivers(X, y, ranker=RankingForest(20, min_samples_leaf=5), n_resamples=5, random_state=0)


def test_what_drives_is_found(found):
    assert found.features == ("age", "city", "shoe size")
    assert found.significant == [0, 1]
    assert found.low[0] > 0
    assert found.tau > found.tau_without + 0.2
    assert found.n == found.n_total == 150
    age, city, shoe = found.effects
    assert age.is_ordered
    assert not city.is_ordered
    assert city.values == ("Bonn", "Oslo")
    tea, coffee, juice = range(3)
    # The law moves both by nearly two places; forests of few rows flatten that.
    assert age.moves[tea] < -0.8
    assert age.moves[juice] > 0.8
    assert city.values[city.best[coffee]] == "Oslo"
    assert city.moves[coffee] > 0.5
    assert np.abs(shoe.moves).max() < 0.3
    np.testing.assert_allclose(age.places.sum(axis=1), 6)
    np.testing.assert_allclose(age.top.sum(axis=1), 1)
    assert (age.low <= age.places).all()
    assert (age.places <= age.high).all()


def test_words_and_tables(found):
    assert found.sentences[0] == "Rankings depend on age (p < 0.001) and city (p < 0.001)."
    assert found.sentences[1].startswith("age moves ")
    assert "better for Oslo than for Bonn" in found.sentences[2]
    shown = repr(found)
    assert "Places by age" in shown
    assert "How to read this" in shown
    assert "nan" not in shown
    frame = found.to_frame("pandas")
    assert frame.feature.tolist() == ["age", "city", "shoe size"]
    assert json.loads(json.dumps(found.as_dict()))["features"][0]["effect"]["values"][0] == found.effects[0].values[0]


def test_nothing_is_found_in_noise():
    rng = np.random.default_rng(1)
    X = rng.random((60, 2))
    y = np.argsort(rng.random((60, 3)), axis=1) + 1.0
    options = {"ranker": PlackettLuceRanker(), "n_resamples": 2}
    noise = drivers(X, y, feature_names=["a", "b"], random_state=0, **options)
    assert noise.significant == []
    assert "None of the 2 features was shown to drive the rankings" in noise.sentences[0]
    again = drivers(X, y, feature_names=["a", "b"], random_state=0, **options)
    np.testing.assert_array_equal(noise.importances, again.importances)
    assert repr(noise) == repr(again)
    one = drivers(X[:, :1], y, feature_names=["a"], random_state=0, **options)
    assert one.sentences[0].startswith("The one feature, a, was not shown to drive the rankings: p = ")


@pytest.mark.parametrize("kind", KINDS)
def test_tau_by_its_definition(kind):
    rng = np.random.default_rng(0)
    positions = random_positions(rng, 20, 4, kind)
    P = rng.random((20, 4, 4))
    P = np.triu(P, 1) + np.tril(1 - P.transpose(0, 2, 1), -1) + np.eye(4) / 2
    shares = rng.random((4, 4))
    tau, soft = _Judge(positions, shares)(P)
    order = 1.0 + np.argsort(np.argsort(-P.sum(axis=2), axis=1), axis=1)
    expected = kendall_tau_score(Rankings(positions), Rankings(order), per_row=True)
    np.testing.assert_allclose(tau, expected)
    if kind == "full":
        shares = np.triu(shares, 1) + np.tril(1 - shares.T, -1) + np.eye(4) / 2
        signs = np.sign(positions[:, None, :] - positions[:, :, None])
        np.testing.assert_allclose(soft, ((signs - (2 * shares - 1)) * (2 * P - 1)).sum(axis=(1, 2)) / 12)


def test_means_with_weights():
    values = np.array([[1.0], [2.0], [4.0]])
    weights = np.array([2.0, 1.0, 3.0])
    mean, error = _mean(values, weights, people=True)
    copies = np.repeat(values[:, 0], [2, 1, 3])
    assert mean[0] == pytest.approx(copies.mean())
    assert error[0] == pytest.approx(copies.std(ddof=1) / np.sqrt(6))
    _, survey_error = _mean(values, weights, people=False)
    assert survey_error[0] == pytest.approx(np.sqrt((weights**2 * (values[:, 0] - mean[0]) ** 2).sum()) / 6)


def test_ids_constants_and_doubles_are_noted():
    X, _ = survey(80)
    X = X.assign(id=np.arange(80), email=[f"p{number}@x" for number in range(80)], country="NO", years=X.age - 17)
    features = driver_features(X, None, None, 80)
    assert features.names == ("age", "city", "shoe size", "years")
    assert features.notes[0] == "left out, because they are the same for everybody: country"
    assert features.notes[1] == "left out, because they number or name people: id and email"
    assert features.notes[2].startswith("age and years go together (1.00)")
    assert association(features, 0, 1) < 0.5
    same = driver_features({"a": ["x", "y"] * 20, "b": ["u", "v"] * 20}, None, None, 40)
    assert association(same, 0, 1) == pytest.approx(1.0)


def test_bad_input_is_refused():
    X, y = survey(30)
    with pytest.raises(ValueError, match="X has 29 rows, but there are 30 rankings"):
        drivers(X[:29], y)
    with pytest.raises(TypeError, match="drivers needs rankings beside X"):
        drivers(X)
    with pytest.raises(ValueError, match="no feature is left"):
        drivers(np.ones((30, 2)), y)
    with pytest.raises(ValueError, match="drivers needs 20 or more"):
        drivers(X[:10], y[:10])
    with pytest.raises(ValueError, match="0 rankings put one item before another; drivers needs 20 or more"):
        drivers(X, np.ones((30, 3)))
    with pytest.raises(ValueError, match="1 ranking puts one item before another"):
        drivers(X, np.vstack([np.ones((29, 3)), [1, np.inf, np.inf]]))


def test_where_all_people_rank_alike_there_are_no_intervals():
    X = np.random.default_rng(0).normal(size=(40, 2))
    found = drivers(X, np.tile([1.0, 2, 3], (40, 1)), n_resamples=2, random_state=0)
    assert np.isnan(found.low).all()
    assert np.isnan(found.high).all()
    assert found.as_dict()["features"][0]["low"] is None
    text = str(found)
    assert "nan" not in text
    assert "all rankings are equal, so that no feature can be told to matter" in text
    with pytest.raises(ValueError, match="1 ranking is too few; drivers needs 20 or more"):
        drivers(X[:1], [[1, 2, 3]])


def test_folds_of_ties_alone_say_nothing():
    nobody = np.full((4, 2), np.nan)
    for people in (True, False):
        for part in _mean(nobody, np.ones(4), people):
            assert part.tolist() == [0, 0]
    X, y = survey(60)
    tied = np.vstack([np.asarray(y.positions)[:20], np.ones((40, 3))])
    few = drivers(X, tied, ranker=PlackettLuceRanker(), n_folds=10, n_resamples=2, random_state=0)
    assert np.isfinite([few.importances, few.p_values, few.low]).all()


def test_many_people_are_sampled():
    X, y = survey(120)
    found = drivers(X[["age"]], y, ranker=PlackettLuceRanker(), max_rows=50, n_resamples=2, random_state=0)
    assert (found.n, found.n_total) == (50, 120)
    assert "a random sample of 50 of 120 people was looked at" in found.notes[0]


def test_a_tree_of_the_same_features():
    X, y = survey(200)
    tree = drivers_tree(X.assign(id=np.arange(200)), y)
    assert list(tree.feature_names_in_) == ["age", "city", "shoe size"]
    assert "age <= " in tree.export_text()
    assert "city in {Bonn}, p < 0.001" in tree.export_text()


def test_a_tree_without_splits_says_why():
    rng = np.random.default_rng(0)
    X, y = pd.DataFrame({"age": rng.random(120)}), np.argsort(rng.random((120, 3)), axis=1) + 1.0
    note = tree_note(drivers_tree(X, y))
    assert note.startswith("no split: no feature is significant; the nearest is age, corrected p = ")
    assert tree_note(drivers_tree(*survey(200))) == "every split is significant, corrected for the number of features"
    assert tree_note(drivers_tree(X[:25], y[:25])).startswith("no split: ")
    # All who differ are few: three people.
    rare = pd.DataFrame({"left": np.arange(120) < 3})
    votes = np.where(rare[["left"]], [[3, 2, 1]], [[1, 2, 3]]).astype(float)
    votes[60:90] = [2, 1, 3]
    votes[90:] = [1, 3, 2]
    assert "left is significant (p < 0.001): no cut leaves enough people" in tree_note(drivers_tree(rare, votes))


def test_falls_are_put_in_the_order_of_the_people():
    X, y = survey(30)
    learner = _Learner(driver_features(X, None, None, 30), y, PlackettLuceRanker(), None)
    fold = np.random.default_rng(0).permutation(np.arange(30) % 3)
    held_out = [learner.falls(fold != f, fold == f, 2, np.random.default_rng(f)) for f in range(3)]
    falls, taus, _ = _in_order(fold, held_out)
    for f in range(3):
        np.testing.assert_array_equal(taus[fold == f], held_out[f].with_all)
        np.testing.assert_array_equal(falls[fold == f], held_out[f].tau)


@pytest.mark.slow
def test_features_without_effect_are_found_as_often_as_the_level_says():
    rng = np.random.default_rng(0)
    p_values = []
    for _ in range(500):
        X = rng.standard_normal((120, 3))
        y = Rankings.from_scores(rng.gumbel(size=(120, 3)) + X[:, :1] * [0.5, 0, -0.5])
        learner = _Learner(driver_features(X, None, None, 120), y, RankingForest(8, min_samples_leaf=5), None)
        p_values.append(_progressive_p(learner, rng.permutation(np.arange(120) % 3), 3, rng, people=True)[1:])
    assert 0.035 <= np.mean(np.array(p_values) <= 0.05) <= 0.065


class LeastSquares(_Learner):
    """A quick learner: regressions of who is before whom."""

    def fit(self, rows, seed, n_trees=100):
        X, positions = self.features.values[rows], self.rankings.positions[rows]
        before = (positions[:, :, None] < positions[:, None, :]).reshape(len(X), -1) - 0.5
        slopes = np.linalg.lstsq(np.column_stack([np.ones(len(X)), X]), before, rcond=None)[0]

        def predict(X):
            pairs = 0.5 + np.column_stack([np.ones(len(X)), X]) @ slopes
            return np.clip(pairs, 0, 1).reshape(len(X), positions.shape[1], positions.shape[1])

        return predict


@pytest.mark.slow
@pytest.mark.parametrize(("n", "n_folds"), [(60, 5), (120, 3)])
def test_intervals_of_features_without_effect_hold_zero_as_often_as_their_level_says(n, n_folds):
    rng = np.random.default_rng(1)
    outside = []
    for _ in range(1000):
        X = rng.standard_normal((n, 3))
        y = Rankings.from_scores(rng.gumbel(size=(n, 3)) + X[:, :1] * [0.5, 0, -0.5])
        learner = LeastSquares(driver_features(X, None, None, n), y, None, None)
        importance, error, *_ = _importances(learner, rng.permutation(np.arange(n) % n_folds), 3, rng, people=True)
        outside.append(np.abs(importance[1:]) > t.ppf(0.975, n - 1) * error[1:])
    assert 0.035 <= np.mean(outside) <= 0.065, np.mean(outside)


@pytest.mark.slow
def test_bands_of_a_forest_are_not_intervals_of_steep_effects():
    # What the words of the tables say: categories are right, and steep effects of numbers are flattened.
    rng = np.random.default_rng(0)
    slopes = np.array([2.0, 0.0, -2.0])
    ratios = []
    for _ in range(20):
        X = rng.random((150, 1))
        y = Rankings.from_scores(X * slopes + rng.gumbel(size=(150, 3)))
        learner = _Learner(driver_features(X, None, None, 150), y, RankingForest(20, min_samples_leaf=5), None)
        (effect,) = feature_effects(learner.features, y, learner.fit, level=0.95, n_resamples=5, rng=rng)
        ends = np.array([effect.values[0], effect.values[-1]])
        truth = expit(ends[:, None, None] * (slopes[:, None] - slopes)).sum(axis=1)
        ratios.append(effect.moves[[0, 2]] / (truth[1] - truth[0])[[0, 2]])
    assert 0.5 < np.mean(ratios) < 0.85


@pytest.mark.slow
def test_intervals_of_effects_hold_the_truth_as_often_as_their_level_says():
    # One feature of two values, and a ranker that is nearly unbiased: the truth is known.
    rng = np.random.default_rng(0)
    slopes = np.array([1.0, 0.0, -1.0])
    truth = (0.5 + expit(slopes[:, None] - slopes).sum(axis=0)) - 2
    held = []
    for _ in range(500):
        X = rng.integers(0, 2, (80, 1)).astype(float)
        y = Rankings.from_scores(X * slopes + rng.gumbel(size=(80, 3)))
        learner = _Learner(driver_features(X, None, None, 80), y, PlackettLuceRanker(0.05, tol=1e-3), None)
        (effect,) = feature_effects(learner.features, y, learner.fit, level=0.95, n_resamples=5, rng=rng)
        held.append((effect.moves_low <= truth) & (truth <= effect.moves_high))
    assert 0.935 <= np.mean(held) <= 0.965
