"""Categories as numbers for level trees: how relevant rows of a category are, learned from other queries.

`LambdaMART` uses `TargetStatistics` with ``tree="level"``; LightGBM's trees divide categories on their own.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from rankwise._state import FLOATS, INTS, Saved, ensure
from rankwise._typing import BoolArray, FloatArray, IntArray
from rankwise.ltr import _target_statistics_jit
from rankwise.queries import QueryRows

# A category begins with this weight of the mean, which is 0.
_PRIOR = 1.0


@dataclass
class TargetStatistics:
    r"""Mean relevance by category, of relevance centered within queries.

    *Definition.* Queries are put in an order at random. In training, a category of a row counts as
    :math:`\sum_j w_j t_j / (1 + \sum_j w_j)`, with the sums over rows of this category in *earlier* queries, and
    :math:`t_j` the relevance of a row minus the mean of its query. So neither the relevance of a row nor that of the
    rows beside it can leak into its features. In prediction the sums are over all training rows. A single query is
    divided into its rows. Of comparisons, t is the weight of those won minus that of those lost.

    Attributes
    ----------
    columns : ndarray of shape (n_columns,)
        Features that hold categories.
    starts : ndarray of shape (n_columns + 1,)
        Where the means of each of these features are.
    means : ndarray
        Means of all categories, by feature and category.

    References
    ----------
    Prokhorenkova et al. (2018), CatBoost: unbiased boosting with categorical features, section 3.
    """

    columns: IntArray
    starts: IntArray
    means: FloatArray

    _saved: ClassVar[Saved] = {"columns": INTS, "starts": INTS, "means": FLOATS}

    @classmethod
    def learn(cls, rows: QueryRows, is_categorical: BoolArray, seed: int) -> tuple[TargetStatistics, QueryRows]:
        """The statistics, and the training rows with numbers in place of categories."""
        target = _centered(rows)
        bounds = rows.bounds if rows.n_queries > 1 else np.arange(len(rows.grade) + 1)
        order = np.random.default_rng(seed).permutation(len(bounds) - 1)
        columns = np.flatnonzero(is_categorical).astype(np.int64)
        places = np.arange(len(rows.grade)) if rows.places is None else rows.places
        X, means = rows.source.copy(), []
        for column in columns:
            known = rows.source[:, column]
            codes = np.where(np.isnan(known), -1, known).astype(np.int64)
            n_categories = int(codes.max(initial=-1)) + 1
            X[places, column], of_all = _target_statistics_jit.ordered_means(
                codes[places], n_categories, target, rows.weight, bounds, order, _PRIOR
            )
            means.append(of_all)
        starts = np.concatenate([[0], np.cumsum([len(own) for own in means])]).astype(np.int64)
        return cls(columns, starts, np.concatenate(means)), replace(rows, source=X)

    def transform(self, X: FloatArray) -> FloatArray:
        """Numbers in place of categories, for rows that were not learned from; NaN stays missing."""
        changed = X.copy()
        for number, column in enumerate(self.columns):
            # Categories of rows without weight were not learned, and have no say.
            own = np.append(self.means[self.starts[number] : self.starts[number + 1]], 0.0)
            known = ~np.isnan(X[:, column])
            changed[known, column] = own[np.minimum(X[known, column], len(own) - 1).astype(np.int64)]
        return changed

    def check_features(self, n_features: int) -> None:
        """Refuse statistics, read from a file, of features that do not exist."""
        ensure((self.columns < n_features).all(), "a category is of a feature that does not exist")

    def _check_saved(self) -> None:
        ensure(len(self.starts) == len(self.columns) + 1, "there are means for other features")
        ensure((np.diff(self.starts) >= 0).all() and (self.columns >= 0).all(), "means or features are not in order")
        ensure(self.starts[0] == 0 and self.starts[-1] == len(self.means), "means do not belong to features")


def _centered(rows: QueryRows) -> FloatArray:
    """Relevance minus the mean of the query; of comparisons, the weight of those won minus that of those lost."""
    if rows.pairs is None:
        sizes = np.diff(rows.bounds)
        return rows.grade - np.repeat(np.add.reduceat(rows.grade, rows.bounds[:-1]) / sizes, sizes)
    winners, losers, weights = rows.pairs
    n = len(rows.grade)
    return np.asarray(np.bincount(winners, weights, n) - np.bincount(losers, weights, n), dtype=np.float64)
