"""What the columns of a survey are besides the rankings: ids, times, paradata, names, texts, weights or features.

`recognize_roles` gives every column a role and the reason for it; `rankwise.data.formats.survey_file` makes features of
the columns whose role is "feature", and says which others were ignored. Names decide where a survey tool wrote them,
and cells where they leave no doubt. A name that could mean anything ("status", "start") counts only beside others of
the tool that writes it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from rankwise.data.formats.column_names import RESPONDENTS, TASKS
from rankwise.data.formats.ordered_texts import ordered_levels
from rankwise.data.formats.tables import Covariates
from rankwise.data.formats.tool_columns import (
    CERTAIN_IDS,
    COMMENTS,
    DURATION,
    ID_ENDING,
    IDS,
    PARADATA,
    PARADATA_PATTERN,
    RATERS,
    TIMES,
    WEIGHT,
    bare,
    paradata_of_tools,
)

#: what a column that is not part of the rankings can be; "group", "weight" and "ignored" may be the user's choice
RoleName = Literal[
    "feature", "id", "name", "timestamp", "paradata", "free text", "constant", "weight", "answer", "group", "ignored"
]

#: layouts in which people answer several tasks, a ranking each
SEVERAL_EACH = ("best-worst", "tricot", "pairwise")

# A text of more values than this is a name or a comment rather than a category.
_MOST_CATEGORIES = 20
# Texts of so few rows may be the names of those who ranked.
_MOST_NAMED = 200
_LONGEST_NAME, _MOST_WORDS_OF_NAME = 40, 4
# Fewer rows may have the numbers 1, 2, 3 by chance.
_FEWEST_COUNTED = 10
# Numbers of rows may reach this many times the rows that are left.
_MOST_GAPS = 1.5
_MOSTLY = 0.9
# Comments are longer than categories, and no two are the same.
_WORDS_OF_COMMENT = 3

_DATE = re.compile(
    r"(?:\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4}|"
    r"\d{1,2}[ -](?:[A-Za-z]{3,9}\.?)[ -]\d{2,4}|[A-Za-z]{3,9}\.? \d{1,2}, \d{4})(?:[T ,].*)?"
)
_CLOCK = re.compile(r"\d{1,2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?: ?[AaPp]\.?[Mm]\.?)?")
_MAIL = re.compile(r"[^@\s]+@[^@\s]+\.\w+")
_CODE = re.compile(r"(?=.*\d)[\w:.#{}/-]{4,}", re.ASCII)
# What columns of one question have in common, and what distinguishes them: rank_ and tea, q and 12.
_PARTS = re.compile(r"(?P<stem>.*[\W_]|\D+(?=\d))(?:(?P<number>\d+)|[^\W_]+)")
# Answers to: is this item better or worse than the one you know?
_COMPARISONS = ({"better", "worse"}, {"better", "worse", "same"}, {"better", "worse", "equal"})
_ENDING = re.compile(r".+([\W_](?:best|worst|pos|neg|most|least))", re.I)


class Role(NamedTuple):
    """What a column is, and why."""

    role: RoleName
    reason: str


def recognize_roles(
    columns: Covariates, *, rankings: Sequence[str] = (), weight_is_settled: Collection[str] = ()
) -> dict[str, Role]:
    """The role of each column that is not part of the rankings.

    Parameters
    ----------
    columns : dict of str to ndarray
        As readers return covariates: float64 with NaN, or text with None where missing.
    rankings : sequence of str, default=()
        The columns of the rankings; others with names like theirs are answers.
    weight_is_settled : collection of str, default=()
        Columns that the user says are not weights, whatever their names.

    Returns
    -------
    dict of str to Role
        In the order of the columns. Numbers and texts of few values are features, unless names or cells say otherwise.

    Examples
    --------
    >>> import numpy as np
    >>> columns = {"ResponseId": np.array(["R_1a", "R_2b"], dtype=object), "age": np.array([31.0, 47.0])}
    >>> recognize_roles(columns)["ResponseId"]
    Role(role='id', reason='named like an id')
    >>> recognize_roles(columns)["age"].role
    'feature'
    """
    tools = paradata_of_tools(columns)
    answers, compared = _similar_names(columns, rankings), _compared_items(columns, rankings)
    roles: dict[str, Role] = {}
    for name, column in columns.items():
        role = _by_cells_alone(column) or _by_name(name, column, tools)
        if role is None and name in answers:
            role = Role("answer", "named like the columns of the rankings, so it may give them away")
        if role is None and name in compared:
            role = Role("answer", "it says whether a ranked item is better or worse than another")
        if role is None:
            role = (
                _of_numbers(name, column, name in weight_is_settled) if _is_number(column) else _of_texts(name, column)
            )
        if role.role == "name" and any(other.role == "name" for other in roles.values()):
            role = Role("free text", "texts that seldom repeat")  # those who rank have one name each
        roles[name] = role
    return roles


def roles_of_tasks(columns: Covariates) -> dict[str, Role]:
    """Who answered, and the numbers of their tasks, where everybody has several rows: neither is a feature."""
    names = {name.lower(): name for name in reversed(list(columns))}
    who = next((names[word] for word in RESPONDENTS if word in names), None)
    if who is None or _n_distinct(columns[who]) == len(columns[who]):
        return {}
    roles = {who: Role("id", "it says who answered")}
    for task in (names[word] for word in TASKS if word in names):
        pairs = list(zip(columns[who].tolist(), columns[task].tolist(), strict=True))
        if len(set(pairs)) == len(pairs):
            roles[task] = Role("paradata", "it numbers the tasks of a person")
    return roles


def may_be_feature(column: npt.NDArray[Any]) -> bool:
    """Whether a column holds numbers, or texts of few values."""
    return _is_number(column) or _n_distinct(column) <= min(_MOST_CATEGORIES, len(column) // 2)


def is_duration(name: str) -> bool:
    """Whether a column is named like the time that a respondent took."""
    return DURATION.fullmatch(bare(name)) is not None


def _is_number(column: npt.NDArray[Any]) -> bool:
    return column.dtype.kind == "f"


def _by_cells_alone(column: npt.NDArray[Any]) -> Role | None:
    """Blank and constant columns, whatever their names."""
    present = column[~np.isnan(column)] if _is_number(column) else [cell for cell in column if cell is not None]
    if len(present) == 0:
        return Role("constant", "blank in every row")
    # One answer and blanks are a box that some have ticked.
    if len(column) > 1 and len(present) == len(column) and all(cell == present[0] for cell in present):
        return Role("constant", "the same in every row")
    return None


def _by_name(name: str, column: npt.NDArray[Any], tools: Mapping[str, str]) -> Role | None:
    word = bare(name)
    if word in TIMES:
        return Role("timestamp", "named like a time stamp")
    if word in tools:
        return Role("paradata", f"written by {tools[word]}, not an answer")
    if word in PARADATA or PARADATA_PATTERN.fullmatch(name):
        return Role("paradata", "written by the survey tool, not an answer")
    if DURATION.fullmatch(word) and _is_number(column):
        return Role("paradata", "the time that the answers took")
    seldom_repeats = _n_distinct(column) > 0.5 * len(column)
    if word in CERTAIN_IDS or name == "#" or (seldom_repeats and (word in IDS or ID_ENDING.search(name))):
        is_name = word in RATERS and not _is_number(column)
        return Role("name", "the names of those who rank") if is_name else Role("id", "named like an id")
    return None


def _similar_names(names: Collection[str], rankings: Sequence[str]) -> set[str]:
    """Columns whose names begin like those of the rankings, as rank_milk does like rank_tea, or end like them."""
    found = [_PARTS.fullmatch(column.strip()) for column in rankings]
    patterns = {re.escape(parts["stem"]) + (r"\d+" if parts["number"] else ".+") for parts in found if parts}
    endings = {match[1].lower() for column in rankings if (match := _ENDING.fullmatch(column))}
    return {
        name
        for name in names
        if any(re.fullmatch(pattern, name) for pattern in patterns) or name.lower().endswith(tuple(endings))
    }


def _compared_items(columns: Covariates, rankings: Sequence[str]) -> set[str]:
    """Columns that call a ranked item better or worse, and end like its column, as var_a does like variety_a."""
    ends = {parts.string[parts.end("stem") :] for column in rankings if (parts := _PARTS.fullmatch(column.strip()))}
    return {
        name
        for name, column in columns.items()
        if (parts := _PARTS.fullmatch(name.strip()))
        and parts.string[parts.end("stem") :] in ends
        and not _is_number(column)
        and {cell.strip().lower() for cell in column if cell is not None} in _COMPARISONS
    }


def _of_numbers(name: str, column: npt.NDArray[Any], is_no_weight: bool) -> Role:
    present = column[~np.isnan(column)]
    counts = np.arange(len(column))
    if len(column) >= _FEWEST_COUNTED and any(np.array_equal(column, counts + start) for start in (0, 1)):
        return Role("id", "it numbers the rows")
    if len(column) >= _FEWEST_COUNTED and _counts_with_gaps(column):
        return Role("id", "it numbers the rows, some of which are not here")
    is_fraction = bool(np.any(present != np.round(present)))
    if not is_no_weight and WEIGHT.fullmatch(name) and is_fraction and present.min() >= 0 and 0.5 < present.mean() < 2:
        return Role("weight", "named like a weight, but not chosen as one")
    return Role("feature", "a number")


def _counts_with_gaps(column: npt.NDArray[Any]) -> bool:
    """Whether whole numbers rise from 0 or 1 on in every row, and few are left out, as where rows were dropped."""
    rises = column[0] in (0, 1) and bool(np.all(np.diff(column) >= 1)) and not np.any(column % 1)
    return rises and bool(column[-1] < _MOST_GAPS * len(column))


def _of_texts(name: str, column: npt.NDArray[Any]) -> Role:
    present = [cell for cell in column if cell is not None]
    different = set(present)
    for pattern, role in (
        (_DATE, Role("timestamp", "dates")),
        (_CLOCK, Role("timestamp", "times of day")),
        (_MAIL, Role("id", "e-mail addresses")),
    ):
        if sum(pattern.fullmatch(cell) is not None for cell in different) >= _MOSTLY * len(different):
            return role
    if may_be_feature(column):
        is_ordered = ordered_levels(different) is not None
        if not is_ordered and COMMENTS.fullmatch(name):
            return Role("free text", "named like an open question")
        return Role("feature", "an ordered category" if is_ordered else "a category")
    all_differ = len(different) == len(present) == len(column)
    mean_words = sum(len(cell.split()) for cell in different) / len(different)
    if all_differ and all(map(_CODE.fullmatch, different)):
        return Role("id", "codes, and none repeats")
    like_names = mean_words < _WORDS_OF_COMMENT and all(
        len(cell) <= _LONGEST_NAME and len(cell.split()) <= _MOST_WORDS_OF_NAME for cell in different
    )
    if len(different) == len(present) and (
        bare(name) in RATERS or (like_names and all_differ and len(column) <= _MOST_NAMED)
    ):
        return Role("name", "the names of those who rank")
    return Role("free text", "texts that seldom repeat" if mean_words < _WORDS_OF_COMMENT else "comments")


def _n_distinct(column: npt.NDArray[Any]) -> int:
    return len(np.unique(column[~np.isnan(column)])) if _is_number(column) else len(set(column) - {None})
