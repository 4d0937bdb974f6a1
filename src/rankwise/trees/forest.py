"""Forests of least-squares trees."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.base import RegressorMixin

from rankwise._random import check_generator
from rankwise._sklearn import BaseEstimator, Interval, RealNotInt
from rankwise._typing import ArrayLike, FloatArray, IntArray, RandomState
from rankwise.data.weights import check_weights
from rankwise.trees.engine import GROWTH_CONSTRAINTS, GrowthRule, TrainingSet, growth_limits
from rankwise.trees.ensemble import Sampling, draw_seeds, grow_trees, mean_prediction, out_of_bag_prediction
from rankwise.trees.inputs import FeatureEncoder
from rankwise.trees.structure import Tree
from rankwise.trees.targets import TargetRows
from rankwise.trees.tree import check_targets, informative_rows

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


class LeastSquaresForest(RegressorMixin, BaseEstimator):
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
    feature_importances_ : ndarray of shape (n_features_in_,)
        Mean share of each feature in the decrease of the squared error.

    Examples
    --------
    >>> from rankwise.trees import LeastSquaresForest
    >>> forest = LeastSquaresForest(n_estimators=20, random_state=0).fit([[0], [1], [2], [3]], [0.0, 0.0, 1.0, 1.0])
    >>> forest.predict([[0], [3]]).round(1)
    array([0.1, 0.9])
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
        min_samples_split: int = 2,
        min_samples_leaf: int = 1,
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
        self._encoder = FeatureEncoder(self.categorical_features)
        features = self._encoder.fit_transform(self, X)
        targets, self._flat = check_targets(y, len(features))
        weights = check_weights(sample_weight, len(features), name="sample_weight", each="row")
        rows = informative_rows(targets, weights)
        training = TrainingSet.build(
            features,
            self._encoder.is_categorical,
            TargetRows(targets),
            weights,
            max_bins=self.max_bins,
            sketch=self.sketch,
            rng=rng,
        )
        rule = GrowthRule(self.growth, self.honest, growth_limits(self, features.shape[1]))
        sampling, seeds = Sampling(self.bootstrap, self.max_samples), draw_seeds(self.n_estimators, rng)
        self.trees_ = grow_trees(training, rule, rows, sampling, seeds, self.n_jobs)
        self.n_outputs_ = targets.shape[1]
        if self.oob_score:
            self._judge_out_of_bag(features, targets, weights, rows, sampling, seeds)
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
        trees = self._fitted_trees()
        values = mean_prediction(trees, self._encoder.transform(self, X), self.n_outputs_, self.n_jobs)
        return values[:, 0] if self._flat else values

    def apply(self, X: ArrayLike) -> IntArray:
        """Node number of the leaf of each row in each tree: (n_samples, n_estimators)."""
        trees = self._fitted_trees()
        features = self._encoder.transform(self, X)
        return np.column_stack([tree.find_leaves(features) for tree in trees]).astype(np.intp)

    @property
    def feature_importances_(self) -> FloatArray:
        """Mean share of each feature in the decrease of the squared error."""
        return np.mean([tree.importances(self.n_features_in_) for tree in self._fitted_trees()], axis=0)

    def _judge_out_of_bag(
        self,
        features: FloatArray,
        targets: FloatArray,
        weights: FloatArray,
        rows: IntArray,
        sampling: Sampling,
        seeds: IntArray,
    ) -> None:
        if not self.bootstrap and sampling.size(len(rows)) >= len(rows):
            raise ValueError("oob_score=True needs rows that trees have not seen: set bootstrap=True or max_samples")
        prediction = np.full(targets.shape, np.nan)
        prediction[rows] = out_of_bag_prediction(self.trees_, features, rows, sampling, seeds, targets.shape[1], rows)
        known = ~np.isnan(prediction) & ~np.isnan(targets)
        weight = np.where(known, weights[:, None], 0.0)
        mean = np.where(known, targets, 0.0).T @ weights / np.maximum(weight.sum(axis=0), 1e-300)
        rest = (weight * np.where(known, targets - prediction, 0.0) ** 2).sum(axis=0)
        spread = (weight * np.where(known, targets - mean, 0.0) ** 2).sum(axis=0)
        self.oob_prediction_ = prediction[:, 0] if self._flat else prediction
        self.oob_score_ = float(np.mean(1 - rest / np.maximum(spread, 1e-300)))

    def _fitted_trees(self) -> list[Tree]:
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(self)
        return self.trees_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.target_tags.multi_output = True
        return tags
