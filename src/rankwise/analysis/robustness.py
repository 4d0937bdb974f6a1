"""Would the result stand without somebody or something: `robustness` leaves out people, groups and items.

It also says how many votes decide who wins (`rankwise.aggregation.margin_of_victory`), and who weighs most. The command
``rankwise robustness`` prints it.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankwise._decode import ConsensusRule
from rankwise._progress import track
from rankwise._tables import TextTable, counted, make_frame, short_name
from rankwise._typing import ArrayLike, FloatArray, IntArray
from rankwise._validation import check_real_number, is_null, weights_count_people
from rankwise.aggregation import MarginOfVictory, margin_of_victory
from rankwise.aggregation.positional import shares_beaten
from rankwise.analysis import leave_one_out as without
from rankwise.analysis.base import Result, rankings_of
from rankwise.data import Rankings, Survey
from rankwise.distances import kendall_distance

#: rules for which margins of victory are proven
DEFAULT_RULES: tuple[ConsensusRule, ...] = ("kemeny", "borda", "copeland", "plurality")
_MOST_ITEMS_LEFT_OUT, _MOST_GROUPS = 30, 50
_SHOWN_NAMES, _SHOWN_ROWS = 5, 10
_SAME = 1e-9


@dataclass(frozen=True, eq=False, repr=False)
class LeftOut:
    """What the consensus is without a person, a group or an item.

    Attributes
    ----------
    name : hashable
        Who or what is left out.
    n_people : int
        How many people leave; 0 for an item.
    winners : tuple
        Who wins then; empty if nothing is left.
    winner_changes : bool
        Whether these are others than before. If a winner is itself left out, whether others win than the items that
        came next.
    distance : float
        Kendall distance of the two consensuses, as a share of the pairs that both compare: 0 if the order stays. NaN if
        there are none.
    """

    name: Hashable
    n_people: int
    winners: tuple[Hashable, ...]
    winner_changes: bool
    distance: float

    @property
    def order_changes(self) -> bool:
        """Whether two items come in another order, or tie where they did not."""
        return self.distance > _SAME

    def as_dict(self) -> dict[str, Any]:
        """The numbers for JSON."""
        return {
            "name": str(self.name),
            "n_people": self.n_people,
            "winners": [str(item) for item in self.winners],
            "winner_changes": self.winner_changes,
            "distance": None if np.isnan(self.distance) else self.distance,
        }


@dataclass(frozen=True, eq=False, repr=False)
class Robustness(Result):
    """Whether a consensus hangs on single people, groups or items; made by `robustness`.

    Attributes
    ----------
    decode : str
        The rule of the consensus.
    items : tuple
        Names of the items.
    winners : tuple
        The items that win: several if they tie.
    names : tuple of str
        Who made each ranking.
    n_people : int
        How many people compare items.
    people : tuple of LeftOut or None
        The consensus without one person of each row; None if that was not looked at, with more than 60 rows or 15
        items. Then ``margins`` still say whether one vote decides.
    groups : tuple of LeftOut or None
        The consensus without each group; None if there are no groups.
    items_left_out : tuple of LeftOut or None
        The consensus without each item: does the order of the others stay? None with more than 30 items.
    margins : tuple of MarginOfVictory
        The fewest people whose votes decide who wins, by rule, if votes are removed and if they are changed.
    lead : float
        The lead of the winner over its closest rival: the difference of Borda's points (shares of opponents beaten) by
        "borda", of first places by "plurality", and by every other rule the weight of those who prefer the winner less
        that of those who prefer the rival, negative if the rival has more. 0 if several win.
    influence : ndarray of shape (n_rankings,)
        What one person of each row adds to that lead: the lead of all less that of all others.
    rival : hashable or None
        The closest rival; None if several win.
    notes : tuple of str
        What was not looked at.
    """

    decode: str
    items: tuple[Hashable, ...]
    winners: tuple[Hashable, ...]
    names: tuple[str, ...]
    n_people: int
    people: tuple[LeftOut, ...] | None
    groups: tuple[LeftOut, ...] | None
    items_left_out: tuple[LeftOut, ...] | None
    margins: tuple[MarginOfVictory, ...]
    lead: float
    influence: FloatArray
    rival: Hashable | None
    notes: tuple[str, ...] = ()

    @property
    def pivotal(self) -> IntArray:
        """Rows of the people without whom somebody else wins; empty too if that was not looked at."""
        return np.flatnonzero([one.winner_changes for one in self.people or ()])

    @property
    def sentences(self) -> list[str]:
        """Whether the winner hangs on single votes, groups or items, in plain words."""
        winner = _joined(self.winners)
        lines = []
        own = {margin.how: margin for margin in self.margins if margin.rule == self.decode}
        if "removal" in own:
            verb = "wins" if len(self.winners) == 1 else "win together"
            lines.append(
                f"{winner} {verb} by {self.decode}. It takes {own['removal'].text} of {self.n_people:,} to alter that "
                f"if votes are removed, and {own['change'].text} if they are changed."
            )
        if self.people is not None:
            pivotal = self.pivotal.tolist()
            names = [self.names[row] for row in pivotal]
            if names:
                one = "one vote" if len(names) == 1 else f"any of {counted(len(names), 'vote')}"
                lines.append(f"First place hangs on {one}: without {_some(names, 'or')} it changes.")
            elif len(self.people) > 1:
                lines.append("No single vote decides the winner.")
        for what, parts in (("group", self.groups), ("item", self.items_left_out)):
            if not parts:
                continue
            changing = [part for part in parts if part.winner_changes]
            if changing:
                first = changing[0]
                now = _joined(first.winners) or "nobody"
                more = f" (the same is true of {counted(len(changing) - 1, f'more {what}')})" if changing[1:] else ""
                lines.append(f"Without the {what} {short_name(first.name)}, {now} would win{more}.")
            else:
                stays = sum(not part.order_changes for part in parts)
                order = "and so does the whole order" if stays == len(parts) else "though not always the order behind"
                lines.append(f"Whichever {what} is left out, the winner stays, {order}.")
        if not lines:
            lines.append(f"{winner} wins by {self.decode}.")
        return lines

    @property
    def sentence(self) -> str:
        """The sentences in one."""
        return " ".join(self.sentences)

    def to_frame(self, backend: str | None = None) -> Any:
        """A data frame with a row for everybody and everything that was left out, of pandas by default.

        Columns: ``kind`` ("person", "group" or "item"), ``name``, ``n_people``, ``winners``, ``winner_changes`` and
        ``distance``.
        """
        kinds = (("person", self.people), ("group", self.groups), ("item", self.items_left_out))
        rows = [(kind, part) for kind, parts in kinds for part in parts or ()]
        columns = {
            "kind": [kind for kind, _ in rows],
            "name": [str(part.name) for _, part in rows],
            "n_people": [part.n_people for _, part in rows],
            "winners": [_joined(part.winners) for _, part in rows],
            "winner_changes": [part.winner_changes for _, part in rows],
            "distance": [part.distance for _, part in rows],
        }
        return make_frame(columns, backend)

    def as_dict(self) -> dict[str, Any]:
        """The numbers for JSON."""
        found: dict[str, Any] = {
            "decode": self.decode,
            "winners": [str(item) for item in self.winners],
            "n_people": self.n_people,
            "lead": self.lead,
            "rival": None if self.rival is None else str(self.rival),
            "margins": [{**margin.as_dict(), "people": self._people(margin)} for margin in self.margins],
            "influence": [
                {"name": name, "influence": float(value)}
                for name, value in zip(self.names, self.influence, strict=True)
            ],
            "notes": list(self.notes),
        }
        for name, parts in (("people", self.people), ("groups", self.groups), ("items", self.items_left_out)):
            found[f"without_{name}"] = None if parts is None else [part.as_dict() for part in parts]
        return found

    def tables(self) -> list[TextTable]:
        """Margins, then what changes without groups, items and people, as tables of text."""
        return [
            self._margin_table(),
            *([] if self.groups is None else [_table("Without a group", "group", self.groups, True)]),
            *([] if self.items_left_out is None else [_table("Without an item", "item", self.items_left_out, False)]),
            self._influence_table(),
        ]

    def _margin_table(self) -> TextTable:
        rows = []
        for margin in self.margins:
            weight = "" if margin.weight == margin.upper else f"{margin.weight / margin.total_weight:.0%} of the weight"
            proof = "exact" if margin.exact else f"{margin.lower} is proven, {margin.upper} suffice"
            rows.append(
                [
                    margin.rule,
                    _joined(margin.winners),
                    {"removal": "removed", "change": "changed"}[margin.how],
                    margin.text.removesuffix(" votes").removesuffix(" vote"),
                    "; ".join(filter(None, (proof, weight))),
                    _joined(margin.new_winners) or "nobody",
                    _some(self._people(margin), "and"),
                ]
            )
        columns = ["rule", "winner", "votes are", "how many", "known", "then first", "for instance those of"]
        notes = [f"Note: {note}" for note in self.notes]
        return TextTable("Votes that decide the winner", " ".join([*self.sentences, *notes]), columns, rows)

    def _influence_table(self) -> TextTable:
        order = np.argsort(-np.abs(self.influence), kind="stable")[:_SHOWN_ROWS].tolist()
        columns = ["name", "adds to the lead"]
        rows = [[short_name(self.names[row]), f"{self.influence[row]:+.3g}"] for row in order]
        if self.people is not None:
            columns += ["first without this vote", "order without it"]
            for cells, row in zip(rows, order, strict=True):
                part = self.people[row]
                cells += [_joined(part.winners) or "nobody", _change(part)]
        if self.rival is None:
            return TextTable(
                "Influence of each vote", "Several items win together, so that none has a lead.", columns, rows
            )
        unit = {"borda": "of Borda's points", "plurality": "first places"}.get(self.decode, "votes")
        ahead, behind = _joined(self.winners), short_name(self.rival)
        if self.lead < 0:  # of majorities in a circle
            ahead, behind = behind, ahead
        lead = f"{abs(self.lead):.3g} {unit}"
        note = f"{ahead} leads {behind} by {lead.replace('1 votes', '1 vote') if lead == '1 votes' else lead}"
        if len(self.names) > _SHOWN_ROWS:
            note += f"; the {_SHOWN_ROWS} of {len(self.names):,} who add or take most"
        return TextTable("Influence of each vote", note, columns, rows)

    def _people(self, margin: MarginOfVictory) -> list[str]:
        return [self.names[row] for row in np.flatnonzero(margin.people).tolist()]


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
        Seconds for all margins of victory together. Where it ends, there are bounds instead of a number.

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
    0 wins by kemeny. It takes 1 vote of 5 to alter that if votes are removed, and 1 vote if they are changed.
    >>> found.pivotal
    array([0, 1, 2])
    """
    survey = rankings if isinstance(rankings, Survey) else None
    data = rankings_of(rankings)
    n = len(data)
    shown = without.rater_names(rankings, names, n)
    if not data.compared.any():
        raise ValueError("no ranking of positive weight compares two items, so nobody wins")
    if decode in ("stv", "plackett-luce"):
        margin_of_victory(data, decode)  # says why there is no winner to speak of
    seconds = check_real_number("time_limit", time_limit, infinite=True)
    wanted = list(dict.fromkeys([decode, *(DEFAULT_RULES if rules is None else rules)]))
    groups = _groups(by if by is not None or survey is None or survey.by is None else survey.groups(), n)
    notes: list[str] = []
    margins = _margins(data, wanted, seconds, notes)
    full = without.outcome(data, decode)

    counts = weights_count_people(data.weights)
    people = data.weights.astype(np.intp) if counts else (data.weights > 0).astype(np.intp)
    people = np.where(data.informative, people, 0)
    leaving = np.minimum(data.weights, 1.0) if counts else data.weights
    left_people = None
    if n <= without.MOST_RATERS and data.n_items <= without.MOST_ITEMS:
        rows = track(range(n), "leaving out people", n)
        rest = ((shown[row], without.without_person(data, row, leaving[row])) for row in rows)
        left_people = tuple(
            _left_out(name, int(people[row] > 0), full, part, decode) for row, (name, part) in enumerate(rest)
        )
    else:
        notes.append("people were not left out one by one: there are too many people or items")
    left_groups = None
    if groups:
        left_groups = tuple(
            _left_out(name, int(people[rows].sum()), full, data[np.setdiff1d(np.arange(n), rows)], decode)
            for name, rows in track(groups.items(), "leaving out groups", len(groups))
        )
    left_items = None
    if data.n_items <= _MOST_ITEMS_LEFT_OUT:
        left_items = tuple(_without_item(data, item, full, decode) for item in range(data.n_items))
    else:
        notes.append("items were not left out one by one: there are too many")
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
                notes.append(f"no margin by {rule}: {error}")
                break
    return tuple(found)


def _left_out(name: Hashable, n_people: int, full: without.Outcome, rest: Rankings, decode: str) -> LeftOut:
    now = without.outcome(rest, decode)
    return LeftOut(
        name, n_people, now.winners, set(now.winners) != set(full.winners), _apart(full.positions, now.positions)
    )


def _without_item(data: Rankings, item: int, full: without.Outcome, decode: str) -> LeftOut:
    """The consensus of the other items, compared with that of all without the item."""
    others = [name for i, name in enumerate(data.items) if i != item]
    if len(others) < 2:
        return LeftOut(data.items[item], 0, tuple(others), False, 0.0)
    now = without.outcome(data.select(others), decode)
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
        for name in dict.fromkeys(str(label) for label in labels if not is_null(label)):
            groups[name] = np.flatnonzero([not is_null(label) and str(label) == name for label in labels])
    if len(groups) > _MOST_GROUPS:
        raise ValueError(f"there are {len(groups):,} groups, more than {_MOST_GROUPS} that can be left out; merge some")
    return groups


def _table(title: str, what: str, parts: Sequence[LeftOut], people: bool) -> TextTable:
    columns = [what, *(["people"] if people else []), "first without it", "winner", "order"]
    rows = [
        [
            short_name(part.name),
            *([f"{part.n_people:,}"] if people else []),
            _joined(part.winners) or "nobody",
            "changes" if part.winner_changes else "stays",
            _change(part),
        ]
        for part in parts
    ]
    return TextTable(title, "whether the winner and the order of the rest stay the same", columns, rows)


def _change(part: LeftOut) -> str:
    if np.isnan(part.distance):
        return "nothing to compare"
    return f"{part.distance:.0%} of the pairs change" if part.order_changes else "stays"


def _joined(items: Sequence[Hashable]) -> str:
    return ", ".join(map(short_name, items))


def _some(names: Sequence[str], conjunction: str) -> str:
    shown = [short_name(name) for name in names[:_SHOWN_NAMES]]
    if len(names) > _SHOWN_NAMES:
        return f"{', '.join(shown)} {conjunction} {len(names) - _SHOWN_NAMES:,} more"
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} {conjunction} {shown[-1]}" if shown else ""
