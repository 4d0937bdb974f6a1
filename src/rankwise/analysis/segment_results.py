"""What `segments` returns: `Segments`, with a profile of each segment and the criteria of all numbers tried."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from rankwise._tables import TextTable, counted, make_frame, name_column, short_name
from rankwise._typing import FloatArray, IntArray
from rankwise.analysis.base import Result
from rankwise.analysis.segment_covariates import MembershipModel

#: stands for a concentration without bound
LARGEST_THETA = 30.0
# Items shown of an order in a sentence.
_SHOWN = 4
# Words for the stability and the clearness of segments.
_STABLE = {0.6: "not stable", 0.8: "fairly stable", 2.0: "stable"}
_CLEAR = {0.6: "overlap much", 0.8: "overlap somewhat", 2.0: "are clear"}
# Labels of segments that overlap more than this come out alike in resamples for other reasons than that they are sure.
_LEAST_ENTROPY = 0.3
# A smaller difference of places is none.
_SMALLEST_SHOWN = 0.05


@dataclass(frozen=True)
class SegmentCriteria:
    """A number of segments that was tried.

    Attributes
    ----------
    n : int
        Number of segments.
    log_likelihood : float
        Of the best start.
    n_parameters : int
        Parameters of the model.
    bic, icl : float
        Bayesian information criterion, and the same with twice the entropy of the memberships added; lower is better.
    entropy : float
        How clear memberships are: 1 if everybody belongs to one segment for sure, 0 if nothing is known; NaN for n = 1.
    smallest : float
        Share of the smallest segment.
    n_iter : int
        Iterations of the best start.
    problem : str
        Why this number cannot be chosen; empty if it can.
    """

    n: int
    log_likelihood: float
    n_parameters: int
    bic: float
    icl: float
    entropy: float
    smallest: float
    n_iter: int
    problem: str = ""


@dataclass(frozen=True, eq=False)
class SegmentProfile:
    """A segment of people.

    Attributes
    ----------
    name : str
        "segment 1", "segment 2", ...; the largest is the first.
    share, low, high : float
        Share of the people, and the ends of its interval; NaN if there is one segment only.
    positions : ndarray of shape (n_items,)
        The central ranking: the center of a Mallows model, or items by worth; all tied where it is not determined.
    mean_rank : ndarray of shape (n_items,)
        Mean ranks among the people of the segment, each weighted by the probability to belong to it.
    difference : ndarray of shape (n_items,)
        The same less the mean rank among all; negative: placed higher.
    log_worth, log_worth_se : ndarray of shape (n_items,) or None
        Worths of a Plackett-Luce model, of mean 0, and their standard errors.
    theta, theta_se : float or None
        Concentration of a Mallows model and its standard error; 30 stands for a segment of equal rankings, whose
        concentration is not determined, and the error is then NaN.
    undetermined : str
        Why the data do not say in which order the segment ranks the items; empty if they do.
    """

    name: str
    share: float
    low: float
    high: float
    positions: FloatArray
    mean_rank: FloatArray
    difference: FloatArray
    log_worth: FloatArray | None = None
    log_worth_se: FloatArray | None = None
    theta: float | None = None
    theta_se: float | None = None
    undetermined: str = ""

    @property
    def theta_at_bound(self) -> bool:
        """Whether all people of the segment gave the same ranking, so that its concentration has no estimate."""
        return self.theta is not None and self.theta >= LARGEST_THETA


@dataclass(frozen=True, eq=False, repr=False)
class Segments(Result):
    """Segments of people who rank alike; made by `segments`.

    Attributes
    ----------
    n : int
        Number of segments.
    chosen_by : {"bic", "icl", "given"}
        How the number was chosen.
    model, distance : str
        "mallows" or "plackett-luce", and the distance of "mallows".
    items : tuple
        Names of the items.
    n_people : float
        People who were counted: those who rank two items or more. With survey weights, the number of people of equal
        weight that would say as much.
    memberships : ndarray of shape (n_rankings, n)
        Probability of each segment for everyone.
    labels : ndarray of shape (n_rankings,), intp
        The most probable segment, counted from 0; -1 for rankings that compare nothing.
    profiles : tuple of SegmentProfile
        The segments, largest first.
    mean_rank : ndarray of shape (n_items,)
        Mean ranks among all.
    criteria : tuple of SegmentCriteria
        All numbers of segments that were tried.
    entropy : float
        How clear memberships are, from 0 to 1; NaN for one segment.
    stability : float
        Mean adjusted Rand index between the labels and those of refits to resamples: 1 is the same segments each time,
        0 what chance gives. NaN if that was not looked at.
    stabilities : ndarray of shape (n_resamples,)
        The index of each resample.
    membership : MembershipModel or None
        How covariates are linked to the segments.
    partial_rankings : {"exact", "monte carlo", "pairs"}
        How partial rankings were counted, see `MallowsMixture`.
    converged : bool
        Whether the fit ended before the largest number of iterations.
    n_iter : int
        Its iterations.
    level : float
        Level of the intervals.
    fitted : MallowsMixture or PlackettLuceMixture
        The fitted model: ``predict_proba`` finds the segments of new people.
    notes : tuple of str
        What a reader should know.
    """

    n: int
    chosen_by: str
    model: str
    distance: str
    items: tuple[Hashable, ...]
    n_people: float
    memberships: FloatArray
    labels: IntArray
    profiles: tuple[SegmentProfile, ...]
    mean_rank: FloatArray
    criteria: tuple[SegmentCriteria, ...]
    entropy: float
    stability: float
    stabilities: FloatArray
    membership: MembershipModel | None
    partial_rankings: str
    converged: bool
    n_iter: int
    level: float
    fitted: Any = field(repr=False)
    notes: tuple[str, ...] = ()

    @property
    def sentences(self) -> list[str]:
        """The result in plain words: how many segments, how sure they are, and what each likes."""
        if self.n == 1 and self.chosen_by != "given":
            tried = max(row.n for row in self.criteria)
            how = self.chosen_by.upper()
            how = f"{self.model_name}, {how}"
            lines = [f"One segment describes the rankings best ({how}, 1 to {tried} tried): no groups were found."]
        elif self.n == 1:
            lines = ["All people are taken as one segment."]
        elif not self.told_apart:
            one, own = self._criteria_of_one_and_all()
            plain = {row.n: row.bic for row in self.criteria}[self.n]
            link = "" if self.membership is None else f", {own:.1f} with the link to the covariates"
            lines = [
                f"The people were divided into {self.n} segments, but one segment describes the rankings as well "
                f"({self.model_name}, BIC {one:.1f} with one, {plain:.1f} with {self.n}{link}): the data do not show "
                "that there are groups."
            ]
        else:
            chosen = "" if self.chosen_by == "given" else f", {self.chosen_by.upper()}, {self._tried()} tried"
            lines = [f"The people fall into {self.n} segments ({self.model_name}{chosen})."]
        lines += [self.sentence(g) for g in range(self.n)] if self.n > 1 else []
        if self.n == 1 and self.profiles[0].undetermined:
            lines.append(f"The order of the items is not determined: {self.profiles[0].undetermined}.")
        if self.n > 1 and np.isfinite(self.entropy):
            word = next(word for limit, word in _CLEAR.items() if self.entropy < limit)
            lines.append(f"The segments {word}: entropy {self.entropy:.2f} of 1.")
        if np.isfinite(self.stability):
            word = next(word for limit, word in _STABLE.items() if self.stability < limit)
            index = f"the adjusted Rand index over {counted(len(self.stabilities), 'resample')} is {self.stability:.2f}"
            if word != "not stable" and (self.entropy < _LEAST_ENTROPY or not self.told_apart):
                lines.append(f"How stable they are cannot be said of segments like these, although {index}.")
            else:
                lines.append(f"They are {word}: {index}.")
        if self.membership is not None:
            lines.append(self.membership.sentence)
        return lines

    @property
    def model_name(self) -> str:
        """The model of a segment, as people write it."""
        return "Mallows" if self.model == "mallows" else "Plackett-Luce"

    @property
    def told_apart(self) -> bool:
        """Whether several segments describe the rankings better than one, by BIC; True where one was not tried."""
        one, own = self._criteria_of_one_and_all()
        return self.n == 1 or np.isnan(one) or own < one

    def _criteria_of_one_and_all(self) -> tuple[float, float]:
        """BIC with one segment, NaN if that was not tried; and with these, and the covariates if there are any."""
        by_number = {row.n: row.bic for row in self.criteria}
        own = by_number.get(self.n, float("nan")) if self.membership is None else float(self.fitted.bic())
        return by_number.get(1, float("nan")), own

    def sentence(self, g: int) -> str:
        """One segment in plain words."""
        profile = self.profiles[g]
        start = f"{profile.name.capitalize()} ({profile.share:.0%})"
        if profile.undetermined:
            return f"{start} has no order that the data determine: {profile.undetermined}."
        dots = " > ..." if len(self.items) > _SHOWN else ""
        text = f"{start} ranks {self._order(profile)}{dots}"
        known = np.flatnonzero(np.isfinite(profile.difference))
        if len(known) and np.abs(profile.difference[known]).max() < _SMALLEST_SHOWN:
            return f"{text}; its mean ranks are those of all."
        if len(known):
            item = int(known[np.argmax(np.abs(profile.difference[known]))])
            size = profile.difference[item]
            where = "higher" if size < 0 else "lower"
            text += f"; it puts {short_name(self.items[item])} {abs(size):.1f} places {where} than all do"
        return f"{text}."

    def to_frame(self, backend: str | None = None) -> Any:
        """A data frame with a row per segment and item, of pandas by default, else of the named backend.

        Columns: ``segment``, ``share``, ``item``, ``position``, ``mean_rank``, ``difference`` and, by the model,
        ``log_worth`` and ``standard_error``.
        """
        k = len(self.items)
        columns: dict[str, Any] = {
            "segment": [profile.name for profile in self.profiles for _ in range(k)],
            "share": np.repeat([profile.share for profile in self.profiles], k),
            "item": name_column(self.items) * self.n,
            "position": np.concatenate([profile.positions for profile in self.profiles]),
            "mean_rank": np.concatenate([profile.mean_rank for profile in self.profiles]),
            "difference": np.concatenate([profile.difference for profile in self.profiles]),
        }
        worths = [profile.log_worth for profile in self.profiles if profile.log_worth is not None]
        if worths:
            columns["log_worth"] = np.concatenate(worths)
            errors = [profile.log_worth_se for profile in self.profiles if profile.log_worth_se is not None]
            columns["standard_error"] = np.concatenate(errors)
        return make_frame(columns, backend)

    def memberships_frame(self, backend: str | None = None) -> Any:
        """A data frame with a row per ranking: the probability of each segment, and the most probable one.

        Columns: ``segment``, None for rankings that compare nothing, and one per segment.
        """
        names = [profile.name for profile in self.profiles]
        columns: dict[str, Any] = {"segment": [None if g < 0 else names[g] for g in self.labels.tolist()]}
        return make_frame(columns | dict(zip(names, self.memberships.T, strict=True)), backend)

    def criteria_frame(self, backend: str | None = None) -> Any:
        """A data frame with a row per number of segments tried; columns as in `SegmentCriteria`."""
        names = ("n", "log_likelihood", "n_parameters", "bic", "icl", "entropy", "smallest", "n_iter", "problem")
        return make_frame({name: [getattr(row, name) for row in self.criteria] for name in names}, backend)

    def as_dict(self) -> dict[str, Any]:
        """The numbers for JSON; None where one is not known."""
        names = ("n", "log_likelihood", "n_parameters", "bic", "icl", "entropy", "smallest", "n_iter", "problem")
        return {
            "n": self.n,
            "chosen_by": self.chosen_by,
            "model": self.model,
            "distance": self.distance if self.model == "mallows" else None,
            "n_people": self.n_people,
            "entropy": _or_none(self.entropy),
            "stability": _or_none(self.stability),
            "partial_rankings": self.partial_rankings,
            "converged": self.converged,
            "segments": [self._profile_as_dict(profile) for profile in self.profiles],
            "criteria": [{name: _or_none(getattr(row, name)) for name in names} for row in self.criteria],
            "membership": None if self.membership is None else self.membership.as_dict(),
            "labels": [None if g < 0 else g + 1 for g in self.labels.tolist()],
            "notes": list(self.notes),
        }

    def _profile_as_dict(self, profile: SegmentProfile) -> dict[str, Any]:
        numbers = ("positions", "mean_rank", "difference", "log_worth", "log_worth_se")
        kept = {name: values for name in numbers if (values := getattr(profile, name)) is not None}
        return {
            "segment": profile.name,
            "share": profile.share,
            "low": _or_none(profile.low),
            "high": _or_none(profile.high),
            "theta": None if profile.theta_at_bound else profile.theta,
            "theta_se": None if profile.theta_se is None else _or_none(profile.theta_se),
            "items": [
                {"item": str(item), **{name: _or_none(values[i]) for name, values in kept.items()}}
                for i, item in enumerate(self.items)
            ],
            "undetermined": profile.undetermined or None,
        }

    def tables(self) -> list[TextTable]:
        """The findings, the segments, their items, the numbers tried, and the covariates."""
        tables = [self.size_table(), self.item_table()]
        tables += [self.criteria_table()] if len(self.criteria) > 1 else []
        return [*tables, *([] if self.membership is None else self.membership.tables())]

    def size_table(self) -> TextTable:
        """The segments as a table of text, below the findings."""
        rows = []
        for profile in self.profiles:
            best = "not determined" if profile.undetermined else self._order(profile)
            interval = f"{profile.low:.0%} to {profile.high:.0%}" if np.isfinite(profile.low) else "-"
            spread = "-" if profile.theta is None or profile.undetermined else _theta_text(profile)
            rows.append([profile.name, f"{profile.share:.0%}", interval, spread, best])
        columns = ["segment", "share", f"{100 * self.level:g}% interval", "concentration", "ranks first"]
        if self.model != "mallows":
            rows = [[*row[:3], row[4]] for row in rows]
            columns.remove("concentration")
        note = " ".join([*self.sentences, *(f"{note[0].upper()}{note[1:]}." for note in self.notes)])
        return TextTable("Segments", note, columns, rows)

    def item_table(self) -> TextTable:
        """Mean ranks of the items as a table of text, a column per segment."""
        rows = []
        for item in np.argsort(self.mean_rank, kind="stable"):
            cells = [self.mean_rank[item], *(profile.mean_rank[item] for profile in self.profiles)]
            rows.append([short_name(self.items[item]), *("-" if np.isnan(c) else f"{c:.2f}" for c in cells)])
        names = [f"{profile.name} ({profile.share:.0%})" for profile in self.profiles]
        note = "1 is best; people count by the probability to belong to the segment"
        return TextTable("Mean ranks by segment", note, ["item", "all", *names], rows)

    def criteria_table(self) -> TextTable:
        """The numbers of segments tried, as a table of text."""
        rows = [
            [
                str(row.n),
                f"{row.bic:.1f}",
                f"{row.icl:.1f}",
                "-" if np.isnan(row.entropy) else f"{row.entropy:.2f}",
                f"{row.smallest:.0%}",
                f"{row.n_iter:,}",
                row.problem or ("chosen" if row.n == self.n else ""),
            ]
            for row in self.criteria
        ]
        columns = ["segments", "BIC", "ICL", "entropy", "smallest", "iterations", ""]
        note = "BIC and ICL: lower is better; ICL asks for clear ones"
        if self.membership is not None:
            clear = "" if np.isnan(self.entropy) else f" and entropy {self.entropy:.2f}"
            note += f"; all without the covariates: with them, BIC {self.fitted.bic():.1f}{clear} with {self.n}"
        return TextTable("How many segments", note, columns, rows)

    def _order(self, profile: SegmentProfile) -> str:
        """The first items of the central ranking, ties between them marked as such."""
        order = np.argsort(profile.positions, kind="stable")[:_SHOWN]
        text = short_name(self.items[order[0]])
        for before, item in pairwise(order.tolist()):
            tied = profile.positions[before] == profile.positions[item]
            text += f" {'~' if tied else '>'} {short_name(self.items[item])}"
        return text

    def _tried(self) -> str:
        numbers = [row.n for row in self.criteria]
        return str(numbers[0]) if len(numbers) == 1 else f"{numbers[0]} to {numbers[-1]}"


def _theta_text(profile: SegmentProfile) -> str:
    theta = profile.theta or 0.0
    if profile.theta_at_bound:
        return "at its bound: not determined"
    if profile.theta_se is None or np.isnan(profile.theta_se):
        return f"{theta:.2g}"
    return f"{theta:.2g} ± {profile.theta_se:.1g}"


def _or_none(value: Any) -> Any:
    if isinstance(value, str | int) and not isinstance(value, bool):
        return value
    return None if np.isnan(value) else float(value)
