"""Where groups differ: differences of mean ranks and of shares of preferences, with simultaneous intervals.

`compare_groups` returns `GroupDifferences`. Each group is compared with all others together; of two groups, the first
with the second. A difference is divided by its standard error, which does not assume that groups vary alike. The
largest such ratio in each permutation of the labels says how large a ratio chance makes somewhere in the table:
intervals and p-values are about the whole table, and an interval leaves out 0 if its p-value is small enough and people
are not too few. Chance makes huge ratios in a group of two to four people, who are often unanimous. So the ratios of
each group are first divided by what chance seldom makes there: no group can hide the differences of others. Few people
have few different shares, so that many permutations make the very ratio that was seen. They count half (mid-p;
Lancaster 1961): counted whole, as p-values are defined, true differences would be found more rarely than the level
allows. Where a group is unanimous, the interval is wider than the ratio says: others who were not asked may be of
another opinion.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from rankwise._tables import TextTable, make_frame, short_name
from rankwise._typing import BoolArray, FloatArray, IntArray
from rankwise.analysis.base import Result
from rankwise.analysis.group_permutations import Design

# Ratios that are equal may differ by rounding.
_ROUNDING = 1e-9
# A standard error is at least this share of that of all people together: unanimous groups have no infinite ratio.
_LEAST_ERROR = 0.1
# Ratios of a group are divided by what chance exceeds in this share of arrangements, divided by the number of groups.
_SELDOM = 0.05
# An interval allows for so many more people in each group who rank as both groups together: as Agresti, Caffo (2000),
# Simple and effective confidence intervals for proportions and differences of proportions result from adding two
# successes and two failures, The American Statistician 54. It matters where a group is all but unanimous.
_MORE_PEOPLE = 2
_SHOWN = 12
# Words for the distance from 1/2 of the probability that one of a group ranks an item higher than one of the others:
# Vargha, Delaney (2000), A critique and improvement of the CL common language effect size statistics, Journal of
# Educational and Behavioral Statistics 25.
_DEGREES = {0.06: "negligible", 0.14: "small", 0.21: "medium", 1.0: "large"}


@dataclass(frozen=True, eq=False, repr=False)
class GroupDifferences(Result):
    """How groups differ in the places of items, or in preferences between two; made by `compare_groups`.

    Attributes
    ----------
    what : {"item", "pair"}
        Whether a column is an item, and values are mean ranks (1 = best); or a pair of items, and values are the shares
        of people who put the first before the second, ties counted half.
    names : tuple
        The items, or pairs of items, of the columns.
    groups : tuple of str
        The groups.
    compared : tuple of str
        The group of each row of differences: the first of two groups, or each of several.
    against : tuple of str
        With whom it is compared: the second group, or "the others".
    mean : ndarray of shape (n_groups, n_columns)
        Mean rank or share in each group; NaN where nobody in the group can say.
    difference : ndarray of shape (n_compared, n_columns)
        Of the group from the others; within strata or pairs of people, if there are such. NaN where it is not known.
    standard_error : ndarray of shape (n_compared, n_columns)
        Of the difference.
    low, high : ndarray of shape (n_compared, n_columns)
        Ends of the intervals, which hold all differences at once with probability ``level``. NaN where people are too
        few for intervals, or all say the same: then nothing tells how far a difference could be from 0.
    p_value : ndarray of shape (n_compared, n_columns)
        Corrected for all columns and groups: the probability of a larger ratio of difference and standard error
        anywhere, if groups do not matter, and half of that of an equal one (mid-p).
    probability : ndarray of shape (n_compared, n_columns) or None
        For items: the probability that one of the group ranks the item higher than one of the others, ties counted
        half.
    level : float
        Level of the intervals.
    """

    what: str
    names: tuple[Any, ...]
    groups: tuple[str, ...]
    compared: tuple[str, ...]
    against: tuple[str, ...]
    mean: FloatArray
    difference: FloatArray
    standard_error: FloatArray
    low: FloatArray
    high: FloatArray
    p_value: FloatArray
    probability: FloatArray | None
    level: float

    @property
    def degree(self) -> list[list[str]]:
        """The size of each difference in a word: negligible, small, medium or large; empty where it is not known.

        Items by their ``probability`` (less than 0.06 from 1/2 is negligible, 0.14 small, 0.21 medium), pairs by their
        ``difference`` (less than 0.12, 0.28 and 0.42, which is the same for two alternatives).
        """
        sizes = self.difference / 2 if self.probability is None else self.probability - 0.5
        return [
            ["" if np.isnan(size) else next(word for limit, word in _DEGREES.items() if size < limit) for size in row]
            for row in np.abs(sizes)
        ]

    @property
    def is_sure(self) -> BoolArray:
        """Which differences are beyond chance: those with a p-value of at most 1 - level."""
        found: BoolArray = np.nan_to_num(self.p_value, nan=1.0) <= 1 - self.level + _ROUNDING
        return found

    @property
    def same(self) -> BoolArray:
        """Where there is no interval because all people say the same."""
        found: BoolArray = np.isnan(self.low) & (self.standard_error <= _ROUNDING)
        return found

    @property
    def size(self) -> list[list[str]]:
        """``degree``, and "not sure" where chance alone explains the difference: what tables and files show."""
        known = self.is_sure | self.same | np.isnan(self.difference)
        return [
            [word if shown else "not sure" for word, shown in zip(*row, strict=True)]
            for row in zip(self.degree, known.tolist(), strict=True)
        ]

    @property
    def largest_first(self) -> list[tuple[int, int]]:
        """Row and column of every known difference, the surest first: by p-value, then by size."""
        rows, columns = np.nonzero(np.isfinite(self.difference))
        order = np.lexsort((-np.abs(self.difference[rows, columns]), self.p_value[rows, columns]))
        return [(int(rows[i]), int(columns[i])) for i in order]

    def sentence(self, row: int, column: int) -> str:
        """A difference in plain words."""
        difference, who, other = self.difference[row, column], self.compared[row], self.against[row]
        if self.what == "item":
            item, way = short_name(self.names[column]), "higher" if difference < 0 else "lower"
            text = f"{short_name(who)} put {item} {abs(difference):.2f} places {way} than {short_name(other)}"
        else:
            first, second = map(short_name, self.names[column])
            way = "more" if difference > 0 else "less"
            points = f"{100 * abs(difference):.0f} percentage points {way} often"
            text = f"{short_name(who)} put {first} before {second} {points} than {short_name(other)}"
        return f"{text} ({p_text(self.p_value[row, column])})"

    def to_frame(self, backend: str | None = None) -> Any:
        """A data frame with a row per group and item or pair, of pandas by default, else of the named backend.

        Columns: ``group``, ``against``, ``item`` or ``first`` and ``second``, ``difference``, ``standard_error``,
        ``low``, ``high``, ``p_value``, for items ``probability``, and ``size``, in a word or "not sure".
        """
        n_rows, n_columns = self.difference.shape
        names = {"item": [str(name) for name in self.names] * n_rows}
        if self.what == "pair":
            names = {
                end: [str(pair[side]) for pair in self.names] * n_rows for side, end in enumerate(("first", "second"))
            }
        columns: dict[str, Any] = {
            "group": np.repeat(np.array(self.compared, dtype=object), n_columns).tolist(),
            "against": np.repeat(np.array(self.against, dtype=object), n_columns).tolist(),
            **names,
        }
        for name in ("difference", "standard_error", "low", "high", "p_value", "probability"):
            values = getattr(self, name)
            if values is not None:
                columns[name] = values.ravel()
        columns["size"] = [word for row in self.size for word in row]
        return make_frame(columns, backend)

    def as_dict(self) -> list[dict[str, Any]]:
        """The differences for JSON; None where one is not known."""
        found, sizes = [], self.size
        for row, (group, against) in enumerate(zip(self.compared, self.against, strict=True)):
            for column, name in enumerate(self.names):
                named = {"item": str(name)} if self.what == "item" else {"first": str(name[0]), "second": str(name[1])}
                numbers = {
                    key: _or_none(getattr(self, key)[row, column])
                    for key in ("difference", "standard_error", "low", "high", "p_value", "probability")
                    if getattr(self, key) is not None
                }
                found.append({"group": group, "against": against, **named, **numbers, "size": sizes[row][column]})
        return found

    def tables(self) -> list[TextTable]:
        """The surest differences as a table of text."""
        order = self.largest_first
        shown = order if len(order) <= _SHOWN else order[:_SHOWN]
        two, is_item = len(self.groups) == 2, self.what == "item"
        columns = [self.what] if is_item else ["first", "before"]
        columns += [short_name(group) for group in self.groups] if two else ["group", "mean" if is_item else "share"]
        columns += ["difference", f"{100 * self.level:g}% interval", "p", "size"]
        rows, sizes = [], self.size
        for row, column in shown:
            name = self.names[column]
            cells = [short_name(name)] if is_item else [short_name(part) for part in name]
            if two:
                cells += [self._value(self.mean[group, column]) for group in range(2)]
            else:
                group = self.groups.index(self.compared[row])
                cells += [short_name(self.compared[row]), self._value(self.mean[group, column])]
            low, high = self.low[row, column], self.high[row, column]
            interval = f"{self._value(low, '+')} to {self._value(high, '+')}" if np.isfinite(low) else "none"
            p = p_text(self.p_value[row, column]).removeprefix("p ").removeprefix("= ")
            rows.append([*cells, self._value(self.difference[row, column], "+"), interval, p, sizes[row][column]])
        what = "mean ranks, 1 is best" if is_item else "shares that put the first before the second"
        sides = "the first group less the second" if two else "the group less all others"
        rest = f"; the surest {_SHOWN} of {len(order):,}" if len(shown) < len(order) else ""
        what += "" if two else ", of the group"
        note = f"{what}; difference: {sides}; intervals and p are corrected for the whole table"
        note += f", and arrangements with an equal ratio count half in p (mid-p){rest}"
        if not all(self.is_sure[at] or self.same[at] for at in shown):
            note += "; size: not sure where chance alone explains the difference"
        if any(self.same[at] for at in shown):
            note += "; no interval where all people say the same"
        if any(self.is_sure[at] and self.low[at] <= 0 <= self.high[at] for at in shown):
            note += (
                "; an interval that holds 0 beside a small p is wider than p says, as so few people tell little more"
            )
        title = "Differences of items" if is_item else "Differences of pairs"
        return [TextTable(title, note, columns, rows)]

    def _value(self, value: float, sign: str = "") -> str:
        if np.isnan(value):
            return ""
        return format(value, f"{sign}.2f") if self.what == "item" else format(value, f"{sign}.0%")


def p_text(p_value: float) -> str:
    """A p-value as text, such as "p = 0.031" or "p < 0.001"."""
    return "p < 0.001" if p_value < 0.001 else f"p = {p_value:.3f}"


class Family:
    """Differences that are tested together: of the columns of ``values`` (n, c), NaN where a person says nothing."""

    def __init__(self, values: FloatArray, design: Design) -> None:
        self.values, self.design = values, design
        self.known = ~np.isnan(values)
        if self.known.all():
            self.known = self.known[:, :1]
        u = design.weights[:, np.newaxis]
        centered = design.centered(values)
        # Sums of weights, of weighted values, and of squares for standard errors; equal ones are computed once.
        blocks = [u * self.known, u * centered, u**2 * centered**2]
        if design.is_weighted:
            blocks += [u**2 * self.known, u**2 * centered]
        self.columns: FloatArray = np.hstack(blocks)
        self.splits = np.cumsum([block.shape[1] for block in blocks])[:-1]
        squares, weights = (blocks[2].sum(axis=0), (u**2 * self.known).sum(axis=0))
        self.variance = np.divide(squares, weights, out=np.zeros_like(squares), where=weights > 0)
        self.compared = [0] if design.n_groups == 2 else list(range(design.n_groups))

    def differences(self, sums: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Differences of each compared group from the others, and their errors; NaN where either side has too few.

        Both have the shape (n_arrangements, n_compared, c), and in strata both lack the same factor.
        """
        (mean, square, weight), (other_mean, other_square, other_weight) = self._sides(sums)
        least = _LEAST_ERROR**2 * self.variance * (weight + other_weight)
        return mean - other_mean, np.sqrt(np.maximum(square + other_square, least))

    def careful_error(self, sums: FloatArray) -> FloatArray:
        """Errors that a group of people who all say the same does not make too small."""
        sides = self._sides(sums)
        total: FloatArray = np.zeros(sides[0][0].shape)
        with np.errstate(divide="ignore", invalid="ignore"):
            apart = (sides[0][0] - sides[1][0]) ** 2 / 4
            # The variance of both groups together, each counted as one half.
            joint = sum(square / weight for _, square, weight in sides) / 2 + apart
            for _, square, weight in sides:
                n = 1 / weight
                more = _MORE_PEOPLE / (n + _MORE_PEOPLE)
                # What the variance with more people would be if those in the group said the same.
                least = more * (joint + (1 - more) * apart)
                total += np.maximum(square, least / (n + _MORE_PEOPLE))
        return np.sqrt(total)

    def _sides(self, sums: FloatArray) -> tuple[tuple[FloatArray, FloatArray, FloatArray], ...]:
        """What `_means` says of each compared group, and of the others."""
        own = sums[:, self.compared]
        sizes = self.design.sizes[self.compared][:, np.newaxis]
        others = sums.sum(axis=1)[:, np.newaxis] - own
        return self._means(own, sizes), self._means(others, len(self.values) - sizes)

    def _means(self, sums: FloatArray, sizes: IntArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Means, their squared errors, and the sums of squared weights that these are proportional to."""
        weight, total, squares, *rest = np.split(sums, self.splits, axis=-1)
        squared_weight, squared_total = rest if rest else (weight, total)
        counted = sizes if rest else np.round(weight)
        with np.errstate(divide="ignore", invalid="ignore"):
            mean = total / weight
            spread = squares - 2 * mean * squared_total + mean**2 * squared_weight
            error = np.maximum(spread, 0) / weight**2 * counted / (counted - 1)
            enough = (counted > 1) & (weight > _ROUNDING)
            return np.where(enough, mean, np.nan), error, squared_weight / weight**2

    def ratios(self, sums: FloatArray) -> FloatArray:
        """Absolute differences divided by their errors, 0 where unknown: (n_arrangements, n_compared, c)."""
        difference, error = self.differences(sums)
        known = np.isfinite(difference) & (error > 0)
        return np.abs(np.divide(difference, error, out=np.zeros_like(difference), where=known))

    def strata_factors(self) -> FloatArray:
        """What differences of centered values have to be divided by to be those within strata; 1 without strata."""
        design = self.design
        starts, weights = design.starts[:-1], design.weights[:, np.newaxis] * self.known
        total = np.add.reduceat(weights, starts, axis=0)
        factors = []
        for group in self.compared:
            own = np.add.reduceat(weights * (design.labels == group)[:, np.newaxis], starts, axis=0)
            with np.errstate(divide="ignore", invalid="ignore"):
                crossed = np.where(total > 0, own * (total - own) / total, 0.0).sum(axis=0)
                sides = own.sum(axis=0) * (total - own).sum(axis=0)
                factors.append(np.where(crossed > _ROUNDING, crossed * total.sum(axis=0) / sides, np.nan))
        return np.broadcast_to(np.array(factors), (len(self.compared), self.values.shape[1]))

    def found(
        self, observed: FloatArray, maxima: FloatArray, exact: bool, level: float, **names: Any
    ) -> GroupDifferences:
        """The differences, from the sums of the groups and the largest ratio of each in each arrangement."""
        from scipy.special import stdtrit

        design, groups, is_item = self.design, names["groups"], names["what"] == "item"
        difference, error = (array[0] for array in self.differences(observed))
        ratio = self.ratios(observed)[0]
        # The arrangement that was seen is one of them.
        largest = maxima if exact else np.vstack([maxima, ratio.max(axis=1)])
        seldom = _seldom_exceeded(largest)
        scaled = ratio / seldom[:, np.newaxis]
        law = _LargestRatios((largest / seldom).max(axis=1), float(scaled.max()))
        p_value, critical = law.p_value(scaled), law.critical(1 - level) * seldom[:, np.newaxis]
        factor = self.strata_factors()
        n, n_strata = len(self.values), design.n_strata
        careful = self.careful_error(observed)[0]
        # Arrangements of unanimous groups say how far a difference is from 0, not how far it may be from the truth.
        usual = float(stdtrit(max(n - 2, 1), (1 + level) / 2))
        with np.errstate(invalid="ignore"):
            half = np.where(careful > error, np.maximum(critical, usual) * careful, critical * error)
            error = np.fmax(error, careful)
            low, high = ((difference + side * half) / factor for side in (-1, 1))
            # No difference can be larger than that of the best and the last place, or of all and none.
            widest = self.values.shape[1] - 1.0 if is_item else 1.0
            low, high = np.clip(low, -widest, widest), np.clip(high, -widest, widest)
            low, high = (np.where(error > _ROUNDING, end, np.nan) for end in (low, high))
            error = error * np.sqrt(max(n - 2, 1) / max(n - n_strata - 1, 1) / factor)
        unknown = np.isnan(difference / factor)
        weights = design.weights[:, np.newaxis]
        means = []
        for group in range(design.n_groups):
            rows = design.labels == group
            known = ~np.isnan(self.values[rows])
            weight = (weights[rows] * known).sum(axis=0)
            total = (weights[rows] * np.where(known, self.values[rows], 0.0)).sum(axis=0)
            means.append(np.divide(total, weight, out=np.full(weight.shape, np.nan), where=weight > 0))
        probability = np.array([self._probability_of_less(group) for group in self.compared]) if is_item else None
        two = design.n_groups == 2
        return GroupDifferences(
            compared=tuple(groups[:1]) if two else tuple(groups),
            against=tuple(groups[1:]) if two else ("the others",) * len(groups),
            mean=np.array(means),
            difference=difference / factor,
            standard_error=np.where(unknown, np.nan, error),
            low=low,
            high=high,
            p_value=np.where(unknown, np.nan, p_value),
            probability=probability,
            level=level,
            **names,
        )

    def _probability_of_less(self, group: int) -> FloatArray:
        """For each column, the probability of a smaller value in the group than in the others of the same stratum.

        Strata count by the harmonic mean of the weights of both sides, as in the differences.
        """
        design = self.design
        inside = design.labels == group
        found = []
        for values in self.values.T:
            rows = np.flatnonzero(~np.isnan(values))
            order = rows[np.lexsort((np.round(values[rows], 9), design.strata[rows]))]
            stratum, value = design.strata[order], np.round(values[order], 9)
            new = np.append(True, (np.diff(stratum) > 0) | (np.diff(value) > 0)) if len(order) else np.zeros(0, bool)
            level = np.cumsum(new) - 1
            own, others = (np.bincount(level, design.weights[order] * side[order]) for side in (inside, ~inside))
            of = stratum[new]
            n_strata = design.n_strata
            weight_own, weight_others = (np.bincount(of, side, minlength=n_strata) for side in (own, others))
            above = np.bincount(of, minlength=n_strata)
            running = np.cumsum(others)
            before = running - np.repeat(np.append(0.0, running)[np.cumsum(above) - above], above)
            wins = np.bincount(of, own * (weight_others[of] - before + others / 2), minlength=n_strata)
            both = weight_own + weight_others
            counted = (weight_own > 0) & (weight_others > 0)
            share = np.divide(1.0, both, out=np.zeros(n_strata), where=counted)
            total = float((weight_own * weight_others * share).sum())
            found.append(float((wins * share).sum()) / total if total > 0 else np.nan)
        return np.array(found)


def _seldom_exceeded(largest: FloatArray) -> FloatArray:
    """For each group, a ratio that chance seldom exceeds, from the largest ones in (n_arrangements, n_compared)."""
    n, n_compared = largest.shape
    # Not the very largest, which may be the one that was seen.
    found = np.quantile(largest, 1 - min(1.0, max(_SELDOM / n_compared, 2 / n)), axis=0)
    return np.where(found > 0, found, 1.0)


class _LargestRatios:
    """The largest scaled ratio of each arrangement, the one that was seen among them: what chance makes somewhere."""

    def __init__(self, ratios: FloatArray, seen: float) -> None:
        self.sorted, self.seen = np.sort(ratios), seen

    def p_value(self, ratio: FloatArray) -> FloatArray:
        """Mid-p: others with as large a ratio count half, and the one that was seen whole; 1 where nothing differs."""
        n = len(self.sorted)
        larger = n - np.searchsorted(self.sorted, ratio * (1 + _ROUNDING), side="right")
        as_large = n - np.searchsorted(self.sorted, ratio * (1 - _ROUNDING), side="left")
        mid = (larger + as_large + (ratio >= self.seen * (1 - _ROUNDING))) / (2 * n)
        found: FloatArray = np.where(ratio > 0, mid, 1.0)
        return found

    def critical(self, alpha: float) -> float:
        """The ratio beyond which p-values are at most alpha; NaN if there are too few arrangements for any."""
        n, alpha = len(self.sorted), alpha * (1 + _ROUNDING)
        if alpha * n < 1:
            return float("nan")
        small = np.flatnonzero(self.p_value(self.sorted) <= alpha)
        first = int(small[0]) if len(small) else n
        if n - first > alpha * n:  # counted whole, those with just this ratio would be too many
            return float(self.sorted[first]) * (1 - 2 * _ROUNDING)
        return float(self.sorted[first - 1]) * (1 + 2 * _ROUNDING)


class Pair(NamedTuple):
    """Two items, of which the share that puts the first before the second is compared."""

    first: Hashable
    second: Hashable


def _or_none(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
