"""``rankwise evaluate``: which label ranker predicts best."""

from __future__ import annotations

from typing import Annotated

import typer

from rankwise.cli.models import Model
from rankwise.cli.options import Data, Jobs, Json, Read, Seed, Target, settings

_ALL = "all"
# Of so many, standard errors are below 0.01, and the usual models take half a minute.
_MOST_ROWS = 5_000
_QUICK = ",".join([Model.CONSENSUS, Model.NEIGHBOURS, Model.PLACKETT_LUCE, Model.TREE, Model.FOREST])


def evaluate(
    file: Data,
    models: Annotated[
        str, typer.Option(metavar="NAMES", help=f"{', '.join(Model)}, with commas between, or {_ALL}.")
    ] = _QUICK,
    cv: Annotated[int, typer.Option(min=2, metavar="N", help="Folds.")] = 10,
    repeats: Annotated[int, typer.Option(min=1, metavar="N", help="Times that all rows are dealt out to folds.")] = 1,
    rows: Annotated[
        int, typer.Option(min=0, metavar="N", help="Of more rankings, a random sample of so many; 0 takes all.")
    ] = _MOST_ROWS,
    target: Target = None,
    read: Read = None,
    seed: Seed = 0,
    jobs: Jobs = 1,
    as_json: Json = False,
) -> None:
    """Cross-validate label rankers: a leaderboard of how well they predict rows they have not seen."""
    from dataclasses import asdict, replace

    from rankwise._random import check_generator
    from rankwise.cli import console, sources
    from rankwise.cli.files import shown_name
    from rankwise.cli.leaderboard import evaluate_rankers, leaderboard_table, sample_rows
    from rankwise.cli.models import make_ranker

    chosen = _chosen(models)
    source = sources.load(file, target=target, reading=settings(read, "--read"))
    n_rankings = len(source.rankings)
    taken = sample_rows(n_rankings, rows or n_rankings, check_generator(seed))
    sampled = ""
    if len(taken) < n_rankings:
        source = replace(source, rankings=source.rankings[taken], X=source.X[taken])
        sampled = f"a random sample of {len(taken):,} of {n_rankings:,} rankings"
        console.print_notes([f"{sampled}; --rows 0 takes all, and its time"])
    rankers = {
        model.value: make_ranker(model, categorical=source.categorical, seed=seed, jobs=jobs) for model in chosen
    }
    with console.progress() as on_step:
        standings = evaluate_rankers(rankers, source, n_folds=cv, n_repeats=repeats, seed=seed, on_step=on_step)
    console.print_notes(source.notes)
    if as_json:
        facts = {"data": shown_name(file), "seed": seed, "cv": cv, "repeats": repeats}
        facts |= {"n_rankings": n_rankings, "n_sampled": len(taken)}
        console.print_json({**facts, "leaderboard": [asdict(standing) for standing in standings]})
    else:
        table = leaderboard_table(standings, n_folds=cv, n_repeats=repeats)
        console.print_tables([table._replace(note="; ".join(filter(None, [table.note, sampled])))])


def _chosen(names: str) -> list[Model]:
    if names == _ALL:
        return list(Model)
    wanted = [name.strip() for name in names.split(",")]
    unknown = [name for name in wanted if name not in list(Model)]
    if unknown:
        known = ", ".join(Model)
        raise typer.BadParameter(
            f"there is no model {unknown[0]!r}; there are {known}, or {_ALL}", param_hint="--models"
        )
    return [Model(name) for name in dict.fromkeys(wanted)]
