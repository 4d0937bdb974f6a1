"""Compiled gradients of pairwise losses, for `rankwise.ltr.gradients`, and exact rounding for boosting.

Rows of a query lie side by side: query ``q`` owns rows ``bounds[q]`` to ``bounds[q + 1]``. Each query is first gathered
in the order of its ranking, so that all pairs of one document are a run through adjacent memory.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rankwise._compiled import compiled, compiled_in_place, compiled_sums, compiled_sums_in_place

# What the weight of a pair is.
EQUAL, PLACES, DISTANCE, PRECISION_SUM, FIRST_HIT, CASCADE, NEIGHBORS = range(7)
# Beyond this difference, exp(score) of the worst row would fall below the smallest number.
_WIDEST = 600.0
# Rows that go through the processor together; queries are filled up to a multiple of it.
_LANES = 8
# Added to gaps of scores that divide, as LightGBM does.
_LEAST_GAP = 0.01
# How often NDCG-Loss2++ counts the bound on what a pair costs, beside what exchanging it changes; the paper's choice.
MU = 10.0


class Weighting(NamedTuple):
    """How pairs are weighted: one of the codes above, the places whose pairs count, what weights are divided by."""

    code: int
    truncation: int
    sigma: float
    average_ties: bool
    by_gap: bool
    by_query: bool


class Rows(NamedTuple):
    """Rows, query by query: pairs form where levels differ, weights come from gains; roots of the rows' own weights."""

    level: np.ndarray
    gain: np.ndarray
    root_weight: np.ndarray
    bounds: np.ndarray
    scale: np.ndarray


class Ranked(NamedTuple):
    """One query in the order of its ranking: its rows, what adds up for them, and room for the weights of pairs."""

    order: np.ndarray
    score: np.ndarray
    power: np.ndarray
    level: np.ndarray
    gain: np.ndarray
    root: np.ndarray
    gradient: np.ndarray
    hessian: np.ndarray
    pair: np.ndarray
    places: np.ndarray
    block_end: np.ndarray
    reach: int
    is_wide: bool
    by_gap: bool


@compiled_sums
def lambdas(rows, score, rank_by, discount, weighting, gradient, hessian):
    """Add the gradient and the second derivative of the weighted pairwise logistic loss to those given.

    Rows rank by ``rank_by``, ties as they lie; the loss is one of ``score``. ``discount`` weighs the places.
    """
    table = np.empty((12, _longest(rows.bounds) + _LANES))
    for q in range(len(rows.bounds) - 1):
        start, stop = rows.bounds[q], rows.bounds[q + 1]
        if rows.scale[q] == 0.0 or not _has_pairs(rows.level[start:stop]):
            continue
        query = _ranked(rows, score, rank_by, start, stop, discount, weighting, table)
        if weighting.code == PLACES and not weighting.average_ties and not query.is_wide:
            total = _add_pairs_of_places(query, discount, table)
        else:
            total = _add_pairs_of_query(query, discount, weighting)
        _scatter(query, start, rows.scale[q], total, weighting, gradient, hessian)


@compiled
def sampled_lambdas(rows, score, rank_by, discount, weighting, picks, gradient, hessian):
    """The same from a sample of pairs: ``picks``, numbers between 0 and 1, choose the partners of each row.

    A function of its own, with its own loop over single pairs: in one with `lambdas`, that would be slower by half.
    """
    table = np.empty((12, _longest(rows.bounds)))
    n_picks = picks.shape[1]
    for q in range(len(rows.bounds) - 1):
        start, stop = rows.bounds[q], rows.bounds[q + 1]
        n = stop - start
        if rows.scale[q] == 0.0 or not _has_pairs(rows.level[start:stop]):
            continue
        query = _ranked(rows, score, rank_by, start, stop, discount, weighting, table)
        pair = query.pair
        total = 0.0
        for run in range(n * n_picks):
            place = run // n_picks
            other = int(picks[start + place, run % n_picks] * (n - 1))
            other += 1 if other >= place else 0  # any row but the own one
            a, b = min(place, other), max(place, other)
            if a >= query.reach or query.level[a] == query.level[b]:
                continue
            if weighting.average_ties:
                block_end = query.block_end[a]
                _tied_pair_weights(weighting.code, a, b, b + 1, query.gain, query.places, block_end, pair)
            elif weighting.code == PLACES:
                pair[b] = abs(query.gain[a] - query.gain[b]) * (discount[a] - discount[b])
            else:
                _pair_weights(weighting.code, a, b, b + 1, query, discount)
            weight = pair[b] * (query.root[a] * query.root[b])
            if query.by_gap:
                weight /= _LEAST_GAP + abs(query.score[a] - query.score[b])
            sign = 1.0 if query.level[a] > query.level[b] else -1.0
            gap = weighting.sigma * (query.score[a] - query.score[b]) * sign
            tail = np.exp(-abs(gap))
            push = weight * (tail if gap > 0 else 1.0) / (1.0 + tail)
            turn = push * (1.0 if gap > 0 else tail) / (1.0 + tail)
            query.gradient[a] -= sign * push
            query.gradient[b] += sign * push
            query.hessian[a] += turn
            query.hessian[b] += turn
            total += push
        # A pair may be picked from either end: 2 n_picks / (n - 1) times, on the average.
        _scatter(query, start, rows.scale[q] * (n - 1) / (2 * n_picks), total, weighting, gradient, hessian)


@compiled
def _longest(bounds):
    longest = 0
    for q in range(len(bounds) - 1):
        longest = max(longest, bounds[q + 1] - bounds[q])
    return longest


@compiled
def _ranked(rows, score, rank_by, start, stop, discount, weighting, table):
    """Gather a query in the order of its ranking."""
    n = stop - start
    order = np.argsort(-rank_by[start:stop], kind="mergesort")
    ranked, power, level, gain = table[0, :n], table[1, :n], table[2, :n], table[3, :n]
    root, gradient, hessian, places = table[4, :n], table[5, :n], table[6, :n], table[8:, :n]
    for a in range(n):
        row = start + order[a]
        ranked[a] = score[row]
        level[a] = rows.level[row]
        gain[a] = rows.gain[row]
        root[a] = rows.root_weight[row]
        gradient[a] = 0.0
        hessian[a] = 0.0
    highest, lowest = ranked.max(), ranked.min()
    is_wide = weighting.sigma * (highest - lowest) > _WIDEST
    if not is_wide:
        for a in range(n):
            power[a] = np.exp(weighting.sigma * (ranked[a] - highest))
    reach = min(n, weighting.truncation)
    block_end = np.empty(n if weighting.average_ties else 0, dtype=np.intp)
    if weighting.average_ties:
        reach = _tied_places(weighting.code, rank_by, start, order, reach, discount, places, block_end)
    else:
        _places(weighting.code, level, gain, n, discount, places)
    by_gap = weighting.by_gap and highest > lowest
    return Ranked(
        order,
        ranked,
        power,
        level,
        gain,
        root,
        gradient,
        hessian,
        table[7, :n],
        places,
        block_end,
        reach,
        is_wide,
        by_gap,
    )


@compiled
def _scatter(query, start, factor, total, weighting, gradient, hessian):
    """Add what has added up for the rows of a query to the gradients; ``total`` is the sum of all pushes."""
    if weighting.by_query and total > 0.0:
        doubled = 2 * weighting.sigma * factor * total
        factor *= np.log2(1 + doubled) / doubled
    for a in range(len(query.order)):
        row = start + query.order[a]
        gradient[row] += weighting.sigma * factor * query.gradient[a]
        hessian[row] += weighting.sigma**2 * factor * query.hessian[a]


@compiled_sums_in_place
def _add_pairs_of_places(query, discount, table):
    """Pairs weighted by gains of rows and discounts of places, in one pass each: LambdaRank spends its time here.

    Every row meets all others, so that each pair is computed twice, but nothing is stored on the way and queries are
    filled up to whole vectors with rows of no weight: three times as fast as half the pairs one by one.
    """
    n = len(query.order)
    whole = (n + _LANES - 1) // _LANES * _LANES
    score, power, gain = table[0, :whole], table[1, :whole], table[3, :whole]
    root, places = table[4, :whole], table[8, :whole]
    for b in range(n):
        places[b] = discount[b]
    for b in range(n, whole):
        score[b], power[b], gain[b], root[b], places[b] = 0.0, 1.0, 0.0, 0.0, 0.0
    total = 0.0
    for a in range(n):
        # Rows beyond the truncation meet those within it alone.
        end = whole if a < query.reach else query.reach
        push, turn, pushes = _pushes_of_row(
            score[a],
            power[a],
            gain[a],
            places[a],
            query.by_gap,
            score[:end],
            power[:end],
            gain[:end],
            root[:end],
            places[:end],
        )
        query.gradient[a] = -root[a] * push
        query.hessian[a] = root[a] * turn
        total += root[a] * pushes
    return total / 2


@compiled_sums_in_place
def _pushes_of_row(score, power, gain, place, by_gap, scores, powers, gains, roots, places):
    """What all others do to one row: signed pushes, second derivatives, and the pushes without their signs."""
    least, per_gap = (_LEAST_GAP, 1.0) if by_gap else (1.0, 0.0)
    push_sum, turn_sum, total = 0.0, 0.0, 0.0
    for b in range(len(scores)):
        gap = least + per_gap * abs(score - scores[b])
        share = 1.0 / ((power + powers[b]) * gap)  # the one division
        ahead = gain - gains[b]
        weighted = ahead * abs(place - places[b]) * roots[b] * share
        push = weighted * (powers[b] if ahead > 0.0 else power)  # weight x probability of the wrong way round
        push_sum += push
        total += abs(push)
        turn_sum += abs(weighted) * powers[b] * (share * gap)
    return push_sum, turn_sum * power, total


@compiled_sums_in_place
def _add_pairs_of_query(query, discount, weighting):
    """Pairs by any weight, for each row with those below it; returns the sum of all pushes."""
    n = len(query.order)
    # Slices that end with the query let the compiler see that no loop leaves them.
    ranked, power, level, gain = query.score, query.power, query.level, query.gain
    root, gradient, hessian, pair = query.root, query.gradient, query.hessian, query.pair
    total = 0.0
    for a in range(query.reach):
        below = a + 1
        end = min(below + 1, n) if weighting.code == NEIGHBORS else n
        if weighting.average_ties:
            _tied_pair_weights(weighting.code, a, below, end, gain, query.places, query.block_end[a], pair)
        elif weighting.code == PLACES:
            _place_weights(gain[a], discount[a], gain[below:end], discount[below:end], pair[below:end])
        else:
            _pair_weights(weighting.code, a, below, end, query, discount)
        _weigh_rows(level[a], root[a], level[below:end], root[below:end], pair[below:end])
        if query.by_gap:
            _divide_by_gap(ranked[a], ranked[below:end], pair[below:end])
        if query.is_wide:
            push, turn, pushes = _add_wide_pairs(
                ranked[a],
                level[a],
                weighting.sigma,
                ranked[below:end],
                level[below:end],
                pair[below:end],
                gradient[below:end],
                hessian[below:end],
            )
        else:
            push, turn, pushes = _add_pairs(
                power[a],
                level[a],
                power[below:end],
                level[below:end],
                pair[below:end],
                gradient[below:end],
                hessian[below:end],
            )
        gradient[a] -= push
        hessian[a] += turn
        total += pushes
    return total


@compiled_sums_in_place
def _add_pairs(power, level, powers, levels, pair, gradient, hessian):
    """Pairs of one document with all below it, from powers of e of the scores: one division each, no exponential.

    Returns what adds to the document itself: signed pushes, second derivatives, and the pushes without their signs.
    """
    own_push, own_turn, total = 0.0, 0.0, 0.0
    for b in range(len(pair)):
        weighted = pair[b] / (power + powers[b])
        stands_right = level > levels[b]
        push = weighted * (powers[b] if stands_right else power)  # weight x probability of the wrong way round
        turn = weighted * power * powers[b] / (power + powers[b])
        signed = push if stands_right else -push
        total += push
        own_push += signed
        gradient[b] += signed
        own_turn += turn
        hessian[b] += turn
    return own_push, own_turn, total


@compiled_sums_in_place
def _add_wide_pairs(score, level, sigma, scores, levels, pair, gradient, hessian):
    """The same where scores lie so far apart that their powers leave the range of numbers."""
    own_push, own_turn, total = 0.0, 0.0, 0.0
    for b in range(len(pair)):
        stands_right = level > levels[b]
        gap = sigma * (score - scores[b]) * (1.0 if stands_right else -1.0)
        tail = np.exp(-abs(gap))
        push = pair[b] * (tail if gap > 0 else 1.0) / (1.0 + tail)
        turn = push * (1.0 if gap > 0 else tail) / (1.0 + tail)
        signed = push if stands_right else -push
        total += push
        own_push += signed
        gradient[b] += signed
        own_turn += turn
        hessian[b] += turn
    return own_push, own_turn, total


@compiled
def pair_lambdas(winner, loser, weight, score, gradient, hessian):
    """Add gradient and second derivative of the logistic loss of given pairs."""
    for p in range(len(winner)):
        gap = score[winner[p]] - score[loser[p]]
        tail = np.exp(-abs(gap))
        wrong_way = (tail if gap > 0 else 1.0) / (1.0 + tail)
        push = weight[p] * wrong_way
        turn = push * (1.0 if gap > 0 else tail) / (1.0 + tail)
        gradient[winner[p]] -= push
        gradient[loser[p]] += push
        hessian[winner[p]] += turn
        hessian[loser[p]] += turn


@compiled
def _has_pairs(level):
    return np.any(level != level[0])


@compiled_in_place
def _weigh_rows(level, root, levels, roots, pair):
    """Multiply by the weights of both rows; rows of the same level make no pair."""
    for b in range(len(pair)):
        pair[b] = pair[b] * (root * roots[b]) if level != levels[b] else 0.0


@compiled_in_place
def _divide_by_gap(score, scores, pair):
    for b in range(len(pair)):
        pair[b] /= _LEAST_GAP + abs(score - scores[b])


@compiled_in_place
def _place_weights(gain, discount, gains, discounts, pair):
    for b in range(len(pair)):
        pair[b] = abs(gain - gains[b]) * (discount - discounts[b])


@compiled_in_place
def _pair_weights(code, a, first, stop, query, discount):
    """Write what exchanging place a with each of the places below changes; places count from 0."""
    level, gain, pair, upper, lower = query.level, query.gain, query.pair, query.places[0], query.places[1]
    if code == DISTANCE:
        for b in range(first, stop):
            bound = discount[b - a - 1] - discount[b - a]
            pair[b] = abs(gain[a] - gain[b]) * (discount[a] - discount[b] + MU * bound)
    elif code == NEIGHBORS:
        for b in range(first, stop):
            pair[b] = abs(gain[a] - gain[b]) * discount[a]
    elif code == PRECISION_SUM:
        for b in range(first, stop):
            pair[b] = upper[a] - lower[b]
    elif code == FIRST_HIT:
        for b in range(first, stop):
            pair[b] = max(upper[a] - lower[b], 0.0) if level[a] > 0 else upper[a]
    elif code == CASCADE:
        for b in range(first, stop):
            ratio = (1 - gain[b]) / (1 - gain[a])
            change = upper[a] * (gain[b] - gain[a]) * discount[a] + (lower[b - 1] - lower[a]) * (ratio - 1)
            pair[b] = abs(change + upper[b] * (ratio * gain[a] - gain[b]) * discount[b])
    else:
        for b in range(first, stop):
            pair[b] = 1.0


@compiled
def _places(code, level, gain, n, discount, places):
    """Write what the weights of pairs need to know of places in this ranking."""
    upper, lower = places[0], places[1]
    if code == PRECISION_SUM:
        # Exchanging places a < b changes the sum of precisions by upper[a] - lower[b].
        found, before = 0.0, 0.0  # relevant rows so far, and the sum of 1 / place over them
        for a in range(n):
            lower[a] = (found + level[a]) * discount[a] - before
            before += level[a] * discount[a]
            upper[a] = (found + 1) * discount[a] - before
            found += level[a]
    elif code == FIRST_HIT:
        # A relevant row that comes up to place a gains upper[a]; the first relevant row loses what lower[b] falls
        # short.
        first = 0
        while level[first] == 0:
            first += 1
        second = first + 1
        while second < n and level[second] == 0:
            second += 1
        next_best = discount[second] if second < n else 0.0
        for a in range(n):
            upper[a] = max(discount[a] - discount[first], 0.0)
            lower[a] = max(discount[a], next_best)
        upper[first] = discount[first]
    elif code == CASCADE:
        # upper: the probability of reaching a place; lower: the value of the places down to it.
        reached, total = 1.0, 0.0
        for a in range(n):
            upper[a] = reached
            total += reached * gain[a] * discount[a]
            lower[a] = total
            reached *= 1 - gain[a]


@compiled_in_place
def _tied_pair_weights(code, a, first, stop, gain, places, block_end, pair):
    """The mean of `_pair_weights` over all orders of equal scores; pairs beyond the truncation weigh nothing."""
    upper, lower, share, within = places[0], places[1], places[2], places[3]
    for b in range(first, min(stop, block_end)):
        pair[b] = within[a]
    for b in range(max(first, block_end), stop):
        pair[b] = upper[a] - share[a] * lower[b]
    if code == PLACES:
        for b in range(first, stop):
            pair[b] *= abs(gain[a] - gain[b])


@compiled
def _tied_places(code, rank_by, start, order, reach, discount, places, block_end):
    """Write the means over blocks of equal scores; return where the last block ends that the truncation touches.

    ``upper``: mean discount of the places within reach; ``lower``: mean discount of all; ``share``: share of the places
    within reach; ``within``: mean weight of two rows of the block. If pairs weigh the same, the weight of a pair is 1.
    """
    upper, lower, share, within = places[0], places[1], places[2], places[3]
    n = len(order)
    begin, last = 0, 0
    while begin < n:
        end = begin + 1
        while end < n and rank_by[start + order[end]] == rank_by[start + order[begin]]:
            end += 1
        size = end - begin
        near = max(0, min(reach, end) - begin)
        if near > 0:
            last = end
        below, touched, inside = 0.0, 0.0, 0.0
        for a in range(end - 1, begin - 1, -1):
            if a < reach:
                touched += discount[a]
                inside += (end - 1 - a) * (1.0 if code == EQUAL else discount[a]) - (0.0 if code == EQUAL else below)
            below += discount[a]
        for a in range(begin, end):
            share[a] = near / size
            upper[a] = near / size if code == EQUAL else touched / size
            lower[a] = 0.0 if code == EQUAL else below / size
            within[a] = inside / (size * (size - 1) / 2) if size > 1 else 0.0
            block_end[a] = end
        begin = end
    return last


@compiled
def largest_size(values):
    """The largest absolute value; NaN if there is one."""
    largest = 0.0
    for value in values:
        if not abs(value) <= largest:
            largest = abs(value)
            if largest != largest:
                break
    return largest


@compiled
def round_to_step(values, step, rounded):
    """Round to the numbers that ``rounded`` can hold, and these to multiples of the step, a power of 2."""
    for at in range(len(values)):
        rounded[at] = values[at]
        rounded[at] = np.rint(rounded[at] / step) * step
