"""Volcano plots: where the features lie, and which are named."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from rankwise.datasets import make_symbolic_regression
from rankwise.plots import ScreeningDisplay
from rankwise.screening import (
    ConcordanceSelector,
    ScoreSelector,
    SymbolicFeatures,
    concordance_test,
    concordant_divergence,
)


@pytest.fixture(scope="module")
def data() -> tuple[np.ndarray, np.ndarray]:
    X, y, _ = make_symbolic_regression(80, noise=1, random_state=0)
    return np.column_stack([X, -X[:, 2], np.random.default_rng(0).normal(size=(80, 20))]), y


def points(display: ScreeningDisplay) -> np.ndarray:
    both = np.concatenate([display.others_.get_offsets(), display.chosen_.get_offsets()])
    return both[np.lexsort(both.T)]


def test_points_are_divergence_and_p_value(data: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = data
    display = ScreeningDisplay.from_features(X, y, alpha=0.1)
    found = concordance_test(X, y)
    divergence = concordant_divergence(X, y, normalize=True)
    wanted = np.column_stack([divergence, -np.log10(found.p_value)])
    np.testing.assert_allclose(points(display), wanted[np.lexsort(wanted.T)], rtol=1e-6)
    np.testing.assert_allclose(display.chosen_.get_offsets(), wanted[found.adjusted <= 0.1], rtol=1e-6)
    assert 0 < (found.adjusted <= 0.1).sum() < 24


def test_p_values_too_small_for_a_float_are_finite() -> None:
    y = np.arange(5000.0)
    display = ScreeningDisplay.from_features(np.column_stack([y, -y]), y)
    np.testing.assert_allclose(display.divergence, [0, 2])
    assert np.isfinite(display.evidence).all()
    assert display.evidence.min() > 308


def test_the_best_are_named_once_and_pointed_at(data: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = data
    names = [f"x{i}" for i in range(X.shape[1])]
    copies = pd.DataFrame(np.column_stack([X[:, 2] ** 3, X]), columns=["a long copy", *names])
    display = ScreeningDisplay.from_features(copies, y, n_labels=3)
    best = display.text_[0]
    assert best.get_text() == "x2"  # the shorter name of two features at one point
    where = list(copies.columns).index("x2")
    np.testing.assert_allclose(best.xy, [display.divergence[where], display.evidence[where]])
    assert [text.get_text() for text in display.text_[:2]] == ["x2", "x3"]
    assert display.plot(n_labels=0).text_ == []


def test_selected_columns_are_in_color(data: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = data
    selector = ConcordanceSelector(2).fit(X, y)
    display = ScreeningDisplay.from_estimator(selector, X, y)
    assert [name for name, chosen in zip(display.names, display.chosen, strict=True) if chosen] == list(
        selector.get_feature_names_out()
    )
    assert len(display.names) == X.shape[1]


def test_selected_expressions_are_in_color(data: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = data[0][:, :3], data[1]
    selector = ConcordanceSelector(3, features=SymbolicFeatures("bu")).fit(X, y)
    display = ScreeningDisplay.from_estimator(selector, X, y)
    chosen = {name for name, picked in zip(display.names, display.chosen, strict=True) if picked}
    assert chosen == set(selector.get_feature_names_out())
    assert {text.get_text() for text in display.text_} == chosen
    assert len(display.names) > 10


def test_stability_is_the_share_of_halves(data: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = data
    display = ScreeningDisplay.from_resamples(X, y, k=4, n_resamples=25, random_state=0)
    assert display.evidence.sum() == pytest.approx(4)
    np.testing.assert_allclose(display.evidence * 25, (display.evidence * 25).round())
    assert display.evidence[[2, 3]].min() > 0.9  # a law of x2, and its negative
    np.testing.assert_array_equal(display.chosen, display.evidence > 0.5)
    again = ScreeningDisplay.from_resamples(X, y, k=4, n_resamples=25, random_state=0)
    np.testing.assert_array_equal(again.evidence, display.evidence)


def test_halves_in_which_the_target_is_constant_say_nothing() -> None:
    X = np.random.default_rng(0).random((8, 3))
    display = ScreeningDisplay.from_resamples(X, [0, 0, 0, 0, 0, 0, 0, 1], k=1, n_resamples=40, random_state=0)
    assert 0.2 < display.evidence.sum() < 0.8


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"names": ["a"]}, "there are 1 names, but X has 24 columns"),
        ({"alpha": 2}, "alpha is 2"),
        ({"n_labels": -1}, "n_labels is -1"),
    ],
)
def test_bad_input_is_named(data: tuple[np.ndarray, np.ndarray], options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ScreeningDisplay.from_features(*data, **options)


def test_other_selectors_and_shapes_are_refused(data: tuple[np.ndarray, np.ndarray]) -> None:
    with pytest.raises(TypeError, match="selector is a ScoreSelector"):
        ScreeningDisplay.from_estimator(ScoreSelector(), *data)
    with pytest.raises(ValueError, match=r"X has shape \(3,\)"):
        ScreeningDisplay.from_features([1, 2, 3], [1, 2, 3])
    with pytest.raises(ValueError, match="k is 0"):
        ScreeningDisplay.from_resamples(*data, k=0)
