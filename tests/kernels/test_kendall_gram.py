"""The Kendall kernel against enumeration, scipy and its own other way."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from scipy.stats import kendalltau, weightedtau

from rankwise import Rankings
from rankwise.data import reverse
from rankwise.kernels import gram, kendall_gram, kendall_kernel
from rankwise.kernels.kendall_gram import kendall_features
from tests.naive import kernels as naive
from tests.strategies import KINDS, position_matrices, random_positions

ALL_24 = np.array(list(permutations(range(1, 5))), dtype=float)
HYPERBOLIC = 1 / (1 + np.arange(1.0, 5))


def smallest_eigenvalue(matrix):
    np.testing.assert_allclose(matrix, matrix.T, atol=1e-12)
    return np.linalg.eigvalsh(matrix).min()


@settings(max_examples=30)
@given(position_matrices(min_items=2, max_items=4, max_rankings=3))
def test_it_is_the_mean_of_tau_over_all_full_rankings_that_agree(positions):
    expected = [[naive.kendall(a, b) for b in positions] for a in positions]
    np.testing.assert_allclose(kendall_kernel(positions), expected, atol=1e-14)


@given(position_matrices(min_items=2))
def test_it_is_positive_semi_definite_for_every_kind(positions):
    assert smallest_eigenvalue(kendall_kernel(positions)) > -1e-10


@given(position_matrices(min_items=2))
def test_it_is_the_inner_product_of_its_features(positions):
    features = kendall_features(positions)
    np.testing.assert_allclose(features @ features.T, kendall_kernel(positions), atol=1e-12)


@given(position_matrices(min_items=2))
def test_the_reverse_has_the_negative_kernel(positions):
    np.testing.assert_allclose(kendall_kernel(reverse(positions), positions), -kendall_kernel(positions), atol=1e-14)


def test_of_full_rankings_it_is_tau():
    rng = np.random.default_rng(0)
    A, B = random_positions(rng, 5, 8, "full"), random_positions(rng, 4, 8, "full")
    expected = [[kendalltau(a, b).statistic for b in B] for a in A]
    np.testing.assert_allclose(kendall_kernel(A, B), expected, atol=1e-14)


def test_of_tied_rankings_it_is_tau_b_when_normalized():
    rng = np.random.default_rng(1)
    A, B = random_positions(rng, 5, 6, "tied"), random_positions(rng, 4, 6, "tied")
    expected = [[kendalltau(a, b).statistic for b in B] for a in A]
    np.testing.assert_allclose(kendall_kernel(A, B, normalize=True), expected, atol=1e-14)


def test_of_interleaved_rankings_it_follows_the_cases_of_pairs():
    rng = np.random.default_rng(2)
    full = random_positions(rng, 12, 7, "full")
    part = Rankings(np.where(rng.random(full.shape) < 0.4, np.nan, full)).positions
    expected = [[naive.kendall_of_interleaved(a, b) for b in part] for a in part]
    np.testing.assert_allclose(kendall_kernel(part), expected, atol=1e-14)


def test_missing_items_fall_into_every_gap_alike():
    nan = np.nan
    # The missing third item is last, second or first, each a third of the time: signs 1, 1/3 and -1/3.
    np.testing.assert_allclose(kendall_kernel([[1, 2, nan]], [[1, 2, 3]]), [[(1 + 1 / 3 - 1 / 3) / 3]])
    np.testing.assert_allclose(kendall_kernel([[1, 2, nan]]), [[(1 + 1 / 9 + 1 / 9) / 3]])
    assert kendall_kernel([[1, nan, nan]])[0, 0] == 0  # an item alone says nothing


@pytest.mark.parametrize("kind", KINDS)
def test_blocks_of_pairs_and_rows_equal_one_product(kind, monkeypatch):
    rng = np.random.default_rng(3)
    A, B = random_positions(rng, 9, 12, kind), random_positions(rng, 7, 12, kind)
    whole, own = kendall_kernel(A, B), kendall_kernel(A)
    monkeypatch.setattr(kendall_gram, "BLOCK_CELLS", 40)
    np.testing.assert_allclose(kendall_kernel(A, B), whole, atol=1e-14)
    np.testing.assert_allclose(kendall_kernel(A), own, atol=1e-14)


@pytest.mark.parametrize("kind", ["full", "tied", "top-k"])
def test_sorting_equals_products(kind, monkeypatch):
    rng = np.random.default_rng(4)
    A, B = random_positions(rng, 70, 9, kind), random_positions(rng, 5, 9, kind)
    found = []
    for answer in (True, False):
        monkeypatch.setattr(kendall_gram, "_sorting_is_cheaper", lambda n, m, k, answer=answer: answer)
        found.append(kendall_kernel(A, B, n_jobs=2))
    np.testing.assert_allclose(found[0], found[1], atol=1e-14)


def test_few_rankings_of_many_items_are_sorted_and_many_of_few_multiplied():
    assert kendall_gram._sorting_is_cheaper(1, 1, 1000)
    assert kendall_gram._sorting_is_cheaper(3000, 3000, 10_000)
    assert not kendall_gram._sorting_is_cheaper(2500, 2500, 10)


@pytest.mark.parametrize("kind", KINDS)
def test_32_bits_are_close(kind):
    positions = random_positions(np.random.default_rng(5), 30, 20, kind)
    short = kendall_kernel(positions, dtype="float32")
    assert short.dtype == np.float32
    np.testing.assert_allclose(short, kendall_kernel(positions), atol=2e-6)


# -- weights of places ---------------------------------------------------------------------------------------------

WEIGHTED = {
    "additive": (HYPERBOLIC, lambda p, q, r, s: (w(p) + w(q)) * (w(r) + w(s))),
    "multiplicative": (HYPERBOLIC, lambda p, q, r, s: w(p) * w(q) * w(r) * w(s)),
    "average": ("average", lambda *places: np.mean([max(places) <= t for t in range(1, 5)])),
}


def w(place):
    return HYPERBOLIC[int(place) - 1]


def weighted(name, A, B=None, **options):
    weights, _ = WEIGHTED[name]
    combine = "multiplicative" if name == "multiplicative" else "additive"
    return kendall_kernel(A, B, position_weights=weights, combine=combine, **options)


@pytest.mark.parametrize("name", WEIGHTED)
def test_weights_of_places_equal_their_definition(name):
    expected = [[naive.weighted_kendall(a, b, WEIGHTED[name][1]) for b in ALL_24[:7]] for a in ALL_24]
    np.testing.assert_allclose(weighted(name, ALL_24, ALL_24[:7]), expected, atol=1e-14)


@pytest.mark.parametrize("name", WEIGHTED)
def test_weighted_kernels_are_positive_semi_definite(name):
    assert smallest_eigenvalue(weighted(name, ALL_24)) > -1e-12
    unit = weighted(name, ALL_24, normalize=True)
    np.testing.assert_allclose(np.diag(unit), 1)
    assert smallest_eigenvalue(unit) > -1e-12


def test_weightedtau_of_scipy_is_not():
    matrix = np.array([[weightedtau(a, b).statistic for b in ALL_24] for a in ALL_24])
    assert smallest_eigenvalue(matrix) == pytest.approx(-0.172, abs=5e-4)


def test_equal_weights_count_concordant_pairs():
    tau = kendall_kernel(ALL_24)
    equal = kendall_kernel(ALL_24, position_weights=np.ones(4), combine="multiplicative")
    np.testing.assert_allclose(equal, 6 * (1 + tau) / 2, atol=1e-14)


def test_weights_do_not_depend_on_threads():
    positions = random_positions(np.random.default_rng(6), 150, 6, "full")
    one = kendall_kernel(positions, position_weights="average", n_jobs=1)
    np.testing.assert_array_equal(one, kendall_kernel(positions, position_weights="average", n_jobs=3))


# -- bad input -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"A": [[1], [1]]}, "two items or more"),
        ({"A": [[0, 1, 2]]}, r"A\[0, 0\] is 0, but positions count from 1"),
        ({"A": [[1, 2]], "B": [[1, 2, 3]]}, "A ranks 2 items and B ranks 3"),
        ({"A": [[1, 1], [1, 2]], "normalize": True}, r"A\[0\] prefers no item to another.*normalize=False"),
        ({"A": [[1, 2]], "B": [[np.nan, 1]], "normalize": True}, r"B\[0\] prefers no item"),
        ({"A": [[1, 2]], "dtype": "int32"}, "choose float64 or float32"),
        ({"A": [[1, 2, 2]], "position_weights": "average"}, r"A\[0\] is not a full ranking.*every kind"),
        ({"A": [[1, 2, 3]], "B": [[1, 2, np.inf]], "position_weights": [1, 1, 1]}, r"B\[0\] is not a full ranking"),
        ({"A": [[1, 2]], "position_weights": [1, 1, 1]}, "one weight for each of the 2 places"),
        ({"A": [[1, 2]], "position_weights": [1, np.nan]}, r"position_weights\[1\] is not finite"),
        ({"A": [[1, 2]], "position_weights": [0, 0], "normalize": True}, "cannot be normalized"),
        ({"A": [[1, 2]], "position_weights": "top"}, "give 'average'"),
        ({"A": [[1, 2]], "position_weights": [1, 1], "combine": "both"}, "choose 'additive' or 'multiplicative'"),
        ({"A": [[1, 2]], "combine": "multiplicative"}, "no position_weights to combine"),
    ],
)
def test_bad_input_is_refused_with_a_cure(options, words):
    with pytest.raises(ValueError, match=words):
        kendall_kernel(**options)


def test_items_must_be_the_same():
    A = Rankings([[1, 2]], items=["a", "b"])
    with pytest.raises(ValueError, match="different column order"):
        kendall_kernel(A, Rankings([[1, 2]], items=["b", "a"]))


def test_a_matrix_too_large_is_refused_before_it_is_made():
    many = np.tile([1.0, 2.0], (40_000, 1))
    with pytest.raises(ValueError, match=r"11\.9 GiB.*float32.*Nystroem.*GraphCutEmbedding.*max_bytes"):
        kendall_kernel(many)
    with pytest.raises(ValueError, match=r"Use scikit-learn's Nystroem"):
        kendall_kernel(many, dtype="float32", max_bytes=1 << 20)
    assert gram.check_gram(40_000, 40_000, np.float32, 8 << 30) == np.float32


def test_a_ranking_without_items_has_kernel_0():
    matrix = kendall_kernel([[1, 2, 3], [np.nan] * 3])
    np.testing.assert_allclose(matrix, [[1, 0], [0, 0]], atol=1e-15)
