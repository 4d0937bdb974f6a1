"""A running consensus equals the consensus of all rankings that count."""

from __future__ import annotations

import time

import numpy as np
import pytest

from rankwise import Rankings
from rankwise.aggregation import RunningConsensus, kemeny, preference_matrix, sample_mallows
from tests.strategies import KINDS, random_positions


@pytest.mark.parametrize("window", [None, 1, 7, 100])
@pytest.mark.parametrize("kind", KINDS)
def test_counts_are_those_of_the_rankings_that_count(kind, window):
    rng = np.random.default_rng(0)
    rankings = np.vstack([random_positions(rng, 40, 6, kind), np.arange(1.0, 7)])
    weights = rng.integers(0, 4, len(rankings)).astype(float)
    running = RunningConsensus(6, window=window)
    done = 0
    for size in (1, 1, 3, 9, 12, 15):
        running.partial_fit(rankings[done : done + size], weights[done : done + size])
        done += size
        start = 0 if window is None else max(0, done - window)
        expected = preference_matrix(rankings[start:done], weights[start:done])
        np.testing.assert_array_equal(running.matrix.wins, expected.wins)
        np.testing.assert_array_equal(running.matrix.ties, expected.ties)
    assert running.n_seen == done == 41


def test_the_consensus_is_that_of_kemeny_and_starts_from_the_last_one(monkeypatch):
    rankings = sample_mallows(np.arange(1, 41), 0.02, 60, random_state=0)
    running = RunningConsensus(40, window=50)
    for part in (slice(0, 50), slice(50, 55), slice(55, 60)):
        running.partial_fit(rankings[part])
        found = running.consensus(time_limit=20, random_state=0)
        expected = kemeny(rankings[max(0, part.stop - 50) : part.stop], random_state=0)
        assert found.optimal
        assert found.cost == expected.cost
    started = []
    module = __import__("rankwise.aggregation.stream", fromlist=["kemeny_from"])
    original = module.kemeny_from
    monkeypatch.setattr(
        module, "kemeny_from", lambda m, start, *rest: started.append(start) or original(m, start, *rest)
    )
    again = running.consensus(time_limit=20, random_state=0)
    assert np.array_equal(np.argsort(found.positions), started[0])
    assert again.cost == found.cost


def test_names_and_weights_of_rankings_count():
    rankings = Rankings([[1, 2, 3], [3, 2, 1]], items=["a", "b", "c"], weights=[1, 3])
    running = RunningConsensus(["a", "b", "c"]).partial_fit(rankings)
    assert running.consensus().items == ("a", "b", "c")
    assert running.consensus().positions.tolist() == [3, 2, 1]
    with pytest.raises(ValueError, match="in this order"):
        running.partial_fit(rankings.select(["b", "a", "c"]))


@pytest.mark.parametrize(
    ("work", "fragment"),
    [
        (lambda: RunningConsensus(1), "items is 1, but must be at least 2"),
        (lambda: RunningConsensus(["a", "a"]), "two different names or more"),
        (lambda: RunningConsensus(3, window=0), "window is 0"),
        (lambda: RunningConsensus(3).partial_fit([[1, 2]]), "the rankings have 2 items, but this consensus has 3"),
        (lambda: RunningConsensus(3).consensus(), "no ranking compares item 0"),
    ],
)
def test_bad_input_is_refused(work, fragment):
    with pytest.raises(ValueError, match=fragment):
        work()


def test_a_million_updates_a_minute():
    rankings = sample_mallows(np.arange(1, 21), 0.1, 2000, random_state=0)
    running = RunningConsensus(20, window=1000).partial_fit(rankings[:5])  # compiles
    start = time.process_time()
    for row in range(2000):
        running.partial_fit(rankings[row : row + 1])
    seconds = time.process_time() - start
    assert seconds < 2 * 2000 * 6e-5  # of processor time; twice the aim, as machines differ
