r"""One stage of a Mallows ranking, and the equation for theta: used by the Mallows models and their laws.

A ranking is chosen place by place. With s items left, in the order of the center, the item with v items before it is
chosen with probability :math:`e^{-\theta v} / \psi_s(\theta)`, v = 0, ..., s - 1: a truncated geometric distribution.
The sum of the displacements v over the stages s = k, k - 1, ..., 2 is the Kendall distance to the center.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from rankwise._typing import ArrayLike, FloatArray

# Below this theta s, the closed forms subtract nearly equal numbers, and five terms of their series are exact.
_SERIES_BELOW = 0.3
# Newton's steps are safeguarded by a bracket that halves at least every other step. They need half as many moments as
# Brent's method does, and a moment may take a second (Spearman's distance).
_MOST_STEPS = 200


def log_normalizers(theta: ArrayLike, sizes: ArrayLike) -> FloatArray:
    r"""Logarithm of :math:`\psi_s = (1 - e^{-\theta s}) / (1 - e^{-\theta})`, from log s at 0 to 0 at infinity."""
    theta, sizes = _broadcast(theta, sizes)
    spread = theta > 0
    result = np.log(sizes)
    result[spread] = np.log(np.expm1(-theta[spread] * sizes[spread]) / np.expm1(-theta[spread]))
    return result


def means(theta: ArrayLike, sizes: ArrayLike) -> FloatArray:
    """Mean displacement of a stage, from (s - 1)/2 at theta = 0 to 0 at infinity."""
    theta, sizes = _broadcast(theta, sizes)
    near = theta * sizes < _SERIES_BELOW
    far = ~near
    result = np.empty_like(theta)
    t, s = theta[near], sizes[near]
    result[near] = (
        (s - 1) / 2
        - t * (s**2 - 1) / 12
        + t**3 * (s**4 - 1) / 720
        - t**5 * (s**6 - 1) / 30240
        + t**7 * (s**8 - 1) / 1209600
    )
    t, s = theta[far], sizes[far]
    result[far] = np.exp(-t) / -np.expm1(-t) - s * np.exp(-t * s) / -np.expm1(-t * s)
    return result


def variances(theta: ArrayLike, sizes: ArrayLike) -> FloatArray:
    """Variance of the displacement of a stage, from (s^2 - 1)/12 at theta = 0 to 0 at infinity."""
    theta, sizes = _broadcast(theta, sizes)
    near = theta * sizes < _SERIES_BELOW
    far = ~near
    result = np.empty_like(theta)
    t, s = theta[near], sizes[near]
    result[near] = (
        (s**2 - 1) / 12
        - t**2 * (s**4 - 1) / 240
        + t**4 * (s**6 - 1) / 6048
        - t**6 * (s**8 - 1) / 172800
        + t**8 * (s**10 - 1) / 5322240
    )
    t, s = theta[far], sizes[far]
    result[far] = np.exp(-t) / np.expm1(-t) ** 2 - s**2 * np.exp(-t * s) / np.expm1(-t * s) ** 2
    return result


def solve_theta(moments: Callable[[float], tuple[float, float]], target: float, *, tolerance: float = 1e-12) -> float:
    """Theta at which a mean, which decreases in theta, reaches its target.

    Parameters
    ----------
    moments : callable
        Mean at theta, and the variance there: minus the derivative of the mean.
    target : float
        The desired mean. The result is 0 if it is at least the mean of the uniform distribution, and infinite if it
        is 0 or less.
    tolerance : float, default=1e-12
        Relative precision of theta.

    Returns
    -------
    float
    """
    if not target > 0:
        return np.inf
    mean, variance = moments(0.0)
    if mean <= target or not variance > 0:
        return 0.0
    low, high = 0.0, np.inf
    theta = (mean - target) / variance
    for _ in range(_MOST_STEPS):
        mean, variance = moments(theta)
        if mean == target:
            break
        low, high = (theta, high) if mean > target else (low, theta)
        # The mean decays like exp(-theta), so Newton's step on its logarithm is nearly exact far out.
        step = mean * np.log(mean / target) / variance if variance > 0 and mean > 0 else np.nan
        following = theta + step
        if not low < following < high:
            following = 2 * theta if high == np.inf else (low + high) / 2
        moved, theta = abs(following - theta), following
        if moved <= tolerance * theta:
            break
    return float(theta)


def _broadcast(theta: ArrayLike, sizes: ArrayLike) -> tuple[FloatArray, FloatArray]:
    first, second = np.broadcast_arrays(np.asarray(theta, dtype=np.float64), np.asarray(sizes, dtype=np.float64))
    return np.atleast_1d(first).astype(np.float64), np.atleast_1d(second).astype(np.float64)
