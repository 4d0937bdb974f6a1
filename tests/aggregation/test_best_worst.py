"""Best-worst choices: against the definition, their law, and what is refused."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import chisquare

from rankwise import Rankings
from rankwise.aggregation import BestWorst, BradleyTerry, best_worst_rankings
from tests.naive import choice as naive

LAWS = ("maxdiff", "sequential")
NAN = np.nan


def answers(n: int = 40, k: int = 5, shown: int = 4, seed: int = 0) -> Rankings:
    """Random answers about random sets."""
    rng = np.random.default_rng(seed)
    positions = np.full((n, k), np.nan)
    for row in positions:
        items = rng.permutation(k)[:shown]
        row[items] = 2.0
        row[items[0]], row[items[1]] = 1.0, 3.0
    return Rankings(positions)


def definition(rankings: Rankings, weights: np.ndarray, law: str):
    def value(log_worth: np.ndarray) -> float:
        total = 0.0
        for row, weight in zip(rankings.positions, weights, strict=True):
            shown = np.flatnonzero(~np.isnan(row)).tolist()
            best, worst = int(np.nanargmin(row)), int(np.nanargmax(row))
            total += weight * np.log(naive.best_worst_probability(shown, best, worst, log_worth, law))
        return total

    return value


def set_up(log_worth: np.ndarray, law: str) -> BestWorst:
    model = BestWorst(law, alpha=1.0).fit(answers(k=len(log_worth), shown=len(log_worth)))
    model.log_worth_ = log_worth
    return model


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("shown", [2, 3, 5])
def test_probabilities_are_those_of_the_definition_and_sum_to_one(law: str, shown: int) -> None:
    log_worth = np.array([0.5, -1.0, 0.0, 2.0, 0.3])
    model = set_up(log_worth, law)
    rows, expected = [], []
    for best, worst in permutations(range(shown), 2):
        row = np.full(5, np.nan)
        row[:shown] = 2.0
        row[best], row[worst] = 1.0, 3.0
        rows.append(row)
        expected.append(naive.best_worst_probability(list(range(shown)), best, worst, log_worth, law))
    found = np.exp(model.logpmf(Rankings(np.array(rows))))
    np.testing.assert_allclose(found, expected)
    assert found.sum() == pytest.approx(1)
    if shown == 2:
        assert model.pairwise_probabilities()[0, 1] == pytest.approx(expected[0])


@pytest.mark.parametrize("alpha", [0.0, 0.7])
@pytest.mark.parametrize("law", LAWS)
def test_the_fit_is_the_maximum_of_the_definition(law: str, alpha: float) -> None:
    data, weights = answers(), np.random.default_rng(1).integers(0, 3, 40).astype(float)
    model = BestWorst(law, alpha=alpha).fit(data, weights)
    value = definition(data, weights, law)

    def penalized(u: np.ndarray) -> float:
        return value(u) - alpha / 2 * u @ u

    found = minimize(lambda u: -penalized(u) + u.mean() ** 2, np.zeros(5), method="BFGS", options={"gtol": 1e-7}).x
    np.testing.assert_allclose(model.log_worth_, found, atol=1e-4)
    assert model.log_likelihood_ == pytest.approx(value(model.log_worth_))
    assert model.null_log_likelihood_ == pytest.approx(weights.sum() * np.log(1 / 12))
    inverse = np.linalg.pinv(naive.information(penalized, model.log_worth_), rcond=1e-5)
    center = np.eye(5) - 1 / 5
    np.testing.assert_allclose(model.covariance_, center @ inverse @ center, rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize("law", LAWS)
def test_draws_follow_their_law(law: str) -> None:
    model = set_up(np.array([0.8, -0.5, 0.0, 0.3]), law)
    draws = model.sample(20_000, random_state=0, set_size=4)
    pairs = list(permutations(range(4), 2))
    probability = [naive.best_worst_probability([0, 1, 2, 3], i, j, model.log_worth_, law) for i, j in pairs]
    found = list(zip(draws.positions.argmin(axis=1), draws.positions.argmax(axis=1), strict=True))
    counts = [found.count(pair) for pair in pairs]
    assert chisquare(counts, 20_000 * np.array(probability)).pvalue > 1e-3
    assert (~np.isnan(model.sample(10, 0, set_size=3).positions)).sum(axis=1).tolist() == [3] * 10


@pytest.mark.parametrize("law", LAWS)
def test_worths_are_found_within_their_errors(law: str) -> None:
    truth = np.linspace(1, -1, 6)
    data = set_up(truth, law).sample(3000, random_state=1, set_size=4)
    model = BestWorst(law).fit(data)
    assert np.all(np.abs(model.log_worth_ - truth) < 3.5 * model.se_)
    assert model.mode().tolist() == [1, 2, 3, 4, 5, 6]
    attributes = BestWorst(law).fit(data, item_features=np.arange(6.0)[:, None])
    assert abs(attributes.coef_[0] + 0.4) < 3.5 * attributes.coef_se_[0]


def test_pairs_are_bradley_terry_with_a_scale() -> None:
    wins = np.array([[0, 3, 4], [1, 0, 3], [1, 2, 0]])
    winner, loser = np.nonzero(wins)
    data = best_worst_rankings(winner, loser, np.column_stack([winner, loser]), items=[0, 1, 2])
    weights = wins[winner, loser]
    expected = BradleyTerry().fit(wins)
    sequential, maxdiff = (BestWorst(law).fit(data, weights) for law in ("sequential", "maxdiff"))
    np.testing.assert_allclose(sequential.log_worth_, expected.log_worth_, atol=1e-7)
    np.testing.assert_allclose(2 * maxdiff.log_worth_, expected.log_worth_, atol=1e-7)
    np.testing.assert_allclose(maxdiff.pairwise_probabilities(), expected.pairwise_probabilities(), atol=1e-7)


def test_the_summary_says_what_was_fitted() -> None:
    summary = BestWorst().fit(answers()).summary(ref=2)
    assert str(summary).startswith("Best-worst model (maxdiff)")
    assert summary.n_parameters == 4
    assert "answers" in str(summary)


def test_answers_become_rankings() -> None:
    data = best_worst_rankings(["b", "a"], ["a", "c"], [["a", "b", "c"], ["c", "a"]], sample_weight=[2, 1])
    np.testing.assert_array_equal(data.positions, [[3, 1, 2], [1, NAN, 2]])
    assert data.items == ("a", "b", "c")
    assert data.weights.tolist() == [2, 1]


@pytest.mark.parametrize(
    ("best", "worst", "shown", "message"),
    [
        (["a"], ["b"], [["a", "c"]], r"worst\[0\] is 'b', which was not shown; shown were a, c"),
        (["a"], ["a"], [["a", "c"]], "names 'a' both best and worst"),
        (["a"], ["b"], [], "best has 1 entries, worst 1 and shown 0"),
    ],
)
def test_bad_answers(best: list[str], worst: list[str], shown: list[list[str]], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        best_worst_rankings(best, worst, shown)


def test_items_that_are_not_known_are_named() -> None:
    with pytest.raises(ValueError, match=r"shown\[0\] holds 'c', which is not an item; the items are a, b"):
        best_worst_rankings(["a"], ["b"], [["a", "b", "c"]], items=["a", "b"])


@pytest.mark.parametrize("row", [[1, 2, 3, 4], [1, 1, 2, NAN], [1, 2, 2, 2], [1, 2, np.inf, np.inf], [1, 1, 1, 1]])
def test_other_rankings_are_refused(row: list[float]) -> None:
    good = [[1, 2, 2, 3], [3, 2, 2, 1]]
    with pytest.raises(ValueError, match=r"ranking 2 is not a best-worst answer.*use PlackettLuce"):
        BestWorst().fit(np.array([*good, row]))


def test_what_has_no_maximum_is_named() -> None:
    with pytest.raises(ValueError, match="0 never came after"):
        BestWorst().fit([[1, 2, 3], [1, 3, 2]])
    with pytest.raises(ValueError, match="never compared with each other"):
        BestWorst().fit([[1, 2, NAN, NAN], [2, 1, NAN, NAN], [NAN, NAN, 1, 2], [NAN, NAN, 2, 1]])
    with pytest.raises(ValueError, match="law is 'best'; choose 'maxdiff' or 'sequential'"):
        BestWorst("best").fit([[1, 2, 3]])
    with pytest.raises(ValueError, match="set_size is 9, but there are only 5 items"):
        BestWorst(alpha=1.0).fit(answers()).sample(1, set_size=9)
    assert BestWorst(alpha=0.1).fit([[1, 2, 3], [1, 3, 2]]).components_ == ((0, 1, 2),)
