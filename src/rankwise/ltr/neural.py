"""The estimator `NeuralRanker`: a PyTorch network that scores documents, optionally with attention within a query."""

from __future__ import annotations

import warnings
from numbers import Integral, Real
from typing import Any, ClassVar, Literal, TypeVar

import numpy as np

from rankwise._optional import require
from rankwise._query_inputs import eval_sets, split_off_queries
from rankwise._sklearn import BaseEstimator, Interval, StrOptions
from rankwise._state import (
    COUNT,
    FLOATS,
    NUMBER,
    Saved,
    State,
    array,
    check_shape,
    dict_of,
    either,
    ensure,
    learned_state,
    list_of,
    optional,
)
from rankwise._threads import one_at_a_time, openmp
from rankwise._typing import ArrayLike, FloatArray, RandomState
from rankwise._validation import check_generator
from rankwise.ltr._listwise_losses import PLACE_WEIGHTS, PlaceWeights
from rankwise.ltr._network_training import train
from rankwise.ltr._networks import Shape, make_network, members, normal_scores, quantiles_of, scores_of
from rankwise.ltr._torch_losses import QUADRATIC
from rankwise.ltr.base import (
    METRIC_CONSTRAINTS,
    QueryRankerMixin,
    check_longest,
    check_query_weights,
    check_target,
    validation_rows,
)
from rankwise.ltr.losses import losses_of
from rankwise.queries import (
    Gain,
    QueryRows,
    check_grades_differ,
    check_grades_not_negative,
    group_queries,
)

Self = TypeVar("Self", bound="NeuralRanker")

# Fewer queries are too few to hold some out.
_FEWEST_QUERIES = 20


class NeuralRanker(QueryRankerMixin, BaseEstimator):
    r"""Ranks by a neural network that scores documents.

    *Definition.* Features u and ``sign(u) log(1 + |u|)`` are standardized; hidden layers with rectified linear units
    follow, then, with ``attention``, blocks of self-attention over the documents of a query, and a linear layer. Its
    output and a weighted sum of the features themselves add up to the score, so that a linear ranker is where training
    begins (with ``warm_start``, at the weights of `LinearRanker`), and what it may remain. Adam minimizes the mean of a
    ranking loss over mini-batches of queries, with steps that shrink to 0 over the epochs. The ranker has the moving
    average of the weights over the steps.

    Parameters
    ----------
    loss : str, default="listwise_softmax"
        A loss of the table of losses (`rankwise.ltr.losses`): "listwise_softmax", "listwise_listnet",
        "listwise_listmle", "listwise_plistmle", "listwise_approx_ndcg", "pairwise_logistic", "pairwise_hinge",
        "lambdarank", "pointwise_squared" or "pointwise_logistic".
    attention : bool, default=False
        Whether documents of a query see each other. Scores then also depend on ``qid`` in `predict`.
    hidden : tuple of int, default=(64, 64)
        Units of the hidden layers.
    n_heads, n_blocks : int
        Heads and blocks of attention; heads must divide the units of the last layer.
    dropout : float, default=0.1
        Share of units that are dropped in training.
    input_noise : float, default=0.1
        Standard deviation of Gaussian noise that training adds to the standardized features.
    log_transform : bool, default=True
        Whether the hidden layers see ``sign(u) log(1 + |u|)`` in addition to the features u.
    quantile_transform : bool, default=False
        Whether the hidden layers also see places of features among those of training: normal quantiles of the shares
        of rows below, from a hundred quantiles of each feature. For features of any scale, with outliers.
    n_crosses : int, default=0
        Number of layers of products of features that come before the hidden layers, each with a gate:
        :math:`x_0 (A x + b) \sigma(G x) + x` for the features :math:`x_0` and what the layer before found. Their
        matrices have as many rows and columns as there are features, with their transforms.
    n_no_ops : int, default=0
        Number of learned vectors that documents may look at in place of each other; only with ``attention``.
    n_networks : int, default=1
        Number of networks that begin with other weights and take other batches; scores are their means. The time
        grows with it, for predictions as well.
    n_epochs : int, default=30
        Passes over the queries.
    batch_size : int, default=32
        Queries of a mini-batch; comparisons, with ``pairs``.
    learning_rate : float, default=3e-3
        Initial step size of Adam; it decreases linearly to 0 after the last epoch.
    alpha : float, default=1e-4
        Strength of the regularization: Adam's decoupled weight decay.
    warm_start : bool, default=True
        Whether training begins at the weights that `LinearRanker` finds.
    early_stopping : bool or "auto", default="auto"
        Whether to stop when the metric on held-out queries no longer improves, and keep the best epoch, if it is surely
        better than where training began: by three standard errors over these queries. Without ``eval_set``, that
        number of epochs is then trained on all queries, from the start. "auto" does so if there is an ``eval_set``, or
        20 queries or more to hold some out of; otherwise all queries are trained on for all epochs.
    n_iter_no_change : int, default=10
        Number of epochs without improvement after which early stopping stops.
    eval_metric : str, optional
        What early stopping and ``history_`` watch, e.g. "map@5"; by default ``metric`` at ``k``,
        with ``gain``.
    validation_fraction : float, default=0.2
        Share of the queries held out for early stopping if ``fit`` gets no ``eval_set``.
    device : str, default="cpu"
        "cpu", "cuda", or "auto": CUDA if there is a device.
    mixed_precision : bool or "auto", default="auto"
        Whether training computes hidden layers with 16 bits (bfloat16); the linear part, the loss and predictions have
        32. "auto" does so on CUDA devices that can.
    metric, k, score_gain
        What `score` returns, as in `LambdaMART`.
    gain : {"exp", "linear"}, sequence, mapping or callable, default="exp"
        What a grade is worth in training: in the losses "listwise_approx_ndcg" and "lambdarank", early stopping and
        ``history_``.
    place_weights : {"exp", "log", "reciprocal"}, array-like or callable, default="exp"
        What places count in "listwise_plistmle", as in `LinearRanker`.
    random_state : int, Generator, RandomState or None, default=None
        Weights, batches, dropout and noise; on one device the same seed gives the same ranker.

    Attributes
    ----------
    network_ : torch.nn.ModuleDict, or ModuleList of these with ``n_networks``
        The layers, on the CPU.
    history_ : dict
        "validation", or "training" if nothing is held out: the metric after each epoch, if there are grades;
        "loss": the mean loss.
    n_epochs_ : int
        Number of epochs of the network; 0 if it is no better than where training began.
    n_queries_ : int
        Number of queries in training.

    References
    ----------
    Qin et al. (2021), Are neural rankers still outperformed by gradient boosted decision trees? Wang et al. (2021), DCN
    V2, and Wang et al. (2023), Towards deeper, lighter and interpretable cross network, for products with gates.

    Examples
    --------
    >>> from rankwise.ltr import NeuralRanker
    >>> NeuralRanker(attention=True).loss
    'listwise_softmax'
    """

    __metadata_request__predict: ClassVar[dict[str, bool]] = {"qid": True}

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "loss": [StrOptions(set(losses_of("NeuralRanker")))],
        "attention": ["boolean"],
        "hidden": [tuple, list],
        "n_heads": [Interval(Integral, 1, None, closed="left")],
        "n_blocks": [Interval(Integral, 1, None, closed="left")],
        "dropout": [Interval(Real, 0, 1, closed="left")],
        "input_noise": [Interval(Real, 0, None, closed="left")],
        "log_transform": ["boolean"],
        "quantile_transform": ["boolean"],
        "n_crosses": [Interval(Integral, 0, None, closed="left")],
        "n_no_ops": [Interval(Integral, 0, None, closed="left")],
        "n_networks": [Interval(Integral, 1, None, closed="left")],
        "n_epochs": [Interval(Integral, 1, None, closed="left")],
        "batch_size": [Interval(Integral, 1, None, closed="left")],
        "learning_rate": [Interval(Real, 0, None, closed="neither")],
        "alpha": [Interval(Real, 0, None, closed="left")],
        "warm_start": ["boolean"],
        "early_stopping": ["boolean", StrOptions({"auto"})],
        "n_iter_no_change": [Interval(Integral, 1, None, closed="left")],
        "eval_metric": [None, str],
        "validation_fraction": [Interval(Real, 0, 1, closed="neither")],
        "device": [StrOptions({"cpu", "cuda", "auto"})],
        "mixed_precision": ["boolean", StrOptions({"auto"})],
        **METRIC_CONSTRAINTS,
        "place_weights": PLACE_WEIGHTS,
        "random_state": ["random_state", np.random.Generator],
    }

    network_: Any
    history_: dict[str, list[float]]
    n_epochs_: int

    _saved: ClassVar[Saved] = {
        "network_": dict_of(either(array("float32", 1), array("float32", 2))),
        "history_": dict_of(list_of(NUMBER)),
        "_center": FLOATS,
        "_spread": FLOATS,
        "_longest": COUNT,
        "_quantiles": optional(array("float64", 2)),
        "n_epochs_": optional(COUNT),
    }

    def __init__(
        self,
        loss: str = "listwise_softmax",
        attention: bool = False,
        *,
        hidden: tuple[int, ...] = (64, 64),
        n_heads: int = 2,
        n_blocks: int = 1,
        dropout: float = 0.1,
        input_noise: float = 0.1,
        log_transform: bool = True,
        quantile_transform: bool = False,
        n_crosses: int = 0,
        n_no_ops: int = 0,
        n_networks: int = 1,
        n_epochs: int = 30,
        batch_size: int = 32,
        learning_rate: float = 3e-3,
        alpha: float = 1e-4,
        warm_start: bool = True,
        early_stopping: bool | Literal["auto"] = "auto",
        n_iter_no_change: int = 10,
        eval_metric: str | None = None,
        validation_fraction: float = 0.2,
        device: str = "cpu",
        mixed_precision: bool | Literal["auto"] = "auto",
        metric: str = "ndcg",
        k: int | None = 10,
        gain: Gain = "exp",
        score_gain: Gain = "linear",
        place_weights: PlaceWeights = "exp",
        random_state: RandomState = None,
    ) -> None:
        self.loss = loss
        self.attention = attention
        self.hidden = hidden
        self.n_heads = n_heads
        self.n_blocks = n_blocks
        self.dropout = dropout
        self.input_noise = input_noise
        self.log_transform = log_transform
        self.quantile_transform = quantile_transform
        self.n_crosses = n_crosses
        self.n_no_ops = n_no_ops
        self.n_networks = n_networks
        self.n_epochs = n_epochs
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.alpha = alpha
        self.warm_start = warm_start
        self.early_stopping = early_stopping
        self.n_iter_no_change = n_iter_no_change
        self.eval_metric = eval_metric
        self.validation_fraction = validation_fraction
        self.device = device
        self.mixed_precision = mixed_precision
        self.metric = metric
        self.k = k
        self.gain = gain
        self.score_gain = score_gain
        self.place_weights = place_weights
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
        eval_set: Any = None,
        eval_qid: Any = None,
        eval_group: Any = None,
    ) -> Self:
        """Train the network.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            Features.
        y : array-like of shape (n_rows,)
            Relevance, 0 or more, higher is better. Not needed with ``pairs``.
        qid : array-like of shape (n_rows,) or str, optional
            The query of each row, of any type and in any order, or the column of a frame that has it; by default all
            rows are one query.
        sample_weight : array-like of shape (n_rows,), optional
            Weights of queries, the same for all rows of a query.
        group : array-like of int, optional
            In place of ``qid``: how many rows each query has, one query after the other.
        pairs : array-like of shape (n_pairs, 2), optional
            Comparisons to learn from instead of y: row numbers, the preferred row first. A comparison is a list of two
            rows with the grades 1 and 0; its "listwise_softmax" loss is the logistic loss of Bradley and Terry.
        pair_weight : array-like of shape (n_pairs,), optional
            How often each comparison counts.
        eval_set, eval_qid, eval_group
            Rows that early stopping and ``history_`` watch; as in `LambdaMART.fit`, but one set only.

        Returns
        -------
        self
        """
        torch = require("torch", extra="neural", caller="NeuralRanker")
        self._validate_params()
        rng = check_generator(self.random_state)
        seed = int(rng.integers(2**63))
        watched = eval_sets(eval_set, eval_qid, eval_group, column=qid if isinstance(qid, str) else None)
        if len(watched) > 1:
            raise ValueError(f"eval_set holds {len(watched)} sets, but NeuralRanker watches one; give one (X, y, qid)")
        X, qid = split_off_queries(X, qid, group)
        grades = check_target(self, y, required=pairs is None)
        features = self._check_features(X, reset=True)
        rows = QueryRows.build(features, grades, qid, sample_weight, pairs, pair_weight, seed=seed)
        if rows.pairs is None:
            check_grades_not_negative(rows.grade, "NeuralRanker")
            check_grades_differ(rows.grade, rows.bounds)
            check_query_weights(rows, "NeuralRanker")
        self._check_layers()
        device = self._device(torch)
        self.n_queries_, self._longest = rows.n_queries, int(np.diff(rows.bounds).max())
        if self.attention:
            check_longest(self._longest, "attention=True", "attention=False")
        elif rows.pairs is None and self.loss in QUADRATIC:
            check_longest(self._longest, f"loss={self.loss!r}", "loss='listwise_softmax'")
        stops = self._stops(rows, watched)
        whole, parts = rows, list[QueryRows]()
        if watched or stops:
            rows, parts = validation_rows(
                self, rows, watched, rng, lambda X: self._check_features(X, reset=False), stops
            )
        held_out = parts[0] if parts else None
        if self.quantile_transform:
            self._quantiles = quantiles_of(whole.X)
        columns = self._columns(whole.X)
        self._center, spread = columns.mean(axis=0), columns.std(axis=0)
        self._spread = np.where(spread > 1e-9, spread, 1.0)
        with one_at_a_time(), openmp(), torch.random.fork_rng():
            torch.manual_seed(seed % 2**63)
            found = train(self, self._shape(), rows, held_out, rng, device, stops, self.n_epochs)
            networks = found.networks
            if held_out is not None and not watched:  # what was held out is for training, too
                networks = train(self, self._shape(), whole, None, rng, device, False, found.n_epochs).networks
        self.history_, self.n_epochs_ = found.history, found.n_epochs
        self.network_ = networks[0] if len(networks) == 1 else torch.nn.ModuleList(networks)
        return self

    def _check_layers(self) -> None:
        for units in self.hidden:
            if not isinstance(units, Integral) or isinstance(units, bool) or units < 1:
                raise ValueError(f"hidden is {self.hidden!r}; give whole numbers of units, 1 or more for each layer")
        if self.n_no_ops and not self.attention:
            raise ValueError(f"n_no_ops is {self.n_no_ops}, but no document looks at others; set attention=True")

    def _stops(self, rows: QueryRows, watched: list[Any]) -> bool:
        """Whether to stop early."""
        if self.early_stopping != "auto":
            return bool(self.early_stopping)
        return bool(watched) or (rows.pairs is None and rows.n_queries >= _FEWEST_QUERIES)

    def predict(self, X: ArrayLike, qid: ArrayLike | str | None = None) -> FloatArray:
        """Scores of rows.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            Features.
        qid : array-like of shape (n_rows,), optional
            The query of each row; needed with ``attention``, for which all rows are one query otherwise. That warns
            where training had several and there are more rows than in the longest of them.

        Returns
        -------
        ndarray of shape (n_rows,)
            Higher is better.
        """
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(self)
        if isinstance(qid, str):
            X, qid = split_off_queries(X, qid)
        features = self._check_features(X, reset=False)
        groups = group_queries(qid, len(features), of="X")
        if self.attention and qid is None and self.n_queries_ > 1 and len(features) > self._longest:
            warnings.warn(
                f"NeuralRanker was fitted on {self.n_queries_} queries of at most {self._longest} rows, but predict "
                f"got no qid, and attention takes all {len(features)} rows for one query; give predict(X, qid)",
                UserWarning,
                stacklevel=2,
            )
        score = np.empty(len(features))
        score[slice(None) if groups.rows is None else groups.rows] = scores_of(
            members(self.network_), self._inputs(groups.take(features)), groups.bounds, "cpu"
        )
        return score

    def _query_scores(self, X: ArrayLike, qid: ArrayLike | None) -> FloatArray:
        return self.predict(X, qid)

    def _columns(self, X: FloatArray) -> FloatArray:
        """What the hidden layers see: the features, and if wanted their logarithms and normal scores."""
        logs = [np.sign(X) * np.log1p(abs(X))] if self.log_transform else []
        scores = [normal_scores(X, self._quantiles)] if self.quantile_transform else []
        return np.hstack([X, *logs, *scores]) if logs or scores else X

    def _shape(self) -> Shape:
        return Shape(
            n_features=self.n_features_in_,
            n_columns=self._n_columns,
            hidden=tuple(self.hidden),
            n_crosses=self.n_crosses,
            dropout=self.dropout,
            n_blocks=self.n_blocks if self.attention else 0,
            n_heads=self.n_heads,
            n_no_ops=self.n_no_ops,
        )

    @property
    def _n_columns(self) -> int:
        return self.n_features_in_ * (1 + self.log_transform + self.quantile_transform)

    def _device(self, torch: Any) -> str:
        has_cuda = bool(torch.cuda.is_available())
        if self.device == "cuda" and not has_cuda:
            raise ValueError("device is 'cuda', but PyTorch finds no CUDA device here; use 'auto' or 'cpu'")
        return "cuda" if self.device != "cpu" and has_cuda else "cpu"

    def _inputs(self, X: FloatArray) -> Any:
        import torch

        standardized = (self._columns(X) - self._center) / self._spread
        return torch.as_tensor(standardized, dtype=torch.float32)

    def _check_saved(self) -> None:
        check_shape(self._center, (self._n_columns,), "the means")
        check_shape(self._spread, (self._n_columns,), "the scales")
        ensure(hasattr(self, "_quantiles") == self.quantile_transform, "quantiles are for quantile_transform")
        if self.quantile_transform:
            check_shape(self._quantiles, (len(self._quantiles), self.n_features_in_), "the quantiles")
            ensure(len(self._quantiles) > 1, "a feature has one quantile")
            ensure((np.diff(self._quantiles, axis=0) >= 0).all(), "quantiles do not rise")

    def _to_state(self) -> State:
        """The network as arrays by name."""
        state = learned_state(self)
        if "network_" in state:
            weights = state["network_"].state_dict()
            state["network_"] = {name: tensor.detach().cpu().numpy() for name, tensor in weights.items()}
        return state

    @classmethod
    def _from_state(cls, parameters: State, state: State) -> NeuralRanker:
        """A network with the layers that the parameters ask for, filled with the arrays."""
        ranker = cls(**parameters)
        if not state:
            return ranker
        torch = require("torch", extra="neural", caller="loading a NeuralRanker")
        ranker._validate_params()
        weights = state["network_"]
        vars(ranker).update({name: part for name, part in state.items() if name != "network_"})
        # Parameters may ask for absurdly many or large layers: these are counted first, and take no memory.
        shape = ranker._shape()
        ensure(ranker.n_networks * max(shape.n_layers, 1) <= len(weights), "there are fewer arrays than layers")
        with torch.device("meta"):
            networks = [make_network(shape) for _ in range(ranker.n_networks)]
            network = networks[0] if len(networks) == 1 else torch.nn.ModuleList(networks)
        network.load_state_dict({name: torch.from_numpy(part) for name, part in weights.items()}, assign=True)
        ranker.network_ = network.eval()
        return ranker
