r"""Distributions of Mallows models with the footrule and Spearman distances: sums over all placements of items.

Their normalizers are permanents of :math:`e^{-\theta c(|i - j|)}`. For the footrule, ends still open at a cut between
two places all cost the same, so counting them is enough: exact in O(k^2). For squared differences, sums over sets of
places are exact up to `MOST_ITEMS_EXACT` items, and particles estimate them up to `MOST_ITEMS`.
"""

from __future__ import annotations

from functools import cached_property
from itertools import permutations

import numpy as np

from rankwise._sklearn import gen_batches
from rankwise._typing import FloatArray
from rankwise.aggregation import _placements_jit
from rankwise.aggregation._mallows_laws import DistanceLaw, assigned_center, borda_center
from rankwise.data import Rankings
from rankwise.distances import footrule_distance, spearman_distance

#: sums over 2^18 sets take 6 MB and some hundredths of a second; each further item doubles both
MOST_ITEMS_EXACT = 18
#: beyond this, the estimate of the Spearman normalizer takes seconds and errs by more than a tenth
MOST_ITEMS = 100
# The permutations of 8 places fit into a small table.
_MOST_ITEMS_LISTED = 8
# Pairwise probabilities beyond that are shares among this many draws: standard errors of at most 0.005.
_DRAWS_FOR_PAIRS = 10_000
_RUNS = 10
_PARTICLES = 1000
# Random numbers for this many cells are drawn at a time.
_BLOCK_CELLS = 1 << 22


class FootruleLaw(DistanceLaw):
    """Sum of |difference of places|; the center is an assignment, exact. All else is exact too, whatever k."""

    def distances(self, rankings: Rankings, center: FloatArray) -> FloatArray:
        return np.asarray(footrule_distance(center, rankings))

    def best_center(self, rankings: Rankings) -> FloatArray:
        places = np.arange(1.0, self.k + 1)
        return assigned_center(rankings, lambda column: np.abs(column[:, np.newaxis] - places))

    def log_normalizer(self, theta: float) -> float:
        return float(_placements_jit.footrule_table(self.k, float(np.exp(-theta)))[1])

    def moments(self, theta: float) -> tuple[float, float]:
        _, _, mean, variance = _placements_jit.footrule_table(self.k, float(np.exp(-theta)))
        return float(mean), max(float(variance), 0.0)

    def sample(self, theta: float, n: int, rng: np.random.Generator) -> FloatArray:
        weight = _placements_jit.footrule_table(self.k, float(np.exp(-theta)))[0]
        draws = np.empty((n, self.k))
        for rows in gen_batches(n, max(1, _BLOCK_CELLS // (3 * self.k))):
            draws[rows] = _placements_jit.footrule_draws(weight, rng.random((len(draws[rows]), self.k, 3)))
        return draws

    def pairs(self, theta: float) -> FloatArray:
        place = np.arange(self.k)
        return _pairs_by_list_or_draws(self, theta, np.abs(place - place[:, np.newaxis]).astype(np.float64))


class SpearmanLaw(DistanceLaw):
    """Sum of squared differences of places; the center is Borda's consensus, exact."""

    def __init__(self, k: int) -> None:
        if k > MOST_ITEMS:
            raise ValueError(
                f"the normalizer of the Spearman distance is not known for {k} items (at most {MOST_ITEMS}); "
                "use distance='footrule' or 'kendall', whose normalizers are exact for any number"
            )
        super().__init__(k)
        if k > MOST_ITEMS_EXACT:
            self.tolerance = 1e-4  # estimated moments do not allow more

    def distances(self, rankings: Rankings, center: FloatArray) -> FloatArray:
        return np.asarray(spearman_distance(center, rankings))

    def best_center(self, rankings: Rankings) -> FloatArray:
        return borda_center(rankings)

    def log_normalizer(self, theta: float) -> float:
        if self._exact(theta):
            return float(_placements_jit.placement_table(self._cost, self._finite(theta))[1])
        logs = self._runs(theta)[:, 0]
        return float(np.logaddexp.reduce(logs) - np.log(len(logs)))

    def moments(self, theta: float) -> tuple[float, float]:
        if self._exact(theta):
            _, _, mean, variance = _placements_jit.placement_table(self._cost, self._finite(theta))
        else:
            _, mean, square = self._runs(theta).mean(axis=0)
            variance = square - mean * mean
        return float(mean), max(float(variance), 0.0)

    def errors(self, theta: float) -> tuple[float, float]:
        if self._exact(theta):
            return 0.0, 0.0
        spread = self._runs(theta).std(axis=0, ddof=1) / np.sqrt(_RUNS)
        return float(spread[0]), float(spread[1])

    def sample(self, theta: float, n: int, rng: np.random.Generator) -> FloatArray:
        if self._exact(theta):
            theta = self._finite(theta)
            weight = _placements_jit.placement_table(self._cost, theta)[0]
            return _placements_jit.placement_draws(weight, self._cost, theta, rng.random((n, self.k)))
        draws = np.tile(np.arange(1.0, self.k + 1), (n, 1))
        steps = 10 * self.k**2
        for rows in gen_batches(n, max(1, _BLOCK_CELLS // (3 * steps))):
            size = len(draws[rows])
            first = rng.integers(0, self.k, (size, steps))
            second = (first + rng.integers(1, self.k, (size, steps))) % self.k
            _placements_jit.exchange_steps(
                draws[rows], self._cost, theta, first, second, np.log(1 - rng.random((size, steps)))
            )
        return draws

    def pairs(self, theta: float) -> FloatArray:
        return _pairs_by_list_or_draws(self, theta, self._cost)

    @cached_property
    def _cost(self) -> FloatArray:
        place = np.arange(self.k)
        return np.square(place - place[:, np.newaxis], dtype=np.float64)

    def _exact(self, theta: float) -> bool:
        return self.k <= MOST_ITEMS_EXACT or theta == np.inf

    def _finite(self, theta: float) -> float:
        return min(theta, 1000.0)  # exp(-1000) is 0 already, and infinity times a cost of 0 would be NaN

    def _runs(self, theta: float) -> FloatArray:
        """Estimates of log Z, mean and mean square, a row for each run; the same numbers for every theta."""
        rng = np.random.default_rng(0)
        runs = [
            _placements_jit.placement_particles(self._cost, theta, rng.random((_PARTICLES, self.k)), rng.random(self.k))
            for _ in range(_RUNS)
        ]
        return np.array(runs)


def _pairs_by_list_or_draws(law: DistanceLaw, theta: float, cost: FloatArray) -> FloatArray:
    if law.k <= _MOST_ITEMS_LISTED:
        draws = np.array(list(permutations(range(law.k)))) + 1.0
        distance = cost[np.arange(law.k), draws.astype(int) - 1].sum(axis=1)
        weight = np.exp(-min(theta, 1000.0) * distance)
        weight /= weight.sum()
    else:
        draws = law.sample(theta, _DRAWS_FOR_PAIRS, np.random.default_rng(0))
        weight = np.full(len(draws), 1 / len(draws))
    above = np.stack([weight @ (column[:, np.newaxis] < draws) for column in draws.T])
    np.fill_diagonal(above, 0.5)
    return above
