"""Bootstrap of a consensus: by hand, by its twin, for every kind of ranking, and how often intervals hold the truth."""

from __future__ import annotations

import numpy as np
import pytest

from rankwise import Rankings
from rankwise.aggregation import bootstrap_consensus, borda, kemeny, ranking_intervals, sample_mallows
from tests.naive.aggregation import borda_scores
from tests.naive.choice import before_shares, place_shares
from tests.naive.kemeny import optimal_orders, wins
from tests.naive.tournaments import copeland, dense
from tests.strategies import KINDS, random_positions

METHODS = ("kemeny", "borda", "copeland")


def naive_consensus(method: str, positions: np.ndarray, weights: np.ndarray) -> np.ndarray:
    if method == "borda":
        return np.array(dense([-round(score, 9) for score in borda_scores(positions, weights)]))
    matrix = wins(positions, weights)
    if method == "copeland":
        return np.array(copeland(matrix))
    _, (order,) = optimal_orders(matrix)
    return np.argsort(order) + 1.0


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", KINDS)
def test_the_shares_are_those_of_the_resamples(method: str, kind: str) -> None:
    # Uneven weights leave no two orders equally good, so that there is one consensus by each definition.
    positions = random_positions(np.random.default_rng(7), 40, 4, kind)
    rankings = Rankings(positions, weights=np.sqrt(np.arange(3, 43)))
    resamples: list[Rankings] = []

    def spy(resample: Rankings) -> np.ndarray:
        resamples.append(resample)
        return borda(resample)

    bootstrap_consensus(rankings, spy, n_resamples=70, random_state=1)
    found = bootstrap_consensus(rankings, method, n_resamples=70, random_state=1)
    every = [naive_consensus(method, one.positions, one.weights) for one in resamples]
    np.testing.assert_array_equal(found.positions, every[0])
    np.testing.assert_allclose(found.before, before_shares(every[1:]), atol=1e-12)
    np.testing.assert_allclose(found.distribution, place_shares(every[1:]), atol=1e-12)
    for i in range(4):
        inside = found.distribution[i, int(found.low[i]) - 1 : int(found.high[i])].sum()
        assert inside >= 0.95 - 1e-9


def test_two_voters_by_hand() -> None:
    # Resamples of two opposite voters: both first (1/4), both second (1/4), one each (1/2), where chance decides.
    for method in METHODS:
        found = bootstrap_consensus([[1, 2], [2, 1]], method, n_resamples=1500, random_state=0)
        np.testing.assert_allclose(found.before, 0.5, atol=0.04)
        assert found.intervals == ("1-2", "1-2")


def test_equal_rankings_leave_no_doubt() -> None:
    found = bootstrap_consensus(Rankings([[2, 1, 3]] * 5, items=["a", "b", "c"]), n_resamples=20, random_state=0)
    assert found.intervals == ("2", "1", "3")
    np.testing.assert_array_equal(found.before, [[0.5, 0, 1], [1, 0.5, 1], [0, 0, 0.5]])
    assert repr(found).splitlines() == [
        "BootstrapConsensus: 20 resamples, intervals of 95 %",
        "  item  position  interval  before the next",
        "  b            1         1            100 %",
        "  a            2         2            100 %",
        "  c            3         3",
    ]


@pytest.mark.parametrize("method", METHODS)
def test_sides_of_a_pair_add_up_and_rows_and_columns_too(method: str) -> None:
    found = bootstrap_consensus(random_positions(np.random.default_rng(0), 12, 5, "tied"), method, random_state=0)
    np.testing.assert_allclose(found.before + found.before.T, 1)
    np.testing.assert_allclose(found.distribution.sum(axis=0), 1)
    np.testing.assert_allclose(found.distribution.sum(axis=1), 1)
    assert np.all(found.low <= found.high)


@pytest.mark.parametrize("method", [*METHODS, kemeny])
@pytest.mark.parametrize("kind", ["full", "incomplete"])
def test_the_result_does_not_depend_on_the_threads(method: object, kind: str) -> None:
    positions = random_positions(np.random.default_rng(0), 50, 6, kind)
    one, other = (
        bootstrap_consensus(positions, method, n_resamples=130, random_state=3, n_jobs=n_jobs)  # type: ignore[arg-type]
        for n_jobs in (None, 3)
    )
    np.testing.assert_array_equal(one.before, other.before)
    np.testing.assert_array_equal(one.distribution, other.distribution)
    assert one.redrawn == other.redrawn


def test_names_and_functions_agree() -> None:
    votes = sample_mallows([1, 2, 3, 4, 5], theta=0.5, n=41, random_state=0)
    for name, function in (("kemeny", kemeny), ("borda", borda)):
        quick = bootstrap_consensus(votes, name, n_resamples=100, random_state=0)  # type: ignore[arg-type]
        called = ranking_intervals(votes, function, n_resamples=100, random_state=0)
        np.testing.assert_allclose(quick.distribution, called.distribution, atol=0.02)


@pytest.mark.parametrize("method", METHODS)
def test_weights_are_voters_and_so_are_repeated_rankings(method: str) -> None:
    rankings = Rankings([[1, 2, 3], [2, 1, 3], [3, 1, 2]], weights=[12, 9, 6])
    copies = Rankings(np.repeat(rankings.positions, [12, 9, 6], axis=0))
    nothing = Rankings(np.vstack([rankings.positions, [[3, 2, 1]]]), weights=[12, 9, 6, 0])
    found = [
        bootstrap_consensus(one, method, n_resamples=200, random_state=0)  # type: ignore[arg-type]
        for one in (rankings, copies, nothing)
    ]
    for other in found[1:]:
        np.testing.assert_array_equal(other.before, found[0].before)
    many = bootstrap_consensus(rankings, method, weights=[1200, 900, 600], random_state=0)  # type: ignore[arg-type]
    assert np.abs(many.before - 0.5).sum() > np.abs(found[0].before - 0.5).sum()


def test_relabelled_items_move_along() -> None:
    # 12 voters with even majorities: were they broken by the order of the items, names would matter.
    votes = random_positions(np.random.default_rng(2), 12, 5, "full")
    there = bootstrap_consensus(votes, n_resamples=3000, random_state=0).before
    back = bootstrap_consensus(votes[:, ::-1], n_resamples=3000, random_state=1).before[::-1, ::-1]
    np.testing.assert_allclose(there, back, atol=0.04)


def test_a_resample_without_some_item_is_drawn_again() -> None:
    rankings = [[1, 2, np.nan]] * 20 + [[1, 2, 3]]
    for method in METHODS:
        found = bootstrap_consensus(rankings, method, n_resamples=400, random_state=0)  # type: ignore[arg-type]
        assert abs(found.redrawn / (400 + found.redrawn) - (20 / 21) ** 21) < 0.08
        assert found.intervals == ("1", "2", "3")


def test_long_lists_are_cut_in_print() -> None:
    found = bootstrap_consensus([np.arange(1, 41)], n_resamples=2, random_state=0)
    assert repr(found).endswith("... and 10 more")


@pytest.mark.parametrize(
    ("rankings", "arguments", "message"),
    [
        ([[1, 2]], {"method": "schulze"}, "method is 'schulze'; choose 'kemeny', 'borda', 'copeland', or give"),
        ([[1, 2]], {"n_resamples": 0}, "n_resamples is 0"),
        ([[1, 2]], {"level": 1.5}, "level is 1.5"),
        ([[1, 2]], {"weights": [0]}, "no ranking has a positive weight"),
        ([np.arange(1, 101)], {"n_resamples": 10**9}, "minutes; take method='borda', fewer"),
        (np.where(np.eye(40) + np.eye(40, k=1) > 0, 1.0, np.nan), {}, "draws in a row lack some item.*select"),
        ([[1, 2, np.nan]], {}, "no ranking compares item 2"),
    ],
)
def test_bad_input(rankings: object, arguments: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        bootstrap_consensus(rankings, **arguments)  # type: ignore[arg-type]


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_intervals_hold_the_true_places_at_least_as_often_as_they_say(method: str) -> None:
    # Places are whole numbers, so that intervals hold more than their level; the consensus alone is right far less.
    truth = np.arange(1, 7)
    inside, right, ahead = [], [], []
    for seed in range(200):
        votes = sample_mallows(truth, theta=0.25, n=40, random_state=seed)
        found = bootstrap_consensus(votes, method, n_resamples=200, level=0.9, random_state=seed)  # type: ignore[arg-type]
        inside.append((found.low <= truth) & (truth <= found.high))
        right.append(found.positions == truth)
        ahead.append(found.before[np.triu_indices(6, 1)])  # of pairs in their true order
    assert np.mean(inside) >= 0.9
    assert np.min(np.mean(inside, axis=0)) >= 0.87  # 0.9, less two standard errors of 200 draws
    assert np.mean(right) < 0.8
    # Where nine of ten resamples put one before the other, that is the truth at least so often.
    shares = np.concatenate(ahead)
    assert np.mean(shares[np.maximum(shares, 1 - shares) >= 0.9] > 0.5) >= 0.9
