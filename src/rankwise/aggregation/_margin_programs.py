"""Margins of victory with proof: by sorting for rules of points, by integer programs for Copeland's and Kemeny's.

Used by `margin_of_victory`, for rankings without missing items.
"""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import permutations
from typing import NamedTuple

import numpy as np

from rankwise._typing import FloatArray, IntArray
from rankwise.aggregation import _kemeny_jit
from rankwise.aggregation._margin_search import (
    Electorate,
    Margin,
    by_duels,
    everybody,
    fewest,
    new_ballots,
    pairs_to_alter,
)
from rankwise.data import pairs_jit

#: Kemeny's rule tries all orders with a rival first up to so many items
MOST_ITEMS_KEMENY = 7


def first_places(positions: FloatArray) -> FloatArray:
    """Share of each ballot's vote that each item has: items that tie at the top share it."""
    top = (positions == 1).astype(np.float64)
    return top / np.maximum(top.sum(axis=1, keepdims=True), 1)


def by_points(voters: Electorate, points: FloatArray, how: str, winners: frozenset[int]) -> Margin:
    """The margin of a rule that adds points, from 0 for the last item of a ballot to 1 for the first."""
    best = everybody(voters, how, winners)
    for u, v, strictly in pairs_to_alter(winners, points.shape[1]):
        lead = voters.weight * (points[:, u] - points[:, v])
        gain = lead + voters.weight if how == "change" else lead
        chosen = fewest(gain, voters.n_people, float(voters.n_people @ lead), strictly, voters.tolerance)
        if chosen is not None and chosen.sum() < best.upper:
            best = Margin(1, int(chosen.sum()), chosen, new_ballots(how, points.shape[1], v, u))
    return replace(best, lower=best.upper)


def copeland(voters: Electorate, how: str, winners: frozenset[int]) -> Margin:
    """Copeland's margin: for each winner u and rival v, an integer program that lets v lose no more duels than u."""
    best = by_duels(voters, "copeland", how, winners)
    if best.lower == best.upper:
        return best
    k, bound = voters.positions.shape[1], best.lower
    lower = best.upper
    for u, v, strictly in pairs_to_alter(winners, k):
        solved = _solve(voters, _duels(voters, how, u, v, strictly), best.upper - 1)
        if solved.chosen is not None:
            best = Margin(1, int(solved.chosen.sum()), solved.chosen, new_ballots(how, k, v, u))
        lower = min(lower, solved.lower)
    return replace(best, lower=min(best.upper, max(lower, bound)))


def kemeny(voters: Electorate, how: str, winners: frozenset[int]) -> Margin:
    """Kemeny's margin: for each order with a rival v first, the fewest people so that none with u first costs less.

    Orders come by what they need against the best order with u first: a lower bound, by which most are never tried.
    """
    best = by_duels(voters, "kemeny", how, winners)
    if best.lower == best.upper:
        return best
    at_least = best.lower
    tasks = []
    for u, v, strictly in pairs_to_alter(winners, voters.positions.shape[1]):
        tau = _best_order(voters, np.zeros(len(voters.weight), dtype=np.intp), how, (), u)
        for rest in permutations(item for item in range(voters.positions.shape[1]) if item != v):
            row = _against(voters, how, (v, *rest), tau)
            chosen = fewest(row.gain, voters.n_people, row.need, strictly, voters.tolerance)
            if chosen is not None:
                tasks.append((int(chosen.sum()), (v, *rest), u, strictly, row))
    for bound, sigma, u, strictly, row in sorted(tasks, key=lambda task: task[0]):
        if bound >= best.upper:
            break
        chosen = _against_all(voters, how, sigma, u, strictly, row, best.upper - 1)
        if chosen is not None:
            best = Margin(1, int(chosen.sum()), chosen, _positions(sigma)[np.newaxis][: how == "change"])
        elif voters.seconds_left == 0:
            return replace(best, lower=min(best.upper, max(bound, at_least)))
    return replace(best, lower=best.upper)


class _Row(NamedTuple):
    """A sum over the chosen people that must reach what is needed."""

    gain: FloatArray
    need: float


class _Program(NamedTuple):
    """Rows over people and yes-or-no variables: ``gains @ x + switches @ y >= needs``."""

    gains: FloatArray
    switches: FloatArray
    needs: FloatArray


class _Solved(NamedTuple):
    chosen: IntArray | None
    lower: int


def _against(voters: Electorate, how: str, sigma: tuple[int, ...], tau: tuple[int, ...]) -> _Row:
    """What each person adds to the advantage of order sigma over order tau, and how much it needs."""
    differs = _disagreements(voters.positions, sigma) - _disagreements(voters.positions, tau)
    extra = 0.0
    if how == "change":
        extra = float(_disagreements(_positions(sigma)[np.newaxis], tau)[0])
    return _Row(voters.weight * (differs + extra), float((voters.n_people * voters.weight) @ differs))


def _against_all(
    voters: Electorate, how: str, sigma: tuple[int, ...], u: int, strictly: bool, row: _Row, most: int
) -> IntArray | None:
    """The fewest people after whose removal or change sigma costs no more than any order with u first.

    Orders with u first are added one by one, always the best one for the votes that are left. None if more people than
    ``most`` are needed, or time is over.
    """
    slack = voters.least if strictly else -voters.tolerance
    rows = [row]
    while voters.seconds_left > 0:
        gains, needs = np.array([row.gain for row in rows]), np.array([row.need for row in rows])
        chosen = _solve(voters, _Program(gains, np.empty((len(rows), 0)), needs + slack), most).chosen
        if chosen is None:
            return None
        row = _against(voters, how, sigma, _best_order(voters, chosen, how, sigma, u))
        if row.gain @ chosen >= row.need + slack - voters.least / 2:
            return chosen
        rows.append(row)
    return None


def _solve(voters: Electorate, program: _Program, most: int) -> _Solved:
    """The fewest people, at most so many, with whom all rows hold; None if there are none, with a lower bound."""
    from scipy.optimize import Bounds, LinearConstraint, milp

    if most < 1:
        return _Solved(None, most + 1)
    # People who count alike in all rows are interchangeable.
    alike, inverse = np.unique(program.gains.T, axis=0, return_inverse=True)
    inverse = inverse.ravel()
    capacity = np.bincount(inverse, voters.n_people, minlength=len(alike))
    n, n_switches = len(alike), program.switches.shape[1]
    # Solvers keep rows up to an absolute tolerance, so that rows should be of size 1.
    size = np.abs(program.gains).max(axis=1, initial=0)
    scale = np.where(size > 0, size, 1.0)[:, np.newaxis]
    rows = np.hstack([alike.T / scale, program.switches / scale])
    constraints = [
        LinearConstraint(rows, program.needs / scale[:, 0], np.inf),
        LinearConstraint(np.append(np.ones(n), np.zeros(n_switches))[np.newaxis], 0, most),
    ]
    found = milp(
        np.append(np.ones(n), np.zeros(n_switches)),
        integrality=np.ones(n + n_switches),
        bounds=Bounds(0, np.append(capacity, np.ones(n_switches))),
        constraints=constraints,
        options={"time_limit": max(voters.seconds_left, 0.05), "mip_rel_gap": 0.0},
    )
    if found.status == 2:
        return _Solved(None, most + 1)
    dual = found.mip_dual_bound
    lower = max(1, math.ceil(dual - 1e-6)) if dual is not None and np.isfinite(dual) else 1
    if found.x is None:
        return _Solved(None, min(lower, most + 1))
    merged = np.round(found.x[:n]).astype(np.intp)
    chosen = np.zeros(len(voters.n_people), dtype=np.intp)
    for t in range(len(chosen)):
        chosen[t] = min(merged[inverse[t]], voters.n_people[t])
        merged[inverse[t]] -= chosen[t]
    return _Solved(chosen, int(chosen.sum()) if found.status == 0 else lower)


def _duels(voters: Electorate, how: str, u: int, v: int, strictly: bool) -> _Program:
    """Item v loses no more duels than u: a switch for each duel that v may lose, and one for each that u must lose."""
    k = voters.positions.shape[1]
    total = float(voters.n_people @ voters.weight)
    extra = 1.0 if how == "change" else 0.0
    switch = np.eye(2 * k) * (total + voters.least)
    of_v, of_u = voters.signs(v), voters.signs(u)
    gains, switches, needs = [], [], []
    for b in range(k):
        if b != v:  # b no longer leads v, or the switch is on
            gains.append(voters.weight * (extra - of_v[:, b]))
            switches.append(switch[b])
            needs.append(float((voters.n_people * voters.weight) @ -of_v[:, b]) - voters.tolerance / 2)
        if b != u:  # b leads u, or the switch is off
            gains.append(voters.weight * (extra + of_u[:, b]))
            switches.append(-switch[k + b])
            needs.append(float((voters.n_people * voters.weight) @ of_u[:, b]) - total)
    gains.append(np.zeros(len(voters.weight)))
    lost = np.append(-np.ones(k), np.ones(k))
    lost[k + u] = 0.0
    switches.append(lost)
    needs.append(1.0 if strictly else 0.0)
    return _Program(np.array(gains), np.array(switches), np.array(needs))


def _best_order(voters: Electorate, chosen: IntArray, how: str, sigma: tuple[int, ...], first: int) -> tuple[int, ...]:
    """The cheapest order that puts this item first, once the chosen people are gone, or vote sigma."""
    wins = pairs_jit.pair_counts(voters.positions, (voters.n_people - chosen) * voters.weight)
    if how == "change" and sigma:
        wins += pairs_jit.pair_counts(_positions(sigma)[np.newaxis], np.array([float(chosen @ voters.weight)]))
    rest = np.array([item for item in range(len(wins)) if item != first])
    part = np.ascontiguousarray(wins[np.ix_(rest, rest)])
    m = len(part)
    best = np.empty(1 << m)
    _kemeny_jit.subset_costs(part, best, np.empty((1 << m // 2, m)), np.empty((1 << (m - m // 2), m)))
    return (first, *rest[_kemeny_jit.order_from_subsets(part, best)].tolist())


def _disagreements(positions: FloatArray, order: tuple[int, ...]) -> FloatArray:
    """Pairs that each ranking puts the other way round than an order."""
    count = np.zeros(len(positions))
    for i, a in enumerate(order):
        for b in order[i + 1 :]:
            count += positions[:, b] < positions[:, a]
    return count


def _positions(order: tuple[int, ...]) -> FloatArray:
    positions = np.empty(len(order))
    positions[list(order)] = np.arange(1.0, len(order) + 1)
    return positions
