"""Honesty as algorithms 9 and 10 have it, and growth in the order of a queue."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from rankwise.label_ranking import LabelwiseRanker, RankingForest, RankingTree
from rankwise.trees import LeastSquaresForest, LeastSquaresTree
from tests.naive import trees as naive
from tests.trees.test_grow import rows_of_nodes

CUBE = np.array(np.meshgrid(*[[0.0, 1.0]] * 6)).reshape(6, -1).T


def bits(seed, n=120, q=1):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (n, 6)).astype(float)
    y = np.stack([X[:, 1] * X[:, 4] + 0.6 * X[:, 3] + 0.3 * c * X[:, 2] for c in range(q)], axis=1)
    return X, y + 0.2 * rng.standard_normal(y.shape)


def filling_rows(n, seed):
    """Which rows fill leaves: row r alone has target r, so that the values of leaves tell."""
    X = np.random.default_rng(0).standard_normal((n, 2))
    return LeastSquaresTree(honest=True, random_state=seed).fit(X, np.eye(n)).tree_.values.sum(axis=0) > 0


@pytest.mark.parametrize("n_levels", [2, 4, 6])
@pytest.mark.parametrize("seed", range(3))
def test_algorithm_9(seed, n_levels):
    X, y = bits(seed, 60, q=2)
    model = LeastSquaresTree(growth="level", honest="paper", max_depth=n_levels, random_state=seed).fit(X, y)
    fill = filling_rows(len(X), seed)
    cells = naive.honest_level_splits_binary(X[~fill], y[~fill], X[fill], n_levels)
    assert model.get_n_leaves() == len(cells)
    expected = [naive.mean_of_cell(cells, x, X[fill], y[fill]) for x in CUBE]
    np.testing.assert_allclose(model.predict(CUBE), expected)
    # The other honesty is another tree, with empty leaves.
    other = LeastSquaresTree(growth="level", honest=True, max_depth=n_levels, random_state=seed).fit(X, y)
    assert n_levels < 6 or not np.allclose(other.predict(CUBE), expected)


@pytest.mark.parametrize("budget", [3, 6, 11, 64])
@pytest.mark.parametrize("seed", range(3))
def test_algorithm_10(seed, budget):
    X, y = bits(seed, 60, q=2)
    options = {"honest": "paper", "growth_order": "breadth-first", "max_leaf_nodes": budget}
    model = LeastSquaresTree(**options, random_state=seed).fit(X, y)
    fill = filling_rows(len(X), seed)
    cells = naive.breiman_binary(X[~fill], y[~fill], X[fill], budget)
    assert model.get_n_leaves() == len(cells)
    np.testing.assert_allclose(
        model.predict(CUBE), [naive.mean_of_cell(cells, x, X[fill], y[fill]) for x in CUBE], atol=1e-12
    )


@pytest.mark.parametrize("budget", [2, 5, 9, 30])
@pytest.mark.parametrize("seed", range(3))
def test_growth_in_the_order_of_a_queue(seed, budget):
    X, y = bits(seed)
    model = LeastSquaresTree(growth_order="breadth-first", max_leaf_nodes=budget).fit(X, y)
    cells = naive.breiman_binary(X, y, X, budget)
    np.testing.assert_allclose(model.predict(CUBE), [naive.mean_of_cell(cells, x, X, y) for x in CUBE], atol=1e-12)
    depth = model.tree_.depth[model.tree_.is_leaf]
    assert budget == 30 or depth.max() - depth.min() <= 1
    best = LeastSquaresTree(max_leaf_nodes=budget).fit(X, y)
    assert np.allclose(best.predict(CUBE), model.predict(CUBE)) == (budget == 2)


def test_without_a_budget_the_order_changes_nothing():
    X, y = bits(0)
    first, second = (LeastSquaresTree(growth_order=order).fit(X, y) for order in ("best-first", "breadth-first"))
    assert np.array_equal(first.predict(CUBE), second.predict(CUBE))


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"max_bins": None},
        {"min_samples_leaf": 3},
        {"splitter": "random", "max_features": 2},
        {"growth": "level", "max_depth": 5},
        {"growth": "level", "max_depth": 5, "min_samples_leaf": 3, "max_leaf_nodes": 9},
        {"sketch": 2},
        {"max_leaf_nodes": 7},
    ],
    ids=str,
)
def test_every_leaf_holds_rows_that_fill(options):
    """On numbers, categories and missing values, weights and missing targets."""
    rng = np.random.default_rng(0)
    n = 160
    table = pd.DataFrame(rng.standard_normal((n, 3)), columns=["a", "b", "c"])
    table["town"] = rng.choice(["Ulm", "Bonn", "Kiel", "Jena"], n)
    y = np.column_stack([table["a"] * table["b"] + (table["town"] == "Ulm"), rng.standard_normal(n)])
    table = table.mask(rng.random(table.shape) < 0.1)
    y[rng.random(n) < 0.2, 1] = np.nan
    w = rng.uniform(0.5, 2, n)
    seed = 4
    model = LeastSquaresTree(honest="paper", random_state=seed, **options).fit(table, y, w)
    fill = filling_rows(n, seed) if "sketch" not in options else None
    tree, X = model.tree_, model._check_features(table, reset=False)
    passes = rows_of_nodes(tree, X)
    if fill is not None:
        assert passes[tree.is_leaf][:, fill].sum(axis=1).min() >= options.get("min_samples_leaf", 1)
        assert np.array_equal(tree.count, passes[:, ~fill].sum(axis=1))
        np.testing.assert_allclose(tree.weight, passes[:, ~fill] @ w[~fill])
        for node, rows in enumerate(passes):
            here = rows & ~fill
            error = naive.squared_error(y[here], w[here]) if here.any() else 0.0
            assert tree.error[node] == pytest.approx(error, abs=1e-9)
    inner = np.flatnonzero(~tree.is_leaf)
    after = tree.error[tree.left[inner]] + tree.error[tree.left[inner] + 1]
    np.testing.assert_allclose(tree.gain[inner], np.maximum(tree.error[inner] - after, 0), atol=1e-9)
    assert model.get_n_leaves() > 3


@pytest.mark.parametrize("growth", ["best", "level"])
def test_rankers_and_forests_take_it(growth):
    X, _ = bits(0)
    y = np.argsort(np.argsort(-X[:, :4] @ np.diag([4.0, 3.0, 2.0, 1.0]), axis=1, kind="stable"), axis=1) + 1.0
    options = {"honest": "paper", "growth": growth, "random_state": 0}
    for model in (
        LeastSquaresForest(5, **options),
        RankingTree(**options),
        RankingForest(5, **options),
        LabelwiseRanker(LeastSquaresForest(3, **options)),
    ):
        fitted = model.fit(X, y)
        assert fitted.score(X, y) > 0.3
    one, two = (LeastSquaresForest(6, n_jobs=n_jobs, **options).fit(X, y).predict(CUBE) for n_jobs in (1, 2))
    assert np.array_equal(one, two)


@pytest.mark.parametrize("growth", ["best", "level"])
@pytest.mark.parametrize("n", [1, 2, 3])
def test_few_rows(growth, n):
    X, y = np.arange(n)[:, None], np.arange(float(n))
    model = LeastSquaresTree(honest="paper", growth=growth, random_state=0).fit(X, y)
    assert model.get_n_leaves() == 1
    assert np.isfinite(model.predict(X)).all()


def test_wrong_words():
    X, y = bits(0, 10)
    for options in ({"honest": "yes"}, {"growth_order": "depth-first"}):
        with pytest.raises(ValueError, match=next(iter(options))):
            LeastSquaresTree(**options).fit(X, y)
