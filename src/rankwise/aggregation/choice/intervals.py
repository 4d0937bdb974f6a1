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
    """

    items: tuple[Hashable, ...]
    positions: FloatArray
    lower: FloatArray
    upper: FloatArray
    distribution: FloatArray
    level: float


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

    *Definition.* As many rankings as there are, drawn from them with replacement, make a resample. The
    interval of an item holds the places it takes in the consensus of the resamples, less the outer
    ``(1 - level) / 2`` on each side.

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
    if not 0 < level < 1:
        raise ValueError(f"level is {level}, but must lie between 0 and 1")
    source = Rankings(rankings, weights=weights)
    if not source.weights.any():
        raise ValueError("no ranking has a positive weight, so there is nothing to draw from")
    positions = _consensus_positions(consensus, source)
    # Every resample has a generator of its own, so it does not matter which thread makes it.
    generators = check_generator(random_state).spawn(n_resamples)

    def shares_of_block(start: int) -> FloatArray:
        total = np.zeros((source.n_items, source.n_items))
        for number in range(start, min(start + _BLOCK, n_resamples)):
            try:
                found = _consensus_positions(consensus, _resample(source, generators[number]))
            except ValueError as error:
                raise ValueError(
                    f"the consensus of resample {number} fails ({error}); items that few rankings hold may fall out of "
                    "a resample: leave them out with Rankings.select([...]), or use a consensus that does without them"
                ) from error
            total += _shares_of_places(found)
        return total

    blocks = Parallel(n_jobs=n_jobs, prefer="threads", require="sharedmem")(
        delayed(shares_of_block)(start) for start in range(0, n_resamples, _BLOCK)
    )
    distribution = np.sum(blocks, axis=0)
    distribution /= n_resamples
    reached = np.cumsum(distribution, axis=1)
    tail = (1 - level) / 2
    lower = 1.0 + np.argmax(reached > tail + _ROUNDING, axis=1)
    upper = 1.0 + np.argmax(reached >= 1 - tail - _ROUNDING, axis=1)
    return RankingIntervals(source.items, positions, lower, upper, distribution, level)


# ---------------------------------------------------------------------------------------------------------------


def _resample(rankings: Rankings, rng: np.random.Generator) -> Rankings:
    weights = rankings.weights
    if np.all(weights == np.round(weights)):
        drawn = rng.multinomial(int(weights.sum()), weights / weights.sum()).astype(np.float64)
    else:
        drawn = weights * rng.multinomial(len(weights), np.full(len(weights), 1 / len(weights)))
    rows = np.flatnonzero(drawn)
    return Rankings(rankings[rows], weights=drawn[rows])


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
