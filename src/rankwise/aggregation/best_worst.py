"""`BestWorst`: worths of items from best-worst (MaxDiff) choices, and `best_worst_rankings`, which makes such data."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

from rankwise._typing import ArrayLike, FloatArray, IntArray, RandomState
from rankwise._validation import (
    check_choice,
    check_generator,
    check_items,
    check_whole_number,
    list_of_names,
    shortlist,
)
from rankwise.aggregation import _best_worst_jit, _likelihood_jit
from rankwise.aggregation._attribute_model import AttributeModel
from rankwise.aggregation._likelihood import Moments, compared_groups, maximize, normal_prior
from rankwise.aggregation.base import check_fit_options, check_worths, rankings_of, weighted_rankings
from rankwise.aggregation.item_features import (
    ItemFeatures,
    check_item_features,
    linear,
    linear_squares,
    standardized,
    standardized_by_ranking,
)
from rankwise.aggregation.sandwich import WeightKind, sum_of_squares
from rankwise.data import Rankings

_LAWS = ("maxdiff", "sequential")


class BestWorst(AttributeModel):
    r"""A model of best-worst choices (MaxDiff, case 1), by maximum likelihood.

    *Definition.* Items have log worths :math:`u_i`, or :math:`u_i = z_i'b` with attributes z. From the items S that are
    shown, somebody names b the best and w the worst with probability

    .. math:: \frac{e^{u_b - u_w}}{\sum_{i \ne j \in S} e^{u_i - u_j}} \text{ (maxdiff)}, \qquad
              \frac{e^{u_b}}{\sum_{i \in S} e^{u_i}} \cdot \frac{e^{-u_w}}{\sum_{i \in S \setminus b} e^{-u_i}}
              \text{ (sequential)}.

    This is not the likelihood of the ranking "b, the others, w" by `PlackettLuce`, for which the worst item is the one
    that is never chosen.

    Parameters
    ----------
    law : {"maxdiff", "sequential"}, default="maxdiff"
        How the two choices are made: at once, as the pair that differs most; or the best first, and then the worst of
        the rest.
    alpha : float, default=0.0
        Precision of a normal prior of mean 0 on every log worth (on the coefficients per standard deviation of the
        attributes). 0 is maximum likelihood, which exists only if a chain of choices leads from every item to every
        other.
    max_iter : int, default=1000
        Maximum number of iterations.
    tol : float, default=1e-10
        Stop when a further step promises less gain in log likelihood than this times the smallest weight.
    weight_kind : {"auto", "counts", "survey"}, default="auto"
        What the weights are, as in `PlackettLuce`: with survey weights, standard errors are robust.

    Attributes
    ----------
    log_worth_, se_ : ndarray of shape (n_items,)
        u, higher = better, of mean 0, and its standard errors.
    covariance_ : ndarray of shape (n_items, n_items) or None
        Covariance of ``log_worth_``; None beyond 2,000 items.
    coef_, coef_se_, coef_covariance_, feature_names_
        Coefficients of the attributes, as in `PlackettLuce`.
    log_likelihood_, null_log_likelihood_ : float
        Of the answers; and that of choices at random.
    n_rankings_ : float
        Number of answers, by weight.
    n_effective_ : float
        With survey weights, how many answers of equal weight are as informative (Kish); only then.
    n_iter_ : int
        Iterations made.
    components_ : tuple of tuples
        Items that choices join, the largest group first.
    items_ : tuple
        Names of the items.

    References
    ----------
    Marley, Louviere (2005), Some probabilistic models of best, worst, and best-worst choices, Journal of Mathematical
    Psychology 49. Louviere, Flynn, Marley (2015), Best-worst scaling. Aizaki, Fogarty (2023), R packages and tutorial
    for case 1 best-worst scaling, Journal of Choice Modelling 46.

    Examples
    --------
    >>> from rankwise.aggregation import BestWorst, best_worst_rankings
    >>> sets = [["tea", "milk", "water"], ["milk", "water", "tea"], ["tea", "water", "milk"]]
    >>> answers = best_worst_rankings(["tea", "milk", "tea"], ["water", "tea", "milk"], sets)
    >>> BestWorst().fit(answers).log_worth_.round(2)
    array([ 0.35,  0.  , -0.35])
    """

    def __init__(
        self,
        law: Literal["maxdiff", "sequential"] = "maxdiff",
        alpha: float = 0.0,
        max_iter: int = 1000,
        tol: float = 1e-10,
        weight_kind: WeightKind = "auto",
    ) -> None:
        self.law = law
        self.alpha = alpha
        self.max_iter = max_iter
        self.tol = tol
        self.weight_kind = weight_kind

    def fit(
        self, rankings: ArrayLike, sample_weight: ArrayLike | None = None, *, item_features: Any = None
    ) -> BestWorst:
        """Estimate the worths, or the coefficients of attributes that make them.

        Parameters
        ----------
        rankings : array-like of shape (n_answers, n_items) or Rankings
            One row per answer: 1 for the best item, 3 for the worst, 2 for the others that were shown, NaN for items
            that were not. `read_best_worst_csv` and `best_worst_rankings` make them.
        sample_weight : array-like of shape (n_answers,), optional
            How often each answer counts, or survey weights (see ``weight_kind``); by default the weights of the
            Rankings, or ones.
        item_features : array-like, data frame or dict, optional
            Attributes of the items, or of the items of each answer, as in `PlackettLuce.fit`.

        Returns
        -------
        BestWorst
            The model itself.
        """
        check_fit_options(self.alpha, self.max_iter, self.tol)
        check_choice("law", self.law, _LAWS)
        source = weighted_rankings(rankings, sample_weight)
        answers = _answers(source)
        n, k, weights = len(source), source.n_items, source.weights
        above, below = answers.links(weights)
        with_prior = self.alpha > 0 or item_features is not None
        components = compared_groups(above, below, source.items, with_prior=with_prior)
        moments = self._moments(answers, weights, k)
        present = ~np.isnan(source.positions) & (np.diff(answers.row_start) > 1)[:, np.newaxis]
        present &= (weights > 0)[:, np.newaxis]
        features: ItemFeatures | None = None
        fitted = moments
        if item_features is not None:
            features = check_item_features(item_features, source.items, present, n)
            if features.by_ranking:
                scaled = standardized_by_ranking(features.values, answers.row_start, answers.order, weights)
                fitted = self._moments(answers, weights, k, scaled.values)
            else:
                scaled = standardized(features.values, weights @ present)
                fitted = linear(moments, scaled.values)
            self._check_identified(fitted, features.names, 0)
        log_prior = normal_prior(self.alpha) if self.alpha > 0 else None
        found = maximize(
            fitted,
            k if features is None else 0,
            k if features is None else len(features.names),
            log_prior=log_prior,
            max_iter=self.max_iter,
            tol=self.tol,
            lightest=float(weights[weights > 0].min(initial=np.inf)),
            bounded=features is None,
            attributes=() if features is None else features.names,
        )
        by_answer = scaled.values if features is not None and features.by_ranking else None

        def squares(theta: FloatArray) -> FloatArray:
            if features is None or features.by_ranking:
                return self._squares(answers, weights, theta, k, by_answer)
            return linear_squares(self._squares(answers, weights, scaled.values @ theta, k), scaled.values)

        compares = (np.diff(answers.row_start) > 1) & (weights > 0)
        found = self._robust(found, weights[compares], squares, log_prior)
        if features is not None:
            self._keep_coefficients(found, features, scaled, present * weights[:, np.newaxis])
        else:
            self._keep_worths(found, k)
            self._note_separation(above, below, source.items)
        self.log_likelihood_ = found.log_likelihood
        self.null_log_likelihood_ = float(moments(np.zeros(k), False)[0])
        self.n_rankings_ = float(weights[compares].sum())
        self.n_iter_ = found.n_iter
        self.components_ = components
        self.items_ = source.items
        return self

    def _described(self) -> tuple[str, str, list[tuple[str, float, float]]]:
        return f"Best-worst model ({self.law})", "answer", []

    def logpmf(self, rankings: ArrayLike) -> FloatArray:
        """Log probability of each answer, given the items that were shown.

        Parameters
        ----------
        rankings : array-like of shape (n_answers, n_items) or Rankings
            Answers as in `fit`.

        Returns
        -------
        ndarray of shape (n_answers,)
            0 for an answer about fewer than two items.
        """
        self._check_fitted()
        answers = _answers(rankings_of(self.items_, rankings))
        scores = self.log_worth_[answers.order]
        return _best_worst_jit.log_probabilities(answers.row_start, scores, _LAWS.index(self.law))

    def sample(self, n: int = 1, random_state: RandomState = None, *, set_size: int | None = None) -> Rankings:
        """Draw answers about random sets of items.

        Parameters
        ----------
        n : int, default=1
            Number of answers.
        random_state : None, int, Generator or RandomState
            Source of the random numbers.
        set_size : int, optional
            How many items are shown; by default all.

        Returns
        -------
        Rankings
        """
        self._check_fitted()
        check_whole_number("n", n, at_least=0)
        k = len(self.items_)
        m = k if set_size is None else check_whole_number("set_size", set_size, at_least=2)
        if m > k:
            raise ValueError(f"set_size is {m}, but there are only {k} items")
        rng = check_generator(random_state)
        shown = np.argsort(rng.random((n, k)), axis=1)[:, :m]
        scores = self.log_worth_[shown]
        rows = np.arange(n)
        if self.law == "maxdiff":
            difference = scores[:, :, np.newaxis] - scores[:, np.newaxis] + rng.gumbel(size=(n, m, m))
            difference[:, np.arange(m), np.arange(m)] = -np.inf
            best, worst = np.unravel_index(difference.reshape(n, -1).argmax(axis=1), (m, m))
        else:
            best = np.argmax(scores + rng.gumbel(size=(n, m)), axis=1)
            ill = -scores + rng.gumbel(size=(n, m))
            ill[rows, best] = -np.inf
            worst = np.argmax(ill, axis=1)
        positions = np.full((n, k), np.nan)
        positions[rows[:, np.newaxis], shown] = 2.0
        positions[rows, shown[rows, best]] = 1.0
        positions[rows, shown[rows, worst]] = 3.0
        return Rankings(positions, self.items_)

    def pairwise_probabilities(self) -> FloatArray:
        """Probability that i is named the better one when only i and j are shown: (n_items, n_items)."""
        from scipy.special import expit

        self._check_fitted()
        difference = self.log_worth_[:, np.newaxis] - self.log_worth_
        return expit(difference if self.law == "sequential" else 2 * difference)

    def _moments(self, answers: _Answers, weights: FloatArray, k: int, features: FloatArray | None = None) -> Moments:
        order, row_start = answers
        law = _LAWS.index(self.law)
        rows = np.empty((len(order), 0)) if features is None else features
        m = k if features is None else features.shape[1]

        def moments(theta: FloatArray, with_information: bool) -> tuple[float, FloatArray, FloatArray]:
            scores = theta[order] if features is None else features @ theta
            gradient, information = np.zeros(m), np.zeros((m, m) if with_information else (0, 0))
            value = _best_worst_jit.moments(order, row_start, weights, scores, rows, law, gradient, information)
            return value, gradient, information

        return moments

    def _squares(
        self, answers: _Answers, weights: FloatArray, theta: FloatArray, k: int, features: FloatArray | None = None
    ) -> FloatArray:
        """Sum of the squared weighted scores of the answers, in the parameters of `_moments`."""
        order, row_start = answers
        rows = np.empty((len(order), 0)) if features is None else features
        worths = theta[order] if features is None else features @ theta
        law, m = _LAWS.index(self.law), k if features is None else features.shape[1]

        def scores(part: slice) -> FloatArray:
            ends = row_start[part.start : part.stop + 1]
            found: FloatArray = _best_worst_jit.row_scores(order, ends, worths, rows, law, m)
            return found

        return sum_of_squares(scores, weights, m)

    def _check_saved(self) -> None:
        check_worths(self.log_worth_, len(self.items_), 0.0)


def best_worst_rankings(
    best: ArrayLike,
    worst: ArrayLike,
    shown: Sequence[Sequence[Hashable]],
    *,
    items: Sequence[Hashable] | None = None,
    sample_weight: ArrayLike | None = None,
) -> Rankings:
    """Best-worst answers as rankings: the best item, then the others that were shown, then the worst.

    Parameters
    ----------
    best, worst : array-like of shape (n_answers,)
        Names of the items that were named best and worst.
    shown : sequence of sequences
        Names of the items that were shown for each answer.
    items : sequence of hashable, optional
        All items, in the order of the columns; by default in order of first appearance.
    sample_weight : array-like of shape (n_answers,), optional
        How often each answer counts.

    Returns
    -------
    Rankings
        With positions 1, 2 and 3; items that were not shown are missing.

    Examples
    --------
    >>> from rankwise.aggregation import best_worst_rankings
    >>> best_worst_rankings(["tea"], ["milk"], [["milk", "tea", "juice", "water"]])
    Rankings: 1 ranking of 4 items, tied
      tea > juice ~ water > milk
    """
    winners, losers, sets = list_of_names(best), list_of_names(worst), [list_of_names(names) for names in shown]
    if not len(winners) == len(losers) == len(sets):
        raise ValueError(
            f"best has {len(winners)} entries, worst {len(losers)} and shown {len(sets)}; give one of each per answer"
        )
    every = dict.fromkeys(name for names in sets for name in names)
    names = check_items(list(every) if items is None else items, len(every) if items is None else len(items))
    place = {name: column for column, name in enumerate(names)}
    positions = np.full((len(sets), len(names)), np.nan)
    for row, (winner, loser, those) in enumerate(zip(winners, losers, sets, strict=True)):
        for name in those:
            if name not in place:
                raise ValueError(f"shown[{row}] holds {name!r}, which is not an item; the items are {shortlist(names)}")
            positions[row, place[name]] = 2.0
        for what, name in (("best", winner), ("worst", loser)):
            if name not in those:
                raise ValueError(f"{what}[{row}] is {name!r}, which was not shown; shown were {shortlist(those)}")
        if winner == loser:
            raise ValueError(f"answer {row} names {winner!r} both best and worst; drop it")
        positions[row, place[winner]], positions[row, place[loser]] = 1.0, 3.0
    return Rankings(positions, names, sample_weight)


class _Answers(NamedTuple):
    """Items shown, flat, the best one first and the worst one last; see `_best_worst_jit`."""

    order: IntArray
    row_start: IntArray

    def links(self, weights: FloatArray) -> tuple[IntArray, IntArray]:
        """Pairs (better, worse): the best item before all others, the worst after all."""
        sizes = np.diff(self.row_start)
        useful = (sizes > 1) & (weights > 0)
        shown = self.order[np.repeat(useful, sizes)]
        first = np.repeat(self.order[self.row_start[:-1][useful]], sizes[useful])
        last = np.repeat(self.order[self.row_start[1:][useful] - 1], sizes[useful])
        return np.concatenate([first, shown]), np.concatenate([shown, last])


def _answers(rankings: Rankings) -> _Answers:
    order, row_start = _likelihood_jit.flatten(rankings.positions)[:2]
    unlisted = np.isposinf(rankings.positions).any(axis=1)
    sizes = np.diff(row_start)
    last = np.nanmax(np.where(np.isnan(rankings.positions), 0.0, rankings.positions), axis=1, initial=0.0)
    ones, lasts = (rankings.positions == 1).sum(axis=1), (rankings.positions == last[:, np.newaxis]).sum(axis=1)
    wrong = (sizes > 1) & (unlisted | (last > 3) | (last < 2) | (ones != 1) | (lasts != 1))
    if wrong.any():
        row = int(np.argmax(wrong))
        raise ValueError(
            f"ranking {row} is not a best-worst answer: one item comes first (1), one last (3), and the others that "
            "were shown tie in between (2); items that were not shown are NaN. For other rankings use PlackettLuce"
        )
    return _Answers(order, row_start)
