"""HTML pages of experiments and papers, each a single file that loads nothing else; `outputs` writes them.

The HTML is in ``templates/``. What is said here is which parts of an outcome a page shows.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from jinja2 import ChoiceLoader, Environment, PackageLoader, PrefixLoader, StrictUndefined
from markupsafe import Markup

from rankwise_reproductions.catalog import Paper
from rankwise_reproductions.outcome import CLAIM_COLUMNS, COMPARISON_COLUMNS, Outcome

_SCALES = {
    "full": "as in the paper, or nearly",
    "quick": "fewer repeats or smaller data than in the paper, for minutes instead of hours: too small to judge",
    "check": "just enough to see that everything runs: too small to judge",
}
_ANY_SCALE = "judged at every scale, since the paper has no size here"


def experiment_page(paper: Paper, outcome: Outcome, pictures: Mapping[str, str]) -> str:
    """The page of one experiment.

    Parameters
    ----------
    paper : Paper
        Where it comes from.
    outcome : Outcome
        What came out.
    pictures : mapping
        From a name to SVG.

    Returns
    -------
    str
        HTML.
    """
    shown = _shown(outcome, pictures)
    return _templates().get_template("experiment.html.j2").render(title=shown["title"], paper=paper, shown=shown)


def paper_page(paper: Paper, finished: Sequence[tuple[Outcome, Mapping[str, str]]], left_out: Mapping[str, str]) -> str:
    """The page of a paper: a summary, then all its experiments.

    Parameters
    ----------
    paper : Paper
        Which.
    finished : sequence of (Outcome, mapping)
        Outcomes with their pictures.
    left_out : mapping
        From the id of an experiment that was not run to the reason.

    Returns
    -------
    str
        HTML.
    """
    summary = [[one.experiment.id, one.experiment.title, one.scale, one.summary()] for one, _ in finished]
    summary += [[name, "", "not run", why] for name, why in left_out.items()]
    experiments = [_shown(outcome, pictures) for outcome, pictures in finished]
    template = _templates().get_template("paper.html.j2")
    return template.render(title=paper.title, paper=paper, summary=summary, experiments=experiments)


@cache
def _templates() -> Environment:
    found = Environment(
        # The frame of the library's pages includes its styles under their own name.
        loader=ChoiceLoader(
            [
                PackageLoader("rankwise_reproductions"),
                PrefixLoader({"rankwise": PackageLoader("rankwise")}),
                PackageLoader("rankwise"),
            ]
        ),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    # Words may be broken into lines; a number with its sign and error may not.
    found.tests["wordless"] = lambda text: not any(character.isalpha() for character in text)
    return found


def _shown(outcome: Outcome, pictures: Mapping[str, str]) -> dict[str, Any]:
    """What a page shows of an experiment."""
    experiment = outcome.experiment
    tables = []
    if outcome.comparisons:
        # If everything agrees there are no reasons, and no column for them.
        n_columns = len(COMPARISON_COLUMNS) - (not any(row.reason for row in outcome.comparisons))
        rows = [row[:n_columns] for row in outcome.comparison_rows()]
        tables.append(("The paper's figures and ours", COMPARISON_COLUMNS[:n_columns], rows))
    if outcome.claims:
        tables.append(("Claims", CLAIM_COLUMNS, outcome.claim_rows()))
    command = ["rankwise", "reproduce", experiment.id, *(["--quick"] if outcome.scale == "quick" else [])]
    command += [word for name in experiment.needs for word in (f"--{name}", "FOLDER")]
    return {
        "title": f"{experiment.id}: {experiment.title}",
        "paragraphs": experiment.about.strip().split("\n\n"),
        "tables": tables,
        "pictures": {name: Markup(svg) for name, svg in pictures.items()},  # noqa: S704 (drawn by Matplotlib)
        "scale": outcome.scale,
        "scale_means": _ANY_SCALE if experiment.any_scale else _SCALES[outcome.scale],
        "notes": outcome.notes(),
        "n_cells": len(outcome.results),
        "command": shlex.join(command),
        "runs": [outcome.made, *reversed(outcome.made["earlier"])],
    }
