"""Columns that hold the items at the first, second and further places, by their names: "Top choice", "Runner-up".

`survey_fits` reads such columns as orders and `suggestions` offers them. Columns that differ by a number alone are
orders only if their names or cells leave no doubt: races, exams and tasks are numbered too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from rankwise.data.formats.column_names import numbered_groups
from rankwise.data.formats.ordinals import PLACE_NOUNS, ordinal_in_name, without_accents
from rankwise.data.formats.survey_cells import list_items, repeated_names, repeats_cells
from rankwise.data.formats.tables import MISSING, Table

# Words for the first place, without accents and in lower case.
_FIRST = re.compile(
    r"\b(favou?rite|best|top|most|winner|favorit\w*|lieblings\w*|beste[rs]?|am meisten|prefere\w*|favori|favorite|"
    r"meilleure?|mejor|preferid[oa]|preferit[oa]|migliore|melhor|favoriet\w*|lievelings\w*)\b"
)
_SECOND = re.compile(r"runner[\W_]*up")
_LAST = re.compile(r"\b(least|worst|last|dislike[ds]?)\b")
_MEDALS = ("gold", "silver", "bronze")
_NUMBER = re.compile(r"(?<!\d)(\d{1,2})(?:st|nd|rd|th|er|ere|re|eme|ieme|e|de|ste|te|o|a|ro|ra|do|da|to|ta|\.)(?!\w)")
_COMPOUND = re.compile(r"\b(erst|zweit|dritt|viert|funft)(?=wahl|wunsch|best|praferenz|prioritat|platz)")
_COMPOUNDS = ("erst", "zweit", "dritt", "viert", "funft")
# Nouns beside a number that say a place; "no. 1" says nothing.
_SAY_PLACES = tuple(noun for noun in PLACE_NOUNS if noun not in ("no", "nr", "number", "nummer", "numero"))
# What is numbered because it comes again, or because several people do it.
_OCCASIONS = frozenset(
    (  # noqa: SIM905
        "week day month year race round heat lap exam test quiz essay homework assignment task question trial session "
        "visit match game stage leg attempt judge juror taster reviewer rater expert examiner term semester lesson "
        "woche tag monat jahr rennen runde lauf prufung klausur aufgabe frage spiel etappe richter termin "
        "semaine jour mois manche epreuve examen tache seance juge semana dia mes carrera ronda tarea pregunta sesion "
        "juez settimana giorno gara prova esame compito domanda giudice pergunta tarefa toets vraag taak"
    ).split()
)
_SCHOOL = frozenset(
    ("exam", "test", "quiz", "essay", "homework", "assignment", "klausur", "prufung", "examen", "esame")
)
_TIME = re.compile(r"\d{1,3}(?::\d{2}){1,2}(?:[.,]\d+)?|\d+[hm']\s?\d+\S*|DNF|DNS|DSQ|DQ")
_MOST_TEXTS = 40
_GRADE = re.compile(r"[A-FU][+-]?")
_STATUSES = frozenset(
    (  # noqa: SIM905
        "yes|no|maybe|done|open|late|skipped|todo|to do|in progress|pending|complete|completed|incomplete|finished|"
        "started|not started|blocked|cancelled|canceled|passed|failed|pass|fail|ok|absent|present|true|false|correct|"
        "incorrect|right|wrong|on time|missed|won|lost|win|loss|draw|ja|nein|vielleicht|erledigt|offen|oui|non|"
        "peut-etre|fait|si|quizas|forse|sim|nao|talvez|nee|misschien"
    ).split("|")
)


def worded_orders(table: Table, names: Sequence[str], *, sure: bool = True) -> list[tuple[list[str], str]]:
    """Columns of text side by side whose names say the first place, the second and so on; with the reason.

    Columns from the second place on that differ by the place alone take the column before them along, if it holds the
    same items.

    Parameters
    ----------
    table : Table
        The table.
    names : sequence of str
        Names of columns, in order.
    sure : bool, default=True
        Whether to leave out columns that name an item twice in a row.

    Returns
    -------
    list of (list of str, str)
    """
    found = []
    for columns, reason in _runs_of_places(table, names):
        first, others = columns[0], columns[1:]
        if not all(repeats_cells(table, name) and not table.is_numeric(name) for name in columns):
            continue
        items, known = _cells(table, [first]), _cells(table, others)
        shared = 2 * len(items & known) >= len(items) > 0 and len(items | known) > 1
        if shared and (not sure or list_items(table, columns, least_sharing=2)):
            found.append((columns, reason))
    return found


def are_orders(table: Table, names: Sequence[str]) -> bool:
    """Whether columns that differ by a number alone list items from the best on, by their names or by their cells."""
    if len(_cells(table, names)) < 2 or not list_items(table, names, least_sharing=2):
        return False
    return _say_places(names) or not (_OCCASIONS.intersection(_words(names[0])) or other_than_items(table, names))


def may_be_orders(table: Table, names: Sequence[str]) -> bool:
    """Whether to offer numbered columns as orders: no cells that the reader of orders refuses, and items."""
    if not all(repeats_cells(table, name) for name in names) or _say_places(names):
        return len(_cells(table, names)) > 1
    return not repeated_names(table, names).size and not other_than_items(table, names)


def other_than_items(table: Table, names: Sequence[str]) -> str | None:
    """What the cells of the columns are instead of items: times, grades, answers such as yes, or ticks; else None."""
    cells = _cells(table, names) if all(repeats_cells(table, name) for name in names) else set()
    if not cells:
        return None
    if len(cells) == 1:
        return "ticks"
    if all(map(_TIME.fullmatch, cells)):
        return "times"
    if all(map(_GRADE.fullmatch, cells)) and (any(len(c) > 1 for c in cells) or _SCHOOL.intersection(_words(names[0]))):
        return "grades"
    return "answers" if {without_accents(cell) for cell in cells} <= _STATUSES else None


def columns_sharing_items(table: Table, names: Sequence[str]) -> list[str]:
    """Columns of texts that have several cells in common and none twice in a row, those that say places in their order.

    For suggestions only: who is asked may say that they list items from the best on.
    """
    texts = [name for name in names if repeats_cells(table, name) and not table.is_numeric(name)][:_MOST_TEXTS]
    cells = {name: _cells(table, [name]) for name in texts}
    group = [name for name in texts if any(cells[name] & cells[other] for other in texts if other != name)]
    if len(group) < 2 or repeated_names(table, group).size or other_than_items(table, group):
        return []
    first, end = table.index(group[0]), table.index(group[-1]) + 1
    beside = [*table.header[max(first - 1, 1) : first], *table.header[end : end + 1]]
    if end - first > len(group) or not set(beside).isdisjoint(texts):
        return []  # a column between them or beside them may hold a place, too
    if not all(re.search(r"[^\W\d_]", cell) for cell in _cells(table, group)):
        return []
    places = [_place_said(name) for name in group]
    if not any(places) and not all(name.isdigit() for name in group):
        return []  # cells may be grades, priorities or places, whose columns are items
    said = sorted(place for place in places if place and place > 0)
    if said != [*range(1, len(said) + 1)]:
        return []  # without the first place the others would crown the second
    if -1 in places and not (_blank_free(table, group) and len(_cells(table, group)) == len(group)):
        return []  # others may stand between the last item and those before it
    last = len(group) + 1
    at = {name: last if place == -1 else place or 1.5 for name, place in zip(group, places, strict=True)}
    return sorted(group, key=at.__getitem__)


def _runs_of_places(table: Table, names: Sequence[str]) -> Iterator[tuple[list[str], str]]:
    """Columns side by side that say the places 1, 2, ..., and those from the second on with the one before."""
    said = {name: _place_said(name) for name in names}
    groups = [list(at.values()) for at in numbered_groups(names) if [*at] == [*range(2, len(at) + 2)]]
    for at, name in enumerate(names):
        columns = [name]
        if said[name] != 1:
            continue
        for other in names[at + 1 :]:
            if said[other] != len(columns) + 1:
                break
            columns.append(other)
        after = names[at + len(columns) : at + len(columns) + 1]
        if after and said[after[0]] == -1:
            # Others would stand between the least favorite item and those before it.
            whole = [*columns, *after]
            if len(columns) > 1 and _blank_free(table, whole) and len(_cells(table, whole)) == len(whole):
                yield whole, f"The names of the columns say places; {after[0]!r} is the last."
        elif len(columns) > 1:
            yield columns, f"The names of the columns say places; {name!r} is the first."
            groups = [group for group in groups if not set(group) <= set(columns)]
    for group in groups:
        at = names.index(group[0])
        if at and names[at : at + len(group)] == group and said[names[at - 1]] is None:
            first = names[at - 1]
            yield [first, *group], f"{first!r} was taken for the first place: it holds the same items as the next ones."


def _place_said(name: str) -> int | None:
    """The place that a name says, 1 for words such as best, -1 for the last; None if it says none."""
    text = without_accents(name).replace("_", " ")
    if numbered := _NUMBER.search(text):
        return int(numbered[1])
    if _SECOND.search(text):
        return 2
    if compound := _COMPOUND.search(text):
        return _COMPOUNDS.index(compound[1]) + 1
    ordinal = ordinal_in_name(name)
    if ordinal is not None:
        return ordinal[1]
    if text.removesuffix("medal").strip() in _MEDALS:
        return _MEDALS.index(text.removesuffix("medal").strip()) + 1
    if _LAST.search(text):
        return -1
    return 1 if _FIRST.search(text) else None


def _say_places(names: Sequence[str]) -> bool:
    """Whether the word beside the number says a place, or nothing but ordinals is there."""
    words = _words(names[0])
    if _OCCASIONS.intersection(words):
        return False
    by_noun = any(word.startswith(noun) if len(noun) > 3 else word == noun for word in words for noun in _SAY_PLACES)
    return by_noun or not words or any(map(_FIRST.fullmatch, words))


def _words(name: str) -> list[str]:
    """The words of a name without its ordinals and numbers, in lower case and without accents."""
    text = re.sub(r"([a-z])(?=[A-Z])", r"\1 ", name)
    ordinal = ordinal_in_name(text)
    text = f"{ordinal[0]} {ordinal[2]}" if ordinal else text
    return re.findall(r"[a-z]+", _NUMBER.sub(" ", without_accents(text)).replace("_", " "))


def _cells(table: Table, names: Sequence[str]) -> set[str]:
    return set().union(*(table.coded(name)[0] for name in names)).difference(MISSING)


def _blank_free(table: Table, names: Sequence[str]) -> bool:
    return all(set(MISSING).isdisjoint(table.coded(name)[0]) for name in names)
