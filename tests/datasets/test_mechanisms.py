from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from rankwise import Rankings
from rankwise.aggregation import Mallows, sample_mallows
from rankwise.datasets import make_incomplete, make_partial
from tests.naive import datasets as naive
from tests.strategies import random_positions

FULL = random_positions(np.random.default_rng(0), 4000, 5, "full")


def test_survival_of_all_changes_nothing():
    names = Rankings(FULL, items=list("abcde"), weights=np.arange(len(FULL)))
    assert make_incomplete(names, 1.0) == names


def test_survivors_close_up_and_keep_their_order():
    observed = make_incomplete(FULL, 0.6, random_state=0).positions
    for before, after in zip(FULL[:200], observed, strict=False):
        stays = ~np.isnan(after)
        assert sorted(after[stays]) == list(range(1, stays.sum() + 1))
        assert np.array_equal(np.argsort(before[stays]), np.argsort(after[stays]))


def test_share_of_the_missing_follows_the_probabilities():
    q = np.array([0.1, 0.5, 0.9, 1.0, 0.0])
    missing = np.isnan(make_incomplete(FULL, q, random_state=0).positions).mean(axis=0)
    assert np.all(np.abs(missing - (1 - q)) < 4 * np.sqrt(q * (1 - q) / len(FULL)) + 1e-12)


def test_one_seed_for_drawing_and_dropping_does_not_tie_the_two():
    draws = sample_mallows(np.arange(1, 9), 0.1, 2000, random_state=0)
    whole, rest = Mallows().fit(draws), Mallows().fit(make_incomplete(draws, 0.5, random_state=0))
    assert abs(rest.theta_ - whole.theta_) < 4 * rest.theta_se_
    numbers = np.random.default_rng(0).random((2000, 8))
    stays = ~np.isnan(make_incomplete(draws, 0.5, random_state=0).positions)
    assert abs(np.corrcoef(stays.ravel(), numbers.ravel())[0, 1]) < 0.05


def test_survival_may_depend_on_the_features():
    X = np.arange(len(FULL))[:, None] % 2
    observed = make_incomplete(FULL, lambda X: np.tile(X, (1, 5)), X=X, random_state=0).positions
    assert np.isnan(observed[::2]).all()
    assert np.array_equal(observed[1::2], FULL[1::2])
    matrix = make_incomplete(FULL, np.tile(X, (1, 5)), random_state=0)
    assert np.array_equal(matrix.positions, observed, equal_nan=True)


def test_tops_of_top_k_rankings_stay_unlisted():
    assert np.isposinf(make_incomplete([[1, np.inf, 2]], 1.0).positions[0, 1])


def test_partition_of_the_paper():
    # Appendix C: e > b > d > a > c with the blocks [1, 2] [3] [4, 5] becomes e = b > d > a = c.
    full = Rankings.from_orders([list("ebdac")], items=list("abcde"))
    assert make_partial(full, (2, 1, 2)) == Rankings.from_buckets([[["e", "b"], "d", ["a", "c"]]], items=list("abcde"))


def test_partition_by_row_equals_the_definition():
    sizes = [(5,), (1, 4), (2, 1, 2), (1, 1, 1, 1, 1)]
    observed = make_partial(FULL[:4], lambda rng, X, k: sizes, X=np.zeros((4, 1)))
    for row, size in enumerate(sizes):
        blocks = naive.block_of_place(size)
        assert observed.positions[row].tolist() == [blocks[int(place) - 1] for place in FULL[row]]


def test_partition_may_depend_on_the_features():
    X = np.arange(len(FULL))[:, None] % 2

    def drawn(rng, X, k):
        cut = rng.integers(1, k, size=X.shape[0])
        return [(k,) if x == 0 else (c, k - c) for x, c in zip(X[:, 0], cut, strict=True)]

    observed = make_partial(FULL, drawn, X=X, random_state=0)
    assert np.all(observed.positions[::2] == 1)
    assert np.all(observed.positions[1::2].max(axis=1) == 2)
    assert len(np.unique(np.sum(observed.positions[1::2] == 1, axis=1))) == 4
    assert make_partial(FULL, drawn, X=X.tolist(), random_state=0) == observed


def test_functions_see_data_frames_as_they_are():
    frame = pd.DataFrame({"loud": [1.0, 0.0]})
    tied = make_partial(FULL[:2], lambda rng, X, k: [(k,) if v else (1,) * k for v in X["loud"]], X=frame)
    assert tied.positions.max(axis=1).tolist() == [1, 5]
    observed = make_incomplete(FULL[:2], lambda X: np.repeat(X[["loud"]], 5, axis=1), X=frame)
    assert np.isnan(observed.positions).all(axis=1).tolist() == [False, True]


def test_random_partitions_cut_half_of_the_borders():
    observed = make_partial(FULL, "random", random_state=0)
    cuts = observed.positions.max(axis=1) - 1
    assert abs(cuts.mean() - 2) < 4 / np.sqrt(len(FULL))
    # Ties never reverse a preference.
    assert not np.any((observed.positions[:, 0] < observed.positions[:, 1]) & (FULL[:, 0] > FULL[:, 1]))
    assert make_partial(FULL, "random", random_state=0) == observed


@pytest.mark.parametrize(
    ("call", "fragment"),
    [
        (lambda: make_incomplete(FULL, 1.5), "outside 0 to 1"),
        (lambda: make_incomplete(FULL, [0.5, 0.5]), r"survival has shape \(2,\)"),
        (lambda: make_incomplete(FULL, lambda X: X), "survival is a function of X; give X as well"),
        (lambda: make_incomplete(FULL, lambda X: X, X=FULL[:3]), r"X has shape \(3, 5\); give one row for each of the"),
        (lambda: make_partial(FULL, (2, 2)), "does not cut 5 places"),
        (lambda: make_partial(FULL, (5, 0)), "does not cut 5 places"),
        (lambda: make_partial(FULL, "halves"), "partition is 'halves'"),
        (lambda: make_partial(FULL, lambda rng, X, k: [(5,)], X=FULL), "returned 1 partitions for 4000 rankings"),
        (lambda: make_partial(FULL, lambda rng, X, k: []), "partition is a function of X; give X as well"),
        (lambda: make_partial(FULL, lambda rng, X, k: [], X=FULL[0]), r"X has shape \(5,\)"),
        (lambda: make_partial([[1, 1, 2]], (3,)), "needs full rankings"),
    ],
)
def test_bad_arguments(call, fragment):
    with pytest.raises(ValueError, match=fragment):
        call()


def test_survival_is_numbers():
    with pytest.raises(TypeError, match="survival is 'random'; give numbers"):
        make_incomplete(FULL, "random")
