"""Noise of a `RankingOracle`: on the scores (Gaussian, uniform, a function) or on the ranking (Mallows).

A law disturbs rankings, and says what it knows exactly: how likely i comes before j, what becomes of a function of two
places, and how likely a ranking stays as it is. Where it knows nothing it answers None, and the oracle samples.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from rankwise._typing import FloatArray, RandomState
from rankwise._validation import check_choice, check_generator, check_real_number, check_scales
from rankwise.aggregation import Mallows, sample_mallows
from rankwise.datasets.transforms import sorted_positions

# Scores lie in [1/4, 3/4] and noise in [-1/4, 1/4], so noisy scores stay in [0, 1].
MOST_NOISE = 0.25
# Nodes and half width, in standard deviations, of the quadrature for truncated Gaussian noise.
_NODES, _WIDTH = 64, 9.0
# Nodes for each half of a density, where several are integrated one after the other.
_NODES_OF_PANEL = 32
# A truncated Gaussian with a standard deviation of this many bounds is uniform to the last digit that we keep.
_FLAT = 1e4
# Numbers of the quadrature that are held at a time.
_ENTRIES = 2**22
# Joint laws of two places take k^4 numbers.
_MOST_ITEMS = 40


class NoiseLaw:
    """What the oracle asks a law of noise; None means "not known exactly"."""

    @property
    def keeps_ties(self) -> bool:
        """Whether items of equal scores are taken in item order, because no noise on the scores parts them."""
        return False

    def disturb(self, scores: FloatArray, random_state: RandomState = None) -> tuple[FloatArray | None, FloatArray]:
        """Noisy scores, if there are any, and the positions that are observed.

        Parameters
        ----------
        scores : ndarray of shape (n, k)
            Noiseless scores, higher = better.
        random_state : None, int, Generator or RandomState
            Where the random numbers come from.

        Returns
        -------
        noisy_scores : ndarray of shape (n, k) or None
            None for noise on rankings.
        positions : ndarray of shape (n, k)
            1 = best.
        """
        return self._disturb(scores, check_generator(random_state, salt="RankingOracle"))

    def _disturb(self, scores: FloatArray, rng: np.random.Generator) -> tuple[FloatArray | None, FloatArray]:
        raise NotImplementedError

    def preference_probability(self, scores: FloatArray) -> FloatArray | None:
        """Probability of i before j for each row: (n, k, k), with a diagonal of 1/2."""
        return None

    def mean_over_places(self, scores: FloatArray, table: FloatArray) -> FloatArray | None:
        """Expected ``table[a, b]`` for i at place a and j at place b, counted from 0: (n, k, k)."""
        return None

    def probability_unchanged(self, scores: FloatArray) -> FloatArray | None:
        """Probability that the ranking stays as it is: (n,)."""
        return None


@dataclass(frozen=True)
class NoNoise(NoiseLaw):
    """The noiseless oracle Ex(m)."""

    @property
    def keeps_ties(self) -> bool:
        """Always."""
        return True

    def _disturb(self, scores: FloatArray, rng: np.random.Generator) -> tuple[FloatArray | None, FloatArray]:
        # One number per score, as noise on scores takes: so the same items drop out with noise and without, which
        # `RankingOracle.sample` promises.
        rng.random(scores.shape)
        return scores, sorted_positions(scores)

    def preference_probability(self, scores: FloatArray) -> FloatArray:
        """Probability of i before j for each row: (n, k, k)."""
        return self.mean_over_places(scores, _before(scores.shape[1]))

    def mean_over_places(self, scores: FloatArray, table: FloatArray) -> FloatArray:
        """Expected ``table[a, b]`` for i at place a and j at place b, counted from 0: (n, k, k)."""
        return _at_places(table, sorted_positions(scores))

    def probability_unchanged(self, scores: FloatArray) -> FloatArray:
        """Probability that the ranking stays as it is: (n,)."""
        return np.ones(len(scores))


class _AdditiveNoise(NoiseLaw):
    """Independent noise on the scores, made of uniform numbers, so that scales can be compared on the same numbers."""

    def values(self, uniforms: FloatArray) -> FloatArray:
        """Noise made of uniform numbers."""
        raise NotImplementedError

    def probability_of_lead(self, lead: FloatArray) -> FloatArray:
        """Probability that the noise of j exceeds that of i by less than ``lead``, at least 0."""
        raise NotImplementedError

    def density(self, values: FloatArray) -> FloatArray:
        """Density of the noise of one item."""
        raise NotImplementedError

    @property
    def reach(self) -> float:
        """The noise lies within plus and minus this, up to rounding; 0 if there is none."""
        raise NotImplementedError

    @property
    def keeps_ties(self) -> bool:
        """Only where there is no noise."""
        return self.reach == 0

    def _disturb(self, scores: FloatArray, rng: np.random.Generator) -> tuple[FloatArray | None, FloatArray]:
        noisy = scores + self.values(rng.random(scores.shape))
        return noisy, sorted_positions(noisy)

    def preference_probability(self, scores: FloatArray) -> FloatArray:
        """Probability of i before j for each row: (n, k, k)."""
        n, k = scores.shape
        first, second = np.triu_indices(k, 1)
        lead = scores[:, first] - scores[:, second]
        half = self.probability_of_lead(np.abs(lead))
        result = np.full((n, k, k), 0.5)
        result[:, first, second] = np.where(lead >= 0, half, 1 - half)
        result[:, second, first] = 1 - result[:, first, second]
        return result

    def probability_unchanged(self, scores: FloatArray) -> FloatArray:
        """Probability that the ranking stays as it is: (n,)."""
        from rankwise._sklearn import gen_batches

        if self.reach == 0:
            return np.ones(len(scores))
        means, number = np.unique(-np.sort(-scores, axis=1), axis=0, return_inverse=True)
        rows = max(1, _ENTRIES // (3 * _NODES_OF_PANEL * scores.shape[1]))
        parts = [self._probability_in_order(means[block]) for block in gen_batches(len(means), rows)]
        return np.concatenate(parts)[number.reshape(-1)]

    def _probability_in_order(self, means: FloatArray) -> FloatArray:
        r"""Probability that noisy scores fall in the order of their means, which decrease.

        With :math:`G_j(t)` the probability that the scores from j on are in order and below t, :math:`G_j(t) =
        \int_{-\infty}^t f(s - m_j) G_{j+1}(s) ds`; integrals run over panels between the ends and middles of densities.
        """
        from numpy.polynomial import legendre

        nodes, weights = legendre.leggauss(_NODES_OF_PANEL)
        degrees = np.arange(_NODES_OF_PANEL)
        values_of = legendre.legvander(nodes, _NODES_OF_PANEL - 1)
        to_polynomial = ((2 * degrees + 1) / 2)[:, None] * values_of.T * weights
        # Integrals of polynomials from the left end of a panel to each node.
        up_to_node = legendre.legval(nodes, legendre.legint(np.eye(_NODES_OF_PANEL), lbnd=-1)).T @ to_polynomial
        ends = np.sort(np.concatenate([means - self.reach, means, means + self.reach], axis=1), axis=1)
        half = np.diff(ends, axis=1)[..., None] / 2
        at = ends[:, :-1, None] + half * (1 + nodes)
        below = np.ones_like(at)  # G at the nodes of all panels
        for j in range(means.shape[1] - 1, -1, -1):
            from_mean = at - means[:, j, None, None]
            integrand = np.where(np.abs(from_mean) <= self.reach, self.density(from_mean), 0.0) * below
            panels = half[..., 0] * (integrand @ weights)
            before = np.cumsum(panels, axis=1) - panels
            below = before[..., None] + half * (integrand @ up_to_node.T)
        return np.clip(panels.sum(axis=1), 0.0, 1.0)


@dataclass(frozen=True)
class GaussianNoise(_AdditiveNoise):
    r"""Independent Gaussian noise on the scores, which may be truncated.

    Parameters
    ----------
    scale : float
        Standard deviation before truncation; 0 is no noise (equal scores are then equally likely either way in
        ``preference_probability``).
    bound : float, default=inf
        The noise lies in [-bound, bound]. The paper, and `make_sparse_label_ranking`, have 0.25, which keeps scores in
        [1/4, 3/4] within [0, 1]; a scale much larger than the bound is then nearly uniform noise.

    Notes
    -----
    Without truncation :math:`p_{ij}(x) = \Phi((m_i - m_j) / \sqrt 2 \sigma)`; with it the integral is evaluated by
    Gauss-Legendre quadrature, to about twelve digits.

    Examples
    --------
    >>> from rankwise.datasets import GaussianNoise, RankingOracle
    >>> oracle = RankingOracle(lambda X: X, GaussianNoise(0.1), features=2)
    >>> oracle.preference_probability([[0.6, 0.5]])[0].round(3)
    array([[0.5 , 0.76],
           [0.24, 0.5 ]])
    """

    scale: float
    bound: float = np.inf

    def __post_init__(self) -> None:
        check_scales(noise_scale=self.scale)
        check_real_number("bound", self.bound, infinite=True)

    def values(self, uniforms: FloatArray) -> FloatArray:
        """Noise made of uniform numbers."""
        from scipy.special import ndtr, ndtri

        if self.scale == 0:
            return np.zeros_like(uniforms)
        low = ndtr(-self.bound / self.scale)
        values = self.scale * ndtri(low + uniforms * (1 - 2 * low))
        return np.clip(values, -self.reach, self.reach)  # of all numbers drawn, 0 alone has a quantile beyond

    @property
    def reach(self) -> float:
        """The noise lies within plus and minus this, up to rounding; 0 if there is none."""
        return min(self.bound, _WIDTH * self.scale)

    def density(self, values: FloatArray) -> FloatArray:
        """Density of the noise of one item."""
        from scipy.special import erf

        inside = erf(self.bound / (np.sqrt(2) * self.scale))
        return np.exp(-0.5 * (values / self.scale) ** 2) / (np.sqrt(2 * np.pi) * self.scale * inside)

    def probability_of_lead(self, lead: FloatArray) -> FloatArray:
        """Probability that the noise of j exceeds that of i by less than ``lead``, at least 0."""
        from scipy.special import ndtr

        from rankwise._sklearn import gen_batches

        scale, bound = self.scale, self.bound
        if scale == 0 or bound == 0:
            return np.where(lead > 0, 1.0, 0.5)
        if bound == np.inf:
            return ndtr(lead / (np.sqrt(2) * scale))
        if scale > _FLAT * bound:
            return UniformNoise(bound).probability_of_lead(lead)
        nodes, weights = np.polynomial.legendre.leggauss(_NODES)
        outside = ndtr(-bound / scale)
        inside = 1 - 2 * outside
        most = self.reach
        flat, result = lead.ravel(), np.empty(lead.size)
        for block in gen_batches(len(flat), _ENTRIES // _NODES):
            t = flat[block, None]
            # P(xi_i - xi_j <= -t), over the values of xi_j from which xi_i + t is still within the bound
            high = np.clip(np.minimum(most, bound - t), -most, None)
            middle, half = (high - most) / 2, (high + most) / 2
            values = middle + half * nodes
            above = (ndtr(-(values + t) / scale) - outside) / inside
            result[block] = 1 - (half * self.density(values) * above) @ weights
        return result.reshape(lead.shape)


@dataclass(frozen=True)
class UniformNoise(_AdditiveNoise):
    """Independent noise on the scores, uniform on [-scale, scale].

    Parameters
    ----------
    scale : float
        At most 1/4 keeps scores in [1/4, 3/4] within [0, 1].

    Examples
    --------
    >>> from rankwise.datasets import RankingOracle, UniformNoise
    >>> RankingOracle(lambda X: X, UniformNoise(0.1), features=2).preference_probability([[0.6, 0.5]])[0]
    array([[0.5  , 0.875],
           [0.125, 0.5  ]])
    """

    scale: float

    def __post_init__(self) -> None:
        check_scales(noise_scale=self.scale)

    def values(self, uniforms: FloatArray) -> FloatArray:
        """Noise made of uniform numbers."""
        return self.scale * (2 * uniforms - 1) if self.scale > 0 else np.zeros_like(uniforms)

    @property
    def reach(self) -> float:
        """The noise lies within plus and minus this; 0 if there is none."""
        return self.scale

    def density(self, values: FloatArray) -> FloatArray:
        """Density of the noise of one item."""
        if self.scale == 0:
            raise ValueError("scale is 0, so there is no noise that has a density")
        return np.full_like(values, 1 / (2 * self.scale))

    def probability_of_lead(self, lead: FloatArray) -> FloatArray:
        """Probability that the noise of j exceeds that of i by less than ``lead``, at least 0."""
        if self.scale == 0:
            return np.where(lead > 0, 1.0, 0.5)
        return 1 - np.clip(2 * self.scale - lead, 0.0, None) ** 2 / (8 * self.scale**2)


@dataclass(frozen=True)
class MallowsNoise(NoiseLaw):
    """Mallows noise on the ranking itself.

    Parameters
    ----------
    theta : float
        Concentration: larger is less noise, 0 makes all rankings equally likely, ``inf`` is no noise.
    on : {"places", "names"}, default="places"
        "places": the observed ranking has the Mallows law around the noiseless one (Kendall distance of positions).
        "names": a Mallows permutation renames the items, as in the code published with the paper; then it is the
        distance between *orders*, lists of items taken for numbers, that has the Mallows law.

    Examples
    --------
    >>> from rankwise.datasets import MallowsNoise, RankingOracle
    >>> oracle = RankingOracle(lambda X: X, MallowsNoise(1.0), features=3)
    >>> oracle.preference_probability([[0.9, 0.5, 0.1]])[0, 0].round(3)
    array([0.5  , 0.731, 0.844])
    """

    theta: float
    on: Literal["places", "names"] = "places"

    def __post_init__(self) -> None:
        check_real_number("theta", self.theta, infinite=True)
        check_choice("on", self.on, ("places", "names"))

    @property
    def keeps_ties(self) -> bool:
        """Always: it disturbs a ranking that is complete."""
        return True

    def _disturb(self, scores: FloatArray, rng: np.random.Generator) -> tuple[FloatArray | None, FloatArray]:
        positions = sorted_positions(scores)
        if self.on == "places":
            return None, sample_mallows(positions, self.theta, random_state=rng)
        n, k = scores.shape
        images = sample_mallows(np.arange(1.0, k + 1), self.theta, n, rng).astype(np.intp) - 1
        renamed = np.empty_like(positions)
        np.put_along_axis(renamed, images, positions, axis=1)
        return None, renamed

    def preference_probability(self, scores: FloatArray) -> FloatArray | None:
        """Probability of i before j for each row: (n, k, k)."""
        k = scores.shape[1]
        if self.on == "names":
            return self.mean_over_places(scores, _before(k))
        return _at_places(self._around_identity(k).pairwise_probabilities(), sorted_positions(scores))

    def mean_over_places(self, scores: FloatArray, table: FloatArray) -> FloatArray | None:
        """Expected ``table[a, b]`` for i at place a and j at place b, counted from 0: (n, k, k)."""
        n, k = scores.shape
        if k > _MOST_ITEMS:
            return None
        law, positions = joint_places(k, self.theta), sorted_positions(scores)
        if self.on == "places":
            return _at_places(np.tensordot(law, table, axes=2) + np.diag(np.diag(table)), positions)
        # The item that takes the name i stands where it stood.
        result = (_at_places(table, positions).reshape(n, -1) @ law.reshape(k * k, k * k)).reshape(n, k, k)
        result[:, np.arange(k), np.arange(k)] = table[0, 0]
        return result

    def probability_unchanged(self, scores: FloatArray) -> FloatArray:
        """Probability that the ranking stays as it is: (n,)."""
        n, k = np.shape(scores)
        model = self._around_identity(k)
        return np.full(n, np.exp(model.logpmf([model.mode()])[0]))

    def _around_identity(self, k: int) -> Mallows:
        """Law of the places that the places 1 to k go to."""
        return Mallows(theta=self.theta, center=np.arange(1.0, k + 1))


@dataclass(frozen=True)
class _OwnNoise(NoiseLaw):
    """A function of scores and generator that returns noisy scores."""

    function: Callable[[FloatArray, np.random.Generator], FloatArray]

    def _disturb(self, scores: FloatArray, rng: np.random.Generator) -> tuple[FloatArray | None, FloatArray]:
        try:
            noisy = np.asarray(self.function(scores.copy(), rng), dtype=np.float64)
        except (AttributeError, TypeError) as error:
            raise TypeError(
                f"noise failed with {type(error).__name__}: {error}. It is called as noise(scores, rng), with scores "
                "of shape (n, k) and a NumPy Generator, and should return noisy scores of the same shape"
            ) from error
        if noisy.shape != scores.shape or np.isnan(noisy).any():
            raise ValueError(
                f"noise returned an array of shape {noisy.shape}{' with NaN' if np.isnan(noisy).any() else ''}, but "
                f"should return noisy scores of the shape {scores.shape} of the scores"
            )
        return noisy, sorted_positions(noisy)


Noise: TypeAlias = NoiseLaw | Callable[[FloatArray, np.random.Generator], FloatArray] | None


def as_noise_law(noise: Noise) -> NoiseLaw:
    """The law behind what users give as noise."""
    if noise is None:
        return NoNoise()
    if isinstance(noise, NoiseLaw):
        return noise
    if callable(noise):
        return _OwnNoise(noise)
    raise TypeError(
        f"noise is {noise!r}; give None, GaussianNoise, UniformNoise, MallowsNoise, or a function of scores and "
        "generator that returns noisy scores"
    )


def joint_places(k: int, theta: float) -> FloatArray:
    """Law of two places under Mallows noise: ``[a, b, x, y]`` is the probability that a goes to x and b to y.

    Items are inserted best first, each ``up`` places above the end of the list with probability proportional to
    exp(-theta up); an item moves down by one where a later one is inserted above it.
    """
    law, single = np.zeros((k, k, k, k)), np.zeros((k, k))
    x, y = np.indices((k, k))
    low, high = np.minimum(x, y), np.maximum(x, y)
    for t in range(k):
        weights = np.exp(-theta * np.arange(t, -1, -1.0)) if theta < np.inf else (np.arange(t + 1) == t) * 1.0
        inserted = np.append(weights / weights.sum(), np.zeros(k - t - 1))
        upto = np.minimum(np.cumsum(inserted), 1.0)  # probability of an insertion at or above each place
        pairs = law[:t, :t]
        moved = pairs * (1 - upto[high])
        both, lower = pairs * upto[low], pairs * (upto[high] - upto[low])
        moved[..., 1:, 1:] += both[..., :-1, :-1]
        moved[..., 1:, :] += np.where(x > y, lower, 0.0)[..., :-1, :]
        moved[..., :, 1:] += np.where(y > x, lower, 0.0)[..., :, :-1]
        law[:t, :t] = moved
        # The new item at y: who stood at y or below moves down.
        stays = single[:t, :, None] * np.where(x < y, inserted[None, :], 0.0)
        moves = single[:t, :, None] * np.where(x >= y, inserted[None, :], 0.0)
        stays[:, 1:, :] += moves[:, :-1, :]
        law[:t, t] = stays
        law[t, :t] = stays.transpose(0, 2, 1)
        shifted = single[:t] * (1 - upto)
        shifted[:, 1:] += (single[:t] * upto)[:, :-1]
        single[:t], single[t] = shifted, inserted
    return law


def _before(k: int) -> FloatArray:
    """1 where the first place is better than the second, 1/2 where they are one."""
    places = np.arange(k)
    return (places[:, None] < places) + 0.5 * (places[:, None] == places)


def _at_places(table: FloatArray, positions: FloatArray) -> FloatArray:
    """``table`` at the places of i and j for each row: (n, k, k)."""
    places = positions.astype(np.intp) - 1
    return table[places[:, :, None], places[:, None, :]]
