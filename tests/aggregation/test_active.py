"""What to ask next: the gain by its definition, the greedy plan, and fewer questions than at random."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from rankwise import Rankings
from rankwise.aggregation import Mallows, preference_matrix
from rankwise.aggregation.active import next_pairs
from rankwise.aggregation.bradley_terry import BradleyTerry
from rankwise.aggregation.plackett_luce import PlackettLuce
from rankwise.metrics import kendall_tau_score


def best_pair_by_determinant(wins: np.ndarray, alpha: float) -> set[tuple[int, int]]:
    """The pairs that raise the determinant of the information most, by trying all of them."""
    k = len(wins)
    worth = BradleyTerry(alpha=alpha).fit(wins).log_worth_
    p = 1 / (1 + np.exp(worth - worth[:, np.newaxis]))
    counts = wins + wins.T

    def determinant(counts: np.ndarray) -> float:
        laplacian = -counts * p * (1 - p)
        np.fill_diagonal(laplacian, 0)
        np.fill_diagonal(laplacian, -laplacian.sum(axis=1))
        return float(np.linalg.slogdet(laplacian + alpha * np.eye(k))[1])

    gains = {}
    for i, j in combinations(range(k), 2):
        more = counts.copy()
        more[i, j] += 1
        more[j, i] += 1
        gains[i, j] = determinant(more)
    largest = max(gains.values())
    return {pair for pair, gain in gains.items() if gain > largest - 1e-9}


@pytest.mark.parametrize("seed", range(5))
def test_the_first_pair_has_the_largest_gain(seed: int) -> None:
    wins = np.random.default_rng(seed).integers(0, 4, (6, 6)) * (1 - np.eye(6))
    assert next_pairs(wins, alpha=0.5)[0] in best_pair_by_determinant(wins, 0.5)


def test_every_form_of_the_same_data_gives_the_same_plan() -> None:
    rng = np.random.default_rng(1)
    wins = rng.integers(1, 4, (5, 5)) * (1 - np.eye(5))
    model = BradleyTerry(alpha=1.0).fit(wins)
    assert next_pairs(wins, 4) == next_pairs(model, 4)
    rankings = model.sample(40, random_state=0)
    one, other = BradleyTerry(alpha=1.0).fit(rankings), PlackettLuce(alpha=1.0).fit(rankings)
    plan = next_pairs(preference_matrix(rankings), 6)
    assert plan == next_pairs(one, 6) == next_pairs(other, 6)


def test_names_and_sizes() -> None:
    model = PlackettLuce(alpha=1.0).fit(Rankings([[1, 2, 3]], items=["a", "b", "c"]))
    plan = next_pairs(model, 5)
    assert len(plan) == 5
    assert set(sum(plan, ())) <= {"a", "b", "c"}
    assert next_pairs(model, 0) == []


def test_without_data_all_items_are_asked_about() -> None:
    # Nothing is known: a plan of half as many pairs as items names every item once.
    plan = next_pairs(np.zeros((8, 8)), 4)
    assert sorted(sum(plan, ())) == list(range(8))


def test_open_questions_come_before_settled_ones() -> None:
    wins = np.array([[0, 30, 30], [0, 0, 2], [0, 2, 0]])
    assert next_pairs(wins) == [(1, 2)]


def test_ties_carry_less_information() -> None:
    # The same worths, but one model ties nine times of ten: its gains are smaller, its choice is the same.
    strict = BradleyTerry(alpha=1.0).fit(np.ones((3, 3)) - np.eye(3))
    tied = BradleyTerry(alpha=1.0).fit(np.ones((3, 3)) - np.eye(3))
    tied.tie_strength_ = 18.0
    variance = tied.pairwise_probabilities() - tied.tie_probabilities() / 4 - tied.pairwise_probabilities() ** 2
    assert variance[0, 1] == pytest.approx(0.25 * 0.1)  # 1/2 nine times of ten, else 0 or 1
    assert next_pairs(strict) == next_pairs(tied)


def accuracy_after(n_questions: int, truth: np.ndarray, planned: bool, seed: int) -> float:
    """Kendall's tau of the true order with that of the worths after that number of questions, asked ten at a time."""
    rng = np.random.default_rng(seed)
    k = len(truth)
    pairs = list(combinations(range(k), 2))
    wins = np.zeros((k, k))
    for _ in range(n_questions // 10):
        batch = next_pairs(wins, 10) if planned else [pairs[i] for i in rng.integers(len(pairs), size=10)]
        for i, j in batch:
            first = rng.random() < 1 / (1 + np.exp(truth[j] - truth[i]))
            wins[(i, j) if first else (j, i)] += 1
    order = np.argsort(np.argsort(-truth)) + 1
    return float(kendall_tau_score([order], [BradleyTerry(alpha=1.0).fit(wins).mode()]))


def test_planned_questions_tell_more_than_random_ones() -> None:
    # 24 truths: 80 planned questions beat 80 random ones clearly, and 120 random ones on average.
    truths = [np.random.default_rng(seed).normal(0, 3, 12) for seed in range(24)]
    planned = np.array([accuracy_after(80, truth, True, 1000 + seed) for seed, truth in enumerate(truths)])
    random = np.array([accuracy_after(80, truth, False, 2000 + seed) for seed, truth in enumerate(truths)])
    longer = np.array([accuracy_after(120, truth, False, 2000 + seed) for seed, truth in enumerate(truths)])
    gain = planned - random
    assert gain.mean() > 2.5 * gain.std() / np.sqrt(len(gain))
    assert planned.mean() > longer.mean() + 0.01


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: next_pairs([[0, 1], [1, 0]], -1), "n is -1"),
        (lambda: next_pairs([[0, 1, 2]]), "one row and one column per item"),
        (lambda: next_pairs(BradleyTerry()), "not fitted"),
        (lambda: next_pairs([[0, 1], [0, 0]], alpha=0.0), "does not exist"),
    ],
)
def test_bad_input(call: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()  # type: ignore[operator]


def test_a_model_without_covariance_is_refused() -> None:
    model = BradleyTerry().fit([[0, 1], [1, 0]])
    model.covariance_ = None
    with pytest.raises(ValueError, match="needs the covariance of 2 worths"):
        next_pairs(model)


def test_a_model_without_worths_is_refused() -> None:
    with pytest.raises(TypeError, match="Mallows has no worths to learn about"):
        next_pairs(Mallows())
