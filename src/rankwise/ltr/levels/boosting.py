"""Newton boosting with level trees: objective in, trees and history out."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass

import numpy as np

from rankwise._progress import track
from rankwise._typing import FloatArray, IntArray
from rankwise.ltr.exact import summable
from rankwise.ltr.levels.growth import LevelGrower
from rankwise.ltr.levels.trees import LevelTrees
from rankwise.ltr.objectives import Objective
from rankwise.ltr.rows import QueryRows
from rankwise.ltr.watch import Watch, check_n_trees


@dataclass(frozen=True)
class LevelSettings:
    """How trees are grown; see the parameters of `rankwise.ltr.LambdaMART`."""

    depth: int
    learning_rate: float
    l2: float
    subsample: float
    colsample: float
    max_bins: int
    n_threads: int


def boost_levels(
    rows: QueryRows,
    held_out: QueryRows | None,
    objective: Objective,
    *,
    evaluate: Callable[[FloatArray], float] | None,
    n_trees: int,
    patience: int | None,
    settings: LevelSettings,
    seed: int,
    before: LevelTrees | None = None,
    history: list[float] | None = None,
) -> tuple[LevelTrees, int, list[float]]:
    """Grow level trees on the gradients of the objective.

    Parameters and what is returned are those of `rankwise.ltr.boosting.boost`.
    """
    done = 0 if before is None else len(before)
    check_n_trees(n_trees, done)
    if before is not None and before.depth != settings.depth:
        raise ValueError(f"warm_start keeps trees of {before.depth} levels; set max_depth={before.depth}")
    watch = Watch(evaluate, patience, history or [])
    trees = LevelTrees.empty(n_trees, settings.depth)
    score, watched = np.zeros(len(rows.X)), np.zeros(0 if held_out is None else len(held_out.X))
    columns = None if held_out is None else np.ascontiguousarray(held_out.X.T)
    if before is not None:
        trees.overwrite(before)
        before.add_to(score, np.ascontiguousarray(rows.X.T))
        if columns is not None:
            before.add_to(watched, columns)
    with closing(LevelGrower(rows.X, settings.depth, settings.max_bins, settings.l2, settings.n_threads)) as grower:
        for number in track(range(done, n_trees), "boosting", n_trees - done):
            # Tree by tree, so that more trees begin with the same random numbers.
            rng = np.random.default_rng([seed, number])
            tree = trees[number : number + 1]
            slope, bend = objective(score, rng)
            slope, bend = summable(slope, "gradients"), summable(bend, "second derivatives")
            seen = _sample(len(score), settings.subsample, rng)
            leaf = grower.grow(slope, bend, seen, _sample(rows.X.shape[1], settings.colsample, rng), tree)
            tree.value *= settings.learning_rate
            score += tree.value[0, leaf]
            if columns is not None:
                tree.add_to(watched, columns)
            if watch.is_over(score if columns is None else watched):
                trees = trees[: number + 1]
                break
    return trees, watch.n_used(len(trees)), watch.history


# ---------------------------------------------------------------------------------------------------------------------


def _sample(n: int, share: float, rng: np.random.Generator) -> IntArray:
    """A share of the numbers below n, at least one, in ascending order."""
    if share == 1:
        return np.arange(n)
    return np.sort(rng.permutation(n)[: max(1, round(share * n))])
