"""What `robustness` finds: the consensus without people, groups and items, and margins, in words and as tables."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankwise._decode import rule_in_words
from rankwise._tables import TextTable, counted, make_frame, short_name
from rankwise._typing import FloatArray, IntArray
from rankwise.aggregation import MarginOfVictory
from rankwise.analysis.base import Result

# Names in a sentence, and rows of a table.
_SHOWN_NAMES, _SHOWN_ROWS = 5, 10
# Distances that differ by rounding are the same.
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
        What was not looked at, and whose order is arbitrary.
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
        winner = _in_words(self.winners)
        lines = []
        own = {margin.how: margin for margin in self.margins if margin.rule == self.decode}
        if "removal" in own:
            verb = "wins" if len(self.winners) == 1 else "win together"
            # Either margin may be missing where time was over.
            changed = f", and so does changing {own['change'].text}" if "change" in own else ""
            lines.append(
                f"{winner} {verb} by {rule_in_words(self.decode)}. Removing {own['removal'].text} of {self.n_people:,} "
                f"alters that{changed}."
            )
        if self.people is not None:
            pivotal = self.pivotal.tolist()
            names = [self.names[row] for row in pivotal]
            if names:
                one = "one vote" if len(names) == 1 else f"any of {counted(len(names), 'vote')}"
                lines.append(f"First place hangs on {one}: without {_some(names, 'or')} it changes.")
            elif len(self.people) > 1:
                lines.append("Leaving out any one vote does not change the winner.")
        for what, parts in (("group", self.groups), ("item", self.items_left_out)):
            if not parts:
                continue
            changing = [part for part in parts if part.winner_changes]
            if changing:
                first = changing[0]
                now = _in_words(first.winners) or "nobody"
                together = " together" if len(first.winners) > 1 else ""
                lines.append(f"Without the {what} {short_name(first.name)}, {now} would win{together}.")
                if changing[1:]:
                    others = _some([str(part.name) for part in changing[1:]], "or")
                    lines.append(f"The winner also changes without {others}.")
            else:
                stays = sum(not part.order_changes for part in parts)
                order = "and so does the whole order" if stays == len(parts) else "though not always the order behind"
                other = "other item" if what == "item" else what  # leaving out the winner itself is another question
                lines.append(f"Whichever {other} is left out, the winner stays, {order}.")
        if not lines:
            verb = "wins" if len(self.winners) == 1 else "win together"
            lines.append(f"{winner} {verb} by {rule_in_words(self.decode)}.")
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
        """Margins, then what changes without groups, items and people, then notes, as tables of text."""
        return [
            self._margin_table(),
            *([] if self.groups is None else [self._left_out_table("group", self.groups)]),
            *([] if self.items_left_out is None else [self._left_out_table("item", self.items_left_out)]),
            self._influence_table(),
            *([TextTable("Notes", "", ["", ""], [["note", note] for note in self.notes])] if self.notes else []),
        ]

    def _margin_table(self) -> TextTable:
        rows = []
        for margin in self.margins:
            weight = "" if margin.weight == margin.upper else f"{margin.weight / margin.total_weight:.0%} of the weight"
            proof = "exact" if margin.exact else f"{margin.lower} is proven, {margin.upper} suffice"
            rows.append(
                [
                    rule_in_words(margin.rule),
                    _joined(margin.winners),
                    {"removal": "removed", "change": "changed"}[margin.how],
                    margin.text.removesuffix(" votes").removesuffix(" vote"),
                    "; ".join(filter(None, (proof, weight))),
                    _joined(margin.new_winners) or "nobody",
                    _some(self._people(margin), "and"),
                ]
            )
        columns = ["rule", "winner", "votes are", "how many", "known", "then first", "for instance those of"]
        return TextTable("Votes that decide the winner", self.sentence, columns, rows)

    def _left_out_table(self, what: str, parts: Sequence[LeftOut]) -> TextTable:
        is_group = what == "group"
        columns = [what, *(["people"] if is_group else []), "first without it", "winner", "order"]
        rows = []
        for part in parts:
            # A winner that is left out cannot stay; whoever came next is first, unless "changes" says so.
            unchanged = "-" if not is_group and self.winners == (part.name,) else "stays"
            rows.append(
                [
                    short_name(part.name),
                    *([f"{part.n_people:,}"] if is_group else []),
                    _joined(part.winners) or "nobody",
                    "changes" if part.winner_changes else unchanged,
                    _change(part),
                ]
            )
        title = "Without a group" if is_group else "Without an item"
        return TextTable(title, "whether the winner and the order of the rest stay the same", columns, rows)

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
            adding, taking = (int(np.count_nonzero(sign * self.influence > 0)) for sign in (1, -1))
            note += (
                f"; {adding:,} of {len(self.names):,} votes add to that, {taking:,} take from it; {_SHOWN_ROWS} of "
                "those that do most"
            )
        return TextTable("Influence of each vote", note, columns, rows)

    def _people(self, margin: MarginOfVictory) -> list[str]:
        return [self.names[row] for row in np.flatnonzero(margin.people).tolist()]


def _change(part: LeftOut) -> str:
    if np.isnan(part.distance):
        return "nothing to compare"
    return f"{part.distance:.0%} of the pairs change" if part.order_changes else "stays"


def _joined(items: Sequence[Hashable]) -> str:
    return ", ".join(map(short_name, items))


def _in_words(items: Sequence[Hashable]) -> str:
    return _some([str(item) for item in items], "and")


def _some(names: Sequence[str], conjunction: str) -> str:
    all_shown = len(names) <= _SHOWN_NAMES + 1  # "1 more" is as long as its name
    shown = [short_name(name) for name in (names if all_shown else names[:_SHOWN_NAMES])]
    if not all_shown:
        return f"{', '.join(shown)} {conjunction} {len(names) - _SHOWN_NAMES:,} more"
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} {conjunction} {shown[-1]}" if shown else ""
