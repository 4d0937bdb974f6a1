"""Label ranking data derived from classification and regression data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rankwise._typing import ArrayLike, FloatArray
from rankwise._validation import check_whole_number
from rankwise.data import Rankings


def rankings_from_classification(
    X: ArrayLike, y: ArrayLike, *, classifier: Any = None, decimals: int | None = None
) -> Rankings:
    """Rank the classes of each sample by their predicted probability, the most probable first.

    The construction behind the standard "type A" benchmarks: the classifier is naive Bayes, and it predicts the
    samples that it was fitted to.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Features; they remain the features of the new data.
    y : array-like of shape (n_samples,)
        Classes.
    classifier : scikit-learn classifier, optional
        With ``predict_proba``; it is cloned. GaussianNB by default.
    decimals : int, optional
        Round the probabilities first. The published iris and wine rankings come out with 3: below the winner, most
        of their places are ties of rounded probabilities, listed in class order.

    Returns
    -------
    Rankings
        Full rankings of the classes (sorted, as items), 1 = most probable; equal probabilities in class order.

    References
    ----------
    Cheng, Hühn, Hüllermeier (2009), Decision tree and instance-based learning for label ranking.

    Examples
    --------
    >>> from rankwise.datasets import rankings_from_classification
    >>> rankings_from_classification([[0.0], [1.0], [5.0], [6.0], [9.0], [10.0]], ["a", "a", "b", "b", "c", "c"])[:2]
    Rankings: 2 rankings of 3 items, full
      a > b > c
      a > b > c
    """
    from sklearn.base import clone
    from sklearn.naive_bayes import GaussianNB

    if decimals is not None:
        check_whole_number("decimals", decimals, at_least=0)
    model = clone(GaussianNB() if classifier is None else classifier)
    if not hasattr(model, "predict_proba"):
        raise TypeError(f"{type(model).__name__} has no predict_proba; give a classifier that predicts probabilities")
    model.fit(X, y)
    if decimals is not None:
        scores = np.round(model.predict_proba(X), decimals)
    elif hasattr(model, "predict_joint_log_proba"):
        # Probabilities of naive Bayes underflow to 0 and would tie; their logarithms do not.
        scores = model.predict_joint_log_proba(X)
    else:
        scores = model.predict_proba(X)
    return Rankings(sorted_positions(np.asarray(scores, dtype=np.float64)), model.classes_)


def rankings_from_regression(X: ArrayLike, *, targets: Sequence[int | str]) -> tuple[FloatArray, Rankings]:
    """Take some attributes out of the features and rank them by standardized value, the largest first.

    The construction behind the standard "type B" benchmarks: which attributes of a sample are large, compared
    with their usual values, is to be predicted from the other attributes.

    Parameters
    ----------
    X : array-like or data frame of shape (n_samples, n_features)
        All attributes.
    targets : sequence of int or str
        The columns to rank; names need a data frame.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features - n_targets), float64
        The other columns, in their order.
    y : Rankings
        Rankings of the chosen columns, 1 = largest; equal values tie. Items are the columns as given.

    References
    ----------
    Cheng, Hühn, Hüllermeier (2009), Decision tree and instance-based learning for label ranking.

    Examples
    --------
    >>> from rankwise.datasets import rankings_from_regression
    >>> X, y = rankings_from_regression([[1, 10, 0.3], [2, 20, 0.1], [3, 90, 0.2]], targets=[1, 2])
    >>> y.positions.tolist()
    [[2.0, 1.0], [1.0, 2.0], [1.0, 2.0]]
    """
    from sklearn.preprocessing import StandardScaler
    from sklearn.utils import check_array

    names = list(X.columns) if hasattr(X, "columns") else []
    matrix = check_array(X, dtype=np.float64)
    if np.ndim(targets) != 1:
        raise TypeError(f"targets is {targets!r}; give a list of columns to rank")
    columns = [_column_number(f"targets[{at}]", target, names, matrix.shape[1]) for at, target in enumerate(targets)]
    if len(columns) < 2 or len(set(columns)) < len(columns):
        raise ValueError(f"targets is {list(targets)}; name at least two different columns to rank")
    rest = np.delete(matrix, columns, axis=1)
    if rest.shape[1] == 0:
        raise ValueError("targets takes all columns, so no feature remains; leave some out")
    return rest, Rankings.from_scores(StandardScaler().fit_transform(matrix[:, columns]), items=list(targets))


def _column_number(said: str, target: int | str, names: list[str], n_columns: int) -> int:
    if isinstance(target, str):
        if target not in names:
            known = f"the columns are {', '.join(map(str, names))}" if names else "X has no column names: give numbers"
            raise ValueError(f"no column is named {target!r}; {known}")
        return names.index(target)
    number = check_whole_number(said, target, at_least=0)
    if number >= n_columns:
        raise ValueError(f"{said} is {number}, but the columns of X run from 0 to {n_columns - 1}")
    return number


def sorted_positions(scores: FloatArray) -> FloatArray:
    """Full rankings by decreasing score, 1 = highest; of equal scores the earlier column comes first."""
    order = np.argsort(-scores, axis=1, kind="stable")
    positions = np.empty_like(scores)
    np.put_along_axis(positions, order, np.arange(1.0, scores.shape[1] + 1)[None], axis=1)
    return positions
