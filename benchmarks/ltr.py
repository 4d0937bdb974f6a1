"""Is LambdaMART as good and as quick as LightGBM, XGBoost and CatBoost? Same folds, trees and leaves, one thread.

NDCG@10 (gain 2^y - 1, ties averaged, queries without relevant rows left out) over the queries of all folds, processor
time of the fits, and paired tests. ``--data FOLDER`` takes any LETOR folder in place of the built-in data; XGBoost and
CatBoost are left out where they are not installed.
"""

from __future__ import annotations

import argparse
import os
import time
from importlib.util import find_spec
from typing import Any, ClassVar

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from common import save
from sklearn.base import BaseEstimator

from rankwise.datasets import load_retrieval, make_retrieval
from rankwise.ltr import LambdaMART, LinearRanker
from rankwise.ltr.gradients import PairwiseLoss
from rankwise.model_selection import compare, cross_validate

RATE, LEAVES, DEPTH = 0.05, 31, 6


class Peer(BaseEstimator):
    """A booster of another library behind the calls that cross_validate makes."""

    __metadata_request__fit: ClassVar[dict[str, bool]] = {"qid": True}

    def __init__(self, library: str, n_trees: int, seed: int) -> None:
        self.library = library
        self.n_trees = n_trees
        self.seed = seed

    def fit(self, X: Any, y: Any, qid: Any) -> Peer:
        """Sort rows by query, as all three ask for, and train."""
        order = np.argsort(qid, kind="stable")
        self.model_ = getattr(self, f"_{self.library}")(X[order], y[order], qid[order])
        return self

    def predict(self, X: Any) -> Any:
        """Scores."""
        return self.model_.predict(X)

    def _lightgbm(self, X: Any, y: Any, qid: Any) -> Any:
        import lightgbm

        settings = {"objective": "lambdarank", "learning_rate": RATE, "num_leaves": LEAVES, "num_threads": 1}
        groups = np.unique(qid, return_counts=True)[1]
        settings |= {"verbosity": -1, "seed": self.seed}
        return lightgbm.train(settings, lightgbm.Dataset(X, y, group=groups), self.n_trees)

    def _xgboost(self, X: Any, y: Any, qid: Any) -> Any:
        import xgboost

        options = {"grow_policy": "lossguide", "max_leaves": LEAVES, "max_depth": 0, "tree_method": "hist"}
        ranker = xgboost.XGBRanker(
            n_estimators=self.n_trees, learning_rate=RATE, n_jobs=1, random_state=self.seed, **options
        )
        return ranker.fit(X, y, qid=qid)

    def _catboost(self, X: Any, y: Any, qid: Any) -> Any:
        import catboost

        ranker = catboost.CatBoostRanker(
            iterations=self.n_trees,
            learning_rate=RATE,
            depth=DEPTH,
            loss_function="YetiRank",
            thread_count=1,
            random_seed=self.seed,
            verbose=False,
            allow_writing_files=False,
        )
        return ranker.fit(X, y, group_id=qid)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="smaller sizes; the result file stays as it is")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--data", help="a LETOR folder")
    parser.add_argument("--trees", type=int, default=200)
    options = parser.parse_args()
    rows = gradient_pass(options)
    for case, (X, y, qid) in cases(options).items():
        rows += quality(case, X, y, qid, options)
    packages = ["scikit-learn", "lightgbm", *(p for p in ("xgboost", "catboost") if find_spec(p))]
    if not options.data:
        save("ltr", rows, options, packages)


def cases(options: Any) -> dict[str, Any]:
    if options.data:
        data = load_retrieval(options.data)
        return {options.data: (np.asarray(data.X), data.y, data.qid)}
    X, y, qid, _ = make_retrieval(200 if options.quick else 2000, random_state=options.seed)
    found = {"make_retrieval": (X, y, qid)}
    try:
        data = load_retrieval("lightgbm_example")
    except (OSError, ValueError):
        return found
    dense = data.X.toarray() if hasattr(data.X, "toarray") else np.asarray(data.X)
    return found | {"lightgbm_example": (dense, data.y, data.qid)}


def quality(case: str, X: Any, y: Any, qid: Any, options: Any) -> list[dict[str, Any]]:
    n_trees = 50 if options.quick else options.trees
    common = {"n_estimators": n_trees, "learning_rate": RATE, "num_leaves": LEAVES, "random_state": options.seed}
    rankers: dict[str, Any] = {
        "LambdaMART": LambdaMART(**common, n_jobs=1),
        "LambdaMART, 4 draws": LambdaMART(**common, n_draws=4, n_jobs=1),
        "LinearRanker": LinearRanker(random_state=options.seed),
    }
    rankers |= {
        name: Peer(name, n_trees, options.seed) for name in ("lightgbm", "xgboost", "catboost") if find_spec(name)
    }
    results = {name: cross_validate(ranker, X, y, qid, cv=5) for name, ranker in rankers.items()}
    base = results["lightgbm"]
    rows = []
    for name, result in results.items():
        row = {"case": case, "ranker": name, "ndcg@10": float(np.nanmean(result.per_query["ndcg@10"]))}
        row["cpu_ratio_to_lightgbm"] = float(result.fit_seconds.sum() / base.fit_seconds.sum())
        if name != "lightgbm":
            pair = compare({name: result, "lightgbm": base}, random_state=0).rows[0]
            row |= {"difference": pair["difference"], "p": pair["p_randomization"]}
        rows.append(row)
        test = f"{row['difference']:+.4f} (p = {row['p']:.3f})" if "p" in row else ""
        print(f"{case:>18}  {name:<20} {row['ndcg@10']:.4f}  cpu {row['cpu_ratio_to_lightgbm']:5.2f}  {test}")
    return rows


def gradient_pass(options: Any) -> list[dict[str, Any]]:
    """Our gradients against LightGBM's: its boosting with lambdarank less its boosting with squared error."""
    import lightgbm

    n_queries, size = (500, 100) if options.quick else (2000, 100)
    rng = np.random.default_rng(options.seed)
    y = rng.integers(0, 5, n_queries * size).astype(float)
    X = rng.normal(size=(len(y), 1)) + 0.3 * y[:, None]
    bounds = np.arange(0, len(y) + 1, size)

    def seconds(call: Any, rounds: int) -> float:
        call()
        begin = time.process_time()
        for _ in range(rounds):
            call()
        return (time.process_time() - begin) / rounds

    def boosting(**settings: Any) -> tuple[float, Any]:
        settings |= {"num_leaves": 12, "num_threads": 1, "verbosity": -1, "max_bin": 15}
        data = lightgbm.Dataset(X, y, group=np.full(n_queries, size), params=settings)
        booster = lightgbm.Booster(settings, data)
        return seconds(booster.update, 8), booster

    rows = []
    for truncation in (10, 30, 100):
        without = min(boosting(objective="regression")[0] for _ in range(3))
        runs = [boosting(objective="lambdarank", lambdarank_truncation_level=truncation) for _ in range(3)]
        theirs = min(run[0] for run in runs) - without
        score = np.asarray(runs[0][1].predict(X, raw_score=True))
        loss = PairwiseLoss.build(
            y, bounds, np.ones(len(y)), truncation=truncation, ties="random", gap_norm=True, query_norm=True
        )
        ours = min(seconds(lambda loss=loss, score=score: loss(score, rng), 8) for _ in range(3))
        rows.append({"case": f"gradient pass, truncation {truncation}", "cpu_ratio_to_lightgbm": ours / theirs})
        print(f"gradient pass, truncation {truncation:>3}: {ours / theirs:.2f} of LightGBM's time")
    return rows


if __name__ == "__main__":
    main()
