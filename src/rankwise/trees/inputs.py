"""Features from whatever users hold: numbers as they are, categories as numbers 0, 1, ..."""

from __future__ import annotations

from typing import Any

import numpy as np

from rankwise._typing import ArrayLike, BoolArray, FloatArray


class FeatureEncoder:
    """Turns tables with numeric and categorical columns into a float matrix; NaN is missing.

    Parameters
    ----------
    categorical_features : None, or array-like of column numbers, column names or booleans
        Columns that hold categories. None takes the columns of a data frame whose type is categorical, text or
        Boolean; in arrays, none.

    Attributes
    ----------
    categories_ : list
        For each column the categories in the order of their numbers, or None for numeric columns.
    """

    def __init__(self, categorical_features: Any = None) -> None:
        self.categorical_features = categorical_features

    @property
    def is_categorical(self) -> BoolArray:
        """Which columns hold categories."""
        return np.array([categories is not None for categories in self.categories_], dtype=bool)

    def fit_transform(self, estimator: Any, X: ArrayLike) -> FloatArray:
        """Learn the categories; sets ``n_features_in_`` and ``feature_names_in_`` of the estimator."""
        columns = _columns(X)
        chosen = self._chosen(X, columns)
        if columns is None or not chosen.any():
            self.categories_: list[Any] = [None] * _n_columns(X, columns)
            if not chosen.any():
                return _numbers(estimator, X, reset=True)
        _check_names(estimator, X, reset=True)
        columns = _columns(X) or _array_columns(X)
        self.categories_ = [
            _categories(column) if categorical else None
            for (_, column), categorical in zip(columns, chosen, strict=True)
        ]
        return self._coded(columns)

    def transform(self, estimator: Any, X: ArrayLike) -> FloatArray:
        """The same for new rows; categories not seen before are missing."""
        if not self.is_categorical.any():
            return _numbers(estimator, X, reset=False)
        _check_names(estimator, X, reset=False)
        return self._coded(_columns(X) or _array_columns(X))

    def _chosen(self, X: ArrayLike, columns: list[tuple[str, Any]] | None) -> BoolArray:
        n = _n_columns(X, columns)
        if self.categorical_features is None:
            return np.array([_is_text(column) for _, column in columns], dtype=bool) if columns else np.zeros(n, bool)
        wanted = np.asarray(self.categorical_features)
        chosen = np.zeros(n, dtype=bool)
        if wanted.size == 0:
            return chosen
        if wanted.dtype == bool:
            if wanted.shape != (n,):
                raise ValueError(f"categorical_features has shape {wanted.shape}, but X has {n} columns")
            return wanted
        if wanted.dtype.kind in "iu":
            if wanted.min() < -n or wanted.max() >= n:
                raise ValueError(f"categorical_features names column {wanted.max()}, but X has columns 0 to {n - 1}")
            chosen[wanted] = True
            return chosen
        names = [name for name, _ in columns or []]
        for name in wanted.tolist():
            if name not in names:
                raise ValueError(
                    f"categorical_features names {name!r}, but X has "
                    + (f"the columns {', '.join(map(repr, names[:10]))}" if names else "no column names")
                )
            chosen[names.index(name)] = True
        return chosen

    def _coded(self, columns: list[tuple[str, Any]]) -> FloatArray:
        coded = np.empty((len(columns[0][1]), len(columns)))
        for number, ((name, column), categories) in enumerate(zip(columns, self.categories_, strict=True)):
            if categories is None:
                try:
                    coded[:, number] = np.asarray(column, dtype=np.float64)
                except (TypeError, ValueError):
                    raise ValueError(
                        f"column {name} of X holds text; name it in categorical_features, or encode it as numbers"
                    ) from None
            else:
                place = {category: code for code, category in enumerate(categories)}
                coded[:, number] = [place.get(_key(value), np.nan) for value in column]
        if np.isinf(coded).any():
            row, column_number = np.argwhere(np.isinf(coded))[0]
            raise ValueError(f"Input X contains infinity: row {row}, column {columns[column_number][0]}")
        return np.ascontiguousarray(coded)


# ---------------------------------------------------------------------------------------------------------------


def _columns(X: ArrayLike) -> list[tuple[str, Any]] | None:
    """Names and values of the columns of a data frame of any make; None for other tables."""
    import narwhals as nw

    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if not isinstance(frame, nw.DataFrame):
        return None
    return [(name, _column_values(frame[name])) for name in frame.columns]


def _column_values(series: Any) -> Any:
    if series.dtype.is_numeric():
        return series.cast(_float64()).to_numpy()
    return np.array(series.to_list(), dtype=object)


def _float64() -> Any:
    import narwhals as nw

    return nw.Float64


def _array_columns(X: ArrayLike) -> list[tuple[str, Any]]:
    array = np.asarray(X)
    return [(str(number), column) for number, column in enumerate(array.T)]


def _n_columns(X: ArrayLike, columns: list[tuple[str, Any]] | None) -> int:
    if columns is not None:
        return len(columns)
    shape = np.shape(X) if not hasattr(X, "shape") else X.shape
    return int(shape[1]) if len(shape) == 2 else 0


def _is_text(column: Any) -> bool:
    return bool(column.dtype == object)


def _key(value: Any) -> Any:
    """What tells one category from another: missing ones are none, whole floats are whole numbers."""
    if value is None or value != value:
        return None
    return value.item() if isinstance(value, np.generic) else value


def _categories(column: Any) -> list[Any]:
    found = {_key(value) for value in column} - {None}
    try:
        return sorted(found)
    except TypeError:
        return sorted(found, key=lambda value: (type(value).__name__, str(value)))


def _numbers(estimator: Any, X: ArrayLike, *, reset: bool) -> FloatArray:
    from sklearn.utils.validation import validate_data

    checked: FloatArray = validate_data(
        estimator, X, reset=reset, dtype=np.float64, order="C", ensure_all_finite="allow-nan"
    )
    return checked


def _check_names(estimator: Any, X: ArrayLike, *, reset: bool) -> None:
    """Number and names of the features, without a look at the values."""
    from sklearn.utils.validation import validate_data

    validate_data(estimator, X, reset=reset, skip_check_array=True)
