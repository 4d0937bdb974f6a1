"""Streams: functions that need not be computed are scored as if they had been."""

from __future__ import annotations

import numpy as np
import pytest

from rankwise.screening import _jit
from rankwise.screening.operators import UNARY
from rankwise.screening.scores import Target

STEP = np.finfo(float).eps
LAWS = {
    "mixed": lambda rng: rng.standard_normal(40),
    "positive": lambda rng: rng.random(40) + 0.1,
    "negative": lambda rng: -rng.random(40) - 0.1,
    "with zero": lambda rng: np.append(0.0, rng.random(39)),
    "ties": lambda rng: rng.integers(1, 6, 40).astype(float),
    "neighbours": lambda rng: 1 + STEP * rng.integers(0, 30, 40),  # roots of them are equal
    "close": lambda rng: 1e3 * (1 + 3000 * STEP * rng.permutation(40)),  # logarithms of them are equal
    "close to zero": lambda rng: 1e-17 * rng.standard_normal(40),  # exponentials of them are equal
    "small": lambda rng: np.append(1.0, 1e-120 * rng.random(39)),  # cubes of them vanish
    "large": lambda rng: 1e120 * rng.random(40),  # cubes of them overflow
    "for exp too large": lambda rng: 1000 * rng.random(40),
    "for exp too small": lambda rng: -1000 * rng.random(40) - 1,
    "reciprocals overflow": lambda rng: np.append(1e-310, rng.random(39)),
    "nearly constant": lambda rng: 1 + 1e-12 * rng.random(40),
}


@pytest.mark.parametrize("law", LAWS)
def test_monotone_functions_are_scored_as_computed(rng, law):
    x = LAWS[law](rng)
    values = np.array([x, rng.permutation(x)])
    target = Target.of(rng.standard_normal(40))
    codes = np.tile([operator.code for operator in UNARY.values()], 2)
    rows = np.repeat([0, 1], len(UNARY))
    with np.errstate(all="ignore"):
        covariation, fingerprint, spread = _jit.score_expressions(
            values, codes, rows, rows, target.centred, target.weights
        )
        computed, usable = _jit.evaluate_expressions(values, codes, rows, rows)
        expected = _jit.score_rows(computed[usable], np.empty(40, np.int64), target.centred, target.weights)
    np.testing.assert_array_equal(~np.isnan(covariation), usable)
    np.testing.assert_allclose(covariation[usable], expected[0], atol=1e-12 * target.covariation)
    np.testing.assert_array_equal(fingerprint[usable], expected[1])
    np.testing.assert_array_equal(spread[usable], expected[2])
