"""Paired comparisons as counts: who met whom, where, and how often each won or they tied.

`BradleyTerry` reads rankings of pairs, matrices of wins, and columns of winners and losers into `Comparisons`.
"""

from __future__ import annotations

import reprlib
from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np

from rankwise._typing import ArrayLike, FloatArray, IntArray
from rankwise._validation import check_items, check_weights, is_null, list_of_names, shortlist
from rankwise.aggregation.pairs import PreferenceMatrix, as_preference_matrix, square_array
from rankwise.data import Rankings


class Comparisons(NamedTuple):
    """Counts of outcomes, one entry for each pair of items and venue.

    ``venue`` is 1 where the first item is at home, -1 where the second is, 0 on neutral ground.
    """

    first: IntArray
    second: IntArray
    venue: FloatArray
    first_wins: FloatArray
    second_wins: FloatArray
    ties: FloatArray
    items: tuple[Hashable, ...]

    def links(self) -> tuple[IntArray, IntArray]:
        """Pairs (better, worse), where a tie links both ways."""
        down = self.first_wins + self.ties > 0
        up = self.second_wins + self.ties > 0
        above = np.concatenate([self.first[down], self.second[up]])
        below = np.concatenate([self.second[down], self.first[up]])
        return above, below

    @property
    def total(self) -> FloatArray:
        """How often each entry was compared."""
        return self.first_wins + self.second_wins + self.ties

    def squared(self) -> Comparisons:
        """The same comparisons with the squares of their weights."""
        return self._replace(first_wins=self.first_wins**2, second_wins=self.second_wins**2, ties=self.ties**2)

    def lightest(self) -> float:
        """The smallest positive count."""
        counts = np.concatenate([self.first_wins, self.second_wins, self.ties])
        return float(counts[counts > 0].min(initial=np.inf))

    def with_half_ties(self) -> Comparisons:
        """The same comparisons, a tie counted as half a win for each side."""
        half = self.ties / 2
        return self._replace(
            first_wins=self.first_wins + half, second_wins=self.second_wins + half, ties=np.zeros_like(half)
        )

    def merged(self) -> Comparisons:
        """The same counts with one entry per pair and venue, the smaller id first, nothing of weight 0."""
        swap = self.first > self.second
        first, second = np.where(swap, self.second, self.first), np.where(swap, self.first, self.second)
        venue = np.where(swap, -self.venue, self.venue)
        wins = np.where(swap, self.second_wins, self.first_wins)
        losses = np.where(swap, self.first_wins, self.second_wins)
        counted = wins + losses + self.ties > 0
        code = (first * len(self.items) + second) * 3 + venue.astype(np.intp) + 1
        unique, index = np.unique(code[counted], return_inverse=True)
        pair, place = np.divmod(unique, 3)

        def total(column: FloatArray) -> FloatArray:
            return np.bincount(index, column[counted], minlength=len(unique)).astype(np.float64)

        return Comparisons(
            pair // len(self.items),
            pair % len(self.items),
            place - 1.0,
            total(wins),
            total(losses),
            total(self.ties),
            self.items,
        )


def comparisons_from_rankings(rankings: Rankings, home: ArrayLike | None = None) -> Comparisons:
    """Rankings of two items each; those of fewer say nothing, those of more are refused."""
    present = ~np.isnan(rankings.positions)
    sizes = present.sum(axis=1)
    too_large = (sizes > 2) & (rankings.weights > 0)
    if too_large.any():
        row = int(np.argmax(too_large))
        raise ValueError(
            f"ranking {row} holds {sizes[row]} items, but Bradley-Terry compares two at a time; use PlackettLuce, or "
            "break the rankings into pairs with preference_matrix (the standard errors are then too small)"
        )
    # Where an item is missing, the pair is made up, but no comparison with NaN is true: it gets weight 0.
    first, second = np.argsort(~present, axis=1, kind="stable")[:, :2].T
    rows = np.arange(len(rankings))
    a, b = rankings.positions[rows, first], rankings.positions[rows, second]
    weights = rankings.weights
    venue = _venue(home, first, second, rankings.items)
    ties = weights * ((a == b) & np.isfinite(a))
    return Comparisons(first, second, venue, weights * (a < b), weights * (b < a), ties, rankings.items)


def comparisons_from_matrix(wins: ArrayLike) -> Comparisons:
    """A `PreferenceMatrix`, or a square array or data frame whose entry (i, j) is how often i beat j."""
    if not isinstance(wins, PreferenceMatrix):
        array = square_array(wins)
        if array is None or len(array) < 2:
            raise ValueError(
                f"the wins are {reprlib.repr(wins)}, but need numbers, one row and one column per item (entry (i, j): "
                "how often i beat j). Positions come as Rankings(positions)"
            )
        if np.any(np.diag(array) > 0):
            raise ValueError(
                "the diagonal of the matrix of wins is not 0, but no item beats itself. If the rows are positions, "
                "give Rankings(positions)"
            )
        wins = as_preference_matrix(wins)
    first, second = np.triu_indices(len(wins.wins), 1)
    first_wins, second_wins, ties = wins.wins[first, second], wins.wins[second, first], wins.ties[first, second]
    return Comparisons(first, second, np.zeros(len(first)), first_wins, second_wins, ties, wins.items)


def comparisons_from_arrays(
    winner: ArrayLike,
    loser: ArrayLike,
    sample_weight: ArrayLike | None,
    tie: ArrayLike | None,
    home: ArrayLike | None,
    items: Sequence[Hashable] | None,
) -> Comparisons:
    """One comparison per entry; where ``tie`` is true, winner and loser are just the two items."""
    winners, losers = list_of_names(winner), list_of_names(loser)
    n = len(winners)
    if n == 0 and items is None:
        raise ValueError("there are no comparisons, so the items are unknown; give items")
    if len(losers) != n:
        raise ValueError(f"winner has {n} entries and loser {len(losers)}; give one of each per comparison")
    names = check_items(items, len(items)) if items is not None else _names(winners, losers)
    first, second = _ids(winners, names, "winner"), _ids(losers, names, "loser")
    alone = first == second
    if alone.any():
        row = int(np.argmax(alone))
        raise ValueError(f"comparison {row} is of {winners[row]!r} with itself; drop it")
    weights = check_weights(sample_weight, n, name="sample_weight", each="comparison")
    tied = np.zeros(n, dtype=bool) if tie is None else np.asarray(tie)
    if tied.shape != (n,) or not np.isin(tied, (False, True)).all():
        raise ValueError("tie must be true or false, one entry per comparison")
    tied = tied.astype(bool)
    venue = _venue(home, first, second, names)
    return Comparisons(first, second, venue, weights * ~tied, np.zeros(n), weights * tied, names)


def _names(winners: list[Hashable], losers: list[Hashable]) -> tuple[Hashable, ...]:
    """The names that occur: numbers in increasing order, others in order of first appearance."""
    every = dict.fromkeys(name for pair in zip(winners, losers, strict=True) for name in pair)
    names: list[Any] = [name for name in every if not is_null(name)]
    if all(isinstance(name, int | float) for name in names):
        names.sort()
    return tuple(names)


def _ids(column: list[Hashable], names: tuple[Hashable, ...], what: str) -> IntArray:
    index = {name: i for i, name in enumerate(names)}
    ids = np.array([index.get(name, -1) for name in column], dtype=np.intp)
    if (ids < 0).any():
        row = int(np.argmax(ids < 0))
        raise ValueError(f"{what}[{row}] is {column[row]!r}, which is not an item; the items are {shortlist(names)}")
    return ids


def _venue(home: ArrayLike | None, first: IntArray, second: IntArray, names: tuple[Hashable, ...]) -> FloatArray:
    """1 where the first item is at home, -1 where the second is, 0 where neither."""
    venue = np.zeros(len(first))
    if home is None:
        return venue
    hosts = list_of_names(home)
    if len(hosts) != len(first):
        raise ValueError(
            f"home has {len(hosts)} entries for {len(first)} comparisons; give the item at home, or None, for each"
        )
    for row, host in enumerate(hosts):
        if is_null(host):
            continue
        a, b = names[first[row]], names[second[row]]
        if host not in (a, b):
            raise ValueError(
                f"home[{row}] is {host!r}, but that comparison is of {a!r} and {b!r}; give one of them, "
                "or None for neutral ground"
            )
        venue[row] = 1.0 if host == a else -1.0
    return venue
