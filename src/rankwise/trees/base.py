"""What fitted trees and forests can be asked: mixins of `least_squares` and of the rankers in `label_ranking`.

The check of numeric targets is here as well.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from rankwise._features import CategoricalFeaturesMixin
from rankwise._state import (
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
from rankwise._tables import visible
from rankwise._typing import ArrayLike, FloatArray, IntArray
from rankwise.trees.engine import GrowthRule, TrainingSet
from rankwise.trees.export import conditions, tree_dot, tree_text
from rankwise.trees.pruning import PruningPath, merge_sequence, penalty_by_cross_validation, pruned, pruning_path
from rankwise.trees.structure import LeafMeans, Tree


class _GrownMixin(CategoricalFeaturesMixin):
    """The check of saved trees."""

    def _check_trees(self, trees: list[Tree], size: int | None = None, *, of_shares: bool = False) -> None:
        """Refuse saved trees that split on unknown features or categories, or predict another size."""
        n_features, n_categories = self.n_features_in_, self._encoder.n_categories
        ensure(len(n_categories) == n_features, "categories and features differ")
        ensure(len(trees) > 0, "there are no trees")
        for tree in trees:
            inner = tree.left >= 0
            ensure(tree.feature[inner].max(initial=-1) < n_features, "a tree splits on a feature that does not exist")
            # Categories are places in a set, and numbers are not.
            codes = n_categories[tree.feature[inner & (tree.set_of >= 0)]]
            fits = (codes > 0) & (codes <= 64 * tree.sets.shape[1])
            ensure(fits.all(), "a tree has a set of categories that does not fit its feature")
            ensure(tree.contents.size == (size or trees[0].contents.size) > 0, "trees predict something else")
            if of_shares and isinstance(tree.contents, LeafMeans):
                check_probabilities(tree.contents.values)


class SingleTreeMixin(_GrownMixin):
    """Questions to a single tree, ``tree_``."""

    tree_: Tree

    _saved: ClassVar[Saved] = {"tree_": instance("Tree")}

    def apply(self, X: ArrayLike) -> IntArray:
        """Node number of the leaf of each row."""
        features = self._check_fitted_features(X)
        return self.tree_.find_leaves(features).astype(np.intp)

    def decision_path(self, X: ArrayLike) -> Any:
        """Nodes that each row passes: a sparse matrix of shape (n_samples, n_nodes)."""
        features = self._check_fitted_features(X)
        return self.tree_.decision_path(features)

    def get_depth(self) -> int:
        """Depth of the tree: splits above its deepest leaf."""
        return int(self._fitted_tree().depth.max())

    def get_n_leaves(self) -> int:
        """Number of leaves."""
        return self._fitted_tree().n_leaves

    @property
    def feature_importances_(self) -> FloatArray:
        """Share of each feature in the total gain of all splits."""
        return self._fitted_tree().importances(self.n_features_in_)

    def export_text(self) -> str:
        """The tree as indented text, with what its leaves predict."""
        return visible(tree_text(self._fitted_tree(), self._node_conditions(), self._leaf_texts()))

    def export_graphviz(self) -> str:
        """The tree in the DOT language of Graphviz."""
        return tree_dot(self._fitted_tree(), self._node_conditions(), self._leaf_texts())

    def node_texts(self) -> list[str]:
        """What each node of ``tree_`` says: the condition under which rows go left, or what a leaf predicts.

        Returns
        -------
        list of str
            One text per node, in the order of the nodes.
        """
        tree, leaves, asked = self._fitted_tree(), self._leaf_texts(), self._node_conditions()
        return [leaves[tree.leaf_number[node]] if left < 0 else asked[node][0] for node, left in enumerate(tree.left)]

    def _node_conditions(self) -> dict[int, tuple[str, str]]:
        """For each inner node what rows that go left have in common, and what rows that go right do."""
        return conditions(self._fitted_tree(), self._feature_names(), self._encoder.categories_)

    def _leaf_texts(self) -> list[str]:
        """What each leaf predicts, in the order of the leaves."""
        raise NotImplementedError

    def _feature_names(self) -> list[str]:
        names = getattr(self, "feature_names_in_", None)
        return [f"x{number}" for number in range(self.n_features_in_)] if names is None else [str(n) for n in names]

    def _fitted_tree(self) -> Tree:
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(self)
        return self.tree_


class TreeMixin(SingleTreeMixin):
    """Growth and pruning of a single tree by least squares."""

    ccp_alpha: Any

    _saved: ClassVar[Saved] = {
        "ccp_alpha_": NUMBER,
        "cv_results_": optional(maybe(dict_of(either(FLOATS, INTS)))),
    }

    def cost_complexity_pruning_path(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> PruningPath:
        """Subtrees that growing penalties ``ccp_alpha`` choose from a tree grown on these rows, as in scikit-learn.

        Parameters
        ----------
        X, y, sample_weight
            As in ``fit``. The tree itself is not changed, and need not be fitted.

        Returns
        -------
        PruningPath
            With ``alphas``, ``errors`` and ``n_leaves``, from the whole tree to the root alone.
        """
        from sklearn.base import clone

        return pruning_path(clone(self).set_params(ccp_alpha=0.0).fit(X, y, sample_weight).tree_)

    def sibling_merges(self) -> tuple[IntArray, FloatArray]:
        """The path from the fitted tree to its root by merging two leaves at a time.

        At every step the two sibling leaves merge whose union raises the squared error (of a `RankingTree`, the
        dispersion) least. For no penalty per leaf is a tree on this path better than the one of
        `cost_complexity_pruning_path`, by which ``ccp_alpha`` prunes.

        Returns
        -------
        nodes : ndarray of int
            Nodes that become leaves, in order.
        rises : ndarray of float
            By how much each merger raises the error per unit of weight.
        """
        return merge_sequence(self._fitted_tree())

    def _grow_tree(self, training: TrainingSet, rng: np.random.Generator) -> None:
        """Grow, prune and fill ``tree_``."""
        rule = GrowthRule.from_params(self.get_params(deep=False))
        tree, fill_rows, _ = training.grow(rule, np.arange(len(training.X)), rng)
        self.cv_results_: dict[str, Any] | None = None
        if self.ccp_alpha == "cv":
            self.ccp_alpha_, self.cv_results_ = penalty_by_cross_validation(training, rule, pruning_path(tree), rng)
        else:
            self.ccp_alpha_ = float(self.ccp_alpha)
        self.tree_ = training.fill(pruned(tree, self.ccp_alpha_), fill_rows)


class ForestMixin(_GrownMixin):
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
        """Mean over the trees of the share of each feature in the gain of their splits."""
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(self)
        total = np.sum([tree.importances(self.n_features_in_) for tree in self.trees_], axis=0)
        return total / total.sum() if total.sum() > 0 else total  # trees of one leaf say nothing


def check_targets(y: ArrayLike, n: int) -> tuple[FloatArray, bool]:
    """Targets as a float matrix, and whether they came as one column."""
    from sklearn.utils.validation import check_array, check_consistent_length

    if y is None:
        raise ValueError("requires y to be passed, but the target y is None")
    targets = check_array(y, dtype=np.float64, ensure_2d=False, ensure_all_finite="allow-nan", input_name="y")
    check_consistent_length(np.empty(n), targets)
    return np.ascontiguousarray(targets.reshape(n, -1)), targets.ndim == 1
