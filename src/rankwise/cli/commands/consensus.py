"""``rankwise consensus``: one ranking of many."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from rankwise.cli.options import Data, Jobs, Json, Read, Seed, Target, settings


class Method(StrEnum):
    """How to find a consensus."""

    KEMENY = "kemeny"
    BORDA = "borda"
    COPELAND = "copeland"
    MALLOWS = "mallows"
    PLACKETT_LUCE = "plackett-luce"


def consensus(
    file: Data,
    method: Annotated[Method, typer.Option(help="How to find it.")] = Method.KEMENY,
    time_limit: Annotated[
        float | None, typer.Option(min=0, metavar="SECONDS", help="For the proof of Kemeny's consensus; default: 60.")
    ] = None,
    bootstrap: Annotated[
        int, typer.Option(min=0, metavar="N", help="Resamples for intervals of places; 0 is none.")
    ] = 0,
    level: Annotated[float, typer.Option(help="Share of the resamples that an interval holds.")] = 0.95,
    prior: Annotated[float, typer.Option(min=0, help="Strength of the prior of plackett-luce; 0 is none.")] = 0.0,
    target: Target = None,
    read: Read = None,
    seed: Seed = 0,
    jobs: Jobs = 1,
    as_json: Json = False,
) -> None:
    """Find one ranking of many: its cost, the proof that none is better, and intervals of places."""
    from dataclasses import asdict

    from rankwise.cli import console, sources
    from rankwise.cli.consensus import consensus_tables, find_consensus, with_intervals
    from rankwise.cli.files import shown_name

    rankings = sources.load(file, target=target, reading=settings(read, "--read")).rankings
    with console.progress() as on_step:
        on_step(f"consensus by {method}", 0.0)
        found = find_consensus(rankings, method, time_limit=time_limit, prior=prior, seed=seed)
    if bootstrap:
        found = with_intervals(found, rankings, n_resamples=bootstrap, level=level, prior=prior, seed=seed, jobs=jobs)
    if as_json:
        console.print_json({"data": shown_name(file), "seed": seed, **asdict(found)})
    else:
        console.print_tables(consensus_tables(found))
