"""Slow twins of the models of choices, written from the definitions: sums over all buckets that could be chosen."""

from __future__ import annotations

from itertools import combinations

import numpy as np


def stages(row: np.ndarray) -> list[tuple[list[int], list[int]]]:
    """(bucket chosen, items it was chosen from), best first; unlisted items can be chosen but never are."""
    listed = sorted({place for place in row if np.isfinite(place)})
    result = []
    for place in listed:
        bucket = [i for i, p in enumerate(row) if p == place]
        left = [i for i, p in enumerate(row) if p >= place]  # False for NaN
        result.append((bucket, left))
    return result


def strength(bucket: tuple[int, ...] | list[int], log_worth: np.ndarray, ties: np.ndarray) -> float:
    """Weight of a bucket: the geometric mean of its worths times the strength of ties of its size."""
    size = len(bucket)
    factor = 1.0 if size == 1 else ties[size - 2] if size - 2 < len(ties) else 0.0
    return factor * float(np.exp(np.mean([log_worth[i] for i in bucket])))


def log_probability(row: np.ndarray, log_worth: np.ndarray, ties: np.ndarray) -> float:
    """Log probability of one ranking, given the items it holds."""
    total = 0.0
    for bucket, left in stages(row):
        sizes = range(1, min(len(ties) + 1, len(left)) + 1)
        every = sum(strength(other, log_worth, ties) for size in sizes for other in combinations(left, size))
        chosen = strength(bucket, log_worth, ties)
        total += np.log(chosen / every) if chosen > 0 else -np.inf
    return total


def log_likelihood(positions: np.ndarray, weights: np.ndarray, log_worth: np.ndarray, ties: np.ndarray) -> float:
    return sum(w * log_probability(row, log_worth, ties) for w, row in zip(weights, positions, strict=True) if w > 0)


def all_bucket_orders(n_items: int, largest: int) -> list[tuple[int, ...]]:
    """Every full ranking with buckets of at most ``largest`` items, as positions."""
    result: list[tuple[int, ...]] = []

    def extend(places: dict[int, int], place: int) -> None:
        left = [i for i in range(n_items) if i not in places]
        if not left:
            result.append(tuple(places[i] for i in range(n_items)))
        for size in range(1, min(largest, len(left)) + 1):
            for bucket in combinations(left, size):
                extend({**places, **dict.fromkeys(bucket, place)}, place + 1)

    extend({}, 1)
    return result


def pair_log_likelihood(
    games: list[tuple[int, int, str, float]], log_worth: np.ndarray, tie_strength: float, home_effect: float
) -> float:
    """Bradley-Terry with ties and home effect: games are (first, second, outcome, venue).

    The outcome is "first", "second" or "tie"; the venue 1 (first at home), -1 (second at home) or 0.
    """
    total = 0.0
    for first, second, outcome, venue in games:
        a = np.exp(log_worth[first] + home_effect * (venue == 1))
        b = np.exp(log_worth[second] + home_effect * (venue == -1))
        weight = {"first": a, "second": b, "tie": tie_strength * np.sqrt(a * b)}
        total += np.log(weight[outcome] / sum(weight.values()))
    return total


def information(value, theta: np.ndarray, step: float = 1e-4) -> np.ndarray:
    """Negative Hessian of a function by central differences."""
    n = len(theta)
    unit = np.eye(n) * step
    result = np.empty((n, n))
    for i in range(n):
        for j in range(n):
            corners = [value(theta + s * unit[i] + t * unit[j]) * s * t for s in (1, -1) for t in (1, -1)]
            result[i, j] = -sum(corners) / (4 * step**2)
    return result


def gradient(value, theta: np.ndarray, step: float = 1e-5) -> np.ndarray:
    """Gradient of a function by central differences."""
    unit = np.eye(len(theta)) * step
    return np.array([(value(theta + e) - value(theta - e)) / (2 * step) for e in unit])


def robust_covariance(log_probabilities, weights: np.ndarray, theta: np.ndarray, prior: float = 0.0) -> np.ndarray:
    """The sandwich of rows with survey weights, where the first of the parameters is held at its place.

    ``log_probabilities(theta)`` are those of the rows. A normal prior of this precision counts like further rows.
    """

    def value(free: np.ndarray) -> float:
        full = np.append(theta[0], free)
        return float(weights @ log_probabilities(full)) - prior / 2 * float(full @ full)

    n, steps = len(weights), 1e-5 * np.eye(len(theta))[1:]
    up, down = (np.array([log_probabilities(theta + sign * step) for step in steps]) for sign in (1, -1))
    scores = weights * (up - down) / 2e-5
    bread = np.linalg.inv(information(value, theta[1:]))
    return bread @ (n / (n - 1) * scores @ scores.T + prior * np.eye(len(bread))) @ bread


def place_shares(consensus_positions: list[np.ndarray]) -> np.ndarray:
    """Mean share of each place (column) of each item (row); ties are averaged over all ways to break them."""
    k = len(consensus_positions[0])
    shares = np.zeros((k, k))
    for row in consensus_positions:
        for i in range(k):
            above = [j for j in range(k) if row[j] < row[i]]
            level = [j for j in range(k) if row[j] == row[i]]
            for place in range(len(above), len(above) + len(level)):
                shares[i, place] += 1 / len(level) / len(consensus_positions)
    return shares


def before_shares(consensus_positions: list[np.ndarray]) -> np.ndarray:
    """Mean share of "row before column", a tie counting half."""
    k = len(consensus_positions[0])
    shares = np.zeros((k, k))
    for row in consensus_positions:
        for i in range(k):
            for j in range(k):
                ahead = 1.0 if row[i] < row[j] else 0.5 if row[i] == row[j] else 0.0
                shares[i, j] += ahead / len(consensus_positions)
    return shares


def best_worst_probability(
    shown: list[int], best: int, worst: int, log_worth: np.ndarray, law: str = "maxdiff"
) -> float:
    """Probability that of the items shown one is named best and another worst."""
    worth = np.exp(log_worth)
    if law == "maxdiff":
        every = sum(worth[i] / worth[j] for i in shown for j in shown if i != j)
        return worth[best] / worth[worst] / every
    rest = [i for i in shown if i != best]
    return worth[best] / sum(worth[shown]) * (1 / worth[worst]) / sum(1 / worth[rest])
