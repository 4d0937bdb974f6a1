"""Draw the plots of the documentation: ``python docs/make_pictures.py [name ...]`` writes docs/pictures/*.png."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("agg")

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.decomposition import KernelPCA
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

from rankwise import Rankings, read_rankings
from rankwise.aggregation import (
    MallowsMixture,
    bootstrap_consensus,
    borda,
    copeland,
    kemeny,
    kemeny_risk,
    kwiksort,
    mc4,
    sample_mallows,
    schulze,
)
from rankwise.analysis import consensus, summary
from rankwise.datasets import (
    load_label_ranking,
    make_food_preferences,
    make_incomplete,
    make_partial,
    make_retrieval,
    make_sparse_label_ranking,
    make_symbolic_regression,
)
from rankwise.distances import pairwise_distances
from rankwise.embeddings import GraphCutEmbedding
from rankwise.kernels import GraphCutKernel, kendall_kernel
from rankwise.label_ranking import NearestNeighborsRanker, RankingForest, RankingTree
from rankwise.ltr import LambdaMART, LinearRanker
from rankwise.metrics import kendall_tau_score, ndcg_score
from rankwise.model_selection import cross_validate
from rankwise.plots import (
    ConsensusDisplay,
    CriticalDifferenceDisplay,
    EmbeddingDisplay,
    FeatureImportanceDisplay,
    GramMatrixDisplay,
    NoiseCurveDisplay,
    PairwiseCalibrationDisplay,
    PairwisePreferenceDisplay,
    PositionHeatmapDisplay,
    PruningPathDisplay,
    QueryComparisonDisplay,
    RankingTreeDisplay,
    RankIntervalDisplay,
    ScreeningDisplay,
)
from rankwise.screening import ConcordanceSelector, SymbolicFeatures, SymbolicRegressor, concordant_divergence
from rankwise.trees import LeastSquaresTree

FOLDER = Path(__file__).parent / "pictures"
# The palette of Okabe and Ito, which is safe for all common kinds of color blindness.
BLUE, ORANGE, GREEN, BLACK, GREY = "#0072B2", "#D55E00", "#009E73", "#000000", "#999999"
STYLE = {
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 9,
    "axes.titlelocation": "left",
    "legend.frameon": False,
    "figure.constrained_layout.use": True,
}


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    pictures = (
        index,
        rankings,
        files,
        distances,
        agreement,
        aggregation,
        analysis,
        label_ranking,
        kernels,
        screening,
        formulas,
        learning_to_rank,
        retrieval,
        datasets,
        command_line,
        missing_answers,
        which_consensus,
        juries_and_elections,
        first_steps,
        screen_formulas,
        plots_rankings,
        plots_consensus,
        plots_models,
        plots_comparisons,
        plots_kernels,
    )
    with plt.rc_context(STYLE):
        for picture in pictures:
            name = picture.__name__.replace("_", "-")
            if len(sys.argv) > 1 and name not in sys.argv[1:]:
                continue
            figure = picture()
            figure.savefig(FOLDER / f"{name}.png", dpi=200, metadata={"Software": None})
            plt.close(figure)


def index() -> Any:
    """Who prefers what, among 250 users with two tastes."""
    votes, _, _ = make_food_preferences(sigma=0.3, random_state=0)
    return PairwisePreferenceDisplay.from_rankings(votes).figure_


def rankings() -> Any:
    """The same four rankings as lists and as positions."""
    drinks = ["tea", "milk", "juice", "water"]
    kinds = {
        "full": [["juice"], ["tea"], ["water"], ["milk"]],
        "tied": [["tea"], ["milk", "juice"], ["water"]],
        "top-k": [["milk"], ["tea"]],
        "incomplete": [["water"], ["juice"]],
    }
    positions = np.vstack(
        [
            Rankings.from_buckets([buckets], items=drinks, unlisted="missing" if kind == "incomplete" else "below")[0]
            for kind, buckets in kinds.items()
        ]
    )
    orders = [" > ".join(" ~ ".join(bucket) for bucket in buckets) for buckets in kinds.values()]
    figure, (left, right) = plt.subplots(1, 2, figsize=(8.0, 2.4), width_ratios=[0.85, 1])
    _blank(left)
    left.set(xlim=(0, 1), ylim=(3.5, -1.2), title="what a person says")
    for row, (kind, order) in enumerate(zip(kinds, orders, strict=True)):
        left.text(0, row, kind, va="center", weight="bold")
        left.text(0.3, row, order, va="center", family="monospace")
    _blank(right)
    right.set(xlim=(-0.5, 3.5), ylim=(3.5, -1.2), title="what rankwise keeps: column = item, value = place")
    for column, drink in enumerate(drinks):
        right.text(column, -0.8, drink, ha="center", va="center", weight="bold")
    for (row, column), place in np.ndenumerate(positions):
        unlisted, missing = np.isposinf(place), np.isnan(place)
        shade = "white" if missing else "#eeeeee" if unlisted else plt.get_cmap("Blues")(0.75 - 0.17 * (place - 1))
        right.add_patch(
            plt.Rectangle(
                (column - 0.47, row - 0.43), 0.94, 0.86, fc=shade, ec=GREY, lw=0.8, ls=":" if missing else "-"
            )
        )
        text = "NaN" if missing else "inf" if unlisted else f"{place:.0f}"
        right.text(column, row, text, ha="center", va="center", color="white" if place == 1 else BLACK)
    return figure


def files() -> Any:
    """One survey in the five table layouts."""
    shapes = {
        "positions: a column per item": "age,rank_tea,rank_milk,rank_juice\n31,1,2,3\n47,2,1,3\n25,3,1,2",
        "orders: a column per place": "age,choice_1,choice_2,choice_3\n31,tea,milk,juice\n47,milk,tea,juice\n"
        "25,milk,juice,tea",
        "strings: one cell": "age,drinks\n31,tea>milk>juice\n47,milk>tea>juice\n25,milk>juice>tea",
        "long: a row per item": "id,item,rank\nann,tea,1\nann,milk,2\nann,juice,3\nbob,milk,1\n…",
        "pairwise: a row per duel": "winner,loser\ntea,milk\ntea,juice\nmilk,juice\nmilk,tea\n…",
    }
    figure = plt.figure(figsize=(8.4, 3.3))
    grid = figure.add_gridspec(2, 6)
    places = [grid[0, :3], grid[0, 3:], grid[1, :2], grid[1, 2:4], grid[1, 4:]]
    for place, (title, text) in zip(places, shapes.items(), strict=True):
        ax = figure.add_subplot(place)
        _blank(ax)
        ax.set_title(title, weight="bold")
        _draw_table(ax, [line.split(",") for line in text.split("\n")])
    return figure


def distances() -> Any:
    """A map of rankings: the closer two points, the fewer pairs they order differently."""
    from sklearn.decomposition import KernelPCA

    votes, taste, truth = make_food_preferences(120, sigma=0.25, random_state=0)
    everyone = np.vstack([votes.positions, truth.noiseless.positions, borda(votes)])
    apart = pairwise_distances(everyone, normalize=True)
    # Kendall distances are squared distances between points, whose inner products are -apart / 2 up to centering.
    at = KernelPCA(2, kernel="precomputed").fit_transform(-apart / 2)
    figure, ax = plt.subplots(figsize=(6.6, 4.4))
    for kind, (name, color, marker) in enumerate([("sweet", ORANGE, "o"), ("juicy", BLUE, "^")], start=1):
        rows = np.flatnonzero(taste == kind)
        ax.scatter(*at[rows].T, c=color, marker=marker, s=22, alpha=0.75, lw=0, label=f"users of type {name}")
        ax.scatter(*at[len(votes) + kind - 1], c=color, marker="*", s=260, ec=BLACK, lw=0.9, zorder=3)
    ax.scatter(*at[-1], c="white", marker="s", s=70, ec=BLACK, lw=1.4, zorder=3, label="Borda consensus of all")
    ax.scatter([], [], c="white", marker="*", s=140, ec=BLACK, lw=0.9, label="a type without noise")
    _blank(ax)
    ax.set(aspect="equal", title="Map of 120 rankings of 8 dishes by Kendall distance")
    figure.legend(loc="outside lower center", ncols=2, fontsize=8)
    return figure


def agreement() -> Any:
    """The variants of tau for a prediction that ties more and more items."""
    k = 12
    truth = sample_mallows(np.arange(1, k + 1), 0.0, 400, random_state=0)
    predicted = sample_mallows(truth, 0.7, random_state=1)
    sizes = [1, 2, 3, 4, 6, 12]
    tied = [make_partial(predicted, [size] * (k // size)) for size in sizes]
    styles = {"gamma": (ORANGE, "^"), "b": (BLUE, "o"), "a": (GREEN, "s"), "x": (BLACK, "x")}
    figure, ax = plt.subplots(figsize=(6.2, 3.4))
    for variant, (color, marker) in styles.items():
        values = [kendall_tau_score(truth, rankings, variant=variant) for rankings in tied]
        # "a" and "x" agree if the truth has no ties; with dashes both are visible.
        ax.plot(sizes, values, color=color, marker=marker, ls="--" if variant == "x" else "-", label=variant)
    ax.set(
        xlabel="items that share a place in the prediction (of 12)",
        ylabel="Kendall tau",
        title="The truth has no ties; the prediction ties its neighbors",
        xticks=sizes,
        ylim=(-0.05, 1.05),
    )
    ax.legend(title="variant")
    return figure


def aggregation() -> Any:
    """How certain the places of a consensus are, and the two groups that it hides."""
    votes, _, _ = make_food_preferences(sigma=0.3, random_state=0)
    found = bootstrap_consensus(votes, random_state=0)
    figure, (left, right) = plt.subplots(1, 2, figsize=(8.4, 3.5), width_ratios=[1, 1.15])
    RankIntervalDisplay.from_intervals(found, ax=left).ax_.set_title("Kemeny's consensus of 250 users")
    sweet, juicy = sorted(MallowsMixture(2, random_state=0).fit(votes).centers_, key=lambda center: center[0])
    columns = np.vstack([sweet, found.positions, juicy])
    colors = {"gelato": ORANGE, "cake": ORANGE, "biscuit": ORANGE, "steak": BLUE, "burger": BLUE, "sausage": BLUE}
    for item, name in enumerate(votes.items):
        right.plot(columns[:, item], color=colors.get(name, GREY), marker="o", lw=1.6)
        right.text(-0.08, columns[0, item], name, ha="right", va="center")
        right.text(2.08, columns[2, item], name, ha="left", va="center")
    _blank(right)
    right.set(xlim=(-0.55, 2.55), title="The consensus stands between two groups")
    right.set_xticks(range(3), labels=["one group", "consensus of all", "the other"])
    right.tick_params(length=0)
    right.invert_yaxis()
    return figure


def analysis() -> Any:
    """Mean ranks of five drinks, and how often each is at which place."""
    votes = read_rankings(FOLDER.parent / "survey.csv")
    facts = summary(votes)
    order = np.argsort(facts.mean_rank)
    figure, (left, right) = plt.subplots(1, 2, figsize=(8.4, 2.9), width_ratios=[1, 1.2])
    rows = np.arange(len(order))
    left.hlines(rows, facts.low[order], facts.high[order], colors="#56B4E9", linewidth=6, capstyle="round")
    left.plot(facts.mean_rank[order], rows, "o", color=BLUE)
    left.set_yticks(rows, labels=[str(votes.items[i]) for i in order])
    left.set(xlim=(1, 5), xlabel="mean rank (1 = best), 95% intervals", title="Tea leads, milk is last")
    left.spines["left"].set_visible(False)
    left.tick_params(axis="y", length=0)
    left.invert_yaxis()
    PositionHeatmapDisplay.from_rankings(votes, ax=right).ax_.set_title("How often at which place")
    return figure


def label_ranking() -> Any:
    """A tree of drinks by age and city, and the feature importances of a forest."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"age": rng.integers(18, 80, 400), "city": rng.choice(["Bonn", "Oslo", "Rome"], 400)})
    liking = {"tea": X.age / 20, "coffee": 1 + 2 * (X.city == "Oslo"), "juice": 4 - X.age / 20, "water": 1}
    y = Rankings.from_scores(pd.DataFrame(liking) + rng.gumbel(0, 0.5, (400, 4)))
    figure, (left, right) = plt.subplots(1, 2, figsize=(8.4, 1.9), width_ratios=[2, 1])
    tree = RankingTree(max_depth=2, min_samples_leaf=20).fit(X[:300], y[:300])
    RankingTreeDisplay.from_estimator(tree, ax=left)
    forest = RankingForest(min_samples_leaf=5, random_state=0).fit(X[:300], y[:300])
    FeatureImportanceDisplay.from_estimator(forest, ax=right)
    right.set_title("a forest of such trees")
    return figure


def kernels() -> Any:
    """Users on a map by their rankings, and what is lost if less of a ranking is observed."""
    votes, taste, dishes = make_food_preferences(sigma=0.5, random_state=0)
    kernel = GraphCutKernel(features=dishes.item_features)
    at = KernelPCA(2, kernel=kernel).fit_transform(votes.positions)
    figure, (left, right) = plt.subplots(1, 2, figsize=(8.0, 3.0))
    for kind, color, marker, name in ((1, ORANGE, "^", "sweet first"), (2, BLUE, "o", "juicy first")):
        left.plot(*at[taste == kind].T, marker, color=color, ms=4, alpha=0.6, label=name)
    left.set(title="250 users, by the graph cut kernel", xticks=[], yticks=[])
    left.legend(loc="upper left")
    model = make_pipeline(GraphCutEmbedding(features=dishes.item_features, random_state=0), LogisticRegression())
    lengths = np.arange(1, 9)
    for kind, color, marker, name in (
        ("top-k", BLUE, "o", "the favorites"),
        ("non-exhaustive", ORANGE, "^", "dishes at random"),
    ):
        scores = []
        for length in lengths:
            # One dish at random, without the others, says nothing.
            data = [
                make_food_preferences(500, sigma=0.5, kind=kind, length=int(length), random_state=seed)[:2]
                for seed in range(5)
            ]
            scores.append(np.mean([cross_val_score(model, seen, user, cv=5).mean() for seen, user in data]))
        right.plot(lengths, scores, color=color, marker=marker, label=name)
    right.set(xlabel="dishes that are ranked", ylabel="accuracy", ylim=(0.45, 1.0), title="Whose taste is it?")
    right.legend()
    return figure


def formulas() -> Any:
    """The front of error and length for the beams of the guide."""
    beams = pd.read_csv(Path(__file__).parent / "beams.csv")
    model = SymbolicRegressor(random_state=0).fit(beams[["width", "height", "length"]], beams["load"])
    figure, ax = plt.subplots(figsize=(7.5, 3.6))
    front = model.pareto_
    ax.step([f.complexity for f in front], [f.rmse for f in front], where="post", color="0.7", zorder=1)
    for formula in front:
        chosen = formula is model.formula_
        ax.plot(formula.complexity, formula.rmse, "o", color="C1" if chosen else "C0", zorder=2)
        if formula.complexity <= model.formula_.complexity:
            ax.annotate(str(formula), (formula.complexity, formula.rmse), (6, 6), textcoords="offset points")
    ax.set(yscale="log", xlabel="complexity: operators and constants", ylabel="root mean squared error")
    ax.set_title("Formulas for the load of beams; orange: chosen", loc="left")
    ax.margins(0.12, 0.25)
    return figure


def screening() -> Any:
    """The benefit of rank classes, and how deep a tree must be to rank well."""
    variances = np.array([0.01, 0.1, 1, 10])
    figure, (left, right) = plt.subplots(1, 2, figsize=(8.4, 3.2))
    for dedupe, color, marker in ((True, BLUE, "o"), (False, ORANGE, "^")):
        selector = ConcordanceSelector(3, dedupe=dedupe, features=SymbolicFeatures("bu"))
        covered = []
        for variance in variances:
            runs = [make_symbolic_regression(noise=variance**0.5, random_state=seed)[:2] for seed in range(30)]
            covered.append(np.mean([selector.fit(X, y).get_support()[[0, 2]].all() for X, y in runs]))
        name = "one feature per rank class" if dedupe else "the three best"
        left.plot(variances, covered, color=color, marker=marker, label=name)
    left.set(xscale="log", ylim=(-0.05, 1.05), xlabel="variance of the noise", ylabel="share of 30 runs")
    left.set_title("Three features that hold both variables of the law")
    left.legend()
    depths = np.arange(1, 9)
    for n, color, marker in ((100, ORANGE, "^"), (1000, BLUE, "o")):
        losses = []
        for seed in range(10):
            X, y, _ = make_symbolic_regression(n, noise=1, random_state=seed)
            new, _, bunch = make_symbolic_regression(1000, random_state=100 + seed)
            trees = [LeastSquaresTree(max_depth=int(depth)).fit(X, y) for depth in depths]
            losses.append([concordant_divergence(t.predict(new), bunch.signal, normalize=True) for t in trees])
        right.plot(depths, np.mean(losses, axis=0), color=color, marker=marker, label=f"{n:,} rows")
    right.set(xlabel="depth of the tree", ylabel="gain lost, share of the best", ylim=(0, None))
    right.set_title("How well a regression tree ranks new rows")
    right.legend()
    return figure


def learning_to_rank() -> Any:
    """Three rankers, trained on more and more queries."""
    X, y, qid, _ = make_retrieval(900, 10, random_state=0)
    test, sizes = qid > 800, [25, 50, 100, 200, 400, 800]
    rankers = {
        "LambdaMART": (LambdaMART(150, random_state=0), BLUE, "o"),
        "LinearRanker": (LinearRanker(random_state=0), GREEN, "s"),
        "regression without queries": (Ridge(), ORANGE, "^"),
    }
    figure, ax = plt.subplots(figsize=(5.6, 3.2))
    for name, (ranker, color, marker) in rankers.items():
        values = []
        for size in sizes:
            train = qid <= size
            queries = {} if isinstance(ranker, Ridge) else {"qid": qid[train]}
            score = ranker.fit(X[train], y[train], **queries).predict(X[test])
            values.append(ndcg_score(y[test], score, qid[test], k=10, gain="exp"))
        ax.plot(sizes, values, color=color, marker=marker, label=name)
    ax.set(xscale="log", xlabel="queries to learn from", ylabel="NDCG@10 of 100 other queries")
    ax.set_xticks(sizes, sizes)
    ax.minorticks_off()
    ax.legend()
    return figure


def retrieval() -> Any:
    """The treatments of ties for scores that are rounded more and more."""
    _, y, qid, truth = make_retrieval(300, docs_per_query=(20, 20), random_state=0)
    # Rows are sorted by relevance, such as one positive before its negatives: a tool that keeps the file order gains.
    rows = np.lexsort((-y, qid))
    y, qid, score = y[rows], qid[rows], truth.score[rows] + 1.5 * np.random.default_rng(1).standard_normal(len(y))
    levels = [64, 32, 16, 8, 4, 2, 1]
    cuts = np.quantile(score, np.linspace(0, 1, levels[0] + 1)[1:-1])
    rounded = {n: np.searchsorted(cuts[levels[0] // n - 1 :: levels[0] // n], score) for n in levels}
    in_file_order = [n - 1e-6 * np.arange(len(y)) for n in rounded.values()]
    lines = {
        "in the order of the file": ([ndcg_score(y, s, qid, k=5) for s in in_file_order], ORANGE, "^"),
        'ties="average"': ([ndcg_score(y, s, qid, k=5) for s in rounded.values()], BLUE, "o"),
        'ties="pessimistic"': (
            [ndcg_score(y, s, qid, k=5, ties="pessimistic") for s in rounded.values()],
            BLACK,
            "v",
        ),
    }
    figure, ax = plt.subplots(figsize=(6.2, 3.4))
    for name, (values, color, marker) in lines.items():
        ax.plot(range(len(levels)), values, color=color, marker=marker, label=name)
    ax.set(
        xlabel="different scores that the ranker gives",
        ylabel="NDCG@5, mean of 300 queries",
        title="The same ranker, its scores rounded; rows sorted by relevance",
        ylim=(0, 1.05),
    )
    ax.set_xticks(range(len(levels)), labels=[str(n) for n in levels])
    ax.legend(loc="lower left")
    return figure


def datasets() -> Any:
    """How noise on the scores, and on the places, changes the rankings."""
    scales, thetas = np.array([0.0, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.3]), np.array([0, 0.5, 1, 1.5, 2, 3, 4, 5])
    noises = {
        'noise="gaussian"': ("noise_scale", scales, [{"noise": "gaussian", "noise_scale": s} for s in scales]),
        'noise="mallows"': ("theta", thetas, [{"noise": "mallows", "theta": theta} for theta in thetas]),
    }
    figure, axes = plt.subplots(1, 2, figsize=(8.0, 3.0), sharey=True)
    for ax, (title, (name, values, options)) in zip(axes, noises.items(), strict=True):
        data = [make_sparse_label_ranking(2000, **option, random_state=0)[2] for option in options]
        ax.plot(values, [bunch.alpha for bunch in data], color=ORANGE, marker="^", label="alpha: rankings changed")
        ax.plot(values, [bunch.beta for bunch in data], color=BLUE, marker="o", label="beta: tau with the noiseless")
        ax.set(title=title, xlabel=name, ylim=(-0.06, 1.05))
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return figure


def command_line() -> Any:
    """The pictures of the report on the diabetes data."""
    y = load_label_ranking("diabetes").y
    figure, axes = plt.subplots(1, 2, figsize=(8.4, 3.6))
    PairwisePreferenceDisplay.from_rankings(y, ax=axes[0])
    PositionHeatmapDisplay.from_rankings(y, ax=axes[1])
    return figure


def missing_answers() -> Any:
    """Three treatments of blanks in the same survey."""
    k, shares, n_runs = 8, np.array([0.0, 0.1, 0.2, 0.3, 0.4, 0.5]), 30
    truth = np.arange(1, k + 1)
    taus: dict[str, list[list[float]]] = {"left missing": [], "counted as last": [], "complete rows only": []}
    for seed in range(n_runs):
        rng = np.random.default_rng(seed)
        answers = sample_mallows(truth, 0.3, 300, random_state=rng)
        hidden = rng.permutation(np.linspace(0.2, 1.8, k))  # some items are shown to nearly everybody, others to few
        runs = [make_incomplete(answers, 1 - share * hidden, random_state=rng).positions for share in shares]
        taus["left missing"].append([_tau(truth, borda(seen)) for seen in runs])
        taus["counted as last"].append([_tau(truth, borda(np.where(np.isnan(seen), np.inf, seen))) for seen in runs])
        complete = [seen[~np.isnan(seen).any(axis=1)] for seen in runs]
        taus["complete rows only"].append([_tau(truth, borda(rows)) if len(rows) else np.nan for rows in complete])
    figure, ax = plt.subplots(figsize=(6.0, 3.2))
    for (name, values), color, marker in zip(taus.items(), (BLUE, ORANGE, GREEN), ("o", "^", "s"), strict=True):
        all_runs = ~np.isnan(values).any(axis=0)  # without complete rows in every run there is no mean
        ax.plot(100 * shares[all_runs], np.mean(values, axis=0)[all_runs], color=color, marker=marker, label=name)
    ax.set(xlabel="cells that are blank, in percent", ylabel="tau of consensus and truth", ylim=(-0.05, 1.05))
    ax.set_title(f"300 answers on {k} items, mean of {n_runs} surveys")
    ax.legend(loc="lower left")
    return figure


def first_steps() -> Any:
    """The survey of the page First steps: how certain the consensus is, and a tree that predicts rankings."""
    answers, covariates = read_rankings(Path(__file__).parent / "survey.csv", return_covariates=True)
    tree = RankingTree(max_depth=2, min_samples_leaf=20).fit(pd.DataFrame(covariates), answers)
    figure, (left, right) = plt.subplots(1, 2, figsize=(8.4, 2.2), width_ratios=[1, 2.4])
    RankIntervalDisplay.from_rankings(answers, decode="kemeny", random_state=0, ax=left)
    RankingTreeDisplay.from_estimator(tree, ax=right)
    return figure


def screen_formulas() -> Any:
    """All expressions of the example, and the two that make up the law."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.uniform(1, 10, (400, 4)), columns=["mass", "speed", "height", "color"])
    energy = X.mass * X.speed**2 / 2 + 9.81 * X.mass * X.height
    y = energy.to_numpy() * (1 + 0.02 * rng.standard_normal(400))
    expressions = SymbolicFeatures("ub", unary=("id", "square"), binary=("*", "+", "/"), pool="cumulative")
    selector = ConcordanceSelector(k=5, features=expressions).fit(X[:300], y[:300])
    figure, ax = plt.subplots(figsize=(5.6, 3.4))
    ScreeningDisplay.from_estimator(selector, X[:300], y[:300], ax=ax)
    return figure


def which_consensus() -> Any:
    """What fast rules lose compared to the optimum, by how much the rankings agree."""
    rules = {"Borda": borda, "Copeland": copeland, "Schulze": schulze, "MC4": mc4, "KwikSort": kwiksort}
    thetas = [0.005, 0.01, 0.02, 0.05, 0.1, 0.2]
    more = np.empty((len(thetas), 10, len(rules)))
    for (row, seed), _ in np.ndenumerate(more[..., 0]):
        votes = sample_mallows(np.arange(1, 31), thetas[row], 50, random_state=seed)
        best = kemeny_risk(votes, kemeny(votes, random_state=0).positions)
        for column, rule in enumerate(rules.values()):
            options = {"random_state": 0} if rule is kwiksort else {}
            more[row, seed, column] = 100 * (kemeny_risk(votes, rule(votes, **options)) / best - 1)
    figure, ax = plt.subplots(figsize=(6.0, 3.2))
    styles = zip(rules, (BLUE, ORANGE, GREEN, BLACK, GREY), "o^svD", strict=True)
    for column, (name, color, marker) in enumerate(styles):
        ax.plot(thetas, more[:, :, column].mean(axis=1), color=color, marker=marker, label=name)
    ax.set(xscale="log", xlabel="theta of Mallows: more is more agreement", ylabel="more disagreements, in percent")
    ax.set_xticks(thetas, labels=[str(theta) for theta in thetas])
    ax.minorticks_off()
    ax.set_ylim(0, None)
    ax.set_title("50 rankings of 30 items; 0 is Kemeny's consensus; mean of 10 profiles")
    ax.legend()
    return figure


def juries_and_elections() -> Any:
    """Places of the wines of the jury by four rules: one line per wine."""
    found = consensus(read_rankings(FOLDER.parent / "jury.csv"), ["kemeny", "borda", "instant-runoff", "plurality"])
    figure, ax = plt.subplots(figsize=(6.2, 3.0))
    for item, places in zip(found.items, found.places, strict=True):
        places = places + 0.08 * (found.items.index(item) % 2)  # so that shared places show both lines
        (line,) = ax.plot(places, marker="o", linewidth=2)
        ax.annotate(
            str(item),
            (0, places[0]),
            (-9, 0),
            textcoords="offset points",
            va="center",
            ha="right",
            color=line.get_color(),
        )
    ax.set_xticks(range(4), list(found.results))
    ax.set_yticks(range(1, 6))
    ax.set_xlim(-0.6, 3.2)
    ax.invert_yaxis()
    ax.set(ylabel="place", title="Plurality crowns what most judges put last")
    return figure


def plots_rankings() -> Any:
    """Sixty users who list the best four of eight dishes."""
    votes, _, _ = make_food_preferences(60, sigma=0.5, kind="top-k", length=4, random_state=0)
    figure, (left, right) = plt.subplots(1, 2, figsize=(8.4, 3.8))
    PairwisePreferenceDisplay.from_rankings(votes, ax=left)
    PositionHeatmapDisplay.from_rankings(votes, ax=right)
    return figure


def plots_consensus() -> Any:
    """The consensus of the same users: how certain it is, and who agrees."""
    votes, _, _ = make_food_preferences(60, sigma=0.5, kind="top-k", length=4, random_state=0)
    figure, (left, right) = plt.subplots(1, 2, figsize=(8.4, 2.9))
    RankIntervalDisplay.from_rankings(votes, decode="borda", random_state=0, ax=left)
    ConsensusDisplay.from_rankings(votes, ax=right)
    return figure


def plots_models() -> Any:
    """A ranking tree and a forest of the diabetes data; three rankers and noise."""
    data = load_label_ranking("diabetes", data_home="")
    X, y = pd.DataFrame(data.X, columns=data.feature_names), data.y
    tree = RankingTree(ccp_alpha="cv", min_samples_leaf=10, random_state=0).fit(X, y)
    forest = RankingForest(min_samples_leaf=10, random_state=0).fit(X[::2], y[::2])
    figure = plt.figure(figsize=(8.4, 7.6))
    grid = figure.add_gridspec(3, 2, height_ratios=[0.85, 1, 1])
    RankingTreeDisplay.from_estimator(tree, ax=figure.add_subplot(grid[0, :]))
    PruningPathDisplay.from_estimator(tree, ax=figure.add_subplot(grid[1, 0]))
    FeatureImportanceDisplay.from_estimator(forest, ax=figure.add_subplot(grid[1, 1]))
    PairwiseCalibrationDisplay.from_estimator(forest, X[1::2], y[1::2], ax=figure.add_subplot(grid[2, 0]))
    made = {
        scale: make_sparse_label_ranking(300, 8, 4, 3, noise="gaussian", noise_scale=scale, random_state=0)
        for scale in (0, 0.1, 0.2, 0.3, 0.4)
    }
    rankers = {
        "tree, depth 3": RankingTree(max_depth=3),
        "full tree": RankingTree(),
        "neighbors": NearestNeighborsRanker(10),
    }
    noisy, truth = {scale: rankings for scale, (_, rankings, _) in made.items()}, made[0][2].noiseless
    NoiseCurveDisplay.from_estimators(rankers, made[0][0], noisy, truth, ax=figure.add_subplot(grid[2, 1]))
    return figure


def plots_comparisons() -> Any:
    """A leaderboard of five rankers, and two rankers query by query."""
    scores = {
        "pairwise": [0.81, 0.74, 0.92, 0.66, 0.71, 0.88, 0.79, 0.93, 0.70, 0.84],
        "forest": [0.80, 0.76, 0.90, 0.64, 0.70, 0.87, 0.77, 0.90, 0.69, 0.85],
        "tree": [0.71, 0.70, 0.82, 0.60, 0.65, 0.80, 0.72, 0.84, 0.61, 0.76],
        "neighbors": [0.75, 0.68, 0.85, 0.59, 0.66, 0.81, 0.70, 0.86, 0.63, 0.75],
        "dummy": [0.20, 0.15, 0.31, 0.12, 0.18, 0.25, 0.16, 0.30, 0.11, 0.22],
    }
    X, y, qid, _ = make_retrieval(200, 10, random_state=0)
    results = {
        "LinearRanker": cross_validate(LinearRanker(), X, y, qid, cv=3),
        "Ridge": cross_validate(Ridge(), X, y, qid, cv=3),
    }
    figure, (left, right) = plt.subplots(1, 2, figsize=(8.4, 2.5), width_ratios=[1.2, 1])
    CriticalDifferenceDisplay.from_scores(scores, ax=left)
    QueryComparisonDisplay.from_results(results, ax=right)
    return figure


def plots_kernels() -> Any:
    """150 users by their rankings, and expressions by how they order a target."""
    votes, taste, _ = make_food_preferences(150, sigma=0.4, random_state=0)
    group = np.where(taste == 1, "sweet", "juicy")
    figure, axes = plt.subplots(2, 2, figsize=(8.0, 6.0))
    EmbeddingDisplay.from_rankings(votes, classes=group, ax=axes[0, 0])
    GramMatrixDisplay.from_gram(kendall_kernel(votes), classes=group, ax=axes[0, 1])
    X, y, _ = make_symbolic_regression(100, noise=1, random_state=0)
    selector = ConcordanceSelector(5, features=SymbolicFeatures("ub")).fit(X, y)
    ScreeningDisplay.from_estimator(selector, X, y, ax=axes[1, 0])
    features = SymbolicFeatures("ub").fit(X, y)
    options = {"names": features.get_feature_names_out(), "k": 5, "random_state": 0}
    ScreeningDisplay.from_resamples(features.transform(X), y, ax=axes[1, 1], **options)
    return figure


def _tau(truth: Any, positions: Any) -> float:
    return kendall_tau_score([truth], [positions])


def _blank(ax: Any) -> None:
    ax.set(xticks=[], yticks=[])
    for spine in ax.spines.values():
        spine.set_visible(False)


def _draw_table(ax: Any, rows: list[list[str]]) -> None:
    """Draw cells of text in columns, with the header in blue."""
    width = max(map(len, rows))
    starts = np.cumsum([0, *[max(len(row[c]) for row in rows if c < len(row)) + 2 for c in range(width)]])
    ax.set(xlim=(0, max(starts[-1], 26)), ylim=(5, -0.6))
    for number, row in enumerate(rows):
        for column, cell in enumerate(row):
            style = {"color": BLUE} if number == 0 else {}
            ax.text(starts[column], number, cell, family="monospace", fontsize=8, va="center", **style)


if __name__ == "__main__":
    main()
