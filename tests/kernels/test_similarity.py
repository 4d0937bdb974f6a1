"""Kernels by name: the numbers are those of the functions, and the results describe themselves."""

from __future__ import annotations

import numpy as np
import pytest

from rankwise import Rankings
from rankwise.kernels import (
    graph_cut_kernel,
    kendall_kernel,
    mallows_kernel,
    ranking_similarity,
    ranking_vectors,
)
from tests.pages import Page

VOTES = Rankings([[1, 2, 3], [3, 2, 1], [1, 2, np.nan], [1, 1, 2]], ["tea", "milk", "juice"], weights=[2, 1, 1, 1])
FEATURES = [[0.0, 1.0], [0.5, 0.2], [1.0, 0.9]]


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        (ranking_similarity(VOTES), kendall_kernel(VOTES)),
        (ranking_similarity(VOTES, normalize=True), kendall_kernel(VOTES, normalize=True)),
        (ranking_similarity(VOTES, "mallows", scale=0.3), mallows_kernel(VOTES, scale=0.3)),
        (
            ranking_similarity(VOTES, "graph-cut", features=FEATURES),
            graph_cut_kernel(VOTES, features=FEATURES, random_state=0),
        ),
        (ranking_similarity(VOTES, dtype="float32"), kendall_kernel(VOTES, dtype="float32")),
    ],
)
def test_similarities_are_those_of_the_functions(result, expected):
    np.testing.assert_array_equal(result.values, expected)
    assert result.values.dtype == expected.dtype
    others = expected[~np.eye(4, dtype=bool)]
    assert result.with_another == pytest.approx((others.min(), others.mean(), others.max()))
    own = np.diagonal(expected)
    assert result.with_itself == pytest.approx((own.min(), own.mean(), own.max()))
    frame = result.to_frame("pandas")
    assert list(frame.columns) == ["first", "second", "value"]
    assert len(frame) == 6
    assert frame["value"][0] == expected[0, 1]
    for words in ("4 of 3 items, incomplete", f"4 x 4, {expected.nbytes} bytes", "weigh 5 together"):
        assert words in repr(result)
    assert f"{others.mean():z.4g}" in Page(result._repr_html_()).text


@pytest.mark.parametrize(
    ("kernel", "columns"),
    [("kendall", ("tea > milk", "tea > juice", "milk > juice")), ("graph-cut", ("tea", "milk", "juice"))],
)
def test_inner_products_of_vectors_are_the_similarities(kernel, columns):
    result = ranking_vectors(VOTES, kernel)
    np.testing.assert_allclose(result.values @ result.values.T, ranking_similarity(VOTES, kernel).values, atol=1e-12)
    assert result.columns == columns
    assert list(result.to_frame("polars").columns) == list(columns)
    assert "4 x 3, 96 bytes" in repr(result)


def test_one_ranking_has_no_spread():
    result = ranking_similarity([[1, 2]])
    assert result.with_another is None
    assert "of two rankings" not in repr(result)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ranking_similarity(VOTES, "cosine"), "kernel is 'cosine'"),
        (lambda: ranking_vectors(VOTES, "mallows"), "kernel is 'mallows'"),
        (lambda: ranking_similarity(VOTES, features=FEATURES), "does not use features of items"),
        (lambda: ranking_similarity(VOTES, max_bytes=100), "more than max_bytes"),
        (lambda: ranking_vectors(VOTES, max_bytes=50), "more than max_bytes"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call()
