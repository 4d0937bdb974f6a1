"""Small public calls that together run every compiled kernel.

To warm up a new kernel, call the public function that runs it in the step of its package. A test compiles
everything anew and names the kernels that no step has reached.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import numpy as np

from rankwise import datasets, distances, metrics
from rankwise.data import Rankings

# Numba compiles a kernel once for arrays that may be written to and once for those of Rankings, which may not.
_FULL = (np.array([[1.0, 2.0, 3.0], [3.0, 1.0, 2.0]]), Rankings([[1, 2, 3], [3, 1, 2]]))
_TIED = (np.array([[1.0, 2.0, 2.0], [1.0, 2.0, 1.0]]), Rankings([[1, 2, 2], [1, 2, 1]]))


def _rankings() -> None:
    _FULL[1].pairs()
    _FULL[1].pair_counts()


def _distances() -> None:
    for a, b in [*product(_FULL, _FULL), *product(_TIED, _TIED)]:
        distances.kendall_distance(a, b)
        distances.footrule_distance(a, b)
        for metric in ("kendall", "footrule"):
            distances.pairwise_distances(a, b, metric)
    many_items = np.ones((1, 2000))
    distances.pairwise_distances(many_items)


def _agreement() -> None:
    for a, b in product(_TIED, _TIED):
        metrics.kendall_tau_score(a, b)
        metrics.spearman_score(a, b)


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
