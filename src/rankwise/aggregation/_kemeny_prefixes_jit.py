"""Compiled loops of `_kemeny_prefixes`: sets of items that may come first, one item larger at a time.

A set is a whole number, one bit per item. ``costs`` of a set are what its items pay at least among themselves and to
all others, and what the others must pay among themselves. ``surplus[i, j]`` is the margin of the majority for i over j,
0 where there is none; cycles are named by their three majorities, numbered i k + j.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators

from __future__ import annotations

import numpy as np

from rankwise._compiled import compiled


@compiled
def grow(sets, costs, surplus, ahead, cycles, weight, limit, new_sets, new_costs, n, table):
    """Put every other item behind each set, and keep what may cost no more than the limit.

    ``weight`` of the cycles, which fill no majority beyond its margin, bound what the items outside a set pay: those of
    the cycles among them count, and others take the room that is left. Item v comes after all of ``ahead[v]``. Sets are
    stored from number ``n`` on, found again by ``table``. Returns how many of the given sets are done, fewer than all
    if there is no room for more, and the number of stored sets.
    """
    k = len(surplus)
    one = np.uint64(1)
    capacity = surplus.ravel()
    ends = cycles // k
    members = np.zeros(len(cycles), dtype=np.uint64)
    for t in range(len(cycles)):
        for e in range(3):
            members[t] |= one << np.uint64(ends[t, e])
    left = np.empty(k * k)
    amount = np.empty(len(cycles))
    live = np.empty(len(cycles), dtype=np.intp)
    lost = np.empty(k)
    beaten = np.empty(k)
    for s in range(len(sets)):
        if n + k > len(new_sets):
            return s, n
        if costs[s, 0] + costs[s, 1] > limit:
            continue
        chosen = sets[s]
        left[:] = capacity
        total = 0.0
        n_live = 0
        for t in range(len(cycles)):
            if chosen & members[t] == 0:
                live[n_live] = t
                n_live += 1
                amount[t] = weight[t]
                total += weight[t]
                for e in range(3):
                    left[cycles[t, e]] -= weight[t]
        for a in range(n_live):
            t = live[a]
            more = min(left[cycles[t, 0]], left[cycles[t, 1]], left[cycles[t, 2]])
            if more > 0:
                amount[t] += more
                total += more
                for e in range(3):
                    left[cycles[t, e]] -= more
        if costs[s, 0] + total > limit:
            continue
        lost[:] = 0
        for a in range(n_live):
            t = live[a]
            for e in range(3):
                lost[ends[t, e]] += amount[t]
        beaten[:] = 0
        for j in range(k):
            if (chosen >> np.uint64(j)) & one == 0:
                beaten += surplus[j]
        for v in range(k):
            item = one << np.uint64(v)
            if chosen & item or ahead[v] & ~chosen:
                continue
            paid = costs[s, 0] + beaten[v]
            rest = total - lost[v]
            if paid + rest > limit:
                continue
            slot = _slot(chosen | item, new_sets, table)
            if table[slot] < 0:
                table[slot] = n
                new_sets[n] = chosen | item
                new_costs[n, 0] = paid
                new_costs[n, 1] = rest
                n += 1
            else:
                new_costs[table[slot], 0] = min(new_costs[table[slot], 0], paid)
                new_costs[table[slot], 1] = max(new_costs[table[slot], 1], rest)
    return len(sets), n


@compiled
def enter(sets, n, table):
    """Make a table by which the first ``n`` sets are found; its length is a power of two."""
    table[:] = -1
    for s in range(n):
        table[_slot(sets[s], sets, table)] = s


@compiled
def _slot(chosen, sets, table):
    """Where a set stands in the table, or may be put."""
    mask = np.uint64(len(table) - 1)
    spread = chosen * np.uint64(0x9E3779B97F4A7C15)
    slot = (spread ^ (spread >> np.uint64(32))) & mask
    while table[slot] >= 0 and sets[table[slot]] != chosen:
        slot = (slot + np.uint64(1)) & mask
    return slot
