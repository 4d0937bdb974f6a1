"""Would the result stand without somebody or something: `robustness` leaves out people, groups and items.

It also says how many votes decide who wins (`rankwise.aggregation.margin_of_victory`), and who weighs most. The command
``rankwise robustness`` prints it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from time import monotonic
from typing import Any

import numpy as np

from rankwise._decode import ConsensusRule, rule_in_words
from rankwise._progress import track
from rankwise._typing import ArrayLike, FloatArray, IntArray
from rankwise._validation import (
    MANY_GROUPS_CURE,
    MOST_GROUPS,
    check_real_number,
    is_unknown_label,
    weights_count_people,
)
from rankwise.aggregation import MarginOfVictory, margin_of_victory, preference_matrix
from rankwise.aggregation.pairs import comparison_groups
from rankwise.aggregation.positional import shares_beaten
from rankwise.analysis import leave_one_out as without
from rankwise.analysis.base import rankings_of
from rankwise.analysis.robustness_results import LeftOut, Robustness
from rankwise.data import Rankings, Survey
from rankwise.distances import kendall_distance

#: rules for which margins of victory are proven
DEFAULT_RULES: tuple[ConsensusRule, ...] = ("kemeny", "borda", "copeland", "plurality")
_MOST_ITEMS_LEFT_OUT = 30
# Of the time, margins of victory have this share; the first consensus has at least so many seconds.
_SHARE_OF_MARGINS, _LEAST_SECONDS = 0.75, 0.05
_MORE_TIME = "give a larger time_limit for more"


def robustness(
    rankings: ArrayLike,
    names: Sequence[Any] | None = None,
    *,
    by: Sequence[Any] | Mapping[str, Sequence[int]] | None = None,
    decode: ConsensusRule = "kemeny",
    rules: Sequence[ConsensusRule] | None = None,
    time_limit: float = 20.0,
) -> Robustness:
    """Find out whether a consensus hangs on single people, groups or items, and how many votes decide the winner.

    Parameters
    ----------
    rankings : array-like of shape (n_rankings, n_items), Rankings or Survey
        Positions: column = item, 1 = best, of any kind. Whole weights count people, who leave one by one; other weights
        are survey weights, and every ranking is one person.
    names : sequence of shape (n_rankings,), optional
        Who made each ranking. By default the names or ids of the survey, or "rater 1", ...
    by : sequence of shape (n_rankings,) or mapping of str to sequence of int, optional
        The group of each ranking (None for none), or the rows of each group. By default those of the survey, if any.
    decode : str, default="kemeny"
        The rule of the consensus, as in `consensus`; all but "stv" and "plackett-luce".
    rules : sequence of str, optional
        Rules for margins of victory; by default ``decode``, "kemeny", "borda", "copeland" and "plurality". Those that
        the rankings do not allow are left out, with a note.
    time_limit : float, default=20.0
        Seconds for all of it, at most three quarters of them for margins of victory. Where it ends, there are bounds
        instead of a number, and what was not looked at is noted.

    Returns
    -------
    Robustness

    See Also
    --------
    rankwise.aggregation.margin_of_victory : What the margins are, and when they are exact.
    raters : Who agrees, and who stands apart.

    Notes
    -----
    The winner changes if the *set* of items that share the first place is another one. If the winner is itself left out
    as an item, the winner changes if the new one is not who came next. Where leaving out a loser changes the winner, or
    the order of others, the rule is not independent of irrelevant alternatives: here the loser decides.

    Examples
    --------
    >>> from rankwise.analysis import robustness
    >>> votes = [[1, 2, 3], [1, 2, 3], [1, 3, 2], [2, 1, 3], [3, 1, 2]]
    >>> found = robustness(votes, ["Ann", "Ben", "Cem", "Dora", "Eli"])
    >>> print(found.sentences[0])
    0 wins by Kemeny. Removing 1 vote of 5 alters that, and so does changing 1 vote.
    >>> found.pivotal
    array([0, 1, 2])
    """
    survey = rankings if isinstance(rankings, Survey) else None
    data = rankings_of(rankings)
    n = len(data)
    notes: list[str] = []
    shown = without.rater_names(rankings, names, n, notes)
    if not data.compared.any():
        raise ValueError("no ranking of positive weight compares two items, so nobody wins")
    if decode in ("stv", "plackett-luce"):
        margin_of_victory(data, decode)  # says why there is no winner to speak of
    seconds = check_real_number("time_limit", time_limit, infinite=True)
    wanted = list(dict.fromkeys([decode, *(DEFAULT_RULES if rules is None else rules)]))
    groups = _groups(by if by is not None or survey is None or survey.by is None else survey.groups(), n)
    full = without.outcome(data, decode, max(seconds, _LEAST_SECONDS))
    clock = _Clock(seconds)  # what the first consensus compiles is no part of it
    margins = _margins(data, wanted, _SHARE_OF_MARGINS * seconds, notes)

    counts = weights_count_people(data.weights)
    people = data.weights.astype(np.intp) if counts else (data.weights > 0).astype(np.intp)
    people = np.where(data.informative, people, 0)
    leaving = np.minimum(data.weights, 1.0) if counts else data.weights
    met = preference_matrix(data.comparable())
    n_parts, parts = comparison_groups(met.counts > 0, met.items)
    if n_parts > 1:
        notes.append(
            f"no ranking compares these {n_parts} groups of items with each other: {parts}. Their order is "
            "arbitrary, and so is who of them wins: look at each group by itself (Rankings.select)"
        )
    left_people = None
    if n <= without.MOST_RATERS and data.n_items <= without.MOST_ITEMS:
        left_people = clock.all_of(
            lambda row: _left_out(
                shown[row],
                int(people[row] > 0),
                full,
                without.without_person(data, row, leaving[row]),
                decode,
                clock.seconds_left,
            ),
            range(n),
            "people",
        )
    else:
        notes.append("people were not left out one by one: there are too many people or items")
    left_groups = None
    if groups:
        left_groups = clock.all_of(
            lambda name: _left_out(
                name,
                int(people[groups[name]].sum()),
                full,
                data[np.setdiff1d(np.arange(n), groups[name])],
                decode,
                clock.seconds_left,
            ),
            list(groups),
            "groups",
        )
    left_items = None
    if data.n_items <= _MOST_ITEMS_LEFT_OUT:
        left_items = clock.all_of(
            lambda item: _without_item(data, item, full, decode, clock.seconds_left), range(data.n_items), "items"
        )
    else:
        notes.append("items were not left out one by one: there are too many")
    notes += clock.notes
    lead, rival, influence = _lead(data, full.winners, leaving, decode)
    return Robustness(
        decode=decode,
        items=data.items,
        winners=full.winners,
        names=shown,
        n_people=int(people.sum()),
        people=left_people,
        groups=left_groups,
        items_left_out=left_items,
        margins=margins,
        lead=lead,
        influence=influence,
        rival=rival,
        notes=tuple(notes),
    )


class _Clock:
    """The time that is left, and notes on what it was too short for."""

    def __init__(self, seconds: float) -> None:
        self.limit, self.deadline = seconds, monotonic() + min(seconds, 1e9)
        self.notes: list[str] = []

    @property
    def seconds_left(self) -> float:
        return max(self.deadline - monotonic(), 0.0)

    def all_of(
        self, leave_out: Callable[[Any], LeftOut], names: Sequence[Any], what: str
    ) -> tuple[LeftOut, ...] | None:
        """The consensus without each of them; None with a note if time is over before the last one."""
        found = []
        for name in track(names, f"leaving out {what}", len(names)):
            if self.seconds_left == 0:
                self.notes.append(
                    f"{what} were not left out one by one: time was over after {self.limit:g} seconds; {_MORE_TIME}"
                )
                return None
            found.append(leave_out(name))
        return tuple(found)


def _margins(
    data: Rankings, rules: list[ConsensusRule], seconds: float, notes: list[str]
) -> tuple[MarginOfVictory, ...]:
    """Margins by all rules that have one for these rankings, with notes on the others."""
    found = []
    for rule in rules:
        for how in ("removal", "change"):
            try:
                found.append(margin_of_victory(data, rule, how, time_limit=seconds / (2 * len(rules))))
            except ValueError as error:
                why = str(error).split(". ")[0]
                if data.kind == "incomplete" and rule == "plurality":
                    why = "not everybody ranks all items"
                where = " if votes are changed" if how == "change" else ""
                notes.append(f"no margin by {rule_in_words(rule)}{where}: {why}")
                break
    late = list(dict.fromkeys(margin.rule for margin in found if margin.out_of_time))
    if late:
        notes.append(
            f"time was over before the margin by {' and '.join(map(rule_in_words, late))} was proven; {_MORE_TIME}"
        )
    return tuple(found)


def _left_out(
    name: Hashable, n_people: int, full: without.Outcome, rest: Rankings, decode: str, seconds: float
) -> LeftOut:
    now = without.outcome(rest, decode, seconds)
    return LeftOut(
        name, n_people, now.winners, set(now.winners) != set(full.winners), _apart(full.positions, now.positions)
    )


def _without_item(data: Rankings, item: int, full: without.Outcome, decode: str, seconds: float) -> LeftOut:
    """The consensus of the other items, compared with that of all without the item."""
    others = [name for i, name in enumerate(data.items) if i != item]
    if len(others) < 2:
        return LeftOut(data.items[item], 0, tuple(others), False, 0.0)
    now = without.outcome(data.select(others), decode, seconds)
    before = np.delete(full.positions, item)
    winners = {name for name in full.winners if name != data.items[item]}
    if not winners:  # it won alone: who came next
        known = np.isfinite(before)
        winners = {others[i] for i in np.flatnonzero(known & (before == before[known].min(initial=np.inf)))}
    return LeftOut(data.items[item], 0, now.winners, set(now.winners) != winners, _apart(before, now.positions))


def _apart(before: FloatArray, after: FloatArray) -> float:
    """Kendall distance of two consensuses; items that one does not hold count nothing."""
    both = np.isfinite(before) & np.isfinite(after)
    if both.sum() < 2:
        return np.nan
    table = np.where(both, [before, after], np.nan)
    return float(kendall_distance(*Rankings(table).positions, normalize=True))


def _lead(
    data: Rankings, winners: tuple[Hashable, ...], leaving: FloatArray, decode: str
) -> tuple[float, Hashable | None, FloatArray]:
    """The lead over the closest rival, who that is, and what each person adds to the lead."""
    if len(winners) != 1:
        return 0.0, None, np.zeros(len(data))
    winner = data.items.index(winners[0])
    own = data.positions[:, [winner]]
    if decode == "borda":
        shares = shares_beaten(data)
        each = np.nan_to_num(shares[:, [winner]] - shares, nan=0.0)
    elif decode == "plurality":
        first = (data.positions == 1) / np.maximum((data.positions == 1).sum(axis=1, keepdims=True), 1)
        each = first[:, [winner]] - first
    else:
        each = (own < data.positions).astype(np.float64) - (own > data.positions)
    leads = data.weights @ each
    rivals = data.compared & (np.arange(data.n_items) != winner)
    rival = int(np.flatnonzero(rivals)[np.argmin(leads[rivals])])
    rest = leads - leaving[:, np.newaxis] * each
    return float(leads[rival]), data.items[rival], float(leads[rival]) - rest[:, rivals].min(axis=1)


def _groups(by: Any, n: int) -> dict[str, IntArray]:
    """Rows of each group: those given, or those that labels say."""
    if by is None:
        return {}
    if isinstance(by, Mapping):
        groups = {str(name): np.asarray(rows, dtype=np.intp) for name, rows in by.items()}
    else:
        labels = list(by)
        if len(labels) != n:
            raise ValueError(f"by has {len(labels)} labels, but there are {n} rankings; give one for each")
        groups = {}
        known = ["" if is_unknown_label(label) else str(label) for label in labels]
        for name in dict.fromkeys(filter(None, known)):
            groups[name] = np.flatnonzero([label == name for label in known])
    if len(groups) > MOST_GROUPS:
        raise ValueError(f"by has {len(groups):,} groups, more than {MOST_GROUPS}; {MANY_GROUPS_CURE}")
    return groups
