"""Write the golden files that do not exist yet: ``python -m tests.persistence.make_golden``.

A golden file is a small model as this library once wrote it, named by its format and its kind; ``predictions.json`` has
what it predicted for a few rows then. Later versions must load it and predict the same. Existing files are never
written again: to cover a new kind, or a kind in a new format, add it here with a new name, and run this once. Only
while a format is not released, a change to it may delete its golden files, and their lines in ``predictions.json``.

``1-parameters.json`` has, for every class of format 1, the defaults of its constructor parameters and the other strings
that they took, as they are in manifests.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

import rankwise
from rankwise.aggregation import BradleyTerry, GeneralizedMallows, Mallows, MallowsMixture, PlackettLuce
from rankwise.embeddings import GraphCutEmbedding, KemenyEmbedding, PositionEmbedding
from rankwise.label_ranking import (
    ClusterRanker,
    ConformalRanker,
    DummyRanker,
    KernelRanker,
    LabelwiseRanker,
    NearestNeighborsRanker,
    PairwiseRanker,
    PlackettLuceRanker,
    RankingForest,
    RankingTree,
    StackedRanker,
)
from rankwise.label_ranking.additive_features import AdditiveFeatures
from rankwise.ltr import LambdaMART, LinearRanker, NeuralRanker
from rankwise.persistence.upgrades import FORMAT_VERSION
from rankwise.screening import ConcordanceSelector, ScoreSelector, SymbolicFeatures
from rankwise.trees import LeastSquaresForest, LeastSquaresTree

#: models, and ``predictions.json``: name -> class, method (by default ``predict``), what it is given, what it predicted
GOLDEN = Path(__file__).parent / "golden"
_ROWS = 8
#: of predictions that depend on the version of a library
_TOLERANCES = {"neural": 1e-5}


def golden_models() -> Iterator[tuple[str, Any, str, np.ndarray]]:
    """The kind, a fitted model, the name of a method, and what to give it."""
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(40, 2)), 3)
    worth = X @ [[1.0, -1.0, 0.0], [0.5, 0.5, -1.0]] + 0.3 * rng.normal(size=(40, 3))
    y = rankwise.Rankings(1.0 + np.argsort(np.argsort(-worth, axis=1), axis=1), ["tea", "milk", "juice"])
    for kind, ranker in _label_rankers().items():
        yield kind, ranker.fit(X, y), "predict", X[:_ROWS]
    conformal = ConformalRanker(PlackettLuceRanker(), random_state=0).fit(X, y)
    yield "conformal", conformal, "predict_set", X[:_ROWS]
    mixed = np.column_stack([np.where(X[:, 0] < -1, np.nan, X[:, 0]), np.resize([3.0, 5.0, 7.0], len(X))])
    members = [("tree", RankingTree(max_depth=2)), ("kernel", KernelRanker())]
    stacked = StackedRanker(members, cv=2, categorical_features=[1], random_state=0)
    yield "stacked-mixed", stacked.fit(mixed, y), "predict", mixed[:_ROWS]
    grades, qid = np.clip(np.round(worth[:, 0]), 0, 2), np.repeat(np.arange(5), 8)
    for kind, ranker in _query_rankers().items():
        yield kind, ranker.fit(X, grades, qid), "predict", X[:_ROWS]
    yield from _models_of_rankings(y)
    yield from _models_of_numbers(X)


def _label_rankers() -> dict[str, Any]:
    members = [
        ("tree", RankingTree(max_depth=2)),
        ("choice", PlackettLuceRanker()),
        ("near", NearestNeighborsRanker(5)),
    ]
    additive = make_pipeline(AdditiveFeatures(), StandardScaler(), PairwiseRanker(LogisticRegression(C=0.5)))
    return {
        "stacked": StackedRanker(members, cv=2, random_state=0),
        "kernel": KernelRanker(),
        "neighbours": NearestNeighborsRanker(5, weights="distance"),
        "plackett-luce-ranker": PlackettLuceRanker(),
        "cluster": ClusterRanker(2, alpha=0.5, random_state=0),
        "dummy": DummyRanker("borda"),
        "forest-auto": RankingForest(3, min_samples_leaf=6, focus="auto", oob_score=True, random_state=0),
        "forest-item": RankingForest(3, min_samples_leaf=6, focus="item", random_state=0),
        "forest-pair": RankingForest(3, min_samples_leaf=6, focus="pair", random_state=0),
        "forest-rows": RankingForest(2, bootstrap=False, random_state=0),
        "kernel-graph-cut": KernelRanker(embedding=GraphCutEmbedding(random_state=0)),
        "labelwise": LabelwiseRanker(make_pipeline(MinMaxScaler(), Ridge(alpha=0.1)), n_folds=3),
        "neighbours-borda": NearestNeighborsRanker(5, decode="borda"),
        "pairwise-soft": PairwiseRanker(decode="borda"),
        "tree-position": RankingTree("position", decode="borda", growth="level", max_depth=2),
        "additive": StackedRanker([("additive", additive)], cv=2, random_state=0),
    }


def _query_rankers() -> dict[str, Any]:
    stopped = {
        "early_stopping": True,
        "n_iter_no_change": 2,
        "min_samples_leaf": 2,
        "validation_fraction": 0.4,
        "l2_regularization": 1.0,
    }
    return {
        "linear-ranker": LinearRanker(random_state=0),
        "linear-listwise": LinearRanker("listwise_softmax", random_state=0),
        "lambdamart-level": LambdaMART(3, tree="level", k=5, random_state=0),
        "lambdamart-stopped": LambdaMART(5, tree="leaf", **stopped, random_state=0),
        "lambdamart-pointwise": LambdaMART(2, objective="pointwise_squared", tree="level", random_state=0),
        "neural": NeuralRanker("lambdarank", hidden=(3,), n_epochs=2, early_stopping=True, random_state=0),
    }


def _models_of_rankings(y: rankwise.Rankings) -> Iterator[tuple[str, Any, str, np.ndarray]]:
    models = {
        "plackett-luce": PlackettLuce(alpha=1.0),
        "mallows": Mallows(),
        "generalized-mallows": GeneralizedMallows(),
        "mallows-mixture": MallowsMixture(2, random_state=0),
    }
    for kind, model in models.items():
        yield kind, model.fit(y), "logpmf", y.positions[:_ROWS]
    games = np.array([[1, 2, np.nan], [2, 1, np.nan], [1, np.nan, 2], [np.nan, 1, 2], [np.nan, 2, 1], [2, np.nan, 1]])
    yield "bradley-terry", BradleyTerry(alpha=1.0).fit(rankwise.Rankings(games)), "logpmf", games
    embeddings = {
        "kemeny-embedding": KemenyEmbedding(),
        "position-embedding": PositionEmbedding(),
        "graph-cut-embedding": GraphCutEmbedding(random_state=0),
    }
    for kind, embedding in embeddings.items():
        yield kind, embedding.fit(y), "transform", y.positions[:_ROWS]


def _models_of_numbers(X: np.ndarray) -> Iterator[tuple[str, Any, str, np.ndarray]]:
    forest = LeastSquaresForest(2, max_depth=2, oob_score=True, random_state=0)
    for kind, tree in {"least-squares-tree": LeastSquaresTree(max_depth=2), "least-squares-forest": forest}.items():
        yield kind, tree.fit(X, X[:, 0] ** 2), "predict", X[:_ROWS]
    for kind, step in {"symbolic-features": SymbolicFeatures(), "score-selector": ScoreSelector(k=1)}.items():
        yield kind, step.fit(X, X[:, 0]), "transform", X[:_ROWS]
    selector = ConcordanceSelector(3, features=SymbolicFeatures("ub", unary=("id", "square")))
    yield "concordance-selector", selector.fit(X, X[:, 0] ** 2 - X[:, 1]), "transform", X[:_ROWS]


def main() -> None:
    """Write the files that do not exist yet, and print their names."""
    predictions = GOLDEN / "predictions.json"
    known = json.loads(predictions.read_text("utf-8"))
    for kind, model, method, rows in golden_models():
        name = f"{FORMAT_VERSION}-{kind}"
        if name in known:
            continue
        rankwise.save(model, GOLDEN / f"{name}.rankwise")
        predicted = np.asarray(getattr(model, method)(rows))
        facts = {"class": type(model).__name__, "method": method, "X": rows.tolist(), "predictions": predicted.tolist()}
        known[name] = facts | ({"rtol": _TOLERANCES[kind]} if kind in _TOLERANCES else {})
        print(name, (GOLDEN / f"{name}.rankwise").stat().st_size, "bytes")
    lines = ",\n".join(f" {json.dumps(name)}: {json.dumps(facts)}" for name, facts in known.items())
    predictions.write_text(f"{{\n{lines}\n}}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
