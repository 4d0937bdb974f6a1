"""Every public estimator, small and quick to fit, for what must hold for all of them: add a new one here.

`CASES` has at least one of each public class that can be fitted; `tests/test_jobs.py` finds classes that are missing.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from rankwise.aggregation import (
    BestWorst,
    BradleyTerry,
    GeneralizedMallows,
    Mallows,
    MallowsMixture,
    PlackettLuce,
    PlackettLuceMixture,
)
from rankwise.datasets import make_retrieval
from rankwise.embeddings import GraphCutEmbedding, KemenyEmbedding, PositionEmbedding, SubmodularEmbedding
from rankwise.kernels import KendallKernel, VariationalClassifier
from rankwise.ltr import LambdaMART, LinearRanker, NeuralRanker, StackedQueryRanker
from rankwise.screening import BARTSelector, ConcordanceSelector, ScoreSelector, SymbolicFeatures, SymbolicRegressor
from rankwise.trees import LeastSquaresForest, LeastSquaresTree
from tests.label_ranking.estimators import RANKERS
from tests.public import public_classes

#: modules without which an estimator cannot be fitted
NEEDS = {"BARTSelector": "stochtree", "NeuralRanker": "torch"}


class Case(NamedTuple):
    """An estimator that is not fitted, what to fit it to, and what it says once it is fitted."""

    estimator: Any
    data: Callable[[], tuple[Any, ...]]
    says: Callable[[Any], Any]

    def answer(self, **parameters: Any) -> list[np.ndarray]:
        """All that a fitted copy with these parameters says, as arrays."""
        fitted = clone(self.estimator).set_params(**parameters).fit(*self.data())
        said = self.says(fitted)
        return [np.asarray(part) for part in (said if isinstance(said, tuple) else (said,))]

    def __repr__(self) -> str:
        return repr(self.estimator)


def estimator_classes() -> list[type]:
    """Public classes that can be fitted."""
    return [kind for kind in public_classes() if hasattr(kind, "fit")]


@cache
def _rows() -> np.ndarray:
    return np.random.default_rng(5).normal(size=(40, 3))


@cache
def _positions(n_items: int = 5) -> np.ndarray:
    rng = np.random.default_rng(1)
    worth = _rows() @ rng.normal(size=(3, n_items)) + 0.5 * rng.normal(size=(len(_rows()), n_items))
    return 1.0 + np.argsort(np.argsort(-worth, axis=1), axis=1)


@cache
def _incomplete() -> np.ndarray:
    positions = _positions(7).copy()
    positions[np.random.default_rng(2).random(positions.shape) < 0.2] = np.nan
    return positions


@cache
def _queries() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    X, y, qid, _ = make_retrieval(12, random_state=0)
    return X, y, qid


def _labels() -> tuple[Any, ...]:
    return _rows(), _incomplete()


def _target() -> tuple[Any, ...]:
    return _rows(), _rows()[:, 0] * _rows()[:, 1] + _rows()[:, 2]


def _classes() -> tuple[Any, ...]:
    return _positions(), (_rows()[:, 0] > 0).astype(int)


def _of_rows(model: Any) -> Any:
    return model.predict(_rows()), model.predict_pairwise(_rows())


def _of_model(model: Any) -> Any:
    return model.pairwise_probabilities(), model.logpmf(_positions()), model.sample(5, random_state=0).positions


def _cut(items: np.ndarray) -> float:
    """A submodular function of sets of items."""
    return float(np.sqrt(items.sum() + 1.0))


def _cases() -> list[Case]:
    models = [Mallows(), GeneralizedMallows(), PlackettLuce(alpha=1.0)]
    models += [MallowsMixture(2, n_init=3, random_state=0), PlackettLuceMixture(2, n_init=3, random_state=0)]
    regressors = [
        *(LeastSquaresTree(), LeastSquaresForest(5, random_state=0)),
        LeastSquaresForest(5, growth="level", honest=True, random_state=0),
        SymbolicRegressor(2, max_expressions=2000),
    ]
    selectors = [
        *(SymbolicFeatures(), ConcordanceSelector(2), ScoreSelector(k=2)),
        ConcordanceSelector(4, features=SymbolicFeatures("ub", unary=("id", "square")), n_terms=2),
        BARTSelector(k=2, n_permutations=2, n_repeats=1, n_draws=20, random_state=0),
    ]
    embeddings = [
        *(PositionEmbedding(), KemenyEmbedding(), SubmodularEmbedding(_cut, random_state=0)),
        GraphCutEmbedding(random_state=0),
    ]
    level = LambdaMART(4, tree="level", random_state=0)
    query_rankers = [
        *(LambdaMART(4, tree="leaf", random_state=0), level, LinearRanker(random_state=0)),
        StackedQueryRanker([("trees", level), ("linear", LinearRanker(random_state=0))], random_state=0),
        NeuralRanker(hidden=(8,), n_epochs=2, random_state=0),
    ]
    answers = np.array([[1.0, 2, 3], [3, 2, 1], [2, 1, 3]])
    wins = np.array([[0, 3, 2], [1, 0, 2], [1, 2, 0]])
    return [
        *(Case(ranker, _labels, _of_rows) for ranker in RANKERS),
        *(Case(model, lambda: (_positions(),), _of_model) for model in models),
        Case(BestWorst(alpha=1.0), lambda: (answers,), lambda model: model.log_worth_),
        Case(BradleyTerry(alpha=1.0), lambda: (wins,), lambda model: model.log_worth_),
        *(Case(regressor, _target, lambda model: model.predict(_rows())) for regressor in regressors),
        *(Case(selector, _target, lambda model: model.transform(_rows())) for selector in selectors),
        *(Case(one, lambda: (_positions(7),), lambda model: model.transform(_incomplete())) for one in embeddings),
        *(Case(ranker, _queries, lambda model: model.predict(_queries()[0])) for ranker in query_rankers),
        Case(VariationalClassifier(KendallKernel()), _classes, lambda model: model.predict_proba(_positions())),
    ]


CASES = _cases()
