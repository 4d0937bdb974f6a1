"""The numbers of the report, recomputed by hand; rankings of every kind and size."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from sklearn.model_selection import KFold

from rankwise import Rankings
from rankwise.aggregation import borda, sample_mallows
from rankwise.cli import analysis as module
from rankwise.cli.analysis import Analysis, analyse
from rankwise.cli.report import write_report
from rankwise.cli.sources import Source
from rankwise.cli.tables import tables_of, tree_lines, tree_note
from rankwise.datasets import load_label_ranking
from tests.pages import Page

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
def result(_shipped_data_only: None) -> Analysis:
    return analyse("iris", seed=0)


def test_description(result: Analysis) -> None:
    positions = load_label_ranking("iris").y.positions
    assert result.description.n_rankings == 150
    assert result.description.n_items == 3
    assert result.description.kind == "full"
    assert result.description.n_distinct == len(np.unique(positions, axis=0))
    assert result.description.n_features == len(result.description.features) == 4


def test_the_consensus_has_a_proof_intervals_and_shares(result: Analysis) -> None:
    rankings = load_label_ranking("iris").y
    costs = {
        order: sum(discordant(row, np.argsort(order)) for row in rankings.positions)
        for order in itertools.permutations(range(3))
    }
    best = min(costs, key=costs.__getitem__)
    assert [place.item for place in result.consensus.ranking] == [rankings.items[i] for i in best]
    assert result.consensus.cost == pytest.approx(3 * costs[best])
    assert (result.consensus.optimal, result.consensus.n_resamples) == (True, 1000)
    shares = dict(zip(rankings.items, borda(rankings, return_scores=True)[1], strict=True))
    for place in result.consensus.ranking:
        assert place.score == pytest.approx(shares[place.item])
        assert 1 <= (place.low or 0) <= place.position <= (place.high or 0) <= 3


def test_agreement(result: Analysis) -> None:
    rankings = load_label_ranking("iris").y
    place = {place.item: place.position for place in result.consensus.ranking}
    consensus = np.array([place[item] for item in rankings.items])
    to_consensus = np.mean([discordant(row, consensus) for row in rankings])
    to_each_other = np.mean([discordant(a, b) for a, b in itertools.combinations(rankings.positions, 2)])
    assert result.consensus.mean_distance == pytest.approx(to_consensus)
    assert result.agreement.to_each_other == pytest.approx(to_each_other)
    assert result.agreement.n_compared == 150


def test_one_consensus_for_all_sees_the_training_folds_only(result: Analysis) -> None:
    positions = load_label_ranking("iris").y.positions
    taus = []
    for train, test in KFold(5, shuffle=True, random_state=0).split(positions):
        constant = np.argsort(np.argsort(positions[train].mean(axis=0)))
        taus += [1 - 2 * discordant(row, constant) for row in positions[test]]
    assert taus_of(result)["consensus"] == pytest.approx(np.mean(taus))


def taus_of(result: Analysis) -> dict[str, float]:
    return {standing.model: standing.tau for standing in result.leaderboard}


def test_features_help_on_iris(result: Analysis) -> None:
    taus = taus_of(result)
    assert taus.pop("consensus") < 0.5 < 0.75 < min(taus.values()) <= 1
    assert list(taus) == sorted(taus, key=taus.__getitem__, reverse=True)


def test_same_seed_same_numbers(result: Analysis) -> None:
    assert analyse("iris", seed=0).as_dict() == result.as_dict()
    assert taus_of(analyse("iris", seed=1)) != taus_of(result)


def test_results_are_json_without_the_data(result: Analysis) -> None:
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
    assert "(in a sample of 60)" in shown
    assert "on a sample of 60 rankings" in shown


def look_at(rows: list[list[float]], monkeypatch: pytest.MonkeyPatch, n_features: int = 2) -> Analysis:
    """The results for made-up rankings; warnings are errors here."""
    X = np.arange(float(len(rows) * n_features)).reshape(len(rows), n_features)
    source = Source(Rankings(rows), X, [f"x{i}" for i in range(n_features)], [])
    monkeypatch.setattr(module.sources, "load", lambda name, **options: source)
    result = analyse("mine")
    json.dumps(result.as_dict(), allow_nan=False)
    return result


def test_incomplete_rankings_are_learnt_from(monkeypatch: pytest.MonkeyPatch) -> None:
    result = look_at([[1, 2, 3], [2, 1, NAN], [1, 1, 2], [1, NAN, float("inf")]] * 10, monkeypatch)
    assert (result.description.n_with_ties, result.description.n_with_unlisted) == (10, 10)
    assert result.description.n_with_missing == 20
    assert len(result.leaderboard) == 5
    assert result.leaderboard_left_out == ""
    assert "20 (50%)" in str(tables_of(result))


@pytest.mark.parametrize("n", [1, 3, 5])
def test_few_rankings_go_without_leaderboard_and_intervals(n: int, monkeypatch: pytest.MonkeyPatch) -> None:
    result = look_at([[1, 2, 3], [2, 1, 3], [1, 2, 3], [1, 3, 2], [1, 1, 1]][:n], monkeypatch)
    assert result.leaderboard == []
    assert str(tables_of(result)).count("fewer than 10 rankings") == 2
    assert (result.agreement.to_each_other is None) == (n == 1)


def test_without_features_there_is_nothing_to_learn_from(monkeypatch: pytest.MonkeyPatch) -> None:
    result = look_at([[1, 2, 3], [2, 1, 3]] * 10, monkeypatch, n_features=0)
    assert result.leaderboard == []
    assert len(result.consensus.ranking) == 3
    assert "no features" in str(tables_of(result))


def test_rankings_that_tie_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    result = look_at([[1, 1, 1]] * 12, monkeypatch)
    assert result.leaderboard == []
    assert "tie all" in str(tables_of(result))
    # One fold in five or more holds nothing to judge.
    assert len(look_at([[1, 1, 1]] * 11 + [[1, 2, 3]], monkeypatch).leaderboard) == 5


def test_missing_features_are_filled_in(monkeypatch: pytest.MonkeyPatch) -> None:
    X = np.array([[0.0, NAN], [1.0, NAN], [NAN, NAN]] * 4)
    source = Source(Rankings([[1, 2], [2, 1], [1, 2]] * 4), X, ["a", "b"], [])
    monkeypatch.setattr(module.sources, "load", lambda name, **options: source)
    assert len(analyse("mine").leaderboard) == 5


@pytest.fixture
def by_city(monkeypatch: pytest.MonkeyPatch) -> Analysis:
    """Romans like 0 best, others 2; ages say nothing, and some cities are unknown."""
    cities = ["Rome", "Bonn", "Rome", "Oslo", None] * 12
    rows = [[1, 2, 3] if city == "Rome" else [3, 2, 1] for city in cities]
    ages = [float(20 + 7 * i % 50) for i in range(60)]
    X = np.column_stack([np.array(ages, dtype=object), np.array(cities, dtype=object)])
    source = Source(Rankings(rows), X, ["age", "city"], [], (1,))
    monkeypatch.setattr(module.sources, "load", lambda name, **options: source)
    return analyse("mine")


def test_texts_are_categories(by_city: Analysis) -> None:
    taus = taus_of(by_city)
    assert taus.pop("consensus") < 0.5 < 0.9 < min(taus.values()) < 1 + 1e-9
    assert "city in {" in by_city.tree
    assert "age" not in by_city.tree


def test_the_tree_can_be_read(result: Analysis) -> None:
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


def test_without_a_leaderboard_there_is_no_tree(monkeypatch: pytest.MonkeyPatch) -> None:
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
    monkeypatch.setattr(module, "_FEWEST_LEARNT", 20)
    monkeypatch.setattr(module, "_MOST_PAIRS", 90)
    result = look_at([[1, 2, 3]] * 30 + [[3, 2, 1]] * 30, monkeypatch)
    assert result.n_learned == 30
    assert result.agreement.n_compared == 60
    assert "of a sample of 30 rankings" in tree_note(result)


def test_an_item_that_nobody_compares_is_left_out_of_the_consensus(monkeypatch: pytest.MonkeyPatch) -> None:
    result = look_at([[1, 2, NAN, NAN], [1, 2, NAN, NAN], [NAN, NAN, NAN, 1]], monkeypatch)
    assert [(place.item, place.position) for place in result.consensus.ranking] == [("0", 1), ("1", 2)]
    assert result.consensus.never_compared == ["2", "3"]
    assert "no ranking compares 2, 3 with another item" in str(tables_of(result))


def test_an_item_that_only_some_folds_compare(monkeypatch: pytest.MonkeyPatch) -> None:
    assert len(look_at([[1, 2, NAN]] * 11 + [[1, 2, 3]], monkeypatch).leaderboard) == 5


def test_a_fold_whose_training_rows_compare_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    # The one ranking that compares is in the test fold once: nothing is predicted then, and nothing judged.
    result = look_at([[1, NAN]] * 11 + [[1, 2]], monkeypatch)
    assert result.leaderboard == []
    assert "tie all" in str(tables_of(result))


def test_rankings_that_compare_nothing_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match="no ranking compares two items"):
        look_at([[1, NAN], [NAN, 1]], monkeypatch)


def test_a_weight_counts_as_so_many_rankings(monkeypatch: pytest.MonkeyPatch) -> None:
    rows, weights = [[1, 2, 3], [3, 1, 2], [2, 1, 3]], [3, 1, 2]
    often = look_at([row for row, weight in zip(rows, weights, strict=True) for _ in range(weight)], monkeypatch)
    source = Source(Rankings(rows, weights=weights), np.empty((3, 0)), [], [])
    monkeypatch.setattr(module.sources, "load", lambda name, **options: source)
    weighted = analyse("mine")
    assert weighted.consensus == often.consensus
    assert weighted.agreement.to_each_other == pytest.approx(often.agreement.to_each_other)
    assert "3 of total weight 6" in str(tables_of(weighted))


def test_the_number_of_cores_changes_nothing(drinks: Path) -> None:
    assert analyse(str(drinks), jobs=2).as_dict() == analyse(str(drinks)).as_dict()


def test_groups_that_are_never_compared_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    result = look_at([[1, 2, NAN, NAN], [NAN, NAN, 2, 1]] * 6, monkeypatch)
    assert "no ranking compares these 2 groups" in str(tables_of(result))


def test_items_too_rare_for_intervals_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    pairs = np.where(np.eye(40) + np.eye(40, k=1) > 0, np.arange(1.0, 41.0), NAN)
    result = look_at(pairs.tolist(), monkeypatch, n_features=0)
    assert result.consensus.n_resamples == 0
    assert "no intervals: 100 draws in a row lack some item" in str(tables_of(result))


@pytest.mark.parametrize("kind", ["one", "tied", "top-k", "hundred items", "many rows"])
def test_every_kind_and_size_becomes_a_page_of_moderate_size(
    kind: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    n, k = {"one": (1, 5), "hundred items": (20, 100), "many rows": (20_000, 4)}.get(kind, (30, 5))
    rows = sample_mallows(np.arange(1, k + 1), theta=0.3, n=n, random_state=0)
    if kind == "tied":
        rows = np.ceil(rows / 2)
    if kind == "top-k":
        rows[rows > 2] = np.inf
    result = look_at(rows.tolist(), monkeypatch, n_features=int(kind == "many rows"))
    write_report(result, tmp_path / "page.html", command="rankwise report")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert len(page.encode()) < 2_000_000
    assert Page(page).tags.count("section") == 6
    assert ("sample of 1,000" in page) == (kind == "many rows")
