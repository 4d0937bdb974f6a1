"""One Plackett-Luce model for each cluster of rows."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np

from rankwise._random import check_generator
from rankwise._sklearn import BaseEstimator, Interval
from rankwise._typing import FloatArray, RandomState
from rankwise.aggregation import PlackettLuce
from rankwise.data import Rankings
from rankwise.label_ranking.base import LabelRankerMixin, fitted_scaler

_STARTS = 10


class ClusterRanker(LabelRankerMixin, BaseEstimator):
    """Clusters the rows by k-means and predicts the mode of a Plackett-Luce model of the cluster.

    Features are standardised first. The mode orders items by decreasing worth; pairwise probabilities are those of the
    model.

    Parameters
    ----------
    n_clusters : int, default=8
        Most clusters; there are never more than different rows.
    prior : float, default=1.0
        Precision of the normal prior on log worths, positive, see `PlackettLuce`: in a small cluster an item may come
        first always, or be missing.
    random_state : None, int, Generator or RandomState
        Of k-means.

    Attributes
    ----------
    clusters_ : KMeans
        The clusters, of standardised features.
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
    where it serves as the baseline.

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
        "prior": [Interval(Real, 0, None, closed="neither")],
        "random_state": ["random_state", np.random.Generator],
    }

    def __init__(self, n_clusters: int = 8, *, prior: float = 1.0, random_state: RandomState = None) -> None:
        self.n_clusters = n_clusters
        self.prior = prior
        self.random_state = random_state

    def _fit_rankings(self, X: FloatArray, y: Rankings) -> None:
        from sklearn.cluster import KMeans

        self._scaler = fitted_scaler(X, y)
        scaled = self._scaler.transform(X)
        n_clusters = min(self.n_clusters, len(np.unique(scaled, axis=0)))
        seed = int(check_generator(self.random_state).integers(2**31))
        self.clusters_ = KMeans(n_clusters, n_init=_STARTS, random_state=seed).fit(scaled, sample_weight=y.weights)
        label = self.clusters_.labels_
        self.models_ = [PlackettLuce(prior=self.prior).fit(y[np.flatnonzero(label == c)]) for c in range(n_clusters)]
        self._pairwise = np.array([model.pairwise_probabilities() for model in self.models_])

    def _predict_pairwise(self, X: FloatArray) -> FloatArray:
        return self._pairwise[self.clusters_.predict(self._scaler.transform(X))]
