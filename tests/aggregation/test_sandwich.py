"""Survey weights in models of choices: robust errors by their definition, their laws, and their size by simulation."""

from __future__ import annotations

import numpy as np
import pytest

from rankwise import Rankings
from rankwise.aggregation import BestWorst, BradleyTerry, PlackettLuce
from rankwise.aggregation.sandwich import effective_number
from rankwise.label_ranking import PlackettLuceRanker
from tests.naive import choice as naive

NAN = np.nan
WORTH = np.array([0.6, 0.2, -0.2, -0.6])


def draw(rng: np.random.Generator, worth: np.ndarray, n: int) -> np.ndarray:
    return np.argsort(np.argsort(-(worth + rng.gumbel(size=(n, len(worth)))), axis=1), axis=1) + 1.0


def of_every_kind(rng: np.random.Generator, n: int = 60) -> Rankings:
    """Full, tied, top-2 and incomplete rankings of four items, with survey weights, one of which is 0."""
    rows = draw(rng, WORTH, n)
    rows[::4] = np.maximum(rows[::4] - 1, 1)
    rows[1::4][rows[1::4] > 2] = np.inf
    rows[2::4][rng.random(rows[2::4].shape) < 0.3] = NAN
    return Rankings(rows, weights=np.append(rng.uniform(0.3, 3, n - 1), 0.0))


def comparisons(rng: np.random.Generator, n: int = 80) -> tuple[Rankings, list[int]]:
    """Comparisons of two of four items, some of them tied, with survey weights and who is at home."""
    rows = np.full((n, 4), NAN)
    hosts = []
    for row in rows:
        i, j = rng.choice(4, 2, replace=False)
        row[[i, j]] = [(1, 2), (2, 1), (1, 1)][rng.choice(3, p=[0.5, 0.3, 0.2])]
        hosts.append(int(i))
    return Rankings(rows, weights=rng.uniform(0.3, 3, n)), hosts


def differences(covariance: np.ndarray) -> np.ndarray:
    """Covariance of all log worths less the first."""
    shift = np.eye(len(covariance))[1:] - np.eye(len(covariance))[0]
    return shift @ covariance @ shift.T


# By their definition


@pytest.mark.parametrize("alpha", [0.0, 1.5])
def test_worths_with_ties(alpha: float) -> None:
    rankings = of_every_kind(np.random.default_rng(0))
    model = PlackettLuce(alpha).fit(rankings)
    theta = np.append(model.log_worth_, np.log(model.tie_strength_))
    counted = rankings.informative & (rankings.weights > 0)
    positions, weights = rankings.positions[counted], rankings.weights[counted]
    first = int(alpha > 0)  # without a prior, only differences from the first worth are known

    def logs(theta: np.ndarray) -> np.ndarray:
        own = theta[first:]
        return np.array([naive.log_probability(row, own[:4], np.exp(own[4:])) for row in positions])

    expected = naive.robust_covariance(logs, weights, np.append(np.zeros(first), theta), alpha)
    worths = expected[:-1, :-1]
    assert model.covariance_ is not None
    np.testing.assert_allclose(
        differences(model.covariance_), differences(worths) if first else worths, rtol=1e-4, atol=1e-7
    )
    error = np.sqrt(expected[-1, -1]) * model.tie_strength_
    np.testing.assert_allclose(model.tie_strength_se_, error, rtol=1e-4)
    assert model.n_effective_ == pytest.approx(weights.sum() ** 2 / np.sum(weights**2))


@pytest.mark.parametrize("by_ranking", [False, True])
def test_coefficients_of_attributes(by_ranking: bool) -> None:
    rng = np.random.default_rng(1)
    rankings = of_every_kind(rng)
    features = rng.normal(size=(60, 4, 2) if by_ranking else (4, 2))
    model = PlackettLuce().fit(rankings, item_features=features)
    theta = np.concatenate([[0.0], model.coef_, np.log(model.tie_strength_)])
    counted = np.flatnonzero(rankings.informative & (rankings.weights > 0))
    positions, weights = rankings.positions[counted], rankings.weights[counted]
    own = features[counted] if by_ranking else np.tile(features, (len(counted), 1, 1))

    def logs(theta: np.ndarray) -> np.ndarray:
        rows = zip(positions, own @ theta[1:3], strict=True)
        return np.array([naive.log_probability(row, worth, np.exp(theta[3:])) for row, worth in rows])

    expected = naive.robust_covariance(logs, weights, theta)
    np.testing.assert_allclose(model.coef_covariance_, expected[:2, :2], rtol=1e-4, atol=1e-7)
    np.testing.assert_allclose(model.tie_strength_se_, np.sqrt(expected[2, 2]) * model.tie_strength_, rtol=1e-4)


@pytest.mark.parametrize("ties", ["davidson", "half"])
def test_pairs_with_ties_and_a_home_effect(ties: str) -> None:
    rankings, hosts = comparisons(np.random.default_rng(2))
    model = BradleyTerry(ties=ties, home=True).fit(rankings, home=hosts)
    strength = [np.log(model.tie_strength_)] if ties == "davidson" else []
    theta = np.concatenate([model.log_worth_, [model.home_effect_], strength])

    def logs(theta: np.ndarray) -> np.ndarray:
        worth, tie = theta[:4], float(np.exp(theta[5])) if ties == "davidson" else 0.0
        result = []
        for row, host in zip(rankings.positions, hosts, strict=True):
            (other,) = set(np.flatnonzero(~np.isnan(row))) - {host}
            outcome = "tie" if row[host] == row[other] else "first" if row[host] < row[other] else "second"
            halves = ["first", "second"] if outcome == "tie" and ties == "half" else [outcome]
            result.append(
                np.mean([naive.pair_log_likelihood([(host, other, half, 1)], worth, tie, theta[4]) for half in halves])
            )
        return np.array(result)

    expected = naive.robust_covariance(logs, rankings.weights, theta)
    assert model.covariance_ is not None
    np.testing.assert_allclose(differences(model.covariance_), expected[:3, :3], rtol=1e-4, atol=1e-7)
    assert model.home_effect_se_ == pytest.approx(np.sqrt(expected[3, 3]), rel=1e-4)
    if ties == "davidson":
        assert model.tie_strength_se_ == pytest.approx(np.sqrt(expected[4, 4]) * model.tie_strength_, rel=1e-4)


@pytest.mark.parametrize("law", ["maxdiff", "sequential"])
def test_best_and_worst_choices(law: str) -> None:
    rng = np.random.default_rng(3)
    start = BestWorst(law, alpha=1.0).fit(Rankings([[1, 2, 3, NAN]]))  # type: ignore[arg-type]
    start.log_worth_ = WORTH
    answers = Rankings(start.sample(80, rng, set_size=3), weights=rng.uniform(0.3, 3, 80))
    model = BestWorst(law).fit(answers)  # type: ignore[arg-type]

    def logs(theta: np.ndarray) -> np.ndarray:
        start.log_worth_ = theta
        return start.logpmf(answers)

    expected = naive.robust_covariance(logs, answers.weights, model.log_worth_)
    assert model.covariance_ is not None
    np.testing.assert_allclose(differences(model.covariance_), expected, rtol=1e-4, atol=1e-7)
    features = rng.normal(size=(4, 2))
    by_item = BestWorst(law).fit(answers, item_features=features)  # type: ignore[arg-type]
    by_answer = BestWorst(law).fit(answers, item_features=np.tile(features, (80, 1, 1)))  # type: ignore[arg-type]
    np.testing.assert_allclose(by_item.coef_covariance_, by_answer.coef_covariance_, rtol=1e-6)


@pytest.mark.parametrize("alpha", [0.0, 2.0])
def test_features_of_people(alpha: float) -> None:
    rng = np.random.default_rng(4)
    X, weights = rng.normal(size=(60, 1)), rng.uniform(0.3, 3, 60)
    X -= np.average(X, axis=0, weights=weights)
    X /= np.sqrt(np.average(X**2, axis=0, weights=weights))
    y = Rankings(draw(rng, WORTH, 60), weights=weights)
    ranker = PlackettLuceRanker(alpha, store_covariance=True).fit(X, y)
    fitted = np.column_stack([ranker.intercept_, ranker.coef_]).ravel()

    def logs(theta: np.ndarray) -> np.ndarray:
        worths = theta[1::2] + X * theta[2::2]
        rows = zip(y.positions, worths, strict=True)
        return np.array([naive.log_probability(row, worth, np.array([])) for row, worth in rows])

    # What is added to all items changes nothing, so a weak prior makes the information invertible.
    expected = naive.robust_covariance(logs, weights, np.append(0.0, fitted), prior=alpha or 1e-6)
    center = np.kron(np.eye(4) - 1 / 4, np.eye(2))
    np.testing.assert_allclose(ranker.covariance_, center @ expected @ center, rtol=1e-3, atol=1e-5)
    assert ranker.summary().n_effective == pytest.approx(effective_number(weights))


# Laws


def fits(rankings: Rankings, **options: str) -> list[np.ndarray]:
    """Standard errors of all models of full rankings, and of pairs."""
    X = np.random.default_rng(9).normal(size=(len(rankings), 2))
    pairs = rankings.select([0, 1])
    return [
        PlackettLuce(**options).fit(rankings).se_,  # type: ignore[arg-type]
        BradleyTerry(**options).fit(pairs).se_,  # type: ignore[arg-type]
        PlackettLuceRanker(0.0, **options).fit(X, rankings).summary().standard_errors,  # type: ignore[arg-type]
    ]


def test_the_scale_of_survey_weights_changes_nothing() -> None:
    rng = np.random.default_rng(5)
    rows, weights = draw(rng, WORTH, 60), rng.uniform(0.3, 3, 60)
    for own, large in zip(
        fits(Rankings(rows, weights=weights)), fits(Rankings(rows, weights=1e6 * weights)), strict=True
    ):
        np.testing.assert_allclose(own, large, rtol=1e-4)


def test_counts_are_rows_that_repeat_and_survey_weights_are_not() -> None:
    rng = np.random.default_rng(6)
    rows, counts = draw(rng, WORTH, 60), rng.integers(1, 4, 60).astype(float)
    counted, robust = fits(Rankings(rows, weights=counts)), fits(Rankings(rows, weights=counts), weight_kind="survey")
    halved = fits(Rankings(rows, weights=counts / 2), weight_kind="counts")
    repeated = PlackettLuce().fit(np.repeat(rows, counts.astype(int), axis=0))
    np.testing.assert_allclose(counted[0], repeated.se_, rtol=1e-6)
    for count, half, survey in zip(counted, halved, robust, strict=True):
        np.testing.assert_allclose(half, np.sqrt(2) * count, rtol=1e-4)
        assert np.mean(survey) > 1.2 * np.mean(count)  # 60 people, and not 120
    np.testing.assert_allclose(
        robust[1], PlackettLuce(weight_kind="survey").fit(Rankings(rows, weights=counts).select([0, 1])).se_, rtol=1e-6
    )


def test_a_prior_keeps_what_nobody_says_unknown() -> None:
    rng = np.random.default_rng(7)
    rows = np.column_stack([draw(rng, WORTH, 40), np.full(40, NAN)])
    weights = rng.uniform(0.3, 3, 40)
    survey = PlackettLuce(alpha=2.0).fit(Rankings(rows, weights=weights))
    counts = PlackettLuce(alpha=2.0, weight_kind="counts").fit(Rankings(rows, weights=weights))
    np.testing.assert_allclose(survey.se_[4], counts.se_[4], rtol=0.05)


def test_the_summary_says_what_it_took_weights_for() -> None:
    rng = np.random.default_rng(8)
    rows = draw(rng, WORTH, 60)
    summary = PlackettLuce().fit(rows, sample_weight=rng.uniform(0.3, 3, 60)).summary()
    text = str(summary)
    assert "Survey weights: robust standard errors, as of" in text
    assert "AIC" not in text
    assert summary.likelihood_ratio is None
    assert np.isnan([summary.aic, summary.bic]).all()
    assert summary.as_dict()["aic"] is None
    assert summary.wald is not None
    assert summary.wald.denominator is not None
    assert "robust Wald test" in text
    assert summary.sentence.startswith("The items differ in worth")
    assert PlackettLuce().fit(rows).summary().n_effective is None


def test_a_matrix_of_wins_holds_counts() -> None:
    wins = [[0, 3.5, 4], [1, 0, 3], [1, 2, 0]]
    assert BradleyTerry().fit(wins).summary().n_effective is None
    with pytest.raises(ValueError, match="a matrix of wins has no weights of people"):
        BradleyTerry(weight_kind="survey").fit(wins)
    with pytest.raises(ValueError, match="weight_kind is 'people'; choose 'auto', 'counts' or 'survey'"):
        PlackettLuce(weight_kind="people").fit([[1, 2], [2, 1]])  # type: ignore[arg-type]


# Size


@pytest.mark.slow
def test_intervals_cover_and_tests_keep_their_size() -> None:
    """80 people with survey weights from .3 to 3, whose rankings have nothing to do with them."""

    def weighted(rng: np.random.Generator, worth: np.ndarray) -> Rankings:
        return Rankings(draw(rng, worth, 80), weights=rng.uniform(0.3, 3, 80))

    missed, rejected = [], []
    for seed in range(1_000):
        rng = np.random.default_rng(seed)
        low, high = PlackettLuce().fit(weighted(rng, WORTH)).summary().intervals.T
        missed.append(np.mean((low > WORTH) | (high < WORTH)))
        wald = PlackettLuce().fit(weighted(rng, np.zeros(4))).summary().wald
        assert wald is not None
        rejected.append(wald.p_value < 0.05)
    assert 0.035 < np.mean(missed) < 0.065
    assert 0.035 < np.mean(rejected) < 0.065
