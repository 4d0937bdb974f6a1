"""The rows that a level tree sees: some rows or queries at random, or those with the largest gradients."""

from __future__ import annotations

import numpy as np

from rankwise._typing import FloatArray, IntArray


def sampled(
    kind: str, share: float, bounds: IntArray, gradient: FloatArray, hessian: FloatArray, rng: np.random.Generator
) -> tuple[IntArray, FloatArray, FloatArray]:
    """Rows that a tree sees, and the derivatives that it sees of them.

    Parameters
    ----------
    kind : {"rows", "queries", "minimal_variance"}
        What is drawn.
    share : float
        Share of the rows or queries; 1 is all.
    bounds : ndarray of shape (n_queries + 1,)
        Query ``q`` owns rows ``bounds[q]`` to ``bounds[q + 1]``.
    gradient, hessian : ndarray of shape (n_rows,)
        First and second derivatives.
    rng : Generator
        Draws the sample.

    Returns
    -------
    rows : ndarray
        Numbers of the rows, in order.
    gradient, hessian : ndarray of shape (n_rows,)
        The derivatives, divided by the probability of a row where it is not the same for all.
    """
    n = len(gradient)
    if share == 1:
        return np.arange(n), gradient, hessian
    if kind == "rows":
        return choice(n, share, rng), gradient, hessian
    if kind == "queries":
        is_drawn = np.zeros(len(bounds) - 1, dtype=bool)
        is_drawn[choice(len(is_drawn), share, rng)] = True
        return np.flatnonzero(np.repeat(is_drawn, np.diff(bounds))), gradient, hessian
    probability = minimal_variance(gradient, hessian, share)
    rows = np.flatnonzero(rng.random(n) < probability)
    if not len(rows):
        rows = np.array([np.argmax(probability)])
    weight = np.zeros(n)
    weight[rows] = 1 / probability[rows]
    return rows, gradient * weight, hessian * weight


def choice(n: int, share: float, rng: np.random.Generator) -> IntArray:
    """A share of the numbers below n, at least one, in ascending order."""
    if share == 1:
        return np.arange(n)
    return np.sort(rng.permutation(n)[: max(1, round(share * n))])


def minimal_variance(gradient: FloatArray, hessian: FloatArray, share: float) -> FloatArray:
    r"""Probabilities of rows that make the variance of the sums in leaves small.

    *Definition.* :math:`p_i = \min(1, \sqrt{g_i^2 + \lambda h_i^2} / \mu)`, with :math:`\mu` such that the mean of p is
    the share, and :math:`\sqrt\lambda` the ratio of the means of :math:`|g|` and h, so that both have a say.

    References
    ----------
    Ibragimov and Gusev (2019), Minimal variance sampling in stochastic gradient boosting.
    """
    mean_hessian = np.mean(hessian)
    scale = np.mean(np.abs(gradient)) / mean_hessian if mean_hessian > 0 else 0.0
    size = np.hypot(gradient, scale * hessian)
    wanted = share * len(size)
    if np.count_nonzero(size) <= wanted:
        return (size > 0).astype(np.float64) if size.any() else np.ones(len(size))
    falling = np.sort(size)[::-1]
    # With the j largest certain, the threshold is what the others have to share.
    rest = np.cumsum(falling[::-1])[::-1]
    certain = np.arange(int(np.ceil(wanted)))
    thresholds = rest[certain] / (wanted - certain)
    return np.minimum(1.0, size / thresholds[np.argmax(falling[certain] <= thresholds)])
