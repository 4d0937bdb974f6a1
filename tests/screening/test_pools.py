"""Pools: different functions stay different, equal ones are one, and pairs come in blocks."""

from __future__ import annotations

import time
from itertools import combinations, combinations_with_replacement, permutations

import numpy as np
import pytest

from rankwise.screening import SymbolicFeatures
from rankwise.screening.distinct import DistinctRows
from rankwise.screening.pools import ExpressionPool, Grammar


def pool_of(X, architecture, pool="strict", unary=("id", "cube"), binary=("+", "-", "*", "/", "|-|")):
    names = [f"x{i}" for i in range(X.shape[1])]
    return ExpressionPool(X, names, Grammar.checked(architecture, unary, binary, pool), None, 2**31)


@pytest.mark.parametrize(
    "law",
    [
        lambda rng: rng.random((200, 2)) + 1,
        lambda rng: abs(rng.standard_cauchy((200, 2))) ** 3 + 0.1,
        lambda rng: np.exp(10 * rng.standard_normal((200, 2))),
        lambda rng: np.vstack([rng.random((199, 2)) + 1, [1e12, 1e13]]),
        lambda rng: np.where(rng.random((200, 2)) < 0.7, 0.0, np.exp(8 * rng.standard_normal((200, 2)))),
    ],
    ids=["mild", "cauchy", "lognormal", "outlier", "zeros"],
)
@pytest.mark.parametrize(("architecture", "n_functions"), [("ub", 72), ("bb", 100)])
def test_functions_of_heavy_tails_stay_different(rng, law, architecture, n_functions):
    features = SymbolicFeatures(architecture, unary=("id", "square", "sqrt"), binary=("+", "-", "*"))
    assert len(features.fit(law(rng)).complexity_) == n_functions


def test_equal_functions_are_one_whatever_their_last_digits(rng):
    a, b = rng.standard_normal((2, 50))
    rows = np.array([(a + b) * (a - b), a * a - b * b, 1e-9 * a, (a + b) - b, a, np.zeros(50), a + 1e-13])
    distinct = DistinctRows(50)
    distinct.reserve(7)
    errors = 1e-15 * (1 + a * a + b * b) * np.array([1, 1, 1e-9, 1, 1, 1, 1])[:, None]
    assert distinct.add(rows, errors).tolist() == [0, 0, 1, 2, 2, 3, 4]


@pytest.mark.parametrize("n", [0, 1, 2, 5])
@pytest.mark.parametrize("block", [1, 4, 100])
@pytest.mark.parametrize("both_signs", [True, False])
def test_pairs_come_in_blocks_each_once(n, block, both_signs):
    pool = pool_of(np.eye(7), "b")
    pool.members, pool.block = np.arange(n) + 1, block
    blocks = list(pool.candidates("b", both_signs=both_signs))
    assert len(blocks) == pool.n_blocks("b", both_signs=both_signs)
    assert all(len(codes) <= block for codes, _, _ in blocks)
    places = range(1, n + 1)
    all_after, all_others = list(combinations(places, 2)), list(permutations(places, 2))
    with_itself = list(combinations_with_replacement(places, 2))
    expected = {"+": with_itself, "-": all_others if both_signs else all_after, "*": with_itself, "/": all_others}
    found = {code: [] for code in (11, 12, 13, 14, 15)}
    for block_of in blocks:
        for code, left, right in zip(*block_of, strict=True):
            found[code].append((left, right))
    assert list(found.values()) == [*expected.values(), all_after]


def test_all_functions_of_a_member_come_together():
    pool = pool_of(np.eye(3), "u", unary=("cube", "exp"))
    pool.block = 4
    codes, lefts, _ = (np.concatenate(part) for part in zip(*pool.candidates("u"), strict=True))
    assert lefts.tolist() == [0, 0, 1, 1, 2, 2]
    assert codes.tolist() == [2, 6] * 3
    assert pool.n_blocks("u") == 2


def test_a_cumulative_pool_does_not_make_its_members_again(rng):
    X = rng.random((20, 3)) + 1
    strict, cumulative = (pool_of(X, "u", pool) for pool in ("strict", "cumulative"))
    assert sum(len(block[0]) for block in strict.candidates("u")) == 6
    assert sum(len(block[0]) for block in cumulative.candidates("u")) == 3
    features = SymbolicFeatures("ub", unary=("id", "log"), binary=("-", "/"), pool="cumulative")
    assert features.count(3) == [3, 60]
    assert len(features.fit(X).complexity_) <= 3 + 3 + 60
    assert SymbolicFeatures("u", unary=("id",), pool="cumulative").fit(X).get_feature_names_out().tolist() == [
        "x0",
        "x1",
        "x2",
    ]


def test_many_rows_come_in_small_blocks():
    assert pool_of(np.random.default_rng(0).random((10**6, 1)), "b").block < 10


def test_a_layer_stops_growing_at_the_deadline(rng):
    X = rng.random((50, 20)) + 1
    pool, whole = pool_of(X, "bb"), pool_of(X, "bb")
    pool.block = 100
    pool.grow(0, deadline=time.monotonic() - 1)
    whole.grow(0)
    assert not pool.complete
    assert whole.complete
    assert 0 < len(pool.members) <= 100 < len(whole.members)
