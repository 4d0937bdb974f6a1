"""`summary` and `pair_summary`: numbers by hand and by definition, and how they show themselves."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from scipy.stats import t as student

from rankwise import Rankings
from rankwise.analysis import agreement, pair_summary, summary
from tests.naive.summary import compares, expected_ranks, place_shares
from tests.pages import HOSTILE, Page
from tests.strategies import position_matrices, random_positions

NAN, INF = float("nan"), float("inf")
VOTES = Rankings([[1, 2, 2], [2, 1, INF], [1, NAN, 2]], ["tea", HOSTILE, "milk"], weights=[1, 2, 1])


def test_where_items_stand() -> None:
    facts = summary(VOTES)
    assert facts.listed.tolist() == [4, 3, 2]
    assert facts.unlisted.tolist() == [0, 0, 2]
    assert facts.missing.tolist() == [0, 1, 0]
    np.testing.assert_allclose(facts.top1, [2 / 4, 2 / 3, 0])
    # In the last ranking, two of three items: first of them is expected at 4/3, second at 8/3.
    means = [(1 + 2 * 2 + 4 / 3) / 4, (2.5 + 2 * 1) / 3, (2.5 + 2 * 3 + 8 / 3) / 4]
    np.testing.assert_allclose(facts.mean_rank, means)
    assert facts.n.tolist() == [4, 3, 4]
    assert (facts.n_with_ties, facts.n_with_unlisted, facts.n_with_missing) == (1, 1, 1)
    assert (facts.total_weight, facts.n_rankings, facts.n_distinct, facts.n_empty) == (4, 3, 3, 0)


@given(position_matrices(min_items=2, max_items=5))
def test_ranks_are_those_expected_if_missing_items_are_put_in_at_random(positions: np.ndarray) -> None:
    weights = np.arange(1.0, len(positions) + 1)
    facts = summary(Rankings(positions, weights=weights))
    assert facts.n_empty == sum(not compares(row) for row in positions)
    np.testing.assert_allclose(facts.marginals, place_shares(positions, weights), atol=1e-12)
    ranks = np.array([expected_ranks(row) if compares(row) else np.full(len(row), NAN) for row in positions])
    people = np.repeat(ranks, weights.astype(int), axis=0)
    for i, column in enumerate(people.T):
        known = column[~np.isnan(column)]
        assert facts.n[i] == len(known)
        if not len(known):
            assert np.isnan([facts.mean_rank[i], facts.median[i], facts.top1[i], facts.top3[i]]).all()
            continue
        assert facts.mean_rank[i] == pytest.approx(known.mean())
        assert facts.median[i] == pytest.approx(np.median(known))
        assert facts.top3[i] == pytest.approx(facts.marginals[i, :3].sum())
        if len(known) > 1:
            error = known.std(ddof=1) / np.sqrt(len(known))
            assert facts.standard_error[i] == pytest.approx(error, abs=1e-9)
            ends = known.mean() + student.ppf([0.025, 0.975], len(known) - 1) * error
            np.testing.assert_allclose([facts.low[i], facts.high[i]], np.clip(ends, 1, len(facts.items)), atol=1e-9)
        else:
            assert np.isnan(facts.standard_error[i])


@pytest.mark.parametrize("kind", ["full", "tied", "top-k", "incomplete"])
def test_survey_weights_have_linearized_errors(kind: str) -> None:
    # The delete-one jackknife of a weighted mean is close to the linearized error, and far from that of counted people.
    positions = random_positions(np.random.default_rng(2), 400, 4, kind)
    weights = np.random.default_rng(0).choice([0.3, 1.0, 4.0], 400)
    facts = summary(Rankings(positions, weights=weights))
    assert facts.weights_are == "survey"
    assert facts.n_effective == pytest.approx(weights.sum() ** 2 / (weights**2).sum())
    without = np.array(
        [summary(Rankings(np.delete(positions, r, 0), weights=np.delete(weights, r))).mean_rank for r in range(400)]
    )
    jackknife = np.sqrt(399 / 400 * ((without - without.mean(axis=0)) ** 2).sum(axis=0))
    np.testing.assert_allclose(facts.standard_error, jackknife, rtol=0.02)
    naive = summary(Rankings(positions)).standard_error
    assert np.all(facts.standard_error > 1.15 * naive)
    same = summary(Rankings(positions, weights=100 * weights), weight_kind="survey")
    np.testing.assert_allclose(same.standard_error, facts.standard_error)


def test_intervals_hold_the_true_mean_rank() -> None:
    rng = np.random.default_rng(0)
    inside = []
    for _ in range(500):
        utilities = np.array([0.8, 0.2, 0.0]) + rng.gumbel(size=(40, 3))
        weights = rng.choice([0.5, 1.0, 2.5], 40)
        facts = summary(Rankings.from_scores(utilities, weights=weights), level=0.9)
        first = sum(1 / (1 + np.exp(0.8 - other)) for other in (0.2, 0.0)) + 1
        inside.append(facts.low[0] <= first <= facts.high[0])
    assert 0.87 <= np.mean(inside) <= 0.93


def test_a_tied_first_place_is_shared_and_an_absent_item_has_no_mean() -> None:
    facts = summary([[1, 1, NAN], [1, 2, NAN], [1, NAN, NAN]])
    np.testing.assert_allclose(facts.top1[:2], [0.75, 0.25])
    assert np.isnan(facts.top1[2])
    assert np.isnan(facts.mean_rank[2])
    assert facts.n_empty == 1
    assert facts.to_frame()["item"].tolist() == [0, 1, 2]
    assert "1 ranking compares nothing and is counted apart." in facts.highlights


def test_unlisted_items_are_not_among_the_first_three() -> None:
    facts = summary([[1, INF, INF, INF], [1, 2, INF, INF]])
    np.testing.assert_allclose(facts.top3, [1, 0.5, 0, 0])
    np.testing.assert_allclose(facts.mean_rank, [1, 2.5, 3.25, 3.25])
    frame = facts.marginals_frame()
    assert list(frame.columns) == ["item", "1", "2", "3", "4", "unlisted"]
    np.testing.assert_allclose(frame["unlisted"], [0, 0.5, 1, 1])
    assert facts.marginals_table().rows[1] == ["1", "0%", "50%", "0%", "0%", "50%"]


@pytest.mark.parametrize("rows", [[[NAN, NAN, NAN]], [[INF, INF, INF]], [[1, NAN, NAN]]])
def test_rankings_that_say_nothing(rows: object) -> None:
    facts = summary(Rankings(np.asarray(rows, dtype=float)))
    assert facts.n.tolist() == [0, 0, 0]
    assert facts.highlights[0] == "No ranking compares two items, so there are no ranks."
    assert np.isnan(facts.kendalls_w)
    assert "mean rank" in repr(facts)
    json.dumps(facts.as_dict(), allow_nan=False)


def test_no_rankings_are_an_error() -> None:
    with pytest.raises(ValueError, match="there are no rankings to summarize"):
        summary(Rankings(np.empty((0, 3))))


def test_pairs_count_people() -> None:
    rankings = Rankings([[1, 2, NAN], [2, 1, 3]], ["a", "b", "c"], [0.5, 1.5])
    frame = summary(rankings).pairs.to_frame()
    assert frame["n"].tolist() == [2, 1, 1]
    assert frame["comparisons"].tolist() == [2, 1.5, 1.5]
    counted = summary(Rankings(rankings.positions, weights=[3, 2])).pairs
    assert counted.n[0, 1] == 5


def test_weights_of_zero_say_nothing() -> None:
    facts = summary(Rankings([[1, 2], [2, 1], [1, 2]], weights=[1, 0, 1]))
    assert facts.mean_rank.tolist() == [1, 2]
    assert facts.n.tolist() == [2, 2]
    assert np.isnan(summary(Rankings([[1, 2]], weights=[0])).mean_rank).all()


def test_sentences() -> None:
    lines = summary(Rankings([[1, 2, 3, 4]] * 6 + [[2, 1, 3, 4]] * 4, ["a", "b", "c", "d"])).highlights
    assert lines[0].startswith("a has the best mean rank, 1.40 of 4 (95% interval 1.03 to 1.77); 60% put it first, ")
    assert lines[0].endswith("100% among the first three.")
    assert lines[1] == "Next is b with 1.60."
    assert lines[2].startswith("Agreement is very strong: Kendall's W is 0.90")
    tie = summary(Rankings([[1, 2, 3], [2, 1, 3]], ["a", "b", "c"])).highlights[0]
    assert tie == "a and b have the best mean rank, 1.50 of 3: a tie."
    # The best mean rank and the most first choices may be of two items.
    split = summary(Rankings([[1, 2, 3]] * 4 + [[3, 2, 1]] * 4 + [[2, 1, 3]], ["a", "b", "c"])).highlights
    assert "Most first choices go to a: 44%." in split
    people = summary(Rankings([[1, 2], [2, 1]], weights=[3, 2])).highlights
    assert "The weights are whole numbers and count people: 2 rows for 5 people." in people
    survey = summary(Rankings([[1, 2], [2, 1]], weights=[1.5, 0.5])).highlights
    assert (
        "The weights are survey weights: 2 people, 2.0 by weight, which say as much as 1.6 people of equal weight."
        in survey
    )


@pytest.mark.parametrize(
    ("backend", "kind"), [(None, pd.DataFrame), ("pandas", pd.DataFrame), ("polars", pl.DataFrame)]
)
def test_frames(backend: str | None, kind: type) -> None:
    frame = summary(VOTES).to_frame(backend)
    assert isinstance(frame, kind)
    assert list(frame.columns[:6]) == ["item", "n", "mean_rank", "standard_error", "low", "high"]
    assert list(frame.columns[6:]) == ["median", "top1", "top3", "listed", "unlisted", "missing"]
    assert list(frame["item"]) == [HOSTILE, "tea", "milk"]
    pairs = pair_summary(VOTES).to_frame(backend)
    assert list(pairs["second"]) == [HOSTILE, "milk", "milk"]
    assert list(pairs["comparisons"]) == [3, 4, 3]
    np.testing.assert_allclose(pairs["first_wins"], [1 / 3, 1, 2 / 3])
    np.testing.assert_allclose(pairs["ties"], [0, 0, 1 / 3])
    assert isinstance(agreement(VOTES).to_frame(backend), kind)


def test_a_pair_that_is_never_compared_has_no_shares() -> None:
    frame = pair_summary([[1, 2, NAN], [1, 2, NAN]]).to_frame()
    assert frame["comparisons"].tolist() == [2, 0, 0]
    assert frame["first_wins"].isna().tolist() == [False, True, True]


def test_features_have_names() -> None:
    assert summary(VOTES).features == ()
    assert summary(VOTES, np.zeros((3, 2))).features == ("x0", "x1")
    assert summary(VOTES, pd.DataFrame({"age": [1, 2, 3]})).features == ("age",)
    assert summary(VOTES, pl.DataFrame({"age": [1, 2, 3]}), feature_names=["years"]).features == ("years",)


def test_it_shows_itself() -> None:
    facts = summary(VOTES, name=HOSTILE, notes=["a note"])
    text = repr(facts)
    for words in (f"Data: {HOSTILE}", "a note", "3 of total weight 4 (3 distinct)", "1 (33%)"):
        assert words in text
    # What people ask for comes first; what few know is last.
    order = ["mean rank", "first choice", "Kendall's W", "Data", "Details: pairs of items", "closest majority"]
    found = [text.index(words) for words in order]
    assert found == sorted(found)
    page = Page(facts._repr_html_())
    assert "script" not in page.tags
    assert page.tags.count("table") == 4
    json.dumps([facts.as_dict(), facts.pairs.as_dict()], allow_nan=False)
    assert [one["item"] for one in facts.as_dict()["mean_ranks"]] == [HOSTILE, "tea", "milk"]
    assert facts.friedman.p_value == facts.as_dict()["concordance"]["p_value"]


def test_distinct_rankings_are_counted() -> None:
    rng = np.random.default_rng(0)
    for kind in ("full", "tied", "top-k", "incomplete"):
        positions = random_positions(rng, 500, 4, kind)
        assert summary(positions).n_distinct == len(Rankings(positions).group())


def test_the_level_is_checked() -> None:
    with pytest.raises(ValueError, match="level is 1"):
        summary(VOTES, level=1)
    narrow, wide = summary(VOTES, level=0.5), summary(VOTES, level=0.9)
    assert np.all(wide.high - wide.low >= narrow.high - narrow.low)


def test_pairs_by_a_plain_loop():
    """Shares and people of each pair in tables and JSON, on rankings of every kind with survey weights."""
    rng = np.random.default_rng(1)
    positions = rng.integers(1, 5, size=(30, 4)).astype(float)
    positions[rng.random(positions.shape) < 0.2] = np.nan
    positions[:, 3] = np.nan  # never compared
    weights = rng.uniform(0.5, 2, size=30)
    found = pair_summary(Rankings(positions, items=list("abcd"), weights=weights))
    matrix = found.as_dict(matrix=True)["matrix"]
    shares, people = found.matrix_tables(order=[2, 0, 1, 3])
    assert [row[0] for row in shares.rows] == list("cabd")
    for i in range(4):
        for j in range(4):
            both = np.isfinite(positions[:, i]) & np.isfinite(positions[:, j]) & (i != j)
            before = both & (positions[:, i] < positions[:, j])
            tied = both & (positions[:, i] == positions[:, j])
            assert matrix["n"][i][j] == both.sum()
            cell = shares.rows["cabd".index("abcd"[i])][1 + "cabd".index("abcd"[j])]
            if not both.any():
                assert matrix["before"][i][j] is None
                assert cell == ""
                continue
            assert matrix["before"][i][j] == pytest.approx(weights[before].sum() / weights[both].sum())
            assert matrix["tied"][i][j] == pytest.approx(weights[tied].sum() / weights[both].sum())
            assert cell == f"{matrix['before'][i][j]:.1%}"
            assert people.rows["cabd".index("abcd"[i])][1 + "cabd".index("abcd"[j])] == str(both.sum())


def test_a_weight_of_zero_is_nobody() -> None:
    lines = summary(Rankings([[1, 2], [2, 1], [1, 2]], weights=[1.5, 0.5, 0])).explanations
    assert lines[0].startswith("The weights are survey weights: 2 people, 2.0 by weight, ")
    assert lines[1] == "1 ranking has the weight zero and does not count."
