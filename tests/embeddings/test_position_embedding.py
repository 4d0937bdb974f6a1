"""The embedding by places against its definition, and back."""

from __future__ import annotations

import numpy as np
from hypothesis import given

from rankwise.data import dense_positions
from rankwise.embeddings import PositionEmbedding
from tests.naive import label_ranking as naive
from tests.strategies import position_matrices


@given(position_matrices())
def test_places_equal_their_definition(positions):
    expected = [naive.place_vector(row) for row in positions]
    np.testing.assert_allclose(PositionEmbedding().fit_transform(positions), expected, rtol=1e-13)


def test_places_of_full_rankings_are_positions_over_k():
    np.testing.assert_allclose(PositionEmbedding().fit_transform([[2, 1, 4, 3]]), [[0.5, 0.25, 1.0, 0.75]])


def test_places_of_random_parts_are_right_on_average():
    rng = np.random.default_rng(0)
    full = np.tile(np.arange(1.0, 7.0), (20_000, 1))
    part = np.where(rng.random(full.shape) < 0.4, np.nan, full)
    means = np.nanmean(PositionEmbedding().fit_transform(dense_positions(part)), axis=0)
    np.testing.assert_allclose(means, np.arange(1, 7) / 6, atol=0.01)


@given(position_matrices(kinds=("tied",), min_items=2))
def test_ties_survive_the_round_trip_by_places(positions):
    embedding = PositionEmbedding()
    np.testing.assert_array_equal(embedding.inverse_transform(embedding.fit_transform(positions)), positions)
