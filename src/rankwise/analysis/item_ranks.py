"""Where items stand, one by one: mean rank with its standard error, median, first choices; for `summary`.

The rank of an item in a ranking is its midrank: tied items share the mean of the places that they fill, and so do the
unlisted items of a top-k list, below the listed ones. A ranking that holds m of k items, the others missing, counts
with the rank that is expected if the missing ones are put in at random: the midrank times (k + 1) / (m + 1).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rankwise._memory import check_memory
from rankwise._typing import FloatArray, IntArray
from rankwise.analysis import item_ranks_jit
from rankwise.data import Rankings

# Tables of items and places that are held at the same time; one of half places counts twice.
_TABLES = 4


class ItemRanks(NamedTuple):
    """Statistics of items, one entry per item, and what they are made of.

    ``ranks`` are the midranks (n_rankings, n_items), NaN where missing and in rankings that compare nothing, and
    ``sizes`` the number of items that each ranking holds, 0 where it compares nothing. ``squares`` is the sum of
    squares of the midranks of each ranking about their mean. ``n_with`` counts the rankings with ties, with unlisted
    and with missing items.
    """

    ranks: FloatArray
    sizes: IntArray
    squares: FloatArray
    n_with: IntArray
    n: FloatArray
    weight: FloatArray
    mean: FloatArray
    standard_error: FloatArray
    low: FloatArray
    high: FloatArray
    median: FloatArray
    places: FloatArray


def item_ranks(rankings: Rankings, *, level: float, people: bool) -> ItemRanks:
    """Statistics of the ranks of items; ``people`` says whether weights count people, or are survey weights."""
    check_memory(
        _TABLES * 8 * rankings.n_items**2,
        f"the places of {rankings.n_items:,} items",
        "keep the items that matter with Rankings.select([...])",
    )
    weights = rankings.weights
    ranks, sizes, squares, n_with, (weight, n_rows, total), places, heights = item_ranks_jit.rank_items(
        rankings.positions, weights
    )
    k = rankings.n_items
    counted = weight if people else n_rows
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = total / weight
        # People: the variance of a mean of n values. Survey weights: the linearized variance of a ratio of sums.
        scale = weights if people else weights**2
        variance = item_ranks_jit.sum_squares(ranks, sizes, scale, mean) / weight**2 * counted / (counted - 1)
        error = np.sqrt(np.where(counted > 1, variance, np.nan))
    low, high = _interval(mean, error, counted, level, k)
    if np.all(sizes == k):
        values = np.arange(2 * k + 1) / 2
        median = np.array([_middle(values[row > 0], row[row > 0]) for row in heights])
    else:
        median = _medians(ranks, sizes, weights)
    return ItemRanks(
        ranks=ranks,
        sizes=sizes,
        squares=squares,
        n_with=n_with,
        n=counted,
        weight=weight,
        mean=mean,
        standard_error=error,
        low=low,
        high=high,
        median=median,
        places=np.divide(places, weight[:, np.newaxis], out=np.full((k, k), np.nan), where=weight[:, np.newaxis] > 0),
    )


def _interval(
    mean: FloatArray, error: FloatArray, counted: FloatArray, level: float, k: int
) -> tuple[FloatArray, FloatArray]:
    """Student's intervals, cut where there is no rank."""
    from scipy.special import stdtrit

    with np.errstate(invalid="ignore"):
        margin = stdtrit(np.maximum(counted - 1, 1), (1 + level) / 2) * error
    return np.clip(mean - margin, 1, k), np.clip(mean + margin, 1, k)


def _medians(ranks: FloatArray, sizes: IntArray, weights: FloatArray) -> FloatArray:
    """Weighted medians of the expected ranks of each item.

    Midranks are multiples of 1/2, so those of rankings of one size are counted, not sorted.
    """
    k = ranks.shape[1]
    known_sizes = np.flatnonzero(np.bincount(sizes, minlength=1))
    size_of = np.searchsorted(known_sizes, sizes)
    width = 2 * k + 1
    values = np.outer((k + 1) / (known_sizes + 1), np.arange(width) / 2).ravel()
    order = np.argsort(values, kind="stable")
    medians = []
    for column in ranks.T:
        rows = np.flatnonzero(~np.isnan(column))
        codes = size_of[rows] * width + (2 * column[rows]).astype(np.intp)
        heights = np.bincount(codes, weights[rows], minlength=len(values)).astype(np.float64)[order]
        medians.append(_middle(values[order][heights > 0], heights[heights > 0]))
    return np.array(medians)


def _middle(values: FloatArray, weights: FloatArray) -> float:
    """Weighted median of sorted values: the mean of two neighbors if half of the weight lies on either side."""
    if not len(values):
        return float("nan")
    reached = np.cumsum(weights)
    half = reached[-1] / 2
    tolerance = 1e-12 * reached[-1]
    lower = int(np.searchsorted(reached, half - tolerance))
    upper = int(np.searchsorted(reached, half + tolerance))
    return float((values[lower] + values[min(upper, len(values) - 1)]) / 2)
