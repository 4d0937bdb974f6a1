"""Theorems A.5 and A.6 of Fotakis, Kalavasis and Psaroudaki: fully grown honest forests on subsamples."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

from rankwise.datasets import RankingOracle
from rankwise.distances import spearman_distance
from rankwise.label_ranking import LabelwiseRanker
from rankwise.trees import LeastSquaresForest
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
from rankwise_reproductions.label_ranking.common import at_most, rows_needed, slope

N_LABELS, TEST_ROWS = 3, 1000
#: growth of the trees: title, and theorem
GROWTHS = {"level": "Level-Splits (A.5)", "best": "Breiman (A.6)"}
#: noise on scores is uniform on [-NOISE, NOISE]
NOISE = 0.1
#: features, informative ones and rows of each tree in what is said of the scores
FEATURES, INFORMATIVE, SUBSAMPLE = 10, 2, 128
#: rows of each tree that are too few to find the informative features every time
TOO_FEW = 32
#: by how much the power of n may be above -1, and the doublings above 1
RATE_TOLERANCE, DOUBLING_TOLERANCE = 0.1, 0.2
#: trees of the forests: the theorems take the mean over all subsamples
FEW_TREES, MANY_TREES, RANKING_TREES = 200, 1000, 20
#: features of the curve against r
MANY = 30
#: Spearman distance that is to be reached; the mean of random rankings of three labels is 4
TARGET = 0.2
_SCORE_ROWS: dict[Scale, tuple[int, ...]] = {
    "full": (256, 512, 1024, 2048),
    "quick": (256, 512, 1024),
    "check": (256, 1024),
}
_MANY_FEATURES: dict[Scale, tuple[int, ...]] = {"full": (10, 30, 100, 300), "quick": (10, 30, 100), "check": (10, 100)}
_MANY_INFORMATIVE: dict[Scale, tuple[int, ...]] = {"full": (1, 2, 3, 4), "quick": (1, 2, 3), "check": (1, 3)}
_SEEDS: dict[Scale, int] = {"full": 6, "quick": 6, "check": 2}


def _cells(scale: Scale, inputs: Inputs) -> list[Cell]:
    forests = [("best", SUBSAMPLE, FEW_TREES), ("best", TOO_FEW, FEW_TREES), ("best", SUBSAMPLE, MANY_TREES)]
    if scale != "check":  # ten times the time
        forests.append(("level", SUBSAMPLE, FEW_TREES))
    scores = [
        {"what": "scores", "growth": growth, "n": n, "seed": seed}
        | {"d": FEATURES, "r": INFORMATIVE, "subsample": subsample, "trees": trees}
        for (growth, subsample, trees), n, seed in product(forests, _SCORE_ROWS[scale], range(_SEEDS[scale]))
    ]
    shapes = dict.fromkeys(
        [(d, INFORMATIVE) for d in _MANY_FEATURES[scale]] + [(MANY, r) for r in _MANY_INFORMATIVE[scale]]
    )
    rankings = [
        {"what": "rankings", "growth": growth, "d": d, "r": r, "seed": seed, "trees": RANKING_TREES}
        for growth, (d, r), seed in product(GROWTHS, shapes, range(_SEEDS[scale]))
    ]
    return scores + rankings


def _compute(cell: Cell, inputs: Inputs) -> Values:
    if cell["what"] == "scores":
        return {"error": _score_error(cell)}
    oracle = RankingOracle.sparse(cell["d"], N_LABELS, cell["r"], design="shared", random_state=cell["seed"])
    sizes = _sizes(cell)
    X, y = oracle.sample(sizes[-1] + TEST_ROWS, np.random.default_rng([cell["seed"], cell["d"], cell["r"]]))
    regrets = []
    for n in sizes:
        ranker = LabelwiseRanker(_forest(cell, n // 2), random_state=0).fit(X[:n], y[:n])
        regrets.append(float(np.mean(spearman_distance(y[-TEST_ROWS:], ranker.predict(X[-TEST_ROWS:])))))
    return {"regret": regrets}


def _score_error(cell: Cell) -> float:
    """Squared distance of estimated and true scores, in the mean over rows (definition A.2, noise on the scores)."""
    rng = np.random.default_rng([cell["seed"], cell["n"]])
    X = rng.integers(0, 2, (cell["n"] + TEST_ROWS, cell["d"])).astype(float)
    # Every informative feature lowers the variance by the same beta = 1 / (4 r)^2, whichever are known already.
    signs = rng.choice([-1.0, 1.0], (cell["r"], N_LABELS))
    scores = 0.5 + (2 * X[:, : cell["r"]] - 1) @ signs / (4 * cell["r"])
    noisy = scores + rng.uniform(-NOISE, NOISE, scores.shape)
    train, test = slice(cell["n"]), slice(cell["n"], None)
    estimated = [
        _forest(cell, cell["subsample"]).set_params(random_state=label).fit(X[train], noisy[train, label])
        for label in range(N_LABELS)
    ]
    predicted = np.column_stack([forest.predict(X[test]) for forest in estimated])
    return float(np.mean(np.sum((predicted - scores[test]) ** 2, axis=1)))


def _forest(cell: Cell, subsample: int) -> LeastSquaresForest:
    """Fully grown honest trees, each on a part of the rows, drawn without replacement."""
    return LeastSquaresForest(
        cell["trees"], growth=cell["growth"], honest="paper", bootstrap=False, max_samples=subsample
    )


def _sizes(cell: Cell) -> list[int]:
    """Rows that the forests of a cell get, in steps of two."""
    return [16 * 2**step for step in range(cell["r"] + 5)]


def _score_rate(results: Results, growth: str, trees: int, subsample: int = SUBSAMPLE) -> tuple[float, float]:
    """Power of n by which the error of the scores falls, and its standard error."""
    one = results.select(what="scores", growth=growth, trees=trees, subsample=subsample)
    errors = {n: np.log(one.select(n=n).values("error")) for n in one.settings("n")}
    if not errors:
        return float("nan"), float("nan")
    return slope(errors, np.log(list(errors)))


def _most_trees(results: Results, growth: str) -> int:
    return int(max(results.select(what="scores", growth=growth).settings("trees"), default=0))


def _by(results: Results, name: str, growth: str) -> dict[int, FloatArray]:
    """Rows needed (base-2 logarithm), by number of features or of informative ones, the other being fixed."""
    fixed = {"r": INFORMATIVE} if name == "d" else {"d": MANY}
    one = results.select(what="rankings", growth=growth, **fixed)
    return {
        value: np.array(
            [rows_needed(_sizes(cell), found["regret"], TARGET) for cell, found in one.select(**{name: value})]
        )
        for value in sorted(one.settings(name))
    }


def _final(results: Results, growth: str) -> tuple[float, float]:
    """Mean Spearman distance with the most rows, and its standard error."""
    last = np.array([values["regret"][-1] for _, values in results.select(what="rankings", growth=growth)])
    return float(last.mean()), float(last.std(ddof=1) / np.sqrt(len(last)))


def _compare(results: Results) -> list[Comparison]:
    rows = []
    for growth, title in GROWTHS.items():
        trees = _most_trees(results, growth)
        by_d, by_r = _by(results, "d", growth), _by(results, "r", growth)
        log_d = float(np.polyfit(np.log2(list(by_d)), np.log2(np.log(list(by_d))), 1)[0])
        for quantity, said, most, (ours, error), tolerance in (
            (
                "power of n by which the squared error of the scores falls",
                "at most -1, up to logarithms",
                -1.0,
                _score_rate(results, growth, trees),
                RATE_TOLERANCE,
            ),
            (
                "rows needed for rankings, power of d",
                f"at most {log_d:.2f}, that of log d",
                log_d,
                slope(by_d, np.log2(list(by_d))),
                0.1,
            ),
            (
                "rows needed, doublings for each further informative feature",
                "at most 1",
                1.0,
                slope(by_r, list(by_r)),
                DOUBLING_TOLERANCE,
            ),
        ):
            if np.isnan(ours):
                continue
            verdict = at_most(most, ours, error, tolerance)
            said_of_trees = f"{trees if most == -1.0 else RANKING_TREES} trees, where the theorem has all subsamples"
            rows.append(
                Comparison(
                    f"{title}: {quantity}",
                    said,
                    ours,
                    error,
                    verdict=verdict,
                    reason="" if verdict == "agrees" else f"tolerance {tolerance:g}; {said_of_trees}",
                )
            )
    return rows


def _claims(results: Results) -> list[Claim]:
    final = {title: _final(results, growth) for growth, title in GROWTHS.items()}
    rates = {
        (growth, trees): _score_rate(results, growth, trees)
        for growth, trees in product(GROWTHS, (FEW_TREES, MANY_TREES))
        if len(results.select(what="scores", growth=growth, trees=trees))
    }
    shown = {f"{GROWTHS[growth]} with {trees} trees": rate for (growth, trees), rate in rates.items()}
    with_many = [at_most(-1.0, *rate, RATE_TOLERANCE) for (_, trees), rate in rates.items() if trees == MANY_TREES]
    lost = {
        GROWTHS[growth]: (rates[growth, FEW_TREES][0] - rate, float(np.hypot(rates[growth, FEW_TREES][1], error)))
        for (growth, trees), (rate, error) in rates.items()
        if trees == MANY_TREES
    }
    few, error = _score_rate(results, "best", FEW_TREES, TOO_FEW)
    by_d = {title: _by(results, "d", growth) for growth, title in GROWTHS.items()}
    by_r = {title: _by(results, "r", growth) for growth, title in GROWTHS.items()}
    powers = {title: slope(found, np.log2(list(found))) for title, found in by_d.items()}
    doublings = {title: slope(found, list(found)) for title, found in by_r.items()}
    return [
        Claim(
            "Fully grown honest forests find the noiseless rankings, with Level-Splits and with Breiman's criterion",
            max(regret for regret, _ in final.values()) < TARGET,
            _shown(final, "Spearman distance {:.3f} ± {:.3f} with the most rows"),
        ),
        Claim(
            f"The squared error of the scores falls as 1 / n, up to {RATE_TOLERANCE:g} in the power, where "
            f"{MANY_TREES} trees have {SUBSAMPLE} rows each",
            _hold(with_many),
            _shown(shown, "n to the power {:.2f} ± {:.2f}"),
        ),
        Claim(
            f"With {FEW_TREES} trees instead of {MANY_TREES} it falls more slowly",
            None if any(abs(more) <= 2 * error for more, error in lost.values()) else min(lost.values())[0] > 0,
            _shown(lost, "power higher by {:.2f} ± {:.2f}"),
            of="rankwise",
        ),
        Claim(
            "Subsamples must be large enough to find the informative features: with trees of "
            f"{TOO_FEW} rows the error falls more slowly",
            few > max(rate for rate, _ in rates.values()) + 0.1,
            f"{GROWTHS['best']}: n to the power {few:.2f} ± {error:.2f}",
        ),
        Claim(
            "The rows that forests need grow far more slowly than the number of features d, less than its square root",
            all(power < 0.5 for power, _ in powers.values()),
            _shown(powers, "d to the power {:.2f} ± {:.2f}"),
        ),
        Claim(
            f"They grow twofold or less, up to {DOUBLING_TOLERANCE:g} doublings, with each informative feature",
            _hold([at_most(1.0, *found, DOUBLING_TOLERANCE) for found in doublings.values()]),
            _shown(doublings, "doublings {:.2f} ± {:.2f}"),
        ),
    ]


def _hold(verdicts: list[Verdict]) -> bool | None:
    """Whether a statement holds that all of these judge."""
    if "differs" in verdicts:
        return False
    return None if "too small to judge" in verdicts else True


def _shown(found: dict[str, tuple[float, float]], text: str) -> str:
    return "; ".join(f"{title}: {text.format(value, error)}" for title, (value, error) in found.items())


def _draw(results: Results, figure: Any) -> None:
    figure.set_size_inches(9, 3.2)
    axes = figure.subplots(1, 3)
    for (color, marker), (growth, title) in zip(SERIES, GROWTHS.items(), strict=False):
        for subsample, trees, style in (
            (SUBSAMPLE, FEW_TREES, "-"),
            (SUBSAMPLE, MANY_TREES, "--"),
            (TOO_FEW, FEW_TREES, ":"),
        ):
            scores = results.select(what="scores", growth=growth, subsample=subsample, trees=trees)
            if not len(scores):
                continue
            sizes = scores.settings("n")
            means, errors = ([getattr(scores.select(n=n), one)("error") for n in sizes] for one in ("mean", "error"))
            label = f"{title}, s = {subsample}, {trees} trees"
            axes[0].errorbar(sizes, means, errors, color=color, marker=marker, ms=4, lw=1, ls=style, label=label)
        for ax, name in ((axes[1], "d"), (axes[2], "r")):
            needed = _by(results, name, growth)
            centers = np.array([values.mean() for values in needed.values()])
            spread = np.array([values.std(ddof=1) / np.sqrt(len(values)) for values in needed.values()])
            bars = [2**centers - 2 ** (centers - spread), 2 ** (centers + spread) - 2**centers]
            ax.errorbar(list(needed), 2**centers, bars, color=color, marker=marker, ms=4, lw=1, label=title)
    axes[0].set_xscale("log", base=2)
    axes[0].set_yscale("log", base=2)
    axes[1].set_xscale("log")
    for ax in axes[1:]:
        ax.set_yscale("log", base=2)
    tidy(axes[0], x="training rows n (trees of s rows)", y="squared error of the scores")
    tidy(axes[1], x=f"features d (r = {INFORMATIVE})", y=f"rows until the Spearman distance is {TARGET:g}")
    tidy(axes[2], x=f"informative features r (d = {MANY})")
    axes[0].legend(fontsize=6, frameon=False)


EXPERIMENTS = (
    Experiment(
        id="label-ranking/theorems-a.5-a.6",
        title="Theorems A.5 and A.6: rows that fully grown honest forests need",
        about=(
            "The paper proves that forests of fully grown honest trees, each on a subsample of s rows, learn r-sparse "
            "scores with squared error epsilon from about 2^r log(d) / epsilon rows, and rankings as well, where "
            "relevant features lower the variance by more than others (strong sparsity); Level-Splits in theorem A.5, "
            "Breiman's criterion in theorem A.6. It has no experiment on that.\n\n"
            "We draw independent binary features and three scores that are linear in r of them. For the scores "
            f"themselves, with weights of equal size and noise uniform on [-{NOISE:g}, {NOISE:g}], trees have s = "
            f"{SUBSAMPLE} rows whatever n is, and the error should fall as 1 / n; s = {TOO_FEW} are too few. For "
            "rankings, without noise and with random weights, trees have half of the rows, and we note from how many "
            f"rows on the Spearman distance to the truth stays at or below {TARGET:g}. Constants of the theorems are "
            "not tested: sample sizes with them are far above ours."
        ),
        cells=_cells,
        compute=_compute,
        compare=_compare,
        claims=_claims,
        pictures={"rows": _draw},
    ),
)
