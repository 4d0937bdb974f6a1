"""Tests of parameter instability: do the scores of a fitted model drift along a feature? `PlackettLuceTree` asks.

If one model holds for everybody, the sum of the scores up to a value of a feature is a Brownian bridge, up to its
scale. Its square at one cut, divided by its variance, is the Lagrange multiplier (LM) statistic of a split there; the
largest of them is judged against the law of the largest square of a bridge. In the time u = log(t / (1 - t)) / 2 the
scaled bridge is a stationary Ornstein-Uhlenbeck process, whose norm is a diffusion in one dimension: so the law is
computed here, to more digits than any table of it has.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rankwise._typing import BoolArray, FloatArray, IntArray

# Up to so many cuts, the largest statistic is judged among just these; beyond, by the law of a continuous feature.
_MOST_SINGLE_CUTS = 12
_CELLS = 50
_NODES = 100
# Two cuts that are closer than this in the time of the process count as one.
_SHORTEST_STEP = 0.006
# A process seen at steps of variance v stays below its maximum by this times the root of v, on average.
_MISSED_BETWEEN = 0.5826
# Below this, 1 - P(never above) loses its digits, and the law of the tail takes over.
_SMALLEST_P = 1e-9


class Scores(NamedTuple):
    """Scores of people, as independent coordinates of variance 1.

    Attributes
    ----------
    values : ndarray of shape (n, k)
        The scores.
    weight, variance : ndarrays of shape (n,)
        By what each counts in a sum, and in the variance of that sum: the weight where weights count people, its square
        where they are survey weights.
    """

    values: FloatArray
    weight: FloatArray
    variance: FloatArray


class Instability(NamedTuple):
    """The result of one test: the statistic, and the logarithm of its p-value."""

    statistic: float
    log_p: float


def standardized_scores(scores: FloatArray, weight: FloatArray, *, people: bool) -> Scores:
    """Scores as independent coordinates of variance 1; directions in which they do not vary are dropped."""
    variance = weight if people else weight**2
    centered = scores - weight @ scores / weight.sum()
    values, vectors = np.linalg.eigh((variance[:, None] * centered).T @ centered / variance.sum())
    kept = values > 1e-9 * max(values[-1], 1e-300)
    return Scores(np.ascontiguousarray(centered @ (vectors[:, kept] / np.sqrt(values[kept]))), weight, variance)


def cut_statistics(scores: Scores, order: IntArray, ends: IntArray) -> tuple[FloatArray, FloatArray]:
    """LM statistic of the cuts after ``order[ends]``, and the share of the weight before each."""
    weight, variance = scores.weight[order], scores.variance[order]
    sums = np.cumsum(weight[:, None] * scores.values[order], axis=0)
    up_to, spread = np.cumsum(weight), np.cumsum(variance)
    share = up_to[ends] / up_to[-1]
    bridge = sums[ends] - share[:, None] * sums[-1]
    scale = spread[ends] * (1 - share) ** 2 + (spread[-1] - spread[ends]) * share**2
    return (bridge**2).sum(axis=1) / scale, share


def ordered_test(scores: Scores, order: IntArray, ends: IntArray) -> Instability:
    """Test along a number or an ordered category: the largest LM statistic of the given cuts."""
    k = scores.values.shape[1]
    if len(ends) == 0 or k == 0:
        return Instability(np.nan, np.nan)
    statistics, share = cut_statistics(scores, order, ends)
    largest = float(statistics.max())
    if len(ends) <= _MOST_SINGLE_CUTS:
        return Instability(largest, log_p_of_cuts(largest, k, share))
    time = np.log(share / (1 - share)) / 2
    length = float(time[-1] - time[0])
    # Between two cuts a continuous process would have risen higher (Siegmund's correction).
    missed = _MISSED_BETWEEN * np.sqrt(2 * length / (len(ends) - 1))
    return Instability(largest, log_p_of_range((np.sqrt(largest) + missed) ** 2, k, length))


def nominal_test(scores: Scores, level: IntArray, n_levels: int) -> Instability:
    """Test of categories without an order: the chi-square LM statistic of a model for each."""
    k = scores.values.shape[1]
    if n_levels < 2 or k == 0:
        return Instability(np.nan, np.nan)
    sums = level_sums(scores, level, n_levels)
    statistic = float((sums.values**2 / sums.variance[:, None]).sum())
    precision = sums.weight / sums.variance
    statistic -= float(((precision @ sums.values) ** 2).sum() / (precision @ sums.weight))
    return Instability(statistic, _log_chi2(statistic, k * (n_levels - 1)))


def level_sums(scores: Scores, level: IntArray, n_levels: int) -> Scores:
    """Sums over the people of each category: of their scores, weights and variances."""
    one_hot = np.zeros((n_levels, len(level)))
    one_hot[level, np.arange(len(level))] = 1.0
    return Scores(
        one_hot @ (scores.weight[:, None] * scores.values), one_hot @ scores.weight, one_hot @ scores.variance
    )


def partition_statistics(sums: Scores, partitions: BoolArray) -> FloatArray:
    """LM statistic of splits of categories; a row of ``partitions`` says which go left."""
    inside = partitions.astype(float)
    share = inside @ sums.weight / sums.weight.sum()
    bridge = inside @ sums.values - share[:, None] * sums.values.sum(axis=0)
    left = inside @ sums.variance
    scale = left * (1 - share) ** 2 + (sums.variance.sum() - left) * share**2
    return (bridge**2).sum(axis=1) / scale


def log_p_of_range(x: float, k: int, length: float) -> float:
    r"""Log probability that a stationary Ornstein-Uhlenbeck process of k dimensions has a squared norm above x.

    *Definition.* Of the scaled bridge from t = a to t = b, this is the probability that the squared norm of the bridge
    exceeds x t (1 - t) somewhere, with ``length`` :math:`\tfrac12 \log \tfrac{b (1 - a)}{a (1 - b)}`. The norm r is
    a diffusion with the generator :math:`f'' + ((k - 1) / r - r) f'`; the probability to stay below
    :math:`\sqrt{x}` is a sum over its eigenvalues, found on a grid and extrapolated from two step sizes.
    """
    from scipy.stats import chi2

    if chi2.cdf(x, k) < 1e-10:
        return 0.0
    if x > 2 * k + 20 and _log_tail(x, k, length) < np.log(_SMALLEST_P):
        return _log_tail(x, k, length)
    p = (4 * _exceeds(x, k, length, 2 * _CELLS) - _exceeds(x, k, length, _CELLS)) / 3
    return float(np.log(min(p, 1.0)))


def log_p_of_cuts(x: float, k: int, share: FloatArray) -> float:
    """The same for the bridge at finitely many t: the Markov chain of the norm, integrated from t to t."""
    from scipy.stats import chi2, ncx2

    if len(share) == 1:
        return _log_chi2(x, k)
    if chi2.cdf(x, k) < 1e-10:
        return 0.0
    time = np.log(share / (1 - share)) / 2
    # So far out, exceedances at different cuts hardly overlap, and those at all t are no fewer.
    bound = _log_chi2(x, k) + float(np.log(len(share)))
    if bound < np.log(_SMALLEST_P):
        return min(bound, _log_tail(x, k, float(time[-1] - time[0])))
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    r = np.sqrt(x) * (nodes + 1) / 2
    width = np.sqrt(x) * weights / 2
    stays = 2 * r * chi2.pdf(r**2, k)
    last = time[0]
    for now in time[1:]:
        if now - last < _SHORTEST_STEP:
            continue
        rho_2 = np.exp(-2 * (now - last))
        moves = ncx2.pdf(r[:, None] ** 2 / (1 - rho_2), k, rho_2 * r[None, :] ** 2 / (1 - rho_2))
        stays = 2 * r / (1 - rho_2) * (moves @ (width * stays))
        last = now
    p = 1 - float(width @ stays)
    return min(float(np.log(np.clip(p, 1e-300, 1.0))), bound) if p < 0.01 else float(np.log(min(p, 1.0)))


def _exceeds(x: float, k: int, length: float, n_cells: int) -> float:
    from scipy.linalg import eigh_tridiagonal
    from scipy.special import gammainc, gammaincc, gammaincinv, gammaln

    low, high = np.sqrt(2 * gammaincinv(k / 2, 1e-14)), np.sqrt(x)
    faces = np.linspace(low, high, n_cells + 1)
    below, above = gammainc(k / 2, faces**2 / 2), gammaincc(k / 2, faces**2 / 2)
    mass = np.where(below[1:] < 0.5, np.diff(below), -np.diff(above))
    with np.errstate(divide="ignore"):
        density = np.exp((k - 1) * np.log(faces) - faces**2 / 2 - (k / 2 - 1) * np.log(2) - gammaln(k / 2))
    flux = density / (faces[1] - faces[0])
    flux[0], flux[-1] = 0.0, 2 * flux[-1]  # nothing leaves below; above, the wall is half a cell away
    diagonal = (flux[:-1] + flux[1:]) / mass
    beside = -flux[1:-1] / np.sqrt(mass[:-1] * mass[1:])
    rates, modes = eigh_tridiagonal(diagonal, beside)
    share = (np.sqrt(mass) @ modes) ** 2
    # 1 - the sum of shares that stay, without the cancellation of nearly equal numbers
    return float(above[-1] + below[0] - share @ np.expm1(-rates * length))


def _log_chi2(x: float, k: int) -> float:
    """Log probability of the chi-square law above x, also where the probability underflows."""
    from scipy.special import gammaln
    from scipy.stats import chi2

    log_p = float(chi2.logsf(x, k))
    if np.isfinite(log_p):
        return log_p
    return float((k / 2 - 1) * np.log(x / 2) - x / 2 - gammaln(k / 2))


def _log_tail(x: float, k: int, length: float) -> float:
    """The tail of the law for a large x, after Estrella (2003)."""
    from scipy.special import gammaln

    expected = max(2 * length * (1 - k / x) + 2 / x, 1e-300)
    return float(min(0.0, k / 2 * np.log(x / 2) - x / 2 - gammaln(k / 2) + np.log(expected)))
