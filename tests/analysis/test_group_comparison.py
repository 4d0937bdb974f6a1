"""Comparison of groups against all arrangements of labels, SciPy, least squares and two models of choices."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import combinations, pairwise, permutations
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from rankwise import Rankings
from rankwise.aggregation import PlackettLuce
from rankwise.analysis import LikelihoodRatio, compare_groups, group_comparison, group_differences, group_likelihood
from rankwise.analysis.group_features import kernel_vectors
from rankwise.analysis.group_permutations import Design
from rankwise.data import Survey, midranks, read_survey
from rankwise.kernels import kendall_kernel, mallows_kernel
from rankwise.kernels.kendall_gram import mean_signs
from tests.cli.running import write_survey

NAN, INF = np.nan, np.inf
KINDS: dict[str, Any] = {
    "full": [[1, 2, 3], [2, 1, 3], [3, 1, 2], [1, 2, 3], [3, 2, 1], [2, 3, 1], [3, 2, 1]],
    "tied": [[1, 1, 2], [2, 1, 2], [3, 1, 2], [1, 2, 2], [2, 2, 1], [2, 3, 1], [3, 2, 1]],
    "top-k": [[1, INF, INF], [2, 1, INF], [3, 1, 2], [1, INF, INF], [INF, INF, 1], [2, 3, 1], [INF, 2, 1]],
    "incomplete": [[1, 2, NAN], [2, 1, 3], [NAN, 1, 2], [1, 2, 3], [2, NAN, 1], [2, 3, 1], [2, 1, NAN]],
}
LABELS = np.array(list("aaabbbb"))


def plackett_luce(rng: np.random.Generator, n: int, worth: Any, spread: float = 1.0) -> np.ndarray:
    return np.argsort(np.argsort(-(worth + spread * rng.gumbel(size=(n, np.shape(worth)[-1]))), axis=1), axis=1) + 1.0


def between_groups(gram: np.ndarray, labels: np.ndarray) -> float:
    """Mean squared distance of the means of groups from the mean of all, by the kernel."""
    own = sum(gram[np.ix_(labels == g, labels == g)].sum() / np.sum(labels == g) for g in set(labels))
    return float(own - gram.sum() / len(labels)) / len(labels)


@pytest.mark.parametrize("kernel", ["mallows", "kendall"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("labels", [LABELS, np.array(list("aabbbcc"))], ids=["two", "three"])
def test_every_arrangement_of_labels(kind: str, kernel: str, labels: np.ndarray) -> None:
    positions = np.array(KINDS[kind], dtype=float)
    gram = kendall_kernel(positions)
    if kernel == "mallows":
        signs = mean_signs(positions)
        pairs = [np.sum((a - b) ** 2) / 4 for i, a in enumerate(signs) for b in signs[:i]]
        gram = mallows_kernel(positions, scale=1 / np.mean(pairs))
    found = compare_groups(positions, labels, kernel=kernel)  # type: ignore[arg-type]
    seen = between_groups(gram, labels)
    assert found.statistic == pytest.approx(seen)
    arrangements = {tuple(order) for order in permutations(labels)}
    values = [between_groups(gram, np.array(order)) for order in arrangements]
    assert found.p_from == "exact"
    assert found.n_permutations == len(arrangements)
    assert found.p_value == pytest.approx(np.mean(np.array(values) >= seen - 1e-9))


def _exceeds(values: np.ndarray, limit: float) -> np.ndarray:
    return (values > limit) & ~np.isclose(values, limit)


@pytest.mark.parametrize("kind", ["full", "incomplete"])
def test_largest_ratio_in_every_arrangement(kind: str) -> None:
    positions = np.array(KINDS[kind], dtype=float)
    held = np.sum(~np.isnan(positions), axis=1, keepdims=True)
    ranks = midranks(positions) * 4 / (held + 1)
    found = compare_groups(positions, LABELS).items

    def ratios(labels: np.ndarray) -> np.ndarray:
        result = []
        for column in ranks.T:
            sides = [column[(labels == g) & ~np.isnan(column)] for g in "ab"]
            if min(map(len, sides)) < 2:
                result.append(0.0)
                continue
            known = column[~np.isnan(column)]
            least = 0.01 * np.mean((known - known.mean()) ** 2) * sum(1 / len(side) for side in sides)
            error = max(sum(side.var(ddof=1) / len(side) for side in sides), least)
            result.append(0.0 if error == 0 else abs(sides[0].mean() - sides[1].mean()) / np.sqrt(error))
        return np.array(result)

    largest = np.array([ratios(np.array(order)).max() for order in {tuple(order) for order in permutations(LABELS)}])
    seen = ratios(LABELS)
    # Mid-p: arrangements with the same ratio count half, but the one that was seen is as large as itself.
    larger, equal = ([np.mean(which(largest, ratio)) for ratio in seen] for which in (_exceeds, np.isclose))
    itself = np.isclose(seen, seen.max()) / 2 / len(largest)
    np.testing.assert_allclose(found.p_value[0], np.array(larger) + np.array(equal) / 2 + itself)


def test_equal_ratios_count_half() -> None:
    """Of two shares the law is Fisher's, and what is as probable as the shares that were seen is halved."""
    first, second = np.array([1] * 7 + [0] * 2), np.array([1] * 3 + [0] * 6)
    positions = np.where(np.append(first, second)[:, np.newaxis] == 1, [[1, 2]], [[2, 1]])
    found = compare_groups(positions, ["a"] * 9 + ["b"] * 9, n_permutations=60_000).pairs
    assert found is not None
    law = stats.hypergeom(18, 10, 9)
    # 7 of 10 and, as far from 5, 3 of 10; the arrangement that was seen counts whole.
    expected = law.sf(7) + law.cdf(2) + (law.pmf(7) + law.pmf(3) + 1 / 48_620) / 2
    assert found.p_value[0, 0] == pytest.approx(expected)


@pytest.mark.parametrize("alpha", [0.02, 0.05, 0.1, 0.3, 0.5])
@pytest.mark.parametrize("n_values", [1, 2, 4, 30])
def test_critical_ratios_part_small_p_values_from_others(alpha: float, n_values: int) -> None:
    rng = np.random.default_rng(n_values)
    for _ in range(50):
        values = rng.permutation(rng.integers(1, n_values + 1, 40).astype(float))
        law = group_differences._LargestRatios(values, float(rng.choice(values)))
        critical = law.critical(alpha)
        ratios = np.unique(values)
        np.testing.assert_array_equal(ratios > critical, law.p_value(ratios) <= alpha * (1 + 1e-9))


def test_two_items_as_scipy_has_them() -> None:
    rng = np.random.default_rng(0)
    first, second = rng.random(9) < 0.3, rng.random(7) < 0.6
    positions = np.where(np.append(first, second)[:, np.newaxis], [[1, 2]], [[2, 1]])
    labels = ["a"] * 9 + ["b"] * 7
    found = compare_groups(positions, labels, kernel="kendall", n_permutations=20_000)
    discrepancy = np.sqrt(found.statistic * 16**2 / (9 * 7))
    assert discrepancy == pytest.approx(stats.energy_distance(2.0 * first, 2.0 * second))
    exact = stats.permutation_test(
        (first.astype(float), second.astype(float)),
        lambda x, y: abs(x.mean() - y.mean()),
        alternative="greater",
        n_resamples=np.inf,
    )
    assert found.p_value == pytest.approx(exact.pvalue)
    assert found.pairs is not None
    assert found.pairs.difference[0, 0] == pytest.approx(first.mean() - second.mean())


def test_differences_as_scipy_has_them() -> None:
    rng = np.random.default_rng(1)
    positions = np.vstack([plackett_luce(rng, 25, [1, 0, 0, 0]), plackett_luce(rng, 40, [0, 1, 0, 0])])
    found = compare_groups(positions, ["a"] * 25 + ["b"] * 40, random_state=0).items
    welch = stats.ttest_ind(positions[:25], positions[25:], equal_var=False)
    np.testing.assert_allclose(found.difference[0] / found.standard_error[0], welch.statistic)
    greater = stats.mannwhitneyu(positions[:25], positions[25:]).statistic / (25 * 40)
    assert found.probability is not None
    np.testing.assert_allclose(found.probability[0], 1 - greater)
    # An interval leaves out 0 exactly if its p-value is at most 0.05.
    outside = (found.low > 0) | (found.high < 0)
    np.testing.assert_array_equal(outside, found.p_value <= 0.05)
    assert 0 < outside.sum() < 4


def test_people_who_ranked_twice() -> None:
    rng = np.random.default_rng(2)
    taste = 2 * rng.normal(size=(30, 4))
    before, after = (plackett_luce(rng, 30, taste + shift) for shift in (np.zeros(4), np.array([0.8, 0, 0, 0])))
    ids = np.append(np.arange(30), np.arange(30))
    shuffled = rng.permutation(60)
    rankings, labels = np.vstack([before, after])[shuffled], np.repeat(["before", "now"], 30)[shuffled]
    found = compare_groups(rankings, labels, pairs=ids[shuffled], random_state=0)
    paired = stats.ttest_rel(before, after)
    differences = found.items
    np.testing.assert_allclose(differences.difference[0], (before - after).mean(axis=0))
    np.testing.assert_allclose(differences.difference[0] / differences.standard_error[0], paired.statistic, rtol=1e-6)
    higher = np.mean((before < after) + 0.5 * (before == after), axis=0)
    assert differences.probability is not None
    np.testing.assert_allclose(differences.probability[0], higher)
    assert found.likelihood_ratio.statistic is None
    assert "not independent" in found.likelihood_ratio.reason
    # Who ranked once is left out; few people have few arrangements.
    few = compare_groups([[1, 2], [2, 1], [2, 1], [1, 2], [1, 2]], list("abaab"), pairs=[1, 1, 2, 3, 2])
    assert few.n.tolist() == [2, 2]
    assert few.n_permutations == 4
    assert "left out: 1 ranking of people who ranked in one group only" in few.notes
    assert any("no p-value can be 0.05 or less" in note for note in few.notes)
    assert np.isnan(few.items.low).all()
    assert "(all 4 arrangements, mallows kernel)" in str(few)


def test_strata_are_dummies_of_a_regression() -> None:
    rng = np.random.default_rng(3)
    strata = rng.integers(0, 3, 80)
    labels = np.where(rng.random(80) < np.array([0.2, 0.5, 0.8])[strata], "a", "b")
    worth = np.where((strata == 0)[:, np.newaxis], [1, 0, 0, 0], [0, 0, 0, 2])
    positions = plackett_luce(rng, 80, worth)
    found = compare_groups(positions, labels, strata=strata, random_state=0)
    columns = np.column_stack([labels == "a", *(strata == s for s in range(3))]).astype(float)
    np.testing.assert_allclose(found.items.difference[0], np.linalg.lstsq(columns, positions, rcond=None)[0][0])
    signs = mean_signs(positions)
    left = [
        np.sum((signs - X @ np.linalg.lstsq(X, signs, rcond=None)[0]) ** 2) / (80 - X.shape[1])
        for X in (columns, columns[:, 1:])
    ]
    assert found.effect_size == pytest.approx(1 - left[0] / left[1])
    assert "no strata" in found.likelihood_ratio.reason
    # Strata explain the groups: without them, a difference is found that is not there.
    assert compare_groups(positions, labels, random_state=0).p_value < 0.05 < found.p_value


def test_likelihoods_of_two_models() -> None:
    rng = np.random.default_rng(4)
    positions = plackett_luce(rng, 70, [1, 0.5, 0, -0.5])
    labels = np.repeat(["a", "b"], [30, 40])
    found = compare_groups(positions, labels, random_state=0).likelihood_ratio
    parts = [PlackettLuce().fit(part).log_likelihood_ for part in (positions[:30], positions[30:], positions)]
    assert found.statistic == pytest.approx(2 * (parts[0] + parts[1] - parts[2]))
    assert found.degrees_of_freedom == 3
    assert 1 < found.correction < 1.2
    assert found.p_value == pytest.approx(stats.chi2.sf(found.statistic / found.correction, 3))
    large = compare_groups(np.tile(positions, (20, 1)), np.tile(labels, 20), n_permutations=9).likelihood_ratio
    assert large.correction == 1
    assert large.p_value == pytest.approx(stats.chi2.sf(large.statistic, 3))


def test_bartletts_factor_is_the_mean_of_all_arrangements() -> None:
    rng = np.random.default_rng(8)
    positions = plackett_luce(rng, 12, [0.3, 0, -0.3])
    labels = np.repeat(["a", "b"], 6)
    joint = PlackettLuce().fit(positions)
    scores = joint.scores(positions)
    form = group_likelihood._Form(scores, 2)
    inverse = np.linalg.pinv(scores.T @ scores / 12)  # scores have mean 0 at the maximum
    ratios, forms, with_maximum = [], [], []
    for chosen in combinations(range(12), 6):
        inside = np.isin(np.arange(12), chosen)
        sums = [scores[side].sum(axis=0) for side in (inside, ~inside)]
        forms.append(sum(part @ inverse @ part / 6 for part in sums))
        assert form(np.where(inside, 0, 1)) == pytest.approx(forms[-1])
        try:
            own = sum(PlackettLuce().fit(positions[side]).log_likelihood_ for side in (inside, ~inside))
        except ValueError:
            continue
        ratios.append(2 * (own - joint.log_likelihood_))
        with_maximum.append(forms[-1])
    assert form.mean == pytest.approx(np.mean(forms))
    found = [compare_groups(positions, labels, n_permutations=9, random_state=seed) for seed in range(20)]
    factors = np.array([one.likelihood_ratio.correction for one in found])
    # Without those that have no maximum; what these are like is known from the form.
    slope = np.cov(ratios, with_maximum)[0, 1] / np.var(with_maximum, ddof=1)
    expected = (np.mean(ratios) + slope * (np.mean(forms) - np.mean(with_maximum))) / 2
    assert expected > 1.1
    assert abs(factors.mean() - expected) < 4 * factors.std() / np.sqrt(20)


@pytest.mark.parametrize(
    ("rankings", "words"),
    [
        ([[1, 2, 3]] * 5 + [[3, 2, 1], [1, 2, 3], [2, 3, 1], [2, 1, 3]], "group a, 0 never came after"),
        ([[1, 2, NAN]] * 3 + [[2, 1, NAN]] * 2 + [[3, 2, 1], [1, 2, 3], [2, 3, 1], [1, 3, 2]], "never compared"),
        (Rankings([[1, 2, 3], [3, 2, 1]] * 4 + [[1, 3, 2]], weights=np.linspace(0.5, 2, 9)), "survey weights"),
    ],
)
def test_no_likelihood_without_a_maximum(rankings: Any, words: str) -> None:
    found = compare_groups(rankings, list("aaaaabbbb"))
    assert found.likelihood_ratio.statistic is None
    assert words in found.likelihood_ratio.reason
    assert f"not tested: {found.likelihood_ratio.reason}" in str(found)


def test_groups_that_could_not_differ_more_have_finite_numbers() -> None:
    found = compare_groups([[1, 2, 3]] * 5 + [[3, 2, 1]] * 5, ["a"] * 5 + ["b"] * 5)
    json.dumps(found.as_dict(), allow_nan=False)
    assert "inf" not in str(found).replace("infinite", "")
    assert found.p_value == pytest.approx(2 / 252)
    assert found.effect_size == pytest.approx(1)
    assert found.disagreement_within == 0
    assert found.disagreement_between == 1
    assert found.items.difference.tolist() == [[-2, 0, 2]]


def test_unanimous_groups_have_no_narrow_intervals() -> None:
    for n in (4, 10, 30):
        found = compare_groups([[1, 2, 3]] * n + [[3, 2, 1]] * n, ["a"] * n + ["b"] * n, random_state=0)
        assert found.pairs is not None
        # Shares at which all 2 n people still agree with a probability of more than a tenth.
        likely = 0.1 ** (1 / (2 * n))
        assert 0 < found.pairs.low.max() <= 2 * likely - 1
        assert found.pairs.high.tolist() == [[1, 1, 1]]
        np.testing.assert_allclose(found.items.high[0, 0], -2 * found.pairs.low[0, 0])
    # The variance that Agresti and Caffo give shares with one more success and failure in each group.
    agreed = 31 / 32
    assert found.pairs.standard_error[0, 0] == pytest.approx(np.sqrt(2 * agreed * (1 - agreed) / 32))


def test_equal_rankings_do_not_differ() -> None:
    found = compare_groups([[1, 2, 3]] * 8, list("abababab"))
    assert found.p_value == 1
    assert np.isnan(found.effect_size)
    assert found.items.p_value.tolist() == [[1, 1, 1]]
    assert json.dumps(found.as_dict(), allow_nan=False)
    assert found.sentences == ["All 8 people rank alike, so that no groups differ."]
    assert [table.title for table in found.tables()] == ["Comparison by group"]
    assert not compare_groups([[1, 2, 3]] * 7 + [[1, 3, 2]], list("abababab")).all_alike
    assert "two people of one group order 0.0% of the pairs differently" in str(found)
    # Of ties alone, nobody orders a pair.
    tied = compare_groups(np.ones((8, 3)), list("abababab"))
    assert np.isnan([tied.disagreement_within, tied.disagreement_between]).all()
    assert "of the pairs differently" not in str(tied)
    assert tied.all_alike
    assert json.dumps(tied.as_dict(), allow_nan=False)


def test_counted_people_and_survey_weights() -> None:
    rng = np.random.default_rng(5)
    positions, counts = plackett_luce(rng, 20, [1, 0, 0, 0]), rng.integers(1, 4, 20)
    labels = np.repeat(["a", "b"], 10)
    one = compare_groups(Rankings(positions, weights=counts), labels, random_state=0)
    each = compare_groups(np.repeat(positions, counts, axis=0), np.repeat(labels, counts), random_state=0)
    assert one.n.tolist() == each.n.tolist()
    assert one.as_dict() == each.as_dict()

    weights = rng.uniform(0.2, 3, 20)
    found = compare_groups(Rankings(positions, weights=weights), labels, random_state=0)
    scaled = compare_groups(
        Rankings(positions, weights=weights * np.where(labels == "a", 7, 1)), labels, random_state=0
    )
    assert scaled.p_value == found.p_value
    means = [np.average(positions[labels == g], axis=0, weights=weights[labels == g]) for g in "ab"]
    np.testing.assert_allclose(found.items.mean, means)
    np.testing.assert_allclose(found.items.difference[0], means[0] - means[1])
    even = compare_groups(Rankings(positions, weights=np.full(20, 0.3)), labels, random_state=0)
    plain = compare_groups(positions, labels, random_state=0)
    assert even.p_value == plain.p_value
    np.testing.assert_allclose(even.items.standard_error, plain.items.standard_error)
    np.testing.assert_allclose(even.items.low, plain.items.low)


def test_several_groups_are_compared_with_the_others() -> None:
    rng = np.random.default_rng(6)
    positions = plackett_luce(rng, 60, [1, 0, 0, 0])
    labels = np.repeat(["under 20", "20 to 40", "over 40"], 20)
    found = compare_groups(positions, labels, random_state=0)
    assert found.groups == ("under 20", "20 to 40", "over 40")
    differences = found.items
    assert differences.against == ("the others",) * 3
    for g, group in enumerate(found.groups):
        own = labels == group
        np.testing.assert_allclose(
            differences.difference[g], positions[own].mean(axis=0) - positions[~own].mean(axis=0)
        )
    assert len(found.to_frame("pandas")) == 12
    assert found.pairs is not None
    assert len(found.pairs.to_frame("pandas")) == 18


@pytest.mark.parametrize("n", [2, 3, 4])
def test_a_tiny_group_hides_no_difference_of_others(n: int) -> None:
    """Unanimous groups of so few people have huge ratios in many arrangements, which must not rule the whole table."""
    rng = np.random.default_rng(n)
    large = np.vstack([plackett_luce(rng, 60, [2, 0, 0, 0]), plackett_luce(rng, 60, [0, 2, 0, 0])])
    without = compare_groups(large, ["f"] * 60 + ["m"] * 60, random_state=0)
    tiny = plackett_luce(rng, n, np.zeros(4))
    found = compare_groups(np.vstack([large, tiny]), ["f"] * 60 + ["m"] * 60 + ["x"] * n, random_state=0)
    assert without.pairs is not None
    assert found.pairs is not None
    for alone, beside in ((without.items, found.items), (without.pairs, found.pairs)):
        column = int(np.argmax(np.abs(alone.difference[0])))
        assert (beside.p_value[:2, column] <= 0.005).all()
        width, own = (part.high[0, column] - part.low[0, column] for part in (beside, alone))
        assert width <= 1.4 * own


def test_random_features_estimate_the_kernel() -> None:
    rng = np.random.default_rng(7)
    positions = plackett_luce(rng, 400, np.linspace(1, 0, 8))
    signs = mean_signs(positions)
    vectors = kernel_vectors(signs, positions, "mallows", rng)
    assert vectors.shape == (400, 256)
    spread = np.square(signs - signs.mean(axis=0)).sum() / (2 * 399)
    error = vectors @ vectors.T - mallows_kernel(positions, scale=1 / spread)
    assert np.abs(error).mean() < 0.06
    few = kernel_vectors(signs[:200], positions[:200], "mallows", rng)
    spread = np.square(signs[:200] - signs[:200].mean(axis=0)).sum() / (2 * 199)
    np.testing.assert_allclose(few @ few.T, mallows_kernel(positions[:200], scale=1 / spread), atol=1e-9)


def test_labels_stay_in_their_strata() -> None:
    rng = np.random.default_rng(8)
    labels, starts = rng.integers(0, 3, 50), np.array([0, 1, 20, 50])
    design = Design(labels, starts, np.ones(50))
    rows = np.vstack([*design.random_arrangements(2_000, rng)])
    for first, end in pairwise(starts.tolist()):
        assert (np.sort(rows[:, first:end], axis=1) == np.sort(labels[first:end])).all()
    # Every place has every label as often as the others of the stratum.
    shares = (rows[:, 1:20] == 0).mean(axis=0)
    assert np.abs(shares - np.mean(labels[1:20] == 0)).max() < 0.05


def test_a_seed_decides_and_the_blocks_do_not(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(9)
    positions = plackett_luce(rng, 300, np.zeros(7))
    labels = rng.choice(["a", "b"], 300)
    first = compare_groups(positions, labels, random_state=1)
    monkeypatch.setattr("rankwise.analysis.group_permutations._BLOCK_CELLS", 10_000)
    again = compare_groups(positions, labels, random_state=1)
    assert again.p_value == first.p_value
    np.testing.assert_array_equal(again.items.p_value, first.items.p_value)


def test_the_names_of_items_do_not_matter() -> None:
    positions = np.array(KINDS["incomplete"], dtype=float)
    found = compare_groups(positions, LABELS)
    turned = compare_groups(positions[:, ::-1], LABELS)
    assert turned.p_value == pytest.approx(found.p_value)
    np.testing.assert_allclose(turned.items.low[:, ::-1], found.items.low)


def test_mallows_sees_what_kendall_does_not() -> None:
    # Both groups put every item before every other half of the time; one has two camps, the other all orders.
    rng = np.random.default_rng(10)
    camps = np.array([[1, 2, 3, 4], [4, 3, 2, 1]])[rng.integers(0, 2, 60)]
    anyhow = plackett_luce(rng, 60, np.zeros(4))
    rankings, labels = np.vstack([camps, anyhow]), np.repeat(["camps", "any"], 60)
    assert compare_groups(rankings, labels, random_state=0).p_value <= 0.01
    assert compare_groups(rankings, labels, kernel="kendall", random_state=0).p_value > 0.1


def test_who_is_left_out_is_said() -> None:
    rankings = [[1, 2, 3], [1, 3, 2], [2, 1, 3], [NAN, NAN, 1], [3, 2, 1], [3, 1, 2], [1, 2, 3], [2, 1, 3]]
    found = compare_groups(rankings, ["a", "a", None, "a", "b", "b", "lonely", NAN])
    assert found.groups == ("a", "b")
    assert found.notes[:3] == (
        "left out: 2 rankings without a group",
        "left out: 1 ranking that compares or counts nothing",
        "left out, with one person each: lonely",
    )


def test_labels_that_nobody_knows_are_no_group() -> None:
    labels = ["a", "a", "a", "b", "b", "b", "n/a", "NA", " ", "N/A"]
    found = compare_groups([[1, 2], [2, 1]] * 5, labels)
    assert found.groups == ("a", "b")
    assert found.notes[0] == "left out: 4 rankings without a group"


def test_no_interval_where_all_say_the_same() -> None:
    rng = np.random.default_rng(0)
    swapped = rng.random(60)[:, np.newaxis] < 0.5
    found = compare_groups(np.where(swapped, [[1, 2, 3]], [[2, 1, 3]]), list("abc") * 20, random_state=0)
    assert np.isnan(found.items.low[:, 2]).all()
    assert np.isnan(found.items.high[:, 2]).all()
    assert np.isfinite(found.items.low[:, :2]).all()
    text = str(found)
    assert "no interval where all people say the same" in text
    assert "+0.00 to +0.00" not in text
    assert found.items.as_dict()[2]["low"] is None


def test_sizes_are_not_named_where_chance_explains_them() -> None:
    found = compare_groups([[1, 2, 3], [1, 3, 2], [3, 2, 1], [2, 3, 1]], list("aabb"))
    assert found.items.degree[0][0] == "large"
    assert not found.items.is_sure.any()
    text = str(found)
    assert "large" not in text
    assert "not sure" in text
    assert "of the variation (not told from none)" in text


def test_groups_that_ranked_other_items_are_noted() -> None:
    rng = np.random.default_rng(13)
    positions = plackett_luce(rng, 80, np.zeros(4))
    labels = np.repeat(["a", "b"], 40)
    positions[:30, 3] = NAN
    found = compare_groups(positions, labels, random_state=0)
    assert any("differ in which items they ranked, above all in 3" in note for note in found.notes)
    assert np.min(found.items.p_value) > 0.05


def test_columns_of_a_survey(tmp_path: Any) -> None:
    survey = read_survey(write_survey(tmp_path / "drinks.csv"), by="city")
    found = compare_groups(survey, random_state=0)
    assert found.by == "city"
    assert found.groups == ("Bonn", "Oslo", "Rome")
    assert found.differ
    assert compare_groups(survey, "city", random_state=0).p_value == found.p_value
    assert found.sentences[0] == "The 3 groups of city rank differently: p = 0.001."
    assert found.sentences[-1].startswith("The surest difference: Rome put juice")
    named = compare_groups(survey.rankings, pd.Series(survey.by, name="town"), random_state=0)
    assert named.by == "town"


def test_the_sentences() -> None:
    rankings = Rankings([[1, 2, 3]] * 6 + [[3, 2, 1]] * 5 + [[1, 3, 2]], items=["tea", "milk", "juice"])
    found = compare_groups(rankings, ["f"] * 6 + ["m"] * 6)
    assert found.sentences == [
        "f and m rank differently: p = 0.002.",
        "Groups account for 79.2% of the variation (large).",
        "The surest difference: f put juice 1.83 places lower than m (p = 0.002).",
    ]
    assert found.pairs is not None
    assert found.pairs.sentence(0, 0) == ("f put tea before milk 83 percentage points more often than m (p = 0.009)")
    first = found.to_frame("pandas").iloc[0]
    assert (first["group"], first["against"], first["item"], first["size"]) == ("f", "m", "tea", "large")


@pytest.mark.parametrize(
    ("labels", "options", "words"),
    [
        (["a"] * 6, {}, "all rankings are of one group, 'a'; a comparison needs two"),
        (list("abcdef"), {}, "of 6 groups none has; merge groups, or ask more people"),
        (
            [None, NAN, "", " ", "n/a", "NA"],
            {},
            "nobody can be compared by group; left out: 6 rankings without a group",
        ),
        (["a", "a", "a", "b", None, "NA"], {}, r"only 'a' has \(left out: 2 rankings without a group\); merge groups"),
        (["a", "a", "a", "a", None, "-"], {}, r"of one group, 'a' \(left out: 2 rankings without a group\)"),
        (
            list("aabbbb"),
            {"strata": [None] * 6},
            "nobody can be compared by group; left out: 6 rankings without a stratum",
        ),
        (
            list("aabbbb"),
            {"pairs": range(6)},
            "nobody ranked in two groups, .* give the same id to all rankings",
        ),
        (list("aaaaab"), {}, "only 'a' has; merge groups"),
        (list("aab"), {}, "by has 3 labels, but there are 6 rankings; give one for each"),
        ("city", {}, "only a Survey has columns"),
        (None, {}, "by is missing"),
        (list("aabbbb"), {"pairs": list("xxxxyy")}, "2 rankings in group 'a', but pairs need one ranking of each"),
        (list("aabbbb"), {"pairs": list("xyxyzz"), "strata": [1] * 6}, "drop strata"),
        (
            list("aabbbb"),
            {"strata": list("xxyyyy")},
            "every stratum holds people of one group only.* give other strata",
        ),
        (list("abbbbb"), {"strata": list("xxyyyy")}, "only 'b' has; merge groups"),
        (list("aabbbb"), {"strata": list("xyxzzz")}, r"none has \(left out: 4 rankings in strata of one group only\)"),
        (list("aabbbb"), {"kernel": "linear"}, "kernel"),
        (list("aabbbb"), {"level": 95}, "level"),
        (list("aabbbb"), {"n_permutations": 0}, "n_permutations"),
    ],
)
def test_bad_input_is_refused(labels: Any, options: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        compare_groups([[1, 2, 3], [2, 1, 3]] * 3, labels, **options)


def test_too_many_groups_are_refused() -> None:
    with pytest.raises(
        ValueError, match=r"by has 500 groups, more than 50; cut a number, such as an age, into classes"
    ):
        compare_groups([[1, 2], [2, 1]] * 500, np.repeat(np.arange(500), 2))


def test_many_items_are_compared_without_pairs() -> None:
    rng = np.random.default_rng(12)
    found = compare_groups(plackett_luce(rng, 20, np.zeros(40)), ["a", "b"] * 10, n_permutations=49, random_state=0)
    assert found.pairs is None
    assert "the 780 pairs of items are too many to be compared one by one" in found.notes


def rejections(make: Any, n_runs: int = 500, **options: Any) -> np.ndarray:
    """Shares of p-values of at most 0.05: equal distributions, likelihood ratio, items, pairs; NaN where not tested."""
    rng, found = np.random.default_rng(7), []
    for run in range(n_runs):
        rankings, labels, more = make(rng)
        one = compare_groups(rankings, labels, n_permutations=99, random_state=run, **options, **more)
        assert one.pairs is not None
        ratio = one.likelihood_ratio.p_value
        smallest = [np.nanmin(part.p_value) for part in (one.items, one.pairs)]
        found.append([one.p_value, NAN if ratio is None else ratio, *smallest])
    p_values = np.array(found)
    tested = ~np.isnan(p_values)
    return np.where(tested.mean(axis=0) < 0.5, NAN, (p_values <= 0.05).sum(axis=0) / np.maximum(tested.sum(axis=0), 1))


WORTH = np.array([1, 0.5, 0, -0.5])
UNEVEN = np.repeat(["a", "b"], [16, 32])


def alike(rng: np.random.Generator) -> Any:
    return plackett_luce(rng, 48, WORTH), UNEVEN, {}


def in_strata(rng: np.random.Generator) -> Any:
    strata = rng.integers(0, 3, 60)
    labels = np.where(rng.random(60) < np.array([0.2, 0.5, 0.8])[strata], "a", rng.choice(["b", "c"], 60))
    positions = plackett_luce(rng, 60, np.where((strata == 0)[:, np.newaxis], WORTH, -WORTH))
    positions[np.arange(60), rng.integers(0, 4, 60)] = NAN
    return positions, labels, {"strata": strata}


def twice(rng: np.random.Generator) -> Any:
    ids = np.tile(np.arange(24), 2)
    return plackett_luce(rng, 48, WORTH + 2 * rng.normal(size=(24, 4))[ids]), np.repeat(["a", "b"], 24), {"pairs": ids}


def weighted(rng: np.random.Generator) -> Any:
    return Rankings(plackett_luce(rng, 48, WORTH), weights=rng.uniform(0.3, 3, 48)), UNEVEN, {}


def tied(rng: np.random.Generator) -> Any:
    positions = plackett_luce(rng, 80, WORTH)
    return np.where(rng.random((80, 1)) < 0.5, np.maximum(positions - 1, 1), positions), np.repeat(["a", "b"], 40), {}


def beside_few(rng: np.random.Generator) -> Any:
    return plackett_luce(rng, 59, WORTH), np.repeat(list("abcde"), [30, 20, 4, 3, 2]), {}


def top_two(rng: np.random.Generator) -> Any:
    positions = plackett_luce(rng, 90, WORTH)
    return np.where(positions > 2, INF, positions), np.repeat(list("ab"), 45), {}


@pytest.fixture
def without_likelihood(monkeypatch: pytest.MonkeyPatch) -> None:
    """Intervals alone are simulated: the likelihood ratio takes most of the time."""
    nothing = LikelihoodRatio(None, 0, None, "not asked for")
    monkeypatch.setattr(group_comparison, "likelihood_ratio", lambda *arguments: nothing)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("make", "kernel"),
    [
        (alike, "mallows"),
        (alike, "kendall"),
        (in_strata, "mallows"),
        (twice, "mallows"),
        (weighted, "mallows"),
        (tied, "kendall"),
        (top_two, "mallows"),
        (beside_few, "mallows"),
    ],
)
def test_alike_groups_are_found_different_in_a_twentieth_of_all_runs(
    make: Any, kernel: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(group_likelihood, "_N_ARRANGEMENTS", 10)  # quicker, and a little less sure
    with_likelihood = make in (alike, tied, top_two)  # for independent people of equal weight; it takes its time
    shares = rejections(make, 500 if with_likelihood else 2000, kernel=kernel)
    assert np.isfinite(shares[[0, 2, 3]]).all()
    assert np.isfinite(shares[1]) == with_likelihood
    tested = shares[np.isfinite(shares)]
    assert ((tested >= 0.035) & (tested <= 0.065)).all(), shares


@pytest.mark.slow
@pytest.mark.usefixtures("without_likelihood")
def test_intervals_hold_all_differences_at_once() -> None:
    rng = np.random.default_rng(0)
    laws = [(WORTH, 1.5, 30), (np.array([0, 1.5, 0.5, -1]), 0.6, 60)]  # of other places, spread and size
    large = [plackett_luce(rng, 200_000, worth, spread) for worth, spread, _ in laws]
    above, below = np.triu_indices(4, 1)
    truth = [part.mean(axis=0) for part in large], [(part[:, above] < part[:, below]).mean(axis=0) for part in large]
    held = []
    for run in range(500):
        positions = np.vstack([plackett_luce(rng, n, worth, spread) for worth, spread, n in laws])
        rankings = Rankings(positions, weights=rng.uniform(0.5, 1.5, 90))
        found = compare_groups(rankings, ["a"] * 30 + ["b"] * 60, n_permutations=199, random_state=run)
        parts = zip((found.items, found.pairs), truth, strict=True)
        held.append([np.all((d.low <= t[0] - t[1]) & (t[0] - t[1] <= d.high)) for d, t in parts if d is not None])
    shares = np.mean(held, axis=0)
    assert ((shares >= 0.935) & (shares <= 0.965)).all(), shares


@pytest.mark.slow
@pytest.mark.usefixtures("without_likelihood")
@pytest.mark.parametrize(("share", "n"), [(0.97, 30), (0.9, 10)])
def test_intervals_of_groups_that_are_nearly_unanimous(share: float, n: int) -> None:
    rng, held = np.random.default_rng(0), []
    truth = 2 * share - 1
    for run in range(500):
        agree = np.append(rng.random(n) < share, rng.random(n) >= share)[:, np.newaxis]
        found = compare_groups(
            np.where(agree, [[1, 2]], [[2, 1]]), np.repeat(["a", "b"], n), n_permutations=99, random_state=run
        )
        assert found.pairs is not None
        parts = ((found.items, -truth), (found.pairs, truth))
        held.append([bool(d.low[0, 0] <= t + 1e-9 and t <= d.high[0, 0] + 1e-9) for d, t in parts])
    # Few people have few different shares, so that the level cannot be met exactly.
    assert (np.mean(held, axis=0) >= 0.94).all()


def three_groups(rng: np.random.Generator, n: int) -> Any:
    labels = np.repeat([0, 1, 2], [n // 3, n // 3, n - 2 * (n // 3)])
    worth = np.array([WORTH, WORTH[::-1], [0, 1, 0, 0]])
    return plackett_luce(rng, n, worth[labels]), labels, None


def two_in_strata(rng: np.random.Generator, n: int) -> Any:
    labels, strata = np.arange(n) % 2, np.arange(n) // 2 % 3
    # The difference of the groups is the same in each stratum.
    worth = np.array([WORTH, [0, 0, 0, 1]])[labels] + np.array([[0, 0, 0, 0], [1, 1, 0, 0], [0, 1, 0, 1]])[strata]
    return plackett_luce(rng, n, worth), labels, strata


def ranked_twice(rng: np.random.Generator, n: int) -> Any:
    labels, who = np.arange(n) % 2, np.arange(n) // 2
    taste = rng.normal(size=(who[-1] + 1, 4))[who]
    return plackett_luce(rng, n, np.array([WORTH, [0, 0, 0, 1]])[labels] + taste), labels, who


@pytest.mark.slow
@pytest.mark.usefixtures("without_likelihood")
@pytest.mark.parametrize("kind", ["full", "tied", "top-k"])
@pytest.mark.parametrize("make", [three_groups, two_in_strata, ranked_twice])
def test_intervals_of_designs_hold_all_differences_at_once(make: Any, kind: str) -> None:
    def coarse(positions: np.ndarray) -> np.ndarray:
        if kind == "tied":
            return np.maximum(positions - 1, 1)
        return np.where(positions > 2, INF, positions) if kind == "top-k" else positions

    rng = np.random.default_rng(1)
    large, labels, within = make(rng, 120_000)
    ranks = midranks(coarse(large))
    groups = np.unique(labels)
    means = np.array([ranks[labels == group].mean(axis=0) for group in groups])
    if len(groups) == 2:
        truth = means[:1] - means[1:]
    else:
        truth = np.array([means[g] - means[np.arange(3) != g].mean(axis=0) for g in range(3)])
    option = {three_groups: "", two_in_strata: "strata", ranked_twice: "pairs"}[make]
    held = []
    for run in range(500):
        positions, labels, within = make(rng, 90)
        design = {option: within} if option else {}
        found = compare_groups(coarse(positions), labels, n_permutations=99, random_state=run, **design).items
        held.append(np.all((found.low <= truth) & (truth <= found.high)))
    assert 0.935 <= np.mean(held) <= 0.965, np.mean(held)


def test_an_interval_that_holds_0_beside_a_small_p_is_noted() -> None:
    votes = [[1, 2, 3], [1, 3, 2], [1, 2, 3], [2, 1, 3], [3, 2, 1], [2, 3, 1], [3, 2, 1], [3, 1, 2]]
    weights = [0.5, 1.5, 1.2, 0.8, 0.7, 1.1, 1.9, 0.4]
    few = compare_groups(Rankings(votes, weights=weights), list("ffffmmmm"), random_state=0)
    many = compare_groups(Rankings(votes * 5, weights=weights * 5), list("ffffmmmm") * 5, random_state=0)
    for found, noted in ((few, True), (many, False)):
        items = found.items
        assert bool(np.any(items.is_sure & (items.low <= 0) & (items.high >= 0))) == noted
        assert ("an interval that holds 0 beside a small p is wider than p says" in str(found)) == noted


def test_labels_without_a_name_are_just_groups():
    rng = np.random.default_rng(0)
    votes = np.argsort(rng.random((90, 4)), axis=1) + 1
    labels = np.repeat(["a", "b", "c"], 30)
    plain = compare_groups(votes, labels, n_permutations=19, random_state=0)
    named = compare_groups(votes, pd.Series(labels, name="city"), n_permutations=19, random_state=0)
    assert "the 3 groups of city" in " ".join(named.sentences)
    assert "the 3 groups" in " ".join(plain.sentences)
    assert "groups of " not in " ".join(plain.sentences)


def test_groups_that_are_numbers_are_noted():
    rng = np.random.default_rng(0)
    votes, ages = plackett_luce(rng, 60, WORTH), np.repeat(np.arange(20, 35), 4)
    found = compare_groups(votes, pd.Series(ages, name="age"), n_permutations=19)
    assert "age has 15 different numbers, each a group of few people; cut it into classes" in str(found)
    assert "different numbers" not in str(compare_groups(votes, ages // 5, n_permutations=19))
    assert "different numbers" not in str(compare_groups(votes, [f"c{age}" for age in ages], n_permutations=19))


def test_ties_alone_have_no_likelihood():
    found = compare_groups([[1, 1, 1]] * 10, list("ab") * 5).likelihood_ratio
    assert found.reason == "nobody puts one item before another"


def test_rankings_of_the_same_person_are_noted() -> None:
    rng = np.random.default_rng(0)
    positions, when = rng.random((24, 4)).argsort(axis=1) + 1.0, np.repeat(["before", "after"], 12)
    survey = Survey(Rankings(positions), id=np.tile(np.arange(12), 2), by=when)
    found, paired = compare_groups(survey), compare_groups(survey, pairs=survey.id)
    noted = "12 rankings are of people who ranked before, and counted as if by others"
    assert [note.startswith(noted) for note in found.notes] == [True]
    assert paired.notes == ()
    assert (found.within, paired.within) == (None, "people")
    assert "of the variation within people" in repr(paired)
    assert "within" not in found.sentences[1]
    assert compare_groups(Survey(Rankings(positions), id=np.arange(24), by=when)).notes == ()


def test_sizes_that_chance_explains_are_not_named_in_files_either() -> None:
    rng = np.random.default_rng(0)
    found = compare_groups(rng.random((24, 4)).argsort(axis=1) + 1.0, ["a", "b"] * 12, random_state=0)
    unsure = ~found.items.is_sure[0]
    assert unsure.any()
    assert set(found.items.degree[0]) - {"negligible"}
    frame = found.to_frame("pandas")
    assert (frame["size"] == "not sure").tolist() == unsure.tolist()
    assert [one["size"] for one in found.items.as_dict()] == frame["size"].tolist()


def test_an_item_that_differs_where_the_whole_does_not_is_explained() -> None:
    rows = [[1, 2, 3]] * 20 + [[3, 2, 1]] * 20
    found = compare_groups(rows, ["a"] * 20 + ["b"] * 20, n_permutations=99, random_state=0)
    assert any(line.startswith("The surest difference: ") for line in found.sentences)
    unsure = replace(found, p_value=0.2)
    assert unsure.sentences[0].startswith("No difference between a and b was found")
    assert unsure.sentences[-1].startswith("That test takes all items together; looked at one by one, an item does")
