"""What `raters` finds: how people agree one by one, in words, as tables and as data frames."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankwise._tables import TextTable, counted, make_frame, short_name
from rankwise._typing import FloatArray, IntArray
from rankwise.analysis.base import Result

# Rows of a table, and names in a sentence.
_SHOWN_ROWS, _SHOWN_NAMES = 30, 5
# The reliability for which the number of people is given.
_WANTED_RELIABILITY = 0.9
# Distances that differ by rounding are the same.
_SAME = 1e-9


@dataclass(frozen=True, eq=False, repr=False)
class Raters(Result):
    """How people agree with each other, one by one; made by `raters`.

    Arrays have an entry for each row of the rankings, in their order; NaN for people who compare nothing.

    Attributes
    ----------
    names : tuple of str
        Who made each ranking.
    people : ndarray of shape (n_raters,), intp
        How many people each row stands for: its weight where weights count people, otherwise 1.
    decode : str
        How the consensus was found.
    winners : tuple
        The items that come first in the consensus.
    pairs : ndarray of shape (n_raters,)
        Pairs of items that a person orders against the consensus; half of one where only one of them ties it.
    distance : ndarray of shape (n_raters,)
        The same as a share of the pairs that the person compares: 0 is the same order, 1 the reverse.
    distance_to_others : ndarray of shape (n_raters,)
        The same distance to the consensus of all others, by Borda's rule.
    tau : ndarray of shape (n_raters,)
        Kendall's tau with the consensus, from -1 to 1: 1 - 2 distance.
    agreement_with_rest : ndarray of shape (n_raters,)
        Mean of Kendall's tau with all others, over the pairs of items that both order: the analog of an item-total
        correlation.
    p_value : ndarray of shape (n_raters,)
        Probability that a person is so far from the others if all are draws of one Mallows model.
    p_adjusted : ndarray of shape (n_raters,)
        The same, corrected for the number of people by Holm's method.
    kind : tuple of str
        "reversed" for an outlier who is farther from the others than a random ranking would be, "random" for one who is
        no nearer than a random ranking, "far" for any other outlier, "" for all others.
    first : tuple of tuple
        The items that each puts first.
    winners_without : tuple of tuple, or None
        The items that come first in the consensus of all others; None if that was not looked at, as with fewer than 3
        or more than 60 people or more than 15 items.
    kendalls_w : float
        Kendall's W of all.
    mean_tau : float
        Mean of Kendall's tau of two people, over the pairs of items that both order.
    reliability : float
        Expected correlation of the margins of all pairs of items with those of as many other people of the same kind,
        by the formula of Spearman and Brown; 0 if people do not agree at all.
    n_effective : float
        Number of people of equal weight that order a pair of items, on average.
    coordinates : ndarray of shape (n_raters, 2)
        A map of the people: kernel PCA of the Kendall kernel.
    consensus_point : ndarray of shape (2,)
        Where the consensus lies on it.
    explained : ndarray of shape (2,)
        Share of the variance that each direction of the map shows.
    cliques : tuple of tuple of int
        Rows of the people who agree with each other more than independent raters would, the largest group first.
    clique_distance : tuple of float
        Mean Kendall distance of two members of each clique.
    level : float
        1 - level is the p-value from which on a person or a group is unusual.
    all_tied : bool
        Whether nobody puts one item before another.
    notes : tuple of str
        What was not looked at, or in a sample only, and whose rankings are counted several times.
    """

    names: tuple[str, ...]
    people: IntArray
    decode: str
    winners: tuple[Hashable, ...]
    pairs: FloatArray
    distance: FloatArray
    distance_to_others: FloatArray
    agreement_with_rest: FloatArray
    p_value: FloatArray
    p_adjusted: FloatArray
    kind: tuple[str, ...]
    first: tuple[tuple[Hashable, ...], ...]
    winners_without: tuple[tuple[Hashable, ...], ...] | None
    kendalls_w: float
    mean_tau: float
    reliability: float
    n_effective: float
    coordinates: FloatArray
    consensus_point: FloatArray
    explained: FloatArray
    cliques: tuple[tuple[int, ...], ...]
    clique_distance: tuple[float, ...]
    level: float
    all_tied: bool = False
    notes: tuple[str, ...] = ()

    @property
    def n_people(self) -> int:
        """Number of people who compare items."""
        return int(self.people[np.isfinite(self.distance)].sum())

    @property
    def agreement(self) -> FloatArray:
        """Share of the pairs of items on which each agrees with the consensus: one less the distance."""
        return 1 - self.distance

    @property
    def tau(self) -> FloatArray:
        """Kendall's tau of each with the consensus: 1 is the same order, -1 the reverse."""
        return 1 - 2 * self.distance

    @property
    def outliers(self) -> IntArray:
        """Rows of the people who are farther from the others than chance explains, the farthest first."""
        rows = np.flatnonzero([bool(kind) for kind in self.kind])
        return rows[np.lexsort((-self.distance_to_others[rows], self.p_value[rows]))]

    @property
    def order(self) -> IntArray:
        """All rows, the farthest from the consensus first, and last those who compare nothing."""
        return np.argsort(-np.nan_to_num(self.distance, nan=-1.0), kind="stable")

    @property
    def sentences(self) -> list[str]:
        """Who agrees, who stands apart, how reliable all are together, who votes together, and whose vote decides."""
        order = [row for row in self.order.tolist() if np.isfinite(self.distance[row])]
        lines = []
        if len(order) < 2:
            return ["One person alone can be compared with nobody."]
        if self.all_tied:
            return ["Everybody ties all items, so there is no order to agree on, or to disagree with."]
        low, high = order[0], order[-1]
        farthest, nearest = (
            [row for row in order if abs(self.distance[row] - self.distance[end]) <= _SAME] for end in (low, high)
        )
        most, least = (f"{self.agreement[end]:.0%}" for end in (high, low))
        if self.distance[low] == self.distance[high] == 0:
            lines.append("Everybody ranks alike.")
        elif len(nearest) == len(order):
            lines.append(f"Everybody agrees equally with the joint ranking ({most} of the pairs).")
        else:
            lines.append(
                f"{self._named(nearest)} {'agrees' if len(nearest) == 1 else 'agree'} most with the joint ranking "
                f"({most} of the pairs), {self._named(farthest)} least ({least})."
            )
        lines += [*self._about_outliers(), *self._about_reliability(), *self._about_cliques(), *self._about_winner()]
        return lines

    @property
    def sentence(self) -> str:
        """The sentences in one."""
        return " ".join(self.sentences)

    def _about_outliers(self) -> list[str]:
        if np.isnan(self.p_value).all():
            return []
        outliers = self.outliers.tolist()
        if not outliers:
            return ["Nobody stands apart from the others by more than chance explains."]
        words = {
            "reversed": "{} nearly in reverse: was the scale read the other way round?",
            "random": "{} no nearer to the others than a random order would be.",
            "far": "{} apart from the others, by more than chance explains.",
        }
        verbs = {"reversed": ("ranks", "rank"), "random": ("ranks", "rank"), "far": ("stands", "stand")}
        lines = []
        for kind, text in words.items():
            rows = [row for row in outliers if self.kind[row] == kind]
            if rows:
                smallest = max(self.p_adjusted[rows])
                p = "p < 0.001" if smallest < 0.001 else f"p = {smallest:.3f}"
                said = text.format(f"{self._named(rows)} {verbs[kind][len(rows) > 1]}")
                lines.append(f"{said} ({p}, corrected for the number of people)")
        return lines

    def _about_reliability(self) -> list[str]:
        if np.isnan(self.mean_tau):
            return []
        n, effective = self.n_people, round(self.n_effective)
        as_good = f" (they count as {effective:,} who weigh the same and rank all items)" if effective != n else ""
        if self.mean_tau <= 0:
            return [f"Two people do not agree on average (tau = {self.mean_tau:.2f}): a joint ranking is not reliable."]
        text = (
            f"Two people agree by tau = {self.mean_tau:.2f} on average; a joint ranking of "
            f"{counted(n, 'person', 'people')} is reliable to {self.reliability:.2f}{as_good}"
        )
        needed = _WANTED_RELIABILITY / (1 - _WANTED_RELIABILITY) * (1 - self.mean_tau) / self.mean_tau
        if self.reliability < _WANTED_RELIABILITY:
            text += f", one of {int(np.ceil(needed - 1e-9)):,} such people to {_WANTED_RELIABILITY:.2f}"
        return [f"{text}."]

    def _about_cliques(self) -> list[str]:
        if not self.cliques:
            return []
        groups = [self._named(rows) for rows in self.cliques[:2]]
        more = f", and so do {counted(len(self.cliques) - 2, 'more group')}" if len(self.cliques) > 2 else ""
        return [f"{'; '.join(groups)} agree with each other more than independent raters would{more}."]

    def _about_winner(self) -> list[str]:
        if self.winners_without is None:
            return []
        gone = zip(self.names, self.winners_without, strict=True)
        decisive = [short_name(name) for name, winners in gone if set(winners) != set(self.winners)]
        if not decisive:
            return ["No single vote decides the winner: leave out any one of them, and the first place stays."]
        if len(decisive) == 1:
            return [f"First place hangs on one vote: without {decisive[0]} it changes."]
        return [f"First place is close: leave out any one of {counted(len(decisive), 'vote')}, and it changes."]

    def _named(self, rows: Sequence[int]) -> str:
        shown = [short_name(self.names[row]) for row in rows[:_SHOWN_NAMES]]
        if len(rows) > _SHOWN_NAMES:
            return f"{', '.join(shown)} and {len(rows) - _SHOWN_NAMES:,} more"
        return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"

    def to_frame(self, backend: str | None = None) -> Any:
        """A data frame with a row per person, of pandas by default, else of the named backend.

        Columns: ``name``, ``people``, ``pairs``, ``distance``, ``distance_to_others``, ``tau``,
        ``agreement_with_rest``, ``p_value``, ``p_adjusted``, ``kind``, ``clique`` (its number from 1, 0 for none),
        ``x``, ``y``, ``first`` and, where that was looked at, ``winners_without``.
        """
        columns: dict[str, Any] = {"name": list(self.names)}
        for name in ("people", "pairs", "distance", "distance_to_others", "tau", "agreement_with_rest"):
            columns[name] = getattr(self, name)
        columns |= {"p_value": self.p_value, "p_adjusted": self.p_adjusted, "kind": list(self.kind)}
        columns["clique"] = self.clique_of_each()
        columns |= {"x": self.coordinates[:, 0], "y": self.coordinates[:, 1]}
        columns["first"] = [_joined(items) for items in self.first]
        if self.winners_without is not None:
            columns["winners_without"] = [_joined(items) for items in self.winners_without]
        return make_frame(columns, backend)

    def clique_of_each(self) -> IntArray:
        """The number of each person's clique, from 1, and 0 for people in none: (n_raters,)."""
        number = np.zeros(len(self.names), dtype=np.intp)
        for clique, rows in enumerate(self.cliques, start=1):
            number[list(rows)] = clique
        return number

    def as_dict(self) -> dict[str, Any]:
        """The people for JSON, the farthest from the consensus first; None for what is not known."""
        raters: list[dict[str, Any]] = []
        for row in self.order.tolist():
            rater: dict[str, Any] = {"name": self.names[row], "pairs": float(self.pairs[row])}
            for name in ("distance", "distance_to_others", "agreement_with_rest", "p_value", "p_adjusted"):
                rater[name] = _or_none(getattr(self, name)[row])
            rater |= {"kind": self.kind[row], "map": [_or_none(x) for x in self.coordinates[row]]}
            rater["first"] = [str(item) for item in self.first[row]]
            if self.winners_without is not None:
                rater["winners_without"] = [str(item) for item in self.winners_without[row]]
            raters.append(rater)
        names = ("kendalls_w", "mean_tau", "reliability", "n_effective")
        together = {name: _or_none(getattr(self, name)) for name in names}
        if self.n_people < 2:  # one ranking agrees with itself, which says nothing
            together["kendalls_w"] = None
        return {
            "raters": raters,
            "reliability": together,
            "cliques": [
                {"names": [self.names[row] for row in rows], "mean_distance": distance}
                for rows, distance in zip(self.cliques, self.clique_distance, strict=True)
            ],
            "map_explained": self.explained.tolist(),
        }

    def tables(self, most: int = _SHOWN_ROWS) -> list[TextTable]:
        """The people as a table of text, the farthest first, then what holds for all of them.

        Parameters
        ----------
        most : int, default=30
            Show no more people than that.
        """
        if self.all_tied:
            return [self.reliability_table()]
        order = self.order.tolist()
        tested = not np.isnan(self.p_value).all()
        columns = ["name", "agrees", "pairs against", "tau with the rest", *(["p", ""] if tested else []), "puts first"]
        rows = []
        for row in order[:most]:
            share, rest = self.agreement[row], self.agreement_with_rest[row]
            answered = np.isfinite(share)
            cells = [short_name(self.names[row]), *([f"{share:.0%}", f"{self.pairs[row]:g}"] if answered else ["", ""])]
            cells.append("" if np.isnan(rest) else f"{rest:.2f}")
            if tested:
                cells += [_p(self.p_adjusted[row]), {"reversed": "reversed scale?"}.get(self.kind[row], self.kind[row])]
            rows.append([*cells, _joined(self.first[row])])
        if self.winners_without is not None:
            columns.append("first without this vote")
            for cells, row in zip(rows, order, strict=False):
                cells.append(_joined(self.winners_without[row]))
        note = (
            "agrees: share of the pairs of items that the person and the joint ranking put in the same order; a pair "
            "that one of them ties counts half"
        )
        if tested:
            note += "; p: how often anybody would be so far from the others by chance alone"
        if len(order) > most:
            note += f"; the {most} farthest of {len(order):,} people"
        return [TextTable("Who disagrees", note, columns, rows), self.reliability_table()]

    def reliability_table(self) -> TextTable:
        """What holds for all of them, as a table of text."""
        if self.n_people < 2 or self.all_tied:
            notes = [["note", note] for note in self.notes]
            return TextTable("Raters together", self.sentence, ["", ""], [["people", str(self.n_people)], *notes])
        rows = [
            ["people", f"{self.n_people:,}"],
            ["Kendall's W", _known(self.kendalls_w, "0 is no agreement, 1 full agreement")],
            ["tau of two people", _known(self.mean_tau, "mean over all who order the same items")],
            ["reliability", _known(self.reliability, "expected correlation with as many other people")],
        ]
        differ = self.explained.sum() > 0
        shown = f"two directions show {self.explained.sum():.0%} of the differences"
        rows.append(["map", shown if differ else "all people are at one point: they rank alike"])
        for number, (members, distance) in enumerate(zip(self.cliques, self.clique_distance, strict=True), start=1):
            rows.append([f"clique {number}", f"{self._named(members)} (mean distance {distance:.2f})"])
        rows += [["note", note] for note in self.notes]
        return TextTable("Raters together", " ".join(self.sentences[1:]), ["", ""], rows)


def _joined(items: Sequence[Hashable]) -> str:
    return ", ".join(map(short_name, items))


def _p(value: float) -> str:
    return "" if np.isnan(value) else "< 0.001" if value < 0.001 else f"{value:.3f}"


def _known(value: float, meaning: str) -> str:
    return "unknown: too few people order the same items" if np.isnan(value) else f"{value:.2f} ({meaning})"


def _or_none(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
