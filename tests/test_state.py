"""What classes say of themselves to be saved."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

from rankwise import _state
from rankwise.label_ranking import RankingForest
from rankwise.persistence.classes import EXTERNALS, MODULES, recipe_named

OURS = sorted(set(MODULES) - set(EXTERNALS))


@pytest.mark.parametrize("name", OURS)
def test_classes_list_their_parts_and_not_their_parameters(name):
    recipe = recipe_named(name)
    assert recipe.saved
    parameters = set(inspect.signature(recipe.cls).parameters)
    if recipe.parameters == "none":  # what a constructor takes is saved, or it could not be called again
        assert parameters <= set(recipe.saved)
    else:
        assert not parameters & set(recipe.saved)


def test_lists_add_to_those_of_the_classes_they_derive_from():
    assert "items_" not in vars(RankingForest)["_saved"]
    assert {"items_", "n_features_in_", "_encoder", "trees_", "_tree_weights"} <= set(
        recipe_named("RankingForest").saved
    )


@pytest.mark.parametrize(
    ("kind", "good", "bad"),
    [
        (_state.FLOATS, np.zeros(2), np.zeros((2, 1))),
        (_state.FLOATS, np.zeros(0), [1.0]),
        (_state.array("int32 int64", 1), np.zeros(2, dtype=np.int32), np.zeros(2)),
        (_state.COUNT, 3, -1),
        (_state.COUNT, np.int64(0), True),
        (_state.COUNT, 0, 1.0),
        (_state.NUMBER, 1.5, False),
        (_state.NUMBER, np.float32(1), "1"),
        (_state.BOOL, np.bool_(True), 1),
        (_state.STRING, "a", np.str_("a")),
        (_state.maybe(_state.STRING), None, 3),
        (_state.either(_state.STRING, _state.NUMBER), 3, None),
        (_state.list_of(_state.STRING), ["a"], ("a",)),
        (_state.tuple_of(_state.STRING), (), ("a", 1)),
        (_state.dict_of(_state.NUMBER), {"a": 1}, {1: 1}),
        (_state.instance("ndarray"), np.zeros(1), 1.0),
        (_state.ITEMS, ("tea", 2), ["tea", 2]),
        (_state.ITEMS, ("tea",), ([],)),
        (_state.NAMES, np.array(["a", "b"], dtype=object), np.array(["a", 1], dtype=object)),
        (_state.optional(_state.STRING), "a", 1),
    ],
)
def test_kinds(kind, good, bad):
    assert kind.matches(good)
    assert not kind.matches(bad)
    assert kind.description


def test_optional_parts_are_not_required():
    assert _state.FLOATS.required
    assert not _state.optional(_state.FLOATS).required


@pytest.mark.parametrize(
    ("check", "problem"),
    [
        (lambda: _state.ensure(False, "it is wrong"), "it is wrong"),
        (
            lambda: _state.check_shape(np.zeros(2), (3,), "the weights"),
            r"the weights have shape \(2,\) instead of",
        ),
        (lambda: _state.check_probabilities(np.array([0.5, np.nan])), "probability"),
        (lambda: _state.check_probabilities(np.array([0.5, 1.1])), "probability"),
        (lambda: _state.check_places(np.array([0, 3]), 3, "a row is not there"), "a row is not there"),
        (lambda: _state.check_places(np.array([0, -1]), 3, "a row is not there"), "a row is not there"),
    ],
)
def test_checks_raise_value_errors(check, problem):
    with pytest.raises(ValueError, match=problem):
        check()
