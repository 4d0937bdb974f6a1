"""Is the neural ranker as good as the linear one and as boosted trees? Same folds; on a graphics processor, if any.

NDCG@10 (gain 2^y - 1, ties averaged, queries without relevant rows left out) with its standard error over queries, the
wall time of the fits, and paired tests of the neural ranker, query by query. Settings of the neural ranker were chosen
on data drawn with other seeds (``--tune`` repeats that); those of the others are their defaults.
"""

from __future__ import annotations

import argparse
import time
from itertools import product
from typing import Any

import numpy as np
import torch
from common import save

from rankwise.datasets import load_retrieval, make_retrieval
from rankwise.ltr import LambdaMART, LinearRanker, NeuralRanker
from rankwise.model_selection import QueryKFold, compare, cross_validate

NEURAL = {"attention": True, "n_epochs": 100, "early_stopping": 10, "device": "auto"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="smaller sizes; the result file stays as it is")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--tune", action="store_true", help="compare settings on data of other seeds, and stop")
    options = parser.parse_args()
    print(torch.cuda.get_device_name() if torch.cuda.is_available() else "no graphics processor", flush=True)
    if options.tune:
        tune(options)
        return
    rows = [row for case, data in cases(options).items() for row in quality(case, *data, options)]
    save("ltr_neural", rows, options, ["torch", "scikit-learn", "lightgbm"])


def tune(options: Any) -> None:
    """NDCG@10 of settings on one split each of two other draws of the generated data."""
    for hidden, rate, noise, loss in product(
        [(64, 64), (256, 256)], [1e-3, 3e-3], [0.0, 0.1], ["softmax", "lambdarank"]
    ):
        scores = []
        start = time.perf_counter()
        for seed in (101, 102):
            X, y, qid, _ = make_retrieval(200 if options.quick else 2000, random_state=seed)
            train, test = next(QueryKFold(3, shuffle=True, random_state=seed).split(X, y, qid=qid))
            ranker = NeuralRanker(loss, hidden=hidden, learning_rate=rate, noise=noise, random_state=seed, **NEURAL)
            scores.append(ranker.fit(X[train], y[train], qid[train]).score(X[test], y[test], qid[test]))
        print(hidden, rate, noise, loss, f"{np.mean(scores):.4f} in {time.perf_counter() - start:.0f} s", flush=True)


def cases(options: Any) -> dict[str, Any]:
    X, y, qid, _ = make_retrieval(200 if options.quick else 2000, random_state=options.seed)
    found = {"make_retrieval": (X, y, qid)}
    for name in ("lightgbm_example", "catboost_querywise"):
        try:
            data = load_retrieval(name)
        except (OSError, ValueError) as error:
            print(f"{name} is left out: {error}")
            continue
        dense = data.X.toarray() if hasattr(data.X, "toarray") else np.asarray(data.X)
        found[name] = (dense, data.y, data.qid)
    return found


def quality(case: str, X: Any, y: Any, qid: Any, options: Any) -> list[dict[str, Any]]:
    rankers = {
        "NeuralRanker, attention": NeuralRanker(random_state=options.seed, **NEURAL),
        "NeuralRanker": NeuralRanker(random_state=options.seed, **(NEURAL | {"attention": False})),
        "LinearRanker": LinearRanker(random_state=options.seed),
        "LambdaMART": LambdaMART(random_state=options.seed),
    }
    folds = QueryKFold(3, shuffle=True, random_state=options.seed)
    results, seconds = {}, {}
    for name, ranker in rankers.items():
        start = time.perf_counter()
        results[name] = cross_validate(ranker, X, y, qid, cv=folds)
        seconds[name] = time.perf_counter() - start
    rows = []
    for name, result in results.items():
        values = result.per_query["ndcg@10"]
        known = values[~np.isnan(values)]
        row: dict[str, Any] = {"case": case, "ranker": name, "ndcg@10": float(known.mean())}
        row |= {"standard_error": float(known.std(ddof=1) / np.sqrt(len(known))), "seconds": seconds[name]}
        if name != "NeuralRanker, attention":
            pair = compare({"NeuralRanker, attention": results["NeuralRanker, attention"], name: result}).rows[0]
            row |= {"neural_is_better_by": pair["difference"], "p": pair["p_randomization"]}
        print({key: round(value, 4) if isinstance(value, float) else value for key, value in row.items()}, flush=True)
        rows.append(row)
    return rows


if __name__ == "__main__":
    main()
