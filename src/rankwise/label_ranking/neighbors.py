"""NearestNeighborsRanker: the consensus of the rankings of the nearest rows."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar, Literal

import numpy as np

from rankwise._decode import Decoder
from rankwise._sklearn import N_JOBS, BaseEstimator, Interval, StrOptions
from rankwise._state import (
    COUNT,
    DICT,
    FLOATS,
    INTS,
    Saved,
    check_probabilities,
    check_shape,
    ensure,
    instance,
    optional,
)
from rankwise._threads import openmp
from rankwise._typing import ArrayLike, FloatArray, IntArray
from rankwise._validation import check_whole_number
from rankwise.aggregation import preference_matrix
from rankwise.data import Rankings
from rankwise.embeddings import decode_pairwise, pairwise_from_vectors, vectors_from_pairwise
from rankwise.label_ranking import _rankers_jit
from rankwise.label_ranking.base import (
    DECODE_CONSTRAINTS,
    SCALER,
    LabelRankerMixin,
    check_saved_scaler,
    fitted_scaler,
    has_copies,
    share_before,
)
from rankwise.label_ranking.prototypes import Prototypes
from rankwise.metrics import kendall_tau_score

# Numbers of neighbors that "cv" tries, each about 1.5 times the one before.
_CANDIDATES = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128)
# Rows that are left out in turn to compare them; more would rarely change the choice.
_MOST_TRIALS = 2000
# Most items for which these trials take Kemeny medians.
_MOST_ITEMS_FOR_KEMENY = 12


class NearestNeighborsRanker(LabelRankerMixin, BaseEstimator):
    r"""Label ranker that predicts the consensus of the rankings of the nearest training rows.

    *Definition.* With the m training rows nearest to x, :math:`\hat p_{ij}(x)` is the share of them, by weight, that
    put i before j (a tie counts half) among those that order or tie the pair; the prediction is its Kemeny median. A
    pair that no neighbor compares gets its share among all training rows.

    Parameters
    ----------
    n_neighbors : int, "auto" or "cv", default="auto"
        m. "auto" is :math:`N^{2/(d+2)}`, rounded, for N rows and d features: the rate that balances bias and variance,
        small for large d. "cv" takes the m with the highest mean Kendall tau when each training row in turn (2,000 of
        them at most) is predicted from the others. With more than 12 items these trials decode by "borda" instead of
        "kemeny", which would take long.
    metric : str or callable, default="euclidean"
        Distance, as ``sklearn.neighbors.NearestNeighbors`` takes it.
    weights : {"uniform", "distance"}, default="uniform"
        Whether all neighbors have the same weight, or the inverse of their distance.
    algorithm : {"auto", "brute", "ball_tree", "kd_tree"}, default="auto"
        How to find neighbors.
    decode : {"kemeny", "borda", "copeland", "copeland-or-borda"}, default="kemeny"
        How the shares of pairs make a ranking, see `decode_pairwise`: their Kemeny median, or the order of the
        neighbors' Borda or Copeland scores, which is faster. "copeland-or-borda" is the paper's median: Borda's order
        where local majorities are not strictly transitive.
    standardize : bool, default=True
        Whether features are first scaled to mean 0 and variance 1.
    n_jobs : int, optional
        Threads that search for neighbors.

    Attributes
    ----------
    n_neighbors_ : int
        m.
    scores_ : dict
        With "cv", number of neighbors -> mean Kendall tau of rows predicted from the others.
    items_ : tuple
        Names of the items.

    Notes
    -----
    Weights of rows multiply their votes; a row of weight 2 is still one neighbor.

    References
    ----------
    Clémençon, Korba, Sibony (2018), Ranking median regression: learning to order through local consensus, section 4.2.

    Examples
    --------
    >>> from rankwise.label_ranking import NearestNeighborsRanker
    >>> X, y = [[0], [1], [8], [9]], [[1, 2, 3], [1, 2, 3], [3, 2, 1], [3, 1, 2]]
    >>> NearestNeighborsRanker(n_neighbors=2).fit(X, y).predict([[0.2]])
    array([[1., 2., 3.]])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_neighbors": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto", "cv"})],
        "metric": [str, callable],
        "weights": [StrOptions({"uniform", "distance"})],
        "algorithm": [StrOptions({"auto", "brute", "ball_tree", "kd_tree"})],
        "decode": DECODE_CONSTRAINTS,
        "standardize": ["boolean"],
        "n_jobs": N_JOBS,
    }

    _saved: ClassVar[Saved] = {
        "_scaler": SCALER,
        "_rankings": instance("Rankings"),
        "_index": instance("NearestNeighbors"),
        "_marginal": FLOATS,
        "n_neighbors_": COUNT,
        "scores_": optional(DICT),
        "_training_rows": optional(INTS),
    }

    def __init__(
        self,
        n_neighbors: int | Literal["auto", "cv"] = "auto",
        *,
        metric: Any = "euclidean",
        weights: Literal["uniform", "distance"] = "uniform",
        algorithm: Literal["auto", "brute", "ball_tree", "kd_tree"] = "auto",
        decode: Decoder = "kemeny",
        standardize: bool = True,
        n_jobs: int | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.metric = metric
        self.weights = weights
        self.algorithm = algorithm
        self.decode = decode
        self.standardize = standardize
        self.n_jobs = n_jobs

    def prototypes(self, X: ArrayLike, n_prototypes: int | None = None) -> Prototypes:
        """Find the training people whose example the prediction follows: the nearest ones.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features of the rows.
        n_prototypes : int, optional
            Number of people for each row, by default the neighbors that a prediction asks.

        Returns
        -------
        Prototypes
            With ``rows``, ``nearness`` (the distance of the features, which are standardized unless
            ``standardize=False``) and their rankings.
        """
        features = self._check_fitted_features(X)
        size = self.n_neighbors_
        if n_prototypes is not None:
            size = min(check_whole_number("n_prototypes", n_prototypes, at_least=1), len(self._rankings))
        distance, rows = self._nearest(self._scaled(features), size)
        numbers = getattr(self, "_training_rows", None)
        if numbers is None:
            raise ValueError(
                "this NearestNeighborsRanker was saved by a version that did not keep the numbers of the training "
                "rows; fit it again"
            )
        return Prototypes(numbers[rows], distance, self._rankings.positions[rows], self.items_, "distance")

    def _note_training(self, X: FloatArray, rows: IntArray) -> None:
        self._training_rows = np.asarray(rows, dtype=np.int64)

    def _fit_rankings(self, X: FloatArray, y: Rankings) -> None:
        from sklearn.neighbors import NearestNeighbors

        self._rankings = y
        self._marginal = vectors_from_pairwise(share_before(preference_matrix(y))[None])[0]
        self._scaler = fitted_scaler(X, y) if self.standardize else None
        self._index = NearestNeighbors(metric=self.metric, algorithm=self.algorithm, n_jobs=self.n_jobs)
        self._index.fit(self._scaled(X))
        if self.n_neighbors == "cv":
            self.scores_ = self._leave_one_out()
            self.n_neighbors_ = max(self.scores_, key=lambda size: (self.scores_[size], -size))
        else:
            wanted = round(len(X) ** (2 / (X.shape[1] + 2))) if self.n_neighbors == "auto" else self.n_neighbors
            self.n_neighbors_ = min(max(1, wanted), len(X))

    def _predict_pairwise(self, X: FloatArray) -> FloatArray:
        distance, neighbors = self._nearest(self._scaled(X), self.n_neighbors_)
        return self._shares(distance, neighbors)

    def _recalls(self) -> bool:
        return True

    def _fit_and_recall(self, X: FloatArray, y: Rankings, rows: IntArray) -> FloatArray | None:
        self.fit(X, y)
        if self.n_neighbors_ >= len(X) or has_copies(X):
            return None
        distance, neighbors = self._nearest(None, self.n_neighbors_)
        return vectors_from_pairwise(self._shares(distance[rows], neighbors[rows]))

    def _nearest(self, rows: FloatArray | None, size: int) -> tuple[FloatArray, IntArray]:
        """Distances and numbers of the neighbors; of the training rows, without themselves, if None."""
        with openmp():
            distance, neighbors = self._index.kneighbors(rows, size)
        return distance, neighbors

    def _scaled(self, X: FloatArray) -> FloatArray:
        return X if self._scaler is None else self._scaler.transform(X)

    def _shares(self, distance: FloatArray, neighbors: IntArray) -> FloatArray:
        """Shares of the neighbors' votes for i before j: (n_rows, n_items, n_items)."""
        votes = np.ones_like(distance)
        if self.weights == "distance":
            # Training rows equal to the row, at distance 0, are the only ones to vote.
            same = distance == 0
            votes = np.where(same.any(axis=1, keepdims=True), same, 1 / np.where(same, 1.0, distance))
        votes = np.ascontiguousarray(votes * self._rankings.weights[neighbors])
        neighbors = np.ascontiguousarray(neighbors, dtype=np.intp)
        return pairwise_from_vectors(
            _rankers_jit.neighbor_shares(self._rankings.positions, neighbors, votes, self._marginal)
        )

    def _leave_one_out(self) -> dict[int, float]:
        """Mean tau of training rows predicted from the others, for each number of neighbors."""
        n_rows = len(self._rankings)
        sizes = [size for size in _CANDIDATES if size < n_rows]
        if not sizes:  # a single row has no others
            return {1: float("nan")}
        distance, neighbors = self._nearest(None, sizes[-1])
        rows = np.unique(np.linspace(0, n_rows - 1, min(n_rows, _MOST_TRIALS)).astype(np.intp))
        slow = self.decode == "kemeny" and self._rankings.n_items > _MOST_ITEMS_FOR_KEMENY
        decode = "borda" if slow else self.decode
        scores = {}
        for size in sizes:
            P = self._shares(distance[rows, :size], neighbors[rows, :size])
            taus = kendall_tau_score(self._rankings[rows], decode_pairwise(P, decode), per_row=True)
            judged = ~np.isnan(taus)
            weights = self._rankings.weights[rows[judged]]
            scores[size] = float(np.average(taus[judged], weights=weights)) if judged.any() else 0.0
        return scores

    def _check_saved(self) -> None:
        n, k = len(self._rankings), len(self.items_)
        numbers = getattr(self, "_training_rows", np.arange(n))
        ensure(len(numbers) == n and (numbers >= 0).all(), "rows have no numbers")
        ensure(self._rankings.items == self.items_, "the rankings are of other items")
        ensure(self._index.n_samples_fit_ == n and 1 <= self.n_neighbors_ <= n, "rows and rankings differ")
        ensure(self._index.n_features_in_ == self.n_features_in_, "neighbors have other features")
        check_shape(self._marginal, (k * (k - 1) // 2,), "the shares of all rows")
        check_probabilities(self._marginal)
        check_saved_scaler(self)
