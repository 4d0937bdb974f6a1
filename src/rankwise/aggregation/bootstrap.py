"""How sure a consensus is: the bootstrap of the places of items, and of who comes before whom.

`bootstrap_consensus` resamples the rankings and solves each resample; the plots, the analysis and the command line show
what it returns.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from rankwise._decode import ConsensusRule
from rankwise._progress import track
from rankwise._sklearn import gen_batches
from rankwise._tables import TextTable, make_frame, name_column
from rankwise._typing import ArrayLike, BoolArray, FloatArray, IntArray, RandomState
from rankwise._validation import check_generator, check_open_share, check_whole_number, shortlist
from rankwise.aggregation.base import weighted_rankings
from rankwise.aggregation.kemeny import kemeny_batch
from rankwise.aggregation.kemeny_result import Consensus
from rankwise.aggregation.positional import rank_by_score, shares_beaten
from rankwise.aggregation.rules import CONSENSUS_RULES
from rankwise.data import Rankings, check_positions, dense_positions

Generators: TypeAlias = Sequence[np.random.Generator]

# One thread takes a block of this many resamples at a time, and fewer where there are very many items. The size depends
# on the number of items alone, so that sums are added in the same order for every n_jobs.
_BLOCK, _BLOCK_ENTRIES = 64, 20_000_000
# Entries of the matrix of pair signs that are held in memory at once.
_SIGNS = 2_000_000
# Counting this many pairs takes about a minute; what would take more than ten minutes is refused.
_COUNTED_A_MINUTE, _MOST_MINUTES = 2e11, 10
# Up to this many voters per distinct ranking, drawing each of them is faster than one binomial number per ranking.
_DRAWS_A_BINOMIAL = 10
# For the consensus of all rankings: where optimality is hard to prove, the places are uncertain anyway.
_SECONDS_OF_SEARCH = 10.0
_MOST_REDRAWS = 100
# Sums of floating-point weights cannot distinguish two sides of a pair that are closer than this share of them.
_EVEN = 1e-12
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

    @property
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
        return "\n".join([self._heading(), *lines, *rest])

    def _repr_html_(self) -> str:
        return TextTable(self._heading(), self._rest(), _COLUMNS, self._rows())._repr_html_()

    def _heading(self) -> str:
        return f"BootstrapConsensus: {self.n_resamples:,} resamples, intervals of {100 * self.level:g} %"

    def _rows(self) -> list[tuple[str, str, str, str]]:
        """The first items, best first, as text."""
        order = np.argsort(self.positions, kind="stable")
        rows = []
        for place, i in enumerate(order[:_SHOWN_ITEMS]):
            ahead = f"{100 * self.before[i, order[place + 1]]:.0f} %" if place + 1 < len(order) else ""
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
    n_resamples: int = 1000,
    level: float = 0.95,
    random_state: RandomState = None,
    n_jobs: int | None = None,
) -> BootstrapConsensus:
    """Bootstrap a consensus: an interval of places for each item, and how surely one comes before another.

    *Definition.* A resample consists of as many rankings as there are, drawn from them with replacement; one in which
    some item is compared with no other is drawn again. The interval of an item holds the places it takes in the
    consensus of the resamples, except for the outer ``(1 - level) / 2`` on each side.

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
        it is found by ``decode``, with "kemeny" within ten seconds.
    sample_weight : array-like of shape (n_rankings,), optional
        By default the weights of the Rankings, otherwise ones. Whole numbers count voters, and that many voters are
        drawn; other weights stay with their rankings, which are drawn as units.
    n_resamples : int, default=1000
        Number of resamples.
    level : float, default=0.95
        Share of the resamples that an interval holds, at least.
    random_state : None, int, Generator or RandomState
        Source of the random numbers.
    n_jobs : int, optional
        Number of threads; -1 uses all processors. The result does not depend on it.

    Returns
    -------
    BootstrapConsensus

    Notes
    -----
    Intervals are for one item at a time. A place is not a smooth function of the data: where items are close,
    intervals are wide and honest, but their coverage is approximate.

    References
    ----------
    Hall, Miller (2009), Using the bootstrap to quantify the authority of an empirical ranking, Annals of Statistics 37.

    Examples
    --------
    >>> from rankwise.aggregation import bootstrap_consensus
    >>> bootstrap_consensus([[1, 2, 3], [1, 3, 2], [1, 2, 3]] * 9, random_state=0)
    BootstrapConsensus: 1,000 resamples, intervals of 95 %
      item  position  interval  before the next
      0            1         1            100 %
      1            2       2-3             96 %
      2            3       2-3
    """
    from joblib import Parallel, delayed

    check_whole_number("n_resamples", n_resamples, at_least=1)
    if not callable(decode) and decode not in CONSENSUS_RULES:
        names = ", ".join(repr(name) for name in CONSENSUS_RULES)
        raise ValueError(f"decode is {decode!r}; choose {names}, or give a function from Rankings to positions")
    check_open_share("level", level)
    source = weighted_rankings(rankings, sample_weight)
    if not source.weights.any():
        raise ValueError("no ranking has a positive weight, so there is nothing to draw from")
    rng = check_generator(random_state)
    if consensus is not None:
        positions = _finished(consensus, source.items)
    elif decode == "kemeny":
        positions = CONSENSUS_RULES[decode](source, time_limit=_SECONDS_OF_SEARCH, random_state=rng).positions
    else:
        positions = _called(decode if callable(decode) else CONSENSUS_RULES[decode], source)
    resampler = _Resampler(source)
    if callable(decode):
        solve = _solver_of(decode)
    else:
        n, k = resampler.rankings.shape
        minutes = n * k * (k - 1) * n_resamples / _COUNTED_A_MINUTE
        if decode in ("kemeny", "copeland", "copeland-or-borda") and minutes > _MOST_MINUTES:
            raise ValueError(
                f"{n_resamples:,} resamples of {n:,} distinct rankings of {k:,} items with decode={decode!r} would "
                f"take about {minutes:,.0f} minutes; use decode='borda', fewer n_resamples or fewer rankings"
            )
        solve = _SOLVERS[decode] if decode in _SOLVERS else _solver_of(CONSENSUS_RULES[decode])
    # Every resample has its own generator, so it does not matter which thread draws it.
    generators = rng.spawn(n_resamples)
    size = max(1, min(_BLOCK, _BLOCK_ENTRIES // source.n_items**2))

    def block(part: slice) -> tuple[FloatArray, FloatArray, int]:
        own = generators[part]
        drawn, redrawn = zip(*[resampler.draw(rng, must_hold=not callable(decode)) for rng in own], strict=True)
        return *_tally(solve(resampler, np.array(drawn), own, part.start)), sum(redrawn)

    parts = list(gen_batches(n_resamples, size))
    work = Parallel(n_jobs=n_jobs, prefer="threads", require="sharedmem", return_as="generator")
    blocks = list(track(work(delayed(block)(part) for part in parts), "resampling", len(parts)))
    before = np.sum([ahead for ahead, _, _ in blocks], axis=0) / n_resamples
    distribution = np.sum([places for _, places, _ in blocks], axis=0) / n_resamples
    reached = np.cumsum(distribution, axis=1)
    tail = (1 - level) / 2
    return BootstrapConsensus(
        items=source.items,
        positions=positions,
        low=1.0 + np.argmax(reached > tail + _ROUNDING, axis=1),
        high=1.0 + np.argmax(reached >= 1 - tail - _ROUNDING, axis=1),
        before=before,
        distribution=distribution,
        level=float(level),
        n_resamples=n_resamples,
        redrawn=sum(redrawn for _, _, redrawn in blocks),
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


def _called(decode: Callable[[Rankings], Any], rankings: Rankings) -> FloatArray:
    found = decode(rankings)
    positions = check_positions([getattr(found, "positions", found)], name="the consensus", strict=False)[0]
    if len(positions) != rankings.n_items or not np.isfinite(positions).all():
        raise ValueError(
            f"the consensus places {np.isfinite(positions).sum()} of the items {shortlist(rankings.items)}; "
            "it must return one finite position per item"
        )
    return positions


class _Resampler:
    """Draws resamples: voters of distinct rankings if weights are whole numbers, else weighted rankings as units."""

    def __init__(self, source: Rankings) -> None:
        rankings = source[np.flatnonzero(source.weights)]
        whole = bool(np.all(rankings.weights == np.round(rankings.weights)))
        self.rankings: Rankings = rankings.group() if whole else rankings
        weights = self.rankings.weights
        n = len(weights)
        self.voters = weights if whole else np.ones(n)
        self.weight_of_voter = np.ones(n) if whole else weights
        self.n_draws = int(self.voters.sum())
        self.shares = shares_beaten(self.rankings)
        self.holds: BoolArray = ~np.isnan(self.shares)
        self.needed = self.holds.any(axis=0)
        # If every ranking holds every item, no resample lacks one.
        self.may_lack = not self.holds.all()
        few = self.n_draws <= _DRAWS_A_BINOMIAL * n
        self.ranking_of_voter = np.repeat(np.arange(n), self.voters.astype(np.intp)) if few else None

    def draw(self, rng: np.random.Generator, *, must_hold: bool) -> tuple[FloatArray, int]:
        """Weights of the rankings in a resample, and how often it was drawn again because it lacked an item."""
        redrawn, drawn = 0, self._draw_once(rng)
        while self.may_lack and not np.array_equal(self.holds[drawn > 0].any(axis=0), self.needed):
            if redrawn == _MOST_REDRAWS:
                if must_hold:
                    rare = np.argsort(self.holds.sum(axis=0), kind="stable")
                    raise ValueError(
                        f"{_MOST_REDRAWS} draws in a row lack some item, because too few rankings hold "
                        f"{shortlist([self.rankings.items[i] for i in rare], most=3)}; drop items that few rankings "
                        "hold with Rankings.select([...])"
                    )
                break
            redrawn, drawn = redrawn + 1, self._draw_once(rng)
        return drawn * self.weight_of_voter, redrawn

    def _draw_once(self, rng: np.random.Generator) -> IntArray:
        if self.ranking_of_voter is None:
            return rng.multinomial(self.n_draws, self.voters / self.n_draws)
        voters = rng.integers(self.n_draws, size=self.n_draws)
        return np.bincount(self.ranking_of_voter[voters], minlength=len(self.rankings))


# A solver takes the resampler, resamples (one row of weights each), their generators and the number of the first one,
# and gives their consensus positions.
_Solver: TypeAlias = Callable[[_Resampler, FloatArray, Generators, int], FloatArray]


def _solve_kemeny(resampler: _Resampler, weights: FloatArray, generators: Generators, _: int) -> FloatArray:
    n_items = resampler.rankings.n_items
    margins = _margins(resampler.rankings, weights)
    # Even pairs fall in the order of the items: shuffle these, or early items would seem better.
    shuffled = np.array([rng.permutation(n_items) for rng in generators])
    resample = np.arange(len(weights))
    margins = margins[resample[:, None, None], shuffled[:, :, None], shuffled[:, None, :]]
    positions = np.empty((len(weights), n_items))
    positions[resample[:, None], shuffled] = kemeny_batch(margins)
    return positions


def _solve_copeland(resampler: _Resampler, weights: FloatArray, generators: Generators, _: int) -> FloatArray:
    return dense_positions(1.0 + np.sum(_margins(resampler.rankings, weights) < 0, axis=2))


def _solve_borda(resampler: _Resampler, weights: FloatArray, generators: Generators, _: int) -> FloatArray:
    scores = (weights @ np.where(resampler.holds, resampler.shares, 0.0)) / (weights @ resampler.holds)
    return np.array([rank_by_score(row) for row in scores])


def _solve_copeland_or_borda(
    resampler: _Resampler, weights: FloatArray, generators: Generators, start: int
) -> FloatArray:
    lost = np.sum(_margins(resampler.rankings, weights) < 0, axis=2)
    strict = (np.sort(lost, axis=1) == np.arange(lost.shape[1])).all(axis=1, keepdims=True)
    return np.where(strict, lost + 1.0, _solve_borda(resampler, weights, generators, start))


def _solver_of(decode: Callable[[Rankings], Any]) -> _Solver:
    def solve(resampler: _Resampler, weights: FloatArray, generators: Generators, start: int) -> FloatArray:
        found = np.empty((len(weights), resampler.rankings.n_items))
        for number, row in enumerate(weights):
            rows = np.flatnonzero(row)
            try:
                found[number] = _called(decode, Rankings(resampler.rankings[rows], weights=row[rows]))
            except ValueError as error:
                raise ValueError(
                    f"the consensus of resample {start + number} fails ({error}); a resample may lack items that few "
                    "rankings hold: drop them with Rankings.select([...]), or use a consensus that works without them"
                ) from error
        return found

    return solve


# Rules that solve all resamples of a block at once.
_SOLVERS: dict[ConsensusRule, _Solver] = {
    "kemeny": _solve_kemeny,
    "borda": _solve_borda,
    "copeland": _solve_copeland,
    "copeland-or-borda": _solve_copeland_or_borda,
}


def _margins(rankings: Rankings, weights: FloatArray) -> FloatArray:
    """Weight for i before j minus the weight against it, for each row of weights: (n_resamples, n_items, n_items).

    One matrix product counts the pairs of all resamples, because these differ in their weights alone.
    """
    k = rankings.n_items
    first, second = np.triu_indices(k, 1)
    totals = np.zeros((len(weights), len(first)))
    for rows in gen_batches(len(rankings), max(1, _SIGNS // max(1, len(first)))):
        above, below = rankings.positions[rows, first], rankings.positions[rows, second]
        totals += weights[:, rows] @ ((above < below).astype(np.float64) - (above > below))
    totals[np.abs(totals) <= _EVEN * weights.sum(axis=1, keepdims=True)] = 0.0
    margins = np.zeros((len(weights), k, k))
    margins[:, first, second] = totals
    margins[:, second, first] = -totals
    return margins


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
