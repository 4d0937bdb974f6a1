"""``rankwise raters`` and ``rankwise robustness``: what the library finds, printed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import problem, run, run_json


@pytest.fixture
def jury(tmp_path: Path) -> Path:
    lines = ["judge,city,rank_Rioja,rank_Merlot,rank_Syrah,rank_Port"]
    lines += [f"{name},Bonn,1,2,3,4" for name in ("Ann", "Ben", "Cem", "Dora")]
    lines += [f"{name},Oslo,1,2,4,3" for name in ("Eli", "Fay", "Gus")]
    lines.append("Hal,Oslo,4,3,2,1")
    path = tmp_path / "jury.csv"
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def test_raters_of_a_file(jury: Path, tmp_path: Path) -> None:
    found = run_json("raters", jury, "--id", "judge")
    assert found["raters"][0]["name"] == "Hal"
    assert found["raters"][0]["kind"] == "reversed"
    assert 0 < found["reliability"]["reliability"] < 1
    shown = run("raters", jury, "--id", "judge", "-o", tmp_path / "map.png").stdout
    assert "Hal ranks nearly in reverse: was the scale read the other way round?" in shown
    assert "reversed scale?" in shown
    assert (tmp_path / "map.png").stat().st_size > 5000
    run("raters", jury, "--id", "judge", "--simulations", "0", "-o", tmp_path / "raters.csv")
    assert "Hal" in (tmp_path / "raters.csv").read_text(encoding="utf-8")


def test_robustness_of_a_file(jury: Path, tmp_path: Path) -> None:
    found = run_json("robustness", jury, "--id", "judge", "--by", "city", "--rules", "borda,schulze")
    assert found["winners"] == ["Rioja"]
    assert {margin["rule"] for margin in found["margins"]} == {"kemeny", "borda", "schulze"}
    assert [group["name"] for group in found["without_groups"]] == ["Bonn", "Oslo"]
    shown = run("robustness", jury, "--id", "judge", "-o", tmp_path / "votes.md").stdout
    assert "Rioja wins by Kemeny. Removing 6 votes of 8 alters that, and so does changing 3 votes." in shown
    assert "Votes that decide the winner" in (tmp_path / "votes.md").read_text(encoding="utf-8")


def test_short_time_is_said_with_its_option(jury: Path) -> None:
    shown = " ".join(run("robustness", jury, "--rules", "schulze", "--time-limit", "0").stdout.split())
    assert "items were not left out one by one: time was over after 0 seconds; give a larger --time-limit" in shown
    assert "was proven; give a larger --time-limit for more" in shown


def test_mistakes_are_named(jury: Path) -> None:
    assert "1.5 is not between 0 and 1" in problem("raters", jury, "--level", "1.5", code=2)
    assert "'best' is not one of" in problem("raters", jury, "--method", "best", code=2)
    assert "'best' is not one of" in problem("robustness", jury, "--rules", "borda,best", code=2)
    assert "several items win" in problem("robustness", jury, "--method", "stv")
