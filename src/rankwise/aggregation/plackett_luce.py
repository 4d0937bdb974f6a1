"""Plackett-Luce models: rankings as repeated choices of the best item left, with ties after Davidson and Luce."""

from __future__ import annotations

from typing import ClassVar, Literal, NamedTuple

import numpy as np

from rankwise._state import ANYTHING, COUNT, FLOATS, MATRIX, NUMBER, Saved, ensure, maybe, tuple_of
from rankwise._typing import ArrayLike, FloatArray, IntArray, RandomState
from rankwise._validation import check_choice, check_generator, check_whole_number
from rankwise.aggregation import _likelihood_jit
from rankwise.aggregation._likelihood import (
    Moments,
    compared_groups,
    gamma_prior,
    maximize,
    normal_prior,
    positions_by_worth,
)
from rankwise.aggregation.base import RankingModel, check_fit_options, check_worths, rankings_of, weighted_rankings
from rankwise.aggregation.bradley_terry import pair_probabilities
from rankwise.aggregation.samplers import sample_plackett_luce
from rankwise.data import Rankings

# Buckets of t items need symmetric polynomials of degree t, which lose digits as t grows.
_LARGEST_BUCKET = 4


class PlackettLuce(RankingModel):
    r"""The Plackett-Luce model of rankings, by maximum likelihood.

    *Definition.* Item i has the worth :math:`w_i = e^{u_i}`. A ranking is built from the best place down: the
    next bucket C (a single item, or items that tie) is chosen among the items S that are left with probability

    .. math:: P(C \mid S) = \frac{f(C)}{\sum_{C' \subseteq S} f(C')}, \qquad
              f(C) = \delta_{|C|} \Bigl(\prod_{i \in C} w_i\Bigr)^{1/|C|}, \qquad \delta_1 = 1.

    Without ties this is :math:`w_i / \sum_{j \in S} w_j`, and i comes before j with probability
    :math:`w_i / (w_i + w_j)`. Missing items are in no S; unlisted items are in every S and are never
    chosen, so top-k rankings have their exact likelihood.

    Parameters
    ----------
    alpha : float, default=0.0
        Strength of the prior. 0 is maximum likelihood, which exists only if a chain of preferences leads from every
        item to every other; `fit` raises an error that names the groups where it does not. With a positive prior every
        set of rankings can be fitted, and an item that nobody ranked gets the worth of the average item.
    prior_law : {"normal", "gamma"}, default="normal"
        "normal": every :math:`u_i` and :math:`\log\delta_t` has a normal prior of mean 0 and precision ``alpha``
        (a ridge: the log likelihood is reduced by ``alpha / 2`` times their sum of squares). "gamma": every
        :math:`w_i` has a gamma prior of shape ``1 + alpha``, and every :math:`\delta_t` one with its mode at 1. The
        gamma prior counts like ``alpha`` further rankings for each item that rank it first.
    max_iter : int, default=1000
        Maximum number of iterations.
    tol : float, default=1e-10
        Stop when a further step promises less gain in log likelihood than this times the smallest weight.

    Attributes
    ----------
    log_worth_ : ndarray of shape (n_items,)
        u, higher = better, of mean 0.
    se_ : ndarray of shape (n_items,)
        Standard errors of ``log_worth_`` (of its difference from the mean of all items).
    covariance_ : ndarray of shape (n_items, n_items) or None
        Inverse of the information (with the prior), from which differences of worths get their standard errors.
        Beyond 2,000 items it is None, and ``se_`` is NaN.
    tie_strength_ : ndarray of shape (largest_bucket - 1,)
        :math:`\delta_2, \delta_3, \ldots`; 0 for sizes that do not occur, empty without ties.
    log_likelihood_ : float
        Of the rankings, without the prior.
    n_iter_ : int
        Iterations made.
    components_ : tuple of tuples
        Items that comparisons join, the largest group first. Only a prior says how worths of different groups compare.
    items_ : tuple
        Names of the items.

    Notes
    -----
    The log likelihood is concave. Newton's method finds its maximum; beyond 2,000 items L-BFGS does. Buckets of more
    than four items are refused.

    References
    ----------
    Plackett (1975), The analysis of permutations, Applied Statistics 24. Hunter (2004), MM algorithms for generalized
    Bradley-Terry models, Annals of Statistics 32. Caron, Doucet (2012), Efficient Bayesian inference for generalized
    Bradley-Terry models, Journal of Computational and Graphical Statistics 21. Firth, Kosmidis, Turner (2019),
    Davidson-Luce model for multi-item choice with ties, arXiv:1909.07123.

    Examples
    --------
    >>> from rankwise.aggregation import PlackettLuce
    >>> model = PlackettLuce().fit([[1, 2, 3], [2, 1, 3], [1, 3, 2], [3, 2, 1]])
    >>> model.log_worth_.round(3)
    array([ 0.321,  0.055, -0.376])
    >>> model.mode()
    array([1., 2., 3.])
    """

    _saved: ClassVar[Saved] = {
        "components_": tuple_of(tuple_of(ANYTHING)),
        "log_worth_": FLOATS,
        "se_": FLOATS,
        "covariance_": maybe(MATRIX),
        "log_likelihood_": NUMBER,
        "n_iter_": COUNT,
        "tie_strength_": FLOATS,
    }

    def __init__(
        self,
        alpha: float = 0.0,
        prior_law: Literal["normal", "gamma"] = "normal",
        max_iter: int = 1000,
        tol: float = 1e-10,
    ) -> None:
        self.alpha = alpha
        self.prior_law = prior_law
        self.max_iter = max_iter
        self.tol = tol

    def fit(self, rankings: ArrayLike, sample_weight: ArrayLike | None = None) -> PlackettLuce:
        """Estimate the worths.

        Parameters
        ----------
        rankings : array-like of shape (n_rankings, n_items) or Rankings
            Positions, 1 = best, of any kind: full, tied, top-k, incomplete.
        sample_weight : array-like of shape (n_rankings,), optional
            How often each ranking counts; by default the weights of the Rankings, or ones.

        Returns
        -------
        PlackettLuce
            The model itself.
        """
        check_fit_options(self.alpha, self.max_iter, self.tol)
        source = weighted_rankings(rankings, sample_weight)
        if source.n_items < 2:
            raise ValueError("worths compare items, but there is only one")
        counted = np.flatnonzero(source.weights)
        source = source if len(counted) == len(source) else source[counted]
        choices = _flatten(source)
        too_large = choices.stage_size > _LARGEST_BUCKET
        if too_large.any():
            stage = int(np.argmax(too_large))
            row = counted[int(np.searchsorted(choices.stage_start, stage, side="right")) - 1]
            raise ValueError(
                f"ranking {row} ties {choices.stage_size[stage]} items, but the likelihood of ties goes up to "
                f"{_LARGEST_BUCKET}. If they are what was left over at the end, mark them as unlisted (inf); "
                "otherwise break the ties, or drop such rankings"
            )
        k, weights = source.n_items, source.weights
        log_prior = self._log_prior(k)
        above, below = _likelihood_jit.links(*choices)
        components = compared_groups(above, below, source.items, with_prior=log_prior is not None)
        largest = int(choices.stage_size.max(initial=1))
        # A size that nobody chose has strength 0 and is not a parameter.
        occurs = np.flatnonzero(np.bincount(choices.stage_size, minlength=largest + 1)[2:] > 0)
        kept = np.concatenate([np.arange(k), k + occurs])

        def moments(theta: FloatArray, with_information: bool) -> tuple[float, FloatArray, FloatArray]:
            if largest == 1:
                order, row_start, _, stage_start = choices
                return _likelihood_jit.strict_moments(order, row_start, stage_start, weights, theta, with_information)
            log_tie = np.full(largest, -np.inf)
            log_tie[0] = 0.0
            log_tie[1 + occurs] = theta[k:]
            value, gradient, information = _likelihood_jit.tied_moments(
                *choices, weights, theta[:k], log_tie, with_information
            )
            return value, gradient[kept], information[np.ix_(kept, kept)] if with_information else information

        found = maximize(
            moments,
            k,
            len(kept),
            log_prior=log_prior,
            max_iter=self.max_iter,
            tol=self.tol,
            lightest=float(weights.min(initial=np.inf)),
            bounded=largest == 1,
        )
        self.log_worth_ = found.parameters[:k]
        self.tie_strength_ = np.zeros(largest - 1)
        self.tie_strength_[occurs] = np.exp(found.parameters[k:])
        self.covariance_ = None if found.covariance is None else found.covariance[:k, :k]
        self.se_ = np.full(k, np.nan) if self.covariance_ is None else np.sqrt(self.covariance_.diagonal())
        self.log_likelihood_ = found.log_likelihood
        self.n_iter_ = found.n_iter
        self.components_ = components
        self.items_ = source.items
        return self

    def sample(self, n: int = 1, random_state: RandomState = None) -> Rankings:
        """Draw full rankings (with ties, if the model has them).

        Parameters
        ----------
        n : int, default=1
            Number of rankings.
        random_state : None, int, Generator or RandomState
            Source of the random numbers.

        Returns
        -------
        Rankings
        """
        self._check_fitted()
        size = check_whole_number("n", n, at_least=0)
        if len(self.tie_strength_) == 0:
            return Rankings(sample_plackett_luce(self.log_worth_, size, random_state), self.items_)
        uniforms = check_generator(random_state).random((size, 2 * len(self.items_)))
        return Rankings(_likelihood_jit.sample_tied(self.log_worth_, self._log_tie(), uniforms), self.items_)

    def logpmf(self, rankings: ArrayLike) -> FloatArray:
        """Log probability of each ranking, given the set of items that it holds.

        Parameters
        ----------
        rankings : array-like of shape (n_rankings, n_items) or Rankings
            Positions of the items of the fit, in the same columns. A top-k ranking has the summed probability of all
            rankings that begin like it; one that compares nothing has probability 1.

        Returns
        -------
        ndarray of shape (n_rankings,)
            ``-inf`` for ties of a size that the model has not met.
        """
        self._check_fitted()
        source = rankings_of(self.items_, rankings)
        return _likelihood_jit.log_probabilities(*_flatten(source), self.log_worth_, self._log_tie())

    def scores(self, rankings: ArrayLike) -> FloatArray:
        """Gradient of the log probability of each ranking at the fitted worths.

        Tests of whether all rankings have the same worths are made of them, as those of `PlackettLuceTree`.

        Parameters
        ----------
        rankings : array-like of shape (n_rankings, n_items) or Rankings
            Positions of the items of the fit, in the same columns. Ties must be of sizes that the model has met.

        Returns
        -------
        ndarray of shape (n_rankings, n_items + n_sizes)
            A column for each log worth, then one for the log strength of ties of each size that the model has met.

        Examples
        --------
        >>> from rankwise.aggregation import PlackettLuce
        >>> votes = [[1, 2], [1, 2], [2, 1]]
        >>> PlackettLuce().fit(votes).scores(votes).round(2)
        array([[ 0.33, -0.33],
               [ 0.33, -0.33],
               [-0.67,  0.67]])
        """
        self._check_fitted()
        choices = _flatten(rankings_of(self.items_, rankings))
        sizes = np.concatenate([[True], self.tie_strength_ > 0])
        too_large = choices.stage_size > len(sizes)
        if too_large.any() or not sizes[choices.stage_size - 1].all():
            raise ValueError("a ranking ties as many items as no ranking of the fit does, so its probability is 0")
        scores = _likelihood_jit.row_scores(*choices, self.log_worth_, self._log_tie())
        return scores[:, np.concatenate([np.full(len(self.items_), True), sizes[1:]])]

    def mode(self) -> FloatArray:
        """The most probable ranking without ties, as positions: items by decreasing worth (equal worths tie)."""
        self._check_fitted()
        return positions_by_worth(self.log_worth_)

    def pairwise_probabilities(self) -> FloatArray:
        """Probability of i before j when only the two are compared, ties counted half: (n_items, n_items).

        Without ties in the model this is also the probability of i before j in a ranking of any set of items.
        """
        self._check_fitted()
        before, tied = pair_probabilities(self.log_worth_, self._pair_tie_strength())
        return before + tied / 2

    def tie_probabilities(self) -> FloatArray:
        """Probability that i and j tie when only the two are compared: (n_items, n_items), zero diagonal."""
        self._check_fitted()
        return pair_probabilities(self.log_worth_, self._pair_tie_strength())[1]

    def _log_prior(self, n_items: int) -> Moments | None:
        check_choice("prior_law", self.prior_law, ("normal", "gamma"))
        if self.alpha == 0:
            return None
        return normal_prior(self.alpha) if self.prior_law == "normal" else gamma_prior(self.alpha, n_items)

    def _pair_tie_strength(self) -> float:
        return float(self.tie_strength_[0]) if len(self.tie_strength_) else 0.0

    def _log_tie(self) -> FloatArray:
        with np.errstate(divide="ignore"):
            return np.log(np.concatenate([[1.0], self.tie_strength_]))

    def _check_saved(self) -> None:
        check_worths(self.log_worth_, len(self.items_), self.tie_strength_)
        ensure(len(self.tie_strength_) < _LARGEST_BUCKET, "ties are too large")


class _Choices(NamedTuple):
    """Rankings laid flat; see `_likelihood_jit`."""

    order: IntArray
    row_start: IntArray
    stage_size: IntArray
    stage_start: IntArray


def _flatten(rankings: Rankings) -> _Choices:
    return _Choices(*_likelihood_jit.flatten(rankings.positions))
