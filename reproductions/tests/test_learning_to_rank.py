"""Own sums of the experiments on learning to rank, against their definitions."""

from __future__ import annotations

import numpy as np
import pytest

from rankwise.ltr import lambda_gradients, pair_gradients
from rankwise_reproductions.experiment import Inputs, Results
from rankwise_reproductions.learning_to_rank import chain, common, refresh


def test_pairs_are_of_one_query_and_of_different_grades():
    more, less = common.pairs(np.array([2, 0, 1, 1, 0]), np.array([7, 7, 7, 9, 9]))
    assert sorted(zip(more.tolist(), less.tolist(), strict=True)) == [(0, 1), (0, 2), (2, 1), (3, 4)]


def test_the_example_of_section_2():
    grades = np.array([0, 3, 0, 1, 1])
    more, less = common.pairs(grades, np.zeros(5, dtype=int))
    assert sorted(zip((more + 1).tolist(), (less + 1).tolist(), strict=True)) == [
        (2, 1),
        (2, 3),
        (2, 4),
        (2, 5),
        (4, 1),
        (4, 3),
        (5, 1),
        (5, 3),
    ]


def test_equal_weights_lead_to_the_logarithm_of_the_odds():
    """Footnote 3: the best difference of two scores is log(p / (1 - p))."""
    gradient, _ = pair_gradients([[0, 1], [1, 0]], [np.log(0.7 / 0.3), 0.0], [0.7, 0.3])
    np.testing.assert_allclose(gradient, 0, atol=1e-12)


@pytest.mark.parametrize(
    ("gap", "error", "on_par", "expected"),
    [
        (0.02, 0.005, False, True),
        (0.001, 0.001, False, False),  # below the margin for sure
        (0.001, 0.003, False, None),
        (-0.02, 0.005, False, False),
        (-0.003, 0.001, True, True),
        (-0.02, 0.001, True, False),
        (0.02, 0.1, True, None),
        (0.2, 0.05, True, True),
    ],
)
def test_when_a_ranker_is_better(gap, error, on_par, expected):
    assert chain._better(gap, error, on_par) is expected


def test_a_change_has_a_sign_beyond_two_standard_errors():
    assert [common.falls(change, 0.1) for change in (-0.3, -0.1, 0.1, 0.3)] == [True, None, None, False]
    assert [common.verdict(holds) for holds in (True, None, False)] == ["agrees", "too small to judge", "differs"]


def test_the_loss_whose_steps_are_taken_has_the_lambda_gradients():
    rng = np.random.default_rng(0)
    y, qid, score = rng.integers(0, 3, 12), np.repeat([1, 2], 6), rng.standard_normal(12)
    more, less = common.pairs(y, qid)

    def loss(at):
        return np.logaddexp(0, at[less] - at[more]).sum()

    slope, curvature = lambda_gradients(y, score, qid, weight="none")
    step = 1e-4 * np.eye(12)
    up, here, down = (np.array([loss(score + sign * row) for row in step]) for sign in (1, 0, -1))
    np.testing.assert_allclose((up - down) / 2e-4, slope, atol=1e-6)
    np.testing.assert_allclose((up - 2 * here + down) / 1e-8, curvature, atol=1e-4)


def test_steps_lower_the_loss_they_are_taken_on():
    values = refresh._compute({"learner": "linear, one step", "queries": 20, "seed": 0}, Inputs())
    losses = [values["start"], *values["after"]]
    assert all(before < start for start, before in zip(losses, values["before"], strict=False))
    assert len(values["ndcg"]) == refresh.ROUNDS + 1


@pytest.mark.parametrize("why", ["", "NeuralRanker needs PyTorch: pip install 'rankwise[neural]'"])
def test_neural_rankers_are_left_out_with_a_word(why):
    names = set(chain.STEPS) - set(chain.NEURAL)
    cells = [({"data": "generated", "ranker": name}, {"ndcg": [0.5, 0.7]}) for name in names]
    left_out = [row for row in chain._compare(Results(cells, {why: 6} if why else {})) if row.verdict == "not run"]
    assert [row.reason for row in left_out] == [why or "not in this scale"] * 2


def test_a_letor_folder_adds_its_cells(tmp_path):
    folder = tmp_path / "MQ2008" / "Fold1"
    folder.mkdir(parents=True)
    cells = chain._cells("check", Inputs(letor=folder))
    assert {cell["data"] for cell in cells} == {"generated", "MQ2008/Fold1"}
    with pytest.raises(FileNotFoundError, match="--letor"):
        chain._compute(cells[-1], Inputs())
