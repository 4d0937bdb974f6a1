"""What the experiments of Fotakis, Kalavasis and Psaroudaki share: the data of the figures, learners, and two taus."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from rankwise.data import orders_from_positions
from rankwise.datasets import GaussianNoise, RankingOracle, noise_scale_for
from rankwise.label_ranking import LabelwiseRanker
from rankwise.metrics import exact_match_score, kendall_tau_score
from rankwise.trees import LeastSquaresForest, LeastSquaresTree
from rankwise_reproductions.experiment import FloatArray, Results, Verdict
from rankwise_reproductions.outcome import judge

#: number of binary features of the two families (section 2.2)
FEATURES = {"SFN": 100, "LFN": 1000}
#: "as described": ten features of its own for each score; "as distributed": the same five for all, as in the authors'
#: files
DESIGNS = {"as distributed": "shared", "as described": "own"}
#: rows that predictions are judged on
TEST_ROWS = 1000
TREES = ("shallow tree", "full tree")
#: honest as in the text, and ordinary as in the published code
FORESTS = ("honest forest", "ordinary forest")
LEARNERS = (*TREES, *FORESTS)
SHALLOW = 5


def figure_oracle(family: str, design: str, seed: int) -> RankingOracle:
    """The noiseless rankings of Figures 1 and 2."""
    return RankingOracle.sparse(preset=family, design=DESIGNS[design], random_state=seed)  # type: ignore[arg-type]


def gaussian_noise(oracle: RankingOracle, X: FloatArray, alpha: float, rng: np.random.Generator) -> FloatArray:
    """Positions with truncated Gaussian noise on the scores that changes about a share alpha of these rankings."""
    scale = noise_scale_for(alpha, oracle.scores(X), random_state=rng)
    return replace(oracle, noise=GaussianNoise(scale, bound=0.25)).draw(X, rng).complete


def share_changed(truth: FloatArray, observed: FloatArray) -> float:
    """Alpha of definition 2.2: the share of the rankings that noise changed."""
    return 1 - float(exact_match_score(truth, observed))


def both_taus(y_true: npt.ArrayLike, y_pred: npt.ArrayLike) -> dict[str, float]:
    """Mean Kendall tau on positions, which is right, and on orders, as published.

    The published evaluation takes lists of labels, best first, for numbers.
    """
    orders = (orders_from_positions(y) + 1.0 for y in (y_true, y_pred))
    return {"positions": float(kendall_tau_score(y_true, y_pred)), "orders": float(kendall_tau_score(*orders))}


def learned(
    X: FloatArray, observed: FloatArray, truth: FloatArray, learners: tuple[str, ...], n_trees: int, seed: int
) -> dict[str, float]:
    """Both taus of each learner, taught on all but the last rows with noise, and judged on those without."""
    train, test = slice(None, -TEST_ROWS), slice(-TEST_ROWS, None)
    regressors: dict[str, Any] = {
        "shallow tree": LeastSquaresTree(max_depth=SHALLOW),
        "full tree": LeastSquaresTree(),
        "honest forest": LeastSquaresForest(n_trees, honest=True),
        "ordinary forest": LeastSquaresForest(n_trees),
    }
    values = {}
    for name in learners:
        ranker = LabelwiseRanker(regressors[name], random_state=seed).fit(X[train], observed[train])
        for kind, tau in both_taus(truth[test], ranker.predict(X[test])).items():
            values[f"{name}, {kind}"] = tau
    return values


def having(results: Results, name: str) -> Results:
    """The cells that measured this."""
    return Results([(cell, values) for cell, values in results if name in values])


def rows_needed(sizes: Sequence[int], regrets: Sequence[float], target: float) -> float:
    """Base-2 logarithm of the rows from which on the regret stays at or below the target; the last, if it does not."""
    above = np.flatnonzero(np.array(regrets) > target)
    return float(np.log2(sizes[min(above[-1] + 1, len(sizes) - 1)] if len(above) else sizes[0]))


def slope(found: Mapping[int, FloatArray], x: npt.ArrayLike) -> tuple[float, float]:
    """Slope of groups of values against an x for each group, and its standard error."""
    xs = np.repeat(np.asarray(x, dtype=float), [len(values) for values in found.values()])
    ys = np.concatenate(list(found.values()))
    rise, start = np.polyfit(xs, ys, 1)
    residual = ys - rise * xs - start
    return float(rise), float(np.sqrt(residual.var(ddof=2) / np.sum((xs - xs.mean()) ** 2)))


def at_most(most: float, ours: float, error: float, tolerance: float) -> Verdict:
    """Whether ours is at most what the paper says; as in `judge`, the tolerance does not grow with our error."""
    return "agrees" if ours + 2 * error <= most + tolerance else judge(most, max(ours, most), error, tolerance)
