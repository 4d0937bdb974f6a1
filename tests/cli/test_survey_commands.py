"""``rankwise report``: from a file of rankings to a page that can be passed on."""

from __future__ import annotations

import json
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
    assert groups["Bonn"]["items"][2] == {"item": "juice", "mean_rank": 1.0, "position": 1.0}
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
    assert done.stderr == "rankwise: 1 respondent ranked nothing, set apart\n"
    assert run_json("describe", path)["n_rankings"] == 2
