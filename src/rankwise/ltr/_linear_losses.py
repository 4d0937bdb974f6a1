"""Losses of `LinearRanker` in NumPy: functions of the scores of all rows, with their gradients.

Pairwise losses are here, listwise ones in ``_listwise_losses``. Their names and definitions are in the table of
`rankwise.ltr.losses`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from rankwise._typing import FloatArray, IntArray
from rankwise.ltr import _linear_jit, _listwise_losses
from rankwise.ltr.losses import losses_of
from rankwise.metrics import retrieval_jit
from rankwise.queries import Gain, QueryRows, check_grades_differ, gains_of


@dataclass
class FlatLoss:
    """A loss of the scores of all rows.

    Attributes
    ----------
    value_and_gradient : callable
        Scores -> loss, and its gradient.
    refresh : callable or None
        Scores, number of the round from 0 -> nothing; makes the loss that of the round, by the ranking that the scores
        give.
    """

    value_and_gradient: Callable[[FloatArray], tuple[float, FloatArray]]
    refresh: Callable[[FloatArray, int], None] | None = None


def make_flat_loss(
    name: str,
    rows: QueryRows,
    gain: Gain,
    max_pairs: int,
    rng: np.random.Generator,
    place_weights: _listwise_losses.PlaceWeights = "exp",
) -> FlatLoss:
    """The loss of the name on these rows: a sum over queries, or over given comparisons."""
    if name in ("pairwise_squared_hinge", "pairwise_squared") and rows.pairs is None:
        return _margins(name, rows)
    if name in losses_of("LinearRanker", "pairwise"):
        return _pairwise(name, rows, gain, max_pairs, rng)
    if name in ("listwise_listnet", "listwise_softmax"):
        loss = _listwise_losses.cross_entropy(name, rows)
        return FlatLoss(lambda score: loss(score)[:2])
    likelihood = _listwise_losses.likelihood(name, rows, place_weights)
    order = _listwise_losses.order_by_grade(rows)
    return FlatLoss(lambda score: likelihood(score, order)[:2])


def _margins(name: str, rows: QueryRows) -> FlatLoss:
    """Squares of margins: sums over sorted scores give all pairs at once, so no pair has to be listed."""
    check_grades_differ(rows.grade, rows.bounds)
    level, root = _levels(rows), np.sqrt(rows.weight)
    counts = _linear_jit.count_pairs(rows.grade, rows.bounds)
    factor = np.divide(1.0, counts, out=np.zeros(len(counts)), where=counts > 0)
    is_hinge = name == "pairwise_squared_hinge"

    def value_and_gradient(score: FloatArray) -> tuple[float, FloatArray]:
        gradient = np.empty(len(score))
        value = _linear_jit.margin_loss(score, level, root, rows.bounds, factor, is_hinge, gradient)
        return float(value), gradient

    return FlatLoss(value_and_gradient)


def _levels(rows: QueryRows) -> IntArray:
    """Grades of each query, counted from 0."""
    order = np.lexsort((rows.grade, rows.query))
    grade, query = rows.grade[order], rows.query  # sorted by query, rows lie as before
    steps = np.cumsum(np.append(False, (np.diff(grade) != 0) | (np.diff(query) != 0)))
    level = np.empty(len(order), dtype=np.intp)
    level[order] = steps - steps[rows.bounds[:-1]][query]
    return level


def _pairwise(name: str, rows: QueryRows, gain: Gain, max_pairs: int, rng: np.random.Generator) -> FlatLoss:
    if rows.pairs is not None:
        winners, losers, base = rows.pairs
    else:
        winners, losers, base = _all_pairs(rows, max_pairs, rng)
    weight = base.copy()
    if name == "pairwise_hinge":
        return _rounded_hinge(winners, losers, weight)
    loss_of = {"pairwise_squared_hinge": _squared_hinge, "pairwise_squared": _squared}.get(name, _logistic)

    def value_and_gradient(score: FloatArray) -> tuple[float, FloatArray]:
        value, gradient = loss_of(score[winners] - score[losers])
        gradient *= weight
        up, down = (np.bincount(ends, gradient, len(score)) for ends in (winners, losers))
        return float(value @ weight), np.asarray(up - down, dtype=np.float64)

    if name != "lambdarank" or rows.pairs is not None:
        return FlatLoss(value_and_gradient)
    gains = gains_of(rows.grade, gain)
    longest = int(np.diff(rows.bounds).max())
    discount = 1 / np.log2(np.arange(2.0, longest + 2))
    ideal = retrieval_jit.ideal_dcg(np.require(gains, np.float64, ["C", "W"]), rows.bounds, discount)[rows.query]
    n_pairs = np.bincount(rows.query[winners], minlength=rows.n_queries)[rows.query[winners]]
    # A mean over pairs would undo what the weights are for: here they add up.
    differences, ideal = abs(gains[winners] - gains[losers]), ideal[winners]
    base = base * n_pairs * np.divide(differences, ideal, out=np.zeros_like(differences), where=ideal > 0)
    starts = np.repeat(rows.bounds[:-1], np.diff(rows.bounds))

    def refresh(score: FloatArray, number: int) -> None:
        place = np.empty(len(score), dtype=np.intp)
        place[np.lexsort((-score, rows.query))] = np.arange(len(score))
        discounts = discount[place - starts]
        weight[:] = base * abs(discounts[winners] - discounts[losers])

    return FlatLoss(value_and_gradient, refresh)


def _rounded_hinge(winners: IntArray, losers: IntArray, weight: FloatArray) -> FlatLoss:
    """The hinge, its kink rounded off over a width that halves from round to round; L-BFGS needs a gradient.

    The rounded loss is below the hinge by at most half the width, so that the last round misses the least objective by
    at most that times C and the sum of the weights.
    """
    width = 1.0

    def value_and_gradient(score: FloatArray) -> tuple[float, FloatArray]:
        short = 1 - (score[winners] - score[losers])
        share = np.clip(short / width, 0, 1)
        gradient = weight * share
        up, down = (np.bincount(ends, gradient, len(score)) for ends in (winners, losers))
        return float(weight @ (share * (short - width * share / 2))), np.asarray(down - up, dtype=np.float64)

    def refresh(score: FloatArray, number: int) -> None:
        nonlocal width
        width = 2.0**-number

    return FlatLoss(value_and_gradient, refresh)


def _all_pairs(rows: QueryRows, max_pairs: int, rng: np.random.Generator) -> tuple[IntArray, IntArray, FloatArray]:
    """Pairs of different relevance with weights that make each query a mean; a sample if there are too many."""
    check_grades_differ(rows.grade, rows.bounds)
    counts = _linear_jit.count_pairs(rows.grade, rows.bounds)
    if counts.sum() <= max_pairs:
        winners, losers = _linear_jit.list_pairs(rows.grade, rows.bounds, counts.sum())
    else:
        draws = max(1, max_pairs // len(rows.grade))
        first = np.repeat(np.arange(len(rows.grade)), draws)
        sizes, starts = np.diff(rows.bounds)[rows.query[first]], rows.bounds[rows.query[first]]
        second = starts + (rng.random(len(first)) * sizes).astype(np.intp)
        differ = rows.grade[first] != rows.grade[second]
        first, second = first[differ], second[differ]
        swap = rows.grade[first] < rows.grade[second]
        winners, losers = np.where(swap, second, first), np.where(swap, first, second)
    query = rows.query[winners]
    per_query = np.bincount(query, minlength=rows.n_queries)[query]
    return winners, losers, np.sqrt(rows.weight[winners] * rows.weight[losers]) / per_query


def _logistic(gap: FloatArray) -> tuple[FloatArray, FloatArray]:
    tail = np.exp(-abs(gap))
    return np.log1p(tail) + np.maximum(-gap, 0), -np.where(gap > 0, tail, 1.0) / (1 + tail)


def _squared_hinge(gap: FloatArray) -> tuple[FloatArray, FloatArray]:
    short = np.maximum(1 - gap, 0)
    return short**2, -2 * short


def _squared(gap: FloatArray) -> tuple[FloatArray, FloatArray]:
    return (1 - gap) ** 2, -2 * (1 - gap)
