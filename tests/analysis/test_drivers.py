"""`drivers`: what is found, what is left out, the numbers by hand, and the size of the test."""

from __future__ import annotations

import dataclasses
import json
import re

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit
from scipy.stats import t

from rankwise import Rankings
from rankwise.analysis import drivers, drivers_tree
from rankwise.analysis.driver_corrections import Residuals, correction
from rankwise.analysis.driver_effects import FeatureEffect, feature_effects
from rankwise.analysis.driver_features import association, driver_features
from rankwise.analysis.driver_tree import tree_note
from rankwise.analysis.drivers import _importances, _in_order, _Judge, _Learner, _mean, _progressive_p
from rankwise.data import Survey
from rankwise.label_ranking import PlackettLuceRanker, RankingForest
from rankwise.metrics import kendall_tau_score
from tests.strategies import KINDS, random_positions


def survey(n=150, seed=0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"age": rng.integers(18, 80, n).astype(float), "city": rng.choice(["Bonn", "Oslo"], n)})
    X["shoe size"] = rng.random(n)
    return X, law(X, rng)


def law(X, rng):
    liking = {"tea": X.age / 15, "coffee": 2 + 2 * (X.city == "Oslo"), "juice": 5 - X.age / 15}
    return Rankings.from_scores(pd.DataFrame(liking) + rng.gumbel(0, 0.5, (len(X), 3)))


@pytest.fixture(scope="module")
def found():
    X, y = survey()
    return drivers(X, y, ranker=RankingForest(20, min_samples_leaf=5), random_state=0)


def test_what_drives_is_found(found):
    X, y = survey()
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
    # The law moves both by nearly two places.
    assert -2 < age.moves[tea] < -1.4
    assert 1.4 < age.moves[juice] < 2
    assert city.values[city.best[coffee]] == "Oslo"
    assert city.moves[coffee] > 0.5
    assert np.abs(shoe.moves).max() < 0.5
    # Least squares on what the law leaves open could not know it any better.
    rng = np.random.default_rng(1)
    expected = np.mean([law(X, rng).positions for _ in range(500)], axis=0)
    error = (y.positions - expected).std(axis=0) / (X["shoe size"].std() * np.sqrt(len(X)))
    assert (shoe.moves_high - shoe.moves_low > 2 * 1.96 * error * (shoe.values[-1] - shoe.values[0])).all()
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
    options = {"ranker": PlackettLuceRanker()}
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
    found = drivers(X, np.tile([1.0, 2, 3], (40, 1)), random_state=0)
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
    few = drivers(X, tied, ranker=PlackettLuceRanker(), n_folds=10, random_state=0)
    assert np.isfinite([few.importances, few.p_values, few.low]).all()


def test_many_people_are_sampled():
    X, y = survey(120)
    found = drivers(X[["age"]], y, ranker=PlackettLuceRanker(), max_rows=50, random_state=0)
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


def _before(positions):
    """1, 1/2 or 0 by whether one item stands before the other."""
    return (1 + np.sign(positions[:, None, :] - positions[:, :, None])) / 2


class LeastSquares(_Learner):
    """A quick learner: regressions of who is before whom."""

    def fit(self, rows, seed, n_trees=100):
        X, positions = self.features.values[rows], self.rankings.positions[rows]
        before = np.where(np.isnan(positions).any(axis=1)[:, None, None], 0.5, _before(positions))
        before = before.reshape(len(X), -1) - 0.5
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


def test_a_correction_is_a_regression_of_residuals_on_all_features():
    rng = np.random.default_rng(0)
    age, code = rng.random(60), rng.integers(0, 3, 60)
    city, weights = np.array(["Bonn", "Oslo", "Rome"])[code], rng.integers(1, 4, 60).astype(float)
    features = driver_features(pd.DataFrame({"age": age, "city": city}), None, None, 60)
    first, second = np.triu_indices(3, 1)
    residuals = Residuals(rng.normal(size=(60, 3)), np.ones((60, 3)), first, second, weights, True)
    is_oslo, is_rome = code == 1, code == 2
    grid = np.array([0.0, 1, 2])
    found = correction(features, 1, grid, residuals)
    design = np.column_stack([np.ones(60), age, is_oslo, is_rome])
    by_weight = design.T * weights
    coef = np.linalg.solve(by_weight @ design, by_weight @ residuals.values)
    np.testing.assert_allclose(found.pairs[1:] - found.pairs[0], coef[2:], atol=1e-12)
    # Over all people, corrections have the mean of the residuals.
    shares = np.array([weights[code == c].sum() for c in range(3)]) / weights.sum()
    np.testing.assert_allclose(shares @ found.pairs, weights @ residuals.values / weights.sum(), atol=1e-12)
    # A weight of two says what the row says twice; leverages apart, which shrink with the number of people.
    twice = np.repeat(np.arange(60), weights.astype(int))
    copies = residuals._replace(
        values=residuals.values[twice], compared=np.ones((len(twice), 3)), weights=np.ones(len(twice))
    )
    more = correction(features._replace(values=features.values[twice]), 1, grid, copies)
    np.testing.assert_allclose(more.pairs, found.pairs, atol=1e-12)
    errors = [c.standard_error(c.influence, r) for c, r in ((found, residuals), (more, copies))]
    np.testing.assert_allclose(*errors, rtol=0.1)


def test_errors_of_a_correction_by_hand():
    # Two groups and two items: the place moves by the difference of two means.
    rng = np.random.default_rng(1)
    group, values = np.repeat([0.0, 1], [20, 30]), rng.normal(size=(50, 1))
    features = driver_features(pd.DataFrame({"group": np.where(group > 0, "b", "a")}), None, None, 50)
    pair = np.zeros(1, dtype=np.intp), np.ones(1, dtype=np.intp)
    residuals = Residuals(values, np.ones((50, 1)), *pair, np.ones(50), True)
    found = correction(features, 0, np.array([0.0, 1]), residuals)
    in_a, in_b = values[:20, 0], values[20:, 0]
    assert found.pairs[1, 0] - found.pairs[0, 0] == pytest.approx(in_b.mean() - in_a.mean())
    step = found.standard_error(found.influence[1] - found.influence[0], residuals)
    by_hand = np.sqrt(in_a.var(ddof=1) / 20 + in_b.var(ddof=1) / 30)
    np.testing.assert_allclose(step, by_hand)
    # A pair that nobody compares, and a category of one person.
    nobody = correction(features, 0, np.array([0.0, 1]), residuals._replace(compared=np.zeros((50, 1))))
    assert (nobody.pairs == 0).all()
    assert (nobody.influence == 0).all()


def effects_of(X, y, ranker, rng, **options):
    features = driver_features(X, None, options.pop("categorical", None), len(y))
    learner = LeastSquares(features, y, None, None) if ranker is None else _Learner(features, y, ranker, None)
    fold = rng.permutation(np.arange(len(y)) % 5)
    return feature_effects(features, y, learner.fit, fold, level=0.95, people=options.pop("people", True), rng=rng)


def missed(effect, truth):
    """Whether intervals of moves, and those of places at all values, leave out the truth."""
    item = np.arange(truth.shape[1])
    moves = truth[effect.worst, item] - truth[effect.best, item]
    return (
        (effect.moves_low > moves) | (moves > effect.moves_high),
        (effect.low > truth) | (truth > effect.high),
    )


@pytest.mark.slow
@pytest.mark.parametrize("design", ["forest", "other features", "some items", "survey weights"])
def test_intervals_of_effects_miss_the_truth_as_often_as_their_level_says(design):
    # Steep effects, which rankers flatten: forests, or lines that do not see the feature at all.
    rng = np.random.default_rng(0)
    slopes = np.array([2.0, 0.0, -2.0])
    wrong_moves, wrong_places, ratios = [], [], []
    n = 120 if design == "forest" else 200
    for _ in range(500):
        x = rng.random(n)
        people, ranker, X, weights, categorical = True, None, x[:, None], None, None
        if design == "forest":
            ranker = RankingForest(15, min_samples_leaf=5)
        elif design == "other features":
            X = np.column_stack([0.5 * (x + rng.random(n)), x])
            x = X[:, 0]
        elif design == "some items":
            code = rng.integers(0, 2, n)
            X, x, categorical = np.array(["no", "yes"])[code][:, None], code.astype(float), [0]
        utility = x[:, None] * slopes + rng.gumbel(size=(n, 3))
        if design == "some items":
            utility[np.arange(n), rng.integers(0, 3, n)] = np.nan
        elif design == "survey weights":
            weights, people = rng.uniform(0.3, 3, n), False
        y = Rankings.from_scores(utility)
        y = Rankings(y.positions, weights=weights)
        effects = effects_of(X, y, ranker, rng, categorical=categorical, people=people)
        at = np.array([0.0, 1.0]) if design == "some items" else np.array(effects[0].values)
        gaps = at[:, None] * slopes
        truth = 0.5 + expit(gaps[:, :, None] - gaps[:, None]).sum(axis=1)
        moves, places = missed(effects[0], truth)
        wrong_moves.append(moves)
        wrong_places.append(places)
        ends = [0, 2]
        step = truth[effects[0].worst, range(3)] - truth[effects[0].best, range(3)]
        ratios.append(effects[0].moves[ends] / step[ends])
    assert 0.95 < np.mean(ratios) < 1.05
    assert 0.035 <= np.mean(wrong_moves) <= 0.065, np.mean(wrong_moves)
    assert 0.035 <= np.mean(wrong_places) <= 0.065, np.mean(wrong_places)


def test_an_effect_that_may_be_none_is_not_said_to_move(found):
    age = found.effects[found.features.index("age")]
    assert not age.may_stay[age.strongest]
    unsure = dataclasses.replace(age, moves_low=np.full(3, -3.0), moves_high=np.full(3, 3.0))
    shown = dataclasses.replace(found, effects=(unsure, *found.effects[1:]))
    assert found.features[0] == "age"
    assert shown.sentences[1].startswith("age may move ")
    assert re.search(r" \(-3\.0 to 3\.0\) between .*, or not\.$", shown.sentences[1])
    assert shown.importance_table().rows[0][-1] == "not sure"
    assert found.importance_table().rows[0][-1] != "not sure"


def test_surely_moved_items_are_named_before_others():
    effect = FeatureEffect(
        feature="age",
        values=(20.0, 60.0),
        is_ordered=True,
        items=("tea", "juice"),
        **dict.fromkeys(("places", "low", "high", "top"), np.ones((2, 2))),
        moves=np.array([1.5, -1.0]),
        moves_low=np.array([-0.5, -1.5]),
        moves_high=np.array([3.5, -0.5]),
        **dict.fromkeys(("best", "worst"), np.zeros(2, dtype=int)),
    )
    assert effect.strongest == 1
    assert effect.sentence(1) == "age moves juice up by 1.0 places (0.5 to 1.5) between 20 and 60"
    assert effect.sentence(0) == "age may move tea down by 1.5 places (-0.5 to 3.5) between 20 and 60, or not"


def test_rankings_of_the_same_person_are_noted():
    rng = np.random.default_rng(0)
    votes = Rankings(rng.random((60, 3)).argsort(axis=1) + 1.0)
    survey = Survey(votes, {"age": rng.random(60)}, id=np.tile(np.arange(30), 2))
    notes = drivers(survey, ranker=PlackettLuceRanker(), random_state=0).notes
    assert notes[0].startswith("30 rankings are of people who ranked before, and counted as if by others")
