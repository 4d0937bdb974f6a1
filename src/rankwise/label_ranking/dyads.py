"""DyadRanker: label ranking with features of the items, so that new items can be ranked for new people."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Mapping, Sequence
from numbers import Integral, Real
from typing import Any, ClassVar, Literal, TypeVar

import numpy as np

from rankwise._sklearn import BaseEstimator, Interval, StrOptions
from rankwise._state import (
    BOOL,
    COUNT,
    FLOATS,
    MATRIX,
    STRING,
    Saved,
    check_shape,
    ensure,
    instance,
    optional,
    tuple_of,
)
from rankwise._threads import one_thread
from rankwise._typing import ArrayLike, FloatArray, RandomState
from rankwise._validation import shortlist
from rankwise.aggregation.item_features import features_by_name, read_item_features
from rankwise.data import Rankings
from rankwise.label_ranking import _rankers_jit
from rankwise.label_ranking.base import (
    NEEDED_SCALER,
    LabelRankerMixin,
    check_saved_scaler,
    fitted_scaler,
    row_blocks,
)
from rankwise.label_ranking.predictive import Law, sample_rows, theta_from_pairwise, top_of_rows

Dyads = TypeVar("Dyads", bound="DyadRanker")


class DyadRanker(LabelRankerMixin, BaseEstimator):
    r"""Label ranker whose scores depend on features of people and of items, so that it ranks items never seen.

    *Definition.* Item i has the score :math:`s(x, z_i)` for a person with features x, and rankings follow the
    Plackett-Luce model of these scores, as in `PlackettLuceRanker`. "bilinear": :math:`s(x, z) = (1, x)' W z` on
    standardized features, with the penalty :math:`\frac{\alpha}{2} \|W\|^2`. "boosted": to this score, regression trees
    on the pair (x, z) are added, each of which follows the gradient of the likelihood.

    Parameters
    ----------
    model : {"bilinear", "boosted"}, default="bilinear"
        Form of the scores: linear in all products of features; or with boosted trees added, which find other
        dependence, too, but need more data.
    item_features : array-like of shape (n_items, n_item_features), data frame or dict, optional
        Features of the items, in the order of the columns of y, where ``fit`` is not given them: for cross-validation
        and grid search. Without any, each item is a feature of its own, and new items cannot be ranked. Give an array,
        not a frame, if the ranker is to be saved.
    alpha : float, default=1.0
        Strength of the penalty of the bilinear score, positive; and L2 penalty of the leaves.
    n_estimators : int, default=200
        Number of trees.
    learning_rate : float, default=0.1
        Weight of each tree.
    max_leaf_nodes : int, default=15
        Largest number of leaves of a tree.
    min_samples_leaf : int, default=20
        Smallest number of dyads, pairs of a person and an item, in a leaf; with fewer than twice as many, there are
        no trees.
    max_iter : int, default=1000
        Maximum number of iterations of L-BFGS, for the bilinear score.
    tol : float, default=1e-6
        Stop when the largest component of the gradient, per unit of weight, is at most this.

    Attributes
    ----------
    coef_ : ndarray of shape (1 + n_features, n_item_features)
        W; the first row is that of the mean person.
    booster_ : lightgbm.Booster
        The trees, if there are any.
    item_features_ : ndarray of shape (n_items, n_item_features)
        Features of the items of the fit.
    item_feature_names_ : tuple of str
        Their names.
    n_iter_ : int
        Number of iterations of L-BFGS.
    items_ : tuple
        Names of the items.

    References
    ----------
    Schäfer, Hüllermeier (2018), Dyad ranking using Plackett-Luce models based on joint feature representations, Machine
    Learning 107.

    Examples
    --------
    >>> from rankwise.label_ranking import DyadRanker
    >>> X, y = [[0], [1], [8], [9]], [[1, 2, 3], [1, 2, 3], [3, 2, 1], [3, 2, 1]]
    >>> ranker = DyadRanker().fit(X, y, item_features=[[1.0], [2.0], [3.0]])
    >>> ranker.predict([[0.2], [9.5]], item_features=[[0.0], [2.5], [9.0]])
    array([[1., 2., 3.],
           [3., 2., 1.]])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "model": [StrOptions({"bilinear", "boosted"})],
        "item_features": [None, "array-like", Mapping],
        "alpha": [Interval(Real, 0, None, closed="neither")],
        "n_estimators": [Interval(Integral, 1, None, closed="left")],
        "learning_rate": [Interval(Real, 0, None, closed="neither")],
        "max_leaf_nodes": [Interval(Integral, 2, None, closed="left")],
        "min_samples_leaf": [Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
    }

    _saved: ClassVar[Saved] = {
        "_scaler": NEEDED_SCALER,
        "item_features_": MATRIX,
        "item_feature_names_": tuple_of(STRING),
        "_item_center": FLOATS,
        "_item_scale": FLOATS,
        "_has_item_features": BOOL,
        "n_iter_": COUNT,
        "coef_": MATRIX,
        "booster_": optional(instance("Booster")),
    }

    def __init__(
        self,
        model: Literal["bilinear", "boosted"] = "bilinear",
        *,
        item_features: Any = None,
        alpha: float = 1.0,
        n_estimators: int = 200,
        learning_rate: float = 0.1,
        max_leaf_nodes: int = 15,
        min_samples_leaf: int = 20,
        max_iter: int = 1000,
        tol: float = 1e-6,
    ) -> None:
        self.model = model
        self.item_features = item_features
        self.alpha = alpha
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.max_leaf_nodes = max_leaf_nodes
        self.min_samples_leaf = min_samples_leaf
        self.max_iter = max_iter
        self.tol = tol

    def fit(
        self: Dyads,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        item_features: Any = None,
    ) -> Dyads:
        """Learn to rank.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features of the people.
        y : Rankings or array-like of shape (n_samples, n_items)
            Positions, 1 = best, of any kind, as for all label rankers.
        sample_weight : array-like of shape (n_samples,), optional
            How often each row counts; by default the weights of the Rankings, else ones.
        item_features : array-like of shape (n_items, n_item_features), data frame or dict, optional
            Features of the items, in the order of the columns of y (rows of a pandas data frame that name the items are
            put in order); by default the parameter of the same name.

        Returns
        -------
        self
        """
        self._given = self.item_features if item_features is None else item_features
        try:
            return super().fit(X, y, sample_weight)
        finally:
            del self._given

    def predict(self, X: ArrayLike, *, item_features: Any = None) -> FloatArray:
        """Predict a full ranking for each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features of the people.
        item_features : array-like of shape (n_items, n_item_features), data frame or dict, optional
            Features of the items to rank, in columns of the same names or in the same order as in the fit; by default
            the items of the fit.

        Returns
        -------
        ndarray of shape (n_samples, n_items)
            Positions, 1 = best; columns are ``items_``, or the rows of ``item_features``.
        """
        if item_features is None:
            return super().predict(X)
        return _places(self._scores(self._check_fitted_features(X), self._new_items(item_features)))

    def predict_pairwise(self, X: ArrayLike, *, item_features: Any = None) -> FloatArray:
        """Predict, for each row, how probably one item comes before another.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features of the people.
        item_features : array-like of shape (n_items, n_item_features), data frame or dict, optional
            Features of the items to compare; by default the items of the fit.

        Returns
        -------
        ndarray of shape (n_samples, n_items, n_items)
            As for all label rankers.
        """
        if item_features is None:
            return super().predict_pairwise(X)
        return _before(self._scores(self._check_fitted_features(X), self._new_items(item_features)))

    def sample_rankings(
        self,
        X: ArrayLike,
        n: int = 1,
        random_state: RandomState = None,
        law: Law = "plackett-luce",
        *,
        item_features: Any = None,
    ) -> FloatArray:
        """Draw rankings that people with these features may give, also of items never seen.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features of the people.
        n : int, default=1
            Rankings for each row.
        random_state : None, int, Generator or RandomState
            Source of the random numbers.
        law : {"plackett-luce", "mallows"}, default="plackett-luce"
            Family of the law, as for all label rankers; "plackett-luce" is the model itself.
        item_features : array-like of shape (n_items, n_item_features), data frame or dict, optional
            Features of the items to rank; by default the items of the fit.

        Returns
        -------
        ndarray of shape (n_samples, n, n_items)
            Positions, 1 = best; columns are ``items_``, or the rows of ``item_features``.
        """
        if item_features is None:
            return super().sample_rankings(X, n, random_state, law)
        return sample_rows(law, self._law_of_items(X, item_features, law), n, random_state)

    def predict_top_proba(
        self, X: ArrayLike, k: int = 1, law: Law = "plackett-luce", *, item_features: Any = None
    ) -> FloatArray:
        """Predict, for each row, how probably each item is among the first k, also of items never seen.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features of the people.
        k : int, default=1
            Number of places, from 1 to the number of items.
        law : {"plackett-luce", "mallows"}, default="plackett-luce"
            Family of the law, as in `sample_rankings`.
        item_features : array-like of shape (n_items, n_item_features), data frame or dict, optional
            Features of the items to choose from; by default the items of the fit.

        Returns
        -------
        ndarray of shape (n_samples, n_items)
            Probabilities, which sum to k in each row.
        """
        if item_features is None:
            return super().predict_top_proba(X, k, law)
        return top_of_rows(law, self._law_of_items(X, item_features, law), k)

    def _law_of_items(self, X: ArrayLike, item_features: Any, law: Law) -> tuple[FloatArray, ...]:
        """Parameters of the predictive law of new items, as of ``_predict_law``."""
        scores = self._scores(self._check_fitted_features(X), self._new_items(item_features))
        if law == "plackett-luce":
            return (scores - scores.mean(axis=1, keepdims=True),)
        centers = _places(scores)
        parts = [theta_from_pairwise(_before(scores[rows]), centers[rows]) for rows in row_blocks(*scores.shape)]
        return centers, np.concatenate([np.zeros(0), *parts])

    def _fit_rankings(self, X: FloatArray, y: Rankings) -> None:
        if not np.any(y.positions < np.nanmax(y.positions, axis=1, keepdims=True)):
            raise ValueError("everybody ties all items; there is no order to learn")
        self._read_items(y.items)
        self._scaler = fitted_scaler(X, y)
        vars(self).pop("booster_", None)
        with one_thread():
            self._fit_bilinear(self._scaler.transform(X), y)
            if self.model == "boosted":
                self._add_trees(X, y)

    def _read_items(self, items: Sequence[Hashable]) -> None:
        """Keep the features of the items; without any, each item is one."""
        self._has_item_features = self._given is not None
        if self._given is None:
            self.item_features_, self.item_feature_names_ = np.eye(len(items)), tuple(map(str, items))
            self._item_center, self._item_scale = np.zeros(len(items)), np.ones(len(items))
            return
        features = read_item_features(self._given, items)
        self.item_features_ = _finite(features.values)
        if len(self.item_features_) != len(items):
            raise ValueError(
                f"item_features has {len(self.item_features_)} rows, but y ranks {len(items)} items "
                f"({shortlist(list(items))}); give one row per item"
            )
        self.item_feature_names_ = features.names
        self._item_center = self.item_features_.mean(axis=0)
        scale = self.item_features_.std(axis=0)
        if np.all(self.item_features_ == self.item_features_[0]):
            raise ValueError(
                f"item_features ({shortlist(features.names)}) are the same for all items, so they cannot tell the "
                "items apart; give features that differ, or none: each item then counts as one"
            )
        self._item_scale = np.where(scale > 1e-12 * np.maximum(np.abs(self._item_center), 1e-300), scale, 1.0)

    def _new_items(self, item_features: Any) -> FloatArray:
        """Checked features of items that need not be those of the fit."""
        if not self._has_item_features:
            raise ValueError(
                "this DyadRanker was fitted without item_features, so it knows only the items of the fit; "
                "fit(X, y, item_features=...) learns what their features mean"
            )
        return _finite(features_by_name(item_features, self.item_feature_names_).values)

    def _fit_bilinear(self, X: FloatArray, y: Rankings) -> None:
        from scipy.optimize import minimize

        design = np.column_stack([np.ones(len(X)), X])
        items = (self.item_features_ - self._item_center) / self._item_scale
        shape = (design.shape[1], items.shape[1])
        order = np.argsort(y.positions, axis=1, kind="stable")
        total = y.weights.sum()

        def loss(flat: FloatArray) -> tuple[float, FloatArray]:
            scores = np.ascontiguousarray(design @ flat.reshape(shape) @ items.T)
            value, by_score = _rankers_jit.plackett_luce_loss(y.positions, order, y.weights, scores)
            gradient = (design.T @ by_score @ items).ravel() + self.alpha * flat
            return (value + self.alpha / 2 * float(flat @ flat)) / total, gradient / total

        options: Any = {"maxiter": self.max_iter, "maxfun": 2 * self.max_iter, "ftol": 0.0, "gtol": self.tol}
        result = minimize(loss, np.zeros(shape).ravel(), jac=True, method="L-BFGS-B", options=options)
        self.coef_, self.n_iter_ = result.x.reshape(shape), int(result.nit)
        if self.n_iter_ >= self.max_iter:
            from sklearn.exceptions import ConvergenceWarning

            warnings.warn(
                f"L-BFGS did not converge in {self.max_iter} iterations; raise max_iter, tol or alpha",
                ConvergenceWarning,
                stacklevel=5,
            )

    def _add_trees(self, X: FloatArray, y: Rankings) -> None:
        import lightgbm

        order = np.argsort(y.positions, axis=1, kind="stable")
        rows, columns = np.nonzero(~np.isnan(y.positions))
        if len(rows) < 2 * self.min_samples_leaf:
            return
        linear = self._scores(X, self.item_features_)
        scores = linear.copy()

        def objective(predicted: FloatArray, _: Any) -> tuple[FloatArray, FloatArray]:
            scores[rows, columns] = linear[rows, columns] + predicted
            _, gradient = _rankers_jit.plackett_luce_loss(y.positions, order, y.weights, scores)
            curvature = _rankers_jit.plackett_luce_curvature(y.positions, order, y.weights, scores)
            return gradient[rows, columns], np.maximum(curvature[rows, columns], 1e-12)

        parameters = {
            "objective": objective,
            "learning_rate": self.learning_rate,
            "num_leaves": self.max_leaf_nodes,
            "min_data_in_leaf": self.min_samples_leaf,
            "min_sum_hessian_in_leaf": 1e-6,
            "lambda_l2": self.alpha,
            "verbosity": -1,
            "num_threads": 1,
            "deterministic": True,
            "force_row_wise": True,
            "seed": 0,
        }
        dyads = np.column_stack([X[rows], self.item_features_[columns]])
        data = lightgbm.Dataset(dyads, np.zeros(len(rows)), params={"verbosity": -1, "feature_pre_filter": False})
        self.booster_ = lightgbm.train(parameters, data, num_boost_round=self.n_estimators)

    def _scores(self, X: FloatArray, items: FloatArray) -> FloatArray:
        """Scores of items for checked features of people: (n_samples, n_items)."""
        design = np.column_stack([np.ones(len(X)), self._scaler.transform(X)])
        scores = design @ self.coef_ @ ((items - self._item_center) / self._item_scale).T
        if hasattr(self, "booster_") and scores.size:
            dyads = np.column_stack([np.repeat(X, len(items), axis=0), np.tile(items, (len(X), 1))])
            scores += np.asarray(self.booster_.predict(dyads, num_threads=1)).reshape(scores.shape)
        return scores

    def _predict_log_worth(self, X: FloatArray) -> FloatArray:
        return self._scores(X, self.item_features_)

    def _predict_pairwise(self, X: FloatArray) -> FloatArray:
        return _before(self._predict_log_worth(X))

    def _predict_positions(self, X: FloatArray) -> FloatArray:
        return _places(self._predict_log_worth(X))

    def _check_saved(self) -> None:
        width = len(self.item_feature_names_)
        check_shape(self.item_features_, (len(self.items_), width), "the features of the items")
        check_shape(self._item_center, (width,), "the means of the features")
        check_shape(self._item_scale, (width,), "the scales of the features")
        check_shape(self.coef_, (1 + self.n_features_in_, width), "the coefficients")
        if hasattr(self, "booster_"):
            ensure(self.booster_.num_feature() == self.n_features_in_ + width, "the trees have other features")
        check_saved_scaler(self)


def _before(scores: FloatArray) -> FloatArray:
    """Probabilities of i before j by the Plackett-Luce model of scores."""
    from scipy.special import expit

    return expit(scores[:, :, np.newaxis] - scores[:, np.newaxis])


def _places(scores: FloatArray) -> FloatArray:
    """Positions by decreasing scores; of equal ones, the first column comes first."""
    order = np.argsort(-scores, axis=1, kind="stable")
    positions = np.empty(scores.shape)
    np.put_along_axis(positions, order, np.arange(1.0, scores.shape[1] + 1)[np.newaxis], axis=1)
    return positions


def _finite(values: FloatArray) -> FloatArray:
    if values.ndim != 2:
        raise ValueError("item_features differs between rows, but an item has the same features for everybody here")
    if not np.isfinite(values).all():
        row, column = np.argwhere(~np.isfinite(values))[0]
        raise ValueError(f"item_features has no finite number in row {row}, column {column}; fill it in")
    return np.ascontiguousarray(values)
