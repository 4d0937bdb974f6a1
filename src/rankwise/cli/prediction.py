"""From a saved model and a table of features to rankings."""

from __future__ import annotations

import csv
import io
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from rankwise.cli import sources
from rankwise.cli.models import features_step_of, ranker_of
from rankwise.data import Rankings
from rankwise.data.formats.text import MISSING, Table, listed, shown
from rankwise.exceptions import RankwiseFormatError
from rankwise.persistence import load


def load_ranker(path: str) -> Any:
    """The label ranker in a file.

    Parameters
    ----------
    path : str
        A file that `rankwise.save` wrote.

    Returns
    -------
    estimator
    """
    try:
        model = load(path)
    except FileNotFoundError:
        raise RankwiseFormatError("there is no such file", path=path, cure="rankwise fit writes models.") from None
    if not hasattr(ranker_of(model), "predict_pairwise"):
        kind = type(ranker_of(model)).__name__
        raise RankwiseFormatError(
            f"this is a {kind}, which predicts no rankings from features",
            path=path,
            cure="Give a file that rankwise fit wrote; rank-predict is for models of search results.",
        )
    return model


def read_features(model: Any, name: str, reading: Mapping[str, Any]) -> npt.NDArray[Any]:
    """The features that the model was fitted on, by their names, from a file that may hold others too.

    Parameters
    ----------
    model : estimator
        From `load_ranker`.
    name : str
        A table, ``-`` for standard input, or a data set.
    reading : mapping
        ``delimiter`` and ``encoding`` of the table.

    Returns
    -------
    ndarray of shape (n_rows, n_features)
        Columns in the order of the model: numbers, NaN where missing; texts, None where missing, in the categorical
        ones.
    """
    known = sources.table_of(name, reading)
    names = [str(feature) for feature in getattr(model, "feature_names_in_", ())]
    step = features_step_of(model)
    if not names:  # fitted on an array: the columns in their order
        names = list(known.header)
        if len(names) != step.n_features_in_:
            raise known.error(
                f"there are {len(names)} columns, but the model has {step.n_features_in_} features without names",
                cure="Give just these columns, in the order of the fit.",
            )
    lacking = [feature for feature in names if feature not in known.header]
    if lacking:
        raise known.error(
            f"the model needs the columns {listed(lacking)}, which are not there",
            cure=f"Add them, with empty cells where a value is missing. The columns are {listed(known.header)}.",
        )
    encoder = getattr(step, "_encoder", None)
    categories = [None] * len(names) if encoder is None else encoder.categories_
    columns = [_column(known, feature, kinds) for feature, kinds in zip(names, categories, strict=True)]
    return np.column_stack(columns)


def predicted(model: Any, X: npt.NDArray[Any]) -> Rankings:
    """The predicted rankings, one for each row."""
    with warnings.catch_warnings():
        # The features were matched by name when they were read.
        warnings.filterwarnings("ignore", message="X does not have valid feature names")
        return Rankings(model.predict(X), ranker_of(model).items_)


def ranking_lists(rankings: Rankings, *, orders: bool) -> dict[str, list[Any]]:
    """Rankings for JSON: the items, and for each row their positions, or the items best first."""
    items = [str(item) for item in rankings.items]
    if orders:
        best_first = np.argsort(rankings.positions, axis=1, kind="stable")
        return {"items": items, "orders": [[items[i] for i in order] for order in best_first]}
    return {"items": items, "positions": rankings.positions.astype(int).tolist()}


def ranking_lines(rankings: Rankings, *, orders: bool) -> str:
    """Rankings as text: a table of positions, or orders such as ``tea > milk``, a line each."""
    lists = ranking_lists(rankings, orders=orders)
    if orders:
        return "".join(" > ".join(order) + "\n" for order in lists["orders"])
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(lists["items"])
    writer.writerows(lists["positions"])
    return text.getvalue()


def _column(table: Table, name: str, categories: Sequence[Any] | None) -> npt.NDArray[Any]:
    cells = table.column(name)
    if categories is not None:
        column = np.empty(len(cells), dtype=object)
        of_text = {str(category): category for category in categories}
        column[:] = [None if cell in MISSING else of_text.get(cell, cell) for cell in cells]
        return column
    meaning = table.numbers(cells)
    values = [np.nan if cell in MISSING else meaning[cell] for cell in cells]
    if None in values:
        row = values.index(None)
        raise table.error(
            f"{shown(cells[row])} is no number, but the model was fitted on numbers here",
            row=row,
            column=name,
            cure="Write a number, or leave the cell empty where the value is missing.",
        )
    return np.array(values, dtype=np.float64)
