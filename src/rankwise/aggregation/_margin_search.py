"""Who wins without these votes: the electorate of `margin_of_victory`, and its bounds by trial for every rule."""

from __future__ import annotations

import math
import warnings
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, replace
from itertools import combinations_with_replacement, permutations, product
from time import monotonic
from typing import Any, cast

import numpy as np

from rankwise._decode import ConsensusRule
from rankwise._typing import FloatArray, IntArray
from rankwise.aggregation import _kemeny_jit
from rankwise.aggregation.kemeny import kemeny
from rankwise.aggregation.pairs import preference_matrix
from rankwise.aggregation.positional import shares_beaten
from rankwise.aggregation.rules import CONSENSUS_RULES
from rankwise.data import Rankings

#: rules that choose the item that beats every other one by majority, if there is one
CONDORCET_RULES = ("kemeny", "mallows", "copeland", "copeland-or-borda", "schulze", "ranked-pairs")
#: sums of weights that are closer than this share of all weights are equal
SAME_SHARE = 1e-9
#: each of many trials may take so long to prove who wins, and near the end of the time at least so long
SECONDS_OF_PROOF, LEAST_SECONDS = 2.0, 0.05
# Kemeny's winners by dynamic programming over sets up to so many items.
_MOST_ITEMS_DP = 12
# Sets of people are tried one by one up to so many.
_MOST_TRIALS = 200_000


@dataclass(frozen=True, eq=False)
class Electorate:
    """Different rankings and the people who gave them.

    Attributes
    ----------
    positions : ndarray of shape (n_types, n_items)
        The different rankings; those that compare nothing are left out.
    n_people : ndarray of shape (n_types,), intp
        How many people gave each.
    weight : ndarray of shape (n_types,)
        The weight of one of them.
    rows : ndarray of shape (n_rankings,), intp
        The type of each row of the data, -1 for those left out.
    people : ndarray of shape (n_rankings,), intp
        How many people each row stands for.
    items : tuple
        Names of the items.
    deadline : float
        When to stop, by `time.monotonic`.
    """

    positions: FloatArray
    n_people: IntArray
    weight: FloatArray
    rows: IntArray
    people: IntArray
    items: tuple[Hashable, ...]
    deadline: float

    @classmethod
    def of(cls, rankings: Rankings, count_people: bool, seconds: float) -> Electorate:
        """Merge equal rankings of equal weight; items that nobody compares are left out."""
        rankings = rankings.comparable()
        kept = np.flatnonzero(rankings.informative & (rankings.weights > 0))
        positions, weights = rankings.positions[kept], rankings.weights[kept]
        people = weights.astype(np.intp) if count_people else np.ones(len(kept), dtype=np.intp)
        each = np.ones(len(kept)) if count_people else weights
        code = np.column_stack([np.nan_to_num(positions, nan=0.0, posinf=rankings.n_items + 1.0), each])
        _, first, inverse = np.unique(code, axis=0, return_index=True, return_inverse=True)
        n_people = np.zeros(len(first), dtype=np.intp)
        np.add.at(n_people, inverse.ravel(), people)
        rows = np.full(len(rankings), -1, dtype=np.intp)
        rows[kept] = inverse.ravel()
        of_rows = np.zeros(len(rankings), dtype=np.intp)
        of_rows[kept] = people
        return cls(
            positions[first], n_people, each[first], rows, of_rows, rankings.items, monotonic() + min(seconds, 1e9)
        )

    def started(self, seconds: float) -> Electorate:
        """The same people, with so many seconds from now on."""
        return replace(self, deadline=monotonic() + min(seconds, 1e9))

    @property
    def seconds_left(self) -> float:
        """Seconds that are left for proofs."""
        return max(0.0, self.deadline - monotonic())

    @property
    def tolerance(self) -> float:
        """A sum of weights is positive if it is larger than this."""
        return SAME_SHARE * float(self.n_people @ self.weight)

    @property
    def least(self) -> float:
        """The least difference of weights that programs tell from a tie: one person, where all weigh the same."""
        return 1.0 if np.all(self.weight == 1) else 1e-5 * float(self.weight.min())

    def rankings(self) -> Rankings:
        """The votes of all people."""
        return Rankings(self.positions, self.items, self.n_people * self.weight)

    def after(self, margin: Margin) -> Rankings | None:
        """The votes that are left once the people of a margin are gone, or have voted anew."""
        changed = (
            np.full(len(margin.ballots), margin.chosen @ self.weight) if margin.weights is None else margin.weights
        )
        positions = np.vstack([self.positions, margin.ballots])
        weights = np.append((self.n_people - margin.chosen) * self.weight, changed)
        left = weights > 0
        return Rankings(positions[left], self.items, weights[left]) if left.any() else None

    def people_of_rows(self, chosen: IntArray) -> IntArray:
        """The chosen people of each type as people of rows: of the first rows of a type as many as needed."""
        left = chosen.copy()
        found = np.zeros(len(self.rows), dtype=np.intp)
        for row in np.flatnonzero((self.rows >= 0) & (chosen[self.rows] > 0)):
            found[row] = min(left[self.rows[row]], self.people[row])
            left[self.rows[row]] -= found[row]
        return found

    def signs(self, item: int) -> FloatArray:
        """1 where a ranking puts the item before another, -1 where after: (n_types, n_items)."""
        own = self.positions[:, item, np.newaxis]
        return (own < self.positions).astype(np.float64) - (own > self.positions)


@dataclass(frozen=True, eq=False)
class Margin:
    """Bounds of a margin of victory, and people who make up the upper one.

    Attributes
    ----------
    lower, upper : int
        The bounds.
    chosen : ndarray of shape (n_types,), intp
        People of each type.
    ballots : ndarray of shape (n_ballots, n_items)
        What they vote instead; no rows if they are removed.
    weights : ndarray of shape (n_ballots,), optional
        Weight of each of these ballots; by default there is one, which all of them give.
    """

    lower: int
    upper: int
    chosen: IntArray
    ballots: FloatArray
    weights: FloatArray | None = None


def everybody(voters: Electorate, how: str, winners: frozenset[int]) -> Margin:
    """Nothing is known: one vote may decide, and if all are gone, or all against a winner, this one does not win."""
    u = min(winners)
    ballots = new_ballots(how, voters.positions.shape[1], (u + 1) % voters.positions.shape[1], u)
    return Margin(1, int(voters.n_people.sum()), voters.n_people.copy(), ballots)


def new_ballots(how: str, n_items: int, first: int, last: int) -> FloatArray:
    """What people vote instead: a full ranking with these items first and last; nothing if they are removed."""
    if how == "removal":
        return np.empty((0, n_items))
    order = [first, *(item for item in range(n_items) if item not in (first, last)), last]
    ballots = np.empty((1, n_items))
    ballots[0, order] = np.arange(1.0, n_items + 1)
    return ballots


def winners_of(rankings: Rankings | None, rule: str, seconds: float = SECONDS_OF_PROOF) -> frozenset[int] | None:
    """The numbers of the items that win; none if there is no vote, and None if the rule finds, or proves, no result."""
    if rankings is None or not rankings.compared.any():
        return frozenset()
    if rule in ("kemeny", "mallows") and rankings.n_items <= _MOST_ITEMS_DP and rankings.compared.all():
        costs = first_costs(preference_matrix(rankings).wins)
        return frozenset(np.flatnonzero(costs <= costs.min() + SAME_SHARE * rankings.weights.sum()).tolist())
    part = rankings.comparable()
    # Kemeny's rule proves a ranking, then lists all that do as well: each may take half of the time.
    options: dict[str, Any] = {"random_state": 0, "time_limit": seconds / 2} if rule == "kemeny" else {}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            found = CONSENSUS_RULES[cast(ConsensusRule, rule)](part, **options)
    except ValueError:
        return None
    if found.kemeny is not None and not found.kemeny.optimal:
        return None
    if found.kemeny is not None and not found.complete and len(found.winners or ()) != 1:
        return _proven_first(rankings, part, found.winners or part.items, seconds)
    first = [part.items[i] for i in np.flatnonzero(found.positions == 1)] if found.winners is None else found.winners
    return frozenset(rankings.items.index(item) for item in first)


def _proven_first(
    rankings: Rankings, part: Rankings, candidates: tuple[Hashable, ...], seconds: float
) -> frozenset[int] | None:
    """Which of these items come first in a ranking of lowest cost, where these are too many to be listed."""
    wins = preference_matrix(part).wins
    costs = np.empty(len(candidates))
    for c, item in enumerate(candidates):
        first = part.items.index(item)
        rest = np.delete(np.arange(part.n_items), first)
        best = kemeny(part.select([part.items[i] for i in rest]), time_limit=seconds / len(candidates), random_state=0)
        if not best.optimal:
            return None
        order = rest[np.argsort(best.positions, kind="stable")]
        costs[c] = wins[:, first].sum() + np.tril(wins[np.ix_(order, order)], -1).sum()
    lowest = np.flatnonzero(costs <= costs.min() + SAME_SHARE * part.weights.sum())
    return frozenset(rankings.items.index(candidates[c]) for c in lowest)


def first_costs(wins: FloatArray) -> FloatArray:
    """For each item the lowest cost of a ranking that puts it first."""
    m = len(wins)
    best = np.empty(1 << m)
    _kemeny_jit.subset_costs(
        np.ascontiguousarray(wins), best, np.empty((1 << m // 2, m)), np.empty((1 << (m - m // 2), m))
    )
    rest = (1 << m) - 1 - (1 << np.arange(m))
    return best[rest] + wins.sum(axis=0)


def pairs_to_alter(winners: frozenset[int], n_items: int) -> Iterator[tuple[int, int, bool]]:
    """Pairs (u, v, strictly): who wins is altered if and only if, for one of them, v does (strictly) better than u."""
    for u in sorted(winners):
        for v in range(n_items):
            if v != u:
                yield u, v, v in winners


def fewest(gain: FloatArray, n_people: IntArray, need: float, strictly: bool, tolerance: float) -> IntArray | None:
    """The fewest people whose gains add up to what is needed, those with the largest gain first; None if all do not."""
    chosen = np.zeros(len(gain), dtype=np.intp)
    missing = need + tolerance if strictly else need - tolerance
    if missing <= 0 and not strictly:
        return chosen
    for t in np.argsort(-gain, kind="stable"):
        if gain[t] <= 0:
            return None
        wanted = math.ceil(missing / gain[t])
        chosen[t] = min(wanted, n_people[t])
        missing -= chosen[t] * gain[t]
        if missing <= 0:
            return chosen
    return None


def condorcet_bound(voters: Electorate, how: str, winners: frozenset[int]) -> int:
    """If one item beats all others, the fewest people without whom it does not beat one of them; otherwise 1."""
    if len(winners) != 1:
        return 1
    (u,) = winners
    signs = voters.signs(u) * voters.weight[:, np.newaxis]
    leads = voters.n_people @ signs
    others = np.arange(len(leads)) != u
    if not np.all(leads[others] > voters.tolerance):
        return 1
    bound = int(voters.n_people.sum())
    for v in np.flatnonzero(others):
        gain = signs[:, v] + (voters.weight if how == "change" else 0.0)
        chosen = fewest(gain, voters.n_people, float(leads[v]), False, voters.tolerance)
        bound = bound if chosen is None else min(bound, int(chosen.sum()))
    return max(1, bound)


def by_majorities(voters: Electorate, how: str, winners: frozenset[int]) -> Margin:
    """People after whom another item beats all others, and so wins by every rule that chooses such an item.

    For each item, those who place it lowest are taken first, until it beats all others. Nothing has to be tried, so
    that there is a bound even where time is short.
    """
    best = everybody(voters, how, winners)
    k, extra = voters.positions.shape[1], 1.0 if how == "change" else 0.0
    for v in range(k):
        if winners == {v}:
            continue
        others = np.arange(k) != v
        signs = voters.signs(v)[:, others]
        order = np.argsort(signs.sum(axis=1), kind="stable")
        gain = (extra - signs[order]) * voters.weight[order, np.newaxis]
        leads = voters.n_people @ (signs * voters.weight[:, np.newaxis])
        after = leads + np.cumsum(voters.n_people[order, np.newaxis] * gain, axis=0)
        beats = np.flatnonzero((after > voters.tolerance).all(axis=1))
        if not len(beats):
            continue
        last = int(beats[0])
        before = after[last] - voters.n_people[order[last]] * gain[last]
        # Of the last ranking, only as many people as are needed: the others of its kind may stay.
        lacking = (before <= voters.tolerance) & (gain[last] > 0)
        wanted = np.floor((voters.tolerance - before[lacking]) / gain[last, lacking]) + 1
        chosen = np.zeros(len(order), dtype=np.intp)
        chosen[order[:last]] = voters.n_people[order[:last]]
        chosen[order[last]] = min(voters.n_people[order[last]], int(wanted.max(initial=1.0)))
        u = min(winners - {v}, default=(v + 1) % k)
        if chosen.sum() < best.upper:
            best = Margin(1, int(chosen.sum()), chosen, new_ballots(how, k, v, u))
    return best


def by_duels(voters: Electorate, rule: str, how: str, winners: frozenset[int]) -> Margin:
    """Bounds of a rule that chooses who beats all others: the fewest people for a rival to draw level, or to win."""
    best = by_majorities(voters, how, winners)
    k = voters.positions.shape[1]
    for u, v, _ in pairs_to_alter(winners, k):
        lead = voters.signs(u)[:, v] * voters.weight
        for strictly in (False, True):
            gain = lead + voters.weight if how == "change" else lead
            chosen = fewest(gain, voters.n_people, float(voters.n_people @ lead), strictly, voters.tolerance)
            if chosen is not None and 0 < chosen.sum() < best.upper and voters.seconds_left > 0:
                trial = Margin(1, int(chosen.sum()), chosen, new_ballots(how, k, v, u))
                best = trial if altered(voters, trial, rule, winners) else best
    return replace(best, lower=min(best.upper, condorcet_bound(voters, how, winners)))


def search(voters: Electorate, rule: str, how: str, winners: frozenset[int]) -> Margin:
    """Bounds by trial: promising sets of people for the upper bound, then all sets of 1, 2, ... for the lower one."""
    best = everybody(voters, how, winners)
    if rule in CONDORCET_RULES:
        best = by_duels(voters, rule, how, winners)
    lower = best.lower
    best = _promising(voters, rule, how, winners, _by_points(voters, rule, how, winners, best))
    while lower < best.upper and _n_sets(voters, how, lower) <= _MOST_TRIALS:
        for trial in _sets(voters, how, lower):
            if voters.seconds_left == 0:
                return replace(best, lower=lower)
            if altered(voters, trial, rule, winners):
                return trial
        lower += 1
    return replace(best, lower=min(lower, best.upper))


def altered(voters: Electorate, margin: Margin, rule: str, winners: frozenset[int]) -> bool:
    """Whether somebody else wins; not if the rule finds no result."""
    now = winners_of(voters.after(margin), rule, min(SECONDS_OF_PROOF, max(voters.seconds_left, LEAST_SECONDS)))
    return now is not None and now != winners


def _by_points(voters: Electorate, rule: str, how: str, winners: frozenset[int], best: Margin) -> Margin:
    """Try those who decide by Borda's points and by first places: few people, who often decide by other rules too."""
    k = voters.positions.shape[1]
    shares = np.nan_to_num(shares_beaten(Rankings(voters.positions)), nan=0.5)
    tops = (voters.positions == 1).astype(np.float64)
    for u, v, strictly in pairs_to_alter(winners, k):
        for points in (shares, tops):
            lead = voters.weight * (points[:, u] - points[:, v])
            gain = lead + voters.weight if how == "change" else lead
            chosen = fewest(gain, voters.n_people, float(voters.n_people @ lead), strictly, voters.tolerance)
            if chosen is not None and best.lower <= chosen.sum() < best.upper and voters.seconds_left > 0:
                trial = Margin(best.lower, int(chosen.sum()), chosen, new_ballots(how, k, v, u))
                best = trial if altered(voters, trial, rule, winners) else best
    return best


def _promising(voters: Electorate, rule: str, how: str, winners: frozenset[int], best: Margin) -> Margin:
    """For each winner and rival, take those who prefer the winner most, the fewest of them that suffice."""
    k, lower = voters.positions.shape[1], best.lower
    shares = np.nan_to_num(shares_beaten(Rankings(voters.positions)), nan=0.5)
    tops = (voters.positions == 1).astype(np.float64)
    for u, v, _ in pairs_to_alter(winners, k):
        for liking in (shares[:, u] - shares[:, v], tops[:, u] - tops[:, v], voters.signs(u)[:, v]):
            order = np.argsort(-liking * voters.weight, kind="stable")
            n_before = np.cumsum(voters.n_people[order]) - voters.n_people[order]
            # More people of one order need not alter more, so halving finds a number that suffices, not the least one.
            too_few, enough = lower - 1, best.upper
            while enough - too_few > 1 and voters.seconds_left > 0:
                count = (too_few + enough) // 2
                chosen = np.zeros(len(order), dtype=np.intp)
                chosen[order] = np.clip(count - n_before, 0, voters.n_people[order])
                trial = Margin(1, count, chosen, new_ballots(how, k, v, u))
                if altered(voters, trial, rule, winners):
                    enough, best = count, trial
                else:
                    too_few = count
    return best


def _sets(voters: Electorate, how: str, count: int) -> Iterator[Margin]:
    """All sets of so many people, by types, each with all full rankings that they may vote instead."""
    k = voters.positions.shape[1]
    ballots = np.array(list(permutations(np.arange(1.0, k + 1)))) if how == "change" else np.empty((0, k))
    for types in _multisets(voters.n_people.tolist(), count, 0):
        chosen = np.bincount(types, minlength=len(voters.n_people)).astype(np.intp)
        if how == "removal":
            yield Margin(count, count, chosen, ballots)
            continue
        weights = voters.weight[list(types)]
        alike = np.all(weights == weights[0])  # then it does not matter who votes what
        new = combinations_with_replacement(ballots, count) if alike else product(ballots, repeat=count)
        for rows in new:
            yield Margin(count, count, chosen, np.array(rows), weights)


def _multisets(sizes: list[int], count: int, start: int) -> Iterator[tuple[int, ...]]:
    """All ways to take so many people of types of these sizes, from the given type on."""
    if count == 0:
        yield ()
        return
    for t in range(start, len(sizes)):
        for taken in range(min(sizes[t], count), 0, -1):
            for rest in _multisets(sizes, count - taken, t + 1):
                yield (*(t,) * taken, *rest)


def _n_sets(voters: Electorate, how: str, count: int) -> float:
    """The number of sets that `_sets` yields, at least."""
    ways = np.zeros(count + 1)
    ways[0] = 1.0
    for size in voters.n_people.tolist():
        ways = np.convolve(ways, np.ones(min(size, count) + 1))[: count + 1]
    n_ballots = math.factorial(voters.positions.shape[1]) if how == "change" else 1
    return float(ways[count]) * math.comb(n_ballots + count - 1, count)
