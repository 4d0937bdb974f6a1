"""Confidence intervals of the places of items, from comparisons of each item with the others.

`bootstrap_consensus` uses them. An item is at place 1 + the number of items ahead of it. Who is ahead of whom is a
difference with an error, a majority or a difference of scores; where it is clear, the item cannot be on the other side.
So the interval of an item runs from 1 + the number of items clearly ahead of it to the last place not held by an item
clearly behind it. The differences of one item with all others are tested together, step by step, with the bootstrap
distribution of the largest studentized one; hence an interval holds the true place at least as often as its level says,
also where items are nearly or exactly equal. There percentiles of resampled places do not: an item that is second by
chance is second in most resamples, too.

References
----------
Mogstad, Romano, Shaikh, Wilhelm (2024), Inference for ranks with applications to mobility across neighbourhoods and
academic achievement across countries, Review of Economic Studies 91: the marginal confidence sets with stepdown.
Romano, Wolf (2005), Exact and approximate stepdown methods for multiple hypothesis testing, JASA 100.
"""

from __future__ import annotations

import numpy as np

from rankwise._typing import FloatArray, IntArray

# Differences in resamples that are held in memory at once, in single precision; beyond, their errors are enough.
MOST_DEVIATIONS = 50_000_000
# Differences that vary less than this share of the largest one are the same in all resamples.
_CONSTANT = 1e-9


class PairDeviations:
    """How much differences of pairs of items vary from resample to resample; filled block by block."""

    def __init__(self, observed: FloatArray, n_resamples: int) -> None:
        self.observed = observed
        self.n_resamples = n_resamples
        self.squares = np.zeros(len(observed))
        fits = n_resamples * len(observed) <= MOST_DEVIATIONS
        self.single = np.empty((n_resamples, len(observed)), dtype=np.float32) if fits else None

    def with_block(self, start: int, differences: FloatArray | None) -> PairDeviations | None:
        """The same with a block of resamples, the first of which has this number; None if a block lacks differences."""
        if differences is None:
            return None
        deviations = differences - self.observed
        self.squares += np.einsum("ij,ij->j", deviations, deviations)
        if self.single is not None:
            self.single[start : start + len(deviations)] = deviations
        return self

    def intervals(self, n_compared: FloatArray, level: float) -> tuple[FloatArray, FloatArray]:
        """Best and worst place of each item.

        Parameters
        ----------
        n_compared : ndarray of shape (n_pairs,)
            Number of people who compare the two items of a pair.
        level : float
            Least probability that an interval holds the place of its item.
        """
        from scipy.special import ndtri

        k = round((1 + np.sqrt(1 + 8 * len(self.observed))) / 2)
        pair = np.zeros((k, k), dtype=np.intp)
        first, second = np.triu_indices(k, 1)
        pair[first, second] = pair[second, first] = np.arange(len(first))
        errors = np.sqrt(self.squares / self.n_resamples)
        varies = errors > _CONSTANT * np.max(np.abs(self.observed), initial=0.0)
        with np.errstate(divide="ignore"):
            studentized = np.abs(self.observed) / np.where(varies, errors, np.inf)
            # If all agree, the sign test decides: n heads in a row.
            agreed = -ndtri(0.5 ** np.maximum(n_compared, 1))
        alike = ~varies & (self.observed != 0)
        studentized[alike] = np.minimum(agreed[alike], 1e6)
        scale = np.where(varies, errors, np.inf).astype(np.float32)
        low, high = np.ones(k), np.full(k, float(k))
        for item in range(k):
            others = np.delete(np.arange(k), item)
            columns = pair[item, others]
            drawn = None if self.single is None else np.abs(self.single[:, columns] / scale[columns])
            clear = _clear_differences(studentized[columns], drawn, level)
            ahead = np.where(others > item, self.observed[columns], -self.observed[columns]) > 0
            low[item] = 1 + np.count_nonzero(clear & ~ahead)
            high[item] = k - np.count_nonzero(clear & ahead)
        return low, high


def _clear_differences(studentized: FloatArray, drawn: FloatArray | None, level: float) -> FloatArray:
    """Which differences are not 0, so that all are right with probability ``level``: largest first, step by step."""
    from scipy.special import ndtri

    smallest = float(-ndtri((1 - level) / 2))
    clear = np.zeros(len(studentized), dtype=bool)
    while not clear.all():
        if drawn is None:  # Holm's steps with normal quantiles
            critical = float(-ndtri((1 - level) / 2 / np.count_nonzero(~clear)))
        else:
            largest = drawn[:, ~clear].max(axis=1)
            critical = max(smallest, float(np.quantile(largest, level, method="higher")))
        new = ~clear & (studentized > critical)
        if not new.any():
            break
        clear |= new
    return clear


def places_of(positions: FloatArray) -> tuple[IntArray, IntArray]:
    """First and last place of each item of a consensus; tied items fill several places."""
    better = np.sum(positions[np.newaxis, :] < positions[:, np.newaxis], axis=1)
    same = np.sum(positions[np.newaxis, :] == positions[:, np.newaxis], axis=1)
    return better + 1, better + same
