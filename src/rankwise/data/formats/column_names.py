"""Names of the columns of survey tables: what they say about the cells, and which columns belong together.

The finders of layouts (`survey_fits`) and the readers of tables use it.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from rankwise.data.formats.ordinals import ORDINAL_WORD, PLACE_NOUNS, ordinal_in_name
from rankwise.data.formats.reading import python_call
from rankwise.data.formats.tables import Table, names_given
from rankwise.data.formats.text import listed

Layout = Literal[
    "positions",
    "orders",
    "strings",
    "long",
    "pairwise",
    "scores",
    "judges",
    "best-worst",
    "tricot",
    "preflib",
    "xarff",
]

# Names of columns that say what they hold, in lower case.
PREFIXES = (
    *("rank_", "position_", "y_", "place_", "rang_", "rang ", "platz_", "platz ", "puesto_", "posto_", "posizione_"),
)
RESPONDENTS = (
    *("respondent", "respondent_id", "id", "person", "participant", "subject", "user", "voter", "judge"),
    *("resp", "resp_id", "respid"),
)
TASKS = ("task", "set", "screen", "block", "question", "round", "choice_set")
ITEMS = ("item", "option", "candidate", "alternative", "label")
POSITIONS = ("position", "rank", "place")
SCORES = ("score", "points", "rating")
WINNERS = ("winner", "preferred", "better", "chosen", "top_item")
LOSERS = ("loser", "worse", "rejected", "bottom_item")
SIDES = (("left", "right"), ("item_a", "item_b"))
WEIGHTS = (
    *("weight", "weights", "wt", "wgt", "wk", "count", "counts", "freq", "frequency", "multiplicity", "n"),
    *("votes", "n_votes", "number of votes", "num_votes", "ballots", "voters"),
    *("gew", "gewicht", "gewichte", "gewichtung", "häufigkeit", "poids", "pondération", "ponderation", "fréquence"),
    *("peso", "pesi", "ponderación", "ponderacion", "ponderação", "frecuencia", "frequenza", "weging"),
)

# Words for a place in any part of a name: "Tea_rank", "Rank: Tea".
_PLACE = re.compile(
    r"(?<![^\W\d_])(?:rank(?:ing|ed)?|place|position|rang|platz|platzierung|puesto|lugar|posto|posizione|posici[oó]n|"
    r"posi[cç][aã]o|plaats|positie)(?![^\W\d_])",
    re.IGNORECASE,
)
_NUMBERED_ITEM = re.compile(
    r"(?:rank|position|place|rang|platz|puesto|posto|posizione)[ _]"
    r"(?:items?|options?|candidates?|products?|alternatives?|brands?|features?|statements?|team|project|label)[ _]?\d+",
    re.IGNORECASE,
)
_NUMBERED = re.compile(r"([0-9]{1,9})(\D{0,12})$")
# In some languages ordinals end in different ways, as in 1er and 2e; what follows an ordinal may be a question.
_ORDINAL = re.compile(
    r"([0-9]{1,9})(?:st|nd|rd|th|(?:er|[eè]re|re|i?[eè]me|nde|[dst]e|e|ro|ra|do|da|to|ta)(?![^\W_]))(\D{0,60})$",
    re.IGNORECASE,
)
_CLEAR_JOINTS = ("_", ".", "[", "/", ":")
_JOINTS = (*_CLEAR_JOINTS, "-", " ")
# Qualtrics joins question and item by this.
_QUESTION_JOINT = " - "
# What stands between them in labels of SPSS.
_LABEL_JOINT = ": "
_LONGEST_LABEL = 60
# Of more columns nobody wants to read the names; how they start will do.
_MOST_NAMED = 40
_BRACKETED = re.compile(r"(?P<stem>.*)\[(?P<item>[^\[\]]+)\][\s?!.:)]*")


@dataclass(frozen=True)
class Fit:
    """A layout that fits, with the options that say where, and the reason in one sentence."""

    layout: Layout
    options: dict[str, Any] = field(default_factory=dict)
    reason: str = field(default="", compare=False)
    #: whether all rows are known to be rankings, so that they need no check
    is_clean: bool = field(default=False, compare=False)

    def columns(self, table: Table) -> list[str]:
        """The columns that hold the rankings."""
        if "prefix" in self.options:
            return columns_with_prefix(table, self.options["prefix"])
        names = [name for value in self.options.values() for name in ([value] if isinstance(value, str) else value)]
        known = set(table.header)
        return [name for name in names if name in known]

    def call(self, **more: Any) -> str:
        """The call that reads the file this way, as error messages show it."""
        return python_call(self.arguments(**more))

    def arguments(self, **more: Any) -> dict[str, Any]:
        """The arguments of `read_rankings` that read the file this way."""
        return {"layout": self.layout, **self.options, **more}


def roles_by_name(table: Table, layout: Literal["long", "pairwise"]) -> dict[str, str | None]:
    """The columns whose names say what they hold; None where there is none.

    For a long table respondent, item and position or score; for duels winner and loser, or left, right and winner.
    """
    names = {name.lower(): name for name in reversed(table.header)}
    words: dict[str, tuple[str, ...]] = {"respondent": RESPONDENTS, "item": ITEMS, "position": POSITIONS}
    if layout == "long" and names.keys().isdisjoint(POSITIONS) and not names.keys().isdisjoint(SCORES):
        words = {"respondent": RESPONDENTS, "item": ITEMS, "score": SCORES}
    if layout == "pairwise":
        words = {"winner": WINNERS, "loser": LOSERS}
        sides = [{"left": (left,), "right": (right,)} for left, right in SIDES if left in names and right in names]
        if sides and names.keys().isdisjoint(LOSERS):
            words = {**sides[0], "winner": WINNERS}
    return {role: next((names[word] for word in known if word in names), None) for role, known in words.items()}


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


def say_places(names: Sequence[str]) -> bool:
    """Whether every name has a word for a place, as in "rank_Tea", "Tea (rank)" or "Platz Tee"."""
    return all(name.lower().startswith(PREFIXES) or _PLACE.search(name) for name in names)


def bracketed_groups(names: Sequence[str]) -> list[list[str]]:
    """Groups of several columns named "question [item]", as Google Forms and LimeSurvey write them."""
    groups: dict[str, list[str]] = defaultdict(list)
    for name in names:
        parts = _BRACKETED.fullmatch(name)
        if parts:
            groups[parts["stem"]].append(name)
    return [group for group in groups.values() if len(group) > 1]


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
    """Whether the names differ by a number or ordinal alone, which may say a place; in "rank_item7" it does not."""
    if names and _NUMBERED_ITEM.fullmatch(names[0]):
        return False
    return any(len(group) == len(names) for group in numbered_groups(names))


def columns_option(table: Table, option: str, names: list[str]) -> dict[str, Any]:
    """A prefix where the names have a clear one, else the names."""
    parts = _stem_and_place(names[0])
    is_clear = parts and (parts[0].endswith(_JOINTS) or (parts[0] and len(names) > _MOST_NAMED))
    if parts and is_clear and columns_with_prefix(table, parts[0]) == names:
        return {"prefix": parts[0]}
    return {option: names}


def prefix_option(table: Table, names: list[str], joints: tuple[str, ...] = _CLEAR_JOINTS) -> dict[str, Any]:
    """The prefix that these columns alone share, up to a joint; else their names as ``items``."""
    first, last = min(names), max(names)
    length = next((at for at, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), len(first))
    # A word for a place is no part of the name of an item, as in "Rang Tee".
    while length and not (first[:length].endswith(joints) or first[:length].lower().strip(" :.-") in PLACE_NOUNS):
        length -= 1
    length += first[length : length + 1] in (" ", ":", "_") and all(n[length] == first[length] for n in names)
    prefix = first[:length]
    if prefix and prefix not in names and columns_with_prefix(table, prefix) == names:
        return {"prefix": prefix}
    return {"items": names}


def chosen_columns(
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


def item_names(table: Table, columns: Sequence[str], prefix: str | None = None) -> list[str]:
    """What the items of these columns are called.

    That is the end of the texts "question - item" or "question [item]" of one question; else the names of the columns
    without the prefix.
    """
    named = items_in_questions(table, columns) if table.questions else []
    if named:
        return named
    parts = [_BRACKETED.fullmatch(name) for name in columns]
    if len({part["stem"] if part else None for part in parts}) == 1 and parts[0]:
        return [part["item"].strip() for part in parts if part]
    return [name[len(prefix or "") :] for name in columns]


def items_in_questions(table: Table, columns: Sequence[str]) -> list[str]:
    """The items in the texts "question - item" of the columns; none unless all belong to one question.

    Texts without a question are items too, as labels of variables are, unless they are long or say places.
    """
    parts = [_question(table, name) for name in columns]
    questions, items = {question for question, _ in parts}, [item for _, item in parts]
    if len(questions) != 1 or len(set(items)) < len(items):
        return []
    if "" not in questions:
        return items
    are_items = all(0 < len(item) <= _LONGEST_LABEL and _stem_and_place(item) is None for item in items)
    return items if are_items and len(items) > 1 else []


def question_groups(table: Table, names: Sequence[str]) -> list[list[str]]:
    """Groups of several columns whose texts differ in the item alone."""
    groups: dict[str, list[str]] = defaultdict(list)
    for name in names:
        groups[_question(table, name)[0]].append(name)
    groups.pop("", None)
    return [group for group in groups.values() if len(group) > 1 and items_in_questions(table, group)]


def _question(table: Table, name: str) -> tuple[str, str]:
    """The text of a column cut into question and item; the question is empty where it is not of that form."""
    text = table.questions.get(name, "")
    question, _, item = text.rpartition(_QUESTION_JOINT)
    bracketed = _BRACKETED.fullmatch(text)
    if bracketed and not question:
        return bracketed["stem"], bracketed["item"]
    if not question:
        question, _, item = text.rpartition(_LABEL_JOINT)
    return question, " ".join(item.split())


def _stem_and_place(name: str) -> tuple[str, int, str] | None:
    number_in_name = _ORDINAL.search(name) or _NUMBERED.search(name)
    if number_in_name is not None:
        return name[: number_in_name.start()], int(number_in_name[1]), number_in_name[2]
    return ordinal_in_name(name) if ORDINAL_WORD.search(name) or not name.isascii() else None
