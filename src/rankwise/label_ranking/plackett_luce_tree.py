"""PlackettLuceTree: splits where worths differ significantly, and a Plackett-Luce model in every leaf."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple

import numpy as np

from rankwise._sklearn import BaseEstimator, Interval, RealNotInt
from rankwise._state import FLOATS, MATRIX, Saved, check_shape
from rankwise._typing import ArrayLike, BoolArray, FloatArray, IntArray
from rankwise._validation import weights_count_people
from rankwise.aggregation import PlackettLuce
from rankwise.data import Rankings
from rankwise.embeddings import decode_pairwise, pairwise_from_vectors
from rankwise.label_ranking._instability import (
    Instability,
    Scores,
    cut_statistics,
    level_sums,
    nominal_test,
    ordered_test,
    partition_statistics,
    standardized_scores,
)
from rankwise.label_ranking.base import LabelRankerMixin, check_label_ranking, one_thread
from rankwise.trees.base import SingleTreeMixin
from rankwise.trees.structure import LeafMeans, Tree

# Splits of a feature whose likelihood is computed: those with the largest LM statistics.
_MOST_REFITS = 64
# Of so many categories every division into two is looked at; of more, those along their main difference.
_MOST_DIVIDED = 10
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
        hypothetical item, as R's PlackettLuce adds them. 0 is maximum likelihood, which need not exist.
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
        data = _People.build(X, person, y, self.pseudo)
        fewest = self._fewest(data)
        is_nominal, n_categories = self._encoder.is_categorical, self._encoder.n_categories
        is_ordered = np.array([categories is not None for categories in self._encoder.categories_]) & ~is_nominal
        nodes = _Nodes(n_words=max(1, -(-int(n_categories.max(initial=0)) // 64)))
        root = nodes.add(np.arange(len(X)), data.fit(np.arange(len(X)), sure=True), 0)
        waiting = deque([root])
        tests: dict[int, list[Instability]] = {}
        while waiting:
            node = waiting.popleft()
            people, model = nodes.people[node], nodes.models[node]
            size = data.size[people].sum()
            if size < 2 * fewest or nodes.depth[node] == self.max_depth:
                continue
            scores = standardized_scores(data.scores(people, model), data.weight[people], people=data.is_counted)
            cells = _Cells(data, people, scores, fewest, self.trim)
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

    def _fewest(self, data: _People) -> float:
        if self.min_samples_leaf is None:
            return _PEOPLE_PER_PARAMETER * (data.n_items - 1)
        if isinstance(self.min_samples_leaf, Integral):
            return float(self.min_samples_leaf)
        return float(np.ceil(self.min_samples_leaf * data.size.sum()))

    def _keep(self, nodes: _Nodes, data: _People, tests: dict[int, list[Instability]], n_features: int) -> None:
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
        first, second = np.triu_indices(data.n_items, 1)
        from scipy.special import expit

        self.tree_ = nodes.tree(data, LeafMeans(expit(self.log_worth_[:, first] - self.log_worth_[:, second])))

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


class _Model(NamedTuple):
    """A Plackett-Luce model of some people; the log likelihood leaves out the pseudo-rankings."""

    fitted: PlackettLuce
    log_likelihood: float


@dataclass(frozen=True)
class _People:
    """Rankings and the people who made them. The last item is hypothetical, and the last rows compare it."""

    X: FloatArray
    rankings: Rankings
    rows_of: IntArray  # rows, person by person
    start: IntArray
    weight: FloatArray  # of people: the mean of their rankings
    size: FloatArray  # how many people each counts for
    is_counted: bool
    has_several: bool
    n_items: int
    n_pseudo: int

    @classmethod
    def build(cls, X: FloatArray, person: IntArray, y: Rankings, pseudo: float) -> _People:
        k = y.n_items
        positions, weights = y.positions, y.weights
        n_pseudo = 0
        if pseudo > 0:
            against = np.full((2 * k, k + 1), np.nan)
            item = np.arange(k)
            against[item, item], against[item, k] = 1.0, 2.0
            against[k + item, item], against[k + item, k] = 2.0, 1.0
            positions = np.vstack([np.column_stack([positions, np.full(len(y), np.nan)]), against])
            weights = np.append(weights, np.full(2 * k, pseudo))
            n_pseudo = 2 * k
        count = np.bincount(person, minlength=len(X))
        weight = np.bincount(person, y.weights, len(X)) / count
        is_counted = weights_count_people(y.weights)
        return cls(
            X,
            Rankings(positions, weights=weights),
            np.argsort(person, kind="stable"),
            np.concatenate([[0], np.cumsum(count)]),
            weight,
            weight if is_counted else np.ones(len(X)),
            is_counted,
            bool(count.max() > 1),
            k,
            n_pseudo,
        )

    def rows(self, people: IntArray) -> tuple[IntArray, IntArray]:
        """Rankings of some people, and the number of each among these people."""
        if not self.has_several:
            return people, np.arange(len(people))
        counts = self.start[people + 1] - self.start[people]
        of = np.repeat(np.arange(len(people)), counts)
        place = np.arange(len(of)) - np.repeat(np.cumsum(counts) - counts, counts)
        return self.rows_of[self.start[people][of] + place], of

    def fit(self, people: IntArray, *, sure: bool = False) -> _Model | None:
        """The model of some people; None if it does not exist, unless it must."""
        rows, _ = self.rows(people)
        n = len(self.rankings)
        part = self.rankings[np.append(rows, np.arange(n - self.n_pseudo, n))]
        try:
            fitted = PlackettLuce().fit(part)
        except ValueError:
            if sure:
                raise
            return None
        pseudo = part[len(rows) :]
        value = fitted.log_likelihood_
        if self.n_pseudo:
            value -= float(pseudo.weights @ fitted.logpmf(pseudo))
        return _Model(fitted, value)

    def scores(self, people: IntArray, model: _Model) -> FloatArray:
        """Mean score of each person, so that their weight counts once."""
        rows, of = self.rows(people)
        scores = model.fitted.scores(self.rankings[rows])
        if not self.has_several:
            return scores
        total = np.zeros((len(people), scores.shape[1]))
        np.add.at(total, of, self.rankings.weights[rows, None] * scores)
        return total / self.weight[people, None]

    def worths(self, people: IntArray, model: _Model) -> tuple[FloatArray, FloatArray]:
        """Log worths of mean 0, and their standard errors."""
        k, fitted = self.n_items, model.fitted
        worth = fitted.log_worth_[:k] - fitted.log_worth_[:k].mean()
        if fitted.covariance_ is None:
            return worth, np.full(k, np.nan)
        covariance = fitted.covariance_
        if not self.is_counted or self.has_several:
            scores = self.weight[people, None] * self.scores(people, model)[:, : len(covariance)]
            covariance = covariance @ (scores.T @ scores) @ covariance
        covariance = covariance[:k, :k]
        center = np.eye(k) - 1 / k
        return worth, np.sqrt(np.maximum((center @ covariance @ center).diagonal(), 0.0))


class _Split(NamedTuple):
    """Who goes left, the models of both sides, and how new rows are sent."""

    goes_left: BoolArray
    models: tuple[_Model, _Model]
    threshold: float
    missing_left: bool
    left_set: IntArray | None


@dataclass(frozen=True)
class _Cells:
    """The people of a node, their scores, and the tests and splits by one feature at a time."""

    data: _People
    people: IntArray
    scores: Scores
    fewest: float
    trim: float

    def test(self, feature: int, is_nominal: bool, is_ordered: bool) -> Instability:
        values = self.data.X[self.people, feature]
        known = np.flatnonzero(~np.isnan(values))
        if len(known) < 2 or self.data.size[self.people[known]].sum() < 2 * self.fewest:
            return Instability(np.nan, np.nan)
        scores = Scores(*(part[known] for part in self.scores))
        if is_nominal:
            levels, level = np.unique(values[known], return_inverse=True)
            return nominal_test(scores, level, len(levels))
        order = np.argsort(values[known], kind="stable")
        ends = self._ends(
            values[known][order], self.data.size[self.people[known][order]], 0 if is_ordered else self.trim
        )
        return ordered_test(scores, order, ends)

    def _ends(self, values: FloatArray, sizes: FloatArray, trim: float) -> IntArray:
        """Where cuts between different values leave enough people on both sides."""
        ends = np.flatnonzero(values[:-1] < values[1:])
        up_to = np.cumsum(sizes)
        fewest = max(self.fewest, np.ceil(trim * up_to[-1]))
        return ends[(up_to[ends] >= fewest) & (up_to[-1] - up_to[ends] >= fewest)]

    def best_split(self, feature: int, is_nominal: bool, n_categories: int) -> _Split | None:
        """The split on a feature with the largest likelihood; None if no side would have enough people."""
        values = self.data.X[self.people, feature]
        known = np.flatnonzero(~np.isnan(values))
        scores = Scores(*(part[known] for part in self.scores))
        divide = self._nominal_sides if is_nominal else self._ordered_sides
        best: tuple[float, Any] = (-np.inf, None)
        for side, threshold, left_set in divide(values[known], self.people[known], scores):
            models = self._fit_sides(self.people[known], side)
            if models is not None and (value := models[0].log_likelihood + models[1].log_likelihood) > best[0]:
                best = (value, (side, threshold, left_set, models))
        if best[1] is None:
            return None
        side, threshold, left_set, models = best[1]
        size = self.data.size[self.people[known]]
        goes_left = np.full(len(values), bool(size[side].sum() > size[~side].sum()))
        missing_left = bool(goes_left[0])
        goes_left[known] = side
        if len(known) < len(values):  # people without the value go where the likelihood is larger
            ways = []
            for to_left in (True, False):
                goes_left[np.isnan(values)] = to_left
                models = self._fit_sides(self.people, goes_left)
                if models is not None:
                    ways.append((models[0].log_likelihood + models[1].log_likelihood, to_left, models))
            if not ways:
                return None
            _, missing_left, models = max(ways, key=lambda way: way[0])
            goes_left[np.isnan(values)] = missing_left
        if left_set is not None and missing_left:  # categories that nobody here has go with the larger side
            present = np.unique(values[known]).astype(np.intp)
            left_set = np.union1d(left_set, np.setdiff1d(np.arange(n_categories), present))
        return _Split(goes_left, models, threshold, missing_left, left_set)

    def _fit_sides(self, people: IntArray, goes_left: BoolArray) -> tuple[_Model, _Model] | None:
        left = self.data.fit(people[goes_left])
        right = None if left is None else self.data.fit(people[~goes_left])
        return None if left is None or right is None else (left, right)

    def _ordered_sides(self, values: FloatArray, people: IntArray, scores: Scores) -> Any:
        order = np.argsort(values, kind="stable")
        ends = self._ends(values[order], self.data.size[people[order]], 0.0)
        if len(ends) > _MOST_REFITS:
            gains, _ = cut_statistics(scores, order, ends)
            ends = np.sort(ends[np.argsort(-gains, kind="stable")[:_MOST_REFITS]])
        for end in ends:
            threshold = (values[order[end]] + values[order[end + 1]]) / 2
            yield values <= values[order[end]], float(threshold), None

    def _nominal_sides(self, values: FloatArray, people: IntArray, scores: Scores) -> Any:
        levels, level = np.unique(values, return_inverse=True)
        n = len(levels)
        sums = level_sums(scores, level, n)
        if n <= _MOST_DIVIDED:  # all divisions, the last level at the right
            codes = np.arange(1, 2 ** (n - 1))
            partitions = (codes[:, None] >> np.arange(n)[None, :]) & 1 == 1
        else:
            means = sums.values / sums.weight[:, None]
            center = sums.weight @ means / sums.weight.sum()
            spread = np.sqrt(sums.weight)[:, None] * (means - center)
            along = (means - center) @ np.linalg.svd(spread, full_matrices=False)[2][0]
            place = np.argsort(np.argsort(along, kind="stable"), kind="stable")
            partitions = place[None, :] <= np.arange(n - 1)[:, None]
        sizes = np.bincount(level, self.data.size[people], n)
        left = partitions @ sizes
        partitions = partitions[(left >= self.fewest) & (sizes.sum() - left >= self.fewest)]
        if len(partitions) > _MOST_REFITS:
            gains = partition_statistics(sums, partitions)
            partitions = partitions[np.sort(np.argsort(-gains, kind="stable")[:_MOST_REFITS])]
        for partition in partitions:
            yield partition[level], np.nan, levels[partition].astype(np.intp)


@dataclass
class _Nodes:
    """Nodes as they grow."""

    n_words: int
    people: list[IntArray] = field(default_factory=list)
    models: list[Any] = field(default_factory=list)
    depth: list[int] = field(default_factory=list)
    left: list[int] = field(default_factory=list)
    feature: list[int] = field(default_factory=list)
    threshold: list[float] = field(default_factory=list)
    missing_left: list[bool] = field(default_factory=list)
    set_of: list[int] = field(default_factory=list)
    sets: list[IntArray] = field(default_factory=list)

    def add(self, people: IntArray, model: _Model | None, depth: int) -> int:
        """A new leaf."""
        self.people.append(people)
        self.models.append(model)
        self.depth.append(depth)
        for column, value in ((self.left, -1), (self.feature, -1), (self.set_of, -1)):
            column.append(value)
        self.threshold.append(0.0)
        self.missing_left.append(False)
        return len(self.left) - 1

    def split(self, node: int, feature: int, split: _Split) -> list[int]:
        """Split a leaf; the numbers of its children."""
        self.feature[node] = feature
        self.missing_left[node] = split.missing_left
        if split.left_set is None:
            self.threshold[node] = split.threshold
        else:
            self.set_of[node] = len(self.sets)
            self.sets.append(split.left_set)
        people, depth = self.people[node], self.depth[node] + 1
        sides = (people[split.goes_left], people[~split.goes_left])
        children = [self.add(side, model, depth) for side, model in zip(sides, split.models, strict=True)]
        self.left[node] = children[0]
        return children

    def tree(self, data: _People, contents: LeafMeans) -> Tree:
        """The nodes as a tree of the engine."""
        left = np.array(self.left, dtype=np.int32)
        error = -np.array([model.log_likelihood for model in self.models])
        inner = left >= 0
        gain = np.zeros(len(left))
        gain[inner] = np.maximum(error[inner] - error[left[inner]] - error[left[inner] + 1], 0.0)
        sets = np.zeros((len(self.sets), self.n_words), dtype=np.uint64)
        for row, members in enumerate(self.sets):
            for code in members.tolist():
                sets[row, code // 64] |= np.uint64(1) << np.uint64(code % 64)
        return Tree(
            feature=np.array(self.feature, dtype=np.int32),
            threshold=np.array(self.threshold),
            missing_left=np.array(self.missing_left, dtype=bool),
            left=left,
            gain=gain,
            error=error,
            weight=np.array([data.weight[people].sum() for people in self.people]),
            count=np.array([len(people) for people in self.people], dtype=np.int64),
            set_of=np.array(self.set_of, dtype=np.int32),
            sets=sets,
            contents=contents,
        )


def _corrected(log_p: Any, n_tests: int) -> Any:
    """p-values corrected for several tests: 1 - (1 - p)^n, without loss of digits."""
    with np.errstate(divide="ignore"):
        return -np.expm1(n_tests * np.log1p(-np.exp(log_p)))


def _p_text(p: float) -> str:
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}" if p < 0.1 else f"p = {p:.2f}"
