"""Remark 2 and equations 34 and 35 of Clémençon, Korba and Sibony: which dispersion bounds the risk of the median."""

from __future__ import annotations

import numpy as np

from rankwise.aggregation import Mallows, sample_mallows
from rankwise.aggregation.statistics import dispersion_u_statistic
from rankwise_reproductions.experiment import Cell, Claim, Comparison, Experiment, Inputs, Results, Scale, Values
from rankwise_reproductions.outcome import judge

N_ITEMS, THETA, N_RANKINGS = 5, 1.0, 2000
#: the largest bias that counts as none, as a share of V
TOLERANCE = 0.01


def _cells(scale: Scale, inputs: Inputs) -> list[Cell]:
    return [{"seed": seed} for seed in range({"full": 50, "quick": 20, "check": 10}[scale])]


def _compute(cell: Cell, inputs: Inputs) -> Values:
    center = np.arange(1.0, N_ITEMS + 1)
    first, second = np.triu_indices(N_ITEMS, 1)
    share = Mallows(center=center, theta=THETA).pairwise_probabilities()[first, second]
    drawn = sample_mallows(center, THETA, N_RANKINGS, np.random.default_rng(cell["seed"]))
    wins = (drawn[:, first] < drawn[:, second]).sum(axis=0)
    # Pairs of rankings that differ in a pair of items, over all pairs of rankings: the statistic as printed.
    printed = np.sum(wins * (N_RANKINGS - wins)) / (N_RANKINGS * (N_RANKINGS - 1) / 2)
    return {
        "printed": float(printed),
        "ours": float(dispersion_u_statistic(drawn)),
        "V": float(np.sum(share * (1 - share))),
        "risk": float(np.sum(1 - share)),  # of the center, which is the median
    }


def _compare(results: Results) -> list[Comparison]:
    V, risk = results.mean("V"), results.mean("risk")
    statistic = {name: (results.mean(name), results.error(name)) for name in ("printed", "ours")}
    verdicts = {name: judge(V, *found, TOLERANCE * V) for name, found in statistic.items()}
    return [
        Comparison(
            "Remark 2: the mean distance of two rankings, as an estimate of V",
            V,
            *statistic["printed"],
            verdicts["printed"],
            "it estimates 2 V",
        ),
        Comparison(
            "Remark 2: half of it, as an estimate of V",
            V,
            *statistic["ours"],
            "agrees after a correction" if verdicts["ours"] == "agrees" else verdicts["ours"],
            "half the printed statistic",
        ),
        Comparison(
            "equation 34: the risk of the median is at most 2 (V/2), with V/2 of equation 35",
            f"at most {V:.4g}",
            risk,
            None,
            "agrees" if risk <= V else "differs",
            "the bound holds with V of Remark 2",
        ),
        Comparison(
            "equation 34: the risk of the median is at most 2 V, with V of Remark 2",
            f"at most {2 * V:.4g}",
            risk,
            None,
            "agrees after a correction" if risk <= 2 * V else "differs",
            "without the factor 1/2 of equation 35",
        ),
    ]


def _claims(results: Results) -> list[Claim]:
    V, risk, ours, printed = (results.mean(name) for name in ("V", "risk", "ours", "printed"))
    return [
        Claim(
            "The mean distance of two rankings estimates the dispersion V (Remark 2)",
            abs(printed - V) < TOLERANCE * V,
            f"{printed:.4f} +- {results.error('printed'):.4f} for V = {V:.4f}",
            known="it estimates 2 V",
        ),
        Claim(
            "Half the mean distance of two rankings estimates the dispersion V",
            abs(ours - V) < TOLERANCE * V,
            f"{ours:.4f} +- {results.error('ours'):.4f} for V = {V:.4f}",
            of="rankwise",
        ),
        Claim(
            "The risk of the median is at most twice the dispersion of equation 35 (equation 34)",
            risk <= V,
            f"{risk:.4f}, and twice the dispersion with the factor 1/2 of equation 35 is {V:.4f}",
            known="equation 35 has a factor 1/2 that Remark 2 does not have",
        ),
        Claim(
            "The risk of the median lies between V and 2 V (Remark 2)",
            V <= risk <= 2 * V,
            f"{V:.4f} <= {risk:.4f} <= {2 * V:.4f}",
        ),
    ]


EXPERIMENTS = (
    Experiment(
        id="ranking-median/dispersion",
        title="Remark 2, equations 34 and 35: the dispersion and the risk of the median",
        about=(
            "The dispersion V is the sum of p (1 - p) over pairs of items. Remark 2 estimates it by a U-statistic, "
            "equation 34 bounds the risk of the median by it, and equation 35 has a factor 1/2 that Remark 2 has not. "
            "Here 2,000 rankings of five items are drawn from a Mallows model with theta 1, whose V and risk are "
            "known. Seconds at every scale."
        ),
        cells=_cells,
        compute=_compute,
        compare=_compare,
        claims=_claims,
        any_scale=True,
    ),
)
