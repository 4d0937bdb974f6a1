"""Small public calls that together run every compiled kernel.

To warm up a new kernel, call the public function that runs it in the step of its package. A test compiles
everything anew and names the kernels that no step has reached.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from rankwise import distances, metrics
from rankwise.aggregation import GeneralizedMallows, Mallows, kemeny, kemeny_batch, sample_mallows, schulze
from rankwise.aggregation.plackett_luce import PlackettLuce
from rankwise.data import Rankings
from rankwise.embeddings import GraphCutEmbedding, SubmodularEmbedding
from rankwise.kernels import kendall_kernel, mallows_kernel
from rankwise.label_ranking import NearestNeighborsRanker, PlackettLuceRanker, RankingForest
from rankwise.ltr import LambdaMART, LinearRanker, lambda_gradients
from rankwise.screening import ConcordanceSelector, SymbolicFeatures, concordant_divergence
from rankwise.trees import LeastSquaresTree

_PACKAGE = Path(__file__).parents[1]
_FULL = Rankings([[1, 2, 3], [3, 1, 2]])
_TIED = Rankings([[1, 2, 2], [1, 2, 1]])
_INCOMPLETE = Rankings([[1, 2, float("nan")], [3, 1, 2]])


def kernels() -> Iterator[tuple[str, Any]]:
    """Every kernel of the package, with its full name."""
    for module in pkgutil.walk_packages([str(_PACKAGE)], "rankwise."):
        if module.name.endswith("_jit"):
            for name, value in vars(importlib.import_module(module.name)).items():
                if hasattr(value, "py_func"):  # as only compiled functions have
                    yield f"{module.name}.{name}", value


def why_in_vain() -> str:
    """Why later processes will have to compile again; empty if they will not."""
    folders = [kernel.stats.cache_path for _, kernel in kernels()]
    if not folders:
        return "nothing is compiled while NUMBA_DISABLE_JIT is set; unset it"
    # Without a folder that can be written, a kernel has no cache, and lasts as long as the process.
    if None in folders:
        return (
            "compiled, but what is compiled cannot be kept: neither the folder of the package nor that of a cache can "
            "be written; set NUMBA_CACHE_DIR to a folder that can"
        )
    return ""


def _rankings() -> None:
    _FULL.pairs()
    _FULL.pair_counts()


def _distances() -> None:
    for rankings in (_FULL, _TIED, _INCOMPLETE):
        distances.kendall_distance(rankings, rankings)
        distances.footrule_distance(rankings, rankings)
        for metric in ("kendall", "footrule"):
            distances.pairwise_distances(rankings, metric=metric)
    many_items = np.ones((1, 3001))  # so many that pairs are counted one by one
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


def _consensus() -> None:
    cycle = np.array([[0.0, 2.0, 1.0], [1.0, 0.0, 2.0], [2.0, 1.0, 0.0]])
    kemeny(cycle, method="dp")
    kemeny(cycle, method="ilp", random_state=0)
    for method in ("dp", "local-search"):
        kemeny(cycle, method=method, ties="allow", random_state=0)
    kemeny_batch([cycle])
    schulze(cycle)
    # A fence of three and three items: triangles alone do not prove its consensus, odd cycles of triangles do.
    up, down = np.eye(3), 1 - np.eye(3)
    kemeny(0.5 * np.block([[0 * up, up], [down, 0 * down]]), method="ilp", random_state=0)


def _choice_models() -> None:
    PlackettLuce().fit(_FULL)
    model = PlackettLuce(alpha=1.0).fit(_TIED)
    model.logpmf(_TIED)
    model.sample(1, random_state=0)


def _distance_models() -> None:
    sample_mallows([1, 2, 3], theta=1.0, n=1, random_state=0)
    for distance in ("kendall", "cayley", "hamming", "footrule", "spearman"):
        model = Mallows(distance).fit(_FULL)
        model.sample(1, random_state=0)
    Mallows().fit(_INCOMPLETE).logpmf(_INCOMPLETE)
    many_items = np.arange(1.0, 21.0)  # so many that Spearman's law is estimated
    model = Mallows("spearman", theta=1.0, center=many_items)
    model.logpmf([many_items])
    model.sample(1, random_state=0)
    by_stages = GeneralizedMallows().fit(_FULL)
    by_stages.sample(1, random_state=0)
    by_stages.pairwise_probabilities()


def _embeddings() -> None:
    chain = [[0, 1, 0], [1, 0, 3], [0, 3, 0]]  # on which neighbours merge, so that means are taken over completions
    GraphCutEmbedding(chain).fit_transform(_INCOMPLETE)
    SubmodularEmbedding(len).fit_transform(_FULL)


def _trees() -> None:
    X, y = np.arange(300.0)[:, None], np.eye(300, 2)
    y[2:, 0] = np.nan
    for max_bins in (2, None):  # features as codes of one byte, and of four
        LeastSquaresTree(max_bins=max_bins, honest=True, random_state=0).fit(X, y).predict(X)
    LeastSquaresTree(growth="level", max_depth=1).fit(X, y)


def _label_rankers() -> None:
    for ranker in (NearestNeighborsRanker(), PlackettLuceRanker(), RankingForest(1)):
        ranker.fit([[0.0], [1.0]], _TIED).predict([[0.0]])


def _kernels() -> None:
    for rankings in (_FULL, _TIED, _INCOMPLETE):
        kendall_kernel(rankings, normalize=True)
        mallows_kernel(rankings, completion="monte-carlo", n_samples=2, random_state=0)
    kendall_kernel(_FULL, position_weights="average")


def _screening() -> None:
    X, y = np.array([[1.0, 5.0], [2.0, 4.0], [3.0, 7.0], [5.0, 6.0]]), np.array([1.0, 2.0, 4.0, 3.0])
    for keys in ("float64", "float32"):
        concordant_divergence(X, y, keys=keys)
    selector = ConcordanceSelector(k=2, features=SymbolicFeatures("ub"), n_terms=1).fit(X, y)
    selector.transform(X)


def _query_rankers() -> None:
    X, y, qid = np.arange(8.0)[:, None], np.array([0.0, 1, 2, 1, 0, 0, 1, 2]), np.repeat([0, 1], 4)
    score = np.arange(8.0)
    for weight in ("ndcg", "map"):
        lambda_gradients(y, score, qid, weight=weight)
        lambda_gradients(y, 1000 * score, qid, weight=weight)  # so far apart that powers of e overflow
    lambda_gradients(y, score, qid, n_pairs=1, random_state=0)
    for tree in ("leaf", "level"):
        ranker = LambdaMART(1, tree=tree, random_state=0).fit(X, y, qid)
        ranker.predict(X)
        ranker.explain(X, 0, 1)
    for loss in ("logistic", "hinge", "listmle"):
        LinearRanker(loss, random_state=0).fit(X, y, qid)
    LambdaMART(1, random_state=0).fit(X, pairs=[[0, 1]])


#: what a step is called -> what it runs
STEPS: dict[str, Callable[[], object]] = {
    "rankings": _rankings,
    "distances": _distances,
    "agreement": _agreement,
    "retrieval metrics": _retrieval,
    "consensus": _consensus,
    "models of choices": _choice_models,
    "models of distances": _distance_models,
    "embeddings": _embeddings,
    "trees": _trees,
    "label rankers": _label_rankers,
    "kernels": _kernels,
    "screening": _screening,
    "query rankers": _query_rankers,
}
