"""Level-Splits with two halves: one chooses the cuts, the other decides which cells they divide; called by `engine`.

The cuts are those of a Level-Splits tree of the first half. They then divide the space once more, level by level: a cut
divides the cells in which both sides hold rows of the second half.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rankwise._typing import BoolArray, FloatArray, IntArray
from rankwise.trees._grow_jit import Limits
from rankwise.trees.structure import TargetRows, Tree


class _Cut(NamedTuple):
    feature: int
    threshold: float
    pair_of_sets: int  # number of the pair of sets that a cut by categories has, else -1
    missing_left: bool


def recut(
    chosen: Tree, X: FloatArray, targets: TargetRows, weights: FloatArray, X_fill: FloatArray, limits: Limits
) -> Tree:
    """The tree that divides the cells of the filling rows by the cuts of a Level-Splits tree, level by level.

    Parameters
    ----------
    chosen : Tree
        Level-Splits tree of the rows that choose.
    X, targets, weights
        These rows, for the errors of the nodes.
    X_fill : ndarray of shape (n_fill, n_features)
        The rows that fill the leaves.
    limits : Limits
        ``min_samples_split`` and ``min_samples_leaf`` count filling rows; a level that would exceed
        ``max_leaf_nodes`` ends the tree.

    Returns
    -------
    Tree
        Not filled yet.
    """
    feature, threshold, missing_left, left, set_of = [-1], [0.0], [False], [-1], [-1]
    node, node_fill = np.zeros(len(X), dtype=np.intp), np.zeros(len(X_fill), dtype=np.intp)
    passed = [node]  # the node of each row after each level
    for cut in _cuts(chosen):
        goes_left, fill_goes_left = (_goes_left(chosen, cut, rows) for rows in (X, X_fill))
        n_fill = np.bincount(node_fill, minlength=len(left))
        n_left = np.bincount(node_fill[fill_goes_left], minlength=len(left))
        enough = np.minimum(n_left, n_fill - n_left) >= limits.min_samples_leaf
        divided = np.flatnonzero((n_fill >= limits.min_samples_split) & enough)
        if left.count(-1) + len(divided) > limits.max_leaf_nodes:
            break
        first = np.full(len(left), -1)
        for parent in divided:
            feature[parent], threshold[parent], missing_left[parent] = cut.feature, cut.threshold, cut.missing_left
            set_of[parent] = 2 * cut.pair_of_sets + cut.missing_left if cut.pair_of_sets >= 0 else -1
            first[parent] = left[parent] = len(left)
            feature += [-1, -1]
            threshold += [0.0, 0.0]
            missing_left += [False, False]
            left += [-1, -1]
            set_of += [-1, -1]
        node = np.where(first[node] >= 0, first[node] + ~goes_left, node)
        node_fill = np.where(first[node_fill] >= 0, first[node_fill] + ~fill_goes_left, node_fill)
        passed.append(node)
    error, weight, count = _statistics(passed, targets, weights, len(left))
    children = np.array(left)
    inner = np.flatnonzero(children >= 0)
    gain = np.zeros(len(left))
    gain[inner] = np.maximum(error[inner] - error[children[inner]] - error[children[inner] + 1], 0.0)
    return Tree(
        feature=np.array(feature, dtype=np.int32),
        threshold=np.array(threshold, dtype=np.float64),
        missing_left=np.array(missing_left, dtype=np.bool_),
        left=children.astype(np.int32),
        gain=gain,
        error=error,
        weight=weight,
        count=count,
        set_of=np.array(set_of, dtype=np.int32),
        sets=chosen.sets,
    )


def _cuts(chosen: Tree) -> list[_Cut]:
    """The cuts of a Level-Splits tree in the order of its levels; nodes that are cut later have later children."""
    inner = np.flatnonzero(chosen.left >= 0)
    found: dict[tuple[int, float, int], float] = {}  # whether most rows of a level see missing values go left
    for node in inner[np.argsort(chosen.left[inner])]:
        key = int(chosen.feature[node]), float(chosen.threshold[node]), int(chosen.set_of[node]) // 2
        found[key] = found.get(key, 0.0) + int(chosen.count[node]) * (1 if chosen.missing_left[node] else -1)
    return [_Cut(*key, votes > 0) for key, votes in found.items()]


def _goes_left(chosen: Tree, cut: _Cut, X: FloatArray) -> BoolArray:
    column = X[:, cut.feature]
    missing = np.isnan(column)
    if cut.pair_of_sets < 0:
        return np.where(missing, cut.missing_left, column <= cut.threshold)
    words = chosen.sets[2 * cut.pair_of_sets + cut.missing_left]
    code = np.where(missing, 0, column).astype(np.intp)
    is_left = (words[code // 64] >> (code % 64).astype(np.uint64)) & np.uint64(1) == 1
    return np.where(missing, cut.missing_left, is_left)


def _statistics(
    passed: list[IntArray], targets: TargetRows, weights: FloatArray, n_nodes: int
) -> tuple[FloatArray, FloatArray, IntArray]:
    """Squared error, weight and number of the choosing rows of each node."""
    rows = np.tile(np.arange(len(weights)), len(passed))
    at = np.concatenate(passed)
    # A row stays in an undivided node for several levels, but counts once.
    _, once = np.unique(at * len(weights) + rows, return_index=True)
    rows, at = rows[once], at[once]
    error = np.zeros(n_nodes)
    for c in range(targets.size):
        values = targets.coordinates(slice(c, c + 1))[rows, 0]
        known = np.where(np.isnan(values), 0.0, weights[rows])
        values = np.nan_to_num(values)
        mass, total = (np.bincount(at, known * part, n_nodes) for part in (np.ones(len(at)), values))
        squares = np.bincount(at, known * values**2, n_nodes)
        error += squares - np.divide(total**2, mass, out=np.zeros(n_nodes), where=mass > 0)
    weight = np.bincount(at, weights[rows], n_nodes).astype(np.float64, copy=False)
    return np.maximum(error, 0.0), weight, np.bincount(at, minlength=n_nodes)
