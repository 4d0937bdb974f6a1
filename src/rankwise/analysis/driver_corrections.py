"""What rankers miss of the effect of a feature, and how sure that is; for the effects of `drivers`.

A forest flattens steep effects. What it misses shows in people it has not learned from: their residuals still go with
the feature. They are regressed on the feature, with all other features taken out of it (Robinson 1988), and the fit is
added to the effect. Errors of the ranker in the other features then matter at second order only, so that intervals
come from the residuals alone (Chernozhukov et al. 2018).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rankwise._typing import FloatArray, IntArray
from rankwise.analysis.driver_features import DriverFeatures

# A regression on all other features keeps so many people for each column of the design.
_PEOPLE_PER_COLUMN = 5
# So many numbers in one block of people, pairs, and columns of the basis or values of the grid.
_BLOCK = 4_000_000
# The first and last pieces of a line go on beyond the grid by this share of it; what is farther out counts as there.
_BEYOND = 0.25
# The influence of one person on a residual of their own is taken out, up to this share of it.
_MOST_LEVERAGE = 0.99


class Residuals(NamedTuple):
    """What rankings say beyond predictions for people who were not learned from, by pair of items.

    Attributes
    ----------
    values : ndarray of shape (n, n_pairs)
        1, 1/2 or 0, the first before the second item, less its predicted probability; 0 where not compared.
    compared : ndarray of shape (n, n_pairs)
        Whether somebody compares both items.
    first, second : ndarrays of shape (n_pairs,)
        The items.
    weights : ndarray of shape (n,)
        Weights of the people.
    people : bool
        Whether weights count people.
    """

    values: FloatArray
    compared: FloatArray
    first: IntArray
    second: IntArray
    weights: FloatArray
    people: bool


class Correction(NamedTuple):
    """What to add to a feature's mean predictions at the values of a grid.

    Attributes
    ----------
    pairs : ndarray of shape (n_values, n_pairs)
        To the probability that the first item comes before the second.
    influence : ndarray of shape (n_values, n, n_items)
        By how much each person moves the expected place of each item.
    degrees : int
        Degrees of freedom that the residuals have left.
    """

    pairs: FloatArray
    influence: FloatArray
    degrees: int

    def standard_error(self, influence: FloatArray, residuals: Residuals) -> FloatArray:
        """The error of sums over people (axis -2) of their influence, weighed as people or as survey weights."""
        weights = residuals.weights if residuals.people else residuals.weights**2
        return np.sqrt(np.einsum("...ij,i->...j", influence**2, weights))


def correction(features: DriverFeatures, column: int, grid: FloatArray, residuals: Residuals) -> Correction:
    """What the residuals say of one feature, if all others are taken out of it."""
    values = features.values[:, column]
    known = ~np.isnan(values)
    weights = residuals.weights * known
    nominal = bool(features.is_nominal[column])
    basis, at_grid = _basis(values, grid, nominal), _basis(grid, grid, nominal)
    basis[~known] = 0.0
    controls = _controls(features, column, int(weights.astype(bool).sum()) // _PEOPLE_PER_COLUMN)
    # The weighted regression on the controls, as a matrix that makes coefficients of values.
    to_coef = np.linalg.pinv(controls.T @ (weights[:, None] * controls), hermitian=True) @ (weights * controls.T)
    design = _Design(basis, basis - controls @ (to_coef @ basis), controls, to_coef)
    n, n_items = len(values), int(residuals.second.max()) + 1
    pairs = np.zeros((len(grid), len(residuals.first)))
    influence = np.zeros((len(grid), n, n_items))
    step = max(_BLOCK // max(n * max(basis.shape[1], len(grid)), 1), 1)
    for start in range(0, len(residuals.first), step):
        block = slice(start, start + step)
        compared = residuals.compared[:, block] * weights[:, None]
        found, parts = _of_pairs(design, at_grid, compared, residuals.values[:, block])
        pairs[:, block] = found
        # A person who puts the first item before the second moves the second back, and the first forward.
        for item, sign in ((residuals.second[block], 1.0), (residuals.first[block], -1.0)):
            to_item = np.zeros((len(item), n_items))
            to_item[np.arange(len(item)), item] = sign
            influence += parts @ to_item
    return Correction(pairs, influence, max(int(known.sum()) - basis.shape[1] - controls.shape[1], 1))


class _Design(NamedTuple):
    """The basis of a feature, what is left of it without the controls, the controls, and the regression on them."""

    basis: FloatArray
    alone: FloatArray
    controls: FloatArray
    to_coef: FloatArray


def _of_pairs(
    design: _Design, at_grid: FloatArray, weights: FloatArray, values: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Corrections of shape (n_values, n_pairs), and influences of people of shape (n_values, n, n_pairs)."""
    total = weights.sum(axis=0)
    share = np.divide(weights, total, out=np.zeros_like(weights), where=total > 0)
    mean = (share * values).sum(axis=0)
    centered = design.alone[:, None] - (share[:, :, None] * design.alone[:, None]).sum(axis=0)
    gram = np.einsum("ip,ipa,ipb->pab", weights, centered, centered)
    inverse = np.linalg.pinv(gram, rcond=1e-9, hermitian=True)
    scores = np.einsum("pab,ipb->ipa", inverse, centered)
    slopes = np.einsum("ip,ipa->pa", weights * (values - mean), scores)
    center = share.T @ design.basis
    left = (values - design.basis @ slopes.T) * (weights > 0)
    # Who does not compare a pair has no residual: what others of a pair have stands for all.
    portion = total / max(float(weights.max(axis=1).sum()), 1e-300)
    left -= design.controls @ (design.to_coef @ left) / np.where(portion > 0, portion, 1.0)
    of_controls = np.einsum("ic,ci->i", design.controls, design.to_coef)[:, None]
    leverage = of_controls + weights * np.einsum("ipa,ipa->ip", scores, centered)
    left *= (weights > 0) / np.sqrt(1 - np.minimum(leverage, _MOST_LEVERAGE))
    # Without its weight: the standard error weighs each person once.
    each = np.divide(1.0, total, out=np.zeros_like(total), where=total > 0) * (weights > 0)
    from_mean = at_grid[:, None] - center
    toward = np.einsum("vpa,ipa->vip", from_mean, scores) * (weights > 0)
    return mean + np.einsum("vpa,pa->vp", from_mean, slopes), (each + toward) * left


def _basis(values: FloatArray, grid: FloatArray, nominal: bool) -> FloatArray:
    """A column for each category of the grid but the first; or a line for numbers, with bends if there are many."""
    if nominal:
        return (values[:, None] == grid[1:]).astype(float)
    low, high = grid[0], grid[-1]
    place = np.clip((values - low) / (high - low), -_BEYOND, 1 + _BEYOND)
    bends = (grid[[len(grid) // 3, (2 * len(grid)) // 3]] - low) / (high - low) if len(grid) >= 6 else []
    return np.column_stack([place, *(np.maximum(place - bend, 0.0) for bend in bends)])


def _controls(features: DriverFeatures, column: int, most: int) -> FloatArray:
    """All other features as columns, 1 for everybody among them; of too many, their first principal components."""
    columns = []
    for other in range(features.values.shape[1]):
        if other == column:
            continue
        values = features.values[:, other]
        known = ~np.isnan(values)
        if features.is_nominal[other]:
            categories = np.unique(values[known])
            columns += [(values == category).astype(float) for category in categories[1:]]
        else:
            spread = values[known].std() or 1.0
            columns.append(np.where(known, (values - values[known].mean()) / spread, 0.0))
        if not known.all():
            columns.append((~known).astype(float))
    ones = np.ones((len(features.values), 1))
    if not columns:
        return ones
    others = np.column_stack(columns)
    others -= others.mean(axis=0)
    if others.shape[1] > max(most, 1):
        others = np.linalg.svd(others, full_matrices=False)[0][:, : max(most, 1)]
    return np.hstack([ones, others])
