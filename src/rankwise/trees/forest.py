"""Forests of least-squares trees."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar, Literal

import numpy as np

from rankwise._random import check_generator
from rankwise._sklearn import BaseEstimator, Interval, RealNotInt
from rankwise._typing import ArrayLike, FloatArray, RandomState
from rankwise.trees.engine import GROWTH_CONSTRAINTS, GrowthRule, growth_limits
from rankwise.trees.ensemble import Sampling, draw_seeds, grow_trees, mean_prediction, out_of_bag_prediction
from rankwise.trees.fitted import ForestMixin
from rankwise.trees.regression import RegressionMixin, regression_set, weighted_r2

#: what the parameters that all forests share may be
FOREST_CONSTRAINTS: dict[str, list[Any]] = {
    **GROWTH_CONSTRAINTS,
    "n_estimators": [Interval(Integral, 1, None, closed="left")],
    "bootstrap": ["boolean"],
    "max_samples": [
        None,
        Interval(Integral, 1, None, closed="left"),
        Interval(RealNotInt, 0.0, 1.0, closed="right"),
    ],
    "oob_score": ["boolean"],
    "n_jobs": [None, Integral],
}


class LeastSquaresForest(ForestMixin, RegressionMixin, BaseEstimator):
    """Mean of many least-squares trees, each grown on a random part of the rows.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of trees.
    bootstrap : bool, default=True
        Draw the rows of a tree with replacement; otherwise without, ``max_samples`` of them.
    max_samples : int or float, optional
        Rows to draw for each tree, or their share; by default as many as there are.
    oob_score : bool, default=False
        Whether to compute ``oob_score_`` (R^2) and ``oob_prediction_`` from the trees that have not seen a row.
    n_jobs : int, optional
        Threads; the forest is the same for every number.
    growth, honest, splitter, max_depth, min_samples_split, min_samples_leaf, max_features, max_leaf_nodes, \
min_impurity_decrease, max_bins, sketch, categorical_features, random_state
        Of the trees, see `LeastSquaresTree`. An honest tree divides its part of the rows in two.

    Attributes
    ----------
    trees_ : list of Tree
        The trees.
    feature_importances_ : ndarray of shape (n_features,)
        Mean share of each feature in the decrease of the squared error.

    Examples
    --------
    >>> from rankwise.trees import LeastSquaresForest
    >>> forest = LeastSquaresForest(n_estimators=20, random_state=0).fit([[0], [1], [2], [3]], [0.0, 0.0, 1.0, 1.0])
    >>> forest.predict([[0], [3]]).round(1)
    array([0., 1.])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = FOREST_CONSTRAINTS

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        growth: Literal["best", "level"] = "best",
        honest: bool = False,
        splitter: Literal["best", "random"] = "best",
        max_depth: int | None = None,
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        max_features: int | float | str | None = None,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        max_bins: int | None = 255,
        sketch: int | None = None,
        bootstrap: bool = True,
        max_samples: int | float | None = None,
        oob_score: bool = False,
        categorical_features: Any = None,
        n_jobs: int | None = None,
        random_state: RandomState = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.growth = growth
        self.honest = honest
        self.splitter = splitter
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.max_features = max_features
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.max_bins = max_bins
        self.sketch = sketch
        self.bootstrap = bootstrap
        self.max_samples = max_samples
        self.oob_score = oob_score
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> LeastSquaresForest:
        """Grow the trees.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features; NaN is missing.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Targets; NaN is missing. Rows without any are left out.
        sample_weight : array-like of shape (n_samples,), optional
            Weights; rows of weight 0 are left out.

        Returns
        -------
        self
        """
        self._validate_params()
        rng = check_generator(self.random_state)
        features = self._check_features(X, reset=True)
        training, rows, self._flat = regression_set(self, features, y, sample_weight, rng)
        rule = GrowthRule(self.growth, self.honest, growth_limits(self, *training.X.shape))
        sampling, seeds = Sampling(self.bootstrap, self.max_samples), draw_seeds(self.n_estimators, rng)
        if self.oob_score:
            sampling.check_leaves_rows_out(len(rows))
        self.trees_ = grow_trees(training, rule, sampling, seeds, self.n_jobs)
        self.n_outputs_ = training.targets.size
        if self.oob_score:
            known = out_of_bag_prediction(self.trees_, training.X, sampling, seeds, np.arange(len(rows)))
            self.oob_score_ = weighted_r2(training.targets.values, known, training.weights)
            prediction = np.full((len(features), self.n_outputs_), np.nan)
            prediction[rows] = known
            self.oob_prediction_ = prediction[:, 0] if self._flat else prediction
        return self

    def predict(self, X: ArrayLike) -> FloatArray:
        """Mean prediction of the trees.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_outputs)
        """
        features = self._check_fitted_features(X)
        values = mean_prediction(self.trees_, features, self.n_jobs)
        return values[:, 0] if self._flat else values

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags
