"""The command ``explain``: why a model puts one item before another for a person, and what would have to change."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rankwise.cli.options import Json, Read, TableOut, settings

if TYPE_CHECKING:
    from rankwise.label_ranking import Counterfactual, PairExplanation


def explain(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="A tree, forest or boosted model of rankwise fit.")],
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="A table with the features, - for standard input, or a data set.")
    ],
    row: Annotated[int, typer.Option(min=1, metavar="N", help="The row of FILE to explain; the first one is 1.")] = 1,
    above: Annotated[
        str | None, typer.Option(metavar="ITEM", help="An item; default: the one that is predicted to be first.")
    ] = None,
    below: Annotated[
        str | None, typer.Option(metavar="ITEM", help="An item to compare it with; default: the next one.")
    ] = None,
    immutable: Annotated[
        list[str] | None, typer.Option(metavar="COLUMNS", help="Features that may not change: age,city.")
    ] = None,
    top: Annotated[int, typer.Option(min=1, metavar="N", help="Show the N features that matter most.")] = 10,
    out: TableOut = None,
    read: Read = None,
    as_json: Json = False,
) -> None:
    """Say why a model puts one item before another for a person, and what would have to change for the reverse."""
    from rankwise._table_files import save_tables
    from rankwise.analysis.rankers import ranker_of
    from rankwise.cli import console, sources
    from rankwise.cli.in_and_out import check_writable, shown_name
    from rankwise.cli.learn_commands import load_label_ranker, read_features

    check_writable(out, model, file)
    ranker = load_label_ranker(model)
    if not hasattr(ranker, "counterfactual"):
        raise ValueError(
            f"a {type(ranker_of(ranker)).__name__} cannot explain a prediction; fit a tree, forest or boosted model"
        )
    X = read_features(ranker, file, settings(read, "--read"))
    if row > len(X):
        raise typer.BadParameter(f"there are {len(X)} rows", param_hint="--row")
    person = X[row - 1 : row]
    with warnings.catch_warnings():
        # The features were matched by name when they were read.
        warnings.filterwarnings("ignore", message="X does not have valid feature names")
        first, second = _pair(ranker, person, above, below)
        why = ranker.explain(person, first, second)
        is_first = why.prediction[0] > (0.5 if why.output == "share" else 0.0)
        change = ranker.counterfactual(
            person, *((second, first) if is_first else (first, second)), immutable=sources.split_names(immutable or [])
        )
    facts = {"data": shown_name(file), "model": model, "row": row, **_facts(why, change)}
    tables = [why.table(top), *change.tables()]
    if out is not None:
        save_tables(tables, out, facts=facts)
    if as_json:
        console.print_json(facts)
    else:
        console.print_tables(tables)


def _pair(ranker: Any, person: Any, above: str | None, below: str | None) -> tuple[Any, Any]:
    """The two items: those that are named, and the best others."""
    import numpy as np

    names = {str(item): item for item in ranker.items_}
    for name, option in ((above, "--above"), (below, "--below")):
        if name is not None and name not in names:
            raise typer.BadParameter(f"there is no item {name}; the items are {', '.join(names)}", param_hint=option)
    best_first = [ranker.items_[item] for item in np.argsort(ranker.predict(person)[0])]
    given = [names[name] for name in (above, below) if name is not None]
    first = names[above] if above is not None else next(item for item in best_first if item not in given)
    second = names[below] if below is not None else next(item for item in best_first if item != first)
    if first == second:
        raise typer.BadParameter(f"{first} is compared with itself; give two items", param_hint="--below")
    return first, second


def _facts(why: PairExplanation, change: Counterfactual) -> dict[str, Any]:
    """What was found, for JSON."""
    inputs, values = why.inputs[0].tolist(), why.values[0].tolist()
    return {
        "pair": [str(item) for item in why.pair],
        "output": why.output,
        "prediction": float(why.prediction[0]),
        "base_value": why.base_value,
        "features": {
            name: {"value": value, "adds": adds} for name, value, adds in zip(why.features, inputs, values, strict=True)
        },
        "change": {
            "pair": [str(item) for item in change.pair],
            "found": change.found,
            "is_smallest": change.is_smallest,
            "distance": change.distance if change.found else None,
            "prediction": change.after if change.found else None,
            "features": {c.feature: {"before": c.before, "after": c.after} for c in change.changes},
        },
    }
