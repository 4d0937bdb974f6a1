"""Mixtures of Mallows models: several groups of voters, each around its own center."""

from __future__ import annotations

import warnings
from typing import ClassVar

import numpy as np

from rankwise._state import BOOL, COUNT, FLOATS, INTS, MATRIX, NUMBER, Saved, check_shape, ensure
from rankwise._typing import ArrayLike, FloatArray, IntArray, RandomState
from rankwise._validation import check_generator, check_real_number, check_whole_number
from rankwise.aggregation import _mallows_stages as stages
from rankwise.aggregation._mallows_laws import KendallLaw
from rankwise.aggregation.base import RankingModel, check_saved_center, rankings_to_evaluate, rankings_to_fit
from rankwise.aggregation.kemeny import Method, kemeny
from rankwise.aggregation.samplers import sample_mallows
from rankwise.data import Rankings
from rankwise.distances import kendall_distance

# exp(-30) is 1e-13: as good as a single ranking, but every ranking keeps a probability that can be compared.
_LARGEST_THETA = 30.0
# Up to here a proven consensus takes milliseconds, and every iteration asks for one per component.
_MOST_ITEMS_PROVEN = 16
# Weight of the rankings of other components in a consensus: it only decides pairs that the component leaves open.
_TRACE = 1e-9


class MallowsMixture(RankingModel):
    r"""Mixture of Mallows models with the Kendall distance, fitted by expectation maximization.

    *Definition.* :math:`P(\pi) = \sum_g w_g\, e^{-\theta_g d(\pi, \pi_g)} / Z(\theta_g)`.

    Parameters
    ----------
    n_components : int, default=2
        Number of components.
    n_init : int, default=5
        Number of random starts; the one that ends with the highest likelihood is kept.
    max_iter : int, default=100
        Maximum number of iterations per start.
    tol : float, default=1e-5
        A start ends when the mean log-likelihood of a ranking rises by less than this.
    random_state : None, int, Generator or RandomState
        Of the starts.

    Attributes
    ----------
    weights_ : ndarray of shape (n_components,)
        Shares of the components, largest first; they sum to 1.
    centers_ : ndarray of shape (n_components, n_items)
        Positions of the centers, 1 = best.
    thetas_ : ndarray of shape (n_components,)
        Concentrations, from 0 to 30 (which stands for infinity: a component of equal rankings).
    labels_ : ndarray of shape (n_rankings,), intp
        The most probable component of each ranking.
    log_likelihood_ : float
        Sum of the weighted log probabilities.
    n_iter_ : int
        Iterations of the start that was kept.
    converged_ : bool
        Whether it ended before ``max_iter``.
    items_ : tuple
        Names of the items.

    Notes
    -----
    *Partial rankings.* Full rankings and top-k lists have their exact likelihood. A ranking with missing items counts
    as a Mallows ranking of the items that it has, through the pairs that it orders: :math:`e^{-\theta_g d} / Z`, d over
    these pairs and Z for that number of items. That is exact if its items are neighbors in the center; otherwise the
    items between them would keep them farther apart, and the thetas come out too large. (`Mallows` sums over the places
    of the missing items instead.)

    Each iteration finds Kemeny's consensus of the rankings, weighted by their responsibilities (proven up to 16 items,
    by local search beyond and never worse than the one before), and solves for theta; the likelihood never falls.
    Rankings that order no pair, or have weight 0, are left out of the estimation.

    References
    ----------
    Murphy, Martin (2003), Mixtures of distance-based models for ranking data, Computational Statistics & Data Analysis
    41.

    Examples
    --------
    >>> from rankwise.aggregation import MallowsMixture
    >>> votes = [[1, 2, 3, 4], [1, 2, 4, 3], [1, 2, 3, 4], [4, 3, 2, 1], [4, 3, 1, 2]]
    >>> model = MallowsMixture(n_components=2, random_state=0).fit(votes)
    >>> model.labels_, model.centers_[0]
    (array([0, 0, 0, 1, 1]), array([1., 2., 3., 4.]))
    """

    _saved: ClassVar[Saved] = {
        "weights_": FLOATS,
        "centers_": MATRIX,
        "thetas_": FLOATS,
        "labels_": INTS,
        "log_likelihood_": NUMBER,
        "n_iter_": COUNT,
        "converged_": BOOL,
        "_n": NUMBER,
    }

    def __init__(
        self,
        n_components: int = 2,
        n_init: int = 5,
        max_iter: int = 100,
        tol: float = 1e-5,
        random_state: RandomState = None,
    ) -> None:
        self.n_components = n_components
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def fit(self, rankings: ArrayLike, sample_weight: ArrayLike | None = None) -> MallowsMixture:
        """Estimate the components.

        Parameters
        ----------
        rankings : array-like of shape (n_rankings, n_items) or Rankings
            Positions, 1 = best, without ties.
        sample_weight : array-like of shape (n_rankings,), optional
            How often each ranking counts; by default the weights of the Rankings, or ones.

        Returns
        -------
        MallowsMixture
            The model itself.
        """
        for name in ("n_components", "n_init", "max_iter"):
            check_whole_number(name, getattr(self, name), at_least=1)
        check_real_number("tol", self.tol)
        data = rankings_to_fit(rankings, sample_weight).group()
        if len(data) < self.n_components:
            raise ValueError(
                f"n_components is {self.n_components}, but only {len(data)} of the rankings differ; "
                "ask for fewer components"
            )
        rng = check_generator(self.random_state)
        runs = [_expectation_maximization(data, self, rng) for _ in range(self.n_init)]
        best = max(runs, key=lambda run: run.log_likelihood)
        if not best.converged:
            from sklearn.exceptions import ConvergenceWarning

            warnings.warn(
                f"the likelihood still rises after {self.max_iter} iterations; raise max_iter",
                ConvergenceWarning,
                stacklevel=2,
            )
        order = np.argsort(-best.weights, kind="stable")
        self.weights_, self.centers_, self.thetas_ = best.weights[order], best.centers[order], best.thetas[order]
        self.log_likelihood_, self.n_iter_, self.converged_ = best.log_likelihood, best.n_iter, best.converged
        self.items_ = data.items
        self._n = float(data.weights.sum())
        self.labels_ = self.predict(rankings)
        return self

    def predict(self, rankings: ArrayLike) -> IntArray:
        """The most probable component of each ranking, counted from 0: (n_rankings,)."""
        return np.argmax(self._log_joint(rankings), axis=1)

    def predict_proba(self, rankings: ArrayLike) -> FloatArray:
        """Probability of each component given the ranking: (n_rankings, n_components), rows sum to 1."""
        joint = self._log_joint(rankings)
        return np.asarray(np.exp(joint - np.logaddexp.reduce(joint, axis=1)[:, np.newaxis]))

    def logpmf(self, rankings: ArrayLike) -> FloatArray:
        """Log probability of each ranking, partial ones as in ``fit``: (n_rankings,)."""
        return np.asarray(np.logaddexp.reduce(self._log_joint(rankings), axis=1))

    def bic(self) -> float:
        r"""Bayesian information criterion of the fit, lower is better.

        :math:`-2 \log L + p \log N` with :math:`p = 3 g - 1` for g components: a center and a theta for each, and
        their weights. N is the sum of the weights of the rankings.
        """
        self._check_fitted()
        return float(-2 * self.log_likelihood_ + (3 * len(self.weights_) - 1) * np.log(self._n))

    def sample(self, n: int = 1, random_state: RandomState = None) -> Rankings:
        """Draw full rankings, each from a component chosen by weight.

        Parameters
        ----------
        n : int, default=1
            Number of draws.
        random_state : None, int, Generator or RandomState
            Source of the random numbers.

        Returns
        -------
        Rankings
        """
        self._check_fitted()
        rng = check_generator(random_state)
        label = rng.choice(len(self.weights_), size=check_whole_number("n", n, at_least=0), p=self.weights_)
        draws = np.empty((n, len(self.items_)))
        for g, (center, theta) in enumerate(zip(self.centers_, self.thetas_, strict=True)):
            draws[label == g] = sample_mallows(center, theta, int(np.sum(label == g)), rng)
        return Rankings(draws, self.items_)

    def mode(self) -> FloatArray:
        """Positions of the most probable of the centers: (n_items,).

        Where components overlap much, a ranking between their centers may be more probable still.
        """
        self._check_fitted()
        best = np.argmax(self.logpmf(Rankings(self.centers_, self.items_)))
        return np.array(self.centers_[best])

    def pairwise_probabilities(self) -> FloatArray:
        """P(i before j), row i, column j: (n_items, n_items), 1/2 on the diagonal; exact."""
        self._check_fitted()
        result = np.zeros((len(self.items_), len(self.items_)))
        for weight, center, theta in zip(self.weights_, self.centers_, self.thetas_, strict=True):
            place = center.astype(int) - 1
            result += weight * KendallLaw(len(place)).pairs(theta)[np.ix_(place, place)]
        return result

    def _log_joint(self, rankings: ArrayLike) -> FloatArray:
        """Log probability of component and ranking together: (n_rankings, n_components)."""
        self._check_fitted()
        data = rankings_to_evaluate(rankings, self.items_)
        return _Components(data, self.weights_, self.centers_, self.thetas_).log_joint()

    def _check_saved(self) -> None:
        n = len(self.weights_)
        check_shape(self.centers_, (n, len(self.items_)), "the centers")
        check_shape(self.thetas_, (n,), "the thetas")
        ensure((self.thetas_ >= 0).all(), "a theta is negative")
        for center in self.centers_:
            check_saved_center(center, len(self.items_))


class _Components:
    """Components of a mixture, with the rankings that they explain."""

    def __init__(self, data: Rankings, weights: FloatArray, centers: FloatArray, thetas: FloatArray) -> None:
        self.data = data
        self.weights, self.centers, self.thetas = weights, centers, thetas
        self.log_likelihood, self.n_iter, self.converged = -np.inf, 0, False
        present = (~np.isnan(data.positions)).sum(axis=1)
        unlisted = np.isposinf(data.positions).sum(axis=1)
        self._sizes = np.arange(1.0, data.n_items + 1)
        # The stages of a ranking: sizes from the number of its items down, until only unlisted ones are left.
        self._has_stage = (self._sizes > unlisted[:, np.newaxis]) & (self._sizes <= present[:, np.newaxis])
        self._distances = np.stack([self._distances_to(center) for center in centers], axis=1)

    def log_joint(self) -> FloatArray:
        log_z = self._has_stage @ stages.log_normalizers(self.thetas, self._sizes[:, np.newaxis])
        with np.errstate(divide="ignore"):  # a component may have weight 0
            return np.asarray(np.log(self.weights) - self.thetas * self._distances - log_z)

    def expect(self) -> FloatArray:
        """Responsibilities of the components; also sets the likelihood."""
        joint = self.log_joint()
        total = np.logaddexp.reduce(joint, axis=1)
        self.log_likelihood = float(self.data.weights @ total)
        return np.asarray(np.exp(joint - total[:, np.newaxis]))

    def maximize(self, responsibilities: FloatArray, rng: np.random.Generator) -> None:
        """The weights, centers and thetas of highest expected likelihood."""
        counts = responsibilities * self.data.weights[:, np.newaxis]
        self.weights = counts.sum(axis=0) / counts.sum()
        for g, count in enumerate(counts.T):
            center = _consensus(self.data, count, rng)
            distances = self._distances_to(center)
            if count @ distances <= count @ self._distances[:, g]:
                self.centers[g], self._distances[:, g] = center, distances
            self.thetas[g] = self._theta(count @ self._has_stage, float(count @ self._distances[:, g]))

    def _theta(self, stage_counts: FloatArray, total: float) -> float:
        def moments(theta: float) -> tuple[float, float]:
            mean, variance = stages.means(theta, self._sizes), stages.variances(theta, self._sizes)
            return float(stage_counts @ mean), float(stage_counts @ variance)

        return min(stages.solve_theta(moments, total), _LARGEST_THETA)

    def _distances_to(self, center: FloatArray) -> FloatArray:
        return np.asarray(kendall_distance(center, self.data, p=0.0))


def _expectation_maximization(data: Rankings, options: MallowsMixture, rng: np.random.Generator) -> _Components:
    responsibilities = _starting_responsibilities(data, options.n_components, rng)
    centers = np.stack([_consensus(data, data.weights * share, rng) for share in responsibilities.T])
    mixture = _Components(data, np.ones(len(centers)), centers, np.ones(len(centers)))
    enough = options.tol * data.weights.sum()
    for mixture.n_iter in range(1, options.max_iter + 1):
        before = mixture.log_likelihood
        mixture.maximize(responsibilities, rng)
        responsibilities = mixture.expect()
        if mixture.log_likelihood - before < enough:
            mixture.converged = True
            break
    return mixture


def _consensus(data: Rankings, counts: FloatArray, rng: np.random.Generator) -> FloatArray:
    method: Method = "auto" if data.n_items <= _MOST_ITEMS_PROVEN else "local-search"
    return kemeny(Rankings(data, weights=counts + _TRACE * data.weights), method=method, random_state=rng).positions


def _starting_responsibilities(data: Rankings, n_components: int, rng: np.random.Generator) -> FloatArray:
    """Shares by distance to rankings of the data that lie far apart, chosen as k-means++ chooses."""
    share = data.weights / data.weights.sum()
    distances = np.empty((len(data), n_components))
    for g in range(n_components):
        seed = rng.choice(len(data), p=share)
        distances[:, g] = kendall_distance(data.positions[seed], data)
        far = data.weights * distances[:, : g + 1].min(axis=1)
        share = far / far.sum() if far.sum() > 0 else data.weights / data.weights.sum()
    closeness = np.exp(distances.min(axis=1, keepdims=True) - distances)
    return np.asarray(closeness / closeness.sum(axis=1, keepdims=True))
