"""Maps and matrices of kernels."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rankwise.datasets import make_food_preferences
from rankwise.kernels import kendall_kernel, mallows_kernel
from rankwise.plots import EmbeddingDisplay, GramMatrixDisplay


@pytest.fixture(scope="module")
def food() -> tuple[Any, np.ndarray]:
    votes, taste, _ = make_food_preferences(40, sigma=0.4, random_state=0)
    return votes, np.array(["sweet", "juicy"])[taste - 1]


def test_the_map_is_that_of_the_eigenvectors(food: tuple[Any, np.ndarray]) -> None:
    votes, _ = food
    K = kendall_kernel(votes)
    display = EmbeddingDisplay.from_gram(K)
    centered = K - K.mean(axis=0) - K.mean(axis=1)[:, None] + K.mean()
    values, vectors = np.linalg.eigh(centered)
    wanted = vectors[:, [-1, -2]] * np.sqrt(values[[-1, -2]])
    shown = display.scatter_[0].get_offsets()
    np.testing.assert_allclose(np.abs(shown), np.abs(wanted), atol=1e-8)
    np.testing.assert_allclose(display.explained, values[[-1, -2]] / values.sum())
    assert f"{display.explained[0]:.0%} of the variance" in display.ax_.get_xlabel()


def test_each_class_has_its_points_and_its_name(food: tuple[Any, np.ndarray]) -> None:
    votes, taste = food
    display = EmbeddingDisplay.from_rankings(votes, classes=taste, kernel=mallows_kernel)
    for name, dots, text in zip(["juicy", "sweet"], display.scatter_, display.legend_.get_texts(), strict=True):
        np.testing.assert_array_equal(dots.get_offsets(), display.points[taste == name])
        assert text.get_text() == name
    np.testing.assert_allclose(display.points, EmbeddingDisplay.from_gram(mallows_kernel(votes)).points)


def test_many_numbers_are_a_scale_of_colors(food: tuple[Any, np.ndarray]) -> None:
    display = EmbeddingDisplay.from_rankings(food[0], classes=np.arange(40) / 40)
    np.testing.assert_allclose(display.scatter_[0].get_array(), np.arange(40) / 40)
    assert display.legend_ is None


def test_classes_may_be_of_several_types() -> None:
    display = EmbeddingDisplay.from_gram(np.eye(4), classes=["a", None, 3, "a"])
    assert [text.get_text() for text in display.legend_.get_texts()] == ["3", "None", "a"]


def test_the_matrix_is_sorted_by_class(food: tuple[Any, np.ndarray]) -> None:
    votes, taste = food
    K = kendall_kernel(votes)
    display = GramMatrixDisplay.from_gram(K, classes=taste)
    order = np.concatenate([np.flatnonzero(taste == "juicy"), np.flatnonzero(taste == "sweet")])
    np.testing.assert_array_equal(display.image_.get_array(), K[np.ix_(order, order)])
    assert [label.get_text() for label in display.ax_.get_xticklabels()] == ["juicy", "sweet"]
    n = int((taste == "juicy").sum())
    np.testing.assert_allclose(display.ax_.get_xticks(), [(n - 1) / 2, n + (40 - n - 1) / 2])


def test_zero_has_the_middle_color_where_entries_are_negative() -> None:
    signed = GramMatrixDisplay.from_gram([[1, -0.5], [-0.5, 1]]).image_
    assert signed.get_clim() == (-1, 1)
    assert min(signed.to_rgba(0.0)[:3]) > 0.95
    assert GramMatrixDisplay.from_gram([[1, 0.5], [0.5, 2]]).image_.get_clim() == (0, 2)


@pytest.mark.parametrize("display", [EmbeddingDisplay, GramMatrixDisplay])
@pytest.mark.parametrize(
    ("K", "classes", "message"),
    [
        (np.ones((2, 3)), None, r"K has shape \(2, 3\)"),
        (np.full((3, 3), np.nan), None, "not finite"),
        (np.triu(np.ones((3, 3))), None, "not symmetric"),
        (np.eye(3), [1, 2], r"classes has shape \(2,\), but K has 3 rows"),
        (np.eye(9), list("abcdefghi"), "there are 9 classes, more than 7"),
    ],
)
def test_bad_input_is_named(display: Any, K: np.ndarray, classes: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        display.from_gram(K, classes=classes)


def test_two_points_are_no_map() -> None:
    with pytest.raises(ValueError, match="K has 2 rows, too few for a map"):
        EmbeddingDisplay.from_gram(np.eye(2))
