"""Means of targets, with and without pairs, and what leaves hold."""

from __future__ import annotations

import numpy as np
import pytest

from rankwise.embeddings import KemenyEmbedding
from rankwise.trees.structure import LeafRows, TargetRows
from tests.trees.test_gaps import make_data


def mean_of_vectors(vectors, weights):
    """The mean of the definition, coordinate by coordinate."""
    known = [~np.isnan(column) for column in vectors.T]
    return [
        np.average(c[has], weights=weights[has]) if has.any() else np.nan
        for c, has in zip(vectors.T, known, strict=True)
    ]


@pytest.mark.parametrize("kind", ["full", "tied", "top-k", "incomplete", "top-k, incomplete, tied"])
@pytest.mark.parametrize("is_pairs", [True, False])
def test_means_are_those_of_the_vectors_written_out(kind, is_pairs):
    y = make_data(kind)[1]
    weights = np.random.default_rng(1).uniform(0.5, 2.0, len(y))
    if is_pairs:
        vectors = KemenyEmbedding().fit(y).transform(y)
    else:
        y = vectors = np.where(np.isinf(y), np.nan, y)
    found = TargetRows(y, is_pairs).mean(weights)
    np.testing.assert_allclose(found, mean_of_vectors(vectors, weights))


def test_a_pair_that_no_ranking_compares_has_no_mean():
    y = np.array([[1, np.nan, 2], [np.nan, 1, 2], [np.inf, np.nan, 1]])
    np.testing.assert_array_equal(TargetRows(y, is_pairs=True).mean(np.ones(3)), [np.nan, 0.5, 1.0])


def test_vectors_of_all_pairs_are_not_written_out_for_means(monkeypatch):
    monkeypatch.setattr(TargetRows, "vectors", lambda self, rows: pytest.fail("vectors are written out"))
    y = make_data("incomplete")[1]
    assert TargetRows(y, is_pairs=True).mean(np.ones(len(y))).shape == (10,)


def test_leaves_hold_weights_in_half_of_the_bytes_where_that_is_exact():
    rankings, leaf = TargetRows(np.array([[1.0, 2.0], [2.0, 1.0]]), is_pairs=True), np.array([0, 0, 1], np.int32)
    for weights, kind in (
        ([2.0, 3.0, 1.0], np.float32),
        ([2.0, 0.1, 1.0], np.float64),
        ([1e300, 1.0, 1.0], np.float64),
    ):
        held = LeafRows.collect(rankings, np.array([0, 1, 0]), np.array(weights), leaf, 2)
        assert held.compact().weights.dtype == kind
        np.testing.assert_array_equal(held.compact().values, held.values)
