"""Summaries of choice models: published values, definitions, coverage and size by simulation, and what is said."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize
from scipy.stats import chi2, norm

from rankwise import Rankings
from rankwise.aggregation import BestWorst, BradleyTerry, ModelSummary, PlackettLuce
from rankwise.aggregation._quasi_variances import quasi_standard_errors
from rankwise.label_ranking import PlackettLuceRanker
from tests.naive import choice as naive

FOLDER = Path(__file__).parents[1] / "golden"
GOLDEN = json.loads((FOLDER / "choice_models.json").read_text("utf-8"))
CHOICE = json.loads((FOLDER / "choice.json").read_text("utf-8"))
NAN = np.nan


def pudding() -> Rankings:
    rows, weights = [], []
    for i, j, _, first, second, tied in CHOICE["pudding"]["table"]:
        for a, b, weight in ((1, 2, first), (2, 1, second), (1, 1, tied)):
            row = np.full(6, np.nan)
            row[[i - 1, j - 1]] = a, b
            rows.append(row)
            weights.append(weight)
    return Rankings(np.array(rows), items=list("123456"), weights=weights)


def with_ghost(positions: np.ndarray, weights: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Rankings, and a last item that wins and loses half a comparison with each of the others."""
    n, k = positions.shape
    pairs = np.full((2 * k, k + 1), np.nan)
    pairs[np.arange(k), np.arange(k)], pairs[:k, k] = 1.0, 2.0
    pairs[k + np.arange(k), np.arange(k)], pairs[k:, k] = 2.0, 1.0
    every = np.vstack([np.column_stack([positions, np.full(n, np.nan)]), pairs])
    return every, np.append(np.ones(n) if weights is None else weights, np.full(2 * k, 0.5))


# Published values


def test_the_puddings_with_quasi_standard_errors() -> None:
    golden = GOLDEN["pudding"]
    summary = PlackettLuce().fit(pudding()).summary(ref="1")
    np.testing.assert_allclose(summary.coefficients[:6], golden["coefficients"], atol=2e-4)
    np.testing.assert_allclose(summary.standard_errors[1:6], golden["se"][1:], rtol=1e-4)
    assert np.isnan(summary.standard_errors[0])
    np.testing.assert_allclose(summary.quasi_standard_errors, golden["quasi_se"], rtol=1e-4)
    assert 100 * summary.quasi_error == pytest.approx(golden["worst_percent"], abs=0.05)
    assert summary.z[1] == pytest.approx(golden["z_of_second"], abs=2e-3)
    assert summary.p_values[1] == pytest.approx(golden["p_of_second"], abs=1e-3)
    assert summary.aic == pytest.approx(golden["aic"], abs=0.05)
    assert summary.names[-1] == "log tie strength (2)"
    assert summary.coefficients[-1] == pytest.approx(CHOICE["pudding"]["log_tie_strength"], abs=2e-4)
    assert summary.standard_errors[-1] == pytest.approx(CHOICE["pudding"]["log_tie_strength_se"], abs=1e-5)


def test_quasi_standard_errors_do_not_depend_on_the_reference() -> None:
    model = PlackettLuce().fit(pudding())
    np.testing.assert_array_equal(model.summary(ref="3").quasi_standard_errors, model.summary().quasi_standard_errors)


def test_the_toy_of_disconnected_networks() -> None:
    golden, toy = GOLDEN["toy"], CHOICE["toy"]
    games = [pair for pair in zip(toy["winners"], toy["losers"], strict=True) if "D" not in pair]
    summary = BradleyTerry().fit_comparisons(*zip(*games, strict=True)).summary(ref="A")
    b = summary.names.index("B")
    assert summary.coefficients[b] == pytest.approx(toy["log_worth"]["B"], abs=1e-4)
    assert summary.standard_errors[b] == pytest.approx(toy["se"]["B"], abs=1e-4)
    assert summary.z[b] == pytest.approx(golden["z"], abs=1e-3)
    assert summary.p_values[b] == pytest.approx(golden["p"], abs=1e-3)
    assert summary.aic == pytest.approx(golden["aic"], abs=1e-4)


def test_pseudo_rankings_are_a_ghost_item(benchmark_data: Path) -> None:
    golden = GOLDEN["pseudo"]
    ranks = np.array(golden["rankings"], dtype=float)
    model = PlackettLuce().fit(*with_ghost(np.where(ranks == 0, np.nan, ranks)))
    np.testing.assert_allclose((model.log_worth_ - model.log_worth_[0])[:4], golden["coefficients"], atol=1e-6)
    path = benchmark_data / "preflib" / "classic" / "nascar2002_orderings.csv.gz"
    table = np.loadtxt(path, delimiter=",", skiprows=1, dtype=int)
    races = Rankings.from_orders(
        [[driver for driver in race if driver > 0] for race in table.tolist()],
        unlisted="missing",
        items=list(range(88)),
    ).select(list(range(1, 88)))
    model = PlackettLuce().fit(*with_ghost(races.positions))
    np.testing.assert_allclose(
        (model.log_worth_ - model.log_worth_[0])[83:87], GOLDEN["nascar_pseudo"]["coefficients"], atol=1e-5
    )


def test_fruits_with_ties_and_pseudo_rankings() -> None:
    golden = GOLDEN["fruits"]
    ranks = np.array(golden["rankings"], dtype=float)
    positions = np.where(ranks == 0, np.nan, ranks)
    model = PlackettLuce().fit(*with_ghost(positions))
    summary = model.summary(ref=0)
    np.testing.assert_allclose(summary.coefficients[:3], golden["coefficients"], atol=1e-6)
    assert summary.coefficients[-1] == pytest.approx(golden["log_tie_strength"], abs=1e-6)
    logs = model.logpmf(np.column_stack([positions, np.full(len(positions), np.nan)]))
    np.testing.assert_allclose(np.exp(logs), [np.prod(choices) for choices in golden["probabilities"]], atol=1e-7)
    assert -2 * logs.sum() == pytest.approx(golden["deviance"], abs=0.005)


def test_the_worths_of_salad_dressings(benchmark_data: Path) -> None:
    golden, attributes = GOLDEN["salad_worths"], GOLDEN["salad"]
    judges = pd.read_csv(benchmark_data / "rankings-with-covariates" / "prefmod_salad.csv.gz")
    model = PlackettLuce().fit(judges)
    summary = model.summary(ref="A")
    np.testing.assert_allclose(summary.coefficients, golden["coefficients"], atol=6e-5)
    np.testing.assert_allclose(summary.standard_errors[1:], golden["se"], atol=6e-5)
    np.testing.assert_allclose(summary.z[1:], golden["z"], atol=6e-4)
    np.testing.assert_allclose(summary.p_values[1:], golden["p"], rtol=5e-3)
    np.testing.assert_allclose(np.exp(model.log_worth_) / np.exp(model.log_worth_).sum(), golden["worths"], atol=6e-6)
    deviance = -2 * model.log_likelihood_
    assert deviance == pytest.approx(golden["deviance"], abs=0.006)
    assert summary.aic == pytest.approx(golden["aic"], abs=0.006)
    acids = pd.DataFrame({name: attributes[name] for name in ("acetic", "gluconic")}, index=list("ABCD"))
    by_acids = PlackettLuce().fit(judges, item_features=acids)
    gain = -2 * by_acids.log_likelihood_ - deviance
    assert gain == pytest.approx(golden["deviance_of_attributes"], abs=2e-4)
    assert chi2.sf(gain, 1) == pytest.approx(golden["p_of_attributes"], abs=1e-3)


@pytest.mark.parametrize(("name", "file"), [("carconf", "prefmod_carconf"), ("irish", "consrankclass_irish")])
def test_surveys_with_open_ends_by_exploded_choices(benchmark_data: Path, name: str, file: str) -> None:
    golden = GOLDEN[name]
    people = pd.read_csv(benchmark_data / "rankings-with-covariates" / f"{file}.csv.gz")
    places = people.iloc[:, : len(golden["coefficients"]) + 1].astype(float)
    votes = Rankings(places.where(places <= places.shape[1], np.inf).to_numpy(), items=list(places))
    summary = PlackettLuce().fit(votes).summary(ref=places.columns[0])
    np.testing.assert_allclose(summary.coefficients[1:], golden["coefficients"], atol=2e-6)
    np.testing.assert_allclose(summary.standard_errors[1:], golden["se"], atol=2e-6)
    assert summary.log_likelihood == pytest.approx(golden["log_likelihood"], abs=1e-5)
    if name == "carconf":
        by_sex, golden = PlackettLuceRanker(alpha=0).fit(people[["sex"]] - 1, votes), golden["with_sex"]
        summary = by_sex.summary(ref="price")
        np.testing.assert_allclose(summary.coefficients, golden["slopes"] + golden["intercepts"], atol=3e-6)
        np.testing.assert_allclose(summary.standard_errors, golden["slopes_se"] + golden["intercepts_se"], atol=3e-6)
        assert summary.log_likelihood == pytest.approx(golden["log_likelihood"], abs=1e-5)


def test_dressings_that_nobody_tasted(benchmark_data: Path) -> None:
    golden, attributes = GOLDEN["salad_new"], GOLDEN["salad"]
    judges = pd.read_csv(benchmark_data / "rankings-with-covariates" / "prefmod_salad.csv.gz")
    known, new = (
        pd.DataFrame({name: values[name] for name in ("acetic", "gluconic")}) for values in (attributes, golden)
    )
    model = PlackettLuce().fit(judges, item_features=known.set_axis(list("ABCD")))
    worth = model.predict_log_worth(new)
    origin = model.predict_log_worth(known)[0] - golden["log_worths_of_known"][0]
    np.testing.assert_allclose(model.predict_log_worth(known) - origin, golden["log_worths_of_known"], atol=1e-3)
    np.testing.assert_allclose(worth - origin, golden["log_worths"], atol=1e-3)
    np.testing.assert_allclose(np.exp(worth) / np.exp(worth).sum(), golden["worths"], atol=1e-4)
    # The delta method: the share of the first changes with the difference of attributes, .5 of acetic acid.
    error = np.prod(golden["worths"]) * abs(golden["acetic"][0] - golden["acetic"][1]) * model.coef_se_[0]
    assert error == pytest.approx(golden["se"], rel=2e-3)


@pytest.mark.parametrize("home", [False, True])
def test_the_baseball_teams_of_agresti(home: bool) -> None:
    golden = GOLDEN["baseball"]
    expected = golden["home" if home else "neutral"]
    games = [
        (*pair, host, wins)
        for host, guest, won, lost in golden["games"]
        for pair, wins in (((host, guest), won), ((guest, host), lost))
        if wins
    ]
    winner, loser, hosts, counts = zip(*games, strict=True)
    model = BradleyTerry(home=home).fit_comparisons(winner, loser, sample_weight=counts, home=hosts if home else None)
    summary = model.summary(ref="Baltimore")
    order = [summary.names.index(team) for team in golden["teams"]]
    np.testing.assert_allclose(summary.coefficients[order], expected["coefficients"], atol=6e-5)
    np.testing.assert_allclose(summary.standard_errors[order], expected["se"], atol=6e-5)
    assert summary.n_observations == sum(counts)
    if home:
        assert summary.names[-1] == "home effect"
        assert summary.coefficients[-1] == pytest.approx(expected["home_effect"], abs=6e-5)
        assert summary.standard_errors[-1] == pytest.approx(expected["home_effect_se"], abs=6e-5)
    else:
        p = summary.p_values[summary.names.index("Cleveland")]
        assert p == pytest.approx(expected["p_of_cleveland"], abs=1e-5)
        gain = expected["null_deviance"] - expected["deviance"]
        assert summary.likelihood_ratio.statistic == pytest.approx(gain, abs=2e-3)
        assert summary.likelihood_ratio.degrees_of_freedom == 6


def test_citations_among_journals() -> None:
    golden = GOLDEN["citations"]
    rows = [(a, b, n) for first, second, wins, losses in golden["counts"] for a, b, n in
            ((first, second, wins), (second, first, losses))]  # fmt: skip
    winner, loser, counts = zip(*rows, strict=True)
    model = BradleyTerry().fit_comparisons(winner, loser, sample_weight=counts, items=golden["items"])
    np.testing.assert_allclose(model.summary(ref="Biometrika").coefficients, golden["coefficients"], atol=6e-5)


# Definitions


@pytest.mark.parametrize("n", [3, 4, 5])
def test_quasi_standard_errors_minimize_their_loss(n: int) -> None:
    rng = np.random.default_rng(n)
    root = rng.normal(size=(n, n + 2))
    covariance = root @ root.T
    pairs = [(i, j) for i in range(n) for j in range(i)]

    def loss(q: np.ndarray) -> float:
        variances = [covariance[i, i] + covariance[j, j] - 2 * covariance[i, j] for i, j in pairs]
        sums = [q[i] + q[j] for i, j in pairs]
        return sum((np.log(s) - np.log(v)) ** 2 for s, v in zip(sums, variances, strict=True)) if min(sums) > 0 else 1e9

    errors, worst = quasi_standard_errors(covariance)
    options = {"xatol": 1e-9, "fatol": 1e-12, "maxiter": 10_000}
    best = minimize(loss, covariance.diagonal(), method="Nelder-Mead", options=options).fun
    assert loss(errors**2) <= best + 1e-9
    ratios = [
        np.sqrt((errors[i] ** 2 + errors[j] ** 2) / (covariance[i, i] + covariance[j, j] - 2 * covariance[i, j]))
        for i, j in pairs
    ]
    assert worst == pytest.approx(max(abs(ratio - 1) for ratio in ratios), abs=1e-6)
    if n == 3:
        assert worst < 1e-9


def test_quasi_standard_errors_exist_for_three_or_more() -> None:
    assert quasi_standard_errors(np.eye(2)) == (None, None)
    assert PlackettLuce().fit([[1, 2], [2, 1], [1, 2]]).summary().quasi_standard_errors is None


def test_a_reference_moves_log_worths_and_keeps_tests() -> None:
    model = PlackettLuce().fit(pudding())
    mean, third = model.summary(), model.summary(ref="3")
    np.testing.assert_allclose(third.coefficients[:6], model.log_worth_ - model.log_worth_[2])
    np.testing.assert_allclose(mean.coefficients[:6], model.log_worth_)
    np.testing.assert_allclose(mean.standard_errors[:6], model.se_)
    variance = model.covariance_[0, 0] + model.covariance_[2, 2] - 2 * model.covariance_[0, 2]
    assert third.standard_errors[0] == pytest.approx(np.sqrt(variance))
    assert third.wald.statistic == pytest.approx(mean.wald.statistic)
    low, high = third.intervals[0]
    assert high - low == pytest.approx(2 * 1.959964 * third.standard_errors[0])
    wide = model.summary(level=0.99).intervals
    assert np.all(np.diff(wide, axis=1) > np.diff(mean.intervals, axis=1))
    np.testing.assert_allclose(mean.p_values, 2 * norm.sf(np.abs(mean.z)))
    assert mean.bic == pytest.approx(6 * np.log(745) - 2 * model.log_likelihood_)
    ratio = mean.likelihood_ratio
    assert ratio.p_value == pytest.approx(chi2.sf(2 * (model.log_likelihood_ - model.null_log_likelihood_), 5))


def test_the_null_of_ties_is_the_best_of_equal_items() -> None:
    rankings = np.array([[1, 1, 2, 3], [1, 2, 2, 2], [2, 1, 3, 3], [1, 2, 3, np.inf], [4, 3, 2, 1], [1, 1, np.nan, 2]])
    model = PlackettLuce(alpha=1.0).fit(rankings)

    def loss(logs: np.ndarray) -> float:
        return -naive.log_likelihood(rankings, np.ones(6), np.zeros(4), np.exp(logs))

    assert model.null_log_likelihood_ == pytest.approx(-minimize(loss, np.zeros(2)).fun, abs=1e-5)
    strict = PlackettLuce(alpha=1.0).fit([[1, 2, 3], [1, np.inf, np.inf], [1, 2, np.nan]])
    assert strict.null_log_likelihood_ == pytest.approx(-np.log(6) - np.log(3) - np.log(2))
    assert strict.n_rankings_ == 3
    assert np.isfinite(PlackettLuce(alpha=0.1).fit([[1, 1, 1]]).null_log_likelihood_)


def test_the_null_of_pairs_fits_ties_and_the_home_effect() -> None:
    games = [(0, 1, "first", 1), (1, 2, "tie", 1), (2, 0, "second", 1), (0, 1, "second", -1), (1, 2, "first", 1),
             (2, 0, "first", 1), (0, 2, "first", -1), (1, 0, "tie", 1)]  # fmt: skip
    winner, loser, tie, home = [], [], [], []
    for first, second, outcome, venue in games:
        winner.append(second if outcome == "second" else first)
        loser.append(first if outcome == "second" else second)
        tie.append(outcome == "tie")
        home.append(first if venue == 1 else second)
    model = BradleyTerry(home=True, alpha=0.5).fit_comparisons(winner, loser, tie=tie, home=home)

    def loss(theta: np.ndarray) -> float:
        return -naive.pair_log_likelihood(games, np.zeros(3), float(np.exp(theta[0])), float(theta[1]))

    assert model.null_log_likelihood_ == pytest.approx(-minimize(loss, np.zeros(2)).fun, abs=1e-6)
    assert model.n_rankings_ == len(games)


# What is said


def test_with_a_prior_there_are_no_tests() -> None:
    summary = PlackettLuce(alpha=0.5).fit(pudding()).summary()
    assert summary.likelihood_ratio is None
    assert summary.wald is None
    assert np.isnan(summary.p_values).all()
    assert np.isnan(summary.z).all()
    text = str(summary)
    assert "there are no tests, which need maximum likelihood (alpha=0) where it exists" in text
    assert " z " not in text
    assert " p " not in text
    assert summary.as_dict()["coefficients"][0]["p_value"] is None


def test_tables_frames_and_json() -> None:
    summary = PlackettLuce().fit(pudding()).summary(ref="1")
    text = str(summary)
    assert text.startswith("Plackett-Luce model\nThe items may all be of equal worth: p = 0.538.")
    assert "relative to 1." in text
    assert "nan" not in text
    frame = summary.to_frame("pandas")
    assert frame.columns.tolist() == [
        "name", "coefficient", "standard_error", "z", "p_value", "low", "high", "quasi_standard_error",
    ]  # fmt: skip
    assert frame["name"].tolist() == [*"123456", "log tie strength (2)"]
    parsed = json.loads(json.dumps(summary.as_dict(), allow_nan=False))
    assert parsed["reference"] == "1"
    assert parsed["coefficients"][0]["standard_error"] is None
    assert parsed["likelihood_ratio"]["degrees_of_freedom"] == 5
    clear = PlackettLuce().fit([[1, 2, 3]] * 20 + [[3, 2, 1], [2, 1, 3], [1, 3, 2]]).summary()
    assert "The items differ in worth: p < 0.001." in str(clear)
    chance = PlackettLuce().fit([[1, 2, 3], [3, 1, 2], [2, 3, 1]], item_features=[[1.0], [2.0], [4.0]]).summary()
    assert "Chance may explain the choices as well: p = 1.000." in str(chance)
    assert isinstance(summary, ModelSummary)


def test_bad_questions() -> None:
    model = PlackettLuce().fit(pudding())
    with pytest.raises(ValueError, match="ref is 'x', which is not an item; the items are 1, 2"):
        model.summary(ref="x")
    with pytest.raises(ValueError, match="level"):
        model.summary(level=95)
    from sklearn.exceptions import NotFittedError

    for unfitted in (PlackettLuce(), BradleyTerry(), BestWorst()):
        with pytest.raises(NotFittedError):
            unfitted.summary()
    with pytest.raises(ValueError, match="no ranking of positive weight compares two items"):
        PlackettLuce(alpha=1.0).fit([[1, NAN], [NAN, 1]]).summary()
    del model.null_log_likelihood_
    with pytest.raises(ValueError, match=r"saved by an earlier version.*fit it again"):
        model.summary()


@pytest.mark.parametrize("rankings", [np.zeros((0, 3)), [[1, NAN, NAN]], [[1.0, 2.0, 3.0]]])
def test_nothing_to_fit_is_said(rankings: object) -> None:
    weights = np.zeros(len(rankings))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="nothing of positive weight compares two items, so there is nothing to fit"):
        PlackettLuce().fit(rankings, weights)
    with pytest.raises(ValueError, match="nothing of positive weight compares two items"):
        BradleyTerry().fit(np.zeros((3, 3)))


def test_quasi_standard_errors_that_mislead_are_left_out() -> None:
    """Groups that nobody compares: within a group differences are known, between the groups only the prior speaks."""
    rows = [[1, 2, NAN, NAN], [2, 1, NAN, NAN], [NAN, NAN, 1, 2], [NAN, NAN, 2, 1]] * 10
    summary = PlackettLuce(alpha=0.1).fit(Rankings(rows, list("abcd"))).summary()
    assert summary.quasi_standard_errors is None
    assert summary.quasi_error > 2
    text = str(summary)
    assert "left out: they would be wrong by up to 271%" in text
    assert "Nothing compares these 2 groups of items with each other: a, b; c, d." in text
    assert "quasi_standard_error" not in summary.to_frame("pandas")


def test_worths_that_only_the_prior_bounds_are_noted() -> None:
    rows = [[1, 2, 3, 4], [1, 3, 2, 4], [1, 2, 3, 4]]
    first, last = PlackettLuce(alpha=0.1).fit(rows).summary().notes
    rests = "or tied with, any other item: how far from those of others the worths are rests on the prior"
    assert first == f"0 never came after, {rests}"
    assert last == f"3 never came before, {rests}"
    duels = BradleyTerry(alpha=0.1).fit(Rankings([[1, 2, NAN], [NAN, 1, 2], [NAN, 2, 1]], list("abc")))
    assert [note.split(", or")[0] for note in duels.summary().notes] == ["a never came after", "b, c never came before"]
    answers = Rankings([[1, 2, 3], [1, 3, 2], [1, 2, 3]])
    assert BestWorst(alpha=0.1).fit(answers).summary().notes[0].startswith("0 never came after")
    assert PlackettLuce(alpha=0.1).fit([*rows, [4, 3, 2, 1]]).summary().notes == ()
    model = PlackettLuce(alpha=0.1).fit(rows)
    assert model.fit([[1, 2], [2, 1]]).summary().notes == ()
    apart = PlackettLuce(alpha=0.1).fit([[1, 2, NAN, NAN], [NAN, NAN, 1, 2]]).summary().notes
    assert [note.split(" ")[0] for note in apart] == ["nothing", "0", "2", "1", "3"]


def test_small_and_large_coefficients_have_digits() -> None:
    rng = np.random.default_rng(0)
    income = np.array([20_000.0, 35_000, 50_000, 80_000])
    rows = draw(np.tile(income / 20_000, (200, 1)), rng)
    table = PlackettLuce().fit(rows, item_features=income[:, None]).summary().tables()[0]
    coefficient, error = (float(cell) for cell in table.rows[0][1:3])
    assert coefficient == pytest.approx(1 / 20_000, rel=0.3)
    assert error > 0
    assert len(table.rows[0][2].split("e")[0]) == 3  # two digits
    low, high = (float(end) for end in table.rows[0][5].split(" to "))
    assert low < coefficient < high
    tiny = PlackettLuce().fit(rows, item_features=income[:, None] / 1e9).summary().tables()[0]
    assert float(tiny.rows[0][1]) == pytest.approx(1e9 * coefficient, rel=0.02)
    # Of coefficients about one, three decimals.
    plain = PlackettLuce().fit(rows, item_features=income[:, None] / 20_000).summary().tables()[0]
    assert len(plain.rows[0][1].split(".")[1]) == 3


def test_the_effect_of_the_order_has_its_name() -> None:
    rows = Rankings([[1, 2], [2, 1], [1, 2], [1, 2], [2, 1]], ["a", "b"])
    shown = ["a", "b", "a", "b", "a"]
    named = BradleyTerry(home="first-shown").fit(rows, home=shown)
    assert named.summary().names[-1] == "first-shown effect"
    plain = BradleyTerry(home=True).fit(rows, home=shown)
    assert plain.summary().names[-1] == "home effect"
    assert named.home_effect_ == plain.home_effect_


def test_zero_has_no_sign() -> None:
    text = str(PlackettLuce(alpha=0.1).fit(np.ones((80, 3))).summary())
    assert "if all were equal  0.00" in text
    assert "-0.00" not in text


# Coverage and size


def rates(fit, truth: np.ndarray, runs: int) -> tuple[float, float]:
    """Share of intervals that miss the truth, of all runs and coefficients; and of likelihood-ratio tests below 5%."""
    misses, rejected = [], []
    for seed in range(runs):
        summary = fit(np.random.default_rng(seed)).summary()
        low, high = summary.intervals[: len(truth)].T
        misses.append((low > truth) | (high < truth))
        rejected.append(summary.likelihood_ratio.p_value < 0.05)
    return float(np.mean(misses)), float(np.mean(rejected))


def draw(utility: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return np.argsort(np.argsort(-(utility + rng.gumbel(size=utility.shape)), axis=1), axis=1) + 1.0


@pytest.mark.slow
def test_intervals_of_worths_cover() -> None:
    truth = np.linspace(0.6, -0.6, 5)
    miss, _ = rates(lambda rng: PlackettLuce().fit(draw(np.tile(truth, (100, 1)), rng)), truth, 500)
    assert 0.035 < miss < 0.065


@pytest.mark.slow
def test_the_test_of_equal_items_has_its_size() -> None:
    _, size = rates(lambda rng: PlackettLuce().fit(draw(np.zeros((100, 5)), rng)), np.zeros(5), 500)
    assert 0.035 < size < 0.065


@pytest.mark.slow
def test_intervals_of_attributes_cover_and_their_test_has_its_size() -> None:
    features = np.random.default_rng(7).normal(size=(150, 4, 3))
    truth = np.array([0.6, -0.3, 0.0])
    miss, _ = rates(lambda rng: PlackettLuce().fit(draw(features @ truth, rng), item_features=features), truth, 500)
    assert 0.035 < miss < 0.065
    _, size = rates(
        lambda rng: PlackettLuce().fit(draw(np.zeros((150, 4)), rng), item_features=features), np.zeros(3), 500
    )
    assert 0.035 < size < 0.065


@pytest.mark.slow
def test_the_wald_test_of_attributes_has_its_size() -> None:
    """Attributes without an effect, 150 rankings of four items."""
    features = np.random.default_rng(7).normal(size=(150, 4, 3))
    rejected = []
    for seed in range(600):
        rows = draw(np.zeros((150, 4)), np.random.default_rng(seed))
        wald = PlackettLuce().fit(rows, item_features=features).summary().wald
        assert wald is not None
        rejected.append(wald.p_value < 0.05)
    assert 0.035 < np.mean(rejected) < 0.065


@pytest.mark.slow
def test_intervals_and_tests_of_pairs_and_best_worst_choices() -> None:
    truth = np.linspace(0.5, -0.5, 5)
    for model in (BradleyTerry(alpha=1.0), BestWorst(alpha=1.0), BestWorst("sequential", alpha=1.0)):
        start = model.fit(Rankings([[1, 2, NAN, NAN, NAN]]))
        fresh = type(model)() if isinstance(model, BradleyTerry) else type(model)(model.law)

        def fit(rng, start=start, fresh=fresh, worth=truth):
            start.log_worth_ = worth
            more = {"set_size": 4} if isinstance(start, BestWorst) else {}
            return fresh.fit(start.sample(250, rng, **more))

        assert 0.035 < rates(fit, truth, 500)[0] < 0.065
        assert 0.035 < rates(lambda rng, fit=fit: fit(rng, worth=np.zeros(5)), truth, 500)[1] < 0.065


@pytest.mark.slow
def test_quasi_standard_errors_cover_differences_of_all_pairs() -> None:
    """Intervals of differences by the root of the sum of squares of two quasi-standard errors, 60 rankings each."""
    truth = np.linspace(0.6, -0.6, 5)
    first, second = np.triu_indices(5, 1)
    misses = []
    for seed in range(500):
        summary = PlackettLuce().fit(draw(np.tile(truth, (60, 1)), np.random.default_rng(seed))).summary()
        quasi, found = summary.quasi_standard_errors, summary.coefficients
        assert quasi is not None
        error = found[first] - found[second] - (truth[first] - truth[second])
        misses.append(np.abs(error) > 1.96 * np.hypot(quasi[first], quasi[second]))
    assert 0.035 < np.mean(misses) < 0.065


@pytest.mark.slow
def test_intervals_and_tests_of_rankings_with_ties() -> None:
    """Worths and the log tie strength of the Davidson-Luce model, 50 rankings of four items with a strength of 1/2."""
    start = PlackettLuce(alpha=1.0).fit([[1, 1, 2, 3], [2, 1, 3, 4]])
    worth = np.array([0.5, 0.2, -0.1, -0.6])

    def fit(rng: np.random.Generator, worth: np.ndarray = worth) -> PlackettLuce:
        start.log_worth_, start.tie_strength_ = worth, np.array([0.5])
        return PlackettLuce().fit(start.sample(50, rng))

    assert 0.035 < rates(fit, np.append(worth, np.log(0.5)), 600)[0] < 0.065
    assert 0.035 < rates(lambda rng: fit(rng, np.zeros(4)), np.zeros(4), 600)[1] < 0.065


@pytest.mark.slow
@pytest.mark.parametrize("effect", [0.0, 0.5])
def test_intervals_of_the_home_effect_cover(effect: float) -> None:
    """The effect of being at home, or shown first: 100 comparisons of four items; at 0 this is the size of its test."""
    worth, misses = np.array([0.5, 0.0, -0.5, 0.0]), []
    for seed in range(800):
        rng = np.random.default_rng(seed)
        first = rng.integers(0, 4, 100)
        second = (first + rng.integers(1, 4, 100)) % 4
        wins = rng.random(100) < 1 / (1 + np.exp(-(worth[first] - worth[second] + effect)))
        model = BradleyTerry(home="first-shown").fit_comparisons(
            np.where(wins, first, second), np.where(wins, second, first), home=first
        )
        low, high = model.summary().intervals[-1]
        misses.append(not low <= effect <= high)
    assert 0.035 < np.mean(misses) < 0.065
