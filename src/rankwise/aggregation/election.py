"""`Election`: what `instant_runoff` and `stv` return, round by round."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

from rankwise._tables import Result, TextTable, make_frame, name_column, short_name
from rankwise._typing import BoolArray, FloatArray


@dataclass(frozen=True, eq=False)
class Round:
    """One round of an election.

    Attributes
    ----------
    votes : ndarray of shape (n_items,)
        Votes of each item at the count; 0 for items that are out.
    racing : ndarray of shape (n_items,), bool
        Items that are neither elected nor out before the round.
    elected : tuple of int
        Numbers of the items elected in the round.
    dropped : tuple of int
        Numbers of the items that drop out after it; several only if nobody votes for them.
    surplus_of : int or None
        Number of the elected item whose surplus is passed on after the round.
    tied : tuple of int
        Items that tied for what happened, if every choice had to be followed; the round is that of one choice.
    """

    votes: FloatArray
    racing: BoolArray
    elected: tuple[int, ...] = ()
    dropped: tuple[int, ...] = ()
    surplus_of: int | None = None
    tied: tuple[int, ...] = ()


@dataclass(frozen=True, eq=False, repr=False)
class Election(Result):
    """An election counted in rounds; made by `instant_runoff` and `stv`.

    Attributes
    ----------
    method : str
        "instant runoff" or "single transferable vote".
    items : tuple
        Names of the items.
    positions : ndarray of shape (n_items,)
        The order of the items, 1 = best, dense: elected items by the round of their election, the others by the round
        in which they dropped out. Items tie if it depends on how ties were settled which of them comes first.
    seats : int
        How many items are elected.
    winners : tuple
        Items that are elected for some way to settle the ties, best first; more than there are seats if ties decide.
    certain : tuple
        Items that are elected however ties are settled.
    rounds : tuple of Round
        The rounds, for one way to settle the ties (by the names of the items).
    quota : float or None
        Votes that elect an item; None for instant runoff.
    total : float
        Number of votes.
    complete : bool
        Whether every way to settle the ties was followed.
    tied : bool
        Whether ties decide who is elected.
    """

    method: str
    items: tuple[Hashable, ...]
    positions: FloatArray
    seats: int
    winners: tuple[Hashable, ...]
    certain: tuple[Hashable, ...]
    rounds: tuple[Round, ...]
    quota: float | None
    total: float
    complete: bool

    @property
    def tied(self) -> bool:
        """Whether ties decide who is elected."""
        return len(self.winners) > self.seats

    def to_frame(self, backend: str | None = None) -> Any:
        """A data frame with a row per item and round: ``round``, ``item``, ``votes``, ``status``.

        The status is "racing", "elected" (from the round of the election on) or "out" (after the round of dropping
        out). The frame is of pandas by default, else of the named backend ("pandas", "polars" or "pyarrow").
        """
        columns: dict[str, list[Any]] = {"round": [], "item": [], "votes": [], "status": []}
        elected: set[int] = set()
        names = name_column(self.items)
        for number, step in enumerate(self.rounds, start=1):
            elected |= set(step.elected)
            for i, name in enumerate(names):
                columns["round"].append(number)
                columns["item"].append(name)
                columns["votes"].append(float(step.votes[i]))
                columns["status"].append("elected" if i in elected else "racing" if step.racing[i] else "out")
        return make_frame(columns, backend)

    def as_dict(self) -> dict[str, Any]:
        """All of it for JSON, with items as text."""
        names = [str(item) for item in self.items]
        return {
            "method": self.method,
            "seats": self.seats,
            "quota": self.quota,
            "votes": self.total,
            "winners": [str(item) for item in self.winners],
            "certain": [str(item) for item in self.certain],
            "tied": self.tied,
            "complete": self.complete,
            "rounds": [
                {
                    "votes": {
                        name: float(step.votes[i]) for i, name in enumerate(names) if step.votes[i] or step.racing[i]
                    },
                    "elected": [names[i] for i in step.elected],
                    "dropped": [names[i] for i in step.dropped],
                    "surplus_of": None if step.surplus_of is None else names[step.surplus_of],
                    "tied": [names[i] for i in step.tied],
                }
                for step in self.rounds
            ],
        }

    def tables(self) -> list[TextTable]:
        """The rounds as a table of text: a row per item, best first."""
        order = sorted(range(len(self.items)), key=lambda i: (self.positions[i], str(self.items[i])))
        outcome = [""] * len(self.items)
        for number, step in enumerate(self.rounds, start=1):
            for i in step.elected:
                outcome[i] = f"elected in round {number}" if self.seats > 1 else "wins"
            for i in step.dropped:
                outcome[i] = f"out in round {number}"
        for i, item in enumerate(self.items):
            if item in self.winners and item not in self.certain:
                outcome[i] = "tied"
        rows = []
        for i in order:
            cells = [_votes(step.votes[i]) if step.racing[i] or step.votes[i] > 0 else "-" for step in self.rounds]
            rows.append([short_name(self.items[i]), *cells, outcome[i]])
        exhausted = [self.total - float(step.votes.sum()) for step in self.rounds]
        if max(exhausted, default=0.0) >= 0.005:  # less than what the table shows is rounding
            rows.append(["(exhausted)", *map(_votes, exhausted), ""])
        quota = "" if self.quota is None else f", {self.seats} seats, quota {_votes(self.quota)}"
        title = f"Election: {self.method}, {_votes(self.total)} votes{quota}"
        columns = ["item", *(f"round {number}" for number in range(1, len(self.rounds) + 1)), "result"]
        return [TextTable(title, "; ".join(self.notes()), columns, rows)]

    def notes(self) -> list[str]:
        """What a reader should know of the ties, in words."""
        found = []
        if self.tied:
            disputed = [short_name(item) for item in self.winners if item not in self.certain]
            left = self.seats - len(self.certain)
            what = "the first place" if self.seats == 1 else f"{left} seat{'' if left == 1 else 's'}"
            found.append(f"tie between {in_words(disputed)} for {what}")
        for number, step in enumerate(self.rounds, start=1):
            if step.tied:
                names = in_words([short_name(self.items[i]) for i in step.tied])
                what = "dropping out" if step.dropped else "passing on a surplus first"
                found.append(f"round {number}: {names} tie for {what}, the table shows one choice")
        if not self.complete:
            found.append("there are more ways to settle the ties than were followed: more items may be tied")
        return found


def in_words(names: list[str]) -> str:
    """Names as a sentence holds them: "A", "A and B", "A, B and C".

    Examples
    --------
    >>> in_words(["A", "B", "C"])
    'A, B and C'
    """
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _votes(number: float) -> str:
    """A number of votes with at most two decimals, and none that is not needed."""
    return f"{number:,.2f}".rstrip("0").rstrip(".")
