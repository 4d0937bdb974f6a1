from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar
from scipy.stats import chisquare
from sklearn.exceptions import NotFittedError

from rankwise.aggregation import kemeny
from rankwise.aggregation.mallows import Mallows
from rankwise.data import Rankings
from tests.naive import models as naive
from tests.strategies import random_positions

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "mallows.json").read_text())
DISTANCES = tuple(naive.DISTANCES)
# Neither the ranking nor its order is its own inverse, so that places and names cannot be mixed up unseen.
CENTER = (2, 4, 5, 1, 3)
NAN, INF = np.nan, np.inf


def without_ties(rng, n, k, kind):
    """Random full, top-k or incomplete rankings (incomplete ones have unlisted items too)."""
    rows = random_positions(rng, n, k, "full")
    if kind == "top-k":
        rows[rows > rng.integers(1, k + 1, (n, 1))] = INF
    if kind == "incomplete":
        rows[rng.random((n, k)) < 0.4] = NAN
    if kind == "both":
        rows[rows > rng.integers(2, k + 1, (n, 1))] = INF
        rows[rng.random((n, k)) < 0.4] = NAN
    return Rankings(rows).positions


# Probabilities


@pytest.mark.parametrize("theta", [0.0, 0.4, 2.0, np.inf])
@pytest.mark.parametrize("distance", DISTANCES)
def test_probabilities_of_all_rankings(distance, theta):
    model = Mallows(distance, theta=theta, center=CENTER)
    rows = naive.all_rankings(5)
    law = naive.mallows_law(distance, CENTER, theta)
    probability = np.exp(model.logpmf(rows))
    np.testing.assert_allclose(probability, law, atol=1e-14)
    assert probability.sum() == pytest.approx(1)
    np.testing.assert_allclose(model.pairwise_probabilities(), naive.pairwise(law, 5), atol=1e-12)
    assert np.array_equal(model.mode(), rows[np.argmax(law)]) or theta == 0


@pytest.mark.parametrize("theta", [0.0, 0.4, 2.0, np.inf])
@pytest.mark.parametrize("kind", ["full", "top-k", "incomplete", "both"])
def test_a_partial_ranking_has_the_probability_of_its_completions(kind, theta):
    partial = without_ties(np.random.default_rng(4), 30, 5, kind)
    law = naive.mallows_law("kendall", CENTER, theta)
    rows = naive.all_rankings(5)
    expected = [law[[naive.agrees(row, ranking) for row in rows]].sum() for ranking in partial]
    np.testing.assert_allclose(np.exp(Mallows(theta=theta, center=CENTER).logpmf(partial)), expected, atol=1e-14)


def test_far_from_the_center_no_probability_is_lost():
    model = Mallows(theta=50.0, center=np.arange(1, 21))
    backwards = np.arange(20.0, 0, -1)
    assert model.logpmf([backwards])[0] == pytest.approx(-50 * 190, rel=1e-12)
    some = np.where(np.arange(20) % 3 == 0, NAN, backwards)
    assert np.isfinite(model.logpmf([some])[0])


def test_too_many_missing_items_have_no_probability():
    model = Mallows(theta=1.0, center=np.arange(1, 14))
    rows = np.full((2, 13), NAN)
    rows[0, :2] = [1, 2]
    rows[1, :3] = [1, 2, 3]
    assert np.isnan(model.logpmf(rows)).tolist() == [True, False]


def test_a_ranking_that_says_nothing_is_certain():
    assert Mallows(theta=1.0, center=CENTER).logpmf([[NAN] * 5, [INF] * 5]).tolist() == [0, 0]


@pytest.mark.parametrize("distance", DISTANCES)
def test_draws_follow_the_law(distance):
    n, center = 30_000, (2, 4, 1, 3)
    model = Mallows(distance, theta=0.3, center=center)
    rows = {tuple(row): number for number, row in enumerate(naive.all_rankings(4))}
    counts = np.bincount([rows[tuple(row)] for row in model.sample(n, random_state=1)], minlength=24)
    assert chisquare(counts, naive.mallows_law(distance, center, 0.3) * n).pvalue > 1e-3


# Fit


def test_fit_by_hand():
    golden = GOLDEN["by_hand"]
    model = Mallows().fit(golden["positions"])
    phi = np.exp(-model.theta_)
    assert model.center_.tolist() == golden["center"]
    assert phi / (1 + phi) + (phi + 2 * phi**2) / (1 + phi + phi**2) == pytest.approx(0.5)
    variance = phi / (1 + phi) ** 2 + phi * (1 + 4 * phi + phi**2) / (1 + phi + phi**2) ** 2
    assert model.theta_se_ == pytest.approx(1 / np.sqrt(4 * variance))


@pytest.mark.parametrize(
    ("distance", "k", "theta"),
    [
        ("kendall", 8, 0.5),
        ("kendall", 30, 0.1),
        ("cayley", 8, 2.0),
        ("hamming", 8, 2.5),
        ("footrule", 12, 0.3),
        ("spearman", 8, 0.05),
        ("spearman", 20, 0.02),
    ],
)
def test_parameters_are_recovered(distance, k, theta):
    center = np.random.default_rng(k).permutation(k) + 1.0
    draws = Mallows(distance, theta=theta, center=center).sample(3000, random_state=7)
    model = Mallows(distance).fit(draws)
    assert np.array_equal(model.center_, center)
    assert abs(model.theta_ - theta) < 3 * model.theta_se_
    assert model.theta_se_ < 0.1 * theta
    assert (model.log_normalizer_se_ > 0) == (distance == "spearman" and k > 18)


@pytest.mark.parametrize("kind", ["top-k", "incomplete", "both"])
def test_parameters_are_recovered_from_partial_rankings(kind):
    rng = np.random.default_rng(8)
    center = rng.permutation(9) + 1.0
    draws = Mallows(theta=0.6, center=center).sample(4000, random_state=9).positions.copy()
    if kind != "top-k":
        draws[rng.random(draws.shape) < 0.4] = NAN
    if kind != "incomplete":
        draws = Rankings(draws).positions.copy()
        draws[draws > 3] = INF
    model = Mallows().fit(draws)
    assert np.array_equal(model.center_, center)
    assert abs(model.theta_ - 0.6) < 3 * model.theta_se_
    assert 0 < model.theta_se_ < 0.03
    assert np.isfinite(model.log_likelihood_) == (kind == "top-k")
    assert np.isfinite(model.logpmf(draws[:50])).all()


@pytest.mark.parametrize("distance", DISTANCES)
def test_theta_has_the_highest_likelihood(distance):
    rng = np.random.default_rng(3)
    rows = Mallows(distance, theta=0.2, center=[1, 2, 3, 4, 5]).sample(12, rng).positions
    model = Mallows(distance).fit(rows)
    best = minimize_scalar(
        lambda t: -float(np.log(naive.mallows_law(distance, model.center_.tolist(), t)) @ counts(rows)),
        bounds=(0, 5),
        method="bounded",
        options={"xatol": 1e-9},
    )
    assert model.theta_ == pytest.approx(best.x, abs=1e-5)
    assert model.log_likelihood_ == pytest.approx(-best.fun)
    assert model.log_likelihood_ == pytest.approx(model.logpmf(rows).sum())


def counts(rows):
    index = {tuple(row): number for number, row in enumerate(naive.all_rankings(rows.shape[1]))}
    return np.bincount([index[tuple(row)] for row in rows], minlength=len(index))


def test_theta_of_top_lists_has_the_highest_likelihood():
    rows = without_ties(np.random.default_rng(0), 15, 5, "top-k")
    center = kemeny(Rankings(rows), random_state=0).positions
    model = Mallows().fit(rows)

    def cost(theta):
        law = naive.mallows_law("kendall", center.tolist(), theta)
        full = naive.all_rankings(5)
        return -sum(np.log(law[[naive.agrees(row, ranking) for row in full]].sum()) for ranking in rows)

    best = minimize_scalar(cost, bounds=(0, 5), method="bounded", options={"xatol": 1e-9})
    assert np.array_equal(model.center_, center)
    assert model.theta_ == pytest.approx(best.x, abs=1e-5)
    assert model.log_likelihood_ == pytest.approx(-best.fun)


def test_equal_rankings_give_infinite_theta():
    model = Mallows().fit([[2, 1, 3]] * 4)
    assert (model.theta_, model.theta_se_, model.log_likelihood_) == (INF, INF, 0)
    assert model.logpmf([[2, 1, 3], [1, 2, 3]]).tolist() == [0, -INF]
    assert np.array_equal(model.sample(2), [[2, 1, 3]] * 2)
    assert model.pairwise_probabilities().tolist() == [[0.5, 0, 1], [1, 0.5, 1], [0, 0, 0.5]]


def test_rankings_without_consensus_give_theta_zero():
    model = Mallows().fit(naive.all_rankings(4))
    assert model.theta_ == 0
    assert model.log_likelihood_ == pytest.approx(-24 * np.log(24))


def test_given_parameters_are_kept():
    rows = [[1, 2, 3], [1, 3, 2]]
    model = Mallows(theta=0.7, center=[3, 2, 1]).fit(rows)
    assert (model.theta_, model.theta_se_, model.center_.tolist()) == (0.7, 0, [3, 2, 1])
    assert Mallows(center=[3, 2, 1]).fit(rows).theta_ == 0
    assert Mallows(theta=0.7).fit(rows).center_.tolist() in ([1, 2, 3], [1, 3, 2])


# Laws


@pytest.mark.parametrize("distance", DISTANCES)
def test_weight_two_is_the_row_twice(distance):
    rows = random_positions(np.random.default_rng(6), 6, 5, "full")
    twice = Mallows(distance).fit(np.vstack([rows, rows[:2]]))
    for weighted in (
        Mallows(distance).fit(rows, sample_weight=[2, 2, 1, 1, 1, 1]),
        Mallows(distance).fit(Rankings(rows, weights=[2, 2, 1, 1, 1, 1])),
    ):
        assert np.array_equal(weighted.center_, twice.center_)
        assert weighted.theta_ == pytest.approx(twice.theta_)
        assert weighted.theta_se_ == pytest.approx(twice.theta_se_)
        assert weighted.log_likelihood_ == pytest.approx(twice.log_likelihood_)


@given(seed=st.integers(0, 2**32 - 1), kind=st.sampled_from(["full", "top-k", "incomplete", "both"]))
def test_relabelling_items_changes_nothing(seed, kind):
    rng = np.random.default_rng(seed)
    rows = without_ties(rng, 12, 5, kind)
    rows = np.vstack([rows, random_positions(rng, 2, 5, "full")])
    new = rng.permutation(5)
    center = rng.permutation(5) + 1.0
    first = Mallows(center=center).fit(rows)
    second = Mallows(center=center[new]).fit(rows[:, new])
    assert second.theta_ == pytest.approx(first.theta_)
    assert second.theta_se_ == pytest.approx(first.theta_se_)
    np.testing.assert_allclose(second.logpmf(rows[:, new]), first.logpmf(rows))
    probability = first.pairwise_probabilities()[np.ix_(new, new)]
    np.testing.assert_allclose(second.pairwise_probabilities(), probability, atol=1e-12)


def test_what_says_nothing_is_left_out():
    rows = [[1, 2, 3], [2, 1, 3], [1, 2, 3]]
    silent = [[NAN] * 3, [INF] * 3, [NAN, 1, NAN], [3, 2, 1]]
    plain = Mallows().fit(rows)
    model = Mallows().fit(rows + silent, sample_weight=[1, 1, 1, 1, 1, 1, 0])
    assert model.theta_ == plain.theta_
    assert model.log_likelihood_ == plain.log_likelihood_


def test_names_of_items_travel():
    data = Rankings.from_orders([["tea", "milk", "juice"], ["tea", "juice", "milk"], ["tea", "milk", "juice"]])
    model = Mallows().fit(data)
    assert model.items_ == data.items
    assert model.sample(2, random_state=0).items == data.items
    with pytest.raises(ValueError, match="have the items juice, tea, milk, but the model knows tea, milk, juice"):
        model.logpmf(data.select(["juice", "tea", "milk"]))


@pytest.mark.parametrize(
    ("call", "fragment"),
    [
        (lambda: Mallows("ulam").fit([[1, 2]]), "distance is 'ulam'; choose 'kendall'"),
        (lambda: Mallows().fit([[1, 1, 2]]), "ranking 0 ties items 0 and 1, and a Mallows model has no ties"),
        (lambda: Mallows().fit([[1, 2, NAN]]), "no ranking compares item 2"),
        (lambda: Mallows().fit([[NAN, NAN]]), "no ranking of positive weight orders two items"),
        (lambda: Mallows().fit([[1], [1]]), "no ranking of positive weight orders two items"),
        (lambda: Mallows().fit([[1, 2]], [0]), "no ranking of positive weight"),
        (lambda: Mallows().fit([[1, 2]], [-1]), r"sample_weight\[0\] is -1"),
        (lambda: Mallows().fit([[1, 2]], [1, 2]), "sample_weight has shape"),
        (lambda: Mallows("footrule").fit([[1, 2, INF]]), "ranking 0 gives item 2 no place.*distance='kendall'"),
        (lambda: Mallows("hamming", 1, [1, 2]).logpmf([[1, NAN]]), "only distance='kendall'"),
        (lambda: Mallows(theta=-1).fit([[1, 2]]), "theta is -1"),
        (lambda: Mallows(theta=np.nan).fit([[1, 2]]), "theta is nan"),
        (lambda: Mallows(center=[1, 1]).fit([[1, 2]]), "center is not a full ranking"),
        (lambda: Mallows(center=[1, 2, 3]).fit([[1, 2]]), "center ranks 3 items, but the rankings have 2"),
        (lambda: Mallows(center=[[1, 2]]).fit([[1, 2]]), r"center has 2 dimension\(s\)"),
        (lambda: Mallows(theta=1, center=[1, 2]).sample(-1), "n is -1"),
        (lambda: Mallows(theta=1, center=[1, 2]).logpmf([[1, 2, 3]]), "3 items, but the model knows 2"),
    ],
)
def test_bad_arguments(call, fragment):
    with pytest.raises(ValueError, match=fragment):
        call()


def test_a_model_without_parameters_says_so():
    with pytest.raises(NotFittedError, match="this Mallows is not fitted; call fit first"):
        Mallows(theta=1.0).sample(3)
