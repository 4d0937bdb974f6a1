"""The generalised Mallows model: a concentration for every stage, sharp at the top and loose below, say."""

from __future__ import annotations

import numpy as np

from rankwise._arguments import check_whole_number
from rankwise._random import check_generator
from rankwise._typing import ArrayLike, FloatArray, RandomState
from rankwise.aggregation.median import kemeny
from rankwise.aggregation.models import _checks, _jit
from rankwise.aggregation.models import _stages as stages
from rankwise.aggregation.ranking_model import RankingModel
from rankwise.data import Rankings

_CURE = "fit Mallows(), which takes incomplete rankings, or keep the items that all have with Rankings.select([...])"


class GeneralizedMallows(RankingModel):
    r"""Generalised Mallows model of Fligner and Verducci: one theta for each place.

    *Definition.* A ranking is chosen from the best place down. At stage j, with :math:`s = k - j + 1` items left, the
    item that has v of these before it in the centre is chosen with probability :math:`e^{-\theta_j v} / \psi_j`,
    :math:`\psi_j = \sum_{v < s} e^{-\theta_j v}`. Equal thetas give the Mallows model of the Kendall distance, which is
    the sum of the displacements v.

    Parameters
    ----------
    center : array-like of shape (n_items,), optional
        Positions of the central ranking (1 = best, full); by default Kemeny's consensus of the rankings. (That centre
        is consistent, but with unequal thetas not always the most likely one.)

    Attributes
    ----------
    center_ : ndarray of shape (n_items,)
        Positions of the centre, 1 = best.
    theta_ : ndarray of shape (n_items - 1,)
        Concentration of each stage, the choice of place 1 first: maximum likelihood estimates given the centre, from 0
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
    >>> from rankwise.aggregation.models.generalized_mallows import GeneralizedMallows
    >>> model = GeneralizedMallows().fit([[1, 2, 3], [1, 3, 2], [2, 1, 3], [1, 2, 3]])
    >>> model.center_, model.theta_.round(3)
    (array([1., 2., 3.]), array([1.513, 1.099]))
    """

    def __init__(self, center: ArrayLike | None = None) -> None:
        self.center = center

    def fit(self, rankings: ArrayLike, sample_weight: ArrayLike | None = None) -> GeneralizedMallows:
        """Estimate the centre and the theta of each stage.

        Parameters
        ----------
        rankings : array-like of shape (n_rankings, n_items) or Rankings
            Positions, 1 = best, without ties: full rankings or top lists.
        sample_weight : array-like of shape (n_rankings,), optional
            How often each ranking counts; by default the weights of the Rankings, else ones.

        Returns
        -------
        GeneralizedMallows
            The model itself.
        """
        data = _checks.rankings_to_fit(rankings, sample_weight)
        _checks.refuse_missing(data, _CURE)
        if self.center is None:
            self.center_ = kemeny(data, random_state=0).positions.copy()
        else:
            self.center_ = np.array(_checks.check_center(self.center, data.n_items))
        self.items_ = data.items
        reached, total = _jit.stage_sums(data.positions, data.weights, self.center_ - 1)
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
        data = _checks.rankings_to_judge(rankings, self.items_)
        _checks.refuse_missing(data, "drop it, or judge it with Mallows")
        cost = np.append(self.theta_, 0.0)
        log_z = np.concatenate([[0.0], np.cumsum(stages.log_normalizers(self.theta_, self._sizes())), [0.0]])
        log_z[-1] = log_z[-2]  # the last item has no choice
        listed = np.isfinite(data.positions).sum(axis=1)
        return -_jit.stage_energy(data.positions, self.center_ - 1, cost) - log_z[listed]

    def sample(self, n: int = 1, random_state: RandomState = None) -> Rankings:
        """Draw full rankings, exactly.

        Parameters
        ----------
        n : int, default=1
            Number of draws.
        random_state : None, int, Generator or RandomState
            Where the random numbers come from.

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
        return Rankings(_jit.positions_from_displacements(displacements, np.argsort(self.center_)), self.items_)

    def mode(self) -> FloatArray:
        """Positions of the most probable ranking, the centre: (n_items,)."""
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
        return _jit.stagewise_pairs(cdf)[np.ix_(place, place)]

    def _sizes(self) -> FloatArray:
        """Items left at each stage: k, k - 1, ..., 2."""
        return np.arange(len(self.items_), 1.0, -1.0)


# ---------------------------------------------------------------------------------------------------------------


def _fit_stage(size: float, reached: float, total: float) -> tuple[float, float]:
    """Theta of a stage and its standard error, from the weight that reached it and the sum of the displacements."""
    if not reached > 0:
        return 0.0, np.inf

    def moments(theta: float) -> tuple[float, float]:
        return float(stages.means(theta, size)[0]), float(stages.variances(theta, size)[0])

    theta = stages.solve_theta(moments, total / reached)
    variance = moments(theta)[1]
    return theta, float(1 / np.sqrt(reached * variance)) if variance > 0 else np.inf
