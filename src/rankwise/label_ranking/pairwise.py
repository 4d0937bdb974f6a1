"""PairwiseRanker: one classifier for each pair of items, whose votes make the ranking."""

from __future__ import annotations

import math
import time
import warnings
from typing import Any, ClassVar, Literal

import numpy as np

from rankwise._decode import Decoder
from rankwise._sklearn import N_JOBS, BaseEstimator, HasMethods, StrOptions, gen_batches
from rankwise._state import FLOATS, PREDICTOR, Kind, Saved, check_shape, either, ensure, list_of, maybe
from rankwise._threads import one_thread, usable_jobs
from rankwise._typing import BoolArray, FloatArray, IntArray, RandomState
from rankwise._validation import check_generator
from rankwise.data import Rankings
from rankwise.embeddings import decode_pairwise, pairwise_from_vectors
from rankwise.label_ranking.base import (
    DECODE_CONSTRAINTS,
    SCALER,
    LabelRankerMixin,
    check_saved_scaler,
    fit_weighted,
    fitted_scaler,
    seeded_clone,
)

# Pairs of one job: enough to be worth sending to a worker, few enough to balance the load.
_PAIRS_PER_JOB = 16
# Of more pairs, the first ones tell how long it takes; more than this many (of 1,415 items) would take hours.
_MANY_PAIRS, _MOST_PAIRS = 10_000, 1_000_000
_PATIENCE = 60.0
# What stands for the classifier of a pair that was always ordered the same way, or never seen: its probability.
_CERTAIN = Kind("a probability", lambda value: isinstance(value, float) and 0 <= value <= 1)
# Probability below 1/2 that stands for a vote for the second item; too small to change the sum of soft votes.
_VOTE_MARGIN = 1e-12


class PairwiseRanker(LabelRankerMixin, BaseEstimator):
    r"""Label ranker with a classifier of which item comes first for every pair, and a ranking by their votes.

    *Definition.* For each pair i < j a classifier :math:`g_{ij}` learns from the training rows that order the pair
    strictly (both items are there, in different buckets) whether i comes before j. The probabilities
    :math:`p_{ij}(x)` of the classifiers are decoded to a ranking, see ``decode``.

    Parameters
    ----------
    classifier : scikit-learn classifier, optional
        Cloned for every pair. By default logistic regression on standardized features. Without ``predict_proba`` its
        probabilities are 0 and 1.
    decode : {"borda", "copeland", "kemeny", "copeland-or-borda"}, default="borda"
        How the pairs make a ranking: "borda" sorts items by their soft votes :math:`\sum_j p_{ij}(x)`, "copeland" by
        the hard votes against them, :math:`\#\{j : g_{ij}(x) \text{ says j before i}\}`, and "kemeny" takes the Kemeny
        median of :math:`p(x)`. The item with the smaller probability loses the hard vote; if a classifier gives both
        items probability 1/2, the first one (i) does, as scikit-learn's ``predict`` returns the first of equal
        classes. Neither item loses a pair that no row orders.
    ties : {"probability", "random"}, default="probability"
        Which of several items with equally many hard votes against them comes first: the one with more soft votes, or,
        as in the paper, the first in a random order of the items. That order is drawn once in ``fit``, so that the
        prediction for a row does not depend on the other rows. With "random" it also breaks ties of soft votes; else
        the order of the columns does, as for even pairs with ``decode="kemeny"``.
    n_jobs : int, optional
        Processes that fit the pairs; the result does not depend on it.
    random_state : None, int, Generator or RandomState
        Draws the order for ``ties="random"`` and, unless None, a seed for the classifier of each pair.

    Attributes
    ----------
    classifiers_ : list of length n_items * (n_items - 1) / 2
        One for each pair in the order of ``np.triu_indices(n_items, 1)``; a number where no classifier could be fitted:
        (m + 1) / (M + 2) where all M of the weighted rows agree (m = M or 0), 1/2 where no row orders the pair.
    items_ : tuple
        Names of the items.

    References
    ----------
    Fotakis, Kalavasis, Psaroudaki (2022), Label ranking through nonparametric regression, algorithms 2, 6, 7 and 8.
    Hüllermeier, Fürnkranz, Cheng, Brinker (2008), Label ranking by learning pairwise preferences.

    Examples
    --------
    >>> from rankwise.label_ranking import PairwiseRanker
    >>> X, y = [[0], [1], [8], [9]], [[1, 2, 3], [1, 2, 3], [3, 2, 1], [3, 2, 1]]
    >>> PairwiseRanker().fit(X, y).predict([[0.2], [9.5]])
    array([[1., 2., 3.],
           [3., 2., 1.]])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "classifier": [None, HasMethods(["fit", "predict"])],
        "decode": DECODE_CONSTRAINTS,
        "ties": [StrOptions({"probability", "random"})],
        "n_jobs": N_JOBS,
        "random_state": ["random_state", np.random.Generator],
    }

    _saved: ClassVar[Saved] = {
        "_scaler": SCALER,
        "classifiers_": list_of(either(_CERTAIN, PREDICTOR)),
        "_tie_order": maybe(FLOATS),
    }

    def __init__(
        self,
        classifier: Any = None,
        *,
        decode: Decoder = "borda",
        ties: Literal["probability", "random"] = "probability",
        n_jobs: int | None = None,
        random_state: RandomState = None,
    ) -> None:
        self.classifier = classifier
        self.decode = decode
        self.ties = ties
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _fit_rankings(self, X: FloatArray, y: Rankings) -> None:
        from joblib import Parallel, delayed
        from sklearn.linear_model import LogisticRegression

        if (n_pairs := math.comb(y.n_items, 2)) > _MOST_PAIRS:
            raise ValueError(
                f"the {y.n_items:,} items have {n_pairs:,} pairs, and at most {_MOST_PAIRS:,} classifiers are fitted; "
                "take LabelwiseRanker or RankingForest(embedding='position'), which learn from positions"
            )
        above, below = np.triu_indices(y.n_items, 1)
        rng = check_generator(self.random_state)
        self._tie_order = rng.permutation(np.arange(float(y.n_items))) if self.ties == "random" else None
        seeds: Any = None if self.random_state is None else rng.integers(0, 2**31, size=len(above))
        # The default classifier gets standardized features, a user's classifier gets them unchanged.
        self._scaler = fitted_scaler(X, y) if self.classifier is None else None
        classifier = LogisticRegression(max_iter=1000) if self.classifier is None else self.classifier
        rows = self._scaled(X)
        jobs = [
            (classifier, rows, y.positions, y.weights, above[job], below[job], None if seeds is None else seeds[job])
            for job in gen_batches(len(above), _PAIRS_PER_JOB)
        ]
        fitted = [_fit_first_of_many(*jobs.pop(0), n_jobs=self.n_jobs)] if len(above) > _MANY_PAIRS else []
        fitted += Parallel(n_jobs=usable_jobs(self.n_jobs))(delayed(_fit_pairs)(*job) for job in jobs)
        self.classifiers_ = [model for models in fitted for model in models]

    def _predict_pairwise(self, X: FloatArray) -> FloatArray:
        return pairwise_from_vectors(self._probabilities(X))

    def _predict_positions(self, X: FloatArray) -> FloatArray:
        probabilities = self._probabilities(X)
        if self.decode == "copeland":
            # Only pairs without any data are draws.
            fitted = np.array([not isinstance(model, float) for model in self.classifiers_])
            probabilities[fitted & (probabilities == 0.5)] = 0.5 - _VOTE_MARGIN
        return decode_pairwise(pairwise_from_vectors(probabilities), self.decode, ties=self._tie_order)

    def _probabilities(self, X: FloatArray) -> FloatArray:
        """Probability that the first item of each pair comes first: (n_samples, n_pairs)."""
        rows = self._scaled(X)
        probabilities = np.empty((len(rows), len(self.classifiers_)))
        for pair, model in enumerate(self.classifiers_):
            if isinstance(model, float):
                probabilities[:, pair] = model
            elif hasattr(model, "predict_proba"):
                probabilities[:, pair] = model.predict_proba(rows)[:, 1]
            else:
                probabilities[:, pair] = model.predict(rows)
        return probabilities

    def _scaled(self, X: FloatArray) -> FloatArray:
        return X if self._scaler is None else self._scaler.transform(X)

    def _check_saved(self) -> None:
        k = len(self.items_)
        ensure(len(self.classifiers_) == k * (k - 1) // 2, "there is not one classifier for each pair of items")
        if self._tie_order is not None:
            check_shape(self._tie_order, (k,), "the order of ties")
        check_saved_scaler(self)


def _fit_first_of_many(*job: Any, n_jobs: int | None) -> list[Any]:
    """Classifiers of the first pairs, and a warning if all others will take long."""
    from joblib import effective_n_jobs

    start = time.perf_counter()
    fitted = _fit_pairs(*job)
    n_pairs = math.comb(job[2].shape[1], 2)
    seconds = (time.perf_counter() - start) * n_pairs / len(fitted) / effective_n_jobs(n_jobs)
    if seconds > _PATIENCE:
        warnings.warn(
            f"the classifiers of {n_pairs:,} pairs of items will take about {seconds / 60:,.2g} minutes; more n_jobs "
            "take less, and LabelwiseRanker or RankingForest(embedding='position') far less",
            stacklevel=4,
        )
    return fitted


def _fit_pairs(
    classifier: Any,
    X: FloatArray,
    positions: FloatArray,
    weights: FloatArray,
    above: IntArray,
    below: IntArray,
    seeds: IntArray | None,
) -> list[Any]:
    """Classifiers of the pairs (above[0], below[0]), (above[1], below[1]), ..."""
    with one_thread():
        return [
            _fit_pair(
                classifier, X, positions[:, i], positions[:, j], weights, None if seeds is None else int(seeds[number])
            )
            for number, (i, j) in enumerate(zip(above, below, strict=True))
        ]


def _fit_pair(
    classifier: Any, X: FloatArray, first: FloatArray, second: FloatArray, weights: FloatArray, seed: int | None
) -> Any:
    """A classifier of whether the first item comes first; a number where the rows leave nothing to learn."""
    ordered = (first < second) | (first > second)
    target: BoolArray = first[ordered] < second[ordered]
    if not len(target):
        return 0.5
    if target.all() or not target.any():
        total = weights[ordered].sum()
        return float((total * target[0] + 1) / (total + 2))
    rows = X if ordered.all() else X[ordered]
    return fit_weighted(seeded_clone(classifier, seed), rows, target.astype(np.intp), weights[ordered])
