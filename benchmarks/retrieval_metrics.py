"""How fast is NDCG@10? rankwise compared to ranx, pytrec_eval and scikit-learn, in one run and on one thread.

Ours is a plain call, including averaging over ties, grouping of rows by ``qid`` and all checks; the input objects of
ranx and pytrec_eval are prepared before timing. With tied scores (rounded to one digit) only scikit-learn also averages
over ties; the others break them by name or input order, so their values differ and only their speed is compared.
"""

from __future__ import annotations

import os

os.environ["NUMBA_NUM_THREADS"] = "1"  # ranx runs in parallel otherwise

from collections.abc import Callable
from typing import Any

import numpy as np
from common import arguments, best_seconds, save

from rankwise.metrics import ndcg_score

PLACES = 10
N_DOCUMENTS = 100


def main() -> None:
    options = arguments(__doc__)
    n_queries, rounds = (1_000, 2) if options.quick else (10_000, 8)
    rng = np.random.default_rng(options.seed)
    grades = rng.integers(0, 5, (n_queries, N_DOCUMENTS)).astype(float)
    scores = rng.random((n_queries, N_DOCUMENTS)) + 0.1 * grades
    rows = []
    for case, these in (("distinct scores", scores), ("tied scores", np.round(scores, 1))):
        tools = peers(grades, these)
        values = {name: call() for name, call in tools.items()}
        same = values.values() if case == "distinct scores" else [values["scikit-learn"]]
        np.testing.assert_allclose(list(same), values["rankwise"], rtol=1e-9)
        seconds = best_seconds(tools, rounds)
        for name, best in seconds.items():
            ratio = best / seconds["rankwise"]
            rows.append({"case": case, "tool": name, "queries_per_second": n_queries / best, "ratio": ratio})
            print(f"{case:>15}  {name:>12}  {values[name]:.9f}  {n_queries / best:>10,.0f} queries/s  {ratio:6.1f} x")
    save("retrieval_metrics", rows, options, ["scikit-learn", "ranx", "pytrec_eval-terrier"])


def peers(grades: Any, scores: Any) -> dict[str, Callable[[], float]]:
    import pytrec_eval
    import ranx
    from sklearn.metrics import ndcg_score as sklearn_ndcg_score

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
        "scikit-learn": lambda: float(sklearn_ndcg_score(grades, scores, k=PLACES)),
    }


def flat_call(grades: Any, scores: Any) -> Callable[[], float]:
    flat_grades, flat_scores = grades.ravel(), scores.ravel()
    qid = np.repeat(np.arange(len(grades)), grades.shape[1])
    return lambda: ndcg_score(flat_grades, flat_scores, qid, PLACES)


if __name__ == "__main__":
    main()
