"""Losses of neural rankers: formulas, finite differences, and masked equals absent."""

from __future__ import annotations

import numpy as np
import pytest

from rankwise.ltr._torch_losses import LOSSES
from tests.naive import ltr as naive

torch = pytest.importorskip("torch", reason="PyTorch is not installed")


def by_formula(name, t, z):
    """Loss of one query from its definition."""
    n = len(t)
    pairs = [(i, j) for i in range(n) for j in range(n) if z[i] > z[j]]
    gaps = np.array([t[i] - t[j] for i, j in pairs])
    log_softmax = t - np.log(np.exp(t).sum())
    if name == "pointwise_squared":
        return np.mean((t - z) ** 2)
    if name == "pointwise_logistic":
        return np.mean(-z * t + np.log(1 + np.exp(t)))
    if name == "pairwise_logistic":
        return np.mean(np.log(1 + np.exp(-gaps))) if pairs else 0.0
    if name == "pairwise_hinge":
        return np.mean(np.maximum(0, 1 - gaps)) if pairs else 0.0
    if name == "lambdarank":
        return naive.pairwise_loss(naive.weight_matrix("ndcg", z, t), t)
    if name == "listwise_softmax":
        return -np.sum(z / z.sum() * log_softmax) if z.any() else 0.0
    if name == "listwise_listnet":
        return -np.sum(np.exp(z) / np.exp(z).sum() * log_softmax)
    if name == "listwise_approx_ndcg":
        gains = 2**z - 1
        ideal = np.sum(np.sort(gains)[::-1] / np.log2(np.arange(2, n + 2)))
        places = [1 + sum(1 / (1 + np.exp(-(t[j] - t[i]) / 0.1)) for j in range(n) if j != i) for i in range(n)]
        return 1 - np.sum(gains / np.log2(1 + np.array(places))) / ideal if ideal else 0.0
    ranked = t[np.argsort(-z, kind="stable")]
    alpha = np.ones(n)
    if name == "listwise_plistmle":
        alpha = 2.0 ** (n - np.arange(1, n + 1)) - 1
        alpha = alpha / alpha[0] if n > 1 else alpha
    return sum(-alpha[k] * np.log(np.exp(ranked[k]) / np.exp(ranked[k:]).sum()) for k in range(n))


def batch(seed=0):
    rng = np.random.default_rng(seed)
    scores, relevance = rng.normal(size=(4, 6)), rng.integers(0, 3, (4, 6)).astype(float)
    mask = np.array([[1] * 6, [1, 1, 1, 1, 0, 0], [1, 0, 0, 0, 0, 0], [1, 1, 1, 0, 0, 0]], dtype=bool)
    relevance[3] = 0  # no relevant document
    relevance[0, 0] = 2
    return scores, relevance, mask


def tensors(*arrays):
    return [torch.as_tensor(array) for array in arrays]


@pytest.mark.parametrize("name", LOSSES)
def test_losses_are_their_formulas(name):
    scores, relevance, mask = batch()
    found = LOSSES[name](*tensors(scores, relevance, mask)).numpy()
    wanted = [by_formula(name, t[m], z[m]) for t, z, m in zip(scores, relevance, mask, strict=True)]
    np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", LOSSES)
def test_gradients_are_finite_differences(name):
    scores, relevance, mask = tensors(*batch(1))
    scores.requires_grad_()
    LOSSES[name](scores, relevance, mask).sum().backward()
    for q in range(4):
        for i in range(6):
            values = []
            for step in (-1e-5, 1e-5):
                moved = scores.detach().clone()
                moved[q, i] += step
                values.append(LOSSES[name](moved, relevance, mask).sum().item())
            assert scores.grad[q, i].item() == pytest.approx((values[1] - values[0]) / 2e-5, abs=1e-6)


@pytest.mark.parametrize("name", LOSSES)
def test_masked_is_absent(name):
    scores, relevance, mask = batch(2)
    plain = LOSSES[name](*tensors(scores, relevance, mask))
    # Anything may stand where nothing is, and more of it.
    rng = np.random.default_rng(0)
    filled = np.where(mask, scores, 1000 * rng.normal(size=mask.shape))
    graded = np.where(mask, relevance, rng.integers(0, 5, mask.shape))
    wider = [
        np.pad(filled, ((0, 0), (0, 3)), constant_values=50.0),
        np.pad(graded, ((0, 0), (0, 3)), constant_values=4.0),
    ]
    inputs = tensors(*wider, np.pad(mask, ((0, 0), (0, 3))))
    inputs[0].requires_grad_()
    padded = LOSSES[name](*inputs)
    np.testing.assert_allclose(padded.detach().numpy(), plain.numpy(), rtol=1e-9, atol=1e-12)
    padded.sum().backward()
    gradient = inputs[0].grad.numpy()
    assert np.isfinite(gradient).all()
    np.testing.assert_array_equal(gradient[~np.pad(mask, ((0, 0), (0, 3)))], 0)
