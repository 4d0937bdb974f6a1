"""Kendall's W and its test: published examples, SciPy, definitions by brute force, and `agreement`."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import friedmanchisquare, rankdata

from rankwise import Rankings
from rankwise.analysis import agreement, concordance
from tests.naive.summary import compares, exact_p, friedman, midranks
from tests.pages import Page
from tests.strategies import KINDS, position_matrices, random_positions

NAN, INF = float("nan"), float("inf")
GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "concordance.json").read_text("utf-8"))


def scores_of(positions: np.ndarray) -> list[np.ndarray]:
    """Centered midranks, times sqrt(12 / (m + 1)), of the rankings that compare something."""
    rows = [midranks(row) for row in positions if compares(row)]
    sizes = [int(np.isfinite(row).sum()) for row in rows]
    return [np.sqrt(12 / (m + 1)) * (row - (m + 1) / 2) for row, m in zip(rows, sizes, strict=True)]


@pytest.mark.parametrize("case", GOLDEN, ids=lambda case: case["name"])
def test_published_examples(case: dict) -> None:
    values = np.array([[NAN if cell is None else cell for cell in row] for row in case["values"]], dtype=float)
    found = concordance(Rankings.from_scores(-values), p_from="chi-square")
    assert found.test == case["test"]
    assert round(found.statistic, case["digits"]) == case["statistic"]
    assert found.degrees_of_freedom == case["df"]
    if "p" in case:
        assert found.p_value == pytest.approx(case["p"], abs=1e-6)
    if "w" in case:
        assert found.w == pytest.approx(case["w"], abs=1e-5)


def test_the_statistic_of_skillings_and_mack_by_its_definition() -> None:
    """Weighted sums of ranks and their covariance matrix, written from the paper: no function of the library."""
    (case,) = [case for case in GOLDEN if case["test"] == "Skillings-Mack"]
    sums, covariance = np.zeros(4), np.zeros((4, 4))
    for row in case["values"]:
        held = [j for j, cell in enumerate(row) if cell is not None]
        m = len(held)
        for j in held:
            rank = 1 + sum(row[i] < row[j] for i in held)  # no ties in this table
            sums[j] += np.sqrt(12 / (m + 1)) * (rank - (m + 1) / 2)
            covariance[j, j] += m - 1
            covariance[j, [i for i in held if i != j]] -= 1
    assert sums @ np.linalg.pinv(covariance) @ sums == pytest.approx(case["statistic"], abs=0.005)


@pytest.mark.parametrize("kind", ["full", "tied", "top-k"])
def test_it_is_the_test_of_scipy(kind: str) -> None:
    positions = random_positions(np.random.default_rng(3), 25, 4, kind)
    positions = positions[[compares(row) for row in positions]]
    ranks = np.array([rankdata(row) for row in np.where(np.isinf(positions), 99, positions)])
    expected = friedmanchisquare(*ranks.T)
    found = concordance(positions, p_from="chi-square")
    assert found.statistic == pytest.approx(expected.statistic)
    assert found.p_value == pytest.approx(expected.pvalue)
    # Kendall and Babington Smith, with the sum over ties of t^3 - t.
    n, k = ranks.shape
    ties = sum(t**3 - t for row in ranks for t in np.unique(row, return_counts=True)[1])
    deviations = ranks.sum(axis=0) - n * (k + 1) / 2
    assert found.w == pytest.approx(12 * deviations @ deviations / (n**2 * (k**3 - k) - n * ties))


@given(position_matrices(min_items=2, max_items=4, max_rankings=4), st.booleans())
def test_the_statistic_is_that_of_random_orders_and_w_that_of_least_squares(positions: np.ndarray, whole: bool) -> None:
    useful = [compares(row) for row in positions]
    weights = np.arange(1.0, len(positions) + 1) * (1 if whole else 0.7)
    found = concordance(Rankings(positions, weights=weights), p_from="chi-square")
    scores = scores_of(positions)
    if not any(np.nansum(row**2) > 0 for row in scores):
        assert np.isnan(found.w)
        assert "Nothing can be said" in found.sentence
        return
    weights = weights[useful]
    if whole:  # people, one by one
        scores = [row for row, count in zip(scores, weights, strict=True) for _ in range(int(count))]
        weights = np.ones(len(scores))
    statistic, w = friedman(scores, weights, positions.shape[1])
    np.testing.assert_allclose([found.statistic, found.w], [statistic, w], atol=1e-8)
    assert found.n == len(weights)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("whole", [True, False])
def test_exact_p_values_are_shares_of_all_orders(kind: str, whole: bool) -> None:
    positions = random_positions(np.random.default_rng(5), 3, 3, kind)
    positions = positions[[compares(row) for row in positions]]
    weights = np.ones(len(positions)) if whole else np.array([0.5, 1.5, 1.1])[: len(positions)]
    found = concordance(Rankings(positions, weights=weights), p_from="exact")
    assert found.p_from == "exact"
    assert found.p_value == pytest.approx(exact_p(scores_of(positions), weights, 3))


def test_p_values_agree_where_all_are_good() -> None:
    positions = random_positions(np.random.default_rng(1), 20, 3, "full")
    exact, permuted, approximate = (
        concordance(positions, p_from=how).p_value  # type: ignore[arg-type]
        for how in ("exact", "permutations", "chi-square")
    )
    assert permuted == pytest.approx(exact, abs=0.02)
    assert approximate == pytest.approx(exact, abs=0.05)


def test_the_way_to_the_p_value_depends_on_the_size() -> None:
    rng = np.random.default_rng(0)
    assert concordance(random_positions(rng, 5, 4, "full")).p_from == "exact"
    assert concordance(random_positions(rng, 40, 10, "full")).p_from == "permutations"
    assert concordance(random_positions(rng, 200, 10, "full")).p_from == "chi-square"
    many = random_positions(rng, 40, 12, "incomplete")
    assert concordance(many).p_value == concordance(many).p_value
    with pytest.raises(ValueError, match=r"exact p-values of 40 rankings of 12 items take too long.*permutations"):
        concordance(many, p_from="exact")


def test_no_preference_is_rejected_as_often_as_the_level_says() -> None:
    rng = np.random.default_rng(7)
    p_values = [concordance(random_positions(rng, 6, 3, "incomplete")).p_value for _ in range(400)]
    assert np.nanmean(np.array(p_values) <= 0.1) < 0.13


def test_full_agreement_and_its_contrary() -> None:
    assert concordance([[2, 1, 3]] * 4).w == pytest.approx(1)
    assert concordance([[1, 2, 3], [3, 2, 1]]).w == pytest.approx(0)
    assert concordance([[1, 2, 2], [1, 2, 2]]).w == pytest.approx(1)
    pairs = concordance([[1, 2, NAN], [NAN, 1, 2], [1, NAN, 2]])
    assert 0.8 < pairs.w < 1
    apart = concordance([[1, 2, NAN, NAN], [NAN, NAN, 1, 2]] * 6)
    assert apart.degrees_of_freedom == 2


def test_whole_weights_are_people() -> None:
    rankings = Rankings([[1, 2, 3], [2, 1, 3]], weights=[40, 30])
    copies = concordance(np.repeat(rankings.positions, [40, 30], axis=0))
    found = concordance(rankings)
    assert (found.w, found.statistic, found.n) == pytest.approx((copies.w, copies.statistic, 70))
    survey = concordance(rankings, weight_kind="survey")
    assert survey.w == pytest.approx(found.w)
    assert survey.statistic < 5
    with pytest.raises(ValueError, match=r"weight 1 is 0\.5, not a whole number of people; choose 'survey'"):
        concordance(Rankings([[1, 2], [2, 1]], weights=[1, 0.5]), weight_kind="counts")
    with pytest.raises(ValueError, match="weight_kind is 'none'; choose 'auto', 'counts' or 'survey'"):
        concordance([[1, 2]], weight_kind="none")  # type: ignore[arg-type]


def test_it_shows_itself() -> None:
    found = concordance([[1, 2, 3], [1, 3, 2], [1, 2, 3]])
    assert "Agreement is strong: Kendall's W is 0.78" in repr(found)
    assert "exact, by all orders" in repr(found)
    assert found.to_frame()["p_value"][0] == found.p_value
    assert Page(found._repr_html_()).tags.count("table") == 1
    nothing = concordance([[1, 1], [INF, INF]])
    assert "unknown" in repr(nothing)
    json.dumps([found.as_dict(), nothing.as_dict()], allow_nan=False)


def test_agreement_is_the_mean_distance_of_two_rankings() -> None:
    assert agreement([[1, 2, 3], [1, 2, 3], [3, 2, 1]]).to_each_other == pytest.approx(2 / 3)
    often = agreement(Rankings([[1, 2, 3], [3, 2, 1]], weights=[2, 1]))
    assert often.to_each_other == pytest.approx(2 / 3)
    assert agreement([[1, 2, NAN, NAN], [NAN, NAN, 1, 2]]).to_each_other is None
    rows = np.argsort(np.random.default_rng(0).random((50, 4)), axis=1) + 1
    part = agreement(rows, max_rankings=20, random_state=0)
    assert (part.n_compared, part.n_rankings) == (20, 50)
    assert "(in a sample of 20)" in repr(part)
    assert part.to_each_other == agreement(rows, max_rankings=20, random_state=0).to_each_other
