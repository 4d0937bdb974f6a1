"""The Kemeny embedding against its definition, its decoders, and what it shares with that of places."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from rankwise import Rankings
from rankwise.aggregation import copeland, dispersion
from rankwise.distances import pairwise_distances
from rankwise.embeddings import (
    KemenyEmbedding,
    PositionEmbedding,
    decode_pairwise,
    pairwise_from_vectors,
    vectors_from_pairwise,
)
from tests.naive import kemeny as naive_kemeny
from tests.naive import label_ranking as naive
from tests.naive.statistics import is_transitive
from tests.strategies import position_matrices, random_positions


@given(position_matrices(min_items=2))
def test_kemeny_vectors_equal_their_definition(positions):
    expected = [naive.kemeny_vector(row) for row in positions]
    np.testing.assert_array_equal(KemenyEmbedding().fit_transform(positions), expected)


@given(position_matrices(kinds=("full",), min_items=2))
def test_full_rankings_survive_the_round_trip(positions):
    for embedding in (KemenyEmbedding(), PositionEmbedding()):
        vectors = embedding.fit_transform(positions)
        np.testing.assert_array_equal(embedding.inverse_transform(vectors), positions)


@given(position_matrices(kinds=("full",), min_items=2, min_rankings=2))
def test_kemeny_vectors_carry_distances_and_dispersion(positions):
    vectors = KemenyEmbedding().fit_transform(positions)
    squared = np.sum((vectors[:, None] - vectors[None]) ** 2, axis=2)
    np.testing.assert_array_equal(squared, pairwise_distances(positions))
    assert np.var(vectors, axis=0).sum() == pytest.approx(dispersion(Rankings(positions)))


def test_an_unknown_pair_is_even_when_decoded():
    assert KemenyEmbedding().fit([[1, 2, 3]]).inverse_transform([[np.nan, 0.0, 0.0]])[0, 2] == 1


def test_pairs_as_matrices_and_back():
    vectors = np.random.default_rng(0).random((4, 6))
    P = pairwise_from_vectors(vectors)
    assert P.shape == (4, 4, 4)
    np.testing.assert_allclose(P + P.transpose(0, 2, 1), 1.0)
    np.testing.assert_array_equal(np.diagonal(P, axis1=1, axis2=2), 0.5)
    np.testing.assert_array_equal(P[2, 0, 1:], vectors[2, :3])
    np.testing.assert_array_equal(vectors_from_pairwise(P), vectors)


@given(st.integers(2, 6), st.integers(0, 2**32 - 1))
def test_decoders_equal_their_definitions(k, seed):
    rng = np.random.default_rng(seed)
    P = pairwise_from_vectors(rng.choice([0.1, 0.4, 0.5, 0.6, 0.8], size=(3, k * (k - 1) // 2)))
    for matrix, kemeny, borda, hard in zip(
        P, decode_pairwise(P), decode_pairwise(P, "borda"), decode_pairwise(P, "copeland"), strict=True
    ):
        assert tuple(np.argsort(kemeny)) in naive_kemeny.optimal_orders(matrix)[1]
        assert np.all(np.diff(matrix.sum(axis=1)[np.argsort(borda)]) < 1e-9)
        assert np.all(np.diff(naive.hard_vote_scores(matrix)[np.argsort(hard)]) >= 0)


@given(st.integers(2, 6), st.integers(0, 2**32 - 1))
def test_copeland_means_what_it_means_for_a_consensus(k, seed):
    rng = np.random.default_rng(seed)
    P = pairwise_from_vectors(rng.choice([0.1, 0.4, 0.5, 0.5, 0.6, 0.8], size=(1, k * (k - 1) // 2)))
    decoded, places = decode_pairwise(P, "copeland")[0], copeland(P[0])
    order = np.lexsort((-P[0].sum(axis=1).round(9), places))  # equal places by soft votes, then by column
    np.testing.assert_array_equal(decoded[order], np.arange(1, k + 1))


@given(st.integers(2, 6), st.booleans(), st.integers(0, 2**32 - 1))
def test_copeland_or_borda_is_the_median_of_the_paper(k, draws, seed):
    rng = np.random.default_rng(seed)
    shares = [0.1, 0.4, 0.6, 0.8, *([0.5] * draws)]
    P = pairwise_from_vectors(rng.choice(shares, size=(6, k * (k - 1) // 2)))
    ties = rng.permutation(k)
    other, borda = decode_pairwise(P, "borda"), decode_pairwise(P, "borda", ties=ties)
    for row, matrix in enumerate(P):
        found = decode_pairwise(matrix[None], "copeland-or-borda")[0]
        told = decode_pairwise(matrix[None], "copeland-or-borda", ties=ties)[0]
        if is_transitive(matrix, strict=True):
            expected = [1 + sum(matrix[i, j] < 0.5 for j in range(k)) for i in range(k)]
            np.testing.assert_array_equal(found, expected)
            np.testing.assert_array_equal(told, expected)
            assert [tuple(np.argsort(found))] == naive_kemeny.optimal_orders(matrix)[1]
        else:
            np.testing.assert_array_equal(found, other[row])
            np.testing.assert_array_equal(told, borda[row])


def test_rounding_does_not_turn_a_draw_into_a_loss():
    P = [[[0.5, 0.5 - 1e-15], [0.5 + 1e-15, 0.5]]]
    np.testing.assert_array_equal(decode_pairwise(P, "copeland"), [[1, 2]])


def test_ties_of_hard_votes_are_broken_by_soft_votes_or_as_told():
    cycle = pairwise_from_vectors([[0.9, 0.4, 0.8]])  # 0 beats 1 beats 2 beats 0
    np.testing.assert_array_equal(decode_pairwise(cycle, "copeland"), [[1, 2, 3]])
    np.testing.assert_array_equal(decode_pairwise(cycle, "copeland", ties=[2, 0, 1]), [[3, 1, 2]])


@pytest.mark.parametrize("embedding", [KemenyEmbedding(), PositionEmbedding()])
def test_embeddings_are_estimators(embedding):
    positions = random_positions(np.random.default_rng(0), 5, 4, "incomplete")
    np.testing.assert_array_equal(
        clone(embedding).fit_transform(Rankings(positions)), clone(embedding).fit(positions).transform(positions)
    )
    with pytest.raises(NotFittedError):
        embedding.transform(positions)
    with pytest.raises(ValueError, match="fitted to 4 items"):
        clone(embedding).fit(positions).transform(positions[:, :3])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: pairwise_from_vectors([[1.0, 2.0]]), "2 columns are not the pairs"),
        (lambda: pairwise_from_vectors([1.0]), "needs two"),
        (lambda: vectors_from_pairwise([[0.5]]), "one square matrix per ranking"),
        (lambda: decode_pairwise([[[0.5]]], "median"), "choose 'kemeny', 'borda', 'copeland' or 'copeland-or-borda'"),
        (lambda: decode_pairwise(np.full((1, 2, 2), 0.5), "borda", ties=[1]), "one number for each of the 2 items"),
        (lambda: KemenyEmbedding().fit([[1]]), "two items"),
        (lambda: KemenyEmbedding().fit([[1, 2]]).inverse_transform([[1, 1, 1]]), "fitted to 2 items"),
        (lambda: PositionEmbedding().fit([[0, 1]]), "positions count from 1"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call()
