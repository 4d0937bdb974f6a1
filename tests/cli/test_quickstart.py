"""The numbers of the quickstart, recomputed by hand."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator

import numpy as np
import pytest
from sklearn.model_selection import KFold
from sklearn.utils import Bunch

from rankwise import Rankings
from rankwise.cli import quickstart as module
from rankwise.cli.quickstart import Quickstart, analyse
from rankwise.cli.tables import tables_of
from rankwise.datasets import load_label_ranking

NAN = float("nan")


def discordant(a: np.ndarray, b: np.ndarray) -> float:
    """Share of the pairs that two full rankings order differently."""
    pairs = list(itertools.combinations(range(len(a)), 2))
    return sum((a[i] < a[j]) != (b[i] < b[j]) for i, j in pairs) / len(pairs)


@pytest.fixture(scope="module", autouse=True)
def _shipped_data_only() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("RANKWISE_DATA", raising=False)
        yield


@pytest.fixture(scope="module")
def result(_shipped_data_only: None) -> Quickstart:
    return analyse("iris", seed=0)


def test_description(result: Quickstart) -> None:
    positions = load_label_ranking("iris").y.positions
    assert result.description.n_rankings == 150
    assert result.description.n_items == 3
    assert result.description.kind == "full"
    assert result.description.n_distinct == len(np.unique(positions, axis=0))
    assert result.description.n_features == len(result.description.features) == 4


def test_consensus_is_the_order_of_the_mean_ranks(result: Quickstart) -> None:
    rankings = load_label_ranking("iris").y
    means = dict(zip(rankings.items, rankings.positions.mean(axis=0), strict=True))
    assert [standing.item for standing in result.consensus] == sorted(means, key=means.__getitem__)
    assert [standing.position for standing in result.consensus] == [1, 2, 3]
    assert {s.item: s.mean_rank for s in result.consensus} == pytest.approx(means)


def test_agreement(result: Quickstart) -> None:
    rankings = load_label_ranking("iris").y
    place = {standing.item: standing.position for standing in result.consensus}
    consensus = np.array([place[item] for item in rankings.items])
    to_consensus = np.mean([discordant(row, consensus) for row in rankings])
    to_each_other = np.mean([discordant(a, b) for a, b in itertools.combinations(rankings.positions, 2)])
    assert result.agreement.to_consensus == pytest.approx(to_consensus)
    assert result.agreement.to_each_other == pytest.approx(to_each_other)
    assert result.agreement.n_compared == 150


def test_the_constant_baseline_sees_the_training_folds_only(result: Quickstart) -> None:
    positions = load_label_ranking("iris").y.positions
    taus = []
    for train, test in KFold(5, shuffle=True, random_state=0).split(positions):
        constant = np.argsort(np.argsort(positions[train].mean(axis=0)))
        taus.append(np.mean([1 - 2 * discordant(row, constant) for row in positions[test]]))
    assert result.baselines[0].tau == pytest.approx(np.mean(taus))
    assert result.baselines[0].tau_sd == pytest.approx(np.std(taus))


def test_features_help_on_iris(result: Quickstart) -> None:
    constant, neighbours, forest = (baseline.tau for baseline in result.baselines)
    assert constant < 0.5 < 0.85 < min(neighbours, forest) <= 1


def test_same_seed_same_numbers(result: Quickstart) -> None:
    assert analyse("iris", seed=0).as_dict() == result.as_dict()
    assert analyse("iris", seed=1).baselines != result.baselines


def test_results_are_json_without_the_data(result: Quickstart) -> None:
    text = json.dumps(result.as_dict(), allow_nan=False)
    assert "rankings" not in json.loads(text)


def test_steps_are_told_in_order() -> None:
    shares: list[float] = []
    analyse("iris", on_step=lambda step, share: shares.append(share))
    assert shares == sorted(shares)
    assert 0 <= shares[0] < shares[-1] < 1


def test_large_data_are_sampled_and_the_tables_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_MOST_ROWS", 60)
    result = analyse("iris")
    assert result.agreement.n_compared == result.n_learned == 60
    shown = str(tables_of(result))
    assert "rankings to each other (a sample of 60)" in shown
    assert "on a sample of 60 rankings" in shown


def test_incomplete_rankings_go_without_the_regressors(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [[1, 2, 3], [2, 1, NAN], [1, 1, 2], [1, NAN, float("inf")]] * 10
    bunch = Bunch(X=np.arange(80.0).reshape(40, 2), y=Rankings(rows), feature_names=["a", "b"])
    monkeypatch.setattr(module, "load_label_ranking", lambda name: bunch)
    result = analyse("mine")
    assert (result.description.n_with_ties, result.description.n_with_unlisted) == (10, 10)
    assert result.description.n_with_missing == 20
    assert len(result.baselines) == 1
    shown = str(tables_of(result))
    assert "20 (50%)" in shown
    assert "need rankings without missing items" in shown
