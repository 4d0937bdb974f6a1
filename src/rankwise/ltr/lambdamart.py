"""The estimator `LambdaMART`: boosted trees on lambda gradients, grown by LightGBM or level by level."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any, ClassVar, Literal, TypeVar

import numpy as np
from joblib import effective_n_jobs

from rankwise._features import FeatureEncoder
from rankwise._query_inputs import check_starts, columns_by_name, eval_sets, split_off_queries
from rankwise._sklearn import N_JOBS, BaseEstimator, Interval, StrOptions
from rankwise._state import COUNT, NUMBER, Saved, dict_of, ensure, instance, list_of
from rankwise._threads import usable_jobs
from rankwise._typing import ArrayLike, FloatArray, RandomState
from rankwise._validation import check_generator
from rankwise.ltr._listwise_losses import PLACE_WEIGHTS, PlaceWeights
from rankwise.ltr.base import METRIC_CONSTRAINTS, QueryRankerMixin, check_target, validation_rows
from rankwise.ltr.boosting import BoostingSettings, LightGBMTrees, monotone_signs
from rankwise.ltr.effects import ScoreExplanation, score_explanation
from rankwise.ltr.gradients import PairwiseLoss
from rankwise.ltr.level_trees import LevelTrees
from rankwise.ltr.losses import losses_of
from rankwise.ltr.objectives import CustomObjective, Objective, comparisons, custom, objective_of_rows, plain_gradient
from rankwise.ltr.watching import watching
from rankwise.queries import Gain, QueryRows, check_grades_differ

Self = TypeVar("Self", bound="LambdaMART")

# As many rankings as CatBoost draws for "yetirank"; and as benchmarks/ltr_defaults.py found best for level trees.
_YETIRANK_DRAWS, _LEVEL_DRAWS = 10, 2
# The bound that "lambdaloss" adds to the weights of pairs counts ten times, and so does what shrinks its leaves.
_LAMBDALOSS_L2 = 10.0
# Leaves of LightGBM's trees, by its default.
_NUM_LEAVES = 31


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
    num_leaves : int, optional
        Maximum number of leaves of a tree of LightGBM, by default 31; not for level trees.
    objective : str or callable, default="lambdarank"
        A loss of the table of losses (`rankwise.ltr.losses`). Weighted pairs: "lambdarank" weighs a pair by how much
        exchanging the two rows changes ``metric``, "lambdaloss" as NDCG-Loss2++ of the LambdaLoss framework, "yetirank"
        takes neighbors in noisy rankings, and "pairwise_logistic" weighs all pairs the same. Single rows:
        "pointwise_squared" fits the grade, "pointwise_logistic" the grade as a share of the highest grade; "query_rmse"
        and "query_cross_entropy" are the same after the shift of each query that fits best, so that only differences
        within queries count. Lists: "query_softmax" and those whose names begin with "listwise". ``truncation``,
        ``gap_norm`` and ``query_norm`` apply to all pairwise objectives; the RankNet of the literature is
        "pairwise_logistic" with ``truncation=None, gap_norm=False, query_norm=False``. A function is called with
        relevance, scores and queries (numbers from 0) of the training rows, which it gets query by query, and returns
        the gradient and the second derivative of a loss for each row.
    newton : bool, default=True
        Whether leaves are Newton steps. If False, trees are fitted to gradients alone (gradient boosting), in units of
        the mean second derivative.
    metric : {"ndcg", "dcg", "map", "mrr", "err", "precision", "recall", "hit_rate"}, default="ndcg"
        What "lambdarank" optimizes, and what `score` returns.
    k : int or None, default=10
        How many places count in `score`, in the metric that is watched, and in the pair weights of "lambdarank"; None
        is all (in training 10 for "precision", "recall" and "hit_rate"). Only the weights of "ndcg" count all places,
        as LightGBM's do, unless ``cut_off`` is True: there ``truncation`` says which pairs matter.
    gain : {"exp", "linear"}, sequence, mapping or callable, default="exp"
        What a grade is worth in (N)DCG in training: in pair weights, early stopping and ``history_``; see
        `rankwise.metrics.ndcg_score`.
    score_gain : {"exp", "linear"}, sequence, mapping or callable, default="linear"
        The same for `score`. The default is that of `rankwise.metrics.ndcg_score`, so that both say the same.
    tree : {"level", "leaf"}, default="level"
        "level": our own trees, in which every level has one split for all leaves, the one with the largest sum of gains
        (Level-Splits; oblivious or symmetric trees). They hold less, and overfit less. "leaf": LightGBM repeatedly
        splits the leaf that gains most; parameters that are None are then as in LightGBM's own lambdarank.
    truncation : int or None, default=30
        Pairs count in training if one of the two rows stands among this many first places.
    cut_off : bool, default=False
        Whether pair weights of "ndcg" are changes of NDCG at ``k`` instead of NDCG over all places.
    gap_norm : bool, optional
        Whether pairs are divided by the difference of their scores, as in LightGBM; by default with ``tree="leaf"``,
        except for "yetirank" and "lambdaloss", which are much worse with it.
    query_norm : bool, optional
        Whether queries are divided by the sum of their gradients, in part, as in LightGBM; by default with
        ``tree="leaf"``, except for "yetirank".
    n_draws : int, optional
        If positive, pair weights are means over this many rankings by scores with Gumbel noise; by default 10 for
        "yetirank", 2 for "lambdarank" and "lambdaloss", and 0 with ``tree="leaf"``.
    gumbel_scale : float, default=1.0
        Scale of that noise.
    decay : float, default=0.85
        What each place takes from the weights of "yetirank".
    place_weights : {"exp", "log", "reciprocal"}, array-like or callable, default="exp"
        What places count in "listwise_plistmle", as in `LinearRanker`.
    n_pairs : int, optional
        Draw this many partners for each row and tree instead of using all pairs; combine it with
        ``truncation=None``. For long queries.
    max_depth : int, optional
        Maximum number of levels of a tree; with ``tree="level"`` at most 12, and 4 by default.
    min_samples_leaf : int, optional
        Minimum number of rows of a leaf; by default 20, or a fifth of the rows if that is less. Not for level trees,
        whose leaves may be small; ``l2_regularization`` shrinks them.
    l2_regularization : float, optional
        Added to the second derivatives of a leaf; by default 1 (10 for "lambdaloss", whose weights are larger), and 0
        with ``tree="leaf"``.
    subsample, colsample : float, default=1.0
        Shares of rows and features that each tree sees.
    random_strength : float, optional
        How far chance decides which feature a level asks about: normal noise of this standard deviation is added to the
        root of what each feature scores, in units of the root of what a leaf scores by chance. It fades as trees are
        added. Trees then differ more from each other, and overfit less. By default 1 for "query_rmse" and 0 for other
        objectives; "lambdarank" gains nothing from it, as its weights are drawn. Only for level trees.
    sampling : {"rows", "queries", "minimal_variance"}, default="rows"
        What ``subsample`` draws for level trees: rows, whole queries, or rows with probabilities that grow with their
        gradients, which make the variance of leaves small. LightGBM's trees take rows.
    max_bins : int, default=255
        Maximum number of bins of a feature.
    categorical_features : array-like of int, str or bool, optional
        Columns that hold categories; by default those of a data frame that are categorical, text or Boolean.
        LightGBM's trees divide them in two sets; in level trees, a category stands for how relevant its rows are in
        other queries, see `rankwise.ltr.target_statistics`.
    monotone_constraints : array-like of shape (n_features,) or dict, optional
        1 where a score must not fall as the feature rises, -1 where it must not rise, 0 without constraint. A dict has
        the names, or numbers, of features as keys.
    early_stopping : bool, default=False
        Whether to stop when the metric on held-out queries no longer improves, and keep the best number of trees.
    n_iter_no_change : int, default=50
        Number of trees without improvement after which early stopping stops.
    eval_metric : str, callable or list of these, optional
        What early stopping and ``history_`` watch, e.g. "map@5", as `rankwise.metrics.ranking_scorer` takes it, or a
        function of relevance, scores and queries, higher is better; by default ``metric`` at ``k``, with ``gain``.
        Of several, early stopping watches the first.
    validation_fraction : float, default=0.1
        Share of the queries held out for early stopping if ``fit`` gets no ``eval_set``.
    warm_start : bool, default=False
        Whether another ``fit`` keeps the trees and adds those that ``n_estimators`` lacks. They are those of one long
        fit, except if LightGBM samples rows or features: it starts a new sequence of random numbers.
    n_jobs : int, optional
        Number of threads; the result does not depend on it.
    random_state : int, Generator, RandomState or None, default=None
        Source of the order of ties, noise, held-out queries and samples.

    Attributes
    ----------
    booster_ : LightGBMTrees or LevelTrees
        The trees; ``booster_.booster`` is the LightGBM booster of the former.
    n_estimators_ : int
        Number of trees that predict.
    history_ : dict
        "validation", or "training" if nothing is held out: the metric after each tree. Further sets are called
        "validation 2" and so on; with several metrics, names are as in "validation map@5". Empty if nothing is held out
        and the objective does not depend on the metric ("pairwise_logistic", "pointwise_squared",
        "pointwise_logistic"), unless ``eval_metric`` is set.
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
        "num_leaves": [None, Interval(Integral, 2, 131072, closed="both")],  # what LightGBM takes
        "objective": [StrOptions(set(losses_of("LambdaMART"))), callable],
        **METRIC_CONSTRAINTS,
        "tree": [StrOptions({"leaf", "level"})],
        "truncation": [None, Interval(Integral, 1, None, closed="left")],
        "cut_off": ["boolean"],
        "newton": ["boolean"],
        "gap_norm": [None, "boolean"],
        "query_norm": [None, "boolean"],
        "n_draws": [None, Interval(Integral, 0, None, closed="left")],
        "gumbel_scale": [Interval(Real, 0, None, closed="left")],
        "decay": [Interval(Real, 0, 1, closed="right")],
        "place_weights": PLACE_WEIGHTS,
        "n_pairs": [None, Interval(Integral, 1, None, closed="left")],
        "max_depth": [None, Interval(Integral, 1, None, closed="left")],
        "min_samples_leaf": [None, Interval(Integral, 1, None, closed="left")],
        "l2_regularization": [None, Interval(Real, 0, None, closed="left")],
        "subsample": [Interval(Real, 0, 1, closed="right")],
        "colsample": [Interval(Real, 0, 1, closed="right")],
        "random_strength": [None, Interval(Real, 0, None, closed="left")],
        "sampling": [StrOptions({"rows", "queries", "minimal_variance"})],
        "max_bins": [Interval(Integral, 2, 65535, closed="both")],
        "categorical_features": [None, "array-like"],
        "monotone_constraints": [None, "array-like", dict],
        "early_stopping": ["boolean"],
        "n_iter_no_change": [Interval(Integral, 1, None, closed="left")],
        "eval_metric": [None, str, callable, list],
        "validation_fraction": [Interval(Real, 0, 1, closed="neither")],
        "warm_start": ["boolean"],
        "n_jobs": N_JOBS,
        "random_state": ["random_state", np.random.Generator],
    }

    _keeps_sparse: ClassVar[bool] = True
    booster_: Any
    history_: dict[str, list[float]]
    _encoder: FeatureEncoder

    _saved: ClassVar[Saved] = {
        "_encoder": instance("FeatureEncoder"),
        "booster_": instance("LightGBMTrees", "LevelTrees"),
        "n_estimators_": COUNT,
        "history_": dict_of(list_of(NUMBER)),
    }

    def __init__(
        self,
        n_estimators: int = 300,
        learning_rate: float = 0.05,
        num_leaves: int | None = None,
        objective: str | CustomObjective = "lambdarank",
        metric: str = "ndcg",
        k: int | None = 10,
        gain: Gain = "exp",
        *,
        score_gain: Gain = "linear",
        tree: Literal["level", "leaf"] = "level",
        truncation: int | None = 30,
        cut_off: bool = False,
        gap_norm: bool | None = None,
        query_norm: bool | None = None,
        n_draws: int | None = None,
        gumbel_scale: float = 1.0,
        decay: float = 0.85,
        place_weights: PlaceWeights = "exp",
        newton: bool = True,
        n_pairs: int | None = None,
        max_depth: int | None = None,
        min_samples_leaf: int | None = None,
        l2_regularization: float | None = None,
        subsample: float = 1.0,
        colsample: float = 1.0,
        random_strength: float | None = None,
        sampling: Literal["rows", "queries", "minimal_variance"] = "rows",
        max_bins: int = 255,
        categorical_features: ArrayLike | None = None,
        monotone_constraints: ArrayLike | Mapping[Any, int] | None = None,
        early_stopping: bool = False,
        n_iter_no_change: int = 50,
        eval_metric: Any = None,
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
        self.k = k
        self.gain = gain
        self.score_gain = score_gain
        self.tree = tree
        self.truncation = truncation
        self.cut_off = cut_off
        self.gap_norm = gap_norm
        self.query_norm = query_norm
        self.n_draws = n_draws
        self.gumbel_scale = gumbel_scale
        self.decay = decay
        self.place_weights = place_weights
        self.newton = newton
        self.n_pairs = n_pairs
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.l2_regularization = l2_regularization
        self.subsample = subsample
        self.colsample = colsample
        self.random_strength = random_strength
        self.sampling = sampling
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.monotone_constraints = monotone_constraints
        self.early_stopping = early_stopping
        self.n_iter_no_change = n_iter_no_change
        self.eval_metric = eval_metric
        self.validation_fraction = validation_fraction
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(
        self: Self,
        X: ArrayLike,
        y: ArrayLike | None = None,
        qid: ArrayLike | str | None = None,
        sample_weight: ArrayLike | None = None,
        *,
        group: ArrayLike | None = None,
        pairs: ArrayLike | None = None,
        pair_weight: ArrayLike | None = None,
        init_score: ArrayLike | None = None,
        eval_set: Any = None,
        eval_qid: Any = None,
        eval_group: Any = None,
        eval_init_score: Any = None,
    ) -> Self:
        """Learn to rank.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_features)
            Features; NaN is missing. Sparse matrices stay sparse, however wide they are.
        y : array-like of shape (n_rows,)
            Relevance, higher is better, any finite numbers that ``gain`` takes. Not needed with ``pairs``.
        qid : array-like of shape (n_rows,) or str, optional
            The query of each row, of any type and in any order, or the column of a frame that has it; by default all
            rows are one query.
        sample_weight : array-like of shape (n_rows,), optional
            Weights of rows, relative to each other; a pair weighs the geometric mean of its rows.
        group : array-like of int, optional
            In place of ``qid``: how many rows each query has, one query after the other, as LightGBM takes it.
        pairs : array-like of shape (n_pairs, 2), optional
            Comparisons to learn from instead of y: row numbers, the preferred row first.
        pair_weight : array-like of shape (n_pairs,), optional
            How much each comparison counts, relative to the others; ``sample_weight`` is not for comparisons.
        init_score : array-like of shape (n_rows,), optional
            Scores of another ranker, to which the trees add. As in LightGBM, they are no part of what is learned:
            `predict` returns what the trees add, to be added to the scores of that ranker.
        eval_set : tuple (X, y, qid) or (X, y), or list of such tuples, optional
            Rows that ``history_`` watches, and early stopping the first of several; all queries count the same.
        eval_qid, eval_group : array-like, or list of array-like, optional
            The queries, or the sizes of queries, of sets (X, y); frames may have the column that ``qid`` names instead.
        eval_init_score : array-like, or list of array-like, optional
            Scores of the other ranker for these sets; needed with ``init_score``.

        Returns
        -------
        self
        """
        self._validate_params()
        self._refuse_what_has_no_effect()
        column = qid if isinstance(qid, str) else None
        watched = eval_sets(eval_set, eval_qid, eval_group, eval_init_score, column=column)
        check_starts(init_score, watched)
        X, qid = split_off_queries(X, qid, group)
        grades = check_target(self, y, required=pairs is None)
        rng = check_generator(self.random_state)
        seed = int(rng.integers(2**63))
        trees = LightGBMTrees() if self.tree == "leaf" else LevelTrees.empty(0, 0)
        history: dict[str, list[float]] = {}
        if self.warm_start and hasattr(self, "booster_"):
            if type(self.booster_) is not type(trees):
                raise ValueError(
                    f"tree is {self.tree!r}, but warm_start keeps trees of the other kind; fit again without it"
                )
            if self.n_estimators < len(self.booster_):
                raise ValueError(
                    f"n_estimators is {self.n_estimators}, but warm_start keeps the {len(self.booster_)} trees there "
                    "are; give more"
                )
            trees, history = self.booster_, self.history_
            features = self._encoded(X)
        else:
            self._encoder = FeatureEncoder(self.categorical_features)
            features = self._encoder.fit_transform(self, X)
        rows = QueryRows.build(
            features, grades, qid, sample_weight, pairs, pair_weight, init_score=init_score, seed=seed
        )
        self.n_queries_ = rows.n_queries
        rows, held_out = validation_rows(self, rows, watched, rng, self._encoded)
        rows = rows.with_relative_weights()
        objective, (first, stopping) = self._objective(rows), watching(self, rows, held_out, history)
        trees.fit(rows, objective, self._settings(seed), stopping)
        self.booster_ = trees
        self.n_estimators_ = len(trees)
        if self.early_stopping and stopping is not None and stopping.history:
            self.n_estimators_ = stopping.best
        self.history_ = {} if stopping is None else {first: stopping.history, **stopping.others}
        return self

    def predict(self, X: ArrayLike) -> FloatArray:
        """Scores of rows.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_features)
            Features.

        Returns
        -------
        ndarray of shape (n_rows,)
            Higher is better; only differences within a query mean something.
        """
        features = self._encoded(X)
        return self.booster_.predict(features, self.n_estimators_, effective_n_jobs(usable_jobs(self.n_jobs)))

    def explain(self, X: ArrayLike, i: int, j: int) -> ScoreExplanation:
        """Explain why row i ranks above row j, or below it: what each feature adds to the difference of their scores.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            Features, e.g. of the rows of one query.
        i, j : int
            Two of its rows.

        Returns
        -------
        ScoreExplanation
            Differences of Shapley values, exact for both kinds of trees: positive if the feature speaks for i. They
            add up to the difference of the scores of i and j. An unknown feature keeps both sides of its splits,
            weighted by their training rows.
        """
        features = self._encoded(X)[[i, j]]
        parts = self.booster_.contributions(features, self.n_estimators_, effective_n_jobs(usable_jobs(self.n_jobs)))
        scores = self.booster_.predict(features, self.n_estimators_, effective_n_jobs(usable_jobs(self.n_jobs)))
        return score_explanation(self, X, i, j, parts[0] - parts[1], scores)

    @property
    def feature_importances_(self) -> FloatArray:
        """Share of each feature in the gain of all splits."""
        gains = self.booster_.importances(self.n_estimators_, self.n_features_in_)
        return gains / gains.sum() if gains.sum() > 0 else gains

    def _encoded(self, X: ArrayLike) -> FloatArray:
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(self)
        return self._encoder.transform(self, columns_by_name(X, getattr(self, "feature_names_in_", None)))

    def _objective(self, rows: QueryRows) -> Objective:
        """Gradients and second derivatives of the loss on these rows."""
        if rows.pairs is not None:
            objective = comparisons(*rows.pairs)
        elif not isinstance(self.objective, str):
            objective = custom(self.objective, rows)
        elif self.objective in losses_of("LambdaMART", "pairwise"):
            objective = self._pairwise(rows)
        else:
            objective = objective_of_rows(self.objective, rows, self.gain, self.place_weights)
        return objective if self.newton else plain_gradient(objective, rows)

    def _pairwise(self, rows: QueryRows) -> Objective:
        """Derivatives of weighted pairs."""
        weight: Any = {"lambdarank": self.metric, "pairwise_logistic": "none"}.get(str(self.objective), self.objective)
        counts_k = self.objective == "lambdarank" and (self.cut_off or self.metric != "ndcg")
        is_yetirank, is_leaf = self.objective == "yetirank", self.tree == "leaf"
        by_place = self.objective in ("lambdarank", "lambdaloss")
        draws = _YETIRANK_DRAWS if is_yetirank else _LEVEL_DRAWS if by_place and not is_leaf else 0
        by_gap = is_leaf and self.objective not in ("yetirank", "lambdaloss")
        by_query = is_leaf and not is_yetirank
        loss = PairwiseLoss.build(
            rows.grade,
            rows.bounds,
            rows.weight,
            weight=weight,
            k=self.k if counts_k else None,
            truncation=self.truncation,
            gain=self.gain,
            ties="random",
            gap_norm=by_gap if self.gap_norm is None else self.gap_norm,
            query_norm=by_query if self.query_norm is None else self.query_norm,
            n_draws=draws if self.n_draws is None else self.n_draws,
            gumbel_scale=self.gumbel_scale,
            n_pairs=self.n_pairs,
            decay=self.decay,
        )
        check_grades_differ(np.where(rows.weight > 0, loss.rows.level, np.nan), rows.bounds)
        return loss

    def _refuse_what_has_no_effect(self) -> None:
        """Refuse parameters that the chosen trees do not look at."""
        for name in ("num_leaves", "min_samples_leaf") if self.tree == "level" else ():
            if getattr(self, name) is not None:
                cure = {"num_leaves": "max_depth", "min_samples_leaf": "l2_regularization"}[name]
                raise ValueError(
                    f"{name} is {getattr(self, name)}, but level trees have no such limit; set {cure}, or tree='leaf'"
                )
        if self.tree == "leaf" and self.random_strength:
            raise ValueError(
                f"random_strength is {self.random_strength}, but LightGBM's trees take the best split; set "
                "colsample, or tree='level'"
            )

    def _settings(self, seed: int) -> BoostingSettings:
        # benchmarks/ltr_defaults.py --group chance: it helps this loss, but not lambdarank with draws.
        strength = 1.0 if self.objective == "query_rmse" and self.tree == "level" else 0.0
        l2 = self.l2_regularization
        if l2 is None and self.objective == "lambdaloss" and self.tree == "level":
            l2 = _LAMBDALOSS_L2
        return BoostingSettings(
            n_trees=self.n_estimators,
            learning_rate=self.learning_rate,
            num_leaves=_NUM_LEAVES if self.num_leaves is None else self.num_leaves,
            max_depth=self.max_depth,
            min_samples_leaf=self.min_samples_leaf,
            l2_regularization=l2,
            subsample=self.subsample,
            random_strength=strength if self.random_strength is None else self.random_strength,
            sampling=self.sampling,
            colsample=self.colsample,
            max_bins=self.max_bins,
            is_categorical=self._encoder.is_categorical,
            monotone_signs=monotone_signs(
                self.monotone_constraints, self._encoder.is_categorical, getattr(self, "feature_names_in_", None)
            ),
            n_threads=effective_n_jobs(usable_jobs(self.n_jobs)),
            seed=seed,
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        return tags

    def _check_saved(self) -> None:
        ensure(len(self._encoder.categories_) == self.n_features_in_, "categories and features differ")
        self.booster_.check_features(self.n_features_in_)
        ensure(self.n_estimators_ <= len(self.booster_), "there are fewer trees than should be used")
