"""What `LambdaMART` boosts on: gradient and second derivative of each loss of its table, and of losses of your own.

An `Objective` is called with the scores of all rows, before each tree. Weighted pairs are in `rankwise.ltr.gradients`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.special import expit

from rankwise._typing import FloatArray, IntArray
from rankwise.ltr import _lambda_jit, _listwise_losses
from rankwise.queries import Gain, QueryRows, check_grades_differ, check_grades_not_negative

#: scores and a random generator -> gradient and second derivative of a loss
Objective = Callable[[FloatArray, np.random.Generator], tuple[FloatArray, FloatArray]]
#: relevance, scores and queries of all rows -> gradient and second derivative of a loss
CustomObjective = Callable[[FloatArray, FloatArray, IntArray], tuple[Any, Any]]


def objective_of_rows(
    name: str, rows: QueryRows, gain: Gain, place_weights: _listwise_losses.PlaceWeights = "exp"
) -> Objective:
    """The objective of a name of the table whose loss is not one of pairs."""
    if name == "pointwise_squared":
        return _pointwise_squared(rows)
    if name == "pointwise_logistic":
        return _pointwise_logistic(rows)
    if name in ("listwise_listmle", "listwise_plistmle"):
        likelihood = _listwise_losses.likelihood(name, rows, place_weights)
        # Another order of equally relevant rows for each tree: one for all would be learned.
        return lambda score, rng: likelihood(score, _listwise_losses.order_by_grade(rows, rng))[1:]
    loss = {
        "query_rmse": lambda: _listwise_losses.query_rmse(rows),
        "query_softmax": lambda: _listwise_losses.query_softmax(rows),
        "query_cross_entropy": lambda: _listwise_losses.query_cross_entropy(rows),
        "listwise_approx_ndcg": lambda: _listwise_losses.approximate_ndcg(rows, gain),
    }.get(name, lambda: _listwise_losses.cross_entropy(name, rows))()
    return lambda score, rng: loss(score)[1:]


def comparisons(winners: IntArray, losers: IntArray, weights: FloatArray) -> Objective:
    """Logistic loss of given comparisons, which replace grades."""

    def objective(score: FloatArray, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
        gradient, hessian = np.zeros(len(score)), np.zeros(len(score))
        _lambda_jit.pair_lambdas(winners, losers, weights, score, gradient, hessian)
        return gradient, hessian

    return objective


def custom(function: CustomObjective, rows: QueryRows) -> Objective:
    """A function ``(y_true, y_score, qid)`` that returns both derivatives; weights of rows multiply them."""
    query = rows.query

    def objective(score: FloatArray, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
        # Copies, since whatever the function does to its arguments must not change what is learned from.
        found = function(rows.grade.copy(), score.copy(), query.copy())
        if not isinstance(found, tuple | list) or len(found) != 2:
            raise ValueError("objective must return two arrays: the gradient and the second derivative of each row")
        gradient, hessian = (np.asarray(part, dtype=np.float64) for part in found)
        for name, part in (("gradient", gradient), ("second derivative", hessian)):
            if part.shape != score.shape or not np.isfinite(part).all():
                raise ValueError(
                    f"the {name} of objective must be {len(score)} finite numbers, one for each row; its shape is "
                    f"{part.shape}"
                )
        if hessian.min() < 0:
            raise ValueError(
                f"objective returned the second derivative {hessian.min():g}, but a Newton step needs 0 or more; "
                "return a bound on it, or ones with newton=False"
            )
        return rows.weight * gradient, rows.weight * hessian

    return objective


def plain_gradient(objective: Objective, rows: QueryRows) -> Objective:
    """Gradient boosting without Newton steps: all rows share the mean second derivative.

    Leaves are then means of gradients, as in Friedman (2001), over one number, the same for all leaves of a tree, that
    lets the learning rate mean what it does for Newton steps.
    """

    def flat(score: FloatArray, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
        gradient, hessian = objective(score, rng)
        counts = rows.weight / rows.weight.sum()
        return gradient, hessian.sum() * counts

    return flat


def _pointwise_squared(rows: QueryRows) -> Objective:
    """Squared error; scores count from the mean grade, on which no ranking depends, unless they are given."""
    check_grades_differ(rows.grade)
    target = rows.grade - (np.average(rows.grade, weights=rows.weight) if rows.start is None else 0.0)

    def objective(score: FloatArray, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
        return rows.weight * (score - target), rows.weight

    return objective


def _pointwise_logistic(rows: QueryRows) -> Objective:
    """Logistic loss of the grade as a share of the highest grade; 0 and 1 if grades are binary."""
    check_grades_differ(rows.grade)
    check_grades_not_negative(rows.grade, "objective='pointwise_logistic'")
    target = rows.grade / rows.grade.max()

    def objective(score: FloatArray, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
        probability = expit(score)
        return rows.weight * (probability - target), rows.weight * probability * (1 - probability)

    return objective
