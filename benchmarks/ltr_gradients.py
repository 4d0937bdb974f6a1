"""Are our lambda gradients as fast as those of LightGBM? One thread, queries of 100 documents.

LightGBM's time is that of boosting with lambdarank minus that of boosting with squared error, with otherwise equal
settings; the three take turns, and the shortest time of each counts.
"""

from __future__ import annotations

import os
import time
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import lightgbm
import numpy as np
from common import arguments, save

from rankwise.ltr.gradients import PairwiseLoss

ROUNDS, CALLS = 9, 8


def main() -> None:
    options = arguments(__doc__)
    n_queries, size = (500, 100) if options.quick else (2000, 100)
    rng = np.random.default_rng(options.seed)
    y = rng.integers(0, 5, n_queries * size).astype(float)
    X = rng.normal(size=(len(y), 1)) + 0.3 * y[:, None]
    bounds = np.arange(0, len(y) + 1, size)

    def boosting(**settings: Any) -> Any:
        settings |= {"num_leaves": 12, "num_threads": 1, "verbosity": -1, "max_bin": 15}
        data = lightgbm.Dataset(X, y, group=np.full(n_queries, size), params=settings)
        return lightgbm.Booster(settings, data)

    rows = []
    for truncation in (10, 30, 100):
        ranking = boosting(objective="lambdarank", lambdarank_truncation_level=truncation)
        plain = boosting(objective="regression")
        for _ in range(CALLS):
            ranking.update()
        score = np.asarray(ranking.predict(X, raw_score=True))
        loss = PairwiseLoss.build(
            y, bounds, np.ones(len(y)), truncation=truncation, ties="random", gap_norm=True, query_norm=True
        )
        calls = {"ranking": ranking.update, "plain": plain.update}
        calls["ours"] = lambda loss=loss, score=score: loss(score, rng)
        least = shortest(calls)
        ratio = least["ours"] / (least["ranking"] - least["plain"])
        rows.append({"case": f"gradient pass, truncation {truncation}", "cpu_ratio_to_lightgbm": ratio})
        print(f"gradient pass, truncation {truncation:>3}: {ratio:.2f} of LightGBM's time")
    save("ltr_gradients", rows, options, ["lightgbm"])


def shortest(calls: dict[str, Any]) -> dict[str, float]:
    """Shortest CPU time of some calls of each, in turns; the first call, which may compile, is not counted."""
    seconds = dict.fromkeys(calls, float("inf"))
    for call in calls.values():
        call()
    for _ in range(ROUNDS):
        for name, call in calls.items():
            begin = time.process_time()
            for _ in range(CALLS):
                call()
            seconds[name] = min(seconds[name], time.process_time() - begin)
    return seconds


if __name__ == "__main__":
    main()
