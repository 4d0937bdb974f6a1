"""Where the features of a `RankingOracle` come from: bits, a finite set of rows, uniform numbers, or a function."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from rankwise._typing import ArrayLike, FloatArray, IntArray, RandomState
from rankwise._validation import (
    check_choice,
    check_generator,
    check_numbers,
    check_sizes,
    check_weights,
    check_whole_number,
)

#: the most rows that an exact expectation or search goes through
MOST_SUPPORT = 2**16


class FeatureLaw:
    """What the oracle asks a law of features."""

    @property
    def n_support(self) -> float:
        """Number of rows that can be drawn; infinite where there is no finite support."""
        return np.inf

    def sample(self, n: int, random_state: RandomState = None) -> FloatArray:
        """Draw rows.

        Parameters
        ----------
        n : int
            Number of rows.
        random_state : None, int, Generator or RandomState
            Where the random numbers come from.

        Returns
        -------
        ndarray of shape (n, n_features)
        """
        return self._draw(check_whole_number("n", n, at_least=0), check_generator(random_state))

    def _draw(self, n: int, rng: np.random.Generator) -> FloatArray:
        raise NotImplementedError

    def support(self) -> tuple[FloatArray, FloatArray]:
        """All rows with a positive probability, and the probabilities."""
        raise ValueError("these features have no finite support; give BinaryFeatures or FiniteFeatures")


@dataclass(frozen=True, eq=False)
class BinaryFeatures(FeatureLaw):
    """Independent bits: a product distribution on the cube.

    Parameters
    ----------
    n_features : int
        d.
    probability : float or array-like of shape (n_features,), default=0.5
        Probability that a bit is 1, strictly between 0 and 1.

    Examples
    --------
    >>> from rankwise.datasets import BinaryFeatures
    >>> rows, probabilities = BinaryFeatures(2, 0.25).support()
    >>> rows.tolist(), probabilities.tolist()
    ([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], [0.5625, 0.1875, 0.1875, 0.0625])
    """

    n_features: int
    probability: ArrayLike = 0.5

    def __post_init__(self) -> None:
        check_whole_number("n_features", self.n_features, at_least=1)
        shares = check_numbers("probability", self.probability)
        if shares.shape not in ((), (self.n_features,)) or not ((shares > 0) & (shares < 1)).all():
            raise ValueError(
                f"probability is {self.probability!r}; give one number between 0 and 1, or one for each of the "
                f"{self.n_features} features"
            )

    @property
    def n_support(self) -> float:
        """Corners of the cube."""
        return 2.0**self.n_features

    def _draw(self, n: int, rng: np.random.Generator) -> FloatArray:
        size = (n, self.n_features)
        shares = np.asarray(self.probability, dtype=np.float64)
        if (shares == 0.5).all():
            return rng.integers(0, 2, size=size, dtype=np.int8).astype(np.float64)
        return (rng.random(size) < shares).astype(np.float64)

    def support(self) -> tuple[FloatArray, FloatArray]:
        """All corners of the cube, in the order of binary numbers, and their probabilities."""
        d = self.n_features
        if self.n_support > MOST_SUPPORT:
            raise ValueError(
                f"the cube of {d} features has 2^{d} corners, but at most {MOST_SUPPORT} are listed; "
                "leave features out (those that no score depends on change nothing), or estimate from samples"
            )
        rows = (np.arange(2**d)[:, None] >> np.arange(d - 1, -1, -1) & 1).astype(np.float64)
        shares = np.broadcast_to(np.asarray(self.probability, dtype=np.float64), d)
        return rows, np.where(rows == 1, shares, 1 - shares).prod(axis=1)


class FiniteFeatures(FeatureLaw):
    """A given set of rows, each with a probability: any distribution on finitely many points.

    Parameters
    ----------
    rows : array-like of shape (n_rows, n_features)
        The rows, such as those of a data set.
    probabilities : array-like of shape (n_rows,), optional
        How often each occurs, 0 or more; weights such as counts, which need not sum to 1, are divided by their sum. By
        default all are equally likely.

    Examples
    --------
    >>> from rankwise.datasets import FiniteFeatures
    >>> FiniteFeatures([[0, 0], [1, 1]], [3, 1]).support()[1]
    array([0.75, 0.25])
    """

    def __init__(self, rows: ArrayLike, probabilities: ArrayLike | None = None) -> None:
        self.rows = check_rows("rows", rows)
        shares = check_weights(probabilities, len(self.rows), name="probabilities", each="row")
        if not shares.sum() > 0:
            raise ValueError("all probabilities are 0, so no row can be drawn")
        self.probabilities = shares / shares.sum()

    def __repr__(self) -> str:
        n_rows, n_features = self.rows.shape
        return f"FiniteFeatures({n_rows} rows of {n_features} features)"

    @property
    def n_features(self) -> int:
        """Columns of the rows."""
        return self.rows.shape[1]

    @property
    def n_support(self) -> float:
        """Rows that can be drawn."""
        return float(np.count_nonzero(self.probabilities))

    def _draw(self, n: int, rng: np.random.Generator) -> FloatArray:
        return self.rows[rng.choice(len(self.rows), n, p=self.probabilities)]

    def support(self) -> tuple[FloatArray, FloatArray]:
        """The rows of positive probability, and the probabilities."""
        possible = np.flatnonzero(self.probabilities)
        return self.rows[possible], self.probabilities[possible]


@dataclass(frozen=True, eq=False)
class GridFeatures(FeatureLaw):
    """Two features, uniform on [0, 1] or categories, cut into a grid of equally likely cells."""

    levels: IntArray
    categorical: tuple[int, ...]
    n_features: int = 2

    @classmethod
    def of_cells(cls, n_cells: int, setting: int) -> GridFeatures:
        """A grid of this many cells, as square as can be; setting 1, 2, 3: none, the second, both are categories."""
        check_choice("setting", setting, (1, 2, 3))
        check_sizes(n_cells=n_cells)
        smaller = max(size for size in range(1, int(np.sqrt(n_cells)) + 1) if n_cells % size == 0)
        return cls(np.array([smaller, n_cells // smaller]), {1: (), 2: (1,), 3: (0, 1)}[setting])

    def _draw(self, n: int, rng: np.random.Generator) -> FloatArray:
        # A categorical feature is the interval of the uniform number, so that all settings share their cells.
        uniforms = rng.random((n, 2))
        X = uniforms.copy()
        columns = list(self.categorical)
        X[:, columns] = (uniforms * self.levels).astype(np.intp)[:, columns]
        return X

    def cell_of(self, X: FloatArray) -> IntArray:
        """Number of the cell of each row."""
        level = np.clip((X * self.levels).astype(np.intp), 0, self.levels - 1)
        columns = list(self.categorical)
        level[:, columns] = X[:, columns].astype(np.intp)
        return level[:, 0] * self.levels[1] + level[:, 1]


@dataclass(frozen=True)
class UniformCube(FeatureLaw):
    """Independent features, uniform on [0, 1]."""

    n_features: int

    def _draw(self, n: int, rng: np.random.Generator) -> FloatArray:
        return rng.random((n, self.n_features))


@dataclass(frozen=True)
class FourAreas(FeatureLaw):
    """Uniform on the unit cube without a cross of the given width through the first two features."""

    n_features: int
    gap: float

    def _draw(self, n: int, rng: np.random.Generator) -> FloatArray:
        rows = rng.random((n, self.n_features))
        side = rows[:, :2] >= 0.5
        rows[:, :2] = (1 - self.gap) * rows[:, :2] + self.gap * side
        return rows

    def area_of(self, X: FloatArray) -> IntArray:
        """The area of each row: 0 to 3."""
        side = np.asarray(X)[:, :2] >= 0.5
        return 2 * side[:, 0].astype(np.intp) + side[:, 1]


@dataclass(frozen=True)
class _OwnFeatures(FeatureLaw):
    """A function of size and generator that returns rows."""

    function: Callable[[int, np.random.Generator], FloatArray]

    def _draw(self, n: int, rng: np.random.Generator) -> FloatArray:
        try:
            drawn = self.function(n, rng)
        except (AttributeError, TypeError) as error:
            raise TypeError(
                f"features failed with {type(error).__name__}: {error}. It is called as features(size, rng), with a "
                "number of rows and a NumPy Generator, and should return that many rows"
            ) from error
        rows = check_numbers("features", drawn)
        if rows.ndim != 2 or len(rows) != n:
            raise ValueError(f"features returned an array of shape {rows.shape}, but should return {n} rows")
        return rows


Features: TypeAlias = FeatureLaw | int | Callable[[int, np.random.Generator], FloatArray]


def as_feature_law(features: Features) -> FeatureLaw:
    """The law behind what users give as features."""
    if isinstance(features, FeatureLaw):
        return features
    if isinstance(features, int | np.integer) and not isinstance(features, bool):
        return BinaryFeatures(int(features))
    if callable(features):
        return _OwnFeatures(features)
    raise TypeError(
        f"features is {features!r}; give a number of random bits, BinaryFeatures, FiniteFeatures, or a function of "
        "size and generator that returns rows"
    )


def check_rows(name: str, rows: ArrayLike) -> FloatArray:
    """Rows as numbers: a matrix that is not empty."""
    numbers = check_numbers(name, rows)
    if numbers.ndim != 2 or numbers.size == 0:
        raise ValueError(f"{name} has shape {numbers.shape}; give one row per sample and one column per feature")
    return numbers
