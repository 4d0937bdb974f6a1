"""Kendall distances between all rankings, compared to a loop over scipy.stats.kendalltau.

The loop is timed on a sample of the pairs and extrapolated, because it would take an hour.
"""

from __future__ import annotations

import numpy as np
from common import arguments, best_seconds, save
from scipy.stats import kendalltau

from rankwise.distances import pairwise_distances


def main() -> None:
    options = arguments(__doc__)
    rng = np.random.default_rng(options.seed)
    n = 300 if options.quick else 2000
    rows = []
    for kind in ("full", "tied"):
        for k in (10, 100):
            positions = np.argsort(rng.random((n, k)), axis=1) + 1
            if kind == "tied":
                positions = np.ceil(positions / 2)
            i, j = rng.integers(0, n, (2, 2000))
            pairs = list(zip(positions[i], positions[j], strict=True))
            seconds = best_seconds(
                {
                    "rankwise": lambda p=positions: pairwise_distances(p),
                    "scipy": lambda p=pairs: [kendalltau(a, b) for a, b in p],
                },
                rounds=3,
            )
            ours, theirs = seconds["rankwise"], seconds["scipy"] / len(pairs) * n * n
            if kind == "full":
                tau = np.array([kendalltau(a, b).statistic for a, b in pairs])
                distance = pairwise_distances(positions)[i, j]
                np.testing.assert_allclose(distance, (1 - tau) * k * (k - 1) / 4, atol=1e-9)
            row = {"n": n, "k": k, "kind": kind, "rankwise_s": ours, "scipy_loop_s": theirs, "ratio": theirs / ours}
            rows.append(row)
            print(f"{n} x {n}, {k:3d} items, {kind}: {ours:7.3f} s, scipy loop {theirs:8.1f} s: {row['ratio']:7.0f} x")
    save("pairwise_distances", rows, options, [])


if __name__ == "__main__":
    main()
