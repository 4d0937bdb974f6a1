"""Positions in finite numbers, for estimators that refuse NaN and infinity."""

from __future__ import annotations

import numpy as np

from rankwise._typing import ArrayLike, FloatArray
from rankwise.data import Rankings, check_positions
from rankwise.data._input import numeric_matrix

# No place is negative, so that this cannot be taken for one, nor a place that counts from 0 for this.
_MISSING = -1.0


def finite_positions(positions: ArrayLike) -> FloatArray:
    """Positions in finite numbers: missing items become -1, unlisted ones tie in the place after the last listed.

    Gaussian processes, KernelRidge, KernelPCA, Nystroem and SpectralClustering of scikit-learn refuse NaN and infinity
    before a kernel sees them. The kernel objects read -1 as missing; to every kernel, items that tie in the last place
    are the same as unlisted ones. (SVC with a kernel object takes positions as they are.)

    Parameters
    ----------
    positions : array-like of shape (n_rankings, n_items) or Rankings
        1 = best; inf = unlisted, NaN = missing.

    Returns
    -------
    ndarray of shape (n_rankings, n_items), float64

    Examples
    --------
    >>> from rankwise.kernels import finite_positions
    >>> finite_positions([[2, 1, float("inf"), float("nan")]])
    array([[ 2.,  1.,  3., -1.]])
    """
    matrix = check_positions(positions)
    listed = np.where(np.isfinite(matrix), matrix, 0.0)
    finite = np.where(np.isposinf(matrix), listed.max(axis=1, keepdims=True, initial=0.0) + 1, matrix)
    return np.where(np.isnan(finite), _MISSING, finite)


def positions_from_finite(X: ArrayLike, name: str) -> FloatArray:
    """Positions from what `finite_positions` made of them; positions stay as they are."""
    if isinstance(X, Rankings):
        return X.positions
    matrix = numeric_matrix(X, name)
    return check_positions(np.where(matrix == _MISSING, np.nan, matrix), name=name)
