"""Diagrams of ranking trees: what stands in the nodes, where they lie, what is cut."""

from __future__ import annotations

import io
import itertools
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

from rankwise import Rankings
from rankwise.datasets import load_label_ranking
from rankwise.label_ranking import RankingForest, RankingTree
from rankwise.plots import RankingTreeDisplay

DRINKS = ["tea", "milk", "juice"]


@pytest.fixture
def tree() -> RankingTree:
    """The young like tea, if they are poor milk, and the old juice."""
    X = pd.DataFrame({"age": [20, 22, 23, 21, 70, 71, 72], "income": [5.0, 6.0, 7.0, 2.0, 5.0, 6.0, 2.0]})
    y = Rankings([[1, 2, 3]] * 3 + [[2, 1, 3]] + [[3, 2, 1]] * 3, items=DRINKS)
    return RankingTree().fit(X, y)


@pytest.fixture(scope="module")
def deep() -> RankingTree:
    X, y = load_label_ranking("diabetes", data_home="", return_X_y=True)
    return RankingTree(random_state=0).fit(X, y)


def overlaps(texts: list[Any]) -> list[tuple[str, str]]:
    """Pairs of texts that lie on each other; a text without letters lies nowhere."""
    boxes = [(text.get_text(), text.get_window_extent()) for text in texts if text.get_text()]
    return [(a, b) for (a, first), (b, second) in itertools.combinations(boxes, 2) if first.overlaps(second)]


def test_nodes_hold_conditions_consensus_and_sizes(tree: RankingTree) -> None:
    nodes = RankingTreeDisplay.from_estimator(tree).nodes
    assert [(node.text, node.count) for node in nodes] == [
        ("age <= 46.5", 7),
        ("income <= 3.5", 4),
        ("milk > tea > juice", 1),
        ("tea > milk > juice", 3),
        ("juice > milk > tea", 3),
    ]
    assert [node.children for node in nodes] == [(1, 4), (2, 3), None, None, None]


def test_the_picture_says_what_the_nodes_hold(tree: RankingTree) -> None:
    display = RankingTreeDisplay.from_estimator(tree)
    words = [text.get_text().replace("\N{NO-BREAK SPACE}", " ").replace("\n", " ") for text in display.text_]
    assert words == [node.text for node in display.nodes]
    written = [text.get_text() for text in display.ax_.texts]
    assert [written.count(size) for size in ("n = 1", "n = 3", "n = 7")] == [1, 2, 0]  # inner nodes say no size
    assert (written.count("yes"), written.count("no")) == (1, 1)


def test_categories_are_named() -> None:
    X = pd.DataFrame({"city": ["Rome", "Bonn", "Rome"]})
    root = RankingTreeDisplay.from_estimator(RankingTree().fit(X, [[1, 2], [2, 1], [1, 2]])).nodes[0]
    assert root.text in ("city in {Rome}", "city in {Bonn}")


def test_yes_lies_above_no_and_leaves_in_one_column(tree: RankingTree) -> None:
    display = RankingTreeDisplay.from_estimator(tree)
    assert display.ax_.yaxis_inverted()  # smaller is higher
    at = np.array([text.get_position() for text in display.text_])
    for place, node in enumerate(display.nodes):
        if node.children is not None:
            yes, no = node.children
            assert at[yes, 1] < at[place, 1] < at[no, 1]
            assert at[place, 0] < min(at[yes, 0], at[no, 0])
    assert len({x for (x, _), node in zip(at, display.nodes, strict=True) if node.children is None}) == 1


def test_lines_lead_from_parents_to_children(tree: RankingTree) -> None:
    display = RankingTreeDisplay.from_estimator(tree)
    at = [text.get_position() for text in display.text_]
    edges = [(at[place], at[child]) for place, node in enumerate(display.nodes) for child in node.children or ()]
    drawn = [(tuple(line[0]), tuple(line[-1])) for line in display.edges_.get_segments()]
    assert np.allclose(sorted(drawn), sorted(edges))


def test_leaves_of_the_same_best_item_have_one_color(deep: RankingTree) -> None:
    display = RankingTreeDisplay.from_estimator(deep, max_depth=20)
    colors: dict[str, set[Any]] = {}
    for node, text in zip(display.nodes, display.text_, strict=True):
        if node.children is None:
            colors.setdefault(node.text.split(" > ")[0], set()).add(text.get_bbox_patch().get_facecolor())
    assert len(colors) == 6
    assert all(len(shades) == 1 for shades in colors.values())
    assert len(set.union(*colors.values())) == 6


def test_deep_trees_are_cut_and_a_note_says_so(deep: RankingTree) -> None:
    display = RankingTreeDisplay.from_estimator(deep, max_depth=2)
    inner = [node for node in display.nodes if node.children is not None]
    ends = [node for node in display.nodes if node.children is None]
    assert len(inner) == 3
    assert len(ends) == 4
    assert all(node.is_cut for node in ends)
    hidden = [int(node.text.split()[1].replace(",", "")) for node in ends]
    assert sum(hidden) == deep.get_n_leaves()
    assert sum(node.count for node in ends) == 442
    assert f"{deep.get_n_leaves()} leaves, {deep.get_depth()} deep" in display.note
    assert display.note in [text.get_text() for text in display.ax_.texts]


def test_a_whole_tree_has_no_note(tree: RankingTree) -> None:
    assert RankingTreeDisplay.from_estimator(tree, max_depth=2).note == ""
    assert RankingTreeDisplay.from_estimator(tree, max_depth=1).note != ""


@pytest.mark.parametrize("max_depth", [1, 4])
def test_no_text_lies_on_another(deep: RankingTree, max_depth: int) -> None:
    display = RankingTreeDisplay.from_estimator(deep, max_depth=max_depth)
    assert overlaps(display.ax_.texts) == []
    width, height = display.figure_.get_size_inches() * display.figure_.dpi
    for text in display.ax_.texts:
        box = text.get_window_extent()
        assert box.x0 >= 0
        assert box.y0 >= 0
        assert box.x1 <= width
        assert box.y1 <= height


def test_the_check_for_overlaps_can_fail() -> None:
    ax = plt.figure().add_subplot()
    assert overlaps([ax.text(0.5, 0.5, "one"), ax.text(0.5, 0.5, "other")]) == [("one", "other")]


def test_a_small_place_has_small_letters(deep: RankingTree) -> None:
    large = RankingTreeDisplay.from_estimator(deep, max_depth=3)
    small = RankingTreeDisplay.from_estimator(deep, max_depth=3, ax=plt.figure(figsize=(4, 3)).add_subplot())
    assert small.text_[0].get_fontsize() < large.text_[0].get_fontsize() == pytest.approx(9)
    assert overlaps(small.ax_.texts) == []


@pytest.mark.parametrize(("size", "n_conditions"), [((9, 9), 4), ((6.4, 4.8), 3), ((4, 3), 2), ((1, 1), 1)])
def test_what_takes_tiny_letters_is_cut(deep: RankingTree, size: tuple[float, float], n_conditions: int) -> None:
    display = RankingTreeDisplay.from_estimator(deep, ax=plt.figure(figsize=size).add_subplot())
    assert display.note.startswith(f"cut below {n_conditions} condition")
    assert min(text.get_fontsize() for text in display.ax_.texts) >= 5
    if size != (1, 1):
        assert overlaps(display.ax_.texts) == []


def test_a_tree_without_splits_is_one_leaf() -> None:
    tree = RankingTree().fit([[1], [2]], [[1, 2], [1, 2]])
    display = RankingTreeDisplay.from_estimator(tree)
    assert [(node.text, node.count) for node in display.nodes] == [("0 > 1", 2)]
    assert len(display.edges_.get_segments()) == 0


def test_leaves_show_whole_rankings_in_lines() -> None:
    items = [
        "Price",
        "Battery life",
        "Camera quality",
        "Screen size",
        "Brand",
        "Storage space",
        "Repairability",
        "Weight",
    ]
    y = Rankings([np.arange(1, 9), np.arange(8, 0, -1)], items=items)
    display = RankingTreeDisplay.from_estimator(RankingTree().fit([[0.0], [1.0]], y))
    up = display.text_[1].get_text()
    assert up.replace("\n", " ") == " > ".join(items)
    assert up.count("\n") >= 1
    assert all(line.endswith(" >") for line in up.split("\n")[:-1])  # broken between items only
    assert display.figure_.get_size_inches()[0] <= 7
    assert overlaps(display.ax_.texts) == []


def test_questions_are_shown_instead_of_names_of_columns() -> None:
    X = pd.DataFrame({"Q1": [0.0, 1.0], "Q12": ["Rome", "Bonn"]})
    tree = RankingTree().fit(X[["Q1"]], [[1, 2], [2, 1]])
    display = RankingTreeDisplay.from_estimator(tree, questions={"Q1": "How old are you?"})
    assert display.nodes[0].text == "How old are you? <= 0.5"
    tree = RankingTree().fit(X[["Q12"]], [[1, 2], [2, 1]])
    display = RankingTreeDisplay.from_estimator(tree, questions={"Q1": "How old are you?"})
    assert display.nodes[0].text.startswith("Q12 in {")


def test_long_conditions_and_rankings_of_many_items_are_shortened() -> None:
    X = pd.DataFrame({"a name of a feature that goes on and on and on and on and on": [0.0, 1.0]})
    y = Rankings([np.arange(1, 41), np.arange(40, 0, -1)], items=[f"item {i}" for i in range(40)])
    display = RankingTreeDisplay.from_estimator(RankingTree().fit(X, y))
    root, up, _ = (text.get_text() for text in display.text_)
    assert root.count("\n") == 2
    assert up.startswith("item 0 > item 1 > ")
    assert up.endswith("… 25 more")
    assert display.nodes[1].text.endswith(" > item 39")
    assert display.figure_.get_size_inches()[0] <= 7
    categories = pd.DataFrame({"city": [f"a place with a long name {i}" for i in range(40)]})
    y = Rankings([[1, 2]] * 20 + [[2, 1]] * 20)
    display = RankingTreeDisplay.from_estimator(RankingTree(max_depth=1).fit(categories, y))
    assert display.text_[0].get_text().endswith("…")
    assert overlaps(display.ax_.texts) == []


@pytest.mark.parametrize("form", ["png", "svg", "pdf"])
def test_names_are_text_and_never_formulas(form: str) -> None:
    X = pd.DataFrame({r"$\bad{$": [0.0, 1.0]})
    display = RankingTreeDisplay.from_estimator(RankingTree().fit(X, Rankings([[1, 2], [2, 1]], items=["$a^$", "<b>"])))
    file = io.BytesIO()
    display.figure_.savefig(file, format=form)
    assert len(file.getvalue()) > 1000


def test_other_estimators_and_depths_are_refused(tree: RankingTree) -> None:
    with pytest.raises(TypeError, match="RankingForest, but only a RankingTree"):
        RankingTreeDisplay.from_estimator(RankingForest())
    with pytest.raises(ValueError, match="max_depth is 0"):
        RankingTreeDisplay.from_estimator(tree, max_depth=0)
    with pytest.raises(NotFittedError):
        RankingTreeDisplay.from_estimator(RankingTree())
