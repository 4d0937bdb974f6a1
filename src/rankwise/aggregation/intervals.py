"""Bootstrap intervals of the place of each item, in the consensus that a function finds."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any

from rankwise._typing import ArrayLike, FloatArray, RandomState
from rankwise.aggregation.bootstrap import bootstrap_consensus
from rankwise.aggregation.positional import borda
from rankwise.data import Rankings


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

    The part of `bootstrap_consensus` that speaks of places, for a consensus that is a function; where a name will do
    ("kemeny", "borda", "copeland"), `bootstrap_consensus` is quicker and tells more.

    Parameters
    ----------
    rankings, weights, n_resamples, level, random_state, n_jobs
        See `bootstrap_consensus`.
    consensus : callable, default=borda
        From Rankings to positions (or to an object with ``positions``, like the result of `kemeny`). It is called for
        every resample.

    Returns
    -------
    RankingIntervals

    Examples
    --------
    >>> from rankwise.aggregation.choice import ranking_intervals
    >>> found = ranking_intervals([[1, 2, 3], [1, 3, 2], [1, 2, 3]] * 9, random_state=0)
    >>> found.lower, found.upper
    (array([1., 2., 2.]), array([1., 3., 3.]))
    """
    if not callable(consensus):
        raise TypeError(f"consensus is {consensus!r}; give the function itself, such as borda or kemeny")
    found = bootstrap_consensus(
        rankings,
        consensus,
        weights=weights,
        n_resamples=n_resamples,
        level=level,
        random_state=random_state,
        n_jobs=n_jobs,
    )
    return RankingIntervals(
        found.items, found.positions, found.low, found.high, found.distribution, found.level, found.redrawn
    )
