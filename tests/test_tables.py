"""Tables of text, for a terminal and a notebook, and data frames."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pandas as pd
import polars as pl
import pytest

import rankwise
from rankwise import Rankings
from rankwise._tables import TextTable, counted, make_frame, name_column, short_name, visible, with_short_names
from rankwise.aggregation import kemeny
from tests.pages import HOSTILE, Page


def test_columns_are_aligned_and_lines_have_no_trailing_blanks() -> None:
    table = TextTable(
        "Drinks", "a note", ["name", "n"], [["tea", "1"], ["\N{TEACUP WITHOUT HANDLE}", ""], ["a\nb", "22"]]
    )
    wide = "\N{TEACUP WITHOUT HANDLE}"
    assert str(table).splitlines() == ["Drinks", "a note", "name   n", "tea    1", wide, "a b   22"]


def test_without_names_there_is_no_header_and_without_rows_no_table() -> None:
    assert str(TextTable("T", "", ["", ""], [["a", "b"]])) == "T\na  b"
    bare = TextTable("T", "none: no features", [], [])
    assert str(bare) == "T\nnone: no features"
    assert "table" not in Page(bare._repr_html_()).tags


def test_cells_in_a_notebook_are_text() -> None:
    page = Page(TextTable(HOSTILE, HOSTILE, [HOSTILE], [[HOSTILE]])._repr_html_())
    assert "script" not in page.tags
    assert page.text.count("alert(") == 4
    assert page.references == []


def test_a_table_without_rows_keeps_its_header() -> None:
    page = Page(TextTable("T", "", ["a", ""], [])._repr_html_())
    assert page.tags.count("th") == 2
    assert "td" not in page.tags


def test_numbers_are_not_broken_into_lines() -> None:
    page = TextTable("T", "", ["n", "name", "more"], [["50.0%", "two words", "3 to 4"]])._repr_html_()
    assert '<td class="number">50.0%</td><th scope="row">two words</th><td class="number">3 to 4</td>' in page
    assert '<th scope="col" class="number">n</th><th scope="col">name</th>' in page


def test_a_blank_first_cell_does_not_move_the_name_of_its_column() -> None:
    page = TextTable("t", "", ["what", "rows", "note"], [["a", "", ""], ["b", "2", "about two"]])._repr_html_()
    assert '<th scope="col" class="number">rows</th><th scope="col">note</th>' in page


def test_html_comes_from_templates() -> None:
    source = Path(rankwise.__file__).parent
    assert {path.name for path in (source / "templates").iterdir()} == {
        "analysis_in_notebook.html.j2",
        "page.css",
        "page.html.j2",
        "parts.html.j2",
        "report.html.j2",
        "search_report.html.j2",
        "table_in_notebook.html.j2",
    }
    tag = re.compile(r"<(div|li|p|style|t[dhr]|table|ul)\b[^>]*>")
    assert tag.search('f"<td>{cell}</td>"')
    assert [path for path in source.rglob("*.py") if tag.search(path.read_text("utf-8"))] == []


def test_words() -> None:
    assert [counted(n, "leaf", "leaves") for n in (1, 1000)] == ["1 leaf", "1,000 leaves"]
    assert short_name("a\n b") == "a b"
    assert len(short_name("x" * 100)) == 60
    assert with_short_names(f"{'x' * 100} and y", ["x" * 100, "y"]) == f"{'x' * 57}... and y"


def test_frames_are_of_pandas_by_default() -> None:
    assert isinstance(make_frame({"a": [1]}), pd.DataFrame)
    assert isinstance(make_frame({"a": [1]}, "polars"), pl.DataFrame)
    assert name_column([1, 2]) == [1, 2]
    assert name_column(["a", 2]) == ["a", "2"]
    with pytest.raises(ValueError, match="backend is 'dask'; choose one of pandas, polars, pyarrow"):
        make_frame({"a": [1]}, "dask")


def test_a_frame_without_a_library_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ImportError, match="to_frame needs pandas, polars or pyarrow: pip install pandas"):
        make_frame({"a": [1]})
    with pytest.raises(ImportError, match="to_frame needs polars: pip install polars"):
        make_frame({"a": [1]}, "polars")


def test_what_is_shown_only_says_something():
    assert visible("a\tb\n\x1b[31m\x9b\u202e\u2066") == "a\tb\n\\x1b[31m\\x9b\\u202e\\u2066"
    names = ["\x1b]0;title\x07", "\u202eb"]
    shown = [Rankings([[1, 2]], items=names), kemeny(Rankings([[1, 2]], items=names))]
    table = TextTable(names[0], names[1], names, [names])
    assert not any(re.search("[\x1b\x07\u202e]", text) for text in [*map(repr, shown), str(table), table._repr_html_()])
