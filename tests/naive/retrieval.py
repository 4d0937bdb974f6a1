"""Retrieval metrics of one query by definition: a value for each order of the rows, and the mean over orders."""

from __future__ import annotations

from itertools import permutations, product
from math import log2

import numpy as np


def orders(scores, key=None):
    """Every order, best first, that agrees with the scores (and, among equal scores, with the larger key first)."""
    rank = [(s, 0.0 if key is None else key[i]) for i, s in enumerate(scores)]
    retrieved = [i for i, s in enumerate(scores) if s != -np.inf]
    levels = sorted({rank[i] for i in retrieved}, reverse=True)
    blocks = [[i for i in retrieved if rank[i] == level] for level in levels]
    for choice in product(*(list(permutations(block)) for block in blocks)):
        yield [i for block in choice for i in block]


def dcg(gains, order, k):
    return sum(gains[i] / log2(place + 1) for place, i in enumerate(order[:k], start=1))


def ideal_dcg(gains, k):
    return dcg(gains, sorted(range(len(gains)), key=lambda i: -gains[i]), k)


def ndcg(gains, order, k):
    return dcg(gains, order, k) / ideal_dcg(gains, k)


def recall(relevant, order, k):
    return sum(relevant[i] for i in order[:k]) / sum(relevant)


def precision(relevant, order, k):
    places = len(order) if k is None else k
    return sum(relevant[i] for i in order[:k]) / places if places else 0.0


def reciprocal_rank(relevant, order, k):
    places = [place for place, i in enumerate(order[:k], start=1) if relevant[i]]
    return 1 / min(places) if places else 0.0


def hit(relevant, order, k):
    return float(any(relevant[i] for i in order[:k]))


def average_precision(relevant, order, k):
    total = 0.0
    for place, i in enumerate(order[:k], start=1):
        if relevant[i]:
            total += sum(relevant[j] for j in order[:place]) / place
    return total / sum(relevant)


def err(grades, order, k, max_grade):
    total, reached = 0.0, 1.0
    for place, i in enumerate(order[:k], start=1):
        satisfied = (2.0 ** grades[i] - 1) / 2.0**max_grade
        total += reached * satisfied / place
        reached *= 1 - satisfied
    return total


def mean_over_orders(metric, scores, key=None):
    values = [metric(order) for order in orders(scores, key)]
    return sum(values) / len(values)
