"""Section 2.3 of Stratos' notes: what happens to the loss when NDCG weights are refreshed."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import expit

from rankwise.datasets import make_retrieval
from rankwise.ltr import lambda_gradients
from rankwise.metrics import ndcg_score
from rankwise.trees import LeastSquaresTree
from rankwise_reproductions.drawing import BLUE, GREEN, GREY, ORANGE, tidy
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

#: learner -> steps of L-BFGS between two refreshes; trees are refreshed after each one
LEARNERS = {"linear, one step": 1, "linear, to the minimum": 200, "boosted trees": 1}
ROUNDS = 15

_RATE, _PENALTY = 0.3, 1e-4


def _cells(scale: Scale, inputs: Inputs) -> list[Cell]:
    queries, seeds = {"full": (500, 10), "quick": (200, 5), "check": (100, 3)}[scale]
    linear = 20 if scale == "full" else seeds  # quick to compute, and with changes near 0
    return [
        {"learner": name, "queries": queries, "seed": seed}
        for name in LEARNERS
        for seed in range(seeds if name == "boosted trees" else linear)
    ]


class NDCGWeightedLoss:
    """The logistic loss of all pairs, each weighted by what exchanging its documents would change in NDCG.

    The weights are those of the last refresh, not of the scores at which the loss is taken. NDCG has linear gains, as
    in the notes (equation 3).
    """

    def __init__(self, y: Any, qid: Any) -> None:
        self._qid, self._n_queries = qid, len(np.unique(qid))
        self._more, self._less = pairs(y, qid)
        ideal = np.zeros(len(y))
        for query in np.unique(qid):
            rows = qid == query
            ideal[rows] = np.sort(y[rows])[::-1] @ _discount(np.arange(np.sum(rows)))
        self._gain = (y[self._more] - y[self._less]) / ideal[self._more]
        self.refresh(np.zeros(len(y)))

    def refresh(self, score: FloatArray) -> None:
        """Weigh the pairs by the ranking that the scores give."""
        order = np.lexsort((-score, self._qid))
        first = np.searchsorted(self._qid[order], self._qid[order])
        discount = np.empty(len(score))
        discount[order] = _discount(np.arange(len(score)) - first)
        self._weight = self._gain * abs(discount[self._more] - discount[self._less])

    def total_weight(self) -> float:
        """Sum of the weights over the number of queries."""
        return float(self._weight.sum() / self._n_queries)

    def value_and_gradient(self, score: FloatArray) -> tuple[float, FloatArray]:
        """Mean over queries, and its gradient."""
        gap = score[self._more] - score[self._less]
        gradient = -self._weight * expit(-gap) / self._n_queries
        up, down = (np.bincount(rows, gradient, len(score)).astype(float) for rows in (self._more, self._less))
        return float(self._weight @ np.logaddexp(0, -gap) / self._n_queries), up - down


def _discount(place: Any) -> FloatArray:
    return np.asarray(1 / np.log2(place + 2.0))


def _compute(cell: Cell, inputs: Inputs) -> Values:
    X, y, qid, _ = make_retrieval(cell["queries"], random_state=cell["seed"])
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    loss, score, beta = NDCGWeightedLoss(y, qid), np.zeros(len(y)), np.zeros(Z.shape[1])
    values: Values = {name: [] for name in ("before", "after", "weight before", "weight after")}
    values["start"] = loss.value_and_gradient(score)[0]
    values["ndcg"] = [_ndcg(y, qid, score)]
    for _ in range(ROUNDS):
        if cell["learner"] == "boosted trees":
            score = score + _RATE * _newton_tree(Z, y, qid, score)
        else:
            beta = _descend(loss, Z, beta, LEARNERS[cell["learner"]])
            score = Z @ beta
        for when in ("before", "after"):
            if when == "after":
                loss.refresh(score)
            values[when].append(loss.value_and_gradient(score)[0])
            values[f"weight {when}"].append(loss.total_weight())
        values["ndcg"].append(_ndcg(y, qid, score))
    return values


def _ndcg(y: Any, qid: Any, score: FloatArray) -> float:
    return float(ndcg_score(y, score, qid, gain="linear"))


def _descend(loss: NDCGWeightedLoss, Z: FloatArray, start: FloatArray, steps: int) -> FloatArray:
    """Weights of the features after some steps of L-BFGS on the loss with its weights as they are."""
    from scipy.optimize import minimize

    def objective(beta: FloatArray) -> tuple[float, FloatArray]:
        value, gradient = loss.value_and_gradient(Z @ beta)
        return float(value + _PENALTY * beta @ beta / 2), Z.T @ gradient + _PENALTY * beta

    return np.asarray(minimize(objective, start, jac=True, method="L-BFGS-B", options={"maxiter": steps}).x)


def _newton_tree(Z: FloatArray, y: Any, qid: Any, score: FloatArray) -> FloatArray:
    """What one tree of LambdaMART would add to the scores."""
    gradient, hessian = lambda_gradients(y, score, qid, gain="linear", random_state=0)
    known = hessian > 0
    tree = LeastSquaresTree(max_depth=4, min_samples_leaf=20)
    tree.fit(Z[known], -gradient[known] / hessian[known], sample_weight=hessian[known])
    return np.asarray(tree.predict(Z))


def _changes(results: Results) -> FloatArray:
    """By what share each refresh changes the loss; one row per run."""
    before, after = results.values("before"), results.values("after")
    return np.asarray(after / before - 1)


def _changes_per_weight(results: Results) -> FloatArray:
    """The same for the loss over the sum of the weights."""
    before = results.values("before") / results.values("weight before")
    after = results.values("after") / results.values("weight after")
    return np.asarray(after / before - 1)


def _compare(results: Results) -> list[Comparison]:
    rows = []
    for name in LEARNERS:
        found = results.select(learner=name)
        first, later = _changes(found)[:, 0], np.mean(_changes(found)[:, 1:] < 0, axis=1)
        per_weight = _changes_per_weight(found)[:, 0]
        fell, fell_per_weight = (falls(float(one.mean()), _error(one)) for one in (first, per_weight))
        most = falls(0.5 - float(later.mean()), _error(later))
        rows += [
            Comparison(
                f"{name}: change of the loss by the first refresh, as a share",
                "a fall",
                float(first.mean()),
                _error(first),
                verdict(fell),
                "" if fell else "the sum of the weights grows as the ranking improves",
            ),
            Comparison(
                f"{name}: change of the loss per weight by the first refresh, as a share",
                "a fall",
                float(per_weight.mean()),
                _error(per_weight),
                verdict(fell_per_weight, "agrees after a correction"),
                "the loss over the sum of the weights, instead of the loss",
            ),
            Comparison(
                f"{name}: share of the later refreshes that lower the loss",
                "most of them",
                float(later.mean()),
                _error(later),
                verdict(most),
                "" if most else "near the end a refresh raises the loss about as often as it lowers it",
            ),
        ]
    return rows


def _error(values: FloatArray) -> float:
    return float(values.std(ddof=1) / np.sqrt(len(values)))


def _claims(results: Results) -> list[Claim]:
    trees, minimum = results.select(learner="boosted trees"), results.select(learner="linear, to the minimum")
    jump, drop = _changes(trees)[:, 0], _changes(minimum)[:, 0]
    per_weight = np.concatenate([_changes_per_weight(results.select(learner=name))[:, 0] for name in LEARNERS])
    runs = {name: results.select(learner=name) for name in LEARNERS}
    left = {name: found.values("after")[:, -1] / found.values("start") for name, found in runs.items()}
    gained = {name: np.diff(found.values("ndcg")[:, [0, -1]]) for name, found in runs.items()}
    every = {name: _changes(runs[name])[:, 0] for name in LEARNERS}
    return [
        Claim(
            "The loss may shoot up when the weights are refreshed (section 2.3)",
            bool((jump > 0).all()),
            f"the first refresh after a boosted tree raises it by {jump.mean():.1%} (from {jump.min():.1%} to "
            f"{jump.max():.1%} over {len(jump)} data sets)",
        ),
        Claim(
            "If pairwise ranking goes with the change of NDCG, refreshing the weights lowers the loss further (section "
            "2.3)",
            all((change < 0).all() for change in every.values()),
            "change by the first refresh: " + ", ".join(f"{name} {one.mean():+.1%}" for name, one in every.items()),
            known="the sum of the weights grows as the ranking improves; what falls is the loss per weight",
        ),
        Claim(
            "Where the ranking is already good, the refresh lowers the loss",
            bool((drop < 0).all()),
            f"the first refresh after a full descent changes it by {drop.mean():+.1%} (from {drop.min():+.1%} to "
            f"{drop.max():+.1%})",
            of="rankwise",
        ),
        Claim(
            "The argument of the notes holds for the loss per weight: a good ranking puts the weight on pairs that it "
            "has the right way round, so the first refresh lowers the mean loss though the sum of the weights rises",
            bool((per_weight < 0).all()),
            f"changes from {per_weight.min():+.1%} to {per_weight.max():+.1%} over {len(per_weight)} runs",
            of="rankwise",
        ),
        Claim(
            "Alternating steps and refreshes is an optimization (section 2.3): the loss under fresh weights falls, and "
            "NDCG rises",
            all((left[name] < 0.8).all() and (gained[name] > 0.1).all() for name in LEARNERS),
            f"over {ROUNDS} rounds: "
            + "; ".join(
                f"{name}: loss times {left[name].mean():.2f}, NDCG {gained[name].mean():+.3f}" for name in LEARNERS
            ),
        ),
    ]


def _draw(results: Results, figure: Any) -> None:
    figure.set_size_inches(10, 3.6)
    axes = figure.subplots(1, len(LEARNERS), sharey=True)
    for ax, name in zip(axes, LEARNERS, strict=True):
        found = results.select(learner=name)
        before, after = found.values("before").mean(axis=0), found.values("after").mean(axis=0)
        rounds = np.arange(1, ROUNDS + 1)
        ax.plot(np.repeat(rounds, 2), np.column_stack([before, after]).ravel(), color=GREY, lw=1)
        ax.plot(rounds, before, "o", color=BLUE, ms=4, label="before the refresh")
        ax.plot(rounds, after, "^", color=ORANGE, ms=4, label="after it")
        ax.set_title(name, fontsize=9)
        tidy(ax, x="refresh")
        right = ax.twinx()
        right.plot(rounds, found.values("ndcg").mean(axis=0)[1:], color=GREEN, ls="--", label="NDCG (right)")
        right.set_ylim(0.6, 1)
        tidy(right, without=("top",))
        if ax is axes[-1]:
            right.set_ylabel("NDCG", fontsize=8)
        else:
            right.set_yticklabels([])
    tidy(axes[0], y="loss per query")
    handles = axes[0].get_legend_handles_labels(), right.get_legend_handles_labels()
    axes[0].legend(handles[0][0] + handles[1][0], handles[0][1] + handles[1][1], fontsize=8, frameon=False)


EXPERIMENTS = (
    Experiment(
        id="learning-to-rank/refresh",
        title="Section 2.3: the loss before and after the NDCG weights are refreshed",
        about=(
            "LambdaRank and LambdaMART weigh the logistic loss of a pair by what exchanging the two would change of "
            "NDCG in the ranking so far; weights are held fixed for a step and then refreshed. The notes say that a "
            "refresh may make the loss shoot up, but that it will lower it further if pairwise ranking goes with the "
            "change of NDCG, and that one may then see the whole as alternating optimization.\n\n"
            "Here a linear score takes one step of L-BFGS, or goes to the minimum, between two refreshes; boosted "
            "trees are refreshed after each tree. The loss is taken with the old weights and with the new ones, as it "
            "is and over the sum of the weights, which grows as the ranking improves. Generated queries; the notes "
            "have no experiments. Full scale: 500 queries and 10 data sets, 20 for linear scores, ten minutes."
        ),
        cells=_cells,
        compute=_compute,
        compare=_compare,
        claims=_claims,
        pictures={"loss": _draw},
    ),
)
