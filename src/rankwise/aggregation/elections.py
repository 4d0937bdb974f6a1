"""Rules of elections that count places: plurality, Bucklin, and range voting for scores.

Ballots are full or top-k rankings, ties allowed: a voter's tied items share the places they fill. Items that a ranking
misses (was never asked about) are refused, because who is counted first or second depends on who was there.
`runoffs` holds the rules that count in rounds.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from rankwise._typing import ArrayLike, FloatArray
from rankwise._validation import check_choice, check_weights, check_whole_number
from rankwise.aggregation.base import weighted_rankings
from rankwise.aggregation.positional import rank_by_score
from rankwise.data import Rankings, dense_positions

# Sums of shares of a vote cannot be distinguished if they are closer than this share of all votes.
SAME_VOTES = 1e-9


def plurality(rankings: ArrayLike, *, sample_weight: ArrayLike | None = None) -> tuple[FloatArray, FloatArray]:
    """Order items by how many rankings put them first.

    Parameters
    ----------
    rankings : array-like of shape (n_rankings, n_items) or Rankings
        Positions, 1 = best: full or top-k, ties allowed. Items that a ranking ties at the top share its vote equally.
    sample_weight : array-like of shape (n_rankings,), optional
        How often each ranking counts; by default the weights of the Rankings, or ones.

    Returns
    -------
    positions : ndarray of shape (n_items,)
        The consensus, 1 = best; equal numbers of votes tie (dense: 1, 2, 2, 3).
    votes : ndarray of shape (n_items,)
        Weight of the first places.

    Examples
    --------
    >>> from rankwise.aggregation import plurality
    >>> plurality([[1, 2, 3], [1, 3, 2], [2, 1, 3], [3, 2, 1]])
    (array([1., 2., 2.]), array([2., 1., 1.]))
    """
    ballots = ballots_of(rankings, sample_weight)
    votes = _Places(ballots).votes(1)
    return rank_by_score(votes / ballots.weights.sum()), votes


def bucklin(rankings: ArrayLike, *, sample_weight: ArrayLike | None = None) -> tuple[FloatArray, FloatArray]:
    r"""Order items by how deep one must count until a majority of the rankings supports them: Bucklin's rule.

    *Definition.* In round r every ranking supports the items at its places 1 to r. An item is placed by the first round
    in which more than half of the rankings support it, and items of the same round by their support in it. Items that
    never reach a majority, because not all rankings list them, come last, by their support.

    Parameters
    ----------
    rankings : array-like of shape (n_rankings, n_items) or Rankings
        Positions, 1 = best: full or top-k, ties allowed. Of t items that a ranking ties, each has 1/t of a vote at each
        of the t places that they fill. Unlisted items are never supported.
    sample_weight : array-like of shape (n_rankings,), optional
        How often each ranking counts; by default the weights of the Rankings, or ones.

    Returns
    -------
    positions : ndarray of shape (n_items,)
        The consensus, 1 = best; dense: 1, 2, 2, 3.
    rounds : ndarray of shape (n_items,)
        The round in which each item reached a majority; infinite if it never did.

    References
    ----------
    Hoag, Hallett (1926), Proportional Representation.

    Examples
    --------
    >>> from rankwise.aggregation import bucklin
    >>> bucklin([[1, 2, 3], [1, 2, 3], [2, 1, 3], [3, 1, 2]])
    (array([2., 1., 3.]), array([2., 2., 3.]))
    """
    ballots = ballots_of(rankings, sample_weight)
    total = float(ballots.weights.sum())
    rounds = np.full(ballots.n_items, np.inf)
    on_ballots = _Places(ballots)
    support = on_ballots.votes(ballots.n_items)
    for place in range(1, ballots.n_items + 1):
        counted = on_ballots.votes(place)
        reached = np.isinf(rounds) & (counted > total / 2 * (1 + SAME_VOTES))
        rounds[reached], support[reached] = place, counted[reached]
        if np.isfinite(rounds).all():
            break
    by_support = rank_by_score(support / total)
    by_round = dense_positions([np.where(np.isinf(rounds), ballots.n_items + 1.0, rounds)])[0]
    return dense_positions([by_round * (ballots.n_items + 1.0) + by_support])[0], rounds


def range_voting(
    scores: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    blank: Literal["skip", "lowest"] = "skip",
    fewest: int = 1,
) -> tuple[FloatArray, FloatArray]:
    """Order items by their mean score: range voting (score voting), for scores and grades instead of rankings.

    Parameters
    ----------
    scores : array-like of shape (n_voters, n_items)
        Scores, higher = better; NaN where a voter gave none.
    sample_weight : array-like of shape (n_voters,), optional
        How often each voter counts.
    blank : {"skip", "lowest"}, default="skip"
        A score that was not given counts nothing, or as the lowest score that anybody gave.
    fewest : int, default=1
        Items with fewer scores than this are refused, so that a single enthusiastic voter does not make a winner.

    Returns
    -------
    positions : ndarray of shape (n_items,)
        The consensus, 1 = best; equal means tie (dense: 1, 2, 2, 3).
    means : ndarray of shape (n_items,)
        Mean scores.

    Examples
    --------
    >>> from rankwise.aggregation import range_voting
    >>> range_voting([[9, 7, 4], [8, 8, 3], [10, 6, float("nan")]])
    (array([1., 2., 3.]), array([9. , 7. , 3.5]))
    """
    check_choice("blank", blank, ("skip", "lowest"))
    check_whole_number("fewest", fewest, at_least=1)
    if isinstance(scores, Rankings):
        raise TypeError(
            "range_voting needs scores (higher = better), and rankings hold places; give the table of scores"
        )
    table = np.asarray(scores, dtype=np.float64)
    if table.ndim != 2 or 0 in table.shape:
        raise ValueError(f"scores have shape {table.shape}; give a row per voter and a column per item")
    if np.isinf(table).any():
        voter, item = np.argwhere(np.isinf(table))[0]
        raise ValueError(f"scores[{voter}, {item}] is infinite; give a finite score, or NaN for none")
    weights = check_weights(sample_weight, len(table), name="sample_weight")
    given = ~np.isnan(table)
    number = given[weights > 0].sum(axis=0)
    if (number < fewest).any():
        item = int(np.argmin(number))
        raise ValueError(
            f"item {item} has {number[item]} score(s), fewer than {fewest}; leave its column out, or add more scores"
        )
    if blank == "lowest":
        table, given = np.where(given, table, np.nanmin(table)), np.ones_like(given)
    # About the middle of the scale, so that sums of large scores lose no digits.
    middle = float(np.nanmean(table))
    means = (weights @ np.where(given, table - middle, 0.0)) / (weights @ given)
    spread = float(np.ptp(table[given])) or 1.0
    return rank_by_score(means / spread), means + middle


def ballots_of(rankings: ArrayLike, sample_weight: ArrayLike | None) -> Rankings:
    """Rankings that an election can count: of positive weight, with every item listed or unlisted."""
    ballots = weighted_rankings(rankings, sample_weight)
    missing = np.isnan(ballots.positions) & (ballots.weights > 0)[:, np.newaxis]
    if missing.any():
        row, item = np.argwhere(missing)[0]
        raise ValueError(
            f"votes for all items are counted, but ranking {row} says nothing of item {ballots.items[item]!r} (NaN: "
            "missing). If a blank means that an item was not chosen, read it as unlisted (unlisted='below', or inf "
            "in an array); otherwise take a rule for incomplete rankings (kemeny, borda)"
        )
    ballots = ballots if (ballots.weights > 0).all() else ballots[ballots.weights > 0]
    if not np.isfinite(ballots.positions).any():
        raise ValueError("no ranking of positive weight lists an item, so there are no votes to count")
    return ballots.group()


class _Places:
    """The places that items fill on each ballot: ``ahead`` items come before an item, and ``tied`` share its places."""

    def __init__(self, ballots: Rankings) -> None:
        self.weights = ballots.weights
        order = np.argsort(ballots.positions, axis=1, kind="stable")
        ranked = np.take_along_axis(ballots.positions, order, axis=1)
        column = np.arange(ballots.n_items)
        changes = ranked[:, 1:] != ranked[:, :-1]
        edge = np.ones((len(ranked), 1), dtype=bool)
        first = np.maximum.accumulate(np.where(np.hstack([edge, changes]), column, 0), axis=1)
        last = np.where(np.hstack([changes, edge]), column, ballots.n_items)[:, ::-1]
        last = np.minimum.accumulate(last, axis=1)[:, ::-1]
        self.ahead, self.tied = np.empty_like(order), np.empty_like(order)
        np.put_along_axis(self.ahead, order, first, axis=1)
        np.put_along_axis(self.tied, order, last - first + 1, axis=1)
        self.listed = np.isfinite(ballots.positions)

    def votes(self, place: int) -> FloatArray:
        """Votes of each item if every ballot supports the items at places 1 to ``place``; tied items share theirs."""
        share = np.clip((place - self.ahead) / self.tied, 0.0, 1.0)
        return np.asarray(self.weights @ np.where(self.listed, share, 0.0))
