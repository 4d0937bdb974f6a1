"""`summary`, `pair_summary` and `agreement`: numbers by hand, and how they show themselves."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import polars as pl
import pytest

from rankwise import Rankings
from rankwise.analysis import agreement, pair_summary, summary
from tests.pages import HOSTILE, Page

NAN, INF = float("nan"), float("inf")
VOTES = Rankings([[1, 2, 2], [2, 1, INF], [1, NAN, 2]], ["tea", HOSTILE, "milk"], weights=[1, 2, 1])


def test_where_items_stand() -> None:
    facts = summary(VOTES)
    assert facts.listed.tolist() == [4, 3, 2]
    assert facts.unlisted.tolist() == [0, 0, 2]
    assert facts.missing.tolist() == [0, 1, 0]
    np.testing.assert_allclose(facts.first, [2 / 4, 2 / 3, 0])
    np.testing.assert_allclose(facts.mean_position, [(1 + 2 * 2 + 1) / 4, (2.5 + 2 * 1) / 3, (2.5 + 2) / 2])
    assert (facts.n_with_ties, facts.n_with_unlisted, facts.n_with_missing) == (1, 1, 1)
    assert (facts.total_weight, facts.n_rankings, facts.n_distinct) == (4, 3, 3)


def test_a_tied_first_place_is_shared_and_an_absent_item_has_no_mean() -> None:
    facts = summary([[1, 1, NAN], [1, 2, NAN]])
    np.testing.assert_allclose(facts.first[:2], [0.75, 0.25])
    assert np.isnan(facts.first[2])
    assert np.isnan(facts.mean_position[2])


@pytest.mark.parametrize(
    ("backend", "kind"), [(None, pd.DataFrame), ("pandas", pd.DataFrame), ("polars", pl.DataFrame)]
)
def test_frames(backend: str | None, kind: type) -> None:
    frame = summary(VOTES).to_frame(backend)
    assert isinstance(frame, kind)
    assert list(frame.columns) == ["item", "listed", "unlisted", "missing", "first", "mean_position"]
    assert list(frame["item"]) == list(VOTES.items)
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
    for words in (f"Data: {HOSTILE}", "a note", "3 of total weight 4 (3 distinct)", "1 (33%)", "Pairs of items"):
        assert words in repr(facts)
    page = Page(facts._repr_html_())
    assert "script" not in page.tags
    assert page.tags.count("table") == 2
    assert "Mean Kendall distance" in repr(agreement(VOTES))
    json.dumps([facts.as_dict(), facts.pairs.as_dict(), agreement(VOTES).as_dict()], allow_nan=False)


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
