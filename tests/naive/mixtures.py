"""Slow twins of the mixtures of ranking models: laws over all rankings, and expectation maximization by search."""

from __future__ import annotations

from itertools import permutations

import numpy as np
from scipy.optimize import minimize, minimize_scalar

from tests.naive import models


def plackett_luce_law(log_worth):
    """Probability of every row of `models.all_rankings`."""
    worth = np.exp(np.asarray(log_worth) - np.max(log_worth))
    law = []
    for row in models.all_rankings(len(worth)):
        order = np.argsort(row)
        law.append(np.prod([worth[order[t]] / worth[order[t:]].sum() for t in range(len(order))]))
    return np.array(law)


def coarse(law, rows, k):
    """Probability of partial rankings: of all full rankings that agree with each."""
    full = models.all_rankings(k)
    return np.array([law[[models.agrees(ranking, row) for ranking in full]].sum() for row in rows])


def incomplete_plackett_luce(log_worth, row):
    """Probability of a ranking without ties among the items that it holds."""
    worth = np.exp(log_worth)
    order = np.argsort(row, kind="stable")[: int((~np.isnan(row)).sum())]
    return np.prod([worth[i] / worth[order[t:]].sum() for t, i in enumerate(order) if np.isfinite(row[i])])


def mixture_log_likelihood(laws, shares, rows, k, weights):
    mixed = sum(share * coarse(law, rows, k) for share, law in zip(shares, laws, strict=True))
    return float(weights @ np.log(mixed))


def mallows_em(rows, weights, distance, posterior, n_iter):
    """EM for a Mallows mixture over all centers: (shares, centers, thetas, log likelihoods of all iterations)."""
    rows, k = np.asarray(rows, dtype=float), len(rows[0])
    full = models.all_rankings(k)
    agree = np.array([[models.agrees(ranking, row) for ranking in full] for row in rows], dtype=float)
    distances = np.array(
        [[models.DISTANCES[distance](row, list(c)) for row in full.tolist()] for c in permutations(range(1, k + 1))]
    )
    inside = agree / agree.sum(axis=1, keepdims=True)
    shares, centers, thetas, path = None, None, None, []
    for _ in range(n_iter):
        counts = weights[:, None] * posterior
        shares = counts.sum(axis=0) / counts.sum()
        laws, centers, thetas = [], [], []
        for g in range(posterior.shape[1]):
            spread = inside if inside.ndim == 2 else inside[g]
            mass = counts[:, g] @ spread
            totals = distances @ mass
            best = int(np.argmin(totals))
            centers.append(full[best])
            d = distances[best]

            def loss(theta, d=d, total=totals[best], mass=mass):
                return theta * total + mass.sum() * np.log(np.exp(-theta * d).sum())

            theta = minimize_scalar(loss, bounds=(0, 30), method="bounded", options={"xatol": 1e-10}).x
            thetas.append(theta)
            law = np.exp(-theta * d)
            laws.append(law / law.sum())
        probability = np.stack([agree @ law for law in laws], axis=1)
        inside = np.stack([agree * law / p[:, None] for law, p in zip(laws, probability.T, strict=True)])
        joint = shares * probability
        path.append(float(weights @ np.log(joint.sum(axis=1))))
        posterior = joint / joint.sum(axis=1, keepdims=True)
    return shares, np.array(centers), np.array(thetas), path


def plackett_luce_em(rows, weights, posterior, alpha, n_iter):
    """EM for a Plackett-Luce mixture by general optimization: (shares, log worths, penalized log likelihoods)."""
    rows = np.asarray(rows, dtype=float)
    n_components, k = posterior.shape[1], rows.shape[1]
    log_worths, path = np.zeros((n_components, k)), []
    for _ in range(n_iter):
        counts = weights[:, None] * posterior
        shares = counts.sum(axis=0) / counts.sum()
        for g in range(n_components):

            def loss(u, count=counts[:, g]):
                logs = np.log([incomplete_plackett_luce(u, row) for row in rows])
                return -(count @ logs) + alpha / 2 * u @ u

            log_worths[g] = minimize(loss, log_worths[g], method="BFGS", options={"gtol": 1e-7}).x
        probability = np.array([[incomplete_plackett_luce(u, row) for u in log_worths] for row in rows])
        joint = shares * probability
        path.append(float(weights @ np.log(joint.sum(axis=1))) - alpha / 2 * np.square(log_worths).sum())
        posterior = joint / joint.sum(axis=1, keepdims=True)
    return shares, log_worths, path
