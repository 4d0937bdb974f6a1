"""``rankwise compare``: the same numbers as in Python, and mistakes in one line."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from rankwise.analysis import compare_groups, sample_size
from rankwise.data import read_survey
from tests.cli.running import problem, run, run_json


def test_compare_says_what_python_says(drinks: Path) -> None:
    found = compare_groups(read_survey(drinks, by="city"), random_state=0)
    shown = run_json("compare", drinks, "--by", "city")
    assert shown == {"data": str(drinks), "seed": 0, **found.as_dict()}
    text = run("compare", drinks, "--by", "city").stdout
    order = ["Comparison by city", "rank differently", "equal distributions", "Differences of items", "of pairs"]
    assert [*map(text.index, order)] == sorted(map(text.index, order))
    assert "left out: 2 rankings without a group" in text


@pytest.mark.parametrize("command", [("compare", "--by", "sex"), ("segments", "-n", "1"), ("raters",), ("robustness",)])
def test_commands_about_people_say_how_blanks_were_read(tmp_path: Path, command: tuple[str, ...]) -> None:
    lines = ["sex,rank_tea,rank_milk,rank_juice", *["f,1,2,", "m,,1,2", "f,2,,1", "m,1,2,"] * 6]
    path = tmp_path / "two-of-three.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    name, *options = command
    told = run(name, path, *options).stderr
    assert "give --read unlisted=below" in told
    assert "Everybody ranks exactly 2 of 3 items" in told
    below = run(name, path, *options, "--read", "unlisted=below").stderr
    assert "Blanks are missing" not in below


def test_compare_has_kernels_strata_and_levels(drinks: Path) -> None:
    shown = run_json(
        "compare",
        drinks,
        "--by",
        "city",
        "--strata",
        "age",
        "--kernel",
        "kendall",
        "--permutations",
        "99",
        "--level",
        "0.9",
    )
    assert (shown["kernel"], shown["n_permutations"], shown["level"]) == ("kendall", 99, 0.9)
    assert "strata" in shown["likelihood_ratio"]["reason"]


def test_compare_without_an_item(drinks: Path) -> None:
    shown = run_json("compare", drinks, "--by", "city", "--strata", "age", "--ignore", "rank_tea")
    assert {one["item"] for one in shown["items"]} == {"milk", "juice"}


def test_compare_people_with_themselves(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    lines = ["who,when,rank_tea,rank_milk,rank_juice"]
    for when in ("before", "now"):
        lines += [f"p{i},{when},{','.join(map(str, rng.permutation(3) + 1))}" for i in range(20)]
    path = tmp_path / "twice.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    shown = run_json("compare", path, "--by", "when", "--id", "who", "--paired")
    assert [group["n"] for group in shown["groups"]] == [20, 20]
    assert "same people" in shown["likelihood_ratio"]["reason"]
    assert "drop --strata" in problem("compare", path, "--by", "when", "--paired", "--strata", "who", code=2)


def test_sample_sizes_are_those_of_python(drinks: Path, tmp_path: Path) -> None:
    found = sample_size(8, precision=0.25)
    assert run_json("sample-size", "--items", "8", "--precision", "0.25") == {"seed": 0, **found.as_dict()}
    out = tmp_path / "people.csv"
    shown = run("sample-size", "--items", "8", "--precision", "0.25", "-o", out).stdout
    assert "With 326 people, every mean rank is known to within 0.25 places" in shown
    assert "326" in out.read_text(encoding="utf-8")
    pilot = sample_size(pilot=read_survey(drinks), goal="difference", difference=1.0)
    piloted = run_json("sample-size", drinks, "--goal", "difference")
    assert piloted == {"data": str(drinks), "seed": 0, **pilot.as_dict()}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "give a FILE of a pilot study, or --items N, and not both"),
        (("--items", "5", "--goal", "best"), "'best' is not one of 'places', 'winner', 'difference', 'groups'"),
        (("--items", "5", "--goal", "winner"), "winner needs to know how people rank: --theta 0.3, or the FILE"),
        (("--items", "5", "--id", "city"), "there are options that say how to read a pilot study; give its FILE"),
        (("--items", "5", "--level", "95"), "95 is not between 0 and 1, as 0.95 is"),
    ],
)
def test_mistakes_in_sample_sizes_are_named(words: tuple[str, ...], message: str) -> None:
    assert message in problem("sample-size", *words, code=2)


def test_differences_that_cannot_be_are_refused() -> None:
    words = problem("sample-size", "--items", "5", "--goal", "difference", "--difference", "9")
    assert "difference is 9 places, but mean ranks of 5 items differ by 4 at most" in words


@pytest.mark.parametrize("suffix", ["json", "csv", "md", "png", "svg"])
def test_compare_writes_files(drinks: Path, tmp_path: Path, suffix: str) -> None:
    out = tmp_path / f"groups.{suffix}"
    assert run("compare", drinks, "--by", "city", "--permutations", "19", "-o", out).exit_code == 0
    assert out.stat().st_size > 100
    if suffix == "json":
        assert json.loads(out.read_text("utf-8"))["by"] == "city"


def test_mistakes_are_said_in_a_line(drinks: Path) -> None:
    missing = problem("compare", drinks, code=2)
    assert "--by is missing, the column that says who is in which group" in missing
    assert "city (3 values)" in missing
    assert "'linear' is not one of" in problem("compare", drinks, "--by", "city", "--kernel", "linear", code=2)
    assert "95 is not between 0 and 1" in problem("compare", drinks, "--by", "city", "--level", "95", code=2)
    assert "town" in problem("compare", drinks, "--by", "town")
