"""How fast is NDCG@10? Ours against ranx, pytrec_eval and scikit-learn, in one run and on one thread.

Ours is the plain call with tie averaging, grouping of rows by ``qid`` and all checks included; ranx and pytrec_eval get
their objects ready-made. With tied scores (rounded to one digit) scikit-learn, which averages too, is the
peer.

    python benchmarks/retrieval_metrics.py [--quick]
"""

from __future__ import annotations

import os

os.environ["NUMBA_NUM_THREADS"] = "1"  # ranx runs in parallel otherwise

import argparse
import json
import platform
import time
from collections.abc import Callable
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from rankwise.metrics.retrieval import ndcg_score

SEED = 0
PLACES = 10
N_DOCUMENTS = 100
PACKAGES = ("numpy", "numba", "scikit-learn", "ranx", "pytrec_eval-terrier")
RESULT = Path(__file__).parent / "results" / "retrieval_metrics.json"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="1,000 queries and three rounds; writes nothing")
    quick = parser.parse_args().quick
    n_queries, n_rounds = (1_000, 3) if quick else (10_000, 15)

    rng = np.random.default_rng(SEED)
    grades = rng.integers(0, 5, (n_queries, N_DOCUMENTS)).astype(float)
    scores = rng.random((n_queries, N_DOCUMENTS)) + 0.1 * grades
    report = {
        "distinct scores": compare(peers_without_ties(grades, scores), n_queries, n_rounds),
        "tied scores": compare(peers_with_ties(grades, np.round(scores, 1)), n_queries, n_rounds),
    }
    if not quick:
        about = {
            "date": datetime.now(UTC).isoformat(timespec="seconds"),
            "command": "python benchmarks/retrieval_metrics.py",
            "seed": SEED,
            "queries": n_queries,
            "documents": N_DOCUMENTS,
            "rounds": n_rounds,
            "machine": f"{processor()}, {os.cpu_count()} cores, {platform.system()}",
            "versions": {"python": platform.python_version(), **{name: version(name) for name in PACKAGES}},
        }
        RESULT.parent.mkdir(exist_ok=True)
        RESULT.write_text(json.dumps({**about, "results": report}, indent=2) + "\n")
        print(f"written to {RESULT}")


def peers_without_ties(grades: np.ndarray, scores: np.ndarray) -> dict[str, Callable[[], float]]:
    import pytrec_eval
    import ranx

    names = [f"d{d:03d}" for d in range(grades.shape[1])]
    qrels = {f"q{q}": dict(zip(names, map(int, row), strict=True)) for q, row in enumerate(grades)}
    run = {f"q{q}": dict(zip(names, map(float, row), strict=True)) for q, row in enumerate(scores)}
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, {f"ndcg_cut.{PLACES}"})
    ranx_qrels, ranx_run = ranx.Qrels(qrels), ranx.Run(run)

    def trec() -> float:
        return float(np.mean([v[f"ndcg_cut_{PLACES}"] for v in evaluator.evaluate(run).values()]))

    return {
        "rankwise": flat_call(grades, scores),
        "ranx": lambda: float(ranx.evaluate(ranx_qrels, ranx_run, f"ndcg@{PLACES}", make_comparable=False)),
        "pytrec_eval": trec,
    }


def peers_with_ties(grades: np.ndarray, scores: np.ndarray) -> dict[str, Callable[[], float]]:
    from sklearn.metrics import ndcg_score as sklearn_ndcg_score

    return {
        "rankwise": flat_call(grades, scores),
        "scikit-learn": lambda: float(sklearn_ndcg_score(grades, scores, k=PLACES)),
    }


def flat_call(grades: np.ndarray, scores: np.ndarray) -> Callable[[], float]:
    flat_grades, flat_scores = grades.ravel(), scores.ravel()
    qid = np.repeat(np.arange(len(grades)), grades.shape[1])
    return lambda: ndcg_score(flat_grades, flat_scores, qid, PLACES)


def compare(tools: dict[str, Callable[[], float]], n_queries: int, n_rounds: int) -> dict[str, Any]:
    """Value, speed and our ratio for each tool; the tools take turns, and the best round of each counts."""
    values = {name: call() for name, call in tools.items()}  # compiles, too
    seconds = dict.fromkeys(tools, np.inf)
    for _ in range(n_rounds):
        for name, call in tools.items():
            for _ in range(2):  # the first fetches its data back into the caches
                begin = time.process_time()
                call()
                seconds[name] = min(seconds[name], time.process_time() - begin)
    rows = {}
    for name in tools:
        rows[name] = {
            "value": values[name],
            "queries_per_cpu_second": round(n_queries / seconds[name]),
            "rankwise_is_faster_by": round(seconds[name] / seconds["rankwise"], 1),
        }
        speed, ratio = rows[name]["queries_per_cpu_second"], rows[name]["rankwise_is_faster_by"]
        print(f"{name:>14}  {values[name]:.12f}  {speed:>12,} queries/s  {ratio:>6.1f} x")
    print(f"{'':>14}  largest difference of values {np.ptp(list(values.values())):.1e}")
    return rows


def processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.split(":")[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.machine()


if __name__ == "__main__":
    main()
