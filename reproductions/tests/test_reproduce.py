"""``rankwise reproduce`` on experiments made for the tests."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from rankwise.cli.app import app
from rankwise_reproductions import catalog
from rankwise_reproductions.cli import _time
from rankwise_reproductions.experiment import Claim, Comparison, Experiment


def experiment(name: str, **more) -> Experiment:
    settings = {
        "cells": lambda scale, inputs: [{"seed": seed} for seed in range(2 if scale == "quick" else 4)],
        "compute": lambda cell, inputs: {"value": float(cell["seed"])},
        "compare": lambda results: [Comparison("mean", 0.5, results.mean("value"), results.error("value"))],
        "claims": lambda results: [Claim("it is small", results.mean("value") < 1, f"{results.mean('value'):g}")],
        **more,
    }
    return Experiment(name, f"The title of {name}", "About it.", **settings)


def unlucky(cell, inputs):
    raise FileNotFoundError("no folder ode-strogatz")


EXPERIMENTS = [
    experiment("label-ranking/one"),
    experiment("label-ranking/sushi", needs=("sushi",)),
    experiment("label-ranking/files", compute=unlucky),
    experiment("tree-ranking/two"),
    experiment("label-ranking/known", claims=lambda results: [Claim("never", False, "0", known="so it is")]),
]


@pytest.fixture
def command(monkeypatch, tmp_path):
    monkeypatch.setattr(catalog, "experiments", lambda: {one.id: one for one in EXPERIMENTS})
    monkeypatch.delenv("RANKWISE_DATA", raising=False)
    monkeypatch.chdir(tmp_path)
    return lambda *words: CliRunner().invoke(app, ["reproduce", *words], env={"COLUMNS": "200"})


def test_list_names_papers_and_experiments(command):
    result = command("list")
    assert result.exit_code == 0
    for part in ("Label Ranking through Nonparametric Regression", "label-ranking/sushi", "--sushi", "The title of"):
        assert part in result.stdout
    assert json.loads(command("list", "--json").stdout)["label-ranking/sushi"]["needs"] == ["sushi"]


def test_one_experiment(command, tmp_path):
    result = command("label-ranking/one", "--quick", "--out", "kept")
    assert result.exit_code == 0
    assert "0.50 ± 0.50" in result.stdout
    assert "it is small" in result.stdout
    assert {path.name for path in (tmp_path / "kept" / "label_ranking").iterdir()} == {
        "one.json",
        "one.csv",
        "one.html",
    }


def test_a_paper_leaves_out_what_cannot_run_and_says_why(command, tmp_path):
    result = command("label-ranking", "--quick", "--json")
    assert result.exit_code == 0
    record = json.loads(result.stdout)
    assert [one["experiment"] for one in record["experiments"]] == ["label-ranking/one", "label-ranking/known"]
    assert "say where they are with --sushi" in record["left_out"]["label-ranking/sushi"]
    assert "no folder ode-strogatz" in result.stderr
    page = (tmp_path / "rankwise-reproductions" / "label_ranking" / "index.html").read_text("utf-8")
    assert "--sushi" in page


@pytest.mark.parametrize(("name", "why"), [("sushi", "with --sushi"), ("files", "no folder ode-strogatz")])
def test_by_id_what_cannot_run_is_an_error(command, name, why):
    result = command(f"label-ranking/{name}")
    assert result.exit_code == 1
    assert why in result.stderr
    assert result.stdout == ""


def test_all_papers_have_a_page_each(command, tmp_path):
    assert command("all", "--quick", "--out", "kept").exit_code == 0
    assert sorted(path.parent.name for path in tmp_path.rglob("index.html")) == ["label_ranking", "tree_ranking"]


def test_a_claim_that_fails_is_a_result_unless_strict(command):
    assert command("tree-ranking/two", "--quick", "--strict").exit_code == 0
    assert command("tree-ranking/two").exit_code == 0
    result = command("tree-ranking/two", "--strict")
    assert result.exit_code == 1
    assert "does not hold" in result.stdout
    assert command("label-ranking/known", "--strict").exit_code == 0


def test_a_quick_run_does_not_judge_and_stored_results_of_the_full_scale_stay(command, tmp_path):
    assert "too small to judge: 1" in command("tree-ranking/two", "--quick", "--out", "kept").stdout
    command("tree-ranking/two", "--out", "kept")
    table = tmp_path / "kept" / "tree_ranking" / "two.csv"
    written = table.read_text()
    assert len(written.splitlines()) == 5
    assert "scale full" in command("tree-ranking/two", "--quick", "--out", "kept").stdout
    assert table.read_text() == written


@pytest.mark.parametrize(
    ("left", "words"),
    [(None, ""), (59.6, ", about 60 s left"), (100, ", about 2 min left"), (7200, ", about 2 h left")],
)
def test_the_time_left_in_words(left, words):
    assert _time(left) == words


def test_mistakes_end_in_a_line(command, tmp_path):
    result = command("nothing")
    assert result.exit_code == 2
    words = " ".join(result.stderr.replace("│", " ").split())
    assert "there is no experiment or paper 'nothing'; see `rankwise reproduce list`" in words
    words = " ".join(command("label-ranking/too").stderr.replace("│", " ").split())
    assert "did you mean label-ranking/one" in words
    assert command("all", "--data", "nowhere").exit_code == 2
    (tmp_path / "kept" / "tree_ranking").mkdir(parents=True)
    (tmp_path / "kept" / "tree_ranking" / "two.json").write_text("{")
    result = command("tree-ranking", "--out", "kept")
    assert result.exit_code == 1
    assert "move it away to start again" in result.stderr
