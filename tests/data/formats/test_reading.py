from __future__ import annotations

import shlex

import pytest

from rankwise.data.formats.detect import read_rankings, read_with_reading
from rankwise.data.formats.reading import python_call, shell_command
from tests.data.formats.survey_files import written

TEXTS = {
    "positions": "age,rank_tea,rank_milk\n31,1,2\n47,2,1\n",
    "orders": "choice_1,choice_2\ntea,milk\nmilk,\n",
    "strings": "age,drinks\n31,tea>milk\n47,milk\n",
    "long": "id,item,rank\n1,tea,1\n1,milk,2\n2,milk,1\n",
    "pairwise": "winner,loser\ntea,milk\nmilk,tea\n",
}


@pytest.mark.parametrize("layout", sorted(TEXTS))
def test_the_call_reads_the_file_in_the_same_way(tmp_path, layout):
    path = written(tmp_path, TEXTS[layout])
    rankings, _, reading = read_with_reading(path)
    assert reading.layout == layout
    assert eval(reading.call(), {"read_rankings": read_rankings, "path": path}) == rankings
    assert reading.options["layout"] == layout


def test_blanks_are_told_and_can_be_turned(tmp_path):
    path = written(tmp_path, "rank_tea,rank_milk\n1,\n1,2\n")
    _, _, reading = read_with_reading(path)
    assert (reading.blanks, reading.unlisted) == ("missing", "missing")
    assert any("unlisted='below'" in line for line in reading.lines())
    _, _, reading = read_with_reading(path, unlisted="below")
    assert (reading.blanks, reading.unlisted) == ("below", "below")
    assert any("unlisted='missing'" in line for line in reading.lines())
    _, _, reading = read_with_reading(written(tmp_path, TEXTS["positions"]))
    assert reading.blanks == "no blanks"


def test_columns_and_weights_are_told(tmp_path):
    path = written(tmp_path, "age,rank_tea,rank_milk,n\n31,1,2,3\n47,2,1,4\n")
    _, covariates, reading = read_with_reading(path, weights="n")
    assert reading.columns == ("rank_tea", "rank_milk")
    assert reading.weights == "n"
    assert list(covariates) == ["age"]
    assert "Weights: the column 'n'." in reading.lines()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"layout": "scores", "prefix": "Team "}, ["--layout", "scores", "--target", "Team "]),
        ({"layout": "positions", "items": ["a", "b"]}, ["--layout", "positions", "--target", "a,b"]),
        ({"items": ["a, c", "b"]}, ["--read", "items=['a, c', 'b']"]),
        ({"missing_values": ["0"]}, ["--read", "missing_values=0"]),
        ({"column": 'say "hi"'}, ["--read", 'column=say "hi"']),
        ({"prefix": "cost $"}, ["--target", "cost $"]),
        ({"weights": None}, ["--read", "weights=none"]),
    ],
)
def test_commands_survive_the_shell(arguments, words):
    line = shell_command("my votes.csv", arguments, "describe")
    assert shlex.split(line) == ["rankwise", "describe", "my votes.csv", *words]


def test_long_lists_are_cut_in_calls():
    assert python_call({"items": [f"q{i}" for i in range(61)]}).endswith("'q11', ...])")
