"""Named people one by one."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from rankwise import Rankings
from rankwise.analysis import consensus, rater_distances

NAN = np.nan


def winners_by_trial(rows: np.ndarray) -> set[int]:
    """Who is first in some optimal ranking, all of them tried; if they differ, those that no optimum separates."""
    k = rows.shape[1]
    costs = {}
    for order in permutations(range(k)):
        costs[order] = sum((row[b] < row[a]) for row in rows for i, a in enumerate(order) for b in order[i + 1 :])
    best = [order for order in costs if costs[order] == min(costs.values())]
    before = {(a, b) for a in range(k) for b in range(k) if all(o.index(a) < o.index(b) for o in best)}
    return {a for a in range(k) if not any((b, a) in before for b in range(k))}


def test_distances_of_people_are_kendalls() -> None:
    votes = Rankings([[1, 2, 3], [1, 2, 3], [3, 2, 1], [1, 1, 2], [1, NAN, NAN]], ["a", "b", "c"])
    found = rater_distances(votes, ["Ann", "Ben", "Cem", "Dora", None], consensus(votes))
    assert found.names == ("Cem", "Dora", "Ann", "Ben", "(no name)")
    assert found.pairs.tolist() == [3, 0.5, 0, 0, 0]
    np.testing.assert_allclose(found.distance, [1, 1 / 6, 0, 0, NAN])
    np.testing.assert_allclose(found.agreement, [0, 5 / 6, 1, 1, NAN])
    assert found.first == (("c",), ("a", "b"), ("a",), ("a",), ("a",))
    last = {"name": "(no name)", "pairs": 0.0, "distance": None, "first": ["a"], "winners_without": ["a"]}
    assert found.as_dict()["raters"][-1] == last
    assert found.tables()[0].rows[1] == ["Dora", "83%", "0.5", "a, b", "a"]
    with pytest.raises(ValueError, match="there are 2 names, but 5 rankings"):
        rater_distances(votes, ["Ann", "Ben"], consensus(votes))


def test_who_wins_without_each_is_found_by_leaving_them_out() -> None:
    rng = np.random.default_rng(0)
    n_changed = 0
    for _ in range(8):
        rows = np.array([rng.permutation(3) + 1.0 for _ in range(5)])
        found = rater_distances(rows, list("vwxyz"), consensus(rows, intervals=False))
        assert set(found.winners) == winners_by_trial(rows)
        assert found.winners_without is not None
        for name, winners in zip(found.names, found.winners_without, strict=True):
            assert set(winners) == winners_by_trial(np.delete(rows, "vwxyz".index(name), axis=0))
            n_changed += set(winners) != set(found.winners)
    assert n_changed > 0


def test_the_people_in_words() -> None:
    names = ["Anna", "Bob", "Cid", "Dee"]
    votes = Rankings([[1, 2, 3], [1, 2, 3], [1, 2, 3], [3, 2, 1]], ["Rioja", "Barolo", "Merlot"])
    assert rater_distances(votes, names, consensus(votes)).sentence == (
        "Cid agrees most with the joint ranking (100% of the pairs), Dee least (0%). "
        "No single vote decides the winner: leave out any one of them, and the first place stays."
    )
    close = [[1, 2], [1, 2], [2, 1], [2, 1], [1, 2]]
    words = rater_distances(close, list("vwxyz"), consensus(close)).sentence
    assert words.endswith("First place is close: it changes without 3 votes, taken one at a time.")
    tipped = [[1, 2], [1, 2], [2, 1]]
    words = rater_distances([*tipped, [1, 2]], list("wxyz"), consensus([*tipped, [1, 2]])).sentence
    assert "No single vote" in words


def test_few_and_many_people_are_not_left_out_one_by_one() -> None:
    for n in (2, 61):
        votes = [[1, 2, 3]] * n
        found = rater_distances(votes, range(n), consensus(votes))
        assert found.winners_without is None
        assert "first without this vote" not in found.tables()[0].columns
        assert "winners_without" not in found.as_dict()["raters"][0]
