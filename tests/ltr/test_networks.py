"""Layers of neural rankers: inputs by quantiles, products with gates, learned no-ops, several networks, 16 bits."""

from __future__ import annotations

from importlib.util import find_spec

import numpy as np
import pytest
from sklearn.preprocessing import QuantileTransformer

from rankwise.datasets import make_retrieval
from rankwise.ltr import NeuralRanker
from rankwise.ltr._networks import normal_scores, quantiles_of
from rankwise.metrics import ndcg_score

needs_torch = pytest.mark.skipif(find_spec("torch") is None, reason="PyTorch is not installed")
QUICK = {"n_epochs": 3, "early_stopping": False, "hidden": (8,), "random_state": 0}


@pytest.fixture(scope="module")
def data():
    X, y, qid, _ = make_retrieval(60, 5, docs_per_query=(1, 12), random_state=0)
    return X, y, qid


def test_normal_scores_are_those_of_scikit_learn():
    rng = np.random.default_rng(0)
    X = np.c_[rng.normal(size=500), rng.exponential(size=500) ** 4, rng.integers(0, 4, 500), np.ones(500)]
    other = np.concatenate([X[:20] + rng.normal(size=(20, 4)), [[-1e9] * 4, [1e9] * 4]])
    transformer = QuantileTransformer(n_quantiles=101, output_distribution="normal", subsample=None).fit(X[:, :3])
    found = normal_scores(other, quantiles_of(X))
    most = 3.0902  # of a share of 0.999
    np.testing.assert_allclose(found[:, :3], transformer.transform(other[:, :3]).clip(-most, most), atol=1e-4)
    assert found[other[:, 3] == 1.0, 3] == pytest.approx(0.0)  # a constant says nothing


@needs_torch
def test_quantiles_make_scales_of_features_irrelevant_to_hidden_layers(data):
    X, y, qid = data
    ranker = NeuralRanker(quantile_transform=True, log_transform=False, **QUICK).fit(X, y, qid)
    stretched = np.sinh(3 * X)
    again = NeuralRanker(quantile_transform=True, log_transform=False, **QUICK).fit(stretched, y, qid)
    inputs, others = (part._inputs(rows).numpy() for part, rows in ((ranker, X), (again, stretched)))
    assert inputs.shape == (len(X), 10)
    differences = abs(inputs[:, 5:] - others[:, 5:])  # values between two quantiles are interpolated
    assert differences.max() < 0.3
    assert differences.mean() < 0.02
    assert abs(inputs[:, :5] - others[:, :5]).mean() > 0.2
    assert NeuralRanker(quantile_transform=True, **QUICK).fit(X, y, qid)._inputs(X).shape == (len(X), 15)


@needs_torch
def test_layers_compute_products_with_gates(data):
    X, y, qid = data
    ranker = NeuralRanker(n_crosses=2, **QUICK).fit(X, y, qid)
    weights = {name: part.detach().numpy().astype(float) for name, part in ranker.network_.named_parameters()}
    first = inputs = ranker._inputs(X).numpy().astype(float)
    for layer in ("cross.0", "cross.1"):
        product = inputs @ weights[f"{layer}.product.weight"].T + weights[f"{layer}.product.bias"]
        gate = 1 / (1 + np.exp(-inputs @ weights[f"{layer}.gate.weight"].T))
        inputs = first * product * gate + inputs
    hidden = np.maximum(inputs @ weights["document.0.weight"].T + weights["document.0.bias"], 0)
    wanted = hidden @ weights["score.weight"][0] + weights["score.bias"] + first[:, :5] @ weights["linear.weight"][0]
    np.testing.assert_allclose(ranker.predict(X), wanted, atol=1e-4)
    assert abs(inputs - first).max() > 0.1


@needs_torch
def test_no_ops_are_learned_documents_that_everybody_sees(data):
    import torch

    X, y, qid = data
    ranker = NeuralRanker(attention=True, n_no_ops=3, **QUICK).fit(X, y, qid)
    network, rows = ranker.network_, qid == 4
    hidden = network["document"](ranker._inputs(X[rows]))
    together = torch.cat([network["no_ops"].weight, hidden])[None]
    seen = network["query"](together)[0, 3:]
    wanted = network["score"](seen) + network["linear"](ranker._inputs(X[rows])[:, :5])
    np.testing.assert_allclose(ranker.predict(X[rows]), wanted.detach().numpy()[:, 0], atol=1e-5)
    np.testing.assert_allclose(ranker.predict(X, qid)[rows], wanted.detach().numpy()[:, 0], atol=1e-5)
    begin = NeuralRanker(attention=True, n_no_ops=3, **(QUICK | {"learning_rate": 1e-12})).fit(X, y, qid)
    assert abs(begin.network_["no_ops"].weight - network["no_ops"].weight).max() > 1e-3
    with pytest.raises(ValueError, match="n_no_ops is 2, but no document looks at others; set attention=True"):
        NeuralRanker(n_no_ops=2).fit(X, y, qid)


@needs_torch
def test_scores_of_several_networks_are_their_mean(data):
    X, y, qid = data
    options = QUICK | {"n_epochs": 6, "early_stopping": True, "n_iter_no_change": 2, "warm_start": False}
    ranker = NeuralRanker(n_networks=3, **options).fit(X, y, qid, eval_set=(X, y, qid))
    whole, parts = ranker.predict(X), []
    networks = ranker.network_
    for network in networks:
        ranker.network_ = network
        parts.append(ranker.predict(X))
    np.testing.assert_allclose(np.mean(parts, axis=0), whole, atol=1e-6)
    assert min(np.ptp(parts[0] - parts[1]), np.ptp(parts[0] - parts[2]), np.ptp(parts[1] - parts[2])) > 0.01
    found = ndcg_score(y, whole, qid, k=10, gain="exp")
    assert found == pytest.approx(ranker.history_["validation"][ranker.n_epochs_ - 1], abs=1e-6)
    assert found == pytest.approx(max(ranker.history_["validation"]), abs=1e-6)


@needs_torch
def test_hidden_layers_may_compute_with_16_bits_in_training(data, monkeypatch):
    import torch

    X, y, qid = data
    seen = []
    relu = torch.nn.ReLU.forward

    def watched(layer, values):
        seen.append((layer.training, values.dtype))
        return relu(layer, values)

    monkeypatch.setattr(torch.nn.ReLU, "forward", watched)
    plain, auto, mixed = (
        NeuralRanker(mixed_precision=precision, **QUICK).fit(X, y, qid) for precision in (False, "auto", True)
    )
    np.testing.assert_array_equal(auto.predict(X), plain.predict(X))
    low, full = (True, torch.bfloat16), (False, torch.float32)
    assert set(seen) == {low, (True, torch.float32), full}
    seen.clear()
    NeuralRanker(mixed_precision=True, attention=True, n_crosses=1, n_no_ops=1, **QUICK).fit(X, y, qid)
    assert set(seen) == {low, full}
    difference = mixed.predict(X) - plain.predict(X)
    assert 1e-6 < np.ptp(difference) < 0.1
    assert mixed.score(X, y, qid) == pytest.approx(plain.score(X, y, qid), abs=0.02)
    assert {part.dtype for part in mixed.network_.parameters()} == {torch.float32}
