"""The Mallows kernel against distances and enumeration; what sampling promises."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

from rankwise.distances import pairwise_distances
from rankwise.kernels import MallowsKernel, mallows_gram, mallows_kernel
from rankwise.kernels.mallows_gram import sample_completions
from tests.naive import kernels as naive
from tests.strategies import KINDS, position_matrices, random_positions

NAN, INF = np.nan, np.inf


@given(position_matrices(kinds=("full",), min_items=2))
def test_of_full_rankings_it_falls_with_the_number_of_discordant_pairs(positions):
    expected = np.exp(-0.3 * pairwise_distances(positions))
    np.testing.assert_allclose(mallows_kernel(positions, scale=0.3), expected, rtol=1e-12)
    sampled = mallows_kernel(positions, scale=0.3, completion="monte-carlo", n_samples=2, random_state=0)
    np.testing.assert_allclose(sampled, expected, rtol=1e-12)


@settings(max_examples=20)
@given(position_matrices(min_items=2, max_items=4, max_rankings=3))
def test_the_extension_by_embedding_equals_its_definition(positions):
    signs = np.array([naive.mean_signs(row) for row in positions])
    squared = ((signs[:, None] - signs[None]) ** 2).sum(axis=2)
    np.testing.assert_allclose(mallows_kernel(positions, scale=0.7), np.exp(-0.7 * squared / 4), rtol=1e-12)


@settings(max_examples=40)
@given(position_matrices(min_items=2, max_items=5))
def test_both_extensions_are_positive_semi_definite(positions):
    for options in ({}, {"completion": "monte-carlo", "n_samples": 4, "random_state": 0}):
        matrix = mallows_kernel(positions, scale=0.2, **options)
        np.testing.assert_allclose(matrix, matrix.T)
        assert np.linalg.eigvalsh(matrix).min() > -1e-12
        assert matrix.min() >= 0
        assert matrix.max() <= 1 + 1e-12


ROWS = np.array([[1, 2, INF, INF], [1, 1, 2, 2], [2, NAN, 1, NAN], [2, 2, NAN, 1]])
OTHERS = np.array([[4, 3, 2, 1], [INF, INF, 1, INF]])


def mean_and_error(draw, repetitions=150):
    values = np.array([draw(seed) for seed in range(repetitions)])
    return values.mean(axis=0), values.std(axis=0, ddof=1) / np.sqrt(repetitions)


def test_sampling_is_unbiased_between_different_rankings():
    expected = [[naive.mallows(a, b, 0.4) for b in OTHERS] for a in ROWS]
    mean, error = mean_and_error(
        lambda seed: mallows_kernel(ROWS, OTHERS, 0.4, completion="monte-carlo", n_samples=4, random_state=seed)
    )
    assert np.all(np.abs(mean - expected) < 4 * error + 1e-12)
    assert np.all(error < 0.02)


def test_unbiased_includes_the_diagonal_and_the_default_is_close():
    expected = np.array([[naive.mallows(a, b, 0.4) for b in ROWS] for a in ROWS])

    def diagonal(seed, unbiased):
        options = {"completion": "monte-carlo", "n_samples": 8, "random_state": seed}
        return np.diag(mallows_kernel(ROWS, None, 0.4, unbiased=unbiased, **options))

    mean, error = mean_and_error(lambda seed: diagonal(seed, True))
    assert np.all(np.abs(mean - np.diag(expected)) < 4 * error + 1e-12)
    biased, _ = mean_and_error(lambda seed: diagonal(seed, False))
    assert np.all(biased > np.diag(expected))  # a ranking meets its own completions
    assert np.all(biased < np.diag(expected) + 2 / 8)


def test_antithetic_completions_have_less_variance_than_independent_ones():
    top, other = np.array([[1, 2, INF, INF, INF]]), np.array([[5, 4, 3, 2, 1.0]])

    def variance(n_pairs, members):
        rows = [sample_completions(top, 2 * n_pairs, seed, 0)[0][members] for seed in range(300)]
        return np.var([np.exp(-0.3 * pairwise_distances(row, other)).mean() for row in rows])

    # Four completions each: two antithetic pairs, or the first members of four pairs.
    assert variance(2, slice(None)) < 0.5 * variance(4, slice(0, None, 2))


@pytest.mark.parametrize("row", [*ROWS, [3, 1, 2, 4]], ids=str)
def test_completions_are_even_over_all_that_agree(row):
    drawn = sample_completions(np.array([row], dtype=float), 4000, seed=1, side=0)[0]
    every, counts = np.unique(drawn, axis=0, return_counts=True)
    expected = naive.completions(np.asarray(row, dtype=float))
    assert sorted(map(tuple, every)) == sorted(map(tuple, expected))
    assert np.all(np.abs(counts / 4000 - 1 / len(expected)) < 5 * np.sqrt(2 / (4000 * len(expected))))


def test_antithetic_completions_of_top_k_rankings_reverse_the_unlisted_items():
    first, second = sample_completions(np.array([[1, INF, INF, 2, INF]]), 2, seed=0, side=0)[0]
    assert first[[0, 3]].tolist() == second[[0, 3]].tolist() == [1, 2]
    np.testing.assert_array_equal(first[[1, 2, 4]] + second[[1, 2, 4]], 8)


def test_a_ranking_has_the_same_completions_in_every_call():
    options = {"completion": "monte-carlo", "n_samples": 4, "random_state": 3}
    whole = mallows_kernel(ROWS, **options)
    np.testing.assert_allclose(mallows_kernel(ROWS[2:], ROWS[::-1], **options), whole[2:, ::-1])
    assert not np.allclose(whole, mallows_kernel(ROWS, **(options | {"random_state": 4})))


@pytest.mark.parametrize("kind", KINDS)
def test_blocks_threads_and_32_bits(kind, monkeypatch):
    positions = random_positions(np.random.default_rng(0), 9, 6, kind)
    for completion in ("embedding", "monte-carlo"):
        options = {"scale": 0.1, "completion": completion, "n_samples": 4, "random_state": 0}
        whole = mallows_kernel(positions, **options)
        with monkeypatch.context() as patch:
            patch.setattr(mallows_gram, "BLOCK_CELLS", 300)
            np.testing.assert_allclose(mallows_kernel(positions, **options, n_jobs=2), whole, rtol=1e-12)
        short = mallows_kernel(positions, **options, dtype=np.float32)
        assert short.dtype == np.float32
        np.testing.assert_allclose(short, whole, atol=1e-5)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"scale": -1.0}, "scale is -1.0, but must be at least 0"),
        ({"completion": "mean"}, "choose 'embedding' or 'monte-carlo'"),
        ({"n_samples": 5}, "give an even number"),
        ({"n_samples": 0}, "must be at least 2"),
        ({"max_bytes": 8}, "would take"),
    ],
)
def test_bad_options_are_refused(options, words):
    with pytest.raises(ValueError, match=words):
        mallows_kernel([[1, 2], [2, 1]], **options)


def test_one_item_is_refused():
    with pytest.raises(ValueError, match="two items or more"):
        mallows_kernel([[1], [1]])


@pytest.mark.parametrize("scale", [1e30, 1e39, 1e308])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("completion", ["embedding", "monte-carlo"])
def test_at_very_large_scales_only_equal_rankings_are_alike(scale, dtype, completion):
    rows = [[1, 2, 3], [1, 3, 2], [3, 2, 1]]
    options = {"dtype": dtype, "completion": completion, "random_state": 0}
    np.testing.assert_array_equal(mallows_kernel(rows, scale=scale, **options), np.eye(3))
    np.testing.assert_array_equal(MallowsKernel(scale, completion=completion)(np.array(rows)), np.eye(3))


def test_a_ranking_without_items_has_no_signs():
    matrix = mallows_kernel([[1, 2, 3], [np.nan] * 3], scale=0.5)
    np.testing.assert_allclose(matrix, [[1, np.exp(-0.5 * 3 / 4)], [np.exp(-0.5 * 3 / 4), 1]])
