"""`read_rankings`: rankings from a file of any format and layout, found out from its name and content.

The way is read text -> decide the format -> cut into a table -> decide the layout (`layouts`) -> check the rows
(`invalid`) -> read the rankings. `read_with_reading` also says how the file was understood.
"""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Callable, Collection
from dataclasses import replace
from pathlib import PurePath
from typing import Any, Literal, overload

import numpy as np

from rankwise._validation import check_option_names
from rankwise.data.formats.column_names import Fit, Layout, columns_with_prefix
from rankwise.data.formats.data_check import spelling_notes
from rankwise.data.formats.delimited import LARGE, binary_table, parse_table
from rankwise.data.formats.invalid import check_rows
from rankwise.data.formats.layouts import layout_found, layout_given
from rankwise.data.formats.match_sheets import unfolded
from rankwise.data.formats.preflib import parse_preflib, read_preflib
from rankwise.data.formats.ratings import doubt_about
from rankwise.data.formats.reading import Blanks, Direction, Reading
from rankwise.data.formats.result_rows import may_have_result_rows, without_result_rows
from rankwise.data.formats.sums import without_sums
from rankwise.data.formats.survey import read_orders_csv, read_positions_csv, read_scores_csv
from rankwise.data.formats.survey_cells import scale_notes
from rankwise.data.formats.survey_choices import columns_of_choices, read_best_worst_csv, read_tricot_csv
from rankwise.data.formats.survey_duels import read_pairwise_csv
from rankwise.data.formats.survey_judges import columns_of_jury, read_judges_csv
from rankwise.data.formats.survey_long import read_long_csv, refuse_scores_in_long, wanted_rows
from rankwise.data.formats.survey_strings import read_ordered_strings_csv, words_alone
from rankwise.data.formats.tables import MISSING, Covariates, Keep, Table, blanked, names_given
from rankwise.data.formats.text import ENCODING, Path, decoded, is_plain, listed, read_bytes
from rankwise.data.formats.turned_orders import turned_orders
from rankwise.data.formats.worded_cells import with_scores_for_words, without_marks, without_no_answers
from rankwise.data.formats.xarff import parse_xarff, read_xarff
from rankwise.data.positions import Unlisted
from rankwise.data.rankings import Rankings
from rankwise.exceptions import RankwiseFormatError

_READERS: dict[str, Callable[..., tuple[Rankings, Covariates]]] = {
    "positions": read_positions_csv,
    "orders": read_orders_csv,
    "strings": read_ordered_strings_csv,
    "long": read_long_csv,
    "pairwise": read_pairwise_csv,
    "scores": read_scores_csv,
    "judges": read_judges_csv,
    "best-worst": read_best_worst_csv,
    "tricot": read_tricot_csv,
}
_FORMATS = ("preflib", "xarff")
_DIRECTION_OF_LAYOUT: dict[str, Direction] = {
    **dict.fromkeys(("positions", "long", "judges"), "1 is best"),
    "scores": "higher is better",
    **dict.fromkeys(("orders", "strings", "pairwise", "best-worst", "tricot", *_FORMATS), "best first"),
}
# Layouts whose cells are places, scores or items, so that a word may say that there is none.
_VOTES_IN_COLUMNS = ("positions", "scores", "orders", "judges", "strings")
# Layouts that do not use all columns besides the covariates.
_COLUMNS_READ: dict[str, Callable[..., list[str]]] = {
    "judges": columns_of_jury,
    "best-worst": columns_of_choices,
    "tricot": columns_of_choices,
}
# What items without a place are by default; duels and choices among items shown have none.
_UNLISTED_OF_LAYOUT: dict[str, Unlisted] = {
    **dict.fromkeys(("positions", "scores", "judges", "long", "xarff"), "missing"),
    **dict.fromkeys(("orders", "strings", "preflib"), "below"),
}
_FORMAT_OF_EXTENSION = dict.fromkeys((".soc", ".soi", ".toc", ".toi"), "preflib") | dict.fromkeys(
    (".xarff", ".arff"), "xarff"
)
_PREFLIB_MARKS = ("# FILE NAME", "# NUMBER ALTERNATIVES")
# Files whose queries do not rank the same items: a line, what it is, and who reads it.
_RETRIEVAL_LINES = (
    (re.compile(r"[-+.\deE]{1,30}\s+qid:", re.ASCII), "a LETOR file", "read_letor"),
    (re.compile(r"\S+\s+Q0\s+\S+\s+\d+\s+[-+.\deE]+\s+\S+", re.ASCII), "a TREC run", "read_run"),
    (re.compile(r"\S+\s+(?:0|Q0)\s+\S+\s+-?\d+", re.ASCII), "TREC relevance judgments", "read_qrels"),
)
# Sheets with sums are for people to look at.
_MOST_SUMMED = 5000
_INSPECTED = 1 << 20
_INSPECTED_LINES = 20
_LONGEST_INSPECTED = 1000


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
    r"""Read rankings from a file: PrefLib, xarff, or a survey table in any of nine layouts.

    Parameters
    ----------
    path : str or path-like
        The file: text, plain or gzip; or a workbook (.xlsx, .ods), SPSS, Stata, Parquet or Arrow file.
    layout : str, default="auto"
        How a table holds the rankings: "positions", "scores", "orders", "strings", "long", "pairwise", "judges",
        "best-worst" or "tricot"; see the notes. "auto" finds out.
    unlisted : {"below", "missing"}, optional
        What a ranking says of items that it does not list: they rank below the listed ones (top-k), or nothing. By
        default "below" where items are listed best first (PrefLib, orders, strings), else "missing".
    return_covariates : bool, default=False
        Whether to return the other columns too.
    **options
        Options of the reader: of `read_positions_csv` and `read_scores_csv` (``items``, ``prefix``, ``weights``, ...),
        `read_orders_csv` (``columns``, ...), `read_ordered_strings_csv` (``column``, ``separator``, ...),
        `read_long_csv` (``respondent``, ``item``, ``position``, ...), `read_pairwise_csv` (``winner``, ``loser``, ...),
        `read_judges_csv` (``item``, ``judges``, ``values``), `read_best_worst_csv` (``best``, ``worst``, ``shown``),
        `read_tricot_csv` (``trait``), `read_preflib`. All tables take ``delimiter`` and ``encoding``, and
        ``invalid="drop"``, which drops rows that are not rankings, such as those with impossible places; workbooks
        take ``sheet``, a name or a number from 1.

    Returns
    -------
    rankings : Rankings
    covariates : dict of str to ndarray
        With ``return_covariates=True``: the other columns, float64 with NaN or text with None where missing. Where
        every item has a column of its name besides the rankings, these are left out, with a warning.

    Raises
    ------
    RankwiseFormatError
        If the file is malformed; or if no layout fits, or more than one. The message shows the call to write.

    Notes
    -----
    ``.soc .soi .toc .toi`` and files that start like them are PrefLib; ``.xarff .arff`` and files that start with
    ``@relation`` are xarff. All else is a table, and the layout is

    - *positions* if columns start with ``rank_``, ``position_``, ``rang_`` or the like and hold places, if cells say
      places in words ("1st choice"), or if every row of columns side by side is a ranking;
    - *scores* if columns start with ``score_``, ``points_`` or ``rating_``;
    - *orders* if columns that differ by a number or ordinal alone (``choice_1, choice_2``) hold shared names;
    - *strings* if the cells of a column read ``a>b>c`` or are JSON arrays of names;
    - *long* if columns are named like respondent, item and position;
    - *pairwise* if columns are named like winner and loser, or left, right and winner, if two sides have scores beside
      or between them ("3-1"), or if rows and columns are the same items (a cross table);
    - *best-worst* if columns are named like best and worst, beside those of the items shown; *tricot* if letters name
      the best and the worst of three;
    - *judges* if the first column names items and every other column is a ranking of the rows.

    Numbers below numbered columns may be positions as well as orders, numbers that are not plainly places may be
    scores, and a column named like a count may be the weights: these are never guessed.

    Examples
    --------
    >>> path = getfixture("tmp_path") / "drinks.csv"
    >>> _ = path.write_text("age,choice_1,choice_2\n31,tea,milk\n47,milk,tea\n")
    >>> read_rankings(path)
    Rankings: 2 rankings of 2 items, full
      tea > milk
      milk > tea
    """
    found = read_with_table(path, return_covariates, layout=layout, unlisted=unlisted, **options)
    rankings, covariates, reading, _ = found
    if options.get("keep") is not None and reading.layout != "long":
        raise ValueError("keep chooses among rows of the same id, which read_rankings does not know; use read_survey")
    if not return_covariates:
        return rankings
    answers = covariates.keys() & set(map(str, rankings.items))
    if len(answers) == len(rankings.items):  # one column that happens to be named like an item may be anything
        names = [name for name in covariates if name in answers]
        warnings.warn(
            f"the columns {listed(names)} are named like the items, so they may give the rankings away; they are "
            "left out of the covariates (rename them to keep them)",
            stacklevel=2,
        )
        covariates = {name: column for name, column in covariates.items() if name not in answers}
    return rankings, covariates


def read_with_reading(
    path: Path,
    *,
    layout: Literal["auto"] | Layout = "auto",
    unlisted: Unlisted | None = None,
    **options: Any,
) -> tuple[Rankings, Covariates, Reading]:
    """Read rankings as `read_rankings` does, and say how the file was understood.

    Parameters
    ----------
    path, layout, unlisted, **options
        As in `read_rankings`.

    Returns
    -------
    rankings : Rankings
    covariates : dict of str to ndarray
        All other columns.
    reading : Reading
    """
    return read_with_table(path, layout=layout, unlisted=unlisted, **options)[:3]


def read_with_table(
    path: Path,
    values_wanted: bool = True,
    /,
    *,
    layout: Literal["auto"] | Layout = "auto",
    unlisted: Unlisted | None = None,
    keep: Keep | None = None,
    without: Collection[str] = (),
    **options: Any,
) -> tuple[Rankings, Covariates, Reading, Table | None]:
    """Read rankings as `read_with_reading` does, and return the table too; None where the file is not one.

    `read_survey` looks there for the texts of the questions, the labels of the values, and the places as written. Where
    the values of the covariates are not wanted, their arrays are empty. ``keep`` is for long tables; in others
    `read_survey` knows who answered. A table is read as if it had no columns of the names in ``without``.
    """
    if layout != "auto" and layout not in _READERS:
        raise ValueError(f"layout is {layout!r}; choose 'auto', {', '.join(map(repr, _READERS))}")
    options |= {} if unlisted is None else {"unlisted": unlisted}
    if options.get("items") is not None:
        options["items"] = names_given(options["items"], "items")  # an iterator can be looked at only once
    encoding = options.get("encoding", ENCODING)
    suffixes = PurePath(os.fsdecode(path)).suffixes[-2:] if isinstance(path, str | bytes | os.PathLike) else []
    extension = next((suffix.lower() for suffix in reversed(suffixes) if suffix.lower() != ".gz"), "")
    file_format = _FORMAT_OF_EXTENSION.get(extension) if layout == "auto" else "table"
    data = read_bytes(path)
    may_be_table = file_format in (None, "table")
    table = binary_table(data, path, options.get("sheet")) if may_be_table else None
    # The first lines of a large table tell how to read the others, which need not be decoded.
    is_large = table is None and may_be_table and len(data) >= LARGE and encoding == ENCODING and is_plain(data)
    begin = data[: data.rfind(b"\n", 0, _INSPECTED) + 1] if is_large else b""
    text = decoded(begin or data, path, encoding if may_be_table else None) if table is None else ""
    file_format = "table" if table is not None else file_format or _format(text, path)
    if file_format != "table":
        text = decoded(data, path) if begin else text
        del data
        return _from_lines(file_format, text, path, options)
    table = parse_table(text, path, options.get("delimiter"), data if begin else None) if table is None else table
    del data, text
    table = table if values_wanted else replace(table, names_only=True)
    table = table.without(without) if without else table
    if len(table) <= _MOST_SUMMED:
        table = without_result_rows(table) if may_have_result_rows(table) else table
        named = [[value] if isinstance(value, str) else value for value in options.values()]
        table = without_sums(table, [name for names in named if isinstance(names, list | tuple) for name in names])
    if layout in ("auto", "pairwise") and 2 < len(table) < len(table.header):
        table = unfolded(table)
    table = turned_orders(table) if layout in ("auto", "orders") else table
    table = without_marks(table)
    invalid = options.pop("invalid", "raise")
    seen = blanked(table, options["missing_values"]) if "missing_values" in options else table
    seen = without_no_answers(seen)
    settled = layout_given(seen, layout, options)
    fit = settled or layout_found(table, seen, layout, options)
    options |= {"keep": keep} if keep is not None and fit.layout == "long" else {}
    of_reader = {name: value for name, value in options.items() if name != "sheet"}
    check_option_names(
        "read_rankings", of_reader, _READERS[fit.layout], reserved=["path"], what=f"the layout {fit.layout!r}"
    )
    given = {**fit.options, **of_reader}
    if fit.layout in _VOTES_IN_COLUMNS:
        names = {name: value for name, value in given.items() if isinstance(value, str | list | tuple)}
        table = without_no_answers(table, replace(fit, options=names).columns(table))
    table = with_scores_for_words(table, fit.layout, given)
    table = wanted_rows(table, given) if fit.layout == "long" and {"trait", "keep"} & given.keys() else table
    dropped: dict[str, int] = {}
    notes: list[str] = []
    if not fit.is_clean or invalid not in ("raise", "drop"):
        obey = bool(settled) and layout != "auto"
        table, dropped, notes = check_rows(table, fit, options, invalid=invalid, obey=obey)
    if fit.layout == "long" and layout == "auto":
        refuse_scores_in_long(blanked(table, options.get("missing_values", MISSING)), given)
    rankings, covariates = _from_table(table, fit.layout, given, invalid)
    notes += words_alone(rankings) if fit.layout == "strings" else []
    others = {*covariates, options.get("weights")}
    columns = _columns_used(table, fit.layout, given, [name for name in table.header if name not in others])
    unused = [name for name in table.header if name not in others and name not in columns]
    notes += _about_unused(table, unused, fit.layout, options)
    if settled and layout == "positions" and not without:
        doubt = doubt_about(blanked(table, options.get("missing_values", MISSING)), columns)
        notes = [f"These may be scores: {doubt}. They were read as places, 1 = best, as asked."] if doubt else notes
    options |= {"invalid": invalid} if invalid == "drop" else {}
    reading = _reading(rankings, fit, columns, options)
    scored = reading.direction == "higher is better" and fit.layout in ("scores", "judges")
    own = (*table.notes, *notes, *(scale_notes(table, reading) if scored else ()), *reading.notes)
    return rankings, covariates, replace(reading, dropped=dropped, notes=own), table


def _from_table(table: Table, layout: str, given: dict[str, Any], invalid: str) -> tuple[Rankings, Covariates]:
    """What the reader of the layout reads; the ways that its error offers drop rows as the caller does."""
    try:
        return _READERS[layout](table, **given)
    except RankwiseFormatError as error:
        if invalid == "drop":  # it is no option of the readers
            error.choices = [{"invalid": invalid, **choice} for choice in error.choices]
        raise


def _columns_used(table: Table, layout: str, options: dict[str, Any], taken: list[str]) -> tuple[str, ...]:
    """The columns of the rankings, of those that are no covariates, in the order of the items or of the places."""
    if layout in _COLUMNS_READ:
        return tuple(_COLUMNS_READ[layout](table, options))
    named: list[str] = []
    if layout in ("positions", "scores", "orders"):
        named = list(options.get("columns" if layout == "orders" else "items") or ())
        named = named if options.get("prefix") is None else columns_with_prefix(table, options["prefix"])
    named = [name for name in named if name in taken]
    return tuple(named if len(named) == len(taken) else taken)


def _about_unused(table: Table, unused: list[str], layout: str, options: dict[str, Any]) -> list[str]:
    """Notes about columns that are neither part of the rankings nor covariates."""
    blank = [name for name in unused if layout == "judges" and set(MISSING).issuperset(table.coded(name)[0])]
    unused = [name for name in unused if name not in blank]
    notes = [f"{listed(blank)} {'is' if len(blank) == 1 else 'are'} blank: no vote there."] if blank else []
    notes += [f"Columns that were not used: {listed(unused)}."] if unused else []
    if layout == "judges" and any(map(table.is_numeric, unused)) and not {"judges", "prefix"} & options.keys():
        notes.append("If one of them is a judge, name all judges: judges=[...].")
    return notes


def _from_lines(
    file_format: str, text: str, path: Path, options: dict[str, Any]
) -> tuple[Rankings, Covariates, Reading, None]:
    """The rankings of a file that is not a table."""
    if file_format == "preflib":
        check_option_names("read_rankings", options, read_preflib, reserved=["path"], what="PrefLib files")
        rankings = parse_preflib(text, path, **options)
        fit = Fit("preflib", reason="The file starts like PrefLib.")
        return rankings, {}, _reading(rankings, fit, (), options), None
    check_option_names("read_rankings", options, read_xarff, reserved=["path"], what="xarff files")
    covariates, rankings = parse_xarff(text, path, **options)
    fit = Fit("xarff", reason="The file is an xarff file.")
    return rankings, covariates, _reading(rankings, fit, (), options), None


def _reading(rankings: Rankings, fit: Fit, columns: tuple[str, ...], options: dict[str, Any]) -> Reading:
    """What is said of a file that was read in that way."""
    blanks: Blanks = "no blanks"
    if not np.isfinite(rankings.positions.sum()):
        blanks = "missing" if np.isnan(rankings.positions).any() else "below"
    default = _UNLISTED_OF_LAYOUT.get(fit.layout)
    given = {**fit.options, **options}
    notes = []
    placed = (
        np.unique(np.count_nonzero(np.isfinite(rankings.positions), axis=1)) if blanks != "no blanks" else np.empty(0)
    )
    placed = placed[placed > 0]  # some may have ranked nothing
    alike = {" ".join(str(item).split()).casefold() for item in rankings.items}
    # In a long table people may have been shown different items, and items may only look different.
    is_few = default and fit.layout != "long" and len(alike) == len(rankings.items)
    if is_few and len(placed) == 1 and placed[0] < len(rankings.items):
        notes.append(f"Everybody ranks exactly {placed[0]} of {rankings.n_items} items, as if asked for the best only.")
    notes += spelling_notes(rankings) if len(alike) < len(rankings.items) else []
    if fit.layout == "best-worst" and (rankings.positions == 2).sum(axis=1).max(initial=0) > 1:
        notes.append("Items that are neither best nor worst are tied between the two.")
    direction = _DIRECTION_OF_LAYOUT[fit.layout]
    if given.get("values") == "scores" or "score" in given:
        direction = "higher is better"
    return Reading(
        layout=fit.layout,
        direction=direction,
        reason=fit.reason or "The call names the columns.",
        blanks=blanks,
        unlisted=default and options.get("unlisted", default),
        columns=columns,
        weights=options.get("weights"),
        notes=tuple(notes),
        options={**({} if fit.layout in _FORMATS else fit.arguments()), **options},
    )


def _format(text: str, path: Path) -> str:
    """PrefLib, xarff or table, by the first lines."""
    lines = [line.strip()[:_LONGEST_INSPECTED] for line in text[:_INSPECTED].split("\n")[:_INSPECTED_LINES]]
    if any(line.startswith(_PREFLIB_MARKS) for line in lines):
        return "preflib"
    content = [line for line in lines if line and not line.startswith(("%", "#"))]
    if content and content[0].lower().startswith(("@relation", "@attribute")):
        return "xarff"
    for pattern, name, reader in _RETRIEVAL_LINES:
        if content and all(map(pattern.match, content)):
            raise RankwiseFormatError(
                f"this looks like {name}, whose queries do not rank the same items", path=path, cure=f"Use {reader}."
            )
    return "table"
