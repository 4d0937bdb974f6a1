"""The checks of scikit-learn."""

from __future__ import annotations

from sklearn.utils.estimator_checks import parametrize_with_checks

from rankwise.trees import LeastSquaresForest, LeastSquaresTree

MODELS = [
    LeastSquaresTree(),
    LeastSquaresTree(growth="level"),
    LeastSquaresTree(honest=True, splitter="random", max_features=0.5),
    LeastSquaresForest(5),
    LeastSquaresForest(5, bootstrap=False, max_samples=0.7, sketch=4),
]


def expected_failures(estimator):
    """Names of checks that do not hold, and why."""
    if isinstance(estimator, LeastSquaresForest) or estimator.honest:
        drawn = "rows are drawn, so that a row of weight 2 is not the row twice"
        return {"check_sample_weight_equivalence_on_dense_data": drawn}
    return {}


@parametrize_with_checks(MODELS, expected_failed_checks=expected_failures)
def test_checks_of_scikit_learn(estimator, check):
    check(estimator)
