"""No threads at all are refused with the same words wherever a number of threads can be given."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from rankwise import Rankings, aggregation, analysis, distances, kernels, ltr, model_selection, screening
from rankwise._sklearn import N_JOBS, InvalidParameterError
from rankwise.label_ranking import DummyRanker
from tests.public import MODULES, public_classes

VOTES = Rankings([[1, 2, 3], [2, 1, 3], [3, 2, 1], [1, 3, 2]] * 10)
X = np.random.default_rng(0).random((40, 2))
Y, QID = X[:, 0], np.repeat(np.arange(4), 10)
FUNCTIONS: dict[str, Callable[..., Any]] = {
    "pairwise_distances": lambda **n: distances.pairwise_distances(VOTES, **n),
    "bootstrap_consensus": lambda **n: aggregation.bootstrap_consensus(VOTES, **n),
    "graph_cut_kernel": lambda **n: kernels.graph_cut_kernel(VOTES, **n),
    "kendall_kernel": lambda **n: kernels.kendall_kernel(VOTES, **n),
    "mallows_kernel": lambda **n: kernels.mallows_kernel(VOTES, **n),
    "ranking_similarity": lambda **n: kernels.ranking_similarity(VOTES, **n),
    "ranking_vectors": lambda **n: kernels.ranking_vectors(VOTES, **n),
    "concordance_test": lambda **n: screening.concordance_test(X, Y, **n),
    "concordant_divergence": lambda **n: screening.concordant_divergence(X, Y, **n),
    "gini_correlation": lambda **n: screening.gini_correlation(X, Y, **n),
    "rank_classes": lambda **n: screening.rank_classes(X, **n),
    "screen_expressions": lambda **n: screening.screen_expressions(X, Y, screening.SymbolicFeatures("bu"), **n),
    "selection_stability": lambda **n: screening.selection_stability(screening.ConcordanceSelector(1), X, Y, **n),
    "cross_validate": lambda **n: model_selection.cross_validate(ltr.LinearRanker(), X, Y > 0.5, QID, **n),
    "leaderboard": lambda **n: model_selection.leaderboard({"all": DummyRanker()}, X, VOTES, **n),
    "analyze": lambda **n: analysis.analyze(VOTES, **n),
    "consensus": lambda **n: analysis.consensus(VOTES, **n),
    "drivers": lambda **n: analysis.drivers(X, VOTES, **n),
    "segments": lambda **n: analysis.segments(VOTES, **n),
}


def test_every_function_with_threads_is_here() -> None:
    packages = [importlib.import_module(f"rankwise.{name}") for name in [*MODULES, "analysis", "distances", "plots"]]
    found = {
        name
        for package in packages
        for name in package.__all__
        if inspect.isfunction(thing := getattr(package, name)) and "n_jobs" in inspect.signature(thing).parameters
    }
    assert found == set(FUNCTIONS)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_refuse_no_threads(name: str) -> None:
    with pytest.raises(ValueError, match=r"n_jobs is 0; give the number of threads, or -1 for all cores"):
        FUNCTIONS[name](n_jobs=0)
    with pytest.raises((TypeError, InvalidParameterError), match="n_jobs"):
        FUNCTIONS[name](n_jobs=1.5)


def test_estimators_refuse_no_threads() -> None:
    with_threads = [each for each in public_classes() if "n_jobs" in inspect.signature(each).parameters]
    assert len(with_threads) > 10
    for each in with_threads:
        if hasattr(each, "_parameter_constraints"):
            assert each._parameter_constraints["n_jobs"] is N_JOBS, each
        else:
            with pytest.raises(ValueError, match="n_jobs is 0; give the number of threads, or -1"):
                each(2, n_jobs=0).fit(VOTES)
