"""Many trees: the rows each one sees, growing them side by side, and the mean of what they say."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rankwise._progress import track
from rankwise._typing import FloatArray, IntArray
from rankwise.trees.engine import GrowthRule, TrainingSet
from rankwise.trees.leaves import _jit
from rankwise.trees.structure import Tree

# Rows that go down all trees before the next ones do: their sums stay in the cache.
_ROWS_AT_ONCE = 1024


@dataclass(frozen=True)
class Sampling:
    """Which rows a tree sees: a bootstrap, or a part without replacement."""

    bootstrap: bool
    max_samples: int | float | None

    def size(self, n: int) -> int:
        """Number of draws from n rows."""
        if self.max_samples is None:
            return n
        if isinstance(self.max_samples, float):
            return max(1, round(self.max_samples * n))
        return self.max_samples

    def draw(self, rows: IntArray, rng: np.random.Generator) -> tuple[IntArray, IntArray]:
        """The rows drawn, each once, and how often each was."""
        n = len(rows)
        size = self.size(n)
        if self.bootstrap:
            times = np.bincount(rng.integers(0, n, size), minlength=n)
            drawn = np.flatnonzero(times)
            return rows[drawn], times[drawn]
        if size > n:
            raise ValueError(f"max_samples is {size}, but there are {n} rows to draw from; or set bootstrap=True")
        drawn = np.arange(n) if size == n else np.sort(rng.choice(n, size, replace=False))
        return rows[drawn], np.ones(len(drawn), dtype=np.intp)


def grow_trees(
    training: TrainingSet, rule: GrowthRule, rows: IntArray, sampling: Sampling, seeds: IntArray, n_jobs: int | None
) -> list[Tree]:
    """One tree per seed; the same trees for every number of threads."""
    from joblib import Parallel, delayed

    def one(seed: int) -> Tree:
        rng = np.random.default_rng(seed)
        drawn, times = sampling.draw(rows, rng)
        often = np.zeros(len(training.weights))
        often[drawn] = times
        return training.grow(rule, drawn, often, rng)

    work = Parallel(n_jobs=n_jobs, prefer="threads", return_as="generator")
    return list(track(work(delayed(one)(int(seed)) for seed in seeds), "Growing trees", len(seeds)))


def mean_prediction(trees: list[Tree], X: FloatArray, size: int, n_jobs: int | None) -> FloatArray:
    """Mean of the trees' values for every row; trees are added up in order, so threads change nothing."""
    from joblib import Parallel, delayed

    total = np.zeros((len(X), size))
    blocks = [slice(start, start + _ROWS_AT_ONCE) for start in range(0, len(X), _ROWS_AT_ONCE)]

    def add(rows: slice) -> None:
        for tree in trees:
            _jit.add_values(tree.leaf_of(X[rows]), tree.values, total[rows])

    Parallel(n_jobs=n_jobs, prefer="threads")(delayed(add)(rows) for rows in blocks)
    total /= len(trees)
    return total


def out_of_bag_prediction(
    trees: list[Tree], X: FloatArray, rows: IntArray, sampling: Sampling, seeds: IntArray, size: int, block: IntArray
) -> FloatArray:
    """Mean, for the given rows, of the trees that have not seen them; NaN where all have."""
    total = np.zeros((len(block), size))
    number = np.zeros(len(block))
    for tree, seed in zip(trees, seeds, strict=True):
        drawn, _ = sampling.draw(rows, np.random.default_rng(int(seed)))
        unseen = np.flatnonzero(~np.isin(block, drawn))
        if len(unseen):
            part = np.zeros((len(unseen), size))
            _jit.add_values(tree.leaf_of(X[block[unseen]]), tree.values, part)
            total[unseen] += part
            number[unseen] += 1
    return np.divide(total, number[:, None], out=np.full_like(total, np.nan), where=number[:, None] > 0)


def draw_seeds(n: int, rng: np.random.Generator) -> IntArray:
    """One seed per tree."""
    return rng.integers(0, 2**63 - 1, n)
