"""Kemeny's consensus with weights of items and places, and with constraints: a before b, some of a group at the top.

`constrained_kemeny` is the function; `solve_constrained` also lists the rankings that are as good, for `rules`.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice

import numpy as np

from rankwise._typing import ArrayLike, BoolArray, FloatArray, IntArray, RandomState
from rankwise._validation import check_generator, check_real_number, check_weights, check_whole_number, shortlist
from rankwise.aggregation import _kemeny_jit
from rankwise.aggregation._kemeny_constraints import ConstrainedBounds, Group, prove_constrained
from rankwise.aggregation._kemeny_search import Clock, OrdersFromSets, joint_orders, surely_before
from rankwise.aggregation.base import weighted_rankings
from rankwise.aggregation.kemeny import MOST_ITEMS_AUTO_LP, OptimalRankings, kemeny, list_optimal
from rankwise.aggregation.kemeny_result import Consensus
from rankwise.aggregation.pairs import PreferenceMatrix, preference_matrix
from rankwise.aggregation.shared_order import shared_by, shared_positions
from rankwise.data import Rankings

# 2^18 sets of items and the costs of each item after them take 40 MB.
_MOST_ITEMS_DP = 18
_TIME_LIMIT = 60.0


def constrained_kemeny(
    rankings: ArrayLike,
    *,
    item_weights: ArrayLike | Mapping[Hashable, float] | None = None,
    position_weights: ArrayLike | str | None = None,
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
    item_weights : array-like of shape (n_items,) or mapping of items to numbers, optional
        Weights u: a pair counts the product of its items' weights. Items that a mapping does not name count 1.
    position_weights : sequence of numbers or str, optional
        Weights v of the places 1, 2, ... in the rankings: decreasing ones make what voters put at the top count more.
        The last number counts for all further places. "top-3" is ``[1, 1, 1, 0]``: only what voters put among their
        first three counts.
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
    constraints = Constraints(item_weights, position_weights, tuple(before), tuple(at_least))
    problem = _Problem(weighted_rankings(rankings, None), constraints)
    return problem.solve(time_limit, random_state)[0]


@dataclass(frozen=True)
class Constraints:
    """What a consensus must keep, and how much items and places count; see `constrained_kemeny`."""

    item_weights: ArrayLike | Mapping[Hashable, float] | None = None
    position_weights: ArrayLike | str | None = None
    before: tuple[tuple[Hashable, Hashable], ...] = ()
    at_least: tuple[tuple[int, Sequence[Hashable], int], ...] = ()

    def __bool__(self) -> bool:
        return bool(self.item_weights is not None or self.position_weights is not None or self.before or self.at_least)

    def among(self, all_items: tuple[Hashable, ...], compared: BoolArray) -> Constraints:
        """The same for some of the items, once the names are checked: those that are compared with others."""
        named = [item for pair in self.before for item in pair]
        named += [item for _, group, _ in self.at_least for item in group]
        for item in named:
            if not compared[_number(item, all_items)]:
                raise ValueError(f"a constraint names {item!r}, but no ranking compares it with another item")
        weights = _item_weights(self.item_weights, all_items)
        kept = {item: w for item, w, known in zip(all_items, weights, compared, strict=True) if known}
        places = _place_weights(self.position_weights, len(all_items))[: int(compared.sum())]
        return replace(
            self,
            item_weights=None if self.item_weights is None else kept,
            position_weights=None if self.position_weights is None else places,
        )

    def words(self) -> list[str]:
        """The constraints in words, and what counts how much."""
        found = [f"{a} before {b}" for a, b in self.before]
        found += [f"at least {m} of {', '.join(map(str, group))} among the first {k}" for m, group, k in self.at_least]
        if isinstance(self.item_weights, Mapping):
            found += [f"{item} counts {weight:g}" for item, weight in self.item_weights.items() if weight != 1]
        elif self.item_weights is not None:
            found.append("items are weighted")
        if isinstance(self.position_weights, str):
            found.append(f"only the {self.position_weights} of each ranking counts")
        elif self.position_weights is not None:
            found.append("places are weighted")
        return found


@dataclass(frozen=True)
class ConstrainedKemeny:
    """What `solve_constrained` finds: a best ranking, all that are as good, and what the constraints add to the cost.

    ``optimal`` is None if there is one best ranking, or if the others are not known (then ``complete`` is False);
    ``price`` is None if it is not known.
    """

    best: Consensus
    optimal: OptimalRankings | None
    complete: bool
    comparisons: float
    price: float | None


def solve_constrained(
    rankings: Rankings, constraints: Constraints, *, limit: int, time_limit: float | None, random_state: RandomState
) -> ConstrainedKemeny:
    """As `constrained_kemeny`, and up to ``limit`` rankings that are as good."""
    problem = _Problem(rankings, constraints)
    best, orders = problem.solve(time_limit, random_state)
    price: float | None = None
    if best.optimal and (constraints.before or constraints.at_least):
        free = kemeny(problem.matrix, time_limit=time_limit, random_state=random_state)
        price = best.cost - free.cost if free.optimal else None
    several, complete = None, best.optimal
    if best.optimal and not best.unique:
        if orders is not None:
            several = _listed(problem.matrix, orders, limit, best.cost)
        elif not problem.groups:
            seconds = _TIME_LIMIT if time_limit is None else time_limit
            several, _ = list_optimal(problem.forced, limit, seconds, check_generator(random_state))
        complete = several is not None and several.complete
    if several is not None and len(several.rankings) == 1:
        several = None
    comparisons = float(np.triu(problem.matrix.counts, 1).sum())
    return ConstrainedKemeny(best, several, complete, comparisons, price)


class _Problem:
    """Pairs weighted by items and places, and the constraints as numbers of items."""

    def __init__(self, source: Rankings, constraints: Constraints) -> None:
        self.constraints = constraints
        unweighted = preference_matrix(source)
        wins, ties = unweighted.wins, unweighted.ties
        if constraints.position_weights is not None:
            at = _place_weights(constraints.position_weights, source.n_items)
            wins, ties = _weighted_by_place(source, at)
        if constraints.item_weights is not None:
            weight = _item_weights(constraints.item_weights, source.items)
            wins, ties = wins * np.outer(weight, weight), ties * np.outer(weight, weight)
        self.matrix = PreferenceMatrix(wins, ties, source.items)
        self.earlier = _earlier(constraints.before, source.items)
        self.groups = [_group(*constraint, items=source.items) for constraint in constraints.at_least]

    @cached_property
    def forced(self) -> PreferenceMatrix:
        """Pairs of which those that must be in an order cost more than anything else if they are not."""
        wins = self.matrix.wins
        return replace(self.matrix, wins=wins + self.earlier * (1.0 + wins.sum()))

    def solve(self, time_limit: float | None, random_state: RandomState) -> tuple[Consensus, OrdersFromSets | None]:
        """A best ranking that meets the constraints, and all of them where dynamic programming found it."""
        large = self.matrix.n_items > _MOST_ITEMS_DP
        clock = Clock(_TIME_LIMIT if time_limit is None else check_real_number("time_limit", time_limit, infinite=True))
        # The best ranking without groups may keep them all, and is a lower bound if not.
        seconds = max(clock.left, 0.0) / 2 if self.groups and large else time_limit
        best = kemeny(self.forced, time_limit=seconds, random_state=random_state)
        kept = all(np.sum(best.positions[members] <= k) >= m for m, members, k in self.groups)
        if not self.groups or (kept and best.unique):
            return best, None
        if large and kept and best.optimal:
            return replace(best, unique=None), None  # other rankings that cost the same may break a constraint
        orders: OrdersFromSets | None = None
        found: Consensus | None = None
        if large:
            found = _by_programs(self.matrix, self.earlier, self.groups, best, clock)
        else:
            orders = _orders_from_sets(self.matrix.wins, self.earlier, self.groups)
            found = None if orders is None else _of_orders(self.matrix, orders)
        if found is None:
            raise ValueError(
                f"no ranking meets all of these constraints: {'; '.join(self.constraints.words())}. Drop one of them"
            )
        return found, orders


def _item_weights(given: ArrayLike | Mapping[Hashable, float] | None, items: tuple[Hashable, ...]) -> FloatArray:
    """A weight for each item."""
    if isinstance(given, Mapping):
        weights = np.ones(len(items))
        for item, weight in given.items():
            weights[_number(item, items, "item_weights")] = check_real_number(f"the weight of {item!r}", weight)
        given = weights
    checked = check_weights(given, len(items), name="item_weights", each="item")
    if (checked == 0).any():
        name = items[int(np.argmin(checked))]
        raise ValueError(f"the weight of item {name!r} is 0, so nothing would place it; leave the item out instead")
    return checked


def _place_weights(given: ArrayLike | str | None, n_items: int) -> FloatArray:
    """A weight for each place; the last one that is given counts for all further places."""
    if isinstance(given, str):
        top = re.fullmatch(r"top[- ]?(\d+)", given.strip().lower())
        if top is None or int(top[1]) == 0:
            raise ValueError(f"position_weights is {given!r}; give numbers, or 'top-3' to count the first three only")
        given = [1.0] * min(int(top[1]), n_items) + [0.0] * (int(top[1]) < n_items)
    if given is None:
        return np.ones(n_items)
    number = np.size(given)
    if not 0 < number <= n_items:
        raise ValueError(f"position_weights has {number} numbers for {n_items} places; give one for each, or fewer")
    weights = check_weights(given, number, name="position_weights", each="place")
    if not weights.any():
        raise ValueError("all position_weights are 0, so nothing counts; give a positive one")
    return np.append(weights, np.full(n_items - number, weights[-1]))


def _weighted_by_place(source: Rankings, at: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Weights of "row before column" and of ties, each ranking counting by the place of the row item."""
    positions, weights, n = source.positions, source.weights, source.n_items
    ranked = np.sort(positions, axis=1)
    wins, ties = np.empty((n, n)), np.empty((n, n))
    for i, column in enumerate(positions.T):
        ahead = (ranked < column[:, np.newaxis]).sum(axis=1)
        counts = weights * at[np.minimum(ahead, n - 1)]
        wins[i] = counts @ (column[:, np.newaxis] < positions)
        ties[i] = counts @ ((column[:, np.newaxis] == positions) & np.isfinite(positions))
    np.fill_diagonal(ties, 0.0)
    return wins, ties


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
    check_whole_number("k of at_least", k, at_least=1)
    if m > len(members) or m > k:
        raise ValueError(f"no ranking has {m} of {shortlist(list(group))} among its first {k}; give a smaller number")
    return m, members, k


def _number(item: Hashable, items: tuple[Hashable, ...], what: str = "a constraint") -> int:
    if item not in items:
        names = {str(other).lower(): str(other) for other in items}
        near = difflib.get_close_matches(str(item).lower(), names, n=3)
        alike = f"did you mean {' or '.join(repr(names[name]) for name in near)}?"
        cure = alike if near else f"the items are {shortlist(items)}"
        raise ValueError(f"{what} names {item!r}, which is not an item; {cure}")
    return items.index(item)


def _orders_from_sets(wins: FloatArray, earlier: BoolArray, groups: Sequence[Group]) -> OrdersFromSets | None:
    """Dynamic programming over the sets that may come first: those that meet every constraint; None if none do."""
    n = len(wins)
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
    return OrdersFromSets(wins, best, ~np.eye(n, dtype=bool)) if np.isfinite(best[-1]) else None


def _of_orders(matrix: PreferenceMatrix, orders: OrdersFromSets) -> Consensus:
    """One of the best orders."""
    n = matrix.n_items
    order, remaining = np.empty(n, dtype=np.intp), (1 << n) - 1
    for place in range(n - 1, -1, -1):
        order[place] = orders.last_items(remaining)[-1]
        remaining ^= 1 << int(order[place])
    cost = float(_kemeny_jit.order_cost(matrix.wins, order))
    everything = (tuple(range(n)),)
    return Consensus(
        _positions(order), matrix.items, cost, cost, True, 0.0, everything, "dp", unique=orders.is_single()
    )


def _listed(matrix: PreferenceMatrix, orders: OrdersFromSets, limit: int, cost: float) -> OptimalRankings:
    """All of the best orders, or the first ones and what all of them share."""
    wins, whole = matrix.wins, [np.arange(matrix.n_items)]
    found = list(islice(joint_orders(wins, whole, [orders]), limit + 1))
    complete = len(found) <= limit
    positions = np.array([_positions(order) for order in found[:limit]])
    shared = shared_by(positions) if complete else shared_positions(surely_before(wins, whole, [orders]))
    winners = tuple(matrix.items[i] for i in np.flatnonzero(shared == 1))
    return OptimalRankings(Rankings(positions, items=matrix.items), complete, cost, shared, winners)


def _positions(order: IntArray) -> FloatArray:
    positions = np.empty(len(order))
    positions[order] = np.arange(1.0, len(order) + 1)
    return positions


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
    lower = bounds.cost if bounds.proven else min(bounds.cost, bounds.lower)
    gap = (bounds.cost - lower) / bounds.cost if lower < bounds.cost else 0.0
    everything = (tuple(range(n)),)
    return Consensus(
        _positions(bounds.order), matrix.items, bounds.cost, lower, bounds.proven, gap, everything, "ilp", unique=None
    )
