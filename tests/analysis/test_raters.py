"""People one by one: distances, tests, reliability, map and cliques, against the definitions and by simulation."""

from __future__ import annotations

from itertools import combinations, permutations

import numpy as np
import pytest

from rankwise import Rankings
from rankwise.aggregation import borda, sample_mallows
from rankwise.analysis import _rater_tests as tests_of_raters
from rankwise.analysis import consensus, raters, robustness
from rankwise.analysis._rater_cliques import rater_cliques
from rankwise.analysis._rater_map import rater_map
from rankwise.data import Survey
from rankwise.distances import kendall_distance
from rankwise.kernels import kendall_kernel

NAN, INF = np.nan, np.inf


def winners_by_trial(rows: np.ndarray) -> set[int]:
    """Who is first in some optimal ranking, all of them tried; if they differ, those that no optimum separates."""
    k = rows.shape[1]
    costs = {}
    for order in permutations(range(k)):
        costs[order] = sum((row[b] < row[a]) for row in rows for i, a in enumerate(order) for b in order[i + 1 :])
    best = [order for order in costs if costs[order] == min(costs.values())]
    before = {(a, b) for a in range(k) for b in range(k) if all(o.index(a) < o.index(b) for o in best)}
    return {a for a in range(k) if not any((b, a) in before for b in range(k))}


def mixed(rng: np.random.Generator, n: int, k: int) -> np.ndarray:
    """Full, tied, top-k and incomplete rankings around one order."""
    rows = sample_mallows(np.arange(1.0, k + 1), 0.6, n, rng)
    rows[1::4][rows[1::4] > k // 2] = INF
    rows[2::4] = np.ceil(rows[2::4] / 2)
    for row in rows[3::4]:
        row[rng.choice(k, 2, replace=False)] = NAN
        there = ~np.isnan(row)
        row[there] = np.argsort(np.argsort(row[there])) + 1.0
    return rows


def test_ties_alone_are_said_in_a_sentence() -> None:
    found = raters([[1, 1, 1]] * 5 + [[1, 1, NAN]])
    assert found.sentences == ["Everybody ties all items, so there is no order to agree on, or to disagree with."]
    assert [table.title for table in found.tables()] == ["Raters together"]
    assert "100%" not in str(found)
    assert not raters([[1, 1, 1]] * 5 + [[1, 1, 2]]).all_tied


def test_people_of_the_same_name_are_told_apart_by_their_ids() -> None:
    votes = Rankings([[1, 2, 3], [1, 3, 2], [2, 1, 3], [1, 2, 3]])
    names, ids = np.array(["Ann", "Ben", "Ann", "Cem"]), np.array([7, 8, 9, 10])
    assert raters(Survey(votes, names=names, id=ids)).names == ("Ann (7)", "Ben", "Ann (9)", "Cem")
    twice = raters(Survey(votes, names=names, id=np.array([7, 8, 7, 10])))
    assert twice.names == ("Ann", "Ben", "Ann (2)", "Cem")
    assert twice.notes[:2] == (
        "several rankings have the same name, and are numbered: Ann",
        "1 ranking is of somebody who ranked before, and counted as if by others: p-values and intervals look surer "
        "than they are; count one ranking of each",
    )
    assert raters(Survey(votes, names=names)).names == ("Ann", "Ben", "Ann (2)", "Cem")
    assert raters(Survey(votes, id=ids)).names == ("7", "8", "9", "10")


def signs(row: np.ndarray) -> dict[tuple[int, int], float]:
    """1 or -1 for each pair of items that a ranking orders."""
    pairs = combinations(range(len(row)), 2)
    return {(a, b): float(np.sign(row[b] - row[a])) for a, b in pairs if row[a] < row[b] or row[a] > row[b]}


def test_distances_of_people_are_kendalls() -> None:
    votes = Rankings([[1, 2, 3], [1, 2, 3], [3, 2, 1], [1, 1, 2], [1, NAN, NAN]], ["a", "b", "c"])
    found = raters(votes, ["Ann", "Ben", "Cem", "Dora", None])
    assert found.names == ("Ann", "Ben", "Cem", "Dora", "(no name)")
    assert found.order.tolist() == [2, 3, 0, 1, 4]
    assert found.pairs.tolist() == [0, 0, 3, 0.5, 0]
    np.testing.assert_allclose(found.distance, [0, 0, 1, 1 / 6, NAN])
    np.testing.assert_allclose(found.agreement, [1, 1, 0, 5 / 6, NAN])
    np.testing.assert_allclose(found.tau, [1, 1, -1, 2 / 3, NAN])
    assert found.first == (("a",), ("a",), ("c",), ("a", "b"), ("a",))
    last = found.as_dict()["raters"][-1]
    assert last["name"] == "(no name)"
    assert last["distance"] is last["p_value"] is last["agreement_with_rest"] is None
    assert found.tables()[0].rows[1][:3] == ["Dora", "83%", "0.5"]
    with pytest.raises(ValueError, match="there are 2 names, but 5 rankings"):
        raters(votes, ["Ann", "Ben"])


def test_names_that_repeat_are_numbered() -> None:
    found = raters([[1, 2, 3]] * 3 + [[1, 3, 2]], ["Ann", "Ben", "Ann", None], n_simulations=0)
    assert found.names == ("Ann", "Ben", "Ann (2)", "(no name)")
    assert found.notes[0] == "several rankings have the same name, and are numbered: Ann"
    assert robustness([[1, 2], [1, 2]], ["Ann", "Ann"]).names == ("Ann", "Ann (2)")


def test_one_person_agrees_with_nobody() -> None:
    for votes in ([[1, 2, 3]], [[1, 2, 3], [NAN, NAN, NAN]]):
        found = raters(votes)
        text = str(found)
        assert found.n_people == 1
        assert "One person alone can be compared with nobody." in text
        assert "Kendall's W" not in text
        assert found.as_dict()["reliability"]["kendalls_w"] is None


def test_people_without_answers_are_named() -> None:
    found = raters([[1, 2, 3], [NAN, NAN, NAN], [1, 3, 2], [2, 1, 3]], ["Ann", "Ben", "Cem", "Dora"])
    assert "compare nothing, and count nothing: Ben" in found.notes
    assert found.tables()[0].rows[-1][:4] == ["Ben", "", "", ""]
    assert found.n_people == 3


def test_people_who_count_less_are_said_to() -> None:
    rng = np.random.default_rng(0)
    votes = sample_mallows([1, 2, 3, 4], 1.0, 30, rng)
    plain = raters(votes, n_simulations=0)
    assert "a joint ranking of 30 people is reliable to" in plain.sentence
    assert "they count as" not in plain.sentence
    weighted = raters(Rankings(votes, weights=rng.uniform(0.1, 3, 30)), n_simulations=0)
    count = f"(they count as {round(weighted.n_effective)} who weigh the same and rank all items)"
    assert "a joint ranking of 30 people is reliable to" in weighted.sentence
    assert count in weighted.sentence


def test_who_wins_without_each_is_found_by_leaving_them_out() -> None:
    rng = np.random.default_rng(0)
    n_changed = 0
    for _ in range(8):
        rows = np.array([rng.permutation(3) + 1.0 for _ in range(5)])
        found = raters(rows, n_simulations=0)
        assert set(found.winners) == winners_by_trial(rows)
        assert found.winners_without is not None
        for row, winners in enumerate(found.winners_without):
            assert set(winners) == winners_by_trial(np.delete(rows, row, axis=0))
            n_changed += set(winners) != set(found.winners)
    assert n_changed > 0


def test_the_others_are_all_but_one() -> None:
    rng = np.random.default_rng(1)
    rows = mixed(rng, 12, 6)
    found = raters(rows, n_simulations=0)
    for i in range(12):
        rest = np.delete(rows, i, axis=0)
        expected = kendall_distance(rows[i], borda(rest), normalize=True)
        assert found.distance_to_others[i] == pytest.approx(expected)
        own = signs(rows[i])
        products = [own[p] * s for row in rest for p, s in signs(row).items() if p in own]
        assert found.agreement_with_rest[i] == pytest.approx(np.mean(products))
    both = [signs(a)[p] * s for a, b in combinations(rows, 2) for p, s in signs(b).items() if p in signs(a)]
    assert found.mean_tau == pytest.approx(np.mean(both))


def test_reliability_is_that_of_spearman_and_brown() -> None:
    rng = np.random.default_rng(2)
    rows = sample_mallows(np.arange(1.0, 7), 0.4, 9, rng)
    found = raters(rows, n_simulations=0)
    assert found.n_effective == pytest.approx(9)
    assert found.reliability == pytest.approx(9 * found.mean_tau / (1 + 8 * found.mean_tau))
    # Margins of two panels of full rankings correlate as the formula says, here over many panels of a known law.
    tau = np.mean(
        [raters(sample_mallows(np.arange(1.0, 7), 0.4, 300, rng), n_simulations=0).mean_tau for _ in range(3)]
    )
    margins = [Rankings(sample_mallows(np.arange(1.0, 7), 0.4, 9, rng)).pair_counts() for _ in range(600)]
    upper = np.triu_indices(6, 1)
    sums = np.array([(m - m.T)[upper] for m in margins])
    cosine = np.mean(np.sum(sums[::2] * sums[1::2], axis=1)) / np.mean(np.sum(sums**2, axis=1))
    assert cosine == pytest.approx(9 * tau / (1 + 8 * tau), abs=0.02)


def test_weights_count_people_or_weigh_them() -> None:
    rng = np.random.default_rng(3)
    rows = sample_mallows(np.arange(1.0, 6), 0.5, 8, rng)
    counts = np.array([1, 2, 3, 1, 1, 2, 1, 1])
    once = raters(Rankings(rows, weights=counts), n_simulations=0)
    each = raters(np.repeat(rows, counts, axis=0), n_simulations=0)
    first = np.cumsum(counts) - counts
    for name in ("distance", "distance_to_others", "agreement_with_rest", "p_value", "p_adjusted"):
        np.testing.assert_allclose(getattr(once, name), getattr(each, name)[first], atol=1e-9, err_msg=name)
    for name in ("mean_tau", "reliability", "n_effective", "kendalls_w"):
        assert getattr(once, name) == pytest.approx(getattr(each, name)), name
    np.testing.assert_allclose(np.abs(once.coordinates), np.abs(each.coordinates[first]), atol=1e-9)
    weighted = raters(Rankings(rows, weights=counts / 2.5), n_simulations=0)
    assert weighted.people.tolist() == [1] * 8
    assert weighted.n_effective < 8


def test_laws_of_distances_by_enumeration() -> None:
    for sizes in ([1] * 5, [2, 1, 2], [3, 2], [1, 1, 3], [5]):
        kinds = np.bincount(sizes, minlength=6)[np.newaxis]
        bucket = np.repeat(np.arange(len(sizes)), sizes)
        for theta in (0.0, 0.4, 1.5):
            law: dict[int, float] = {}
            for places in permutations(range(5)):
                full = sum(places[i] > places[j] for i, j in combinations(range(5), 2))
                seen = sum(bucket[places[i]] > bucket[places[j]] for i, j in combinations(range(5), 2))
                law[seen] = law.get(seen, 0.0) + np.exp(-theta * full)
            expected = np.array([law.get(d, 0.0) for d in range(max(law) + 1)]) / sum(law.values())
            found = tests_of_raters._exact_laws(kinds, np.array([max(law)]), theta)[0]
            np.testing.assert_allclose(found, expected, atol=1e-12)


def test_the_test_given_the_sum_by_enumeration() -> None:
    """Three people and three items: all 6^3 outcomes with the same sum of distances."""
    distance = [sum(p[i] > p[j] for i, j in combinations(range(3), 2)) for p in permutations(range(3))]
    kinds = np.array([[0, 3, 0, 0]])
    for against in ([0, 1, 3], [2, 2, 0], [1, 0, 0]):
        total = sum(against)
        joint = [(a, 1) for a in distance for b in distance for c in distance if a + b + c == total]
        found = tests_of_raters._given_the_sum(
            kinds, np.array([3]), np.zeros(3, dtype=int), np.array(against), np.ones(3, dtype=int)
        )
        for d, p in zip(against, found, strict=True):
            larger, same = sum(a > d for a, _ in joint), sum(a == d for a, _ in joint)
            assert p == pytest.approx((larger + same / 2) / len(joint))


def test_reversed_and_random_raters_are_told_apart() -> None:
    rng = np.random.default_rng(4)
    rows = sample_mallows(np.arange(1.0, 11), 1.0, 20, rng)
    rows[0] = 11 - rows[0]
    rows[1] = [6, 1, 9, 3, 8, 4, 10, 2, 7, 5]  # 22 of the 45 pairs against
    found = raters(rows, n_simulations=0)
    assert found.kind[:2] == ("reversed", "random")
    assert set(found.kind[2:]) == {""}
    assert found.outliers.tolist() == [0, 1]
    assert "rater 1 ranks nearly in reverse: was the scale read the other way round?" in found.sentence
    assert "rater 2 ranks no nearer to the others than a random order would be." in found.sentence
    many = raters(np.vstack([rows, sample_mallows(np.arange(1.0, 11), 1.0, 80, rng)]), n_simulations=0)
    assert many.kind[:2] == ("reversed", "random")


def test_the_map_is_kernel_pca() -> None:
    rng = np.random.default_rng(5)
    for n, k in ((15, 5), (12, 40)):  # by features, and by the kernel matrix
        rows = mixed(rng, n, k) if k == 5 else sample_mallows(np.arange(1.0, k + 1), 0.05, n, rng)
        rankings = Rankings(rows)
        found = rater_map(rankings, np.arange(1.0, k + 1), rng)
        gram = kendall_kernel(rankings)
        center = np.eye(n) - 1 / n
        values, vectors = np.linalg.eigh(center @ gram @ center)
        expected = vectors[:, ::-1][:, :2] * np.sqrt(values[::-1][:2])
        np.testing.assert_allclose(np.abs(found.coordinates), np.abs(expected), atol=1e-8)
        np.testing.assert_allclose(found.explained, values[::-1][:2] / values.sum(), atol=1e-8)
        assert found.consensus[0] >= 0
    nothing = raters([[1, 2, 3], [NAN, NAN, NAN], [2, 1, 3], [1, 3, 2]])
    assert np.isnan(nothing.coordinates[1]).all()
    assert nothing.as_dict()["raters"][-1]["map"] == [None, None]


def test_a_clique_is_found_and_named() -> None:
    rng = np.random.default_rng(6)
    rows = sample_mallows(np.arange(1.0, 9), 0.3, 20, rng)
    rows[15:] = sample_mallows(np.array([5.0, 2, 8, 1, 7, 3, 6, 4]), 2.5, 5, rng)
    found = raters(rows)
    assert found.cliques == ((15, 16, 17, 18, 19),)
    assert "rater 16, rater 17, rater 18, rater 19 and rater 20 agree with each other more than" in found.sentence
    assert found.clique_of_each().tolist() == [0] * 15 + [1] * 5
    assert raters(rows).as_dict() == found.as_dict()  # the same numbers in every call


def test_beside_a_reversed_scale_the_others_are_no_clique() -> None:
    for seed in (2, 5):
        rows = sample_mallows(np.arange(1.0, 9), 1.2, 12, np.random.default_rng(seed))
        rows[3] = 9 - rows[3]
        found = raters(rows)
        assert found.kind[3] == "reversed"
        assert found.cliques == ()


def test_equal_rankings_of_few_items_are_no_clique() -> None:
    """Among 240 people, many have the same order of five items by chance, even where tastes are of several kinds."""
    rng = np.random.default_rng(15)
    taste = np.tile([1.2, 0.8, 0.6, 0.4, 0.0], (240, 1))
    taste[:90, 2] += 2.5
    taste[50:130, 1] += 1.3
    order = np.argsort(-(taste + rng.gumbel(size=taste.shape)), axis=1)
    found = raters(np.argsort(order, axis=1) + 1.0, random_state=0)
    assert not [group for group in found.cliques if len(group) == 2]


def test_few_alike_and_silent_people_get_sentences() -> None:
    one = raters([[1, 2, 3]])
    assert one.sentence == "One person alone can be compared with nobody."
    two = raters([[1, 2, 3], [1, 3, 2]])
    assert np.isnan(two.p_value).all()
    assert two.winners_without is None
    alike = raters([[1, 2, 3]] * 8)
    assert alike.sentence.startswith("Everybody ranks alike.")
    assert alike.cliques == ()
    assert alike.p_value.tolist() == [0.5] * 8
    for found in (one, two, alike, raters([[1, 2], [2, 1], [NAN, NAN], [INF, INF]])):
        assert "nan" not in str(found).lower()
        found.to_frame()
    with pytest.raises(ValueError, match="no ranking compares two items"):
        raters([[NAN, NAN], [INF, INF]])


def test_the_people_in_words() -> None:
    names = ["Anna", "Bob", "Cid", "Dee"]
    votes = Rankings([[1, 2, 3], [1, 2, 3], [1, 2, 3], [3, 2, 1]], ["Rioja", "Barolo", "Merlot"])
    words = raters(votes, names, consensus=consensus(votes)).sentences
    assert words[0] == "Anna, Bob and Cid agree most with the joint ranking (100% of the pairs), Dee least (0%)."
    assert words[-1] == "No single vote decides the winner: leave out any one of them, and the first place stays."
    close = [[1, 2], [1, 2], [2, 1], [2, 1], [1, 2]]
    words = raters(close, list("vwxyz")).sentences
    assert words[-1] == "First place is close: leave out any one of 3 votes, and it changes."
    tipped = [[1, 2], [1, 2], [1, 2], [2, 1]]
    assert "No single vote" in raters(tipped, list("wxyz")).sentence
    halves = raters([[1, 2], [1, 2], [2, 1], [2, 1]], list("wxyz"))
    assert halves.sentences[0] == "Everybody agrees equally with the joint ranking (50% of the pairs)."


def test_many_people_are_not_left_out_one_by_one() -> None:
    found = raters(sample_mallows(np.arange(1.0, 5), 0.5, 2000, np.random.default_rng(7)), n_simulations=19)
    assert found.winners_without is None
    assert "first without this vote" not in found.tables()[0].columns
    assert len(found.tables()[0].rows) == 30
    assert "cliques were looked for in a sample of 300 people" in found.notes
    assert not np.isnan(found.p_value).any()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n", "k", "theta", "n_runs"),
    [(12, 8, 0.5, 600), (30, 10, 0.4, 500), (100, 8, 0.5, 500)],
)
def test_p_values_of_raters_are_uniform(n: int, k: int, theta: float, n_runs: int) -> None:
    rng = np.random.default_rng(8)
    p_values, n_alarms = [], 0
    for _ in range(n_runs):
        rankings = Rankings(sample_mallows(np.arange(1.0, k + 1), theta, n, rng))
        found = tests_of_raters.distances_to_others(rankings, rankings.weights)
        p = tests_of_raters.rater_tests(rankings, found, np.ones(n, dtype=int)).far
        p_values.append(p)
        n_alarms += p.min() <= 0.05 / n
    shares = [np.mean(np.array(p_values) <= alpha) for alpha in (0.05, 0.25, 0.5, 0.75)]
    assert 0.035 <= shares[0] <= 0.065
    np.testing.assert_allclose(shares[1:], (0.25, 0.5, 0.75), atol=0.03)
    assert n_alarms / n_runs <= 0.065


@pytest.mark.slow
def test_p_values_of_partial_rankings_are_nearly_uniform() -> None:
    rng = np.random.default_rng(9)
    p_values = []
    for _ in range(500):
        rankings = Rankings(mixed(rng, 20, 8))
        found = tests_of_raters.distances_to_others(rankings, rankings.weights)
        p_values.append(tests_of_raters.rater_tests(rankings, found, np.ones(20, dtype=int)).far)
    assert 0.035 <= np.mean(np.array(p_values) <= 0.05) <= 0.065


@pytest.mark.slow
def test_independent_raters_have_cliques_as_often_as_the_level_says() -> None:
    rng = np.random.default_rng(10)
    n_alarms = 0
    for _ in range(500):
        votes = Rankings(sample_mallows(np.arange(1.0, 7), 0.5, 10, rng))
        everybody, nobody = np.ones(10, dtype=int), np.zeros(10, dtype=bool)
        center = np.argsort(np.argsort(borda(votes), kind="stable")) + 1.0
        found = rater_cliques(votes, everybody, center, nobody, level=0.95, n_simulations=39, rng=rng)
        n_alarms += bool(found.groups)
    assert 0.035 <= n_alarms / 500 <= 0.065
