"""Distances against slow twins, laws, and bad input."""

from __future__ import annotations

import json
from itertools import permutations
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankwise import Rankings
from rankwise.distances import (
    distances_jit,
    footrule_distance,
    hamming_distance,
    kendall_distance,
    matrix,
    pairwise_distances,
    spearman_distance,
    weighted_kendall_distance,
)
from tests.naive import distances as naive
from tests.strategies import KINDS, position_matrices, random_positions

DISTANCES = {
    "kendall": kendall_distance,
    "spearman": spearman_distance,
    "footrule": footrule_distance,
    "hamming": hamming_distance,
}
GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "distances.json").read_text())
every_metric = pytest.mark.parametrize("metric", DISTANCES)
every_kind = pytest.mark.parametrize("kind", KINDS)


def slow(metric, a, b, **options):
    if metric == "kendall":
        return naive.kendall(a, b, **options)
    return naive.positional(a, b, metric, **options)


# -- against the twins -------------------------------------------------------------------------------------------


@given(
    positions=position_matrices(min_rankings=2, max_rankings=2),
    p=st.sampled_from([0.0, 0.3, 0.5, 1.0]),
    missing=st.sampled_from(["ignore", "penalize"]),
    weighted=st.booleans(),
)
def test_kendall_equals_its_twin(positions, p, missing, weighted):
    a, b = positions
    weights = np.linspace(0, 2, len(a)) if weighted else None
    expected = naive.kendall(a, b, p, missing, weights)
    assert kendall_distance(a, b, p=p, missing=missing, item_weights=weights) == pytest.approx(expected, abs=1e-12)


@every_metric
@every_kind
@pytest.mark.parametrize("normalize", [False, True])
def test_rows_and_matrix_equal_the_twins(metric, kind, normalize):
    rng = np.random.default_rng(7)
    for k in (1, 2, 5, 9):
        a, b = random_positions(rng, 6, k, kind), random_positions(rng, 6, k, kind)
        expected = np.array([[slow(metric, x, y, normalize=normalize) for y in b] for x in a])
        found = pairwise_distances(a, b, metric, normalize=normalize)
        np.testing.assert_allclose(found, expected, atol=1e-12)
        np.testing.assert_allclose(DISTANCES[metric](a, b, normalize=normalize), np.diag(expected), atol=1e-12)


@every_metric
@every_kind
def test_item_weights_equal_the_twins(metric, kind):
    rng = np.random.default_rng(8)
    a, b, weights = random_positions(rng, 5, 6, kind), random_positions(rng, 4, 6, kind), rng.random(6)
    expected = np.array([[slow(metric, x, y, weights=weights) for y in b] for x in a])
    np.testing.assert_allclose(pairwise_distances(a, b, metric, item_weights=weights), expected, atol=1e-12)
    np.testing.assert_allclose(DISTANCES[metric](a[:4], b, item_weights=weights), np.diag(expected[:4]), atol=1e-12)


@every_kind
@pytest.mark.parametrize("missing", ["ignore", "penalize"])
def test_all_ways_to_compute_kendall_agree_beyond_the_small_sizes(kind, missing, monkeypatch):
    rng = np.random.default_rng(9)
    a, b = random_positions(rng, 7, 90, kind), random_positions(rng, 70, 90, kind)
    by_signs = pairwise_distances(a, b, missing=missing)
    monkeypatch.setattr(matrix, "_SIGN_CELLS", 1000)  # many blocks of pairs
    monkeypatch.setattr(matrix, "_BIT_CELLS", 1000)
    np.testing.assert_array_equal(pairwise_distances(a, b, missing=missing), by_signs)
    monkeypatch.setattr(matrix, "_MOST_ITEMS_BY_SIGNS", 1)  # the sorting kernel
    for n_jobs in (1, 2):
        np.testing.assert_array_equal(pairwise_distances(a, b, missing=missing, n_jobs=n_jobs), by_signs)
    np.testing.assert_array_equal(kendall_distance(a, b[:7], missing=missing), np.diag(by_signs[:, :7]))
    assert by_signs[0, 0] == naive.kendall(a[0], b[0], missing=missing)


@every_kind
def test_blocks_of_pairs_change_nothing(kind, monkeypatch):
    rng = np.random.default_rng(12)
    a = random_positions(rng, 150, 20, kind)
    expected = kendall_distance(np.repeat(a, 150, axis=0), np.tile(a, (150, 1))).reshape(150, 150)
    for cells in (1 << 31, 3000, 100):
        monkeypatch.setattr(matrix, "_SIGN_CELLS", cells)
        monkeypatch.setattr(matrix, "_BIT_CELLS", cells)
        np.testing.assert_array_equal(pairwise_distances(a), expected)
        np.testing.assert_array_equal(pairwise_distances(a, a.copy()), expected)
        np.testing.assert_array_equal(pairwise_distances(a, p=0.25) * 2, 2 * kendall_distance(
            np.repeat(a, 150, axis=0), np.tile(a, (150, 1)), p=0.25).reshape(150, 150))  # fmt: skip


@pytest.mark.parametrize("metric", ["spearman", "footrule", "hamming"])
@pytest.mark.parametrize("k", [matrix._MOST_ITEMS_SINGLE, matrix._MOST_ITEMS_SINGLE + 1])
def test_positional_distances_are_exact_in_single_precision(metric, k):
    up = np.arange(1, k + 1)
    tied = np.ceil(up / 2)
    rows = np.vstack([up, up[::-1], np.roll(up, 1), tied, tied[::-1]])
    expected = [[naive.positional(x, y, metric) for y in rows] for x in rows]
    np.testing.assert_array_equal(pairwise_distances(rows, metric=metric), expected)
    many = np.vstack([rows] * 300)  # more columns than are summed at the same time
    np.testing.assert_array_equal(pairwise_distances(rows, many, metric=metric), np.tile(expected, (1, 300)))


def test_pair_loop_and_sorting_kernel_agree_on_full_rankings():
    rng = np.random.default_rng(10)
    a, b = random_positions(rng, 50, 30, "full"), random_positions(rng, 50, 30, "full")
    by_sorting = distances_jit.pair_statistics(a, b, np.ones(30), False)[:, distances_jit.DISCORDANT]
    np.testing.assert_array_equal(distances_jit.discordant_full(a, b), by_sorting)


@pytest.mark.parametrize("case", GOLDEN, ids=lambda case: case["name"])
def test_golden(case):
    a, b = (np.array(case[side], dtype=float) for side in "ab")
    assert DISTANCES[case["metric"]](a, b, **case.get("options", {})) == pytest.approx(case["value"])


@every_kind
@pytest.mark.parametrize("p", [0.1, 0.3])
def test_any_price_of_ties_gives_the_same_in_rows_and_in_the_matrix(kind, p):
    rng = np.random.default_rng(11)
    a, b = random_positions(rng, 20, 20, kind), random_positions(rng, 20, 20, kind)
    rows = kendall_distance(a, b, p=p)
    np.testing.assert_allclose(np.diag(pairwise_distances(a, b, p=p)), rows, rtol=1e-14)


@every_kind
def test_weighted_distances_are_never_negative_nor_above_one(kind):
    rng = np.random.default_rng(12)
    a, weights = random_positions(rng, 60, 6, kind), rng.random(6)
    found = pairwise_distances(a, item_weights=weights)
    assert found.min() == 0
    assert np.all(np.diag(found) == 0)
    shares = pairwise_distances(a, item_weights=weights, p=1, normalize=True)
    assert np.nanmax(shares) <= 1
    assert np.nanmax(kendall_distance(a, a[::-1], item_weights=weights, p=1, normalize=True)) <= 1


# -- laws --------------------------------------------------------------------------------------------------------


@every_metric
@given(positions=position_matrices(), data=st.data())
def test_laws_of_every_distance(metric, positions, data):
    n, k = positions.shape
    found = pairwise_distances(positions, metric=metric)
    assert np.all(found >= 0)
    np.testing.assert_array_equal(np.diag(found), 0)
    np.testing.assert_array_equal(found, found.T)
    relabeled = np.array(data.draw(st.permutations(range(k))))
    np.testing.assert_array_equal(pairwise_distances(positions[:, relabeled], metric=metric), found)
    # a missing column is worth the same as a dropped column
    gone = np.hstack([positions, np.full((n, 1), np.nan)])
    np.testing.assert_array_equal(pairwise_distances(gone, metric=metric), found)


@given(positions=position_matrices(kinds=("full", "tied", "top-k"), min_rankings=3, max_rankings=3))
def test_kendall_footrule_and_hamming_are_metrics(positions):
    for metric in ("kendall", "footrule", "hamming"):
        d = pairwise_distances(positions, metric=metric)
        assert d[0, 2] <= d[0, 1] + d[1, 2] + 1e-12


@given(positions=position_matrices(kinds=("full",), min_rankings=2, max_rankings=2))
def test_diaconis_graham(positions):
    kendall, footrule = kendall_distance(*positions), footrule_distance(*positions)
    assert kendall <= footrule <= 2 * kendall


@every_metric
def test_largest_distance_is_one_when_normalized(metric):
    for k in range(2, 7):
        everything = np.array(list(permutations(range(1, k + 1))))
        assert DISTANCES[metric](everything[0], everything, normalize=True).max() == pytest.approx(1)


# -- weights of places and items ---------------------------------------------------------------------------------


@every_kind
def test_weighted_kendall_equals_its_twin(kind):
    rng = np.random.default_rng(21)
    for k in (1, 2, 3, 7):
        a, b = random_positions(rng, 20, k, kind), random_positions(rng, 20, k, kind)
        swaps, weights, apart = rng.random(k - 1), rng.random(k), rng.random((k, k))
        swaps[1::3] = weights[2::4] = 0
        apart += apart.T
        for p, chosen in ((0.5, (swaps, None, None)), (0.2, (swaps, weights, apart)), (1, (None, weights, None))):
            options = dict(zip(("position_weights", "item_weights", "item_distances"), chosen, strict=True))
            if k == 1:
                options["position_weights"] = None
            found = weighted_kendall_distance(a, b, p=p, **options)
            expected = [naive.weighted_kendall(x, y, *chosen, p=p) for x, y in zip(a, b, strict=True)]
            np.testing.assert_allclose(found, expected, atol=1e-12)


@given(positions=position_matrices(min_items=2, min_rankings=2, max_rankings=2), data=st.data())
def test_laws_of_the_weighted_kendall_distance(positions, data):
    a, b = positions
    k = len(a)
    assert weighted_kendall_distance(a, b, p=0.3) == pytest.approx(kendall_distance(a, b, p=0.3), abs=1e-12)
    weights, swaps = np.linspace(0, 2, k), np.linspace(2, 0.5, k - 1)
    only_items = weighted_kendall_distance(a, b, item_weights=weights)
    assert only_items == pytest.approx(kendall_distance(a, b, item_weights=weights), abs=1e-12)
    found = weighted_kendall_distance(a, b, item_weights=weights, position_weights=swaps)
    assert found >= 0
    assert weighted_kendall_distance(a, a, position_weights=swaps) == 0
    assert weighted_kendall_distance(b, a, item_weights=weights, position_weights=swaps) == pytest.approx(found)
    order = np.array(data.draw(st.permutations(range(k))))
    relabeled = weighted_kendall_distance(a[order], b[order], item_weights=weights[order], position_weights=swaps)
    assert relabeled == pytest.approx(found, abs=1e-12)
    product = weighted_kendall_distance(a, b, item_distances=np.outer(weights, weights), position_weights=swaps)
    assert product == pytest.approx(found, abs=1e-12)
    gone = [np.append(x, np.nan) for x in (a, b)]
    assert weighted_kendall_distance(*gone, item_weights=[*weights, 5], position_weights=[*swaps, 9]) == found


def test_costs_of_swaps_by_hand():
    distance = weighted_kendall_distance
    assert distance([1, 2, 3], [2, 1, 3], position_weights=[3, 1]) == 9  # two items, each moved by one swap of cost 3
    assert distance([1, 2, 3], [1, 3, 2], position_weights=[3, 1]) == 1
    assert distance([1, 2, 3], [3, 2, 1], position_weights=[3, 1]) == 8  # averages 2, 1 (it stays) and 2
    assert distance([1, 2, 3, 4], [1, 2, 4, 3], position_weights=[3, 2]) == 4  # the last cost counts on
    assert distance([1], [1], position_weights=[2]) == 0
    assert distance([[1, 2], [2, 1]], [1, 2]).tolist() == [0, 1]


@pytest.mark.parametrize(
    ("options", "fragment"),
    [
        ({"position_weights": [1, 1, 1]}, "3 places have 2 pairs"),
        ({"position_weights": []}, "3 places have 2 pairs"),
        ({"position_weights": [1, -1]}, "not negative"),
        ({"item_weights": [1, 2]}, "3 items"),
        ({"item_distances": np.ones((2, 2))}, "3 x 3"),
        ({"item_distances": np.triu(np.ones((3, 3)))}, "same both ways"),
        ({"item_distances": np.full((3, 3), np.nan)}, "finite"),
        ({"p": 3}, "between 0 and 1"),
    ],
)
def test_bad_weights_are_refused(options, fragment):
    with pytest.raises(ValueError, match=fragment):
        weighted_kendall_distance([1, 2, 3], [3, 2, 1], **options)


# -- shapes and inputs -------------------------------------------------------------------------------------------


@every_metric
def test_one_against_one_is_a_float_and_one_against_many_an_array(metric):
    distance = DISTANCES[metric]
    assert isinstance(distance([1, 2, 3], [3, 2, 1]), float)
    assert distance([[1, 2, 3]], [3, 2, 1]).shape == (1,)
    assert distance([1, 2, 3], [[3, 2, 1]] * 4).shape == (4,)
    assert distance(np.ones((0, 3)), [1, 2, 3]).shape == (0,)


@every_metric
def test_rankings_frames_and_arrays_give_the_same(metric):
    a, b = np.array([[1, 2, 3], [2, 1, 3]]), np.array([[3, 2, 1], [1, 2, 3]])
    expected = DISTANCES[metric](a, b)
    for wrap in (
        Rankings,
        lambda x: pd.DataFrame(x, columns=list("xyz")),
        lambda x: pl.DataFrame(x),
        np.ndarray.tolist,
    ):
        np.testing.assert_array_equal(DISTANCES[metric](wrap(a), wrap(b)), expected)


@every_metric
def test_masked_items_are_missing(metric):
    masked = np.ma.array([[1.0, 2, 3]], mask=[[False, True, False]])
    expected = DISTANCES[metric]([[1, np.nan, 3]], [[3, 2, 1]])
    np.testing.assert_array_equal(DISTANCES[metric](masked, [[3, 2, 1]]), expected)
    assert DISTANCES[metric](masked[0], [3, 2, 1]) == expected[0]


@every_metric
def test_series_are_single_rankings(metric):
    expected = DISTANCES[metric]([1, 2, 3], [3, 1, 2])
    assert DISTANCES[metric](pd.Series([1, 2, 3]), pl.Series([3, 1, 2])) == expected


def test_columns_are_matched_by_name_where_names_are_known():
    frame = pd.DataFrame([[1, 2, 3]], columns=list("abc"))
    for other in (
        frame[["c", "b", "a"]],
        Rankings(frame[["c", "b", "a"]]),
        pl.DataFrame({"c": [1], "b": [2], "a": [3]}),
    ):
        with pytest.raises(ValueError, match="different column order"):
            kendall_distance(frame, other)
    with pytest.raises(ValueError, match="different items"):
        pairwise_distances(frame, pd.DataFrame([[1, 2, 3]], columns=list("xyz")))
    assert kendall_distance(Rankings(frame), pd.DataFrame([[1, 2, 3]])) == 0  # no names, no claim


def test_nothing_in_common():
    nan = np.nan
    a, b = [1, nan], [nan, 1]
    assert kendall_distance(a, b) == 0
    assert spearman_distance(a, b) == 0
    assert np.isnan(kendall_distance(a, b, normalize=True))
    assert np.isnan(hamming_distance(a, b, normalize=True))
    assert np.isnan(footrule_distance([1], [1], normalize=True))


@pytest.mark.parametrize(
    ("call", "fragment"),
    [
        (lambda: kendall_distance([1, 2], [1, 2, 3]), "same items"),
        (lambda: kendall_distance([[1, 2]] * 2, [[1, 2]] * 3), "pairwise_distances"),
        (lambda: kendall_distance([0, 1], [1, 2]), "positions_from_orders"),
        (lambda: kendall_distance([1, 2], [1, 2], p=2), "between 0 and 1"),
        (lambda: kendall_distance([1, 2], [1, 2], missing="drop"), "'ignore' or 'penalize'"),
        (lambda: kendall_distance([1, 2], [1, 2], missing="penalize", normalize=True), "missing='ignore'"),
        (lambda: kendall_distance([1, 2], [1, 2], item_weights=[1]), "2 items"),
        (lambda: kendall_distance([1, 2], [1, 2], item_weights=[1, -1]), "not negative"),
        (lambda: spearman_distance([1, 2], [1, 2], item_weights=[1, 1], normalize=True), "no closed form"),
        (lambda: pairwise_distances([[1, 2]], metric="cosine"), "metric is 'cosine'; choose 'kendall'"),
        (lambda: pairwise_distances([[1, 2]], [[1, 2, 3]]), "same items"),
        (lambda: pairwise_distances([[1, 2]], metric="spearman", missing="penalize"), "options of the Kendall"),
        (lambda: kendall_distance([[1, 2], [1]], [[1, 2], [2, 1]]), "rows have different lengths"),
        (lambda: kendall_distance([1, 2], [1, 2], p="a"), "p is 'a'"),
        (lambda: kendall_distance([1, 2], [1, 2], item_weights=np.array(["1", "2"], dtype=object)), "numbers"),
        (lambda: pairwise_distances([[1, 2]] * 10, max_bytes=100), "raise max_bytes"),
        (lambda: pairwise_distances([[1, 2]], metric="footrule", normalize=True, item_weights=[1, 1]), "closed form"),
        (
            lambda: kendall_distance(Rankings([[1, 2]], ["a", "b"]), Rankings([[1, 2]], ["b", "a"])),
            "select",
        ),
    ],
)
def test_bad_input_is_refused_with_a_cure(call, fragment):
    with pytest.raises(ValueError, match=fragment):
        call()
