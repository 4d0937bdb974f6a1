"""Does one boosted tree for all items pay? `BoostedRanker` against LightGBM for each item, at equal CPU time.

LightGBM regresses the place of each item (`LabelwiseRanker`), with trees of several sizes and numbers; `BoostedRanker`
has its defaults, which were chosen on other data, and the default forest stands beside. For every data set, compared is
the LightGBM that predicts *best on the test rows* among those that need at most as much CPU time as `BoostedRanker`, or
the fastest one where none does: what a user who tunes it could hope for at most. At last every size is compared by its
mean over the sets: what a user gets who takes one for all. The data are smooth synthetic ones and the sets of
``$RANKWISE_DATA/label-ranking``: the first three of five folds, one of sets with more than 4,000 rows. Fits take one
thread.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np
from common import arguments, save
from sklearn.model_selection import KFold

from rankwise import Rankings
from rankwise.datasets import load_label_ranking, make_smooth_label_ranking
from rankwise.label_ranking import BoostedRanker, LabelwiseRanker, RankingForest

SMALL = ["iris", "wine", "glass", "housing", "vehicle", "wisconsin", "bodyfat", "authorship"]
SETS = [*SMALL, "cold", "dtt", "spo", "cpu-small", "calhousing", "pendigits", "fried"]
LARGE = 4_000
OURS = "BoostedRanker"


def main() -> None:
    options = arguments(__doc__)
    X, y, _ = make_smooth_label_ranking(200, random_state=0)
    for ranker in compared().values():  # compiles what is to be timed
        ranker.fit(X, y).predict(X)
    rows: list[dict[str, Any]] = []
    for n, d, k in ((800, 10, 6), (5_000, 20, 20)):
        n = n // 4 if options.quick else n
        X, y, _ = make_smooth_label_ranking(n + 2_000, d, k, random_state=options.seed)
        compare(rows, options, f"smooth, {n:,} x {d}, k = {k}", X, y, [(np.arange(n), np.arange(n, n + 2_000))])
    for name in SMALL[:3] if options.quick else SETS:
        X, y = load_label_ranking(name, return_X_y=True)
        folds = list(KFold(5, shuffle=True, random_state=options.seed).split(X))
        compare(rows, options, name, X, y, folds[: 1 if len(X) > LARGE else 3])
    real = [row for row in rows if not row["data"].startswith("smooth")]
    gain = np.mean([row["gain"] for row in real])
    print(f"mean gain on {len(real)} sets over the size that is best on the test rows of each: {gain:+.4f}")
    for label in compared():
        tau, seconds = (np.mean([row[what][label] for row in real]) for what in ("tau", "cpu_seconds"))
        print(f"{label:36s} mean tau {tau:.4f} ({seconds:.2f} s)")


def compared() -> dict[str, Any]:
    """The rankers, by name."""
    from lightgbm import LGBMRegressor

    rankers: dict[str, Any] = {OURS: BoostedRanker(n_jobs=1, random_state=0)}
    for leaves, n_trees in ((4, 50), (4, 100), (4, 300), (8, 30), (8, 100), (8, 300), (31, 10), (31, 30), (31, 100)):
        regressor = LGBMRegressor(num_leaves=leaves, n_estimators=n_trees, n_jobs=1, verbosity=-1)
        rankers[f"LightGBM, {n_trees} trees of {leaves} leaves"] = LabelwiseRanker(regressor)
    rankers["RankingForest"] = RankingForest(n_jobs=1, random_state=0)
    return rankers


def compare(
    rows: list[dict[str, Any]], options: argparse.Namespace, name: str, X: Any, y: Any, folds: list[Any]
) -> None:
    """Mean tau on test rows and CPU seconds of a fit, of each ranker on one data set."""
    y = Rankings(y)
    tau: dict[str, float] = {}
    seconds: dict[str, float] = {}
    for label, ranker in compared().items():
        taus, times = [], []
        for train, test in folds:
            start = time.process_time()
            ranker.fit(X[train], y[train])
            times.append(time.process_time() - start)
            taus.append(ranker.score(X[test], y[test]))
        tau[label], seconds[label] = float(np.mean(taus)), float(np.mean(times))
    peers = [label for label in tau if label.startswith("LightGBM")]
    affordable = [label for label in peers if seconds[label] <= seconds[OURS]]
    peer = max(affordable, key=lambda label: tau[label]) if affordable else min(peers, key=lambda at: seconds[at])
    gain = tau[OURS] - tau[peer]
    print(
        f"{name:26s} {OURS} {tau[OURS]:.4f} ({seconds[OURS]:.2f} s)  {peer} {tau[peer]:.4f} ({seconds[peer]:.2f} s)  "
        f"{gain:+.4f}  forest {tau['RankingForest']:.4f} ({seconds['RankingForest']:.2f} s)",
        flush=True,
    )
    rows.append({"data": name, "folds": len(folds), "peer": peer, "gain": gain, "tau": tau, "cpu_seconds": seconds})
    save("boosting", rows, options, ["lightgbm", "scikit-learn"])


if __name__ == "__main__":
    main()
