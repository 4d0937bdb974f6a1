"""``rankwise consensus``: one ranking of many."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any

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
        int | None,
        typer.Option(
            min=0, metavar="N", help="Resamples for intervals of places; 0 is none; default: 200 if quick enough."
        ),
    ] = None,
    level: Annotated[float, typer.Option(help="Share of the resamples that an interval holds.")] = 0.95,
    prior: Annotated[
        float | None, typer.Option(min=0, help="Strength of the prior of plackett-luce; default: 0, none.")
    ] = None,
    target: Target = None,
    read: Read = None,
    seed: Seed = 0,
    jobs: Jobs = 1,
    as_json: Json = False,
) -> None:
    """Find one ranking of many: its cost, the proof that none is better, and intervals of places."""
    from dataclasses import asdict, replace

    from rankwise.cli import console, sources
    from rankwise.cli.consensus import (
        consensus_tables,
        few_resamples,
        find_consensus,
        with_intervals,
        with_intervals_if_any,
    )
    from rankwise.cli.files import shown_name

    _check_options(method, time_limit, prior, bootstrap, level)
    options: dict[str, Any] = {"prior": prior or 0.0, "seed": seed}
    rankings = sources.load(file, target=target, reading=settings(read, "--read")).rankings
    with console.progress() as on_step:
        on_step(f"consensus by {method}", 0.0)
        found = find_consensus(rankings, method, time_limit=time_limit, **options)
    options |= {"level": level, "jobs": jobs}
    if bootstrap:
        found = with_intervals(found, rankings, n_resamples=bootstrap, **options)
    elif bootstrap is None and (n_resamples := few_resamples(method, rankings)):
        found = with_intervals_if_any(found, rankings, n_resamples=n_resamples, **options)
    elif bootstrap is None:
        found = replace(found, notes=["no intervals, since they take a while: ask for them with --bootstrap 200"])
    if as_json:
        console.print_json({"data": shown_name(file), "seed": seed, **asdict(found)})
    else:
        console.print_tables(consensus_tables(found))


def _check_options(
    method: Method, time_limit: float | None, prior: float | None, bootstrap: int | None, level: float
) -> None:
    from rankwise.cli.consensus import FEWEST_RESAMPLES

    if time_limit is not None and method is not Method.KEMENY:
        raise typer.BadParameter(f"{method} proves nothing, so it needs no time for it; --method kemeny does")
    if prior is not None and method is not Method.PLACKETT_LUCE:
        raise typer.BadParameter(f"{method} has no --prior; --method plackett-luce has")
    if not 0 < level < 1:
        raise typer.BadParameter(f"{level:g} does not lie between 0 and 1, as 0.95 does", param_hint="--level")
    if bootstrap is not None and 0 < bootstrap < FEWEST_RESAMPLES:
        raise typer.BadParameter(
            f"{bootstrap} is too few for an interval; take {FEWEST_RESAMPLES} or more, better 1000, or 0 for none",
            param_hint="--bootstrap",
        )
