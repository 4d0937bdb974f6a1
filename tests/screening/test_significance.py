"""Tests of concordance: the exact law over permutations, and corrections for many features."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from scipy.stats import false_discovery_control, norm, pearsonr, rankdata

from rankwise.screening import concordance_test, concordant_divergence
from rankwise.screening.concordance import benjamini_hochberg


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
    np.testing.assert_allclose(two.pvalue, 2 * norm.sf(abs(two.z)))
    np.testing.assert_allclose(one.pvalue, norm.sf(one.z))
    np.testing.assert_allclose(two.adjusted, false_discovery_control(two.pvalue))


def test_pvalues_are_uniform_under_independence(rng):
    p = concordance_test(rng.standard_normal((100, 5000)), rng.standard_normal(100)).pvalue
    np.testing.assert_allclose(np.quantile(p, [0.05, 0.5, 0.95]), [0.05, 0.5, 0.95], atol=0.02)


def test_constant_features_are_never_significant(rng):
    test = concordance_test(np.ones((10, 1)), rng.standard_normal(10))
    assert (test.z[0], test.pvalue[0]) == (0, 1)


def test_tests_that_are_not_given_make_adjusted_values_larger():
    p = np.array([0.001, 0.01, 0.2, 0.9])
    assert (benjamini_hochberg(p[:2], n_tests=4) >= benjamini_hochberg(p)[:2]).all()


@pytest.mark.parametrize("two_sided", [True, False])
def test_the_divergence_is_that_of_the_same_direction(rng, two_sided):
    X, y = rng.standard_normal((20, 5)), rng.standard_normal(20)
    expected = concordant_divergence(X, y, two_sided=two_sided)
    np.testing.assert_allclose(concordance_test(X, y, two_sided).divergence, expected)


@pytest.mark.parametrize("function", [concordance_test, concordant_divergence])
def test_no_threads_are_refused(rng, function):
    with pytest.raises(ValueError, match="n_jobs is 0; give the number of threads"):
        function(rng.random(5), rng.random(5), n_jobs=0)
