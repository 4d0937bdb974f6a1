"""Results for each group and each named person."""

from __future__ import annotations

import numpy as np
import pytest

from rankwise import Rankings
from rankwise.aggregation import kemeny
from rankwise.analysis import consensus, group_results, rater_distances
from rankwise.distances import kendall_distance

NAN = np.nan


def test_groups_are_analyzed_by_themselves() -> None:
    rng = np.random.default_rng(0)
    rankings = Rankings([rng.permutation(4) + 1 for _ in range(30)], list("abcd"), rng.integers(1, 4, 30))
    rows = {"x": np.arange(12), "y": np.arange(12, 30)}
    found = group_results(rankings, rows, by="letter", random_state=0)
    for g, own in enumerate(rows.values()):
        part = rankings[own]
        np.testing.assert_allclose(found.mean_rank[g], np.average(part.positions, axis=0, weights=part.weights))
        expected = kemeny(part)
        costs = [kendall_distance(part, np.array(p)) @ part.weights for p in (found.positions[g], expected.positions)]
        assert costs[0] == costs[1]
    np.testing.assert_allclose(found.overall, np.average(rankings.positions, axis=0, weights=rankings.weights))
    means, places = found.tables()
    assert means.columns == ["item", "all", "x (n=12)", "y (n=18)"]
    assert [row[1] for row in means.rows] == sorted(row[1] for row in means.rows)
    assert places.title == "Consensus by letter"
    frame = found.to_frame("pandas")
    assert len(frame) == 8
    assert frame.query("group == 'y' and item == 'b'")["mean_rank"].item() == found.mean_rank[1, 1]


def test_an_item_that_a_group_never_ranks_has_no_place_there() -> None:
    rankings = Rankings([[1, 2, NAN], [1, 2, NAN], [2, 3, 1], [NAN, NAN, NAN]], list("abc"))
    found = group_results(rankings, {"x": [0, 1], "y": [2], "z": [3]})
    assert np.isnan(found.mean_rank[0, 2])
    assert np.isnan(found.positions[0, 2])
    assert np.isnan(found.positions[2]).all()
    assert found.as_dict()["groups"][0]["items"][2] == {"item": "c", "mean_rank": None, "position": None}
    assert [row[1:] for row in found.consensus_table().rows if row[0] == "c"] == [["", "1", ""]]


def test_no_groups_are_an_error() -> None:
    with pytest.raises(ValueError, match="there are no groups"):
        group_results([[1, 2]], {})


def test_distances_of_people_are_kendalls() -> None:
    votes = Rankings([[1, 2, 3], [1, 2, 3], [3, 2, 1], [1, 1, 2], [1, NAN, NAN]], ["a", "b", "c"])
    found = rater_distances(votes, ["Ann", "Ben", "Cem", "Dora", None], consensus(votes))
    assert found.names == ("Cem", "Dora", "Ann", "Ben", "(no name)")
    assert found.pairs.tolist() == [3, 0.5, 0, 0, 0]
    np.testing.assert_allclose(found.distance, [1, 1 / 6, 0, 0, NAN])
    assert found.as_dict()["raters"][-1] == {"name": "(no name)", "pairs": 0.0, "distance": None}
    assert found.tables()[0].rows[1] == ["Dora", "0.5", "0.17"]
    with pytest.raises(ValueError, match="there are 2 names, but 5 rankings"):
        rater_distances(votes, ["Ann", "Ben"], consensus(votes))
