"""Resamples of rankings and their consensus, for `bootstrap_consensus`.

`Resampler` draws resamples as weights of the distinct rankings; a solver finds the consensus of a block of them, and
how far items are ahead of each other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np

from rankwise._decode import ConsensusRule
from rankwise._sklearn import gen_batches
from rankwise._typing import BoolArray, FloatArray, IntArray
from rankwise._validation import shortlist
from rankwise.aggregation.kemeny import kemeny_batch
from rankwise.aggregation.positional import rank_by_score, shares_beaten
from rankwise.aggregation.rules import CONSENSUS_RULES
from rankwise.data import Rankings, check_positions, dense_positions

Generators: TypeAlias = Sequence[np.random.Generator]

#: rules that follow the majorities wherever these fit into one ranking: an item is behind those that beat it
MAJORITY_RULES = ("kemeny", "copeland", "copeland-or-borda", "schulze", "mallows", "ranked-pairs")
# Entries of the matrix of pair signs that are held in memory at once.
_SIGNS = 2_000_000
# Up to this many voters per distinct ranking, drawing each of them is faster than one binomial number per ranking.
_DRAWS_A_BINOMIAL = 10
_MOST_REDRAWS = 100
# Sums of floating-point weights cannot distinguish two sides of a pair that are closer than this share of them.
_EVEN = 1e-12


def called(decode: Callable[[Rankings], Any], rankings: Rankings) -> tuple[FloatArray, FloatArray | None]:
    """Positions that a function finds, and its scores if it has any."""
    found = decode(rankings)
    positions = check_positions([getattr(found, "positions", found)], name="the consensus", strict=False)[0]
    if len(positions) != rankings.n_items or not np.isfinite(positions).all():
        raise ValueError(
            f"the consensus places {np.isfinite(positions).sum()} of the items {shortlist(rankings.items)}; "
            "it must return one finite position per item"
        )
    scores = getattr(found, "scores", None)
    if scores is None or np.shape(scores) != (rankings.n_items,) or not np.isfinite(scores).all():
        return positions, None
    return positions, np.asarray(scores, dtype=np.float64)


class Resampler:
    """Draws resamples: people with distinct rankings if weights count people, else weighted rankings as units."""

    def __init__(self, source: Rankings, people: bool) -> None:
        rankings = source[np.flatnonzero(source.weights)]
        self.rankings: Rankings = rankings.group() if people else rankings
        weights = self.rankings.weights
        n = len(weights)
        self.voters = weights if people else np.ones(n)
        self.weight_of_voter = np.ones(n) if people else weights
        self.n_draws = int(self.voters.sum())
        self.shares = shares_beaten(self.rankings)
        self.holds: BoolArray = ~np.isnan(self.shares)
        self.needed = self.holds.any(axis=0)
        # If every ranking holds every item, no resample lacks one.
        self.may_lack = not self.holds.all()
        few = self.n_draws <= _DRAWS_A_BINOMIAL * n
        self.ranking_of_voter = np.repeat(np.arange(n), self.voters.astype(np.intp)) if few else None

    def observed(self, solve: _Solver) -> FloatArray | None:
        """How far the first item of each pair is ahead of the second in the rankings themselves."""
        own = (self.voters * self.weight_of_voter)[np.newaxis]
        differences = solve(self, own, [np.random.default_rng(0)], -1)[1]
        return None if differences is None else differences[0]

    def draw(self, rng: np.random.Generator, *, must_hold: bool) -> tuple[FloatArray, int]:
        """Weights of the rankings in a resample, and how often it was drawn again because it lacked an item."""
        redrawn, drawn = 0, self._draw_once(rng)
        while self.may_lack and not np.array_equal(self.holds[drawn > 0].any(axis=0), self.needed):
            if redrawn == _MOST_REDRAWS:
                if must_hold:
                    rare = np.argsort(self.holds.sum(axis=0), kind="stable")
                    raise ValueError(
                        f"{_MOST_REDRAWS} draws in a row lack some item, because too few rankings hold "
                        f"{shortlist([self.rankings.items[i] for i in rare], most=3)}; drop items that few rankings "
                        "hold with Rankings.select([...])"
                    )
                break
            redrawn, drawn = redrawn + 1, self._draw_once(rng)
        return drawn * self.weight_of_voter, redrawn

    def _draw_once(self, rng: np.random.Generator) -> IntArray:
        if self.ranking_of_voter is None:
            return rng.multinomial(self.n_draws, self.voters / self.n_draws)
        voters = rng.integers(self.n_draws, size=self.n_draws)
        return np.bincount(self.ranking_of_voter[voters], minlength=len(self.rankings))


# A solver takes the resampler, resamples (one row of weights each), their generators and the number of the first one,
# and gives their consensus positions, and how far the first item of each pair is ahead of the second (None: unknown).
_Solved: TypeAlias = tuple[FloatArray, FloatArray | None]
_Solver: TypeAlias = Callable[[Resampler, FloatArray, Generators, int], _Solved]


def _solve_kemeny(resampler: Resampler, weights: FloatArray, generators: Generators, _: int) -> _Solved:
    n_items = resampler.rankings.n_items
    margins = _margins(resampler.rankings, weights)
    # Even pairs fall in the order of the items: shuffle these, or early items would seem better.
    shuffled = np.array([rng.permutation(n_items) for rng in generators])
    resample = np.arange(len(weights))
    mixed = margins[resample[:, None, None], shuffled[:, :, None], shuffled[:, None, :]]
    positions = np.empty((len(weights), n_items))
    positions[resample[:, None], shuffled] = kemeny_batch(mixed)
    return positions, _shares_ahead(margins, weights)


def _solve_copeland(resampler: Resampler, weights: FloatArray, generators: Generators, _: int) -> _Solved:
    margins = _margins(resampler.rankings, weights)
    return dense_positions(1.0 + np.sum(margins < 0, axis=2)), _shares_ahead(margins, weights)


def _solve_borda(resampler: Resampler, weights: FloatArray, generators: Generators, _: int) -> _Solved:
    scores = (weights @ np.where(resampler.holds, resampler.shares, 0.0)) / (weights @ resampler.holds)
    return np.array([rank_by_score(row) for row in scores]), differences_of_scores(scores)


def _solve_copeland_or_borda(resampler: Resampler, weights: FloatArray, generators: Generators, start: int) -> _Solved:
    margins = _margins(resampler.rankings, weights)
    lost = np.sum(margins < 0, axis=2)
    strict = (np.sort(lost, axis=1) == np.arange(lost.shape[1])).all(axis=1, keepdims=True)
    by_borda = _solve_borda(resampler, weights, generators, start)[0]
    return np.where(strict, lost + 1.0, by_borda), _shares_ahead(margins, weights)


def _one_by_one(decode: Callable[[Rankings], Any], name: str = "") -> _Solver:
    """A solver that calls a function for each resample."""

    def solve(resampler: Resampler, weights: FloatArray, generators: Generators, start: int) -> _Solved:
        found, scores = np.empty((len(weights), resampler.rankings.n_items)), []
        for number, row in enumerate(weights):
            rows = np.flatnonzero(row)
            try:
                found[number], own = called(decode, Rankings(resampler.rankings[rows], weights=row[rows]))
            except ValueError as error:
                raise ValueError(
                    f"the consensus of resample {start + number} fails ({error}); a resample may lack items that few "
                    "rankings hold: drop them with Rankings.select([...]), or use a consensus that works without them"
                ) from error
            scores.append(own)
        if name in MAJORITY_RULES:
            return found, _shares_ahead(_margins(resampler.rankings, weights), weights)
        known = [own for own in scores if own is not None]
        return found, differences_of_scores(np.array(known)) if len(known) == len(scores) else None

    return solve


def differences_of_scores(scores: FloatArray) -> FloatArray:
    """How far the first item of each pair is ahead of the second, in scores."""
    first, second = np.triu_indices(scores.shape[-1], 1)
    return scores[..., first] - scores[..., second]


def _shares_ahead(margins: FloatArray, weights: FloatArray) -> FloatArray:
    """How far the first item of each pair is ahead of the second, in shares of the rankings."""
    first, second = np.triu_indices(margins.shape[1], 1)
    return margins[:, first, second] / weights.sum(axis=1, keepdims=True)


# Rules that solve all resamples of a block at once.
_SOLVERS: dict[ConsensusRule, _Solver] = {
    "kemeny": _solve_kemeny,
    "borda": _solve_borda,
    "copeland": _solve_copeland,
    "copeland-or-borda": _solve_copeland_or_borda,
}


def _margins(rankings: Rankings, weights: FloatArray) -> FloatArray:
    """Weight for i before j minus the weight against it, for each row of weights: (n_resamples, n_items, n_items).

    One matrix product counts the pairs of all resamples, because these differ in their weights alone.
    """
    k = rankings.n_items
    first, second = np.triu_indices(k, 1)
    totals = np.zeros((len(weights), len(first)))
    for rows in gen_batches(len(rankings), max(1, _SIGNS // max(1, len(first)))):
        above, below = rankings.positions[rows, first], rankings.positions[rows, second]
        totals += weights[:, rows] @ ((above < below).astype(np.float64) - (above > below))
    totals[np.abs(totals) <= _EVEN * weights.sum(axis=1, keepdims=True)] = 0.0
    margins = np.zeros((len(weights), k, k))
    margins[:, first, second] = totals
    margins[:, second, first] = -totals
    return margins


def solver_of(decode: ConsensusRule | Callable[[Rankings], Any]) -> _Solver:
    """The solver of a rule or a function."""
    if callable(decode):
        return _one_by_one(decode)
    return _SOLVERS[decode] if decode in _SOLVERS else _one_by_one(CONSENSUS_RULES[decode], decode)
