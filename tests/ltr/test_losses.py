"""One table of losses: each ranker offers what the table says, and the guide shows the table."""

from __future__ import annotations

from pathlib import Path

import pytest

from rankwise.ltr import LambdaMART, LinearRanker, NeuralRanker
from rankwise.ltr._torch_losses import LOSSES as TORCH_LOSSES
from rankwise.ltr.losses import LOSSES, losses_of

X, Y, QID = [[0.0], [1.0], [2.0], [1.0]], [0, 1, 2, 0], [1, 1, 2, 2]
GUIDE = Path(__file__).parents[2] / "docs" / "learning-to-rank.md"


def test_names_are_unique_and_say_the_kind():
    assert len({loss.name for loss in LOSSES}) == len(LOSSES)
    for loss in LOSSES:
        assert loss.name.startswith(f"{loss.kind}_") or loss.name in ("lambdarank", "lambdaloss", "yetirank")


def test_every_ranker_fits_what_the_table_says_it_offers():
    for name in losses_of("LinearRanker"):
        LinearRanker(name, random_state=0).fit(X, Y, QID)
    for name in losses_of("LambdaMART"):
        LambdaMART(1, objective=name, random_state=0).fit(X, Y, QID)
    assert set(losses_of("NeuralRanker")) == set(TORCH_LOSSES)


@pytest.mark.parametrize(
    ("ranker", "parameter"),
    [(LinearRanker("yetirank"), "loss"), (LambdaMART(1, objective="pairwise_hinge"), "objective")],
)
def test_the_error_for_an_unknown_name_lists_those_offered(ranker, parameter):
    with pytest.raises(ValueError, match=f"'{parameter}' parameter of {type(ranker).__name__}") as error:
        ranker.fit(X, Y, QID)
    for name in losses_of(type(ranker).__name__):
        assert f"'{name}'" in str(error.value)


def test_the_guide_shows_the_table():
    lines = GUIDE.read_text("utf-8").splitlines()
    for loss in LOSSES:
        (line,) = [line for line in lines if line.startswith(f"| `{loss.name}` |")]
        for ranker in (LambdaMART, LinearRanker, NeuralRanker):
            assert (f"`{ranker.__name__}`" in line) == (ranker.__name__ in loss.rankers)
