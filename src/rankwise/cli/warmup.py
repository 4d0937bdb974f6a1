"""Small public calls that together run every compiled kernel.

To warm up a new kernel, call the public function that runs it in the step of its package. A test compiles
everything anew and names the kernels that no step has reached.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from rankwise import datasets, distances, metrics
from rankwise.data import Rankings

_FULL = Rankings([[1, 2, 3], [3, 1, 2]])
_TIED = Rankings([[1, 2, 2], [1, 2, 1]])


def _rankings() -> None:
    _FULL.pairs()
    _FULL.pair_counts()


def _distances() -> None:
    for rankings in (_FULL, _TIED):
        distances.kendall_distance(rankings, rankings)
        distances.footrule_distance(rankings, rankings)
        for metric in ("kendall", "footrule"):
            distances.pairwise_distances(rankings, metric=metric)
    many_items = np.ones((1, 2000))
    distances.pairwise_distances(many_items)


def _agreement() -> None:
    metrics.kendall_tau_score(_TIED, _TIED)
    metrics.spearman_score(_TIED, _TIED)


def _retrieval() -> None:
    relevance, score, qid = np.array([0.0, 2.0, 1.0, 1.0]), np.array([0.1, 0.3, 0.2, 0.2]), np.array([0, 1, 0, 0])
    for metric in (
        metrics.ndcg_score,
        metrics.average_precision_score,
        metrics.reciprocal_rank_score,
        metrics.precision_score,
        metrics.err_score,
    ):
        metric(relevance, score, qid)


def _samplers() -> None:
    datasets.sample_mallows([1, 2, 3], theta=1.0, n=1, random_state=0)


#: what a step is called -> what it runs
STEPS: dict[str, Callable[[], None]] = {
    "rankings": _rankings,
    "distances": _distances,
    "agreement": _agreement,
    "retrieval metrics": _retrieval,
    "samplers": _samplers,
}
