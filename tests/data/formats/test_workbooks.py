"""Sheets of Excel and OpenDocument: names, titles, merged cells, several sheets, and hostile files."""

from __future__ import annotations

import contextlib
import datetime
import importlib
import zipfile
from pathlib import Path

import pytest

from rankwise import RankwiseFormatError, read_rankings
from rankwise.data.formats import read_positions_csv, workbooks
from rankwise.data.formats.delimited import parse_table, read_table
from rankwise.data.formats.detect import read_with_table

openpyxl = pytest.importorskip("openpyxl", reason="the workbooks of these tests are written by openpyxl")
pytest.importorskip("fastexcel", reason="Excel workbooks are read by fastexcel, of the extra 'files'")

ROWS = [["age", "rank_tea", "rank_milk"], [31, 1, 2], [47.5, 2.0, 1]]


def workbook(path: Path, sheets: dict[str, list[list[object]]] | list[list[object]], merged: tuple[str, ...] = ()):
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, rows in (sheets if isinstance(sheets, dict) else {"Data": sheets}).items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
        for area in merged:
            sheet.merge_cells(area)
    book.save(path)
    return path


def open_document(path: Path, *tables: str) -> Path:
    """Tables given as the XML of their rows."""
    namespaces = " ".join(
        f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"' for name in ("office", "table", "text")
    )
    body = "".join(f'<table:table table:name="Sheet{i}">{rows}</table:table>' for i, rows in enumerate(tables, start=1))
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        archive.writestr(
            "content.xml",
            f"<office:document-content {namespaces}><office:body><office:spreadsheet>{body}"
            "</office:spreadsheet></office:body></office:document-content>",
        )
    return path


def ods_cell(value: object, more: str = "") -> str:
    if value is None:
        return f"<table:table-cell {more}/>"
    if isinstance(value, str):
        return f'<table:table-cell office:value-type="string" {more}><text:p>{value}</text:p></table:table-cell>'
    return (
        f'<table:table-cell office:value-type="float" office:value="{value}" {more}>'
        f"<text:p>{value:.2f}</text:p></table:table-cell>"
    )


def ods_rows(rows: list[list[object]]) -> str:
    return "".join(f"<table:table-row>{''.join(map(ods_cell, row))}</table:table-row>" for row in rows)


def refused(path: Path, **options: object) -> RankwiseFormatError:
    with pytest.raises(RankwiseFormatError) as caught:
        read_rankings(path, **options)
    return caught.value


def test_a_sheet_is_read_like_the_same_text(tmp_path):
    text = "age,rank_tea,rank_milk\n31,1,2\n47.5,2,1\n"
    expected = parse_table(text, "a.csv")
    for path in (workbook(tmp_path / "a.xlsx", ROWS), open_document(tmp_path / "a.ods", ods_rows(ROWS))):
        table = read_table(path)
        assert table.header == expected.header
        assert [table.column(name) for name in table.header] == [expected.column(name) for name in table.header]
        assert list(table.lines) == list(expected.lines)
        assert read_rankings(path).positions.tolist() == [[1, 2], [2, 1]]
        assert read_positions_csv(path)[1]["age"].tolist() == [31, 47.5]


def test_a_workbook_is_known_by_its_content(tmp_path):
    path = workbook(tmp_path / "a.xlsx", ROWS).rename(tmp_path / "standard input")
    assert read_rankings(path).items == ("tea", "milk")


def test_cells_are_what_people_see(tmp_path):
    day, moment = datetime.datetime(2026, 1, 5), datetime.datetime(2026, 1, 5, 10, 30)
    rows = [
        ["id", "day", "when", "clock", "share", "flag", "code", "text"],
        [1.0, day, moment, datetime.time(10, 30), 0.1 + 0.2, True, "007", " two\nlines "],
        [2, day.date(), moment, datetime.time(9), 0.25, False, "7", None],
    ]
    table = read_table(workbook(tmp_path / "a.xlsx", rows))
    assert [table.column(name) for name in table.header] == [
        ["1", "2"],
        ["2026-01-05", "2026-01-05"],
        ["2026-01-05 10:30:00", "2026-01-05 10:30:00"],
        ["10:30:00", "09:00:00"],
        ["0.3", "0.25"],
        ["true", "false"],
        ["007", "7"],
        ["two\nlines", ""],
    ]


def test_open_document_cells(tmp_path):
    rows = (
        "<table:table-row>" + "".join(map(ods_cell, ["day", "rank_a", "rank_b", "rank_c"])) + "</table:table-row>"
        '<table:table-row table:number-rows-repeated="2"><table:table-cell office:value-type="date" '
        'office:date-value="2026-01-05T00:00:00"><text:p>05.01.26</text:p></table:table-cell>'
        + ods_cell(1.0)
        + ods_cell(2, 'table:number-columns-repeated="2"')
        + '<table:table-cell table:number-columns-repeated="16380"/></table:table-row>'
        '<table:table-row table:number-rows-repeated="1048570">'
        '<table:table-cell table:number-columns-repeated="16384"/></table:table-row>'
    )
    table = read_table(open_document(tmp_path / "a.ods", rows))
    assert table.column("day") == ["2026-01-05"] * 2
    assert [table.column(f"rank_{x}") for x in "abc"] == [["1", "1"], ["2", "2"], ["2", "2"]]


def test_room_around_the_table_and_titles_are_passed_over(tmp_path):
    rows = [[], [None, "Results 2026"], [], *([None, *row[:1], None, *row[1:]] for row in ROWS), [], []]
    _, covariates, reading, table = read_with_table(workbook(tmp_path / "a.xlsx", rows))
    assert table.header == ("age", "rank_tea", "rank_milk")
    assert (table.header_line, list(table.lines)) == (4, [5, 6])
    assert covariates["age"].tolist() == [31, 47.5]
    assert "The title 'Results 2026' in row 2 was passed over." in reading.lines()


def test_two_rows_of_names_below_merged_cells_are_joined(tmp_path):
    rows = [["Rank the drinks", None, None, "Age"], ["Tea", "Milk", "Juice", None], [1, 2, 3, 31], [2, 1, 3, 47]]
    ods = (
        "<table:table-row>"
        + ods_cell("Rank the drinks", 'table:number-columns-spanned="3"')
        + "<table:covered-table-cell/>" * 2
        + ods_cell("Age", 'table:number-rows-spanned="2"')
        + "</table:table-row>"
        + ods_rows(rows[1:])
    )
    for path in (
        workbook(tmp_path / "a.xlsx", rows, ("A1:C1", "D1:D2")),
        open_document(tmp_path / "a.ods", ods),
    ):
        rankings, covariates, reading, table = read_with_table(path, prefix="Rank the drinks", layout="positions")
        assert table.header == ("Rank the drinks - Tea", "Rank the drinks - Milk", "Rank the drinks - Juice", "Age")
        assert rankings.items == ("Tea", "Milk", "Juice")
        assert rankings.positions.tolist() == [[1, 2, 3], [2, 1, 3]]
        assert list(covariates) == ["Age"]
        assert "Rows 1 and 2 are both names of columns; they were joined." in reading.lines()
        assert list(table.lines) == [3, 4]


def test_two_rows_of_names_without_merged_cells_are_joined_where_they_are_clear(tmp_path):
    rows = [["Please rank", "", "Age"], ["Tea", "Milk", "Response"], [1, 2, 31], [2, 1, 47]]
    (tmp_path / "a.csv").write_text("\n".join(",".join(map(str, row)) for row in rows))
    for path in (workbook(tmp_path / "a.xlsx", rows), tmp_path / "a.csv"):
        rankings, _, reading, table = read_with_table(path)
        assert table.header == ("Please rank - Tea", "Please rank - Milk", "Age")
        assert rankings.items == ("Tea", "Milk")
        assert "Rows 1 and 2 are both names of columns; they were joined." in reading.lines()


def test_a_row_of_questions_below_the_names_is_no_answer(tmp_path):
    rows = [["Q1_1", "Q1_2", "sex"], ["Rank - Tea", "Rank - Milk", "Sex"], [1, 2, "f"], [2, 1, "m"]]
    csv = tmp_path / "a.csv"
    csv.write_text("\n".join(",".join(map(str, row)) for row in rows))
    for path in (workbook(tmp_path / "a.xlsx", rows), csv):
        rankings, covariates, reading, table = read_with_table(path, layout="positions", prefix="Q1_")
        assert rankings.items == ("Tea", "Milk")
        assert covariates["sex"].tolist() == ["f", "m"]
        assert table.questions == {"Q1_1": "Rank - Tea", "Q1_2": "Rank - Milk", "sex": "Sex"}
        assert "The row of line 2 holds the texts of the questions, not answers." in reading.lines()


@pytest.mark.parametrize(
    "rows",
    [
        [["a", "b"], ["x", "x"], [1, 2], [2, 1]],  # twice the same word is an answer
        [["a", "b"], ["x", 1], [1, 2], [2, 1]],
        [["a", "b"], ["x", "NA"], [1, 2], [2, 1]],
        [["a", "b"], ["x", "y"], ["z", 2], [2, 1]],
    ],
)
def test_first_rows_that_may_be_answers_stay(tmp_path, rows):
    table = read_table(workbook(tmp_path / "a.xlsx", rows))
    assert len(table) == 3
    assert table.notes == ()


@pytest.mark.parametrize(
    ("rows", "merged", "line", "message"),
    [
        ([["Rank", None, "Age"], ["Tea", "Milk", "old"], ["x", "y", 31]], (), 1, "'Milk' stands below an empty cell"),
        ([["Rank", None, "Age"], [1, 2, 31], [2, 1, 47]], ("A1:B1",), 1, "merged cells in row 1 leave columns"),
        ([["Rank", None, "Age"], [None, None, 31], [2, 1, 47]], ("A1:B1",), 1, "merged cells in row 1 leave columns"),
        ([["team", "rank_a"], ["x", 1], [None, 2]], ("A2:A3",), 2, "the cells A2:A3 are merged"),
        ([["rank_a", None, "rank_b"], [1, 3, 2]], (), 1, "the column has no name"),
        ([["rank_a", "rank_a"], [1, 2]], (), 1, "columns 1 and 2 are both named 'rank_a'"),
        ([["rank_a", "rank_b"]], (), 1, "there is a header, but no row below it"),
        ([], (), None, "the sheet is empty"),
    ],
)
def test_what_is_not_clear_is_refused_with_the_cure(tmp_path, rows, merged, line, message):
    path = workbook(tmp_path / "a.xlsx", rows, merged)
    error = refused(path)
    assert message in str(error)
    assert error.cure
    assert error.line == line


def test_several_sheets(tmp_path):
    path = workbook(tmp_path / "a.xlsx", {"Notes": [["made by", "Ann"]], "2026": ROWS, "Empty": []})
    error = refused(path)
    assert "2 sheets hold cells: 'Notes', '2026'" in str(error)
    assert "read_rankings(path, sheet='Notes') or read_rankings(path, sheet='2026')" in str(error)
    assert error.choices == [{"sheet": "Notes"}, {"sheet": "2026"}]
    for sheet in ("2026", 2, "2"):
        rankings, _, reading, _ = read_with_table(path, sheet=sheet)
        assert rankings.items == ("tea", "milk")
        assert "The sheet is '2026'." in reading.lines()
        assert f"sheet={sheet!r}" in reading.call()
    assert "there is no sheet 'x'. The sheets are 'Notes', '2026', 'Empty'" in str(refused(path, sheet="x"))
    assert "this is not a workbook" in str(refused(csv_of(tmp_path), sheet="x"))


def csv_of(folder: Path) -> Path:
    path = folder / "a.csv"
    path.write_text("rank_a,rank_b\n1,2\n2,1\n")
    return path


def test_the_only_sheet_with_cells_is_taken_and_hidden_ones_are_told(tmp_path):
    book = openpyxl.load_workbook(workbook(tmp_path / "a.xlsx", {"Empty": [], "Data": ROWS, "Codes": [["a"]]}))
    book["Codes"].sheet_state = "hidden"
    book.save(tmp_path / "a.xlsx")
    _, _, reading, _ = read_with_table(tmp_path / "a.xlsx")
    assert reading.notes[:2] == ("The sheet is 'Data'.", "The hidden sheets 'Codes' were passed over.")


def test_merged_cells_are_counted_from_the_first_used_column(tmp_path):
    rows = [["Age", "Rank", None], [None, "Tea", "Milk"], [31, 1, 2], [47, 2, 1]]
    path = workbook(tmp_path / "a.xlsx", [[None, None, *row] for row in rows], ("D1:E1",))
    assert read_table(path).header == ("Age", "Rank - Tea", "Rank - Milk")


def test_errors_name_the_row_of_the_sheet(tmp_path):
    rows = [["Title"], [], ["rank_a", "rank_b"], [1, 2], [], [1, "x"]]
    error = refused(workbook(tmp_path / "a.xlsx", rows), prefix="rank_", layout="positions")
    assert (error.line, error.column) == (6, 2)


def test_hostile_workbooks_are_refused(tmp_path, monkeypatch):
    path = workbook(tmp_path / "a.xlsx", ROWS)
    whole = path.read_bytes()
    for cut in (len(whole) // 2, 200, 30):
        path.write_bytes(whole[:cut])
        assert "damaged" in str(refused(path))
    book = openpyxl.Workbook()
    book.active["A1"], book.active["XFD1048576"] = "rank_a", 1
    book.save(path)
    assert "spans 1,048,576 rows and 16,384 columns for 2 cells" in str(refused(path))
    monkeypatch.setattr(workbooks, "SMALL", 1)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/workbook.xml", "x" * 10**7)
    assert "inflates to more than 300 times its size" in str(refused(path))


def test_hostile_open_documents_are_refused(tmp_path):
    many = '<table:table-row table:number-rows-repeated="9999999">' + ods_cell(
        1, 'table:number-columns-repeated="9999"'
    )
    path = open_document(tmp_path / "a.ods", f"{many}</table:table-row>")
    assert "spans" in str(refused(path))
    path = open_document(tmp_path / "a.ods", '<table:table-row table:number-rows-repeated="many"/>')
    assert "'many' is not a number of rows" in str(refused(path))
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        archive.writestr("content.xml", "<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>")
    assert "it declares entities" in str(refused(path))


def test_old_workbooks_are_refused_with_the_cure(tmp_path):
    (tmp_path / "a.xls").write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(100))
    assert "old kind (.xls). Save it as .xlsx." in str(refused(tmp_path / "a.xls"))


def test_a_missing_package_is_named_with_its_command(tmp_path, monkeypatch):
    path = workbook(tmp_path / "a.xlsx", ROWS)
    real = importlib.import_module

    def without_fastexcel(name, *more):
        if name == "fastexcel":
            raise ImportError
        return real(name, *more)

    monkeypatch.setattr(importlib, "import_module", without_fastexcel)
    with pytest.raises(ImportError, match=r"reading Excel workbooks needs fastexcel: pip install 'rankwise\[files\]'"):
        read_rankings(path)


def test_a_workbook_with_a_wrong_byte_is_read_or_refused(tmp_path):
    whole = workbook(tmp_path / "a.xlsx", ROWS).read_bytes()
    for at in range(0, len(whole), len(whole) // 60):
        (tmp_path / "b.xlsx").write_bytes(whole[:at] + bytes([whole[at] ^ 0xFF]) + whole[at + 1 :])
        with contextlib.suppress(RankwiseFormatError):
            assert len(read_rankings(tmp_path / "b.xlsx")) == 2


def test_a_formula_whose_value_was_never_stored_is_named(tmp_path):
    path = workbook(tmp_path / "votes.xlsx", [["judge", "A", "B"], ["Ann", 1, 2], ["Bob", "=1+0", 2], ["Cid", 2, 1]])
    with pytest.raises(RankwiseFormatError, match=r"cell B3 holds a formula without its value.*save it"):
        read_rankings(path)


@pytest.mark.parametrize(
    "cell",
    ['<c r="B3"><f>1+0</f><v>1</v></c>', '<c r="B3" t="str"><f>IF(1,"","")</f><v></v></c>', '<c r="B3" s="1"/>'],
)
def test_formulas_with_a_value_are_read(tmp_path, cell):
    path = workbook(tmp_path / "votes.xlsx", [["judge", "A", "B"], ["Ann", 1, 2], ["Bob", "=1+0", 2], ["Cid", 2, 1]])
    changed = tmp_path / "changed.xlsx"
    with zipfile.ZipFile(path) as archive, zipfile.ZipFile(changed, "w") as other:
        for part in archive.namelist():
            text = archive.read(part).decode()
            if part.endswith("sheet1.xml"):
                assert '<c r="B3"><f>1+0</f><v /></c>' in text
                text = text.replace('<c r="B3"><f>1+0</f><v /></c>', cell)
            other.writestr(part, text)
    assert len(read_table(changed)) == 3


@pytest.mark.parametrize("note", ["Note: blind tasting", "* estimated", "n = 12", "Quelle: Umfrage", "1 = best"])
def test_a_note_below_the_table_is_no_item(tmp_path, note):
    rows = [["wine", "Anna", "Ben", "Cleo"], ["Rioja", 1, 2, 2], ["Merlot", 3, 1, 1], ["Malbec", 2, 3, 3], [note]]
    text = tmp_path / "wines.csv"
    text.write_text("\n".join(",".join([*map(str, row), *[""] * (4 - len(row))]) for row in rows) + "\n")
    for path in (workbook(tmp_path / "wines.xlsx", rows), text):
        rankings, _, reading, _ = read_with_table(path)
        assert rankings.items == ("Rioja", "Merlot", "Malbec")
        assert any(note in said and "was passed over" in said for said in reading.notes)


def test_a_last_item_without_a_vote_stays(tmp_path):
    rows = [
        ["wine", "Anna", "Ben", "Cleo"],
        ["Rioja", 1, 2, 2],
        ["Merlot", 3, 1, 1],
        ["Malbec", 2, 3, 3],
        ["Notes of oak"],
    ]
    assert read_rankings(workbook(tmp_path / "wines.xlsx", rows)).items[-1] == "Notes of oak"
