"""``rankwise predict``: rankings for new rows, by a model of ``rankwise fit``."""

from __future__ import annotations

from typing import Annotated

import typer

from rankwise.cli.options import Json, Out, Read, settings


def predict(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="A file that rankwise fit wrote.")],
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="A table with the features, - for standard input, or a data set.")
    ],
    orders: Annotated[bool, typer.Option("--orders", help="Items best first, as tea > milk > juice.")] = False,
    out: Out = None,
    read: Read = None,
    as_json: Json = False,
) -> None:
    """Predict a ranking for each row of a table: positions under the names of the items, 1 = best."""
    from rankwise.cli import console
    from rankwise.cli.files import check_writable, shown_name, write_text
    from rankwise.cli.prediction import load_ranker, predicted, ranking_lines, ranking_lists, read_features

    check_writable(out, model, file)
    ranker = load_ranker(model)
    X = read_features(ranker, file, settings(read, "--read"))
    rankings = predicted(ranker, X)
    if as_json:
        console.print_json({"data": shown_name(file), "model": model, **ranking_lists(rankings, orders=orders)})
    if out is not None or not as_json:
        write_text(out, ranking_lines(rankings, orders=orders))
