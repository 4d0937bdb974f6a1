"""From rankings and labels to people who can be compared: `compared_people`, for `compare_groups`.

All checks of labels, strata, pairs and weights are here; who is left out, and why, goes into notes.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from rankwise._tables import counted, short_name
from rankwise._typing import ArrayLike, BoolArray, IntArray
from rankwise._validation import MANY_GROUPS_CURE, MOST_GROUPS, is_unknown_label, shortlist, weights_count_people
from rankwise.analysis.base import rankings_of
from rankwise.analysis.group_permutations import Design
from rankwise.data import Rankings, Survey

_FEWEST_PEOPLE = 2
# Counted people are permuted one by one.
_MOST_PEOPLE = 5_000_000


class ComparedPeople(NamedTuple):
    """People in the order of their strata, with the names of their groups, and what was done to get there."""

    rankings: Rankings
    design: Design
    groups: tuple[str, ...]
    by: str
    notes: tuple[str, ...]
    is_paired: bool
    has_survey_weights: bool


def compared_people(
    rankings: ArrayLike, by: Any, *, strata: Any = None, pairs: Any = None, weight_kind: str = "auto"
) -> ComparedPeople:
    """Check labels, leave out who cannot be compared, and put people of one stratum, or one person, together."""
    source, rankings = rankings, rankings_of(rankings)
    labels, name = _column(source, by, "by", len(rankings))
    if strata is not None and pairs is not None:
        raise ValueError(
            "strata and pairs are both given, but people are compared with themselves already; drop strata"
        )
    if rankings.n_items < 2:
        raise ValueError("rankings of one item are all equal; give two items or more")
    is_paired = pairs is not None
    within = pairs if is_paired else strata
    inside = np.zeros(len(rankings), dtype=np.intp)
    notes: list[str] = []
    kept = _known(labels)
    _note(notes, np.count_nonzero(~kept), "without a group")
    if within is not None:
        values, _ = _column(source, within, "pairs" if is_paired else "strata", len(rankings))
        known = _known(values)
        _note(notes, np.count_nonzero(kept & ~known), "without an id" if is_paired else "without a stratum")
        kept &= known
        inside[known] = np.unique([str(value) for value in values[known]], return_inverse=True)[1].ravel()
    says_something = _compares(rankings) & (rankings.weights > 0)
    silent = np.count_nonzero(kept & ~says_something)
    _note(notes, silent, "that compares or counts nothing" if silent == 1 else "that compare or count nothing")
    kept &= says_something

    rows = np.flatnonzero(kept)
    if not len(rows):
        raise ValueError(f"nobody can be compared by {name}; {'; '.join(notes) or 'there are no rankings'}")
    names, codes = _groups(rankings, labels, rows)
    people = weights_count_people(rankings.weights, weight_kind)
    counts = rankings.weights[rows].astype(np.intp) if people else np.ones(len(rows), dtype=np.intp)
    if counts.sum() > _MOST_PEOPLE:
        raise ValueError(
            f"the weights count {counts.sum():,} people, more than {_MOST_PEOPLE:,}; compare a random sample of them, "
            "or give weight_kind='survey' if they are survey weights"
        )
    rows, codes = np.repeat(rows, counts), np.repeat(codes, counts)
    inside = inside[rows]

    alone = np.bincount(codes, minlength=len(names)) < _FEWEST_PEOPLE
    if alone.any():
        _check_two(names, ~alone, name, notes)
        few = [label for label, is_alone in zip(names, alone, strict=True) if is_alone]
        notes.append(f"left out, with one person each: {shortlist(few)}")
        rows, inside, codes = (array[~alone[codes]] for array in (rows, inside, codes))
    if within is not None:
        if is_paired:
            _check_pairs(codes, inside, names)
        crossed = _crossed(codes, inside, name, is_paired, notes)
        rows, inside, codes = rows[crossed], inside[crossed], codes[crossed]
    used = np.bincount(codes, minlength=len(names)) >= _FEWEST_PEOPLE
    _check_two(names, used, name, notes)
    rows, inside, codes = (array[used[codes]] for array in (rows, inside, codes))
    groups = tuple(label for label, is_used in zip(names, used, strict=True) if is_used)
    codes = (np.cumsum(used) - 1)[codes]

    order = np.argsort(inside, kind="stable")
    rows, codes, inside = rows[order], codes[order], inside[order]
    starts = np.flatnonzero(np.append(True, np.diff(inside) > 0))
    weights = np.ones(len(rows))
    if not people:
        weights = rankings.weights[rows]
        means = np.bincount(codes, weights) / np.bincount(codes)
        weights = weights / means[codes]
        notes.append("survey weights stay with their rankings, divided by their mean in each group")
    part = Rankings(rankings.positions[rows], rankings.items)
    design = Design(codes, np.append(starts, len(rows)), weights)
    return ComparedPeople(part, design, groups, name, tuple(notes), is_paired, not people)


def _column(source: Any, given: Any, argument: str, n: int) -> tuple[np.ndarray[Any, Any], str]:
    """Labels, one for each ranking, and what they are called; of a survey, by the name of a column."""
    default = {"by": "group", "strata": "stratum", "pairs": "id"}[argument]
    if given is None and isinstance(source, Survey) and source.by is not None:
        return np.asarray(source.by, dtype=object), source.by_name
    if given is None:
        raise ValueError("by is missing; give the group of each ranking, as in by=['f', 'm', ...]")
    if isinstance(given, str):
        if not isinstance(source, Survey):
            raise ValueError(f"{argument} is {given!r}, but only a Survey has columns; give a label for each ranking")
        if given == source.by_name and source.by is not None:
            return np.asarray(source.by, dtype=object), given
        if given == "id" and source.id is not None and "id" not in source.X:
            return np.asarray(source.id, dtype=object), given
        if given not in source.X:
            raise ValueError(
                f"{argument} is {given!r}, but the columns of the survey are {shortlist(list(source.X))}; "
                f"name it when reading, as in read_survey(path, features=[{given!r}])"
            )
        return np.asarray(source.X[given], dtype=object), given
    labels = np.asarray(given, dtype=object)
    if labels.ndim != 1:
        raise ValueError(f"{argument} has {labels.ndim} dimensions; give one label for each ranking")
    if len(labels) != n:
        raise ValueError(f"{argument} has {len(labels):,} labels, but there are {n:,} rankings; give one for each")
    return labels, str(getattr(given, "name", None) or default)


def _known(labels: np.ndarray[Any, Any]) -> BoolArray:
    return np.array([not is_unknown_label(label) for label in labels.tolist()], dtype=bool)


def _compares(rankings: Rankings) -> BoolArray:
    """Which rankings put some item before another, or tie it: they list one, and hold two."""
    positions = rankings.positions
    return np.isfinite(positions).any(axis=1) & ((~np.isnan(positions)).sum(axis=1) > 1)


def _groups(rankings: Rankings, labels: np.ndarray[Any, Any], rows: IntArray) -> tuple[list[str], IntArray]:
    """Names of the groups in an order that people expect, and the number of the group of each of these rows."""
    distinct = {str(label) for label in labels[rows].tolist()}
    if len(distinct) > MOST_GROUPS:
        raise ValueError(f"by has {len(distinct):,} groups, more than {MOST_GROUPS}; {MANY_GROUPS_CURE}")
    found = Survey(rankings, by=labels[rows]).groups()
    codes = np.empty(len(rows), dtype=np.intp)
    for number, members in enumerate(found.values()):
        codes[members] = number
    return list(found), codes


def of_column(by: str) -> str:
    """Which column groups are of, in words; nothing where it is called just that, as labels without a name are."""
    return "" if by == "group" else f" of {short_name(by)}"


def _check_two(names: list[str], used: BoolArray, by: str, notes: list[str]) -> None:
    """Refuse what leaves fewer than two groups to compare, and say who was left out before."""
    if np.count_nonzero(used) >= 2:
        return
    before = f" ({'; '.join(notes)})" if notes else ""
    if len(names) == 1:
        raise ValueError(
            f"all rankings are of one group{of_column(by)}, {short_name(names[0])!r}{before}; a comparison needs two"
        )
    large = [name for name, is_used in zip(names, used, strict=True) if is_used]
    rest = f"only {short_name(large[0])!r} has" if large else "none has"
    raise ValueError(
        f"a comparison needs two groups of {_FEWEST_PEOPLE} people or more who can be compared, but of "
        f"{counted(len(names), 'group')}{of_column(by)} {rest}{before}; merge groups, or ask more people"
    )


def _check_pairs(codes: IntArray, inside: IntArray, names: list[str]) -> None:
    """Refuse people with several rankings in one group."""
    cells, counts = np.unique(inside * len(names) + codes, return_counts=True)
    if counts.max(initial=0) > 1:
        group = names[int(cells[np.argmax(counts)]) % len(names)]
        raise ValueError(
            f"somebody has {counts.max()} rankings in group {short_name(group)!r}, but pairs need one ranking of each "
            "person in each group; give strata instead of pairs if several are right"
        )


def _crossed(codes: IntArray, inside: IntArray, by: str, is_paired: bool, notes: list[str]) -> BoolArray:
    """Who is in a stratum with people of another group; refused if nobody is."""
    n = int(inside.max(initial=0)) + 1
    low, high = np.full(n, np.iinfo(np.intp).max), np.full(n, -1)
    np.minimum.at(low, inside, codes)
    np.maximum.at(high, inside, codes)
    result: BoolArray = (low < high)[inside]
    if not result.any():
        problem = "nobody ranked in two groups" if is_paired else "every stratum holds people of one group only"
        cure = "give the same id to all rankings of a person" if is_paired else "give other strata, or none"
        raise ValueError(f"by {by}, {problem}, so that nothing can be compared; {cure}")
    where = "of people who ranked in one group only" if is_paired else "in strata of one group only"
    _note(notes, np.count_nonzero(~result), where)
    return result


def _note(notes: list[str], n: Any, which: str) -> None:
    if n:
        notes.append(f"left out: {counted(int(n), 'ranking')} {which}")
