from __future__ import annotations

import numpy as np
import pytest

from rankwise.datasets import make_cell_label_ranking
from tests.naive import datasets as naive


def test_constant_cells_of_a_depth_3_grid():
    X, y, bunch = make_cell_label_ranking(random_state=0)
    assert X.shape == (1000, 2)
    assert y.shape == (1000, 5)
    expected = 3 * (X[:, 0] >= 1 / 2) + (X[:, 1] >= 1 / 3) + (X[:, 1] >= 2 / 3)
    assert np.array_equal(bunch.cell, expected)
    assert np.array_equal(y.positions, bunch.centers.positions[expected])
    assert [len(t) for t in bunch.thresholds] == [1, 2]
    assert bunch.cells[1] == "x1 < 0.5 and 0.333 <= x2 < 0.667"
    assert abs(np.bincount(bunch.cell) / 1000 - 1 / 6).max() < 0.05


@pytest.mark.parametrize(("setting", "categorical"), [(1, []), (2, [1]), (3, [0, 1])])
def test_categorical_features_are_codes(setting, categorical):
    X, y, bunch = make_cell_label_ranking(setting=setting, random_state=0)
    assert bunch.categorical_features == categorical
    for column, levels in enumerate((2, 3)):
        codes = set(range(levels))
        assert (set(np.unique(X[:, column])) == codes) == (column in categorical)
    # All settings share their cells and rankings.
    assert y == make_cell_label_ranking(setting=1, random_state=0)[1]


def test_mallows_noise_around_the_centre_of_the_cell():
    _, y, bunch = make_cell_label_ranking(4000, theta=1.0, random_state=0)
    distances = [naive.kendall_distance(a, b) for a, b in zip(y, bunch.centers.positions[bunch.cell], strict=True)]
    law = naive.mallows_law((1, 2, 3, 4, 5), 1.0)
    mean = sum(p * naive.kendall_distance(r, (1, 2, 3, 4, 5)) for r, p in law.items())
    assert abs(np.mean(distances) - mean) < 0.1
    assert bunch.centers == make_cell_label_ranking(4000, random_state=0)[2].centers


@pytest.mark.parametrize("n_cells", [1, 2, 5, 9, 12])
def test_other_numbers_of_cells(n_cells):
    X, _, bunch = make_cell_label_ranking(2000, 3, setting=3, n_cells=n_cells, random_state=0)
    assert len(bunch.centers) == len(bunch.cells) == len(set(bunch.cells)) == n_cells
    assert len(np.unique(X, axis=0)) == n_cells
    assert set(bunch.cell) == set(range(n_cells))


def test_same_seed_same_data():
    first, second, other = (make_cell_label_ranking(50, theta=1.0, random_state=s) for s in (1, 1, 2))
    assert np.array_equal(first[0], second[0])
    assert first[1] == second[1] != other[1]


@pytest.mark.parametrize(
    ("arguments", "fragment"),
    [
        ({"setting": 4}, "setting is 4; choose 1, 2 or 3"),
        ({"n_cells": 0}, "n_cells is 0"),
        ({"n_samples": 0}, "n_samples is 0"),
        ({"theta": -2.0}, "theta is -2.0"),
    ],
)
def test_bad_arguments(arguments, fragment):
    with pytest.raises(ValueError, match=fragment):
        make_cell_label_ranking(**arguments)


@pytest.mark.parametrize(
    ("arguments", "fragment"),
    [
        ({"n_cells": 6.0}, "n_cells is 6.0; give a whole number"),
        ({"n_items": "a"}, "n_items is 'a'; give a whole number"),
        ({"theta": "a"}, "theta is 'a'; give a number"),
    ],
)
def test_arguments_of_a_wrong_type(arguments, fragment):
    with pytest.raises(TypeError, match=fragment):
        make_cell_label_ranking(**arguments)
