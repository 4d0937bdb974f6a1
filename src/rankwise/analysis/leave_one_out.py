"""Who would win without somebody, and how people are called: what `raters` and `robustness` share."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple, cast

import numpy as np

from rankwise._decode import ConsensusRule
from rankwise._typing import ArrayLike, FloatArray
from rankwise._validation import is_null, is_unknown_label, shortlist
from rankwise.analysis.consensus import find_consensus
from rankwise.data import Rankings, Survey

#: of more people or items, consensuses of all but one take long
MOST_RATERS, MOST_ITEMS = 60, 15
#: leaving out one of fewer says nothing
FEWEST_RATERS = 3
#: rules that may ask for more than the rankings: seats, a prior, or no ties
ASKING_RULES = ("stv", "plackett-luce", "mallows", "cayley")
_SECONDS_OF_PROOF = 1.0


class Outcome(NamedTuple):
    """Who is first, and the place of each item; NaN for items that nobody compares any more."""

    winners: tuple[Hashable, ...]
    positions: FloatArray


def outcome(rankings: Rankings, rule: str, seconds: float = _SECONDS_OF_PROOF) -> Outcome:
    """The consensus in short; nobody wins if no item is compared with another.

    ``seconds`` are for the proof of Kemeny's ranking, which is found without it too.
    """
    positions = np.full(rankings.n_items, np.nan)
    if not rankings.compared.any():
        return Outcome((), positions)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # the consensus of all has warned already
        found = find_consensus(
            rankings, cast(ConsensusRule, rule), time_limit=min(seconds, _SECONDS_OF_PROOF), random_state=0
        )
    positions[rankings.compared] = found.positions
    first = set(found.winners)
    return Outcome(tuple(item for item in rankings.items if item in first), positions)


def rater_names(
    rankings: ArrayLike, names: Sequence[Any] | None, n: int, notes: list[str] | None = None
) -> tuple[str, ...]:
    """The names given, else those or the ids of a survey, else "rater 1", ...

    Equal names of a survey with ids get their ids; those that still repeat are numbered. ``notes`` gets a line if some
    are.
    """
    if names is None and isinstance(rankings, Survey):
        names = _names_with_ids(rankings)
    if names is None:
        return tuple(f"rater {number}" for number in range(1, n + 1))
    if len(names) != n:
        raise ValueError(f"there are {len(names)} names, but {n} rankings; give one for each")
    numbered: list[str] = []
    counts: Counter[str] = Counter()
    for name in names:
        shown = "(no name)" if is_null(name) else str(name)
        counts[shown] += 1
        numbered.append(shown if counts[shown] == 1 else f"{shown} ({counts[shown]})")
    repeated = [name for name, count in counts.items() if count > 1]
    if repeated and notes is not None:
        notes.append(f"several rankings have the same name, and are numbered: {shortlist(repeated)}")
    return tuple(numbered)


def _names_with_ids(survey: Survey) -> list[Any] | None:
    """Names, or ids where there are none; people of the same name are told apart by their ids."""
    if survey.names is None or survey.id is None:
        found = survey.id if survey.names is None else survey.names
        return None if found is None else list(found.tolist())
    names, ids = survey.names.tolist(), survey.id.tolist()
    people = {(str(name), str(known)) for name, known in zip(names, ids, strict=True)}
    counts = Counter(name for name, _ in people)
    return [
        name if is_null(name) or is_unknown_label(known) or counts[str(name)] == 1 else f"{name} ({known})"
        for name, known in zip(names, ids, strict=True)
    ]


def without_person(rankings: Rankings, row: int, leaving: float) -> Rankings:
    """The rankings without one person of a row, who has this part of its weight."""
    weights = rankings.weights.copy()
    weights[row] = max(0.0, weights[row] - leaving)
    return Rankings(rankings, weights=weights)
