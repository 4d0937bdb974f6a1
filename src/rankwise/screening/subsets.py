"""Least squares on the best subset of a few columns, found by trying all subsets.

`ConcordanceSelector` fits its models of several terms with it.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import comb
from typing import ClassVar

import numpy as np

from rankwise._state import FLOATS, INTS, NUMBER, Saved
from rankwise._typing import ArrayLike, FloatArray, IntArray
from rankwise._validation import check_weights, check_whole_number
from rankwise.screening import _screening_jit
from rankwise.screening.base import check_features, check_target

# Subsets that can be tried within about a minute.
_MOST_SUBSETS = 2 * 10**9


@dataclass(frozen=True)
class SubsetModel:
    """A linear model of a few columns.

    Attributes
    ----------
    columns : ndarray of int
        Which columns.
    coef : ndarray of float
        Their coefficients.
    intercept : float
        The constant.
    rmse : float
        Root of the mean squared residual, weighted if rows have weights.
    """

    columns: IntArray
    coef: FloatArray
    intercept: float
    rmse: float

    _saved: ClassVar[Saved] = {"columns": INTS, "coef": FLOATS, "intercept": NUMBER, "rmse": NUMBER}

    def formula(self, names: ArrayLike) -> str:
        """The model as a formula, with the names of all columns."""
        text = f"{self.intercept:.4g}"
        for c, column in zip(self.coef, self.columns, strict=True):
            name = str(names[column])
            # 3*2*x and 3*-x are hard to read.
            term = f"({name})" if " " in name or name[:1].isdigit() or name.startswith("-") else name
            text += f" {'-' if c < 0 else '+'} {abs(c):.4g}*{term}"
        return text


def best_subset(X: ArrayLike, y: ArrayLike, size: int, sample_weight: ArrayLike | None = None) -> SubsetModel:
    """Fit the ``size`` columns that leave the smallest residual, with an intercept.

    All subsets are tried, so the result is the best there is; a few hundred columns and three terms take a second.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Columns to choose from.
    y : array-like of shape (n_samples,)
        Target.
    size : int
        Number of columns in the model.
    sample_weight : array-like of shape (n_samples,), optional
        Weights of the squared residuals; by default all count alike.

    Returns
    -------
    SubsetModel
        Columns, coefficients, intercept and error.

    Examples
    --------
    >>> import numpy as np
    >>> from rankwise.screening import best_subset
    >>> X = np.random.default_rng(0).standard_normal((50, 20))
    >>> best_subset(X, 3 + X[:, 4] - 2 * X[:, 11], 2).columns
    array([ 4, 11])
    """
    target = check_target(y)
    columns, _ = check_features(X, len(target))
    check_whole_number("size", size, at_least=1)
    if size > columns.shape[1]:
        raise ValueError(f"size is {size}, but X has {columns.shape[1]} columns")
    refuse_too_many_subsets(columns.shape[1], size, "give fewer columns or ask for fewer terms")
    # Scaled first, because squares of large values would overflow.
    scale = np.abs(columns).max(axis=0)
    scale[scale == 0] = 1.0
    columns = columns / scale
    weights = (
        None if sample_weight is None else check_weights(sample_weight, len(target), name="sample_weight", each="row")
    )
    mean, level = np.average(columns, axis=0, weights=weights), np.average(target, weights=weights)
    centered, above = columns - mean, target - level
    if weights is not None:
        root = np.sqrt(weights / weights.mean())
        centered, above = centered * root[:, None], above * root
    length = np.sqrt((centered**2).sum(axis=0))
    length[length == 0] = 1.0
    unit = centered / length
    chosen, _ = _screening_jit.best_subset(unit.T @ unit, unit.T @ above, size)
    coef = np.linalg.lstsq(unit[:, chosen], above, rcond=None)[0]
    residual = above - unit[:, chosen] @ coef
    coef = coef / length[chosen]
    intercept, rmse = float(level - mean[chosen] @ coef), float(np.sqrt((residual**2).mean()))
    return SubsetModel(chosen, coef / scale[chosen], intercept, rmse)


def refuse_too_many_subsets(n_columns: int, size: int, cure: str) -> None:
    """Refuse a search that would take more than about a minute."""
    count = comb(n_columns, size)
    if count > _MOST_SUBSETS:
        about = f"10^{len(str(count)) - 1}"
        raise ValueError(f"there are {about} subsets of {size} of {n_columns} columns, too many to try; {cure}")
