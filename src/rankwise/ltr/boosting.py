"""Boosting for `LambdaMART`: what both kinds of trees are given, when boosting stops, and LightGBM's trees.

`LightGBMTrees` and `rankwise.ltr.level_trees.LevelTrees` have the same interface, which is all that `LambdaMART` uses:
``len``, ``fit``, ``predict``, ``contributions`` and ``importances``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from numbers import Integral
from typing import Any, ClassVar

import numpy as np

from rankwise._progress import track
from rankwise._state import Saved, ensure, instance
from rankwise._typing import BoolArray, FloatArray, IntArray
from rankwise._validation import shortlist
from rankwise.ltr import _lambda_jit
from rankwise.ltr.objectives import Objective
from rankwise.metrics import retrieval_jit
from rankwise.queries import Gain, QueryRows, gains_of

# Least rows of a leaf if there are many rows; and 1 / share of the rows if there are few.
_LEAF_ROWS, _LEAF_SHARE = 20, 5
# LightGBM puts at least this many rows into a bin, which hides what few rows say.
_BIN_ROWS = 3
# Below these, numbers of the kind are finite, and so are squares of their sums in 64 bits.
_LARGEST = {np.float32: 3e38, np.float64: 1e100}


@dataclass(frozen=True)
class BoostingSettings:
    """How trees are grown; see the parameters of `rankwise.ltr.LambdaMART`."""

    n_trees: int
    learning_rate: float
    num_leaves: int
    max_depth: int | None
    min_samples_leaf: int | None
    l2_regularization: float | None
    subsample: float
    sampling: str
    random_strength: float
    colsample: float
    max_bins: int
    is_categorical: BoolArray
    monotone_signs: IntArray | None
    n_threads: int
    seed: int

    def for_lightgbm(self, n_rows: int) -> dict[str, Any]:
        """Parameters of LightGBM for this number of training rows."""
        if self.sampling != "rows":  # LightGBM's bagging_by_query goes wrong with gradients that it is given
            raise ValueError(f"sampling={self.sampling!r} is for tree='level'; LightGBM's trees take samples of rows")
        leaf_rows = max(1, min(_LEAF_ROWS, n_rows // _LEAF_SHARE))
        parameters: dict[str, Any] = {
            "learning_rate": self.learning_rate,
            "num_leaves": self.num_leaves,
            "max_depth": -1 if self.max_depth is None else self.max_depth,
            "min_data_in_leaf": leaf_rows if self.min_samples_leaf is None else self.min_samples_leaf,
            "lambda_l2": self.l2_regularization or 0.0,
            "bagging_fraction": self.subsample,
            "bagging_freq": int(self.subsample < 1),
            "feature_fraction": self.colsample,
            "max_bin": self.max_bins,
            "num_threads": self.n_threads,
            "seed": self.seed % 2**31,
        }
        if leaf_rows < _BIN_ROWS:
            parameters["min_data_in_bin"] = leaf_rows
        if self.monotone_signs is not None:
            parameters["monotone_constraints"] = self.monotone_signs.tolist()
        return parameters


@dataclass
class EarlyStopping:
    """Records the metric after each tree, or epoch, and says when it has not improved for long.

    Attributes
    ----------
    evaluate : callable
        Scores of the watched rows -> metric, higher is better.
    n_iter_no_change : int or None
        Training is over after this many trees without improvement; None is never.
    history : list of float
        The metric after each tree so far.
    X : ndarray or None
        Features of the watched rows; None if they are the training rows.
    more : dict
        Other metrics, or those of other parts of the watched rows, by name; they are recorded in `others`.
    start : ndarray or None
        Scores of the watched rows before training, which are added to those that are recorded.
    """

    evaluate: Callable[[FloatArray], float]
    n_iter_no_change: int | None
    history: list[float]
    X: FloatArray | None = None
    more: dict[str, Callable[[FloatArray], float]] = field(default_factory=dict)
    others: dict[str, list[float]] = field(default_factory=dict)
    start: FloatArray | None = None

    def record(self, score: FloatArray) -> float:
        """Evaluate the scores after another tree; returns the metric."""
        score = score if self.start is None else score + self.start
        value = self.evaluate(score)
        if np.isnan(value):
            raise ValueError(
                "no query of the validation set has a relevant row, so early stopping has nothing to watch"
            )
        self.history.append(value)
        for name, evaluate in self.more.items():
            self.others.setdefault(name, []).append(evaluate(score))
        return value

    @property
    def is_over(self) -> bool:
        """Whether the metric has not improved for ``n_iter_no_change`` trees."""
        return self.n_iter_no_change is not None and len(self.history) - self.best >= self.n_iter_no_change

    @property
    def best(self) -> int:
        """Number of trees of the highest metric; at least one tree has been recorded."""
        return int(np.argmax(self.history)) + 1


@dataclass
class LightGBMTrees:
    """Trees that LightGBM grows leaf by leaf.

    Attributes
    ----------
    booster : lightgbm.Booster or None
        The trees; None before `fit`.
    """

    booster: Any = None

    _saved: ClassVar[Saved] = {"booster": instance("Booster")}

    def __len__(self) -> int:
        return 0 if self.booster is None else self.booster.current_iteration()

    def fit(
        self, rows: QueryRows, objective: Objective, settings: BoostingSettings, stopping: EarlyStopping | None
    ) -> None:
        """Grow the trees that are still to come on the gradients of the objective; None watches no metric."""
        import lightgbm
        from lightgbm.callback import EarlyStopException

        n_more = settings.n_trees - len(self)
        if n_more == 0:
            return
        numbers: Any = track(range(len(self), settings.n_trees), "boosting", n_more)

        def gradients(score: FloatArray, _: Any) -> tuple[Any, Any]:
            # A generator for each tree, so that a longer fit begins with the same random numbers.
            gradient, hessian = objective(rows.started(score), np.random.default_rng([settings.seed, next(numbers)]))
            # LightGBM keeps 32 bits of each, and adds them up in 64.
            return (
                round_for_exact_sums(gradient, "gradients", np.float32),
                round_for_exact_sums(hessian, "second derivatives", np.float32),
            )

        parameters = settings.for_lightgbm(len(rows.grade))
        parameters |= {"verbosity": -1, "metric": "None", "feature_pre_filter": False}
        categorical = np.flatnonzero(settings.is_categorical).tolist()
        # LightGBM wants labels, but only the objective and the metric use them, and those are ours.
        training = lightgbm.Dataset(
            _known_to_lightgbm(rows.X),
            np.zeros(len(rows.grade)),
            categorical_feature=categorical,
            params=parameters,
        )
        watching: dict[str, Any] = {}
        if stopping is not None:
            held_out = None if stopping.X is None else _known_to_lightgbm(stopping.X)

            def stop(environment: Any) -> None:
                if stopping.is_over:
                    raise EarlyStopException(stopping.best - 1, environment.evaluation_result_list)

            watching = {
                "valid_sets": [
                    training if held_out is None else training.create_valid(held_out, np.zeros(held_out.shape[0]))
                ],
                "feval": lambda score, _: ("metric", stopping.record(score), True),
                "callbacks": [stop] if stopping.n_iter_no_change else None,
            }
        try:
            self.booster = lightgbm.train(
                {**parameters, "objective": gradients},
                training,
                num_boost_round=n_more,
                init_model=self.booster,
                **watching,
            )
        except lightgbm.basic.LightGBMError as error:
            raise ValueError(f"LightGBM refuses these parameters for {len(rows.grade)} rows: {error}") from error
        numbers.close()  # the progress bar ends with the training, early or not

    def predict(self, X: Any, n_trees: int, n_threads: int) -> FloatArray:
        """Scores of the rows by the first trees."""
        return np.asarray(self.booster.predict(_known_to_lightgbm(X), num_iteration=n_trees, num_threads=n_threads))

    def contributions(self, X: Any, n_trees: int, n_threads: int) -> FloatArray:
        """Shapley values of the features of each row, of shape (n_rows, n_features)."""
        X = X.toarray() if hasattr(X, "indptr") else X
        parts = self.booster.predict(X, num_iteration=n_trees, num_threads=n_threads, pred_contrib=True)
        return np.asarray(parts)[:, :-1]

    def importances(self, n_trees: int, n_features: int) -> FloatArray:
        """Gain of all splits by feature."""
        gains = self.booster.feature_importance("gain", iteration=n_trees)
        return np.asarray(gains, dtype=np.float64)[:n_features]

    def check_features(self, n_features: int) -> None:
        """Refuse trees, read from a file, for another number of features."""
        ensure(self.booster.num_feature() == n_features, "the booster has other features")


def _known_to_lightgbm(X: Any) -> Any:
    """Features as LightGBM takes them: sparse arrays as sparse matrices, which share their memory."""
    from scipy.sparse import csr_matrix

    return csr_matrix(X) if hasattr(X, "indptr") else X


def monotone_signs(given: Any, is_categorical: BoolArray, names: Any) -> IntArray | None:
    """1, -1 or 0 for each feature, from such a list, or from a dictionary by name or number; None stays None."""
    if given is None:
        return None
    n_features = len(is_categorical)
    signs = np.asarray(given)
    if isinstance(given, Mapping):
        signs = np.zeros(n_features)
        known = {} if names is None else {name: number for number, name in enumerate(names)}
        for feature, sign in given.items():
            number = known.get(feature, feature)
            if not isinstance(number, Integral) or not -n_features <= number < n_features:
                told = f"the columns of X are {shortlist(list(map(repr, known)))}" if known else "columns have no names"
                raise ValueError(f"monotone_constraints names {feature!r}, but {told}")
            signs[int(number)] = sign
    if signs.shape != (n_features,) or not np.isin(signs, (-1, 0, 1)).all():
        raise ValueError(f"monotone_constraints must be {n_features} numbers, each -1, 0 or 1")
    if (signs[is_categorical] != 0).any():
        column = int(np.flatnonzero(is_categorical & (signs != 0))[0])
        raise ValueError(f"monotone_constraints: column {column} of X holds categories, which have no order to follow")
    return signs.astype(int)


def ndcg_evaluator(rows: QueryRows, k: int | None, gain: Gain) -> Callable[[FloatArray], float]:
    """Scores -> the mean of `rankwise.metrics.ndcg_score`, with everything that does not depend on scores precomputed.

    After every tree, checks and ideal rankings would take longer than the ranking itself.
    """
    longest = int(np.diff(rows.bounds).max())
    places = longest if k is None else min(k, longest)
    gains = np.require(gains_of(rows.grade, gain), np.float64, ["C", "W"])
    discount = 1 / np.log2(np.arange(2.0, places + 2))
    ideal = retrieval_jit.ideal_dcg(gains, rows.bounds, discount)
    has_value = ideal > 0

    def evaluate(score: FloatArray) -> float:
        scores = np.require(score, np.float64, ["C", "W"])
        order, listed = retrieval_jit.rank_rows(scores, rows.bounds, places)
        found = retrieval_jit.dcg(gains, scores, order, listed, discount)
        values = np.minimum(found[has_value] / ideal[has_value], 1.0)
        return float(np.mean(values)) if len(values) else np.nan

    return evaluate


def round_for_exact_sums(
    values: FloatArray, name: str, kind: Any = np.float64, *, largest: float | None = None, n: int | None = None
) -> Any:
    """The values, rounded so that every sum of them in 64 bits is exact.

    Boosting adds up gradients in an order that depends on the number of threads, and on the layout that LightGBM
    measured to be the fastest. If all numbers are multiples of one step, and few enough bits together, no sum is ever
    rounded, and trees are the same in any order. For a million rows the step is 2**-33 of the largest number.

    Parameters
    ----------
    values : ndarray of float64
        The numbers.
    name : str
        What they are, for the message if they are too large.
    kind : type
        Type of the result: float64, or float32, to which numbers are rounded first.
    largest, n : float, int, optional
        The largest size and the count of all numbers, where these are a part of them.

    Returns
    -------
    ndarray of the kind
    """
    largest = _lambda_jit.largest_size(values) if largest is None else largest
    n = len(values) if n is None else n
    if not largest < _LARGEST[kind]:
        raise ValueError(
            f"the {name} of the objective reach {largest:g}, which is too large to add up; divide y by a large number"
        )
    rounded = np.zeros(len(values), kind)
    if largest > 0.0:
        # As a number of the kind, the largest may be the next power of 2.
        step = np.ldexp(1.0, int(np.frexp(float(kind(largest)))[1]) + n.bit_length() - 53)
        _lambda_jit.round_to_step(values, step, rounded)
    return rounded
