"""Theorem C.2 of Fotakis, Kalavasis and Psaroudaki: one classifier per pair, taught on rankings with ties."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np

from rankwise.datasets import make_sparse_label_ranking
from rankwise.label_ranking import PairwiseRanker
from rankwise.metrics import exact_match_score
from rankwise_reproductions.drawing import SERIES, tidy
from rankwise_reproductions.experiment import (
    Cell,
    Claim,
    Comparison,
    Experiment,
    FloatArray,
    Inputs,
    Results,
    Scale,
    Values,
)
from rankwise_reproductions.label_ranking.common import at_most
from rankwise_reproductions.label_ranking.theorem_2_5 import (
    FEATURES,
    N_LABELS,
    NOISE_SCALE,
    RATIO_TOLERANCE,
    TEST_ROWS,
    TICKS,
    ratio_error,
)

#: probabilities of a cut between two neighboring places: the partial tolerance xi
CUTS = (0.25, 0.5, 1.0)
#: partitions that never part some places: all pairs of places 1 and 2, and of 4 and 5, stay tied
BLOCKS = (2, 1, 2)
_SIZES: dict[Scale, tuple[int, ...]] = {
    "full": (250, 500, 1000, 2000, 4000),
    "quick": (250, 500, 1000, 2000),
    "check": (250, 1000),
}
_SEEDS: dict[Scale, int] = {"full": 12, "quick": 12, "check": 12}


def _cells(scale: Scale, inputs: Inputs) -> list[Cell]:
    cuts: tuple[float | str, ...] = (*CUTS, "blocks")
    return [{"n": n, "cut": cut, "seed": seed} for n, cut, seed in product(_SIZES[scale], cuts, range(_SEEDS[scale]))]


def _compute(cell: Cell, inputs: Inputs) -> Values:
    rng = np.random.default_rng([cell["seed"], 72])
    X = rng.standard_normal((max(_SIZES["full"]) + TEST_ROWS, FEATURES))  # the same scores whatever n is
    X, y, bunch = make_sparse_label_ranking(
        n_items=N_LABELS,
        n_informative=FEATURES,
        X=X,
        noise="gaussian",
        noise_scale=NOISE_SCALE,
        partial=BLOCKS if cell["cut"] == "blocks" else cut_with(cell["cut"]),
        random_state=rng,
    )
    ranker = PairwiseRanker(decode="copeland", random_state=0).fit(X[: cell["n"]], y[: cell["n"]])
    # The noise is symmetric, so that the optimal predictor sorts by the scores themselves.
    return {"error": 1 - exact_match_score(bunch.noiseless[-TEST_ROWS:], ranker.predict(X[-TEST_ROWS:]))}


def cut_with(probability: float) -> Callable[[np.random.Generator, FloatArray, int], list[list[int]]]:
    """Partitions of the places that are cut between any two neighbors with this probability, independently.

    Two labels at places next to each other then have the partial tolerance xi = ``probability``, others more.
    """

    def sizes(rng: np.random.Generator, X: FloatArray, k: int) -> list[list[int]]:
        cuts = rng.random((len(X), k - 1)) < probability
        return [np.diff([0, *(np.flatnonzero(row) + 1), k]).tolist() for row in cuts]

    return sizes


def _collapse(results: Results) -> list[tuple[int, float, Results, Results]]:
    """Settings in which neighbors are parted equally often: n complete rankings, and n / xi at other xi."""
    sizes = results.settings("n")
    return [
        (n, cut, results.select(n=n, cut=1.0), results.select(n=round(n / cut), cut=cut))
        for cut in CUTS[:-1]
        for n in sizes
        if n / cut in sizes
    ]


def _rate(results: Results) -> tuple[float, float]:
    """Power of xi n by which the error falls, and its standard error; settings with most rankings wrong left out."""
    settings = [results.select(n=n, cut=cut) for n in results.settings("n") for cut in CUTS]
    able = [(cell, values) for one in settings if one.mean("error") < 0.5 for cell, values in one]
    parted = np.log([cell["n"] * cell["cut"] for cell, _ in able])
    errors = np.log([values["error"] for _, values in able])
    rise, start = np.polyfit(parted, errors, 1)
    residual = errors - rise * parted - start
    return float(rise), float(np.sqrt(residual.var(ddof=2) / np.sum((parted - parted.mean()) ** 2)))


def _compare(results: Results) -> list[Comparison]:
    rate, error = _rate(results)
    rows = [
        Comparison(
            "power of xi n by which the error falls",
            "polynomial in 1 / (xi epsilon)",
            rate,
            error,
            verdict="agrees" if rate < -0.3 else "differs",
            reason="" if rate < -0.3 else "slower than polynomial with the power that complete rankings have",
        )
    ]
    for n, cut, complete, tied in _collapse(results):
        ratio, ratio_se = tied.mean("error") / complete.mean("error"), ratio_error(tied, complete)
        rows.append(
            Comparison(
                f"error of {round(n / cut)} rankings at xi = {cut:g}, by that of {n} complete ones",
                "at most 1: pairs are parted at least as often",
                ratio,
                ratio_se,
                verdict=at_most(1.0, ratio, ratio_se, RATIO_TOLERANCE),
                reason=f"tolerance {RATIO_TOLERANCE:g}",
            )
        )
    return rows


def _claims(results: Results) -> list[Claim]:
    sizes = results.settings("n")
    table = np.array([[results.select(n=n, cut=cut).mean("error") for cut in CUTS] for n in sizes])
    ratios = [tied.mean("error") / complete.mean("error") for _, _, complete, tied in _collapse(results)]
    never = results.select(n=sizes[-1], cut="blocks").mean("error")
    rate, error = _rate(results)
    return [
        Claim(
            "The error against the optimal predictor falls with n at every partial tolerance",
            bool(np.all(np.diff(table, axis=0) < 0)),
            "; ".join(
                f"xi = {cut:g}: {table[0, at]:.3f} at n = {sizes[0]}, {table[-1, at]:.3f} at {sizes[-1]}"
                for at, cut in enumerate(CUTS)
            ),
        ),
        Claim(
            "The price of ties is polynomial in 1 / xi: n / xi rankings with ties are worth n complete ones, or more",
            all(ratio < 1.33 for ratio in ratios) and rate < -0.3,
            f"the error falls as (xi n)^({rate:.2f} ± {error:.2f}); error of n / xi rankings by that of n complete "
            f"ones: {', '.join(f'{ratio:.2f}' for ratio in ratios)}",
        ),
        Claim(
            "With a fixed partition, which leaves neighbors tied in every ranking, pairs are still parted where noise "
            "or features move them, and the error is no more than twice that of complete rankings",
            never < 2 * table[-1, -1],
            f"partition 2, 1, 2 with n = {sizes[-1]}: {never:.3f}; complete: {table[-1, -1]:.3f}",
            of="rankwise",
        ),
    ]


def _draw(results: Results, figure: Any) -> None:
    figure.set_size_inches(8, 3.2)
    axes = figure.subplots(1, 2, sharey=True)
    for (color, marker), cut in zip(SERIES, (*CUTS, "blocks"), strict=False):
        found = [results.select(n=n, cut=cut) for n in results.settings("n")]
        sizes = np.array(results.settings("n"), dtype=float)
        means, errors = ([getattr(one, what)("error") for one in found] for what in ("mean", "error"))
        label = "partition 2, 1, 2" if isinstance(cut, str) else f"xi = {cut:g}"
        axes[0].errorbar(sizes, means, errors, color=color, marker=marker, ms=4, lw=1, label=label)
        if not isinstance(cut, str):
            axes[1].errorbar(sizes * cut, means, errors, color=color, marker=marker, ms=4, lw=1)
    axes[0].set_yscale("log")
    axes[0].set_yticks(TICKS, [f"{tick:g}" for tick in TICKS])
    rows = results.settings("n")
    for ax, ticks in zip(axes, (rows, sorted({n * cut for n in rows for cut in CUTS})), strict=True):
        ax.set_xscale("log")
        ax.set_xticks(ticks, [f"{tick:.0f}" for tick in ticks])
        ax.minorticks_off()
    tidy(axes[0], x="rankings n", y="share of rankings that are not the best")
    tidy(axes[1], x="rankings that part two neighbors, xi n")
    axes[0].legend(fontsize=7, frameon=False)


EXPERIMENTS = (
    Experiment(
        id="label-ranking/theorem-c.2",
        title="Theorem C.2: error of pairwise classifiers against the ties of partial rankings",
        about=(
            "The paper proves for rankings with ties what theorem 2.5 says of incomplete ones: one classifier for each "
            "pair, taught on the rankings that do not tie it, finds the optimal predictor from a number of rankings "
            "that is polynomial in 1 / xi, where xi is the least probability that a pair is not tied (the partial "
            "tolerance). It has no experiment on that. The data are those of theorem 2.5, without missing labels: "
            "places are cut between any two neighbors with probability xi, independently, and labels between two cuts "
            "tie.\n\n"
            "Pairs that are further apart are tied less often, so that n / xi rankings with ties should be worth at "
            "least n complete ones. A fixed partition (2, 1, 2), which has no xi above 0 for labels whose places do "
            "not change, is run too."
        ),
        cells=_cells,
        compute=_compute,
        compare=_compare,
        claims=_claims,
        pictures={"ties": _draw},
    ),
)
