"""Kemeny's consensus with a proof: how long for Mallows and uniform profiles of 100 rankings, and at size.

Peers that solve the same problem exactly (corankco, pref_voting) are not installed with the benchmarks: they need a
commercial solver, or enumerate all permutations. The figures here are our own seconds, with the gap left.
"""

from __future__ import annotations

import time

import numpy as np
from common import arguments, save

from rankwise import Rankings
from rankwise.aggregation import kemeny, kemeny_batch, sample_mallows


def main() -> None:
    options = arguments(__doc__)
    kemeny(sample_mallows(np.arange(1, 21), 0.02, 100, random_state=0))  # compiles
    cases = [(20, 0.98), (50, 0.98), (100, 0.98), (300, 0.98), (50, 1.0), (60, 1.0)]
    rows = []
    for k, phi in cases[:3] if options.quick else cases:
        rankings = sample_mallows(np.arange(1, k + 1), -np.log(phi), 100, random_state=options.seed + 1)
        start = time.perf_counter()
        result = kemeny(rankings, random_state=0)
        seconds = time.perf_counter() - start
        rows.append({"items": k, "phi": phi, "rankings": 100, "seconds": seconds, "gap": result.gap})
        print(f"{k:4d} items, phi {phi:.2f}, 100 rankings: {seconds:7.3f} s, gap {result.gap:.2g}")
    n = 10_000 if options.quick else 1_000_000
    rankings = Rankings(sample_mallows(np.arange(1, 21), 0.1, n, random_state=options.seed))
    start = time.perf_counter()
    result = kemeny(rankings, random_state=0)
    seconds = time.perf_counter() - start
    rows.append({"items": 20, "phi": float(np.exp(-0.1)), "rankings": n, "seconds": seconds, "gap": result.gap})
    print(f"  20 items, {n:,} rankings: {seconds:.3f} s, gap {result.gap:.2g}")
    rng = np.random.default_rng(options.seed)
    for k in (5, 10):
        wins = rng.random((20_000, k, k))
        shares = wins / (wins + wins.transpose(0, 2, 1))
        kemeny_batch(shares[:2])
        start = time.perf_counter()
        kemeny_batch(shares)
        per_second = len(shares) / (time.perf_counter() - start)
        rows.append({"items": k, "medians_per_second": per_second})
        print(f"{k:4d} items, random matrices: {per_second:,.0f} medians/s")
    save("consensus", rows, options, ["highspy"])


if __name__ == "__main__":
    main()
