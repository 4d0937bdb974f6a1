"""What the figures of Conserva, Deisenroth and Sesh Kumar share: kinds of rankings, and Gaussian processes on them."""

from __future__ import annotations

import time
from typing import Any, NamedTuple

import numpy as np
from sklearn.dummy import DummyClassifier
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.gaussian_process.kernels import ConstantKernel
from sklearn.metrics import f1_score
from sklearn.model_selection import train_test_split

from rankwise.data import Rankings
from rankwise.kernels import GraphCutKernel, KendallKernel, MallowsKernel, finite_positions
from rankwise_reproductions.drawing import BLUE, GREEN, GREY, ORANGE
from rankwise_reproductions.experiment import Values

#: the seeds of the published code
SEEDS = (4, 12, 34, 42, 1232, 2638)
KERNELS, GUESS = ("graph cut", "Kendall", "Mallows"), "uniform guess"
LOOK = {"graph cut": (BLUE, "o"), "Kendall": (ORANGE, "^"), "Mallows": (GREEN, "s"), GUESS: (GREY, "")}
#: the paper has 600; ours come in multiples of 16
N_COMPLETIONS = 608

#: how our classifier differs, for the pages
CLASSIFIER = (
    "The classifier is scikit-learn's Gaussian process (Laplace approximation) with a variance and a constant that "
    "are learned, and not GPflow's variational one, so that scores are not comparable to the second digit. The "
    "graph has the weights of equation 15, with the median of the distances between two items. "
)


class Kind(NamedTuple):
    """What is seen of a ranking of eight dishes, and of how many users."""

    kind: Any
    length: int | None
    n_users: int


KINDS = {
    "full": Kind("full", None, 250),
    "top-6": Kind("top-k", 6, 250),
    "top-3": Kind("top-k", 3, 250),
    "exhaustive, 4 groups": Kind("exhaustive", 4, 100),
    "non-exhaustive, 4 of 8": Kind("non-exhaustive", 4, 250),
}


def scores(kernel: str, rankings: Rankings, target: Any, graph: Any, seed: int) -> Values:
    """F1 and accuracy on a fifth of the users."""
    X = finite_positions(rankings)
    train, test, y, truth = train_test_split(X, target, test_size=0.2, random_state=seed)
    model = _model(kernel, X.shape[1], graph, seed)
    started = time.process_time()
    predicted = model.fit(train, y).predict(test)
    return {
        "f1": float(f1_score(truth, predicted)),
        "accuracy": float(np.mean(truth == predicted)),
        "cpu_s": round(time.process_time() - started, 3),
    }


def _model(kernel: str, n_items: int, graph: Any, seed: int) -> Any:
    if kernel == GUESS:
        return DummyClassifier(strategy="uniform", random_state=seed)
    pairs = n_items * (n_items - 1) / 2
    covariance = {
        "graph cut": GraphCutKernel(graph, normalize=True, n_samples=N_COMPLETIONS),
        "Kendall": KendallKernel(normalize=True),
        "Mallows": MallowsKernel(2 / pairs),
    }[kernel]
    return GaussianProcessClassifier(ConstantKernel() * covariance + ConstantKernel())
