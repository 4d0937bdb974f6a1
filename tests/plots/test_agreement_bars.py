"""A consensus and who agrees: shares counted by hand."""

from __future__ import annotations

import numpy as np
import pytest

from rankwise import Rankings
from rankwise.aggregation import kemeny
from rankwise.datasets import make_food_preferences
from rankwise.plots import ConsensusDisplay
from rankwise.plots._style import BLUE, ORANGE

NAN, INF = float("nan"), float("inf")


@pytest.fixture
def drinks() -> Rankings:
    """Milk wins; tea and juice are tied once; nobody ever ranks water."""
    positions = [[2, 1, 3, NAN], [2, 1, 2, NAN], [1, 2, INF, NAN], [INF, 1, INF, NAN]]
    return Rankings(positions, items=["tea", "milk", "juice", "water"], weights=[1, 1, 1, 2])


def lengths(display: ConsensusDisplay) -> list[float]:
    return [bar.get_width() for bar in display.bars_]


def test_shares_are_those_of_the_rankings(drinks: Rankings) -> None:
    display = ConsensusDisplay.from_rankings(drinks)
    assert list(display.items) == ["milk", "tea", "juice", "water"]
    # milk before tea: 4 of 5; milk before juice: 5 of 5; tea before juice: 2 of 2
    np.testing.assert_allclose(lengths(display), [9 / 10, 6 / 7, 7 / 7, NAN])
    np.testing.assert_allclose(display.diamonds_.get_offsets(), [[0.8, 0.5], [1.0, 1.5]])
    assert [text.get_text() for text in display.text_] == ["80% of 5", "100% of 2"]
    assert [label.get_text() for label in display.ax_.get_yticklabels()] == ["milk", "tea", "juice", "water"]


def test_a_consensus_of_the_user_is_shown_even_if_most_disagree() -> None:
    display = ConsensusDisplay.from_rankings([[1, 2, 3], [1, 2, 3], [1, 3, 2]], [3, 2, 1])
    assert list(display.items) == [2, 1, 0]
    np.testing.assert_allclose(display.neighbors, [1 / 3, 0])
    from matplotlib.colors import to_rgba

    assert {tuple(color) for color in display.diamonds_.get_facecolors()} == {to_rgba(ORANGE)}
    agreed = ConsensusDisplay.from_rankings([[1, 2]], [1, 2])
    assert {tuple(color) for color in agreed.diamonds_.get_facecolors()} == {to_rgba(BLUE)}


def test_the_bars_add_up_to_the_cost_of_the_median() -> None:
    votes = make_food_preferences(60, sigma=0.5, random_state=0)[0]
    found = kemeny(votes)
    display = ConsensusDisplay.from_rankings(votes, found)
    # Every pair counts for two items; what does not agree is the cost.
    n_pairs = 60 * votes.n_items * (votes.n_items - 1) / 2
    assert n_pairs * (1 - display.agreement.mean()) == pytest.approx(found.cost)


def test_ties_of_the_consensus_ask_for_no_agreement() -> None:
    display = ConsensusDisplay.from_rankings([[1, 2, 3], [2, 1, 3]], [1, 1, 2])
    np.testing.assert_allclose(display.neighbors, [NAN, 1])
    np.testing.assert_allclose(display.agreement, [1, 1, 1])
    assert len(display.text_) == 1


@pytest.mark.parametrize(
    ("consensus", "message"),
    [([1, 2], "consensus has 2 positions, but the rankings have 3 items"), ([1, 2, INF], "no place for 2")],
)
def test_a_consensus_that_does_not_fit_is_refused(consensus: list[float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ConsensusDisplay.from_rankings([[1, 2, 3]], consensus)


def test_no_rankings_are_an_error() -> None:
    with pytest.raises(ValueError, match="no ranking of positive weight"):
        ConsensusDisplay.from_rankings(Rankings([[1, 2]], weights=[0]))
