"""Compiled loops of `kemeny`, its search and its batches: orders of items and their costs.

``wins[i, j]`` is the weight of the rankings with i before j. An order that puts i before j costs ``wins[j, i]``;
``margins`` is ``wins - wins.T``: what i gains by moving in front of j.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators

from __future__ import annotations

import numpy as np

from rankwise._compiled import compiled

# Gains below this are rounding.
_NOTHING = 1e-9


@compiled
def order_cost(wins, order):
    """Cost of an order (item ids, best first)."""
    cost = 0.0
    for a in range(len(order)):
        for b in range(a + 1, len(order)):
            cost += wins[order[b], order[a]]
    return cost


@compiled
def subset_costs(wins, best, low_costs, high_costs):
    """Dynamic programming over sets: ``best[S]`` becomes the lowest cost of the items of S among themselves.

    Item i after the rest of S costs the weight of i before these, read from two tables (sets, items), one for the low
    and one for the high half of the bits. The arrays may be larger than needed, so that they serve many matrices.
    """
    m = len(wins)
    low = m // 2
    for half in range(2):
        table = low_costs if half == 0 else high_costs
        first = 0 if half == 0 else low
        bits = low if half == 0 else m - low
        for i in range(m):
            table[0, i] = 0.0
        for b in range(bits):
            for rest in range(1 << b):
                for i in range(m):
                    table[rest + (1 << b), i] = table[rest, i] + wins[i, first + b]
    best[0] = 0.0
    mask = (1 << low) - 1
    for chosen in range(1, 1 << m):
        low_row = low_costs[chosen & mask]
        high_row = high_costs[chosen >> low]
        least = np.inf
        best[chosen] = np.inf  # so that items outside the set are never chosen
        for i in range(m):
            cost = best[chosen & ~(1 << i)] + (low_row[i] + high_row[i])
            least = cost if cost < least else least
        best[chosen] = least


@compiled
def order_from_subsets(wins, best):
    """Read an optimal order from the costs of sets, worst item first; of equal items the last is the worst."""
    m = len(wins)
    order = np.empty(m, dtype=np.intp)
    chosen = (1 << m) - 1
    for place in range(m - 1, -1, -1):
        least = np.inf
        for i in range(m):
            rest = chosen & ~(1 << i)
            if rest != chosen:
                cost = best[rest]
                for j in range(m):
                    if (rest >> j) & 1:
                        cost += wins[i, j]
                if cost <= least:
                    least = cost
                    order[place] = i
        chosen &= ~(1 << order[place])
    return order


@compiled
def insertion_search(margins, order):
    """Move single items to their best place until none gains; changes ``order``, returns what was saved."""
    k = len(order)
    place = np.empty(k, dtype=np.intp)
    for p in range(k):
        place[order[p]] = p
    active = np.empty(k, dtype=np.bool_)
    saved = 0.0
    gain = 1.0
    while gain > 0:
        active[:] = True
        gain = _improve(margins, order, place, active)
        saved += gain
    return saved


@compiled
def iterated_search(margins, order, picks, shifts, slack):
    """Perturb an order by a few random moves, improve it again, and continue from it if it is hardly worse.

    ``picks`` and ``shifts`` (rounds, moves) say which places move and how far; ``slack`` is how much worse than the
    best an order may be for the search to continue from it. Returns the best order and what it saves against the first.
    """
    k = len(order)
    place = np.empty(k, dtype=np.intp)
    active = np.zeros(k, dtype=np.bool_)
    current, best = order.copy(), order.copy()
    trial = order.copy()
    current_saved, best_saved = 0.0, 0.0
    for r in range(picks.shape[0]):
        trial[:] = current
        for p in range(k):
            place[trial[p]] = p
        saved = current_saved
        for s in range(picks.shape[1]):
            start = picks[r, s]
            stop = min(max(start + shifts[r, s], 0), k - 1)
            saved += _move(margins, trial, place, active, start, stop)
        saved += _improve(margins, trial, place, active)
        if saved > best_saved + _NOTHING:
            best_saved = saved
            best[:] = trial
        if saved >= best_saved - slack - _NOTHING:
            current_saved = saved
            current[:] = trial
    return best, best_saved


@compiled
def _improve(margins, order, place, active):
    """Move active items to their best place; a move makes the items that it passes active. Returns what was saved."""
    k = len(order)
    saved = 0.0
    again = True
    while again:
        again = False
        for item in range(k):
            if not active[item]:
                continue
            active[item] = False
            at = place[item]
            row = margins[item]
            best_gain = _NOTHING
            best_place = at
            gain = 0.0
            for p in range(at - 1, -1, -1):
                gain += row[order[p]]
                if gain > best_gain:
                    best_gain = gain
                    best_place = p
            gain = 0.0
            for p in range(at + 1, k):
                gain -= row[order[p]]
                if gain > best_gain:
                    best_gain = gain
                    best_place = p
            if best_place != at:
                saved += _move(margins, order, place, active, at, best_place)
                again = True
    return saved


@compiled
def _move(margins, order, place, active, start, stop):
    """Move one item from a place to another; returns what this saves."""
    item = order[start]
    step = 1 if stop > start else -1
    saved = 0.0
    for p in range(start, stop, step):
        passed = order[p + step]
        saved -= step * margins[item, passed]
        order[p] = passed
        place[passed] = p
        active[passed] = True
    order[stop] = item
    place[item] = stop
    active[item] = True
    return saved


@compiled
def strong_components(beats, component):
    """Number the strongly connected components of a graph so that edges lead to larger numbers; how many there are.

    Tarjan's algorithm with its own stack. Components are found from the last to the first, from vertex 0 on: of two
    that no path joins, the one with the smaller vertices comes later.
    """
    k = len(beats)
    index = np.zeros(k, dtype=np.intp)  # when a vertex was reached, from 1
    lowest = np.empty(k, dtype=np.intp)
    following = np.zeros(k, dtype=np.intp)  # the neighbor to visit next
    path = np.empty(k, dtype=np.intp)
    waiting = np.empty(k, dtype=np.intp)  # reached, but not yet in a component
    n_waiting = 0
    reached = 0
    number = 0
    component[:k] = -1
    for root in range(k):
        if index[root] > 0:
            continue
        depth = 0
        path[0] = root
        while depth >= 0:
            v = path[depth]
            if index[v] == 0:
                reached += 1
                index[v] = reached
                lowest[v] = reached
                waiting[n_waiting] = v
                n_waiting += 1
            deeper = False
            while following[v] < k:
                u = following[v]
                following[v] += 1
                if beats[v, u] and component[u] < 0:
                    if index[u] == 0:
                        depth += 1
                        path[depth] = u
                        deeper = True
                        break
                    lowest[v] = min(lowest[v], index[u])
            if deeper:
                continue
            if lowest[v] == index[v]:
                while True:
                    n_waiting -= 1
                    member = waiting[n_waiting]
                    component[member] = number
                    if member == v:
                        break
                number += 1
            depth -= 1
            if depth >= 0:
                lowest[path[depth]] = min(lowest[path[depth]], lowest[v])
    for v in range(k):
        component[v] = number - 1 - component[v]
    return number


@compiled
def batch_medians(wins, largest):
    """Kemeny medians of many small matrices: positions (n, k), and whether each is proven.

    A matrix whose majority graph orders all items is done at once; components of up to ``largest`` items go to
    the dynamic program, larger ones to insertion search from the order of their wins.
    """
    n, k, _ = wins.shape
    positions = np.empty((n, k))
    proven = np.ones(n, dtype=np.bool_)
    beats = np.empty((k, k), dtype=np.bool_)  # items from last to first, so that open pairs fall in item order
    last = k - 1
    component = np.empty(k, dtype=np.intp)
    beaten = np.empty(k, dtype=np.intp)
    seen = np.empty(k, dtype=np.bool_)
    members = np.empty(k, dtype=np.intp)
    losses = np.empty(k)
    exact = min(k, largest)
    best = np.empty(1 << exact)
    low_costs = np.empty((1 << (exact // 2), exact))
    high_costs = np.empty((1 << (exact - exact // 2), exact))
    for r in range(n):
        matrix = wins[r]
        for i in range(k):  # plain loops here and below: they compile in a fraction of the time
            beaten[i] = 0
            seen[i] = False
        for i in range(k):
            for j in range(i):
                above = matrix[i, j] > matrix[j, i]
                below = matrix[i, j] < matrix[j, i]
                beats[last - i, last - j] = above
                beats[last - j, last - i] = below
                beaten[i] += below
                beaten[j] += above
            beats[last - i, last - i] = False
        transitive = True
        for i in range(k):
            transitive &= not seen[beaten[i]]
            seen[beaten[i]] = True
            positions[r, i] = beaten[i] + 1.0
        if transitive:  # the numbers 0 .. k-1 all occur: a strict majority order
            continue
        number = strong_components(beats, component)
        start = 0
        for c in range(number):
            m = 0
            for i in range(k):
                if component[last - i] == c:
                    members[m] = i
                    m += 1
            if m == 1:
                positions[r, members[0]] = start + 1.0
            else:
                part = np.empty((m, m))
                for a in range(m):
                    for b in range(m):
                        part[a, b] = matrix[members[a], members[b]] if a != b else 0.0
                if m <= largest:
                    subset_costs(part, best, low_costs, high_costs)
                    order = order_from_subsets(part, best)
                else:
                    margins = np.empty((m, m))
                    order = np.empty(m, dtype=np.intp)
                    for a in range(m):
                        lost = 0.0
                        for b in range(m):
                            margins[a, b] = part[a, b] - part[b, a]
                            lost -= margins[a, b]
                        losses[a] = lost
                        at = a
                        while at > 0 and losses[order[at - 1]] > lost:
                            order[at] = order[at - 1]
                            at -= 1
                        order[at] = a
                    insertion_search(margins, order)
                    proven[r] = False
                for place in range(m):
                    positions[r, members[order[place]]] = start + place + 1.0
            start += m
    return positions, proven
