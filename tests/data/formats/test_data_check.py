"""What should be looked at in survey data."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from rankwise import Rankings
from rankwise.data.formats.data_check import _skips, check_data

NAN = np.nan


def permutations(n: int, k: int = 5, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.array([rng.permutation(k) + 1.0 for _ in range(n)])


def skips_naively(row: list[float]) -> bool:
    """Whether no way to write places of ties gives this row: dense, or any place that the tied items take together."""
    present = sorted(value for value in row if not np.isnan(value))
    groups = [list(group) for _, group in itertools.groupby(present)]
    dense = all(group[0] == number for number, group in enumerate(groups, start=1))
    taken, before = True, 0
    for group in groups:
        taken = taken and before + 1 <= group[0] <= before + len(group)
        before += len(group)
    return not (dense or taken)


def test_skipped_places_as_by_hand() -> None:
    cells = [1.0, 1.5, 2.0, 2.5, 3.0, 4.0, NAN]
    rows = [list(row) for row in itertools.product(cells, repeat=3)]
    np.testing.assert_array_equal(_skips(np.array(rows)), [skips_naively(row) for row in rows])
    assert _skips(np.array([[1, 3, NAN], [1, 1, 3], [1, 1, 2], [1, 2.5, 2.5]])).tolist() == [True, False, False, False]


def test_every_finding_counts_its_rows() -> None:
    positions = permutations(40)
    positions[3] = NAN
    positions[5] = 1
    places = positions.copy()
    places[7] = [1, 2, 3, 4, 9]
    places[8] = [1, 2, 4, 5, 6]
    places[9] = [1, 2, 4, 5, NAN]
    seconds = np.full(40, 60.0)
    seconds[[11, 12]] = 10
    ids = np.arange(40.0)
    ids[21] = 20
    ids[30:32] = NAN
    weights = np.ones(40)
    weights[15] = 0
    check = check_data(Rankings(positions, weights=weights), ids=ids, seconds=seconds, places=places)
    assert {name: finding.rows for name, finding in check.findings.items()} == {
        "empty": (4,),
        "same_id": (22,),
        "all_tied": (6,),
        "impossible": (8, 9),
        "skipped": (10,),
        "too_fast": (12, 13),
        "zero_weight": (16,),
    }
    assert check["nothing of the kind"].count == 0
    assert check.to_frame("pandas")["count"].tolist() == [1, 1, 1, 2, 1, 2, 1]
    assert check.as_dict()["findings"]["impossible"]["rows"] == [8, 9]
    assert "a weight of zero" in repr(check)
    assert len(check.lines()) == 7


def test_lines_of_the_file_are_named_where_they_are_known() -> None:
    check = check_data(Rankings([[1, 2], [NAN, NAN]]), lines=[4, 7])
    assert check["empty"].rows == (7,)
    assert "line 7" in repr(check)
    assert "nothing to look at in 1 row" in repr(check_data(Rankings([[1, 2]])))


def test_a_copied_respondent_is_found_and_chance_is_not() -> None:
    rng = np.random.default_rng(1)
    positions = permutations(200)
    columns = {"income": rng.integers(0, 5000, 200).astype(float), "city": rng.choice(["a", "b", None], 200)}
    assert "duplicates" not in check_data(Rankings(positions), columns).findings
    positions[150] = positions[10]
    for column in columns.values():
        column[150] = column[10]
    assert check_data(Rankings(positions), columns)["duplicates"].rows == (151,)
    # two items and a sex: everybody has a double
    few = check_data(Rankings(permutations(200, 2)), {"sex": rng.choice(["f", "m"], 200)})
    assert "duplicates" not in few.findings
    # rankings alone are votes, and the same vote twice is no mistake
    assert "duplicates" not in check_data(Rankings(permutations(200, 2))).findings


@pytest.mark.parametrize("n_lazy", [0, 12])
def test_straight_lines_are_found_where_taste_does_not_explain_them(n_lazy: int) -> None:
    positions = permutations(300)
    positions[:n_lazy] = np.arange(1, 6)
    check = check_data(Rankings(positions), in_column_order=True)
    assert ("straight_lines" in check.findings) == bool(n_lazy)
    assert set(range(1, n_lazy + 1)) <= set(check["straight_lines"].rows)
    assert "straight_lines" not in check_data(Rankings(positions)).findings


def test_an_order_that_many_like_is_no_straight_line() -> None:
    # noisy copies of 1, 2, 3, 4, 5: neighbors are exchanged as often
    rng = np.random.default_rng(0)
    worth = -np.arange(5.0) + 0.8 * rng.normal(size=(400, 5))
    positions = np.argsort(np.argsort(-worth, axis=1), axis=1) + 1.0
    assert (positions == np.arange(1, 6)).all(axis=1).sum() > 30
    assert "straight_lines" not in check_data(Rankings(positions), in_column_order=True).findings
