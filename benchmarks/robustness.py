"""How robust are label rankers? How much they lose if training rankings lack labels or are noisy.

First table: mean Kendall tau in 10-fold cross-validation (seed 42) if training rankings are complete, lack 30 % or 60 %
of their labels at random, or list only their top half; test rankings are complete. Rows with fewer than two labels
left contain no information. A top half shows the order of its items among each other and before the rest, but a row
never shows the order of two items that are both in its bottom half. So the last columns split the tau into pairs of
which at least one item is in the top half of the test ranking, and all other pairs.

Second table: the noise curves of Fotakis, Kalavasis, Psaroudaki (2022): 100 binary features, ten of which are used by
each of five scores, labelwise regression by a shallow tree (depth 5), a fully grown tree and an honest forest (50
trees), trained on rankings with Gaussian or Mallows noise and evaluated on noiseless ones. Noise is measured on the
training rankings: alpha is the share that noise has changed, beta their mean Kendall tau with the noiseless rankings.

The first table needs the environment variable RANKWISE_DATA, see `load_label_ranking`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from common import arguments, save
from sklearn.model_selection import KFold

from rankwise.data import Rankings
from rankwise.datasets import load_label_ranking, make_incomplete, make_sparse_label_ranking, noise_scale_for
from rankwise.label_ranking import (
    LabelwiseRanker,
    NearestNeighborsRanker,
    PairwiseRanker,
    RankingForest,
)
from rankwise.metrics import exact_match_score, kendall_tau_score
from rankwise.trees import LeastSquaresForest, LeastSquaresTree

Row = dict[str, Any]

SETS = ["glass", "housing", "vehicle", "wisconsin"]
#: name -> function that removes labels from training rankings
LOSSES: dict[str, Callable[[Rankings, int], Rankings]] = {
    "complete": lambda y, seed: y,
    "30 % missing": lambda y, seed: make_incomplete(y, 0.7, random_state=seed),
    "60 % missing": lambda y, seed: make_incomplete(y, 0.4, random_state=seed),
    "top half": lambda y, seed: Rankings(np.where(y.positions <= y.n_items / 2, y.positions, np.inf), y.items),
}
#: shares of changed rankings that Gaussian noise is scaled to, and concentrations of Mallows noise
ALPHAS = [0.0, 0.2, 0.4, 0.6, 0.8]
THETAS = [6.0, 3.0, 2.0, 1.0, 0.5]


def main() -> None:
    options = arguments(__doc__)
    save("robustness", [*lost_labels(options.quick, options.seed), *noise(options.quick, options.seed)], options, [])


def lost_labels(quick: bool, seed: int) -> Iterator[Row]:
    """Mean tau of each ranker, by what is left of the training rankings."""
    if "RANKWISE_DATA" not in os.environ:
        print("RANKWISE_DATA is not set: skipping the table of lost labels")
        return
    columns = [*LOSSES, "complete, listed pairs", "top half, listed pairs", "complete, others", "top half, others"]
    print("| set | ranker | " + " | ".join(columns) + " |")
    print("|---" * (len(columns) + 2) + "|")
    for name in SETS[:1] if quick else SETS:
        X, y = load_label_ranking(name, return_X_y=True)
        folds = list(KFold(10, shuffle=True, random_state=42).split(X))
        rankers = {
            "forest": RankingForest(random_state=seed),
            "labelwise forest": LabelwiseRanker(random_state=seed),
            "pairwise logistic": PairwiseRanker(random_state=seed),
            "neighbours": NearestNeighborsRanker("cv"),
        }
        for label, ranker in rankers.items():
            tau = {}
            for loss, lose in LOSSES.items():
                left = lose(y, seed)
                predicted = np.empty(y.shape)
                for train, test in folds:
                    predicted[test] = ranker.fit(X[train], left[train]).predict(X[test])
                tau[loss] = float(kendall_tau_score(y, predicted))
                if loss in ("complete", "top half"):
                    tau[f"{loss}, listed pairs"], tau[f"{loss}, others"] = tau_by_listing(y, predicted)
            print(f"| {name} | {label} | " + " | ".join(f"{tau[column]:.3f}" for column in columns) + " |", flush=True)
            yield {"set": name, "ranker": label, "tau": tau}


def tau_by_listing(y: Rankings, predicted: np.ndarray) -> tuple[float, float]:
    """Agreement in the pairs with an item in the top half, and in the pairs without one."""
    first, second = np.triu_indices(y.n_items, 1)
    truth = y.positions[:, first] - y.positions[:, second]
    agreement = np.sign(truth * (predicted[:, first] - predicted[:, second]))
    is_listed = np.minimum(y.positions[:, first], y.positions[:, second]) <= y.n_items / 2
    return float(agreement[is_listed].mean()), float(agreement[~is_listed].mean())


def noise(quick: bool, seed: int) -> Iterator[Row]:
    """Mean tau with noiseless rankings, by the noise of the training rankings."""
    n_train, n_test, repeats = (500, 500, 1) if quick else (2_000, 1_000, 3)
    learners = {
        "shallow tree": LeastSquaresTree(max_depth=5),
        "full tree": LeastSquaresTree(),
        "honest forest": LeastSquaresForest(10 if quick else 50, honest=True),
    }
    print("\n| noise | alpha | beta | " + " | ".join(learners) + " |")
    print("|---" * (len(learners) + 3) + "|")
    for kind, level in [("gaussian", alpha) for alpha in ALPHAS] + [("mallows", theta) for theta in THETAS]:
        found = []
        for repeat in range(repeats):
            X, y, truth = noisy_data(n_train + n_test, kind, level, seed + repeat)
            train, test = slice(0, n_train), slice(n_train, None)
            row = {
                "alpha": 1 - exact_match_score(truth[train], y[train]),
                "beta": kendall_tau_score(truth[train], y[train]),
            }
            for label, learner in learners.items():
                ranker = LabelwiseRanker(learner, random_state=seed + repeat).fit(X[train], y[train])
                row[label] = kendall_tau_score(truth[test], ranker.predict(X[test]))
            found.append(row)
        mean = {name: float(np.mean([row[name] for row in found])) for name in found[0]}
        print(f"| {kind} | " + " | ".join(f"{value:.3f}" for value in mean.values()) + " |", flush=True)
        yield {"noise": kind, "n_train": n_train, "repeats": repeats, **mean}


def noisy_data(n: int, kind: str, level: float, seed: int) -> tuple[np.ndarray, Rankings, Rankings]:
    """Features, noisy and noiseless rankings; only the noise differs between levels."""
    if kind == "mallows":
        X, y, truth = make_sparse_label_ranking(n, noise="mallows", theta=level, random_state=seed)
    else:
        _, _, clean = make_sparse_label_ranking(n, random_state=seed)
        scale = noise_scale_for(level, clean.scores, random_state=seed + 1)
        X, y, truth = make_sparse_label_ranking(n, noise="gaussian", noise_scale=scale, random_state=seed)
    return X, y, truth.noiseless


if __name__ == "__main__":
    main()
