"""Components of Mallows mixtures, one class for each kind of distance: how centers and thetas follow from rankings.

Used by `MallowsMixture`. Parameters are the centers, the thetas, and the distances of all rows to the centers, so that
none is computed twice.
"""

from __future__ import annotations

from abc import abstractmethod
from functools import cache
from typing import Any

import numpy as np

from rankwise._typing import FloatArray
from rankwise.aggregation import _kemeny_jit, _mallows_jit, _mixture_jit
from rankwise.aggregation import _mallows_stages as stages
from rankwise.aggregation._completions import Rows
from rankwise.aggregation._mallows_laws import CayleyLaw, DistanceLaw, HammingLaw, KendallLaw, Moments
from rankwise.aggregation._mixture_em import Family
from rankwise.aggregation._placement_laws import MOST_ITEMS_EXACT, FootruleLaw, SpearmanLaw
from rankwise.aggregation.kemeny import Method, kemeny
from rankwise.data import Rankings

#: exp(-30) is 1e-13: as good as a single ranking, but every ranking keeps a probability that can be compared
LARGEST_THETA = 30.0
# Up to here a proven consensus takes milliseconds.
_MOST_ITEMS_PROVEN = 16
# Weight of all rankings in a consensus of a component: it only decides pairs that the component leaves open.
_TRACE = 1e-9
# The sums of Spearman's law over sets of places take long for more items than this, and are tabulated.
_MOST_ITEMS_DIRECT = 8
_NODES = 64
_DEGREE_OF_ESTIMATES = 32

Parameters = tuple[FloatArray, FloatArray, FloatArray]


class MallowsFamily(Family):
    """Mallows components around centers, each with its own theta."""

    def __init__(self, rows: Rows) -> None:
        self.rows = rows
        self.positions = rows.positions
        self.k = rows.positions.shape[1]
        self.places = np.arange(1.0, self.k + 1)

    @abstractmethod
    def find_centers(self, counts: FloatArray, old: FloatArray | None, *, thorough: bool) -> FloatArray:
        """Centers of small total distance to the rows: (n_components, k); `improve` never takes a worse one."""

    @abstractmethod
    def distances(self, centers: FloatArray) -> FloatArray:
        """Distance of each row to each center: (n_rows, n_components)."""

    @abstractmethod
    def moments_of_sum(self, count: FloatArray) -> Moments:
        """Mean and variance at theta of the summed distances of rows with these counts."""

    @abstractmethod
    def log_normalizers(self, thetas: FloatArray) -> FloatArray:
        """Logarithm of the normalizer: (n_rows or 1, n_components)."""

    #: relative precision of theta
    tolerance = 1e-10

    def start(self, counts: FloatArray) -> Parameters:
        centers = self.find_centers(counts, None, thorough=False)
        return self.with_thetas(centers, self.distances(centers), counts)

    def improve(self, parameters: Any, counts: FloatArray, *, thorough: bool) -> Parameters:
        old, _, by_component = parameters
        centers, distances = old.copy(), np.ascontiguousarray(by_component.T)
        found = self.find_centers(counts, old, thorough=thorough)
        changed = np.flatnonzero((found != old).any(axis=1))
        if len(changed):
            farther = self.distances(found[changed])
            for column, g in enumerate(changed.tolist()):
                if counts[:, g] @ farther[:, column] < counts[:, g] @ distances[:, g]:
                    centers[g], distances[:, g] = found[g], farther[:, column]
        return self.with_thetas(centers, distances, counts)

    def log_probabilities(self, parameters: Any) -> FloatArray:
        _, thetas, by_component = parameters
        return np.asarray(-thetas * by_component.T - self.log_normalizers(thetas))

    def scores(self, parameters: Any, g: int) -> FloatArray:
        _, thetas, by_component = parameters
        expected = self.expected_distances(thetas[g : g + 1])
        return np.asarray(expected - by_component[g][:, np.newaxis])

    def with_thetas(self, centers: FloatArray, distances: FloatArray, counts: FloatArray) -> Parameters:
        """The parameters with the thetas of highest likelihood."""
        thetas = []
        for count, own in zip(counts.T, distances.T, strict=True):
            theta = stages.solve_theta(self.moments_of_sum(count), float(count @ own), tolerance=self.tolerance)
            thetas.append(min(theta, LARGEST_THETA))
        return centers, np.array(thetas), np.ascontiguousarray(distances.T)

    def with_distances(self, centers: FloatArray, thetas: FloatArray) -> Parameters:
        """The parameters for given centers and thetas."""
        return centers, thetas, np.ascontiguousarray(self.distances(centers).T)

    def expected_distances(self, thetas: FloatArray) -> FloatArray:
        """Mean distance of a row in each component: (n_rows or 1, n_components)."""
        one = np.ones(1)
        return np.array([[self.moments_of_sum(one)(float(theta))[0] for theta in thetas]])


class KendallFamily(MallowsFamily):
    """Pairs ordered differently. Rows may tie items, leave items unlisted or miss them.

    The orders within a bucket of t items are independent of all other pairs, so a ranking with buckets has the
    probability of its ordered pairs: exp(-theta d) times the normalizers of the buckets over that of all items. Missing
    items are left out, as if the others stood next to each other in the center.
    """

    def __init__(self, rows: Rows) -> None:
        super().__init__(rows)
        positions = rows.positions
        places = np.where(np.isfinite(positions), positions, 0).astype(np.intp)
        sizes = np.zeros((len(positions), self.k + 1), dtype=np.intp)
        np.add.at(sizes, (np.arange(len(positions))[:, np.newaxis], places), 1)
        sizes[:, 0] = np.isposinf(positions).sum(axis=1)
        present = (~np.isnan(positions)).sum(axis=1)
        # Stages of s items: one for each s up to the number of items, less those of the buckets.
        n_stages = np.zeros((len(positions), self.k))
        for s in range(2, self.k + 1):
            n_stages[:, s - 1] = (present >= s) * 1.0 - (sizes >= s).sum(axis=1)
        patterns, self.pattern = np.unique(n_stages, axis=0, return_inverse=True)
        self.patterns = np.ascontiguousarray(patterns)
        self.pattern = self.pattern.reshape(-1)

    def find_centers(self, counts: FloatArray, old: FloatArray | None, *, thorough: bool) -> FloatArray:
        total = counts.sum(axis=1)
        margins = _mixture_jit.pair_margins(self.positions, np.column_stack([counts, total]))
        margins = margins[:-1] + _TRACE * margins[-1]
        centers = np.empty((len(margins), self.k))
        for g, margin in enumerate(margins):
            tries = [np.argsort(-margin.sum(axis=1), kind="stable")]
            tries += [] if old is None else [np.argsort(old[g], kind="stable")]
            for order in tries:
                _kemeny_jit.insertion_search(margin, order)
            best = min(tries, key=lambda order: float(_kemeny_jit.order_cost(margin, order)))
            centers[g, best] = self.places
        if thorough:
            method: Method = "auto" if self.k <= _MOST_ITEMS_PROVEN else "local-search"
            for g, count in enumerate(counts.T):
                weighted = Rankings(self.positions, weights=count + _TRACE * total)
                centers[g] = _without_ties(kemeny(weighted, method=method, random_state=0).positions)
        return centers

    def distances(self, centers: FloatArray) -> FloatArray:
        return _mixture_jit.pairs_against(self.positions, np.argsort(centers, axis=1))

    def moments_of_sum(self, count: FloatArray) -> Moments:
        n_stages = np.bincount(self.pattern, count, minlength=len(self.patterns)) @ self.patterns

        return lambda theta: _mixture_jit.stage_moments(theta, n_stages)

    def log_normalizers(self, thetas: FloatArray) -> FloatArray:
        logs = self.patterns @ stages.log_normalizers(thetas, self.places[:, np.newaxis])
        return np.asarray(logs[self.pattern])

    def expected_distances(self, thetas: FloatArray) -> FloatArray:
        return np.asarray((self.patterns @ stages.means(thetas, self.places[:, np.newaxis]))[self.pattern])


class _LawFamily(MallowsFamily):
    """Distances of full rankings with one normalizer for all."""

    def __init__(self, rows: Rows, law: DistanceLaw) -> None:
        super().__init__(rows)
        self.law = law

    def moments_of_sum(self, count: FloatArray) -> Moments:
        n = float(count.sum())

        def moments(theta: float) -> tuple[float, float]:
            mean, variance = self.law.moments(theta)
            return n * mean, n * variance

        return moments

    def log_normalizers(self, thetas: FloatArray) -> FloatArray:
        return np.array([[self.law.log_normalizer(float(theta)) for theta in thetas]])


class _PlacementFamily(_LawFamily):
    """Distances that add up over the items, each by its own place and that in the center."""

    def __init__(self, rows: Rows, law: DistanceLaw, cost: FloatArray) -> None:
        super().__init__(rows, law)
        self.cost = cost

    def find_centers(self, counts: FloatArray, old: FloatArray | None, *, thorough: bool) -> FloatArray:
        from scipy.optimize import linear_sum_assignment

        centers = np.empty((counts.shape[1], self.k))
        for center, table in zip(centers, _mixture_jit.place_counts(self.positions, counts), strict=True):
            items, places = linear_sum_assignment(table @ self.cost)
            center[items] = places + 1.0
        return centers

    def distances(self, centers: FloatArray) -> FloatArray:
        costs = self.cost[centers.astype(np.intp) - 1]
        return _mixture_jit.placement_costs(self.positions, np.ascontiguousarray(costs))


class _SpearmanFamily(_PlacementFamily):
    """Squared differences of places: the center orders the mean places."""

    def find_centers(self, counts: FloatArray, old: FloatArray | None, *, thorough: bool) -> FloatArray:
        order = np.argsort(counts.T @ self.positions, axis=1, kind="stable")
        centers = np.empty(order.shape)
        np.put_along_axis(centers, order, self.places[np.newaxis], axis=1)
        return centers


class _CayleyFamily(_LawFamily):
    """Exchanges of two items: centers by descent over exchanges."""

    def find_centers(self, counts: FloatArray, old: FloatArray | None, *, thorough: bool) -> FloatArray:
        if old is None:  # few items out of place need few exchanges
            gap = (np.arange(self.k) != np.arange(self.k)[:, np.newaxis]).astype(np.float64)
            return _PlacementFamily(self.rows, self.law, gap).find_centers(counts, None, thorough=False)
        centers = []
        for g, count in enumerate(counts.T):
            rows = np.flatnonzero(count)
            part = Rankings(self.positions[rows], weights=count[rows])
            centers.append(CayleyLaw(self.k).best_center(part) if thorough else self._descend(part, old[g].copy()))
        return np.array(centers)

    def distances(self, centers: FloatArray) -> FloatArray:
        orders = np.argsort(centers, axis=1)
        return np.stack([_mallows_jit.cayley_distances(self.positions, order) for order in orders], axis=1)

    @staticmethod
    def _descend(part: Rankings, center: FloatArray) -> FloatArray:
        """One exchange, the best, if it lowers the sum of the distances; the next iteration makes the next."""
        same = _mallows_jit.same_cycle_weights(part.positions, part.weights, np.argsort(center))
        same = np.triu(same, 1)
        a, b = np.unravel_index(np.argmax(same), same.shape)
        if same[a, b] > part.weights.sum() / 2 * (1 + 1e-12):
            center[[a, b]] = center[[b, a]]
        return center


def family_of(distance: str, rows: Rows) -> MallowsFamily:
    """The family of a distance."""
    k = rows.positions.shape[1]
    place = np.arange(k)
    gap = np.abs(place - place[:, np.newaxis]).astype(np.float64)
    if distance == "kendall":
        return KendallFamily(rows)
    law = law_of(distance, k)
    if distance == "cayley":
        return _CayleyFamily(rows, law)
    if distance == "spearman":
        return _SpearmanFamily(rows, law, gap**2)
    return _PlacementFamily(rows, law, gap if distance == "footrule" else (gap > 0).astype(np.float64))


def law_of(distance: str, k: int) -> DistanceLaw:
    """The law of a distance for k items, made for many questions."""
    if distance == "spearman":
        return spearman_law(k)
    if distance == "footrule":
        return FootruleLaw(k)
    return {"kendall": KendallLaw, "cayley": CayleyLaw}.get(distance, HammingLaw)(k)


@cache
def spearman_law(k: int) -> DistanceLaw:
    """Spearman's law for mixtures, which ask for thousands of normalizers: from a table where each takes long."""
    return SpearmanLaw(k) if k <= _MOST_ITEMS_DIRECT else _TabulatedSpearman(k)


class _TabulatedSpearman(SpearmanLaw):
    r"""log Z as a polynomial in :math:`\log(1 + \theta / s)` between 0 and the largest theta, and its derivatives.

    The error is below 1e-7 where Z is exact. Where particles estimate it, the polynomial has a smaller degree, which
    smooths the estimates.
    """

    tolerance = 1e-10

    def __init__(self, k: int) -> None:
        from numpy.polynomial import Chebyshev

        super().__init__(k)
        self._scale = 6.0 / k**2.5
        self._end = float(np.log1p(2 * LARGEST_THETA / self._scale))
        nodes = (np.cos(np.pi * (np.arange(_NODES) + 0.5) / _NODES) + 1) / 2 * self._end
        logs = [super(_TabulatedSpearman, self).log_normalizer(self._scale * np.expm1(node)) for node in nodes]
        degree = _NODES - 1 if k <= MOST_ITEMS_EXACT else _DEGREE_OF_ESTIMATES
        self._log_z = Chebyshev.fit(nodes, logs, degree, domain=[0, self._end])
        self._first, self._second = self._log_z.deriv(), self._log_z.deriv(2)

    def log_normalizer(self, theta: float) -> float:
        return float(self._log_z(self._node(theta)))

    def moments(self, theta: float) -> tuple[float, float]:
        node = self._node(theta)
        slope = 1 / (self._scale + min(theta, 2 * LARGEST_THETA))
        first, second = float(self._first(node)), float(self._second(node))
        return max(-first * slope, 0.0), max((second - first) * slope**2, 0.0)

    def _node(self, theta: float) -> float:
        return min(float(np.log1p(theta / self._scale)), self._end)


def _without_ties(positions: FloatArray) -> FloatArray:
    ranking: FloatArray = np.empty_like(positions)
    ranking[np.argsort(positions, kind="stable")] = np.arange(1.0, len(positions) + 1)
    return ranking
