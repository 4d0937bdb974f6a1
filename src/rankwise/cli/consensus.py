"""The numbers of ``rankwise consensus``: one ranking of many, what it costs, and how sure it is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
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
from rankwise.cli.console import TextTable
from rankwise.data import Rankings
from rankwise.distances import kendall_distance


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
    Bound, gap and uniqueness are known of Kemeny's consensus alone; parameters are those of a model.
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
    parameters: dict[str, float]
    n_resamples: int = 0
    level: float | None = None


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
    score, scores, parameters = "", None, {}
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
        found = {"theta": mallows.theta_, "theta_se": mallows.theta_se_}
        parameters = {name: value for name, value in found.items() if np.isfinite(value)}
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


def with_intervals(
    found: Found, rankings: Rankings, *, n_resamples: int, level: float, prior: float, seed: int, jobs: int
) -> Found:
    """The same consensus with an interval of places for each item, by the bootstrap."""
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
    never = ", ".join(found.never_compared)
    note = f"no ranking compares {never} with another item" if never else ""
    columns, cells = ["position", "item"], [[str(place.position), place.item] for place in found.ranking]
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
    facts += [[name.replace("_se", ", standard error"), f"{value:.3f}"] for name, value in found.parameters.items()]
    facts += [["intervals", f"by {found.n_resamples:,} resamples of the rankings"]] if found.n_resamples else []
    return [
        TextTable(f"Consensus: {found.method}", note, columns, cells),
        TextTable("How good", "", ["", ""], facts),
    ]


# ---------------------------------------------------------------------------------------------------------------


def _comparable(rankings: Rankings) -> tuple[Rankings, list[str]]:
    """The rankings of the items that some ranking compares with another, and the names of the others."""
    compared = compared_items(rankings)
    if not len(compared):
        raise ValueError("no ranking compares two items, so there is no consensus")
    never = np.setdiff1d(np.arange(rankings.n_items), compared)
    return rankings.select([rankings.items[i] for i in compared]), [str(rankings.items[i]) for i in never]


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


def _proof(found: Found) -> str:
    if not found.optimal:
        return f"none within the time: at most {100 * (found.gap or 0):.2g} % of the cost could be saved"
    others = {True: ", and no other does as well", False: ", but others do as well", None: ""}
    return f"optimal: no ranking costs less{others[found.unique]}"
