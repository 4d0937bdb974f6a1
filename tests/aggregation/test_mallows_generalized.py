from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import chisquare
from sklearn.exceptions import NotFittedError

from rankwise.aggregation.mallows import GeneralizedMallows, Mallows
from rankwise.data import Rankings
from tests.naive import models as naive
from tests.strategies import random_positions

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "mallows.json").read_text())
# Neither the ranking nor its order is its own inverse, so that places and names cannot be mixed up unseen.
CENTER = np.array([2.0, 4.0, 5.0, 1.0, 3.0])
CENTER6 = np.array([3.0, 1.0, 6.0, 2.0, 5.0, 4.0])
NAN, INF = np.nan, np.inf


def model_of(center, thetas):
    """A model with given parameters, without data."""
    model = GeneralizedMallows()
    model.center_, model.theta_ = np.array(center, dtype=float), np.array(thetas, dtype=float)
    model.items_ = tuple(range(len(center)))
    return model


@pytest.mark.parametrize("thetas", [(0, 0, 0, 0), (2.0, 0.5, 0.0, 1.0), (0.1, 3.0, 40.0, 0.2), (INF, 1.0, INF, 0)])
def test_probabilities_of_all_rankings(thetas):
    model = model_of(CENTER, thetas)
    law = naive.generalized_law(CENTER, thetas)
    np.testing.assert_allclose(np.exp(model.logpmf(naive.all_rankings(5))), law, atol=1e-14)
    np.testing.assert_allclose(model.pairwise_probabilities(), naive.pairwise(law, 5), atol=1e-12)
    assert law.sum() == pytest.approx(1)


def test_a_top_list_has_the_probability_of_all_that_begin_with_it():
    thetas = (2.0, 0.5, 0.3, 1.0)
    law = naive.generalized_law(CENTER, thetas)
    rows = naive.all_rankings(5)
    lists = random_positions(np.random.default_rng(0), 20, 5, "full")
    lists[lists > np.arange(20)[:, np.newaxis] % 6] = INF
    expected = [law[[naive.agrees(row, ranking) for row in rows]].sum() for ranking in lists]
    np.testing.assert_allclose(np.exp(model_of(CENTER, thetas).logpmf(lists)), expected)


def test_equal_thetas_are_the_mallows_model():
    k, theta = 12, 0.35
    center = np.random.default_rng(1).permutation(k) + 1.0
    generalized, plain = model_of(center, [theta] * (k - 1)), Mallows(theta=theta, center=center)
    rows = random_positions(np.random.default_rng(2), 20, k, "full")
    np.testing.assert_allclose(generalized.logpmf(rows), plain.logpmf(rows))
    np.testing.assert_allclose(generalized.pairwise_probabilities(), plain.pairwise_probabilities(), atol=1e-12)


@pytest.mark.parametrize("thetas", [(0.0, 1.0, 0.2), (1.5, 0.0, 0.7)])
def test_draws_follow_the_law(thetas):
    n, center = 30_000, (2, 4, 1, 3)
    draws = model_of(center, thetas).sample(n, random_state=1)
    rows = {tuple(row): number for number, row in enumerate(naive.all_rankings(4))}
    counts = np.bincount([rows[tuple(row)] for row in draws], minlength=24)
    assert chisquare(counts, naive.generalized_law(center, thetas) * n).pvalue > 1e-3


def test_fit_by_hand():
    golden = GOLDEN["by_hand"]
    model = GeneralizedMallows().fit(golden["positions"])
    assert model.center_.tolist() == golden["center"]
    np.testing.assert_allclose(np.exp(-model.theta_), golden["phi_of_stages"], atol=1e-8)
    assert model.log_likelihood_ == pytest.approx(model.logpmf(golden["positions"]).sum())


@pytest.mark.parametrize("listed", [8, 3])
def test_parameters_are_recovered(listed):
    thetas = np.array([1.5, 1.2, 0.9, 0.7, 0.5, 0.4, 0.3])
    center = np.random.default_rng(3).permutation(8) + 1.0
    draws = model_of(center, thetas).sample(5000, random_state=4).positions.copy()
    draws[draws > listed] = INF
    model = GeneralizedMallows().fit(draws)
    assert np.array_equal(model.center_, center)
    assert np.array_equal(model.mode(), center)
    known = slice(0, min(listed, 7))
    assert np.all(np.abs(model.theta_ - thetas)[known] < 3 * model.theta_se_[known])
    assert np.all(model.theta_se_[known] < 0.06)
    # Stages that nobody reached: nothing known.
    assert np.all(model.theta_[listed:] == 0)
    assert np.all(np.isinf(model.theta_se_[listed:]))


def test_a_free_theta_for_each_stage_fits_at_least_as_well():
    rows = random_positions(np.random.default_rng(5), 30, 6, "full")
    assert GeneralizedMallows().fit(rows).log_likelihood_ >= Mallows().fit(rows).log_likelihood_


def test_stages_at_their_limits():
    model = GeneralizedMallows().fit([[1, 2, 3, 4], [1, 3, 2, 4], [1, 2, 3, 4], [1, 3, 4, 2]])
    assert model.theta_[0] == INF
    assert model.theta_se_[0] == INF
    assert model.logpmf([[2, 1, 3, 4]])[0] == -INF
    assert np.all(model.sample(50, random_state=0).positions[:, 0] == 1)
    assert GeneralizedMallows().fit([[1, 2], [2, 1]]).theta_.tolist() == [0]


def test_weight_two_is_the_row_twice_and_silence_counts_for_nothing():
    rows = random_positions(np.random.default_rng(6), 6, 5, "full")
    twice = GeneralizedMallows().fit(np.vstack([rows, rows[:2], [[INF] * 5]]))
    weighted = GeneralizedMallows().fit(rows, sample_weight=[2, 2, 1, 1, 1, 1])
    np.testing.assert_allclose(weighted.theta_, twice.theta_)
    np.testing.assert_allclose(weighted.theta_se_, twice.theta_se_)
    assert weighted.log_likelihood_ == pytest.approx(twice.log_likelihood_)


def test_relabelling_items_changes_nothing():
    rng = np.random.default_rng(7)
    rows, new = random_positions(rng, 20, 6, "full"), rng.permutation(6)
    first, second = GeneralizedMallows(CENTER6).fit(rows), GeneralizedMallows(CENTER6[new]).fit(rows[:, new])
    np.testing.assert_allclose(second.theta_, first.theta_)
    np.testing.assert_allclose(second.pairwise_probabilities(), first.pairwise_probabilities()[np.ix_(new, new)])


def test_names_of_items_travel():
    data = Rankings.from_orders([["tea", "milk", "juice"], ["tea", "juice", "milk"]])
    assert GeneralizedMallows().fit(data).sample(2, random_state=0).items == data.items


@pytest.mark.parametrize(
    ("call", "fragment"),
    [
        (
            lambda: GeneralizedMallows().fit([[1, 2, NAN], [1, 2, 3]]),
            "ranking 0 gives item 2 no place.*top-k lists.*fit Mallows",
        ),
        (lambda: GeneralizedMallows().fit([[1, 1, 2]]), "has no ties"),
        (lambda: GeneralizedMallows().fit([[1, 2]], [-1]), r"sample_weight\[0\] is -1"),
        (lambda: GeneralizedMallows([2, 2]).fit([[1, 2]]), "center is not a full ranking"),
        (lambda: model_of([1, 2], [1]).sample(-1), "n is -1"),
        (lambda: model_of([1, 2], [1]).logpmf([[1, NAN]]), "ranking 0 gives item 1 no place"),
    ],
)
def test_bad_arguments(call, fragment):
    with pytest.raises(ValueError, match=fragment):
        call()


def test_a_model_without_parameters_says_so():
    with pytest.raises(NotFittedError, match="this GeneralizedMallows is not fitted"):
        GeneralizedMallows().mode()
