"""Distributions of Mallows models, one class for each distance with a closed form: Kendall, Cayley, Hamming.

Used by `Mallows` and `MallowsMixture`; those of the other distances are in `_placement_laws`. All five distances are
right-invariant: the law of a draw depends only on the permutation that takes places of the center to places of the
draw. So every law here is that of a random permutation of k places around the identity.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable

import numpy as np

from rankwise._typing import FloatArray
from rankwise.aggregation import _mallows_jit
from rankwise.aggregation._mallows_stages import log_normalizers, means, variances
from rankwise.aggregation.kemeny import kemeny
from rankwise.aggregation.positional import borda
from rankwise.aggregation.samplers import sample_mallows
from rankwise.data import Rankings
from rankwise.distances import hamming_distance, kendall_distance

#: mean and variance as a function of theta
Moments = Callable[[float], tuple[float, float]]
#: the sum over the places of missing items has 2^m terms for m of them
MOST_MISSING = 10


class DistanceLaw(ABC):
    """Random permutations of k places with weights exp(-theta d), d the distance to the identity."""

    def __init__(self, k: int) -> None:
        self.k = k

    @abstractmethod
    def distances(self, rankings: Rankings, center: FloatArray) -> FloatArray:
        """Distance of each ranking to the center."""

    @abstractmethod
    def best_center(self, rankings: Rankings) -> FloatArray:
        """Positions of a ranking with the least mean distance (see each law for what is exact)."""

    @abstractmethod
    def log_normalizer(self, theta: float) -> float:
        """Logarithm of the sum of the weights."""

    @abstractmethod
    def moments(self, theta: float) -> tuple[float, float]:
        """Mean and variance of the distance."""

    @abstractmethod
    def sample(self, theta: float, n: int, rng: np.random.Generator) -> FloatArray:
        """Permutations, (n, k): the place, from 1, to which each place of the center is carried."""

    @abstractmethod
    def pairs(self, theta: float) -> FloatArray:
        """P(place a is carried above place b), (k, k)."""

    #: relative precision of theta that the moments allow
    tolerance = 1e-12

    def errors(self, theta: float) -> tuple[float, float]:
        """Standard errors of the log normalizer and of the mean distance; zero where these are exact."""
        return 0.0, 0.0

    def moments_of_sum(self, rankings: Rankings, center: FloatArray) -> Moments:
        """Mean and variance, at theta, of the weighted sum of the distances of all rankings."""
        n = float(rankings.weights.sum())

        def moments(theta: float) -> tuple[float, float]:
            mean, variance = self.moments(theta)
            return n * mean, n * variance

        return moments

    def standard_error(self, rankings: Rankings, center: FloatArray, theta: float) -> float:
        """Standard error of theta, given the center; it holds the error of an estimated mean distance too."""
        variance = self.moments_of_sum(rankings, center)(theta)[1]
        if not variance > 0:
            return np.inf
        error_of_mean = rankings.weights.sum() * self.errors(theta)[1]
        return float(np.hypot(1 / np.sqrt(variance), error_of_mean / variance))

    def log_probabilities(self, rankings: Rankings, center: FloatArray, theta: float) -> FloatArray:
        """Log probability of each ranking."""
        return _minus_product(theta, self.distances(rankings, center)) - self.log_normalizer(theta)


class KendallLaw(DistanceLaw):
    """Pairs ordered differently; the center is Kemeny's consensus."""

    def distances(self, rankings: Rankings, center: FloatArray) -> FloatArray:
        return np.asarray(kendall_distance(center, rankings, p=0.0))

    def best_center(self, rankings: Rankings) -> FloatArray:
        return kemeny(rankings, random_state=0).positions

    def log_normalizer(self, theta: float) -> float:
        return float(log_normalizers(theta, self._sizes).sum())

    def moments(self, theta: float) -> tuple[float, float]:
        return float(means(theta, self._sizes).sum()), float(variances(theta, self._sizes).sum())

    def sample(self, theta: float, n: int, rng: np.random.Generator) -> FloatArray:
        return sample_mallows(np.arange(1.0, self.k + 1), theta, n, rng)

    def pairs(self, theta: float) -> FloatArray:
        # The mean displacement of a stage of s items is that of a stage of s - 1 and one pair, s - 1 places apart.
        against = np.diff(means(theta, np.arange(1.0, self.k + 1)))
        place = np.arange(self.k)
        gap = place - place[:, np.newaxis]
        table = np.concatenate([[0.5], 1 - against])[np.abs(gap)]
        return np.where(gap >= 0, table, 1 - table)

    def moments_of_sum(self, rankings: Rankings, center: FloatArray) -> Moments:
        missing = np.isnan(rankings.positions).any(axis=1)
        # A full ranking has one stage of each size 1, ..., k, and a top-k list those larger than what it leaves
        # unlisted.
        unlisted = np.isposinf(rankings.positions[~missing]).sum(axis=1)
        complete = np.cumsum(np.bincount(unlisted, rankings.weights[~missing], minlength=self.k + 1))[: self.k]
        n_stages = complete + rankings.weights[missing] @ self._stages_by_pairs(rankings[missing], center)

        def moments(theta: float) -> tuple[float, float]:
            mean, variance = means(theta, self._sizes), variances(theta, self._sizes)
            return float(n_stages @ mean), float(n_stages @ variance)

        return moments

    def standard_error(self, rankings: Rankings, center: FloatArray, theta: float) -> float:
        variance = self.moments_of_sum(rankings, center)(theta)[1]
        if not variance > 0 or not np.isnan(rankings.positions).any():
            return super().standard_error(rankings, center, theta)
        # The equation for theta is unbiased but not a likelihood equation, so the spread of its terms comes from the
        # data.
        expected = self._stages_by_pairs(rankings, center) @ means(theta, self._sizes)
        return float(np.sqrt(rankings.weights @ (self.distances(rankings, center) - expected) ** 2) / variance)

    def log_probabilities(self, rankings: Rankings, center: FloatArray, theta: float) -> FloatArray:
        against = _minus_product(theta, self.distances(rankings, center))
        log_stages = log_normalizers(theta, self._sizes)
        log_z = np.concatenate([[0.0], np.cumsum(log_stages)])
        listed = np.isfinite(rankings.positions).sum(axis=1)
        share = log_z[self.k - listed] - log_z[self.k]  # a top-t list has the stages of the sizes k to k - t + 1
        n_missing = np.isnan(rankings.positions).sum(axis=1)
        share[n_missing > MOST_MISSING] = np.nan
        powers = np.exp(_minus_product(theta, np.arange(self.k + 1.0)))
        normalizers = np.concatenate([[1.0], np.exp(log_stages)])
        for row in np.flatnonzero((n_missing > 0) & (n_missing <= MOST_MISSING)):
            positions = rankings.positions[row]
            share[row] = _mallows_jit.log_share_of_completions(positions, np.argsort(center), powers, normalizers)
        return against + share

    def _stages_by_pairs(self, rankings: Rankings, center: FloatArray) -> FloatArray:
        r"""For each ranking, how many stages of s = 1, ..., k items it stands for: (n, k).

        The expected number of pairs that a ranking orders against the center is :math:`\sum_s n_s m_s(\theta)`,
        :math:`m_s` the mean displacement of a stage of s items. A pair g places apart in the center is against it with
        probability :math:`m_{g+1} - m_g`, so that a ranking with missing items has parts of stages, added up by pairs.
        """
        by_gap = _mallows_jit.pairs_by_gap(rankings.positions, np.argsort(center))
        return by_gap - np.pad(by_gap[:, 1:], ((0, 0), (0, 1)))

    @property
    def _sizes(self) -> FloatArray:
        return np.arange(1.0, self.k + 1)


class _ClassLaw(DistanceLaw):
    """A law that depends on the lengths of the cycles alone, so that all places are equivalent."""

    @abstractmethod
    def cycle_probabilities(self, theta: float) -> tuple[float, float, float]:
        """P(a stays), P(a and b stay), P(a and b change places), for any two places."""

    def pairs(self, theta: float) -> FloatArray:
        if self.k < 3:
            return self._pairs_of_two(theta)
        one, both, swapped = self.cycle_probabilities(theta)
        a_stays = one - both  # and b goes to one of the k - 2 others, all equally likely
        a_to_b = (1 - one) / (self.k - 1) - swapped  # and b goes to one of the others
        neither = 1 - both - 2 * a_stays - swapped - 2 * a_to_b
        place = np.arange(self.k)
        a, b = place[:, np.newaxis], place
        others = self.k - 2
        # For a < b: b goes below a, a goes above b; a takes the place of b and b goes below; the mirror image.
        stays = (self.k - 2 - a) + (b - 1)
        moves = (self.k - 1 - b) + a
        above = both + a_stays * stays / others + a_to_b * moves / others + neither / 2
        table = np.triu(above, 1)
        return table + np.tril(1 - table.T, -1) + np.diag(np.full(self.k, 0.5))

    def _pairs_of_two(self, theta: float) -> FloatArray:
        stays = self.cycle_probabilities(theta)[1] if self.k == 2 else 0.5
        return np.array([[0.5, stays], [1 - stays, 0.5]])[: self.k, : self.k]


class CayleyLaw(_ClassLaw):
    """Exchanges of two items needed; the center is found by descent over exchanges from several starts."""

    def distances(self, rankings: Rankings, center: FloatArray) -> FloatArray:
        return _mallows_jit.cayley_distances(rankings.positions, np.argsort(center))

    def best_center(self, rankings: Rankings) -> FloatArray:
        starts = [borda_center(rankings), HammingLaw(self.k).best_center(rankings)]
        starts.append(rankings.positions[np.argmax(rankings.weights)].copy())
        ends = [_descend_by_exchanges(rankings, start) for start in starts]
        return min(ends, key=lambda center: float(rankings.weights @ self.distances(rankings, center)))

    def log_normalizer(self, theta: float) -> float:
        return float(np.log1p(self._places * np.exp(-theta)).sum())

    def moments(self, theta: float) -> tuple[float, float]:
        moved = self._places * np.exp(-theta)
        return float((moved / (1 + moved)).sum()), float((moved / (1 + moved) ** 2).sum())

    def sample(self, theta: float, n: int, rng: np.random.Generator) -> FloatArray:
        # Place j changes with one of the j places before it, or stays: every permutation arises in one way.
        draws = np.tile(np.arange(1.0, self.k + 1), (n, 1))
        rows = np.arange(n)
        for j in range(1, self.k):
            weight = j * np.exp(-theta)
            moved = rows[rng.random(n) * (1 + weight) < weight]
            other = rng.integers(0, j, len(moved))
            draws[moved, j], draws[moved, other] = draws[moved, other], draws[moved, j]
        return draws

    def cycle_probabilities(self, theta: float) -> tuple[float, float, float]:
        phi = float(np.exp(-theta))
        one = 1 / (1 + (self.k - 1) * phi)
        both = one / (1 + (self.k - 2) * phi)
        return one, both, phi * both

    @property
    def _places(self) -> FloatArray:
        return np.arange(1.0, self.k)


class HammingLaw(_ClassLaw):
    """Items out of place; the center is an assignment of items to places, exact."""

    def distances(self, rankings: Rankings, center: FloatArray) -> FloatArray:
        return np.asarray(hamming_distance(center, rankings))

    def best_center(self, rankings: Rankings) -> FloatArray:
        places = np.arange(1.0, self.k + 1)
        return assigned_center(rankings, lambda column: column[:, np.newaxis] != places)

    def log_normalizer(self, theta: float) -> float:
        return float(np.logaddexp.reduce(self._log_weights(theta, self.k)))

    def moments(self, theta: float) -> tuple[float, float]:
        share, moved = self._shares(theta), np.arange(self.k + 1.0)
        mean = float(share @ moved)
        return mean, float(share @ (moved - mean) ** 2)

    def sample(self, theta: float, n: int, rng: np.random.Generator) -> FloatArray:
        moved = rng.choice(self.k + 1, size=(n, 1), p=self._shares(theta))
        place = np.arange(self.k)
        chosen = np.argsort(rng.random((n, self.k)), axis=1)  # the first of these places move
        target = np.tile(place, (n, 1))
        left = np.flatnonzero(moved[:, 0])
        while len(left):  # a shuffle leaves nothing in place about once in e tries
            shuffled = np.argsort(np.where(place < moved[left], rng.random((len(left), self.k)), 1.0 + place), axis=1)
            target[left] = shuffled
            left = left[np.any((shuffled == place) & (place < moved[left]), axis=1)]
        draws = np.empty((n, self.k))
        np.put_along_axis(draws, chosen, np.take_along_axis(chosen, target, axis=1) + 1.0, axis=1)
        return draws

    def cycle_probabilities(self, theta: float) -> tuple[float, float, float]:
        total, less_one, less_two = (
            np.logaddexp.reduce(self._log_weights(theta, m)) for m in (self.k, self.k - 1, self.k - 2)
        )
        one, both = np.exp(less_one - total), np.exp(less_two - total)
        return float(one), float(both), float(both * np.exp(-2 * theta))

    def _shares(self, theta: float) -> FloatArray:
        log_weights = self._log_weights(theta, self.k)
        shares = np.exp(log_weights - np.logaddexp.reduce(log_weights))
        return np.asarray(shares / shares.sum())

    @staticmethod
    def _log_weights(theta: float, k: int) -> FloatArray:
        """Log of (permutations of k places that move m of them) exp(-theta m), for m = 0, ..., k."""
        from scipy.special import gammaln

        m = np.arange(k + 1.0)
        signs = np.where(m % 2, -1.0, 1.0)
        # Permutations of m places that move all: m! (1 - 1 + 1/2! - 1/3! + ...); of one place there is none.
        share_deranged = np.cumsum(signs * np.exp(-gammaln(m + 1)))
        share_deranged[1:2] = 0.0
        cost = np.where(m > 0, theta, 0.0) * np.maximum(m, 1)
        with np.errstate(divide="ignore"):
            return np.asarray(gammaln(k + 1) - gammaln(k - m + 1) + np.log(share_deranged) - cost)


def borda_center(rankings: Rankings) -> FloatArray:
    """Items by Borda's consensus, those that tie in the order of the columns."""
    center = np.empty(rankings.n_items)
    center[np.argsort(borda(rankings), kind="stable")] = np.arange(1.0, rankings.n_items + 1)
    return center


def assigned_center(rankings: Rankings, cost_of_places: Callable[[FloatArray], FloatArray]) -> FloatArray:
    """The center of least cost where each item pays for its own place: exact, by linear assignment.

    ``cost_of_places`` maps the places of an item in all rankings to a table (n, k): what each place would cost.
    """
    from scipy.optimize import linear_sum_assignment

    price = np.stack([rankings.weights @ cost_of_places(column) for column in rankings.positions.T])
    items, places = linear_sum_assignment(price)
    center = np.empty(rankings.n_items)
    center[items] = places + 1.0
    return center


def _minus_product(theta: float, distance: FloatArray) -> FloatArray:
    """-theta d, where infinite theta times a distance of 0 is 0."""
    return np.where(distance > 0, -theta * np.maximum(distance, 1.0), 0.0)


def _descend_by_exchanges(rankings: Rankings, center: FloatArray) -> FloatArray:
    """Change places of two items of the center, the best pair first, while that lowers the sum of the distances."""
    while True:
        same = np.triu(_mallows_jit.same_cycle_weights(rankings.positions, rankings.weights, np.argsort(center)), 1)
        a, b = np.unravel_index(np.argmax(same), same.shape)
        if same[a, b] <= rankings.weights.sum() / 2 * (1 + 1e-12):
            return center
        center[[a, b]] = center[[b, a]]
