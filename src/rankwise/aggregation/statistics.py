r"""Statistics of pairwise preferences: transitivity, noise, dispersion, the risk of a ranking, and what bounds it.

Throughout, :math:`p_{ij}` is the probability that a random ranking puts item i before item j, so that
:math:`p_{ij} + p_{ji} = 1`. Functions take it as a square array, or estimate it from rankings: the share of the
rankings with i before j among those that order or tie the two, a tie counting half, as if decided by a coin.
A pair that nobody compared is an error (`hodge_projection` does without it).
"""

from __future__ import annotations

import numpy as np

from rankwise._typing import ArrayLike, FloatArray
from rankwise.aggregation.pairwise import PreferenceMatrix, preference_matrix, square_array
from rankwise.aggregation.tournaments import comparable_preferences
from rankwise.data import check_positions

# Shares of floating-point weights do not tell probabilities apart that are closer than this.
_EVEN = 1e-12
# Probabilities given as arrays may be rounded; their two sides must add up to 1 within this.
_ROUNDED = 1e-6


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
    >>> from rankwise.aggregation.statistics import is_stochastically_transitive
    >>> is_stochastically_transitive([[0.5, 0.6, 0.4], [0.4, 0.5, 0.6], [0.6, 0.4, 0.5]])
    False
    """
    probabilities = pair_probabilities(P)
    at_least_even = probabilities >= 0.5 - _EVEN
    steps = at_least_even.astype(np.float64)
    cyclic = bool(np.any((steps @ steps > 0) & ~at_least_even))
    return not cyclic and not (strict and len(steps) > 1 and noise_margin(P) <= _EVEN)


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
    >>> from rankwise.aggregation.statistics import noise_margin
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
    >>> from rankwise.aggregation.statistics import dispersion
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
    >>> from rankwise.aggregation.statistics import dispersion_u_statistic
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
    # Sum over all pairs of rankings less those of a ranking with itself, where only ties differ, by a coin.
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
    >>> from rankwise.aggregation.statistics import kemeny_risk
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
    >>> from rankwise.aggregation.statistics import excess_risk
    >>> excess_risk([[0.5, 0.75, 1], [0.25, 0.5, 0.875], [0, 0.125, 0.5]], [2, 1, 3])
    0.5
    """
    probabilities, after = _pairs_of(P, positions)
    against = np.where(probabilities > 0.5, after, 1 - after)
    return float(np.sum(np.abs(2 * probabilities - 1) * against))


def pair_probabilities(P: ArrayLike) -> FloatArray:
    """Probabilities of "row before column" from whatever the functions of this module take; every pair is known."""
    matrix = checked_preferences(P)
    unknown = matrix.counts == 0
    np.fill_diagonal(unknown, False)
    if unknown.any():
        i, j = np.argwhere(unknown)[0]
        raise ValueError(
            f"nobody compared items {matrix.items[i]!r} and {matrix.items[j]!r}, so nothing is known of the pair; "
            "keep items that are all compared with Rankings.select([...]), or fill in probabilities from a model"
        )
    return matrix.probabilities


def checked_preferences(P: ArrayLike) -> PreferenceMatrix:
    """Preferences as a `PreferenceMatrix`; an array of probabilities must add up to 1 for each pair."""
    matrix = comparable_preferences(P)
    given = square_array(P)
    if given is not None and not np.any(np.diag(given) >= 1):
        unequal = (np.abs(matrix.counts - 1) > _ROUNDED) & (matrix.counts > 0)
        if unequal.any():
            i, j = np.argwhere(unequal)[0]
            raise ValueError(
                f"P[{i}, {j}] and P[{j}, {i}] add up to {matrix.counts[i, j]:g}, but one of two items comes "
                "first: divide counts by their sum for each pair (NaN for both where nobody compared them)"
            )
    return matrix


# ---------------------------------------------------------------------------------------------------------------


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
    after = (np.sign(ranking[:, np.newaxis] - ranking) + 1) / 2
    return _upper(probabilities), _upper(after)
