"""``rankwise evaluate``: which label ranker predicts best."""

from __future__ import annotations

from typing import Annotated

import typer

from rankwise.cli.models import Model
from rankwise.cli.options import Data, Jobs, Json, Read, Seed, Target, settings

_ALL = "all"
_QUICK = ",".join([Model.CONSENSUS, Model.NEIGHBOURS, Model.PLACKETT_LUCE, Model.TREE, Model.FOREST])


def evaluate(
    file: Data,
    models: Annotated[
        str, typer.Option(metavar="NAMES", help=f"{', '.join(Model)}, with commas between, or {_ALL}.")
    ] = _QUICK,
    cv: Annotated[int, typer.Option(min=2, metavar="N", help="Folds.")] = 10,
    repeats: Annotated[int, typer.Option(min=1, metavar="N", help="Times that all rows are dealt out to folds.")] = 1,
    target: Target = None,
    read: Read = None,
    seed: Seed = 0,
    jobs: Jobs = 1,
    as_json: Json = False,
) -> None:
    """Cross-validate label rankers: a leaderboard of how well they predict rows they have not seen."""
    from dataclasses import asdict

    from rankwise.cli import console, sources
    from rankwise.cli.files import shown_name
    from rankwise.cli.leaderboard import evaluate_rankers, leaderboard_table
    from rankwise.cli.models import make_ranker

    chosen = _chosen(models)
    source = sources.load(file, target=target, reading=settings(read, "--read"))
    rankers = {
        model.value: make_ranker(model, categorical=source.categorical, seed=seed, jobs=jobs) for model in chosen
    }
    with console.progress() as on_step:
        standings = evaluate_rankers(rankers, source, n_folds=cv, n_repeats=repeats, seed=seed, on_step=on_step)
    if as_json:
        facts = {"data": shown_name(file), "seed": seed, "cv": cv, "repeats": repeats}
        console.print_json({**facts, "leaderboard": [asdict(standing) for standing in standings]})
    else:
        console.print_tables([leaderboard_table(standings, n_folds=cv, n_repeats=repeats)])


# ---------------------------------------------------------------------------------------------------------------


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
