"""What all of screening shares: checks of features and targets, and the mixin of the selectors."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, timedelta
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from rankwise._sklearn import BaseEstimator
from rankwise._state import COUNT, Saved
from rankwise._tables import counted
from rankwise._typing import ArrayLike, BoolArray, FloatArray
from rankwise._validation import check_choice, check_numbers

if TYPE_CHECKING:

    class SelectorMixin(BaseEstimator):
        """What is used here of scikit-learn's selectors, which have no types."""

        transform: Any
        inverse_transform: Any
        get_feature_names_out: Any

else:
    from sklearn.feature_selection import SelectorMixin

# The squares of numbers outside of this range overflow or vanish.
_SMALLEST, _LARGEST = 1e-140, 1e140
# What NumPy would convert to numbers silently, by the kind of its dtype: what it is, and what to do instead.
_NOT_NUMERIC = {
    "U": ("text", "convert it to numbers first, for example with astype(float)"),
    "S": ("text", "convert it to numbers first, for example with astype(float)"),
    "M": ("dates", "convert them to numbers of days or seconds first"),
    "m": ("times", "convert them to numbers of days or seconds first"),
    "NA": ("missing values, <NA>", "drop the row or the column, or fill them in"),
}


class TargetSelectorMixin(SelectorMixin):
    """Selection of columns by their relation to a numeric target."""

    n_features_in_: int

    _saved: ClassVar[Saved] = {"n_features_in_": COUNT}

    def _check(self, X: ArrayLike, y: ArrayLike) -> tuple[FloatArray, FloatArray]:
        """Check parameters, columns and target; return columns and target."""
        self._validate_params()
        return check_table(self, X, y)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


def check_table(estimator: BaseEstimator, X: ArrayLike, y: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Columns and target of an estimator, finite numbers of 64 bits; errors name the column and the row."""
    from sklearn.utils.validation import validate_data

    labels = [str(label) for label in getattr(X, "columns", ())]
    for label in labels:
        if labels.count(label) > 1:
            raise ValueError(
                f"X has {labels.count(label)} columns named {label!r}; formulas could not tell them apart: rename or "
                "drop all but one"
            )
    refuse_non_numeric("X", X)
    refuse_non_numeric("y", y)
    if y is not None and np.asarray(y).dtype.kind == "f":  # what is missing is refused below, too, but not by its row
        refuse_missing("y", np.asarray(y).ravel(), [])
    columns, target = validate_data(
        estimator, X, y, dtype=np.float64, y_numeric=True, ensure_min_samples=3, ensure_all_finite=False
    )
    refuse_missing("X", columns, labels)
    return columns, check_target(target.astype(np.float64, copy=False))


def refuse_missing(name: str, values: FloatArray, labels: Sequence[str]) -> None:
    """Refuse values that are not finite; the error names the first of them, and says how many rows are concerned."""
    with np.errstate(all="ignore"):
        if np.isfinite(values.sum()):
            return
    finite = np.isfinite(values)
    if finite.all():  # only their sum is not
        return
    place = tuple(np.argwhere(~finite)[0].tolist())
    value = values[place]
    what = "NaN" if np.isnan(value) else "infinity" if value > 0 else "minus infinity"
    column = "" if values.ndim == 1 else f" in column {repr(labels[place[1]]) if labels else place[1]}"
    n_rows = len(np.unique(np.nonzero(~finite)[0]))
    raise ValueError(
        f"Input {name} contains {what}{column}, row {place[0]} ({counted(n_rows, 'row')} of {len(values)} have such "
        "values); drop these rows, or fill them in, for example with sklearn.impute.SimpleImputer"
    )


def highest(scores: FloatArray, k: int) -> BoolArray:
    """Mask of the k highest scores; among equal ones the first count."""
    mask = np.zeros(len(scores), dtype=bool)
    mask[np.argsort(-scores, kind="stable")[:k]] = True
    return mask


def check_features(X: ArrayLike, n: int, *, keys: str = "float64") -> tuple[FloatArray, bool]:
    """Features as a finite matrix of ``n`` rows, and whether a single feature was given, as a vector.

    With ``keys="float32"`` the matrix is rounded to 32 bits, without a copy of 64 bits in between.
    """
    check_choice("keys", keys, ("float64", "float32"))
    refuse_non_numeric("X", X)
    if keys == "float64":
        values = check_numbers("X", X)
    else:
        with np.errstate(over="ignore"):  # what overflows is refused below, as infinite
            array = X if isinstance(X, np.ndarray) and X.dtype.kind in "fiub" else check_numbers("X", X)
            values = array.astype(np.float32, copy=False)
    single = values.ndim == 1
    columns = values[:, None] if single else values
    if columns.ndim != 2:
        raise ValueError(f"X has {values.ndim} dimensions; give a matrix with one column per feature, or one feature")
    if not columns.shape[1]:
        raise ValueError(f"X has shape {values.shape}, so it has no columns; give one feature or more")
    if len(columns) != n:
        raise ValueError(f"X has {len(columns)} rows and y {n}; give one row per value of y")
    if not np.isfinite(columns).all():
        row, column = np.argwhere(~np.isfinite(columns))[0]
        where = f"X[{row}, {column}] is {columns[row, column]}{'' if keys == 'float64' else ' in 32 bits'}"
        raise ValueError(f"{where}; screening needs finite values: drop the row or the column")
    return columns, single


def check_target(y: ArrayLike, *, name: str = "y", at_least: int = 3) -> FloatArray:
    """A finite vector that is not constant."""
    refuse_non_numeric(name, y)
    target = check_numbers(name, y)
    if target.ndim != 1:
        raise ValueError(f"{name} has {target.ndim} dimensions; give a vector of numbers")
    if len(target) < at_least:
        raise ValueError(f"{name} has {len(target)} values, but screening needs at least {at_least}")
    if not np.isfinite(target).all():
        row = int(np.flatnonzero(~np.isfinite(target))[0])
        raise ValueError(f"{name}[{row}] is {target[row]}; screening needs finite values: drop the row")
    if (target == target[0]).all():
        raise ValueError(f"{name} is constant, so no feature can order it; check the column")
    if np.abs(target).max() > _LARGEST or target.max() - target.min() < _SMALLEST:
        raise ValueError(
            f"{name} lies between {target.min():.3g} and {target.max():.3g}, where squares overflow or vanish; "
            "rescale it first"
        )
    return target


def refuse_non_numeric(name: str, values: Any) -> None:
    """Refuse what NumPy would convert to numbers silently: text, dates, and complex numbers."""
    if hasattr(values, "columns") and hasattr(values, "__getitem__") and name == "X":
        labels = list(values.columns)
        for label in labels if len(set(labels)) == len(labels) else ():
            refuse_non_numeric(f"column {label!r} of X", values[label])
        return
    array = np.asarray(values) if not isinstance(values, list | tuple) else np.array(values, dtype=object)
    kinds = {array.dtype.kind} if array.dtype.kind != "O" else {_kind(value) for value in array.ravel()}
    if "c" in kinds:
        raise ValueError(
            f"Complex data not supported: {name} has complex numbers; give their real parts, magnitudes or angles"
        )
    for kind, (what, cure) in _NOT_NUMERIC.items():
        if kind in kinds:
            raise TypeError(f"{name} has {what}; {cure}")


def _kind(value: Any) -> str:
    """The letter of NumPy for the type of a value; "NA" for that of pandas."""
    if type(value).__name__ == "NAType":
        return "NA"
    return "M" if isinstance(value, date) else "m" if isinstance(value, timedelta) else np.asarray(value).dtype.kind
