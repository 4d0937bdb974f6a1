"""Kemeny's consensus against brute force, published optima, and bad input."""

from __future__ import annotations

import csv
import gzip
import math
import time
import zipfile
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from threading import Thread

import narwhals as nw
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from rankwise import Rankings
from rankwise.aggregation import (
    Consensus,
    _kemeny_programs,
    all_optimal,
    borda,
    kemeny,
    kemeny_batch,
    preference_matrix,
    sample_mallows,
)
from rankwise.aggregation._kemeny_search import Clock
from rankwise.data import orders_from_positions, read_preflib
from rankwise.distances import kendall_distance
from tests.naive import kemeny as naive
from tests.strategies import KINDS, position_matrices, random_positions

METHODS = ["auto", "exact", "dp", "ilp"]
# The name of the module is also that of its function, which an import would give.
kemeny_module = import_module("rankwise.aggregation.kemeny")
CYCLE = np.array([[0, 2, 1], [1, 0, 2], [2, 1, 0.0]])


def order_of(result):
    return tuple(orders_from_positions([result.positions])[0])


def random_matrix(rng, k, most):
    matrix = rng.integers(0, most + 1, (k, k)).astype(float)
    np.fill_diagonal(matrix, 0)
    matrix[0, 1:] += 1  # so that every item is compared
    return matrix


# Right


@pytest.mark.parametrize("method", METHODS)
def test_brute_force_agrees_on_random_matrices(method):
    rng = np.random.default_rng(0)
    for _ in range(60):
        matrix = random_matrix(rng, int(rng.integers(2, 7)), int(rng.integers(1, 6)))
        least, orders = naive.optimal_orders(matrix)
        result = kemeny(matrix, method=method)
        assert result.cost == result.lower_bound == least
        assert result.optimal
        assert result.gap == 0
        assert order_of(result) in orders
        if result.unique is not None:
            assert result.unique == (len(orders) == 1)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("weighted", [False, True])
def test_brute_force_agrees_on_rankings_of_every_kind(kind, weighted):
    rng = np.random.default_rng(1)
    for _ in range(20):
        k = int(rng.integers(3, 7))
        positions = np.vstack([random_positions(rng, 7, k, kind), np.arange(1.0, k + 1)])
        weights = rng.random(8) if weighted else None
        matrix = naive.wins(positions, weights)
        result = kemeny(Rankings(positions, weights=weights))
        assert result.cost == pytest.approx(naive.optimal_orders(matrix)[0])
        assert result.optimal


@pytest.mark.parametrize("method", ["dp", "ilp"])
def test_fractional_weights_are_solved_too(method):
    rng = np.random.default_rng(2)
    for _ in range(20):
        matrix = rng.random((6, 6))
        np.fill_diagonal(matrix, 0)
        result = kemeny(matrix, method=method)
        assert result.cost == pytest.approx(naive.optimal_orders(matrix)[0])
        assert result.optimal


def test_the_cost_is_the_sum_of_the_kendall_distances():
    rng = np.random.default_rng(3)
    positions = random_positions(rng, 30, 12, "full")
    result = kemeny(positions)
    assert result.cost == kendall_distance(result.positions, positions).sum()
    assert result.cost <= kendall_distance(borda(positions), positions).sum()


def test_dynamic_and_integer_programs_agree_beyond_brute_force():
    rng = np.random.default_rng(4)
    for k in (9, 12, 15):
        positions = random_positions(rng, 11, k, "full")
        assert kemeny(positions, method="dp").cost == kemeny(positions, method="ilp").cost


@pytest.mark.parametrize("seed", [3, 4, 6])
def test_sixty_items_without_agreement_are_proven_soon(seed):
    positions = sample_mallows(np.arange(1, 61), 0.0, 100, np.random.default_rng(seed))
    result = kemeny(positions, time_limit=30, random_state=0)
    assert result.optimal
    assert max(len(part) for part in result.components) > 50


def test_several_threads_prove_at_a_time():
    positions = [sample_mallows(np.arange(1, 41), 0.0, 100, random_state=seed) for seed in range(4)]
    with ThreadPoolExecutor(4) as threads:
        together = list(threads.map(kemeny, positions))
    assert [result.cost for result in together] == [kemeny(each).cost for each in positions]
    assert all(result.optimal for result in together)


def test_sushi_counts(benchmark_data):
    with open(benchmark_data / "preflib" / "classic" / "sushi10_pairwise_counts.csv", newline="") as file:
        rows = list(csv.reader(file))
    names, counts = rows[0][1:], np.array([[float(cell or 0) for cell in row[1:]] for row in rows[1:]])
    result = kemeny(counts)
    assert result.cost == 76948
    assert result.method == "condorcet"
    assert names[order_of(result)[0]] == "toro (fatty tuna)"


@pytest.mark.slow
def test_published_optima(benchmark_data, tmp_path):
    folder = benchmark_data / "preflib"
    with gzip.open(folder / "kemeny_optima.csv.gz", "rt") as file:
        expected = {row["file"]: row for row in csv.DictReader(file)}
    solved = 0
    for archive in sorted(folder.glob("*.zip")):
        with zipfile.ZipFile(archive) as files:
            for name in files.namelist():
                row = expected.get(name.rsplit("/", 1)[-1])
                if row is None:
                    continue
                path = files.extract(name, tmp_path)
                listed = float(row["kemeny_score"])
                if float(row["seconds"]) > 2:  # the long ones: within a limit, near the listed score, bounds that hold
                    result = kemeny(read_preflib(path), time_limit=10, random_state=0)
                    assert result.cost <= 1.001 * listed, name
                    if row["proven_optimal"] == "True":
                        assert result.lower_bound <= listed <= result.cost, name
                    continue
                result = kemeny(read_preflib(path), random_state=0)
                assert result.cost == listed, name
                assert result.optimal, name
                solved += 1
    assert solved >= 130


# Laws


@given(positions=position_matrices(min_items=2, max_items=5), data=st.data())
def test_laws(positions, data):
    k = positions.shape[1]
    positions = np.vstack([positions, np.arange(1.0, k + 1)])
    result = kemeny(positions)
    relabeled = np.array(data.draw(st.permutations(range(k))))
    assert kemeny(positions[:, relabeled]).cost == result.cost
    twice = kemeny(Rankings(positions, weights=np.full(len(positions), 2.0)))
    assert twice.cost == 2 * result.cost
    assert kemeny(preference_matrix(positions)).cost == result.cost


def test_names_are_kept_and_the_text_reads_well():
    result = kemeny(Rankings([[1, 2, 3], [1, 3, 2], [2, 1, 3]], ["tea", "milk", "juice"]))
    assert result.items == ("tea", "milk", "juice")
    assert repr(result) == "Consensus: tea > milk > juice\n  cost 2, proven optimal (condorcet)"
    assert result.components == ((0,), (1,), (2,))
    assert result.unique


def test_a_cycle_has_three_optima_and_one_component():
    result = kemeny(CYCLE)
    assert result.cost == 4
    assert result.components == ((0, 1, 2),)
    assert result.unique is False
    assert result.method == "dp"


# Limits


@pytest.mark.parametrize("limit", [0.0, 0.5])
def test_a_time_limit_gives_the_best_found_with_its_gap(limit):
    positions = sample_mallows(np.arange(1, 151), 0.0, 10, random_state=0)
    result = kemeny(positions, time_limit=limit, random_state=0)
    assert not result.optimal
    assert 0 < result.gap < 0.1
    assert result.lower_bound <= result.cost == naive.cost(naive.wins(positions), order_of(result))
    assert "not proven, at most" in repr(result)


def test_local_search_alone_is_bounded_by_the_pairs():
    positions = sample_mallows(np.arange(1, 41), 0.0, 11, random_state=0)
    searched, proven = kemeny(positions, method="local-search", random_state=0), kemeny(positions, random_state=0)
    assert searched.lower_bound <= proven.cost <= searched.cost


def test_an_interrupt_returns_the_best_found(monkeypatch):
    def interrupted(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(Clock, "_interrupted", -math.inf)
    monkeypatch.setattr(kemeny_module, "prove", interrupted)
    positions = sample_mallows(np.arange(1, 71), 0.0, 100, random_state=0)
    result = kemeny(positions, random_state=0)
    assert not result.optimal
    assert result.gap > 0
    with pytest.raises(KeyboardInterrupt):  # a second one soon after is to end the loop that calls
        kemeny(positions, random_state=0)
    monkeypatch.setattr(Clock, "_interrupted", time.perf_counter() - 60)
    assert not kemeny(positions, random_state=0).optimal


def test_an_interrupt_of_the_solver_ends_all_work(monkeypatch):
    class Interrupted(Thread):
        def join(self, timeout=None):
            monkeypatch.setattr(_kemeny_programs, "Thread", Thread)
            if timeout is not None:
                raise KeyboardInterrupt
            super().join()

    monkeypatch.setattr(Clock, "_interrupted", -math.inf)
    monkeypatch.setattr(_kemeny_programs, "Thread", Interrupted)
    wins = preference_matrix(sample_mallows(np.arange(1, 81), 0.0, 101, random_state=0)).wins
    both = np.block([[wins, np.full((80, 80), 101.0)], [np.zeros((80, 80)), wins]])
    start = time.perf_counter()
    result = kemeny(both, random_state=0)
    assert time.perf_counter() - start < 20
    assert sum(len(part) > 20 for part in result.components) == 2
    assert 0 < result.gap < 0.1
    assert result.lower_bound < result.cost == naive.cost(both, order_of(result))


def test_the_time_limit_is_used_and_kept():
    positions = sample_mallows(np.arange(1, 121), 0.0, 100, random_state=0)
    kemeny(positions[:, :30], random_state=0)  # compiles
    start = time.perf_counter()
    result = kemeny(positions, time_limit=2.0, random_state=0)
    # The limit of the solver counts several runs together, which would end the work early if it were not heeded.
    assert 1.8 < time.perf_counter() - start < 8
    assert 0 < result.gap < 0.02


@pytest.mark.slow
def test_the_time_limit_is_kept_on_a_loaded_machine():
    """Integer programs take seconds between two looks at the clock, longer under load; and the process ends well."""
    import os
    import subprocess
    import sys

    script = """
import time
import numpy as np
from rankwise.aggregation import kemeny
upper = np.triu(np.random.default_rng(0).random((40, 40)) < 0.5, 1)
wins = np.where(np.triu(np.ones((40, 40)), 1) > 0, upper, ~upper.T) * (1.0 - np.eye(40))
for limit in (0.1, 2.0):  # the first compiles
    start = time.perf_counter()
    result = kemeny(wins, time_limit=limit, random_state=0)
    seconds = time.perf_counter() - start
print(seconds, result.cost, result.lower_bound)
"""
    load = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(2 * (os.cpu_count() or 1))]
    try:
        ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120, check=True)
    finally:
        for process in load:
            process.kill()
            process.wait()
    seconds, cost, lower = map(float, ended.stdout.split())
    assert seconds < 1.1 * 2.0 + 0.5
    assert 0 < lower < cost


@pytest.mark.slow
def test_a_thousand_items_in_one_component_come_back_in_time():
    positions = sample_mallows(np.arange(1, 1001), 0.0, 101, random_state=0)
    matrix = preference_matrix(positions)
    kemeny(positions[:, :30], method="local-search", random_state=0)  # compiles
    start = time.perf_counter()
    result = kemeny(matrix, time_limit=3.0, random_state=0)
    assert time.perf_counter() - start < 10
    assert result.components == (tuple(range(1000)),)
    assert result.method == "local-search"
    assert 0 < result.gap < 0.05


def test_large_components_are_refused_before_the_work_begins():
    k = 2001
    wins = np.triu(np.ones((k, k)), 1)
    wins[0, -1], wins[-1, 0] = 0, 1  # one cycle through all items
    for method in ("exact", "ilp"):
        with pytest.raises(ValueError, match="2,001,000 variables, 1,333,333,000 triples"):
            kemeny(wins, method=method)
    with pytest.raises(ValueError, match=r"2\^2001 sets"):
        kemeny(wins, method="dp")


@pytest.mark.parametrize(
    ("call", "fragment"),
    [
        (lambda: kemeny([[1, 2, np.nan]] * 2), "no ranking compares item 2"),
        (lambda: kemeny([[0, -1], [1, 0]]), "finite and not negative"),
        (lambda: kemeny([[0, 1, 2], [1, 0, 2]]), "positions count from 1"),
        (lambda: kemeny(CYCLE, method="magic"), "choose 'auto'"),
        (lambda: kemeny(CYCLE, time_limit=-1), "time_limit is -1, but must be at least 0"),
        (lambda: kemeny([[0, np.inf], [1, 0]]), "finite and not negative"),
        (lambda: kemeny([[0.0, np.nan], [np.nan, 0.0]]), "no ranking compares item 0"),
        (lambda: kemeny([[np.nan, np.nan], [np.inf, np.inf]]), "no ranking compares item 0"),
        (lambda: kemeny(Rankings([[1, 2]], weights=[-1])), "not negative"),
        (lambda: kemeny(Rankings([[1, 2]], weights=[np.nan])), "not negative"),
        (lambda: kemeny(Rankings([[1, 2]], weights=[0])), "no ranking compares item 0"),
        (lambda: kemeny(sample_mallows(np.arange(1, 31), 0.0, 10, random_state=0), method="dp"), "at most 20"),
        (lambda: kemeny([[1, 5], [2, 1]]), r"entry \[0, 1\] of a square array is 5.*put 0 on the diagonal"),
        (lambda: kemeny([[0, np.nan], [1, 0]]), r"matrix\[0, 1\] is NaN, but matrix\[1, 0\] is 1"),
        (lambda: kemeny([[1, 2, 3], [1, 2]]), "rows have different lengths"),
        (lambda: kemeny(Rankings([[1, 2, 3], [3, 1, 2]], weights=[1e308, 1e308])), "does not fit into a float64"),
        (lambda: kemeny([[0, 1e308, 1e308], [0, 0, 1], [0, 0, 0]]), "more than floating point can hold"),
        (lambda: kemeny_batch(CYCLE), "one square matrix per median"),
        (lambda: kemeny_batch([[[0, np.nan], [1, 0]]]), "give 0.5 each way"),
    ],
)
def test_bad_input_is_refused_with_a_cure(call, fragment):
    with pytest.raises(ValueError, match=fragment):
        call()


@pytest.mark.parametrize("nothing", [np.nan, np.inf])
def test_a_voter_who_ranks_nothing_counts_for_nothing(nothing):
    positions = random_positions(np.random.default_rng(8), 5, 6, "full")
    silent = np.vstack([positions, np.full((3, 6), nothing)])
    for ties in ("none", "allow"):
        result, without = kemeny(silent, ties=ties), kemeny(positions, ties=ties)
        assert result.cost == without.cost
        assert np.array_equal(result.positions, without.positions)


def test_groups_that_nobody_compares_are_named():
    rankings = Rankings([[1, 2, np.nan, np.nan], [np.nan, np.nan, 2, 1]], ["tea", "milk", "car", "bus"])
    with pytest.warns(UserWarning, match="2 groups of items with each other: tea, milk; car, bus") as record:
        result = kemeny(rankings)
    assert record[0].filename == __file__
    assert result.optimal
    assert result.unique is False
    assert result.positions[0] < result.positions[1]
    assert result.positions[3] < result.positions[2]
    with pytest.warns(UserWarning, match="add rankings that compare them"):
        assert len(all_optimal(rankings).rankings) == 6


def test_one_item_needs_no_votes():
    result = kemeny([[1.0]])
    assert result.positions.tolist() == [1]
    assert result.cost == 0


def test_even_pairs_fall_in_the_order_of_the_items():
    assert kemeny([[0, 1], [1, 0]]).positions.tolist() == [1, 2]
    assert kemeny(np.ones((5, 5)) - np.eye(5)).positions.tolist() == [1, 2, 3, 4, 5]
    assert order_of(kemeny(CYCLE)) == (0, 1, 2)
    assert kemeny_batch(np.zeros((1, 3, 3))).tolist() == [[1, 2, 3]]
    assert kemeny_batch([CYCLE]).tolist() == [[1, 2, 3]]
    # The last item beats the first; what is open stays in item order around that.
    assert kemeny_batch([[[0, 1, 0], [1, 0, 1], [2, 1, 0]]]).tolist() == [[3, 1, 2]]


def test_the_columns_of_a_frame_name_the_items_of_a_matrix():
    frame = pd.DataFrame([[0, 3, 2], [1, 0, 3], [2, 1, 0]], columns=["tea", "milk", "juice"])
    assert kemeny(frame).items == ("tea", "milk", "juice")
    assert kemeny(frame.to_numpy()).items == (0, 1, 2)


def test_the_text_counts_the_excess_from_the_bound():
    known = {"positions": np.array([1.0, 2.0]), "items": (0, 1), "components": ((0, 1),), "unique": None}
    halfway = Consensus(cost=4.0, lower_bound=2.0, optimal=False, gap=0.5, method="local-search", **known)
    assert "at most 100% above the optimum" in repr(halfway)
    unknown = Consensus(cost=4.0, lower_bound=0.0, optimal=False, gap=1.0, method="local-search", **known)
    assert "nothing is known about the optimum" in repr(unknown)


def test_wrong_types_are_named():
    with pytest.raises(TypeError, match="time_limit is 'x'; give a number"):
        kemeny(CYCLE, time_limit="x")
    with pytest.raises(TypeError, match="P is a sparse matrix"):
        kemeny_batch(csr_array(CYCLE))
    with pytest.raises(TypeError, match="as many in every row"):
        kemeny_batch([[[0, 1], [1]]])


# Many at once


def test_batch_medians_are_optimal():
    rng = np.random.default_rng(5)
    for k in (2, 3, 5, 6):
        matrices = np.stack([random_matrix(rng, k, 3) for _ in range(40)])
        positions, proven = kemeny_batch(matrices, return_proven=True)
        assert proven.all()
        for matrix, row in zip(matrices, positions, strict=True):
            assert sorted(row) == list(range(1, k + 1))
            order = orders_from_positions([row])[0]
            assert naive.cost(matrix, order) == naive.optimal_orders(matrix)[0]


@pytest.mark.parametrize("k", [8, 10, 12])
def test_batch_proves_what_it_orders_up_to_twelve_items(k):
    rng = np.random.default_rng(k)
    matrices = np.stack([random_matrix(rng, k, 4) for _ in range(6)])
    positions, proven = kemeny_batch(matrices, return_proven=True)
    assert proven.all()
    for matrix, row in zip(matrices, positions, strict=True):
        assert naive.cost(matrix, orders_from_positions([row])[0]) == kemeny(matrix, method="ilp").cost


def test_batch_agrees_with_one_by_one_and_searches_large_cycles():
    rng = np.random.default_rng(6)
    matrices = np.stack([naive.wins(random_positions(rng, 9, 15, "full")) for _ in range(5)])
    positions, proven = kemeny_batch(matrices, return_proven=True)
    for matrix, row, sure in zip(matrices, positions, proven, strict=True):
        found = naive.cost(matrix, orders_from_positions([row])[0])
        least = kemeny(matrix).cost
        assert found == least if sure else least <= found <= 1.02 * least


def test_batch_ignores_diagonals():
    assert kemeny_batch([[[np.nan, 1], [0, np.nan]]]).tolist() == [[1, 2]]


@pytest.mark.slow
@pytest.mark.parametrize("options", ["", "method='local-search'", "ties='allow'"])
def test_a_real_interrupt_returns_the_best_found(options):
    """The interrupt reaches compiled code and the solver, not only Python; and the process ends well."""
    import signal
    import subprocess
    import sys
    import time

    script = f"""
import numpy as np
from rankwise.aggregation import kemeny
rng = np.random.default_rng(0)
rankings = np.array([rng.permutation(300) + 1.0 for _ in range(21)])
kemeny(rankings, time_limit=0.3, {options})
print("ready", flush=True)
print("gap", kemeny(rankings, random_state=0, time_limit=50, {options}).gap, flush=True)
"""
    process = subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout.readline().strip() == "ready"
    time.sleep(0.4)  # in the midst of the search, which takes a second or more
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=60)
    assert output.startswith("gap 0.0"), errors
    assert process.returncode == 0, errors


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
def test_a_frame_has_a_row_per_item_best_first(backend: str) -> None:
    cycle = [[1, 2, 3, 4], [3, 1, 2, 4], [2, 3, 1, 4]]
    frame = nw.from_native(kemeny(Rankings(cycle, items=["a", "b", "c", "d"])).to_frame(backend))
    assert frame.columns == ["item", "position", "component"]
    assert frame["position"].to_list() == [1, 2, 3, 4]
    assert frame["component"].to_list() == [1, 1, 1, 2]
    assert frame["item"].to_list()[3] == "d"
