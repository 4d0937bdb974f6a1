"""Survey tables: which columns hold the rankings, and the readers of a column per item and of a column per place.

A layout *fits* where names and cells leave no doubt; nothing is chosen because it is merely likely. Columns numbered
like ``rank_1, rank_2`` whose rows hold different whole numbers fit twice, as positions and as orders, because such a
table looks the same either way.

`rankwise.data.formats.detect` tries all layouts; `survey_strings` and `survey_long` read the others.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from rankwise._typing import FloatArray
from rankwise.data.formats.buckets import OrderParser, rankings_from_rows
from rankwise.data.formats.reading import python_call
from rankwise.data.formats.text import (
    ENCODING,
    MISSING,
    Covariates,
    Path,
    Table,
    blanked,
    blanks_given,
    covariates,
    listed,
    names_given,
    number,
    read_table,
    shown,
    weights_column,
)
from rankwise.data.positions import Unlisted, blank_for
from rankwise.data.rankings import Rankings

Layout = Literal["positions", "orders", "strings", "long", "pairwise", "preflib", "xarff"]

# Names of columns that say what they hold, in lower case.
PREFIXES = ("rank_", "position_", "y_")
RESPONDENTS = ("respondent", "respondent_id", "id", "person", "participant", "subject", "user", "voter", "judge")
ITEMS = ("item", "option", "candidate", "alternative", "label")
POSITIONS = ("position", "rank", "place")
WINNERS = ("winner", "preferred", "better", "chosen", "top_item")
LOSERS = ("loser", "worse", "rejected", "bottom_item")
SIDES = (("left", "right"), ("item_a", "item_b"))
WEIGHTS = ("weight", "weights", "count", "counts", "freq", "frequency", "multiplicity", "n", "wk")
#: an item that is not ranked is at times given a place far below the last
PLACES_PER_ITEM = 2

_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
_NUMBERED = re.compile(r"(\d{1,9})(st|nd|rd|th)?(\D{0,12})$", re.ASCII | re.IGNORECASE)
# Enough to see an order; the reader knows its tie from the others, and refuses those.
_TIES = ("~", "=", "|")
# Quoted names only: an interval such as [4, 6] is a JSON array too.
_JSON_NAMES = re.compile(r"\[[\s\[]*\"")
_JOINTS = ("_", ".", "-", "[", " ")
# Qualtrics joins question and item by this.
_QUESTION_JOINT = " - "


@dataclass(frozen=True)
class Fit:
    """A layout that fits, with the options that say where."""

    layout: Layout
    options: dict[str, Any] = field(default_factory=dict)
    reason: str = field(default="", compare=False)

    def columns(self, table: Table) -> list[str]:
        """The columns that hold the rankings."""
        if "prefix" in self.options:
            return columns_with_prefix(table, self.options["prefix"])
        return [name for value in self.options.values() for name in ([value] if isinstance(value, str) else value)]

    def call(self, **more: Any) -> str:
        """The call that reads the file this way, as error messages show it."""
        return python_call(self.arguments(**more))

    def arguments(self, **more: Any) -> dict[str, Any]:
        """The arguments of `read_rankings` that read the file this way."""
        return {"layout": self.layout, **self.options, **more}


def read_positions_csv(
    path: Path | Table,
    *,
    items: Iterable[str] | None = None,
    prefix: str | None = None,
    weights: str | None = None,
    unlisted: Unlisted = "missing",
    missing_values: Collection[str] = MISSING,
    delimiter: str | None = None,
    encoding: str = ENCODING,
) -> tuple[Rankings, Covariates]:
    r"""Read a table with one column per item that holds its position: 1 = best, equal = tied.

    Only the order of the numbers in a row counts. ``inf`` is unlisted, whatever ``unlisted`` says of blanks.

    Parameters
    ----------
    path : str or path-like
        The file, plain or gzip: comma, semicolon, tab or bar between cells, names of columns on the first line. The
        two rows that Qualtrics adds below them are not data; they give the items their names if the texts of the
        questions differ only after their last " - ", as "Rank the drinks - Tea".
    items : sequence of str, optional
        The columns of the items.
    prefix : str, optional
        Take the columns whose names start with it, and drop it from the names. With neither ``items`` nor ``prefix``,
        the columns that start with ``rank_``, ``position_`` or ``y_`` if they hold positions, else all columns if
        every row is a ranking of them.
    weights : str, optional
        The column that says how often each ranking counts.
    unlisted : {"missing", "below"}, default="missing"
        What a blank says of an item: nothing (never compared), or that it ranks below the others (top-k).
    missing_values : collection of str, default=("", "NA", "N/A", "#N/A", "nan", "NaN", "-")
        Position cells that count as blank. An empty cell always does; give ``["0"]`` where 0 says "not ranked".
    delimiter : str, optional
        The character between cells; found out by default.
    encoding : str, default="utf-8-sig"
        The encoding of the file, such as "cp1252" for what Excel writes on Windows.

    Returns
    -------
    rankings : Rankings
    covariates : dict of str to ndarray
        The other columns: float64 with NaN where missing, or text with None where missing.

    Raises
    ------
    RankwiseFormatError
        Names the line and the column of what is wrong, and the cure.

    Examples
    --------
    >>> path = getfixture("tmp_path") / "drinks.csv"
    >>> _ = path.write_text("age,rank_tea,rank_milk\n31,1,2\n47,2,1\n")
    >>> rankings, covariates = read_positions_csv(path)
    >>> rankings.items, rankings.positions[0], covariates["age"]
    (('tea', 'milk'), array([1., 2.]), array([31., 47.]))
    """
    table = read_table(path, delimiter, encoding)
    if items is None and prefix is None:
        fits = column_fits(blanked(table, missing_values), weights, "positions")
        found = the_only(fits, table, "a column per item that holds positions")
        items, prefix = found.options.get("items"), found.options.get("prefix")
    columns = _chosen(table, items, prefix, weights, "items")
    names = [name[len(prefix or "") :] for name in columns]
    if table.questions:
        names = _items_in_questions(table, columns) or names
    blank = blank_for(unlisted)
    values = np.column_stack([position_column(table, name, missing_values, blank) for name in columns])
    rankings = Rankings(values, names, weights_column(table, weights))
    return rankings, covariates(table, [*columns, weights or ""])


def read_orders_csv(
    path: Path | Table,
    *,
    columns: Iterable[str] | None = None,
    prefix: str | None = None,
    items: Iterable[str] | None = None,
    weights: str | None = None,
    unlisted: Unlisted = "below",
    missing_values: Collection[str] = MISSING,
    delimiter: str | None = None,
    encoding: str = ENCODING,
) -> tuple[Rankings, Covariates]:
    r"""Read a table with one column per place that holds the name of the item there.

    A blank between two items is passed over: only the order of the items counts.

    Parameters
    ----------
    path, weights, delimiter, encoding
        As in `read_positions_csv`.
    columns : sequence of str, optional
        The columns of the places, best first.
    prefix : str, optional
        Take the columns whose names start with it, by number or ordinal if all have one. With neither ``columns`` nor
        ``prefix``, the columns that differ by a number or ordinal alone (``choice_1, choice_2, ...``).
    items : sequence of str, optional
        The names of all items; by default those that occur, by number if all are whole numbers.
    unlisted : {"below", "missing"}, default="below"
        What a row says of items that it does not list: they rank below the others (top-k), or nothing.
    missing_values : collection of str, default=("", "NA", "N/A", "#N/A", "nan", "NaN", "-")
        Cells that name no item. An empty cell never does; give ``["0"]`` where 0 says "no item".

    Returns
    -------
    rankings : Rankings
    covariates : dict of str to ndarray
        As in `read_positions_csv`.

    Examples
    --------
    >>> path = getfixture("tmp_path") / "drinks.csv"
    >>> _ = path.write_text("age,choice_1,choice_2\n31,tea,milk\n47,milk,\n")
    >>> rankings, covariates = read_orders_csv(path)
    >>> rankings.items, rankings.positions[1], covariates["age"]
    (('tea', 'milk'), array([inf,  1.]), array([31., 47.]))
    """
    table = read_table(path, delimiter, encoding)
    if columns is None and prefix is None:
        fits = column_fits(blanked(table, missing_values), weights, "orders")
        found = the_only(fits, table, "a column per place that holds items")
        columns, prefix = found.options.get("columns"), found.options.get("prefix")
    places = _chosen(table, columns, prefix, weights, "columns")
    blanks = blanks_given(missing_values)
    cells = zip(*(table.column(name) for name in places), strict=True)
    rows = [[[cell] for cell in row if cell not in blanks] for row in cells]
    declared = None if items is None else names_given(items, "items")
    if declared is None:
        _refuse_zero_as_item(table, rows)
    rankings = rankings_from_rows(
        rows, table.error, unlisted=unlisted, items=declared, weights=weights_column(table, weights)
    )
    return rankings, covariates(table, [*places, weights or ""])


def position_column(table: Table, name: str, missing_values: Collection[str], blank: float) -> FloatArray:
    """The positions in a column, ``blank`` where a cell is missing."""
    others = {"inf": np.inf} | dict.fromkeys(blanks_given(missing_values), blank)
    values = table.values(name, others)
    if values is not None and not (values <= 0).any():
        return values
    cells = table.columns[table.index(name)]
    meaning: dict[str, float | None] = {**table.numbers(cells.distinct), **others}
    row = cells.first_row(lambda cell: (value := meaning[cell]) is None or value <= 0) or 0
    cell = cells.cells[row]
    raise table.error(
        f"{shown(cell)} is not a position", row=row, column=name, cure=_cure_for_position(cell, meaning[cell])
    )


def all_fits(table: Table, weights: str | None) -> list[Fit]:
    """Every layout that fits the table, the column of the weights set aside."""
    fits = [*column_fits(table, weights, "positions", "orders"), *string_fits(table)]
    for layout in ("long", "pairwise"):
        roles = roles_by_name(table, layout)
        fits += [] if None in roles.values() else [Fit(layout, roles, "The names of the columns say what they hold.")]
    return fits


def column_fits(table: Table, weights: str | None, *wanted: Layout) -> list[Fit]:
    """Columns that hold positions (a column per item) or orders (a column per place).

    Positions are below a known prefix, else numbers below numbered columns, else the whole table. Orders are below
    columns that differ by a number or a word such as "second" alone: only these say which place is better.
    """
    if all(number(name) is not None for name in table.header):  # the first line is a ranking itself
        return []
    positions, settled = [], False
    for prefix, names in known_prefixes(table):
        found = _different_numbers(table, names)
        # places from 1, halves for ties, and not all 1
        whole = np.all((found >= 1) & (found <= PLACES_PER_ITEM * len(names)) & (found * 2 == np.round(found * 2)))
        if whole and np.any(found > 1):
            reason = f"The columns start with {prefix!r} and hold places."
            positions.append(Fit("positions", {"prefix": prefix}, reason))
            # Columns such as rank_tea, rank_milk are positions for sure, so numbers in numbered columns are covariates.
            settled = settled or not are_numbered(names)
    names = [name for name in table.header if name != weights]
    # Numbers that start at 0 or 1 and have no gaps.
    groups = [list(at.values()) for at in numbered_groups(names) if min(at) < 2 and max(at) - min(at) + 1 == len(at)]
    coded = [] if settled else [group for group in groups if looks_like_codes(ranking_numbers(table, group))]
    if not positions:
        positions = [Fit("positions", columns_option(table, "items", group)) for group in coded]
    if not positions and _are_proper_ranks(table, names):
        positions = [Fit("positions", {"items": names}, "Every row is a ranking of all columns.")]
    orders = [
        Fit("orders", columns_option(table, "columns", group), "The names of the columns differ by a place alone.")
        for group in groups
        if group in coded or list_items(table, group, least_sharing=2)
    ]
    return [fit for fit in (*positions, *orders) if fit.layout in wanted]


def string_fits(table: Table) -> list[Fit]:
    """Columns whose cells all read ``a>b>c`` or ``["a", "b", "c"]``."""
    fits = []
    for name in table.header:
        if not table.holds_any(name, ">["):
            continue
        cells = set(table.coded(name)[0]) - set(MISSING)
        orders = {cell for cell in cells if ">" in cell or _JSON_NAMES.match(cell)}
        # A name that is itself an order means that there is no header: the first line is a ranking.
        if orders and _are_orders(orders, cells) and not _are_orders({name}, {name}):
            fits.append(Fit("strings", {"column": name}, f"The cells of {name!r} list items in order."))
    return fits


def roles_by_name(table: Table, layout: Literal["long", "pairwise"]) -> dict[str, str | None]:
    """The columns whose names say what they hold; None where there is none.

    For a long table respondent, item and position; for duels winner and loser, or left, right and winner.
    """
    names = {name.lower(): name for name in reversed(table.header)}
    words: dict[str, tuple[str, ...]] = {"respondent": RESPONDENTS, "item": ITEMS, "position": POSITIONS}
    if layout == "pairwise":
        words = {"winner": WINNERS, "loser": LOSERS}
        sides = [{"left": (left,), "right": (right,)} for left, right in SIDES if left in names and right in names]
        if sides and names.keys().isdisjoint(LOSERS):
            words = {**sides[0], "winner": WINNERS}
    return {role: next((names[word] for word in known if word in names), None) for role, known in words.items()}


def the_only(fits: list[Fit], table: Table, what: str) -> Fit:
    """The one fit there is; else the error that shows the choices."""
    if len(fits) == 1:
        return fits[0]
    if not fits:
        raise table.error(
            f"it is not clear which of the columns {listed(table.header)} hold the rankings",
            cure=f"Name the columns; for this layout they are {what}.",
        )
    calls = " or ".join(fit.call() for fit in fits[:4])
    raise table.error(f"{len(fits)} groups of columns could hold the rankings", cure=f"Choose: {calls}.")


def columns_with_prefix(table: Table, prefix: str) -> list[str]:
    """Columns whose names start with the prefix; by number or ordinal if all go on with one, else as they stand."""
    names = [name for name in table.header if name.startswith(prefix) and name != prefix]
    parts = [_stem_and_place(name[len(prefix) :]) for name in names]
    places = [place for stem, place, _ in filter(None, parts) if not stem]
    if len(places) == len(names) == len(set(places)):
        return [name for _, name in sorted(zip(places, names, strict=True))]
    return names


def known_prefixes(table: Table) -> Iterator[tuple[str, list[str]]]:
    """The known prefixes, as spelled here, that several columns have; with these columns."""
    for prefix in PREFIXES:
        for spelling in dict.fromkeys(n[: len(prefix)] for n in table.header if n.lower().startswith(prefix)):
            names = columns_with_prefix(table, spelling)
            if len(names) > 1:
                yield spelling, names


def numbered_groups(names: Sequence[str]) -> list[dict[int, str]]:
    """Groups of several names that differ by a number or ordinal alone: number -> name, in order."""
    groups: dict[tuple[str, str], dict[int, str]] = defaultdict(dict)
    for name in names:
        parts = _stem_and_place(name)
        if parts is not None:
            stem, place, tail = parts
            groups[stem, tail].setdefault(place, name)
    return [dict(sorted(places.items())) for places in groups.values() if len(places) > 1]


def are_numbered(names: Sequence[str]) -> bool:
    """Whether the names differ by a number or ordinal alone."""
    return any(len(group) == len(names) for group in numbered_groups(names))


def columns_option(table: Table, option: str, names: list[str]) -> dict[str, Any]:
    """A prefix where the names have a clear one, else the names."""
    parts = _stem_and_place(names[0])
    if parts and parts[0].endswith(_JOINTS) and columns_with_prefix(table, parts[0]) == names:
        return {"prefix": parts[0]}
    return {option: names}


def ranking_numbers(table: Table, names: Sequence[str]) -> FloatArray | None:
    """The numbers in the columns, NaN where blank or 0 (often written for "not ranked"); None if there are others."""
    others = {"inf": np.inf} | dict.fromkeys(MISSING, np.nan)
    values = np.empty((len(table), len(names)))
    for at, name in enumerate(names):
        column = table.values(name, others)
        if column is None or (column < 0).any():
            return None
        values[:, at] = np.where(column == 0, np.nan, column)
    return values


def _different_numbers(table: Table, names: Sequence[str]) -> FloatArray:
    """The finite numbers in the columns, blank and 0 aside; none if there is a cell of another kind."""
    found = [0.0]
    for name in names:
        cells = set(table.coded(name)[0]) - {*MISSING, "inf"}
        found += [np.nan if value is None else value for value in table.numbers(cells).values()]
    values = np.unique(found)
    return values[values > 0] if values[0] == 0 and not np.isnan(values[-1]) else np.zeros(0)


def looks_like_codes(values: FloatArray | None) -> bool:
    """Whether every row holds whole numbers that differ: a ranking without ties, or a list of item numbers."""
    if values is None:
        return False
    ordered = np.sort(values, axis=1)
    found = values[~np.isnan(values)]
    return bool(found.size and np.all(found == np.round(found)) and not np.any(ordered[:, 1:] == ordered[:, :-1]))


def mostly_numbers(table: Table, names: Sequence[str]) -> bool:
    """Whether at least half of the cells are numbers, blanks aside."""
    counts: Counter[str] = Counter()
    for distinct, codes in map(table.coded, names):
        counts.update(dict(zip(distinct, np.bincount(codes).tolist(), strict=True)))
    for blank in MISSING:
        del counts[blank]
    meaning = table.numbers(counts)
    return 2 * sum(counts[cell] for cell in counts if cell == "inf" or meaning[cell] is not None) >= counts.total()


def list_items(table: Table, names: Sequence[str], least_sharing: int) -> bool:
    """Whether the columns list items: few are numbers, none is twice in a row, and enough columns share some.

    Items in the header mean that there is no header: the first line is a ranking itself.
    """
    if mostly_numbers(table, names):
        return False
    vocabularies, rows = [], np.empty((len(table), len(names)), dtype=np.intp)
    code_of = dict.fromkeys(MISSING, -1)
    for at, (distinct, codes) in enumerate(map(table.coded, names)):
        rows[:, at] = np.array([code_of.setdefault(cell, len(code_of)) for cell in distinct])[codes]
        vocabularies.append(set(distinct) - set(MISSING))
    rows.sort(axis=1)
    if ((rows[:, 1:] == rows[:, :-1]) & (rows[:, 1:] >= 0)).any():
        return False
    columns_of = Counter(item for vocabulary in vocabularies for item in vocabulary)
    empty = sum(not vocabulary for vocabulary in vocabularies)
    sharing = sum(any(columns_of[item] > 1 for item in vocabulary) for vocabulary in vocabularies)
    return sharing >= least_sharing - empty and columns_of.keys().isdisjoint(names)


def _are_proper_ranks(table: Table, names: Sequence[str]) -> bool:
    """Whether all rows are rankings of their cells, tied items sharing the lowest, the mean or the highest place.

    Dense places do not count: numbers in a covariate hide among them.
    """
    if len(names) < 2 or not {name.lower() for name in names}.isdisjoint((*RESPONDENTS, *ITEMS, *POSITIONS, *WEIGHTS)):
        return False
    values = ranking_numbers(table, names)
    if values is None:
        return False
    ordered = np.sort(np.where(np.isinf(values), np.nan, values), axis=1)
    present = ~np.isnan(ordered)
    n, k = ordered.shape
    place = np.broadcast_to(np.arange(1.0, k + 1), (n, k))
    change = np.ones((n, k + 1), dtype=bool)
    change[:, 1:k] = ordered[:, 1:] != ordered[:, :-1]
    lowest = np.maximum.accumulate(np.where(change[:, :k], place, 0), axis=1)
    highest = np.minimum.accumulate(np.where(change[:, 1:], place, k)[:, ::-1], axis=1)[:, ::-1]
    conventions = (lowest, highest, (lowest + highest) / 2)
    proper = any(np.array_equal(ordered[present], convention[present]) for convention in conventions)
    return bool(proper and np.any(ordered[present] > 1))


def _are_orders(orders: set[str], cells: set[str]) -> bool:
    """Whether these texts are orders, some of several items, and the other cells items that occur in them."""
    parse = OrderParser(ties=_TIES)
    names: set[str] = set()
    longest = 0
    try:
        for buckets in map(parse, orders):
            names.update(*buckets)
            longest = max(longest, len(buckets))
        return longest > 1 and all(names.issuperset(*parse(cell)) for cell in cells - orders)
    except ValueError:
        return False


def _stem_and_place(name: str) -> tuple[str, int, str] | None:
    number_in_name = _NUMBERED.search(name)
    if number_in_name is not None:
        return name[: number_in_name.start()], int(number_in_name[1]), number_in_name[3]
    for place, word in enumerate(_ORDINALS, start=1):
        before, found, after = name.lower().partition(word)
        if found:
            return before, place, after
    return None


def _chosen(
    table: Table, names: Iterable[str] | None, prefix: str | None, weights: str | None, argument: str
) -> list[str]:
    """The columns that the caller named, one by one or by prefix."""
    if names is not None and prefix is not None:
        raise ValueError(f"both {argument} and prefix are given; give one of them")
    if names is None:
        found = [name for name in columns_with_prefix(table, prefix or "") if name != weights]
        if not found:
            raise table.error(f"no column starts with {prefix!r}", cure=f"The columns are {listed(table.header)}.")
        return found
    given = names_given(names, argument)
    if not given or len(set(given)) < len(given) or weights in given:
        raise ValueError(f"{argument} is {given!r}; name every column once, and not the column of the weights")
    for name in given:
        table.index(name)
    return given


def _items_in_questions(table: Table, columns: Sequence[str]) -> list[str]:
    """The items in Qualtrics' texts "question - item" of the columns; none unless all belong to one question."""
    parts = [table.questions.get(name, "").rpartition(_QUESTION_JOINT) for name in columns]
    questions, items = {question for question, _, _ in parts}, [item for _, _, item in parts]
    one_question = len(questions) == 1 and "" not in questions
    return items if one_question and len(set(items)) == len(items) else []


def _cure_for_position(cell: str, value: float | None) -> str:
    if value is None:
        return "Positions are numbers, 1 = best. If it says 'not ranked', add it to missing_values=[...]."
    if value == 0:
        not_ranked = f"if {cell} says 'not ranked', give missing_values=[{cell!r}]"
        return f"Positions count from 1: if these count from 0, add 1 to all; {not_ranked}."
    return "Positions count from 1 (1 = best)."


def _refuse_zero_as_item(table: Table, rows: list[list[list[str]]]) -> None:
    """Refuse 0 among item numbers where it merely fills up rows: it is most likely no item."""
    if not all(bucket[0].isdigit() for buckets in rows for bucket in buckets):
        return
    zeros = {row: buckets.count(["0"]) for row, buckets in enumerate(rows) if ["0"] in buckets}
    if not zeros:
        return
    only_fills = all(rows[row][-count:] == [["0"]] * count for row, count in zeros.items())
    if only_fills or max(zeros.values()) > 1:
        raise table.error(
            "0 stands more than once, or only after all other items, as if it said 'no item'",
            row=next(iter(zeros)),
            cure="If so, give missing_values=['0']; if 0 is an item, name all items with items=[...].",
        )
