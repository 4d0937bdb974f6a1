"""Ranked pairs (Tideman's rule): majorities are locked in, the largest first, unless they close a cycle."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from rankwise._typing import ArrayLike, BoolArray, FloatArray
from rankwise._validation import check_choice, check_whole_number
from rankwise.aggregation.pairs import comparable_preferences, majority
from rankwise.aggregation.shared_order import shared_positions

# Strengths closer than this share of the largest are equal.
_EQUAL = 1e-9
# Locking the majorities of so many items takes seconds; and so does following orders of this many cells.
_MOST_ITEMS = 500
_MOST_CELLS = 5_000_000


@dataclass(frozen=True, eq=False)
class RankedPairs:
    """What `ranked_pairs` finds.

    Attributes
    ----------
    positions : ndarray of shape (n_items,)
        The consensus, 1 = best, dense. Items tie where the order of locking equally strong majorities, or a pair that
        is even, decides between them.
    items : tuple
        Names of the items.
    winners : tuple
        Items that some order of locking puts first.
    locked : ndarray of shape (n_items, n_items), bool
        Whether the row item comes before the column item whatever the order of locking.
    complete : bool
        Whether every order of locking was followed. If not, ``locked`` holds only what is sure, and there may be more
        ties than necessary.
    """

    positions: FloatArray
    items: tuple[Hashable, ...]
    winners: tuple[Hashable, ...]
    locked: BoolArray
    complete: bool


def ranked_pairs(
    rankings_or_matrix: ArrayLike,
    *,
    strength: Literal["margin", "wins"] = "margin",
    limit: int = 1000,
) -> RankedPairs:
    r"""Lock majorities in, the strongest first, unless they contradict those locked before: Tideman's ranked pairs.

    *Definition.* Majorities are taken by decreasing strength. Each one is locked, unless the majorities locked before
    it lead from its loser to its winner. The locked majorities order the items. Where equally strong majorities
    contradict each other, the order in which they are locked decides: every such order is followed, and items that do
    not come in the same order in all of them are tied.

    Parameters
    ----------
    rankings_or_matrix : Rankings, array-like of positions (n_rankings, n_items), PreferenceMatrix, or square array
        As in `copeland`. A pair that nobody compared is even.
    strength : {"margin", "wins"}, default="margin"
        The strength of a majority: by how much it wins, or its winning votes, the weight of the rankings on its side,
        as in `schulze`. They differ only if some rankings tie, do not list or miss items.
    limit : int, default=1000
        How many different sets of locked majorities to follow at most; fewer where there are more than 70 items.

    Returns
    -------
    RankedPairs

    References
    ----------
    Tideman (1987), Independence of clones as a criterion for voting rules, Social Choice and Welfare 4.

    Examples
    --------
    >>> from rankwise import Rankings
    >>> from rankwise.aggregation import ranked_pairs
    >>> ranked_pairs(Rankings([[1, 2, 3], [3, 1, 2], [2, 3, 1]], weights=[4, 3, 2])).positions
    array([1., 2., 3.])
    >>> ranked_pairs([[1, 2, 3], [2, 1, 3]]).winners
    (0, 1)
    """
    check_choice("strength", strength, ("margin", "wins"))
    check_whole_number("limit", limit, at_least=1)
    matrix = comparable_preferences(rankings_or_matrix)
    if matrix.n_items > _MOST_ITEMS:
        raise ValueError(
            f"ranked pairs of {matrix.n_items:,} items would lock {matrix.n_items**2 // 2:,} majorities one by one; at "
            f"most {_MOST_ITEMS:,} items are taken: use schulze, copeland or borda"
        )
    beats = majority(matrix.wins)
    power = np.where(beats, matrix.wins - matrix.wins.T if strength == "margin" else matrix.wins, 0.0)
    limit = max(1, min(limit, _MOST_CELLS // matrix.n_items**2))
    groups = _equally_strong(power)
    branches = [np.zeros_like(beats)]
    for group in groups:
        ends = [end for reached in branches for end in _locked_in_any_order(reached, group, limit)]
        branches = list({_key(end): end for end in ends}.values())
        if len(branches) > limit:
            break
    complete = len(branches) <= limit
    if not complete:
        branches = [_surely_locked(groups, np.zeros_like(beats))]
    locked = np.logical_and.reduce(branches)
    first = np.any([~branch.any(axis=0) for branch in branches], axis=0)
    winners = tuple(matrix.items[i] for i in np.flatnonzero(first))
    return RankedPairs(shared_positions(locked, first if complete else None), matrix.items, winners, locked, complete)


def _equally_strong(power: FloatArray) -> list[list[tuple[int, int]]]:
    """Majorities by decreasing strength, those of equal strength together."""
    winner, loser = np.nonzero(power)
    values = power[winner, loser]
    order = np.argsort(-values, kind="stable")
    new = -np.diff(values[order], prepend=np.inf) > _EQUAL * values.max(initial=0.0)
    groups: list[list[tuple[int, int]]] = []
    for starts, edge in zip(new.tolist(), order.tolist(), strict=True):
        if starts:
            groups.append([])
        groups[-1].append((int(winner[edge]), int(loser[edge])))
    return groups


def _locked_in_any_order(reached: BoolArray, group: list[tuple[int, int]], limit: int) -> list[BoolArray]:
    """Who comes before whom after locking a group of majorities, for every order of locking them.

    Majorities on no cycle are locked whatever the order; only the others have to be tried one after the other. Stops
    when there are more than ``limit`` intermediate results.
    """
    stack = [_surely_locked([group], reached)]
    ends: dict[bytes, BoolArray] = {}
    seen = {_key(stack[0]): stack[0]}
    while stack:
        closure = stack.pop()
        left = [(i, j) for i, j in group if not closure[i, j] and not closure[j, i]]
        if not left:
            ends[_key(closure)] = closure
        for i, j in left:
            grown = closure.copy()
            _add_edge(grown, i, j)
            if _key(grown) not in seen:
                seen[_key(grown)] = grown
                stack.append(grown)
        if len(seen) > limit:
            return list(seen.values())
    return list(ends.values())


def _surely_locked(groups: list[list[tuple[int, int]]], reached: BoolArray) -> BoolArray:
    """What is locked whatever the order: majorities on no cycle of majorities that are as strong or stronger."""
    from scipy.sparse.csgraph import connected_components

    closure, possible = reached.copy(), reached.copy()
    for group in groups:
        for i, j in group:
            possible[i, j] |= not closure[j, i]
        component = connected_components(possible, directed=True, connection="strong")[1]
        for i, j in group:
            if component[i] != component[j] and not closure[i, j] and not closure[j, i]:
                _add_edge(closure, i, j)
    return closure


def _add_edge(closure: BoolArray, i: int, j: int) -> None:
    """Put i before j, and with that all that come before i before all that come after j."""
    ahead, behind = closure[:, i].copy(), closure[j].copy()
    ahead[i] = behind[j] = True
    closure[ahead] |= behind


def _key(closure: BoolArray) -> bytes:
    return np.packbits(closure).tobytes()
