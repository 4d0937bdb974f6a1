"""The linear Plackett-Luce model: its likelihood, its gradient, its maximum."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import ConvergenceWarning

import rankwise
from rankwise import Rankings
from rankwise.aggregation import PlackettLuce, interactions
from rankwise.label_ranking import PlackettLuceRanker, _rankers_jit
from rankwise.label_ranking.linear_plackett_luce import _preferences
from tests.label_ranking.test_every_ranker import make_data
from tests.naive import label_ranking as naive
from tests.strategies import KINDS, random_positions


@pytest.mark.parametrize("kind", KINDS)
def test_loss_and_gradient_equal_their_definitions(kind):
    rng = np.random.default_rng(0)
    y, scores = random_positions(rng, 20, 5, kind), rng.standard_normal((20, 5))
    weights = rng.integers(1, 4, 20).astype(float)
    order = np.argsort(y, axis=1, kind="stable")

    def loss(scores):
        return sum(w * naive.plackett_luce_loss(row, s) for w, row, s in zip(weights, y, scores, strict=True))

    value, gradient = _rankers_jit.plackett_luce_loss(y, order, weights, scores)
    assert value == pytest.approx(loss(scores))
    numeric = np.empty_like(scores)
    for cell in np.ndindex(scores.shape):
        step = np.zeros_like(scores)
        step[cell] = 1e-5
        numeric[cell] = (loss(scores + step) - loss(scores - step)) / 2e-5
    np.testing.assert_allclose(gradient, numeric, atol=1e-7)


def test_far_apart_scores_lose_no_digits():
    y, scores = np.array([[3.0, 2.0, 1.0]]), np.array([[2000.0, 1000.0, 0.0]])
    value, gradient = _rankers_jit.plackett_luce_loss(y, np.argsort(y, axis=1), np.ones(1), scores)
    assert value == 3000.0
    np.testing.assert_allclose(gradient, [[2.0, -1.0, -1.0]])


def test_without_features_it_is_the_plain_model():
    y = random_positions(np.random.default_rng(0), 50, 4, "full")
    ranker = PlackettLuceRanker(alpha=0.5, tol=1e-10).fit(np.zeros((50, 1)), y)
    np.testing.assert_allclose(ranker.intercept_, PlackettLuce(alpha=0.5).fit(y).log_worth_, atol=1e-5)
    np.testing.assert_array_equal(ranker.coef_, 0.0)


def test_it_finds_the_scores_that_made_the_rankings():
    rng = np.random.default_rng(0)
    X, coefficients = rng.standard_normal((4000, 2)), np.array([[1.0, 0.0], [0.0, -1.0], [-1.0, 1.0]])
    y = np.argsort(np.argsort(-(X @ coefficients.T + rng.gumbel(size=(4000, 3))), axis=1), axis=1) + 1.0
    ranker = PlackettLuceRanker(alpha=1e-3).fit(X, y)
    np.testing.assert_allclose(ranker.coef_ - ranker.coef_.mean(axis=0), coefficients, atol=0.1)


def test_it_says_when_it_did_not_arrive():
    with pytest.warns(ConvergenceWarning, match="raise max_iter"):
        PlackettLuceRanker(max_iter=1).fit(*make_data())


# Maximum likelihood and its precision


def simulated(seed: int = 0, n: int = 300) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2)) * [1, 5] + [3, 1]
    utility = X @ np.array([[1, 0], [0, -0.2], [-0.5, 0.1]]).T + [0, 1, 0.5] + rng.gumbel(size=(n, 3))
    return X, np.argsort(np.argsort(-utility, axis=1), axis=1) + 1.0


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", ["full", "top-k", "incomplete"])
def test_without_penalty_it_is_the_model_of_people_times_items(kind, weighted):
    X, y = simulated()
    if kind == "top-k":
        y[y > 1] = np.inf
    if kind == "incomplete":
        y[np.random.default_rng(1).random(y.shape) < 0.2] = np.nan
    weights = np.random.default_rng(2).integers(1, 4, len(X)).astype(float) if weighted else np.ones(len(X))
    useful = Rankings(y).informative
    X, y, weights = X[useful], y[useful], weights[useful]
    items = {"b": [0.0, 1.0, 0.0], "c": [0.0, 0.0, 1.0]}
    both = interactions(pd.DataFrame(X, columns=["age", "size"]), items)
    expected = PlackettLuce().fit(Rankings(y), weights, item_features=both).summary()
    frame = pd.DataFrame(X, columns=["age", "size"])
    summary = PlackettLuceRanker(alpha=0).fit(frame, Rankings(y, items=list("abc")), weights).summary(ref="a")
    names = {"b: intercept": "b", "c: intercept": "c", "b: age": "age:b", "c: age": "age:c"}
    for ours, theirs in (names | {"b: size": "size:b", "c: size": "size:c"}).items():
        i, j = summary.names.index(ours), expected.names.index(theirs)
        assert summary.coefficients[i] == pytest.approx(expected.coefficients[j], rel=1e-5, abs=1e-6)
        assert summary.standard_errors[i] == pytest.approx(expected.standard_errors[j], rel=1e-5)
    assert summary.log_likelihood == pytest.approx(expected.log_likelihood)
    assert summary.aic == pytest.approx(expected.aic)
    assert summary.n_parameters == 6
    alone = PlackettLuce().fit(Rankings(y), weights)
    assert summary.null_log_likelihood == pytest.approx(alone.log_likelihood_, abs=1e-4)
    assert summary.likelihood_ratio.degrees_of_freedom == 4


def car_configurator(path):
    """Six modules of a car in the order in which 435 people chose them (modules left out are unlisted), and who."""
    table = pd.read_csv(path / "rankings-with-covariates" / "prefmod_carconf.csv.gz")
    modules = table.columns[:6].tolist()
    X = pd.DataFrame({"male": table.sex == 2, "old": table.age == 3}).astype(float)
    return X, Rankings(table[modules].fillna(np.inf).to_numpy(), items=modules)


def test_the_car_configurator_is_a_conditional_logit(benchmark_data):
    """The worths, their dependence on people, and their errors, by an independent conditional logit of all choices.

    No printed source: R's prefmod documents these data without values, and its pattern model is another likelihood.
    """
    X, y = car_configurator(benchmark_data)
    k, people = y.n_items, np.column_stack([np.ones(len(X)), X])
    # One row for each module that was there, of each choice that somebody made among two or more.
    rows, chosen, choice = [], [], []
    for person, positions in enumerate(y.positions):
        left = list(range(k))
        for item in np.argsort(positions)[: np.isfinite(positions).sum()]:
            if len(left) > 1:
                rows += [np.outer(np.eye(k)[other], people[person])[1:].ravel() for other in left]
                chosen += [other == item for other in left]
                choice += [choice[-1] + 1 if choice else 0] * len(left)
            left.remove(item)
    design, first = np.array(rows), np.flatnonzero(np.diff([-1, *choice]))

    def moments(beta):
        utility = design @ beta
        weight = np.exp(utility)
        share = weight / np.add.reduceat(weight, first)[choice]
        mean = np.add.reduceat(share[:, None] * design, first)
        information = (design * share[:, None]).T @ design - mean.T @ mean
        return np.sum(np.log(share[chosen])), (design[chosen] - mean).sum(axis=0), information

    beta = np.zeros(design.shape[1])
    for _ in range(30):
        value, gradient, information = moments(beta)
        beta = beta + np.linalg.solve(information, gradient)
    errors = np.sqrt(np.diag(np.linalg.inv(information)))
    summary = PlackettLuceRanker(alpha=0).fit(X, y).summary(ref=y.items[0])
    assert summary.log_likelihood == pytest.approx(value, abs=1e-6)
    found = np.column_stack([summary.coefficients, summary.standard_errors])
    by_name = dict(zip(summary.names, found, strict=True))
    expected = [f"{item}: {name}" for item in y.items[1:] for name in ("intercept", "male", "old")]
    np.testing.assert_allclose([by_name[name][0] for name in expected], beta, atol=2e-5)
    np.testing.assert_allclose([by_name[name][1] for name in expected], errors, rtol=1e-4)
    # By sex alone, the model is one of worths for each sex.
    alone = PlackettLuceRanker(alpha=0).fit(X[["male"]], y).summary()
    apart = [PlackettLuce().fit(y[(X.male == sex).to_numpy()]).log_likelihood_ for sex in (0, 1)]
    assert alone.log_likelihood == pytest.approx(sum(apart), abs=1e-6)
    assert alone.null_log_likelihood == pytest.approx(PlackettLuce().fit(y).log_likelihood_, abs=1e-4)


def test_the_reference_does_not_change_the_tests():
    X, y = simulated()
    ranker = PlackettLuceRanker(alpha=0).fit(X, y)
    mean, second = ranker.summary(), ranker.summary(ref=1)
    assert mean.wald.statistic == pytest.approx(second.wald.statistic)
    assert len(mean.names) == 9
    assert len(second.names) == 6
    assert "The features matter: p < 0.001. Log odds per unit, relative to 1." in str(second)
    assert "without features" in str(second)
    penalized = PlackettLuceRanker(alpha=1.0, store_covariance=True).fit(X, y).summary()
    assert penalized.likelihood_ratio is None
    assert np.all(penalized.standard_errors < mean.standard_errors)


def test_the_default_fit_has_a_summary(tmp_path):
    X, y = simulated()
    ranker = PlackettLuceRanker().fit(X, y)
    coef = ranker.coef_.copy()
    assert not hasattr(ranker, "covariance_")
    summary = ranker.summary()
    assert np.array_equal(ranker.coef_, coef)
    assert summary.likelihood_ratio is None
    assert np.isnan(summary.z).all()
    assert "conditional on it, and there are no tests" in str(summary)
    stored = PlackettLuceRanker(store_covariance=True).fit(X, y).summary()
    np.testing.assert_allclose(summary.standard_errors, stored.standard_errors, rtol=1e-4)
    assert summary.log_likelihood == pytest.approx(stored.log_likelihood, rel=1e-6)
    # The data of the fit do not travel with the ranker, what was found does.
    rankwise.save(ranker, tmp_path / "ranker.rankwise")
    assert str(rankwise.load(tmp_path / "ranker.rankwise").summary()) == str(summary)
    assert str(pickle.loads(pickle.dumps(ranker)).summary()) == str(summary)
    with pytest.raises(ValueError, match="fit with store_covariance=True"):
        pickle.loads(pickle.dumps(PlackettLuceRanker().fit(X, y))).summary()


def test_quasi_standard_errors_compare_items_by_each_feature():
    X, y = simulated()
    ranker = PlackettLuceRanker(alpha=0).fit(X, y)
    mean, second = ranker.summary(), ranker.summary(ref=1)
    for summary in (mean, second):
        quasi = dict(zip(summary.names, summary.quasi_standard_errors, strict=True))
        errors = dict(zip(second.names, second.standard_errors, strict=True))
        assert summary.quasi_error < 1e-6  # exact for three items
        for name in ("x0", "x1", "intercept"):
            if summary is mean:
                assert np.hypot(quasi[f"0: {name}"], quasi[f"1: {name}"]) == pytest.approx(errors[f"0: {name}"])
    np.testing.assert_allclose(second.quasi_standard_errors[:2], mean.quasi_standard_errors[:2])
    assert "quasi std. error" in str(mean)


def test_bad_references():
    X, y = simulated()
    with pytest.raises(ValueError, match="ref is 'x', which is not an item"):
        PlackettLuceRanker(alpha=0).fit(X, y).summary(ref="x")
    ranker = PlackettLuceRanker(alpha=0).fit(X, y).set_params(alpha=1.0).fit(X, y)
    assert not hasattr(ranker, "covariance_")


def test_what_maximum_likelihood_cannot_tell_is_named():
    X, y = simulated()
    frame = pd.DataFrame({"a": X[:, 0], "b": 2 * X[:, 0] + 1, "c": 1.0})
    with pytest.raises(ValueError, match="feature c is the same for everybody"):
        PlackettLuceRanker(alpha=0).fit(frame, y)
    with pytest.raises(ValueError, match=r"features a, b are collinear.*alpha=0\.1"):
        PlackettLuceRanker(alpha=0).fit(frame[["a", "b"]], y)
    split = np.where(X[:, :1] > 3, [[1.0, 2.0, 3.0]], [[3.0, 2.0, 1.0]])
    with pytest.raises(ValueError, match=r"does not exist.*separation.*alpha=0\.1"):
        PlackettLuceRanker(alpha=0).fit(X, split)


@pytest.mark.slow
def test_intervals_cover_and_the_test_of_features_has_its_size():
    X = np.random.default_rng(3).normal(size=(150, 2))
    misses, rejected = [], []
    for seed in range(500):
        y = np.argsort(np.random.default_rng(seed).random((150, 3)), axis=1) + 1.0
        summary = PlackettLuceRanker(alpha=0).fit(X, y).summary()
        low, high = summary.intervals.T
        misses.append((low > 0) | (high < 0))
        rejected.append(summary.likelihood_ratio.p_value < 0.05)
    assert 0.035 < np.mean(misses) < 0.065
    assert 0.035 < np.mean(rejected) < 0.065


def test_a_note_names_features_whose_coefficients_are_the_penalty():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    y = np.argsort(rng.random((60, 3)), axis=1) + 1.0
    assert PlackettLuceRanker().fit(X, y).summary().notes == ()
    twins = np.column_stack([X[:, 0], np.full(60, 7.0), X[:, 1], 2 * X[:, 0] + 1])
    for options in ({}, {"store_covariance": True}):
        ranker = PlackettLuceRanker(**options).fit(twins, y)
        constant, collinear = ranker.summary().notes
        assert constant.startswith("feature x1 is the same for everybody")
        assert collinear.startswith("features x0, x3 are collinear")
        assert "Feature x1 is the same for everybody" in str(ranker.summary())
    with pytest.raises(ValueError, match="feature x1 is the same for everybody"):
        PlackettLuceRanker(alpha=0).fit(twins, y)


def test_a_note_tells_separation_under_the_penalty():
    rng = np.random.default_rng(0)
    positions = rng.random((60, 4)).argsort(axis=1) + 1.0
    x = rng.normal(size=(60, 1))

    def notes(X, votes):
        return PlackettLuceRanker().fit(X, votes).summary().notes

    assert notes(x, positions) == ()
    first = (positions[:, [0]] == 1).astype(float)  # tells who puts the first item first, and so who does not
    rests = "how large coefficients are rests on the penalty"
    separated = "{} foretells without exception how 0 is ranked (separation): " + rests
    assert notes(np.hstack([x, first]), positions) == (separated.format("x1"),)
    with pytest.raises(ValueError, match=r"x1 foretells without exception how 0 is ranked \(separation\)"):
        PlackettLuceRanker(alpha=0).fit(np.hstack([x, first]), positions)
    # Two features that foretell together what neither does alone.
    halves = np.hstack([x, first - x])
    assert notes(halves, positions) == (
        f"x0, x1 together foretell without exception how 0 is ranked (separation): {rests}",
    )
    always = np.hstack([np.ones((60, 1)), positions + 1])
    assert [note.split(":")[0] for note in notes(x, always)] == [
        "0 never came after, or tied with, any other item",
        "1, 2, 3, 4 never came before, or tied with, any item but each other",
    ]
    tied = np.vstack([always, [[1, 1, 2, 3, 4]]])
    assert notes(np.append(x, [[0.0]], axis=0), tied) == ()
    top = np.where(positions <= 2, positions, np.inf)
    assert notes(x, top) == ()
    assert notes(first, top) == (separated.format("x0"),)
    with pytest.raises(ValueError, match="0 never came after, or tied with, any other item, so that coefficients"):
        PlackettLuceRanker(alpha=0).fit(x, always)


@pytest.mark.parametrize("kind", KINDS)
def test_preferences_are_all_that_follow_from_positions(kind):
    rng = np.random.default_rng(3)
    positions = random_positions(rng, 30, 5, kind)
    y = Rankings(positions)
    rows, above, below = _preferences(y, np.argsort(y.positions, axis=1, kind="stable"))
    for r in range(30):
        reach = np.zeros((5, 5), dtype=bool)
        reach[above[rows == r], below[rows == r]] = True
        for _ in range(3):
            reach |= reach @ reach
        a, b = y.positions[r][:, np.newaxis], y.positions[r]
        expected = np.isfinite(a) & (a <= b) & ~np.eye(5, dtype=bool)
        np.testing.assert_array_equal(reach & ~np.eye(5, dtype=bool), expected)
