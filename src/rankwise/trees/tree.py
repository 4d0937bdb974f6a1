"""A least-squares regression tree for many targets at once."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar, Literal

import numpy as np

from rankwise._random import check_generator
from rankwise._sklearn import BaseEstimator, Interval, StrOptions
from rankwise._typing import ArrayLike, FloatArray, RandomState
from rankwise.trees.engine import GROWTH_CONSTRAINTS, GrowthRule, TrainingSet, growth_limits
from rankwise.trees.fitted import TreeMixin
from rankwise.trees.penalty import penalty_by_cross_validation
from rankwise.trees.pruning import PruningPath, pruned, pruning_path
from rankwise.trees.regression import RegressionMixin, regression_set


class LeastSquaresTree(TreeMixin, RegressionMixin, BaseEstimator):
    r"""Regression tree that minimises the squared error, for one or many targets, some of which may be missing.

    *Definition.* A split of a cell is chosen to maximise :math:`|S_L|^2 / w_L + |S_R|^2 / w_R`, with S the weighted
    sum of the target vectors on a side and w its weight. Missing targets (NaN) have weight 0, coordinate by
    coordinate, in the criterion and in the means that leaves predict.

    Parameters
    ----------
    growth : {"best", "level"}, default="best"
        "best" gives every cell its own best split (Breiman et al.); "level" gives all cells of a level the one common
        (feature, threshold) that serves them best together (Level-Splits, see the reference).
    honest : bool, default=False
        Grow on a random half of the rows and fill the leaves with the other half. A leaf without rows of that half
        takes the mean of its nearest ancestor that has some, as does every target that no row of a leaf knows.
    splitter : {"best", "random"}, default="best"
        "random" tries one threshold per feature, drawn between the smallest and largest value in the cell.
    max_depth, min_samples_split, min_samples_leaf, max_features, max_leaf_nodes
        As in scikit-learn; numbers of rows may be given as shares of the rows that grow the tree. ``max_features``
        features are drawn per cell (per level with growth="level").
    min_impurity_decrease : float, default=0.0
        A cell is split only if that lowers the squared error, per unit of the weight of all rows, by this much.
    max_bins : int or None, default=255
        Numeric features are cut into at most this many bins of about equal counts; None tries every threshold.
    sketch : int, optional
        Choose splits on this many random projections of the targets instead of all of them: faster for many targets.
        Leaves stay exact.
    ccp_alpha : float or "cv", default=0.0
        Penalty per leaf: the grown tree is pruned to the subtree that minimises the squared error per unit of weight
        plus ``ccp_alpha`` times its leaves; "cv" chooses the penalty by 5-fold cross-validation.
    categorical_features : array-like of column numbers, names or booleans, optional
        Columns of categories, split into two sets by the main direction of the categories' mean targets. By default the
        text, categorical and Boolean columns of data frames. New categories are treated as missing values.
    random_state : None, int, Generator or RandomState
        Of the features drawn, random thresholds, honest halves and sketches.

    Attributes
    ----------
    tree_ : Tree
        The nodes.
    ccp_alpha_ : float
        The penalty used.
    cv_results_ : dict of str to ndarray, or None
        With ``ccp_alpha="cv"`` the penalties that were tried: "ccp_alpha", "n_leaves", "training_error", "test_error"
        (per row). See `PruningPathDisplay`.
    feature_importances_ : ndarray of shape (n_features,)
        Share of each feature in the decrease of the squared error.

    Notes
    -----
    Missing feature values go to the side that fits them better; where the training rows of a cell had none, to the
    side with more rows. Categories that no training row of a cell had are treated as missing there.

    References
    ----------
    Fotakis, Kalavasis, Psaroudaki (2022), Label ranking through nonparametric regression, algorithm 9.

    Examples
    --------
    >>> from rankwise.trees import LeastSquaresTree
    >>> LeastSquaresTree().fit([[1], [2], [3], [4]], [1.0, 1.0, 5.0, float("nan")]).predict([[1.5], [9]])
    array([1., 5.])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **GROWTH_CONSTRAINTS,
        "ccp_alpha": [StrOptions({"cv"}), Interval(Real, 0.0, None, closed="left")],
    }

    def __init__(
        self,
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
        ccp_alpha: float | Literal["cv"] = 0.0,
        categorical_features: Any = None,
        random_state: RandomState = None,
    ) -> None:
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
        self.ccp_alpha = ccp_alpha
        self.categorical_features = categorical_features
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> LeastSquaresTree:
        """Grow the tree.

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
        training, rule, rng = self._training_set(X, y, sample_weight)
        tree, fill_rows = training.grow(rule, np.arange(len(training.X)), rng)
        self.cv_results_: dict[str, Any] | None = None
        if self.ccp_alpha == "cv":
            self.ccp_alpha_, self.cv_results_ = penalty_by_cross_validation(training, rule, pruning_path(tree), rng)
        else:
            self.ccp_alpha_ = float(self.ccp_alpha)
        self.tree_ = training.fill(pruned(tree, self.ccp_alpha_), fill_rows)
        return self

    def predict(self, X: ArrayLike) -> FloatArray:
        """Mean target of the leaf of each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_outputs)
        """
        features = self._check_fitted_features(X)
        values = self.tree_.predict(features)
        return values[:, 0] if self._flat else values

    def cost_complexity_pruning_path(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> PruningPath:
        """Grow the tree without a penalty, and list the subtrees that growing penalties choose."""
        training, rule, rng = self._training_set(X, y, sample_weight)
        return pruning_path(training.grow(rule, np.arange(len(training.X)), rng)[0])

    def _training_set(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None
    ) -> tuple[TrainingSet, GrowthRule, np.random.Generator]:
        self._validate_params()
        rng = check_generator(self.random_state)
        features = self._check_features(X, reset=True)
        training, _, self._flat = regression_set(self, features, y, sample_weight, rng)
        return training, GrowthRule(self.growth, self.honest, growth_limits(self, *training.X.shape)), rng

    def _leaf_texts(self) -> list[str]:
        return [", ".join(f"{value:.4g}" for value in row) for row in self.tree_.values]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags
