"""Many trees: the rows each one sees, growing them side by side, and the mean of what they say."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral

import numpy as np

from rankwise._progress import track
from rankwise._typing import FloatArray, IntArray
from rankwise.trees.engine import GrowthRule, TrainingSet
from rankwise.trees.structure import Tree

# Rows that go down all trees before the next ones do: their sums stay in the cache.
_ROWS_AT_ONCE = 4096


@dataclass(frozen=True)
class Sampling:
    """Which rows a tree sees: a bootstrap, or a part without replacement."""

    bootstrap: bool
    max_samples: int | float | None

    def size(self, n: int) -> int:
        """Number of draws from n rows."""
        if self.max_samples is None:
            return n
        if isinstance(self.max_samples, Integral):
            return int(self.max_samples)
        return max(1, round(self.max_samples * n))

    def draw(self, n: int, rng: np.random.Generator) -> tuple[IntArray, IntArray]:
        """The rows drawn from n, each once, and how often each was."""
        size = self.size(n)
        if self.bootstrap:
            times = np.bincount(rng.integers(0, n, size), minlength=n)
            drawn = np.flatnonzero(times)
            return drawn, times[drawn]
        if size > n:
            raise ValueError(f"max_samples is {size}, but there are {n} rows to draw from; or set bootstrap=True")
        drawn = np.arange(n) if size == n else np.sort(rng.choice(n, size, replace=False))
        return drawn, np.ones(len(drawn), dtype=np.intp)

    def check_leaves_rows_out(self, n: int) -> None:
        """Refuse to judge trees by rows that they have not seen where they see all."""
        if not self.bootstrap and self.size(n) >= n:
            raise ValueError(
                "out-of-bag scores (oob_score=True, embedding='auto') need rows that trees have not seen: "
                "set bootstrap=True or max_samples"
            )


def grow_trees(
    training: TrainingSet,
    rule: GrowthRule,
    sampling: Sampling,
    seeds: IntArray,
    n_jobs: int | None,
    focus: IntArray | None = None,
) -> list[Tree]:
    """One tree per seed; the same trees for every number of threads.

    With ``focus`` each tree chooses its splits by that one coordinate of what splits are chosen by.
    """
    from joblib import Parallel, delayed

    def one(seed: int, number: int) -> Tree:
        rng = np.random.default_rng(seed)
        drawn, times = sampling.draw(len(training.X), rng)
        part = training if focus is None else training.focused(int(focus[number]))
        return part.grow_filled(rule, drawn, times, rng)

    if rule.compact and training.targets.is_pairs:
        training.targets.distinct  # noqa: B018  (worked out once, before threads ask for it)
    work = Parallel(n_jobs=n_jobs, prefer="threads", return_as="generator")
    trees = work(delayed(one)(int(seed), number) for number, seed in enumerate(seeds))
    return list(track(trees, "Growing trees", len(seeds)))


def mean_prediction(
    trees: list[Tree], X: FloatArray, n_jobs: int | None, tree_weights: FloatArray | None = None
) -> FloatArray:
    """Mean of the trees' values for every row; trees are added up in order, so threads change nothing.

    ``tree_weights`` of shape (n_trees, q) say how much a tree counts for each coordinate; by default all alike.
    """
    from joblib import Parallel, delayed

    weights = _all_alike(trees) if tree_weights is None else tree_weights
    total = np.zeros((len(X), trees[0].contents.size))
    blocks = [slice(start, start + _ROWS_AT_ONCE) for start in range(0, len(X), _ROWS_AT_ONCE)]

    def add(rows: slice) -> None:
        for tree, scale in zip(trees, weights, strict=True):
            tree.contents.add_to(total[rows], tree.leaf_of(X[rows]), scale)

    Parallel(n_jobs=n_jobs, prefer="threads")(delayed(add)(rows) for rows in blocks)
    total /= weights.sum(axis=0)
    return total


def out_of_bag_prediction(
    trees: list[Tree],
    X: FloatArray,
    sampling: Sampling,
    seeds: IntArray,
    rows: IntArray,
    tree_weights: FloatArray | None = None,
) -> FloatArray:
    """Mean, for the given rows of the training features, of the trees that have not seen them; NaN where all have."""
    weights = _all_alike(trees) if tree_weights is None else tree_weights
    total, known = np.zeros((2, len(rows), trees[0].contents.size))
    for tree, seed, scale in zip(trees, seeds, weights, strict=True):
        seen = np.zeros(len(X), dtype=bool)
        seen[sampling.draw(len(X), np.random.default_rng(int(seed)))[0]] = True
        unseen = np.flatnonzero(~seen[rows])
        total[unseen] += scale * tree.predict(X[rows[unseen]])
        known[unseen] += scale
    return np.divide(total, known, out=np.full_like(total, np.nan), where=known > 0)


def _all_alike(trees: list[Tree]) -> FloatArray:
    ones = np.ones(trees[0].contents.size)
    return np.broadcast_to(ones, (len(trees), len(ones)))


def draw_seeds(n: int, rng: np.random.Generator) -> IntArray:
    """One seed per tree."""
    return rng.integers(0, 2**63 - 1, n)
