"""`analyze`: its numbers recomputed by hand; rankings of every kind and size; features of every make."""

from __future__ import annotations

import importlib
import itertools
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.model_selection import KFold

import rankwise
from rankwise import Rankings
from rankwise.aggregation import borda, kemeny, sample_mallows
from rankwise.analysis import Analysis, analyze, compare_groups, consensus, summary
from rankwise.data import read_rankings, read_survey
from rankwise.datasets import load_label_ranking
from tests.pages import HOSTILE, Page

analysis_module = importlib.import_module("rankwise.analysis.analyze")

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
    return of_iris()


def of_iris(seed: int = 0, **options: Any) -> Analysis:
    bunch = load_label_ranking("iris")
    return analyze(bunch.y, bunch.X, feature_names=bunch.feature_names, random_state=seed, **options)


def shown(result: Analysis) -> str:
    return str(result.tables())


def standings(result: Analysis) -> list[str]:
    return [] if result.leaderboard is None else list(result.leaderboard.names)


def test_summary(result: Analysis) -> None:
    positions = load_label_ranking("iris").y.positions
    assert result.summary.n_rankings == 150
    assert result.summary.n_items == 3
    assert result.summary.kind == "full"
    assert result.summary.n_distinct == len(np.unique(positions, axis=0))
    assert result.as_dict()["description"]["n_features"] == len(result.summary.features) == 4


def test_the_consensus_has_a_proof_intervals_and_shares(result: Analysis) -> None:
    rankings = load_label_ranking("iris").y
    costs = {
        order: sum(discordant(row, np.argsort(order)) for row in rankings.positions)
        for order in itertools.permutations(range(3))
    }
    best = min(costs, key=costs.__getitem__)
    found = result.consensus
    assert found.order == [rankings.items[i] for i in best]
    assert found.cost == pytest.approx(3 * costs[best])
    assert found.kemeny is not None
    assert found.bootstrap is not None
    assert (found.kemeny.optimal, found.bootstrap.n_resamples) == (True, 1000)
    np.testing.assert_allclose(found.scores, borda(rankings, return_scores=True)[1])
    assert (found.bootstrap.low >= 1).all()
    assert (found.bootstrap.low <= found.positions).all()
    assert (found.positions <= found.bootstrap.high).all()
    assert (found.bootstrap.high <= 3).all()


def test_kemeny_is_solved_once_so_that_table_and_intervals_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[dict[str, Any]] = []

    def counting(*given: Any, **options: Any) -> Any:
        calls.append(options)
        return kemeny(*given, **options)

    monkeypatch.setattr("rankwise.aggregation.rules.kemeny", counting)
    result = of_iris()
    # Those of a second are without an item each, for the robustness of the winner.
    assert [call["time_limit"] for call in calls if call["time_limit"] != 1.0] == [20.0]
    assert result.consensus.bootstrap is not None
    np.testing.assert_array_equal(result.consensus.bootstrap.positions, result.consensus.positions)


def test_agreement(result: Analysis) -> None:
    rankings = load_label_ranking("iris").y
    to_consensus = [discordant(row, result.consensus.positions) for row in rankings]
    to_each_other = np.mean([discordant(a, b) for a, b in itertools.combinations(rankings.positions, 2)])
    assert result.consensus.mean_distance == pytest.approx(np.mean(to_consensus))
    np.testing.assert_allclose(result.consensus.distances, to_consensus)
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
    assert result.leaderboard is not None
    return dict(zip(result.leaderboard.names, result.leaderboard.means.tolist(), strict=True))


def test_features_help_on_iris(result: Analysis) -> None:
    taus = taus_of(result)
    assert taus.pop("consensus") < 0.5 < 0.75 < min(taus.values()) <= 1
    assert list(taus) == sorted(taus, key=taus.__getitem__, reverse=True)


def test_same_seed_same_numbers(result: Analysis) -> None:
    assert of_iris().as_dict() == result.as_dict()
    assert taus_of(of_iris(1)) != taus_of(result)


def test_results_are_json_without_the_data(result: Analysis) -> None:
    text = json.dumps(result.as_dict(), allow_nan=False)
    assert "rankings" not in json.loads(text)


def test_steps_are_told_in_order() -> None:
    shares: list[float] = []
    of_iris(on_step=lambda step, share: shares.append(share))
    assert shares == sorted(shares)
    assert 0 <= shares[0] < shares[-1] < 1


def test_large_data_are_sampled_and_the_tables_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(analysis_module, "_MOST_ROWS", 60)
    result = of_iris()
    assert result.agreement.n_compared == result.n_learned == 60
    assert "(in a sample of 60)" in shown(result)
    assert "on a sample of 60 rankings" in shown(result)


def look_at(rows: list[list[float]], n_features: int = 2) -> Analysis:
    """The results for made-up rankings; warnings are errors here."""
    X = np.arange(float(len(rows) * n_features)).reshape(len(rows), n_features)
    result = analyze(rows, X, random_state=0)
    json.dumps(result.as_dict(), allow_nan=False)
    return result


def test_incomplete_rankings_are_learned_from() -> None:
    result = look_at([[1, 2, 3], [2, 1, NAN], [1, 1, 2], [1, NAN, float("inf")]] * 10)
    assert (result.summary.n_with_ties, result.summary.n_with_unlisted) == (10, 10)
    assert result.summary.n_with_missing == 20
    assert len(standings(result)) == 5
    assert result.no_leaderboard == ""
    assert "20 (50%)" in shown(result)


@pytest.mark.parametrize("n", [1, 3, 5])
def test_few_rankings_go_without_leaderboard_and_intervals(n: int) -> None:
    result = look_at([[1, 2, 3], [2, 1, 3], [1, 2, 3], [1, 3, 2], [1, 1, 1]][:n])
    assert result.leaderboard is None
    assert shown(result).count("fewer than 10 rankings") == 2
    assert (result.agreement.to_each_other is None) == (n == 1)


def test_without_features_there_is_nothing_to_learn_from() -> None:
    result = look_at([[1, 2, 3], [2, 1, 3]] * 10, n_features=0)
    assert result.leaderboard is None
    assert len(result.consensus.order) == 3
    assert result.no_leaderboard == "there are no features to predict rankings from"
    assert "none: there are no features" in shown(result)


def test_rankings_that_tie_everything() -> None:
    result = look_at([[1, 1, 1]] * 12)
    assert result.leaderboard is None
    assert "tie all" in shown(result)
    # One fold in five or more holds nothing to judge.
    assert len(standings(look_at([[1, 1, 1]] * 11 + [[1, 2, 3]]))) == 5


def test_missing_features_are_filled_in() -> None:
    X = np.array([[0.0, NAN], [1.0, NAN], [NAN, NAN]] * 4)
    assert len(standings(analyze([[1, 2], [2, 1], [1, 2]] * 4, X, random_state=0))) == 5


def by_city(make: Any) -> Analysis:
    """Romans like 0 best, others 2; ages say nothing, and some cities are unknown."""
    cities = ["Rome", "Bonn", "Rome", "Oslo", None] * 12
    rows = [[1, 2, 3] if city == "Rome" else [3, 2, 1] for city in cities]
    ages = [float(20 + 7 * i % 50) for i in range(60)]
    if make is not np.array:
        return analyze(Rankings(rows), make({"age": ages, "city": cities}), random_state=0)
    X = np.column_stack([np.array(ages, dtype=object), np.array(cities, dtype=object)])
    return analyze(Rankings(rows), X, categorical_features=[1], feature_names=["age", "city"], random_state=0)


@pytest.mark.parametrize("make", [np.array, dict, pd.DataFrame, pl.DataFrame])
def test_texts_are_categories_in_features_of_every_make(make: Any) -> None:
    result = by_city(make)
    assert result.summary.features == ("age", "city")
    taus = taus_of(result)
    assert taus.pop("consensus") < 0.5 < 0.9 < min(taus.values()) < 1 + 1e-9
    assert result.tree is not None
    assert "city in {" in result.tree.export_text()
    assert "age" not in result.tree.export_text()


def test_what_the_reader_returns_can_be_analyzed(tmp_path: Path) -> None:
    lines = ["age,city,rank_tea,rank_milk,rank_juice"]
    lines += ["31,Rome,1,2,3", ",Bonn,3,2,1", "42,,3,2,1", "50,Rome,1,2,3"] * 12
    (tmp_path / "survey.csv").write_text("\n".join(lines), encoding="utf-8")
    rankings, columns = read_rankings(tmp_path / "survey.csv", return_covariates=True, prefix="rank_")
    result = analyze(rankings, columns, random_state=0)
    assert result.summary.features == summary(rankings, columns).features == ("age", "city")
    assert result.tree is not None
    assert "city in {" in result.tree.export_text()
    assert taus_of(result)["tree"] == pytest.approx(1.0)


def test_columns_by_name_need_not_hold_texts() -> None:
    rankings = [[1, 2], [2, 1]] * 6
    numbers = {"a": list(range(12)), "b": np.array([None, 1.5] * 6, dtype=object)}
    result = analyze(rankings, numbers, feature_names=["c", "d"], random_state=0)
    assert result.summary.features == ("c", "d")
    assert result.tree is not None
    assert "in {" not in result.tree.export_text()
    codes = analyze(rankings, {"a": [1.0, 2.0] * 6}, categorical_features=["a"], random_state=0)
    assert codes.tree is not None
    assert "a in {" in codes.tree.export_text()
    flags = analyze(rankings, {"a": [True, False] * 6}, random_state=0)
    assert flags.tree is not None
    assert "a in {" in flags.tree.export_text()
    assert "no features" in analyze(rankings, {}, random_state=0).no_leaderboard


def test_the_tree_can_be_read(result: Analysis) -> None:
    assert result.tree is not None
    assert 1 < result.tree.get_n_leaves() <= 8
    assert "petal" in result.tree.export_text()
    assert result.as_dict()["tree"] == result.tree.export_text()
    assert result.tree_lines() == result.tree.export_text().splitlines()
    assert result.tree_note.startswith("conditions")


def test_noise_grows_no_tree() -> None:
    rows = np.argsort(np.random.default_rng(0).random((100, 3)), axis=1) + 1.0
    result = look_at(rows.tolist())
    assert result.tree is not None
    assert result.tree.get_n_leaves() == 1
    assert result.tree_note.startswith("none: no condition")


def test_without_a_leaderboard_there_is_no_tree() -> None:
    result = look_at([[1, 2, 3], [2, 1, 3]])
    assert result.tree is None
    assert result.as_dict()["tree"] == ""
    assert result.tree_lines() == []


def test_lines_of_many_items_are_cut_but_keep_the_size() -> None:
    result = look_at([list(range(1, 101))] * 12)
    assert result.tree is not None
    assert result.tree.export_text().endswith("> 99  (n=12)")
    (line,) = result.tree_lines()
    assert len(line) < 180
    assert line.endswith(" ...  (n=12)")


def test_of_many_items_fewer_rankings_are_learned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(analysis_module, "_FEWEST_LEARNED", 20)
    monkeypatch.setattr(analysis_module, "_MOST_PAIRS", 90)
    result = look_at([[1, 2, 3]] * 30 + [[3, 2, 1]] * 30)
    assert result.n_learned == 30
    assert result.agreement.n_compared == 60
    assert "from a sample of 30 rankings" in result.tree_note


def test_an_item_that_nobody_compares_is_left_out_of_the_consensus() -> None:
    result = look_at([[1, 2, NAN, NAN], [1, 2, NAN, NAN], [NAN, NAN, NAN, 1]])
    assert result.consensus.order == [0, 1]
    assert result.consensus.positions.tolist() == [1, 2]
    assert result.consensus.never_compared == (2, 3)
    assert "no ranking compares 2, 3 with another item" in shown(result)


def test_an_item_that_only_some_folds_compare() -> None:
    assert len(standings(look_at([[1, 2, NAN]] * 11 + [[1, 2, 3]]))) == 5


def test_a_fold_whose_training_rows_compare_nothing() -> None:
    # The one ranking that compares is in the test fold once: nothing is predicted then, and nothing judged.
    result = look_at([[1, NAN]] * 11 + [[1, 2]])
    assert result.leaderboard is None
    assert "tie all" in shown(result)


def test_a_ranker_that_fails_is_an_error() -> None:
    X = np.array([["a", "b"]] * 12, dtype=object)
    with pytest.raises(ValueError, match="name columns of text in categorical_features"):
        analyze([[1, 2], [2, 1]] * 6, X, random_state=0)


def test_rankings_that_compare_nothing_are_an_error() -> None:
    with pytest.raises(ValueError, match="no ranking compares two items"):
        look_at([[1, NAN], [NAN, 1]])


def test_a_weight_counts_as_so_many_rankings() -> None:
    rows, weights = [[1, 2, 3], [3, 1, 2], [2, 1, 3]], [3, 1, 2]
    often = look_at([row for row, weight in zip(rows, weights, strict=True) for _ in range(weight)])
    weighted = analyze(Rankings(rows, weights=weights), np.empty((3, 0)), random_state=0)
    found, expected = weighted.consensus.as_dict(), often.consensus.as_dict()
    assert found.pop("mean_distance") == pytest.approx(expected.pop("mean_distance"))
    assert found == expected
    assert weighted.agreement.to_each_other == pytest.approx(often.agreement.to_each_other)
    assert "3 of total weight 6" in shown(weighted)


def test_the_number_of_threads_changes_nothing(result: Analysis) -> None:
    parallel = of_iris(n_jobs=2)
    assert parallel.as_dict() == result.as_dict()
    assert parallel.leaderboard is not None
    assert result.leaderboard is not None
    np.testing.assert_array_equal(parallel.leaderboard.taus, result.leaderboard.taus)


def test_groups_that_are_never_compared_are_told() -> None:
    result = look_at([[1, 2, NAN, NAN], [NAN, NAN, 2, 1]] * 6)
    assert "no ranking compares these 2 groups" in shown(result)


def test_items_too_rare_for_intervals_are_told() -> None:
    pairs = np.where(np.eye(40) + np.eye(40, k=1) > 0, np.arange(1.0, 41.0), NAN)
    result = look_at(pairs.tolist(), n_features=0)
    assert result.consensus.bootstrap is None
    assert "no intervals of places: 100 draws in a row lack some item" in shown(result)


@pytest.mark.parametrize("kind", ["one", "tied", "top-k", "hundred items", "many rows"])
def test_every_kind_and_size_becomes_a_page_of_moderate_size(kind: str, tmp_path: Path) -> None:
    n, k = {"one": (1, 5), "hundred items": (20, 100), "many rows": (20_000, 4)}.get(kind, (30, 5))
    rows = sample_mallows(np.arange(1, k + 1), theta=0.3, n=n, random_state=0)
    if kind == "tied":
        rows = np.ceil(rows / 2)
    if kind == "top-k":
        rows[rows > 2] = np.inf
    result = look_at(rows.tolist(), n_features=int(kind == "many rows"))
    result.save_html(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert len(page.encode()) < 2_000_000
    assert Page(page).tags.count("section") == {"one": 6, "hundred items": 6, "many rows": 10}.get(kind, 8)
    assert ("sample of 1,000" in page) == (kind == "many rows")


def test_a_jury_without_features_and_without_a_seed() -> None:
    result = rankwise.analyze([[1, 2, 3], [1, 3, 2], [1, 2, 3]] * 5)
    assert result.consensus.order == [0, 1, 2]
    assert result.tree is None
    assert result.leaderboard is None
    assert rankwise.analyze(result.rankings, random_state=result.seed).as_dict() == result.as_dict()


@pytest.mark.parametrize("random_state", [np.random.default_rng(0), np.random.RandomState(0)])
def test_every_random_state_is_welcome(random_state: Any) -> None:
    result = analyze([[1, 2, 3], [1, 3, 2]] * 6, random_state=random_state)
    assert analyze(result.rankings, random_state=result.seed).as_dict() == result.as_dict()


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ([[1, 1, 1, 1]] * 20, "they tie all items that they compare"),
        ([[1, 2, NAN, NAN], [NAN, NAN, 2, 1]] * 6, "no ranking compares the items of 2 groups with each other"),
    ],
)
def test_the_highlights_say_that_nothing_is_decided(rows: list[list[float]], reason: str) -> None:
    lines = analyze(rows, random_state=0).highlights
    assert lines[1] == f"The rankings do not decide which item comes first: {reason}."
    assert any("Kendall's W" in line for line in lines) == (reason[0] == "n")


def test_the_highlights_declare_ties_and_lucky_leaders() -> None:
    circle = analyze([[1, 2, 3], [2, 3, 1], [3, 1, 2]], random_state=0)
    assert (
        circle.highlights[1]
        == "There is a tie between 0, 1 and 2 for the first place: the rankings do not separate them."
    )
    lucky = analyze(Rankings([[1, 2, NAN]] * 9 + [[2, NAN, 1]], ["a", "b", "c"]), random_state=0)
    assert "C leads, but was compared in 1 ranking only (usual: 9)." in lucky.highlights


def test_the_rules_stand_side_by_side(result: Analysis) -> None:
    assert result.comparison.results["kemeny"] is result.consensus
    assert "instant-runoff" in result.comparison.results
    assert "Where the rules differ" in shown(result)


def test_the_highlights_say_why_there_is_no_leaderboard() -> None:
    few = look_at([[1, 2, 3]] * 5)
    reason = "fewer than 10 rankings say too little about a predictor"
    assert few.highlights[-1] == f"Groups were not looked for: {reason}."


def test_a_survey_is_taken_wherever_rankings_are(tmp_path: Path) -> None:
    (tmp_path / "drinks.csv").write_text("rank_tea,rank_milk\n1,2\n1,2\n2,1\n")
    survey = read_survey(tmp_path / "drinks.csv")
    assert consensus(survey).order == ["tea", "milk"]
    assert "Both rules put tea first." in str(consensus(survey, ["borda", "copeland"]))
    np.testing.assert_allclose(summary(survey).mean_rank, [4 / 3, 5 / 3])


def test_what_is_not_rankings_is_refused() -> None:
    with pytest.raises(TypeError, match="read the file first: read_survey"):
        analyze("survey.csv")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="there are no rankings to analyze"):
        analyze(np.zeros((0, 4)))


def test_features_must_fit_the_rankings() -> None:
    with pytest.raises(ValueError, match="X has 2 rows, but there are 3 rankings"):
        analyze([[1, 2]] * 3, [[1.0], [2.0]])
    with pytest.raises(ValueError, match="X has 1 dimension"):
        analyze([[1, 2]] * 3, [1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match=r"columns of X differ in length.*a \(3,\), b \(2,\)"):
        analyze([[1, 2]] * 3, {"a": [1, 2, 3], "b": [1, 2]})
    with pytest.raises(ValueError, match="categorical_features names 'b', but the columns of X are"):
        analyze([[1, 2]] * 3, {"a": [1, 2, 3]}, categorical_features=["b"])
    with pytest.raises(ValueError, match="feature_names has 2 names, but X has 1 columns"):
        analyze([[1, 2]] * 3, [[1.0], [2.0], [3.0]], feature_names=["a", "b"])


def test_it_shows_itself_in_a_terminal_and_in_a_notebook(result: Analysis) -> None:
    text = repr(result)
    for words in ("Data", "Consensus: Kemeny", "How good", "Leaderboard", "Tree", "petal"):
        assert words in text
    page = Page(result._repr_html_())
    assert page.tags.count("table") == 9
    for words in (*result.highlights, "plackett-luce", "petal", "opponents beaten"):
        assert words in page.text
    bare = look_at([[1, 2, 3], [2, 1, 3]] * 6, n_features=0)
    assert "Tree" not in repr(bare) + bare._repr_html_()


def test_its_frame_is_the_consensus(result: Analysis) -> None:
    frame = result.to_frame()
    assert list(frame.columns) == ["item", "place", "score", "low", "high"]
    assert frame["item"].tolist() == result.consensus.order
    assert isinstance(result.to_frame(backend="polars"), pl.DataFrame)


def test_names_in_a_notebook_are_text() -> None:
    names = [HOSTILE, "b"]
    result = analyze(Rankings([[1, 2], [2, 1]] * 6, names), [[float(i)] for i in range(12)], feature_names=[HOSTILE])
    page = Page(result._repr_html_())
    assert "script" not in page.tags
    assert "alert(" in page.text


def test_a_report_neither_opens_a_window_nor_leaves_figures_behind(result: Analysis, tmp_path: Path) -> None:
    backend, before = plt.get_backend(), plt.get_fignums()
    result.save_html(str(tmp_path / "page.html"))
    assert plt.get_backend() == backend
    assert plt.get_fignums() == before
    assert "Made by rankwise.analyze() with" in Page((tmp_path / "page.html").read_text(encoding="utf-8")).text


def test_a_tree_without_a_split_does_not_contradict_the_test_of_groups(result: Analysis) -> None:
    alone = replace(result, group_comparison=None).no_split
    assert alone == "A tree of the recorded features finds no split that predicts rankings better than none."
    rows = [[1, 2, 3]] * 20 + [[3, 2, 1]] * 20
    found = compare_groups(rows, ["a"] * 20 + ["b"] * 20, n_permutations=99, random_state=0)
    assert found.differ
    assert "The groups may yet differ" in replace(result, group_comparison=found).no_split
