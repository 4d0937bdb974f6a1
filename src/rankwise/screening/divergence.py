"""Concordant divergence: how far the order of a feature is from the order of the target, in units of the target."""

from __future__ import annotations

from typing import Literal

from rankwise._typing import ArrayLike, FloatArray
from rankwise._validation import check_numbers
from rankwise.screening._inputs import check_features, check_target
from rankwise.screening.scores import Target, score_columns


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
        To what the values of features are rounded before they are sorted. With "float32" an X of 32 bits is not copied
        to 64; values that agree to some seven digits become ties, each of which counts half.
    n_jobs : int, optional
        Threads, for large X; the result is the same for every number.

    Returns
    -------
    float or ndarray of shape (n_features,)
        Lower is better. 0: orders as y does; G: no relation; 2 G: the reverse order.

    Notes
    -----
    Increasing transformations of a feature change nothing, decreasing ones reflect :math:`T_0` at G: it cannot tell x
    from exp(x). It finds monotone relations alone; that of x and :math:`|x|` on a symmetric range is G, as of
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
    covariation, target, alone = _covariation(X, y, n_jobs, keys)
    if two_sided:
        covariation = abs(covariation)
    # The sums of a feature and of y round apart: an order that agrees may end at -1e-17.
    lost = (target.covariation - covariation).clip(min=0.0)
    divergence = lost / target.covariation if normalize else lost * target.unit
    return float(divergence[0]) if alone else divergence


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
    covariation, target, alone = _covariation(X, y, n_jobs)
    gamma = (covariation / target.covariation).clip(-1.0, 1.0)
    return float(gamma[0]) if alone else gamma


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


def _covariation(
    X: ArrayLike, y: ArrayLike, n_jobs: int | None, keys: str = "float64"
) -> tuple[FloatArray, Target, bool]:
    wanted = check_target(y)
    columns, alone = check_features(X, len(wanted), keys=keys)
    target = Target.of(wanted)
    return score_columns(columns, target, n_jobs).covariation, target, alone
