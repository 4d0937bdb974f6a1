"""Do tests reject, and intervals miss, as often as their level of 5% says? Simulations of the statistics of people.

Each row is a test of people who do not differ, or an interval of a number that is known: how often, of so many runs, it
was wrong. The standard error of 500 runs is one point, that of 2,000 runs half a point. Tests and intervals of one
table (items, pairs), which hold for all of it at once, count a run once, if any of them is wrong; single coefficients
are counted one by one. What `sample_size` promises is a power of 80%: its rows say how often a difference was not
found, 20% or a little less.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from itertools import combinations
from typing import Any

import numpy as np
from common import arguments, save
from scipy.special import expit
from scipy.stats import chi2

from rankwise import Rankings
from rankwise.aggregation import (
    BestWorst,
    BradleyTerry,
    Mallows,
    MallowsMixture,
    PlackettLuce,
    PlackettLuceMixture,
    borda,
    sample_mallows,
)
from rankwise.analysis import compare_groups, drivers, raters, sample_size
from rankwise.analysis.sample_size import mallows_places
from rankwise.label_ranking import PlackettLuceRanker, PlackettLuceTree, RankingForest

WORTH = np.array([1, 0.5, 0, -0.5])
CENTERS = [[1, 2, 3, 4, 5], [5, 3, 4, 1, 2]]
FIVE = np.linspace(0.6, -0.6, 5)
Wrong = Iterator[tuple[str, Any]]


def main() -> None:
    options = arguments(__doc__)
    rows = []
    for study, n_runs in STUDIES:
        n_runs = 20 if options.quick else n_runs
        rng = np.random.default_rng(options.seed)
        wrong: dict[str, list[float]] = {}
        for _ in range(n_runs):
            for what, one in study(rng):
                wrong.setdefault(what, []).append(float(np.mean(one)))
        where = str(study.__doc__).rstrip(".")
        for what, each in wrong.items():
            share = 100 * float(np.mean(each))
            rows.append({"where": where, "what": what, "n_runs": len(each), "percent": round(share, 2)})
            print(f"{share:5.1f}%  {what:<24} {where} ({len(each):,} runs)", flush=True)
    save("error_rates", rows, options, [])


def draw(rng: np.random.Generator, utility: np.ndarray, n: int | None = None) -> np.ndarray:
    """Plackett-Luce rankings of these log worths: one for each row, or n of one row."""
    table = utility if n is None else np.tile(utility, (n, 1))
    return np.argsort(np.argsort(-(table + rng.gumbel(size=table.shape)), axis=1), axis=1) + 1.0


def compared(rng: np.random.Generator, positions: Any, labels: Any, n_permutations: int = 99, **design: Any) -> Wrong:
    """Which tests of `compare_groups` reject."""
    for kernel in ("mallows", "kendall"):
        found = compare_groups(
            positions,
            labels,
            kernel=kernel,
            n_permutations=n_permutations,
            random_state=int(rng.integers(1 << 31)),
            **design,
        )
        yield f"equal distributions, {kernel}", found.p_value <= 0.05
    ratio = found.likelihood_ratio.p_value
    if ratio is not None:
        yield "likelihood ratio", ratio <= 0.05
    yield "items", np.nanmin(found.items.p_value) <= 0.05
    assert found.pairs is not None
    yield "pairs", np.nanmin(found.pairs.p_value) <= 0.05


def two_groups(rng: np.random.Generator, **design: Any) -> Wrong:
    """Groups of 16 and 32 people, 4 items."""
    return compared(rng, draw(rng, WORTH, 48), np.repeat(["a", "b"], [16, 32]), **design)


def three_groups(rng: np.random.Generator) -> Wrong:
    """Three groups of 20 people, 4 items."""
    return compared(rng, draw(rng, WORTH, 60), np.repeat(["a", "b", "c"], 20))


def twelve_each(rng: np.random.Generator, **design: Any) -> Wrong:
    """Two groups of 12 people, 5 items."""
    return compared(rng, draw(rng, FIVE, 24), np.repeat(["a", "b"], 12), **design)


def in_strata(rng: np.random.Generator) -> Wrong:
    """60 people in three strata of other tastes, which hold other shares of two groups."""
    strata = rng.integers(0, 3, 60)
    labels = np.where(rng.random(60) < np.array([0.3, 0.5, 0.7])[strata], "a", "b")
    return compared(rng, draw(rng, np.where((strata == 0)[:, None], WORTH, -WORTH)), labels, strata=strata)


def ranked_twice(rng: np.random.Generator) -> Wrong:
    """24 people who ranked twice."""
    who = np.tile(np.arange(24), 2)
    return compared(rng, draw(rng, WORTH + 2 * rng.normal(size=(24, 4))[who]), np.repeat(["a", "b"], 24), pairs=who)


def survey_weights(rng: np.random.Generator) -> Wrong:
    """Groups of 16 and 32 people with survey weights from .3 to 3."""
    rankings = Rankings(draw(rng, WORTH, 48), weights=rng.uniform(0.3, 3, 48))
    return compared(rng, rankings, np.repeat(["a", "b"], [16, 32]))


def with_ties(rng: np.random.Generator) -> Wrong:
    """Groups of 40 people, half of whom tie their first two items."""
    positions = draw(rng, WORTH, 80)
    tied = np.where(rng.random((80, 1)) < 0.5, np.maximum(positions - 1, 1), positions)
    return compared(rng, tied, np.repeat(["a", "b"], 40))


def sixteen_twice(rng: np.random.Generator) -> Wrong:
    """16 people who ranked 5 items twice."""
    who = np.tile(np.arange(16), 2)
    positions = draw(rng, FIVE + 2 * rng.normal(size=(16, 5))[who])
    # As many as by default: few different shares and few arrangements together find fewer differences of pairs.
    return compared(rng, positions, np.repeat(["a", "b"], 16), n_permutations=999, pairs=who)


def ratio_of(study: Callable[..., Wrong]) -> Callable[..., Wrong]:
    """The likelihood ratio alone, which takes most of the time."""

    def part(rng: np.random.Generator) -> Wrong:
        return (one for one in study(rng) if one[0] == "likelihood ratio")

    part.__doc__ = study.__doc__
    return part


def rest_of(study: Callable[..., Wrong]) -> Callable[..., Wrong]:
    """All but the likelihood ratio: survey weights, here equal ones, leave it out."""

    def part(rng: np.random.Generator) -> Wrong:
        return study(rng, weight_kind="survey")

    part.__doc__ = study.__doc__
    return part


def three_that_differ(rng: np.random.Generator, n: int) -> tuple[Any, Any, str]:
    """Three groups of 30 people who differ."""
    labels = np.arange(n) % 3
    return draw(rng, np.array([WORTH, WORTH[::-1], [0, 1, 0, 0]])[labels]), labels, ""


def strata_that_differ(rng: np.random.Generator, n: int) -> tuple[Any, Any, str]:
    """Two groups of 45 people who differ, in three strata."""
    labels, strata = np.arange(n) % 2, np.arange(n) // 2 % 3
    worth = np.array([WORTH, [0, 0, 0, 1]])[labels] + np.array([[0, 0, 0, 0], [1, 1, 0, 0], [0, 1, 0, 1]])[strata]
    return draw(rng, worth), labels, "strata"


def twice_that_differ(rng: np.random.Generator, n: int) -> tuple[Any, Any, str]:
    """45 people who ranked twice, and otherwise."""
    labels, who = np.arange(n) % 2, np.arange(n) // 2
    return draw(rng, np.array([WORTH, [0, 0, 0, 1]])[labels] + rng.normal(size=(n // 2, 4))[who]), labels, "pairs"


def weights_that_differ(rng: np.random.Generator, n: int) -> tuple[Any, Any, str]:
    """Groups of 30 and 60 people of other taste and spread, with survey weights from .5 to 1.5."""
    labels = np.minimum(np.arange(n) % 3, 1)
    worth = np.array([WORTH / 1.5, np.array([0, 1.5, 0.5, -1]) / 0.6])[labels]
    return Rankings(draw(rng, worth), weights=rng.uniform(0.5, 1.5, n)), labels, ""


def intervals_of(design: Callable[[np.random.Generator, int], tuple[Any, Any, str]]) -> Callable[..., Wrong]:
    """A study of the intervals of items and of pairs; what is true, 120,000 people say."""

    @cache
    def truth() -> list[np.ndarray]:
        large, labels, _ = design(np.random.default_rng(99), 120_000)
        ranks = np.asarray(Rankings(large).positions)
        shares = np.array([ranks[:, i] < ranks[:, j] for i, j in combinations(range(ranks.shape[1]), 2)]).T
        found = []
        for values in (ranks, shares):
            means = np.array([values[labels == group].mean(axis=0) for group in np.unique(labels)])
            others = (means.sum(axis=0) - means) / (len(means) - 1)
            found.append((means - others)[: 1 if len(means) == 2 else 3])
        return found

    def study(rng: np.random.Generator) -> Wrong:
        rankings, labels, option = design(rng, 90)
        within = {"": {}, "strata": {"strata": np.arange(90) // 2 % 3}, "pairs": {"pairs": np.arange(90) // 2}}[option]
        found = compare_groups(rankings, labels, n_permutations=199, random_state=rng, **within)
        for name, differences, true in zip(("items", "pairs"), (found.items, found.pairs), truth(), strict=True):
            assert differences is not None
            yield f"intervals of {name}", np.any((differences.low > true) | (differences.high < true))

    study.__doc__ = design.__doc__
    return study


UP = np.arange(1.0, 9)


def panel(rng: np.random.Generator) -> Wrong:
    """12 raters of 8 items who are alike."""
    return judged(rng, sample_mallows(UP, 0.5, 12, rng))


def large_panel(rng: np.random.Generator) -> Wrong:
    """30 raters of 8 items who are alike; some name their first three only, and some leave items out."""
    votes = sample_mallows(UP, 0.4, 30, rng)
    votes[:10][votes[:10] > 3] = np.inf
    votes[10:20][rng.random((10, 8)) < 0.2] = np.nan
    return judged(rng, votes)


def judged(rng: np.random.Generator, votes: np.ndarray) -> Wrong:
    """Which people `raters` calls outliers, and whether it finds cliques."""
    found = raters(votes, n_simulations=99, random_state=rng)
    yield "single raters", found.p_value <= 0.05
    yield "any outlier", np.nanmin(found.p_adjusted) <= 0.05
    yield "any clique", len(found.cliques) > 0


STEEP = np.array([2.0, 0.0, -2.0])


def driven(
    rng: np.random.Generator, X: np.ndarray, slopes: np.ndarray = STEEP, independent: bool = True, **options: Any
) -> Wrong:
    """What `drivers` says of the first feature, which drives the rankings, and of the second, which does not."""
    found = drivers(
        X, Rankings.from_scores(rng.gumbel(size=(len(X), 3)) + X[:, :1] * slopes), random_state=rng, **options
    )
    own, useless = found.features.index("x0"), found.features.index("x1")
    yield "test of the other", found.p_values[useless] <= 0.05
    if independent:  # p is corrected for all features: the level is that of any
        yield "any useless feature", np.delete(found.p_values, own).min() <= 0.05
    yield "interval of its importance", found.low[useless] > 0 or found.high[useless] < 0
    effect, items = found.effects[own], np.arange(3)
    gaps = np.array(effect.values)[:, np.newaxis] * slopes
    places = 0.5 + expit(gaps[:, :, np.newaxis] - gaps[:, np.newaxis]).sum(axis=1)
    moves = places[effect.worst, items] - places[effect.best, items]
    yield "intervals of moves", (effect.moves_low > moves) | (moves > effect.moves_high)
    yield "intervals of places", (effect.low > places) | (places > effect.high)


def forests(rng: np.random.Generator) -> Wrong:
    """Two features of 120 people by forests, the default: one drives rankings of 3 items."""
    return driven(rng, rng.random((120, 2)))


def linear_drivers(rng: np.random.Generator) -> Wrong:
    """Three features of 200 people, two of which go together, by PlackettLuceRanker: one drives rankings of 3 items."""
    X = rng.random((200, 3))
    X[:, 0] = 0.5 * (X[:, 0] + X[:, 2])
    return driven(rng, X, independent=False, ranker=PlackettLuceRanker())


def weak_drivers(rng: np.random.Generator) -> Wrong:
    """Three features of 120 people, by PlackettLuceRanker: one drives rankings of 3 items a little."""
    return driven(rng, rng.standard_normal((120, 3)), STEEP / 4, ranker=PlackettLuceRanker())


def no_drivers(rng: np.random.Generator) -> Wrong:
    """Three features of 120 people that tell nothing about rankings of 3 items, by forests of 15 trees."""
    ranker = RankingForest(15, min_samples_leaf=5)
    found = drivers(rng.random((120, 3)), draw(rng, WORTH[:3], 120), ranker=ranker, random_state=rng)
    yield "any feature", found.p_values.min() <= 0.05


@cache
def size_for(goal: str, **options: Any) -> int:
    found = sample_size(3 if goal == "groups" else 5, goal=goal, random_state=0, **options)  # type: ignore[arg-type]
    assert found.n is not None
    return found.n


def precision(rng: np.random.Generator) -> Wrong:
    """sample_size(5, theta=0.3, precision=0.3)."""
    n = size_for("places", theta=0.3, precision=0.3)
    middle = sample_mallows(UP[:5], 0.3, n, rng)[:, 2].mean()  # which varies most, and is the third on average
    yield "place of the item that varies most", abs(middle - 3) > 0.3


def winner(rng: np.random.Generator) -> Wrong:
    """sample_size(5, goal="winner", theta=0.15): power 80%."""
    n = size_for("winner", theta=0.15)
    first = borda(sample_mallows(UP[:5], 0.15, n, rng))
    yield "winner not found", not (first[0] == 1 and (first[1:] > 1).all())


def difference(rng: np.random.Generator) -> Wrong:
    """sample_size(5, goal="difference", theta=0.3) for an item in the second and the fourth place: power 80%."""
    places = mallows_places(5, 0.3) @ UP[:5]
    n = size_for("difference", theta=0.3, difference=float(places[3] - places[1]))
    groups = np.vstack([sample_mallows(center, 0.3, n, rng) for center in (UP[:5], [1.0, 4, 2, 3, 5])])
    found = compare_groups(groups, np.repeat(["a", "b"], n), n_permutations=199, random_state=rng)
    yield "difference not found", found.items.p_value[0, 1] > 0.05


def two_laws(rng: np.random.Generator) -> Wrong:
    """sample_size(3, goal="groups", theta=0.7, difference=2): power 80%."""
    n = size_for("groups", theta=0.7, difference=2)
    groups = np.vstack([sample_mallows(center, 0.7, n, rng) for center in ([1.0, 2, 3], [3.0, 1, 2])])
    found = compare_groups(groups, np.repeat(["a", "b"], n), n_permutations=199, random_state=rng)
    yield "difference not found", found.p_value > 0.05


POOLS = [Mallows(theta=1.2, center=c).sample(20_000, np.random.default_rng(9)).positions for c in CENTERS]
CAMPS = np.array([[1.5, 1, 0, -1, -1.5], [-1.5, -0.5, 0, 0.5, 1.5]])


def mallows_segments(rng: np.random.Generator) -> Wrong:
    """Two Mallows segments of 120 people with a covariate."""
    x = rng.normal(size=(120, 1))
    second = rng.random((120, 1)) < 1 / (1 + np.exp(-0.3 - x))
    first_rows, second_rows = (pool[rng.integers(len(pool), size=120)] for pool in POOLS)
    fitted = MallowsMixture(2, n_init=1, random_state=0).fit(np.where(second, second_rows, first_rows), None, x)
    flipped = fitted.centers_[0, 0] > fitted.centers_[1, 0]
    yield from of_segments(fitted, flipped)
    yield "interval of concentration", np.abs(fitted.thetas_ - 1.2) > 1.96 * fitted.thetas_se_


def plackett_luce_segments(rng: np.random.Generator) -> Wrong:
    """Two Plackett-Luce segments of 200 people with a covariate."""
    x = rng.normal(size=(200, 1))
    second = rng.random((200, 1)) < 1 / (1 + np.exp(-0.3 - x))
    fitted = PlackettLuceMixture(2, n_init=1, random_state=0).fit(
        draw(rng, np.where(second, CAMPS[1], CAMPS[0])), None, x
    )
    flipped = fitted.log_worths_[0, 0] < fitted.log_worths_[1, 0]
    yield from of_segments(fitted, flipped)
    truth = CAMPS[::-1] if flipped else CAMPS
    yield "intervals of worths", np.abs(fitted.log_worths_ - truth) > 1.96 * fitted.log_worths_se_


def unlinked_segments(rng: np.random.Generator) -> Wrong:
    """Two Mallows segments of 120 people with two covariates that tell nothing of the segment."""
    x, second = rng.normal(size=(120, 2)), rng.random((120, 1)) < 0.35
    first_rows, second_rows = (pool[rng.integers(len(pool), size=120)] for pool in POOLS)
    rows = np.where(second, second_rows, first_rows)
    plain, linked = (MallowsMixture(2, n_init=1, random_state=0).fit(rows, None, X) for X in (None, x))
    yield "likelihood ratio of the link", chi2.sf(2 * (linked.log_likelihood_ - plain.log_likelihood_), 2) <= 0.05
    yield "tests of single slopes", chi2.sf(linked.slope_ratios(rows, None, x)[1], 1) <= 0.05
    share = plain.weights_[0 if plain.centers_[0, 0] < plain.centers_[1, 0] else 1]
    yield "interval of a share", abs(share - 0.65) > 1.96 * plain.weights_se_[0]


def of_segments(fitted: Any, flipped: bool) -> Wrong:
    """Whether the intervals of the coefficients of the membership miss the truth."""
    coef = -fitted.membership_coef_[1] if flipped else fitted.membership_coef_[1]
    missed = np.abs(coef - [0.3, 1.0]) > 1.96 * fitted.membership_se_[1]
    yield "interval of an intercept", missed[0]
    yield "interval of a slope", missed[1]


def summaries(make: Callable[[np.random.Generator, np.ndarray], Any], rng: np.random.Generator) -> Wrong:
    """Intervals of the worths of a model, and its tests of equal items."""
    low, high = make(rng, FIVE).summary().intervals[: len(FIVE)].T
    yield "intervals of worths", (low > FIVE) | (high < FIVE)
    equal = make(rng, np.zeros(5)).summary()
    yield "likelihood ratio", equal.likelihood_ratio.p_value <= 0.05
    yield "Wald test", equal.wald.p_value <= 0.05


def worths(rng: np.random.Generator) -> Wrong:
    """Plackett-Luce, 100 rankings of 5 items."""
    return summaries(lambda rng, worth: PlackettLuce().fit(draw(rng, worth, 100)), rng)


def weighted(model: Any, rankings: Any, rng: np.random.Generator) -> Wrong:
    """Intervals and the test of equal items, where weights from .3 to 3 have nothing to do with the rankings."""
    rows = np.asarray(rankings(FIVE).positions)
    low, high = model.fit(Rankings(rows, weights=rng.uniform(0.3, 3, len(rows)))).summary().intervals.T
    yield "intervals of worths", (low > FIVE) | (high < FIVE)
    rows = np.asarray(rankings(np.zeros(5)).positions)
    equal = model.fit(Rankings(rows, weights=rng.uniform(0.3, 3, len(rows)))).summary()
    yield "robust Wald test", equal.wald.p_value <= 0.05


def worths_with_survey_weights(rng: np.random.Generator) -> Wrong:
    """Plackett-Luce, 100 rankings of 5 items with survey weights from .3 to 3."""
    return weighted(PlackettLuce(), lambda worth: Rankings(draw(rng, worth, 100)), rng)


def pairs_with_survey_weights(rng: np.random.Generator) -> Wrong:
    """Bradley-Terry, 250 comparisons of 5 items with survey weights from .3 to 3."""

    def compared(worth: np.ndarray) -> Rankings:
        PAIRS.log_worth_ = worth
        return PAIRS.sample(250, rng)

    return weighted(BradleyTerry(), compared, rng)


def features_with_survey_weights(rng: np.random.Generator) -> Wrong:
    """PlackettLuceRanker(alpha=0), two features of 150 people with survey weights from .3 to 3, 3 items."""
    y = Rankings(draw(rng, np.zeros(3), 150), weights=rng.uniform(0.3, 3, 150))
    summary = PlackettLuceRanker(alpha=0).fit(rng.normal(size=(150, 2)), y).summary()
    low, high = summary.intervals.T
    yield "intervals of coefficients", (low > 0) | (high < 0)
    yield "robust Wald test", summary.wald.p_value <= 0.05


def quasi_errors(rng: np.random.Generator) -> Wrong:
    """Plackett-Luce, 60 rankings of 5 items."""
    summary = PlackettLuce().fit(draw(rng, FIVE, 60)).summary()
    i, j = np.triu_indices(5, 1)
    error = summary.coefficients[i] - summary.coefficients[j] - (FIVE[i] - FIVE[j])
    quasi = summary.quasi_standard_errors
    assert quasi is not None
    yield "differences by quasi-standard errors", np.abs(error) > 1.96 * np.hypot(quasi[i], quasi[j])


TIED = PlackettLuce(alpha=1.0).fit([[1, 1, 2, 3, 4], [2, 1, 3, 4, 5]])
PAIRS = BradleyTerry(alpha=1.0).fit(Rankings([[1, 2, np.nan, np.nan, np.nan]]))
BEST = BestWorst(alpha=1.0).fit(Rankings([[1, 3, 2, np.nan, np.nan]]))


def ties(rng: np.random.Generator) -> Wrong:
    """Plackett-Luce with ties of strength 1/2, 100 rankings of 5 items."""

    def make(rng: np.random.Generator, worth: np.ndarray) -> PlackettLuce:
        TIED.log_worth_, TIED.tie_strength_ = worth, np.array([0.5])
        return PlackettLuce().fit(TIED.sample(100, rng))

    yield from summaries(make, rng)
    low, high = make(rng, FIVE).summary().intervals[-1]
    yield "interval of the log strength of ties", not low <= np.log(0.5) <= high


def pairs(rng: np.random.Generator) -> Wrong:
    """Bradley-Terry, 250 comparisons of 5 items."""

    def make(rng: np.random.Generator, worth: np.ndarray) -> BradleyTerry:
        PAIRS.log_worth_ = worth
        return BradleyTerry().fit(PAIRS.sample(250, rng))

    return summaries(make, rng)


def best_worst(rng: np.random.Generator) -> Wrong:
    """Best and worst of 4 of 5 items, 250 choices."""

    def make(rng: np.random.Generator, worth: np.ndarray) -> BestWorst:
        BEST.log_worth_ = worth
        return BestWorst().fit(BEST.sample(250, rng, set_size=4))

    return summaries(make, rng)


def attributes(rng: np.random.Generator) -> Wrong:
    """Three attributes that differ between 150 rankings of 4 items."""
    features, truth = rng.normal(size=(150, 4, 3)), np.array([0.6, -0.3, 0.0])
    low, high = PlackettLuce().fit(draw(rng, features @ truth), item_features=features).summary().intervals.T
    yield "intervals of coefficients", (low > truth) | (high < truth)
    none = PlackettLuce().fit(draw(rng, np.zeros((150, 4))), item_features=features).summary()
    yield "likelihood ratio", none.likelihood_ratio.p_value <= 0.05
    yield "Wald test", none.wald.p_value <= 0.05


def features_of_people(rng: np.random.Generator) -> Wrong:
    """PlackettLuceRanker(alpha=0), two features of 150 people, 3 items."""
    summary = PlackettLuceRanker(alpha=0).fit(rng.normal(size=(150, 2)), draw(rng, np.zeros(3), 150)).summary()
    low, high = summary.intervals.T
    yield "intervals of coefficients", (low > 0) | (high < 0)
    yield "likelihood ratio", summary.likelihood_ratio.p_value <= 0.05


def trees(rng: np.random.Generator) -> Wrong:
    """PlackettLuceTree, 150 people who are alike, two numbers and a category."""
    X = np.column_stack([rng.standard_normal((150, 2)), rng.integers(0, 3, 150)])
    tree = PlackettLuceTree(0.0, min_samples_leaf=20, categorical_features=[2])
    yield "any split", tree.fit(X, draw(rng, WORTH, 150)).p_values_[0].min() <= 0.05


STUDIES: list[tuple[Callable[[np.random.Generator], Wrong], int]] = [
    *((ratio_of(study), 500) for study in (two_groups, twelve_each)),
    *((rest_of(study), 3_000) for study in (two_groups, twelve_each)),
    (three_groups, 500),
    (with_ties, 1_000),
    *((study, 2_000) for study in (in_strata, ranked_twice, survey_weights)),
    (sixteen_twice, 1_500),
    *((intervals_of(design), 1_000) for design in (three_that_differ, strata_that_differ, twice_that_differ)),
    (intervals_of(weights_that_differ), 2_500),
    (panel, 1_000),
    *((study, 500) for study in (large_panel, forests, linear_drivers, weak_drivers, no_drivers)),
    (precision, 1_000),
    *((study, 500) for study in (winner, difference, two_laws)),
    *((study, 2_000) for study in (mallows_segments, plackett_luce_segments)),
    (unlinked_segments, 1_000),
    *((study, 2_000) for study in (worths, quasi_errors, ties, pairs, best_worst, attributes, features_of_people)),
    *((study, 2_000) for study in (worths_with_survey_weights, features_with_survey_weights)),
    (pairs_with_survey_weights, 5_000),
    (trees, 1_000),
]


if __name__ == "__main__":
    main()
