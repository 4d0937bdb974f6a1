"""Compiled loops over choices: stage by stage, a ranking chooses the best of the items that are left.

Rankings come flat (`flatten`). Entries ``row_start[r]`` to ``row_start[r + 1]`` of ``order`` are the items of ranking
r, best first, its unlisted items last; entries ``stage_start[r]`` to ``stage_start[r + 1]`` of ``stage_size`` are the
sizes of its buckets. Whatever follows a bucket could have been chosen in its place. Worths are divided by the largest
of them, which changes no probability and lets none overflow.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators

from __future__ import annotations

import numpy as np

from rankwise._compiled import compiled


@compiled
def flatten(positions):
    """(order, row_start, stage_size, stage_start) of dense positions; a choice among one item is not a stage."""
    n, k = positions.shape
    row_start = np.zeros(n + 1, dtype=np.intp)
    stage_start = np.zeros(n + 1, dtype=np.intp)
    order = np.empty(n * k, dtype=np.intp)
    stage_size = np.empty(n * k, dtype=np.intp)
    filled = 0
    stages = 0
    size = np.zeros(k + 1, dtype=np.intp)
    place = np.zeros(k + 1, dtype=np.intp)
    for r in range(n):
        size[:] = 0
        present = 0
        last = 0
        for i in range(k):
            if positions[r, i] < np.inf:
                bucket = int(positions[r, i])
                size[bucket] += 1
                last = max(last, bucket)
            present += positions[r, i] == positions[r, i]
        place[1] = filled
        for bucket in range(1, last):
            place[bucket + 1] = place[bucket] + size[bucket]
        end = place[last] + size[last] if last > 0 else filled
        for i in range(k):
            if positions[r, i] < np.inf:
                bucket = int(positions[r, i])
                order[place[bucket]] = i
                place[bucket] += 1
            elif positions[r, i] == np.inf:
                order[end] = i
                end += 1
        left = present
        for bucket in range(1, last + 1):
            if left > 1:
                stage_size[stages] = size[bucket]
                stages += 1
            left -= size[bucket]
        filled += present
        row_start[r + 1] = filled
        stage_start[r + 1] = stages
    return order[:filled].copy(), row_start, stage_size[:stages].copy(), stage_start


@compiled
def links(order, row_start, stage_size, stage_start):
    """Pairs (better, worse) whose transitive closure is that of all preferences; ties link both ways."""
    above = np.empty(3 * len(order), dtype=np.intp)
    below = np.empty(3 * len(order), dtype=np.intp)
    m = 0
    for r in range(len(row_start) - 1):
        e = row_start[r]
        for s in range(stage_start[r], stage_start[r + 1]):
            for t in range(stage_size[s] - 1):
                above[m], below[m] = order[e + t], order[e + t + 1]
                above[m + 1], below[m + 1] = order[e + t + 1], order[e + t]
                m += 2
            e += stage_size[s]
            if e < row_start[r + 1]:
                above[m], below[m] = order[e - 1], order[e]
                m += 1
        for t in range(e + 1, row_start[r + 1]):  # unlisted items are all below the last bucket
            if stage_start[r + 1] > stage_start[r]:
                above[m], below[m] = order[e - 1], order[t]
                m += 1
    return above[:m].copy(), below[:m].copy()


@compiled
def log_probabilities(order, row_start, stage_size, stage_start, log_worth, log_tie):
    """Log probability of each ranking; ``log_tie[t - 1]`` belongs to buckets of t items, and ``log_tie[0]`` is 0."""
    n = len(row_start) - 1
    largest = np.max(log_worth)
    roots = _roots(log_worth - largest, len(log_tie))
    result = np.zeros(n)
    sums = np.empty((len(log_tie), len(log_tie) + 1))
    for r in range(n):
        _clear(sums)
        e = _skip_unlisted(order, row_start, stage_size, stage_start, r, roots, sums)
        for s in range(stage_start[r + 1] - 1, stage_start[r] - 1, -1):
            size = stage_size[s]
            if size > len(log_tie):
                result[r] = -np.inf
                break
            chosen = log_tie[size - 1]
            for _ in range(size):
                e -= 1
                chosen += (log_worth[order[e]] - largest) / size
                _add_item(roots[:, order[e]], sums)
            result[r] += chosen - np.log(_total(sums, log_tie))
    return result


@compiled
def strict_moments(order, row_start, stage_start, weights, log_worth, with_information):
    """Log likelihood without ties, its gradient, and its information (the negative Hessian): O(k^2) a ranking.

    With S_s the summed worth left at stage s and q_i the sum of 1 / S_s^2 over the stages that find item i still there,
    the information of i and j is -w_i w_j min(q_i, q_j), since the item that goes first has the smaller sum.
    """
    k = len(log_worth)
    largest = np.max(log_worth)
    worth = np.exp(log_worth - largest)
    value = 0.0
    gradient = np.zeros(k)
    expected = np.zeros(k)
    shared = np.zeros((k, k)) if with_information else np.zeros((0, 0))
    left = np.empty(k)
    q = np.empty(k)
    for r in range(len(row_start) - 1):
        items = order[row_start[r] : row_start[r + 1]]
        stages = stage_start[r + 1] - stage_start[r]
        if (weights[r] == 0.0) | (stages == 0):
            continue
        total = 0.0
        for t in range(len(items) - 1, -1, -1):
            total += worth[items[t]]
            left[t] = total
        if with_information:
            q[:] = 0.0
        inverses = 0.0
        squares = 0.0
        log_chosen = 0.0
        product = 1.0
        for t in range(len(items)):
            i = items[t]
            if t < stages:
                # One logarithm of a product takes the place of many; it is taken while the product is in range.
                if (product < 1e-150) | (product > 1e150) | (left[t] < 1e-150):
                    log_chosen -= np.log(product)
                    product = 1.0
                product *= left[t]
                log_chosen += log_worth[i] - largest
                gradient[i] += weights[r]
                inverse = 1.0 / left[t]
                inverses += weights[r] * inverse
                squares += weights[r] * inverse * inverse
            expected[i] += inverses
            q[i] = squares
        value += weights[r] * (log_chosen - np.log(product))
        if with_information:
            _add_smaller(items, q, shared)
    for i in range(k):
        expected[i] *= worth[i]
        gradient[i] -= expected[i]
        if with_information:
            for j in range(i + 1):
                shared[i, j] *= -worth[i] * worth[j]
                shared[j, i] = shared[i, j]
            shared[i, i] += expected[i]
    return value, gradient, shared


@compiled
def _add_smaller(items, q, shared):
    """Add min(q_i, q_j) for all pairs of items; absent items have q = 0."""
    if 4 * len(items) >= len(q):  # a loop over all columns runs in vectors, and beats one that picks columns
        for i in range(len(q)):
            row, own = shared[i], q[i]
            for j in range(i + 1):
                row[j] += own if own < q[j] else q[j]
    else:
        for a in range(len(items)):
            for b in range(a, len(items)):
                i, j = max(items[a], items[b]), min(items[a], items[b])
                shared[i, j] += q[items[a]]  # the earlier one has the smaller sum


@compiled
def tied_moments(order, row_start, stage_size, stage_start, weights, log_worth, log_tie, with_information):
    """Log likelihood of Davidson-Luce, its gradient and information in (log_worth, log_tie[1:]).

    A stage that chooses C scores 1 / |C| for each item of C and 1 for the tie of that order; the gradient is the
    score less its mean, the information the covariance of scores: O(k^2) a stage.
    """
    k = len(log_worth)
    most = len(log_tie)
    m = k + most - 1
    largest = np.max(log_worth)
    roots = _roots(log_worth - largest, most)
    value = 0.0
    gradient = np.zeros(m)
    information = np.zeros((m, m)) if with_information else np.zeros((0, 0))
    sums = np.empty((most, most + 1))
    for r in range(len(row_start) - 1):
        if weights[r] == 0.0:
            continue
        _clear(sums)
        e = _skip_unlisted(order, row_start, stage_size, stage_start, r, roots, sums)
        for s in range(stage_start[r + 1] - 1, stage_start[r] - 1, -1):
            size = stage_size[s]
            chosen = log_tie[size - 1]
            for _ in range(size):
                e -= 1
                chosen += (log_worth[order[e]] - largest) / size
                gradient[order[e]] += weights[r] / size
                _add_item(roots[:, order[e]], sums)
            total = _total(sums, log_tie)
            value += weights[r] * (chosen - np.log(total))
            if size > 1:
                gradient[k + size - 2] += weights[r]
            items = order[e : row_start[r + 1]]
            _subtract_expected(items, weights[r], roots, sums, np.exp(log_tie) / total, gradient, information)
    for i in range(len(information)):
        for j in range(i):
            information[i, j] = information[j, i]
    return value, gradient, information


@compiled
def row_scores(order, row_start, stage_size, stage_start, log_worth, log_tie):
    """Gradient of the log probability of each ranking in (log_worth, log_tie[1:]), see `tied_moments`."""
    n = len(row_start) - 1
    most = len(log_tie)
    roots = _roots(log_worth - np.max(log_worth), most)
    tie = np.exp(log_tie)
    scores = np.zeros((n, len(log_worth) + most - 1))
    information = np.zeros((0, 0))
    sums = np.empty((most, most + 1))
    for r in range(n):
        _clear(sums)
        e = _skip_unlisted(order, row_start, stage_size, stage_start, r, roots, sums)
        for s in range(stage_start[r + 1] - 1, stage_start[r] - 1, -1):
            size = stage_size[s]
            for _ in range(size):
                e -= 1
                scores[r, order[e]] += 1.0 / size
                _add_item(roots[:, order[e]], sums)
            if size > 1:
                scores[r, len(log_worth) + size - 2] += 1.0
            items = order[e : row_start[r + 1]]
            _subtract_expected(items, 1.0, roots, sums, tie / _total(sums, log_tie), scores[r], information)
    return scores


@compiled
def tied_moments_of_rows(
    order_start, stage_size, stage_start, weights, scores, features, log_tie, gradient, information
):
    """Log likelihood of Davidson-Luce of rankings whose items have scores of their own.

    See `_attributes_jit.strict_moments_of_rows`, which holds the case without ties.

    The gradient and information in (coefficients, log_tie[1:]) are added to; no information if it is empty.
    """
    d = features.shape[1]
    m = len(gradient)
    value = 0.0
    wanted = len(information) > 0
    for r in range(len(weights)):
        start, end = order_start[r], order_start[r + 1]
        begin, stop = stage_start[r], stage_start[r + 1]
        if begin == stop:
            continue
        k = end - start
        own = np.arange(k)
        rows, stages = np.array([0, k]), np.array([0, stop - begin])
        part, slope, curvature = tied_moments(
            own, rows, stage_size[begin:stop], stages, weights[r : r + 1], scores[start:end], log_tie, wanted
        )
        value += part
        z = features[start:end]
        for i in range(k):
            for a in range(d):
                gradient[a] += slope[i] * z[i, a]
        gradient[d:] += slope[k:]
        if not wanted:
            continue
        half = np.zeros((k, m))
        for i in range(k):
            for j in range(k):
                for a in range(d):
                    half[i, a] += curvature[i, j] * z[j, a]
            half[i, d:] = curvature[i, k:]
        for i in range(k):
            for a in range(d):
                for b in range(m):
                    information[a, b] += z[i, a] * half[i, b]
                for b in range(d, m):
                    information[b, a] += z[i, a] * half[i, b]
        information[d:, d:] += curvature[k:, k:]
    return value


@compiled
def row_scores_of_attributes(order_start, stage_size, stage_start, scores, features, log_tie):
    """Gradient of the log probability of each ranking in (coefficients, log_tie[1:]), see `tied_moments_of_rows`."""
    n = len(order_start) - 1
    result = np.zeros((n, features.shape[1] + len(log_tie) - 1))
    one = np.ones(1)
    without = np.zeros((0, 0))
    for r in range(n):
        ends, stages = order_start[r : r + 2], stage_start[r : r + 2]
        tied_moments_of_rows(ends, stage_size, stages, one, scores, features, log_tie, result[r], without)
    return result


@compiled
def stage_table(order_start, stage_size, stage_start, weights, most):
    """Weight of the choices by the number of items left (row) and the number of them chosen (column)."""
    table = np.zeros((np.max(order_start[1:] - order_start[:-1]) + 1 if len(weights) else 1, most + 1))
    for r in range(len(weights)):
        left = order_start[r + 1] - order_start[r]
        for s in range(stage_start[r], stage_start[r + 1]):
            table[left, stage_size[s]] += weights[r]
            left -= stage_size[s]
    return table


@compiled
def sample_tied(log_worth, log_tie, uniforms):
    """Davidson-Luce draws, (n, k) positions; row r uses 2 k uniform numbers.

    Stage by stage: the size t of the bucket by its total weight, then t items one after the other, each with the
    weight of all buckets that hold it and those before it.
    """
    n = len(uniforms)
    k = len(log_worth)
    most = len(log_tie)
    roots = _roots(log_worth - np.max(log_worth), most)
    tie = np.exp(log_tie)
    sums = np.empty((most, most + 1))
    positions = np.empty((n, k))
    left = np.empty(k, dtype=np.intp)
    weight = np.empty(k)
    for r in range(n):
        left[:] = np.arange(k)
        n_left = k
        used = 0
        bucket = 0.0
        while n_left > 0:
            bucket += 1.0
            _clear(sums)
            for t in range(n_left):
                _add_item(roots[:, left[t]], sums)
            target = uniforms[r, used] * _total(sums, log_tie)
            used += 1
            size = 1
            while size < min(most, n_left) and target >= tie[size - 1] * sums[size - 1, size]:
                target -= tie[size - 1] * sums[size - 1, size]
                size += 1
            while size > 1 and tie[size - 1] == 0.0:  # rounding may pass the last size that occurs
                size -= 1
            x = roots[size - 1]
            for rest in range(size, 0, -1):
                _clear(sums)
                for t in range(n_left):
                    _add_item(roots[:, left[t]], sums)
                total = 0.0
                for t in range(n_left):
                    weight[t] = max(x[left[t]] * _without(x[left[t]], sums[size - 1], rest - 1), 0.0)
                    total += weight[t]
                target = uniforms[r, used] * total
                used += 1
                t = 0
                while t < n_left - 1 and target >= weight[t]:
                    target -= weight[t]
                    t += 1
                positions[r, left[t]] = bucket
                n_left -= 1
                left[t] = left[n_left]
    return positions


# Sums over sets of items: sums[t - 1, j] is the j-th elementary symmetric polynomial of the t-th roots of the worths,
# which is, for j = t, the sum over all buckets of t items of the geometric mean of their worths.


@compiled
def _roots(log_worth, most):
    roots = np.empty((most, len(log_worth)))
    for t in range(most):
        roots[t] = np.exp(log_worth / (t + 1))
    return roots


@compiled
def _clear(sums):
    sums[:] = 0.0
    sums[:, 0] = 1.0


@compiled
def _add_item(x, sums):
    for t in range(len(x)):
        for j in range(t + 1, 0, -1):
            sums[t, j] += x[t] * sums[t, j - 1]


@compiled
def _total(sums, log_tie):
    total = 0.0
    for t in range(len(log_tie)):
        total += np.exp(log_tie[t]) * sums[t, t + 1]
    return total


@compiled
def _without(x, sums, j):
    """The j-th symmetric polynomial of all items but the one whose root is x."""
    result = 1.0
    for i in range(1, j + 1):
        result = sums[i] - x * result
    return result


@compiled
def _skip_unlisted(order, row_start, stage_size, stage_start, r, roots, sums):
    """Add all items that ranking r chooses at no stage; return where they begin."""
    e = row_start[r]
    for s in range(stage_start[r], stage_start[r + 1]):
        e += stage_size[s]
    for t in range(e, row_start[r + 1]):
        _add_item(roots[:, order[t]], sums)
    return e


@compiled
def _subtract_expected(items, weight, roots, sums, tie, gradient, information):
    """Take the mean score of one stage from the gradient; add its covariance to the upper half of the information."""
    most = len(tie)
    k = roots.shape[1]
    mean = np.empty(len(items))
    size_share = np.empty(most)
    for t in range(1, most + 1):
        size_share[t - 1] = tie[t - 1] * sums[t - 1, t]
        if t > 1:
            gradient[k + t - 2] -= weight * size_share[t - 1]
    by_size = np.empty((len(items), most))  # mean score of an item through buckets of each size
    for a in range(len(items)):
        mean[a] = 0.0
        for t in range(1, most + 1):
            x = roots[t - 1, items[a]]
            by_size[a, t - 1] = tie[t - 1] * x * _without(x, sums[t - 1], t - 1) / t
            mean[a] += by_size[a, t - 1]
        gradient[items[a]] -= weight * mean[a]
    if len(information) == 0:
        return
    for t in range(2, most + 1):
        for v in range(t, most + 1):
            both = size_share[t - 1] if t == v else 0.0
            information[k + t - 2, k + v - 2] += weight * (both - size_share[t - 1] * size_share[v - 1])
    for a in range(len(items)):
        i = items[a]
        square = 0.0
        for t in range(1, most + 1):
            square += by_size[a, t - 1] / t
            if t > 1:
                information[i, k + t - 2] += weight * (by_size[a, t - 1] - mean[a] * size_share[t - 1])
        information[i, i] += weight * (square - mean[a] * mean[a])
        for b in range(a):
            j = items[b]
            together = 0.0
            for t in range(2, most + 1):
                x, y = roots[t - 1, i], roots[t - 1, j]
                # Symmetric polynomial of all items but these two, by leaving out one after the other.
                without = 1.0
                one = 1.0
                for d in range(1, t - 1):
                    one = sums[t - 1, d] - x * one
                    without = one - y * without
                together += tie[t - 1] * x * y * without / (t * t)
            information[min(i, j), max(i, j)] += weight * (together - mean[a] * mean[b])
