"""Forests of consensus ranking trees: the trees' pairwise shares are pooled, and decoded once."""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from math import ceil
from numbers import Integral
from typing import Any, ClassVar, Literal

import numpy as np

from rankwise._decode import Decoder
from rankwise._progress import track
from rankwise._sklearn import BaseEstimator, StrOptions
from rankwise._state import INTS, MATRIX, NUMBER, STRING, Saved, check_shape, ensure, maybe, optional
from rankwise._typing import BoolArray, FloatArray, IntArray, RandomState
from rankwise._validation import check_generator
from rankwise.data import Rankings, midranks
from rankwise.embeddings import KemenyEmbedding, PositionEmbedding, decode_pairwise, pairwise_from_vectors
from rankwise.label_ranking._calibration import calibrated, rows_to_calibrate, slope_of_more_votes
from rankwise.label_ranking.base import (
    DECODE_CONSTRAINTS,
    EMBEDDING_CONSTRAINTS,
    Embedding,
    row_blocks,
    sure_gain,
    unfitted_embedding,
)
from rankwise.label_ranking.tree_answers import TreeAnswersMixin
from rankwise.label_ranking.warm_start import WarmStartMixin, with_targets_of
from rankwise.metrics import kendall_tau_score
from rankwise.trees.base import ForestMixin
from rankwise.trees.engine import (
    FOREST_CONSTRAINTS,
    MOST_BINS,
    MOST_CODES,
    GrowthRule,
    LeafRows,
    Sampling,
    TargetRows,
    TrainingSet,
    Tree,
    grow_trees,
    mean_prediction,
    out_of_bag_prediction,
)

# Weight for a pair of all trees together that look at other items or pairs, where those that look at it have weight 1:
# little, but it breaks ties between few trees.
_OTHER_TREES = 0.1

# The forest by items that "auto" tries has at most this many times the trees that were asked for; rows that judge.
_MOST_TIMES = 40
_MOST_JUDGED = 2_000


class RankingForest(ForestMixin, WarmStartMixin, TreeAnswersMixin, BaseEstimator):
    """Forest of consensus ranking trees.

    The pairwise shares of the leaves that a row falls into are averaged over the trees, and the Kemeny median of the
    mean is predicted: an estimate of the conditional Kemeny median itself.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of trees.
    embedding : {"kemeny", "position"} or an embedding, default="kemeny"
        The vectors that splits are chosen by: all pairs of the rankings, the places of all items, or those of another
        embedding, see `RankingTree`. With random thresholds (and neither a focus nor a sketch) pairs are first added up
        for each item: how many others it beats, with 1/2 for those that it is tied or not compared with.
    decode : {"kemeny", "borda", "copeland", "copeland-or-borda"}, default="kemeny"
        How the mean shares become a ranking, see `decode_pairwise`.
    focus : {None, "item", "pair", "auto"}, default=None
        What each tree looks at. None is the whole embedding. With "item" every tree chooses its splits by the place of
        one item, in turn, with "pair" by one pair (whatever the embedding), and counts mainly for its own pairs: better
        where items depend on different features. Then grow a multiple of the number of items or pairs. "auto" grows
        three forests: as specified without a focus; the same with leaves of three times as many rows; and by items, 12
        trees of 100 asked for to each (6 if there are many items), with ``splitter="best"`` and half of the features
        unless ``max_features`` is given. It keeps the first one unless another one, or the mean of one of the first two
        and the last, ranks better out of bag by more than a standard error. That takes two to five times as long.
    pool : {"pairwise", "rankings"}, default="pairwise"
        Average the trees' pairwise shares, or the rankings that these decode to (bagging as the paper describes it: the
        Kemeny aggregate of the trees' predictions).
    splitter : {"best", "random"}, default="random"
        "random" draws one threshold per feature (extremely randomized trees), which ranks better on most data; "best"
        tries all, as random forests do (then draw features: ``max_features=0.5``).
    max_features : default=None
        Features drawn per cell: a number, a share, "sqrt", "log2", or None for all.
    max_bins : int, None or "auto", default="auto"
        Values of a feature that are kept apart, see `LeastSquaresTree`; "auto" is 65,535 for random thresholds, where
        that costs nothing, and 255 for the best ones.
    bootstrap : bool, default=True
        Draw the rows of a tree with replacement; otherwise without, ``max_samples`` of them.
    max_samples : int or float, optional
        Rows to draw for each tree, or their share; by default as many as there are.
    calibrate : "auto" or bool, default="auto"
        Whether to turn the mean shares into probabilities that come true as often as they say: the log odds of all
        pairs are multiplied by one number, ``calibration_``, the likeliest one on rows that trees have not seen. What
        is likelier stays so. "auto" does so if there are such rows: with ``bootstrap``, or ``max_samples`` below 1.
    oob_score : bool, default=False
        Whether to compute ``oob_score_``: Kendall tau of the rankings predicted by trees that have not seen a row.
    warm_start : bool, default=False
        Whether another ``fit`` on the same rows keeps the trees and adds those that ``n_estimators`` lacks. With a
        number as ``random_state`` the forest is that of one fit, bit by bit; otherwise the new trees are drawn anew.
    n_jobs : int, optional
        Threads; the forest is the same for every number.
    growth, honest, max_depth, min_samples_split, min_samples_leaf, max_leaf_nodes, growth_order, \
min_impurity_decrease, sketch, categorical_features, random_state
        See `LeastSquaresTree`.

    Attributes
    ----------
    trees_ : list of Tree
        The trees; ``values`` of each are the shares of i before j in its leaves, pairs in the order of
        ``np.triu_indices``.
    focus_ : {None, "item", "pair", "blend"}
        What the trees look at: ``focus``, or what "auto" has found best; "blend" is the mean of two forests.
    oob_score_ : float
        Mean Kendall tau out of bag; with ``oob_score`` or ``focus="auto"``, where it is the best of five on up to
        2,000 rows, and so a little optimistic.
    calibration_ : float or None
        By how much log odds are multiplied: more than 1 where the trees together are too careful, as on clean data, and
        less than 1 where they are too sure. None where the shares are taken as they are.
    feature_importances_ : ndarray of shape (n_features,)
        Mean share of each feature in the decrease of the squared error by which splits are chosen.
    items_ : tuple
        Names of the items.

    References
    ----------
    Clémençon, Korba, Sibony (2018), Ranking median regression: learning to order through local consensus. Geurts,
    Ernst, Wehenkel (2006), Extremely randomized trees.

    Examples
    --------
    >>> from rankwise.label_ranking import RankingForest
    >>> X, y = [[1], [2], [8], [9]], [[1, 2, 3], [1, 2, 3], [3, 2, 1], [3, 2, 1]]
    >>> RankingForest(20, random_state=0).fit(X, y).predict([[0], [10]])
    array([[1., 2., 3.],
           [3., 2., 1.]])
    """

    trees_: list[Tree]
    focus_: str | None
    oob_score_: float
    calibration_: float | None
    _tree_weights: FloatArray | None
    _seeds: IntArray
    _sampling: Sampling | None

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **FOREST_CONSTRAINTS,
        "embedding": EMBEDDING_CONSTRAINTS,
        "decode": DECODE_CONSTRAINTS,
        "focus": [StrOptions({"item", "pair", "auto"}), None],
        "pool": [StrOptions({"pairwise", "rankings"})],
        "max_bins": [*FOREST_CONSTRAINTS["max_bins"], StrOptions({"auto"})],
        "calibrate": ["boolean", StrOptions({"auto"})],
        "warm_start": ["boolean"],
    }

    _saved: ClassVar[Saved] = {
        "_tree_weights": maybe(MATRIX),
        "focus_": optional(maybe(STRING)),
        "calibration_": optional(maybe(NUMBER)),
        "_seeds": optional(INTS),
    }

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        embedding: Literal["kemeny", "position"] | Embedding = "kemeny",
        decode: Decoder = "kemeny",
        focus: Literal["item", "pair", "auto"] | None = None,
        pool: Literal["pairwise", "rankings"] = "pairwise",
        growth: Literal["best", "level"] = "best",
        honest: bool | Literal["paper"] = False,
        splitter: Literal["best", "random"] = "random",
        max_depth: int | None = None,
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        max_features: int | float | str | None = None,
        max_leaf_nodes: int | None = None,
        growth_order: Literal["best-first", "breadth-first"] = "best-first",
        min_impurity_decrease: float = 0.0,
        max_bins: int | Literal["auto"] | None = "auto",
        sketch: int | None = None,
        bootstrap: bool = True,
        max_samples: int | float | None = None,
        calibrate: bool | Literal["auto"] = "auto",
        oob_score: bool = False,
        warm_start: bool = False,
        categorical_features: Any = None,
        n_jobs: int | None = None,
        random_state: RandomState = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.embedding = embedding
        self.decode = decode
        self.focus = focus
        self.pool = pool
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
        self.max_bins = max_bins
        self.sketch = sketch
        self.bootstrap = bootstrap
        self.max_samples = max_samples
        self.calibrate = calibrate
        self.oob_score = oob_score
        self.warm_start = warm_start
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _fit_rankings(self, X: FloatArray, y: Rankings) -> None:
        sampling = self._grow(X, y) if self.focus != "auto" else self._choose(X, y)
        if hasattr(self, "_sampling"):
            self._sampling = sampling

    def _choose(self, X: FloatArray, y: Rankings) -> Sampling:
        """Grow several forests, and become the best one or the mean of two."""
        if self.warm_start:
            raise ValueError(
                "focus is 'auto', which chooses between whole forests, so that warm_start has nothing to add to; set "
                "focus to None, 'item' or 'pair'"
            )
        # Refuses to show all rows to every tree.
        Sampling.build(len(X), 1, self.bootstrap, self.max_samples, np.random.default_rng(0), leave_out=True)
        rows = np.unique(np.linspace(0, len(X) - 1, min(len(X), _MOST_JUDGED)).astype(np.intp))
        forests, samplings, shares = [], [], []
        trials = self._trials(y.n_items)
        for settings in track(trials, "Growing forests", len(trials)):
            forest = copy(self).set_params(**settings, oob_score=False, calibrate=False)
            sampling = forest._grow(X, y)
            shares.append(out_of_bag_prediction(forest.trees_, X, sampling, rows, forest._tree_weights))
            forests.append(forest)
            samplings.append(sampling)
        # Each forest, and the mean of one without a focus and the one by items, which comes last.
        weights, chosen, tau = y.weights[rows], [0], self._tau_of(shares[0], y[rows])
        first, most = tau, 0.0
        for mixed in ([1], [2], [0, 2], [1, 2]):
            if max(mixed) < len(forests):
                own = self._tau_of(np.mean([shares[number] for number in mixed], axis=0), y[rows])
                gains = own - first
                if sure_gain(gains, weights) > 0 and np.nansum(weights * gains) > most:
                    chosen, tau, most = mixed, own, float(np.nansum(weights * gains))
        best = forests[chosen[-1]]
        self.trees_, self._tree_weights, self.focus_ = best.trees_, best._tree_weights, best.focus_
        sampling = samplings[chosen[-1]]
        if len(chosen) > 1:
            sampling = self._blend([forests[n] for n in chosen], [samplings[n] for n in chosen])
        judged = ~np.isnan(tau)
        self.oob_score_ = float(np.average(tau[judged], weights=weights[judged])) if judged.any() else np.nan
        self.calibration_ = None
        if self.calibrate is not False:
            self.calibration_ = self._slope_out_of_bag(X, y, sampling, check_generator(self.random_state))
        return sampling

    def _blend(self, forests: list[RankingForest], samplings: list[Sampling]) -> Sampling:
        """Become the mean of forests: halves of all in turn, so that the halves that calibrate are blends, too."""
        weights = []
        for forest in forests:
            own = forest._tree_weights
            own = np.ones((len(forest.trees_), forest.trees_[0].contents.size)) if own is None else own
            weights.append(own / own.sum(axis=0))
        middles = [len(forest.trees_) // 2 for forest in forests]
        parts = [*enumerate(slice(middle) for middle in middles), *enumerate(slice(m, None) for m in middles)]
        self.focus_ = "blend"
        self.trees_ = [tree for number, part in parts for tree in forests[number].trees_[part]]
        self._tree_weights = np.concatenate([weights[number][part] for number, part in parts])
        return replace(samplings[0], seeds=np.concatenate([samplings[number].seeds[part] for number, part in parts]))

    def _trials(self, n_items: int) -> list[dict[str, Any]]:
        """Settings of the forests that "auto" grows: as specified, with larger leaves, and by items."""
        leaf, n_trees = self.min_samples_leaf, self.n_estimators
        trials: list[dict[str, Any]] = [
            {"focus": None},
            {"focus": None, "min_samples_leaf": 3 * int(leaf) if isinstance(leaf, Integral) else min(3 * leaf, 0.5)},
        ]
        by_items = n_items * max(ceil(0.06 * n_trees), min(ceil(0.12 * n_trees), n_trees // n_items))
        if by_items <= _MOST_TIMES * n_trees:
            features = 0.5 if self.max_features is None else self.max_features
            trials.append({"focus": "item", "n_estimators": by_items, "splitter": "best", "max_features": features})
        return trials

    def _tau_of(self, shares: FloatArray, y: Rankings) -> FloatArray:
        """Kendall tau of the rankings that shares of pairs decode to; NaN where there are none."""
        tau = np.full(len(y), np.nan)
        judged = np.flatnonzero(~np.isnan(shares[:, 0]))
        for block in row_blocks(len(judged), y.n_items):
            rows = judged[block]
            ranked = Rankings(decode_pairwise(pairwise_from_vectors(shares[rows]), self.decode), y.items)
            tau[rows] = kendall_tau_score(y[rows], ranked, per_row=True)
        return tau

    def _grow(self, X: FloatArray, y: Rankings) -> Sampling:
        """Grow the trees, and return which rows they have seen."""
        rng = check_generator(self.random_state)
        embedding = unfitted_embedding({"item": "position", "pair": "kemeny", None: self.embedding}[self.focus])
        is_random = self.splitter == "random" and self.growth == "best"
        max_bins = self.max_bins
        if max_bins == "auto":
            max_bins = MOST_CODES if self.splitter == "random" else MOST_BINS
        # Places are the same as wins, but for their scale, where no item is missing.
        are_pairs = isinstance(embedding, KemenyEmbedding)
        are_wins = are_pairs or (isinstance(embedding, PositionEmbedding) and not np.isnan(y.positions).any())
        by_items = is_random and self.focus is None and self.sketch is None and are_wins
        split_targets = None
        if by_items:
            split_targets = TargetRows(_wins(y))
        elif not are_pairs:
            split_targets = TargetRows(embedding.fit_transform(y))
        training = TrainingSet.build(
            X,
            self._encoder.n_categories,
            TargetRows(y.positions, is_pairs=True),
            y.weights,
            split_targets=split_targets,
            whole=by_items,
            max_bins=max_bins,
            sketch=self.sketch if self.focus is None else None,  # of one coordinate there is nothing to sketch
            rng=rng,
            compact=True,
        )
        leave_out = self.oob_score or self.calibrate is True
        sampling = Sampling.build(len(X), self.n_estimators, self.bootstrap, self.max_samples, rng, leave_out=leave_out)
        kept = self._kept_trees()
        sampling = self._with_kept_seeds(sampling, len(kept))
        self.focus_, self._tree_weights, coordinates = self.focus, None, None
        if self.focus is not None:
            own = _own_pairs(self.focus, len(y.items))
            coordinates = np.arange(self.n_estimators) % len(own)
            self._tree_weights = _tree_weights(own[coordinates])
        rule = GrowthRule.from_params(self.get_params(deep=False))
        lacking = replace(sampling, seeds=sampling.seeds[len(kept) :])
        grown = grow_trees(
            training, rule, lacking, self.n_jobs, None if coordinates is None else coordinates[len(kept) :]
        )
        if self.pool == "rankings":
            grown = [self._decoded(tree) for tree in grown]
        self.trees_ = kept + with_targets_of(kept, grown)
        self.calibration_ = None
        if self.calibrate is not False and (sampling.bootstrap or sampling.n_drawn < sampling.n_rows):
            self.calibration_ = self._slope_out_of_bag(X, y, sampling, rng)
        vars(self).pop("oob_score_", None)
        if self.oob_score:
            tau = self._tau_out_of_bag(X, y, sampling)
            judged = ~np.isnan(tau)
            self.oob_score_ = float(np.average(tau[judged], weights=y.weights[judged])) if judged.any() else np.nan
        return sampling

    def _with_kept_seeds(self, sampling: Sampling, n_kept: int) -> Sampling:
        """The sampling with the seeds of the trees that are kept: without a number as seed, others were drawn now."""
        if n_kept:
            sampling = replace(sampling, seeds=np.concatenate([self._seeds[:n_kept], sampling.seeds[n_kept:]]))
        vars(self).pop("_seeds", None)
        if self.warm_start:
            self._seeds = sampling.seeds
        return sampling

    def _predict_pairwise(self, X: FloatArray) -> FloatArray:
        shares = mean_prediction(self.trees_, X, self.n_jobs, self._tree_weights)
        return pairwise_from_vectors(calibrated(shares, getattr(self, "calibration_", None)))

    def _recalls(self) -> bool:
        return self.bootstrap or self.max_samples is not None

    def _fit_and_recall(self, X: FloatArray, y: Rankings, rows: IntArray) -> FloatArray | None:
        self._sampling = None  # to be kept
        sampling = vars(self.fit(X, y)).pop("_sampling")
        if not sampling.bootstrap and sampling.n_drawn == sampling.n_rows:
            return None
        features = self._check_fitted_features(X)
        shares = out_of_bag_prediction(self.trees_, features, sampling, rows, self._tree_weights)
        return calibrated(shares, self.calibration_)

    def _decoded(self, tree: Tree) -> Tree:
        """The tree whose leaves hold the pairs of the rankings that they decode to."""
        contents, decoded = tree.contents, []
        for block in row_blocks(len(contents), len(self.items_)):
            leaves = np.arange(len(contents), dtype=np.int32)[block]
            shares = np.zeros((len(leaves), contents.size))
            contents.add_to(shares, leaves, np.ones(contents.size))
            decoded.append(decode_pairwise(pairwise_from_vectors(shares), self.decode))
        positions = np.concatenate(decoded)
        rankings, number = TargetRows(positions, is_pairs=True).distinct()
        n, leaf = len(number), np.arange(len(number), dtype=np.int32)
        return replace(tree, contents=LeafRows.collect(rankings, number, np.ones(n), leaf, n))

    def _slope_out_of_bag(
        self, X: FloatArray, y: Rankings, sampling: Sampling, rng: np.random.Generator
    ) -> float | None:
        rows = rows_to_calibrate(len(X), self.trees_[0].contents.size, rng)
        truth = TargetRows(y.positions[rows], is_pairs=True).vectors(slice(None))
        middle, halves = len(self.trees_) // 2, []
        for part in (slice(middle), slice(middle, None)):
            if len(self.trees_[part]) == 0:
                halves.append(np.full(truth.shape, np.nan))
                continue
            tree_weights = None if self._tree_weights is None else self._tree_weights[part]
            drawn = replace(sampling, seeds=sampling.seeds[part])
            halves.append(out_of_bag_prediction(self.trees_[part], X, drawn, rows, tree_weights))
        share = sampling.n_drawn / len(X)
        unseen = (1 - 1 / len(X)) ** sampling.n_drawn if sampling.bootstrap else 1 - share
        return slope_of_more_votes((halves[0], halves[1]), truth, y.weights[rows], unseen)

    def _tau_out_of_bag(self, X: FloatArray, y: Rankings, sampling: Sampling) -> FloatArray:
        tau = np.full(len(X), np.nan)
        for block in row_blocks(len(X), y.n_items):
            rows = np.arange(len(X))[block]
            shares = out_of_bag_prediction(self.trees_, X, sampling, rows, self._tree_weights)
            judged = ~np.isnan(shares[:, 0])
            if judged.any():
                said = pairwise_from_vectors(calibrated(shares[judged], self.calibration_))
                ranked = Rankings(decode_pairwise(said, self.decode), y.items)
                tau[rows[judged]] = kendall_tau_score(y[rows[judged]], ranked, per_row=True)
        return tau

    def _check_saved(self) -> None:
        k = len(self.items_)
        self._check_trees(self.trees_, k * (k - 1) // 2, of_shares=True)
        if self._tree_weights is not None:
            check_shape(self._tree_weights, (len(self.trees_), k * (k - 1) // 2), "the weights of the trees")
            ensure((self._tree_weights > 0).all(), "a tree has no weight")
        slope = getattr(self, "calibration_", None)  # forests of earlier versions have none
        ensure(slope is None or (np.isfinite(slope) and slope > 0), "the calibration is not positive")


def _wins(y: Rankings) -> FloatArray:
    """Pairs added up item by item: 2 for each item below it, 1 for each that is tied or not compared with it."""
    places = midranks(y)
    balance = np.sum(~np.isnan(places), axis=1, keepdims=True) + 1 - 2 * places
    return np.asarray(y.n_items - 1 + np.nan_to_num(balance))


def _own_pairs(focus: str, n_items: int) -> BoolArray:
    """For each item or pair that a tree may look at, the pairs of items that it is part of."""
    first, second = np.triu_indices(n_items, 1)
    if focus == "pair":
        return np.eye(len(first), dtype=bool)
    item = np.arange(n_items)[:, None]
    return (first == item) | (second == item)


def _tree_weights(own: BoolArray) -> FloatArray:
    """How much each tree counts for each pair; where no tree looks at a pair, all count the same."""
    n_own = own.sum(axis=0)
    other = _OTHER_TREES * n_own / np.maximum(len(own) - n_own, 1)
    return np.where(own | (n_own == 0), 1.0, other)
