"""Slow twins of the distances and agreement metrics, written from their definitions."""

from __future__ import annotations

from itertools import combinations

import numpy as np


def relation(x: float, y: float) -> str:
    """What a ranking says of a pair: one of < > tied unlisted missing."""
    if np.isnan(x) or np.isnan(y):
        return "missing"
    if np.isinf(x) and np.isinf(y):
        return "unlisted"
    return "<" if x < y else ">" if x > y else "tied"


def kendall(a, b, p=0.5, missing="ignore", weights=None, normalize=False):
    """Fagin's K^(p), pair by pair."""
    weights = np.ones(len(a)) if weights is None else weights
    total, pairs = 0.0, 0.0
    for i, j in combinations(range(len(a)), 2):
        ra, rb = relation(a[i], a[j]), relation(b[i], b[j])
        if "missing" in (ra, rb) and missing == "ignore":
            continue
        w = weights[i] * weights[j]
        pairs += w
        strict_a, strict_b = ra in "<>", rb in "<>"
        if strict_a and strict_b:
            total += w * (ra != rb)
        elif strict_a or strict_b:
            total += w * p
    if normalize:
        return total / pairs if pairs else np.nan
    return total


def midranks(row):
    """Average places by counting how many are before and how many are equal."""
    return np.array([np.nan if np.isnan(x) else np.sum(row < x) + (np.sum(row == x) + 1) / 2 for x in row])


def positional(a, b, metric, weights=None, normalize=False):
    """Spearman, footrule and Hamming distance over the common items."""
    common = ~(np.isnan(a) | np.isnan(b))
    m = int(common.sum())
    weights = np.ones(len(a)) if weights is None else np.asarray(weights)
    gap = midranks(a[common]) - midranks(b[common])
    terms = {"spearman": gap**2, "footrule": np.abs(gap), "hamming": gap != 0}[metric]
    value = float(np.sum(weights[common] * terms))
    if normalize:
        largest = {"spearman": m * (m**2 - 1) / 3, "footrule": m**2 // 2, "hamming": m}[metric]
        return value / largest if largest else np.nan
    return value


def weighted_kendall(a, b, swaps=None, weights=None, apart=None, p=0.5):
    """Kumar and Vassilvitskii's distance, pair by pair; swaps are the costs of all k - 1 pairs of places."""
    common = ~(np.isnan(a) | np.isnan(b))
    k = len(a)
    sums = np.concatenate([[0], np.cumsum(np.ones(k - 1) if swaps is None else swaps)])
    weights = np.ones(k) if weights is None else weights
    apart = np.ones((k, k)) if apart is None else apart
    x, y = np.full(k, np.nan), np.full(k, np.nan)
    x[common], y[common] = midranks(a[common]), midranks(b[common])

    def swap(i):
        if x[i] == y[i]:
            return 1.0
        at = np.interp([x[i], y[i]], np.arange(1, k + 1), sums)
        return (at[0] - at[1]) / (x[i] - y[i])

    total = 0.0
    for i, j in combinations(np.flatnonzero(common), 2):
        ra, rb = relation(a[i], a[j]), relation(b[i], b[j])
        strict = (ra in "<>") + (rb in "<>")
        share = {0: 0.0, 1: p, 2: float(ra != rb)}[strict]
        total += share * weights[i] * weights[j] * apart[i, j] * swap(i) * swap(j)
    return total


def tau(a, b, variant):
    """Kendall's coefficients over the pairs that both rankings compare; a is the truth."""
    count = dict.fromkeys(("concordant", "discordant", "a", "b", "both"), 0)
    for i, j in combinations(range(len(a)), 2):
        ra, rb = relation(a[i], a[j]), relation(b[i], b[j])
        if {ra, rb} & {"missing", "unlisted"}:
            continue
        if ra == rb == "tied":
            count["both"] += 1
        elif ra == "tied":
            count["a"] += 1
        elif rb == "tied":
            count["b"] += 1
        else:
            count["concordant" if ra == rb else "discordant"] += 1
    known = sum(count.values())
    c, d = count["concordant"], count["discordant"]
    numerator = c - d + (count["both"] if variant == "x" else 0)
    denominator = {
        "a": known,
        "b": np.sqrt((c + d + count["a"]) * (c + d + count["b"])),
        "x": known,
        "gamma": c + d,
    }[variant]
    if denominator:
        return numerator / denominator
    truth_orders_something = c + d + count["b"] > 0
    return 0.0 if truth_orders_something else np.nan
