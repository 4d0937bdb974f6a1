"""Calibration of pairwise probabilities: one number that makes them bolder or more careful.

Used by the rankers that know what they say of rows that they have not seen: forests out of bag, stacks out of fold.
"""

from __future__ import annotations

import numpy as np

from rankwise._typing import FloatArray

# A share of 0 or 1 counts as this far from it before odds are taken: that all trees agree is not certainty.
_MARGIN = 0.0025
# Pairs, and rows, that are enough to find the slope.
_MOST_PAIRS = 1 << 17
_FEWEST_ROWS, _MOST_ROWS = 50, 2_000
# Classes of log odds that are enough for it.
_MOST_CLASSES = 2_000
# Standard deviation of the logarithm of the slope before any row was seen, and the range that is searched.
_PRIOR_DEVIATION = 2.0
_LARGEST_LOG_SLOPE = 4.0


def calibrated(shares: FloatArray, slope: float | None) -> FloatArray:
    r"""Probabilities of pairs from shares of votes for them.

    *Definition.* :math:`\sigma(a \cdot \mathrm{logit}\, s)` with the slope a, of shares s that are first moved a little
    towards 1/2. The map increases, and takes 1 - s to 1 - p and 1/2 to itself: what is likelier stays so.

    Parameters
    ----------
    shares : ndarray
        Between 0 and 1.
    slope : float or None
        Positive; None leaves the shares as they are.

    Returns
    -------
    ndarray
    """
    if slope is None:
        return shares
    return 0.5 + 0.5 * np.tanh(slope * _half_log_odds(shares))


def calibration_slope(shares: FloatArray, truth: FloatArray, weights: FloatArray) -> float | None:
    r"""The slope of `calibrated` with the largest likelihood.

    Pairs of a row depend on each other, so that all of them count as one observation. A normal prior of the logarithm
    of the slope, around 0, keeps it finite where every pair comes out as predicted.

    Parameters
    ----------
    shares : ndarray of shape (n_rows, n_pairs)
        Shares of votes for i before j, of rows that the voters have not seen; NaN if there are none.
    truth : ndarray of shape (n_rows, n_pairs)
        1, 1/2 or 0 by the rankings; NaN where they do not compare.
    weights : ndarray of shape (n_rows,)
        Weights of the rows; only their ratios count.

    Returns
    -------
    float or None
        None if there is nothing to learn from.
    """
    found = slope_and_loss(shares, truth, weights)
    return None if found is None else found[0]


def slope_and_loss(shares: FloatArray, truth: FloatArray, weights: FloatArray) -> tuple[float, float] | None:
    """The slope of `calibration_slope`, and the mean loss per row, and prior, that is left with it."""
    from scipy.optimize import minimize_scalar

    known = ~(np.isnan(shares) | np.isnan(truth))
    if not known.any():
        return None
    n_rows = int(known.any(axis=1).sum())
    half_odds, signs = _half_log_odds(shares[known]), 2.0 * truth[known] - 1.0
    mass = np.broadcast_to(weights[:, np.newaxis], known.shape)[known]
    mass = mass * (n_rows / mass.sum())
    # With z half the log odds and v the truth, -v log p - (1 - v) log(1 - p) is
    # a |z| + log(1 + exp(-2 a |z|)) - (2 v - 1) a z.
    agree = float(mass @ (signs * half_odds))
    size, mass = _in_classes(np.abs(half_odds), mass)

    def cost(log_slope: float) -> float:
        slope = np.exp(log_slope)
        spread = slope * float(mass @ size) + float(mass @ np.log1p(np.exp(-2.0 * slope * size)))
        return float(spread - slope * agree + 0.5 * (log_slope / _PRIOR_DEVIATION) ** 2)

    bounds = (-_LARGEST_LOG_SLOPE, _LARGEST_LOG_SLOPE)
    found = minimize_scalar(cost, bounds=bounds, method="bounded", options={"xatol": 1e-6})
    return float(np.exp(found.x)), float(found.fun) / n_rows


def _in_classes(size: FloatArray, mass: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Means and masses of classes of numbers that are nearly equal, where there are many numbers."""
    if len(size) <= _MOST_CLASSES:
        return size, mass
    number = (size * ((_MOST_CLASSES - 1) / max(float(size.max()), 1e-300))).astype(np.intp)
    masses = np.bincount(number, mass).astype(np.float64, copy=False)
    kept = masses > 0
    return np.bincount(number, mass * size)[kept] / masses[kept], masses[kept]


def slope_of_more_votes(
    halves: tuple[FloatArray, FloatArray], truth: FloatArray, weights: FloatArray, unseen: float
) -> float | None:
    r"""The slope for shares of all votes, from those of the voters that have not seen a row.

    Shares of few votes are noisier, and ask for a smaller slope. The logarithm of the slope is taken to be linear in
    one over the number of votes: known for a half of the unseen voters, and for all of them.

    Parameters
    ----------
    halves : pair of ndarrays of shape (n_rows, n_pairs)
        Shares by either half of the voters, as in `calibration_slope`.
    truth, weights : ndarrays
        As in `calibration_slope`.
    unseen : float
        Which part of the voters have not seen a row, on the average.

    Returns
    -------
    float or None
    """
    first, second = halves
    either = np.where(np.isnan(first), second, np.where(np.isnan(second), first, 0.5 * (first + second)))
    slope = calibration_slope(either, truth, weights)
    of_half = calibration_slope(np.concatenate(halves), np.concatenate([truth, truth]), np.tile(weights, 2))
    if slope is None or of_half is None:
        return slope
    return slope * (slope / of_half) ** (1.0 - unseen)


def rows_to_calibrate(n_rows: int, n_pairs: int, rng: np.random.Generator) -> np.ndarray:
    """Rows that are enough to find the slope, in ascending order."""
    enough = min(max(_MOST_PAIRS // n_pairs, _FEWEST_ROWS), _MOST_ROWS)
    return np.arange(n_rows) if enough >= n_rows else np.sort(rng.choice(n_rows, enough, replace=False))


def _half_log_odds(shares: FloatArray) -> FloatArray:
    """Half of logit(s), of shares moved towards 1/2; exactly 0 for 1/2."""
    # Means of shares may lie a rounding error outside of [0, 1].
    return np.arctanh(np.clip(2.0 * shares - 1.0, -1.0, 1.0) * (1.0 - 2.0 * _MARGIN))
