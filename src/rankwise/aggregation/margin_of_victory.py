"""How many votes decide an election: `margin_of_victory`, exact where a program can prove it, and bounds otherwise.

`rankwise.analysis.robustness` shows it for several rules side by side.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from rankwise._decode import ConsensusRule
from rankwise._tables import counted
from rankwise._typing import ArrayLike, IntArray
from rankwise._validation import check_choice, check_real_number, weights_count_people
from rankwise.aggregation import _margin_programs as programs
from rankwise.aggregation._margin_search import (
    LEAST_SECONDS,
    SECONDS_OF_PROOF,
    Electorate,
    Margin,
    altered,
    search,
    winners_of,
)
from rankwise.aggregation.base import weighted_rankings
from rankwise.aggregation.positional import shares_beaten
from rankwise.aggregation.rules import CONSENSUS_RULES
from rankwise.data import Rankings

How: TypeAlias = Literal["removal", "change"]

# Rules whose winner depends on more than the rankings, or may not exist once some are gone.
_REFUSED = {"stv": "several items win", "plackett-luce": "its worths may not exist once rankings are gone"}
# Rules whose winner has to be proven, for up to so many items.
_PROVEN_RULES, _MOST_ITEMS_PROVEN = ("kemeny", "mallows"), 40


@dataclass(frozen=True, eq=False)
class MarginOfVictory:
    """The smallest number of people whose votes decide who wins; made by `margin_of_victory`.

    Attributes
    ----------
    rule : str
        The rule by which the winner is found.
    how : {"removal", "change"}
        Whether votes are removed, or replaced by other rankings.
    winners : tuple
        The items that win: several if they tie.
    lower : int
        The votes of fewer people than this cannot alter who wins: proven.
    upper : int
        The votes of so many people do alter it: those of ``people``.
    exact : bool
        Whether the two bounds meet, so that the margin is known.
    n_people : int
        Number of people whose rankings compare items.
    people : ndarray of shape (n_rankings,), intp
        How many people of each ranking are in a set of ``upper`` people that alters who wins. There may be other sets.
    weight : float
        The weight of these people.
    total_weight : float
        The weight of all people whose rankings compare items.
    new_winners : tuple
        The items that win after that; empty if nothing is left.
    out_of_time : bool
        Whether the search for closer bounds was ended by ``time_limit``.
    """

    rule: str
    how: str
    winners: tuple[Hashable, ...]
    lower: int
    upper: int
    n_people: int
    people: IntArray
    weight: float
    total_weight: float
    new_winners: tuple[Hashable, ...]
    out_of_time: bool = False

    @property
    def exact(self) -> bool:
        """Whether the margin is known, and not only bounds of it."""
        return self.lower == self.upper

    @property
    def text(self) -> str:
        """The margin in words: "3 votes", or "between 3 and 7 votes"."""
        return (
            counted(self.upper, "vote") if self.exact else f"between {self.lower:,} and {counted(self.upper, 'vote')}"
        )

    def as_dict(self) -> dict[str, Any]:
        """The numbers for JSON."""
        return {
            "rule": self.rule,
            "how": self.how,
            "winners": [str(item) for item in self.winners],
            "lower": self.lower,
            "upper": self.upper,
            "exact": self.exact,
            "n_people": self.n_people,
            "weight": self.weight,
            "total_weight": self.total_weight,
            "new_winners": [str(item) for item in self.new_winners],
            "out_of_time": self.out_of_time,
        }

    def __repr__(self) -> str:
        return f"MarginOfVictory by {self.rule}, {self.how}: {self.text} of {self.n_people:,}"


def margin_of_victory(
    rankings: ArrayLike,
    rule: ConsensusRule = "kemeny",
    how: How = "removal",
    *,
    sample_weight: ArrayLike | None = None,
    time_limit: float = 10.0,
) -> MarginOfVictory:
    r"""Find the smallest number of people without whom, or with whose votes changed, somebody else wins.

    *Definition.* The winners are the items that share the first place: by Kemeny's rule those that come first in a
    ranking of lowest cost. Who wins is altered as soon as the *set* of winners is another one. So if one item wins, it
    suffices that another one draws level with it; if several tie, that one of them falls behind. With ``how="removal"``
    votes are taken out, with ``how="change"`` they are replaced by any full rankings. If no votes are left, nobody
    wins, and that is altered too.

    Parameters
    ----------
    rankings : array-like of shape (n_rankings, n_items) or Rankings
        Positions: column = item, 1 = best. Rankings that compare nothing have no part in it.
    rule : str, default="kemeny"
        The rule, as in `rankwise.analysis.consensus`; all but "stv" and "plackett-luce".
    how : {"removal", "change"}, default="removal"
        What happens to votes.
    sample_weight : array-like of shape (n_rankings,), optional
        By default the weights of the Rankings, or ones. Whole numbers count people, who can be removed one by one;
        other weights are survey weights, and a ranking is one person of that weight.
    time_limit : float, default=10.0
        Seconds for the proof; after that the bounds that are known.

    Returns
    -------
    MarginOfVictory

    Notes
    -----
    ======================== ==================================================================== =====================
    rule                     method                                                               exact
    ======================== ==================================================================== =====================
    "plurality", "borda"     sort people by what each contributes to the lead over a rival        always
    "copeland"               an integer program for each rival                                    in time
    "kemeny", "mallows"      an integer program for each order in which a rival is first          up to 7 items, in time
    all others, and missing  trial: sets of 1, 2, ... people while time lasts (lower bound), and  if trials reach the
    items                    those who prefer the winner to a rival, most first (upper bound)     upper bound
    ======================== ==================================================================== =====================

    For a changed vote no program has to try all rankings: for a rival v of the winner u, v first and u last is at least
    as good as any other (plurality, Borda, Copeland), and so is the very order that is to win (Kemeny, by the triangle
    inequality). If an item beats every other one by majority, rules that then choose it have a lower bound from the
    closest of these majorities.

    References
    ----------
    Xia (2012), Computing the margin of victory for various voting rules, EC. Magrino, Rivest, Shen, Wagner (2011),
    Computing the margin of victory in IRV elections, EVT/WOTE.

    Examples
    --------
    >>> from rankwise.aggregation import margin_of_victory
    >>> votes = [[1, 2, 3], [1, 2, 3], [1, 3, 2], [2, 1, 3], [3, 1, 2]]
    >>> margin_of_victory(votes, "plurality")
    MarginOfVictory by plurality, removal: 1 vote of 5
    >>> margin_of_victory(votes, "borda", how="change").new_winners
    (1,)
    """
    check_choice("how", how, ("removal", "change"))
    if rule in _REFUSED:
        raise ValueError(f"there is no margin of victory by {rule}, where {_REFUSED[rule]}; choose another rule")
    check_choice("rule", rule, tuple(CONSENSUS_RULES))
    seconds = check_real_number("time_limit", time_limit, infinite=True)
    data = weighted_rankings(rankings, sample_weight)
    if not data.compared.any():
        raise ValueError("no ranking of positive weight compares two items, so nobody wins")
    if rule in _PROVEN_RULES and data.n_items > _MOST_ITEMS_PROVEN:
        raise ValueError(
            f"who wins among {data.n_items:,} items by {rule} takes too long to prove again and again; choose another "
            f"rule, such as 'borda', or keep at most {_MOST_ITEMS_PROVEN} items with Rankings.select([...])"
        )
    voters = Electorate.of(data, weights_count_people(data.weights), seconds)
    winners = winners_of(voters.rankings(), rule, max(min(SECONDS_OF_PROOF, seconds), LEAST_SECONDS))
    voters = voters.started(seconds)  # what the first call compiles is no part of the proof
    if winners is None:
        if rule not in _PROVEN_RULES:
            CONSENSUS_RULES[rule](data.comparable())  # says why
        raise ValueError(f"{rule} proves no winner of these rankings in time; choose another rule, such as 'borda'")
    found = _proven(voters, rule, how, winners)
    # Rounding of uneven weights can make a program see a tie that the rule does not see.
    if found is None or not altered(voters, found, rule, winners):
        found = search(voters, rule, how, winners)
    return MarginOfVictory(
        rule=rule,
        how=how,
        winners=_names(voters, winners),
        lower=found.lower,
        upper=found.upper,
        n_people=int(voters.n_people.sum()),
        people=voters.people_of_rows(found.chosen),
        weight=float(found.chosen @ voters.weight),
        total_weight=float(voters.n_people @ voters.weight),
        new_winners=_names(voters, winners_of(voters.after(found), rule)),
        out_of_time=found.lower < found.upper and voters.seconds_left == 0,
    )


def _proven(voters: Electorate, rule: str, how: str, winners: frozenset[int]) -> Margin | None:
    """The margin by a program of the rule; None if it has none for these rankings."""
    if np.isnan(voters.positions).any():
        return None
    if rule in ("plurality", "borda"):
        shares = programs.first_places if rule == "plurality" else lambda table: shares_beaten(Rankings(table))
        return programs.by_points(voters, shares(voters.positions), how, winners)
    if rule == "copeland":
        return programs.copeland(voters, how, winners)
    if rule in ("kemeny", "mallows") and voters.positions.shape[1] <= programs.MOST_ITEMS_KEMENY:
        return programs.kemeny(voters, how, winners)
    return None


def _names(voters: Electorate, winners: frozenset[int] | None) -> tuple[Hashable, ...]:
    return tuple(voters.items[item] for item in sorted(winners or ()))
