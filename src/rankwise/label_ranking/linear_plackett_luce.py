"""PlackettLuceRanker: the Plackett-Luce model with log worths that are linear in the features."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Hashable, Sequence
from numbers import Integral, Real
from typing import Any, ClassVar
from weakref import WeakKeyDictionary

import numpy as np

from rankwise._sklearn import BaseEstimator, Interval, StrOptions
from rankwise._state import COUNT, FLOATS, MATRIX, NUMBER, STRING, Saved, check_shape, optional, tuple_of
from rankwise._threads import one_thread
from rankwise._typing import FloatArray, IntArray
from rankwise._validation import shortlist
from rankwise.aggregation.identification import prior_notes, refuse_unidentified, separated_items
from rankwise.aggregation.model_summary import ModelSummary, coefficient_summary
from rankwise.aggregation.sandwich import WeightKind, are_survey_weights, effective_number, sandwich, sum_of_squares
from rankwise.data import Rankings
from rankwise.label_ranking import _rankers_jit
from rankwise.label_ranking.base import NEEDED_SCALER, LabelRankerMixin, check_saved_scaler, fitted_scaler

# From the end of L-BFGS on, Newton's method needs a few steps; if there is no maximum, none are enough.
_NEWTON_STEPS = 50
_LARGEST_VARIANCE = 1e8
# The data of penalized fits, for a summary that may be asked for, up to so many numbers. They are not attributes of the
# rankers, so that they are neither saved nor copied with them.
_FITTED_TO: WeakKeyDictionary[PlackettLuceRanker, tuple[FloatArray, Rankings]] = WeakKeyDictionary()
_MOST_CELLS_KEPT = 10_000_000
# Separation by features is looked for, in a linear program, among so many numbers; scores that differ less are equal.
_MOST_SEPARATED, _NO_GAIN = 200_000, 1e-6


class PlackettLuceRanker(LabelRankerMixin, BaseEstimator):
    r"""Label ranker by the Plackett-Luce model, with scores that are linear in the features.

    *Definition.* Item i has the score :math:`s_i(x) = \langle w_i, x \rangle + b_i` on standardized features. A ranking
    is built from the best place down: the next item is i with probability :math:`e^{s_i} / \sum_{j \in S} e^{s_j}`
    among the items S that are left. The fit minimizes, over w and b,

    .. math:: -\sum_r \omega_r \log P(\sigma_r \mid x_r) + \frac{\alpha}{2} \Bigl(\|w\|^2 + \|b\|^2\Bigr).

    Missing items are in no S; unlisted ones are in every S and are never chosen, so that top-k rankings have their
    exact likelihood. Each of several tied items is chosen from all items left before the first of them
    (Breslow's rule).

    Parameters
    ----------
    alpha : float, default=1.0
        Strength of the penalty. 0 is maximum likelihood, whose coefficients have proper standard errors and tests; it
        does not exist for features that are constant or collinear, or foretell rankings without exception.
    max_iter : int, default=1000
        Maximum number of iterations of L-BFGS.
    tol : float, default=1e-6
        Stop when the largest component of the gradient, per unit of weight, is at most this.
    store_covariance : bool, default=False
        Whether to compute ``covariance_`` in `fit`; with ``alpha=0`` it always is. Otherwise `summary` computes it when
        it is called for the first time, which takes the data of the fit: for that the ranker keeps a reference to them,
        up to 10 million numbers, but does not save them.
    weight_kind : {"auto", "counts", "survey"}, default="auto"
        What the weights are, as in `PlackettLuce`: with survey weights, standard errors are robust (a sandwich). By
        default whole numbers are counts, and others are survey weights.

    Attributes
    ----------
    coef_ : ndarray of shape (n_items, n_features)
        w, per standard deviation of the features.
    intercept_ : ndarray of shape (n_items,)
        b, the scores of a row with mean features.
    n_iter_ : int
        Number of iterations.
    covariance_ : ndarray of shape (n_items * (1 + n_features), n_items * (1 + n_features))
        Covariance of the intercept and coefficients of each item, one item after the other; see ``store_covariance``.
        With a penalty it is conditional on it.
    log_likelihood_, null_log_likelihood_ : float
        Of the rankings, and without features; with ``covariance_``.
    n_rankings_ : float
        Weight of the rankings; with ``covariance_``.
    n_effective_ : float
        With survey weights, how many people of equal weight are as informative (Kish); with ``covariance_``.
    notes_ : tuple of str
        Which coefficients rest on the penalty, because their features are constant or collinear; with ``covariance_``.
    items_ : tuple
        Names of the items.

    References
    ----------
    Cheng, Dembczyński, Hüllermeier (2010), Label ranking methods based on the Plackett-Luce model.

    Examples
    --------
    >>> from rankwise.label_ranking import PlackettLuceRanker
    >>> X, y = [[0], [1], [8], [9]], [[1, 2, 3], [1, 2, 3], [3, 2, 1], [3, 1, 2]]
    >>> PlackettLuceRanker().fit(X, y).predict([[0.2], [9.5]])
    array([[1., 2., 3.],
           [3., 2., 1.]])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "alpha": [Interval(Real, 0, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "store_covariance": ["boolean"],
        "weight_kind": [StrOptions({"auto", "counts", "survey"})],
    }

    _saved: ClassVar[Saved] = {
        "_scaler": NEEDED_SCALER,
        "coef_": MATRIX,
        "intercept_": FLOATS,
        "n_iter_": COUNT,
        "covariance_": optional(MATRIX),
        "log_likelihood_": optional(NUMBER),
        "null_log_likelihood_": optional(NUMBER),
        "n_rankings_": optional(NUMBER),
        "n_effective_": optional(NUMBER),
        "notes_": optional(tuple_of(STRING)),
    }

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        max_iter: int = 1000,
        tol: float = 1e-6,
        store_covariance: bool = False,
        weight_kind: WeightKind = "auto",
    ) -> None:
        self.alpha = alpha
        self.max_iter = max_iter
        self.tol = tol
        self.store_covariance = store_covariance
        self.weight_kind = weight_kind

    def summary(self, *, ref: Hashable | None = None, level: float = 0.95) -> ModelSummary:
        """Coefficients in the units of the features, with standard errors, tests, intervals and criteria.

        The tests are against the model without features: the same worths for everybody. With a penalty there are none,
        and the standard errors are conditional on it.

        Parameters
        ----------
        ref : hashable, optional
            The item that the others are compared with; by default the mean of all items.
        level : float, default=0.95
            Of the intervals.

        Returns
        -------
        ModelSummary
        """
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(self)
        if not hasattr(self, "covariance_"):
            if self not in _FITTED_TO:
                raise ValueError(
                    "the covariance of the coefficients was not computed, and this ranker does not hold the data of "
                    "the fit (it was loaded, copied, or fitted to very many); fit with store_covariance=True"
                )
            X, y = _FITTED_TO[self]
            design = np.column_stack([np.ones(len(X)), self._scaler.transform(X)])
            with one_thread():
                self._keep_precision(design, y, np.column_stack([self.intercept_, self.coef_]), polish=False)
        if ref is not None and ref not in self.items_:
            raise ValueError(f"ref is {ref!r}, which is not an item; the items are {shortlist(self.items_)}")
        k, m = len(self.items_), 1 + self.n_features_in_
        # From standard deviations to units: a feature is (x - mean) / scale, so the intercept moves.
        units = np.diag(np.append(1.0, 1.0 / self._scaler.scale_))
        units[0, 1:] = -self._scaler.mean_ / self._scaler.scale_
        contrast = np.eye(k) - 1 / k
        if ref is not None:
            contrast = np.eye(k)
            contrast[:, self.items_.index(ref)] -= 1.0
        change = np.kron(contrast, units)
        flat = change @ np.column_stack([self.intercept_, self.coef_]).ravel()
        covariance = change @ self.covariance_ @ change.T
        features = self._feature_texts()
        shown = np.array([i for i, item in enumerate(self.items_) if item != ref])
        slopes = (shown[:, np.newaxis] * m + np.arange(1, m)).ravel()
        # Relative to the mean, the last item follows from the others.
        free = slopes if ref is not None else slopes[: (k - 1) * (m - 1)]
        errors = np.sqrt(np.maximum(covariance.diagonal(), 0.0))
        by_feature = covariance.reshape(k, m, k, m)
        return coefficient_summary(
            "Plackett-Luce model with features of people",
            tuple(f"{self.items_[i]}: {name}" for i in shown for name in features),
            flat[slopes],
            covariance[np.ix_(slopes, slopes)],
            [(f"{self.items_[i]}: intercept", float(flat[i * m]), float(errors[i * m])) for i in shown],
            about="features",
            reference=ref,
            tested=(flat[free], covariance[np.ix_(free, free)]),
            n_parameters=(k - 1) * m,
            compared=(np.array([by_feature[:, column, :, column] for column in range(m)]), shown),
            level=level,
            log_likelihood=self.log_likelihood_,
            null_log_likelihood=self.null_log_likelihood_,
            n_observations=self.n_rankings_,
            n_effective=getattr(self, "n_effective_", None),
            penalty=float(self.alpha),
            notes=getattr(self, "notes_", ()),
        )

    def _fit_rankings(self, X: FloatArray, y: Rankings) -> None:
        self._scaler = fitted_scaler(X, y)
        design = np.column_stack([np.ones(len(X)), self._scaler.transform(X)])
        if self.alpha == 0:
            squares = (design * y.weights[:, np.newaxis]).T @ design
            refuse_unidentified(squares, self._names_of_columns(), "feature", "for everybody")
        for name in ("covariance_", "log_likelihood_", "null_log_likelihood_", "n_rankings_", "n_effective_", "notes_"):
            vars(self).pop(name, None)
        _FITTED_TO.pop(self, None)
        with one_thread():
            coefficients, self.n_iter_ = self._minimize(design, y, warn=self.alpha > 0)
            if self.alpha == 0 or self.store_covariance:
                coefficients = self._keep_precision(design, y, coefficients, polish=True)
            elif X.size + y.positions.size <= _MOST_CELLS_KEPT:
                _FITTED_TO[self] = (X, y)
        self.coef_, self.intercept_ = coefficients[:, 1:], coefficients[:, 0]

    def _minimize(self, design: FloatArray, y: Rankings, *, warn: bool) -> tuple[FloatArray, int]:
        """The coefficients that minimize the penalized loss, by L-BFGS, and the number of iterations."""
        from scipy.optimize import minimize

        shape = (y.n_items, design.shape[1])
        total = y.weights.sum()
        loss = _loss(design, y)

        def penalized(flat: FloatArray) -> tuple[float, FloatArray]:
            value, gradient = loss(flat.reshape(shape))
            return (value + self.alpha / 2 * float(flat @ flat)) / total, (gradient.ravel() + self.alpha * flat) / total

        options: Any = {"maxiter": self.max_iter, "maxfun": 2 * self.max_iter, "ftol": 0.0, "gtol": self.tol}
        result = minimize(penalized, np.zeros(shape).ravel(), jac=True, method="L-BFGS-B", options=options)
        if warn and result.nit >= self.max_iter:
            from sklearn.exceptions import ConvergenceWarning

            warnings.warn(
                f"L-BFGS did not converge in {self.max_iter} iterations; raise max_iter, tol or alpha",
                ConvergenceWarning,
                stacklevel=4,
            )
        return result.x.reshape(shape), int(result.nit)

    def _keep_precision(self, design: FloatArray, y: Rankings, coefficients: FloatArray, *, polish: bool) -> FloatArray:
        """Keep the covariance of the coefficients, polished by Newton's method if asked for, and log likelihoods."""
        k, m = coefficients.shape
        order = np.argsort(y.positions, axis=1, kind="stable")
        loss = _loss(design, y)
        # The likelihood does not depend on what is added to all items; any number there makes it invertible.
        common = np.kron(np.full((k, k), 1 / k), np.eye(m))
        value, gradient = loss(coefficients)
        for _ in range(_NEWTON_STEPS):
            scores = np.ascontiguousarray(design @ coefficients.T)
            rows = _rankers_jit.plackett_luce_information(y.positions, order, y.weights, scores)
            information = _information(design, rows) + self.alpha * np.eye(k * m)
            scale = max(float(information.diagonal().mean()), 1e-300)
            try:
                inverse = np.linalg.inv(information + scale * common)
            except np.linalg.LinAlgError:
                inverse = np.full((k * m, k * m), np.inf)
            if self.alpha == 0 and not inverse.diagonal().max() * y.weights.min() < _LARGEST_VARIANCE:
                known = _separation(design, y, order, self._feature_texts())
                why = known[0] if known else "the features foretell how some items are ranked (separation)"
                raise ValueError(
                    f"the maximum likelihood does not exist: {why}, so that coefficients grow without bound. Use a "
                    "penalty (such as alpha=0.1), fewer features, or more rankings"
                )
            slope = gradient + self.alpha * coefficients
            step = (inverse @ slope.ravel()).reshape(k, m)
            if not polish or float(step.ravel() @ slope.ravel()) <= 1e-12 * y.weights.min():
                break
            penalized = value + self.alpha / 2 * float(np.sum(coefficients**2))
            for halvings in range(30):
                target = coefficients - step / 2**halvings
                value, gradient = loss(target)
                if value + self.alpha / 2 * float(np.sum(target**2)) <= penalized:
                    break
            coefficients = target
        center = np.kron(np.eye(k) - 1 / k, np.eye(m))
        self.covariance_ = center @ inverse @ center
        compares = (y.weights > 0) & y.informative
        if are_survey_weights(y.weights[compares], self.weight_kind):
            self.n_effective_ = effective_number(y.weights[compares])
            squares = _squares(design, y, coefficients)
            prior = self.alpha * np.eye(k * m)
            self.covariance_ = sandwich(self.covariance_, squares, int(compares.sum()), prior)
        self.log_likelihood_ = -float(loss(coefficients)[0])
        ones = design[:, :1]
        alone, _ = self._minimize(ones, y, warn=False)
        self.null_log_likelihood_ = -float(_loss(ones, y)(alone)[0])
        self.n_rankings_ = float(y.weights.sum())
        squares = (design * y.weights[:, np.newaxis]).T @ design
        self.notes_ = prior_notes(squares, self._names_of_columns(), "feature", "for everybody", "penalty")
        if self.alpha > 0:
            clauses = _separation(design, y, order, self._feature_texts())
            self.notes_ += tuple(f"{clause}: how large coefficients are rests on the penalty" for clause in clauses)
        return coefficients

    def _names_of_columns(self) -> list[str]:
        return ["the intercept", *self._feature_texts()]

    def _feature_texts(self) -> list[str]:
        return [str(name) for name in getattr(self, "feature_names_in_", [f"x{i}" for i in range(self.n_features_in_)])]

    def _predict_pairwise(self, X: FloatArray) -> FloatArray:
        from scipy.special import expit

        scores = self._predict_log_worth(X)
        return expit(scores[:, :, None] - scores[:, None, :])

    def _predict_log_worth(self, X: FloatArray) -> FloatArray:
        return self._scaler.transform(X) @ self.coef_.T + self.intercept_

    def _check_saved(self) -> None:
        check_shape(self.coef_, (len(self.items_), self.n_features_in_), "the coefficients")
        check_shape(self.intercept_, (len(self.items_),), "the intercepts")
        check_saved_scaler(self)
        if hasattr(self, "covariance_"):
            size = len(self.items_) * (1 + self.n_features_in_)
            check_shape(self.covariance_, (size, size), "the covariances")


def _separation(design: FloatArray, y: Rankings, order: IntArray, features: Sequence[str]) -> tuple[str, ...]:
    """Why coefficients grow without bound, in clauses: items always win or lose, or features foretell how they do."""
    from scipy.optimize import linprog
    from scipy.sparse import coo_matrix, hstack

    rows, above, below = _preferences(y, order)
    of_items = separated_items(above, below, y.items)
    m, n = design.shape[1], len(rows)
    if of_items or n * m > _MOST_SEPARATED:
        return of_items
    # Do coefficients exist by which nobody prefers the lower score, and somebody the higher one?
    columns = np.hstack([above[:, np.newaxis] * m + np.arange(m), below[:, np.newaxis] * m + np.arange(m)])
    values = np.hstack([design[rows], -design[rows]])
    ends = np.repeat(np.arange(n), 2 * m), columns.ravel()
    table: Any = coo_matrix((values.ravel(), ends), shape=(n, y.n_items * m)).tocsr()
    gain = np.asarray(table.sum(axis=0)).ravel()
    found = linprog(-gain, A_ub=-table, b_ub=np.zeros(n), bounds=(-1, 1), method="highs")
    if found.x is None or float((table @ found.x).max(initial=0.0)) <= _NO_GAIN:
        return ()
    # Those with the least sum of absolute slopes are 0 for features and items that do not matter; intercepts are free.
    both, cost = hstack([table, -table]), np.tile(np.arange(y.n_items * m) % m > 0, 2).astype(np.float64)
    least = linprog(
        cost, A_ub=-both, b_ub=np.zeros(n), A_eq=np.append(gain, -gain)[np.newaxis], b_eq=[n], method="highs"
    )
    if least.x is None:
        return ("the features foretell without exception how some items are ranked (separation)",)
    slopes = np.abs(np.subtract(*least.x.reshape(2, -1))).reshape(y.n_items, m)[:, 1:]
    some = slopes > _NO_GAIN * slopes.max(initial=1.0)
    named = [name for name, matters in zip(features, some.any(axis=0), strict=True) if matters]
    moved = [item for item, matters in zip(y.items, some.any(axis=1), strict=True) if matters]
    verb = "foretells" if len(named) == 1 else "together foretell"
    where = f"{shortlist(moved)} {'is' if len(moved) == 1 else 'are'} ranked"
    return (f"{shortlist(named)} {verb} without exception how {where} (separation)",)


def _preferences(y: Rankings, order: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """Rows, and items that they put before others, or tie (both ways), from which all preferences follow."""
    sorted_positions = np.take_along_axis(y.positions, order, axis=1)
    last = np.take_along_axis(
        order, np.maximum(np.isfinite(sorted_positions).sum(axis=1) - 1, 0)[:, np.newaxis], axis=1
    )
    before, after = sorted_positions[:, :-1], sorted_positions[:, 1:]
    counts = (y.weights > 0)[:, np.newaxis] & np.isfinite(sorted_positions[:, :1])
    listed, unlisted, tied = np.isfinite(after), np.isinf(after), before == after
    upper = np.where(unlisted, last, order[:, :-1])  # the last one listed comes before each that is not
    forward, backward = np.nonzero(counts & (listed | unlisted)), np.nonzero(counts & listed & tied)
    return (
        np.concatenate([forward[0], backward[0]]),
        np.concatenate([upper[forward], order[:, 1:][backward]]),
        np.concatenate([order[:, 1:][forward], order[:, :-1][backward]]),
    )


def _loss(design: FloatArray, y: Rankings) -> Callable[[FloatArray], tuple[float, FloatArray]]:
    """Negative log likelihood and its gradient, by the coefficients (n_items, 1 + n_features)."""
    order = np.argsort(y.positions, axis=1, kind="stable")

    def loss(coefficients: FloatArray) -> tuple[float, FloatArray]:
        scores = np.ascontiguousarray(design @ coefficients.T)
        value, by_score = _rankers_jit.plackett_luce_loss(y.positions, order, y.weights, scores)
        return value, by_score.T @ design

    return loss


def _squares(design: FloatArray, y: Rankings, coefficients: FloatArray) -> FloatArray:
    """Sum of the squared weighted scores of people, by the coefficients."""
    order = np.argsort(y.positions, axis=1, kind="stable")
    weights, size = y.weights, coefficients.size

    def scores(rows: slice) -> FloatArray:
        X, ones = design[rows], np.ones(rows.stop - rows.start)
        worths = np.ascontiguousarray(X @ coefficients.T)
        _, slope = _rankers_jit.plackett_luce_loss(y.positions[rows], order[rows], ones, worths)
        return -(slope[:, :, np.newaxis] * X[:, np.newaxis]).reshape(-1, size)

    return sum_of_squares(scores, weights, size)


def _information(design: FloatArray, rows: FloatArray) -> FloatArray:
    """Information of the coefficients, given that of the scores of each row."""
    k, m = rows.shape[1], design.shape[1]
    result = np.empty((k, m, k, m))
    for i in range(k):
        for j in range(i + 1):
            result[i, :, j] = (design * rows[:, i, j, np.newaxis]).T @ design
            result[j, :, i] = result[i, :, j].T
    return result.reshape(k * m, k * m)
