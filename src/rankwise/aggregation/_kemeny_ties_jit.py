"""Compiled loops of `_kemeny_ties`: bucket orders and their costs.

``before[i, j]`` is the cost of a pair with i before j, ``tied[i, j]`` its cost in one bucket. A bucket order is an
array with the number of each item's bucket, from 0 and without gaps.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators

from __future__ import annotations

import numpy as np

from rankwise._compiled import compiled


@compiled
def bucket_cost(before, tied, bucket):
    """Cost of a bucket order."""
    cost = 0.0
    for i in range(len(bucket)):
        for j in range(i):
            if bucket[i] < bucket[j]:
                cost += before[i, j]
            elif bucket[i] > bucket[j]:
                cost += before[j, i]
            else:
                cost += tied[i, j]
    return cost


@compiled
def partition_costs(before, tied, tolerance):
    """Dynamic programming over sets and their last buckets: an optimal bucket order, its cost, whether it is unique.

    With bucket B last of the set S, every item of B follows the rest of S. If it followed all of S, the pairs within B
    would be counted as well, twice. So the cost is a sum over B of costs that depend on S alone, and a correction that
    depends on B alone.
    """
    m = len(before)
    size = 1 << m
    lowest = np.empty(size, dtype=np.int8)
    correction = np.zeros(size)
    for chosen in range(1, size):
        first = 0
        while not (chosen >> first) & 1:
            first += 1
        lowest[chosen] = first
        rest = chosen & (chosen - 1)
        value = correction[rest]
        for j in range(first + 1, m):
            if (rest >> j) & 1:
                value += tied[first, j] - before[first, j] - before[j, first]
        correction[chosen] = value
    best = np.zeros(size)
    last = np.zeros(size, dtype=np.int64)
    several = np.zeros(size, dtype=np.bool_)
    price = np.empty(m)
    total = np.zeros(size)
    for chosen in range(1, size):
        for i in range(m):
            price[i] = 0.0
            if (chosen >> i) & 1:
                for j in range(m):
                    if (chosen >> j) & 1 and i != j:
                        price[i] += before[j, i]
        least = np.inf
        bucket = (-chosen) & chosen
        while bucket:
            total[bucket] = total[bucket & (bucket - 1)] + price[lowest[bucket]]
            cost = best[chosen ^ bucket] + total[bucket] + correction[bucket]
            if cost < least - tolerance:
                several[chosen] = several[chosen ^ bucket]
                least = cost
                last[chosen] = bucket
            elif cost <= least + tolerance:
                several[chosen] = True
            bucket = (bucket - chosen) & chosen
        best[chosen] = least
    number = np.empty(m, dtype=np.intp)
    chosen = size - 1
    level = 0
    while chosen:
        for i in range(m):
            if (last[chosen] >> i) & 1:
                number[i] = level
        chosen ^= last[chosen]
        level += 1
    return level - 1 - number, best[size - 1], not several[size - 1]


@compiled
def bucket_search(before, tied, bucket):
    """Move items, parts of buckets and whole buckets to their best place until none gains; changes ``bucket``."""
    k = len(bucket)
    group = np.empty(k, dtype=np.intp)
    again = True
    while again:
        again = False
        for i in range(k):
            group[0] = i
            again |= _relocate(before, tied, bucket, group[:1])
        level = 0
        while level <= bucket.max():
            members = np.flatnonzero(bucket == level)
            if len(members) > 1:
                again |= _relocate(before, tied, bucket, _better_part(before, tied, members))
            members = np.flatnonzero(bucket == level)
            if len(members) > 1:
                again |= _relocate(before, tied, bucket, members)
            level += 1


@compiled
def iterated_bucket_search(before, tied, bucket, picks, targets):
    """Send a few random items to random places, improve, keep what is not worse; the best bucket order and its cost.

    ``picks`` (rounds, moves) are items, ``targets`` (the same shape) say from 0 to 1 how far down they go.
    """
    current = bucket.copy()
    best = bucket_cost(before, tied, current)
    group = np.empty(1, dtype=np.intp)
    for r in range(picks.shape[0]):
        trial = current.copy()
        for s in range(picks.shape[1]):
            group[0] = picks[r, s]
            _place(trial, group, int(targets[r, s] * (2 * trial.max() + 3)))
        bucket_search(before, tied, trial)
        cost = bucket_cost(before, tied, trial)
        if cost <= best + 1e-9:
            best = min(best, cost)
            current = trial
    return current, best


@compiled
def _better_part(before, tied, members):
    """The part of a bucket that is best cut off from the rest: the first few by what they pay to those they follow."""
    size = len(members)
    lead = np.zeros(size)
    for a in range(size):
        for b in range(size):
            if a != b:
                lead[a] += before[members[a], members[b]] - before[members[b], members[a]]
    order = np.argsort(lead)
    change = 0.0
    least = np.inf
    cut = 1
    for a in range(size - 1):
        # Item a joins the upper part: it leaves the ties with the rest, and those above come before it no more.
        for b in range(size):
            if b < a:
                change -= before[members[order[b]], members[order[a]]] - tied[members[order[b]], members[order[a]]]
            elif b > a:
                change += before[members[order[a]], members[order[b]]] - tied[members[order[a]], members[order[b]]]
        if change < least:
            least = change
            cut = a + 1
    return members[order[:cut]]


@compiled
def _relocate(before, tied, bucket, group):
    """Put a group of items of one bucket where it pays least: into a bucket, or between two; whether that gains.

    Place 2 b + 1 is bucket b, place 2 b is just above it.
    """
    n_levels = bucket.max() + 1
    after_cost = np.zeros(n_levels)
    before_cost = np.zeros(n_levels)
    tie_cost = np.zeros(n_levels)
    member = np.zeros(len(bucket), dtype=np.bool_)
    for a in range(len(group)):
        member[group[a]] = True
    for a in range(len(group)):
        i = group[a]
        for j in range(len(bucket)):
            if not member[j]:
                after_cost[bucket[j]] += before[j, i]
                before_cost[bucket[j]] += before[i, j]
                tie_cost[bucket[j]] += tied[i, j]
    cost = before_cost.sum()
    now = 2 * bucket[group[0]] + 1
    now_cost = 0.0
    least = np.inf
    best = now
    for place in range(2 * n_levels + 1):
        level = place // 2
        here = cost
        if place % 2:
            here += tie_cost[level] - before_cost[level]
            cost += after_cost[level] - before_cost[level]
        if place == now:
            now_cost = here
        if here < least:
            least = here
            best = place
    if least > now_cost - 1e-9:
        return False
    _place(bucket, group, best)
    return True


@compiled
def _place(bucket, group, place):
    """Move a group of items to a place (as `_relocate` numbers them), and renumber the buckets."""
    k = len(bucket)
    # Doubled, levels leave room for a bucket between two.
    for j in range(k):
        bucket[j] = 2 * bucket[j] + 1
    for a in range(len(group)):
        bucket[group[a]] = place
    used = np.zeros(2 * k + 3, dtype=np.intp)
    for j in range(k):
        used[bucket[j]] = 1
    level = 0
    for value in range(len(used)):
        level += used[value]
        used[value] = level - 1
    for j in range(k):
        bucket[j] = used[bucket[j]]
