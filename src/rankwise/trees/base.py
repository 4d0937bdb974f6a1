"""What trees and forests share: features with categories, and what can be asked of a fitted one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from rankwise._features import FeatureEncoder
from rankwise._sklearn import BaseEstimator
from rankwise._state import (
    COUNT,
    FLOATS,
    INTS,
    NUMBER,
    Saved,
    check_probabilities,
    dict_of,
    either,
    ensure,
    instance,
    list_of,
    maybe,
    optional,
)
from rankwise._typing import ArrayLike, FloatArray, IntArray
from rankwise.trees.export import tree_dot, tree_text
from rankwise.trees.structure import LeafMeans, Tree

if TYPE_CHECKING:
    _Estimator = BaseEstimator
else:
    _Estimator = object  # a mixin stands before BaseEstimator and brings none of its own


class _FeaturesMixin(_Estimator):
    """Features of numbers and categories, NaN where missing."""

    categorical_features: Any
    n_features_in_: int
    _encoder: FeatureEncoder

    _saved: ClassVar[Saved] = {"n_features_in_": COUNT, "_encoder": instance("FeatureEncoder")}

    def _check_features(self, X: ArrayLike, *, reset: bool) -> FloatArray:
        if reset:
            self._encoder = FeatureEncoder(self.categorical_features)
            return self._encoder.fit_transform(self, X)
        return self._encoder.transform(self, X)

    def _check_fitted_features(self, X: ArrayLike) -> FloatArray:
        _check_fitted(self)
        return self._check_features(X, reset=False)

    def _check_trees(self, trees: list[Tree], size: int | None = None, *, of_shares: bool = False) -> None:
        """Refuse saved trees that ask for features or categories that are not there, or predict another size."""
        n_features, n_categories = self.n_features_in_, self._encoder.n_categories
        ensure(len(n_categories) == n_features, "categories and features differ")
        ensure(len(trees) > 0, "there are no trees")
        for tree in trees:
            inner = tree.left >= 0
            ensure(tree.feature[inner].max(initial=-1) < n_features, "a tree asks for a feature that is not there")
            # Categories are places in a set, and numbers are not.
            codes = n_categories[tree.feature[inner & (tree.set_of >= 0)]]
            fits = (codes > 0) & (codes <= 64 * tree.sets.shape[1])
            ensure(fits.all(), "a tree has a set of categories for a feature that has other ones")
            ensure(tree.contents.size == (size or trees[0].contents.size) > 0, "trees predict something else")
            if of_shares and isinstance(tree.contents, LeafMeans):
                check_probabilities(tree.contents.values)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


class TreeMixin(_FeaturesMixin):
    """Questions to a single tree, ``tree_``."""

    tree_: Tree

    _saved: ClassVar[Saved] = {
        "tree_": instance("Tree"),
        "ccp_alpha_": NUMBER,
        "cv_results_": optional(maybe(dict_of(either(FLOATS, INTS)))),
    }

    def apply(self, X: ArrayLike) -> IntArray:
        """Node number of the leaf of each row."""
        features = self._check_fitted_features(X)
        return self.tree_.find_leaves(features).astype(np.intp)

    def decision_path(self, X: ArrayLike) -> Any:
        """Nodes that each row passes: a sparse matrix of shape (n_samples, n_nodes)."""
        return self.tree_.decision_path(self._check_fitted_features(X))

    def get_depth(self) -> int:
        """Depth of the tree: splits above its deepest leaf."""
        return int(self._fitted_tree().depth.max())

    def get_n_leaves(self) -> int:
        """Number of leaves."""
        return self._fitted_tree().n_leaves

    @property
    def feature_importances_(self) -> FloatArray:
        """Share of each feature in what all splits together gain."""
        return self._fitted_tree().importances(self.n_features_in_)

    def export_text(self) -> str:
        """The tree as indented text, with what its leaves predict."""
        return tree_text(self._fitted_tree(), self._feature_names(), self._encoder.categories_, self._leaf_texts())

    def export_graphviz(self) -> str:
        """The tree in the DOT language of Graphviz."""
        return tree_dot(self._fitted_tree(), self._feature_names(), self._encoder.categories_, self._leaf_texts())

    def _leaf_texts(self) -> list[str]:
        """What each leaf predicts, in the order of the leaves."""
        raise NotImplementedError

    def _feature_names(self) -> list[str]:
        names = getattr(self, "feature_names_in_", None)
        return [f"x{number}" for number in range(self.n_features_in_)] if names is None else [str(n) for n in names]

    def _fitted_tree(self) -> Tree:
        _check_fitted(self)
        return self.tree_


class ForestMixin(_FeaturesMixin):
    """Questions to a forest, ``trees_``."""

    trees_: list[Tree]

    _saved: ClassVar[Saved] = {"trees_": list_of(instance("Tree")), "oob_score_": optional(NUMBER)}

    def apply(self, X: ArrayLike) -> IntArray:
        """Node number of the leaf of each row in each tree: (n_samples, n_estimators)."""
        features = self._check_fitted_features(X)
        return np.column_stack([tree.find_leaves(features) for tree in self.trees_]).astype(np.intp)

    def decision_path(self, X: ArrayLike) -> tuple[Any, IntArray]:
        """Nodes that each row passes in each tree.

        Returns
        -------
        indicator : sparse matrix of shape (n_samples, n_nodes of all trees)
            1 where a row passes a node.
        n_nodes_ptr : ndarray of shape (n_estimators + 1,)
            Tree t has the columns from ``n_nodes_ptr[t]`` to ``n_nodes_ptr[t + 1]``.
        """
        from scipy.sparse import hstack

        features = self._check_fitted_features(X)
        sizes = [len(tree.left) for tree in self.trees_]
        indicator = hstack([tree.decision_path(features) for tree in self.trees_], format="csr")
        return indicator, np.concatenate([[0], np.cumsum(sizes)])

    @property
    def feature_importances_(self) -> FloatArray:
        """Mean over the trees of the share of each feature in what their splits gain."""
        _check_fitted(self)
        total = np.sum([tree.importances(self.n_features_in_) for tree in self.trees_], axis=0)
        return total / total.sum() if total.sum() > 0 else total  # trees of one leaf say nothing


def _check_fitted(estimator: Any) -> None:
    from sklearn.utils.validation import check_is_fitted

    check_is_fitted(estimator)
