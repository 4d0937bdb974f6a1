"""Binding energies of single atoms on oxides: the data of iBART, which Luo and Li build on, screened by T0."""

from __future__ import annotations

import csv
import gzip
import re
import time
from pathlib import Path
from typing import Any

import numpy as np

from rankwise.screening import ConcordanceSelector, SymbolicFeatures
from rankwise_reproductions.drawing import BLUE, ORANGE, tidy
from rankwise_reproductions.experiment import Cell, Claim, Comparison, Experiment, Inputs, Results, Scale, Values

#: root mean squared errors and seconds of iBART, Ye, Senftle, Li (2024)
PUBLISHED_RMSE, PUBLISHED_SECONDS = (0.929, 0.664, 0.624), 135
N_KEPT = 50


def _cells(scale: Scale, inputs: Inputs) -> list[Cell]:
    return [{"terms": len(PUBLISHED_RMSE), "kept": N_KEPT}]


def _compute(cell: Cell, inputs: Inputs) -> Values:
    names, table = _read(inputs, "catalysis")
    named, units = _read(inputs, "units")
    inputs_of = [name for name in names if name != "binding_energy"]
    X = table[:, [names.index(name) for name in inputs_of]]
    features = SymbolicFeatures(
        "bu",
        unary=("id", "square", "sqrt", "inverse", "exp", "log", "abs"),
        binary=("+", "-", "*", "/", "|-|"),
        pool="cumulative",
        units=units[:, [named.index(name) for name in inputs_of]].T,
    )
    selector = ConcordanceSelector(cell["kept"], features=features, n_terms=cell["terms"])
    started = time.process_time()
    selector.fit(X, table[:, names.index("binding_energy")])
    seconds = time.process_time() - started
    return {
        "rmse": [float(model.rmse) for model in selector.models_],
        "models": [_named(model.formula(selector.table_["feature"]), inputs_of) for model in selector.models_],
        "candidates": int(selector.n_candidates_),
        "seconds": round(seconds, 3),
    }


def _read(inputs: Inputs, name: str) -> tuple[list[str], Any]:
    """Names of the columns, and the rows."""
    path = Path(inputs.data or "") / "single-atom-catalysis" / f"{name}.csv.gz"
    if not path.exists():
        raise FileNotFoundError(f"tree-ranking/catalysis needs {path}, of the R package iBART")
    with gzip.open(path, "rt", encoding="utf-8") as file:
        head, *rows = csv.reader(file)
    return head, np.array(rows, dtype=float)


def _named(formula: str, names: list[str]) -> str:
    """A formula with column names instead of x0, x1, ..."""
    return re.sub(r"\bx(\d+)\b", lambda match: names[int(match[1])], formula)


def _compare(results: Results) -> list[Comparison]:
    ((_, found),) = results
    rows = [
        Comparison(
            f"root mean squared error of the best {terms}-term model: {model}",
            f"{published} (iBART)",
            rmse,
            None,
            "not in the paper",
            "another method on the same data: an extra",
        )
        for terms, (published, rmse, model) in enumerate(
            zip(PUBLISHED_RMSE, found["rmse"], found["models"], strict=True), start=1
        )
    ]
    rows.append(
        Comparison(
            "seconds",
            f"{PUBLISHED_SECONDS} (iBART)",
            found["seconds"],
            None,
            "not in the paper",
            f"{found['candidates']:,} expressions in each of {len(rows)} rounds, on another machine",
        )
    )
    return rows


def _claims(results: Results) -> list[Claim]:
    ((_, found),) = results
    return [
        Claim(
            "Screening by T0 in rounds finds a three-term model no worse than iBART's",
            found["rmse"][-1] <= PUBLISHED_RMSE[-1],
            f"{found['rmse'][-1]:.3f} against {PUBLISHED_RMSE[-1]}: {found['models'][-1]}",
            of="rankwise",
        )
    ]


def _draw_errors(results: Results, figure: Any) -> None:
    figure.set_size_inches(5, 3.2)
    ((_, found),) = results
    ax = figure.subplots()
    terms = range(1, len(PUBLISHED_RMSE) + 1)
    ax.plot(terms, PUBLISHED_RMSE, color=ORANGE, marker="^", label="iBART, published")
    ax.plot(terms, found["rmse"], color=BLUE, marker="o", label="rounds of T0")
    ax.set_xticks(list(terms))
    ax.set_ylim(bottom=0)
    ax.legend(fontsize=8, frameon=False)
    tidy(ax, x="terms of the model", y="root mean squared error (eV)")


EXPERIMENTS = (
    Experiment(
        id="tree-ranking/catalysis",
        title="An extra: binding energies of single atoms on oxides",
        about=(
            "Not in the paper, but in the work on symbolic regression that it builds on (iBART: Ye, Senftle, Li 2024): "
            "91 metals on oxides, 59 physical inputs with units. Expressions of two layers that respect the units are "
            "screened by T0 in three rounds, the later ones on residuals, and the best linear models of up to three of "
            "the kept expressions are compared with the published ones. Seconds at every scale. Needs the data in "
            "single-atom-catalysis/ of the data folder."
        ),
        cells=_cells,
        compute=_compute,
        compare=_compare,
        claims=_claims,
        any_scale=True,
        timings=("seconds",),
        pictures={"errors": _draw_errors},
        needs=("data",),
    ),
)
