"""Losses and lambda gradients from their definition: every pair is exchanged, and the metric recomputed."""

from __future__ import annotations

from itertools import permutations, product

import numpy as np
from scipy.optimize import minimize_scalar

BINARY = ("map", "mrr", "precision", "recall", "hit_rate")


def metric_of(name, grades, k, ideal_places=None, highest=None):
    """Value of a ranking given by the grades from best place to worst."""
    places = np.arange(1, len(grades) + 1)
    counts = places <= k
    relevant = grades > 0
    if name in ("ndcg", "dcg"):
        gains = 2.0**grades - 1
        value = np.sum(gains / np.log2(places + 1) * counts)
        if name == "dcg":
            return value
        best = np.sort(gains)[::-1] / np.log2(places + 1) * (places <= min(k, ideal_places))
        return value / best.sum() if best.sum() > 0 else 0.0
    if name == "precision":
        return np.sum(relevant * counts) / k
    if name == "recall":
        return np.sum(relevant * counts) / relevant.sum() if relevant.any() else 0.0
    if name == "hit_rate":
        return float(np.any(relevant & counts))
    if name == "mrr":
        hits = places[relevant & counts]
        return 1 / hits[0] if len(hits) else 0.0
    if name == "map":
        precision = np.cumsum(relevant) / places
        return np.sum(precision * relevant * counts) / relevant.sum() if relevant.any() else 0.0
    if name == "err":
        stop = (2.0**grades - 1) / 2.0**highest
        value, reached = 0.0, 1.0
        for place, r in zip(places, stop, strict=True):
            value += reached * r / place * (place <= k)
            reached *= 1 - r
        return value
    raise ValueError(name)


def pair_weight(name, grades, order, a, b, k, truncation, highest):
    """Weight of the pair at places a < b (from 0) of the ranking ``order``."""
    if a >= truncation:
        return 0.0
    if name == "none":
        return 1.0
    if name == "lambdaloss":
        gains = 2.0**grades - 1
        best = np.sum((np.sort(gains)[::-1] / np.log2(np.arange(2, len(gains) + 2)))[: min(k, truncation)])
        bound = 1 / np.log2(b - a + 1) - 1 / np.log2(b - a + 2)
        change = 1 / np.log2(a + 2) - 1 / np.log2(b + 2)
        return abs(gains[order[a]] - gains[order[b]]) * (change + 10 * bound) / best if best > 0 else 0.0
    if name == "yetirank":
        return abs(grades[order[a]] - grades[order[b]]) * 0.85**a if b == a + 1 else 0.0
    ranked = grades[list(order)]
    exchanged = ranked.copy()
    exchanged[[a, b]] = ranked[[b, a]]
    values = [metric_of(name, r, k, truncation, highest) for r in (ranked, exchanged)]
    return abs(values[1] - values[0])


def orders_of(score):
    """All orders of the rows by descending score, one for each way to break ties."""
    blocks = [np.flatnonzero(score == value) for value in np.unique(score)[::-1]]
    for parts in product(*(permutations(block) for block in blocks)):
        yield [row for part in parts for row in part]


def weight_matrix(name, grades, score, k=None, truncation=None, highest=None):
    """W[i, j]: weight of i against j where i is more relevant, averaged over the orders of ties; else 0."""
    n = len(grades)
    k = n if k is None else k
    truncation = n if truncation is None else truncation
    level = (grades > 0).astype(float) if name in BINARY else grades
    weights = np.zeros((n, n))
    orders = list(orders_of(score))
    for order in orders:
        for a in range(n):
            for b in range(a + 1, n):
                value = pair_weight(name, grades, order, a, b, k, truncation, highest)
                i, j = (order[a], order[b]) if level[order[a]] > level[order[b]] else (order[b], order[a])
                if level[i] > level[j]:
                    weights[i, j] += value / len(orders)
    return weights


def pairwise_loss(weights, score, sigma=1.0):
    """Logistic loss of the pairs with these weights."""
    gaps = score[:, None] - score[None, :]
    return np.sum(weights * np.logaddexp(0, -sigma * gaps))


def gradients(weights, score, sigma=1.0):
    """First and second derivatives of the loss, pair by pair."""
    slope, bend = np.zeros(len(score)), np.zeros(len(score))
    for i, j in np.argwhere(weights > 0):
        wrong = 1 / (1 + np.exp(sigma * (score[i] - score[j])))
        slope[i] -= sigma * weights[i, j] * wrong
        slope[j] += sigma * weights[i, j] * wrong
        bend[i] += sigma**2 * weights[i, j] * wrong * (1 - wrong)
        bend[j] += sigma**2 * weights[i, j] * wrong * (1 - wrong)
    return slope, bend


def margin_loss(grades, score, weights, hinge):
    """Mean over pairs of the squares of 1 - margin, pair by pair, and its gradient."""
    value, gradient, n_pairs = 0.0, np.zeros(len(score)), 0
    for i, j in product(range(len(score)), repeat=2):
        if grades[i] > grades[j]:
            n_pairs += 1
            short = 1 - (score[i] - score[j])
            if not hinge or short > 0:
                weight = np.sqrt(weights[i] * weights[j])
                value += weight * short**2
                gradient[i] -= 2 * weight * short
                gradient[j] += 2 * weight * short
    return value / max(n_pairs, 1), gradient / max(n_pairs, 1)


def loss_after_shift(name, t, z):
    """Loss of one query with the shift that makes it least, which is searched for."""
    if name == "query_rmse":
        return minimize_scalar(lambda b: np.mean((t + b - z) ** 2)).fun
    if name == "query_cross_entropy":
        return minimize_scalar(
            lambda b: np.mean(np.logaddexp(0, t + b) - z * (t + b)), bounds=(-60, 60), options={"xatol": 1e-10}
        ).fun
    total = z.sum()
    if total == 0:
        return 0.0
    # Poisson regression, but for what does not depend on t.
    least = minimize_scalar(lambda b: np.sum(np.exp(t + b) - z * (t + b)), (-9, 9)).fun
    return least - (total - total * np.log(total))


def loss_of_query(name, t, z):
    """Loss of one query from its definition."""
    n = len(t)
    pairs = [(i, j) for i in range(n) for j in range(n) if z[i] > z[j]]
    gaps = np.array([t[i] - t[j] for i, j in pairs])
    if name == "pointwise_squared":
        return np.mean((t - z) ** 2)
    if name == "pointwise_logistic":
        return np.mean(-z * t + np.log(1 + np.exp(t)))
    if name == "pairwise_logistic":
        return np.mean(np.log(1 + np.exp(-gaps))) if pairs else 0.0
    if name == "pairwise_hinge":
        return np.mean(np.maximum(0, 1 - gaps)) if pairs else 0.0
    if name == "lambdarank":
        return pairwise_loss(weight_matrix("ndcg", z, t), t)
    if name.startswith("query"):
        return loss_after_shift(name, t, z)
    return loss_of_list(name, t, z)


def loss_of_list(name, t, z):
    """Listwise loss of one query from its definition."""
    n = len(t)
    log_softmax = t - np.log(np.exp(t).sum())
    if name == "listwise_softmax":
        return -np.sum(z / z.sum() * log_softmax) if z.any() else 0.0
    if name == "listwise_listnet":
        return -np.sum(np.exp(z) / np.exp(z).sum() * log_softmax)
    if name == "listwise_approx_ndcg":
        gains = 2**z - 1
        ideal = np.sum(np.sort(gains)[::-1] / np.log2(np.arange(2, n + 2)))
        places = [1 + sum(1 / (1 + np.exp(-(t[j] - t[i]) / 0.1)) for j in range(n) if j != i) for i in range(n)]
        return 1 - np.sum(gains / np.log2(1 + np.array(places))) / ideal if ideal else 0.0
    ranked = t[np.argsort(-z, kind="stable")]
    alpha = np.ones(n)
    if name == "listwise_plistmle":
        alpha = 2.0 ** (n - np.arange(1, n + 1)) - 1
        alpha = alpha / alpha[0] if n > 1 else alpha
    return sum(-alpha[k] * np.log(np.exp(ranked[k]) / np.exp(ranked[k:]).sum()) for k in range(n))
