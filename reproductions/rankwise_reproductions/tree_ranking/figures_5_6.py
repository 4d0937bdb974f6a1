"""Figures 5 and 6 of Luo and Li: three of the features of y = 2 x1^3 + 5 x3 + 10, by several methods."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import cache
from itertools import product
from typing import Any

import numpy as np
from sklearn.linear_model import LinearRegression
from sklearn.metrics import auc, average_precision_score, precision_recall_curve

from rankwise.datasets import make_symbolic_regression
from rankwise.screening import (
    BARTSelector,
    ConcordanceSelector,
    ScoreSelector,
    SymbolicFeatures,
    concordant_divergence,
    rank_classes,
    score_selector,
)
from rankwise.screening.concordance import Target, score_columns
from rankwise_reproductions.drawing import BLUE, GREY, ORANGE, SERIES, tidy
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
#: those whose areas below curves are shown by the paper's procedure: its own, and T0 beside it
CURVES = ("BART", "T0")
#: methods that are timed without checks of their input, and calls of each
BARE, N_CALLS = ("T0", "stepwise"), 300
#: what the claims are about; the others are shown as well
NEEDED = ("T0", "T0, one per rank class", "Pearson", "stepwise", "LASSO", "BART")


def _cells(scale: Scale, inputs: Inputs) -> list[Cell]:
    repeats = {"full": REPEATS, "quick": 10, "check": 10}[scale]
    variances = VARIANCES if scale != "check" else (0.0, 0.1, 100.0)
    curves = [
        {"layers": layers, "variance": variance, "curve": method, "seed": seed}
        for layers, variance, method, seed in product(ARCHITECTURES, LOW_NOISE, CURVES, range(repeats))
        if scale != "check" or variance in variances
    ]
    bare = [
        {"layers": layers, "bare": method, "seed": seed}
        for layers, method, seed in product(ARCHITECTURES, BARE, range({"full": 10, "quick": 5, "check": 2}[scale]))
    ]
    return [
        {"layers": layers, "variance": variance, "method": method, "seed": seed}
        for layers, variance, method, seed in product(ARCHITECTURES, variances, METHODS, range(repeats))
        if scale != "check" or (method in NEEDED and (variance in LOW_NOISE or method == "T0"))
    ] + [*curves, *bare]


def _compute(cell: Cell, inputs: Inputs) -> Values:
    _warm_up()
    noise = np.sqrt(cell.get("variance", 0.1))
    X, y, bunch = make_symbolic_regression(N_SAMPLES, noise=noise, random_state=cell["seed"])
    Z, names = _features(X, cell["layers"])
    correct = np.array(["x2" not in name for name in names])
    if "bare" in cell:
        return {"bare ms": _bare_milliseconds(cell["bare"], Z, y)}
    if "curve" in cell:
        selector = METHODS[cell["curve"]](cell["seed"]).fit(Z, y)
        chosen = np.argsort(-_scores(selector, Z, y), kind="stable")[:N_SELECTED]
        return _curve_of_the_paper(correct, chosen, cell["seed"])
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


def _curve_of_the_paper(correct: Any, chosen: Any, seed: int) -> Values:
    """Section 6.1: random scores, the highest of which go to the selected features; the area is by trapezoids."""
    scores = np.random.default_rng(seed).random(len(correct))
    highest = np.argsort(-scores)[: len(chosen)]
    others = np.setdiff1d(np.arange(len(correct)), chosen)
    rest = np.setdiff1d(np.arange(len(correct)), highest)
    given = np.empty(len(correct))
    given[chosen], given[others] = scores[highest], scores[rest]
    precision, recall, _ = precision_recall_curve(correct, given)
    return {"area": round(float(auc(recall, precision)), 4), "labels": correct[np.argsort(-given)].astype(int).tolist()}


def _bare_milliseconds(method: str, Z: Any, y: Any) -> float:
    """Processor time of a selection without checks of its input, and without what T0 prepares for rank classes."""
    target = Target.of(y)

    def select() -> Any:
        if method == "T0":
            return np.argsort(-score_columns(Z, target).covariation)[:N_SELECTED]
        return np.argsort(-score_selector._stepwise(Z, y, N_SELECTED))[:N_SELECTED]

    select()
    started = time.process_time()
    for _ in range(N_CALLS):
        select()
    return round(1e3 * (time.process_time() - started) / N_CALLS, 5)


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
    return rows + _area_rows(results) + _hidden_rows(results) + _speed_rows(results)


def _speed_rows(results: Results) -> list[Comparison]:
    """How fast T0 and LASSO are among the methods of the paper, which has them in the first and second place."""
    bare = {name: _bare(results, name) for name in BARE}
    times = {name: _milliseconds(results, name) for name in PAPERS_METHODS if name in results.settings("method")}
    order = sorted(times, key=lambda name: times[name])
    first = 1 + (bare["stepwise"] < bare["T0"])
    return [
        Comparison(
            "T0: place by speed among the paper's methods, without checks of the input",
            1,
            first,
            None,
            "agrees" if first == 1 else "differs",
            f"T0 {bare['T0']:.3f} ms, stepwise {bare['stepwise']:.3f} ms, the others above 5 ms; with our checks of "
            f"the input, which take longer than either, {_times(results)}",
        ),
        Comparison(
            "LASSO: place by speed among the paper's methods",
            2,
            order.index("LASSO") + 1,
            None,
            "agrees" if order.index("LASSO") == 1 else "differs",
            "its penalty is chosen by cross-validation, here by scikit-learn's coordinate descent and not glmnet; "
            f"medians of the processor's milliseconds up to noise variance 0.1: {_times(results)}",
        ),
    ]


def _bare(results: Results, method: str) -> float:
    return float(np.median(results.select(bare=method).values("bare ms")))


def _area_rows(results: Results) -> list[Comparison]:
    """Figure 5 by the paper's procedure, and ours beside it."""
    rows = []
    for layers, method in product(ARCHITECTURES, CURVES):
        found = [results.select(layers=layers, curve=method, variance=v) for v in results.settings("variance")]
        texts = [number(one.mean("area"), one.error("area")) for one in found if len(one)]
        name = f"{ARCHITECTURES[layers]}, {method}: area below the precision-recall curve, paper's procedure"
        rows.append(
            Comparison(
                f"{name}, at noise variance {', '.join(f'{v:g}' for v in LOW_NOISE)}",
                "falls with noise (only a picture)" if method == "BART" else None,
                ", ".join(texts),
                None,
                "not in the paper" if method != "BART" else "agrees" if _falls(results, layers) else "differs",
                "three picks lie on top, and 21 or 39 features are in random order: with three correct picks the "
                "expected area is the same at every noise",
            )
        )
    return rows


def _falls(results: Results, layers: str) -> bool:
    """Whether the area falls from the lowest to the highest noise of figure 5, by more than two standard errors."""
    quiet, noisy = (results.select(layers=layers, curve="BART", variance=v) for v in (LOW_NOISE[0], LOW_NOISE[-1]))
    error = np.hypot(quiet.error("area"), noisy.error("area"))
    return quiet.mean("area") - noisy.mean("area") > 2 * error


def _hidden_rows(results: Results) -> list[Comparison]:
    """R2 of least squares on the three picks, which inclusion does not show."""
    return [
        Comparison(
            f"{ARCHITECTURES[layers]}, {method}: R2 of least squares on the three picks, up to noise variance 0.1",
            None,
            runs.mean("r2"),
            runs.error("r2"),
            "not in the paper",
            "what average inclusion hides: correct picks may be copies of one variable",
        )
        for layers, method in product(ARCHITECTURES, results.settings("method"))
        for runs in [_low(results, method, layers)]
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
    order = ", ".join(f"{method} {both[method]:.3f}" for method in sorted(present, key=lambda m: -both[m]))
    bare = {name: _bare(results, name) for name in BARE}
    claims = [
        Claim(
            "T0 includes correct features almost always at low noise: AIP of at least 0.99 up to variance 0.1",
            all(inclusion["T0", layers] >= 0.99 for layers in ARCHITECTURES),
            ", ".join(f"{ARCHITECTURES[layers]} {inclusion['T0', layers]:.3f}" for layers in ARCHITECTURES),
        ),
        Claim(
            "At low noise stepwise selection is last of the paper's methods",
            both["stepwise"] == min(both[method] for method in present),
            order,
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
            "T0 is the fastest of the methods",
            bare["T0"] < min(bare["stepwise"], *(_milliseconds(results, m) for m in present if m not in BARE)),
            f"without checks of the input T0 takes {bare['T0']:.3f} ms, stepwise selection {bare['stepwise']:.3f} ms; "
            "the others take longer than their checks",
        ),
    ]
    if "BART" in both:
        claims += _claims_of_bart(results, low, both, order)
    return claims + _own_claims(low, both)


def _claims_of_bart(results: Results, low: dict[Any, Results], both: dict[str, float], order: str) -> list[Claim]:
    areas = {layers: _low_curves(results, layers) for layers in ARCHITECTURES}
    texts = [
        f"{name} "
        + ", ".join(f"{results.select(curve='BART', layers=layers, variance=v).mean('area'):.3f}" for v in quiet)
        for layers, name in ARCHITECTURES.items()
        for quiet in [areas[layers].settings("variance")]
    ]
    quiet, noisy = (results.select(method="BART", variance=v).mean("precision") for v in (LOW_NOISE[0], LOW_NOISE[-1]))
    claims = [
        Claim("BART includes correct features almost always at low noise", both["BART"] > 0.95, f"{both['BART']:.3f}"),
        Claim(
            "Figure 5: the area below the precision-recall curve is higher for O_Au than for O_Ab",
            areas["bu"].mean("area") > areas["ub"].mean("area"),
            "; ".join(texts),
        ),
        Claim(
            "Figure 5: the area below the precision-recall curve falls with noise",
            all(_falls(results, layers) for layers in ARCHITECTURES),
            f"{'; '.join(texts)} (noise variance from low to high)",
            known="almost all picks are correct at these variances, and the rest of the scores is random",
        ),
        Claim(
            "By the average precision of its inclusion proportions BART is better for O_Au than for O_Ab, and falls "
            "with noise",
            low["BART", "bu"].mean("precision") > low["BART", "ub"].mean("precision") and quiet > noisy,
            ", ".join(
                f"{name} {number(runs.mean('precision'), runs.error('precision'))}"
                for layers, name in ARCHITECTURES.items()
                for runs in [low["BART", layers]]
            )
            + f"; {quiet:.3f} without noise, {noisy:.3f} at variance {LOW_NOISE[-1]}",
            of="rankwise",
        ),
    ]
    if "SCAD" in both:
        claims += [
            Claim(
                "T0 and BART are followed by LASSO",
                min(both["T0"], both["BART"]) >= both["LASSO"] > max(both["SCAD"], both["stepwise"]),
                order,
                known="SCAD comes between BART and LASSO; a guess: skglm's SCAD is not that of the paper's R package",
            ),
            Claim(
                "LASSO is the second fastest of the methods",
                sorted(_milliseconds(results, m) for m in PAPERS_METHODS)[1] == _milliseconds(results, "LASSO"),
                _times(results),
                known="a guess: scikit-learn's cross-validation, which chooses its penalty; glmnet was not tried",
            ),
        ]
    return claims


def _low_curves(results: Results, layers: str) -> Results:
    return results.select(curve="BART", layers=layers)


def _own_claims(low: dict[Any, Results], both: dict[str, float]) -> list[Claim]:
    covered = {
        m: [low[m, layers].mean("covered") for layers in ARCHITECTURES] for m in ("T0", "T0, one per rank class")
    }
    r2 = {
        m: _mean([low[m, layers].mean("r2") for layers in ARCHITECTURES])
        for m in ("T0", "T0, one per rank class", "LASSO", "stepwise")
    }
    return [
        Claim(
            "Plain correlation includes as many correct features",
            both["Pearson"] >= both["T0"] - 0.01,
            f"Pearson {both['Pearson']:.3f}, T0 {both['T0']:.3f}, up to variance 0.1",
            of="rankwise",
        ),
        Claim(
            "Inclusion hides that the picks of T0 are often copies of one variable; one pick per rank class covers "
            "x1 and x3",
            min(covered["T0, one per rank class"]) > 0.95 and _mean(covered["T0"]) < 0.7,
            "runs that pick both, with one pick per class and without: "
            + "; ".join(
                f"{name} {one:.2f} and {free:.2f}"
                for name, one, free in zip(
                    ARCHITECTURES.values(), covered["T0, one per rank class"], covered["T0"], strict=True
                )
            ),
            of="rankwise",
        ),
        Claim(
            "Inclusion hides that the picks of LASSO and stepwise selection explain more than those of T0",
            min(r2["LASSO"], r2["stepwise"]) > r2["T0, one per rank class"] > r2["T0"],
            "R2 of least squares on the picks: " + ", ".join(f"{method} {value:.3f}" for method, value in r2.items()),
            of="rankwise",
        ),
    ]


def _draw_inclusion(results: Results, figure: Any) -> None:
    figure.set_size_inches(9.5, 4)
    _draw(results, figure, "inclusion", "average inclusion probability")


def _draw_coverage(results: Results, figure: Any) -> None:
    figure.set_size_inches(9.5, 4)
    _draw(results, figure, "covered", "share of runs that pick x1 and x3")


def _draw_precision(results: Results, figure: Any) -> None:
    figure.set_size_inches(9.5, 4)
    _draw(results, figure, "precision", "average precision")


def _draw_curves(results: Results, figure: Any) -> None:
    """As figure 5 of the paper: the curves of all repeats, and a box plot of the areas."""
    variances = results.select(curve="BART").settings("variance")
    figure.set_size_inches(2.4 * (len(variances) + 1), 4.6)
    axes = figure.subplots(len(ARCHITECTURES), len(variances) + 1)
    for row, (layers, name) in zip(axes, ARCHITECTURES.items(), strict=True):
        for ax, variance in zip(row, variances, strict=False):
            found = results.select(curve="BART", layers=layers, variance=variance)
            for _, values in found:
                labels = np.array(values["labels"])
                hits = np.cumsum(labels)
                recall, precision = hits / hits[-1], hits / np.arange(1, len(labels) + 1)
                ax.plot(recall, precision, color=BLUE, lw=0.5, alpha=0.25)
            ax.axhline(labels.mean(), color=GREY, ls=":", lw=1)
            ax.set(xlim=(0, 1), ylim=(0, 1.03))
            ax.set_title(f"{name}, noise variance {variance:g}: {found.mean('area'):.3f}", fontsize=8)
            tidy(ax, x="recall" if ax in axes[-1] else None, y="precision" if ax is row[0] else None)
        areas = [results.select(curve="BART", layers=layers, variance=v).values("area") for v in variances]
        row[-1].boxplot(areas, widths=0.5, medianprops={"color": ORANGE})
        row[-1].set_xticks(range(1, len(variances) + 1), [f"{v:g}" for v in variances])
        row[-1].set_title(f"{name}: areas", fontsize=8)
        tidy(row[-1], x="noise variance" if row is axes[-1] else None)


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
            "is the share of correct picks. Figure 5 of the paper has areas below precision-recall curves of BART: "
            "features get random scores, and the three picks the highest of them. We follow this procedure, and show "
            "beside it the average precision of every method's own scores, which needs no random ones.\n\n"
            "SCAD needs skglm (pip install 'rankwise[symbolic]'), BART stochtree ('rankwise[bart]'); without them they "
            "are left out. The full scale takes about six minutes, most of them for LASSO under strong noise."
        ),
        cells=_cells,
        compute=_compute,
        compare=_compare,
        claims=_claims,
        timings=("ms", "bare ms"),
        pictures={
            "inclusion": _draw_inclusion,
            "coverage": _draw_coverage,
            "precision": _draw_precision,
            "curves": _draw_curves,
        },
    ),
)
