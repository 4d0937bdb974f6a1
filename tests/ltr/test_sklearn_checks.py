"""The checks of scikit-learn; a target without qid is one query."""

from __future__ import annotations

import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from rankwise.ltr import LambdaMART, LinearRanker

RANKERS = [
    LambdaMART(3, tree="leaf", min_samples_leaf=2, gain="linear", random_state=0),
    LambdaMART(3, tree="leaf", min_samples_leaf=2, objective="pointwise_squared", gain="linear", random_state=0),
    LambdaMART(3, tree="level", gain="linear", random_state=0),
    LinearRanker(random_state=0),
    LinearRanker("listwise_listnet", random_state=0),
]


def expected_failures(estimator):
    reason = "a row of weight 2 is one document with stronger pairs; a document shown twice would take two places"
    failures = {f"check_sample_weight_equivalence_on_{kind}_data": reason for kind in ("dense", "sparse")}
    failures["check_dataframe_column_names_consistency"] = "columns in another order are matched by name"
    if isinstance(estimator, LinearRanker) and estimator.loss == "listwise_listnet":
        failures["check_sample_weights_not_overwritten"] = "listwise losses take one weight per query"
    return failures


@parametrize_with_checks(RANKERS, expected_failed_checks=expected_failures)
def test_checks_of_scikit_learn(estimator, check):
    check(clone(estimator))


@pytest.mark.parametrize("ranker", RANKERS, ids=lambda ranker: type(ranker).__name__)
def test_rankers_ask_for_qid(ranker):
    request = ranker.get_metadata_routing()
    assert request.fit.requests["qid"] is True
    assert request.score.requests["qid"] is True
    assert ranker.__sklearn_tags__().estimator_type == "ranker"
