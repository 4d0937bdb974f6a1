"""Pairwise preferences against their definition."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from rankwise import Rankings
from rankwise.aggregation import base, borda, preference_matrix
from rankwise.aggregation.pairs import as_preference_matrix, check_comparisons, majority, ordered_components
from rankwise.data import pairs_jit, positions_jit
from tests.naive import kemeny as naive
from tests.strategies import KINDS, position_matrices, random_positions


@given(positions=position_matrices())
def test_counts_equal_their_twins(positions):
    weights = np.linspace(0.5, 2, len(positions))
    matrix = preference_matrix(Rankings(positions, weights=weights))
    np.testing.assert_allclose(matrix.wins, naive.wins(positions, weights))
    np.testing.assert_allclose(matrix.ties, naive.ties(positions, weights))
    np.testing.assert_allclose(matrix.counts, matrix.wins + matrix.wins.T + matrix.ties)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", ["uint8", "int32", "float64"])
def test_large_arrays_of_any_type_are_counted_and_added_up_as_others(kind, dtype, monkeypatch):
    rng = np.random.default_rng(3)
    for n, k in ((50, 2), (191, 5), (192, 9), (500, 62), (300, 63)):
        positions = random_positions(rng, n, k, kind)
        if dtype[0] != "f":
            positions = np.nan_to_num(positions, nan=k, posinf=k)
        array = positions.astype(dtype)
        for given_as in (array, np.asfortranarray(array), Rankings(array)):
            expected, places = preference_matrix(given_as), borda(given_as, return_scores=True)
            np.testing.assert_array_equal(expected.wins, naive.wins(positions, np.ones(n)))
            with monkeypatch.context() as patch:
                patch.setattr(base, "_WORTH_COMPILED", 0)
                found = preference_matrix(given_as)
                np.testing.assert_array_equal(borda(given_as, return_scores=True), places)
            np.testing.assert_array_equal(found.wins, expected.wins)
            np.testing.assert_array_equal(found.ties, expected.ties)
            assert found.items == expected.items


@pytest.mark.parametrize("bad", [0, -1, 1, 1.5, 4, 300, np.nan, np.inf, -np.inf, 2**40 + 2])
def test_loops_over_full_rankings_take_no_others(bad):
    for full in ([[1.0, 2, 3]], [[3.0, 1, 2], [1, 2, 3]]):
        assert len(pairs_jit.full_pair_counts(np.array(full))) == len(positions_jit.full_sums(np.array(full))) == 3
        for column in range(3):
            rows = np.array(full)
            if rows[-1, column] != bad:
                rows[-1, column] = bad
                assert len(pairs_jit.full_pair_counts(rows)) == len(positions_jit.full_sums(rows)) == 0


@given(positions=position_matrices(min_items=2))
def test_probabilities_of_a_pair_add_up_to_one(positions):
    shares = preference_matrix(positions).probabilities
    known = ~np.isnan(shares)
    np.testing.assert_allclose((shares + shares.T)[known], 1)
    assert np.array_equal(known, (preference_matrix(positions).counts > 0) | np.eye(len(shares), dtype=bool))


def test_what_is_a_matrix_and_what_are_positions():
    square = np.array([[1.0, 2, 3], [2, 1, 3], [3, 2, 1]])
    np.testing.assert_array_equal(as_preference_matrix(square).wins, naive.wins(square))
    counts = np.array([[0.0, 2, 3], [2, 0, 3], [3, 2, 0]])
    np.testing.assert_array_equal(as_preference_matrix(counts).wins, counts)
    unknown = np.array([[0.5, np.nan], [np.nan, 0.5]])
    np.testing.assert_array_equal(as_preference_matrix(unknown).wins, 0)


def test_a_square_array_with_two_readings_is_refused():
    unclear = np.array([[np.nan, 1.0], [2.0, np.nan]])
    with pytest.raises(ValueError, match="put 0 on the diagonal of a matrix, or wrap positions in Rankings"):
        as_preference_matrix(unclear)
    np.testing.assert_array_equal(as_preference_matrix(Rankings(unclear)).wins, 0)


@pytest.mark.parametrize("bad", [[[0, -1], [0, 0]], [[0, np.inf], [0, 0]]])
def test_impossible_weights_are_refused(bad):
    with pytest.raises(ValueError, match="finite and not negative"):
        as_preference_matrix(np.array(bad))


def test_rows_that_rank_nothing_count_for_nothing():
    matrix = preference_matrix([[1, 2, 3], [np.nan] * 3, [np.inf] * 3])
    np.testing.assert_array_equal(matrix.counts, 1 - np.eye(3))


def test_many_groups_are_shortlisted():
    positions = np.full((5, 10), np.nan)
    for r in range(5):
        positions[r, 2 * r : 2 * r + 2] = 1, 2
    with pytest.warns(UserWarning, match="these 5 groups of items with each other: 0, 1; 2, 3; 4, 5; ..."):
        check_comparisons(preference_matrix(positions), warn_of_groups=True)


def test_a_chain_of_comparisons_is_one_group():
    wins = np.zeros((6, 6))
    wins[np.arange(5), np.arange(1, 6)] = 1
    check_comparisons(as_preference_matrix(wins), warn_of_groups=True)  # a warning would be an error


@given(beats=arrays(bool, st.integers(1, 7).map(lambda k: (k, k))))
def test_components_are_those_of_the_reachable(beats):
    k = len(beats)
    reach = np.linalg.matrix_power((beats | np.eye(k, dtype=bool)).astype(float), k) > 0
    parts = ordered_components(beats, np.arange(k, dtype=float))
    assert sorted(np.concatenate(parts).tolist()) == list(range(k))
    for number, part in enumerate(parts):
        assert (reach & reach.T)[part[0]].nonzero()[0].tolist() == part.tolist()
        for later in parts[number + 1 :]:
            assert not reach[np.ix_(later, part)].any()


def test_components_without_majorities_between_them_come_by_their_wins():
    wins = np.ones((4, 4)) - np.eye(4)
    wins[0, 1] += 5
    wins[2, 3] += 1
    assert [part.tolist() for part in ordered_components(majority(wins), wins.sum(axis=1) - wins.sum(axis=0))] == [
        [0],
        [2],
        [3],
        [1],
    ]
