"""Paired comparisons: the log likelihood of Bradley-Terry with ties and a home effect, with its derivatives.

`BradleyTerry` maximizes it; see `_choice_moments` for rankings.
"""

from __future__ import annotations

import numpy as np

from rankwise._typing import FloatArray
from rankwise.aggregation._comparisons import Comparisons


def log_outcomes(eta: FloatArray, tie_strength: float) -> FloatArray:
    """Log probabilities of first wins, second wins, tie, where ``eta`` is the difference of log worths."""
    with np.errstate(divide="ignore"):
        logs = np.stack([eta / 2, -eta / 2, np.full_like(eta, np.log(tie_strength))])
    logs -= logs.max(axis=0)
    logs -= np.log(np.exp(logs).sum(axis=0))
    return logs


def differences(counts: Comparisons, log_worth: FloatArray, home_effect: float) -> FloatArray:
    return log_worth[counts.first] - log_worth[counts.second] + home_effect * counts.venue


def log_likelihoods(counts: Comparisons, logs: FloatArray) -> FloatArray:
    """Log likelihood of each entry; an outcome that did not occur counts nothing, however improbable."""
    observed = np.stack([counts.first_wins, counts.second_wins, counts.ties])
    return np.multiply(observed, logs, out=np.zeros_like(observed), where=observed > 0).sum(axis=0)


def moments_of_comparisons(
    counts: Comparisons, theta: FloatArray, home: bool, has_ties: bool, with_information: bool
) -> tuple[float, FloatArray, FloatArray]:
    """Log likelihood, gradient and information in (log worths, home effect, log tie strength).

    A comparison scores 1 if the first wins, 1/2 if they tie; the gradient is the score less its mean, along
    the difference of log worths; the information is its variance.
    """
    k, m = len(counts.items), len(theta)
    logs = _log_outcomes_of(counts, theta, home, has_ties)
    value = float(log_likelihoods(counts, logs).sum())
    p_first, _, p_tie = np.exp(logs)
    total = counts.total
    mean = p_first + p_tie / 2
    score = counts.first_wins + counts.ties / 2 - total * mean
    gradient = np.zeros(m)
    gradient[:k] = np.bincount(counts.first, score, k) - np.bincount(counts.second, score, k)
    if home:
        gradient[k] = score @ counts.venue
    if has_ties:
        gradient[-1] = np.sum(counts.ties - total * p_tie)
    if not with_information:
        return value, gradient, np.zeros((0, 0))
    variance, with_tie, of_tie = (
        total * (mean - p_tie / 4 - mean**2),
        total * p_tie * (0.5 - mean),
        total * p_tie * (1 - p_tie),
    )
    return value, gradient, _along_differences(counts, m, variance, with_tie, of_tie, home, has_ties)


def squares_of_comparisons(counts: Comparisons, theta: FloatArray, home: bool, has_ties: bool) -> FloatArray:
    """Sum of the squared scores, in the parameters of `moments_of_comparisons`; ``counts`` are squared weights."""
    p_first, _, p_tie = np.exp(_log_outcomes_of(counts, theta, home, has_ties))
    score = np.array([[1.0], [0.0], [0.5]]) - (p_first + p_tie / 2)
    tie = np.array([[0.0], [0.0], [1.0]]) - p_tie
    weights = np.stack([counts.first_wins, counts.second_wins, counts.ties])
    variance, with_tie, of_tie = ((weights * product).sum(axis=0) for product in (score**2, score * tie, tie**2))
    return _along_differences(counts, len(theta), variance, with_tie, of_tie, home, has_ties)


def _log_outcomes_of(counts: Comparisons, theta: FloatArray, home: bool, has_ties: bool) -> FloatArray:
    k = len(counts.items)
    home_effect = float(theta[k]) if home else 0.0
    tie_strength = float(np.exp(theta[-1])) if has_ties else 0.0
    return log_outcomes(differences(counts, theta[:k], home_effect), tie_strength)


def _along_differences(
    counts: Comparisons,
    m: int,
    variance: FloatArray,
    with_tie: FloatArray,
    of_tie: FloatArray,
    home: bool,
    has_ties: bool,
) -> FloatArray:
    """The (m, m) matrix of the parameters, from variances of the entries.

    Of each entry: that along the difference of its log worths, its covariance with the log tie strength, and the
    variance of that.
    """
    k = len(counts.items)
    information = np.zeros((m, m))
    np.add.at(information, (counts.first, counts.second), -variance)
    information += information.T
    information[np.diag_indices(k)] -= information[:k, :k].sum(axis=1)
    if home:
        along = variance * counts.venue
        _set_border(information, k, counts, along)
        information[k, k] = along @ counts.venue
    if has_ties:
        _set_border(information, m - 1, counts, with_tie)
        information[-1, -1] = of_tie.sum()
        if home:
            information[k, -1] = information[-1, k] = with_tie @ counts.venue
    return information


def _set_border(information: FloatArray, at: int, counts: Comparisons, along: FloatArray) -> None:
    """Fill the row and column ``at`` of a parameter other than the worths, given its covariance with each score."""
    k = len(counts.items)
    border = np.bincount(counts.first, along, k) - np.bincount(counts.second, along, k)
    information[at, :k] = information[:k, at] = border
