"""What must hold between the parts of an object, above all where compiled code trusts them.

Each function takes an object that has just been built, or is about to be saved, and raises a ValueError where its parts
do not belong together. Their types were checked before, see `kinds`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

# Operators in an expression: formulas are written out.
_MOST_OPERATORS = 10_000
# Sizes of ties that have a strength of their own; models go up to 3, and more would take long to sample.
_LARGEST_TIE = 8
# Completions of a ranking that an embedding enumerates, at most.
_MOST_COMPLETIONS = 1_000_000


def tree(tree: Any) -> None:
    """Children come after their parents and have one each; leaves have contents."""
    n = len(tree.left)
    parts = (
        tree.feature,
        tree.threshold,
        tree.missing_left,
        tree.gain,
        tree.error,
        tree.weight,
        tree.count,
        tree.set_of,
    )
    _require(n > 0 and all(len(part) == n for part in parts), "the nodes of a tree have different numbers of parts")
    inner = np.flatnonzero(tree.left >= 0)
    left = tree.left[inner].astype(np.int64)
    _require((left > inner).all() and (left < n - 1).all(), "a tree has a child before its parent, or outside")
    children = np.sort(np.concatenate([left, left + 1]))
    _require(np.array_equal(children, np.arange(1, n)), "a node of a tree has no parent, or several")
    _require((tree.feature[inner] >= 0).all(), "a split of a tree has no feature")
    _require((tree.set_of < len(tree.sets)).all(), "a split of a tree has a set of categories that is not there")
    _require(_n_leaves_of(tree.contents) == n - len(inner), "the leaves of a tree have other contents than leaves")


def leaf_rows(leaves: Any) -> None:
    """Every leaf has rows, and these exist."""
    start, rows, positions = leaves.start, leaves.rows, leaves.targets.values
    _require(leaves.targets.is_pairs, "rows of leaves are no rankings")
    _require(len(rows) == len(leaves.weights) and len(start) > 1, "rows of leaves have no weights")
    _require((np.isfinite(leaves.weights) & (leaves.weights > 0)).all(), "rows of leaves have no weights")
    _require(start[0] == 0 and start[-1] == len(rows) and (np.diff(start) > 0).all(), "leaves share rows")
    _require(((rows >= 0) & (rows < len(positions))).all(), "a leaf has a row that is not there")


def target_rows(targets: Any) -> None:
    """Rankings in leaves order all pairs."""
    _require(targets.is_complete, "a ranking in a leaf does not order all pairs")


def encoder(encoder: Any) -> None:
    """Categories differ."""
    for categories in encoder.categories_:
        _require(categories is None or len(set(categories)) == len(categories), "two categories are the same")


def regression_tree(estimator: Any) -> None:
    """The tree asks for features that there are."""
    if hasattr(estimator, "tree_"):
        _trees_of(estimator, [estimator.tree_])


def regression_forest(estimator: Any) -> None:
    """The trees ask for features that there are, and predict as many numbers as the forest."""
    if hasattr(estimator, "trees_"):
        _trees_of(estimator, estimator.trees_, estimator.n_outputs_)


def ranking_tree(estimator: Any) -> None:
    """Leaves rank all items."""
    if hasattr(estimator, "tree_"):
        n_items = len(estimator.items_)
        _trees_of(estimator, [estimator.tree_], _n_pairs(n_items))
        _shares_of([estimator.tree_])
        _shape(estimator.leaf_positions_, (estimator.tree_.n_leaves, n_items), "the rankings of the leaves")


def ranking_forest(estimator: Any) -> None:
    """Trees predict all pairs of items, and weigh for all."""
    if hasattr(estimator, "trees_"):
        n_pairs = _n_pairs(len(estimator.items_))
        _trees_of(estimator, estimator.trees_, n_pairs)
        _shares_of(estimator.trees_)
        if estimator._tree_weights is not None:
            _shape(estimator._tree_weights, (len(estimator.trees_), n_pairs), "the weights of the trees")
            _require((estimator._tree_weights > 0).all(), "a tree has no weight")


def nearest_neighbors_ranker(ranker: Any) -> None:
    """As many rankings as rows, and not more neighbours."""
    if hasattr(ranker, "items_"):
        n = len(ranker._rankings)
        _require(ranker._rankings.items == ranker.items_, "the rankings are of other items")
        _require(ranker._index.n_samples_fit_ == n and 1 <= ranker.n_neighbors_ <= n, "rows and rankings differ")
        _require(ranker._index.n_features_in_ == ranker.n_features_in_, "neighbours have other features")
        _shape(ranker._marginal, (_n_pairs(len(ranker.items_)),), "the shares of all rows")
        _probabilities(ranker._marginal)
        _scaler_of(ranker)


def labelwise_ranker(ranker: Any) -> None:
    """One regressor per item."""
    if hasattr(ranker, "items_"):
        k = len(ranker.items_)
        _require(len(ranker.regressors_) == k, "there is not one regressor for each item")
        _shape(ranker._mean_place, (k,), "the mean places")
        _shape(ranker.spread_, (k, k), "the spread")


def pairwise_ranker(ranker: Any) -> None:
    """One classifier per pair."""
    if hasattr(ranker, "items_"):
        k = len(ranker.items_)
        _require(len(ranker.classifiers_) == _n_pairs(k), "there is not one classifier for each pair of items")
        if ranker._tie_order is not None:
            _shape(ranker._tie_order, (k,), "the order of ties")
        _scaler_of(ranker)


def kernel_ranker(ranker: Any) -> None:
    """Coefficients for all centres."""
    if hasattr(ranker, "items_"):
        n_centers, width = ranker._coefficients.shape
        _shape(ranker._centers, (n_centers, ranker.n_features_in_), "the centres")
        _shape(ranker._mean, (width,), "the mean")
        k = len(ranker.items_)
        of_pairs = type(ranker.embedding_).__name__ == "KemenyEmbedding"
        _require(ranker.embedding_.n_features_in_ == k, "the embedding is of other items")
        _require(width == (_n_pairs(k) if of_pairs else k), "coefficients are not those of the embedding")
        if not of_pairs:
            _require(hasattr(ranker, "spread_"), "the spread is lacking")
            _shape(ranker.spread_, (k, k), "the spread")
        _scaler_of(ranker)


def plackett_luce_ranker(ranker: Any) -> None:
    """One row of coefficients per item."""
    if hasattr(ranker, "items_"):
        _shape(ranker.coef_, (len(ranker.items_), ranker.n_features_in_), "the coefficients")
        _shape(ranker.intercept_, (len(ranker.items_),), "the intercepts")
        _scaler_of(ranker)


def cluster_ranker(ranker: Any) -> None:
    """One model per cluster."""
    if hasattr(ranker, "items_"):
        k, centers = len(ranker.items_), ranker.clusters_.cluster_centers_
        _shape(ranker._pairwise, (len(centers), k, k), "the probabilities of the clusters")
        _probabilities(ranker._pairwise)
        _shape(centers, (len(centers), ranker.n_features_in_), "the centres")
        _scaler_of(ranker)


def dummy_ranker(ranker: Any) -> None:
    """One ranking of all items."""
    if hasattr(ranker, "items_"):
        k = len(ranker.items_)
        _shape(ranker.pairwise_, (k, k), "the shares")
        _probabilities(ranker.pairwise_)
        _shape(ranker.positions_, (k,), "the positions")


def stacked_ranker(ranker: Any) -> None:
    """Every ranker has a weight and ranks the same items."""
    if hasattr(ranker, "items_"):
        _require(set(ranker.rankers_) <= set(ranker.weights_) and len(ranker.rankers_) > 0, "a ranker has no weight")
        _require(len(ranker._encoder.categories_) == ranker.n_features_in_, "categories and features differ")
        categorical = ranker._views.categorical
        _require(((categorical >= 0) & (categorical < ranker.n_features_in_)).all(), "a column is not there")


def conformal_ranker(ranker: Any) -> None:
    """Scores are in order, so that the first ones are below a threshold, and each has a weight."""
    if hasattr(ranker, "items_"):
        scores = ranker.calibration_scores_
        _shape(ranker.calibration_weights_, scores.shape, "the weights of the scores")
        _require(len(scores) > 0 and bool((np.diff(scores) >= 0).all()), "the scores are not in order")
        _require(bool((ranker.calibration_weights_ > 0).all()), "a weight is not positive")


def numeric_features(features: Any) -> None:
    """Every feature has categories or none, and steps are of features that are there."""
    if hasattr(features, "n_features_in_"):
        _require(len(features._encoder.categories_) == features.n_features_in_, "categories and features differ")
        for columns, _ in features._steps:
            _require(((columns >= 0) & (columns < features.n_features_in_)).all(), "a column is not there")


def kmeans(clusters: Any) -> None:
    """Centres have as many features as rows must have."""
    if hasattr(clusters, "cluster_centers_"):
        n_clusters = len(clusters.cluster_centers_)
        _require(n_clusters > 0, "there is no cluster")
        _shape(clusters.cluster_centers_, (n_clusters, clusters.n_features_in_), "the centres of the clusters")


def linear_model(model: Any) -> None:
    """One coefficient per feature."""
    if hasattr(model, "coef_"):
        _require(model.coef_.shape[-1] == model.n_features_in_, "coefficients and features differ")


def scaler(scaler: Any) -> None:
    """What was learned of features, each: as many as there are features."""
    names = ("mean_", "scale_", "var_", "min_", "knots_")
    lengths = {getattr(scaler, name).shape[-1] for name in names if getattr(scaler, name, None) is not None}
    if hasattr(scaler, "n_features_in_"):
        lengths.add(scaler.n_features_in_)
    _require(len(lengths) <= 1, "means and scales are not as many as the features")


def mallows(model: Any) -> None:
    """The centre ranks all items."""
    if hasattr(model, "items_"):
        _permutation(model.center_, len(model.items_))
        _require(model.theta_ >= 0, "theta is negative")


def generalized_mallows(model: Any) -> None:
    """The centre ranks all items, and there is a theta for each but one."""
    if hasattr(model, "items_"):
        _permutation(model.center_, len(model.items_))
        _shape(model.theta_, (len(model.items_) - 1,), "theta")
        _require(not np.isnan(model.theta_).any(), "a theta is no number")


def mallows_mixture(model: Any) -> None:
    """Every component has a weight, a centre and a theta."""
    if hasattr(model, "items_"):
        n = len(model.weights_)
        _shape(model.centers_, (n, len(model.items_)), "the centres")
        _shape(model.thetas_, (n,), "the thetas")
        _require((model.thetas_ >= 0).all(), "a theta is negative")
        for center in model.centers_:
            _permutation(center, len(model.items_))


def choice_model(model: Any) -> None:
    """One worth per item."""
    if hasattr(model, "items_"):
        _shape(model.log_worth_, (len(model.items_),), "the worths")
        ties = np.atleast_1d(model.tie_strength_)
        _require(np.isfinite(model.log_worth_).all(), "a worth is not finite")
        _require((np.isfinite(ties) & (ties >= 0)).all() and len(ties) <= _LARGEST_TIE, "ties are too strong")


def graph_cut(embedding: Any) -> None:
    """One node per item."""
    if hasattr(embedding, "n_features_in_"):
        _require(embedding._graph.n_items == embedding.n_features_in_, "graph and items differ")
        _shape(embedding._keys, (embedding.n_samples, embedding.n_features_in_), "the random numbers")
        _require(((embedding._keys >= 0) & (embedding._keys < 1)).all(), "a random number is not between 0 and 1")
        _require(embedding.enumerated_up_to_ <= _MOST_COMPLETIONS, "too many completions would be enumerated")


def expressions(table: Any) -> None:
    """Operands come before operators; complexities are what they must be."""
    from rankwise.screening.expressions import BY_CODE, FIRST_BINARY, IDENTITY

    n, n_inputs = len(table.codes), len(table.inputs)
    _require(n >= n_inputs > 0, "there are no inputs")
    _require(all(len(part) == n for part in (table.lefts, table.rights, table.complexity)), "expressions lack parts")
    rows = np.arange(n)
    # An input is its own operand; all others have operands before them.
    last = np.where(rows < n_inputs, rows, rows - 1)
    for operand in (table.lefts, table.rights):
        _require(((operand >= 0) & (operand <= last)).all(), "an expression comes before its operands")
    _require(np.isin(table.codes, list(BY_CODE)).all(), "an operator is not known")
    _require(((table.complexity >= 0) & (table.complexity <= _MOST_OPERATORS)).all(), "an expression is too long")
    binary = table.codes >= FIRST_BINARY
    total = table.complexity[table.lefts] + binary * table.complexity[table.rights] + (table.codes != IDENTITY)
    _require((table.complexity[:n_inputs] == 0).all(), "an input has operators")
    _require(np.array_equal(table.complexity[n_inputs:], total[n_inputs:]), "complexities of expressions are wrong")


def symbolic_features(features: Any) -> None:
    """Selected rows are in the table."""
    if hasattr(features, "table_"):
        _rows_of(features, features.table_)


def concordance_selector(selector: Any) -> None:
    """Selected rows are in the table."""
    if hasattr(selector, "_expressions"):
        _rows_of(selector, selector._expressions)


def score_selector(selector: Any) -> None:
    """One score per feature."""
    if hasattr(selector, "scores_"):
        for name in ("scores_", "thresholds_"):
            if hasattr(selector, name):
                _shape(getattr(selector, name), (selector.n_features_in_,), name)


def level_trees(trees: Any) -> None:
    """Levels and leaves belong together."""
    n, depth = trees.feature.shape
    _require(depth <= 24, "trees have too many levels")
    for part in (trees.threshold, trees.missing_left, trees.gain):
        _shape(part, (n, depth), "the levels")
    for part in (trees.value, trees.count):
        _shape(part, (n, 2**depth), "the leaves")
    _require((trees.feature >= -1).all(), "a level has no feature")


def lambdamart(ranker: Any) -> None:
    """The trees ask for features that there are."""
    if not hasattr(ranker, "booster_"):
        return
    n = ranker.n_features_in_
    _require(len(ranker._encoder.categories_) == n, "categories and features differ")
    if hasattr(ranker.booster_, "num_feature"):
        _require(ranker.booster_.num_feature() == n, "the booster has other features")
        _require(ranker.n_estimators_ <= ranker.booster_.num_trees(), "there are fewer trees than should be used")
    else:
        _require(ranker.booster_.feature.max(initial=-1) < n, "a tree asks for a feature that is not there")
        _require(ranker.n_estimators_ <= len(ranker.booster_), "there are fewer trees than should be used")


def linear_ranker(ranker: Any) -> None:
    """One weight per feature."""
    if hasattr(ranker, "coef_"):
        _shape(ranker.coef_, (ranker.n_features_in_,), "the weights")


def neural_ranker(ranker: Any) -> None:
    """Features, and their logarithms where there are any, are centred and scaled."""
    if hasattr(ranker, "network_"):
        n_columns = ranker.n_features_in_ * (2 if ranker.log_transform else 1)
        _shape(ranker._centre, (n_columns,), "the centre")
        _shape(ranker._spread, (n_columns,), "the spread")


def _require(holds: Any, problem: str) -> None:
    if not holds:
        raise ValueError(problem)


def _shape(array: Any, shape: tuple[int, ...], name: str) -> None:
    _require(array.shape == shape, f"{name} have the shape {array.shape} in place of {shape}")


def _n_pairs(n_items: int) -> int:
    return n_items * (n_items - 1) // 2


def _n_leaves_of(contents: Any) -> int:
    return len(contents.values) if type(contents).__name__ == "LeafMeans" else len(contents.start) - 1


def _trees_of(estimator: Any, trees: list[Any], size: int | None = None) -> None:
    n_features, n_categories = estimator.n_features_in_, estimator._encoder.n_categories
    _require(len(n_categories) == n_features, "categories and features differ")
    _require(len(trees) > 0, "there are no trees")
    for tree in trees:
        inner = tree.left >= 0
        _require(tree.feature[inner].max(initial=-1) < n_features, "a tree asks for a feature that is not there")
        by_set = inner & (tree.set_of >= 0)
        # Categories are places in a set, and numbers are not.
        codes = n_categories[tree.feature[by_set]]
        fits = (codes > 0) & (codes <= 64 * tree.sets.shape[1])
        _require(fits.all(), "a tree has a set of categories for a feature that has other ones")
        _require(tree.contents.size == (size or trees[0].contents.size) > 0, "trees predict something else")


def _shares_of(trees: list[Any]) -> None:
    for tree in trees:
        if type(tree.contents).__name__ == "LeafMeans":
            _probabilities(tree.contents.values)


def _probabilities(array: Any) -> None:
    _require(((array >= 0) & (array <= 1 + 1e-6)).all(), "a probability is not between 0 and 1")


def _scaler_of(ranker: Any) -> None:
    if ranker._scaler is not None:
        _require(ranker._scaler.n_features_in_ == ranker.n_features_in_, "features are scaled that are not there")


def _permutation(center: Any, n_items: int) -> None:
    _require(np.array_equal(np.sort(center), np.arange(1.0, n_items + 1)), "a centre is no full ranking")


def _rows_of(estimator: Any, table: Any) -> None:
    _require(len(table.inputs) == estimator.n_features_in_, "inputs and features differ")
    _require(((estimator._rows >= 0) & (estimator._rows < len(table))).all(), "an expression is not there")
