from __future__ import annotations

import csv

import numpy as np
import pytest

from rankwise.aggregation import Mallows
from tests.cli.running import problem, run, run_json

ITEMS = ("tea", "milk", "juice", "water")


@pytest.fixture
def survey(tmp_path):
    rng = np.random.default_rng(0)
    path = tmp_path / "drinks.csv"
    rows = []
    for person in range(120):
        young = person % 2
        center = [1, 2, 3, 4] if rng.random() < 0.2 + 0.6 * young else [4, 3, 2, 1]
        places = Mallows(theta=1.5, center=center).sample(1, rng).positions[0].astype(int)
        rows.append(f"p{person},{'young' if young else 'old'},{','.join(map(str, places))}")
    path.write_text("\n".join([f"who,age,{','.join(f'rank_{item}' for item in ITEMS)}", *rows]), "utf-8")
    return path


def test_segments(survey, tmp_path):
    members = tmp_path / "members.csv"
    done = run("segments", survey, "--features", "age", "--id", "who", "--members", members, "--bootstrap", "3")
    assert done.exit_code == 0, done.stderr
    assert "The people fall into 2 segments (Mallows, BIC, 1 to 6 tried)." in done.stdout
    assert "people with age = young are" in done.stdout
    with open(members, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 120
    assert rows[0]["id"] == "p0"
    assert {row["segment"] for row in rows} == {"segment 1", "segment 2"}
    assert float(rows[0]["segment 1"]) + float(rows[0]["segment 2"]) == pytest.approx(1, abs=1e-3)


def test_segments_as_json_and_as_a_picture(survey, tmp_path):
    picture = tmp_path / "segments.png"
    options = ("-n", "2", "--bootstrap", "0", "--model", "plackett-luce", "-o", picture)
    found = run_json("segments", survey, *options)
    assert found["n"] == 2
    assert found["model"] == "plackett-luce"
    assert found["membership"] is None
    assert [item["item"] for item in found["segments"][0]["items"]] == list(ITEMS)
    assert picture.stat().st_size > 5000
    table = tmp_path / "segments.csv"
    assert run("segments", survey, "-n", "2", "--bootstrap", "0", "--distance", "footrule", "-o", table).exit_code == 0
    assert "segment 2" in table.read_text("utf-8")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("-n", "0"), "is not a number from 1 up"),
        (("-n", "aic"), "is not a number from 1 up"),
        (("--model", "gauss"), "is not one of 'mallows'"),
        (("--distance", "l1"), "is not one of 'kendall'"),
    ],
)
def test_mistakes(survey, options, words):
    assert words in problem("segments", survey, *options, code=2)


def test_more_segments_than_rankings(survey):
    assert "of the rankings differ; ask for at most" in problem("segments", survey, "-n", "100")
