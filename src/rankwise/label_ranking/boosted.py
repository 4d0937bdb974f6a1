"""BoostedRanker: gradient boosting of the whole ranking, by trees whose leaves hold a step for every item."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from numbers import Integral, Real
from typing import Any, ClassVar, Literal

import numpy as np
from joblib import effective_n_jobs

from rankwise._progress import track
from rankwise._sklearn import N_JOBS, BaseEstimator, Interval, RealNotInt, StrOptions
from rankwise._state import FLOATS, NUMBER, Saved, check_shape, dict_of, ensure, list_of, maybe, optional
from rankwise._typing import ArrayLike, FloatArray, IntArray, RandomState
from rankwise._validation import check_generator
from rankwise.data import Rankings
from rankwise.embeddings import vectors_from_pairwise
from rankwise.label_ranking._boosting import Boosting, Loss
from rankwise.label_ranking._calibration import slope_and_loss
from rankwise.label_ranking._monotone import monotone_signs
from rankwise.label_ranking.tree_answers import TreeAnswersMixin
from rankwise.label_ranking.warm_start import WarmStartMixin
from rankwise.trees.base import ForestMixin
from rankwise.trees.engine import MOST_BINS, TargetRows, mean_prediction

# From this number of rows on, "auto" holds out a tenth of them; of fewer it says little, and is missed in training.
_MANY_ROWS = 5_000
# Leaves of trees for fewer rows, and for many.
_LEAVES = 6, 16
# Rows that are too few to leave out, folds, and trees after which these are asked again.
_FEWEST_TO_CALIBRATE, _FOLDS, _TREES_BETWEEN = 30, 3, 5
# Pairs, and rows, that are enough to compare scores with.
_MOST_PAIRS, _FEWEST_ROWS = 1 << 18, 500


class BoostedRanker(ForestMixin, WarmStartMixin, TreeAnswersMixin, BaseEstimator):
    r"""Boosted trees that score all items at once.

    *Definition.* Item i has the score :math:`F_i(x)`, and comes before j with the probability :math:`\sigma(F_i(x) -
    F_j(x))`. Scores start from the best constants. Each tree is fitted to the gradients :math:`g_i` and the second
    derivatives :math:`h_i` of the loss by the scores of all items so far: it repeatedly splits the leaf that gains most
    of :math:`\sum_i G_i^2 / (\bar H + l_2)`, where G and H are sums over the rows of a leaf and :math:`\bar H` is the
    mean over items, and adds the Newton step :math:`-G_i / (H_i + l_2)` of its leaf to each score, times the learning
    rate.

    Parameters
    ----------
    n_estimators : int, default=300
        Number of trees.
    learning_rate : float, default=0.2
        Share of the Newton step that each tree takes.
    loss : {"pairwise_logistic", "plackett_luce"}, default="pairwise_logistic"
        "pairwise_logistic" is the sum of :math:`-\log \sigma(F_i - F_j)` over the pairs that a ranking compares, i
        before j; a tied pair counts half in both orders. "plackett_luce" is the negative log likelihood of the ranking
        as repeated choices of the best item left; each of several tied items is chosen from all that are left before
        the first of them (Breslow). Both take all kinds of rankings: unlisted items of a top-k ranking lose against
        the listed ones and are not compared with each other, and missing items take no part.
    max_leaf_nodes : int or "auto", default="auto"
        Most leaves of a tree; "auto" is 6 for fewer than 5,000 rows, 16 from there on.
    max_depth : int, optional
        Most splits above a leaf.
    min_samples_leaf : int, default=10
        Fewest rows of a leaf.
    l2_regularization : float, default=1.0
        Added to the second derivatives of a leaf.
    max_bins : int, default=255
        Most bins of a numeric feature, of about equal numbers of rows. Only the order of values counts.
    subsample : float, default=1.0
        Share of the rows that each tree sees, drawn without replacement.
    max_features : int, float or None, default=None
        Features that each tree sees, or their share; None is all.
    early_stopping : {"auto", "cv"} or bool, default="auto"
        Whether to stop when the loss of unseen rows no longer falls, and keep the best number of trees: of rows that
        are held out (True), or of three folds, left out in turn, after which all rows are learned from ("cv"). The
        loss of folds is that of calibrated pairs, after every fifth tree. "auto" is "cv" below 5,000 rows.
    validation_fraction : float, default=0.1
        Share of the rows held out with ``early_stopping=True``.
    n_iter_no_change : int, default=20
        Number of trees without improvement after which early stopping stops.
    categorical_features : None, array-like or dict
        Which columns hold categories, see `LeastSquaresTree`. They are cut in the order of the main direction of the
        steps that each would take alone.
    monotone_constraints : dict or array-like of shape (n_features, n_items), optional
        What may only rise or fall with a feature, e.g. ``{"price": {"tea": -1}, "age": {"wine": 1}}``: 1 says that the
        score of the item, less the mean score of the others, does not fall as the feature rises, whatever the other
        features are; -1 that it does not rise. Features and items are given by name or number, or all signs as a
        matrix, with 0 for none. Single pairs are not bound: tea and coffee may both rise, and coffee more.
    calibrate : bool, default=True
        Whether to multiply all scores by one number, ``calibration_``, so that probabilities come true as often as they
        say; few noisy rows make boosting too sure. It is the likeliest one on the rows held out for early stopping, or,
        without these, in three folds, which takes three fits instead of one. The order of the items is the same.
    warm_start : bool, default=False
        Whether another ``fit`` on the same rows keeps the trees and adds those that ``n_estimators`` lacks. They are
        those of one long fit, bit by bit, if ``random_state`` is a number or nothing is drawn; early stopping needs a
        number.
    n_jobs : int, optional
        Threads; the result is the same for every number.
    random_state : int, Generator, RandomState or None, default=None
        Source of held-out rows and samples.

    Attributes
    ----------
    trees_ : list of Tree
        The trees; ``values`` of each are what its leaves add to the scores of all items.
    base_scores_ : ndarray of shape (n_items,)
        Scores before the first tree.
    calibration_ : float or None
        What the scores are multiplied by; None for nothing.
    history_ : dict
        With early stopping, "validation": the loss of the held-out rows after each tree, also of those that were
        dropped, or that of the folds after every fifth; empty without.
    feature_importances_ : ndarray of shape (n_features,)
        Share of each feature in the gain of all splits.
    items_ : tuple
        Names of the items.

    Notes
    -----
    Sums are exact: neither the number of threads nor the order of rows changes a tree.

    References
    ----------
    Friedman (2001), Greedy function approximation: a gradient boosting machine. Dery, Shmueli (2020), BoostLR: a
    boosting-based learning ensemble for label ranking tasks, for boosting of rankings. Zhang, Jung (2021), GBDT-MO:
    gradient-boosted decision trees for multiple outputs.

    Examples
    --------
    >>> from rankwise.datasets import make_smooth_label_ranking
    >>> from rankwise.label_ranking import BoostedRanker
    >>> X, y, _ = make_smooth_label_ranking(500, 4, 3, random_state=0)
    >>> ranker = BoostedRanker(50).fit(X[:400], y[:400])
    >>> ranker.score(X[400:], y[400:]) > 0.4
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_estimators": [Interval(Integral, 1, None, closed="left")],
        "learning_rate": [Interval(Real, 0, None, closed="neither")],
        "loss": [StrOptions({"pairwise_logistic", "plackett_luce"})],
        "max_leaf_nodes": [Interval(Integral, 2, None, closed="left"), StrOptions({"auto"})],
        "max_depth": [None, Interval(Integral, 1, None, closed="left")],
        "min_samples_leaf": [Interval(Integral, 1, None, closed="left")],
        "l2_regularization": [Interval(Real, 0, None, closed="left")],
        "max_bins": [Interval(Integral, 2, MOST_BINS, closed="both")],
        "subsample": [Interval(Real, 0, 1, closed="right")],
        "max_features": [
            None,
            Interval(Integral, 1, None, closed="left"),
            Interval(RealNotInt, 0, 1, closed="right"),
        ],
        "early_stopping": ["boolean", StrOptions({"auto", "cv"})],
        "validation_fraction": [Interval(Real, 0, 1, closed="neither")],
        "n_iter_no_change": [Interval(Integral, 1, None, closed="left")],
        "categorical_features": [None, "array-like", dict],
        "monotone_constraints": [None, "array-like", dict],
        "calibrate": ["boolean"],
        "warm_start": ["boolean"],
        "n_jobs": N_JOBS,
        "random_state": ["random_state", np.random.Generator],
    }

    base_scores_: FloatArray
    calibration_: float | None
    history_: dict[str, list[float]]

    _saved: ClassVar[Saved] = {
        "base_scores_": FLOATS,
        "calibration_": optional(maybe(NUMBER)),
        "history_": dict_of(list_of(NUMBER)),
    }

    def __init__(
        self,
        n_estimators: int = 300,
        learning_rate: float = 0.2,
        loss: Literal["pairwise_logistic", "plackett_luce"] = "pairwise_logistic",
        *,
        max_leaf_nodes: int | Literal["auto"] = "auto",
        max_depth: int | None = None,
        min_samples_leaf: int = 10,
        l2_regularization: float = 1.0,
        max_bins: int = 255,
        subsample: float = 1.0,
        max_features: int | float | None = None,
        early_stopping: bool | Literal["auto", "cv"] = "auto",
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 20,
        categorical_features: Any = None,
        monotone_constraints: Any = None,
        calibrate: bool = True,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: RandomState = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.loss = loss
        self.max_leaf_nodes = max_leaf_nodes
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.l2_regularization = l2_regularization
        self.max_bins = max_bins
        self.subsample = subsample
        self.max_features = max_features
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.categorical_features = categorical_features
        self.monotone_constraints = monotone_constraints
        self.calibrate = calibrate
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state

    def predict_scores(self, X: ArrayLike) -> FloatArray:
        """Predict the scores of the items.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features.

        Returns
        -------
        ndarray of shape (n_samples, n_items)
            Higher is better; only differences within a row mean something: they are log odds of pairs.
        """
        return self._predict_log_worth(self._check_fitted_features(X))

    def staged_predict_scores(self, X: ArrayLike) -> Iterator[FloatArray]:
        """Predict the scores of the items after each tree.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features.

        Yields
        ------
        ndarray of shape (n_samples, n_items)
            As of `predict_scores`, by the first tree, the first two, and so on.
        """
        features = self._check_fitted_features(X)
        scores = np.tile(self.base_scores_, (len(features), 1))
        for tree in self.trees_:
            scores = scores + tree.predict(features)
            yield self._slope * scores

    def staged_predict(self, X: ArrayLike) -> Iterator[FloatArray]:
        """Predict a full ranking for each row after each tree.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features.

        Yields
        ------
        ndarray of shape (n_samples, n_items)
            Positions, 1 = best; columns are ``items_``.
        """
        for scores in self.staged_predict_scores(X):
            yield _places(scores)

    @property
    def feature_importances_(self) -> FloatArray:
        """Share of each feature in the gain of all splits."""
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(self)
        gains = np.zeros(self.n_features_in_)
        for tree in self.trees_:
            inner = ~tree.is_leaf
            gains += np.bincount(tree.feature[inner], tree.gain[inner], self.n_features_in_)
        return gains / gains.sum() if gains.sum() > 0 else gains

    def _fit_rankings(self, X: FloatArray, y: Rankings) -> None:
        rng = check_generator(self.random_state)
        names = getattr(self, "feature_names_in_", None)
        signs = monotone_signs(self.monotone_constraints, y.items, names, self._encoder.n_categories > 0)
        n_given = len(X)
        rows, held_out = self._held_out(n_given, rng)
        watched, watched_y = X[held_out], y[held_out]
        X, y = X[rows], y[rows]
        kept = self._kept_trees()
        history = self._kept_history(len(kept)) if kept and len(held_out) else []
        self.history_, self.calibration_ = {}, None
        settings = self.get_params(deep=False)
        if self.max_leaf_nodes == "auto":
            settings["max_leaf_nodes"] = _LEAVES[n_given >= _MANY_ROWS]
        n_threads = effective_n_jobs(self.n_jobs)
        with ThreadPoolExecutor(n_threads) as threads:

            def boosting(X: FloatArray, y: Rankings, watched: FloatArray, rng: np.random.Generator) -> Boosting:
                return Boosting(X, y, watched, self._encoder.n_categories, settings, signs, rng, threads, n_threads)

            most = self.n_estimators
            if not len(held_out) and (self.calibrate or self._stopping(len(X)) == "cv"):
                most = self._learn_from_folds(X, y, boosting)
            grown = boosting(X, y, watched, rng)
            grown.keep(kept[:most])
            watched_loss = Loss(self.loss, watched_y)
            for _ in track(range(most - len(grown.trees)), "boosting", most - len(grown.trees)):
                grown.grow()
                if len(held_out):
                    history.append(watched_loss.value(grown.watched_scores))
                    if len(history) - np.argmin(history) > self.n_iter_no_change:
                        break
        self.trees_, self.base_scores_ = grown.trees, grown.base_scores
        if len(held_out):
            self.history_ = {"validation": history}
            self.trees_ = self.trees_[: int(np.argmin(history)) + 1]
            if self.calibrate:
                grown_scores = self._predict_log_worth(watched)
                self.calibration_ = _UnseenPairs(watched_y).slope_and_loss(grown_scores)[0]

    def _learn_from_folds(self, X: FloatArray, y: Rankings, boosting: Callable[..., Boosting]) -> int:
        """Find the calibration, and the number of trees unless all are wanted, on rows that are left out in turn."""
        X, y = _distinct(X, y)
        if len(X) < _FEWEST_TO_CALIBRATE:
            return self.n_estimators
        # Sorted rows by turns: nothing is drawn, and each fold has rows of all kinds.
        fold = np.arange(len(X)) % _FOLDS
        parts = [(fold != number, fold == number) for number in range(_FOLDS)]
        folds = [boosting(X[train], y[train], X[test], np.random.default_rng(0)) for train, test in parts]
        unseen = _UnseenPairs(y[np.concatenate([np.flatnonzero(test) for _, test in parts])])
        stops = self._stopping(len(X)) == "cv"
        slopes, losses = [], []
        for number in track(range(1, self.n_estimators + 1), "boosting of folds", self.n_estimators):
            for part in folds:
                part.grow()
            if number == self.n_estimators or (stops and number % _TREES_BETWEEN == 0):
                slope, loss = unseen.slope_and_loss(np.concatenate([part.watched_scores for part in folds]))
                slopes.append(slope)
                losses.append(loss)
                if _TREES_BETWEEN * (len(losses) - 1 - int(np.argmin(losses))) >= self.n_iter_no_change:
                    break
        best = int(np.argmin(losses))
        if self.calibrate:
            self.calibration_ = slopes[best]
        if not stops:
            return self.n_estimators
        self.history_ = {"validation": losses}
        return min(_TREES_BETWEEN * (best + 1), self.n_estimators)

    def _kept_history(self, n_kept: int) -> list[float]:
        """Losses of the held-out rows after the trees that are kept; those that were dropped grow again."""
        if not isinstance(self.random_state, Integral):
            raise ValueError(
                "warm_start with early stopping needs a number as random_state, so that the same rows are held out "
                "again; fit again with one, or with early_stopping=False"
            )
        return self.history_["validation"][:n_kept]

    def _stopping(self, n: int) -> bool | str:
        """Whether, and how, the number of trees is chosen for this number of rows: True, False or "cv"."""
        if self.early_stopping == "auto":
            return True if n >= _MANY_ROWS else "cv"
        return self.early_stopping

    def _held_out(self, n: int, rng: np.random.Generator) -> tuple[IntArray, IntArray]:
        """Rows to learn from, and rows for early stopping."""
        if self._stopping(n) is not True:
            return np.arange(n), np.arange(0)
        n_held_out = max(1, round(self.validation_fraction * n))
        if n_held_out >= n:
            raise ValueError(
                f"early stopping would hold out {n_held_out} of {n} rows and leave none to learn from; lower "
                "validation_fraction, or set early_stopping=False"
            )
        shuffled = rng.permutation(n)
        return np.sort(shuffled[n_held_out:]), np.sort(shuffled[:n_held_out])

    @property
    def _slope(self) -> float:
        return self.calibration_ or 1.0

    def _predict_log_worth(self, X: FloatArray) -> FloatArray:
        added = len(self.trees_) * mean_prediction(self.trees_, X, self.n_jobs)
        return self._slope * (self.base_scores_ + added)

    def _predict_pairwise(self, X: FloatArray) -> FloatArray:
        return _probabilities(self._predict_log_worth(X))

    def _predict_positions(self, X: FloatArray) -> FloatArray:
        return _places(self._predict_log_worth(X))

    def _pair_values(self, i: int, j: int) -> tuple[float, list[FloatArray], str]:
        slope = self._slope
        values = [slope * np.asarray(tree.values[:, i] - tree.values[:, j], dtype=np.float64) for tree in self.trees_]
        return slope * float(self.base_scores_[i] - self.base_scores_[j]), values, "log odds"

    def _check_saved(self) -> None:
        self._check_trees(self.trees_, len(self.items_))
        check_shape(self.base_scores_, (len(self.items_),), "the scores of the items")
        slope = self.calibration_
        ensure(slope is None or (np.isfinite(slope) and slope > 0), "the calibration is not positive")


class _UnseenPairs:
    """The pairs of rankings that were not learned from, to be compared with scores."""

    def __init__(self, y: Rankings) -> None:
        n_pairs = y.n_items * (y.n_items - 1) // 2
        enough = min(len(y), max(_MOST_PAIRS // n_pairs, _FEWEST_ROWS))
        self._rows = np.unique(np.linspace(0, len(y) - 1, enough).astype(np.intp))
        self._truth = TargetRows(y.positions[self._rows], is_pairs=True).vectors(slice(None))
        self._weights = y.weights[self._rows]

    def slope_and_loss(self, scores: FloatArray) -> tuple[float, float]:
        """The likeliest slope of the log odds that scores of all rows give, and the loss with it."""
        shares = vectors_from_pairwise(_probabilities(scores[self._rows]))
        return slope_and_loss(shares, self._truth, self._weights) or (1.0, 0.0)


def _distinct(X: FloatArray, y: Rankings) -> tuple[FloatArray, Rankings]:
    """The rows in an order of their own; copies of a row are one row of more weight."""
    rows = np.column_stack([X, y.positions])
    rows[np.isnan(rows)] = np.finfo(np.float64).min  # equal to each other, unlike NaN
    _, first, number_of = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    return X[first], Rankings(y.positions[first], y.items, np.bincount(number_of, y.weights))


def _probabilities(scores: FloatArray) -> FloatArray:
    from scipy.special import expit

    return expit(scores[:, :, np.newaxis] - scores[:, np.newaxis])


def _places(scores: FloatArray) -> FloatArray:
    """Positions by decreasing scores, the Kemeny median of their pairs; of equal ones, the first column comes first."""
    return np.argsort(np.argsort(-scores, axis=1, kind="stable"), axis=1).astype(np.float64) + 1.0
