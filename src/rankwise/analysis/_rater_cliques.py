"""Groups of raters who agree with each other more than independent ones would; used by `raters`.

People are joined by average linkage on Kendall distances. A group is a clique if it is tighter than groups of its size
among independent draws of a Mallows model with the same mean distance between two people who are not outliers: theta
is chosen for it, and the distances of each simulated panel are rescaled to it. The thresholds for all sizes hold
together: independent raters get a clique in about 5% of the cases (``level=0.95``).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from rankwise._threads import one_thread
from rankwise._typing import BoolArray, FloatArray, IntArray
from rankwise.aggregation import sample_mallows
from rankwise.aggregation.mallows import mean_displacements
from rankwise.analysis.base import sample_rows
from rankwise.data import Rankings
from rankwise.distances import pairwise_distances

MOST_IN_CLIQUES = 300
FEWEST_IN_CLIQUES = 6
# With many items, fewer people are compared: so many signs of pairs of items take seconds in all simulations.
_MOST_SIGNS = 800_000_000
# Signs that are held at once.
_MOST_CELLS = 4_000_000
# Distances of two people that are this close are equal.
_SAME = 1e-9
_LARGEST_THETA = 20.0


class Cliques(NamedTuple):
    """Cliques as rows of the rankings, and what they were found among.

    Attributes
    ----------
    groups : list of ndarray
        The rows of each clique, the largest first.
    distance : list of float
        Mean Kendall distance of two of its members.
    p_value : float
        Probability that independent raters have a group so unusual; NaN if that was not looked at.
    n_used : int
        Number of people among whom cliques were looked for.
    """

    groups: list[IntArray]
    distance: list[float]
    p_value: float
    n_used: int


def rater_cliques(
    rankings: Rankings,
    people: IntArray,
    center: FloatArray,
    apart: BoolArray,
    *,
    level: float,
    n_simulations: int,
    rng: np.random.Generator,
) -> Cliques:
    """Find cliques among all people, or a sample of 300; none among fewer than 6 people, or if all are alike.

    Outliers, who are ``apart``, may be in a clique, but do not count for how far apart independent raters are: beside a
    reversed scale all others look alike.
    Of very many items the sample is smaller, because their distances take longer.
    """
    members = np.repeat(np.arange(len(people)), people)
    feasible = _MOST_SIGNS // (rankings.n_items * (rankings.n_items - 1) // 2 * max(1, n_simulations))
    members = members[sample_rows(len(members), min(MOST_IN_CLIQUES, feasible), rng)]
    n = len(members)
    if n < FEWEST_IN_CLIQUES:
        return Cliques([], [], np.nan, n)
    part = rankings.positions[members]
    distances = _distances(part)
    usual = part[~apart[members]]
    theta = _theta_of_pairs(usual if len(usual) > 1 else part, center)
    if not distances.any() or theta >= _LARGEST_THETA:
        return Cliques([], [], np.nan, n)
    sizes = np.unique(np.geomspace(2, n // 2, 8).astype(np.intp))
    tree = _tree(distances)
    heights = np.empty((n_simulations + 1, len(sizes)))
    heights[0] = _lowest(tree, sizes, n)
    alike = np.flatnonzero(~apart[members]) if len(usual) > 1 else np.arange(n)
    mean = _mean_distance(distances, alike)
    with one_thread():  # for hundreds of small products, threads that wait for each other take most of the time
        for run, simulated in enumerate(_simulated(part, center, theta, n_simulations, rng), start=1):
            # Panels in which two people are as far apart on average as here: by chance some are not.
            own = _mean_distance(simulated, alike)
            heights[run] = _lowest(_tree(simulated), sizes, n) * (mean / own if own > 0 else 1.0)
    # For each size the share of the runs with a group as tight, and the smallest share over the sizes of each run.
    ordered = np.sort(heights, axis=0)
    shares = np.column_stack(
        [
            np.searchsorted(column, values + _SAME, side="right")
            for column, values in zip(ordered.T, heights.T, strict=True)
        ]
    ) / len(heights)
    smallest = shares.min(axis=1)
    # Of runs with the same smallest share, those are more unusual whose shares are smaller on average.
    unusual = smallest + shares.mean(axis=1) / (2 * len(heights))
    p_value = float(np.mean(unusual <= unusual[0] + _SAME))
    if p_value > 1 - level:
        return Cliques([], [], p_value, n)
    # The largest share that at most 5% of the runs fall to or below, or that of these rankings, which are unusual.
    allowed = max(value for value in smallest if value == smallest[0] or np.mean(smallest <= value) <= 1 - level)
    # Of a size that most runs have at the same height, such as two equal rankings of few items, none is unusual.
    usual_heights = np.where(shares <= allowed + _SAME, heights, -np.inf)
    limits = usual_heights.max(axis=0)
    groups, distance = [], []
    for rows in _tightest(tree, sizes, limits, n):
        groups.append(members[rows])
        distance.append(float(distances[np.ix_(rows, rows)][np.triu_indices(len(rows), 1)].mean()))
    by_size = sorted(range(len(groups)), key=lambda g: (-len(groups[g]), distance[g]))
    return Cliques([groups[g] for g in by_size], [distance[g] for g in by_size], p_value, n)


def _simulated(
    kinds: FloatArray, center: FloatArray, theta: float, n_simulations: int, rng: np.random.Generator
) -> Iterator[FloatArray]:
    """Distances in panels of draws of a Mallows model, which miss and tie as the rows of ``kinds`` do."""
    n, k = kinds.shape
    first, second = np.triu_indices(k, 1)
    full = bool(np.all(np.sort(kinds, axis=1) == np.arange(1.0, k + 1)))
    step = max(1, _MOST_CELLS // (n * len(first)))
    for start in range(0, n_simulations, step):
        size = min(step, n_simulations - start)
        places = sample_mallows(center, theta, size * n, rng).reshape(size, n, k)
        if full:  # all panels of a block at once
            signs = np.sign(places[:, :, second] - places[:, :, first]).astype(np.float32)
            taus = (signs @ signs.swapaxes(1, 2)).astype(np.float64) / len(first)
            yield from (1 - taus) / 2
        else:
            yield from (_distances(_of_the_same_kind(panel, kinds)) for panel in places)


def _mean_distance(distances: FloatArray, rows: IntArray) -> float:
    """Mean distance of two of these people."""
    return float(distances[np.ix_(rows, rows)].sum()) / (len(rows) * (len(rows) - 1))


def _distances(positions: FloatArray) -> FloatArray:
    """Kendall distances as shares of common pairs; two people without any are as far apart as two on average."""
    distances = pairwise_distances(Rankings(positions), normalize=True)
    known = ~np.isnan(distances)
    np.fill_diagonal(known, False)
    distances = np.where(known, distances, distances[known].mean() if known.any() else 0.0)
    np.fill_diagonal(distances, 0.0)
    return np.asarray(distances)


def _tree(distances: FloatArray) -> FloatArray:
    from scipy.cluster.hierarchy import linkage

    return np.asarray(linkage(distances[np.triu_indices(len(distances), 1)], "average"))


def _lowest(tree: FloatArray, sizes: IntArray, n: int) -> FloatArray:
    """For each size the lowest height at which a group of that size or more exists, but of no more than half."""
    lowest = np.ones(n // 2 + 2)
    small = tree[:, 3] <= n // 2
    np.minimum.at(lowest, tree[small, 3].astype(np.intp), tree[small, 2])
    return np.minimum.accumulate(lowest[::-1])[::-1][sizes]


def _tightest(tree: FloatArray, sizes: IntArray, limits: FloatArray, n: int) -> list[IntArray]:
    """Groups within the limit of their size; of groups in each other the one with most members far below the limit."""
    inside: list[list[int]] = [[i] for i in range(n)]
    accepted = []
    for left, right, height, size in tree:
        inside.append(inside[int(left)] + inside[int(right)])
        s = int(np.searchsorted(sizes, size, side="right")) - 1
        if size <= n // 2 and height <= limits[s] + _SAME:
            accepted.append((size * (height - limits[s]), inside[-1]))
    taken: set[int] = set()
    groups = []
    for _, rows in sorted(accepted):
        if taken.isdisjoint(rows):
            taken.update(rows)
            groups.append(np.sort(rows))
    return groups


def _theta_of_pairs(positions: FloatArray, center: FloatArray) -> float:
    """The theta at which two people disagree as often as these do on average.

    A pair of items g places apart in the center is against it with a probability that is the mean displacement of g + 1
    items less that of g.
    """
    wins = Rankings(positions).pair_counts()
    upper = np.triu_indices(len(center), 1)
    first, second = wins[upper], wins.T[upper]
    gap = np.abs(center[upper[0]] - center[upper[1]]).astype(np.intp)
    both = np.bincount(gap - 1, (first + second) * (first + second - 1) / 2, minlength=len(center) - 1)
    observed = float(first @ second)
    low, high = 0.0, _LARGEST_THETA
    for _ in range(60):
        theta = (low + high) / 2
        against = np.diff(mean_displacements(theta, np.arange(1.0, len(center) + 1))[0])
        if both @ (2 * against * (1 - against)) > observed:
            low = theta
        else:
            high = theta
    return high


def _of_the_same_kind(places: FloatArray, kinds: FloatArray) -> FloatArray:
    """Full rankings with the missing, unlisted and tied places that the rows of ``kinds`` have."""
    missing = np.isnan(kinds)
    order = np.argsort(np.where(missing, np.inf, places), axis=1, kind="stable")
    shown = np.empty_like(kinds)
    np.put_along_axis(shown, order, np.sort(kinds, axis=1), axis=1)  # NaN comes last in both
    return shown
