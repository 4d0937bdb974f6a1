"""Who there is beside the average: `segments` finds groups of people who rank alike, for ``rankwise segments``.

`segment_results` holds what comes out, `segment_covariates` who is in which segment; the models are the mixtures of
`rankwise.aggregation`.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np

from rankwise._progress import silent, track
from rankwise._tables import counted, short_name
from rankwise._typing import ArrayLike, FloatArray, IntArray, RandomState
from rankwise._validation import (
    check_choice,
    check_generator,
    check_n_jobs,
    check_open_share,
    check_real_number,
    check_whole_number,
    weights_count_people,
)
from rankwise.aggregation import MallowsMixture, PlackettLuceMixture
from rankwise.aggregation.mallows import Distance
from rankwise.analysis.base import rankings_of, repeated_people_notes
from rankwise.analysis.item_ranks import item_ranks
from rankwise.analysis.kendalls_w import WeightKind
from rankwise.analysis.segment_checks import counting_notes, prior_notes, unknown_order
from rankwise.analysis.segment_covariates import (
    Covariates,
    MembershipModel,
    covariates_of,
    membership_model,
    open_slopes,
)
from rankwise.analysis.segment_results import LARGEST_THETA, SegmentCriteria, SegmentProfile, Segments
from rankwise.data import Rankings, positions_from_scores

SegmentModel: TypeAlias = Literal["mallows", "plackett-luce"]
_Mixture: TypeAlias = MallowsMixture | PlackettLuceMixture

# Refits to resamples: at most so many people each, and so many starts.
_MOST_RESAMPLED = 2000
_STARTS_OF_RESAMPLES = 3
_MAX_ITER = 1000
# A segment of fewer people is said to be too small to tell what others like them would rank.
_FEWEST_PEOPLE = 2.5
# Slopes that are tested by fits without them; of more, by the normal law.
_MOST_RATIOS = 40


class _Sample(NamedTuple):
    """Rankings that compare items, with the weights that the likelihood takes; ``useful`` says which of all."""

    rankings: Rankings
    weights: FloatArray
    useful: Any
    people: bool
    notes: list[str]


class _Options(NamedTuple):
    """How mixtures are fitted."""

    model: str
    distance: Any
    alpha: float
    n_init: int
    n_jobs: int | None

    def mixture(self, n: int, seed: int, **changed: Any) -> _Mixture:
        options = {"n_init": self.n_init, "max_iter": _MAX_ITER, "random_state": seed, "n_jobs": self.n_jobs, **changed}
        if self.model == "mallows":
            return MallowsMixture(n, distance=self.distance, **options)
        return PlackettLuceMixture(n, self.alpha, **options)


def segments(
    rankings: ArrayLike,
    X: Any = None,
    n: int | Literal["bic", "icl"] = "bic",
    *,
    model: SegmentModel = "mallows",
    distance: Distance = "kendall",
    alpha: float = 0.1,
    max_segments: int = 6,
    n_init: int = 10,
    n_bootstrap: int = 20,
    level: float = 0.95,
    feature_names: Sequence[str] | None = None,
    categorical_features: Any = None,
    weight_kind: WeightKind = "auto",
    random_state: RandomState = None,
    n_jobs: int | None = None,
) -> Segments:
    r"""Find segments: groups of people who rank alike, by a mixture of models of rankings.

    Parameters
    ----------
    rankings : array-like of shape (n_rankings, n_items), Rankings or Survey
        Positions: column = item, 1 = best, of any kind. The weights of Rankings count.
    X : array-like of shape (n_rankings, n_covariates), data frame or mapping of columns, optional
        Covariates of the people. Their link to the segments is a multinomial logit, estimated together with the
        segments, and tested against no link. The number of segments is chosen without them.
    n : int, "bic" or "icl", default="bic"
        Number of segments. "bic" and "icl" try 1 to ``max_segments`` and take the one of the lowest criterion: BIC asks
        how many laws describe the rankings, ICL prefers segments that do not overlap.
    model : {"mallows", "plackett-luce"}, default="mallows"
        "mallows": everyone in a segment errs around its central ranking. "plackett-luce": the items have worths in each
        segment, so that some places may be sure and others open; k - 1 parameters a segment in place of two.
    distance : {"kendall", "cayley", "hamming", "footrule", "spearman"}, default="kendall"
        The distance of "mallows".
    alpha : float, default=0.1
        Precision of the normal prior of the log worths of "plackett-luce", which keeps them finite where everyone in a
        segment puts an item first or last.
    max_segments : int, default=6
        The largest number tried.
    n_init : int, default=10
        Starts for each number of segments; the best is kept.
    n_bootstrap : int, default=20
        Resamples for the stability, of at most 2,000 people each; 0 leaves it out.
    level : float, default=0.95
        Level of the intervals.
    feature_names, categorical_features : optional
        Names of the columns of X, and which of them hold categories, as in `analyze`.
    weight_kind : {"auto", "counts", "survey"}, default="auto"
        What weights are, as in `summary`. Survey weights are scaled to the number of people of equal weight that would
        say as much (Kish), so that criteria and intervals do not pretend to more.
    random_state : None, int, Generator or RandomState
        Of the starts, resamples and draws.
    n_jobs : int, optional
        Threads for starts and resamples; the result is the same for any number.

    Returns
    -------
    Segments

    See Also
    --------
    group_results : Groups that are known.
    rankwise.aggregation.MallowsMixture : The model, with its attributes.
    rankwise.aggregation.PlackettLuceMixture : The other model.

    Notes
    -----
    Partial rankings are counted exactly where possible: always by "plackett-luce" but for large ties, by the Kendall
    distance for ties and top-k lists, and wherever the full rankings that agree with them can be listed; else by Monte
    Carlo EM (``partial_rankings`` says which). A central ranking counts as one parameter in BIC, as is usual.

    References
    ----------
    Murphy, Martin (2003), Mixtures of distance-based models for ranking data, Computational Statistics & Data Analysis
    41. Gormley, Murphy (2008), A mixture of experts model for rank data, Annals of Applied Statistics 2. Biernacki,
    Celeux, Govaert (2000), Assessing a mixture model for clustering with the integrated completed likelihood, IEEE
    TPAMI 22. Hennig (2007), Cluster-wise assessment of cluster stability, Computational Statistics & Data Analysis 52.

    Examples
    --------
    >>> from rankwise.analysis import segments
    >>> votes = [[1, 2, 3, 4], [1, 2, 4, 3], [2, 1, 3, 4]] * 10 + [[4, 3, 2, 1], [4, 3, 1, 2]] * 8
    >>> found = segments(votes, n=2, random_state=0)
    >>> [round(profile.share, 2) for profile in found.profiles], round(found.stability, 2)
    ([0.65, 0.35], 1.0)
    >>> found.profiles[1].positions
    array([4., 3., 2., 1.])
    """
    check_n_jobs(n_jobs)
    check_choice("model", model, ("mallows", "plackett-luce"))
    if isinstance(n, str):
        check_choice("n", n, ("bic", "icl"))
    else:
        check_whole_number("n", n, at_least=1)
    for name, value, least in (
        ("max_segments", max_segments, 1),
        ("n_init", n_init, 1),
        ("n_bootstrap", n_bootstrap, 0),
    ):
        check_whole_number(name, value, at_least=least)
    check_real_number("alpha", alpha)
    check_open_share("level", level)
    source = rankings_of(rankings)
    never = [short_name(item) for item, met in zip(source.items, source.compared, strict=True) if not met]
    if never and source.compared.any():
        source = source.comparable()
    covariates = None
    if X is not None:
        covariates = covariates_of(X, len(source), names=feature_names, categorical=categorical_features)
    sample = _sample(source, weight_kind)
    sample.notes.extend(repeated_people_notes(rankings))
    if never:
        sample.notes.append(f"no ranking compares {', '.join(never)} with another item: left out")
    options = _Options(model, distance, alpha, n_init, n_jobs)
    rng = check_generator(random_state, "segments")
    seeds = rng.integers(2**31, size=3)

    fits, criteria = _tried(sample, options, n, max_segments, int(seeds[0]))
    chosen = _chosen(criteria, n, len(sample.rankings.group()), sample.notes)
    fitted = fits[chosen]
    names = tuple(f"segment {g + 1}" for g in range(chosen))
    membership = None
    if covariates is not None and chosen == 1:
        sample.notes.append("one segment has no members to tell apart, so covariates are not used")
    elif covariates is not None:
        sample.notes.extend(covariates.notes)
        if not covariates.names:
            sample.notes.append("no covariate is left that differs between people")
        else:
            plain = fitted.log_likelihood_
            fitted = _fit(options.mixture(chosen, int(seeds[0])), sample, covariates.columns[sample.useful])
            statistic = 2 * (fitted.log_likelihood_ - plain)
            membership = _membership(names, covariates, fitted, statistic, sample)
    memberships, labels = _memberships(fitted, source, sample, covariates if membership is not None else None)
    stabilities = np.zeros(0)
    if chosen > 1 and n_bootstrap:
        columns = covariates.columns[sample.useful] if covariates is not None and membership is not None else None
        own = labels[sample.useful]
        stabilities = _stabilities(sample, options, chosen, own, columns, n_bootstrap, int(seeds[1]))
    profiles = _profiles(sample, fitted, memberships[sample.useful], names, level)
    _note_problems(sample, fitted, memberships[sample.useful], profiles)
    return Segments(
        n=chosen,
        chosen_by=n if isinstance(n, str) else "given",
        model=model,
        distance=str(distance),
        items=source.items,
        n_people=float(sample.weights.sum()),
        memberships=memberships,
        labels=labels,
        profiles=profiles,
        mean_rank=item_ranks(sample.rankings, level=level, people=sample.people).mean,
        criteria=tuple(criteria),
        entropy=_entropy(memberships[sample.useful], sample.weights)[1],
        stability=float(stabilities.mean()) if len(stabilities) else float("nan"),
        stabilities=stabilities,
        membership=membership,
        partial_rankings=fitted.partial_rankings_,
        converged=bool(fitted.converged_),
        n_iter=int(fitted.n_iter_),
        level=float(level),
        fitted=fitted,
        notes=tuple(sample.notes),
    )


def _sample(source: Rankings, weight_kind: WeightKind) -> _Sample:
    useful = source.informative & (source.weights > 0)
    if not useful.any():
        raise ValueError("no ranking of positive weight orders two items, so there are no segments to find")
    notes = []
    if not useful.all():
        left = int((~useful).sum())
        notes.append(f"{counted(left, 'ranking')} that {'compares' if left == 1 else 'compare'} nothing not counted")
    part = source if useful.all() else source[useful]
    people = weights_count_people(source.weights, weight_kind)
    weights = np.asarray(part.weights, dtype=np.float64)
    if not people:
        n_effective = weights.sum() ** 2 / np.square(weights).sum()
        notes.append(f"the survey weights say as much as {n_effective:,.1f} people of equal weight")
        weights = weights * (n_effective / weights.sum())
    return _Sample(part, weights, useful, people, notes)


def _fit(mixture: _Mixture, sample: _Sample, columns: FloatArray | None = None) -> _Mixture:
    from sklearn.exceptions import ConvergenceWarning

    with warnings.catch_warnings(), silent():
        warnings.simplefilter("ignore", ConvergenceWarning)  # said in the result
        fitted: _Mixture = mixture.fit(sample.rankings, sample.weights, columns)
        return fitted


def _tried(
    sample: _Sample, options: _Options, n: int | str, max_segments: int, seed: int
) -> tuple[dict[int, _Mixture], list[SegmentCriteria]]:
    """Fits and criteria of all numbers of segments; of a given one and of one, of others only if it cannot be had."""
    n_distinct = len(sample.rankings.group())
    if isinstance(n, str):
        most = min(max_segments, n_distinct)
        if most < max_segments:
            differ = "all rankings are equal" if n_distinct == 1 else f"only {n_distinct} of the rankings differ"
            sample.notes.append(f"{differ}, so that no more than {counted(most, 'segment')} can be told apart")
        numbers = list(range(1, most + 1))
    else:
        if n > n_distinct:
            raise ValueError(f"n is {n}, but only {n_distinct} of the rankings differ; ask for at most {n_distinct}")
        numbers = list(range(n, 0, -1))
    fits: dict[int, _Mixture] = {}
    criteria: list[SegmentCriteria] = []
    for number in track(numbers, "numbers of segments", len(numbers)):
        fits[number] = _fit(options.mixture(number, seed), sample)
        criteria.append(_criteria(fits[number], sample))
        if not isinstance(n, str) and not criteria[-1].problem:
            break
    if 1 not in fits:
        fits[1] = _fit(options.mixture(1, seed), sample)
        criteria.append(_criteria(fits[1], sample))
    return fits, sorted(criteria, key=lambda row: row.n)


def _criteria(fitted: _Mixture, sample: _Sample) -> SegmentCriteria:
    n = len(fitted.weights_)
    entropy, relative = _entropy(fitted.predict_proba(sample.rankings), sample.weights)
    smallest = float(fitted.weights_.min())
    problem = "a segment died: it holds less than half a person" if smallest * sample.weights.sum() < 0.5 else ""
    return SegmentCriteria(
        n=n,
        log_likelihood=float(fitted.log_likelihood_),
        n_parameters=fitted.n_parameters(),
        bic=fitted.bic(),
        icl=fitted.bic() + 2 * entropy,
        entropy=relative,
        smallest=smallest,
        n_iter=int(fitted.n_iter_),
        problem=problem or ("" if fitted.converged_ else f"still rising after {_MAX_ITER:,} iterations"),
    )


def _chosen(criteria: list[SegmentCriteria], n: int | str, n_distinct: int, notes: list[str]) -> int:
    possible = [row for row in criteria if "died" not in row.problem]
    if isinstance(n, str):
        best = min(possible, key=lambda row: getattr(row, n))
        if best.n == criteria[-1].n and 1 < best.n < n_distinct:
            notes.append(f"{best.n} is the largest number tried; more segments might fit better")
        return best.n
    found = max(row.n for row in possible)
    if found < n:
        notes.append(f"{n} segments were asked for, but one dies in every start; {found} are shown")
    return found


def _entropy(memberships: FloatArray, weights: FloatArray) -> tuple[float, float]:
    """Summed entropy of the memberships, and how clear they are, from 0 to 1; NaN for one segment."""
    n = memberships.shape[1]
    if n == 1:
        return 0.0, float("nan")
    logs = np.log(np.maximum(memberships, 1e-300))
    total = float(-(weights @ (memberships * logs).sum(axis=1)))
    return total, float(1 - total / (weights.sum() * np.log(n)))


def _membership(
    names: tuple[str, ...], covariates: Covariates, fitted: _Mixture, statistic: float, sample: _Sample
) -> MembershipModel:
    """What covariates say, with a likelihood ratio test of each slope where they are not too many."""
    columns = covariates.columns[sample.useful]
    ratios = None
    if (len(names) - 1) * columns.shape[1] <= _MOST_RATIOS:
        ratios = fitted.slope_ratios(sample.rankings, sample.weights, columns)
    else:
        sample.notes.append("the slopes are too many to fit without each of them: their p-values are Wald's")
    membership = membership_model(names, covariates, columns, fitted, statistic, ratios)
    sample.notes.extend(open_slopes(membership))
    return membership


def _memberships(
    fitted: _Mixture, source: Rankings, sample: _Sample, covariates: Covariates | None
) -> tuple[FloatArray, IntArray]:
    memberships = np.tile(fitted.weights_, (len(source), 1))
    columns = None if covariates is None else covariates.columns
    known = source.informative
    memberships[known] = fitted.predict_proba(source[known], None if columns is None else columns[known])
    labels = np.where(known, np.argmax(memberships, axis=1), -1)
    return memberships, labels.astype(np.intp)


def _stabilities(
    sample: _Sample,
    options: _Options,
    n: int,
    labels: IntArray,
    columns: FloatArray | None,
    n_bootstrap: int,
    seed: int,
) -> FloatArray:
    """Adjusted Rand index between the labels and those of each refit to a resample."""
    from joblib import Parallel, delayed

    grouped = sample.people and bool(np.any(sample.weights != 1))
    shares = sample.weights / sample.weights.sum() if grouped else np.full(len(labels), 1 / len(labels))
    size = int(min(sample.weights.sum() if grouped else len(labels), _MOST_RESAMPLED))

    def work(rng: np.random.Generator) -> float:
        drawn = rng.multinomial(size, shares)
        rows = np.flatnonzero(drawn)
        weights = drawn[rows].astype(np.float64)
        weights *= 1.0 if grouped else sample.weights[rows]
        part = sample._replace(rankings=sample.rankings[rows], weights=weights)
        if len(part.rankings.group()) < n or not np.array_equal(part.rankings.compared, sample.rankings.compared):
            return float("nan")
        starts = min(options.n_init, _STARTS_OF_RESAMPLES)
        refit = options.mixture(n, int(rng.integers(2**31)), n_init=starts, n_jobs=None)
        refit = _fit(refit, part, None if columns is None else columns[rows])
        return _adjusted_rand(labels, refit.predict(sample.rankings, columns), sample.weights)

    generators = np.random.default_rng(seed).spawn(n_bootstrap)
    parallel = Parallel(n_jobs=options.n_jobs, prefer="threads", require="sharedmem", return_as="generator")
    found = parallel(delayed(work)(own) for own in generators)
    indices = np.array(list(track(found, "resamples", n_bootstrap)))
    return indices[np.isfinite(indices)]


def _adjusted_rand(a: IntArray, b: IntArray, weights: FloatArray) -> float:
    """Adjusted Rand index of two partitions of weighted people."""
    table = np.zeros((a.max() + 1, b.max() + 1))
    np.add.at(table, (a, b), weights)

    def pairs(x: Any) -> float:
        return float(np.sum(x * np.maximum(x - 1, 0)) / 2)

    both, rows, columns = pairs(table), pairs(table.sum(axis=1)), pairs(table.sum(axis=0))
    total = pairs(table.sum())
    expected = rows * columns / total if total else 0.0
    largest = (rows + columns) / 2
    return 1.0 if largest == expected else (both - expected) / (largest - expected)


def _profiles(
    sample: _Sample, fitted: _Mixture, memberships: FloatArray, names: tuple[str, ...], level: float
) -> tuple[SegmentProfile, ...]:
    from scipy.special import expit
    from scipy.stats import norm

    z = norm.ppf((1 + level) / 2)
    overall = item_ranks(sample.rankings, level=level, people=sample.people).mean
    profiles = []
    for g, name in enumerate(names):
        share, error = float(fitted.weights_[g]), float(fitted.weights_se_[g])
        low = high = float("nan")
        if len(names) > 1 and 0 < share < 1 and error > 0:
            # On the scale of log odds the ends stay between 0 and 1.
            center, margin = np.log(share / (1 - share)), z * error / (share * (1 - share))
            low, high = (float(expit(end)) for end in (center - margin, center + margin))
        weights = sample.weights * memberships[:, g]
        members = Rankings(sample.rankings, weights=weights)
        mean = item_ranks(members, level=level, people=False).mean
        own: dict[str, Any] = {}
        if isinstance(fitted, MallowsMixture):
            positions = fitted.centers_[g]
            theta, theta_se = float(fitted.thetas_[g]), float(fitted.thetas_se_[g])
            if np.isnan(theta_se):  # at 0, or without bound
                theta = 0.0 if theta < 1 else LARGEST_THETA
            own = {"theta": theta, "theta_se": theta_se}
        else:
            positions = positions_from_scores([np.round(fitted.log_worths_[g], 9)])[0]
            own = {"log_worth": fitted.log_worths_[g], "log_worth_se": fitted.log_worths_se_[g]}
        own["undetermined"] = unknown_order(members)
        if own["undetermined"]:
            positions = np.ones(len(positions))
        profiles.append(SegmentProfile(name, share, low, high, positions, mean, mean - overall, **own))
    return tuple(profiles)


def _note_problems(
    sample: _Sample, fitted: _Mixture, memberships: FloatArray, profiles: tuple[SegmentProfile, ...]
) -> None:
    notes = sample.notes
    if not fitted.converged_:
        notes.append(f"the likelihood still rises after {_MAX_ITER:,} iterations, so that this is not the best fit")
    people = fitted.weights_ * sample.weights.sum()
    few = [profile.name for profile, number in zip(profiles, people, strict=True) if number < _FEWEST_PEOPLE]
    if few and len(profiles) > 1:
        notes.append(f"too few people to say what others like them would rank: {', '.join(few)}")
    notes.extend(counting_notes(sample.rankings.kind, fitted))
    equal = [profile.name for profile in profiles if profile.theta_at_bound]
    if isinstance(fitted, PlackettLuceMixture):
        notes.extend(prior_notes(sample.rankings, sample.weights[:, np.newaxis] * memberships, fitted, profiles))
    elif equal and len(sample.rankings.group()) > 1:
        notes.append(
            f"all people of {', '.join(equal)} gave the same ranking, so that the concentration is not determined"
        )
