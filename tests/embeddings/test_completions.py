"""Completions: all of them, each once; samples that are fair."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from rankwise.data import dense_positions
from rankwise.embeddings.completions import (
    RUNS,
    Structure,
    draw_keys,
    grouped_by_structure,
    levels_of,
    slots_of,
    unique_rows,
)
from tests.naive import graph_cut as naive
from tests.strategies import position_matrices, random_positions

ROWS = [
    np.array([1.0, np.nan, 2.0, np.nan]),
    np.array([2.0, 1.0, 1.0, np.nan, np.inf]),
    np.array([np.inf, np.nan, 1.0, np.inf]),
    np.array([1.0, 1.0, 1.0]),
]


def orders_of(levels: np.ndarray) -> list[tuple[float, ...]]:
    return [tuple(row) for row in dense_positions(levels + 1.0)]


def orders_of_partitions(partitions: list[list[list[int]]], n_items: int) -> list[tuple[float, ...]]:
    found = []
    for partition in partitions:
        row = np.zeros(n_items)
        for place, part in enumerate(partition, 1):
            row[part] = place
        found.append(tuple(row))
    return found


def completed(row: np.ndarray, kind: str, keys: np.ndarray | None = None) -> list[tuple[float, ...]]:
    levels = levels_of(row[None])
    structure = Structure.of(levels[0])
    table = structure.all(kind) if keys is None else structure.sample(kind, keys)
    return orders_of(table[:, slots_of(levels)[0]])


@pytest.mark.parametrize("row", ROWS)
@pytest.mark.parametrize("kind", ["gaps", "full"])
def test_all_completions_equal_brute_force(row, kind):
    partitions = naive.gap_completions(row) if kind == "gaps" else naive.full_completions(row)
    found = completed(row, kind)
    assert sorted(found) == sorted(orders_of_partitions(partitions, len(row)))
    assert len(found) == Structure.of(levels_of(row[None])[0]).count(kind)


@pytest.mark.parametrize("row", ROWS)
@pytest.mark.parametrize("kind", ["gaps", "full"])
def test_samples_are_uniform_over_the_completions(row, kind):
    """A chi-square statistic; draws of a run are balanced, so that it is smaller than with independent ones."""
    everything = completed(row, kind)
    keys = draw_keys(16_000, len(row), np.random.default_rng(0))
    sampled = completed(row, kind, keys)
    counts = np.array([sampled.count(one) for one in sorted(set(everything))])
    assert counts.sum() == len(sampled)  # none but these
    expected = len(sampled) / len(everything)
    statistic = np.sum((counts - expected) ** 2 / expected)
    freedom = len(everything) - 1
    assert statistic < freedom + 5 * np.sqrt(2 * freedom + 1)


def test_keys_are_balanced_in_every_run_and_mirrored():
    keys = draw_keys(100, 5, np.random.default_rng(0))
    assert keys.shape == (112, 5)  # the next multiple of 16
    np.testing.assert_allclose(keys[::2] + keys[1::2], 1.0)
    for run in keys[::2].reshape(RUNS, -1, 5):
        np.testing.assert_array_equal(np.sort((run * 7).astype(int), axis=0), np.arange(7)[:, None].repeat(5, axis=1))


@given(position_matrices())
def test_levels_keep_the_order_and_the_kind_of_items(positions):
    levels = levels_of(positions)
    np.testing.assert_array_equal(levels < 0, np.isnan(positions))
    for row, level in zip(positions, levels, strict=True):
        ranked = ~np.isnan(row)
        np.testing.assert_array_equal(
            row[ranked][:, None] < row[ranked][None], level[ranked][:, None] < level[ranked][None]
        )
        assert set(level[ranked]) == set(range(len(set(row[ranked]))))


def test_rankings_of_one_structure_are_one_group():
    positions = random_positions(np.random.default_rng(0), 200, 4, "incomplete")
    levels = levels_of(positions)
    groups = grouped_by_structure(levels)
    assert len({structure for structure, _ in groups}) == len(groups)
    np.testing.assert_array_equal(np.sort(np.concatenate([rows for _, rows in groups])), np.arange(200))
    for structure, rows in groups:
        assert {Structure.of(levels[row]) for row in rows} == {structure}
    assert grouped_by_structure(levels[:0]) == []


@pytest.mark.parametrize("n_items", [3, 200])
def test_unique_rows(n_items):
    rows = np.random.default_rng(0).integers(-1, 2, (40, 3), dtype=np.int32).repeat(-(-n_items // 3), axis=1)
    first, kind = unique_rows(rows)
    expected, expected_first = np.unique(rows, axis=0, return_index=True)
    assert sorted(first) == sorted(expected_first)
    np.testing.assert_array_equal(rows[first][kind], rows)
    assert len(expected) == len(first)


def test_numbers_of_completions_may_be_astronomic():
    structure = Structure((1,) * 10, 990)
    assert structure.count("gaps") == 11**990
    assert structure.count("full") > 10**2000
