"""Merging long lists: against dense rankings, the definition of robust rank aggregation, and random lists."""

from __future__ import annotations

import math
import tracemalloc

import narwhals as nw
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankwise import Rankings
from rankwise.aggregation import borda
from rankwise.aggregation.long_lists import aggregate_lists
from rankwise.aggregation.tournaments import mc4
from tests.naive import tournaments as naive

METHODS = ("rra", "borda", "mc4", "mean")


@st.composite
def list_sets(draw: st.DrawFn, max_items: int = 7) -> tuple[list[list[str]], int]:
    """A few lists of letters, and a number of items that they may have been chosen from."""
    names = "abcdefg"[: draw(st.integers(2, max_items))]
    rows = draw(st.lists(st.permutations(names), min_size=1, max_size=6))
    lists = [row[: draw(st.integers(1, len(row)))] for row in rows]
    listed = len({name for row in lists for name in row})
    return lists, draw(st.integers(max(2, listed), 12))


def shares_of(item: str, lists: list[list[str]], n_items: int) -> list[float]:
    return [(row.index(item) + 1) / n_items if item in row else 1.0 for row in lists]


@given(list_sets())
def test_rra_equals_its_definition(case: tuple[list[list[str]], int]) -> None:
    lists, n_items = case
    result = aggregate_lists(lists, "rra", n_items=n_items)
    assert result.p_value is not None
    for item, score, p_value in zip(result.items, result.score, result.p_value, strict=True):
        rho, p = naive.robust_rank(shares_of(str(item), lists, n_items))
        assert 10.0**-score == pytest.approx(rho)
        assert p_value == pytest.approx(p)


def test_rra_by_hand() -> None:
    # Places 1, 2 and 3 of 100 in three lists: 1 - .99^3, 3 * .02^2 * .98 + .02^3, .03^3; the last is the least.
    lists = [["x", "a", "b"], ["c", "x", "d"], ["e", "f", "x"]]
    result = aggregate_lists(lists, n_items=100)
    assert result.items[0] == "x"
    assert 10.0 ** -result.score[0] == pytest.approx(2.7e-5)
    assert result.p_value is not None
    assert result.p_value[0] == pytest.approx(8.1e-5)
    assert result.order[0] == 0


def test_rra_keeps_items_apart_whose_probability_underflows() -> None:
    # First and second of 100,000 in 80 lists: 10^-400 and (2/10^5)^80, both 0 in floating point.
    result = aggregate_lists([["first", "second", "third"]] * 80, n_items=100_000)
    np.testing.assert_allclose(result.score, [80 * (5 - math.log10(place)) for place in (1, 2, 3)], rtol=1e-12)
    assert result.p_value is not None
    assert result.p_value.tolist() == [0, 0, 0]


def test_logarithms_of_tiny_probabilities_join_the_others() -> None:
    # Some lists rank the item, most do not: sums of several binomial terms, on both sides of the switch.
    exact = [
        (60, 100, 10**6),
        (45, 100, 10**6),
        (48, 50, 10**6),
        (47, 300, 10**7),
    ]
    for times, n_lists, n_items in exact:
        lists = [["x"]] * times + [[f"other {i}"] for i in range(n_lists - times)]
        score = aggregate_lists(lists, n_items=n_items).score[0]
        x = 1 / n_items
        terms = [
            math.lgamma(n_lists + 1)
            - math.lgamma(m + 1)
            - math.lgamma(n_lists - m + 1)
            + m * math.log(x)
            + (n_lists - m) * math.log1p(-x)
            for m in range(times, n_lists + 1)
        ]
        log_rho = max(terms) + math.log(sum(math.exp(term - max(terms)) for term in terms))
        assert score == pytest.approx(-log_rho / math.log(10), rel=1e-9)


def test_random_lists_give_p_values_that_keep_their_level() -> None:
    from scipy.stats import binom, kstest

    rng = np.random.default_rng(0)
    n_items, n_lists = 20_000, 5
    lists = [rng.permutation(n_items) for _ in range(n_lists)]
    result = aggregate_lists(lists)
    assert result.p_value is not None
    for level in (0.001, 0.01, 0.05, 0.2):
        rejected = int(np.sum(result.p_value <= level))
        # Never more than the level, up to chance; and the correction for five choices does not make them useless.
        assert rejected <= binom.ppf(0.9999, n_items, level)
        assert rejected >= binom.ppf(0.0001, n_items, level / n_lists)
    # A single list needs no correction: its p-values are exactly uniform on the places.
    single = aggregate_lists([rng.permutation(n_items)])
    assert kstest(single.p_value, "uniform").statistic <= 1.5 / n_items
    np.testing.assert_allclose(np.sort(single.p_value), np.arange(1, n_items + 1) / n_items)


def test_top_lists_of_random_items_are_not_significant() -> None:
    rng = np.random.default_rng(1)
    lists = [rng.permutation(50_000)[:500] for _ in range(20)]
    result = aggregate_lists(lists, n_items=50_000)
    assert result.p_value is not None
    assert np.sum(result.p_value <= 0.01) <= 0.01 * 50_000
    assert result.p_value.min() * 50_000 > 0.01


def test_rra_finds_what_few_lists_agree_on() -> None:
    rng = np.random.default_rng(2)
    noise = [rng.permutation(10_000)[:300].tolist() for _ in range(15)]
    lists = [["hit", *row] if number < 6 else row for number, row in enumerate(noise)]
    result = aggregate_lists(lists, n_items=10_001)
    assert result.items[result.order[0]] == "hit"


@given(list_sets())
def test_borda_equals_that_of_dense_rankings(case: tuple[list[list[str]], int]) -> None:
    lists, n_items = case
    result = aggregate_lists(lists, "borda", n_items=n_items)
    others = [f"unlisted {i}" for i in range(n_items - len(result.items))]
    _, scores = borda(Rankings.from_orders(lists, items=[*result.items, *others]), return_scores=True)
    np.testing.assert_allclose(result.score, scores[: len(result.items)])


@given(list_sets())
def test_mean_equals_its_definition(case: tuple[list[list[str]], int]) -> None:
    lists, n_items = case
    result = aggregate_lists(lists, "mean", n_items=n_items)
    expected = [1 - np.mean(shares_of(str(item), lists, n_items)) for item in result.items]
    np.testing.assert_allclose(result.score, expected, atol=1e-12)


@given(list_sets())
def test_mc4_equals_that_of_dense_rankings(case: tuple[list[list[str]], int]) -> None:
    lists, _ = case
    result = aggregate_lists(lists, "mc4")
    rankings = Rankings.from_orders(lists, items=list(result.items))
    law = naive.mc4_law(naive.pair_wins(rankings.positions, np.ones(len(lists))), 0.05)
    np.testing.assert_allclose(result.score, law, rtol=1e-7)


def test_mc4_of_hundreds_of_items_with_cycles() -> None:
    rng = np.random.default_rng(3)
    lists = [rng.permutation(300)[: rng.integers(50, 300)].tolist() for _ in range(7)]
    result = aggregate_lists(lists, "mc4")
    dense = mc4(Rankings.from_orders([[result.items.index(item) for item in row] for row in lists]))
    np.testing.assert_array_equal(np.argsort(dense[result.order], kind="stable"), np.arange(len(dense)))
    assert result.score.sum() == pytest.approx(1)


@pytest.mark.parametrize("method", METHODS)
def test_results_line_up(method: str) -> None:
    lists = [["b", "a", "c"], ["b", "c"], ["a", "b", "d", "c"]]
    result = aggregate_lists(lists, method, n_items=50)  # type: ignore[arg-type]
    assert result.items == ("b", "a", "c", "d")
    assert result.items[result.order[0]] == "b"
    assert np.all(np.diff(result.score[result.order]) <= 0)
    assert (result.p_value is not None) == (method == "rra")
    numbers = [[10 * "badc".index(name) for name in row] for row in lists]
    same = aggregate_lists([np.array(row) for row in numbers], method, n_items=50)  # type: ignore[arg-type]
    np.testing.assert_allclose(same.score, result.score)
    assert all(type(item) is int for item in same.items)


@pytest.mark.parametrize("method", ["rra", "borda", "mean"])
def test_memory_is_linear_in_the_entries(method: str) -> None:
    # 200 lists of 100 among 100,000 items: a dense table would take 160 MB.
    rng = np.random.default_rng(4)
    lists = [rng.choice(100_000, 100, replace=False).tolist() for _ in range(200)]
    aggregate_lists(lists[:2], method)  # type: ignore[arg-type] # imports
    tracemalloc.start()
    aggregate_lists(lists, method, n_items=100_000)  # type: ignore[arg-type]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 400 * 20_000  # bytes per entry


@pytest.mark.parametrize(
    ("lists", "options", "error", "message"),
    [
        ([], {}, ValueError, "no lists"),
        ([["a"], []], {}, ValueError, r"lists\[1\] is empty"),
        ([["a", "b", "a"]], {}, ValueError, r"lists\[0\] holds 'a' more than once"),
        ([["a", None]], {}, ValueError, r"lists\[0\] holds None"),
        ([["a", float("nan")]], {}, ValueError, r"lists\[0\] holds nan"),
        ([["a", ["b"]]], {}, ValueError, r"lists\[0\] holds something that is not a name"),
        (["a", "b"], {}, ValueError, r"lists\[0\] is 'a', not a list"),
        ({"x": ["a"]}, {}, TypeError, "lists is of type dict"),
        (Rankings([[1, 2]]), {}, TypeError, "lists is a Rankings"),
        ([["a", "b"]], {"n_items": 1}, ValueError, "n_items is 1, but the lists hold 2"),
        ([["a", "b"]], {"method": "median"}, ValueError, "method is 'median'"),
        ([["a"]], {"method": "borda"}, ValueError, "two items"),
    ],
)
def test_bad_input(lists: object, options: dict[str, object], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        aggregate_lists(lists, **options)  # type: ignore[arg-type]


def test_mc4_says_beforehand_when_it_would_take_hours() -> None:
    row = list(range(100_000))
    with pytest.raises(ValueError, match=r"pairs of items.*first places"):
        aggregate_lists([row], "mc4")


def test_rankings_are_sent_elsewhere() -> None:
    with pytest.raises(TypeError, match=r"lists is a Rankings, for which there are borda, mc4 and kemeny"):
        aggregate_lists(Rankings([[1, 2, 3]]))
    rankings = Rankings([[1, 2, np.inf], [1, np.inf, 2]], ["a", "b", "c"])
    lists = [[rankings.items[i] for i in order if i >= 0] for order in rankings.orders()]
    assert lists == [["a", "b"], ["a", "c"]]


def test_p_values_of_random_lists_are_conservative() -> None:
    rng = np.random.default_rng(0)
    lists = [rng.permutation(2000).tolist() for _ in range(6)]
    p_value = aggregate_lists(lists).p_value
    assert p_value is not None
    assert 0.01 < np.mean(p_value <= 0.05) <= 0.05


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
def test_a_frame_has_a_row_per_item_best_first(backend: str) -> None:
    merged = aggregate_lists([["b", "a"], ["b"], ["c", "b"]])
    frame = nw.from_native(merged.to_frame(backend))
    assert frame.columns == ["item", "score", "p_value"]
    assert frame["item"].to_list() == [merged.items[i] for i in merged.order]
    assert frame["score"].to_list() == merged.score[merged.order].tolist()
    assert nw.from_native(aggregate_lists([["b", "a"]], "borda").to_frame(backend)).columns == ["item", "score"]
