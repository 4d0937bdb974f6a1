"""How fast are ranking forests, and how much memory do they need? Ratios to scikit-learn's forest in the same run.

`RankingForest` (100 fully grown trees, best thresholds, half of the features, bootstrap) is compared to
`RandomForestRegressor(100, max_features=0.5)` on the pairs of the rankings (the Kemeny embedding), which are computed
before timing. Both use one thread, are timed in turns by CPU time, and are scored on a held-out tenth of the rows: a
ratio is meaningful only at equal tau. Memory is the growth of a fresh process. The target of each number is reported
next to it.

Needs scikit-learn, and for pendigits the environment variable RANKWISE_DATA (see `load_label_ranking`). Elevators is
used if it is available; otherwise data of its size are generated, as the name of the case says.
"""

from __future__ import annotations

import multiprocessing
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from common import arguments, save

from rankwise.data import Rankings
from rankwise.datasets import load_label_ranking, make_sparse_label_ranking
from rankwise.embeddings import KemenyEmbedding
from rankwise.label_ranking import RankingForest
from rankwise.metrics import kendall_tau_score

Row = dict[str, Any]
Data = tuple[np.ndarray, Rankings]
GIB = 2**30


def main() -> None:
    options = arguments(__doc__)
    rows: list[Row] = []
    for question in (fit_and_predict, memory, first_use, a_million_rows):
        for row in question(options.quick, options.seed):
            rows.append(row)
            save("trees", rows, options, ["scikit-learn"])  # after each row, in case a long run is interrupted


def fit_and_predict(quick: bool, seed: int) -> Iterator[Row]:
    """CPU seconds of both forests, and their tau on unseen rows."""
    n_trees, rounds = (10, 1) if quick else (100, 2)
    for case, load in standard_cases(seed).items():
        data = load()
        if data is not None:
            yield from compare(case, data, n_trees, rounds, seed, sketch=None, target=0.7)
    for k in (16, 20):
        data = generated(2_000 if quick else 5_000, 16, k, seed)
        case = f"generated, {len(data[0]):,} x 16, k = {k}, sketch 16"
        yield from compare(case, data, n_trees, rounds, seed, sketch=16, target=0.35)


def compare(
    case: str, data: Data, n_trees: int, rounds: int, seed: int, *, sketch: int | None, target: float
) -> Iterator[Row]:
    train, test = split(data, seed)
    pairs = KemenyEmbedding().fit(train[1])
    vectors = pairs.transform(train[1])
    fits = {
        "rankwise": lambda: ranking_forest(n_trees, seed, sketch).fit(*train),
        "scikit-learn": lambda: regression_forest(n_trees, seed).fit(train[0], vectors),
    }
    ranking_forest(2, seed, sketch).fit(train[0][:100], train[1][:100]).predict(test[0])  # compiles
    seconds, forests = cpu_seconds(fits, rounds)
    ours, theirs = forests["rankwise"], forests["scikit-learn"]
    predictions = {
        "rankwise": lambda: ours.predict(test[0]),
        "scikit-learn": lambda: theirs.predict(test[0]),
        "scikit-learn, decoded": lambda: pairs.inverse_transform(theirs.predict(test[0])),
    }
    predict_seconds, predicted = cpu_seconds(predictions, 5)
    tau = {tool: kendall_tau_score(test[1], predicted[tool]) for tool in ("rankwise", "scikit-learn, decoded")}
    yield shown(
        case=case,
        what=f"fit, {n_trees} trees",
        ratio=seconds["rankwise"] / seconds["scikit-learn"],
        target=target,
        seconds=seconds,
        tau={"rankwise": tau["rankwise"], "scikit-learn": tau["scikit-learn, decoded"]},
    )
    yield shown(
        case=case,
        what=f"predict {len(test[0]):,} rows, ours with decoding",
        ratio=predict_seconds["rankwise"] / predict_seconds["scikit-learn"],
        target=1.0,
        seconds=predict_seconds,
    )


def memory(quick: bool, seed: int) -> Iterator[Row]:
    """How much the memory of a process grows during a fit."""
    n_trees = 10 if quick else 100
    for case, load in standard_cases(seed).items():
        if load() is None:
            continue
        grown = {
            tool: in_new_process(growth_of_fit, tool, case, n_trees, seed) / GIB
            for tool in ("rankwise", "scikit-learn")
        }
        yield shown(
            case=case,
            what=f"memory of fit, {n_trees} trees",
            ratio=grown["rankwise"] / grown["scikit-learn"],
            gib=grown,
        )


def a_million_rows(quick: bool, seed: int) -> Iterator[Row]:
    """Minutes and peak memory of 20 trees on 1,000,000 x 20 features and 10 items, fully or almost fully grown."""
    n, n_trees = (20_000, 2) if quick else (1_000_000, 20)
    for min_samples_leaf in (5, 1):
        minutes, gib = in_new_process(fit_many_rows, n, n_trees, min_samples_leaf, seed)
        yield shown(
            case=f"generated, {n:,} x 20, k = 10",
            what=f"fit, {n_trees} trees, leaves of {min_samples_leaf} or more",
            cpu_minutes=minutes,
            peak_gib=gib,
            target_gib=4,
        )


def first_use(quick: bool, seed: int) -> Iterator[Row]:
    """CPU seconds of the first fit and prediction in a process: functions compiled, or read from the cache."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ["NUMBA_CACHE_DIR"] = folder
        try:
            for what, target in [("compiled", 20.0), ("from the cache", 2.0)]:
                yield shown(
                    case="first fit and predict of a process",
                    what=what,
                    cpu_seconds=in_new_process(seconds_of_first_use, seed),
                    target_seconds=target,
                )
        finally:
            del os.environ["NUMBA_CACHE_DIR"]


def standard_cases(seed: int) -> dict[str, Callable[[], Data | None]]:
    cases: dict[str, Callable[[], Data | None]] = {"pendigits, 10,992 x 16, k = 10": lambda: loaded("pendigits")}
    if loaded("elevators") is not None:
        cases["elevators, 16,599 x 9, k = 9"] = lambda: loaded("elevators")
    for d in (9, 18):
        cases[f"generated like elevators, 16,599 x {d}, k = 9"] = lambda d=d: generated(16_599, d, 9, seed)
    return cases


def loaded(name: str) -> Data | None:
    try:
        data = load_label_ranking(name)
    except (ValueError, OSError):
        return None
    return data.X, data.y


def generated(n: int, d: int, k: int, seed: int) -> Data:
    """Rankings by noisy scores, each of which depends on a few numeric features."""
    X = np.random.default_rng(seed).normal(size=(n, d))
    X, y, _ = make_sparse_label_ranking(
        X=X, n_items=k, n_informative=4, noise="gaussian", noise_scale=0.02, random_state=seed
    )
    return X, y


def split(data: Data, seed: int) -> tuple[Data, Data]:
    """Nine tenths of the rows for training, the rest for testing."""
    X, y = data
    shuffled = np.random.default_rng(seed).permutation(len(X))
    test, train = shuffled[: len(X) // 10], shuffled[len(X) // 10 :]
    return (X[train], y[train]), (X[test], y[test])


def ranking_forest(n_trees: int, seed: int, sketch: int | None = None, min_samples_leaf: int = 1) -> RankingForest:
    return RankingForest(
        n_trees,
        splitter="best",
        max_features=0.5,
        sketch=sketch,
        min_samples_leaf=min_samples_leaf,
        n_jobs=1,
        random_state=seed,
    )


def regression_forest(n_trees: int, seed: int) -> Any:
    from sklearn.ensemble import RandomForestRegressor

    return RandomForestRegressor(n_trees, max_features=0.5, n_jobs=1, random_state=seed)


def in_new_process(task: Callable[..., Any], *values: Any) -> Any:
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        return pool.submit(task, *values).result()


def growth_of_fit(tool: str, case: str, n_trees: int, seed: int) -> int:
    train, _ = split(standard_cases(seed)[case](), seed)  # type: ignore[arg-type]
    X, target = train[0], train[1]
    few = slice(0, 100)
    if tool == "rankwise":
        forest = ranking_forest(n_trees, seed)
        ranking_forest(2, seed).fit(X[few], target[few])  # compiles
    else:
        forest = regression_forest(n_trees, seed)
        regression_forest(2, seed).fit(X[few], np.zeros((100, 2)))
    before = memory_field("VmRSS")
    if tool == "rankwise":
        forest.fit(X, target)
    else:
        forest.fit(X, KemenyEmbedding().fit_transform(target))
    return memory_field("VmHWM") - before


def fit_many_rows(n: int, n_trees: int, min_samples_leaf: int, seed: int) -> tuple[float, float]:
    X, y = generated(n, 20, 10, seed)
    ranking_forest(2, seed).fit(X[:100], y[:100])
    start = time.process_time()
    ranking_forest(n_trees, seed, min_samples_leaf=min_samples_leaf).fit(X, y)
    return (time.process_time() - start) / 60, memory_field("VmHWM") / GIB


def seconds_of_first_use(seed: int) -> float:
    X, y = generated(200, 5, 5, seed)
    start = time.process_time()
    ranking_forest(2, seed).fit(X, y).predict(X)
    return time.process_time() - start


def memory_field(name: str) -> int:
    """Bytes in use now (VmRSS) or at the peak (VmHWM) by this process; ru_maxrss would include the parent's."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(1024 * int(line.split()[1]) for line in lines if line.startswith(f"{name}:"))


def cpu_seconds(tools: dict[str, Callable[[], Any]], rounds: int) -> tuple[dict[str, float], dict[str, Any]]:
    """Shortest CPU time of each tool, and its last result; they take turns, so that other load affects both."""
    seconds, answers = dict.fromkeys(tools, float("inf")), {}
    for _ in range(rounds):
        for tool, call in tools.items():
            start = time.process_time()
            answers[tool] = call()
            seconds[tool] = min(seconds[tool], time.process_time() - start)
    return seconds, answers


def shown(**row: Any) -> Row:
    def text(value: Any) -> str:
        if isinstance(value, dict):
            return ", ".join(f"{name} {text(part)}" for name, part in value.items())
        return f"{value:.4g}" if isinstance(value, float) else str(value)

    words = (text(value) if name in ("case", "what") else f"{name} {text(value)}" for name, value in row.items())
    print("  ".join(words), flush=True)
    return row


if __name__ == "__main__":
    main()
