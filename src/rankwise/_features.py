"""Features as a float matrix: `FeaturesMixin` checks numbers, and `FeatureEncoder` also turns categories into numbers.

Label rankers derive from `FeaturesMixin`; the estimators that split categories (trees, forests, LambdaMART and
StackedRanker) and `NumericFeatures` use the encoder, most of them through `CategoricalFeaturesMixin`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any, ClassVar

import numpy as np

from rankwise._sklearn import EstimatorMixin
from rankwise._state import ANYTHING, BOOL, COUNT, Saved, ensure, instance, list_of, maybe, optional
from rankwise._typing import ArrayLike, BoolArray, FloatArray, IntArray
from rankwise._validation import data_frame, shortlist

# What to do where a ranker takes numbers only.
_CURE = (
    "encode text as numbers (OneHotEncoder in a pipeline), or use RankingTree, RankingForest, BoostedRanker or "
    "StackedRanker, which take categories"
)
# Memory for each number of a sparse matrix that is written out: the number, and for fitting its code; and the most.
_BYTES_TO_PREDICT, _BYTES_TO_FIT, _MOST_BYTES = 8, 24, 4 << 30
# Distances and inner products square the features.
_LARGEST_FEATURE = 1e150

#: names and values of columns
Columns = list[tuple[str, Any]]


class FeatureEncoder:
    """Turns tables with numeric and categorical columns into a float matrix; NaN is missing.

    Parameters
    ----------
    categorical_features : None, array-like of column numbers, column names or booleans, or dict
        Columns that hold categories. None takes the columns of a data frame whose type is categorical, text or
        Boolean; in arrays, none. A dict has the numbers or names of the columns as keys, and as values their
        categories from low to high, or None where these have no order.

    Attributes
    ----------
    categories_ : list
        For each column the categories in the order of their numbers, or None for numeric columns.
    ordered_ : list of bool
        For each column whether its categories have an order, so that their numbers are split as numbers are; absent
        where no column is such. Ordered categoricals of pandas are.
    """

    _saved: ClassVar[Saved] = {
        "categorical_features": ANYTHING,
        "categories_": list_of(maybe(list_of(ANYTHING))),
        "ordered_": optional(list_of(BOOL)),
    }

    ordered_: list[bool]

    def __init__(self, categorical_features: Any = None) -> None:
        self.categorical_features = categorical_features

    @property
    def is_categorical(self) -> BoolArray:
        """Which columns hold categories without an order."""
        found = np.array([categories is not None for categories in self.categories_], dtype=bool)
        return found & ~np.array(self.ordered_, dtype=bool) if hasattr(self, "ordered_") else found

    @property
    def n_categories(self) -> IntArray:
        """Number of categories of each column; 0 where they are split as numbers."""
        sizes = [0 if categories is None else len(categories) for categories in self.categories_]
        return np.where(self.is_categorical, sizes, 0).astype(int)

    def fit_transform(self, estimator: Any, X: ArrayLike) -> FloatArray:
        """Learn the categories; sets ``n_features_in_`` and ``feature_names_in_`` of the estimator."""
        from sklearn.utils.validation import validate_data

        frame = data_frame(X, "X")
        keeps_sparse = getattr(estimator, "_keeps_sparse", False)  # others say themselves what they take
        if keeps_sparse and hasattr(X, "toarray") and self.categorical_features is not None:
            raise ValueError("categorical_features are for arrays and data frames, but X is a sparse matrix")
        if frame is not None or self.categorical_features is not None:
            columns = _columns(X, frame)
            chosen = self._chosen(columns)
            if chosen.any():
                validate_data(estimator, X, reset=True, skip_check_array=True)  # the number and names of features
                levels = self._levels(columns, frame)
                self.categories_: list[Any] = [
                    (levels.get(number) or _categories(column)) if chosen[number] else None
                    for number, (_, column) in enumerate(columns)
                ]
                ordered = [bool(chosen[number]) and number in levels for number in range(len(columns))]
                if any(ordered):
                    self.ordered_ = ordered
                return self._coded(columns)
        numbers = _numbers(estimator, X, reset=True)
        self.categories_ = [None] * numbers.shape[1]
        return numbers

    def transform(self, estimator: Any, X: ArrayLike) -> FloatArray:
        """The same for new rows; categories not seen before are missing."""
        from sklearn.utils.validation import validate_data

        if all(categories is None for categories in self.categories_):
            return _numbers(estimator, X, reset=False)
        validate_data(estimator, X, reset=False, skip_check_array=True)
        return self._coded(_columns(X, data_frame(X, "X")))

    def _chosen(self, columns: Columns) -> BoolArray:
        n = len(columns)
        if self.categorical_features is None:
            return np.array([column.dtype == object for _, column in columns], dtype=bool)
        wanted = np.asarray(list(self.categorical_features))
        chosen = np.zeros(n, dtype=bool)
        if wanted.size == 0:
            return chosen
        if wanted.dtype == bool:
            if wanted.shape != (n,):
                raise ValueError(f"categorical_features has shape {wanted.shape}, but X has {n} columns")
            return wanted
        if wanted.dtype.kind in "iu":
            if wanted.min() < -n or wanted.max() >= n:
                worst = wanted.max() if wanted.max() >= n else wanted.min()
                raise ValueError(f"categorical_features names column {worst}, but X has columns 0 to {n - 1}")
            chosen[wanted] = True
            return chosen
        names = [name for name, _ in columns]
        for name in wanted.tolist():
            if name not in names:
                known = ", ".join(repr(name) for name in names[:10])
                raise ValueError(f"categorical_features names {name!r}, but the columns of X are {known}")
            chosen[names.index(name)] = True
        return chosen

    def _levels(self, columns: Columns, frame: Any) -> dict[int, list[Any]]:
        """The categories from low to high of the columns that have such, by number."""
        import narwhals as nw

        if isinstance(self.categorical_features, Mapping):
            numbers = {name: number for number, (name, _) in enumerate(columns)}
            given = [(key, levels) for key, levels in self.categorical_features.items() if levels is not None]
            # A key is a name, or a number that may count from the end.
            return {(numbers[key] if key in numbers else key % len(columns)): [*levels] for key, levels in given}
        if frame is None or not frame.implementation.is_pandas():  # an Enum of polars need not mean an order
            return {}
        types = enumerate(series.dtype for series in frame.iter_columns())
        return {number: [*dtype.categories] for number, dtype in types if isinstance(dtype, nw.Enum)}

    def _coded(self, columns: Columns) -> FloatArray:
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

    def _check_saved(self) -> None:
        for categories in self.categories_:
            ensure(categories is None or len(set(categories)) == len(categories), "two categories are the same")
        if hasattr(self, "ordered_"):
            ensure(len(self.ordered_) == len(self.categories_), "categories and their orders differ")


class FeaturesMixin(EstimatorMixin):
    """The check of features: here of numbers; a class that takes other features overrides ``_check_features``.

    Whatever the order of the bases of an estimator, an override comes before this class.
    """

    n_features_in_: int
    _takes_sparse: ClassVar[bool] = False  # of estimators with categories

    def _check_features(self, X: ArrayLike, *, reset: bool) -> Any:
        """Features as a float64 matrix; NaN only where the tags of the ranker allow it."""
        from sklearn.utils.validation import validate_data

        frame = data_frame(X, "X")  # refuses lazy frames and double names
        if frame is not None:
            self._refuse_words(frame)
        finite = "allow-nan" if self.__sklearn_tags__().input_tags.allow_nan else True
        try:
            checked = validate_data(self, X, reset=reset, dtype=np.float64, order="C", ensure_all_finite=finite)
        except ValueError as error:
            if "contains NaN" in str(error):
                raise ValueError(
                    f"Input X contains NaN, but {type(self).__name__} takes no missing values; fill them in "
                    "(SimpleImputer in a pipeline), or use RankingTree or RankingForest, which take them"
                ) from None
            if "could not convert string" not in str(error):
                raise
            raise ValueError(f"{error} in X: {type(self).__name__} takes numbers; {_CURE}") from None
        if np.nanmax(np.abs(checked), initial=0.0) > _LARGEST_FEATURE:
            row, column = np.argwhere(np.abs(checked) > _LARGEST_FEATURE)[0]
            raise ValueError(
                f"X[{row}, {column}] is {checked[row, column]:g}, too large: its square overflows float64; divide the "
                "column by its scale, or use RankingTree or RankingForest, which look only at the order of values"
            )
        return checked

    def _refuse_words(self, frame: Any) -> None:
        """Refuse the columns of a data frame that hold text, categories or times, by their names."""
        found: dict[str, Any] = {}
        for series in frame.iter_columns():
            if series.dtype.is_temporal():
                _column_values(series)  # raises
            values = () if series.dtype.is_numeric() else series.drop_nulls().to_list()
            word = next((value for value in values if not isinstance(value, Real) and not _is_number(value)), None)
            if word is not None:
                found[series.name] = word
        if found:
            names, word = shortlist([repr(name) for name in found]), next(iter(found.values()))
            columns, hold = ("columns", "hold") if len(found) > 1 else ("column", "holds")
            raise ValueError(
                f"{columns} {names} of X {hold} text or categories (such as {word!r}): {type(self).__name__} takes "
                f"numbers; {_CURE}"
            )

    def _check_fitted_features(self, X: ArrayLike) -> Any:
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(self)
        return self._check_features(X, reset=False)


class CategoricalFeaturesMixin(FeaturesMixin):
    """Features of numbers and categories, NaN where missing, for estimators with ``categorical_features``."""

    categorical_features: Any
    _encoder: FeatureEncoder

    _saved: ClassVar[Saved] = {"n_features_in_": COUNT, "_encoder": instance("FeatureEncoder")}

    @property
    def feature_categories_(self) -> list[list[Any] | None]:
        """For each feature its categories, or None for numbers."""
        return self._encoder.categories_

    def _check_features(self, X: ArrayLike, *, reset: bool) -> FloatArray:
        if self._takes_sparse and hasattr(X, "toarray"):
            X = _dense(self, X, reset=reset)
        if reset:
            self._encoder = FeatureEncoder(self.categorical_features)
            return self._encoder.fit_transform(self, X)
        return self._encoder.transform(self, X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = self._takes_sparse
        return tags


def set_feature_names(estimator: Any, names: Sequence[str]) -> None:
    """Name the features of an estimator that was fitted to an array, as a fit to a data frame would have done.

    So features have names without pandas or polars, which are optional.
    """
    if len(names) != estimator.n_features_in_:
        raise ValueError(f"{len(names)} names are given, but there are {estimator.n_features_in_} features")
    estimator.feature_names_in_ = np.array(names, dtype=object)


def without_zeros(X: Any) -> Any:
    """A CSR matrix without entries that are 0 or stored twice; another one only if X has such."""
    if X.has_canonical_format and (X.data != 0).all():
        return X
    cleaned = X.copy()
    cleaned.sum_duplicates()
    cleaned.eliminate_zeros()
    return cleaned


def _dense(estimator: Any, X: Any, *, reset: bool) -> FloatArray:
    """A sparse matrix written out, unless that takes too much memory: trees look at every column of a row."""
    from sklearn.utils.validation import validate_data

    checked = validate_data(estimator, X, reset=reset, accept_sparse="csr", dtype=np.float64, ensure_all_finite=False)
    n_rows, n_columns = checked.shape
    needed = n_rows * n_columns * (_BYTES_TO_FIT if reset else _BYTES_TO_PREDICT)
    if needed > _MOST_BYTES:
        cure = (
            "drop columns that few rows have (SelectKBest), or condense them (TruncatedSVD in a pipeline)"
            if reset
            else "predict for fewer rows at a time"
        )
        raise ValueError(
            f"X is sparse and has {n_rows:,} rows and {n_columns:,} columns, which trees need written out, in about "
            f"{needed / 2**30:,.1f} GiB; {cure}; or, with enough memory, give X.toarray()"
        )
    return np.asarray(checked.toarray())


def _columns(X: ArrayLike, frame: Any) -> Columns:
    """Names and values of the columns of a data frame; else of an array, named by their numbers."""
    if frame is not None:
        return [(series.name, _column_values(series)) for series in frame.iter_columns()]
    from sklearn.utils.validation import check_array

    array = check_array(X, dtype=None, ensure_all_finite=False)
    return [(str(number), column) for number, column in enumerate(array.T)]


def _column_values(series: Any) -> Any:
    """Numbers as float64, text, categories and Booleans as objects; NaN and None where missing."""
    import narwhals as nw

    if series.dtype.is_temporal():
        raise ValueError(
            f"column {series.name} of X holds dates or times; write them as numbers, such as days since the first one"
        )
    if series.dtype.is_numeric():
        return np.asarray(series.cast(nw.Float64).fill_null(np.nan).to_numpy(), dtype=np.float64)
    values = np.empty(len(series), dtype=object)
    values[:] = series.to_list()
    missing = series.is_null().to_numpy()
    values[missing] = None
    if all(isinstance(value, Real) and not isinstance(value, bool | np.bool_) for value in values[~missing]):
        numbers = np.full(len(values), np.nan)
        numbers[~missing] = values[~missing].astype(np.float64)
        return numbers if not missing.all() else values
    return values


def _is_number(value: Any) -> bool:
    try:
        float(value)
    except ValueError:
        return False
    except TypeError:
        pass  # neither text nor a number: scikit-learn says what
    return True


def _key(value: Any) -> Any:
    """The value by which categories are compared: a plain Python one, and None for all that is missing."""
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

    accepted = "csr" if getattr(estimator, "_keeps_sparse", False) else False
    try:
        checked: Any = validate_data(
            estimator,
            X,
            reset=reset,
            dtype=np.float64,
            order="C",
            ensure_all_finite="allow-nan",
            accept_sparse=accepted,
        )
    except ValueError as error:
        if "could not convert string" not in str(error):
            raise
        raise ValueError(f"{error} in X: name columns of text in categorical_features, or give a data frame") from None
    return without_zeros(checked) if hasattr(checked, "indptr") else checked
