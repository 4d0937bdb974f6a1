"""``rankwise report``: from a file of rankings to a page that can be passed on."""

from __future__ import annotations

from pathlib import Path

from tests.cli.running import problem, run, run_json, write_survey
from tests.pages import Page


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
