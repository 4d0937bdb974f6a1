"""The report: complete in itself, escaped, the same for the same results."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import numpy as np
import pytest

from rankwise import Rankings
from rankwise.aggregation import bootstrap_consensus
from rankwise.analysis import Agreement, Analysis, analyze
from rankwise.label_ranking import RankingTree
from rankwise.model_selection import Leaderboard
from tests.pages import HOSTILE, Page

COMMAND = "rankwise report 'caf\udce9 1.csv' --seed 7"
NAN = float("nan")


def board(*means: float, names: tuple[str, ...] = ("forest", "consensus"), error: float = 0.0625) -> Leaderboard:
    means_, errors = np.array(means), np.full(len(means), error)
    return Leaderboard(names, np.full((len(means), 2), NAN), means_, errors, np.ones(len(means)), np.ones(2), 5)


@pytest.fixture
def result() -> Analysis:
    """Two rankings, which are too few for intervals and models: these are added by hand."""
    rankings = Rankings([[1, 2, NAN], [2, 1, 3]], items=[HOSTILE, "b", "c"])
    found = analyze(rankings, [[1.0], [2.0]], feature_names=[HOSTILE], name=HOSTILE, notes=[HOSTILE], random_state=7)
    consensus = dataclasses.replace(
        found.consensus,
        positions=np.array([2.0, 1.0, 3.0]),
        never_compared=(HOSTILE,),
        mean_distance=0.25,
        bootstrap=bootstrap_consensus(
            rankings, consensus=[2, 1, 3], interval="percentile", n_resamples=40, random_state=0
        ),
        notes=("a note",),
    )
    return dataclasses.replace(
        found,
        consensus=consensus,
        agreement=Agreement(None, 2, 2),
        leaderboard=board(0.125, -0.5),
        no_leaderboard="",
        tree=RankingTree().fit([[1.0], [2.0]], rankings),
        versions={"rankwise": "1"},
    )


def page_of(result: Analysis, folder: Path) -> str:
    result.save_html(folder / "report.html", command=COMMAND)
    return (folder / "report.html").read_text(encoding="utf-8")


@pytest.fixture
def page(result: Analysis, tmp_path: Path) -> str:
    return page_of(result, tmp_path)


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


def test_the_highlights_say_what_is_certain(result: Analysis) -> None:
    assert result.highlights == [
        "2 rankings of 3 items (incomplete).",
        "The consensus puts b first, though place 2 is possible, too.",
        "75% of all comparisons agree with the consensus; half is chance.",
        "The best predictor is forest, with a mean Kendall tau of 0.12 against -0.50 for one consensus for all.",
    ]
    assert result.consensus.bootstrap is not None
    spread = dataclasses.replace(result.consensus.bootstrap, high=result.consensus.positions)
    sure = dataclasses.replace(result, consensus=dataclasses.replace(result.consensus, bootstrap=spread))
    assert sure.highlights[1] == "The consensus puts b first, and that is certain."
    close = dataclasses.replace(result, leaderboard=board(0.1, 0.0))
    assert "which may be chance" in close.highlights[3]
    useless = dataclasses.replace(result, leaderboard=board(0.1, 0.0, names=("consensus", "forest")))
    assert "No model" in useless.highlights[3]


def test_numbers_are_not_broken_into_lines(page: str) -> None:
    assert '<td class="number">50.0%</td>' in page
    assert "<td>forest</td>" in page
    assert ".number { white-space: nowrap }" in page
    assert "anywhere" not in page.partition("th, td {")[2]


def test_the_page_is_made_to_be_printed(page: str) -> None:
    assert "@media print" in page
    assert "figure, tr { break-inside: avoid }" in page


def test_without_features_there_are_neither_leaderboard_nor_tree(result: Analysis, tmp_path: Path) -> None:
    bare = dataclasses.replace(result, leaderboard=None, no_leaderboard="no features", tree=None)
    page = Page(page_of(bare, tmp_path))
    assert page.tags.count("table") == 4
    assert page.tags.count("svg") == 3
    assert "No tree: no features." in page.text
    assert "Geurts" not in page.text
    assert "none: no features" in page.text


def test_without_intervals_there_is_no_picture_of_them(result: Analysis, tmp_path: Path) -> None:
    found = dataclasses.replace(result.consensus, bootstrap=None)
    page = Page(page_of(dataclasses.replace(result, consensus=found), tmp_path))
    assert page.tags.count("svg") == 3
    assert "The consensus puts b first, but another order does as well." in page.text


def test_a_file_whose_name_is_not_text_can_be_reported(page: str) -> None:
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
    assert page_of(result, tmp_path) == page
    other = dataclasses.replace(result, summary=dataclasses.replace(result.summary, name="other"))
    assert page_of(other, tmp_path) != page


def test_letters_that_no_font_has_are_left_to_the_browser(tmp_path: Path) -> None:
    rankings = Rankings([[1, 2], [2, 1], [2, 1]] * 4, ["\N{TEACUP WITHOUT HANDLE}", "very" * 75])
    tea = analyze(rankings, random_state=0)
    assert "\N{TEACUP WITHOUT HANDLE}" in page_of(tea, tmp_path)  # without a warning, which tests count as an error
    assert re.search(r"puts (very){14}v\.\.\. first", "\n".join(tea.highlights))
