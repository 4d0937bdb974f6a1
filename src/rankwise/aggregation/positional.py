"""Consensus by places: Borda's rule for full, tied, top-k and incomplete rankings, and ranking by scores."""

from __future__ import annotations

from typing import Literal, overload

import numpy as np

from rankwise._typing import ArrayLike, FloatArray
from rankwise.aggregation.base import large_array, weighted_rankings
from rankwise.data import Rankings, positions_jit

# Scores closer than this are equal: sums of floating-point shares cannot distinguish them.
_SAME_SCORE = 1e-12


@overload
def borda(
    rankings: ArrayLike, *, sample_weight: ArrayLike | None = ..., return_scores: Literal[False] = ...
) -> FloatArray: ...


@overload
def borda(
    rankings: ArrayLike, *, sample_weight: ArrayLike | None = ..., return_scores: Literal[True]
) -> tuple[FloatArray, FloatArray]: ...


def borda(
    rankings: ArrayLike, *, sample_weight: ArrayLike | None = None, return_scores: bool = False
) -> FloatArray | tuple[FloatArray, FloatArray]:
    r"""Order items by the share of their opponents that they beat: Borda's consensus.

    *Definition.* Let ranking :math:`r`, of weight :math:`w_r`, hold :math:`m_r` items, of which item :math:`i`
    has mid-rank :math:`\rho_r(i)`. The score of an item is the weighted mean, over the rankings that hold it
    and at least one other item, of the share of the others that it beats, a tie counting one half:

    .. math:: s(i) = \frac{\sum_r w_r\,(m_r - \rho_r(i)) / (m_r - 1)}{\sum_r w_r}.

    Where no item is missing this is :math:`(k - \bar\rho(i)) / (k - 1)`: the order of the mean ranks.

    Parameters
    ----------
    rankings : array-like of shape (n_rankings, n_items) or Rankings
        Positions: column = item, 1 = best. Unlisted items share the places below the listed ones; a ranking
        says nothing of its missing items, and nothing at all if it lists none.
    sample_weight : array-like of shape (n_rankings,), optional
        How often each ranking counts; by default the weights of the Rankings, or ones.
    return_scores : bool, default=False
        Whether to also return the scores.

    Returns
    -------
    positions : ndarray of shape (n_items,), float64
        The consensus: 1 = best, equal scores tie (dense: 1, 2, 2, 3).
    scores : ndarray of shape (n_items,), float64
        From 0 (below every opponent) to 1 (above every opponent). Only with ``return_scores=True``.

    Notes
    -----
    Shares, and not places, are averaged because a place depends on how many items were there to be ranked: third
    of three is last, third of thirty is not. If rankings show random subsets of the items, the expected share is
    that of the full rankings, whatever the sizes of the subsets. If what is missing depends on what is
    liked, no average of places is safe.

    References
    ----------
    J.-C. de Borda, Mémoire sur les élections au scrutin. Histoire de l'Académie Royale des Sciences, 1781.

    Examples
    --------
    >>> from rankwise.aggregation import borda
    >>> borda([[1, 2, 3], [1, 3, 2], [2, 1, 3]])
    array([1., 2., 3.])
    >>> borda([[1, 2, 3], [float("nan"), 1, 2]], return_scores=True)
    (array([1., 2., 3.]), array([1.  , 0.75, 0.  ]))
    """
    array = large_array(rankings, sample_weight)
    if array is not None:
        sums, k = positions_jit.full_sums(array), array.shape[1]
        if len(sums):
            scores = (k - sums / len(array)) / (k - 1)
            return (rank_by_score(scores), scores) if return_scores else rank_by_score(scores)
    rankings = weighted_rankings(rankings, sample_weight)
    if rankings.n_items < 2 or not rankings.weights.sum() > 0:
        raise ValueError(
            f"a consensus needs two items and a ranking of positive weight; here are {rankings.n_items} item(s) and "
            f"{np.count_nonzero(rankings.weights)} such ranking(s)"
        )
    scores = _mean_shares_beaten(rankings)
    unknown = np.isnan(scores)
    if unknown.any():
        name = rankings.items[int(np.argmax(unknown))]
        raise ValueError(
            f"no ranking compares item {name!r} with another, so it has no place in a consensus; "
            "keep the other items with Rankings.select([...]), or add rankings that hold it"
        )
    positions = rank_by_score(scores)
    return (positions, scores) if return_scores else positions


def shares_beaten(rankings: Rankings) -> FloatArray:
    """Share of the other items that each item beats, ranking by ranking; NaN where it is compared with none."""
    places = rankings.midranks()
    places[~np.isfinite(rankings.positions).any(axis=1)] = np.nan  # a ranking that lists nothing compares nothing
    opponents = np.sum(~np.isnan(places), axis=1, keepdims=True) - 1.0
    # A ranking of a single item compares nothing: 0 / 0 is NaN, which counts as missing.
    with np.errstate(invalid="ignore"):
        return np.asarray((opponents + 1 - places) / opponents)


def _mean_shares_beaten(rankings: Rankings) -> FloatArray:
    """Score of each item; NaN for an item that no ranking of positive weight compares."""
    positions, weights, k = rankings.positions, rankings.weights, rankings.n_items
    sums = positions.sum(axis=0)
    # Dense positions of k items add up to less if some tie, and to infinity or NaN if some are unlisted or missing.
    if sums.sum() == len(positions) * k * (k + 1) / 2:
        totals = sums if np.all(weights == 1) else weights @ positions
        return np.asarray((k - totals / weights.sum()) / (k - 1))
    with np.errstate(invalid="ignore"):
        shares = shares_beaten(rankings)
        compared = ~np.isnan(shares)
        return (weights @ np.where(compared, shares, 0.0)) / (weights @ compared)


def rank_by_score(scores: FloatArray) -> FloatArray:
    """Positions by decreasing score; unlike `positions_from_scores`, scores equal up to rounding tie."""
    order = np.argsort(-scores, kind="stable")
    positions = np.empty_like(scores)
    positions[order] = 1 + np.cumsum(-np.diff(scores[order], prepend=scores[order[:1]]) > _SAME_SCORE)
    return positions
