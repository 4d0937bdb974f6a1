"""How many people to ask, against textbook formulas, enumeration and simulation."""

from __future__ import annotations

import json
import sys
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from scipy import stats

from rankwise import Rankings
from rankwise.aggregation import sample_mallows
from rankwise.analysis import compare_groups, sample_size, summary
from rankwise.analysis.sample_size import mallows_places


@pytest.mark.parametrize("theta", [0, 0.4, 2.0])
@pytest.mark.parametrize("k", [2, 3, 5])
def test_places_of_items_by_enumeration(k: int, theta: float) -> None:
    expected = np.zeros((k, k))
    for places in permutations(range(k)):
        n_discordant = sum(places[i] > places[j] for i in range(k) for j in range(i + 1, k))
        expected[np.arange(k), places] += np.exp(-theta * n_discordant)
    np.testing.assert_allclose(mallows_places(k, theta), expected / expected[0].sum())


def test_precision_is_that_of_student() -> None:
    found = sample_size(8, precision=0.25)
    spread = np.sqrt((8**2 - 1) / 12)

    def width(n: int) -> float:
        return float(stats.t.ppf(0.975, n - 1) * spread / np.sqrt(n))

    assert found.n is not None
    assert width(found.n) <= 0.25 < width(found.n - 1)
    np.testing.assert_allclose(found.values, [width(int(n)) for n in found.sizes])
    # A small population needs fewer: the factor of Cochran (1977), section 2.6.
    few = sample_size(8, precision=0.25, population=400).n
    assert few is not None
    assert width(few) * np.sqrt(1 - few / 400) <= 0.25 < width(few - 1) * np.sqrt(1 - (few - 1) / 400)
    assert sample_size(8, precision=0.01, population=40).n == 40


def test_precision_by_a_pilot_is_the_interval_of_the_summary() -> None:
    rng = np.random.default_rng(0)
    pilot = Rankings(sample_mallows([1, 2, 3, 4, 5], 0.3, 40, rng))
    facts = summary(pilot)
    error = facts.standard_error.max() * np.sqrt(40)
    found = sample_size(pilot=pilot, precision=0.3)
    assert found.n is not None
    assert stats.t.ppf(0.975, found.n - 1) * error / np.sqrt(found.n) <= 0.3
    assert stats.t.ppf(0.975, found.n - 2) * error / np.sqrt(found.n - 1) > 0.3


def test_power_of_a_difference_is_that_of_the_t_test() -> None:
    found = sample_size(6, goal="difference", difference=0.8, theta=0.2)
    spread = np.sqrt((mallows_places(6, 0.2) @ np.arange(6) ** 2 - (mallows_places(6, 0.2) @ np.arange(6)) ** 2).max())
    for n, value in zip(found.sizes.tolist(), found.values, strict=True):
        critical = stats.t.ppf(1 - 0.05 / 6 / 2, 2 * n - 2)
        law = stats.nct(2 * n - 2, 0.8 / spread / np.sqrt(2 / n))
        expected = law.sf(critical) + law.cdf(-critical)
        if np.isfinite(expected):
            assert value == pytest.approx(expected, abs=1e-6)
    assert np.isfinite(found.values).all()
    assert found.values[found.sizes == found.n].item() >= 0.8
    assert found.per_group


def test_the_right_winner_by_enumeration() -> None:
    # Two items: the better one wins if more than half of n = 10 put it first; half of the even splits count.
    theta = 0.4
    share = 1 / (1 + np.exp(-theta))
    found = sample_size(2, goal="winner", theta=theta, power=0.8, n_runs=4000, random_state=0)
    for n, value, error in zip(found.sizes.tolist(), found.values, found.standard_error, strict=True):
        law = stats.binom(n, share)
        expected = law.sf(n // 2) + (law.pmf(n // 2) / 2 if n % 2 == 0 else 0)
        assert abs(value - expected) < 4 * error
    assert found.n is not None
    assert found.values[found.sizes == found.n].item() >= 0.8


def test_a_pilot_with_two_groups() -> None:
    pilot = np.array([[1, 2, 3], [1, 3, 2], [2, 1, 3]] * 5 + [[3, 2, 1], [2, 3, 1], [1, 2, 3]] * 5)
    found = sample_size(pilot=pilot, by=["a"] * 15 + ["b"] * 15, goal="groups", n_runs=50, random_state=0)
    assert found.n is not None
    assert found.how == "simulation"
    assert found.n < 40
    assert "the 30 people of the pilot" in found.assumption
    again = sample_size(pilot=pilot, by=["a"] * 15 + ["b"] * 15, goal="groups", n_runs=50, random_state=0)
    assert again.as_dict() == found.as_dict()
    winner = sample_size(pilot=pilot, goal="winner", n_runs=100, random_state=0)
    assert winner.n is None or winner.n > 0


def test_the_answer_is_a_sentence_and_a_table() -> None:
    found = sample_size(8, precision=0.25)
    assert found.sentence == "With 326 people, every mean rank is known to within 0.25 places (95% intervals)."
    (table,) = found.tables()
    assert ["326", "0.25"] in table.rows
    assert "any order is as likely" in table.note
    assert list(found.to_frame("pandas").columns) == ["n", "half_width", "standard_error"]
    assert json.loads(json.dumps(found.as_dict(), allow_nan=False))["n"] == 326


def test_the_fewest_people_tried_may_be_more_than_enough() -> None:
    found = sample_size(5, goal="groups", theta=1.5, difference=3, n_runs=20, random_state=0)
    assert found.values.tolist() == [1]
    assert found.sentence == (
        "10 people in each group (fewer were not tried) suffice: the test of equal distributions finds the difference "
        "with a probability of 100%."
    )
    winner = sample_size(5, goal="winner", theta=1, n_runs=200, power=0.5, random_state=0)
    assert winner.n == 10
    assert f"probability of {winner.values[0]:.0%}." in winner.sentence
    # A formula gives the fewest of all.
    assert "not tried" not in sample_size(5, precision=1.9).sentence


def test_more_people_than_can_be_simulated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules["rankwise.analysis.sample_size"], "_MOST_SIMULATED", 20)
    found = sample_size(5, goal="winner", theta=0.01, n_runs=20, random_state=0)
    assert found.n is None
    assert found.sentence.startswith("More than 20 people are needed")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, "give the number of items"),
        ({"n_items": 1}, "n_items"),
        ({"n_items": 5, "pilot": [[1, 2]]}, "either pilot, or n_items"),
        ({"n_items": 5, "goal": "order"}, "goal"),
        ({"n_items": 5, "goal": "winner"}, "needs to know how people rank: give theta"),
        ({"n_items": 5, "goal": "groups", "theta": 0.3, "difference": 5}, "can be moved by 1 to 4 places"),
        ({"n_items": 5, "goal": "groups", "theta": 0.3, "difference": 1.5}, "give a whole number"),
        ({"n_items": 5, "goal": "difference", "difference": 0}, "no number of people finds that"),
        ({"n_items": 5, "goal": "difference", "difference": 4.5}, "mean ranks of 5 items differ by 4 at most"),
        ({"n_items": 5, "precision": 2}, "places of 5 items are all within 2 of their middle"),
        ({"pilot": [[1, 2, 3]] * 9}, "all people of the pilot rank alike"),
        ({"n_items": 5, "precision": 0}, "precision is 0"),
        ({"n_items": 5, "power": 80}, "power"),
        ({"n_items": 5, "goal": "winner", "theta": 1, "population": 100}, "population is of use"),
        ({"n_items": 5, "by": ["a"]}, "give pilot too"),
        ({"pilot": [[1, 2], [2, 1]] * 3, "by": list("ababab")}, "by is of use for goal='groups' only"),
        ({"pilot": [[1, 2], [2, 1]] * 3, "by": list("abcabc"), "goal": "groups"}, "has 3 groups"),
        ({"pilot": [[1, 2, np.nan], [2, 1, 3]]}, "item 2 of the pilot has fewer than two ranks"),
    ],
)
def test_bad_input_is_refused(options: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        sample_size(**options)


def test_a_pilot_whose_people_rank_alike_does_not_say_how_people_vary() -> None:
    alike, by = np.tile([1.0, 2, 3], (10, 1)), ["a", "b"] * 5
    for goal, groups in (("places", None), ("groups", by)):
        with pytest.raises(ValueError, match="all people of the pilot rank alike"):
            sample_size(goal=goal, pilot=alike, by=groups)
    apart = np.where(np.array(by)[:, None] == "a", alike, alike[:, ::-1])
    assert sample_size(goal="groups", pilot=apart, by=by, random_state=0).n <= 10


@pytest.mark.slow
def test_the_size_has_the_precision_and_the_power_that_it_promises() -> None:
    rng = np.random.default_rng(0)
    found = sample_size(5, theta=0.3, precision=0.3)
    assert found.n is not None
    samples = sample_mallows([1, 2, 3, 4, 5], 0.3, 2000 * found.n, rng).reshape(2000, found.n, 5)
    truth = mallows_places(5, 0.3) @ np.arange(1, 6)
    near = np.abs(samples.mean(axis=1) - truth) <= 0.3
    assert ((near.mean(axis=0) >= 0.94) & (near.mean(axis=0) <= 1)).all()  # exactly 95% for the item of most spread
    assert 0.935 <= near.mean(axis=0).min() <= 0.965

    found = sample_size(3, goal="groups", theta=0.7, difference=2, random_state=0)
    assert found.n is not None
    hits = []
    for run in range(500):
        rankings = np.vstack([sample_mallows(center, 0.7, found.n, rng) for center in ([1, 2, 3], [3, 1, 2])])
        labels = np.repeat(["a", "b"], found.n)
        hits.append(compare_groups(rankings, labels, n_permutations=99, random_state=run).p_value <= 0.05)
    assert 0.72 <= np.mean(hits) <= 0.9
