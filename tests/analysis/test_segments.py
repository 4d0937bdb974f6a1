from __future__ import annotations

import json

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.metrics import adjusted_rand_score

from rankwise.aggregation import Mallows, MallowsMixture, PlackettLuceMixture
from rankwise.analysis import segments, summary
from rankwise.analysis.segments import _adjusted_rand
from rankwise.data import Rankings

NAN, INF = np.nan, np.inf
ITEMS = ["tea", "milk", "juice", "water", "beer"]
CENTERS = np.array([[1.0, 2, 3, 4, 5], [5, 3, 4, 1, 2]])


def camps(n=200, seed=0, theta=1.3, slope=0.0):
    """Two camps, the second more often among people of high x: rankings, covariates and camps."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    second = rng.random(n) < 1 / (1 + np.exp(0.6 - slope * x))
    draws = [Mallows(theta=theta, center=center).sample(n, rng).positions for center in CENTERS]
    return Rankings(np.where(second[:, None], draws[1], draws[0]), ITEMS), x, second.astype(int)


@pytest.fixture(scope="module")
def found():
    rankings, x, _ = camps(slope=1.5)
    X = pd.DataFrame({"age": 40 + 10 * x, "city": np.resize(["Oslo", "Rome"], 200)})
    return segments(rankings, X, random_state=0)


def test_camps_are_found(found):
    rankings, _, second = camps(slope=1.5)
    assert (found.n, found.chosen_by) == (2, "bic")
    assert np.array_equal([profile.positions for profile in found.profiles], CENTERS)
    assert np.mean(found.labels == second) > 0.95
    assert found.memberships.shape == (200, 2)
    np.testing.assert_allclose(found.memberships.sum(axis=1), 1)
    assert np.array_equal(found.labels, found.memberships.argmax(axis=1))
    assert found.entropy > 0.8
    assert found.stability > 0.9
    assert len(found.stabilities) == 20
    for profile, share in zip(found.profiles, np.bincount(second) / 200, strict=True):
        assert profile.low < share < profile.high
        assert profile.low < profile.share < profile.high
    np.testing.assert_allclose(found.mean_rank, summary(rankings).mean_rank)
    shares = np.array([profile.share for profile in found.profiles])
    means = np.array([profile.mean_rank for profile in found.profiles])
    np.testing.assert_allclose(found.memberships.mean(axis=0), shares, atol=1e-3)
    np.testing.assert_allclose(shares @ means, found.mean_rank, atol=2e-2)


def test_criteria_of_all_numbers(found):
    assert [row.n for row in found.criteria] == [1, 2, 3, 4, 5, 6]
    rankings = camps(slope=1.5)[0]
    for row in found.criteria[:3]:
        model = MallowsMixture(row.n, n_init=20, random_state=1).fit(rankings)
        assert row.log_likelihood == pytest.approx(model.log_likelihood_, abs=0.3)
        assert row.bic == pytest.approx(-2 * row.log_likelihood + (3 * row.n - 1) * np.log(200))
    assert found.criteria[1].icl > found.criteria[1].bic
    assert min(found.criteria, key=lambda row: row.bic).n == 2


def test_covariates_have_names_and_tests(found):
    model = found.membership
    assert model.names == ("intercept", "age", "city = Rome")
    age, city = model.coef[1, 1], model.coef[1, 2]
    assert abs(age - 0.15) < 3 * model.standard_error[1, 1]
    assert abs(city) < 3 * model.standard_error[1, 2]
    assert model.p_value[1, 1] < 1e-4
    assert model.p_value_of_all < 1e-6
    assert model.degrees_of_freedom == 2
    assert "the larger age, the more often people are in segment 2 than in segment 1" in model.sentence
    assert "categories are compared with city = Oslo" in found.notes


def test_the_result_shows_itself(found):
    text = repr(found)
    assert "The people fall into 2 segments (BIC, 1 to 6 tried)." in text
    assert "Segment 1" in text
    assert "ranks tea > milk > juice > water" in text
    assert "nan" not in text
    assert "inf" not in text
    frame = found.to_frame()
    assert list(frame.columns) == ["segment", "share", "item", "position", "mean_rank", "difference"]
    assert len(frame) == 10
    assert isinstance(found.memberships_frame("polars"), pl.DataFrame)
    assert found.memberships_frame().shape == (200, 3)
    assert found.criteria_frame().n.tolist() == [1, 2, 3, 4, 5, 6]
    assert len(found.membership.to_frame()) == 3
    numbers = json.loads(json.dumps(found.as_dict(), allow_nan=False))
    assert numbers["n"] == 2
    assert numbers["membership"]["reference"] == "segment 1"
    assert len(numbers["labels"]) == 200
    assert found.sentence(0).startswith("Segment 1 (")
    assert "<table" in found._repr_html_()


def test_worths_of_segments():
    rankings, _, second = camps(seed=1)
    found = segments(rankings, model="plackett-luce", n="icl", max_segments=3, n_bootstrap=5, random_state=0)
    assert found.n == 2
    assert np.mean(found.labels == second) > 0.9
    for profile in found.profiles:
        assert profile.log_worth.mean() == pytest.approx(0, abs=1e-9)
        assert np.isfinite(profile.log_worth_se).all()
        assert profile.theta is None
    assert list(found.to_frame().columns)[-2:] == ["log_worth", "standard_error"]
    assert "concentration" not in repr(found)
    assert isinstance(found.fitted, PlackettLuceMixture)


@pytest.mark.parametrize("distance", ["spearman", "footrule", "hamming", "cayley"])
def test_other_distances(distance):
    found = segments(camps(seed=2, theta=2.0)[0], n=2, distance=distance, n_bootstrap=0, random_state=0)
    assert np.array_equal([profile.positions for profile in found.profiles], CENTERS)
    assert np.isnan(found.stability)
    assert found.as_dict()["stability"] is None


@pytest.mark.parametrize("kind", ["tied", "top-k", "incomplete"])
@pytest.mark.parametrize("model", ["mallows", "plackett-luce"])
def test_partial_rankings(kind, model):
    rankings, _, second = camps(seed=3, theta=1.6)
    rows = rankings.positions.copy()
    if kind == "tied":
        rows = np.minimum(rows, 4)
    if kind == "top-k":
        rows[rows > 3] = INF
    if kind == "incomplete":
        rows[np.random.default_rng(0).random(rows.shape) < 0.2] = NAN
    rows[0] = NAN
    found = segments(
        Rankings.from_positions(rows, ITEMS) if kind != "incomplete" else rows,
        n=2,
        model=model,
        n_bootstrap=3,
        random_state=0,
    )
    assert found.partial_rankings == "exact"
    assert "partial rankings are counted exactly" in found.notes
    assert "1 ranking that compares nothing not counted" in found.notes
    assert found.labels[0] == -1
    assert np.mean(found.labels[1:] == second[1:]) > 0.85


def test_monte_carlo_is_said():
    rng = np.random.default_rng(0)
    rows = np.array([rng.permutation(14) + 1.0 for _ in range(60)])
    rows[rows > 3] = INF
    found = segments(rows, n=1, distance="footrule", random_state=0)
    assert found.partial_rankings == "monte carlo"
    assert any("Monte Carlo" in note for note in found.notes)


def test_counts_are_people_and_survey_weights_are_scaled():
    rankings = camps(60, seed=4)[0]
    counts = np.random.default_rng(0).integers(1, 4, 60)
    options = {"n": 2, "n_bootstrap": 0, "random_state": 0}
    weighted = segments(Rankings(rankings, weights=counts), **options)
    repeated = segments(rankings[np.repeat(np.arange(60), counts)], **options)
    assert weighted.n_people == repeated.n_people == counts.sum()
    assert weighted.criteria[0].bic == pytest.approx(repeated.criteria[0].bic, abs=1e-2)
    scaled = segments(Rankings(rankings, weights=counts * 1.5), weight_kind="survey", **options)
    assert scaled.n_people == pytest.approx(counts.sum() ** 2 / np.square(counts).sum())
    np.testing.assert_allclose(scaled.profiles[0].share, weighted.profiles[0].share, atol=1e-3)
    assert scaled.profiles[0].high - scaled.profiles[0].low > weighted.profiles[0].high - weighted.profiles[0].low
    assert any("people of equal weight" in note for note in scaled.notes)


def test_same_bits_for_every_number_of_threads():
    rankings, x, _ = camps(80, seed=5, slope=1.0)
    one, two = (
        segments(rankings, x[:, None], max_segments=3, n_bootstrap=4, random_state=7, n_jobs=n) for n in (None, 2)
    )
    assert np.array_equal(one.memberships, two.memberships)
    assert np.array_equal(one.stabilities, two.stabilities)
    assert np.array_equal(one.membership.coef, two.membership.coef)
    assert repr(one.criteria) == repr(two.criteria)


def test_no_groups_in_one_camp():
    rankings = Rankings(Mallows(theta=1.0, center=CENTERS[0]).sample(150, 0), ITEMS)
    found = segments(rankings, np.random.default_rng(0).normal(size=(150, 1)), max_segments=3, random_state=0)
    assert found.n == 1
    assert found.membership is None
    assert "no groups were found" in found.sentences[0]
    assert any("covariates are not used" in note for note in found.notes)
    assert "nan" not in repr(found)


def test_equal_rankings_are_one_segment():
    found = segments([[1, 2, 3]] * 30, random_state=0)
    assert found.n == 1
    assert "all rankings are equal, so that no more than 1 segment can be told apart" in found.notes
    text = repr(found)
    assert "all equal" in text
    assert "nan" not in text
    worths = segments([[1, 2, 3]] * 30, model="plackett-luce", random_state=0)
    assert np.isfinite(worths.profiles[0].log_worth).all()
    assert any("rests on the prior" in note for note in worths.notes)


def test_a_segment_of_equal_rankings_is_said():
    rows = [[1, 2, 3, 4]] * 20 + [[4, 3, 2, 1], [4, 3, 1, 2], [3, 4, 2, 1]] * 3
    found = segments(rows, n=2, n_bootstrap=0, random_state=0)
    assert "all people of segment 1 gave the same ranking" in found.notes
    assert "30" not in found.size_table().rows[0][3]


def test_covariates_that_say_nothing():
    rankings, x, _ = camps(120, seed=6, slope=1.0)
    X = {"x": x, "twice": 2 * x, "one": np.ones(120), "sex": np.resize(["f", "m", None], 120)}
    found = segments(rankings, X, n=2, n_bootstrap=0, random_state=0)
    assert found.membership.names == ("intercept", "x", "sex = m", "sex = missing")
    assert "one is the same for all and is left out" in found.notes
    assert "twice follows from the columns before it and is left out" in found.notes
    assert "40 people without a covariate: its median, or a category of its own, stands for it" in found.notes
    nothing = segments(rankings, np.ones((120, 1)), n=2, n_bootstrap=0, random_state=0)
    assert nothing.membership is None
    assert "no covariate is left that differs between people" in nothing.notes


def test_a_covariate_that_separates_stays_finite():
    rankings, _, second = camps(80, seed=7, theta=4.0)
    found = segments(rankings, second[:, None], n=2, n_bootstrap=0, random_state=0)
    assert np.isfinite(found.membership.coef).all()
    assert np.abs(found.membership.coef).max() < 30


def test_segments_that_die_are_not_chosen(monkeypatch):
    fit = MallowsMixture.fit

    def dying(self, *args):
        fit(self, *args)
        if self.n_components == 3:
            self.weights_ = np.array([0.6, 0.4 - 1e-6, 1e-6])
        return self

    monkeypatch.setattr(MallowsMixture, "fit", dying)
    found = segments(camps(60)[0], n=3, n_bootstrap=0, random_state=0)
    assert found.n == 2
    assert "3 segments were asked for, but one dies in every start; 2 are shown" in found.notes
    found = segments(camps(60)[0], max_segments=3, n_bootstrap=0, random_state=0)
    assert "died" in found.criteria[2].problem
    assert found.n == 2


def test_items_that_nobody_compares_are_left_out():
    rows = np.column_stack([camps(60)[0].positions, np.full(60, NAN)])
    found = segments(Rankings(rows, [*ITEMS, "nobody"]), n=2, n_bootstrap=0, random_state=0)
    assert found.items == tuple(ITEMS)
    assert "no ranking compares nobody with another item: left out" in found.notes


def test_new_people_get_their_segment(found):
    new = found.fitted.predict_proba(Rankings(CENTERS, ITEMS))
    assert np.array_equal(new.argmax(axis=1), [0, 1])


def test_adjusted_rand_index():
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 3, 50), rng.integers(0, 2, 50)
    b[:25] = a[:25] > 0
    assert _adjusted_rand(a, b, np.ones(50)) == pytest.approx(adjusted_rand_score(a, b))
    counts = rng.integers(1, 4, 50)
    repeated = adjusted_rand_score(np.repeat(a, counts), np.repeat(b, counts))
    assert _adjusted_rand(a, b, counts.astype(float)) == pytest.approx(repeated)
    assert _adjusted_rand(a, a, np.ones(50)) == 1


@pytest.mark.parametrize(
    ("call", "fragment"),
    [
        (lambda: segments([[1, 2], [2, 1]], n=3), "n is 3, but only 2 of the rankings differ; ask for at most 2"),
        (lambda: segments([[1, 2]], n="aic"), "n is 'aic'"),
        (lambda: segments([[1, 2]], n=0), "n is 0"),
        (lambda: segments([[1, 2]], model="gauss"), "model is 'gauss'"),
        (lambda: segments([[1, 2]], distance="l1"), "distance is 'l1'"),
        (lambda: segments([[1, NAN]]), "there are no segments to find"),
        (lambda: segments([[1, 2], [2, 1]], [[1.0]]), "X has 1 rows, but there are 2 rankings"),
        (lambda: segments([[1, 2], [2, 1]], max_segments=0), "max_segments is 0"),
        (lambda: segments([[1, 2], [2, 1]], level=1.5), "level is 1.5"),
    ],
)
def test_bad_arguments(call, fragment):
    with pytest.raises(ValueError, match=fragment):
        call()


@pytest.mark.slow
@pytest.mark.parametrize(("model", "share"), [("mallows", 0.95), ("plackett-luce", 0.9)])
def test_bic_finds_the_true_number(model, share):
    """Two segments of 150 people in all, 5 items; 60 samples."""
    rng = np.random.default_rng(0)
    right = 0
    for seed in range(60):
        if model == "mallows":
            rankings = camps(150, seed=seed, theta=1.0)[0]
        else:
            truth = PlackettLuceMixture(2)
            truth.weights_, truth.items_ = np.array([0.6, 0.4]), tuple(ITEMS)
            truth.log_worths_ = np.array([[1.5, 1, 0, -1, -1.5], [-1.5, -0.5, 0, 0.5, 1.5]])
            rankings = truth.sample(150, rng)
        found = segments(rankings, model=model, max_segments=3, n_init=4, n_bootstrap=0, random_state=seed)
        right += found.n == 2
    assert right >= share * 60


@pytest.mark.slow
def test_the_link_of_covariates_has_its_size():
    """Under no link, the likelihood ratio of one covariate is below the 5 % point in 93.5 to 96.5 % of 500 samples."""
    hits = 0
    for seed in range(500):
        rankings = camps(150, seed=seed, theta=1.5)[0]
        x = np.random.default_rng(10_000 + seed).normal(size=(150, 1))
        found = segments(rankings, x, n=2, n_init=1, n_bootstrap=0, random_state=seed)
        hits += found.membership.p_value_of_all <= 0.05
    assert 0.035 <= hits / 500 <= 0.065


@pytest.mark.slow
def test_intervals_of_shares_cover():
    """The 95 % interval of the share of the first of two segments holds the truth in 93 to 97 % of 500 samples."""
    held = 0
    for seed in range(500):
        rng = np.random.default_rng(seed)
        label = rng.random(200) < 0.35
        draws = [Mallows(theta=1.0, center=center).sample(200, rng).positions for center in CENTERS]
        rows = np.where(label[:, None], draws[1], draws[0])
        profile = segments(rows, n=2, n_init=1, n_bootstrap=0, random_state=0).profiles[0]
        held += profile.low <= 0.65 <= profile.high
    assert 0.935 <= held / 500 <= 0.965
