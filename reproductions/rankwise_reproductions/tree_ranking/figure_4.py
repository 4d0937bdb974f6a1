"""Figure 4 of Luo and Li: what measures of dependence say of five functions of x."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
from scipy.stats import chatterjeexi, kendalltau, pearsonr, spearmanr

from rankwise.screening import concordant_divergence
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

SIZES, VARIANCES = (50, 500), (0.0, 0.01, 0.1, 1.0, 10.0)
FUNCTIONS = ("x", "-x", "|x|", "wave", "-wave")
#: those of which x is neither an increasing nor a decreasing function
HIDDEN = ("|x|", "wave", "-wave")
#: how far a measure has to be from its value at independence, to say that it detects a function
DETECTED = 0.1
MEASURES = ("T0", "T0 / G", "|Pearson|", "|Spearman|", "|Kendall|", "xi")


def _cells(scale: Scale, inputs: Inputs) -> list[Cell]:
    repeats = {"full": 50, "quick": 10, "check": 6}[scale]
    variances = VARIANCES if scale != "check" else (0.0, 0.1, 10.0)
    return [
        {"n": n, "variance": variance, "y": name, "seed": seed}
        for n, variance, name in product(SIZES, variances, FUNCTIONS)
        for seed in range(repeats if variance else 1)
    ]


def _compute(cell: Cell, inputs: Inputs) -> Values:
    x = np.linspace(-1, 1, cell["n"])
    noise = np.random.default_rng([cell["n"], FUNCTIONS.index(cell["y"]), cell["seed"]]).standard_normal(len(x))
    y = _function(cell["y"], x) + np.sqrt(cell["variance"]) * noise
    values = (
        concordant_divergence(x, y),
        concordant_divergence(x, y, normalize=True),
        abs(pearsonr(x, y).statistic),
        abs(spearmanr(x, y).statistic),
        abs(kendalltau(x, y).statistic),
        chatterjeexi(x, y).statistic,
    )
    return dict(zip(MEASURES, map(float, values), strict=True))


def _function(name: str, x: FloatArray) -> FloatArray:
    """One of the five; the wave is the fourth function of the figure."""
    if name.startswith("-"):
        return -_function(name[1:], x)
    if name == "wave":
        return np.select([x < -0.5, x < 0, x < 0.5], [x + 1, -x, x], 1 - x)
    return {"x": x, "|x|": np.abs(x)}[name]


def _compare(results: Results) -> list[Comparison]:
    clean = results.select(variance=0.0, n=500)
    falling = clean.select(y="-x").mean("|Pearson|")
    rows = [
        Comparison(
            "|Pearson| of x and -x, without noise",
            "does not detect it",
            falling,
            verdict="differs" if falling > DETECTED else "agrees",
            reason="the text says so of all functions but x; a straight line that falls has correlation -1",
        )
    ]
    for name in HIDDEN:
        one = clean.select(y=name)
        rows.append(
            Comparison(
                f"T0 of x and {name}, without noise",
                "between 0 and T0 of -x: detected",
                one.mean("T0"),
                verdict="agrees" if abs(one.mean("T0 / G") - 1) > DETECTED else "differs",
                reason=f"divided by G, the mean difference of y, it is {one.mean('T0 / G'):.3f}, and 1 is the value of "
                f"independence: what the figure shows is the spread of y. xi is {one.mean('xi'):.3f}",
            )
        )
    return rows


def _claims(results: Results) -> list[Claim]:
    clean = results.select(variance=0.0)
    order = {n: [clean.select(n=n, y=name).mean("T0") for name in ("x", "wave", "|x|", "-x")] for n in SIZES}
    hidden = {name: clean.select(y=name) for name in HIDDEN}
    noisy = results.select(variance=max(results.settings("variance")), n=50)
    away = {
        name: abs(noisy.select(y=name).mean("T0 / G") - 1) / noisy.select(y=name).error("T0 / G") for name in HIDDEN
    }
    false = {name: abs(noisy.select(y=name).mean("xi")) / noisy.select(y=name).error("xi") for name in HIDDEN}
    falling = clean.select(y="-x")
    usual = ("|Pearson|", "|Spearman|", "|Kendall|")
    return [
        Claim(
            "Without noise T0 is 0 for x itself, and grows as x and the function overlap less: x, wave, |x|, -x",
            all(values[0] < 1e-9 and values == sorted(values) for values in order.values()),
            "; ".join(f"N = {n}: {', '.join(f'{value:.3f}' for value in values)}" for n, values in order.items()),
        ),
        Claim(
            "xi detects every one of the functions, without noise",
            min(clean.mean("xi"), *(one.mean("xi") for one in hidden.values())) > 0.7,
            ", ".join(f"{name} {one.mean('xi'):.3f}" for name, one in hidden.items()),
        ),
        Claim(
            "Under strong noise T0 detects nothing falsely at N = 50",
            max(away.values()) < 4,
            f"T0 / G differs from 1 by at most {max(away.values()):.1f} standard errors",
        ),
        Claim(
            "Pearson, Spearman and Kendall cannot detect any of the functions but x",
            max(falling.mean(measure) for measure in usual) < DETECTED,
            f"{', '.join(f'{measure} {falling.mean(measure):.3f}' for measure in usual)} for -x",
            known="true of |x| and the waves, but -x is a straight line: their absolute values are 1",
        ),
        Claim(
            "T0 detects the functional dependence of |x| and the waves on x",
            all(abs(one.mean("T0 / G") - 1) > DETECTED for one in hidden.values()),
            "T0 / G without noise: " + ", ".join(f"{name} {one.mean('T0 / G'):.4f}" for name, one in hidden.items()),
            known="divided by the mean difference G of y it is 1, as for independent variables; the figure shows the "
            "spread of y",
        ),
        Claim(
            "xi detects a dependence falsely under strong noise at N = 50, other than T0",
            max(false.values()) > 4 > max(away.values()),
            f"xi differs from 0 by at most {max(false.values()):.1f} standard errors, T0 / G from 1 by "
            f"{max(away.values()):.1f}",
            known="neither does, on average over 50 runs",
        ),
        Claim(
            "Divided by the mean difference of y, T0 does not detect |x| and the waves",
            all(abs(one.values("T0 / G") - 1).max() < 0.01 for one in hidden.values()),
            ", ".join(f"{name} {one.mean('T0 / G'):.4f}" for name, one in hidden.items()),
            of="rankwise",
        ),
    ]


def _draw_measures(results: Results, figure: Any) -> None:
    figure.set_size_inches(10, 4.6)
    axes = figure.subplots(len(SIZES), len(MEASURES), sharex=True)
    variances = results.settings("variance")
    for row, n in zip(axes, SIZES, strict=True):
        for ax, measure in zip(row, MEASURES, strict=True):
            for (color, marker), name in zip(SERIES, FUNCTIONS, strict=False):
                found = [results.select(n=n, variance=variance, y=name) for variance in variances]
                ax.plot(
                    range(len(variances)), [one.mean(measure) for one in found], color=color, marker=marker, ms=4, lw=1
                )
            ax.set_xticks(range(len(variances)), [f"{variance:g}" for variance in variances])
            if measure == "T0":
                ax.set_yscale("symlog", linthresh=0.1)
                ax.set_ylim(bottom=-0.01)
            else:
                ax.set_ylim(-0.15, 2.05 if measure == "T0 / G" else 1.05)
            tidy(ax, y=f"N = {n}" if ax is row[0] else None, x="noise variance" if n == SIZES[-1] else None)
            if n == SIZES[0]:
                ax.set_title(measure, fontsize=9)
    figure.legend(axes[0, 0].lines, FUNCTIONS, loc="outside upper center", ncols=5, fontsize=8, frameon=False)


EXPERIMENTS = (
    Experiment(
        id="tree-ranking/figure-4",
        title="Figure 4: what T0, correlations and xi say of five functions of x",
        about=(
            "x is equally spaced on [-1, 1], and y is x, -x, |x|, a wave of four straight pieces, or its negative, "
            "plus normal noise. The paper shows log T0 next to xi and absolute correlations, and says that T0 and xi "
            "detect all five functions. We show T0 as it is, and divided by the mean difference G of y, where 0 is "
            "the same order, 1 independence and 2 the reverse order. The full scale takes about a minute."
        ),
        cells=_cells,
        compute=_compute,
        compare=_compare,
        claims=_claims,
        pictures={"measures": _draw_measures},
    ),
)
