"""Whether a feature orders the target better than chance: exact variance, p-values, corrections for many features."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rankwise._typing import ArrayLike, FloatArray
from rankwise.screening._inputs import check_features, check_target
from rankwise.screening.scores import Target, score_columns


@dataclass(frozen=True)
class ConcordanceTest:
    """What `concordance_test` returns, one value per feature.

    Attributes
    ----------
    divergence : ndarray of shape (n_features,)
        `concordant_divergence`, with the same ``two_sided``: by default that of the feature or of its negative,
        whichever is smaller.
    z : ndarray of shape (n_features,)
        Standard score: positive where the feature orders as the target does.
    pvalue : ndarray of shape (n_features,)
        Probability of so large a score under random permutations, by the normal law.
    adjusted : ndarray of shape (n_features,)
        The same after Benjamini and Hochberg: features with at most alpha have a false discovery rate of alpha.
    """

    divergence: FloatArray
    z: FloatArray
    pvalue: FloatArray
    adjusted: FloatArray


def concordance_test(
    X: ArrayLike, y: ArrayLike, two_sided: bool = True, *, n_jobs: int | None = None
) -> ConcordanceTest:
    r"""Test for each feature whether it orders the target.

    *Definition.* If y were permuted at random, :math:`T_0` would have mean G and variance

    .. math:: \Bigl(\frac{4}{n (n-1)}\Bigr)^2 \frac{\sum_i (y_i - \bar y)^2 \, \sum_i (R_i - \bar R)^2}{n - 1},

    exactly, ties included; so :math:`z = (G - T_0) / \text{deviation} = \sqrt{n-1}\, \mathrm{corr}(y, R(\theta))`.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features) or (n_samples,)
        Features, or one.
    y : array-like of shape (n_samples,)
        Target; at least three values, not all the same.
    two_sided : bool, default=True
        Count the reverse order as a relation too.
    n_jobs : int, optional
        Threads, for large X.

    Returns
    -------
    ConcordanceTest
        Divergences, z, p-values and adjusted p-values.

    Notes
    -----
    The variance is exact, the normal law an approximation: for few rows or wild y, p-values below some
    :math:`10^{-3}` are rough.

    Examples
    --------
    >>> import numpy as np
    >>> from rankwise.screening import concordance_test
    >>> x = np.arange(40.0)
    >>> concordance_test(np.column_stack([x, x % 2]), x**3).pvalue.round(3)
    array([0.   , 0.783])
    """
    wanted = check_target(y)
    columns, _ = check_features(X, len(wanted))
    target = Target.of(wanted)
    scores = score_columns(columns, target, n_jobs)
    z = target.z(scores.covariation, scores.spread)
    pvalue = tail_probability(z, two_sided)
    agreement = abs(scores.covariation) if two_sided else scores.covariation
    divergence = (target.covariation - agreement).clip(min=0.0) * target.unit
    return ConcordanceTest(divergence, z, pvalue, benjamini_hochberg(pvalue))


def tail_probability(z: FloatArray, two_sided: bool) -> FloatArray:
    """Probability of a standard normal number beyond z, or beyond z in either direction."""
    from scipy.special import ndtr

    return 2 * ndtr(-abs(z)) if two_sided else ndtr(-z)


def benjamini_hochberg(pvalue: FloatArray, n_tests: int | None = None) -> FloatArray:
    """Adjusted p-values; ``n_tests`` counts also the tests that were larger and are not given.

    Values that are not given can only lower adjusted ones, so that what is returned errs on the safe side.
    """
    m = len(pvalue)
    order = np.argsort(pvalue, kind="stable")
    raised = pvalue[order] * (n_tests or m) / np.arange(1, m + 1)
    adjusted = np.empty(m)
    adjusted[order] = np.minimum.accumulate(raised[::-1])[::-1].clip(max=1.0)
    return adjusted
