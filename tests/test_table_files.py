"""Tables in files: numbers stay numbers, names stay names, whatever program opens them."""

from __future__ import annotations

import csv
import json

import pytest

from rankwise._table_files import as_number, check_suffix, save_tables
from rankwise._tables import TextTable

TABLE = TextTable(
    "Consensus: a/b",
    "of 1,477 comparisons",
    ["place", "item", "share", "votes"],
    [["1", "=1+1", "62.8%", "1,477"], ["2", "tea | milk", "-3%", ""]],
)
FACTS = TextTable("Data", "", ["", ""], [["rankings", "1,477"]])


@pytest.mark.parametrize(
    ("cell", "number"),
    [
        ("1", 1),
        ("-3", -3),
        ("1,477", 1477),
        ("0.25", 0.25),
        ("62.8%", 0.628),
        ("1e-05", 1e-05),
        ("1,47", None),
        ("1-3", None),
        ("%", None),
        ("", None),
        ("tea", None),
        ("2 of 3", None),
    ],
)
def test_cells_that_show_numbers_are_numbers(cell, number):
    assert as_number(cell) == number


def test_csv_holds_the_first_table_with_a_header(tmp_path):
    save_tables([FACTS, TABLE], tmp_path / "a.csv", facts={})
    with open(tmp_path / "a.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file))
    assert rows == [
        ["place", "item", "share", "votes"],
        ["1", "'=1+1", "0.628", "1477"],  # no spreadsheet runs this name
        ["2", "tea | milk", "-0.03", ""],
    ]


def test_json_holds_the_facts(tmp_path):
    save_tables([TABLE], tmp_path / "a.json", facts={"order": ["tea"]})
    assert json.loads((tmp_path / "a.json").read_text("utf-8")) == {"order": ["tea"]}


def test_markdown_holds_all_tables(tmp_path):
    save_tables([FACTS, TABLE], tmp_path / "a.md", facts={})
    text = (tmp_path / "a.md").read_text("utf-8")
    assert "## Data" in text
    assert r"| 2 | tea \| milk | -3% |  |" in text
    assert "| ---: | --- | ---: | ---: |" in text


def test_workbooks_hold_a_sheet_for_each_table(tmp_path):
    openpyxl = pytest.importorskip("openpyxl", reason="needs the extra 'files'")
    save_tables([TABLE, FACTS, TABLE], tmp_path / "a.xlsx", facts={})
    book = openpyxl.load_workbook(tmp_path / "a.xlsx")
    assert book.sheetnames == ["Consensus  a b", "Data", "Consensus  a b 2"]
    sheet = book["Consensus  a b"]
    assert [cell.value for cell in sheet[2]] == [1, "=1+1", 0.628, 1477]
    assert sheet["B2"].data_type == "s"
    assert sheet["C2"].number_format == "0.0%"
    assert book["Data"]["B1"].value == 1477


def test_other_suffixes_are_refused(tmp_path):
    with pytest.raises(ValueError, match=r"a\.doc does not end in \.csv, \.xlsx, \.json or \.md"):
        check_suffix(tmp_path / "a.doc")


def test_numbers_below_a_header_are_aligned_at_the_right():
    assert TABLE.lines()[2:] == [
        "place  item        share  votes",
        "    1  =1+1        62.8%  1,477",
        "    2  tea | milk    -3%",
    ]
    assert FACTS.lines() == ["Data", "rankings  1,477"]
