"""Lovasz extension, base polytope and the check of submodularity, against their definitions on small sets."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import linprog

from rankwise.embeddings import (
    SubmodularEmbedding,
    concave_of_size,
    coverage,
    cut_function,
    gaussian_entropy,
    greedy_vertex,
    in_base_polytope,
    item_graph,
    lovasz_extension,
    submodularity_violation,
)
from tests.naive import graph_cut as naive


def subsets(n):
    return [np.array(s, dtype=int) for size in range(n + 1) for s in itertools.combinations(range(n), size)]


def some_function(seed, n):
    rng = np.random.default_rng(seed)
    graph = rng.random((n, n))
    factors = rng.standard_normal((n, n))
    return [
        cut_function(np.triu(graph, 1) + np.triu(graph, 1).T),
        coverage(rng.random((n, 4)) < 0.5, rng.random(4)),
        gaussian_entropy(factors @ factors.T + 0.1 * np.eye(n)),
    ][seed % 3]


def by_levels(F, w):
    """The extension as the mean of F over the sets {w >= t}, t uniform between the least and the largest number."""
    low, steps = min(w), sorted(set(w))
    everything = F(np.arange(len(w))) - F(np.arange(0))
    total = low * everything
    for lower, upper in itertools.pairwise(steps):
        total += (upper - lower) * (F(np.flatnonzero(np.array(w) >= upper)) - F(np.arange(0)))
    return total


@given(st.integers(0, 2**32 - 1), st.integers(2, 5))
def test_the_extension_is_its_definition_and_the_support_of_the_polytope(seed, n):
    F, rng = some_function(seed, n), np.random.default_rng(seed + 1)
    w = rng.integers(0, 4, n) / 2
    value = lovasz_extension(F, w)
    assert value == pytest.approx(by_levels(F, w.tolist()), abs=1e-9)
    # the largest w s over s(B) <= F(B), s(V) = F(V), by linear programming
    sets = subsets(n)
    inside = np.array([np.isin(np.arange(n), s) for s in sets], dtype=float)
    bounds = np.array([F(s) for s in sets]) - F(sets[0])
    best = linprog(-w, inside[1:-1], bounds[1:-1], inside[-1:], bounds[-1:], bounds=(None, None))
    assert value == pytest.approx(-best.fun, abs=1e-6)


@given(st.integers(0, 2**32 - 1), st.integers(2, 5))
def test_vertices_lie_in_the_polytope_and_points_beyond_do_not(seed, n):
    F, rng = some_function(seed, n), np.random.default_rng(seed + 1)
    w = rng.random(n)
    vertex, other = greedy_vertex(F, w), greedy_vertex(F, -w)
    assert in_base_polytope(F, vertex)
    assert in_base_polytope(F, (vertex + other) / 2)
    step = np.zeros(n)
    step[np.argmax(w)], step[np.argmin(w)] = 0.01, -0.01
    assert not in_base_polytope(F, vertex + step)  # the first item has all it can have
    assert not in_base_polytope(F, vertex + 0.01)  # too much in all


@given(st.integers(0, 2**32 - 1), st.integers(2, 6))
def test_the_extension_of_a_cut_is_its_formula_and_tight_at_sets(seed, n):
    rng = np.random.default_rng(seed)
    graph = item_graph(rng.random((n, 2)))
    F, w = cut_function(graph), rng.random(n)
    formula = sum(graph[i, j] * abs(w[i] - w[j]) for i, j in itertools.combinations(range(n), 2))
    assert lovasz_extension(F, w) == pytest.approx(formula)
    for s in subsets(n):
        assert F(s) == pytest.approx(naive.cut(graph, set(s.tolist())))
        assert lovasz_extension(F, np.isin(np.arange(n), s).astype(float)) == pytest.approx(F(s))
    assert cut_function(sparse.csr_array(graph))(np.array([0])) == pytest.approx(F(np.array([0])))


def test_the_vertex_of_a_ranking_is_its_feature_before_pooling():
    F = some_function(0, 5)
    features = SubmodularEmbedding(F, pooling="none").fit_transform([[2, 1, 5, 3, 4]])[0]
    np.testing.assert_allclose(greedy_vertex(F, [-2, -1, -5, -3, -4]), features)


@given(st.integers(0, 2**32 - 1), st.integers(2, 4), st.booleans())
def test_a_violation_is_found_where_there_is_one(seed, n, submodular):
    rng = np.random.default_rng(seed)
    table = {s.tobytes(): float(rng.random()) for s in subsets(n)}

    F = some_function(seed, n) if submodular else lambda items: table[np.asarray(items, dtype=int).tobytes()]

    def value(s):
        return F(np.array(sorted(s), dtype=int))

    sets = [set(s.tolist()) for s in subsets(n)]
    wrong = any(value(a) + value(b) < value(a | b) + value(a & b) - 1e-9 for a in sets for b in sets)
    found = submodularity_violation(F, n)
    assert (found is not None) == wrong
    if found is not None:
        a, b = set(found.first), set(found.second)
        assert value(a) + value(b) == pytest.approx(found.parts)
        assert value(a | b) + value(a & b) == pytest.approx(found.whole)
        assert found.parts < found.whole


@pytest.mark.parametrize("n", [3, 30])
def test_embeddings_refuse_what_is_not_submodular(n):
    row = [list(range(1, n + 1))]
    square = concave_of_size(lambda size: size**2)
    with pytest.raises(ValueError, match=r"F is not submodular: F\(\{.*\}\) \+ F\(\{.*\}\) = .* is less than"):
        SubmodularEmbedding(square).fit(row)
    SubmodularEmbedding(square, check_submodular=False).fit(row)
    SubmodularEmbedding(concave_of_size(np.sqrt)).fit(row)
    assert submodularity_violation(square, 3) == ((0,), (1,), 2.0, 4.0)


GRAPH = [[0, 2, 1], [2, 0, 1], [1, 1, 0]]
READY_MADE = [cut_function(GRAPH), coverage(np.eye(3)), gaussian_entropy(np.eye(3)), concave_of_size(np.sqrt)]


@pytest.mark.parametrize("F", READY_MADE)
def test_sets_may_come_in_any_form(F):
    expected = F(np.array([0, 2]))
    for items in ({0, 2}, frozenset({0, 2}), (2, 0), [0, 2, 2], range(0, 3, 2), np.array([2, 0], dtype=np.uint8)):
        assert F(items) == expected
    assert F(set()) == F([]) == F(np.arange(0)) == 0


@pytest.mark.parametrize("F", READY_MADE)
@pytest.mark.parametrize(
    ("items", "error", "message"),
    [
        ([True, False, False], TypeError, r"should be ids, .*; np.flatnonzero makes ids of a mask"),
        (np.array([True, False, False]), TypeError, "np.flatnonzero"),
        ([0.5], TypeError, "whole numbers counted from 0"),
        (["a"], TypeError, "whole numbers counted from 0"),
        ([[0, 1]], TypeError, "whole numbers counted from 0"),
        ([-1], ValueError, "there is no item -1; ids are"),
    ],
)
def test_what_is_no_set_of_items_is_refused(F, items, error, message):
    with pytest.raises(error, match=message):
        F(items)


@pytest.mark.parametrize("F", READY_MADE[:3])
def test_the_number_of_items_is_checked(F):
    with pytest.raises(ValueError, match="there is no item 5; ids are from 0 to 2"):
        F([5])
    for call in (lovasz_extension, greedy_vertex, in_base_polytope):
        for w in ([1, 2], [1, 2, 3, 4]):
            with pytest.raises(ValueError, match=rf"its length is {len(w)}; F is a function of the sets of 3 items"):
                call(F, w)
    with pytest.raises(ValueError, match="n_items is 2; F is a function"):
        submodularity_violation(F, 2)
    with pytest.raises(ValueError, match="the number of ranked items is 2; F is a function"):
        SubmodularEmbedding(F).fit([[1, 2]])


def test_the_value_of_no_items_is_subtracted():
    F = cut_function(GRAPH)
    w, shifted = [0.3, 2.0, 1.0], lambda items: F(items) + 7.0
    assert lovasz_extension(shifted, w) == pytest.approx(lovasz_extension(F, w))
    assert in_base_polytope(shifted, greedy_vertex(shifted, w))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: submodularity_violation(len, 17), r"17 items have 2\^17 sets, more than max_sets \(65,536\)"),
        (lambda: in_base_polytope(len, np.ones(100)), "give a larger max_sets"),
        (lambda: lovasz_extension(len, [[1.0]]), "w must hold one finite number per item"),
        (lambda: greedy_vertex(len, [np.nan]), "w must hold one finite number per item"),
        (lambda: cut_function([[0, -1], [-1, 0]]), "must be finite and not negative"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call()
