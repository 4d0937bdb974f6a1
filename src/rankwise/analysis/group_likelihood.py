"""One Plackett-Luce model for all groups against one for each: the likelihood-ratio test of `compare_groups`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rankwise._tables import short_name
from rankwise._typing import FloatArray, IntArray
from rankwise.aggregation import PlackettLuce
from rankwise.analysis.group_design import ComparedPeople
from rankwise.data import Rankings
from rankwise.kernels.kendall_gram import mean_signs

# The chi-square law holds in groups of at least so many people; in smaller ones the ratio is divided by its mean.
_LARGE_GROUP = 500
# Arrangements of the labels that estimate this mean, of two groups; fewer of more groups, which average more ratios.
_N_ARRANGEMENTS, _FEWEST_ARRANGEMENTS = 50, 10
# Directions in which scores vary less than this share of the largest one are rounding.
_ROUNDING = 1e-9


@dataclass(frozen=True)
class LikelihoodRatio:
    """The test of one Plackett-Luce model for all groups against one for each; made by `compare_groups`.

    Attributes
    ----------
    statistic : float or None
        Twice the gain in log likelihood by a model for each group; None if the test does not apply.
    degrees_of_freedom : int
        Worths, and strengths of ties, of the further models.
    p_value : float or None
        By the chi-square law of the statistic divided by ``correction``.
    reason : str
        Why there is no test; empty if there is one.
    correction : float
        Bartlett's factor: the mean of the statistic if groups do not matter, divided by the degrees of freedom. 1 in
        large groups.
    """

    statistic: float | None
    degrees_of_freedom: int
    p_value: float | None
    reason: str = ""
    correction: float = 1.0


def likelihood_ratio(people: ComparedPeople, rng: np.random.Generator) -> LikelihoodRatio:
    """The test under Plackett-Luce, or why there is none."""
    from scipy.special import gammaincc

    design, rankings = people.design, people.rankings
    reason = ""
    if people.is_paired:
        reason = "rankings of the same people are not independent"
    elif design.n_strata > 1:
        reason = "the model knows no strata"
    elif people.has_survey_weights:
        reason = "with survey weights, likelihoods have no chi-square law"
    elif not mean_signs(rankings.positions).any():
        reason = "nobody puts one item before another"
    if reason:
        return LikelihoodRatio(None, 0, None, reason)
    models = []
    for group, name in [(None, "all groups together"), *enumerate(people.groups)]:
        try:
            models.append(PlackettLuce().fit(rankings if group is None else rankings[design.labels == group]))
        except ValueError as error:
            why = str(error).split(". ")[0].removeprefix("the maximum likelihood does not exist: ")
            where = name if group is None else f"group {short_name(name)}"
            return LikelihoodRatio(None, 0, None, f"in {where}, {why}")
    joint, *own = models
    statistic = max(0.0, 2 * (sum(model.log_likelihood_ for model in own) - joint.log_likelihood_))
    n_ties = int(np.count_nonzero(joint.tie_strength_))
    freedom = (design.n_groups - 1) * (rankings.n_items - 1 + n_ties)
    correction = 1.0
    if design.sizes.min() < _LARGE_GROUP:
        n = max(_FEWEST_ARRANGEMENTS, 2 * _N_ARRANGEMENTS // design.n_groups)
        arrangements = np.vstack(list(design.random_arrangements(n, rng)))
        correction = _mean_ratio(rankings, joint, arrangements, design.n_groups) / freedom
        if np.isnan(correction):
            return LikelihoodRatio(None, 0, None, "there are too few people for a model of each group")
    return LikelihoodRatio(
        statistic, freedom, float(gammaincc(freedom / 2, statistic / correction / 2)), "", correction
    )


def _mean_ratio(rankings: Rankings, joint: PlackettLuce, arrangements: IntArray, n_groups: int) -> float:
    """The mean of the statistic over arrangements of the labels; NaN if next to none has a maximum.

    It is estimated from few of them. What of the differences between arrangements a quadratic form of the scores
    foretells is taken out, since the mean of that form over all arrangements is known.
    """
    scores = joint.scores(rankings)
    ratios, forms = [], []
    form = _Form(scores, n_groups)
    for labels in arrangements:
        try:
            gain = sum(PlackettLuce().fit(rankings[labels == group]).log_likelihood_ for group in range(n_groups))
        except ValueError:  # no maximum in this arrangement
            continue
        ratios.append(2 * (gain - joint.log_likelihood_))
        forms.append(form(labels))
    if len(ratios) < _FEWEST_ARRANGEMENTS // 2:
        return float("nan")
    ratio, known = np.array(ratios), np.array(forms)
    spread = float(known.var())
    slope = float(np.mean((ratio - ratio.mean()) * (known - known.mean()))) / spread if spread > 0 else 0.0
    return float(ratio.mean() + slope * (form.mean - known.mean()))


class _Form:
    """The sum over groups of the squared sums of standardized scores, divided by sizes: about the likelihood ratio.

    ``mean`` is that over all arrangements of the labels.
    """

    def __init__(self, scores: FloatArray, n_groups: int) -> None:
        n = len(scores)
        centered = scores - scores.mean(axis=0)
        values, vectors = np.linalg.eigh(centered.T @ centered / n)
        kept = values > _ROUNDING * values[-1]
        self.n_groups = n_groups
        self.standardized: FloatArray = centered @ (vectors[:, kept] / np.sqrt(values[kept]))
        self.mean = (n_groups - 1) * n / (n - 1) * int(kept.sum())

    def __call__(self, labels: IntArray) -> float:
        groups = (labels == np.arange(self.n_groups)[:, np.newaxis]).astype(np.float64)
        return float((np.square(groups @ self.standardized).sum(axis=1) / groups.sum(axis=1)).sum())
