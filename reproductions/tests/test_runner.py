"""Cells are computed once: a run that was interrupted continues, and a damaged store is named."""

from __future__ import annotations

import json
import time

import numpy as np
import pytest

from rankwise_reproductions import catalog
from rankwise_reproductions.catalog import chosen
from rankwise_reproductions.experiment import Cell, Experiment, Inputs, Results
from rankwise_reproductions.runner import run, seconds_left
from rankwise_reproductions.store import complete_scale, made, read_store

INPUTS = Inputs()


def cells(scale: str, inputs: Inputs) -> list[Cell]:
    return [{"level": level, "seed": seed} for level in (0, 1) for seed in range(3 if scale == "full" else 2)]


def square(cell: Cell, inputs: Inputs) -> dict[str, float]:
    return {"square": float(10 * cell["level"] + cell["seed"]) ** 2, "list": [1, 2]}


EXPERIMENT = Experiment("tree-ranking/squares", "Squares", "About squares.", cells, square)


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_cells_come_in_order_whatever_the_jobs(n_jobs):
    steps = []
    results = run(
        EXPERIMENT, "full", INPUTS, n_jobs=n_jobs, on_step=lambda done, total, left: steps.append((done, total))
    )
    assert [cell for cell, _ in results] == cells("full", INPUTS)
    assert results.values("square").tolist() == [0, 1, 4, 100, 121, 144]
    assert steps == [(done, 6) for done in range(7)]


def test_an_interrupted_run_continues(tmp_path):
    store = tmp_path / "paper" / "squares.json"
    computed = []

    def interrupted(cell: Cell, inputs: Inputs) -> dict[str, float]:
        if len(computed) == 4 and not store.exists():
            raise KeyboardInterrupt
        computed.append(cell)
        return square(cell, inputs)

    experiment = Experiment("tree-ranking/squares", "", "", cells, interrupted)
    with pytest.raises(KeyboardInterrupt):
        run(experiment, "full", INPUTS, store)
    assert len(json.loads(store.read_text())["cells"]) == 4
    results = run(experiment, "full", INPUTS, store)
    assert computed == cells("full", INPUTS)  # none of them twice
    assert list(results) == list(run(EXPERIMENT, "full", INPUTS))
    written = store.read_text()
    run(experiment, "quick", INPUTS, store)  # a part of what is there
    assert len(computed) == 6
    assert store.read_text() == written
    assert not list(tmp_path.rglob("*.part"))


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "3", '{"cells": {}}', '{"experiment": "tree-ranking/squares", "cells": 3}']
)
def test_a_damaged_store_is_an_error(tmp_path, text):
    store = tmp_path / "squares.json"
    store.write_text(text)
    with pytest.raises(ValueError, match=r"squares\.json does not hold finished cells .*; move it away to start again"):
        run(EXPERIMENT, "full", INPUTS, store)
    assert store.read_text() == text


def test_a_store_of_another_experiment_is_an_error(tmp_path):
    store = tmp_path / "squares.json"
    run(EXPERIMENT, "quick", INPUTS, store)
    other = Experiment("tree-ranking/cubes", "", "", cells, square)
    with pytest.raises(ValueError, match="holds cells of tree-ranking/squares, not of tree-ranking/cubes"):
        run(other, "quick", INPUTS, store)


def test_missing_data_name_the_option():
    needy = Experiment("tree-ranking/squares", "", "", cells, square, needs=("data", "sushi"))
    with pytest.raises(FileNotFoundError, match=r"squares needs data .* with --data and --sushi"):
        run(needy, "quick", INPUTS)


def test_the_store_says_when_and_with_what(tmp_path):
    store = tmp_path / "squares.json"
    run(EXPERIMENT, "quick", INPUTS, store)
    assert made(store) == made()
    record = json.loads(store.read_text())
    store.write_text(json.dumps({**record, "date": "2001-01-01"}))
    run(EXPERIMENT, "quick", INPUTS, store)  # nothing to do: the date stays
    assert made(store)["date"] == "2001-01-01"
    run(EXPERIMENT, "full", INPUTS, store)  # some cells are of today, and some are not
    assert made(store) == {**made(), "earlier": [{"date": "2001-01-01", "versions": made()["versions"]}]}


def needs_a_package(cell: Cell, inputs: Inputs) -> dict[str, float]:
    if cell["level"]:
        raise ImportError("BART needs stochtree: pip install 'rankwise[bart]'")
    return square(cell, inputs)


def test_cells_without_their_package_are_left_out_by_name_and_stored_ones_are_used(tmp_path):
    store = tmp_path / "squares.json"
    bare = Experiment("tree-ranking/squares", "", "", cells, needs_a_package)
    results = run(bare, "full", INPUTS, store)
    assert results.left_out == {"BART needs stochtree: pip install 'rankwise[bart]'": 3}
    assert results.settings("level") == [0]
    whole = run(EXPERIMENT, "full", INPUTS, store)
    written = store.read_text()
    again = run(bare, "full", INPUTS, store)
    assert list(again) == list(whole)
    assert again.left_out == {}
    assert store.read_text() == written


def test_stored_cells_of_other_data_are_counted(tmp_path):
    store = tmp_path / "squares.json"
    more = Experiment(
        "tree-ranking/squares", "", "", lambda scale, inputs: [*cells(scale, inputs), {"level": 2, "seed": 0}], square
    )
    assert run(more, "full", INPUTS, store).n_others == 0
    assert run(EXPERIMENT, "quick", INPUTS, store).n_others == 1


def test_an_experiment_without_any_cell_is_an_error():
    def compute(cell: Cell, inputs: Inputs) -> dict[str, float]:
        raise ModuleNotFoundError("No module named 'skglm'")

    with pytest.raises(ImportError, match=r"No module named 'skglm': pip install './reproductions\[all\]'"):
        run(Experiment("tree-ranking/squares", "", "", cells, compute), "full", INPUTS)


def test_seconds_are_stored_and_tell_how_long_the_rest_takes(tmp_path):
    def busy(cell: Cell, inputs: Inputs) -> dict[str, float]:
        started = time.process_time()
        while time.process_time() - started < 0.02:
            pass
        return square(cell, inputs)

    store, left = tmp_path / "squares.json", []
    experiment = Experiment("tree-ranking/squares", "", "", cells, busy)
    run(experiment, "quick", INPUTS, store, on_step=lambda done, total, seconds: left.append(seconds))
    assert left[0] is None
    stored = read_store(store, experiment)
    assert list(stored.seconds) == list(stored.cells)
    assert all(0.02 <= seconds < 1 for seconds in stored.seconds.values())
    run(experiment, "full", INPUTS, store, on_step=lambda done, total, seconds: left.append(seconds))
    assert 0.04 <= left[5] < 2  # two cells are missing
    record = json.loads(store.read_text())
    del record["seconds"]  # as in the stores of earlier versions
    store.write_text(json.dumps(record))
    assert read_store(store, experiment).seconds == {}


def test_a_cell_takes_as_long_as_those_most_like_it():
    seconds = {
        '{"method": "a", "n": 1, "seed": 0}': 1.0,
        '{"method": "a", "n": 1, "seed": 1}': 3.0,
        '{"method": "a", "n": 5, "seed": 0}': 11.0,
        '{"method": "b", "n": 1, "seed": 0}': 85.0,
    }
    assert seconds_left([{"method": "a", "n": 1, "seed": 2}], seconds) == 2
    assert seconds_left([{"method": "a", "n": 9, "seed": 2}], seconds) == 5
    assert seconds_left([{"method": "c", "n": 1, "seed": 0}], seconds) == 25
    assert seconds_left([{"method": "a", "n": 1, "seed": 2}] * 4, seconds) == 8
    assert seconds_left([], {}) == 0
    assert seconds_left([{"seed": 0}], {}) is None


def test_the_largest_complete_scale(tmp_path):
    store = tmp_path / "squares.json"
    assert complete_scale(store, EXPERIMENT, INPUTS) is None
    run(EXPERIMENT, "quick", INPUTS, store)
    assert complete_scale(store, EXPERIMENT, INPUTS) == ("quick", cells("quick", INPUTS))
    run(EXPERIMENT, "full", INPUTS, store)
    assert complete_scale(store, EXPERIMENT, INPUTS) == ("full", cells("full", INPUTS))


def test_results_select_and_average():
    results = run(EXPERIMENT, "full", INPUTS)
    one = results.select(level=1)
    assert len(one) == 3
    assert results.settings("level") == [0, 1]
    assert one.mean("square") == np.mean([100, 121, 144])
    assert one.error("square") == pytest.approx(np.std([100, 121, 144], ddof=1) / np.sqrt(3))
    assert np.isnan(one.select(seed=0).error("square"))
    assert np.isnan(Results([]).mean("square"))


def test_experiments_are_chosen_by_id_paper_or_all(monkeypatch):
    other = Experiment("label-ranking/cubes", "", "", cells, square)
    found = {one.id: one for one in (other, EXPERIMENT)}
    monkeypatch.setattr(catalog, "experiments", lambda: found)
    assert chosen("tree-ranking/squares") == chosen("tree-ranking") == [EXPERIMENT]
    assert chosen("all") == [other, EXPERIMENT]
    with pytest.raises(ValueError, match=r"'squares'; did you mean tree-ranking/squares\? See `rankwise rep"):
        chosen("squares")
