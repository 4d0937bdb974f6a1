"""Theorem 2.5 of Fotakis, Kalavasis and Psaroudaki: one classifier per pair, taught on incomplete rankings."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

from rankwise.datasets import make_sparse_label_ranking
from rankwise.label_ranking import PairwiseRanker
from rankwise.metrics import exact_match_score, kendall_tau_score
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
    Verdict,
)
from rankwise_reproductions.outcome import judge, number

N_LABELS, FEATURES, TEST_ROWS = 5, 4, 2000
NOISE_SCALE = 0.02
#: more noise, with which most rankings are wrong: the power of n q^2 depends on how hard the problem is
STRONG_NOISE = 0.1
#: probabilities that a label is observed; a pair is, with their square
SURVIVALS = (0.25, 0.35, 0.5, 0.7, 1.0)
#: from which Kendall tau on predictions are near the best
NEAR_ONE = 0.9
#: what a ratio of errors may differ by from the ratio of 1 that is expected
RATIO_TOLERANCE = 0.1
#: errors that the axis of the picture names
TICKS = (0.05, 0.1, 0.2, 0.3, 0.5, 0.8)
_SIZES: dict[Scale, tuple[int, ...]] = {
    "full": (250, 500, 1000, 2000, 4000, 8000, 16000),
    "quick": (250, 500, 1000, 2000, 4000),
    "check": (250, 1000),
}
_SURVIVALS: dict[Scale, tuple[float, ...]] = {"full": SURVIVALS, "quick": SURVIVALS, "check": (0.5, 1.0)}
_SEEDS: dict[Scale, int] = {"full": 50, "quick": 10, "check": 12}


def _cells(scale: Scale, inputs: Inputs) -> list[Cell]:
    grid = product(_SIZES[scale], _SURVIVALS[scale], range(_SEEDS[scale]))
    cells: list[Cell] = [{"n": n, "survival": survival, "seed": seed} for n, survival, seed in grid]
    if scale == "full":
        strong = product(_SIZES["check"], _SURVIVALS["check"], range(_SEEDS["full"]))
        cells += [{"n": n, "survival": q, "seed": seed, "noise": STRONG_NOISE} for n, q, seed in strong]
    return cells


def _compute(cell: Cell, inputs: Inputs) -> Values:
    rng = np.random.default_rng([cell["seed"], 25])
    n = max(_SIZES["full"])  # the same scores whatever n is
    X = rng.standard_normal((n + TEST_ROWS, FEATURES))
    X, y, bunch = make_sparse_label_ranking(
        n_items=N_LABELS,
        n_informative=FEATURES,
        X=X,
        noise="gaussian",
        noise_scale=cell.get("noise", NOISE_SCALE),
        survival=cell["survival"],
        random_state=rng,
    )
    ranker = PairwiseRanker(decode="copeland", random_state=0).fit(X[: cell["n"]], y[: cell["n"]])
    # The noise is symmetric, so that the optimal predictor sorts by the scores themselves.
    best, test = bunch.noiseless[-TEST_ROWS:], X[-TEST_ROWS:]
    return {
        "error": 1 - exact_match_score(best, ranker.predict(test)),
        "tau": kendall_tau_score(best, ranker.predict(test)),
        "tau of the printed sign": kendall_tau_score(best, _as_printed(ranker.predict_pairwise(test))),
    }


def _as_printed(probabilities: FloatArray) -> FloatArray:
    """Positions by algorithm 2 to the letter: classifiers of sgn(sigma(i) - sigma(j)), and -1 counts against i."""
    return 1.0 + (probabilities > 0.5).sum(axis=2)  # i before j is where sigma(i) - sigma(j) is negative


def _by_noise(results: Results) -> tuple[Results, Results]:
    """The cells with the usual noise, and those with strong noise."""
    usual = [one for one in results if "noise" not in one[0]]
    strong = [one for one in results if "noise" in one[0]]
    return Results(usual, results.left_out), Results(strong)


def _collapse(results: Results) -> list[tuple[int, Results, Results]]:
    """Pairs of settings with the same number of observed pairs: n complete rankings, 4 n at survival 1/2."""
    sizes = results.settings("n")
    return [
        (n, results.select(n=n, survival=1.0), results.select(n=4 * n, survival=0.5)) for n in sizes if 4 * n in sizes
    ]


def _rate(results: Results, largest_error: float = 0.5) -> tuple[float, float]:
    """Power of the number of observed pairs, n q^2, by which the error falls, and its standard error.

    Settings in which most rankings are wrong are left out: an error near 1 cannot tell.
    """
    settings = [results.select(n=n, survival=q) for n in results.settings("n") for q in results.settings("survival")]
    able = [(cell, values) for one in settings if one.mean("error") < largest_error for cell, values in one]
    pairs = np.log([cell["n"] * cell["survival"] ** 2 for cell, _ in able])
    errors = np.log([values["error"] for _, values in able])
    slope, intercept = np.polyfit(pairs, errors, 1)
    residual = errors - slope * pairs - intercept
    return float(slope), float(np.sqrt(residual.var(ddof=2) / np.sum((pairs - pairs.mean()) ** 2)))


def _most(results: Results) -> Results:
    """The cells with the most rankings, all complete."""
    return results.select(n=max(results.settings("n")), survival=1.0)


def _compare(results: Results) -> list[Comparison]:
    results, strong = _by_noise(results)
    (rate, error), most = _rate(results), _most(results)
    rows = [
        Comparison(
            "power of n q^2 by which the error falls",
            "polynomial in 1 / (phi epsilon)",
            rate,
            error,
            verdict="agrees" if rate < -0.3 else "differs",
            reason="" if rate < -0.3 else "slower than the square root",
        )
    ]
    for n, complete, half in _collapse(results):
        ratio, error = half.mean("error") / complete.mean("error"), ratio_error(half, complete)
        verdict = judge(1.0, ratio, error, RATIO_TOLERANCE)
        rows.append(
            Comparison(
                f"error of {4 * n} rankings at q = .5, by that of {n} complete ones",
                "1 (both have the same number of pairs)",
                ratio,
                error,
                verdict=verdict,
                reason="" if verdict == "agrees" else f"tolerance {RATIO_TOLERANCE:g}",
            )
        )
    if len(strong):
        rows.append(
            Comparison(
                f"power of n q^2 by which the error falls with noise of scale {STRONG_NOISE:g}",
                None,
                *_rate(strong, largest_error=1),
                verdict="not in the paper",
                reason="the harder the problem, the more slowly the error falls; no setting is left out here",
            )
        )
    signs: tuple[tuple[str, str, Verdict, str], ...] = (
        (
            "as printed",
            "tau of the printed sign",
            "agrees",
            "sgn(sigma(i) - sigma(j)) is -1 where i comes first, but -1 counts against i: the ranking is reversed",
        ),
        ("with sgn(sigma(j) - sigma(i))", "tau", "agrees after a correction", "the sign turned round"),
    )
    for sign, name, found, reason in signs:
        right = most.mean(name) > NEAR_ONE
        rows.append(
            Comparison(
                f"Kendall tau of algorithm 2 {sign}, most rankings, all complete",
                "near 1",
                most.mean(name),
                most.error(name),
                verdict=found if right else "differs",
                reason="" if right and found == "agrees" else reason,
            )
        )
    return rows


def ratio_error(above: Results, below: Results) -> float:
    """Standard error of a ratio of means of the same seeds."""
    first, second = above.values("error"), below.values("error")
    ratio = first.mean() / second.mean()
    return float(np.std(first - ratio * second, ddof=1) / np.sqrt(len(first)) / second.mean())


def _claims(results: Results) -> list[Claim]:
    results, strong = _by_noise(results)
    sizes, survivals = results.settings("n"), results.settings("survival")
    table = np.array([[results.select(n=n, survival=q).mean("error") for q in survivals] for n in sizes])
    ratios = [half.mean("error") / complete.mean("error") for _, complete, half in _collapse(results)]
    (rate, error), most = _rate(results), _most(results)
    right, printed = most.mean("tau"), most.mean("tau of the printed sign")
    claims = [
        Claim(
            "The error against the optimal predictor falls with n at every survival probability",
            bool(np.all(np.diff(table, axis=0) < 0)),
            "; ".join(
                f"q = {q:g}: {table[0, at]:.3f} at n = {sizes[0]}, {table[-1, at]:.3f} at {sizes[-1]}"
                for at, q in enumerate(survivals)
            ),
        ),
        Claim(
            "It falls with the survival probability at every n",
            bool(np.all(np.diff(table, axis=1) < 0)),
            f"at n = {sizes[-1]}: "
            + ", ".join(f"{error:.3f} at q = {q:g}" for q, error in zip(survivals, table[-1], strict=True)),
        ),
        Claim(
            "What counts is the number of observed pairs, phi n = q^2 n: a polynomial price, no breakdown",
            all(0.75 < ratio < 1.33 for ratio in ratios) and -0.7 < rate < -0.3,
            f"the error falls as (q^2 n)^({rate:.2f} ± {error:.2f}); error of 4 n rankings at q = .5 by that of n "
            f"complete ones: {', '.join(f'{ratio:.2f}' for ratio in ratios)}",
        ),
        Claim(
            "Algorithm 2 as printed finds the optimal ranking",
            printed > NEAR_ONE,
            f"mean tau {printed:.3f}",
            known="sgn(sigma(i) - sigma(j)) is -1 where i comes first, but -1 counts against i",
        ),
        Claim(
            "Algorithm 2 finds the optimal ranking with the sign turned round",
            right > NEAR_ONE,
            f"mean tau {right:.3f}",
            of="rankwise",
        ),
    ]
    if len(strong):
        ((_, complete, half),), (rate, error) = _collapse(strong), _rate(strong, largest_error=1)
        settings = product(strong.settings("n"), strong.settings("survival"))
        errors = [strong.select(n=n, survival=q).mean("error") for n, q in settings]
        ratio = half.mean("error") / complete.mean("error")
        claims.append(
            Claim(
                "With much noise the error falls more slowly; what counts is the number of observed pairs there too",
                rate - 2 * error > -0.3 and 0.75 < ratio < 1.33,
                f"scale {STRONG_NOISE:g}: errors {min(errors):.2f} to {max(errors):.2f}, power {rate:.2f} ± "
                f"{error:.2f}, ratio {number(ratio, ratio_error(half, complete))}",
                of="rankwise",
            )
        )
    return claims


def _draw(results: Results, figure: Any) -> None:
    results, _ = _by_noise(results)
    figure.set_size_inches(8, 3.2)
    axes = figure.subplots(1, 2, sharey=True)
    for (color, marker), n in zip(SERIES, results.settings("n"), strict=False):
        one = results.select(n=n)
        found = [one.select(survival=q) for q in one.settings("survival")]
        q = np.array(one.settings("survival"))
        means, errors = ([getattr(f, what)("error") for f in found] for what in ("mean", "error"))
        for ax, x in zip(axes, (q, n * q**2), strict=True):
            ax.errorbar(x, means, errors, color=color, marker=marker, ms=4, lw=1, label=f"n = {n}")
    axes[0].set_yscale("log")
    axes[0].set_yticks(TICKS, [f"{tick:g}" for tick in TICKS])
    axes[0].minorticks_off()
    axes[1].set_xscale("log")
    tidy(axes[0], x="survival probability q of a label", y="share of rankings that are not the best")
    tidy(axes[1], x="observed rankings of a pair, n q²")
    axes[0].legend(fontsize=7, frameon=False)


EXPERIMENTS = (
    Experiment(
        id="label-ranking/theorem-2.5",
        title="Theorem 2.5: error of pairwise classifiers against the survival probability of labels",
        about=(
            "The paper proves that one classifier for each pair of labels, taught on the rankings that hold both, "
            "finds the optimal predictor from a number of incomplete rankings that is polynomial in 1 / phi, where "
            "phi is the probability that a pair survives. It has no experiment on that. We draw four normal "
            "features and five linear scores with truncated Gaussian noise, so that half-spaces hold the optimal "
            "classifiers, let each label survive with probability q (phi = q^2), fit logistic regressions and count "
            "hard votes as algorithm 2 does. The error is the share of rows whose predicted ranking is not the "
            "optimal one.\n\n"
            "Algorithm 2 learns sgn(sigma(i) - sigma(j)) and lets -1 count against i, which turns the ranking round "
            "if sigma(i) is the place of i, 1 being the best; we learn the other sign."
        ),
        cells=_cells,
        compute=_compute,
        compare=_compare,
        claims=_claims,
        pictures={"survival": _draw},
    ),
)
