"""Compute the cells of an experiment, each once: they are stored as they come, and a second run continues."""

from __future__ import annotations

import json
import time
import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

from joblib import Parallel, delayed, effective_n_jobs
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from rankwise_reproductions.experiment import Cell, Experiment, Inputs, Results, Scale, Values, key_of, kind_of
from rankwise_reproductions.store import read_store, write_store

# Finished cells are many and small: writing them all after each would take longer than some of them.
_SECONDS_BETWEEN_WRITES = 1.0

#: called with the numbers of cells done and in total, and the seconds that are left, None if nothing is known yet
OnStep = Callable[[int, int, float | None], None]


def run(
    experiment: Experiment,
    scale: Scale,
    inputs: Inputs,
    store: Path | None = None,
    *,
    n_jobs: int | None = None,
    on_step: OnStep = lambda done, total, left: None,
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
        Called with the numbers of cells done and in total, and an estimate of the seconds left.

    Returns
    -------
    Results
        The cells of this scale, in order, without those that need a package which is not installed; these are counted
        in ``left_out``.
    """
    missing = [f"--{name}" for name in experiment.needs if getattr(inputs, name) is None]
    stored = read_store(store, experiment)
    cells = [] if missing and experiment.cells_from_data else experiment.cells(scale, inputs)
    to_do = [cell for cell in cells if key_of(cell) not in stored.cells]
    if missing and (to_do or not cells):
        raise FileNotFoundError(
            f"{experiment.id} needs data from outside the package: say where they are with {' and '.join(missing)}"
        )
    jobs = 1 if experiment.timed else effective_n_jobs(n_jobs)
    left_out: Counter[str] = Counter()
    left = seconds_left(to_do, stored.seconds)
    on_step(len(cells) - len(to_do), len(cells), None if left is None else left / jobs)
    outcomes = Parallel(n_jobs=jobs, return_as="generator")(
        delayed(_compute)(experiment.compute, cell, inputs) for cell in to_do
    )
    written = time.monotonic()
    try:
        for number, (cell, outcome) in enumerate(zip(to_do, outcomes, strict=True), start=1):
            if isinstance(outcome, str):
                left_out[outcome] += 1
            else:
                stored.cells[key_of(cell)], stored.seconds[key_of(cell)] = outcome
            if time.monotonic() - written > _SECONDS_BETWEEN_WRITES:
                write_store(store, experiment, stored)
                left = seconds_left(to_do[number:], stored.seconds)
                written = time.monotonic()
            on_step(len(cells) - len(to_do) + number, len(cells), None if left is None else left / jobs)
    finally:  # an interrupted run keeps what is done, and one with nothing to do its date
        if len(to_do) > sum(left_out.values()):
            write_store(store, experiment, stored)
    if cells and sum(left_out.values()) == len(cells):
        raise ImportError("; ".join(left_out))
    scales: tuple[Scale, ...] = ("full", "quick", "check")
    known = {key_of(cell) for one in scales for cell in experiment.cells(one, inputs)}
    return Results(
        [(cell, stored.cells[key_of(cell)]) for cell in cells if key_of(cell) in stored.cells],
        left_out,
        n_others=len(stored.cells.keys() - known),
    )


def seconds_left(to_do: Sequence[Cell], seconds: dict[str, float]) -> float | None:
    """How long these cells will take, from the seconds of those that are finished.

    A cell takes as long as those that differ in the seed only, if there are any; else as those of its kind; else as the
    average one.
    """
    ways = (_all_but_repeats, kind_of, lambda cell: ())
    taken: list[dict[object, list[float]]] = [{} for _ in ways]
    for key, one in seconds.items():
        cell = json.loads(key)
        for way, found in zip(ways, taken, strict=True):
            found.setdefault(way(cell), []).append(one)
    means = [{kind: sum(some) / len(some) for kind, some in found.items()} for found in taken]
    if to_do and not seconds:
        return None
    return sum(
        next(found[way(cell)] for way, found in zip(ways, means, strict=True) if way(cell) in found) for cell in to_do
    )


def _all_but_repeats(cell: Cell) -> str:
    return key_of({name: value for name, value in cell.items() if name not in ("seed", "fold", "repeat", "split")})


def _compute(compute: Callable[[Cell, Inputs], Values], cell: Cell, inputs: Inputs) -> tuple[Values, float] | str:
    """The values of a cell and its seconds; or which package it needs, if that is not installed."""
    started = time.process_time()
    # Cells share the processors among them; threads of libraries within small cells only wait for each other.
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")  # hundreds of fits: what matters is in the claims
        try:
            # Through JSON, so that a fresh cell is the same as a stored one.
            values = json.loads(json.dumps(compute(cell, inputs)))
        except ImportError as error:
            return str(error) if "pip install" in str(error) else f"{error}: pip install './reproductions[all]'"
    return values, round(time.process_time() - started, 3)
