"""LambdaMART: boosted trees on lambda gradients, grown by LightGBM or level by level."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, Literal, TypeVar

import numpy as np

from rankwise._features import FeatureEncoder
from rankwise._random import check_generator
from rankwise._sklearn import BaseEstimator, Interval, StrOptions
from rankwise._state import COUNT, NUMBER, Saved, dict_of, ensure, instance, list_of
from rankwise._typing import ArrayLike, BoolArray, FloatArray, RandomState
from rankwise.ltr.base import METRIC_CONSTRAINTS, QueryRankerMixin, QueryRows, check_target, eval_rows
from rankwise.ltr.boosting import PAIRWISE, POINTWISE, Objective, boost, make_objective, ndcg_of
from rankwise.ltr.level_trees import LevelSettings, LevelTrees, boost_levels
from rankwise.metrics.judged import Gain

Self = TypeVar("Self", bound="LambdaMART")


class LambdaMART(QueryRankerMixin, BaseEstimator):
    r"""Boosted trees that rank the rows of each query.

    *Definition.* Newton boosting: each tree is fitted to the gradient :math:`\lambda` and the second derivative
    :math:`\rho` of a weighted pairwise logistic loss at the scores so far (see `lambda_gradients`), and its leaves add
    :math:`-\sum \lambda / (\sum \rho + l_2)`, times the learning rate, to the scores of their rows.

    Parameters
    ----------
    n_estimators : int, default=300
        Number of trees.
    learning_rate : float, default=0.05
        Share of the Newton step that each tree takes.
    num_leaves : int, default=31
        Most leaves of a tree of LightGBM.
    objective : {"lambdarank", "ranknet", "lambdaloss", "regression", "classification"}, default="lambdarank"
        What pairs weigh: the change of ``metric`` when the two are exchanged; all the same; the bound on NDCG of the
        LambdaLoss framework. Or what each row is fitted to: its grade by squared error, or its share of the highest
        grade by logistic loss. ``truncation`` and ``normalize`` hold for all that weigh pairs; the RankNet of the
        literature is "ranknet" with ``truncation=None, normalize=False``.
    metric : {"ndcg", "dcg", "map", "mrr", "err", "precision", "recall", "hit_rate"}, default="ndcg"
        What "lambdarank" works for, and what `score` says.
    at : int or None, default=10
        How many places count in `score`, in what is watched, and in the pair weights of "lambdarank"; None is all
        (in training 10 for "precision", "recall" and "hit_rate"). The weights of "ndcg" alone count all places, as
        LightGBM's do, unless ``cut_off``: there ``truncation`` says which pairs matter.
    gain : {"exp", "linear"}, sequence, mapping or callable, default="exp"
        What a grade is worth in (N)DCG, see `rankwise.metrics.ndcg_score`.
    tree : {"leaf", "level"}, default="leaf"
        "leaf": LightGBM splits the leaf that gains most, again and again. "level": our own trees, of which every level
        has one split for all leaves, the one with the largest sum of gains (Level-Splits; oblivious or symmetric
        trees). They hold less, and overfit less.
    truncation : int or None, default=30
        Pairs count in training where one of the two stands among this many first places.
    cut_off : bool, default=False
        Whether pair weights of "ndcg" are changes of NDCG at ``at``, and not of NDCG over all places.
    normalize : bool, default=True
        Whether pairs are divided by the gap of their scores and queries by their total push, as LightGBM does.
    n_draws : int, default=0
        If positive, pair weights are means over this many rankings by scores with Gumbel noise.
    noise : float, default=1.0
        Scale of that noise.
    n_pairs : int, optional
        Draw this many partners for each row, anew for each tree, in place of all pairs; give ``truncation=None`` with
        it. For long queries.
    max_depth : int, optional
        Most levels of a tree; at most 12, and by default 4, where ``tree="level"``.
    min_samples_leaf : int, optional
        Fewest rows of a leaf; by default 20, or a fifth of the rows where that is less. Leaves of level trees may be
        small; ``l2`` shrinks what they say.
    l2 : float, optional
        Added to the second derivatives of a leaf; by default 0, and 1 where ``tree="level"``.
    subsample, colsample : float, default=1.0
        Shares of rows and features that each tree sees.
    max_bins : int, default=255
        Most values that a feature is cut into; more than 255 only where ``tree="leaf"``.
    categorical_features : array-like of int, str or bool, optional
        Columns that hold categories; by default those of a data frame that are categorical, text or Boolean.
        Level trees refuse them.
    monotone_constraints : array-like of shape (n_features,), optional
        1 where a score must not fall as the feature rises, -1 where it must not rise, 0 where it may do as it likes.
        Not for level trees.
    early_stopping : int, optional
        Stop when the metric on held-out queries has not improved for this many trees, and keep the best number.
    eval_metric : str, optional
        What early stopping and ``history_`` watch, e.g. "map@5", as `rankwise.metrics.ranking_scorer` takes it; by
        default ``metric`` at ``at``.
    validation_fraction : float, default=0.1
        Share of the queries held out for that, where ``fit`` gets no ``eval_set``.
    warm_start : bool, default=False
        Whether another ``fit`` keeps the trees and adds those that ``n_estimators`` lacks. They are those of one long
        fit, except where LightGBM samples rows or features: it begins to draw anew.
    n_jobs : int, optional
        Threads; the result does not depend on them.
    random_state : int, Generator, RandomState or None, default=None
        Where ties, noise, held-out queries and samples come from.

    Attributes
    ----------
    booster_ : lightgbm.Booster or LevelTrees
        The trees.
    n_estimators_ : int
        Number of trees that predict.
    history_ : dict
        "validation", or "training" where nothing is held out: the metric after each tree. Empty where nothing is held
        out and the objective is none of the metric's ("ranknet", "regression", "classification"), unless
        ``eval_metric`` asks.
    feature_importances_ : ndarray of shape (n_features,)
        Share of each feature in the gain of all splits.
    n_queries_ : int
        Number of queries in training.

    Notes
    -----
    Neither the order of rows nor the names of queries change the result, not by a bit.

    References
    ----------
    Wu, Burges, Svore and Gao (2010), Adapting boosting for information retrieval measures. Burges (2010), From RankNet
    to LambdaRank to LambdaMART. Prokhorenkova et al. (2018), CatBoost: unbiased boosting with categorical features, for
    boosting with level trees.

    Examples
    --------
    >>> from rankwise.datasets import make_retrieval
    >>> from rankwise.ltr import LambdaMART
    >>> X, y, qid, _ = make_retrieval(60, random_state=0)
    >>> ranker = LambdaMART(20, random_state=0).fit(X, y, qid=qid)
    >>> ranker.rank(X[:5], qid[:5])
    array([...])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_estimators": [Interval(Integral, 1, None, closed="left")],
        "learning_rate": [Interval(Real, 0, None, closed="neither")],
        "num_leaves": [Interval(Integral, 2, 131072, closed="both")],  # what LightGBM takes
        "objective": [StrOptions({*PAIRWISE, *POINTWISE})],
        **METRIC_CONSTRAINTS,
        "tree": [StrOptions({"leaf", "level"})],
        "truncation": [None, Interval(Integral, 1, None, closed="left")],
        "cut_off": ["boolean"],
        "normalize": ["boolean"],
        "n_draws": [Interval(Integral, 0, None, closed="left")],
        "noise": [Interval(Real, 0, None, closed="left")],
        "n_pairs": [None, Interval(Integral, 1, None, closed="left")],
        "max_depth": [None, Interval(Integral, 1, None, closed="left")],
        "min_samples_leaf": [None, Interval(Integral, 1, None, closed="left")],
        "l2": [None, Interval(Real, 0, None, closed="left")],
        "subsample": [Interval(Real, 0, 1, closed="right")],
        "colsample": [Interval(Real, 0, 1, closed="right")],
        "max_bins": [Interval(Integral, 2, 65535, closed="both")],
        "categorical_features": [None, "array-like"],
        "monotone_constraints": [None, "array-like"],
        "early_stopping": [None, Interval(Integral, 1, None, closed="left")],
        "eval_metric": [None, str],
        "validation_fraction": [Interval(Real, 0, 1, closed="neither")],
        "warm_start": ["boolean"],
        "n_jobs": [None, Integral],
        "random_state": ["random_state", np.random.Generator],
    }

    booster_: Any
    history_: dict[str, list[float]]
    _encoder: FeatureEncoder

    _saved: ClassVar[Saved] = {
        "_encoder": instance("FeatureEncoder"),
        "booster_": instance("Booster", "LevelTrees"),
        "n_estimators_": COUNT,
        "history_": dict_of(list_of(NUMBER)),
    }

    def __init__(
        self,
        n_estimators: int = 300,
        learning_rate: float = 0.05,
        num_leaves: int = 31,
        objective: Literal["lambdarank", "ranknet", "lambdaloss", "regression", "classification"] = "lambdarank",
        metric: str = "ndcg",
        at: int | None = 10,
        gain: Gain = "exp",
        *,
        tree: Literal["leaf", "level"] = "leaf",
        truncation: int | None = 30,
        cut_off: bool = False,
        normalize: bool = True,
        n_draws: int = 0,
        noise: float = 1.0,
        n_pairs: int | None = None,
        max_depth: int | None = None,
        min_samples_leaf: int | None = None,
        l2: float | None = None,
        subsample: float = 1.0,
        colsample: float = 1.0,
        max_bins: int = 255,
        categorical_features: ArrayLike | None = None,
        monotone_constraints: ArrayLike | None = None,
        early_stopping: int | None = None,
        eval_metric: str | None = None,
        validation_fraction: float = 0.1,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: RandomState = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.num_leaves = num_leaves
        self.objective = objective
        self.metric = metric
        self.at = at
        self.gain = gain
        self.tree = tree
        self.truncation = truncation
        self.cut_off = cut_off
        self.normalize = normalize
        self.n_draws = n_draws
        self.noise = noise
        self.n_pairs = n_pairs
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.l2 = l2
        self.subsample = subsample
        self.colsample = colsample
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.monotone_constraints = monotone_constraints
        self.early_stopping = early_stopping
        self.eval_metric = eval_metric
        self.validation_fraction = validation_fraction
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(
        self: Self,
        X: ArrayLike,
        y: ArrayLike | None = None,
        qid: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        *,
        pairs: ArrayLike | None = None,
        pair_weight: ArrayLike | None = None,
        eval_set: tuple[ArrayLike, ArrayLike, ArrayLike] | None = None,
    ) -> Self:
        """Learn to rank.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            Features; NaN is missing.
        y : array-like of shape (n_rows,)
            Relevance, higher is better, any finite numbers that ``gain`` takes. Not needed with ``pairs``.
        qid : array-like of shape (n_rows,), optional
            The query of each row, of any type and in any order; by default all rows are one query.
        sample_weight : array-like of shape (n_rows,), optional
            Weights of rows, relative to each other; a pair weighs the geometric mean of its rows.
        pairs : array-like of shape (n_pairs, 2), optional
            Comparisons to learn from in place of y: row numbers, the preferred row first.
        pair_weight : array-like of shape (n_pairs,), optional
            How much each comparison counts, relative to the others; ``sample_weight`` is not for comparisons.
        eval_set : (X, y, qid), optional
            Rows that early stopping and ``history_`` watch, each query as much as the other.

        Returns
        -------
        self
        """
        self._validate_params()
        grades = check_target(self, y, required=pairs is None)
        rng = check_generator(self.random_state)
        seed = int(rng.integers(2**63))
        before = self._trees_before()
        self._encoder = self._encoder if before else FeatureEncoder(self.categorical_features)
        features = self._encoder.transform(self, X) if before else self._encoder.fit_transform(self, X)
        rows = QueryRows.build(features, grades, qid, sample_weight, pairs, pair_weight, seed=seed)
        self.n_queries_ = rows.n_queries
        rows, held_out = self._held_out(rows, eval_set, rng)
        rows = rows.with_relative_weights()
        objective = self._objective(rows)
        watched = held_out if held_out is not None or not self._watches_training(rows) else rows
        history = list(next(iter(self.history_.values()), [])) if before else []
        options = {"evaluate": None if watched is None else self._evaluator(watched), "n_trees": self.n_estimators}
        options |= {"patience": self.early_stopping, "seed": seed, "before": before, "history": history}
        self.booster_, self.n_estimators_, history = self._boosted(rows, held_out, objective, options)
        self.history_ = {} if watched is None else {"training" if held_out is None else "validation": history}
        return self

    def predict(self, X: ArrayLike) -> FloatArray:
        """Scores of rows.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            Features.

        Returns
        -------
        ndarray of shape (n_rows,)
            Higher is better; only differences within a query mean something.
        """
        features = self._encoded(X)
        if self._has_levels:
            score = np.zeros(len(features))
            self.booster_[: self.n_estimators_].add_to(score, np.ascontiguousarray(features.T))
            return score
        return self._booster_output(features)

    def explain(self, X: ArrayLike, i: int, j: int) -> FloatArray:
        """Why row i stands above row j, or below it: what each feature adds to the difference of their scores.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            Features, e.g. of the rows of one query.
        i, j : int
            Two of its rows.

        Returns
        -------
        ndarray of shape (n_features,)
            Differences of Shapley values, exact for both kinds of trees: positive where the feature speaks for i. They
            add up to the difference of the scores of i and j. A feature taken away leaves both sides of its splits,
            weighed by their training rows.
        """
        features = self._encoded(X)[[i, j]]
        if self._has_levels:
            parts = self.booster_[: self.n_estimators_].contributions(np.ascontiguousarray(features.T))
        else:
            parts = self._booster_output(features, pred_contrib=True)[:, :-1]
        return np.asarray(parts[0] - parts[1])

    @property
    def feature_importances_(self) -> FloatArray:
        """Share of each feature in the gain of all splits."""
        if self._has_levels:
            gains = self.booster_[: self.n_estimators_].importances(self.n_features_in_)
        else:
            gains = np.asarray(self.booster_.feature_importance("gain", iteration=self.n_estimators_), dtype=np.float64)
        return gains / gains.sum() if gains.sum() > 0 else gains

    def _encoded(self, X: ArrayLike) -> FloatArray:
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(self)
        return self._encoder.transform(self, X)

    @property
    def _has_levels(self) -> bool:
        return isinstance(self.booster_, LevelTrees)

    def _trees_before(self) -> Any:
        """The trees that a warm start keeps."""
        if not self.warm_start or not hasattr(self, "booster_"):
            return None
        if self._has_levels != (self.tree == "level"):
            raise ValueError(
                f"tree is {self.tree!r}, but warm_start keeps trees of the other kind; fit anew without it"
            )
        return self.booster_

    def _objective(self, rows: QueryRows) -> Objective:
        return make_objective(
            self.objective,
            rows,
            self.metric,
            k=self.at if self.objective == "lambdarank" and (self.cut_off or self.metric != "ndcg") else None,
            gain=self.gain,
            truncation=self.truncation,
            gap_norm=self.normalize,
            query_norm=self.normalize,
            n_draws=self.n_draws,
            noise=self.noise,
            n_pairs=self.n_pairs,
        )

    def _boosted(self, rows: QueryRows, held_out: QueryRows | None, objective: Objective, options: Any) -> Any:
        is_categorical = self._encoder.is_categorical
        if self.tree == "level":
            return boost_levels(rows, held_out, objective, settings=level_settings(self, is_categorical), **options)
        settings, categorical = (
            leaf_settings(self, options["seed"], len(rows.grade)),
            np.flatnonzero(is_categorical).tolist(),
        )
        return boost(rows, held_out, objective, settings=settings, categorical=categorical, **options)

    def _booster_output(self, features: FloatArray, **options: Any) -> FloatArray:
        return np.asarray(
            self.booster_.predict(features, num_iteration=self.n_estimators_, num_threads=n_threads(self), **options)
        )

    def _held_out(self, rows: QueryRows, eval_set: Any, rng: np.random.Generator) -> tuple[QueryRows, QueryRows | None]:
        if eval_set is not None:
            return rows, eval_rows(self, eval_set, lambda X: self._encoder.transform(self, X))
        if self.early_stopping is None:
            return rows, None
        if rows.pairs is not None:
            raise ValueError("comparisons cannot be split by query; give eval_set=(X, y, qid) for early stopping")
        return rows.split(self.validation_fraction, rng)

    def _watches_training(self, rows: QueryRows) -> bool:
        """Whether there are grades, and a metric that training works for or that was asked for."""
        of_metric = self.objective in ("lambdarank", "lambdaloss")
        return rows.pairs is None and (of_metric or self.eval_metric is not None)

    def _evaluator(self, rows: QueryRows) -> Any:
        if self.eval_metric is None and self.metric == "ndcg":
            return ndcg_of(rows, self.at, self.gain)
        query, metric = rows.query, self._metric_function(self.eval_metric)

        def evaluate(score: FloatArray) -> float:
            return float(metric(rows.grade, score, query))

        return evaluate

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def _check_saved(self) -> None:
        n = self.n_features_in_
        ensure(len(self._encoder.categories_) == n, "categories and features differ")
        if isinstance(self.booster_, LevelTrees):
            ensure(self.booster_.feature.max(initial=-1) < n, "a tree asks for a feature that is not there")
            n_trees = len(self.booster_)
        else:
            ensure(self.booster_.num_feature() == n, "the booster has other features")
            n_trees = self.booster_.num_trees()
        ensure(self.n_estimators_ <= n_trees, "there are fewer trees than should be used")


# What the parameters of LambdaMART mean to the two kinds of trees; what a kind cannot do is refused here.


# Chosen by cross-validation on data of make_retrieval, see docs/learning-to-rank.md.
_LEVELS, _L2_OF_LEVELS = 4, 1.0
# Fewest rows of a leaf where there are many; and the share of the rows where there are few.
_LEAF_ROWS, _LEAF_SHARE = 20, 5
# What LightGBM puts into a bin at least, which would hide what few rows tell.
_BIN_ROWS = 3
# 4096 leaves.
_MOST_LEVELS = 12


def level_settings(ranker: Any, is_categorical: BoolArray) -> LevelSettings:
    """Settings of level trees."""
    depth = _LEVELS if ranker.max_depth is None else ranker.max_depth
    if depth > _MOST_LEVELS:
        raise ValueError(f"max_depth is {depth}, but a level tree has 2**max_depth leaves; give at most {_MOST_LEVELS}")
    if ranker.max_bins > 255:
        raise ValueError(f"max_bins is {ranker.max_bins}, but level trees take at most 255")
    if ranker.monotone_constraints is not None:
        raise ValueError("monotone_constraints are for tree='leaf'; a level tree cannot keep them leaf by leaf")
    if is_categorical.any():
        raise ValueError(
            f"column {int(np.argmax(is_categorical))} of X holds categories, which have no order that a level could "
            "cut; encode them as numbers, e.g. with sklearn.preprocessing.TargetEncoder, or use tree='leaf'"
        )
    return LevelSettings(
        depth=depth,
        learning_rate=ranker.learning_rate,
        l2=_L2_OF_LEVELS if ranker.l2 is None else ranker.l2,
        subsample=ranker.subsample,
        colsample=ranker.colsample,
        max_bins=ranker.max_bins,
        n_threads=n_threads(ranker),
    )


def leaf_settings(ranker: Any, seed: int, n_rows: int) -> dict[str, Any]:
    """Parameters of LightGBM."""
    leaf_rows = max(1, min(_LEAF_ROWS, n_rows // _LEAF_SHARE))
    settings: dict[str, Any] = {
        "learning_rate": ranker.learning_rate,
        "num_leaves": ranker.num_leaves,
        "max_depth": -1 if ranker.max_depth is None else ranker.max_depth,
        "min_data_in_leaf": leaf_rows if ranker.min_samples_leaf is None else ranker.min_samples_leaf,
        "lambda_l2": ranker.l2 or 0.0,
        "bagging_fraction": ranker.subsample,
        "bagging_freq": int(ranker.subsample < 1),
        "feature_fraction": ranker.colsample,
        "max_bin": ranker.max_bins,
        "num_threads": n_threads(ranker),
        "seed": seed % 2**31,
    }
    if leaf_rows < _BIN_ROWS:
        settings["min_data_in_bin"] = leaf_rows
    if ranker.monotone_constraints is not None:
        signs = np.asarray(ranker.monotone_constraints)
        if signs.shape != (ranker.n_features_in_,) or not np.isin(signs, (-1, 0, 1)).all():
            raise ValueError(f"monotone_constraints must be {ranker.n_features_in_} numbers, each -1, 0 or 1")
        settings["monotone_constraints"] = signs.astype(int).tolist()
    return settings


def n_threads(ranker: Any) -> int:
    """How many threads ``n_jobs`` asks for."""
    from joblib import effective_n_jobs

    return int(effective_n_jobs(ranker.n_jobs))
