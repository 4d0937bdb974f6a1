"""The report: complete in itself, escaped, the same for the same results."""

from __future__ import annotations

import dataclasses
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from rankwise import Rankings
from rankwise.cli.baselines import Baseline
from rankwise.cli.description import Description
from rankwise.cli.quickstart import Agreement, Quickstart, Standing
from rankwise.cli.report import write_report
from rankwise.label_ranking import RankingTree

VOID = {"meta", "br", "hr", "img", "link", "input"}
HOSTILE = "<script>alert('$x$ & \"y\"')</script>"


class Page(HTMLParser):
    """Tags, references to elsewhere, and text; complains about tags that do not close."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.references: list[str] = re.findall(r"url\(\s*['\"]?([^'\")]*)", text) + re.findall(r"@import.*", text)
        self.text = ""
        self._open: list[str] = []
        self.feed(text)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        if tag not in VOID:
            self._open.append(tag)
        names = {"src", "srcset", "href", "xlink:href", "data", "poster", "action", "background"}
        self.references += [value or "" for name, value in attrs if name in names]

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.fixture
def result() -> Quickstart:
    rankings = Rankings([[1, 2, float("nan")], [2, 1, 3]], items=[HOSTILE, "b", "c"])
    return Quickstart(
        data=HOSTILE,
        seed=7,
        description=Description(2, 2.0, 3, "incomplete", 2, 0, 0, 1, 1, [HOSTILE], [HOSTILE]),
        consensus=[Standing("b", 1, 0.5, 1.5), Standing(HOSTILE, 1, 0.5, 1.5), Standing("c", 2, 0.0, 3.0)],
        never_compared=[HOSTILE],
        agreement=Agreement(0.25, None, 2),
        n_folds=5,
        n_learned=2,
        baselines=[Baseline("constant", 0.125, 0.0625)],
        baselines_left_out="others",
        tree="a tree",
        versions={"rankwise": "1"},
        rankings=rankings,
        fitted_tree=RankingTree().fit([[1.0], [2.0]], rankings),
    )


@pytest.fixture
def page(result: Quickstart, tmp_path: Path) -> str:
    write_report(result, tmp_path / "report.html")
    return (tmp_path / "report.html").read_text(encoding="utf-8")


def test_the_page_holds_the_numbers_and_the_pictures(page: str) -> None:
    parsed = Page(page)
    for words in ("0.250", "nothing to compare", "0.125", "0.062", "50.0%", "others", "--seed 7", "rankwise 1"):
        assert words in parsed.text
    assert parsed.tags.count("svg") == 3
    assert parsed.tags.count("h2") == 7  # four tables and three pictures
    assert "x0 <=\N{NO-BREAK SPACE}1.5" in parsed.text
    assert "before column" in parsed.text
    assert "position (1 = best)" in parsed.text
    assert parsed.text.count("missing") >= 2  # the description and the column of the picture


def test_numbers_are_not_broken_into_lines(page: str) -> None:
    assert '<td class="number">50.0%</td>' in page
    assert "<td>constant</td>" in page
    assert ".number { white-space: nowrap }" in page
    assert "anywhere" not in page.partition("th, td {")[2]


def test_without_baselines_there_is_no_empty_table(result: Quickstart, tmp_path: Path) -> None:
    write_report(dataclasses.replace(result, baselines=[], baselines_left_out="none: why"), tmp_path / "report.html")
    page = Page((tmp_path / "report.html").read_text(encoding="utf-8"))
    assert page.tags.count("table") == 3
    assert "none: why" in page.text


def test_without_a_tree_there_is_no_picture_of_it(result: Quickstart, tmp_path: Path) -> None:
    write_report(dataclasses.replace(result, tree="", fitted_tree=None), tmp_path / "report.html")
    page = Page((tmp_path / "report.html").read_text(encoding="utf-8"))
    assert page.tags.count("svg") == 2
    assert "Who ranks how" not in page.text


def test_a_file_whose_name_is_no_text_can_be_reported(result: Quickstart, tmp_path: Path) -> None:
    write_report(dataclasses.replace(result, data="caf\udce9 1.csv"), tmp_path / "report.html")
    page = Page((tmp_path / "report.html").read_text(encoding="utf-8"))
    assert "--data 'caf? 1.csv'" in page.text


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


def test_same_result_same_bytes(result: Quickstart, page: str, tmp_path: Path) -> None:
    write_report(result, tmp_path / "again.html")
    assert (tmp_path / "again.html").read_text(encoding="utf-8") == page
    write_report(dataclasses.replace(result, seed=8), tmp_path / "other.html")
    assert (tmp_path / "other.html").read_text(encoding="utf-8") != page
