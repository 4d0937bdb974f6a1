"""Which columns of a table hold the rankings, and in which layout.

A layout *fits* where names and cells leave no doubt; nothing is chosen because it is merely likely. Columns numbered
like ``rank_1, rank_2`` whose rows hold different whole numbers fit twice, as positions and as orders, for such a table
looks the same either way.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from rankwise._typing import FloatArray
from rankwise.data.formats.buckets import OrderParser
from rankwise.data.formats.table import MISSING, Table, number

Layout = Literal["positions", "orders", "strings", "long", "pairwise"]

PREFIXES = ("rank_", "position_", "y_")
RESPONDENTS = ("respondent", "respondent_id", "id", "person", "participant", "subject", "user", "voter", "judge")
ITEMS = ("item", "option", "candidate", "alternative", "label")
POSITIONS = ("position", "rank", "place")
WINNERS = ("winner", "preferred", "better", "chosen", "top_item")
LOSERS = ("loser", "worse", "rejected", "bottom_item")
SIDES = (("left", "right"), ("item_a", "item_b"))
WEIGHTS = ("weight", "weights", "count", "counts", "freq", "frequency", "multiplicity", "n", "wk")

_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
_NUMBERED = re.compile(r"(\d{1,9})(st|nd|rd|th)?(\D{0,12})$", re.ASCII | re.IGNORECASE)
# Enough to see an order; the reader knows its tie from the others, and refuses those.
_TIES = ("~", "=", "|")
# Quoted names only: an interval such as [4, 6] is a JSON array too.
_JSON_NAMES = re.compile(r"\[[\s\[]*\"")
_JOINTS = ("_", ".", "-", "[", " ")
# What is not ranked is at times given a place far below.
_PLACES_PER_ITEM = 2
# Lists up to the first are whole, to be copied; of longer ones so many names show which are meant.
_MOST_COPIED = 60
_SHOWN_COLUMNS = 12
_MOST_SUGGESTED = 200


@dataclass(frozen=True)
class Fit:
    """A layout that fits, with the options that say where."""

    layout: Layout
    options: dict[str, Any] = field(default_factory=dict)

    def columns(self, table: Table) -> list[str]:
        """The columns that hold the rankings."""
        if "prefix" in self.options:
            return columns_with_prefix(table, self.options["prefix"])
        return [name for value in self.options.values() for name in ([value] if isinstance(value, str) else value)]

    def call(self, **more: Any) -> str:
        """The call that reads the file this way, as error messages show it."""
        given = {"layout": self.layout, **self.options, **more}
        return f"read_rankings(path, {', '.join(f'{name}={_literal(value)}' for name, value in given.items())})"


def all_fits(table: Table, weights: str | None) -> list[Fit]:
    """Every layout that fits the table, the column of the weights set aside."""
    by_columns = [*position_fits(table, weights), *order_fits(table, weights)]
    return [*by_columns, *string_fits(table), *long_fits(table), *pairwise_fits(table)]


def position_fits(table: Table, weights: str | None) -> list[Fit]:
    """Columns that hold positions: a known prefix, else numbers below numbered columns, else the whole table."""
    if has_numbers_for_names(table):
        return []
    by_prefix = [Fit("positions", {"prefix": prefix}) for prefix in _prefixes(table)]
    if by_prefix:
        return by_prefix
    names = [name for name in table.header if name != weights]
    numbered = [
        Fit("positions", _columns_option(table, "items", group))
        for group in _numbered_groups(names)
        if _looks_like_codes(_ranking_numbers(table, group))
    ]
    special = {*RESPONDENTS, *ITEMS, *POSITIONS, *WEIGHTS}
    if numbered or len(names) < 2 or any(name.lower() in special for name in names):
        return numbered
    values = _ranking_numbers(table, names)
    return [Fit("positions", {"items": names})] if values is not None and _are_proper_ranks(values) else []


def order_fits(table: Table, weights: str | None) -> list[Fit]:
    """Columns that hold items, best first: only numbers and words such as "second" say which place is better."""
    if has_numbers_for_names(table):
        return []
    # Columns such as rank_tea, rank_milk are positions for sure, so numbers in numbered columns are mere covariates.
    settled = any(not _are_numbered(columns_with_prefix(table, prefix)) for prefix in _prefixes(table))
    names = [name for name in table.header if name != weights]
    fits = []
    for group in _numbered_groups(names):
        codes = not settled and _looks_like_codes(_ranking_numbers(table, group))
        if codes or _list_items(table, group, least_sharing=2):
            fits.append(Fit("orders", _columns_option(table, "columns", group)))
    return fits


def string_fits(table: Table) -> list[Fit]:
    """Columns whose cells all read ``a>b>c`` or ``["a", "b", "c"]``."""
    # A name that is itself an order means that there is no header: the first line is a ranking.
    names = [name for name in table.header if not _are_orders([name])]
    return [Fit("strings", {"column": name}) for name in names if _are_orders(table.column(name))]


def long_fits(table: Table) -> list[Fit]:
    """Three columns named like respondent, item and position."""
    roles = long_roles(table)
    return [] if None in roles.values() else [Fit("long", roles)]


def pairwise_fits(table: Table) -> list[Fit]:
    """Columns named like winner and loser, or like left, right and winner."""
    roles = pairwise_roles(table)
    return [] if None in roles.values() else [Fit("pairwise", roles)]


def long_roles(table: Table) -> dict[str, str | None]:
    """The columns named like respondent, item and position; None where there is none."""
    return _by_names(table, {"respondent": RESPONDENTS, "item": ITEMS, "position": POSITIONS})


def pairwise_roles(table: Table) -> dict[str, str | None]:
    """The columns named like winner and loser, or left, right and winner; None where there is none."""
    roles = _by_names(table, {"winner": WINNERS, "loser": LOSERS})
    for left, right in SIDES:
        sides = _by_names(table, {"left": (left,), "right": (right,)})
        if roles["loser"] is None and None not in sides.values():
            return {**sides, "winner": roles["winner"]}
    return roles


def has_numbers_for_names(table: Table) -> bool:
    """Whether the header holds numbers alone, so that it may be a ranking itself."""
    return all(number(name) is not None for name in table.header)


def possible_weights(table: Table) -> str | None:
    """A column named like a count that holds numbers that are not negative."""
    for name in table.header:
        if name.lower() in WEIGHTS:
            values = table.numbers(table.column(name)).values()
            if all(value is not None and value >= 0 for value in values):
                return name
    return None


def first_misfit(table: Table) -> tuple[str, int, str] | None:
    """A known prefix of columns that hold mostly places, but not only: prefix, row and column of the first slip."""
    for prefix, names in _known_prefixes(table):
        rows = list(zip(*(table.column(name) for name in names), strict=True))
        counts = Counter(cell for cells in rows for cell in cells if cell not in MISSING)
        places = _places(table, counts)
        slips = {cell for cell in counts if not _is_place(places[cell], _PLACES_PER_ITEM * len(names))}
        # Below numbered columns a word may as well be an item among numbers.
        if slips and 2 * sum(counts[cell] for cell in slips) <= counts.total() and not _are_numbered(names):
            row, cells = next((row, cells) for row, cells in enumerate(rows) if not slips.isdisjoint(cells))
            return prefix, row, next(name for name, cell in zip(names, cells, strict=True) if cell in slips)
    return None


def blank_group(table: Table) -> list[str]:
    """Columns that a known prefix or numbers in their names bring together, and that hold no cell; none as a rule."""
    groups = [names for _, names in _known_prefixes(table)] + list(map(_by_place, _groups(table.header)))
    blank = {name for name in table.header if set(MISSING).issuperset(table.column(name))}
    return next((names for names in groups if blank.issuperset(names)), [])


def likely_fits(table: Table, weights: str | None) -> list[Fit]:
    """What may be meant where nothing fits; for suggestions only."""
    prefixes = [prefix for prefix, names in _known_prefixes(table) if holds_numbers(table, names)]
    if prefixes:
        return [Fit("positions", {"prefix": prefix}) for prefix in prefixes]
    others = [name for name in table.header if name != weights]
    fits = []
    for group in map(_by_place, _groups(others)):
        if not all(map(table.is_numeric, group)):
            if mostly_numbers(table, group):
                fits.append(Fit("positions", _columns_option(table, "items", group)))
            fits.append(Fit("orders", _columns_option(table, "columns", group)))
    names = _leading_positions(table) or (others if holds_numbers(table, others) else [])
    if names:
        fits.append(Fit("positions", {"items": names}))
    if not fits and not any(map(table.is_numeric, others)) and _list_items(table, others, max(len(others), 2)):
        fits.append(Fit("orders", {"columns": others}))
    return fits


def columns_with_prefix(table: Table, prefix: str) -> list[str]:
    """Columns whose names start with the prefix; by number or ordinal if all go on with one, else as they stand."""
    names = [name for name in table.header if name.startswith(prefix) and name != prefix]
    parts = [_stem_and_place(name[len(prefix) :]) for name in names]
    places = [place for stem, place, _ in filter(None, parts) if not stem]
    if len(places) == len(names) == len(set(places)):
        return [name for _, name in sorted(zip(places, names, strict=True))]
    return names


def is_ambiguous(table: Table, names: Sequence[str]) -> bool:
    """Whether the columns are numbered and hold numbers without ties: places of items, or items at places."""
    values = _ranking_numbers(table, names)
    codes = mostly_numbers(table, names) if values is None else _looks_like_codes(values)
    return codes and _are_numbered(names)


def must_be_positions(table: Table, names: Sequence[str], prefix: str) -> bool:
    """Whether columns with that prefix can hold nothing but positions, even if a cell among them is none."""
    if holds_numbers(table, names):
        return True
    return not _are_numbered(names) and (prefix.lower().startswith(PREFIXES) or mostly_numbers(table, names))


def mostly_numbers(table: Table, names: Sequence[str]) -> bool:
    """Whether at least half of the cells are numbers, blanks aside."""
    counts = Counter(cell for name in names for cell in table.column(name) if cell not in MISSING)
    meaning = table.numbers(counts)
    return 2 * sum(counts[cell] for cell in counts if cell == "inf" or meaning[cell] is not None) >= counts.total()


def holds_numbers(table: Table, names: Sequence[str]) -> bool:
    """Whether all cells of the columns are numbers, not negative, or missing."""
    return _ranking_numbers(table, names) is not None


def _leading_positions(table: Table) -> list[str]:
    """The most columns from the left that could hold positions without ties; for suggestions only."""
    best: list[str] = []
    values = np.empty((len(table.rows), 0))
    for width, name in enumerate(table.header[:_MOST_SUGGESTED], start=1):
        column = _ranking_numbers(table, [name])
        if column is None:
            break
        values = np.column_stack([values, column])
        ordered = np.sort(values, axis=1)
        if (ordered[:, 1:] == ordered[:, :-1]).any():
            break
        if width > 1 and np.nanmax(values, initial=0) <= width:
            best = list(table.header[:width])
    return best


def _by_names(table: Table, roles: dict[str, tuple[str, ...]]) -> dict[str, str | None]:
    names = {name.lower(): name for name in reversed(table.header)}
    return {role: next((names[word] for word in words if word in names), None) for role, words in roles.items()}


def _prefixes(table: Table) -> list[str]:
    """The known prefixes, as spelt here, of columns that hold places."""
    found = []
    for prefix, names in _known_prefixes(table):
        values = _ranking_numbers(table, names)
        if values is not None and _are_places(values, _PLACES_PER_ITEM * len(names)):
            found.append(prefix)
    return found


def _known_prefixes(table: Table) -> Iterator[tuple[str, list[str]]]:
    """The known prefixes, as spelt here, that several columns have; with these columns."""
    for prefix in PREFIXES:
        for spelling in dict.fromkeys(n[: len(prefix)] for n in table.header if n.lower().startswith(prefix)):
            names = columns_with_prefix(table, spelling)
            if len(names) > 1:
                yield spelling, names


def _numbered_groups(names: Sequence[str]) -> Iterator[list[str]]:
    """Groups of names that differ by a number alone, which runs from 0 or 1 without gaps; in that order."""
    for places in _groups(names):
        first = min(places)
        if first in (0, 1) and max(places) - first + 1 == len(places):
            yield _by_place(places)


def _groups(names: Sequence[str]) -> list[dict[int, str]]:
    """Groups of several names that differ by a number alone: number -> name."""
    groups: dict[tuple[str, str], dict[int, str]] = defaultdict(dict)
    for name in names:
        parts = _stem_and_place(name)
        if parts is not None:
            stem, place, tail = parts
            groups[stem, tail].setdefault(place, name)
    return [places for places in groups.values() if len(places) > 1]


def _by_place(places: dict[int, str]) -> list[str]:
    return [places[place] for place in sorted(places)]


def _are_numbered(names: Sequence[str]) -> bool:
    return any(len(group) == len(names) for group in _groups(names))


def _stem_and_place(name: str) -> tuple[str, int, str] | None:
    number_in_name = _NUMBERED.search(name)
    if number_in_name is not None:
        return name[: number_in_name.start()], int(number_in_name[1]), number_in_name[3]
    for place, word in enumerate(_ORDINALS, start=1):
        before, found, after = name.lower().partition(word)
        if found:
            return before, place, after
    return None


def _columns_option(table: Table, option: str, names: list[str]) -> dict[str, Any]:
    """A prefix where the names have a clear one, else the names."""
    parts = _stem_and_place(names[0])
    if parts and parts[0].endswith(_JOINTS) and columns_with_prefix(table, parts[0]) == names:
        return {"prefix": parts[0]}
    return {option: names}


def _ranking_numbers(table: Table, names: Sequence[str]) -> FloatArray | None:
    """The numbers in the columns, NaN where blank or 0 (often written for "not ranked"); None if there are others."""
    values = np.empty((len(table.rows), len(names)))
    for at, name in enumerate(names):
        cells = table.column(name)
        places = _places(table, set(cells) - set(MISSING))
        if None in places.values():
            return None
        values[:, at] = [places.get(cell, np.nan) for cell in cells]
    return values


def _places(table: Table, cells: Iterable[str]) -> dict[str, float | None]:
    """The number in each of the different cells: ``inf`` too, NaN for 0, None where there is none or it is negative."""
    meaning = table.numbers(cells)
    places = {cell: None if value is None or value < 0 else value or np.nan for cell, value in meaning.items()}
    return places | {"inf": np.inf}


def _is_place(place: float | None, most: int) -> bool:
    """Whether this is a place from 1 to ``most``, halves for ties; or unlisted, or 0."""
    return place is not None and (not np.isfinite(place) or (1 <= place <= most and float(2 * place).is_integer()))


def _are_places(values: FloatArray, most: int) -> bool:
    """Whether the numbers are places from 1 to ``most``, halves for ties, and not all 1."""
    found = values[np.isfinite(values)]
    return bool(np.all((found >= 1) & (found <= most) & (found * 2 == np.round(found * 2))) and np.any(found > 1))


def _looks_like_codes(values: FloatArray | None) -> bool:
    """Whether every row holds whole numbers that differ: a ranking without ties, or a list of item numbers."""
    if values is None:
        return False
    ordered = np.sort(values, axis=1)
    found = values[~np.isnan(values)]
    return bool(found.size and np.all(found == np.round(found)) and not np.any(ordered[:, 1:] == ordered[:, :-1]))


def _are_proper_ranks(values: FloatArray) -> bool:
    """Whether all rows are rankings of their cells, tied items sharing the lowest, the mean or the highest place.

    Dense places do not count: numbers in a covariate hide among them.
    """
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


def _list_items(table: Table, names: Sequence[str], least_sharing: int) -> bool:
    """Whether the columns list items: few are numbers, none is twice in a row, so many columns share some.

    Items in the header mean that there is no header: the first line is a ranking itself.
    """
    if mostly_numbers(table, names):
        return False
    columns = [table.column(name) for name in names]
    for row in zip(*columns, strict=True):
        present = [cell for cell in row if cell not in MISSING]
        if len(set(present)) < len(present):
            return False
    vocabularies = [set(column) - set(MISSING) for column in columns]
    columns_of = Counter(item for vocabulary in vocabularies for item in vocabulary)
    empty = sum(not vocabulary for vocabulary in vocabularies)
    sharing = sum(any(columns_of[item] > 1 for item in vocabulary) for vocabulary in vocabularies)
    return sharing >= least_sharing - empty and columns_of.keys().isdisjoint(names)


def _are_orders(cells: list[str]) -> bool:
    """Whether the cells are orders: some of several items, the others of items that occur in those."""
    present = set(cells) - set(MISSING)
    orders = {cell for cell in present if ">" in cell or _JSON_NAMES.match(cell)}
    parse = OrderParser(ties=_TIES)
    names: set[str] = set()
    longest = 0
    try:
        for buckets in map(parse, orders):
            names.update(*buckets)
            longest = max(longest, len(buckets))
        return longest > 1 and all(names.issuperset(*parse(cell)) for cell in present - orders)
    except ValueError:
        return False


def _literal(value: Any) -> str:
    if isinstance(value, list) and len(value) > _MOST_COPIED:
        return repr(value[:_SHOWN_COLUMNS])[:-1] + ", ...]"
    return repr(value)
