"""Newton boosting with LightGBM's trees: objective in, booster and history out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from rankwise._progress import track
from rankwise._typing import FloatArray
from rankwise.ltr.objectives import Objective
from rankwise.ltr.rows import QueryRows

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
    if n_trees < done:
        raise ValueError(f"n_estimators is {n_trees}, but warm_start keeps the {done} trees there are; give more")
    watch = _Watch(evaluate, patience, list(history or []))
    if n_trees == done:
        return before, watch.best if patience else done, watch.history
    tree: Any = track(range(done, n_trees), "boosting", n_trees - done)

    def gradients(score: FloatArray, _: Any) -> tuple[FloatArray, FloatArray]:
        return objective(score, np.random.default_rng([seed, next(tree)]))

    parameters = {**_FIXED, **settings}
    training = lightgbm.Dataset(rows.X, rows.grade, categorical_feature=categorical, params=parameters)
    watched = training if held_out is None else training.create_valid(held_out.X, held_out.grade)
    booster = lightgbm.train(
        {**parameters, "objective": gradients},
        training,
        num_boost_round=n_trees - done,
        valid_sets=[watched] if evaluate else None,
        feval=watch.measure if evaluate else None,
        init_model=before,
        callbacks=[watch] if evaluate else None,
    )
    tree.close()  # the bar ends with the training, early or not
    return booster, watch.best if patience else booster.current_iteration(), watch.history


# ---------------------------------------------------------------------------------------------------------------------

# Sums in a fixed order: the same trees whatever the number of threads.
_FIXED = {"verbosity": -1, "deterministic": True, "force_col_wise": True, "metric": "None", "feature_pre_filter": False}


class _Watch:
    """Keeps the metric after each tree, and stops when it has not improved for long."""

    def __init__(self, evaluate: Any, patience: int | None, history: list[float]) -> None:
        self.evaluate, self.patience, self.history = evaluate, patience, history

    @property
    def best(self) -> int:
        """Number of trees of the highest metric."""
        return int(np.argmax(self.history)) + 1

    def measure(self, score: FloatArray, _: Any) -> tuple[str, float, bool]:
        return "metric", self.evaluate(score), True

    def __call__(self, environment: Any) -> None:
        self.history.append(environment.evaluation_result_list[0][2])
        if np.isnan(self.history[-1]):
            raise ValueError(
                "no query of the validation set has a relevant row, so early stopping has nothing to watch"
            )
        if self.patience and len(self.history) - self.best >= self.patience:
            from lightgbm.callback import EarlyStopException

            raise EarlyStopException(self.best - 1, environment.evaluation_result_list)
