"""Is LambdaMART as good and as fast as LightGBM, XGBoost and CatBoost? Same folds and number of trees, one thread.

Reports NDCG@10 (averaged over ties, without queries that have no relevant rows) with its standard error over queries,
the CPU time of the fits, and paired tests over queries. Gains are 2^y - 1, and y itself for the example of CatBoost,
whose grades are not integers. Every ranker uses its own defaults except for the learning rate, the number of trees, and
31 leaves (depth 6 for CatBoost). ``--seeds`` repeats this with other folds and other models; a query then counts with
its mean. Rows that end in "fits alone" compare the CPU time of a ranker and a peer with trees of the same shape, which
take turns on all rows. ``--data FOLDER`` uses any LETOR folder instead of the built-in data; XGBoost and CatBoost are
skipped if they are not installed.
"""

from __future__ import annotations

import argparse
import gzip
import os
import time
from dataclasses import replace
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from typing import Any, ClassVar

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from common import save
from sklearn.base import BaseEstimator

from rankwise.datasets import load_retrieval, make_retrieval
from rankwise.ltr import LambdaMART, LinearRanker
from rankwise.model_selection import QueryKFold, compare, cross_validate

RATE, LEAVES, DEPTH = 0.05, 31, 6


class Peer(BaseEstimator):
    """A booster of another library, wrapped for `cross_validate`."""

    __metadata_request__fit: ClassVar[dict[str, bool]] = {"qid": True}

    def __init__(self, library: str, n_trees: int, gain: str, seed: int) -> None:
        self.library = library
        self.n_trees = n_trees
        self.gain = gain
        self.seed = seed

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

        settings = {"objective": "lambdarank", "learning_rate": RATE, "num_leaves": LEAVES, "num_threads": 1}
        groups = np.unique(qid, return_counts=True)[1]
        settings |= {"verbosity": -1, "seed": self.seed}
        if self.gain == "linear":  # labels must be integers, their gains need not be
            worth, y = np.unique(y, return_inverse=True)
            settings["label_gain"] = worth.tolist()
        return lightgbm.train(settings, lightgbm.Dataset(X, y, group=groups), self.n_trees)

    def _xgboost(self, X: Any, y: Any, qid: Any) -> Any:
        import xgboost

        options = {"grow_policy": "lossguide", "max_leaves": LEAVES, "max_depth": 0, "tree_method": "hist"}
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
    parser.add_argument("--quick", action="store_true", help="smaller sizes; the result file is not changed")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--data", help="a LETOR folder")
    parser.add_argument("--trees", type=int, default=200)
    parser.add_argument("--seeds", type=int, default=2, help="how often folds and models are drawn")
    parser.add_argument("--folds", type=int, default=3)
    options = parser.parse_args()
    rows = []
    for case, data in cases(options).items():
        rows += quality(case, *data, options) + seconds_alone(case, *data, options)
    packages = ["scikit-learn", "lightgbm", *(p for p in ("xgboost", "catboost") if find_spec(p))]
    if not options.data:
        save("ltr", rows, options, packages)


def cases(options: Any) -> dict[str, Any]:
    """Name -> features, grades, queries, and the gain of a grade."""
    if options.data:
        data = load_retrieval(options.data)
        return {options.data: (np.asarray(data.X), data.y, data.qid, "exp")}
    X, y, qid, _ = make_retrieval(200 if options.quick else 2000, random_state=options.seed)
    found: dict[str, Any] = {"make_retrieval": (X, y, qid, "exp")}
    if "RANKWISE_DATA" not in os.environ:
        return found
    data = load_retrieval("lightgbm_example")
    dense = data.X.toarray() if hasattr(data.X, "toarray") else np.asarray(data.X)
    found["lightgbm_example"] = (dense, data.y, data.qid, "exp")
    found["catboost_example"] = (*catboost_example(Path(os.environ["RANKWISE_DATA"]) / "ltr"), "linear")
    return found


def catboost_example(folder: Path) -> tuple[Any, Any, Any]:
    """Features, grades and queries of both files; the other columns are ignored."""
    lines = []
    for part in ("train", "test"):
        with gzip.open(folder / "catboost_querywise" / f"{part}.gz", "rt", encoding="utf-8") as file:
            lines += [[part, *line.rstrip("\n").split("\t")] for line in file]
    table = np.array(lines)
    return table[:, 6:].astype(float), table[:, 3].astype(float), np.char.add(table[:, 0], table[:, 2])


def quality(case: str, X: Any, y: Any, qid: Any, gain: str, options: Any) -> list[dict[str, Any]]:
    peers = [name for name in ("lightgbm", "xgboost", "catboost") if find_spec(name)]
    runs: dict[str, list[Any]] = {}
    for seed in range(options.seed, options.seed + options.seeds):
        folds = QueryKFold(options.folds, shuffle=True, random_state=seed)
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


def seconds_alone(case: str, X: Any, y: Any, qid: Any, gain: str, options: Any) -> list[dict[str, Any]]:
    """Shortest CPU time of rankers and peers with the same number of trees and leaves, which take turns."""
    found = rankers(gain, options, options.seed)
    pairs = {"LambdaMART": "lightgbm", "LambdaMART level, depth 6, 2 draws": "catboost"}
    seconds = {name: np.inf for pair in pairs.items() for name in pair if name in found}
    codes = np.unique(qid, return_inverse=True)[1]
    for _, name in product(range(3), seconds):
        begin = time.process_time()
        found[name].fit(X, y, codes)
        seconds[name] = min(seconds[name], time.process_time() - begin)
    rows = []
    for name, peer in pairs.items():
        if peer in seconds:
            row = {"case": case, "ranker": f"{name}, fits alone", f"cpu_ratio_to_{peer}": seconds[name] / seconds[peer]}
            print(f"{case:>18}  {row['ranker']:<34} cpu {row[f'cpu_ratio_to_{peer}']:.2f} of {peer}", flush=True)
            rows.append(row)
    return rows


def rankers(gain: str, options: Any, seed: int) -> dict[str, Any]:
    n_trees = 50 if options.quick else options.trees
    common = {"n_estimators": n_trees, "learning_rate": RATE, "gain": gain, "n_jobs": 1, "random_state": seed}
    peers = {name: Peer(name, n_trees, gain, seed) for name in ("lightgbm", "xgboost", "catboost") if find_spec(name)}
    return {
        "LambdaMART": LambdaMART(**common, num_leaves=LEAVES),
        "LambdaMART, 2 draws": LambdaMART(**common, num_leaves=LEAVES, n_draws=2),
        "LambdaMART level": LambdaMART(**common, tree="level"),
        "LambdaMART level, 2 draws": LambdaMART(**common, tree="level", n_draws=2),
        "LambdaMART level, depth 6, 2 draws": LambdaMART(**common, tree="level", max_depth=DEPTH, n_draws=2),
        "LinearRanker": LinearRanker(random_state=seed),
    } | peers


def mean_of(repeats: list[Any]) -> Any:
    """Several results as one: the mean of each query, and the times of all fits."""
    values = np.mean([repeat.per_query["ndcg@10"] for repeat in repeats], axis=0)
    seconds = np.concatenate([repeat.fit_seconds for repeat in repeats])
    return replace(repeats[0], per_query={"ndcg@10": values}, fit_seconds=seconds)


if __name__ == "__main__":
    main()
