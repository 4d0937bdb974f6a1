"""The numbers of the quickstart, recomputed by hand."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator

import numpy as np
import pytest
from sklearn.model_selection import KFold

from rankwise import Rankings
from rankwise.cli import quickstart as module
from rankwise.cli.quickstart import Quickstart, analyse
from rankwise.cli.sources import Source
from rankwise.cli.tables import tables_of, tree_lines, tree_note
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


def look_at(rows: list[list[float]], monkeypatch: pytest.MonkeyPatch, n_features: int = 2) -> Quickstart:
    """The results for made-up rankings; warnings are errors here."""
    X = np.arange(float(len(rows) * n_features)).reshape(len(rows), n_features)
    source = Source(Rankings(rows), X, [f"x{i}" for i in range(n_features)], [])
    monkeypatch.setattr(module.sources, "load", lambda name: source)
    result = analyse("mine")
    json.dumps(result.as_dict(), allow_nan=False)
    return result


def test_incomplete_rankings_are_learnt_from(monkeypatch: pytest.MonkeyPatch) -> None:
    result = look_at([[1, 2, 3], [2, 1, NAN], [1, 1, 2], [1, NAN, float("inf")]] * 10, monkeypatch)
    assert (result.description.n_with_ties, result.description.n_with_unlisted) == (10, 10)
    assert result.description.n_with_missing == 20
    assert len(result.baselines) == 3
    assert result.baselines_left_out == ""
    assert "20 (50%)" in str(tables_of(result))


@pytest.mark.parametrize("n", [1, 3, 5])
def test_few_rankings_go_without_baselines(n: int, monkeypatch: pytest.MonkeyPatch) -> None:
    result = look_at([[1, 2, 3], [2, 1, 3], [1, 2, 3], [1, 3, 2], [1, 1, 1]][:n], monkeypatch)
    assert result.baselines == []
    assert "fewer than 10 rankings" in str(tables_of(result))
    assert (result.agreement.to_each_other is None) == (n == 1)


def test_neighbours_are_no_more_than_the_training_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    names = [baseline.name for baseline in look_at([[1, 2, 3], [2, 1, 3], [3, 1, 2]] * 4, monkeypatch).baselines]
    assert names[1] == "9 nearest neighbours"  # of 12 rows, the largest fold tests 3


def test_without_features_there_is_nothing_to_learn_from(monkeypatch: pytest.MonkeyPatch) -> None:
    result = look_at([[1, 2, 3], [2, 1, 3]] * 10, monkeypatch, n_features=0)
    assert result.baselines == []
    assert len(result.consensus) == 3
    assert "no features" in str(tables_of(result))


def test_rankings_that_tie_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    result = look_at([[1, 1, 1]] * 12, monkeypatch)
    assert result.baselines == []
    assert "tie all" in str(tables_of(result))
    # One fold in five or more holds nothing to judge.
    assert len(look_at([[1, 1, 1]] * 11 + [[1, 2, 3]], monkeypatch).baselines) == 3


def test_missing_features_are_filled_in(monkeypatch: pytest.MonkeyPatch) -> None:
    X = np.array([[0.0, NAN], [1.0, NAN], [NAN, NAN]] * 4)
    source = Source(Rankings([[1, 2], [2, 1], [1, 2]] * 4), X, ["a", "b"], [])
    monkeypatch.setattr(module.sources, "load", lambda name: source)
    assert len(analyse("mine").baselines) == 3


@pytest.fixture
def by_city(monkeypatch: pytest.MonkeyPatch) -> Quickstart:
    """Romans like 0 best, others 2; ages say nothing, and some cities are unknown."""
    cities = ["Rome", "Bonn", "Rome", "Oslo", None] * 12
    rows = [[1, 2, 3] if city == "Rome" else [3, 2, 1] for city in cities]
    ages = [float(20 + 7 * i % 50) for i in range(60)]
    X = np.column_stack([np.array(ages, dtype=object), np.array(cities, dtype=object)])
    source = Source(Rankings(rows), X, ["age", "city"], [], (1,))
    monkeypatch.setattr(module.sources, "load", lambda name: source)
    return analyse("mine")


def test_texts_are_categories(by_city: Quickstart) -> None:
    constant, neighbours, forest = (baseline.tau for baseline in by_city.baselines)
    assert constant < 0.5 < 0.9 < min(neighbours, forest) <= 1
    assert "city in {" in by_city.tree
    assert "age" not in by_city.tree


def test_the_tree_can_be_read(result: Quickstart) -> None:
    assert result.fitted_tree is not None
    assert result.tree == result.fitted_tree.export_text()
    assert 1 < result.fitted_tree.get_n_leaves() <= 8
    assert "petal" in result.tree
    assert result.as_dict()["tree"] == result.tree
    assert tree_lines(result) == result.tree.splitlines()
    assert tree_note(result).startswith("conditions")


def test_noise_grows_no_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = np.argsort(np.random.default_rng(0).random((100, 3)), axis=1) + 1.0
    result = look_at(rows.tolist(), monkeypatch)
    assert result.fitted_tree is not None
    assert result.fitted_tree.get_n_leaves() == 1
    assert tree_note(result).startswith("none: no condition")


def test_without_baselines_there_is_no_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    result = look_at([[1, 2, 3], [2, 1, 3]], monkeypatch)
    assert result.fitted_tree is None
    assert result.tree == ""
    assert tree_lines(result) == []


def test_lines_of_many_items_are_cut_but_keep_the_size(monkeypatch: pytest.MonkeyPatch) -> None:
    result = look_at([list(range(1, 101))] * 12, monkeypatch)
    assert result.tree.endswith("> 99  (n=12)")
    (line,) = tree_lines(result)
    assert len(line) < 180
    assert line.endswith(" ...  (n=12)")


def test_of_many_items_fewer_rankings_are_learnt(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_FEWEST_ROWS", 20)
    monkeypatch.setattr(module, "_MOST_PAIRS", 90)
    result = look_at([[1, 2, 3]] * 30 + [[3, 2, 1]] * 30, monkeypatch)
    assert result.n_learned == 30
    assert result.agreement.n_compared == 60
    assert "of a sample of 30 rankings" in tree_note(result)


def test_an_item_that_nobody_compares_is_left_out_of_the_consensus(monkeypatch: pytest.MonkeyPatch) -> None:
    result = look_at([[1, 2, NAN, NAN], [1, 2, NAN, NAN], [NAN, NAN, NAN, 1]], monkeypatch)
    assert [(standing.item, standing.mean_rank) for standing in result.consensus] == [("0", 1), ("1", 2)]
    assert result.never_compared == ["2", "3"]
    assert "no ranking compares 2, 3 with another item" in str(tables_of(result))


def test_an_item_that_only_some_folds_compare(monkeypatch: pytest.MonkeyPatch) -> None:
    assert len(look_at([[1, 2, NAN]] * 11 + [[1, 2, 3]], monkeypatch).baselines) == 3


def test_a_fold_whose_training_rows_compare_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    # The one ranking that compares is in the test fold once: nothing is predicted then, and nothing judged.
    result = look_at([[1, NAN]] * 11 + [[1, 2]], monkeypatch)
    assert result.baselines == []
    assert "tie all" in str(tables_of(result))


def test_rankings_that_compare_nothing_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match="no ranking of mine compares two items"):
        look_at([[1, NAN], [NAN, 1]], monkeypatch)


def test_a_weight_counts_as_so_many_rankings(monkeypatch: pytest.MonkeyPatch) -> None:
    rows, weights = [[1, 2, 3], [3, 1, 2], [2, 1, 3]], [3, 1, 2]
    often = look_at([row for row, weight in zip(rows, weights, strict=True) for _ in range(weight)], monkeypatch)
    source = Source(Rankings(rows, weights=weights), np.empty((3, 0)), [], [])
    monkeypatch.setattr(module.sources, "load", lambda name: source)
    weighted = analyse("mine")
    assert weighted.consensus == often.consensus
    assert weighted.agreement.to_consensus == pytest.approx(often.agreement.to_consensus)
    assert weighted.agreement.to_each_other == pytest.approx(often.agreement.to_each_other)
    assert "3 of total weight 6" in str(tables_of(weighted))
