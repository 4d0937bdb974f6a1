"""Theorems 10 and 13 of Luo and Li: what the rankings of trees lose against the best ranking."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from rankwise.datasets import make_symbolic_regression
from rankwise.screening import concordant_divergence
from rankwise.trees import LeastSquaresTree
from rankwise_reproductions.drawing import SERIES, tidy
from rankwise_reproductions.experiment import (
    Cell,
    Claim,
    Comparison,
    Experiment,
    Inputs,
    Results,
    Scale,
    Values,
    Verdict,
)

SIZES, DEPTHS = (100, 400, 1600), (1, 2, 3, 4, 6, 8)


def _cells(scale: Scale, inputs: Inputs) -> list[Cell]:
    repeats = {"full": 20, "quick": 10, "check": 8}[scale]
    trees = [{"n": n, "depth": depth, "seed": seed} for n in SIZES for depth in DEPTHS for seed in range(repeats)]
    with_bart = {"full": 10, "quick": 4, "check": 2}[scale]
    sizes = SIZES if scale != "check" else SIZES[:2]
    return trees + [{"n": n, "depth": "BART", "seed": seed} for n in sizes for seed in range(with_bart)]


def _compute(cell: Cell, inputs: Inputs) -> Values:
    X, y, bunch = make_symbolic_regression(cell["n"], noise=1.0, random_state=cell["seed"])
    if cell["depth"] == "BART":
        from stochtree import BARTModel

        model = BARTModel()
        model.sample(X, y, num_gfr=0, num_burnin=250, num_mcmc=200, general_params={"random_seed": cell["seed"]})
        draws = concordant_divergence(model.y_hat_train, bunch.signal, normalize=True)
        return {"lost": float(np.mean(draws)), "lost by 95 %": float(np.quantile(draws, 0.95))}
    score = LeastSquaresTree(max_depth=cell["depth"]).fit(X, y).predict(X)
    return {"lost": float(concordant_divergence(score, bunch.signal, normalize=True))}


def _best_depth(results: Results, n: int) -> int:
    return min(DEPTHS, key=lambda depth: results.select(n=n, depth=depth).mean("lost"))


def _compare(results: Results) -> list[Comparison]:
    trees = [
        (f"N = {n}: share of the best ranking gain that CART loses, at its best depth, {depth}", n, depth, "lost")
        for n, depth in ((n, _best_depth(results, n)) for n in SIZES)
    ]
    bart = [
        (f"N = {n}: share below which 95 % of BART's posterior draws lie", n, "BART", "lost by 95 %")
        for n in results.select(depth="BART").settings("n")
    ]
    rows = []
    for group in (trees, bart):
        last = np.inf
        for quantity, n, depth, what in group:
            found = results.select(n=n, depth=depth)
            falls = found.mean(what) < last
            last = found.mean(what)
            reason = "" if falls else "does not fall here"
            verdict: Verdict = "agrees" if falls else "differs"
            rows.append(Comparison(quantity, "falls with N", last, found.error(what), verdict, reason))
    return rows


def _claims(results: Results) -> list[Claim]:
    depths = [_best_depth(results, n) for n in SIZES]
    best = [results.select(n=n, depth=depth) for n, depth in zip(SIZES, depths, strict=True)]
    lost = [one.mean("lost") for one in best]
    text = ", ".join(
        f"{one.mean('lost'):.3f} ± {one.error('lost'):.3f} (N = {n})" for n, one in zip(SIZES, best, strict=True)
    )
    deep = {n: results.select(n=n, depth=DEPTHS[-1]).mean("lost") for n in SIZES}
    claims = [
        Claim(
            "Theorem 10: what the ranking of CART loses falls with N, if the depth grows slowly enough",
            lost[0] > 1.3 * lost[1] > 1.3**2 * lost[2] and depths == sorted(depths),
            f"{text}; best depths {', '.join(map(str, depths))}",
        ),
        Claim(
            "A tree that is too deep for its N loses more",
            all(deep[n] > 1.2 * value for n, value in zip(SIZES, lost, strict=True)),
            ", ".join(f"depth {DEPTHS[-1]}: {value:.3f} (N = {n})" for n, value in deep.items()),
        ),
    ]
    sizes = results.select(depth="BART").settings("n")
    if sizes:
        tails = [results.select(n=n, depth="BART").mean("lost by 95 %") for n in sizes]
        claims.append(
            Claim(
                "Theorem 13: the posterior of BART contracts on the best ranking",
                all(1.3 * later < earlier for earlier, later in pairwise(tails)),
                ", ".join(f"{tail:.3f} (N = {n})" for n, tail in zip(sizes, tails, strict=True)),
            )
        )
    return claims


def _draw_loss(results: Results, figure: Any) -> None:
    ax = figure.subplots()
    for (color, marker), n in zip(SERIES, SIZES, strict=False):
        found = [results.select(n=n, depth=depth) for depth in DEPTHS]
        means, errors = ([getattr(one, what)("lost") for one in found] for what in ("mean", "error"))
        ax.errorbar(DEPTHS, means, errors, color=color, marker=marker, ms=5, lw=1, label=f"CART, N = {n}")
        bart = results.select(n=n, depth="BART")
        if len(bart):
            ax.axhline(bart.mean("lost"), color=color, ls=":", lw=1.2, label=f"BART, N = {n}")
    ax.set_ylim(bottom=0)
    ax.legend(fontsize=8, frameon=False)
    tidy(ax, x="depth of the tree", y="share of the best gain that is lost")


EXPERIMENTS = (
    Experiment(
        id="tree-ranking/theorems-10-13",
        title="Theorems 10 and 13: the rankings of CART and BART approach the best one",
        about=(
            "The data of figures 5 and 6, y = 2 x1^3 + 5 x3 + 10 with noise of variance 1. A tree ranks the "
            "training rows by its fit, and loses (T(r_B) - T(r)) / T(r_B) of the gain of the ranking by the "
            "conditional mean: 0 is the best ranking, 1 is a random one. The paper proves rates and shows no "
            "numbers; we show the loss of CART by depth and, with stochtree (pip install 'rankwise[bart]'), of the "
            "draws of BART's posterior. The full scale takes about a minute, with BART about three."
        ),
        cells=_cells,
        compute=_compute,
        compare=_compare,
        claims=_claims,
        pictures={"loss": _draw_loss},
    ),
)
