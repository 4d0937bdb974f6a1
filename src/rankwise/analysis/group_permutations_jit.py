"""The compiled loop that permutes labels of groups; see `group_permutations`."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators

from __future__ import annotations

from rankwise._compiled import compiled


@compiled
def shuffle_labels(labels, starts, uniforms, out):
    """Labels in random order within each stratum, from ``starts[s]`` to ``starts[s + 1]``: a row for each shuffle."""
    n_shuffles, n = uniforms.shape
    for b in range(n_shuffles):
        for r in range(n):
            out[b, r] = labels[r]
        for s in range(len(starts) - 1):
            first = starts[s]
            for r in range(starts[s + 1] - 1, first, -1):
                # A number just below 1 may be rounded up.
                other = min(r, first + int(uniforms[b, r] * (r - first + 1)))
                kept = out[b, r]
                out[b, r] = out[b, other]
                out[b, other] = kept
