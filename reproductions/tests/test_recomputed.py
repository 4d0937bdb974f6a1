"""Stored cells come out again with today's code: a change that alters results shows, and asks for a new run."""

from __future__ import annotations

import os
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any

import numpy as np
import pytest
from reproductions.tests.stored import INPUTS, RESULTS, STORED

from rankwise_reproductions import use_common_kernels
from rankwise_reproductions.catalog import experiments
from rankwise_reproductions.experiment import Cell, Experiment, Values, key_of, kind_of
from rankwise_reproductions.outputs import store_of
from rankwise_reproductions.runner import run, seconds_left
from rankwise_reproductions.store import read_store

#: seconds for each experiment, by what is stored of its cells; RECOMPUTE_SECONDS=60 looks at more of them
BUDGET = float(os.environ.get("RECOMPUTE_SECONDS", "2"))
#: seconds that a cell counts for at least, and one of a store that has no seconds at all
LEAST, UNKNOWN = 0.005, 0.1


def cheapest(cells: list[Cell], seconds: dict[str, float], check: list[Cell]) -> list[Cell]:
    """The cheapest cell of each kind, then the second of each; where no seconds are known, the smallest scale first."""
    small = {key_of(cell) for cell in check}
    ordered = sorted(cells, key=lambda cell: (seconds.get(key_of(cell), np.inf), key_of(cell) not in small))
    count: Counter[object] = Counter()
    place = []
    for cell in ordered:
        count[kind_of(cell)] += 1
        place.append(count[kind_of(cell)])
    return [ordered[i] for i in np.argsort(place, kind="stable")]


def tried(cells: list[Cell], seconds: dict[str, float], budget: float) -> list[Cell]:
    """The first of these cells, at least one, whose stored seconds fit the budget: the same ones on every machine."""
    spent, n_tried = 0.0, 0
    for cell in cells:
        expected = seconds.get(key_of(cell)) or seconds_left([cell], seconds)
        spent += max(UNKNOWN if expected is None else expected, LEAST)
        if n_tried and spent > budget:
            break
        n_tried += 1
    return cells[:n_tried]


def different(stored: Any, fresh: Any, tolerance: float) -> bool:
    """Whether numbers differ by more than the tolerance, or anything else at all."""
    if isinstance(stored, dict) and isinstance(fresh, dict):
        return stored.keys() != fresh.keys() or any(different(stored[key], fresh[key], tolerance) for key in stored)
    if isinstance(stored, list) and isinstance(fresh, list):
        return len(stored) != len(fresh) or any(map(different, stored, fresh, [tolerance] * len(stored)))
    if isinstance(stored, int | float) and isinstance(fresh, int | float):
        return not np.isclose(stored, fresh, rtol=tolerance, atol=tolerance, equal_nan=True)
    return bool(stored != fresh)


def stale(name: str, budget: float) -> dict[str, tuple[Values, Values]]:
    """Cells that come out differently, with what is stored and what comes out, among those that fit the seconds."""
    experiment = experiments()[name]
    stored = read_store(store_of(RESULTS, experiment), experiment)
    scales = {scale: experiment.cells(scale, INPUTS) for scale in ("full", "quick", "check")}
    cells = {key_of(cell): cell for cells in scales.values() for cell in cells if key_of(cell) in stored.cells}
    found = {}
    for cell in tried(cheapest(list(cells.values()), stored.seconds, scales["check"]), stored.seconds, budget):
        key = key_of(cell)
        alone = Experiment(experiment.id, "", "", lambda scale, inputs, cell=cell: [cell], experiment.compute)
        try:
            ((_, fresh),) = run(alone, "check", INPUTS)
        except ImportError:  # computed where the package was installed
            continue
        both = (stored.cells[key], fresh)
        old, new = ({name: value for name, value in one.items() if name not in experiment.timings} for one in both)
        if different(old, new, experiment.tolerance):
            found[key] = (old, new)
    return found


@pytest.fixture(scope="module")
def as_stored():
    """A process of its own, in which cells are computed as those that are stored: its kernels are not chosen yet."""
    with ProcessPoolExecutor(1, get_context("spawn"), use_common_kernels) as process:
        yield process


@pytest.mark.parametrize("experiment", STORED, ids=lambda one: one.id)
def test_stored_cells_come_out_again(experiment, as_stored):
    if any(getattr(INPUTS, name) is None for name in experiment.needs):
        pytest.skip("needs data that are not here")
    found = as_stored.submit(stale, experiment.id, BUDGET).result()
    assert found == {}, f"move {store_of(RESULTS, experiment)} away and run it again"


def test_the_cheapest_cell_of_each_kind_comes_first():
    cells = [{"method": method, "seed": seed} for method in ("a", "b", "c") for seed in range(3)]
    seconds = dict(zip(map(key_of, cells[:6]), [3, 2, 1, 0.1, 0.2, 0.3], strict=True))
    order = [cells.index(cell) for cell in cheapest(cells, seconds, [cells[7]])]
    assert order == [3, 2, 7, 4, 1, 6, 5, 0, 8]


def test_stored_seconds_say_how_many_cells_are_tried():
    cells = [{"method": "a", "seed": seed} for seed in range(4)]
    seconds = dict(zip(map(key_of, cells), [0.5, 1.0, 1.0], strict=False))
    assert tried(cells, seconds, 2.0) == cells[:2]
    assert tried(cells, seconds, 0.1) == cells[:1]
    assert tried(cells, seconds, 3.4) == cells[:4]  # the fourth counts as the mean of the others
    assert tried(cells, {}, 2.5 * UNKNOWN) == cells[:2]
    assert tried(cells, dict.fromkeys(map(key_of, cells), 0.0), 2.5 * LEAST) == cells[:2]


@pytest.mark.parametrize(
    ("stored", "fresh", "expected"),
    [
        ({"a": [1.0, 2]}, {"a": [1.0 + 1e-12, 2.0]}, False),
        ({"a": [1.0, 2]}, {"a": [1.0 + 1e-6, 2]}, True),
        ({"a": [1.0, 2]}, {"a": [1.0]}, True),
        ({"a": 1}, {"b": 1}, True),
        ({"a": None}, {"a": 0.0}, True),
        ({"a": {"x1": 50}}, {"a": {"x2": 50}}, True),
        ({"a": float("nan")}, {"a": float("nan")}, False),
    ],
)
def test_values_differ_beyond_the_tolerance(stored, fresh, expected):
    assert different(stored, fresh, 1e-9) == expected
