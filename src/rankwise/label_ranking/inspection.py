"""Fitted label rankers as scikit-learn's tools of inspection take models: as regressors."""

from __future__ import annotations

from typing import Any

from rankwise._sklearn import BaseEstimator, RegressorMixin
from rankwise._typing import ArrayLike, FloatArray


def as_regressor(ranker: Any) -> Any:
    r"""A fitted label ranker as a regressor of the expected position of every item.

    *Definition.* Item i is expected at :math:`1 + \sum_{j \ne i} P(j \text{ before } i \mid x)`, 1 = best. This moves
    smoothly with the features, where predicted rankings jump. ``sklearn.inspection.partial_dependence`` and its display
    take regressors and classifiers only; one output, ``target``, is one item.

    Parameters
    ----------
    ranker : label ranker, or pipeline that ends in one
        Fitted, and not copied: what it predicts is what the regressor predicts.

    Returns
    -------
    regressor
        With ``predict(X)`` of shape (n_samples, n_items), and ``items_``. Its ``fit`` changes nothing.

    Examples
    --------
    >>> from rankwise.label_ranking import DummyRanker, as_regressor
    >>> ranker = DummyRanker().fit([[0], [1], [2], [3]], [[1, 2], [1, 2], [1, 2], [2, 1]])
    >>> as_regressor(ranker).predict([[5]])
    array([[1.25, 1.75]])
    """
    from sklearn.utils.validation import check_is_fitted

    last = _steps(ranker)[-1]
    if not hasattr(last, "predict_pairwise"):
        raise TypeError(
            f"{type(last).__name__} has no predict_pairwise, as label rankers have; of a search, give best_estimator_"
        )
    check_is_fitted(last)
    return _ExpectedPositions(ranker)


class _ExpectedPositions(RegressorMixin, BaseEstimator):
    """What `as_regressor` returns: as frozen as its ranker."""

    def __init__(self, ranker: Any) -> None:
        self.ranker = ranker

    @property
    def items_(self) -> Any:
        return _steps(self.ranker)[-1].items_

    def fit(self, X: Any = None, y: Any = None) -> _ExpectedPositions:
        """Nothing is learned: the ranker is fitted."""
        return self

    def predict(self, X: ArrayLike) -> FloatArray:
        """Expected positions of the items: (n_samples, n_items), 1 = best."""
        *before, last = _steps(self.ranker)
        for step in before:
            X = X if step in (None, "passthrough") else step.transform(X)
        # 1 + the sum over the other items; the diagonal is 1/2.
        return 0.5 + last.predict_pairwise(X).sum(axis=1)

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        tags.target_tags.single_output = False
        return tags


def _steps(model: Any) -> list[Any]:
    return [step for _, step in model.steps] if hasattr(model, "steps") else [model]
