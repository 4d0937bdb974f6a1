"""Borda's rule: against its twin, against mean ranks, and its laws."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from rankwise import Rankings
from rankwise.aggregation import borda
from tests.naive.aggregation import borda_scores
from tests.strategies import KINDS, position_matrices, random_positions


@st.composite
def weighted_rankings(draw: st.DrawFn, kinds: tuple[str, ...] = KINDS) -> tuple[np.ndarray, np.ndarray]:
    positions = draw(position_matrices(kinds=kinds, min_items=2))
    weights = draw(st.lists(st.integers(0, 4), min_size=len(positions), max_size=len(positions)))
    return positions, np.array(weights, dtype=float)


def compares_every_item(positions: np.ndarray, weights: np.ndarray) -> bool:
    return not np.isnan(borda_scores(positions, weights)).any()


@given(weighted_rankings())
def test_scores_equal_their_definition(case: tuple[np.ndarray, np.ndarray]) -> None:
    positions, weights = case
    assume(compares_every_item(positions, weights))
    _, scores = borda(positions, sample_weight=weights, return_scores=True)
    np.testing.assert_allclose(scores, borda_scores(positions, weights), atol=1e-12)


@given(weighted_rankings(kinds=("full", "tied", "top-k")))
def test_without_missing_items_the_order_is_that_of_the_mean_ranks(case: tuple[np.ndarray, np.ndarray]) -> None:
    positions, weights = case
    assume(weights.sum() > 0)
    assume(np.isfinite(positions).any(axis=1).all())
    rankings = Rankings(positions, weights=weights)
    mean_ranks = np.average(rankings.midranks(), axis=0, weights=weights)
    consensus, scores = borda(rankings, return_scores=True)
    k = positions.shape[1]
    np.testing.assert_allclose(scores, (k - mean_ranks) / (k - 1), atol=1e-12)
    distinct = sorted(set(np.round(mean_ranks, 9)))
    assert consensus.tolist() == [distinct.index(mean) + 1 for mean in np.round(mean_ranks, 9)]


@given(weighted_rankings(), st.randoms(use_true_random=False))
def test_relabelling_the_items_relabels_the_consensus(case: tuple[np.ndarray, np.ndarray], random: object) -> None:
    positions, weights = case
    assume(compares_every_item(positions, weights))
    new = np.array(random.sample(range(positions.shape[1]), positions.shape[1]))  # type: ignore[attr-defined]
    relabeled = borda(positions[:, new], sample_weight=weights)
    np.testing.assert_array_equal(relabeled, borda(positions, sample_weight=weights)[new])


@given(weighted_rankings())
def test_a_weight_is_a_number_of_copies(case: tuple[np.ndarray, np.ndarray]) -> None:
    positions, weights = case
    assume(compares_every_item(positions, weights))
    copies = np.repeat(positions, weights.astype(int), axis=0)
    np.testing.assert_array_equal(borda(copies), borda(positions, sample_weight=weights))


@given(position_matrices(kinds=("full", "tied", "top-k"), min_items=2))
def test_a_missing_column_changes_nothing_for_the_others(positions: np.ndarray) -> None:
    assume(np.isfinite(positions).any())
    padded = np.column_stack([positions, np.full(len(positions), np.nan)])
    with pytest.raises(ValueError, match=f"item {positions.shape[1]} with another"):
        borda(padded)
    known = list(range(positions.shape[1]))
    np.testing.assert_array_equal(borda(Rankings(padded).select(known)), borda(positions))


def test_shares_of_random_subsets_are_unbiased() -> None:
    # Every pair and triple of a full ranking of five items, equally often: the mean shares are those of the whole.
    full = np.array([3.0, 1.0, 5.0, 2.0, 4.0])
    subsets = [list(c) for size in (2, 3) for c in itertools.combinations(range(5), size)]
    shown = np.full((len(subsets), 5), np.nan)
    for row, subset in zip(shown, subsets, strict=True):
        row[subset] = full[subset]
    consensus, scores = borda(shown, return_scores=True)
    np.testing.assert_array_equal(consensus, full)
    np.testing.assert_allclose(scores, (5 - full) / 4)


def test_places_in_short_rankings_do_not_flatter() -> None:
    # "b" is last of two, "a" is second of four: the mean place would tie them.
    nan = float("nan")
    consensus = borda(Rankings([[2, nan, 1, 3, 4], [nan, 2, 1, nan, nan]], items=list("abcde")))
    assert consensus[0] < consensus[1]


def test_equal_scores_tie_in_spite_of_rounding() -> None:
    # Sums of 0.1 differ in the last digits with the order of the rows.
    positions = np.array([[1, 2, 3], [2, 3, 1], [3, 1, 2]] * 7, dtype=float)
    assert borda(positions, sample_weight=np.full(21, 0.1)).tolist() == [1, 1, 1]


def test_weights_of_rankings_count_unless_others_are_given() -> None:
    rankings = Rankings([[1, 2], [2, 1]], weights=[1, 3])
    assert borda(rankings).tolist() == [2, 1]
    assert borda(rankings, sample_weight=[3, 1]).tolist() == [1, 2]


def test_many_rankings_of_every_kind() -> None:
    rng = np.random.default_rng(0)
    for kind in KINDS:
        positions = random_positions(rng, 200, 9, kind)
        weights = rng.random(200)
        _, scores = borda(positions, sample_weight=weights, return_scores=True)
        np.testing.assert_allclose(scores, borda_scores(positions, weights), atol=1e-12)


@pytest.mark.parametrize(
    ("positions", "weights"),
    [
        ([[1, 2, np.nan]], None),
        ([[1, 2, np.nan], [np.nan, np.nan, 1]], None),  # alone, so compared with nothing
        ([[1, 2, np.nan], [3, 2, 1]], [1, 0]),
    ],
)
def test_an_item_that_nobody_compares_is_named(positions: list[list[float]], weights: list[float] | None) -> None:
    with pytest.raises(ValueError, match=r"no ranking compares item 'tea' with another.*select"):
        borda(Rankings(positions, items=["milk", "juice", "tea"], weights=weights))


def test_a_ranking_that_lists_nothing_says_nothing() -> None:
    unlisted = [np.inf] * 3
    with pytest.raises(ValueError, match="no ranking compares item 0 with another"):
        borda([unlisted])
    alone, beside = borda([[1, 2, 3]], return_scores=True), borda([[1, 2, 3], unlisted], return_scores=True)
    assert np.array_equal(alone, beside)
