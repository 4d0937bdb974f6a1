"""Distributions of rankings that agree with pairwise probabilities: projections on Plackett-Luce and Mallows laws.

Label rankers predict how probably one item comes before another; many distributions of rankings have such shares, and
for some shares there is none. `LabelRankerMixin` samples from the nearest law of a family, and tells from it how
probably an item is among the first.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np

from rankwise._typing import FloatArray, RandomState
from rankwise._validation import check_choice, check_generator, check_whole_number
from rankwise.label_ranking import _predictive_jit

#: families of distributions of rankings
Law: TypeAlias = Literal["plackett-luce", "mallows"]

LAWS = ("plackett-luce", "mallows")
# Shares of 0 and 1, as those of a few trees, would mean infinite worths.
_SMALLEST_SHARE = 1e-6
_MOST_STEPS = 100
_TOLERANCE = 1e-11
_LARGEST_THETA = 40.0
# Numbers of sampled rankings that may be asked for at once: 800 MB, and as much again twice while they are sorted.
_MOST_CELLS = 100_000_000


def worths_from_pairwise(pairwise: FloatArray) -> FloatArray:
    r"""Log worths of the Plackett-Luce laws that are nearest to pairwise probabilities.

    *Definition.* u maximizes :math:`\sum_{i \ne j} P_{ij} \log \sigma(u_i - u_j)`, the log likelihood of the
    probabilities. At the maximum :math:`\sum_j \sigma(u_i - u_j) = \sum_j P_{ij}`: the law has the expected places of
    the probabilities, and if these are those of a Plackett-Luce law, it is that law. Shares beyond 1 - 1e-6 count as
    that.

    Parameters
    ----------
    pairwise : ndarray of shape (n_rows, n_items, n_items)
        Probabilities of i before j.

    Returns
    -------
    ndarray of shape (n_rows, n_items)
        Log worths, higher = better, of mean 0.
    """
    from scipy.special import expit

    n, k = pairwise.shape[:2]
    beside = 1.0 - np.eye(k)
    wins = (np.clip(pairwise, _SMALLEST_SHARE, 1 - _SMALLEST_SHARE) * beside).sum(axis=2)
    mean = wins / max(k - 1, 1)
    worth = np.log(mean) - np.log1p(-mean)
    worth -= worth.mean(axis=1, keepdims=True)
    active = np.arange(n)
    for _ in range(_MOST_STEPS):
        shares = expit(worth[active, :, None] - worth[active, None, :])
        gradient = wins[active] - (shares * beside).sum(axis=2)
        left = np.abs(gradient).max(axis=1) > _TOLERANCE
        active, shares, gradient = active[left], shares[left], gradient[left]
        if not len(active):
            break
        slopes = shares * (1 - shares) * beside
        information = -slopes
        information[:, np.arange(k), np.arange(k)] = slopes.sum(axis=2)
        scale = information[:, np.arange(k), np.arange(k)].mean(axis=1) / k
        step = np.linalg.solve(information + scale[:, None, None], gradient[:, :, None])[:, :, 0]
        # Steps shortened like this converge from everywhere (Bach 2010, on functions like the logistic loss).
        length = np.sqrt(2) * np.linalg.norm(step, axis=1, keepdims=True)
        worth[active] += step * np.log1p(length) / length
    return worth - worth.mean(axis=1, keepdims=True)


def theta_from_pairwise(pairwise: FloatArray, centers: FloatArray) -> FloatArray:
    """Concentrations of the Mallows laws around centers that have the expected Kendall distance of the probabilities.

    0, where the probabilities are farther from the center than a uniform law is; at most 40, where they are certain.
    """
    k = centers.shape[1]
    behind = centers[:, :, None] > centers[:, None, :]
    target = (pairwise * behind).sum(axis=(1, 2))
    low, high = np.zeros(len(centers)), np.full(len(centers), _LARGEST_THETA)
    for _ in range(80):
        middle = (low + high) / 2
        too_far = _expected_distance(middle, k) > target
        low, high = np.where(too_far, middle, low), np.where(too_far, high, middle)
    return np.where(target >= k * (k - 1) / 4, 0.0, (low + high) / 2)


def _expected_distance(theta: FloatArray, k: int) -> FloatArray:
    """Mean Kendall distance of a Mallows law from its center: the sum of k truncated geometric laws."""
    q = np.exp(-theta)[:, None]
    total = np.zeros(len(theta))
    for j in range(2, k + 1):
        weights = q ** np.arange(j)[None, :]
        total += (weights * np.arange(j)).sum(axis=1) / weights.sum(axis=1)
    return total


def sample_rows(law: Law, parameters: tuple[FloatArray, ...], n: int, random_state: RandomState) -> FloatArray:
    """N rankings for each row of log worths, or of centers and concentrations: (n_rows, n, n_items) positions."""
    check_choice("law", law, LAWS)
    check_whole_number("n", n, at_least=0)
    rng = check_generator(random_state, "sample_rankings")
    n_rows, k = parameters[0].shape
    if n_rows * n * k > _MOST_CELLS:
        raise ValueError(
            f"{n_rows:,} rows with {n:,} rankings of {k:,} items are {n_rows * n * k:,} numbers, more than "
            f"{_MOST_CELLS:,}; ask for fewer rankings, or for some rows at a time"
        )
    if law == "plackett-luce":  # worths with Gumbel noise, sorted
        (log_worth,) = parameters
        values = log_worth[:, None, :] + rng.gumbel(size=(n_rows, n, k))
        return np.argsort(np.argsort(-values, axis=2), axis=2).astype(np.float64) + 1.0
    centers, theta = parameters
    uniforms = rng.random((n_rows * n, k))
    return _predictive_jit.mallows_sample(centers - 1, theta, uniforms).reshape(n_rows, n, k)


def top_of_rows(law: Law, parameters: tuple[FloatArray, ...], k: int) -> FloatArray:
    """Probability of each item among the first k, for each row of such parameters."""
    check_choice("law", law, LAWS)
    check_whole_number("k", k, at_least=1)
    if k > parameters[0].shape[1]:
        raise ValueError(f"k is {k}, but there are only {parameters[0].shape[1]} items")
    if law == "plackett-luce":
        (log_worth,) = parameters
        return plackett_luce_top(log_worth, k)
    centers, theta = parameters
    return mallows_top(centers, theta, k)


def plackett_luce_top(log_worth: FloatArray, k: int) -> FloatArray:
    """Probability of each item among the first k, for each row of log worths."""
    if k == 1:
        weights = np.exp(log_worth - log_worth.max(axis=1, keepdims=True))
        return weights / weights.sum(axis=1, keepdims=True)
    return _predictive_jit.plackett_luce_top(np.ascontiguousarray(log_worth), k)


def mallows_top(centers: FloatArray, theta: FloatArray, k: int) -> FloatArray:
    """Probability of each item among the first k, for each center and concentration."""
    return _predictive_jit.mallows_top(np.ascontiguousarray(centers - 1), theta, k)
