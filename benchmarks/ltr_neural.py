"""Is the neural ranker as good as the linear one and boosted trees? Same folds, one thread; on a GPU if there is one.

Reports NDCG@10 (averaged over ties, without queries that have no relevant rows) with its standard error over queries,
the processor time of the fits, and paired tests against `LinearRanker`, on generated families and on the folds of the
real examples that ``ltr.py`` reports. All rankers have their defaults; queries that took part in choosing them are
trained on, but not reported. ``--tune`` compares settings of the neural ranker on families of other seeds and on the
folds for tuning, with a result file of its own.
"""

from __future__ import annotations

import argparse
import os
import time
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import torch
from common import save
from ltr_cases import examples, family, reported_folds, tuning_folds

from rankwise.ltr import LambdaMART, LinearRanker, NeuralRanker
from rankwise.metrics import ndcg_score
from rankwise.model_selection import QueryKFold, compare, cross_validate

#: family of `make_retrieval` and number of queries, to report and to tune on; all with seeds of their own
REPORTED = [
    ("judged, linear", 150),
    ("judged, saturating", 300),
    ("judged, products", 600),
    ("judged, peaked", 600),
    ("plain, products", 900),
    ("plain, steps, noisy", 300),
    ("plain, products", 3000),
    ("judged, peaked", 3000),
]
TUNED = [
    ("judged, linear, noisy", 250),
    ("judged, saturating", 750),
    ("judged, steps", 250),
    ("judged, peaked", 750),
    ("plain, products", 750),
    ("plain, steps, noisy", 250),
]
SETTINGS: dict[str, dict[str, Any]] = {
    "as it comes": {},
    "quantiles": {"quantile_transform": True},
    "quantiles, no logarithms": {"quantile_transform": True, "log_transform": False},
    "a layer of products": {"n_crosses": 1},
    "three networks": {"n_networks": 3},
    "attention": {"attention": True},
    "attention, two no-ops": {"attention": True, "n_no_ops": 2},
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="smaller sizes; the result file is not changed")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--folds", type=int, default=3)
    parser.add_argument("--tune", action="store_true", help="compare settings on data of other seeds, and stop")
    options = parser.parse_args()
    print(torch.cuda.get_device_name() if torch.cuda.is_available() else "no GPU", flush=True)
    packages = ["torch", "scikit-learn"]
    if options.tune:
        save("ltr_neural_tune", tune(options), options, packages, "ltr_neural.py --tune")
        return
    rows = [row for case, data in cases(options).items() for row in quality(case, *data, options)]
    save("ltr_neural", rows, options, packages)


def tune(options: Any) -> list[dict[str, Any]]:
    """NDCG@10 of each setting on each data set for tuning, less that of the linear ranker."""
    rows = []
    for case, train, test, gain in tuning_cases(options):
        rankers: dict[str, Any] = {"linear": LinearRanker(gain=gain, random_state=0)}
        rankers |= {name: neural(gain, 0, **kwargs) for name, kwargs in SETTINGS.items()}
        row: dict[str, Any] = {"case": case, "ndcg@10": {}, "seconds": {}, "epochs": {}}
        for name, ranker in rankers.items():
            start = time.process_time()
            ranker.fit(*train)
            row["seconds"][name] = round(time.process_time() - start, 1)
            scores = ranker.predict(test[0], test[2]) if name != "linear" else ranker.predict(test[0])
            row["ndcg@10"][name] = round(ndcg_score(test[1], scores, test[2], k=10, gain=gain), 5)
            row["epochs"][name] = getattr(ranker, "n_epochs_", None)
        print(case, row["ndcg@10"], row["seconds"], row["epochs"], flush=True)
        rows.append(row)
    for name in SETTINGS:
        differences = [row["ndcg@10"][name] - row["ndcg@10"]["linear"] for row in rows]
        print(f"{name:<28} {np.mean(differences):+.4f}, least {min(differences):+.4f}")
    return rows


def tuning_cases(options: Any) -> Any:
    """Name, training rows, test rows and gain."""
    for number, (name, n_train) in enumerate(TUNED):
        n_train = n_train // 10 if options.quick else n_train
        X, y, qid = family(name, n_train + 300, 4000 + number)
        train = qid <= n_train
        yield f"{name}, {n_train}", (X[train], y[train], qid[train]), (X[~train], y[~train], qid[~train]), "exp"
    for name, (X, y, qid, gain) in {} if options.quick else examples().items():
        for number, (train, test) in enumerate(tuning_folds(X, y, qid)):
            yield f"{name}, fold {number}", (X[train], y[train], qid[train]), (X[test], y[test], qid[test]), gain


def cases(options: Any) -> dict[str, Any]:
    """Name -> features, grades, queries, and the gain of a grade."""
    found: dict[str, Any] = {} if options.quick else examples()
    for number, (name, n_queries) in enumerate(REPORTED):
        n_queries = n_queries // 10 if options.quick else n_queries
        found[f"{name}, {n_queries}"] = (*family(name, n_queries, 5000 + number), "exp")
    return found


def neural(gain: str, seed: int, **kwargs: Any) -> Any:
    return NeuralRanker(gain=gain, device="auto", random_state=seed, **kwargs)


def quality(case: str, X: Any, y: Any, qid: Any, gain: str, options: Any) -> list[dict[str, Any]]:
    rankers = {
        "LinearRanker()": LinearRanker(gain=gain, random_state=options.seed),
        "NeuralRanker()": neural(gain, options.seed),
        "NeuralRanker(attention=True)": neural(gain, options.seed, attention=True),
        "LambdaMART()": LambdaMART(gain=gain, n_jobs=1, random_state=options.seed),
    }
    folds: Any = QueryKFold(options.folds, shuffle=True, random_state=options.seed)
    if case.endswith("_example"):
        folds = reported_folds(X, y, qid, options.folds, options.seed)
    results = {name: cross_validate(ranker, X, y, qid, cv=folds, gain=gain) for name, ranker in rankers.items()}
    rows = []
    for name, result in results.items():
        values = result.per_query["ndcg@10"]
        known = values[~np.isnan(values)]
        row: dict[str, Any] = {"case": case, "ranker": name, "ndcg@10": float(known.mean())}
        row |= {"standard_error": float(known.std(ddof=1) / np.sqrt(len(known)))}
        row |= {"cpu_seconds": round(float(result.fit_seconds.sum()), 1)}
        row |= {"device": torch.cuda.get_device_name() if torch.cuda.is_available() else "cpu"}
        if name != "LinearRanker()":
            linear = results["LinearRanker()"]
            pair = compare({name: result, "LinearRanker()": linear}, random_state=0)
            row |= {"above_linear": float(pair.difference[0]), "p": float(pair.p_randomization[0])}
        print({key: round(value, 4) if isinstance(value, float) else value for key, value in row.items()}, flush=True)
        rows.append(row)
    return rows


if __name__ == "__main__":
    main()
