"""Is the neural ranker as good as the linear one and boosted trees? Same folds; on a GPU if there is one.

Reports NDCG@10 (averaged over ties, without queries that have no relevant rows) with its standard error over queries,
the wall time of the fits, and paired tests of the neural ranker over queries; data, gains and repetitions are those of
``ltr.py``. All rankers use their defaults. Those of the neural ranker were chosen on data and folds of seeds 101 to 105
(``--tune`` compares settings on two of them), none of which is reported.
"""

from __future__ import annotations

import argparse
import time
from itertools import product
from typing import Any

import numpy as np
import torch
from common import save

from ltr import cases, mean_of
from rankwise.datasets import make_retrieval
from rankwise.ltr import LambdaMART, LinearRanker, NeuralRanker
from rankwise.model_selection import QueryKFold, compare, cross_validate

NEURAL = {"attention": True, "device": "auto"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="smaller sizes; the result file is not changed")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--data", help="a LETOR folder")
    parser.add_argument("--seeds", type=int, default=3, help="how often folds and models are drawn")
    parser.add_argument("--tune", action="store_true", help="compare settings on data of other seeds, and stop")
    options = parser.parse_args()
    print(torch.cuda.get_device_name() if torch.cuda.is_available() else "no GPU", flush=True)
    if options.tune:
        tune(options)
        return
    rows = [row for case, data in cases(options).items() for row in quality(case, *data, options)]
    if not options.data:
        save("ltr_neural", rows, options, ["torch", "scikit-learn", "lightgbm"])


def tune(options: Any) -> None:
    """NDCG@10 of settings on generated data of two other seeds, one split each."""
    losses = ["listwise_softmax", "listwise_listnet", "lambdarank"]
    for rate, noise, loss in product([1e-3, 3e-3, 1e-2], [0.0, 0.1], losses):
        scores = []
        start = time.perf_counter()
        for seed in (101, 102):
            X, y, qid, _ = make_retrieval(200 if options.quick else 2000, random_state=seed)
            train, test = next(QueryKFold(3, shuffle=True, random_state=seed).split(X, y, qid=qid))
            ranker = NeuralRanker(loss, learning_rate=rate, input_noise=noise, random_state=seed, **NEURAL)
            ranker.set_params(score_gain="exp")
            scores.append(ranker.fit(X[train], y[train], qid[train]).score(X[test], y[test], qid[test]))
        print(rate, noise, loss, f"{np.mean(scores):.4f} in {time.perf_counter() - start:.0f} s", flush=True)


def quality(case: str, X: Any, y: Any, qid: Any, gain: str, options: Any) -> list[dict[str, Any]]:
    runs: dict[str, list[Any]] = {}
    seconds: dict[str, float] = {}
    for seed in range(options.seed, options.seed + options.seeds):
        rankers = {
            "NeuralRanker, attention": NeuralRanker(random_state=seed, gain=gain, **NEURAL),
            "NeuralRanker": NeuralRanker(random_state=seed, gain=gain, **(NEURAL | {"attention": False})),
            "LinearRanker": LinearRanker(random_state=seed),
            "LambdaMART": LambdaMART(tree="leaf", random_state=seed, gain=gain),
        }
        folds = QueryKFold(3, shuffle=True, random_state=seed)
        for name, ranker in rankers.items():
            start = time.perf_counter()
            runs.setdefault(name, []).append(cross_validate(ranker, X, y, qid, cv=folds, gain=gain))
            seconds[name] = seconds.get(name, 0.0) + time.perf_counter() - start
    results = {name: mean_of(repeats) for name, repeats in runs.items()}
    rows = []
    for name, result in results.items():
        values = result.per_query["ndcg@10"]
        known = values[~np.isnan(values)]
        row: dict[str, Any] = {"case": case, "ranker": name, "ndcg@10": float(known.mean())}
        row |= {"standard_error": float(known.std(ddof=1) / np.sqrt(len(known))), "seconds": seconds[name]}
        row["by_seed"] = [float(np.nanmean(repeat.per_query["ndcg@10"])) for repeat in runs[name]]
        if name != "NeuralRanker, attention":
            pair = compare({"NeuralRanker, attention": results["NeuralRanker, attention"], name: result})
            row |= {"neural_is_better_by": float(pair.difference[0]), "p": float(pair.p_randomization[0])}
        print({key: round(value, 4) if isinstance(value, float) else value for key, value in row.items()}, flush=True)
        rows.append(row)
    return rows


if __name__ == "__main__":
    main()
