"""Kemeny's consensus with weights of items and places, and with constraints: a before b, some of a group at the top."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace

import numpy as np

from rankwise._typing import ArrayLike, BoolArray, FloatArray, RandomState
from rankwise._validation import check_real_number, check_weights, check_whole_number, shortlist
from rankwise.aggregation import _kemeny_jit
from rankwise.aggregation._kemeny_constraints import ConstrainedBounds, Group, prove_constrained
from rankwise.aggregation._kemeny_search import Clock, OrdersFromSets
from rankwise.aggregation.base import weighted_rankings
from rankwise.aggregation.kemeny import MOST_ITEMS_AUTO_LP, kemeny
from rankwise.aggregation.kemeny_result import Consensus
from rankwise.aggregation.pairs import PreferenceMatrix, preference_matrix

# 2^18 sets of items and the costs of each item after them take 40 MB.
_MOST_ITEMS_DP = 18
_TIME_LIMIT = 60.0


def constrained_kemeny(
    rankings: ArrayLike,
    *,
    item_weights: ArrayLike | None = None,
    position_weights: ArrayLike | None = None,
    before: Sequence[tuple[Hashable, Hashable]] = (),
    at_least: Sequence[tuple[int, Sequence[Hashable], int]] = (),
    time_limit: float | None = None,
    random_state: RandomState = None,
) -> Consensus:
    r"""Find the ranking that disagrees least with the given ones among those that meet constraints.

    *Definition.* As `kemeny`, where a ranking with i before j counts :math:`u_i u_j v_p` instead of 1 against j before
    i: u are the weights of the items, and v those of the places, taken at the place p that the ranking gives to i. Both
    only weigh the pairs, so that the proof of `kemeny` holds.

    Parameters
    ----------
    rankings : array-like of shape (n_rankings, n_items) or Rankings
        Positions, 1 = best, of any kind.
    item_weights : array-like of shape (n_items,), optional
        Weights u: a pair counts the product of its items' weights.
    position_weights : array-like of shape (n_items,), optional
        Weights v of the places 1, 2, ... in the rankings: decreasing ones make what voters put at the top count more.
    before : sequence of pairs of items, default=()
        Pairs (a, b): a must come before b.
    at_least : sequence of (m, group, k), default=()
        At least m items of the group must be among the first k.
    time_limit : float, optional
        Seconds of search after which the best ranking found is returned with its gap; by default 60. Dynamic
        programming, for up to 18 items, always ends in time.
    random_state : None, int, Generator or RandomState
        Random numbers of the search.

    Returns
    -------
    Consensus
        The cost is weighted.

    Examples
    --------
    >>> from rankwise import Rankings
    >>> from rankwise.aggregation import constrained_kemeny
    >>> votes = Rankings([[1, 2, 3], [1, 3, 2], [2, 1, 3]], ["a", "b", "c"])
    >>> constrained_kemeny(votes, before=[("c", "a")])
    Consensus: c > a > b
      cost 6, proven optimal (dp)
    """
    source = weighted_rankings(rankings, None)
    matrix = preference_matrix(source)
    wins = matrix.wins
    if position_weights is not None:
        wins = _weighted_by_place(source.positions, source.weights, _checked(position_weights, source.n_items, "place"))
    if item_weights is not None:
        weight = _checked(item_weights, source.n_items, "item")
        wins = wins * np.outer(weight, weight)
    earlier = _earlier(before, matrix.items)
    groups = [_group(*constraint, items=matrix.items) for constraint in at_least]
    # A ranking that breaks a constraint costs more than any that keeps them all.
    forced = PreferenceMatrix(wins + earlier * (1.0 + wins.sum()), matrix.ties, matrix.items)
    large = source.n_items > _MOST_ITEMS_DP
    clock = Clock(_TIME_LIMIT if time_limit is None else check_real_number("time_limit", time_limit, infinite=True))
    # The best ranking without groups may keep them all, and is a lower bound if not.
    best = kemeny(
        forced, time_limit=max(clock.left, 0.0) / 2 if groups and large else time_limit, random_state=random_state
    )
    kept = all(np.sum(best.positions[members] <= k) >= m for m, members, k in groups)
    if not groups or (kept and best.unique):
        return best
    if large and kept and best.optimal:
        return replace(best, unique=None)  # other rankings that cost the same may break a constraint
    found = (
        _by_programs(replace(matrix, wins=wins), earlier, groups, best, clock)
        if large
        else _by_sets(replace(matrix, wins=wins), earlier, groups)
    )
    if found is None:
        words = [f"{a!r} before {b!r}" for a, b in before]
        words += [f"{m} of {shortlist(list(group))} among the first {k}" for m, group, k in at_least]
        raise ValueError(f"no ranking meets all of these constraints: {'; '.join(words)}. Drop one of them")
    return found


def _checked(weights: ArrayLike, n: int, each: str) -> FloatArray:
    return check_weights(weights, n, name=f"{'position' if each == 'place' else 'item'}_weights", each=each)


def _weighted_by_place(positions: FloatArray, weights: FloatArray, at: FloatArray) -> FloatArray:
    """Weights of "row before column", each ranking counting by the place of the row item."""
    ranked = np.sort(positions, axis=1)
    wins = np.empty((positions.shape[1],) * 2)
    for i, column in enumerate(positions.T):
        place = (ranked < column[:, np.newaxis]).sum(axis=1)  # items ahead
        wins[i] = (weights * at[np.minimum(place, len(at) - 1)]) @ (column[:, np.newaxis] < positions)
    return wins


def _earlier(before: Sequence[tuple[Hashable, Hashable]], items: tuple[Hashable, ...]) -> BoolArray:
    """The pairs (a, b) with a before b, once they are checked to hold no circle."""
    from scipy.sparse.csgraph import connected_components

    earlier = np.zeros((len(items),) * 2, dtype=bool)
    for a, b in before:
        earlier[_number(a, items), _number(b, items)] = True
    component = connected_components(earlier, directed=True, connection="strong")[1]
    circle = [(a, b) for a, b in before if a == b or component[_number(a, items)] == component[_number(b, items)]]
    if circle:
        words = ", ".join(f"{a!r} before {b!r}" for a, b in circle)
        raise ValueError(f"no ranking meets the constraints {words}: they run in a circle; drop one of them")
    return earlier


def _group(m: int, group: Sequence[Hashable], k: int, *, items: tuple[Hashable, ...]) -> Group:
    members = np.unique([_number(item, items) for item in group])
    check_whole_number("m of at_least", m, at_least=1)
    if m > len(members) or m > k:
        raise ValueError(f"no ranking has {m} of {shortlist(list(group))} among its first {k}; give a smaller number")
    return m, members, k


def _number(item: Hashable, items: tuple[Hashable, ...]) -> int:
    if item not in items:
        raise ValueError(f"a constraint names {item!r}, but the items are {shortlist(items)}")
    return items.index(item)


def _by_sets(
    matrix: PreferenceMatrix,
    earlier: BoolArray,
    groups: Sequence[Group],
) -> Consensus | None:
    """Dynamic programming over the sets that may come first: those that meet every constraint; None if none do."""
    n, wins = matrix.n_items, matrix.wins
    sets = np.arange(1 << n)
    size = np.zeros(1 << n, dtype=np.intp)
    for item in range(n):
        size += (sets >> item) & 1
    allowed = np.ones(1 << n, dtype=bool)
    for a, b in np.argwhere(earlier):
        allowed &= ((sets >> b) & 1 == 0) | ((sets >> a) & 1 == 1)
    for m, members, k in groups:
        allowed &= (size != min(k, n)) | (sum((sets >> item) & 1 for item in members) >= m)
    best = np.full(1 << n, np.inf)
    best[0] = 0.0
    layers = [np.flatnonzero(allowed & (size == s)) for s in range(n + 1)]
    for layer in layers[1:]:
        for item in range(n):
            held = layer[(layer >> item) & 1 == 1]
            rest = held ^ (1 << item)
            after = sum(wins[item, other] * ((rest >> other) & 1) for other in range(n))
            best[held] = np.minimum(best[held], best[rest] + after)
    if not np.isfinite(best[-1]):
        return None
    orders = OrdersFromSets(wins, best, ~np.eye(n, dtype=bool))
    order, remaining = np.empty(n, dtype=np.intp), (1 << n) - 1
    for place in range(n - 1, -1, -1):
        order[place] = orders.last_items(remaining)[-1]
        remaining ^= 1 << int(order[place])
    positions = np.empty(n)
    positions[order] = np.arange(1.0, n + 1)
    cost = float(_kemeny_jit.order_cost(wins, order))
    return Consensus(positions, matrix.items, cost, cost, True, 0.0, (tuple(range(n)),), "dp", orders.is_single())


def _by_programs(
    matrix: PreferenceMatrix, earlier: BoolArray, groups: Sequence[Group], relaxed: Consensus, clock: Clock
) -> Consensus | None:
    """Linear and integer programming, from the consensus without groups; None if no ranking meets the constraints."""
    n, wins = matrix.n_items, np.ascontiguousarray(matrix.wins)
    bounds = ConstrainedBounds(wins, earlier, [(m, members, k) for m, members, k in groups if k < n])
    bounds.lower = max(bounds.lower, relaxed.lower_bound)
    with clock.ended_by_interrupt():
        bounds.offer_near(np.argsort(relaxed.positions, kind="stable"))
        if not bounds.proven and n <= MOST_ITEMS_AUTO_LP:
            prove_constrained(bounds, clock)
    if np.isinf(bounds.cost):
        if np.isinf(bounds.lower):
            return None
        raise ValueError("no ranking that meets all constraints was found in time; give a longer time_limit")
    positions = np.empty(n)
    positions[bounds.order] = np.arange(1.0, n + 1)
    lower = bounds.cost if bounds.proven else min(bounds.cost, bounds.lower)
    gap = (bounds.cost - lower) / bounds.cost if lower < bounds.cost else 0.0
    return Consensus(
        positions, matrix.items, bounds.cost, lower, bounds.proven, gap, (tuple(range(n)),), "ilp", unique=None
    )
