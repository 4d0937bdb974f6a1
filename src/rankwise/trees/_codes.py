"""Features as small whole numbers, on which `engine` and the boosted trees of `ltr` search their splits."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from rankwise._typing import FloatArray, IntArray
from rankwise.trees._grow_jit import Features
from rankwise.trees._grow_sums_jit import MISSING

#: codes that fit, with one for missing values, into a byte, and into two
MOST_BINS, MOST_CODES = 255, 2**16 - 1
# Keeps the normal scores of values without weight finite.
_SMALLEST_SHARE = 1e-12


def code_features(
    X: FloatArray,
    n_categories: IntArray,
    max_bins: int | None,
    weights: FloatArray | None = None,
    mapping: Callable[..., Iterable[Any]] = map,
) -> Features:
    """Features as small whole numbers, on which splits are searched; NaN gets the code after the last.

    Codes keep the order of the values; a code stands for one value (exact) or for a bin of neighboring ones. Thresholds
    are numbers between the values of two codes (`threshold_between`), so a grown tree needs no codes to predict.

    Parameters
    ----------
    X : ndarray of shape (n, n_features)
        Numbers; category numbers 0, 1, ... in categorical columns.
    n_categories : ndarray of shape (n_features,)
        Categories of each column, 0 for columns of numbers. Rows need not hold all of them.
    max_bins : int or None
        Bins of a numeric column, of about equal counts; None gives every value its own code.
    weights : ndarray of shape (n,), optional
        Weights of the rows, for the places that random thresholds are drawn between.
    mapping : callable
        Calls a function for each column; that of an executor does so in threads.
    """

    def code(column: FloatArray, n: int) -> tuple[Any, FloatArray, FloatArray, npt.NDArray[np.uint16]]:
        if n:
            codes = np.where(np.isnan(column), n, column).astype(np.int64)
            lower = upper = np.arange(float(n))
        else:
            codes, lower, upper = _code_numbers(column, max_bins)
        places = _places(np.bincount(codes, weights, len(lower))[: len(lower)].astype(np.float64))
        return codes.astype(_smallest_type(len(lower))), lower, upper, places  # eight bytes each would be as much as X

    columns, lowers, uppers, places = zip(*mapping(code, X.T, n_categories), strict=True)
    n_codes = np.array([len(lower) for lower in lowers], dtype=np.int64)
    return Features(
        codes=np.array(columns, dtype=_smallest_type(int(n_codes.max(initial=0)))),
        n_codes=n_codes,
        is_categorical=np.asarray(n_categories) > 0,
        lower=np.concatenate(lowers),
        upper=np.concatenate(uppers),
        places=np.concatenate(places),
        start=np.concatenate([[0], np.cumsum(n_codes)[:-1]]).astype(np.int64),
    )


def _places(weights: FloatArray) -> npt.NDArray[np.uint16]:
    """Places of codes on the scale that random thresholds are drawn on: whole numbers from 0 to MISSING - 1.

    They are quantiles of the normal law at the mean ranks of the rows with each code: of a normal feature, about its
    values. Only the order of values counts. As far as there is room, all codes have places of their own.
    """
    from scipy.special import ndtri

    n = len(weights)
    ends = np.cumsum(weights, dtype=np.float64)
    shares = (ends - 0.5 * weights) / max(ends[-1:].sum(), 1e-300)
    scores = ndtri(np.clip(shares, _SMALLEST_SHARE, 1 - _SMALLEST_SHARE))
    spread = np.ptp(scores) if n else 0.0
    places = np.rint((scores - scores[:1]) * ((MISSING - 1) / spread if spread > 0 else 0.0)).astype(np.int64)
    if n <= MISSING:
        number = np.arange(n)
        places = np.maximum.accumulate(places - number) + number
        places = np.minimum(places, MISSING - n + number)
    return places.astype(np.uint16)


def _smallest_type(n_codes: int) -> type[np.integer]:
    """The smallest type that has room for the codes and one more."""
    return np.uint8 if n_codes <= MOST_BINS else np.uint16 if n_codes <= MOST_CODES else np.int32


def _code_numbers(column: FloatArray, max_bins: int | None) -> tuple[IntArray, FloatArray, FloatArray]:
    """Codes of numbers, and the lowest and highest value of each code."""
    known = ~np.isnan(column)
    values, code_of_known = np.unique(column[known], return_inverse=True)
    lower = upper = values
    if max_bins is not None and len(values) > max_bins:
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
