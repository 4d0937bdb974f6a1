"""How much a leaf should cost: the penalty of pruning, chosen by cross-validation."""

from __future__ import annotations

import numpy as np

from rankwise._typing import FloatArray, IntArray
from rankwise.trees.engine import GrowthRule, TrainingSet
from rankwise.trees.pruning import PruningPath, collapse_penalties, pruned
from rankwise.trees.structure import Tree
from rankwise.trees.targets import TargetRows

# Penalties that are compared, at most; and the number of folds.
_MOST_ALPHAS = 40
_FOLDS = 5


def penalty_by_cross_validation(
    training: TrainingSet, rule: GrowthRule, path: PruningPath, rng: np.random.Generator
) -> tuple[float, dict[str, FloatArray | IntArray]]:
    """The penalty whose trees, grown without a fold, predict the targets of that fold best; and all that were tried.

    Of each penalty there are the leaves and the error of the subtree that it chooses from the tree of all rows, and
    the error of the folds, both errors per unit of weight.
    """
    n = len(training.X)
    alphas = _candidate_alphas(path) if n > 1 else np.zeros(1)
    subtree = np.searchsorted(path.alphas, alphas, side="right") - 1
    tried: dict[str, FloatArray | IntArray] = {
        "ccp_alpha": alphas,
        "n_leaves": path.n_leaves[subtree],
        "training_error": path.errors[subtree],
    }
    if n < 2:
        return 0.0, {**tried, "test_error": np.full(1, np.nan)}
    fold = rng.permutation(n) % min(_FOLDS, n)
    errors = np.zeros(len(alphas))
    for number in range(fold.max() + 1):
        inside, outside = np.flatnonzero(fold != number), np.flatnonzero(fold == number)
        tree, fill_rows = training.grow(rule, inside, rng)
        penalties = collapse_penalties(tree)
        for place, alpha in enumerate(alphas):
            smaller = training.fill(pruned(tree, alpha, penalties), fill_rows)
            errors[place] += _prediction_error(smaller, training, outside)
    best = len(errors) - 1 - np.argmin(errors[::-1])  # the smallest tree among equals
    return float(alphas[best]), {**tried, "test_error": errors / training.weights.sum()}


# ---------------------------------------------------------------------------------------------------------------


def _candidate_alphas(path: PruningPath) -> FloatArray:
    """Penalties between those at which the best subtree changes (geometric means), thinned out."""
    between = np.sqrt(path.alphas[:-1] * path.alphas[1:])
    candidates = np.unique(np.concatenate([[0.0], between, path.alphas[-1:]]))
    if len(candidates) > _MOST_ALPHAS:
        candidates = candidates[np.linspace(0, len(candidates) - 1, _MOST_ALPHAS).round().astype(int)]
    return candidates


def _prediction_error(tree: Tree, training: TrainingSet, rows: IntArray) -> float:
    total = 0.0
    part = TargetRows(training.targets.values[rows], training.targets.is_pairs)
    for block in part.blocks():
        difference = part.vectors(block) - tree.predict(training.X[rows[block]])
        total += float(training.weights[rows[block]] @ np.nansum(difference**2, axis=1))
    return total
