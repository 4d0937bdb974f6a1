"""Bootstrap intervals of places: by hand, by their twin, for every consensus, on any number of threads."""

from __future__ import annotations

import numpy as np
import pytest

from rankwise import Rankings
from rankwise.aggregation import borda, kemeny, sample_plackett_luce
from rankwise.aggregation.intervals import ranking_intervals
from rankwise.aggregation.plackett_luce import PlackettLuce
from tests.naive.choice import place_shares

CLOSE = sample_plackett_luce([1.5, 0.1, 0.0, -1.5], 60, random_state=0)


def test_equal_rankings_leave_no_doubt() -> None:
    found = ranking_intervals([[2, 1, 3]] * 10, n_resamples=50, random_state=0)
    assert found.positions.tolist() == found.lower.tolist() == found.upper.tolist() == [2, 1, 3]
    np.testing.assert_array_equal(found.distribution, np.eye(3)[[1, 0, 2]])


def test_two_voters_by_hand() -> None:
    # Resamples of two opposite voters: both first (1/4), both second (1/4), one each (1/2, all tied).
    found = ranking_intervals([[1, 2], [2, 1]], n_resamples=1500, random_state=0)
    np.testing.assert_allclose(found.distribution, 0.5, atol=0.04)
    assert found.positions.tolist() == [1, 1]
    assert (found.lower.tolist(), found.upper.tolist()) == ([1, 1], [2, 2])


def test_the_distribution_is_that_of_the_resamples() -> None:
    seen: list[np.ndarray] = []

    def spy(rankings: Rankings) -> np.ndarray:
        seen.append(borda(rankings))
        return seen[-1]

    found = ranking_intervals(CLOSE, spy, n_resamples=200, random_state=3, level=0.8)
    np.testing.assert_allclose(found.distribution, place_shares(seen[1:]), atol=1e-12)
    np.testing.assert_allclose(found.distribution.sum(axis=0), 1)
    np.testing.assert_allclose(found.distribution.sum(axis=1), 1)
    for i in range(4):
        inside = found.distribution[i, int(found.lower[i]) - 1 : int(found.upper[i])].sum()
        assert inside >= 0.8 - 1e-9
        below = found.distribution[i, : int(found.lower[i]) - 1].sum()
        above = found.distribution[i, int(found.upper[i]) :].sum()
        assert max(below, above) <= 0.1 + 1e-9


def test_intervals_widen_with_the_level_and_narrow_with_the_data() -> None:
    few = ranking_intervals(CLOSE[:15], n_resamples=300, random_state=0)
    many = ranking_intervals(np.vstack([CLOSE] * 20), n_resamples=300, random_state=0)
    assert (few.upper - few.lower).sum() > (many.upper - many.lower).sum()
    low = ranking_intervals(CLOSE[:15], level=0.5, n_resamples=300, random_state=0)
    high = ranking_intervals(CLOSE[:15], level=0.99, n_resamples=300, random_state=0)
    assert np.all(high.lower <= low.lower)
    assert np.all(high.upper >= low.upper)
    assert np.any(high.upper - high.lower > low.upper - low.lower)


def test_clear_places_are_found_and_close_ones_are_not_claimed() -> None:
    found = ranking_intervals(CLOSE, n_resamples=400, random_state=0)
    assert (found.lower[0], found.upper[0]) == (1, 1)
    assert (found.lower[3], found.upper[3]) == (4, 4)
    assert found.lower[1:3].tolist() == [2, 2]
    assert found.upper[1:3].tolist() == [3, 3]


def test_intervals_hold_the_true_places_at_least_as_often_as_they_say() -> None:
    # Places are whole numbers, so that intervals hold more than their level; a single place holds far less.
    worth, places = np.linspace(0.8, -0.8, 6), np.arange(1, 7)
    found = [
        ranking_intervals(sample_plackett_luce(worth, 30, seed), n_resamples=60, level=0.8, random_state=seed)
        for seed in range(40)
    ]
    inside = np.mean([(one.lower <= places) & (places <= one.upper) for one in found], axis=0)
    assert inside.mean() >= 0.9
    assert inside.min() >= 0.8
    assert np.mean([one.positions == places for one in found]) < 0.75
    assert np.mean([one.upper - one.lower for one in found]) < 2


@pytest.mark.parametrize("consensus", [borda, kemeny, lambda r: PlackettLuce(prior=0.1).fit(r).mode()])
def test_the_result_does_not_depend_on_the_threads(consensus: object) -> None:
    results = [
        ranking_intervals(CLOSE, consensus, n_resamples=40, random_state=5, n_jobs=n_jobs)  # type: ignore[arg-type]
        for n_jobs in (None, 1, 2, 3)
    ]
    for other in results[1:]:
        np.testing.assert_array_equal(other.distribution, results[0].distribution)
        np.testing.assert_array_equal(other.lower, results[0].lower)
    again = ranking_intervals(CLOSE, consensus, n_resamples=40, random_state=8)  # type: ignore[arg-type]
    assert not np.array_equal(again.distribution, results[0].distribution)


def test_whole_weights_are_numbers_of_voters() -> None:
    # Both ways of writing draw the same numbers of voters; the shares agree up to the noise of resampling.
    rankings = Rankings([[1, 2, 3], [2, 1, 3], [3, 1, 2]], weights=[12, 9, 6])
    copies = np.repeat(rankings.positions, [12, 9, 6], axis=0)
    one = ranking_intervals(rankings, n_resamples=1500, random_state=0)
    other = ranking_intervals(copies, n_resamples=1500, random_state=1)
    np.testing.assert_allclose(one.distribution, other.distribution, atol=0.06)
    single = ranking_intervals(rankings, weights=[1, 1, 1], n_resamples=1500, random_state=0)
    assert np.abs(single.distribution - one.distribution).max() > 0.1


def test_other_weights_stay_with_their_rankings() -> None:
    # With halved weights the two rankings are the units, so a resample may miss either of them.
    found = ranking_intervals([[1, 2], [2, 1]], weights=[0.5, 2.5], n_resamples=1500, random_state=0)
    np.testing.assert_allclose(found.distribution[0], [0.25, 0.75], atol=0.05)


def test_names_and_kinds() -> None:
    rankings = Rankings.from_orders([["a", "b"], ["b", "a"], ["a", "c"], ["c", "a"]] * 5, items=["a", "b", "c"])
    found = ranking_intervals(rankings, n_resamples=30, random_state=0)
    assert found.items == ("a", "b", "c")
    assert found.level == 0.95
    assert found.positions[0] == 1


def test_a_resample_without_some_item_is_drawn_again() -> None:
    nan = np.nan
    rankings = [[1, 2, nan]] * 20 + [[1, 2, 3]]
    found = ranking_intervals(rankings, n_resamples=400, random_state=0)
    # The last ranking falls out of a share 0.36 of the draws; of those kept none lacks it.
    assert abs(found.redrawn / (400 + found.redrawn) - (20 / 21) ** 21) < 0.08
    assert found.positions.tolist() == found.lower.tolist() == found.upper.tolist() == [1, 2, 3]
    assert ranking_intervals([[1, 2, 3]] * 5, random_state=0).redrawn == 0


def test_a_consensus_that_fails_on_a_resample_says_which() -> None:
    def consensus(rankings: Rankings) -> np.ndarray:
        if rankings.weights.max() > 3:
            raise ValueError("too heavy")
        return borda(rankings)

    with pytest.raises(ValueError, match=r"consensus of resample \d+ fails \(too heavy\).*select"):
        ranking_intervals([[1, 2, 3], [1, 3, 2]] * 5, consensus, random_state=0)


def test_the_name_of_a_consensus_is_no_consensus() -> None:
    with pytest.raises(TypeError, match="consensus is 'borda'; give the function itself"):
        ranking_intervals([[1, 2, 3]], "borda")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_resamples": 0}, "n_resamples is 0"),
        ({"level": 1.0}, r"level is 1\.0"),
        ({"level": 0}, "level is 0"),
        ({"weights": np.zeros(60)}, "no ranking has a positive weight"),
        ({"consensus": lambda r: [1, 2]}, "it must return one finite position per item"),
        ({"consensus": lambda r: [1, 2, 3, np.nan]}, "places 3 of the items 0, 1, 2, 3"),
    ],
)
def test_bad_input(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ranking_intervals(CLOSE, **arguments)  # type: ignore[arg-type]
