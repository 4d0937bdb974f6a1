"""Trees as text and as graphs."""

from __future__ import annotations

import numpy as np
import pandas as pd

from rankwise.trees import LeastSquaresTree
from rankwise.trees.export import tree_text
from rankwise.trees.pruning import pruning_path
from rankwise.trees.structure import Tree


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


def test_texts_of_nodes(small_table):
    X, y = small_table
    model = LeastSquaresTree(max_depth=2).fit(X, y)
    # The root, its children, and so on: each inner node says when rows go left, each leaf what it predicts.
    texts = model.node_texts()
    assert len(texts) == len(model.tree_.left)
    assert texts[0] == "age is known"
    left, right = model.tree_.left[0], model.tree_.left[0] + 1
    assert [texts[left], texts[right]] == ["age <= 35", "town in {Ulm}"]
    leaves = [text for text, child in zip(texts, model.tree_.left, strict=True) if child < 0]
    assert leaves == [f"{value[0]:.4g}" for value in model.tree_.values]


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
    assert tree_text(tree, dict.fromkeys(range(n), ("yes", "no")), ["leaf"] * n).count("leaf") == tree.n_leaves
    assert pruning_path(tree).n_leaves[-1] == 1


def test_categories_that_went_the_other_way_are_not_named():
    towns = ["Bonn", "Kiel", "Ulm"]
    X = pd.DataFrame({"town": pd.Categorical(towns * 4, categories=towns)})
    tree = LeastSquaresTree().fit(X, np.array([0.0, 5.0, 9.0] * 4))
    assert tree.export_text() == (
        "|-- town in {Bonn}: 0  (n=4)\n"
        "|-- town in {Kiel, Ulm}\n"
        "|   |-- town in {Kiel}: 5  (n=4)\n"
        "|   |-- town in {Ulm}: 9  (n=4)"
    )
