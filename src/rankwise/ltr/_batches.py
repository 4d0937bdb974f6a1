"""Training examples of `NeuralRanker`: queries with grades, or comparisons of rows, in padded mini-batches."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from rankwise._optional import require
from rankwise._sklearn import gen_batches
from rankwise._typing import FloatArray, IntArray
from rankwise.ltr._torch_losses import LOSSES, QUADRATIC, Tensor
from rankwise.queries import QueryRows

# Pairs of documents that tables hold at once; a table takes 4 bytes for each, and a loss makes several tables.
_MOST_CELLS = 1 << 26


class Examples(ABC):
    """Examples of training, counted from 0; a loss is a function of `rankwise.ltr._torch_losses`.

    Parameters
    ----------
    features : Tensor of shape (n_rows, n_columns)
        What the network sees of the rows.
    bounds : ndarray of shape (n_queries + 1,)
        Rows ``bounds[q]`` to ``bounds[q + 1]`` are scored together.
    loss : str
        Name of the loss.
    makes_tables : bool
        Whether memory grows with the squared number of rows of a query.
    """

    def __init__(self, features: Tensor, bounds: IntArray, loss: str, makes_tables: bool) -> None:
        self.features, self.bounds, self.loss = features, bounds, LOSSES[loss]
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

    def __init__(self, features: Tensor, bounds: IntArray, loss: str, makes_tables: bool, grade: Any, weight: Any):
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

    def __init__(self, features: Tensor, bounds: IntArray, loss: str, makes_tables: bool, pairs: Any):
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


def make_examples(features: Tensor, rows: QueryRows, targets: FloatArray, loss: str, attention: bool) -> Examples:
    """The examples of training rows; ``targets`` is relevance as the loss takes it."""
    if rows.pairs is not None:
        # Without attention rows do not know each other: each is scored on its own.
        bounds = rows.bounds if attention else np.arange(len(rows.grade) + 1)
        return Comparisons(features, bounds, loss, attention, rows.pairs)
    grade, weight = features.new_tensor(targets), features.new_tensor(rows.weight[rows.bounds[:-1]])
    return GradedQueries(features, rows.bounds, loss, attention or loss in QUADRATIC, grade, weight)


def check_longest(longest: int, attention: bool, loss: str | None = None) -> None:
    """Refuse a query whose tables of pairs would not fit; ``loss`` is that of training on queries, if it is that."""
    if longest**2 <= _MOST_CELLS or not (attention or loss in QUADRATIC):
        return
    what, cure = ("attention=True", "attention=False") if attention else (f"loss={loss!r}", "loss='listwise_softmax'")
    raise ValueError(
        f"a query has {longest} rows, and {what} makes tables of all their pairs; give queries of at most "
        f"{int(_MOST_CELLS**0.5)} rows, or {cure}"
    )


def padded(bounds: IntArray, queries: IntArray, device: Any) -> tuple[Tensor, Tensor]:
    """Rows of the queries side by side, short ones filled up with their first row; and which are real."""
    torch = require("torch", extra="neural", caller="NeuralRanker")
    starts, sizes = bounds[queries], np.diff(bounds)[queries]
    place = np.arange(sizes.max())
    mask = place < sizes[:, None]
    index = starts[:, None] + np.where(mask, place, 0)
    return torch.as_tensor(index, device=device), torch.as_tensor(mask, device=device)
