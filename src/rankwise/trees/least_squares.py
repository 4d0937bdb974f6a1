"""Least-squares regression trees and forests: the public estimators of this package.

Targets are numbers, one or many per row, NaN where missing. `label_ranking` builds on the same engine.
"""

from __future__ import annotations

from collections.abc import Callable
from numbers import Real
from typing import Any, ClassVar, Literal

import numpy as np

from rankwise._sklearn import BaseEstimator, Interval, RegressorMixin, StrOptions
from rankwise._state import BOOL, COUNT, FLOATS, MATRIX, Saved, either, optional
from rankwise._typing import ArrayLike, FloatArray, IntArray, RandomState
from rankwise._validation import check_generator, check_weights
from rankwise.trees.base import ForestMixin, TreeMixin, check_targets
from rankwise.trees.engine import (
    FOREST_CONSTRAINTS,
    GROWTH_CONSTRAINTS,
    GrowthRule,
    Sampling,
    TargetRows,
    TrainingSet,
    grow_trees,
    mean_prediction,
    out_of_bag_prediction,
)

# Variance that rounding leaves of equal targets, as a share of their squares.
_ROUNDING = 1e-24


class _RegressionMixin(RegressorMixin):
    """Score of regressors whose targets may be missing."""

    predict: Callable[[ArrayLike], FloatArray]

    _saved: ClassVar[Saved] = {"_flat": BOOL}

    def score(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Mean over the targets of :math:`R^2`, each over the rows that have it.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Targets; NaN is missing.
        sample_weight : array-like of shape (n_samples,), optional
            Weights.

        Returns
        -------
        float
            At most 1; a target that does not vary counts 1 where it is met, else 0.
        """
        prediction = self.predict(X)
        targets, _ = check_targets(y, len(prediction))
        weights = check_weights(sample_weight, len(prediction), name="sample_weight", each="row")
        prediction = prediction.reshape(len(prediction), -1)
        if targets.shape[1] != prediction.shape[1]:
            raise ValueError(f"y has {targets.shape[1]} targets, but {prediction.shape[1]} are predicted; give these")
        return _weighted_r2(targets, prediction, weights)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags


class LeastSquaresTree(TreeMixin, _RegressionMixin, BaseEstimator):
    r"""Regression tree that minimizes the squared error, for one or many targets, some of which may be missing.

    *Definition.* A split of a cell is chosen to maximize :math:`|S_L|^2 / w_L + |S_R|^2 / w_R`, with S the weighted
    sum of the target vectors on a side and w its weight. Missing targets (NaN) have weight 0, coordinate by
    coordinate, in the criterion and in the means that leaves predict.

    Parameters
    ----------
    growth : {"best", "level"}, default="best"
        "best" gives every cell its own best split (Breiman et al.); "level" gives all cells of a level the one common
        (feature, threshold) that serves them best together (Level-Splits, see the reference).
    honest : bool or "paper", default=False
        Grow on a random half of the rows and fill the leaves with the other half. True: the first half alone decides
        where to split; a leaf without rows of the other half takes the mean of its nearest ancestor that has some, as
        does every target that no row of a leaf knows. "paper": a cell is split only if both sides hold rows of the
        other half, down to one row, as in algorithms 9 and 10 of the reference; see the notes.
    splitter : {"best", "random"}, default="best"
        "random" tries one threshold per feature, drawn between the normal scores of the smallest and the largest value
        in the cell (quantiles of the normal law at their places among all rows): only the order of values counts.
    max_depth, min_samples_split, min_samples_leaf, max_features, max_leaf_nodes
        As in scikit-learn; numbers of rows may be given as shares of the rows that grow the tree. ``max_features``
        features are drawn per cell (per level with growth="level"). With ``honest="paper"`` the fewest rows are those
        of the half that fills the leaves.
    growth_order : {"best-first", "breadth-first"}, default="best-first"
        Which cell is split next where ``max_leaf_nodes`` limits their number: the one that gains most, or the oldest,
        level by level, as in algorithm 10 of the reference. With growth="level" whole levels are split.
    min_impurity_decrease : float, default=0.0
        A cell is split only if that lowers the squared error, per unit of the weight of all rows, by this much. 0
        splits even where nothing is gained at once, as scikit-learn does, because the next split may gain (exclusive
        or); any small number, such as 1e-9, stops there.
    max_bins : int or None, default=255
        Numeric features are cut into at most this many bins of about equal counts; None tries every threshold.
    sketch : int, optional
        Choose splits on this many random projections of the targets instead of all of them: faster for many targets.
        Leaves stay exact.
    ccp_alpha : float or "cv", default=0.0
        Penalty per leaf: the grown tree is pruned to the subtree that minimizes the squared error per unit of weight
        plus ``ccp_alpha`` times its leaves; "cv" chooses the penalty by 5-fold cross-validation.
    categorical_features : array-like of column numbers, names or booleans, optional
        Columns of categories, split into two sets: the best two where a cell has at most 10 categories (or there is one
        target), else the best of the cuts along the main direction of the categories' mean targets, a heuristic that
        ``splitter="random"`` and ``growth="level"`` always use. By default the text, categorical and Boolean columns of
        data frames. New categories are treated as missing values.
    random_state : None, int, Generator or RandomState
        Determines the features drawn, random thresholds, honest halves and sketches.

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

    With ``honest="paper"`` and growth="level", the first half chooses the common cuts as if it alone grew a tree
    (the paper's :math:`V_n(S \cup \{i\})`), and the second half decides which cells they divide. With growth="best",
    a cell takes the best of the splits that leave rows of both halves on both sides: algorithm 10 as printed cuts a
    cell by the best split of all once two rows of the second half are in it, and so may leave a side without any, for
    which it does not say what to predict. Growth ends where the targets of the first half are equal.

    References
    ----------
    Fotakis, Kalavasis, Psaroudaki (2022), Label ranking through nonparametric regression, algorithms 9 and 10.

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
        honest: bool | Literal["paper"] = False,
        splitter: Literal["best", "random"] = "best",
        max_depth: int | None = None,
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        max_features: int | float | str | None = None,
        max_leaf_nodes: int | None = None,
        growth_order: Literal["best-first", "breadth-first"] = "best-first",
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
        self.growth_order = growth_order
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
        self._validate_params()
        rng = check_generator(self.random_state)
        features = self._check_features(X, reset=True)
        training, _, self._flat = _training_set(self, features, y, sample_weight, rng)
        self._grow_tree(training, rng)
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

    def _leaf_texts(self) -> list[str]:
        return [", ".join(f"{value:.4g}" for value in row) for row in self.tree_.values]

    def _check_saved(self) -> None:
        self._check_trees([self.tree_])


class LeastSquaresForest(ForestMixin, _RegressionMixin, BaseEstimator):
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
growth_order, min_impurity_decrease, max_bins, sketch, categorical_features, random_state
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

    _saved: ClassVar[Saved] = {"n_outputs_": COUNT, "oob_prediction_": optional(either(FLOATS, MATRIX))}

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        growth: Literal["best", "level"] = "best",
        honest: bool | Literal["paper"] = False,
        splitter: Literal["best", "random"] = "best",
        max_depth: int | None = None,
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        max_features: int | float | str | None = None,
        max_leaf_nodes: int | None = None,
        growth_order: Literal["best-first", "breadth-first"] = "best-first",
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
        self.growth_order = growth_order
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
        training, rows, self._flat = _training_set(self, features, y, sample_weight, rng)
        rule = GrowthRule.from_params(self.get_params(deep=False))
        sampling = Sampling.build(
            len(rows), self.n_estimators, self.bootstrap, self.max_samples, rng, leave_out=self.oob_score
        )
        self.trees_ = grow_trees(training, rule, sampling, self.n_jobs)
        self.n_outputs_ = training.targets.size
        if self.oob_score:
            known = out_of_bag_prediction(self.trees_, training.X, sampling, np.arange(len(rows)))
            self.oob_score_ = _weighted_r2(training.targets.values, known, training.weights)
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

    def _check_saved(self) -> None:
        self._check_trees(self.trees_, self.n_outputs_)


def _training_set(
    estimator: Any, features: FloatArray, y: ArrayLike, sample_weight: ArrayLike | None, rng: np.random.Generator
) -> tuple[TrainingSet, IntArray, bool]:
    """The rows that have a weight and a target; which they are; and whether targets came as one column."""
    targets, flat = check_targets(y, len(features))
    weights = check_weights(sample_weight, len(features), name="sample_weight", each="row")
    rows = np.flatnonzero((weights > 0) & ~np.isnan(targets).all(axis=1))
    if not len(rows):
        raise ValueError("no row has a target and a sample_weight above zero, so there is nothing to learn from")
    if len(rows) < len(features):
        features, targets, weights = features[rows], targets[rows], weights[rows]
    never = np.isnan(targets).all(axis=0)
    if never.any():
        raise ValueError(
            f"column {int(np.argmax(never))} of y has no value in any row, so nothing can be learned of it"
        )
    _refuse_overflow(targets, weights)
    training = TrainingSet.build(
        features,
        estimator._encoder.n_categories,
        TargetRows(targets),
        weights,
        max_bins=estimator.max_bins,
        sketch=estimator.sketch,
        rng=rng,
    )
    return training, rows, flat


def _refuse_overflow(targets: FloatArray, weights: FloatArray) -> None:
    """Splits are found by sums of squares, which must be numbers."""
    with np.errstate(over="ignore"):
        if np.isfinite(np.square(np.nanmax(np.abs(targets))) * weights.sum()):
            return
    raise ValueError("the squares of y, times sample_weight, do not fit into a float64; rescale y or sample_weight")


def _weighted_r2(targets: FloatArray, prediction: FloatArray, weights: FloatArray) -> float:
    """Mean R^2 of the targets, over the rows that have both a target and a prediction; NaN if there are none."""
    known = ~np.isnan(prediction) & ~np.isnan(targets)
    weight = np.where(known, weights[:, None], 0.0)
    judged = weight.sum(axis=0) > 0
    if not judged.any():
        return float("nan")
    weight, targets, prediction = weight[:, judged], targets[:, judged], prediction[:, judged]
    values = np.where(weight > 0, targets, 0.0)
    mean = (weight * values).sum(axis=0) / weight.sum(axis=0)
    rest = (weight * np.where(weight > 0, targets - prediction, 0.0) ** 2).sum(axis=0)
    spread = (weight * np.where(weight > 0, targets - mean, 0.0) ** 2).sum(axis=0)
    least = _ROUNDING * (weight * values**2).sum(axis=0)
    varies = spread > least
    unvaried = np.where(rest <= least, 1.0, 0.0)
    return float(np.mean(np.where(varies, 1 - rest / np.where(varies, spread, 1.0), unvaried)))
