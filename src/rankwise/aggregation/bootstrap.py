"""How sure a consensus is: the bootstrap of the places of items, and of who comes before whom.

`bootstrap_consensus` resamples the rankings and solves each resample; the plots, the analysis and the command line show
what it returns.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, TypeAlias

import numpy as np

from rankwise._decode import ConsensusRule
from rankwise._memory import check_memory_of_pairs
from rankwise._progress import track
from rankwise._sklearn import gen_batches
from rankwise._tables import TextTable, make_frame, name_column, visible
from rankwise._typing import ArrayLike, FloatArray, RandomState
from rankwise._validation import (
    check_choice,
    check_generator,
    check_n_jobs,
    check_open_share,
    check_whole_number,
    shortlist,
    weights_count_people,
)
from rankwise.aggregation._resamples import MAJORITY_RULES, Resampler, called, differences_of_scores, solver_of
from rankwise.aggregation.base import weighted_rankings
from rankwise.aggregation.kemeny_result import Consensus
from rankwise.aggregation.pairs import preference_matrix
from rankwise.aggregation.place_intervals import PairDeviations, places_of
from rankwise.aggregation.rules import CONSENSUS_RULES
from rankwise.data import Rankings, check_positions

Generators: TypeAlias = Sequence[np.random.Generator]

# One thread takes a block of this many resamples at a time, and fewer where there are very many items. The size depends
# on the number of items alone, so that sums are added in the same order for every n_jobs.
_BLOCK, _BLOCK_ENTRIES = 64, 20_000_000
# Matrices of pairs and places that are held at the same time.
_MATRICES = 14
# Counting this many pairs takes about a minute; what would take more than ten minutes is refused.
_COUNTED_A_MINUTE, _MOST_MINUTES = 2e11, 10
# For the consensus of all rankings: where optimality is hard to prove, the places are uncertain anyway.
_SECONDS_OF_SEARCH = 10.0
_ROUNDING = 1e-9
_SHOWN_ITEMS = 30
_COLUMNS = ("item", "position", "interval", "before the next")


@dataclass(frozen=True, eq=False, repr=False)
class BootstrapConsensus:
    """A consensus, and how it varies from resample to resample; made by `bootstrap_consensus`.

    Attributes
    ----------
    items : tuple
        Names of the items.
    positions : ndarray of shape (n_items,)
        The consensus of the rankings themselves, 1 = best.
    low, high : ndarray of shape (n_items,)
        Ends of the interval of places of each item; ``low`` is the better one. Tied items fill several places: two
        items that share the first place are followed by the third.
    intervals_from : {"majorities", "scores", "percentiles"}
        What the intervals are made of, see `bootstrap_consensus`. Those from majorities and scores are conservative;
        those from percentiles say how much the places vary, and may be too short where items are nearly equal.
    before : ndarray of shape (n_items, n_items)
        Share of the resamples whose consensus has item i (row) before item j (column), ties counted half: the two
        sides of a pair add up to 1, and the diagonal is 1/2.
    distribution : ndarray of shape (n_items, n_items)
        Share of the resamples in which item i (row) is at place j + 1 (column). Tied items share their places
        equally. Rows and columns add up to 1.
    level : float
        The level of the intervals.
    n_resamples : int
        Number of resamples.
    weights_are : {"equal", "counts", "survey"}
        Whether all weights are 1, count people, who are drawn one by one, or are survey weights, which stay with their
        rankings.
    redrawn : int
        Number of resamples that lacked an item and were drawn again; if there are many, some items occur in too few
        rankings for reliable intervals.
    intervals : tuple of str
        The intervals as text, such as "1-3", or "2" for a single place.
    """

    items: tuple[Hashable, ...]
    positions: FloatArray
    low: FloatArray
    high: FloatArray
    before: FloatArray
    distribution: FloatArray
    level: float
    n_resamples: int
    redrawn: int
    intervals_from: str = "percentiles"
    weights_are: str = "equal"

    @cached_property
    def intervals(self) -> tuple[str, ...]:
        """The intervals as text: "1-3", or "2" for a single place."""
        ends = zip(self.low, self.high, strict=True)
        return tuple(f"{low:.0f}" if low == high else f"{low:.0f}-{high:.0f}" for low, high in ends)

    def to_frame(self, backend: str | None = None) -> Any:
        """A data frame with a row per item, best first: ``item``, ``position``, ``low``, ``high``, ``before_next``.

        The last column is the share of the resamples with the item before that of the next row, NaN in the last row.
        The frame is of pandas by default, else of the named backend ("pandas", "polars" or "pyarrow").
        """
        order = np.argsort(self.positions, kind="stable")
        columns = {
            "item": name_column([self.items[i] for i in order]),
            "position": self.positions[order].astype(np.intp),
            "low": self.low[order].astype(np.intp),
            "high": self.high[order].astype(np.intp),
            "before_next": np.append(self.before[order[:-1], order[1:]], np.nan),
        }
        return make_frame(columns, backend)

    def __repr__(self) -> str:
        table = [_COLUMNS, *self._rows()]
        widths = [max(len(row[column]) for row in table) for column in range(4)]
        lines = [
            f"  {row[0]:<{widths[0]}}  {row[1]:>{widths[1]}}  {row[2]:>{widths[2]}}  {row[3]:>{widths[3]}}".rstrip()
            for row in table
        ]
        rest = [f"  {self._rest()}"] if self._rest() else []
        return visible("\n".join([self._heading(), *lines, *rest]))

    def _repr_html_(self) -> str:
        return TextTable(self._heading(), self._rest(), _COLUMNS, self._rows())._repr_html_()

    def _heading(self) -> str:
        kind = "of resampled places" if self.intervals_from == "percentiles" else "conservative"
        weights = {"equal": "", "counts": ", weights count people", "survey": ", survey weights"}[self.weights_are]
        return f"BootstrapConsensus: {self.n_resamples:,} resamples, {100 * self.level:g}% intervals ({kind}){weights}"

    def _rows(self) -> list[tuple[str, str, str, str]]:
        """The first items, best first, as text."""
        order = np.argsort(self.positions, kind="stable")
        rows = []
        for place, i in enumerate(order[:_SHOWN_ITEMS]):
            ahead = f"{100 * self.before[i, order[place + 1]]:.0f}%" if place + 1 < len(order) else ""
            rows.append((str(self.items[i]), f"{self.positions[i]:.0f}", self.intervals[i], ahead))
        return rows

    def _rest(self) -> str:
        return f"... and {len(self.items) - _SHOWN_ITEMS:,} more" if len(self.items) > _SHOWN_ITEMS else ""


def bootstrap_consensus(
    rankings: ArrayLike,
    decode: ConsensusRule | Callable[[Rankings], Any] = "kemeny",
    *,
    consensus: Consensus | ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    weight_kind: Literal["auto", "counts", "survey"] = "auto",
    n_resamples: int = 1000,
    level: float = 0.95,
    interval: Literal["confidence", "percentile"] = "confidence",
    random_state: RandomState = None,
    n_jobs: int | None = None,
) -> BootstrapConsensus:
    """Bootstrap a consensus: an interval of places for each item, and how surely one comes before another.

    *Definition.* A resample consists of as many rankings as there are, drawn from them with replacement; one in which
    some item is compared with no other is drawn again. The confidence interval of an item runs from 1 + the number of
    items clearly ahead of it to the last place not held by an item clearly behind it. Ahead and behind are clear where
    a majority (for "kemeny", "copeland", "schulze", "mallows"), else a difference of scores ("borda",
    "plackett-luce", functions whose result has ``scores``) differs from 0 in a test of all differences of the item
    together, by the resampled distribution of the largest studentized one, with stepdown.

    Parameters
    ----------
    rankings : array-like of shape (n_rankings, n_items) or Rankings
        Positions, 1 = best, of any kind.
    decode : {"kemeny", "borda", "copeland", "copeland-or-borda", "schulze", "mallows", "plackett-luce"} or callable, \
default="kemeny"
        The consensus rule. A callable takes Rankings and returns positions (or an object with ``positions``), such as
        ``lambda rankings: PlackettLuce(alpha=0.1).fit(rankings).mode()``; it is called for every resample, from several
        threads if ``n_jobs`` says so. The first three names are much faster than the others and than functions, because
        the pairs of all resamples are counted at once. With "kemeny", resamples whose majorities form cycles of more
        than 12 items are searched without a proof, and chance decides between orders that are equally good.
    consensus : Consensus or array-like of shape (n_items,), optional
        The consensus of the rankings themselves, if it has been found before: a `Consensus` or positions. By default
        it is found by ``decode``, with "kemeny" within ten seconds. A warning says if it lies outside the intervals.
    sample_weight : array-like of shape (n_rankings,), optional
        By default the weights of the Rankings, otherwise ones.
    weight_kind : {"auto", "counts", "survey"}, default="auto"
        What the weights are. Counts are numbers of people, and that many are drawn; survey weights stay with their
        rankings, which are drawn as units. By default whole numbers count people, and others are survey weights.
    n_resamples : int, default=1000
        Number of resamples.
    level : float, default=0.95
        Level of the intervals: the least probability that the confidence interval of an item holds its true place, or
        the least share of the resamples that a percentile interval holds.
    interval : {"confidence", "percentile"}, default="confidence"
        Intervals as defined above, or the places in the consensus of the resamples except for the outer
        ``(1 - level) / 2`` on each side. Functions without scores have percentile intervals only.
    random_state : None, int, Generator or RandomState
        Source of the random numbers.
    n_jobs : int, optional
        Number of threads; -1 uses all processors. The result does not depend on it.

    Returns
    -------
    BootstrapConsensus

    Notes
    -----
    Intervals are for one item at a time, and conservative: places are whole numbers, so an interval of 95% holds the
    true place more often, in simulations from 97% to always. Percentile intervals are shorter. Where items differ
    clearly they hold the true place as often, but where items are nearly equal far less often (80% in a simulation
    with 10 items), because an item that is second by chance is second in most resamples, too.

    If the majorities of the population run in a circle, an interval from majorities is about the items that beat an
    item, and it is widened to hold the place in the consensus.

    References
    ----------
    Mogstad, Romano, Shaikh, Wilhelm (2024), Inference for ranks with applications to mobility across neighbourhoods
    and academic achievement across countries, Review of Economic Studies 91.
    Hall, Miller (2009), Using the bootstrap to quantify the authority of an empirical ranking, Annals of Statistics 37.

    Examples
    --------
    >>> from rankwise.aggregation import bootstrap_consensus
    >>> bootstrap_consensus([[1, 2, 3], [1, 3, 2], [1, 2, 3]] * 9, random_state=0)
    BootstrapConsensus: 1,000 resamples, 95% intervals (conservative)
      item  position  interval  before the next
      0            1         1             100%
      1            2       2-3              96%
      2            3       2-3
    """
    from joblib import Parallel, delayed

    check_n_jobs(n_jobs)
    check_whole_number("n_resamples", n_resamples, at_least=1)
    check_choice("interval", interval, ("confidence", "percentile"))
    if not callable(decode) and decode not in CONSENSUS_RULES:
        names = ", ".join(repr(name) for name in CONSENSUS_RULES)
        raise ValueError(f"decode is {decode!r}; choose {names}, or give a function from Rankings to positions")
    check_open_share("level", level)
    source = weighted_rankings(rankings, sample_weight)
    people = weights_count_people(source.weights, weight_kind)
    if not source.weights.any():
        raise ValueError("no ranking has a positive weight, so there is nothing to draw from")
    check_memory_of_pairs(source.n_items, _MATRICES)
    rng = check_generator(random_state)
    positions, scores = _consensus_of(decode, source, consensus, rng)
    resampler = Resampler(source, people)
    if not callable(decode):
        _refuse_long_work(decode, resampler, n_resamples)
    solve = solver_of(decode)
    deviations: PairDeviations | None = None
    if interval == "confidence":
        if callable(decode) and consensus is None:  # called already
            observed = None if scores is None else differences_of_scores(scores)
        else:
            observed = resampler.observed(solve)
        deviations = None if observed is None else PairDeviations(observed, n_resamples)
    # Every resample has its own generator, so it does not matter which thread draws it.
    generators = rng.spawn(n_resamples)
    size = max(1, min(_BLOCK, _BLOCK_ENTRIES // source.n_items**2))

    def block(part: slice) -> tuple[FloatArray, FloatArray, FloatArray | None, int]:
        own = generators[part]
        drawn, redrawn = zip(*[resampler.draw(rng, must_hold=not callable(decode)) for rng in own], strict=True)
        found, differences = solve(resampler, np.array(drawn), own, part.start)
        return *_tally(found), differences, sum(redrawn)

    parts = list(gen_batches(n_resamples, size))
    work = Parallel(n_jobs=n_jobs, prefer="threads", require="sharedmem", return_as="generator")
    blocks = track(work(delayed(block)(part) for part in parts), "resampling", len(parts))
    before, distribution = np.zeros((2, source.n_items, source.n_items))
    n_redrawn = 0
    for part, (ahead, places, differences, redrawn) in zip(parts, blocks, strict=True):
        before += ahead
        distribution += places
        n_redrawn += redrawn
        deviations = None if deviations is None else deviations.with_block(part.start, differences)
    before, distribution = before / n_resamples, distribution / n_resamples
    kind = "percentiles"
    if deviations is None:
        low, high = _percentiles(distribution, level)
    else:
        kind = "majorities" if decode in MAJORITY_RULES else "scores"
        counts = preference_matrix(resampler.rankings, sample_weight=resampler.voters).counts
        low, high = deviations.intervals(counts[np.triu_indices(source.n_items, 1)], level)
    _hold_consensus(low, high, positions, distribution, source.items, level, given=consensus is not None)
    return BootstrapConsensus(
        items=source.items,
        positions=positions,
        low=low,
        high=high,
        before=before,
        distribution=distribution,
        level=float(level),
        n_resamples=n_resamples,
        redrawn=n_redrawn,
        intervals_from=kind,
        weights_are="equal" if bool(np.all(source.weights == 1)) else "counts" if people else "survey",
    )


def _consensus_of(
    decode: ConsensusRule | Callable[[Rankings], Any],
    source: Rankings,
    consensus: Consensus | ArrayLike | None,
    rng: np.random.Generator,
) -> tuple[FloatArray, FloatArray | None]:
    """Positions of the consensus, found or given, and its scores if it was found and has any."""
    if consensus is not None:
        return _finished(consensus, source.items), None
    if decode == "kemeny":
        return CONSENSUS_RULES[decode](source, time_limit=_SECONDS_OF_SEARCH, random_state=rng).positions, None
    return called(decode if callable(decode) else CONSENSUS_RULES[decode], source)


def _refuse_long_work(decode: ConsensusRule, resampler: Resampler, n_resamples: int) -> None:
    n, k = resampler.rankings.shape
    minutes = n * k * (k - 1) * n_resamples / _COUNTED_A_MINUTE
    if decode in MAJORITY_RULES and minutes > _MOST_MINUTES:
        raise ValueError(
            f"{n_resamples:,} resamples of {n:,} distinct rankings of {k:,} items with decode={decode!r} would "
            f"take about {minutes:,.0f} minutes; use decode='borda', fewer n_resamples or fewer rankings"
        )


def _percentiles(distribution: FloatArray, level: float) -> tuple[FloatArray, FloatArray]:
    """Places without the outer ones on each side."""
    reached = np.cumsum(distribution, axis=1)
    tail = (1 - level) / 2
    low = 1.0 + np.argmax(reached > tail + _ROUNDING, axis=1)
    return low, 1.0 + np.argmax(reached >= 1 - tail - _ROUNDING, axis=1)


def _hold_consensus(
    low: FloatArray,
    high: FloatArray,
    positions: FloatArray,
    distribution: FloatArray,
    items: tuple[Hashable, ...],
    level: float,
    *,
    given: bool,
) -> None:
    """Widen the intervals to hold the consensus, unless it was given and hardly any resample agrees: then warn."""
    first, last = places_of(positions)
    outside = np.flatnonzero((last < low) | (first > high))
    strange = []
    for i in outside:
        if given and distribution[i, first[i] - 1 : last[i]].sum() < (1 - level) / 2:
            strange.append(f"{items[i]!r} at place {first[i]}, outside {low[i]:.0f}-{high[i]:.0f}")
        else:
            low[i], high[i] = min(low[i], last[i]), max(high[i], first[i])
    if strange:
        warnings.warn(
            f"the given consensus lies outside the intervals of these rankings: it has {'; '.join(strange[:3])}"
            f"{', ...' * (len(strange) > 3)}. Check that it was found from the same rankings, by the same rule",
            UserWarning,
            stacklevel=3,
        )


def _finished(consensus: Consensus | ArrayLike, items: tuple[Hashable, ...]) -> FloatArray:
    """Positions of a consensus that was found before, once it is checked to rank these items."""
    if isinstance(consensus, Consensus) and consensus.items != items:
        raise ValueError(
            f"consensus ranks the items {shortlist(consensus.items)}, but the rankings have {shortlist(items)}; give "
            "the consensus of these rankings"
        )
    positions = check_positions([getattr(consensus, "positions", consensus)], name="consensus")[0]
    if len(positions) != len(items) or not np.isfinite(positions).all():
        raise ValueError(
            f"consensus gives {np.isfinite(positions).sum()} finite positions, but the rankings have {len(items)} "
            "items; give one position per item"
        )
    return positions


def _tally(positions: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Sums over the rows: i before j, ties half; and the places of each item, shared equally by ties."""
    k = positions.shape[1]
    above = positions[:, :, None] < positions[:, None, :]
    wins = above.sum(axis=0)
    before = (len(positions) + wins - wins.T) / 2
    better, worse = above.sum(axis=1), above.sum(axis=2)
    size = k - better - worse
    # Along a row, a share starts at the first place of the tie and ends after its last.
    steps = np.zeros((k, k + 1))
    item = np.broadcast_to(np.arange(k), better.shape)
    np.add.at(steps, (item, better), 1 / size)
    np.add.at(steps, (item, better + size), -1 / size)
    return before, np.cumsum(steps[:, :k], axis=1)
