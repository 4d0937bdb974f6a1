"""Oracles with Lipschitz probabilities: their constants hold, and are not far from the smallest that do."""

from __future__ import annotations

import numpy as np
import pytest

from rankwise.datasets import lipschitz_oracle
from rankwise.label_ranking import conditional_noise_margin


@pytest.mark.parametrize("margin", [0.0, 0.1, 0.3])
@pytest.mark.parametrize("n_features", [2, 4])
def test_the_constants_hold_and_are_close(margin, n_features):
    oracle = lipschitz_oracle(4, n_features, margin=margin, gap=0.3, random_state=3)
    X, y = oracle.sample(500, random_state=0)
    assert X.shape == (500, n_features)
    assert y.shape == (500, 4)
    assert ((X >= 0) & (X <= 1)).all()
    # The steepest way through the middle, where all scores cross, or straight from one area to another.
    direction = np.linspace(0, 1, 41)[:, None] * np.eye(n_features)[0] + 0.5 * (np.arange(n_features) > 0)
    corners = 0.5 + 0.15000001 * np.array([[-1, -1], [-1, 1], [1, -1], [1, 1]])
    facing = np.full((4, n_features), 0.5)
    facing[:, :2] = corners
    rows = np.vstack([X, direction if margin == 0 else facing])
    P = oracle.preference_probability(rows)
    first, second = np.triu_indices(4, 1)
    change = np.abs(P[:, None, first, second] - P[None, :, first, second]).sum(axis=2)
    distance = np.linalg.norm(rows[:, None] - rows, axis=2)
    slopes = np.divide(change, distance, out=np.zeros_like(change), where=distance > 1e-9)
    assert slopes.max() <= oracle.m.lipschitz * (1 + 1e-9)
    assert slopes.max() >= (0.3 if margin == 0 else 0.999) * oracle.m.lipschitz
    assert oracle.m.margin == margin
    found = conditional_noise_margin(P)
    assert found == pytest.approx(margin, abs=1e-9) if margin else found < 0.01


def test_areas_have_their_own_medians_and_a_gap():
    oracle = lipschitz_oracle(5, 3, margin=0.2, gap=0.5, random_state=0)
    X, _ = oracle.sample(400, random_state=1)
    assert (np.abs(X[:, :2] - 0.5) >= 0.25).all()
    assert (np.abs(X[:, 2] - 0.5) < 0.2).any()
    np.testing.assert_array_equal(oracle.median(X), oracle.m.centers[oracle.m.areas.area_of(X)])
    assert len(np.unique(oracle.median(X), axis=0)) > 2


def test_the_same_seed_gives_the_same_oracle():
    first, second = (lipschitz_oracle(random_state=5) for _ in range(2))
    np.testing.assert_array_equal(first.m.weights, second.m.weights)
    assert lipschitz_oracle(slope=2.0, random_state=5).m.lipschitz == pytest.approx(2 * first.m.lipschitz)


@pytest.mark.parametrize(
    ("options", "message"), [({"margin": 0.5}, "below 1/2"), ({"gap": 0}, "gap is 0"), ({"n_items": 1}, "n_items is 1")]
)
def test_bad_input(options, message):
    with pytest.raises(ValueError, match=message):
        lipschitz_oracle(**options)
