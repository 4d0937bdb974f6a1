"""Do groups rank differently, and where: `compare_groups`, for ``rankwise compare``.

`group_results` describes groups side by side; this module tests them. `group_permutations` arranges the labels,
`group_features` makes vectors of rankings, and `group_differences` looks at items and pairs one by one.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from rankwise._progress import track
from rankwise._tables import TextTable, counted, short_name
from rankwise._typing import ArrayLike, FloatArray, IntArray, RandomState
from rankwise._validation import check_choice, check_generator, check_open_share, check_whole_number
from rankwise.analysis import item_ranks_jit
from rankwise.analysis.base import Result, repeated_people_notes
from rankwise.analysis.group_design import compared_people, of_column
from rankwise.analysis.group_differences import Family, GroupDifferences, Pair, p_text
from rankwise.analysis.group_features import disagreement, effect_size, kernel_vectors
from rankwise.analysis.group_likelihood import LikelihoodRatio, likelihood_ratio
from rankwise.analysis.group_permutations import Design
from rankwise.analysis.kendalls_w import WeightKind
from rankwise.data import Rankings
from rankwise.data.positions import compare_positions
from rankwise.kernels.kendall_gram import mean_signs

GroupKernel: TypeAlias = Literal["mallows", "kendall"]

# Statistics that are equal may differ by rounding.
_ROUNDING = 1e-9
# Pairs are compared one by one up to so many items: their number grows with the square.
_MOST_ITEMS_FOR_PAIRS = 32
# Groups named by so many different numbers are probably no groups.
_MANY_NUMBERS = 11
# Numbers in the table that is summed; beyond, there is not enough memory on a common machine.
_MOST_CELLS = 400_000_000
# Words for the share of the variation that groups account for: Cohen (1988), Statistical power analysis for the
# behavioral sciences, chapter 8.
_DEGREES = {0.01: "negligible", 0.06: "small", 0.14: "medium", 2.0: "large"}


@dataclass(frozen=True, eq=False, repr=False)
class GroupComparison(Result):
    """Whether groups rank differently, and where; made by `compare_groups`.

    Attributes
    ----------
    by : str
        What the groups differ by.
    groups : tuple of str
        The labels of the groups.
    n : ndarray of shape (n_groups,)
        People in each group.
    kernel : {"mallows", "kendall"}
        By which similarity of rankings the distributions were compared.
    statistic : float
        Mean over people of the squared distance, in the space of the kernel, of the mean of their group from that of
        all. For two groups of sizes n and m, this is the squared maximum mean discrepancy times n m / (n + m)^2.
    p_value : float
        Probability of so large a statistic if groups do not matter.
    p_from : {"exact", "permutations"}
        Whether all arrangements of the labels were looked at, or random ones.
    n_permutations : int
        How many arrangements were looked at.
    effect_size : float
        Share of the variation of rankings, pair by pair, that groups account for, from 0 to 1: epsilon squared, which
        is corrected for chance. NaN if all rankings are equal. If people are compared with themselves, or in strata,
        of the variation within them: that leaves out how much people, or strata, differ, so that the share is larger.
    disagreement_within, disagreement_between : float
        Share of the pairs of items that two people of one group, and of different groups, put in a different order.
        Ties and gaps count as if they were broken at random. NaN where there are no two such people, or nobody puts one
        item before another.
    likelihood_ratio : LikelihoodRatio
        The test under Plackett-Luce.
    items : GroupDifferences
        Differences of mean ranks.
    pairs : GroupDifferences or None
        Differences of preferences; None if there are too many pairs.
    level : float
        Level of the intervals; a p-value of at most 1 - level counts as a difference.
    within : {"people", "strata"} or None
        Within what labels are exchanged, if not among all.
    notes : tuple of str
        Who was left out, and what else a reader should know.
    """

    by: str
    groups: tuple[str, ...]
    n: IntArray
    kernel: str
    statistic: float
    p_value: float
    p_from: str
    n_permutations: int
    effect_size: float
    disagreement_within: float
    disagreement_between: float
    likelihood_ratio: LikelihoodRatio
    items: GroupDifferences
    pairs: GroupDifferences | None
    level: float
    within: str | None = None
    notes: tuple[str, ...] = ()

    @property
    def differ(self) -> bool:
        """Whether the test of equal distributions found a difference."""
        return self.p_value <= 1 - self.level + _ROUNDING

    @property
    def all_alike(self) -> bool:
        """Whether all people, of all groups, rank alike."""
        parts = filter(None, (self.items, self.pairs))
        return self.statistic <= _ROUNDING and all(bool(part.same.all()) for part in parts)

    @property
    def degree(self) -> str:
        """The effect in a word: negligible below 1% of the variation, small below 6%, medium below 14%, else large."""
        return next(word for limit, word in _DEGREES.items() if not self.effect_size >= limit)

    @property
    def sentences(self) -> list[str]:
        """The result in plain words: whether groups differ, how much, and where most."""
        names = [short_name(group) for group in self.groups]
        if self.all_alike:
            return [f"All {self.n.sum():,} people rank alike, so that no groups differ."]
        who = f"{names[0]} and {names[1]}" if len(names) == 2 else f"the {len(names)} groups{of_column(self.by)}"
        test = p_text(self.p_value)
        if self.differ:
            start = who if len(names) == 2 else f"T{who[1:]}"
            lines = [f"{start} rank differently: {test}."]
        else:
            lines = [f"No difference between {who} was found: {test}. That does not show that there is none."]
        if np.isfinite(self.effect_size):
            lines.append(f"Groups account for {self._effect}.")
        order = self.items.largest_first
        if order:
            largest = self.items.sentence(*order[0])
            sure = self.items.is_sure[order[0]]
            if self.items.difference[order[0]] != 0:
                start = "The surest difference" if sure else "No item alone differs surely; the surest difference"
                if sure and not self.differ:  # the first test looks at all items at once
                    start = "That test takes all items together; looked at one by one, an item does differ"
                lines.append(f"{start}: {largest}.")
        return lines

    @property
    def _effect(self) -> str:
        """The effect in words; its size is not judged where chance alone explains it."""
        word = self.degree if self.differ else "not told from none"
        inside = f" within {self.within}" if self.within else ""
        return f"{max(self.effect_size, 0):.1%} of the variation{inside} ({word})"

    def to_frame(self, backend: str | None = None) -> Any:
        """The differences of items as a data frame; see `GroupDifferences.to_frame`."""
        return self.items.to_frame(backend)

    def as_dict(self) -> dict[str, Any]:
        """The numbers for JSON; None where one is not known."""
        numbers = ("statistic", "p_value", "effect_size", "disagreement_within", "disagreement_between")
        ratio = self.likelihood_ratio
        return {
            "by": self.by,
            "groups": [{"group": group, "n": int(n)} for group, n in zip(self.groups, self.n, strict=True)],
            "kernel": self.kernel,
            "p_from": self.p_from,
            "n_permutations": self.n_permutations,
            **{name: None if np.isnan(getattr(self, name)) else float(getattr(self, name)) for name in numbers},
            "likelihood_ratio": {
                "statistic": ratio.statistic,
                "degrees_of_freedom": ratio.degrees_of_freedom,
                "p_value": ratio.p_value,
                "reason": ratio.reason,
                "correction": ratio.correction,
            },
            "level": self.level,
            "items": self.items.as_dict(),
            "pairs": None if self.pairs is None else self.pairs.as_dict(),
            "within": self.within,
            "notes": list(self.notes),
        }

    def tables(self) -> list[TextTable]:
        """The tests, then the surest differences of items and of pairs; of people who all rank alike, the tests."""
        if self.all_alike:
            return [self.test_table()]
        of_pairs = [] if self.pairs is None else self.pairs.tables()
        return [self.test_table(), *self.items.tables(), *of_pairs]

    def test_table(self) -> TextTable:
        """The tests as a table of text."""
        sizes = ", ".join(f"{short_name(group)} {n:,}" for group, n in zip(self.groups, self.n, strict=True))
        exact = self.p_from == "exact"
        how = f"{'all ' * exact}{self.n_permutations:,} {'random ' * (not exact)}arrangements"
        rows = [
            ["people", sizes],
            ["equal distributions", f"{p_text(self.p_value)} ({how}, {self.kernel} kernel)"],
        ]
        ratio = self.likelihood_ratio
        if ratio.statistic is None or ratio.p_value is None:
            rows.append(["Plackett-Luce", f"not tested: {ratio.reason}"])
        else:
            freedom = counted(ratio.degrees_of_freedom, "degree of freedom", "degrees of freedom")
            factor = "" if ratio.correction == 1 else f", Bartlett factor {ratio.correction:.2f}"
            how = f"likelihood ratio {ratio.statistic:.2f}, {freedom}{factor}"
            rows.append(["Plackett-Luce", f"{p_text(ratio.p_value)} ({how})"])
        if np.isfinite(self.effect_size):
            rows.append(["effect", self._effect])
        if np.isfinite(self.disagreement_within) and np.isfinite(self.disagreement_between):
            rows.append(
                [
                    "disagreement",
                    f"two people of one group order {self.disagreement_within:.1%} of the pairs differently, two of "
                    f"different groups {self.disagreement_between:.1%}",
                ]
            )
        rows += [["note", note] for note in self.notes]
        return TextTable(f"Comparison by {short_name(self.by)}", " ".join(self.sentences), ["", ""], rows)


def compare_groups(
    rankings: ArrayLike,
    by: Any = None,
    *,
    strata: Any = None,
    pairs: Any = None,
    kernel: GroupKernel = "mallows",
    n_permutations: int = 999,
    level: float = 0.95,
    weight_kind: WeightKind = "auto",
    random_state: RandomState = None,
) -> GroupComparison:
    r"""Test whether groups of people rank differently, and show where.

    *Definition.* Rankings, of any kind, are vectors in the space of a kernel. The statistic is the sum over groups of
    the size times the squared distance of the mean vector from that of all: the kernel form of an analysis of variance,
    for two groups the squared maximum mean discrepancy but for a factor. Its p-value is the share of arrangements of
    the labels that make it as large, the one that was seen among them: :math:`(1 + \#)/(1 + B)` for B random
    arrangements. If there are no more than B in all, each is looked at once.

    Items are compared by mean ranks, pairs by the share of people who put one before the other, each group against all
    others (of two groups, the first against the second), with intervals and p-values by the largest ratio of difference
    and standard error in each arrangement. They are right for the whole table at once.

    Parameters
    ----------
    rankings : array-like of shape (n_rankings, n_items), Rankings or Survey
        Positions: column = item, 1 = best, of any kind. The weights of Rankings count.
    by : array-like of shape (n_rankings,), or str
        The group of each ranking; None, NaN, blank or NA where it is not known. Or the name of a column of a Survey; by
        default its ``by``. At most 50 groups.
    strata : array-like of shape (n_rankings,), or str, optional
        Compare within these classes only, such as countries: labels are permuted within them, and differences are
        means of those within them.
    pairs : array-like of shape (n_rankings,), or str, optional
        Who made each ranking, where the same people ranked once in each group, as before and after: labels are permuted
        within people. A name of a column of a Survey, or "id" for its ids.
    kernel : {"mallows", "kendall"}, default="mallows"
        "mallows" sees any difference of the distributions of full rankings. "kendall" sees differences in the share of
        people who put one item before another, and no others.
    n_permutations : int, default=999
        Number of random arrangements.
    level : float, default=0.95
        Level of the intervals.
    weight_kind : {"auto", "counts", "survey"}, default="auto"
        What weights are, as in `summary`. Counted people are permuted one by one. A survey weight stays with its
        ranking; weights are divided by their mean in each group first.
    random_state : None, int, Generator or RandomState
        Source of the random arrangements, and of the random features of "mallows" for more than 256 different rankings.

    Returns
    -------
    GroupComparison

    See Also
    --------
    group_results : Mean ranks and consensus of groups, without tests.
    sample_size : How many people a comparison needs.

    Notes
    -----
    Linear in the number of people: 10,000 rankings of 10 items take about a second. The likelihood-ratio test under
    Plackett-Luce needs independent rankings of equal weight: it is left out for strata, pairs and survey weights, and
    where a model has no maximum. With a group of less than 500 people, the ratio is divided by its mean over random
    arrangements of the labels (Bartlett's correction). P-values of items and pairs are mid-p: few people have few
    different shares, so that many arrangements have the very ratio that was seen, and these count half. Without that,
    true differences would be found more rarely than the level allows.

    References
    ----------
    Gretton, Borgwardt, Rasch, Schölkopf, Smola (2012), A kernel two-sample test, JMLR 13. Mania, Ramdas, Wainwright,
    Jordan, Recht (2018), On kernel methods for covariates that are rankings, Electronic Journal of Statistics 12.
    Rizzo, Székely (2010), DISCO analysis, Annals of Applied Statistics 4. Westfall, Young (1993), Resampling-based
    multiple testing. Lancaster (1961), Significance tests in discrete distributions, JASA 56. Chung, Romano (2013),
    Exact and asymptotically robust permutation tests, Annals of Statistics 41.

    Examples
    --------
    >>> from rankwise.analysis import compare_groups
    >>> votes = [[1, 2, 3]] * 6 + [[3, 2, 1]] * 5 + [[1, 3, 2]]
    >>> found = compare_groups(votes, ["f"] * 6 + ["m"] * 6)
    >>> round(found.p_value, 3), found.p_from
    (0.002, 'exact')
    >>> found.items.difference.round(2)
    array([[-1.67, -0.17,  1.83]])
    """
    check_choice("kernel", kernel, ("mallows", "kendall"))
    check_whole_number("n_permutations", n_permutations, at_least=1)
    check_open_share("level", level)
    people = compared_people(rankings, by, strata=strata, pairs=pairs, weight_kind=weight_kind)
    design, part, notes = people.design, people.rankings, list(people.notes)
    rng = check_generator(random_state, "compare_groups")

    signs = mean_signs(part.positions)
    weights = design.weights[:, np.newaxis]
    vectors = kernel_vectors(signs, part.positions, kernel, rng)
    families = _families(part, design, vectors.shape[1], notes)
    columns = np.hstack(
        [weights * design.centered(vectors), weights, *(family.columns for family in families.values())]
    )
    ends = np.cumsum([vectors.shape[1] + 1, *(family.columns.shape[1] for family in families.values())])

    def measured(arrangements: IntArray) -> tuple[FloatArray, list[FloatArray], list[FloatArray]]:
        """The statistic of each arrangement, and of each family the sums and the largest ratios of groups."""
        kernel_sums, *sums = np.split(design.sums(arrangements, columns), ends[:-1], axis=2)
        means = kernel_sums[..., :-1] / kernel_sums[..., -1:]
        statistics = np.square(means).sum(axis=2) @ design.sizes / len(part)
        maxima = [family.ratios(own).max(axis=2) for family, own in zip(families.values(), sums, strict=True)]
        return statistics, sums, maxima

    seen, own_sums, _ = measured(design.labels[np.newaxis])
    n_all = design.n_arrangements(n_permutations)
    blocks = design.random_arrangements(n_permutations, rng) if n_all is None else design.all_arrangements()
    n_looked_at = n_permutations if n_all is None else n_all
    found = [measured(block) for block in track(blocks, "permutations", design.n_blocks(n_looked_at))]
    statistics = np.concatenate([one[0] for one in found])
    maxima = [np.concatenate(parts) for parts in zip(*(one[2] for one in found), strict=True)]
    exact = n_all is not None
    extra = 0 if exact else 1
    reached = np.count_nonzero(statistics >= seen[0] - _ROUNDING * np.abs(statistics).max())
    if 1 / (extra + n_looked_at) > 1 - level:
        ways = counted(n_looked_at, "arrangement")
        cure = "more people are needed" if exact else "more permutations are needed"
        notes.append(f"with {ways} of the labels, no p-value can be {1 - level:.2g} or less; {cure}")

    named = {"groups": people.groups}
    differences = {
        name: family.found(sums, largest, exact, level, what=what, names=columns_of, **named)
        for (name, family), sums, largest, (what, columns_of) in zip(
            families.items(), own_sums, maxima, _names_of(families, part.items), strict=True
        )
    }
    if "held" in differences and np.nanmin(differences["held"].p_value) <= 1 - level:
        column = differences["held"].largest_first[0][1]
        notes.append(
            f"groups differ in which items they ranked, above all in {short_name(part.items[column])}: the test of "
            "equal distributions sees that, too; differences of items and pairs are among those who ranked them"
        )
    if part.kind == "incomplete":
        notes.append("where items are missing, mean ranks are those expected if they are put in at random")
    if not people.is_paired:
        notes += repeated_people_notes(rankings, "give pairs (--paired) to compare people with themselves")
    notes += _numeric_groups(people.groups, people.by)
    within, between = disagreement(signs, design)
    return GroupComparison(
        by=people.by,
        groups=people.groups,
        n=design.sizes,
        kernel=kernel,
        statistic=float(seen[0]),
        p_value=float((extra + reached) / (extra + n_looked_at)),
        p_from="exact" if exact else "permutations",
        n_permutations=n_looked_at,
        effect_size=effect_size(signs, design),
        disagreement_within=within,
        disagreement_between=between,
        likelihood_ratio=likelihood_ratio(people, rng),
        items=differences["items"],
        pairs=differences.get("pairs"),
        level=float(level),
        within="people" if people.is_paired else None if strata is None else "strata",
        notes=tuple(notes),
    )


def _families(rankings: Rankings, design: Design, n_vectors: int, notes: list[str]) -> dict[str, Family]:
    """What is compared besides whole rankings: items, pairs where these are not too many, and which items are held."""
    positions, k = rankings.positions, rankings.n_items
    ranks, sizes, *_ = item_ranks_jit.rank_items(positions, rankings.weights)
    blocks = 5 if design.is_weighted else 3
    cells = len(positions) * (n_vectors + blocks * k)
    with_pairs = k <= _MOST_ITEMS_FOR_PAIRS
    if cells + len(positions) * blocks * k * (k - 1) / 2 > _MOST_CELLS:
        with_pairs = False
    if cells > _MOST_CELLS:
        raise ValueError(
            f"{len(positions):,} rankings of {k:,} items are too many for this machine: compare a random sample of them"
        )
    families = {"items": Family(ranks * ((k + 1) / (sizes + 1))[:, np.newaxis], design)}
    if with_pairs:
        above, below = np.triu_indices(k, 1)
        families["pairs"] = Family(compare_positions(positions[:, above], positions[:, below]), design)
    else:
        notes.append(f"the {k * (k - 1) // 2:,} pairs of items are too many to be compared one by one")
    missing = np.isnan(ranks)
    if missing.any():
        families["held"] = Family((~missing).astype(np.float64), design)
    return families


def _numeric_groups(groups: Sequence[str], by: str) -> list[str]:
    """A note where groups are the different values of a number, such as ages."""
    if len(groups) < _MANY_NUMBERS or not all(group.replace(".", "", 1).lstrip("-").isdigit() for group in groups):
        return []
    return [
        f"{short_name(by)} has {len(groups)} different numbers, each a group of few people; cut it into classes, or "
        "see how places change with it by `drivers`"
    ]


def _names_of(families: Sequence[str] | dict[str, Family], items: tuple[Hashable, ...]) -> list[tuple[str, Any]]:
    """Of each family, what it compares, and the names of its columns."""
    above, below = np.triu_indices(len(items), 1)
    pairs = tuple(Pair(items[i], items[j]) for i, j in zip(above.tolist(), below.tolist(), strict=True))
    return [("pair", pairs) if name == "pairs" else ("item", items) for name in families]
