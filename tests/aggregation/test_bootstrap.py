"""Bootstrap of a consensus: by hand, by its twin, for every kind of ranking, and how often intervals hold the truth."""

from __future__ import annotations

import narwhals as nw
import numpy as np
import pytest

from rankwise import Rankings
from rankwise.aggregation import (
    PlackettLuce,
    bootstrap_consensus,
    borda,
    kemeny,
    sample_mallows,
    sample_plackett_luce,
    schulze,
)
from rankwise.aggregation.rules import CONSENSUS_RULES
from tests.naive.aggregation import borda_scores
from tests.naive.choice import before_shares, place_shares
from tests.naive.kemeny import optimal_orders, wins
from tests.naive.tournaments import copeland, dense
from tests.strategies import KINDS, random_positions

RULES = ("kemeny", "borda", "copeland", "copeland-or-borda")
CLOSE = sample_plackett_luce([1.5, 0.1, 0.0, -1.5], 60, random_state=0)


def naive_consensus(decode: str, positions: np.ndarray, weights: np.ndarray) -> np.ndarray:
    if decode == "borda":
        return np.array(dense([-round(score, 9) for score in borda_scores(positions, weights)]))
    matrix = wins(positions, weights)
    if decode == "copeland-or-borda":
        places = copeland(matrix)
        strict = sorted(places) == list(range(1, len(places) + 1))  # uneven weights leave no pair even
        return np.array(places) if strict else naive_consensus("borda", positions, weights)
    if decode == "copeland":
        return np.array(copeland(matrix))
    _, (order,) = optimal_orders(matrix)
    return np.argsort(order) + 1.0


@pytest.mark.parametrize("decode", RULES)
@pytest.mark.parametrize("kind", KINDS)
def test_the_shares_are_those_of_the_resamples(decode: str, kind: str) -> None:
    # Uneven weights leave no two orders equally good, so that there is one consensus by each definition.
    positions = random_positions(np.random.default_rng(7), 40, 4, kind)
    rankings = Rankings(positions, weights=np.sqrt(np.arange(3, 43)))
    resamples: list[Rankings] = []

    def spy(resample: Rankings) -> np.ndarray:
        resamples.append(resample)
        return borda(resample)

    bootstrap_consensus(rankings, spy, n_resamples=70, random_state=1)
    found = bootstrap_consensus(rankings, decode, interval="percentile", n_resamples=70, random_state=1)
    every = [naive_consensus(decode, one.positions, one.weights) for one in resamples]
    np.testing.assert_array_equal(found.positions, every[0])
    np.testing.assert_allclose(found.before, before_shares(every[1:]), atol=1e-12)
    np.testing.assert_allclose(found.distribution, place_shares(every[1:]), atol=1e-12)
    for i in range(4):
        inside = found.distribution[i, int(found.low[i]) - 1 : int(found.high[i])].sum()
        assert inside >= 0.95 - 1e-9


def test_two_voters_by_hand() -> None:
    # Resamples of two opposite voters: both first (1/4), both second (1/4), one each (1/2), where chance decides.
    for decode in RULES:
        found = bootstrap_consensus([[1, 2], [2, 1]], decode, n_resamples=1500, random_state=0)
        np.testing.assert_allclose(found.before, 0.5, atol=0.04)
        assert found.intervals == ("1-2", "1-2")


def test_equal_rankings_leave_no_doubt() -> None:
    found = bootstrap_consensus(Rankings([[2, 1, 3]] * 9, items=["a", "b", "c"]), n_resamples=20, random_state=0)
    assert found.intervals == ("2", "1", "3")
    np.testing.assert_array_equal(found.before, [[0.5, 0, 1], [1, 0.5, 1], [0, 0, 0.5]])
    assert repr(found).splitlines() == [
        "BootstrapConsensus: 20 resamples, 95% intervals (conservative)",
        "  item  position  interval  before the next",
        "  b            1         1             100%",
        "  a            2         2             100%",
        "  c            3         3",
    ]


@pytest.mark.parametrize("decode", RULES)
def test_sides_of_a_pair_add_up_and_rows_and_columns_too(decode: str) -> None:
    found = bootstrap_consensus(random_positions(np.random.default_rng(0), 12, 5, "tied"), decode, random_state=0)
    np.testing.assert_allclose(found.before + found.before.T, 1)
    np.testing.assert_allclose(found.distribution.sum(axis=0), 1)
    np.testing.assert_allclose(found.distribution.sum(axis=1), 1)
    assert np.all(found.low <= found.high)


@pytest.mark.parametrize("decode", [*RULES, kemeny])
@pytest.mark.parametrize("kind", ["full", "incomplete"])
def test_the_result_does_not_depend_on_the_threads(decode: object, kind: str) -> None:
    positions = random_positions(np.random.default_rng(0), 50, 6, kind)
    one, other = (
        bootstrap_consensus(positions, decode, n_resamples=130, random_state=3, n_jobs=n_jobs)  # type: ignore[arg-type]
        for n_jobs in (None, 3)
    )
    np.testing.assert_array_equal(one.before, other.before)
    np.testing.assert_array_equal(one.distribution, other.distribution)
    assert one.redrawn == other.redrawn


def test_names_and_functions_agree() -> None:
    votes = sample_mallows([1, 2, 3, 4, 5], theta=0.5, n=41, random_state=0)
    for name, function in (("kemeny", kemeny), ("borda", borda), ("schulze", schulze)):
        quick = bootstrap_consensus(votes, name, n_resamples=100, random_state=0)  # type: ignore[arg-type]
        called = bootstrap_consensus(votes, function, n_resamples=100, random_state=0)
        np.testing.assert_allclose(quick.distribution, called.distribution, atol=0.02)


@pytest.mark.parametrize("decode", RULES)
def test_weights_are_voters_and_so_are_repeated_rankings(decode: str) -> None:
    rankings = Rankings([[1, 2, 3], [2, 1, 3], [3, 1, 2]], weights=[12, 9, 6])
    copies = Rankings(np.repeat(rankings.positions, [12, 9, 6], axis=0))
    nothing = Rankings(np.vstack([rankings.positions, [[3, 2, 1]]]), weights=[12, 9, 6, 0])
    found = [
        bootstrap_consensus(one, decode, n_resamples=200, random_state=0)  # type: ignore[arg-type]
        for one in (rankings, copies, nothing)
    ]
    for other in found[1:]:
        np.testing.assert_array_equal(other.before, found[0].before)
    many = bootstrap_consensus(rankings, decode, sample_weight=[1200, 900, 600], random_state=0)  # type: ignore[arg-type]
    assert np.abs(many.before - 0.5).sum() > np.abs(found[0].before - 0.5).sum()


def test_relabeled_items_move_along() -> None:
    # 12 voters with even majorities: were they broken by the order of the items, names would matter.
    votes = random_positions(np.random.default_rng(2), 12, 5, "full")
    there = bootstrap_consensus(votes, n_resamples=3000, random_state=0).before
    back = bootstrap_consensus(votes[:, ::-1], n_resamples=3000, random_state=1).before[::-1, ::-1]
    np.testing.assert_allclose(there, back, atol=0.04)


def test_a_resample_without_some_item_is_drawn_again() -> None:
    rankings = [[1, 2, np.nan]] * 20 + [[1, 2, 3]]
    for decode in RULES:
        found = bootstrap_consensus(rankings, decode, n_resamples=400, random_state=0)  # type: ignore[arg-type]
        assert abs(found.redrawn / (400 + found.redrawn) - (20 / 21) ** 21) < 0.08
        assert found.intervals[0] in ("1", "1-2")
        assert found.intervals[2] in ("1-3", "2-3")  # one ranking does not say where its item belongs
        assert bootstrap_consensus([[1, 2, 3]] * 5, decode, random_state=0).redrawn == 0  # type: ignore[arg-type]


def test_the_distribution_of_a_function_is_that_of_the_resamples() -> None:
    seen: list[np.ndarray] = []

    def spy(rankings: Rankings) -> np.ndarray:
        seen.append(borda(rankings))
        return seen[-1]

    found = bootstrap_consensus(CLOSE, spy, n_resamples=200, random_state=3, level=0.8)
    np.testing.assert_allclose(found.distribution, place_shares(seen[1:]), atol=1e-12)
    np.testing.assert_allclose(found.distribution.sum(axis=0), 1)
    np.testing.assert_allclose(found.distribution.sum(axis=1), 1)
    for i in range(4):
        inside = found.distribution[i, int(found.low[i]) - 1 : int(found.high[i])].sum()
        assert inside >= 0.8 - 1e-9
        below = found.distribution[i, : int(found.low[i]) - 1].sum()
        above = found.distribution[i, int(found.high[i]) :].sum()
        assert max(below, above) <= 0.1 + 1e-9


def test_intervals_widen_with_the_level_and_narrow_with_the_data() -> None:
    few = bootstrap_consensus(CLOSE[:15], "borda", n_resamples=300, random_state=0)
    many = bootstrap_consensus(np.vstack([CLOSE] * 20), "borda", n_resamples=300, random_state=0)
    assert (few.high - few.low).sum() > (many.high - many.low).sum()
    low = bootstrap_consensus(CLOSE[:15], "borda", level=0.5, n_resamples=300, random_state=0)
    high = bootstrap_consensus(CLOSE[:15], "borda", level=0.99, n_resamples=300, random_state=0)
    assert np.all(high.low <= low.low)
    assert np.all(high.high >= low.high)
    assert np.any(high.high - high.low > low.high - low.low)


def test_clear_places_are_found_and_close_ones_are_not_claimed() -> None:
    found = bootstrap_consensus(CLOSE, "borda", n_resamples=400, random_state=0)
    assert (found.low[0], found.high[0]) == (1, 1)
    assert (found.low[3], found.high[3]) == (4, 4)
    assert found.low[1:3].tolist() == [2, 2]
    assert found.high[1:3].tolist() == [3, 3]


def test_intervals_hold_the_true_places_in_forty_samples() -> None:
    # Places are whole numbers, so that intervals hold more than their level; a single place holds far less.
    worth, places = np.linspace(0.8, -0.8, 6), np.arange(1, 7)
    found = [
        bootstrap_consensus(
            sample_plackett_luce(worth, 30, seed), "borda", n_resamples=60, level=0.8, random_state=seed
        )
        for seed in range(40)
    ]
    inside = np.mean([(one.low <= places) & (places <= one.high) for one in found], axis=0)
    assert inside.mean() >= 0.9
    assert inside.min() >= 0.8
    assert np.mean([one.positions == places for one in found]) < 0.75
    assert np.mean([one.high - one.low for one in found]) < 2


@pytest.mark.parametrize("decode", [borda, kemeny, lambda r: PlackettLuce(alpha=0.1).fit(r).mode()])
def test_functions_do_not_depend_on_the_threads_either(decode: object) -> None:
    results = [
        bootstrap_consensus(CLOSE, decode, n_resamples=40, random_state=5, n_jobs=n_jobs)  # type: ignore[arg-type]
        for n_jobs in (None, 1, 2, 3)
    ]
    for other in results[1:]:
        np.testing.assert_array_equal(other.distribution, results[0].distribution)
        np.testing.assert_array_equal(other.low, results[0].low)
    again = bootstrap_consensus(CLOSE, decode, n_resamples=40, random_state=8)  # type: ignore[arg-type]
    assert not np.array_equal(again.distribution, results[0].distribution)


def test_whole_weights_are_numbers_of_voters() -> None:
    # Both ways of writing draw the same numbers of voters; the shares agree up to the noise of resampling.
    rankings = Rankings([[1, 2, 3], [2, 1, 3], [3, 1, 2]], weights=[12, 9, 6])
    copies = np.repeat(rankings.positions, [12, 9, 6], axis=0)
    one = bootstrap_consensus(rankings, "borda", n_resamples=1500, random_state=0)
    other = bootstrap_consensus(copies, "borda", n_resamples=1500, random_state=1)
    np.testing.assert_allclose(one.distribution, other.distribution, atol=0.06)
    single = bootstrap_consensus(rankings, "borda", sample_weight=[1, 1, 1], n_resamples=1500, random_state=0)
    assert np.abs(single.distribution - one.distribution).max() > 0.1


def test_other_weights_stay_with_their_rankings() -> None:
    # With halved weights the two rankings are the units, so a resample may miss either of them.
    found = bootstrap_consensus([[1, 2], [2, 1]], "borda", sample_weight=[0.5, 2.5], n_resamples=1500, random_state=0)
    np.testing.assert_allclose(found.distribution[0], [0.25, 0.75], atol=0.05)


def test_weights_are_what_they_are_said_to_be() -> None:
    votes = Rankings(CLOSE[:20], weights=np.full(20, 5))
    people = bootstrap_consensus(votes, "borda", n_resamples=200, random_state=0)
    survey = bootstrap_consensus(votes, "borda", weight_kind="survey", n_resamples=200, random_state=0)
    equal = bootstrap_consensus(CLOSE[:20], "borda", weight_kind="survey", n_resamples=200, random_state=0)
    assert (people.weights_are, survey.weights_are, equal.weights_are) == ("counts", "survey", "equal")
    np.testing.assert_array_equal(survey.distribution, equal.distribution)
    np.testing.assert_array_equal(survey.low, equal.low)
    assert np.sum(survey.high - survey.low) > np.sum(people.high - people.low)
    assert "weights count people" in repr(people)
    assert "survey weights" in repr(survey)
    assert "weights" not in repr(equal)


def test_functions_with_scores_have_confidence_intervals_and_others_percentiles() -> None:
    plain = bootstrap_consensus(CLOSE, borda, n_resamples=100, random_state=0)
    scored = bootstrap_consensus(CLOSE, CONSENSUS_RULES["borda"], n_resamples=100, random_state=0)
    named = bootstrap_consensus(CLOSE, "borda", n_resamples=100, random_state=0)
    assert [one.intervals_from for one in (plain, scored, named)] == ["percentiles", "scores", "scores"]
    np.testing.assert_array_equal(scored.low, named.low)
    np.testing.assert_array_equal(scored.high, named.high)
    asked = bootstrap_consensus(CLOSE, "borda", interval="percentile", n_resamples=100, random_state=0)
    assert asked.intervals_from == "percentiles"
    np.testing.assert_array_equal(asked.low, plain.low)
    assert "of resampled places" in repr(asked)
    worths = bootstrap_consensus(CLOSE, "plackett-luce", n_resamples=30, random_state=0)
    assert worths.intervals_from == "scores"
    assert bootstrap_consensus(CLOSE, "schulze", n_resamples=30, random_state=0).intervals_from == "majorities"


def test_names_and_kinds() -> None:
    rankings = Rankings.from_orders([["a", "b"], ["b", "a"], ["a", "c"], ["c", "a"]] * 5, items=["a", "b", "c"])
    found = bootstrap_consensus(rankings, "borda", n_resamples=30, random_state=0)
    assert found.items == ("a", "b", "c")
    assert found.level == 0.95
    assert found.positions[0] == 1


def test_a_consensus_that_fails_on_a_resample_says_which() -> None:
    def consensus(rankings: Rankings) -> np.ndarray:
        if rankings.weights.max() > 3:
            raise ValueError("too heavy")
        return borda(rankings)

    with pytest.raises(ValueError, match=r"consensus of resample \d+ fails \(too heavy\).*select"):
        bootstrap_consensus([[1, 2, 3], [1, 3, 2]] * 5, consensus, random_state=0)


def test_a_finished_consensus_is_taken_as_it_is() -> None:
    rankings = Rankings(CLOSE, items=["a", "b", "c", "d"])
    expected = bootstrap_consensus(rankings, n_resamples=50, random_state=0)
    for consensus in (kemeny(rankings), kemeny(rankings).positions):
        found = bootstrap_consensus(rankings, consensus=consensus, n_resamples=50, random_state=0)
        np.testing.assert_array_equal(found.positions, getattr(consensus, "positions", consensus))
        np.testing.assert_array_equal(found.distribution, expected.distribution)
        np.testing.assert_array_equal(found.before, expected.before)


@pytest.mark.parametrize("decode", ["kemeny", "borda", borda, kemeny])
def test_a_consensus_outside_its_intervals_gets_a_warning(decode: object) -> None:
    rankings = Rankings(CLOSE, items=["a", "b", "c", "d"])
    with pytest.warns(UserWarning, match=r"given consensus lies outside .* 'a' at place 4, outside 1-1; .*same rule"):
        found = bootstrap_consensus(rankings, decode, consensus=[4, 3, 2, 1], n_resamples=50, random_state=0)  # type: ignore[arg-type]
    assert found.positions.tolist() == [4, 3, 2, 1]


def test_a_finished_consensus_is_not_sought_again(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: object, **__: object) -> None:
        raise AssertionError("solved again")

    consensus = kemeny(CLOSE)
    monkeypatch.setitem(CONSENSUS_RULES, "kemeny", never)
    found = bootstrap_consensus(CLOSE, consensus=consensus, n_resamples=20, random_state=0)
    np.testing.assert_array_equal(found.positions, consensus.positions)


def test_long_lists_are_cut_in_print() -> None:
    found = bootstrap_consensus([np.arange(1, 41)], n_resamples=2, random_state=0)
    assert repr(found).endswith("... and 10 more")


@pytest.mark.parametrize(
    ("rankings", "arguments", "message"),
    [
        ([[1, 2]], {"decode": "best"}, "decode is 'best'; choose 'kemeny', 'borda', .*'plackett-luce', or give"),
        ([[1, 2]], {"n_resamples": 0}, "n_resamples is 0"),
        ([[1, 2]], {"level": 1.5}, "level is 1.5"),
        ([[1, 2]], {"interval": "exact"}, "interval is 'exact'; choose 'confidence' or 'percentile'"),
        ([[1, 2]], {"weight_kind": "none"}, "weight_kind is 'none'; choose 'auto', 'counts' or 'survey'"),
        ([[1, 2]], {"sample_weight": [0]}, "no ranking has a positive weight"),
        ([np.arange(1, 101)], {"n_resamples": 10**9}, "minutes; use decode='borda', fewer"),
        (np.where(np.eye(40) + np.eye(40, k=1) > 0, 1.0, np.nan), {}, "draws in a row lack some item.*select"),
        ([[1, 2, np.nan]], {}, "no ranking compares item 2"),
        (CLOSE, {"level": 1.0}, r"level is 1\.0"),
        (CLOSE, {"level": 0}, "level is 0"),
        (CLOSE, {"decode": lambda r: [1, 2]}, "it must return one finite position per item"),
        (CLOSE, {"decode": lambda r: [1, 2, 3, np.nan]}, "places 3 of the items 0, 1, 2, 3"),
        (CLOSE, {"consensus": [1, 2]}, "consensus gives 2 finite positions, but the rankings have 4 items"),
        (CLOSE, {"consensus": [1, 2, 3, np.nan]}, "consensus gives 3 finite positions"),
        (CLOSE, {"consensus": kemeny(Rankings(CLOSE, items=list("abcd")))}, "consensus ranks the items a, .* have 0"),
    ],
)
def test_bad_input(rankings: object, arguments: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        bootstrap_consensus(rankings, **arguments)  # type: ignore[arg-type]


@pytest.mark.slow
@pytest.mark.parametrize("decode", RULES)
def test_intervals_hold_the_true_places_at_least_as_often_as_they_say(decode: str) -> None:
    # Places are whole numbers, so that intervals hold more than their level; the consensus alone is right far less.
    truth = np.arange(1, 7)
    inside, right, ahead = [], [], []
    for seed in range(200):
        votes = sample_mallows(truth, theta=0.25, n=40, random_state=seed)
        found = bootstrap_consensus(votes, decode, n_resamples=200, level=0.9, random_state=seed)  # type: ignore[arg-type]
        inside.append((found.low <= truth) & (truth <= found.high))
        right.append(found.positions == truth)
        ahead.append(found.before[np.triu_indices(6, 1)])  # of pairs in their true order
    assert np.mean(inside) >= 0.9
    assert np.min(np.mean(inside, axis=0)) >= 0.87  # 0.9, less two standard errors of 200 draws
    assert np.mean(right) < 0.8
    # Where nine of ten resamples put one before the other, that is the truth at least so often.
    shares = np.concatenate(ahead)
    assert np.mean(shares[np.maximum(shares, 1 - shares) >= 0.9] > 0.5) >= 0.9


@pytest.mark.slow
@pytest.mark.parametrize("decode", ["kemeny", "borda"])
@pytest.mark.parametrize("difference", [0.02, 0.3])
def test_intervals_of_close_and_of_distant_items_hold_the_true_places(decode: str, difference: float) -> None:
    truth, level, n_runs = np.arange(1, 6), 0.95, 500
    inside, by_percentile = [], []
    for seed in range(n_runs):
        votes = sample_plackett_luce(-difference * truth, 50, random_state=seed)
        found = bootstrap_consensus(votes, decode, n_resamples=150, level=level, random_state=seed)  # type: ignore[arg-type]
        inside.append((found.low <= truth) & (truth <= found.high))
        reached = np.cumsum(found.distribution, axis=1)[np.arange(5), truth - 1]
        here = found.distribution[np.arange(5), truth - 1]
        by_percentile.append((reached > 0.025 + 1e-9) & (reached - here < 0.975 - 1e-9))
    error = np.sqrt(level * (1 - level) / n_runs)
    assert np.min(np.mean(inside, axis=0)) >= level - error
    assert np.mean(inside) >= 0.97  # conservative, as is said
    if difference == 0.02:  # where percentiles promise too much
        assert np.min(np.mean(by_percentile, axis=0)) < level - 2 * error


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
def test_a_frame_has_a_row_per_item_best_first(backend: str) -> None:
    votes = Rankings([[2, 1, 3], [2, 1, 3], [1, 2, 3]], items=["a", "b", "c"])
    found = bootstrap_consensus(votes, n_resamples=50, random_state=0)
    frame = nw.from_native(found.to_frame(backend))
    assert frame.columns == ["item", "position", "low", "high", "before_next"]
    assert frame["item"].to_list() == ["b", "a", "c"]
    assert frame["low"].to_list() == found.low[[1, 0, 2]].tolist()
    assert frame["before_next"].to_list()[:2] == [found.before[1, 0], found.before[0, 2]]
    assert np.isnan(frame["before_next"].to_numpy()[2])
