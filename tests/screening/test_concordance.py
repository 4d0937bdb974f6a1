"""Concordant divergence, Gini correlation, ranking gain, the test of concordance, and rank classes."""

from __future__ import annotations

import json
from itertools import permutations
from pathlib import Path

import narwhals as nw
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import isotonic_regression
from scipy.stats import false_discovery_control, norm, pearsonr, rankdata

from rankwise.datasets import make_symbolic_regression
from rankwise.screening import concordance_test, concordant_divergence, gini_correlation, rank_classes, ranking_gain
from rankwise.screening.concordance import absolute_pearson, benjamini_hochberg
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
        (np.empty((3, 0)), [1, 2, 3], r"X has shape \(3, 0\), so it has no columns"),
        (3, [1, 2, 3], "X has 0 dimensions"),
        (
            [1.0, 2.0, 3.0],
            [1e308, -1e308, 0],
            r"y lies between -1e[+]308 and 1e[+]308, where squares overflow or vanish",
        ),
        ([1.0, 2.0, 3.0], [1e-200, 0, 0], "rescale it first"),
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
        ([1.0, 2.0, 3.0], "float16", "keys is 'float16'; choose 'float64' or 'float32'"),
        ([1.0, 1e300, 3.0], "float32", r"X\[1, 0\] is inf in 32 bits"),
    ],
)
def test_bad_keys_are_refused(X, keys, words):
    with pytest.raises(ValueError, match=words):
        concordant_divergence(X, [1, 2, 3], keys=keys)


def test_scores_of_another_length_are_refused():
    with pytest.raises(ValueError, match="one score per mean"):
        ranking_gain([1, 2, 3], [1, 2])


@pytest.mark.parametrize("theta", [[1, 2, 3, 4, 5, 6, 7], [1, 1, 2, 3, 3, 3, 4]])
def test_mean_and_variance_over_all_permutations(theta):
    y = np.array([0.3, -1.2, 0.3, 2.0, 5.0, 0.1, -0.4])
    orders = np.array(list(permutations(range(7))))
    # Permuting the feature instead of y: one target, 5040 columns.
    values = concordant_divergence(np.array(theta)[orders].T, y)
    test = concordance_test(np.array(theta), y, two_sided=False)
    mean_difference = concordant_divergence(-y, y) / 2
    assert values.mean() == pytest.approx(mean_difference, abs=1e-12)
    deviation = (mean_difference - test.divergence[0]) / test.z[0]
    assert values.var() == pytest.approx(deviation**2, rel=1e-10)


def test_z_is_a_correlation_with_ranks(rng):
    X, y = rng.integers(0, 9, (30, 4)), rng.standard_normal(30)
    expected = [np.sqrt(29) * pearsonr(rankdata(column), y).statistic for column in X.T]
    np.testing.assert_allclose(concordance_test(X, y).z, expected)


def test_pvalues(rng):
    X, y = rng.standard_normal((40, 6)), rng.standard_normal(40)
    two, one = concordance_test(X, y), concordance_test(X, y, two_sided=False)
    np.testing.assert_allclose(two.p_value, 2 * norm.sf(abs(two.z)))
    np.testing.assert_allclose(one.p_value, norm.sf(one.z))
    np.testing.assert_allclose(two.adjusted, false_discovery_control(two.p_value))


def test_pvalues_are_uniform_under_independence(rng):
    p = concordance_test(rng.standard_normal((100, 5000)), rng.standard_normal(100)).p_value
    np.testing.assert_allclose(np.quantile(p, [0.05, 0.5, 0.95]), [0.05, 0.5, 0.95], atol=0.02)


def test_constant_features_are_never_significant(rng):
    test = concordance_test(np.ones((10, 1)), rng.standard_normal(10))
    assert (test.z[0], test.p_value[0]) == (0, 1)


def test_tests_that_are_not_given_make_adjusted_values_larger():
    p = np.array([0.001, 0.01, 0.2, 0.9])
    assert (benjamini_hochberg(p[:2], n_tests=4) >= benjamini_hochberg(p)[:2]).all()
    as_if_one = false_discovery_control([*p[:2], 1.0, 1.0])[:2]
    np.testing.assert_allclose(benjamini_hochberg(p[:2], n_tests=4), as_if_one)
    assert benjamini_hochberg(np.empty(0), n_tests=4).shape == (0,)


@pytest.mark.parametrize("two_sided", [True, False])
def test_the_divergence_is_that_of_the_same_direction(rng, two_sided):
    X, y = rng.standard_normal((20, 5)), rng.standard_normal(20)
    expected = concordant_divergence(X, y, two_sided=two_sided)
    np.testing.assert_allclose(concordance_test(X, y, two_sided).divergence, expected)


@pytest.mark.parametrize("function", [concordance_test, concordant_divergence])
def test_no_threads_are_refused(rng, function):
    with pytest.raises(ValueError, match="n_jobs is 0; give the number of threads"):
        function(rng.random(5), rng.random(5), n_jobs=0)


@given(st.integers(2, 5), st.integers(0, 2**32 - 1))
def test_classes_are_equal_orders_up_to_sign(n, seed):
    X = np.random.default_rng(seed).integers(0, 3, (n, 8)).astype(float)
    X[:, 0] = np.arange(n)
    classes = rank_classes(X)
    expected = [[naive.same_order(a, b) for a in X.T] for b in X.T]
    np.testing.assert_array_equal(np.equal.outer(classes, classes), expected)


def test_numbers_count_up_in_the_order_of_columns(rng):
    x, z = rng.standard_normal((2, 20))
    np.testing.assert_array_equal(rank_classes(np.column_stack([z, x, np.exp(x), -(z**3), x + z])), [0, 1, 1, 0, 2])


def test_absolute_pearson(rng):
    rows, y = rng.standard_normal((5, 30)), rng.standard_normal(30)
    expected = [abs(np.corrcoef(row, y)[0, 1]) for row in rows]
    np.testing.assert_allclose(absolute_pearson(rows * 1e200, y - y.mean()), expected)
    assert absolute_pearson(np.ones((1, 30)), y - y.mean()) == 0


@pytest.mark.parametrize(
    ("X", "words"),
    [
        (3, "X has 0 dimensions; give a matrix"),
        (np.empty((5, 0)), r"X has shape \(5, 0\), so it has no values; give one row and one feature"),
        (np.empty((0, 5)), r"X has shape \(0, 5\)"),
        ([[1.0, np.nan]], r"X\[0, 1\] is nan"),
    ],
)
def test_bad_features_have_no_classes(X, words):
    with pytest.raises(ValueError, match=words):
        rank_classes(X)


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
def test_a_frame_has_a_row_per_feature(backend):
    x = np.arange(9.0)
    table = pd.DataFrame({"rising": x, "wave": np.sin(x)})
    found = concordance_test(table, x**2)
    frame = nw.from_native(found.to_frame(backend))
    assert frame.columns == ["feature", "divergence", "z", "p_value", "adjusted"]
    assert frame["feature"].to_list() == ["rising", "wave"]
    assert frame["p_value"].to_list() == found.p_value.tolist()
    assert concordance_test(table.to_numpy(), x**2).features == (0, 1)
    assert concordance_test(table.set_axis(["a", "a"], axis=1), x**2).features == ("a", "a")
