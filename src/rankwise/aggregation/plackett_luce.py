"""Plackett-Luce models: rankings as repeated choices of the best item left, with ties after Davidson and Luce."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np

from rankwise._state import FLOATS, Saved, ensure, optional
from rankwise._threads import one_thread
from rankwise._typing import ArrayLike, FloatArray, IntArray, RandomState
from rankwise._validation import check_choice, check_generator, check_whole_number
from rankwise.aggregation import _likelihood_jit
from rankwise.aggregation._attribute_model import AttributeModel
from rankwise.aggregation._choice_moments import (
    Choices,
    flatten,
    moments_of_attributes,
    moments_of_worths,
    null_log_likelihood,
    squares_of_attributes,
    squares_of_worths,
    tie_sizes,
)
from rankwise.aggregation._likelihood import (
    Maximum,
    Moments,
    compared_groups,
    gamma_prior,
    maximize,
    normal_prior,
)
from rankwise.aggregation.base import check_fit_options, check_worths, rankings_of, weighted_rankings
from rankwise.aggregation.bradley_terry import pair_probabilities
from rankwise.aggregation.item_features import (
    ItemFeatures,
    check_item_features,
    linear,
    linear_squares,
    standardized,
    standardized_by_ranking,
)
from rankwise.aggregation.samplers import sample_plackett_luce
from rankwise.aggregation.sandwich import WeightKind
from rankwise.data import Rankings

# Buckets of t items need symmetric polynomials of degree t, which lose digits as t grows.
_LARGEST_BUCKET = 4


class PlackettLuce(AttributeModel):
    r"""The Plackett-Luce model of rankings, by maximum likelihood.

    *Definition.* Item i has the worth :math:`w_i = e^{u_i}`. A ranking is built from the best place down: the
    next bucket C (a single item, or items that tie) is chosen among the items S that are left with probability

    .. math:: P(C \mid S) = \frac{f(C)}{\sum_{C' \subseteq S} f(C')}, \qquad
              f(C) = \delta_{|C|} \Bigl(\prod_{i \in C} w_i\Bigr)^{1/|C|}, \qquad \delta_1 = 1.

    Without ties this is :math:`w_i / \sum_{j \in S} w_j`, and i comes before j with probability
    :math:`w_i / (w_i + w_j)`. Missing items are in no S; unlisted items are in every S and are never
    chosen, so top-k rankings have their exact likelihood. With attributes z of the items, :math:`u_i = z_i'b`: the
    conditional logit (one choice) or rank-ordered logit model.

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
        gamma prior counts like ``alpha`` further rankings for each item that rank it first. With attributes, the normal
        prior is on the coefficients per standard deviation of each attribute, and there is no other.
    max_iter : int, default=1000
        Maximum number of iterations.
    tol : float, default=1e-10
        Stop when a further step promises less gain in log likelihood than this times the smallest weight.
    weight_kind : {"auto", "counts", "survey"}, default="auto"
        What the weights are. Of counts, 2 stands for two alike, and they need not be whole (pseudo-rankings may count
        half). With survey weights, standard errors are robust: they come from the rows, and not from the scale of the
        weights. By default whole numbers are counts, and others are survey weights.

    Attributes
    ----------
    log_worth_ : ndarray of shape (n_items,)
        u, higher = better, of mean 0.
    se_ : ndarray of shape (n_items,)
        Standard errors of ``log_worth_`` (of its difference from the mean of all items).
    covariance_ : ndarray of shape (n_items, n_items) or None
        Inverse of the information (with the prior), from which differences of worths get their standard errors.
        Beyond 2,000 items it is None, and ``se_`` is NaN.
    coef_, coef_se_ : ndarray of shape (n_attributes,)
        Coefficients of the attributes and their standard errors, where ``fit`` was given ``item_features``; then
        ``log_worth_`` is that of the attributes (of their means, where they differ between rankings).
    coef_covariance_ : ndarray of shape (n_attributes, n_attributes) or None
        Covariance of the coefficients.
    feature_names_ : tuple of str
        Names of the attributes.
    tie_strength_, tie_strength_se_ : ndarray of shape (largest_bucket - 1,)
        :math:`\delta_2, \delta_3, \ldots` and their standard errors; 0 for sizes that do not occur, empty without
        ties.
    log_likelihood_, null_log_likelihood_ : float
        Of the rankings, without the prior; and the largest of a model in which all items are equal.
    n_rankings_ : float
        Weight of the rankings that compare items.
    n_effective_ : float
        With survey weights, how many rankings of equal weight are as informative (Kish); only then.
    n_iter_ : int
        Iterations made.
    components_ : tuple of tuples
        Items that comparisons join, the largest group first. Only a prior says how worths of different groups compare.
    items_ : tuple
        Names of the items.

    Notes
    -----
    The log likelihood is concave. Newton's method finds its maximum; beyond 2,000 items L-BFGS does. Buckets of more
    than four items are refused. Robust standard errors are the sandwich of the scores of the rankings, each of which
    counts as independent of the others, with the factor n / (n - 1); a prior counts like observations of its own.

    References
    ----------
    Plackett (1975), The analysis of permutations, Applied Statistics 24. McFadden (1974), Conditional logit analysis of
    qualitative choice behavior. Beggs, Cardell, Hausman (1981), Assessing the potential demand for electric cars,
    Journal of Econometrics 17. Hunter (2004), MM algorithms for generalized
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

    _saved: ClassVar[Saved] = {"tie_strength_": FLOATS, "tie_strength_se_": optional(FLOATS)}

    def __init__(
        self,
        alpha: float = 0.0,
        prior_law: Literal["normal", "gamma"] = "normal",
        max_iter: int = 1000,
        tol: float = 1e-10,
        weight_kind: WeightKind = "auto",
    ) -> None:
        self.alpha = alpha
        self.prior_law = prior_law
        self.max_iter = max_iter
        self.tol = tol
        self.weight_kind = weight_kind

    def fit(
        self, rankings: ArrayLike, sample_weight: ArrayLike | None = None, *, item_features: Any = None
    ) -> PlackettLuce:
        """Estimate the worths, or the coefficients of attributes that make them.

        Parameters
        ----------
        rankings : array-like of shape (n_rankings, n_items) or Rankings
            Positions, 1 = best, of any kind: full, tied, top-k, incomplete. A choice from a set is a top-1 ranking: the
            chosen item has position 1, the others of the set are unlisted (inf), all others missing (NaN).
        sample_weight : array-like of shape (n_rankings,), optional
            How often each ranking counts, or survey weights (see ``weight_kind``); by default the weights of the
            Rankings, or ones.
        item_features : array-like of shape (n_items, n_attributes) or (n_rankings, n_items, n_attributes), optional
            Attributes of the items, or of the items in each ranking; a data frame with one row per item; or a
            dictionary from names to values of shape (n_items,) or (n_rankings, n_items), see `interactions`. Where an
            item is missing from a ranking, its attributes may be NaN.

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
        n_given = len(source)
        source = source if len(counted) == n_given else source[counted]
        choices = flatten(source)
        too_large = choices.stage_size > _LARGEST_BUCKET
        if too_large.any():
            stage = int(np.argmax(too_large))
            row = counted[int(np.searchsorted(choices.stage_start, stage, side="right")) - 1]
            raise ValueError(
                f"ranking {row} ties {choices.stage_size[stage]} items, but the likelihood of ties goes up to "
                f"{_LARGEST_BUCKET}. If they are what was left over at the end, mark them as unlisted (inf); "
                "otherwise break the ties, or drop such rankings"
            )
        log_prior = self._log_prior(source.n_items, item_features is not None)
        above, below = _likelihood_jit.links(*choices)
        chained = log_prior is not None or item_features is not None
        components = compared_groups(above, below, source.items, with_prior=chained)
        compares = np.diff(choices.stage_start) > 0
        if item_features is None:
            self._fit_worths(source, choices, log_prior)
            self._note_separation(above, below, source.items)
        else:
            present = np.zeros((n_given, source.n_items), dtype=bool)
            present[counted] = ~np.isnan(source.positions) & compares[:, np.newaxis]
            features = check_item_features(item_features, source.items, present, n_given)
            if features.by_ranking and len(counted) < n_given:
                features = features._replace(values=features.values[counted])
            self._fit_coefficients(source, choices, log_prior, features, present[counted])
        self.null_log_likelihood_ = null_log_likelihood(choices, source.weights)
        self.n_rankings_ = float(source.weights[compares].sum())
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

    def logpmf(self, rankings: ArrayLike, *, item_features: Any = None) -> FloatArray:
        """Log probability of each ranking, given the set of items that it holds.

        Parameters
        ----------
        rankings : array-like of shape (n_rankings, n_items) or Rankings
            Positions of the items of the fit, in the same columns. A top-k ranking has the summed probability of all
            rankings that begin like it; one that compares nothing has probability 1.
        item_features : array-like, data frame or dict, optional
            Attributes of the items as in `fit`, if they are others than those of the fit. With them, the items may be
            others, too.

        Returns
        -------
        ndarray of shape (n_rankings,)
            ``-inf`` for ties of a size that the model has not met.
        """
        self._check_fitted()
        if item_features is None:
            source = rankings_of(self.items_, rankings)
            return _likelihood_jit.log_probabilities(*flatten(source), self.log_worth_, self._log_tie())
        source = rankings if isinstance(rankings, Rankings) else Rankings(rankings)
        log_worth = self.predict_log_worth(item_features, source.items)
        if log_worth.shape not in (source.shape, source.shape[1:]):
            raise ValueError(
                f"item_features has attributes for {' x '.join(map(str, log_worth.shape))} items, but the rankings are "
                f"{' x '.join(map(str, source.shape))}; give one row per item, or one for each item of each ranking"
            )
        if log_worth.ndim == 1:
            return _likelihood_jit.log_probabilities(*flatten(source), log_worth, self._log_tie())
        result = np.zeros(len(source))
        for row in range(len(source)):
            result[row] = _likelihood_jit.log_probabilities(
                *flatten(source[[row]]), np.nan_to_num(log_worth[row], nan=0.0), self._log_tie()
            )[0]
        return result

    def _described(self) -> tuple[str, str, list[tuple[str, float, float]]]:
        errors = getattr(self, "tie_strength_se_", self.tie_strength_)  # a file of an earlier version is refused below
        others = [
            (f"log tie strength ({size})", float(np.log(strength)), float(error / strength))
            for size, (strength, error) in enumerate(zip(self.tie_strength_, errors, strict=True), start=2)
            if strength > 0
        ]
        return "Plackett-Luce model", "ranking", others

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
        choices = flatten(rankings_of(self.items_, rankings))
        sizes = np.concatenate([[True], self.tie_strength_ > 0])
        too_large = choices.stage_size > len(sizes)
        if too_large.any() or not sizes[choices.stage_size - 1].all():
            raise ValueError("a ranking ties as many items as no ranking of the fit does, so its probability is 0")
        scores = _likelihood_jit.row_scores(*choices, self.log_worth_, self._log_tie())
        return scores[:, np.concatenate([np.full(len(self.items_), True), sizes[1:]])]

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

    def _fit_worths(self, source: Rankings, choices: Choices, log_prior: Moments | None) -> None:
        k, sizes = source.n_items, tie_sizes(choices)
        found = self._maximize(
            moments_of_worths(choices, source.weights, k, sizes), k, sizes, source.weights, log_prior
        )

        def squares(theta: FloatArray) -> FloatArray:
            return squares_of_worths(choices, source.weights, theta, k, sizes)

        found = self._robust(found, _of_comparing(choices, source.weights), squares, log_prior)
        self._keep_worths(found, k)
        self._keep(found, k, sizes)

    def _fit_coefficients(
        self,
        source: Rankings,
        choices: Choices,
        log_prior: Moments | None,
        features: ItemFeatures,
        present: np.ndarray[Any, Any],
    ) -> None:
        k, sizes, weights = source.n_items, tie_sizes(choices), source.weights
        if features.by_ranking:
            scaled = standardized_by_ranking(features.values, choices.row_start, choices.order, weights)
            moments = moments_of_attributes(choices, weights, scaled.values, sizes)
        else:
            scaled = standardized(features.values, weights @ present)
            moments = linear(moments_of_worths(choices, weights, k, sizes), scaled.values)
        d, values = len(features.names), scaled.values

        def squares(theta: FloatArray) -> FloatArray:
            if features.by_ranking:
                return squares_of_attributes(choices, weights, theta, values, sizes)
            worths = np.concatenate([values @ theta[:d], theta[d:]])
            return linear_squares(squares_of_worths(choices, weights, worths, k, sizes), values)

        with one_thread():  # so that results do not depend on the number of threads
            self._check_identified(moments, features.names, len(sizes))
            found = self._maximize(moments, 0, sizes, weights, log_prior, features.names)
            found = self._robust(found, _of_comparing(choices, weights), squares, log_prior)
        self._keep_coefficients(found, features, scaled, present * weights[:, np.newaxis])
        self._keep(found, d, sizes)

    def _maximize(
        self,
        moments: Moments,
        n_items: int,
        sizes: IntArray,
        weights: FloatArray,
        log_prior: Moments | None,
        attributes: tuple[str, ...] = (),
    ) -> Maximum:
        return maximize(
            moments,
            n_items,
            n_items + len(attributes) + len(sizes),
            log_prior=log_prior,
            max_iter=self.max_iter,
            tol=self.tol,
            lightest=float(weights.min(initial=np.inf)),
            bounded=len(sizes) == 0 and not attributes,
            attributes=attributes,
        )

    def _keep(self, found: Maximum, first: int, sizes: IntArray) -> None:
        """Keep what both fits find; strengths of ties are the parameters from ``first`` on."""
        largest = int(sizes.max(initial=1))
        self.tie_strength_ = np.zeros(largest - 1)
        self.tie_strength_[sizes - 2] = np.exp(found.parameters[first:])
        self.tie_strength_se_ = np.zeros(largest - 1)
        errors = np.nan if found.covariance is None else np.sqrt(found.covariance.diagonal()[first:])
        self.tie_strength_se_[sizes - 2] = errors * self.tie_strength_[sizes - 2]
        self.log_likelihood_ = found.log_likelihood
        self.n_iter_ = found.n_iter

    def _log_prior(self, n_items: int, with_attributes: bool) -> Moments | None:
        check_choice("prior_law", self.prior_law, ("normal", "gamma"))
        if self.alpha == 0:
            return None
        if self.prior_law == "normal":
            return normal_prior(self.alpha)
        if with_attributes:
            raise ValueError(
                "prior_law is 'gamma', a law of the worths of items, but item_features has coefficients; use 'normal'"
            )
        return gamma_prior(self.alpha, n_items)

    def _pair_tie_strength(self) -> float:
        return float(self.tie_strength_[0]) if len(self.tie_strength_) else 0.0

    def _log_tie(self) -> FloatArray:
        with np.errstate(divide="ignore"):
            return np.log(np.concatenate([[1.0], self.tie_strength_]))

    def _check_saved(self) -> None:
        check_worths(self.log_worth_, len(self.items_), self.tie_strength_)
        ensure(len(self.tie_strength_) < _LARGEST_BUCKET, "ties are too large")


def _of_comparing(choices: Choices, weights: FloatArray) -> FloatArray:
    return weights[np.diff(choices.stage_start) > 0]
