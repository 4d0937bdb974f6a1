"""Compiled loops over orders of items and their costs.

``wins[i, j]`` is the weight of the rankings with i before j. An order that puts i before j pays ``wins[j, i]``.
"""

from __future__ import annotations

import numpy as np

from rankwise._numba import kernel


@kernel
def order_cost(wins, order):
    """What an order (item ids, best first) pays."""
    cost = 0.0
    for a in range(len(order)):
        for b in range(a + 1, len(order)):
            cost += wins[order[b], order[a]]
    return cost


@kernel
def subset_costs(wins):
    """Dynamic programme over sets: the least cost of putting each set first, and which item then comes last of it.

    Appending item i to the set S costs the weight of i before the items of S, read from two tables, one for the low
    and one for the high half of the bits.
    """
    m = len(wins)
    low = m // 2
    high = m - low
    low_cost = np.zeros((m, 1 << low))
    high_cost = np.zeros((m, 1 << high))
    for i in range(m):
        for bits in range(1, 1 << low):
            last = 0
            while not (bits >> last) & 1:
                last += 1
            low_cost[i, bits] = low_cost[i, bits & (bits - 1)] + wins[i, last]
        for bits in range(1, 1 << high):
            last = 0
            while not (bits >> last) & 1:
                last += 1
            high_cost[i, bits] = high_cost[i, bits & (bits - 1)] + wins[i, low + last]
    best = np.full(1 << m, np.inf)
    choice = np.full(1 << m, -1, dtype=np.int8)
    best[0] = 0.0
    mask = (1 << low) - 1
    for chosen in range(1 << m):
        for i in range(m):
            if not (chosen >> i) & 1:
                cost = best[chosen] + low_cost[i, chosen & mask] + high_cost[i, chosen >> low]
                grown = chosen | (1 << i)
                if cost < best[grown]:
                    best[grown] = cost
                    choice[grown] = i
    return best, choice


@kernel
def order_from_choices(choice, m):
    """Read an optimal order back from the dynamic programme."""
    order = np.empty(m, dtype=np.intp)
    chosen = (1 << m) - 1
    for place in range(m - 1, -1, -1):
        order[place] = choice[chosen]
        chosen &= ~(1 << order[place])
    return order


@kernel
def insertion_search(wins, order):
    """Move single items to their best place until none gains; changes ``order``, returns what was saved.

    Passing item b from behind item a to before it saves ``wins[b, a] - wins[a, b]``.
    """
    k = len(order)
    saved = 0.0
    improved = True
    while improved:
        improved = False
        for item in range(k):
            at = 0
            while order[at] != item:
                at += 1
            best_gain = 1e-9
            best_place = at
            gain = 0.0
            for place in range(at - 1, -1, -1):
                gain += wins[item, order[place]] - wins[order[place], item]
                if gain > best_gain:
                    best_gain = gain
                    best_place = place
            gain = 0.0
            for place in range(at + 1, k):
                gain += wins[order[place], item] - wins[item, order[place]]
                if gain > best_gain:
                    best_gain = gain
                    best_place = place
            if best_place != at:
                _move(order, at, best_place)
                saved += best_gain
                improved = True
    return saved


@kernel
def _move(order, start, stop):
    item = order[start]
    step = 1 if stop > start else -1
    for place in range(start, stop, step):
        order[place] = order[place + step]
    order[stop] = item


@kernel
def iterated_search(wins, order, picks, shifts):
    """Shake a stretch of a locally best order by a few random moves, improve it again, keep what is not worse.

    ``picks`` and ``shifts`` (rounds, moves) say which places move and how far.
    """
    current = order.copy()
    insertion_search(wins, current)
    best = order_cost(wins, current)
    k = len(order)
    for r in range(picks.shape[0]):
        trial = current.copy()
        for s in range(picks.shape[1]):
            start = picks[r, s] % k
            stop = min(max(start + shifts[r, s], 0), k - 1)
            _move(trial, start, stop)
        insertion_search(wins, trial)
        cost = order_cost(wins, trial)
        if cost <= best + 1e-9:
            best = min(best, cost)
            current = trial
    return current


@kernel
def violated_triangles(x, tolerance, most, most_per_pair):
    """Three-cycles that a fractional order breaks, most violated first: rows (i, j, l, sign).

    ``x[i, j]`` is 1 where i comes before j. For i < j < l, sign 1 says x_ij + x_jl - x_il > 1 and sign -1 says
    x_ij + x_jl - x_il < 0.
    """
    m = len(x)
    found = 0
    for i in range(m):
        for j in range(i + 1, m):
            for other in range(j + 1, m):
                value = x[i, j] + x[j, other] - x[i, other]
                found += (value > 1 + tolerance) | (value < -tolerance)
    rows = np.empty((found, 4), dtype=np.intp)
    size = np.empty(found)
    found = 0
    for i in range(m):
        for j in range(i + 1, m):
            for other in range(j + 1, m):
                value = x[i, j] + x[j, other] - x[i, other]
                if (value > 1 + tolerance) | (value < -tolerance):
                    rows[found, 0] = i
                    rows[found, 1] = j
                    rows[found, 2] = other
                    rows[found, 3] = 1 if value > 1 else -1
                    size[found] = value - 1 if value > 1 else -value
                    found += 1
    order = np.argsort(-size)
    used = np.zeros((m, m), dtype=np.intp)
    kept = np.empty((min(most, found), 4), dtype=np.intp)
    n_kept = 0
    for t in range(found):
        if n_kept == most:
            break
        i, j, other = rows[order[t], 0], rows[order[t], 1], rows[order[t], 2]
        if max(used[i, j], used[j, other], used[i, other]) < most_per_pair:
            used[i, j] += 1
            used[j, other] += 1
            used[i, other] += 1
            kept[n_kept] = rows[order[t]]
            n_kept += 1
    return kept[:n_kept]


@kernel
def _components(wins, component):
    """Strongly connected components of the strict majority graph, numbered best first; how many there are."""
    k = len(wins)
    reach = np.zeros((k, k), dtype=np.bool_)
    for i in range(k):
        for j in range(k):
            reach[i, j] = (wins[i, j] > wins[j, i]) | (i == j)
    for via in range(k):
        for i in range(k):
            if reach[i, via]:
                for j in range(k):
                    reach[i, j] |= reach[via, j]
    # Items that reach more come first; members of a component reach the same items.
    count = np.zeros(k, dtype=np.intp)
    for i in range(k):
        for j in range(k):
            count[i] += reach[i, j]
        component[i] = -1
    number = 0
    for _ in range(k):
        leader = -1
        for i in range(k):
            if component[i] < 0 and (leader < 0 or count[i] > count[leader]):
                leader = i
        if leader < 0:
            break
        for i in range(k):
            if i == leader or (component[i] < 0 and reach[i, leader] and reach[leader, i]):
                component[i] = number
        number += 1
    return number


@kernel
def batch_medians(wins, largest):
    """Kemeny medians of many small matrices: positions (n, k), and whether each is proven.

    A matrix whose majority graph orders all items is done at once; components of up to ``largest`` items go to
    the dynamic programme, larger ones to insertion search from the order of their wins.
    """
    n, k, _ = wins.shape
    positions = np.empty((n, k))
    proven = np.ones(n, dtype=np.bool_)
    component = np.empty(k, dtype=np.intp)
    beaten = np.empty(k, dtype=np.intp)
    seen = np.empty(k, dtype=np.bool_)
    for r in range(n):
        matrix = wins[r]
        seen[:] = False
        transitive = True
        for i in range(k):
            beaten[i] = 0
            for j in range(k):
                beaten[i] += matrix[j, i] > matrix[i, j]
            transitive &= not seen[beaten[i]]
            seen[beaten[i]] = True
        if transitive:  # the numbers 0 .. k-1 all occur: a strict majority order
            for i in range(k):
                positions[r, i] = beaten[i] + 1.0
            continue
        number = _components(matrix, component)
        start = 0
        for c in range(number):
            members = np.flatnonzero(component == c)
            m = len(members)
            if m == 1:
                positions[r, members[0]] = start + 1.0
            else:
                part = np.empty((m, m))
                for a in range(m):
                    for b in range(m):
                        part[a, b] = matrix[members[a], members[b]] if a != b else 0.0
                if m <= largest:
                    _, choice = subset_costs(part)
                    order = order_from_choices(choice, m)
                else:
                    order = np.argsort(part.sum(axis=0) - part.sum(axis=1))
                    insertion_search(part, order)
                    proven[r] = False
                for place in range(m):
                    positions[r, members[order[place]]] = start + place + 1.0
            start += m
    return positions, proven
