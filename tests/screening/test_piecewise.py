"""Piecewise monotone transforms."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binom, cauchy, lognorm, norm, t, uniform

from rankwise.screening import monotone_intervals, preference_probability, preimages, refined_intervals
from tests.naive import screening as naive

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "screening.json").read_text("utf-8"))


def line(x):
    return x + 1.2


def arch(x):
    return 4 * x - 4 * x**2


@pytest.mark.parametrize(("C", "p"), list(zip(GOLDEN["example_7"]["C"], GOLDEN["example_7"]["p"], strict=True)))
def test_example_7(C, p):
    assert preference_probability(line, arch, C, uniform()) == pytest.approx(p, abs=1e-9)
    assert preference_probability(arch, line, C, uniform()) == pytest.approx(-p, abs=1e-9)
    grid = np.linspace(0, 1, 101)
    table = (grid, arch(grid))
    assert preference_probability(line, table, C, uniform()) == pytest.approx(p, abs=1e-9)
    sample = (np.arange(1000) + 0.5) / 1000
    assert preference_probability(line, table, C, sample) == pytest.approx(p, abs=1e-9)


@pytest.mark.parametrize(
    ("C", "divided"), list(zip(GOLDEN["example_7"]["C"], GOLDEN["example_7"]["preimages"], strict=True))
)
def test_pre_images_of_example_7(C, divided):
    ends = refined_intervals(line, arch, 0, 1)
    np.testing.assert_allclose(ends, [0, 0.5, 1], atol=1e-7)
    found = np.array([preimages(f, C, ends) for f in (line, arch)])
    np.testing.assert_array_equal(np.isfinite(found).T, divided)
    for f, places in zip((line, arch), found, strict=True):
        places = places[np.isfinite(places)]
        np.testing.assert_allclose(f(places), C, atol=1e-12)


def tables(draw):
    knots = [-2.0, *sorted(draw.choice(np.linspace(-1.9, 1.9, 39), 3, replace=False)), 2.0]
    return knots, draw.permutation(5).astype(float)


def test_two_values_against_the_definition(rng):
    """Equation 14 with C1 and C2, by counting: intervals of tables, and where they take the values."""
    sample = rng.uniform(-2, 2, 200)
    compared = refused = 0
    for _ in range(150):
        f1, f2 = tables(rng), tables(rng)
        C = tuple(rng.integers(-1, 5, 2) + 0.5123)  # not a value at an end
        np.testing.assert_allclose(refined_intervals(f1, f2, -2, 2), naive.refined_ends(f1, f2), atol=1e-9)
        expected = naive.preference(f1, f2, *C, sample)
        if expected is None:
            refused += 1
            with pytest.raises(ValueError, match="only the target can decide"):
                preference_probability(f1, f2, C, np.append(sample, [-2, 2]))
        else:
            compared += 1
            found = preference_probability(f1, f2, C, np.append(sample, [-2, 2]))
            assert found == pytest.approx(naive.preference(f1, f2, *C, np.append(sample, [-2, 2])), abs=1e-9)
            assert preference_probability(f2, f1, C[::-1], np.append(sample, [-2, 2])) == pytest.approx(-found)
    assert compared > 20
    assert refused > 20


def test_preimages():
    ends = monotone_intervals(waves, 0, 4)
    np.testing.assert_allclose(preimages(waves, 0.0, ends), [1, 2, 3], atol=1e-9)
    np.testing.assert_allclose(preimages(waves, 3.0, ends), [np.nan, np.nan, 3.6717], atol=1e-4)
    knots, values = [0, 1, 3], [0, 4, 0]
    np.testing.assert_allclose(preimages((knots, values), 2.0, knots), [0.5, 2])
    # The value at an end belongs to the interval on its right, except at the last end.
    np.testing.assert_allclose(preimages((knots, values), 4.0, knots), [np.nan, 1])
    np.testing.assert_allclose(preimages((knots, values), 0.0, knots), [0, 3])
    # Over a jump, the place of the jump.
    np.testing.assert_allclose(preimages(np.floor, 0.5, [0.2, 1.9]), [1])


def test_constants_keep_transforms_apart():
    """As the paper says: a constant added to one transform changes no split, so that one C serves both."""
    for C in (0.2, 0.6, 0.9):
        apart = preference_probability(lambda x: line(x) + 5, arch, C, uniform())
        assert preference_probability(line, arch, (C - 5, C), uniform()) == pytest.approx(apart)


def test_any_distribution():
    # Of x and -x - 10, a split at 1 divides by the first only; it is monotone on the whole line.
    assert preference_probability(lambda x: x, lambda x: -x - 20, 1.0, norm()) == pytest.approx(1, abs=1e-6)
    # |x| takes the value 1 on both sides of 0, the bump nowhere.
    assert preference_probability(np.abs, lambda x: -np.exp(-x), 1.0, norm(0, 2)) == pytest.approx(1, abs=1e-6)
    # arch turns at 1/2 and is below 2; x^3 - 5 takes the value 2 between 1/2 and 3.
    assert preference_probability(lambda x: x**3 - 5, arch, 2.0, uniform(-1, 4)) == pytest.approx(2.5 / 4)


def waves(x):
    return (x - 1) * (x - 2) * (x - 3)


@pytest.mark.parametrize("law", [lognorm(2), t(2), cauchy(), lognorm(4), norm(2)])
def test_heavy_tails_hide_no_turns(law):
    # Of the waves, the value 5 is taken after the second turn alone; the line is far away.
    expected = law.sf(2 + 3**-0.5)
    assert preference_probability(waves, lambda x: x + 1e30, 5.0, law) == pytest.approx(expected, abs=1e-7)
    sample = law.rvs(500, random_state=0)
    share = (sample > 2 + 3**-0.5).mean()
    assert preference_probability(waves, lambda x: x + 1e30, 5.0, sample) == pytest.approx(share, abs=1e-9)


def test_new_distributions_of_scipy():
    stats = pytest.importorskip("scipy.stats", reason="from SciPy 1.15 on")
    if not hasattr(stats, "Normal"):
        pytest.skip("from SciPy 1.15 on")
    law = stats.Normal(mu=2.0, sigma=1.0)
    value = preference_probability(waves, lambda x: x + 1e30, 5.0, law)
    assert value == pytest.approx(norm(2).sf(2 + 3**-0.5), abs=1e-7)


def test_discrete_distributions():
    # The arch turns at 5, and takes the value 20 on the way up to it and on the way down; the line never does.
    value = preference_probability(lambda x: x * (10 - x), lambda x: x + 100, 20.0, binom(10, 0.5))
    assert value == pytest.approx(1)


@pytest.mark.parametrize(
    ("f", "ends"),
    [
        (lambda x: x, [-2, 2]),
        (np.abs, [-2, 0, 2]),
        (lambda x: x**3 - x, [-2, -(3**-0.5), 3**-0.5, 2]),
        (lambda x: np.sin(np.pi * x), [-2, -1.5, -0.5, 0.5, 1.5, 2]),
        (([-2.0, -1.0, 0.3, 2.0], [0.0, 1.0, -1.0, 5.0]), [-2, -1, 0.3, 2]),
        # level stretches: on the way, at the top, at the start, everywhere
        (lambda x: np.clip(x, -1, 0) + np.clip(x - 1, 0, None), [-2, 2]),
        (lambda x: np.minimum(np.minimum(x + 2, 1), 2 - x), [-2, 1, 2]),
        (([-2.0, -1.0, 0.0, 1.0, 2.0], [0.0, 1.0, 1.0, 2.0, 3.0]), [-2, 2]),
        (([-2.0, -1.0, 0.0, 1.0, 2.0], [1.0, 1.0, 1.0, 0.0, 3.0]), [-2, 1, 2]),
        (lambda x: 0 * x + 3, [-2, 2]),
        (np.floor, [-2, 2]),
        # rounding: of sums, of a polynomial near its root, of what is constant
        (lambda x: (x + 1e12) - 1e12, [-2, 2]),
        (lambda x: np.polyval(np.poly([0.5] * 9), x), [-2, 2]),
        (lambda x: np.sin(x) ** 2 + np.cos(x) ** 2, [-2, 2]),
        (lambda x: np.tanh(40 * x), [-2, 2]),
        # and what is small is not rounding
        (lambda x: 1 + 1e-9 * x**2, [-2, 0, 2]),
        (lambda x: 1e-200 * x**2, [-2, 0, 2]),
        (lambda x: np.exp(50 * x) - 100 * x, [-2, np.log(2) / 50, 2]),
    ],
)
def test_monotone_intervals(f, ends):
    np.testing.assert_allclose(monotone_intervals(f, -2, 2), ends, atol=1e-6)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (
            lambda: preference_probability(line, lambda x: x + 1.3, 1.5, uniform()),
            ValueError,
            "only the target can decide",
        ),
        (lambda: monotone_intervals(line, 1, 0), ValueError, "lower one first"),
        (
            lambda: monotone_intervals(lambda x: np.where(x > 0.5, np.nan, x), 0, 1),
            ValueError,
            "not finite at x = 0.5005",
        ),
        (lambda: monotone_intervals(3, 0, 1), TypeError, "function of an array"),
        (lambda: monotone_intervals(math.sin, 0, 10), TypeError, "does not take an array .* give a function of arrays"),
        (lambda: monotone_intervals(([0, 0], [1, 2]), 0, 1), ValueError, "increasing x"),
        (lambda: preference_probability(line, arch, 1, [2.0, 2.0]), ValueError, "two different"),
        (lambda: preference_probability(line, arch, np.nan, uniform()), ValueError, "C is nan; give the number"),
        (lambda: preference_probability(line, arch, "1", uniform()), ValueError, "C is '1'; give the number"),
        (lambda: preference_probability(line, arch, (1, 2, 3), uniform()), ValueError, "or two numbers"),
        (
            lambda: preference_probability(line, lambda x: x, (1.5, 0.1), uniform()),
            ValueError,
            "their values 1.5 and 0.1 between",
        ),
        (lambda: preimages(line, 1, [1, 0]), ValueError, "increasing finite numbers"),
        (lambda: preimages(lambda x: np.where(x < 0, np.nan, x), 1, [-1, 1]), ValueError, "not finite at x = -1"),
        (lambda: refined_intervals(line, arch, 0, np.inf), ValueError, "lower one first"),
    ],
)
def test_bad_input_is_refused(call, error, words):
    with pytest.raises(error, match=words):
        call()
