"""How fast is the default ranking forest? Ratios to the faster of scikit-learn's extra trees in the same run.

`RankingForest` (100 trees with random thresholds, bootstrap) is compared to `ExtraTreesRegressor`, as it comes and with
bootstrap, on the pairs of the rankings and on their positions, all on one thread, by CPU time; tau is that on 2,000
other rows. Then the time of predictions, with decoding.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from common import arguments, save

from rankwise.embeddings import KemenyEmbedding
from rankwise.label_ranking import RankingForest
from rankwise.metrics import kendall_tau_score
from trees import Data, Row, cpu_seconds, generated, shown


def main() -> None:
    options = arguments(__doc__)
    rows: list[Row] = []
    for question in (random_thresholds, prediction):
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


if __name__ == "__main__":
    main()
