"""Which settings of LambdaMART should be the defaults? Many data sets, none of which any report uses.

Fits every setting to families of `make_retrieval` (judged and plain; several link functions, noise, lengths of queries,
irrelevant features, graded and binary) with several numbers of training queries, and to two of five folds of each real
example. Reports the mean NDCG@10 (exponential gain; linear where grades are fractions) on unseen queries as the
difference to LightGBM's settings, with the standard error over data sets, all together and by number of queries.
``--group norms`` compares what pairs and queries are divided by, with and without draws, ``--group shape`` the size of
trees, rates, penalties and objectives for the norms and draws chosen then, and ``--group chance`` how far chance
decides between features; there, differences are to lambdarank without chance. Each group has a result file of its own.
"""

from __future__ import annotations

import argparse
import os
import time
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from common import save
from joblib import Parallel, delayed
from ltr_cases import FAMILIES, examples, family, tuning_folds

from rankwise.ltr import LambdaMART
from rankwise.metrics import ndcg_score

SIZES, TEST_QUERIES, BASE = (60, 250, 250, 750), 500, "leaf, LightGBM"
_LIGHTGBM = {"tree": "leaf", "num_leaves": 31, "min_samples_leaf": 20, "gap_norm": True, "query_norm": True}
_LEVEL = {"tree": "level", "max_depth": 4, "l2_regularization": 1.0}
_LEVEL |= {"gap_norm": False, "query_norm": False, "n_draws": 2, "random_strength": 0.0}


def norms() -> dict[str, dict[str, Any]]:
    """Name -> parameters: what is divided by what, for level trees of four levels, and for few leaves."""
    found = {BASE: _LIGHTGBM, "leaf, 8 leaves": {**_LIGHTGBM, "num_leaves": 8}}
    found["leaf, 8 leaves, no norm"] = {**_LIGHTGBM, "num_leaves": 8, "gap_norm": False, "query_norm": False}
    for gap in (True, False):
        for query in (True, False):
            for draws in (0, 2):
                name = f"depth 4, gap norm {int(gap)}, query norm {int(query)}, {draws} draws"
                found[name] = {**_LEVEL, "gap_norm": gap, "query_norm": query, "n_draws": draws}
    return found


def shape() -> dict[str, dict[str, Any]]:
    """Name -> parameters: what changes from level trees of four levels with two draws."""
    changes: dict[str, dict[str, Any]] = {"depth 4, 2 draws": {}}
    changes |= {"depth 3": {"max_depth": 3}, "depth 6": {"max_depth": 6}, "4 draws": {"n_draws": 4}}
    changes |= {"rate 0.1": {"learning_rate": 0.1}, "l2 5": {"l2_regularization": 5.0}}
    changes |= {"lambdaloss": {"objective": "lambdaloss"}, "query_rmse": {"objective": "query_rmse"}}
    return {BASE: _LIGHTGBM} | {name: {**_LEVEL, **change} for name, change in changes.items()}


def chance() -> dict[str, dict[str, Any]]:
    """Name -> parameters: how far chance decides between the features of a level, for two objectives."""
    found: dict[str, dict[str, Any]] = {}
    for objective in ("lambdarank", "query_rmse"):
        for strength in (0.0, 1.0):
            parameters = {**_LEVEL, "objective": objective, "random_strength": strength}
            found[f"{objective}, random_strength {strength:g}"] = parameters
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="four data sets; the result file is not changed")
    parser.add_argument("--seed", type=int, default=1000)
    parser.add_argument("--group", choices=("norms", "shape", "chance"), default="norms")
    parser.add_argument("--every", type=int, default=1, help="takes every so many of the families only")
    parser.add_argument("--jobs", type=int, default=1, help="data sets that are fitted at the same time")
    options = parser.parse_args()
    chosen = {"norms": norms, "shape": shape, "chance": chance}[options.group]()
    found = Parallel(options.jobs)(delayed(of_case)(*case, chosen) for case in cases(options))
    base = next(iter(chosen))
    rows = [summary(name, found, kwargs, base) for name, kwargs in chosen.items()]
    command = f"ltr_defaults.py --group {options.group} --every {options.every}"
    save(f"ltr_defaults_{options.group}", rows, options, ["lightgbm"], command)


def of_case(case: str, train: Any, test: Any, gain: str, chosen: Any) -> dict[str, Any]:
    """NDCG and seconds of every setting on one data set."""
    values, seconds = {}, {}
    for name, kwargs in chosen.items():
        start = time.process_time()
        ranker = LambdaMART(gain=gain, n_jobs=1, random_state=0, **kwargs).fit(*train)
        seconds[name] = time.process_time() - start
        values[name] = ndcg_score(test[1], ranker.predict(test[0]), test[2], k=10, gain=gain)
    print(case, *(f"{name} {value:.4f}" for name, value in values.items()), sep="; ", flush=True)
    return {"case": case, "values": values, "seconds": seconds}


def cases(options: Any) -> Any:
    """Name, training rows, test rows and gain of every data set; families take turns with sizes."""
    chosen = list(enumerate(FAMILIES))[:: options.every]
    for number, name in chosen[: 4 if options.quick else None]:
        n_train = SIZES[number % len(SIZES)]
        X, y, qid = family(name, n_train + TEST_QUERIES, options.seed + number)
        train = qid <= n_train
        yield f"{name}, {n_train}", (X[train], y[train], qid[train]), (X[~train], y[~train], qid[~train]), "exp"
    for name, (X, y, qid, gain) in {} if options.quick else examples().items():
        for number, (train, test) in enumerate(tuning_folds(X, y, qid)):
            yield f"{name}, fold {number}", (X[train], y[train], qid[train]), (X[test], y[test], qid[test]), gain


def summary(name: str, found: Any, kwargs: Any, base: str) -> dict[str, Any]:
    """One line of the table, printed."""
    groups = {"all": lambda case: True, "real": lambda case: "fold" in case}
    groups |= {f"{size} queries": lambda case, size=size: case.endswith(f", {size}") for size in sorted(set(SIZES))}
    groups |= {"judged": lambda case: case.startswith("judged"), "plain": lambda case: case.startswith("plain")}
    row: dict[str, Any] = {"setting": name, "parameters": kwargs}
    row["cpu_seconds"] = round(sum(one["seconds"][name] for one in found), 1)
    row["ndcg@10"] = {one["case"]: round(one["values"][name], 5) for one in found}
    for group, holds in groups.items():
        gains = [one["values"][name] - one["values"][base] for one in found if holds(one["case"])]
        if gains:
            error = np.std(gains, ddof=1) / np.sqrt(len(gains)) if len(gains) > 1 else np.nan
            row[group] = {"difference": float(np.mean(gains)), "standard_error": float(error)}
    shown = "  ".join(f"{group} {row[group]['difference']:+.4f}" for group in groups if group in row)
    print(f"{name:<44} {row['cpu_seconds']:7.1f} s  {shown}", flush=True)
    return row


if __name__ == "__main__":
    main()
