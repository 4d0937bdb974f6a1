"""Elections counted in rounds: instant runoff for one winner, the single transferable vote for several seats.

Both count the first choices among the items still in the race, drop the last, and pass its votes on. Where items tie
for the last place, every choice is followed, and what depends on it is declared a tie. `Election` holds the rounds.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import cast

import numpy as np

from rankwise._typing import ArrayLike, BoolArray, FloatArray, IntArray
from rankwise._validation import check_whole_number
from rankwise.aggregation.election import Election, Round
from rankwise.aggregation.elections import SAME_VOTES, ballots_of
from rankwise.aggregation.shared_order import shared_positions
from rankwise.data import Rankings

# How many states of the count are followed where ties branch; beyond, the election says that there are more.
_MOST_STATES = 2000
# Values of votes are cut off after this many decimals, as the Scottish rules say.
_VALUE = 1e-5


def instant_runoff(rankings: ArrayLike, *, sample_weight: ArrayLike | None = None, look_back: bool = False) -> Election:
    """Drop the item with the fewest first choices, round by round, until one is left: instant runoff voting.

    Also called ranked choice voting or alternative vote. In each round a ranking votes for the item that it puts first
    among those still in the race; items that it ties there share its vote equally, and a ranking that lists none of
    them is exhausted. Items are placed by the round in which they drop out.

    Parameters
    ----------
    rankings : array-like of shape (n_rankings, n_items) or Rankings
        Positions, 1 = best: full or top-k, ties allowed. Missing items (NaN) are refused.
    sample_weight : array-like of shape (n_rankings,), optional
        How often each ranking counts; by default the weights of the Rankings, or ones.
    look_back : bool, default=False
        Whether, of items with equally few votes, the one drops out that had fewer in the latest earlier round in which
        they differed. Otherwise, and where they never differed, every choice is followed.

    Returns
    -------
    Election
        ``winners`` holds every item that wins for some way to settle the ties.

    Examples
    --------
    >>> from rankwise import Rankings
    >>> from rankwise.aggregation import instant_runoff
    >>> votes = Rankings.from_orders([["tea", "milk"], ["milk", "tea"], ["cola", "milk"]], weights=[4, 3, 2])
    >>> instant_runoff(votes)
    Election: instant runoff, 9 votes
    item  round 1  round 2  result
    milk  3        5        wins
    tea   4        4        out in round 2
    cola  2        -        out in round 1
    """
    ballots = ballots_of(rankings, sample_weight)
    return _InstantRunoff(ballots, look_back).election("instant runoff", 1, None)


def stv(rankings: ArrayLike, seats: int, *, sample_weight: ArrayLike | None = None, look_back: bool = True) -> Election:
    r"""Fill several seats by the single transferable vote, as Scottish councils are elected.

    *Definition.* With V votes and s seats the quota is :math:`\lfloor V / (s + 1) \rfloor + 1` (with weights that are
    not whole numbers, :math:`V / (s + 1)`, to be exceeded). Items that reach it are elected. The largest surplus above
    the quota is passed on first: every vote of the elected item goes on to the next item in the race with the value
    surplus / votes times its present value, cut off after five decimals (weighted inclusive Gregory transfer). If no
    surplus is left, the item with the fewest votes drops out, and its votes go on with their present value. When as
    many items are in the race as there are seats left, they are elected.

    Parameters
    ----------
    rankings : array-like of shape (n_rankings, n_items) or Rankings
        Positions, 1 = best: full or top-k. Tied items share a vote equally, which the Scottish rules do not know.
        Missing items (NaN) are refused.
    seats : int
        How many items to elect.
    sample_weight : array-like of shape (n_rankings,), optional
        How often each ranking counts; by default the weights of the Rankings, or ones.
    look_back : bool, default=True
        Whether ties are settled by the latest earlier round in which the votes differed, as the Scottish rules say.
        Otherwise, and where they never differed (the rules then draw lots), every choice is followed.

    Returns
    -------
    Election

    References
    ----------
    The Scottish Local Government Elections Order 2007, SSI 2007/42, rules 45 to 52.

    Examples
    --------
    >>> from rankwise import Rankings
    >>> from rankwise.aggregation import stv
    >>> orders = [["tea", "milk"], ["tea", "cola"], ["cola", "tea"], ["water"]]
    >>> stv(Rankings.from_orders(orders, weights=[5, 7, 3, 4]), seats=2).winners
    ('tea', 'cola')
    """
    ballots = ballots_of(rankings, sample_weight)
    if check_whole_number("seats", seats, at_least=1) >= ballots.n_items:
        raise ValueError(
            f"there are {seats} seats for {ballots.n_items} items, so there is nothing to elect; give fewer"
        )
    count = _Transfers(ballots, seats, look_back)
    return count.election("single transferable vote", seats, count.quota)


@dataclass(frozen=True, eq=False)
class _State:
    """A count before its next round: who is in the race and elected, the rounds so far, and the votes on the table.

    ``votes`` holds what a subclass needs to go on.
    """

    racing: BoolArray
    elected: BoolArray
    rounds: tuple[Round, ...] = ()
    votes: object = None


class _Count(ABC):
    """A count in rounds that follows every way to settle ties."""

    def __init__(self, ballots: Rankings, look_back: bool) -> None:
        self.ballots = ballots
        self.look_back = look_back
        self.total = float(ballots.weights.sum())
        # Who comes before whom on every way followed so far.
        self.before = ~np.eye(ballots.n_items, dtype=bool)

    @abstractmethod
    def start(self) -> _State:
        """The state before the first round."""

    @abstractmethod
    def following(self, state: _State) -> list[_State]:
        """The states after the next round: several if ties must be settled, none at the end."""

    def election(self, method: str, seats: int, quota: float | None) -> Election:
        """Follow every way, the one by names first; a state that is reached again is not followed again."""
        n = self.ballots.n_items
        ever, always = np.zeros(n, dtype=bool), np.ones(n, dtype=bool)
        shown: tuple[Round, ...] | None = None
        stack = [self.start()]
        seen = {self._key(stack[0])}
        while stack and len(seen) <= _MOST_STATES:
            state = stack.pop()
            later = self.following(state)
            if not later:
                shown = state.rounds if shown is None else shown
                ever |= state.elected
                always &= state.elected
            fresh = [follower for follower in later if self._key(follower) not in seen]
            seen |= {self._key(follower) for follower in fresh}
            stack += fresh[::-1]  # the last is followed first
        positions = shared_positions(self.before, ever if seats == 1 and not stack else None)
        items = self.ballots.items
        order = sorted(range(n), key=lambda i: (positions[i], str(items[i])))
        return Election(
            method=method,
            items=items,
            positions=positions,
            seats=seats,
            winners=tuple(items[i] for i in order if ever[i]),
            certain=tuple(items[i] for i in order if ever[i] and always[i]),
            rounds=shown or (),
            quota=quota,
            total=self.total,
            complete=not stack,
        )

    def _key(self, state: _State) -> object:
        """What decides how a count goes on; with a look back, and with values of votes, that is its whole past."""
        if not self.look_back and state.votes is None:
            return state.racing.tobytes()
        return tuple((step.elected, step.dropped, step.surplus_of) for step in state.rounds)

    def drop_last(self, state: _State, step: Round, at_least: int) -> list[_State]:
        """Drop the item with the fewest votes, one state per choice; at least so many must stay in the race."""
        left = np.flatnonzero(state.racing)
        fewest = step.votes[left].min()
        last = left[step.votes[left] <= fewest + SAME_VOTES * self.total]
        if fewest <= SAME_VOTES * self.total and len(left) - len(last) >= at_least:
            # Nobody votes for these, so it does not matter in which order they drop out.
            choices = [tuple(self.by_name(last))]
            tied: tuple[int, ...] = ()
        else:
            last = self.looked_back(state, last, lowest=True)
            choices = [(item,) for item in self.by_name(last)]
            tied = tuple(self.by_name(last)) if len(last) > 1 else ()
        found = []
        for out in choices:
            racing = state.racing.copy()
            racing[list(out)] = False
            self.before[list(out)] &= ~(state.racing | state.elected)
            rounds = (*state.rounds, replace(step, dropped=out, tied=tied))
            found.append(replace(state, racing=racing, rounds=rounds))
        return found

    def settle(self, state: _State, group: IntArray, votes: FloatArray) -> None:
        """Place items that come after those elected and before those in the race, by their votes."""
        for item in group:
            ahead = state.elected.copy()
            ahead[group] |= votes[group] >= votes[item] - SAME_VOTES * self.total
            self.before[item] &= ~ahead

    def looked_back(self, state: _State, tied: IntArray, *, lowest: bool) -> IntArray:
        """Those of tied items that had the fewest (most) votes in the latest earlier round in which they differed."""
        for step in reversed(state.rounds) if self.look_back else ():
            extreme = step.votes[tied].min() if lowest else step.votes[tied].max()
            tied = tied[np.abs(step.votes[tied] - extreme) <= SAME_VOTES * self.total]
        return tied

    def by_name(self, items: IntArray) -> list[int]:
        """Items by their names, so that the rounds shown do not depend on the order of the columns."""
        return sorted(items.tolist(), key=lambda i: (str(self.ballots.items[i]), i))


class _InstantRunoff(_Count):
    """Until one item is left, the last drops out."""

    def start(self) -> _State:
        n = self.ballots.n_items
        return _State(np.ones(n, dtype=bool), np.zeros(n, dtype=bool))

    def following(self, state: _State) -> list[_State]:
        if state.elected.any():
            return []
        places = np.where(state.racing, self.ballots.positions, np.inf)
        first = (places == places.min(axis=1, keepdims=True)) & np.isfinite(places)
        votes = (self.ballots.weights / np.maximum(first.sum(axis=1), 1)) @ first
        step = Round(votes, state.racing)
        later = self.drop_last(state, step, 1) if state.racing.sum() > 1 else [replace(state, rounds=(step,))]
        return [self._with_winner(follower) for follower in later]

    @staticmethod
    def _with_winner(state: _State) -> _State:
        """The last item in the race wins, in the round in which the others drop out."""
        if state.racing.sum() > 1:
            return state
        rounds = (*state.rounds[:-1], replace(state.rounds[-1], elected=tuple(np.flatnonzero(state.racing).tolist())))
        return replace(state, elected=state.racing, rounds=rounds)


@dataclass(frozen=True, eq=False)
class _Papers:
    """Ballot papers on the table: equal ones with the same value lie together.

    ``holder`` is the item that they are with, and -1 where no item in the race is listed any more.
    """

    ballot: IntArray
    number: FloatArray
    value: FloatArray
    holder: IntArray

    def votes(self, n_items: int) -> FloatArray:
        held = self.holder >= 0
        worth = self.number[held] * self.value[held]
        return np.bincount(self.holder[held], worth, minlength=n_items).astype(np.float64)


class _Transfers(_Count):
    """Until all seats are filled, surpluses are passed on, or the last item drops out."""

    def __init__(self, ballots: Rankings, seats: int, look_back: bool) -> None:
        super().__init__(ballots, look_back)
        self.seats = seats
        whole = bool((ballots.weights % 1 == 0).all())
        self.quota = float(self.total // (seats + 1) + 1) if whole else self.total / (seats + 1)
        self.needed = self.quota - SAME_VOTES * self.total if whole else self.quota + SAME_VOTES * self.total

    def start(self) -> _State:
        n = self.ballots.n_items
        racing = np.ones(n, dtype=bool)
        every = np.arange(len(self.ballots))
        dealt = self._dealt(every, self.ballots.weights, np.ones(len(every)), racing)
        return _State(racing, np.zeros(n, dtype=bool), votes=dealt)

    def following(self, state: _State) -> list[_State]:
        papers = cast("_Papers", state.votes)
        left = np.flatnonzero(state.racing)
        open_seats = self.seats - int(state.elected.sum())
        if not open_seats:
            return []
        votes = papers.votes(self.ballots.n_items)
        step = Round(votes, state.racing)
        reached = left[votes[left] >= self.needed]
        if len(left) <= open_seats:
            reached = left
        if len(reached):
            self.settle(state, reached, votes)
            ranked = sorted(self.by_name(reached), key=lambda i: -votes[i])
            racing, elected = state.racing.copy(), state.elected.copy()
            racing[reached], elected[reached] = False, True
            step = replace(step, elected=tuple(ranked))
            state = replace(state, racing=racing, elected=elected)
            if elected.sum() == self.seats:
                self.settle(state, np.flatnonzero(racing), votes)
                return [replace(state, rounds=(*state.rounds, step))]
        passed_on = {earlier.surplus_of for earlier in state.rounds}
        surplus = np.where(state.elected, votes - self.quota, 0.0)
        waiting = np.array(
            [i for i in np.flatnonzero(surplus > SAME_VOTES * self.total) if i not in passed_on], dtype=int
        )
        if len(waiting):
            largest = waiting[surplus[waiting] >= surplus[waiting].max() - SAME_VOTES * self.total]
            largest = self.looked_back(state, largest, lowest=False)
            tied = tuple(self.by_name(largest)) if len(largest) > 1 else ()
            return [
                replace(
                    state,
                    rounds=(*state.rounds, replace(step, surplus_of=item, tied=tied)),
                    votes=self._passed_on(papers, state.racing, item, surplus[item] / votes[item]),
                )
                for item in self.by_name(largest)
            ]
        if len(reached):  # elected without a surplus: the next round finds the last
            return [replace(state, rounds=(*state.rounds, step))]
        later = self.drop_last(state, step, open_seats + 1)
        return [
            replace(after, votes=self._without(papers, after.racing, np.flatnonzero(state.racing & ~after.racing)))
            for after in later
        ]

    def _passed_on(self, papers: _Papers, racing: BoolArray, item: int, share: float) -> _Papers:
        """An elected item keeps its quota; its papers go on with a share of their value, cut to five decimals."""
        own = papers.holder == item
        value = np.floor(papers.value[own] * share / _VALUE + SAME_VOTES) * _VALUE
        kept = np.where(own, papers.value * (1 - share), papers.value)
        moved = self._dealt(papers.ballot[own], papers.number[own], value, racing)
        return self._joined(replace(papers, value=kept), moved)

    def _without(self, papers: _Papers, racing: BoolArray, out: IntArray) -> _Papers:
        """The papers of items that drop out go on with their value."""
        own = np.isin(papers.holder, out)
        moved = self._dealt(papers.ballot[own], papers.number[own], papers.value[own], racing)
        rest = _Papers(papers.ballot[~own], papers.number[~own], papers.value[~own], papers.holder[~own])
        return self._joined(rest, moved)

    def _dealt(self, ballot: IntArray, number: FloatArray, value: FloatArray, racing: BoolArray) -> _Papers:
        """Papers with the first item in the race that they list; tied ones share the papers equally."""
        places = np.where(racing, self.ballots.positions[ballot], np.inf)
        first = (places == places.min(axis=1, keepdims=True)) & np.isfinite(places)
        shares = first.sum(axis=1)
        row, holder = np.nonzero(first)
        spent = np.flatnonzero(shares == 0)
        row, holder = np.append(row, spent), np.append(holder, np.full(len(spent), -1))
        return _Papers(ballot[row], number[row] / np.maximum(shares[row], 1), value[row], holder)

    @staticmethod
    def _joined(first: _Papers, second: _Papers) -> _Papers:
        pairs = zip(vars(first).values(), vars(second).values(), strict=True)
        return _Papers(*(np.append(a, b) for a, b in pairs))
