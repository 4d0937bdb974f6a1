"""Bagging of consensus ranking trees, which Clémençon, Korba and Sibony propose in their appendix."""

from __future__ import annotations

from typing import Any

import numpy as np

from rankwise.aggregation import Mallows, noise_margin, sample_mallows
from rankwise.embeddings import decode_pairwise, pairwise_from_vectors
from rankwise.label_ranking import RankingForest, RankingTree, ranking_risk
from rankwise_reproductions.drawing import BLACK, SERIES, tidy
from rankwise_reproductions.experiment import Cell, Claim, Comparison, Experiment, Inputs, Results, Scale, Values

N_ROWS, N_TEST, N_FEATURES, N_ITEMS, THETA, MIN_LEAF = 1000, 1000, 4, 5, 1.0, 5
NUMBERS_OF_TREES = (5, 20, 100)
#: rows left out to see how much predictions change
LEFT_OUT = 0.1

RULES = {
    "tree": "one tree",
    "bagging": "bagging: consensus of the trees' rankings",
    "randomised": "the same, half of the features tried at each split",
    "shares": "bagging: median of the trees' mean shares",
}
_STYLE = dict(zip(list(RULES)[1:], SERIES, strict=False))


def _cells(scale: Scale, inputs: Inputs) -> list[Cell]:
    seeds = {"full": 20, "quick": 6, "check": 3}[scale]
    sizes = NUMBERS_OF_TREES if scale != "check" else NUMBERS_OF_TREES[1:2]
    wanted = [("tree", 1), *((rule, size) for rule in list(RULES)[1:] for size in sizes)]
    return [{"rule": rule, "n_trees": size, "seed": seed} for rule, size in wanted for seed in range(seeds)]


def _compute(cell: Cell, inputs: Inputs) -> Values:
    rng = np.random.default_rng([0, cell["seed"]])
    X = rng.random((N_ROWS + N_TEST, N_FEATURES))
    scores = X @ rng.standard_normal((N_FEATURES, N_ITEMS))
    centers = np.argsort(np.argsort(-scores, axis=1), axis=1) + 1.0
    y = sample_mallows(centers, THETA, random_state=rng)
    law = Mallows(center=np.arange(1.0, N_ITEMS + 1), theta=THETA).pairwise_probabilities()
    X_test, truth = X[N_ROWS:], centers[N_ROWS:]

    def excess(positions: Any) -> float:
        return float(_excess_by_row(positions, truth, law).mean())

    ranker = _ranker(cell)
    predicted = ranker.fit(X[:N_ROWS], y[:N_ROWS]).predict(X_test)
    values: Values = {"excess": excess(predicted), "margin": noise_margin(law)}
    if cell["rule"] == "bagging":  # what the trees would have predicted alone
        alone = [excess(decode_pairwise(pairwise_from_vectors(tree.predict(X_test)))) for tree in ranker.trees_]
        values["excess of its trees"] = float(np.mean(alone))
    fewer = rng.permutation(N_ROWS)[int(LEFT_OUT * N_ROWS) :]
    changed = _ranker(cell).fit(X[fewer], y[fewer]).predict(X_test)
    values["change"] = ranking_risk(predicted, changed)
    return values


def _ranker(cell: Cell) -> Any:
    common: dict[str, Any] = {"min_samples_leaf": MIN_LEAF, "random_state": cell["seed"]}
    if cell["rule"] == "tree":
        return RankingTree(**common)
    common["pool"] = "pairwise" if cell["rule"] == "shares" else "rankings"
    common["max_features"] = 0.5 if cell["rule"] == "randomised" else None
    return RankingForest(cell["n_trees"], splitter="best", **common)


def _excess_by_row(positions: Any, centers: Any, law: Any) -> Any:
    """Excess risk of each ranking under the Mallows model around the center of its row.

    ``law`` holds the probabilities of the model around 1, 2, ..., by place.
    """
    place = centers.astype(int) - 1
    against = (positions[:, :, None] > positions[:, None, :]) & (place[:, :, None] < place[:, None, :])
    return np.sum(against * (2 * law[place[:, :, None], place[:, None, :]] - 1), axis=(1, 2))


def _compare(results: Results) -> list[Comparison]:
    rows = []
    for rule in results.settings("rule"):
        for size in results.select(rule=rule).settings("n_trees"):
            found = results.select(rule=rule, n_trees=size)
            name = RULES[rule] if rule == "tree" else f"{RULES[rule]}, {size} trees"
            for value, what in (("excess", "excess risk"), ("change", "change when a tenth of the rows is left out")):
                rows.append(
                    Comparison(
                        f"{name}: {what}",
                        None,
                        found.mean(value),
                        found.error(value),
                        "not in the paper",
                        "the paper proposes bagging and measures nothing",
                    )
                )
    return rows


def _claims(results: Results) -> list[Claim]:
    tree = results.select(rule="tree")
    largest = max(results.settings("n_trees"))
    bagged = results.select(rule="bagging", n_trees=largest)
    many = results.select(rule="bagging")
    factor = 1 / many.mean("margin")
    ratios = many.values("excess") / many.values("excess of its trees")
    return [
        Claim(
            "Bagging remedies the instability of trees: predictions change less when the data do",
            bagged.mean("change") < 0.8 * tree.mean("change"),
            f"Kendall distance of predictions with and without a tenth of the rows: {tree.mean('change'):.3f} for one "
            f"tree, {bagged.mean('change'):.3f} for {largest}",
        ),
        Claim(
            "Bagging lowers the risk of a tree",
            bagged.mean("excess") < 0.8 * tree.mean("excess"),
            f"excess risk {bagged.mean('excess'):.3f} +- {bagged.error('excess'):.3f} against "
            f"{tree.mean('excess'):.3f} +- {tree.error('excess'):.3f}",
        ),
        Claim(
            "The excess of the consensus is at most 1/H times the mean excess of the trees (proof of Theorem 21)",
            bool(ratios.max() < factor),
            f"largest ratio {ratios.max():.3f}, where the proof allows {factor:.2f}",
        ),
        Claim(
            "The excess of the consensus is below the mean excess of its trees",
            bool(ratios.max() < 1),
            f"largest ratio {ratios.max():.3f}",
            of="rankwise",
        ),
    ]


def _draw(results: Results, figure: Any) -> None:
    figure.set_size_inches(9, 4)
    axes = figure.subplots(1, 2)
    titles = {"excess": "excess risk", "change": "change of predictions\nwithout a tenth of the rows"}
    for ax, (value, title) in zip(axes, titles.items(), strict=True):
        tree = results.select(rule="tree")
        ax.axhline(tree.mean(value), color=BLACK, ls="--", label=RULES["tree"])
        for rule, (color, marker) in _STYLE.items():
            sizes = results.select(rule=rule).settings("n_trees")
            found = [results.select(rule=rule, n_trees=size) for size in sizes]
            means, errors = [one.mean(value) for one in found], [one.error(value) for one in found]
            ax.errorbar(sizes, means, errors, marker=marker, color=color, label=RULES[rule])
        ax.set_xscale("log")
        ax.set_xticks(sizes, sizes)
        ax.minorticks_off()
        ax.set_title(title, fontsize=9)
        ax.set_ylim(bottom=0)
        ax.grid(alpha=0.3)
        tidy(ax, x="trees")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=2, fontsize=8)


EXPERIMENTS = (
    Experiment(
        id="ranking-median/bagging",
        title="Appendix: bagging consensus ranking trees",
        about=(
            "Trees are unstable, and the paper proposes to bag them: each tree is grown on a bootstrap sample, and the "
            "Kemeny consensus of the trees' rankings is predicted, with features drawn at random at each split as a "
            "further step. It gives no figures; Theorem 21 says that a consensus of consistent rules is consistent.\n\n"
            "Here the center of a Mallows model (theta 1, five items) is the order of five linear scores of four "
            "features, so borders between cells are oblique and trees are at a loss; 1,000 training rows, leaves of at "
            "least 5. The excess of the risk is computed from the law itself, without test noise. We compare the "
            "paper's consensus with ours: the leaves' pairwise shares are averaged over the trees, and decoded once. "
            "Full scale: 20 data sets, a few minutes."
        ),
        cells=_cells,
        compute=_compute,
        compare=_compare,
        claims=_claims,
        pictures={"trees": _draw},
    ),
)
