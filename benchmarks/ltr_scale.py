"""A million rows with a hundred features: wall time, CPU time and peak memory of LambdaMART and LightGBM.

Each ranker trains in its own process, on rows read from a file, with the same trees (31 leaves; level trees: their
default of 16). Peak memory is that of the process, including the rows, whose features take 800 MB. With few trees,
much of the time is spent sorting and binning rows.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from common import save

RATE, LEAVES = 0.1, 31
RANKERS = ("lightgbm", "LambdaMART", "LambdaMART level", "LambdaMART level, 1 draw")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="smaller sizes; the result file is not changed")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--trees", type=int, default=10)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--one", nargs=2, metavar=("RANKER", "FOLDER"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(trained(options.one[0], Path(options.one[1]), options)))
        return
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        write_rows(Path(folder), 100_000 if options.quick else 1_000_000, options.seed)
        for ranker in RANKERS:
            numbers = ["--seed", str(options.seed), "--trees", str(options.trees), "--threads", str(options.threads)]
            command = [sys.executable, __file__, *numbers, "--one", ranker, folder]
            # A first run on few rows fills the cache of compiled functions.
            warm_up = [sys.executable, __file__, *numbers, "--one", ranker, ""]
            subprocess.run(warm_up, check=True, capture_output=True)
            run = subprocess.run(command, check=True, capture_output=True, text=True)
            row = {"ranker": ranker, "trees": options.trees, "threads": options.threads, **json.loads(run.stdout)}
            base = rows[0] if rows else row
            row["ratios_to_lightgbm"] = {name: row[name] / base[name] for name in ("wall_s", "cpu_s", "peak_gb")}
            rows.append(row)
            print(
                f"{ranker:<26} wall {row['wall_s']:6.1f} s, cpu {row['cpu_s']:6.1f} s, peak {row['peak_gb']:5.2f} GB, "
                f"NDCG@10 {row['ndcg@10']:.4f}; of LightGBM's: "
                + ", ".join(f"{name} {value:.2f}" for name, value in row["ratios_to_lightgbm"].items()),
                flush=True,
            )
    save("ltr_scale", rows, options, ["lightgbm"])


def write_rows(folder: Path, n_rows: int, seed: int) -> None:
    """Queries of 100 documents; grades depend on a few of the hundred features, some of which interact."""
    X, y, qid = made(n_rows, seed)
    for name, array in (("X", X), ("y", y), ("qid", qid)):
        np.save(folder / f"{name}.npy", array)


def made(n_rows: int, seed: int) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 100))
    score = X[:, :5].sum(axis=1) + X[:, 5] * X[:, 6] + np.abs(X[:, 7]) + 2 * rng.normal(size=n_rows)
    return X, np.clip(np.floor(score - 1), 0, 4), np.repeat(np.arange(n_rows // 100), 100)


def trained(ranker: str, folder: Path, options: Any) -> dict[str, float]:
    from rankwise.metrics import ndcg_score

    small = not folder.name
    X, y, qid = made(1000, 0) if small else (np.load(folder / f"{name}.npy") for name in ("X", "y", "qid"))
    wall, cpu = time.perf_counter(), time.process_time()
    model = fit(ranker, X, y, qid, options)
    seconds = {"wall_s": time.perf_counter() - wall, "cpu_s": time.process_time() - cpu}
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    return seconds | {"peak_gb": peak, "ndcg@10": ndcg_score(y, model.predict(X), qid, k=10, gain="exp")}


def fit(ranker: str, X: Any, y: Any, qid: Any, options: Any) -> Any:
    if ranker == "lightgbm":
        import lightgbm

        settings = {"objective": "lambdarank", "learning_rate": RATE, "num_leaves": LEAVES, "verbosity": -1}
        settings |= {"num_threads": options.threads, "seed": options.seed}
        groups = np.unique(qid, return_counts=True)[1]
        return lightgbm.train(settings, lightgbm.Dataset(X, y, group=groups), options.trees)
    from rankwise.ltr import LambdaMART

    model = LambdaMART(
        options.trees,
        RATE,
        None if "level" in ranker else LEAVES,
        tree="level" if "level" in ranker else "leaf",
        n_draws=int("draw" in ranker),
        n_jobs=options.threads,
        random_state=options.seed,
    )
    return model.fit(X, y, qid)


if __name__ == "__main__":
    main()
