"""Graphs of items: weights, shares of edges, and what is refused."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from rankwise.embeddings import GraphCutEmbedding, is_merge_free, item_graph
from rankwise.embeddings.item_graphs import check_graph
from tests.naive import graph_cut as naive


def test_weights_equal_their_definitions():
    rng = np.random.default_rng(0)
    features = rng.random((6, 3))
    distances = np.array([[np.sqrt(np.sum((a - b) ** 2)) for b in features] for a in features])
    off = ~np.eye(6, dtype=bool)
    laplace, rbf = item_graph(features), item_graph(features, "rbf", "median-with-diagonal")
    np.testing.assert_allclose(laplace, np.where(off, np.exp(-distances / np.median(distances[off])), 0))
    np.testing.assert_allclose(rbf, np.where(off, np.exp(-0.5 * (distances / np.median(distances)) ** 2), 0))
    np.testing.assert_allclose(item_graph(features, lengthscale=2.0), np.where(off, np.exp(-distances / 2), 0))


def test_a_share_of_the_edges_is_kept_and_no_item_left_alone():
    features = np.vstack([np.random.default_rng(0).random((30, 2)), [[9.0, 9.0]]])  # the last is far from all
    weights, kept = item_graph(features, lengthscale=1.0), item_graph(features, lengthscale=1.0, keep=0.1)
    assert sparse.issparse(kept)
    dense = kept.toarray()
    np.testing.assert_array_equal(dense, dense.T)
    np.testing.assert_array_equal(dense[dense > 0], weights[dense > 0])
    n_pairs = 31 * 30 // 2
    assert n_pairs * 0.1 <= np.sum(np.triu(dense) > 0) <= n_pairs * 0.1 + 31
    np.testing.assert_array_equal(np.flatnonzero(dense[-1]), [np.argmax(weights[-1])])
    lightest = np.sort(weights[np.triu_indices(31, 1)])[-int(n_pairs * 0.1)]
    assert (dense[weights >= lightest] > 0).all()
    np.testing.assert_array_equal(item_graph(features, keep=1.0).toarray(), item_graph(features))


@given(st.integers(3, 4), st.integers(0, 2**32 - 1))
def test_merge_free_graphs_are_those_where_pooling_changes_no_ranking(n_items, seed):
    weights = np.triu(np.random.default_rng(seed).integers(0, 4, (n_items, n_items)), 1)
    weights = (weights + weights.T).astype(float)
    assert is_merge_free(weights) == naive.never_merges(weights)
    assert is_merge_free(sparse.csr_array(weights)) == is_merge_free(weights)


def test_any_graph_becomes_merge_free_by_adding_to_all_weights():
    weights = item_graph(np.random.default_rng(0).random((7, 2)))
    assert not is_merge_free(weights)
    assert is_merge_free(weights + 3 * (1 - np.eye(7)))


def test_the_diagonal_does_not_count_and_the_graph_given_is_left_alone():
    weights = np.array([[5.0, 1.0], [1.0, 7.0]])
    np.testing.assert_array_equal(check_graph(weights).weights, [[0, 1], [1, 0]])
    chain = sparse.diags_array([np.ones(99), np.full(100, 5.0), np.ones(99)], offsets=[-1, 0, 1]).tocsr()
    before = chain.toarray()
    checked = check_graph(chain)
    assert not len(checked.weights)
    np.testing.assert_array_equal(checked.matrix().toarray(), before - 5 * np.eye(100))
    np.testing.assert_array_equal(chain.toarray(), before)


@pytest.mark.parametrize("make", [np.array, sparse.csr_array, sparse.csr_matrix, sparse.coo_array])
@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([[0, 1.0], [-1, 0]], r"graph\[1, 0\] is -1, but weights must be finite and not negative"),
        ([[0, np.nan], [1, 0]], r"graph\[0, 1\] is nan"),
        ([[0, 1.0], [2, 0]], r"graph\[0, 1\] is 1 and graph\[1, 0\] is 2.*\(graph \+ graph.T\) / 2"),
        ([[0, 1.0, 1], [1, 0, 1]], r"shape \(2, 3\); give a square matrix"),
    ],
)
def test_bad_graphs(make, weights, message):
    with pytest.raises(ValueError, match=message):
        check_graph(make(weights))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: item_graph([[1.0]]), "one row; a graph needs two items"),
        (lambda: item_graph([1.0, 2.0]), "one row per item"),
        (lambda: item_graph([[0.0], [np.nan], [1.0], [np.inf]]), "missing or not finite for items 1, 3; fill them in"),
        (lambda: item_graph([[0.0], [1.0]], "cosine"), "choose 'laplace' or 'rbf'"),
        (lambda: item_graph([[0.0], [1.0]], lengthscale="mean"), "'median-with-diagonal' or a number"),
        (lambda: item_graph([[0.0], [0.0], [0.0]]), "is 0 here; give a positive number"),
        (lambda: item_graph([[0.0], [1.0]], lengthscale=-1.0), "must be at least 0"),
        (lambda: item_graph([[0.0], [1.0]], keep=0.0), "keep is 0.0; give the share"),
        (lambda: item_graph([[0.0], [1.0]], keep=10), "keep is 10; give the share"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_names_of_features_name_the_graph():
    features = pd.DataFrame({"x": [0.0, 1.0, 3.0]}, index=["a", "b", "c"])
    graph = item_graph(features)
    assert graph.index.tolist() == graph.columns.tolist() == ["a", "b", "c"]
    np.testing.assert_array_equal(graph, item_graph(features.to_numpy()))
    assert isinstance(item_graph(features.reset_index(drop=True)), np.ndarray)


@pytest.mark.parametrize("keep", [None, 0.5])
def test_weights_too_small_for_a_number_are_refused_with_their_cure(keep):
    features = [[0.0], [1.0], [1.5], [200.0]]
    with pytest.raises(ValueError, match=r"items 3 are so far.*198 lengthscales away; increase lengthscale"):
        item_graph(features, "rbf", 1.0, keep=keep)
    assert item_graph(features, "laplace", 1.0, keep=keep).shape == (4, 4)


def test_the_strict_share_of_edges_is_that_of_the_published_code():
    features = np.vstack([np.random.default_rng(0).random((20, 3)), [[5, 5, 5]], [[5, 5, 5]]])
    weights, kept = item_graph(features), item_graph(features, keep=0.1, strict=True).toarray()
    pairs = [weights[i, j] for i in range(22) for j in range(i + 1, 22)]
    least = np.quantile([weight for weight in pairs if weight not in (0, 1)], 0.9)
    np.testing.assert_array_equal(kept, np.where(weights >= least, weights, 0))
    # two equal items, far from all others, and their pair of weight 1; without strict every item is joined
    assert kept[20].nonzero()[0].tolist() == [21]
    alone = np.flatnonzero(kept.sum(axis=0) == 0)
    assert len(alone)
    assert (item_graph(features, keep=0.1).toarray().sum(axis=0) > 0).all()
    row = np.arange(1.0, 23)
    with pytest.raises(ValueError, match=r"have no weight to any other.*allow_isolated=True"):
        GraphCutEmbedding(kept).fit([row])
    found = GraphCutEmbedding(kept, pooling="none", allow_isolated=True).fit_transform([row])[0]
    np.testing.assert_array_equal(found[alone], 0)
    assert abs(found).max() > 0.5
    with pytest.raises(ValueError, match="strict is for a share of the edges; give keep"):
        item_graph(features, strict=True)


@pytest.mark.parametrize("sparse_one", [False, True])
def test_weights_without_a_sum_and_complex_ones_are_refused(sparse_one):
    form = sparse.csr_array if sparse_one else np.asarray
    ones = np.ones((3, 3))
    with pytest.raises(ValueError, match="the sum of the weights in graph does not fit"):
        GraphCutEmbedding(form(1e308 * ones)).fit([[1, 2, 3]])
    with pytest.raises(TypeError, match="graph"):
        GraphCutEmbedding(form(ones + 1j * ones)).fit([[1, 2, 3]])
