"""Figure 5, left: the evidence lower bound during training, on the dishes; and both kinds of inference."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

from rankwise.datasets import make_food_preferences
from rankwise_reproductions.drawing import tidy
from rankwise_reproductions.experiment import Cell, Claim, Comparison, Experiment, Inputs, Results, Scale, Values
from rankwise_reproductions.graph_cut_kernel.common import (
    GUESS,
    KINDS,
    LAPLACE_GRAPH,
    LOOK,
    SEEDS,
    failed_fits,
    graph_of,
    scores,
    sound,
)
from rankwise_reproductions.outcome import number

KINDS_SHOWN = tuple(name for name in KINDS if name != "top-3")
KERNELS_SHOWN = tuple(kernel for kernel in LOOK if kernel != GUESS)
#: three of the noises of Figure 4
SIGMAS = (0.51, 0.93, 1.34)
INFERENCES = ("variational", "laplace")


def _cells(scale: Scale, inputs: Inputs) -> list[Cell]:
    sigmas, seeds, kinds = {
        "full": (SIGMAS, SEEDS, KINDS_SHOWN),
        "quick": (SIGMAS[1:2], SEEDS[:3], KINDS_SHOWN),
        "check": (SIGMAS[1:2], SEEDS[:2], KINDS_SHOWN[:1]),
    }[scale]
    return [
        {"rankings": name, "sigma": sigma, "kernel": kernel, "inference": inference, "seed": seed}
        for name, sigma, kernel, inference, seed in product(kinds, sigmas, KERNELS_SHOWN, INFERENCES, seeds)
    ]


def _compute(cell: Cell, inputs: Inputs) -> Values:
    kind = KINDS[cell["rankings"]]
    rankings, user_type, bunch = make_food_preferences(
        kind.n_users, sigma=cell["sigma"], kind=kind.kind, length=kind.length, random_state=cell["seed"]
    )
    graph = graph_of(cell["kernel"], bunch.item_features)
    found = scores(cell["kernel"], rankings, user_type == 2, graph, cell["seed"], cell["inference"])
    if "path" in found:
        found["path"] = [round(value, 4) for value in found["path"]]
    return found


def _gain(results: Results, **settings: Any) -> Any:
    """Accuracy of the variational process above that of Laplace's approximation, cell by cell."""
    one, other = (results.select(inference=inference, **settings).values("accuracy") for inference in INFERENCES)
    return one - other


def _compare(results: Results) -> list[Comparison]:
    rows = []
    for name, kernel in product(results.settings("rankings"), results.settings("kernel")):
        found = results.select(rankings=name, kernel=kernel, inference="variational")
        gain = _gain(results, rankings=name, kernel=kernel)
        rows.append(
            Comparison(
                f"{name}, {kernel}: ELBO after training; steps until half of what is gained",
                None,
                f"{number(found.mean('elbo'), found.error('elbo'))}; {np.median([_half(v) for _, v in found]):.0f}",
                None,
                "not compared",
                f"the paper has a plot, on sushi; accuracy {found.mean('accuracy'):.3f}, by {gain.mean():+.3f} above "
                "that of Laplace's approximation",
            )
        )
    return rows


def _half(values: Values) -> int:
    """Steps after which half of the growth of the bound is reached."""
    path = np.array(values["path"])
    return int(np.argmax(path >= (path[0] + path.max()) / 2))


def _claims(results: Results) -> list[Claim]:
    variational = results.select(inference="variational")
    falls = max(float(-np.diff(values["path"]).min(initial=0)) for _, values in variational)
    gains = {kernel: _gain(results, kernel=kernel) for kernel in results.settings("kernel")}
    far = max(abs(gain.mean()) for gain in gains.values())
    lost = failed_fits(results)
    means = {kernel: sound(variational.select(kernel=kernel)).mean("accuracy") for kernel in results.settings("kernel")}
    graphs = variational.select(kernel="graph cut").values("accuracy") - variational.select(
        kernel=LAPLACE_GRAPH
    ).values("accuracy")
    return [
        Claim(
            "The evidence lower bound grows during training",
            falls < 0.01,
            f"largest fall between two steps {falls:.1e}, over {len(variational)} fits",
        ),
        Claim(
            "The graph cut kernel is in line with the others in variational processes too",
            max(means.values()) - min(means.values()) < 0.05,
            "mean accuracies " + ", ".join(f"{kernel} {value:.3f}" for kernel, value in means.items()),
        ),
        Claim(
            "Variational inference and Laplace's approximation are equally accurate, so that the choice of one for the "
            "other does not explain differences from the paper",
            far < 0.02,
            "mean differences " + ", ".join(f"{kernel} {number(*_mean(gain))}" for kernel, gain in gains.items()),
            of="rankwise",
        ),
        Claim(
            "The graph of equation 15 and that of the published code are equally accurate",
            abs(graphs.mean()) < 0.02,
            f"equation 15 above the other by {number(*_mean(graphs))}",
            of="rankwise",
        ),
        Claim(
            "No fit fails at these noises",
            not lost,
            f"{len(lost)} of {len(results)} failed" + (f": {'; '.join(lost[:3])}" if lost else ""),
            of="rankwise",
        ),
    ]


def _mean(values: Any) -> tuple[float, float]:
    return float(values.mean()), float(values.std(ddof=1) / np.sqrt(len(values)))


def _draw_training(results: Results, figure: Any) -> None:
    kinds, sigma = results.settings("rankings"), results.settings("sigma")[len(results.settings("sigma")) // 2]
    figure.set_size_inches(10, 3.2)
    axes = figure.subplots(1, len(kinds), squeeze=False)[0]
    for ax, name in zip(axes, kinds, strict=True):
        for kernel in results.settings("kernel"):
            found = results.select(rankings=name, kernel=kernel, sigma=sigma, inference="variational")
            paths = [values["path"] for _, values in found]
            length = max(map(len, paths))
            full = np.array([path + path[-1:] * (length - len(path)) for path in paths])
            ax.plot(np.arange(1, length + 1), full.mean(axis=0), color=LOOK[kernel][0], lw=1.2, label=kernel)
        ax.set_xscale("log")
        ax.set_title(f"{name}\nsigma {sigma}", fontsize=9)
        tidy(ax, x="step of the optimizer", y="ELBO, mean of the seeds" if ax is axes[0] else None)
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=4, fontsize=8, frameon=False)


EXPERIMENTS = (
    Experiment(
        id="graph-cut-kernel/elbo",
        title="Figure 5, left: the evidence lower bound during training, on the dishes",
        about=(
            "The paper trains variational Gaussian processes and shows the evidence lower bound (ELBO) against the "
            "steps of the optimizer, on sushi. Here the users rank eight dishes, since the sushi data may not be "
            "passed on, at three of the noises of Figure 4. The normal distribution that approximates the posterior is "
            "the best one at every step (rankwise.kernels.VariationalClassifier); GPflow optimizes it together with "
            "the hyperparameters, so that its curves start lower and need more steps. The same cells are fitted by "
            "scikit-learn's Laplace approximation too, and with both graphs. About ten minutes."
        ),
        cells=_cells,
        compute=_compute,
        compare=_compare,
        claims=_claims,
        pictures={"training": _draw_training},
        timings=("cpu_s",),
        tolerance=1e-2,
        fraction="on dishes instead of sushi, which may not be passed on",
    ),
)
