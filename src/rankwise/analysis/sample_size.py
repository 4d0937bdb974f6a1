"""How many people to ask: `sample_size`, for the precision of places, the winner, or the comparison of two groups.

Mean ranks have formulas; winners and whole distributions are simulated, and their table says how exact that is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil, inf, log
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

import numpy as np

from rankwise._tables import TextTable, counted, make_frame
from rankwise._typing import ArrayLike, FloatArray, IntArray, RandomState
from rankwise._validation import (
    check_choice,
    check_generator,
    check_open_share,
    check_real_number,
    check_whole_number,
)
from rankwise.aggregation import sample_mallows
from rankwise.analysis import item_ranks_jit
from rankwise.analysis.base import Result, rankings_of
from rankwise.analysis.group_design import compared_people
from rankwise.analysis.group_features import kernel_vectors
from rankwise.analysis.group_permutations import Design
from rankwise.kernels.kendall_gram import mean_signs

SampleGoal: TypeAlias = Literal["places", "winner", "difference", "groups"]

_FIRST_SIZE = 10
_STEP = 1.5
# Simulations of more people, or of laws that are nearly even, take too long.
_MOST_SIMULATED = 5_000
_MOST_PEOPLE = 100_000_000
_SIMULATED_PERMUTATIONS = 199
_DRAWS = 1 << 20
_RUNS = {"winner": 1000, "groups": 300}


@dataclass(frozen=True, eq=False, repr=False)
class SampleSize(Result):
    """How many people are needed; made by `sample_size`.

    Attributes
    ----------
    goal : {"places", "winner", "difference", "groups"}
        What they are needed for.
    n : int or None
        How many people, in each of two groups where groups are compared; None if it is more than could be simulated.
    per_group : bool
        Whether ``n`` counts the people of one of two groups.
    how : {"formula", "simulation"}
        Where it comes from.
    target : float
        What was asked for: the half width of intervals, or the probability.
    sizes : ndarray of shape (n_sizes,)
        Numbers of people, from few to many.
    values : ndarray of shape (n_sizes,)
        What each gives: half width of the interval of a mean rank for "places", otherwise the probability of success.
    standard_error : ndarray of shape (n_sizes,)
        Of simulated probabilities; NaN for formulas.
    level : float
        Level of the intervals, or one less that of the tests.
    assumption : str
        What was assumed about how people rank.
    """

    goal: str
    n: int | None
    per_group: bool
    how: str
    target: float
    sizes: IntArray
    values: FloatArray
    standard_error: FloatArray
    level: float
    assumption: str

    @property
    def sentence(self) -> str:
        """The result in plain words."""
        many = "people in each group" if self.per_group else "people"
        # A simulation starts with some people, who may be more than enough.
        at_once = self.how == "simulation" and self.n == self.sizes[0]
        reached = self.values[0] if at_once else self.target
        aim = {
            "places": f"every mean rank is known to within {self.target:g} places ({100 * self.level:g}% intervals)",
            "winner": f"the best item comes out first with a probability of {reached:.0%}",
            "difference": f"the difference is found with a probability of {self.target:.0%}, corrected for all items",
            "groups": f"the test of equal distributions finds the difference with a probability of {reached:.0%}",
        }[self.goal]
        if self.n is None:
            return f"More than {self.sizes[-1]:,} {many} are needed so that {aim}."
        if at_once:
            return f"{self.n:,} {many} (fewer were not tried) suffice: {aim}."
        return f"With {self.n:,} {many}, {aim}."

    def to_frame(self, backend: str | None = None) -> Any:
        """A data frame with a row per number of people, of pandas by default, else of the named backend.

        Columns: ``n``, ``half_width`` or ``probability``, and ``standard_error``.
        """
        name = "half_width" if self.goal == "places" else "probability"
        return make_frame({"n": self.sizes, name: self.values, "standard_error": self.standard_error}, backend)

    def as_dict(self) -> dict[str, Any]:
        """The numbers for JSON; None where one is not known."""
        facts = {name: getattr(self, name) for name in ("goal", "n", "per_group", "how", "target", "level")}
        name = "half_width" if self.goal == "places" else "probability"
        table = [
            {"n": int(n), name: float(value), "standard_error": None if np.isnan(error) else float(error)}
            for n, value, error in zip(self.sizes, self.values, self.standard_error, strict=True)
        ]
        return {**facts, "assumption": self.assumption, "table": table}

    def tables(self) -> list[TextTable]:
        """The table over numbers of people, below the answer."""
        shown = ".2f" if self.goal == "places" else ".0%"
        columns = ["people in each group" if self.per_group else "people"]
        columns += ["half width in places"] if self.goal == "places" else ["probability"]
        columns += ["standard error"] if self.how == "simulation" else []
        rows = [
            [f"{n:,}", format(value, shown), *([f"{error:.1%}"] if self.how == "simulation" else [])]
            for n, value, error in zip(self.sizes, self.values, self.standard_error, strict=True)
        ]
        return [TextTable("Sample size", f"{self.sentence} By {self.how}; {self.assumption}.", columns, rows)]


def sample_size(
    n_items: int | None = None,
    *,
    goal: SampleGoal = "places",
    theta: float | None = None,
    pilot: ArrayLike | None = None,
    by: Any = None,
    precision: float = 0.5,
    difference: float = 1.0,
    power: float = 0.8,
    level: float = 0.95,
    population: int | None = None,
    n_runs: int | None = None,
    random_state: RandomState = None,
) -> SampleSize:
    r"""Say how many people are needed, before they are asked.

    *Definition.* "places": the half width of the interval of a mean rank, :math:`t_{n-1} \sigma / \sqrt n`, is at most
    ``precision`` for every item. "winner": the item of the best mean rank is the truly best one with probability
    ``power``. "difference": a difference of ``difference`` places between the mean ranks of two groups of n people is
    found with probability ``power`` by a t-test whose level is divided by the number of items. "groups": the test of
    `compare_groups` finds the difference of two groups of n people with probability ``power``. :math:`\sigma` is the
    standard deviation of the rank of the item for which it is largest. The first and the third are formulas, the
    others are simulated.

    Parameters
    ----------
    n_items : int, optional
        Number of items; not needed with ``pilot``.
    goal : {"places", "winner", "difference", "groups"}, default="places"
        What the people are needed for.
    theta : float, optional
        People are expected to rank by a Mallows model of this concentration: 0 is any order, as likely as any other
        (the default for "places" and "difference"); with 1, and two items, 73% of the people put the better one first.
    pilot : array-like of shape (n_rankings, n_items), Rankings or Survey, optional
        Rankings of a pilot study, of any kind; people are expected to rank like these. Fewer than about 30 make the
        answer uncertain.
    by : array-like or str, optional
        The groups of the pilot, as in `compare_groups`, for "groups".
    precision : float, default=0.5
        Half width of intervals in places.
    difference : float, default=1.0
        Places between two groups: of mean ranks for "difference"; for "groups" without a pilot, by how many places the
        first item of the joint order is moved down in that of the second group, a whole number.
    power : float, default=0.8
        Probability of success.
    level : float, default=0.95
        Level of intervals; tests have the level 1 - ``level``.
    population : int, optional
        Number of people in all, of whom some are drawn without replacement; for "places". Fewer are needed if it is
        small.
    n_runs : int, optional
        Simulations for each number of people; by default 1000 for "winner" and 300 for "groups".
    random_state : None, int, Generator or RandomState
        Source of the random numbers of simulations.

    Returns
    -------
    SampleSize

    See Also
    --------
    compare_groups : The comparison itself.
    summary : Mean ranks with their intervals.

    References
    ----------
    Cochran (1977), Sampling techniques, chapter 4. Cohen (1988), Statistical power analysis for the behavioral
    sciences, chapter 2. Doignon, Pekec, Regenwetter (2004), The repeated insertion model for rankings, Psychometrika
    69.

    Examples
    --------
    >>> from rankwise.analysis import sample_size
    >>> sample_size(8, precision=0.25).n
    326
    >>> sample_size(8, goal="difference", difference=0.5, theta=0.3).n
    473
    """
    check_choice("goal", goal, get_args(SampleGoal))
    check_open_share("level", level)
    check_open_share("power", power)
    check_real_number("difference", difference)
    if not precision > 0:
        raise ValueError(f"precision is {precision}; give the half width of an interval in places, such as 0.5")
    if population is not None and goal != "places":
        raise ValueError(f"population is of use for goal='places' only, but goal is {goal!r}")
    if n_runs is not None:
        check_whole_number("n_runs", n_runs, at_least=10)
    rng = check_generator(random_state, "sample_size")
    law = _law(n_items, goal, theta, pilot, by, difference)
    _check_possible(law, goal, precision, difference)
    simulated = goal in _RUNS
    runs = n_runs or _RUNS.get(goal, 0)
    n: int | None
    if goal == "places":
        n, sizes, values = _precision(law.largest_spread, precision, level, population)
    elif goal == "difference":
        if difference == 0:
            raise ValueError("difference is 0, and no number of people finds that; give the places that matter")
        n, sizes, values = _power(law.largest_spread, difference, power, (1 - level) / law.n_items)
    else:

        def share_of_success(size: int) -> float:
            if goal == "winner":
                return _share_of_right_winners(law, size, runs, rng)
            return _share_of_differences_found(law, size, runs, 1 - level, rng)

        n, sizes, values = _search(share_of_success, power)
    errors = np.sqrt(np.clip(values * (1 - values), 0, None) / runs) if simulated else np.full(len(values), np.nan)
    return SampleSize(
        goal=goal,
        n=n,
        per_group=goal in ("difference", "groups"),
        how="simulation" if simulated else "formula",
        target=float(precision if goal == "places" else power),
        sizes=sizes,
        values=values,
        standard_error=errors,
        level=float(level),
        assumption=law.assumption,
    )


class _Law(NamedTuple):
    """How people are expected to rank: means and variances of the ranks of items, and draws of rankings."""

    n_items: int
    mean: FloatArray
    variance: FloatArray
    draw: Callable[[int, int, np.random.Generator], FloatArray]  # of a number of people of the first or second group
    assumption: str

    @property
    def largest_spread(self) -> float:
        return float(np.sqrt(self.variance.max()))


def _check_possible(law: _Law, goal: str, precision: float, difference: float) -> None:
    """Refuse what no number of people could show, or any number does."""
    widest = law.n_items - 1
    if goal == "difference" and difference > widest:
        raise ValueError(
            f"difference is {difference:g} places, but mean ranks of {law.n_items} items differ by {widest} at most; "
            "give a smaller one"
        )
    if goal == "places" and precision >= widest / 2:
        raise ValueError(
            f"precision is {precision:g} places, but the places of {law.n_items} items are all within {widest / 2:g} "
            "of their middle, so that nobody has to be asked; give a smaller one"
        )
    if goal in ("places", "difference", "groups") and law.largest_spread == 0:
        raise ValueError(
            "all people of the pilot rank alike, so that it does not say how people vary; give n_items and theta "
            "instead"
        )


def _law(n_items: Any, goal: str, theta: Any, pilot: Any, by: Any, difference: float) -> _Law:
    """What is assumed, from a pilot study or a Mallows model."""
    if pilot is not None:
        if theta is not None or n_items is not None:
            raise ValueError("pilot says how people rank; give either pilot, or n_items and theta")
        return _law_of_pilot(pilot, goal, by)
    if n_items is None:
        raise ValueError("give the number of items, as in sample_size(8), or rankings of a pilot study as pilot")
    k = check_whole_number("n_items", n_items, at_least=2)
    if by is not None:
        raise ValueError("by says who is in which group of a pilot; give pilot too")
    concentration = 0.0 if theta is None else check_real_number("theta", theta, infinite=False)
    if goal in ("winner", "groups") and not concentration > 0:
        raise ValueError(
            f"goal={goal!r} needs to know how people rank: give theta, such as 0.3, or rankings of a pilot study as "
            "pilot"
        )
    center = np.arange(1.0, k + 1)
    centers = [center, center]
    if goal == "groups":
        places = int(difference)
        if places != difference or not 1 <= places < k:
            raise ValueError(
                f"difference is {difference:g}, but the first of {k} items can be moved by 1 to {k - 1} places; give a "
                "whole number of these"
            )
        other = center.copy()
        other[0] = 1 + places
        other[1 : places + 1] -= 1
        centers = [center, other]
    places_of_items = mallows_places(k, concentration)
    mean = places_of_items @ center
    variance = places_of_items @ center**2 - mean**2
    how = "any order is as likely as any other" if concentration == 0 else f"Mallows model of theta {concentration:g}"
    moved = (
        f", the first item {counted(int(difference), 'place')} lower in the second group" if goal == "groups" else ""
    )
    return _Law(
        k,
        mean,
        variance,
        lambda n, group, rng: sample_mallows(centers[group], concentration, n, rng),
        f"assumed: {how}{moved}",
    )


def _law_of_pilot(pilot: Any, goal: str, by: Any) -> _Law:
    """People rank like those of a pilot study, who are drawn with replacement."""
    if goal == "groups":
        people = compared_people(pilot, by)
        if len(people.groups) != 2:
            raise ValueError(f"the pilot has {len(people.groups)} groups; power is computed for two, so choose two")
        positions, labels = people.rankings.positions, people.design.labels
        weights = people.design.weights
        parts = [np.flatnonzero(labels == group) for group in range(2)]
    else:
        if by is not None:
            raise ValueError(f"by is of use for goal='groups' only, but goal is {goal!r}")
        rankings = rankings_of(pilot)
        positions, weights = rankings.positions, rankings.weights
        parts = [np.arange(len(rankings))] * 2
    ranks, sizes, *_ = item_ranks_jit.rank_items(positions, weights)
    ranks = ranks * ((positions.shape[1] + 1) / (sizes + 1))[:, np.newaxis]
    known = ~np.isnan(ranks) & (weights > 0)[:, np.newaxis]
    if (known.sum(axis=0) < 2).any():
        item = int(np.argmin(known.sum(axis=0)))
        raise ValueError(f"item {item} of the pilot has fewer than two ranks; leave it out, or ask more people")
    weight = weights[:, np.newaxis] * known
    filled = np.where(known, ranks, 0.0)
    mean = (weight * filled).sum(axis=0) / weight.sum(axis=0)
    n_known = known.sum(axis=0)
    variance = (weight * (filled - mean) ** 2).sum(axis=0) / weight.sum(axis=0) * n_known / (n_known - 1)

    def draw(n: int, group: int, rng: np.random.Generator) -> FloatArray:
        rows = parts[group]
        drawn = positions[rng.choice(rows, size=n, p=weights[rows] / weights[rows].sum())]
        return np.asarray(drawn, dtype=np.float64)

    who = counted(len(positions), "person", "people")
    return _Law(positions.shape[1], mean, variance, draw, f"assumed: people rank like the {who} of the pilot")


def mallows_places(k: int, theta: float) -> FloatArray:
    """Probability of item i (row) at place j + 1 (column) by a Mallows model, items in the order of the center.

    Items are inserted one after another: the t-th above s of those before it with a weight of exp(-theta s), and these
    move down one place.
    """
    places = np.zeros((k, k))
    for t in range(k):
        at = np.exp(-theta * np.arange(t, -1, -1))
        at /= at.sum()
        above = np.cumsum(at)[:t]  # the new item comes in at this place or above
        earlier = places[:t, :t].copy()
        places[:t, :t] = earlier * (1 - above)
        places[:t, 1 : t + 1] += earlier * above
        places[t, : t + 1] = at
    return places


def _precision(
    spread: float, precision: float, level: float, population: int | None
) -> tuple[int, IntArray, FloatArray]:
    """The smallest number of people of whom intervals are narrow enough, and a table around it."""
    from scipy.special import stdtrit

    total = inf if population is None else check_whole_number("population", population, at_least=2)

    def half_width(n: int) -> float:
        drawn = 0.0 if n >= total else 1 - n / total if total < inf else 1.0
        return float(stdtrit(n - 1, (1 + level) / 2) * spread * np.sqrt(drawn / n))

    n = _smallest(lambda size: half_width(size) <= precision, int(min(total, _MOST_PEOPLE)))
    if n is None:
        raise ValueError(f"precision {precision:g} takes more than {_MOST_PEOPLE:,} people; give a larger one")
    sizes = _around(n, total)
    return n, sizes, np.array([half_width(int(size)) for size in sizes])


def _power(spread: float, difference: float, power: float, alpha: float) -> tuple[int, IntArray, FloatArray]:
    """The smallest size of two groups whose difference a t-test finds, and a table around it."""
    from scipy.special import nctdtr, ndtr, stdtrit

    def probability(n: int) -> float:
        freedom, shift = 2 * n - 2, abs(difference) / (max(spread, 1e-12) * np.sqrt(2 / n))
        critical = stdtrit(freedom, 1 - alpha / 2)
        chance = 1 - nctdtr(freedom, shift, critical) + nctdtr(freedom, shift, -critical)
        # The series ends in NaN for many people, where the normal law is as good.
        return float(chance if np.isfinite(chance) else ndtr(shift - critical) + ndtr(-shift - critical))

    n = _smallest(lambda size: probability(size) >= power, _MOST_PEOPLE)
    if n is None:
        raise ValueError(f"a difference of {difference:g} places takes more than {_MOST_PEOPLE:,} people to find")
    sizes = _around(n, inf)
    return n, sizes, np.array([probability(int(size)) for size in sizes])


def _smallest(is_enough: Callable[[int], bool], most: int) -> int | None:
    """The smallest number from 2 on that is enough, if larger ones are, too."""
    high = 2
    while not is_enough(high):
        if high >= most:
            return None
        high = min(2 * high, most)
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return high


def _around(n: int, total: float) -> IntArray:
    """Numbers of people around n for a table."""
    sizes = {max(2, round(n * factor)) for factor in (0.25, 0.5, 0.75, 1, 1.5, 2, 4)}
    return np.array(sorted(size for size in sizes if size <= total))


def _search(share_of_success: Callable[[int], float], target: float) -> tuple[int | None, IntArray, FloatArray]:
    """Simulate more and more people until enough runs succeed, then once in between."""
    found: dict[int, float] = {}
    size, before = _FIRST_SIZE, None
    while True:
        found[size] = share_of_success(size)
        if found[size] >= target or size >= _MOST_SIMULATED:
            break
        before, size = size, min(_MOST_SIMULATED, ceil(_STEP * size))
    n: int | None = size if found[size] >= target else None
    if n is not None and before is not None:
        rise = (target - found[before]) / (found[size] - found[before])
        between = ceil(np.exp(log(before) + rise * (log(size) - log(before))))
        if before < between < size:
            found[between] = share_of_success(between)
            n = between if found[between] >= target else size
    sizes = np.array(sorted(found))
    return n, sizes, np.array([found[one] for one in sizes.tolist()])


def _share_of_right_winners(law: _Law, n: int, n_runs: int, rng: np.random.Generator) -> float:
    """Share of samples whose best mean rank is that of the truly best item; items that share it share the win."""
    k, best = law.n_items, int(np.argmin(law.mean))
    share, height = 0.0, max(1, _DRAWS // (n * k))
    for first in range(0, n_runs, height):
        runs = min(height, n_runs - first)
        positions = law.draw(runs * n, 0, rng)
        ranks, sizes, *_ = item_ranks_jit.rank_items(positions, np.ones(len(positions)))
        ranks = (ranks * ((k + 1) / (sizes + 1))[:, np.newaxis]).reshape(runs, n, k)
        known = ~np.isnan(ranks)
        counts = known.sum(axis=1)
        means = np.divide(
            np.where(known, ranks, 0.0).sum(axis=1), counts, out=np.full(counts.shape, np.inf), where=counts > 0
        )
        first_place = means <= means.min(axis=1, keepdims=True) + 1e-9
        share += float((first_place[:, best] / first_place.sum(axis=1)).sum())
    return share / n_runs


def _share_of_differences_found(law: _Law, n: int, n_runs: int, alpha: float, rng: np.random.Generator) -> float:
    """Share of pairs of groups that the permutation test of equal distributions finds different."""
    design = Design(np.repeat([0, 1], n), np.array([0, 2 * n]), np.ones(2 * n))
    found = 0
    for _ in range(n_runs):
        positions = np.vstack([law.draw(n, group, rng) for group in range(2)])
        vectors = design.centered(kernel_vectors(mean_signs(positions), positions, "mallows", rng))
        blocks = [design.labels[np.newaxis], *design.random_arrangements(_SIMULATED_PERMUTATIONS, rng)]
        # Of two groups of one size, the distance of one mean from the joint one says all.
        statistics = np.concatenate([np.square(design.sums(block, vectors)[:, 0]).sum(axis=1) for block in blocks])
        reached = np.count_nonzero(statistics[1:] >= statistics[0] - 1e-9 * statistics.max())
        found += bool((1 + reached) / (1 + _SIMULATED_PERMUTATIONS) <= alpha + 1e-9)
    return found / n_runs
