"""The report: complete in itself, escaped, the same for the same results."""

from __future__ import annotations

import base64
import dataclasses
import re
from datetime import date
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

import rankwise
from rankwise import Rankings
from rankwise._tables import TextTable
from rankwise.aggregation import bootstrap_consensus
from rankwise.analysis import Agreement, Analysis, analyze, group_results, raters
from rankwise.analysis.report import render_report
from rankwise.data import Survey, read_survey
from rankwise.label_ranking import RankingTree
from rankwise.model_selection import Leaderboard
from rankwise.plots.svg import inline_svg
from tests.pages import HOSTILE, Page

COMMAND = "rankwise report 'caf\udce9 1.csv' --seed 7"
NAN = float("nan")


def board(*means: float, names: tuple[str, ...] = ("forest", "consensus"), error: float = 0.0625) -> Leaderboard:
    means_, errors = np.array(means), np.full(len(means), error)
    return Leaderboard(names, np.full((len(means), 2), NAN), means_, errors, np.ones(len(means)), np.ones(2), 5)


class Groups:
    """What the report asks of a survey."""

    reading = SimpleNamespace(columns=(), reason="", lines=lambda: ["Read as positions.", "1 is the best place."])
    n_empty = 2
    by_name = "How old are you?"
    more_notes = ("a note of the reader",)
    check = SimpleNamespace(tables=lambda: [TextTable("Data check", "", ["what", "rows"], [["ranked nothing", "2"]])])

    def __init__(self, rows: dict[str, list[int]], names: list[str] | None = None) -> None:
        self.rows, self.names = rows, names

    def groups(self) -> dict[str, Any]:
        return {label: np.array(rows) for label, rows in self.rows.items()}

    def table(self) -> TextTable:
        return TextTable("Survey", "", ["", ""], [["read as", "positions"], ["", "1 is the best place."]])


@pytest.fixture
def result() -> Analysis:
    """Two rankings, which are too few for intervals and models: these are added by hand."""
    rankings = Rankings([[1, 2, NAN], [2, 1, 3]], items=[HOSTILE, "b", "c"])
    found = analyze(rankings, [[1.0], [2.0]], feature_names=[HOSTILE], name=HOSTILE, notes=[HOSTILE], random_state=7)
    consensus = dataclasses.replace(
        found.consensus,
        positions=np.array([2.0, 1.0, 3.0]),
        winners=("b",),
        optimal=None,
        never_compared=(HOSTILE,),
        mean_distance=0.25,
        bootstrap=bootstrap_consensus(
            rankings, consensus=[2, 1, 3], interval="percentile", n_resamples=40, random_state=0
        ),
        notes=("a note",),
    )
    tree = RankingTree().fit(pd.DataFrame({HOSTILE: [1.0, 2.0]}), rankings)
    return dataclasses.replace(
        found,
        consensus=consensus,
        agreement=Agreement(None, 2, 2),
        leaderboard=board(0.125, -0.5),
        no_leaderboard="",
        tree=tree,
        robustness=None,
        versions={"rankwise": "1"},
        made_on=date(2026, 3, 5),
    )


def page_of(result: Analysis, folder: Path, **options: Any) -> str:
    result.save_html(folder / "report.html", command=COMMAND, **options)
    return (folder / "report.html").read_text(encoding="utf-8")


@pytest.fixture
def page(result: Analysis, tmp_path: Path) -> str:
    return page_of(result, tmp_path)


def headings(page: str) -> list[str]:
    return re.findall(r'<h2 id="[^"]*">(.*)</h2>', page)[1:]  # without that of the contents


def test_the_page_answers_its_questions_in_order(page: str) -> None:
    assert headings(page) == [
        "Key findings",
        "The data",
        "Results",
        "Would another rule change the ranking?",
        "How much people agree",
        "Who disagrees",
        "Which model predicts best",
        "Method and sources",
    ]
    ids = re.findall(r'<h2 id="([^"]*)">', page)[1:]
    assert re.findall(r'<li><a href="#([^"]*)">', page) == ids
    assert page.index("mean rank") < page.index("closest majority")


def test_the_head_says_what_when_and_how_many(result: Analysis, page: str, tmp_path: Path) -> None:
    text = Page(page).text
    assert "Ranking of 3 items" in text
    assert "2 rankings · March 5, 2026" in text
    assert "<h1>Which drink? &amp; why</h1>" in page_of(result, tmp_path, title="Which drink? & why")


def test_the_page_holds_the_numbers_and_the_pictures(page: str) -> None:
    parsed = Page(page)
    for words in ("0.250", "nothing to compare", "0.125", "0.062", "50%", "1-2", "A note.", "--seed 7", "rankwise 1"):
        assert words in parsed.text
    assert parsed.tags.count("svg") == 7  # five pictures, two of them also narrow
    assert parsed.tags.count("figcaption") == 5
    assert "A proof shows that no order is better, but others are as good." in parsed.text
    assert "<=\N{NO-BREAK SPACE}1.5" in parsed.text
    assert "before this item" in parsed.text
    assert "position (1 = best)" in parsed.text
    assert "Kemeny (1959)" in parsed.text
    assert "Geurts" in parsed.text


def test_the_highlights_say_what_is_certain(result: Analysis) -> None:
    lines = result.highlights
    assert lines[:2] == [
        "2 rankings of 3 items.",
        "b comes first, but not beyond doubt: place 2 is possible if the survey is repeated.",
    ]
    assert "mean rank" in lines[2]
    assert "Kendall's W" in lines[3]
    assert lines[4].startswith("The rankings differ between groups, above all by “<script>")
    assert result.consensus.bootstrap is not None
    spread = dataclasses.replace(result.consensus.bootstrap, high=result.consensus.positions)
    sure = dataclasses.replace(result, consensus=dataclasses.replace(result.consensus, bootstrap=spread))
    assert sure.highlights[1] == "b comes first, and would do so again in nearly every repetition of the survey."
    tie = dataclasses.replace(result.consensus, positions=np.array([1.0, 1.0, 2.0]), winners=(HOSTILE, "b"))
    assert (
        dataclasses.replace(result, consensus=tie)
        .highlights[1]
        .endswith("and b for the first place: the rankings do not separate them.")
    )


def test_the_best_model_is_named_with_its_doubt(result: Analysis) -> None:
    assert result.best_model.startswith("The best model is forest: ")
    assert "0.12 (1 is perfect, 0 is guessing), against -0.50 for one ranking for all." in result.best_model
    assert "may be chance" in dataclasses.replace(result, leaderboard=board(0.1, 0.0)).best_model
    useless = dataclasses.replace(result, leaderboard=board(0.1, 0.0, names=("consensus", "forest")))
    assert "No model" in useless.best_model


def test_places_are_written_as_people_write_them(result: Analysis, tmp_path: Path) -> None:
    tie = dataclasses.replace(result.consensus, positions=np.array([1.0, 1.0, 2.0]), bootstrap=None)
    page = page_of(dataclasses.replace(result, consensus=tie), tmp_path)
    assert re.findall(r"<b>(\d)</b>", page) == ["1", "1", "3"]
    assert "a tie" in Page(page).text


def test_numbers_are_not_broken_into_lines(page: str) -> None:
    assert re.search(r'<td class="number">50%</td>', page)
    assert '<th scope="row">forest</th>' in page
    assert ".number { white-space: nowrap;" in page
    assert "anywhere" not in page.partition("th, td {")[2].partition("}")[0]


def test_tables_and_pictures_can_be_read_aloud_and_by_keyboard(page: str) -> None:
    assert "<th>" not in page
    assert len(
        re.findall(r'<div class="table[^"]*" role="region" aria-label="[^"]+" tabindex="0">', page)
    ) == page.count("<table>")
    assert page.count("<svg ") == page.count('<svg role="img" aria-labelledby=')
    assert "<title id=" in page
    assert '<a class="skip" href="#content">' in page
    assert '<main id="content">' in page
    assert '<nav aria-labelledby="contents">' in page


def test_the_page_is_made_to_be_printed_for_the_dark_and_for_phones(page: str) -> None:
    for rule in ("@media print", "prefers-color-scheme: dark", "prefers-reduced-motion", "max-width: 34rem"):
        assert rule in page
    assert "figure, tr, .tiles div { break-inside: avoid }" in page


def test_pictures_can_be_downloaded(page: str) -> None:
    files = dict(re.findall(r'<a download="([^"]*)" href="([^"]*)"', page))
    names = {"mean-rank", "places", "all-places", "pairs", "tree"}
    assert set(files) == {f"{name}.{form}" for name in names for form in ("svg", "png")}
    picture = base64.b64decode(files["pairs.svg"].partition(",")[2]).decode()
    assert "var(--" not in picture
    assert "Which item is ranked above which" in picture  # a file has a title of its own
    assert base64.b64decode(files["pairs.png"].partition(",")[2]).startswith(b"\x89PNG")


def test_sections_that_do_not_apply_are_left_out(result: Analysis, tmp_path: Path) -> None:
    bare = dataclasses.replace(result, leaderboard=None, no_leaderboard="no features", tree=None)
    page = page_of(bare, tmp_path)
    assert "Who disagrees" not in headings(page)
    assert "Which model predicts best" not in headings(page)
    assert Page(page).tags.count("svg") == 6
    assert "Geurts" not in page
    assert "Groups were not looked for: no features." in Page(page).text
    ties = analyze([[1, 1, 1]] * 20, random_state=0)
    assert headings(page_of(ties, tmp_path)) == [
        "Key findings",
        "The data",
        "Results",
        "Method and sources",
    ]


def test_without_intervals_there_is_no_picture_of_them(result: Analysis, tmp_path: Path) -> None:
    found = dataclasses.replace(result.consensus, bootstrap=None)
    page = Page(page_of(dataclasses.replace(result, consensus=found), tmp_path))
    assert page.tags.count("svg") == 5
    assert "b comes first." in page.text


def test_few_judges_are_told_that_there_are_no_intervals() -> None:
    found = analyze(Rankings([[1, 2, 3], [1, 2, 3], [2, 1, 3]], items=["a", "b", "c"]), random_state=0)
    assert found.highlights[1] == (
        "a comes first. No intervals say how certain that is: fewer than 10 rankings say too little."
    )


def test_rankings_without_an_order_are_told_so() -> None:
    rng = np.random.default_rng(3)
    found = analyze(Rankings(np.argsort(rng.random((12, 4)), axis=1) + 1.0, items=list("abcd")), random_state=0)
    assert found.consensus.bootstrap is not None
    assert set(found.consensus.bootstrap.intervals) == {"1-4"}
    assert found.highlights[1] == (
        "No order can be told from these rankings: a and d come first, but each item could take any place if the "
        "survey is repeated."
    )


def test_advice_is_in_the_words_of_who_made_the_report(tmp_path: Path) -> None:
    (tmp_path / "drinks.csv").write_text("rank_tea,rank_milk,rank_gin\n1,2,\n2,1,\n1,,2\n,1,2\n", encoding="utf-8")
    found = analyze(read_survey(tmp_path / "drinks.csv"), random_state=0)
    assert "give --read unlisted=below." in Page(page_of(found, tmp_path)).text
    found.save_html(tmp_path / "python.html")
    page = Page((tmp_path / "python.html").read_text(encoding="utf-8"))
    assert "give unlisted='below'." in page.text
    assert "--read" not in page.text


def test_a_page_of_very_many_items_shows_the_best_and_keeps_the_rest(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    rows = np.argsort(np.argsort(np.arange(700) + rng.normal(0, 50, (12, 700)), axis=1), axis=1) + 1.0
    found = analyze(rows, random_state=0)
    assert "more than 600 items" in found.highlights[1]
    page = page_of(found, tmp_path)
    text = Page(page).text
    assert "Shown are the best 40 of 700 items." in text
    assert "The other 650 rows" in text
    assert "How often each item was put in each place" not in text
    best = int(np.argmin(found.summary.mean_rank))
    assert f'<th scope="row">{best}</th><td class="number">' in page  # names that are numbers name their rows too
    assert len(page) < 1_500_000


def test_the_title_is_what_was_asked(tmp_path: Path) -> None:
    question = "Please rank these drinks"
    cases = {
        question: [f"{question} [{item}]" for item in ("tea", "milk", "tonic")],
        f"{question} now": [f"{question} now - {item}" for item in ("tea", "tonic")],
        "Ranking of 3 items": ["tea", "milk", "tonic"],
    }
    for title, columns in cases.items():
        head = ",".join(f'"{column}"' for column in columns)
        places = [list(range(1, len(columns) + 1)), list(range(len(columns), 0, -1))] * 6
        lines = [head, *(",".join(map(str, row)) for row in places)]
        (tmp_path / "drinks.csv").write_text("\n".join(lines), encoding="utf-8")
        survey = read_survey(tmp_path / "drinks.csv", target=columns)
        assert f"<h1>{title}</h1>" in page_of(analyze(survey, random_state=0), tmp_path)


def test_another_leader_by_mean_rank_is_told() -> None:
    rows = [[1, 2, 3]] * 8 + [[3, 1, 2]] * 7  # a wins every comparison, b has the better mean rank
    lines = analyze(Rankings(rows, items=["a", "b", "c"]), random_state=0).highlights
    assert lines[1].startswith("a comes first")
    assert lines[2].startswith("b has the best mean rank")
    assert lines[2].endswith("The joint ranking has another leader: it counts who wins when two items are compared.")


def test_groups_of_a_survey_are_side_by_side(tmp_path: Path) -> None:
    rows = [[1, 2, 3], [1, 3, 2], [1, 2, 3], [3, 2, 1], [3, 1, 2], [3, 2, 1], [2, 1, 3]]
    found = analyze(Rankings(rows, items=["tea", "milk", "juice"]), random_state=0)
    survey = Groups({"young": [0, 1, 2], "old": [3, 4, 5], "else": [6]})
    groups = group_results(found.rankings, survey.groups(), by=survey.by_name)
    page = page_of(dataclasses.replace(found, survey=survey, groups=groups), tmp_path)
    assert "By group: How old are you?" in headings(page)
    text = Page(page).text
    large = group_results(found.rankings, {"young": [0, 1, 2], "old": [3, 4, 5]}, by=survey.by_name)
    for sentence in large.sentences:
        assert sentence in text
    assert "left out, because they are small: else" in text
    assert '<th scope="row">tea</th><td class="number">2.00</td><td class="number">1.00</td>' in page
    assert "young (n=3)" in text
    assert "else (n=1)" not in text
    assert "1 is the best place." in text
    assert "ranked nothing" in text
    assert "A note of the reader." in text
    alone = group_results(found.rankings, {"a": [0, 1], "b": [2]})
    assert "By group: group" not in headings(page_of(dataclasses.replace(found, groups=alone), tmp_path))


def test_judges_are_looked_at_one_by_one(tmp_path: Path) -> None:
    rows = [[1, 2, 3], [1, 2, 3], [1, 2, 3], [3, 2, 1]]
    found = analyze(Rankings(rows, items=["Rioja", "Barolo", "Merlot"]), random_state=0)
    assert found.raters is None
    people = raters(found.rankings, ["Anna", "Bob", "Cid", "Dee"], consensus=found.consensus)
    page = page_of(dataclasses.replace(found, raters=people), tmp_path)
    assert "Who disagrees" in headings(page)
    text = Page(page).text
    assert "Anna, Bob and Cid agree most with the joint ranking (100% of the pairs), Dee least (0%)." in text
    assert "Leaving out any one vote does not change the winner." in text
    row = people.tables()[0].rows[0]
    assert (row[:3], row[-2:]) == (["Dee", "0%", "3"], ["Merlot", "Rioja"])
    assert '<th scope="row">Dee</th>' in page
    assert len(people.sentences) > 2
    for sentence in people.sentences[:-1]:  # whether the winner stands is one of the key findings, too
        assert text.count(sentence) == 1


def test_parts_that_the_data_do_not_allow_say_why(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    rows = np.argsort(rng.random((40, 3)), axis=1) + 1.0
    found = analyze(rows, {"number": np.arange(40.0)}, by=["a"] * 39 + ["b"], random_state=0)
    assert found.drivers is found.group_comparison is None
    assert found.missing["drivers"].startswith("no feature is left: all are the same for everybody, or number people")
    assert "only 'a' has; merge groups, or ask more people" in found.missing["group_comparison"]
    text = " ".join(Page(page_of(found, tmp_path)).text.split())
    for reason in found.missing.values():
        assert f"This was not done: {reason}." in text
        assert reason in str(found)
    assert found.as_dict()["missing"] == found.missing


def test_without_a_file_nothing_is_said_of_reading_one(tmp_path: Path) -> None:
    rankings = Rankings([[1, 2, 3], [1, 3, 2]] * 3, items=["a", "b", "c"])
    found = analyze(Survey(rankings, {}, name="built in"), random_state=0)
    page = page_of(found, tmp_path)
    assert "How the file was understood" not in Page(page).text
    assert "How the data were understood" not in headings(page)
    assert "The data" in headings(page)


def test_pictures_are_written_to_a_folder(result: Analysis, tmp_path: Path) -> None:
    files = result.save_pictures(tmp_path / "new" / "folder", form="svg")
    assert sorted(file.name for file in files) == [
        "all-places.svg",
        "mean-rank.svg",
        "pairs.svg",
        "places.svg",
        "tree.svg",
    ]
    assert all(file.read_text(encoding="utf-8").startswith("<?xml") for file in files)
    with pytest.raises(ValueError, match="form is 'jpg'; choose one of 'png', 'svg', 'pdf'"):
        result.save_pictures(tmp_path, form="jpg")


def test_all_tables_go_into_one_workbook(result: Analysis, tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    result.to_excel(tmp_path / "all.xlsx")
    book = openpyxl.load_workbook(tmp_path / "all.xlsx")
    assert {
        "Key findings",
        "Mean ranks",
        "The joint ranking",
        "All places",
        "Pairs",
        "Agreement",
        "Models",
        "Tree",
        "Data",
    } <= {*book.sheetnames}
    ranks = [[cell.value for cell in row] for row in book["Mean ranks"].rows]
    assert ranks[0][:2] == ["item", "mean rank"]
    assert isinstance(ranks[1][1], float)
    pairs = [[cell.value for cell in row] for row in book["Pairs"].rows]
    assert pairs[1][:4] == [HOSTILE, "b", 2, 0.5]
    with pytest.raises(ValueError, match=r"end it in \.xlsx"):
        result.to_excel(tmp_path / "all.csv")


def test_a_file_whose_name_is_not_text_can_be_reported(page: str) -> None:
    assert "rankwise report 'caf? 1.csv'" in Page(page).text


def test_the_page_loads_nothing(page: str) -> None:
    assert all(reference.startswith(("#", "data:")) for reference in Page(page).references)
    assert not re.search(r"https?://", page)
    assert "default-src 'none'" in page
    assert len(page.encode()) < 1_500_000


def test_the_check_for_loads_can_fail() -> None:
    assert Page('<img src="//elsewhere/x.png"><p style="background: url(y.png)"></p>').references == [
        "y.png",
        "//elsewhere/x.png",
    ]


def test_names_are_escaped(page: str) -> None:
    assert "script" not in Page(page).tags
    assert "alert('$x$ & \"y\"')" in Page(page).text


def test_pictures_do_not_share_ids_that_are_referred_to(page: str) -> None:
    referred = {reference[1:] for reference in Page(page).references if reference.startswith("#")}
    ids = re.findall(r'\bid="([^"]*)"', page)
    assert referred
    assert all(ids.count(name) == 1 for name in referred)


def test_same_result_same_bytes(result: Analysis, page: str, tmp_path: Path) -> None:
    assert page_of(result, tmp_path) == page
    other = dataclasses.replace(result, summary=dataclasses.replace(result.summary, name="other"))
    assert page_of(other, tmp_path) != page


def test_letters_that_no_font_has_are_left_to_the_browser(tmp_path: Path) -> None:
    rankings = Rankings([[1, 2], [2, 1], [2, 1]] * 4, ["\N{TEACUP WITHOUT HANDLE}", "very" * 75])
    tea = analyze(rankings, random_state=0)
    assert "\N{TEACUP WITHOUT HANDLE}" in page_of(tea, tmp_path)  # without a warning, which tests count as an error
    assert re.search(r"(very){14}v\.\.\. comes first", "\n".join(tea.highlights))


@pytest.fixture(scope="module")
def two_camps() -> Analysis:
    """Two camps of people, whose ages tell them apart, in two cities that do not matter; judges have no names."""
    rng = np.random.default_rng(0)
    age = rng.integers(18, 80, 60).astype(float)
    way = np.where(age < 50, 1.0, -1.0)[:, np.newaxis]
    rows = np.argsort(np.argsort(way * np.arange(4) + rng.normal(0, 0.8, (60, 4)), axis=1), axis=1) + 1.0
    columns = {"age": age, "shoe size": rng.normal(40, 3, 60), "city": np.array(["Rome", "Bonn"] * 30, dtype=object)}
    rankings = Rankings(rows, items=["tea", "milk", "juice", "gin"])
    return analyze(rankings, columns, by="city", random_state=0)


def test_groups_that_differ_though_no_feature_drives_are_explained(two_camps: Analysis, tmp_path: Path) -> None:
    drivers, compared = two_camps.drivers, two_camps.group_comparison
    assert drivers is not None
    assert compared is not None
    weak = dataclasses.replace(drivers, p_values=np.ones_like(drivers.p_values))
    words = "The test by group looks at city alone, and can find a difference that is too small for this one."
    for p_value, is_said in ((0.001, True), (0.5, False)):
        own = dataclasses.replace(
            two_camps, drivers=weak, group_comparison=dataclasses.replace(compared, p_value=p_value)
        )
        assert (words in " ".join(Page(page_of(own, tmp_path)).text.split())) is is_said


def test_people_have_sections_where_they_apply(two_camps: Analysis, tmp_path: Path) -> None:
    found = two_camps
    assert found.group_comparison is not None
    assert found.group_comparison.by == "city"
    assert not found.group_comparison.differ
    assert found.segments is not None
    assert found.segments.n == 2
    assert found.drivers is not None
    assert [found.drivers.features[f] for f in found.drivers.significant] == ["age"]
    assert found.robustness is not None
    assert found.raters is None
    page = page_of(found, tmp_path)
    for title in (
        "How robust is the winner?",
        "By group: city",
        "Segments: who ranks alike",
        "What drives the rankings",
    ):
        assert title in headings(page)
    text = " ".join(Page(page).text.split())
    for part in (found.group_comparison, found.segments, found.drivers, found.robustness):
        assert part.sentences[0] in text
    assert "rater 1" not in text  # votes without a name are not listed
    for name in ("by-group", "group-differences", "segments", "drivers", "driver-effect"):
        assert f'download="{name}.svg"' in page
    for name in ("group_comparison", "segments", "drivers", "robustness"):
        assert name in found.as_dict()
    assert any("age" in line and "Rankings depend on" in line for line in found.highlights)


def test_people_have_sheets(two_camps: Analysis, tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    two_camps.to_excel(tmp_path / "all.xlsx")
    sheets = openpyxl.load_workbook(tmp_path / "all.xlsx").sheetnames
    for title in ("Comparison by city", "Segments", "What drives the rankings", "Votes that decide the winner"):
        assert title in sheets


def test_people_are_left_out_where_they_do_not_apply(tmp_path: Path) -> None:
    found = analyze(Rankings([[1, 2, 3], [1, 3, 2]] * 10, items=["a", "b", "c"]), random_state=0)
    assert found.group_comparison is None
    assert found.groups is None
    assert found.segments is None  # fewer than 30 rankings
    assert found.drivers is None
    titles = headings(page_of(found, tmp_path))
    assert not [title for title in titles if title.startswith(("By group", "Segments", "Are there", "What drives"))]


@pytest.mark.parametrize(
    ("by", "words"),
    [("town", "by is 'town', but X has no such column; give one of ['age']"), (["x"], "give one label for each")],
)
def test_groups_that_are_not_there_are_told(by: Any, words: str) -> None:
    with pytest.raises(ValueError, match=re.escape(words)):
        analyze([[1, 2], [2, 1]], {"age": [1.0, 2.0]}, by=by)


def test_a_first_place_that_may_be_chance_says_so():
    orders = [[1, 2, 3], [2, 3, 1], [3, 1, 2], [1, 3, 2], [2, 1, 3], [3, 2, 1]]
    level = analyze(Rankings(orders * 4 + [[1, 2, 3]]), random_state=0)
    assert level.may_be_chance
    assert "; may be chance</span>" in render_report(level, COMMAND)
    clear = analyze(Rankings(orders[:1] * 12 + orders[3:4] * 3), random_state=0)
    assert not clear.may_be_chance
    assert "may be chance</span>" not in render_report(clear, COMMAND)


def test_blanks_are_told_once_and_without_options(tmp_path):
    path = tmp_path / "drinks.csv"
    path.write_text("rank_tea,rank_milk,rank_juice\n" + "1,2,3\n2,1,\n1,,2\n" * 4)
    found = analyze(read_survey(path), random_state=0)
    page = render_report(found, "rankwise report drinks.csv")
    data = page[page.index('<h2 id="data">') : page.index('<h2 id="results">')]
    before, _, folded = data.partition("<details>")
    assert "not compared" in before
    assert "unlisted" not in before
    assert "--read unlisted=below" in folded


def test_shapes_without_a_color_are_seen_in_the_dark():
    figure = Figure()
    figure.subplots().scatter([0], [0], color="black")
    assert "fill: #000" not in inline_svg(figure, "black")  # so the page must say which color that is
    css = (Path(rankwise.__file__).parent / "templates" / "page.css").read_text(encoding="utf-8")
    assert ".picture svg { fill: var(--ink) }" in css


def test_long_names_of_items_keep_some_width(tmp_path):
    names = ["Battery life", "How easy it is to repair at home", "Price"]
    page = render_report(analyze(Rankings([[1, 2, 3], [2, 1, 3]] * 3, items=names), random_state=0), COMMAND)
    assert '<th scope="row">Battery life</th>' in page
    assert '<th scope="row" class="long">How easy it is to repair at home</th>' in page
    assert "tbody .long { white-space: normal; min-width: 9rem }" in page


def test_pictures_that_are_no_rows_are_drawn_for_phones_too():
    rng = np.random.default_rng(0)
    age = rng.uniform(20, 80, 120)
    scores = np.sign(age - 50)[:, None] * np.array([2.0, 0.0, -2.0]) + rng.gumbel(size=(120, 3))
    page = render_report(analyze(Rankings.from_scores(scores), {"age": age}, random_state=0), COMMAND)
    narrow = re.findall(r'aria-labelledby="([\w-]+)-narrow-title', page)
    assert {"mean-rank", "places", "drivers", "driver-effect"} <= set(narrow)
