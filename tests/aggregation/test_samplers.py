from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from rankwise.aggregation import sample_mallows, sample_plackett_luce
from rankwise.aggregation._samplers_jit import mallows_positions
from tests.naive import datasets as naive

# Neither the ranking nor its order is its own inverse, so that places and names cannot be mixed up unseen.
CENTER = (2, 4, 1, 3)
N = 40_000


def p_value(draws: np.ndarray, law: dict[tuple[int, ...], float]) -> float:
    """Chi-square test of draws against the probabilities of all rankings."""
    counts = dict.fromkeys(law, 0)
    for row in draws.astype(int).tolist():
        counts[tuple(row)] += 1
    expected = np.array(list(law.values())) * len(draws)
    return chisquare(list(counts.values()), expected).pvalue


@pytest.mark.parametrize("theta", [0.0, 0.3, 1.0])
def test_mallows_follows_its_law_over_all_rankings(theta):
    draws = sample_mallows(CENTER, theta, N, random_state=1)
    assert p_value(draws, naive.mallows_law(CENTER, theta)) > 1e-3


def test_noise_on_names_instead_of_places_would_be_noticed():
    moved = sample_mallows([1, 2, 3, 4], 1.0, N, random_state=1).astype(int) - 1
    names = moved[:, np.argsort(CENTER)]  # the item at each place is replaced by another item
    wrong = np.argsort(names, axis=1) + 1.0
    assert p_value(wrong, naive.mallows_law(CENTER, 1.0)) < 1e-9


def test_own_center_for_every_row():
    rng = np.random.default_rng(0)
    centers = np.argsort(rng.random((N, 4)), axis=1) + 1.0
    draws = sample_mallows(centers, 1.0, random_state=2)
    distance = [naive.kendall_distance(draw, center) for draw, center in zip(draws, centers, strict=True)]
    law = np.zeros(7)
    for ranking, probability in naive.mallows_law((1, 2, 3, 4), 1.0).items():
        law[naive.kendall_distance(ranking, (1, 2, 3, 4))] += probability
    assert chisquare(np.bincount(distance, minlength=7), law * N).pvalue > 1e-3


@pytest.mark.parametrize(("k", "theta"), [(3, 2.0), (8, 1.0), (20, 0.2), (150, 0.05)])
def test_mean_distance_of_mallows(k, theta):
    n = 1000
    center = np.random.default_rng(k).permutation(k) + 1.0
    draws = sample_mallows(center, theta, n, random_state=3)
    upper, lower = np.triu_indices(k, 1)
    agree = (draws[:, upper] < draws[:, lower]) == (center[upper] < center[lower])
    distance = (~agree).sum(axis=1)
    phi, j = np.exp(-theta), np.arange(1, k + 1)
    mean = k * phi / (1 - phi) - np.sum(j * phi**j / (1 - phi**j))
    variance = k * phi / (1 - phi) ** 2 - np.sum(j**2 * phi**j / (1 - phi**j) ** 2)
    assert abs(distance.mean() - mean) < 4 * np.sqrt(variance / n)


@given(
    k=st.sampled_from([1, 2, 5, 12, 128, 129, 200]),
    theta=st.sampled_from([0.0, 1e-9, 0.01, 0.5, 3.0, 800.0, np.inf]),
    seed=st.integers(0, 2**32 - 1),
)
def test_kernel_equals_insertion(k, theta, seed):
    rng = np.random.default_rng(seed)
    centers = np.argsort(rng.random((3, k)), axis=1)
    uniforms = rng.random((3, k))
    draws = mallows_positions(centers, theta, uniforms)
    for center, numbers, draw in zip(centers, uniforms, draws, strict=True):
        np.testing.assert_array_equal(draw, naive.mallows_by_insertion(center + 1, theta, numbers))


def test_mallows_at_its_limits():
    assert np.array_equal(sample_mallows(CENTER, np.inf, 3), [CENTER] * 3)
    assert sample_mallows(CENTER, 1.0).shape == (1, 4)
    assert sample_mallows(CENTER, 1.0, 0).shape == (0, 4)


def test_plackett_luce_follows_its_law():
    log_worth = [0.5, -1.0, 0.0, 1.0]
    draws = sample_plackett_luce(log_worth, N, random_state=4)
    assert p_value(draws, naive.plackett_luce_law(log_worth)) > 1e-3


def test_own_worths_for_every_row():
    draws = sample_plackett_luce([[100, 0, -100], [-100, 0, 100]], random_state=0)
    assert draws.tolist() == [[1, 2, 3], [3, 2, 1]]


@pytest.mark.parametrize(
    "sample", [lambda s: sample_mallows(CENTER, 1.0, 5, s), lambda s: sample_plackett_luce([0, 1], 5, s)]
)
def test_same_seed_same_rankings(sample):
    assert np.array_equal(sample(7), sample(7))
    rng = np.random.default_rng(7)
    assert not np.array_equal(np.vstack([sample(rng) for _ in range(5)]), np.vstack([sample(7)] * 5))


@pytest.mark.parametrize(
    ("call", "fragment"),
    [
        (lambda: sample_mallows([1, 2], -1), "theta is -1, but must be at least 0"),
        (lambda: sample_mallows([1, 2], np.nan), "theta is nan"),
        (lambda: sample_mallows([1, 1], 1), r"center\[0\] is not a full ranking"),
        (lambda: sample_mallows([[1, 2], [1, np.nan]], 1), r"center\[1\] is not a full ranking"),
        (lambda: sample_mallows([0, 1], 1), "positions count from 1"),
        (lambda: sample_mallows([[1, 2]] * 2, 1, 3), "center has 2 rows for n = 3 draws"),
        (lambda: sample_mallows([1, 2], 1, -3), "n is -3"),
        (lambda: sample_plackett_luce([0, np.inf]), r"log_worth\[0, 1\] is inf"),
        (lambda: sample_plackett_luce([[[0, 1]]]), "log_worth has shape"),
    ],
)
def test_bad_arguments(call, fragment):
    with pytest.raises(ValueError, match=fragment):
        call()


@pytest.mark.parametrize(
    ("call", "fragment"),
    [
        (lambda: sample_mallows([1, 2], "a"), "theta is 'a'; give a number, 0 or more"),
        (lambda: sample_mallows([1, 2], 1, 2.0), "n is 2.0; give a whole number, 0 or more"),
        (lambda: sample_mallows([1, 2], 1, "a"), "n is 'a'; give a whole number"),
        (lambda: sample_plackett_luce([0, 1], 2.5), "n is 2.5; give a whole number"),
        (lambda: sample_plackett_luce(["a", "b"]), r"log_worth is \['a', 'b'\]; give numbers"),
    ],
)
def test_arguments_of_a_wrong_type(call, fragment):
    with pytest.raises(TypeError, match=fragment):
        call()
