"""Mallows models: rankings scattered around a center, the less likely the farther away.

`Mallows` has one concentration, `GeneralizedMallows` one for each place.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import ClassVar, Literal, NamedTuple

import numpy as np

from rankwise._state import FLOATS, NUMBER, Saved, check_shape, ensure
from rankwise._typing import ArrayLike, FloatArray, RandomState
from rankwise._validation import check_choice, check_generator, check_real_number, check_whole_number
from rankwise.aggregation import _mallows_jit
from rankwise.aggregation import _mallows_stages as stages
from rankwise.aggregation._mallows_laws import CayleyLaw, DistanceLaw, HammingLaw, KendallLaw
from rankwise.aggregation._placement_laws import FootruleLaw, SpearmanLaw
from rankwise.aggregation.base import (
    RankingModel,
    check_center,
    check_saved_center,
    rankings_to_evaluate,
    rankings_to_fit,
    refuse_gaps,
)
from rankwise.aggregation.kemeny import kemeny
from rankwise.data import Rankings

Distance = Literal["kendall", "cayley", "hamming", "footrule", "spearman"]

_CURE = (
    "fit Mallows(), which takes incomplete rankings, or keep the items that all rankings have with "
    "Rankings.select([...])"
)
_LAWS: dict[str, type[DistanceLaw]] = {
    "kendall": KendallLaw,
    "cayley": CayleyLaw,
    "hamming": HammingLaw,
    "footrule": FootruleLaw,
    "spearman": SpearmanLaw,
}


class Mallows(RankingModel):
    r"""Mallows model: one central ranking, and a probability that falls with the distance to it.

    *Definition.* :math:`P(\pi) = e^{-\theta\, d(\pi, \pi_0)} / Z(\theta)` over the full rankings of k items. theta = 0
    is the uniform law, larger is spikier, and infinite theta is the center alone. d is a distance of *positions*:

    ============== ======================================= ======================================= ====================
    ``distance``   d                                       center found by ``fit``                 normalizer Z
    ============== ======================================= ======================================= ====================
    ``"kendall"``  pairs ordered differently               Kemeny's consensus (see `kemeny`)       closed form
    ``"cayley"``   exchanges of two items needed           descent over exchanges from three       closed form
                                                           starts; a local optimum
    ``"hamming"``  items out of place                      assignment, exact                       closed form
    ``"footrule"`` sum of \|differences of places\|        assignment, exact                       exact, O(k^2)
    ``"spearman"`` sum of squared differences of places    Borda's consensus, exact                exact to 18 items,
                                                                                                   estimated to 100
    ============== ======================================= ======================================= ====================

    Parameters
    ----------
    distance : {"kendall", "cayley", "hamming", "footrule", "spearman"}, default="kendall"
        The distance. Only Kendall's takes top-k and incomplete rankings.
    theta : float, optional
        Concentration, at least 0; estimated by default.
    center : array-like of shape (n_items,), optional
        Positions of the central ranking (1 = best, full); estimated by default. With both theta and center the model
        can be used without ``fit``.

    Attributes
    ----------
    center_ : ndarray of shape (n_items,)
        Positions of the center, 1 = best. (Kemeny's consensus is proven where `kemeny` can within a minute.)
    theta_ : float
        Concentration: the maximum likelihood estimate, 0 if the rankings are farther from the center than uniform ones
        would be, and infinite if all equal the center.
    theta_se_ : float
        Its standard error :math:`1/\sqrt{N\,\mathrm{Var}\,d}` given the center: infinite where theta is, 0 where theta
        was given. For incomplete rankings a sandwich estimate.
    log_likelihood_ : float
        Sum of the weighted log probabilities. NaN for incomplete rankings, whose probabilities take long:
        ``logpmf`` has them.
    log_normalizer_se_ : float
        Standard error of log Z, 0 where it is exact (all but Spearman with 19 items or more).
    items_ : tuple
        Names of the items.

    Notes
    -----
    *Partial rankings* (Kendall). A top-t list has the probability of its first t stages, so theta is the maximum
    likelihood estimate still. For rankings that miss items (``NaN``), the center is Kemeny's consensus of the pairs
    that they do order, and theta is a moment estimate: the number of pairs ordered against the center equals its
    expectation, from the exact pairwise probabilities of the items that are there. That is right if what is missing
    does not depend on the ranking. (A ranking with both missing and unlisted items is an approximation: pairs of
    unlisted items are removed as if only the listed ones were gone.)

    ``fit`` ignores rankings that order no pair or have weight 0.

    *Draws* are exact, except for Spearman with 19 items or more: there each is the end of its own Metropolis chain,
    :math:`10 k^2` proposed exchanges from the center. Its normalizer is then an average of 10 runs of 1,000 particles,
    always with the same random numbers.

    References
    ----------
    Mallows (1957), Non-null ranking models, Biometrika 44. Fligner, Verducci (1986), Distance based ranking models,
    Journal of the Royal Statistical Society B 48.

    Examples
    --------
    >>> from rankwise.aggregation import Mallows
    >>> model = Mallows().fit([[1, 2, 3], [1, 3, 2], [2, 1, 3], [1, 2, 3]])
    >>> model.center_, round(model.theta_, 3), round(model.theta_se_, 3)
    (array([1., 2., 3.]), 1.356, 0.728)
    >>> np.exp(model.logpmf([[1, 2, 3], [1, 2, float("nan")]])).round(3)
    array([0.6  , 0.795])
    """

    _saved: ClassVar[Saved] = {
        "center_": FLOATS,
        "theta_": NUMBER,
        "theta_se_": NUMBER,
        "log_normalizer_se_": NUMBER,
        "log_likelihood_": NUMBER,
    }

    def __init__(
        self, distance: Distance = "kendall", theta: float | None = None, center: ArrayLike | None = None
    ) -> None:
        self.distance = distance
        self.theta = theta
        self.center = center

    def fit(self, rankings: ArrayLike, sample_weight: ArrayLike | None = None) -> Mallows:
        """Estimate center and theta.

        Parameters
        ----------
        rankings : array-like of shape (n_rankings, n_items) or Rankings
            Positions, 1 = best, without ties.
        sample_weight : array-like of shape (n_rankings,), optional
            How often each ranking counts; by default the weights of the Rankings, or ones.

        Returns
        -------
        Mallows
            The model itself.
        """
        data = rankings_to_fit(rankings, sample_weight)
        law = self._law(data.n_items)
        if self.distance != "kendall":
            refuse_gaps(data, "use distance='kendall', which takes top-k and incomplete ones")
        center = law.best_center(data) if self.center is None else check_center(self.center, data.n_items)
        distance = law.distances(data, center)
        if self.theta is None:
            moments = law.moments_of_sum(data, center)
            self.theta_ = stages.solve_theta(moments, float(data.weights @ distance), tolerance=law.tolerance)
            self.theta_se_ = law.standard_error(data, center, self.theta_)
        else:
            self.theta_, self.theta_se_ = check_real_number("theta", self.theta, infinite=True), 0.0
        self.center_ = np.array(center)
        self.items_ = data.items
        self.log_normalizer_se_ = law.errors(self.theta_)[0]
        self.log_likelihood_ = np.nan
        if not np.isnan(data.positions).any():
            self.log_likelihood_ = float(data.weights @ law.log_probabilities(data, self.center_, self.theta_))
        return self

    def logpmf(self, rankings: ArrayLike) -> FloatArray:
        """Log probability of each ranking: of a partial one, that of all full rankings that agree with it.

        Parameters
        ----------
        rankings : array-like of shape (n_rankings, n_items) or Rankings
            Positions, 1 = best, without ties. Partial ones only with the Kendall distance.

        Returns
        -------
        ndarray of shape (n_rankings,)
            0 for a ranking that says nothing; NaN for one that misses more than 10 items, where the sum over all
            places of these is too long.
        """
        state = self._state()
        data = rankings_to_evaluate(rankings, state.items)
        if self.distance != "kendall":
            refuse_gaps(data, "only distance='kendall' knows the probability of a partial one")
        return state.law.log_probabilities(data, state.center, state.theta)

    def sample(self, n: int = 1, random_state: RandomState = None) -> Rankings:
        """Draw full rankings.

        Parameters
        ----------
        n : int, default=1
            Number of draws.
        random_state : None, int, Generator or RandomState
            Source of the random numbers.

        Returns
        -------
        Rankings
        """
        state = self._state()
        size = check_whole_number("n", n, at_least=0)
        draws = state.law.sample(state.theta, size, check_generator(random_state))
        return Rankings(draws[:, state.center.astype(int) - 1], state.items)

    def mode(self) -> FloatArray:
        """Positions of the most probable ranking, the center: (n_items,)."""
        return self._state().center.copy()

    def pairwise_probabilities(self) -> FloatArray:
        """P(i before j), row i, column j: (n_items, n_items), 1/2 on the diagonal.

        Exact for Kendall, Cayley and Hamming, and for the others up to 8 items. Beyond that the shares among 10,000
        draws, always the same, with standard errors of at most 0.005.
        """
        state = self._state()
        place = state.center.astype(int) - 1
        return state.law.pairs(state.theta)[np.ix_(place, place)]

    def _law(self, k: int) -> DistanceLaw:
        check_choice("distance", self.distance, tuple(_LAWS))
        return _LAWS[self.distance](k)

    def _state(self) -> _State:
        if hasattr(self, "theta_"):
            return _State(self._law(len(self.items_)), self.center_, self.theta_, self.items_)
        if self.theta is None or self.center is None:
            self._check_fitted()
        center = check_center(self.center)
        theta = check_real_number("theta", self.theta, infinite=True)
        return _State(self._law(len(center)), center, theta, tuple(range(len(center))))

    def _check_saved(self) -> None:
        check_saved_center(self.center_, len(self.items_))
        ensure(self.theta_ >= 0, "theta is negative")


class _State(NamedTuple):
    """Parameters of the model: fitted, or all given."""

    law: DistanceLaw
    center: FloatArray
    theta: float
    items: tuple[Hashable, ...]


class GeneralizedMallows(RankingModel):
    r"""Generalized Mallows model of Fligner and Verducci: one theta for each place.

    *Definition.* A ranking is chosen from the best place down. At stage j, with :math:`s = k - j + 1` items left, the
    item that has v of these before it in the center is chosen with probability :math:`e^{-\theta_j v} / \psi_j`,
    :math:`\psi_j = \sum_{v < s} e^{-\theta_j v}`. Equal thetas give the Mallows model of the Kendall distance, which is
    the sum of the displacements v.

    Parameters
    ----------
    center : array-like of shape (n_items,), optional
        Positions of the central ranking (1 = best, full); by default Kemeny's consensus of the rankings. (That center
        is consistent, but with unequal thetas not always the most likely one.)

    Attributes
    ----------
    center_ : ndarray of shape (n_items,)
        Positions of the center, 1 = best.
    theta_ : ndarray of shape (n_items - 1,)
        Concentration of each stage, the choice of place 1 first: maximum likelihood estimates given the center, from 0
        (uniform) to infinity (always the first item left). 0 for a stage that no ranking reaches.
    theta_se_ : ndarray of shape (n_items - 1,)
        Their standard errors; infinite where theta is, and for a stage that no ranking reaches.
    log_likelihood_ : float
        Sum of the weighted log probabilities.
    items_ : tuple
        Names of the items.

    Notes
    -----
    Top-t lists enter with their first t stages, which is their exact likelihood. Rankings that order no pair, or have
    weight 0, are left out of ``fit``.

    References
    ----------
    Fligner, Verducci (1986), Distance based ranking models, Journal of the Royal Statistical Society B 48.

    Examples
    --------
    >>> from rankwise.aggregation import GeneralizedMallows
    >>> model = GeneralizedMallows().fit([[1, 2, 3], [1, 3, 2], [2, 1, 3], [1, 2, 3]])
    >>> model.center_, model.theta_.round(3)
    (array([1., 2., 3.]), array([1.513, 1.099]))
    """

    _saved: ClassVar[Saved] = {
        "center_": FLOATS,
        "theta_": FLOATS,
        "theta_se_": FLOATS,
        "log_likelihood_": NUMBER,
    }

    def __init__(self, center: ArrayLike | None = None) -> None:
        self.center = center

    def fit(self, rankings: ArrayLike, sample_weight: ArrayLike | None = None) -> GeneralizedMallows:
        """Estimate the center and the theta of each stage.

        Parameters
        ----------
        rankings : array-like of shape (n_rankings, n_items) or Rankings
            Positions, 1 = best, without ties: full rankings or top lists.
        sample_weight : array-like of shape (n_rankings,), optional
            How often each ranking counts; by default the weights of the Rankings, or ones.

        Returns
        -------
        GeneralizedMallows
            The model itself.
        """
        data = rankings_to_fit(rankings, sample_weight)
        refuse_gaps(data, _CURE, allow_unlisted=True)
        if self.center is None:
            self.center_ = kemeny(data, random_state=0).positions.copy()
        else:
            self.center_ = np.array(check_center(self.center, data.n_items))
        self.items_ = data.items
        reached, total = _mallows_jit.stage_sums(data.positions, data.weights, self.center_ - 1)
        fitted = [_fit_stage(*stage) for stage in zip(self._sizes(), reached[:-1], total[:-1], strict=True)]
        self.theta_, self.theta_se_ = np.array(fitted).reshape(-1, 2).T.copy()
        self.log_likelihood_ = float(data.weights @ self.logpmf(data))
        return self

    def logpmf(self, rankings: ArrayLike) -> FloatArray:
        """Log probability of each ranking; of a top list, that of all full rankings that begin with it.

        Parameters
        ----------
        rankings : array-like of shape (n_rankings, n_items) or Rankings
            Positions, 1 = best, without ties: full rankings or top lists.

        Returns
        -------
        ndarray of shape (n_rankings,)
        """
        self._check_fitted()
        data = rankings_to_evaluate(rankings, self.items_)
        refuse_gaps(data, "drop it, or judge it with Mallows", allow_unlisted=True)
        cost = np.append(self.theta_, 0.0)
        log_z = np.concatenate([[0.0], np.cumsum(stages.log_normalizers(self.theta_, self._sizes())), [0.0]])
        log_z[-1] = log_z[-2]  # the last item has no choice
        listed = np.isfinite(data.positions).sum(axis=1)
        return -_mallows_jit.stage_energy(data.positions, self.center_ - 1, cost) - log_z[listed]

    def sample(self, n: int = 1, random_state: RandomState = None) -> Rankings:
        """Draw full rankings, exactly.

        Parameters
        ----------
        n : int, default=1
            Number of draws.
        random_state : None, int, Generator or RandomState
            Source of the random numbers.

        Returns
        -------
        Rankings
        """
        self._check_fitted()
        k = len(self.items_)
        size = check_whole_number("n", n, at_least=0)
        uniforms = check_generator(random_state).random((size, k - 1))
        displacements = np.zeros((size, k), dtype=np.intp)
        for stage, (theta, left) in enumerate(zip(self.theta_, self._sizes(), strict=True)):
            u = uniforms[:, stage]
            real = u * left if theta == 0 else -np.log1p(u * np.expm1(-theta * left)) / theta
            displacements[:, stage] = np.minimum(real, left - 1)  # rounding may reach the number left
        return Rankings(_mallows_jit.positions_from_displacements(displacements, np.argsort(self.center_)), self.items_)

    def mode(self) -> FloatArray:
        """Positions of the most probable ranking, the center: (n_items,)."""
        self._check_fitted()
        return self.center_.copy()

    def pairwise_probabilities(self) -> FloatArray:
        """P(i before j), row i, column j: (n_items, n_items), 1/2 on the diagonal; exact, in O(k^3)."""
        self._check_fitted()
        k = len(self.items_)
        cdf = np.zeros((k + 1, k + 1))  # by items left, and items before the one chosen
        for theta, size in zip(self.theta_, self._sizes(), strict=True):
            first = np.arange(1.0, size + 1)
            share = first / size if theta == 0 else np.expm1(-theta * first) / np.expm1(-theta * size)
            cdf[int(size), 1 : int(size) + 1] = share
        place = self.center_.astype(int) - 1
        return _mallows_jit.stagewise_pairs(cdf)[np.ix_(place, place)]

    def _sizes(self) -> FloatArray:
        """Items left at each stage: k, k - 1, ..., 2."""
        return np.arange(len(self.items_), 1.0, -1.0)

    def _check_saved(self) -> None:
        check_saved_center(self.center_, len(self.items_))
        check_shape(self.theta_, (len(self.items_) - 1,), "theta")
        ensure((self.theta_ >= 0).all(), "a theta is negative, or NaN")


def _fit_stage(size: float, reached: float, total: float) -> tuple[float, float]:
    """Theta of a stage and its standard error, from the weight that reached it and the sum of the displacements."""
    if not reached > 0:
        return 0.0, np.inf

    def moments(theta: float) -> tuple[float, float]:
        return float(stages.means(theta, size)[0]), float(stages.variances(theta, size)[0])

    theta = stages.solve_theta(moments, total / reached)
    variance = moments(theta)[1]
    return theta, float(1 / np.sqrt(reached * variance)) if variance > 0 else np.inf


def mean_displacements(theta: float, sizes: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Mean and variance of the displacement at stages of these numbers of items, of the Kendall distance."""
    return stages.means(theta, sizes), stages.variances(theta, sizes)


def theta_for(n_stages: FloatArray, total: float) -> float:
    """The theta (Kendall) at which so many stages of 1, 2, ... items have this sum of displacements on average."""
    sizes = np.arange(1.0, len(n_stages) + 1)

    def moments(theta: float) -> tuple[float, float]:
        mean, variance = mean_displacements(theta, sizes)
        return float(n_stages @ mean), float(n_stages @ variance)

    return stages.solve_theta(moments, total)
