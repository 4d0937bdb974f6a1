"""Files of an experiment: the table has every cell, the page all that was found, escaped and without the network."""

from __future__ import annotations

import csv
import json
import math

import pytest
from tests.pages import HOSTILE, Page

from rankwise_reproductions.experiment import Claim, Comparison, Experiment, Inputs, Results
from rankwise_reproductions.outcome import Outcome, number
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
    ],
    claims=lambda results: [Claim("it grows", True, "0 < 1"), Claim(f"it ends {HOSTILE}", False, "2 > 1")],
    pictures={"curve-of-values": draw},
    needs=("data",),
)


@pytest.fixture
def outcome() -> Outcome:
    results = run(EXPERIMENT, "quick", Inputs(data="there"))
    return Outcome.of(EXPERIMENT, "quick", results, MADE)


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
        "rankwise reproduce tree-ranking/squares --quick --data FOLDER",
        "Made on 2026-01-31 with rankwise 1.2.3; a part earlier, on 2025-12-24 with rankwise 1.2.0.",
        "3 cells",
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
    for part in ("tree-ranking/table-3", f"needs {HOSTILE}", "claims that hold: 1 of 2", "differs: 1", "Second"):
        assert part in page.text
    assert "label-ranking" not in page.text


def test_the_outcome_as_json_has_no_nan(outcome):
    record = json.loads(json.dumps(outcome.as_dict(), allow_nan=False))
    assert record["experiment"] == "tree-ranking/squares"
    assert record["comparisons"][1]["error"] is None
    assert [claim["holds"] for claim in record["claims"]] == [True, False]


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
