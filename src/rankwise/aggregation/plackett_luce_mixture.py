"""Mixtures of Plackett-Luce models: several groups of people, each with its own worths of the items."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from rankwise._state import MATRIX, Saved, check_shape, ensure
from rankwise._typing import FloatArray, RandomState
from rankwise._validation import check_real_number
from rankwise.aggregation import _completions, _mixture_jit
from rankwise.aggregation import _mixture_em as em
from rankwise.aggregation._likelihood import positions_by_worth
from rankwise.aggregation._mixtures import Fit, RankingMixture, refuse_uncompared
from rankwise.aggregation.bradley_terry import pair_probabilities
from rankwise.aggregation.samplers import sample_plackett_luce
from rankwise.data import Rankings
from rankwise.data.positions import has_ties

# Where the likelihood is flat, Newton's step is too long by orders of magnitude, so it is cut.
_LONGEST_STEP = 2.0
_MOST_HALVINGS = 30


class PlackettLuceMixture(RankingMixture):
    r"""Mixture of Plackett-Luce models, fitted by expectation maximization.

    *Definition.* A person of component g chooses the best of the items left, again and again: item i of the items S
    with probability :math:`e^{u_{gi}} / \sum_{j \in S} e^{u_{gj}}`. Unlisted items are in every S and never chosen,
    missing ones are in no S, so top-k and incomplete rankings have their exact likelihood. With covariates x, the share
    of component g is :math:`w_g(x) = e^{b_g \cdot x} / \sum_h e^{b_h \cdot x}`.

    Parameters
    ----------
    n_components : int, default=2
        Number of components.
    alpha : float, default=0.1
        Precision of the normal prior of mean 0 of every log worth. A small one keeps worths finite if some item is
        always first or always last in a component. 0 is maximum likelihood; then worths may grow until ``max_iter``.
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
    n_jobs : int, optional
        Threads for the starts; the result is the same for any number.

    Attributes
    ----------
    weights_ : ndarray of shape (n_components,)
        Shares of the components, largest first; they sum to 1.
    weights_se_ : ndarray of shape (n_components,)
        Their standard errors, from the scores of the people.
    log_worths_ : ndarray of shape (n_components, n_items)
        u, higher = better, of mean 0 in each component.
    log_worths_se_ : ndarray of shape (n_components, n_items)
        Their standard errors.
    membership_coef_ : ndarray of shape (n_components, 1 + n_covariates) or None
        Intercept and slopes b, 0 for the first component; None without covariates. The slopes have a normal prior of
        precision 0.01 per standard deviation of the covariate, which keeps them finite.
    membership_se_ : ndarray of shape (n_components, 1 + n_covariates) or None
        Their standard errors.
    labels_ : ndarray of shape (n_rankings,), intp
        The most probable component of each ranking.
    log_likelihood_ : float
        Sum of the weighted log probabilities, without the prior.
    n_iter_ : int
        Iterations of the start that was kept.
    converged_ : bool
        Whether it ended before ``max_iter``.
    partial_rankings_ : {"exact", "monte carlo"}
        How rankings with ties were counted, see Notes.
    effective_draws_ : float
        Of "monte carlo": draws of equal weight that would say as much, of a ranking on average; else NaN.
    items_ : tuple
        Names of the items.

    Notes
    -----
    Items that tie come in some order that is not known: a ranking with ties has the probability of all its orders,
    listed where they are not too many (8 million places in all), else estimated by 40 to 400 random ones.

    Each iteration takes a step of Newton's method for the worths of each component, shortened until the expected
    likelihood rises; so the likelihood times the prior never falls.

    References
    ----------
    Gormley, Murphy (2006), Analysis of Irish third-level college applications data, Journal of the Royal Statistical
    Society A 169. Gormley, Murphy (2008), A mixture of experts model for rank data, Annals of Applied Statistics 2.

    Examples
    --------
    >>> from rankwise.aggregation import PlackettLuceMixture
    >>> votes = [[1, 2, 3, 4], [1, 2, 4, 3], [1, 2, 3, 4], [4, 3, 2, 1], [4, 3, 1, 2]]
    >>> model = PlackettLuceMixture(n_components=2, random_state=0).fit(votes)
    >>> model.labels_, model.mode()
    (array([0, 0, 0, 1, 1]), array([1., 2., 3., 4.]))
    """

    _saved: ClassVar[Saved] = {"log_worths_": MATRIX, "log_worths_se_": MATRIX}

    def __init__(
        self,
        n_components: int = 2,
        alpha: float = 0.1,
        n_init: int = 5,
        max_iter: int = 500,
        tol: float = 1e-5,
        random_state: RandomState = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.alpha = alpha
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs

    def mode(self) -> FloatArray:
        """Positions of the most probable of the orders by worth, one for each component: (n_items,)."""
        self._check_fitted()
        orders = [positions_by_worth(log_worth) for log_worth in self.log_worths_]
        return orders[int(np.argmax(self.logpmf(Rankings(orders, self.items_))))]

    def pairwise_probabilities(self) -> FloatArray:
        """P(i before j), row i, column j: (n_items, n_items), 1/2 on the diagonal; exact."""
        self._check_fitted()
        parts = [pair_probabilities(log_worth, 0.0)[0] for log_worth in self.log_worths_]
        result = np.tensordot(self.weights_, np.array(parts), axes=1)
        np.fill_diagonal(result, 0.5)
        return np.asarray(result)

    def _check_options(self) -> None:
        check_real_number("alpha", self.alpha)

    def _check_rankings(self, rankings: Rankings) -> None:
        if rankings.n_items < 2:
            raise ValueError("worths compare items, but there is only one")
        if self.alpha == 0:
            refuse_uncompared(rankings)

    def _parameters_of_component(self) -> int:
        return len(self.items_) - 1

    def _find(
        self, positions: FloatArray, people: em.People, starts: list[FloatArray], rng: np.random.Generator
    ) -> Fit:
        rows, method = _without_ties(positions)
        family = _ChoiceFamily(rows, self.alpha)
        run = em.best_run(family, people, starts, max_iter=self.max_iter, tol=self.tol, n_jobs=self.n_jobs)
        return Fit(run, family, method)

    def _store(self, run: em.Run, covariance: FloatArray) -> None:
        self.log_worths_ = run.parameters[0]
        variances = covariance.diagonal().reshape(self.log_worths_.shape)
        k = self.log_worths_.shape[1]
        blocks = covariance.reshape(len(variances), k, len(variances), k)
        centered = np.eye(k) - 1 / k
        self.log_worths_se_ = np.array(
            [np.sqrt(np.maximum((centered @ blocks[g, :, g] @ centered).diagonal(), 0.0)) for g in range(len(blocks))]
        )

    def _draw(self, g: int, n: int, rng: np.random.Generator) -> FloatArray:
        return sample_plackett_luce(self.log_worths_[g], n, rng)

    def _family_and_parameters(self, positions: FloatArray) -> tuple[em.Family, Any]:
        family = _ChoiceFamily(_without_ties(positions)[0], self.alpha)
        return family, family.with_probabilities(self.log_worths_)

    def _check_saved(self) -> None:
        super()._check_saved()
        check_shape(self.log_worths_, (len(self.weights_), len(self.items_)), "the worths")
        ensure(np.isfinite(self.log_worths_).all(), "a worth is not finite")


class _ChoiceFamily(em.Family):
    """Plackett-Luce components; parameters are the log worths, and the log probabilities of all rows."""

    def __init__(self, rows: _completions.Rows, alpha: float) -> None:
        self.rows = rows
        self.alpha = alpha
        positions = rows.positions
        order = np.argsort(positions, axis=1, kind="stable")  # unlisted items after the listed ones, missing ones last
        n_present = (~np.isnan(positions)).sum(axis=1)
        n_stages = np.minimum(np.isfinite(positions).sum(axis=1), np.maximum(n_present - 1, 0))
        self.choices = (order, n_present, n_stages)

    def start(self, counts: FloatArray) -> tuple[FloatArray, ...]:
        flat = self.with_probabilities(np.zeros((counts.shape[1], self.rows.positions.shape[1])))
        return self.improve(flat, counts, thorough=False)

    def improve(self, parameters: Any, counts: FloatArray, *, thorough: bool) -> tuple[FloatArray, ...]:
        log_worth, logs = parameters[0].copy(), parameters[1].copy()
        n_components, k = log_worth.shape
        gradient, information = _mixture_jit.choice_moments(*self.choices, counts, log_worth, True)
        gradient -= self.alpha * log_worth
        diagonal = np.arange(k)
        # A common shift of all log worths changes nothing; any positive number there makes the information invertible.
        scale = np.maximum(1e-300, information[:, diagonal, diagonal].mean(axis=1))
        information += (scale / k)[:, np.newaxis, np.newaxis]
        # Items without information have no gradient but that of the prior, and stay finite.
        information[:, diagonal, diagonal] += self.alpha + 1e-9 * scale[:, np.newaxis]
        step = np.linalg.solve(information, gradient[:, :, np.newaxis])[:, :, 0]
        step -= step.mean(axis=1, keepdims=True)
        step /= np.maximum(1.0, np.abs(step).max(axis=1, keepdims=True) / _LONGEST_STEP)
        before = self._expected(log_worth, logs, counts)
        left = np.arange(n_components)
        for halvings in range(_MOST_HALVINGS):
            target = parameters[0][left] + step[left] / 2**halvings
            found = _mixture_jit.choice_log_probabilities(*self.choices, target).T
            gains = self._expected(target, found, counts[:, left]) >= before[left]
            log_worth[left[gains]], logs[left[gains]] = target[gains], found[gains]
            left = left[~gains]
            if not len(left):
                break
        return log_worth, logs

    def log_probabilities(self, parameters: Any) -> FloatArray:
        return np.asarray(parameters[1].T)

    def log_prior(self, parameters: Any) -> float:
        return -self.alpha / 2 * float(np.square(parameters[0]).sum())

    def scores(self, parameters: Any, g: int) -> FloatArray:
        return _mixture_jit.choice_scores(*self.choices, parameters[0][g])

    def prior_precision(self, parameters: Any) -> FloatArray:
        return np.full(parameters[0].shape[1], self.alpha)

    def with_probabilities(self, log_worth: FloatArray) -> tuple[FloatArray, ...]:
        """The parameters for given log worths."""
        logs = _mixture_jit.choice_log_probabilities(*self.choices, log_worth)
        return log_worth, np.ascontiguousarray(logs.T)

    def _expected(self, log_worth: FloatArray, logs: FloatArray, counts: FloatArray) -> FloatArray:
        return np.asarray(np.einsum("gr,rg->g", logs, counts) - self.alpha / 2 * np.square(log_worth).sum(axis=1))


def _without_ties(positions: FloatArray) -> tuple[_completions.Rows, str]:
    """Rows in all orders of tied items, or in random ones; and which of both."""
    tied = has_ties(positions)
    if _completions.can_list(positions, tied, ties_only=True):
        return _completions.listed(positions, tied, ties_only=True), "exact"
    return _completions.drawn(positions, tied, None, np.random.default_rng(0)), "monte carlo"
