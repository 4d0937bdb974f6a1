"""Stages of Mallows rankings against their definition, and the equation for theta."""

from __future__ import annotations

import numpy as np
import pytest

from rankwise.aggregation import _mallows_stages as stages
from rankwise.aggregation._mallows_laws import KendallLaw


@pytest.mark.parametrize("theta", [0.0, 1e-12, 1e-5, 0.01, 0.029, 0.031, 0.4, 5.0, 800.0, np.inf])
@pytest.mark.parametrize("size", [1, 2, 7, 10])
def test_stage_against_its_definition(theta, size):
    v = np.arange(size)
    weights = np.where(v > 0, np.exp(-theta * np.maximum(v, 1.0)), 1.0)
    mean = weights @ v / weights.sum()
    variance = weights @ (v - mean) ** 2 / weights.sum()
    np.testing.assert_allclose(stages.log_normalizers(theta, size), np.log(weights.sum()), rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(stages.means(theta, size), mean, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(stages.variances(theta, size), variance, rtol=1e-10, atol=1e-12)


def test_series_and_closed_form_meet():
    size = 50.0
    at = np.array([stages._SERIES_BELOW * (1 - 1e-9), stages._SERIES_BELOW * (1 + 1e-9)]) / size
    for function in (stages.means, stages.variances):
        below, above = function(at, size)
        assert below == pytest.approx(above, rel=1e-8)


@pytest.mark.parametrize("theta", [1e-7, 1e-3, 0.5, 4.0, 25.0])
@pytest.mark.parametrize("k", [2, 10, 300])
def test_theta_is_found_from_its_mean(theta, k):
    law = KendallLaw(k)
    # Near 0 the mean hardly depends on theta, so its rounding error limits the accuracy.
    blur = 1e-15 * law.moments(theta)[0] / law.moments(theta)[1]
    assert stages.solve_theta(law.moments, law.moments(theta)[0]) == pytest.approx(theta, rel=1e-10, abs=4 * blur)


def test_theta_at_its_limits():
    law = KendallLaw(4)
    assert stages.solve_theta(law.moments, 0.0) == np.inf
    assert stages.solve_theta(law.moments, 3.0) == 0
    assert stages.solve_theta(law.moments, 5.0) == 0
    assert 0 < stages.solve_theta(law.moments, 2.999) < 0.01
    assert 25 < stages.solve_theta(law.moments, 1e-12) < 30
