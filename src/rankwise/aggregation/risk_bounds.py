"""What is known of a median before it is seen: bounds on the risk of medians of samples and of approximations."""

from __future__ import annotations

import numpy as np

from rankwise._arguments import check_whole_number
from rankwise._typing import ArrayLike
from rankwise.aggregation.statistics import is_stochastically_transitive, noise_margin, pair_probabilities


def median_risk_bound(n_items: int, h: float, n_rankings: int, delta: float | None = None) -> float:
    r"""Bound the excess risk of the median of a sample.

    *Definition.* Let N full rankings be drawn independently from a law that is strictly stochastically transitive with
    noise margin at least h, and take the median of the sample if the sample is strictly stochastically transitive, any
    ranking else. With k items, its risk L under the law satisfies

    .. math:: E[L - L^*] \le \frac{k^2 (k-1)^2}{8} \exp\left(-\frac{N}{2} \log \frac{1}{1 - 4 h^2}\right)
              = \frac{k^2 (k-1)^2}{8} (1 - 4 h^2)^{N/2}.

    With ``delta``, the bound holds with probability at least :math:`1 - \delta`: it is 0 if
    :math:`\frac{k(k-1)}{2} (1 - 4h^2)^{N/2} \le \delta`, as then the sample orders every pair like the law and the
    median is the true one, and the bound above divided by :math:`\delta` (Markov) else.

    Parameters
    ----------
    n_items : int
        k, at least 2.
    h : float
        Noise margin of the law, above 0 and at most 1/2; see `noise_margin`.
    n_rankings : int
        N, at least 1.
    delta : float, optional
        Accepted probability of failure, between 0 and 1. By default the bound is on the expectation.

    Returns
    -------
    float
        No excess is larger than k (k - 1) / 2; a bound above that says nothing.

    Notes
    -----
    Theorem 3 of the reference prints the bound on the expectation as one that holds with probability
    :math:`1 - \delta` for every :math:`\delta`. That cannot be: an excess is 0 or at least 2h, so a bound below 2h
    would make the median of any sample the true one for certain.

    References
    ----------
    Clémençon, Korba, Sibony (2018), Ranking median regression: learning to order through local consensus, theorem 3.
    Korba, Clémençon, Sibony (2017), A learning theory of ranking aggregation, AISTATS, proposition 14.

    Examples
    --------
    >>> from rankwise.aggregation.risk_bounds import median_risk_bound
    >>> round(median_risk_bound(n_items=5, h=0.2, n_rankings=100), 4)
    0.0082
    """
    check_whole_number("n_items", n_items, at_least=2)
    check_whole_number("n_rankings", n_rankings, at_least=1)
    if not 0 < h <= 0.5:
        raise ValueError(f"h is {h}, but a noise margin lies above 0 and is at most 1/2")
    if delta is not None and not 0 < delta < 1:
        raise ValueError(f"delta is {delta}, but a probability of failure lies between 0 and 1")
    n_pairs = n_items * (n_items - 1) / 2
    wrong_pair = (1 - 4 * h * h) ** (n_rankings / 2)
    expected = n_pairs**2 / 2 * wrong_pair
    if delta is None:
        return expected
    return 0.0 if n_pairs * wrong_pair <= delta else expected / delta


def median_excess_bound(P: ArrayLike, Q: ArrayLike) -> float:
    r"""Bound the excess risk, under one law, of the median of another.

    *Definition.* Any Kemeny median :math:`\sigma` of Q satisfies
    :math:`L_P^* \le L_P(\sigma) \le L_P^* + 2 \sum_{i<j} |p_{ij} - q_{ij}|`; returned is the last term.

    Parameters
    ----------
    P, Q : array-like of shape (n_items, n_items), PreferenceMatrix, Rankings or positions
        Probabilities of "row before column", or rankings: the truth and its estimate, or a law and its best
        approximation within a model. Any laws of rankings.

    Returns
    -------
    float

    References
    ----------
    Clémençon, Korba, Sibony (2018), lemma 4 (i).

    Examples
    --------
    >>> from rankwise.aggregation.risk_bounds import median_excess_bound
    >>> median_excess_bound([[0.5, 0.75], [0.25, 0.5]], [[0.5, 0.25], [0.75, 0.5]])
    1.0
    """
    return 2 * _distance_of_pairs(P, Q)


def median_distance_bound(P: ArrayLike, Q: ArrayLike) -> float:
    r"""Bound the Kendall distance between the medians of two laws.

    *Definition.* If both laws are strictly stochastically transitive, their medians are at most
    :math:`\frac{1}{h} \sum_{i<j} |p_{ij} - q_{ij}|` pairs apart, where h is the larger of their noise margins.

    Parameters
    ----------
    P, Q : array-like of shape (n_items, n_items), PreferenceMatrix, Rankings or positions
        Probabilities of "row before column", or rankings; strictly stochastically transitive.

    Returns
    -------
    float

    References
    ----------
    Clémençon, Korba, Sibony (2018), lemma 4 (ii), which holds with the margin of either law.

    Examples
    --------
    >>> from rankwise.aggregation.risk_bounds import median_distance_bound
    >>> median_distance_bound([[0.5, 0.75], [0.25, 0.5]], [[0.5, 0.25], [0.75, 0.5]])
    2.0
    """
    for name, law in (("P", P), ("Q", Q)):
        if not is_stochastically_transitive(law, strict=True):
            raise ValueError(
                f"{name} is not strictly stochastically transitive (its majorities have a cycle, or a pair is even), "
                "so its median may not be unique; median_excess_bound holds for every law"
            )
    return _distance_of_pairs(P, Q) / max(noise_margin(P), noise_margin(Q))


# ---------------------------------------------------------------------------------------------------------------


def _distance_of_pairs(P: ArrayLike, Q: ArrayLike) -> float:
    """Sum of the absolute differences of the probabilities, each pair once."""
    first, second = pair_probabilities(P), pair_probabilities(Q)
    if first.shape != second.shape:
        raise ValueError(f"P is of {len(first)} items and Q of {len(second)}; rows and columns must be the same items")
    return float(np.abs(first - second)[np.triu_indices(len(first), 1)].sum())
