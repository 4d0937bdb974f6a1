"""Write the golden files that are not there yet: ``python -m tests.persistence.make_golden``.

A golden file is a small model as this library once wrote it, named by its format and its kind, beside what it said of
a few rows then (in ``predictions.json``). Later versions must load it and say the same. What is there is never written
again: to cover a new kind, or a kind in a new format, add it here with a new name, and run this once.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import rankwise
from rankwise.aggregation import PlackettLuce
from rankwise.label_ranking import (
    ConformalRanker,
    KernelRanker,
    NearestNeighborsRanker,
    PlackettLuceRanker,
    RankingTree,
    StackedRanker,
)
from rankwise.ltr import LinearRanker
from rankwise.persistence.upgrades import FORMAT_VERSION
from rankwise.screening import ConcordanceSelector, SymbolicFeatures

#: models, and ``predictions.json``: name -> class, method (by default ``predict``), what it is given, what it said
GOLDEN = Path(__file__).parent / "golden"
_ROWS = 8


def golden_models() -> Iterator[tuple[str, Any, str, np.ndarray]]:
    """The kind, a fitted model, the name of a method, and what to give it."""
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(40, 2)), 3)
    worth = X @ [[1.0, -1.0, 0.0], [0.5, 0.5, -1.0]] + 0.3 * rng.normal(size=(40, 3))
    y = rankwise.Rankings(1.0 + np.argsort(np.argsort(-worth, axis=1), axis=1), ["tea", "milk", "juice"])
    members = [
        ("tree", RankingTree(max_depth=2)),
        ("choice", PlackettLuceRanker()),
        ("near", NearestNeighborsRanker(5)),
    ]
    rankers = {
        "stacked": StackedRanker(members, cv=2, random_state=0),
        "kernel": KernelRanker(),
        "neighbours": NearestNeighborsRanker(5, weights="distance"),
        "plackett-luce-ranker": PlackettLuceRanker(),
    }
    for kind, ranker in rankers.items():
        yield kind, ranker.fit(X, y), "predict", X[:_ROWS]
    conformal = ConformalRanker(PlackettLuceRanker(), random_state=0).fit(X, y)
    yield "conformal", conformal, "predict_set", X[:_ROWS]
    qid = np.repeat(np.arange(5), 8)
    yield (
        "linear-ranker",
        LinearRanker(random_state=0).fit(X, np.clip(np.round(worth[:, 0]), 0, 2), qid),
        "predict",
        X[:_ROWS],
    )
    yield "plackett-luce", PlackettLuce(prior=1.0).fit(y), "logpmf", y.positions[:_ROWS]
    selector = ConcordanceSelector(3, features=SymbolicFeatures("ub", unary=("id", "square")))
    yield "concordance-selector", selector.fit(X, X[:, 0] ** 2 - X[:, 1]), "transform", X[:_ROWS]


def main() -> None:
    """Write what is not there, and say what it was."""
    sayings = GOLDEN / "predictions.json"
    known = json.loads(sayings.read_text("utf-8"))
    for kind, model, method, rows in golden_models():
        name = f"{FORMAT_VERSION}-{kind}"
        if name in known:
            continue
        rankwise.save(model, GOLDEN / f"{name}.rankwise")
        said = np.asarray(getattr(model, method)(rows))
        facts = {"class": type(model).__name__, "method": method, "X": rows.tolist(), "predictions": said.tolist()}
        known[name] = facts
        print(name, (GOLDEN / f"{name}.rankwise").stat().st_size, "bytes")
    sayings.write_text(json.dumps(known, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
