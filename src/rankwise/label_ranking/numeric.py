"""NumericFeatures: tables of all kinds as numbers, for rankers that take neither categories nor missing values.

The models of `rankwise.analysis` and the command line begin with it; `StackedRanker` uses its two functions. They apply
an imputer and an encoder of scikit-learn to their columns. A ColumnTransformer gives the same numbers in the same time
and memory (1.07 and 1.09 CPU seconds, 237 MiB for 100,000 rows and 50 columns, see ``benchmarks/features.py``), but its
fitted state is private to scikit-learn: a file would have to hold the two steps all the same, and code that builds a
ColumnTransformer around them again would be longer than the two functions.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from rankwise._features import CategoricalFeaturesMixin
from rankwise._sklearn import BaseEstimator, TransformerMixin, check_feature_names_in
from rankwise._state import Kind, Saved, array, check_places, ensure, list_of
from rankwise._typing import ArrayLike, BoolArray, FloatArray, IntArray

#: column numbers, and the fitted transformer of these columns
Steps = list[tuple[IntArray, Any]]
_COLUMNS = array("int64 int32", 1)


def _is_step(value: Any) -> bool:
    is_pair = type(value) is tuple and len(value) == 2
    return is_pair and _COLUMNS.matches(value[0]) and hasattr(value[1], "transform")


SAVED_STEPS = list_of(Kind("columns and a step", _is_step))


class NumericFeatures(CategoricalFeaturesMixin, TransformerMixin, BaseEstimator):
    """Turn features into numbers: medians for missing values, and a column of zeros and ones for each category.

    Parameters
    ----------
    categorical_features : None, or array-like of column numbers, column names or booleans
        Columns that hold categories; by default those of a data frame that hold text, categories or Booleans.
    """

    _saved: ClassVar[Saved] = {"_steps": SAVED_STEPS}

    def __init__(self, categorical_features: Any = None) -> None:
        self.categorical_features = categorical_features

    def fit(self, X: ArrayLike, y: Any = None) -> NumericFeatures:
        """Learn medians and categories."""
        coded = self._check_features(X, reset=True)
        self._steps = fitted_steps(coded, self._encoder.is_categorical)
        return self

    def fit_transform(self, X: ArrayLike, y: Any = None) -> FloatArray:
        """What ``fit(X).transform(X)`` returns; the table is coded once."""
        coded = self._check_features(X, reset=True)
        self._steps = fitted_steps(coded, self._encoder.is_categorical)
        return as_numbers(coded, self._steps)

    def transform(self, X: ArrayLike) -> FloatArray:
        """The features side by side, numbers first; a category not seen in ``fit`` is all zeros."""
        return as_numbers(self._check_features(X, reset=False), self._steps)

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> np.ndarray:
        """Names of the features, numbers first; "city = Oslo" for a category."""
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(self)
        names = check_feature_names_in(self, input_features)
        found: list[str] = []
        for columns, step in self._steps:
            codes = getattr(step, "categories_", [None] * len(columns))
            for column, own in zip(columns, codes, strict=True):
                found += [names[column]] if own is None else self._names_of_categories(names[column], column, own)
        return np.array(found, dtype=object)

    def _names_of_categories(self, name: str, column: int, codes: FloatArray) -> list[str]:
        categories = self._encoder.categories_[column]
        return [f"{name} = {'missing' if np.isnan(code) else categories[int(code)]}" for code in codes]

    def _check_saved(self) -> None:
        ensure(len(self._encoder.categories_) == self.n_features_in_, "categories and features differ")
        for columns, _ in self._steps:
            check_places(columns, self.n_features_in_, "a column does not exist")


def fitted_steps(coded: FloatArray, is_categorical: BoolArray) -> Steps:
    """Fit an imputer to the numeric columns and an encoder to the categorical ones, which are coded as numbers."""
    from sklearn.impute import SimpleImputer
    from sklearn.preprocessing import OneHotEncoder

    imputer = SimpleImputer(strategy="median", keep_empty_features=True)
    encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    kinds = ((np.flatnonzero(~is_categorical), imputer), (np.flatnonzero(is_categorical), encoder))
    return [(columns, step.fit(coded[:, columns])) for columns, step in kinds if len(columns)]


def as_numbers(coded: FloatArray, steps: Steps) -> FloatArray:
    """The transformed columns of all steps, side by side."""
    return np.column_stack([step.transform(coded[:, columns]) for columns, step in steps])
