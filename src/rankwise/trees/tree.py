"""A least-squares regression tree for many targets at once."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.base import RegressorMixin

from rankwise._random import check_generator
from rankwise._sklearn import BaseEstimator, Interval
from rankwise._typing import ArrayLike, FloatArray, IntArray, RandomState
from rankwise.data.weights import check_weights
from rankwise.trees.engine import GROWTH_CONSTRAINTS, GrowthRule, TrainingSet, growth_limits
from rankwise.trees.export import tree_dot, tree_text
from rankwise.trees.inputs import FeatureEncoder
from rankwise.trees.pruning import PruningPath, pruned, pruning_path
from rankwise.trees.structure import Tree
from rankwise.trees.targets import TargetRows


class LeastSquaresTree(RegressorMixin, BaseEstimator):
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
        takes the mean of its nearest ancestor that has some.
    splitter : {"best", "random"}, default="best"
        "random" tries one threshold per feature, drawn between the smallest and largest value in the cell.
    max_depth, min_samples_split, min_samples_leaf, max_features, max_leaf_nodes
        As in scikit-learn. ``max_features`` features are drawn per cell (per level with growth="level").
    min_impurity_decrease : float, default=0.0
        A cell is split only if that lowers the squared error, per unit of the weight of all rows, by this much.
    max_bins : int or None, default=255
        Numeric features are cut into at most this many bins of about equal counts; None tries every threshold.
    sketch : int, optional
        Choose splits on this many random projections of the targets instead of all of them: faster for many targets.
        Leaves stay exact.
    ccp_alpha : float, default=0.0
        Penalty per leaf: the grown tree is pruned to the subtree that minimises the squared error per unit of weight
        plus ``ccp_alpha`` times its leaves.
    categorical_features : array-like of column numbers, names or booleans, optional
        Columns of categories, split into two sets by the main direction of the categories' mean targets. By default the
        text, categorical and Boolean columns of data frames. New categories are treated as missing values.
    random_state : None, int, Generator or RandomState
        Of the features drawn, random thresholds, honest halves and sketches.

    Attributes
    ----------
    tree_ : Tree
        The nodes.
    feature_importances_ : ndarray of shape (n_features_in_,)
        Share of each feature in the decrease of the squared error.

    Notes
    -----
    Missing feature values go to the side that fits them better; where the training rows of a cell had none, to the
    side with more rows.

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
        "ccp_alpha": [Interval(Real, 0.0, None, closed="left")],
    }

    def __init__(
        self,
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
        ccp_alpha: float = 0.0,
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
        training, rows, rng = self._training_set(X, y, sample_weight)
        rule = GrowthRule(self.growth, self.honest, growth_limits(self, training.X.shape[1]))
        tree = training.grow(rule, rows, None, rng)
        if self.ccp_alpha > 0:
            tree = pruned(tree, self.ccp_alpha).filled(training.X, training.targets, training.weights, rows)
        self.tree_ = tree
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
        values = self.tree_.predict(self._features(X))
        return values[:, 0] if self._flat else values

    def apply(self, X: ArrayLike) -> IntArray:
        """Node number of the leaf of each row."""
        return self.tree_.find_leaves(self._features(X)).astype(np.intp)

    def decision_path(self, X: ArrayLike) -> Any:
        """Nodes that each row passes: a sparse matrix of shape (n_samples, n_nodes)."""
        return path_matrix(self.tree_, self.apply(X))

    def get_depth(self) -> int:
        """Depth of the tree: splits above its deepest leaf."""
        return int(self._fitted_tree().depth.max())

    def get_n_leaves(self) -> int:
        """Number of leaves."""
        return self._fitted_tree().n_leaves

    @property
    def feature_importances_(self) -> FloatArray:
        """Share of each feature in the decrease of the squared error."""
        return self._fitted_tree().importances(self.n_features_in_)

    def cost_complexity_pruning_path(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> PruningPath:
        """Grow the tree without a penalty, and list the subtrees that growing penalties choose."""
        training, rows, rng = self._training_set(X, y, sample_weight)
        rule = GrowthRule(self.growth, self.honest, growth_limits(self, training.X.shape[1]))
        return pruning_path(training.grow(rule, rows, None, rng))

    def export_text(self, decimals: int = 2) -> str:
        """The tree as indented text, with the mean targets of its leaves."""
        tree = self._fitted_tree()
        return tree_text(tree, self._feature_names(), self._encoder.categories_, self._leaf_texts(decimals))

    def export_graphviz(self, decimals: int = 2) -> str:
        """The tree in the DOT language of Graphviz."""
        tree = self._fitted_tree()
        return tree_dot(tree, self._feature_names(), self._encoder.categories_, self._leaf_texts(decimals))

    def _leaf_texts(self, decimals: int) -> list[str]:
        return [", ".join(f"{value:.{decimals}f}" for value in row) for row in self._fitted_tree().values]

    def _feature_names(self) -> list[str]:
        names = getattr(self, "feature_names_in_", None)
        return [f"x{number}" for number in range(self.n_features_in_)] if names is None else [str(n) for n in names]

    def _training_set(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None
    ) -> tuple[TrainingSet, IntArray, np.random.Generator]:
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
        return training, rows, rng

    def _fitted_tree(self) -> Tree:
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(self)
        return self.tree_

    def _features(self, X: ArrayLike) -> FloatArray:
        self._fitted_tree()
        return self._encoder.transform(self, X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.target_tags.multi_output = True
        return tags


def check_targets(y: ArrayLike, n: int) -> tuple[FloatArray, bool]:
    """Targets as a float matrix, and whether they came as one column; NaN is missing."""
    from sklearn.utils.validation import check_array, check_consistent_length

    if y is None:
        raise ValueError("requires y to be passed, but the target y is None")
    targets = check_array(y, dtype=np.float64, ensure_2d=False, ensure_all_finite="allow-nan", input_name="y")
    check_consistent_length(np.empty(n), targets)
    if targets.ndim > 2:
        raise ValueError(f"y has {targets.ndim} dimensions; give one or two: rows, and targets")
    flat = targets.ndim == 1
    matrix = np.ascontiguousarray(targets.reshape(n, -1))
    never = np.isnan(matrix).all(axis=0)
    if never.any():
        raise ValueError(f"column {int(np.argmax(never))} of y has no value in any row, so nothing can be learnt of it")
    return matrix, flat


def informative_rows(targets: FloatArray, weights: FloatArray) -> IntArray:
    """Rows that have a weight and a target."""
    rows = np.flatnonzero((weights > 0) & ~np.isnan(targets).all(axis=1))
    if not len(rows):
        raise ValueError("no row has a target and a positive sample_weight, so there is nothing to learn from")
    return rows


def path_matrix(tree: Tree, leaves: IntArray) -> Any:
    """Sparse matrix of the nodes above (and including) the leaf of each row."""
    from scipy.sparse import csr_matrix

    parent = tree.parent
    rows, nodes = [], []
    at, of = leaves, np.arange(len(leaves))
    while len(at):
        rows.append(of)
        nodes.append(at)
        above = parent[at]
        at, of = above[above >= 0], of[above >= 0]
    row, node = np.concatenate(rows), np.concatenate(nodes)
    return csr_matrix((np.ones(len(row), dtype=np.int64), (row, node)), shape=(len(leaves), len(parent)))
