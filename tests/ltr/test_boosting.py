"""Numbers whose sums are exact."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankwise.ltr.boosting import round_for_exact_sums


@given(st.integers(1, 3000), st.floats(-30, 30), st.integers(0, 2**32 - 1), st.sampled_from([np.float32, np.float64]))
def test_sums_are_exact_in_every_order(n, scale, seed, kind):
    rng = np.random.default_rng(seed)
    values = rng.normal(size=n) * np.exp(rng.normal(size=n) * 10 + scale)
    rounded = round_for_exact_sums(values, "numbers", kind)
    assert rounded.dtype == kind
    exact = math.fsum(rounded.tolist())
    for order in (np.arange(n), rng.permutation(n), np.argsort(rounded)):
        assert np.cumsum(rounded[order].astype(np.float64))[-1] == exact
    # Apart from the conversion to 32 bits, the error is small compared with the largest value.
    loss = np.abs(rounded.astype(np.float64) - values.astype(kind))
    assert loss.max() <= np.abs(values).max() * n * 2.0**-51


def test_numbers_of_any_size_are_rounded_alike():
    values = np.random.default_rng(0).normal(size=100)
    for scale in (2.0**-120, 2.0**100):
        np.testing.assert_array_equal(
            round_for_exact_sums(scale * values, "numbers"), scale * round_for_exact_sums(values, "numbers")
        )
    tiny = values * 1e-36
    assert np.abs(round_for_exact_sums(tiny, "numbers", np.float32) - tiny).max() < 1e-42


def test_zeros_stay_and_what_is_too_large_is_named():
    np.testing.assert_array_equal(round_for_exact_sums(np.zeros(3), "numbers"), np.zeros(3))
    for large in (np.inf, np.nan, 1e200):
        with pytest.raises(ValueError, match="the gradients of the objective reach"):
            round_for_exact_sums(np.array([1.0, large]), "gradients")
    with pytest.raises(ValueError, match=r"the gradients of the objective reach 1e[+]39"):
        round_for_exact_sums(np.array([1.0, -1e39]), "gradients", np.float32)
