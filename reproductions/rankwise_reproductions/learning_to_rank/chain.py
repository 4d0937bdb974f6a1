"""The ways of learning to rank in Stratos' notes, from single rows over pairs to lists, on the same queries."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from rankwise.datasets import load_retrieval, make_retrieval
from rankwise.ltr import LambdaMART, LinearRanker, NeuralRanker
from rankwise.model_selection import QueryKFold, cross_validate
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

METRIC, FOLDS, SEED = "ndcg@10", 3, 0
#: ranker -> section of the notes, and how it learns
STEPS = {
    "Ridge regression": ("3.1", "pointwise"),
    "boosted regression": ("3.1", "pointwise"),
    "linear, logistic": ("2.1", "pairwise"),
    "boosted RankNet": ("2.2", "pairwise"),
    "LambdaRank, linear": ("2.3", "pairwise, NDCG weights"),
    "LambdaMART": ("2.3", "pairwise, NDCG weights"),
    "LambdaMART, level trees and draws": ("2.3", "pairwise, NDCG weights"),
    "linear, ListNet": ("3.1", "listwise"),
    "linear, cross entropy": ("3.1", "listwise"),
    "linear, ListMLE": ("3.1", "listwise"),
    "linear, p-ListMLE": ("3.1", "listwise"),
    "neural, pairwise": ("3.2", "neural"),
    "neural, cross entropy": ("3.2", "neural"),
}
#: what the notes say or quote about two of them, and whether it is enough that the first is not worse
SAID = (
    ("NDCG weights: an empirically successful scheme (section 2.3)", "LambdaRank, linear", "linear, logistic", False),
    ("NDCG weights: an empirically successful scheme (section 2.3)", "LambdaMART", "boosted RankNet", False),
    ("neural models are on par or better (section 3.2)", "neural, cross entropy", "LambdaMART", True),
    ("listwise losses are better for neural models (section 3.2)", "neural, cross entropy", "neural, pairwise", False),
)
NEURAL = tuple(name for name in STEPS if name.startswith("neural"))


def _cells(scale: Scale, inputs: Inputs) -> list[Cell]:
    # Fewer queries or trees than in the quick scale do not separate boosted pairs from boosted regression.
    queries = {"full": 2000, "quick": 400, "check": 400}[scale]
    trees = {"full": 200, "quick": 60, "check": 60}[scale]
    rankers = [name for name in STEPS if name not in NEURAL or scale != "check"]  # minutes of training
    generated = [
        {"data": "generated", "queries": queries, "trees": trees, "ranker": name, "fold": fold}
        for name in rankers
        for fold in range(FOLDS)
    ]
    if inputs.letor is None:
        return generated
    # The folder by its last names: MQ2008/Fold1 is where a user says, but the same data on every machine.
    folder = "/".join(inputs.letor.resolve().parts[-2:])
    return [*generated, *({"data": folder, "trees": trees, "ranker": name} for name in rankers)]


def _compute(cell: Cell, inputs: Inputs) -> Values:
    if cell["data"] == "generated":
        X, y, qid, _ = make_retrieval(cell["queries"], random_state=SEED)
        folds = QueryKFold(FOLDS, shuffle=True, random_state=SEED).split(X, y, qid=qid)
        train, test = list(folds)[cell["fold"]]
    else:
        data = load_retrieval(_letor(inputs))
        X, y, qid = data.X.toarray() if hasattr(data.X, "toarray") else data.X, data.y, data.qid
        train, test = data.splits["train"], data.splits["test"]
    ranker = _ranker(cell["ranker"], cell["trees"])
    found = cross_validate(ranker, X, y, qid, cv=[(train, test)], scoring=METRIC, gain="exp")
    of_query = found.per_query[METRIC]
    return {"ndcg": [round(float(value), 5) for value in of_query[~np.isnan(of_query)]]}


def _letor(inputs: Inputs) -> Path:
    if inputs.letor is None:
        raise FileNotFoundError("this cell is of a LETOR folder: say where it is with --letor")
    return inputs.letor


def _ranker(name: str, n_trees: int) -> Any:
    boosted: dict[str, Any] = {"n_estimators": n_trees, "learning_rate": 0.1, "n_jobs": 1, "random_state": SEED}
    neural: dict[str, Any] = {"attention": True, "random_state": SEED}
    if name == "Ridge regression":
        from sklearn.linear_model import Ridge

        return Ridge()
    return {
        "boosted regression": lambda: LambdaMART(objective="pointwise_squared", **boosted),
        "linear, logistic": lambda: LinearRanker("pairwise_logistic", random_state=SEED),
        "boosted RankNet": lambda: LambdaMART(
            objective="pairwise_logistic", truncation=None, normalize=False, **boosted
        ),
        "LambdaRank, linear": lambda: LinearRanker("lambdarank", random_state=SEED),
        "LambdaMART": lambda: LambdaMART(**boosted),
        "LambdaMART, level trees and draws": lambda: LambdaMART(tree="level", n_draws=2, **boosted),
        "linear, ListNet": lambda: LinearRanker("listwise_listnet", random_state=SEED),
        "linear, cross entropy": lambda: LinearRanker("listwise_softmax", random_state=SEED),
        "linear, ListMLE": lambda: LinearRanker("listwise_listmle", random_state=SEED),
        "linear, p-ListMLE": lambda: LinearRanker("listwise_plistmle", random_state=SEED),
        "neural, pairwise": lambda: NeuralRanker("pairwise_logistic", **neural),
        "neural, cross entropy": lambda: NeuralRanker("listwise_softmax", **neural),
    }[name]()


def _values(results: Results, data: str, ranker: str) -> Any:
    """NDCG of every query; the same queries in the same order for every ranker."""
    found = [values["ndcg"] for _, values in results.select(data=data, ranker=ranker)]
    return np.concatenate(found) if found else np.empty(0)


def _mean_and_error(values: Any) -> tuple[float, float]:
    return float(values.mean()), float(values.std(ddof=1) / np.sqrt(len(values)))


def _difference(results: Results, data: str, first: str, second: str) -> tuple[float, float]:
    """Mean difference over the queries, and its standard error."""
    return _mean_and_error(_values(results, data, first) - _values(results, data, second))


def _compare(results: Results) -> list[Comparison]:
    rows = []
    for data in results.settings("data"):
        present = results.select(data=data).settings("ranker")
        for ranker, (section, kind) in STEPS.items():
            quantity = f"{data}: {METRIC} of {ranker} ({kind}, section {section})"
            if ranker in present:
                why = "the notes have no experiments"
                found = _mean_and_error(_values(results, data, ranker))
                rows.append(Comparison(quantity, None, *found, "not in the paper", why))
            else:
                why = "; ".join(results.left_out) or "not in this scale"
                rows.append(Comparison(quantity, None, "none", None, "not run", why))
        for statement, first, second, on_par in SAID:
            if {first, second} <= set(present):
                gap, error = _difference(results, data, first, second)
                verdict, why = _verdict(gap, error, on_par)
                rows.append(Comparison(f"{data}: {first} minus {second}", statement, gap, error, verdict, why))
    return rows


def _verdict(gap: float, error: float, on_par: bool) -> tuple[Verdict, str]:
    """Two standard errors count as a difference."""
    if gap > (-2 if on_par else 2) * error:
        return "agrees", ""
    if gap > -2 * error:
        return "differs", "no difference beyond chance on these queries"
    return "differs", "it is the other way round on these queries"


def _claims(results: Results) -> list[Claim]:
    pairs, rows = "linear, logistic", "Ridge regression"
    claims = [
        _better(results, pairs, rows, "Linear scores learned from pairs beat those learned from single rows"),
        _better(results, "boosted RankNet", "boosted regression", "So do boosted trees"),
    ]
    lists = [name for name, (_, kind) in STEPS.items() if kind == "listwise"]
    gaps = {name: _difference(results, "generated", name, pairs) for name in lists}
    claims.append(
        Claim(
            "Nothing ties ranking to pairs: linear scores learned from lists are as good as those from pairs",
            all(gap > -2 * error for gap, error in gaps.values()),
            f"{METRIC} above {pairs}, query by query: "
            + ", ".join(f"{name} {gap:+.3f} +- {error:.3f}" for name, (gap, error) in gaps.items()),
        )
    )
    if NEURAL[1] in results.settings("ranker"):
        text = "Nor to trees: a neural ranker with attention and a listwise loss is on par with LambdaMART, or better"
        claims.append(_better(results, NEURAL[1], "LambdaMART", text, on_par=True))
    return claims


def _better(results: Results, first: str, second: str, text: str, on_par: bool = False) -> Claim:
    gap, error = _difference(results, "generated", first, second)
    return Claim(
        text,
        _verdict(gap, error, on_par)[0] == "agrees",
        f"{first} minus {second}: {gap:+.3f} +- {error:.3f} {METRIC}, query by query",
    )


def _draw(results: Results, figure: Any) -> None:
    sets = results.settings("data")
    figure.set_size_inches(3 + 3.2 * len(sets), 4)
    axes = np.atleast_1d(figure.subplots(1, len(sets), sharey=True))
    names = [name for name in STEPS if name in results.settings("ranker")]
    style = dict(zip(dict.fromkeys(kind for _, kind in STEPS.values()), SERIES, strict=False))
    for ax, data in zip(axes, sets, strict=True):
        for place, name in enumerate(names):
            mean, error = _mean_and_error(_values(results, data, name))
            kind = STEPS[name][1]
            known = kind in ax.get_legend_handles_labels()[1]
            color, marker = style[kind]
            ax.errorbar(mean, -place, xerr=error, fmt=marker, color=color, label=None if known else kind)
        ax.set_yticks([-place for place in range(len(names))], names)
        ax.set_title(data if data == "generated" else data.split("/")[-1], fontsize=9)
        ax.grid(axis="x", alpha=0.3)
        tidy(ax, x=METRIC)
    axes[0].legend(fontsize=8, frameon=False)


EXPERIMENTS = (
    Experiment(
        id="learning-to-rank/chain",
        title="Sections 2 and 3: from single rows over pairs to lists, on the same queries",
        about=(
            "The notes lead from pointwise losses over pairwise logistic regression, its boosted form and NDCG weights "
            "(LambdaRank, LambdaMART) to listwise losses and neural rankers. They have no experiments. Here every step "
            "is run on the same generated queries (three folds; documents whose features carry a level of their query, "
            "so that only differences within a query tell) and, with --letor, on the training and test part of a LETOR "
            "folder. NDCG@10 with gains 2^y - 1; standard errors are over queries, and differences are taken query by "
            "query.\n\n"
            "Rankers keep their defaults, but for the number of trees and a rate of 0.1. The true score of the "
            "generated data is linear plus products of neighboring features, which favors linear rankers, and "
            "its levels of queries favor pairs and lists over single rows; other data may say otherwise. Neural "
            "rankers are left out where PyTorch is not installed. Full scale: 2,000 queries and 200 "
            "trees, about a quarter of an hour."
        ),
        cells=_cells,
        compute=_compute,
        compare=_compare,
        claims=_claims,
        pictures={"rankers": _draw},
    ),
)
