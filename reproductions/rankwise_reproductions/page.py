"""Pages of experiments and papers, each in one file that needs nothing else."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from rankwise._html import page, table
from rankwise_reproductions.catalogue import Paper
from rankwise_reproductions.outcome import CLAIM_COLUMNS, COMPARISON_COLUMNS, Outcome

_SCALES = {
    "full": "as in the paper, or nearly",
    "quick": "fewer repeats than in the paper, for minutes instead of hours",
    "check": "just enough to check the claims",
}


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
    body = "\n".join([_source(paper), *_parts(outcome, pictures)])
    return page(f"{outcome.experiment.id}: {outcome.experiment.title}", body, _made(outcome))


def paper_page(paper: Paper, finished: Sequence[tuple[Outcome, Mapping[str, str]]], left_out: Mapping[str, str]) -> str:
    """The page of a paper: a summary, then all its experiments.

    Parameters
    ----------
    paper : Paper
        Which.
    finished : sequence of (Outcome, mapping)
        Outcomes with their pictures.
    left_out : mapping
        From the id of an experiment that was not run to why.

    Returns
    -------
    str
        HTML.
    """
    rows = [[one.experiment.id, one.experiment.title, one.scale, one.summary()] for one, _ in finished]
    rows += [[name, "", "not run", why] for name, why in left_out.items()]
    body = [_source(paper), "<h2>Summary</h2>", table(["experiment", "title", "scale", "outcome"], rows)]
    for outcome, pictures in finished:
        body.append(f"<h1>{escape(outcome.experiment.id)}: {escape(outcome.experiment.title)}</h1>")
        body += _parts(outcome, pictures)
        body.append(f'<p class="note">{_made(outcome)}</p>')
    return page(paper.title, "\n".join(body), f"Made by <code>rankwise reproduce {escape(paper.name)}</code>.")


def _source(paper: Paper) -> str:
    return f'<p class="note">{escape(paper.authors)}: {escape(paper.title)}. {escape(paper.source)}.</p>'


def _parts(outcome: Outcome, pictures: Mapping[str, str]) -> list[str]:
    parts = [f"<p>{escape(paragraph)}</p>" for paragraph in outcome.experiment.about.strip().split("\n\n")]
    if outcome.comparisons:
        # Where all agree there are no reasons, and no column for them.
        shown = len(COMPARISON_COLUMNS) - (not any(row.reason for row in outcome.comparisons))
        rows = [row[:shown] for row in outcome.comparison_rows()]
        parts += ["<h2>The paper's figures and ours</h2>", table(COMPARISON_COLUMNS[:shown], rows)]
    if outcome.claims:
        parts += ["<h2>Claims</h2>", table(CLAIM_COLUMNS, outcome.claim_rows())]
    parts += [
        f"<section>\n<h2>{escape(name.replace('-', ' ').capitalize())}</h2>\n<figure>\n{svg}\n</figure>\n</section>"
        for name, svg in pictures.items()
    ]
    return parts


def _made(outcome: Outcome) -> str:
    experiment = outcome.experiment
    words = ["rankwise", "reproduce", experiment.id, *(["--quick"] if outcome.scale == "quick" else [])]
    words += [word for name in experiment.needs for word in (f"--{name}", "FOLDER")]
    runs = [outcome.made, *reversed(outcome.made["earlier"])]
    return (
        f"Scale {outcome.scale}: {_SCALES[outcome.scale]}; {len(outcome.results):,} cells. "
        f"To run it again: <code>{escape(shlex.join(words))}</code>. "
        f"Made {escape('; a part earlier, '.join(_when(one) for one in runs))}."
    )


def _when(made: Mapping[str, Any]) -> str:
    return f"on {made['date']} with " + ", ".join(f"{name} {version}" for name, version in made["versions"].items())
