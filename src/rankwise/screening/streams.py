"""Screening of a layer of expressions that is not stored: evaluate, sort, score, and keep the best.

`ConcordanceSelector` calls `screen` in each of its rounds, for expressions as well as for given columns.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from rankwise._progress import track
from rankwise._sklearn import gen_batches
from rankwise._typing import BoolArray, FloatArray, IntArray
from rankwise.screening import _screening_jit
from rankwise.screening.concordance import Target, absolute_pearson, best_of_classes
from rankwise.screening.distinct import DistinctRows
from rankwise.screening.pools import Candidates, Deadline, ExpressionPool

# Cells that are evaluated at once if values are needed: 8 MB.
_BATCH_CELLS = 1 << 20
# Scores that differ by less than this part of the highest possible one differ only by rounding.
_ROUNDING = 1e-12
#: a block of candidates, with covariations, fingerprints and spreads
Scored = tuple[Candidates, tuple[FloatArray, np.ndarray, FloatArray]]


@dataclass(frozen=True)
class Screened:
    """The best expressions, best first.

    Attributes
    ----------
    candidates : tuple of ndarray
        Operators and operands.
    covariation, fingerprint, spread : ndarray
        Their scores.
    complexity : ndarray
        Numbers of operators.
    n_candidates, n_usable : int
        Number of expressions screened, and how many of them are finite and not constant.
    complete : bool
        False if time ran out.
    """

    candidates: Candidates
    covariation: FloatArray
    fingerprint: np.ndarray
    spread: FloatArray
    complexity: IntArray
    n_candidates: int = 0
    n_usable: int = 0
    complete: bool = True

    @np.errstate(all="ignore")  # NumPy warns of what compiled loops ignore, if Numba is disabled
    def values(self, pool: ExpressionPool) -> tuple[FloatArray, FloatArray]:
        """Values of the expressions, as rows, and their error bounds."""
        values, errors, _ = _screening_jit.evaluate_expressions(pool.rows.values, pool.rows.errors, *self.candidates)
        return values, errors

    def __getitem__(self, rows: IntArray | BoolArray | slice) -> Screened:
        """Some of the expressions."""
        codes, lefts, rights = (column[rows] for column in self.candidates)
        return replace(
            self,
            candidates=(codes, lefts, rights),
            covariation=self.covariation[rows],
            fingerprint=self.fingerprint[rows],
            spread=self.spread[rows],
            complexity=self.complexity[rows],
        )


def screen(
    pool: ExpressionPool,
    letter: str | None,
    target: Target,
    *,
    k: int | None,
    two_sided: bool,
    dedupe: bool,
    linear_first: bool = False,
    deadline: float = np.inf,
    most: int | None = None,
    n_jobs: int | None = None,
) -> Screened:
    """The k best expressions that a layer makes of a pool (of the pool itself, if no layer is named).

    Memory holds the pool, a block of scores and a few times k candidates, whatever the number of expressions. The
    result does not depend on the number of threads. A class is represented by its simplest member or, with
    ``linear_first``, by the one with the highest correlation. At least one block is screened, even after the
    deadline; with ``most``, only so many expressions, the first.
    """
    with_members = letter is None or pool.grammar.cumulative

    def blocks() -> Iterator[Candidates]:
        if with_members:
            yield from pool.as_candidates()
        if letter is not None:
            yield from pool.candidates(letter, both_signs=not two_sided)

    n_blocks = -(-len(pool.members) // pool.block) if with_members else 0
    n_blocks += pool.n_blocks(letter, both_signs=not two_sided) if letter else 0
    clock = Deadline(deadline, most)
    best = _BestCandidates(pool, target, k, two_sided, dedupe, linear_first)
    for block, scores in track(_scored(clock.watch(blocks()), pool, target, n_jobs), "screening", n_blocks):
        best.add(block, scores)
    return best.finish(complete=not clock.passed)


def _scored(blocks: Iterator[Candidates], pool: ExpressionPool, target: Target, n_jobs: int | None) -> Iterator[Scored]:
    from joblib import Parallel, delayed, effective_n_jobs

    @np.errstate(all="ignore")  # NumPy warns of what compiled loops ignore, if Numba is disabled
    def score(block: Candidates) -> Scored:
        rows = pool.rows
        return block, _screening_jit.score_expressions(
            rows.values, rows.errors, rows.sharp, *block, target.centered, target.weights
        )

    if effective_n_jobs(n_jobs) == 1:
        return map(score, blocks)
    return Parallel(n_jobs=n_jobs, prefer="threads", return_as="generator")(delayed(score)(block) for block in blocks)


class _BestCandidates:
    """The k best candidates so far, and up to three times as many that wait until all are sorted again."""

    def __init__(
        self, pool: ExpressionPool, target: Target, k: int | None, two_sided: bool, dedupe: bool, linear_first: bool
    ) -> None:
        self.pool, self.target, self.k, self.two_sided, self.dedupe = pool, target, k, two_sided, dedupe
        self.linear_first = linear_first
        self.parts: list[Screened] = []
        self.waiting = 0
        self.threshold = -np.inf
        self.n_candidates = self.n_usable = 0

    def add(self, block: Candidates, scores: tuple[FloatArray, np.ndarray, FloatArray]) -> None:
        covariation, fingerprint, spread = scores
        usable = ~np.isnan(covariation)
        self.n_candidates += len(usable)
        self.n_usable += int(usable.sum())
        good = np.flatnonzero(usable & (self._score(covariation) >= self.threshold))
        if not len(good):
            return
        codes, lefts, rights = (part[good] for part in block)
        complexity = self.pool.table.complexity_of(codes, lefts, rights)
        kept = Screened((codes, lefts, rights), covariation[good], fingerprint[good], spread[good], complexity)
        self.parts.append(kept)
        self.waiting += len(good)
        if self.k is not None and self.waiting > max(4 * self.k, 4096):
            self._sort()

    def finish(self, complete: bool) -> Screened:
        self._sort()
        best = self.parts[0]
        return replace(best, n_candidates=self.n_candidates, n_usable=self.n_usable, complete=complete)

    def _score(self, covariation: FloatArray) -> FloatArray:
        return abs(covariation) if self.two_sided else covariation

    def _sort(self) -> None:
        everything = _joined(self.parts)
        # Steps wide enough that sums over one order, added up in different ways, are equal: then the simplest is first.
        step = _ROUNDING * self.target.covariation
        steps = np.rint(self._score(everything.covariation) / step)
        kept = self._representatives(everything, steps) if self.dedupe else self._functions(everything)
        everything, steps = everything[kept], steps[kept]
        order = np.lexsort((np.arange(len(steps)), everything.complexity, -steps))[: self.k]
        self.parts = [everything[order]]
        self.waiting = len(order)
        if self.waiting == self.k:
            self.threshold = (steps[order[-1]] - 1) * step

    @np.errstate(all="ignore")  # NumPy warns of what compiled loops ignore, if Numba is disabled
    def _representatives(self, found: Screened, steps: FloatArray) -> IntArray:
        """The best members of the k best classes, in their order."""
        # If the sign counts, a feature and its negative are of different classes.
        same = found.fingerprint if self.two_sided else np.where(found.covariation < 0, -1, 1) * found.fingerprint
        order = np.argsort(-steps, kind="stable")
        first = np.sort(np.unique(same[order], return_index=True)[1])
        if self.k is not None and len(first) > self.k:
            order = np.flatnonzero(steps >= steps[order[first[self.k - 1]]] - 1)
        else:
            order = np.arange(len(same))
        parts = [
            absolute_pearson(batch.values(self.pool)[0], self.target.centered) for batch in self._batches(found[order])
        ]
        pearson = np.concatenate([np.empty(0), *parts])
        best = best_of_classes(same[order], found.complexity[order], pearson, linear_first=self.linear_first)
        return order[best]

    def _functions(self, found: Screened) -> IntArray:
        """The first candidate of each function, in their order; given columns are all kept."""
        if not self.pool.grammar.architecture:
            return np.arange(len(found.covariation))
        # Simple expressions first, so that the others count as their copies.
        order = np.lexsort((np.arange(len(found.complexity)), found.complexity))
        distinct = DistinctRows(len(self.target.centered))
        distinct.reserve(len(order))
        homes = [distinct.add(*batch.values(self.pool)) for batch in self._batches(found[order])]
        first = np.unique(np.concatenate([np.empty(0, dtype=np.intp), *homes]), return_index=True)[1]
        return np.sort(order[first])

    def _batches(self, found: Screened) -> Iterator[Screened]:
        size = max(1, _BATCH_CELLS // len(self.target.centered))
        return (found[batch] for batch in gen_batches(len(found.covariation), size))


def _joined(parts: list[Screened]) -> Screened:
    if not parts:
        none = np.empty(0, dtype=np.intp)
        return Screened((none, none, none), np.empty(0), np.empty(0, np.int64), np.empty(0), none)
    join = np.concatenate
    codes, lefts, rights = (join(columns) for columns in zip(*(part.candidates for part in parts), strict=True))
    return Screened(
        (codes, lefts, rights),
        join([part.covariation for part in parts]),
        join([part.fingerprint for part in parts]),
        join([part.spread for part in parts]),
        join([part.complexity for part in parts]),
    )
