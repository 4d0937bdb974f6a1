"""Results for each group."""

from __future__ import annotations

import numpy as np
import pytest

from rankwise import Rankings
from rankwise.aggregation import kemeny
from rankwise.analysis import group_results, summary
from rankwise.analysis.by_group import largest_groups
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
    unknown = dict.fromkeys(("mean_rank", "low", "high", "position"))
    assert found.as_dict()["groups"][0]["items"][2] == {"item": "c", "n": 0, **unknown}
    assert [row[1:] for row in found.consensus_table().rows if row[0] == "c"] == [["", "1", ""]]


def test_no_groups_are_an_error() -> None:
    with pytest.raises(ValueError, match="there are no groups"):
        group_results([[1, 2]], {})


@pytest.mark.parametrize("whole", [True, False])
def test_mean_ranks_are_those_of_the_summary(whole: bool) -> None:
    rng = np.random.default_rng(1)
    positions = np.array([rng.permutation(5) + 1.0 for _ in range(40)])
    positions[rng.random(positions.shape) < 0.2] = NAN
    positions[::7, 0] = np.inf
    weights = rng.integers(1, 4, 40) if whole else rng.random(40) + 0.1
    weights = np.where(np.arange(40) < 15, 1.0, weights)  # those of the first group count people, if alone
    rankings = Rankings(positions, list("abcde"), weights)
    found = group_results(rankings, {"x": np.arange(15), "y": np.arange(15, 40)}, random_state=0)
    for g, rows in enumerate((np.arange(15), np.arange(15, 40))):
        facts = summary(rankings[rows], weight_kind="counts" if whole else "survey")
        np.testing.assert_allclose(found.mean_rank[g], facts.mean_rank)
        np.testing.assert_allclose(found.low[g], facts.low)
        np.testing.assert_allclose(found.high[g], facts.high)
    np.testing.assert_allclose(found.overall, summary(rankings).mean_rank)


def test_the_groups_in_words() -> None:
    rows = [[1, 2, 3], [1, 3, 2], [1, 2, 3], [3, 2, 1], [3, 1, 2], [3, 2, 1], [2, 1, 3]]
    rankings = Rankings(rows, items=["tea", "milk", "juice"])
    found = largest_groups(group_results(rankings, {"young": [0, 1, 2], "old": [3, 4, 5], "else": [6]}))
    assert found is not None
    assert found.groups == ("young", "old")
    assert found.mean_rank[:, 0].tolist() == [1, 3]
    assert found.sentences == [
        "The best mean rank goes to tea in young; to juice in old.",
        "The largest difference is in tea: mean rank 1.00 in young and 3.00 in old; their intervals do not overlap.",
    ]
    assert found.mean_table().note == "1 is best; left out, because they are small: else"
    same = group_results(rankings, {"a": [0, 1], "b": [2, 0]})
    assert same.sentences[0] == "tea has the best mean rank in every group."
    assert same.sentences[1].endswith("but their intervals overlap, so this may be chance.")


def test_the_largest_groups_are_compared() -> None:
    rankings = Rankings([[1, 2], [2, 1]] * 20)
    sizes = dict(zip("abcdefghi", (2, 3, 4, 5, 6, 7, 8, 9, 1), strict=True))
    found = largest_groups(group_results(rankings, {label: range(size) for label, size in sizes.items()}))
    assert found is not None
    assert found.groups == tuple("bcdefgh")
    assert found.n_rankings.tolist() == [3, 4, 5, 6, 7, 8, 9]
    assert found.left_out == ("a", "i")
    assert largest_groups(group_results(rankings, {"a": [0, 1], "b": [2]})) is None
    assert largest_groups(None) is None


def test_means_of_groups_have_intervals_and_numbers_of_people() -> None:
    rankings = Rankings([[1, 2, 3], [2, 1, 3], [1, 2, NAN], [3, 2, 1]], list("abc"))
    found = group_results(rankings, {"x": [0, 1, 2], "y": [3]}, by="city")
    assert found.n.tolist() == [[3, 3, 2], [1, 1, 1]]
    facts = summary(rankings[[0, 1, 2]])
    a = next(row for row in found.tables()[0].rows if row[0] == "a")
    assert a[2:] == [f"{facts.mean_rank[0]:.2f} ({facts.low[0]:.2f} to {facts.high[0]:.2f})", "3.00"]
    c = next(row for row in found.tables()[0].rows if row[0] == "c")
    assert c[2].endswith(", n=2")
    assert found.mean_table().rows[0][2] == f"{facts.mean_rank[0]:.2f}"
    assert found.to_frame()["n"].tolist() == [3, 3, 2, 1, 1, 1]


def test_labels_are_groups() -> None:
    votes = [[1, 2], [1, 2], [2, 1], [2, 1]]
    by_rows = group_results(votes, {"men": [0, 3], "women": [1]})
    by_labels = group_results(votes, np.array(["men", "women", None, "men"], dtype=object))
    assert by_labels.groups == ("men", "women")
    np.testing.assert_array_equal(by_labels.mean_rank, by_rows.mean_rank)
    with pytest.raises(ValueError, match="there are 2 labels, but 4 rankings; give one for each"):
        group_results(votes, ["a", "b"])
