"""Quasi-standard errors: one number for each estimate, from which those of all differences follow; for summaries."""

from __future__ import annotations

import numpy as np

from rankwise._typing import FloatArray, IntArray

# Quasi-variances solve a system of as many equations as there are items, again and again.
_MOST_QUASI = 500
# Quasi-standard errors that are wrong by more than this share are left out.
_MOST_ERROR = 0.25


def quasi_standard_errors(covariance: FloatArray) -> tuple[FloatArray | None, float | None]:
    r"""Quasi-standard errors of estimates, and their worst relative error for differences.

    *Definition.* Quasi-variances :math:`q_i` minimize, with :math:`v_{ij}` the variance of the difference of estimates
    i and j, :math:`\sum_{i < j} (\log(q_i + q_j) - \log v_{ij})^2`. They are exact for three estimates.

    Parameters
    ----------
    covariance : ndarray of shape (n, n)
        Of the estimates, up to a common shift.

    Returns
    -------
    errors : ndarray of shape (n,) or None
        None for fewer than 3 or more than 500 estimates, where they do not exist or take long; NaN where a
        quasi-variance is negative.
    worst : float or None
        The largest relative error of the standard errors of all differences.

    References
    ----------
    Firth, de Menezes (2004), Quasi-variances, Biometrika 91.
    """
    n = len(covariance)
    if not 3 <= n <= _MOST_QUASI:
        return None, None
    variance = covariance.diagonal()
    target = variance[:, np.newaxis] + variance - 2 * covariance
    pairs = ~np.eye(n, dtype=bool)
    if not (target[pairs] > 0).all():
        return None, None
    log_target = np.log(np.where(pairs, target, 1.0))
    # Least squares of q_i + q_j on v_ij starts near the solution.
    sums = np.where(pairs, target, 0.0).sum(axis=1)
    q = (sums - sums.sum() / (2 * (n - 1))) / (n - 2)
    if not (q[:, np.newaxis] + q)[pairs].min() > 0:
        q = np.full(n, target[pairs].mean() / 2)
    loss = np.inf
    for _ in range(100):
        total = np.where(pairs, q[:, np.newaxis] + q, 1.0)
        weight = np.where(pairs, 1.0 / total, 0.0)
        residual = weight * (log_target - np.log(total))
        step = np.linalg.solve(np.diag((weight**2).sum(axis=1)) + weight**2, residual.sum(axis=1))
        before, loss = loss, float(((log_target - np.log(total)) ** 2).sum())
        while not ((q + step)[:, np.newaxis] + q + step)[pairs].min() > 0:
            step /= 2
        if before - loss < 1e-14 * (1.0 + loss) and np.abs(step).max() < 1e-9 * np.abs(q).max():
            break
        q = q + step
    ratio = np.sqrt((q[:, np.newaxis] + q)[pairs] / target[pairs])
    with np.errstate(invalid="ignore"):
        return np.sqrt(q), float(np.abs(ratio - 1).max())


def useful_quasi_errors(covariance: FloatArray) -> tuple[FloatArray | None, float | None]:
    """Quasi-standard errors and their worst error, as `quasi_standard_errors`; None where that is too large to use."""
    errors, worst = quasi_standard_errors(covariance)
    return (None if worst is not None and worst > _MOST_ERROR else errors), worst


def quasi_errors_of_features(compared: FloatArray, shown: IntArray) -> tuple[FloatArray | None, float | None]:
    """Quasi-standard errors of the coefficients of the shown items: item by item all features, then all intercepts."""
    found = [useful_quasi_errors(own) for own in compared]
    worst = [error for _, error in found if error is not None]
    if not worst:
        return None, None
    unknown = np.full(compared.shape[1], np.nan)
    by_item = np.array([unknown if errors is None else errors for errors, _ in found])[:, shown]
    if np.isnan(by_item).all():
        return None, max(worst)
    return np.append(by_item[1:].T.ravel(), by_item[0]), max(worst)
