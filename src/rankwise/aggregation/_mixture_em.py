"""Expectation maximization for mixtures of rankings: starts, iterations, and shares that depend on covariates.

`MallowsMixture` and `PlackettLuceMixture` give a `Family`: how the parameters of their components are found from
weighted rankings. All else is the same for both. A step never lowers the likelihood (times the prior, if there is one).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from rankwise._progress import track
from rankwise._threads import one_thread
from rankwise._typing import BoolArray, FloatArray, IntArray
from rankwise.aggregation import _mixture_jit
from rankwise.aggregation._completions import Rows

#: precision of the normal prior of the slopes, per standard deviation of a covariate: it keeps them finite
GATE_PRECISION = 0.01
# A component with less than this share of one ranking has died.
_FEWEST_RANKINGS = 0.5
_LLOYD_STEPS = 8
# Parts of a ranking that are smaller than this are left out of the estimation.
_NEGLIGIBLE = 1e-9
# The best start goes on until a step gains this share of the tolerance.
_LAST_STRETCH = 0.01


class People(NamedTuple):
    """Who gave which of the different rankings, with weights and covariates (the first column is 1).

    ``free`` says which coefficients of the covariates are fitted; the others stay as they are.
    """

    ranking: IntArray
    weights: FloatArray
    design: FloatArray | None
    free: BoolArray | None = None


class Family(ABC):
    """Components of one kind, fitted to rows that stand for rankings; their parameters are a tuple of arrays."""

    rows: Rows

    @abstractmethod
    def start(self, counts: FloatArray) -> tuple[FloatArray, ...]:
        """Parameters from rows of which ``counts`` (n_rows, n_components) belongs to each component."""

    @abstractmethod
    def improve(self, parameters: Any, counts: FloatArray, *, thorough: bool) -> tuple[FloatArray, ...]:
        """Parameters of higher expected likelihood, or the same; a thorough step takes more time to look for them."""

    @abstractmethod
    def log_probabilities(self, parameters: Any) -> FloatArray:
        """Log probability of each row in each component: (n_rows, n_components)."""

    @abstractmethod
    def scores(self, parameters: Any, g: int) -> FloatArray:
        """Derivatives of the log probability of each row in component g: (n_rows, n_parameters)."""

    def prior_precision(self, parameters: Any) -> FloatArray:
        """Information of the prior on the parameters of a component: (n_parameters,)."""
        return np.zeros(1)

    def log_prior(self, parameters: Any) -> float:
        """Logarithm of the prior, up to a constant."""
        return 0.0


@dataclass
class Run:
    """A start of the algorithm, and where it has got to."""

    parameters: tuple[FloatArray, ...]
    shares: FloatArray
    gate: FloatArray | None
    log_likelihood: float
    objective: float
    posterior: FloatArray
    path: list[float]
    n_iter: int = 0
    converged: bool = False
    died: bool = False

    def sorted(self) -> Run:
        """The same with the largest component first."""
        order = np.argsort(-self.shares, kind="stable")
        self.parameters = tuple(np.ascontiguousarray(part[order]) for part in self.parameters)
        self.shares, self.posterior = self.shares[order], np.ascontiguousarray(self.posterior[:, order])
        if self.gate is not None:
            self.gate = self.gate[order] - self.gate[order[0]]
        return self


def best_run(
    family: Family,
    people: People,
    starts: Sequence[FloatArray],
    *,
    max_iter: int,
    tol: float,
    n_jobs: int | None = None,
    description: str = "starts",
) -> Run:
    """The start that ends with the highest likelihood, carried on to a sharper tolerance; largest component first."""
    from joblib import Parallel, delayed

    def work(start: FloatArray) -> Run:
        return climb(family, people, _first(family, people, start), max_iter=max_iter, tol=tol)

    if len(starts) == 1 or n_jobs in (None, 1):
        found = map(work, starts)
    else:
        found = Parallel(n_jobs=n_jobs, prefer="threads", require="sharedmem", return_as="generator")(
            delayed(work)(start) for start in starts
        )
    with one_thread():  # the products are small, and threads of linear algebra wait for each other on busy machines
        runs = list(track(found, description, len(starts)))
        # Of starts that end alike, the first, whatever the rounding.
        best = max(runs, key=lambda run: (not run.died, run.objective))
        if best.converged:
            best = climb(family, people, best, max_iter=max_iter, tol=_LAST_STRETCH * tol, thorough=True)
            best.converged = True
    return best.sorted()


def started_at(family: Family, people: People, parameters: Any, shares: FloatArray, gate: FloatArray | None) -> Run:
    """A start at given parameters."""
    run = Run(parameters, shares, gate, -np.inf, -np.inf, np.zeros((0, len(shares))), [])
    _expect(family, people, run)
    return run


def climb(family: Family, people: People, run: Run, *, max_iter: int, tol: float, thorough: bool = False) -> Run:
    """Iterate until a step raises the mean log likelihood of a ranking by less than ``tol``."""
    enough = tol * float(people.weights.sum())
    run.converged = False
    while run.n_iter < max_iter:
        before = run.objective
        counts = people.weights[:, np.newaxis] * run.posterior
        run.died = bool(counts.sum(axis=0).min() < _FEWEST_RANKINGS * min(1.0, float(people.weights.max())))
        _maximize(family, people, run, counts, thorough=thorough)
        _expect(family, people, run)
        run.n_iter += 1
        thorough = False
        if run.objective - before < enough:
            run.converged = True
            break
    return run


def predict(family: Family, people: People, parameters: Any, shares: FloatArray, gate: FloatArray | None) -> FloatArray:
    """Log probability of component and ranking together: (n_people, n_components)."""
    values = family.log_probabilities(parameters) + family.rows.log_weight[:, np.newaxis]
    logs = values if family.rows.single else _mixture_jit.log_sums(values, family.rows.start)
    return np.asarray(logs[people.ranking] + log_shares(people, shares, gate))


def log_shares(people: People, shares: FloatArray, gate: FloatArray | None) -> FloatArray:
    """Log probability of each component before the ranking is known: one row, or one for each person."""
    if gate is None or people.design is None:
        with np.errstate(divide="ignore"):  # a component may have weight 0
            return np.log(shares)[np.newaxis]
    scores = people.design @ gate.T
    return np.asarray(scores - np.logaddexp.reduce(scores, axis=1)[:, np.newaxis])


def row_counts(family: Family, parameters: Any, people: People, counts: FloatArray) -> FloatArray:
    """How much of each row belongs to each component, from what belongs of each person."""
    n_rankings = len(family.rows.start) - 1
    if people.design is None and len(people.ranking) == n_rankings:
        by_ranking = counts
    else:
        by_ranking = np.stack([np.bincount(people.ranking, part, minlength=n_rankings) for part in counts.T], axis=1)
    if not family.rows.single:
        values = family.log_probabilities(parameters) + family.rows.log_weight[:, np.newaxis]
        owner = family.rows.owner
        by_ranking = by_ranking[owner] * np.exp(values - _mixture_jit.log_sums(values, family.rows.start)[owner])
    return np.where(by_ranking > _NEGLIGIBLE * people.weights.max(), by_ranking, 0.0)


def starting_shares(
    positions: FloatArray, weights: FloatArray, n_components: int, rng: np.random.Generator, kind: int
) -> FloatArray:
    """Shares of the rankings (n, n_components) to begin with.

    Kind 0: clusters of k-means in the Kemeny embedding, whose coordinates are the signs of pairs of items. Kind 1: by
    distance to rankings of the data that lie far apart. Kind 2: by distance to the means of small random subsets.
    """
    n = len(positions)
    if n_components == 1:
        return np.ones((n, 1))
    if kind == 2:
        size = max(2, min(20, n // n_components))
        chosen = np.zeros((n, n_components))
        for g in range(n_components):
            chosen[rng.choice(n, size=min(size, n), replace=False), g] = 1.0
        chosen *= weights[:, np.newaxis]
    else:
        chosen = np.zeros((n, n_components))
        chosen[_far_apart(positions, weights, n_components, rng), np.arange(n_components)] = 1.0
    distances = _squared_distances(positions, chosen)
    if kind == 0:
        for _ in range(_LLOYD_STEPS):
            label = np.argmin(distances, axis=1)
            chosen = np.zeros((n, n_components))
            chosen[np.arange(n), label] = weights
            empty = chosen.sum(axis=0) == 0
            if empty.any():
                chosen[rng.choice(n, size=int(empty.sum()), replace=False), np.flatnonzero(empty)] = 1.0
            distances = _squared_distances(positions, chosen)
    # Squared distances count a pair that is ordered differently four times.
    closeness = np.exp((distances.min(axis=1, keepdims=True) - distances) / 4)
    return np.asarray(closeness / closeness.sum(axis=1, keepdims=True))


def _far_apart(positions: FloatArray, weights: FloatArray, n_components: int, rng: np.random.Generator) -> list[int]:
    """Rankings chosen as k-means++ chooses."""
    share = weights / weights.sum()
    seeds: list[int] = []
    nearest = np.full(len(positions), np.inf)
    for _ in range(n_components):
        seeds.append(int(rng.choice(len(positions), p=share)))
        chosen = np.zeros((len(positions), 1))
        chosen[seeds[-1]] = 1.0
        nearest = np.minimum(nearest, np.maximum(_squared_distances(positions, chosen)[:, 0], 0.0))
        nearest[seeds] = 0.0
        far = weights * nearest
        share = far / far.sum() if far.sum() > 0 else weights / weights.sum()
    return seeds


def _squared_distances(positions: FloatArray, chosen: FloatArray) -> FloatArray:
    """Squared distances, up to a constant for each ranking, of pair signs to the means of the chosen rankings."""
    means = _mixture_jit.pair_margins(positions, chosen) / chosen.sum(axis=0)[:, np.newaxis, np.newaxis]
    squares = np.square(means).sum(axis=(1, 2)) / 2
    n_pairs = positions.shape[1] * (positions.shape[1] - 1) / 2
    return np.asarray(n_pairs + squares - 2 * _mixture_jit.pair_products(positions, means))


def _first(family: Family, people: People, shares: FloatArray) -> Run:
    """The parameters of the first step: rows of a ranking have equal parts of it."""
    posterior = shares[people.ranking]
    counts = people.weights[:, np.newaxis] * posterior
    n_rankings = len(family.rows.start) - 1
    by_ranking: FloatArray = np.zeros((n_rankings, counts.shape[1]))
    np.add.at(by_ranking, people.ranking, counts)
    if not family.rows.single:
        weight = np.exp(
            family.rows.log_weight
            - np.maximum.reduceat(family.rows.log_weight, family.rows.start[:-1])[family.rows.owner]
        )
        total = np.add.reduceat(weight, family.rows.start[:-1])
        by_ranking = by_ranking[family.rows.owner] * (weight / total[family.rows.owner])[:, np.newaxis]
    gate = None if people.design is None else np.zeros((shares.shape[1], people.design.shape[1]))
    total_shares = counts.sum(axis=0) / counts.sum()
    if gate is not None:
        gate[:, 0] = np.log(np.maximum(total_shares, 1e-12))
        gate -= gate[0].copy()
    run = Run(family.start(by_ranking), total_shares, gate, -np.inf, -np.inf, posterior, [])
    _expect(family, people, run)
    return run


def _expect(family: Family, people: People, run: Run) -> None:
    joint = predict(family, people, run.parameters, run.shares, run.gate)
    total = np.logaddexp.reduce(joint, axis=1)
    run.posterior = np.exp(joint - total[:, np.newaxis])
    run.log_likelihood = float(people.weights @ total)
    run.objective = run.log_likelihood + family.log_prior(run.parameters) + gate_log_prior(run.gate)
    run.path.append(run.objective)


def _maximize(family: Family, people: People, run: Run, counts: FloatArray, *, thorough: bool) -> None:
    rows = row_counts(family, run.parameters, people, counts)
    run.parameters = family.improve(run.parameters, rows, thorough=thorough)
    run.shares = counts.sum(axis=0) / counts.sum()
    if run.gate is not None and people.design is not None:
        run.gate = gate_step(people.design, counts, run.gate, people.free)


def gate_log_prior(gate: FloatArray | None) -> float:
    """Logarithm of the prior of the slopes, up to a constant."""
    return 0.0 if gate is None else -GATE_PRECISION / 2 * float(np.square(gate[:, 1:]).sum())


def gate_step(design: FloatArray, counts: FloatArray, gate: FloatArray, free: BoolArray | None = None) -> FloatArray:
    """One step of Newton's method, shortened until it gains, for a multinomial logit with component 0 as reference."""
    n_components, d = gate.shape
    if n_components == 1:
        return gate
    weights = counts.sum(axis=1)

    def value(gate: FloatArray) -> float:
        scores = design @ gate.T
        return float((counts * scores).sum() - weights @ np.logaddexp.reduce(scores, axis=1)) + gate_log_prior(gate)

    scores = design @ gate.T
    probability = np.exp(scores - np.logaddexp.reduce(scores, axis=1)[:, np.newaxis])
    gradient = (counts - weights[:, np.newaxis] * probability).T @ design
    gradient[:, 1:] -= GATE_PRECISION * gate[:, 1:]
    information = gate_information(design, weights, probability)
    step = np.zeros_like(gate)
    moves = np.full((n_components - 1) * d, True) if free is None else free[1:].ravel()
    found = np.zeros(len(moves))
    found[moves] = np.linalg.lstsq(information[np.ix_(moves, moves)], gradient[1:].ravel()[moves], rcond=None)[0]
    step[1:] = found.reshape(-1, d)
    before = value(gate)
    for halvings in range(30):
        target = gate + step / 2**halvings
        if value(target) >= before:
            return np.asarray(target)
    return gate


def gate_information(design: FloatArray, weights: FloatArray, probability: FloatArray) -> FloatArray:
    """Information of the coefficients of all components but the first, with the prior of the slopes."""
    d, others = design.shape[1], range(1, probability.shape[1])
    blocks = []
    for g in others:
        row = []
        for h in others:
            spread = weights * probability[:, g] * ((g == h) - probability[:, h])
            row.append((design * spread[:, np.newaxis]).T @ design)
        blocks.append(row)
    information = np.block(blocks)
    prior = np.tile(np.append(0.0, np.full(d - 1, GATE_PRECISION)), len(blocks))
    return np.asarray(information + np.diag(prior))
