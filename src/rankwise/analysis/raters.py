"""People one by one: `raters` says who agrees, who stands apart, who votes together, and how reliable all are.

`analyze` and ``rankwise report`` show it where rankings have names, as those of a jury; ``rankwise raters`` always.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankwise._decode import ConsensusRule
from rankwise._tables import TextTable, counted, make_frame, short_name
from rankwise._typing import ArrayLike, FloatArray, IntArray, RandomState
from rankwise._validation import check_generator, check_open_share, check_whole_number, weights_count_people
from rankwise.analysis import leave_one_out as without
from rankwise.analysis._rater_cliques import FEWEST_IN_CLIQUES, rater_cliques
from rankwise.analysis._rater_map import rater_map
from rankwise.analysis._rater_tests import distances_to_others, rater_tests
from rankwise.analysis.base import Result, rankings_of
from rankwise.analysis.consensus import find_consensus
from rankwise.analysis.consensus_result import ConsensusResult
from rankwise.analysis.kendalls_w import concordance
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
# Rows of a table, and names in a sentence.
_SHOWN_ROWS, _SHOWN_NAMES = 30, 5
# Cells of an array of all pairs of items of some people.
_CELLS = 4_000_000
_WANTED_RELIABILITY = 0.9


@dataclass(frozen=True, eq=False, repr=False)
class Raters(Result):
    """How people agree with each other, one by one; made by `raters`.

    Arrays have an entry for each row of the rankings, in their order; NaN for people who compare nothing.

    Attributes
    ----------
    names : tuple of str
        Who made each ranking.
    people : ndarray of shape (n_raters,), intp
        How many people each row stands for: its weight where weights count people, otherwise 1.
    decode : str
        How the consensus was found.
    winners : tuple
        The items that come first in the consensus.
    pairs : ndarray of shape (n_raters,)
        Pairs of items that a person orders against the consensus; half of one where only one of them ties it.
    distance : ndarray of shape (n_raters,)
        The same as a share of the pairs that the person compares: 0 is the same order, 1 the reverse.
    distance_to_others : ndarray of shape (n_raters,)
        The same distance to the consensus of all others, by Borda's rule.
    tau : ndarray of shape (n_raters,)
        Kendall's tau with the consensus, from -1 to 1: 1 - 2 distance.
    agreement_with_rest : ndarray of shape (n_raters,)
        Mean of Kendall's tau with all others, over the pairs of items that both order: the analog of an item-total
        correlation.
    p_value : ndarray of shape (n_raters,)
        Probability that a person is so far from the others if all are draws of one Mallows model.
    p_adjusted : ndarray of shape (n_raters,)
        The same, corrected for the number of people by Holm's method.
    kind : tuple of str
        "reversed" for an outlier who is farther from the others than a random ranking would be, "random" for one who is
        no nearer than a random ranking, "far" for any other outlier, "" for all others.
    first : tuple of tuple
        The items that each puts first.
    winners_without : tuple of tuple, or None
        The items that come first in the consensus of all others; None if that was not looked at, as with fewer than 3
        or more than 60 people or more than 15 items.
    kendalls_w : float
        Kendall's W of all.
    mean_tau : float
        Mean of Kendall's tau of two people, over the pairs of items that both order.
    reliability : float
        Expected correlation of the margins of all pairs of items with those of as many other people of the same kind,
        by the formula of Spearman and Brown; 0 if people do not agree at all.
    n_effective : float
        Number of people of equal weight that order a pair of items, on average.
    coordinates : ndarray of shape (n_raters, 2)
        A map of the people: kernel PCA of the Kendall kernel.
    consensus_point : ndarray of shape (2,)
        Where the consensus lies on it.
    explained : ndarray of shape (2,)
        Share of the variance that each direction of the map shows.
    cliques : tuple of tuple of int
        Rows of the people who agree with each other more than independent raters would, the largest group first.
    clique_distance : tuple of float
        Mean Kendall distance of two members of each clique.
    level : float
        1 - level is the p-value from which on a person or a group is unusual.
    notes : tuple of str
        What was not looked at, or in a sample only.
    """

    names: tuple[str, ...]
    people: IntArray
    decode: str
    winners: tuple[Hashable, ...]
    pairs: FloatArray
    distance: FloatArray
    distance_to_others: FloatArray
    agreement_with_rest: FloatArray
    p_value: FloatArray
    p_adjusted: FloatArray
    kind: tuple[str, ...]
    first: tuple[tuple[Hashable, ...], ...]
    winners_without: tuple[tuple[Hashable, ...], ...] | None
    kendalls_w: float
    mean_tau: float
    reliability: float
    n_effective: float
    coordinates: FloatArray
    consensus_point: FloatArray
    explained: FloatArray
    cliques: tuple[tuple[int, ...], ...]
    clique_distance: tuple[float, ...]
    level: float
    notes: tuple[str, ...] = ()

    @property
    def agreement(self) -> FloatArray:
        """Share of the pairs of items on which each agrees with the consensus: one less the distance."""
        return 1 - self.distance

    @property
    def tau(self) -> FloatArray:
        """Kendall's tau of each with the consensus: 1 is the same order, -1 the reverse."""
        return 1 - 2 * self.distance

    @property
    def outliers(self) -> IntArray:
        """Rows of the people who are farther from the others than chance explains, the farthest first."""
        rows = np.flatnonzero([bool(kind) for kind in self.kind])
        return rows[np.lexsort((-self.distance_to_others[rows], self.p_value[rows]))]

    @property
    def order(self) -> IntArray:
        """All rows, the farthest from the consensus first, and last those who compare nothing."""
        return np.argsort(-np.nan_to_num(self.distance, nan=-1.0), kind="stable")

    @property
    def sentences(self) -> list[str]:
        """Who agrees, who stands apart, how reliable all are together, who votes together, and whose vote decides."""
        order = [row for row in self.order.tolist() if np.isfinite(self.distance[row])]
        lines = []
        if len(order) < 2:
            return ["One person alone can be compared with nobody."]
        low, high = order[0], order[-1]
        if self.distance[low] == self.distance[high] == 0:
            lines.append("Everybody ranks alike.")
        else:
            lines.append(
                f"{short_name(self.names[high])} agrees most with the joint ranking ({self.agreement[high]:.0%} of the "
                f"pairs), {short_name(self.names[low])} least ({self.agreement[low]:.0%})."
            )
        lines += [*self._about_outliers(), *self._about_reliability(), *self._about_cliques(), *self._about_winner()]
        return lines

    @property
    def sentence(self) -> str:
        """The sentences in one."""
        return " ".join(self.sentences)

    def _about_outliers(self) -> list[str]:
        if np.isnan(self.p_value).all():
            return []
        outliers = self.outliers.tolist()
        if not outliers:
            return ["Nobody stands apart from the others by more than chance explains."]
        words = {
            "reversed": "{} nearly in reverse: was the scale read the other way round?",
            "random": "{} no nearer to the others than a random order would be.",
            "far": "{} apart from the others, by more than chance explains.",
        }
        verbs = {"reversed": ("ranks", "rank"), "random": ("ranks", "rank"), "far": ("stands", "stand")}
        lines = []
        for kind, text in words.items():
            rows = [row for row in outliers if self.kind[row] == kind]
            if rows:
                smallest = max(self.p_adjusted[rows])
                p = "p < 0.001" if smallest < 0.001 else f"p = {smallest:.3f}"
                said = text.format(f"{self._named(rows)} {verbs[kind][len(rows) > 1]}")
                lines.append(f"{said} ({p}, corrected for the number of people)")
        return lines

    def _about_reliability(self) -> list[str]:
        if np.isnan(self.mean_tau):
            return []
        n = counted(round(self.n_effective), "person", "people")
        if self.mean_tau <= 0:
            return [f"Two people do not agree on average (tau = {self.mean_tau:.2f}): a joint ranking is not reliable."]
        text = (
            f"Two people agree by tau = {self.mean_tau:.2f} on average; a joint ranking of {n} is reliable to "
            f"{self.reliability:.2f}"
        )
        needed = _WANTED_RELIABILITY / (1 - _WANTED_RELIABILITY) * (1 - self.mean_tau) / self.mean_tau
        if self.reliability < _WANTED_RELIABILITY:
            text += f", one of {int(np.ceil(needed - 1e-9)):,} such people to {_WANTED_RELIABILITY:.2f}"
        return [f"{text}."]

    def _about_cliques(self) -> list[str]:
        if not self.cliques:
            return []
        groups = [self._named(rows) for rows in self.cliques[:2]]
        more = f", and so do {counted(len(self.cliques) - 2, 'more group')}" if len(self.cliques) > 2 else ""
        return [f"{'; '.join(groups)} agree with each other more than independent raters would{more}."]

    def _about_winner(self) -> list[str]:
        if self.winners_without is None:
            return []
        gone = zip(self.names, self.winners_without, strict=True)
        decisive = [short_name(name) for name, winners in gone if set(winners) != set(self.winners)]
        if not decisive:
            return ["No single vote decides the winner: leave out any one of them, and the first place stays."]
        if len(decisive) == 1:
            return [f"First place hangs on one vote: without {decisive[0]} it changes."]
        return [f"First place is close: it changes without {counted(len(decisive), 'vote')}, taken one at a time."]

    def _named(self, rows: Sequence[int]) -> str:
        shown = [short_name(self.names[row]) for row in rows[:_SHOWN_NAMES]]
        if len(rows) > _SHOWN_NAMES:
            return f"{', '.join(shown)} and {len(rows) - _SHOWN_NAMES:,} more"
        return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"

    def to_frame(self, backend: str | None = None) -> Any:
        """A data frame with a row per person, of pandas by default, else of the named backend.

        Columns: ``name``, ``people``, ``pairs``, ``distance``, ``distance_to_others``, ``tau``,
        ``agreement_with_rest``, ``p_value``, ``p_adjusted``, ``kind``, ``clique`` (its number from 1, 0 for none),
        ``x``, ``y``, ``first`` and, where that was looked at, ``winners_without``.
        """
        columns: dict[str, Any] = {"name": list(self.names)}
        for name in ("people", "pairs", "distance", "distance_to_others", "tau", "agreement_with_rest"):
            columns[name] = getattr(self, name)
        columns |= {"p_value": self.p_value, "p_adjusted": self.p_adjusted, "kind": list(self.kind)}
        columns["clique"] = self.clique_of_each()
        columns |= {"x": self.coordinates[:, 0], "y": self.coordinates[:, 1]}
        columns["first"] = [_joined(items) for items in self.first]
        if self.winners_without is not None:
            columns["winners_without"] = [_joined(items) for items in self.winners_without]
        return make_frame(columns, backend)

    def clique_of_each(self) -> IntArray:
        """The number of each person's clique, from 1, and 0 for people in none: (n_raters,)."""
        number = np.zeros(len(self.names), dtype=np.intp)
        for clique, rows in enumerate(self.cliques, start=1):
            number[list(rows)] = clique
        return number

    def as_dict(self) -> dict[str, Any]:
        """The people for JSON, the farthest from the consensus first; None for what is not known."""
        raters: list[dict[str, Any]] = []
        for row in self.order.tolist():
            rater: dict[str, Any] = {"name": self.names[row], "pairs": float(self.pairs[row])}
            for name in ("distance", "distance_to_others", "agreement_with_rest", "p_value", "p_adjusted"):
                rater[name] = _or_none(getattr(self, name)[row])
            rater |= {"kind": self.kind[row], "map": [_or_none(x) for x in self.coordinates[row]]}
            rater["first"] = [str(item) for item in self.first[row]]
            if self.winners_without is not None:
                rater["winners_without"] = [str(item) for item in self.winners_without[row]]
            raters.append(rater)
        names = ("kendalls_w", "mean_tau", "reliability", "n_effective")
        return {
            "raters": raters,
            "reliability": {name: _or_none(getattr(self, name)) for name in names},
            "cliques": [
                {"names": [self.names[row] for row in rows], "mean_distance": distance}
                for rows, distance in zip(self.cliques, self.clique_distance, strict=True)
            ],
            "map_explained": self.explained.tolist(),
        }

    def tables(self) -> list[TextTable]:
        """The people as a table of text, the farthest first, then what holds for all of them."""
        order = self.order.tolist()
        tested = not np.isnan(self.p_value).all()
        columns = ["name", "agrees", "pairs against", "tau with the rest", *(["p", ""] if tested else []), "puts first"]
        rows = []
        for row in order[:_SHOWN_ROWS]:
            share, rest = self.agreement[row], self.agreement_with_rest[row]
            cells = [short_name(self.names[row]), "" if np.isnan(share) else f"{share:.0%}", f"{self.pairs[row]:g}"]
            cells.append("" if np.isnan(rest) else f"{rest:.2f}")
            if tested:
                cells += [_p(self.p_adjusted[row]), {"reversed": "reversed scale?"}.get(self.kind[row], self.kind[row])]
            rows.append([*cells, _joined(self.first[row])])
        if self.winners_without is not None:
            columns.append("first without this vote")
            for cells, row in zip(rows, order, strict=False):
                cells.append(_joined(self.winners_without[row]))
        note = "agrees: share of the pairs of items that the name and the joint ranking put in the same order"
        if tested:
            note += "; p: so far from all others by chance, corrected for the number of people"
        if len(order) > _SHOWN_ROWS:
            note += f"; the {_SHOWN_ROWS} farthest of {len(order):,} people"
        return [TextTable("Who disagrees", note, columns, rows), self.reliability_table()]

    def reliability_table(self) -> TextTable:
        """What holds for all of them, as a table of text."""
        rows = [
            ["Kendall's W", _known(self.kendalls_w, "0 is no agreement, 1 full agreement")],
            ["tau of two people", _known(self.mean_tau, "mean over all who order the same items")],
            ["reliability", _known(self.reliability, "expected correlation with as many other people")],
            ["map", f"two directions show {self.explained.sum():.0%} of the differences"],
        ]
        for number, (members, distance) in enumerate(zip(self.cliques, self.clique_distance, strict=True), start=1):
            rows.append([f"clique {number}", f"{self._named(members)} (mean distance {distance:.2f})"])
        rows += [["note", note] for note in self.notes]
        return TextTable("Raters together", " ".join(self.sentences[1:]), ["", ""], rows)


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
    that a random ranking exceeds it with probability below 5 % is "reversed"; one that is not so near that a random
    ranking is nearer with probability below 5 % is "random"; others are "far". With fewer than 4 people there is no
    test.

    *Reliability.* With :math:`\bar\tau` the mean of tau over two people and n people, it is
    :math:`n \bar\tau / (1 + (n - 1) \bar\tau)` (Spearman and Brown): the expected correlation of the margins by which
    items are preferred in this panel with those in another one of the same size.

    *Map.* Kernel PCA of the Kendall kernel, weighted: exact for up to 32 items; for more, of up to 1,000 people, on
    whose directions the others are projected.

    *Cliques.* Average linkage on Kendall distances; a group of at most half of the people is a clique if groups of
    its size are so tight in few of the simulated panels: draws of a Mallows model in which two people are as far apart
    as here, outliers left aside. All sizes together give independent raters a clique in 5 % of the cases. Of more than
    300 people a sample of 300 is taken; `segments` is made for many.

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
    shown = without.rater_names(rankings, names, n)
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
    notes = []
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


def _joined(items: Sequence[Hashable]) -> str:
    return ", ".join(map(short_name, items))


def _p(value: float) -> str:
    return "" if np.isnan(value) else "< 0.001" if value < 0.001 else f"{value:.3f}"


def _known(value: float, meaning: str) -> str:
    return "unknown: too few people order the same items" if np.isnan(value) else f"{value:.2f} ({meaning})"


def _or_none(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
