"""One classifier for each pair of items; their votes make the ranking."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar, Literal

import numpy as np

from rankwise._random import check_generator
from rankwise._sklearn import BaseEstimator, HasMethods, StrOptions
from rankwise._typing import BoolArray, FloatArray, IntArray, RandomState
from rankwise.data import Rankings
from rankwise.embeddings import decode_pairwise, pairwise_from_vectors
from rankwise.label_ranking.base import LabelRankerMixin, fit_weighted, fitted_scaler, one_thread, seeded_clone

# Pairs of one job: enough to be worth the way to a worker, few enough to share out evenly.
_PAIRS_PER_JOB = 16
# By how much a vote differs from a draw.
_HAIR = 1e-12


class PairwiseRanker(LabelRankerMixin, BaseEstimator):
    r"""Predicts which of two items comes first, for every pair, and ranks by the votes.

    *Definition.* For each pair i < j a classifier :math:`g_{ij}` learns from the training rows that order the pair
    strictly (both items are there, in different buckets) whether i comes before j. Hard votes rank by

    .. math:: s(x; i) = 1 + \#\{j : g_{ij}(x) \text{ says j before i}\},

    soft votes by :math:`\sum_j p_{ij}(x)`, and "kemeny" takes the Kemeny median of :math:`p(x)`.

    Parameters
    ----------
    classifier : scikit-learn classifier, optional
        Cloned for every pair. By default logistic regression on standardised features. Without ``predict_proba`` its
        probabilities are 0 and 1.
    decode : {"soft", "hard", "kemeny"}, default="soft"
        How the pairs make a ranking.
    ties : {"probability", "random"}, default="probability"
        Which of the items with equally many hard votes comes first: the one with more soft votes, or, as in the paper,
        any (an order of the items is drawn once in ``fit``, so that a row has the same prediction in any company).
        Equal soft votes go by that order too; with ``decode="kemeny"`` even pairs stand in the order of the items.
    n_jobs : int, optional
        Processes that fit the pairs; the result is the same for any number.
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
        "decode": [StrOptions({"soft", "hard", "kemeny"})],
        "ties": [StrOptions({"probability", "random"})],
        "n_jobs": [None, Integral],
        "random_state": ["random_state", np.random.Generator],
    }

    def __init__(
        self,
        classifier: Any = None,
        *,
        decode: Literal["soft", "hard", "kemeny"] = "soft",
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

        above, below = np.triu_indices(y.n_items, 1)
        rng = check_generator(self.random_state)
        self._tie_order = rng.permutation(np.arange(float(y.n_items))) if self.ties == "random" else None
        seeds = None if self.random_state is None else rng.integers(0, 2**31, size=len(above))
        # Our own classifier works on standardised features; to one from outside they come as they are.
        self._scaler = fitted_scaler(X, y) if self.classifier is None else None
        classifier = _default_classifier() if self.classifier is None else self.classifier
        rows = self._scaled(X)
        jobs = [np.arange(len(above))[start : start + _PAIRS_PER_JOB] for start in range(0, len(above), _PAIRS_PER_JOB)]
        fitted = Parallel(n_jobs=self.n_jobs)(
            delayed(_fit_pairs)(classifier, rows, y.positions, y.weights, above[job], below[job], _part(seeds, job))
            for job in jobs
        )
        self.classifiers_ = [model for models in fitted for model in models]

    def _predict_pairwise(self, X: FloatArray) -> FloatArray:
        rows = self._scaled(X)
        return pairwise_from_vectors(np.column_stack([_probability(model, rows) for model in self.classifiers_]))

    def _predict_positions(self, X: FloatArray) -> FloatArray:
        P = self._predict_pairwise(X)
        if self.decode == "hard":
            rows = self._scaled(X)
            votes = pairwise_from_vectors(np.column_stack([_vote(model, rows) for model in self.classifiers_]))
            # Probabilities only break ties: where they contradict the classifier's own word, that counts.
            agreeing = np.where(votes > 0.5, np.maximum(P, 0.5 + _HAIR), np.minimum(P, 0.5 - _HAIR))
            return decode_pairwise(np.where(votes == 0.5, 0.5, agreeing), "copeland", ties=self._tie_order)
        return decode_pairwise(P, "kemeny" if self.decode == "kemeny" else "borda", ties=self._tie_order)

    def _scaled(self, X: FloatArray) -> FloatArray:
        return X if self._scaler is None else self._scaler.transform(X)


def _default_classifier() -> Any:
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(max_iter=1000)


def _fit_pairs(
    classifier: Any,
    X: FloatArray,
    positions: FloatArray,
    weights: FloatArray,
    above: IntArray,
    below: IntArray,
    seeds: IntArray | None,
) -> list[Any]:
    """Classifiers of some pairs."""
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
    ordered = (first < second) | (first > second)
    target: BoolArray = first[ordered] < second[ordered]
    if not len(target):
        return 0.5
    if target.all() or not target.any():
        total = weights[ordered].sum()
        return float((total * target[0] + 1) / (total + 2))
    rows = X if ordered.all() else X[ordered]
    return fit_weighted(seeded_clone(classifier, seed), rows, target.astype(np.intp), weights[ordered])


def _probability(model: Any, X: FloatArray) -> FloatArray:
    """Probability that the first item of the pair comes first."""
    if isinstance(model, float):
        return np.full(len(X), model)
    if hasattr(model, "predict_proba"):
        return model.predict_proba(X)[:, 1]
    return model.predict(X).astype(np.float64)


def _vote(model: Any, X: FloatArray) -> FloatArray:
    """1 where the classifier says that the first item comes first, 0 where the second; 1/2 where nothing is known."""
    if isinstance(model, float):
        return np.full(len(X), 0.5 + 0.5 * np.sign(model - 0.5))
    return model.predict(X).astype(np.float64)


def _part(seeds: IntArray | None, job: IntArray) -> IntArray | None:
    return None if seeds is None else seeds[job]
