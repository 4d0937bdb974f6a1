"""RankingOracle: a law of features and rankings of which everything is known, to sample from and to compare with.

It is made of four parts: scores (`score_functions`), noise (`noise_laws`), features (`feature_laws`) and what is
observed of a ranking (`mechanisms`). The generators `make_sparse_label_ranking` and `make_cell_label_ranking` draw from
one.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple

import numpy as np

from rankwise._typing import ArrayLike, FloatArray, RandomState
from rankwise._validation import check_choice, check_generator, check_numbers, check_sizes, check_whole_number
from rankwise.aggregation import kemeny_batch
from rankwise.data import Rankings
from rankwise.datasets.feature_laws import (
    MOST_SUPPORT,
    BinaryFeatures,
    FeatureLaw,
    Features,
    GridFeatures,
    as_feature_law,
)
from rankwise.datasets.mechanisms import (
    Partition,
    Survival,
    is_apart,
    make_incomplete,
    make_partial,
    probability_apart,
    survival_matrix,
)
from rankwise.datasets.noise_laws import MallowsNoise, Noise, NoiseLaw, NoNoise, as_noise_law
from rankwise.datasets.score_functions import CellScores, LinearScores, own_weights, shared_weights
from rankwise.datasets.transforms import sorted_positions

#: number of binary features of the two families of the paper
PRESETS = {"SFN": 100, "LFN": 1000}
# Informative features of the designs, where none are given.
_INFORMATIVE = {"own": 10, "shared": 5}


class Draw(NamedTuple):
    """Rankings of some rows: what is observed, the complete ones behind it, and the noisy scores if there are any."""

    observed: Rankings
    complete: FloatArray
    noisy_scores: FloatArray | None


@dataclass(frozen=True, eq=False)
class RankingOracle:
    r"""Source of features and rankings whose law is known.

    *Definition.* A sample is :math:`x \sim D_x` and :math:`\sigma = M(x, m(x) + \xi)`: items are sorted by decreasing
    score with noise :math:`\xi`, then some drop out or tie.

    Parameters
    ----------
    m : callable
        Scores: takes X of shape (n, d), returns (n, k), higher = better.
    noise : GaussianNoise, UniformNoise, MallowsNoise or callable, optional
        Noise on scores or rankings; a function takes scores (n, k) and a generator and returns noisy scores. By
        default none.
    features : int, BinaryFeatures, FiniteFeatures or callable, optional
        Law of x; a number of features means that many random bits, and a function takes a size and a generator and
        returns rows. May be left out where ``m`` knows its ``n_features``, as the designs below do.
    survival : float, array-like of shape (k,) or callable, optional
        Probability that an item is observed, :math:`q_i(x)`, independent over items; a function takes X and returns
        (n, k). See `make_incomplete`.
    partition : sequence of int, "random" or callable, optional
        Blocks of places that tie, see `make_partial`; done before items drop out.

    Notes
    -----
    An oracle does not change; ``dataclasses.replace(oracle, noise=...)`` gives the same m with other noise.

    Expectations over x are exact where the features have a finite support of at most 65,536 rows (`BinaryFeatures` with
    16 features, `FiniteFeatures`), else means over rows that are sampled; rows may also be given. Probabilities given x
    are exact for all laws of noise here, except where their methods say that they sample.

    References
    ----------
    Fotakis, Kalavasis, Psaroudaki (2022), Label ranking through nonparametric regression, definitions 1.1, 2.2, 2.4
    and C.1.

    Examples
    --------
    >>> from rankwise.datasets import GaussianNoise, RankingOracle
    >>> weights = [[0.4, 0.0, 0.1], [0.0, 0.3, 0.1]]
    >>> oracle = RankingOracle(lambda X: [0.27, 0.25, 0.26] + X @ weights, GaussianNoise(0.1), features=2)
    >>> X, y = oracle.sample(4, random_state=0)
    >>> X.shape, y.shape
    ((4, 2), (4, 3))
    >>> oracle.ranking([[1, 0]])
    array([[1., 3., 2.]])
    >>> round(oracle.beta(), 3)
    0.579
    """

    m: Any  # a function of X, often an object with more to say
    noise: Noise = None
    features: Features | None = None
    survival: Survival | None = field(default=None, kw_only=True)
    partition: Partition | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        if not callable(self.m):
            raise TypeError(f"m is {self.m!r}; give a function that takes X and returns scores, one column per item")
        if self.features is None and getattr(self.m, "n_features", None) is None:
            raise ValueError("features is missing: say where x comes from, such as features=10 for ten random bits")
        as_noise_law(self.noise)  # refuses what is no noise, as the next line does for features
        as_feature_law(self.m.n_features if self.features is None else self.features)

    @classmethod
    def sparse(
        cls,
        n_features: int = 100,
        n_items: int = 5,
        n_informative: int | None = None,
        *,
        preset: Literal["SFN", "LFN"] | None = None,
        design: Literal["own", "shared"] = "own",
        noise: Noise = None,
        survival: Survival | None = None,
        partition: Partition | None = None,
        random_state: RandomState = None,
    ) -> RankingOracle:
        """Linear scores of a few binary features, in [1/4, 3/4]: the data of the paper's figures 1 and 2.

        Parameters
        ----------
        n_features, n_items : int
            d and k; x is uniform on the cube.
        n_informative : int, optional
            r: by default 10 for ``design="own"`` and 5 for ``design="shared"``.
        preset : {"SFN", "LFN"}, optional
            100 or 1000 features, in place of ``n_features``.
        design : {"own", "shared"}, default="own"
            "own": each item has positive weights on features of its own, as the paper describes (a feature may be
            drawn twice). "shared": all items have weights of both signs on the same features, as in the files that
            the authors distribute.
        noise, survival, partition
            See `RankingOracle`.
        random_state : None, int, Generator or RandomState
            Determines the weights.

        Returns
        -------
        RankingOracle
            Its ``m`` has ``weights`` (k, d) and ``informative``.

        Examples
        --------
        >>> from rankwise.datasets import RankingOracle
        >>> oracle = RankingOracle.sparse(preset="SFN", design="shared", random_state=0)
        >>> [len(features) for features in oracle.m.informative]
        [5, 5, 5, 5, 5]
        """
        check_choice("design", design, ("own", "shared"))
        if preset is not None:
            check_choice("preset", preset, tuple(PRESETS))
            n_features = PRESETS[preset]
        law = BinaryFeatures(n_features)
        draw_weights = own_weights if design == "own" else shared_weights
        r = _INFORMATIVE[design] if n_informative is None else n_informative
        weights = draw_weights(n_features, n_items, r, check_generator(random_state))
        return cls(LinearScores.over_cube(weights), noise, law, survival=survival, partition=partition)

    @classmethod
    def cells(
        cls,
        n_items: int = 5,
        *,
        setting: Literal[1, 2, 3] = 1,
        n_cells: int = 6,
        theta: float | None = None,
        survival: Survival | None = None,
        partition: Partition | None = None,
        random_state: RandomState = None,
    ) -> RankingOracle:
        """A central ranking for each cell of a grid, see `make_cell_label_ranking`.

        Parameters
        ----------
        n_items, setting, n_cells, theta
            See `make_cell_label_ranking`.
        survival, partition
            See `RankingOracle`.
        random_state : None, int, Generator or RandomState
            Determines the centers.

        Returns
        -------
        RankingOracle
            Its ``m`` has ``centers`` (n_cells, k) and ``grid``.

        Examples
        --------
        >>> from rankwise.datasets import RankingOracle
        >>> oracle = RankingOracle.cells(3, n_cells=2, random_state=0)
        >>> oracle.ranking([[0.5, 0.2]])
        array([[3., 2., 1.]])
        """
        check_sizes(n_items=n_items)
        grid = GridFeatures.of_cells(n_cells, setting)
        centers = np.argsort(check_generator(random_state).random((n_cells, n_items)), axis=1).astype(np.float64) + 1
        noise = None if theta is None else MallowsNoise(theta)
        return cls(CellScores(grid, centers), noise, grid, survival=survival, partition=partition)

    @property
    def _noise_law(self) -> NoiseLaw:
        return as_noise_law(self.noise)

    @property
    def feature_law(self) -> FeatureLaw:
        """The law of the features, whatever they were given as."""
        return as_feature_law(self.m.n_features if self.features is None else self.features)

    def sample(self, n: int, random_state: RandomState = None) -> tuple[FloatArray, Rankings]:
        """Draw features and rankings.

        Parameters
        ----------
        n : int
            Number of rows.
        random_state : None, int, Generator or RandomState
            Where the random numbers come from. The same seed gives the same X whatever the noise, and the same items
            drop out whatever the noise among those of this library.

        Returns
        -------
        X : ndarray of shape (n, d)
        y : Rankings
        """
        rng = check_generator(random_state, salt="RankingOracle")
        X = self.feature_law.sample(check_whole_number("n", n, at_least=1), rng)
        if self._noise_law.keeps_ties:
            self._warn_of_ties(self.scores(X))
        return X, self.draw(X, rng).observed

    def observe(self, X: ArrayLike, random_state: RandomState = None) -> Rankings:
        """Draw a ranking for each given row.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Features.
        random_state : None, int, Generator or RandomState
            Where the random numbers come from.

        Returns
        -------
        Rankings
        """
        if self._noise_law.keeps_ties:
            self._warn_of_ties(self.scores(X))
        return self.draw(X, random_state).observed

    def draw(self, X: ArrayLike, random_state: RandomState = None) -> Draw:
        """Draw a ranking for each row and keep what is behind it; used by the generators.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Features.
        random_state : None, int, Generator or RandomState
            Where the random numbers come from.

        Returns
        -------
        Draw
            ``observed`` (Rankings), ``complete`` (positions before items drop out or tie) and ``noisy_scores``
            (None for Mallows noise).
        """
        rng = check_generator(random_state, salt="RankingOracle")
        noisy, complete = self._noise_law.disturb(self.scores(X), rng)
        observed = Rankings(complete)
        if self.partition is not None:
            observed = make_partial(observed, self.partition, X=X, random_state=rng)
        if self.survival is not None:
            observed = make_incomplete(observed, self.survival, X=X, random_state=rng)
        return Draw(observed, complete, noisy)

    def scores(self, X: ArrayLike) -> FloatArray:
        """Scores m(x) of each row: (n, k).

        Parameters
        ----------
        X : array-like of shape (n, d)
            Features.

        Returns
        -------
        ndarray of shape (n, k)
        """
        rows: Any = X if hasattr(X, "shape") else np.asarray(X, dtype=np.float64)
        width = getattr(self.feature_law, "n_features", None)  # a function of the user's own does not say
        if len(rows.shape) != 2 or (width is not None and rows.shape[1] != width):
            raise ValueError(
                f"X has shape {rows.shape}; give one row per sample"
                + (f", of the {width} features of this oracle" if width is not None else "")
            )
        scores = check_numbers("m(X)", self.m(rows))
        if scores.ndim != 2 or len(scores) != len(rows) or scores.shape[1] < 2 or np.isnan(scores).any():
            raise ValueError(
                f"m returned scores of shape {scores.shape}{' with NaN' if np.isnan(scores).any() else ''} for "
                f"{len(rows)} rows; it should return one row of numbers for each, with two items or more"
            )
        return scores

    def ranking(self, X: ArrayLike) -> FloatArray:
        """The noiseless ranking h(x) = argsort of m(x): positions (n, k), 1 = best.

        Equal scores are taken in item order, with a warning.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Features.

        Returns
        -------
        ndarray of shape (n, k)
        """
        scores = self.scores(X)
        self._warn_of_ties(scores)
        return sorted_positions(scores)

    def median(self, X: ArrayLike, *, n_draws: int = 1000, random_state: RandomState = 0) -> FloatArray:
        """The ranking of least expected Kendall distance, h*(x): what a learner of noisy rankings can hope for.

        Where :math:`p_{ij}(x)` is strictly transitive, equation 2 of the paper; else the exact Kemeny median for up to
        12 items. It equals `ranking` for independent noise on scores and for Mallows noise on places.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Features.
        n_draws, random_state
            See `preference_probability`.

        Returns
        -------
        ndarray of shape (n, k)
            Positions, 1 = best.
        """
        return kemeny_batch(self.preference_probability(X, n_draws=n_draws, random_state=random_state))

    def preference_probability(self, X: ArrayLike, *, n_draws: int = 1000, random_state: RandomState = 0) -> FloatArray:
        r"""Probability that i comes before j in the complete ranking of each row, :math:`p_{ij}(x)`.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Features.
        n_draws : int, default=1000
            Draws for each row where nothing else is possible: with a noise function of your own, and with Mallows noise
            on the names of more than 40 items. Everything else is exact.
        random_state : None, int, Generator or RandomState, default=0
            For these draws.

        Returns
        -------
        ndarray of shape (n, k, k)
            With 1/2 on the diagonal.
        """
        scores = self.scores(X)
        if self._noise_law.keeps_ties:
            self._warn_of_ties(scores)
        known = self._noise_law.preference_probability(scores)
        if known is not None:
            return known
        before = self._mean_of_draws(
            X, lambda one: one.complete[:, :, None] < one.complete[:, None, :], n_draws, random_state
        )
        before[:, np.arange(before.shape[1]), np.arange(before.shape[1])] = 0.5
        return before

    def observation_probability(
        self, X: ArrayLike, *, n_draws: int = 1000, random_state: RandomState = 0
    ) -> FloatArray:
        r"""Probability that a ranking of each row says which of i and j is better: both are there, and not tied.

        This is :math:`q_{ij}(x)` of the paper where items drop out, and its partial tolerance where they tie.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Features.
        n_draws : int, default=1000
            Draws for each row where ties depend on noise on scores or on a function; everything else is exact.
        random_state : None, int, Generator or RandomState, default=0
            For these draws.

        Returns
        -------
        ndarray of shape (n, k, k)
            With 1 on the diagonal.
        """
        scores = self.scores(X)
        n, k = scores.shape
        result: FloatArray | None = np.ones((n, k, k)) if self.partition is None else None
        if self.partition is not None and not callable(self.partition):
            result = self._noise_law.mean_over_places(scores, probability_apart(self.partition, k))
        if result is None:
            ties_only = replace(self, survival=None)
            result = ties_only._mean_of_draws(X, lambda one: is_apart(one.observed.positions), n_draws, random_state)
        if self.survival is not None:
            stays = survival_matrix(self.survival, X, (n, k))
            result = result * stays[:, :, None] * stays[:, None, :]
        result[:, np.arange(k), np.arange(k)] = 1.0
        return result

    def alpha(self, X: ArrayLike | None = None, *, n_samples: int = 10_000, random_state: RandomState = 0) -> float:
        """Share of the complete rankings that noise changes (definition 2.2).

        Exact given x, except for a noise function of your own, which is drawn once for each row, or as often as it
        takes to have ``n_samples`` draws.

        Parameters
        ----------
        X : array-like of shape (n, d), optional
            Rows to take the mean over; by default the law of the features.
        n_samples : int, default=10_000
            Rows, and draws of noise, where they are sampled.
        random_state : None, int, Generator or RandomState, default=0
            For what is sampled.

        Returns
        -------
        float
            From 0 (noiseless) to 1.
        """
        rng = check_generator(random_state, salt="RankingOracle")
        rows, shares = self.rows(X, n_samples, rng)
        scores = self.scores(rows)
        self._warn_of_ties(scores)
        unchanged = self._noise_law.probability_unchanged(scores)
        if unchanged is None:
            noiseless = sorted_positions(scores)
            n_draws = -(-n_samples // len(rows))
            unchanged = self._mean_of_draws(rows, lambda one: (one.complete == noiseless).all(axis=1), n_draws, rng)
        return float(1 - shares @ unchanged)

    def beta(self, X: ArrayLike | None = None, *, n_samples: int = 10_000, random_state: RandomState = 0) -> float:
        """Mean Kendall tau of complete and noiseless rankings (definition 2.2).

        Exact given x wherever `preference_probability` is.

        Parameters
        ----------
        X, n_samples, random_state
            See `alpha`.

        Returns
        -------
        float
            From -1 to 1 (noiseless).
        """
        rng = check_generator(random_state, salt="RankingOracle")
        rows, shares = self.rows(X, n_samples, rng)
        scores = self.scores(rows)
        if not self._noise_law.keeps_ties:  # else the probabilities below say it
            self._warn_of_ties(scores)
        positions = sorted_positions(scores)
        kept = np.where(
            positions[:, :, None] < positions[:, None, :], self.preference_probability(rows, random_state=rng), 0.0
        )
        n_pairs = positions.shape[1] * (positions.shape[1] - 1) / 2
        return float(shares @ (2 * kept.sum(axis=(1, 2)) / n_pairs - 1))

    def phi(self, X: ArrayLike | None = None, *, n_samples: int = 10_000, random_state: RandomState = 0) -> float:
        """Smallest probability, over x and pairs, that a ranking orders the pair: condition 2.3, and condition 7's xi.

        Parameters
        ----------
        X, n_samples, random_state
            See `alpha`.

        Returns
        -------
        float
            From 0 to 1 (complete rankings): the smallest over the rows of X, or over all x if the features have at
            most 65,536 rows or the value is the same at every x. Otherwise the smallest over the rows sampled, an upper
            bound of that over all x, with a warning. Where `observation_probability` draws rankings, an estimate.
        """
        rng = check_generator(random_state, salt="RankingOracle")
        if X is None and self.feature_law.n_support > MOST_SUPPORT and not self._observes_alike_everywhere():
            warnings.warn(
                f"the features have more than {MOST_SUPPORT} rows, so the smallest probability over {n_samples} "
                "sampled ones is an upper bound of that over all; give the rows where it may be smallest as X, or "
                "fewer features",
                UserWarning,
                stacklevel=2,
            )
        rows, _ = self.rows(X, n_samples, rng)
        return float(self.observation_probability(rows, random_state=rng).min())

    def _observes_alike_everywhere(self) -> bool:
        """Whether the smallest probability that a pair is observed is known not to depend on x."""
        if callable(self.survival) or callable(self.partition):
            return False
        if self.partition is None:
            return True
        # Ties depend on places alone: which items stand there does not matter if all survive alike.
        noise = self._noise_law
        on_places = isinstance(noise, NoNoise) or (isinstance(noise, MallowsNoise) and noise.on == "places")
        return on_places and (self.survival is None or np.ndim(self.survival) == 0)

    def rows(self, X: ArrayLike | None, n_samples: int, random_state: RandomState = None) -> tuple[Any, FloatArray]:
        """Rows to take a mean over, and their probabilities: those given, the whole support, or a sample.

        Parameters
        ----------
        X : array-like of shape (n, d) or None
            Rows that count alike.
        n_samples : int
            How many to sample where the support is larger than 65,536 rows.
        random_state : None, int, Generator or RandomState
            For these.

        Returns
        -------
        rows : array of shape (n, d)
        probabilities : ndarray of shape (n,)
        """
        law = self.feature_law
        if X is None and law.n_support <= MOST_SUPPORT:
            return law.support()
        size = check_whole_number("n_samples", n_samples, at_least=1)
        rng = check_generator(random_state, salt="RankingOracle")
        rows = law.sample(size, rng) if X is None else X
        rows = rows if hasattr(rows, "shape") else np.asarray(rows, dtype=np.float64)
        return rows, np.full(len(rows), 1 / len(rows))

    def _warn_of_ties(self, scores: FloatArray) -> None:
        """Say that rankings of equal scores are arbitrary; the sparse designs often have some, and document it."""
        in_order = np.sort(scores, axis=1)
        tied = np.flatnonzero((in_order[:, 1:] == in_order[:, :-1]).any(axis=1))
        if len(tied) and not isinstance(self.m, LinearScores):
            warnings.warn(
                f"m gives items equal scores in {len(tied)} of {len(scores)} rows, the first "
                f"{scores[tied[0]].tolist()}; they are ranked in item order. Make the scores differ, such as by a "
                "small constant for each item, or block this warning if that order is meant",
                UserWarning,
                stacklevel=3,
            )

    def _mean_of_draws(
        self, X: ArrayLike, statistic: Callable[[Draw], Any], n_draws: int, random_state: RandomState
    ) -> FloatArray:
        rng = check_generator(random_state, salt="RankingOracle")
        total: Any = 0.0
        for _ in range(check_whole_number("n_draws", n_draws, at_least=1)):
            total = total + statistic(self.draw(X, rng))
        return np.asarray(total / n_draws, dtype=np.float64)
