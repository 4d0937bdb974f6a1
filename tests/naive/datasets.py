"""Slow twins for drawing rankings, written from the definitions."""

from __future__ import annotations

from itertools import combinations, permutations

import numpy as np


def kendall_distance(a, b):
    """Pairs of items that two full rankings, given as positions, order differently."""
    return sum((a[i] < a[j]) != (b[i] < b[j]) for i, j in combinations(range(len(a)), 2))


def mallows_by_insertion(center, theta, uniforms):
    """One draw: insert the items of the center, best first, each some places above the end of a list."""
    k = len(center)
    listed = []
    for i, item in enumerate(np.argsort(center)):
        weights = np.exp(-theta * np.arange(i + 1.0)) if np.isfinite(theta) else (np.arange(i + 1) == 0) * 1.0
        cumulative = np.cumsum(weights) / np.sum(weights)
        up = min(int(np.searchsorted(cumulative, uniforms[i], side="right")), i)
        listed.insert(i - up, item)
    positions = np.empty(k)
    positions[listed] = np.arange(1.0, k + 1)
    return positions


def mallows_law(center, theta):
    """Probability of every full ranking: dict from positions to probability."""
    k = len(center)
    weight = {ranking: np.exp(-theta * kendall_distance(ranking, center)) for ranking in permutations(range(1, k + 1))}
    total = sum(weight.values())
    return {ranking: w / total for ranking, w in weight.items()}


def plackett_luce_law(log_worth):
    """Probability of every full ranking: dict from positions to probability."""
    k = len(log_worth)
    law = {}
    for order in permutations(range(k)):
        probability = 1.0
        for place in range(k):
            left = np.exp([log_worth[item] for item in order[place:]])
            probability *= left[0] / left.sum()
        positions = [0] * k
        for place, item in enumerate(order):
            positions[item] = place + 1
        law[tuple(positions)] = probability
    return law


def block_of_place(sizes):
    """Number of the block of each place, from 1."""
    blocks = []
    for number, size in enumerate(sizes, start=1):
        blocks += [number] * size
    return blocks


def mallows_on_names_law(positions, theta):
    """Probability of every observed ranking when a Mallows permutation of the names replaces each label by its image.

    Lists are o'[j] = p[o[j]], with p the images of the names 0, 1, ..., at Mallows distance from the identity.
    """
    k = len(positions)
    order = np.argsort(positions)
    law = {}
    for images, probability in mallows_law(tuple(range(1, k + 1)), theta).items():
        renamed = [0] * k
        for place, label in enumerate(order):
            renamed[images[label] - 1] = place + 1
        law[tuple(renamed)] = law.get(tuple(renamed), 0.0) + probability
    return law


def expected_over_pairs(law, value):
    """Expected ``value(place of i, place of j)`` under a law of rankings, for all pairs."""
    k = len(next(iter(law)))
    result = np.zeros((k, k))
    for ranking, probability in law.items():
        for i in range(k):
            for j in range(k):
                result[i, j] += probability * value(ranking[i], ranking[j])
    return result
