"""The checks of scikit-learn, on targets that are rankings."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.utils import estimator_checks
from sklearn.utils.estimator_checks import parametrize_with_checks

from tests.label_ranking.estimators import RANKERS, expected_failures


@pytest.fixture(autouse=True)
def targets_of_three_items(monkeypatch):
    """scikit-learn makes targets of one column, but a ranking takes two items or more: rank three functions of it."""

    def three_items(estimator, y):
        if np.shape(y)[1:] == (3,):  # some checks come twice
            return y
        value = np.asarray(y, dtype=float).ravel()
        if not np.isfinite(value).all():  # targets that ought to be refused stay so
            return np.full((len(value), 3), value[0])
        value = value - value.min() + 1
        return np.column_stack([value, value.max() + 2 - value, np.full_like(value, np.rint(value.mean()))])

    monkeypatch.setattr(estimator_checks, "_enforce_estimator_tags_y", three_items)


@parametrize_with_checks(RANKERS, expected_failed_checks=expected_failures)
def test_checks_of_scikit_learn(estimator, check):
    check(clone(estimator))
