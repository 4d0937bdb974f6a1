"""``rankwise drivers``: what the library finds, printed."""

from __future__ import annotations

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pytest

from tests.cli.running import problem, run, run_json


@pytest.fixture
def survey(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    lines = ["age,luck,rank_tea,rank_milk,rank_juice"]
    for _ in range(60):
        age = int(rng.integers(18, 80))
        lines.append(f"{age},{rng.random():.3f},{'1,2,3' if age < 50 else '3,1,2'}")
    path = tmp_path / "votes.csv"
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def test_drivers_of_a_file(survey: Path, tmp_path: Path) -> None:
    found = run_json("drivers", survey, "--tree")
    assert [one["feature"] for one in found["features"]] == ["age", "luck"]
    assert found["features"][0]["p_value"] < 0.001 < found["features"][1]["p_value"]
    assert found["tree"][0].startswith("|-- age <= ")
    shown = run("drivers", survey, "--tree", "-o", tmp_path / "drivers.png").stdout
    assert "Rankings depend on age (p < 0.001)." in shown
    assert "every split is significant" in shown
    assert (tmp_path / "drivers.png").stat().st_size > 5000
    plt.close("all")


def test_columns_that_are_the_same_for_everybody_are_named(survey: Path, tmp_path: Path) -> None:
    head, *rows = survey.read_text(encoding="utf-8").split("\n")
    path = tmp_path / "same.csv"
    path.write_text("\n".join([f"country,{head}", *(f"NO,{row}" for row in rows)]), encoding="utf-8")
    found = run_json("drivers", path, "--tree", "--ignore", "age")
    assert "left out, because they are the same for everybody: country" in found["notes"]
    assert found["tree_note"].startswith("no split: no feature is significant; the nearest is luck, corrected p = ")
    words = problem("drivers", path, "--ignore", "age,luck")
    assert "no column that could drive rankings but country, the same for everybody; --features names others" in words


def test_levels_are_checked(survey: Path) -> None:
    assert "1.5 is not between 0 and 1" in problem("drivers", survey, "--level", "1.5", code=2)
