"""Features of all kinds as numbers."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from rankwise.label_ranking import NearestNeighborsRanker, StackedRanker
from rankwise.label_ranking.numeric import NumericFeatures

NAN = float("nan")


def test_gaps_get_the_median_and_categories_a_column_each():
    X = np.array([[1.0, "a"], [NAN, "b"], [3.0, "a"], [5.0, None]], dtype=object)
    numbers = NumericFeatures([1]).fit(X)
    # The last column: the category is missing.
    expected = [[1, 1, 0, 0], [3, 0, 1, 0], [3, 1, 0, 0], [5, 0, 0, 1]]
    np.testing.assert_array_equal(numbers.transform(X), expected)
    new = np.array([[NAN, "c"], [2.0, "b"]], dtype=object)
    np.testing.assert_array_equal(numbers.transform(new), [[3, 0, 0, 1], [2, 0, 1, 0]])


def test_a_category_not_seen_before_has_zeros_where_none_was_missing():
    numbers = NumericFeatures([0]).fit(np.array([["a"], ["b"]], dtype=object))
    np.testing.assert_array_equal(numbers.transform(np.array([["c"]], dtype=object)), [[0, 0]])


def test_numbers_alone_stay_as_they_are():
    X = np.array([[1.0, 2.0], [3.0, 4.0]])
    np.testing.assert_array_equal(NumericFeatures().fit(X).transform(X), X)
    np.testing.assert_array_equal(NumericFeatures().fit(X).transform([[NAN, 0.0]]), [[2.0, 0.0]])


def test_columns_of_data_frames_are_found_out():
    frame = pd.DataFrame({"town": ["Rome", "Oslo"], "age": [1.0, NAN]})
    numbers = NumericFeatures().fit(frame)
    np.testing.assert_array_equal(numbers.transform(frame), [[1, 0, 1], [1, 1, 0]])
    assert numbers.feature_names_in_.tolist() == ["town", "age"]
    with pytest.raises(ValueError, match="feature names should match"):
        numbers.transform(frame[["age", "town"]])


def test_a_blend_is_told_of_categories_in_arrays():
    X = np.array([["a"], ["b"]] * 10, dtype=object)
    y = np.array([[1, 2], [2, 1]] * 10)
    blend = StackedRanker([("near", NearestNeighborsRanker(3))], cv=2, categorical_features=[0], random_state=0)
    np.testing.assert_array_equal(blend.fit(X, y).predict(X[:2]), y[:2])


def test_both_steps_at_once_are_one_after_the_other():
    frame = pd.DataFrame({"town": ["Rome", "Oslo", None], "age": [1.0, NAN, 4.0]})
    numbers = NumericFeatures()
    np.testing.assert_array_equal(numbers.fit_transform(frame), NumericFeatures().fit(frame).transform(frame))
    np.testing.assert_array_equal(numbers.transform(frame[::-1]), NumericFeatures().fit(frame).transform(frame[::-1]))
    assert numbers.set_output(transform="pandas").fit_transform(frame).columns[0] == "age"
