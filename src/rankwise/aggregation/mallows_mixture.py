"""Mixtures of Mallows models: several groups of voters, each around its own center."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from rankwise._state import FLOATS, MATRIX, Saved, check_shape, ensure
from rankwise._state import optional as may_lack
from rankwise._typing import FloatArray, RandomState
from rankwise._validation import check_choice
from rankwise.aggregation import _completions, _mixture_jit
from rankwise.aggregation import _mallows_stages as stages
from rankwise.aggregation import _mixture_em as em
from rankwise.aggregation._mallows_families import LARGEST_THETA, family_of, law_of
from rankwise.aggregation._mallows_laws import DistanceLaw
from rankwise.aggregation._mixtures import Fit, RankingMixture, refuse_uncompared
from rankwise.aggregation.base import check_saved_center
from rankwise.aggregation.mallows import Distance
from rankwise.aggregation.samplers import sample_mallows
from rankwise.data import Rankings

# Draws of completions are made around the current centers, this often.
_ROUNDS = 4
# Completions of more items than this are not drawn: of hundreds of missing items, draws say nothing.
_MOST_ITEMS_DRAWN = 60
# Draws from a component that say how far its rankings are from its center by Kendall's distance.
_DRAWS_FOR_PROPOSAL = 300
_LARGEST_PROPOSED_THETA = 3.0
# Between these bounds a concentration has a standard error.
_SMALLEST_THETA = 1e-6
_FEWEST_OTHERS = 0.5


class MallowsMixture(RankingMixture):
    r"""Mixture of Mallows models, fitted by expectation maximization.

    *Definition.* :math:`P(\pi) = \sum_g w_g\, e^{-\theta_g d(\pi, \pi_g)} / Z(\theta_g)`. With covariates x, the share
    of component g is :math:`w_g(x) = e^{b_g \cdot x} / \sum_h e^{b_h \cdot x}`.

    Parameters
    ----------
    n_components : int, default=2
        Number of components.
    n_init : int, default=5
        Number of starts; the one that ends with the highest likelihood is kept. Three of five are clusters of k-means
        in the Kemeny embedding, the others rankings that lie far apart and means of small random subsets.
    max_iter : int, default=500
        Maximum number of iterations per start.
    tol : float, default=1e-5
        A start ends when the mean log-likelihood of a ranking rises by less than this. The best start goes on to a
        hundredth of it.
    random_state : None, int, Generator or RandomState
        Of the starts.
    distance : {"kendall", "cayley", "hamming", "footrule", "spearman"}, default="kendall"
        The distance d, as in `Mallows`.
    n_jobs : int, optional
        Threads for the starts; the result is the same for any number.

    Attributes
    ----------
    weights_ : ndarray of shape (n_components,)
        Shares of the components, largest first; they sum to 1.
    weights_se_ : ndarray of shape (n_components,)
        Their standard errors, from the scores of the people, given the centers, and from the spread of the covariates.
    centers_ : ndarray of shape (n_components, n_items)
        Positions of the centers, 1 = best.
    thetas_ : ndarray of shape (n_components,)
        Concentrations, from 0 to 30 (which stands for infinity: a component of equal rankings).
    thetas_se_ : ndarray of shape (n_components,)
        Their standard errors, given the centers; NaN at 0, and where all people of a component equal its center, so
        that theta has no estimate.
    membership_coef_ : ndarray of shape (n_components, 1 + n_covariates) or None
        Intercept and slopes b, 0 for the first component; None without covariates. The slopes have a normal prior of
        precision 0.01 per standard deviation of the covariate, which keeps them finite.
    membership_se_ : ndarray of shape (n_components, 1 + n_covariates) or None
        Their standard errors.
    labels_ : ndarray of shape (n_rankings,), intp
        The most probable component of each ranking.
    log_likelihood_ : float
        Sum of the weighted log probabilities.
    n_iter_ : int
        Iterations of the start that was kept.
    converged_ : bool
        Whether it ended before ``max_iter``.
    partial_rankings_ : {"exact", "monte carlo", "pairs"}
        How partial rankings were counted, see Notes.
    effective_draws_ : float
        Of "monte carlo": draws of equal weight that would say as much, of a ranking on average; else NaN.
    items_ : tuple
        Names of the items.

    Notes
    -----
    *Partial rankings.* A partial ranking has the probability of all full rankings that agree with it: items that tie or
    are unlisted come in some order that is not known, and missing items have some place. With Kendall's distance that
    is a closed form for ties and top-k lists. Otherwise the full rankings are listed where they are not too many
    (8 million places in all), which is exact; else 40 to 400 of them are drawn for each ranking around the centers,
    with importance weights, in 4 rounds (Monte Carlo EM). With Kendall's distance and more than 60 items, a ranking
    that misses items counts through the pairs that it orders instead (``"pairs"``): as if its items were neighbors in
    the center, so that thetas come out too large.

    Each iteration finds centers of lower weighted distance, never worse than the ones before, and solves for theta; the
    likelihood never falls. Centers are exact for Spearman, footrule and Hamming; for Kendall the last ones are proven
    Kemeny consensuses up to 16 items; for Cayley they are local optima. Rankings that order no pair, or have weight 0,
    are left out of the estimation.

    References
    ----------
    Murphy, Martin (2003), Mixtures of distance-based models for ranking data, Computational Statistics & Data Analysis
    41. Crispino, Mollica, Astuti, Tardella (2023), Efficient and accurate inference for mixtures of Mallows models with
    Spearman distance, Statistics and Computing 33. Gormley, Murphy (2008), A mixture of experts model for rank data,
    Annals of Applied Statistics 2.

    Examples
    --------
    >>> from rankwise.aggregation import MallowsMixture
    >>> votes = [[1, 2, 3, 4], [1, 2, 4, 3], [1, 2, 3, 4], [4, 3, 2, 1], [4, 3, 1, 2]]
    >>> model = MallowsMixture(n_components=2, random_state=0).fit(votes)
    >>> model.labels_, model.centers_[0]
    (array([0, 0, 0, 1, 1]), array([1., 2., 3., 4.]))
    """

    _saved: ClassVar[Saved] = {"centers_": MATRIX, "thetas_": FLOATS, "thetas_se_": may_lack(FLOATS)}

    def __init__(
        self,
        n_components: int = 2,
        n_init: int = 5,
        max_iter: int = 500,
        tol: float = 1e-5,
        random_state: RandomState = None,
        distance: Distance = "kendall",
        n_jobs: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.distance = distance
        self.n_jobs = n_jobs

    def mode(self) -> FloatArray:
        """Positions of the most probable of the centers: (n_items,).

        Where components overlap much, a ranking between their centers may be more probable still.
        """
        self._check_fitted()
        best = np.argmax(self.logpmf(Rankings(self.centers_, self.items_)))
        return np.array(self.centers_[best])

    def pairwise_probabilities(self) -> FloatArray:
        """P(i before j), row i, column j: (n_items, n_items), 1/2 on the diagonal; exact where `Mallows` is."""
        self._check_fitted()
        result = np.zeros((len(self.items_), len(self.items_)))
        for weight, center, theta in zip(self.weights_, self.centers_, self.thetas_, strict=True):
            place = center.astype(int) - 1
            result += weight * self._law().pairs(float(theta))[np.ix_(place, place)]
        return result

    def _check_options(self) -> None:
        check_choice("distance", self.distance, ("kendall", "cayley", "hamming", "footrule", "spearman"))

    def _check_rankings(self, rankings: Rankings) -> None:
        refuse_uncompared(rankings)
        if self.distance == "spearman":
            law_of(self.distance, rankings.n_items)  # refuses too many items

    def _parameters_of_component(self) -> int:
        return 2  # a center and a theta

    def _law(self) -> DistanceLaw:
        return law_of(self.distance, len(self.items_))

    def _find(
        self, positions: FloatArray, people: em.People, starts: list[FloatArray], rng: np.random.Generator
    ) -> Fit:
        options: Any = {"max_iter": self.max_iter, "tol": self.tol, "n_jobs": self.n_jobs}
        expand = _to_complete(positions, self.distance)
        if _completions.can_list(positions, expand):
            family = family_of(self.distance, _completions.listed(positions, expand))
            return Fit(em.best_run(family, people, starts, **options), family, "exact")
        pairs = family_of("kendall", _completions.unchanged(positions))
        run = em.best_run(pairs, people, starts, **options)
        if positions.shape[1] > _MOST_ITEMS_DRAWN:
            if self.distance == "kendall":
                return Fit(run, pairs, "pairs")
            raise ValueError(
                f"partial rankings of {positions.shape[1]} items have too many completions for the distance "
                f"{self.distance!r} (at most {_MOST_ITEMS_DRAWN} items are drawn); use distance='kendall'"
            )
        proposal = _completions.Proposal(run.parameters[0], np.minimum(run.parameters[1], _LARGEST_PROPOSED_THETA))
        for own in rng.spawn(_ROUNDS):
            family = family_of(self.distance, _completions.drawn(positions, expand, proposal, own))
            share = np.stack(
                [np.bincount(people.ranking, part, minlength=len(positions)) for part in run.posterior.T], axis=1
            )
            run = em.best_run(family, people, [share / share.sum(axis=1, keepdims=True)], **options)
            proposal = _proposal(self.distance, run.parameters[0], run.parameters[1])
        return Fit(run, family, "monte carlo")

    def _store(self, run: em.Run, covariance: FloatArray) -> None:
        self.centers_, self.thetas_ = run.parameters[0], run.parameters[1]
        # People of a component who differ from its center, by its law: with less than half a one, theta has no maximum.
        others = -np.expm1([-self._law().log_normalizer(float(theta)) for theta in self.thetas_])
        inside = (self.thetas_ > _SMALLEST_THETA) & (others * self.weights_ * self._n >= _FEWEST_OTHERS)
        inside &= self.thetas_ < LARGEST_THETA
        self.thetas_se_ = np.where(inside, np.sqrt(np.maximum(covariance.diagonal(), 0.0)), np.nan)

    def _draw(self, g: int, n: int, rng: np.random.Generator) -> FloatArray:
        center, theta = self.centers_[g], float(self.thetas_[g])
        if self.distance == "kendall":
            return sample_mallows(center, theta, n, rng)
        return self._law().sample(theta, n, rng)[:, center.astype(int) - 1]

    def _family_and_parameters(self, positions: FloatArray) -> tuple[em.Family, Any]:
        expand = _to_complete(positions, self.distance)
        if _completions.can_list(positions, expand):
            rows = _completions.listed(positions, expand)
        elif positions.shape[1] > _MOST_ITEMS_DRAWN and self.distance == "kendall":
            rows = _completions.unchanged(positions)
        else:
            proposal = _proposal(self.distance, self.centers_, self.thetas_)
            rows = _completions.drawn(positions, expand, proposal, np.random.default_rng(0))
        family = family_of(self.distance, rows)
        return family, family.with_distances(self.centers_, self.thetas_)

    def _check_saved(self) -> None:
        super()._check_saved()
        n = len(self.weights_)
        check_shape(self.centers_, (n, len(self.items_)), "the centers")
        check_shape(self.thetas_, (n,), "the thetas")
        ensure((self.thetas_ >= 0).all(), "a theta is negative")
        for center in self.centers_:
            check_saved_center(center, len(self.items_))


def _to_complete(positions: FloatArray, distance: str) -> Any:
    """Which rankings need completions: with Kendall's distance those that miss items, else all that are not full."""
    missing = np.isnan(positions).any(axis=1)
    if distance == "kendall":
        return missing
    return missing | (np.sort(positions, axis=1) != np.arange(1.0, positions.shape[1] + 1)).any(axis=1)


def _proposal(distance: str, centers: FloatArray, thetas: FloatArray) -> _completions.Proposal:
    """Concentrations by Kendall's distance that fit the components, slightly wider."""
    k = centers.shape[1]
    if distance == "kendall":
        return _completions.Proposal(centers, np.minimum(thetas, _LARGEST_PROPOSED_THETA))
    sizes = np.arange(1.0, k + 1)
    law = law_of(distance, k)

    def moments(theta: float) -> tuple[float, float]:
        return float(stages.means(theta, sizes).sum()), float(stages.variances(theta, sizes).sum())

    found = []
    for theta in thetas:
        draws = law.sample(float(theta), _DRAWS_FOR_PROPOSAL, np.random.default_rng(0))
        mean = float(_mixture_jit.pairs_against(draws, np.arange(k)[np.newaxis]).mean())
        found.append(min(0.9 * stages.solve_theta(moments, mean), _LARGEST_PROPOSED_THETA))
    return _completions.Proposal(centers, np.array(found))
