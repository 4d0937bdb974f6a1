"""Newton boosting with LightGBM's trees: objective in, booster and history out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from rankwise._progress import track
from rankwise._typing import FloatArray, IntArray
from rankwise.ltr import _lambda_jit
from rankwise.ltr.base import QueryRows
from rankwise.ltr.gradients import PairwiseLoss
from rankwise.metrics import retrieval_jit as _metrics_jit
from rankwise.metrics.judged import Gain, gains_of

#: lightgbm.Booster, which is imported where it is used
Booster: TypeAlias = Any


def boost(
    rows: QueryRows,
    held_out: QueryRows | None,
    objective: Objective,
    *,
    evaluate: Callable[[FloatArray], float] | None,
    n_trees: int,
    patience: int | None,
    settings: dict[str, Any],
    categorical: list[int],
    seed: int,
    before: Booster | None = None,
    history: list[float] | None = None,
) -> tuple[Booster, int, list[float]]:
    """Grow trees on the gradients of the objective.

    Parameters
    ----------
    rows : QueryRows
        Training rows.
    held_out : QueryRows or None
        The rows that are evaluated; by default the training rows.
    objective : callable
        Scores and a generator -> gradient and second derivative.
    evaluate : callable or None
        Scores of the evaluated rows -> metric, higher is better.
    n_trees : int
        How many trees there shall be.
    patience : int or None
        Stop after this many trees without improvement.
    settings : dict
        Parameters of LightGBM.
    categorical : list of int
        Columns that hold categories.
    seed : int
        Where the random numbers of the objective come from; tree by tree, so that more trees begin with the same ones.
    before : Booster or None
        Trees to start from.
    history : list of float
        Their metrics.

    Returns
    -------
    booster, n_best, history
        The trees, how many of them to use, and the metric after each.
    """
    import lightgbm

    done = 0 if before is None else before.current_iteration()
    check_n_trees(n_trees, done)
    watch = Watch(evaluate, patience, history or [])
    if n_trees == done:
        return before, watch.n_used(done), watch.history
    tree: Any = track(range(done, n_trees), "boosting", n_trees - done)

    def gradients(score: FloatArray, _: Any) -> tuple[Any, Any]:
        slope, bend = objective(score, np.random.default_rng([seed, next(tree)]))
        # LightGBM keeps 32 bits of each, and adds them up in 64.
        return summable(slope, "gradients", np.float32), summable(bend, "second derivatives", np.float32)

    def measure(score: FloatArray, _: Any) -> tuple[str, bool, bool]:
        return "is_over", watch.is_over(score), True

    def stop(environment: Any) -> None:
        if environment.evaluation_result_list[0][2]:
            from lightgbm.callback import EarlyStopException

            raise EarlyStopException(watch.best - 1, environment.evaluation_result_list)

    parameters = {**_FIXED, **settings}
    # LightGBM wants labels, but objective and metric, which alone look at them, are ours.
    training = lightgbm.Dataset(rows.X, np.zeros(len(rows.X)), categorical_feature=categorical, params=parameters)
    watched = training if held_out is None else training.create_valid(held_out.X, np.zeros(len(held_out.X)))
    try:
        booster = lightgbm.train(
            {**parameters, "objective": gradients},
            training,
            num_boost_round=n_trees - done,
            valid_sets=[watched] if evaluate else None,
            feval=measure if evaluate else None,
            init_model=before,
            callbacks=[stop] if evaluate else None,
        )
    except lightgbm.basic.LightGBMError as error:
        raise ValueError(f"LightGBM refuses these parameters for {len(rows.grade)} rows: {error}") from error
    tree.close()  # the bar ends with the training, early or not
    return booster, watch.n_used(booster.current_iteration()), watch.history


# LightGBM may add up by rows or by columns as it likes: sums are exact.
_FIXED = {"verbosity": -1, "metric": "None", "feature_pre_filter": False}


# Objectives of boosting: scores in, gradients and second derivatives out, on rows that lie query by query.


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


def _comparisons(winners: IntArray, losers: IntArray, weights: FloatArray) -> Objective:
    def objective(score: FloatArray, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
        gradient, curvature = np.zeros(len(score)), np.zeros(len(score))
        _lambda_jit.pair_lambdas(winners, losers, weights, score, gradient, curvature)
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


# What boosting keeps of its metric, and when it stops.


class Watch:
    """Keeps the metric after each tree, and says when it has not improved for long.

    Parameters
    ----------
    evaluate : callable or None
        Scores of the watched rows -> metric, higher is better. None watches nothing.
    patience : int or None
        Boosting is over after this many trees without improvement; None is never.
    history : list of float
        Metrics of trees that are there already.
    """

    def __init__(
        self, evaluate: Callable[[FloatArray], float] | None, patience: int | None, history: list[float]
    ) -> None:
        self.evaluate, self.patience, self.history = evaluate, patience, list(history)

    @property
    def best(self) -> int:
        """Number of trees of the highest metric."""
        return int(np.argmax(self.history)) + 1

    def is_over(self, score: FloatArray) -> bool:
        """Note the metric of the scores after another tree; whether that was the last one."""
        if self.evaluate is None:
            return False
        self.history.append(self.evaluate(score))
        check_watchable(self.history[-1])
        return bool(self.patience) and len(self.history) - self.best >= (self.patience or 0)

    def n_used(self, n_trees: int) -> int:
        """How many of the trees predict."""
        return self.best if self.patience else n_trees


def ndcg_of(rows: QueryRows, k: int | None, gain: Gain) -> Callable[[FloatArray], float]:
    """Scores -> the mean of `rankwise.metrics.ndcg_score`, with all that does not depend on scores worked out once.

    After every tree, as boosting asks for it, checks and ideal rankings would take longer than the ranking itself.
    """
    longest = int(np.diff(rows.bounds).max())
    places = longest if k is None else min(k, longest)
    gains = np.require(gains_of(rows.grade, gain), np.float64, ["C", "W"])
    discount = 1 / np.log2(np.arange(2.0, places + 2))
    ideal = _metrics_jit.ideal_dcg(gains, rows.bounds, discount)
    has_value = ideal > 0

    def evaluate(score: FloatArray) -> float:
        scores = np.require(score, np.float64, ["C", "W"])
        order, listed = _metrics_jit.rank_rows(scores, rows.bounds, places)
        found = _metrics_jit.dcg(gains, scores, order, listed, discount)
        values = np.minimum(found[has_value] / ideal[has_value], 1.0)
        return float(np.mean(values)) if len(values) else np.nan

    return evaluate


def check_watchable(value: float) -> None:
    """Refuse a metric that no query has."""
    if np.isnan(value):
        raise ValueError("no query of the validation set has a relevant row, so early stopping has nothing to watch")


def check_n_trees(n_trees: int, done: int) -> None:
    """Refuse fewer trees than there are."""
    if n_trees < done:
        raise ValueError(f"n_estimators is {n_trees}, but warm_start keeps the {done} trees there are; give more")


# Numbers whose sums are exact, so that it does not matter in which order they are added up.


def summable(values: FloatArray, name: str, kind: Any = np.float64) -> Any:
    """The values, rounded so that any sum of theirs in 64 bits is exact.

    Boosting adds up gradients in an order that depends on the number of threads, and on the way that LightGBM has found
    quickest. When all numbers are multiples of one step, and so many as to fit into 53 bits together, no sum is ever
    rounded, and trees are the same in whatever order. For a million rows the step is 2**-33 of the largest number.

    Parameters
    ----------
    values : ndarray of float64
        The numbers.
    name : str
        What they are, for the message where they are too large.
    kind : type
        Of what is returned: float64, or float32, to which numbers are rounded first.

    Returns
    -------
    ndarray of the kind
    """
    largest = _lambda_jit.largest_size(values)
    if not largest < _LARGEST[kind]:
        raise ValueError(
            f"the {name} of the objective reach {largest:g}, which is too large to add up; divide y by a large number"
        )
    rounded = np.zeros(len(values), kind)
    if largest > 0.0:
        # As a number of the kind, the largest may be the next power of 2.
        step = np.ldexp(1.0, int(np.frexp(float(kind(largest)))[1]) + len(values).bit_length() - 53)
        _lambda_jit.round_to_step(values, step, rounded)
    return rounded


# Numbers of the kind are finite, and so are squares of their sums in 64 bits.
_LARGEST = {np.float32: 3e38, np.float64: 1e100}
