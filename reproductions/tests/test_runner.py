"""Cells are computed once: a run that was interrupted continues, and a damaged store is named."""

from __future__ import annotations

import json

import numpy as np
import pytest

from rankwise_reproductions import catalog
from rankwise_reproductions.catalog import chosen
from rankwise_reproductions.experiment import Cell, Experiment, Inputs, Results
from rankwise_reproductions.runner import made, run

INPUTS = Inputs()


def cells(scale: str, inputs: Inputs) -> list[Cell]:
    return [{"level": level, "seed": seed} for level in (0, 1) for seed in range(3 if scale == "full" else 2)]


def square(cell: Cell, inputs: Inputs) -> dict[str, float]:
    return {"square": float(10 * cell["level"] + cell["seed"]) ** 2, "list": [1, 2]}


EXPERIMENT = Experiment("tree-ranking/squares", "Squares", "About squares.", cells, square)


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_cells_come_in_order_whatever_the_jobs(n_jobs):
    steps = []
    results = run(EXPERIMENT, "full", INPUTS, n_jobs=n_jobs, on_step=lambda done, total: steps.append((done, total)))
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
    with pytest.raises(ValueError, match=r"no experiment or paper 'squares'; known are all, label-ranking, .*/cubes"):
        chosen("squares")
