"""Newton boosting with LightGBM's trees: objective in, booster and history out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from rankwise._progress import track
from rankwise._typing import FloatArray
from rankwise.ltr.exact import summable
from rankwise.ltr.objectives import Objective
from rankwise.ltr.rows import QueryRows
from rankwise.ltr.watch import Watch, check_n_trees

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


# ---------------------------------------------------------------------------------------------------------------------

# LightGBM may add up by rows or by columns as it likes: sums are exact.
_FIXED = {"verbosity": -1, "metric": "None", "feature_pre_filter": False}
