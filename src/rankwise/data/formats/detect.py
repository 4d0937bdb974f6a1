"""Read rankings from a file of any format, found out from its name and content."""

from __future__ import annotations

import inspect
import os
import re
from collections.abc import Callable
from pathlib import PurePath
from typing import Any, Literal, overload

from rankwise.data.formats import layouts
from rankwise.data.formats.layouts import Fit, Layout
from rankwise.data.formats.lines import Path, read_text, shown
from rankwise.data.formats.preflib import read_preflib
from rankwise.data.formats.survey import read_ordered_strings_csv, read_orders_csv, read_positions_csv
from rankwise.data.formats.survey_long import read_long_csv, read_pairwise_csv
from rankwise.data.formats.table import (
    ENCODING,
    MISSING,
    Covariates,
    Table,
    blanked,
    listed,
    names_given,
    read_table,
)
from rankwise.data.formats.xarff import read_xarff
from rankwise.data.positions import Unlisted
from rankwise.data.rankings import Rankings
from rankwise.exceptions import RankwiseFormatError

_READERS: dict[str, Callable[..., tuple[Rankings, Covariates]]] = {
    "positions": read_positions_csv,
    "orders": read_orders_csv,
    "strings": read_ordered_strings_csv,
    "long": read_long_csv,
    "pairwise": read_pairwise_csv,
}
# Options that only one layout has, so that giving one chooses the layout.
_LAYOUT_OF_OPTION: dict[str, Layout] = {
    "columns": "orders",
    "column": "strings",
    "separator": "strings",
    "tie": "strings",
    "respondent": "long",
    "item": "long",
    "position": "long",
    "drop": "long",
    "winner": "pairwise",
    "loser": "pairwise",
    "left": "pairwise",
    "right": "pairwise",
}
_FORMAT_OF_EXTENSION = dict.fromkeys((".soc", ".soi", ".toc", ".toi"), "preflib") | dict.fromkeys(
    (".xarff", ".arff"), "xarff"
)
_PREFLIB_MARKS = ("# FILE NAME", "# NUMBER ALTERNATIVES")
_LETOR_LINE = re.compile(r"[-+.\deE]{1,30}\s+qid:", re.ASCII)
_TREC_RUN_LINE = re.compile(r"\S+\s+Q0\s+\S+\s+\d+\s+[-+.\deE]+\s+\S+", re.ASCII)
_TREC_QRELS_LINE = re.compile(r"\S+\s+(?:0|Q0)\s+\S+\s+-?\d+", re.ASCII)
_INSPECTED_LINES = 20
_LONGEST_INSPECTED = 1000
_SHOWN_CALLS = 4


@overload
def read_rankings(
    path: Path,
    *,
    layout: Literal["auto"] | Layout = ...,
    unlisted: Unlisted | None = ...,
    return_covariates: Literal[False] = ...,
    **options: Any,
) -> Rankings: ...


@overload
def read_rankings(
    path: Path,
    *,
    layout: Literal["auto"] | Layout = ...,
    unlisted: Unlisted | None = ...,
    return_covariates: Literal[True],
    **options: Any,
) -> tuple[Rankings, Covariates]: ...


def read_rankings(
    path: Path,
    *,
    layout: Literal["auto"] | Layout = "auto",
    unlisted: Unlisted | None = None,
    return_covariates: bool = False,
    **options: Any,
) -> Rankings | tuple[Rankings, Covariates]:
    r"""Read rankings from a file: PrefLib, xarff, or a survey table in any of five layouts.

    Parameters
    ----------
    path : str or path-like
        The file, plain or gzip.
    layout : {"auto", "positions", "orders", "strings", "long", "pairwise"}, default="auto"
        How a table holds the rankings; see the notes.
    unlisted : {"below", "missing"}, optional
        What a ranking says of items that it does not list: they rank below the listed ones (top-k), or nothing. By
        default "below" where items are listed best first (PrefLib, orders, strings), else "missing".
    return_covariates : bool, default=False
        Whether to return the other columns too.
    **options
        Options of the reader: of `read_positions_csv` (``items``, ``prefix``, ``weights``, ...), `read_orders_csv`
        (``columns``, ...), `read_ordered_strings_csv` (``column``, ``separator``, ...), `read_long_csv`
        (``respondent``, ``item``, ``position``, ...), `read_pairwise_csv` (``winner``, ``loser``, ...),
        `read_preflib`. All tables take ``delimiter`` and ``encoding``.

    Returns
    -------
    rankings : Rankings
    covariates : dict of str to ndarray
        With ``return_covariates=True``: the other columns, float64 with NaN or text with None where missing.

    Raises
    ------
    RankwiseFormatError
        If the file is malformed; or if no layout fits, or more than one. The message shows the call to write.

    Notes
    -----
    ``.soc .soi .toc .toi`` and files that start like them are PrefLib; ``.xarff .arff`` and files that start with
    ``@relation`` are xarff. All else is a table, and the layout is

    - *positions* if columns start with ``rank_``, ``position_`` or ``y_`` and hold places, or if every row of the
      whole table is a ranking of its columns;
    - *orders* if columns that differ by a number or ordinal alone (``choice_1, choice_2``) hold shared names;
    - *strings* if the cells of a column read ``a>b>c`` or are JSON arrays of names;
    - *long* if columns are named like respondent, item and position;
    - *pairwise* if columns are named like winner and loser, or left, right and winner.

    Numbers below numbered columns may be positions as well as orders, and a column named like a count may be the
    weights: these are never guessed.

    Examples
    --------
    >>> path = getfixture("tmp_path") / "drinks.csv"
    >>> _ = path.write_text("age,choice_1,choice_2\n31,tea,milk\n47,milk,tea\n")
    >>> read_rankings(path)
    Rankings: 2 rankings of 2 items, full
      tea > milk
      milk > tea
    """
    if layout != "auto" and layout not in _READERS:
        raise ValueError(f"layout is {layout!r}; choose 'auto', {', '.join(map(repr, _READERS))}")
    if unlisted is not None:
        options["unlisted"] = unlisted
    if options.get("items") is not None:
        options["items"] = names_given(options["items"], "items")  # an iterator can be looked at once only
    encoding = options.get("encoding", ENCODING)
    file_format = _format(path, encoding) if layout == "auto" else "table"
    covariates: Covariates = {}
    if file_format == "preflib":
        _check_options(options, read_preflib, "PrefLib files")
        rankings = read_preflib(path, **options)
    elif file_format == "xarff":
        _check_options(options, read_xarff, "xarff files")
        covariates, rankings = read_xarff(path, **options)
    else:
        table = read_table(path, options.get("delimiter"), encoding)
        seen = blanked(table, options.get("missing_values", MISSING))
        fit = _given(seen, layout, options) or _found(seen, layout, options, layouts.possible_weights(table))
        reader = _READERS[fit.layout]
        _check_options(options, reader, f"the layout {fit.layout!r}")
        rankings, covariates = reader(table, **{**fit.options, **options})
    return (rankings, covariates) if return_covariates else rankings


def _check_options(options: dict[str, Any], reader: Callable[..., Any], what: str) -> None:
    known = [name for name in inspect.signature(reader).parameters if name != "path"]
    unknown = [option for option in options if option not in known]
    if unknown:
        raise TypeError(f"read_rankings has no option {unknown[0]!r} for {what}; there are {', '.join(known)}")


def _format(path: Path, encoding: str) -> str:
    """PrefLib, xarff or table, by the extension if it tells, else by the first lines."""
    is_path = isinstance(path, str | bytes | os.PathLike)
    suffixes = [suffix.lower() for suffix in PurePath(os.fsdecode(path)).suffixes] if is_path else []
    plain = [suffix for suffix in suffixes[-2:] if suffix != ".gz"]
    if plain and plain[-1] in _FORMAT_OF_EXTENSION:
        return _FORMAT_OF_EXTENSION[plain[-1]]
    lines = [line.strip()[:_LONGEST_INSPECTED] for line in read_text(path, encoding).split("\n", _INSPECTED_LINES)]
    lines = [line for line in lines[:_INSPECTED_LINES] if line]
    if any(line.startswith(_PREFLIB_MARKS) for line in lines):
        return "preflib"
    content = [line for line in lines if not line.startswith(("%", "#"))]
    if content and content[0].lower().startswith(("@relation", "@attribute")):
        return "xarff"
    _refuse_retrieval_files(content, path)
    return "table"


def _refuse_retrieval_files(lines: list[str], path: Path) -> None:
    for pattern, name, reader in (
        (_LETOR_LINE, "a LETOR file", "read_letor"),
        (_TREC_RUN_LINE, "a TREC run", "read_run"),
        (_TREC_QRELS_LINE, "TREC relevance judgments", "read_qrels"),
    ):
        if lines and all(pattern.match(line) for line in lines):
            raise RankwiseFormatError(
                f"this looks like {name}, whose queries do not rank the same items", path=path, cure=f"Use {reader}."
            )


def _given(table: Table, layout: str, options: dict[str, Any]) -> Fit | None:
    """The layout that the options settle; None if they name no columns."""
    implied = [_LAYOUT_OF_OPTION[option] for option in options if option in _LAYOUT_OF_OPTION]
    columns = _columns_given(table, options)
    named = options.get("items") or []
    if layout != "auto":
        settled = implied or columns or (layout == "positions" and named)
        return Fit(layout) if settled else None  # type: ignore[arg-type]
    if implied:
        return Fit(implied[0])
    if not columns and any(name in table.header for name in named):
        return Fit("positions")  # the reader says which of them is no column
    if not columns:
        return None
    option = "prefix" if "prefix" in options else "items"
    as_positions = Fit("positions", {option: options[option]})
    as_orders = Fit("orders", {"prefix": options["prefix"]} if option == "prefix" else {"columns": columns})
    if layouts.is_ambiguous(table, columns):
        raise _either_way(table, [as_positions, as_orders], options)
    certain = option == "items" or layouts.must_be_positions(table, columns, str(options["prefix"]))
    return as_positions if certain else as_orders


def _columns_given(table: Table, options: dict[str, Any]) -> list[str]:
    """The columns that ``items`` or ``prefix`` names; in other layouts ``items`` are names of items instead."""
    if options.get("prefix") is not None:
        return layouts.columns_with_prefix(table, str(options["prefix"]))
    items = options.get("items") or []
    return items if set(items) <= set(table.header) else []


def _found(table: Table, layout: str, options: dict[str, Any], possible_weights: str | None) -> Fit:
    """The only layout that fits; else the error that shows what to write."""

    def fitting(weights: str | None) -> list[Fit]:
        return [fit for fit in layouts.all_fits(table, weights) if layout in ("auto", fit.layout)]

    count = None if "weights" in options else possible_weights
    with_count = options if count is None else {**options, "weights": count}
    fits = fitting(count) if count is not None else []
    if count is not None and fits:
        raise table.error(
            f"column {shown(count)} may say how often each ranking counts",
            cure=f"Write {_calls(table, fits, with_count)}; or weights=None if it is an ordinary column.",
        )
    fits = fitting(options.get("weights"))
    if len(fits) == 1:
        # The items that were given are no columns, though they should be here: the reader says so.
        return Fit("positions") if fits[0].layout == "positions" and options.get("items") else fits[0]
    if fits:
        raise _either_way(table, fits, options)
    if layout in ("auto", "positions"):
        _refuse_misfit(table, with_count)
    likely = [fit for fit in layouts.likely_fits(table, with_count.get("weights")) if layout in ("auto", fit.layout)]
    _refuse_blanks(table, likely)
    if layout != "auto" and not likely:
        return Fit(layout)  # type: ignore[arg-type]  # the reader says what it misses
    what = "no layout fits" if layout == "auto" else f"the layout {layout!r} does not clearly fit"
    raise table.error(f"{what} the columns {listed(table.header)}", cure=_suggestion(table, likely, with_count))


def _refuse_misfit(table: Table, options: dict[str, Any]) -> None:
    """Refuse positions for a cell that is none, or far below the last of so many items."""
    misfit = layouts.first_misfit(table)
    if misfit is None:
        return
    prefix, row, name = misfit
    cell = table.rows[row][table.index(name)]
    fit = Fit("positions", {"prefix": prefix})
    not_ranked = {**options, "missing_values": [*options.get("missing_values", ()), cell]}
    cure = f"Correct it; if it says 'not ranked', write {_calls(table, [fit], not_ranked)}"
    if (table.numbers(table.column(name))[cell] or 0) > 0:
        cure += f"; if it is a place, write {_calls(table, [fit], options)}"
    n_items = len(fit.columns(table))
    raise table.error(f"{shown(cell)} is no place among {n_items} items", row=row, column=name, cure=f"{cure}.")


def _refuse_blanks(table: Table, likely: list[Fit]) -> None:
    """Refuse a table whose rankings are most likely in columns without a cell."""
    blank = layouts.blank_group(table)
    if blank and all(len(set(fit.columns(table)).difference(blank)) < 2 for fit in likely):
        raise table.error(
            f"all cells of {listed(blank)} are blank",
            cure="If the rankings belong there, get the file with the answers; else name the columns that hold them.",
        )


def _either_way(table: Table, fits: list[Fit], options: dict[str, Any]) -> RankwiseFormatError:
    names = fits[0].columns(table)
    if [fit.layout for fit in fits] == ["positions", "orders"] and set(fits[1].columns(table)) == set(names):
        problem = (
            f"the columns {listed(names)} hold numbers, which may be positions (column = item, cell = its place) or "
            "orders (column = place, cell = the item there)"
        )
    else:
        problem = f"the rankings may be in {len(fits)} groups of columns"
    return table.error(problem, cure=f"Write {_calls(table, fits, options)}.")


def _calls(table: Table, fits: list[Fit], options: dict[str, Any]) -> str:
    """The calls that read the file in each of the ways, joined by "or"."""
    calls = []
    for fit in fits[:_SHOWN_CALLS]:
        more = {name: options[name] for name in ("weights", "missing_values") if options.get(name) is not None}
        if fit.layout in ("positions", "orders") and any("0" in table.column(name) for name in fit.columns(table)):
            more["missing_values"] = [*more.get("missing_values", ()), "0"]
        calls.append(fit.call(**more))
    return " or ".join(calls)


def _suggestion(table: Table, fits: list[Fit], options: dict[str, Any]) -> str:
    if layouts.has_numbers_for_names(table):
        fits = [*fits, *(Fit("orders", {"columns": fit.columns(table)}) for fit in fits)]
        advice = "If the first line is a ranking itself, put a line with the names of the columns above it"
        return f"{advice}; if not, write {_calls(table, fits, options)}." if fits else f"{advice}."
    if fits:
        best_first = ", the places best first" if any(fit.layout == "orders" for fit in fits) else ""
        return f"If these columns hold the rankings, write {_calls(table, fits, options)}{best_first}."
    return (
        "Name the layout and its columns: read_rankings(path, layout='positions', items=[...]), "
        "layout='orders', columns=[...], layout='strings', column='...', "
        "layout='long', respondent='...', item='...', position='...', or layout='pairwise', winner='...', loser='...'."
    )
