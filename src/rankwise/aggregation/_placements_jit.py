"""Compiled loops of `_placement_laws`: sums over all placements, in which every source goes to its own target."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators

from __future__ import annotations

import numpy as np

from rankwise._compiled import compiled

# Below this a sum of shares has lost digits.
_TOO_SMALL = 1e-200

# Footrule: open ends


@compiled
def footrule_table(k, phi):
    """Weights of all ways to match the first p sources to the first p targets but for j of each: (k + 1, j).

    A source or target still open when place p is passed will move by 1 more, so each of the 2 j ends costs phi. Rows
    are scaled. Also, once nothing is open: log Z, mean and variance of the sum of |source - target|.
    """
    most = k // 2 + 1
    weight = np.zeros((k + 1, most + 1))
    first = np.zeros(most + 1)  # weight times distance, and times its square
    second = np.zeros(most + 1)
    weight[0, 0] = 1.0
    log_scale = 0.0
    for p in range(1, k + 1):
        new_first = np.zeros(most + 1)
        new_second = np.zeros(most + 1)
        for j in range(min(p, k - p) + 1):
            w = weight[p - 1, j] * (1 + 2 * j) + weight[p - 1, j + 1] * (j + 1) ** 2
            m = first[j] * (1 + 2 * j) + first[j + 1] * (j + 1) ** 2
            s = second[j] * (1 + 2 * j) + second[j + 1] * (j + 1) ** 2
            if j > 0:
                w += weight[p - 1, j - 1]
                m += first[j - 1]
                s += second[j - 1]
            cost = phi ** (2 * j)
            weight[p, j] = cost * w
            new_first[j] = cost * (m + 2 * j * w)
            new_second[j] = cost * (s + 4 * j * m + 4 * j * j * w)
        scale = weight[p].max()
        weight[p] /= scale
        first = new_first / scale
        second = new_second / scale
        log_scale += np.log(scale)
    total = weight[k, 0]
    mean = first[0] / total
    return weight, log_scale + np.log(total), mean, second[0] / total - mean * mean


@compiled
def footrule_draws(weight, uniforms):
    """Permutations (places from 1) drawn with the table of `footrule_table`; three uniform numbers per place."""
    n, k = uniforms.shape[:2]
    draws = np.empty((n, k))
    opened = np.empty(k + 1, dtype=np.intp)
    sources = np.empty(k, dtype=np.intp)
    targets = np.empty(k, dtype=np.intp)
    for r in range(n):
        opened[k] = 0
        for p in range(k, 0, -1):  # how many ends were open after each place, from the last back
            j = opened[p]
            same = weight[p - 1, j] * (1 + 2 * j)
            fewer = weight[p - 1, j - 1] if j > 0 else 0.0
            u = uniforms[r, p - 1, 0] * (same + fewer + weight[p - 1, j + 1] * (j + 1) ** 2)
            opened[p - 1] = j if u < same else (j - 1 if u < same + fewer else j + 1)
        for p in range(k):
            j = opened[p]
            sources[j] = p
            targets[j] = p
            if opened[p + 1] < j:  # both new ends meet an old one
                s = int(uniforms[r, p, 1] * j)
                t = int(uniforms[r, p, 2] * j)
                draws[r, sources[s]] = p + 1.0
                draws[r, p] = targets[t] + 1.0
                sources[s] = sources[j - 1]
                targets[t] = targets[j - 1]
            elif opened[p + 1] == j:  # one new end meets an old one, or they meet each other
                a = int(uniforms[r, p, 1] * (1 + 2 * j))
                if a == 2 * j:
                    draws[r, p] = p + 1.0
                elif a < j:
                    draws[r, sources[a]] = p + 1.0
                    sources[a] = p
                else:
                    draws[r, p] = targets[a - j] + 1.0
                    targets[a - j] = p
    return draws


# Any cost of placing: sums over sets


@compiled
def placement_table(cost, theta):
    """Weights of all ways to put the first p sources on each set of p targets; log Z, mean and variance of the cost.

    Putting source p on target j costs ``cost[p, j]`` and weighs exp(-theta cost): the last weight is a permanent.
    """
    k = cost.shape[0]
    factor = np.exp(-theta * cost)
    weight = np.zeros(1 << k)
    first = np.zeros(1 << k)
    second = np.zeros(1 << k)
    weight[0] = 1.0
    for taken in range((1 << k) - 1):
        p = 0
        for j in range(k):
            p += (taken >> j) & 1
        w = weight[taken]
        m = first[taken]
        s = second[taken]
        for j in range(k):
            if not (taken >> j) & 1:
                c = cost[p, j]
                f = factor[p, j]
                to = taken | (1 << j)
                weight[to] += f * w
                first[to] += f * (m + c * w)
                second[to] += f * (s + 2 * c * m + c * c * w)
    mean = first[-1] / weight[-1]
    return weight, np.log(weight[-1]), mean, second[-1] / weight[-1] - mean * mean


@compiled
def placement_draws(weight, cost, theta, uniforms):
    """Permutations (places from 1) drawn with the table of `placement_table`, from the last source back."""
    n, k = uniforms.shape
    factor = np.exp(-theta * cost)
    draws = np.empty((n, k))
    for r in range(n):
        taken = (1 << k) - 1
        for p in range(k - 1, -1, -1):
            u = uniforms[r, p] * weight[taken]
            chosen = -1
            for j in range(k):
                if (taken >> j) & 1:
                    w = weight[taken & ~(1 << j)] * factor[p, j]
                    if w > 0.0:
                        chosen = j
                        if u < w:
                            break
                        u -= w
            draws[r, p] = chosen + 1.0
            taken &= ~(1 << chosen)
    return draws


@compiled
def placement_particles(cost, theta, uniforms, resampling):
    """Estimate the permanent behind `placement_table` by particles: log Z, mean and mean square of the cost.

    Every particle puts one source after the other on a free target. Targets left behind will cost at least what the
    next source would pay for them, so this is charged at once; a free target then weighs exp(-theta (cost now - cost
    later)), and the sum of these weights, not the choice, says how good a particle is. Particles are resampled by
    their weights where these have become too unequal.
    """
    n, k = uniforms.shape
    taken = np.zeros((n, k), dtype=np.bool_)
    total = np.zeros(n)
    log_weight = np.zeros(n)
    log_scale = 0.0
    gain = np.empty(k)
    rise = np.empty(k)
    own_share = np.empty(k)
    for p in range(k):
        for j in range(k):
            later = cost[p + 1, j] if (j <= p) & (p + 1 < k) else 0.0
            gain[j] = theta * (later - cost[p, j])
            rise[j] = later - (cost[p, j] if j < p else 0.0)
        common_largest = gain.max()
        common_share = np.exp(gain - common_largest)
        for r in range(n):
            largest = common_largest
            share = common_share
            due = 0.0  # by how much the price of the targets left behind rises
            normalizer = 0.0
            for j in range(k):
                if not taken[r, j]:
                    due += rise[j]
                    normalizer += share[j]
            if normalizer < _TOO_SMALL:  # the targets with the largest gain are all taken
                largest = -np.inf
                for j in range(k):
                    if not taken[r, j]:
                        largest = max(largest, gain[j])
                share = own_share
                normalizer = 0.0
                for j in range(k):
                    if not taken[r, j]:
                        share[j] = np.exp(gain[j] - largest)
                        normalizer += share[j]
            log_weight[r] += np.log(normalizer) + largest - theta * due
            u = uniforms[r, p] * normalizer
            chosen = -1
            for j in range(k):
                if not taken[r, j] and share[j] > 0.0:
                    chosen = j
                    if u < share[j]:
                        break
                    u -= share[j]
            total[r] += cost[p, chosen]
            taken[r, chosen] = True
        top = log_weight.max()
        weight = np.exp(log_weight - top)
        if (weight.sum() ** 2 < 0.5 * n * (weight**2).sum()) & (p + 1 < k):
            log_scale += top + np.log(weight.mean())
            parents = np.empty(n, dtype=np.intp)
            reached = weight[0]
            parent = 0
            for r in range(n):
                while reached < (r + resampling[p]) * weight.mean() and parent + 1 < n:
                    parent += 1
                    reached += weight[parent]
                parents[r] = parent
            taken = taken[parents]
            total = total[parents]
            log_weight[:] = 0.0
    top = log_weight.max()
    weight = np.exp(log_weight - top)
    mean = (weight * total).sum() / weight.sum()
    return log_scale + top + np.log(weight.mean()), mean, (weight * total * total).sum() / weight.sum()


@compiled
def exchange_steps(places, cost, theta, first, second, log_uniforms):
    """Metropolis steps, in place: two sources change targets if the cost falls, or else with odds exp(-theta rise)."""
    n, steps = log_uniforms.shape
    for r in range(n):
        for t in range(steps):
            a = first[r, t]
            b = second[r, t]
            x = int(places[r, a]) - 1
            y = int(places[r, b]) - 1
            rise = cost[a, y] + cost[b, x] - cost[a, x] - cost[b, y]
            if log_uniforms[r, t] < -theta * rise:
                places[r, a] = y + 1.0
                places[r, b] = x + 1.0
