"""Consensus ranking trees: cells of the feature space, each with the Kemeny median of its rankings (CRIT)."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar, Literal

import numpy as np

from rankwise._decode import Decoder
from rankwise._sklearn import BaseEstimator, Interval, StrOptions
from rankwise._state import MATRIX, Saved, check_shape
from rankwise._typing import FloatArray, RandomState
from rankwise._validation import check_generator
from rankwise.data import Rankings
from rankwise.embeddings import KemenyEmbedding, decode_pairwise, pairwise_from_vectors
from rankwise.label_ranking.base import (
    DECODE_CONSTRAINTS,
    EMBEDDING_CONSTRAINTS,
    Embedding,
    unfitted_embedding,
)
from rankwise.label_ranking.tree_answers import TreeAnswersMixin
from rankwise.trees.base import TreeMixin
from rankwise.trees.engine import GROWTH_CONSTRAINTS, TargetRows, TrainingSet


class RankingTree(TreeMixin, TreeAnswersMixin, BaseEstimator):
    r"""Tree whose cells hold the Kemeny median of their rankings (CRIT).

    *Definition.* Splits minimize :math:`\sum_C \mu(C) V(C)`, the dispersion :math:`V = \sum_{i<j} p_{ij} (1 - p_{ij})`
    of the cells weighted by their mass, which is least squares on the pairs of the rankings. A leaf predicts the Kemeny
    median of its pairwise shares :math:`p_{ij}`.

    Parameters
    ----------
    embedding : {"kemeny", "position"} or an embedding, default="kemeny"
        The vectors that splits are chosen by: the pairs of the rankings (`KemenyEmbedding`), the places of the items
        (`PositionEmbedding`), or those of another embedding, such as `GraphCutEmbedding`.
    decode : {"kemeny", "borda", "copeland", "copeland-or-borda"}, default="kemeny"
        How the pairwise shares of a leaf become the ranking that it predicts, see `decode_pairwise`: their Kemeny
        median (by majorities where these are transitive, else exact for components of up to 12 items, searched
        beyond), the order of its Borda scores, or the order by majorities lost. "copeland-or-borda" is the paper's
        median: the order by majorities where they are strictly transitive, else that of the Borda scores.
    max_depth : int, optional
        Most splits above a leaf.
    min_samples_leaf : int or float, default=1
        Fewest rows of a leaf, or their share of all rows.
    ccp_alpha : float or "cv", default=0.0
        Penalty per leaf: the grown tree is pruned to the subtree that minimizes its dispersion plus ``ccp_alpha`` times
        its leaves; "cv" chooses the penalty by 5-fold cross-validation of the dispersion around the predicted shares.
    min_impurity_decrease : float, default=0.0
        By how much a split must lower the dispersion. 0 splits even where nothing is gained at once; a small number,
        such as 1e-9, stops there, as remark 19 of the paper does.
    smoothing : float, default=1.0
        Rankings that are added to each leaf in each of the two orders of every pair where `predict_pairwise` says its
        shares (Laplace): a leaf of one ranking says 2/3 and 1/3 in place of 1 and 0. 0 says the shares as they are.
        Predicted rankings are the same for every value.
    growth, honest, splitter, min_samples_split, max_features, max_leaf_nodes, growth_order
        See `LeastSquaresTree`.
    max_bins, sketch, categorical_features, random_state
        See `LeastSquaresTree`.

    Attributes
    ----------
    tree_ : Tree
        The nodes; ``tree_.error / tree_.weight`` is, for full rankings, the dispersion of each. With another embedding
        or a sketch, errors, penalties and importances are those of the vectors that splits are chosen by.
    leaf_positions_ : ndarray of shape (n_leaves, n_items)
        Consensus of each leaf, 1 = best.
    ccp_alpha_ : float
        The penalty used.
    cv_results_ : dict of str to ndarray, or None
        With ``ccp_alpha="cv"`` the penalties that were tried: "ccp_alpha", "n_leaves", "training_error", "test_error"
        (per row). See `PruningPathDisplay`.
    feature_importances_ : ndarray of shape (n_features,)
        Share of each feature in the decrease of the dispersion.
    items_ : tuple
        Names of the items.

    References
    ----------
    Clémençon, Korba, Sibony (2018), Ranking median regression: learning to order through local consensus.

    Examples
    --------
    >>> from rankwise.label_ranking import RankingTree
    >>> tree = RankingTree().fit([[1], [2], [8], [9]], [[1, 2, 3], [1, 2, 3], [3, 2, 1], [3, 1, 2]])
    >>> tree.predict([[0], [10]])
    array([[1., 2., 3.],
           [3., 1., 2.]])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **GROWTH_CONSTRAINTS,
        "embedding": EMBEDDING_CONSTRAINTS,
        "decode": DECODE_CONSTRAINTS,
        "smoothing": [Interval(Real, 0.0, None, closed="left")],
        "ccp_alpha": [StrOptions({"cv"}), Interval(Real, 0.0, None, closed="left")],
    }

    _saved: ClassVar[Saved] = {"leaf_positions_": MATRIX}

    def __init__(
        self,
        embedding: Literal["kemeny", "position"] | Embedding = "kemeny",
        *,
        decode: Decoder = "kemeny",
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
        ccp_alpha: float | Literal["cv"] = 0.0,
        smoothing: float = 1.0,
        max_bins: int | None = 255,
        sketch: int | None = None,
        categorical_features: Any = None,
        random_state: RandomState = None,
    ) -> None:
        self.embedding = embedding
        self.decode = decode
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
        self.ccp_alpha = ccp_alpha
        self.smoothing = smoothing
        self.max_bins = max_bins
        self.sketch = sketch
        self.categorical_features = categorical_features
        self.random_state = random_state

    def _fit_rankings(self, X: FloatArray, y: Rankings) -> None:
        rng = check_generator(self.random_state)
        embedding = unfitted_embedding(self.embedding)
        training = TrainingSet.build(
            X,
            self._encoder.n_categories,
            TargetRows(y.positions, is_pairs=True),
            y.weights,
            split_targets=None if isinstance(embedding, KemenyEmbedding) else TargetRows(embedding.fit_transform(y)),
            max_bins=self.max_bins,
            sketch=self.sketch,
            rng=rng,
        )
        self._grow_tree(training, rng)
        self.leaf_positions_ = decode_pairwise(pairwise_from_vectors(self.tree_.values), self.decode)

    def _predict_pairwise(self, X: FloatArray) -> FloatArray:
        leaf = self.tree_.leaf_of(X)
        n_rankings = self.tree_.weight[self.tree_.is_leaf][leaf, np.newaxis]
        kept = n_rankings / (n_rankings + 2.0 * self.smoothing)
        return pairwise_from_vectors(0.5 + kept * (self.tree_.values[leaf] - 0.5))

    def _predict_positions(self, X: FloatArray) -> FloatArray:
        return self.leaf_positions_[self.tree_.leaf_of(X)]

    def _leaf_texts(self) -> list[str]:
        orders = np.argsort(self.leaf_positions_, axis=1, kind="stable")
        return [" > ".join(str(self.items_[item]) for item in order) for order in orders]

    def _check_saved(self) -> None:
        k = len(self.items_)
        self._check_trees([self.tree_], k * (k - 1) // 2, of_shares=True)
        check_shape(self.leaf_positions_, (self.tree_.n_leaves, k), "the rankings of the leaves")
