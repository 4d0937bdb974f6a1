"""The parts of an analysis that are about people, for `analyze`; each is None where it does not apply.

Groups that are known and their comparison, segments that are found, features that drive rankings, and named people.
What the data do not allow is refused with a `ValueError`, whose words become the reason why a part is missing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from rankwise._validation import check_generator, data_frame
from rankwise.analysis.base import sample_rows
from rankwise.analysis.consensus_result import ConsensusResult
from rankwise.analysis.driver_results import Drivers
from rankwise.analysis.drivers import drivers
from rankwise.analysis.group_comparison import GroupComparison, compare_groups
from rankwise.analysis.rater_results import Raters
from rankwise.analysis.raters import MOST_RATERS, raters
from rankwise.analysis.robustness import robustness
from rankwise.analysis.robustness_results import Robustness
from rankwise.analysis.segment_results import Segments
from rankwise.analysis.segments import segments
from rankwise.data import Rankings, Survey

# Groups are compared by permuting the labels of at most so many.
_MOST_COMPARED = 10_000
# Fewer people are no segments; more items take minutes. Plackett-Luce is quick where items are missing.
_FEWEST_IN_SEGMENTS, _MOST_ITEMS_IN_SEGMENTS, _MOST_INCOMPLETE = 30, 30, 300
# How many votes decide is found in seconds for so many rankings.
_FEWEST_VOTES, _MOST_VOTES, _SECONDS_OF_MARGINS = 3, 5_000, 5.0
_OTHER_MODEL = (
    "by Plackett-Luce, which is quick where items are missing; segments by Mallows, the default of `segments`, may be "
    "others"
)
_SEGMENTS: dict[str, Any] = {"max_segments": 6, "n_init": 3, "n_bootstrap": 10}


def grouped_rankings(rankings: Rankings, by: Any, X: Any, survey: Survey | None) -> Survey | None:
    """The rankings with their groups, from labels, a column, or the survey itself; None without groups."""
    if by is None:
        return survey if survey is not None and survey.by is not None else None
    name = by if isinstance(by, str) else "group"
    if isinstance(by, str):
        columns = X if X is not None or survey is None else survey.X
        if isinstance(columns, Mapping):
            known = list(columns)
        else:
            frame = data_frame(columns, "X")
            known = [] if frame is None else list(frame.columns)
        if by not in known:
            raise ValueError(
                f"by is {by!r}, but X has no such column; give one of {known}, or a label for each ranking"
            )
        by = columns[by]
    labels = np.asarray(by, dtype=object)
    if labels.shape != (len(rankings),):
        raise ValueError(
            f"by has the shape {labels.shape}, but there are {len(rankings)} rankings; give one label for each"
        )
    return Survey(rankings, {}, by=labels, by_name=name)


def compared_groups(grouped: Survey | None, seed: int, missing: dict[str, str]) -> GroupComparison | None:
    """The tests, of a random sample if there are very many rankings; None if there are no two groups to compare.

    ``missing`` gets the reason, as in the functions below.
    """
    if grouped is None or grouped.by is None:
        return None
    rankings = grouped.rankings
    rows = sample_rows(len(rankings), _MOST_COMPARED, check_generator(seed))
    try:
        part = Survey(rankings[rows], {}, by=grouped.by[rows], by_name=grouped.by_name)
        found = compare_groups(part, random_state=seed)
    except ValueError as error:  # such as a single group of more than one person
        missing["group_comparison"] = str(error)
        return None
    notes = [f"a random sample of {len(rows):,} of {len(rankings):,} rankings"] if len(rows) < len(rankings) else []
    return replace(found, notes=(*notes, *found.notes))


def found_segments(
    X: Any,
    rankings: Rankings,
    names: Sequence[str],
    categorical: Any,
    seed: int,
    n_jobs: int | None,
    missing: dict[str, str],
    *,
    n_total: int,
) -> Segments | None:
    """Segments, with their link to the features; None if people are too few or items too many.

    ``n_total`` is the number of rankings from which these were drawn.
    """
    n_people = np.count_nonzero(rankings.informative)
    if n_people < _FEWEST_IN_SEGMENTS or not 2 < rankings.n_items <= _MOST_ITEMS_IN_SEGMENTS:
        return None
    options: dict[str, Any] = {**_SEGMENTS, "random_state": seed, "n_jobs": n_jobs}
    if rankings.kind == "incomplete":
        rows = sample_rows(len(rankings), _MOST_INCOMPLETE, check_generator(seed))
        if len(rows) < len(rankings):
            rankings, names = rankings[rows], ()
        options |= {"model": "plackett-luce", "max_segments": 4}
    try:
        if names:
            options |= {"X": X, "feature_names": names, "categorical_features": categorical}
        found = segments(rankings, **options)
    except ValueError as error:  # such as features that are all the same, or rankings that tie everything
        missing["segments"] = str(error)
        return None
    notes: tuple[str, ...] = (
        () if len(rankings) == n_total else (f"found in a random sample of {len(rankings):,} rankings",)
    )
    if rankings.kind == "incomplete":
        notes += (_OTHER_MODEL,)
    return replace(found, notes=(*notes, *found.notes))


def driving_features(
    X: Any,
    rankings: Rankings,
    names: Sequence[str],
    categorical: Any,
    seed: int,
    n_jobs: int | None,
    missing: dict[str, str],
) -> Drivers | None:
    """Which features drive rankings; None where that cannot be tested."""
    try:
        return drivers(
            X, rankings, feature_names=names, categorical_features=categorical, random_state=seed, n_jobs=n_jobs
        )
    except ValueError as error:  # such as features that only number people
        missing["drivers"] = str(error)
        return None


def winner_robustness(
    rankings: Rankings, survey: Survey | None, grouped: Survey | None, missing: dict[str, str]
) -> Robustness | None:
    """Whether the winner hangs on few votes; None if rankings or items are very many, or decide nothing."""
    if not _FEWEST_VOTES <= len(rankings) <= _MOST_VOTES or rankings.n_items > _MOST_ITEMS_IN_SEGMENTS:
        return None
    by = None if grouped is None else {label: rows.tolist() for label, rows in grouped.groups().items()}
    try:
        return robustness(rankings if survey is None else survey, by=by, time_limit=_SECONDS_OF_MARGINS)
    except ValueError as error:  # such as rankings that compare nothing
        missing["robustness"] = str(error)
        return None


def named_raters(survey: Survey | None, best: ConsensusResult, seed: int) -> Raters | None:
    """Named people one by one, if a list of them can be read."""
    if survey is None or survey.names is None or len(survey.rankings) > MOST_RATERS:
        return None
    return raters(survey.rankings, survey.names.tolist(), consensus=best, random_state=seed)
