"""The files of a finished experiment: next to the store of its cells a table, pictures and a page."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rankwise_reproductions.catalog import PAPERS
from rankwise_reproductions.experiment import Experiment, Results
from rankwise_reproductions.outcome import Outcome
from rankwise_reproductions.page import experiment_page, paper_page

#: inches of a picture, which the function that draws it may change
_PICTURE_SIZE = (7.0, 4.2)
_DOTS_PER_INCH = 110


def store_of(folder: Path, experiment: Experiment) -> Path:
    """Where the cells of an experiment are kept: ``label_ranking/figure_1.json`` for ``label-ranking/figure-1``.

    The names are those of the modules, so that stored results stand next to the code that made them.
    """
    return folder / _folder_name(experiment.paper) / f"{re.sub('[-.]', '_', experiment.id.split('/')[1])}.json"


def write_outputs(folder: Path, outcome: Outcome) -> dict[str, str]:
    """Write ``<what>.csv``, ``<what>_<picture>.png`` and ``<what>.html`` next to the store.

    Parameters
    ----------
    folder : Path
        Of all papers.
    outcome : Outcome
        What came out.

    Returns
    -------
    dict
        The pictures as SVG, by name.
    """
    from rankwise.plots.svg import inline_svg

    store = store_of(folder, outcome.experiment)
    store.parent.mkdir(parents=True, exist_ok=True)
    _write_cells(store.with_suffix(".csv"), outcome.results)
    pictures = {}
    for name, draw in outcome.experiment.pictures.items():
        figure = _drawn(draw, outcome.results)
        picture = _sibling(store, f"_{name.replace('-', '_')}.png")
        figure.savefig(picture, dpi=_DOTS_PER_INCH, metadata={"Software": None})
        title = name.replace("-", " ").capitalize()
        pictures[name] = inline_svg(figure, f"{outcome.experiment.id}-{name}", title=title)
    _sibling(store, ".html").write_text(
        experiment_page(PAPERS[outcome.experiment.paper], outcome, pictures), encoding="utf-8"
    )
    return pictures


def write_paper(
    folder: Path, paper: str, finished: Sequence[tuple[Outcome, Mapping[str, str]]], left_out: Mapping[str, str]
) -> Path:
    """Write ``<paper>/index.html`` with what of the finished belongs to the paper, and say where it is."""
    path = folder / _folder_name(paper) / "index.html"
    path.parent.mkdir(parents=True, exist_ok=True)
    own = [one for one in finished if one[0].experiment.paper == paper]
    missing = {name: why for name, why in left_out.items() if name.startswith(f"{paper}/")}
    path.write_text(paper_page(PAPERS[paper], own, missing), encoding="utf-8")
    return path


def _folder_name(paper: str) -> str:
    return paper.replace("-", "_")


def _sibling(store: Path, end: str) -> Path:
    return store.with_name(store.stem + end)


def _drawn(draw: Any, results: Results) -> Any:
    from matplotlib.figure import Figure

    figure = Figure(figsize=_PICTURE_SIZE, layout="constrained")
    draw(results, figure)
    return figure


def _write_cells(path: Path, results: Results) -> None:
    """One row per cell: its settings, then its values; lists as JSON."""
    settings = dict.fromkeys(name for cell, _ in results for name in cell)
    values = dict.fromkeys(name for _, found in results for name in found)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([*settings, *values])
        for cell, found in results:
            writer.writerow(
                [*(_text(cell.get(name)) for name in settings), *(_text(found.get(name)) for name in values)]
            )


def _text(value: Any) -> Any:
    return json.dumps(value) if isinstance(value, list | dict) else value
