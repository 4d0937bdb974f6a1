"""What features do for a query ranker: why one row is above another, and what a ranking loses without a feature."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from rankwise._query_inputs import columns_by_name, split_off_queries
from rankwise._tables import Result, TextTable, counted, make_frame, short_name
from rankwise._typing import ArrayLike, FloatArray, RandomState
from rankwise._validation import check_generator, check_whole_number, data_frame
from rankwise.queries import group_queries

# Features that are printed one by one; the others are added up.
_MOST_SHOWN = 10


@dataclass(frozen=True, eq=False, repr=False)
class ScoreExplanation(Result):
    """What each feature adds to the difference of the scores of two rows.

    `rankwise.plots.PairExplanationDisplay.from_explanation` draws it, and ``np.asarray`` gives the effects.

    Attributes
    ----------
    names : tuple of str
        Names of the features.
    effects : ndarray of shape (n_features,)
        Positive if the feature speaks for the first row; they add up to the difference of the scores.
    rows : tuple of int
        The two rows.
    scores : tuple of float
        Their scores.
    inputs : ndarray of object, shape (2, n_features)
        Their features.
    """

    names: tuple[str, ...]
    effects: FloatArray
    rows: tuple[int, int]
    scores: tuple[float, float]
    inputs: np.ndarray[Any, Any]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        return np.array(self.effects, dtype=dtype)

    def tables(self) -> list[TextTable]:
        """The features that matter most, and the sum of the others."""
        i, j = self.rows
        verb = "above" if self.scores[0] > self.scores[1] else "below" if self.scores[0] < self.scores[1] else "beside"
        order = np.argsort(-np.abs(self.effects), kind="stable")
        lines = [
            [short_name(self.names[f]), *(_text(value) for value in self.inputs[:, f]), f"{self.effects[f]:+.4f}"]
            for f in order[:_MOST_SHOWN]
        ]
        if len(order) > _MOST_SHOWN:
            rest = order[_MOST_SHOWN:]
            lines.append([counted(len(rest), "other feature"), "", "", f"{self.effects[rest].sum():+.4f}"])
        note = f"scores {self.scores[0]:.4f} and {self.scores[1]:.4f}; what each feature adds to the difference"
        return [TextTable(f"Row {i} is {verb} row {j}", note, ["feature", f"row {i}", f"row {j}", "effect"], lines)]

    def to_frame(self, backend: str | None = None) -> Any:
        """A line for each feature: feature, first, second (its values in the two rows), effect.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, optional
            By default the first of these that is installed.

        Returns
        -------
        data frame
        """
        first, second = ([_text(value) for value in row] for row in self.inputs)
        columns = {"feature": list(self.names), "first": first, "second": second, "effect": self.effects.tolist()}
        return make_frame(columns, backend)


@dataclass(frozen=True, eq=False, repr=False)
class QueryImportances(Result):
    """What the metric of a ranker loses when a feature is shuffled within queries.

    Attributes
    ----------
    names : tuple of str
        Names of the features.
    importances : ndarray of shape (n_features,)
        Mean loss over the repetitions.
    standard_errors : ndarray of shape (n_features,)
        Of these means, over the repetitions.
    score : float
        The metric with all features as they are.
    """

    names: tuple[str, ...]
    importances: FloatArray
    standard_errors: FloatArray
    score: float

    def tables(self) -> list[TextTable]:
        """The features that matter most."""
        order = np.argsort(-self.importances, kind="stable")[:_MOST_SHOWN]
        lines = [
            [short_name(self.names[f]), f"{self.importances[f]:+.4f}", f"{self.standard_errors[f]:.4f}"] for f in order
        ]
        hidden = len(self.names) - len(order)
        note = f"what the score of {self.score:.4f} loses when a feature is shuffled within queries"
        note += f"; {counted(hidden, 'more feature')} left out" if hidden else ""
        return [TextTable("Importance of the features", note, ["feature", "loss", "standard error"], lines)]

    def to_frame(self, backend: str | None = None) -> Any:
        """A line for each feature: feature, importance, standard_error.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, optional
            By default the first of these that is installed.

        Returns
        -------
        data frame
        """
        columns = {"feature": list(self.names), "importance": self.importances.tolist()}
        return make_frame(columns | {"standard_error": self.standard_errors.tolist()}, backend)


def permutation_importance(
    ranker: Any,
    X: ArrayLike,
    y: ArrayLike,
    qid: ArrayLike | str | None = None,
    *,
    group: ArrayLike | None = None,
    n_repeats: int = 5,
    random_state: RandomState = None,
) -> QueryImportances:
    """Importance of each feature: what the ranker's metric loses when its values are shuffled within queries.

    Shuffling over all rows, as scikit-learn's function of the name does, would also take from a feature what differs
    between queries, on which no ranking depends.

    Parameters
    ----------
    ranker : query ranker
        Fitted.
    X : array-like of shape (n_rows, n_features)
        Features, best of queries that were not in training.
    y, qid, group
        As in ``ranker.score``.
    n_repeats : int, default=5
        How often each feature is shuffled.
    random_state : int, Generator, RandomState or None, default=None
        Shuffles.

    Returns
    -------
    QueryImportances

    Examples
    --------
    >>> from rankwise.datasets import make_retrieval
    >>> from rankwise.ltr import LinearRanker, permutation_importance
    >>> X, y, qid, _ = make_retrieval(60, 4, n_irrelevant=1, link="linear", random_state=0)
    >>> found = permutation_importance(LinearRanker().fit(X, y, qid=qid), X, y, qid, random_state=0)
    >>> len(found.importances)
    4
    """
    from sklearn.utils.validation import check_is_fitted

    check_whole_number("n_repeats", n_repeats, at_least=2)
    rng = check_generator(random_state)
    check_is_fitted(ranker)
    X, qid = split_off_queries(X, qid, group)
    X = columns_by_name(X, getattr(ranker, "feature_names_in_", None))
    frame = data_frame(X, "X")
    table: Any = None if frame is not None else X.tocsc().tolil() if hasattr(X, "tocsc") else np.asarray(X)
    names = feature_names(ranker)
    grades = np.asarray(y, dtype=np.float64)
    query = group_queries(qid, len(grades), of="y").codes
    in_order = np.argsort(query, kind="stable")
    metric = ranker._metric_function(None, ranker.score_gain)

    def value(features: Any) -> float:
        return float(metric(grades, ranker._query_scores(features, query), query))

    score = value(X)
    losses = np.empty((len(names), n_repeats))
    for feature in range(len(names)):
        for repeat in range(n_repeats):
            source = np.empty(len(grades), dtype=np.intp)
            source[in_order] = np.lexsort((rng.random(len(grades)), query))
            if frame is not None:
                name = frame.columns[feature]
                column = frame[source.tolist(), name]
                shuffled = frame.with_columns(column.alias(name).scatter(list(range(len(source))), column.to_list()))
                features = shuffled.to_native()
            else:
                features = table.copy()
                features[:, [feature]] = table[:, [feature]][source]
                features = features.tocsr() if hasattr(features, "tocsr") else features
            losses[feature, repeat] = score - value(features)
    errors = losses.std(axis=1, ddof=1) / np.sqrt(n_repeats)
    return QueryImportances(tuple(names), losses.mean(axis=1), errors, score)


def feature_names(ranker: Any) -> list[str]:
    """Names of the features of a fitted ranker, by default "feature 0" and so on."""
    known = getattr(ranker, "feature_names_in_", None)
    return [f"feature {i}" for i in range(ranker.n_features_in_)] if known is None else [str(name) for name in known]


def score_explanation(ranker: Any, X: Any, i: int, j: int, effects: FloatArray, scores: FloatArray) -> ScoreExplanation:
    """The explanation of rows i and j of X; ``scores`` are those of the two."""
    frame = data_frame(columns_by_name(X, getattr(ranker, "feature_names_in_", None)), "X")
    if frame is not None:
        inputs = np.array([frame.row(int(row)) for row in np.arange(len(frame))[[i, j]]], dtype=object)
    elif hasattr(X, "tocsr"):
        inputs = X.tocsr()[[i, j]].toarray().astype(object)
    else:
        inputs = np.asarray(X)[[i, j]].astype(object)
    pair = float(scores[0]), float(scores[1])
    return ScoreExplanation(tuple(feature_names(ranker)), np.asarray(effects), (int(i), int(j)), pair, inputs)


def _text(value: Any) -> str:
    if value is None or value != value:
        return "missing"
    return f"{value:.6g}" if isinstance(value, float | np.floating) else short_name(value)
