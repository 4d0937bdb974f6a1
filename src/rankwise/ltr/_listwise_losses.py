"""Losses of whole queries in NumPy: listwise ones, and pointwise ones after the best shift of each query.

Each function checks the rows once and returns the loss of the scores of all rows, with its gradient and diagonal second
derivative. `LinearRanker` uses the value and the gradient, boosting both derivatives. Names and definitions are in the
table of `rankwise.ltr.losses`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np
from scipy.special import expit

from rankwise._sklearn import StrOptions
from rankwise._typing import ArrayLike, FloatArray, IntArray
from rankwise.ltr import _listwise_jit
from rankwise.ltr.base import check_longest, check_query_weights
from rankwise.metrics import retrieval_jit
from rankwise.queries import Gain, QueryRows, check_grades_differ, check_grades_not_negative, gains_of

#: scores of all rows -> loss, gradient, diagonal second derivative
Derivatives = Callable[[FloatArray], tuple[float, FloatArray, FloatArray]]

#: what a place counts in p-ListMLE: a name, weights of the first places, or a function of places and sizes of queries
PlaceWeights = Literal["exp", "log", "reciprocal"] | Sequence[float] | Callable[[FloatArray, FloatArray], ArrayLike]
#: what the parameter of that name takes
PLACE_WEIGHTS: list[Any] = [StrOptions({"exp", "log", "reciprocal"}), "array-like", callable]

#: the unit in which ApproxNDCG measures gaps of scores, as in `NeuralRanker`
TEMPERATURE = 0.1


def cross_entropy(name: str, rows: QueryRows) -> Derivatives:
    """Cross entropy of the softmax of the scores with a distribution made of relevance."""
    weight = check_query_weights(rows, repr(name))
    starts, query = rows.bounds[:-1], rows.query
    if name == "listwise_listnet":
        mass = np.exp(rows.grade - np.maximum.reduceat(rows.grade, starts)[query])
    else:
        check_grades_not_negative(rows.grade, repr(name))
        mass = rows.grade
    total = np.add.reduceat(mass, starts)[query]
    # A query without relevant rows has no distribution and contributes nothing.
    target = np.divide(mass, total, out=np.zeros_like(mass), where=total > 0) * weight[query]
    check_grades_differ(rows.grade, rows.bounds)
    return _softmax(target, np.zeros(len(target)), rows)


def query_softmax(rows: QueryRows) -> Derivatives:
    """The same with p ~ y, where a query counts as often as it has relevance; rows may have weights of their own."""
    check_grades_not_negative(rows.grade, "'query_softmax'")
    check_grades_differ(rows.grade, rows.bounds)
    return _softmax(rows.weight * rows.grade, np.log(rows.weight), rows)


def _softmax(target: FloatArray, offset: FloatArray, rows: QueryRows) -> Derivatives:
    """Minus the sum of targets times log probabilities, which are those of scores plus offsets."""
    starts, query = rows.bounds[:-1], rows.query
    share = np.add.reduceat(target, starts)

    def derivatives(score: FloatArray) -> tuple[float, FloatArray, FloatArray]:
        shifted = score + offset
        highest = np.maximum.reduceat(shifted, starts)
        power = np.exp(shifted - highest[query])
        sums = np.add.reduceat(power, starts)
        probability = power / sums[query]
        value = share @ (np.log(sums) + highest) - target @ shifted
        expected = share[query] * probability
        return float(value), expected - target, expected * (1 - probability)

    return derivatives


def place_factors(places: FloatArray, sizes: FloatArray, weights: PlaceWeights) -> FloatArray:
    """What p-ListMLE multiplies each place of a query by: for place k of K, of arrays of both.

    The weights 2^(K - k) - 1 are those over the largest, as powers would overflow; all others are taken as they are.
    """
    if isinstance(weights, str):
        if weights == "exp":
            # 2^(K - k) - 1 over 2^(K - 1) - 1, written so that no power overflows.
            least = np.exp2(1.0 - sizes)
            return np.divide(np.exp2(1 - places) - least, 1 - least, out=np.zeros_like(places), where=sizes > 1)
        return 1 / np.log2(places + 1) if weights == "log" else 1 / places
    if callable(weights):
        found, name = np.asarray(weights(places, sizes), dtype=np.float64), "place_weights(places, sizes)"
    else:
        found, name = np.asarray(weights, dtype=np.float64), "place_weights"
        if found.ndim == 1:
            table = np.append(found, 0.0)  # further places do not count
            found = table[np.minimum(places.astype(np.intp) - 1, len(found))]
    if found.shape != places.shape or not np.isfinite(found).all() or (found < 0).any():
        raise ValueError(f"{name} must be finite numbers of 0 or more, one for each place; the first places count most")
    return found


def likelihood(
    name: str, rows: QueryRows, place_weights: PlaceWeights = "exp"
) -> Callable[[FloatArray, IntArray], tuple[float, FloatArray, FloatArray]]:
    """Plackett-Luce likelihood of an order by relevance, which is given with the scores; see `order_by_grade`."""
    factor = check_query_weights(rows, repr(name))[rows.query]
    check_grades_differ(rows.grade, rows.bounds)
    if name == "listwise_plistmle":
        sizes = np.diff(rows.bounds)[rows.query].astype(np.float64)
        places = (np.arange(len(rows.grade)) - rows.bounds[rows.query] + 1).astype(np.float64)
        factor = factor * place_factors(places, sizes, place_weights)

    def derivatives(score: FloatArray, order: IntArray) -> tuple[float, FloatArray, FloatArray]:
        ordered, gradient, hessian = np.empty((3, len(score)))
        bends = np.empty(len(score))
        value = _listwise_jit.order_likelihood(score[order], rows.bounds, factor, ordered, bends)
        gradient[order], hessian[order] = ordered, bends
        return float(value), gradient, hessian

    return derivatives


def order_by_grade(rows: QueryRows, rng: np.random.Generator | None = None) -> IntArray:
    """Rows of each query by descending grade; equal ones as they lie, or in an order that is drawn."""
    ties = np.arange(len(rows.grade)) if rng is None else rng.random(len(rows.grade))
    return np.lexsort((ties, -rows.grade, rows.query))


def approximate_ndcg(rows: QueryRows, gain: Gain) -> Derivatives:
    """1 - NDCG with smooth places; the second derivative is a bound, see the kernel."""
    weight = check_query_weights(rows, "'listwise_approx_ndcg'")
    check_grades_differ(rows.grade, rows.bounds)
    longest = int(np.diff(rows.bounds).max())
    check_longest(longest, "'listwise_approx_ndcg'", "use 'listwise_softmax'")
    gains = np.require(gains_of(rows.grade, gain), np.float64, ["C", "W"])
    ideal = retrieval_jit.ideal_dcg(gains, rows.bounds, 1 / np.log2(np.arange(2.0, longest + 2)))
    scale = np.divide(weight, ideal, out=np.zeros_like(ideal), where=ideal > 0)

    def derivatives(score: FloatArray) -> tuple[float, FloatArray, FloatArray]:
        gradient, hessian = np.empty((2, len(score)))
        value = _listwise_jit.approximate_ndcg(score, gains, rows.bounds, scale, TEMPERATURE, gradient, hessian)
        return float(weight[scale > 0].sum() + value), gradient, hessian

    return derivatives


def query_rmse(rows: QueryRows) -> Derivatives:
    """Squared error of scores and grades that are both centered within the query; derivatives are those of half."""
    check_grades_differ(rows.grade, rows.bounds)
    starts, query = rows.bounds[:-1], rows.query
    total = np.add.reduceat(rows.weight, starts)
    hessian = rows.weight * (1 - rows.weight / total[query])

    def derivatives(score: FloatArray) -> tuple[float, FloatArray, FloatArray]:
        apart = score - rows.grade
        gradient = rows.weight * (apart - (np.add.reduceat(rows.weight * apart, starts) / total)[query])
        return float(gradient @ apart) / 2, gradient, hessian

    return derivatives


def query_cross_entropy(rows: QueryRows) -> Derivatives:
    """Logistic loss of grades as shares of the highest one, with the shift of each query that makes it least."""
    check_grades_differ(rows.grade, rows.bounds)
    check_grades_not_negative(rows.grade, "'query_cross_entropy'")
    target = rows.grade / rows.grade.max()
    starts, query = rows.bounds[:-1], rows.query

    def derivatives(score: FloatArray) -> tuple[float, FloatArray, FloatArray]:
        shifts = np.empty(len(starts))
        _listwise_jit.logistic_shifts(score, target, rows.weight, rows.bounds, shifts)
        shifted = score + shifts[query]
        probability = expit(shifted)
        bend = rows.weight * probability * (1 - probability)
        total = np.add.reduceat(bend, starts)[query]
        # As the shift moves along, a row moves its own probability by less.
        hessian = bend * (1 - np.divide(bend, total, out=np.zeros_like(bend), where=total > 0))
        known = np.isfinite(shifted)
        value = rows.weight[known] @ (np.logaddexp(0, shifted[known]) - target[known] * shifted[known])
        return float(value), rows.weight * (probability - target), hessian

    return derivatives
