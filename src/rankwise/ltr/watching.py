"""What `LambdaMART` watches while it learns: one metric or several, of the training rows or of held-out ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from rankwise._typing import FloatArray
from rankwise.ltr.boosting import EarlyStopping, ndcg_evaluator
from rankwise.queries import QueryRows

#: scores of all watched rows -> metric
Evaluator = Callable[[FloatArray], float]


def watching(
    ranker: Any, rows: QueryRows, held_out: list[QueryRows], history: dict[str, list[float]]
) -> tuple[str, EarlyStopping | None]:
    """Watches held-out rows; or training rows, if the objective depends on the metric or a metric was asked for.

    Parameters
    ----------
    ranker : LambdaMART
        Its parameters say which metrics, and when to stop.
    rows : QueryRows
        Training rows.
    held_out : list of QueryRows
        Sets of other rows, if any.
    history : dict
        Values of earlier trees, by the names below, which are continued.

    Returns
    -------
    str, EarlyStopping or None
        The name of what decides when to stop, the first metric of the first set; and what watches.
    """
    of_metric = ranker.objective in ("lambdarank", "lambdaloss") or ranker.eval_metric is not None
    if not held_out and (rows.pairs is not None or not of_metric):
        return "", None
    metrics = ranker.eval_metric if isinstance(ranker.eval_metric, list) else [ranker.eval_metric]
    if not metrics:
        raise ValueError("eval_metric is an empty list; name a metric, or leave it out")
    parts = held_out or [rows]
    ends = np.cumsum([0] + [len(part.grade) for part in parts])
    evaluators: dict[str, Evaluator] = {}
    for number, part in enumerate(parts):
        name = ("validation" if held_out else "training") + (f" {number + 1}" if number else "")
        for metric in metrics:
            label = name if len(metrics) == 1 else f"{name} {_name(ranker, metric)}"
            evaluators[label] = _evaluator(ranker, metric, part, slice(ends[number], ends[number + 1]))
    first, *others = evaluators
    X = None if not held_out else held_out[0].X if len(held_out) == 1 else np.concatenate([part.X for part in parts])
    is_started = any(part.start is not None for part in parts)
    return first, EarlyStopping(
        evaluators[first],
        ranker.n_iter_no_change if ranker.early_stopping else None,
        list(history.get(first, [])),
        X,
        {label: evaluators[label] for label in others},
        {label: list(history.get(label, [])) for label in others},
        np.concatenate([part.started(np.zeros(len(part.grade))) for part in parts]) if is_started else None,
    )


def _name(ranker: Any, metric: Any) -> str:
    if metric is None:
        return str(ranker.metric) if ranker.k is None else f"{ranker.metric}@{ranker.k}"
    return metric if isinstance(metric, str) else metric.__name__


def _evaluator(ranker: Any, metric: Any, rows: QueryRows, own: slice) -> Evaluator:
    """Scores of all watched rows -> the metric of those that are its own."""
    if metric is None and ranker.metric == "ndcg":
        evaluate = ndcg_evaluator(rows, ranker.k, ranker.gain)
        return lambda score: evaluate(score[own])
    query, function = rows.query, metric if callable(metric) else ranker._metric_function(metric, ranker.gain)
    return lambda score: float(function(rows.grade, score[own], query))
