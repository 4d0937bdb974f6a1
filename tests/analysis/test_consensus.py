"""`consensus`: the ranking of each rule, its cost and distances, intervals, and how it shows itself."""

from __future__ import annotations

import importlib
import json
import warnings
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from rankwise import Rankings
from rankwise.aggregation import bootstrap_consensus, kemeny
from rankwise.analysis import consensus
from rankwise.distances import kendall_distance
from tests.pages import HOSTILE, Page

module = importlib.import_module("rankwise.analysis.consensus")
NAN = float("nan")
RULES = ["kemeny", "borda", "copeland", "copeland-or-borda", "schulze", "mallows", "plackett-luce"]


@pytest.fixture(scope="module")
def race() -> Rankings:
    """Rankings that put every item first somewhere, so that all models exist."""
    rng = np.random.default_rng(3)
    worth = np.array([2.0, 1.0, 0.5, 0.0]) + rng.gumbel(size=(60, 4))
    return Rankings(1 + np.argsort(np.argsort(-worth, axis=1), axis=1), ["a", "b", "c", HOSTILE])


@pytest.mark.parametrize("decode", RULES)
def test_every_rule_has_a_cost_distances_and_intervals(decode: str, race: Rankings) -> None:
    found = consensus(race, decode, random_state=0)
    assert found.decode == decode
    assert found.order[0] == "a"
    np.testing.assert_array_equal(found.distances, kendall_distance(race, found.positions, normalize=True))
    assert found.mean_distance == pytest.approx(found.distances.mean())
    assert found.cost / found.comparisons == pytest.approx(found.mean_distance)  # all rankings are full
    assert (found.kemeny is not None) == (decode == "kemeny")
    assert (found.scores is not None) == (decode in ("borda", "plackett-luce"))
    assert found.bootstrap is not None
    assert (found.bootstrap.level, found.bootstrap.n_resamples, found.notes) == (0.95, 200, ())
    np.testing.assert_array_equal(found.bootstrap.positions, found.positions)
    json.dumps(found.as_dict(), allow_nan=False)


def test_intervals_are_those_of_the_bootstrap(race: Rankings) -> None:
    found = consensus(race, intervals=True, n_resamples=40, level=0.8, random_state=5).bootstrap
    spread = bootstrap_consensus(race, n_resamples=40, level=0.8, random_state=5)
    assert found is not None
    np.testing.assert_array_equal(found.low, spread.low)
    np.testing.assert_array_equal(found.high, spread.high)
    np.testing.assert_array_equal(found.before, spread.before)


@pytest.mark.parametrize("intervals", [True, False, "auto"])
def test_kemeny_is_solved_once(intervals: bool, race: Rankings, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[dict[str, Any]] = []

    def counting(*given: Any, **options: Any) -> Any:
        calls.append(options)
        return kemeny(*given, **options)

    monkeypatch.setattr("rankwise.aggregation.rules.kemeny", counting)
    consensus(race, intervals=intervals, time_limit=7, random_state=0)
    assert calls == [{"time_limit": 7, "random_state": 0}]


def test_intervals_that_were_not_asked_for_may_be_too_slow(race: Rankings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(module._MOST_PAIRS, "kemeny", 10)
    assert consensus(race).notes == (module.SLOW_INTERVALS,)
    assert consensus(race).bootstrap is None
    assert consensus(race, intervals=True).bootstrap is not None
    assert consensus(race, intervals=False).notes == ()


def test_intervals_that_were_not_asked_for_may_fail() -> None:
    # Some resample has an item that beats all others, and so no Plackett-Luce model without a prior.
    rankings = [[1, 2]] * 11 + [[2, 1]]
    assert consensus(rankings, "plackett-luce", random_state=0).notes[0].startswith("no intervals: ")
    with pytest.raises(ValueError, match="prior"):
        consensus(rankings, "plackett-luce", intervals=True, random_state=0)
    assert consensus(rankings, "plackett-luce", alpha=0.5, random_state=0).bootstrap is not None


def test_few_rankings_have_no_intervals() -> None:
    for intervals in (True, "auto"):
        found = consensus([[1, 2, 3]] * 9, intervals=intervals)
        assert found.bootstrap is None
        assert found.notes == ("no intervals: fewer than 10 rankings say too little",)
    assert consensus(Rankings([[1, 2], [2, 1]], weights=[6, 5]), random_state=0).bootstrap is not None
    assert consensus(Rankings([[1, 2], [2, 1]], weights=[60.5, 5]), random_state=0).bootstrap is None


def test_items_that_no_ranking_compares_are_named() -> None:
    found = consensus([[1, 2, NAN], [1, 2, NAN], [NAN, NAN, 1]])
    assert (found.items, found.never_compared) == ((0, 1), (2,))
    assert np.isnan(found.distances[2])
    assert "no ranking compares 2 with another item" in repr(found)
    with pytest.raises(ValueError, match="no ranking compares two items"):
        consensus([[1, NAN], [NAN, 1]])


def test_groups_that_are_never_compared_are_warned_about_once() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        consensus([[1, 2, NAN, NAN], [NAN, NAN, 2, 1]] * 6, random_state=0)
    assert len(caught) == 1
    assert "these 2 groups" in str(caught[0].message)


def test_rankings_that_agree_have_an_infinite_theta() -> None:
    found = consensus([[1, 2], [1, 2]], "mallows")
    assert found.parameters["theta"] == np.inf
    assert found.as_dict()["parameters"] == {"theta": None, "theta_se": None}
    assert "infinite: all rankings are the same" in repr(found)


@pytest.mark.parametrize(("backend", "kind"), [(None, pd.DataFrame), ("polars", pl.DataFrame)])
def test_frames(backend: str | None, kind: type, race: Rankings) -> None:
    frame = consensus(race, "borda", random_state=0).to_frame(backend)
    assert isinstance(frame, kind)
    assert list(frame.columns) == ["item", "position", "score", "low", "high"]
    assert list(frame["position"]) == [1, 2, 3, 4]
    assert next(iter(frame["item"])) == "a"
    bare = consensus(race, intervals=False).to_frame(backend)
    assert list(bare.columns) == ["item", "position"]
    mixed = consensus(Rankings([[1, 2], [2, 1]], ["a", 7])).to_frame(backend)
    assert sorted(mixed["item"]) == ["7", "a"]


def test_it_shows_itself(race: Rankings) -> None:
    found = consensus(race, random_state=0)
    for words in ("Consensus: kemeny", "95 % interval", "How good", "optimal", "from 200 resamples"):
        assert words in repr(found)
    page = Page(found._repr_html_())
    assert "script" not in page.tags
    assert page.tags.count("table") == 2


def test_mistakes() -> None:
    with pytest.raises(ValueError, match="intervals is 50; choose True, False or 'auto', and give a number as"):
        consensus([[1, 2]], intervals=50)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="decode is 'oracle'; choose one of 'kemeny', 'borda'"):
        consensus([[1, 2]], "oracle")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="n_resamples is 5, too few"):
        consensus([[1, 2]], n_resamples=5)
    with pytest.raises(ValueError, match="level is 2"):
        consensus([[1, 2]] * 12, intervals=True, level=2)
