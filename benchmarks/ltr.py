"""Is LambdaMART as good and as fast as LightGBM, XGBoost and CatBoost? Same folds and number of trees, one thread.

Reports NDCG@10 (averaged over ties, without queries that have no relevant rows) with its standard error over queries,
the CPU time of the fits, and paired tests over queries. Gains are 2^y - 1, and y itself for the example of CatBoost,
whose grades are not integers. Ours are the defaults; each peer has its own and a setting that is known to be good: few
leaves for LightGBM and XGBoost, symmetric trees of depth 4 with YetiRank and with QueryRMSE for CatBoost. No query of
the reported folds took part in choosing our defaults (`ltr_defaults.py`). ``--seeds`` repeats this with other folds and
other models; a query then counts with its mean. ``--data FOLDER`` uses any LETOR folder instead of the built-in data;
XGBoost and CatBoost are skipped if they are not installed.
"""

from __future__ import annotations

import argparse
import os
from dataclasses import replace
from importlib.util import find_spec
from typing import Any, ClassVar

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from common import save
from joblib import Parallel, delayed
from ltr_cases import examples, family, reported_folds
from sklearn.base import BaseEstimator

from rankwise.datasets import load_retrieval
from rankwise.ltr import LambdaMART, LinearRanker, StackedQueryRanker
from rankwise.model_selection import QueryKFold, compare, cross_validate

RATE = 0.05


class Peer(BaseEstimator):
    """A booster of another library, wrapped for `cross_validate`."""

    __metadata_request__fit: ClassVar[dict[str, bool]] = {"qid": True}

    def __init__(self, library: str, n_trees: int, gain: str, seed: int, size: int, loss: str = "") -> None:
        self.library = library
        self.n_trees = n_trees
        self.gain = gain
        self.seed = seed
        self.size = size
        self.loss = loss

    def fit(self, X: Any, y: Any, qid: Any) -> Peer:
        """Sort rows by query, as all three libraries require, and train."""
        order = np.argsort(qid, kind="stable")
        self.model_ = getattr(self, f"_{self.library}")(X[order], y[order], qid[order])
        return self

    def predict(self, X: Any) -> Any:
        """Predict scores."""
        return self.model_.predict(X)

    def _lightgbm(self, X: Any, y: Any, qid: Any) -> Any:
        import lightgbm

        settings = {"objective": "lambdarank", "learning_rate": RATE, "num_leaves": self.size, "num_threads": 1}
        groups = np.unique(qid, return_counts=True)[1]
        settings |= {"verbosity": -1, "seed": self.seed}
        if self.gain == "linear":  # labels must be integers, their gains need not be
            worth, y = np.unique(y, return_inverse=True)
            settings["label_gain"] = worth.tolist()
        return lightgbm.train(settings, lightgbm.Dataset(X, y, group=groups), self.n_trees)

    def _xgboost(self, X: Any, y: Any, qid: Any) -> Any:
        import xgboost

        options = {"grow_policy": "lossguide", "max_leaves": self.size, "max_depth": 0, "tree_method": "hist"}
        options |= {"ndcg_exp_gain": self.gain == "exp"}
        ranker = xgboost.XGBRanker(
            n_estimators=self.n_trees, learning_rate=RATE, n_jobs=1, random_state=self.seed, **options
        )
        return ranker.fit(X, y, qid=qid)

    def _catboost(self, X: Any, y: Any, qid: Any) -> Any:
        import catboost

        ranker = catboost.CatBoostRanker(
            iterations=self.n_trees,
            learning_rate=RATE,
            depth=self.size,
            loss_function=self.loss,
            thread_count=1,
            random_seed=self.seed,
            verbose=False,
            allow_writing_files=False,
        )
        return ranker.fit(X, y, group_id=qid)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="smaller sizes; the result file is not changed")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--data", help="a LETOR folder")
    parser.add_argument("--trees", type=int, default=300)
    parser.add_argument("--seeds", type=int, default=1, help="how often folds and models are drawn")
    parser.add_argument("--folds", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=1, help="cases that are measured at the same time")
    options = parser.parse_args()
    found = Parallel(options.jobs)(delayed(quality)(case, *data, options) for case, data in cases(options).items())
    rows = [row for part in found for row in part]
    packages = ["scikit-learn", "lightgbm", *(p for p in ("xgboost", "catboost") if find_spec(p))]
    if not options.data:
        save("ltr", rows, options, packages)


def cases(options: Any) -> dict[str, Any]:
    """Name -> features, grades, queries, and the gain of a grade."""
    if options.data:
        data = load_retrieval(options.data)
        return {options.data: (np.asarray(data.X), data.y, data.qid, "exp")}
    found: dict[str, Any] = {} if options.quick else examples()
    for number, name in enumerate(("judged, products", "plain, products")):
        found[name] = (*family(name, 60 if options.quick else 200, 50 + number), "exp")  # seeds of no other benchmark
    return found


def quality(case: str, X: Any, y: Any, qid: Any, gain: str, options: Any) -> list[dict[str, Any]]:
    peers = list(peers_of(gain, options, options.seed))
    runs: dict[str, list[Any]] = {}
    for seed in range(options.seed, options.seed + options.seeds):
        folds: Any = QueryKFold(options.folds, shuffle=True, random_state=seed)
        if case.endswith("_example"):
            folds = reported_folds(X, y, qid, options.folds, seed)
        for name, ranker in rankers(gain, options, seed).items():
            runs.setdefault(name, []).append(cross_validate(ranker, X, y, qid, cv=folds, gain=gain))
    results = {name: mean_of(repeats) for name, repeats in runs.items()}
    rows = []
    for name, result in results.items():
        values = result.per_query["ndcg@10"]
        known = values[~np.isnan(values)]
        row: dict[str, Any] = {"case": case, "ranker": name, "ndcg@10": float(known.mean())}
        row["standard_error"] = float(known.std(ddof=1) / np.sqrt(len(known)))
        row["by_seed"] = [float(np.nanmean(repeat.per_query["ndcg@10"])) for repeat in runs[name]]
        print(f"{case:>18}  {name:<34} {row['ndcg@10']:.4f} +- {row['standard_error']:.4f}", end="")
        for peer in peers:
            row[f"cpu_ratio_to_{peer}"] = float(result.fit_seconds.sum() / results[peer].fit_seconds.sum())
            if name != peer:
                pair = compare({name: result, peer: results[peer]}, random_state=0)
                row |= {f"difference_to_{peer}": float(pair.difference[0]), f"p_{peer}": float(pair.p_randomization[0])}
                print(f" | {peer} {pair.difference[0]:+.4f} (p {pair.p_randomization[0]:.3f}),", end="")
                print(f" cpu {row[f'cpu_ratio_to_{peer}']:.2f}", end="")
        print(flush=True)
        rows.append(row)
    return rows


def rankers(gain: str, options: Any, seed: int) -> dict[str, Any]:
    """Ours, then the peers; the default and a good setting of each."""
    trees = trees_of(options)
    common = {"n_estimators": trees, "learning_rate": RATE, "gain": gain, "n_jobs": 1, "random_state": seed}
    members = [
        ("lambdarank", LambdaMART(**common)),
        ("query_rmse", LambdaMART(objective="query_rmse", **common)),
        ("linear", LinearRanker(gain=gain, random_state=seed)),
    ]
    return {
        "LambdaMART()": LambdaMART(**common),
        'LambdaMART("query_rmse")': members[1][1],
        'LambdaMART("lambdaloss")': LambdaMART(objective="lambdaloss", **common),
        'LambdaMART(tree="leaf")': LambdaMART(tree="leaf", **common),
        "LinearRanker()": members[2][1],
        "StackedQueryRanker()": StackedQueryRanker(members, gain=gain, random_state=seed),
    } | peers_of(gain, options, seed)


def peers_of(gain: str, options: Any, seed: int) -> dict[str, Any]:
    """Name -> ranker of another library, of those that are installed."""
    found = {
        "LightGBM, 31 leaves": Peer("lightgbm", trees_of(options), gain, seed, 31),
        "LightGBM, 8 leaves": Peer("lightgbm", trees_of(options), gain, seed, 8),
        "XGBoost, 8 leaves": Peer("xgboost", trees_of(options), gain, seed, 8),
        "CatBoost YetiRank": Peer("catboost", trees_of(options), gain, seed, 4, "YetiRank"),
        "CatBoost QueryRMSE": Peer("catboost", trees_of(options), gain, seed, 4, "QueryRMSE"),
    }
    return {name: peer for name, peer in found.items() if find_spec(peer.library)}


def trees_of(options: Any) -> int:
    return 50 if options.quick else int(options.trees)


def mean_of(repeats: list[Any]) -> Any:
    """Several results as one: the mean of each query, and the times of all fits."""
    values = np.mean([repeat.per_query["ndcg@10"] for repeat in repeats], axis=0)
    seconds = np.concatenate([repeat.fit_seconds for repeat in repeats])
    return replace(repeats[0], per_query={"ndcg@10": values}, fit_seconds=seconds)


if __name__ == "__main__":
    main()
