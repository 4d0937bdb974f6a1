"""Theorem 9 of Clémençon, Korba and Sibony: local medians on small cells come close to the best rule."""

from __future__ import annotations

from typing import Any

import numpy as np

from rankwise.aggregation import is_stochastically_transitive, kemeny_batch
from rankwise.datasets import lipschitz_oracle
from rankwise.label_ranking import conditional_excess_risk, partition_distance_bound, partition_risk_bound
from rankwise_reproductions.drawing import SERIES, tidy
from rankwise_reproductions.experiment import Cell, Claim, Comparison, Experiment, Inputs, Results, Scale, Values

N_ITEMS, N_FEATURES, MARGIN, GAP = 4, 2, 0.1, 0.1
#: intervals of each feature, which make square cells
INTERVALS = (1, 2, 3, 4, 5, 7, 9, 12, 16, 24, 32)
#: points along each feature that stand for the law of x
_POINTS = 192

LAWS = {"smooth": "smooth law, medians change inside cells", "areas": "four areas with a margin (Assumption 2)"}


def _cells(scale: Scale, inputs: Inputs) -> list[Cell]:
    seeds = {"full": 20, "quick": 8, "check": 4}[scale]
    return [{"law": law, "intervals": n, "seed": seed} for law in LAWS for n in INTERVALS for seed in range(seeds)]


def _compute(cell: Cell, inputs: Inputs) -> Values:
    margin = MARGIN if cell["law"] == "areas" else 0.0
    oracle = lipschitz_oracle(N_ITEMS, N_FEATURES, margin=margin, gap=GAP, random_state=cell["seed"])
    X = _support(oracle)
    P = oracle.preference_probability(X)
    interval = np.minimum((X * cell["intervals"]).astype(int), cell["intervals"] - 1)
    number = interval @ [cell["intervals"], 1]
    laws = np.array([P[number == one].mean(axis=0) for one in np.unique(number)])
    predicted = kemeny_batch(laws)[np.unique(number, return_inverse=True)[1]]
    diameter = float(np.sqrt(N_FEATURES) / cell["intervals"])
    values: Values = {
        "excess": float(conditional_excess_risk(P, predicted)),
        "diameter": diameter,
        "bound": partition_risk_bound(oracle.m.lipschitz, diameter),
    }
    if margin:
        distance = np.sum((predicted[:, :, None] < predicted[:, None, :]) & (P < 0.5), axis=(1, 2))
        values["furthest"] = int(distance.max())
        values["distance bound"] = partition_distance_bound(oracle.m.lipschitz, diameter, margin)
        values["transitive"] = all(is_stochastically_transitive(law, strict=True) for law in laws)
    return values


def _support(oracle: Any) -> Any:
    """A fine grid of midpoints, evenly spread over where x may be."""
    along = (np.arange(_POINTS) + 0.5) / _POINTS
    grid = np.stack(np.meshgrid(along, along, indexing="ij"), axis=-1).reshape(-1, N_FEATURES)
    gap = getattr(getattr(oracle.m, "areas", None), "gap", 0.0)
    return (1 - gap) * grid + gap * (grid >= 0.5)


def _compare(results: Results) -> list[Comparison]:
    rows = []
    for law in results.settings("law"):
        for n in results.settings("intervals"):
            found = results.select(law=law, intervals=n)
            ratio = float((found.values("excess") / found.values("bound")).max())
            rows.append(
                Comparison(
                    f"{LAWS[law]}, {n} x {n} cells: largest excess risk over its bound M delta",
                    "at most 1",
                    ratio,
                    None,
                    "agrees" if ratio <= 1 else "differs",
                    f"mean excess {found.mean('excess'):.4f}, mean bound {found.mean('bound'):.3f}",
                )
            )
    return rows


def _power(results: Results) -> tuple[float, float]:
    """Power of the diameter with which the excess falls, over oracles, on the finer half of the partitions."""
    fine = [n for n in results.settings("intervals") if n >= 4]
    powers = []
    for seed in results.settings("seed"):
        found = [results.select(intervals=n, seed=seed) for n in fine]
        diameter, excess = (np.array([one.mean(name) for one in found]) for name in ("diameter", "excess"))
        if (excess > 0).all():
            powers.append(np.polyfit(np.log(diameter), np.log(excess), 1)[0])
    return float(np.mean(powers)), float(np.std(powers, ddof=1) / np.sqrt(len(powers)))


def _claims(results: Results) -> list[Claim]:
    ratios = results.values("excess") / results.values("bound")
    areas = results.select(law="areas")
    strict = Results([(cell, values) for cell, values in areas if values["transitive"]])
    furthest = strict.values("furthest") / strict.values("distance bound")
    smooth = results.select(law="smooth")
    finest = smooth.select(intervals=max(INTERVALS))
    power, error = _power(smooth)
    return [
        Claim(
            "The excess risk of local medians is at most M times the diameter of the cells (equation 22)",
            bool(ratios.max() <= 1),
            f"in {len(ratios)} cases; the closest comes to {ratios.max():.3f} of the bound",
        ),
        Claim(
            "It tends to 0 with the diameter",
            bool(finest.mean("excess") < 0.01 * smooth.select(intervals=1).mean("excess")),
            f"{smooth.select(intervals=1).mean('excess'):.3f} with one cell, {finest.mean('excess'):.5f} with "
            f"{max(INTERVALS) ** 2:,}",
        ),
        Claim(
            "Under Assumption 2 local medians are at most M / H times the diameter from the best (equation 23)",
            bool(furthest.max() <= 1),
            f"in {len(furthest)} cases in which the law of every cell is strictly transitive; the closest comes to "
            f"{furthest.max():.3f} of the bound",
        ),
        Claim(
            "Where probabilities cross 1/2 smoothly the excess falls like the square of the diameter",
            abs(power - 2) < 0.2,
            f"power {power:.2f} +- {error:.2f}: only cells that a crossing passes through have an excess, and there "
            "it is small",
            of="rankwise",
        ),
    ]


def _draw(results: Results, figure: Any) -> None:
    ax = figure.subplots()
    for law, (color, marker) in zip(LAWS, SERIES, strict=False):
        found = [results.select(law=law, intervals=n) for n in results.settings("intervals")]
        diameter = [one.mean("diameter") for one in found]
        ax.plot(diameter, [one.mean("excess") for one in found], marker=marker, color=color, label=LAWS[law])
        ax.plot(diameter, [one.mean("bound") for one in found], "--", color=color, label="its bound, M delta")
    ax.set_xscale("log")
    ax.set_yscale("symlog", linthresh=1e-4)
    ax.set_ylim(bottom=0)
    ax.grid(alpha=0.3)
    tidy(ax, x="diameter of the cells", y="excess risk of the local medians")
    ax.legend(fontsize=8, frameon=False)


EXPERIMENTS = (
    Experiment(
        id="ranking-median/theorem-9",
        title="Theorem 9: local medians on small cells come close to the best rule",
        about=(
            "If the probabilities of pairs change slowly with x (Assumption 3, with constant M), then predicting in "
            "each cell of a partition the median of the law in that cell costs at most M times the diameter of the "
            "cells more than the best rule; under Assumption 2, with margin H, its rankings are at most M / H times "
            "the diameter away from the best. Both are about the law, not about a sample.\n\n"
            "The paper tests neither. Here four items are ranked by two features, by laws of which M and H are known: "
            "one with linear scores, whose medians change where two scores cross, and one of the paper's example, four "
            "areas with a gap of 0.1 between them and a Mallows model in each (H = 0.1). The square is cut into equal "
            "square cells, and the law of x is a grid of 36,864 points. 20 oracles of each kind; a minute."
        ),
        cells=_cells,
        compute=_compute,
        compare=_compare,
        claims=_claims,
        pictures={"bound": _draw},
    ),
)
