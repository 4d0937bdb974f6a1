from __future__ import annotations

import json

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.stats import chi2, norm
from sklearn.metrics import adjusted_rand_score

from rankwise.aggregation import Mallows, MallowsMixture, PlackettLuceMixture
from rankwise.analysis import segments, summary
from rankwise.analysis.segments import _adjusted_rand
from rankwise.data import Rankings, Survey

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
    assert "The people fall into 2 segments (Mallows, BIC, 1 to 6 tried)." in text
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
    assert "at its bound: not determined" in text
    assert "±" not in text
    assert "nan" not in text
    worths = segments([[1, 2, 3]] * 30, model="plackett-luce", random_state=0)
    assert np.isfinite(worths.profiles[0].log_worth).all()
    assert any("rests on the prior" in note for note in worths.notes)


def test_a_segment_of_equal_rankings_is_said():
    rows = [[1, 2, 3, 4]] * 20 + [[4, 3, 2, 1], [4, 3, 1, 2], [3, 4, 2, 1]] * 3
    found = segments(rows, n=2, n_bootstrap=0, random_state=0)
    assert "all people of segment 1 gave the same ranking, so that the concentration is not determined" in found.notes
    assert found.size_table().rows[0][3] == "at its bound: not determined"
    assert "±" in found.size_table().rows[1][3]
    assert found.as_dict()["segments"][0]["theta"] is None


@pytest.mark.parametrize("n_people", [3, 100])
def test_a_concentration_at_its_bound_has_no_error(n_people):
    """Two camps without a deviation: wherever the algorithm stopped, there is no estimate to print."""
    rows = [[1, 2, 3, 4]] * n_people + [[2, 1, 3, 4]] * n_people
    found = segments(rows, n="bic", n_bootstrap=0, random_state=0)
    assert found.n == 2
    assert [row[3] for row in found.size_table().rows] == ["at its bound: not determined"] * 2
    assert [profile.theta for profile in found.profiles] == [30.0, 30.0]
    assert np.isnan(found.fitted.thetas_se_).all()
    # The two rankings are all there are.
    assert "only 2 of the rankings differ, so that no more than 2 segments can be told apart" in found.notes
    assert not any("more segments might fit better" in note for note in found.notes)


@pytest.mark.parametrize("model", ["mallows", "plackett-luce"])
@pytest.mark.parametrize(
    ("rows", "why"),
    [
        ([[1, 1, 1, 1]] * 20, "everybody ties all items"),
        ([[1, 1, 2, 2], [2, 2, 1, 1]] * 20, "each item is put before every other as often as behind it"),
        ([[1, INF, INF], [INF, 1, INF], [INF, INF, 1]] * 20, "each item is put before every other as often"),
        ([[1, 2, NAN, NAN], [2, 1, NAN, NAN], [NAN, NAN, 1, 2], [NAN, NAN, 2, 1]] * 10, "groups that nobody compares"),
    ],
)
def test_orders_that_nobody_gave_are_not_invented(rows, why, model):
    found = segments(rows, n=1, model=model, random_state=0)
    profile = found.profiles[0]
    assert why in profile.undetermined
    assert why in found.sentences[1]
    assert np.array_equal(profile.positions, np.ones(len(rows[0])))
    assert found.size_table().rows[0][-1] == "not determined"
    text = repr(found)
    assert " > " not in text
    assert "nearly everybody" not in text


def test_a_flat_likelihood_is_not_separation():
    """One segment fits as well as two: no word of clear orders, of stability, or of differences of 0.0 places."""
    rows = [[1, 2, 3, 4]] * 100 + [[2, 1, 3, 4]] * 100
    found = segments(Rankings(rows, list("abcd")), n=2, model="plackett-luce", random_state=0)
    assert found.entropy < 0.01
    assert not found.told_apart
    assert "one segment describes the rankings as well" in found.sentences[0]
    assert found.sentence(0).endswith("ranks a ~ b > c > d; its mean ranks are those of all.")
    text = repr(found)
    assert "They are stable" not in text
    assert "0.0 places" not in text
    # Only d is always last; where a and b stand is not known, but nobody always puts them first.
    assert "nearly everybody there puts it first" not in text
    assert "the worth of d in segment 1 rests on the prior: nearly everybody there puts it last" in found.notes


def test_groups_that_are_there_are_told_apart():
    rankings = camps(120, seed=4)[0]
    assert segments(rankings, n=2, n_bootstrap=0, random_state=0).told_apart
    assert "fall into 2 segments" in segments(rankings, n=2, n_bootstrap=0, random_state=0).sentences[0]


def test_covariates_help_to_tell_segments_apart():
    """Segments whose rankings overlap too much for BIC alone, but which a covariate foretells."""
    rankings, _, second = camps(100, seed=5, theta=0.25)
    noisy = second + 0.1 * np.random.default_rng(0).normal(size=100)
    plain = segments(rankings, n=2, n_bootstrap=0, random_state=0)
    found = segments(rankings, noisy[:, None], n=2, n_bootstrap=0, random_state=0)
    assert not plain.told_apart
    assert found.told_apart
    assert "without the covariates" in found.criteria_table().note


def test_covariates_that_say_nothing():
    rankings, x, _ = camps(120, seed=6, slope=1.0)
    X = {"x": x, "twice": 2 * x, "one": np.ones(120), "sex": np.resize(["f", "m", None], 120)}
    found = segments(rankings, X, n=2, n_bootstrap=0, random_state=0)
    assert found.membership.names == ("intercept", "x", "sex = m", "sex = missing")
    assert "covariate one is the same for all and is left out" in found.notes
    assert "covariate twice follows from the other columns and is left out" in found.notes
    assert "Covariate twice follows" in found.size_table().note  # names stay as they are written
    assert "40 people without a covariate: its median, or a category of its own, stands for it" in found.notes
    nothing = segments(rankings, np.ones((120, 1)), n=2, n_bootstrap=0, random_state=0)
    assert nothing.membership is None
    assert "no covariate is left that differs between people" in nothing.notes


def test_a_covariate_that_separates_stays_finite():
    rankings, _, second = camps(80, seed=7, theta=4.0)
    found = segments(rankings, second[:, None], n=2, n_bootstrap=0, random_state=0)
    assert np.isfinite(found.membership.coef).all()
    assert np.abs(found.membership.coef).max() < 30
    assert found.membership.undetermined[1].all()
    rows = found.membership.tables()[0].rows
    assert [row[2:] for row in rows] == [["not determined", "-"], ["very positive", "< 0.001"]]
    assert any("it nearly separates segment 2 from segment 1" in note for note in found.notes)
    assert found.membership.to_frame()["coef"].isna().all()
    json.dumps(found.as_dict(), allow_nan=False)


@pytest.mark.parametrize("model", ["mallows", "plackett-luce"])
def test_slopes_are_tested_by_fits_without_them(model):
    """With two segments, dropping a covariate is setting its slope to 0; of a single one, the test is that of all."""
    rankings, x, _ = camps(120, seed=3, theta=1.5, slope=1.0)
    z = np.random.default_rng(33).normal(size=120)
    options = {"n": 2, "model": model, "n_bootstrap": 0, "random_state": 0}
    one = segments(rankings, x[:, None], **options).membership
    assert one.p_value[1, 1] == pytest.approx(one.p_value_of_all, rel=0.01)
    both = segments(rankings, np.column_stack([x, z]), **options)
    without = segments(rankings, z[:, None], **options)
    ratio = 2 * (both.fitted.log_likelihood_ - without.fitted.log_likelihood_)
    assert both.membership.p_value[1, 1] == pytest.approx(chi2.sf(ratio, 1), rel=0.02)
    assert both.membership.p_value[1, 2] > 0.01


def test_many_slopes_have_walds_test():
    rankings, x, _ = camps(150, seed=3, theta=1.5, slope=1.0)
    X = np.column_stack([x, np.random.default_rng(0).normal(size=(150, 41))])
    found = segments(rankings, X, n=2, n_init=1, n_bootstrap=0, random_state=0)
    assert any("their p-values are Wald's" in note for note in found.notes)
    z = found.membership.coef[1] / found.membership.standard_error[1]
    np.testing.assert_allclose(found.membership.p_value[1, 1:], 2 * norm.sf(np.abs(z[1:])))


def test_slopes_are_tested_with_the_covariates_of_the_fit():
    rankings, x, _ = camps(60, seed=3)
    plain = MallowsMixture(2, random_state=0).fit(rankings)
    with pytest.raises(ValueError, match="slopes are tested with the covariates of the fit"):
        plain.slope_ratios(rankings, None, x[:, None])


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


def test_segments_of_one_person_are_noted():
    found = segments([[1, 2, 3, 4], [4, 3, 2, 1], [2, 1, 4, 3]], n=3, n_bootstrap=0, random_state=0)
    words = "too few people to say what others like them would rank: segment 1, segment 2, segment 3"
    assert words in found.notes
    assert not any("too few" in note for note in segments([[1, 2, 3], [3, 2, 1]] * 10, n=2, random_state=0).notes)


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
    """Under no link, the likelihood ratio of one covariate is below the 5% point in 93.5 to 96.5% of 500 samples."""
    hits = 0
    for seed in range(500):
        rankings = camps(150, seed=seed, theta=1.5)[0]
        x = np.random.default_rng(10_000 + seed).normal(size=(150, 1))
        plain, linked = (MallowsMixture(2, n_init=1, random_state=0).fit(rankings, None, X) for X in (None, x))
        hits += chi2.sf(2 * (linked.log_likelihood_ - plain.log_likelihood_), 1) <= 0.05
    assert 0.035 <= hits / 500 <= 0.065


@pytest.mark.slow
def test_intervals_of_shares_cover():
    """The 95% interval of the share of the first of two segments holds the truth in 93 to 97% of 500 samples."""
    held = 0
    for seed in range(500):
        rng = np.random.default_rng(seed)
        label = rng.random(200) < 0.35
        draws = [Mallows(theta=1.0, center=center).sample(200, rng).positions for center in CENTERS]
        rows = np.where(label[:, None], draws[1], draws[0])
        profile = segments(rows, n=2, n_init=1, n_bootstrap=0, random_state=0).profiles[0]
        held += profile.low <= 0.65 <= profile.high
    assert 0.935 <= held / 500 <= 0.965


def test_errors_of_shares_do_not_take_covariates_as_known():
    """Of camps far apart a share has the error of a proportion, whether or not covariates tell who is in which."""
    rankings, x, _ = camps(400, theta=4.0, slope=3.0)
    for covariates in (None, x[:, None]):
        fitted = MallowsMixture(2, n_init=1, random_state=0).fit(rankings, None, covariates)
        assert fitted.weights_se_ == pytest.approx(np.sqrt(fitted.weights_ * (1 - fitted.weights_) / 400), rel=0.03)


@pytest.mark.slow
def test_intervals_of_shares_cover_with_covariates():
    """The 95% interval of a share of 1/2 misses it in 3.5 to 6.5% of 600 samples of 120 people of random covariates."""
    rng = np.random.default_rng(0)
    pools = [Mallows(theta=1.2, center=center).sample(20_000, rng).positions for center in CENTERS]
    missed = 0
    for _ in range(600):
        x = rng.normal(size=(120, 1))
        second = rng.random((120, 1)) < 1 / (1 + np.exp(-2 * x))
        first_rows, second_rows = (pool[rng.integers(len(pool), size=120)] for pool in pools)
        fitted = MallowsMixture(2, n_init=1, random_state=0).fit(np.where(second, second_rows, first_rows), None, x)
        missed += abs(fitted.weights_[0] - 0.5) > norm.ppf(0.975) * fitted.weights_se_[0]
    assert 0.035 <= missed / 600 <= 0.065


@pytest.mark.slow
def test_intervals_of_plackett_luce_segments_cover():
    """Those of worths and shares miss the truth in 3.5 to 6.5% of 500 samples of 150 people."""
    truth = np.array([[1.5, 1, 0, -1, -1.5], [-1.5, -0.5, 0, 0.5, 1.5]])
    rng = np.random.default_rng(0)
    missed_worths, missed_shares = 0, 0
    for _ in range(500):
        second = rng.random(150) < 0.4
        scores = truth[second.astype(int)] + rng.gumbel(size=(150, 5))
        positions = np.argsort(np.argsort(-scores, axis=1), axis=1) + 1.0
        fitted = PlackettLuceMixture(2, n_init=1, random_state=0).fit(positions)
        by_first_item = np.argsort(-fitted.log_worths_[:, 0])
        worths, errors = fitted.log_worths_[by_first_item], fitted.log_worths_se_[by_first_item]
        missed_worths += np.mean(np.abs(worths - truth) > norm.ppf(0.975) * errors)
        share, error = fitted.weights_[by_first_item[0]], fitted.weights_se_[by_first_item[0]]
        missed_shares += abs(share - 0.6) > norm.ppf(0.975) * error
    assert 0.035 <= missed_worths / 500 <= 0.065
    assert 0.035 <= missed_shares / 500 <= 0.065


@pytest.mark.slow
def test_intervals_of_concentrations_cover():
    """The 95 % intervals of both concentrations miss the truth in 3.5 to 6.5 % of 600 samples of 120 people."""
    missed = np.zeros(2)
    for seed in range(600):
        fitted = MallowsMixture(2, n_init=1, random_state=0).fit(camps(120, seed=seed, theta=1.2)[0])
        missed += np.abs(fitted.thetas_ - 1.2) > norm.ppf(0.975) * fitted.thetas_se_
    assert 0.035 <= missed.mean() / 600 <= 0.065


@pytest.mark.slow
@pytest.mark.parametrize("estimator", [MallowsMixture, PlackettLuceMixture])
def test_single_slopes_of_covariates_have_their_size(estimator):
    """Of two covariates without a link, each is found significant in 3.5 to 6.5 % of 500 samples of 100 people."""
    hits = 0
    for seed in range(500):
        rankings = camps(100, seed=seed, theta=1.5)[0]
        x = np.random.default_rng(10_000 + seed).normal(size=(100, 2))
        fitted = estimator(2, n_init=1, random_state=0).fit(rankings, None, x)
        hits += np.sum(chi2.sf(fitted.slope_ratios(rankings, None, x)[1], 1) <= 0.05)
    assert 0.035 <= hits / 1000 <= 0.065


@pytest.mark.slow
@pytest.mark.parametrize("model", ["mallows", "plackett-luce"])
def test_intervals_of_single_coefficients_of_covariates_cover(model):
    """Those of an intercept and of a slope miss the truth in 3.5 to 6.5 % of 800 samples of 150 people."""
    rng = np.random.default_rng(0)
    pools = [Mallows(theta=1.2, center=center).sample(20_000, rng).positions for center in CENTERS]
    worths = np.array([[1.5, 1, 0, -1, -1.5], [-1.5, -0.5, 0, 0.5, 1.5]])
    missed = np.zeros(2)
    for _ in range(800):
        x = rng.normal(size=(150, 1))
        second = rng.random((150, 1)) < 1 / (1 + np.exp(-0.3 - x))
        if model == "mallows":
            first_rows, second_rows = (pool[rng.integers(len(pool), size=150)] for pool in pools)
            rows = np.where(second, second_rows, first_rows)
            fitted = MallowsMixture(2, n_init=1, random_state=0).fit(rows, None, x)
            swapped = abs(fitted.centers_[0] - CENTERS[0]).sum() > abs(fitted.centers_[0] - CENTERS[1]).sum()
        else:
            scores = np.where(second, worths[1], worths[0]) + rng.gumbel(size=(150, 5))
            rows = np.argsort(np.argsort(-scores, axis=1), axis=1) + 1.0
            fitted = PlackettLuceMixture(2, n_init=1, random_state=0).fit(rows, None, x)
            swapped = fitted.log_worths_[0, 0] < fitted.log_worths_[1, 0]
        coef = -fitted.membership_coef_[1] if swapped else fitted.membership_coef_[1]
        missed += np.abs(coef - [0.3, 1.0]) > norm.ppf(0.975) * fitted.membership_se_[1]
    assert 0.035 <= missed.mean() / 800 <= 0.065


def test_rankings_of_the_same_person_are_noted():
    rankings = camps(60, seed=0)[0]
    found = segments(Survey(Rankings(rankings), id=np.arange(60) % 50), n=2, n_init=1, n_bootstrap=0, random_state=0)
    noted = "10 rankings are of people who ranked before, and counted as if by others"
    assert [note.startswith(noted) for note in found.notes].count(True) == 1
    plain = segments(Survey(Rankings(rankings), id=np.arange(60)), n=2, n_init=1, n_bootstrap=0, random_state=0)
    assert not any("ranked before" in note for note in plain.notes)


def test_the_findings_name_the_model_and_the_numbers_of_their_table():
    """A covariate of noise costs more than it says: both numbers with two segments are told, and which is which."""
    rankings = camps(100, seed=5, theta=0.25)[0]
    noise = np.random.default_rng(0).normal(size=(100, 3))
    found = segments(rankings, noise, n=2, n_bootstrap=0, random_state=0)
    assert not found.told_apart
    one, two = (f"{row.bic:.1f}" for row in found.criteria)
    with_link = f"{found.fitted.bic():.1f}"
    assert f"(Mallows, BIC {one} with one, {two} with 2, {with_link} with the link to" in found.sentences[0]
    assert f"with them, BIC {with_link}" in found.criteria_table().note
