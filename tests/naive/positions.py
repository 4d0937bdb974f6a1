"""What positions mean, written from the definitions: slow, plain, importing nothing of the library."""

from __future__ import annotations

import math

import numpy as np


def parts(row) -> tuple[list[set[int]], set[int], set[int]]:
    """The buckets of tied items (best first), the unlisted items, the missing items."""
    missing = {i for i, place in enumerate(row) if math.isnan(place)}
    unlisted = {i for i, place in enumerate(row) if place == math.inf}
    places = sorted({place for place in row if not math.isnan(place) and place != math.inf})
    return [{i for i, place in enumerate(row) if place == best} for best in places], unlisted, missing


def before(buckets, unlisted, n_items: int) -> np.ndarray:
    """Whether a comes before b: in a better bucket, or listed where b is unlisted. Missing items never compare."""
    relation = np.zeros((n_items, n_items), dtype=bool)
    groups = [*buckets, set(unlisted)]
    for better in range(len(groups)):
        for worse in range(better + 1, len(groups)):
            for a in groups[better]:
                for b in groups[worse]:
                    relation[a, b] = True
    return relation


def dense(row) -> list[float]:
    """Place 1 for the best bucket, 2 for the next."""
    buckets, unlisted, _ = parts(row)
    place = {item: number + 1.0 for number, bucket in enumerate(buckets) for item in bucket}
    return [place.get(i, math.inf if i in unlisted else math.nan) for i in range(len(row))]


def midranks(row) -> list[float]:
    """The mean of the places that a bucket fills; the unlisted items are the last bucket."""
    buckets, unlisted, _ = parts(row)
    result = [math.nan] * len(row)
    filled = 0
    for bucket in [*buckets, unlisted]:
        places = range(filled + 1, filled + len(bucket) + 1)
        for item in bucket:
            result[item] = sum(places) / len(places)
        filled += len(bucket)
    return result


def pair_counts(positions, weights) -> np.ndarray:
    """Weight of the rankings that put row before column."""
    counts = np.zeros((positions.shape[1],) * 2)
    for row, weight in zip(positions, weights, strict=True):
        buckets, unlisted, _ = parts(row)
        counts += weight * before(buckets, unlisted, len(row))
    return counts


def group(positions, weights) -> list[tuple[tuple, float]]:
    """Distinct rankings (as nested tuples) with the sums of their weights, in order of first appearance."""
    totals: dict[tuple, float] = {}
    for row, weight in zip(positions, weights, strict=True):
        buckets, unlisted, missing = parts(row)
        key = (tuple(tuple(sorted(b)) for b in buckets), tuple(sorted(unlisted)), tuple(sorted(missing)))
        totals[key] = totals.get(key, 0.0) + weight
    return list(totals.items())
