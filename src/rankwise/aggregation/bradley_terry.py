"""Bradley-Terry models: worths from paired comparisons, with ties after Davidson and a home effect."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, ClassVar, Literal

import numpy as np

from rankwise._state import NUMBER, Saved
from rankwise._typing import ArrayLike, BoolArray, FloatArray, RandomState
from rankwise._validation import check_choice, check_generator, check_open_share, check_whole_number
from rankwise.aggregation._attribute_model import AttributeModel
from rankwise.aggregation._comparison_moments import (
    differences,
    log_likelihoods,
    log_outcomes,
    moments_of_comparisons,
    squares_of_comparisons,
)
from rankwise.aggregation._comparisons import (
    Comparisons,
    comparisons_from_arrays,
    comparisons_from_matrix,
    comparisons_from_rankings,
)
from rankwise.aggregation._likelihood import (
    Moments,
    compared_groups,
    equal_items_log_likelihood,
    maximize,
    normal_prior,
)
from rankwise.aggregation.base import check_fit_options, check_worths, rankings_of, weighted_rankings
from rankwise.aggregation.item_features import (
    ItemFeatures,
    check_item_features,
    linear,
    linear_squares,
    read_item_features,
    standardized,
)
from rankwise.aggregation.model_summary import critical_value
from rankwise.aggregation.sandwich import WeightKind
from rankwise.data import Rankings


class BradleyTerry(AttributeModel):
    r"""The Bradley-Terry model of paired comparisons, by maximum likelihood.

    *Definition.* Item i has the log worth :math:`u_i`, to which the home effect :math:`\gamma` is added where it is
    at home. When i meets j, the outcomes "i wins", "j wins" and "tie" have probabilities proportional to

    .. math:: e^{u_i}, \qquad e^{u_j}, \qquad \delta\, e^{(u_i + u_j) / 2}.

    Without ties (:math:`\delta = 0`) i wins with probability :math:`1 / (1 + e^{u_j - u_i})`. With attributes z of the
    items, :math:`u_i = z_i'b`.

    Parameters
    ----------
    alpha : float, default=0.0
        Precision of a normal prior of mean 0 on every :math:`u_i`, on :math:`\gamma` and on :math:`\log\delta`. 0 is
        maximum likelihood, which exists only if a chain of wins leads from every item to every other; the fit raises
        an error that names the groups where it does not. With a positive prior everything can be fitted. With
        attributes, the prior is on their coefficients per standard deviation.
    ties : {"davidson", "half"}, default="davidson"
        Estimate :math:`\delta` if there are ties, or count a tie as half a win for each side.
    home : bool or str, default=False
        Whether to estimate :math:`\gamma`; ``fit`` then needs to know who is at home. In a survey that may be the item
        that was shown first: a name for the effect, such as ``home="first-shown"``, is used by `summary`.
    max_iter : int, default=1000
        Maximum number of iterations.
    tol : float, default=1e-10
        Stop when a further step promises less gain in log likelihood than this times the smallest weight.
    weight_kind : {"auto", "counts", "survey"}, default="auto"
        What the weights are, as in `PlackettLuce`: with survey weights, standard errors are robust. A matrix
        holds counts always.

    Attributes
    ----------
    log_worth_ : ndarray of shape (n_items,)
        u, higher = better, of mean 0.
    se_ : ndarray of shape (n_items,)
        Standard errors of ``log_worth_`` (of its difference from the mean of all items).
    covariance_ : ndarray of shape (n_items, n_items) or None
        Inverse of the information (with the prior), from which differences of worths get their standard errors.
        Beyond 2,000 items it is None, and all standard errors are NaN.
    coef_, coef_se_ : ndarray of shape (n_attributes,)
        Coefficients of the attributes and their standard errors, where ``fit`` was given ``item_features``; then
        ``log_worth_`` is that of the attributes.
    coef_covariance_ : ndarray of shape (n_attributes, n_attributes) or None
        Covariance of the coefficients.
    feature_names_ : tuple of str
        Names of the attributes.
    tie_strength_, home_effect_ : float
        :math:`\delta` and :math:`\gamma`; 0 where there are none.
    tie_strength_se_, home_effect_se_ : float
        Their standard errors; 0 where there are none.
    log_likelihood_, null_log_likelihood_ : float
        Of the comparisons, without the prior; and the largest of a model in which all items are equal.
    n_rankings_ : float
        Number of comparisons, by weight.
    n_effective_ : float
        With survey weights, how many comparisons of equal weight are as informative (Kish); only then.
    n_iter_ : int
        Iterations made.
    components_ : tuple of tuples
        Items that comparisons join, the largest group first. Only a prior says how worths of different groups compare.
    items_ : tuple
        Names of the items.

    References
    ----------
    Bradley, Terry (1952), Rank analysis of incomplete block designs, Biometrika 39. Davidson (1970), On extending the
    Bradley-Terry model to accommodate ties in paired comparison experiments, Journal of the American Statistical
    Association 65. Ford (1957), Solution of a ranking problem from binary comparisons, American Mathematical Monthly
    64.

    Examples
    --------
    >>> from rankwise.aggregation import BradleyTerry
    >>> model = BradleyTerry().fit([[0, 3, 4], [1, 0, 3], [1, 2, 0]])
    >>> model.log_worth_.round(3)
    array([ 0.828, -0.225, -0.602])
    """

    _saved: ClassVar[Saved] = {
        **dict.fromkeys(["home_effect_", "home_effect_se_", "tie_strength_", "tie_strength_se_"], NUMBER),
    }

    def __init__(
        self,
        alpha: float = 0.0,
        ties: Literal["davidson", "half"] = "davidson",
        home: bool | str = False,
        max_iter: int = 1000,
        tol: float = 1e-10,
        weight_kind: WeightKind = "auto",
    ) -> None:
        self.alpha = alpha
        self.ties = ties
        self.home = home
        self.max_iter = max_iter
        self.tol = tol
        self.weight_kind = weight_kind

    def fit(
        self,
        comparisons: ArrayLike,
        sample_weight: ArrayLike | None = None,
        home: ArrayLike | None = None,
        *,
        item_features: Any = None,
    ) -> BradleyTerry:
        """Estimate the worths from rankings of two items each, or from counts.

        Parameters
        ----------
        comparisons : Rankings, PreferenceMatrix, or array-like of shape (n_items, n_items)
            Rankings whose other items are missing; or the matrix whose entry (i, j) is how often i beat j.
        sample_weight : array-like of shape (n_rankings,), optional
            How often each ranking counts, or survey weights (see ``weight_kind``); by default the weights of the
            Rankings. Not for a matrix.
        home : array-like of shape (n_rankings,), optional
            The item at home in each ranking, None on neutral ground. Not for a matrix.
        item_features : array-like of shape (n_items, n_attributes), data frame or dict, optional
            Attributes of the items, as in `PlackettLuce.fit`, which make their worths. Attributes that differ between
            comparisons are for `PlackettLuce`.

        Returns
        -------
        BradleyTerry
            The model itself.
        """
        if isinstance(comparisons, Rankings):
            rows = comparisons_from_rankings(weighted_rankings(comparisons, sample_weight), home)
            return self._fit(rows, item_features)
        if sample_weight is not None or home is not None:
            raise ValueError(
                "sample_weight and home belong to single comparisons, which a matrix does not have; "
                "use Rankings of pairs, or fit_comparisons"
            )
        if self.weight_kind == "survey":
            raise ValueError(
                "weight_kind is 'survey', but a matrix of wins has no weights of people; give Rankings of pairs, or "
                "columns to fit_comparisons"
            )
        return self._fit(comparisons_from_matrix(comparisons), item_features, by_row=False)

    def fit_comparisons(
        self,
        winner: ArrayLike,
        loser: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
        tie: ArrayLike | None = None,
        home: ArrayLike | None = None,
        items: Sequence[Hashable] | None = None,
        item_features: Any = None,
    ) -> BradleyTerry:
        """Estimate the worths from columns, one entry per comparison.

        Parameters
        ----------
        winner, loser : array-like of shape (n_comparisons,)
            Names of the two items.
        sample_weight : array-like of shape (n_comparisons,), optional
            How often each comparison counts, or survey weights.
        tie : array-like of bool of shape (n_comparisons,), optional
            Where true, the two tied, and it does not matter which stands as winner.
        home : array-like of shape (n_comparisons,), optional
            The item at home, None on neutral ground.
        items : sequence of hashable, optional
            All items, in the order of the results. By default the names that occur: numbers in increasing order,
            others in order of first appearance.
        item_features : array-like of shape (n_items, n_attributes), data frame or dict, optional
            Attributes of the items, in the order of the results; see `fit`.

        Returns
        -------
        BradleyTerry
            The model itself.

        Examples
        --------
        >>> model = BradleyTerry().fit_comparisons(["a", "a", "b"], ["b", "b", "a"])
        >>> model.items_, model.pairwise_probabilities().round(3).tolist()
        (('a', 'b'), [[0.5, 0.667], [0.333, 0.5]])
        """
        return self._fit(comparisons_from_arrays(winner, loser, sample_weight, tie, home, items), item_features)

    def intervals(self, level: float = 0.95) -> FloatArray:
        """Confidence intervals of the log worths by their standard errors: (n_items, 2), lower and upper end.

        They are for the difference of each item from the mean of all items; two items may differ clearly
        although their intervals overlap (compare them by ``covariance_``).
        """
        self._check_fitted()
        check_open_share("level", level)
        half = critical_value(level, getattr(self, "n_effective_", None)) * self.se_
        return np.column_stack([self.log_worth_ - half, self.log_worth_ + half])

    def _described(self) -> tuple[str, str, list[tuple[str, float, float]]]:
        others = []
        if self.home:
            name = self.home if isinstance(self.home, str) else "home"
            others.append((f"{name} effect", self.home_effect_, self.home_effect_se_))
        if self.tie_strength_ > 0:
            error = self.tie_strength_se_ / self.tie_strength_
            others.append(("log tie strength", float(np.log(self.tie_strength_)), error))
        return "Bradley-Terry model", "comparison", others

    def sample(self, n: int = 1, random_state: RandomState = None) -> Rankings:
        """Draw comparisons of two items, picked at random among all pairs, on neutral ground.

        Parameters
        ----------
        n : int, default=1
            Number of comparisons.
        random_state : None, int, Generator or RandomState
            Source of the random numbers.

        Returns
        -------
        Rankings
            Two items in each row, the others missing.
        """
        self._check_fitted()
        check_whole_number("n", n, at_least=0)
        k = len(self.items_)
        rng = check_generator(random_state)
        first = rng.integers(k, size=n)
        second = (first + rng.integers(1, k, size=n)) % k
        before, tied = pair_probabilities(self.log_worth_, self.tie_strength_)
        outcome = rng.random(n)
        wins = outcome < before[first, second]
        ties = ~wins & (outcome < before[first, second] + tied[first, second])
        positions = np.full((n, k), np.nan)
        positions[np.arange(n), first] = np.where(wins | ties, 1.0, 2.0)
        positions[np.arange(n), second] = np.where(wins, 2.0, 1.0)
        return Rankings(positions, self.items_)

    def logpmf(self, comparisons: ArrayLike, home: ArrayLike | None = None) -> FloatArray:
        """Log probability of the outcome of each comparison, given who meets whom.

        Parameters
        ----------
        comparisons : Rankings, or array-like of shape (n_comparisons, n_items)
            Positions of two items in each row, the others missing.
        home : array-like of shape (n_comparisons,), optional
            The item at home, None on neutral ground.

        Returns
        -------
        ndarray of shape (n_comparisons,)
            0 for a row that compares nothing; ``-inf`` for a tie if the model has none.
        """
        self._check_fitted()
        source = rankings_of(self.items_, comparisons)
        rows = comparisons_from_rankings(Rankings(source, weights=np.ones(len(source))), home)
        eta = differences(rows, self.log_worth_, self.home_effect_)
        return log_likelihoods(rows, log_outcomes(eta, self.tie_strength_))

    def pairwise_probabilities(self) -> FloatArray:
        """Probability of i before j on neutral ground, ties counted half: (n_items, n_items)."""
        self._check_fitted()
        before, tied = pair_probabilities(self.log_worth_, self.tie_strength_)
        return before + tied / 2

    def tie_probabilities(self) -> FloatArray:
        """Probability that i and j tie on neutral ground: (n_items, n_items), zero diagonal."""
        self._check_fitted()
        return pair_probabilities(self.log_worth_, self.tie_strength_)[1]

    def _fit(self, comparisons: Comparisons, item_features: Any, *, by_row: bool = True) -> BradleyTerry:
        check_fit_options(self.alpha, self.max_iter, self.tol)
        counts = comparisons.merged()
        k = len(counts.items)
        check_choice("ties", self.ties, ("davidson", "half"))
        if self.home and not counts.venue.any():
            raise ValueError(
                "home=True, but no comparison says who is at home; give home (the item at home in each comparison) "
                "to fit or fit_comparisons"
            )
        if not self.home and counts.venue.any():
            raise ValueError(
                "home is given, but BradleyTerry(home=False) has no home effect; use home=True, or drop it"
            )
        with_prior = self.alpha > 0 or item_features is not None
        above, below = counts.links()
        components = compared_groups(above, below, counts.items, with_prior=with_prior)
        if self.ties == "half":
            counts = counts.with_half_ties()
        has_ties = bool(counts.ties.any())
        has_home = bool(self.home)
        n_others = has_home + has_ties

        def moments(theta: FloatArray, with_information: bool) -> tuple[float, FloatArray, FloatArray]:
            return moments_of_comparisons(counts, theta, has_home, has_ties, with_information)

        met = np.zeros(k)
        np.add.at(met, counts.first, counts.total)
        np.add.at(met, counts.second, counts.total)
        features = None if item_features is None else self._check_attributes(item_features, counts.items, met > 0)
        n_worths = k if features is None else len(features.names)
        fitted: Moments = moments
        if features is not None:
            scaled = standardized(features.values, met)
            fitted = linear(moments, scaled.values)
            self._check_identified(fitted, features.names, n_others)
        log_prior = normal_prior(self.alpha) if self.alpha > 0 else None
        found = maximize(
            fitted,
            k if features is None else 0,
            n_worths + n_others,
            log_prior=log_prior,
            max_iter=self.max_iter,
            tol=self.tol,
            lightest=counts.lightest(),
            bounded=n_others == 0 and features is None,
            attributes=() if features is None else features.names,
        )

        def squares(theta: FloatArray) -> FloatArray:
            own = comparisons.squared().merged()
            if features is None:
                return squares_of_comparisons(own, theta, has_home, has_ties)
            worths = np.concatenate([scaled.values @ theta[:n_worths], theta[n_worths:]])
            return linear_squares(squares_of_comparisons(own, worths, has_home, has_ties), scaled.values)

        weights = comparisons.total
        found = self._robust(found, weights[weights > 0], squares, log_prior, by_row)
        se = np.full(len(found.parameters), np.nan)
        if found.covariance is not None:
            se = np.sqrt(found.covariance.diagonal())
        if features is not None:
            self._keep_coefficients(found, features, scaled)
        else:
            self._keep_worths(found, k)
            self._note_separation(above, below, counts.items)
        self.items_ = counts.items
        self.components_ = components
        self.home_effect_ = float(found.parameters[n_worths]) if self.home else 0.0
        self.home_effect_se_ = float(se[n_worths]) if self.home else 0.0
        self.tie_strength_ = float(np.exp(found.parameters[-1])) if has_ties else 0.0
        self.tie_strength_se_ = float(se[-1]) * self.tie_strength_ if has_ties else 0.0
        self.log_likelihood_ = found.log_likelihood
        self.null_log_likelihood_ = equal_items_log_likelihood(moments, k, n_others, counts.lightest())
        self.n_rankings_ = float(counts.total.sum())
        self.n_iter_ = found.n_iter
        return self

    def _check_attributes(self, item_features: Any, items: tuple[Hashable, ...], met: BoolArray) -> ItemFeatures:
        features = read_item_features(item_features, items)
        if features.by_ranking:
            raise ValueError(
                "item_features differs between comparisons, but comparisons of the same two items are counted together "
                "here; use PlackettLuce, which takes rankings of pairs"
            )
        return check_item_features(features, items, met[np.newaxis], 1)

    def _check_saved(self) -> None:
        check_worths(self.log_worth_, len(self.items_), self.tie_strength_)


def pair_probabilities(log_worth: FloatArray, tie_strength: float) -> tuple[FloatArray, FloatArray]:
    """Probabilities of i before j and of a tie, on neutral ground: two (k, k) matrices; before + before.T + tie = 1.

    An item met by itself is before and after itself with probability one half each.
    """
    eta = log_worth[:, np.newaxis] - log_worth
    before, _, tied = np.exp(log_outcomes(eta, tie_strength))
    np.fill_diagonal(before, 0.5)
    np.fill_diagonal(tied, 0.0)
    return before, tied
