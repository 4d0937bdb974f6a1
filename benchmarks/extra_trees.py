"""How fast is the default ranking forest? Ratios to the faster of scikit-learn's extra trees in the same run.

`RankingForest` (100 trees with random thresholds, bootstrap) is compared to `ExtraTreesRegressor`, as it comes and with
bootstrap, on the pairs of the rankings and on their positions, all on one thread, by CPU time; tau is that on 2,000
other rows (of the forest also decoded by Borda, which is how extra trees on positions are sorted). Then how the time
grows with rows and items, the time of predictions with decoding, the memory of a million rows and of incomplete
rankings of 200 items, and how long compiling takes on first use.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from common import arguments, save

from rankwise.datasets import make_incomplete
from rankwise.embeddings import KemenyEmbedding
from rankwise.label_ranking import RankingForest
from rankwise.metrics import kendall_tau_score
from trees import GIB, Data, Row, cpu_seconds, generated, in_new_process, memory_field, shown


def main() -> None:
    options = arguments(__doc__)
    rows: list[Row] = []
    for question in (random_thresholds, growth, prediction, memory, first_use):
        for row in question(options.quick, options.seed):
            rows.append(row)
            save("extra_trees", rows, options, ["scikit-learn"])


def random_thresholds(quick: bool, seed: int) -> Iterator[Row]:
    """CPU seconds of fits of 100 trees, scaled up from fewer, of the default forest and of extra trees."""
    from sklearn.ensemble import ExtraTreesRegressor

    n_trees = 5 if quick else 20
    shapes = [
        (10_000, 10, 5),
        (100_000, 10, 5),
        (10_000, 100, 5),
        (10_000, 20, 20),
        (10_000, 20, 50),
        (10_000, 20, 100),
    ]
    for n, d, k in shapes:
        n = n // 10 if quick else n
        X, y = generated(n + 2_000, d, k, seed)
        train, test = (X[:n], y[:n]), (X[n:], y[n:])
        RankingForest(2, n_jobs=1, random_state=seed).fit(X[:300], y[:300]).predict(test[0])  # compiles
        # A fit of one tree takes what does not grow with their number, and is taken off before scaling.
        fits: dict[str, Callable[[int], Any]] = {
            "rankwise": lambda trees, train=train: RankingForest(trees, n_jobs=1, random_state=seed).fit(*train)
        }
        targets = {"positions": train[1].positions}
        if n * k * (k - 1) / 2 <= 2_000_000:  # of more, pairs take many times as long as positions
            targets["pairs"] = KemenyEmbedding().fit_transform(train[1])
        for bootstrap in (False, True):
            for what, vectors in targets.items():
                name = f"extra trees on {what}{', bootstrap' if bootstrap else ''}"
                fits[name] = lambda trees, X=train[0], vectors=vectors, bootstrap=bootstrap: ExtraTreesRegressor(
                    trees, bootstrap=bootstrap, n_jobs=1, random_state=seed
                ).fit(X, vectors)
        one, _ = cpu_seconds({name: lambda fit=fit: fit(1) for name, fit in fits.items()}, 1)
        some, models = cpu_seconds(
            {name: lambda fit=fit: fit(n_trees) for name, fit in fits.items()}, 1 if quick else 2
        )
        seconds = {name: one[name] + (some[name] - one[name]) * 99 / (n_trees - 1) for name in fits}
        tau = {name: tau_of(model, test, "pairs" in name) for name, model in models.items()}
        tau["rankwise, by Borda"] = models["rankwise"].set_params(decode="borda").score(*test)
        fastest = min(value for name, value in seconds.items() if name != "rankwise")
        yield shown(
            case=f"generated, {n:,} x {d}, k = {k}",
            what="fit, 100 trees with random thresholds",
            ratio=seconds["rankwise"] / fastest,
            target=0.5,
            seconds=seconds,
            tau=tau,
        )


def tau_of(model: Any, test: Data, on_pairs: bool) -> float:
    predicted = model.predict(test[0])
    if on_pairs:
        predicted = KemenyEmbedding().fit(test[1]).inverse_transform(predicted)
    elif not isinstance(model, RankingForest):
        predicted = np.argsort(np.argsort(predicted, axis=1, kind="stable"), axis=1) + 1.0
    return float(kendall_tau_score(test[1], predicted))


def growth(quick: bool, seed: int) -> Iterator[Row]:
    """Exponent of the growth of the CPU time of a fit, with the number of rows and with that of items."""
    n_trees, n = (5, 1_000) if quick else (20, 10_000)
    steps = {
        "n": (((n, 10, 5), (10 * n, 10, 5)), 1.1),
        "k": (((n, 20, 20), (n, 20, 100)), 1.2),
        "k, from few": (((n, 20, 5), (n, 20, 20)), 1.2),
    }
    for grows, (shapes, target) in steps.items():
        data = {str(shape): generated(*shape, seed) for shape in shapes}
        RankingForest(2, n_jobs=1, random_state=seed).fit(*generated(300, *shapes[0][1:], seed))  # compiles
        fits = {
            shape: lambda rows=rows: RankingForest(n_trees, n_jobs=1, random_state=seed).fit(*rows)
            for shape, rows in data.items()
        }
        seconds, _ = cpu_seconds(fits, 1 if quick else 3)
        few, many = seconds.values()
        factor = max(after / before for before, after in zip(*shapes, strict=True))
        exponent = float(np.log(many / few) / np.log(factor))
        yield shown(case=f"generated, {' to '.join(data)}", what=f"growth in {grows}", exponent=exponent, target=target)


def prediction(quick: bool, seed: int) -> Iterator[Row]:
    """CPU time of predictions of 100 default trees, with decoding: of one row, and of each of many."""
    n = 1_000 if quick else 10_000
    X, y = generated(n + 5_000, 20, 10, seed)
    forest = RankingForest(n_jobs=1, random_state=seed).fit(X[:n], y[:n])
    forest.predict(X[:2])
    rows = {"milliseconds of one row": (X[n : n + 1], 1e3), "microseconds a row": (X[n:], 1e6)}
    taken = {
        what: min(cpu_seconds({"": lambda part=part: forest.predict(part)}, 20)[0].values()) * unit / len(part)
        for what, (part, unit) in rows.items()
    }
    yield shown(case=f"generated, {n:,} x 20, k = 10", what="predict, 100 trees", **taken)


def memory(quick: bool, seed: int) -> Iterator[Row]:
    """Minutes, and peak memory of a process with all its data, of 100 fully grown default trees."""
    n, n_incomplete = (20_000, 1_000) if quick else (1_000_000, 10_000)
    for case, rows, k, listed, target in (
        (f"generated, {n:,} x 20, k = 10", n, 10, 1.0, 6.0),
        (f"generated, {n_incomplete:,} x 20, k = 200, 30% of the items listed", n_incomplete, 200, 0.3, 1.0),
    ):
        minutes, gib = in_new_process(peak_of_fit, rows, k, listed, seed)
        yield shown(case=case, what="fit, 100 trees", cpu_minutes=minutes, peak_gib=gib, target_gib=target)


def peak_of_fit(n: int, k: int, listed: float, seed: int) -> tuple[float, float]:
    X, y = generated(n, 20, k, seed)
    if listed < 1.0:
        y = make_incomplete(y, listed, random_state=seed)
    RankingForest(2, n_jobs=1, random_state=seed).fit(X[:300], y[:300])  # compiles
    start = time.process_time()
    RankingForest(n_jobs=1, random_state=seed).fit(X, y)
    return (time.process_time() - start) / 60, memory_field("VmHWM") / GIB


def first_use(quick: bool, seed: int) -> Iterator[Row]:
    """CPU seconds of the first fit of a process that has to compile, and of the first prediction after it."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ["NUMBA_CACHE_DIR"] = folder
        try:
            fit, predict = in_new_process(seconds_of_first_use, seed)
        finally:
            del os.environ["NUMBA_CACHE_DIR"]
    yield shown(
        case="first use", what="compiled", cpu_seconds_of_fit=fit, target_seconds=10.0, cpu_seconds_of_predict=predict
    )


def seconds_of_first_use(seed: int) -> tuple[float, float]:
    X, y = generated(200, 5, 5, seed)
    start = time.process_time()
    forest = RankingForest(2, n_jobs=1, random_state=seed).fit(X, y)
    fitted = time.process_time()
    forest.predict(X)
    return fitted - start, time.process_time() - fitted


if __name__ == "__main__":
    main()
