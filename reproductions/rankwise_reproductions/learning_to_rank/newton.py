"""Appendix A of Stratos' notes: boosting by Newton steps against boosting by gradient steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from rankwise.datasets import make_retrieval
from rankwise.ltr import lambda_gradients
from rankwise.trees import LeastSquaresTree
from rankwise_reproductions.drawing import NUMBER_SIZE, SERIES, tidy
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
from rankwise_reproductions.learning_to_rank.common import falls, pairs, verdict

ITERATIONS = 30
#: sizes of gradient steps, as multiples of one over the mean hessian at the start
STEPS = {"gradient, step 1/2": 0.5, "gradient, step 1": 1.0, "gradient, step 2": 2.0, "gradient, step 4": 4.0}
METHODS = ("Newton", *STEPS, "gradient, line search", "gradient, Newton leaves")
#: the example of least squares, with the leaf values of the formula that it is an example of, and as printed
SQUARES = ("least squares, mean of the leaf", "least squares, sum of the leaf")


def _cells(scale: Scale, inputs: Inputs) -> list[Cell]:
    queries, seeds = {"full": (300, 10), "quick": (100, 5), "check": (100, 2)}[scale]
    return [
        {"method": name, "queries": queries, "seed": seed} for name in (*METHODS, *SQUARES) for seed in range(seeds)
    ]


def _compute(cell: Cell, inputs: Inputs) -> Values:
    X, y, qid, _ = make_retrieval(cell["queries"], random_state=cell["seed"])
    if cell["method"] in SQUARES:
        return {"squared error": _one_tree_of_squares(X, y.astype(float), by_sum=cell["method"] == SQUARES[1])}
    winners, losers = pairs(y, qid)
    score = np.zeros(len(y))

    def loss(at: FloatArray) -> float:
        return float(np.logaddexp(0, at[losers] - at[winners]).mean())

    values: Values = {"loss": [loss(score)]}
    step = 0.0
    for _ in range(ITERATIONS):
        gradient, hessian = lambda_gradients(y, score, qid, weight="none")
        known = hessian > 0  # a query of one grade has no pairs
        step = step or STEPS.get(cell["method"], 1.0) / float(hessian[known].mean())
        if cell["method"] == "Newton":
            tree = _tree().fit(X[known], -gradient[known] / hessian[known], sample_weight=hessian[known])
            direction = tree.predict(X)
            newton = _newton_leaves(tree, X, gradient, hessian)
            difference = float(np.abs(direction - newton).max())
            values["leaf difference"] = max(values.get("leaf difference", 0.0), difference)
            values.setdefault("negative slopes", float(np.mean(gradient[known] < 0)))
        else:
            tree = _tree().fit(X[known], -gradient[known])
            if cell["method"] == "gradient, Newton leaves":
                direction = _newton_leaves(tree, X, gradient, hessian)
            elif cell["method"] == "gradient, line search":
                direction = tree.predict(X)
                direction = _best_step(loss, score, direction) * direction
            else:
                direction = step * tree.predict(X)
        score = score + direction
        values["loss"].append(loss(score))
    return values


def _tree() -> Any:
    return LeastSquaresTree(max_depth=4, min_samples_leaf=20)


def _newton_leaves(tree: Any, X: FloatArray, gradient: FloatArray, hessian: FloatArray) -> FloatArray:
    """Minus the sum of the first derivatives over that of the second, leaf by leaf."""
    leaf = tree.tree_.leaf_of(X)
    return np.asarray((-np.bincount(leaf, gradient) / np.bincount(leaf, hessian))[leaf])


def _best_step(loss: Callable[[FloatArray], float], score: FloatArray, direction: FloatArray) -> float:
    from scipy.optimize import minimize_scalar

    return float(minimize_scalar(lambda size: loss(score + size * direction), bounds=(0, 10), method="bounded").x)


def _one_tree_of_squares(X: FloatArray, y: FloatArray, by_sum: bool) -> float:
    """Mean squared error after the first tree."""
    tree = _tree().fit(X, y)
    leaf = tree.tree_.leaf_of(X)
    return float(np.mean((y - (np.bincount(leaf, y)[leaf] if by_sum else tree.predict(X))) ** 2))


def _last(results: Results, method: str) -> FloatArray:
    return np.array([values["loss"][-1] for _, values in results.select(method=method)])


def _best_fixed(results: Results) -> str:
    return min(STEPS, key=lambda name: _last(results, name).mean())


def _gap(results: Results, method: str) -> tuple[float, float]:
    """By how much the loss of Newton steps is above that of another method, and the standard error over data sets."""
    gaps = _last(results, "Newton") - _last(results, method)
    return float(gaps.mean()), float(gaps.std(ddof=1) / np.sqrt(len(gaps)))


def _compare(results: Results) -> list[Comparison]:
    rows = []
    for name in METHODS:
        final = _last(results, name)
        error = float(final.std(ddof=1) / np.sqrt(len(final)))
        why = "the notes have no experiments"
        quantity = f"{name}: training loss per pair after {ITERATIONS} trees"
        rows.append(Comparison(quantity, None, float(final.mean()), error, "not in the paper", why))
    for name in (_best_fixed(results), "gradient, line search"):
        gap, error = _gap(results, name)
        lower = falls(gap, error)
        why = "" if lower else "the search evaluates the loss many times, and finds better steps"
        quantity = f"Newton minus {name}: training loss per pair, data set by data set"
        rows.append(Comparison(quantity, "Newton preferred", gap, error, verdict(lower), why))
    newton = results.select(method="Newton")
    apart = float(newton.values("leaf difference").max())
    mean, printed = (results.select(method=name) for name in SQUARES)
    sums_lose = bool((mean.values("squared error") < printed.values("squared error")).all())
    negative = newton.mean("negative slopes")
    rows += [
        Comparison(
            "leaves of the weighted tree and Newton steps: largest difference",
            "0: they are the same",
            apart,
            None,
            "agrees" if apart < 1e-8 else "differs",
            "" if apart < 1e-8 else "more than rounding",
        ),
        Comparison(
            "least squares (A.2): mean squared error after the first tree, leaf value as printed, a sum of residuals",
            "the least one",
            printed.mean("squared error"),
            printed.error("squared error"),
            "differs" if sums_lose else "agrees",
            "minus the sum of first over the sum of second derivatives is the mean",
        ),
        Comparison(
            "least squares (A.2): the same with the mean of the residuals",
            "the least one",
            mean.mean("squared error"),
            mean.error("squared error"),
            "agrees after a correction" if sums_lose else "differs",
            "a mean instead of the sum",
        ),
        Comparison(
            "shared parameters (A.4): share of the weights l'_j of the tree, as printed, that are negative",
            "0: weights of least squares",
            negative,
            newton.error("negative slopes"),
            "differs" if negative > 0 else "agrees",
            "the weights are the second derivatives l''_j, as in equation 16 and in the example that follows; with "
            "them leaves are Newton steps, see above",
        ),
    ]
    return rows


def _claims(results: Results) -> list[Claim]:
    final = {name: _last(results, name) for name in METHODS}
    best = _best_fixed(results)
    drops = np.diff([values["loss"] for _, values in results.select(method="Newton")], axis=1)
    gap, error = _gap(results, "gradient, line search")
    difference = results.select(method="Newton").values("leaf difference").max()
    mean, printed = (results.select(method=name).values("squared error") for name in SQUARES)
    squares = f"mean squared error after one tree {mean.mean():.3f} with means, {printed.mean():.0f} with sums"
    negative = results.select(method="Newton").mean("negative slopes")
    return [
        Claim(
            "A tree fitted by least squares to -lambda/rho with weights rho has the Newton steps in its leaves "
            "(section 2.2)",
            bool(difference < 1e-8),
            f"largest difference {difference:.1e}",
        ),
        Claim(
            "Newton boosting needs no line search: whole steps lower the training loss at every iteration",
            bool((drops < 0).all()),
            f"{drops.size} iterations, the smallest fall {-drops.max():.2g}",
            of="rankwise",
        ),
        Claim(
            "Newton boosting is preferred (A.3): after the same number of trees its training loss is below that of "
            "gradient steps of any fixed size",
            bool((final["Newton"] < np.min([final[name] for name in STEPS], axis=0)).all()),
            f"{final['Newton'].mean():.3f} against {final[best].mean():.3f} for the best size ({best})",
        ),
        Claim(
            "Newton boosting is preferred (A.3): after the same number of trees its training loss is below that of "
            "gradient steps with a line search",
            falls(gap, error),
            f"loss of Newton steps minus theirs: {gap:+.4f} +- {error:.4f}, data set by data set",
            known="the line search evaluates the loss many times for each tree, and finds better steps",
        ),
        Claim(
            "The leaf value of boosted least squares is the sum of the residuals (A.2)",
            bool((printed <= mean).all()),
            squares,
            known="minus the sum of first derivatives over that of second ones is the mean of the residuals",
        ),
        Claim(
            "The leaf value of boosted least squares is the mean of the residuals",
            bool((printed > 10 * mean).all()),
            squares,
            of="rankwise",
        ),
        Claim(
            "The shared tree is fitted by least squares with the first derivatives as weights (A.4)",
            bool(negative == 0),
            f"{negative:.0%} of them are negative",
            known="the weights are the second derivatives, as in equation 16 and in the example below it",
        ),
    ]


def _draw(results: Results, figure: Any) -> None:
    ax = figure.subplots()
    for (color, _), name in zip(SERIES, METHODS, strict=True):
        losses = np.array([values["loss"] for _, values in results.select(method=name)]).mean(axis=0)
        ax.plot(losses, color=color, label=name, lw=2.5 if name == "Newton" else 1.2, ls=":" if name in STEPS else "-")
    ax.set_yscale("log")
    tidy(ax, x="trees", y="training loss per pair")
    ax.tick_params(which="minor", labelsize=NUMBER_SIZE)  # within one decade minor ticks have the labels
    ax.legend(fontsize=8, frameon=False)


EXPERIMENTS = (
    Experiment(
        id="learning-to-rank/newton",
        title="Appendix A: Newton boosting against gradient boosting",
        about=(
            "The pairwise logistic loss (equation 9, all weights 1) is boosted with trees of depth 4. Newton boosting "
            "fits each tree to -lambda/rho with weights rho and takes the whole step; gradient boosting fits it to "
            "-lambda and takes a step of fixed size, or of the size that a line search finds, or gives the leaves of "
            "that tree Newton's values. Shown is the training loss by the number of trees, without shrinkage, as the "
            "notes write the algorithm.\n\n"
            "Two formulas of the appendix are corrected: the leaf value of the least squares example (a mean, printed "
            "as a sum) and the weights of the shared tree in A.4 (second derivatives, printed as first ones). Full "
            "scale: 300 queries, 10 data sets, some minutes."
        ),
        cells=_cells,
        compute=_compute,
        compare=_compare,
        claims=_claims,
        pictures={"loss": _draw},
    ),
)
