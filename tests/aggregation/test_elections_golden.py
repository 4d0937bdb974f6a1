"""Elections against another library: winners that pref_voting found, made by benchmarks/election_winners.py."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rankwise import Rankings
from rankwise.aggregation import (
    all_optimal,
    borda,
    bucklin,
    instant_runoff,
    plurality,
    range_voting,
    ranked_pairs,
    schulze,
    stv,
)
from rankwise.aggregation.shared_order import places

GOLDEN = Path(os.environ.get("RANKWISE_GOLDEN_ELECTIONS", Path(__file__).parents[1] / "golden" / "elections.json"))
CASES = json.loads(GOLDEN.read_text())


def rankings_of(case: dict[str, Any]) -> Rankings:
    if "positions" in case:
        return Rankings(case["positions"], weights=case["weights"])
    items = range(case.get("n_items", len(case["orders"][0])))
    return Rankings.from_orders(case["orders"], items=list(items), weights=case["weights"])


def first(positions: np.ndarray[Any, Any]) -> list[int]:
    return np.flatnonzero(positions == 1).tolist()


@pytest.mark.parametrize("kind", ["full", "short", "tied"])
def test_winners_in_rounds(kind: str) -> None:
    for case in CASES[kind]:
        rankings = rankings_of(case)
        assert sorted(instant_runoff(rankings).winners) == case["instant_runoff"], case
        if kind == "tied":  # pref_voting passes a shared vote on to none of the items that shared it
            continue
        election = stv(rankings, case["seats"])
        drawn = [set(winners) for winners in case["stv"]]
        assert set(election.winners) >= set.union(*drawn), case
        assert set(election.certain) <= set.intersection(*drawn), case
        if not election.tied:
            assert drawn == [set(election.winners)], case


@pytest.mark.parametrize("kind", ["full", "short"])
def test_bucklin(kind: str) -> None:
    for case in CASES[kind]:
        assert first(bucklin(rankings_of(case))[0]) == case["bucklin"], case


@pytest.mark.parametrize("kind", ["full", "tied"])
def test_ranked_pairs(kind: str) -> None:
    for case in CASES[kind]:
        found = ranked_pairs(rankings_of(case))
        assert found.complete
        assert sorted(found.winners) == case["ranked_pairs"], case


def test_rules_of_places_and_schulze() -> None:
    for case in CASES["full"]:
        rankings = rankings_of(case)
        assert places(plurality(rankings)[0]).tolist() == places(np.array(case["plurality"])).tolist(), case
        assert places(borda(rankings)).tolist() == places(np.array(case["borda"])).tolist(), case
        assert first(schulze(rankings)) == case["schulze"], case
        assert first(range_voting(case["grades"], sample_weight=case["weights"])[0]) == case["range"], case


def test_all_rankings_of_kemeny() -> None:
    for case in CASES["full"]:
        found = all_optimal(rankings_of(case), limit=1000)
        assert found.complete
        assert sorted(found.rankings.orders().tolist()) == case["kemeny"], case
