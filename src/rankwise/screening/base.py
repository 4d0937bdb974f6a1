"""Checks of features and targets that screening functions share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from rankwise._sklearn import BaseEstimator
from rankwise._state import COUNT, Saved
from rankwise._typing import ArrayLike, BoolArray, FloatArray
from rankwise._validation import check_numbers

# Squares of numbers outside overflow or vanish.
_NARROWEST, _WIDEST = 1e-140, 1e140
_NO_NUMBERS = {
    "U": ("text", "turn it into numbers first, as with astype(float)"),
    "S": ("text", "turn it into numbers first, as with astype(float)"),
    "M": ("dates", "turn them into numbers of days or seconds first"),
    "m": ("times", "turn them into numbers of days or seconds first"),
    "NA": ("missing values, <NA>", "leave out the row or the column, or fill them in"),
}


def refuse_no_numbers(name: str, values: Any) -> None:
    """Refuse what NumPy would turn into numbers without a word: text, dates, and complex numbers."""
    array = np.asarray(values) if not isinstance(values, list | tuple) else np.array(values, dtype=object)
    kinds = {array.dtype.kind} if array.dtype.kind != "O" else {_kind(value) for value in array.ravel()}
    if "c" in kinds:
        raise ValueError(f"Complex data not supported: {name} has complex numbers; give real parts, sizes or angles")
    for kind, (what, cure) in _NO_NUMBERS.items():
        if kind in kinds:
            raise TypeError(f"{name} has {what}; {cure}")


def check_features(X: ArrayLike, n: int, *, keys: str = "float64") -> tuple[FloatArray, bool]:
    """Features as a finite matrix of ``n`` rows, and whether one feature was given alone, as a vector.

    With ``keys="float32"`` the matrix is rounded to 32 bits, without a copy of 64 bits in between.
    """
    if keys not in ("float64", "float32"):
        raise ValueError(f"keys is {keys!r}; it is 'float64' or 'float32'")
    refuse_no_numbers("X", X)
    values = check_numbers("X", X) if keys == "float64" else _rounded(X)
    alone = values.ndim == 1
    columns = values[:, None] if alone else values
    if columns.ndim != 2:
        raise ValueError(f"X has {values.ndim} dimensions; give a matrix with one column per feature, or one feature")
    if not columns.shape[1]:
        raise ValueError(f"X has shape {values.shape}, and so no columns; give one feature or more")
    if len(columns) != n:
        raise ValueError(f"X has {len(columns)} rows and y {n}; give one row per value of y")
    if not np.isfinite(columns).all():
        row, column = np.argwhere(~np.isfinite(columns))[0]
        where = f"X[{row}, {column}] is {columns[row, column]}{'' if keys == 'float64' else ' in 32 bits'}"
        raise ValueError(f"{where}; screening needs finite values: leave out the row or the column")
    return columns, alone


def check_target(y: ArrayLike, *, name: str = "y", at_least: int = 3) -> FloatArray:
    """A finite vector that is not constant."""
    refuse_no_numbers(name, y)
    target = check_numbers(name, y)
    if target.ndim != 1:
        raise ValueError(f"{name} has {target.ndim} dimensions; give a vector of numbers")
    if len(target) < at_least:
        raise ValueError(f"{name} has {len(target)} values, but screening needs at least {at_least}")
    if not np.isfinite(target).all():
        row = int(np.flatnonzero(~np.isfinite(target))[0])
        raise ValueError(f"{name}[{row}] is {target[row]}; give finite values: leave the row out")
    if (target == target[0]).all():
        raise ValueError(f"{name} is constant, so that no feature can order it; check the column")
    if np.abs(target).max() > _WIDEST or target.max() - target.min() < _NARROWEST:
        raise ValueError(
            f"{name} lies between {target.min():.3g} and {target.max():.3g}, where squares overflow or vanish; scale "
            "it to common sizes first"
        )
    return target


def _kind(value: Any) -> str:
    """The letter that NumPy has for a kind of value."""
    return "NA" if type(value).__name__ == "NAType" else np.asarray(value).dtype.kind


def _rounded(X: ArrayLike) -> FloatArray:
    with np.errstate(over="ignore"):  # what overflows is refused as infinite
        array = X if isinstance(X, np.ndarray) and X.dtype.kind in "fiub" else check_numbers("X", X)
        return array.astype(np.float32, copy=False)


# What the selectors share: they need a target, and choose columns.


if TYPE_CHECKING:

    class SelectorMixin(BaseEstimator):
        """What is used here of scikit-learn's selectors, which has no types."""

        transform: Any
        inverse_transform: Any
        get_feature_names_out: Any

else:
    from sklearn.feature_selection import SelectorMixin


class TargetSelectorMixin(SelectorMixin):
    """Selection of columns by their relation to a numeric target."""

    n_features_in_: int

    _saved: ClassVar[Saved] = {"n_features_in_": COUNT}

    def _check(self, X: ArrayLike, y: ArrayLike) -> tuple[FloatArray, FloatArray]:
        """Parameters, columns and target."""
        from sklearn.utils.validation import validate_data

        self._validate_params()
        refuse_no_numbers("X", X)
        refuse_no_numbers("y", y)
        columns, target = validate_data(self, X, y, dtype=np.float64, y_numeric=True, ensure_min_samples=3)
        return columns, check_target(target)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


def highest(scores: FloatArray, k: int) -> BoolArray:
    """Which k scores are highest; of equal ones the first."""
    mask = np.zeros(len(scores), dtype=bool)
    mask[np.argsort(-scores, kind="stable")[:k]] = True
    return mask
