"""`read_survey`: a file of rankings with all its other columns, each in its role, as a `Survey`.

The command line and `rankwise.analyze` start here. `read_rankings` finds the rankings, `roles` says what the other
columns are, and `data_check` what should be looked at.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from rankwise._typing import FloatArray
from rankwise._validation import MANY_GROUPS_CURE, MOST_GROUPS, is_unknown_label, weights_count_people
from rankwise.data.formats.column_names import WEIGHTS, say_places
from rankwise.data.formats.data_check import DataCheck, check_data
from rankwise.data.formats.delimited import read_table
from rankwise.data.formats.detect import read_with_table
from rankwise.data.formats.ordered_texts import is_no_answer, ordered_levels
from rankwise.data.formats.places import classify
from rankwise.data.formats.reading import Reading
from rankwise.data.formats.roles import (
    SEVERAL_EACH,
    Role,
    is_duration,
    may_be_feature,
    recognize_roles,
    roles_of_tasks,
)
from rankwise.data.formats.row_filter import Where, one_row_each, rows_that_count
from rankwise.data.formats.survey_cells import place_meanings, scores_read
from rankwise.data.formats.survey_data import Survey, shown_names
from rankwise.data.formats.tables import MISSING, Covariates, Keep, Table, names_given
from rankwise.data.formats.text import Path, listed, shown
from rankwise.data.formats.tool_columns import PREVIEW_COLUMNS, PREVIEWS, bare
from rankwise.data.formats.turned_orders import turned_orders
from rankwise.data.rankings import Rankings
from rankwise.exceptions import RankwiseFormatError

# Layouts that can do without one of the columns of the rankings.
_ITEMS_IN_COLUMNS = ("positions", "scores", "judges")


def read_survey(
    path: Path,
    *,
    target: str | Sequence[str] | None = None,
    layout: Any = "auto",
    id: str | None = None,  # noqa: A002  # the word of those who use it, here and in the shell
    weight: str | None = None,
    by: str | None = None,
    features: Sequence[str] | None = None,
    ignore: Sequence[str] | None = None,
    where: Where | None = None,
    leave_out: Sequence[str | int] | None = None,
    keep: Keep | None = None,
    **options: Any,
) -> Survey:
    r"""Read a file of rankings with its other columns, each in its role.

    Ids, time stamps, paradata of survey tools, free texts and constant columns are recognized and are not features;
    numbers, and texts of few values, are. Respondents who ranked nothing are set apart. Print the result to see how the
    file was understood.

    Parameters
    ----------
    path : str or path-like
        The file, as for `read_rankings`.
    target : str or sequence of str, optional
        The columns that hold the rankings: their names, or how they start; found out by default.
    layout : str, default="auto"
        As in `read_rankings`.
    id : str, optional
        The column that says who answered.
    weight : str, optional
        The column that says how much each ranking counts.
    by : str, optional
        The column of the groups by which results are shown side by side.
    features : sequence of str, optional
        The columns to predict rankings from; by default those that look like answers.
    ignore : sequence of str, optional
        Columns that are not features. Those that would be part of the rankings are not: the file is read without them.
    where : mapping of str to values, or str, optional
        Only rows with these answers count: ``{"Finished": "True", "city": ["Bern", "Basel"]}``; as text
        "Finished=True" or "city=Bern|Basel", or a list of such texts.
    leave_out : sequence of str or int, optional
        People who do not count: their names or ids, or the numbers of their rows from 1.
    keep : {"first", "last"}, optional
        Which row counts where several have the same id; by default every row does.
    **options
        Other arguments of `read_rankings`.

    Returns
    -------
    Survey

    Raises
    ------
    RankwiseFormatError
        As in `read_rankings`; or if a column that is named does not exist or holds the rankings.

    Examples
    --------
    >>> path = getfixture("tmp_path") / "drinks.csv"
    >>> _ = path.write_text("ResponseId,age,rank_tea,rank_milk\nR_1,31,1,2\nR_2,47,2,1\nR_3,28,,\n")
    >>> survey = read_survey(path)
    >>> survey.rankings
    Rankings: 2 rankings of 2 items, full
      tea > milk
      milk > tea
    >>> list(survey.X), survey.n_empty, survey.roles["ResponseId"].role
    (['age'], 1, 'id')
    """
    # Who ignores a column named like a weight says that it is none.
    if weight is not None or not set(WEIGHTS).isdisjoint(map(str.lower, _names(ignore, "ignore"))):
        options["weights"] = weight or options.get("weights")
    if target is not None:
        options |= _target_options(path, target, layout, options)
    read, left_out = _read_without(path, _names(ignore, "ignore"), {"layout": layout, "keep": keep, **options})
    rankings, columns, reading, table = read
    used = {*reading.columns, *([reading.weights] if reading.weights else [])}
    chosen = {"id": [id] if id else [], "by": [by] if by else []}
    chosen |= {"features": _names(features, "features"), "ignore": _names(ignore, "ignore")}
    for option, names in chosen.items():
        for name in [name for name in names if name not in left_out]:
            _check_name(name, option, columns, used, reading, table, path)
    both = sorted(set(chosen["features"]) & set(chosen["ignore"]))
    if both:
        raise ValueError(f"{both[0]!r} is among both features and ignore; name it in one of them")
    questions = {} if table is None else {name: " ".join(text.split()) for name, text in table.questions.items()}
    columns, labeled = _with_labels(columns, table, len(rankings))
    settled = list(columns) if "weights" in options else ()
    roles = recognize_roles(columns, rankings=reading.columns, weight_is_settled=settled)
    roles |= roles_of_tasks(columns) if reading.layout in SEVERAL_EACH else {}
    categories = [name for name in labeled if roles[name] == Role("feature", "a category")]
    roles |= dict.fromkeys(categories, Role("feature", "an ordered category"))
    if table is None:  # the attributes of an xarff file are declared as features
        roles = {
            name: Role("feature", "declared") if may_be_feature(columns[name]) else roles[name] for name in columns
        }
    _refuse_many_groups(by, columns, path)
    roles = _chosen_roles(roles, chosen, features is not None)
    wanted = chosen["features"] or [
        name
        for name, role in roles.items()
        if role.role == "feature" or (name == by and by not in chosen["ignore"] and features is None)
    ]
    wanted = [name for name in columns if name in wanted]

    is_empty = ~np.isfinite(rankings.positions).any(axis=1)
    id_column = id or next((name for name, role in roles.items() if role.role == "id"), None)
    name_column = next((name for name, role in roles.items() if role.role == "name"), None)
    who = [None if name is None else _whole(columns[name]) for name in (name_column, id_column)]
    counts, dropped = rows_that_count(columns, who, len(rankings), path, where=where, leave_out=leave_out)
    kept = np.flatnonzero(counts & ~is_empty)
    # In a long table ``keep`` chose among the rows of one item.
    kept, twins = one_row_each(kept, who[-1], None if reading.layout == "long" else keep, path)
    dropped |= twins
    if not len(kept):
        problem = f"no row{' that is left' if dropped else ''} ranks anything"
        raise RankwiseFormatError(problem, path=path, cure="Name the columns that hold the rankings.")
    if not rankings.weights.any():
        raise RankwiseFormatError(
            f"all weights in {shown(str(reading.weights))} are zero", path=path, cure="Name another column, or none."
        )
    reading = replace(reading, dropped={**reading.dropped, **dropped})
    if is_empty.any() and np.isfinite(rankings.positions[kept]).all():
        reading = replace(reading, blanks="no blanks")  # only those who ranked nothing left any
    X: Covariates = {name: columns[name][kept] for name in wanted}
    ordered = _put_in_order(X, labeled)
    return Survey(
        rankings=rankings if len(kept) == len(rankings) else rankings[kept],
        X=X,
        categorical=tuple(name for name, column in X.items() if column.dtype.kind != "f"),
        ordered=ordered,
        id=None if who[1] is None else who[1][kept],
        names=None if who[0] is None else who[0][kept],
        scores=scores_read(table, reading, options, rankings.shape, kept),
        by=None if by is None else columns[by][kept],
        by_name="" if by is None else shown_names([by], questions)[0],
        questions=questions,
        roles={**roles, **dict.fromkeys(left_out, Role("ignored", "by request"))},
        reading=reading,
        rows=kept,
        n_empty=_people(rankings.weights[is_empty], rankings.weights),
        check=_check(rankings, columns, roles, reading, table, id_column if keep is None else None),
        name=os.fsdecode(path),
    )


def _people(some: FloatArray, weights: FloatArray) -> int:
    """How many people have some of the weights: a ballot that counts four times is four people's."""
    return int(some.sum()) if weights_count_people(weights) else len(some)


def _read_without(
    path: Path, ignored: list[str], arguments: Mapping[str, Any]
) -> tuple[tuple[Rankings, Covariates, Reading, Table | None], list[str]]:
    """What `read_with_table` reads; without the ignored columns where these are part of the rankings or in the way."""
    try:
        read = read_with_table(path, **arguments)
        reading = read[2]
        if reading.layout not in _ITEMS_IN_COLUMNS or set(ignored).isdisjoint(reading.columns):
            return read, []
        # With all columns the layout was clear. Other ignored columns are still there to choose rows by.
        arguments = {**arguments, **reading.options}
        ignored = [name for name in ignored if name in reading.columns]
        for option in ("items", "judges"):
            if isinstance(arguments.get(option), list):
                arguments[option] = [name for name in arguments[option] if name not in ignored]
    except RankwiseFormatError:
        if not ignored:
            raise
    return read_with_table(path, without=ignored, **arguments), ignored


def _names(given: Sequence[str] | None, argument: str) -> list[str]:
    if given is None:
        return []
    return [given] if isinstance(given, str) else names_given(given, argument)


def _target_options(path: Path, target: str | Sequence[str], layout: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of `read_rankings` that name the columns of the rankings."""
    table = read_table(path, **{key: options[key] for key in ("delimiter", "encoding", "sheet") if key in options})
    table = turned_orders(table) if layout in ("auto", "orders") else table
    if not isinstance(target, str):
        names = names_given(target, "target")
        if len(names) > 1:
            for name in names:
                table.index(name)
            cells = {cell for name in names for cell in table.coded(name)[0]}.difference(MISSING)
            are_places = layout == "auto" and None not in place_meanings(table, cells).values()
            argument = {"judges": "judges", "positions": "items", "scores": "items"}.get(layout)
            return {argument or ("items" if are_places else "columns"): names}
        target = names[0] if names else ""
    found = [target] if target in table.header else [name for name in table.header if name.startswith(target)]
    if not found:
        raise table.error(
            f"no column is named {target!r}, or starts so",
            cure=f"Give another target; the columns are {listed(table.header)}.",
        )
    if len(found) == 1 and table.is_numeric(found[0]) and layout == "auto" and "separator" not in options:
        raise table.error(
            f"the target {target} means the column {shown(found[0])} only, and one item is not a ranking",
            cure=f"Name all columns, or how they start; the columns are {listed(table.header)}.",
        )
    return {"column": target} if target in table.header else {"prefix": target}


def _check_name(
    name: str,
    option: str,
    columns: Covariates,
    used: set[str],
    reading: Reading,
    table: Table | None,
    path: Path,
) -> None:
    """Refuse a column that the file does not have, or that holds the rankings or the weights."""
    if name in columns:
        return
    if name in used:
        what = "the weights" if name == reading.weights else "the rankings"
        problem, cure = f"{option} names {shown(name)}, which holds {what}", "Name another column."
    else:
        known = [*columns, *used]
        near = difflib.get_close_matches(name.lower(), [other.lower() for other in known], n=1, cutoff=0.6)
        meant = next((other for other in known if near and other.lower() == near[0]), None)
        problem = f"{option} names {shown(name)}, but there is no such column"
        cure = f"Did you mean {shown(meant)}?" if meant else f"The columns are {listed(list(columns))}."
    raise (
        RankwiseFormatError(problem, path=path, cure=cure) if table is None else table.error(problem, cure=cure)
    ) from None


def _refuse_many_groups(by: str | None, columns: Covariates, path: Path) -> None:
    if by is None:
        return
    n_groups = len({value for value in columns[by].tolist() if not is_unknown_label(value)})
    if n_groups > MOST_GROUPS:
        raise RankwiseFormatError(
            f"by has {n_groups:,} groups, more than {MOST_GROUPS}, in column {shown(by)}",
            path=path,
            cure=f"{MANY_GROUPS_CURE.capitalize()}.",
        )
    if n_groups == 0:
        raise RankwiseFormatError(f"by names {shown(by)}, which is blank", path=path, cure="Name another column.")


def _with_labels(columns: Covariates, table: Table | None, n_rows: int) -> tuple[Covariates, dict[str, list[str]]]:
    """The columns with the labels of their values instead of codes, and which of these have an order.

    Where only some values have labels, these say that there is no answer, as 99 = refused does.
    """
    labels = {} if table is None or len(table) != n_rows else table.labels
    result, ordered = dict(columns), {}
    for name in columns:
        if table is None or not labels.get(name):
            continue
        cells, codes = table.coded(name)
        own = labels[name]
        if all(cell in own or not cell for cell in cells):
            texts = np.array([own.get(cell) for cell in cells], dtype=object)
            result[name] = texts[codes]
            declared = [label for label in dict.fromkeys(own.values()) if label and not is_no_answer(label)]
            levels = declared if name in table.ordered else ordered_levels(set(own.values()))
            if levels is not None:
                ordered[name] = levels
        elif columns[name].dtype.kind == "f":
            is_missing = np.array([is_no_answer(own.get(cell, "")) for cell in cells])
            result[name] = np.where(is_missing[codes], np.nan, columns[name])
    return result, ordered


def _whole(column: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Names or ids, where they are whole numbers as such: nobody is called 101.0."""
    if column.dtype.kind != "f":
        return column
    is_blank = np.isnan(column)
    if not (is_blank | ((np.floor(column) == column) & (np.abs(column) < 2**53))).all():
        return column
    if not is_blank.any():
        return column.astype(np.int64)
    return np.array([None if value != value else int(value) for value in column.tolist()], dtype=object)


def _put_in_order(X: Covariates, labeled: Mapping[str, list[str]]) -> dict[str, list[str]]:
    """The features whose categories have an order, from low to high; other answers of theirs become missing in X."""
    ordered = {}
    for name, column in X.items():
        if column.dtype.kind == "f":
            continue
        levels = labeled.get(name) or ordered_levels(set(column.tolist()) - {None})
        if levels is not None:
            ordered[name] = levels
            known = set(levels)
            X[name] = np.array([value if value in known else None for value in column], dtype=object)
    return ordered


def _chosen_roles(roles: Mapping[str, Role], chosen: Mapping[str, list[str]], only_these: bool) -> dict[str, Role]:
    """The roles as the user wants them."""
    result = dict(roles)
    for name, role in roles.items():
        if name in chosen["features"]:
            result[name] = Role("feature", "by request")
        elif only_these and role.role == "feature":
            result[name] = Role("ignored", "not among the features that were named")
        if name in chosen["ignore"]:
            result[name] = Role("ignored", "by request")
        if name in chosen["id"]:
            result[name] = Role("id", "by request")
        if name in chosen["by"]:
            result[name] = Role("group", "by request")
    return result


def _check(
    rankings: Rankings,
    columns: Covariates,
    roles: Mapping[str, Role],
    reading: Reading,
    table: Table | None,
    id_column: str | None,
) -> DataCheck:
    answers = {
        name: columns[name]
        for name, role in roles.items()
        if role.role not in ("id", "timestamp", "paradata", "constant")
    }
    said = {
        name: columns[name] for name in columns if bare(name) in PREVIEW_COLUMNS and columns[name].dtype.kind != "f"
    }
    is_preview = np.zeros(len(rankings), dtype=bool)
    for column in said.values():
        is_preview |= np.array([str(value).lower() in PREVIEWS for value in column], dtype=bool)
    durations = [name for name in columns if is_duration(name) and columns[name].dtype.kind == "f"]
    is_row_per_ranking = table is not None and len(table) == len(rankings) and reading.layout != "judges"
    places: FloatArray | None = None
    if table is not None and is_row_per_ranking and reading.layout == "positions":
        blanks = dict.fromkeys((*MISSING, *reading.options.get("missing_values", ())), np.nan)
        written = [table.values(name, blanks) for name in reading.columns]
        known = [values for values in written if values is not None]
        places = np.column_stack(known) if known and len(known) == len(written) == rankings.n_items else None
    return check_data(
        rankings,
        answers,
        # In a long table one person may rank several times.
        ids=columns[id_column] if id_column and (is_row_per_ranking or reading.layout in SEVERAL_EACH) else None,
        seconds=columns[durations[0]] if durations else None,
        is_preview=is_preview,
        places=places,
        n_ranked=None if places is None else classify(places, named_places=say_places(reading.columns)).n_ranked,
        in_column_order=reading.layout in ("positions", "scores"),
        lines=table.lines if table is not None and is_row_per_ranking else None,
    )
