"""Least-squares trees from their definitions: every split tried, every subtree listed."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np


def squared_error(y: np.ndarray, w: np.ndarray) -> float:
    """Weighted squared error around the mean, coordinate by coordinate over the rows that have it."""
    error = 0.0
    for column in np.reshape(y, (len(y), -1)).T:
        known = ~np.isnan(column)
        if known.any():
            mean = np.average(column[known], weights=w[known])
            error += float(w[known] @ (column[known] - mean) ** 2)
    return error


def numeric_splits(column: np.ndarray) -> Iterator[np.ndarray]:
    """All ways to send rows left by a threshold, missing ones to either side."""
    missing = np.isnan(column)
    for value in np.unique(column[~missing]):
        for missing_left in (False, True) if missing.any() else (False,):
            yield np.where(missing, missing_left, column <= value)


def subset_splits(column: np.ndarray) -> Iterator[np.ndarray]:
    """All ways to send categories left."""
    values = np.unique(column)
    for size in range(1, len(values)):
        for chosen in combinations(values, size):
            yield np.isin(column, chosen)


def best_split_error(X: np.ndarray, y: np.ndarray, w: np.ndarray, min_leaf: int = 1, splits=numeric_splits) -> float:
    """The smallest squared error that a single split of the rows leaves; infinity if none is allowed."""
    best = np.inf
    for column in X.T:
        for left in splits(column):
            if min(left.sum(), (~left).sum()) >= min_leaf:
                best = min(best, squared_error(y[left], w[left]) + squared_error(y[~left], w[~left]))
    return best


def random_tree(  # noqa: C901 - all of it is one definition
    places: np.ndarray, missing: int, y: np.ndarray, w: np.ndarray, seed: int, min_leaf: int, max_features: int
) -> list[tuple[np.ndarray, int, np.ndarray | None, bool]]:
    """A tree by one random cut for each feature drawn, of whole numbers: the rows, feature and division of each node.

    Children come side by side, the last node made is split first, and of splits that gain the same the first is taken.
    """
    nodes: list[Any] = [(np.arange(places.shape[1]), -1, None, False)]
    waiting = [(0, seed)]
    while waiting:
        node, state = waiting.pop()
        rows = nodes[node][0]
        if len(rows) < 2 * min_leaf or (y[rows] == y[rows[0]]).all():
            continue
        candidates, drawing = list(range(len(places))), state
        best: tuple[Fraction, Any] = (Fraction(-1), None)
        for t in range(len(places)):
            if t >= max_features and best[1] is not None:
                break
            if max_features < len(places):
                drawing = splitmix(drawing)
                other = t + drawing % (len(places) - t)
                candidates[t], candidates[other] = candidates[other], candidates[t]
            f = candidates[t]
            column = places[f, rows].astype(int)
            known = column[column < missing]
            if len(known) == 0 or len(np.unique(column)) < 2:
                continue
            cut = known.min() + ((splitmix(state + f + 3) >> 32) * int(np.ptp(known)) >> 32)
            for missing_left in (False, True) if len(known) < len(column) else (False,):
                left = (column <= cut) | ((column == missing) & missing_left)
                if min(left.sum(), (~left).sum()) < min_leaf:
                    continue
                score = Fraction(0)
                for side in (rows[left], rows[~left]):
                    score += Fraction(int(((w[side] @ y[side]) ** 2).sum()), int(w[side].sum()))
                if score > best[0]:
                    # Where nothing is missing, the majority says where missing values go.
                    way = missing_left if len(known) < len(column) else 2 * left.sum() > len(rows)
                    best = (score, (f, left, way))
        if best[1] is not None:
            f, left, way = best[1]
            nodes[node] = (rows, f, left, way)
            for side, part in enumerate((rows[left], rows[~left])):
                waiting.append((len(nodes), splitmix(state + side + 1)))
                nodes.append((part, -1, None, False))
    return nodes


def splitmix(state: int) -> int:
    """The hash of a 64-bit number of Steele, Lea and Flood (2014)."""
    z = (state + 0x9E3779B97F4A7C15) % 2**64
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB % 2**64
    return z ^ (z >> 31)


def level_splits_binary(X: np.ndarray, y: np.ndarray, n_levels: int) -> list[int]:
    """Algorithm 9 of Fotakis, Kalavasis, Psaroudaki: directions that maximize V_n(S + i), one after the other."""
    chosen: list[int] = []
    for _ in range(n_levels):
        values = {}
        for direction in set(range(X.shape[1])) - set(chosen):
            cells: dict[tuple, list[int]] = {}
            for row, x in enumerate(X[:, [*chosen, direction]]):
                cells.setdefault(tuple(x), []).append(row)
            values[direction] = sum(len(rows) / len(X) * np.sum(y[rows].mean(axis=0) ** 2) for rows in cells.values())
        chosen.append(max(values, key=values.get))
    return chosen


def honest_level_splits_binary(X: np.ndarray, y: np.ndarray, X_fill: np.ndarray, n_levels: int) -> list[dict[int, int]]:
    """Algorithm 9 with h = 1, on bits: the cells, each the values of the directions it was cut by.

    Directions maximize V_n on the rows (X, y); a cell is cut if both sides hold rows of X_fill.
    """
    cells: list[dict[int, int]] = [{}]
    for direction in level_splits_binary(X, y, n_levels):
        next_level = []
        for cell in cells:
            sides = [{**cell, direction: value} for value in (0, 1)]
            next_level += sides if all(_members(side, X_fill).any() for side in sides) else [cell]
        cells = next_level
    return cells


def breiman_binary(X: np.ndarray, y: np.ndarray, X_fill: np.ndarray, n_cells: int) -> list[dict[int, int]]:
    """Algorithm 10 with a queue, on bits: cells are cut in the order in which they were made, up to a number of cells.

    The direction of a cell maximizes V_n on its rows of (X, y), among those with rows of both kinds on both sides.
    """
    cells: list[dict[int, int]] = []
    queue: list[dict[int, int]] = [{}]
    while queue and len(cells) + len(queue) < n_cells:
        cell = queue.pop(0)
        here = _members(cell, X)
        best, best_value = None, -np.inf
        for direction in range(X.shape[1]) if here.any() and np.ptp(y[here], axis=0).max() > 1e-9 else []:
            sides = [{**cell, direction: value} for value in (0, 1)]
            if direction in cell or not all(_members(s, rows).any() for s in sides for rows in (X, X_fill)):
                continue
            value = 0.0
            for side in sides:
                rows = _members(side, X)
                value += rows.sum() / here.sum() * np.sum(y[rows].mean(axis=0) ** 2)
            if value > best_value + 1e-12:
                best, best_value = sides, value
        if best is None:
            cells.append(cell)
        else:
            queue += best
    return cells + queue


def _members(cell: dict[int, int], X: np.ndarray) -> np.ndarray:
    return np.array([all(x[direction] == value for direction, value in cell.items()) for x in X], dtype=bool)


def mean_of_cell(cells: list[dict[int, int]], x: np.ndarray, X_fill: np.ndarray, y_fill: np.ndarray) -> np.ndarray:
    """What the leaf of x predicts: the mean of the filling rows in its cell."""
    (cell,) = [cell for cell in cells if _members(cell, x[None])[0]]
    return y_fill[_members(cell, X_fill)].mean(axis=0)


def level_cuts(
    X: np.ndarray, y: np.ndarray, w: np.ndarray, n_levels: int, min_leaf: int = 1
) -> tuple[list[int], np.ndarray]:
    """One common cut per level: the features cut by, and the cell in which each row ends."""
    cell = np.zeros(len(X), dtype=int)
    features = []
    for _ in range(n_levels):
        best, best_cells = np.inf, None
        for feature, column in enumerate(X.T):
            for left in numeric_splits(column):
                divided = _divided(cell, left, min_leaf)
                error = sum(squared_error(y[divided == c], w[divided == c]) for c in np.unique(divided))
                if len(np.unique(divided)) > len(np.unique(cell)) and error < best - 1e-9:
                    best, best_cells, best_feature = error, divided, feature
        if best_cells is None:
            break
        features.append(best_feature)
        cell = best_cells
    return features, cell


def _divided(cell: np.ndarray, left: np.ndarray, min_leaf: int) -> np.ndarray:
    out = np.empty_like(cell)
    number = 0
    for c in np.unique(cell):
        sides = (cell == c) & left, (cell == c) & ~left
        if min(side.sum() for side in sides) < min_leaf:
            out[cell == c] = number
            number += 1
        else:
            for side in sides:
                out[side] = number
                number += 1
    return out


def fill_leaf(path: list[np.ndarray], y: np.ndarray, w: np.ndarray) -> np.ndarray:
    """Mean target of a leaf; ``path`` holds masks of the filling rows of the leaf, then of its ancestors, upwards."""
    value = np.full(y.shape[1], np.nan)
    for rows in reversed(path):
        for c in range(y.shape[1]):
            known = rows & ~np.isnan(y[:, c])
            if known.any():
                value[c] = np.average(y[known, c], weights=w[known])
    return value


def pruned_subtrees(left: np.ndarray, node: int = 0) -> list[frozenset[int]]:
    """The leaves of every subtree that keeps the given node."""
    alone = [frozenset([node])]
    if left[node] < 0:
        return alone
    return alone + [a | b for a in pruned_subtrees(left, left[node]) for b in pruned_subtrees(left, left[node] + 1)]


def merge_greedily(left: np.ndarray, error: np.ndarray) -> tuple[list[int], list[float]]:
    """Merge, again and again, the sibling leaves whose union raises the error least."""
    leaves = {node for node in range(len(left)) if left[node] < 0}
    nodes, rises = [], []
    while 0 not in leaves:
        rise = {
            node: error[node] - error[left[node]] - error[left[node] + 1]
            for node in range(len(left))
            if left[node] in leaves and left[node] + 1 in leaves
        }
        node = min(rise, key=rise.get)
        leaves = leaves - {left[node], left[node] + 1} | {node}
        nodes.append(node)
        rises.append(rise[node])
    return nodes, rises
