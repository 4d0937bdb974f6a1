"""Data sets of the benchmarks of query rankers: real examples, cut into queries for tuning and for reporting."""

from __future__ import annotations

import gzip
import os
from pathlib import Path
from typing import Any

import numpy as np

from rankwise.datasets import load_retrieval, make_retrieval
from rankwise.model_selection import QueryKFold

#: families of `make_retrieval`: link functions, noise, wrong grades, lengths of queries, irrelevant features, grades
FAMILIES: dict[str, dict[str, Any]] = {
    "judged, linear": {"link": "linear"},
    "judged, linear, noisy": {"link": "linear", "noise": 2.0, "wrong_grades": 0.2},
    "judged, linear, binary": {"link": "linear", "n_grades": 2},
    "judged, products": {"link": "products"},
    "judged, saturating": {"link": "saturating"},
    "judged, saturating, noisy": {"link": "saturating", "noise": 2.0, "wrong_grades": 0.2},
    "judged, saturating, long": {"link": "saturating", "docs_per_query": (40, 100)},
    "judged, saturating, short": {"link": "saturating", "docs_per_query": (4, 16)},
    "judged, steps": {"link": "steps"},
    "judged, steps, irrelevant": {"link": "steps", "n_irrelevant": 26},
    "judged, peaked": {"link": "peaked", "noise": 0.5},
    "plain, linear": {"family": "plain", "link": "linear", "n_grades": 5, "n_features": 20},
    "plain, products": {"family": "plain", "noise": 0.5, "n_grades": 5, "n_features": 20},
    "plain, steps, noisy": {"family": "plain", "link": "steps", "n_grades": 5, "n_irrelevant": 10, "noise": 2.0},
}
_COMMON = {"family": "judged", "n_features": 46, "docs_per_query": (8, 50), "n_grades": 3, "noise": 1.0}


def family(name: str, n_queries: int, seed: int) -> tuple[Any, Any, Any]:
    """Rows of a family, with its own draw of everything."""
    X, y, qid, _ = make_retrieval(n_queries, **{**_COMMON, "wrong_grades": 0.1, **FAMILIES[name]}, random_state=seed)
    return X, y, qid


def examples() -> dict[str, tuple[Any, Any, Any, str]]:
    """Real data, if RANKWISE_DATA names their folder: features, grades, queries, and the gain of a grade."""
    if "RANKWISE_DATA" not in os.environ:
        return {}
    data = load_retrieval("lightgbm_example")
    dense = data.X.toarray() if hasattr(data.X, "toarray") else np.asarray(data.X)
    catboost = _catboost_example(Path(os.environ["RANKWISE_DATA"]) / "ltr")
    return {"lightgbm_example": (dense, data.y, data.qid, "exp"), "catboost_example": (*catboost, "linear")}


def _catboost_example(folder: Path) -> tuple[Any, Any, Any]:
    """Features, grades and queries of both files; the other columns are ignored."""
    lines = []
    for part in ("train", "test"):
        with gzip.open(folder / "catboost_querywise" / f"{part}.gz", "rt", encoding="utf-8") as file:
            lines += [[part, *line.rstrip("\n").split("\t")] for line in file]
    table = np.array(lines)
    return table[:, 6:].astype(float), table[:, 3].astype(float), np.char.add(table[:, 0], table[:, 2])


def tuning_folds(X: Any, y: Any, qid: Any) -> list[tuple[Any, Any]]:
    """Training and test rows of two of five folds: settings are chosen on these test queries, and never reported on."""
    return list(QueryKFold(5, shuffle=True, random_state=99).split(X, y, qid=qid))[:2]


def reported_folds(X: Any, y: Any, qid: Any, n_folds: int, seed: int) -> list[tuple[Any, Any]]:
    """Folds whose test rows leave out the queries of `tuning_folds`; these rows are for training, as all others are."""
    tuning = np.concatenate([test for _, test in tuning_folds(X, y, qid)])
    folds = QueryKFold(n_folds, shuffle=True, random_state=seed).split(X, y, qid=qid)
    return [(train, np.setdiff1d(test, tuning)) for train, test in folds]
