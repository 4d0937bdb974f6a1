"""The commands that learn from rankings: ``tree``, ``fit``, ``predict`` and ``evaluate``."""

from __future__ import annotations

import csv
import io
import warnings
from collections.abc import Mapping, Sequence
from enum import StrEnum
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rankwise.cli.options import (
    DETECTED,
    PICTURES,
    Data,
    HowToRead,
    Jobs,
    Json,
    Out,
    Params,
    Read,
    Seed,
    TableOut,
    checked_suffix,
    reads_rankings,
    settings,
)

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from rankwise.data import Rankings, Survey
    from rankwise.data.formats.tables import Table


_TEXTS = (".txt", ".dot")
_FOR_PEOPLE = (".xlsx", ".json", ".md")
_ALL = "all"
_SHOWN_LINES = 5
# With this many rankings, standard errors are below 0.01, and the usual models take half a minute.
_MOST_ROWS = 5_000


class Model(StrEnum):
    """Label rankers, see `rankwise.analysis.rankers`, which is too heavy to import for a help text."""

    CONSENSUS = "consensus"
    NEIGHBORS = "neighbors"
    PLACKETT_LUCE = "plackett-luce"
    PAIRWISE = "pairwise"
    LABELWISE = "labelwise"
    KERNEL = "kernel"
    TREE = "tree"
    FOREST = "forest"
    BOOSTED = "boosted"
    STACKED = "stacked"


_QUICK = ",".join([Model.CONSENSUS, Model.NEIGHBORS, Model.PLACKETT_LUCE, Model.TREE, Model.FOREST])


@reads_rankings("features", "ignore")
def tree(
    file: Data,
    out: Out = None,
    max_depth: Annotated[int, typer.Option(min=1, metavar="N", help="Most conditions above a leaf.")] = 3,
    min_samples_leaf: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Fewest rankings in a leaf; default: one in 20 of all.")
    ] = None,
    prune: Annotated[bool, typer.Option(help="Prune by cross-validation.")] = True,
    how: HowToRead = DETECTED,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Grow a tree that says who ranks how: as text, or as a picture (-o tree.png, .svg or .pdf)."""
    from rankwise._tables import counted, with_short_names
    from rankwise.analysis.base import features_of
    from rankwise.analysis.rankers import fit_ranker, make_ranker
    from rankwise.cli import console, sources
    from rankwise.cli.in_and_out import check_writable, shown_name, write_text

    check_writable(out, file)
    if out is not None and out.suffix.lower() not in (*_TEXTS, *PICTURES):
        suffixes = ", ".join((*_TEXTS, *PICTURES))
        raise typer.BadParameter(f"{out} has no suffix that says what to write: {suffixes}", param_hint="--out")
    survey = sources.load(file, **how.arguments())
    check_features(survey)
    X, names, categorical = features_of(survey.X, survey.feature_names, survey.categorical_features)
    ranker = make_ranker(Model.TREE, categorical_features=categorical, random_state=seed)
    ranker.set_params(
        max_depth=max_depth,
        min_samples_leaf=min_samples_leaf or max(1, len(survey.rankings) // 20),
        ccp_alpha="cv" if prune else 0.0,
    )
    with console.progress() as on_step:
        on_step("growing a tree", 0.0)
        fit_ranker(ranker, X, survey.rankings, names)
    console.print_notes(survey.notes)
    if out is not None:
        _write_tree(ranker, out)
    if as_json:
        importances = dict(zip(names, ranker.feature_importances_.tolist(), strict=True))
        facts = {"data": shown_name(file), "n_leaves": ranker.get_n_leaves(), "depth": ranker.get_depth()}
        console.print_json({**facts, "importances": importances, "tree": ranker.export_text()})
    elif out is None:
        write_text(None, f"{with_short_names(ranker.export_text(), [*ranker.items_, *names])}\n")
    else:
        console.print_lines([f"A tree with {counted(ranker.get_n_leaves(), 'leaf', 'leaves')}: {out}"])


@reads_rankings("features", "ignore")
def fit(
    file: Data,
    out: Annotated[Path, typer.Option("--out", "-o", metavar="MODEL", help="Where to write the model.")],
    model: Annotated[Model, typer.Option(help="What to learn.")] = Model.FOREST,
    param: Params = None,
    how: HowToRead = DETECTED,
    seed: Seed = 0,
    jobs: Jobs = 1,
    as_json: Json = False,
) -> None:
    """Learn to predict rankings from the other columns, and write the model to a file."""
    from rankwise._tables import counted
    from rankwise.analysis.base import features_of
    from rankwise.analysis.rankers import fit_ranker, make_ranker, ranker_of
    from rankwise.cli import console, sources
    from rankwise.cli.in_and_out import check_writable, shown_name
    from rankwise.persistence import save

    check_writable(out, file)
    params = settings(param)
    survey = sources.load(file, **how.arguments())
    # Columns of new rows are found by their names, so the model knows these, and not the questions.
    X, names, categorical = features_of(survey.X, None, survey.categorical_features)
    ranker = make_ranker(model, categorical_features=categorical, random_state=seed, n_jobs=jobs)
    set_parameters(ranker_of(ranker), params, hidden=("random_state", "n_jobs", "categorical_features"))
    check_features(survey)
    with console.progress() as on_step:
        on_step(f"fitting {model}", 0.0)
        fit_ranker(ranker, X, survey.rankings, names)
    save(ranker, out)
    items = [str(item) for item in ranker_of(ranker).items_]
    if as_json:
        facts = {"n_rankings": len(survey.rankings), "items": items, "features": names}
        console.print_json({"data": shown_name(file), "model": model.value, **facts, "seed": seed, "out": str(out)})
        return
    console.print_notes(survey.notes)
    of_what = f"{counted(len(survey.rankings), 'ranking')} of {counted(len(items), 'item')}"
    console.print_lines([f"Learned from {of_what}, with {counted(len(names), 'feature')}. Model: {out}"])


def predict(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="A file that rankwise fit wrote.")],
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="A table with the features, - for standard input, or a data set.")
    ],
    orders: Annotated[bool, typer.Option("--orders", help="Items best first, as tea > milk > juice.")] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            metavar="FILE",
            help="Where to write: .csv or .txt, .xlsx, .json or .md; default: standard output.",
        ),
    ] = None,
    read: Read = None,
    as_json: Json = False,
) -> None:
    """Predict a ranking for each row of a table: positions under the names of the items, 1 = best."""
    from rankwise._table_files import save_tables
    from rankwise._tables import TextTable
    from rankwise.analysis.rankers import ranker_of
    from rankwise.cli import console
    from rankwise.cli.in_and_out import check_writable, shown_name, write_text
    from rankwise.data import Rankings

    check_writable(out, model, file)
    if out is not None and out.suffix:
        checked_suffix(out, also=(".txt",))
    ranker = load_label_ranker(model)
    X = read_features(ranker, file, settings(read, "--read"))
    with warnings.catch_warnings():
        # The features were matched by name when they were read.
        warnings.filterwarnings("ignore", message="X does not have valid feature names")
        rankings = Rankings(ranker.predict(X), ranker_of(ranker).items_)
    lists = _ranking_lists(rankings, orders=orders)
    facts = {"data": shown_name(file), "model": model, **lists}
    if as_json:
        console.print_json(facts)
    if out is not None and out.suffix.lower() in _FOR_PEOPLE:
        header = [f"place {i + 1}" for i in range(len(lists["items"]))] if orders else lists["items"]
        rows = [list(map(str, row)) for row in lists["orders" if orders else "positions"]]
        save_tables([TextTable("Predictions", "", header, rows)], out, facts=facts)
    elif out is not None or not as_json:
        write_text(out, _ranking_text(lists))


@reads_rankings("by", "features", "ignore")
def evaluate(
    file: Data,
    models: Annotated[
        str, typer.Option(metavar="NAMES", help=f"{', '.join(Model)}, separated by commas, or {_ALL}.")
    ] = _QUICK,
    cv: Annotated[int, typer.Option(min=2, metavar="N", help="Folds.")] = 10,
    repeats: Annotated[
        int, typer.Option(min=1, metavar="N", help="How often to repeat, each time with new folds.")
    ] = 1,
    rows: Annotated[
        int, typer.Option(min=0, metavar="N", help="Of more rankings, take a random sample of this size; 0 takes all.")
    ] = _MOST_ROWS,
    how: HowToRead = DETECTED,
    out: TableOut = None,
    seed: Seed = 0,
    jobs: Jobs = 1,
    as_json: Json = False,
) -> None:
    """Compare models: how well each predicts the rankings of people it has not seen, by cross-validation."""
    import numpy as np

    from rankwise._validation import check_generator
    from rankwise.analysis.base import features_of, sample_rows
    from rankwise.analysis.rankers import make_ranker
    from rankwise.cli import console, sources
    from rankwise.cli.in_and_out import check_writable, shown_name, write_tables
    from rankwise.model_selection import leaderboard

    check_writable(out, file)

    chosen = _chosen(models)
    survey = sources.load(file, **how.arguments())
    check_features(survey)
    n_rankings = len(survey.rankings)
    taken = sample_rows(n_rankings, rows or n_rankings, check_generator(seed))
    sampled = ""
    if len(taken) < n_rankings:
        sampled = f"a random sample of {len(taken):,} of {n_rankings:,} rankings"
        console.print_notes([f"{sampled}; --rows 0 takes all, which takes longer"])
    if len(taken) < cv:
        raise ValueError(f"{cv} folds need as many rankings, but there are {len(taken)}; give fewer with --cv")
    X, _, categorical = features_of(survey.X, None, survey.categorical_features)
    rankers = {
        model.value: make_ranker(model, categorical_features=categorical, random_state=seed, n_jobs=1)
        for model in chosen
    }
    with console.progress() as on_step:
        options: dict[str, Any] = {"cv": cv, "n_repeats": repeats, "random_state": seed, "n_jobs": jobs}
        board = leaderboard(rankers, X[taken], survey.rankings[taken], on_step=on_step, **options)
    console.print_notes(survey.notes)
    found = (board.names, board.means.tolist(), board.standard_errors.tolist(), board.seconds.tolist())
    keys = ("model", "tau", "standard_error", "seconds")
    facts: dict[str, Any] = {
        "data": shown_name(file),
        "seed": seed,
        "cv": cv,
        "repeats": repeats,
        "n_rankings": n_rankings,
        "n_sampled": len(taken),
        "leaderboard": [dict(zip(keys, row, strict=True)) for row in zip(*found, strict=True)],
    }
    tables = [board.table(note=sampled)]
    if survey.by is not None:
        groups = {label: np.flatnonzero(np.isin(taken, rows)) for label, rows in survey.groups().items()}
        tables.append(board.group_table(groups, survey.by_name))
        taus = {label: board.group_means(rows) for label, rows in groups.items()}
        facts["groups"] = [
            {"group": label, "n_rankings": len(groups[label]), "taus": dict(zip(board.names, means, strict=True))}
            for label, means in taus.items()
        ]
    if out is not None:
        write_tables(tables, out, facts)
    if as_json:
        console.print_json(facts)
    else:
        console.print_tables(tables)


def set_parameters(estimator: Any, params: Mapping[str, Any], hidden: Sequence[str] = ()) -> None:
    """Set what ``--param`` asks for; a name or value that the estimator does not take is a mistake in the command.

    Parameters
    ----------
    estimator : estimator
        It is changed.
    params : mapping
        From ``--param``.
    hidden : sequence of str, default=()
        Parameters with options of their own, which the message about unknown names does not list.
    """
    from rankwise._sklearn import InvalidParameterError, check_params

    known = estimator.get_params()
    unknown = [name for name in params if name not in known]
    if unknown:
        names = ", ".join(sorted(set(known) - set(hidden)))
        message = f"{type(estimator).__name__} has no parameter {unknown[0]!r}; it has {names or 'none'}"
        raise typer.BadParameter(message, param_hint="--param")
    estimator.set_params(**params)
    try:
        check_params(estimator)
    except InvalidParameterError as error:
        raise typer.BadParameter(str(error), param_hint="--param") from None


def check_features(survey: Survey) -> None:
    """Refuse rankings that come without features, and say what the other columns are."""
    if survey.X:
        return
    others = [f"{column} ({role.role})" for column, role in survey.roles.items()]
    why = f"; the other columns are {', '.join(others)}: name features with --features" if others else ""
    raise ValueError(
        "there are no features to predict rankings from; the file needs columns besides the rankings, with numbers or "
        f"repeating texts{why}"
    )


def read_features(model: Any, name: str, reading: Mapping[str, Any]) -> npt.NDArray[Any]:
    """The features that the model was fitted on, by their names, from a file that may hold others too.

    Rows without any cell are skipped, with a note.

    Parameters
    ----------
    model : estimator
        A label ranker, or a pipeline that ends in one.
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
    import numpy as np

    from rankwise._tables import counted
    from rankwise.analysis.rankers import features_step_of
    from rankwise.cli import console, sources
    from rankwise.data.formats.text import listed

    table = sources.table_of(name, reading)
    skipped = _blank_rows(table)
    if skipped:
        lines = ", ".join(map(str, skipped[:_SHOWN_LINES])) + (", ..." if len(skipped) > _SHOWN_LINES else "")
        rows = counted(len(skipped), "row")
        console.print_notes([f"{rows} without any cell skipped: no prediction for line {lines}"])
    names = [str(feature) for feature in getattr(model, "feature_names_in_", ())]
    step = features_step_of(model)
    if not names:  # fitted on an array: the columns in their order
        names = list(table.header)
        if len(names) != step.n_features_in_:
            raise table.error(
                f"there are {len(names)} columns, but the model has {step.n_features_in_} features without names",
                cure="Give just these columns, in the order of the fit.",
            )
    absent = [feature for feature in names if feature not in table.header]
    if absent:
        raise table.error(
            f"the model needs the columns {listed(absent)}, which are missing",
            cure=f"Add them, with empty cells where a value is missing. The columns are {listed(table.header)}.",
        )
    categories = getattr(step, "feature_categories_", [None] * len(names))
    columns = [_feature_column(table, feature, kinds) for feature, kinds in zip(names, categories, strict=True)]
    return np.column_stack(columns)


def _blank_rows(table: Table) -> list[int]:
    """Lines between the rows of a table that hold no cell; a cell with line breaks takes several lines."""
    blank: list[int] = []
    for row, (line, following) in enumerate(pairwise(table.lines)):
        if following > line + 1:
            breaks = sum(table.column(name)[row].count("\n") for name in table.header)
            blank += range(line + 1 + breaks, following)
    return blank


def _feature_column(table: Table, name: str, categories: Sequence[Any] | None) -> npt.NDArray[Any]:
    import numpy as np

    from rankwise.data.formats.tables import MISSING
    from rankwise.data.formats.text import shown

    cells = table.column(name)
    if categories is not None:
        column: npt.NDArray[np.object_] = np.empty(len(cells), dtype=object)
        of_text = {str(category): category for category in categories}
        labels = table.labels.get(name, {})  # a model of a file with labels knows these, and not the codes
        cells = [labels.get(cell, cell) for cell in cells]
        column[:] = [None if cell in MISSING else of_text.get(cell, cell) for cell in cells]
        return column
    meaning = table.numbers(cells)
    values = [np.nan if cell in MISSING else meaning[cell] for cell in cells]
    if None in values:
        row = values.index(None)
        raise table.error(
            f"{shown(cells[row])} is not a number, but the model was fitted on numbers here",
            row=row,
            column=name,
            cure="Write a number, or leave the cell empty where the value is missing.",
        )
    return np.array(values, dtype=np.float64)


def load_label_ranker(path: str) -> Any:
    """The label ranker in a file that `rankwise.save` wrote."""
    from rankwise.analysis.rankers import ranker_of
    from rankwise.exceptions import RankwiseFormatError
    from rankwise.persistence import load

    try:
        model = load(path)
    except FileNotFoundError:
        raise RankwiseFormatError("there is no such file", path=path, cure="rankwise fit writes models.") from None
    if not hasattr(ranker_of(model), "predict_pairwise"):
        kind = type(ranker_of(model)).__name__
        raise RankwiseFormatError(
            f"this is a {kind}, which does not predict rankings from features",
            path=path,
            cure="Give a file that rankwise fit wrote; rank-predict is for models of search results.",
        )
    return model


def _ranking_lists(rankings: Rankings, *, orders: bool) -> dict[str, list[Any]]:
    """Rankings for JSON: the items, and for each row their positions, or the items best first."""
    import numpy as np

    items = [str(item) for item in rankings.items]
    if orders:
        best_first = np.argsort(rankings.positions, axis=1, kind="stable")
        return {"items": items, "orders": [[items[i] for i in order] for order in best_first]}
    return {"items": items, "positions": rankings.positions.astype(int).tolist()}


def _ranking_text(lists: dict[str, list[Any]]) -> str:
    """The same as text: a table of positions, or orders such as ``tea > milk``, one per line."""
    from rankwise._table_files import harmless

    if "orders" in lists:
        return "".join(harmless(" > ".join(order)) + "\n" for order in lists["orders"])
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(map(harmless, lists["items"]))
    writer.writerows(lists["positions"])
    return text.getvalue()


def _write_tree(ranker: Any, out: Path) -> None:
    from rankwise.cli.in_and_out import write_text

    suffix = out.suffix.lower()
    if suffix in _TEXTS:
        write_text(out, f"{ranker.export_text() if suffix == '.txt' else ranker.export_graphviz()}\n")
        return
    import matplotlib

    matplotlib.use("agg")  # no window, and no display needed
    from rankwise.plots import RankingTreeDisplay

    RankingTreeDisplay.from_estimator(ranker).save(out)


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
