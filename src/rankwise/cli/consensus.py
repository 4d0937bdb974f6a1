"""The numbers of ``rankwise consensus``: one ranking of many, what it costs, and how sure it is."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from rankwise._typing import FloatArray
from rankwise.aggregation import (
    Mallows,
    PlackettLuce,
    PreferenceMatrix,
    bootstrap_consensus,
    borda,
    copeland,
    kemeny,
    preference_matrix,
)
from rankwise.cli.comparable import compared_items
from rankwise.cli.console import TextTable, short_name
from rankwise.data import Rankings
from rankwise.distances import kendall_distance

#: fewer rankings tell too little of a predictor, or of how sure a consensus is
FEWEST_RANKINGS = 10
#: fewer resamples make no interval of a usual level
FEWEST_RESAMPLES = 20
# Without being asked, intervals are found by so many resamples, where these take seconds: as far as they have no more
# pairs than this. A model is fitted to every resample anew.
_RESAMPLES = 200
_MOST_PAIRS = {"kemeny": 1e9, "borda": 1e9, "copeland": 1e9, "mallows": 1e7, "plackett-luce": 1e7}


@dataclass(frozen=True)
class Place:
    """An item in the consensus: its position, its score where the method has one, and where it may stand as well."""

    item: str
    position: int
    score: float | None = None
    low: int | None = None
    high: int | None = None


@dataclass(frozen=True)
class Found:
    """A consensus, best item first, and what is known of it.

    The cost is the weight of the comparisons that go against the consensus; half of it where the consensus ties a pair.
    Bound, gap and uniqueness are known of Kemeny's consensus alone; parameters are those of a model, None where not
    finite. Notes are what a reader should know.
    """

    method: str
    ranking: list[Place]
    never_compared: list[str]
    score: str
    cost: float
    comparisons: float
    mean_distance: float
    optimal: bool | None
    lower_bound: float | None
    gap: float | None
    unique: bool | None
    parameters: dict[str, float | None]
    n_resamples: int = 0
    level: float | None = None
    notes: list[str] = field(default_factory=list)


def find_consensus(
    rankings: Rankings, method: str, *, time_limit: float | None = None, prior: float = 0.0, seed: int = 0
) -> Found:
    """Find the consensus of the items that some ranking compares with another.

    Parameters
    ----------
    rankings : Rankings
    method : {"kemeny", "borda", "copeland", "mallows", "plackett-luce"}
    time_limit : float, optional
        Seconds for the proof of Kemeny's consensus.
    prior : float, default=0.0
        Strength of the prior of the Plackett-Luce model.
    seed : int, default=0
        Of the search for Kemeny's consensus.

    Returns
    -------
    Found
    """
    part, never = _comparable(rankings)
    proof: dict[str, Any] = dict.fromkeys(("optimal", "lower_bound", "gap", "unique"))
    score, scores = "", None
    parameters: dict[str, float | None] = {}
    if method == "kemeny":
        best = kemeny(part, time_limit=time_limit, random_state=seed)
        positions = best.positions
        proof = {name: getattr(best, name) for name in proof}
    elif method == "borda":
        positions, scores = borda(part, return_scores=True)
        score = "opponents beaten"
    elif method == "copeland":
        positions = copeland(part)
    elif method == "mallows":
        mallows = Mallows().fit(part)
        positions = mallows.center_
        # Rankings that are all alike have an infinite theta, which JSON cannot hold.
        values = {"theta": mallows.theta_, "theta_se": mallows.theta_se_}
        parameters = {name: float(value) if np.isfinite(value) else None for name, value in values.items()}
    else:
        positions, scores = _plackett_luce(part, prior)
        score = "log worth"
    matrix = preference_matrix(part)
    distances = kendall_distance(part, positions, normalize=True)
    known = ~np.isnan(distances) & (part.weights > 0)
    order = np.argsort(positions, kind="stable")
    return Found(
        method=method,
        ranking=[
            Place(str(part.items[i]), int(positions[i]), None if scores is None else float(scores[i])) for i in order
        ],
        never_compared=never,
        score=score,
        cost=_cost(matrix, positions),
        comparisons=float(np.triu(matrix.counts, 1).sum()),
        mean_distance=float(np.average(distances[known], weights=part.weights[known])),
        parameters=parameters,
        **proof,
    )


def few_resamples(method: str, rankings: Rankings) -> int:
    """How many resamples are taken where nobody says how many; none where even few take long."""
    return _RESAMPLES if _RESAMPLES * len(rankings) * rankings.n_items**2 <= _MOST_PAIRS[method] else 0


def with_intervals_if_any(found: Found, rankings: Rankings, *, n_resamples: int, **options: Any) -> Found:
    """The same consensus with intervals, or with a note that says why there are none; options as `with_intervals`."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # the consensus has said it already
            return with_intervals(found, rankings, n_resamples=n_resamples, **options)
    except ValueError as error:  # items that hardly any ranking holds, or far too many rankings
        return replace(found, notes=[*found.notes, f"no intervals: {error}"])


def with_intervals(
    found: Found, rankings: Rankings, *, n_resamples: int, level: float, prior: float, seed: int, jobs: int
) -> Found:
    """The same consensus with an interval of places for each item, by the bootstrap.

    Of a few rankings there is a note in place of intervals, which would look surer than they are.
    """
    if _n_voters(rankings) < FEWEST_RANKINGS:
        note = f"no intervals: fewer than {FEWEST_RANKINGS} rankings tell too little"
        return replace(found, notes=[*found.notes, note])
    methods: dict[str, Callable[[Rankings], Any]] = {
        "mallows": lambda rankings: Mallows().fit(rankings).center_,
        "plackett-luce": lambda rankings: _plackett_luce(rankings, prior)[0],
    }
    part, _ = _comparable(rankings)
    spread = bootstrap_consensus(
        part,
        methods.get(found.method, found.method),  # type: ignore[arg-type]  # the other methods go by name
        n_resamples=n_resamples,
        level=level,
        random_state=seed,
        n_jobs=jobs,
    )
    ends = {
        str(item): (int(low), int(high)) for item, low, high in zip(spread.items, spread.low, spread.high, strict=True)
    }
    ranking = [replace(place, low=ends[place.item][0], high=ends[place.item][1]) for place in found.ranking]
    return replace(found, ranking=ranking, n_resamples=n_resamples, level=level)


def consensus_tables(found: Found) -> list[TextTable]:
    """The ranking as a table, and what is known of it as another."""
    never = ", ".join(map(short_name, found.never_compared))
    notes = [*([f"no ranking compares {never} with another item"] if never else []), *found.notes]
    columns, cells = ["position", "item"], [[str(place.position), short_name(place.item)] for place in found.ranking]
    further: list[tuple[str, Callable[[Place], str]]] = []
    if found.score:
        further.append((found.score, partial(_shown_score, found.score)))
    if found.level is not None:
        further.append((f"{100 * found.level:g} % interval", _shown_interval))
    for column, show in further:
        columns.append(column)
        cells = [[*row, show(place)] for row, place in zip(cells, found.ranking, strict=True)]
    share = found.cost / found.comparisons
    facts = [
        ["against the consensus", f"{found.cost:,.10g} of {found.comparisons:,.10g} comparisons ({share:.1%})"],
        ["mean Kendall distance", f"{found.mean_distance:.3f} (0 is the same order, 1 the reverse)"],
    ]
    facts += [["proof", _proof(found)]] if found.optimal is not None else []
    facts += [_parameter(name, value) for name, value in found.parameters.items()]
    facts += [["intervals", f"by {found.n_resamples:,} resamples of the rankings"]] if found.n_resamples else []
    return [
        TextTable(f"Consensus: {found.method}", "; ".join(notes), columns, cells),
        TextTable("How good", "", ["", ""], facts),
    ]


def _comparable(rankings: Rankings) -> tuple[Rankings, list[str]]:
    """The rankings of the items that some ranking compares with another, and the names of the others."""
    compared = compared_items(rankings)
    if not len(compared):
        raise ValueError("no ranking compares two items, so there is no consensus")
    never = np.setdiff1d(np.arange(rankings.n_items), compared)
    return rankings.select([rankings.items[i] for i in compared]), [str(rankings.items[i]) for i in never]


def _n_voters(rankings: Rankings) -> float:
    """Rankings that can be drawn: whole weights say how often one occurred, others make no more of it."""
    weights = rankings.weights
    return float(weights.sum()) if (weights % 1 == 0).all() else float(np.count_nonzero(weights))


def _plackett_luce(rankings: Rankings, prior: float) -> tuple[FloatArray, FloatArray]:
    try:
        model = PlackettLuce(prior=prior).fit(rankings)
    except ValueError as error:
        if prior > 0:
            raise
        raise ValueError(f"{error} (here: --prior 0.1)") from None
    return model.mode(), model.log_worth_


def _cost(matrix: PreferenceMatrix, positions: FloatArray) -> float:
    after = (np.sign(positions[:, None] - positions) + 1) / 2
    np.fill_diagonal(after, 0.0)
    return float(np.sum(after * matrix.wins))


def _shown_score(name: str, place: Place) -> str:
    return f"{place.score:.1%}" if name == "opponents beaten" else f"{place.score:z.3f}"


def _shown_interval(place: Place) -> str:
    return f"{place.low}" if place.low == place.high else f"{place.low}-{place.high}"


def _parameter(name: str, value: float | None) -> list[str]:
    shown = f"{value:.3f}" if value is not None else {"theta": "infinite: all rankings alike"}.get(name, "not known")
    return [name.replace("_se", ", standard error"), shown]


def _proof(found: Found) -> str:
    if not found.optimal:
        return f"none within the time: at most {100 * (found.gap or 0):.2g} % of the cost could be saved"
    others = {True: ", and no other does as well", False: ", but others do as well", None: ""}
    return f"optimal: no ranking costs less{others[found.unique]}"
