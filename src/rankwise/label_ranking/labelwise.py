"""LabelwiseRanker: one regressor for each item; sorting what they predict makes the ranking."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar

import numpy as np

from rankwise._sklearn import N_JOBS, BaseEstimator, HasMethods, Interval
from rankwise._state import FLOATS, MATRIX, PREDICTOR, Saved, check_shape, ensure, list_of
from rankwise._threads import one_thread
from rankwise._typing import FloatArray, IntArray, RandomState
from rankwise._validation import check_generator
from rankwise.data import Rankings
from rankwise.embeddings import PositionEmbedding, vectors_from_pairwise
from rankwise.label_ranking.base import LabelRankerMixin, fit_weighted, seeded_clone, spread_of_differences
from rankwise.trees import LeastSquaresForest

# With fewer rows, some would be in the bag of every tree, and folds would be too small to estimate errors.
_FEWEST_ROWS = 10
# Predicted places are rounded to this many digits, so that rounding errors do not order items.
_DIGITS = 12


class LabelwiseRanker(LabelRankerMixin, BaseEstimator):
    r"""Label ranker that predicts the place of every item by regression, and sorts.

    *Definition.* For each item i a regressor :math:`m_i` learns :math:`y_i` = position / k (see `PositionEmbedding`)
    from the training rows that hold the item; the prediction sorts the items by :math:`m_i(x)`. Items with equal
    predictions are ordered by their mean place in training.

    Parameters
    ----------
    regressor : scikit-learn regressor, optional
        Cloned for every item. By default a `LeastSquaresForest` of 100 trees.
    n_folds : int, optional
        Number of folds from which errors are estimated for `predict_pairwise`, see the notes; not for items that fewer
        than 10 rows hold. By default none.
    n_jobs : int, optional
        Threads that fit the items; the result does not depend on it.
    random_state : None, int, Generator or RandomState
        Unless None, seeds the regressor of each item, the default forests included.

    Attributes
    ----------
    regressors_ : list of length n_items
        One regressor per item.
    spread_ : ndarray of shape (n_items, n_items)
        Root mean square error of the difference of two predictions; 0 where no errors are known.
    items_ : tuple
        Names of the items.

    Notes
    -----
    Pairwise probabilities are :math:`\Phi((m_j(x) - m_i(x)) / s_{ij})`, with :math:`s_{ij}` the root mean square of
    the errors that the difference of the two predictions has on rows which the regressors have not seen: out-of-bag
    rows of regressors with an ``oob_prediction_`` (such as the default), else the rows of ``n_folds`` folds. Without
    either, the errors are unknown, and the probabilities are 0, 1/2 or 1.

    With a `LeastSquaresTree` of ``growth="level"`` this is the algorithm of theorem 2.1 of the reference.

    References
    ----------
    Fotakis, Kalavasis, Psaroudaki (2022), Label ranking through nonparametric regression, algorithm 1.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeRegressor
    >>> from rankwise.label_ranking import LabelwiseRanker
    >>> X, y = [[0], [1], [8], [9]], [[1, 2, 3], [1, 2, 3], [3, 2, 1], [3, 1, 2]]
    >>> LabelwiseRanker(DecisionTreeRegressor()).fit(X, y).predict([[0.2]])
    array([[1., 2., 3.]])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "regressor": [None, HasMethods(["fit", "predict"])],
        "n_folds": [None, Interval(Integral, 2, None, closed="left")],
        "n_jobs": N_JOBS,
        "random_state": ["random_state", np.random.Generator],
    }

    _saved: ClassVar[Saved] = {"regressors_": list_of(PREDICTOR), "_mean_place": FLOATS, "spread_": MATRIX}

    def __init__(
        self,
        regressor: Any = None,
        *,
        n_folds: int | None = None,
        n_jobs: int | None = None,
        random_state: RandomState = None,
    ) -> None:
        self.regressor = regressor
        self.n_folds = n_folds
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _fit_rankings(self, X: FloatArray, y: Rankings) -> None:
        from joblib import Parallel, delayed

        places = PositionEmbedding().set_output(transform="default").fit_transform(y)
        rng = check_generator(self.random_state)
        seeds = None if self.random_state is None else rng.integers(0, 2**31, size=y.n_items)
        with one_thread():
            fitted = Parallel(n_jobs=self.n_jobs, prefer="threads")(
                delayed(_fit_item)(
                    self.regressor, X, places[:, i], y.weights, None if seeds is None else int(seeds[i]), self.n_folds
                )
                for i in range(y.n_items)
            )
        self.regressors_ = [regressor for regressor, _ in fitted]
        known = ~np.isnan(places)
        self._mean_place = (y.weights @ np.where(known, places, 0.0)) / (y.weights @ known)
        self.spread_ = spread_of_differences(np.column_stack([error for _, error in fitted]), y.weights)

    def predict_places(self, X: Any) -> FloatArray:
        """Predicted place of each item, divided by the number of items; lower = better.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features.

        Returns
        -------
        ndarray of shape (n_samples, n_items)
        """
        return self._places(self._check_fitted_features(X))

    def _places(self, X: FloatArray) -> FloatArray:
        return np.column_stack([regressor.predict(X) for regressor in self.regressors_])

    def _recalls(self) -> bool:
        return self.regressor is None or bool(getattr(self.regressor, "oob_score", False))

    def _fit_and_recall(self, X: FloatArray, y: Rankings, rows: IntArray) -> FloatArray | None:
        self.fit(X, y)
        if not all(hasattr(regressor, "oob_prediction_") for regressor in self.regressors_):
            return None
        places = self._places(X[rows])
        for i, regressor in enumerate(self.regressors_):
            unseen = np.full(len(X), np.nan)
            held = ~np.isnan(y.positions[:, i])
            unseen[held] = regressor.oob_prediction_
            # An item that a row does not hold was learned from other rows.
            places[:, i] = np.where(held, unseen, 0.0)[rows] + np.where(held[rows], 0.0, places[:, i])
        return vectors_from_pairwise(self._pairs_of(places))

    def _predict_pairwise(self, X: FloatArray) -> FloatArray:
        return self._pairs_of(self._places(X))

    def _pairs_of(self, predicted: FloatArray) -> FloatArray:
        from scipy.special import ndtr

        places = np.round(predicted, _DIGITS)
        lead = places[:, None, :] - places[:, :, None]
        with np.errstate(divide="ignore", invalid="ignore"):  # a spread of 0 gives 0, 1/2 or 1
            return ndtr(np.where(lead == 0, 0.0, lead / self.spread_))

    def _predict_positions(self, X: FloatArray) -> FloatArray:
        places = np.round(self._places(X), _DIGITS)
        order = np.lexsort((np.broadcast_to(self._mean_place, places.shape), places), axis=1)
        positions = np.empty_like(places)
        np.put_along_axis(positions, order, np.arange(1.0, places.shape[1] + 1)[None], axis=1)
        return positions

    def _check_saved(self) -> None:
        k = len(self.items_)
        ensure(len(self.regressors_) == k, "there is not one regressor for each item")
        check_shape(self._mean_place, (k,), "the mean places")
        check_shape(self.spread_, (k, k), "the spread")


def _fit_item(
    regressor: Any, X: FloatArray, places: FloatArray, weights: FloatArray, seed: int | None, n_folds: int | None
) -> tuple[Any, FloatArray]:
    """A regressor of one item, and its errors on rows it has not seen; NaN where they are unknown."""
    held = np.flatnonzero(~np.isnan(places))
    rows, target, weight = X[held], places[held], weights[held]
    template = LeastSquaresForest(100, oob_score=len(held) >= _FEWEST_ROWS) if regressor is None else regressor
    model = fit_weighted(seeded_clone(template, seed), rows, target, weight)
    errors = np.full(len(places), np.nan)
    unseen = getattr(model, "oob_prediction_", None)
    if unseen is not None:
        errors[held] = target - unseen
    elif n_folds is not None and len(held) >= max(n_folds, _FEWEST_ROWS):
        from sklearn.model_selection import KFold

        for train, test in KFold(n_folds, shuffle=True, random_state=0).split(rows):
            part = fit_weighted(seeded_clone(template, seed), rows[train], target[train], weight[train])
            errors[held[test]] = target[test] - part.predict(rows[test])
    return model, errors
