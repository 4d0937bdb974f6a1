from __future__ import annotations

import copy
import pickle
from pathlib import Path

import pytest

from rankwise import RankwiseFormatError


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({}, "no items"),
        ({"path": "a.soc"}, "a.soc: no items"),
        ({"path": Path("a.soc"), "line": 4}, "a.soc, line 4: no items"),
        ({"line": 4, "column": 2}, "line 4, column 2: no items"),
        ({"cure": "Add one."}, "no items. Add one."),
        ({"path": "a.soc", "line": 4, "column": 2, "cure": "Add one."}, "a.soc, line 4, column 2: no items. Add one."),
    ],
)
def test_text_says_where_what_and_the_cure(arguments, text):
    assert str(RankwiseFormatError("no items", **arguments)) == text


def test_full_stop_of_the_problem_is_not_doubled():
    assert str(RankwiseFormatError("no items.", cure="Add one.")) == "no items. Add one."


def test_is_a_value_error_with_the_place_as_attributes():
    error = RankwiseFormatError("no items", path=Path("a.soc"), line=4, column=2, cure="Add one.")
    assert isinstance(error, ValueError)
    assert (error.problem, error.path, error.line, error.column, error.cure) == ("no items", "a.soc", 4, 2, "Add one.")


@pytest.mark.parametrize("through", [lambda e: pickle.loads(pickle.dumps(e)), copy.copy, copy.deepcopy])
def test_survives_pickle_and_copy(through):
    choices = [{"layout": "scores", "items": ["tea", "milk"]}]
    error = RankwiseFormatError("no items", path="a.soc", line=4, column=2, cure="Add one.", choices=choices)
    twin = through(error)
    assert type(twin) is RankwiseFormatError
    assert str(twin) == str(error)
    assert (twin.path, twin.line, twin.column, twin.cure) == ("a.soc", 4, 2, "Add one.")
    assert twin.choices == choices
    assert RankwiseFormatError("no items").choices == []
