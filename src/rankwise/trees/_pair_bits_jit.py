"""A compiled function that writes pairs of items as bits; `_pair_bits` calls it."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators

from __future__ import annotations

import numpy as np

from rankwise._compiled import compiled_in_place

# Bits of a word.
WORD = 64


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
