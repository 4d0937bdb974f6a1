"""``rankwise fit``: learn to predict rankings, and keep the model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rankwise.cli.models import Model
from rankwise.cli.options import Data, Jobs, Json, Params, Read, Seed, Target, settings


def fit(
    file: Data,
    out: Annotated[Path, typer.Option("--out", "-o", metavar="MODEL", help="Where to write the model.")],
    model: Annotated[Model, typer.Option(help="What to learn.")] = Model.FOREST,
    param: Params = None,
    target: Target = None,
    read: Read = None,
    seed: Seed = 0,
    jobs: Jobs = 1,
    as_json: Json = False,
) -> None:
    """Learn to predict rankings from the columns beside them, and write the model to a file."""
    from rankwise.cli import console, sources
    from rankwise.cli.files import check_writable, shown_name
    from rankwise.cli.models import fit_ranker, make_ranker, mistakes_in, ranker_of
    from rankwise.persistence import save

    check_writable(out, file)
    params = settings(param)
    source = sources.load(file, target=target, reading=settings(read, "--read"))
    ranker = make_ranker(model, params=params, categorical=source.categorical, seed=seed, jobs=jobs)
    with console.progress() as on_step, mistakes_in(params):
        on_step(f"fitting {model}", 0.0)
        fit_ranker(ranker, source)
    save(ranker, out)
    items = [str(item) for item in ranker_of(ranker).items_]
    if as_json:
        facts = {"n_rankings": len(source.rankings), "items": items, "features": source.feature_names}
        console.print_json({"data": shown_name(file), "model": model.value, **facts, "seed": seed, "out": str(out)})
        return
    console.print_notes(source.notes)
    n_rankings, n_items, n_features = (
        console.counted(n, noun)
        for n, noun in ((len(source.rankings), "ranking"), (len(items), "item"), (len(source.feature_names), "feature"))
    )
    console.print_lines([f"Learnt {n_rankings} of {n_items} by {n_features}. Model: {out}"])
