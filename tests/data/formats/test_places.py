from __future__ import annotations

import numpy as np
import pytest

from rankwise.data.formats import places
from rankwise.data.formats.places import classify, doubt, windows
from tests.naive.places import kinds_of_rows

WORDS = {
    places.EMPTY: "empty",
    places.PLAIN: "plain",
    places.TIED: "tied",
    places.SKIPPED: "skipped",
    places.GAP: "gap",
    places.BEYOND: "beyond",
    places.FRACTION: "fraction",
}
inf, nan = np.inf, np.nan


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("width", [2, 3, 5, 70])
def test_rows_are_what_their_definition_says(seed, width):
    rng = np.random.default_rng(seed)
    values = (np.argsort(rng.random((60, width)), axis=1) + 1).astype(float)
    slips = rng.random(values.shape) < rng.choice([0.02, 0.2])
    values[slips] = rng.choice([1, 2, 2.5, 3, width, 3 * width, 3 * width + 1], np.count_nonzero(slips))
    values[rng.random(values.shape) < 0.1] = nan
    values[0] = nan
    rows = classify(values)
    assert rows.parked is None
    assert [WORDS[kind] for kind in rows.kinds.tolist()] == kinds_of_rows(values.tolist())


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([[1, 2, 2, 4], [1, 1, 3, 4], [1, 2, 3, 4]], ["tied", "tied", "plain"]),
        ([[1, 2.5, 2.5, 4], [1.5, 1.5, 3, 4]], ["tied", "tied"]),
        ([[1, 2, 2, 3], [1, 1, 2, 3], [1, 1, 4, 4]], ["tied", "tied", "gap"]),
        ([[1, nan, 2, inf], [2, 4, nan, 1]], ["plain", "skipped"]),
    ],
)
def test_ties_are_shared_in_one_way_in_all_rows(rows, words):
    assert [WORDS[kind] for kind in classify(np.array(rows, dtype=float)).kinds.tolist()] == words


def test_one_number_beyond_the_last_place_says_not_ranked():
    values = np.array([[1, 2, 7, 7, 7], [7, 1, 2, 3, 4], [2, 1, 3, 4, 5], [5, 4, 3, 2, 1]], dtype=float)
    rows = classify(values)
    assert rows.parked == 7
    assert [WORDS[kind] for kind in rows.kinds.tolist()] == ["plain"] * 4
    assert doubt(values, rows) is None
    few = classify(values[:3])
    assert doubt(values[:3], few) == "2 of 3 rows hold 7, but there are 5 items"
    assert doubt(values[:3], few, named_places=True) is None
    assert classify(np.array([[4.0, 3, 2], [4, 4, 4], [1, 4, 4]])).parked is None


@pytest.mark.parametrize("seed", range(5))
def test_windows_are_found_by_trying_all(seed):
    rng = np.random.default_rng(seed)
    left, right = rng.integers(0, 4, 2)
    ranks = np.argsort(rng.random((40, 5)), axis=1) + 1.0
    values = np.column_stack([rng.integers(1, 6, (40, left)), ranks, rng.integers(1, 4, (40, right))])
    width = values.shape[1]
    naive = [
        slice(start, stop)
        for start in range(width)
        for stop in range(start + 2, width + 1)
        if set(kinds_of_rows(values[:, start:stop].tolist())) <= {"plain"}
    ]
    assert windows(values, alone=False) == (naive, True)
