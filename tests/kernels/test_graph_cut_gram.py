"""The graph cut kernel: inner products of its features, on the processor and on a device."""

from __future__ import annotations

from importlib.util import find_spec
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from scipy import sparse

from rankwise.data import midranks
from rankwise.embeddings import GraphCutEmbedding, item_graph
from rankwise.kernels import graph_cut_kernel
from tests.strategies import KINDS, position_matrices, random_positions

needs_torch = pytest.mark.skipif(find_spec("torch") is None, reason="PyTorch is not installed")


def random_graph(k, seed=0):
    return item_graph(np.random.default_rng(seed).random((k, 2)))


@pytest.mark.parametrize("kind", KINDS)
def test_it_is_the_inner_product_of_the_features(kind):
    rng = np.random.default_rng(0)
    A, B = random_positions(rng, 9, 5, kind), random_positions(rng, 4, 5, kind)
    A, B = (rows[~np.isnan(rows).all(axis=1)] for rows in (A, B))
    embedding = GraphCutEmbedding(random_graph(5)).fit(A)
    x, y = embedding.transform(A), embedding.transform(B)
    np.testing.assert_allclose(graph_cut_kernel(A, B, random_graph(5)), x @ y.T, atol=1e-12)
    np.testing.assert_allclose(graph_cut_kernel(A, graph=random_graph(5)), x @ x.T, atol=1e-12)
    short = graph_cut_kernel(A, graph=random_graph(5), dtype="float32")
    assert short.dtype == np.float32
    np.testing.assert_allclose(short, x @ x.T, atol=1e-4)


def test_without_graph_it_is_four_times_the_product_of_centered_places():
    rows = random_positions(np.random.default_rng(1), 20, 6, "tied")
    centered = midranks(rows) - 3.5
    np.testing.assert_allclose(graph_cut_kernel(rows), 4 * centered @ centered.T, atol=1e-12)


@settings(max_examples=40)
@given(position_matrices(min_items=2, max_items=5))
def test_it_is_positive_semi_definite_for_every_kind(positions):
    positions = positions[~np.isnan(positions).all(axis=1)]
    if not len(positions):
        return
    for options in ({}, {"pooling": "none"}, {"completion": "sample", "n_samples": 16, "random_state": 0}):
        matrix = graph_cut_kernel(positions, graph=random_graph(positions.shape[1]), **options)
        assert np.linalg.eigvalsh(matrix).min() > -1e-9


def test_normalized_values_are_cosines():
    rows = random_positions(np.random.default_rng(2), 12, 6, "full")
    matrix = graph_cut_kernel(rows, rows[:5], random_graph(6), normalize=True)
    np.testing.assert_allclose(np.diag(matrix), 1)
    assert np.abs(matrix).max() <= 1 + 1e-12


def test_random_completions_are_the_same_on_both_sides():
    rows = random_positions(np.random.default_rng(3), 6, 7, "incomplete")
    rows = rows[~np.isnan(rows).all(axis=1)]
    options = {"graph": random_graph(7), "completion": "sample", "n_samples": 16}
    own = graph_cut_kernel(rows, rows, random_state=np.random.default_rng(0), **options)
    np.testing.assert_allclose(own, own.T, atol=1e-12)


def test_values_do_not_depend_on_how_many_rankings_come_together(monkeypatch):
    from rankwise.embeddings import ordered_partitions

    rows = np.array([[1, 2, 3, 4, np.nan], [np.nan, 1, 2, 3, 4], [2, 1, np.nan, 4, 3]])
    monkeypatch.setattr(ordered_partitions, "_BUDGET", 5)  # of the completions of one
    options = {"graph": random_graph(5), "n_samples": 16, "random_state": 0}
    together = graph_cut_kernel(rows, **options)
    np.testing.assert_allclose(graph_cut_kernel(rows[:1], rows, **options), together[:1], atol=1e-12)
    exact = GraphCutEmbedding(random_graph(5), completion="exact").fit_transform(rows)
    np.testing.assert_allclose(together, exact @ exact.T, atol=1e-12)


def test_bad_input_is_refused_with_a_cure():
    with pytest.raises(ValueError, match="two items or more"):
        graph_cut_kernel([[1], [1]])
    with pytest.raises(ValueError, match=r"2 rows, but the rankings have 3 items"):
        graph_cut_kernel([[1, 2, 3]], graph=[[0, 1], [1, 0]])
    with pytest.raises(ValueError, match="ranks no item"):
        graph_cut_kernel([[1, 2], [np.nan, np.nan]])
    with pytest.raises(ValueError, match=r"GraphCutEmbedding with a linear model"):
        graph_cut_kernel(np.ones((40_000, 2)))


# -- on a device ---------------------------------------------------------------------------------------------------


@needs_torch
@pytest.mark.parametrize("kind", ["full", "tied", "top-k"])
@pytest.mark.parametrize("pooling", ["pava", "none"])
def test_a_device_computes_the_same(kind, pooling):
    rng = np.random.default_rng(4)
    A, B = random_positions(rng, 50, 9, kind), random_positions(rng, 7, 9, kind)
    for graph in (None, random_graph(9), sparse.csr_array(random_graph(9))):
        options = {"graph": graph, "pooling": pooling}
        expected = graph_cut_kernel(A, B, **options)
        np.testing.assert_allclose(graph_cut_kernel(A, B, **options, device="cpu"), expected, atol=1e-10)
        short = graph_cut_kernel(A, B, **options, device="cpu", dtype="float32")
        assert short.dtype == np.float32
        np.testing.assert_allclose(short, expected, atol=1e-5 * np.abs(expected).max())


@needs_torch
def test_blocks_on_a_device_equal_one(monkeypatch):
    from rankwise.kernels import on_device

    rows = random_positions(np.random.default_rng(5), 20, 6, "tied")
    options = {"graph": random_graph(6), "device": "cpu", "normalize": True}
    rows = rows[rows.max(axis=1) > 1]
    whole = graph_cut_kernel(rows, **options)
    monkeypatch.setattr(on_device, "_BLOCK_CELLS", 40)
    np.testing.assert_allclose(graph_cut_kernel(rows, **options), whole, atol=1e-12)
    np.testing.assert_allclose(np.diag(whole), 1)


@needs_torch
@pytest.mark.parametrize("normalize", [False, True])
def test_the_matrix_can_stay_on_the_device(normalize):
    import torch

    rows = random_positions(np.random.default_rng(6), 12, 5, "full")
    there = graph_cut_kernel(rows, rows[:4], device="cpu", normalize=normalize, copy_back=False)
    assert isinstance(there, torch.Tensor)
    np.testing.assert_allclose(there.numpy(), graph_cut_kernel(rows, rows[:4], normalize=normalize), atol=1e-12)


def test_memory_of_a_device_is_looked_at_before():
    from rankwise.kernels import on_device

    cuda = SimpleNamespace(mem_get_info=lambda device: (1 << 30, 2 << 30))
    torch = SimpleNamespace(cuda=cuda, device=lambda name: SimpleNamespace(type=name.split(":")[0]))
    on_device._check_memory(torch, "cuda:0", 1 << 30)
    on_device._check_memory(torch, "cpu", 1 << 40)
    with pytest.raises(ValueError, match=r"take 2.0 GiB, but cuda:0 has 1.0 GiB free; use dtype='float32'"):
        on_device._check_memory(torch, "cuda:0", 2 << 30)


def test_nothing_stays_on_no_device():
    with pytest.raises(ValueError, match="no device to leave the result on"):
        graph_cut_kernel([[1, 2]], copy_back=False)


@needs_torch
def test_what_a_device_cannot_do_is_refused():
    with pytest.raises(ValueError, match=r"ranking 1 misses items.*device=None"):
        graph_cut_kernel([[1, 2], [1, np.nan]], device="cpu")
    with pytest.raises(ValueError, match=r"completion='full'.*device=None"):
        graph_cut_kernel([[1, 2], [1, 1]], device="cpu", completion="full")


@pytest.mark.skipif(find_spec("torch") is not None, reason="PyTorch is installed")
def test_without_pytorch_the_error_says_how_to_get_it():
    with pytest.raises(ImportError, match=r"needs PyTorch: pip install 'rankwise\[neural\]'"):
        graph_cut_kernel([[1, 2]], device="cpu")
