"""What the mixtures of ranking models share: `RankingMixture` fits components, shares and their standard errors.

`MallowsMixture` and `PlackettLuceMixture` derive from it.
"""

from __future__ import annotations

import warnings
from abc import abstractmethod
from typing import Any, ClassVar, NamedTuple

import numpy as np

from rankwise._state import BOOL, COUNT, FLOATS, INTS, MATRIX, NUMBER, STRING, Saved, check_shape, ensure, maybe
from rankwise._state import optional as may_lack
from rankwise._typing import ArrayLike, FloatArray, IntArray, RandomState
from rankwise._validation import check_generator, check_n_jobs, check_real_number, check_whole_number, shortlist
from rankwise.aggregation import _mixture_em as em
from rankwise.aggregation import _mixture_jit
from rankwise.aggregation.base import RankingModel, rankings_of, weighted_rankings
from rankwise.data import Rankings

# Kinds of starts, in turn (see `starting_shares`): k-means ends in the best fits most often, but not always.
_KINDS_OF_STARTS = (0, 1, 0, 2, 0)
# A fit of `slope_ratios` ends when the mean log-likelihood of a ranking rises by less than this.
_TOL_OF_RATIOS = 1e-7
# People whose scores are held in memory at once.
_BLOCK = 4096


class Fit(NamedTuple):
    """What a fit has found, and in which way partial rankings were counted."""

    run: em.Run
    family: em.Family
    method: str


class RankingMixture(RankingModel):
    """A mixture of components of one family, whose shares may depend on covariates of the people."""

    n_components: int
    n_init: int
    max_iter: int
    tol: float
    random_state: RandomState
    n_jobs: int | None
    weights_: FloatArray
    membership_coef_: FloatArray | None

    _saved: ClassVar[Saved] = {
        "weights_": FLOATS,
        "weights_se_": may_lack(FLOATS),
        "labels_": INTS,
        "log_likelihood_": NUMBER,
        "n_iter_": COUNT,
        "converged_": BOOL,
        "membership_coef_": may_lack(maybe(MATRIX)),
        "membership_se_": may_lack(maybe(MATRIX)),
        "partial_rankings_": may_lack(STRING),
        "effective_draws_": may_lack(NUMBER),
        "_n": NUMBER,
    }

    def fit(
        self, rankings: ArrayLike, sample_weight: ArrayLike | None = None, covariates: ArrayLike | None = None
    ) -> Any:
        """Estimate the components.

        Parameters
        ----------
        rankings : array-like of shape (n_rankings, n_items) or Rankings
            Positions, 1 = best, of any kind: full, tied, top-k, incomplete.
        sample_weight : array-like of shape (n_rankings,), optional
            How often each ranking counts; by default the weights of the Rankings, or ones.
        covariates : array-like of shape (n_rankings, n_covariates), optional
            Finite numbers that say something about who gave the ranking. The share of each component is then a
            multinomial logit of them.

        Returns
        -------
        object
            The model itself.
        """
        for name in ("n_components", "n_init", "max_iter"):
            check_whole_number(name, getattr(self, name), at_least=1)
        check_real_number("tol", self.tol)
        check_n_jobs(self.n_jobs)
        self._check_options()
        data = weighted_rankings(rankings, sample_weight)
        part, design = _useful(data, covariates)
        self._check_rankings(part)
        first, ranking = _distinct(part.positions)
        if len(first) < self.n_components:
            raise ValueError(
                f"n_components is {self.n_components}, but only {len(first)} of the rankings differ; "
                "ask for fewer components"
            )
        positions = np.ascontiguousarray(part.positions[first])
        weights = np.bincount(ranking, part.weights, minlength=len(first)).astype(np.float64)
        scale = None
        rng = check_generator(self.random_state)
        people = em.People(np.arange(len(first)), weights, None)
        found = self._find(positions, people, self._starts(positions, weights, rng), rng)
        if design is not None:  # goes on from the fit without covariates, so that it is never worse
            scale = _Scale.of(design)
            people = em.People(ranking, np.asarray(part.weights, dtype=np.float64), scale.standardized(design))
            found = self._find(positions, people, [found.run.posterior], rng)
        run = found.run
        if not run.converged:
            _warn(f"the likelihood still rises after {self.max_iter} iterations; raise max_iter")
        if run.died:
            _warn("a component holds less than half a ranking in every start; ask for fewer components")
        self.items_ = data.items
        self.weights_ = run.shares
        self.log_likelihood_, self.n_iter_, self.converged_ = run.log_likelihood, run.n_iter, run.converged
        self.partial_rankings_ = found.method
        self.effective_draws_ = _effective_draws(found.family, people, run)
        self._n = float(part.weights.sum())
        covariance, n_gate = _covariance(found.family, people, run)
        self.membership_coef_ = self.membership_se_ = None
        if run.gate is not None and scale is not None:
            self.membership_coef_ = scale.original(run.gate)
            self.membership_se_ = scale.standard_errors(covariance[:n_gate, :n_gate], run.gate.shape)
        self.weights_se_ = _share_errors(people, run, covariance[:n_gate, :n_gate])
        self._store(run, covariance[n_gate:, n_gate:])
        self.labels_ = self.predict(rankings, covariates)
        return self

    def predict(self, rankings: ArrayLike, covariates: ArrayLike | None = None) -> IntArray:
        """The most probable component of each ranking, counted from 0: (n_rankings,)."""
        return np.argmax(self._log_joint(rankings, covariates), axis=1)

    def predict_proba(self, rankings: ArrayLike, covariates: ArrayLike | None = None) -> FloatArray:
        """Probability of each component given the ranking: (n_rankings, n_components), rows sum to 1.

        Without covariates, components have the shares that they have among all.
        """
        joint = self._log_joint(rankings, covariates)
        return np.asarray(np.exp(joint - np.logaddexp.reduce(joint, axis=1)[:, np.newaxis]))

    def logpmf(self, rankings: ArrayLike, covariates: ArrayLike | None = None) -> FloatArray:
        """Log probability of each ranking, partial ones as in ``fit``: (n_rankings,)."""
        return np.asarray(np.logaddexp.reduce(self._log_joint(rankings, covariates), axis=1))

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
        for g in range(len(self.weights_)):
            draws[label == g] = self._draw(g, int(np.sum(label == g)), rng)
        return Rankings(draws, self.items_)

    def bic(self) -> float:
        r"""Bayesian information criterion of the fit, lower is better.

        :math:`-2 \log L + p \log N` with p = `n_parameters`; N is the sum of the weights of the rankings.
        """
        n_parameters = self.n_parameters()
        return float(-2 * self.log_likelihood_ + n_parameters * np.log(self._n))

    def n_parameters(self) -> int:
        """Number of parameters of the components, and of their shares."""
        self._check_fitted()
        n = len(self.weights_)
        coef = getattr(self, "membership_coef_", None)
        return n * self._parameters_of_component() + (n - 1) * (1 if coef is None else coef.shape[1])

    def slope_ratios(
        self, rankings: ArrayLike, sample_weight: ArrayLike | None = None, covariates: ArrayLike | None = None
    ) -> FloatArray:
        """Likelihood ratio of every slope of the covariates against 0, all else fitted anew.

        Under no effect it follows the chi-square law of one degree of freedom, also where the normal law of the slope
        is far off, as for covariates that nearly separate components.

        Parameters
        ----------
        rankings : array-like of shape (n_rankings, n_items) or Rankings
            The rankings of the fit.
        sample_weight : array-like of shape (n_rankings,), optional
            Those of the fit.
        covariates : array-like of shape (n_rankings, n_covariates)
            Those of the fit.

        Returns
        -------
        ndarray of shape (n_components, n_covariates)
            NaN for the first component, the reference.
        """
        self._check_fitted()
        coef = getattr(self, "membership_coef_", None)
        part, design = _useful(weighted_rankings(rankings, sample_weight), covariates)
        if coef is None or design is None or design.shape[1] != coef.shape[1]:
            raise ValueError("slopes are tested with the covariates of the fit; fit with covariates, and give the same")
        first, ranking = _distinct(part.positions)
        scale = _Scale.of(design)
        people = em.People(ranking, np.asarray(part.weights, dtype=np.float64), scale.standardized(design))
        family, parameters = self._family_and_parameters(np.ascontiguousarray(part.positions[first]))
        options: Any = {"max_iter": self.max_iter, "tol": _TOL_OF_RATIOS}
        # Where rankings are completed by draws, these are others than those of the fit, so its maximum is found anew.
        full = em.started_at(family, people, parameters, self.weights_, scale.standard(coef))
        full = em.climb(family, people, full, **options)
        ratios = np.full((len(coef), coef.shape[1] - 1), np.nan)
        for g in range(1, len(coef)):
            for column in range(1, coef.shape[1]):
                free = np.full(coef.shape, True)
                free[g, column] = False
                own = people._replace(free=free)
                gate = np.where(free, np.asarray(full.gate), 0.0)
                run = em.climb(family, own, em.started_at(family, own, full.parameters, full.shares, gate), **options)
                ratios[g, column - 1] = max(2 * (full.log_likelihood - run.log_likelihood), 0.0)
        return ratios

    @abstractmethod
    def _check_options(self) -> None: ...

    @abstractmethod
    def _check_rankings(self, rankings: Rankings) -> None: ...

    @abstractmethod
    def _find(
        self, positions: FloatArray, people: em.People, starts: list[FloatArray], rng: np.random.Generator
    ) -> Fit:
        """The best fit to different rankings, of which ``people`` says who gave them."""

    @abstractmethod
    def _store(self, run: em.Run, covariance: FloatArray) -> None:
        """Keep the parameters of the components, and their standard errors."""

    @abstractmethod
    def _draw(self, g: int, n: int, rng: np.random.Generator) -> FloatArray:
        """Positions of full rankings of a component: (n, n_items)."""

    @abstractmethod
    def _family_and_parameters(self, positions: FloatArray) -> tuple[em.Family, Any]:
        """The fitted components for rankings to evaluate."""

    @abstractmethod
    def _parameters_of_component(self) -> int: ...

    def _starts(self, positions: FloatArray, weights: FloatArray, rng: np.random.Generator) -> list[FloatArray]:
        """Shares to start from; every start has its own random numbers."""
        n_starts = self.n_init if self.n_components > 1 else 1  # of one component, all starts are the same
        return [
            em.starting_shares(
                positions, weights, self.n_components, own, _KINDS_OF_STARTS[number % len(_KINDS_OF_STARTS)]
            )
            for number, own in enumerate(rng.spawn(n_starts))
        ]

    def _log_joint(self, rankings: ArrayLike, covariates: ArrayLike | None = None) -> FloatArray:
        """Log probability of component and ranking together: (n_rankings, n_components)."""
        self._check_fitted()
        data = rankings_of(self.items_, rankings)
        coef = getattr(self, "membership_coef_", None)
        design = None
        if covariates is not None:
            design = _check_covariates(covariates, len(data))
            n = 0 if coef is None else coef.shape[1] - 1
            if design.shape[1] - 1 != n:
                raise ValueError(f"covariates has {design.shape[1] - 1} columns, but the model was fitted with {n}")
        first, ranking = _distinct(data.positions)
        positions = np.ascontiguousarray(data.positions[first])
        logs = np.zeros((len(first), len(self.weights_)))
        says = data.informative[first]
        if says.any():
            family, parameters = self._family_and_parameters(positions[says])
            one = em.People(np.arange(int(says.sum())), np.ones(int(says.sum())), None)
            logs[says] = em.predict(family, one, parameters, np.ones(len(self.weights_)), None)
        people = em.People(ranking, np.ones(len(data)), design)
        return np.asarray(logs[ranking] + em.log_shares(people, self.weights_, coef if design is not None else None))

    def _check_saved(self) -> None:
        n = len(self.weights_)
        ensure((self.weights_ >= 0).all(), "a weight is negative")
        coef = getattr(self, "membership_coef_", None)
        if coef is not None:
            check_shape(coef, (n, coef.shape[1]), "the coefficients")


class _Scale(NamedTuple):
    """Means and standard deviations of covariates; constant columns, the first among them, stay as they are."""

    mean: FloatArray
    deviation: FloatArray

    @classmethod
    def of(cls, design: FloatArray) -> _Scale:
        deviation = design.std(axis=0)
        constant = deviation <= 1e-12 * np.maximum(1.0, np.abs(design).max(axis=0))
        return cls(np.where(constant, 0.0, design.mean(axis=0)), np.where(constant, 1.0, deviation))

    def standardized(self, design: FloatArray) -> FloatArray:
        return np.ascontiguousarray((design - self.mean) / self.deviation)

    def original(self, gate: FloatArray) -> FloatArray:
        return np.asarray(gate @ self._back())

    def standard(self, coef: FloatArray) -> FloatArray:
        return np.asarray(np.linalg.solve(self._back().T, coef.T).T)

    def standard_errors(self, covariance: FloatArray, shape: tuple[int, ...]) -> FloatArray:
        errors = np.zeros(shape)
        d, back = shape[1], self._back()
        for g in range(shape[0] - 1):
            own = back.T @ covariance[g * d : (g + 1) * d, g * d : (g + 1) * d] @ back
            errors[g + 1] = np.sqrt(np.maximum(own.diagonal(), 0.0))
        return errors

    def _back(self) -> FloatArray:
        """Coefficients of standardized columns times this are those of the columns as they came."""
        back = np.diag(1 / self.deviation)
        back[:, 0] -= self.mean / self.deviation
        back[0, 0] = 1.0
        return back


def _useful(data: Rankings, covariates: ArrayLike | None) -> tuple[Rankings, FloatArray | None]:
    """Rankings of positive weight that compare items, with a column of ones and the covariates of their people."""
    design = None if covariates is None else _check_covariates(covariates, len(data))
    useful = data.informative & (data.weights > 0)
    if not useful.any():
        raise ValueError(
            "no ranking of positive weight orders two items, so there is nothing to fit; "
            "give rankings of two items or more"
        )
    if useful.all():
        return data, design
    return data[useful], None if design is None else design[useful]


def _distinct(positions: FloatArray) -> tuple[IntArray, IntArray]:
    """Rows of the different rankings, in order of appearance, and the number of its ranking for every row."""
    keys = np.where(np.isnan(positions), -1.0, positions)
    _, first, ranking = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(first, kind="stable")
    rank = np.empty(len(order), dtype=np.intp)
    rank[order] = np.arange(len(order))
    return first[order], rank[ranking.reshape(-1)]


def _check_covariates(covariates: ArrayLike, n: int) -> FloatArray:
    """Covariates with a column of ones before them."""
    from sklearn.utils.validation import check_array

    checked = check_array(covariates, dtype=np.float64, input_name="covariates")
    if len(checked) != n:
        raise ValueError(f"covariates has {len(checked)} rows, but there are {n} rankings; give one row for each")
    return np.column_stack([np.ones(n), checked])


def _covariance(family: em.Family, people: em.People, run: em.Run) -> tuple[FloatArray, int]:
    """Covariance of all parameters but the centers, by the scores of the people; how many of them shares have.

    The information is the sum of the outer products of the scores (and the prior): it needs no second derivatives, and
    holds what is not known about memberships.
    """
    n_components = len(run.shares)
    design = np.ones((len(people.ranking), 1)) if people.design is None else people.design
    scores = [family.scores(run.parameters, g) for g in range(n_components)]
    if not family.rows.single:
        values = family.log_probabilities(run.parameters) + family.rows.log_weight[:, np.newaxis]
        owner, start = family.rows.owner, family.rows.start[:-1]
        within = np.exp(values - _mixture_jit.log_sums(values, family.rows.start)[owner])
        scores = [np.add.reduceat(part * own[:, np.newaxis], start) for part, own in zip(scores, within.T, strict=True)]
    logs = np.broadcast_to(em.log_shares(people, run.shares, run.gate), run.posterior.shape)
    n_gate = (n_components - 1) * design.shape[1]
    size = n_gate + sum(part.shape[1] for part in scores)
    information = np.zeros((size, size))
    for begin in range(0, len(design), _BLOCK):
        rows = slice(begin, begin + _BLOCK)
        excess = run.posterior[rows] - np.exp(logs[rows])
        parts = [excess[:, g : g + 1] * design[rows] for g in range(1, n_components)]
        parts += [run.posterior[rows, g : g + 1] * scores[g][people.ranking[rows]] for g in range(n_components)]
        block = np.column_stack(parts)
        information += (block * people.weights[rows, np.newaxis]).T @ block
    prior = np.append(0.0, np.full(design.shape[1] - 1, em.GATE_PRECISION if run.gate is not None else 0.0))
    own_prior = [family.prior_precision(run.parameters) for _ in range(n_components)]
    information += np.diag(np.concatenate([np.tile(prior, n_components - 1), *own_prior]))
    return np.linalg.pinv(information, hermitian=True, rcond=1e-10), n_gate


def _effective_draws(family: em.Family, people: em.People, run: em.Run) -> float:
    """Draws of equal weight that would say as much, of a ranking on average; NaN if nothing was drawn."""
    rows = family.rows
    if not rows.n_draws:
        return float("nan")
    values = family.log_probabilities(run.parameters) + rows.log_weight[:, np.newaxis]
    share = np.exp(values - _mixture_jit.log_sums(values, rows.start)[rows.owner])
    effective = 1 / np.add.reduceat(np.square(share), rows.start[:-1])
    drawn = np.diff(rows.start) > 1
    counts = (people.weights[:, np.newaxis] * run.posterior)[drawn[people.ranking]]
    return float((counts * effective[people.ranking[drawn[people.ranking]]]).sum() / counts.sum())


def _share_errors(people: em.People, run: em.Run, covariance: FloatArray) -> FloatArray:
    """Standard errors of the shares, by the delta method.

    With covariates a share is the mean of a probability over people, and other people would have other covariates: the
    spread of the probability over people counts too.
    """
    n_components = len(run.shares)
    design = np.ones((len(people.ranking), 1)) if people.design is None else people.design
    logs = np.broadcast_to(em.log_shares(people, run.shares, run.gate), run.posterior.shape)
    total = float(people.weights.sum())
    probability = np.exp(logs) * (people.weights / total)[:, np.newaxis]
    shares = probability.sum(axis=0)
    spread = people.weights @ np.square(np.exp(logs) - shares) / total
    errors = np.zeros(n_components)
    for g in range(n_components):
        slope = [(probability[:, g] * ((g == h) - np.exp(logs[:, h]))) @ design for h in range(1, n_components)]
        if slope:
            gradient = np.concatenate(slope)
            errors[g] = np.sqrt(max(float(gradient @ covariance @ gradient), 0.0) + spread[g] / total)
    return errors


def refuse_uncompared(rankings: Rankings) -> None:
    """Raise if an item is never compared with another: no component could place it."""
    if not rankings.compared.all():
        alone = [item for item, met in zip(rankings.items, rankings.compared, strict=True) if not met]
        raise ValueError(
            f"no ranking compares item {shortlist(alone)} with another, so it has no place; "
            "drop it with Rankings.comparable()"
        )


def _warn(message: str) -> None:
    from sklearn.exceptions import ConvergenceWarning

    warnings.warn(message, ConvergenceWarning, stacklevel=3)
