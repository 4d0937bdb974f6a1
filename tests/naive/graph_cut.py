"""Features of ordered partitions from their definitions: values of sets, a regression, all completions."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np


def cut(weights: np.ndarray, inside: set[int]) -> float:
    """Weight of the edges that leave a set."""
    items = range(len(weights))
    return float(sum(weights[i, j] for i in items for j in items if i in inside and j not in inside))


def parts(row: np.ndarray) -> list[list[int]]:
    """Ranked items, level by level, the best first; unlisted items are the last level."""
    return [[i for i in range(len(row)) if row[i] == value] for value in sorted({v for v in row if not np.isnan(v)})]


def features(partition: list[list[int]], F: Callable[[set[int]], float], pooled: bool = True) -> np.ndarray:
    """Increments of F per item when levels join one after the other, the best first; or their antitonic regression.

    The regression is taken by the min-max formula: of all runs of levels around level t, the lowest over the starts
    of the highest over the ends of their means.
    """
    inside: set[int] = set()
    increments, sizes = [], []
    for part in partition:
        increments.append(F(inside | set(part)) - F(inside))
        sizes.append(len(part))
        inside |= set(part)
    result = np.zeros(sum(sizes))
    for t, part in enumerate(partition):
        value = increments[t] / sizes[t]
        if pooled:
            value = min(
                max(sum(increments[s : e + 1]) / sum(sizes[s : e + 1]) for e in range(t, len(partition)))
                for s in range(t + 1)
            )
        result[part] = value
    return result


def gap_completions(row: np.ndarray) -> list[list[list[int]]]:
    """Missing items in the gaps between levels, in all ways; those that share a gap tie."""
    ranked, missing = parts(row), np.flatnonzero(np.isnan(row))
    found = []
    for gaps in itertools.product(range(len(ranked) + 1), repeat=len(missing)):
        partition = []
        for gap in range(len(ranked) + 1):
            partition.append([int(item) for item, own in zip(missing, gaps, strict=True) if own == gap])
            partition += ranked[gap : gap + 1]
        found.append([part for part in partition if part])
    return found


def full_completions(row: np.ndarray) -> list[list[list[int]]]:
    """All orders of all items that put no item before one that the ranking puts before it."""
    return [
        [[item] for item in order]
        for order in itertools.permutations(range(len(row)))
        if not any(row[later] < row[sooner] for sooner, later in itertools.combinations(order, 2))
    ]


def mean_features(
    row: np.ndarray, F: Callable[[set[int]], float], pooled: bool = True, full: bool = False
) -> np.ndarray:
    """Mean over all completions."""
    completions = full_completions(row) if full else gap_completions(row)
    return np.mean([features(partition, F, pooled) for partition in completions], axis=0)


def never_merges(weights: np.ndarray) -> bool:
    """Whether pooling leaves the features of every full ranking as they are."""
    items = range(len(weights))
    return all(
        np.allclose(
            features([[i] for i in order], lambda s: cut(weights, s)),
            features([[i] for i in order], lambda s: cut(weights, s), pooled=False),
        )
        for order in itertools.permutations(items)
    )
