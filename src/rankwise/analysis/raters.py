"""People one by one: `raters` says who agrees, who stands apart, who votes together, and how reliable all are.

`analyze` and ``rankwise report`` show it where rankings have names, as those of a jury; ``rankwise raters`` always.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from rankwise._decode import ConsensusRule
from rankwise._typing import ArrayLike, FloatArray, RandomState
from rankwise._validation import (
    check_generator,
    check_open_share,
    check_whole_number,
    shortlist,
    weights_count_people,
)
from rankwise.analysis import leave_one_out as without
from rankwise.analysis._rater_cliques import FEWEST_IN_CLIQUES, rater_cliques
from rankwise.analysis._rater_map import rater_map
from rankwise.analysis._rater_tests import distances_to_others, rater_tests
from rankwise.analysis.base import rankings_of, repeated_people_notes
from rankwise.analysis.consensus import find_consensus
from rankwise.analysis.consensus_result import ConsensusResult
from rankwise.analysis.kendalls_w import concordance
from rankwise.analysis.rater_results import Raters
from rankwise.data import Rankings
from rankwise.distances import kendall_distance
from rankwise.model_selection.comparison import holm

#: of more people, a list says less than a picture
MOST_RATERS = without.MOST_RATERS
# Fewer people are too few for a test of one against the others.
_FEWEST_TESTED = 4
# Kemeny's consensus of more items takes long, and that of Borda is as good to compare people with.
_MOST_ITEMS_KEMENY = 100
_SECONDS_OF_PROOF = 5.0
# Cells of an array of all pairs of items of some people.
_CELLS = 4_000_000


def raters(
    rankings: ArrayLike,
    names: Sequence[Any] | None = None,
    *,
    consensus: ConsensusResult | None = None,
    decode: ConsensusRule | None = None,
    level: float = 0.95,
    n_simulations: int = 199,
    random_state: RandomState = 0,
) -> Raters:
    r"""Look at people one by one: who agrees, who stands apart, who votes together, and how reliable all are.

    Parameters
    ----------
    rankings : array-like of shape (n_rankings, n_items), Rankings or Survey
        Positions: column = item, 1 = best, of any kind. Whole weights count people, who are alike; other weights are
        survey weights, and every ranking is one person.
    names : sequence of shape (n_rankings,), optional
        Who made each ranking, None if unknown; by default the names or ids of the survey, or "rater 1", ...
    consensus : ConsensusResult, optional
        The consensus of these rankings, if it is known already.
    decode : str, optional
        How to find it, as in `rankwise.analysis.consensus`; by default "kemeny" up to 100 items, "borda" beyond.
    level : float, default=0.95
        People are outliers, and groups are cliques, if their corrected p-value is at most 1 - level.
    n_simulations : int, default=199
        Simulated panels of independent raters, with which cliques are compared; 0 looks for none.
    random_state : None, int, Generator or RandomState, default=0
        Decides the simulations and, of many people, the samples.

    Returns
    -------
    Raters

    See Also
    --------
    robustness : Whether the result hangs on single people, groups or items.

    Notes
    -----
    *Outliers.* A person is compared with Borda's consensus of all others. If all are draws of one Mallows model, the
    sum of all distances is sufficient for its theta, so that given the sum, the law of one distance is known: the
    p-value of a person among up to 60 is conditional on it, that of one among more takes theta from the others. Ties
    and unlisted items are accounted for exactly; of missing items, the rest is taken for a Mallows ranking of its own.
    P-values are mid-p, and Holm's method corrects them for the number of people. An outlier whose distance is so large
    that a random ranking exceeds it with probability below 5% is "reversed"; one that is not so near that a random
    ranking is nearer with probability below 5% is "random"; others are "far". With fewer than 4 people there is no
    test.

    *Reliability.* With :math:`\bar\tau` the mean of tau over two people and n people, it is
    :math:`n \bar\tau / (1 + (n - 1) \bar\tau)` (Spearman and Brown): the expected correlation of the margins by which
    items are preferred in this panel with those in another one of the same size.

    *Map.* Kernel PCA of the Kendall kernel, weighted: exact for up to 32 items; for more, of up to 1,000 people, on
    whose directions the others are projected.

    *Cliques.* Average linkage on Kendall distances; a group of at most half of the people is a clique if groups of
    its size are so tight in few of the simulated panels: draws of a Mallows model in which two people are as far apart
    as here, outliers left aside. All sizes together give independent raters a clique in about 5% of the cases, in
    fewer if there are a dozen people, or many who rank alike. Of more than 300 people a sample of 300 is taken;
    `segments` is made for many.

    Time and memory are linear in the number of people.

    References
    ----------
    Mallows (1957), Non-null ranking models, Biometrika 44. Spearman (1910), Correlation calculated from faulty data;
    Brown (1910), Some experimental results in the correlation of mental abilities, British Journal of Psychology 3.
    Jiao, Vert (2018), The Kendall and Mallows kernels for permutations, IEEE TPAMI 40.

    Examples
    --------
    >>> from rankwise.analysis import raters
    >>> votes = [[1, 2, 3, 4]] * 4 + [[1, 2, 4, 3]] * 3 + [[4, 3, 2, 1]]
    >>> found = raters(votes, ["Ann", "Ben", "Cem", "Dora", "Eli", "Fay", "Gus", "Hal"])
    >>> found.kind[-1], found.p_adjusted[-1].round(4)
    ('reversed', np.float64(0.0062))
    >>> print(found.sentences[1])
    Hal ranks nearly in reverse: was the scale read the other way round? (p = 0.006, corrected for the number of people)
    """
    check_open_share("level", level)
    check_whole_number("n_simulations", n_simulations, at_least=0)
    everything = rankings_of(rankings)
    n = len(everything)
    notes: list[str] = []
    shown = without.rater_names(rankings, names, n, notes)
    notes += repeated_people_notes(rankings)
    rng = check_generator(random_state, "raters")
    if consensus is None:
        rule: ConsensusRule = decode or ("kemeny" if everything.n_items <= _MOST_ITEMS_KEMENY else "borda")
        limit = _SECONDS_OF_PROOF if rule == "kemeny" else None
        consensus = find_consensus(everything, rule, time_limit=limit, random_state=0)
    part = everything.comparable()
    counts = weights_count_people(part.weights)
    people = part.weights.astype(np.intp) if counts else (part.weights > 0).astype(np.intp)
    leaving = np.minimum(part.weights, 1.0) if counts else part.weights
    active = np.where(part.informative, people, 0)

    to_others = distances_to_others(part, leaving)
    p_value, kind = np.full(n, np.nan), [""] * n
    p_adjusted = p_value.copy()
    silent = [name for name, count in zip(shown, active.tolist(), strict=True) if count == 0]
    if silent:
        notes.append(f"compare nothing, and count nothing: {shortlist(silent)}")
    if active.sum() < _FEWEST_TESTED:
        notes.append(f"no tests: there are fewer than {_FEWEST_TESTED} people")
    else:
        tests = rater_tests(part, to_others, active)
        p_value, tested = tests.far, np.flatnonzero(~np.isnan(tests.far))
        repeated = np.repeat(np.arange(len(tested)), active[tested])
        p_adjusted[tested[repeated]] = holm(p_value[tested[repeated]])
        for row in tested[p_adjusted[tested] <= 1 - level].tolist():
            reverse, nearer = tests.random_or_farther[row] < 0.05, tests.random_or_nearer[row] < 0.05
            kind[row] = "reversed" if reverse else "far" if nearer else "random"

    strict = np.empty(part.n_items)
    strict[np.argsort(consensus.positions, kind="stable")] = np.arange(1.0, part.n_items + 1)
    drawn = rater_map(part, consensus.positions, rng)
    if drawn.n_used < np.count_nonzero(active):
        notes.append(f"the directions of the map come from a sample of {drawn.n_used:,} people")
    groups = rater_cliques(
        part,
        active if n_simulations else active * 0,
        strict,
        np.array([bool(word) for word in kind]),
        level=level,
        n_simulations=n_simulations,
        rng=rng,
    )
    if n_simulations and groups.n_used < FEWEST_IN_CLIQUES:
        why = "there are fewer than 6 people" if active.sum() < FEWEST_IN_CLIQUES else "so many items take too long"
        notes.append(f"cliques were not looked for: {why}")
    elif n_simulations and groups.n_used < active.sum():
        notes.append(f"cliques were looked for in a sample of {groups.n_used:,} people")
    winners_without = None
    few = without.FEWEST_RATERS <= n <= without.MOST_RATERS and part.n_items <= without.MOST_ITEMS
    if few and consensus.method not in without.ASKING_RULES:
        gone = [without.without_person(everything, row, leaving[row]) for row in range(n)]
        winners_without = tuple(without.outcome(rest, consensus.method).winners for rest in gone)
    rest, mean_tau, n_effective = _agreement(part, leaving)
    has_order = bool((part.positions[active > 0] < np.nanmax(part.positions[active > 0], axis=1, keepdims=True)).any())
    return Raters(
        names=shown,
        people=people,
        decode=consensus.method,
        winners=consensus.winners,
        pairs=np.asarray(kendall_distance(part, consensus.positions)),
        distance=np.asarray(kendall_distance(part, consensus.positions, normalize=True)),
        distance_to_others=to_others.distance,
        agreement_with_rest=rest,
        p_value=p_value,
        p_adjusted=p_adjusted,
        kind=tuple(kind),
        first=_first(everything),
        winners_without=winners_without,
        kendalls_w=concordance(part, p_from="chi-square").w,
        mean_tau=mean_tau,
        reliability=_spearman_brown(mean_tau, n_effective),
        n_effective=n_effective,
        coordinates=drawn.coordinates,
        consensus_point=drawn.consensus,
        explained=drawn.explained,
        cliques=tuple(tuple(sorted(set(rows.tolist()))) for rows in groups.groups),
        clique_distance=tuple(groups.distance),
        level=float(level),
        all_tied=not has_order,
        notes=tuple(notes),
    )


def _agreement(rankings: Rankings, leaving: FloatArray) -> tuple[FloatArray, float, float]:
    """Mean tau of each person with the rest, mean tau of two people, and the effective number of people per pair.

    All are ratios of sums over the pairs of items that both of two people order.
    """
    positions, weights = rankings.positions, rankings.weights
    wins = rankings.pair_counts()
    margin, count = wins - wins.T, wins + wins.T
    # With whom a person of weight w is not paired: with the one that leaves.
    own = Rankings(rankings, weights=weights * leaving).pair_counts()
    own += own.T
    above, below = np.full(len(positions), np.nan), np.zeros(len(positions))
    k = rankings.n_items
    step = max(1, _CELLS // (k * k))
    for start in range(0, len(positions), step):
        block = positions[start : start + step]
        signs = (block[:, :, np.newaxis] < block[:, np.newaxis, :]).reshape(len(block), k * k).astype(np.float64)
        n_pairs = signs.sum(axis=1)
        rows = slice(start, start + step)
        above[rows] = signs @ margin.ravel() - leaving[rows] * n_pairs
        below[rows] = signs @ count.ravel() - leaving[rows] * n_pairs
    some = below > 1e-9 * max(1.0, float(weights.sum()))
    rest = np.where(some, above / np.where(some, below, 1.0), np.nan)
    pairs = float(np.sum(count**2 - own))
    if pairs <= 1e-9 * max(1.0, float(np.sum(count**2))):
        return rest, np.nan, np.nan
    compared = own > 0
    n_effective = float(np.mean(count[compared] ** 2 / own[compared]))
    return rest, float(np.sum(margin**2 - own)) / pairs, n_effective


def _spearman_brown(mean_tau: float, n: float) -> float:
    return np.nan if np.isnan(mean_tau) else max(0.0, n * mean_tau / (1 + (n - 1) * mean_tau)) if mean_tau > 0 else 0.0


def _first(rankings: Rankings) -> tuple[tuple[Hashable, ...], ...]:
    found: list[list[Hashable]] = [[] for _ in range(len(rankings))]
    for row, item in np.argwhere(rankings.positions == 1).tolist():
        found[row].append(rankings.items[item])
    return tuple(map(tuple, found))
