"""Kemeny's consensus of rankings that arrive one after the other: `RunningConsensus`."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np

from rankwise._memory import check_memory_of_pairs
from rankwise._typing import ArrayLike, FloatArray, IntArray, RandomState
from rankwise._validation import check_generator, check_real_number, check_weights, check_whole_number, item_names
from rankwise.aggregation.kemeny import kemeny_from
from rankwise.aggregation.kemeny_result import Consensus
from rankwise.aggregation.pairs import PreferenceMatrix, check_comparisons
from rankwise.data import Rankings, check_positions, pairs_jit

# The counts of wins and ties, and copies for the matrix that is given away.
_MATRICES = 8


class RunningConsensus:
    """Kemeny's consensus of all rankings so far, or of the latest ones, updated as they arrive.

    Only the counts of pairs are kept (and, for a window, the rankings in it): an update takes a few operations for
    each pair of items. A new consensus starts from the last one, which mostly still is the best and needs only a proof.

    Parameters
    ----------
    items : int or sequence of hashable
        The number of items, or their names.
    window : int, optional
        How many rankings count: the latest ones. By default all.

    Attributes
    ----------
    items : tuple
        Names of the items.
    n_seen : int
        Number of rankings that have arrived.

    Examples
    --------
    >>> from rankwise.aggregation import RunningConsensus
    >>> running = RunningConsensus(["tea", "milk", "juice"], window=3)
    >>> running.partial_fit([[1, 2, 3], [1, 3, 2]]).consensus().cost
    1.0
    >>> running.partial_fit([[3, 1, 2], [3, 1, 2]]).consensus()
    Consensus: milk > juice > tea
      cost 3, proven optimal (condorcet)
    """

    def __init__(self, items: int | Sequence[Hashable], window: int | None = None) -> None:
        if isinstance(items, int | np.integer):
            items = range(check_whole_number("items", int(items), at_least=2))
        self.items: tuple[Hashable, ...] = tuple(items)
        if len(set(self.items)) < max(2, len(self.items)):
            raise ValueError(f"items are {list(self.items)}; give two different names or more, or their number")
        k = len(self.items)
        check_memory_of_pairs(k, _MATRICES)
        self.n_seen = 0
        self._wins, self._ties = np.zeros((2, k, k))
        self._latest: FloatArray | None = None
        if window is not None:
            size = check_whole_number("window", window, at_least=1)
            self._latest, self._weights = np.full((size, k), np.nan), np.zeros(size)
        self._order: IntArray | None = None

    def partial_fit(self, rankings: ArrayLike, sample_weight: ArrayLike | None = None) -> RunningConsensus:
        """Count further rankings: positions of any kind, 1 = best, one row per ranking.

        Parameters
        ----------
        rankings : Rankings or array-like of shape (n_rankings, n_items)
            Columns are the items, in their order.
        sample_weight : array-like of shape (n_rankings,), optional
            How often each ranking counts; by default the weights of the Rankings, or ones.

        Returns
        -------
        RunningConsensus
        """
        positions = check_positions(rankings)
        if positions.shape[1] != len(self.items):
            raise ValueError(f"the rankings have {positions.shape[1]} items, but this consensus has {len(self.items)}")
        names = item_names(rankings)
        if names is not None and tuple(names) != self.items and self.items != tuple(range(len(self.items))):
            raise ValueError(
                f"the rankings have the items {names}, but this consensus {list(self.items)}, in this order"
            )
        if sample_weight is not None:
            weights = check_weights(sample_weight, len(positions), name="sample_weight")
        elif isinstance(rankings, Rankings):
            weights = rankings.weights
        else:
            weights = np.ones(len(positions))
        start = self.n_seen
        self.n_seen += len(positions)
        if self._latest is not None:
            size = len(self._latest)
            start += max(0, len(positions) - size)  # earlier ones leave the window at once
            positions, weights = positions[-size:], weights[-size:]
            slots = np.arange(start, start + len(positions)) % size
            pairs_jit.add_pairs(self._latest[slots], -self._weights[slots], self._wins, self._ties)
            self._latest[slots], self._weights[slots] = positions, weights
        pairs_jit.add_pairs(positions, np.ascontiguousarray(weights), self._wins, self._ties)
        return self

    @property
    def matrix(self) -> PreferenceMatrix:
        """The pairwise preferences of the rankings that count, for other rules and statistics."""
        # Fractions that were added and taken away may leave a rounding error below 0.
        return PreferenceMatrix(np.maximum(self._wins, 0.0), np.maximum(self._ties, 0.0), self.items)

    def consensus(self, time_limit: float | None = 1.0, random_state: RandomState = None) -> Consensus:
        """The consensus of the rankings that count, as `kemeny` finds it.

        Parameters
        ----------
        time_limit : float, optional
            Seconds of search, after which the best ranking found is returned with its gap; None for no limit.
        random_state : None, int, Generator or RandomState
            Random numbers of the search for a good ranking.

        Returns
        -------
        Consensus
        """
        if time_limit is not None:
            check_real_number("time_limit", time_limit, infinite=True)
        matrix = self.matrix
        check_comparisons(matrix)
        found = kemeny_from(matrix, self._order, time_limit, check_generator(random_state))
        self._order = np.argsort(found.positions, kind="stable")
        return found
