"""PartitionEmbedding, the base of the graph cut and submodular embeddings.

A ranking is an ordered partition of the items. Features of complete rankings are computed directly, those of others as
means over their completions, which are enumerated or sampled.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

import numpy as np

from rankwise._progress import track
from rankwise._sklearn import BaseEstimator, OneToOneFeatureMixin, TransformerMixin, gen_batches
from rankwise._typing import ArrayLike, BoolArray, FloatArray, IntArray, RandomState
from rankwise._validation import check_generator, check_numbers, item_names
from rankwise.data import check_positions, dense_positions
from rankwise.embeddings._columns import check_columns, check_named_columns, learn_columns
from rankwise.embeddings.completions import (
    RUNS,
    CompletionKind,
    Levels,
    Structure,
    draw_keys,
    grouped_by_structure,
    levels_of,
    unique_rows,
)

PartitionEmbeddingType = TypeVar("PartitionEmbeddingType", bound="PartitionEmbedding")
#: rows, and their structure if their features are means over completions
Task = tuple[IntArray | slice, Structure | None]

# Most completions that are enumerated with completion="auto", and with "exact".
_FEW_COMPLETIONS = 20_000
MOST_COMPLETIONS = 1_000_000
# Most completions that "auto" enumerates for all rankings of fit together: a few minutes.
_BUDGET = 200_000_000
# Cells that one task processes: few enough to balance threads, and enough to be worth a task.
_TASK_CELLS = 1 << 18
_TASK_COMPLETED_CELLS = 1 << 22
# Digits, relative to the largest number of a row, to which numbers must agree to tie when decoded.
_DIGITS = 12


class PartitionEmbedding(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Fit, transform and decode; a subclass defines the features of levels and their means over completions."""

    pooling: str
    completion: str
    n_samples: int
    random_state: RandomState
    dtype: str = "float64"
    n_jobs: int | None = None
    n_features_in_: int

    def fit(self: PartitionEmbeddingType, positions: ArrayLike, y: Any = None) -> PartitionEmbeddingType:
        """Learn the items, draw the random numbers for completions, and decide how many completions are enumerated.

        Parameters
        ----------
        positions : array-like of shape (n_rankings, n_items) or Rankings
            1 = best; at least two items.
        y : None
            Ignored.

        Returns
        -------
        self
        """
        self._validate_params()
        matrix = check_positions(positions)
        n_items = matrix.shape[1]
        if n_items < 2:
            raise ValueError("positions has one column; an order takes two items or more, one column for each")
        learn_columns(self, positions, n_items)
        self._fit_items(n_items, item_names(positions))
        self._keys = draw_keys(self.n_samples, n_items, check_generator(self.random_state, salt="completions"))
        self.enumerated_up_to_ = self._enumeration_limit(levels_of(matrix))
        return self

    def transform(self, positions: ArrayLike) -> FloatArray:
        """Rankings to features.

        Parameters
        ----------
        positions : array-like of shape (n_rankings, n_items) or Rankings
            1 = best; unlisted items tie below the listed ones, missing ones are placed as ``completion`` says.

        Returns
        -------
        ndarray of shape (n_rankings, n_items)
            Larger = preferred.
        """
        return self._embed(self._checked_levels(positions))[0]

    def standard_errors(self, positions: ArrayLike) -> FloatArray:
        """Standard errors of features that were estimated from sampled completions.

        Parameters
        ----------
        positions : array-like of shape (n_rankings, n_items) or Rankings
            1 = best.

        Returns
        -------
        ndarray of shape (n_rankings, n_items)
            Standard error of every feature of ``transform``, estimated from eight independent runs of draws, and so
            itself uncertain by about a quarter. 0 where the feature is exact, but also where all runs gave the same
            value, because completions that change it are rare: then the error is small, but not known to be 0.
        """
        return self._embed(self._checked_levels(positions))[1]

    def n_completions(self, positions: ArrayLike) -> IntArray:
        """Number of completions that ``transform`` averages over, which determines its cost.

        Parameters
        ----------
        positions : array-like of shape (n_rankings, n_items) or Rankings
            1 = best.

        Returns
        -------
        ndarray of shape (n_rankings,)
            Enumerated or sampled; 1 where nothing is left open, or a formula gives the mean. Repeated rankings are
            computed once. About two million completions of 20 items take a second on one core.
        """
        levels = self._checked_levels(positions)
        numbers = np.ones(len(levels), dtype=np.int64)
        among = np.flatnonzero(self._averages(levels))
        for structure, members in grouped_by_structure(levels[among]):
            numbers[among[members]] = self._n_used(structure)
        return numbers

    def inverse_transform(self, vectors: ArrayLike) -> FloatArray:
        """Vectors to rankings, by sorting each.

        Parameters
        ----------
        vectors : array-like of shape (n, n_items)
            Larger = preferred; need not be images of rankings.

        Returns
        -------
        ndarray of shape (n, n_items)
            Positions, 1 = best; equal numbers (as of pooled items) tie, NaN stays missing.
        """
        matrix = check_columns(self, check_numbers("vectors", vectors))
        largest = np.max(np.abs(matrix), axis=1, where=np.isfinite(matrix), initial=0.0)
        return dense_positions(np.round(-matrix / np.where(largest > 0, largest, 1.0)[:, None], _DIGITS))

    def _fit_items(self, n_items: int, items: Sequence[Hashable] | None) -> None:
        """Learn what depends on the items; ``items`` are their names, if they have any."""
        raise NotImplementedError

    def _features(self, levels: Levels) -> FloatArray:
        """Features of rankings that are complete, or whose means over completions are given by a formula."""
        raise NotImplementedError

    def _mean_features(self, levels: Levels, table: Levels, n_runs: int) -> FloatArray:
        """Features averaged over each run of completions: (n_rankings, n_runs, n_items)."""
        raise NotImplementedError

    def _averages(self, levels: Levels) -> BoolArray:
        """Which rankings need a mean over completions, enumerated or sampled."""
        return self._is_open(levels)

    @property
    def _kind(self) -> CompletionKind:
        return "full" if self.completion == "full" else "gaps"

    def _is_open(self, levels: Levels) -> BoolArray:
        """Which rankings have more than one completion."""
        if self._kind == "full":
            ordered = np.sort(levels, axis=1)
            return np.asarray((ordered[:, :-1] == ordered[:, 1:]).any(axis=1) | (ordered[:, 0] < 0))
        return np.asarray((levels < 0).any(axis=1)) if _has_missing(levels) else np.zeros(len(levels), dtype=bool)

    def _embed(self, levels: Levels) -> tuple[FloatArray, FloatArray]:
        """Features and their standard errors."""
        from joblib import Parallel, delayed, effective_n_jobs

        features = np.empty(levels.shape, dtype=self.dtype)
        errors = np.zeros(levels.shape, dtype=self.dtype)

        def work(task: Task) -> None:
            rows, structure = task
            if structure is None:
                features[rows] = self._features(levels[rows])
                return
            table, n_runs = self._completions(structure)
            means = self._mean_features(levels[rows], table, n_runs)
            features[rows] = means.mean(axis=1)
            if n_runs > 1:
                errors[rows] = means.std(axis=1, ddof=1) / math.sqrt(n_runs)

        averages = self._averages(levels)
        copies, originals = _repeats(levels, averages)
        tasks = list(self._tasks(levels, averages, copies))
        done: Iterable[None] = map(work, tasks)
        if effective_n_jobs(self.n_jobs) > 1 and len(tasks) > 1:
            # Each task writes to rows of its own, so the result does not depend on the number of threads.
            threads = Parallel(n_jobs=self.n_jobs, require="sharedmem", return_as="generator_unordered")
            done = threads(delayed(work)(task) for task in tasks)
        for _ in track(done, "embedding", len(tasks)):
            pass
        features[copies], errors[copies] = features[originals], errors[originals]
        return features, errors

    def _tasks(self, levels: Levels, averages: BoolArray, copies: IntArray) -> Iterator[Task]:
        """Blocks of rows that take about equally long; rows that repeat earlier ones are skipped."""
        n_rows = max(1, _TASK_CELLS // levels.shape[1])
        if not averages.any():
            for rows in gen_batches(len(levels), n_rows):
                yield rows, None
            return
        complete = np.flatnonzero(~averages)
        for batch in gen_batches(len(complete), n_rows):
            yield complete[batch], None
        averages = averages.copy()
        averages[copies] = False
        among = np.flatnonzero(averages)
        for structure, members in grouped_by_structure(levels[among]):
            count = structure.count(self._kind)
            if self.completion == "exact" and count > MOST_COMPLETIONS:
                raise ValueError(_too_many(structure, count, int(among[members[0]])))
            n_cells = self._n_used(structure) * levels.shape[1]
            for batch in gen_batches(len(members), max(1, _TASK_COMPLETED_CELLS // n_cells)):
                yield among[members[batch]], structure

    def _enumeration_limit(self, levels: Levels) -> int:
        """The largest number of completions of a ranking that is enumerated: as large as the budget of fit allows."""
        if self.completion in ("exact", "sample"):
            return MOST_COMPLETIONS if self.completion == "exact" else 0
        averages = self._averages(levels)
        averages[_repeats(levels, averages)[0]] = False
        among = levels[averages]
        groups = [(structure.count(self._kind), len(rows)) for structure, rows in grouped_by_structure(among)]
        limit, total = 0, 0
        for count, n_rows in sorted(groups):
            total += count * n_rows
            if count > _FEW_COMPLETIONS:
                break
            if total > _BUDGET:
                return limit
            limit = count
        return _FEW_COMPLETIONS

    def _enumerates(self, structure: Structure) -> bool:
        return structure.count(self._kind) <= self.enumerated_up_to_

    def _n_used(self, structure: Structure) -> int:
        return structure.count(self._kind) if self._enumerates(structure) else len(self._keys)

    def _completions(self, structure: Structure) -> tuple[Levels, int]:
        """Completions as levels of slots, and the number of independent runs in which they were drawn."""
        if self._enumerates(structure):
            return structure.all(self._kind), 1
        return structure.sample(self._kind, self._keys), RUNS

    def _checked_levels(self, positions: ArrayLike) -> Levels:
        levels = levels_of(check_named_columns(self, positions))
        if _has_missing(levels):
            empty = np.flatnonzero(levels.max(axis=1) < 0)
            if len(empty):
                raise ValueError(
                    f"ranking {empty[0]} ranks no item, so it has no features ({len(empty)} such row"
                    f"{'s' if len(empty) > 1 else ''}); drop rows in which all items are missing"
                )
        return levels

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


def _has_missing(levels: Levels) -> bool:
    return bool(levels.size) and int(levels.min()) < 0


def _repeats(levels: Levels, averages: BoolArray) -> tuple[IntArray, IntArray]:
    """Rows that repeat an earlier one, and these earlier rows, among rankings that need a mean."""
    among = np.flatnonzero(averages)
    if len(among) < 2:
        return among[:0], among[:0]
    first, group = unique_rows(levels[among])
    original = first[group]
    repeated = original != np.arange(len(among))
    return among[repeated], among[original[repeated]]


def _too_many(structure: Structure, count: int, row: int) -> str:
    n_levels, n_missing = len(structure.sizes), structure.n_missing
    return (
        f"ranking {row} has ({n_levels} + 1)^{n_missing}, about 10^{math.log10(count):.0f}, completions, as "
        f"{n_missing} missing items fall into {n_levels + 1} gaps; completion='exact' allows {MOST_COMPLETIONS:,}. "
        "Use 'auto' or 'sample'"
    )
