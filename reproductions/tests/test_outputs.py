"""Files of an experiment: the table has every cell, the page all that was found, escaped and without the network."""

from __future__ import annotations

import csv
import json
import math
from dataclasses import replace

import numpy as np
import pytest
from tests.pages import HOSTILE, Page

from rankwise_reproductions.experiment import Claim, Comparison, Experiment, Inputs, Results
from rankwise_reproductions.outcome import Outcome, judge, number
from rankwise_reproductions.outputs import store_of, write_outputs, write_paper
from rankwise_reproductions.runner import run

MADE = {
    "date": "2026-01-31",
    "versions": {"rankwise": "1.2.3"},
    "earlier": [{"date": "2025-12-24", "versions": {"rankwise": "1.2.0"}}],
}


def draw(results: Results, figure) -> None:
    figure.subplots().plot(results.values("value"), label=HOSTILE)


EXPERIMENT = Experiment(
    "tree-ranking/squares",
    f"Squares of {HOSTILE}",
    f"First paragraph.\n\nSecond {HOSTILE}.",
    cells=lambda scale, inputs: [{"seed": seed, "kind": "a,b"} for seed in range(3)],
    compute=lambda cell, inputs: {"value": cell["seed"] / 2, "list": [1, cell["seed"]]},
    compare=lambda results: [
        Comparison("mean", 0.5, results.mean("value"), results.error("value")),
        Comparison(HOSTILE, None, 1.0, math.nan, "not in the paper", "an extra"),
        Comparison("text", "0.3 (read off)", "0.4", verdict="differs", reason=HOSTILE),
        Comparison("corrected", 0.3, 0.4, verdict="agrees after a correction", reason="a sign"),
    ],
    claims=lambda results: [
        Claim("it grows", True, "0 < 1"),
        Claim(f"it ends {HOSTILE}", False, "2 > 1"),
        Claim("it jumps", False, "0 = 0", known="the proof needs a jump"),
        Claim("it is even", np.bool_(True), "0 = 0", of="rankwise"),
    ],
    pictures={"curve-of-values": draw},
    needs=("data",),
    fraction="3 of 20 seeds",
)


@pytest.fixture
def outcome() -> Outcome:
    return finished("full")


def finished(scale: str) -> Outcome:
    results = run(EXPERIMENT, scale, Inputs(data="there"))
    return Outcome.of(EXPERIMENT, scale, results, MADE)


def test_files_are_next_to_the_store(tmp_path, outcome):
    pictures = write_outputs(tmp_path, outcome)
    assert list(pictures) == ["curve-of-values"]
    assert store_of(tmp_path, EXPERIMENT) == tmp_path / "tree_ranking" / "squares.json"
    written = {path.relative_to(tmp_path / "tree_ranking").as_posix() for path in tmp_path.rglob("*.*")}
    assert written == {"squares.csv", "squares.html", "squares_curve_of_values.png"}
    assert (tmp_path / "tree_ranking" / "squares_curve_of_values.png").read_bytes().startswith(b"\x89PNG")


def test_the_table_has_every_cell(tmp_path, outcome):
    write_outputs(tmp_path, outcome)
    with (tmp_path / "tree_ranking" / "squares.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [json.loads(row["list"]) for row in rows] == [[1, 0], [1, 1], [1, 2]]
    assert [(row["seed"], row["kind"], float(row["value"])) for row in rows] == [
        ("0", "a,b", 0.0),
        ("1", "a,b", 0.5),
        ("2", "a,b", 1.0),
    ]


def test_the_page_of_an_experiment(tmp_path, outcome):
    write_outputs(tmp_path, outcome)
    text = (tmp_path / "tree_ranking" / "squares.html").read_text("utf-8")
    page = Page(text)
    assert [one for one in page.references if not one.startswith("#")] == []
    assert "default-src 'none'" in text
    assert page.tags.count("svg") == 1
    assert "script" not in page.tags
    words = " ".join(page.text.split())
    assert f"Squares of {HOSTILE}" in words
    for part in (
        "Luo, Li",
        "0.50 ± 0.29",
        "not in the paper",
        "an extra",
        "0.3 (read off)",
        "holds",
        "does not hold",
        "rankwise reproduce tree-ranking/squares --data FOLDER",
        "Made on 2026-01-31 with rankwise 1.2.3; a part earlier, on 2025-12-24 with rankwise 1.2.0.",
        "does not hold, as known",
        "known: the proof needs a jump",
        "3 cells; the full scale is 3 of 20 seeds.",
    ):
        assert part in words


def test_the_page_of_a_paper_has_its_experiments_and_what_was_left_out(tmp_path, outcome):
    path = write_paper(
        tmp_path,
        "tree-ranking",
        [(outcome, {"curve": "<svg></svg>"})],
        {"tree-ranking/table-3": f"needs {HOSTILE}", "label-ranking/other": "elsewhere"},
    )
    page = Page(path.read_text("utf-8"))
    assert path == tmp_path / "tree_ranking" / "index.html"
    for part in ("tree-ranking/table-3", f"needs {HOSTILE}", "that hold: 1 of 3", "differs: 1", "Second"):
        assert part in page.text
    assert "label-ranking" not in page.text


def test_statements_of_the_paper_and_our_own_are_counted_apart(outcome):
    assert outcome.summary() == (
        "agrees: 1; agrees after a correction: 1; differs: 1; not in the paper: 1; "
        "statements of the paper that hold: 1 of 3 (1 known not to), our own: 1 of 1"
    )
    assert [claim.text for claim in outcome.failed] == [f"it ends {HOSTILE}"]


@pytest.mark.parametrize("scale", ["quick", "check"])
def test_a_smaller_run_shows_numbers_and_does_not_judge(tmp_path, scale):
    outcome = finished(scale)
    assert [row.verdict for row in outcome.comparisons] == [
        "too small to judge",
        "not in the paper",
        "too small to judge",
        "too small to judge",
    ]
    assert {row[2] for row in outcome.claim_rows()} == {"too small to judge"}
    assert outcome.failed == []
    assert outcome.summary() == "too small to judge: 3; not in the paper: 1; claims too small to judge: 4"
    assert {claim["holds"] for claim in outcome.as_dict()["claims"]} == {None}
    write_outputs(tmp_path, outcome)
    words = Page((tmp_path / "tree_ranking" / "squares.html").read_text("utf-8")).text
    assert "0.50 ± 0.29" in words
    assert "holds" not in words


@pytest.mark.parametrize("scale", ["quick", "check"])
def test_what_does_not_depend_on_size_is_judged_at_every_scale(tmp_path, scale):
    experiment = replace(EXPERIMENT, any_scale=True)
    smaller, full = (Outcome.of(experiment, one, finished(one).results, MADE) for one in (scale, "full"))
    assert smaller.comparison_rows() == full.comparison_rows()
    assert smaller.claim_rows() == full.claim_rows()
    assert "differs: 1" in smaller.summary()
    write_outputs(tmp_path, smaller)
    words = Page((tmp_path / "tree_ranking" / "squares.html").read_text("utf-8")).text
    assert f"Scale {scale}: judged at every scale" in words
    assert "too small" not in words


def test_the_page_names_what_was_left_out(tmp_path):
    results = Results(list(finished("full").results), {f"BART needs {HOSTILE}": 1200}, n_others=13)
    write_outputs(tmp_path, Outcome.of(EXPERIMENT, "full", results, MADE))
    page = Page((tmp_path / "tree_ranking" / "squares.html").read_text("utf-8"))
    assert f"left out: 1,200 cells, BART needs {HOSTILE}" in page.text
    assert "not shown: 13 stored cells" in page.text


@pytest.mark.parametrize(
    ("ours", "error", "verdict"),
    [
        (0.935, 0.0025, "agrees"),  # the tolerance itself, and two standard errors in it
        (0.925, None, "agrees"),
        (0.936, 0.001, "differs"),
        (0.935, 0.0026, "too small to judge"),  # a shorter run agrees no more easily
        (0.93, math.nan, "too small to judge"),
        (0.94, 0.0026, "too small to judge"),
        (0.95, 0.0026, "differs"),  # further away than chance explains
        (math.nan, 0.001, "too small to judge"),
    ],
)
def test_a_figure_agrees_within_the_tolerance_of_the_paper(ours, error, verdict):
    assert judge(0.93, ours, error, 0.005) == verdict


def test_equal_numbers_agree_without_a_tolerance():
    assert judge(24, 24, None, 0) == "agrees"
    assert judge(24, 25, None, 0) == "differs"


def test_the_outcome_as_json_has_no_nan(outcome):
    record = json.loads(json.dumps(outcome.as_dict(), allow_nan=False))
    assert record["experiment"] == "tree-ranking/squares"
    assert record["comparisons"][1]["error"] is None
    assert [claim["holds"] for claim in record["claims"]] == [True, False, False, True]
    assert [claim["of"] for claim in record["claims"]] == ["paper", "paper", "paper", "rankwise"]
    assert record["fraction"] == "3 of 20 seeds"


@pytest.mark.parametrize(
    ("value", "error", "text"),
    [
        (0.5, 0.0, "0.5"),
        (0.5, math.nan, "0.5"),
        (123.456, 12.0, "123 ± 12"),
        (0.00012345, None, "0.0001234"),
        (12345.6, None, "12346"),
        (0.99999, 0.00012, "0.99999 ± 0.00012"),
        ("100 0 0", None, "100 0 0"),
    ],
)
def test_numbers_have_the_digits_that_their_error_warrants(value, error, text):
    assert number(value, error) == text
