"""What the figures of Conserva, Deisenroth and Sesh Kumar share: kinds of rankings, and Gaussian processes on them."""

from __future__ import annotations

import time
import warnings
from typing import Any, NamedTuple

import numpy as np
from sklearn.dummy import DummyClassifier
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.gaussian_process.kernels import ConstantKernel
from sklearn.metrics import f1_score
from sklearn.model_selection import train_test_split

from rankwise.data import Rankings
from rankwise.embeddings import item_graph
from rankwise.kernels import GraphCutKernel, KendallKernel, MallowsKernel, VariationalClassifier, finite_positions
from rankwise_reproductions.drawing import BLACK, BLUE, GREEN, GREY, ORANGE
from rankwise_reproductions.experiment import Results, Values

#: the seeds of the published code
SEEDS = (4, 12, 34, 42, 1232, 2638)
KERNELS, GUESS = ("graph cut", "Kendall", "Mallows"), "uniform guess"
#: "graph cut" has the weights of equation 15; this one those of the published code
LAPLACE_GRAPH = "graph cut, Laplace graph"
#: the mean over four random completions of a partial ranking, as in the published code
FOUR_COMPLETIONS = "Mallows, 4 completions"
LOOK = {
    "graph cut": (BLUE, "o"),
    LAPLACE_GRAPH: (BLACK, "D"),
    "Kendall": (ORANGE, "^"),
    "Mallows": (GREEN, "s"),
    GUESS: (GREY, ""),
}
#: fits from other starts where the first one failed
N_STARTS = 4
#: the paper has 600; ours come in multiples of 16
N_COMPLETIONS = 608

#: how our classifier differs, for the pages
CLASSIFIER = (
    "The classifier is scikit-learn's Gaussian process (Laplace approximation) with a variance and a constant that "
    "are learned, and not GPflow's variational one (see graph-cut-kernel/elbo for both). A fit that puts all users "
    "into one class has failed, mostly with a variance or a scale that runs to its bound; it is repeated from up to "
    "three other starts, and left out of the means of F1, by name, if it fails again. "
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
#: what the published code shows of a ranking, as we read it; each user has another number of groups, or of dishes
PUBLISHED_KINDS = {
    "exhaustive, 5 or 6 random groups": Kind("exhaustive", None, 100),
    "non-exhaustive, 3 to 6 of 8": Kind("non-exhaustive", None, 250),
}


def graph_of(kernel: str, features: Any) -> Any:
    """The item graph of a kernel: that of equation 15, or that of the published code."""
    if kernel == LAPLACE_GRAPH:
        return item_graph(features, "laplace", "median-with-diagonal")
    return item_graph(features, "rbf")


def scores(kernel: str, rankings: Rankings, target: Any, graph: Any, seed: int, inference: str = "laplace") -> Values:
    """F1 and accuracy on a fifth of the users, from how many starts, and whether all of them failed."""
    X = finite_positions(rankings)
    train, test, y, truth = train_test_split(X, target, test_size=0.2, random_state=seed)
    started = time.process_time()
    fitted: Values = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of hyperparameters at bounds: they are reported by name
        if kernel == GUESS:
            model: Any = DummyClassifier(strategy="uniform", random_state=seed).fit(train, y)
        elif inference == "laplace":
            model, fitted = _fit_laplace(covariance(kernel, X.shape[1], graph), train, y, seed)
        else:
            model = VariationalClassifier(covariance(kernel, X.shape[1], graph), n_init=2, random_state=seed)
            model.fit(train, y)
            failed = [start.collapsed for start in model.starts_]
            fitted = {
                "starts": len(failed),
                "failed": all(failed),
                "elbo": model.elbo_,
                "path": model.elbo_path_.tolist(),
            }
        predicted = model.predict(test)
    return {
        "f1": float(f1_score(truth, predicted)),
        "accuracy": float(np.mean(truth == predicted)),
        **fitted,
        "cpu_s": round(time.process_time() - started, 3),
    }


def covariance(kernel: str, n_items: int, graph: Any) -> Any:
    """A kernel with a variance, and a constant."""
    pairs = n_items * (n_items - 1) / 2
    if kernel in ("graph cut", LAPLACE_GRAPH):
        base: Any = GraphCutKernel(graph, normalize=True, n_samples=N_COMPLETIONS, allow_isolated=True)
    elif kernel == "Kendall":
        base = KendallKernel(normalize=True)
    elif kernel == FOUR_COMPLETIONS:
        base = MallowsKernel(2 / pairs, completion="monte-carlo", n_samples=4)
    else:
        base = MallowsKernel(2 / pairs)
    return ConstantKernel() * base + ConstantKernel()


def _fit_laplace(kernel: Any, X: Any, y: Any, seed: int) -> tuple[Any, Values]:
    """The fit from the first start that did not fail, else the last one."""
    rng = np.random.default_rng(seed)
    for start in range(1, N_STARTS + 1):
        theta = kernel.theta if start == 1 else rng.uniform(np.log(0.05), np.log(20.0), len(kernel.theta))
        model = GaussianProcessClassifier(kernel.clone_with_theta(theta)).fit(X, y)
        failed = len(np.unique(model.predict(X))) == 1  # classes are balanced: nothing was learned
        if not failed:
            break
    return model, {"starts": start, "failed": failed}


def failed(values: Values) -> bool:
    """Whether a fit failed. Cells that do not say so had one start: F1 is 0 if all users are put into one class."""
    return bool(values.get("failed", values["f1"] == 0))


def sound(results: Results) -> Results:
    """The cells whose fit did not fail."""
    return Results([(cell, values) for cell, values in results if not failed(values)])


def failed_fits(results: Results) -> list[str]:
    """The cells whose fit failed, in words."""
    return [", ".join(f"{name} {value}" for name, value in cell.items()) for cell, values in results if failed(values)]
