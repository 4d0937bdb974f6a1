"""PlackettLuceTree: splits where worths differ significantly, and a Plackett-Luce model in every leaf."""

from __future__ import annotations

from collections import deque
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np

from rankwise._sklearn import BaseEstimator, Interval, RealNotInt
from rankwise._state import FLOATS, MATRIX, STRING, Saved, check_shape, optional, tuple_of
from rankwise._threads import one_thread
from rankwise._typing import ArrayLike, FloatArray, IntArray
from rankwise._validation import shortlist
from rankwise.aggregation import preference_matrix
from rankwise.data import Rankings
from rankwise.embeddings import decode_pairwise, pairwise_from_vectors
from rankwise.label_ranking._instability import Instability, standardized_scores
from rankwise.label_ranking._tree_models import Model, People
from rankwise.label_ranking._tree_splits import Cells, Nodes
from rankwise.label_ranking.base import LabelRankerMixin, check_label_ranking
from rankwise.trees.base import SingleTreeMixin
from rankwise.trees.structure import LeafMeans

# Fewest people in a leaf for each parameter of its model, as in R's mob.
_PEOPLE_PER_PARAMETER = 10


class PlackettLuceTree(SingleTreeMixin, LabelRankerMixin, BaseEstimator):
    r"""Tree that splits people where their Plackett-Luce worths differ significantly (model-based partitioning).

    *Definition.* A node fits one Plackett-Luce model to its people and tests, feature by feature, whether the scores
    (the gradients of the log likelihood of each person) drift along the feature: by the largest Lagrange multiplier
    statistic of a split of a number or an ordered category, and by the chi-square statistic of a model for each
    category without an order. The smallest p-value, corrected for the number of features, decides: if it is at most
    ``alpha``, the node is split on that feature, where the likelihood of two models is largest. So every split is
    significant, and a tree without splits says that no feature was shown to matter.

    Parameters
    ----------
    alpha : float, default=0.05
        Level of the test in each node: the probability to split people who are alike.
    max_depth : int, optional
        Most splits above a leaf.
    min_samples_leaf : int or float, optional
        Fewest people in a leaf, or their share of all; by default 10 for each parameter of the model, one less than
        there are items.
    trim : float, default=0.1
        Share of the people at both ends of a numeric feature between whom no test looks for a split.
    pseudo : float, default=0.5
        Strength of the pseudo-rankings that keep worths finite: every item wins and loses so many comparisons with one
        hypothetical item, as R's PlackettLuce adds them. They draw worths of small leaves slightly together, and hide
        that a worth has no estimate where a leaf agrees on its place: then ``notes_`` and `export_text` say so. 0 is
        maximum likelihood, which need not exist.
    categorical_features : None, array-like or dict
        Which columns hold categories, see `LeastSquaresTree`.

    Attributes
    ----------
    tree_ : Tree
        The nodes, as those of `RankingTree`; ``tree_.error`` is the negative log likelihood of each, and ``tree_.gain``
        by how much its split lowers it.
    log_worth_, se_ : ndarrays of shape (n_leaves, n_items)
        Log worths in each leaf, of mean 0, higher = better, and their standard errors: from the information; robust
        (sandwich) for survey weights and for people with several rankings.
    p_values_, statistics_ : ndarrays of shape (n_nodes, n_features)
        The tests of each node, p-values corrected for the number of features tested there; NaN where none was made,
        because the node is too small or deep, or the feature constant.
    log_likelihood_ : float
        Of all rankings.
    notes_ : tuple of str
        Leaves whose people agree on the order of items without exception, so that the distances of their worths rest on
        the pseudo-rankings.
    feature_importances_ : ndarray of shape (n_features,)
        Share of each feature in the gain of log likelihood.
    items_ : tuple
        Names of the items.

    Notes
    -----
    The p-values of cuts come from the law of the largest squared norm of a tied-down Brownian motion. With up to 12
    cuts they are those of just these cuts, with more those of a continuous feature, corrected for the gaps between the
    cuts. People with a missing value do not take part in the test of that feature; in a split they go where the
    likelihood is larger.

    Likelihoods are computed for the 64 splits with the largest LM statistics, which are second-order approximations of
    the gains. Of more than 10 categories, only divisions along the main direction of their scores are considered.

    Pairwise probabilities are those of two items that do not tie, :math:`w_i / (w_i + w_j)`.

    Whole-number weights count people; others are survey weights, of which the variance of sums is taken with
    squares of the weights.

    References
    ----------
    Zeileis, Hothorn, Hornik (2008), Model-based recursive partitioning, Journal of Computational and Graphical
    Statistics 17. Strobl, Wickelmaier, Zeileis (2011), Accounting for individual differences in Bradley-Terry models by
    means of recursive partitioning, Journal of Educational and Behavioral Statistics 36. Turner, van Etten, Firth,
    Kosmidis (2020), Modelling rankings in R: the PlackettLuce package, Computational Statistics 35. Andrews (1993),
    Tests for parameter instability and structural change with unknown change point, Econometrica 61.

    Examples
    --------
    >>> import numpy as np
    >>> from rankwise.label_ranking import PlackettLuceTree
    >>> X = np.arange(80)[:, None]
    >>> y = np.where(X < 40, [[1, 2, 3]], [[3, 1, 2]])
    >>> tree = PlackettLuceTree(min_samples_leaf=20).fit(X, y)
    >>> print(tree.export_text())
    |-- x0 <= 39.5, p < 0.001: 0 > 1 > 2  (n=40)
    |-- x0 > 39.5: 1 > 2 > 0  (n=40)
    Note: no ranking of the leaf 0 > 1 > 2 (n=40) contradicts the order {0} > {1} > {2}: how far these worths are ...
    Note: no ranking of the leaf 1 > 2 > 0 (n=40) contradicts the order {1} > {2} > {0}: how far these worths are ...
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "alpha": [Interval(Real, 0, 1, closed="both")],
        "max_depth": [Interval(Integral, 1, None, closed="left"), None],
        "min_samples_leaf": [
            Interval(Integral, 1, None, closed="left"),
            Interval(RealNotInt, 0, 0.5, closed="neither"),
            None,
        ],
        "trim": [Interval(Real, 0, 0.5, closed="left")],
        "pseudo": [Interval(Real, 0, None, closed="left")],
        "categorical_features": [None, "array-like", dict],
    }

    _saved: ClassVar[Saved] = {
        "log_worth_": MATRIX,
        "se_": MATRIX,
        "p_values_": MATRIX,
        "statistics_": MATRIX,
        "log_likelihoods_": FLOATS,
        "notes_": optional(tuple_of(STRING)),
    }

    def __init__(
        self,
        alpha: float = 0.05,
        *,
        max_depth: int | None = None,
        min_samples_leaf: int | float | None = None,
        trim: float = 0.1,
        pseudo: float = 0.5,
        categorical_features: Any = None,
    ) -> None:
        self.alpha = alpha
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.trim = trim
        self.pseudo = pseudo
        self.categorical_features = categorical_features

    def fit(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None, groups: ArrayLike | None = None
    ) -> PlackettLuceTree:
        """Grow the tree.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features.
        y : Rankings or array-like of shape (n_samples, n_items)
            Positions, 1 = best, of any kind: full, tied, top-k (``inf`` = unlisted), incomplete (``NaN`` = missing).
        sample_weight : array-like of shape (n_samples,), optional
            How often each row counts; by default the weights of the Rankings, else ones.
        groups : array-like of shape (n_samples,), optional
            Who made each ranking, for people who made several: their scores are added up before the tests, because
            their rankings are not independent. Rows of a person have the same features.

        Returns
        -------
        self
        """
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None")
        self._validate_params()
        features = self._check_features(X, reset=True)
        rankings, rows = check_label_ranking(y, sample_weight, n_samples=len(features))
        self.items_ = rankings.items
        if groups is None:
            people, person = features[rows], np.arange(len(rows))
        else:
            people, person = self._people(features, groups, rows)
        with one_thread():
            self._grow(people, person, rankings)
        return self

    def _people(self, X: FloatArray, names: ArrayLike, rows: IntArray) -> tuple[FloatArray, IntArray]:
        """Features of each person, and who made each ranking of the given rows."""
        groups = np.asarray(names)
        if groups.shape != (len(X),):
            raise ValueError(f"groups has shape {groups.shape}, but X has {len(X)} rows; say for each who made it")
        X, groups = X[rows], groups[rows]
        _, first, person = np.unique(groups, return_index=True, return_inverse=True)
        differs = ~((X[first][person] == X) | (np.isnan(X) & np.isnan(X[first][person])))
        if differs.any():
            row, column = np.argwhere(differs)[0]
            raise ValueError(
                f"the rows of person {groups[row]} differ in feature {self._feature_names()[column]!r}; rows of a "
                "person must have the same features, so give groups only for what does not vary within people"
            )
        return X[first], person

    def _grow(self, X: FloatArray, person: IntArray, y: Rankings) -> None:
        data = People.build(X, person, y, self.pseudo)
        fewest = self._fewest(data)
        is_nominal, n_categories = self._encoder.is_categorical, self._encoder.n_categories
        is_ordered = np.array([categories is not None for categories in self._encoder.categories_]) & ~is_nominal
        nodes = Nodes(n_words=max(1, -(-int(n_categories.max(initial=0)) // 64)))
        root = nodes.add(np.arange(len(X)), self._model_of_all(data, y), 0)
        waiting = deque([root])
        tests: dict[int, list[Instability]] = {}
        while waiting:
            node = waiting.popleft()
            people, model = nodes.people[node], nodes.models[node]
            size = data.size[people].sum()
            if size < 2 * fewest or nodes.depth[node] == self.max_depth:
                continue
            scores = standardized_scores(data.scores(people, model), data.weight[people], people=data.is_counted)
            cells = Cells(data, people, scores, fewest, self.trim)
            tests[node] = [cells.test(f, bool(is_nominal[f]), bool(is_ordered[f])) for f in range(X.shape[1])]
            log_p = np.array([test.log_p for test in tests[node]])
            tested = int(np.isfinite(log_p).sum())
            if not tested:
                continue
            best = int(np.nanargmin(np.round(log_p, 4)))  # features that split alike differ by rounding only
            if _corrected(log_p[best], tested) > self.alpha:
                continue
            split = cells.best_split(best, bool(is_nominal[best]), int(n_categories[best]))
            if split is None:
                continue
            waiting += nodes.split(node, best, split)
        self._keep(nodes, data, tests, X.shape[1])

    def _model_of_all(self, data: People, y: Rankings) -> Model | None:
        if not preference_matrix(y).wins.any():
            raise ValueError("everybody ties all items; there is nothing to split")
        try:
            return data.fit(np.arange(len(data.X)), sure=True)
        except ValueError as error:
            # The cure of the model itself is its alpha, a prior; here alpha is the significance level.
            reason = str(error).partition(" Use a prior")[0]
            cure = "Use pseudo=0.5, or add rankings" if self.pseudo == 0 else "Add rankings without ties"
            raise ValueError(f"{reason} {cure}") from None

    def _fewest(self, data: People) -> float:
        if self.min_samples_leaf is None:
            return _PEOPLE_PER_PARAMETER * (data.n_items - 1)
        if isinstance(self.min_samples_leaf, Integral):
            return float(self.min_samples_leaf)
        return float(np.ceil(self.min_samples_leaf * data.size.sum()))

    def _keep(self, nodes: Nodes, data: People, tests: dict[int, list[Instability]], n_features: int) -> None:
        shape = (len(nodes.left), n_features)
        self.p_values_, self.statistics_ = np.full(shape, np.nan), np.full(shape, np.nan)
        for node, found in tests.items():
            log_p = np.array([test.log_p for test in found])
            self.p_values_[node] = _corrected(log_p, int(np.isfinite(log_p).sum()))
            self.statistics_[node] = [test.statistic for test in found]
        leaves = [node for node, left in enumerate(nodes.left) if left < 0]
        worths = [data.worths(nodes.people[leaf], nodes.models[leaf]) for leaf in leaves]
        self.log_worth_ = np.array([worth for worth, _ in worths])
        self.se_ = np.array([se for _, se in worths])
        self.log_likelihoods_ = np.array([model.log_likelihood for model in nodes.models])
        self.notes_ = tuple(
            note
            for leaf, text in zip(leaves, self._leaf_texts(), strict=True)
            for note in self._unknown_distances(
                data.agreed_orders(nodes.people[leaf], nodes.models[leaf]),
                f"the leaf {text} (n={len(nodes.people[leaf])})",
            )
        )
        first, second = np.triu_indices(data.n_items, 1)
        from scipy.special import expit

        self.tree_ = nodes.tree(data, LeafMeans(expit(self.log_worth_[:, first] - self.log_worth_[:, second])))

    def _unknown_distances(self, parts: list[list[IntArray]], leaf: str) -> list[str]:
        """Which worths of a leaf are apart only as far as the pseudo-rankings say."""

        def named(items: IntArray) -> str:
            return "{" + shortlist([self.items_[item] for item in np.sort(items)]) + "}"

        why = f"how far these worths are apart rests on the pseudo-rankings (pseudo={self.pseudo:g})"
        notes = []
        if len(parts) > 1:
            shown = [named(np.concatenate(groups)) for groups in parts]
            which = " with ".join(shown) if len(shown) == 2 else f"the groups {shortlist(shown)} with each other"
            notes.append(f"nobody in {leaf} compares {which}: {why}")
        orders = [" > ".join(map(named, groups)) for groups in parts if len(groups) > 1]
        return notes + [f"no ranking of {leaf} contradicts the order {order}: {why}" for order in orders]

    def export_text(self) -> str:
        """The tree as indented text, with the order of items in its leaves; then what a reader should know of them."""
        notes = [f"Note: {note}." for note in getattr(self, "notes_", ())]
        return "\n".join([super().export_text(), *notes])

    @property
    def log_likelihood_(self) -> float:
        """Log likelihood of all rankings, in their leaves."""
        return float(self.log_likelihoods_[self._fitted_tree().is_leaf].sum())

    def _predict_pairwise(self, X: FloatArray) -> FloatArray:
        return pairwise_from_vectors(self.tree_.predict(X))

    def _predict_log_worth(self, X: FloatArray) -> FloatArray:
        return self.log_worth_[self.tree_.leaf_of(X)]

    def _predict_positions(self, X: FloatArray) -> FloatArray:
        return decode_pairwise(pairwise_from_vectors(self.tree_.values), "borda")[self.tree_.leaf_of(X)]

    def _leaf_texts(self) -> list[str]:
        orders = np.argsort(-self.log_worth_, axis=1, kind="stable")
        return [" > ".join(str(self.items_[item]) for item in order) for order in orders]

    def _node_conditions(self) -> dict[int, tuple[str, str]]:
        tree = self._fitted_tree()
        p = {node: self.p_values_[node, tree.feature[node]] for node in np.flatnonzero(tree.left >= 0).tolist()}
        return {node: (f"{yes}, {_p_text(p[node])}", no) for node, (yes, no) in super()._node_conditions().items()}

    def _check_saved(self) -> None:
        k = len(self.items_)
        self._check_trees([self.tree_], k * (k - 1) // 2, of_shares=True)
        n_nodes = len(self.tree_.left)
        check_shape(self.log_worth_, (self.tree_.n_leaves, k), "the log worths")
        check_shape(self.se_, (self.tree_.n_leaves, k), "the standard errors")
        check_shape(self.p_values_, (n_nodes, self.n_features_in_), "the p-values")
        check_shape(self.statistics_, (n_nodes, self.n_features_in_), "the statistics")
        check_shape(self.log_likelihoods_, (n_nodes,), "the log likelihoods")


def _corrected(log_p: Any, n_tests: int) -> Any:
    """p-values corrected for several tests: 1 - (1 - p)^n, without loss of digits."""
    with np.errstate(divide="ignore"):
        return -np.expm1(n_tests * np.log1p(-np.exp(log_p)))


def _p_text(p: float) -> str:
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}" if p < 0.1 else f"p = {p:.2f}"
