"""What boosting keeps of its metric, and when it stops."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from rankwise._typing import FloatArray
from rankwise.ltr.rows import QueryRows
from rankwise.metrics import _jit as _metrics_jit
from rankwise.metrics.judged import Gain, gains_of


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
