"""Consensus rules side by side: `ConsensusComparison`, for `consensus` with several methods, the report and the CLI."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from rankwise._decode import ConsensusRule, rule_in_words
from rankwise._tables import TextTable, make_frame, name_column, short_name
from rankwise._typing import BoolArray, FloatArray, RandomState
from rankwise.aggregation import preference_matrix
from rankwise.aggregation.election import in_words
from rankwise.aggregation.pairs import majority
from rankwise.aggregation.rules import CONSENSUS_RULES
from rankwise.analysis.base import Result
from rankwise.analysis.consensus import check_rule, find_consensus
from rankwise.analysis.consensus_result import ConsensusResult
from rankwise.data import Rankings

# "copeland-or-borda" is one of these two, and "spearman" is the order of mean ranks: "borda" where nothing is missing.
_ALL: tuple[ConsensusRule, ...] = tuple(rule for rule in CONSENSUS_RULES if rule != "copeland-or-borda")
# Items whose places differ most that are put into words.
_SHOWN_DIFFERENCES = 3


@dataclass(frozen=True, eq=False, repr=False)
class ConsensusComparison(Result):
    """Consensuses by several rules, and where they differ; made by `consensus` with several methods.

    Attributes
    ----------
    results : dict
        The consensus of each rule.
    refused : dict
        Rules that do not apply to these rankings, and why.
    condorcet_winner : hashable or None
        The item that beats every other in a majority of the rankings that order the two, if there is one.
    cycle : tuple
        Items that beat each other in a circle (each the next, the last the first) and are beaten by no other item, if
        that is why there is no Condorcet winner.
    items : tuple
        Names of the items, those of the first rule.
    """

    results: dict[ConsensusRule, ConsensusResult]
    refused: dict[ConsensusRule, str]
    condorcet_winner: Hashable | None
    cycle: tuple[Hashable, ...]

    @property
    def items(self) -> tuple[Hashable, ...]:
        """Names of the items."""
        return next(iter(self.results.values())).items

    @property
    def places(self) -> FloatArray:
        """Places of the items (rows) by the rules (columns), shared places as people write them: 1, 1, 3."""
        return np.column_stack([result.places for result in self.results.values()])

    @property
    def sentences(self) -> list[str]:
        """Who wins, where the rules differ, and whether majorities agree on a winner, in plain words."""
        not_counted = [f"{words}." for words in next(iter(self.results.values())).not_counted]
        return [*self._winners(), *self._differences(), self._condorcet(), *not_counted]

    def to_frame(self, backend: str | None = None) -> Any:
        """A data frame with a row per item, best by the first rule first, and the places by each rule.

        The frame is of pandas by default, else of the named backend ("pandas", "polars" or "pyarrow").
        """
        order = self._best_first()
        places = self.places[order].astype(int)
        columns: dict[str, Any] = {"item": name_column([self.items[i] for i in order])}
        return make_frame(columns | {rule: places[:, c] for c, rule in enumerate(self.results)}, backend)

    def as_dict(self) -> dict[str, Any]:
        """All of it for JSON, with items as text."""
        return {
            "methods": {rule: result.as_dict() for rule, result in self.results.items()},
            "refused": dict(self.refused),
            "condorcet_winner": None if self.condorcet_winner is None else str(self.condorcet_winner),
            "cycle": [str(item) for item in self.cycle],
            "sentences": self.sentences,
        }

    def tables(self) -> list[TextTable]:
        """Places by each rule, the winners, and the rounds of elections as tables of text."""
        elections = [result.election for result in self.results.values() if result.election is not None]
        rounds = [table for election in elections for table in election.tables()]
        return [self.places_table(), self.words_table(), self.winners_table(), *rounds]

    def places_table(self) -> TextTable:
        """The places of the items by each rule as a table of text."""
        places = self.places
        rows = [
            [short_name(self.items[i]), *(f"{place:.0f}" for place in places[i].tolist())] for i in self._best_first()
        ]
        return TextTable("Places by rule", "", ["item", *map(rule_in_words, self.results)], rows)

    def words_table(self) -> TextTable:
        """Who wins and where the rules differ, a sentence to a line."""
        return TextTable("Where the rules differ", "", [""], [[sentence] for sentence in self.sentences])

    def winners_table(self) -> TextTable:
        """Who wins by each rule, and why rules were left out, as a table of text."""
        rows = []
        for rule, result in self.results.items():
            won, note = result.winners, "tie" if len(result.winners) > 1 else ""
            if result.election is not None and result.election.seats > 1:
                won, note = result.election.winners, "; ".join(result.election.notes()) or "elected"
            rows.append([rule_in_words(rule), in_words([short_name(item) for item in won]), note])
        rows += [[", ".join(map(rule_in_words, rules)), "-", why] for rules, why in by_reason(self.refused)]
        return TextTable("Winners", "", ["rule", "first", ""], rows)

    def _best_first(self) -> list[int]:
        """Items by the first rule, and those that it ties by the mean of their places."""
        places = self.places
        return sorted(range(len(places)), key=lambda i: (places[i, 0], places[i].mean(), str(self.items[i])))

    def _winners(self) -> list[str]:
        by_winners: dict[tuple[Hashable, ...], list[str]] = {}
        for rule, result in self.results.items():
            if result.election is not None and result.election.seats > 1:
                continue  # elects several
            by_winners.setdefault(tuple(sorted(result.winners, key=str)), []).append(rule_in_words(rule))
        names = {won: in_words([short_name(item) for item in won]) for won in by_winners}
        if len(by_winners) == 1:
            won, rules = next(iter(by_winners.items()))
            every = {1: f"The rule {rules[0]} puts", 2: "Both rules put"}.get(len(rules), f"All {len(rules)} rules put")
            return [f"{every} {names[won]} first{'' if len(won) == 1 else ', a tie'}."]
        parts = [
            f"{names[won]} {'wins' if len(won) == 1 else 'tie for the first place'} by {in_words(rules)}"
            for won, rules in sorted(by_winners.items(), key=lambda pair: -len(pair[1]))
        ]
        return [f"The rules do not agree on the winner: {'; '.join(parts)}."] if parts else []

    def _differences(self) -> list[str]:
        places = self.places
        low, high = places.min(axis=1), places.max(axis=1)
        moved = np.flatnonzero(high > low)
        if not len(moved):
            return ["They agree on every place."] if len(self.results) > 1 else []
        rules = list(map(rule_in_words, self.results))
        largest = sorted(moved, key=lambda i: (low[i] - high[i], str(self.items[i])))[:_SHOWN_DIFFERENCES]
        parts = [
            f"{short_name(self.items[i])} (place {low[i]:.0f} by {rules[int(np.argmin(places[i]))]}, {high[i]:.0f} by "
            f"{rules[int(np.argmax(places[i]))]})"
            for i in largest
        ]
        return [f"The places of {len(moved)} of {len(places)} items depend on the rule, most of all {in_words(parts)}."]

    def _condorcet(self) -> str:
        if self.condorcet_winner is not None:
            return (
                f"{short_name(self.condorcet_winner)} beats every other item in direct comparison (Condorcet winner)."
            )
        if self.cycle:
            names = [short_name(item) for item in self.cycle]
            beats = ", ".join(f"{a} beats {b}" for a, b in zip(names, names[1:] + names[:1], strict=True))
            return f"No item beats every other in direct comparison, because majorities run in a circle: {beats}."
        return "No item beats every other in direct comparison: the best are even, or not compared."


def compare_rules(
    rankings: Rankings,
    methods: Sequence[ConsensusRule] | Literal["all"],
    *,
    seats: int | None = None,
    known: ConsensusResult | None = None,
    random_state: RandomState = None,
    **options: Any,
) -> ConsensusComparison:
    """The consensus of each rule, without intervals; a rule that does not apply is left out, with the reason.

    A consensus that is ``known`` already is not searched for again.
    """
    if methods == "all":
        lacking = {"stv": seats is None, "range": options.get("scores") is None}
        chosen: list[Any] = [rule for rule in _ALL if not lacking.get(rule)]
    else:
        chosen = list(dict.fromkeys(check_rule(rule, seats) for rule in methods))
        if not chosen:
            raise ValueError("methods is empty; name one rule or several, or 'all'")
    results, refused = {}, {}
    for rule in chosen:
        try:
            if known is not None and known.method == rule:
                results[rule] = known
            else:
                results[rule] = find_consensus(rankings, rule, seats=seats, random_state=random_state, **options)
        except ValueError as error:
            refused[rule] = str(error)
    if not results:
        raise ValueError("; ".join(f"{', '.join(rules)}: {why}" for rules, why in by_reason(refused)))
    part = rankings.comparable()
    beats = majority(preference_matrix(part).wins)
    first = np.flatnonzero(beats.sum(axis=1) == len(beats) - 1)
    winner = part.items[first[0]] if len(first) else None
    cycle = () if len(first) else tuple(part.items[i] for i in _top_cycle(beats))
    return ConsensusComparison(results, refused, winner, cycle)


def by_reason(refused: Mapping[ConsensusRule, str]) -> list[tuple[list[str], str]]:
    """The rules that were left out for the same reason, and the reason."""
    together: dict[str, list[str]] = {}
    for rule, why in refused.items():
        together.setdefault(why, []).append(rule)
    return [(rules, why) for why, rules in together.items()]


def _top_cycle(beats: BoolArray) -> list[int]:
    """A shortest circle of majorities among items that none outside beats; empty if there is none."""
    from scipy.sparse.csgraph import connected_components, shortest_path

    component = connected_components(beats, directed=True, connection="strong")[1]
    unbeaten = [c for c in np.unique(component) if not beats[np.ix_(component != c, component == c)].any()]
    circles = [np.flatnonzero(component == c) for c in unbeaten if np.sum(component == c) > 2]
    if not circles:
        return []
    members = circles[0]
    steps, previous = shortest_path(
        beats[np.ix_(members, members)], unweighted=True, return_predecessors=True, method="D"
    )
    # A circle is a majority from the end of a path back to its start.
    length = np.where(beats[np.ix_(members, members)].T, steps, np.inf)
    start, end = np.unravel_index(int(np.argmin(length)), length.shape)
    path = [int(end)]
    while path[0] != start:
        path.insert(0, int(previous[start, path[0]]))
    return [int(members[i]) for i in path]
