"""Concordant divergence, Gini correlation and ranking gain."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import isotonic_regression

from rankwise.datasets import make_symbolic_regression
from rankwise.screening import concordance_test, concordant_divergence, gini_correlation, ranking_gain
from tests.naive import screening as naive

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "screening.json").read_text("utf-8"))


@st.composite
def features_and_targets(draw, max_size=12):
    """A feature and a target of few or many different values; the target is not constant."""
    n = draw(st.integers(3, max_size))
    values = st.one_of(st.integers(-3, 3).map(float), st.floats(-1e3, 1e3, width=32))
    theta = draw(st.lists(values, min_size=n, max_size=n))
    y = draw(st.lists(values, min_size=n, max_size=n).filter(lambda v: len(set(v)) > 1))
    return np.array(theta), np.array(y)


@given(features_and_targets())
def test_closed_form_is_the_sum_over_ordered_pairs(data):
    theta, y = data
    scale = np.abs(y).max()
    np.testing.assert_allclose(
        concordant_divergence(theta, y) / scale, naive.concordant_divergence(theta, y) / scale, atol=1e-12
    )


@pytest.mark.parametrize("levels", [None, 5, 40])
@pytest.mark.parametrize("n", [40, 300])
def test_closed_form_on_many_rows(rng, n, levels):
    theta, y = rng.standard_normal((2, n))
    if levels:
        theta, y = np.round(theta * levels) / levels, np.round(y * 3) / 3
    np.testing.assert_allclose(concordant_divergence(theta, y), naive.concordant_divergence(theta, y), atol=1e-12)


@given(features_and_targets())
def test_bounds_and_reflection(data):
    theta, y = data
    mean_difference = naive.mean_difference(y)
    value, reflected = concordant_divergence(theta, y), concordant_divergence(-theta, y)
    tolerance = 1e-11 * np.abs(y).max()
    assert -tolerance <= value <= 2 * mean_difference + tolerance
    np.testing.assert_allclose(value + reflected, 2 * mean_difference, rtol=1e-9, atol=tolerance)
    np.testing.assert_allclose(concordant_divergence(theta, y, two_sided=True), min(value, reflected), atol=tolerance)
    np.testing.assert_allclose(
        concordant_divergence(theta, y, normalize=True), 1 - gini_correlation(theta, y), atol=1e-11
    )
    np.testing.assert_allclose(value, mean_difference * (1 - gini_correlation(theta, y)), atol=tolerance)


@given(features_and_targets())
def test_increasing_maps_change_nothing(data):
    theta, y = data
    ranks = np.unique(theta, return_inverse=True)[1]
    assert concordant_divergence(theta, y) == concordant_divergence(ranks**3, y)


@given(features_and_targets(max_size=7))
def test_ranking_gain_is_the_mean_over_orders_of_ties(data):
    score, mean = data
    np.testing.assert_allclose(
        ranking_gain(mean, score), naive.ranking_gain(mean, score), atol=1e-11 * np.abs(mean).max()
    )


@given(features_and_targets())
def test_divergence_is_what_a_ranking_loses(data):
    theta, y = data
    np.testing.assert_allclose(
        concordant_divergence(theta, y), ranking_gain(y, y) - ranking_gain(y, theta), atol=1e-11 * np.abs(y).max()
    )


@given(features_and_targets())
def test_at_most_four_times_the_error_of_the_isotonic_fit(data):
    theta, y = data
    # Rows of equal theta get one value: the isotonic fit of their means.
    values, group = np.unique(theta, return_inverse=True)
    size = np.bincount(group)
    fit = isotonic_regression(np.bincount(group, y) / size, weights=size).x[group] if len(values) > 1 else y.mean()
    rmse = np.sqrt(np.mean((y - fit) ** 2))
    assert concordant_divergence(theta, y) <= 4 * rmse * (1 + 1e-9) + 1e-9 * np.abs(y).max()


def test_four_is_attained_by_two_rows_in_reverse():
    assert ranking_gain([1, 3], [1, 3]) - ranking_gain([1, 3], [3, 1]) == pytest.approx(4 * np.sqrt(np.mean([1, 1])))


def test_far_from_zero_no_digits_are_lost(rng):
    theta, y = rng.standard_normal((2, 50))
    y = np.round(y * 2**20) / 2**20  # so that y + 1e9 is exact
    np.testing.assert_allclose(concordant_divergence(theta, y + 1e9), concordant_divergence(theta, y), rtol=1e-9)


def test_minus_zero_is_zero():
    y = [1.0, 2.0, 4.0]
    assert concordant_divergence([0.0, -0.0, 1.0], y) == concordant_divergence([0.0, 0.0, 1.0], y)


@pytest.mark.parametrize(
    "feature",
    [
        lambda r: 1e9 + 1e-6 * r,  # all share their leading bits
        lambda r: np.append(1e300, r[1:]),  # an outlier beyond all measure
        lambda r: np.exp(50 * r),
        lambda r: np.append([np.inf, -np.inf], r[2:]).clip(-1e308, 1e308),
        lambda r: np.round(r),
        lambda r: 1e-310 * r,  # subnormal
    ],
)
@pytest.mark.parametrize("n", [20, 600, 5000])
def test_sorting_is_exact_whatever_the_values(rng, feature, n):
    theta, y = feature(rng.standard_normal(n)), rng.standard_normal(n)
    ranks = np.unique(theta, return_inverse=True)[1].astype(float)
    midranks = np.array([0.0, *np.cumsum(np.bincount(ranks.astype(int)))])
    place = (midranks[:-1] + midranks[1:])[ranks.astype(int)] - n
    expected = (y - y.mean()) @ place * 2 / (n * (n - 1))
    np.testing.assert_allclose(ranking_gain(y, theta), expected, rtol=1e-9, atol=1e-12)


def test_normal_variables_have_gini_correlation_rho(rng):
    x, noise = rng.standard_normal((2, 100_000))
    assert gini_correlation(x, 0.6 * x + 0.8 * noise) == pytest.approx(0.6, abs=0.01)


def test_threads_and_blocks_change_nothing(rng, monkeypatch):
    from rankwise.screening import concordance

    X, y = rng.standard_normal((60, 50)), rng.standard_normal(60)
    whole = concordant_divergence(X, y)
    monkeypatch.setattr(concordance, "_BLOCK_CELLS", 60 * 7)
    np.testing.assert_array_equal(whole, concordant_divergence(X, y, n_jobs=2))


@pytest.mark.parametrize("case", GOLDEN["example_3"], ids=lambda case: case["panel"])
def test_example_3(case):
    x, y = np.array(case["x"]), np.array(case["y"])
    assert naive.mean_difference(y) == pytest.approx(case["mean_difference"])
    assert concordant_divergence(x, y) == pytest.approx(case["divergence_of_x"])
    assert concordant_divergence((x - 0.5) ** 2, y) == pytest.approx(case["divergence_of_z"])


def test_equation_15():
    case = GOLDEN["equation_15"]
    assert ranking_gain(case["mean"], case["mean"]) == pytest.approx(case["best"])
    assert ranking_gain(case["mean"], case["score"]) == pytest.approx(case["gain"])
    assert concordant_divergence(case["score"], case["mean"]) == pytest.approx(case["best"] - case["gain"])


@pytest.mark.parametrize(("block", "best"), [(1, [0, 1, 3]), (2, [3]), (3, [0, 2, 3]), (4, [3])])
def test_table_1(block, best):
    """With x uniform on (0, 0.5), and the last two columns of block 1 in the order that its numbers ask for."""
    X, y, _ = make_symbolic_regression(500, problem=f"table1-{block}", distribution="uniform", random_state=0)
    divergence = concordant_divergence(X, y)
    assert np.flatnonzero(divergence <= divergence.min() + 1e-9).tolist() == best


@pytest.mark.parametrize("n", [50, 500])
def test_figure_4(n):
    x = np.linspace(-1, 1, n)
    theta4 = np.select([x < -0.5, x < 0, x < 0.5], [x + 1, -x, x], 1 - x)
    targets = {"x": x, "-x": -x, "|x|": abs(x), "theta4": theta4, "-theta4": -theta4}
    case = GOLDEN["figure_4"]
    assert concordant_divergence(-x, x) / 2 == pytest.approx(case["mean_difference_of_x"][str(n)])
    for name, y in targets.items():
        normalized = concordant_divergence(x, y, normalize=True)
        assert normalized == pytest.approx(case["normalized"][name], abs=1e-9)
        assert concordant_divergence(x, y) == pytest.approx(case["raw"][str(n)][name], abs=5e-5)


@pytest.mark.parametrize(
    ("X", "y", "words"),
    [
        ([[1.0], [np.nan], [2.0]], [1, 2, 3], r"X\[1, 0\] is nan"),
        ([[1.0], [np.inf], [2.0]], [1, 2, 3], r"X\[1, 0\] is inf"),
        ([1.0, 2.0, 3.0], [1, np.nan, 3], r"y\[1\] is nan"),
        ([1.0, 2.0, 3.0], [2, 2, 2], "y is constant"),
        ([1.0, 2.0], [1, 2], "at least 3"),
        ([1.0, 2.0], [1, 2, 3], "2 rows and y 3"),
        (np.ones((3, 1, 1)), [1, 2, 3], "3 dimensions"),
        ([1.0, 2.0, 3.0], [[1], [2], [3]], "y has 2 dimensions"),
        (np.empty((3, 0)), [1, 2, 3], r"X has shape \(3, 0\), and so no columns"),
        (3, [1, 2, 3], "X has 0 dimensions"),
        (
            [1.0, 2.0, 3.0],
            [1e308, -1e308, 0],
            r"y lies between -1e[+]308 and 1e[+]308, where squares overflow or vanish",
        ),
        ([1.0, 2.0, 3.0], [1e-200, 0, 0], "scale it to common sizes"),
    ],
)
@pytest.mark.parametrize("function", [concordant_divergence, gini_correlation, concordance_test])
def test_bad_input_is_refused(X, y, words, function):
    with pytest.raises(ValueError, match=words):
        function(X, y)


@pytest.mark.parametrize("n", [20, 600, 5000])
def test_keys_of_32_bits_are_the_rounded_values(rng, n):
    X, y = rng.standard_normal((n, 3)) * [1.0, 1e-40, 1e30], rng.standard_normal(n)
    X[:, 0] = -abs(X[:, 0])
    rounded = X.astype(np.float32)
    expected = concordant_divergence(rounded.astype(np.float64), y)
    for given_X in (X, rounded, X.tolist()):
        np.testing.assert_array_equal(concordant_divergence(given_X, y, keys="float32"), expected)
    np.testing.assert_allclose(expected, concordant_divergence(X, y), atol=1e-4 if n > 20 else 1e-2)


def test_keys_of_32_bits_make_ties():
    theta, y = [1.0, 1.0 + 1e-9, 2.0], [1.0, 2.0, 5.0]
    assert concordant_divergence(theta, y) == 0
    tied = concordant_divergence([1.0, 1.0, 2.0], y)
    assert concordant_divergence(theta, y, keys="float32") == tied > 0


@pytest.mark.parametrize(
    ("X", "keys", "words"),
    [
        ([1.0, 2.0, 3.0], "float16", "keys is 'float16'; it is 'float64' or 'float32'"),
        ([1.0, 1e300, 3.0], "float32", r"X\[1, 0\] is inf in 32 bits"),
    ],
)
def test_bad_keys_are_refused(X, keys, words):
    with pytest.raises(ValueError, match=words):
        concordant_divergence(X, [1, 2, 3], keys=keys)


def test_scores_of_another_length_are_refused():
    with pytest.raises(ValueError, match="one score per mean"):
        ranking_gain([1, 2, 3], [1, 2])
