"""All private imports from scikit-learn, in one place.

scikit-learn has no type annotations, so for mypy `BaseEstimator` and the mixins declare here what rankwise uses. Our
own mixins derive from `EstimatorMixin`, so that mypy knows the methods of the estimators they are mixed into.
"""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Integral
from typing import TYPE_CHECKING, Any, ClassVar

from sklearn.utils import _safe_indexing as safe_indexing
from sklearn.utils._param_validation import HasMethods, Interval, InvalidParameterError, RealNotInt, StrOptions
from sklearn.utils.validation import _check_feature_names_in as check_feature_names_in
from sklearn.utils.validation import _num_samples as num_samples

if TYPE_CHECKING:

    class BaseEstimator:
        """Parameters, their validation, and tags."""

        _parameter_constraints: ClassVar[dict[str, list[Any]]]

        def get_params(self, deep: bool = True) -> dict[str, Any]: ...
        def set_params(self, **params: Any) -> Any: ...
        def _validate_params(self) -> None: ...
        def __sklearn_tags__(self) -> Any: ...

    class RegressorMixin:
        """The `score` method of regressors."""

        def score(self, X: Any, y: Any, sample_weight: Any = None) -> float: ...
        def __sklearn_tags__(self) -> Any: ...

    class TransformerMixin(BaseEstimator):
        """`fit_transform`, and the container of its output."""

        def fit_transform(self, X: Any, y: Any = None) -> Any: ...
        def set_output(self: Any, *, transform: str | None = None) -> Any: ...

    class OneToOneFeatureMixin:
        """Output features have the names of the input features."""

        def get_feature_names_out(self, input_features: Any = None) -> Any: ...

    EstimatorMixin = BaseEstimator
else:
    from sklearn.base import BaseEstimator, OneToOneFeatureMixin, RegressorMixin, TransformerMixin

    EstimatorMixin = object


#: what ``n_jobs`` of estimators may be: any number of threads but none; `rankwise._validation.check_n_jobs` is its twin
N_JOBS: list[Any] = [None, Interval(Integral, 1, None, closed="left"), Interval(Integral, None, -1, closed="right")]


def gen_batches(n: int, batch_size: int) -> Iterator[slice]:
    """Slices of ``batch_size`` rows, the last one possibly shorter.

    Unlike scikit-learn's this allows n = 0, and does not check its parameters, which takes half as long as ranking one
    row.
    """
    return (slice(start, min(start + batch_size, n)) for start in range(0, n, batch_size))


def check_params(estimator: BaseEstimator) -> None:
    """Raise `InvalidParameterError` if a parameter of an estimator, fitted or not, is not of its kind or range."""
    estimator._validate_params()


__all__ = [
    "N_JOBS",
    "BaseEstimator",
    "EstimatorMixin",
    "HasMethods",
    "Interval",
    "InvalidParameterError",
    "OneToOneFeatureMixin",
    "RealNotInt",
    "RegressorMixin",
    "StrOptions",
    "TransformerMixin",
    "check_feature_names_in",
    "check_params",
    "gen_batches",
    "num_samples",
    "safe_indexing",
]


def with_unset(estimator: Any, name: str, value: Any) -> Any:
    """A clone in which every parameter of this name that is None has the value, in the estimators inside, too."""
    from sklearn.base import clone

    copy = clone(estimator)
    params = copy.get_params(deep=True)
    unset = [key for key, given in params.items() if key.split("__")[-1] == name and given is None]
    return copy.set_params(**dict.fromkeys(unset, value))
