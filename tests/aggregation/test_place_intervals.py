"""Confidence intervals of places: against a twin written from the definition, and by hand."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm

from rankwise.aggregation import place_intervals
from rankwise.aggregation.place_intervals import PairDeviations, places_of


def naive_intervals(observed: np.ndarray, resampled: np.ndarray, level: float) -> list[tuple[int, int]]:
    """Observed (k, k) and resampled (n, k, k) leads of the row item over the column item."""
    k = len(observed)
    deviations = resampled - observed
    errors = np.sqrt(np.mean(deviations**2, axis=0))
    intervals = []
    for i in range(k):
        left = [j for j in range(k) if j != i]
        ahead = behind = 0
        while left:
            largest = sorted(max(abs(one[i, j]) / errors[i, j] for j in left) for one in deviations)
            critical = max(largest[int(np.ceil(level * (len(largest) - 1)))], norm.ppf((1 + level) / 2))
            clear = [j for j in left if abs(observed[i, j]) / errors[i, j] > critical]
            if not clear:
                break
            ahead += sum(observed[i, j] < 0 for j in clear)
            behind += sum(observed[i, j] > 0 for j in clear)
            left = [j for j in left if j not in clear]
        intervals.append((1 + ahead, k - behind))
    return intervals


@pytest.mark.parametrize("seed", range(6))
def test_steps_are_those_of_the_definition(seed: int) -> None:
    rng = np.random.default_rng(seed)
    scores = 3.0 * rng.permutation(5)
    drawn = scores + rng.normal(size=(60, 5)) * rng.uniform(0.3, 3, 5)
    pair = np.triu_indices(5, 1)
    leads = scores[:, None] - scores[None, :]
    resampled = drawn[:, :, None] - drawn[:, None, :]
    found = PairDeviations(leads[pair], 60)
    assert found.with_block(0, resampled[:25][:, *pair]) is found
    found.with_block(25, resampled[25:][:, *pair])
    low, high = found.intervals(np.full(10, 60.0), 0.9)
    with np.errstate(invalid="ignore", divide="ignore"):
        expected = naive_intervals(leads, resampled, 0.9)
    assert list(zip(low.tolist(), high.tolist(), strict=True)) == expected
    assert expected != [(1, 5)] * 5


def test_without_memory_for_all_deviations_intervals_are_a_little_wider(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    scores = np.arange(6.0)
    drawn = scores + rng.normal(size=(400, 6))
    first, second = np.triu_indices(6, 1)
    results = []
    for most in (10**8, 0):
        monkeypatch.setattr(place_intervals, "MOST_DEVIATIONS", most)
        found = PairDeviations(scores[first] - scores[second], 400)
        found.with_block(0, drawn[:, first] - drawn[:, second])
        assert (found.single is None) == (most == 0)
        results.append(found.intervals(np.full(15, 400.0), 0.95))
    (low, high), (wide_low, wide_high) = results
    assert np.all(wide_low <= low)
    assert np.all(wide_high >= high)
    assert np.sum(wide_high - wide_low) <= np.sum(high - low) + 6


@pytest.mark.parametrize(
    ("n_people", "expected"), [(5, [(1, 2), (1, 2)]), (6, [(1, 1), (2, 2)]), (5000, [(1, 1), (2, 2)])]
)
def test_if_all_agree_the_sign_test_decides(n_people: int, expected: list[tuple[int, int]]) -> None:
    # Two-sided p-values are 1/16 for five people of one mind, and 1/32 for six.
    found = PairDeviations(np.ones(1), 10)
    found.with_block(0, np.ones((10, 1)))
    low, high = found.intervals(np.array([float(n_people)]), 0.95)
    assert list(zip(low.tolist(), high.tolist(), strict=True)) == expected


def test_one_item_has_one_place_and_a_block_without_differences_ends_it() -> None:
    low, high = PairDeviations(np.empty(0), 3).intervals(np.empty(0), 0.95)
    assert (low.tolist(), high.tolist()) == ([1], [1])
    assert PairDeviations(np.ones(1), 3).with_block(0, None) is None


def test_places_of_ties() -> None:
    first, last = places_of(np.array([1.0, 2.0, 2.0, 3.0]))
    assert first.tolist() == [1, 2, 2, 4]
    assert last.tolist() == [1, 3, 3, 4]
