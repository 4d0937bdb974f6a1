"""Bradley-Terry: against its definition, its maximum, its law, published values, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.stats import chisquare

from rankwise import Rankings
from rankwise.aggregation import preference_matrix
from rankwise.aggregation.bradley_terry import BradleyTerry
from rankwise.aggregation.plackett_luce import PlackettLuce
from tests.naive import choice as naive

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "choice.json").read_text("utf-8"))
TRUTH = np.array([0.9, 0.1, -0.2, -0.8])

Game = tuple[int, int, str, float]


def play(n: int, tie_strength: float = 0.0, home_effect: float = 0.0, seed: int = 0) -> list[Game]:
    """Games between random pairs, drawn from the definition."""
    rng = np.random.default_rng(seed)
    games = []
    for _ in range(n):
        first, second = (int(i) for i in rng.choice(len(TRUTH), 2, replace=False))
        venue = float(rng.integers(-1, 2)) if home_effect else 0.0
        outcomes = ["first", "second", "tie"] if tie_strength else ["first", "second"]
        weight = [
            np.exp(naive.pair_log_likelihood([(first, second, outcome, venue)], TRUTH, tie_strength, home_effect))
            for outcome in outcomes
        ]
        games.append((first, second, str(rng.choice(outcomes, p=weight)), venue))
    return games


def columns(games: list[Game]) -> dict[str, list[object]]:
    """The arguments of fit_comparisons."""
    return {
        "winner": [b if outcome == "second" else a for a, b, outcome, _ in games],
        "loser": [a if outcome == "second" else b for a, b, outcome, _ in games],
        "tie": [outcome == "tie" for _, _, outcome, _ in games],
        "home": [{1: a, -1: b}.get(int(venue)) for a, b, _, venue in games],
    }


def as_rankings(games: list[Game]) -> Rankings:
    positions = np.full((len(games), len(TRUTH)), np.nan)
    for row, (a, b, outcome, _) in zip(positions, games, strict=True):
        row[[a, b]] = {"first": (1, 2), "second": (2, 1), "tie": (1, 1)}[outcome]
    return Rankings(positions)


def without_home(games: list[Game]) -> dict[str, list[object]]:
    return {name: column for name, column in columns(games).items() if name != "home"}


# The maximum


@pytest.mark.parametrize("alpha", [0.0, 0.4])
@pytest.mark.parametrize(("tie_strength", "home_effect"), [(0.0, 0.0), (0.8, 0.0), (0.0, 0.6), (0.8, 0.6)])
def test_the_fit_is_the_maximum_of_the_definition(tie_strength: float, home_effect: float, alpha: float) -> None:
    games = play(60, tie_strength, home_effect)
    home = home_effect > 0
    data = columns(games) if home else without_home(games)
    model = BradleyTerry(alpha=alpha, home=home).fit_comparisons(**data)
    k = len(TRUTH)

    def value(theta: np.ndarray) -> float:
        gamma = theta[k] if home else 0.0
        delta = np.exp(theta[-1]) if tie_strength else 0.0
        return naive.pair_log_likelihood(games, theta[:k], delta, gamma) - alpha / 2 * theta @ theta

    found = minimize(
        lambda theta: -value(theta) + theta[:k].mean() ** 2,
        np.zeros(k + home + (tie_strength > 0)),
        method="BFGS",
        options={"gtol": 1e-7},
    )
    theta = model.log_worth_
    theta = np.append(theta, model.home_effect_) if home else theta
    theta = np.append(theta, np.log(model.tie_strength_)) if tie_strength else theta
    np.testing.assert_allclose(theta, found.x, atol=1e-4)
    unpenalized = naive.pair_log_likelihood(games, model.log_worth_, model.tie_strength_, model.home_effect_)
    assert model.log_likelihood_ == pytest.approx(unpenalized)

    inverse = np.linalg.pinv(naive.information(value, theta), rcond=1e-5)
    center = np.eye(k) - 1 / k
    np.testing.assert_allclose(model.covariance_, center @ inverse[:k, :k] @ center, rtol=1e-3, atol=1e-5)
    np.testing.assert_allclose(model.se_, np.sqrt(np.diag(model.covariance_)))
    if home:
        assert model.home_effect_se_ == pytest.approx(np.sqrt(inverse[k, k]), rel=1e-3)
    if tie_strength:
        assert model.tie_strength_se_ == pytest.approx(model.tie_strength_ * np.sqrt(inverse[-1, -1]), rel=1e-3)


@settings(max_examples=25)
@given(st.lists(st.tuples(st.permutations(range(4)), st.integers(0, 3), st.booleans()), min_size=1, max_size=20))
def test_it_is_plackett_luce_on_pairs(games: list[tuple[list[int], int, bool]]) -> None:
    positions = np.full((len(games), 4), np.nan)
    for row, (order, _, tied) in zip(positions, games, strict=True):
        row[order[:2]] = 1, 1 if tied else 2
    rankings = Rankings(positions, weights=[weight for _, weight, _ in games])
    one, other = BradleyTerry(alpha=0.2).fit(rankings), PlackettLuce(alpha=0.2).fit(rankings)
    np.testing.assert_allclose(one.log_worth_, other.log_worth_, atol=1e-6)
    np.testing.assert_allclose(one.covariance_, other.covariance_, atol=1e-5)
    assert one.log_likelihood_ == pytest.approx(other.log_likelihood_, abs=1e-6)
    np.testing.assert_allclose(one.logpmf(rankings), other.logpmf(rankings), atol=1e-6)
    np.testing.assert_allclose(one.pairwise_probabilities(), other.pairwise_probabilities(), atol=1e-6)


def test_parameters_are_recovered_within_their_errors() -> None:
    model = BradleyTerry(home=True).fit_comparisons(**columns(play(4000, 0.7, 0.5, seed=1)))
    assert np.all(np.abs(model.log_worth_ - TRUTH) < 3 * model.se_)
    assert abs(model.home_effect_ - 0.5) < 3 * model.home_effect_se_
    assert abs(model.tie_strength_ - 0.7) < 3 * model.tie_strength_se_
    assert max(model.se_.max(), model.home_effect_se_, model.tie_strength_se_) < 0.08


def test_intervals_hold_the_truth_as_often_as_they_say() -> None:
    inside = []
    for seed in range(100):
        model = BradleyTerry().fit_comparisons(**without_home(play(120, seed=seed)))
        low, high = model.intervals(0.9).T
        inside.append((low <= TRUTH) & (high >= TRUTH))
    assert abs(np.mean(inside) - 0.9) < 0.05
    assert np.all(np.diff(model.intervals(0.5)) < np.diff(model.intervals(0.9)))
    np.testing.assert_allclose(model.intervals().mean(axis=1), model.log_worth_)


def test_half_ties_are_half_wins() -> None:
    games = play(100, 0.8)
    model = BradleyTerry(ties="half").fit_comparisons(**without_home(games))
    wins = preference_matrix(as_rankings(games))
    other = BradleyTerry().fit(wins.wins + wins.ties / 2)
    np.testing.assert_allclose(model.log_worth_, other.log_worth_)
    assert model.tie_strength_ == 0
    assert model.logpmf([[1, 1, np.nan, np.nan]]).tolist() == [-np.inf]


# The ways in


@pytest.mark.parametrize("tie_strength", [0.0, 0.8])
def test_all_ways_in_lead_to_the_same_model(tie_strength: float) -> None:
    games = play(80, tie_strength)
    rankings = as_rankings(games)
    first = BradleyTerry().fit(rankings)
    others = [
        BradleyTerry().fit(preference_matrix(rankings)),
        BradleyTerry().fit_comparisons(**without_home(games)),
        BradleyTerry().fit(rankings.group()),
        BradleyTerry().fit(Rankings(rankings, weights=np.zeros(80)), sample_weight=np.ones(80)),
    ]
    if not tie_strength:
        wins = preference_matrix(rankings).wins
        others += [BradleyTerry().fit(wins), BradleyTerry().fit(wins.astype(int).tolist())]
    for other in others:
        np.testing.assert_allclose(other.log_worth_, first.log_worth_, atol=1e-8)
        np.testing.assert_allclose(other.se_, first.se_, atol=1e-8)


def test_rankings_know_who_is_at_home() -> None:
    games = play(100, 0.5, 0.6)
    data = columns(games)
    one = BradleyTerry(home=True).fit(as_rankings(games), home=data["home"])
    other = BradleyTerry(home=True).fit_comparisons(**data)
    np.testing.assert_allclose(one.log_worth_, other.log_worth_, atol=1e-8)
    assert one.home_effect_ == pytest.approx(other.home_effect_)
    expected = [
        naive.pair_log_likelihood([game], one.log_worth_, one.tie_strength_, one.home_effect_) for game in games
    ]
    np.testing.assert_allclose(one.logpmf(as_rankings(games), home=data["home"]), expected)


def test_a_weight_is_a_number_of_copies() -> None:
    data = without_home(play(40, 0.8))
    weight = np.arange(40) % 3
    copies = {name: np.repeat(column, weight) for name, column in data.items()}
    one = BradleyTerry(alpha=0.1).fit_comparisons(**data, sample_weight=weight)
    other = BradleyTerry(alpha=0.1).fit_comparisons(**copies)
    np.testing.assert_allclose(one.log_worth_, other.log_worth_, atol=1e-8)
    np.testing.assert_allclose(one.se_, other.se_, atol=1e-8)


def test_names_of_items() -> None:
    model = BradleyTerry(alpha=1.0).fit_comparisons(["b", "a"], ["a", "c"])
    assert model.items_ == ("b", "a", "c")
    assert BradleyTerry(alpha=1.0).fit_comparisons([7, 2], [2, 5]).items_ == (2, 5, 7)
    model = BradleyTerry(alpha=1.0).fit_comparisons(["b"], ["a"], items=["a", "b", "c"])
    assert model.items_ == ("a", "b", "c")
    assert model.mode().tolist() == [3, 1, 2]
    frame = pd.DataFrame([[0, 2], [1, 0]], columns=["x", "y"])
    assert BradleyTerry().fit(frame).items_ == ("x", "y")


# Published values


def test_two_items_by_hand() -> None:
    golden = GOLDEN["by_hand"]
    model = BradleyTerry().fit(golden["wins"])
    np.testing.assert_allclose(model.log_worth_, golden["log_worth"])
    np.testing.assert_allclose(model.se_, golden["se"], rtol=1e-5)


def test_the_puddings_of_davidson() -> None:
    golden = GOLDEN["pudding"]
    first, second, _, wins, losses, ties = np.array(golden["table"]).T
    model = BradleyTerry().fit_comparisons(
        np.concatenate([first, second, first]),
        np.concatenate([second, first, second]),
        sample_weight=np.concatenate([wins, losses, ties]),
        tie=np.repeat([False, False, True], len(first)),
    )
    assert model.items_ == (1, 2, 3, 4, 5, 6)
    np.testing.assert_allclose(model.log_worth_, golden["log_worth"], atol=2e-4)
    np.testing.assert_allclose(model.se_, golden["se"], rtol=1e-3)
    assert np.log(model.tie_strength_) == pytest.approx(golden["log_tie_strength"], abs=2e-4)
    assert model.tie_strength_se_ / model.tie_strength_ == pytest.approx(golden["log_tie_strength_se"], rel=1e-3)
    assert -2 * model.log_likelihood_ == pytest.approx(golden["deviance"], abs=0.06)


def test_the_toy_of_a_vignette() -> None:
    golden = GOLDEN["toy"]
    with pytest.raises(ValueError, match=r"D never came before.*worth would be zero.*alpha=0\.1"):
        BradleyTerry().fit_comparisons(golden["winners"], golden["losers"])
    kept = [(w, loser) for w, loser in zip(golden["winners"], golden["losers"], strict=True) if loser != "D"]
    model = BradleyTerry().fit_comparisons(*zip(*kept, strict=True), items=["A", "B", "C"])
    relative = model.log_worth_ - model.log_worth_[0]
    variance = np.diag(model.covariance_)
    error = np.sqrt(variance + variance[0] - 2 * model.covariance_[0])
    np.testing.assert_allclose(relative[1:], list(golden["log_worth"].values()), atol=1e-4)
    np.testing.assert_allclose(error[1:], list(golden["se"].values()), atol=1e-4)
    assert -2 * model.log_likelihood_ == pytest.approx(golden["deviance"], abs=1e-4)


def test_preferences_for_beaches(benchmark_data: Path) -> None:
    path = benchmark_data / "preflib" / "classic" / "beach_pairwise.csv.gz"
    _, bottom, top = np.loadtxt(path, delimiter=",", skiprows=1, dtype=int).T
    model = BradleyTerry().fit_comparisons(top, bottom)
    assert len(model.items_) == 15
    # At the maximum every item wins as often as the model expects.
    probability = model.pairwise_probabilities()
    met = np.zeros((15, 15))
    np.add.at(met, (top - 1, bottom - 1), 1)
    np.testing.assert_allclose(((met + met.T) * probability).sum(axis=1), met.sum(axis=1), rtol=1e-6)


# Draws, mode, pairs


@pytest.mark.parametrize("tie_strength", [0.0, 0.8])
def test_draws_follow_their_law(tie_strength: float) -> None:
    model = BradleyTerry().fit(as_rankings(play(100, tie_strength)))
    n = 30_000
    draws = model.sample(n, random_state=4)
    assert np.all(np.isfinite(draws.positions).sum(axis=1) == 2)
    drawn = preference_matrix(draws)
    k = len(TRUTH)
    upper = np.triu_indices(k, 1)
    tie = model.tie_probabilities()
    before = model.pairwise_probabilities() - tie / 2
    counts = np.concatenate([drawn.wins[upper], drawn.wins.T[upper], drawn.ties[upper]])
    expected = np.concatenate([before[upper], before.T[upper], tie[upper]]) * n / len(upper[0])
    possible = expected > 0
    assert chisquare(counts[possible], expected[possible]).pvalue > 1e-3
    assert draws == model.sample(n, random_state=4)


def test_probabilities_of_a_pair_sum_to_one() -> None:
    model = BradleyTerry().fit(as_rankings(play(100, 0.8)))
    probability, tie = model.pairwise_probabilities(), model.tie_probabilities()
    np.testing.assert_allclose(probability + probability.T, 1)
    np.testing.assert_array_equal(np.diag(tie), 0)
    nan = np.nan
    outcomes = np.exp(model.logpmf([[1, 2, nan, nan], [2, 1, nan, nan], [1, 1, nan, nan]]))
    assert outcomes.sum() == pytest.approx(1)
    assert probability[0, 1] == pytest.approx(outcomes[0] + outcomes[2] / 2)
    assert model.logpmf([[nan] * 4, [1, nan, nan, nan]]).tolist() == [0, 0]
    np.testing.assert_array_equal(model.mode(), np.argsort(np.argsort(-model.log_worth_)) + 1)


def test_far_apart_worths_do_not_overflow() -> None:
    model = BradleyTerry().fit([[0, 1], [1, 0]])
    model.log_worth_ = np.array([1000.0, -1000.0])
    assert model.pairwise_probabilities().tolist() == [[0.5, 1], [0, 0.5]]
    assert model.logpmf([[2, 1]]).tolist() == [-2000]


# Bad input


def test_a_chain_has_no_maximum() -> None:
    chain = [[0, 1, 0], [0, 0, 1], [0, 0, 0]]
    with pytest.raises(ValueError, match=r"0 never came after.*infinite.*alpha=0\.1"):
        BradleyTerry().fit(chain)
    worth = BradleyTerry(alpha=0.1).fit(chain).log_worth_
    assert worth[0] > worth[1] > worth[2]


def test_groups_that_never_meet_are_named() -> None:
    with pytest.raises(ValueError, match=r"2 groups that are never compared with each other: \{a, b\}, \{c, d\}"):
        BradleyTerry().fit_comparisons(["a", "b", "c", "d"], ["b", "a", "d", "c"])
    model = BradleyTerry(alpha=0.1).fit_comparisons(["c", "a", "d"], ["d", "b", "e"], items=list("abcdef"))
    assert model.components_ == (("c", "d", "e"), ("a", "b"), ("f",))
    assert BradleyTerry().fit([[0, 1], [1, 0]]).components_ == ((0, 1),)


def test_many_groups_are_shortlisted() -> None:
    names = [f"item {i}" for i in range(40)]
    message = r"20 groups.*\{item 0, item 1\}, \{item 2, item 3\}, .*\.\.\. \(16 more\)"
    with pytest.raises(ValueError, match=message) as caught:
        BradleyTerry().fit_comparisons(names[::2], names[1::2])
    assert len(str(caught.value)) < 500


def test_a_home_side_that_always_wins_has_no_maximum() -> None:
    winner, loser = [0, 1, 2, 1, 2, 0], [1, 2, 0, 0, 1, 2]
    with pytest.raises(ValueError, match=r"grow without bound.*prior"):
        BradleyTerry(home=True).fit_comparisons(winner, loser, home=winner)
    assert BradleyTerry(home=True, alpha=0.1).fit_comparisons(winner, loser, home=winner).home_effect_ > 1


def test_ties_alone_have_no_maximum() -> None:
    with pytest.raises(ValueError, match="grow without bound"):
        BradleyTerry().fit_comparisons([0, 1], [1, 2], tie=[True, True])


@pytest.mark.parametrize(
    ("model", "comparisons", "message"),
    [
        (BradleyTerry(), [[0, 1, 2], [1, 0, 1]], r"one row and one column per item.*Rankings\(positions\)"),
        (BradleyTerry(), [["a", "b"], ["c", "d"]], r"wins are \[\['a', 'b'\].*need numbers"),
        (BradleyTerry(), [[0, 1], [1]], "one row and one column per item"),
        (BradleyTerry(), [[1, 2], [2, 1]], r"diagonal of the matrix of wins is not 0.*Rankings\(positions\)"),
        (BradleyTerry(), [[0, -1], [1, 0]], r"matrix\[0, 1\] is -1"),
        (BradleyTerry(), [[0.0, np.inf], [1, 0]], r"matrix\[0, 1\] is inf"),
        (BradleyTerry(), Rankings([[1, 2, 3]]), r"ranking 0 holds 3 items.*PlackettLuce.*preference_matrix"),
        (BradleyTerry(ties="skip"), [[0, 1], [1, 0]], "ties is 'skip'; choose"),
        (BradleyTerry(home=True), [[0, 1], [1, 0]], "home=True, but no comparison says who is at home"),
        (BradleyTerry(alpha=-1), [[0, 1], [1, 0]], "alpha is -1"),
        (BradleyTerry(), [[0, 0], [0, 0]], "nothing of positive weight compares two items"),
    ],
)
def test_bad_fits(model: BradleyTerry, comparisons: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        model.fit(comparisons)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"winner": ["a"], "loser": ["a", "b"]}, "winner has 1 entries and loser 2"),
        ({"winner": ["a"], "loser": ["a"]}, "comparison 0 is of 'a' with itself"),
        ({"winner": ["a"], "loser": [None]}, r"loser\[0\] is None, which is not an item"),
        ({"winner": ["a"], "loser": ["b"], "items": ["a", "c"]}, r"loser\[0\] is 'b'.*a, c"),
        ({"winner": ["a"], "loser": ["b"], "sample_weight": [-1]}, r"sample_weight\[0\] is -1"),
        ({"winner": ["a"], "loser": ["b"], "tie": [2]}, "tie must be true or false"),
        ({"winner": ["a"], "loser": ["b"], "tie": [True, False]}, "tie must be true or false"),
        ({"winner": ["a"], "loser": ["b"], "home": ["c"]}, r"home\[0\] is 'c', but that comparison is of 'a' and 'b'"),
        ({"winner": ["a"], "loser": ["b"], "home": []}, "home has 0 entries for 1 comparisons"),
        ({"winner": ["a"], "loser": ["b"], "home": ["a"]}, r"home is given, but BradleyTerry\(home=False\)"),
    ],
)
def test_bad_columns(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        BradleyTerry(alpha=1.0).fit_comparisons(**arguments)


def test_bad_questions_to_a_model() -> None:
    from sklearn.exceptions import NotFittedError

    for question in ("sample", "mode", "pairwise_probabilities", "tie_probabilities", "intervals"):
        with pytest.raises(NotFittedError, match="this BradleyTerry is not fitted"):
            getattr(BradleyTerry(), question)()
    model = BradleyTerry().fit([[0, 1], [1, 0]])
    with pytest.raises(ValueError, match="level is 95"):
        model.intervals(95)
    with pytest.raises(ValueError, match="n is -1"):
        model.sample(-1)
    with pytest.raises(ValueError, match="3 items, but the model knows 2"):
        model.logpmf([[1, 2, np.nan]])
    with pytest.raises(ValueError, match="which a matrix does not have"):
        model.fit([[0, 1], [1, 0]], sample_weight=[1, 1])


def test_no_comparisons_at_all() -> None:
    with pytest.raises(ValueError, match=r"there are no comparisons.*give items"):
        BradleyTerry(alpha=0.1).fit_comparisons([], [])
    assert BradleyTerry(alpha=0.1).fit_comparisons([], [], items=["a", "b"]).log_worth_.tolist() == [0, 0]
