"""Statistics of pairwise preferences: transitivity, noise, dispersion, the risk of a ranking, and what bounds it.

Throughout, :math:`p_{ij}` is the probability that a random ranking puts item i before item j, so that
:math:`p_{ij} + p_{ji} = 1`. Functions take it as a square array, or estimate it from rankings: the share of the
rankings with i before j among those that order or tie the two, a tie counting half, as if decided by a coin.
A pair that nobody compared is an error (but not in `hodge_projection`).
"""

from __future__ import annotations

import numpy as np

from rankwise._typing import ArrayLike, FloatArray
from rankwise._validation import check_whole_number
from rankwise.aggregation.pairs import comparable_preferences, majority, orders_strictly, preference_matrix
from rankwise.data import check_positions
from rankwise.data.positions import compare_positions

# Probabilities closer than this are equal: shares of floating-point weights cannot distinguish them.
_EVEN = 1e-12


def is_stochastically_transitive(P: ArrayLike, strict: bool = False) -> bool:
    r"""Whether "not behind" carries over from pair to pair, so that one ranking can follow every majority.

    *Definition.* For all i, j, k: if :math:`p_{ij} \ge 1/2` and :math:`p_{jk} \ge 1/2` then
    :math:`p_{ik} \ge 1/2`. Strictly so if, besides, no :math:`p_{ij}` with :math:`i \ne j` is 1/2.

    Parameters
    ----------
    P : array-like of shape (n_items, n_items), PreferenceMatrix, Rankings or positions
        Probabilities of "row before column", or rankings (the weights of a Rankings count).
    strict : bool, default=False
        Whether even pairs are forbidden too; then the Kemeny median is unique, and `copeland` gives it.

    Returns
    -------
    bool

    References
    ----------
    Clémençon, Korba, Sibony (2018), Ranking median regression: learning to order through local consensus,
    definition 1.

    Examples
    --------
    >>> from rankwise.aggregation import is_stochastically_transitive
    >>> is_stochastically_transitive([[0.5, 0.6, 0.4], [0.4, 0.5, 0.6], [0.6, 0.4, 0.5]])
    False
    """
    probabilities = pair_probabilities(P)
    if strict:
        return bool(orders_strictly(majority(probabilities)))
    at_least_even = probabilities >= 0.5 - _EVEN
    steps = at_least_even.astype(np.float64)
    return not np.any((steps @ steps > 0) & ~at_least_even)


def noise_margin(P: ArrayLike) -> float:
    r"""How far the closest pair is from even.

    *Definition.* :math:`h = \min_{i < j} |p_{ij} - 1/2|`, from 0 to 1/2: the low-noise condition holds for every
    margin up to h.

    Parameters
    ----------
    P : array-like of shape (n_items, n_items), PreferenceMatrix, Rankings or positions
        Probabilities of "row before column", or rankings (the weights of a Rankings count).

    Returns
    -------
    float

    References
    ----------
    Clémençon, Korba, Sibony (2018), equation 8.

    Examples
    --------
    >>> from rankwise.aggregation import noise_margin
    >>> noise_margin([[0.5, 0.75, 1], [0.25, 0.5, 0.875], [0, 0.125, 0.5]])
    0.25
    """
    upper = _upper(pair_probabilities(P))
    if not len(upper):
        raise ValueError("a margin needs a pair of items; here is one item")
    return float(np.abs(upper - 0.5).min())


def dispersion(P: ArrayLike) -> float:
    r"""How much rankings differ among themselves, without a median.

    *Definition.* :math:`V = \sum_{i<j} p_{ij} (1 - p_{ij})`, half the expected Kendall distance of two independent
    rankings. The risk :math:`L^*` of a Kemeny median lies between V and 2V.

    Parameters
    ----------
    P : array-like of shape (n_items, n_items), PreferenceMatrix, Rankings or positions
        Probabilities of "row before column", or rankings (the weights of a Rankings count).

    Returns
    -------
    float
        From 0 (all rankings are equal) to k (k - 1) / 8 (every pair is even).

    References
    ----------
    Clémençon, Korba, Sibony (2018), remark 2.

    Examples
    --------
    >>> from rankwise.aggregation import dispersion
    >>> dispersion([[1, 2, 3], [2, 1, 3]])
    0.25
    """
    upper = _upper(pair_probabilities(P))
    return float(np.sum(upper * (1 - upper)))


def dispersion_u_statistic(rankings: ArrayLike) -> float:
    r"""Estimate the dispersion of the law behind rankings without bias.

    *Definition.* Half the mean Kendall distance over all pairs of different rankings,
    :math:`\frac{1}{N(N-1)} \sum_{r<s} d(r, s)`; its expectation is V of `dispersion`, whereas V of the N rankings
    themselves is too small by the factor :math:`(N-1)/N`.

    Parameters
    ----------
    rankings : Rankings or array-like of shape (n_rankings, n_items)
        Positions of any kind; each pair of items is averaged over the rankings that order or tie it. Weights of a
        Rankings are multiplicities: weight 2 is the ranking twice.

    Returns
    -------
    float

    Notes
    -----
    Time is linear in the number of rankings. A tied pair counts 1/2 against any other ranking, like a
    decision by a coin. (Remark 2 of the reference prints twice this value, which estimates 2V.)

    References
    ----------
    Clémençon, Korba, Sibony (2018), remark 2.

    Examples
    --------
    >>> from rankwise.aggregation import dispersion_u_statistic
    >>> dispersion_u_statistic([[1, 2, 3], [2, 1, 3]])
    0.5
    """
    matrix = preference_matrix(rankings)
    counts = _upper(matrix.counts)
    if np.any(counts <= 1):
        i, j = (int(side[np.argmax(counts <= 1)]) for side in np.triu_indices(matrix.n_items, 1))
        raise ValueError(
            f"items {matrix.items[i]!r} and {matrix.items[j]!r} are compared with weight {matrix.counts[i, j]:g}; "
            "distances between rankings need two rankings for each pair (weights are multiplicities)"
        )
    above = _upper(matrix.wins + matrix.ties / 2)
    # Sum over all pairs of rankings minus those of a ranking with itself, where only ties differ, by a coin flip.
    differing = above * (counts - above) - _upper(matrix.ties) / 4
    return float(np.sum(differing / (counts * (counts - 1))))


def kemeny_risk(P: ArrayLike, positions: ArrayLike) -> float:
    r"""Expected Kendall distance of a ranking to a random one.

    *Definition.* :math:`L(\sigma) = \sum_{\sigma(i) < \sigma(j)} p_{ji}`, plus 1/2 for every pair that
    :math:`\sigma` ties. A Kemeny median has the lowest risk, :math:`L^*`.

    Parameters
    ----------
    P : array-like of shape (n_items, n_items), PreferenceMatrix, Rankings or positions
        Probabilities of "row before column", or rankings (the weights of a Rankings count).
    positions : array-like of shape (n_items,), or Consensus
        The ranking, 1 = best, every item placed.

    Returns
    -------
    float

    References
    ----------
    Clémençon, Korba, Sibony (2018), equations 3 and 41.

    Examples
    --------
    >>> from rankwise.aggregation import kemeny_risk
    >>> kemeny_risk([[1, 2, 3], [2, 1, 3]], [1, 2, 3])
    0.5
    """
    probabilities, after = _pairs_of(P, positions)
    return float(np.sum(after * probabilities + (1 - after) * (1 - probabilities)))


def excess_risk(P: ArrayLike, positions: ArrayLike) -> float:
    r"""How much risk a ranking adds by going against majorities.

    *Definition.* :math:`\sum |2 p_{ij} - 1|` over the pairs that the ranking orders against their majority, half of
    it for pairs that it ties. This is :math:`L(\sigma) - \sum_{i<j} \min(p_{ij}, 1 - p_{ij})`, hence
    :math:`L(\sigma) - L^*` where preferences are stochastically transitive; else :math:`L^*` may be larger than that
    sum, and the excess over a median smaller than this value.

    Parameters
    ----------
    P : array-like of shape (n_items, n_items), PreferenceMatrix, Rankings or positions
        Probabilities of "row before column", or rankings (the weights of a Rankings count).
    positions : array-like of shape (n_items,), or Consensus
        The ranking, 1 = best, every item placed.

    Returns
    -------
    float
        0 exactly where the ranking follows every majority.

    References
    ----------
    Clémençon, Korba, Sibony (2018), after equation 6.

    Examples
    --------
    >>> from rankwise.aggregation import excess_risk
    >>> excess_risk([[0.5, 0.75, 1], [0.25, 0.5, 0.875], [0, 0.125, 0.5]], [2, 1, 3])
    0.5
    """
    probabilities, after = _pairs_of(P, positions)
    against = np.where(probabilities > 0.5, after, 1 - after)
    return float(np.sum(np.abs(2 * probabilities - 1) * against))


def pair_probabilities(P: ArrayLike) -> FloatArray:
    """Probabilities of "row before column" from whatever the functions of this module take; every pair is known."""
    matrix = comparable_preferences(P, sum_to_one=True)
    unknown = matrix.counts == 0
    np.fill_diagonal(unknown, False)
    if unknown.any():
        i, j = np.argwhere(unknown)[0]
        raise ValueError(
            f"nobody compared items {matrix.items[i]!r} and {matrix.items[j]!r}, so nothing is known about it; "
            "keep items that are all compared with Rankings.select([...]), or fill in probabilities from a model"
        )
    return matrix.probabilities


def _upper(matrix: FloatArray) -> FloatArray:
    """Values of the pairs i < j."""
    return matrix[np.triu_indices(len(matrix), 1)]


def _pairs_of(P: ArrayLike, positions: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Of each pair i < j its probability, and whether the ranking puts i after j (1/2 for a tie)."""
    probabilities = pair_probabilities(P)
    positions = getattr(positions, "positions", positions)
    if np.ndim(positions) != 1:
        raise ValueError(f"positions has shape {np.shape(positions)}; give one ranking, one position per item")
    ranking = check_positions([np.asarray(positions)])[0]
    if len(ranking) != len(probabilities):
        raise ValueError(f"positions ranks {len(ranking)} items, but P is of {len(probabilities)}")
    if not np.isfinite(ranking).all():
        item = int(np.argmax(~np.isfinite(ranking)))
        raise ValueError(f"positions[{item}] is {ranking[item]}; the risk is that of a ranking which places every item")
    return _upper(probabilities), _upper(compare_positions(ranking, ranking[:, np.newaxis]))


# Bounds on the risk of medians of samples and of approximations.


def median_risk_bound(n_items: int, h: float, n_rankings: int, delta: float | None = None) -> float:
    r"""Bound the excess risk of the median of a sample.

    *Definition.* Let N full rankings be drawn independently from a law that is strictly stochastically transitive with
    noise margin at least h, and take the median of the sample if the sample is strictly stochastically transitive, and
    any ranking otherwise. With k items, its risk L under the law satisfies

    .. math:: E[L - L^*] \le \frac{k^2 (k-1)^2}{8} \exp\left(-\frac{N}{2} \log \frac{1}{1 - 4 h^2}\right)
              = \frac{k^2 (k-1)^2}{8} (1 - 4 h^2)^{N/2}.

    With ``delta``, the bound holds with probability at least :math:`1 - \delta`: it is 0 if
    :math:`\frac{k(k-1)}{2} (1 - 4h^2)^{N/2} \le \delta`, as then the sample orders every pair like the law and the
    median is the true one, and otherwise the bound above divided by :math:`\delta` (Markov).

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
    >>> from rankwise.aggregation import median_risk_bound
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
    >>> from rankwise.aggregation import median_excess_bound
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
    >>> from rankwise.aggregation import median_distance_bound
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


def _distance_of_pairs(P: ArrayLike, Q: ArrayLike) -> float:
    """Sum of the absolute differences of the probabilities, each pair once."""
    first, second = pair_probabilities(P), pair_probabilities(Q)
    if first.shape != second.shape:
        raise ValueError(f"P is of {len(first)} items and Q of {len(second)}; rows and columns must be the same items")
    return float(np.abs(first - second)[np.triu_indices(len(first), 1)].sum())
