"""`read_rankings`: rankings from a file of any format and layout, found out from its name and content.

The way is read text -> decide the format -> cut into a table -> decide the layout -> read the rankings. Where no layout
fits, or more than one, the error shows the call to write; the second half of this module finds that call.
"""

from __future__ import annotations

import os
import re
import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import PurePath
from typing import Any, Literal, overload

import numpy as np

from rankwise._validation import check_option_names
from rankwise.data.formats.preflib import parse_preflib, read_preflib
from rankwise.data.formats.reading import Direction, Reading
from rankwise.data.formats.survey import (
    PLACES_PER_ITEM,
    PREFIXES,
    WEIGHTS,
    Fit,
    Layout,
    all_fits,
    are_numbered,
    columns_option,
    columns_with_prefix,
    known_prefixes,
    list_items,
    looks_like_codes,
    mostly_numbers,
    numbered_groups,
    ranking_numbers,
    read_orders_csv,
    read_positions_csv,
)
from rankwise.data.formats.survey_long import read_long_csv, read_pairwise_csv
from rankwise.data.formats.survey_strings import read_ordered_strings_csv
from rankwise.data.formats.text import (
    ENCODING,
    MISSING,
    Covariates,
    Path,
    Table,
    blanked,
    listed,
    names_given,
    number,
    parse_table,
    read_text,
    shown,
)
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
}
_FORMATS = ("preflib", "xarff")
_DIRECTION_OF_LAYOUT: dict[str, Direction] = {
    **dict.fromkeys(("positions", "long"), "1 is best"),
    **dict.fromkeys(("orders", "strings", "pairwise", *_FORMATS), "best first"),
}
# What items without a place are by default; duels have none.
_UNLISTED_OF_LAYOUT: dict[str, Unlisted] = {
    **dict.fromkeys(("positions", "long", "xarff"), "missing"),
    **dict.fromkeys(("orders", "strings", "preflib"), "below"),
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
# Files whose queries do not rank the same items: a line, what it is, and who reads it.
_RETRIEVAL_LINES = (
    (re.compile(r"[-+.\deE]{1,30}\s+qid:", re.ASCII), "a LETOR file", "read_letor"),
    (re.compile(r"\S+\s+Q0\s+\S+\s+\d+\s+[-+.\deE]+\s+\S+", re.ASCII), "a TREC run", "read_run"),
    (re.compile(r"\S+\s+(?:0|Q0)\s+\S+\s+-?\d+", re.ASCII), "TREC relevance judgments", "read_qrels"),
)
_INSPECTED = 1 << 20
_INSPECTED_LINES = 20
_LONGEST_INSPECTED = 1000
_SHOWN_CALLS = 4
_MOST_SUGGESTED = 200


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
    rankings, covariates, _ = read_with_reading(path, layout=layout, unlisted=unlisted, **options)
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
    *,
    layout: Literal["auto"] | Layout = "auto",
    unlisted: Unlisted | None = None,
    **options: Any,
) -> tuple[Rankings, Covariates, Reading, Table | None]:
    """Read rankings as `read_with_reading` does, and return the table too; None where the file is not one.

    `read_survey` looks there for the texts of the questions, the labels of the values, and the places as written.
    """
    if layout != "auto" and layout not in _READERS:
        raise ValueError(f"layout is {layout!r}; choose 'auto', {', '.join(map(repr, _READERS))}")
    if unlisted is not None:
        options["unlisted"] = unlisted
    if options.get("items") is not None:
        options["items"] = names_given(options["items"], "items")  # an iterator can be looked at only once
    encoding = options.get("encoding", ENCODING)
    suffixes = PurePath(os.fsdecode(path)).suffixes[-2:] if isinstance(path, str | bytes | os.PathLike) else []
    extension = next((suffix.lower() for suffix in reversed(suffixes) if suffix.lower() != ".gz"), "")
    file_format = _FORMAT_OF_EXTENSION.get(extension) if layout == "auto" else "table"
    text = read_text(path, encoding if file_format in (None, "table") else None)
    file_format = file_format or _format(text, path)
    if file_format == "preflib":
        check_option_names("read_rankings", options, read_preflib, reserved=["path"], what="PrefLib files")
        rankings = parse_preflib(text, path, **options)
        fit = Fit("preflib", reason="The file starts like PrefLib.")
        return rankings, {}, _reading(rankings, fit, (), options), None
    if file_format == "xarff":
        check_option_names("read_rankings", options, read_xarff, reserved=["path"], what="xarff files")
        covariates, rankings = parse_xarff(text, path, **options)
        fit = Fit("xarff", reason="The file is an xarff file.")
        return rankings, covariates, _reading(rankings, fit, (), options), None
    table = parse_table(text, path, options.get("delimiter"))
    seen = blanked(table, options["missing_values"]) if "missing_values" in options else table
    fit = _layout_given(seen, layout, options) or _layout_found(table, seen, layout, options)
    check_option_names(
        "read_rankings", options, _READERS[fit.layout], reserved=["path"], what=f"the layout {fit.layout!r}"
    )
    rankings, covariates = _READERS[fit.layout](table, **{**fit.options, **options})
    columns = tuple(name for name in table.header if name not in covariates and name != options.get("weights"))
    return rankings, covariates, _reading(rankings, fit, columns, options), table


def _reading(rankings: Rankings, fit: Fit, columns: tuple[str, ...], options: dict[str, Any]) -> Reading:
    """What is said of a file that was read in that way."""
    missing, below = np.isnan(rankings.positions).any(), np.isinf(rankings.positions).any()
    default = _UNLISTED_OF_LAYOUT.get(fit.layout)
    return Reading(
        layout=fit.layout,
        direction=_DIRECTION_OF_LAYOUT[fit.layout],
        reason=fit.reason or "The call names the columns.",
        blanks="missing" if missing else "below" if below else "no blanks",
        unlisted=default and options.get("unlisted", default),
        columns=columns,
        weights=options.get("weights"),
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


def _layout_given(table: Table, layout: str, options: dict[str, Any]) -> Fit | None:
    """The layout that the options settle; None if they do not name any columns."""
    implied = [_LAYOUT_OF_OPTION[option] for option in options if option in _LAYOUT_OF_OPTION]
    named = options.get("items") or []
    # In other layouts ``items`` are names of items instead of columns.
    columns = named if set(named) <= set(table.header) else []
    if options.get("prefix") is not None:
        columns = columns_with_prefix(table, str(options["prefix"]))
    if layout != "auto":
        settled = implied or columns or (layout == "positions" and named)
        return Fit(layout) if settled else None  # type: ignore[arg-type]
    if implied:
        return Fit(implied[0])
    if not columns:
        # If some of the items are columns, the reader says which one is not.
        return Fit("positions") if any(name in table.header for name in named) else None
    option = "prefix" if "prefix" in options else "items"
    as_positions = Fit("positions", {option: options[option]})
    as_orders = Fit("orders", {"prefix": options["prefix"]} if option == "prefix" else {"columns": columns})
    if _is_ambiguous(table, columns):
        raise _either_way(table, [as_positions, as_orders], options)
    certain = option == "items" or _must_be_positions(table, columns, str(options["prefix"]))
    return as_positions if certain else as_orders


def _layout_found(table: Table, seen: Table, layout: str, options: dict[str, Any]) -> Fit:
    """The only layout that fits the table as ``seen``; else the error that shows what to write."""
    count = None if "weights" in options else _possible_weights(table)
    if count is not None:
        with_count = {**options, "weights": count}
        fits = [fit for fit in all_fits(seen, count) if layout in ("auto", fit.layout)]
        if fits:
            raise seen.error(
                f"column {shown(count)} may say how often each ranking counts",
                cure=f"Write {_calls(seen, fits, with_count)}; or weights=None if it is an ordinary column.",
            )
    fits = [fit for fit in all_fits(seen, options.get("weights")) if layout in ("auto", fit.layout)]
    if len(fits) == 1:
        # If items were given and none is a column, the reader says so.
        return Fit("positions") if fits[0].layout == "positions" and options.get("items") else fits[0]
    if fits:
        raise _either_way(seen, fits, options)
    options = options if count is None else with_count
    if layout in ("auto", "positions"):
        _refuse_misfit(seen, options)
    likely = [fit for fit in _likely_fits(seen, options.get("weights")) if layout in ("auto", fit.layout)]
    _refuse_blanks(seen, likely)
    if layout != "auto" and not likely:
        return Fit(layout)  # type: ignore[arg-type]  # the reader says what is missing
    what = "no layout fits" if layout == "auto" else f"the layout {layout!r} does not clearly fit"
    raise seen.error(f"{what} the columns {listed(seen.header)}", cure=_suggestion(seen, likely, options))


def _possible_weights(table: Table) -> str | None:
    """A column named like a count that holds no negative numbers."""
    for name in table.header:
        if name.lower() in WEIGHTS:
            values = table.values(name, others={})
            if values is not None and (values >= 0).all():
                return name
    return None


def _is_ambiguous(table: Table, names: Sequence[str]) -> bool:
    """Whether the columns are numbered and hold numbers without ties: places of items, or items at places."""
    values = ranking_numbers(table, names)
    codes = mostly_numbers(table, names) if values is None else looks_like_codes(values)
    return codes and are_numbered(names)


def _must_be_positions(table: Table, names: Sequence[str], prefix: str) -> bool:
    """Whether columns with that prefix can hold nothing but positions, even if a cell among them is not one."""
    if ranking_numbers(table, names) is not None:
        return True
    return not are_numbered(names) and (prefix.lower().startswith(PREFIXES) or mostly_numbers(table, names))


def _refuse_misfit(table: Table, options: dict[str, Any]) -> None:
    """Refuse columns of a known prefix that hold mostly places, at the first cell that is not a place."""
    for prefix, names in known_prefixes(table):
        rows = list(zip(*(table.column(name) for name in names), strict=True))
        counts = Counter(cell for cells in rows for cell in cells if cell not in MISSING)
        meaning = table.numbers(counts) | {"inf": np.inf}
        slips = {cell for cell in counts if not _is_place(meaning[cell], PLACES_PER_ITEM * len(names))}
        # Below numbered columns a word may as well be an item among numbers.
        if not slips or 2 * sum(counts[cell] for cell in slips) > counts.total() or are_numbered(names):
            continue
        row, cells = next((row, cells) for row, cells in enumerate(rows) if not slips.isdisjoint(cells))
        name, cell = next((name, cell) for name, cell in zip(names, cells, strict=True) if cell in slips)
        fit = Fit("positions", {"prefix": prefix})
        not_ranked = {**options, "missing_values": [*options.get("missing_values", ()), cell]}
        cure = f"Correct it; if it says 'not ranked', write {_calls(table, [fit], not_ranked)}"
        if (table.numbers(table.coded(name)[0])[cell] or 0) > 0:
            cure += f"; if it is a place, write {_calls(table, [fit], options)}"
        raise table.error(
            f"{shown(cell)} is not a place among {len(names)} items", row=row, column=name, cure=f"{cure}."
        )


def _is_place(value: float | None, most: int) -> bool:
    """Whether this is a place from 1 to ``most``, halves for ties; or unlisted, or 0."""
    return value is not None and (value in (0, np.inf) or (1 <= value <= most and float(2 * value).is_integer()))


def _refuse_blanks(table: Table, likely: list[Fit]) -> None:
    """Refuse a table whose rankings are most likely in columns without a cell."""
    groups = [names for _, names in known_prefixes(table)]
    groups += [list(group.values()) for group in numbered_groups(table.header)]
    empty = {name for name in table.header if set(MISSING).issuperset(table.coded(name)[0])}
    blank = next((names for names in groups if empty.issuperset(names)), [])
    if blank and all(len(set(fit.columns(table)).difference(blank)) < 2 for fit in likely):
        raise table.error(
            f"all cells of {listed(blank)} are blank",
            cure="If the rankings belong there, get the file with the answers; else name the columns that hold them.",
        )


def _likely_fits(table: Table, weights: str | None) -> list[Fit]:
    """What may be meant where nothing fits; for suggestions only."""
    prefixes = [prefix for prefix, names in known_prefixes(table) if ranking_numbers(table, names) is not None]
    if prefixes:
        return [Fit("positions", {"prefix": prefix}) for prefix in prefixes]
    others = [name for name in table.header if name != weights]
    fits = []
    for group in (list(places.values()) for places in numbered_groups(others)):
        if not all(map(table.is_numeric, group)):
            if mostly_numbers(table, group):
                fits.append(Fit("positions", columns_option(table, "items", group)))
            fits.append(Fit("orders", columns_option(table, "columns", group)))
    names = _leading_positions(table) or (others if ranking_numbers(table, others) is not None else [])
    if names:
        fits.append(Fit("positions", {"items": names}))
    if not fits and not any(map(table.is_numeric, others)) and list_items(table, others, max(len(others), 2)):
        fits.append(Fit("orders", {"columns": others}))
    return fits


def _leading_positions(table: Table) -> list[str]:
    """The most columns from the left that could hold positions without ties; for suggestions only."""
    best: list[str] = []
    values = np.empty((len(table), 0))
    for width, name in enumerate(table.header[:_MOST_SUGGESTED], start=1):
        column = ranking_numbers(table, [name])
        if column is None:
            break
        values = np.column_stack([values, column])
        ordered = np.sort(values, axis=1)
        if (ordered[:, 1:] == ordered[:, :-1]).any():
            break
        if width > 1 and np.nanmax(values, initial=0) <= width:
            best = list(table.header[:width])
    return best


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
        if fit.layout in ("positions", "orders") and any("0" in table.coded(name)[0] for name in fit.columns(table)):
            more["missing_values"] = [*more.get("missing_values", ()), "0"]
        calls.append(fit.call(**more))
    return " or ".join(calls)


def _suggestion(table: Table, fits: list[Fit], options: dict[str, Any]) -> str:
    if all(number(name) is not None for name in table.header):
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
