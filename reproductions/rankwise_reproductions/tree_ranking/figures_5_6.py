"""Figures 5 and 6 of Luo and Li: three of the features of y = 2 x1^3 + 5 x3 + 10, by several methods."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import cache
from itertools import product
from typing import Any

import numpy as np
from sklearn.linear_model import LinearRegression
from sklearn.metrics import average_precision_score

from rankwise.datasets import make_symbolic_regression
from rankwise.screening import (
    BARTSelector,
    ConcordanceSelector,
    ScoreSelector,
    SymbolicFeatures,
    concordant_divergence,
    rank_classes,
)
from rankwise_reproductions.drawing import SERIES, tidy
from rankwise_reproductions.experiment import Cell, Claim, Comparison, Experiment, Inputs, Results, Scale, Values
from rankwise_reproductions.outcome import number

N_SAMPLES, N_SELECTED, REPEATS = 100, 3, 50
VARIANCES = (0.0, 0.01, 0.1, 1.0, 10.0, 100.0)
LOW_NOISE = (0.0, 0.01, 0.1)
NAMES = ("x1", "x2", "x3")
#: our order of layers for the paper's architectures, and the numbers of features and of correct ones that it prints
ARCHITECTURES = {"bu": "O_Au", "ub": "O_Ab"}
PUBLISHED_SIZES = {"bu": (24, 12), "ub": (42, 22)}
PRINTED_TWICE = {"bu": 0, "ub": 2}
METHODS: dict[str, Callable[[int], Any]] = {
    "T0": lambda seed: ConcordanceSelector(N_SELECTED, two_sided=False, dedupe=False),
    "T0, one per rank class": lambda seed: ConcordanceSelector(N_SELECTED),
    "Pearson": lambda seed: ScoreSelector("pearson", k=N_SELECTED),
    "Kendall": lambda seed: ScoreSelector("kendall", k=N_SELECTED),
    "xi": lambda seed: ScoreSelector("xi", k=N_SELECTED),
    "stepwise": lambda seed: ScoreSelector("stepwise", k=N_SELECTED),
    "LASSO": lambda seed: ScoreSelector("lasso", k=N_SELECTED),
    "SCAD": lambda seed: ScoreSelector("scad", k=N_SELECTED),
    "BART": lambda seed: BARTSelector(k=N_SELECTED, n_repeats=1, random_state=seed),
}
PAPERS_METHODS = ("T0", "BART", "LASSO", "SCAD", "stepwise")
#: what the claims are about; the others are shown as well
NEEDED = ("T0", "T0, one per rank class", "Pearson", "stepwise", "LASSO", "BART")


def _cells(scale: Scale, inputs: Inputs) -> list[Cell]:
    repeats = {"full": REPEATS, "quick": 10, "check": 10}[scale]
    variances = VARIANCES if scale != "check" else (0.0, 0.1, 100.0)
    return [
        {"layers": layers, "variance": variance, "method": method, "seed": seed}
        for layers, variance, method, seed in product(ARCHITECTURES, variances, METHODS, range(repeats))
        if scale != "check" or (method in NEEDED and (variance in LOW_NOISE or method == "T0"))
    ]


def _compute(cell: Cell, inputs: Inputs) -> Values:
    _warm_up()
    noise = np.sqrt(cell["variance"])
    X, y, bunch = make_symbolic_regression(N_SAMPLES, noise=noise, random_state=cell["seed"])
    Z, names = _features(X, cell["layers"])
    correct = np.array(["x2" not in name for name in names])
    selector = METHODS[cell["method"]](cell["seed"])
    started = time.process_time()
    selector.fit(Z, y)
    seconds = time.process_time() - started
    support = selector.get_support()
    chosen = Z[:, support]
    fit = LinearRegression().fit(chosen, y).predict(chosen)
    values = {
        "inclusion": correct[support].mean(),
        "covered": all(any(variable in name for name in names[support]) for variable in ("x1", "x3")),
        "r2": 1 - np.mean((fit - bunch.signal) ** 2) / bunch.signal.var(),
        "precision": average_precision_score(correct, _scores(selector, Z, y)),
        "ms": 1e3 * seconds,
    }
    return {name: round(float(value), 4) for name, value in values.items()}


def _features(X: Any, layers: str) -> tuple[Any, Any]:
    """Values and names of all features of an architecture."""
    features: Any = SymbolicFeatures(layers)
    return features.fit_transform(X), features.get_feature_names_out(list(NAMES))


def _scores(selector: Any, Z: Any, y: Any) -> Any:
    """By which the columns are ordered, higher first."""
    if isinstance(selector, ConcordanceSelector):
        return -concordant_divergence(Z, y, two_sided=selector.two_sided)
    return selector.scores_


@cache
def _warm_up() -> None:
    """What is compiled or imported at the first call is not counted."""
    X, y, _ = make_symbolic_regression(N_SAMPLES, random_state=0)
    for name in ("T0", "T0, one per rank class", "LASSO"):
        METHODS[name](0).fit(X, y)


def _compare(results: Results) -> list[Comparison]:
    X, _, _ = make_symbolic_regression(N_SAMPLES, random_state=0)
    rows = []
    for layers, (published, published_correct) in PUBLISHED_SIZES.items():
        Z, names = _features(X, layers)
        correct = sum("x2" not in name for name in names)
        rows.append(
            Comparison(
                f"{ARCHITECTURES[layers]}: features",
                published,
                len(names),
                None,
                "agrees" if len(names) == published else "differs",
                "" if len(names) == published else "other expressions are counted as one",
            )
        )
        twice = published_correct != correct
        rows.append(
            Comparison(
                f"{ARCHITECTURES[layers]}: correct features (Table 2)",
                published_correct,
                correct,
                None,
                ("agrees after a correction" if published_correct - correct == PRINTED_TWICE[layers] else "differs")
                if twice
                else "agrees",
                "Table 2 prints x1^3 + x1^3 and x1^3 * x1^3 twice" if twice else "",
            )
        )
        rows.append(
            Comparison(
                f"{ARCHITECTURES[layers]}: rank classes",
                None,
                len(set(rank_classes(Z))),
                None,
                "not in the paper",
                "features that order the rows in the same way, or in reverse, are one to every measure of ranks",
            )
        )
    rows += [
        _inclusion_row(results, layers, method) for layers, method in product(ARCHITECTURES, results.settings("method"))
    ]
    rows += _speed_rows(results)
    return rows


def _speed_rows(results: Results) -> list[Comparison]:
    """How fast T0 and LASSO are among the methods of the paper, which has them in the first and second place."""
    times = {name: _milliseconds(results, name) for name in PAPERS_METHODS if name in results.settings("method")}
    order = sorted(times, key=lambda name: times[name])
    reasons = {
        "T0": "only our stepwise selection, compiled linear algebra on 24 or 42 columns, is faster",
        "LASSO": "its penalty is chosen by cross-validation, here by scikit-learn's coordinate descent and not glmnet",
    }
    return [
        Comparison(
            f"{name}: place by speed among the paper's methods",
            place,
            order.index(name) + 1,
            None,
            "agrees" if order.index(name) + 1 == place else "differs",
            f"{reasons[name]}; medians of the processor's milliseconds up to noise variance 0.1: {_times(results)}",
        )
        for name, place in (("T0", 1), ("LASSO", 2))
    ]


def _inclusion_row(results: Results, layers: str, method: str) -> Comparison:
    """What the paper says of a method in figure 6, at low noise, next to ours."""
    present = [name for name in PAPERS_METHODS if name in results.settings("method")]
    runs = {name: _low(results, name, layers) for name in {*present, method}}
    mean = {name: found.mean("inclusion") for name, found in runs.items()}
    others = [name for name in present if name not in ("T0", "BART", "LASSO")]
    said: dict[str, tuple[str, bool]] = {
        "T0": ("about 1", mean["T0"] > 0.95),
        "BART": ("about 1", mean[method] > 0.95),
        "LASSO": ("next to T0 and BART", mean["T0"] >= mean["LASSO"] > max(mean[name] for name in others)),
        "SCAD": ("surprisingly good", mean[method] > mean["stepwise"]),
        "stepwise": ("lowest", mean["stepwise"] < min(mean[name] for name in present if name != "stepwise")),
    }
    quantity = f"{ARCHITECTURES[layers]}, {method}: average inclusion probability up to noise variance 0.1"
    ours = mean[method], runs[method].error("inclusion")
    if method not in said:
        return Comparison(quantity, None, *ours, "not in the paper", "for comparison")
    published, agrees = said[method]
    order = ", ".join(f"{name} {mean[name]:.3f}" for name in sorted(present, key=lambda name: -mean[name]))
    reason = "" if agrees else f"the order of the methods is another here: {order}"
    return Comparison(quantity, published, *ours, "agrees" if agrees else "differs", reason)


def _mean(values: list[float]) -> float:
    return sum(values) / len(values)


def _low(results: Results, method: str, layers: str) -> Results:
    """Runs at the noise variances of figure 5."""
    return Results(
        [(cell, found) for cell, found in results.select(method=method, layers=layers) if cell["variance"] in LOW_NOISE]
    )


def _milliseconds(results: Results, method: str) -> float:
    return float(np.median([_low(results, method, layers).values("ms") for layers in ARCHITECTURES]))


def _times(results: Results) -> str:
    times = {method: _milliseconds(results, method) for method in results.settings("method")}
    return ", ".join(f"{method} {time:.1f}" for method, time in sorted(times.items(), key=lambda item: item[1]))


def _claims(results: Results) -> list[Claim]:
    low = {(m, layers): _low(results, m, layers) for m in results.settings("method") for layers in ARCHITECTURES}
    inclusion = {pair: runs.mean("inclusion") for pair, runs in low.items()}
    loud = max(results.settings("variance"))
    at = {
        layers: [results.select(method="T0", layers=layers, variance=v).mean("inclusion") for v in (0.0, loud)]
        for layers in ARCHITECTURES
    }
    both = {m: _mean([inclusion[m, layers] for layers in ARCHITECTURES]) for m in results.settings("method")}
    present = [m for m in PAPERS_METHODS if m in both]
    covered = {
        m: [low[m, layers].mean("covered") for layers in ARCHITECTURES] for m in ("T0", "T0, one per rank class")
    }
    r2 = {m: _mean([low[m, layers].mean("r2") for layers in ARCHITECTURES]) for m in covered}
    claims = [
        Claim(
            "T0 includes correct features almost always at low noise: AIP of at least 0.99 up to variance 0.1",
            all(inclusion["T0", layers] >= 0.99 for layers in ARCHITECTURES),
            ", ".join(f"{ARCHITECTURES[layers]} {inclusion['T0', layers]:.3f}" for layers in ARCHITECTURES),
        ),
        Claim(
            "At low noise LASSO is below T0, and stepwise selection is last of the paper's methods",
            both["T0"] > both["LASSO"] and both["stepwise"] == min(both[method] for method in present),
            ", ".join(f"{method} {both[method]:.3f}" for method in present),
        ),
        Claim(
            f"Inclusion falls with noise: T0 loses at least 0.1 by variance {loud:g}",
            all(quiet - noisy > 0.1 for quiet, noisy in at.values()),
            ", ".join(f"{ARCHITECTURES[name]}: {quiet:.2f} to {noisy:.2f}" for name, (quiet, noisy) in at.items()),
        ),
        Claim(
            "T0 takes a small part of the time of LASSO",
            _milliseconds(results, "T0") < 0.3 * _milliseconds(results, "LASSO"),
            f"median milliseconds: {_times(results)}",
        ),
        Claim(
            "Plain correlation includes as many correct features (not in the paper)",
            both["Pearson"] >= both["T0"] - 0.01,
            f"Pearson {both['Pearson']:.3f}, T0 {both['T0']:.3f}, up to variance 0.1",
        ),
        Claim(
            "Inclusion hides that the picks of T0 are often copies of one variable; one pick per rank class covers "
            "x1 and x3 (not in the paper)",
            min(covered["T0, one per rank class"]) > 0.95 and _mean(covered["T0"]) < 0.7,
            "runs that pick both, with one pick per class and without: "
            + "; ".join(
                f"{name} {one:.2f} and {free:.2f}"
                for name, one, free in zip(
                    ARCHITECTURES.values(), covered["T0, one per rank class"], covered["T0"], strict=True
                )
            )
            + f"; R2 of least squares on the picks {r2['T0, one per rank class']:.2f} and {r2['T0']:.2f}",
        ),
    ]
    if "BART" in both:
        quiet, noisy = (
            results.select(method="BART", variance=v).mean("precision") for v in (0.0, max(v for v in LOW_NOISE))
        )
        claims += [
            Claim(
                "Figure 5: the average precision of BART is higher for O_Au, binary operators first, than for O_Ab",
                low["BART", "bu"].mean("precision") > low["BART", "ub"].mean("precision"),
                ", ".join(
                    f"{name} {number(runs.mean('precision'), runs.error('precision'))}"
                    for layers, name in ARCHITECTURES.items()
                    for runs in [low["BART", layers]]
                ),
            ),
            Claim(
                "BART includes correct features almost always at low noise", both["BART"] > 0.95, f"{both['BART']:.3f}"
            ),
            Claim(
                "Figure 5: the average precision of BART falls with noise",
                quiet > noisy,
                f"{quiet:.3f} without, {noisy:.3f} at variance 0.1",
            ),
        ]
    return claims


def _draw_inclusion(results: Results, figure: Any) -> None:
    figure.set_size_inches(9.5, 4)
    _draw(results, figure, "inclusion", "average inclusion probability")


def _draw_coverage(results: Results, figure: Any) -> None:
    figure.set_size_inches(9.5, 4)
    _draw(results, figure, "covered", "share of runs that pick x1 and x3")


def _draw_precision(results: Results, figure: Any) -> None:
    figure.set_size_inches(9.5, 4)
    _draw(results, figure, "precision", "average precision")


def _draw(results: Results, figure: Any, what: str, label: str) -> None:
    axes = figure.subplots(1, 2, sharey=True)
    variances, methods = results.settings("variance"), results.settings("method")
    for ax, layers in zip(axes, ARCHITECTURES, strict=True):
        for place, method in enumerate(methods):
            color, marker = SERIES[place % len(SERIES)]
            found = [results.select(layers=layers, variance=v, method=method).mean(what) for v in variances]
            again = place >= len(SERIES)  # colors come a second time, dotted and hollow
            style, inside = (":", "white") if again else ("-", color)
            ax.plot(
                range(len(variances)), found, style, color=color, marker=marker, mfc=inside, ms=4, lw=1, label=method
            )
        ax.set_xticks(range(len(variances)), [f"{v:g}" for v in variances])
        ax.set_ylim(-0.03, 1.03)
        ax.set_title(f"{ARCHITECTURES[layers]} ({PUBLISHED_SIZES[layers][0]} features)", fontsize=9)
        tidy(ax, x="noise variance", y=label if ax is axes[0] else None)
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside right upper", fontsize=8, frameon=False)


EXPERIMENTS = (
    Experiment(
        id="tree-ranking/figures-5-6",
        title="Figures 5 and 6: three of the symbolic features of a cubic law, by several methods",
        about=(
            "y = 2 x1^3 + 5 x3 + 10 plus noise, x uniform on the unit cube, 100 rows. From the features of two "
            "layers of operators ({id, cube} and {+, *}; O_Au has the binary layer first, O_Ab the unary one) each "
            "method picks three. A feature is correct if x2 is not in it; the average inclusion probability (AIP) "
            "is the share of correct picks. Figure 5 of the paper has areas below precision-recall curves of BART, "
            "by a procedure with random scores; we show the average precision of every method's scores.\n\n"
            "SCAD needs skglm (pip install 'rankwise[symbolic]'), BART stochtree ('rankwise[bart]'); without them they "
            "are left out. The full scale takes about six minutes, most of them for LASSO under strong noise."
        ),
        cells=_cells,
        compute=_compute,
        compare=_compare,
        claims=_claims,
        timings=("ms",),
        pictures={"inclusion": _draw_inclusion, "coverage": _draw_coverage, "precision": _draw_precision},
    ),
)
