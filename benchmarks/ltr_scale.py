"""Large data, part by part: training, prediction, sparse rows and one long query; each ranker in its own process.

- training: 300,000 rows with a hundred features. CPU time and peak memory of LambdaMART and LightGBM with the same
  trees (31 leaves; level trees: 16). Peak memory is that of the process, including the rows (240 MB). With several
  threads, the time of the path is that of the main thread and the share of a thread in the rest: on a busy machine,
  wall time says little.
- prediction: microseconds a row for 300 trees with 16 leaves, of 60,000 rows with 46 features, for LightGBM and
  CatBoost too; CatBoost is left out if it is not installed.
- sparse: level trees on 100,000 rows and columns with 100 values a row.
- long query: level trees on one query of a million rows.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from importlib.util import find_spec
from typing import Any

import numpy as np
from common import save

RATE, LEAVES = 0.1, 31
TRAINING = ("lightgbm", "LambdaMART leaf", "LambdaMART level", "LambdaMART level, 2 threads")
PREDICTION = ("LambdaMART level", "lightgbm", "catboost", "catboost, pool made before")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="smaller sizes; the result file is not changed")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--trees", type=int, default=20)
    parser.add_argument("--one", nargs=2, metavar=("PART", "RANKER"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(PARTS[options.one[0]](options.one[1], options)))
        return
    found: list[dict[str, Any]] = []
    runs = [("training", ranker) for ranker in TRAINING]
    runs += [("prediction", "")] + [(part, "LambdaMART level") for part in ("sparse", "long query")]
    for part, ranker in runs:
        numbers = ["--seed", str(options.seed), "--trees", str(options.trees), *(["--quick"] * options.quick)]
        command = [sys.executable, __file__, *numbers, "--one", part, ranker]
        run = subprocess.run(command, check=True, capture_output=True, text=True)
        row = {"part": part, "ranker": ranker, **json.loads(run.stdout)}
        if part == "training":
            base = found[0] if found else row
            row["ratios_to_lightgbm"] = {name: row[name] / base[name] for name in ("path_s", "cpu_s", "peak_gb")}
        found.append(row)
        print(json.dumps(row), flush=True)
    save("ltr_scale", found, options, ["lightgbm", "catboost"])


def made(n_rows: int, n_features: int, seed: int) -> tuple[Any, Any, Any]:
    """Queries of 100 documents; grades depend on a few of the features, some of which interact."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_features))
    score = X[:, :5].sum(axis=1) + X[:, 5] * X[:, 6] + np.abs(X[:, 7]) + 2 * rng.normal(size=n_rows)
    return X, np.clip(np.floor(score - 1), 0, 4), np.repeat(np.arange(n_rows // 100), 100)


def train(ranker: str, options: Any) -> dict[str, float]:
    from rankwise.metrics import ndcg_score

    fit(ranker, *made(1000, 100, 0), options)  # fills the cache of compiled functions
    X, y, qid = made(30_000 if options.quick else 300_000, 100, options.seed)
    model, seconds = timed(lambda: fit(ranker, X, y, qid, options), 2 if "threads" in ranker else 1)
    found = {"trees": options.trees, **seconds, "peak_gb": peak_gb()}
    return found | {"ndcg@10": ndcg_score(y, model.predict(X), qid, k=10, gain="exp")}


def fit(ranker: str, X: Any, y: Any, qid: Any, options: Any) -> Any:
    if ranker == "lightgbm":
        import lightgbm

        settings = {"objective": "lambdarank", "learning_rate": RATE, "num_leaves": LEAVES, "verbosity": -1}
        settings |= {"num_threads": 1, "seed": options.seed}
        groups = np.unique(qid, return_counts=True)[1]
        return lightgbm.train(settings, lightgbm.Dataset(X, y, group=groups), options.trees)
    from rankwise.ltr import LambdaMART

    trees: dict[str, Any] = {"tree": "leaf", "num_leaves": LEAVES} if "leaf" in ranker else {"tree": "level"}
    n_jobs = 2 if "threads" in ranker else 1
    return LambdaMART(options.trees, RATE, n_jobs=n_jobs, random_state=options.seed, **trees).fit(X, y, qid)


def predict(_: str, options: Any) -> dict[str, float]:
    import lightgbm

    from rankwise.ltr import LambdaMART

    n_trees = 30 if options.quick else 300
    X, y, qid = made(20_000, 46, options.seed)
    rows = made(60_000, 46, options.seed + 1)[0]
    ours = LambdaMART(n_trees, tree="level", max_depth=4, n_jobs=1, random_state=0).fit(X, y, qid)
    settings = {"objective": "lambdarank", "num_leaves": 16, "num_threads": 1, "verbosity": -1}
    peer = lightgbm.train(settings, lightgbm.Dataset(X, y, group=np.bincount(qid)), n_trees)
    tools: dict[str, Any] = {
        PREDICTION[0]: lambda: ours.predict(rows),
        PREDICTION[1]: lambda: peer.predict(rows, num_threads=1),
    }
    if find_spec("catboost"):
        import catboost

        parameters = {"loss_function": "QueryRMSE", "iterations": n_trees, "depth": 4, "thread_count": 1}
        other = catboost.CatBoost({**parameters, "verbose": 0, "allow_writing_files": False})
        other.fit(catboost.Pool(X, y, group_id=qid))
        pool = catboost.Pool(rows)
        tools[PREDICTION[2]] = lambda: other.predict(rows, thread_count=1)
        tools[PREDICTION[3]] = lambda: other.predict(pool, thread_count=1)
    found = {}
    for name, call in tools.items():
        call()
        found[name] = min(timed(call)[1]["cpu_s"] for _ in range(5)) / len(rows) * 1e6
    return {"trees": n_trees, **{f"{name}, us a row": value for name, value in found.items()}}


def sparse(_: str, options: Any) -> dict[str, float]:
    from scipy.sparse import csr_matrix

    from rankwise.ltr import LambdaMART

    rng = np.random.default_rng(options.seed)
    n, per_row = 10_000 if options.quick else 100_000, 100
    columns = (rng.random((n, per_row)) ** 3 * n).astype(np.int32)  # some columns are common, most are rare
    values = np.round(rng.random(n * per_row), 2) + 0.01
    X = csr_matrix((values, columns.ravel(), np.arange(0, n * per_row + 1, per_row)), shape=(n, n))
    X.sum_duplicates()
    score = X @ rng.normal(size=n)
    y = np.clip(np.floor((score - score.mean()) / score.std() * 1.5 + 1), 0, 4)
    ranker = LambdaMART(options.trees, RATE, tree="level", n_jobs=1, random_state=0)
    _, seconds = timed(lambda: ranker.fit(X, y, np.repeat(np.arange(n // 100), 100)))
    return {"rows": n, "columns": n, "trees": options.trees, **seconds, "peak_gb": peak_gb()}


def long_query(_: str, options: Any) -> dict[str, float]:
    from rankwise.ltr import LambdaMART

    X, y, _qid = made(100_000 if options.quick else 1_000_000, 10, options.seed)
    ranker = LambdaMART(options.trees, RATE, tree="level", n_jobs=1, random_state=0)
    _, seconds = timed(lambda: ranker.fit(X, y))
    return {"rows": len(X), "columns": 10, "trees": options.trees, **seconds, "peak_gb": peak_gb()}


def timed(call: Any, n_threads: int = 1) -> tuple[Any, dict[str, float]]:
    """What a call returns, and its time: on the wall, of processors, and of the longest path through its threads."""
    wall, cpu, main_thread = time.perf_counter(), time.process_time(), time.thread_time()
    found = call()
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    main_thread = time.thread_time() - main_thread
    return found, {"wall_s": wall, "cpu_s": cpu, "path_s": main_thread + (cpu - main_thread) / n_threads}


def peak_gb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


PARTS = {"training": train, "prediction": predict, "sparse": sparse, "long query": long_query}


if __name__ == "__main__":
    main()
