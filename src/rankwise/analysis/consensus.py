"""One ranking of many, its cost and how sure it is: `consensus`, for `analyze` and ``rankwise consensus``."""

from __future__ import annotations

import warnings
from collections.abc import Hashable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Literal, get_args

import numpy as np

from rankwise._decode import ConsensusRule, Decoder
from rankwise._tables import TextTable, make_frame, name_column, short_name
from rankwise._typing import ArrayLike, FloatArray, RandomState
from rankwise.aggregation import (
    BootstrapConsensus,
    Consensus,
    bootstrap_consensus,
    preference_matrix,
)
from rankwise.aggregation.rules import CONSENSUS_RULES
from rankwise.analysis.base import Result
from rankwise.data import Rankings
from rankwise.data.positions import compare_positions
from rankwise.distances import kendall_distance

#: fewer rankings say too little about a predictor, or about how sure a consensus is
FEWEST_RANKINGS = 10
#: fewer resamples cannot give an interval of a usual level
FEWEST_RESAMPLES = 20
#: the note of a result without intervals because they were not asked for and would take long
SLOW_INTERVALS = "no intervals, because resampling would take a while: ask for them with intervals=True"
_RESAMPLES = 200
# With intervals="auto", the rankings are resampled if all resamples together have at most this many pairs, which takes
# seconds. The rules named here count the pairs of all resamples at once; others take each resample by itself.
_MOST_PAIRS = dict.fromkeys(CONSENSUS_RULES, 1e7) | dict.fromkeys(get_args(Decoder), 1e9)


@dataclass(frozen=True, eq=False, repr=False)
class ConsensusResult(Result):
    """A consensus of rankings, what it costs and how sure it is; made by `consensus`.

    Attributes
    ----------
    decode : str
        How it was found.
    items : tuple
        The items that some ranking compares with another, in the order of the rankings' items.
    positions : ndarray of shape (n_items,)
        The consensus, 1 = best.
    scores : ndarray of shape (n_items,) or None
        What the items are ordered by, where the rule has such scores; higher is better.
    score_name : str
        What the scores are; empty if there are none.
    never_compared : tuple
        Items that no ranking compares with another. They have no place in a consensus.
    cost : float
        Weight of the comparisons that the consensus contradicts; half of it where the consensus ties a pair.
    comparisons : float
        Weight of all comparisons.
    distances : ndarray of shape (n_rankings,)
        Kendall distance of each ranking to the consensus, as a share of the pairs that it compares: 0 is the same
        order, 1 the reverse, NaN where a ranking compares nothing.
    mean_distance : float
        Their weighted mean.
    kemeny : Consensus or None
        What `kemeny` returned, with its proof, for ``decode="kemeny"``.
    parameters : dict
        Parameters of a model, and their standard errors.
    bootstrap : BootstrapConsensus or None
        How the places vary from resample to resample, where that was computed.
    notes : tuple of str
        What a reader should know.
    """

    decode: str
    items: tuple[Hashable, ...]
    positions: FloatArray
    scores: FloatArray | None
    score_name: str
    never_compared: tuple[Hashable, ...]
    cost: float
    comparisons: float
    distances: FloatArray
    mean_distance: float
    kemeny: Consensus | None = None
    parameters: dict[str, float] = field(default_factory=dict)
    bootstrap: BootstrapConsensus | None = None
    notes: tuple[str, ...] = ()

    @property
    def order(self) -> list[Hashable]:
        """The items, best first."""
        return [self.items[i] for i in self._best_first()]

    def to_frame(self, backend: str | None = None) -> Any:
        """A data frame with a row per item, best first, of pandas by default, else of the named backend.

        Columns: ``item``, ``position``, then ``score`` and the ends of the intervals, ``low`` and ``high``, where there
        are such.
        """
        order = self._best_first()
        columns: dict[str, Any] = {"item": name_column(self.order), "position": self.positions[order].astype(int)}
        if self.scores is not None:
            columns["score"] = self.scores[order]
        if self.bootstrap is not None:
            columns |= {"low": self.bootstrap.low[order].astype(int), "high": self.bootstrap.high[order].astype(int)}
        return make_frame(columns, backend)

    def as_dict(self) -> dict[str, Any]:
        """All of it for JSON, the items best first and as text; None for numbers that are not finite."""
        proof = dict.fromkeys(("optimal", "lower_bound", "gap", "unique"))
        ranking = [
            {
                "item": str(self.items[i]),
                "position": int(self.positions[i]),
                "score": None if self.scores is None else float(self.scores[i]),
                "low": None if self.bootstrap is None else int(self.bootstrap.low[i]),
                "high": None if self.bootstrap is None else int(self.bootstrap.high[i]),
            }
            for i in self._best_first()
        ]
        return {
            "decode": self.decode,
            "ranking": ranking,
            "never_compared": [str(item) for item in self.never_compared],
            "score": self.score_name,
            "cost": self.cost,
            "comparisons": self.comparisons,
            "mean_distance": self.mean_distance,
            **(proof if self.kemeny is None else {name: getattr(self.kemeny, name) for name in proof}),
            "parameters": {name: value if np.isfinite(value) else None for name, value in self.parameters.items()},
            "n_resamples": 0 if self.bootstrap is None else self.bootstrap.n_resamples,
            "level": None if self.bootstrap is None else self.bootstrap.level,
            "notes": list(self.notes),
        }

    def tables(self) -> list[TextTable]:
        """The ranking as a table of text, and what is known about it as another."""
        return [self.ranking_table(), self.quality_table()]

    def ranking_table(self) -> TextTable:
        """The ranking as a table of text, best item first."""
        order = self._best_first()
        columns = {
            "position": [f"{self.positions[i]:.0f}" for i in order],
            "item": [short_name(item) for item in self.order],
        }
        if self.scores is not None:
            shown = ".1%" if self.score_name == "opponents beaten" else "z.3f"
            columns[self.score_name] = [format(self.scores[i], shown) for i in order]
        if self.bootstrap is not None:
            columns[f"{100 * self.bootstrap.level:g} % interval"] = [self.bootstrap.intervals[i] for i in order]
        never = ", ".join(map(short_name, self.never_compared))
        notes = [*([f"no ranking compares {never} with another item"] if never else []), *self.notes]
        rows = [list(row) for row in zip(*columns.values(), strict=True)]
        return TextTable(f"Consensus: {self.decode}", "; ".join(notes), list(columns), rows)

    def quality_table(self, *further_distances: list[str]) -> TextTable:
        """What is known about the consensus as a table of text; rows of further distances go below the mean one."""
        against = f"{self.cost:,.10g} of {self.comparisons:,.10g} comparisons ({self.cost / self.comparisons:.1%})"
        rows = [
            ["against the consensus", against],
            ["mean Kendall distance", f"{self.mean_distance:.3f} (0 is the same order, 1 the reverse)"],
            *further_distances,
        ]
        if self.kemeny is not None:
            rows.append(["proof", _proof(self.kemeny)])
        for name, value in self.parameters.items():
            unknown = "infinite: all rankings are the same" if name == "theta" else "unknown"
            shown = f"{value:.3f}" if np.isfinite(value) else unknown
            rows.append([name.replace("_se", ", standard error"), shown])
        if self.bootstrap is not None:
            caution = "conservative, " if self.bootstrap.intervals_from != "percentiles" else ""
            rows.append(["intervals", f"{caution}from {self.bootstrap.n_resamples:,} resamples of the rankings"])
        return TextTable("How good", "", ["", ""], rows)

    def _best_first(self) -> Any:
        return np.argsort(self.positions, kind="stable")


def consensus(
    rankings: ArrayLike,
    decode: ConsensusRule = "kemeny",
    *,
    intervals: bool | Literal["auto"] = "auto",
    n_resamples: int = _RESAMPLES,
    level: float = 0.95,
    time_limit: float | None = None,
    alpha: float = 0.0,
    random_state: RandomState = None,
    n_jobs: int | None = None,
) -> ConsensusResult:
    """Find a consensus of rankings, what it costs, and how sure it is.

    Items that no ranking compares with another have no place in a consensus; they are left out and named.

    Parameters
    ----------
    rankings : array-like of shape (n_rankings, n_items) or Rankings
        Positions: column = item, 1 = best. The weights of Rankings count.
    decode : {"kemeny", "borda", "copeland", "copeland-or-borda", "schulze", "mallows", "plackett-luce"}, \
default="kemeny"
        How to find it: a rule, the center of a Mallows model, or the order of the worths of a Plackett-Luce model.
    intervals : bool or "auto", default="auto"
        Whether to resample the rankings for intervals of places. "auto" does so where it takes seconds; if it is not
        possible, a note says why, where True raises. Fewer than 10 rankings never have intervals.
    n_resamples : int, default=200
        Number of resamples; 20 at least.
    level : float, default=0.95
        Least probability that the interval of an item holds its true place; see `bootstrap_consensus`.
    time_limit : float, optional
        Seconds for the proof of Kemeny's consensus; by default see `kemeny`.
    alpha : float, default=0.0
        Strength of the prior of the Plackett-Luce model.
    random_state : None, int, Generator or RandomState
        Source of the random numbers for the search and the resamples.
    n_jobs : int, optional
        Number of threads for the resamples; -1 uses all processors. The result does not depend on it.

    Returns
    -------
    ConsensusResult

    See Also
    --------
    rankwise.aggregation.kemeny, rankwise.aggregation.bootstrap_consensus : What it is made of.

    Examples
    --------
    >>> from rankwise.analysis import consensus
    >>> consensus([[1, 2, 3], [1, 3, 2], [1, 2, 3]] * 5, random_state=0)
    Consensus: kemeny
    position  item  95 % interval
    1         0     1
    2         1     2-3
    3         2     2-3
    <BLANKLINE>
    How good
    against the consensus  5 of 45 comparisons (11.1%)
    mean Kendall distance  0.111 (0 is the same order, 1 the reverse)
    proof                  optimal: no ranking costs less, and no other ranking does as well
    intervals              conservative, from 200 resamples of the rankings
    """
    if decode not in CONSENSUS_RULES:
        raise ValueError(f"decode is {decode!r}; choose one of {', '.join(map(repr, CONSENSUS_RULES))}")
    if not isinstance(intervals, bool) and intervals != "auto":
        raise ValueError(f"intervals is {intervals!r}; choose True, False or 'auto', and give a number as n_resamples")
    if n_resamples < FEWEST_RESAMPLES:
        raise ValueError(f"n_resamples is {n_resamples}, too few for an interval; give {FEWEST_RESAMPLES} or more")
    rankings = Rankings(rankings)
    result = find_consensus(rankings, decode, time_limit=time_limit, alpha=alpha, random_state=random_state)
    if intervals is False:
        return result
    if intervals == "auto" and n_resamples * len(rankings) * rankings.n_items**2 > _MOST_PAIRS[decode]:
        return replace(result, notes=(*result.notes, SLOW_INTERVALS))
    options: dict[str, Any] = {"n_resamples": n_resamples, "level": level, "alpha": alpha}
    options |= {"random_state": random_state, "n_jobs": n_jobs}
    return add_intervals(result, rankings, required=intervals is True, **options)


def add_intervals(
    result: ConsensusResult,
    rankings: Rankings,
    *,
    n_resamples: int,
    level: float = 0.95,
    alpha: float = 0.0,
    random_state: RandomState = None,
    n_jobs: int | None = None,
    required: bool = False,
) -> ConsensusResult:
    """The same consensus with intervals, or with a note that says why there are none; if required, that is an error."""
    if _n_voters(rankings) < FEWEST_RANKINGS:
        note = f"no intervals: fewer than {FEWEST_RANKINGS} rankings say too little"
        return replace(result, notes=(*result.notes, note))
    decode: Any = result.decode
    if decode == "plackett-luce":
        decode = partial(CONSENSUS_RULES[decode], alpha=alpha)
    try:
        with warnings.catch_warnings():
            if not required:
                warnings.simplefilter("ignore", UserWarning)  # the consensus has warned already
            spread = bootstrap_consensus(
                rankings.comparable(),
                decode,
                consensus=result.positions,
                n_resamples=n_resamples,
                level=level,
                random_state=random_state,
                n_jobs=n_jobs,
            )
    except ValueError as error:  # such as items that hardly any ranking holds
        if required:
            raise
        return replace(result, notes=(*result.notes, f"no intervals: {error}"))
    return replace(result, bootstrap=spread)


def find_consensus(
    rankings: Rankings,
    decode: ConsensusRule = "kemeny",
    *,
    time_limit: float | None = None,
    alpha: float = 0.0,
    random_state: RandomState = None,
) -> ConsensusResult:
    """The consensus without intervals."""
    compared = rankings.compared
    if not compared.any():
        raise ValueError("no ranking compares two items, so there is no consensus")
    part = rankings.comparable()
    options: dict[str, dict[str, Any]] = {
        "kemeny": {"time_limit": time_limit, "random_state": random_state},
        "plackett-luce": {"alpha": alpha},
    }
    found = CONSENSUS_RULES[decode](part, **options.get(decode, {}))
    matrix = preference_matrix(part)
    after = compare_positions(found.positions, found.positions[:, np.newaxis])  # the row item after the column item
    distances = kendall_distance(part, found.positions, normalize=True)
    known = ~np.isnan(distances) & (part.weights > 0)
    return ConsensusResult(
        decode=decode,
        items=part.items,
        positions=found.positions,
        scores=found.scores,
        score_name=found.score_name,
        never_compared=tuple(rankings.items[i] for i in np.flatnonzero(~compared)),
        cost=float(np.sum(after * matrix.wins)),
        comparisons=float(np.triu(matrix.counts, 1).sum()),
        distances=distances,
        mean_distance=float(np.average(distances[known], weights=part.weights[known])),
        kemeny=found.kemeny,
        parameters=found.parameters,
    )


def _n_voters(rankings: Rankings) -> float:
    """Rankings that can be drawn: whole weights say how often one occurred, others say nothing about that."""
    weights = rankings.weights
    return float(weights.sum()) if (weights % 1 == 0).all() else float(np.count_nonzero(weights))


def _proof(best: Consensus) -> str:
    if not best.optimal:
        return f"none within the time limit: at most {100 * best.gap:.2g} % of the cost could be saved"
    others = {True: ", and no other ranking does as well", False: ", but others do as well", None: ""}
    return f"optimal: no ranking costs less{others[best.unique]}"
