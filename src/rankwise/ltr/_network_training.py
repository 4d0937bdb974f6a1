"""Training of `NeuralRanker`: epochs over batches of queries, what is watched, and whether to keep the network."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from rankwise._progress import track
from rankwise._typing import FloatArray
from rankwise.ltr._networks import Shape, forward, make_network, scores_of
from rankwise.ltr._torch_losses import Examples, Tensor, make_examples
from rankwise.ltr.boosting import EarlyStopping
from rankwise.ltr.linear import LinearRanker
from rankwise.queries import QueryRows, gains_of

# Standard errors that count as sure: the best of many epochs is above the start by one or two of them by chance.
_SURE = 3.0
# Share of the weights so far that each step keeps in their moving average.
_AVERAGING = 0.95


class Trained(NamedTuple):
    """What training found: networks, the epochs they took, and the history."""

    networks: list[Any]
    n_epochs: int
    history: dict[str, list[float]]


class _Member:
    """A network in training, with its optimizer and the moving average of its weights, which is what counts."""

    def __init__(self, network: Any, ranker: Any, n_steps: int) -> None:
        from torch import optim

        self.network = network
        self.optimizer = optim.AdamW(network.parameters(), lr=ranker.learning_rate, weight_decay=ranker.alpha)
        self.rate = optim.lr_scheduler.LambdaLR(self.optimizer, lambda step: 1 - step / n_steps)
        average = optim.swa_utils.get_ema_multi_avg_fn(_AVERAGING)
        self.average = optim.swa_utils.AveragedModel(network, multi_avg_fn=average)

    def epoch(self, examples: Examples, size: int, score: Callable[..., Tensor], rng: np.random.Generator) -> float:
        """One pass over the examples; returns the mean loss of the batches."""
        self.network.train()
        losses = []
        for parts in examples.batches(size, rng):
            self.optimizer.zero_grad()
            total = 0.0
            for part in parts:
                loss = examples.losses(part, lambda inputs, mask: score(self.network, inputs, mask)).sum()
                loss = loss / sum(map(len, parts))
                loss.backward()
                total += float(loss.detach())
            self.optimizer.step()
            self.rate.step()
            self.average.update_parameters(self.network)
            losses.append(total)
        return float(np.mean(losses))


class _Judge:
    """Watches the mean scores of networks on some rows, and keeps the best networks if training may stop early."""

    def __init__(self, ranker: Any, rows: QueryRows, networks: list[Any], device: str, stops: bool) -> None:
        metric, query = ranker._metric_function(ranker.eval_metric, ranker.gain), rows.query
        self.metric = lambda score, **options: metric(rows.grade, score, query, **options)
        self.rows, self.inputs, self.device, self.stops = rows, ranker._inputs(rows.X), device, stops
        patience = ranker.n_iter_no_change if stops else None
        self.stopping = EarlyStopping(lambda score: float(self.metric(score)), patience, [])
        self.must_be_better = ranker.warm_start  # otherwise, training begins with no ranking at all
        if stops:
            self.start = self.best = self._scores(networks)
            self.first = self.kept = _states(networks)

    def look(self, networks: list[Any]) -> bool:
        """Record the metric after an epoch; returns whether training is over."""
        found = self._scores(networks)
        self.stopping.record(found)
        if self.stops and self.stopping.best == len(self.stopping.history):
            self.best, self.kept = found, _states(networks)
        return self.stopping.is_over

    def choose(self, networks: list[Any]) -> int:
        """Give networks their weights of the best epoch, if it is surely better than the start; returns the epoch."""
        is_better = not self.must_be_better or self._is_surely_better()
        for network, state in zip(networks, self.kept if is_better else self.first, strict=True):
            network.load_state_dict(state)
        return self.stopping.best if is_better else 0

    def _scores(self, networks: list[Any]) -> FloatArray:
        return scores_of(networks, self.inputs, self.rows.bounds, self.device)

    def _is_surely_better(self) -> bool:
        """Whether the metric is above that of the start by some standard errors over queries."""
        before, after = (self.metric(score, per_query=True)[1] for score in (self.start, self.best))
        gains = (after - before)[~np.isnan(after - before)]
        return len(gains) > 1 and bool(gains.mean() > _SURE * gains.std(ddof=1) / np.sqrt(len(gains)))


def train(
    ranker: Any,
    shape: Shape,
    rows: QueryRows,
    held_out: QueryRows | None,
    rng: np.random.Generator,
    device: str,
    stops: bool,
    n_epochs: int,
) -> Trained:
    """Train for a number of epochs, of the ``n_epochs`` over which steps shrink, or until held-out rows say so.

    Networks of an ensemble take their epochs in turn, and the mean of their scores is watched.
    """
    import torch

    networks = [make_network(shape).to(device) for _ in range(ranker.n_networks)]
    if ranker.warm_start:
        weights = torch.as_tensor(_linear_weights(ranker, rows)[None], dtype=torch.float32)
        for network in networks:
            with torch.no_grad():
                network["linear"].weight.copy_(weights)
    features = ranker._inputs(rows.X).to(device)
    examples = make_examples(
        features, rows, _targets(ranker, rows), ranker.loss, ranker.place_weights, ranker.attention
    )
    n_steps = ranker.n_epochs * -(-len(examples) // ranker.batch_size)
    ensemble = [_Member(network, ranker, n_steps) for network in networks]
    averages = [member.average.module for member in ensemble]
    watched = rows if held_out is None else held_out
    judge = None if watched.pairs is not None else _Judge(ranker, watched, networks, device, stops)
    low, losses, n_taken = _low_precision(ranker, device), [], n_epochs

    def score(network: Any, inputs: Tensor, mask: Tensor) -> Tensor:
        noisy = inputs + ranker.input_noise * torch.randn_like(inputs) if ranker.input_noise else inputs
        return forward(network, noisy, mask, low)

    for _ in track(range(n_epochs), "training", n_epochs):
        means = [member.epoch(examples, ranker.batch_size, score, rng) for member in ensemble]
        losses.append(float(np.mean(means)))
        if judge is not None and judge.look(averages):
            break
    if judge is not None and stops:
        n_taken = judge.choose(averages)
    history = {"loss": losses}
    if judge is not None:
        history = {"training" if held_out is None else "validation": judge.stopping.history} | history
    return Trained([network.to("cpu").eval() for network in averages], n_taken, history)


def _states(networks: list[Any]) -> list[Any]:
    return [copy.deepcopy(network.state_dict()) for network in networks]


def _low_precision(ranker: Any, device: str) -> Any:
    """The context in which hidden layers compute with 16 bits; None is 32."""
    import torch

    wanted = ranker.mixed_precision
    if wanted == "auto":
        wanted = device == "cuda" and torch.cuda.is_bf16_supported()
    return torch.autocast(device, torch.bfloat16) if wanted else None


def _targets(ranker: Any, rows: QueryRows) -> FloatArray:
    """Relevance as the loss takes it."""
    if rows.pairs is not None:
        return rows.grade
    if ranker.loss == "pointwise_logistic":  # from 0 to 1
        return rows.grade / rows.grade.max()
    if ranker.loss not in ("lambdarank", "listwise_approx_ndcg"):
        return rows.grade
    gains = gains_of(rows.grade, ranker.gain)
    if gains.min() < 0 or gains.max() == 0:
        raise ValueError(f"gains of y are {gains.min():g} to {gains.max():g}; loss={ranker.loss!r} needs 0 to more")
    # These losses take 2^relevance - 1 for the gain, and do not depend on its unit: so no gain is too large.
    return np.log2(1 + gains / gains.max())


def _linear_weights(ranker: Any, rows: QueryRows) -> FloatArray:
    """Weights of standardized features as `LinearRanker` finds them."""
    weight = None if (rows.weight == rows.weight[0]).all() else rows.weight
    arguments: dict[str, Any] = {"y": rows.grade, "qid": rows.query, "sample_weight": weight}
    if rows.pairs is not None:
        arguments = {"pairs": np.column_stack(rows.pairs[:2]), "pair_weight": rows.pairs[2]}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a start need not have converged
        linear = LinearRanker(gain=ranker.gain, random_state=0).fit(rows.X, **arguments)
    return linear.coef_ * ranker._spread[: ranker.n_features_in_]
