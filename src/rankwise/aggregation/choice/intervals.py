"""How sure a consensus is: bootstrap intervals of the place of each item."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankwise._arguments import check_whole_number
from rankwise._random import check_generator
from rankwise._typing import ArrayLike, FloatArray, RandomState
from rankwise.aggregation.positional import borda
from rankwise.data import Rankings, check_positions
from rankwise.data._items import shortlist

# Resamples that one thread takes at a time; fixed, so that sums are taken in the same order on any number of threads.
_BLOCK = 32
_ROUNDING = 1e-9
# So often a resample is drawn again at most; then its consensus may fail, and says why.
_MOST_REDRAWS = 100


@dataclass(frozen=True, eq=False)
class RankingIntervals:
    """Places of items in a consensus, and how they vary; made by `ranking_intervals`.

    Attributes
    ----------
    items : tuple
        Names of the items.
    positions : ndarray of shape (n_items,)
        The consensus of the rankings themselves, 1 = best.
    lower, upper : ndarray of shape (n_items,)
        Ends of the interval of places of each item; ``lower`` is the better one.
    distribution : ndarray of shape (n_items, n_items)
        Share of the resamples in which item i (row) is at place j + 1 (column). Tied items share their places
        equally. Rows and columns sum to 1.
    level : float
        The level of the intervals.
    redrawn : int
        Resamples that lacked an item and were drawn again; where these are many, some items are held by too few
        rankings for intervals.
    """

    items: tuple[Hashable, ...]
    positions: FloatArray
    lower: FloatArray
    upper: FloatArray
    distribution: FloatArray
    level: float
    redrawn: int


def ranking_intervals(
    rankings: ArrayLike,
    consensus: Callable[[Rankings], Any] = borda,
    *,
    weights: ArrayLike | None = None,
    n_resamples: int = 1000,
    level: float = 0.95,
    random_state: RandomState = None,
    n_jobs: int | None = None,
) -> RankingIntervals:
    """Bootstrap intervals of the place of each item in a consensus.

    *Definition.* As many rankings as there are, drawn from them with replacement, make a resample; one in which some
    item is compared with no other is drawn again. The interval of an item holds the places it takes in the consensus of
    the resamples, less the outer ``(1 - level) / 2`` on each side.

    Parameters
    ----------
    rankings : array-like of shape (n_rankings, n_items) or Rankings
        Positions, 1 = best, of any kind.
    consensus : callable, default=borda
        From Rankings to positions (or to an object with ``positions``, like the result of `kemeny`). For a model:
        ``lambda rankings: PlackettLuce(prior=0.1).fit(rankings).mode()``. It is called from several threads if
        ``n_jobs`` says so.
    weights : array-like of shape (n_rankings,), optional
        By default the weights of the Rankings, else ones. Whole numbers say how often a ranking occurred, and so many
        voters are drawn; other weights stay with their rankings, which are drawn as units.
    n_resamples : int, default=1000
        Number of resamples.
    level : float, default=0.95
        Share of the resamples that an interval holds, at least.
    random_state : None, int, Generator or RandomState
        Where the random numbers come from.
    n_jobs : int, optional
        Threads; -1 uses all processors. The result does not depend on it.

    Returns
    -------
    RankingIntervals

    Notes
    -----
    Intervals are for one item at a time. A place is not a smooth function of the data: where items are close,
    intervals are wide and honest, but their coverage is approximate.

    References
    ----------
    Hall, Miller (2009), Using the bootstrap to quantify the authority of an empirical ranking, Annals of Statistics 37.

    Examples
    --------
    >>> from rankwise.aggregation.choice import ranking_intervals
    >>> found = ranking_intervals([[1, 2, 3], [1, 3, 2], [1, 2, 3]] * 9, random_state=0)
    >>> found.lower, found.upper
    (array([1., 2., 2.]), array([1., 3., 3.]))
    """
    from joblib import Parallel, delayed

    check_whole_number("n_resamples", n_resamples, at_least=1)
    if not callable(consensus):
        raise TypeError(f"consensus is {consensus!r}; give the function itself, such as borda or kemeny")
    if not 0 < level < 1:
        raise ValueError(f"level is {level}, but must lie between 0 and 1")
    source = Rankings(rankings, weights=weights)
    if not source.weights.any():
        raise ValueError("no ranking has a positive weight, so there is nothing to draw from")
    positions = _consensus_positions(consensus, source)
    # Every resample has a generator of its own, so it does not matter which thread makes it.
    generators = check_generator(random_state).spawn(n_resamples)

    def shares_of_block(start: int) -> tuple[FloatArray, int]:
        total, redrawn = np.zeros((source.n_items, source.n_items)), 0
        for number in range(start, min(start + _BLOCK, n_resamples)):
            resample, again = _resample(source, generators[number])
            redrawn += again
            try:
                found = _consensus_positions(consensus, resample)
            except ValueError as error:
                raise ValueError(
                    f"the consensus of resample {number} fails ({error}); items that few rankings hold may fall out of "
                    "a resample: leave them out with Rankings.select([...]), or use a consensus that does without them"
                ) from error
            total += _shares_of_places(found)
        return total, redrawn

    blocks = Parallel(n_jobs=n_jobs, prefer="threads", require="sharedmem")(
        delayed(shares_of_block)(start) for start in range(0, n_resamples, _BLOCK)
    )
    distribution = np.sum([shares for shares, _ in blocks], axis=0)
    distribution /= n_resamples
    redrawn = sum(again for _, again in blocks)
    reached = np.cumsum(distribution, axis=1)
    tail = (1 - level) / 2
    lower = 1.0 + np.argmax(reached > tail + _ROUNDING, axis=1)
    upper = 1.0 + np.argmax(reached >= 1 - tail - _ROUNDING, axis=1)
    return RankingIntervals(source.items, positions, lower, upper, distribution, level, redrawn)


# ---------------------------------------------------------------------------------------------------------------


def _resample(rankings: Rankings, rng: np.random.Generator) -> tuple[Rankings, int]:
    """Rankings drawn with replacement, and how often they were drawn again because some item fell out."""
    weights = rankings.weights
    holds = ~np.isnan(rankings.positions)
    holds &= (holds.sum(axis=1, keepdims=True) > 1) & (weights[:, np.newaxis] > 0)
    needed = holds.any(axis=0)
    again = -1
    complete = False
    while not complete and again < _MOST_REDRAWS:
        again += 1
        if np.all(weights == np.round(weights)):
            drawn = rng.multinomial(int(weights.sum()), weights / weights.sum()).astype(np.float64)
        else:
            drawn = weights * rng.multinomial(len(weights), np.full(len(weights), 1 / len(weights)))
        rows = np.flatnonzero(drawn)
        complete = np.array_equal(holds[rows].any(axis=0), needed)
    return Rankings(rankings[rows], weights=drawn[rows]), again


def _consensus_positions(consensus: Callable[[Rankings], Any], rankings: Rankings) -> FloatArray:
    found = consensus(rankings)
    positions = check_positions([getattr(found, "positions", found)], name="the consensus", strict=False)[0]
    if len(positions) != rankings.n_items or not np.isfinite(positions).all():
        raise ValueError(
            f"the consensus places {np.isfinite(positions).sum()} of the items {shortlist(rankings.items)}; "
            "it must return one finite position per item"
        )
    return positions


def _shares_of_places(positions: FloatArray) -> FloatArray:
    """Row i: 1 at the place of item i, or equal shares of the places that it and its ties fill."""
    better = np.sum(positions < positions[:, np.newaxis], axis=1)
    size = np.sum(positions == positions[:, np.newaxis], axis=1)
    place = np.arange(len(positions))
    inside = (place >= better[:, np.newaxis]) & (place < (better + size)[:, np.newaxis])
    return inside / size[:, np.newaxis]
