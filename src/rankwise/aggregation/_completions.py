"""Full rankings in place of partial ones, for the mixtures: all that agree with each, or random ones with weights.

The probability of a partial ranking is the sum of those of its completions. `Rows` holds them for all rankings; where
they are too many, draws with importance weights estimate the sum (Monte Carlo).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rankwise._typing import BoolArray, FloatArray, IntArray
from rankwise.aggregation import _completions_jit

# Cells (rows times items) of all completions together: 8 bytes each, and some copies of them.
_MOST_CELLS = 1 << 23
# Draws for each ranking: as many as fit into this number of cells, within these limits.
_CELLS_OF_DRAWS = 1 << 21
_FEWEST_DRAWS, _MOST_DRAWS = 40, 400
# Share of the draws that are uniform: they bound the weights of completions that no component proposes.
_UNIFORM_SHARE = 0.1


class Rows(NamedTuple):
    """Rows that stand for rankings: row ``start[r]`` to ``start[r + 1]`` for ranking r, with weights.

    ``n_draws`` is 0 if the rows are all there are, and else the number of draws for each ranking with draws.
    """

    positions: FloatArray
    start: IntArray
    log_weight: FloatArray
    n_draws: int

    @property
    def single(self) -> bool:
        """Whether every ranking is one row."""
        return len(self.positions) == len(self.start) - 1

    @property
    def owner(self) -> IntArray:
        """The ranking of each row."""
        return np.repeat(np.arange(len(self.start) - 1), np.diff(self.start))


class Proposal(NamedTuple):
    """Where draws of completions gather: around centers, place by place, with these concentrations."""

    centers: FloatArray
    thetas: FloatArray


def unchanged(positions: FloatArray) -> Rows:
    """Every ranking as it is."""
    n = len(positions)
    return Rows(positions, np.arange(n + 1), np.zeros(n), 0)


def log_numbers(positions: FloatArray, *, ties_only: bool = False) -> FloatArray:
    """Logarithm of the number of completions of each ranking."""
    from scipy.special import gammaln

    k = positions.shape[1]
    places = np.where(np.isfinite(positions), positions, 0).astype(np.intp)
    sizes = np.zeros((len(positions), k + 1))
    np.add.at(sizes, (np.arange(len(positions))[:, np.newaxis], places), 1)
    within = gammaln(sizes[:, 1:] + 1).sum(axis=1)
    if ties_only:
        return np.asarray(within)
    unlisted = np.isposinf(positions).sum(axis=1)
    present = k - np.isnan(positions).sum(axis=1)
    return np.asarray(within + gammaln(unlisted + 1) + gammaln(k + 1) - gammaln(present + 1))


def can_list(positions: FloatArray, expand: BoolArray, *, ties_only: bool = False) -> bool:
    """Whether the completions of all chosen rankings can be listed."""
    logs = log_numbers(positions[expand], ties_only=ties_only)
    if not len(logs):
        return True
    return bool(logs.max() < 40) and float(np.exp(logs).sum()) * positions.shape[1] <= _MOST_CELLS


def listed(positions: FloatArray, expand: BoolArray, *, ties_only: bool = False) -> Rows:
    """All completions of the chosen rankings; the others as they are."""
    if not expand.any():
        return unchanged(positions)
    numbers = np.ones(len(positions), dtype=np.int64)
    numbers[expand] = np.rint(np.exp(log_numbers(positions[expand], ties_only=ties_only))).astype(np.int64)
    parts = [
        _completions_jit.completions(row, np.arange(number), ties_only) if chosen else row[np.newaxis]
        for row, number, chosen in zip(positions, numbers, expand, strict=True)
    ]
    start = np.concatenate([[0], np.cumsum(numbers)]).astype(np.intp)
    return Rows(np.concatenate(parts), start, np.zeros(start[-1]), 0)


def drawn(
    positions: FloatArray,
    expand: BoolArray,
    proposal: Proposal | None,
    rng: np.random.Generator,
) -> Rows:
    """Random completions of the chosen rankings, with importance weights; the others as they are.

    Without a proposal only ties are broken, all orders being equally likely.
    """
    ties_only = proposal is None
    k = positions.shape[1]
    n_draws = int(np.clip(_CELLS_OF_DRAWS // max(1, int(expand.sum()) * k), _FEWEST_DRAWS, _MOST_DRAWS))
    parts, weights = [], []
    logs = log_numbers(positions, ties_only=ties_only)
    for row, chosen, log_number in zip(positions, expand, logs, strict=True):
        if not chosen:
            parts.append(row[np.newaxis])
            weights.append(np.zeros(1))
        elif log_number <= np.log(n_draws):  # few enough to list them
            full = _completions_jit.completions(row, np.arange(round(np.exp(log_number))), ties_only)
            parts.append(full)
            weights.append(np.zeros(len(full)))
        elif proposal is None:
            parts.append(_ties_broken(row, n_draws, rng))
            weights.append(np.full(n_draws, log_number - np.log(n_draws)))
        else:
            full, log_density = _proposed(row, n_draws, proposal, rng)
            parts.append(full)
            weights.append(-log_density - np.log(n_draws))
    start = np.concatenate([[0], np.cumsum([len(part) for part in parts])]).astype(np.intp)
    return Rows(np.concatenate(parts), start, np.concatenate(weights), n_draws)


def _ties_broken(row: FloatArray, n: int, rng: np.random.Generator) -> FloatArray:
    full = np.tile(row, (n, 1))
    shift = np.where(np.isfinite(row), rng.random(full.shape) / 2, 0.0)
    ranks = np.argsort(np.argsort(full + shift, axis=1), axis=1) + 1.0
    return np.asarray(np.where(np.isfinite(full), ranks, full))


def _proposed(row: FloatArray, n: int, proposal: Proposal, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    g = len(proposal.thetas)
    n_wide = max(1, round(_UNIFORM_SHARE * n))
    sizes = np.append(np.full(g, (n - n_wide) // g), n_wide)
    sizes[0] += n - sizes.sum()
    # The wide part is the same law with theta 0: every item that may come next has the same chance.
    thetas = np.append(proposal.thetas, 0.0)
    centers = np.vstack([proposal.centers, proposal.centers[:1]])
    full = np.concatenate(
        [
            _completions_jit.draw_by_stages(row, center, float(theta), rng.random((size, len(row))))
            for center, theta, size in zip(centers, thetas, sizes, strict=True)
        ]
    )
    densities = np.stack(
        [
            _completions_jit.log_densities_by_stages(row, center, float(theta), full) + np.log(size / n)
            for center, theta, size in zip(centers, thetas, sizes, strict=True)
        ]
    )
    return full, np.asarray(np.logaddexp.reduce(densities, axis=0))
