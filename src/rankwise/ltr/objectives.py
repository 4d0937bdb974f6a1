"""Objectives of boosting: scores in, gradients and second derivatives out, on rows that lie query by query."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from rankwise._typing import FloatArray, IntArray
from rankwise.ltr import _jit
from rankwise.ltr.gradients import PairwiseLoss
from rankwise.ltr.rows import QueryRows

#: scores and a random generator -> gradient and second derivative
Objective = Callable[[FloatArray, np.random.Generator], tuple[FloatArray, FloatArray]]

PAIRWISE = ("lambdarank", "lambdaloss", "ranknet")
POINTWISE = ("regression", "classification")


def make_objective(name: str, rows: QueryRows, metric: str, **options: Any) -> Objective:
    """The objective of the name; given comparisons take the place of grades, whatever its name.

    ``options`` are those of `rankwise.ltr.gradients.PairwiseLoss.build`, for objectives that weigh pairs.
    """
    if rows.pairs is not None:
        return _comparisons(*rows.pairs)
    if name in POINTWISE:
        _check_varied(rows.grade, "y is the same in all rows")
        return _regression(rows) if name == "regression" else _classification(rows)
    weight: Any = {"lambdarank": metric, "lambdaloss": "lambdaloss", "ranknet": "none"}[name]
    loss = PairwiseLoss.build(rows.grade, rows.bounds, rows.weight, weight=weight, ties="random", **options)
    _check_pairs(rows, loss)
    return loss


# ---------------------------------------------------------------------------------------------------------------------


def _comparisons(winners: IntArray, losers: IntArray, weights: FloatArray) -> Objective:
    def objective(score: FloatArray, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
        gradient, curvature = np.zeros(len(score)), np.zeros(len(score))
        _jit.pair_lambdas(winners, losers, weights, score, gradient, curvature)
        return gradient, curvature

    return objective


def _regression(rows: QueryRows) -> Objective:
    """Squared error; scores count from the mean grade, which no ranking depends on."""
    target = rows.grade - np.average(rows.grade, weights=rows.weight)

    def objective(score: FloatArray, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
        return rows.weight * (score - target), rows.weight

    return objective


def _classification(rows: QueryRows) -> Objective:
    """Logistic loss of the share of the highest grade; of 0 and 1 where grades are that."""
    if rows.grade.min() < 0:
        raise ValueError(f"y holds {rows.grade.min():g}; objective='classification' needs grades of 0 or more")
    target = rows.grade / rows.grade.max()

    def objective(score: FloatArray, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
        probability = 1 / (1 + np.exp(-score))
        return rows.weight * (probability - target), rows.weight * probability * (1 - probability)

    return objective


def _check_pairs(rows: QueryRows, loss: PairwiseLoss) -> None:
    """Refuse data in which no query holds two rows that differ."""
    level = np.where(rows.weight > 0, loss.rows.level, np.nan)
    highest = np.fmax.reduceat(level, rows.bounds[:-1])
    lowest = np.fmin.reduceat(level, rows.bounds[:-1])
    if not ((highest > lowest) & (loss.rows.scale > 0)).any():
        one = " (n_samples = 1)" if len(rows.grade) == 1 else ""
        raise ValueError(
            f"no query has two rows of different relevance and positive weight{one}, so there is nothing to learn; "
            "check y, and that qid names the query of each row"
        )


def _check_varied(grade: FloatArray, problem: str) -> None:
    if grade.min() == grade.max():
        one = " (n_samples = 1)" if len(grade) == 1 else ""
        raise ValueError(f"{problem}{one}, so there is nothing to learn")
