"""The JSON file of an experiment's finished cells, with date and versions; `runner` reads and writes it."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import date
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from rankwise_reproductions.experiment import Cell, Experiment, Inputs, Scale, Values, key_of

# What figures may depend on.
_PACKAGES = ("rankwise", "numpy", "scipy", "scikit-learn", "numba", "lightgbm")
_OPTIONAL_PACKAGES = ("torch", "stochtree", "skglm")


@dataclass
class Stored:
    """Finished cells of an experiment, by the text of the cell.

    Attributes
    ----------
    cells : dict
        What each gave.
    seconds : dict
        The processor's seconds that each took, where they are known.
    runs : list of dict
        When and with which versions they were computed, oldest first.
    """

    cells: dict[str, Values] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    runs: list[dict[str, Any]] = field(default_factory=list)


def made(path: Path | None = None) -> dict[str, Any]:
    """When the cells of a store were computed and with which versions; today's, without a store.

    A store that was continued on another day or with other versions names those of its earlier runs too, oldest first.
    """
    if path is not None and path.exists():
        record = json.loads(path.read_text("utf-8"))
        return {name: record[name] for name in ("date", "versions")} | {"earlier": record.get("earlier", [])}
    names = [*_PACKAGES, *(name for name in _OPTIONAL_PACKAGES if find_spec(name))]
    return {"date": date.today().isoformat(), "versions": {name: version(name) for name in names}, "earlier": []}


def read_store(path: Path | None, experiment: Experiment) -> Stored:
    """The finished cells of a store; none, if there is no such file."""
    if path is None or not path.exists():
        return Stored()
    try:
        record = json.loads(path.read_text("utf-8"))
        owner, cells = record["experiment"], dict(record["cells"])
        runs = [*record.get("earlier", []), {name: record[name] for name in ("date", "versions")}]
        # A list in the order of the cells, whose long names would otherwise be there twice.
        seconds = dict(zip(cells, record.get("seconds") or [None] * len(cells), strict=True))
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{path} does not hold finished cells ({error!r}); move it away to start again") from None
    if owner != experiment.id:
        raise ValueError(f"{path} holds cells of {owner}, not of {experiment.id}; choose another --out")
    return Stored(cells, {key: taken for key, taken in seconds.items() if taken is not None}, runs)


def write_store(path: Path | None, experiment: Experiment, stored: Stored) -> None:
    """Write all cells, with today's date; a reader finds the old file or the new one, never a part."""
    if path is None:
        return
    now = made()
    others = [one for one in stored.runs if any(one[name] != now[name] for name in ("date", "versions"))]
    record = {"experiment": experiment.id, **now, "earlier": others}
    record["seconds"] = [stored.seconds.get(key) for key in stored.cells]
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    part.write_text(_text(record, stored.cells), encoding="utf-8")
    part.replace(path)


def complete_scale(path: Path | None, experiment: Experiment, inputs: Inputs) -> tuple[Scale, list[Cell]] | None:
    """The largest scale all of whose cells are stored, with these cells; None if there is none."""
    if experiment.cells_from_data and any(getattr(inputs, name) is None for name in experiment.needs):
        return None
    stored = read_store(path, experiment).cells
    scales: tuple[Scale, ...] = ("full", "quick", "check")
    for scale in scales:
        cells = experiment.cells(scale, inputs)
        if all(key_of(cell) in stored for cell in cells):
            return scale, cells
    return None


def _text(record: dict[str, Any], cells: dict[str, Values]) -> str:
    """JSON with a line for each cell, so that a store can be read and compared."""
    lines = [f" {json.dumps(name)}: {json.dumps(value)}" for name, value in record.items()]
    shown = [f"  {json.dumps(key)}: {json.dumps(values)}" for key, values in cells.items()]
    return "{\n" + ",\n".join([*lines, ' "cells": {\n' + ",\n".join(shown) + "\n }"]) + "\n}\n"
