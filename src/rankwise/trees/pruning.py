"""Smaller trees out of a grown one: cost-complexity pruning, and merging of sibling leaves.

Trees use it through `base.TreeMixin`.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass

import numpy as np

from rankwise._typing import FloatArray, IntArray
from rankwise.trees.engine import GrowthRule, TrainingSet
from rankwise.trees.structure import TargetRows, Tree

# Penalties that cross-validation compares, at most; and the number of folds.
_MOST_ALPHAS = 40
_FOLDS = 5


@dataclass(frozen=True)
class PruningPath:
    """Subtrees of a tree, from the whole tree to the root alone.

    Attributes
    ----------
    alphas : ndarray
        From which penalty per leaf on each subtree is the best; the first is 0.
    errors : ndarray
        Squared error per unit of weight that each subtree leaves (sum of the dispersions of its leaves).
    n_leaves : ndarray of int
        Leaves of each subtree.
    """

    alphas: FloatArray
    errors: FloatArray
    n_leaves: IntArray


def pruning_path(tree: Tree) -> PruningPath:
    """Subtrees that minimize error + alpha x leaves, for growing alpha (weakest links, Breiman et al. 1984)."""
    return _weakest_links(tree)[0]


def pruned(tree: Tree, alpha: float, penalties: FloatArray | None = None) -> Tree:
    """The smallest subtree that minimizes error + alpha x leaves; its leaves are to be filled again.

    ``penalties`` are those of `collapse_penalties`, where they are known already.
    """
    if alpha <= 0:
        return tree
    known = collapse_penalties(tree) if penalties is None else penalties
    return tree.collapsed(np.flatnonzero(known <= alpha))


def collapse_penalties(tree: Tree) -> FloatArray:
    """For every inner node the alpha from which it is a leaf of the best subtree; infinity for leaves."""
    return _weakest_links(tree)[1]


def merge_sequence(tree: Tree) -> tuple[IntArray, FloatArray]:
    """Inner nodes in the order in which their leaves merge, and by how much each merger raises the error.

    At every step the two sibling leaves whose union raises the squared error least become one leaf (paper: Clémençon,
    Korba, Sibony 2018, section 4.2). Errors are per unit of weight.
    """
    total = max(tree.weight[0], 1e-300)
    waiting = tree.is_leaf.copy()
    parent = tree.parent
    ready = [
        (float(tree.gain[node]) / total, int(node))
        for node in np.flatnonzero(tree.left >= 0)
        if waiting[tree.left[node]] and waiting[tree.left[node] + 1]
    ]
    heapq.heapify(ready)
    nodes, rises = [], []
    while ready:
        rise, node = heapq.heappop(ready)
        nodes.append(node)
        rises.append(rise)
        waiting[node] = True
        above = int(parent[node])
        if above >= 0 and waiting[tree.left[above]] and waiting[tree.left[above] + 1]:
            heapq.heappush(ready, (float(tree.gain[above]) / total, above))
    return np.array(nodes, dtype=np.intp), np.array(rises)


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
        tree, fill_rows, _ = training.grow(rule, inside, rng)
        penalties = collapse_penalties(tree)
        for place, alpha in enumerate(alphas):
            smaller = training.fill(pruned(tree, alpha, penalties), fill_rows)
            errors[place] += _prediction_error(smaller, training, outside)
    best = len(errors) - 1 - np.argmin(errors[::-1])  # the smallest tree among equals
    return float(alphas[best]), {**tried, "test_error": errors / training.weights.sum()}


def _weakest_links(tree: Tree) -> tuple[PruningPath, FloatArray]:
    """The path, and for every inner node the alpha from which on it is a leaf (infinity for leaves)."""
    total = max(tree.weight[0], 1e-300)
    own = tree.error / total
    parent, left = tree.parent, tree.left
    below = np.where(tree.is_leaf, own, 0.0)
    leaves = tree.is_leaf.astype(np.intp)
    for node in range(len(left) - 1, 0, -1):  # children have larger numbers than their parents
        below[parent[node]] += below[node]
        leaves[parent[node]] += leaves[node]
    alpha_of = np.full(len(left), np.inf)
    link = {int(node): _link(own, below, leaves, int(node)) for node in np.flatnonzero(left >= 0)}
    waiting = [(value, node) for node, value in link.items()]
    heapq.heapify(waiting)
    alphas, errors, sizes = [0.0], [float(below[0])], [int(leaves[0])]
    while waiting:
        value, node = heapq.heappop(waiting)
        if link.get(node) != value:
            continue  # stale: the subtree has shrunk since, or is gone
        alpha = max(value, alphas[-1])
        fall = own[node] - below[node], 1 - leaves[node]
        _forget(link, left, node, alpha_of, alpha)
        above = node
        while above >= 0:
            below[above] += fall[0]
            leaves[above] += fall[1]
            if above != node:
                link[above] = _link(own, below, leaves, above)
                heapq.heappush(waiting, (link[above], above))
            above = int(parent[above])
        if alpha > alphas[-1]:
            alphas.append(alpha)
            errors.append(float(below[0]))
            sizes.append(int(leaves[0]))
        else:
            errors[-1], sizes[-1] = float(below[0]), int(leaves[0])
    return PruningPath(np.array(alphas), np.array(errors), np.array(sizes)), alpha_of


def _link(own: FloatArray, below: FloatArray, leaves: IntArray, node: int) -> float:
    """How much error each leaf below a node saves. Rounding may make it a little negative."""
    return max(float(own[node] - below[node]) / float(leaves[node] - 1), 0.0)


def _forget(link: dict[int, float], left: np.ndarray, node: int, alpha_of: FloatArray, alpha: float) -> None:
    """All inner nodes from ``node`` on downwards leave the tree at this alpha."""
    stack = [node]
    while stack:
        inner = stack.pop()
        if link.pop(inner, None) is None:
            continue
        alpha_of[inner] = alpha
        stack += [child for child in (int(left[inner]), int(left[inner]) + 1) if left[child] >= 0]


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
