"""Concordant divergence: how far the order of a feature is from the order of the target, in units of the target.

The divergence, its test of significance and the classes of features with the same order all come from one sort per
feature (`score_columns`), relative to a prepared target (`Target`). Selectors and streams of expressions use both.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from rankwise._sklearn import gen_batches
from rankwise._tables import make_frame, name_column
from rankwise._typing import ArrayLike, FloatArray, IntArray
from rankwise._validation import check_n_jobs, check_numbers
from rankwise.screening import _screening_jit
from rankwise.screening.base import check_features, check_target, refuse_non_numeric

# Cells of X that are copied at once to lay features out as rows: 16 MB.
_BLOCK_CELLS = 1 << 21
# Fingerprints must be the same in every run, so that classes can be compared between calls.
_SEED = 20


def concordant_divergence(
    X: ArrayLike,
    y: ArrayLike,
    normalize: bool = False,
    two_sided: bool = False,
    *,
    keys: Literal["float64", "float32"] = "float64",
    n_jobs: int | None = None,
) -> float | FloatArray:
    r"""How far the target differs on pairs that a feature orders wrongly, per pair of rows.

    *Definition.* A pair that the feature :math:`\theta` orders against y costs :math:`2 |y_i - y_j|`, a pair that it
    ties :math:`|y_i - y_j|`, and :math:`T_0` is the mean over all pairs. With mid-ranks R,

    .. math:: T_0(\theta) = \frac{4}{n (n-1)} \sum_i y_i \bigl(R_i(y) - R_i(\theta)\bigr) = G (1 - \Gamma),

    where G is the mean of :math:`|y_i - y_j|` over pairs and :math:`\Gamma` is `gini_correlation`. So one sort per
    feature is enough.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features) or (n_samples,)
        Features, or one.
    y : array-like of shape (n_samples,)
        Target; at least three values, not all the same.
    normalize : bool, default=False
        Divide by G: only then are divergences from different targets comparable.
    two_sided : bool, default=False
        The smaller of the divergences of the feature and of its negative, :math:`G (1 - |\Gamma|)`: right where a model
        will choose the sign itself.
    keys : {"float64", "float32"}, default="float64"
        To which type the values of features are rounded before they are sorted. With "float32", an X of 32 bits is not
        copied to 64; values that agree to about seven digits become ties, each of which counts half.
    n_jobs : int, optional
        Threads, for large X; the result is the same for every number.

    Returns
    -------
    float or ndarray of shape (n_features,)
        Lower is better. 0: orders as y does; G: no relation; 2 G: the reverse order.

    Notes
    -----
    Increasing transformations of a feature change nothing, decreasing ones reflect :math:`T_0` at G: it cannot tell x
    from exp(x). It finds only monotone relations; that of x and :math:`|x|` on a symmetric range is G, as for
    independent variables. It is bounded in the feature, and linear in y: outliers of y count in full.

    References
    ----------
    Luo, Li (2024), Ranking perspective for tree-based methods with applications to symbolic feature selection, equation
    18. Schechtman, Yitzhaki (1987), A measure of association based on Gini's mean difference.

    Examples
    --------
    >>> from rankwise.screening import concordant_divergence
    >>> concordant_divergence([[1, 9], [2, 4], [3, 1]], [10, 20, 60])
    array([ 0.  , 66.66...])
    >>> concordant_divergence([9, 4, 1], [10, 20, 60], two_sided=True)
    0.0
    """
    covariation, target, single = _covariation(X, y, n_jobs, keys)
    lost = target.lost(covariation, two_sided)
    divergence = lost / target.covariation if normalize else lost * target.unit
    return float(divergence[0]) if single else divergence


def gini_correlation(X: ArrayLike, y: ArrayLike, *, n_jobs: int | None = None) -> float | FloatArray:
    r"""Correlation of the target with the ranks of a feature, relative to that with its own ranks.

    *Definition.* :math:`\Gamma(y, \theta) = \mathrm{cov}(y, R(\theta)) / \mathrm{cov}(y, R(y))` with mid-ranks R. For a
    bivariate normal it is the correlation coefficient.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features) or (n_samples,)
        Features, or one.
    y : array-like of shape (n_samples,)
        Target; at least three values, not all the same.
    n_jobs : int, optional
        Threads, for large X.

    Returns
    -------
    float or ndarray of shape (n_features,)
        From -1 (reverse order) to 1 (same order).

    References
    ----------
    Schechtman, Yitzhaki (1987), A measure of association based on Gini's mean difference.

    Examples
    --------
    >>> from rankwise.screening import gini_correlation
    >>> gini_correlation([1, 3, 2], [10, 20, 60])
    0.2
    """
    covariation, target, single = _covariation(X, y, n_jobs)
    gamma = (covariation / target.covariation).clip(-1.0, 1.0)
    return float(gamma[0]) if single else gamma


def ranking_gain(mean: ArrayLike, score: ArrayLike) -> float:
    r"""How well a score ranks, in units of what is ranked.

    *Definition.* With the rows in order of falling score, :math:`T(r) = \frac{2}{N (N-1)} \sum_{i < i'} (m_{j_i} -
    m_{j_{i'}})`; tied scores count as the mean over their orders. The score that is the mean itself has the highest
    gain, and what another one loses is its `concordant_divergence` from the mean: :math:`T_0(\theta) = T(r_m) -
    T(r_\theta)`.

    Parameters
    ----------
    mean : array-like of shape (n_samples,)
        The conditional means of the target, or the target itself.
    score : array-like of shape (n_samples,)
        Higher = ranked first, as of a regressor.

    Returns
    -------
    float
        Higher is better; 0 for a constant score.

    References
    ----------
    Luo, Li (2024), equation 15; Cossock, Zhang (2006), Subset ranking using regression.

    Examples
    --------
    >>> from rankwise.screening import ranking_gain
    >>> ranking_gain([1, 2, 4, 7], [0, 0, 1, 1])
    2.66...
    """
    wanted = check_target(mean, name="mean", at_least=2)
    given = check_numbers("score", score)
    if given.shape != wanted.shape:
        raise ValueError(f"score has shape {given.shape} and mean {wanted.shape}; give one score per mean")
    columns, _ = check_features(given, len(wanted))
    target = Target.of(wanted)
    return float(score_columns(columns, target).covariation[0] * target.unit)


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
    p_value : ndarray of shape (n_features,)
        Probability of a score at least as large under random permutations, by the normal law.
    adjusted : ndarray of shape (n_features,)
        P-values adjusted by the procedure of Benjamini and Hochberg: features with at most alpha have a false
        discovery rate of alpha.
    features : tuple
        Names of the features: those of the columns of a data frame, else their numbers.
    """

    divergence: FloatArray
    z: FloatArray
    p_value: FloatArray
    adjusted: FloatArray
    features: tuple[Hashable, ...]

    def to_frame(self, backend: str | None = None) -> Any:
        """A data frame with a row per feature: ``feature``, ``divergence``, ``z``, ``p_value`` and ``adjusted``.

        The frame is of pandas by default, else of the named backend ("pandas", "polars" or "pyarrow").
        """
        numbers = {name: getattr(self, name) for name in ("divergence", "z", "p_value", "adjusted")}
        return make_frame({"feature": name_column(self.features)} | numbers, backend)


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
    The variance is exact, the normal law an approximation: for few rows or a heavy-tailed y, p-values below
    about :math:`10^{-3}` are rough.

    Examples
    --------
    >>> import numpy as np
    >>> from rankwise.screening import concordance_test
    >>> x = np.arange(40.0)
    >>> concordance_test(np.column_stack([x, x % 2]), x**3).p_value.round(3)
    array([0.   , 0.783])
    """
    wanted = check_target(y)
    columns, _ = check_features(X, len(wanted))
    target = Target.of(wanted)
    scores = score_columns(columns, target, n_jobs)
    z = target.z(scores.covariation, scores.spread)
    p_value = tail_probability(z, two_sided)
    divergence = target.lost(scores.covariation, two_sided) * target.unit
    # A table of pyarrow has column_names, other frames have columns; the names need not be different.
    names = getattr(X, "column_names", getattr(X, "columns", range(columns.shape[1])))
    return ConcordanceTest(divergence, z, p_value, benjamini_hochberg(p_value), tuple(names))


def rank_classes(X: ArrayLike, *, n_jobs: int | None = None) -> IntArray:
    """Number the features so that those with the same order of the rows, or the reverse, share a number.

    No method that sees only ranks can tell the members of a class apart: x, exp(x) and -x³ are one class. Classes are
    found by a fingerprint, a sum of places with random integer weights, which is equal for equal orders.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Features.
    n_jobs : int, optional
        Threads, for large X.

    Returns
    -------
    ndarray of shape (n_features,)
        Classes, numbered from 0 in the order in which they appear.

    Examples
    --------
    >>> from rankwise.screening import rank_classes
    >>> rank_classes([[1, 1, -1, 5], [2, 8, -8, 7], [3, 27, -27, 6]])
    array([0, 0, 0, 1])
    """
    refuse_non_numeric("X", X)
    values = check_numbers("X", X)
    if not values.size:
        raise ValueError(f"X has shape {values.shape}, so it has no values; give one row and one feature or more")
    columns, _ = check_features(values, len(np.atleast_1d(values)))
    # The target plays no part in fingerprints.
    scores = score_columns(columns, Target.of(np.arange(len(columns), dtype=np.float64)), n_jobs)
    _, first, inverse = np.unique(scores.fingerprint, return_index=True, return_inverse=True)
    number = np.argsort(np.argsort(first))
    return number[inverse]


@dataclass(frozen=True)
class Target:
    r"""A target prepared for scoring: centered, with its own covariation.

    With places :math:`2 R_i - n - 1` for mid-ranks R, the *covariation* of y and a feature is the sum of y times the
    places of the feature; that of y with itself is the sum of :math:`|y_i - y_j|` over all pairs.
    """

    centered: FloatArray
    weights: np.ndarray
    covariation: float

    @classmethod
    @np.errstate(all="ignore")  # NumPy warns of what compiled loops ignore, if Numba is disabled
    def of(cls, y: FloatArray) -> Target:
        """Center first: far from 0 the sums would lose digits."""
        centered = y - y.mean()
        weights = np.random.default_rng(_SEED).integers(-(2**63), 2**63 - 1, len(y), dtype=np.int64)
        space = np.empty(len(y), dtype=np.int64)
        return cls(centered, weights, float(_screening_jit.score_rows(centered[None], space, centered, weights)[0][0]))

    @property
    def unit(self) -> float:
        """The factor from covariations to means over pairs: 2 / (n (n - 1))."""
        n = len(self.centered)
        return 2.0 / (n * (n - 1))

    def lost(self, covariation: FloatArray, two_sided: bool) -> FloatArray:
        """By how much covariations, of the feature or the better of it and its negative, fall short of the highest."""
        agreement = abs(covariation) if two_sided else covariation
        # The two sums are rounded differently: the same order may end at -1e-17.
        return (self.covariation - agreement).clip(min=0.0)

    def z(self, covariation: FloatArray, spread: FloatArray) -> FloatArray:
        """Standard scores under random permutations of y; 0 for constant features."""
        deviation = np.sqrt(self.centered @ self.centered * spread / (len(self.centered) - 1))
        return np.divide(covariation, deviation, out=np.zeros_like(covariation), where=deviation > 0)


@dataclass(frozen=True)
class Scores:
    """Per feature: covariation with the target, fingerprint of the order (up to sign), squared spread of places."""

    covariation: FloatArray
    fingerprint: np.ndarray
    spread: FloatArray


def score_columns(X: FloatArray, target: Target, n_jobs: int | None = None) -> Scores:
    """Scores of the columns of a finite matrix of 64 or 32 bits; the same for every number of threads."""
    from joblib import Parallel, delayed

    check_n_jobs(n_jobs)

    @np.errstate(all="ignore")  # NumPy warns of what compiled loops ignore, if Numba is disabled
    def scores_of(columns: slice) -> tuple[FloatArray, np.ndarray, FloatArray]:
        rows = np.ascontiguousarray(X[:, columns].T)
        space = np.empty(len(X), dtype=np.int64 if X.dtype == np.float64 else np.int32)
        return _screening_jit.score_rows(rows, space, target.centered, target.weights)

    batches = list(gen_batches(X.shape[1], max(1, _BLOCK_CELLS // len(X))))
    if len(batches) == 1:
        return Scores(*scores_of(batches[0]))
    parts = Parallel(n_jobs=n_jobs, prefer="threads")(delayed(scores_of)(columns) for columns in batches)
    return Scores(*(np.concatenate(part) for part in zip(*parts, strict=True)))


def tail_probability(z: FloatArray, two_sided: bool) -> FloatArray:
    """Probability of a standard normal number beyond z, or beyond z in either direction."""
    from scipy.special import ndtr

    return 2 * ndtr(-abs(z)) if two_sided else ndtr(-z)


def benjamini_hochberg(p_value: FloatArray, n_tests: int | None = None) -> FloatArray:
    """Adjusted p-values; ``n_tests`` also counts tests whose larger p-values are not given.

    Those could only lower the adjusted ones, so the result errs on the safe side.
    """
    from scipy.stats import false_discovery_control

    adjusted = np.asarray(false_discovery_control(p_value))
    if n_tests is None:
        return adjusted
    # Each adjusted value is proportional to the number of tests. Streams test billions of expressions, too many to pad
    # the p-values with ones.
    return (adjusted * (n_tests / max(1, len(p_value)))).clip(max=1.0)


def best_of_classes(
    fingerprint: np.ndarray, complexity: IntArray, pearson: FloatArray, *, linear_first: bool = False
) -> IntArray:
    """Indices of the best member of each class: the simplest, then the most linear in the target, then the first.

    With ``linear_first``, linearity counts before simplicity, as a linear model of the members needs it.
    """
    # Rounded, so that copies that differ only by rounding keep their order.
    keys = (-pearson.round(9), complexity) if not linear_first else (complexity, -pearson.round(3))
    order = np.lexsort((np.arange(len(fingerprint)), *keys, fingerprint))
    new = np.ones(len(order), dtype=bool)
    new[1:] = fingerprint[order[1:]] != fingerprint[order[:-1]]
    return np.sort(order[new])


def absolute_pearson(rows: FloatArray, centered_target: FloatArray) -> FloatArray:
    """|Pearson correlation| of each row with a centered target; 0 for constant rows."""
    # Scaled first, because squares of large values would overflow.
    scale = np.abs(rows).max(axis=1, keepdims=True)
    centered = rows / np.where(scale > 0, scale, 1.0)
    centered -= centered.mean(axis=1, keepdims=True)
    length = np.sqrt(np.einsum("ij,ij->i", centered, centered) * (centered_target @ centered_target))
    return np.divide(abs(centered @ centered_target), length, out=np.zeros(len(rows)), where=length > 0)


def _covariation(
    X: ArrayLike, y: ArrayLike, n_jobs: int | None, keys: str = "float64"
) -> tuple[FloatArray, Target, bool]:
    """Covariations of the features, the target, and whether a single feature was given."""
    wanted = check_target(y)
    columns, single = check_features(X, len(wanted), keys=keys)
    target = Target.of(wanted)
    return score_columns(columns, target, n_jobs).covariation, target, single
