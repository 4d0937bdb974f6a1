"""Training of `NeuralRanker` in PyTorch: queries or comparisons in padded batches, and their losses.

A loss is a function ``(scores, relevance, mask) -> loss of each query`` of tensors of shape (n_queries, n_places);
``mask`` is True for documents and False for padding. What is masked counts as absent: it changes neither a loss nor a
gradient. The result has shape (n_queries,), lower is better, 0 for queries that contribute nothing.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from rankwise._optional import require
from rankwise._sklearn import gen_batches
from rankwise._typing import FloatArray, IntArray
from rankwise.ltr._listwise_losses import PlaceWeights, place_factors
from rankwise.queries import QueryRows

#: torch.Tensor, which is not imported here: methods of the arguments do all the work
Tensor: TypeAlias = Any
Loss: TypeAlias = Callable[..., Tensor]

# Pairs of documents that tables hold at once; a table takes 4 bytes for each, and a loss makes several tables.
_MOST_CELLS = 1 << 26


class Examples(ABC):
    """Examples of training, counted from 0; `losses` are those of some of them.

    Parameters
    ----------
    features : Tensor of shape (n_rows, n_columns)
        What the network sees of the rows.
    bounds : ndarray of shape (n_queries + 1,)
        Rows ``bounds[q]`` to ``bounds[q + 1]`` are scored together.
    loss : callable
        Scores, relevance and mask of padded queries -> losses.
    makes_tables : bool
        Whether memory grows with the squared number of rows of a query.
    """

    def __init__(self, features: Tensor, bounds: IntArray, loss: Loss, makes_tables: bool) -> None:
        self.features, self.bounds, self.loss = features, bounds, loss
        self.cells = int(np.diff(bounds).max()) ** 2 if makes_tables else 0

    @abstractmethod
    def __len__(self) -> int:
        """Number of examples."""

    @abstractmethod
    def losses(self, numbers: IntArray, score: Callable[[Tensor, Tensor], Tensor]) -> Tensor:
        """Weighted losses of some of the examples; ``score`` maps features of padded queries and a mask to scores."""

    def batches(self, size: int, rng: np.random.Generator) -> Iterator[list[IntArray]]:
        """All examples in random order: for each mini-batch the parts that memory holds at once."""
        order = rng.permutation(len(self))
        for batch in (order[part] for part in gen_batches(len(order), size)):
            n_parts = -(-len(batch) * self.cells // _MOST_CELLS)
            yield np.array_split(batch, max(1, min(n_parts, len(batch))))


class GradedQueries(Examples):
    """Each example is a query; ``grade`` and ``weight`` are tensors, of rows and of queries."""

    def __init__(self, features: Tensor, bounds: IntArray, loss: Loss, makes_tables: bool, grade: Any, weight: Any):
        super().__init__(features, bounds, loss, makes_tables)
        self.grade, self.weight = grade, weight

    def __len__(self) -> int:
        return len(self.weight)

    def losses(self, numbers: IntArray, score: Callable[[Tensor, Tensor], Tensor]) -> Tensor:
        """Losses of queries."""
        index, mask = padded(self.bounds, numbers, self.features.device)
        return self.loss(score(self.features[index], mask), self.grade[index], mask) * self.weight[numbers]


class Comparisons(Examples):
    """Each example is a comparison: a list of two rows, of which the preferred one has grade 1 and the other 0."""

    def __init__(self, features: Tensor, bounds: IntArray, loss: Loss, makes_tables: bool, pairs: Any):
        super().__init__(features, bounds, loss, makes_tables)
        self.pairs, self.weight = np.column_stack(pairs[:2]), features.new_tensor(pairs[2])
        self.query = np.repeat(np.arange(len(bounds) - 1), np.diff(bounds))

    def __len__(self) -> int:
        return len(self.pairs)

    def losses(self, numbers: IntArray, score: Callable[[Tensor, Tensor], Tensor]) -> Tensor:
        """Losses of comparisons; the queries of their rows are scored as a whole."""
        pairs = self.pairs[numbers]
        index, mask = padded(self.bounds, np.unique(self.query[pairs]), self.features.device)
        rows = index[mask].cpu().numpy()  # in ascending order
        scores = score(self.features[index], mask)[mask][np.searchsorted(rows, pairs)]
        grade = scores.new_tensor([[1.0, 0.0]]).expand(scores.shape)
        return self.loss(scores, grade, grade >= 0) * self.weight[numbers]


def make_examples(
    features: Tensor, rows: QueryRows, targets: FloatArray, name: str, place_weights: PlaceWeights, attention: bool
) -> Examples:
    """The examples of training rows for a loss of the name; ``targets`` is relevance as it takes it."""
    loss = LOSSES[name]
    if name == "listwise_plistmle":
        loss = partial(plistmle_loss, place_weights=place_weights)
    if rows.pairs is not None:
        # Without attention rows do not know each other: each is scored on its own.
        bounds = rows.bounds if attention else np.arange(len(rows.grade) + 1)
        return Comparisons(features, bounds, loss, attention, rows.pairs)
    grade, weight = features.new_tensor(targets), features.new_tensor(rows.weight[rows.bounds[:-1]])
    return GradedQueries(features, rows.bounds, loss, attention or name in QUADRATIC, grade, weight)


def padded(bounds: IntArray, queries: IntArray, device: Any) -> tuple[Tensor, Tensor]:
    """Rows of the queries side by side, short ones filled up with their first row; and which are real."""
    torch = require("torch", extra="neural", caller="NeuralRanker")
    starts, sizes = bounds[queries], np.diff(bounds)[queries]
    place = np.arange(sizes.max())
    mask = place < sizes[:, None]
    index = starts[:, None] + np.where(mask, place, 0)
    return torch.as_tensor(index, device=device), torch.as_tensor(mask, device=device)


def pointwise_squared_loss(scores: Tensor, relevance: Tensor, mask: Tensor) -> Tensor:
    """Mean squared difference of score and relevance (pointwise)."""
    return _mean((scores - relevance) ** 2, mask)


def pointwise_logistic_loss(scores: Tensor, relevance: Tensor, mask: Tensor) -> Tensor:
    r"""Mean of :math:`\log(1 + e^t) - zt` for scores t and relevance z from 0 to 1 (pointwise)."""
    return _mean(_softplus(scores) - relevance * scores, mask)


def pairwise_logistic_loss(scores: Tensor, relevance: Tensor, mask: Tensor) -> Tensor:
    r"""Mean of :math:`\log(1 + e^{-(t_i - t_j)})` over pairs with i more relevant than j (RankNet)."""
    return _mean(_softplus(-_gaps(scores)), _pairs(relevance, mask))


def pairwise_hinge_loss(scores: Tensor, relevance: Tensor, mask: Tensor) -> Tensor:
    r"""Mean of :math:`\max(0, 1 - (t_i - t_j))` over pairs with i more relevant than j (RankSVM)."""
    return _mean((1 - _gaps(scores)).clamp(min=0), _pairs(relevance, mask))


def lambdarank_loss(scores: Tensor, relevance: Tensor, mask: Tensor) -> Tensor:
    """Logistic loss of pairs, weighted by how much exchanging them changes NDCG; weights are constants (LambdaRank)."""
    gains, discount = 2**relevance - 1, 1 / (_places(scores, mask) + 1).log2()
    change = (
        _gaps(gains) * _gaps(discount).abs() * _pairs(relevance, mask) / _positive(_ideal(gains, mask))[:, None, None]
    )
    return (change.detach() * _softplus(-_gaps(scores))).sum((1, 2))


def softmax_loss(scores: Tensor, relevance: Tensor, mask: Tensor) -> Tensor:
    r"""Cross entropy of the softmax of the scores with :math:`p \propto z` (listwise)."""
    mass = relevance * mask
    return -(mass / _positive(mass.sum(1, keepdim=True)) * _log_softmax(scores, mask)).sum(1)


def listnet_loss(scores: Tensor, relevance: Tensor, mask: Tensor) -> Tensor:
    r"""Cross entropy of the softmax of the scores with :math:`p \propto e^z` (ListNet)."""
    target = _log_softmax(relevance, mask).exp() * mask
    return -(target * _log_softmax(scores, mask)).sum(1)


def listmle_loss(scores: Tensor, relevance: Tensor, mask: Tensor) -> Tensor:
    """Minus the log likelihood of the order by relevance; equally relevant documents as they stand (ListMLE)."""
    terms, ranked_mask = _order_terms(scores, relevance, mask)
    return (terms * ranked_mask).sum(1)


def plistmle_loss(scores: Tensor, relevance: Tensor, mask: Tensor, place_weights: PlaceWeights = "exp") -> Tensor:
    """The same with factors by place, see `rankwise.ltr._listwise_losses.place_factors` (position-aware ListMLE)."""
    terms, ranked_mask = _order_terms(scores, relevance, mask)
    sizes = np.maximum(mask.sum(1, keepdim=True).cpu().numpy(), 1.0)
    places = np.minimum(np.arange(1.0, mask.shape[1] + 1), sizes)
    factor = scores.new_tensor(place_factors(places, np.broadcast_to(sizes, places.shape), place_weights))
    return (factor * terms * ranked_mask).sum(1)


def approx_ndcg_loss(scores: Tensor, relevance: Tensor, mask: Tensor, temperature: float = 0.1) -> Tensor:
    r"""1 - NDCG with smooth places :math:`1 + \sum_{j \ne i} \sigma((t_j - t_i) / T)` (ApproxNDCG)."""
    gains = (2**relevance - 1) * mask
    above = (-_gaps(scores) / temperature).sigmoid() * mask[:, None, :]
    place = above.sum(2) + 0.5  # a document counts itself as half above itself
    ideal = _ideal(gains, mask)
    return (ideal > 0) * (1 - (gains / (place + 1).log2()).sum(1) / _positive(ideal))


#: name, as in the table of `rankwise.ltr.losses` -> loss
LOSSES: dict[str, Loss] = {
    "pointwise_squared": pointwise_squared_loss,
    "pointwise_logistic": pointwise_logistic_loss,
    "pairwise_logistic": pairwise_logistic_loss,
    "pairwise_hinge": pairwise_hinge_loss,
    "lambdarank": lambdarank_loss,
    "listwise_softmax": softmax_loss,
    "listwise_listnet": listnet_loss,
    "listwise_listmle": listmle_loss,
    "listwise_plistmle": plistmle_loss,
    "listwise_approx_ndcg": approx_ndcg_loss,
}

#: losses that look at all pairs of documents, in tables of shape (n_queries, n_places, n_places)
QUADRATIC = ("pairwise_logistic", "pairwise_hinge", "lambdarank", "listwise_approx_ndcg")


def _mean(values: Tensor, mask: Tensor) -> Tensor:
    dimensions = tuple(range(1, values.ndim))
    return (values * mask).sum(dimensions) / mask.sum(dimensions).clamp(min=1)


def _softplus(x: Tensor) -> Tensor:
    return x.clamp(min=0) + (-x.abs()).exp().log1p()


def _positive(x: Tensor) -> Tensor:
    """The values with 1 for 0, to divide by in queries that contribute nothing."""
    return x + (x == 0)


def _gaps(x: Tensor) -> Tensor:
    return x[:, :, None] - x[:, None, :]


def _pairs(relevance: Tensor, mask: Tensor) -> Tensor:
    return (_gaps(relevance) > 0) & mask[:, :, None] & mask[:, None, :]


def _log_softmax(scores: Tensor, mask: Tensor) -> Tensor:
    """Log probabilities; 0 where masked."""
    masked = scores.masked_fill(~mask, -float("inf"))
    return (scores - masked.logsumexp(1, keepdim=True)).masked_fill(~mask, 0.0)


def _places(scores: Tensor, mask: Tensor) -> Tensor:
    """Places by descending score, 1 = best; masked documents come last."""
    order = scores.masked_fill(~mask, -float("inf")).argsort(dim=1, descending=True, stable=True)
    return (order.argsort(1) + 1).to(scores.dtype)


def _ideal(gains: Tensor, mask: Tensor) -> Tensor:
    best = (gains * mask).sort(1, descending=True).values
    place = mask.cumsum(1).new_ones(best.shape).cumsum(1).to(gains.dtype)
    return (best / (place + 1).log2()).sum(1)


def _order_terms(scores: Tensor, relevance: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
    """Minus the log probability of each place in the order by relevance, and which places hold documents."""
    order = relevance.masked_fill(~mask, -float("inf")).argsort(dim=1, descending=True, stable=True)
    ranked, ranked_mask = scores.gather(1, order), mask.gather(1, order)
    lowest = -1e30  # not infinite, for which gradients of padding would not be numbers
    below = ranked.masked_fill(~ranked_mask, lowest).flip(1).logcumsumexp(1).flip(1)
    return (below - ranked).masked_fill(~ranked_mask, 0.0), ranked_mask
