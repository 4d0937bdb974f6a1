"""Stored cells come out again with today's code: a change that alters results shows, and asks for a new run."""

from __future__ import annotations

import os
import time
from collections import Counter
from typing import Any

import numpy as np
import pytest
from reproductions.tests.stored import INPUTS, RESULTS, STORED

from rankwise_reproductions.experiment import Cell, Experiment, Values, key_of, kind_of
from rankwise_reproductions.outputs import store_of
from rankwise_reproductions.runner import run, seconds_left
from rankwise_reproductions.store import read_store

#: CPU seconds for each experiment; RECOMPUTE_SECONDS=60 looks at more cells
BUDGET = float(os.environ.get("RECOMPUTE_SECONDS", "2"))


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


def different(stored: Any, fresh: Any, tolerance: float) -> bool:
    """Whether numbers differ by more than the tolerance, or anything else at all."""
    if isinstance(stored, dict) and isinstance(fresh, dict):
        return stored.keys() != fresh.keys() or any(different(stored[key], fresh[key], tolerance) for key in stored)
    if isinstance(stored, list) and isinstance(fresh, list):
        return len(stored) != len(fresh) or any(map(different, stored, fresh, [tolerance] * len(stored)))
    if isinstance(stored, int | float) and isinstance(fresh, int | float):
        return not np.isclose(stored, fresh, rtol=tolerance, atol=tolerance, equal_nan=True)
    return bool(stored != fresh)


def stale(experiment: Experiment, budget: float) -> dict[str, tuple[Values, Values]]:
    """Cells that come out differently, with what is stored and what comes out, among those that fit the seconds."""
    stored = read_store(store_of(RESULTS, experiment), experiment)
    scales = {scale: experiment.cells(scale, INPUTS) for scale in ("full", "quick", "check")}
    cells = {key_of(cell): cell for cells in scales.values() for cell in cells if key_of(cell) in stored.cells}
    found, started, n_tried = {}, time.process_time(), 0
    for cell in cheapest(list(cells.values()), stored.seconds, scales["check"]):
        key = key_of(cell)
        expected = stored.seconds.get(key) or seconds_left([cell], stored.seconds) or 0.0
        if n_tried and time.process_time() - started + expected > budget:
            break
        alone = Experiment(experiment.id, "", "", lambda scale, inputs, cell=cell: [cell], experiment.compute)
        try:
            ((_, fresh),) = run(alone, "check", INPUTS)
        except ImportError:  # computed where the package was installed
            continue
        n_tried += 1
        both = (stored.cells[key], fresh)
        old, new = ({name: value for name, value in one.items() if name not in experiment.timings} for one in both)
        if different(old, new, experiment.tolerance):
            found[key] = (old, new)
    return found


@pytest.mark.parametrize("experiment", STORED, ids=lambda one: one.id)
def test_stored_cells_come_out_again(experiment):
    if any(getattr(INPUTS, name) is None for name in experiment.needs):
        pytest.skip("needs data that are not here")
    assert stale(experiment, BUDGET) == {}, f"move {store_of(RESULTS, experiment)} away and run it again"


def test_the_cheapest_cell_of_each_kind_comes_first():
    cells = [{"method": method, "seed": seed} for method in ("a", "b", "c") for seed in range(3)]
    seconds = dict(zip(map(key_of, cells[:6]), [3, 2, 1, 0.1, 0.2, 0.3], strict=True))
    order = [cells.index(cell) for cell in cheapest(cells, seconds, [cells[7]])]
    assert order == [3, 2, 7, 4, 1, 6, 5, 0, 8]


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
