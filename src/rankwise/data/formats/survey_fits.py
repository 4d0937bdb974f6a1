"""Which layouts fit a survey table, by the names of its columns and by its cells.

A layout *fits* where names and cells leave no doubt; nothing is chosen because it is merely likely. Columns numbered
like ``rank_1, rank_2`` whose rows hold different whole numbers fit twice, as positions and as orders, because such a
table looks the same either way. `rankwise.data.formats.layouts` chooses among the fits.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import chain, combinations, compress

import numpy as np

from rankwise.data.formats.buckets import OrderParser
from rankwise.data.formats.column_names import (
    ITEMS,
    POSITIONS,
    RESPONDENTS,
    WEIGHTS,
    Fit,
    Layout,
    are_numbered,
    bracketed_groups,
    columns_option,
    items_in_questions,
    known_prefixes,
    numbered_groups,
    prefix_option,
    question_groups,
    roles_by_name,
    say_places,
)
from rankwise.data.formats.match_sheets import refuse_league_table
from rankwise.data.formats.maxdiff_answers import refuse_answers_alone
from rankwise.data.formats.ordered_texts import is_rating
from rankwise.data.formats.ordinals import place_in_words
from rankwise.data.formats.place_columns import are_orders, worded_orders
from rankwise.data.formats.places import adjacent_runs, classify, doubt, windows
from rankwise.data.formats.survey_cells import (
    cell_counts,
    looks_like_codes,
    place_meanings,
    ranking_numbers,
    repeats_cells,
)
from rankwise.data.formats.survey_choices import choice_fits
from rankwise.data.formats.survey_duels import match_fits
from rankwise.data.formats.survey_judges import judges_are_numbered, judges_fits, names_say_jury, refuse_repeated_items
from rankwise.data.formats.tables import MISSING, Table
from rankwise.data.formats.text import listed, number

# Names that say that the numbers below are scores, in lower case.
SCORE_PREFIXES = ("score_", "scores_", "points_", "rating_", "stars_")
# Rows and columns that are enough to see rankings, if no other column could belong to them.
_FEW = 3
_FIRST_ROWS = 200
# Of the rows of a long table, how many at least are the first of a person and an item.
_LEAST_PAIRS = 0.75
# Enough to see an order; the reader knows its tie from the others, and refuses those.
_TIES = ("~", "=", "|")
_TIES_AS_ORDER = str.maketrans("~=|,", ">>>>")
# Quoted names only: an interval such as [4, 6] is a JSON array too.
_JSON_NAMES = re.compile(r"\[[\s\[]*\"")

# What may stand between the items of a list, beside ">".
_LIST_MARKS = (";", "|", ",")
_MOST_LISTED = 30
#: what asks for an order, in names and questions
ORDER_IN_NAME = re.compile(
    r"rank|order|prefer|place|position|priorit|^y_|reihenfolge|rang|platz|pr[eé]f[eé]r|ordre|orden|puesto|ordine|posto|"
    r"posizi|volgorde|plaats",
    re.IGNORECASE,
)


def all_fits(table: Table, weights: str | None) -> list[Fit]:
    """Every layout that fits the table, the column of the weights set aside."""
    choices = choice_fits(table) or match_fits(table)
    if choices:  # the items shown look like orders, the scores of two sides like those of two items
        return choices
    refuse_answers_alone(table)
    refuse_league_table(table)
    fits = [*column_fits(table, weights, "positions", "orders", "scores"), *string_fits(table)]
    for layout in ("long", "pairwise"):
        roles = roles_by_name(table, layout)
        if layout == "long" and [role for role, name in roles.items() if name is None] == ["item"]:
            fits += _long_fits(table, roles)
        if None not in roles.values():
            fits.append(Fit(layout, roles, "The names of the columns say what they hold."))
    if fits and not judges_are_numbered(table, fits):
        return fits
    if fits:
        return judges_fits(table, weights)
    rows_are_rankings, columns_are_rankings = window_fits(table, weights), judges_fits(table, weights)
    if not rows_are_rankings and not columns_are_rankings:
        refuse_repeated_items(table)
    rows_are_items = names_say_jury(table) if columns_are_rankings else None
    if rows_are_items is False or (rows_are_items and rows_are_rankings):
        return columns_are_rankings if rows_are_items else rows_are_rankings
    return [*rows_are_rankings, *columns_are_rankings] or listed_fits(table)


def _long_fits(table: Table, roles: dict[str, str | None]) -> list[Fit]:
    """A long table where one column of texts can name the items: people share them, and few have one twice."""
    who = table.columns[table.index(str(roles["respondent"]))]
    found: dict[str, int] = {}
    for name, column in zip(table.header, table.columns, strict=True):
        if name in roles.values() or table.is_numeric(name) or not set(MISSING).isdisjoint(column.distinct):
            continue
        pairs = who.codes.astype(np.int64) * len(column.distinct) + column.codes
        n_pairs = len(np.unique(pairs))
        if len(who.distinct) < len(table) > len(column.distinct) and n_pairs >= _LEAST_PAIRS * len(table):
            found[name] = n_pairs
    # A slip is not a reason to take another column for the items.
    names = [name for name, n_pairs in found.items() if n_pairs == len(table)] or list(found)
    if len(names) != 1:
        return []
    once = "has each at most once" if found[names[0]] == len(table) else "has several"
    reason = f"{names[0]!r} names the items: every {roles['respondent']} {once}."
    return [Fit("long", {**roles, "item": names[0]}, reason)]


def column_fits(table: Table, weights: str | None, *wanted: Layout) -> list[Fit]:
    """Columns that hold positions (a column per item) or orders (a column per place), as their names say.

    Positions are below a known prefix, a question that names an item per column, or places in words; else numbers below
    numbered columns. Orders are below columns that differ by a number or a word such as "second" alone: only these say
    which place is better.
    """
    if all(number(name) is not None for name in table.header):  # the first line is a ranking itself
        return []
    names = [name for name in table.header if name != weights]
    scores = [Fit("scores", {"prefix": prefix}, f"The columns start with {prefix!r}.") for prefix in _scores(table)]
    positions = [
        Fit("positions", {"prefix": prefix}, f"The columns start with {prefix!r} and hold places.")
        for prefix, group in known_prefixes(table)
        if _hold_places(table, group, named_places=True)
    ]
    # Columns such as rank_tea, rank_milk are positions for sure, so numbers in numbered columns are covariates.
    settled = any(not are_numbered(fit.columns(table)) for fit in positions)
    worded = worded_places(table, names)
    positions += [
        Fit("positions", prefix_option(table, group), "The cells say places in words.")
        for group in worded
        if not any(set(group) <= set(fit.columns(table)) for fit in positions)
    ]
    if not positions:
        positions = [
            Fit("positions", prefix_option(table, group), "The texts of the columns name an item each.")
            for group in question_groups(table, names)
            if _hold_places(table, group)
        ]
        settled = bool(positions)
    if not positions:
        positions = [
            Fit("positions", prefix_option(table, group), "The names of the columns say that they hold places.")
            for group in _some_of_more(table, names)
        ]
        settled = bool(positions)
    asked = [] if positions else [group for group in bracketed_groups(names) if _hold_places(table, group)]
    if len(asked) > 1:
        reason = "The names of the columns say a question and an item each."
        positions, settled = [Fit("positions", prefix_option(table, group), reason) for group in asked], True
    # Numbers that start at 0 or 1 and have no gaps.
    groups = [list(at.values()) for at in numbered_groups(names) if min(at) < 2 and max(at) - min(at) + 1 == len(at)]
    coded = [] if settled else [group for group in groups if looks_like_codes(ranking_numbers(table, group))]
    labeled = [group for group in coded if table.questions and _labels_name_items(table, group)]
    if labeled and not positions:
        positions = [
            Fit("positions", prefix_option(table, group), "The labels of the columns name an item each.")
            for group in labeled
        ]
        coded = [group for group in coded if group not in labeled]
    if not positions:
        positions = [
            Fit("positions", columns_option(table, "items", group))
            for group in coded
            if not _labels_are_items(table, group)
        ]
    in_words = {name for group in worded for name in group}
    orders = [
        Fit("orders", columns_option(table, "columns", group), "The names of the columns differ by a place alone.")
        for group in groups
        if group not in labeled and in_words.isdisjoint(group) and (group in coded or are_orders(table, group))
    ]
    for group, reason in worded_orders(table, names):
        inside = [set(fit.columns(table)) <= set(group) for fit in orders]
        if in_words.isdisjoint(group) and not any(
            len(fit.columns(table)) == len(group) for fit in compress(orders, inside)
        ):
            orders = [fit for fit, is_part in zip(orders, inside, strict=True) if not is_part]
            orders.append(Fit("orders", columns_option(table, "columns", group), reason))
    return [fit for fit in (*positions, *orders, *scores) if fit.layout in wanted]


def window_fits(table: Table, weights: str | None, *, sure: bool = True) -> list[Fit]:
    """Columns side by side in which every row is a ranking, whatever their names.

    Parameters
    ----------
    table : Table
        The table.
    weights : str, optional
        The column of the weights.
    sure : bool, default=True
        Whether to leave out columns that chance could have brought about.

    Returns
    -------
    list of Fit
    """
    if sure and all(number(name) is not None for name in table.header):  # the first line is a ranking itself
        return []
    named = {*RESPONDENTS, *(WEIGHTS if weights is None else ())}
    if {*ITEMS, *POSITIONS}.intersection(map(str.lower, table.header)):
        named |= {*ITEMS, *POSITIONS}
    numeric = [name for name in table.header if name != weights and table.is_numeric(name)]
    likely = {name for name in numeric if name.lower() not in named and _is_column_of_places(table, name)}
    fits = []
    for run in adjacent_runs([name in likely for name in table.header]):
        names = list(table.header[run])
        values = ranking_numbers(table, names)
        if values is None or len(names) < 2:
            continue
        several = len(table) >= _FEW and len(names) >= _FEW
        found, certain = windows(values, alone=set(likely if several else numeric) <= set(names))
        for window in found if certain or not sure else []:
            columns = names[window]
            if doubt(values[:, window], classify(values[:, window])) is not None:
                continue
            whole = columns == [name for name in table.header if name != weights]
            reason = "Every row is a ranking of all columns." if whole else "In these columns every row is a ranking."
            option = prefix_option(table, columns, ()) if whole else prefix_option(table, columns)
            fits.append(Fit("positions", option, reason))
    return fits


def string_fits(table: Table) -> list[Fit]:
    """Columns whose cells all read ``a>b>c`` or ``["a", "b", "c"]``."""
    fits = []
    for name, column in zip(table.header, table.columns, strict=True):
        if not column.holds_any(">["):
            continue
        cells = set(column.distinct).difference(MISSING)
        orders = {cell for cell in cells if ">" in cell or _JSON_NAMES.match(cell)}
        # A name that is itself an order means that there is no header: the first line is a ranking.
        if orders and _are_orders(orders, cells) and not _are_orders({name}, {name}):
            fits.append(Fit("strings", {"column": name}, f"The cells of {name!r} list items in order."))
    return fits


def mostly_orders(table: Table) -> tuple[Fit, list[str]] | None:
    """The only column in which most cells read ``a>b>c``, and names that stand alone in others and in no order."""
    found = []
    for name, column in zip(table.header, table.columns, strict=True):
        if ">" in name or not column.holds_any(">"):
            continue
        counts = cell_counts(table, [name])
        is_order = {cell: ">" in cell for cell in counts if cell not in MISSING}
        n_orders = sum(counts[cell] for cell, yes in is_order.items() if yes)
        if 2 * n_orders > sum(counts[cell] for cell in is_order) and n_orders > 1:
            parts = [cell.translate(_TIES_AS_ORDER).split(">") for cell, yes in is_order.items() if yes]
            names = {part.strip(" {}()") for part in chain(*parts)}
            alone = [cell for cell, yes in is_order.items() if not yes and cell not in names]
            found.append((Fit("strings", {"column": name}, f"Most cells of {name!r} list items in order."), alone))
    return found[0] if len(found) == 1 else None


def listed_fits(table: Table, *, sure: bool = True) -> list[Fit]:
    """Columns whose cells list the same few items, parted by a comma, semicolon or bar, in different orders.

    Boxes that were ticked are listed like that too, but all rows have them in the order of the question; so rows must
    contradict one another, and list all items unless the name of the column says that it is an order.

    Parameters
    ----------
    table : Table
        The table.
    sure : bool, default=True
        Whether to leave out columns that may hold ticked boxes, or numbers that may be places.

    Returns
    -------
    list of Fit
    """
    fits = []
    for name, column in zip(table.header, table.columns, strict=True):
        if not column.holds_any("".join(_LIST_MARKS)) or table.is_numeric(name):
            continue
        cells = [cell for cell in column.distinct if cell not in MISSING]
        separator = next((mark for mark in _LIST_MARKS if mark in cells[0]), None)
        if separator is None:
            continue
        lists = [[part.strip() for part in cell.removesuffix(separator).split(separator)] for cell in cells]
        items = set(chain(*lists))
        if "" in items or len(items) > _MOST_LISTED or any(len(set(parts)) < len(parts) for parts in lists):
            continue
        in_order = {pair for parts in lists[:_FIRST_ROWS] for pair in combinations(parts, 2)}
        # A name that is itself a list means that there is no header: the first line is a ranking.
        repeat = 3 * len(items) <= 2 * sum(map(len, lists))
        if not in_order or not repeat or items.issuperset(part.strip() for part in name.split(separator)):
            continue
        differ = not {(worse, better) for better, worse in in_order}.isdisjoint(in_order)
        all_listed = all(len(parts) == len(items) for parts in lists)
        words = any(number(item) is None for item in items)
        if (differ and words and (all_listed or ORDER_IN_NAME.search(name))) or not sure:
            how = "all" if all_listed else "some of"
            reason = f"The cells of {name!r} list {how} the same {len(items)} items, in different orders."
            fits.append(Fit("strings", {"column": name, "separator": separator}, reason))
    return fits


def _labels_are_items(table: Table, names: Sequence[str]) -> bool:
    """Whether codes have labels that are neither places nor ratings: the items at the places that columns stand for."""
    labels = [table.labels_of(name) for name in names]
    texts = {text for label_of in labels for text in label_of.values()}
    return all(labels) and not any(
        number(text) is not None or place_in_words(text) or is_rating(text) for text in texts
    )


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


def worded_places(table: Table, names: Sequence[str]) -> list[list[str]]:
    """Groups of columns whose cells say places in words: those of one question, else all of them."""
    worded = []
    for name in names:
        cells = set(table.coded(name)[0]).difference(MISSING) if repeats_cells(table, name) else set()
        if cells and all(place_in_words(cell) for cell in cells):
            worded.append(name)
    if not worded:
        return []
    groups = bracketed_groups(worded)
    rest = [name for name in worded if not any(name in group for group in groups)]
    return groups + ([rest] if len(rest) > 1 else [])


def _hold_places(table: Table, names: Sequence[str], *, named_places: bool = False) -> bool:
    """Whether the columns hold places for sure, some beyond the first."""
    values = ranking_numbers(table, names)
    # Hardly any table keeps this from its first rows.
    if values is None or not any(np.any((part > 1) & (part < np.inf)) for part in (values[:_FIRST_ROWS], values)):
        return False
    return doubt(values, classify(values, named_places=named_places), named_places=named_places) is None


def _some_of_more(table: Table, names: Sequence[str]) -> list[list[str]]:
    """Columns side by side with a word for places in their names, if they hold places of some of the items ranked."""
    found = []
    for run in adjacent_runs(
        [name in names and say_places([name]) and table.is_numeric(name) for name in table.header]
    ):
        group = list(table.header[run])
        values = ranking_numbers(table, group) if len(group) >= _FEW and not are_numbered(group) else None
        if (
            values is not None
            and classify(values, named_places=True).n_ranked
            and _hold_places(table, group, named_places=True)
        ):
            found.append(group)
    return found


def _labels_name_items(table: Table, names: Sequence[str]) -> bool:
    """Whether each column is an item by its text; where cells have labels too, these may name the items instead."""
    return bool(items_in_questions(table, names)) and not any(table.labels.get(name) for name in names)


def _scores(table: Table) -> list[str]:
    """The prefixes that say scores and that several columns of numbers have."""
    found = Counter(
        name[: name.lower().index("_") + 1] for name in table.header if name.lower().startswith(SCORE_PREFIXES)
    )
    return [
        prefix
        for prefix, count in found.items()
        if count > 1 and all(table.is_numeric(name) for name in table.header if name.startswith(prefix))
    ]


def _is_column_of_places(table: Table, name: str) -> bool:
    """Whether a column could hold the places of one item among those of the others."""
    if not repeats_cells(table, name):
        return False
    cells = set(table.coded(name)[0]).difference(MISSING)
    most = len(table.header)
    if len(cells) > 2 * most:
        return False
    values = place_meanings(table, cells).values()
    return all(value is not None and (value == np.inf or 0 <= value <= most) for value in values)


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
