"""The Hodge decomposition of pairwise preferences: least squares, orthogonal parts, known cases."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import narwhals as nw
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankwise import Rankings
from rankwise.aggregation import borda, hodge, preference_matrix
from rankwise.aggregation.hodge import hodge_projection
from tests.naive.statistics import harmonic_part, least_squares_scores

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "hodge.json").read_text("utf-8"))


def random_problem(seed: int, k: int, density: float) -> tuple[np.ndarray, np.ndarray]:
    """Probabilities and weights, some of them 0, on a connected graph."""
    rng = np.random.default_rng(seed)
    upper = np.triu(rng.random((k, k)), 1)
    P = upper + np.tril(1 - upper.T, -1) + np.eye(k) / 2
    weights = np.triu(rng.uniform(0.1, 5, (k, k)) * (rng.random((k, k)) < density), 1)
    weights[np.arange(k - 1), np.arange(1, k)] = 1.0
    return P, weights + weights.T


@given(st.integers(0, 2**32 - 1), st.integers(2, 6), st.sampled_from([0.0, 0.5, 1.0]))
def test_scores_solve_the_least_squares_problem(seed: int, k: int, density: float) -> None:
    P, weights = random_problem(seed, k, density)
    fit = hodge_projection(P, weights)
    np.testing.assert_allclose(fit.scores, least_squares_scores(P, weights), atol=1e-9)
    assert fit.scores.sum() == pytest.approx(0, abs=1e-9)


@given(st.integers(0, 2**32 - 1), st.integers(2, 6), st.sampled_from([0.0, 0.5, 1.0]))
def test_parts_add_up_are_orthogonal_and_the_rest_is_cyclic(seed: int, k: int, density: float) -> None:
    P, weights = random_problem(seed, k, density)
    fit = hodge_projection(P, weights)
    lead = P - 0.5
    np.testing.assert_allclose(np.where(weights > 0, fit.gradient + fit.cyclic - lead, 0), 0, atol=1e-12)
    np.testing.assert_array_equal(fit.cyclic[weights == 0], 0)
    np.testing.assert_allclose(fit.gradient, -fit.gradient.T)
    np.testing.assert_allclose(fit.cyclic, -fit.cyclic.T, atol=1e-12)
    assert np.sum(weights * fit.gradient * fit.cyclic) == pytest.approx(0, abs=1e-9)
    np.testing.assert_allclose(np.sum(weights * fit.cyclic, axis=1), 0, atol=1e-9)  # no sources: only cycles
    total = np.sum(weights * lead**2) / 2
    assert np.sum(weights * fit.gradient**2) / 2 + fit.residual == pytest.approx(total)
    assert fit.explained == pytest.approx(1 - fit.residual / total)
    for a, b, c in itertools.combinations(range(k), 3):
        assert fit.gradient[a, b] + fit.gradient[b, c] + fit.gradient[c, a] == pytest.approx(0, abs=1e-12)


def test_pure_cycle_and_pure_scale() -> None:
    cycle = hodge_projection([[0.5, 0.75, 0.25], [0.25, 0.5, 0.75], [0.75, 0.25, 0.5]])
    np.testing.assert_allclose(cycle.scores, 0, atol=1e-12)
    assert cycle.explained == pytest.approx(0)
    assert cycle.residual == pytest.approx(3 / 16)
    assert cycle.positions.tolist() == [1, 1, 1]
    scores = np.array([0.2, -0.1, 0.0, -0.1])
    scale = hodge_projection(0.5 + scores[:, np.newaxis] - scores)
    np.testing.assert_allclose(scale.scores, scores - scores.mean(), atol=1e-12)
    assert scale.explained == pytest.approx(1)
    assert scale.positions.tolist() == [1, 3, 2, 3]
    assert hodge_projection(np.full((3, 3), 0.5)).explained == 1.0


def test_a_square_without_diagonals_has_a_harmonic_cycle() -> None:
    # Four items compared around a circle: there is no triangle, yet all of the preference is cyclic.
    nan = np.nan
    P = [[0.5, 0.7, nan, 0.3], [0.3, 0.5, 0.7, nan], [nan, 0.3, 0.5, 0.7], [0.7, nan, 0.3, 0.5]]
    fit = hodge_projection(P)
    np.testing.assert_allclose(fit.scores, 0, atol=1e-12)
    assert fit.explained == pytest.approx(0)
    np.testing.assert_allclose(fit.curl, 0, atol=1e-12)
    np.testing.assert_allclose(fit.harmonic, fit.cyclic, atol=1e-12)


def test_triangles_and_long_circles_by_hand() -> None:
    P = np.full((5, 5), np.nan)
    np.fill_diagonal(P, 0.5)
    rows, columns = np.array(GOLDEN["pairs"]).T
    P[rows, columns] = 0.5 + np.array(GOLDEN["lead"])
    P[columns, rows] = 0.5 - np.array(GOLDEN["lead"])
    fit = hodge_projection(P)
    np.testing.assert_allclose(fit.scores, 0, atol=1e-12)
    np.testing.assert_allclose(fit.curl[rows, columns], GOLDEN["curl"], atol=1e-12)
    np.testing.assert_allclose(fit.harmonic[rows, columns], GOLDEN["harmonic"], atol=1e-12)


@given(st.integers(0, 2**32 - 1), st.integers(2, 9), st.sampled_from([0.0, 0.2, 0.5, 1.0]))
def test_the_cyclic_part_is_split_into_triangles_and_the_rest(seed: int, k: int, density: float) -> None:
    P, weights = random_problem(seed, k, density)
    fit = hodge_projection(P, weights)
    np.testing.assert_allclose(fit.harmonic, harmonic_part(P, weights), atol=1e-8)
    np.testing.assert_allclose(fit.curl, -fit.curl.T)
    np.testing.assert_array_equal(fit.curl[weights == 0], 0)
    assert np.sum(weights * fit.curl * fit.harmonic) == pytest.approx(0, abs=1e-8)
    np.testing.assert_allclose(np.sum(weights * fit.curl, axis=1), 0, atol=1e-8)  # triangles have no sources either


def test_without_gaps_every_circle_is_made_of_triangles() -> None:
    P, weights = random_problem(1, 7, 1.0)
    fit = hodge_projection(P, weights)
    np.testing.assert_array_equal(fit.curl, fit.cyclic)
    np.testing.assert_array_equal(fit.harmonic, 0)
    np.testing.assert_allclose(harmonic_part(P, weights), 0, atol=1e-10)


def test_too_many_triangles_are_counted_before_they_are_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    P, weights = random_problem(1, 9, 1.0)
    weights[0, 2] = weights[2, 0] = 0.0  # 84 triples, less the seven with this pair
    fit = hodge_projection(P, weights)
    monkeypatch.setattr(hodge, "_MOST_TRIANGLES", 76)
    with pytest.raises(ValueError, match=r"77 triples of items are all compared, and at most 76.*select"):
        _ = fit.curl
    monkeypatch.setattr(hodge, "_MOST_TRIANGLES", 77)
    assert np.abs(fit.curl).max() > 0


def test_on_full_rankings_the_order_is_that_of_borda() -> None:
    # With equal weights s_i is the mean of p_ij - 1/2 over all j: Borda's score on another scale.
    positions = np.argsort(np.random.default_rng(3).random((25, 6)), axis=1) + 1.0
    fit = hodge_projection(positions)
    consensus, scores = borda(positions, return_scores=True)
    np.testing.assert_allclose(fit.scores, 5 / 6 * (scores - scores.mean()), atol=1e-12)
    np.testing.assert_array_equal(fit.positions, consensus)


def test_pairs_weigh_as_much_as_rankings_hold_them() -> None:
    rankings = Rankings([[1, 2, np.nan], [np.nan, 1, 2], [2, np.nan, 1], [1, 2, np.nan]], items=["a", "b", "c"])
    matrix = preference_matrix(rankings)
    fit = hodge_projection(rankings)
    np.testing.assert_allclose(fit.scores, hodge_projection(matrix.probabilities, matrix.counts).scores)
    assert fit.items == ("a", "b", "c")
    assert not np.allclose(fit.scores, hodge_projection(matrix.probabilities).scores)


def test_scale_of_the_weights_does_not_matter() -> None:
    P, weights = random_problem(5, 5, 0.5)
    scores = hodge_projection(P, weights).scores
    for factor in (1e-12, 1e12):
        np.testing.assert_allclose(hodge_projection(P, factor * weights).scores, scores, rtol=1e-10)


P3 = np.array([[0.5, 0.7, np.nan], [0.3, 0.5, 0.6], [np.nan, 0.4, 0.5]])


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.ones((2, 2)), r"shape \(2, 2\)"),
        (-np.ones((3, 3)), r"pair_weight\[0, 1\] is -1; .*not negative"),
        (np.triu(np.ones((3, 3))), "another weight"),
        (np.ones((3, 3)), r"pair_weight\[0, 2\] is 1; but nobody compared"),
        ([[0, 1, 0], [1, 0, 0], [0, 0, 0]], "these 2 groups of items.*0, 1; 2"),
        (np.full((3, 3), np.nan), "finite"),
    ],
)
def test_bad_weights(weights: np.ndarray, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        hodge_projection(P3, weights)


def test_groups_without_a_common_scale_are_named() -> None:
    nan = np.nan
    apart = Rankings([[1, 2, nan, nan], [nan, nan, 2, 1]], items=["a", "b", "x", "y"])
    with pytest.raises(ValueError, match=r"2 groups of items.*a, b; x, y.*select"):
        hodge_projection(apart)


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
def test_a_frame_has_a_row_per_item_best_first(backend: str) -> None:
    fit = hodge_projection(Rankings([[2, 1, 3], [2, 1, 3], [1, 2, 3]], items=["a", "b", "c"]))
    frame = nw.from_native(fit.to_frame(backend))
    assert frame.columns == ["item", "position", "score"]
    assert frame["item"].to_list() == ["b", "a", "c"]
    assert frame["position"].to_list() == [1, 2, 3]
    assert frame["score"].to_list() == fit.scores[[1, 0, 2]].tolist()
