"""Features as small whole numbers: what the search for splits works on.

Codes keep the order of the values; a code stands for one value (exact) or for a bin of neighbouring ones. Thresholds
are real numbers between the values of two codes, so a grown tree needs no codes to predict.
"""

from __future__ import annotations

import numpy as np

from rankwise._typing import FloatArray, IntArray
from rankwise.trees.growth._jit import Features

#: bins that fit, with one code for missing values, into a byte
MOST_BINS = 255


def code_features(X: FloatArray, n_categories: IntArray, max_bins: int | None) -> Features:
    """Code every column of ``X``; NaN gets the code after the last.

    Parameters
    ----------
    X : ndarray of shape (n, n_features)
        Numbers; category numbers 0, 1, ... in categorical columns.
    n_categories : ndarray of shape (n_features,)
        Categories of each column, 0 for columns of numbers. Rows need not hold all of them.
    max_bins : int or None
        Bins of a numeric column, of about equal counts; None gives every value its own code.
    """
    coded = [
        _code_categories(column, int(number)) if number else _code_numbers(column, max_bins)
        for column, number in zip(X.T, n_categories, strict=True)
    ]
    n_codes = np.array([len(lower) for _, lower, _ in coded], dtype=np.int64)
    dtype = np.uint8 if n_codes.max(initial=0) <= MOST_BINS else np.int32
    codes = np.empty((X.shape[1], X.shape[0]), dtype=dtype)
    for feature, (column, _, _) in enumerate(coded):
        codes[feature] = column
    return Features(
        codes,
        n_codes,
        np.asarray(n_categories) > 0,
        np.concatenate([lower for _, lower, _ in coded]),
        np.concatenate([upper for _, _, upper in coded]),
        np.concatenate([[0], np.cumsum(n_codes)[:-1]]).astype(np.int64),
    )


# ---------------------------------------------------------------------------------------------------------------


def _code_numbers(column: FloatArray, max_bins: int | None) -> tuple[np.ndarray, FloatArray, FloatArray]:
    known = ~np.isnan(column)
    values, code_of_known = np.unique(column[known], return_inverse=True)
    if max_bins is None or len(values) <= max_bins:
        lower = upper = values
    else:
        # Cuts at equal shares of the rows; a value that holds many rows takes a bin of its own.
        counts = np.cumsum(np.bincount(code_of_known))
        share = counts[-1] * np.arange(1, max_bins) / max_bins
        last = np.unique(np.searchsorted(counts, share))
        last = np.append(last[last < len(values) - 1], len(values) - 1)
        first = np.concatenate([[0], last[:-1] + 1])
        lower, upper = values[first], values[last]
        code_of_known = np.repeat(np.arange(len(last)), last - first + 1)[code_of_known]
    codes = np.full(len(column), len(lower), dtype=np.int64)
    codes[known] = code_of_known
    return codes, lower, upper


def _code_categories(column: FloatArray, number: int) -> tuple[np.ndarray, FloatArray, FloatArray]:
    known = ~np.isnan(column)
    codes = np.full(len(column), number, dtype=np.int64)
    codes[known] = column[known].astype(np.int64)
    values = np.arange(float(number))
    return codes, values, values
