"""Compiled loops over the full rankings that agree with a partial one: all of them, or random ones.

A partial ranking puts buckets of items in order: items that tie, at the end the unlisted ones, and missing items fit in
anywhere. A completion orders the items of every bucket and inserts the missing ones. Positions in, positions out.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators

from __future__ import annotations

import numpy as np

from rankwise._compiled import compiled


@compiled
def _buckets(row, bucket):
    """Number the bucket of each item from 0, -1 for missing items; unlisted items share the last one."""
    last = 0
    for i in range(len(row)):
        if row[i] < np.inf:
            last = max(last, int(row[i]))
    for i in range(len(row)):
        if row[i] < np.inf:
            bucket[i] = int(row[i]) - 1
        elif row[i] == np.inf:
            bucket[i] = last
        else:
            bucket[i] = -1
    return last + 1


@compiled
def completions(row, numbers, ties_only):
    """The completions with these numbers, from 0 to the number of completions less 1: (len(numbers), k).

    The digits of a number, in mixed base, choose the item for every place of a bucket, then the place of every missing
    item among those already there. ``ties_only`` leaves unlisted and missing items as they are.
    """
    k = len(row)
    result = np.empty((len(numbers), k))
    bucket = np.empty(k, dtype=np.intp)
    n_buckets = _buckets(row, bucket)
    order = np.empty(k, dtype=np.intp)
    pool = np.empty(k, dtype=np.intp)
    for m in range(len(numbers)):
        code = numbers[m]
        filled = 0
        for b in range(n_buckets):
            size = 0
            for i in range(k):
                if bucket[i] == b and (not ties_only or row[i] < np.inf):
                    pool[size] = i
                    size += 1
            while size > 0:
                pick = code % size
                code //= size
                order[filled] = pool[pick]
                filled += 1
                size -= 1
                pool[pick] = pool[size]
        if ties_only:
            result[m] = row
        else:
            for i in range(k):
                if bucket[i] < 0:
                    place = code % (filled + 1)
                    code //= filled + 1
                    for t in range(filled, place, -1):
                        order[t] = order[t - 1]
                    order[place] = i
                    filled += 1
        for t in range(filled):
            result[m, order[t]] = t + 1.0
    return result


@compiled
def draw_by_stages(row, center, theta, uniforms):
    """Random completions around a center, place by place, one for each row of ``uniforms`` (n, k).

    At each place the items that may come next, those left in the first bucket that is not empty and the missing ones,
    are taken in the order of the center, the v-th of them with probability proportional to exp(-theta v).
    """
    n, k = uniforms.shape
    result = np.empty((n, k))
    bucket = np.empty(k, dtype=np.intp)
    n_buckets = _buckets(row, bucket)
    by_center = np.argsort(center)
    sizes = np.zeros(n_buckets + 1, dtype=np.intp)
    decay = np.exp(-theta)
    for i in range(k):
        sizes[bucket[i]] += 1  # -1 counts the missing ones at the end
    left = np.empty(k, dtype=np.bool_)
    in_bucket = np.empty(n_buckets + 1, dtype=np.intp)
    for m in range(n):
        left[:] = True
        in_bucket[:] = sizes
        b = 0
        for place in range(k):
            while b < n_buckets and in_bucket[b] == 0:
                b += 1
            options = in_bucket[n_buckets] + (in_bucket[b] if b < n_buckets else 0)
            target = uniforms[m, place] * _geometric_sum(decay, options)
            weight = 1.0
            chosen = -1
            for i in by_center:
                if left[i] and (bucket[i] == b or bucket[i] < 0):
                    chosen = i
                    if target < weight:
                        break
                    target -= weight
                    weight *= decay
            left[chosen] = False
            in_bucket[bucket[chosen]] -= 1
            result[m, chosen] = place + 1.0
    return result


@compiled
def log_densities_by_stages(row, center, theta, full):
    """Log probability with which `draw_by_stages` draws each of some completions: (n,)."""
    n, k = full.shape
    bucket = np.empty(k, dtype=np.intp)
    n_buckets = _buckets(row, bucket)
    by_center = np.argsort(center)
    sizes = np.zeros(n_buckets + 1, dtype=np.intp)
    decay = np.exp(-theta)
    for i in range(k):
        sizes[bucket[i]] += 1
    left = np.empty(k, dtype=np.bool_)
    in_bucket = np.empty(n_buckets + 1, dtype=np.intp)
    order = np.empty(k, dtype=np.intp)
    result = np.zeros(n)
    for m in range(n):
        for i in range(k):
            order[int(full[m, i]) - 1] = i
        left[:] = True
        in_bucket[:] = sizes
        b = 0
        for place in range(k):
            while b < n_buckets and in_bucket[b] == 0:
                b += 1
            options = in_bucket[n_buckets] + (in_bucket[b] if b < n_buckets else 0)
            ahead = 0
            for i in by_center:
                if i == order[place]:
                    break
                ahead += left[i] and (bucket[i] == b or bucket[i] < 0)
            result[m] -= theta * ahead + np.log(_geometric_sum(decay, options))
            left[order[place]] = False
            in_bucket[bucket[order[place]]] -= 1
    return result


@compiled
def _geometric_sum(decay, n):
    total = 0.0
    weight = 1.0
    for _ in range(n):
        total += weight
        weight *= decay
    return total
