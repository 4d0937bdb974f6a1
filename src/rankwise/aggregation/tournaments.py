"""Consensus from majorities: Copeland, Schulze, Markov chain 4 and KwikSort.

All take rankings of any kind or a matrix of pairs, and use only who wins each pair (Schulze also by how many
rankings). A pair that nobody compared has no winner, like a pair that ends even.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from rankwise._typing import ArrayLike, BoolArray, FloatArray, IntArray, RandomState
from rankwise._validation import check_choice, check_generator, check_whole_number
from rankwise.aggregation import _tournaments_jit
from rankwise.aggregation.pairs import comparable_preferences, majority
from rankwise.aggregation.positional import rank_by_score
from rankwise.data import dense_positions


def copeland(
    rankings_or_matrix: ArrayLike, *, score: Literal["defeats", "wins-minus-losses"] = "defeats"
) -> FloatArray:
    r"""Order items by the number of items that beat them: Copeland's consensus.

    *Definition.* Item i comes at place :math:`1 + \#\{j : p_{ij} < 1/2\}`, where :math:`p_{ij}` is the share of the
    rankings with i before j, a tie counting half; equal numbers tie. Where the preferences are strictly
    stochastically transitive this is the Kemeny median, and the only one.

    Parameters
    ----------
    rankings_or_matrix : Rankings, array-like of positions (n_rankings, n_items), PreferenceMatrix, or square array
        Rankings of any kind (the weights of a Rankings count), or weights or probabilities of "row before column"
        (a diagonal below 1 distinguishes a matrix from positions).
    score : {"defeats", "wins-minus-losses"}, default="defeats"
        What orders the items: how many beat them (the definition above), or how many they beat less how many beat them,
        as in pref_voting and most of social choice. The two differ only where pairs end even or were never compared.

    Returns
    -------
    ndarray of shape (n_items,), float64
        Positions, 1 = best, dense: 1, 2, 2, 3.

    Notes
    -----
    Items that were compared with few others have few defeats: one that met a single other item and won comes first, as
    it does in `borda` and `schulze`. With ``score="wins-minus-losses"`` it has a score of 1 only; `kemeny` puts it
    before the item that it beat.

    References
    ----------
    Clémençon, Korba, Sibony (2018), Ranking median regression: learning to order through local consensus, eq. 7.
    Copeland (1951), A reasonable social welfare function.

    Examples
    --------
    >>> from rankwise.aggregation import copeland
    >>> copeland([[1, 2, 3], [1, 3, 2], [2, 1, 3]])
    array([1., 2., 3.])
    """
    check_choice("score", score, ("defeats", "wins-minus-losses"))
    beats = majority(comparable_preferences(rankings_or_matrix).wins)
    if score == "wins-minus-losses":
        return rank_by_score((beats.sum(axis=1) - beats.sum(axis=0)).astype(np.float64))
    return _positions_by_defeats(beats)


def schulze(rankings_or_matrix: ArrayLike) -> FloatArray:
    r"""Order items by the strength of their chains of majorities: Schulze's consensus.

    *Definition.* A majority for i over j has as strength its winning votes, the weight of the rankings with i before j;
    not its margin, which `ranked_pairs` takes by default. The two order majorities differently only if some rankings
    tie, do not list or miss items. A chain of majorities from i to j is as strong as its weakest one, and
    :math:`s_{ij}` is that of the strongest chain (0 without any). Item i beats j if :math:`s_{ij} > s_{ji}`, a relation
    without cycles; items are placed by the number of items that beat them, and equal numbers tie.

    Parameters
    ----------
    rankings_or_matrix : Rankings, array-like of positions (n_rankings, n_items), PreferenceMatrix, or square array
        As in `copeland`.

    Returns
    -------
    ndarray of shape (n_items,), float64
        Positions, 1 = best, dense: 1, 2, 2, 3.

    References
    ----------
    Schulze (2011), A new monotonic, clone-independent, reversal symmetric, and Condorcet-consistent single-winner
    election method. Social Choice and Welfare 36.

    Examples
    --------
    >>> from rankwise import Rankings
    >>> from rankwise.aggregation import schulze
    >>> schulze(Rankings([[1, 2, 3], [3, 1, 2], [2, 3, 1]], weights=[4, 3, 2]))
    array([1., 2., 3.])
    """
    wins = comparable_preferences(rankings_or_matrix).wins
    strength = np.where(majority(wins), wins, 0.0)
    _tournaments_jit.strengthen_by_chains(strength)
    np.fill_diagonal(strength, 0.0)
    return _positions_by_defeats(majority(strength))


def mc4(rankings_or_matrix: ArrayLike, *, teleport: float = 0.05) -> FloatArray:
    r"""Order items by the time a walker spends at them who moves to what the majority prefers: Markov chain 4.

    *Definition.* At item i the walker draws one of the k items uniformly and moves there if a majority of the
    rankings that order the two prefers it to i, and otherwise stays; with probability ``teleport`` it jumps to an item
    drawn uniformly instead. Items are placed by their probability :math:`\pi` under the stationary law,

    .. math:: \pi = (1 - \epsilon)\, \pi M + \epsilon / k, \qquad M_{ij} = 1/k \text{ if j beats i, } i \ne j.

    Parameters
    ----------
    rankings_or_matrix : Rankings, array-like of positions (n_rankings, n_items), PreferenceMatrix, or square array
        As in `copeland`.
    teleport : float, default=0.05
        Probability :math:`\epsilon` of a free jump, between 0 and 1, both excluded. The chain of the reference has
        none, and then everything below the best component has probability 0 and cannot be ordered.

    Returns
    -------
    ndarray of shape (n_items,), float64
        Positions, 1 = best; equal probabilities tie (dense: 1, 2, 2, 3).

    Notes
    -----
    The stationary law comes from one linear system, in O(k^3).

    References
    ----------
    Dwork, Kumar, Naor, Sivakumar (2001), Rank aggregation methods for the web, WWW 10.

    Examples
    --------
    >>> from rankwise.aggregation import mc4
    >>> mc4([[1, 2, 3], [1, 3, 2], [2, 1, 3]])
    array([1., 2., 3.])
    """
    if not 0 < teleport < 1:
        raise ValueError(f"teleport is {teleport}, but the probability of a jump lies between 0 and 1")
    beats = majority(comparable_preferences(rankings_or_matrix).wins)
    # Times k, what flows out of an item is what flows into it: from the items it beats, and by jumps.
    outflow = np.diag(teleport * len(beats) + (1 - teleport) * beats.sum(axis=0))
    stationary = np.linalg.solve(outflow - (1 - teleport) * beats, np.full(len(beats), teleport))
    return rank_by_score(len(beats) * stationary)


def kwiksort(rankings_or_matrix: ArrayLike, *, random_state: RandomState = None, n_init: int = 10) -> FloatArray:
    """Sort items by majorities as quicksort does, around random pivots; the best of several runs.

    *Definition.* Draw a pivot; items that a majority prefers to it go before it, the others after it (so the draw
    decides even pairs); sort both sides likewise. Of ``n_init`` runs the one with the lowest Kemeny cost wins.

    Parameters
    ----------
    rankings_or_matrix : Rankings, array-like of positions (n_rankings, n_items), PreferenceMatrix, or square array
        As in `copeland`.
    random_state : None, int, Generator or RandomState
        Source of the random numbers.
    n_init : int, default=10
        Number of runs, at least 1.

    Returns
    -------
    ndarray of shape (n_items,), float64
        Positions, 1 = best, without ties.

    References
    ----------
    Ailon, Charikar, Newman (2008), Aggregating inconsistent information: ranking and clustering, J. ACM 55.

    Examples
    --------
    >>> from rankwise.aggregation import kwiksort
    >>> kwiksort([[1, 2, 3], [1, 3, 2], [2, 1, 3]], random_state=0)
    array([1., 2., 3.])
    """
    check_whole_number("n_init", n_init, at_least=1)
    wins = comparable_preferences(rankings_or_matrix).wins
    rng = check_generator(random_state)
    beats = majority(wins)
    orders = [_sorted_by_pivots(beats, rng) for _ in range(n_init)]
    best = min(orders, key=lambda order: float(np.tril(wins[np.ix_(order, order)], -1).sum()))
    positions = np.empty(len(best))
    positions[best] = np.arange(1.0, len(best) + 1)
    return positions


def _positions_by_defeats(beats: BoolArray) -> FloatArray:
    return dense_positions([1.0 + beats.sum(axis=0)])[0]


def _sorted_by_pivots(beats: BoolArray, rng: np.random.Generator) -> IntArray:
    """One run of KwikSort; a stack of parts, as recursion could go as deep as there are items."""
    order: list[int] = []
    parts = [np.arange(len(beats))]
    while parts:
        part = parts.pop()
        if len(part) < 2:
            order.extend(part.tolist())
            continue
        pivot = part[rng.integers(len(part))]
        others = part[part != pivot]
        before = beats[others, pivot]
        parts += [others[~before], np.array([pivot]), others[before]]  # the last part is sorted first
    return np.array(order, dtype=np.intp)
