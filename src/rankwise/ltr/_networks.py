"""Networks of `NeuralRanker`: what they see of features, their layers, and the scores of one or several of them.

Networks are ``torch.nn.ModuleDict``: "cross" and "document" look at each row, "query" at the rows of a query together,
"score" adds up what they found, and "linear" the features themselves. PyTorch is imported late, as it is an extra.
"""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtri

from rankwise._sklearn import gen_batches
from rankwise._threads import openmp
from rankwise._typing import FloatArray, IntArray
from rankwise.ltr._torch_losses import Tensor, padded
from rankwise.ltr.base import check_longest

# Quantiles of a feature that are kept.
_N_QUANTILES = 101
# Shares of rows below a value stay this far from 0 and 1, which have no normal quantile.
_LEAST_SHARE = 1e-3
# Number of documents scored at once in prediction.
_BLOCK_ROWS = 1 << 16


class Shape(NamedTuple):
    """The layers of a network; see the parameters of `rankwise.ltr.NeuralRanker`."""

    n_features: int
    n_columns: int
    hidden: tuple[int, ...]
    n_crosses: int
    dropout: float
    n_blocks: int
    n_heads: int
    n_no_ops: int

    @property
    def n_layers(self) -> int:
        """Number of layers that have weights, at least."""
        return len(self.hidden) + self.n_crosses + self.n_blocks


def quantiles_of(X: FloatArray) -> FloatArray:
    """Quantiles of each feature, from the least to the largest value, of shape (n_quantiles, n_features)."""
    return np.quantile(X, np.linspace(0.0, 1.0, _N_QUANTILES), axis=0)


def normal_scores(X: FloatArray, quantiles: FloatArray) -> FloatArray:
    """Normal quantiles of the shares of training rows below each value; half of the rows of the same value count."""
    shares, grid = np.empty_like(X), np.linspace(0.0, 1.0, len(quantiles))
    for column, knots in enumerate(quantiles.T):
        below = np.interp(X[:, column], knots, grid)
        above = np.interp(-X[:, column], -knots[::-1], grid)
        shares[:, column] = (below + 1 - above) / 2
    return ndtri(np.clip(shares, _LEAST_SHARE, 1 - _LEAST_SHARE))


def make_network(shape: Shape) -> Any:
    """A network whose scores are all 0, so that the linear part learns first."""
    from torch import nn

    layers, width = [], shape.n_columns
    for units in shape.hidden:
        layers += [nn.Linear(width, units), nn.ReLU(), nn.Dropout(shape.dropout)]
        width = units
    parts: dict[str, Any] = {"document": nn.Sequential(*layers), "score": nn.Linear(width, 1)}
    parts["linear"] = nn.Linear(shape.n_features, 1, bias=False)
    for name in ("score", "linear"):
        nn.init.zeros_(parts[name].weight)
    if shape.n_crosses:
        n = shape.n_columns
        pairs = [{"product": nn.Linear(n, n), "gate": nn.Linear(n, n, bias=False)} for _ in range(shape.n_crosses)]
        parts["cross"] = nn.ModuleList(map(nn.ModuleDict, pairs))
    if shape.n_blocks:
        if width % shape.n_heads:
            raise ValueError(f"n_heads is {shape.n_heads}, which does not divide the {width} units of the last layer")
        block = nn.TransformerEncoderLayer(
            width, shape.n_heads, 2 * width, shape.dropout, batch_first=True, norm_first=True
        )
        parts["query"] = nn.TransformerEncoder(block, shape.n_blocks, enable_nested_tensor=False)
    if shape.n_no_ops:
        parts["no_ops"] = nn.Embedding(shape.n_no_ops, width)
    return nn.ModuleDict(parts)


def members(network: Any) -> list[Any]:
    """The networks of an ensemble, or the only one."""
    return [network] if hasattr(network, "keys") else list(network)


def forward(network: Any, inputs: Tensor, mask: Tensor, low_precision: Any = None) -> Tensor:
    """Scores of padded queries; ``low_precision`` is the context in which hidden layers compute, if they should."""
    with low_precision or nullcontext():
        crossed = inputs
        if "cross" in network:
            for layer in network["cross"]:
                crossed = inputs * layer["product"](crossed) * layer["gate"](crossed).sigmoid() + crossed
        hidden = network["document"](crossed)
        if "query" in network:
            hidden = _attended(network, hidden, mask)
    features = inputs[..., : network["linear"].in_features]
    return (network["score"](hidden.to(inputs.dtype)) + network["linear"](features)).squeeze(-1)


def _attended(network: Any, hidden: Tensor, mask: Tensor) -> Tensor:
    """Documents after they have seen each other, and learned ones that stand for none: to look at them is a no-op."""
    import torch

    n_no_ops = network["no_ops"].num_embeddings if "no_ops" in network else 0
    if n_no_ops:
        learned = network["no_ops"].weight.to(hidden.dtype).expand(len(hidden), -1, -1)
        hidden = torch.cat([learned, hidden], 1)
        mask = torch.cat([mask.new_ones(len(mask), n_no_ops), mask], 1)
    return network["query"](hidden, src_key_padding_mask=~mask)[:, n_no_ops:]


def scores_of(networks: list[Any], inputs: Tensor, bounds: IntArray, device: str) -> FloatArray:
    """Mean scores of rows that lie query by query; small blocks of queries at a time, in full precision."""
    import torch

    n_rows, attends = len(inputs), "query" in networks[0]
    if not attends:  # then rows do not know each other, and need no padding
        bounds = np.append(np.arange(0, n_rows, _BLOCK_ROWS), n_rows)
    longest = int(np.diff(bounds).max())
    if attends:
        check_longest(longest, "attention=True", "attention=False")
    score = np.zeros(n_rows)
    for network in networks:
        network.eval()
        with openmp(), torch.no_grad():
            for part in gen_batches(len(bounds) - 1, max(1, _BLOCK_ROWS // longest)):
                index, mask = padded(bounds, np.arange(part.start, part.stop), "cpu")
                output = forward(network, inputs[index].to(device), mask.to(device)).cpu()
                score[index[mask].numpy()] += output[mask].numpy()
    return score / len(networks)
