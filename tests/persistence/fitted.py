"""Small fitted estimators of every class that can be saved, and what they say of data: add a new one here."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any
from unittest.mock import patch

import numpy as np
from sklearn.base import clone
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, QuantileTransformer, StandardScaler

from rankwise import Rankings
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
from rankwise.embeddings import GraphCutEmbedding, KemenyEmbedding, PositionEmbedding
from rankwise.label_ranking import (
    BoostedRanker,
    ClusterRanker,
    ConformalRanker,
    DummyRanker,
    DyadRanker,
    KernelRanker,
    LabelwiseRanker,
    NearestNeighborsRanker,
    PairwiseRanker,
    PlackettLuceRanker,
    PlackettLuceTree,
    RankingForest,
    RankingTree,
    StackedRanker,
)
from rankwise.label_ranking.additive_features import AdditiveFeatures
from rankwise.label_ranking.numeric import NumericFeatures
from rankwise.ltr import LambdaMART, LinearRanker, StackedQueryRanker
from rankwise.screening import BARTSelector, ConcordanceSelector, ScoreSelector, SymbolicFeatures, SymbolicRegressor
from rankwise.trees import LeastSquaresForest, LeastSquaresTree, engine

#: an estimator and what it says, as one array
Case = tuple[Any, Callable[[Any], np.ndarray]]

ITEMS = ("tea", 2, (1, "x"), 4.5, True)


def features(n: int = 40) -> np.ndarray:
    return np.random.default_rng(5).normal(size=(n, 3))


def rankings(kind: str, n: int = 40) -> Rankings:
    """Rankings of five items, with names of all kinds."""
    rng = np.random.default_rng(1)
    worth = features(n) @ rng.normal(size=(3, 5)) + 0.5 * rng.normal(size=(n, 5))
    positions = 1.0 + np.argsort(np.argsort(-worth, axis=1), axis=1)
    if kind == "tied":
        positions = np.ceil(positions / 2)
    elif kind == "top-k":
        positions[positions > 3] = np.inf
    elif kind == "incomplete":
        positions[rng.random(positions.shape) < 0.2] = np.nan
    return Rankings(positions, items=ITEMS)


def label_rankers() -> list[Any]:
    additive = make_pipeline(AdditiveFeatures(), StandardScaler(), PairwiseRanker(LogisticRegression(C=0.5)))
    members = [
        ("forest", RankingForest(3)),
        ("neighbours", NearestNeighborsRanker(5)),
        ("additive", additive),
        ("linear", PlackettLuceRanker()),
    ]
    return [
        DummyRanker(),
        NearestNeighborsRanker("cv", weights="distance"),
        NearestNeighborsRanker(4, metric="manhattan", standardize=False),
        LabelwiseRanker(LeastSquaresForest(5, oob_score=True), random_state=0),
        LabelwiseRanker(Ridge(alpha=0.1), n_folds=3),
        LabelwiseRanker(make_pipeline(QuantileTransformer(n_quantiles=9), MinMaxScaler(), LinearRegression())),
        PairwiseRanker(),
        PairwiseRanker(ties="random", random_state=np.random.default_rng(3)),
        ClusterRanker(3, random_state=0),
        KernelRanker(),
        KernelRanker("linear", embedding="position"),
        KernelRanker(embedding=GraphCutEmbedding(random_state=0)),
        PlackettLuceRanker(),
        PlackettLuceRanker(store_covariance=True),
        DyadRanker(),
        DyadRanker("boosted", n_estimators=5),
        PlackettLuceTree(min_samples_leaf=8),
        RankingTree(max_depth=3),
        RankingTree("position", growth="level", ccp_alpha="cv", random_state=np.random.RandomState(2)),
        RankingForest(4, random_state=0),
        RankingForest(4, min_samples_leaf=5, focus="item", oob_score=True, random_state=0),
        RankingForest(7, min_samples_leaf=5, focus="pair", random_state=0),
        RankingForest(3, pool="rankings", honest=True, random_state=0),
        RankingTree(honest="paper", growth="level", random_state=0),
        BoostedRanker(5, early_stopping=True, random_state=0),
        BoostedRanker(5, monotone_constraints={0: {"tea": 1, 2: -1}}, min_samples_leaf=3),
        StackedRanker(members, cv=2, random_state=0),
        ConformalRanker(PlackettLuceRanker(), random_state=0),
    ]


@cache
def fitted_label_rankers(kind: str) -> list[Case]:
    X, y = features(), rankings(kind)

    def says(ranker: Any) -> np.ndarray:
        return np.column_stack([ranker.predict(X), ranker.predict_pairwise(X).reshape(len(X), -1)])

    return [(ranker.fit(X, y), says) for ranker in label_rankers()]


@cache
def fitted_others() -> list[Case]:
    return [fitted_with_gaps(), *_fitted_others(), *_fitted_query_rankers()]


def fitted_with_gaps() -> Case:
    """A forest whose leaves hold rankings that leave pairs open, which otherwise needs many items."""
    with patch.object(engine, "_MOST_SHARES", 0):
        forest = RankingForest(4, random_state=0).fit(features(), rankings("incomplete"))
    return forest, lambda forest: forest.predict_pairwise(features())


def _fitted_others() -> Iterator[Case]:
    X, y = features(), rankings("full")
    mixed = np.column_stack(
        [np.where(X[:, 0] < 0, np.nan, X[:, 0]).astype(object), np.resize(["a", "b", None], len(X))]
    )
    yield NumericFeatures([1]).fit(mixed), lambda numbers: numbers.transform(mixed)
    for tree in (LeastSquaresTree(), LeastSquaresForest(3, oob_score=True, random_state=0)):
        yield tree.fit(X, X[:, 0] ** 2), lambda tree: tree.predict(X)
        yield tree.__class__(max_depth=2).fit(X, X**2), lambda tree: tree.predict(X)
    for model in (Mallows(), Mallows("footrule"), GeneralizedMallows(), MallowsMixture(2, random_state=0)):
        yield model.fit(y), _says_of_rankings
    yield MallowsMixture(2, random_state=0, distance="spearman").fit(y, covariates=X[:, :1]), _says_of_rankings
    yield PlackettLuceMixture(2, random_state=0).fit(y, covariates=X[:, :1]), _says_of_rankings
    yield PlackettLuce(alpha=1.0).fit(rankings("tied")), _says_of_rankings
    attributes = {"price": np.arange(rankings("tied").n_items) % 3.0}
    yield PlackettLuce(alpha=1.0).fit(rankings("tied"), item_features=attributes), lambda m: m.summary().intervals
    yield BestWorst(alpha=1.0).fit([[1, 2, 3], [3, 2, 1], [2, 1, 3]]), lambda m: m.summary().intervals
    yield BradleyTerry(alpha=1.0).fit(np.array([[0, 3, 2], [1, 0, 2], [1, 2, 0]])), lambda m: m.pairwise_probabilities()
    graph = np.array([[0, 1, 0, 2, 1.0], [1, 0, 3, 0, 0], [0, 3, 0, 1, 1], [2, 0, 1, 0, 0], [1, 0, 1, 0, 0]])
    for embedding in (KemenyEmbedding(), PositionEmbedding(), GraphCutEmbedding(), GraphCutEmbedding(graph=graph)):
        yield embedding.fit(y), lambda embedding: embedding.transform(rankings("incomplete"))
    yield from _fitted_sparse_graph(graph)
    target = X[:, 0] * X[:, 1] + X[:, 2]
    selectors = [
        SymbolicFeatures(),
        ConcordanceSelector(2),
        ConcordanceSelector(4, features=SymbolicFeatures("ub", unary=("id", "square")), n_terms=2),
        ScoreSelector(k=2),
    ]
    for selector in selectors:
        yield selector.fit(X, target), lambda selector: selector.transform(X)
    yield SymbolicRegressor(2, max_expressions=2000).fit(X, target), lambda regressor: regressor.predict(X)
    yield fitted_bart_selector(), lambda selector: selector.transform(X)


def fitted_bart_selector() -> BARTSelector:
    """Fitted by hand: the sampler is an extra, and slow."""
    bart = BARTSelector(k=2)
    bart.n_features_in_, bart.scores_ = 3, np.array([0.2, 0.5, 0.3])
    return bart


def _says_of_rankings(model: Any) -> np.ndarray:
    draws = model.sample(5, random_state=0).positions
    return np.concatenate([model.pairwise_probabilities().ravel(), model.logpmf(rankings("full")), draws.ravel()])


def _fitted_sparse_graph(graph: np.ndarray) -> Iterator[Case]:
    from scipy.sparse import csr_array, csr_matrix

    for kind in (csr_array, csr_matrix):
        embedding = GraphCutEmbedding(graph=kind(graph), random_state=0).fit(rankings("full"))
        yield embedding, lambda embedding: embedding.transform(rankings("incomplete"))


def _fitted_query_rankers() -> Iterator[Case]:
    X, y, qid, _ = make_retrieval(15, random_state=0)
    rng = np.random.default_rng(0)
    mixed = np.column_stack([2 * y + rng.integers(0, 2, len(y)), rng.integers(0, 100, len(y)), X])
    mixed[::7, 3] = np.nan
    categories = LambdaMART(
        4, tree="leaf", categorical_features=[0, 1], monotone_constraints=[0] * 5 + [1] * (X.shape[1] - 3)
    )
    stumps = LambdaMART(2, tree="leaf", min_samples_leaf=10**6)
    for ranker in (LambdaMART(4, tree="leaf"), LambdaMART(4, tree="level"), stumps, LinearRanker()):
        yield ranker.fit(X, y, qid=qid), lambda ranker: ranker.predict(X)
    members = [("trees", LambdaMART(4, tree="level")), ("linear", LinearRanker())]
    yield StackedQueryRanker(members, random_state=0).fit(X, y, qid=qid), lambda ranker: ranker.predict(X)
    for tree in ("leaf", "level"):
        ranker = clone(categories).set_params(tree=tree)
        yield ranker.fit(mixed, y, qid=qid), lambda ranker: ranker.predict(mixed)
