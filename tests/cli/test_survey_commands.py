"""``rankwise report``: from a file of rankings to a page that can be passed on."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.running import problem, run, run_json, write_survey
from tests.pages import Page


def test_a_survey_becomes_a_report_in_one_command(tmp_path: Path) -> None:
    survey, out = write_survey(tmp_path / "survey.csv"), tmp_path / "page.html"
    done = run("report", survey, "-o", out, "--target", "rank_", "--read", "unlisted=below")
    assert done.exit_code == 0, done.stderr
    assert done.stderr == ""
    words, where = done.stdout.splitlines()[:-1], done.stdout.splitlines()[-1]
    assert where == f"Report: {out}"
    assert words[0] == "60 rankings of 3 items."
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


def test_groups_stand_side_by_side(drinks: Path, tmp_path: Path) -> None:
    found = run_json("consensus", drinks, "--by", "city", "--bootstrap", "0")
    groups = {group["group"]: group for group in found["groups"]["groups"]}
    assert {label: group["n_rankings"] for label, group in groups.items()} == {
        "Bonn": 20,
        "Oslo": 18,
        "Rome": 20,
        "(blank)": 2,
    }
    juice = {"item": "juice", "n": 18.0, "mean_rank": 1.0, "low": 1.0, "high": 1.0, "position": 1.0}
    assert groups["Bonn"]["items"][2] == juice
    shown = run("consensus", drinks, "--by", "city", "--bootstrap", "0").stdout
    assert "Mean ranks by city" in shown
    assert "Consensus by city" in shown
    out = tmp_path / "page.html"
    done = run("report", drinks, "-o", out, "--by", "city", "--ignore", "age", "--json")
    assert done.exit_code == 0, done.stderr
    result = json.loads(done.stdout)
    assert result["description"]["features"] == ["city"]
    assert result["groups"]["by"] == "city"
    assert "--by city --ignore age --seed 0" in Page(out.read_text(encoding="utf-8")).text


def test_respondents_who_ranked_nothing_are_told(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("age,rank_a,rank_b\n31,1,2\n47,,\n25,1,2\n", encoding="utf-8")
    done = run("consensus", path)
    voting, read_as, *_, told = done.stderr.splitlines()
    assert voting == "rankwise: Columns that vote: 'rank_a', 'rank_b'."
    assert read_as.startswith("rankwise: Read as positions: a column per item holds its place.")
    assert "rankwise: 1 is the best place." in done.stderr.splitlines()
    assert told == "rankwise: 1 respondent ranked nothing, set apart"
    assert run_json("describe", path)["n_rankings"] == 2


def test_tables_and_pictures_of_a_survey_are_written(drinks: Path, tmp_path: Path) -> None:
    found = run_json("describe", drinks, "-o", tmp_path / "facts.json")
    assert json.loads((tmp_path / "facts.json").read_text(encoding="utf-8")) == found
    assert run("describe", drinks, "-o", tmp_path / "means.csv").exit_code == 0
    header, *rows = (tmp_path / "means.csv").read_text(encoding="utf-8").splitlines()
    assert header.startswith("item,mean rank,")
    assert len(rows) == len(found["items"])
    assert run("consensus", drinks, "--bootstrap", "0", "-o", tmp_path / "places.md").exit_code == 0
    assert "| place | item |" in (tmp_path / "places.md").read_text(encoding="utf-8")
    for command, title in (
        (["describe", drinks], "Mean rank"),
        (["consensus", drinks, "--bootstrap", "50"], "Place"),
        (["consensus", drinks, "--bootstrap", "0"], "Place of each item in the consensus"),
        (["consensus", drinks, "--method", "borda"], "Place"),
    ):
        assert run(*command, "--force", "-o", tmp_path / "picture.svg").exit_code == 0
        text = (tmp_path / "picture.svg").read_text(encoding="utf-8")
        assert title.lower() in text.lower(), command
    assert "does not end in .csv, .xlsx, .json, .md, .png, .svg or .pdf" in problem(
        "describe", drinks, "-o", tmp_path / "means.tex", code=2
    )
    assert "would replace the data" in problem("describe", drinks, "-o", drinks)


def test_a_report_with_a_title_a_workbook_and_pictures(drinks: Path, tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    page, book, folder = tmp_path / "page.html", tmp_path / "tables.xlsx", tmp_path / "pictures"
    done = run("report", drinks, "-o", page, "--title", "Drinks & more", "--excel", book, "--pictures", folder)
    assert done.exit_code == 0, done.stderr
    assert done.stdout.splitlines()[-3:] == [f"Report: {page}", f"Excel: {book}", f"Pictures: {folder}"]
    text = page.read_text(encoding="utf-8")
    assert "<h1>Drinks &amp; more</h1>" in text
    assert "--title &#39;Drinks &amp; more&#39;" in text
    assert "Mean ranks" in openpyxl.load_workbook(book).sheetnames
    assert {"mean-rank.png", "all-places.png"} <= {path.name for path in folder.iterdir()}
    assert "does not end in .xlsx" in problem(
        "report", drinks, "-o", page, "--force", "--excel", tmp_path / "a.csv", code=2
    )
    assert "is a file; give a folder" in problem("report", drinks, "-o", page, "--force", "--pictures", page)


@pytest.mark.parametrize(("form", "start"), [("svg", b"<?xml"), ("pdf", b"%PDF")])
def test_pictures_of_a_report_in_other_formats(drinks: Path, tmp_path: Path, form: str, start: bytes) -> None:
    folder = tmp_path / "pictures"
    done = run("report", drinks, "-o", tmp_path / "r.html", "--pictures", folder, "--picture-format", form)
    assert done.exit_code == 0, done.stderr
    assert {path.suffix for path in folder.iterdir()} == {f".{form}"}
    assert all(path.read_bytes().startswith(start) for path in folder.iterdir())
    assert "--pictures FOLDER" in problem("report", drinks, "--picture-format", form, code=2)


def test_bad_rows_are_dropped_on_request(tmp_path: Path) -> None:
    (tmp_path / "drinks.csv").write_text("tea,milk,juice\n1,2,3\n1,3,2\n2,1,3\n3,2,1\n1,1,9\n", encoding="utf-8")
    file = tmp_path / "drinks.csv"
    asked = ["describe", file, "--target", "tea,milk,juice"]
    found = run_json(*asked, "--drop-bad-rows")
    assert found == run_json(*asked, "--read", "invalid=drop")
    assert found["n_rankings"] == 4
    problem(*asked)
