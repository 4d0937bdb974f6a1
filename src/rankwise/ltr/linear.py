"""The estimator `LinearRanker`: one weight per feature, learned from pairs or lists."""

from __future__ import annotations

import warnings
from numbers import Integral, Real
from typing import Any, ClassVar, TypeVar

import numpy as np

from rankwise._query_inputs import split_off_queries
from rankwise._sklearn import BaseEstimator, Interval, StrOptions
from rankwise._state import COUNT, FLOATS, Saved, check_shape
from rankwise._typing import ArrayLike, FloatArray, RandomState
from rankwise._validation import check_generator
from rankwise.ltr._linear_losses import FlatLoss, make_flat_loss
from rankwise.ltr._listwise_losses import PLACE_WEIGHTS, PlaceWeights
from rankwise.ltr.base import METRIC_CONSTRAINTS, QueryRankerMixin, check_target
from rankwise.ltr.effects import ScoreExplanation, score_explanation
from rankwise.ltr.losses import losses_of
from rankwise.queries import Gain, QueryRows

Self = TypeVar("Self", bound="LinearRanker")

# How often "lambdarank" ranks again and weighs its pairs by the new ranking, and "pairwise_hinge" sharpens its kink.
_ROUNDS = 10


class LinearRanker(QueryRankerMixin, BaseEstimator):
    r"""Ranks by a weighted sum of the features, without intercept.

    *Definition.* Minimizes :math:`\tfrac12 \|\beta\|^2 + C \sum_q \ell_q(X_q \beta)` over the weights :math:`\beta` of
    the standardized features. For pairwise losses :math:`\ell_q` is the mean of :math:`\phi(s_i - s_j)` over the pairs
    of the query in which i is more relevant than j.

    Parameters
    ----------
    loss : str, default="pairwise_logistic"
        A loss of the table of losses (`rankwise.ltr.losses`). Of pairs: "pairwise_logistic",
        :math:`\log(1 + e^{-t})` (RankNet, Bradley-Terry); "pairwise_hinge", :math:`\max(0, 1 - t)` (RankSVM), to within
        a thousandth of the sum of the weights; "pairwise_squared_hinge", :math:`\max(0, 1 - t)^2` (RankSVM with the
        squared hinge); "pairwise_squared", :math:`(1 - t)^2`; "lambdarank", logistic with pairs weighted by
        how much exchanging them changes NDCG in the ranking so far, which is refreshed ten times. Of lists:
        "listwise_listnet", cross entropy with :math:`p \propto e^y`; "listwise_softmax", with :math:`p \propto y`;
        "listwise_listmle", minus the log likelihood of the order by relevance; "listwise_plistmle", the same with
        factors by place, see ``place_weights``.
    C : float, default=1.0
        Weight of the losses against the penalty.
    standardize : bool, default=True
        Whether features are divided by their standard deviation first. ``coef_`` is for the features as they come.
    max_pairs : int, default=5_000_000
        Maximum number of pairs of "pairwise_logistic", "pairwise_hinge" and "lambdarank", which draw pairs at random
        within queries if there are more. "pairwise_squared_hinge" and "pairwise_squared" use all pairs, however many:
        sorting gives their sums in O(n log n), which no logistic loss allows exactly.
    tol : float, default=1e-6
        L-BFGS stops when no component of the gradient exceeds this times C and the number of queries.
    max_iter : int, default=500
        Maximum number of iterations of L-BFGS.
    metric, k, score_gain
        What `score` returns, as in `LambdaMART`.
    gain : {"exp", "linear"}, sequence, mapping or callable, default="exp"
        What a grade is worth in the NDCG of "lambdarank"; see `rankwise.metrics.ndcg_score`.
    place_weights : {"exp", "log", "reciprocal"}, array-like or callable, default="exp"
        What place k of a query of K rows counts in "listwise_plistmle": :math:`2^{K-k} - 1` over the largest ("exp", as
        published), :math:`1 / \log_2(k + 1)` ("log", as in NDCG), :math:`1 / k` ("reciprocal"), weights of the first
        places (ones are the top-k likelihood), or what a function of arrays k and K returns.
    random_state : int, Generator, RandomState or None, default=None
        Draws pairs, and the order of equally relevant rows for "listwise_listmle" and "listwise_plistmle".

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Weights of the features.
    n_iter_ : int
        Number of iterations of L-BFGS.
    n_queries_ : int
        Number of queries in training.

    References
    ----------
    Joachims (2002), Optimizing search engines using clickthrough data. Cao et al. (2007), Learning to rank: from
    pairwise approach to listwise approach. Xia et al. (2008), Listwise approach to learning to rank. Lan et al. (2014),
    Position-aware ListMLE.

    Examples
    --------
    >>> from rankwise.ltr import LinearRanker
    >>> ranker = LinearRanker().fit([[0, 1], [1, 0], [0, 2], [3, 1]], [0, 1, 0, 1], qid=["a", "a", "b", "b"])
    >>> ranker.rank([[0, 1], [1, 0]])
    array([2., 1.])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "loss": [StrOptions(set(losses_of("LinearRanker")))],
        "C": [Interval(Real, 0, None, closed="neither")],
        "standardize": ["boolean"],
        "max_pairs": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        **METRIC_CONSTRAINTS,
        "place_weights": PLACE_WEIGHTS,
        "random_state": ["random_state", np.random.Generator],
    }

    _saved: ClassVar[Saved] = {"coef_": FLOATS, "n_iter_": COUNT}

    def __init__(
        self,
        loss: str = "pairwise_logistic",
        C: float = 1.0,
        *,
        standardize: bool = True,
        max_pairs: int = 5_000_000,
        tol: float = 1e-6,
        max_iter: int = 500,
        metric: str = "ndcg",
        k: int | None = 10,
        gain: Gain = "exp",
        score_gain: Gain = "linear",
        place_weights: PlaceWeights = "exp",
        random_state: RandomState = None,
    ) -> None:
        self.loss = loss
        self.C = C
        self.standardize = standardize
        self.max_pairs = max_pairs
        self.tol = tol
        self.max_iter = max_iter
        self.metric = metric
        self.k = k
        self.gain = gain
        self.score_gain = score_gain
        self.place_weights = place_weights
        self.random_state = random_state

    def fit(
        self: Self,
        X: ArrayLike,
        y: ArrayLike | None = None,
        qid: ArrayLike | str | None = None,
        sample_weight: ArrayLike | None = None,
        *,
        group: ArrayLike | None = None,
        pairs: ArrayLike | None = None,
        pair_weight: ArrayLike | None = None,
    ) -> Self:
        """Learn the weights.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_features)
            Features.
        y, qid, sample_weight, group, pairs, pair_weight
            As in `LambdaMART.fit`. Listwise losses take one weight per query. With ``pairs`` the loss is the sum over
            them: "pairwise_logistic" is then a Bradley-Terry model with features.

        Returns
        -------
        self
        """
        X, qid = split_off_queries(X, qid, group)
        loss, X_scaled, scale = self._prepared(X, y, qid, sample_weight, pairs, pair_weight)
        beta, self.n_iter_ = self._minimum(loss, X_scaled, self.C, np.zeros(X_scaled.shape[1]))
        self.coef_ = beta / scale
        return self

    def path(
        self,
        X: ArrayLike,
        y: ArrayLike,
        qid: ArrayLike | str | None = None,
        sample_weight: ArrayLike | None = None,
        *,
        Cs: ArrayLike = (0.001, 0.01, 0.1, 1.0, 10.0),
    ) -> FloatArray:
        """Weights for several values of C, each fit starting from the last one.

        Parameters
        ----------
        X, y, qid, sample_weight
            As in `fit`.
        Cs : array-like of shape (n_values,)
            Values of C.

        Returns
        -------
        ndarray of shape (n_values, n_features)
            In the order of ``Cs``.
        """
        from sklearn.base import clone

        values = np.asarray(Cs, dtype=np.float64)
        if values.ndim != 1 or not (values > 0).all():
            raise ValueError(f"Cs is {Cs!r}; give positive numbers")
        ranker = clone(self)  # a fitted ranker stays as it is
        X, qid = split_off_queries(X, qid)
        loss, X_scaled, scale = ranker._prepared(X, y, qid, sample_weight, None, None)
        coefs, beta = np.empty((len(values), X_scaled.shape[1])), np.zeros(X_scaled.shape[1])
        for number in np.argsort(values):
            beta, _ = ranker._minimum(loss, X_scaled, values[number], beta)
            coefs[number] = beta / scale
        return coefs

    def predict(self, X: ArrayLike) -> FloatArray:
        """Scores of rows.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_features)
            Features.

        Returns
        -------
        ndarray of shape (n_rows,)
            Higher is better.
        """
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(self)
        return np.asarray(self._check_features(X, reset=False, accept_sparse=True) @ self.coef_)

    def explain(self, X: ArrayLike, i: int, j: int) -> ScoreExplanation:
        """Explain why row i ranks above row j, or below it: what each feature adds to the difference of their scores.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_features)
            Features, e.g. of the rows of one query.
        i, j : int
            Two of its rows.

        Returns
        -------
        ScoreExplanation
            Weight times difference of the feature: positive if the feature speaks for i. They add up to the difference
            of the scores of i and j.
        """
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(self)
        rows = self._check_features(X, reset=False, accept_sparse=True)[[i, j]]
        rows = rows.toarray() if hasattr(rows, "toarray") else rows
        return score_explanation(self, X, i, j, (rows[0] - rows[1]) * self.coef_, rows @ self.coef_)

    def _prepared(self, X: Any, y: Any, qid: Any, sample_weight: Any, pairs: Any, pair_weight: Any) -> Any:
        """The loss, the scaled features, and what they were divided by."""
        self._validate_params()
        pairwise = losses_of("LinearRanker", "pairwise")
        if pairs is not None and self.loss not in pairwise:
            raise ValueError(f"loss={self.loss!r} needs relevance, not pairs; choose one of {', '.join(pairwise)}")
        grades = check_target(self, y, required=pairs is None)
        rng = check_generator(self.random_state)
        seed = int(rng.integers(2**63))
        features = self._check_features(X, reset=True, accept_sparse=True)
        rows = QueryRows.build(features, grades, qid, sample_weight, pairs, pair_weight, seed=seed)
        self.n_queries_ = rows.n_queries
        scale = _spread(rows.X) if self.standardize else np.ones(rows.X.shape[1])
        loss = make_flat_loss(self.loss, rows, self.gain, self.max_pairs, rng, self.place_weights)
        return loss, rows.X.multiply(1 / scale).tocsr() if hasattr(rows.X, "indptr") else rows.X / scale, scale

    def _minimum(self, loss: FlatLoss, X: Any, C: float, start: FloatArray) -> tuple[FloatArray, int]:
        if loss.refresh is None:
            return self._descend(loss, X, C, start)
        beta, n_iter = start, 0
        for number in range(_ROUNDS):
            loss.refresh(np.asarray(X @ beta), number)
            beta, steps = self._descend(loss, X, C, beta)
            n_iter += steps
        return beta, n_iter

    def _descend(self, loss: FlatLoss, X: Any, C: float, start: FloatArray) -> tuple[FloatArray, int]:
        from scipy.optimize import minimize

        def objective(beta: FloatArray) -> tuple[float, FloatArray]:
            value, gradient = loss.value_and_gradient(np.asarray(X @ beta))
            return float(value * C + beta @ beta / 2), np.asarray(X.T @ gradient) * C + beta

        options: Any = {"maxiter": self.max_iter, "gtol": self.tol * C * self.n_queries_, "ftol": 0.0, "maxcor": 20}
        found = minimize(objective, start, jac=True, method="L-BFGS-B", options=options)
        if found.nit >= self.max_iter:
            from sklearn.exceptions import ConvergenceWarning

            warnings.warn(
                f"L-BFGS stopped after max_iter={self.max_iter} iterations; give more, a larger tol or a smaller C",
                ConvergenceWarning,
                stacklevel=2,
            )
        return found.x, int(found.nit)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _check_saved(self) -> None:
        check_shape(self.coef_, (self.n_features_in_,), "the weights")


def _spread(X: Any) -> FloatArray:
    """Standard deviations of the features, 1 if they do not vary beyond rounding."""
    if hasattr(X, "indptr"):
        columns, n = X.tocsc(), X.shape[0]
        mean, stored = np.asarray(X.mean(axis=0)).ravel(), np.diff(columns.indptr)
        of = np.repeat(np.arange(X.shape[1]), stored)
        squares = np.bincount(of, (columns.data - mean[of]) ** 2, X.shape[1]) + (n - stored) * mean**2
        deviation, largest = np.sqrt(squares / n), abs(columns).max(axis=0).toarray().ravel()
    else:
        deviation, largest = X.std(axis=0), abs(X).max(axis=0)
    return np.where(deviation > 1e-12 * largest, deviation, 1.0)
