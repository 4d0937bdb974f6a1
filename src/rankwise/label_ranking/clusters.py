"""ClusterRanker: one Plackett-Luce model for each cluster of rows."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np

from rankwise._sklearn import N_JOBS, BaseEstimator, Interval
from rankwise._state import Saved, array, check_probabilities, check_shape, instance, list_of
from rankwise._threads import one_thread
from rankwise._typing import FloatArray, RandomState
from rankwise._validation import check_generator
from rankwise.aggregation import PlackettLuce
from rankwise.data import Rankings
from rankwise.label_ranking.base import NEEDED_SCALER, LabelRankerMixin, check_saved_scaler, fitted_scaler

_STARTS = 10
# Penalty where worths would be infinite without: it orders items as ever smaller ones do.
_VANISHING = 1e-6


class ClusterRanker(LabelRankerMixin, BaseEstimator):
    """Label ranker that clusters the rows by k-means and fits a Plackett-Luce model to each cluster.

    Features are standardized first. The prediction is the mode of the model of the cluster, which orders items by
    decreasing worth; pairwise probabilities are those of the model.

    Parameters
    ----------
    n_clusters : int, default=8
        Maximum number of clusters; there are never more than distinct rows.
    alpha : float, default=1.0
        Strength of the penalty on log worths, see `PlackettLuce`. Without it worths would be infinite in a small
        cluster where an item always comes first, or is missing. 0 is plain maximum likelihood, as in the paper; in
        clusters where no maximum exists, it is the limit of vanishing penalties (computed with 1e-6).
    n_jobs : int, optional
        Threads that fit the models of the clusters; the result does not depend on it.
    random_state : None, int, Generator or RandomState
        Seeds k-means.

    Attributes
    ----------
    clusters_ : KMeans
        The clusters of the standardized features.
    models_ : list of PlackettLuce
        One for each cluster.
    items_ : tuple
        Names of the items.

    Notes
    -----
    As in `PlackettLuce`, rankings may not tie more than four items with each other.

    References
    ----------
    Clémençon, Korba, Sibony (2018), Ranking median regression: learning to order through local consensus, section 5,
    where it is the baseline.

    Examples
    --------
    >>> from rankwise.label_ranking import ClusterRanker
    >>> X, y = [[0], [1], [8], [9]], [[1, 2, 3], [1, 2, 3], [3, 2, 1], [3, 2, 1]]
    >>> ClusterRanker(2, random_state=0).fit(X, y).predict([[0.2], [9.5]])
    array([[1., 2., 3.],
           [3., 2., 1.]])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "alpha": [Interval(Real, 0, None, closed="left")],
        "n_jobs": N_JOBS,
        "random_state": ["random_state", np.random.Generator],
    }

    _saved: ClassVar[Saved] = {
        "_scaler": NEEDED_SCALER,
        "clusters_": instance("KMeans"),
        "models_": list_of(instance("PlackettLuce")),
        "_pairwise": array("float64", 3),
    }

    def __init__(
        self, n_clusters: int = 8, *, alpha: float = 1.0, n_jobs: int | None = None, random_state: RandomState = None
    ) -> None:
        self.n_clusters = n_clusters
        self.alpha = alpha
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _fit_rankings(self, X: FloatArray, y: Rankings) -> None:
        from joblib import Parallel, delayed
        from sklearn.cluster import KMeans

        self._scaler = fitted_scaler(X, y)
        scaled = self._scaler.transform(X)
        n_clusters = min(self.n_clusters, len(np.unique(scaled, axis=0)))
        seed = int(check_generator(self.random_state).integers(2**31))
        kmeans = KMeans(n_clusters, n_init=_STARTS, random_state=seed)
        with one_thread():
            self.clusters_ = kmeans.fit(scaled, sample_weight=y.weights)
            label = self.clusters_.labels_
            self.models_ = Parallel(n_jobs=self.n_jobs, prefer="threads")(
                delayed(self._fit_model)(y[np.flatnonzero(label == c)]) for c in range(n_clusters)
            )
        self._pairwise = np.array([model.pairwise_probabilities() for model in self.models_])

    def _fit_model(self, rankings: Rankings) -> PlackettLuce:
        try:
            return PlackettLuce(alpha=self.alpha).fit(rankings)
        except ValueError:
            if self.alpha > 0:
                raise
            return PlackettLuce(alpha=_VANISHING).fit(rankings)

    def _predict_pairwise(self, X: FloatArray) -> FloatArray:
        with one_thread():
            return self._pairwise[self.clusters_.predict(self._scaler.transform(X))]

    def _check_saved(self) -> None:
        k, centers = len(self.items_), self.clusters_.cluster_centers_
        check_shape(self._pairwise, (len(centers), k, k), "the probabilities of the clusters")
        check_probabilities(self._pairwise)
        check_shape(centers, (len(centers), self.n_features_in_), "the centers")
        check_saved_scaler(self)
