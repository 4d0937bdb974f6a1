"""Mean ranks and concordance by definition, one ranking, item and order at a time."""

from __future__ import annotations

from itertools import combinations, permutations, product

import numpy as np


def places_of(row: np.ndarray) -> dict[int, tuple[int, int]]:
    """First and last place that each item of a ranking may take, from 1; unlisted items share the last ones."""
    held = [i for i in range(len(row)) if not np.isnan(row[i])]
    places = {}
    for i in held:
        better = sum(row[j] < row[i] for j in held)
        same = sum(row[j] == row[i] for j in held)
        places[i] = (better + 1, better + same)
    return places


def compares(row: np.ndarray) -> bool:
    return bool(np.isfinite(row).any()) and int((~np.isnan(row)).sum()) > 1


def midranks(row: np.ndarray) -> np.ndarray:
    places = places_of(row)
    return np.array([sum(places[i]) / 2 if i in places else np.nan for i in range(len(row))])


def expected_ranks(row: np.ndarray) -> np.ndarray:
    """Mean rank of each item over all ways to put the missing items into the ranking, ties by their midranks."""
    held = [i for i in range(len(row)) if not np.isnan(row[i])]
    ranks = np.full(len(row), np.nan)
    ways = list(combinations(range(1, len(row) + 1), len(held)))  # the places that the items held take
    for i in held:
        first, last = places_of(row)[i]
        ranks[i] = np.mean([np.mean([way[place - 1] for place in range(first, last + 1)]) for way in ways])
    return ranks


def place_shares(positions: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Share of the rankings holding an item that have it at each place; unlisted items have none."""
    k = positions.shape[1]
    shares, total = np.zeros((k, k)), np.zeros(k)
    for row, weight in zip(positions, weights, strict=True):
        if not compares(row):
            continue
        for i, (first, last) in places_of(row).items():
            total[i] += weight
            if np.isfinite(row[i]):
                for place in range(first, last + 1):
                    shares[i, place - 1] += weight / (last - first + 1)
    with np.errstate(invalid="ignore"):
        return shares / total[:, np.newaxis]


def friedman(scores: list[np.ndarray], weights: np.ndarray, n_items: int) -> tuple[float, float]:
    """Statistic from sums and covariances of random orders of each ranking, and W by least squares.

    ``scores`` are the centered scores of each ranking, NaN where an item is missing.
    """
    sums, covariance = np.zeros(n_items), np.zeros((n_items, n_items))
    rows, values, row_weights = [], [], []
    for number, (row, weight) in enumerate(zip(scores, weights, strict=True)):
        held = np.flatnonzero(~np.isnan(row))
        orders = np.array(list(permutations(row[held])))
        for a, i in enumerate(held):
            sums[i] += weight * row[i]
            for b, j in enumerate(held):
                covariance[i, j] += weight**2 * np.mean(orders[:, a] * orders[:, b])
            design = np.zeros(n_items + len(scores))
            design[[i, n_items + number]] = 1
            rows.append(design)
            values.append(row[i])
            row_weights.append(weight)
    root = np.sqrt(row_weights)
    design, target = np.array(rows) * root[:, np.newaxis], np.array(values) * root
    left = target - design @ np.linalg.lstsq(design, target, rcond=None)[0]
    return float(sums @ np.linalg.pinv(covariance, rcond=1e-10) @ sums), float(1 - left @ left / (target @ target))


def exact_p(scores: list[np.ndarray], weights: np.ndarray, n_items: int) -> float:
    """Share of all orders of all rankings with at least the statistic of the given ones."""
    given = friedman(scores, weights, n_items)[0]
    choices = []
    for row in scores:
        held = np.flatnonzero(~np.isnan(row))
        options = []
        for order in permutations(row[held]):
            other = row.copy()
            other[held] = order
            options.append(other)
        choices.append(options)
    found = [friedman(list(one), weights, n_items)[0] >= given - 1e-9 for one in product(*choices)]
    return float(np.mean(found))
