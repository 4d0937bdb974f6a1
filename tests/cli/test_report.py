"""The report: complete in itself, escaped, the same for the same results."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import pytest

from rankwise import Rankings
from rankwise.cli.analysis import Agreement, Analysis
from rankwise.cli.consensus import Found, Place
from rankwise.cli.description import Description, describe_pairs
from rankwise.cli.leaderboard import Standing
from rankwise.cli.report import summary, write_report
from rankwise.label_ranking import RankingTree
from tests.cli.running import problem, run, run_json, write_survey
from tests.pages import HOSTILE, Page

COMMAND = "rankwise report 'caf\udce9 1.csv' --seed 7"


@pytest.fixture
def result() -> Analysis:
    rankings = Rankings([[1, 2, float("nan")], [2, 1, 3]], items=[HOSTILE, "b", "c"])
    places = [Place("b", 1, 0.5, 1, 2), Place(HOSTILE, 2, 0.5, 1, 2), Place("c", 3, 0.0, 3, 3)]
    found = Found(
        method="kemeny",
        ranking=places,
        never_compared=[HOSTILE],
        score="opponents beaten",
        cost=1.0,
        comparisons=4.0,
        mean_distance=0.25,
        optimal=True,
        lower_bound=1.0,
        gap=0.0,
        unique=False,
        parameters={},
        n_resamples=40,
        level=0.95,
        notes=["a note"],
    )
    return Analysis(
        data=HOSTILE,
        seed=7,
        description=Description(2, 2.0, 3, "incomplete", 2, 0, 0, 1, 1, [HOSTILE], [HOSTILE]),
        pairs=describe_pairs(rankings),
        consensus=found,
        agreement=Agreement(None, 2),
        n_folds=5,
        n_learned=2,
        leaderboard=[Standing("forest", 0.125, 0.0625, 1.0), Standing("consensus", -0.5, 0.03125, 1.0)],
        leaderboard_left_out="",
        tree="a tree",
        versions={"rankwise": "1"},
        rankings=rankings,
        fitted_tree=RankingTree().fit([[1.0], [2.0]], rankings),
    )


@pytest.fixture
def page(result: Analysis, tmp_path: Path) -> str:
    write_report(result, tmp_path / "report.html", command=COMMAND)
    return (tmp_path / "report.html").read_text(encoding="utf-8")


def test_the_page_answers_its_questions_in_order(page: str) -> None:
    titles = re.findall("<h2>(.*)</h2>", page)
    assert titles == [
        "In short",
        "What the data are",
        "The consensus, and how sure it is",
        "Who disagrees",
        "Which model predicts best",
        "How to cite",
    ]


def test_the_page_holds_the_numbers_and_the_pictures(page: str) -> None:
    parsed = Page(page)
    for words in ("0.250", "nothing to compare", "0.125", "0.062", "50.0%", "1-2", "a note", "--seed 7", "rankwise 1"):
        assert words in parsed.text
    assert parsed.tags.count("svg") == parsed.tags.count("figcaption") == 4
    assert "optimal: no ranking costs less, but others do as well" in parsed.text
    assert "x0 <=\N{NO-BREAK SPACE}1.5" in parsed.text
    assert "before column" in parsed.text
    assert "position (1 = best)" in parsed.text
    assert "Kemeny (1959)" in parsed.text
    assert "Geurts" in parsed.text
    assert parsed.text.count("missing") >= 2  # the description and the column of the picture


def test_the_summary_says_what_is_sure(result: Analysis) -> None:
    assert summary(result) == [
        "2 rankings of 3 items (incomplete).",
        "The consensus puts b first, though place 2 is possible, too.",
        "75% of all comparisons agree with the consensus; half is chance.",
        "The best predictor is forest, with a mean Kendall tau of 0.12 against -0.50 of one consensus for all.",
    ]
    places = [dataclasses.replace(place, low=place.position, high=place.position) for place in result.consensus.ranking]
    sure = dataclasses.replace(result, consensus=dataclasses.replace(result.consensus, ranking=places))
    assert summary(sure)[1] == "The consensus puts b first, and that is sure."
    close = [Standing("forest", 0.1, 0.06, 1.0), Standing("consensus", 0.0, 0.06, 1.0)]
    assert "which may be chance" in summary(dataclasses.replace(result, leaderboard=close))[3]
    assert "No model" in summary(dataclasses.replace(result, leaderboard=close[::-1]))[3]


def test_numbers_are_not_broken_into_lines(page: str) -> None:
    assert '<td class="number">50.0%</td>' in page
    assert "<td>forest</td>" in page
    assert ".number { white-space: nowrap }" in page
    assert "anywhere" not in page.partition("th, td {")[2]


def test_the_page_is_made_to_be_printed(page: str) -> None:
    assert "@media print" in page
    assert "figure, tr { break-inside: avoid }" in page


def test_without_features_there_are_neither_leaderboard_nor_tree(result: Analysis, tmp_path: Path) -> None:
    bare = dataclasses.replace(
        result, leaderboard=[], leaderboard_left_out="none: no features", tree="", fitted_tree=None
    )
    write_report(bare, tmp_path / "report.html", command=COMMAND)
    page = Page((tmp_path / "report.html").read_text(encoding="utf-8"))
    assert page.tags.count("table") == 4
    assert page.tags.count("svg") == 3
    assert "No tree: no features." in page.text
    assert "Geurts" not in page.text
    assert "none: no features" in page.text


def test_without_intervals_there_is_no_picture_of_them(result: Analysis, tmp_path: Path) -> None:
    places = [dataclasses.replace(place, low=None, high=None) for place in result.consensus.ranking]
    found = dataclasses.replace(result.consensus, ranking=places, n_resamples=0, level=None)
    write_report(dataclasses.replace(result, consensus=found), tmp_path / "report.html", command=COMMAND)
    page = Page((tmp_path / "report.html").read_text(encoding="utf-8"))
    assert page.tags.count("svg") == 3
    assert "The consensus puts b first." in page.text


def test_a_file_whose_name_is_no_text_can_be_reported(page: str) -> None:
    assert "rankwise report 'caf? 1.csv'" in Page(page).text


def test_the_page_loads_nothing(page: str) -> None:
    assert all(reference.startswith(("#", "data:")) for reference in Page(page).references)
    assert not re.search(r"https?://", page)
    assert "default-src 'none'" in page
    assert len(page.encode()) < 500_000


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
    write_report(result, tmp_path / "again.html", command=COMMAND)
    assert (tmp_path / "again.html").read_text(encoding="utf-8") == page
    write_report(dataclasses.replace(result, data="other"), tmp_path / "other.html", command=COMMAND)
    assert (tmp_path / "other.html").read_text(encoding="utf-8") != page


def test_a_survey_becomes_a_report_in_one_command(tmp_path: Path) -> None:
    survey, out = write_survey(tmp_path / "survey.csv"), tmp_path / "page.html"
    done = run("report", survey, "-o", out, "--target", "rank_", "--read", "unlisted=below")
    assert done.exit_code == 0, done.stderr
    assert done.stderr == ""
    words, where = done.stdout.splitlines()[:-1], done.stdout.splitlines()[-1]
    assert where == f"Report: {out}"
    assert words[0] == "60 rankings of 3 items (top-k)."
    page = Page(out.read_text(encoding="utf-8"))
    assert all(line in page.text for line in words)
    assert "city in" in page.text
    assert "--target rank_ --read unlisted=below --seed 0" in page.text


def test_numbers_of_a_report_from_standard_input(tmp_path: Path) -> None:
    text = write_survey(tmp_path / "survey.csv").read_text(encoding="utf-8")
    found = run_json("report", "-", "--out", tmp_path / "page.html", "--seed", "3", stdin=text)
    assert (found["data"], found["seed"]) == ("standard input", 3)
    assert found["consensus"]["ranking"][0]["item"] == "juice"
    assert {standing["model"] for standing in found["leaderboard"]} > {"consensus", "tree", "forest"}
    assert "rankwise report - --seed 3" in Page((tmp_path / "page.html").read_text(encoding="utf-8")).text


def test_a_report_does_not_replace_the_data(tmp_path: Path) -> None:
    survey = write_survey(tmp_path / "survey.csv")
    assert "would replace the data" in problem("report", survey, "-o", survey)
    assert "there is no file" in problem("report", tmp_path / "nosuch.csv", "-o", tmp_path / "page.html")


def test_letters_that_no_font_has_are_left_to_the_browser(result: Analysis, tmp_path: Path) -> None:
    rankings = Rankings([[1, 2], [2, 1]], ["\N{TEACUP WITHOUT HANDLE}", "very" * 75])
    places = [Place("very" * 75, 1, 0.5, 1, 2), Place("\N{TEACUP WITHOUT HANDLE}", 2, 0.5, 1, 2)]
    consensus = dataclasses.replace(result.consensus, ranking=places)
    result = dataclasses.replace(result, rankings=rankings, consensus=consensus)
    write_report(result, tmp_path / "tea.html", command=COMMAND)  # without a warning, which tests count as an error
    assert "\N{TEACUP WITHOUT HANDLE}" in (tmp_path / "tea.html").read_text(encoding="utf-8")
    assert re.search(r"puts (very){14}v\.\.\. first", "\n".join(summary(result)))
