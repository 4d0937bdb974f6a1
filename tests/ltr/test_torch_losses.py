"""Losses of neural rankers: formulas, finite differences, and masked equals absent."""

from __future__ import annotations

import numpy as np
import pytest

from rankwise.ltr._torch_losses import LOSSES
from tests.naive import ltr as naive

torch = pytest.importorskip("torch", reason="PyTorch is not installed")


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
    wanted = [naive.loss_of_query(name, t[m], z[m]) for t, z, m in zip(scores, relevance, mask, strict=True)]
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
