"""Streams: functions that need not be computed are scored as if they had been."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from rankwise.screening import _screening_jit
from rankwise.screening.concordance import Target
from rankwise.screening.distinct import input_errors
from rankwise.screening.expressions import UNARY

STEP = np.finfo(float).eps
LAWS = {
    "mixed": lambda rng: rng.standard_normal(40),
    "positive": lambda rng: rng.random(40) + 0.1,
    "negative": lambda rng: -rng.random(40) - 0.1,
    "with zero": lambda rng: np.append(0.0, rng.random(39)),
    "ties": lambda rng: rng.integers(1, 6, 40).astype(float),
    "neighbors": lambda rng: 1 + STEP * rng.integers(0, 30, 40),  # roots of them are equal
    "close": lambda rng: 1e3 * (1 + 3000 * STEP * rng.permutation(40)),  # logarithms of them are equal
    "close to zero": lambda rng: 1e-17 * rng.standard_normal(40),  # exponentials of them are equal
    "small": lambda rng: np.append(1.0, 1e-120 * rng.random(39)),  # cubes of them vanish
    "large": lambda rng: 1e120 * rng.random(40),  # cubes of them overflow
    "for exp too large": lambda rng: 1000 * rng.random(40),
    "for exp too small": lambda rng: -1000 * rng.random(40) - 1,
    "reciprocals overflow": lambda rng: np.append(1e-310, rng.random(39)),
    "nearly constant": lambda rng: 1 + 1e-12 * rng.random(40),
    "mixed, with zero": lambda rng: np.append(0.0, rng.standard_normal(39)),
    "mirrored": lambda rng: np.outer([1.0, -1.0], rng.random(20)).ravel(),
    "nearly mirrored": lambda rng: np.outer([1.0, -1.0 - 1e-14], rng.random(20)).ravel(),
    "turns": lambda rng: 50 * rng.standard_normal(40),
    "many turns": lambda rng: 1e4 * rng.standard_normal(40),
    "more turns than can be subtracted": lambda rng: 1e7 * rng.standard_normal(40),
    "near half turns": lambda rng: np.pi * rng.integers(-5, 6, 40) + 1e-7 * rng.standard_normal(40),
    "near quarter turns": lambda rng: np.pi / 2 * (1 + rng.integers(-5, 6, 40)) + 1e-7 * rng.standard_normal(40),
    "equal sines": lambda rng: np.append(x := rng.random(20), np.pi - x),
    "equal cosines": lambda rng: np.append(x := rng.random(20) + 9, 8 * np.pi - x),
    "mixed, with ties": lambda rng: rng.integers(-9, 10, 40) + 0.25,
}


@pytest.mark.parametrize("law", LAWS)
def test_functions_are_scored_as_computed(rng, law):
    x = LAWS[law](rng)
    values = np.array([x, rng.permutation(x)])
    errors = input_errors(values)
    target = Target.of(rng.standard_normal(40))
    codes = np.tile([operator.code for operator in UNARY.values()], 2)
    rows = np.repeat([0, 1], len(UNARY))
    with np.errstate(all="ignore"):
        covariation, fingerprint, spread = _screening_jit.score_expressions(
            values, errors, np.ones(2, bool), codes, rows, rows, target.centered, target.weights
        )
        computed, bounds, usable = _screening_jit.evaluate_expressions(values, errors, codes, rows, rows)
        settled = computed[usable]
        _screening_jit.settle_rows(settled, bounds[usable])
        expected = _screening_jit.score_rows(settled, np.empty(40, np.int64), target.centered, target.weights)
    np.testing.assert_array_equal(~np.isnan(covariation), usable)
    np.testing.assert_allclose(covariation[usable], expected[0], atol=1e-12 * target.covariation)
    np.testing.assert_array_equal(fingerprint[usable], expected[1])
    np.testing.assert_array_equal(spread[usable], expected[2])


@pytest.mark.parametrize("digits", [1, 2, 4])
@pytest.mark.parametrize("code", range(11, 16))
def test_expressions_of_decimals_are_scored_as_those_of_exact_fractions(rng, digits, code):
    """Ties, in exact arithmetic, of what decimals are written as; not of what they are rounded to."""
    numerators = rng.integers(1, 10**digits, (2, 60))
    exact = [[Fraction(int(number), 10**digits) for number in row] for row in numerators]
    operators = [lambda a, b: a + b, lambda a, b: a - b, lambda a, b: a * b, lambda a, b: a / b]
    function = [*operators, lambda a, b: abs(a - b)][code - 11]
    results = [function(a, b) for a, b in zip(*exact, strict=True)]
    places = np.array([sorted(set(results)).index(result) for result in results], dtype=float)
    target = Target.of(rng.standard_normal(60))
    values = numerators / 10**digits
    with np.errstate(all="ignore"):
        found = _screening_jit.score_expressions(
            values,
            input_errors(values),
            np.ones(2, bool),
            np.array([code]),
            np.array([0]),
            np.array([1]),
            target.centered,
            target.weights,
        )
        expected = _screening_jit.score_rows(places[None], np.empty(60, np.int64), target.centered, target.weights)
    np.testing.assert_allclose(found[0], expected[0], atol=1e-12 * target.covariation)
    np.testing.assert_array_equal(found[1], expected[1])
    np.testing.assert_array_equal(found[2], expected[2])
