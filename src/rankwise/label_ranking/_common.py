"""What rankers share: shares of pairs, features of one scale, clones of their estimators, spreads of their errors."""

from __future__ import annotations

from typing import Any

import numpy as np

from rankwise._typing import FloatArray
from rankwise.aggregation import PreferenceMatrix
from rankwise.data import Rankings


def share_before(matrix: PreferenceMatrix) -> FloatArray:
    """Share of the rankings with i before j, ties counted half; 1/2 for pairs that nobody compared."""
    return np.nan_to_num(matrix.probabilities, nan=0.5)


def fitted_scaler(X: FloatArray, y: Rankings) -> Any:
    """A scaler that brings every feature to mean 0 and variance 1 under the weights of the rankings."""
    from sklearn.preprocessing import StandardScaler

    # An array for every setting of transform_output.
    return StandardScaler().set_output(transform="default").fit(X, sample_weight=y.weights)


def sure_gain(differences: FloatArray, weights: FloatArray) -> float:
    """Mean less its standard error: what is left of a gain after the luck of these rows."""
    known = ~np.isnan(differences)
    values, share = differences[known], weights[known] / weights[known].sum()
    mean = float(share @ values)
    return mean - float(np.sqrt(share**2 @ (values - mean) ** 2))


def one_thread() -> Any:
    """A context in which linear algebra runs on one thread.

    Rankers do many small problems, on which threads gain nothing and lose much where other processes are at work; and
    the last digits do not depend on how many there are.
    """
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    return threadpool_limits(limits=1)


def seeded_clone(estimator: Any, seed: int | None) -> Any:
    """A clone; with a seed, every random state among its parameters is set to it."""
    from sklearn.base import clone

    copy = clone(estimator)
    if seed is not None:
        names = [name for name in copy.get_params(deep=True) if name.split("__")[-1] == "random_state"]
        copy.set_params(**dict.fromkeys(names, seed))
    return copy


def fit_weighted(estimator: Any, X: FloatArray, target: Any, weights: FloatArray) -> Any:
    """Fit with weights where they differ; an estimator that cannot take them is refused."""
    if np.all(weights == weights[0]):
        return estimator.fit(X, target)
    from sklearn.pipeline import Pipeline
    from sklearn.utils.validation import has_fit_parameter

    last = estimator.steps[-1] if isinstance(estimator, Pipeline) else ("", estimator)
    if not has_fit_parameter(last[1], "sample_weight"):
        raise ValueError(
            f"rows have different weights, but {type(last[1]).__name__} takes no sample_weight; leave weights away, "
            "or choose another estimator"
        )
    name = f"{last[0]}__sample_weight" if isinstance(estimator, Pipeline) else "sample_weight"
    return estimator.fit(X, target, **{name: weights})


def pairwise_of(ranker: Any, X: Any) -> Any:
    """Probabilities of i before j by a fitted ranker, or by the last step of a pipeline."""
    if hasattr(ranker, "steps"):
        return ranker[-1].predict_pairwise(ranker[:-1].transform(X))
    return ranker.predict_pairwise(X)


def spread_of_differences(errors: FloatArray, weights: FloatArray) -> FloatArray:
    """Root mean square of the differences of errors, for all pairs of items; 0 where no row has both."""
    known = ~np.isnan(errors)
    values = np.where(known, errors, 0.0)
    weighted = weights[:, None] * known
    count = weighted.T @ known
    squares = (weighted * values**2).T @ known
    products = (weighted * values).T @ values
    total = squares + squares.T - 2 * products
    return np.sqrt(np.maximum(np.divide(total, count, out=np.zeros_like(total), where=count > 0), 0.0))
