from __future__ import annotations

import numpy as np
import pytest

from rankwise import Rankings
from rankwise.datasets import make_smooth_label_ranking


def test_rankings_follow_the_plackett_luce_model_of_the_scores():
    X, y, bunch = make_smooth_label_ranking(20_000, 3, 3, noise_scale=2.0, random_state=0)
    assert (X.shape, y.shape) == ((20_000, 3), (20_000, 3))
    worth = np.exp(bunch.scores / 2.0)
    first = worth / worth.sum(axis=1, keepdims=True)
    np.testing.assert_allclose((y.positions == 1).mean(axis=0), first.mean(axis=0), atol=0.015)


def test_without_noise_the_scores_order_the_items():
    _, y, bunch = make_smooth_label_ranking(20, noise_scale=0.0, random_state=0)
    assert y == bunch.noiseless == Rankings.from_scores(bunch.scores)


def test_features_and_scores_do_not_depend_on_the_noise():
    first, second = (make_smooth_label_ranking(5, 2, 3, noise_scale=s, random_state=3) for s in (0.0, 5.0))
    np.testing.assert_array_equal(first[0], second[0])
    np.testing.assert_array_equal(first[2].scores, second[2].scores)


@pytest.mark.parametrize("wrong", [{"n_items": 1}, {"n_samples": 0}, {"noise_scale": -1.0}])
def test_bad_arguments(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        make_smooth_label_ranking(**wrong)
