"""What the experiments of Fotakis, Kalavasis and Psaroudaki share: sparse scores, noise, learners, and two taus."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from rankwise.aggregation import sample_mallows
from rankwise.data import orders_from_positions
from rankwise.datasets import make_sparse_label_ranking, noise_scale_for
from rankwise.label_ranking import LabelwiseRanker
from rankwise.metrics import exact_match_score, kendall_tau_score
from rankwise.trees import LeastSquaresForest, LeastSquaresTree
from rankwise_reproductions.experiment import FloatArray

#: number of binary features of the two families (section 2.2)
FEATURES = {"SFN": 100, "LFN": 1000}
N_LABELS = 5
#: rows that predictions are judged on
TEST_ROWS = 1000
LEARNERS = ("shallow tree", "full tree", "honest forest")
SHALLOW = 5
#: ranges of scores and noise (definitions 1.1 and 2.4)
LOWEST, HIGHEST, MOST_NOISE = 0.25, 0.75, 0.25
#: the features that all scores share in the files that the authors distribute
SHARED = 5


def sparse_scores(n: int, family: str, design: str, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """Binary features and scores in [1/4, 3/4].

    "as described": each score is a positive combination of ten features of its own. "as distributed": all five scores
    are combinations, with weights of both signs, of the same five features, as in the files published with the paper.
    """
    if design == "as described":
        X, _, bunch = make_sparse_label_ranking(n, FEATURES[family], N_LABELS, random_state=rng)
        return X, bunch.scores
    X = rng.integers(0, 2, (n, FEATURES[family])).astype(float)
    features = rng.choice(FEATURES[family], SHARED, replace=False)
    values = X[:, features] @ rng.uniform(-1, 1, (SHARED, N_LABELS))
    low, high = values.min(axis=0), values.max(axis=0)
    return X, LOWEST + (HIGHEST - LOWEST) * (values - low) / (high - low)


def sorted_positions(scores: FloatArray) -> FloatArray:
    """Full rankings by decreasing score, 1 = highest; of equal scores the earlier label comes first."""
    order = np.argsort(-scores, axis=1, kind="stable")
    return np.argsort(order, axis=1).astype(float) + 1


def gaussian_noise(scores: FloatArray, alpha: float, rng: np.random.Generator) -> FloatArray:
    """Positions by scores with truncated Gaussian noise that changes about a share alpha of the rankings."""
    from scipy.stats import truncnorm

    scale = noise_scale_for(alpha, scores, random_state=rng)
    if scale == 0:
        return sorted_positions(scores)
    limit = MOST_NOISE / scale
    return sorted_positions(scores + scale * truncnorm.rvs(-limit, limit, size=scores.shape, random_state=rng))


def mallows_on_names(positions: FloatArray, theta: float, rng: np.random.Generator) -> FloatArray:
    """Positions after a Mallows permutation has renamed the labels, as in the published code.

    The label at each place is replaced by its image, o'[j] = p[o[j]], so that the number of discordant pairs follows
    the Mallows law between the *orders*, not between the rankings. `sample_mallows` does it right.
    """
    images = sample_mallows(np.arange(1.0, positions.shape[1] + 1), theta, len(positions), rng).astype(np.intp) - 1
    renamed = np.empty_like(positions)
    np.put_along_axis(renamed, images, positions, axis=1)
    return renamed


def share_changed(truth: FloatArray, observed: FloatArray) -> float:
    """Alpha of definition 2.2: the share of the rankings that noise changed."""
    return 1 - float(exact_match_score(truth, observed))


def both_taus(y_true: npt.ArrayLike, y_pred: npt.ArrayLike) -> dict[str, float]:
    """Mean Kendall tau on positions, which is right, and on orders, as published.

    The published evaluation takes lists of labels, best first, for numbers.
    """
    orders = (orders_from_positions(y) + 1.0 for y in (y_true, y_pred))
    return {"positions": float(kendall_tau_score(y_true, y_pred)), "orders": float(kendall_tau_score(*orders))}


def learned(X: FloatArray, observed: FloatArray, truth: FloatArray, n_trees: int, seed: int) -> dict[str, float]:
    """Both taus of each learner, taught on all but the last rows with noise, and judged on those without."""
    train, test = slice(None, -TEST_ROWS), slice(-TEST_ROWS, None)
    regressors: dict[str, Any] = {
        "shallow tree": LeastSquaresTree(max_depth=SHALLOW),
        "full tree": LeastSquaresTree(),
        "honest forest": LeastSquaresForest(n_trees, honest=True),
    }
    values = {}
    for name, regressor in regressors.items():
        ranker = LabelwiseRanker(regressor, random_state=seed).fit(X[train], observed[train])
        for kind, tau in both_taus(truth[test], ranker.predict(X[test])).items():
            values[f"{name}, {kind}"] = tau
    return values
