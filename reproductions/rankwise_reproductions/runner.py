"""Compute the cells of an experiment, each once: they are stored as they come, and a second run continues."""

from __future__ import annotations

import json
import time
import warnings
from collections.abc import Callable
from datetime import date
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from rankwise_reproductions.experiment import Cell, Experiment, Inputs, Results, Scale, Values, key_of

# Finished cells are many and small: writing them all after each would take longer than some of them.
_SECONDS_BETWEEN_WRITES = 1.0

# What figures may depend on.
_PACKAGES = ("rankwise", "numpy", "scipy", "scikit-learn", "numba", "lightgbm")
_OPTIONAL_PACKAGES = ("torch", "stochtree", "skglm")


def run(
    experiment: Experiment,
    scale: Scale,
    inputs: Inputs,
    store: Path | None = None,
    *,
    n_jobs: int | None = None,
    on_step: Callable[[int, int], None] = lambda done, total: None,
) -> Results:
    """Compute what is not stored yet.

    Parameters
    ----------
    experiment : Experiment
        What to run.
    scale : {"full", "quick", "check"}
        How much of it.
    inputs : Inputs
        Data from outside the package.
    store : Path, optional
        JSON file of finished cells, read and written; None keeps them in memory only.
    n_jobs : int, optional
        Processes; None is one. The results do not depend on it. Timed experiments use one.
    on_step : callable
        Called with the numbers of cells done and in total.

    Returns
    -------
    Results
        The cells of this scale, in order.
    """
    missing = [f"--{name}" for name in experiment.needs if getattr(inputs, name) is None]
    if missing:
        raise FileNotFoundError(
            f"{experiment.id} needs data from outside the package: say where they are with {' and '.join(missing)}"
        )
    cells = experiment.cells(scale, inputs)
    finished, earlier = _read(store, experiment)
    to_do = [cell for cell in cells if key_of(cell) not in finished]
    on_step(len(cells) - len(to_do), len(cells))
    parallel = Parallel(n_jobs=1 if experiment.timed else n_jobs, return_as="generator")
    outcomes = parallel(delayed(_compute)(experiment.compute, cell, inputs) for cell in to_do)
    written = time.monotonic()
    try:
        for number, (cell, values) in enumerate(zip(to_do, outcomes, strict=True), start=1):
            finished[key_of(cell)] = values
            if time.monotonic() - written > _SECONDS_BETWEEN_WRITES:
                _write(store, experiment, finished, earlier)
                written = time.monotonic()
            on_step(len(cells) - len(to_do) + number, len(cells))
    finally:  # an interrupted run keeps what is done, and one with nothing to do its date
        if to_do:
            _write(store, experiment, finished, earlier)
    return Results([(cell, finished[key_of(cell)]) for cell in cells])


def made(store: Path | None = None) -> dict[str, Any]:
    """When the cells of a store were computed and with which versions; today's, without a store.

    A store that was continued on another day or with other versions names those of its earlier runs too, oldest first.
    """
    if store is not None and store.exists():
        record = json.loads(store.read_text("utf-8"))
        return {name: record[name] for name in ("date", "versions")} | {"earlier": record.get("earlier", [])}
    names = [*_PACKAGES, *(name for name in _OPTIONAL_PACKAGES if find_spec(name))]
    return {"date": date.today().isoformat(), "versions": {name: version(name) for name in names}, "earlier": []}


def _compute(compute: Callable[[Cell, Inputs], Values], cell: Cell, inputs: Inputs) -> Values:
    # Cells share the processors among them; threads of libraries within small cells only wait for each other.
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")  # hundreds of fits: what matters is in the claims
        # Through JSON, so that a fresh cell is the same as a stored one.
        return json.loads(json.dumps(compute(cell, inputs)))


def _read(store: Path | None, experiment: Experiment) -> tuple[dict[str, Values], list[dict[str, Any]]]:
    """The finished cells, and the runs that they come from, oldest first."""
    if store is None or not store.exists():
        return {}, []
    try:
        record = json.loads(store.read_text("utf-8"))
        owner, cells = record["experiment"], dict(record["cells"])
        runs = [*record.get("earlier", []), {name: record[name] for name in ("date", "versions")}]
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{store} does not hold finished cells ({error!r}); move it away to start again") from None
    if owner != experiment.id:
        raise ValueError(f"{store} holds cells of {owner}, not of {experiment.id}; choose another --out")
    return cells, runs


def _write(
    store: Path | None, experiment: Experiment, finished: dict[str, Values], earlier: list[dict[str, Any]]
) -> None:
    if store is None:
        return
    now = made()
    others = [one for one in earlier if any(one[name] != now[name] for name in ("date", "versions"))]
    record = {"experiment": experiment.id, **now, "earlier": others}
    store.parent.mkdir(parents=True, exist_ok=True)
    part = store.with_suffix(".part")
    part.write_text(_text(record, finished), encoding="utf-8")
    part.replace(store)


def _text(record: dict[str, Any], finished: dict[str, Values]) -> str:
    """JSON with a line for each cell, so that a store can be read and compared."""
    lines = [f" {json.dumps(name)}: {json.dumps(value)}" for name, value in record.items()]
    cells = [f"  {json.dumps(key)}: {json.dumps(values)}" for key, values in finished.items()]
    return "{\n" + ",\n".join([*lines, ' "cells": {\n' + ",\n".join(cells) + "\n }"]) + "\n}\n"
