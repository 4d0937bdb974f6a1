"""What can be asked of a fitted tree: leaves, paths, importances, text and graphs."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from rankwise.trees import LeastSquaresForest, LeastSquaresTree
from rankwise.trees.export import tree_text
from rankwise.trees.pruning import pruning_path
from rankwise.trees.structure import Tree
from tests.trees.test_growth import make_data


@pytest.fixture
def small_table():
    table = pd.DataFrame(
        {
            "age": [20.0, 30.0, 40.0, 50.0, 60.0, 70.0, np.nan, np.nan],
            "town": ["Ulm", "Ulm", "Bonn", "Kiel", "Bonn", "Kiel", "Ulm", "Bonn"],
        }
    )
    return table, [0.0, 0.0, 1.0, 2.0, 1.0, 2.0, 7.0, 7.5]


def test_text(small_table):
    X, y = small_table
    model = LeastSquaresTree().fit(X, y)
    assert model.export_text() == (
        "|-- age is known\n"
        "|   |-- age <= 35: 0  (n=2)\n"
        "|   |-- age > 35\n"
        "|   |   |-- town in {Bonn}: 1  (n=2)\n"
        "|   |   |-- town in {Kiel, Ulm}: 2  (n=2)\n"
        "|-- age is missing\n"
        "|   |-- town in {Ulm}: 7  (n=1)\n"
        "|   |-- town in {Bonn, Kiel}: 7.5  (n=1)"
    )


def test_graph(small_table):
    X, y = small_table
    X = X.rename(columns={"age": 'the "age" \\ years'})
    assert LeastSquaresTree(max_depth=1).fit(X, y).export_graphviz() == (
        "digraph tree {\n"
        '  node [shape=box, fontname="Helvetica"];\n'
        '  edge [fontname="Helvetica"];\n'
        '  0 [label="the \\"age\\" \\\\ years is known\\nn=8"];\n'
        '  0 -> 1 [label="yes"];\n'
        '  0 -> 2 [label="no"];\n'
        '  1 [label="1\\nn=6", style="rounded"];\n'
        '  2 [label="7.25\\nn=2", style="rounded"];\n'
        "}"
    )


def test_a_leaf_and_long_lists_of_categories_as_text():
    assert LeastSquaresTree().fit([[1.0]], [[2.0, 0.123456]]).export_text() == "2, 0.1235  (n=1)"
    X = np.arange(20.0)[:, None]
    text = LeastSquaresTree(categorical_features=[0], max_depth=1).fit(X, X[:, 0] < 9).export_text()
    assert "x0 in {9.0, 10.0, 11.0, 12.0, 13.0, 14.0, ... 5 more}: 0  (n=11)" in text


@pytest.mark.parametrize("growth", ["best", "level"])
def test_leaves_and_paths_agree(growth):
    X, y = make_data(n=100, q=2, missing=0.1)
    model = LeastSquaresTree(growth=growth, max_depth=5).fit(X, y)
    leaves, path = model.apply(X), model.decision_path(X)
    assert path.shape == (100, len(model.tree_.left))
    assert model.tree_.is_leaf[leaves].all()
    np.testing.assert_array_equal(np.asarray(path.sum(axis=0)).ravel(), model.tree_.count)
    np.testing.assert_array_equal(np.asarray(path.sum(axis=1)).ravel(), model.tree_.depth[leaves] + 1)
    assert (path[np.arange(100), leaves] == 1).all()
    assert model.get_depth() == model.tree_.depth[leaves].max() <= 5
    assert model.get_n_leaves() == len(np.unique(leaves))


def test_importances():
    X, y = make_data(n=300, d=3)
    X[:, 2] = 1.0
    for model in (LeastSquaresTree(max_depth=4), LeastSquaresForest(5, random_state=0)):
        importances = model.fit(X, y).feature_importances_
        assert importances.sum() == pytest.approx(1)
        assert importances[2] == 0
        assert (importances[:2] > 0.05).all()
    assert LeastSquaresTree().fit(X, np.ones(300)).feature_importances_.tolist() == [0, 0, 0]


@pytest.mark.parametrize("model", [LeastSquaresTree(), LeastSquaresForest(3)], ids=repr)
def test_questions_before_fitting(model):
    for method in ("predict", "apply"):
        with pytest.raises(NotFittedError):
            getattr(model, method)([[1.0]])
    with pytest.raises(NotFittedError):
        _ = model.feature_importances_
    if isinstance(model, LeastSquaresTree):
        for question in (model.get_depth, model.get_n_leaves, model.export_text, model.export_graphviz):
            with pytest.raises(NotFittedError):
                question()


@pytest.mark.parametrize(
    "model", [LeastSquaresTree(honest=True, random_state=0), LeastSquaresForest(3, random_state=0)]
)
def test_copies(model, small_table):
    X, y = small_table
    fitted = clone(model).fit(X, y)
    copy = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(copy.predict(X), fitted.predict(X))
    np.testing.assert_array_equal(clone(fitted).fit(X, y).predict(X), fitted.predict(X))


def test_a_deep_tree_needs_no_recursion():
    n = 5001  # every node with an odd number is a leaf, every other one is split into the next two
    left = np.where(np.arange(n) % 2 == 0, np.arange(n) + 1, -1).astype(np.int32)
    left[-1] = -1
    zeros = np.zeros(n)
    error = np.linspace(1, 0, n)
    nothing = np.full(n, -1, np.int32)
    tree = Tree(
        np.where(left < 0, -1, 0), zeros, zeros > 0, left, zeros, error, zeros + 1, zeros.astype(int), nothing, None
    )
    assert tree.depth.max() == n // 2
    assert tree_text(tree, ["x"], [None], ["leaf"] * n).count("leaf") == tree.n_leaves
    assert pruning_path(tree).n_leaves[-1] == 1
