"""Compiled loops over queries: selection of the best rows, then one loop per metric.

Rows of a query lie side by side: query ``q`` owns rows ``bounds[q]`` to ``bounds[q + 1]``. `rank_rows` comes first;
the metrics walk over what it found in *blocks* of equal score, and take the mean over all orders within a block.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators

from __future__ import annotations

import numpy as np

from rankwise._compiled import compiled

# Up to here insertion beats sorting; beyond, it would cost (rows x places).
_FEW_PLACES = 32
# Expectations below this cannot change a sum of terms near 1.
_NEGLIGIBLE = 1e-18
_LOG_NEGLIGIBLE = float(np.log(_NEGLIGIBLE))


@compiled
def rank_rows(score, bounds, k):
    """Rows of each query, best first, down to its k-th score: all rows tied with that one are needed for the mean.

    Query ``q`` lists ``order[listed[q]:listed[q + 1]]``; rows of score -inf are never listed.
    """
    order = np.empty(len(score), dtype=np.intp)
    listed = np.zeros(len(bounds), dtype=np.intp)
    top = np.empty(k)
    for q in range(len(bounds) - 1):
        start, stop = bounds[q], bounds[q + 1]
        free = order[listed[q] :]
        if min(k, stop - start) > _FEW_PLACES:
            n_listed = _sort_query(score[start:stop], k, free)
        else:
            n_listed = _select_query(score[start:stop], k, free, top)
        for i in range(n_listed):
            free[i] += start
        listed[q + 1] = listed[q] + n_listed
    return order[: listed[-1]], listed


@compiled
def _sort_query(score, k, order):
    ascending = np.argsort(score)
    for i in range(len(score)):
        row = ascending[len(score) - 1 - i]
        if score[row] == -np.inf or (i >= k and score[row] < score[order[i - 1]]):
            return i
        order[i] = row
    return len(score)


@compiled
def _select_query(score, k, order, top):
    found = _best(score, k, order, top)
    if found == 0:
        return 0
    last = top[found - 1]
    n_listed = 0
    for row in range(len(score)):
        n_listed += score[row] >= last
    if n_listed > found:  # rows outside the top are tied with its last: list the whole block
        i = found
        while i > 0 and top[i - 1] == last:
            i -= 1
        for row in range(len(score)):
            if score[row] == last:
                order[i] = row
                i += 1
    return n_listed


@compiled
def _best(values, k, order, top):
    """Find the k largest values above -inf by insertion: their indices, themselves, and how many there are."""
    found = 0
    least = -np.inf
    for i in range(len(values)):
        value = values[i]
        if value > least:
            place = min(found, k - 1)
            while place > 0 and top[place - 1] < value:
                top[place] = top[place - 1]
                order[place] = order[place - 1]
                place -= 1
            top[place] = value
            order[place] = i
            found = min(found + 1, k)
            if found == k:
                least = top[k - 1]
    return found


@compiled
def ideal_dcg(gain, bounds, discount):
    """DCG of the best order, cut at ``len(discount)`` places."""
    k = len(discount)
    ideal = np.empty(len(bounds) - 1)
    order = np.empty(k, dtype=np.intp)
    top = np.empty(k)
    for q in range(len(ideal)):
        gains = gain[bounds[q] : bounds[q + 1]]
        places = min(k, len(gains))
        if places > _FEW_PLACES:
            top[:places] = np.sort(gains)[::-1][:places]
        else:
            _best(gains, k, order, top)
        total = 0.0
        for place in range(places):
            total += top[place] * discount[place]
        ideal[q] = total
    return ideal


@compiled
def _block_end(score, order, begin, end):
    """End of the block of equal scores that begins at ``order[begin]``."""
    value = score[order[begin]]
    i = begin + 1
    while i < end and score[order[i]] == value:
        i += 1
    return i


@compiled
def dcg(gain, score, order, listed, discount):
    """Expected DCG: every row of a block has the mean gain of the block."""
    k = len(discount)
    values = np.empty(len(listed) - 1)
    for q in range(len(listed) - 1):
        start, i = listed[q], listed[q]
        total = 0.0
        while i < listed[q + 1]:
            j = _block_end(score, order, i, listed[q + 1])
            block_gain = 0.0
            for t in range(i, j):
                block_gain += gain[order[t]]
            block_discount = 0.0
            for place in range(i - start, min(j - start, k)):
                block_discount += discount[place]
            total += block_gain * block_discount / (j - i)
            i = j
        values[q] = total
    return values


@compiled
def hits(relevant, score, order, listed, k):
    """Expected number of relevant rows among the first k."""
    values = np.empty(len(listed) - 1)
    for q in range(len(listed) - 1):
        i = listed[q]
        total = 0.0
        while i < listed[q + 1]:
            j = _block_end(score, order, i, listed[q + 1])
            in_block = 0.0
            for t in range(i, j):
                in_block += relevant[order[t]]
            within = min(j - i, k - (i - listed[q]))
            total += in_block * within / (j - i)
            i = j
        values[q] = total
    return values


@compiled
def first_hit(relevant, score, order, listed, k):
    """Expected 1 / place of the first relevant row among the first k, and the probability that there is one."""
    reciprocal = np.zeros(len(listed) - 1)
    probability = np.zeros(len(listed) - 1)
    for q in range(len(listed) - 1):
        i = listed[q]
        in_block = 0.0
        while i < listed[q + 1] and in_block == 0.0:
            j = _block_end(score, order, i, listed[q + 1])
            for t in range(i, j):
                in_block += relevant[order[t]]
            if in_block > 0.0:
                place = i - listed[q]
                missed = 1.0  # probability that the places of the block so far hold nothing relevant
                for t in range(min(j - i, k - place)):
                    left = j - i - t
                    reciprocal[q] += missed * in_block / left / (place + t + 1)
                    missed *= max(left - in_block, 0.0) / left
                probability[q] = 1.0 - missed
            i = j
    return reciprocal, probability


@compiled
def precision_sum(relevant, score, order, listed, k):
    """Expected sum, over the relevant rows among the first k, of the precision at their places."""
    values = np.empty(len(listed) - 1)
    for q in range(len(listed) - 1):
        i = listed[q]
        before = 0.0
        total = 0.0
        while i < listed[q + 1]:
            j = _block_end(score, order, i, listed[q + 1])
            in_block = 0.0
            for t in range(i, j):
                in_block += relevant[order[t]]
            if in_block > 0.0:
                place = i - listed[q]
                # Given a relevant row at one place of the block, each other place holds one of the rest.
                others = (in_block - 1) / max(j - i - 1, 1)
                part = 0.0
                for t in range(min(j - i, k - place)):
                    part += (before + 1 + t * others) / (place + t + 1)
                total += part * in_block / (j - i)
            before += in_block
            i = j
        values[q] = total
    return values


@compiled
def err(stop_probability, score, order, listed, k):
    """Expected reciprocal rank of the cascade: the reader stops at a row with the given probability."""
    values = np.empty(len(listed) - 1)
    go_on = np.empty(k + 1)
    for q in range(len(listed) - 1):
        i = listed[q]
        reached = 1.0  # probability that the reader reaches the block
        total = 0.0
        while i < listed[q + 1] and reached > _NEGLIGIBLE:
            j = _block_end(score, order, i, listed[q + 1])
            place = i - listed[q]
            filled = _symmetric_means(stop_probability, order, i, j, min(j - i, k - place), go_on)
            for t in range(1, filled + 1):
                total += reached * (go_on[t - 1] - go_on[t]) / (place + t)
            for t in range(i, j):
                reached *= 1 - stop_probability[order[t]]
            i = j
        values[q] = total
    return values


@compiled
def _symmetric_means(stop_probability, order, begin, end, places, means):
    """Write the probability of reading on past t rows of a block in random order, for t = 0, 1, ... places.

    It is the mean of the products of t factors q = 1 - stop_probability: the elementary symmetric polynomial over
    its number of terms. Rows with q = 1 leave the means at 1, so only the others cost a pass; and by Maclaurin's
    inequality the t-th mean is at most (first mean)^t, which says how many are worth computing. Returns that number.
    """
    size = end - begin
    total = 0.0
    n_done = 0
    for i in range(begin, end):
        stop = stop_probability[order[i]]
        total += stop
        n_done += stop == 0.0
    filled = places
    log_mean = np.log1p(-total / size) if total < size else -np.inf
    if log_mean < 0.0:
        filled = int(min(places, max(1.0, np.ceil(_LOG_NEGLIGIBLE / log_mean))))
    for t in range(filled + 1):
        means[t] = 1.0
    for i in range(begin, end):
        stop = stop_probability[order[i]]
        if stop > 0.0:
            n_done += 1
            for t in range(min(n_done, filled), 0, -1):
                means[t] = ((n_done - t) * means[t] + t * (1 - stop) * means[t - 1]) / n_done
    return filled
