"""Rankings as repeated choices: the log likelihood of Davidson-Luce with its derivatives, for `PlackettLuce`.

In the worths of items, or in coefficients of attributes that differ between rankings; and of a model of equal items.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from rankwise._typing import FloatArray, IntArray
from rankwise.aggregation import _attributes_jit, _likelihood_jit
from rankwise.aggregation._likelihood import Moments, equal_items_log_likelihood
from rankwise.aggregation.sandwich import sum_of_squares
from rankwise.data import Rankings

# Items of rankings with attributes of their own whose products are held at once: some megabytes.
_BLOCK_ENTRIES = 1 << 14


class Choices(NamedTuple):
    """Rankings laid flat; see `_likelihood_jit`."""

    order: IntArray
    row_start: IntArray
    stage_size: IntArray
    stage_start: IntArray


def flatten(rankings: Rankings) -> Choices:
    return Choices(*_likelihood_jit.flatten(rankings.positions))


def tie_sizes(choices: Choices) -> IntArray:
    """Sizes of ties that occur: one that nobody chose has strength 0 and is not a parameter."""
    return 2 + np.flatnonzero(np.bincount(choices.stage_size, minlength=3)[2:] > 0)


def _log_tie(sizes: IntArray, logs: FloatArray) -> FloatArray:
    log_tie = np.full(int(sizes.max(initial=1)), -np.inf)
    log_tie[0] = 0.0
    log_tie[sizes - 1] = logs
    return log_tie


def moments_of_worths(choices: Choices, weights: FloatArray, k: int, sizes: IntArray) -> Moments:
    """Moments in the log worths and the logarithms of the tie strengths that occur."""
    order, row_start, _, stage_start = choices
    kept = np.concatenate([np.arange(k), k + sizes - 2])

    def moments(theta: FloatArray, with_information: bool) -> tuple[float, FloatArray, FloatArray]:
        if not len(sizes):
            return _likelihood_jit.strict_moments(order, row_start, stage_start, weights, theta, with_information)
        value, gradient, information = _likelihood_jit.tied_moments(
            *choices, weights, theta[:k], _log_tie(sizes, theta[k:]), with_information
        )
        return value, gradient[kept], information[np.ix_(kept, kept)] if with_information else information

    return moments


def moments_of_attributes(choices: Choices, weights: FloatArray, features: FloatArray, sizes: IntArray) -> Moments:
    """Moments in the coefficients of attributes that differ between rankings, and in the tie strengths."""
    order, row_start, stage_size, stage_start = choices
    d = features.shape[1]
    kept = np.concatenate([np.arange(d), d + sizes - 2])
    # Blocks of whole rankings with about _BLOCK_ENTRIES items each.
    cuts = np.searchsorted(row_start, np.arange(0, len(order), _BLOCK_ENTRIES), side="left")
    blocks = np.unique(np.append(cuts, len(weights)))
    longest = int(np.diff(row_start[blocks]).max(initial=0))

    def moments(theta: FloatArray, with_information: bool) -> tuple[float, FloatArray, FloatArray]:
        scores = features @ theta[:d]
        if len(sizes):
            log_tie = _log_tie(sizes, theta[d:])
            m = d + len(log_tie) - 1
            gradient, information = np.zeros(m), np.zeros((m, m) if with_information else (0, 0))
            value = _likelihood_jit.tied_moments_of_rows(
                row_start, stage_size, stage_start, weights, scores, features, log_tie, gradient, information
            )
            return value, gradient[kept], information[np.ix_(kept, kept)] if with_information else information
        value, gradient, information = 0.0, np.zeros(d), np.zeros((d, d) if with_information else (0, 0))
        spread = np.empty((longest if with_information else 0, d))
        means = np.empty_like(spread)
        for first, last in pairwise(blocks):
            value += _attributes_jit.strict_moments_of_rows(
                row_start, stage_start, weights, scores, features, first, last, spread, means, gradient
            )
            if with_information:
                size = row_start[last] - row_start[first]
                information += spread[:size].T @ spread[:size] - means[:size].T @ means[:size]
        return value, gradient, information

    return moments


def squares_of_worths(choices: Choices, weights: FloatArray, theta: FloatArray, k: int, sizes: IntArray) -> FloatArray:
    """Sum of the squared weighted scores of rankings, in the parameters of `moments_of_worths`."""
    kept = np.concatenate([np.arange(k), k + sizes - 2])

    def scores(rows: slice) -> FloatArray:
        found: FloatArray = _likelihood_jit.row_scores(*_some(choices, rows), theta[:k], _log_tie(sizes, theta[k:]))
        return found[:, kept]

    return sum_of_squares(scores, weights, len(kept))


def squares_of_attributes(
    choices: Choices, weights: FloatArray, theta: FloatArray, features: FloatArray, sizes: IntArray
) -> FloatArray:
    """The same in the parameters of `moments_of_attributes`."""
    d = features.shape[1]
    kept = np.concatenate([np.arange(d), d + sizes - 2])
    worths = features @ theta[:d]

    def scores(rows: slice) -> FloatArray:
        part = _some(choices, rows)
        found: FloatArray = _likelihood_jit.row_scores_of_attributes(
            part.row_start, part.stage_size, part.stage_start, worths, features, _log_tie(sizes, theta[d:])
        )
        return found[:, kept]

    return sum_of_squares(scores, weights, len(kept))


def _some(choices: Choices, rows: slice) -> Choices:
    ends = slice(rows.start, rows.stop + 1)
    return choices._replace(row_start=choices.row_start[ends], stage_start=choices.stage_start[ends])


def null_log_likelihood(choices: Choices, weights: FloatArray) -> float:
    """The largest log likelihood of a model of equal items: only the sizes of sets and choices count."""
    from scipy.special import comb

    sizes = tie_sizes(choices)
    table = _likelihood_jit.stage_table(
        choices.row_start, choices.stage_size, choices.stage_start, weights, int(sizes.max(initial=1))
    )
    left = np.flatnonzero(table.any(axis=1))
    chosen = np.append(1, sizes)
    counts = table[np.ix_(left, chosen)]
    sets = comb(left[:, np.newaxis], chosen)
    if not len(sizes):
        return -float(counts[:, 0] @ np.log(sets[:, 0]))

    def moments(theta: FloatArray, with_information: bool) -> tuple[float, FloatArray, FloatArray]:
        logs = np.append(0.0, theta)
        share = sets * np.exp(logs)
        total = share.sum(axis=1)
        share = share[:, 1:] / total[:, np.newaxis]
        number = counts.sum(axis=1)
        value = float(np.sum(counts @ logs) - number @ np.log(total))
        weighted = number[:, np.newaxis] * share
        gradient = counts[:, 1:].sum(axis=0) - weighted.sum(axis=0)
        return value, gradient, np.diag(weighted.sum(axis=0)) - weighted.T @ share

    return equal_items_log_likelihood(moments, 0, len(sizes), float(weights.min(initial=np.inf)))
