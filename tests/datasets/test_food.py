from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from rankwise.datasets import make_food_preferences

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "food_preferences.json").read_text())


def test_tables_of_the_paper():
    rankings, _, bunch = make_food_preferences(random_state=0)
    assert list(rankings.items) == list(bunch.noiseless.items) == GOLDEN["items"]
    assert bunch.feature_names == list(GOLDEN["table3"])
    assert np.array_equal(bunch.item_features.T, list(GOLDEN["table3"].values()))
    assert np.array_equal(bunch.scores, GOLDEN["table4"])
    # The paper counts 7 for the most preferred dish, where positions have 1.
    assert np.array_equal(8 - bunch.noiseless.positions, GOLDEN["table5"])


def test_scores_are_weighted_features():
    bunch = make_food_preferences(random_state=0)[2]
    np.testing.assert_allclose(bunch.item_features @ np.transpose(GOLDEN["weights"]), bunch.scores.T, atol=0.0051)


def test_without_noise_users_repeat_their_type():
    rankings, user_type, bunch = make_food_preferences(101, sigma=0.0, random_state=0)
    assert np.bincount(user_type).tolist() == [0, 51, 50]
    assert np.array_equal(rankings.positions, bunch.noiseless.positions[user_type - 1])


def test_noise_makes_rankings_harder_to_tell():
    def agreement(sigma):
        rankings, user_type, bunch = make_food_preferences(500, sigma=sigma, random_state=0)
        return np.mean(rankings.positions == bunch.noiseless.positions[user_type - 1])

    assert agreement(0.05) > agreement(0.5) > agreement(5.0)


def test_kinds_show_parts_of_the_same_rankings():
    full = make_food_preferences(60, random_state=1)[0].positions
    top, _, _ = make_food_preferences(60, kind="top-k", length=3, random_state=1)
    assert top.kind == "top-k"
    assert np.array_equal(top.positions, np.where(full <= 3, full, np.inf))
    groups, _, _ = make_food_preferences(60, kind="exhaustive", length=3, random_state=1)
    assert groups.kind == "tied"
    assert np.array_equal(groups.positions, np.digitize(full, [4, 7]) + 1)  # groups of 3, 3 and 2
    some, _, _ = make_food_preferences(60, kind="non-exhaustive", length=3, random_state=1)
    assert some.kind == "incomplete"
    seen = ~np.isnan(some.positions)
    assert np.all(seen.sum(axis=1) == 3)
    assert np.all(seen.sum(axis=0) > 5)
    for whole, part, chosen in zip(full, some.positions, seen, strict=True):
        assert np.array_equal(np.argsort(whole[chosen]), np.argsort(part[chosen]))


def test_same_seed_same_data():
    first, second, other = (make_food_preferences(20, random_state=s) for s in (1, 1, 2))
    assert first[0] == second[0] != other[0]
    assert np.array_equal(first[1], second[1])


@pytest.mark.parametrize(
    ("arguments", "fragment"),
    [
        ({"kind": "partial"}, "kind is 'partial'; choose 'full'"),
        ({"kind": "top-k"}, "length is None, but kind='top-k' needs a length of 1 to 8"),
        ({"kind": "exhaustive", "length": 9}, "length is 9, but there are 8 dishes"),
        ({"kind": "top-k", "length": 0}, "length is 0, but must be at least 1"),
        ({"sigma": np.inf}, "sigma is inf, but must be finite"),
        ({"length": 3}, "full rankings have all 8 dishes"),
        ({"sigma": -1}, "sigma is -1"),
        ({"n_samples": 0}, "n_samples is 0"),
    ],
)
def test_bad_arguments(arguments, fragment):
    with pytest.raises(ValueError, match=fragment):
        make_food_preferences(**arguments)


@pytest.mark.parametrize("kind", ["top-k", "exhaustive", "non-exhaustive"])
def test_length_is_a_whole_number(kind):
    with pytest.raises(TypeError, match=r"length is 2\.5; give a whole number"):
        make_food_preferences(kind=kind, length=2.5)
