"""Compiled functions that grow a tree by random thresholds where every target is a few bits; `_grow_bits` calls them.

The targets are pairs of items: a bit per pair says whether the first item comes first, and, where there are ties, a
second one whether it does not come last; a target is their sum. The score of a split is that of `_grow_jit`,
|S_L|^2 / w_L + |S_R|^2 / w_R, here from whole numbers, without rounding:

- A node of many rows counts. 64 rows share a word: one for each pair, of the bits of these rows, and one for each
  feature, of the rows that go left. How many of them have the bit is how many ones the two words share.
- A node of few rows, and all nodes below it, need only the inner products of its rows: |S_L|^2 is the sum of some.

Where rankings do not compare all pairs, a last bit says whether they compare this one. Then every pair has its own
weights of both sides, which are counted as well, in small nodes, too.

Weights are whole numbers: a row of weight 2 takes two bits of a word.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from rankwise._compiled import compiled_in_place, inlined

# Rows, at most, of nodes that use inner products.
MOST_PRODUCTS = 48
# Words of rows that are counted at a time: the bits of many pairs still fit into the cache.
WORDS_AT_ONCE = 16
# Bits of a word, and with them the largest weight of a row.
WORD = 64
# What is tried at a node: feature, cutoff, number and weight of the rows that go left and of those without a value,
# and a bit that says at which end of the gap between two values the threshold lies.
_FEATURE, _CUTOFF, _N_LEFT, _LEFT_WEIGHT, _N_MISSING, _MISSING_WEIGHT, _IS_UPPER = range(7)
TRIAL = 7
# With gaps, a node has no error if no more than this share of its squares is left; without, sums are exact.
_PURE = 1e-12


class BitTargets(NamedTuple):
    """The targets of the rows of a tree."""

    bits: Any  # (rows, planes * words of a row): of each plane, the bits of all pairs
    n_planes: int  # without that of the pairs that are compared
    has_gaps: bool  # whether there is such a plane, the last one
    n_pairs: int
    squares: Any  # (rows,): squared length of each target
    weights: Any  # (rows,)


class BitScratch(NamedTuple):
    """Working memory of one tree."""

    rows: Any  # (rows,): all rows, those of a node side by side
    order: Any  # (rows,)
    buffer: Any  # (rows,)
    word: Any  # (rows,): the word of each row of a node
    word_end: Any  # (rows,): where the rows of a word end
    pattern: Any  # (rows,): the bits of this row in its word
    moved: Any  # (rows,): codes of a feature
    masks: Any  # (2, WORDS_AT_ONCE): the rows that go left, and those without a value
    columns: Any  # (WORDS_AT_ONCE, planes * pairs): the rows that have the bit
    block: Any  # (WORD,)
    sums: Any  # (2 * trials + 1, pairs): of rows that go left, and of those without a value; last, of the node
    known: Any  # the same for the weights of the rows that compare the pair; without gaps empty
    products: Any  # (MOST_PRODUCTS, MOST_PRODUCTS): inner products of weighted targets
    has_products: Any  # (nodes,): whether those of the rows of a node are there
    place: Any  # (rows,): place of a row among the products
    along: Any  # (MOST_PRODUCTS,): inner product of each row of a node with the sum of the node
    side: Any  # (MOST_PRODUCTS,): places of the rows of a side
    candidates: Any  # (features,)
    trials: Any  # (features, TRIAL)
    scores: Any  # (features, 2): without and with missing values on the left
    frontier: Any  # (nodes,)


@compiled_in_place
def grow_by_bits(features, targets, limits, root_seed, nodes, scratch):
    """Grow a tree on all rows, children side by side; how many nodes it has.

    The codes of features are sorted on the way: those of a node lie side by side.

    Nodes, seeds and random draws are those of `_grow_jit.grow` where the number of leaves has no limit.
    """
    n = features.codes.shape[1]
    frontier, trials = scratch.frontier, scratch.trials
    scale = 0.25 if targets.n_planes == 2 else 1.0
    nodes.count[0] = n
    nodes.seed[0] = root_seed
    frontier[0] = 0
    waiting, n_nodes = 1, 1
    while waiting > 0:
        waiting -= 1
        node = frontier[waiting]
        start, m = nodes.start[node], nodes.count[node]
        members = scratch.rows[start : start + m]
        weight = squares = np.int64(0)
        for r in range(m):
            weight += targets.weights[members[r]]
            squares += targets.weights[members[r]] * targets.squares[members[r]]
        may_split = (
            (m >= limits.min_samples_split)
            & (m >= 2 * limits.min_samples_leaf)
            & (nodes.depth[node] < limits.max_depth)
        )
        if m <= MOST_PRODUCTS and not targets.has_gaps:
            # The nodes below one of few rows come right after it, and use its products.
            if not scratch.has_products[node]:
                _multiply(targets, members, scratch)
            square = _sum_products(members, scratch)
        else:
            _assign_bits(targets, members, scratch)
            square = _sum_bits(targets, members, scratch)
        base = scale * (_score_of_known(scratch) if targets.has_gaps else square / weight)
        nodes.weight[node] = weight
        nodes.error[node] = max(scale * squares - base, 0.0)
        is_pure = nodes.error[node] <= _PURE * scale * squares if targets.has_gaps else weight * squares == square
        if not may_split or is_pure:  # all targets are the same
            continue
        score, chosen, missing_left = _search(
            features, targets, limits, start, members, weight, square, nodes.seed[node], scratch
        )
        gain = scale * score - base
        if chosen < 0 or (limits.min_gain > 0 and gain < limits.min_gain * nodes.weight[0]):
            continue
        f, cutoff = trials[chosen, _FEATURE], trials[chosen, _CUTOFF]
        n_left = _part(features, start, members, f, cutoff, missing_left, scratch)
        nodes.feature[node] = f
        nodes.cutoff[node] = cutoff
        nodes.threshold[node] = threshold_in_gap(features, f, cutoff, trials[chosen, _IS_UPPER])
        # Where nothing was learned of missing values, they follow the majority.
        nodes.missing_left[node] = missing_left if trials[chosen, _N_MISSING] > 0 else 2 * n_left > m
        nodes.gain[node] = max(gain, 0.0)
        nodes.left[node] = n_nodes
        for side in range(2):
            child = n_nodes + side
            nodes.start[child] = start + side * n_left
            nodes.count[child] = n_left if side == 0 else m - n_left
            nodes.depth[child] = nodes.depth[node] + 1
            nodes.seed[child] = _mixed(nodes.seed[node] + np.uint64(side + 1))
            scratch.has_products[child] = m <= MOST_PRODUCTS and not targets.has_gaps
            frontier[waiting] = child
            waiting += 1
        n_nodes += 2
    return n_nodes


@compiled_in_place
def _mixed(state):
    """A hash of a 64-bit number (splitmix64), the same as that of `_grow_jit`."""
    z = state + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@compiled_in_place
def _ones(x):
    """How many bits are set: the form of it that compilers know and replace by one instruction."""
    x = x - ((x >> np.uint64(1)) & np.uint64(0x5555555555555555))
    x = (x & np.uint64(0x3333333333333333)) + ((x >> np.uint64(2)) & np.uint64(0x3333333333333333))
    x = (x + (x >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((x * np.uint64(0x0101010101010101)) >> np.uint64(56))


@inlined
def threshold_in_gap(features, f, cutoff, is_upper):
    """A threshold at one end of the gap between two codes, so that only the order of values counts.

    Infinity if no code follows: then only missing values go right.
    """
    if cutoff + 1 >= features.n_codes[f]:
        return np.inf
    if is_upper:
        return np.nextafter(features.lower[features.start[f] + cutoff + 1], -np.inf)
    return features.upper[features.start[f] + cutoff]


@inlined
def _search(features, targets, limits, start, rows, weight, square, seed, scratch):
    """The best of one random threshold for each feature drawn: its score, its trial, and where missing values go.

    At least max_features are drawn, and more until one splits the node.
    """
    all_codes, trials, candidates, scores = features.codes, scratch.trials, scratch.candidates, scratch.scores
    d, m = all_codes.shape[0], rows.shape[0]
    state = seed
    for t in range(d):
        candidates[t] = t
    best, chosen, best_missing_left = -np.inf, -1, False
    t = n_trials = 0
    while t < d and (t < limits.max_features or chosen < 0):
        first = n_trials
        for _ in range(limits.max_features if t == 0 else 1):
            if limits.max_features < d:
                state = _mixed(state)
                other = t + int(state % np.uint64(d - t))
                candidates[t], candidates[other] = candidates[other], candidates[t]
            f = candidates[t]
            t += 1
            n_codes = features.n_codes[f]
            low = high = all_codes[f, start]
            for r in range(start, start + m):
                low = min(low, all_codes[f, r])
                high = max(high, all_codes[f, r])
            lowest, highest, n_missing = np.int64(low), np.int64(high), 0
            if highest == n_codes:
                highest = np.int64(-1)
                for r in range(start, start + m):
                    code = np.int64(all_codes[f, r])
                    n_missing += code == n_codes
                    highest = max(highest, np.int64(-1) if code == n_codes else code)
            if lowest >= highest and (n_missing == 0 or highest < 0):
                continue
            state = _mixed(state)
            u = float(state >> np.uint64(11)) / 9007199254740992.0
            trials[n_trials, _FEATURE] = f
            at = features.start[f]
            score = features.scores[at + lowest] + u * (features.scores[at + highest] - features.scores[at + lowest])
            cutoff, above = lowest, highest
            while above - cutoff > 1:  # the last code whose score is not above, but never all
                middle = (cutoff + above) // 2
                if features.scores[at + middle] <= score:
                    cutoff = middle
                else:
                    above = middle
            trials[n_trials, _CUTOFF] = cutoff
            trials[n_trials, _N_MISSING] = n_missing
            trials[n_trials, _IS_UPPER] = np.int64(state & np.uint64(1))
            n_trials += 1
        if m > MOST_PRODUCTS or targets.has_gaps:
            _count(features, targets, start, rows, first, n_trials, scratch)
            _score_by_sums(limits.min_samples_leaf, m, weight, targets.has_gaps, first, n_trials, scratch)
        else:
            _score_by_products(features, targets, limits, start, rows, weight, square, first, n_trials, scratch)
        for trial in range(first, n_trials):
            for missing_left in range(2):
                if scores[trial, missing_left] > best:
                    best, chosen, best_missing_left = scores[trial, missing_left], trial, missing_left == 1
    return best, chosen, best_missing_left


@inlined
def _part(features, start, rows, f, cutoff, missing_left, scratch):
    """Put the rows that go left before the others, each side in its old order; how many go left."""
    codes, n_codes, m = features.codes, features.n_codes[f], rows.shape[0]
    order, buffer, moved = scratch.order, scratch.buffer, scratch.moved
    n_left = n_right = 0
    for r in range(m):
        code = np.int64(codes[f, start + r])
        goes_left = (code <= cutoff) | (missing_left & (code == n_codes))
        # Both are written, and one of them again: there is no branch to be guessed wrong.
        order[n_left] = r
        buffer[n_right] = r
        n_left += goes_left
        n_right += not goes_left
    for r in range(n_right):
        order[n_left + r] = buffer[r]
    for r in range(m):
        buffer[r] = rows[order[r]]
    for r in range(m):
        rows[r] = buffer[r]
    if m > 2:  # the codes of single rows are not read again
        for g in range(codes.shape[0]):
            for r in range(m):
                moved[r] = codes[g, start + order[r]]
            for r in range(m):
                codes[g, start + r] = moved[r]
    return n_left


@inlined
def _multiply(targets, rows, scratch):
    """Inner products of the weighted targets of the rows of a node."""
    bits, n_planes, weights = targets.bits, targets.n_planes, targets.weights
    n_words = bits.shape[1] // n_planes
    for r in range(rows.shape[0]):
        scratch.place[rows[r]] = r
        for s in range(r + 1):
            product = np.int64(0)
            for a in range(n_planes):
                for b in range(n_planes):
                    for v in range(n_words):
                        product += _ones(bits[rows[r], a * n_words + v] & bits[rows[s], b * n_words + v])
            product *= weights[rows[r]] * weights[rows[s]]
            scratch.products[r, s] = product
            scratch.products[s, r] = product


@inlined
def _sum_products(rows, scratch):
    """Squared length of the sum of a node, and the inner product of each row with this sum."""
    place, products = scratch.place, scratch.products
    m = rows.shape[0]
    square = np.int64(0)
    for r in range(m):
        scratch.along[r] = 0
    for r in range(m):
        own = products[place[rows[r]]]
        along = np.int64(0)
        for s in range(r):
            product = own[place[rows[s]]]
            along += product
            scratch.along[s] += product
        scratch.along[r] += along + own[place[rows[r]]]
    for r in range(m):
        square += scratch.along[r]
    return square


@inlined
def _score_by_products(features, targets, limits, start, rows, weight, square, first, last, scratch):
    """Score splits, by the inner products within the smaller side of each."""
    m, least = rows.shape[0], max(limits.min_samples_leaf, 1)
    codes, place, products, weights = features.codes, scratch.place, scratch.products, targets.weights
    trials, scores, along, side = scratch.trials, scratch.scores, scratch.along, scratch.side
    everyone = np.uint64(0xFFFFFFFFFFFFFFFF) >> np.uint64(WORD - m)
    for trial in range(first, last):
        f, cutoff = trials[trial, _FEATURE], trials[trial, _CUTOFF]
        below = is_missing = np.uint64(0)
        for r in range(m):
            below |= np.uint64(np.int64(codes[f, start + r]) <= cutoff) << np.uint64(r)
        if trials[trial, _N_MISSING] > 0:
            for r in range(m):
                is_missing |= np.uint64(np.int64(codes[f, start + r]) == features.n_codes[f]) << np.uint64(r)
        scores[trial, 1] = -np.inf
        for missing_left in range(2 if trials[trial, _N_MISSING] > 0 else 1):
            mask = below | is_missing if missing_left == 1 else below
            n_left = _ones(mask)
            scores[trial, missing_left] = -np.inf
            if min(n_left, m - n_left) < least:
                continue
            if 2 * n_left > m:
                mask = everyone & ~mask
            own = with_all = own_weight = np.int64(0)
            t = 0
            while mask != np.uint64(0):
                r = _ones((mask & (~mask + np.uint64(1))) - np.uint64(1))  # the lowest bit that is set
                mask &= mask - np.uint64(1)
                at = place[rows[r]]
                within = np.int64(0)
                for s in range(t):
                    within += products[at, side[s]]
                own += 2 * within + products[at, at]
                with_all += along[r]
                own_weight += weights[rows[r]]
                side[t] = at
                t += 1
            scores[trial, missing_left] = own / own_weight + (square - 2 * with_all + own) / (weight - own_weight)


@inlined
def _assign_bits(targets, rows, scratch):
    """Give each row of a node as many bits, side by side in one word, as its weight."""
    word = bit = 0
    for r in range(rows.shape[0]):
        w = targets.weights[rows[r]]
        if bit + w > WORD:
            word += 1
            bit = 0
        scratch.word[r] = word
        scratch.word_end[word] = r + 1
        scratch.pattern[r] = (np.uint64(0xFFFFFFFFFFFFFFFF) >> np.uint64(WORD - w)) << np.uint64(bit)
        bit += w


@compiled_in_place
def _chunk_end(word, begin, m):
    """Where the rows end whose words are counted together with the first one."""
    end = begin
    while end < m and word[end] < word[begin] + WORDS_AT_ONCE:
        end += 1
    return end


@inlined
def _sum_bits(targets, rows, scratch):
    """Add up the bits of a node, and return the squared length of the sum; the columns of its last rows stay."""
    m, sums, known, columns, word = rows.shape[0], scratch.sums, scratch.known, scratch.columns, scratch.word
    whole, n_pairs = sums.shape[0] - 1, sums.shape[1]
    for c in range(n_pairs):
        sums[whole, c] = 0
        if targets.has_gaps:
            known[whole, c] = 0
    begin = 0
    while begin < m:
        end = _chunk_end(word, begin, m)
        _transpose(targets, rows, begin, end, word, scratch.block, columns)
        for v in range(word[end - 1] - word[begin] + 1):
            for plane in range(targets.n_planes):
                for c in range(n_pairs):
                    sums[whole, c] += _ones(columns[v, plane * n_pairs + c])
            if targets.has_gaps:
                for c in range(n_pairs):
                    known[whole, c] += _ones(columns[v, targets.n_planes * n_pairs + c])
        begin = end
    square = np.int64(0)
    for c in range(n_pairs):
        square += sums[whole, c] ** 2
    return square


@inlined
def _count(features, targets, start, rows, first, last, scratch):
    """Add up, for some trials, the bits of the rows that go left, and of those without a value."""
    m, trials, sums, masks, columns = rows.shape[0], scratch.trials, scratch.sums, scratch.masks, scratch.columns
    known = scratch.known
    word, pattern, n_pairs, n_planes = scratch.word, scratch.pattern, targets.n_pairs, targets.n_planes
    codes, word_end = features.codes, scratch.word_end
    for trial in range(first, last):
        trials[trial, _N_LEFT] = trials[trial, _LEFT_WEIGHT] = trials[trial, _MISSING_WEIGHT] = 0
        for c in range(n_pairs):
            sums[2 * trial, c] = sums[2 * trial + 1, c] = 0
            if targets.has_gaps:
                known[2 * trial, c] = known[2 * trial + 1, c] = 0
    begin = 0
    while begin < m:
        end = _chunk_end(word, begin, m)
        if begin > 0 or end < m:  # else the columns of all rows are there
            _transpose(targets, rows, begin, end, word, scratch.block, columns)
        n_words = word[end - 1] - word[begin] + 1
        for trial in range(first, last):
            f, cutoff = trials[trial, _FEATURE], trials[trial, _CUTOFF]
            cut = np.uint16(cutoff)
            has_missing = trials[trial, _N_MISSING] > 0
            n_left = 0
            r = begin
            for v in range(n_words):
                goes_left = np.uint64(0)
                for s in range(r, word_end[word[begin] + v]):
                    below = codes[f, start + s] <= cut
                    n_left += below
                    goes_left |= pattern[s] if below else np.uint64(0)
                r = word_end[word[begin] + v]
                masks[0, v] = goes_left
                trials[trial, _LEFT_WEIGHT] += _ones(goes_left)
            trials[trial, _N_LEFT] += n_left
            if has_missing:
                for v in range(n_words):
                    masks[1, v] = 0
                for r in range(begin, end):
                    if codes[f, start + r] == features.n_codes[f]:
                        masks[1, word[r] - word[begin]] |= pattern[r]
                for v in range(n_words):
                    trials[trial, _MISSING_WEIGHT] += _ones(masks[1, v])
            for v in range(n_words):
                for which in range(2 if has_missing else 1):
                    mask = masks[which, v]
                    for plane in range(n_planes):
                        for c in range(n_pairs):
                            sums[2 * trial + which, c] += _ones(columns[v, plane * n_pairs + c] & mask)
                    if targets.has_gaps:
                        for c in range(n_pairs):
                            known[2 * trial + which, c] += _ones(columns[v, n_planes * n_pairs + c] & mask)
        begin = end


@compiled_in_place
def _transpose(targets, rows, begin, end, word, block, columns):
    """Write, word by word, which of the rows have the bit of each pair."""
    bits, weights, n_pairs = targets.bits, targets.weights, targets.n_pairs
    n_words = bits.shape[1] // (targets.n_planes + targets.has_gaps)
    r = begin
    while r < end:
        after = r
        while after < end and word[after] == word[r]:
            after += 1
        for v in range(bits.shape[1]):
            at = 0
            for s in range(r, after):
                of_row = bits[rows[s], v]
                for _ in range(weights[rows[s]]):
                    block[at] = of_row
                    at += 1
            for empty in range(at, WORD):
                block[empty] = np.uint64(0)
            # Swap the off-diagonal quarters of the square of bits, then those of its quarters, and so on.
            half, low = 32, np.uint64(0x00000000FFFFFFFF)
            while half > 0:
                for first in range(0, WORD, 2 * half):
                    for a in range(first, first + half):
                        swap = ((block[a] >> np.uint64(half)) ^ block[a + half]) & low
                        block[a + half] ^= swap
                        block[a] ^= swap << np.uint64(half)
                half //= 2
                low ^= low << np.uint64(half)
            first = (v % n_words) * WORD
            to = (v // n_words) * n_pairs + first
            for c in range(min(WORD, n_pairs - first)):
                columns[word[r] - word[begin], to + c] = block[c]
        r = after


@inlined
def _score_of_known(scratch):
    """Score of a node whose pairs have weights of their own."""
    sums, known = scratch.sums, scratch.known
    whole = sums.shape[0] - 1
    score = 0.0
    for c in range(sums.shape[1]):
        score += np.float64(sums[whole, c]) ** 2 / np.float64(max(known[whole, c], 1))
    return score


@inlined
def _score_by_sums(min_samples_leaf, m, weight, has_gaps, first, last, scratch):
    """Score splits whose sides were added up."""
    trials, sums, known, scores = scratch.trials, scratch.sums, scratch.known, scratch.scores
    whole = sums.shape[0] - 1
    for trial in range(first, last):
        scores[trial, 1] = -np.inf
        for missing_left in range(2 if trials[trial, _N_MISSING] > 0 else 1):
            n_left = trials[trial, _N_LEFT] + missing_left * trials[trial, _N_MISSING]
            left_weight = trials[trial, _LEFT_WEIGHT] + missing_left * trials[trial, _MISSING_WEIGHT]
            scores[trial, missing_left] = -np.inf
            if min(n_left, m - n_left) < max(min_samples_leaf, 1):
                continue
            if has_gaps:
                score = 0.0
                for c in range(sums.shape[1]):
                    own = sums[2 * trial, c] + missing_left * sums[2 * trial + 1, c]
                    mass = known[2 * trial, c] + missing_left * known[2 * trial + 1, c]
                    rest, other = sums[whole, c] - own, known[whole, c] - mass
                    # Nobody who compares the pair: the sum is 0, too.
                    score += np.float64(own) ** 2 / np.float64(max(mass, 1))
                    score += np.float64(rest) ** 2 / np.float64(max(other, 1))
                scores[trial, missing_left] = score
                continue
            left_square = right_square = np.int64(0)
            for c in range(sums.shape[1]):
                own = sums[2 * trial, c] + missing_left * sums[2 * trial + 1, c]
                rest = sums[whole, c] - own
                left_square += own * own
                right_square += rest * rest
            scores[trial, missing_left] = left_square / left_weight + right_square / (weight - left_weight)


@compiled_in_place
def write_bits(positions, first, second, n_planes, has_gaps, bits, squares):
    """Write the bits of pairs of items of each ranking, and the squared length of each target."""
    n_words = bits.shape[1] // (n_planes + has_gaps)
    for r in range(positions.shape[0]):
        place = positions[r]
        for v in range(bits.shape[1]):
            bits[r, v] = 0
        ones = ties = 0
        for c in range(first.shape[0]):
            a, b = place[first[c]], place[second[c]]
            bit = np.uint64(1) << np.uint64(c % WORD)
            if a < b:
                bits[r, c // WORD] |= bit
                ones += 1
            is_tied = (a == b) & (a < np.inf)  # unlisted items are not compared
            if n_planes == 2 and (a < b or is_tied):
                bits[r, n_words + c // WORD] |= bit
                ties += is_tied
            if has_gaps and (a < b or a > b or is_tied):
                bits[r, n_planes * n_words + c // WORD] |= bit
        squares[r] = ones if n_planes == 1 else 4 * ones + ties
