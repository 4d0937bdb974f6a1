"""The embedding by any set function: definitions, the cut as a special case, ready-made functions."""

from __future__ import annotations

import itertools
import pickle

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.base import clone

from rankwise import Rankings
from rankwise.embeddings import (
    GraphCutEmbedding,
    SubmodularEmbedding,
    concave_of_size,
    coverage,
    gaussian_entropy,
    item_graph,
)
from tests.naive import graph_cut as naive
from tests.strategies import position_matrices, random_positions

nan = np.nan


def functions(seed: int, n_items: int) -> dict:
    rng = np.random.default_rng(seed)
    topics, factors = rng.random((n_items, 5)) < 0.4, rng.standard_normal((n_items, n_items))
    return {
        "size": concave_of_size(np.sqrt),
        "coverage": coverage(topics, rng.random(5)),
        "entropy": gaussian_entropy(factors @ factors.T + 0.1 * np.eye(n_items)),
    }


@given(st.integers(2, 4), st.integers(0, 2**32 - 1))
def test_the_functions_are_submodular(n_items, seed):
    sets = [set(s) for size in range(n_items + 1) for s in itertools.combinations(range(n_items), size)]
    for F in functions(seed, n_items).values():
        value = {frozenset(s): F(np.array(sorted(s), dtype=int)) for s in sets}
        for a, b in itertools.combinations(sets, 2):
            assert value[frozenset(a)] + value[frozenset(b)] >= value[frozenset(a | b)] + value[frozenset(a & b)] - 1e-9


@given(
    position_matrices(min_items=2, max_items=5, max_rankings=2),
    st.integers(0, 2**32 - 1),
    st.sampled_from(["size", "coverage", "entropy"]),
    st.sampled_from(["pava", "none"]),
    st.sampled_from(["auto", "full"]),
)
def test_features_equal_their_definition(positions, seed, name, pooling, completion):
    assume(not np.isnan(positions).all(axis=1).any())
    F = functions(seed, positions.shape[1])[name]
    embedding = SubmodularEmbedding(F, pooling, completion).fit(positions)
    for row, features in zip(positions, embedding.transform(positions), strict=True):
        expected = naive.mean_features(
            row, lambda s: F(np.array(sorted(s), dtype=int)), pooling == "pava", completion == "full"
        )
        np.testing.assert_allclose(features, expected, atol=1e-10)
    everything, nothing = np.arange(positions.shape[1]), np.arange(0)
    np.testing.assert_allclose(embedding.transform(positions).sum(axis=1), F(everything) - F(nothing), atol=1e-10)


@pytest.mark.parametrize("completion", ["exact", "full", "sample"])
def test_with_a_cut_it_is_the_graph_cut_embedding(completion):
    rng = np.random.default_rng(0)
    graph = item_graph(rng.random((6, 2)))
    positions = random_positions(rng, 12, 6, "incomplete")
    positions = positions[~np.isnan(positions).all(axis=1)]
    by_oracle = SubmodularEmbedding(lambda s: naive.cut(graph, set(s.tolist())), "pava", completion, random_state=0)
    quick = GraphCutEmbedding(graph, None, "pava", completion, random_state=0).fit(positions)
    features = by_oracle.fit_transform(positions)
    if completion != "sample":
        np.testing.assert_allclose(features, quick.transform(positions), atol=1e-10)
        return
    # The same draws, but here without the known mean, so with a larger error, which it admits.
    errors, exact = by_oracle.standard_errors(positions), GraphCutEmbedding(graph).fit_transform(positions)
    assert (np.abs(features - exact) <= 6 * errors + 1e-10).all()
    assert errors.mean() > quick.standard_errors(positions).mean()


def test_a_concave_function_of_the_size_gives_discounts_by_place():
    discounts = 1 / np.log2(np.arange(2, 6))
    embedding = SubmodularEmbedding(concave_of_size(lambda n: discounts[:n].sum()))
    np.testing.assert_allclose(embedding.fit_transform([[2, 1, 3, 4]]), [discounts[[1, 0, 2, 3]]])


def test_each_set_is_valued_once():
    asked = []

    def root_of_size(items):
        asked.append(tuple(items))
        return float(len(items)) ** 0.5

    embedding = SubmodularEmbedding(root_of_size, check_submodular=False)
    embedding.fit_transform(random_positions(np.random.default_rng(0), 200, 4, "full"))
    assert len(asked) == len(set(asked)) <= 2**4


def test_the_embedding_is_an_estimator():
    rankings = Rankings([[1, 2, nan], [3, 1, 2]], items=["a", "b", "c"])
    embedding = SubmodularEmbedding(coverage(np.eye(3)), random_state=0).fit(rankings)
    assert embedding.get_feature_names_out().tolist() == ["a", "b", "c"]
    features = embedding.transform(rankings)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(embedding)).transform(rankings), features)
    np.testing.assert_array_equal(clone(embedding).fit_transform(rankings.positions), features)
    np.testing.assert_array_equal(embedding.inverse_transform([[0.1, 0.9, 0.5]]), [[3, 1, 2]])
    assert embedding.transform(rankings.positions[:0]).shape == (0, 3)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: SubmodularEmbedding("cut").fit([[1, 2]]), "'F' parameter"),
        (lambda: SubmodularEmbedding(len, completion="closed-form").fit([[1, 2]]), "'completion' parameter"),
        (lambda: SubmodularEmbedding(lambda s: nan).fit_transform([[1, 2]]), r"F is nan for the items \[\]"),
        (lambda: SubmodularEmbedding(len).fit_transform([[nan, nan]]), "ranking 0 ranks no item"),
        (lambda: SubmodularEmbedding(len).fit_transform([[1]]), "an order takes two items"),
        (lambda: coverage([[0, 2]]), "only 0 and 1"),
        (lambda: coverage([[0, 1]], [1.0]), "one for each of the 2 topics"),
        (lambda: coverage([[0, 1]], [1.0, -1.0]), "0 or more"),
        (lambda: gaussian_entropy([[1.0, 2.0]]), "symmetric matrix"),
        (lambda: gaussian_entropy([[1.0, 1.0], [1.0, 1.0]]), "not positive definite"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call()
