"""All rankings of lowest cost, where they are few."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice

import numpy as np

from rankwise._arguments import check_whole_number
from rankwise._random import check_generator
from rankwise._typing import ArrayLike, RandomState
from rankwise.aggregation.median.consensus import clock_for, joined, solved_parts
from rankwise.aggregation.median.tails import OnlyOrder, optimal_orders
from rankwise.aggregation.pairwise import as_preference_matrix, check_comparisons, warn_of_groups
from rankwise.data import Rankings

# So many beginnings of orders take a second or two.
_MOST_BEGINNINGS = 200_000


@dataclass(frozen=True, eq=False)
class OptimalRankings:
    """Rankings of lowest cost, and whether there are others; made by `all_optimal`.

    Attributes
    ----------
    rankings : Rankings
        Different full rankings, each proven optimal.
    complete : bool
        Whether these are all.
    cost : float
        The cost of each of them.
    """

    rankings: Rankings
    complete: bool
    cost: float

    def __repr__(self) -> str:
        number = len(self.rankings)
        what = "all" if self.complete else "there may be more than"
        return f"OptimalRankings: {what} {number:,} of cost {self.cost:,.10g}"


def all_optimal(
    rankings_or_matrix: ArrayLike,
    *,
    limit: int = 100,
    time_limit: float | None = None,
    random_state: RandomState = None,
) -> OptimalRankings:
    """List the full rankings that disagree least with the given ones: all of Kemeny's consensuses.

    Parameters
    ----------
    rankings_or_matrix : Rankings, array-like of positions (n_rankings, n_items), PreferenceMatrix, or square array
        As in `kemeny`.
    limit : int, default=100
        How many to list at most; there can be as many as there are permutations.
    time_limit : float, optional
        Seconds to prove one of them optimal in, by default 60.
    random_state : None, int, Generator or RandomState
        Of the search for the first one.

    Returns
    -------
    OptimalRankings
        ``complete`` says whether all are listed. It is False beyond the limit, and where a component of more than 16
        items leaves too many possibilities to look at.

    Examples
    --------
    >>> from rankwise.aggregation import all_optimal
    >>> found = all_optimal([[1, 2, 3], [2, 3, 1], [3, 1, 2]])
    >>> found
    OptimalRankings: all 3 of cost 4
    >>> found.rankings.orders().tolist()
    [[0, 1, 2], [1, 2, 0], [2, 0, 1]]
    """
    check_whole_number("limit", limit, at_least=1)
    clock = clock_for(time_limit, "auto")
    matrix = as_preference_matrix(rankings_or_matrix)
    check_comparisons(matrix)
    warn_of_groups(matrix)
    parts = solved_parts(matrix.wins, "auto", clock, check_generator(random_state), _MOST_BEGINNINGS)
    consensus = joined(matrix, parts)
    if not consensus.optimal:
        raise ValueError(
            f"no ranking was proven optimal in time, the best has a gap of {100 * consensus.gap:.3g} %; give a longer "
            "time_limit, or take the best one from kemeny"
        )
    tails = [OnlyOrder(part.order) if part.tails is None else part.tails for part in parts]
    orders = list(islice(optimal_orders(matrix.wins, [part.items for part in parts], tails), limit + 1))
    complete = len(orders) <= limit and all(part.tails is not None for part in parts)
    listed = np.array(orders[:limit])
    positions = np.empty(listed.shape)
    np.put_along_axis(positions, listed, np.arange(1.0, matrix.n_items + 1)[None, :], axis=1)
    positions = positions[np.lexsort(listed.T[::-1])]
    return OptimalRankings(Rankings(positions, items=matrix.items), complete, consensus.cost)
